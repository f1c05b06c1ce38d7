"""The device programs of sum, mean, max and min, and their sequence.

One program reduces the width, the height, or both of a tensor's matrices; `fast_reduce_nc` adds along one leading
dimension. Everything else is a chain of them, with transposes in between.
Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/generic`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.steps import single
from ttnn.ops._programs.common import INTEGER_RANGE, allocate
from ttnn.ops._programs.element_map import move_into, strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.reduction.rows import as_matrix, compacted, one_by_one
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

Kind = Literal["sum", "mean", "max", "min"]
_Axis = Literal["w", "h", "hw"]
_StepAxis = Literal["w", "h", "tile"] | int

IDENTITY: Final[dict[Kind, float]] = {"sum": 0.0, "mean": 0.0, "max": -math.inf, "min": math.inf}
"""Padding value during a floating-point reduction."""

REDUCED_INTEGERS: Final = (DataType.INT32, DataType.UINT32)
"""The integers that are reduced."""

GROUP: Final = 16
"""Block floats that share an exponent."""

_CHUNK: Final = 256
"""Rows or columns that the row-major program reduces at once."""


@dataclass(frozen=True)
class Setting:
    """Shared settings of all programs of one call.

    Args:
        name: Operator, for errors.
        memory_config: Where intermediate tensors live.
        fidelity: Phases of the FPU.
        dst32: 32-bit Dst.
        fast: float32 passes the FPU as TF32.
        tiles_asked_for: The caller wants TILE_LAYOUT, so that no row-major program may end the call.
    """

    name: str
    memory_config: MemoryConfig
    fidelity: int
    dst32: bool
    fast: bool
    tiles_asked_for: bool = False

    def accurate(self, dtype: DataType) -> bool:
        """Return True if the SFPU reduces tensors of this type in FP32."""
        return dtype is DataType.FLOAT32 and self.dst32 and not self.fast


def identity(kind: Kind, dtype: DataType) -> float:
    """Return a reduction's identity in `dtype`: padding and empty result."""
    if dtype in REDUCED_INTEGERS and kind != "sum":
        low, high = INTEGER_RANGE[dtype]
        return low if kind == "max" else high
    return IDENTITY[kind]


def _join(kind: Kind, dtype: DataType, accurate: bool) -> str:
    """Return how the engine joins datums."""
    if kind in ("sum", "mean"):
        return "sfpu_sum" if accurate else "fpu_sum"
    if kind == "max":
        return "sfpu_max" if accurate else "fpu_max"
    # The FPU has no minimum: bfloat16 goes to the SFPU, the rest is negated twice.
    return "sfpu_min" if accurate or dtype is DataType.BFLOAT16 else "fpu_min"


def _has_padding(spec: TensorSpec) -> bool:
    return tuple(spec.shape)[-2:] != tuple(spec.padded_shape)[-2:]


def filled(source: Tensor, value: float, memory_config: MemoryConfig) -> Tensor:
    """Return a tiled tensor whose padding holds `value`.

    It is the tensor itself if it has no padding.

    Block floats go through bfloat16. A group of 16 that holds both values and infinities shares the infinity's
    exponent and loses the values; the official package does the same.
    """
    if not _has_padding(source.spec):
        return source
    return move(source, source.spec.with_memory_config(memory_config), pad_value=value)


def _step(
    setting: Setting,
    source: Tensor,
    axis: _StepAxis,
    join: str,
    dtype: DataType,
    *,
    scaler: float = 1.0,
    scale: float = 1.0,
    fill: float | None = None,
    transposed: bool = False,
) -> Tensor:
    """Run one program on a tiled tensor of rank 2 or more.

    Args:
        setting: What the call asks for.
        source: The tensor.
        axis: Width, height, a single tile as a whole, or the number of a leading dimension.
        join: As the engine names it.
        dtype: Data type of the result.
        scaler: Factor inside the FPU.
        scale: Factor on the SFPU, afterwards.
        fill: What the padding of `source` is overwritten with first; None if it is in order.
        transposed: Whether a leading dimension is transposed with the height and back; `fill` is then the value
            of the output's padding.
    """
    spec, device = source.spec, source._device
    assert device is not None
    *leading, height, width = spec.shape
    if isinstance(axis, int):
        outer, length = math.prod(leading[:axis]), leading[axis]
        shape = [*leading[:axis], 1, *leading[axis + 1 :], height, width]
    else:
        outer, length = math.prod(leading), 1
        shape = [*leading, height if axis == "w" else 1, width if axis == "h" else 1]
    if fill is not None and spec.dtype is DataType.BFLOAT8_B and fill != 0.0 and not transposed:
        source, fill = filled(source, fill, setting.memory_config), None
    target = allocate(TensorSpec.of(shape, dtype, Layout.TILE, setting.memory_config), device)
    tile_rows, columns = spec.page_grid
    assert source.buffer is not None
    assert target.buffer is not None
    engine_steps.reduce(
        source.buffer,
        target.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[dtype]),
        outer=outer,
        rows=tile_rows // (outer * length),
        columns=columns,
        axis="transposed" if transposed else "leading" if isinstance(axis, int) else axis,
        length=length,
        join=join,
        scaler=scaler,
        scale=scale,
        fill=None if fill is None else (height, width, fill),
        fidelity=setting.fidelity,
        dst32=setting.dst32,
    )
    return target


