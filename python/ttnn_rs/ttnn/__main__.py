"""`python -m ttnn`: see `ttnn.cli`."""

from __future__ import annotations

import sys

from ttnn.cli import main

sys.exit(main())
