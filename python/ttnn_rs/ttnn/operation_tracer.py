"""Official module: a log of operator calls, one JSON file per call."""

from __future__ import annotations

import sys

from ttnn.base.config_dicts import compute_kernel_config_to_dict as compute_kernel_config_to_dict
from ttnn.base.config_dicts import memory_config_to_dict as memory_config_to_dict
from ttnn.base.config_dicts import program_config_to_dict as program_config_to_dict
from ttnn.reports.call_log import Switches as _Switches
from ttnn.reports.call_log import enable_tensor_value_serialization as enable_tensor_value_serialization
from ttnn.reports.call_log import enable_tracing as enable_tracing
from ttnn.reports.call_log import is_tracing_enabled as is_tracing_enabled
from ttnn.reports.call_log import serialize_operation_parameters as serialize_operation_parameters
from ttnn.reports.call_log import set_sweep_source_hash as set_sweep_source_hash
from ttnn.reports.call_log import wrap_function_for_tracing as wrap_function_for_tracing

sys.modules[__name__].__class__ = _Switches
