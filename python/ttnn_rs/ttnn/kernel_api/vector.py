"""Functions of one tile of Dst: one line per function, under its C++ name.

`X_tile_init()` sets up the SFPU (vector unit), `X_tile(idst, parameters...)` changes `Dst[idst]`. Parameters are raw
words: the bits of a float32, or an integer. A function without its init, or after that of another one, is an error.
"""

from __future__ import annotations

import struct

from ttnn import _engine
from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.kernel_api.vector_functions import (
    Binary,
    Unary,
    VectorMode,
    approximable,
    approximable_init,
    init,
    unary,
)

__all__ = [
    "VectorMode",
    "abs_tile",
    "abs_tile_init",
    "abs_tile_int32",
    "acos_tile",
    "acos_tile_init",
    "acosh_tile",
    "acosh_tile_init",
    "add_unary_tile",
    "asin_tile",
    "asin_tile_init",
    "asinh_tile",
    "asinh_tile_init",
    "atan_tile",
    "atan_tile_init",
    "atanh_tile",
    "atanh_tile_init",
    "binop_with_scalar_tile_init",
    "bitwise_and_tile",
    "bitwise_and_tile_init",
    "bitwise_not_tile",
    "bitwise_not_tile_init",
    "bitwise_or_tile",
    "bitwise_or_tile_init",
    "bitwise_xor_tile",
    "bitwise_xor_tile_init",
    "cbrt_tile",
    "cbrt_tile_init",
    "ceil_tile",
    "celu_tile",
    "celu_tile_init",
    "clamp_tile",
    "clamp_tile_init",
    "clamp_tile_int32",
    "copy_dest_values",
    "copy_dest_values_init",
    "cos_tile",
    "cos_tile_init",
    "cosh_tile",
    "cosh_tile_init",
    "digamma_tile",
    "digamma_tile_init",
    "div_unary_tile",
    "elu_tile",
    "elu_tile_init",
    "eqz_tile",
    "eqz_tile_init",
    "eqz_tile_int32",
    "erf_tile",
    "erf_tile_init",
    "erfc_tile",
    "erfc_tile_init",
    "erfinv_tile",
    "erfinv_tile_init",
    "exp2_tile",
    "exp2_tile_init",
    "expm1_tile",
    "expm1_tile_init",
    "fill_tile",
    "fill_tile_bitcast",
    "fill_tile_init",
    "float_bits",
    "floor_tile",
    "fmod_tile",
    "fmod_tile_init",
    "frac_tile",
    "gelu_tile",
    "gelu_tile_init",
    "gez_tile",
    "gez_tile_init",
    "gez_tile_int32",
    "gtz_tile",
    "gtz_tile_init",
    "gtz_tile_int32",
    "hardmish_tile",
    "hardmish_tile_init",
    "hardshrink_tile",
    "hardshrink_tile_init",
    "hardsigmoid_tile",
    "hardsigmoid_tile_init",
    "hardtanh_tile",
    "hardtanh_tile_init",
    "heaviside_tile",
    "heaviside_tile_init",
    "i0_tile",
    "i0_tile_init",
    "i1_tile",
    "i1_tile_init",
    "identity_tile",
    "identity_tile_init",
    "isfinite_tile",
    "isfinite_tile_init",
    "isinf_tile",
    "isinf_tile_init",
    "isnan_tile",
    "isnan_tile_init",
    "isneginf_tile",
    "isneginf_tile_init",
    "isposinf_tile",
    "isposinf_tile_init",
    "leaky_relu_tile",
    "leaky_relu_tile_init",
    "left_shift_tile",
    "left_shift_tile_init",
    "lez_tile",
    "lez_tile_init",
    "lez_tile_int32",
    "log1p_tile",
    "log1p_tile_init",
    "log2_tile",
    "log2_tile_init",
    "log10_tile",
    "log10_tile_init",
    "log_tile",
    "log_tile_init",
    "logical_not_tile",
    "logical_not_tile_init",
    "logical_not_unary_tile",
    "logical_not_unary_tile_init",
    "ltz_tile",
    "ltz_tile_init",
    "ltz_tile_int32",
    "mish_tile",
    "mish_tile_init",
    "mul_unary_tile",
    "negative_tile",
    "negative_tile_init",
    "negative_tile_int32",
    "nez_tile",
    "nez_tile_init",
    "nez_tile_int32",
    "power_tile",
    "power_tile_init",
    "prelu_tile",
    "prelu_tile_init",
    "recip_tile",
    "recip_tile_init",
    "relu_max_tile",
    "relu_max_tile_init",
    "relu_min_tile",
    "relu_min_tile_init",
    "relu_tile",
    "relu_tile_init",
    "relu_tile_int32",
    "remainder_tile",
    "remainder_tile_init",
    "right_shift_tile",
    "right_shift_tile_init",
    "round_tile",
    "rounding_op_tile_init",
    "rpow_tile",
    "rpow_tile_init",
    "rsqrt_tile",
    "rsqrt_tile_init",
    "rsub_tile",
    "rsub_tile_init",
    "rsub_unary_tile",
    "selu_tile",
    "selu_tile_init",
    "sigmoid_tile",
    "sigmoid_tile_init",
    "sign_tile",
    "sign_tile_init",
    "signbit_tile",
    "signbit_tile_init",
    "silu_tile",
    "silu_tile_init",
    "sin_tile",
    "sin_tile_init",
    "sinh_tile",
    "sinh_tile_init",
    "softplus_tile",
    "softplus_tile_init",
    "softshrink_tile",
    "softshrink_tile_init",
    "softsign_tile",
    "softsign_tile_init",
    "sqrt_tile",
    "sqrt_tile_init",
    "square_tile",
    "square_tile_init",
    "sub_unary_tile",
    "tan_tile",
    "tan_tile_init",
    "tanh_tile",
    "tanh_tile_init",
    "tanhshrink_tile",
    "tanhshrink_tile_init",
    "threshold_tile",
    "threshold_tile_init",
    "trunc_tile",
    "typecast_tile",
    "typecast_tile_init",
    "unary_eq_tile",
    "unary_eq_tile_init",
    "unary_eq_tile_int32",
    "unary_ge_tile",
    "unary_ge_tile_init",
    "unary_ge_tile_int32",
    "unary_gt_tile",
    "unary_gt_tile_init",
    "unary_gt_tile_int32",
    "unary_le_tile",
    "unary_le_tile_init",
    "unary_le_tile_int32",
    "unary_lt_tile",
    "unary_lt_tile_init",
    "unary_lt_tile_int32",
    "unary_max_tile",
    "unary_max_tile_init",
    "unary_min_tile",
    "unary_min_tile_init",
    "unary_ne_tile",
    "unary_ne_tile_init",
    "unary_ne_tile_int32",
]

