"""Running sums, variances and cache updates of `ops/`.

They run through the functions that users call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ttnn
from ttnn.cli.goldens.cases import DTYPE, attempt, cases, on_device, opened, operator_of
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.raw import to_bytes
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Uncovered, Verdict

Case = dict[str, Any]


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ops/`, if one of these."""
    known = {
        "cumsum.npz": _accumulated,
        "reduce_nc.npz": _reduced,
        "std_var.npz": _moments,
        "update_cache.npz": _update_cache,
    }
    check = known.get(name)
    return None if check is None else functools.partial(_each, check)


def _each(
    check: Callable[[Case, Archive, ttnn.MeshDevice], Verdict], _path: Path, archive: Archive, chip: Chip
) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in cases(archive):
            yield check(case, archive, device)


def _input(case: Case, archive: Archive, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return on_device(archive[f"{case['case']}.in0"], tuple(case["shape"]), DTYPE[case["dtype"]], device)


def _accumulated(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Verdict:
    name = f"{case['case']}.out"
    run = functools.partial(operator_of(case), _input(case, archive, device), case["dim"])
    return attempt(name, run, archive[name].shape)


def _reduced(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Verdict:
    name, x = f"{case['case']}.out", _input(case, archive, device)
    run: Callable[[], ttnn.Tensor]
    if case["op"] == "fast_reduce_nc":
        run = functools.partial(ttnn.experimental.fast_reduce_nc, x, dims=case["dims"])
    else:
        run = functools.partial(ttnn.moreh_sum, x, case["dim"], keepdim=True)
    return attempt(name, run, archive[name].shape)


def _moments(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Verdict:
    """Check values: the rest of the tiles holds Dst's earlier content."""
    name = f"{case['case']}.out"
    x = _input(case, archive, device)
    try:
        result = operator_of(case)(x, case["dim"], correction=case["correction"])
    except ttnn.UnsupportedError as error:
        return Uncovered(name, str(error).splitlines()[0])
    words = to_bytes(ttnn.to_layout(result, ttnn.ROW_MAJOR_LAYOUT)).view(archive[name].dtype)
    return Computed(name, words.reshape(-1)[: len(archive[name])])


def _update_cache(case: Case, archive: Archive, device: ttnn.MeshDevice) -> Verdict:
    name, shape = f"{case['case']}.out", tuple(case["shape"])
    cache = on_device(archive[f"{case['case']}.cache"], shape, DTYPE[case["dtype"]], device)
    words = archive[f"{case['case']}.row"].astype(np.uint32) << 16
    row = ttnn.Tensor(words.view(np.float32).reshape(1, 1, 1, -1), DTYPE[case["input_dtype"]])
    token = ttnn.to_device(ttnn.to_layout(row, ttnn.TILE_LAYOUT), device)
    run = functools.partial(ttnn.kv_cache.update_cache_for_token_, cache, token, case["update_idx"], 0)
    return attempt(name, run, archive[name].shape)
