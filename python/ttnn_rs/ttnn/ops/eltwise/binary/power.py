"""Powers and polynomials.

Source: TT-NN docs "ttnn.pow", "ttnn.polyval"; tt-metal `ckernel_sfpu_binary_pow.h`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.base.exceptions import ArgumentError, DTypeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import binary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.domain import positive
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import FLOAT, INTEGER, TENSOR, Kind, Param, Signature
from ttnn.operation.steps import ChainStep, Steps, with_numbers, word
from ttnn.ops._programs.common import INPUT_TENSOR, INTEGERS, MEMORY_CONFIG_OPTION, as_float, full_tiles, on_device
from ttnn.ops._programs.sfpu_chain import apply_chain, copy_bits
from ttnn.ops.creation.filled import full_like
from ttnn.ops.eltwise.binary.arithmetic import add, multiply
from ttnn.ops.eltwise.binary.checks import not_defined, on_host
from ttnn.ops.eltwise.binary.compute import Options
from ttnn.ops.eltwise.binary.family import (
    ACTIVATION_OPTIONS,
    ALL_FLOATS,
    DTYPE_OPTION,
    LAYOUTS,
    OUTPUT,
    RAISES,
    convert_integers,
    measured,
)
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.tensor.tensor import Tensor

_POWER: Final = Arithmetic("ttnn.pow", BinaryOpType.POWER, function="power_binary")
_INTEGERS: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16)
_BY_MULTIPLYING: Final = range(4)
"""Exponents for which the chip multiplies instead of taking logarithms."""
_INT32: Final = range(-(2**31), 2**31)


def _pow(
    input_tensor: Tensor, exponent: float, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    on_device("ttnn.pow", input_tensor, "input_tensor", on_host("A"))
    dtype = input_tensor.spec.dtype
    whole = isinstance(exponent, int) or as_float("ttnn.pow", exponent, "exponent").is_integer()
    if dtype in INTEGERS:
        if dtype not in _INTEGERS:
            raise not_defined(_POWER, dtype)
        if not whole:
            raise DTypeError(
                f"ttnn.pow: {dtype.name} to the power {exponent} is not an integer; typecast the input to a "
                "floating-point type first.",
                vendor=f"pow: {dtype.cpp_name} input requires an integral exponent, got {exponent:g}",
            )
        return _integer_power(input_tensor, int(exponent), memory_config, output_tensor)
    steps: list[ChainStep] = [("power", "default", [word(as_float("ttnn.pow", exponent, "exponent"))])]
    if whole and int(exponent) in _BY_MULTIPLYING:
        # The first power is a copy through Dst.
        steps = [("power_iterative", "default", [int(exponent)])] if exponent != 1 else [("identity", "default")]
    return apply_chain("ttnn.pow", input_tensor, steps, memory_config=memory_config, output_tensor=output_tensor)


def _repeated_product(exponent: float) -> list[ChainStep]:
    """Return the activation's steps.

    Its kernel has the integer part of the exponent, without sign.
    """
    if not 0.0 <= exponent < 2.0**32:
        return [("power_iterative", "of a negative or infinite exponent")]
    return [("power_iterative", "default", [int(exponent)])]


def _integer_power(
    base: Tensor, exponent: int, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    """The power of integers, which wraps, by squaring."""
    if exponent < 0:
        raise DTypeError(
            f"ttnn.pow: {base.dtype.name} to the power {exponent} is not an integer; typecast the input to a "
            "floating-point type first.",
            vendor=f"pow: integers to negative integer powers are not allowed, got {exponent}",
        )
    if exponent not in _INT32:
        raise DTypeError(f"ttnn.pow: the exponent {exponent} is not an INT32 value.")
    options = {"memory_config": memory_config, "output_tensor": output_tensor}
    if exponent == 0:
        one: Tensor = full_like(base, 1, memory_config=memory_config, optional_tensor=output_tensor)
        return one
    if exponent == 1:
        return copy_bits("ttnn.pow", base, memory_config, output_tensor)
    result: Tensor | None = None
    square = base
    for bit in range(exponent.bit_length()):
        if bit:
            last = result is None and exponent == 1 << bit
            square = multiply(square, square, **(options if last else {}))
        if exponent >> bit & 1:
            last = bit == exponent.bit_length() - 1
            result = square if result is None else multiply(result, square, **(options if last else {}))
    assert result is not None
    return result


def _filled_like(tensor: Tensor, value: float) -> Tensor:
    filled: Tensor = full_like(tensor, value)
    return filled


def _pow_of_tensors(
    base: Tensor | float,
    exponent: Tensor,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    *activations: Any,
) -> Tensor:
    if not isinstance(base, Tensor):
        on_device("ttnn.pow", exponent, "exponent", on_host("B"))
        full_tiles("ttnn.pow", exponent, "exponent")
        if exponent.spec.dtype in INTEGERS:
            raise not_defined(_POWER, exponent.spec.dtype)
        base = _filled_like(exponent, as_float("ttnn.pow", base, "input_tensor"))
    elif base.spec.dtype in INTEGERS:
        raise DTypeError(
            f"ttnn.pow: input_tensor is {base.spec.dtype.name} and the exponent a tensor; pass an integer exponent, or "
            "typecast both to a floating-point type.",
            vendor=f"Input tensor A dtype {base.spec.dtype.cpp_name} is not supported for binary operation POWER: "
            "tensor exponents are not supported for integer inputs, use a scalar integer exponent",
        )
    options = Options(dtype, memory_config, output_tensor, *activations)
    return convert_integers(_POWER, base, exponent, None, options)


_EXPONENT_DOC: Final = (
    "Exponent, `b`. Integer exponents from 0 to 3 are computed by multiplication, others by "
    "logarithms. Integer tensors wrap."
)
_PAIR_KEYWORDS: Final = (DTYPE_OPTION, *OUTPUT, *ACTIVATION_OPTIONS)
_EXPONENT: Final = Param("exponent", TENSOR, doc=_EXPONENT_DOC)

pow = register(
    Op(
        name="pow",
        signatures=(
            Signature((INPUT_TENSOR, Param("exponent", INTEGER, doc=_EXPONENT_DOC)), OUTPUT),
            Signature((INPUT_TENSOR, Param("exponent", FLOAT, doc=_EXPONENT_DOC)), OUTPUT),
            Signature((INPUT_TENSOR, _EXPONENT), _PAIR_KEYWORDS, run=_pow_of_tensors),
            Signature((Param("input_tensor", FLOAT), _EXPONENT), _PAIR_KEYWORDS, run=_pow_of_tensors),
        ),
        run=_pow,
        doc="Return the element-wise power `a^b`, with broadcasting.",
        source="tt-metal `ckernel_sfpu_binary_pow.h`",
        dtypes=(*ALL_FLOATS, *_INTEGERS),
        reference=_INTEGERS,
        layouts=LAYOUTS,
        golden=golden.power,
        accuracy=measured(5.5, 9.2),
        engine=("unary", "binary"),
        family="binary",
        raises=(*RAISES, ("DTypeError", "the input holds integers and the exponent is negative.")),
        domain=positive,
        steps={
            UnaryOpType.POWER: with_numbers("power", 1),
            UnaryOpType.POWER_ITERATIVE: Steps(1, 1, _repeated_product),
        },
    )
)


def _is_coefficients(value: object) -> bool:
    return isinstance(value, list | tuple) and all(FLOAT.accepts(item) for item in value)


COEFFICIENTS: Final = Kind("collections.abc.Sequence[float]", _is_coefficients)


def _polyval(input_tensor: Tensor, coeffs: list[float], memory_config: MemoryConfig | None) -> Tensor:
    name, dtype = "ttnn.polyval", input_tensor.spec.dtype
    on_device(name, input_tensor, "input_tensor_a", on_host("A"))
    if dtype in INTEGERS:
        raise not_defined(Arithmetic(name, BinaryOpType.MUL), dtype)
    if not coeffs:
        raise ArgumentError(f"{name}: coeffs is empty; a polynomial has at least one coefficient.")
    first, *others = (as_float(name, value, "a coefficient") for value in coeffs)
    if not others:
        constant: Tensor = full_like(input_tensor, first, memory_config=memory_config)
        return constant
    # Every step is rounded to the tensor's data type, the numbers too: bfloat16 coefficients are truncated.
    result = multiply(input_tensor, first, memory_config=memory_config)
    for value in others[:-1]:
        result = multiply(input_tensor, add(result, value, memory_config=memory_config), memory_config=memory_config)
    last: Tensor = add(result, others[-1], memory_config=memory_config)
    return last


polyval = register(
    Op(
        name="polyval",
        signatures=(
            Signature(
                (
                    Param("input_tensor_a", TENSOR, doc="[..., H, W] on a device."),
                    Param("coeffs", COEFFICIENTS, doc="Coefficients, from the highest power to the lowest."),
                ),
                (MEMORY_CONFIG_OPTION,),
            ),
        ),
        run=_polyval,
        doc="Return the element-wise polynomial of `input_tensor` with the coefficients `coeffs`.\n"
        "It is evaluated with Horner's method; each step is rounded.",
        dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32),
        layouts=LAYOUTS,
        golden=golden.polyval,
        # A coefficient is cut, then multiplied and added to: at most two units per coefficient and term.
        accuracy=max_ulp(
            (DataType.BFLOAT16, 2), (DataType.FLOAT32, 2), magnitude=golden.coefficients_times_the_sum_of_terms
        ),
        family="unary",
        composition=True,
        raises=(
            ("ArgumentError", "`coeffs` is empty."),
            ("DTypeError", "integer data types are not supported."),
            ("StorageError", "the input is on the host."),
        ),
        examples=(([1.0, -2.0, 0.5],), ([3.0],)),
    )
)
