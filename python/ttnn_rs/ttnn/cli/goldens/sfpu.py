"""Functions of the SFPU: `sfpu/*.npz`, one call of the engine per table."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ttnn import _engine
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.registers import Words, bf16_to_dst
from ttnn.cli.goldens.variants import engine_variant, functions
from ttnn.cli.goldens.walk import Archive, Checker, Computed, Uncovered, Verdict, load

INPUTS = "_inputs.npz"
"""The file of shared random inputs."""
RANDOM_HALF = 32768
"""Index of the first input of the second random kind."""


def checker_of(name: str) -> Checker | None:
    """Return what checks the file `name` of `sfpu/`."""
    return None if name == INPUTS else _check


def _check(path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    for array, expected in archive.items():
        table, mode = array.rsplit("__", 1)
        variant, parameters = engine_variant(path.stem, table, chip.number)
        taken = functions(chip.number).get(path.stem, {}).get(variant)
        if taken is None:
            yield Uncovered(array, f"the engine has no function {path.stem}/{variant}")
            continue
        operands, wanted = taken
        if wanted != len(parameters):
            yield Uncovered(array, f"{path.stem}/{variant} takes {wanted} parameters, {table} names {len(parameters)}")
            continue
        inputs = _operands(path, variant, mode, operands, expected.size)
        results = _run(path.stem, variant, inputs, mode != "bf16", parameters, chip.number)
        yield Computed(array, _as_stored(variant, expected.dtype, results))


def every_bf16() -> Words:
    """Return all 65,536 bfloat16 values as FP32 words."""
    return bf16_to_dst(np.arange(1 << 16))


def unary_table(name: str, table: str, mode: str, inputs: Words, arch: int = 0) -> np.ndarray:
    """Return a unary table's results from the engine, in stored form."""
    variant, parameters = engine_variant(name, table, arch)
    stored = np.dtype(np.uint16 if mode == "bf16" else np.uint32)
    return _as_stored(variant, stored, _run(name, variant, [inputs], mode != "bf16", parameters, arch))


def _run(name: str, variant: str, inputs: Sequence[Words], wide: bool, parameters: list[int], arch: int) -> Words:
    if len(inputs) == 1:
        return _engine.sfpu(name, variant, inputs[0], wide, parameters, arch)
    if len(inputs) == 2:
        return _engine.sfpu_binary(name, inputs[0], inputs[1], wide, variant, parameters, arch)
    return _engine.sfpu_ternary(name, (inputs[0], inputs[1], inputs[2]), wide, variant, parameters, arch)


def _as_stored(variant: str, stored: np.dtype[Any], results: Words) -> np.ndarray:
    """Return Dst words in the tables' stored form.

    16-bit ones of floats are the upper halves, of integers the lower.
    """
    if stored.itemsize == results.itemsize:
        return results
    integers = variant.rpartition("_to_")[2].startswith(("int32", "uint"))
    return (results if integers else results >> 16).astype(stored)


def _operands(path: Path, variant: str, mode: str, count: int, length: int) -> list[Words]:
    """Return table inputs at Dst bit positions, per the vectors' README."""
    if path.stem == "typecast_from_uint16":
        return [np.arange(length, dtype=np.uint32)]
    if count == 1 and (mode in ("bf16", "fp32_on_bf16") or path.stem == "typecast_from_bf16"):
        return [every_bf16()]
    shared = _shared_inputs(path.with_name(INPUTS))
    if mode == "fp32_on_rand":
        return [_random(shared["rand_fp32"], length)]
    if mode == "fp32" and (count == 1 or _of_integers(path.stem, variant)):
        names: tuple[str, ...] = _integer_names(path.stem)
    else:
        names = tuple(f"pair_{operand}_{mode}" for operand in "abc")
    arrays = [shared[name][:length] for name in names[:count]]
    return [bf16_to_dst(words) for words in arrays] if mode == "bf16" else arrays


def _of_integers(name: str, variant: str) -> bool:
    return "int" in name.split("_")[-1] or "int32" in f"{name} {variant}"


def _integer_names(name: str) -> tuple[str, str]:
    if name == "lcm":
        return "int_small_a", "int_small_b"
    return "int_a", "int_shift" if "_shift" in name else "int_b"


def _random(random: Words, length: int) -> Words:
    if length == random.size:
        return random
    half = length // 2
    return np.concatenate([random[:half], random[RANDOM_HALF : RANDOM_HALF + half]])


@functools.lru_cache(maxsize=2)
def _shared_inputs(path: Path) -> Archive:
    return load(path)
