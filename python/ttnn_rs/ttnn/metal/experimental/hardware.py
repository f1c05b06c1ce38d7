"""Settings of the units that a kernel of a `KernelSpec` controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ttnn.base.enums import NOC, NOC_MODE, DataMovementProcessor, MathFidelity
from ttnn.base.vendor_enum import VendorEnum

__all__ = [
    "ComputeHardwareConfig",
    "CreateReaderGen1DataMovementConfig",
    "CreateWriterGen1DataMovementConfig",
    "DataMovementHardwareConfig",
    "Precision",
    "UnpackMode",
    "create_reader_datamovement_config",
    "create_writer_datamovement_config",
]


class UnpackMode(VendorEnum):
    """Unpack destination: SrcA and SrcB, or Dst with all bits."""

    UnpackToSrc = 0
    UnpackToDest = 1


class Precision(VendorEnum):
    """Preference for accuracy or speed."""

    Approximate = 0
    Precise = 1


@dataclass(kw_only=True)
class DataMovementHardwareConfig:
    """Configuration of a data movement kernel. Wormhole and Blackhole need `config_1xx`.

    Attributes:
        config_1xx: Processor and network.
        config_2xx: Ignored: it is for later chips.
    """

    @dataclass(kw_only=True)
    class DataMovement1XXConfig:
        """Processor and network on Wormhole and Blackhole.

        Attributes:
            processor: RISCV_0 (BRISC) or RISCV_1 (NCRISC).
            noc: The kernel's default NoC.
            noc_mode: Whether the two kernels of a core keep to a network each, or may share.
        """

        processor: DataMovementProcessor
        noc: NOC
        noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC

    @dataclass(kw_only=True)
    class DataMovement2XXConfig:
        """Implicit synchronisation on later chips."""

        disable_dfb_implicit_sync_for: list[str] = field(default_factory=list)
        disable_dfb_implicit_sync_for_all: bool = False

    config_1xx: DataMovement1XXConfig | None = None
    config_2xx: DataMovement2XXConfig | None = None


def create_reader_datamovement_config(arch: object = None) -> DataMovementHardwareConfig:
    """Return the usual settings of a reader: NCRISC and NoC 0."""
    config = DataMovementHardwareConfig.DataMovement1XXConfig(
        processor=DataMovementProcessor.RISCV_1, noc=NOC.RISCV_0_default
    )
    return DataMovementHardwareConfig(config_1xx=config)


def create_writer_datamovement_config(arch: object = None) -> DataMovementHardwareConfig:
    """Return the usual settings of a writer: BRISC and NoC 1."""
    config = DataMovementHardwareConfig.DataMovement1XXConfig(
        processor=DataMovementProcessor.RISCV_0, noc=NOC.RISCV_1_default
    )
    return DataMovementHardwareConfig(config_1xx=config)


CreateReaderGen1DataMovementConfig = create_reader_datamovement_config
CreateWriterGen1DataMovementConfig = create_writer_datamovement_config


@dataclass(kw_only=True)
class ComputeHardwareConfig:
    """Configuration of a compute kernel.

    Attributes:
        fpu_math_fidelity: Passes over mantissa parts.
        sfpu_precision_mode: Seen by kernels as the define `MATH_APPROX`.
        enable_32_bit_dest: Dst holds 32-bit datums, and half as many tiles.
        double_buffer_dest: Math and pack alternate on the halves of Dst; else they share all of it.
        unpack_modes: By the names of dataflow buffers that the kernel consumes; `UnpackToSrc` for others.
        config_1xx: Settings that only Wormhole and Blackhole have.
        config_2xx: Ignored: it is for later chips.
    """

    @dataclass(kw_only=True)
    class Compute1XXConfig:
        """Settings on Wormhole and Blackhole.

        Attributes:
            bfp_pack_precision_mode: `Precise` packs block floats from the full datum.
            enable_trisc2_rvv: Only False: Wormhole's packer core has no vector extension.
        """

        bfp_pack_precision_mode: Precision = Precision.Approximate
        enable_trisc2_rvv: bool = False

    @dataclass(kw_only=True)
    class Compute2XXConfig:
        """Settings on later chips."""

        enable_trisc0_rvv: bool = False

    fpu_math_fidelity: MathFidelity = MathFidelity.HiFi4
    sfpu_precision_mode: Precision = Precision.Precise
    enable_32_bit_dest: bool = False
    double_buffer_dest: bool = True
    unpack_modes: Mapping[str, UnpackMode] = field(default_factory=dict)
    config_1xx: Compute1XXConfig | None = None
    config_2xx: Compute2XXConfig | None = None
