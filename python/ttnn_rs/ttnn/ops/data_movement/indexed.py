"""Elements that indices name along a dimension: `ttnn.gather`, `ttnn.scatter` and their relatives.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement`, `gather` and `scatter`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import data_movement as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    count_program,
    dimension,
    is_empty,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, in_rows
from ttnn.ops._programs.movement import move, register_movement
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import moved_to, permuted
from ttnn.ops.data_movement.slice import sliced
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

GATHERED: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.INT32, DataType.UINT32, DataType.UINT16)
_INDICES: Final = (DataType.INT32, DataType.UINT8, DataType.UINT16, DataType.UINT32)
_COMBINE: Final = {None: 0, "add": 1, "multiply": 2}
_LONGEST_TILED_ROW: Final = 256


def as_rows(source: Tensor) -> Tensor:
    """Return a device tensor in full rows; itself if it has them."""
    if source.spec.layout is Layout.ROW_MAJOR:
        return in_rows(source)
    return move(source, _rows_like(source, tuple(source.spec.shape)))


def _rows_like(source: Tensor, shape: Sequence[int]) -> TensorSpec:
    return TensorSpec.of(shape, source.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)


def _with_axis_last(rank: int, axis: int) -> list[int]:
    order = [*range(rank)]
    order[axis], order[-1] = order[-1], order[axis]
    return order


def place(name: str, result: Tensor, memory_config: MemoryConfig, out: Tensor | None = None) -> Tensor:
    """Return a result in its place, or in `out`."""
    if out is not None:
        device = on_device(name, result)
        target = take_output(name, out, tuple(result.spec.shape), result.spec.layout, device)
        if target.spec.dtype is not result.spec.dtype:
            raise DTypeError(f"{name}: out is {target.spec.dtype.name}, the result {result.spec.dtype.name}.")
        copy_into(result, target)
        return target
    return result if result.spec.memory_config == memory_config else moved_to(result, memory_config)


def _fits(name: str, inner: Tensor, outer: Tensor, labels: tuple[str, str], but: int = -1) -> None:
    """Refuse a tensor larger than another in a dimension except `but`."""
    small, large = tuple(inner.spec.shape), tuple(outer.spec.shape)
    for axis, (own, limit) in enumerate(zip(small, large, strict=True)):
        if own > limit and axis != but:
            raise ShapeError(
                f"{name}: {labels[0]} has shape {list(small)}, {labels[1]} {list(large)}; dimension {axis} of it is "
                "too long.",
                vendor=f"Index tensor shape dimension {axis} must be less than or equal to input tensor shape "
                f"dimension {axis}",
            )


def gathered(name: str, source: Tensor, axis: int, index: Tensor) -> Tensor:
    """Return the elements at indices along an axis; both tensors are tiled.

    Raises:
        ShapeError: there are indices, and nothing that they could name.
    """
    device = on_device(name, source)
    if is_empty(source.spec) and not is_empty(index.spec):
        raise ShapeError(f"{name}: the input has shape {source.shape}; it has no elements for indices {index.shape}.")
    rank = source.spec.shape.rank
    order = _with_axis_last(rank, axis)
    data, names = (permuted(name, as_rows(tensor), order, DRAM_MEMORY_CONFIG, 0.0) for tensor in (source, index))
    from_shape, shape = tuple(data.spec.shape), tuple(names.spec.shape)
    output = allocate(_rows_like(source, shape), device)
    rows = np.arange(math.prod(from_shape[:-1])).reshape(from_shape[:-1])[tuple(map(slice, shape[:-1]))]
    assert data.buffer is not None
    assert names.buffer is not None
    assert output.buffer is not None
    engine_steps.gather_elements(
        data.buffer,
        names.buffer,
        output.buffer,
        formats=(FORMAT_CODE[source.spec.dtype], FORMAT_CODE[index.spec.dtype]),
        width=from_shape[-1],
        count=shape[-1],
        rows=rows.reshape(-1).tolist(),
    )
    result = permuted(name, output, order, DRAM_MEMORY_CONFIG, 0.0)
    return move(result, TensorSpec.of(result.spec.shape, source.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG))


def _check_names(name: str, index: Tensor) -> None:
    if index.spec.dtype not in (DataType.UINT32, DataType.UINT16):
        raise DTypeError(
            f"{name}: index is {index.spec.dtype.name}; it must be UINT32 or UINT16.",
            vendor=f"Index tensor must be of type UINT32 or UINT16. Got: {index.spec.dtype.cpp_name}",
        )


def _checkgathered(name: str, source: Tensor, index: Tensor | None) -> None:
    """Refuse data types and layouts; without an index, those of the source."""
    if source.spec.dtype not in GATHERED:
        names = ", ".join(dtype.name for dtype in GATHERED)
        raise DTypeError(f"{name}: input is {source.spec.dtype.name}; it must be one of {names}.")
    if index is not None:
        _check_names(name, index)
    for label, tensor in (("input", source), ("index", index)):
        if tensor is not None and tensor.spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor=f"The input {'index ' if tensor is index else ''}tensor must be in tiled format",
            )


def _gather(
    input: Tensor,
    dim: int,
    index: Tensor,
    sparse_grad: bool,
    memory_config: MemoryConfig | None,
    out: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
    name: str = "ttnn.gather",
) -> Tensor:
    device = on_device(name, input, "input")
    same_device(name, device, index, "index")
    if sparse_grad:
        raise UnsupportedError(f"{name}: sparse_grad is not supported by the official program either.")
    rank = input.spec.shape.rank
    if rank != index.spec.shape.rank or not rank:
        raise ShapeError(
            f"{name}: input has shape {input.spec.shape}, index {index.spec.shape}; ranks must be equal.",
            vendor="Input and index tensor must have the same number of dimensions. Got input dim: "
            f"{rank} and index dim: {index.spec.shape.rank}",
        )
    axis = dimension(name, dim, rank)
    _checkgathered(name, input, index)
    target = memory_config or input.spec.memory_config
    _fits(name, index, input, ("index", "input"), axis)
    if is_empty(index.spec):
        shape = tuple(index.spec.shape)
        return allocate(TensorSpec.of(shape, input.spec.dtype, Layout.TILE, target), device)
    return place(name, gathered(name, input, axis, index), target, out)


def _check_scattered(name: str, axis: int, tensors: Sequence[tuple[str, Tensor]]) -> None:
    for label, tensor in tensors:
        spec = tensor.spec
        if not spec.memory_config.interleaved:
            raise UnsupportedError(
                f"{name}: {label} is sharded; move it to ttnn.DRAM_MEMORY_CONFIG. The official program rejects it too."
            )
        if spec.layout is not Layout.TILE:
            continue
        if spec.dtype is DataType.FLOAT32:
            raise LayoutError(
                f"{name}: {label} is float32 in tiles; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
                vendor="Scatter doesn't work for fp32 tiled tensors yet",
            )
        if spec.dtype in (DataType.INT32, DataType.UINT32) and spec.shape[axis] > _LONGEST_TILED_ROW:
            raise ShapeError(
                f"{name}: {label} has {spec.shape[axis]} elements along the dimension; 32-bit integers in tiles may "
                f"have {_LONGEST_TILED_ROW}.",
                vendor="Scatter doesn't work for int32 tensors that have scatter row longer than "
                f"{_LONGEST_TILED_ROW} elements",
            )


def _in_rows(dtype: DataType) -> DataType:
    """Return the data type in rows: bfloat16 of block floats."""
    return DataType.BFLOAT16 if dtype in (DataType.BFLOAT8_B, DataType.BFLOAT4_B) else dtype


def _count_programs(tensors: tuple[Tensor, Tensor, Tensor], axis: int, reduce: str | None) -> None:
    """Count the programs of a scatter.

    Each tensor in rows, its axis last, the scatter itself, and the way back.
    """
    device = on_device("ttnn.scatter", tensors[0])
    shape = tuple(tensors[1].spec.shape)
    last = axis == len(shape) - 1
    specs = []
    for number, tensor in enumerate(tensors):
        spec = tensor.spec
        if number == 2 and tuple(spec.shape) != shape:
            whole, spec = spec, TensorSpec.of(shape, spec.dtype, spec.layout)
            count_program(device, "slice", whole, shape)
            if spec.layout is Layout.TILE and len(shape) == 1:
                count_program(device, "untilize", whole)
                count_program(device, "tilize", spec)
        if spec.layout is Layout.TILE:
            count_program(device, "untilize", spec)
        rows = TensorSpec.of(spec.shape, _in_rows(spec.dtype), Layout.ROW_MAJOR)
        specs.append(rows if last else _turned(device, rows, axis))
    count_program(device, "scatter", *specs, reduce)
    result = specs[0] if last else _turned(device, specs[0], axis)
    if tensors[0].spec.layout is Layout.TILE:
        count_program(device, "tilize", result)


def _turned(device: MeshDevice, spec: TensorSpec, axis: int) -> TensorSpec:
    """Count the transpose to the last axis; return the result's specification."""
    count_program(device, "transpose", spec, axis)
    order = _with_axis_last(spec.shape.rank, axis)
    return TensorSpec.of([spec.shape[dim] for dim in order], spec.dtype, spec.layout)


