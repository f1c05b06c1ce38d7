"""Plots that several tasks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def correlations(figure: Any, found: Mapping[str, Sequence[float]], unit: str) -> None:
    """Draw 1 - PCC to torch after every layer, for each run."""
    axes = figure.subplots()
    for name, values in found.items():
        axes.semilogy(range(1, len(values) + 1), [max(1 - value, 1e-7) for value in values], marker="o", label=name)
    axes.set_xlabel(unit, fontsize=9)
    axes.set_ylabel("1 - PCC to torch in float32", fontsize=9)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
