"""The demo's plot: two maps and digits with different results.

The maps are over formats and fidelities.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ttnn.base.files import open_atomically
from ttnn.cli.demo.inference import DTYPES, FIDELITIES, Measurement
from ttnn.cli.demo.network import Digits

SHOWN_DIGITS = 8
INK = "#20262e"
MUTED = "#6b7480"


def draw(path: Path, digits: Digits, exact: NDArray[np.float64], measurements: Sequence[Measurement]) -> None:
    """Write the plot to `path`; the same results give the same bytes."""
    figure = Figure(figsize=(9.0, 4.2), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        2, SHOWN_DIGITS, height_ratios=(1.5, 1.0), left=0.1, right=0.98, top=0.85, bottom=0.02, hspace=0.42, wspace=0.25
    )
    figure.suptitle(
        f"{len(digits.test_images)} handwritten digits on the device, against the same weights in float64",
        fontsize=11,
        color=INK,
    )
    half = SHOWN_DIGITS // 2
    errors = np.array([m.max_ulp for m in measurements]).reshape(len(DTYPES), len(FIDELITIES))
    accuracies = np.array([m.accuracy for m in measurements]).reshape(errors.shape)
    exact_classes = exact.argmax(axis=1)
    exact_accuracy = float((exact_classes == digits.test_classes).mean())
    _map(
        figure.add_subplot(grid[0, :half]),
        f"accuracy (float64: {exact_accuracy:.2%})",
        -accuracies,
        [[f"{value:.2%}" for value in row] for row in accuracies],
    )
    _map(
        figure.add_subplot(grid[0, half:]),
        "largest error of a probability, bfloat16 ULP",
        np.log(np.maximum(errors, 1.0)),
        [[f"{value:,.0f}" for value in row] for row in errors],
        names=False,
    )
    worst = measurements[DTYPES.index("bfloat4_b") * len(FIDELITIES)]
    _disagreements(figure, grid, digits, exact_classes, worst)
    with open_atomically(path, where="demo") as file:
        figure.savefig(file, format="png", metadata={"Software": None})


def _map(axes: Any, title: str, colours: NDArray[np.float64], texts: list[list[str]], *, names: bool = True) -> None:
    axes.imshow(colours, cmap="Blues", aspect="auto", vmin=colours.min(), vmax=colours.max() + 0.6 * np.ptp(colours))
    axes.set_title(title, fontsize=9, color=INK)
    axes.set_xticks(range(len(FIDELITIES)), FIDELITIES, fontsize=8, color=INK)
    axes.set_yticks(range(len(DTYPES)), DTYPES if names else [""] * len(DTYPES), fontsize=8, color=INK)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=INK)


def _disagreements(
    figure: Figure, grid: Any, digits: Digits, exact_classes: NDArray[np.int64], measurement: Measurement
) -> None:
    differing = np.flatnonzero(measurement.classes != exact_classes)
    agreeing = np.flatnonzero(measurement.classes == exact_classes)
    chosen = np.concatenate([differing, agreeing])[:SHOWN_DIGITS]
    figure.text(
        0.54,
        0.335,
        f"{len(differing)} digits are read differently in {measurement.dtype} at {measurement.fidelity}: float64 "
        "\N{RIGHTWARDS ARROW} device",
        ha="center",
        fontsize=9,
        color=INK,
    )
    for column, index in enumerate(chosen):
        axes = figure.add_subplot(grid[1, column])
        axes.imshow(digits.test_images[index].reshape(8, 8), cmap="Greys", interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(
            f"{exact_classes[index]} \N{RIGHTWARDS ARROW} {measurement.classes[index]}", fontsize=9, color=MUTED, pad=3
        )
