"""Functions of the vector unit: `sfpu/*.npz`, one call of the engine per table."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ttnn import _engine

from .registers import Words, bf16_to_dst
from .variants import engine_variant
from .walk import Archive, Checker, Computed, Uncovered, Verdict, load

INPUTS = "_inputs.npz"
"""The file of shared random inputs."""
RANDOM_HALF = 32768
"""Where the second kind of random inputs begins."""
INTEGER_TABLE = 16384
"""Entries of a table of integers; tables of pairs of floating-point numbers have others."""


def checker_of(name: str) -> Checker | None:
    """Return what checks the file `name` of `sfpu/`."""
    return None if name == INPUTS else _check


def _check(path: Path, archive: Archive) -> Iterator[Verdict]:
    functions = _functions()
    for array, expected in archive.items():
        table, mode = array.rsplit("__", 1)
        variant, parameters = engine_variant(path.stem, table)
        taken = functions.get((path.stem, variant))
        if taken is None:
            yield Uncovered(array, f"the engine has no function {path.stem}/{variant}")
            continue
        operands, wanted = taken
        if wanted != len(parameters):
            yield Uncovered(array, f"{path.stem}/{variant} takes {wanted} parameters, {table} names {len(parameters)}")
            continue
        inputs = _operands(path, mode, operands, expected.size)
        results = _run(path.stem, variant, inputs, mode != "bf16", parameters)
        yield Computed(array, _as_stored(path.stem, mode, results))


@functools.cache
def _functions() -> dict[tuple[str, str], tuple[int, int]]:
    """Return the number of operands and of parameters of every function, by name and variant."""
    return {
        (name, variant): (operands, len(parameters)) for operands, name, variant, parameters in _engine.sfpu_functions()
    }


def every_bf16() -> Words:
    """Return all 65,536 bfloat16 values as FP32 words."""
    return bf16_to_dst(np.arange(1 << 16))


def unary_table(name: str, table: str, mode: str, inputs: Words) -> np.ndarray:
    """Return the engine's results for a table of a function of one operand as the vectors store them."""
    variant, parameters = engine_variant(name, table)
    return _as_stored(name, mode, _run(name, variant, [inputs], mode != "bf16", parameters))


def _run(name: str, variant: str, inputs: Sequence[Words], wide: bool, parameters: list[int]) -> Words:
    if len(inputs) == 1:
        return _engine.sfpu(name, variant, inputs[0], wide, parameters)
    if len(inputs) == 2:
        return _engine.sfpu_binary(name, inputs[0], inputs[1], wide, variant, parameters)
    return _engine.sfpu_ternary(name, inputs[0], inputs[1], inputs[2], wide, variant, parameters)


def _as_stored(name: str, mode: str, results: Words) -> np.ndarray:
    """Return Dst words as the tables store them: of a 16-bit Dst the upper halves, of integers the lower."""
    if mode != "bf16":
        return results
    return (results if name.startswith("typecast") else results >> 16).astype(np.uint16)


def _operands(path: Path, mode: str, count: int, length: int) -> list[Words]:
    """Return the inputs of a table at the bit positions of Dst, as the README of the vectors pairs them."""
    if count == 1 and (mode in ("bf16", "fp32_on_bf16") or path.stem == "typecast_from_bf16"):
        return [every_bf16()]
    shared = _shared_inputs(path.with_name(INPUTS))
    if mode == "fp32_on_rand":
        return [_random(shared["rand_fp32"], length)]
    if mode == "fp32" and (count == 1 or length == INTEGER_TABLE):
        first, second = _integer_names(path.stem)
        return [shared[name] for name in (first, second)[:count]]
    arrays = [shared[f"pair_{operand}_{mode}"] for operand in "abc"[:count]]
    return [bf16_to_dst(words) for words in arrays] if mode == "bf16" else arrays


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
