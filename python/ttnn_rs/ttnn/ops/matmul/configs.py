"""Program and compute configurations as plain data, with conversions.

The public classes are converted.

Sizes named after a program configuration are in tiles. Fields that a family does not have keep their defaults.

Source: TT-NN docs, "matmul program configurations".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ttnn.base.activation import UnaryWithParam
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import MathFidelity, ThrottleLevel, UnaryOpType
from ttnn.base.exceptions import ProgramConfigError, UnsupportedError
from ttnn.base.program_config import (
    MatmulMultiCoreReuseMultiCast1DProgramConfig,
    MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig,
    MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig,
    MatmulMultiCoreReuseMultiCastProgramConfig,
    MatmulMultiCoreReuseProgramConfig,
)


@dataclass(frozen=True)
class Activation:
    """A unary operator with its parameters, as `UnaryWithParam` holds it."""

    op: UnaryOpType
    params: tuple[float, ...] = ()


@dataclass(frozen=True)
class ComputeConfig:
    """The compute kernel configuration in force."""

    fidelity: MathFidelity
    approx: bool
    fp32: bool
    l1_acc: bool
    full_sync: bool = False

    @property
    def dst_tiles(self) -> int:
        """Largest number of tiles in a subblock.

        Full sync would allow twice as many; the official check does not.
        """
        return 4 if self.fp32 else 8

    def __str__(self) -> str:
        return (
            f"{self.fidelity.name}, Dst {32 if self.fp32 else 16} bit, packer_l1_acc={self.l1_acc}, "
            f"math_approx_mode={self.approx}, dst_full_sync_en={self.full_sync}"
        )


class Kind(Enum):
    """The program families. The value is the name of the program configuration."""

    MULTI_CORE = "MatmulMultiCoreProgramConfig"
    REUSE = "MatmulMultiCoreReuseProgramConfig"
    MCAST_2D = "MatmulMultiCoreReuseMultiCastProgramConfig"
    MCAST_1D = "MatmulMultiCoreReuseMultiCast1DProgramConfig"
    DRAM_SHARDED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
    BATCHED_DRAM_SHARDED = "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig"


FACTORIES = {
    Kind.MULTI_CORE: "MatmulMultiCoreProgramFactory",
    Kind.REUSE: "MatmulMultiCoreReuseOptimizedProgramFactory",
    Kind.MCAST_2D: "MatmulMultiCoreReuseMcast2DProgramFactory",
    Kind.MCAST_1D: "MatmulMultiCoreReuseMcast1DProgramFactory",
    Kind.DRAM_SHARDED: "MatmulMultiCoreReuseMultiCastDRAMShardedProgramFactory",
    Kind.BATCHED_DRAM_SHARDED: "MatmulMultiCoreReuseBatchedHSDRAMShardedProgramFactory",
}
"""Official program factory names, for reports compared with the official ones."""


@dataclass(frozen=True)
class ProgramConfig:
    """One program configuration of any family.

    Fields that a family does not have keep their defaults.
    """

    kind: Kind
    grid: tuple[int, int] = (0, 0)
    in0_block_w: int = 0
    out_subblock_h: int = 0
    out_subblock_w: int = 0
    out_block_h: int = 0
    out_block_w: int = 0
    per_core_m: int = 0
    per_core_n: int = 0
    transpose_mcast: bool = False
    fuse_batch: bool = False
    mcast_in0: bool = False
    gather_in0: bool = False
    untilize_out: bool = False
    fused_activation: Activation | None = None
    last_core: tuple[int, int] | None = None
    """Right lower corner of the allowed cores, if there are any."""
    unmodelled: tuple[str, ...] = ()
    """Options that were given and that this package does not model."""

    def fields(self) -> dict[str, object]:
        """Return the family's fields, in constructor order."""
        blocks: dict[str, object] = {"in0_block_w": self.in0_block_w}
        subblocks = {"out_subblock_h": self.out_subblock_h, "out_subblock_w": self.out_subblock_w}
        out_blocks = {"out_block_h": self.out_block_h, "out_block_w": self.out_block_w}
        per_core = {"per_core_M": self.per_core_m, "per_core_N": self.per_core_n}
        activation = {"fused_activation": self.fused_activation.op.name if self.fused_activation else None}
        if self.kind is Kind.MULTI_CORE:
            return {}
        if self.kind in (Kind.DRAM_SHARDED, Kind.BATCHED_DRAM_SHARDED):
            return {**blocks, **per_core, **(activation if self.fused_activation else {})}
        result: dict[str, object] = {"grid": list(self.grid), **blocks, **subblocks}
        if self.kind is Kind.REUSE:
            return {**result, **per_core}
        result |= {**out_blocks, **per_core}
        if self.kind is Kind.MCAST_2D:
            result |= {"transpose_mcast": self.transpose_mcast, "fuse_batch": self.fuse_batch}
        else:
            result |= {
                "fuse_batch": self.fuse_batch,
                "mcast_in0": self.mcast_in0,
                "gather_in0": self.gather_in0,
                "untilize_out": self.untilize_out,
            }
        return {**result, **activation}

    def __str__(self) -> str:
        return f"{self.kind.value}(" + ", ".join(f"{name}={value}" for name, value in self.fields().items()) + ")"


