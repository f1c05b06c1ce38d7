"""Official module: removal of an argument from a call."""

from __future__ import annotations

from ttnn.base.call import pop_argument as pop_argument
