"""Heads of projections in blocks: each core has the queries, keys and values of its own heads side by side.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/create_qkv_heads` and
`create_qkv_heads_from_separate_tensors`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.registry import register
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, on_device, same_device
from ttnn.ops._programs.windows import copy_tiles
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.transformer.heads import checked, declare
from ttnn.tensor.tensor import Tensor

_HEADS: Final = "ttnn.experimental.create_qkv_heads"
_APART: Final = "ttnn.experimental.create_qkv_heads_from_separate_tensors"


def _shards(name: str, label: str, tensor: Tensor) -> tuple[ShardSpec, CoreRange]:
    """Return the shards of a tensor in blocks, and the rectangle of their cores.

    Raises:
        MemoryConfigError: it is not block sharded.
        ShapeError: there is not one row of cores for every batch.
    """
    config = tensor._spec.memory_config
    if config.memory_layout is not TensorMemoryLayout.BLOCK_SHARDED or config.shard_spec is None:
        raise MemoryConfigError(
            f"{name}: {label} is in {config}; shard it in blocks, with a row of cores for every batch.",
            vendor="Operands to TM must be sharded",
        )
    spec = config.shard_spec
    cores = spec.grid.bounding_box()
    high, wide = cores.end.y + 1, cores.end.x + 1
    if spec.orientation is not ShardOrientation.ROW_MAJOR:
        high, wide = wide, high
    batch, width = tensor._spec.shape[0], tensor._spec.shape[-1]
    if tensor._spec.shape[1] != 1 or batch != high or width % (wide * TILE_SIZE):
        raise ShapeError(
            f"{name}: {label} of shape {tensor._spec.shape} on {high}x{wide} cores must be [{high}, 1, S, W] with W a "
            f"multiple of {wide * TILE_SIZE}.",
            vendor=f"Batch size {batch} must be equal to num cores {high}",
        )
    return spec, cores


def _place(like: tuple[ShardSpec, CoreRange], config: MemoryConfig, shape: Sequence[int]) -> MemoryConfig:
    """Return where heads lie: as many rows of them on every core."""
    spec, cores = like
    count = CoreRangeSet([cores]).num_cores()
    batch, heads, rows, width = shape
    shards = ShardSpec(spec.grid, [batch * heads * rows // count, width], spec.orientation)
    return MemoryConfig(config.memory_layout, config.buffer_type, shards)


def _part(
    name: str,
    source: Tensor,
    heads: tuple[int, int],
    size: int,
    columns: tuple[int, int],
    config: MemoryConfig,
    like: tuple[ShardSpec, CoreRange],
    *,
    transposed: bool = False,
) -> Tensor:
    """Return the heads of one kind.

    Args:
        name: The operator.
        source: [B, 1, S, W].
        heads: Groups, and heads of each.
        size: Columns of a head.
        columns: The first of a group, and those of a group.
        config: Where the result lies; its shards follow from `like`.
        like: Shards of the input.
        transposed: Rows and columns are exchanged.
    """
    spec = source._spec
    batch, rows = spec.shape[0], spec.padded_shape[-2]
    groups, each = heads
    shape = (batch, groups * each, rows, size)
    swapped = (*shape[:2], size, rows)
    place = _place(like, config, swapped if transposed else shape)
    output = allocate(
        TensorSpec.of(shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG if transposed else place),
        on_device(name, source),
    )
    high, wide, across = rows // TILE_SIZE, spec.shape[-1] // TILE_SIZE, size // TILE_SIZE
    copy_tiles(
        source,
        output,
        shape=(batch, groups, each, high, across),
        strides=(high * wide, columns[1] // TILE_SIZE, across, wide, 1),
        offset=columns[0] // TILE_SIZE,
    )
    return permuted(name, output, [0, 1, 3, 2], place, 0.0) if transposed else output


def _numbers(name: str, num_heads: int, num_kv_heads: int | None, output_tensors: object) -> int:
    """Return the heads of keys.

    Raises:
        ParameterError: a number is not positive, or does not divide the other.
        UnsupportedError: outputs are preallocated.
    """
    groups = num_heads if num_kv_heads is None else num_kv_heads
    if num_heads < 1 or groups < 1 or num_heads % groups:
        raise ParameterError(
            f"{name}: num_heads={num_heads} must be a positive multiple of num_kv_heads={num_kv_heads}.",
            vendor=f"Number of q heads {num_heads} must fit evenly into number of kv heads {groups}",
        )
    if output_tensors is not None:
        raise UnsupportedError(f"{name}: preallocated outputs are not built yet; leave them out.", "unimplemented")
    return groups


def _size(name: str, label: str, width: int, heads: int, vendor: str) -> int:
    """Return the columns of a head.

    Raises:
        ShapeError: columns do not divide into heads of full tiles.
    """
    size = width // heads
    if size * heads != width or size % TILE_SIZE or not size:
        raise ShapeError(
            f"{name}: {width} columns of {label} do not divide into {heads} heads of full tiles.", vendor=vendor
        )
    return size


def _create(
    input: Tensor,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_k_heads: bool,
    memory_config: MemoryConfig | None,
    output_tensors: Sequence[Tensor] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_HEADS, input, "input", 4)
    groups = _numbers(_HEADS, num_heads, num_kv_heads, output_tensors)
    shards = _shards(_HEADS, "input", input)
    config = memory_config or input._spec.memory_config
    if config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        raise MemoryConfigError(
            f"{_HEADS}: memory_config is {config}; heads are sharded by height.",
            vendor=f"Output memory config layout must be HEIGHT_SHARDED but got {config.memory_layout}",
        )
    width, each = input._spec.shape[-1], num_heads // groups
    vendor = f"Flattened hidden dimension {width} must be a multiple of the combined Q {num_heads}, K {groups} and V "
    size = _size(_HEADS, "input", width, num_heads + 2 * groups, f"{vendor}{groups} heads")
    group = (each + 2) * size
    part: Callable[..., Tensor] = partial(_part, _HEADS, input, config=config, like=shards, size=size)
    return (
        part(heads=(groups, each), columns=(0, group)),
        part(heads=(groups, 1), columns=(each * size, group), transposed=transpose_k_heads),
        part(heads=(groups, 1), columns=((each + 1) * size, group)),
    )


def _create_apart(
    input: Tensor,
    input_kv: Tensor,
    num_heads: int,
    num_kv_heads: int | None,
    transpose_k_heads: bool,
    memory_config: MemoryConfig | None,
    output_tensors: Sequence[Tensor] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    checked(_APART, input, "input", 4)
    checked(_APART, input_kv, "input_kv", 4)
    same_device(_APART, on_device(_APART, input), input_kv, "input_kv")
    groups = _numbers(_APART, num_heads, num_kv_heads, output_tensors)
    shards = _shards(_APART, "input", input)
    other = _shards(_APART, "input_kv", input_kv)
    config = memory_config or input._spec.memory_config
    if not config.is_sharded():
        raise MemoryConfigError(f"{_APART}: memory_config is {config}; heads are sharded.")
    if other[0].grid != shards[0].grid or input_kv._spec.dtype is not input._spec.dtype:
        raise MemoryConfigError(
            f"{_APART}: input and input_kv lie on {shards[0].grid} and {other[0].grid} in {input.dtype.name} and "
            f"{input_kv.dtype.name}; they must have the same cores and data type."
        )
    width = input._spec.shape[-1]
    vendor = f"Flattened Q hidden dimension {width} must be a multiple of Q heads {num_heads}"
    size = _size(_APART, "input", width, num_heads, vendor)
    width = input_kv._spec.shape[-1]
    if _size(_APART, "input_kv", width, 2 * groups, "Head dims must be equal in size!") != size:
        raise ShapeError(
            f"{_APART}: heads of input have {size} columns, those of input_kv {width // (2 * groups)}.",
            vendor="Head dims must be equal in size!",
        )
    part: Callable[..., Tensor] = partial(_part, _APART, config=config, like=shards, size=size)
    return (
        part(source=input, heads=(num_heads, 1), columns=(0, size)),
        part(source=input_kv, heads=(groups, 1), columns=(0, 2 * size), transposed=transpose_k_heads),
        part(source=input_kv, heads=(groups, 1), columns=(size, 2 * size)),
    )


_OPTIONS: Final = (
    Param("num_heads", INTEGER, doc="Heads of the queries."),
    Param("num_kv_heads", INTEGER, None, doc="Heads of keys and of values. Default: `num_heads`."),
    Param("transpose_k_heads", BOOLEAN, True, doc="Return keys as [B, heads, D, S]."),
    MEMORY_CONFIG_OPTION,
    Param("output_tensors", TENSORS, None, doc="Not supported."),
)
_entry: Callable[..., Any] = partial(
    declare,
    raises=(
        ("ShapeError", "columns do not divide into heads of full tiles, or batches are not rows of cores."),
        ("LayoutError", "an input is row-major."),
        ("DTypeError", "an input is not floating point."),
        ("ParameterError", "a number of heads is not positive, or does not divide the other."),
        ("MemoryConfigError", "an input is not block sharded, or the output not sharded."),
        ("UnsupportedError", "outputs are preallocated."),
    ),
    examples=(),
)

create_qkv_heads = register(
    _entry(
        name="experimental.create_qkv_heads",
        signatures=(
            Signature((Param("input", TENSOR, doc="[B, 1, S, W], block sharded, one batch to a row."),), _OPTIONS),
        ),
        run=_create,
        doc="Return the heads of queries, keys and values, sharded by height.\n"
        "The columns are groups, one for every head of keys: its queries, the key, the value.\n"
        "Shape: [B, 1, S, (H + 2 * G) * D] -> [B, H, S, D], [B, G, D, S], [B, G, S, D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/create_qkv_heads`",
        golden=golden.create_qkv_heads,
    )
)
create_qkv_heads_from_separate_tensors = register(
    _entry(
        name="experimental.create_qkv_heads_from_separate_tensors",
        signatures=(
            Signature(
                (
                    Param("input", TENSOR, doc="[B, 1, S, H * D], block sharded, one batch to a row."),
                    Param("input_kv", TENSOR, doc="[B, 1, T, 2 * G * D], block sharded on the same cores."),
                ),
                _OPTIONS,
            ),
        ),
        run=_create_apart,
        doc="Return the heads of queries, and those of keys and values of another tensor, sharded.\n"
        "The columns of `input_kv` are pairs of a key and a value.\n"
        "Shape: [B, 1, S, H * D], [B, 1, T, 2 * G * D] -> [B, H, S, D], [B, G, D, T], [B, G, T, D].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/create_qkv_heads_from_separate_tensors`",
        golden=golden.create_qkv_heads_from_separate_tensors,
    )
)