recip_tile_init = approximable_init("recip_tile_init")
recip_tile = approximable("recip_tile", ("recip", "accurate"), ("recip", "approx"))
sqrt_tile_init = approximable_init("sqrt_tile_init")
sqrt_tile = approximable("sqrt_tile", ("sqrt", "accurate"), ("sqrt", "fast"))
rsqrt_tile_init = approximable_init("rsqrt_tile_init")
rsqrt_tile = approximable("rsqrt_tile", ("rsqrt", "default"), ("rsqrt", "fast"))
sigmoid_tile_init = approximable_init("sigmoid_tile_init")
sigmoid_tile = approximable("sigmoid_tile", ("sigmoid", "accurate"), ("sigmoid", "approx"))
tanh_tile_init = approximable_init("tanh_tile_init")
tanh_tile = approximable("tanh_tile", ("tanh", "accurate"), ("tanh", "approx_lut"))
gelu_tile_init = approximable_init("gelu_tile_init")
gelu_tile = approximable("gelu_tile", ("gelu", "accurate"), ("gelu", "approx_lut"))
log_tile_init = approximable_init("log_tile_init")
log_tile = approximable("log_tile", ("log", "accurate"), ("log", "fast"))
log1p_tile_init = approximable_init("log1p_tile_init")
log1p_tile = approximable("log1p_tile", ("log1p", "accurate"), ("log1p", "fast"))
expm1_tile_init = approximable_init("expm1_tile_init")
expm1_tile = approximable("expm1_tile", ("expm1", "accurate"), ("expm1", "approx"))
erf_tile_init = approximable_init("erf_tile_init")
erf_tile = approximable("erf_tile", ("erf", "accurate"), ("erf", "fast"))
mish_tile_init = approximable_init("mish_tile_init")
mish_tile = approximable("mish_tile", ("mish", "accurate"), ("mish", "approx"))

