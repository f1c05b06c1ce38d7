"""Prepared inputs of group norm and layer norm programs.

Masks, factors and shards of group norm, and reciprocals of layer norm.

Source: tt-metal `ttnn/ttnn/operations/normalization` and `ttnn/cpp/ttnn/operations/normalization/groupnorm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ttnn.base.call import checked
from ttnn.base.core_range import CoreGrid, CoreRangeSet
from ttnn.base.enums import (
    TILE_SIZE,
    BufferType,
    DataType,
    Layout,
    ShardOrientation,
    ShardStrategy,
    TensorMemoryLayout,
)
from ttnn.base.exceptions import ArgumentError, ParameterError
from ttnn.base.memory_config import MemoryConfig, ShardSpec, create_sharded_memory_config
from ttnn.device.lifecycle import MeshDevice
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

if TYPE_CHECKING:
    import torch

__all__ = [
    "create_group_norm_input_mask",
    "create_group_norm_input_negative_mask",
    "create_group_norm_weight_bias_rm",
    "create_layer_norm_reciprocals",
    "determine_expected_group_norm_dram_grid_size",
    "determine_expected_group_norm_sharded_config_and_grid_size",
    "dram_group_norm_params_from_torch",
    "get_group_norm_cores_across_channel",
]


_WORD = (int, np.integer)


def _of_kind(name: str, kind: Any, **values: object) -> None:
    """Refuse values of another kind.

    Raises:
        ArgumentError: a value is not of the kind.
    """
    for label, value in values.items():
        if not isinstance(value, kind):
            words = " or ".join(item.__name__ for item in (kind if isinstance(kind, tuple) else (kind,)))
            raise ArgumentError(f"{name}: {label} must be {words}, got {type(value).__name__}")


def _columns(name: str, channels: int, groups: int, cores: int) -> int:
    """Return the channels of a group."""
    if min(channels, groups, cores) < 1 or channels % groups or groups % cores:
        raise ParameterError(
            f"{name}: {channels} channels, {groups} groups and {cores} cores must divide one another in this order."
        )
    return channels // groups


def _mask(name: str, channels: int, groups: int, cores: int, dtype: DataType, inside: float) -> Tensor:
    _of_kind(name, _WORD, num_channel=channels, num_groups=groups, num_cores_across_channel=cores)
    _of_kind(name, DataType, data_type=dtype)
    columns = _columns(name, channels, groups, cores)
    each = groups // cores
    # The widest group decides how many tiles every group has.
    tiles = max((group * columns % TILE_SIZE + columns - 1) // TILE_SIZE + 1 for group in range(groups))
    mask = np.full((1, groups, TILE_SIZE, tiles * TILE_SIZE), 1.0 - inside, np.float32)
    for group in range(groups):
        first = group % each * columns % TILE_SIZE
        mask[:, group, :, first : first + columns] = inside
    return Tensor(mask, dtype, None, Layout.TILE)


@checked
def create_group_norm_input_mask(
    num_channel: int, num_groups: int, num_cores_across_channel: int, data_type: DataType
) -> Tensor:
    """Return the group mask, 1 in the group's columns.

    [1, groups, 32, columns], tiled, on the host.

    Raises:
        ParameterError: channels, groups and cores do not divide.
    """
    name = "ttnn.create_group_norm_input_mask"
    return _mask(name, num_channel, num_groups, num_cores_across_channel, data_type, 1.0)


@checked
def create_group_norm_input_negative_mask(
    num_channel: int, num_groups: int, num_cores_across_channel: int, data_type: DataType
) -> Tensor:
    """Return the inverted group mask.

    [1, groups, 32, columns], tiled, on the host.

    Raises:
        ParameterError: channels, groups and cores do not divide.
    """
    name = "ttnn.create_group_norm_input_negative_mask"
    return _mask(name, num_channel, num_groups, num_cores_across_channel, data_type, 0.0)


def create_group_norm_weight_bias_rm(input_tensor: torch.Tensor, num_channels: int, num_cores_x: int) -> torch.Tensor:
    """Return channel weights in rows of 32, zero-padded for every core.

    Shape: [C] -> [1, 1, rows, 32].

    Raises:
        ParameterError: the tensor has not as many channels, or they do not divide among the cores.
    """
    name = "ttnn.create_group_norm_weight_bias_rm"
    _of_kind(name, _WORD, num_channels=num_channels, num_cores_x=num_cores_x)
    if not hasattr(input_tensor, "new_zeros"):
        raise ArgumentError(f"{name}: input_tensor must be torch.Tensor, got {type(input_tensor).__name__}")
    if num_channels < 1 or num_cores_x < 1 or num_channels % num_cores_x or input_tensor.numel() != num_channels:
        raise ParameterError(
            f"{name}: {input_tensor.numel()} elements, {num_channels} channels and {num_cores_x} cores do not fit."
        )
    each = num_channels // num_cores_x
    padded = input_tensor.new_zeros((num_cores_x, -(-each // TILE_SIZE) * TILE_SIZE))
    padded[:, :each] = input_tensor.reshape(num_cores_x, each)
    return padded.reshape(1, 1, -1, TILE_SIZE)


@checked
def create_layer_norm_reciprocals(device: MeshDevice, core_range_set: CoreRangeSet, width: int) -> Tensor:
    """Return 1, 1/2, ... 1/width in float32 per core.

    [cores, width], height sharded in L1.
    """
    name = "ttnn.create_layer_norm_reciprocals"
    _of_kind(name, MeshDevice, device=device)
    _of_kind(name, CoreRangeSet, core_range_set=core_range_set)
    _of_kind(name, _WORD, width=width)
    cores = core_range_set.num_cores()
    if width < 1 or not cores:
        raise ParameterError(f"ttnn.create_layer_norm_reciprocals: width={width} and {cores} cores must be positive.")
    values = np.tile((1.0 / np.arange(1, width + 1)).astype(np.float32), (cores, 1))
    shards = ShardSpec(core_range_set, [1, width], ShardOrientation.ROW_MAJOR)
    place = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, shards)
    return conversion.to_device(Tensor(values, DataType.FLOAT32, None, Layout.ROW_MAJOR), device, memory_config=place)


def _largest_divisor(count: int, limit: int) -> int:
    return next(divisor for divisor in range(min(count, limit), 0, -1) if count % divisor == 0)


def determine_expected_group_norm_sharded_config_and_grid_size(
    *,
    device: MeshDevice,
    num_channels: int,
    num_groups: int,
    input_nhw: int,
    is_height_sharded: bool,
    is_row_major: bool = False,
) -> tuple[MemoryConfig, CoreGrid]:
    """Return group norm's shards and the grid of their cores.

    Pixels divide among all cores, or among one side of the grid while channels divide among the other.

    Raises:
        ParameterError: channels, groups or pixels do not divide.
    """
    name = "ttnn.determine_expected_group_norm_sharded_config_and_grid_size"
    _of_kind(name, MeshDevice, device=device)
    _of_kind(name, _WORD, num_channels=num_channels, num_groups=num_groups, input_nhw=input_nhw)
    if min(num_channels, num_groups, input_nhw) < 1 or num_channels % num_groups or num_channels % TILE_SIZE:
        raise ParameterError(
            f"{name}: {num_channels} channels must be a multiple of {num_groups} groups and of {TILE_SIZE}, and "
            f"{input_nhw} pixels positive."
        )
    grid = device.compute_with_storage_grid_size()
    first, second = (grid.y, grid.x) if is_row_major else (grid.x, grid.y)
    tiles = -(-input_nhw // TILE_SIZE)
    over_pixels = _largest_divisor(tiles, first * second if is_height_sharded else first)
    over_channels = 1
    if not is_height_sharded:
        # Cores get multiples of 8 channels and full groups.
        fits = (
            count
            for count in range(second, 0, -1)
            if num_channels // 8 % count == 0 and num_channels // count % (num_channels // num_groups) == 0
        )
        over_channels = next(fits)
    rows = -(-input_nhw // (over_pixels * TILE_SIZE)) * TILE_SIZE
    columns = num_channels // over_channels
    if is_height_sharded:
        size = (min(first, over_pixels), -(-over_pixels // first))
    else:
        size = (over_channels, over_pixels) if is_row_major else (over_pixels, over_channels)
    strategy = ShardStrategy.HEIGHT if is_height_sharded else ShardStrategy.BLOCK
    by_rows = is_height_sharded or is_row_major
    cores = CoreGrid(x=size[0], y=size[1])
    config = create_sharded_memory_config(
        (1, 1, rows, columns) if is_row_major else (1, 1, columns, rows),
        cores,
        strategy,
        ShardOrientation.ROW_MAJOR if by_rows else ShardOrientation.COL_MAJOR,
        use_height_and_width_as_shard_shape=True,
    )
    return config, cores


def dram_group_norm_params_from_torch(
    torch_params: Any,
    channels_per_device: int,
    groups_per_device: int,
    device: MeshDevice,
    mesh_axis: int | None = None,
    core_grid: CoreGrid | None = None,
    return_mask: bool = True,
    dtype: DataType = DataType.BFLOAT16,
) -> Any:
    """Return channel weights or biases on the device, and the group mask.

    Raises:
        ParameterError: channels are no multiple of 32 and of the groups.
    """
    name = "ttnn.dram_group_norm_params_from_torch"
    _of_kind(name, _WORD, channels_per_device=channels_per_device, groups_per_device=groups_per_device)
    _of_kind(name, MeshDevice, device=device)
    _of_kind(name, DataType, dtype=dtype)
    if core_grid is not None:
        _of_kind(name, CoreGrid, core_grid=core_grid)
    if min(channels_per_device, groups_per_device) < 1 or channels_per_device % TILE_SIZE:
        raise ParameterError(f"{name}: {channels_per_device} channels must be a multiple of {TILE_SIZE}.")
    _columns(name, channels_per_device, groups_per_device, 1)
    cores = core_grid or device.core_grid
    columns = dram_group_norm_virtual_columns(cores, channels_per_device, groups_per_device)
    many = isinstance(torch_params, Sequence)
    given = torch_params if many else [torch_params]
    rows = [create_group_norm_weight_bias_rm(values, channels_per_device, columns) for values in given]
    tensors = [conversion.from_torch(values, dtype=dtype, device=device) for values in rows]
    found = tensors if many else tensors[0]
    if not return_mask:
        return found
    mask = create_group_norm_input_mask(channels_per_device, groups_per_device, columns, dtype)
    return found, conversion.to_device(mask, device)


@checked
def get_group_norm_cores_across_channel(
    memory_layout: TensorMemoryLayout, core_grid: CoreGrid, shard_orientation: ShardOrientation | None = None
) -> int:
    """Return the core count for a group norm's channels.

    Args:
        memory_layout: How the operand is sharded; all cores split the channels of an operand that is not.
        core_grid: The cores.
        shard_orientation: Of blocks: ROW_MAJOR splits over the columns of the grid, any other over its rows.
    """
    name = "ttnn.get_group_norm_cores_across_channel"
    _of_kind(name, TensorMemoryLayout, memory_layout=memory_layout)
    _of_kind(name, CoreGrid, core_grid=core_grid)
    if memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return 1
    if memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        return core_grid.x if shard_orientation is ShardOrientation.ROW_MAJOR else core_grid.y
    return core_grid.x * core_grid.y


def _virtual_columns(columns: int, channels: int, groups: int) -> int:
    """Return the core columns that divide groups and channel tiles; else 0."""
    counts = range(min(columns, groups), 0, -1)
    return next((count for count in counts if groups % count == 0 and channels // count % TILE_SIZE == 0), 0)


def dram_group_norm_virtual_columns(core_grid: CoreGrid, num_channels: int, num_groups: int) -> int:
    """Return the core columns for channels of an interleaved group norm.

    Raises:
        ParameterError: groups and full tiles of channels divide over no number of columns.
    """
    name = "ttnn.operations.normalization.dram_group_norm_virtual_columns"
    _of_kind(name, CoreGrid, core_grid=core_grid)
    _of_kind(name, _WORD, num_channels=num_channels, num_groups=num_groups)
    columns = _virtual_columns(core_grid.x, num_channels, num_groups)
    if not columns:
        raise ParameterError(
            f"{name}: {num_channels} channels in {num_groups} groups divide over none of {core_grid.x} columns.",
            vendor="dram_group_norm_virtual_columns: could not find a valid num_virtual_cols for "
            f"grid_x={core_grid.x}, num_channels={num_channels}, num_groups={num_groups}",
        )
    return columns


@checked
def determine_expected_group_norm_dram_grid_size(
    *, device: MeshDevice, num_channels: int, num_groups: int, input_nhw: int, num_batches: int = 1
) -> CoreGrid:
    """Return the largest grid of a group norm of interleaved operands.

    Groups divide into columns of cores with full tiles of channels; rows of tiles divide into the other cores.

    Args:
        device: Its grid is the largest.
        num_channels: A multiple of 32 and of `num_groups`.
        num_groups: Groups of channels.
        input_nhw: Rows of all images.
        num_batches: Images; rows divide within each of them.

    Raises:
        ParameterError: the numbers do not divide, or no grid fits.
    """
    name = "ttnn.determine_expected_group_norm_dram_grid_size"
    _of_kind(name, MeshDevice, device=device)
    numbers = {"num_channels": num_channels, "num_groups": num_groups, "input_nhw": input_nhw}
    _of_kind(name, _WORD, **numbers, num_batches=num_batches)
    if num_channels % TILE_SIZE or min(*numbers.values(), num_batches) < 1:
        raise ParameterError(f"{name}: {num_channels} channels must be a multiple of {TILE_SIZE}.")
    _columns(name, num_channels, num_groups, 1)
    height = -(-input_nhw // TILE_SIZE)
    grid = device.compute_with_storage_grid_size()
    for x in range(grid.x, 0, -1):
        columns = _virtual_columns(x, num_channels, num_groups)
        # Cores of a row that the columns of channels leave over split rows of tiles.
        each = x // columns if columns else 0
        for y in range(min(height // each, grid.y), 0, -1) if each else ():
            if height % (each * y) == 0:
                return CoreGrid(x=x, y=y)
    raise ParameterError(
        f"{name}: no grid divides {num_channels} channels in {num_groups} groups and {input_nhw} rows.",
        vendor=f"Cannot find a valid DRAM group-norm grid for num_channels={num_channels}",
    )
