"""Random numbers of `ops/`, through the functions that users call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import ttnn
from ttnn.cli.goldens.cases import DTYPE, attempt, cases, on_device, opened
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.walk import Archive, Checker, Verdict


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ops/`, if one of these."""
    return _random if name in ("rand.npz", "dropout.npz") else None


def _random(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in cases(archive):
            name, shape, dtype = f"{case['case']}.out", tuple(case["shape"]), DTYPE[case["dtype"]]
            run: Callable[[], ttnn.Tensor]
            if case["op"] == "rand":
                options = {option: case[option] for option in ("low", "high", "seed")}
                run = functools.partial(ttnn.rand, shape, device, dtype=dtype, **options)
            else:
                x = on_device(archive[f"{case['case']}.in0"], shape, dtype, device)
                arguments = (case["probability"], case["scale"], case["seed"])
                run = functools.partial(ttnn.experimental.dropout, x, *arguments)
            yield attempt(name, run, archive[name].shape)
