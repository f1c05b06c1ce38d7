"""Plots of sweeps: error over input, one panel per sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ttnn.base.files import open_atomically
from ttnn.cli.common.ulp import MIN_NORMAL
from ttnn.cli.sweep.statistics import Floats
from ttnn.cli.sweep.subjects import Outcome

INK, MUTED, POINTS, LIMIT = "#20262e", "#6b7480", "#2c6fbb", "#c0392b"
COLUMNS = 2
BINS = 900
"""Points per bin: the largest and the mean error inside.

They form one vertical line of the plot.
"""


def draw(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the plot to `path`; the same results give the same bytes."""
    columns = min(COLUMNS, len(outcomes))
    rows = -(-len(outcomes) // columns)
    figure = Figure(figsize=(5.4 * columns, 0.5 + 2.7 * rows), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for panel, outcome in zip(axes, outcomes, strict=False):
        _panel(panel, outcome)
    for panel in axes[len(outcomes) :]:
        panel.axis("off")
    figure.tight_layout()
    with open_atomically(path, where="sweep") as file:
        figure.savefig(file, format="png", metadata={"Software": None})


def _position(x: Floats) -> Floats:
    """Return an input's position on an axis of equal binades.

    From -max over 0 to max.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sign(x) * (np.log2(np.maximum(np.abs(x), MIN_NORMAL) / MIN_NORMAL) + 1.0))


def _panel(axes: Any, outcome: Outcome) -> None:
    sweep = outcome.sweep
    errors = outcome.errors.ulp
    counted = ~np.isnan(errors)
    place, error = _position(outcome.operands[0][counted]), errors[counted]
    bins = np.clip(((place + 256.0) / 512.0 * BINS).astype(np.int64), 0, BINS - 1)
    largest = np.zeros(BINS)
    np.maximum.at(largest, bins, error)
    count = np.bincount(bins, minlength=BINS)
    mean = np.bincount(bins, error, minlength=BINS) / np.maximum(count, 1)
    used = count > 0
    centre = (np.arange(BINS) + 0.5) / BINS * 512.0 - 256.0
    axes.scatter(centre[used], largest[used], s=3.0, color=POINTS, linewidths=0, label="largest")
    axes.plot(centre[used], mean[used], color=INK, linewidth=0.7, label="mean")
    if sweep.bound_ulp is not None:
        axes.axhline(sweep.bound_ulp, color=LIMIT, linewidth=0.8, linestyle=":", label="stated bound")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_ylim(bottom=-0.05)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlim(-260.0, 260.0)
    ticks = [-(2.0**e) for e in (96, 32, 0, -32, -96)] + [2.0**e for e in (-96, -32, 0, 32, 96)]
    names = [rf"$-2^{{{e}}}$" for e in (96, 32, 0, -32, -96)] + [rf"$2^{{{e}}}$" for e in (-96, -32, 0, 32, 96)]
    axes.set_xticks(_position(np.array(ticks)), names, fontsize=7, color=INK)
    axes.tick_params(axis="y", labelsize=7, colors=INK)
    f = sweep.statistics
    axes.set_title(f"ttnn.{sweep.label}, {sweep.dtype}: largest {f.max_ulp:.3g} ULP", fontsize=9, color=INK)
    axes.set_xlabel("input" if len(outcome.operands) == 1 else "first input", fontsize=8, color=MUTED)
    axes.set_ylabel("error in ULP", fontsize=8, color=MUTED)
    axes.legend(fontsize=7, frameon=False, loc="upper center")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
