"""Official module: small functions of the host."""

from __future__ import annotations

from ttnn.base.enums import DEVICE_STORAGE_TYPE as DEVICE_STORAGE_TYPE
from ttnn.base.enums import BufferType as BufferType
from ttnn.base.enums import ShardOrientation as ShardOrientation
from ttnn.base.enums import ShardStrategy as ShardStrategy
from ttnn.base.enums import TensorMemoryLayout as TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig as MemoryConfig
from ttnn.base.memory_config import create_sharded_memory_config as create_sharded_memory_config
from ttnn.base.memory_config import create_sharded_memory_config_ as create_sharded_memory_config_
from ttnn.base.work_split import divup as divup
from ttnn.base.work_split import grid_to_cores as grid_to_cores
from ttnn.base.work_split import num_cores_to_corerangeset as num_cores_to_corerangeset
from ttnn.base.work_split import (
    num_cores_to_corerangeset_in_subcoregrids as num_cores_to_corerangeset_in_subcoregrids,
)
from ttnn.base.work_split import roundup as roundup
from ttnn.base.work_split import split_work_to_cores as split_work_to_cores
from ttnn.device.driver import *  # noqa: F403
from ttnn.device.driver import dump_stack_trace_on_segfault as dump_stack_trace_on_segfault
from ttnn.device.events import get_current_command_queue_id_for_thread as get_current_command_queue_id_for_thread
from ttnn.operation.light_metal import LightMetalReplay as LightMetalReplay
from ttnn.operation.light_metal import light_metal_begin_capture as light_metal_begin_capture
from ttnn.operation.light_metal import light_metal_end_capture as light_metal_end_capture
from ttnn.tensor.conversion import get_memory_config as get_memory_config
from ttnn.tensor.conversion import has_storage_type_of as has_storage_type_of
from ttnn.tensor.conversion import has_tile_padding as has_tile_padding
from ttnn.tensor.conversion import is_sharded as is_sharded
from ttnn.tensor.conversion import is_tensor_storage_on_device as is_tensor_storage_on_device
from ttnn.tensor.conversion import ttnn_dtype_to_torch_dtype as ttnn_dtype_to_torch_dtype
from ttnn.tensor.printing import set_printoptions as set_printoptions
