"""Data types, layouts and other enumerations, with the official numbers.

Names and numbers are those of ttnn 0.81.1; files and reports store the numbers. Enumerations of operators are in
`op_enums`, those of the fabric and of program building in `system_enums`; all are re-exported here.
"""

from __future__ import annotations

from ttnn.base.op_enums import (
    BcastOpDim,
    BcastOpMath,
    BinaryOpType,
    DistributedLayerNormStage,
    EmbeddingsType,
    GeluVariant,
    LayerNormType,
    LossReductionMode,
    MorehSoftmaxBackwardOp,
    MorehSoftmaxBackwardOpParallelizationStrategy,
    MorehSoftmaxOp,
    MorehSoftmaxOpParallelizationStrategy,
    PaddingMode,
    ReduceType,
    SigmoidMode,
    UnaryOpType,
)
from ttnn.base.system_enums import (
    NOC,
    NOC_MODE,
    ChunkGdnWyInverse,
    D2DStageGateMode,
    DataMovementProcessor,
    DispatchAlgorithm,
    DumpTensorMode,
    FabricConfig,
    FabricManagerMode,
    FabricReliabilityMode,
    FabricTensixConfig,
    FabricType,
    FabricUDMMode,
    H2DMode,
    McastCoreOrder,
    McastDataReady,
    McastSenderPlacement,
    MMSignalAggregatorMode,
    RGBRange,
    RoutedExpertActivation,
    SocketEndpoint,
    SparseKVFormat,
    TileReshapeMapMode,
    Topology,
    TransferMode,
    UnpackToDestMode,
    WorkerMode,
    YUVColorSpace,
    YUVFormat,
    YUVRange,
)
from ttnn.base.vendor_enum import VendorEnum

__all__ = [
    "DEVICE_STORAGE_TYPE",
    "NOC",
    "NOC_MODE",
    "ROW_MAJOR_LAYOUT",
    "TILE_LAYOUT",
    "TILE_SIZE",
    "Arch",
    "BcastOpDim",
    "BcastOpMath",
    "BinaryOpType",
    "BufferType",
    "ChunkGdnWyInverse",
    "CoreType",
    "D2DStageGateMode",
    "DataMovementProcessor",
    "DataType",
    "DispatchAlgorithm",
    "DispatchCoreAxis",
    "DispatchCoreType",
    "DistributedLayerNormStage",
    "DumpTensorMode",
    "EmbeddingsType",
    "FabricConfig",
    "FabricManagerMode",
    "FabricReliabilityMode",
    "FabricTensixConfig",
    "FabricType",
    "FabricUDMMode",
    "GeluVariant",
    "H2DMode",
    "LayerNormType",
    "Layout",
    "LossReductionMode",
    "MMSignalAggregatorMode",
    "MathFidelity",
    "McastCoreOrder",
    "McastDataReady",
    "McastSenderPlacement",
    "MorehSoftmaxBackwardOp",
    "MorehSoftmaxBackwardOpParallelizationStrategy",
    "MorehSoftmaxOp",
    "MorehSoftmaxOpParallelizationStrategy",
    "PaddingMode",
    "RGBRange",
    "ReduceType",
    "RoutedExpertActivation",
    "ShardDistributionStrategy",
    "ShardOrientation",
    "ShardShapeAlignment",
    "ShardStrategy",
    "SigmoidMode",
    "SocketEndpoint",
    "SparseKVFormat",
    "StorageType",
    "TensorMemoryLayout",
    "ThrottleLevel",
    "TileReshapeMapMode",
    "Topology",
    "TransferMode",
    "UnaryOpType",
    "UnpackToDestMode",
    "WorkerMode",
    "YUVColorSpace",
    "YUVFormat",
    "YUVRange",
    "bfloat4_b",
    "bfloat8_b",
    "bfloat16",
    "float32",
    "fp8_e4m3",
    "int8",
    "int32",
    "uint8",
    "uint16",
    "uint32",
]


class Arch(VendorEnum):
    """Generation of the chip."""

    WORMHOLE_B0 = 2
    BLACKHOLE = 3
    QUASAR = 4


class BufferType(VendorEnum):
    """Kind of memory that a buffer lives in."""

    DRAM = 0
    L1 = 1
    L1_SMALL = 3
    TRACE = 4


