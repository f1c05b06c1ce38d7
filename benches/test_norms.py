"""Exact layer norm, RMS norm and softmax, against torch's bfloat16.

Rows of 4096 in bfloat16, in the same run.

Run on one thread: `TTNN_THREADS=1 pytest benches/test_norms.py --benchmark-only`; the ratios are printed below the
table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import in_torch, on_device
from ratios import compare

WIDTH = 4096
ROWS = [256, 1024]


def _inputs(random: np.random.Generator, rows: int) -> tuple[Any, Any, Any]:
    return tuple(random.standard_normal(shape, np.float32) for shape in ((rows, WIDTH), (1, WIDTH), (1, WIDTH)))


@pytest.mark.benchmark(group="norms")
@pytest.mark.parametrize("parameters", [True, False], ids=["weights", "plain"])
@pytest.mark.parametrize("rows", ROWS)
def test_layer_norm(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, rows: int, parameters: bool
) -> None:
    torch = pytest.importorskip("torch")
    values = _inputs(random, rows)
    x, weight, bias = (on_device(value, "bfloat16", device) for value in values)
    t, tw, tb = (in_torch(value, "bfloat16") for value in values)
    ours = {"weight": weight, "bias": bias} if parameters else {}
    theirs = (tw[0], tb[0]) if parameters else ()
    compare(
        benchmark,
        lambda: ttnn.layer_norm(x, **ours),
        lambda: torch.nn.functional.layer_norm(t, (WIDTH,), *theirs),
        "torch",
    )


@pytest.mark.benchmark(group="norms")
@pytest.mark.parametrize("rows", ROWS)
def test_rms_norm(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, rows: int) -> None:
    torch = pytest.importorskip("torch")
    values = _inputs(random, rows)
    x, weight, _ = (on_device(value, "bfloat16", device) for value in values)
    t, tw, _ = (in_torch(value, "bfloat16") for value in values)
    compare(
        benchmark,
        lambda: ttnn.rms_norm(x, weight=weight),
        lambda: torch.nn.functional.rms_norm(t, (WIDTH,), tw[0]),
        "torch",
    )


@pytest.mark.benchmark(group="norms")
@pytest.mark.parametrize("rows", ROWS)
def test_softmax(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, rows: int) -> None:
    torch = pytest.importorskip("torch")
    values = _inputs(random, rows)[0]
    x, t = on_device(values, "bfloat16", device), in_torch(values, "bfloat16")
    compare(benchmark, lambda: ttnn.softmax(x, dim=-1), lambda: torch.softmax(t, -1), "torch")
