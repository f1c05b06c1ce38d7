"""Tests of StableHLO programs need jax.

`TTNN_JAX_REQUIRED=1` turns a missing one into a failure.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

if importlib.util.find_spec("jax") is None or importlib.util.find_spec("jaxlib") is None:
    if os.environ.get("TTNN_JAX_REQUIRED") == "1":
        raise pytest.UsageError('the tests of StableHLO programs need pip install "ttnn-rs[jax]"')
    collect_ignore_glob = ["test_*.py"]
