"""Sorting, the largest elements and group norm of `ops/`, through the functions that users call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ttnn
from ttnn.cli.goldens.cases import OF_TILE_BYTES, attempt, cases, on_device
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict

Case = dict[str, Any]


def checker_of(name: str) -> Checker | None:
    """Return what checks the file `name` of `ops/`, if it is one of these."""
    family = name.removesuffix(".npz")
    if family in ("topk", "sort"):
        return functools.partial(_each, _sorted)
    if family in ("group_norm", "group_norm_sharded"):
        return functools.partial(_each, _group_norm)
    return None


def _each(
    check: Callable[[Case, Archive, ttnn.MeshDevice], Iterator[Verdict]], _path: Path, archive: Archive
) -> Iterator[Verdict]:
    with ttnn.manage_device(device_id=0) as device:
        for case in cases(archive):
            yield from check(case, archive, device)


def _tensor(case: Case, archive: Archive, name: str, device: ttnn.MeshDevice, shape: tuple[int, ...]) -> ttnn.Tensor:
    tiles = archive[f"{case['case']}.{name}"]
    return on_device(tiles, shape, OF_TILE_BYTES[tiles.shape[1]], device)


def _sorted(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Iterator[Verdict]:
    x = _tensor(case, archive, "in0", device, tuple(case["shape"]))
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
    x = _tensor(case, archive, "in0", device, shape)
    options: dict[str, Any] = {"num_groups": case["num_groups"], "epsilon": case["epsilon"]}
    for array, argument in (("gamma", "weight"), ("beta", "bias")):
        if f"{case['case']}.{array}" in set(archive):
            options[argument] = _tensor(case, archive, array, device, (1, 1, 1, shape[-1]))
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
