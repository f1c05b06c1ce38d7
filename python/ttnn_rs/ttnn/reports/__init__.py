"""Captured graphs, report databases, and their readers.

A graph records what a program does.

The official paths are `ttnn.graph`, `ttnn.graph_report`, `ttnn.database` and `ttnn._ttnn.reports`.
"""

from ttnn.reports import run_profile as _run_profile  # noqa: F401 - Profile.report finds its writer
