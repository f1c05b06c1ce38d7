"""Options of collective operators."""

from __future__ import annotations

from ttnn.base.enums import Topology as Topology
