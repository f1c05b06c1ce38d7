"""From the public classes (specifications and configurations) to the plain data of `model`, and back."""

from __future__ import annotations

from typing import Any

from ttnn.base.activation import UnaryWithParam
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import MathFidelity, ShardOrientation, ThrottleLevel, UnaryOpType
from ttnn.base.exceptions import ProgramConfigError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.program_config import (
    MatmulMultiCoreReuseMultiCast1DProgramConfig,
    MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig,
    MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig,
    MatmulMultiCoreReuseMultiCastProgramConfig,
    MatmulMultiCoreReuseProgramConfig,
)
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile

from .data import (
    FULL_TILE,
    Activation,
    ComputeConfig,
    CoreBox,
    Cores,
    Kind,
    Operand,
    Placement,
    ProgramConfig,
    Shard,
    TileShape,
)

AnyProgramConfig = (
    MatmulMultiCoreReuseProgramConfig
    | MatmulMultiCoreReuseMultiCastProgramConfig
    | MatmulMultiCoreReuseMultiCast1DProgramConfig
    | MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig
    | MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig
)

# What `activation="..."` may say. The sigmoid's first parameter is the part of the tile it works on (4: all of it).
_NAMED_ACTIVATIONS = {
    name.lower(): Activation(op)
    for name, op in UnaryOpType.__members__.items()
    if name
    in {"RELU", "RELU6", "SILU", "SQRT", "RECIP", "LOG", "LOG1P", "TANH", "LOG2", "LOG10", "SIN", "COS", "ABS", "SIGN"}
    | {"SQUARE", "SOFTPLUS", "SELU", "HARDTANH", "HARDSIGMOID"}
} | {
    "gelu": Activation(UnaryOpType.GELU, (0.0,)),
    "gelu_approx": Activation(UnaryOpType.GELU, (1.0,)),
    "sigmoid": Activation(UnaryOpType.SIGMOID, (4.0, 0.0)),
    "sigmoid_approx": Activation(UnaryOpType.SIGMOID, (4.0, 1.0)),
    "exp": Activation(UnaryOpType.EXP, (0.0,)),
    "reciprocal": Activation(UnaryOpType.RECIP),
}


def core_boxes(cores: CoreRangeSet) -> Cores:
    """Return a set of cores as rectangles."""
    return tuple(CoreBox(r.start.x, r.start.y, r.end.x, r.end.y) for r in cores.ranges())


def core_range_set(cores: Cores) -> CoreRangeSet:
    """Return rectangles of cores as a set."""
    return CoreRangeSet([CoreRange(CoreCoord(box.x0, box.y0), CoreCoord(box.x1, box.y1)) for box in cores])


def placement_of(config: MemoryConfig, tile: TileShape = FULL_TILE) -> Placement:
    """Return a memory configuration as plain data, for a tensor with such tiles."""
    spec = config.shard_spec
    shard = None
    if spec is not None:
        height, width = spec.shape
        shard = Shard(height, width, core_boxes(spec.grid), spec.orientation is ShardOrientation.COL_MAJOR, tile)
    return Placement(config.memory_layout, config.buffer_type, shard)


def memory_config_of(placement: Placement) -> MemoryConfig:
    """Return the memory configuration of a placement."""
    shard = placement.shard
    if shard is None:
        return MemoryConfig(placement.layout, placement.buffer)
    orientation = ShardOrientation.COL_MAJOR if shard.col_major else ShardOrientation.ROW_MAJOR
    return MemoryConfig(
        placement.layout,
        placement.buffer,
        ShardSpec(core_range_set(shard.cores), (shard.height, shard.width), orientation),
    )


def operand_of(spec: TensorSpec) -> Operand:
    """Return a tensor specification as plain data."""
    height, width = spec.tile.tile_shape
    return Operand(
        tuple(spec.shape),
        tuple(spec.padded_shape),
        spec.dtype,
        spec.layout,
        placement_of(spec.memory_config, (height, width)),
        (height, width),
    )


def spec_of(operand: Operand) -> TensorSpec:
    """Return the specification of a result.

    Raises:
        MemoryConfigError: its shards do not fit its shape or cores.
    """
    memory_config = memory_config_of(operand.placement)
    return TensorSpec.of(operand.shape, operand.dtype, operand.layout, memory_config, Tile(operand.tile))


