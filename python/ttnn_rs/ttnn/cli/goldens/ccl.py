"""Sums over chips of `ccl/`, in the orders of their programs.

Inputs are computed from a case's seed, see the README of the vectors. The array `meta` has the cases as JSON, with the
SHA-256 of what every chip ends with.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import ttnn
from ttnn.base.enums import FORMAT_CODE
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Verdict
from ttnn.runtime import engine_steps

ORDERS: Final = {
    "direct": "direct",
    "ring": "ring",
    "line": "line",
    "pairs_by_device": "pairs",
    "all_reduce_sequential": "sequential",
}
"""The engine's names of orders, by those of the vectors."""


def checker_of(name: str) -> Checker | None:
    """Return the check of file `name` of `ccl/`."""
    return _reductions if name == "reductions.npz" else None


def _reductions(_path: Path, archive: Archive, _chip: Chip) -> Iterator[Verdict]:
    text = archive["meta"].tobytes().decode("utf-8")
    for case in json.loads(text):
        results = summed(case)
        for chip, tiles in enumerate(results):
            name = f"{case['case']}.out{chip}"
            if name in archive:
                yield Computed(name, tiles.reshape(archive[name].shape))
            text = text.replace(case["sha256"][chip], hashlib.sha256(tiles.tobytes()).hexdigest())
    yield Computed("meta", np.frombuffer(text.encode("utf-8"), np.uint8))


def summed(case: dict[str, Any]) -> list[NDArray[np.uint8]]:
    """Return the tiles that each chip of a case ends with."""
    count, tiles, dtype = case["N"], case["slice_tiles"], getattr(ttnn, case["dtype"])
    whole = case["algorithm"] == "all_reduce_sequential"
    given = tiles if whole else tiles * count
    with ttnn.create_mesh_device(ttnn.MeshShape(1, count)) as mesh:
        place = (dtype, ttnn.TILE_LAYOUT, mesh, ttnn.DRAM_MEMORY_CONFIG)
        source, target = ttnn.empty((1, 1, given * 32, 32), *place), ttnn.empty((1, 1, tiles * 32, 32), *place)
        size = source.spec.page_bytes
        for chip in range(count):
            source.buffers[0].write(input_tiles(case, chip, given), size, place=chip)
        engine_steps.sum_over_chips(
            source.buffers[0],
            target.buffers[0],
            groups=[list(range(count))],
            format=FORMAT_CODE[dtype],
            dst32=case["fp32_dest_acc_en"],
            order=ORDERS[case["algorithm"]],
            chunk=case["tile_granularity"],
            slices=None if whole else (1, tiles),
            matrix=tiles,
        )
        return [target.buffers[0].read(size, tiles, place=chip) for chip in range(count)]


def input_tiles(case: dict[str, Any], chip: int, tiles: int) -> NDArray[np.uint8]:
    """Return the bytes of a chip's input tiles, as in L1."""
    start = (case["seed"] * 2**44 + chip * 2**36) % 2**64
    noise = _splitmix64(np.arange(tiles * 1024, dtype=np.uint64) + np.uint64(start))
    sign, exponent = noise >> np.uint64(63), np.uint64(121) + (noise >> np.uint64(58) & np.uint64(7))
    words = sign << np.uint64(31) | exponent << np.uint64(23) | noise >> np.uint64(30) & np.uint64(0x7FFFFF)
    words = np.where(noise & np.uint64(63) == 0, 0, words).astype(np.uint32)
    if case["dtype"] == "float32":
        return np.asarray(words.view(np.uint8), np.uint8)
    halves = words >> np.uint32(16)
    if case["dtype"] == "bfloat16":
        return np.asarray(halves.astype(np.uint16).view(np.uint8), np.uint8)
    faces = (halves << np.uint32(16)).view(np.float32).reshape(tiles, 2, 2, 16, 16)
    rows = np.ascontiguousarray(faces.transpose(0, 1, 3, 2, 4)).reshape(1, 1, tiles * 32, 32)
    tensor = ttnn.Tensor(rows, getattr(ttnn, case["dtype"]), layout=ttnn.TILE_LAYOUT)
    return np.asarray(tensor._require_host("goldens"), np.uint8)


def _splitmix64(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ mixed >> np.uint64(31), np.uint64)
