"""Constants that are only moved are moved when the module is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import TensorType
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.canonical.arithmetic import FOLD_LIMIT
from ttnn.compiler.transforms.ttir.constants import build_constant, constant_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

__all__ = ["broadcast_splat", "dimension_size", "permute", "repeat", "repeat_interleave", "reshape", "slice_static"]


def _moved(module: Module, op: TableOp, move: Callable[[Any], Any], *, splats_only: bool = False) -> Result:
    given = constant_of(op.inputs[0])
    type_ = op.results[0].type
    if given is None or not isinstance(type_, TensorType) or type_.element_type != given.type.element_type:
        return None
    if given.splat:
        return [build_constant(module, op, type_, given.data)]
    size = 1
    for one in shape_of(op.results[0]):
        size *= one
    if splats_only or size > FOLD_LIMIT:
        return None
    return [build_constant(module, op, type_, move(given.data))]


def reshape(module: Module, op: TableOp) -> Result:
    """A reshaped constant is a constant."""
    return _moved(module, op, lambda data: data.reshape(shape_of(op.results[0])))


def broadcast_splat(module: Module, op: TableOp) -> Result:
    """Equal elements that are repeated are equal elements."""
    return _moved(module, op, lambda data: data, splats_only=True)


def repeat(module: Module, op: TableOp) -> Result:
    """A repeated constant is a constant."""
    import numpy as np

    return _moved(module, op, lambda data: np.tile(data, op.get("repeat_dimensions")))


def repeat_interleave(module: Module, op: TableOp) -> Result:
    """A repeated constant is a constant; one repetition is none."""
    import numpy as np

    if op.get("repeats") == 1:
        return [op.inputs[0]]
    return _moved(module, op, lambda data: np.repeat(data, op.get("repeats"), axis=op.get("dim")))


def permute(module: Module, op: TableOp) -> Result:
    """A permuted constant is a constant."""
    return _moved(module, op, lambda data: data.transpose(op.get("permutation")))


def slice_static(module: Module, op: TableOp) -> Result:
    """A part of a constant is a constant."""
    shape = shape_of(op.inputs[0])
    numbers = zip(op.get("begins"), op.get("step"), shape, shape_of(op.results[0]), strict=True)
    index = []
    for begin, step, size, count in numbers:
        start = begin + size if begin < 0 else begin
        stop = start + step * count
        index.append(slice(start, stop if stop >= 0 else None, step))
    return _moved(module, op, lambda data: data[tuple(index)])


def dimension_size(module: Module, op: TableOp) -> Result:
    """The size of a dimension is known."""
    import numpy as np

    if not isinstance(op.results[0].type, TensorType):
        return None
    size = shape_of(op.inputs[0])[op.get("dimension")]
    return [build_constant(module, op, op.results[0].type, np.asarray(size, dtype=np.uint32))]
