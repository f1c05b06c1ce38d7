"""A Tenstorrent device in software, with the names of TT-NN."""

import sys as _sys
import typing as _typing

from ttnn._engine import __version__ as __version__
from ttnn.base.activation import UnaryWithParam as UnaryWithParam
from ttnn.base.compute_config import BlackholeComputeKernelConfig as BlackholeComputeKernelConfig
from ttnn.base.compute_config import DeviceComputeKernelConfig as DeviceComputeKernelConfig
from ttnn.base.compute_config import WormholeComputeKernelConfig as WormholeComputeKernelConfig
from ttnn.base.compute_config import init_device_compute_kernel_config as init_device_compute_kernel_config
from ttnn.base.compute_config import layernorm_default_compute_config as layernorm_default_compute_config
from ttnn.base.compute_config import rmsnorm_default_compute_config as rmsnorm_default_compute_config
from ttnn.base.config import CONFIG as CONFIG
from ttnn.base.config import CONFIG_OVERRIDES as CONFIG_OVERRIDES
from ttnn.base.config import CONFIG_PATH as CONFIG_PATH
from ttnn.base.config import Config as Config
from ttnn.base.config import ConfiguredPackage as _ConfiguredPackage
from ttnn.base.config import load_config_from_dictionary as load_config_from_dictionary
from ttnn.base.config import load_config_from_json_file as load_config_from_json_file
from ttnn.base.config import manage_config as manage_config
from ttnn.base.config import save_config_to_json_file as save_config_to_json_file
from ttnn.base.conv_config import *  # noqa: F403
from ttnn.base.core_range import CoreCoord as CoreCoord
from ttnn.base.core_range import CoreGrid as CoreGrid
from ttnn.base.core_range import CoreRange as CoreRange
from ttnn.base.core_range import CoreRangeSet as CoreRangeSet
from ttnn.base.enums import *  # noqa: F403
from ttnn.base.exceptions import *  # noqa: F403
from ttnn.base.memory_config import *  # noqa: F403
from ttnn.base.program_config import *  # noqa: F403
from ttnn.base.shape import Shape as Shape
from ttnn.base.tensor_spec import TensorSpec as TensorSpec
from ttnn.base.tile import Tile as Tile
from ttnn.base.tile import tile_size as tile_size
from ttnn.base.work_split import *  # noqa: F403
from ttnn.device.events import *  # noqa: F403
from ttnn.device.fabric import *  # noqa: F403
from ttnn.device.lifecycle import *  # noqa: F403
from ttnn.device.lifecycle import MeshDevice as MeshDevice
from ttnn.metal.buffers import TensorAccessorArgs as TensorAccessorArgs
from ttnn.metal.descriptors import *  # noqa: F403
from ttnn.metal.generic_op import *  # noqa: F403
from ttnn.metal.global_circular_buffer import create_global_circular_buffer as create_global_circular_buffer
from ttnn.metal.semaphores import GlobalSemaphore as GlobalSemaphore
from ttnn.metal.semaphores import create_global_semaphore as create_global_semaphore
from ttnn.metal.semaphores import get_global_semaphore_address as get_global_semaphore_address
from ttnn.metal.semaphores import reset_global_semaphore_value as reset_global_semaphore_value
from ttnn.operation.hooks import *  # noqa: F403

from ttnn.ops import *  # noqa: F403  # isort: skip
from ttnn.namespaces import *  # noqa: F403  # isort: skip
from ttnn.ops._programs.activations import string_to_unary_with_param as string_to_unary_with_param
from ttnn.ops.conv.prepare import *  # noqa: F403
from ttnn.ops.conversion import *  # noqa: F403
from ttnn.ops.eltwise.complex.tensor import ComplexTensor as ComplexTensor
from ttnn.ops.normalization.parameters import *  # noqa: F403
from ttnn.tensor.conversion import *  # noqa: F403
from ttnn.tensor.device_tensors import *  # noqa: F403
from ttnn.tensor.distribution import *  # noqa: F403
from ttnn.tensor.printing import set_printoptions as set_printoptions
from ttnn.tensor.tensor import Tensor as Tensor

from ttnn import _ttnn as _ttnn  # isort: skip
from ttnn import cluster as cluster, core as core, database as database, distributed as distributed  # isort: skip
from ttnn import tracer as tracer, types as types  # isort: skip

_sys.modules[__name__].__class__ = _ConfiguredPackage

if not _typing.TYPE_CHECKING:  # for a type checker every name would exist

    def __getattr__(name: str) -> _typing.NoReturn:
        """Refuse a name that is not here; if the official package has it, say why."""
        # Imported here: few programs need the list.
        from ttnn.operation.vendor_names import missing

        raise missing(name)
