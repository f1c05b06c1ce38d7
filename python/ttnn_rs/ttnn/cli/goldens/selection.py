"""Sorting, group norm and minimal matmuls of `ops/`.

They run through the functions that users call.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import ttnn
from ttnn.cli.goldens.cases import attempt, each, tensor_of
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict

Case = dict[str, Any]


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ops/`, if one of these."""
    family = name.removesuffix(".npz")
    if family == "minimal_matmul":
        return functools.partial(each, _minimal_matmul)
    if family in ("topk", "sort"):
        return functools.partial(each, _sorted)
    if family in ("group_norm", "group_norm_sharded"):
        return functools.partial(each, _group_norm)
    return None


def _sorted(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    x = tensor_of(case, archive, "in0", device, tuple(case["shape"]))
    if case["op"] == "topk":
        results = ttnn.topk(x, case["k"], -1, case["largest"], case["sorted"])
    else:
        results = ttnn.sort(x, case["dim"], case["descending"], case["stable"])
    for name, tensor in zip(("values", "indices"), results, strict=True):
        expected = archive[f"{case['case']}.{name}"]
        flat = np.asarray(ttnn.from_device(tensor).to_numpy())
        words = (flat.astype(np.float32).view(np.uint32) >> 16) if name == "values" else flat
        yield Computed(f"{case['case']}.{name}", words.astype(np.uint16).reshape(expected.shape))


def _group_norm(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    x = tensor_of(case, archive, "in0", device, shape)
    options: dict[str, Any] = {"num_groups": case["num_groups"], "epsilon": case["epsilon"]}
    for array, argument in (("gamma", "weight"), ("beta", "bias")):
        if f"{case['case']}.{array}" in set(archive):
            options[argument] = tensor_of(case, archive, array, device, (1, 1, 1, shape[-1]))
    if "row_cores" in case:
        placed = ttnn.create_sharded_memory_config(
            shape, ttnn.CoreGrid(x=1, y=case["row_cores"]), ttnn.ShardStrategy.HEIGHT
        )
        x = ttnn.to_memory_config(x, placed)
    else:
        options["inplace"] = False
        options["core_grid"] = ttnn.CoreGrid(x=1, y=case["core_grid_y"])
        options["num_out_blocks"] = case["num_out_blocks"]
    yield attempt(name, functools.partial(ttnn.group_norm, x, **options), archive[name].shape)


def _minimal_matmul(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    name = f"{case['case']}.out"
    rows, inner, columns = case["shape"]
    a = tensor_of(case, archive, "in0", device, (rows, inner))
    b = tensor_of(case, archive, "in1", device, (inner, columns))
    yield attempt(name, functools.partial(ttnn.experimental.minimal_matmul, a, b), archive[name].shape)
