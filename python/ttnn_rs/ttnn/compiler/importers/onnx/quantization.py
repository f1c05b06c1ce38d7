"""Scaled integers."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder import scalar, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.importers.onnx.types import FLOAT, dtype_of
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _along(s: Scope, a: Node, at: int) -> SSAValue | None:
    """Return a scale or zero point that broadcasts with the tensor.

    One number, or one for each place of an axis.
    """
    given = a.optional(at)
    if given is None:
        return None
    wide = s.wide(given)
    shape, rank = shape_of(wide), a.rank()
    if shape in ((), (1,)):
        return s.reshape(wide, [1] * rank)
    if len(shape) != 1:
        refuse("in blocks has no TTIR operation")
    line = [1] * rank
    line[a.axis(1)] = shape[0]
    return s.reshape(wide, line)


def _quantize(s: Scope, a: Node) -> Any:
    zero = a.value(2)
    number = int(a.attribute("output_dtype", 0))
    dtype = zero.dtype if zero is not None else dtype_of(number or 2)
    if dtype.name not in ("int8", "uint8", "int16"):
        refuse(f"to {dtype.name} has no TTIR operation")
    scale, point = _along(s, a, 1), _along(s, a, 2)
    assert scale is not None
    made = s.aten("round", FLOAT, self=s.b.div(s.wide(a[0]), scale))
    if point is not None:
        made = s.b.add(made, point)
    low, high = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}[dtype.name]
    made = s.b.clamp_scalar(made, min=float(low), max=float(high))
    return Value(dtype, s.cast(made, scalar("si32")))


def _dequantize(s: Scope, a: Node) -> Any:
    if a.dtype.name not in ("int8", "uint8", "int16", "int32"):
        refuse(f"of {a.dtype.name} has no TTIR operation")
    scale, point = _along(s, a, 1), _along(s, a, 2)
    assert scale is not None
    made = s.wide(a[0]) if point is None else s.b.subtract(s.wide(a[0]), point)
    number = int(a.attribute("output_dtype", 0))
    dtype = dtype_of(number) if number else a.needed(1).dtype
    return Value(dtype, s.to(s.one(s.b.multiply(made, scale)), dtype))


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "DequantizeLinear"): _dequantize,
    ("", "QuantizeLinear"): _quantize,
}
