"""Enumerations of the fabric, program building and other parts.

Names and numbers are those of ttnn 0.81.1; files and reports store the numbers.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.vendor_enum import VendorEnum

SYSTEMS: Final = (
    "n150",
    "n300",
    "n300_2x2",
    "t3k",
    "galaxy",
    "galaxy_torus",
    "tg",
    "p100",
    "p150",
    "p150_x2",
    "p150_x4",
    "p150_x8",
    "p300",
    "p300_x2",
    "blackhole_galaxy",
)
"""Names of the systems in `device/systems.json`."""


class ChunkGdnWyInverse(VendorEnum):
    """The inversion of the triangular matrix in the chunked gated delta rule."""

    AUTO = 0
    HORNER = 1
    FORWARD_SUBSTITUTION = 2


class ClusterType(VendorEnum):
    """Boards, and machines with several of them."""

    INVALID = 0
    N150 = 1
    N300 = 2
    T3K = 3
    GALAXY = 4
    TG = 5
    P100 = 6
    P150 = 7
    P150_X2 = 8
    P150_X4 = 9
    SIMULATOR_WORMHOLE_B0 = 10
    SIMULATOR_BLACKHOLE = 11
    N300_2x2 = 12
    P150_X8 = 13
    P300 = 14
    SIMULATOR_QUASAR = 15
    BLACKHOLE_GALAXY = 16
    P300_X2 = 17
    CUSTOM = 18


class D2DStageGateMode(VendorEnum):
    """The action of a device-to-device stage gate after a transfer."""

    KeepOpen = 0
    CloseOnTransit = 1


class DataMovementProcessor(VendorEnum):
    """The RISC-V of a data movement kernel."""

    RISCV_0 = 0
    RISCV_1 = 1
    RISCV_2 = 2
    RISCV_3 = 3
    RISCV_4 = 4
    RISCV_5 = 5
    RISCV_6 = 6
    RISCV_7 = 7


class DispatchAlgorithm(VendorEnum):
    """The token routing of mixture-of-experts dispatch."""

    BROADCAST = 0
    SPARSE_UNICAST = 1
    SPARSE_MCAST_LINEAR = 2
    SPARSE_MCAST_SHORTEST_PATH = 3
    SPARSE_MCAST_SPLIT_BW = 4


class DumpTensorMode(VendorEnum):
    """The hosts' parts of a tensor that dump_tensor writes."""

    DISTRIBUTED_GATHER = 0
    LOCAL = 1


class FabricConfig(VendorEnum):
    """Shape of the fabric between chips."""

    DISABLED = 0
    FABRIC_1D = 2
    FABRIC_1D_RING = 3
    FABRIC_1D_NEIGHBOR_EXCHANGE = 1
    FABRIC_2D = 4
    FABRIC_2D_TORUS_XY = 7
    FABRIC_2D_TORUS_X = 5
    FABRIC_2D_TORUS_Y = 6
    CUSTOM = 8


class FabricManagerMode(VendorEnum):
    """The owner of the fabric's start and end."""

    DEFAULT = 3
    ENABLED = 0
    INIT_FABRIC = 1
    TERMINATE_FABRIC = 2


class FabricReliabilityMode(VendorEnum):
    """The fabric's behaviour if links are missing."""

    STRICT_INIT = 0
    RELAXED_INIT = 1
    DYNAMIC_RECONFIG = 2


class FabricTensixConfig(VendorEnum):
    """The use of Tensix cores by the fabric."""

    DISABLED = 0
    MUX = 1


class FabricType(VendorEnum):
    """Wiring of a fabric mesh (bit mask)."""

    MESH = 1
    TORUS_X = 2
    TORUS_Y = 4
    TORUS_XY = 6


class FabricUDMMode(VendorEnum):
    """Unified datamovement mode of the fabric."""

    DISABLED = 0
    ENABLED = 1


class H2DMode(VendorEnum):
    """The side that moves the data of a host-to-device socket."""

    HOST_PUSH = 0
    DEVICE_PULL = 1


class MMSignalAggregatorMode(VendorEnum):
    """The aggregation of a matmul's signals."""

    Auto = 0
    On = 1
    Off = 2


class MoEActivationFunction(VendorEnum):
    """The activation function of experts."""

    SILU = 0
    SWIGLU = 1
    GELU = 2
    CLAMPED_SILU = 3


class McastCoreOrder(VendorEnum):
    """Order in which cores send in a multicast."""

    RowMajor = 0
    ColumnMajor = 1


class McastDataReady(VendorEnum):
    """The signal that multicast data has arrived."""

    Flag = 0
    Counter = 1


class McastSenderPlacement(VendorEnum):
    """The cores that send a multicast."""

    Uniform = 0
    Staggered = 1


class NOC(VendorEnum):
    """NoC of a data movement kernel."""

    RISCV_0_default = 0
    RISCV_1_default = 1
    NOC_0 = 0
    NOC_1 = 1


class NOC_MODE(VendorEnum):  # noqa: N801 - the official name
    """The ownership of a kernel's NoC."""

    DM_DEDICATED_NOC = 0
    DM_DYNAMIC_NOC = 1


class RGBRange(VendorEnum):
    """Range of RGB values."""

    MinusOneToOne = 0
    ZeroToOne = 1


class RoutedExpertActivation(VendorEnum):
    """Activation of a routed expert."""

    Silu = 0
    SwiGluOai = 1
    SituGlu = 2
    ClampedSiluGlu = 3


class SocketEndpoint(VendorEnum):
    """End of a socket."""

    SENDER = 0
    RECEIVER = 1


class SparseKVFormat(VendorEnum):
    """Format of a sparse key-value cache."""

    BF16 = 0
    FP8_E4M3 = 1
    SCALED_FP8 = 2


class TileReshapeMapMode(VendorEnum):
    """The caching of a tiled reshape's map."""

    CACHE = 0
    RECREATE = 1


class Topology(VendorEnum):
    """Wiring that a collective operator assumes."""

    Ring = 2
    Linear = 1
    Mesh = 3
    Torus = 4


class TransferMode(VendorEnum):
    """The method of sending a multicast to an irregular set."""

    Multicast = 0
    ChainUnicast = 1


class UnpackToDestMode(VendorEnum):
    """A CB's unpack mode: FP32 Dst, or SrcA and SrcB."""

    UnpackToDestFp32 = 0
    Default = 1


class WorkerMode(VendorEnum):
    """The forwarding of tokens by a fabric worker."""

    DIRECT = 0
    MUX_TOKEN_SPLIT = 1
    MUX_PAYLOAD_SPLIT = 2


class YUVColorSpace(VendorEnum):
    """Standard of a YUV conversion."""

    BT601 = 0
    BT709 = 1
    BT2020 = 2


class YUVFormat(VendorEnum):
    """Layout of YUV planes."""

    YUV420Planar = 0


class YUVRange(VendorEnum):
    """Range of YUV values."""

    Full = 0
    Limited = 1