class CoreType(VendorEnum):
    """The kind of node at a NoC coordinate."""

    ARC = 0
    DRAM = 1
    ACTIVE_ETH = 2
    IDLE_ETH = 3
    PCIE = 4
    TENSIX = 5
    ROUTER_ONLY = 6
    SECURITY = 7
    L2CPU = 8
    DISPATCH = 9
    HARVESTED = 10
    ETH = 11
    WORKER = 12
    COUNT = 13
    UNSPECIFIED = 14


class DataType(VendorEnum):
    """Element type of a tensor."""

    BFLOAT16 = 0
    FLOAT32 = 1
    UINT32 = 2
    BFLOAT8_B = 3
    BFLOAT4_B = 4
    UINT8 = 5
    UINT16 = 6
    INT32 = 7
    FP8_E4M3 = 8
    INT8 = 9
    INVALID = 10


class DispatchCoreAxis(VendorEnum):
    """The grid axis whose cores run dispatch."""

    ROW = 0
    COL = 1


class DispatchCoreType(VendorEnum):
    """The type of core that runs dispatch."""

    WORKER = 0
    ETH = 1


class Layout(VendorEnum):
    """Order of the elements of a tensor."""

    ROW_MAJOR = 0
    TILE = 1
    INVALID = 2


class MathFidelity(VendorEnum):
    """The number of passes over mantissa parts in the FPU."""

    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4
    Invalid = 255


class ShardDistributionStrategy(VendorEnum):
    """The distribution of n-dimensional shards over cores."""

    ROUND_ROBIN_1D = 0
    GRID_2D = 1
    CONTIGUOUS_1D = 2


class ShardOrientation(VendorEnum):
    """Order in which shards are assigned to the cores of a grid."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


class ShardShapeAlignment(VendorEnum):
    """The alignment of a shard shape: required, recommended or none."""

    NONE = 0
    REQUIRED = 1
    RECOMMENDED = 2


class ShardStrategy(VendorEnum):
    """The dimensions that `create_sharded_memory_config` shards."""

    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


class StorageType(VendorEnum):
    """The location of a tensor: host or device."""

    HOST = 0
    DEVICE = 1


class TensorMemoryLayout(VendorEnum):
    """The distribution of a tensor's pages over banks."""

    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4
    ND_SHARDED = 5


class ThrottleLevel(VendorEnum):
    """The reduction of a matmul's speed to save power."""

    NO_THROTTLE = 0
    LEVEL_1 = 1
    LEVEL_2 = 2
    LEVEL_3 = 3
    LEVEL_4 = 4
    LEVEL_5 = 5


bfloat16 = DataType.BFLOAT16
bfloat8_b = DataType.BFLOAT8_B
bfloat4_b = DataType.BFLOAT4_B
float32 = DataType.FLOAT32
uint8 = DataType.UINT8
int8 = DataType.INT8
uint16 = DataType.UINT16
uint32 = DataType.UINT32
int32 = DataType.INT32
fp8_e4m3 = DataType.FP8_E4M3

ROW_MAJOR_LAYOUT = Layout.ROW_MAJOR
TILE_LAYOUT = Layout.TILE
TILE_SIZE = 32
DEVICE_STORAGE_TYPE = StorageType.DEVICE

FORMAT_CODE: dict[DataType, int] = {
    DataType.FLOAT32: 0,
    DataType.BFLOAT16: 5,
    DataType.BFLOAT8_B: 6,
    DataType.BFLOAT4_B: 7,
    DataType.INT32: 8,
    DataType.UINT16: 9,
    DataType.INT8: 14,
    DataType.UINT32: 24,
    DataType.FP8_E4M3: 26,
    DataType.UINT8: 30,
}
"""The engine's number of each element type: the chip's data format."""

BLOCK_FLOATS = frozenset({DataType.BFLOAT8_B, DataType.BFLOAT4_B})
"""Block float types: one exponent per 16 values.

They are values of a face row, and exist in tiles only.
"""

ELEMENT_BYTES: dict[DataType, int] = {
    DataType.FLOAT32: 4,
    DataType.BFLOAT16: 2,
    DataType.BFLOAT8_B: 1,
    DataType.BFLOAT4_B: 1,
    DataType.INT32: 4,
    DataType.UINT16: 2,
    DataType.INT8: 1,
    DataType.UINT32: 4,
    DataType.FP8_E4M3: 1,
    DataType.UINT8: 1,
}
"""Values of `Tensor.element_size`, in bytes.

1 for block floats, as in the official package.
"""
