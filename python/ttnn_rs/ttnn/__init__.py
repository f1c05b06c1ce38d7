"""A Tenstorrent device without the card: the names of TT-NN, the bits of the chip."""

import typing as _typing

from ttnn._engine import __version__ as __version__
from ttnn.config import CONFIG as CONFIG
from ttnn.config import Config as Config
from ttnn.config import load_config_from_dictionary as load_config_from_dictionary
from ttnn.config import load_config_from_json_file as load_config_from_json_file
from ttnn.config import manage_config as manage_config
from ttnn.config import save_config_to_json_file as save_config_to_json_file
from ttnn.convert import *  # noqa: F403
from ttnn.core_range import CoreCoord as CoreCoord
from ttnn.core_range import CoreGrid as CoreGrid
from ttnn.core_range import CoreRange as CoreRange
from ttnn.core_range import CoreRangeSet as CoreRangeSet
from ttnn.decorators import *  # noqa: F403
from ttnn.device import *  # noqa: F403
from ttnn.device import MeshDevice as MeshDevice
from ttnn.device_tensors import *  # noqa: F403
from ttnn.distributed import *  # noqa: F403
from ttnn.events import *  # noqa: F403
from ttnn.exceptions import *  # noqa: F403
from ttnn.memory_config import *  # noqa: F403
from ttnn.metal.buffers import TensorAccessorArgs as TensorAccessorArgs
from ttnn.metal.descriptors import *  # noqa: F403
from ttnn.metal.generic_op import *  # noqa: F403
from ttnn.metal.global_circular_buffer import create_global_circular_buffer as create_global_circular_buffer
from ttnn.metal.semaphores import GlobalSemaphore as GlobalSemaphore
from ttnn.metal.semaphores import create_global_semaphore as create_global_semaphore
from ttnn.metal.semaphores import get_global_semaphore_address as get_global_semaphore_address
from ttnn.metal.semaphores import reset_global_semaphore_value as reset_global_semaphore_value
from ttnn.ops import *  # noqa: F403
from ttnn.ops.activations import UnaryWithParam as UnaryWithParam
from ttnn.ops.activations import string_to_unary_with_param as string_to_unary_with_param
from ttnn.ops.backward import *  # noqa: F403
from ttnn.ops.complex import *  # noqa: F403
from ttnn.ops.compute_config import BlackholeComputeKernelConfig as BlackholeComputeKernelConfig
from ttnn.ops.compute_config import DeviceComputeKernelConfig as DeviceComputeKernelConfig
from ttnn.ops.compute_config import WormholeComputeKernelConfig as WormholeComputeKernelConfig
from ttnn.ops.compute_config import init_device_compute_kernel_config as init_device_compute_kernel_config
from ttnn.ops.compute_config import layernorm_default_compute_config as layernorm_default_compute_config
from ttnn.ops.compute_config import rmsnorm_default_compute_config as rmsnorm_default_compute_config
from ttnn.ops.pointwise import *  # noqa: F403
from ttnn.printing import set_printoptions as set_printoptions
from ttnn.program_config import *  # noqa: F403
from ttnn.shape import Shape as Shape
from ttnn.tensor import Tensor as Tensor
from ttnn.tensor_io import as_tensor as as_tensor
from ttnn.tensor_io import dump_tensor as dump_tensor
from ttnn.tensor_io import load_tensor as load_tensor
from ttnn.tensor_spec import TensorSpec as TensorSpec
from ttnn.tile import Tile as Tile
from ttnn.tile import tile_size as tile_size
from ttnn.types import *  # noqa: F403
from ttnn.work_split import *  # noqa: F403

if not _typing.TYPE_CHECKING:  # for a type checker every name would exist

    def __getattr__(name: str) -> _typing.NoReturn:
        """Refuse a name that is not here; if the official package has it, say why."""
        # Imported here: almost nobody needs the list.
        from ttnn.official import missing

        raise missing(name)
