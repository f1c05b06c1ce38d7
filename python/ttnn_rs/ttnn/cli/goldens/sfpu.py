"""Functions of the vector unit: `sfpu/*.npz`, for those that the engine offers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ttnn import _engine

from .registers import Words
from .walk import Archive, Checker, Computed, Uncovered, Verdict, load

INPUTS = "_inputs.npz"
"""The file of shared random inputs."""
UNARY_MODES = ("bf16", "fp32_on_bf16", "fp32_on_rand")
RANDOM_HALF = 32768
"""Where the second kind of random inputs begins."""


def checker_of(name: str) -> Checker | None:
    """Return what checks the file `name` of `sfpu/`."""
    return None if name == INPUTS else _check


def _check(path: Path, archive: Archive) -> Iterator[Verdict]:
    offered = set(_engine.sfpu_variants())
    unary = any(name.endswith("__fp32_on_rand") for name in archive)
    for name in archive:
        variant, mode = name.split("__", 1)
        if not unary or mode not in UNARY_MODES:
            yield Uncovered(name, "the engine offers functions of one floating-point operand so far")
        elif (path.stem, variant) not in offered:
            yield Uncovered(name, "the engine does not offer this function yet")
        else:
            yield Computed(name, unary_table(path.stem, variant, mode, _inputs(path, mode, archive[name].size)))


def every_bf16() -> Words:
    """Return all 65,536 bfloat16 values as FP32 words."""
    return np.arange(1 << 16, dtype=np.uint32) << 16


def unary_table(name: str, variant: str, mode: str, inputs: Words) -> np.ndarray:
    """Return the engine's results as the tables store them."""
    wide = mode != "bf16"
    results: Words = _engine.sfpu(name, variant, inputs, wide)
    return results if wide else (results >> 16).astype(np.uint16)


def _inputs(path: Path, mode: str, count: int) -> Words:
    if mode != "fp32_on_rand":
        return every_bf16()
    random = _random_inputs(path.with_name(INPUTS))
    if count == random.size:
        return random
    half = count // 2
    return np.concatenate([random[:half], random[RANDOM_HALF : RANDOM_HALF + half]])


@functools.lru_cache(maxsize=2)
def _random_inputs(path: Path) -> Words:
    return load(path)["rand_fp32"]