def column_sums(setting: Setting, source: Tensor, dtype: DataType) -> Tensor:
    """Return FPU column sums of full tiles.

    [..., H, W] -> [..., 1, W].
    """
    return _step(setting, source, "h", "fpu_sum", dtype)


def _matrices(
    setting: Setting, source: Tensor, kind: Kind, axis: _Axis, factor: float, dtype: DataType, fresh: bool
) -> Tensor:
    """Reduce the width, height or both of tiled matrices."""
    given = source.spec.dtype
    accurate = setting.accurate(given)
    fill = IDENTITY[kind] if fresh else None
    join = _join(kind, given, accurate)
    # The FPU's scaler is part of a sum; anything else is multiplied when it is finished.
    by_scaler = join == "fpu_sum"
    scaler, scale = (factor, 1.0) if by_scaler else (1.0, factor)
    if axis != "hw":
        return _step(setting, source, axis, join, dtype, scaler=scaler, scale=scale, fill=fill)
    if source.spec.num_pages == 1 and join.startswith("fpu") and scaler >= 0:
        # The scaler meets the datums twice, once per dimension.
        root = single(math.sqrt(single(scaler)))
        return _step(setting, source, "tile", join, dtype, scaler=root, scale=scale, fill=fill)
    between = _step(setting, source, "w", join, _between(setting, kind, given, dtype), fill=fill)
    return _step(setting, between, "h", join, dtype, scaler=scaler, scale=scale)


def reduce_integers(setting: Setting, source: Tensor, axes: Sequence[int], kind: Kind, factor: float = 1.0) -> Tensor:
    """Reduce `axes` (ascending) of a 32-bit integer tensor to size 1.

    It has rank 2 or more.

    Sums wrap, so that neither their order nor the way through several programs is seen in the result.

    Args:
        setting: What the call asks for.
        source: The tensor.
        axes: Ascending.
        kind: Sum, max or min.
        factor: Multiplied in as FP32; the product is cut to an integer.
    """
    dtype = source.spec.dtype
    value = identity(kind, dtype)
    result = source
    if source.spec.layout is not Layout.TILE:
        if factor == 1.0:
            return _in_few_tiles(setting, source, axes, kind)
        result = tilize_padded(setting.name, source, memory_config=setting.memory_config)
    rank = source.spec.shape.rank
    # As of floats: a sum is multiplied at its first program, a maximum or minimum at its last.
    scaled = axes[-1] if kind == "sum" else axes[0]
    for axis in reversed(axes):
        # The packer clears what lies beside a reduced row or column, so that every program fills the padding again.
        where: _StepAxis = "h" if axis == rank - 2 else "w" if axis == rank - 1 else axis
        scale = factor if axis == scaled else 1.0
        result = _step(setting, result, where, f"int_{kind}", dtype, fill=value, scale=scale)
    return result


def _in_few_tiles(setting: Setting, source: Tensor, axes: Sequence[int], kind: Kind) -> Tensor:
    """Reduce a row-major tensor to maxima, minima or integer sums.

    No order of the elements, and no way through several programs, is seen in such a result. Its elements are a matrix
    of few tiles, in row-major order.
    """
    dtype = source.spec.dtype
    if dtype in REDUCED_INTEGERS:
        reduce = partial(reduce_integers, setting, kind=kind)
    else:
        reduce = partial(reduce_axes, setting, kind=kind, factor=1.0)
    fill = identity(kind, dtype)
    place = setting.memory_config
    rows = compacted(setting.name, source, axes, reduce, place, pad_value=fill)
    return tilize_padded(setting.name, as_matrix(setting.name, rows), memory_config=place)


