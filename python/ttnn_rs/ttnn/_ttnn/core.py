"""Host API objects: captures as binaries."""

from __future__ import annotations

from ttnn.operation.light_metal import LightMetalBinary as LightMetalBinary
from ttnn.operation.light_metal import LightMetalReplay as LightMetalReplay
