"""Pooling and resampling of `ops/`, through the functions that users call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import ttnn
from ttnn.cli.goldens.cases import cases, opened
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict

Case = dict[str, Any]


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ops/`, if one of these."""
    known = {"pool.npz": _pool, "upsample_bilinear.npz": _upsample, "grid_sample.npz": _grid_sample}
    return functools.partial(_each, known[name]) if name in known else None


def _each(check: Callable[[Case, Any, Archive], Any], _path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in cases(archive):
            name = f"{case['case']}.out"
            words = archive[f"{case['case']}.in0"]
            values = words.view(ml_dtypes.bfloat16).astype(np.float32)
            shape = case.get("shape_nhwc") or case["shape"]
            result = check(case, ttnn.Tensor(values.reshape(shape), ttnn.bfloat16).to(device), archive)
            floats = np.ascontiguousarray(result.to_numpy(), np.float32)
            yield Computed(name, (floats.view(np.uint32) >> 16).astype(np.uint16).reshape(archive[name].shape))


def _pool(case: Case, x: ttnn.Tensor, _archive: Archive) -> Any:
    batch, height, width, channels = case["shape_nhwc"]
    kernel, stride, padding = case["kernel"], case["stride"], case["padding"]
    if case["op"] == "max_pool2d":
        return ttnn.max_pool2d(x, batch, height, width, channels, kernel, stride, padding, [1, 1])
    return ttnn.avg_pool2d(x, batch, height, width, channels, kernel, stride, padding)


def _upsample(case: Case, x: ttnn.Tensor, _archive: Archive) -> ttnn.Tensor:
    return ttnn.upsample(x, case["scale_factor"], mode="bilinear")


def _grid_sample(case: Case, x: Any, archive: Archive) -> Any:
    words = archive[f"{case['case']}.grid"].astype(np.uint32)
    wide = case["grid_dtype"] == "f32"
    points = (words if wide else words << 16).view(np.float32).reshape(case["grid_shape"])
    grid = ttnn.Tensor(points, ttnn.float32 if wide else ttnn.bfloat16).to(x.device())
    return ttnn.grid_sample(x, grid, align_corners=case["align_corners"])
