"""Convolutions of `ops/`, through the functions that users call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import ttnn
from ttnn.cli.goldens.cases import cases, opened
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict

_TENSORS = {"in0": (1, 1), "weight": (), "bias": (1, 1)}
"""Prefixes of array names, followed by the shape."""


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ops/`, if one of these."""
    return _conv2d if name == "conv2d.npz" else None


def _conv2d(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in cases(archive):
            yield _one(case, archive, device)


def _one(case: dict[str, Any], archive: Archive, device: ttnn.MeshDevice) -> Verdict:
    tensors = {}
    for name, front in _TENSORS.items():
        if f"{case['case']}.{name}" in set(archive):
            words = archive[f"{case['case']}.{name}"]
            values = words.view(ml_dtypes.bfloat16).astype(np.float32).reshape((*front, *words.shape))
            tensors[name] = ttnn.Tensor(values, ttnn.bfloat16)
    batch, height, width, channels = case["shape_nhwc"]
    result = ttnn.conv2d(
        input_tensor=tensors["in0"],
        weight_tensor=tensors["weight"],
        bias_tensor=tensors.get("bias"),
        device=device,
        in_channels=channels,
        out_channels=case["out_channels"],
        batch_size=batch,
        input_height=height,
        input_width=width,
        kernel_size=case["kernel"],
        stride=case["stride"],
        padding=case["padding"],
        conv_config=ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED),
        compute_config=ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi4,
            math_approx_mode=False,
            fp32_dest_acc_en=case["fp32_dest_acc_en"],
            packer_l1_acc=case["packer_l1_acc"],
        ),
    )
    assert isinstance(result, ttnn.Tensor)
    name = f"{case['case']}.out"
    floats = np.ascontiguousarray(result.to_numpy(), np.float32)
    return Computed(name, (floats.view(np.uint32) >> 16).astype(np.uint16).reshape(archive[name].shape))
