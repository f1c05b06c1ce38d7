"""`ttnn.split`: a tensor in pieces along one dimension, each a slice.

Source: TT-NN docs "ttnn.split"; the bits of a piece are those of `ttnn.slice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import data_movement as golden
from ttnn.operation.signature import INT_SEQUENCE, INTEGER, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, dimension, on_device
from ttnn.ops._programs.moved_shards import of_pieces
from ttnn.ops._programs.movement import register_movement
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.split"


def _by_sizes(
    input_tensor: Tensor, split_size: Sequence[int], dim: int, memory_config: MemoryConfig | None
) -> list[Tensor]:
    dims = input_tensor.spec.shape._dims
    axis = dimension(_NAME, dim, len(dims))
    sizes = [int(size) for size in split_size]
    if any(size < 0 for size in sizes) or sum(sizes) != dims[axis]:
        raise ShapeError(f"{_NAME}: split_size={sizes} must add up to {dims[axis]}, the size of dimension {axis}.")
    place = of_pieces(input_tensor.spec, sizes, axis, memory_config, on_device(_NAME, input_tensor))
    starts, ends, pieces = [0] * len(dims), list(dims), []
    for size in sizes:
        ends[axis] = starts[axis] + size
        pieces.append(sliced(_NAME, input_tensor, starts, ends, None, place))
        starts[axis] = ends[axis]
    return pieces


def _by_size(input_tensor: Tensor, split_size: int, dim: int, memory_config: MemoryConfig | None) -> list[Tensor]:
    size = input_tensor.spec.shape._dims[dimension(_NAME, dim, input_tensor.spec.shape.rank)]
    if split_size < 1:
        raise ShapeError(f"{_NAME}: split_size={split_size} must be positive.")
    sizes = [min(split_size, size - start) for start in range(0, size, split_size)]
    return _by_sizes(input_tensor, sizes or [0], dim, memory_config)


_DIM: Final = Param("dim", INTEGER, 0, doc="Dimension that is split.", example=-1)
split = register_movement(
    "split",
    (
        Signature(
            (INPUT_TENSOR, Param("split_size", INTEGER, doc="Size of each piece; the last one may be smaller."), _DIM),
            (MEMORY_CONFIG_OPTION,),
            run=_by_size,
        ),
        Signature(
            (INPUT_TENSOR, Param("split_size", INT_SEQUENCE, doc="Sizes of the pieces.", example=[1]), _DIM),
            (MEMORY_CONFIG_OPTION,),
        ),
    ),
    _by_sizes,
    "Return the list of pieces of `input_tensor` along `dim`.\nShape: [..., D, ...] -> [..., split_size, ...] each.",
    golden=golden.split,
    engine=(),
    composition=True,
    raises=(("ShapeError", "`dim` is out of range, or the sizes do not add up to D."),),
    examples=lambda shape, _: ((32, -1), (32, 0), ([1, shape[0] - 1],)) if shape and 0 not in shape else (),
)
