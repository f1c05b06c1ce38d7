"""The host side of TT-Metalium: programs, buffers, command queues.

A program is kernels on cores, circular buffers and semaphores; kernels are Python functions over `ttnn.kernel_api`.
Every function has its classic name (`CreateKernel`) and the same in Python's spelling (`create_kernel`).
"""

from ttnn.base.core_range import CoreCoord as CoreCoord
from ttnn.base.core_range import CoreRange as CoreRange
from ttnn.base.core_range import CoreRangeSet as CoreRangeSet
from ttnn.base.enums import NOC as NOC
from ttnn.base.enums import BufferType as BufferType
from ttnn.base.enums import DataMovementProcessor as DataMovementProcessor
from ttnn.base.enums import MathFidelity as MathFidelity
from ttnn.base.enums import UnpackToDestMode as UnpackToDestMode
from ttnn.base.work_split import split_work_to_cores as split_work_to_cores
from ttnn.device.lifecycle import CloseDevice as CloseDevice
from ttnn.device.lifecycle import CreateDevice as CreateDevice
from ttnn.device.lifecycle import GetNumAvailableDevices as GetNumAvailableDevices
from ttnn.device.lifecycle import GetNumPCIeDevices as GetNumPCIeDevices
from ttnn.device.lifecycle import GetPCIeDeviceID as GetPCIeDeviceID
from ttnn.kernel_api.constants import CB as CB
from ttnn.kernel_api.constants import CBIndex as CBIndex
from ttnn.kernel_api.constants import tt as tt
from ttnn.metal import detail as detail
from ttnn.metal import distributed as distributed
from ttnn.metal import experimental as experimental
from ttnn.metal.buffers import *  # noqa: F403
from ttnn.metal.circular_buffers import *  # noqa: F403
from ttnn.metal.configs import *  # noqa: F403
from ttnn.metal.descriptors import *  # noqa: F403
from ttnn.metal.detail import *  # noqa: F403
from ttnn.metal.distributed import *  # noqa: F403
from ttnn.metal.experimental import *  # noqa: F403
from ttnn.metal.generic_op import *  # noqa: F403
from ttnn.metal.global_circular_buffer import *  # noqa: F403
from ttnn.metal.program import *  # noqa: F403
from ttnn.metal.queues import *  # noqa: F403
from ttnn.metal.report import Report as Report
from ttnn.metal.runtime_args import *  # noqa: F403
from ttnn.metal.semaphores import *  # noqa: F403
from ttnn.metal.sockets import *  # noqa: F403
from ttnn.metal.sources import *  # noqa: F403
from ttnn.metal.timeline import KernelReport as KernelReport
from ttnn.metal.traces import *  # noqa: F403
