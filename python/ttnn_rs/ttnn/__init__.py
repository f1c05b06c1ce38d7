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
from ttnn.base.refused_names import *  # noqa: F403
from ttnn.base.shape import Shape as Shape
from ttnn.base.tensor_spec import TensorSpec as TensorSpec
from ttnn.base.tile import Tile as Tile
from ttnn.base.tile import element_size as element_size
from ttnn.base.tile import pad_to_tile_shape as pad_to_tile_shape
from ttnn.base.tile import tile_size as tile_size
from ttnn.base.work_split import *  # noqa: F403
from ttnn.base.yuv import *  # noqa: F403
from ttnn.device.driver import ReadDeviceProfiler as ReadDeviceProfiler
from ttnn.device.driver import SetRootDir as SetRootDir
from ttnn.device.driver import apply_device_delay as apply_device_delay
from ttnn.device.driver import disable_asynchronous_slow_dispatch as disable_asynchronous_slow_dispatch
from ttnn.device.driver import dump_stack_trace_on_segfault as dump_stack_trace_on_segfault
from ttnn.device.driver import enable_asynchronous_slow_dispatch as enable_asynchronous_slow_dispatch
from ttnn.device.events import *  # noqa: F403
from ttnn.device.fabric import *  # noqa: F403
from ttnn.device.lifecycle import *  # noqa: F403
from ttnn.device.lifecycle import MeshDevice as MeshDevice
from ttnn.device.processes import *  # noqa: F403
from ttnn.metal.buffers import TensorAccessorArgs as TensorAccessorArgs
from ttnn.metal.descriptors import *  # noqa: F403
from ttnn.metal.fabric import *  # noqa: F403
from ttnn.metal.generic_op import *  # noqa: F403
from ttnn.metal.global_circular_buffer import create_global_circular_buffer as create_global_circular_buffer
from ttnn.metal.operators.matmul import *  # noqa: F403
from ttnn.metal.operators.norms import *  # noqa: F403
from ttnn.metal.operators.slices import *  # noqa: F403
from ttnn.metal.semaphores import GlobalSemaphore as GlobalSemaphore
from ttnn.metal.semaphores import create_global_semaphore as create_global_semaphore
from ttnn.metal.semaphores import get_global_semaphore_address as get_global_semaphore_address
from ttnn.metal.semaphores import reset_global_semaphore_value as reset_global_semaphore_value
from ttnn.metal.sockets import *  # noqa: F403
from ttnn.operation.hooks import *  # noqa: F403
from ttnn.operation.light_metal import *  # noqa: F403

from ttnn.ops import *  # noqa: F403  # isort: skip
from ttnn.namespaces import *  # noqa: F403  # isort: skip
from ttnn.ops._programs.activations import string_to_unary_with_param as string_to_unary_with_param
from ttnn.ops.conv.prepare import *  # noqa: F403
from ttnn.ops.conversion import *  # noqa: F403
from ttnn.ops.eltwise.complex.tensor import ComplexTensor as ComplexTensor
from ttnn.ops.normalization.parameters import *  # noqa: F403
from ttnn.ops.pool.prepared_grid import *  # noqa: F403
from ttnn.tensor.conversion import *  # noqa: F403
from ttnn.tensor.device_tensors import *  # noqa: F403
from ttnn.tensor.distribution import *  # noqa: F403
from ttnn.tensor.printing import set_printoptions as set_printoptions
from ttnn.tensor.shard_distribution import (
    get_optimal_worker_cores_for_sharded_tensor as get_optimal_worker_cores_for_sharded_tensor,
)
from ttnn.tensor.tensor import Tensor as Tensor
from ttnn.tensor.visualization import visualize_mesh_device as visualize_mesh_device
from ttnn.tensor.visualization import visualize_system_mesh as visualize_system_mesh
from ttnn.tensor.visualization import visualize_tensor as visualize_tensor

from ttnn import _ttnn as _ttnn  # isort: skip
from ttnn import cluster as cluster, comparison as comparison, core as core, database as database  # isort: skip
from ttnn import config_serialization as config_serialization, decorators as decorators  # isort: skip
from ttnn import disaggregation as disaggregation, distributed as distributed, dot_access as dot_access  # isort: skip
from ttnn import experimental_loader as experimental_loader, graph as graph, graph_report as graph_report  # isort: skip
from ttnn import graph_tracer_utils as graph_tracer_utils, operation_tracer as operation_tracer  # isort: skip
from ttnn import profiler as profiler, reflection as reflection, torch_tracer as torch_tracer  # isort: skip
from ttnn import tracer as tracer, types as types  # isort: skip
from ttnn import namespaces as _namespaces  # isort: skip
from ttnn.metal.generic_op import prepare_generic_op as _prepare_generic_op  # isort: skip
from ttnn.core import ttnn_dtype_to_torch_dtype as ttnn_dtype_to_torch_dtype  # isort: skip
from ttnn.decorators import register_cpp_operation as register_cpp_operation  # isort: skip
from ttnn.profiler import *  # noqa: F403  # isort: skip

_sys.modules[__name__].__class__ = _ConfiguredPackage
# Operators know nothing of the host API, so their namespaces do not either.
_namespaces.experimental.prepare_generic_op = _prepare_generic_op  # type: ignore[attr-defined]

if not _typing.TYPE_CHECKING:  # for a type checker every name would exist

    def __getattr__(name: str) -> object:
        """Import a module that needs torch, or raise AttributeError.

        The error of an official name has the reason.
        """
        if name == "model_preprocessing":
            import importlib

            return importlib.import_module("ttnn.model_preprocessing")
        # Imported here: few programs need the list.
        from ttnn.operation.vendor_names import missing

        raise missing(name)