def _between(setting: Setting, kind: Kind, given: DataType, dtype: DataType) -> DataType:
    """Return the data type between row and column reductions.

    Sums of bfloat16 keep FP32.
    """
    wide = kind == "sum" and ((given is DataType.BFLOAT16 and setting.dst32) or given is DataType.FLOAT32)
    return DataType.FLOAT32 if wide else dtype


def _program(
    setting: Setting, source: Tensor, kind: Kind, axis: _Axis, factor: float, dtype: DataType, fresh: bool
) -> Tensor:
    """Reduce matrices of a tensor in either layout."""
    spec = source.spec
    if spec.layout is Layout.TILE:
        return _matrices(setting, source, kind, axis, factor, dtype, fresh)
    interleaved = spec.memory_config.interleaved and setting.memory_config.interleaved
    in_rows = kind in ("sum", "mean") and axis != "hw" and interleaved
    if axis == "w" and setting.tiles_asked_for:
        in_rows = False
    dims = list(spec.shape)
    if in_rows:
        _check_chunk(setting, dims[-1] if axis == "w" else dims[-2])
    by_rows = in_rows and not setting.tiles_asked_for
    tiled = tilize_padded(setting.name, source, memory_config=setting.memory_config, pad_value=IDENTITY[kind])
    result = _matrices(setting, tiled, kind, axis, factor, dtype, fresh=False)
    if not by_rows:
        return result
    shape = [*dims[:-1], 1] if axis == "w" else [*dims[:-2], 1, dims[-1]]
    return reshaped(setting.name, untilized(setting.name, result), shape)


def _fills_tiles_by_columns(setting: Setting, spec: TensorSpec, kind: Kind) -> bool:
    """Return whether a row sum would leave most tiles empty.

    The matrices are too small to fill them.
    """
    if spec.layout is Layout.TILE or kind not in ("sum", "mean") or setting.tiles_asked_for:
        return False
    *leading, height, width = spec.shape
    interleaved = spec.memory_config.interleaved and setting.memory_config.interleaved
    return interleaved and math.prod(leading) > 1 and 2 * height * width <= TILE_SIZE**2


def _sum_by_columns(
    setting: Setting, source: Tensor, axes: list[int], kind: Kind, factor: float, chained: bool, last: bool
) -> Tensor:
    """Return the sum of row-major matrices that fill tiles together.

    Both dimensions of the matrices alone give a tensor in tiles of some shape, as the program of both does; all else
    gives rows, the reduced dimensions having the size 1.
    """
    spec, rank = source.spec, source.spec.shape.rank
    dims = list(spec.shape)
    both = axes == [rank - 2, rank - 1]
    if not both:
        for axis in axes:
            _check_chunk(setting, dims[axis])
    if kind == "mean":
        factor = single(single(factor) / single(math.prod(dims[axis] for axis in axes)))
    # The factor meets the first of several programs; of the two steps of one program, the second.
    scaled = axes[0 if both else -1]

    def options(axis: int, current: DataType) -> tuple[str, DataType, float, float]:
        dtype = spec.dtype if both else current
        if chained:
            dtype = DataType.BFLOAT16 if last and (both or axis == axes[0]) else DataType.FLOAT32
        if both and axis == axes[1]:
            dtype = _between(setting, kind, spec.dtype, dtype)
        joined = spec.dtype if both else current
        join = _join(kind, joined, setting.accurate(joined))
        here = factor if axis == scaled else 1.0
        return (join, dtype, here, 1.0) if join == "fpu_sum" else (join, dtype, 1.0, here)

    def rows(tiles: Tensor, axis: int) -> Tensor:
        join, dtype, scaler, scale = options(axis, tiles.spec.dtype)
        return _step(setting, tiles, "w", join, dtype, scaler=scaler, scale=scale)

    def columns(tiles: Tensor, axis: int) -> Tensor:
        join, dtype, scaler, scale = options(axis, tiles.spec.dtype)
        return _step(setting, tiles, 0, join, dtype, scaler=scaler, scale=scale, fill=0.0, transposed=True)

    matrices = reshaped(setting.name, source, (math.prod(dims[:-1]), dims[-1]))
    sums = one_by_one(matrices, dims, axes, rows, columns, setting.memory_config)
    if both:
        return sums
    shape = [1 if axis in axes else size for axis, size in enumerate(dims)]
    matrix = (math.prod(shape[:-1]), shape[-1])
    target = TensorSpec.of(matrix, sums.spec.dtype, Layout.ROW_MAJOR, setting.memory_config)
    rows_again = move(sums, target, through_dst=sums.spec.dtype is DataType.BFLOAT16)
    return reshaped(setting.name, rows_again, shape)