def _scattered(
    name: str, input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str | None, target: MemoryConfig
) -> Tensor:
    device = on_device(name, input, "input")
    for label, tensor in (("index", index), ("src", src)):
        same_device(name, device, tensor, label)
        if tensor.spec.shape.rank != input.spec.shape.rank:
            raise ShapeError(
                f"{name}: {label} has shape {tensor.spec.shape}, input {input.spec.shape}; ranks must be equal.",
                vendor=f"input_rank must be equal to index_rank (input_rank == {input.spec.shape.rank}",
            )
    spec = input.spec
    rank = spec.shape.rank
    axis = dimension(name, dim, rank)
    if reduce not in _COMBINE:
        raise ParameterError(
            f"{name}: reduce is {reduce!r}; it must be 'add' or 'multiply'.",
            vendor=f"reduce must be either 'add' or 'multiply' (case-sensitive), got {reduce}",
        )
    kind = _in_rows(spec.dtype)
    if _in_rows(src.spec.dtype) is not kind:
        raise DTypeError(
            f"{name}: src is {src.spec.dtype.name}, input {spec.dtype.name}; they must be equal.",
            vendor="input_dtype differs from src_dtype",
        )
    if kind not in GATHERED:
        allowed = ", ".join(dtype.name for dtype in GATHERED)
        raise DTypeError(f"{name}: input is {spec.dtype.name}; it must be one of {allowed}.")
    if index.spec.dtype not in _INDICES:
        raise DTypeError(
            f"{name}: index is {index.spec.dtype.name}; indices are integers.", vendor="index_dtype is not integer"
        )
    _check_scattered(name, axis, (("input", input), ("index", index), ("src", src)))
    _fits(name, index, src, ("index", "src"))
    _fits(name, index, input, ("index", "input"), axis)
    if is_empty(index.spec) or is_empty(spec):
        return moved_to(input, target)
    _count_programs((input, index, src), axis, reduce)
    order = _with_axis_last(rank, axis)
    shape = tuple(index.spec.shape)
    part = sliced(name, src, [0] * rank, shape, memory_config=DRAM_MEMORY_CONFIG)
    rows = []
    for tensor in (input, index, part):
        flat = untilized(name, tensor, DRAM_MEMORY_CONFIG) if tensor.spec.layout is Layout.TILE else tensor
        rows.append(in_rows(permuted(name, flat, order, DRAM_MEMORY_CONFIG, 0.0)))
    data, names, given = rows
    to_shape, from_shape = tuple(data.spec.shape), tuple(names.spec.shape)
    matching = np.full(to_shape[:-1], -1)
    matching[tuple(map(slice, from_shape[:-1]))] = np.arange(math.prod(from_shape[:-1])).reshape(from_shape[:-1])
    output = allocate(data.spec.with_memory_config(DRAM_MEMORY_CONFIG), device)
    assert data.buffer is not None
    assert names.buffer is not None
    assert given.buffer is not None
    assert output.buffer is not None
    engine_steps.scatter_elements(
        data.buffer,
        names.buffer,
        given.buffer,
        output.buffer,
        formats=(FORMAT_CODE[kind], FORMAT_CODE[index.spec.dtype]),
        width=to_shape[-1],
        count=from_shape[-1],
        rows=matching.reshape(-1).tolist(),
        combine=_COMBINE[reduce],
    )
    result = permuted(name, output, order, DRAM_MEMORY_CONFIG, 0.0)
    if spec.layout is Layout.TILE:
        result = tilize_padded(name, result)
    return place(name, result, target)


