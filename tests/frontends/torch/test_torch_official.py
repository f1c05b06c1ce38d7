"""Unmodified tests of tt-torch and tt-xla.

Modules that the latter import have stand-ins.

`TTNN_TT_TORCH` and `TTNN_TT_XLA` are the folders of checkouts of tenstorrent/tt-torch and tenstorrent/tt-xla. A test of
theirs that is expected to fail and passes counts as passed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", minversion="2.13")

_TT_TORCH, _TT_XLA = os.environ.get("TTNN_TT_TORCH"), os.environ.get("TTNN_TT_XLA")
_STANDINS = Path(__file__).parent / "standins"
_BASIC = {"test_basic": 46, "test_softmax": 0, "test_compare": 6}
"""Files of tt-torch, and how many of their tests pass at least."""
_WITHOUT_PROGRAM = "test_return_same_tensors"
"""Tests whose results are inputs."""
_OPERATORS = "add concat conv2d dot eltwise_binary_ops eltwise_unary_ops expand mul squeeze sum topk"


def _passed(path: Path, *options: str, **environment: str) -> tuple[int, int, str]:
    """Return the numbers of tests that pass and fail, and the output."""
    plain = ["-q", "-rfExX", "-c", os.devnull, "--noconftest", "--import-mode=importlib", "-p", "no:cacheprovider"]
    given = dict(os.environ, **environment)
    given["PYTHONPATH"] = os.pathsep.join([str(_STANDINS), given.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", *plain, *options, "--rootdir", str(path.parent), str(path)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=7200)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    found = {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", last)}
    good = found.get("passed", 0) + found.get("xpassed", 0)
    bad = sum(found.get(kind, 0) for kind in ("failed", "error", "errors", "xfailed"))
    assert good + bad, done.stdout + done.stderr
    return good, bad, done.stdout


@pytest.mark.skipif(_TT_TORCH is None, reason="TTNN_TT_TORCH names no checkout of tt-torch")
@pytest.mark.parametrize("name", _BASIC)
def test_file_of_tt_torch(name: str) -> None:
    path = Path(_TT_TORCH or "", "tests", "torch", f"{name}.py")
    options = ["-p", "device_programs"]
    good, _, text = _passed(path, *options, TTNN_WITHOUT_PROGRAM=_WITHOUT_PROGRAM)
    assert good >= _BASIC[name], text


@pytest.mark.skipif(_TT_XLA is None, reason="TTNN_TT_XLA names no checkout of tt-xla")
@pytest.mark.parametrize("name", _OPERATORS.split())
def test_file_of_tt_xla(name: str) -> None:
    good, bad, text = _passed(Path(_TT_XLA or "", "tests", "torch", "ops", f"test_{name}.py"))
    assert good >= 0.95 * (good + bad), text
