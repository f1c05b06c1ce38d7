"""The compiler layer needs its extra.

`TTNN_COMPILER_REQUIRED=1` turns a missing one into a failure.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

if importlib.util.find_spec("xdsl") is None or importlib.util.find_spec("flatbuffers") is None:
    if os.environ.get("TTNN_COMPILER_REQUIRED") == "1":
        raise pytest.UsageError('the tests of the compiler layer need pip install "ttnn-rs[compiler]"')
    collect_ignore_glob = ["test_*.py", "*/test_*.py"]
