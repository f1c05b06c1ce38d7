"""Operators on one complex tensor.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.golden.eltwise import complex as g
from ttnn.operation.accuracy import Accuracy, bit_exact, max_ulp
from ttnn.operation.registry import FastOperation, declare, overload
from ttnn.operation.signature import MEMORY_CONFIG, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, same_device
from ttnn.ops.backward.forward import Forward, named
from ttnn.ops.eltwise.complex import arithmetic
from ttnn.ops.eltwise.complex.tensor import COMPLEX, ComplexTensor
from ttnn.ops.eltwise.unary.math import OPERATORS as UNARY
from ttnn.tensor.tensor import Tensor

INPUT: Final = Param("input_tensor", COMPLEX, doc="Complex tensor [..., H, W], both parts on a device.")
PLACE: Final = Param("memory_config", MEMORY_CONFIG, doc="Memory configuration of the output.")
FLOATS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32)
RAISES: Final = (("StorageError", "a part is on the host, deallocated, or on another device than the other."),)


def check_parts(operator: str, **operands: ComplexTensor | Tensor) -> None:
    """Refuse parts that are not on one device.

    Raises:
        StorageError: see above.
    """
    device = None
    for label, operand in operands.items():
        parts = [(label, operand)] if isinstance(operand, Tensor) else [
            (f"{label}.real", operand.real),
            (f"{label}.imag", operand.imag),
        ]  # fmt: skip
        for name, part in parts:
            if device is None:
                device = on_device(operator, part, name)
            on_device(operator, part, name)
            same_device(operator, device, part, name)


def composed(
    name: str, steps: Callable[..., Any], returns: str, labels: tuple[str, ...] = ("input_tensor",)
) -> Callable[..., Any]:
    """Return a function that checks labelled operands and runs the steps.

    The memory config is last.

    `returns` is the type of the result, for the signature.
    """
    operator = f"ttnn.{name}"

    def run(*values: Any) -> Any:
        *operands, place = values
        with named(operator):
            check_parts(operator, **dict(zip(labels, operands, strict=False)))
            return steps(Forward(place), *operands)

    run.__annotations__["return"] = returns
    return run


register: Final = partial(
    declare,
    dtypes=FLOATS,
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    family="complex",
    composition=True,
)
"""Registers an operator on complex tensors."""


def _register(
    name: str,
    doc: str,
    golden: Callable[..., Any],
    steps: Callable[..., Any],
    accuracy: Accuracy,
    returns: type = Tensor,
) -> FastOperation:
    run = composed(name, steps, returns.__name__)
    signatures = (Signature((INPUT,), (MEMORY_CONFIG_OPTION,)),)
    return register(name, signatures, run, doc, golden=golden, accuracy=accuracy, raises=RAISES)


real = _register(
    "real",
    "Return the real part of `input_tensor`, [..., H, W].\nIt is not copied, unless `memory_config` is given.",
    g.real,
    lambda do, x: do.passed_on(x.real),
    bit_exact(),
)
imag = _register(
    "imag",
    "Return the imaginary part of `input_tensor`, [..., H, W].\nIt is not copied, unless `memory_config` is given.",
    g.imag,
    lambda do, x: do.passed_on(x.imag),
    bit_exact(),
)
angle = _register(
    "angle",
    "Return the element-wise angle of `input_tensor` in radians, in [-pi, pi].",
    g.angle,
    lambda do, x: do.atan2(x.imag, x.real),
    # That of `atan2`.
    max_ulp((DataType.BFLOAT16, 0.65), (DataType.FLOAT32, 2.9)).on_blackhole(
        (DataType.BFLOAT16, 1.84), (DataType.FLOAT32, 3.3)
    ),
)
is_real = _register(
    "is_real",
    "Return 1 where the imaginary part of `input_tensor` is 0, else 0.",
    g.is_real,
    lambda do, x: do.eqz(x.imag),
    bit_exact(),
)
is_imag = _register(
    "is_imag",
    "Return 1 where the real part of `input_tensor` is 0, else 0.",
    g.is_imag,
    lambda do, x: do.eqz(x.real),
    bit_exact(),
)
conj = _register(
    "conj",
    "Return the element-wise complex conjugate of `input_tensor`.",
    g.conj,
    arithmetic.conj,
    bit_exact(),
    ComplexTensor,
)
polar = _register(
    "polar",
    "Return the complex tensor `real * (cos(imag) + i * sin(imag))`.\n"
    "The real part of `input_tensor` is the magnitude, the imaginary part the angle in radians.",
    g.polar,
    arithmetic.polar,
    # Measured, as that of its gradient, over angles of every size: an error of the angle's reduction grows with it.
    max_ulp(
        (DataType.BFLOAT16, 1.1), (DataType.FLOAT32, 2.2), magnitude=g.magnitude_times_the_angle_or_1, largest=2.0**20
    ),
    ComplexTensor,
)

overload(
    UNARY["abs"],
    Signature((INPUT,), (PLACE,), run=composed("abs", lambda do, x: do.hypot(x.real, x.imag), "Tensor")),
    g.abs_,
)
overload(
    UNARY["reciprocal"],
    Signature((INPUT,), (PLACE,), run=composed("reciprocal", arithmetic.reciprocal, "ComplexTensor")),
    g.reciprocal,
)
