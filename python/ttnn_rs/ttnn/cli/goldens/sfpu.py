"""Functions of the vector unit: `sfpu/*.npz`."""

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


VARIANTS: dict[tuple[str, str], tuple[str, tuple[float, ...]]] = {
    ("relu_max", "upper6"): ("default", (6.0,)),
    ("relu_max", "upper1"): ("default", (1.0,)),
    ("relu_min", "lower0p5"): ("default", (0.5,)),
    ("relu_min", "lower_m1"): ("default", (-1.0,)),
    ("prelu", "w0p25"): ("default", (0.25,)),
    ("prelu", "w0p1"): ("default", (0.1,)),
    ("round", "decimals0"): ("integer", ()),
    ("round", "decimals1"): ("decimals", (10.0, 0.1)),
    ("round", "decimals2"): ("decimals", (100.0, 0.01)),
    ("round", "decimalsm1"): ("decimals", (0.1, 10.0)),
    ("elu", "alpha1"): ("default", (1.0,)),
    ("elu", "alpha0p5"): ("default", (0.5,)),
    ("celu", "alpha1"): ("default", (1.0, 1.0)),
    ("celu", "alpha0p5"): ("default", (0.5, 2.0)),
    ("selu", "ttnn_default"): ("default", (0x3F867D56, 0x3FE1093B)),
    ("selu", "torch_constants"): ("default", (0x3F867D5F, 0x3FE10966)),
    ("softshrink", "lambda0p5"): ("default", (0.5,)),
    ("hardtanh", "m1_1"): ("default", (-1.0, 1.0)),
    ("hardtanh", "m2p5_0p7"): ("default", (-2.5, 0.7)),
    ("clamp", "m1_1"): ("default", (-1.0, 1.0)),
    ("clamp", "m0p3_2p7"): ("default", (-0.3, 2.7)),
    ("power", "exp0p5"): ("default", (0.5,)),
    ("power", "exp2p0"): ("default", (2.0,)),
    ("power", "exp3p0"): ("default", (3.0,)),
    ("power", "expm1p0"): ("default", (-1.0,)),
    ("power", "expm0p5"): ("default", (-0.5,)),
    ("power", "exp1p7"): ("default", (1.7,)),
    ("remainder", "d3"): ("default", (3.0, 1 / 3)),
    ("remainder", "dm0p7"): ("default", (0xBF333333, 0xBFB6DB6E)),
    ("rdiv", "v2"): ("default", (2.0,)),
    ("rdiv", "v1p5"): ("default", (1.5,)),
    ("rdiv", "v1p5_trunc"): ("trunc", (1.5,)),
    ("rdiv", "v1p5_floor"): ("floor", (1.5,)),
    ("rpow", "base2"): ("default", (2.0,)),
    ("rpow", "base0p7"): ("default", (0.7,)),
    ("xielu", "ap0p8_an0p8"): ("default", (0.8, 0.8)),
    ("isclose", "rtol1em5_atol1em8"): ("default", (1e-5, 1e-8)),
    ("right_shift", "int32_by1"): ("int32", (1,)),
    ("right_shift", "int32_by5"): ("int32", (5,)),
    ("right_shift", "int32_by31"): ("int32", (31,)),
    ("right_shift", "int32_by32"): ("int32", (32,)),
    ("clamp_int32", "m100_5000"): ("int32", (-100, 5000)),
    ("*", "v0p5"): ("default", (0.5,)),
    ("*", "vm1p3"): ("default", (-1.3,)),
    ("*", "s1p5"): ("default", (1.5,)),
    ("*", "s0p1"): ("default", (0.1,)),
    ("*", "int32_0x0f0f1234"): ("int32", (0x0F0F1234,)),
    ("*", "v7"): ("int32", (7,)),
}
"""The engine's variant and parameters for variants of the tables that spell parameters; * is any function.

Floats become FP32 words; integers are words as they are.
"""


def _check(path: Path, archive: Archive) -> Iterator[Verdict]:
    offered = {(name, variant): operands for operands, name, variant, _ in _engine.sfpu_functions()}
    for name, expected in archive.items():
        spelled, mode = name.rsplit("__", 1)
        variant, parameters = _variant(path.stem, spelled)
        count = offered.get((path.stem, variant))
        if count is None:
            yield Uncovered(name, "the engine does not offer this function yet")
            continue
        operands = _operands(path, mode, count, expected.size)
        yield Computed(name, _table(path.stem, variant, mode, operands, parameters))


def _variant(name: str, spelled: str) -> tuple[str, list[int]]:
    variant, parameters = VARIANTS.get((name, spelled)) or VARIANTS.get(("*", spelled)) or (spelled, ())
    return variant, [_word(parameter) for parameter in parameters]


def _word(parameter: float) -> int:
    if isinstance(parameter, int):
        return parameter & 0xFFFFFFFF
    return int(np.float32(parameter).view(np.uint32))


def every_bf16() -> Words:
    """Return all 65,536 bfloat16 values as FP32 words."""
    return bf16_to_dst(np.arange(1 << 16))


def unary_table(name: str, variant: str, mode: str, inputs: Words) -> np.ndarray:
    """Return the engine's results as the tables store them."""
    return _table(name, variant, mode, [inputs], [])


def _table(name: str, variant: str, mode: str, operands: list[Words], parameters: list[int]) -> np.ndarray:
    wide = mode != "bf16"
    results: Words
    if len(operands) == 1:
        results = _engine.sfpu(name, variant, operands[0], wide, parameters)
    elif len(operands) == 2:
        results = _engine.sfpu_binary(name, operands[0], operands[1], wide, variant, parameters)
    else:
        results = _engine.sfpu_ternary(name, operands[0], operands[1], operands[2], wide, variant, parameters)
    if wide:
        return results
    # Integers lie in the low half of a word, BF16 in the upper.
    return (results if name.startswith("typecast") else results >> 16).astype(np.uint16)


def _operands(path: Path, mode: str, count: int, size: int) -> list[Words]:
    if count == 1 and (mode in ("bf16", "fp32_on_bf16") or path.stem == "typecast_from_bf16"):
        return [every_bf16()]
    inputs = _shared_inputs(path.with_name(INPUTS))
    if mode == "fp32_on_rand":
        return [_random(inputs["rand_fp32"], size)]
    if mode == "fp32" and size == inputs["int_a"].size:
        second = "int_shift" if "_shift" in path.stem else "int_b"
        names = ["int_small_a", "int_small_b"] if path.stem == "lcm" else ["int_a", second]
    else:
        names = [f"pair_{operand}_{mode}" for operand in "abc"]
    words = [inputs[name] for name in names[:count]]
    return words if mode == "fp32" else [bf16_to_dst(operand) for operand in words]


def _random(words: Words, size: int) -> Words:
    if size == words.size:
        return words
    half = size // 2
    return np.concatenate([words[:half], words[RANDOM_HALF : RANDOM_HALF + half]])


@functools.lru_cache(maxsize=2)
def _shared_inputs(path: Path) -> Archive:
    return load(path)
