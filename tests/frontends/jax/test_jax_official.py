"""Tests of tt-xla, unmodified, with stand-ins for the modules that they import.

`TTNN_TT_XLA` is the folder of a checkout of tenstorrent/tt-xla. `reduce_window` and `linear_transformation` need flax.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_CHECKOUT = os.environ.get("TTNN_TT_XLA")
_STANDINS = Path(__file__).parent / "standins"
_OPERATORS = (
    "abs add broadcast_in_dim compare concatenate convert convolution dot_general exponential gather iota maximum "
    "multiply reduce reduce_window reshape rsqrt select slice sqrt subtract tanh transpose xor"
)
_GRAPHS = "softmax linear_transformation example_graph"
_FILES = [f"ops/test_{name}.py" for name in _OPERATORS.split()] + [f"graphs/test_{name}.py" for name in _GRAPHS.split()]


@pytest.mark.skipif(_CHECKOUT is None, reason="TTNN_TT_XLA names no checkout of tt-xla")
@pytest.mark.parametrize("file", _FILES)
def test_file_of_the_checkout(file: str) -> None:
    path = Path(_CHECKOUT or "", "tests", "jax", "single_chip", file)
    options = ["-q", "-c", os.devnull, "--noconftest", "--import-mode=importlib", "-p", "no:cacheprovider"]
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([str(_STANDINS), environment.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(path.parent), str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
