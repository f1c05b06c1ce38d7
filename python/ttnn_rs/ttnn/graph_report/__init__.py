"""The official module of this name: databases made of captured graphs; `python -m ttnn.graph_report`."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.reports.comparison import import_tensor_comparison_records as import_tensor_comparison_records
from ttnn.reports.extract import extract_operation_durations as extract_operation_durations
from ttnn.reports.extract import extract_total_duration_from_graph as extract_total_duration_from_graph
from ttnn.reports.files import REPORT_VERSION as REPORT_VERSION
from ttnn.reports.importing import compute_tensor_lifetime_records as compute_tensor_lifetime_records
from ttnn.reports.importing import derive_report_name as derive_report_name
from ttnn.reports.importing import generate_svg as generate_svg
from ttnn.reports.importing import get_source_file_id as get_source_file_id
from ttnn.reports.importing import get_tt_metal_git_report_metadata as get_tt_metal_git_report_metadata
from ttnn.reports.importing import import_devices as import_devices
from ttnn.reports.importing import import_graph as import_graph
from ttnn.reports.importing import import_metadata as import_metadata
from ttnn.reports.importing import import_report as import_report
from ttnn.reports.importing import main as main
from ttnn.reports.importing import normalize_source_path_from_stack_trace as normalize_source_path_from_stack_trace
from ttnn.reports.importing import read_source_file as read_source_file
from ttnn.reports.importing import sanitize_git_remote_url as sanitize_git_remote_url
from ttnn.reports.schema import create_database_schema as create_database_schema
from ttnn.reports.schema import save_database_schema_version as save_database_schema_version

globals().update(
    refusing(
        "ttnn.graph_report",
        "run_pytest_graph_report_fixture",
        "a fixture captures with ttnn.graph.full_graph_capture and writes with import_report",
    )
)
