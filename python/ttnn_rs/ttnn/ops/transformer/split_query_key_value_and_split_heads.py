"""`split_query_key_value_and_split_heads` of `ttnn.transformer` and of `ttnn.experimental`.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer/split_query_key_value_and_split_heads` and
`ttnn/cpp/ttnn/operations/experimental/transformer/split_query_key_value_and_split_heads`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import TILE_SIZE, Layout, TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, same_device
from ttnn.ops.transformer.block_sharded_heads import split_in_groups
from ttnn.ops.transformer.head_programs import (
    EXPERIMENTAL,
    EXPERIMENTAL_ERRORS,
    GRID,
    OUTPUTS,
    checked,
    declare,
    heads_of,
    heads_of_fixed_size,
    no_outputs,
    projection,
    spec_of_heads,
)
from ttnn.tensor.tensor import Tensor

_FALCON_HEADS: Final = 71
_FALCON_SIZE: Final = 64
_SPLIT: Final = "ttnn.transformer.split_query_key_value_and_split_heads"
_HEADS_OF_A_CORE: Final = 2


def _split(
    input_tensor: Tensor,
    kv_input_tensor: Tensor | None,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_key: bool,
    memory_config: MemoryConfig | None,
    use_falcon7b_backend: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    on_device(_SPLIT, input_tensor, "input_tensor")
    if kv_input_tensor is None and input_tensor.spec.shape.rank == 3 and not use_falcon7b_backend:
        _check_size(input_tensor, num_heads, num_kv_heads, memory_config)
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


def _check_size(source: Tensor, num_heads: int, num_kv_heads: int | None, memory_config: MemoryConfig | None) -> None:
    """Refuse heads without full tiles, and shards that do not fit them.

    Raises:
        ShapeError: see above.
        MemoryConfigError: see above.
    """
    parts = num_heads + 2 * (num_heads if num_kv_heads is None else num_kv_heads)
    size = source.spec.padded_shape[-1] // parts if parts > 0 else 0
    if size % TILE_SIZE:
        raise ShapeError(
            f"{_SPLIT}: heads of {size} columns are not made of full tiles; pad the weights of the projection.",
            vendor=f"Invalid head size: {size}. The head size must be a multiple of the tile width ({TILE_SIZE}). "
            "Please adjust the dimensions accordingly.",
        )
    cut = (TensorMemoryLayout.HEIGHT_SHARDED, TensorMemoryLayout.BLOCK_SHARDED)
    own_cores = memory_config is not None and memory_config.memory_layout in cut
    if memory_config is not None and own_cores and size and not source.spec.memory_config.is_sharded():
        spec_of_heads(_SPLIT, source, num_heads, size, memory_config)


def _check_falcon(
    source: Tensor, kv: Tensor | None, num_heads: int, num_kv_heads: int | None, transposed: bool
) -> None:
    """Refuse shapes that one model's program does not support.

    It has 71 query heads and one key head.
    """
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
    """Return a block projection's heads, grouped as in `create_qkv_heads`."""
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
    """Return heads with padding after so many rows, where they had none."""
    spec = heads.spec
    shape = list(spec.shape)
    shape[axis] = rows
    return heads._view(TensorSpec.of(shape, spec.dtype, Layout.TILE, spec.memory_config))


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
        no_outputs(name, output_tensors)
        checked(name, input_tensor, "input_tensor", 4)
        # The program of shards has two heads of each kind in every core.
        if num_heads % _HEADS_OF_A_CORE:
            raise ShapeError(f"{name}: num_heads={num_heads} of shards must be a multiple of {_HEADS_OF_A_CORE}.")
        heads = (_HEADS_OF_A_CORE,) * 3
        groups = num_heads // _HEADS_OF_A_CORE
        return split_in_groups(name, input_tensor, groups, heads, memory_config, transposed=True)
    return heads_of_fixed_size(
        name, num_heads, num_heads, width // (3 * num_heads), True, input_tensor, memory_config, output_tensors
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


experimental_split_query_key_value_and_split_heads = register(
    declare(
        raises=EXPERIMENTAL_ERRORS,
        name="experimental.split_query_key_value_and_split_heads",
        signatures=(
            Signature(
                (projection("input_tensor", (1, 1, 64, 1536)), GRID),
                (MEMORY_CONFIG_OPTION, Param("num_heads", INTEGER, 16, doc="Heads.", example=8), OUTPUTS),
            ),
        ),
        run=_bert,
        doc="Return the heads of queries, of transposed keys, and of values.\n"
        "Columns of an interleaved input are all queries, then all keys, then all values. Those of an input in blocks, "
        "with a row of cores for every batch, are groups of two queries, two keys and two values.\n"
        "Shape: [B, 1, S, 3 * H * D] -> [B, H, S, D], [B, H, D, S], [B, H, S, D].",
        source=EXPERIMENTAL,
        golden=golden.experimental_split_heads,
        golden_of_shards=golden.experimental_split_heads_of_blocks,
        examples=(),
    )
)
