"""`ttnn.experimental.nlp_create_qkv_heads`, of any number and size of heads.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_create_qkv_heads`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import TILE_SIZE, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, on_device, same_device
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.transformer.head_programs import checked, declare, heads_of, spec_of_heads
from ttnn.tensor.tensor import Tensor

_OUTPUTS: Final = (TensorMemoryLayout.HEIGHT_SHARDED, TensorMemoryLayout.BLOCK_SHARDED)


def split_shards(
    name: str,
    source: Tensor,
    apart: Tensor | None,
    heads: tuple[int, int],
    size: int,
    transposed: bool,
    memory_config: MemoryConfig | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values, each head in its own shard.

    Args:
        name: The operator.
        source: [B, 1, S, W], sharded by width.
        apart: Keys and values of every core, if they are not in `source`.
        heads: Heads of the queries, and of keys and of values.
        size: Columns of a head.
        transposed: Whether keys are to be transposed, which the program does not do.
        memory_config: HEIGHT_SHARDED or BLOCK_SHARDED; its shards follow from the heads.

    Raises:
        MemoryConfigError: a memory config that the program does not support.
        ParameterError: keys are to be transposed, or queries do not divide among keys.
    """
    queries, groups = heads
    if memory_config is None or memory_config.memory_layout not in _OUTPUTS:
        place = None if memory_config is None else memory_config.memory_layout
        raise MemoryConfigError(
            f"{name}: input is sharded, memory_config is {place}; heads are sharded by height or in blocks.",
            vendor=f"Output memory config must be sharded and not WIDTH_SHARDED but got memory_layout: "
            f"{None if place is None else place.cpp_name}",
        )
    if transposed:
        raise ParameterError(
            f"{name}: input is sharded; pass transpose_k_heads=False.", vendor="Transpose K heads must be false"
        )
    if queries % groups:
        raise ParameterError(f"{name}: num_heads={queries} must be a multiple of num_kv_heads={groups}.")
    each = queries // groups
    for label, tensor, columns in (
        ("input", source, each if apart is not None else each + 2),
        *([] if apart is None else [("input_kv", apart, 2)]),
    ):
        _check_shards(name, label, tensor, groups, columns * size)
    query = _heads(name, source, (groups, each), 0, size, memory_config)
    if apart is None:
        key, value = (_heads(name, source, (groups, 1), each + part, size, memory_config) for part in (0, 1))
    else:
        key, value = (_heads(name, apart, (groups, 1), part, size, memory_config) for part in (0, 1))
    return query, key, value


def _check_shards(name: str, label: str, tensor: Tensor, groups: int, width: int) -> None:
    config = tensor.spec.memory_config
    shards = config.shard_spec
    right = (
        config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED
        and shards is not None
        and shards.orientation is ShardOrientation.ROW_MAJOR
        and shards.num_cores() == groups
        and shards.shape[1] == width
    )
    if not right:
        raise MemoryConfigError(
            f"{name}: {label} is in {config}; of a sharded projection each of {groups} cores has {width} columns, "
            "row by row: WIDTH_SHARDED.",
            vendor=f"Shard spec shape[1] ({None if shards is None else shards.shape[1]}) must equal {width}",
        )


def _heads(name: str, source: Tensor, heads: tuple[int, int], first: int, size: int, config: MemoryConfig) -> Tensor:
    """Return heads that every core has from the first one on."""
    groups, each = heads
    output = allocate(spec_of_heads(name, source, groups * each, size, config), on_device(name, source))
    batch = source.spec.shape[0]
    height, width = tile_grid(source)[-2:]
    across = size // TILE_SIZE
    copy_tiles(
        source,
        output,
        shape=(batch, groups, each, height, across),
        strides=(height * width, width // groups, across, width, 1),
        offset=first * across,
    )
    return output


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
    on_device(name, input, "input")
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1:
        raise ParameterError(f"{name}: num_heads={num_heads} and num_kv_heads={num_kv_heads} must be positive.")
    dims, columns = input.spec.padded_shape, num_heads + (2 * groups if input_kv is None else 0)
    if len(dims) > 3 and dims[3] % columns:
        raise ShapeError(
            f"{name}: dimension 3 of input, {dims[3]}, does not divide into {columns} heads.",
            vendor="Unsupported input shape",
        )
    if memory_config is not None and memory_config.is_sharded() and len(dims) == 4:
        # Shards of its own, whatever the input's are.
        spec_of_heads(name, input, num_heads, dims[3] // columns, memory_config)
    checked(name, input, "input", 4)
    if output_tensors is not None or kv_tied:
        option = "kv_tied=True" if kv_tied else "output_tensors"
        raise UnsupportedError(f"{name}: {option} is not implemented; leave it out.", "unimplemented")
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
        "head of the result is on a separate core.",
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
