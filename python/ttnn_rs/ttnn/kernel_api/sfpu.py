"""Functions of one Dst tile, one line per C++ name.

`X_tile_init()` sets up the SFPU (vector unit), `X_tile(idst, parameters...)` changes `Dst[idst]`. Parameters are raw
words: the bits of a float32, or an integer. A function without its init, or after that of another one, is an error.
"""

from __future__ import annotations

import struct

import numpy as np

from ttnn import _engine
from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.kernel_api.compute import VectorMode
from ttnn.kernel_api.sfpu_functions import Binary, InitParameters, Unary, approximable, init, unary, with_init

recip_tile_init, recip_tile = with_init(
    approximable("recip_tile", "recip", "accurate", "approx", approximate_by_default=None)
)
sqrt_tile_init, sqrt_tile = with_init(approximable("sqrt_tile", "sqrt", "accurate", "fast"))
rsqrt_tile_init, rsqrt_tile = with_init(approximable("rsqrt_tile", "rsqrt", "default", "fast"))
_rsqrt_legacy_init, _rsqrt_legacy = with_init(
    unary("rsqrt_tile", "rsqrt", "compat", init="rsqrt_tile_init(legacy_compat=True)")
)
sigmoid_tile_init, sigmoid_tile = with_init(approximable("sigmoid_tile", "sigmoid", "accurate", "approx"))
tanh_tile_init, tanh_tile = with_init(approximable("tanh_tile", "tanh", "accurate", "approx_lut"))
gelu_tile_init, gelu_tile = with_init(
    approximable("gelu_tile", "gelu", "accurate", "approx_lut", approximate_by_default=True)
)
log_tile_init, log_tile = with_init(approximable("log_tile", "log", "accurate", "fast"))
log1p_tile_init, log1p_tile = with_init(approximable("log1p_tile", "log1p", "accurate", "fast"))
expm1_tile_init, expm1_tile = with_init(approximable("expm1_tile", "expm1", "accurate", "approx"))
erf_tile_init, erf_tile = with_init(approximable("erf_tile", "erf", "accurate", "fast", approximate_by_default=True))
mish_tile_init, mish_tile = with_init(approximable("mish_tile", "mish", "accurate", "approx"))

abs_tile_init, abs_tile = with_init(unary("abs_tile"))
acos_tile_init, acos_tile = with_init(unary("acos_tile"))
acosh_tile_init, acosh_tile = with_init(unary("acosh_tile"))
asin_tile_init, asin_tile = with_init(unary("asin_tile"))
asinh_tile_init, asinh_tile = with_init(unary("asinh_tile"))
atan_tile_init, atan_tile = with_init(unary("atan_tile"))
atanh_tile_init, atanh_tile = with_init(unary("atanh_tile"))
cbrt_tile_init, cbrt_tile = with_init(unary("cbrt_tile"))
cos_tile_init, cos_tile = with_init(unary("cos_tile"))
cosh_tile_init, cosh_tile = with_init(unary("cosh_tile"))
eqz_tile_init, eqz_tile = with_init(unary("eqz_tile"))
erfc_tile_init, erfc_tile = with_init(unary("erfc_tile"))
erfinv_tile_init, erfinv_tile = with_init(unary("erfinv_tile"))
exp2_tile_init, exp2_tile = with_init(unary("exp2_tile"))
gez_tile_init, gez_tile = with_init(unary("gez_tile"))
gtz_tile_init, gtz_tile = with_init(unary("gtz_tile"))
hardmish_tile_init, hardmish_tile = with_init(unary("hardmish_tile"))
hardsigmoid_tile_init, hardsigmoid_tile = with_init(unary("hardsigmoid_tile"))
i0_tile_init, i0_tile = with_init(unary("i0_tile"))
i1_tile_init, i1_tile = with_init(unary("i1_tile"))
identity_tile_init, identity_tile = with_init(unary("identity_tile"))
isfinite_tile_init, isfinite_tile = with_init(unary("isfinite_tile"))
isinf_tile_init, isinf_tile = with_init(unary("isinf_tile"))
isnan_tile_init, isnan_tile = with_init(unary("isnan_tile"))
isneginf_tile_init, isneginf_tile = with_init(unary("isneginf_tile"))
isposinf_tile_init, isposinf_tile = with_init(unary("isposinf_tile"))
lez_tile_init, lez_tile = with_init(unary("lez_tile"))
ltz_tile_init, ltz_tile = with_init(unary("ltz_tile"))
nez_tile_init, nez_tile = with_init(unary("nez_tile"))
sign_tile_init, sign_tile = with_init(unary("sign_tile"))
signbit_tile_init, signbit_tile = with_init(unary("signbit_tile"))
sin_tile_init, sin_tile = with_init(unary("sin_tile"))
sinh_tile_init, sinh_tile = with_init(unary("sinh_tile"))
softsign_tile_init, softsign_tile = with_init(unary("softsign_tile"))
square_tile_init, square_tile = with_init(unary("square_tile"))
tan_tile_init, tan_tile = with_init(unary("tan_tile"))
tanhshrink_tile_init, tanhshrink_tile = with_init(unary("tanhshrink_tile"))
digamma_tile_init, digamma_tile = with_init(unary("digamma_tile"))
silu_tile_init, silu_tile = with_init(unary("silu_tile", variant="accurate"))
relu_tile_init, relu_tile = with_init(unary("relu_tile", variant="relu"))
negative_tile_init, negative_tile = with_init(unary("negative_tile", "neg"))
log2_tile_init, log2_tile = with_init(unary("log2_tile", variant="accurate"))
log10_tile_init, log10_tile = with_init(unary("log10_tile", variant="accurate"))
logical_not_tile_init, logical_not_tile = with_init(unary("logical_not_tile"))
logical_not_unary_tile = logical_not_tile
logical_not_unary_tile_init = logical_not_tile_init

