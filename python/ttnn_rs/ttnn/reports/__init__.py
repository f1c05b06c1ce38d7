"""Captured graphs of what a program does, the database of a report, and what is read from both.

The official paths are `ttnn.graph`, `ttnn.graph_report`, `ttnn.database` and `ttnn._ttnn.reports`.
"""