abs_tile_init = init("abs_tile_init")
abs_tile = unary("abs_tile", "abs")
acos_tile_init = init("acos_tile_init")
acos_tile = unary("acos_tile", "acos")
acosh_tile_init = init("acosh_tile_init")
acosh_tile = unary("acosh_tile", "acosh")
asin_tile_init = init("asin_tile_init")
asin_tile = unary("asin_tile", "asin")
asinh_tile_init = init("asinh_tile_init")
asinh_tile = unary("asinh_tile", "asinh")
atan_tile_init = init("atan_tile_init")
atan_tile = unary("atan_tile", "atan")
atanh_tile_init = init("atanh_tile_init")
atanh_tile = unary("atanh_tile", "atanh")
cbrt_tile_init = init("cbrt_tile_init")
cbrt_tile = unary("cbrt_tile", "cbrt")
cos_tile_init = init("cos_tile_init")
cos_tile = unary("cos_tile", "cos")
cosh_tile_init = init("cosh_tile_init")
cosh_tile = unary("cosh_tile", "cosh")
eqz_tile_init = init("eqz_tile_init")
eqz_tile = unary("eqz_tile", "eqz")
erfc_tile_init = init("erfc_tile_init")
erfc_tile = unary("erfc_tile", "erfc")
erfinv_tile_init = init("erfinv_tile_init")
erfinv_tile = unary("erfinv_tile", "erfinv")
exp2_tile_init = init("exp2_tile_init")
exp2_tile = unary("exp2_tile", "exp2")
gez_tile_init = init("gez_tile_init")
gez_tile = unary("gez_tile", "gez")
gtz_tile_init = init("gtz_tile_init")
gtz_tile = unary("gtz_tile", "gtz")
hardmish_tile_init = init("hardmish_tile_init")
hardmish_tile = unary("hardmish_tile", "hardmish")
hardsigmoid_tile_init = init("hardsigmoid_tile_init")
hardsigmoid_tile = unary("hardsigmoid_tile", "hardsigmoid")
i0_tile_init = init("i0_tile_init")
i0_tile = unary("i0_tile", "i0")
i1_tile_init = init("i1_tile_init")
i1_tile = unary("i1_tile", "i1")
identity_tile_init = init("identity_tile_init")
identity_tile = unary("identity_tile", "identity")
isfinite_tile_init = init("isfinite_tile_init")
isfinite_tile = unary("isfinite_tile", "isfinite")
isinf_tile_init = init("isinf_tile_init")
isinf_tile = unary("isinf_tile", "isinf")
isnan_tile_init = init("isnan_tile_init")
isnan_tile = unary("isnan_tile", "isnan")
isneginf_tile_init = init("isneginf_tile_init")
isneginf_tile = unary("isneginf_tile", "isneginf")
isposinf_tile_init = init("isposinf_tile_init")
isposinf_tile = unary("isposinf_tile", "isposinf")
lez_tile_init = init("lez_tile_init")
lez_tile = unary("lez_tile", "lez")
ltz_tile_init = init("ltz_tile_init")
ltz_tile = unary("ltz_tile", "ltz")
nez_tile_init = init("nez_tile_init")
nez_tile = unary("nez_tile", "nez")
sign_tile_init = init("sign_tile_init")
sign_tile = unary("sign_tile", "sign")
signbit_tile_init = init("signbit_tile_init")
signbit_tile = unary("signbit_tile", "signbit")
sin_tile_init = init("sin_tile_init")
sin_tile = unary("sin_tile", "sin")
sinh_tile_init = init("sinh_tile_init")
sinh_tile = unary("sinh_tile", "sinh")
softsign_tile_init = init("softsign_tile_init")
softsign_tile = unary("softsign_tile", "softsign")
square_tile_init = init("square_tile_init")
square_tile = unary("square_tile", "square")
tan_tile_init = init("tan_tile_init")
tan_tile = unary("tan_tile", "tan")
tanhshrink_tile_init = init("tanhshrink_tile_init")
tanhshrink_tile = unary("tanhshrink_tile", "tanhshrink")
digamma_tile_init = init("digamma_tile_init")
digamma_tile = unary("digamma_tile", "digamma")
silu_tile_init = init("silu_tile_init")
silu_tile = unary("silu_tile", "silu", "accurate")
relu_tile_init = init("relu_tile_init")
relu_tile = unary("relu_tile", "relu", "relu")
negative_tile_init = init("negative_tile_init")
negative_tile = unary("negative_tile", "neg")
log2_tile_init = init("log2_tile_init")
log2_tile = unary("log2_tile", "log2", "accurate")
log10_tile_init = init("log10_tile_init")
log10_tile = unary("log10_tile", "log10", "accurate")
logical_not_tile_init = init("logical_not_tile_init")
logical_not_tile = unary("logical_not_tile", "logical_not")
logical_not_unary_tile = logical_not_tile
logical_not_unary_tile_init = logical_not_tile_init

