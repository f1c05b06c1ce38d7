"""Slices that indices name, filled; elements that are found; counters.

Source: tt-metal `ttnn/cpp/ttnn/operations`, `index_fill`, `data_movement/indexed_fill`,
`data_movement/non_zero_indices`, `experimental/isin` and `experimental/plusone`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import data_movement as golden
from ttnn.operation.domain import Operand
from ttnn.operation.signature import BOOLEAN, FILL_VALUE, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.attention import integers
from ttnn.ops._programs.common import (
    IGNORED_MEMORY_CONFIG,
    INPUT_TENSOR,
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    as_float,
    count_program,
    dimension,
    full_tiles,
    is_empty,
    on_device,
    same_device,
)
from ttnn.ops._programs.element_map import in_rows
from ttnn.ops._programs.movement import move, register_movement
from ttnn.ops._programs.windows import write_into
from ttnn.ops.data_movement.indexed import GATHERED, as_rows, place
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.slice import sliced
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_COUNTERS: Final = (DataType.INT32, DataType.UINT32)
_COUNTS: Final = 8
_ELEMENT_BYTES: Final = {DataType.UINT8: 1, DataType.INT8: 1, DataType.BFLOAT16: 2, DataType.UINT16: 2}


def _element_bytes(dtype: DataType) -> int:
    return _ELEMENT_BYTES.get(dtype, 4)


def _start(rank: int, axis: int, at: int) -> list[int]:
    starts = [0] * rank
    starts[axis] = at
    return starts


def _index_fill(
    name: str, input: Tensor, dim: int, index: Tensor, value: float, memory_config: MemoryConfig | None
) -> Tensor:
    device = on_device(name, input, "input")
    same_device(name, device, index, "index")
    spec = input.spec
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{name}: input is tiled; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Index fill: Only supporting row major layout",
        )
    if index.spec.shape.rank != 1 or index.spec.dtype is not DataType.UINT32:
        raise ShapeError(
            f"{name}: index has shape {index.spec.shape} and is {index.spec.dtype.name}; it must be [N] of UINT32.",
            vendor="Index fill: Index tensor must be 1D",
        )
    number = as_float(name, value, "value")
    if isinstance(value, int) != (spec.dtype in INTEGERS):
        raise DTypeError(
            f"{name}: value={value!r} is not a value of {spec.dtype.name}.",
            vendor="Index fill: Value type must match input tensor dtype",
        )
    target = memory_config or spec.memory_config
    if not (spec.memory_config.interleaved and target.interleaved):
        raise UnsupportedError(f"{name}: shards are not supported, as in the official program; use DRAM_MEMORY_CONFIG.")
    rank = spec.shape.rank
    axis = dimension(name, dim, rank)
    output = moved_to(input, target)
    if is_empty(spec):
        return output
    shape = list(spec.shape)
    shape[axis] = 1
    part = allocate(TensorSpec.of(shape, spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    assert part.buffer is not None
    engine_steps.fill(part.buffer, format=FORMAT_CODE[spec.dtype], value=number)
    for at in sorted(set(integers(name, index, "index"))):
        if 0 <= at < spec.shape[axis]:
            write_into(part, output, _start(rank, axis, at))
    part.deallocate(True)
    return output


def _indexed_fill(
    batch_id: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, memory_config: MemoryConfig | None, dim: int
) -> Tensor:
    name = "ttnn.indexed_fill"
    device = on_device(name, input_tensor_a, "input_tensor_a")
    for label, tensor in (("batch_id", batch_id), ("input_tensor_b", input_tensor_b)):
        same_device(name, device, tensor, label)
    for label, tensor in (("input_tensor_a", input_tensor_a), ("input_tensor_b", input_tensor_b)):
        full_tiles(name, tensor, label)
    into, of = input_tensor_a.spec, input_tensor_b.spec
    rank = into.shape.rank
    axis = dimension(name, dim, rank)
    if of.shape.rank == rank and batch_id.spec.shape.rank:
        count, given = tuple(batch_id.spec.padded_shape)[-1], of.shape[axis]
        if count != given:
            raise ShapeError(
                f"{name}: batch_id has {count} indices, input_tensor_b {given} slices along dimension {axis}.",
                vendor=f"indexed_fill: input_b.size({axis}) = {given} must equal the number of indices (batch_id count "
                f"= {count})",
            )
    same = of.shape.rank == rank and all(i == axis or of.shape[i] == into.shape[i] for i in range(rank))
    if not same or of.dtype is not into.dtype or of.layout is not into.layout:
        raise ShapeError(
            f"{name}: input_tensor_a is {into.shape} of {into.dtype.name} in {into.layout.name}, input_tensor_b "
            f"{of.shape} of {of.dtype.name} in {of.layout.name}; only dimension {axis} may differ.",
            vendor="Dims except batch dim must be the same on inputs",
        )
    places = integers(name, batch_id, "batch_id")
    if any(not 0 <= at < into.shape[axis] for at in places):
        raise ParameterError(f"{name}: batch_id={places} goes beyond the {into.shape[axis]} slices of input_tensor_a.")
    target = memory_config or into.memory_config
    in_tiles = into.layout is Layout.TILE and axis >= rank - 2
    if in_tiles and into.dtype in BLOCK_FLOATS:
        raise DTypeError(f"{name}: rows of {into.dtype.name} share exponents; typecast to bfloat16 first.")
    output = move(input_tensor_a, _plain(input_tensor_a)) if in_tiles else moved_to(input_tensor_a, target)
    source = as_rows(input_tensor_b) if in_tiles else input_tensor_b
    for number, at in enumerate(places):
        ends = list(source.spec.shape)
        ends[axis] = number + 1
        part = sliced(name, source, _start(rank, axis, number), ends, memory_config=DRAM_MEMORY_CONFIG)
        write_into(part, output, _start(rank, axis, at))
    return move(output, into.with_memory_config(target)) if in_tiles else output


def _plain(source: Tensor) -> TensorSpec:
    return TensorSpec.of(tuple(source.spec.shape), source.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)


def _nonzero(input_tensor: Tensor, memory_config: MemoryConfig | None) -> list[Tensor]:
    name = "ttnn.nonzero"
    device = on_device(name, input_tensor)
    spec = input_tensor.spec
    target = memory_config or DRAM_MEMORY_CONFIG
    if spec.shape.rank != 4:
        raise ShapeError(
            f"{name}: input_tensor is {spec.shape}; reshape it to rank 4.",
            vendor=f"non_zero_indices: input must be rank-4, got rank {spec.shape.rank}",
        )
    if not target.interleaved:
        raise MemoryConfigError(
            f"{name}: memory_config is {target.memory_layout.name}; the number of indices is not known before.",
            vendor="non_zero_indices: output_memory_config must be INTERLEAVED; variable-length output cannot be "
            "sharded",
        )
    volume = spec.shape.volume()
    counts, found = (
        allocate(TensorSpec.of((1, 1, 1, size), DataType.UINT32, Layout.ROW_MAJOR, target), device)
        for size in (_COUNTS, 4 * volume)
    )
    rows = untilized(name, input_tensor, DRAM_MEMORY_CONFIG) if spec.dtype in BLOCK_FLOATS else as_rows(input_tensor)
    assert counts.buffer is not None
    if is_empty(spec):
        engine_steps.fill(counts.buffer, format=FORMAT_CODE[DataType.UINT32], value=0.0)
        return [counts, found]
    assert rows.buffer is not None
    assert found.buffer is not None
    size, width = _element_bytes(rows.spec.dtype), (1, *rows.spec.shape)[-1]
    engine_steps.nonzero(rows.buffer, counts.buffer, found.buffer, element_bytes=size, width=width)
    return [counts, found]


def _plus_one(input_tensor: Tensor, _sub_core_grids: CoreRangeSet | None, skip_negative_entries: bool) -> Tensor:
    name = "ttnn.plus_one"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.dtype not in _COUNTERS:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; counters are INT32 or UINT32.",
            vendor="Only INT32 and UINT32 is supported for inputs!",
        )
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{name}: input_tensor is tiled; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Only ROW_MAJOR layout is supported for inputs!",
        )
    if not 1 <= spec.shape.rank <= 4:
        raise ShapeError(
            f"{name}: input_tensor has shape {spec.shape}; it must be of rank 1 to 4.",
            vendor="must have 1 to 4 dimensions for input tensor",
        )
    if not is_empty(spec):
        assert input_tensor.buffer is not None
        skips = skip_negative_entries and spec.dtype is DataType.INT32
        engine_steps.plus_one(input_tensor.buffer, width=spec._page_shape[1], skip_negative=skips)
    return input_tensor


def _isin(elements: Tensor, test_elements: Tensor, _assume_unique: bool, invert: bool, out: Tensor | None) -> Tensor:
    name = "ttnn.experimental.isin"
    device = on_device(name, elements, "elements")
    same_device(name, device, test_elements, "test_elements")
    spec = elements.spec
    if test_elements.spec.dtype is not spec.dtype or spec.dtype not in GATHERED:
        raise DTypeError(
            f"{name}: elements is {spec.dtype.name}, test_elements {test_elements.spec.dtype.name}; both must be the "
            f"same, one of {', '.join(dtype.name for dtype in GATHERED)}.",
            vendor="they must be equal",
        )
    rows, others = (
        in_rows(untilized(name, tensor, DRAM_MEMORY_CONFIG) if tensor.spec.layout is Layout.TILE else tensor)
        for tensor in (elements, test_elements)
    )
    result = allocate(TensorSpec.of(spec.shape, DataType.UINT32, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    # Operands of several dimensions are made flat first, and the result gets its shape back: a program each.
    for label, tensor in (("elements", elements), ("test_elements", test_elements), ("result", result)):
        if tensor.spec.shape.rank > 1:
            count_program(device, name, label, tensor.spec)
    if not is_empty(spec):
        assert result.buffer is not None
        if is_empty(test_elements.spec):
            value = float(invert) * (2**32 - 1)
            engine_steps.fill(result.buffer, format=FORMAT_CODE[DataType.UINT32], value=value)
        else:
            assert rows.buffer is not None
            assert others.buffer is not None
            engine_steps.is_in(
                rows.buffer,
                others.buffer,
                result.buffer,
                widths=((1, *spec.shape)[-1], (1, *test_elements.spec.shape)[-1]),
                element_bytes=_element_bytes(spec.dtype),
                invert=invert,
            )
    if spec.layout is Layout.TILE:
        result = tilize_padded(name, result)
    return place(name, result, spec.memory_config, out)


def _shaped(name: str, sizes: Sequence[int], fills: Sequence[int], like: Tensor, place: MemoryConfig | None) -> Tensor:
    spec = like.spec
    target = place or spec.memory_config
    if any(not 0 < size < 1 << 31 for size in sizes):
        raise ShapeError(
            f"{name}: N, C, H, W are {list(sizes)}; they must be positive.", vendor="All dimensions must be positive"
        )
    if any(not 0 <= fill <= size for fill, size in zip(fills, sizes[2:], strict=True)):
        raise ShapeError(
            f"{name}: hOnes, wOnes are {list(fills)}; the rows and columns are {list(sizes[2:])}.",
            vendor="Fill dimensions must be <= tensor dimensions",
        )
    if spec.dtype is not DataType.BFLOAT16:
        raise DTypeError(
            f"{name}: any is {spec.dtype.name}; it must be BFLOAT16.", vendor="Input tensor dtype must be BFLOAT16"
        )
    if not (spec.memory_config.interleaved and target.interleaved):
        raise UnsupportedError(f"{name}: shards are not supported, as in the official program; use DRAM_MEMORY_CONFIG.")
    return allocate(TensorSpec.of(sizes, DataType.BFLOAT16, Layout.ROW_MAJOR, target), on_device(name, like, "any"))


def _fill_rm(
    batch: int,
    channels: int,
    height: int,
    width: int,
    rows: int,
    columns: int,
    like: Tensor,
    val_hi: float,
    val_lo: float,
    memory_config: MemoryConfig | None,
    name: str = "ttnn.fill_rm",
) -> Tensor:
    device = on_device(name, like, "any")
    output = _shaped(name, (batch, channels, height, width), (rows, columns), like, memory_config)
    assert output.buffer is not None
    code = FORMAT_CODE[DataType.BFLOAT16]
    engine_steps.fill(output.buffer, format=code, value=as_float(name, val_lo, "val_lo"))
    if rows and columns:
        high = allocate(
            TensorSpec.of((batch, channels, rows, columns), DataType.BFLOAT16, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG),
            device,
        )
        assert high.buffer is not None
        engine_steps.fill(high.buffer, format=code, value=as_float(name, val_hi, "val_hi"))
        write_into(high, output, [0, 0, 0, 0])
        high.deallocate(True)
    return output


def _fill_ones_rm(
    batch: int,
    channels: int,
    height: int,
    width: int,
    rows: int,
    columns: int,
    like: Tensor,
    memory_config: MemoryConfig | None,
) -> Tensor:
    sizes = batch, channels, height, width
    return _fill_rm(*sizes, rows, columns, like, 1.0, 0.0, memory_config, "ttnn.fill_ones_rm")


def _fill_padding(input_tensor: Tensor, fill_value: float, _memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.fill_implicit_tile_padding"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.shape.rank == 0:
        raise ShapeError(f"{name}: input_tensor has shape {spec.shape}; it must be of rank 1 or more.")
    if not any(size % 32 for size in (1, *spec.shape)[-2:]) or is_empty(spec):
        return input_tensor
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: input_tensor is row-major and has no padding; convert it with ttnn.to_layout.",
            vendor="FillPad should only be used for tile layout",
        )
    if spec.dtype is DataType.BFLOAT4_B or spec.dtype is DataType.UINT8:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; typecast it to bfloat16 first.",
            vendor=f"Unsupported datatype {spec.dtype.cpp_name}",
        )
    value = as_float(name, fill_value, "fill_value")
    return move(input_tensor, spec, pad_value=value)


_INDEX: Final = Param(
    "index",
    TENSOR,
    doc="[N] of UINT32, row-major. Indices past the end are ignored.",
    example=Operand((3,), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(0, 63)),
)
_SIZES: Final = tuple(
    Param(label, INTEGER, doc=doc, example=example)
    for label, doc, example in (
        ("N", "Batches.", 1),
        ("C", "Channels.", 2),
        ("H", "Rows.", 64),
        ("W", "Columns.", 32),
        ("hOnes", "Rows that get the first value.", 33),
        ("wOnes", "Columns that get it.", 7),
    )
)
_ANY: Final = Param("any", TENSOR, doc="A bfloat16 tensor on the device; only its memory config is used.")
_PADDED: Final = Param("input_tensor", TENSOR, doc="[..., H, W] on a device.", example=Operand((1, 1, 40, 50)))
_REFUSED: Final = (("UnsupportedError", "a tensor is sharded, or is to be."),)
_FILLED: Final = (
    ("ShapeError", "sizes are not positive, or less than what is filled."),
    ("DTypeError", "`any` is not bfloat16."),
    *_REFUSED,
)


def _isin_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((Operand((3, 64), 5),),) if shape and 0 not in shape else ()


def _nonzero_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((),) if len(shape) == 4 and 0 not in shape else ()


def _padding_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((1,),) if len(shape) >= 2 and layout is Layout.TILE else ()


_fill: Final = partial(
    register_movement,
    golden=golden.index_fill,
    layouts=(Layout.ROW_MAJOR,),
    dtypes=GATHERED,
    engine=("write_window", "fill", "copy_pages"),
    raises=(
        ("LayoutError", "`input` is tiled."),
        ("ShapeError", "`index` is not [N] of UINT32, or `dim` is out of range."),
        ("DTypeError", "the value is not representable in the data type."),
        *_REFUSED,
    ),
    examples=(),
)
_FILL: Final = (
    Signature(
        (
            Param("input", TENSOR, doc="[...] on a device, row-major."),
            Param("dim", INTEGER, doc="The dimension along which indices count.", example=2),
            _INDEX,
            Param("value", FILL_VALUE, doc="What is written: a float, or an int for integers.", example=2.5),
        ),
        (MEMORY_CONFIG_OPTION,),
    ),
)
index_fill = _fill(
    "index_fill",
    _FILL,
    partial(_index_fill, "ttnn.index_fill"),
    "Return `input` with a value in the slices `index` along `dim`.\nShape: [...], [N] -> [...].",
)
index_fill_new = _fill(
    "index_fill_new",
    _FILL,
    partial(_index_fill, "ttnn.index_fill_new"),
    "Return `input` with the slices `index` along `dim` filled with a value.\nShape: [...], [N] -> [...].",
)
indexed_fill = register_movement(
    "indexed_fill",
    (
        Signature(
            (
                Param(
                    "batch_id",
                    TENSOR,
                    doc="[..., n] of UINT32: the slice of `input_tensor_a` for each of `input_tensor_b`.",
                    example=Operand((1, 1, 1, 2), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, between=(0, 3)),
                ),
                Param("input_tensor_a", TENSOR, doc="[N, ...] on a device.", example=Operand((4, 1, 64, 64))),
                Param("input_tensor_b", TENSOR, doc="[n, ...] like it.", example=Operand((2, 1, 64, 64))),
            ),
            (MEMORY_CONFIG_OPTION, Param("dim", INTEGER, 0, doc="The dimension along which slices count.")),
        ),
    ),
    _indexed_fill,
    "Return `input_tensor_a` with slices replaced by those of `input_tensor_b`.\n"
    "Shape: [..., n], [N, ...], [n, ...] -> [N, ...]. Of several slices for one index the last one is used.",
    golden=golden.indexed_fill,
    dtypes=(DataType.UINT32, DataType.INT32),
    layouts=(Layout.ROW_MAJOR,),
    engine=("write_window", "copy_pages", "move_elements"),
    raises=(
        ("ShapeError", "shapes, data types or layouts do not fit."),
        ("DTypeError", "rows of block floats would be replaced, or indices are not integers."),
        ("ParameterError", "an index is out of range."),
    ),
    examples=(),
)
nonzero = register_movement(
    "nonzero",
    (Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
    _nonzero,
    "Return the number of nonzero elements, and their positions in row-major order.\n"
    "Shape: [...] -> [1, 1, 1, 8], [1, 1, 1, 4 * elements], of UINT32 and row-major. The number is the first element "
    "of the first; positions are followed by zeros. Elements are compared bit by bit, so -0 counts.",
    golden=golden.nonzero,
    engine=("nonzero", "move_elements"),
    raises=(("ShapeError", "the rank is not 4."), *_REFUSED),
    examples=_nonzero_examples,
)
plus_one = register_movement(
    "plus_one",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param(
                    "sub_core_grids",
                    SUB_CORE_GRIDS_OPTION.kind,
                    None,
                    doc="Cores that work; time only.",
                    check=SUB_CORE_GRIDS_OPTION.check,
                ),
                Param("skip_negative_entries", BOOLEAN, False, doc="Elements below zero are kept."),
            )
        ),
    ),
    _plus_one,
    "Write `input_tensor + 1` into `input_tensor` and return it.\nShape: [...] -> [...].",
    golden=golden.plus_one,
    dtypes=_COUNTERS,
    layouts=(Layout.ROW_MAJOR,),
    engine=("plus_one",),
    raises=(
        ("DTypeError", "elements are neither INT32 nor UINT32."),
        ("LayoutError", "the tensor is tiled."),
        ("ShapeError", "the rank is not 1 to 4."),
    ),
    examples=lambda shape, layout: ((),) if 1 <= len(shape) <= 4 and layout is Layout.ROW_MAJOR else (),
)
isin = register_movement(
    "experimental.isin",
    (
        Signature(
            (
                Param("elements", TENSOR, doc="[...] on a device."),
                Param("test_elements", TENSOR, doc="[...] of the same data type.", example=Operand((1, 1, 64, 64))),
            ),
            (
                Param("assume_unique", BOOLEAN, False, doc="Changes time only."),
                Param("invert", BOOLEAN, False, doc="Mark the elements that are not among the others."),
                Param("out", TENSOR, None, doc="Preallocated output of UINT32."),
            ),
        ),
    ),
    _isin,
    "Return 2**32 - 1 where an element is among `test_elements`, 0 elsewhere.\n"
    "Shape: [...], [...] -> [...], of UINT32. Elements are compared bit by bit.",
    golden=golden.isin,
    dtypes=GATHERED,
    engine=("is_in", "move_elements"),
    raises=(("DTypeError", "data types differ or are not supported."),),
    examples=_isin_examples,
)
fill_rm = register_movement(
    "fill_rm",
    (
        Signature(
            (
                *_SIZES,
                _ANY,
                Param("val_hi", FILL_VALUE, doc="The first value.", example=2.5),
                Param("val_lo", FILL_VALUE, doc="The value of all other elements.", example=-1.0),
            ),
            (MEMORY_CONFIG_OPTION,),
        ),
    ),
    _fill_rm,
    "Return matrices with one value in first rows and columns, else another.\n"
    "Shape: -> [N, C, H, W] in bfloat16, row-major.",
    golden=golden.fill_rm,
    dtypes=(DataType.BFLOAT16,),
    engine=("fill", "write_window"),
    raises=(
        ("ShapeError", "sizes are not positive, or less than what is filled."),
        ("DTypeError", "`any` is not bfloat16."),
        *_REFUSED,
    ),
    examples=(),
)
fill_ones_rm = register_movement(
    "fill_ones_rm",
    (Signature((*_SIZES, _ANY), (MEMORY_CONFIG_OPTION,)),),
    _fill_ones_rm,
    "Return matrices with 1 in the first rows and columns, else 0.\nShape: -> [N, C, H, W] in bfloat16, row-major.",
    golden=golden.fill_rm,
    dtypes=(DataType.BFLOAT16,),
    engine=("fill", "write_window"),
    raises=(
        ("ShapeError", "sizes are not positive, or less than what is filled."),
        ("DTypeError", "`any` is not bfloat16."),
        *_REFUSED,
    ),
    examples=(),
)
fill_implicit_tile_padding = register_movement(
    "fill_implicit_tile_padding",
    (
        Signature(
            (_PADDED, Param("fill_value", FILL_VALUE, doc="What padding holds.", example=1)),
            (IGNORED_MEMORY_CONFIG,),
        ),
    ),
    _fill_padding,
    "Return `input_tensor` with its tile padding filled; itself if there is none.\nShape: [..., H, W] -> [..., H, W].",
    golden=golden.identity,
    layouts=(Layout.TILE,),
    dtypes=(DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.INT32, DataType.UINT32, DataType.UINT16),
    engine=("move_elements",),
    view=True,
    raises=(
        ("LayoutError", "the tensor is row-major."),
        ("ShapeError", "the rank is 0."),
        ("DTypeError", "the data type is not supported."),
    ),
    examples=_padding_examples,
)