def _scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    memory_config: MemoryConfig | None,
    reduce: str | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    target = memory_config or input.spec.memory_config
    return _scattered("ttnn.scatter", input, dim, index, src, reduce, target)


def _scatter_add(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    memory_config: MemoryConfig | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    target = memory_config or input.spec.memory_config
    return _scattered("ttnn.scatter_add", input, dim, index, src, "add", target)


def _expanded(name: str, index: Tensor, channels: int, layout: Layout) -> Tensor:
    """Return indices [N, W] for every channel: [N, W, C]."""
    on_device(name, index, "index")
    batch, count = tuple(index.spec.shape)
    spec = TensorSpec.of((batch, count, channels), index.spec.dtype, layout, DRAM_MEMORY_CONFIG)
    return move(as_rows(index), spec, strides=[count, 1, 0])


def _rank(name: str, label: str, tensor: Tensor, rank: int, vendor: str) -> None:
    found = tensor.spec.shape.rank
    if found != rank:
        raise ShapeError(
            f"{name}: {label} has shape {tensor.spec.shape}; it must be of rank {rank}.",
            vendor=vendor.format(rank=rank, found=found),
        )


def _tosa_gather(input: Tensor, index: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.tosa_gather"
    _rank(name, "input", input, 3, "Input tensor rank must be {rank}, got: {found}")
    _rank(name, "index", index, 2, "Index tensor rank must be {rank}, got: {found}")
    if input.spec.shape[0] != index.spec.shape[0]:
        raise ShapeError(
            f"{name}: input has {input.spec.shape[0]} batches, index {index.spec.shape[0]}.",
            vendor="Index tensor first dimension must be equal to input tensor first dimension",
        )
    same_device(name, on_device(name, input, "input"), index, "index")
    _checkgathered(name, input, None)
    _check_names(name, index)
    names = _expanded(name, index, input.spec.shape[2], Layout.TILE)
    return _gather(input, 1, names, False, memory_config, None, None, name)


def _tosa_scatter(input: Tensor, index: Tensor, src: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.tosa_scatter"
    sentence = "According to TOSA specification, {label} tensor must be of rank {{rank}}, it is {{found}} instead."
    for label, tensor, rank in (("input", input, 3), ("index", index, 2), ("src", src, 3)):
        on_device(name, tensor, label)
        _rank(name, label, tensor, rank, sentence.format(label="source" if label == "src" else label))
    data, names, given = (tuple(tensor.spec.shape) for tensor in (input, index, src))
    if data[0] != given[0] or data[2] != given[2] or names != given[:2]:
        raise ShapeError(
            f"{name}: input {list(data)}, index {list(names)} and src {list(given)} must be [N, K, C], [N, W] and "
            "[N, W, C]."
        )
    indices = _expanded(name, index, data[2], Layout.ROW_MAJOR)
    return _scattered(name, input, 1, indices, src, None, memory_config or input.spec.memory_config)


_INPUT: Final = Param("input", TENSOR, doc="[...] on a device.")
_DIM: Final = Param("dim", INTEGER, doc="The dimension along which indices count.", example=-1)
_INDEX: Final = Param(
    "index",
    TENSOR,
    doc="[...] integers, of the rank of the input.",
    example=Operand((1, 1, 64, 128), dtype=DataType.UINT32, between=(0, 127)),
)
_BATCHES: Final = Param("input", TENSOR, doc="[N, K, C] on a device.", example=Operand((1, 64, 128)))
_ROWS: Final = Param(
    "index",
    TENSOR,
    doc="[N, W] integers.",
    example=Operand((1, 7), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(0, 63)),
)
_SRC: Final = Param("src", TENSOR, doc="[...] of the data type of the input, no smaller than the indices.")
_REDUCE: Final = Param(
    "reduce",
    instance_kind("str", str),
    None,
    doc="'add' or 'multiply': what is there is combined with the source; otherwise it is replaced.",
    example="add",
)
_BOUNDS: Final = (
    ("DTypeError", "a data type is not supported."),
    ("LayoutError", "a tensor has a layout that the program does not support."),
    ("ShapeError", "ranks differ, or the indices are larger than a tensor."),
    ("UnsupportedError", "a tensor is sharded, or an option is not supported."),
)


def _indices(shape: tuple[int, ...], extent: int, layout: Layout) -> Operand:
    return Operand(shape, dtype=DataType.UINT32, layout=layout, between=(0, extent - 1))


def _gather_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if not shape or 0 in shape or layout is not Layout.TILE:
        return ()
    return ((-1, _indices(shape, shape[-1], layout)), (0, _indices(shape, shape[0], layout)))


def _scatter_examples(shape: tuple[int, ...], layout: Layout, *rest: Any) -> tuple[tuple[Any, ...], ...]:
    # The sums of a few integers do not depend on their signedness.
    if math.prod(shape) < TILE_SIZE - 1 or max(shape) > _LONGEST_TILED_ROW:
        return ()
    indices = Operand(shape, dtype=DataType.UINT16, layout=Layout.ROW_MAJOR, between=(0, shape[-1] - 1))
    return ((-1, indices, Operand(shape, 2), *rest),)


def _tosa_gather_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 3 or 0 in shape or layout is not Layout.TILE:
        return ()
    return ((_indices((shape[0], 7), shape[1], Layout.ROW_MAJOR),),)


def _tosa_scatter_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 3 or 0 in shape or max(shape) > _LONGEST_TILED_ROW:
        return ()
    return ((_indices(shape[:2], shape[1], Layout.ROW_MAJOR), Operand(shape, 2)),)


gather = register_movement(
    "gather",
    (
        Signature(
            (_INPUT, _DIM, _INDEX),
            (
                Param("sparse_grad", BOOLEAN, False, doc="Not supported."),
                MEMORY_CONFIG_OPTION,
                Param("out", TENSOR, None, doc="Preallocated output, of the shape of the indices."),
                SUB_CORE_GRIDS_OPTION,
            ),
        ),
    ),
    _gather,
    "Return the elements of `input` at `index` along `dim`, as in `torch.gather`.\n"
    "Shape: [...], [...] -> [...], as `index` has it.",
    golden=golden.gather,
    dtypes=GATHERED,
    layouts=(Layout.TILE,),
    engine=("gather_elements", "move_elements"),
    raises=(*_BOUNDS, ("ParameterError", "an index is past the last element.")),
    examples=_gather_examples,
)
_declare_scatter = partial(
    register_movement, engine=("scatter_elements", "move_elements"), composition=True, only_rows=(DataType.FLOAT32,)
)
scatter = _declare_scatter(
    "scatter",
    (Signature((_INPUT, _DIM, _INDEX, _SRC), (MEMORY_CONFIG_OPTION, _REDUCE, SUB_CORE_GRIDS_OPTION)),),
    _scatter,
    "Return `input` with elements of `src` scattered to `index` along `dim`.\n"
    "Shape: [...], [...], [...] -> [...], as `input` has it. Of several elements for one index the last one is used. "
    "Indices past the last element are ignored. Elements of bfloat16 are combined in FP32 and rounded once.",
    golden=golden.scatter,
    dtypes=GATHERED,
    raises=(*_BOUNDS, ("ParameterError", "`reduce` is another word.")),
    examples=_scatter_examples,
)
scatter_add = _declare_scatter(
    "scatter_add",
    (Signature((_INPUT, _DIM, _INDEX, _SRC), (MEMORY_CONFIG_OPTION, SUB_CORE_GRIDS_OPTION)),),
    _scatter_add,
    "Return `input` with elements of `src` added at `index` along `dim`.\n"
    "Shape: [...], [...], [...] -> [...], as `input` has it. Elements of bfloat16 are added in FP32, in the order of "
    "the indices, and rounded once.",
    golden=golden.scatter_add,
    dtypes=GATHERED,
    accuracy=no_bound("for sums of terms that cancel"),
    raises=_BOUNDS,
    examples=_scatter_examples,
)
tosa_gather = register_movement(
    "tosa_gather",
    (Signature((_BATCHES, _ROWS), (MEMORY_CONFIG_OPTION,)),),
    _tosa_gather,
    "Return every batch's rows at `index`, as TOSA defines it.\nShape: [N, K, C], [N, W] -> [N, W, C].",
    golden=golden.tosa_gather,
    dtypes=GATHERED,
    layouts=(Layout.TILE,),
    engine=("gather_elements", "move_elements"),
    raises=(*_BOUNDS, ("ParameterError", "an index is past the last row.")),
    examples=_tosa_gather_examples,
)
tosa_scatter = _declare_scatter(
    "tosa_scatter",
    (
        Signature(
            (_BATCHES, _ROWS, Param("src", TENSOR, doc="[N, W, C].", example=Operand((1, 7, 128), 2))),
            (MEMORY_CONFIG_OPTION,),
        ),
    ),
    _tosa_scatter,
    "Return `input` with rows of every batch replaced, as TOSA defines it.\n"
    "Shape: [N, K, C], [N, W], [N, W, C] -> [N, K, C].",
    golden=golden.tosa_scatter,
    dtypes=GATHERED,
    raises=_BOUNDS,
    examples=_tosa_scatter_examples,
)