# With parameters.
celu_tile_init = init("celu_tile_init")
celu_tile = unary("celu_tile", "celu", parameters=2)
clamp_tile_init = init("clamp_tile_init")
clamp_tile = unary("clamp_tile", "clamp", parameters=2)
elu_tile_init = init("elu_tile_init")
elu_tile = unary("elu_tile", "elu", parameters=1)
fmod_tile_init = init("fmod_tile_init")
fmod_tile = unary("fmod_tile", "fmod", parameters=2)
hardshrink_tile_init = init("hardshrink_tile_init")
hardshrink_tile = unary("hardshrink_tile", "hardshrink", parameters=1)
hardtanh_tile_init = init("hardtanh_tile_init")
hardtanh_tile = unary("hardtanh_tile", "hardtanh", parameters=2)
heaviside_tile_init = init("heaviside_tile_init")
heaviside_tile = unary("heaviside_tile", "heaviside", parameters=1)
leaky_relu_tile_init = init("leaky_relu_tile_init")
leaky_relu_tile = unary("leaky_relu_tile", "leaky_relu", parameters=1)
power_tile_init = init("power_tile_init")
power_tile = unary("power_tile", "power", parameters=1)
prelu_tile_init = init("prelu_tile_init")
prelu_tile = unary("prelu_tile", "prelu", parameters=1)
relu_max_tile_init = init("relu_max_tile_init")
relu_max_tile = unary("relu_max_tile", "relu_max", parameters=1)
relu_min_tile_init = init("relu_min_tile_init")
relu_min_tile = unary("relu_min_tile", "relu_min", parameters=1)
remainder_tile_init = init("remainder_tile_init")
remainder_tile = unary("remainder_tile", "remainder", parameters=2)
rpow_tile_init = init("rpow_tile_init")
rpow_tile = unary("rpow_tile", "rpow", parameters=1)
rsub_tile_init = init("rsub_tile_init")
rsub_tile = unary("rsub_tile", "rsub", parameters=1)
selu_tile_init = init("selu_tile_init")
selu_tile = unary("selu_tile", "selu", parameters=2)
softplus_tile_init = init("softplus_tile_init")
softplus_tile = unary("softplus_tile", "softplus", parameters=3)
softshrink_tile_init = init("softshrink_tile_init")
softshrink_tile = unary("softshrink_tile", "softshrink", parameters=1)
threshold_tile_init = init("threshold_tile_init")
threshold_tile = unary("threshold_tile", "threshold", parameters=2)
unary_eq_tile_init = init("unary_eq_tile_init")
unary_eq_tile = unary("unary_eq_tile", "unary_eq", parameters=1)
unary_ge_tile_init = init("unary_ge_tile_init")
unary_ge_tile = unary("unary_ge_tile", "unary_ge", parameters=1)
unary_gt_tile_init = init("unary_gt_tile_init")
unary_gt_tile = unary("unary_gt_tile", "unary_gt", parameters=1)
unary_le_tile_init = init("unary_le_tile_init")
unary_le_tile = unary("unary_le_tile", "unary_le", parameters=1)
unary_lt_tile_init = init("unary_lt_tile_init")
unary_lt_tile = unary("unary_lt_tile", "unary_lt", parameters=1)
unary_max_tile_init = init("unary_max_tile_init")
unary_max_tile = unary("unary_max_tile", "unary_max", parameters=1)
unary_min_tile_init = init("unary_min_tile_init")
unary_min_tile = unary("unary_min_tile", "unary_min", parameters=1)
unary_ne_tile_init = init("unary_ne_tile_init")
unary_ne_tile = unary("unary_ne_tile", "unary_ne", parameters=1)
binop_with_scalar_tile_init = init("binop_with_scalar_tile_init")
add_unary_tile = unary("add_unary_tile", "add_unary", parameters=1, init="binop_with_scalar_tile_init")
sub_unary_tile = unary("sub_unary_tile", "sub_unary", parameters=1, init="binop_with_scalar_tile_init")
mul_unary_tile = unary("mul_unary_tile", "mul_unary", parameters=1, init="binop_with_scalar_tile_init")
div_unary_tile = unary("div_unary_tile", "div_unary", parameters=1, init="binop_with_scalar_tile_init")
rsub_unary_tile = unary("rsub_unary_tile", "rsub", parameters=1, init="binop_with_scalar_tile_init")

