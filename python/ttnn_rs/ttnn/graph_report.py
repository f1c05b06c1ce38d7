"""The official module of this name: databases made of captured graphs, which are not built yet."""

from __future__ import annotations

from ttnn.base.refused import refusing

REPORT_VERSION = 1

globals().update(
    refusing(
        "ttnn.graph_report",
        "compute_tensor_lifetime_records create_database_schema derive_report_name extract_operation_durations "
        "extract_total_duration_from_graph generate_svg get_source_file_id get_tt_metal_git_report_metadata "
        "import_devices import_graph import_metadata import_report import_tensor_comparison_records main "
        "normalize_source_path_from_stack_trace read_source_file run_pytest_graph_report_fixture "
        "sanitize_git_remote_url save_database_schema_version",
        "databases of captured graphs are not built yet",
    )
)
