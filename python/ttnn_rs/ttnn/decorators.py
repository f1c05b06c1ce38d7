"""Official module: operator classes, hooks and registration.

Comparisons over a whole program, in which golden values are carried from operator to operator, are not implemented.
"""

from __future__ import annotations

from contextlib import contextmanager as contextmanager
from functools import wraps as wraps
from importlib.util import module_from_spec as module_from_spec

from ttnn.base.refused import refusing
from ttnn.device.events import get_current_command_queue_id_for_thread as get_current_command_queue_id_for_thread
from ttnn.device.events import pop_current_command_queue_id_for_thread as pop_current_command_queue_id_for_thread
from ttnn.device.events import push_current_command_queue_id_for_thread as push_current_command_queue_id_for_thread
from ttnn.operation.call_tensors import get_all_tensors as get_all_tensors
from ttnn.operation.call_tensors import get_devices as get_devices
from ttnn.operation.call_tensors import get_inplace_output_tensors as get_inplace_output_tensors
from ttnn.operation.call_tensors import get_output_tensor_ids as get_output_tensor_ids
from ttnn.operation.call_tensors import get_tensors as get_tensors
from ttnn.operation.call_tensors import get_ttnn_tensors as get_ttnn_tensors
from ttnn.operation.call_tensors import set_output_tensor_id_decorator as set_output_tensor_id_decorator
from ttnn.operation.call_tensors import set_tensor_id as set_tensor_id
from ttnn.operation.comparison import comp_pcc as comp_pcc
from ttnn.operation.comparison import comp_ulp as comp_ulp
from ttnn.operation.golden_comparison import compare_scalar_outputs as compare_scalar_outputs
from ttnn.operation.golden_comparison import compare_tensors_using_pcc as compare_tensors_using_pcc
from ttnn.operation.golden_comparison import (
    default_postprocess_golden_function_outputs as default_postprocess_golden_function_outputs,
)
from ttnn.operation.golden_comparison import (
    default_preprocess_golden_function_inputs as default_preprocess_golden_function_inputs,
)
from ttnn.operation.golden_comparison import should_compare_scalar_outputs as should_compare_scalar_outputs
from ttnn.operation.golden_comparison import should_compare_tensor_outputs as should_compare_tensor_outputs
from ttnn.operation.golden_comparison import to_torch_for_comparison as to_torch_for_comparison
from ttnn.operation.hooks import *  # noqa: F403
from ttnn.operation.hooks import REGISTERED_OPERATIONS as REGISTERED_OPERATIONS
from ttnn.operation.hooks import create_module_if_not_exists as create_module_if_not_exists
from ttnn.operation.hooks import register_cpp_operation as register_cpp_operation
from ttnn.operation.hooks import register_python_operation as register_python_operation
from ttnn.operation.hooks import register_ttl_operation_as_ttnn_operation as register_ttl_operation_as_ttnn_operation
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import OUTPUT_TENSOR_NAMES
from ttnn.operation.slow_path import POST_HOOKS as POST_OPERATION_HOOKS
from ttnn.operation.slow_path import PRE_HOOKS as PRE_OPERATION_HOOKS

globals().update(
    refusing(
        "ttnn.decorators",
        "get_tensor_report_record postprocess_global_golden_function_outputs prepare_backward_golden_inputs "
        "preprocess_global_golden_function_inputs refresh_or_invalidate_global_goldens set_golden_comparison_config",
        "comparisons over a whole program and their records are not implemented; comparison mode compares each call",
    )
)

__all__ = ["OUTPUT_TENSOR_NAMES", "POST_OPERATION_HOOKS", "PRE_OPERATION_HOOKS", "FastOperation"]
