"""`ttnn.narrow` and `ttnn.chunk`: slices along one dimension.

Source: TT-NN docs of the operators; the bits of a part are those of `ttnn.slice`.
"""

from __future__ import annotations

from ttnn.base.enums import BufferType
from ttnn.base.exceptions import MemoryConfigError, ShapeError
from ttnn.golden import data_movement as golden
from ttnn.operation.signature import INTEGER, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, dimension
from ttnn.ops._programs.movement import register_movement
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor


def _part(name: str, source: Tensor, axis: int, start: int, length: int) -> Tensor:
    dims = source.spec.shape._dims
    starts, ends = [0] * len(dims), list(dims)
    starts[axis], ends[axis] = start, start + length
    return sliced(name, source, starts, ends)


def _narrow(input_tensor: Tensor, dim: int, start: int, length: int) -> Tensor:
    name = "ttnn.narrow"
    dims = input_tensor.spec.shape._dims
    axis = dimension(name, dim, len(dims))
    size = dims[axis]
    first = start + size if start < 0 else start
    if length < 0 or not 0 <= first <= size - length:
        raise ShapeError(
            f"{name}: start={start} and length={length} leave dimension {dim}, which has size {size}.",
            vendor=f"Narrow length {length} out of bounds for dimension {dim} with start index {start} and size {size}",
        )
    place = input_tensor.spec.memory_config
    if place.interleaved and place.buffer_type is not BufferType.DRAM and length != size:
        raise MemoryConfigError(
            f"{name}: input_tensor is interleaved in L1; move it to ttnn.DRAM_MEMORY_CONFIG.",
            vendor="Narrowing for the given tensor configuration is not yet implemented.Supported: DRAM INTERLEAVED "
            "tensors on first non-trivial dimension, L1 sharded tensors with restrictions.",
        )
    return _part(name, input_tensor, axis, first, length)


def _chunk(input_tensor: Tensor, chunks: int, dim: int) -> list[Tensor]:
    name = "ttnn.chunk"
    dims = input_tensor.spec.shape._dims
    axis = dimension(name, dim, len(dims))
    if chunks < 1:
        raise ShapeError(f"{name}: chunks={chunks} must be positive.")
    size = dims[axis]
    step = max(1, -(-size // chunks))
    starts = range(0, size, step) or [0]
    return [_part(name, input_tensor, axis, start, min(step, size - start)) for start in starts]


narrow = register_movement(
    "narrow",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("dim", INTEGER, doc="Dimension that is narrowed.", example=-2),
                Param("start", INTEGER, doc="First index. Negative ones count from the end.", example=0),
                Param("length", INTEGER, doc="How many indices are kept.", example=32),
            )
        ),
    ),
    _narrow,
    "Return `length` indices of `input_tensor` along `dim`, from `start`.\nShape: [..., D, ...] -> [..., length, ...].",
    golden=golden.narrow,
    engine=(),
    composition=True,
    raises=(("ShapeError", "`dim` is out of range, or the indices leave D."),),
    examples=lambda shape, _: ((-1, 0, max(1, shape[-1] // 2)), (0, 0, 1)) if shape and 0 not in shape else (),
)

chunk = register_movement(
    "chunk",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("chunks", INTEGER, doc="Number of pieces; fewer come out where D is too small.", example=2),
                Param("dim", INTEGER, doc="Dimension that is cut.", example=-1),
            )
        ),
    ),
    _chunk,
    "Return `chunks` pieces of `input_tensor` along `dim`; the last may be smaller.\n"
    "Shape: [..., D, ...] -> [..., ceil(D / chunks), ...] each.",
    golden=golden.chunk,
    engine=(),
    composition=True,
    raises=(("ShapeError", "`dim` is out of range, or `chunks` is not positive."),),
    examples=lambda shape, _: ((2, -1), (3, 0)) if shape and 0 not in shape else (),
)
