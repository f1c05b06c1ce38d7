"""Official module: arguments of captured calls as JSON."""

from __future__ import annotations

from ttnn.reports.argument_json import GraphTracerUtils as GraphTracerUtils
