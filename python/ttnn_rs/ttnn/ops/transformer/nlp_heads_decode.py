"""`ttnn.experimental.nlp_create_qkv_heads_decode` and `nlp_concat_heads_decode`: one token of every user.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_create_qkv_heads_decode` and
`nlp_concat_heads_decode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import TILE_SIZE, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset, num_cores_to_corerangeset_in_subcoregrids
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.attention import integers
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, SUB_CORE_GRIDS_OPTION, no_such_dimension, on_device
from ttnn.ops._programs.movement import move
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.transformer.head_programs import (
    EXPERIMENTAL,
    EXPERIMENTAL_ERRORS,
    OUTPUT,
    checked,
    declare,
    in_cores,
    no_outputs,
    row_major_cores,
)
from ttnn.tensor.tensor import Tensor


def _cores_of_users(
    name: str, source: Tensor, memory_config: MemoryConfig | None, first: int, count: int
) -> CoreRangeSet:
    """Return the users' cores, row by row.

    Those of the shards of `memory_config`, else those of the device.

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


def _check_sizes(name: str, spec: TensorSpec, columns: int) -> None:
    """Refuse a projection that does not divide into heads.

    The checks are in the official order.

    Raises:
        ShapeError: the rank or the columns do not fit, or there are more users than rows of a tile.
        MemoryConfigError: heads are not made of full tiles.
    """
    dims = spec.padded_shape
    if spec.shape.rank < 4:
        raise ShapeError(
            f"{name}: input_tensor has shape {spec.shape}; it must be [1, 1, B, W].",
            vendor=no_such_dimension(3, spec.shape.rank),
        )
    if spec.shape[2] > TILE_SIZE:
        raise ShapeError(
            f"{name}: input_tensor has shape {spec.shape}; it has more than {TILE_SIZE} users.",
            vendor=f"Unsupported input shape = {spec.shape}",
        )
    if dims[3] % columns:
        raise ShapeError(
            f"{name}: dimension 3 of input_tensor, {dims[3]}, does not divide into {columns} heads.",
            vendor=f"Input shape {dims[3]} must be divisible by num_heads + 2*num_kv_heads = {columns}",
        )
    size = dims[3] // columns
    if size % TILE_SIZE:
        raise MemoryConfigError(
            f"{name}: heads of {size} columns are not made of full tiles.",
            vendor=f"Physical shard shape ({TILE_SIZE}, {size}) must be tile {{{TILE_SIZE}, {TILE_SIZE}}} sized!",
        )


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
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1 or num_heads > TILE_SIZE or groups > TILE_SIZE:
        raise ParameterError(f"{name}: num_heads={num_heads} and num_kv_heads={num_kv_heads} must be 1 to {TILE_SIZE}.")
    spec = input_tensor.spec
    _check_sizes(name, spec, num_heads + 2 * groups)
    if spec.layout is not Layout.TILE and spec.dtype in (DataType.BFLOAT16, DataType.FLOAT32):
        raise LayoutError(
            f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Only tile layout is supported for input tensor",
        )
    checked(name, input_tensor, "input_tensor", 4)
    if spec.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        raise LayoutError(
            f"{name}: input_tensor is {spec.dtype.name}; rows of block floats cannot be moved.",
            vendor="Unsupported data format",
        )
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
        place = in_cores(at, (TILE_SIZE, size), TensorMemoryLayout.HEIGHT_SHARDED)
        target = TensorSpec.of((1, batch, heads, size), spec.dtype, Layout.TILE, place)
        parts.append(move(input_tensor, target, strides=[0, width, size, 1], offset=first * width + column * size))
    return parts[0], parts[1], parts[2]


def _cores_of_heads(name: str, heads: int, source: Tensor, among: CoreRangeSet | None) -> CoreRangeSet:
    """Return a core per head, from the input's first if given.

    Raises:
        MemoryConfigError: too few follow it.
    """
    shards = source.spec.memory_config.shard_spec
    if among is None or shards is None:
        return row_major_cores(name, heads, source)
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
    no_outputs(name, output_tensor)
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
    place = in_cores(cores, (TILE_SIZE, size), TensorMemoryLayout.WIDTH_SHARDED)
    target = TensorSpec.of((1, 1, TILE_SIZE, num_heads * size), spec.dtype, Layout.TILE, place)
    window = [(0, 1), (0, 1), (0, batch), (0, num_heads * size)]
    # The heads of a user lie one behind the other.
    return move(input_tensor, target, strides=[0, 0, heads * size, 1], window=window)


_CORES_ONLY: Final = replace(
    MEMORY_CONFIG_OPTION,
    doc="Cores of the shards, if it has any. The rest is ignored: the output is HEIGHT_SHARDED in L1.",
)


_IGNORED_PLACE: Final = replace(MEMORY_CONFIG_OPTION, doc="Ignored: the output is sharded in L1.")


nlp_create_qkv_heads_decode = register(
    declare(
        raises=EXPERIMENTAL_ERRORS,
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
        doc="Return the heads of every user's token, a user per core.\n"
        "Shape: [1, 1, B, (H + 2 * G) * D] -> [1, B, H, D], [1, B, G, D], [1, B, G, D], in shards of height.",
        source=EXPERIMENTAL,
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
        engine=("move_elements",),
        golden=golden.nlp_create_qkv_heads_decode,
        examples=(),
    )
)


nlp_concat_heads_decode = register(
    declare(
        raises=EXPERIMENTAL_ERRORS,
        name="experimental.nlp_concat_heads_decode",
        signatures=(
            Signature(
                (Param("input_tensor", TENSOR, doc="[1, B, heads, D] in shards of height, a user to a core."),),
                (
                    Param("num_heads", INTEGER, doc="Heads that count.", example=1),
                    _IGNORED_PLACE,
                    OUTPUT,
                    replace(SUB_CORE_GRIDS_OPTION, doc="Cores of the output, from the first of the input on."),
                ),
            ),
        ),
        run=_concat_decode,
        doc="Return every user's heads side by side, a head per core.\n"
        "Shape: [1, B, heads, D] -> [1, 1, 32, H * D], in shards of width. Rows behind the last user are 0.",
        source=EXPERIMENTAL,
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
        engine=("move_elements",),
        golden=golden.nlp_concat_heads_decode,
        examples=(),
    )
)
