"""Functions of the vector unit: `sfpu/*.npz`, for those that the engine offers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ttnn import _engine

from .registers import Words, bf16_to_dst
from .walk import Archive, Checker, Computed, Uncovered, Verdict, load

INPUTS = "_inputs.npz"
"""The file of shared random inputs."""
RANDOM_HALF = 32768
"""Where the second kind of random inputs begins."""


def checker_of(name: str) -> Checker | None:
    """Return what checks the file `name` of `sfpu/`."""
    return None if name == INPUTS else _check


def _check(path: Path, archive: Archive) -> Iterator[Verdict]:
    unary, binary = set(_engine.sfpu_variants()), set(_engine.sfpu_binary_names())
    for name, expected in archive.items():
        variant, mode = name.split("__", 1)
        if (path.stem, variant) in unary:
            yield Computed(name, unary_table(path.stem, variant, mode, _inputs(path, mode, expected.size)))
        elif path.stem in binary and variant == "default":
            yield Computed(name, _binary_table(path, mode))
        else:
            yield Uncovered(name, "the engine does not offer this function yet")


def every_bf16() -> Words:
    """Return all 65,536 bfloat16 values as FP32 words."""
    return bf16_to_dst(np.arange(1 << 16))


def unary_table(name: str, variant: str, mode: str, inputs: Words) -> np.ndarray:
    """Return the engine's results as the tables store them."""
    wide = mode != "bf16"
    results: Words = _engine.sfpu(name, variant, inputs, wide)
    return results if wide else (results >> 16).astype(np.uint16)


def _binary_table(path: Path, mode: str) -> np.ndarray:
    inputs = _shared_inputs(path.with_name(INPUTS))
    wide = mode != "bf16"
    a, b = (inputs[f"pair_{operand}_{'fp32' if wide else 'bf16'}"] for operand in "ab")
    if wide:
        results: Words = _engine.sfpu_binary(path.stem, a, b, True)
        return results
    narrow: Words = _engine.sfpu_binary(path.stem, bf16_to_dst(a), bf16_to_dst(b), False)
    return (narrow >> 16).astype(np.uint16)


def _inputs(path: Path, mode: str, count: int) -> Words:
    if mode != "fp32_on_rand":
        return every_bf16()
    random = _shared_inputs(path.with_name(INPUTS))["rand_fp32"]
    if count == random.size:
        return random
    half = count // 2
    return np.concatenate([random[:half], random[RANDOM_HALF : RANDOM_HALF + half]])


@functools.lru_cache(maxsize=2)
def _shared_inputs(path: Path) -> Archive:
    return load(path)