# With parameters.
celu_tile_init, celu_tile = with_init(unary("celu_tile", parameters=2))
clamp_tile_init, clamp_tile = with_init(unary("clamp_tile", parameters=2))
elu_tile_init, elu_tile = with_init(unary("elu_tile", parameters=1))
fmod_tile_init, fmod_tile = with_init(InitParameters("fmod_tile", "fmod_tile_init", ("fmod", "default"), 1, 2))
hardshrink_tile_init, hardshrink_tile = with_init(unary("hardshrink_tile", parameters=1))
hardtanh_tile_init, hardtanh_tile = with_init(unary("hardtanh_tile", parameters=2))
heaviside_tile_init, heaviside_tile = with_init(unary("heaviside_tile", parameters=1))
leaky_relu_tile_init, leaky_relu_tile = with_init(unary("leaky_relu_tile", parameters=1))
power_tile_init, power_tile = with_init(unary("power_tile", parameters=1))
prelu_tile_init, prelu_tile = with_init(unary("prelu_tile", parameters=1))
relu_max_tile_init, relu_max_tile = with_init(unary("relu_max_tile", parameters=1))
relu_min_tile_init, relu_min_tile = with_init(unary("relu_min_tile", parameters=1))
remainder_tile_init, remainder_tile = with_init(
    InitParameters("remainder_tile", "remainder_tile_init", ("remainder", "default"), 1, 2)
)
rpow_tile_init, rpow_tile = with_init(unary("rpow_tile", parameters=1))
rsub_tile_init, rsub_tile = with_init(unary("rsub_tile", parameters=1))
selu_tile_init, _selu = with_init(unary("selu_tile", "selu", parameters=2))
softcap_tile_init, softcap_tile = with_init(unary("softcap_tile", parameters=2))
softplus_tile_init, softplus_tile = with_init(unary("softplus_tile", parameters=3))
softshrink_tile_init, softshrink_tile = with_init(unary("softshrink_tile", parameters=1))
threshold_tile_init, threshold_tile = with_init(unary("threshold_tile", parameters=2))
unary_eq_tile_init, unary_eq_tile = with_init(unary("unary_eq_tile", parameters=1))
unary_ge_tile_init, unary_ge_tile = with_init(unary("unary_ge_tile", parameters=1))
unary_gt_tile_init, unary_gt_tile = with_init(unary("unary_gt_tile", parameters=1))
unary_le_tile_init, unary_le_tile = with_init(unary("unary_le_tile", parameters=1))
unary_lt_tile_init, unary_lt_tile = with_init(unary("unary_lt_tile", parameters=1))
unary_max_tile_init, unary_max_tile = with_init(unary("unary_max_tile", parameters=1))
unary_min_tile_init, unary_min_tile = with_init(unary("unary_min_tile", parameters=1))
unary_ne_tile_init, unary_ne_tile = with_init(unary("unary_ne_tile", parameters=1))
binop_with_scalar_tile_init = init("binop_with_scalar_tile_init")
add_unary_tile = unary("add_unary_tile", parameters=1, init="binop_with_scalar_tile_init")
sub_unary_tile = unary("sub_unary_tile", parameters=1, init="binop_with_scalar_tile_init")
mul_unary_tile = unary("mul_unary_tile", parameters=1, init="binop_with_scalar_tile_init")
div_unary_tile = unary("div_unary_tile", parameters=1, init="binop_with_scalar_tile_init")
rsub_unary_tile = unary("rsub_unary_tile", "rsub", parameters=1, init="binop_with_scalar_tile_init")

