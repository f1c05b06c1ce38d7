"""Tests of ONNX models, and the device that they run on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import ttnn

if find_spec("onnx") is None and os.environ.get("TTNN_ONNX_REQUIRED") != "1":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="module")
def chip() -> Iterator[Any]:
    """Open device of a module's tests."""
    with ttnn.manage_device(device_id=0) as opened:
        yield opened
