"""The official module of this name: captured graphs of operator calls, which are not built yet."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.base.vendor_enum import VendorEnum

REPORT_VERSION = 1


class RunMode(VendorEnum):
    """Whether operators run while they are captured."""

    NORMAL = 0
    NO_DISPATCH = 1


def is_graph_capture_active() -> bool:
    """Return whether calls are captured: no."""
    return False


def is_python_io_recording_enabled() -> bool:
    """Return whether arguments and results are recorded: no."""
    return False


def is_python_stack_trace_enabled() -> bool:
    """Return whether stacks are recorded: no."""
    return False


def is_detailed_buffer_tracing_enabled() -> bool:
    """Return whether pages of buffers are recorded: no."""
    return False


globals().update(
    refusing(
        "ttnn.graph",
        "append_python_io_record begin_graph_capture count_intermediate_and_output_tensors "
        "disable_detailed_buffer_tracing disable_python_io_recording disable_python_stack_traces "
        "enable_detailed_buffer_tracing enable_python_io_recording enable_python_stack_traces end_graph_capture "
        "end_graph_capture_to_file extract_calltrace extract_levelized_graph extract_operation_durations "
        "extract_output_info extract_output_tensors extract_peak_L1_memory_usage extract_resource_usage_per_core "
        "extract_total_duration_from_graph flush_comparison_records_to_db full_graph_capture has_comparison_records "
        "import_report pretty_format pretty_print record_python_operation record_python_operation_error "
        "record_tensor_comparison_data reset_comparison_records_data store_captured_graph store_output_tensor_ids "
        "track_function_end track_function_start visualize visualize_edge visualize_node",
        "captured graphs are not built yet",
    )
)
