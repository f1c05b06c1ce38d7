"""Official module: enumerations, and the classes that it re-exports."""

from __future__ import annotations

from ttnn.base.activation import UnaryWithParam as UnaryWithParam
from ttnn.base.compute_config import BlackholeComputeKernelConfig as BlackholeComputeKernelConfig
from ttnn.base.compute_config import DeviceComputeKernelConfig as DeviceComputeKernelConfig
from ttnn.base.compute_config import WormholeComputeKernelConfig as WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord as CoreCoord
from ttnn.base.core_range import CoreGrid as CoreGrid
from ttnn.base.core_range import CoreRange as CoreRange
from ttnn.base.core_range import CoreRangeSet as CoreRangeSet
from ttnn.base.enums import *  # noqa: F403
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG as DRAM_MEMORY_CONFIG
from ttnn.base.memory_config import L1_BLOCK_SHARDED_MEMORY_CONFIG as L1_BLOCK_SHARDED_MEMORY_CONFIG
from ttnn.base.memory_config import L1_HEIGHT_SHARDED_MEMORY_CONFIG as L1_HEIGHT_SHARDED_MEMORY_CONFIG
from ttnn.base.memory_config import L1_MEMORY_CONFIG as L1_MEMORY_CONFIG
from ttnn.base.memory_config import L1_WIDTH_SHARDED_MEMORY_CONFIG as L1_WIDTH_SHARDED_MEMORY_CONFIG
from ttnn.base.memory_config import MemoryConfig as MemoryConfig
from ttnn.base.memory_config import NdShardSpec as NdShardSpec
from ttnn.base.memory_config import ShardSpec as ShardSpec
from ttnn.base.shape import Shape as Shape
from ttnn.base.tensor_spec import TensorSpec as TensorSpec
from ttnn.base.tile import Tile as Tile
from ttnn.base.work_split import corerange_to_cores as corerange_to_cores
from ttnn.device.coordinates import MeshCoordinate as MeshCoordinate
from ttnn.device.coordinates import MeshCoordinateRange as MeshCoordinateRange
from ttnn.device.coordinates import MeshCoordinateRangeSet as MeshCoordinateRangeSet
from ttnn.device.coordinates import MeshShape as MeshShape
from ttnn.device.coordinates import QueueId as QueueId
from ttnn.device.fabric import *  # noqa: F403
from ttnn.device.lifecycle import Device as Device
from ttnn.device.lifecycle import MeshDevice as MeshDevice
from ttnn.device.processes import *  # noqa: F403
from ttnn.metal.descriptors import *  # noqa: F403
from ttnn.metal.generic_op import compute_program_descriptor_hash as compute_program_descriptor_hash
from ttnn.tensor.shard_distribution import (
    get_optimal_worker_cores_for_sharded_tensor as get_optimal_worker_cores_for_sharded_tensor,
)
from ttnn.tensor.tensor import Tensor as Tensor
