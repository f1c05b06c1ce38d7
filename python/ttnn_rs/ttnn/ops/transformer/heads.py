"""Heads of attention: split from a projection, and joined again. Tiles are copied as they are; keys may be transposed.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn.base.enums import TILE_SIZE, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    same_device,
)
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.transformer.heads_in_blocks import split_in_groups
from ttnn.ops.transformer.heads_of_shards import split_shards
from ttnn.tensor.tensor import Tensor

_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
_FALCON_HEADS: Final = 71
_FALCON_SIZE: Final = 64
_SPLIT: Final = "ttnn.transformer.split_query_key_value_and_split_heads"
_JOIN: Final = "ttnn.transformer.concatenate_heads"


def checked(name: str, tensor: Tensor, label: str, rank: int) -> None:
    """Refuse a tensor of another rank, or one that is not floating point in tiles."""
    on_device(name, tensor, label)
    spec = tensor.spec
    if spec.shape.rank != rank:
        raise ShapeError(
            f"{name}: {label} has shape {spec.shape}; it must be of rank {rank}.",
            vendor=f"Invalid input tensor: expected {rank} dimensions, but found {spec.shape.rank}.",
        )
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    if spec.dtype not in _DTYPES:
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; heads are floating point.")
    full_tiles(name, tensor, label)


def heads_of(
    source: Tensor, first: int, heads: int, size: int, memory_config: MemoryConfig | None, *, transposed: bool = False
) -> Tensor:
    """Return `heads` heads of `size` columns from column `first` on.

    Shape: [B, S, W] -> [B, heads, S, size], or [B, heads, size, S].
    """
    spec = source.spec
    batch, rows = spec.shape[0], spec.shape[-2]
    place = memory_config or (spec.memory_config if spec.memory_config.interleaved else DRAM_MEMORY_CONFIG)
    kept = DRAM_MEMORY_CONFIG if transposed else place
    target = TensorSpec.of((batch, heads, rows, size), spec.dtype, Layout.TILE, kept)
    output = allocate(target, on_device(_SPLIT, source))
    if not is_empty(target):
        height, width = tile_grid(source)[-2:]
        across = size // TILE_SIZE
        copy_tiles(
            source,
            output,
            shape=(batch, heads, height, across),
            strides=(height * width, across, width, 1),
            offset=first // TILE_SIZE,
        )
    return permuted(_SPLIT, output, [0, 1, 3, 2], place, 0.0) if transposed else output


def _split(
    input_tensor: Tensor,
    kv_input_tensor: Tensor | None,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_key: bool,
    memory_config: MemoryConfig | None,
    use_falcon7b_backend: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_SPLIT, input_tensor, "input_tensor", 3)
    if use_falcon7b_backend:
        _check_falcon(input_tensor, kv_input_tensor, num_heads, num_kv_heads, transpose_key)
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1:
        raise ParameterError(f"{_SPLIT}: num_heads={num_heads} and num_kv_heads={num_kv_heads} must be positive.")
    width = input_tensor.spec.shape[-1]
    parts = num_heads + 2 * groups if kv_input_tensor is None else num_heads
    size = width // parts
    if kv_input_tensor is not None:
        checked(_SPLIT, kv_input_tensor, "kv_input_tensor", 3)
        same_device(_SPLIT, on_device(_SPLIT, input_tensor), kv_input_tensor, "kv_input_tensor")
        other = kv_input_tensor.spec.shape[-1] // (2 * groups)
        if other != size:
            raise ShapeError(
                f"{_SPLIT}: heads of input_tensor have {size} columns, those of kv_input_tensor {other}.",
                vendor=f"Dimension mismatch: KV head size ({other}) must be equal to query head size ({size}).",
            )
    if size * parts != width:
        raise ShapeError(f"{_SPLIT}: {width} columns do not divide into {parts} heads.")
    if size % TILE_SIZE or not size:
        raise ShapeError(
            f"{_SPLIT}: heads of {size} columns are not made of full tiles; pad the weights of the projection.",
            vendor=f"Invalid head size: {size}. The head size must be a multiple of the tile width ({TILE_SIZE}). "
            "Please adjust the dimensions accordingly.",
        )
    if input_tensor.spec.memory_config.is_sharded():
        return _split_shards(input_tensor, kv_input_tensor, num_heads, groups, transpose_key, memory_config)
    query = heads_of(input_tensor, 0, num_heads, size, memory_config)
    source, first = (input_tensor, num_heads * size) if kv_input_tensor is None else (kv_input_tensor, 0)
    key = heads_of(source, first, groups, size, memory_config, transposed=transpose_key)
    return query, key, heads_of(source, first + groups * size, groups, size, memory_config)


def _check_falcon(
    source: Tensor, kv: Tensor | None, num_heads: int, num_kv_heads: int | None, transposed: bool
) -> None:
    """Refuse what the program of one model does not take: it has 71 heads of queries and one of keys."""
    if num_kv_heads is None or kv is not None:
        raise ParameterError(
            f"{_SPLIT}: use_falcon7b_backend=True goes with num_kv_heads and without kv_input_tensor.",
            vendor="Invalid configuration: use_falcon7b_backend requires num_kv_heads to be set and no separate KV "
            "tensor.",
        )
    if transposed:
        raise ParameterError(
            f"{_SPLIT}: use_falcon7b_backend=True goes with transpose_key=False.",
            vendor="Invalid configuration: Transpose is set to true, but this is not supported when separate "
            "num_kv_heads is used.",
        )
    width = (_FALCON_HEADS + 2) * _FALCON_SIZE
    if (num_heads, num_kv_heads, source.spec.shape[-1]) != (_FALCON_HEADS, 1, width):
        raise ShapeError(
            f"{_SPLIT}: use_falcon7b_backend=True splits {width} columns into {_FALCON_HEADS} heads of queries and one "
            f"of keys and of values; input_tensor has shape {source.spec.shape}, num_heads is {num_heads} and "
            f"num_kv_heads {num_kv_heads}.",
            vendor="Unsupported input shape",
        )


def _split_shards(
    input_tensor: Tensor,
    kv_input_tensor: Tensor | None,
    num_heads: int,
    groups: int,
    transposed: bool,
    memory_config: MemoryConfig | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the heads of a projection in blocks, whose columns are groups, as `create_qkv_heads` does."""
    if kv_input_tensor is not None:
        raise MemoryConfigError(
            f"{_SPLIT}: kv_input_tensor goes with an interleaved input_tensor; this one is sharded.",
            vendor="Invalid operation: KV tensor should not be provided when the input tensor is sharded. Please "
            "ensure that the KV tensor is only used in non-sharded configurations.",
        )
    if num_heads % groups:
        raise ParameterError(
            f"{_SPLIT}: num_heads={num_heads} must be a multiple of num_kv_heads={groups}.",
            vendor=f"Number of q heads {num_heads} must fit evenly into number of kv heads {groups}",
        )
    each, rows = num_heads // groups, input_tensor.spec.shape[-2]
    query, key, value = split_in_groups(
        _SPLIT, input_tensor, groups, (each, 1, 1), memory_config, transposed=transposed
    )
    return _with_rows(query, rows, -2), _with_rows(key, rows, -1 if transposed else -2), _with_rows(value, rows, -2)


