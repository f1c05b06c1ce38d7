"""`ttnn.roll`: elements moved along dimensions, those beyond the end to the beginning.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement`; the bits are those of `ttnn.slice` and `ttnn.concat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.enums import Layout
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import data_movement as golden
from ttnn.operation.signature import INT_SEQUENCE, INTEGER, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, on_device
from ttnn.ops._programs.movement import register_movement
from ttnn.ops.data_movement.concat import ONLY_ROWS, joined
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor


def _part(name: str, source: Tensor, axis: int, start: int, end: int) -> Tensor:
    """Return the elements of a range of one dimension."""
    starts, ends = [0] * source.spec.shape.rank, list(source.spec.shape)
    starts[axis], ends[axis] = start, end
    return sliced(name, source, starts, ends)


def _rolled(name: str, source: Tensor, shifts: Sequence[int], dims: Sequence[int], place: MemoryConfig) -> Tensor:
    rank = source.spec.shape.rank
    if len(shifts) != len(dims):
        raise ShapeError(
            f"{name}: shifts={list(shifts)} and dim={list(dims)} must have as many entries.",
            vendor="Number of shifts must be equal to the number of dimensions",
        )
    result = source
    for shift, dim in zip(shifts, dims, strict=True):
        if not -rank <= dim < rank:
            raise ShapeError(
                f"{name}: dim={dim} is out of range for a tensor of rank {rank}.",
                vendor=f"Invalid dimension index {dim}. The dimension must be within the range [{-rank}, {rank - 1}].",
            )
        axis = dim % rank
        size = result.spec.shape[axis]
        cut = -shift % size if size else 0
        if cut:
            result = joined(name, [_part(name, result, axis, cut, size), _part(name, result, axis, 0, cut)], axis)
    return result if result is not source and result.spec.memory_config == place else moved_to(result, place)


def _roll(
    input_tensor: Tensor, shifts: Sequence[int], dim: Sequence[int], memory_config: MemoryConfig | None
) -> Tensor:
    name = "ttnn.roll"
    on_device(name, input_tensor)
    return _rolled(name, input_tensor, shifts, dim, memory_config or input_tensor.spec.memory_config)


def _roll_one(input_tensor: Tensor, shifts: int, dim: int, memory_config: MemoryConfig | None) -> Tensor:
    return _roll(input_tensor, [shifts], [dim], memory_config)


def _roll_flat(input_tensor: Tensor, shifts: int, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.roll"
    on_device(name, input_tensor)
    shape = tuple(input_tensor.spec.shape)
    flat = reshaped(name, input_tensor, (1, input_tensor.spec.shape.volume()))
    place = memory_config or input_tensor.spec.memory_config
    result = reshaped(name, _rolled(name, flat, [shifts], [1], flat.spec.memory_config), shape)
    return result if result.spec.memory_config == place else moved_to(result, place)


_DIM: Final = Param("dim", INTEGER, doc="A dimension.", example=-1)


def _rolls(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((1, -1), (-3, 0)) if shape and 0 not in shape else ()


roll = register_movement(
    "roll",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("shifts", INT_SEQUENCE, doc="How far elements move, towards the end.", example=[1]),
                Param("dim", INT_SEQUENCE, doc="Dimensions.", example=[-1]),
            ),
            (MEMORY_CONFIG_OPTION,),
        ),
        Signature((INPUT_TENSOR, Param("shifts", INTEGER), _DIM), (MEMORY_CONFIG_OPTION,), run=_roll_one),
        Signature((INPUT_TENSOR, Param("shifts", INTEGER)), (MEMORY_CONFIG_OPTION,), run=_roll_flat),
    ),
    _roll,
    "Return `input_tensor` with elements rolled along dimensions, wrapping at the end.\n"
    "Shape: [...] -> [...]. Without `dim` the tensor counts as one row. Block floats become BFLOAT16 if elements move\n"
    "within tiles.",
    golden=golden.roll,
    engine=("write_window",),
    composition=True,
    only_rows=ONLY_ROWS,
    raises=(
        ("ShapeError", "a dimension is out of range, or `shifts` and `dim` differ in length."),
        ("DTypeError", "no program tilizes the data type."),
    ),
    examples=_rolls,
)
