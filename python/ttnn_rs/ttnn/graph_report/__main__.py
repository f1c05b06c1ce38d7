"""`python -m ttnn.graph_report`: see `ttnn.reports.importing`."""

from __future__ import annotations

from ttnn.reports.importing import main

main()