def _with_rows(heads: Tensor, rows: int, axis: int) -> Tensor:
    """Return heads that have padding behind so many rows, where they had none."""
    spec = heads.spec
    shape = list(spec.shape)
    shape[axis] = rows
    return heads._view(TensorSpec.of(shape, spec.dtype, Layout.TILE, spec.memory_config))


def _shards_of_joined(name: str, source: Tensor, place: MemoryConfig) -> MemoryConfig:
    """Return where heads side by side lie that were sharded by height: the heads of a core stay in the core.

    Raises:
        MemoryConfigError: the heads are interleaved, sharded otherwise, or the output is to be sharded by height.
    """
    spec = source.spec
    config, rows = spec.memory_config, spec.padded_shape[-2]
    shards = config.shard_spec
    if shards is None:
        raise MemoryConfigError(
            f"{name}: memory_config is {place}; the result of an interleaved tensor is interleaved.",
            vendor=f"Output memory config layout must be INTERLEAVED but got {place.memory_layout}",
        )
    height, width = shards.shape
    if width != spec.padded_shape[-1] or height % rows or spec.padded_shape[1] % (height // rows):
        raise MemoryConfigError(
            f"{name}: shards of {height}x{width} are not whole heads of {rows}x{spec.padded_shape[-1]}.",
            vendor=f"Input tensor shard height ({height}) must be divisible by padded height ({rows})",
        )
    if place.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        raise MemoryConfigError(
            f"{name}: memory_config is {place}; heads side by side are interleaved or sharded in blocks or by width.",
            vendor=f"Output memory config layout must not be HEIGHT_SHARDED but got {place.memory_layout}",
        )
    heads = height // rows
    return MemoryConfig(
        place.memory_layout, place.buffer_type, ShardSpec(shards.grid, [rows, width * heads], shards.orientation)
    )


def heads_joined(name: str, source: Tensor, memory_config: MemoryConfig | None, leading: tuple[int, ...]) -> Tensor:
    """Return heads side by side. Shape: [B, H, S, D] -> [*leading, S, H * D]."""
    spec = source.spec
    batch, heads, rows, size = tuple(spec.shape)
    place = memory_config or (spec.memory_config if spec.memory_config.interleaved else DRAM_MEMORY_CONFIG)
    if place.is_sharded():
        place = _shards_of_joined(name, source, place)
    target = TensorSpec.of((*leading, rows, heads * size), spec.dtype, Layout.TILE, place)
    output = allocate(target, on_device(name, source))
    if not is_empty(target):
        height, width = tile_grid(source)[-2:]
        tiles = height * width
        copy_tiles(source, output, shape=(batch, height, heads, width), strides=(heads * tiles, width, tiles, 1))
    return output


def _join(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    on_device(_JOIN, input_tensor)
    shape = tuple(input_tensor.spec.shape)
    if len(shape) == 4 and shape[-1] % TILE_SIZE:
        raise ShapeError(
            f"{_JOIN}: heads of {shape[-1]} columns are not made of full tiles.",
            vendor=f"Head size must be a multiple of {TILE_SIZE} but was found to be {shape[-1]}. Update the matmul "
            "that uses the output of this operation to include padding in the weights.",
        )
    checked(_JOIN, input_tensor, "input_tensor", 4)
    return heads_joined(_JOIN, input_tensor, memory_config, shape[:1])


def _nlp_create(
    input: Tensor,
    input_kv: Tensor | None,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_k_heads: bool,
    kv_tied: bool,
    memory_config: MemoryConfig | None,
    output_tensors: Sequence[Tensor] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    name = "ttnn.experimental.nlp_create_qkv_heads"
    checked(name, input, "input", 4)
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1:
        raise ParameterError(f"{name}: num_heads={num_heads} and num_kv_heads={num_kv_heads} must be positive.")
    if output_tensors is not None or kv_tied:
        option = "kv_tied=True" if kv_tied else "output_tensors"
        raise UnsupportedError(f"{name}: {option} is not built yet; leave it out.", "unimplemented")
    width, parts = input.spec.shape[-1], num_heads + (2 * groups if input_kv is None else 0)
    size = width // parts
    fits = input.spec.shape[1] == 1 and size and size % TILE_SIZE == 0 and size * parts == width
    if input_kv is not None:
        checked(name, input_kv, "input_kv", 4)
        same_device(name, on_device(name, input), input_kv, "input_kv")
        fits = fits and tuple(input_kv.spec.shape) == (*tuple(input.spec.shape)[:3], 2 * groups * size)
    if not fits:
        raise ShapeError(
            f"{name}: input of shape {input.spec.shape} does not divide into {num_heads} heads of queries and "
            f"{groups} of keys and of values, of full tiles; it is [B, 1, S, W]."
        )
    if input.spec.memory_config.is_sharded():
        return split_shards(name, input, input_kv, (num_heads, groups), size, transpose_k_heads, memory_config)
    source, first = (input, num_heads * size) if input_kv is None else (input_kv, 0)
    query = heads_of(input, 0, num_heads, size, memory_config)
    key = heads_of(source, first, groups, size, memory_config, transposed=transpose_k_heads)
    return query, key, heads_of(source, first + groups * size, groups, size, memory_config)


def _nlp_concat(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.experimental.nlp_concat_heads"
    checked(name, input_tensor, "input_tensor", 4)
    batch, _, _, size = tuple(input_tensor.spec.shape)
    if size % TILE_SIZE:
        raise ShapeError(f"{name}: heads of {size} columns are not made of full tiles.")
    return heads_joined(name, input_tensor, memory_config, (batch, 1))


declare = partial(
    Op, dtypes=_DTYPES, layouts=(Layout.TILE,), accuracy=bit_exact(), engine=("write_window",), numerics="movement"
)

split_query_key_value_and_split_heads = register(
    declare(
        name="transformer.split_query_key_value_and_split_heads",
        signatures=(
            Signature(
                (
                    Param(
                        "input_tensor",
                        TENSOR,
                        doc="[B, S, W] on a device: queries, keys and values side by side.",
                        example=Operand((1, 64, 384)),
                    ),
                    Param("kv_input_tensor", TENSOR, None, doc="[B, S, W2]: keys and values, if they are apart."),
                ),
                (
                    Param("num_heads", INTEGER, doc="Heads of the queries.", example=2),
                    Param(
                        "num_kv_heads",
                        INTEGER,
                        None,
                        doc="Heads of keys and of values. Default: `num_heads`.",
                        example=1,
                    ),
                    Param("transpose_key", BOOLEAN, True, doc="Return keys as [B, heads, D, S]."),
                    MEMORY_CONFIG_OPTION,
                    Param(
                        "use_falcon7b_backend",
                        BOOLEAN,
                        False,
                        doc="Take the heads of Falcon-7B, and no others: 71 of queries and one of keys.",
                    ),
                ),
            ),
        ),
        run=_split,
        doc="Return the heads of queries, keys and values.\n"
        "Columns of an interleaved input are all queries, then all keys, then all values. Those of an input in blocks, "
        "with a row of cores for every batch, are groups: the queries of a head of keys, the key, the value.\n"
        "Shape: [B, S, 3 * H * D] -> [B, H, S, D], [B, H, D, S], [B, H, S, D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/transformer/split_query_key_value_and_split_heads`",
        golden=golden.split_query_key_value_and_split_heads,
        golden_of_shards=golden.split_heads_of_blocks,
        raises=(
            ("ShapeError", "columns do not divide into heads of full tiles."),
            ("LayoutError", "the input is row-major."),
            ("DTypeError", "the input is not floating point."),
            ("ParameterError", "a number of heads is not positive, or does not divide the other of a sharded input."),
            ("MemoryConfigError", "an input in shards is not block sharded, or its heads are not sharded by height."),
        ),
        examples=lambda shape, layout: (
            (({"num_heads": 1},), ({"num_heads": 1, "transpose_key": False},))
            if len(shape) == 3 and shape[-1] and shape[-1] % (3 * TILE_SIZE) == 0 and layout is Layout.TILE
            else ()
        ),
    )
)

concatenate_heads = register(
    declare(
        name="transformer.concatenate_heads",
        signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
        run=_join,
        doc="Return heads side by side.\nThose of a core stay in it if `memory_config` is sharded.\n"
        "Shape: [B, H, S, D] -> [B, S, H * D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/transformer/concatenate_heads`",
        golden=golden.concatenate_heads,
        raises=(
            ("ShapeError", "the input is not of rank 4, or D is not a multiple of 32."),
            ("LayoutError", "the input is row-major."),
            ("DTypeError", "the input is not floating point."),
            ("MemoryConfigError", "the result is to be sharded, and the shards of the input are not whole heads."),
        ),
        examples=lambda shape, layout: (
            ((),) if len(shape) == 4 and shape[-1] % TILE_SIZE == 0 and layout is Layout.TILE else ()
        ),
    )
)

_ERRORS: Final = (
    ("ShapeError", "columns do not divide into heads of full tiles."),
    ("LayoutError", "the input is row-major."),
    ("DTypeError", "the input is not floating point."),
    ("ParameterError", "a number of heads is not positive."),
)

nlp_create_qkv_heads = register(
    declare(
        name="experimental.nlp_create_qkv_heads",
        signatures=(
            Signature(
                (
                    Param(
                        "input",
                        TENSOR,
                        doc="[B, 1, S, W] on a device: queries, keys and values side by side.",
                        example=Operand((1, 1, 64, 384)),
                    ),
                    Param("input_kv", TENSOR, None, doc="[B, 1, S, W2]: keys and values, if they are apart."),
                ),
                (
                    Param("num_heads", INTEGER, doc="Heads of the queries.", example=2),
                    Param(
                        "num_kv_heads",
                        INTEGER,
                        None,
                        doc="Heads of keys and of values. Default: `num_heads`.",
                        example=1,
                    ),
                    Param("transpose_k_heads", BOOLEAN, True, doc="Return keys as [B, heads, D, S]."),
                    Param("kv_tied", BOOLEAN, False, doc="Not supported."),
                    MEMORY_CONFIG_OPTION,
                    Param("output_tensors", TENSORS, None, doc="Not supported."),
                ),
            ),
        ),
        run=_nlp_create,
        doc="Return the heads of queries, keys and values.\n"
        "Shape: [B, 1, S, 3 * H * D] -> [B, H, S, D], [B, H, D, S], [B, H, S, D].\n"
        "Of an input sharded by width every core has the queries of one head of keys, that head, and the values; each "
        "head of the result lies on a core of its own.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_create_qkv_heads`",
        golden=golden.nlp_create_qkv_heads,
        golden_of_shards=golden.nlp_create_heads_of_shards,
        raises=(*_ERRORS, ("MemoryConfigError", "an input in shards is not sharded by width, or the heads are.")),
        examples=lambda shape, layout: (
            (({"num_heads": 2, "num_kv_heads": 1},),)
            if len(shape) == 4 and shape[1] == 1 and shape[-1] == 128 and layout is Layout.TILE
            else ()
        ),
    )
)

nlp_concat_heads = register(
    declare(
        name="experimental.nlp_concat_heads",
        signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
        run=_nlp_concat,
        doc="Return heads side by side.\nThose of a core stay in it if `memory_config` is sharded.\n"
        "Shape: [B, H, S, D] -> [B, 1, S, H * D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_concat_heads`",
        golden=golden.nlp_concat_heads,
        raises=(*_ERRORS[:3], ("MemoryConfigError", "the shards of the input are not whole heads.")),
        examples=lambda shape, layout: (
            ((),) if len(shape) == 4 and shape[-1] % TILE_SIZE == 0 and layout is Layout.TILE else ()
        ),
    )
)