def activation_of(
    activation: str | UnaryWithParam | UnaryOpType | tuple[UnaryOpType, float] | None,
) -> Activation | None:
    """Return an activation as plain data.

    Raises:
        ProgramConfigError: a name that matmul does not know.
    """
    if activation is None:
        return None
    if isinstance(activation, str):
        named = _NAMED_ACTIVATIONS.get(activation)
        if named is None:
            raise ProgramConfigError(
                f"ttnn.matmul: activation={activation!r}; known are {', '.join(sorted(_NAMED_ACTIVATIONS))}.",
                vendor=f"Unknown unary op: {activation}",
            )
        return named
    if not isinstance(activation, UnaryWithParam):
        activation = UnaryWithParam(activation)
    return Activation(activation.op_type, tuple(activation.params))


def compute_config_of(config: WormholeComputeKernelConfig) -> ComputeConfig:
    """Return a given compute configuration as plain data.

    Raises:
        UnsupportedError: without a fidelity, or with throttling.
    """
    if config.math_fidelity is MathFidelity.Invalid:
        raise UnsupportedError(
            "ttnn.matmul: compute_kernel_config without math_fidelity: the official package accepts it and the bits "
            "are "
            "undefined. Set math_fidelity to LoFi, HiFi2, HiFi3 or HiFi4."
        )
    if config.throttle_level is not ThrottleLevel.NO_THROTTLE:
        raise UnsupportedError(
            f"ttnn.matmul: compute_kernel_config.throttle_level={config.throttle_level} changes only the time of a "
            "matmul, "
            "which is not modelled."
        )
    return ComputeConfig(
        config.math_fidelity,
        config.math_approx_mode,
        config.fp32_dest_acc_en,
        config.packer_l1_acc,
        config.dst_full_sync_en,
    )


def program_config_of(config: AnyProgramConfig) -> ProgramConfig:
    """Return a given program configuration as plain data."""
    per_core: dict[str, Any] = {
        "in0_block_w": config.in0_block_w,
        "per_core_m": config.per_core_M,
        "per_core_n": config.per_core_N,
    }
    if isinstance(
        config,
        MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig
        | MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig,
    ):
        batched = isinstance(config, MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig)
        return ProgramConfig(
            Kind.BATCHED_DRAM_SHARDED if batched else Kind.DRAM_SHARDED,
            fused_activation=activation_of(config.fused_activation),
            unmodelled=_changed(config, num_workers_per_dram_bank=1),
            **per_core,
        )
    grid = config.compute_with_storage_grid_size
    common: dict[str, Any] = {
        "grid": (grid.x, grid.y),
        "out_subblock_h": config.out_subblock_h,
        "out_subblock_w": config.out_subblock_w,
        **per_core,
    }
    if isinstance(config, MatmulMultiCoreReuseProgramConfig):
        return ProgramConfig(Kind.REUSE, unmodelled=_changed(config, allowed_worker_cores=None), **common)
    common |= {
        "out_block_h": config.per_core_M if config.out_block_h is None else config.out_block_h,
        "out_block_w": config.per_core_N if config.out_block_w is None else config.out_block_w,
        "fused_activation": activation_of(config.fused_activation),
        "fuse_batch": config.fuse_batch,
    }
    if isinstance(config, MatmulMultiCoreReuseMultiCastProgramConfig):
        return ProgramConfig(
            Kind.MCAST_2D,
            transpose_mcast=config.transpose_mcast,
            unmodelled=_changed(config, allowed_worker_cores=None),
            **common,
        )
    return ProgramConfig(
        Kind.MCAST_1D,
        mcast_in0=config.mcast_in0,
        gather_in0=config.gather_in0,
        untilize_out=config.untilize_out,
        unmodelled=_changed(
            config, allowed_worker_cores=None, hop_cores=CoreRangeSet(), num_global_cb_receivers=1, stream_in1=False
        ),
        **common,
    )


def _changed(config: AnyProgramConfig, **defaults: object) -> tuple[str, ...]:
    """Return the names of the options that do not have their default."""
    return tuple(name for name, value in defaults.items() if getattr(config, name, value) != value)