# Rounding.
rounding_op_tile_init = init("rounding_op_tile_init")
ceil_tile = unary("ceil_tile", "ceil", init="rounding_op_tile_init")
floor_tile = unary("floor_tile", "floor", init="rounding_op_tile_init")
frac_tile = unary("frac_tile", "frac", init="rounding_op_tile_init")
trunc_tile = unary("trunc_tile", "trunc", init="rounding_op_tile_init")

# Integers.
bitwise_and_tile_init, bitwise_and_tile = with_init(unary("bitwise_and_tile", variant="int32", parameters=1))
bitwise_or_tile_init, bitwise_or_tile = with_init(unary("bitwise_or_tile", variant="int32", parameters=1))
bitwise_xor_tile_init, bitwise_xor_tile = with_init(unary("bitwise_xor_tile", variant="int32", parameters=1))
left_shift_tile_init, left_shift_tile = with_init(unary("left_shift_tile", variant="int32", parameters=1))
right_shift_tile_init, right_shift_tile = with_init(unary("right_shift_tile", variant="int32", parameters=1))
bitwise_not_tile_init, bitwise_not_tile = with_init(unary("bitwise_not_tile", variant="int32"))
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

# Functions whose arguments are not only words.

_round_integer = unary("round_tile", variant="integer", init="rounding_op_tile_init")
_round_decimals = unary("round_tile", variant="decimals", parameters=2, init="rounding_op_tile_init")


def round_tile(idst: int, decimals: int = 0) -> None:
    """Round `Dst[idst]` to `decimals` decimals, halves to even."""
    if decimals == 0:
        _round_integer(idst)
    else:
        _round_decimals(idst, float_bits(10.0**decimals), float_bits(10.0**-decimals))


def selu_tile(idst: int, scale: int, alpha: int, vector_mode: VectorMode | int = 4) -> None:
    """`Dst[idst]` = SELU of x.

    scale * x, for negative x scale * alpha * (e^x - 1); parameters are bits of float32.
    """
    _selu(idst, scale, product_bits(scale, alpha), vector_mode=vector_mode)


fill_tile_init = init("fill_tile_init")
_fill_bits = unary("fill_tile", parameters=1)


def fill_tile(idst: int, param0: float) -> None:
    """Set every element of `Dst[idst]` to a value."""
    _fill_bits(idst, float_bits(param0))


def fill_tile_bitcast(idst: int, param0: int) -> None:
    """Set every element of `Dst[idst]` to the value with these bits."""
    _fill_bits(idst, param0)


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
    """Convert `Dst[idst]` between data formats, by their codes (template arguments in C++).

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


def product_bits(a: int, b: int) -> int:
    """Return the product of two float32 bit patterns, as bits."""
    factors = np.array([a & 0xFFFF_FFFF, b & 0xFFFF_FFFF], np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        return int((factors[0] * factors[1]).view(np.uint32))


def float_bits(value: float) -> int:
    """Return the float32 bits of a value, as function parameters are passed."""
    return int.from_bytes(struct.pack("<f", value), "little")
