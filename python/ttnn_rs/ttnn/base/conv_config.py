"""Configurations of convolutions and sliding-window operators, as plain values.

What an operator does with one is the operator's business.
Source: TT-NN docs, the classes of the same names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import DataType, Layout, PaddingMode, ShardOrientation, TensorMemoryLayout
from ttnn.base.program_config import KINDS, ConfigValue
from ttnn.base.vendor_enum import VendorEnum

__all__ = [
    "Conv1dConfig",
    "Conv2dConfig",
    "Conv2dDRAMSliceHeight",
    "Conv2dDRAMSliceWidth",
    "Conv2dL1Full",
    "Conv2dL1FullSliceConfig",
    "Conv2dSliceConfig",
    "Conv3dConfig",
    "Op2DDRAMSliceHeight",
    "Op2DDRAMSliceWidth",
    "Op2DL1Full",
    "Op2DL1FullSliceConfig",
    "Op2DSliceConfig",
    "SlidingWindowParallelConfig",
]


@dataclass(kw_only=True, unsafe_hash=True)
class Conv2dConfig(ConfigValue):
    """Sharding, blocking and buffering of a 2D convolution."""

    weights_dtype: DataType | None = None
    activation: UnaryWithParam | None = None
    deallocate_activation: bool = False
    reallocate_halo_output: bool = True
    config_tensors_in_dram: bool = False
    act_block_h_override: int = 0
    act_block_w_div: int = 1
    reshard_if_not_optimal: bool = False
    override_sharding_config: bool = False
    shard_layout: TensorMemoryLayout | None = None
    core_grid: CoreRangeSet | None = None
    transpose_shards: bool = False
    output_layout: Layout = Layout.TILE
    enable_act_double_buffer: bool = False
    enable_weights_double_buffer: bool = False
    full_inner_dim: bool = False
    enable_kernel_stride_folding: bool | None = None
    enable_activation_reuse: bool = False
    force_split_reader: bool | None = None
    override_output_sharding_config: bool = False
    padding_mode: PaddingMode = PaddingMode.Zeros


Conv1dConfig = Conv2dConfig


class _SliceTypeEnum(VendorEnum):
    """The output dimension that is sliced, or L1_FULL for none."""

    DRAMSliceHeight = 0
    DRAMSliceWidth = 1
    L1Full = 2


_SliceTypeEnum.__name__ = "SliceTypeEnum"
_SliceTypeEnum.__qualname__ = "Op2DSliceConfig.SliceTypeEnum"
KINDS["_SliceTypeEnum"] = (_SliceTypeEnum,)


@dataclass(kw_only=True, unsafe_hash=True)
class Op2DSliceConfig(ConfigValue):
    """Slices of a convolution or pooling that pass L1 in turn.

    0 slices selects the number automatically.
    """

    SliceTypeEnum = _SliceTypeEnum

    slice_type: _SliceTypeEnum
    num_slices: int = 0


Conv2dSliceConfig = Op2DSliceConfig
Conv2dDRAMSliceHeight: Final = _SliceTypeEnum.DRAMSliceHeight
Conv2dDRAMSliceWidth: Final = _SliceTypeEnum.DRAMSliceWidth
Conv2dL1Full: Final = _SliceTypeEnum.L1Full
Conv2dL1FullSliceConfig: Final = Op2DSliceConfig(slice_type=Conv2dL1Full)
Op2DDRAMSliceHeight: Final = Conv2dDRAMSliceHeight
Op2DDRAMSliceWidth: Final = Conv2dDRAMSliceWidth
Op2DL1Full: Final = Conv2dL1Full
Op2DL1FullSliceConfig: Final = Conv2dL1FullSliceConfig


@dataclass(kw_only=True, unsafe_hash=True)
class Conv3dConfig(ConfigValue):
    """Blocks of a 3D convolution.

    A block of 0 channels has all of them.
    """

    weights_dtype: DataType = DataType.BFLOAT16
    output_layout: Layout = Layout.ROW_MAJOR
    T_out_block: int = 1
    W_out_block: int = 1
    H_out_block: int = 1
    C_out_block: int = 0
    C_in_block: int = 0
    dilation: list[int] = field(default_factory=lambda: [1, 1, 1], hash=False)
    alignment: int = 32
    compute_with_storage_grid_size: CoreCoord = field(default_factory=lambda: CoreCoord(1, 1))
    enable_fp32_operand_split: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field. A tuple of integers becomes a list."""
        super().__setattr__(name, list(value) if name == "dilation" and isinstance(value, tuple) else value)


@dataclass(kw_only=True, unsafe_hash=True)
class SlidingWindowParallelConfig(ConfigValue):
    """The cores and shards of a convolution or pooling."""

    grid: CoreRangeSet
    shard_scheme: TensorMemoryLayout
    shard_orientation: ShardOrientation
