"""The host side of TT-Metalium: programs, buffers, command queues.

A program is kernels on cores, circular buffers and semaphores; kernels are Python functions over `ttnn.kernel_api`.
Every function has its classic name (`CreateKernel`) and the same in Python's spelling (`create_kernel`).
"""

from ttnn.core_range import CoreCoord as CoreCoord
from ttnn.core_range import CoreRange as CoreRange
from ttnn.core_range import CoreRangeSet as CoreRangeSet
from ttnn.device import CloseDevice as CloseDevice
from ttnn.device import CreateDevice as CreateDevice
from ttnn.device import GetNumAvailableDevices as GetNumAvailableDevices
from ttnn.device import GetNumPCIeDevices as GetNumPCIeDevices
from ttnn.device import GetPCIeDeviceID as GetPCIeDeviceID
from ttnn.metal import detail as detail
from ttnn.metal import distributed as distributed
from ttnn.metal.buffers import *  # noqa: F403
from ttnn.metal.circular_buffers import *  # noqa: F403
from ttnn.metal.configs import *  # noqa: F403
from ttnn.metal.descriptors import *  # noqa: F403
from ttnn.metal.detail import *  # noqa: F403
from ttnn.metal.distributed import *  # noqa: F403
from ttnn.metal.generic_op import *  # noqa: F403
from ttnn.metal.global_circular_buffer import *  # noqa: F403
from ttnn.metal.program import *  # noqa: F403
from ttnn.metal.queues import *  # noqa: F403
from ttnn.metal.report import KernelReport as KernelReport
from ttnn.metal.report import Report as Report
from ttnn.metal.runtime_args import *  # noqa: F403
from ttnn.metal.semaphores import *  # noqa: F403
from ttnn.metal.sources import *  # noqa: F403
from ttnn.metal.traces import *  # noqa: F403
from ttnn.types import NOC as NOC
from ttnn.types import BufferType as BufferType
from ttnn.types import DataMovementProcessor as DataMovementProcessor
from ttnn.types import MathFidelity as MathFidelity
from ttnn.types import UnpackToDestMode as UnpackToDestMode
from ttnn.work_split import split_work_to_cores as split_work_to_cores