# Rounding.
rounding_op_tile_init = init("rounding_op_tile_init")
ceil_tile = unary("ceil_tile", "ceil", init="rounding_op_tile_init")
floor_tile = unary("floor_tile", "floor", init="rounding_op_tile_init")
frac_tile = unary("frac_tile", "frac", init="rounding_op_tile_init")
trunc_tile = unary("trunc_tile", "trunc", init="rounding_op_tile_init")

# Integers.
bitwise_and_tile_init = init("bitwise_and_tile_init")
bitwise_and_tile = unary("bitwise_and_tile", "bitwise_and", "int32", parameters=1)
bitwise_or_tile_init = init("bitwise_or_tile_init")
bitwise_or_tile = unary("bitwise_or_tile", "bitwise_or", "int32", parameters=1)
bitwise_xor_tile_init = init("bitwise_xor_tile_init")
bitwise_xor_tile = unary("bitwise_xor_tile", "bitwise_xor", "int32", parameters=1)
left_shift_tile_init = init("left_shift_tile_init")
left_shift_tile = unary("left_shift_tile", "left_shift", "int32", parameters=1)
right_shift_tile_init = init("right_shift_tile_init")
right_shift_tile = unary("right_shift_tile", "right_shift", "int32", parameters=1)
bitwise_not_tile_init = init("bitwise_not_tile_init")
bitwise_not_tile = unary("bitwise_not_tile", "bitwise_not", "int32")
abs_tile_int32 = unary("abs_tile_int32", "abs_int32", "int32", init="abs_tile_init")
negative_tile_int32 = unary("negative_tile_int32", "neg_int32", "int32", init="negative_tile_init")
relu_tile_int32 = unary("relu_tile_int32", "relu_int32", "int32", init="relu_tile_init")
gtz_tile_int32 = unary("gtz_tile_int32", "gtz_int32", "int32", init="gtz_tile_init")
lez_tile_int32 = unary("lez_tile_int32", "lez_int32", "int32", init="lez_tile_init")
ltz_tile_int32 = unary("ltz_tile_int32", "ltz_int32", "int32", init="ltz_tile_init")
gez_tile_int32 = unary("gez_tile_int32", "gez_int32", "int32", init="gez_tile_init")
eqz_tile_int32 = unary("eqz_tile_int32", "eqz_int32", "int32", init="eqz_tile_init")
nez_tile_int32 = unary("nez_tile_int32", "nez_int32", "int32", init="nez_tile_init")
unary_eq_tile_int32 = unary("unary_eq_tile_int32", "unary_eq_int32", "int32", parameters=1, init="unary_eq_tile_init")
unary_ne_tile_int32 = unary("unary_ne_tile_int32", "unary_ne_int32", "int32", parameters=1, init="unary_ne_tile_init")
unary_lt_tile_int32 = unary("unary_lt_tile_int32", "unary_lt_int32", "int32", parameters=1, init="unary_lt_tile_init")
unary_ge_tile_int32 = unary("unary_ge_tile_int32", "unary_ge_int32", "int32", parameters=1, init="unary_ge_tile_init")
unary_gt_tile_int32 = unary("unary_gt_tile_int32", "unary_gt_int32", "int32", parameters=1, init="unary_gt_tile_init")
unary_le_tile_int32 = unary("unary_le_tile_int32", "unary_le_int32", "int32", parameters=1, init="unary_le_tile_init")
clamp_tile_int32 = unary("clamp_tile_int32", "clamp_int32", "int32", parameters=2, init="clamp_tile_init")