AnyProgramConfig = (
    MatmulMultiCoreReuseProgramConfig
    | MatmulMultiCoreReuseMultiCastProgramConfig
    | MatmulMultiCoreReuseMultiCast1DProgramConfig
    | MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig
    | MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig
)


# Values of `activation="..."`. The sigmoid's first parameter is the part of the tile it works on (4: all of it).
_NAMED_ACTIVATIONS = {
    name.lower(): Activation(op)
    for name, op in UnaryOpType.__members__.items()
    if name
    in {"RELU", "RELU6", "SILU", "SQRT", "RECIP", "LOG1P", "TANH", "LOG2", "LOG10", "SIN", "COS", "ABS", "SIGN"}
    | {"SQUARE", "SOFTPLUS", "SELU", "HARDTANH", "HARDSIGMOID", "MISH"}
} | {
    "gelu": Activation(UnaryOpType.GELU, (0.0,)),
    "gelu_approx": Activation(UnaryOpType.GELU, (1.0,)),
    "sigmoid": Activation(UnaryOpType.SIGMOID, (4.0, 0.0)),
    "sigmoid_approx": Activation(UnaryOpType.SIGMOID, (4.0, 1.0)),
    # A name alone selects the fast functions of these.
    "exp": Activation(UnaryOpType.EXP, (1.0,)),
    "log": Activation(UnaryOpType.LOG, (1.0,)),
    "reciprocal": Activation(UnaryOpType.RECIP),
}


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
    common: dict[str, Any] = {
        **_grid(config.compute_with_storage_grid_size, config.allowed_worker_cores),
        "out_subblock_h": config.out_subblock_h,
        "out_subblock_w": config.out_subblock_w,
        **per_core,
    }
    if isinstance(config, MatmulMultiCoreReuseProgramConfig):
        return ProgramConfig(Kind.REUSE, **common)
    common |= {
        "out_block_h": config.per_core_M if config.out_block_h is None else config.out_block_h,
        "out_block_w": config.per_core_N if config.out_block_w is None else config.out_block_w,
        "fused_activation": activation_of(config.fused_activation),
        "fuse_batch": config.fuse_batch,
    }
    if isinstance(config, MatmulMultiCoreReuseMultiCastProgramConfig):
        return ProgramConfig(Kind.MCAST_2D, transpose_mcast=config.transpose_mcast, **common)
    return ProgramConfig(
        Kind.MCAST_1D,
        mcast_in0=config.mcast_in0,
        gather_in0=config.gather_in0,
        untilize_out=config.untilize_out,
        unmodelled=_changed(config, hop_cores=CoreRangeSet(), num_global_cb_receivers=1, stream_in1=False),
        **common,
    )


def _grid(grid: CoreCoord, allowed: CoreRangeSet | None) -> dict[str, Any]:
    """Return the core grid, as large as the allowed cores.

    Raises:
        ProgramConfigError: the allowed cores are no rectangle.
    """
    if allowed is None:
        return {"grid": (grid.x, grid.y)}
    if allowed.empty():
        raise ProgramConfigError(
            "ttnn.matmul: allowed_worker_cores is empty.", vendor="allowed_worker_cores must be non-empty!"
        )
    box = allowed.bounding_box()
    size = box.grid_size()
    if size.x * size.y != allowed.num_cores():
        raise ProgramConfigError(
            f"ttnn.matmul: allowed_worker_cores must be a rectangle, got {allowed}.",
            vendor=f"allowed_worker_cores must form a dense rectangle (got {allowed.num_cores()} cores in a "
            f"{size} bounding box)",
        )
    return {"grid": (size.x, size.y), "last_core": (box.end.x, box.end.y)}


def _changed(config: AnyProgramConfig, **defaults: object) -> tuple[str, ...]:
    """Return the names of the options that do not have their default."""
    return tuple(name for name, value in defaults.items() if getattr(config, name, value) != value)
