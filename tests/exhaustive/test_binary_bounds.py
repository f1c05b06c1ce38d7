"""Binary operators on close pairs: stated bounds, CPU level independence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from ttnn.cli.sweep import inputs
from ttnn.cli.sweep.subjects import arity, distances, results
from ttnn.operation import registry

Words = npt.NDArray[np.uint32]
PAIRS = 1 << 16
"""Pairs of normally distributed numbers, and as many close pairs."""
PARAMETERS: dict[str, dict[str, Any]] = {"addalpha": {"alpha": 0.75}, "subalpha": {"alpha": 0.75}}


def _scaled(words: Words, exponents: int) -> Words:
    """Return the numbers with exponents brought from 2**-20..2**20 to within 2**-n..2**n."""
    exponent = (words >> np.uint32(23) & np.uint32(255)).astype(np.int64) - 127
    kept = words & np.uint32(0x807FFFFF)
    return np.asarray(kept | ((exponent * exponents // 20 + 127).astype(np.uint32) << np.uint32(23)), np.uint32)


# Where results are finite; the bounds hold there.
DOMAINS: dict[str, Callable[[Words, Words], tuple[Words, Words]]] = {
    "pow": lambda a, b: (_scaled(a & np.uint32(0x7FFFFFFF), 4), _scaled(b, 3)),
    "ldexp": lambda a, b: (a, _scaled(b, 4)),
    "xlogy": lambda a, b: (a, b & np.uint32(0x7FFFFFFF)),
}


def entries() -> list[registry.Op]:
    """Return the binary floating-point operators.

    Of in-place forms the one whose bound is its own.
    """
    return [
        entry
        for entry in registry.entries()
        if entry.family == "binary"
        and (entry.name == "divide_" or not entry.name.endswith("_"))
        and ttnn.bfloat16 in entry.dtypes
        # Gated units have the error of silu and of the hyperbolic tangent, which sweeps of one tensor measure.
        if arity(entry) == 2 and not entry.name.endswith("_glu")
    ]


def pairs_for(name: str, dtype: str) -> list[Words]:
    """Return the pairs on which an operator's bound is stated."""
    normal = np.random.default_rng(inputs.SEED).normal(size=(2, PAIRS)).astype(np.float32).view(np.uint32)
    both = (np.concatenate(sides) for sides in zip(inputs.close_pairs(), normal, strict=True))
    a, b = DOMAINS.get(name, lambda a, b: (a, b))(*both)
    return [words & inputs.UPPER_HALF if dtype == "bfloat16" else words for words in (a, b)]


def measured(entry: registry.Op, dtype: str, device: ttnn.MeshDevice) -> tuple[float, int]:
    """Return the largest error and the CPU level dependent result count."""
    parameters = PARAMETERS.get(entry.name, {})
    words = pairs_for(entry.name, dtype)
    per_level = results(entry, parameters, words, dtype, device)
    differing = max(int(np.count_nonzero(per_level[0] != other)) for other in per_level)
    error = distances(entry, parameters, words, per_level[0], dtype)
    return float(error.max()), differing


def test_every_operator_has_a_bound() -> None:
    stated = {entry.name for entry in entries() if entry.accuracy is not None}
    assert {entry.name for entry in entries()} == stated


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("entry", entries(), ids=str)
def test_close_pairs(entry: registry.Op, dtype: str, device: ttnn.MeshDevice) -> None:
    error, differing = measured(entry, dtype, device)
    print(f"\n{entry.name} {dtype}: {error:.4g} ULP")
    assert differing == 0
    assert entry.accuracy is not None
    bound = entry.accuracy.bound(getattr(ttnn, dtype), device.arch())
    assert bound is not None
    # An exact operator rounds the reference, which lies within half a unit.
    assert error <= (bound or 0.5)