def _check_chunk(setting: Setting, length: int) -> None:
    """Reject rows or columns that the row program reduces in several steps.

    Raises:
        UnsupportedError: so many elements.
    """
    if length > _CHUNK:
        raise UnsupportedError(
            f"{setting.name}: the program for ROW_MAJOR_LAYOUT adds more than {_CHUNK} elements ({length} here) in "
            "chunks whose order is not specified; convert the tensor with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            "unimplemented",
        )


def _transposed(setting: Setting, source: Tensor, axis: int, below: float, beside: float) -> Tensor:
    """Return the tensor with a leading dimension and the height transposed.

    Args:
        setting: What the call asks for.
        source: The tensor.
        axis: The leading dimension.
        below: What padding rows hold.
        beside: Padding value of the other rows.
    """
    spec, device = source.spec, source._device
    assert device is not None
    dims = list(spec.shape)
    order = list(range(len(dims)))
    order[axis], order[-2] = order[-2], order[axis]
    width = spec.padded_shape[-1]
    if spec.layout is not Layout.TILE or below == beside or width == dims[-1]:
        return permuted(setting.name, source, order, setting.memory_config, below)
    dtype = DataType.BFLOAT16 if spec.dtype in BLOCK_FLOATS else spec.dtype
    shape = [dims[number] for number in order]
    strides = strides_of(dims)
    moved = move_into(
        source,
        allocate(TensorSpec.of(shape, dtype, Layout.TILE, setting.memory_config), device),
        strides=[strides[number] for number in order],
        pad_value=beside,
    )
    result = _with_rows_filled(setting, moved, below)
    return result if dtype is spec.dtype else cast(setting.name, result, spec.dtype)


def _with_rows_filled(setting: Setting, source: Tensor, value: float) -> Tensor:
    """Return a tensor whose padding rows hold `value`.

    Padding columns of the other rows stay.
    """
    spec = source.spec
    shape, width = list(spec.shape), spec.padded_shape[-1]
    # Seen with its full width, the tensor has no padding but rows.
    whole = source._view(TensorSpec.of([*shape[:-1], width], spec.dtype, Layout.TILE, setting.memory_config))
    result = filled(whole, value, setting.memory_config)
    return result._view(TensorSpec.of(shape, spec.dtype, Layout.TILE, setting.memory_config))


def _across(
    setting: Setting, source: Tensor, axis: int, kind: Kind, factor: float, dtype: DataType, beside: float
) -> Tensor | None:
    """Reduce a leading dimension in place.

    The bits are those of the program between two exchanges with the height.

    None where that program cannot be told from the exchanges: of rows, and of block floats that share exponents with
    padding on the way.

    Args:
        setting: What the call asks for.
        source: The tensor.
        axis: The leading dimension.
        kind: What is computed; a mean divides by the number of elements itself.
        factor: Multiplied in.
        dtype: Data type of the result.
        beside: Padding value of the columns.
    """
    spec = source.spec
    if spec.layout is not Layout.TILE:
        return None
    if spec.dtype is DataType.BFLOAT8_B and beside != 0.0 and spec.shape[-1] % GROUP:
        return None
    if kind == "mean":
        factor = single(single(factor) / single(spec.shape[axis]))
    join = _join(kind, spec.dtype, setting.accurate(spec.dtype))
    scaler, scale = (factor, 1.0) if join == "fpu_sum" else (1.0, factor)
    # Integers have the same result on both ways.
    transposed = spec.dtype not in REDUCED_INTEGERS
    result = _step(setting, source, axis, join, dtype, scaler=scaler, scale=scale, fill=beside, transposed=transposed)
    below = IDENTITY[kind]
    return result if below == beside else _with_rows_filled(setting, result, below)


