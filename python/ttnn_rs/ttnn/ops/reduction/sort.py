"""Sorting along a dimension, and the largest elements.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement/sort` and `reduction/topk`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import bit_exact, max_ulp
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Kind, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    dimension,
    full_tiles,
    is_empty,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.indexed import gathered
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SORTED: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.UINT16)
_SELECTED: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)
_NARROW: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
_INDICES: Final = (DataType.UINT16, DataType.UINT32)
_LARGEST_NARROW_INDEX: Final = 65535
_SPLIT_WIDTH: Final = 8192
_SPLIT_ELEMENTS: Final = 64
_LEAST_SPLIT: Final = 64
"""Limits of the multi-core program.

Row width, most elements to find, fewest columns of a core.
"""
Pair = tuple[Tensor, Tensor]


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(item, Tensor) for item in value)


_PAIR: Final = Kind("tuple[ttnn.Tensor, ttnn.Tensor]", _is_pair)


def _run(name: str, tensor: Tensor, axis: int, *, descending: bool, stable: bool, first: int | None) -> Pair:
    """Return values and indices of a tiled tensor, both tiled.

    They are the `first` elements of the order, or all.
    """
    device = on_device(name, tensor)
    spec = tensor.spec
    rank = spec.shape.rank
    order = [*range(rank)]
    order[axis], order[-1] = order[-1], order[axis]
    if axis != rank - 1:
        tensor = permuted(name, tensor, order, DRAM_MEMORY_CONFIG, 0.0)
    shape = tuple(tensor.spec.shape)
    width = shape[-1]
    wide = spec.dtype not in _NARROW or width > _LARGEST_NARROW_INDEX
    index_dtype = DataType.UINT32 if wide else DataType.UINT16
    columns = -(-width // TILE_SIZE)
    kept = width if first is None else first
    results = [
        allocate(TensorSpec.of((*shape[:-1], kept), dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
        for dtype in (spec.dtype, index_dtype)
    ]
    values, indices = results
    assert tensor.buffer is not None
    assert values.buffer is not None
    assert indices.buffer is not None
    engine_steps.sort(
        tensor.buffer,
        values.buffer,
        indices.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[index_dtype]),
        rows=tensor.spec.num_pages // columns,
        width=width,
        ascending=not descending,
        stable=stable,
        first=None if first is None else -(-first // TILE_SIZE),
    )
    if axis != rank - 1:
        values, indices = (permuted(name, result, order, DRAM_MEMORY_CONFIG, 0.0) for result in results)
    return values, indices


def _run_in_rows(name: str, source: Tensor, axis: int, *, descending: bool, stable: bool, first: int | None) -> Pair:
    """Return values and indices of a row-major tensor, in rows.

    Rows of all matrices fill tiles together.
    """
    order = [*range(source.spec.shape.rank)]
    order[axis], order[-1] = order[-1], order[axis]
    moved = permuted(name, source, order, DRAM_MEMORY_CONFIG, 0.0)
    shape = moved.spec.shape._dims
    rows = tilize_padded(name, reshaped(name, moved, (math.prod(shape[:-1]), shape[-1])))
    results = _run(name, rows, 1, descending=descending, stable=stable, first=first)
    values, indices = (
        permuted(name, reshaped(name, untilized(name, result), shape), order, DRAM_MEMORY_CONFIG, 0.0)
        for result in results
    )
    return values, indices


def _deliver(
    name: str, results: Pair, memory_config: MemoryConfig, out: Sequence[Tensor] | None, layout: Layout
) -> Pair:
    """Return results of this layout in place, or in `out`."""
    placed = []
    for number, result in enumerate(results):
        if out is not None:
            target = take_output(name, out[number], tuple(result.spec.shape), layout, on_device(name, result))
            if number and target.spec.dtype in _INDICES:
                result = cast(name, result, target.spec.dtype)
            if target.spec.dtype is not result.spec.dtype:
                raise DTypeError(
                    f"{name}: output {number} is {target.spec.dtype.name}, the result {result.spec.dtype.name}."
                )
            copy_into(result, target)
            result = target
        elif result.spec.memory_config != memory_config:
            target = allocate(result.spec.with_memory_config(memory_config), on_device(name, result))
            copy_into(result, target)
            result = target
        placed.append(result)
    return placed[0], placed[1]


def _vendor(spec: TensorSpec, sentence: str) -> str:
    """Return the official sentence for a data type.

    Bytes in tiles do not reach this check.
    """
    is_byte = spec.dtype is DataType.UINT8 and spec.layout is Layout.TILE
    return f"Unsupported datatype {spec.dtype.cpp_name}" if is_byte else sentence


def _sort(
    input_tensor: Tensor,
    dim: int,
    descending: bool,
    stable: bool,
    memory_config: MemoryConfig | None,
    out: Sequence[Tensor] | None,
) -> list[Tensor]:
    name = "ttnn.sort"
    device = on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.dtype not in _SORTED:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; typecast it to bfloat16, float32 or uint16 first.",
            vendor=_vendor(
                spec, f"Input tensor data type must be BFLOAT16, UINT16, or FLOAT32, got {spec.dtype.cpp_name}"
            ),
        )
    full_tiles(name, input_tensor)
    rank = spec.shape.rank
    axis = dimension(name, dim, max(rank, 1))
    place = memory_config or spec.memory_config
    if is_empty(spec):
        dtypes = (spec.dtype, DataType.UINT16 if spec.dtype in _NARROW else DataType.UINT32)
        return [allocate(TensorSpec.of(spec.shape, dtype, spec.layout, place), device) for dtype in dtypes]
    run = _run if spec.layout is Layout.TILE else _run_in_rows
    # A vector is one row.
    source = input_tensor if rank > 1 else reshaped(name, input_tensor, (1, math.prod(spec.shape)))
    results = run(name, source, axis if rank > 1 else 1, descending=descending, stable=stable, first=None)
    if rank < 2:
        values, indices = (reshaped(name, result, tuple(spec.shape)) for result in results)
        results = values, indices
    return list(_deliver(name, results, place, out, spec.layout))


def _topk(
    input_tensor: Tensor,
    k: int,
    dim: int,
    largest: bool,
    sorted: bool,
    memory_config: MemoryConfig | None,
    sub_core_grids: CoreRangeSet | None,
    indices_tensor: Tensor | None,
    output_tensor: Sequence[Tensor] | None,
    stable: bool,
) -> list[Tensor]:
    name = "ttnn.topk"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    place = memory_config or spec.memory_config
    if place.is_sharded():
        if -spec.shape.rank <= dim < spec.shape.rank:
            shape = list(spec.shape)
            shape[dim] = k
            TensorSpec.of(shape, spec.dtype, spec.layout, place)
        raise MemoryConfigError(
            f"{name}: the results are sharded; pass an interleaved memory_config.",
            vendor="Sharded implementation not supported yet",
        )
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="The input must be in tiled format",
        )
    if spec.dtype not in _SELECTED:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; typecast it to bfloat16, bfloat8_b or float32 first.",
            vendor=_vendor(spec, f"Input tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32, got: {spec.dtype.cpp_name}"),
        )
    full_tiles(name, input_tensor)
    rank = spec.shape.rank
    if rank < 1:
        raise ShapeError(f"{name}: input_tensor has rank {rank}; reshape it to rank 1 or more.")
    axis = dimension(name, dim, rank)
    extent = spec.shape[axis]
    if not 0 < k <= extent:
        raise ParameterError(
            f"{name}: k is {k}; dimension {dim} has {extent} elements.",
            vendor=f"K ({k}) cannot be larger than the dimension size ({extent})" if k > 0 else "K must be positive",
        )
    forced = stable or extent % TILE_SIZE != 0 or extent == TILE_SIZE
    results = _run(name, input_tensor, axis, descending=largest, stable=forced, first=k)
    if indices_tensor is not None:
        _check_names(name, indices_tensor, input_tensor)
        if _on_several_cores(extent, k, input_tensor, sub_core_grids):
            results = results[0], _named_by(name, indices_tensor, input_tensor, axis, results[1])
    return list(_deliver(name, results, place, output_tensor, Layout.TILE))


def _on_several_cores(extent: int, k: int, source: Tensor, cores: CoreRangeSet | None) -> bool:
    """Return whether the program that splits rows over cores runs.

    It needs wide rows of a power of two, and few elements.

    Only that program reads given indices; the one of a single core makes its own.
    """
    if extent < _SPLIT_WIDTH or extent >= _LARGEST_NARROW_INDEX or extent & (extent - 1) or k > _SPLIT_ELEMENTS:
        return False
    if cores is None:
        grid = on_device("ttnn.topk", source).compute_with_storage_grid_size()
        wide, high = grid.x - 1, grid.y - 2
    else:
        first = cores.ranges()[0]
        wide, high = first.end.x - first.start.x, first.end.y - first.start.y - 1
    # The last row gathers what the cores above it have found; these are a rectangle with as much for every core.
    counts = {across * down for across in range(1, wide + 1) for down in range(1, high + 1)}
    split = max(extent // TILE_SIZE // (1 << max(wide * high, 1).bit_length() - 1) * TILE_SIZE, TILE_SIZE)
    while split <= extent // 2:
        if extent // split in counts and split >= _LEAST_SPLIT:
            return True
        split *= 2
    return False


def _check_names(name: str, names: Tensor, source: Tensor) -> None:
    """Refuse given indices on another device or of another type.

    Raises:
        DTypeError: they are no indices.
    """
    same_device(name, on_device(name, source), names, "indices_tensor")
    if names.spec.dtype not in _INDICES:
        raise DTypeError(
            f"{name}: indices_tensor is {names.spec.dtype.name}; typecast it to UINT16 or UINT32.",
            vendor=f"Optional input tensor must be UINT16, or UINT32, got: {names.spec.dtype.cpp_name}",
        )


def _named_by(name: str, names: Tensor, source: Tensor, axis: int, positions: Tensor) -> Tensor:
    """Return the names the kernel carries instead of positions.

    They accompany the elements.

    Raises:
        ShapeError: there is not one for every element.
        DTypeError: they have another type than positions.
    """
    spec = names.spec
    if tuple(spec.shape) != tuple(source.spec.shape) or spec.layout is not Layout.TILE:
        raise ShapeError(
            f"{name}: indices_tensor has shape {spec.shape} and is {spec.layout.name}; it must be {source.spec.shape} "
            "in TILE_LAYOUT, a name for every element."
        )
    if spec.dtype is not positions.spec.dtype:
        raise DTypeError(
            f"{name}: indices_tensor is {spec.dtype.name}; typecast it to {positions.spec.dtype.name}, the type of "
            "the indices."
        )
    return gathered(name, names, axis, positions)


def _sort_examples(shape: tuple[int, ...], layout: Layout) -> Iterator[tuple[Any, ...]]:
    if len(shape) >= 2 and 0 not in shape:
        yield -1, False, True
        yield -2, True, True


def _topk_examples(shape: tuple[int, ...], layout: Layout) -> Iterator[tuple[Any, ...]]:
    # Of block floats, padding with infinities shares its exponent with what shorter rows have.
    if len(shape) >= 2 and 0 not in shape and layout is Layout.TILE and shape[-1] >= TILE_SIZE:
        yield 4, {"stable": True}
        yield 3, -1, False, {"stable": True}


_DIM: Final = Param("dim", INTEGER, -1, doc="Dimension along which elements are compared.")
_STABLE: Final = Param(
    "stable", BOOLEAN, False, doc="Equal elements keep their order; otherwise the network's order.", example=True
)
_NETWORK: Final = (
    "The bitonic network of the SFPU sorts; which of equal elements comes first is what it makes of them, unless "
    "`stable`. -0 and subnormals count as 0."
)

sort = register(
    Op(
        name="sort",
        signatures=(
            Signature(
                (INPUT_TENSOR, _DIM, Param("descending", BOOLEAN, False, doc="The largest come first."), _STABLE),
                (
                    MEMORY_CONFIG_OPTION,
                    Param("out", _PAIR, None, doc="Preallocated values and indices."),
                ),
            ),
        ),
        run=_sort,
        doc="Return the sorted elements along `dim`, and their indices.\n"
        f"Shape: [..., H, W] -> [..., H, W], [..., H, W]. Indices: uint16 for bfloat16, otherwise uint32.\n{_NETWORK}",
        source="tt-metal `ttnn/cpp/ttnn/operations/data_movement/sort`",
        dtypes=_SORTED,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.sort,
        accuracy=bit_exact(),
        engine=("sort", "move_elements"),
        raises=(
            ("DTypeError", "the input is neither bfloat16, float32 nor uint16."),
            ("ShapeError", "`dim` is out of range."),
        ),
        examples=_sort_examples,
    )
)

topk = register(
    Op(
        name="topk",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param("k", INTEGER, 32, doc="Elements that are wanted."),
                    _DIM,
                    Param("largest", BOOLEAN, True, doc="The largest; otherwise the smallest."),
                    Param("sorted", BOOLEAN, True, doc="In order; they are in any case."),
                ),
                (
                    MEMORY_CONFIG_OPTION,
                    SUB_CORE_GRIDS_OPTION,
                    Param(
                        "indices_tensor",
                        TENSOR,
                        None,
                        doc="A name for every element, of the type of indices: returned instead of indices. Only the "
                        "program of several cores reads it: for rows of a power of two from 8,192 to 32,768 elements, "
                        "and `k` up to 64.",
                    ),
                    Param("output_tensor", _PAIR, None, doc="Preallocated values and indices."),
                    _STABLE,
                ),
            ),
        ),
        run=_topk,
        doc="Return the sorted `k` largest or smallest elements along `dim`, with indices.\n"
        "Shape: [..., H, W] -> [..., H, k], [..., H, k].\n"
        "Indices: uint16, or uint32 for float32 and more than 65535 elements.\n"
        f"{_NETWORK}\n"
        "Rows of length 32, or of a length that is not a multiple of 32, are always sorted stably. In bfloat8_b, "
        "elements of rows shorter than 32 become 0: they share an exponent with the infinities that pad them.",
        source="tt-metal `ttnn/cpp/ttnn/operations/reduction/topk`",
        dtypes=_SELECTED,
        layouts=(Layout.TILE,),
        golden=golden.topk,
        accuracy=max_ulp((DataType.BFLOAT16, 0), (DataType.FLOAT32, 0), (DataType.BFLOAT8_B, 1)),
        engine=("sort", "move_elements"),
        raises=(
            ("DTypeError", "the input is neither bfloat16, bfloat8_b nor float32."),
            ("LayoutError", "the input is row-major."),
            ("ParameterError", "`k` is not between 1 and the elements of the dimension."),
            ("ShapeError", "the rank is below 2, or `dim` is out of range."),
        ),
        examples=_topk_examples,
    )
)
