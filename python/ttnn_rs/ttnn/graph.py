"""Official module: captured graphs of operator calls."""

from __future__ import annotations

import sys

from ttnn.profiler.asking import AllocationRecord as AllocationRecord
from ttnn.profiler.query import ConstraintQueryResponse as ConstraintQueryResponse
from ttnn.profiler.query import ExecutionStatus as ExecutionStatus
from ttnn.profiler.query import ResourceUsage as ResourceUsage
from ttnn.profiler.query import RuntimeQueryResponse as RuntimeQueryResponse
from ttnn.profiler.query import query_op_constraints as query_op_constraints
from ttnn.profiler.query import query_op_runtime as query_op_runtime
from ttnn.reports.capture import RunMode as RunMode
from ttnn.reports.comparison import flush_comparison_records_to_db as flush_comparison_records_to_db
from ttnn.reports.comparison import has_comparison_records as has_comparison_records
from ttnn.reports.comparison import record_tensor_comparison_data as record_tensor_comparison_data
from ttnn.reports.comparison import reset_comparison_records_data as reset_comparison_records_data
from ttnn.reports.drawing import pretty_format as pretty_format
from ttnn.reports.drawing import pretty_print as pretty_print
from ttnn.reports.drawing import visualize as visualize
from ttnn.reports.drawing import visualize_edge as visualize_edge
from ttnn.reports.drawing import visualize_node as visualize_node
from ttnn.reports.extract import PeakMemoryUsagePerCore as PeakMemoryUsagePerCore
from ttnn.reports.extract import TensorInfo as TensorInfo
from ttnn.reports.extract import count_intermediate_and_output_tensors as count_intermediate_and_output_tensors
from ttnn.reports.extract import extract_calltrace as extract_calltrace
from ttnn.reports.extract import extract_operation_durations as extract_operation_durations
from ttnn.reports.extract import extract_output_info as extract_output_info
from ttnn.reports.extract import extract_output_tensors as extract_output_tensors
from ttnn.reports.extract import extract_peak_L1_memory_usage as extract_peak_L1_memory_usage
from ttnn.reports.extract import extract_resource_usage_per_core as extract_resource_usage_per_core
from ttnn.reports.extract import extract_total_duration_from_graph as extract_total_duration_from_graph
from ttnn.reports.files import REPORT_VERSION as REPORT_VERSION
from ttnn.reports.importing import import_report as import_report
from ttnn.reports.levelized import extract_levelized_graph as extract_levelized_graph
from ttnn.reports.session import GraphModule as _GraphModule
from ttnn.reports.session import append_python_io_record as append_python_io_record
from ttnn.reports.session import begin_graph_capture as begin_graph_capture
from ttnn.reports.session import (  # noqa: F401 - the official name
    configure_stacks_of_capture as _configure_python_stack_traces_for_outer_graph_capture,
)
from ttnn.reports.session import disable_detailed_buffer_tracing as disable_detailed_buffer_tracing
from ttnn.reports.session import disable_python_io_recording as disable_python_io_recording
from ttnn.reports.session import disable_python_stack_traces as disable_python_stack_traces
from ttnn.reports.session import enable_detailed_buffer_tracing as enable_detailed_buffer_tracing
from ttnn.reports.session import enable_python_io_recording as enable_python_io_recording
from ttnn.reports.session import enable_python_stack_traces as enable_python_stack_traces
from ttnn.reports.session import end_graph_capture as end_graph_capture
from ttnn.reports.session import end_graph_capture_to_file as end_graph_capture_to_file
from ttnn.reports.session import full_graph_capture as full_graph_capture
from ttnn.reports.session import is_detailed_buffer_tracing_enabled as is_detailed_buffer_tracing_enabled
from ttnn.reports.session import is_graph_capture_active as is_graph_capture_active
from ttnn.reports.session import is_python_io_recording_enabled as is_python_io_recording_enabled
from ttnn.reports.session import is_python_stack_trace_enabled as is_python_stack_trace_enabled
from ttnn.reports.session import record_python_operation as record_python_operation
from ttnn.reports.session import record_python_operation_error as record_python_operation_error
from ttnn.reports.session import store_captured_graph as store_captured_graph
from ttnn.reports.session import store_output_tensor_ids as store_output_tensor_ids
from ttnn.reports.session import track_function_end as track_function_end
from ttnn.reports.session import track_function_start as track_function_start
from ttnn.reports.texts import argument_text as _safe_arg_str  # noqa: F401 - the official name

sys.modules[__name__].__class__ = _GraphModule