def reduce_axes(
    setting: Setting,
    source: Tensor,
    axes: Sequence[int],
    kind: Kind,
    factor: float,
    *,
    chained: bool = False,
    last: bool = False,
    fresh: bool = True,
) -> Tensor:
    """Reduce `axes` (ascending) of a tensor to size 1.

    It has rank 2 or more.

    Args:
        setting: What the call asks for.
        source: The tensor.
        axes: Ascending.
        kind: What is computed; a mean divides by the number of elements itself.
        factor: Multiplied in.
        chained: A sum of bfloat16 in several programs, with FP32 between them.
        last: The end of such a chain.
        fresh: The padding of `source` holds anything.
    """
    spec = source.spec
    if spec.layout is not Layout.TILE and kind in ("max", "min") and factor == 1.0:
        return _in_few_tiles(setting, source, axes, kind)
    if _fills_tiles_by_columns(setting, spec, kind):
        return _sum_by_columns(setting, source, list(axes), kind, factor, chained, last)
    rank = spec.shape.rank
    axes = list(axes)
    programs: dict[tuple[int, ...], _Axis] = {(rank - 1,): "w", (rank - 2,): "h", (rank - 2, rank - 1): "hw"}
    axis = programs.get(tuple(axes))
    volume = math.prod(spec.shape[axis] for axis in axes)
    if axis is not None:
        if kind == "mean":
            factor = single(single(factor) / single(volume))
        dtype = spec.dtype
        if chained:
            dtype = DataType.BFLOAT16 if last else DataType.FLOAT32
        return _program(setting, source, kind, axis, factor, dtype, fresh)
    if kind == "mean" and len(axes) > 1:
        kind, factor = "sum", single(single(factor) / single(volume))
    # A sum is multiplied at its first program, a maximum or minimum at its last.
    scaled = axes[-1] if kind in ("sum", "mean") else axes[0]
    result = source
    # Padding beside a reduced width is zero, as the packer leaves it; beside another width it is filled like the rest.
    beside = 0.0 if rank - 1 in axes else IDENTITY[kind]
    for number in reversed(axes):
        inside = number >= rank - 2
        if not inside:
            kept = spec.dtype
            if chained:
                kept = DataType.BFLOAT16 if last and number == axes[0] else DataType.FLOAT32
            by_factor = factor if number == scaled else 1.0
            reduced = _across(setting, result, number, kind, by_factor, kept, beside)
            if reduced is not None:
                result = reduced
                continue
            result = _transposed(setting, result, number, IDENTITY[kind], beside)
        result = reduce_axes(
            setting,
            result,
            [number if inside else rank - 2],
            kind,
            factor if number == scaled else 1.0,
            chained=chained,
            last=chained and last and number == axes[0],
            fresh=fresh and inside and result is source,
        )
        if not inside:
            result = _transposed(setting, result, number, IDENTITY[kind], beside)
    return result


def add_leading(
    setting: Setting, source: Tensor, axes: Sequence[int], between: DataType | None, final: DataType | None
) -> Tensor:
    """Add along leading dimensions, one `fast_reduce_nc` each; size becomes 1.

    Args:
        setting: What the call asks for.
        source: bfloat16 or bfloat8_b.
        axes: Ascending, none of the last two.
        between: Data type between the programs. Default: that of `source`.
        final: Data type of the result. Default: that of `source`.
    """
    dtype, rows = source.spec.dtype, source.spec.layout is not Layout.TILE
    result = source if rows else filled(source, 0.0, setting.memory_config)
    for number, axis in enumerate(axes):
        kept = (final if number == len(axes) - 1 else between) or dtype
        if rows:
            # Tiles are added datum by datum, wherever the datums are.
            add = partial(_add_tiles, setting, dtype=kept)
            result = compacted(
                setting.name, result, [axis], add, setting.memory_config, pad_value=0.0, only_leading=True
            )
        else:
            result = _add_tiles(setting, result, [axis], kept)
    return tilize_padded(setting.name, result, memory_config=setting.memory_config) if rows else result


def _add_tiles(setting: Setting, source: Tensor, axes: Sequence[int], dtype: DataType) -> Tensor:
    """Add the tiles along a leading dimension."""
    spec, device = source.spec, source._device
    assert device is not None
    (axis,) = axes
    dims = list(spec.shape)
    target_spec = TensorSpec.of([*dims[:axis], 1, *dims[axis + 1 :]], dtype, Layout.TILE, setting.memory_config)
    target = allocate(target_spec, device)
    tile_rows, columns = spec.page_grid
    assert source.buffer is not None
    assert target.buffer is not None
    engine_steps.reduce(
        source.buffer,
        target.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[dtype]),
        outer=math.prod(dims[:axis]),
        rows=tile_rows // math.prod(dims[: axis + 1]),
        columns=columns,
        axis="leading",
        join="fpu_sum",
        length=dims[axis],
        fidelity=setting.fidelity,
        dst32=setting.dst32,
    )
    return target
