"""Captured graphs in extension module form, without Python call records."""

from __future__ import annotations

from ttnn.reports.capture import RunMode as RunMode
from ttnn.reports.extract import PeakMemoryUsagePerCore as PeakMemoryUsagePerCore
from ttnn.reports.extract import TensorInfo as TensorInfo
from ttnn.reports.extract import count_intermediate_and_output_tensors as count_intermediate_and_output_tensors
from ttnn.reports.extract import extract_calltrace as extract_calltrace
from ttnn.reports.extract import extract_output_info as extract_output_info
from ttnn.reports.extract import extract_output_tensors as extract_output_tensors
from ttnn.reports.extract import extract_peak_L1_memory_usage as extract_peak_L1_memory_usage
from ttnn.reports.extract import extract_resource_usage_per_core as extract_resource_usage_per_core
from ttnn.reports.files import REPORT_VERSION as REPORT_VERSION
from ttnn.reports.levelized import extract_levelized_graph as extract_levelized_graph
from ttnn.reports.session import begin_graph_capture as begin_graph_capture
from ttnn.reports.session import disable_detailed_buffer_tracing as disable_detailed_buffer_tracing
from ttnn.reports.session import enable_detailed_buffer_tracing as enable_detailed_buffer_tracing
from ttnn.reports.session import end_graph_capture as end_graph_capture
from ttnn.reports.session import end_graph_capture_to_file as end_graph_capture_to_file
from ttnn.reports.session import is_detailed_buffer_tracing_enabled as is_detailed_buffer_tracing_enabled
from ttnn.reports.session import is_graph_capture_active as is_graph_capture_active
from ttnn.reports.session import track_function_end as track_function_end
from ttnn.reports.session import track_function_start as track_function_start