# What takes more than words.

round_integer = unary("round_tile", "round", "integer", init="rounding_op_tile_init")
round_decimals = unary("round_tile", "round", "decimals", parameters=2, init="rounding_op_tile_init")


def round_tile(idst: int, decimals: int = 0) -> None:
    """Round `Dst[idst]` to `decimals` decimals, halves to even."""
    if decimals == 0:
        round_integer(idst)
    else:
        round_decimals(idst, float_bits(10.0**decimals), float_bits(10.0**-decimals))


fill_tile_init = init("fill_tile_init")
fill_bits = unary("fill_tile", "fill", parameters=1)


def fill_tile(idst: int, param0: float) -> None:
    """Set every datum of `Dst[idst]` to a number."""
    fill_bits(idst, float_bits(param0))


def fill_tile_bitcast(idst: int, param0: int) -> None:
    """Set every datum of `Dst[idst]` to the number with these bits."""
    fill_bits(idst, param0)


copy_dest_values_init = init("copy_dest_values_init")
_copy = Binary("copy_dest_values", "copy_dest_values_init", ("copy", "default"), 2, 0)


def copy_dest_values(idst0: int, idst1: int) -> None:
    """Copy `Dst[idst0]` to `Dst[idst1]`."""
    _copy(idst0, idst0, idst1)


typecast_tile_init = init("typecast_tile_init")
_NAMES = {0: "fp32", 5: "bf16", 6: "bf16", 7: "bf16", 8: "int32", 9: "uint16", 24: "uint32", 30: "uint8"}
_MAKES = {"fp32": 0, "bf16": 0, "int32": 8, "uint32": 8, "uint8": 8, "uint16": 9}
_casts: dict[tuple[str, str], Unary] = {}


def typecast_tile(idst: int, *, in_dtype: int, out_dtype: int) -> None:
    """Convert `Dst[idst]` between data formats, given by their codes (template arguments in C++).

    Raises:
        UnsupportedError: the SFPU has no such conversion.
        KernelArgumentError: not the code of a format.
    """
    source, target = _NAMES.get(int(in_dtype)), _NAMES.get(int(out_dtype))
    if source is None or target is None:
        raise KernelArgumentError(f"typecast_tile: no format {in_dtype} or {out_dtype}")
    if source == target or {source, target} <= {"fp32", "bf16"} or {source, target} == {"int32", "uint32"}:
        return
    cast = _casts.get((source, target))
    if cast is None:
        function = (f"typecast_from_{source}", f"{source}_to_{target}")
        if function not in _engine.sfpu_variants():
            raise UnsupportedError(f"typecast_tile: the SFPU has no {source} to {target}", "unimplemented")
        cast = Unary("typecast_tile", "typecast_tile_init", function, 1, 0, _MAKES[target])
        _casts[source, target] = cast
    cast(idst)


def float_bits(value: float) -> int:
    """Return the bits of a number as float32: what parameters of functions are."""
    return int.from_bytes(struct.pack("<f", value), "little")
