"""Devices: opening and closing them, their coordinates, sub-devices, events and memory.

The package has the names of the official module `ttnn.device`.
"""

from ttnn.base.compute_config import init_device_compute_kernel_config as init_device_compute_kernel_config
from ttnn.base.core_range import CoreGrid
from ttnn.base.enums import Arch as Arch
from ttnn.base.enums import DispatchCoreAxis as DispatchCoreAxis
from ttnn.base.enums import DispatchCoreType as DispatchCoreType
from ttnn.device.driver import *  # noqa: F403
from ttnn.device.events import is_trace_capture_active as is_trace_capture_active
from ttnn.device.lifecycle import *  # noqa: F403
from ttnn.device.lifecycle import MeshDevice as MeshDevice
from ttnn.device.lifecycle import (
    get_optimal_dram_bank_to_logical_worker_assignment as get_optimal_dram_bank_to_logical_worker_assignment,
)

DEFAULT_L1_SMALL_SIZE = 0
DEFAULT_TRACE_REGION_SIZE = 0
DEFAULT_WORKER_L1_SIZE = 0


def get_device_core_grid(device: MeshDevice) -> CoreGrid:
    """Return the grid of cores that operators can use."""
    return device.core_grid
