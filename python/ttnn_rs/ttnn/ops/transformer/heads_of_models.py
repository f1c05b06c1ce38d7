"""Heads in the sizes of some models, and heads of single tokens in shards.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, BufferType, DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import LayoutError, MemoryConfigError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset, num_cores_to_corerangeset_in_subcoregrids
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.attention import integers
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, SUB_CORE_GRIDS_OPTION, on_device
from ttnn.ops._programs.movement import move
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.data_movement.slice import sliced
from ttnn.ops.transformer.heads import checked, declare, heads_joined, heads_of
from ttnn.ops.transformer.heads_in_blocks import split_in_groups
from ttnn.tensor.tensor import Tensor

Heads = tuple[Tensor, Tensor, Tensor]
_HEADS_OF_A_CORE: Final = 2
_TRANSFORMER: Final = "tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`"


def _interleaved(name: str, config: MemoryConfig | None) -> None:
    if config is not None and config.is_sharded():
        raise MemoryConfigError(
            f"{name}: memory_config is sharded; use ttnn.DRAM_MEMORY_CONFIG or ttnn.L1_MEMORY_CONFIG.",
            vendor=f"Sharded output memory config is not supported for {name.rpartition('.')[2]}",
        )


def _no_outputs(name: str, outputs: object) -> None:
    if outputs is not None:
        raise UnsupportedError(f"{name}: preallocated outputs are not built yet; leave them out.", "unimplemented")


def _of_size(
    name: str,
    queries: int,
    groups: int,
    size: int,
    transposed: bool,
    source: Tensor,
    memory_config: MemoryConfig | None,
    outputs: object = None,
) -> Heads:
    """Return heads of fixed number and size from [B, 1, S, W]."""
    checked(name, source, "input", 4)
    _interleaved(name, memory_config)
    _no_outputs(name, outputs)
    width = (queries + 2 * groups) * size
    if source.spec.shape[1] != 1 or source.spec.shape[3] != width:
        raise ShapeError(
            f"{name}: input has shape {source.spec.shape}; it must be [B, 1, S, {width}].",
            vendor="Unsupported input shape",
        )
    first, second = queries * size, (queries + groups) * size
    return (
        heads_of(source, 0, queries, size, memory_config),
        heads_of(source, first, groups, size, memory_config, transposed=transposed),
        heads_of(source, second, groups, size, memory_config),
    )


def _falcon(input: Tensor, memory_config: MemoryConfig | None) -> tuple[Tensor, Tensor, Tensor]:
    return _of_size("ttnn.experimental.nlp_create_qkv_heads_falcon7b", 71, 1, 64, False, input, memory_config)


def _vit(
    input: Tensor, memory_config: MemoryConfig | None, output_tensors: Sequence[Tensor | None] | None
) -> tuple[Tensor, Tensor, Tensor]:
    name = "ttnn.experimental.nlp_create_qkv_heads_vit"
    return _of_size(name, 12, 12, 64, False, input, memory_config, output_tensors)


def _bert(
    input_tensor: Tensor,
    _grid: CoreCoord,
    memory_config: MemoryConfig | None,
    num_heads: int,
    output_tensors: Sequence[Tensor | None] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    name = "ttnn.experimental.split_query_key_value_and_split_heads"
    on_device(name, input_tensor)
    width = input_tensor.spec.shape[-1] if input_tensor.spec.shape.rank else 0
    if not 0 < num_heads <= width or width % (3 * num_heads * TILE_SIZE):
        raise ShapeError(f"{name}: {width} columns do not divide into 3 x {num_heads} heads of full tiles.")
    if input_tensor.spec.memory_config.is_sharded():
        _no_outputs(name, output_tensors)
        checked(name, input_tensor, "input_tensor", 4)
        # The program of shards has two heads of each kind in every core.
        if num_heads % _HEADS_OF_A_CORE:
            raise ShapeError(f"{name}: num_heads={num_heads} of shards must be a multiple of {_HEADS_OF_A_CORE}.")
        heads = (_HEADS_OF_A_CORE,) * 3
        groups = num_heads // _HEADS_OF_A_CORE
        return split_in_groups(name, input_tensor, groups, heads, memory_config, transposed=True)
    return _of_size(
        name, num_heads, num_heads, width // (3 * num_heads), True, input_tensor, memory_config, output_tensors
    )


def _bert_joined(
    input_tensor: Tensor, _grid: CoreCoord, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    name = "ttnn.experimental.concatenate_heads"
    _no_outputs(name, output_tensor)
    checked(name, input_tensor, "input_tensor", 4)
    _interleaved(name, memory_config)
    batch, _, _, size = tuple(input_tensor.spec.shape)
    if size % TILE_SIZE:
        raise ShapeError(f"{name}: heads of {size} columns are not made of full tiles.")
    return heads_joined(name, input_tensor, memory_config, (batch, 1))


def _in_cores(cores: CoreRangeSet, shape: Sequence[int], layout: TensorMemoryLayout) -> MemoryConfig:
    return MemoryConfig(layout, BufferType.L1, ShardSpec(cores, list(shape), ShardOrientation.ROW_MAJOR))


def _row_major_cores(name: str, count: int, source: Tensor) -> CoreRangeSet:
    return num_cores_to_corerangeset(count, on_device(name, source).compute_with_storage_grid_size(), True)


def _cores_of_users(
    name: str, source: Tensor, memory_config: MemoryConfig | None, first: int, count: int
) -> CoreRangeSet:
    """Return cores for users, row by row: those of the shards of `memory_config`, else those of the device.

    Raises:
        MemoryConfigError: there are fewer cores.
    """
    grid = on_device(name, source).compute_with_storage_grid_size()
    shards = None if memory_config is None else memory_config.shard_spec
    cores = num_cores_to_corerangeset(grid.x * grid.y, grid, True) if shards is None else shards.grid
    in_order = list(cores.cores(True))
    if len(in_order) < first + count:
        raise MemoryConfigError(
            f"{name}: {first + count} users need a core each; the shards of memory_config have {len(in_order)}.",
            vendor=f"Grid Size is {len(in_order)}. Need at least 32 cores for decode",
        )
    return num_cores_to_corerangeset_in_subcoregrids(in_order[first], count, cores, True)


def _create_decode(
    input_tensor: Tensor,
    num_heads: int,
    num_kv_heads: int | None,
    _output_tensors: Sequence[Tensor] | None,
    overlap_qk_coregrid: bool | None,
    batch_offset: Tensor | None,
    slice_size: int | None,
    memory_config: MemoryConfig | None,
) -> tuple[Tensor, Tensor, Tensor]:
    name = "ttnn.experimental.nlp_create_qkv_heads_decode"
    checked(name, input_tensor, "input_tensor", 4)
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1 or num_heads > TILE_SIZE or groups > TILE_SIZE:
        raise ParameterError(f"{name}: num_heads={num_heads} and num_kv_heads={num_kv_heads} must be 1 to {TILE_SIZE}.")
    spec = input_tensor.spec
    if spec.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        raise LayoutError(f"{name}: input_tensor is {spec.dtype.name}; rows of block floats cannot be moved.")
    one, other, batch, width = tuple(spec.shape)
    size = width // (num_heads + 2 * groups)
    if (one, other) != (1, 1) or size * (num_heads + 2 * groups) != width or size % TILE_SIZE or not size:
        raise ShapeError(
            f"{name}: input_tensor has shape {spec.shape}; it must be [1, 1, B, W], W dividing into {num_heads} heads "
            f"of queries and {groups} of keys and of values, of full tiles."
        )
    if (batch_offset is None) != (slice_size is None):
        raise ParameterError(f"{name}: batch_offset and slice_size go together.")
    first = 0
    if batch_offset is not None and slice_size is not None:
        first = integers(name, batch_offset, "batch_offset")[0]
        if first < 0 or slice_size < 1 or first + slice_size > batch:
            raise ParameterError(
                f"{name}: rows {first} to {first + slice_size} are not among the {batch} of the input."
            )
        batch = slice_size
    cores = later = _cores_of_users(name, input_tensor, memory_config, 0, batch)
    if overlap_qk_coregrid is False and spec.memory_config.is_sharded():
        later = _cores_of_users(name, input_tensor, memory_config, batch, batch)
    parts = []
    for column, heads, at in ((0, num_heads, cores), (num_heads, groups, later), (num_heads + groups, groups, cores)):
        place = _in_cores(at, (TILE_SIZE, size), TensorMemoryLayout.HEIGHT_SHARDED)
        target = TensorSpec.of((1, batch, heads, size), spec.dtype, Layout.TILE, place)
        parts.append(move(input_tensor, target, strides=[0, width, size, 1], offset=first * width + column * size))
    return parts[0], parts[1], parts[2]


def _cores_of_heads(name: str, heads: int, source: Tensor, among: CoreRangeSet | None) -> CoreRangeSet:
    """Return a core for each head: from the first core of the input on, if cores are given.

    Raises:
        MemoryConfigError: too few follow it.
    """
    shards = source.spec.memory_config.shard_spec
    if among is None or shards is None:
        return _row_major_cores(name, heads, source)
    if among.num_cores() < heads:
        raise MemoryConfigError(
            f"{name}: sub_core_grids has {among.num_cores()} cores for {heads} heads.",
            vendor="Subcoregrids must have at least num_heads cores",
        )
    return num_cores_to_corerangeset_in_subcoregrids(shards.grid.ranges()[0].start, heads, among, True)


def _concat_decode(
    input_tensor: Tensor,
    num_heads: int,
    _memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.experimental.nlp_concat_heads_decode"
    checked(name, input_tensor, "input_tensor", 4)
    _no_outputs(name, output_tensor)
    spec = input_tensor.spec
    if spec.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        raise LayoutError(f"{name}: input_tensor is {spec.dtype.name}; rows of block floats cannot be moved.")
    one, batch, heads, size = tuple(spec.shape)
    if one != 1 or not 0 < num_heads <= heads or not 0 < batch <= TILE_SIZE or size % TILE_SIZE or not size:
        raise ShapeError(
            f"{name}: input_tensor has shape {spec.shape}; it must be [1, B, heads, D] with at least {num_heads} "
            "heads, at most 32 users and D of full tiles."
        )
    if spec.memory_config.interleaved:
        raise MemoryConfigError(
            f"{name}: input_tensor is interleaved; shard it by height, one user to a core.",
            vendor="Input tensor must be sharded",
        )
    cores = _cores_of_heads(name, num_heads, input_tensor, sub_core_grids)
    place = _in_cores(cores, (TILE_SIZE, size), TensorMemoryLayout.WIDTH_SHARDED)
    target = TensorSpec.of((1, 1, TILE_SIZE, num_heads * size), spec.dtype, Layout.TILE, place)
    window = [(0, 1), (0, 1), (0, batch), (0, num_heads * size)]
    # The heads of a user lie one behind the other.
    return move(input_tensor, target, strides=[0, 0, heads * size, 1], window=window)


def _load_slice(
    input_tensor: Tensor,
    seq_len_start: int,
    seq_len_end: int,
    _memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.experimental.nlp_kv_cache_load_slice"
    checked(name, input_tensor, "input_tensor", 4)
    _no_outputs(name, output_tensor)
    batch, heads, rows, size = tuple(input_tensor.spec.shape)
    if not 0 <= seq_len_start < seq_len_end <= rows or seq_len_start % TILE_SIZE or seq_len_end % TILE_SIZE:
        raise ParameterError(
            f"{name}: rows {seq_len_start} to {seq_len_end} of {rows} must begin and end with tiles.",
            vendor="Can only unpad tilized tensor with full tiles",
        )
    cores = _row_major_cores(name, batch * heads, input_tensor)
    place = _in_cores(cores, (seq_len_end - seq_len_start, size), TensorMemoryLayout.HEIGHT_SHARDED)
    return sliced(name, input_tensor, [0, 0, seq_len_start, 0], [batch, heads, seq_len_end, size], memory_config=place)


_SHAPES: Final = (
    ("ShapeError", "the shape is another."),
    ("LayoutError", "the input is row-major, or holds block floats that cannot be moved."),
    ("DTypeError", "the input is not floating point."),
    ("MemoryConfigError", "the output is to lie where it cannot, or the input does."),
    ("ParameterError", "a number is out of range."),
    ("UnsupportedError", "outputs are preallocated."),
)
_GRID: Final = Param(
    "compute_with_storage_grid_size",
    instance_kind("ttnn.CoreCoord", CoreCoord),
    doc="Cores that work; time only.",
    example=CoreCoord(8, 8),
)
_OUTPUTS: Final = Param("output_tensors", TENSORS, None, doc="Not supported.")
_OUTPUT: Final = Param("output_tensor", TENSOR, None, doc="Not supported.")
_CORES_ONLY: Final = replace(
    MEMORY_CONFIG_OPTION,
    doc="Cores of the shards, if it has any. The rest is ignored: the output is HEIGHT_SHARDED in L1.",
)
_IGNORED_PLACE: Final = replace(MEMORY_CONFIG_OPTION, doc="Ignored: the output is sharded in L1.")
_entry = partial(declare, raises=_SHAPES)


def _input(label: str, shape: tuple[int, ...]) -> Param:
    return Param(
        label, TENSOR, doc="[B, 1, S, W] on a device: queries, keys and values side by side.", example=Operand(shape)
    )


nlp_create_qkv_heads_falcon7b = register(
    _entry(
        name="experimental.nlp_create_qkv_heads_falcon7b",
        signatures=(Signature((_input("input", (1, 1, 32, 4672)),), (MEMORY_CONFIG_OPTION,)),),
        run=_falcon,
        doc="Return the 71 heads of queries and the ones of keys and values of Falcon-7B.\n"
        "Shape: [B, 1, S, 4672] -> [B, 71, S, 64], [B, 1, S, 64], [B, 1, S, 64].",
        source=_TRANSFORMER,
        golden=golden.nlp_create_qkv_heads_falcon7b,
        examples=(),
    )
)
nlp_create_qkv_heads_vit = register(
    _entry(
        name="experimental.nlp_create_qkv_heads_vit",
        signatures=(Signature((_input("input", (1, 1, 32, 2304)),), (MEMORY_CONFIG_OPTION, _OUTPUTS)),),
        run=_vit,
        doc="Return the 12 heads of queries, keys and values of ViT.\n"
        "Shape: [B, 1, S, 2304] -> [B, 12, S, 64], [B, 12, S, 64], [B, 12, S, 64].",
        source=_TRANSFORMER,
        golden=golden.nlp_create_qkv_heads_vit,
        examples=(),
    )
)
split_query_key_value_and_split_heads = register(
    _entry(
        name="experimental.split_query_key_value_and_split_heads",
        signatures=(
            Signature(
                (_input("input_tensor", (1, 1, 64, 1536)), _GRID),
                (MEMORY_CONFIG_OPTION, Param("num_heads", INTEGER, 16, doc="Heads.", example=8), _OUTPUTS),
            ),
        ),
        run=_bert,
        doc="Return the heads of queries, of transposed keys, and of values.\n"
        "Columns of an interleaved input are all queries, then all keys, then all values. Those of an input in blocks, "
        "with a row of cores for every batch, are groups of two queries, two keys and two values.\n"
        "Shape: [B, 1, S, 3 * H * D] -> [B, H, S, D], [B, H, D, S], [B, H, S, D].",
        source=_TRANSFORMER,
        golden=golden.experimental_split_heads,
        golden_of_shards=golden.experimental_split_heads_of_blocks,
        examples=(),
    )
)
concatenate_heads = register(
    _entry(
        name="experimental.concatenate_heads",
        signatures=(Signature((INPUT_TENSOR, _GRID), (MEMORY_CONFIG_OPTION, _OUTPUT)),),
        run=_bert_joined,
        doc="Return heads side by side.\nShape: [B, H, S, D] -> [B, 1, S, H * D].",
        source=_TRANSFORMER,
        golden=golden.nlp_concat_heads,
        examples=lambda shape, layout: (
            ((CoreCoord(8, 8),),) if len(shape) == 4 and shape[3] % TILE_SIZE == 0 and layout is Layout.TILE else ()
        ),
    )
)
nlp_create_qkv_heads_decode = register(
    _entry(
        name="experimental.nlp_create_qkv_heads_decode",
        signatures=(
            Signature(
                (
                    Param(
                        "input_tensor",
                        TENSOR,
                        doc="[1, 1, B, W] on a device: queries, keys and values of a token of every user.",
                        example=Operand((1, 1, 4, 768)),
                    ),
                ),
                (
                    Param("num_heads", INTEGER, doc="Heads of the queries.", example=4),
                    Param("num_kv_heads", INTEGER, None, doc="Heads of keys and of values.", example=2),
                    Param("output_tensors", TENSORS, None, doc="Ignored: the output is allocated."),
                    Param(
                        "overlap_qk_coregrid",
                        BOOLEAN,
                        True,
                        doc="Queries and keys of a sharded input have the same cores; those of others always do.",
                        none=True,
                    ),
                    Param("batch_offset", TENSOR, None, doc="[1] of integers: the first user."),
                    Param("slice_size", INTEGER, None, doc="Users from there on.", example=1),
                    _CORES_ONLY,
                ),
            ),
        ),
        run=_create_decode,
        doc="Return the heads of a token of every user, a user to a core.\n"
        "Shape: [1, 1, B, (H + 2 * G) * D] -> [1, B, H, D], [1, B, G, D], [1, B, G, D], in shards of height.",
        source=_TRANSFORMER,
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
        engine=("move_elements",),
        golden=golden.nlp_create_qkv_heads_decode,
        examples=(),
    )
)
nlp_concat_heads_decode = register(
    _entry(
        name="experimental.nlp_concat_heads_decode",
        signatures=(
            Signature(
                (Param("input_tensor", TENSOR, doc="[1, B, heads, D] in shards of height, a user to a core."),),
                (
                    Param("num_heads", INTEGER, doc="Heads that count.", example=1),
                    _IGNORED_PLACE,
                    _OUTPUT,
                    replace(SUB_CORE_GRIDS_OPTION, doc="Cores of the output, from the first of the input on."),
                ),
            ),
        ),
        run=_concat_decode,
        doc="Return the heads of every user side by side, a head to a core.\n"
        "Shape: [1, B, heads, D] -> [1, 1, 32, H * D], in shards of width. Rows behind the last user are 0.",
        source=_TRANSFORMER,
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
        engine=("move_elements",),
        golden=golden.nlp_concat_heads_decode,
        examples=(),
    )
)
nlp_kv_cache_load_slice = register(
    _entry(
        name="experimental.nlp_kv_cache_load_slice",
        signatures=(
            Signature(
                (INPUT_TENSOR,),
                (
                    Param("seq_len_start", INTEGER, doc="First row.", example=0),
                    Param("seq_len_end", INTEGER, doc="The row behind the last.", example=32),
                    _IGNORED_PLACE,
                    _OUTPUT,
                ),
            ),
        ),
        run=_load_slice,
        doc="Return rows of a cache, a head to a core.\nShape: [B, H, S, D] -> [B, H, s, D], in shards of height.",
        source=_TRANSFORMER,
        engine=("move_elements",),
        golden=golden.nlp_kv_cache_load_slice,
        examples=(),
    )
)
