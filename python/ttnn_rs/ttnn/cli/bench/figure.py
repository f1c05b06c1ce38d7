"""The bench's plot: speed relative to each peer, logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ttnn.base.files import open_atomically
from ttnn.cli.bench.cases import Result

INK = "#20262e"
MUTED = "#6b7480"
FASTER, SLOWER = "#4292c6", "#c6dbef"


def draw(path: Path, results: Sequence[Result], host: dict[str, Any]) -> None:
    """Write the plot to `path`."""
    bars = [
        (f"{result.name}  |  {peer}", seconds / result.seconds)
        for result in results
        for peer, seconds in result.peers.items()
    ]
    figure = Figure(figsize=(9.0, 1.2 + 0.26 * max(len(bars), 1)), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for position, (_, ratio) in enumerate(reversed(bars)):
        axes.barh(position, ratio, color=FASTER if ratio >= 1 else SLOWER)
        axes.text(ratio, position, f" {ratio:.2g}", va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(bars)), [label for label, _ in reversed(bars)], fontsize=8, color=INK)
    if bars:
        axes.set_xscale("log")
    axes.axvline(1.0, color=MUTED, linewidth=0.8)
    axes.set_xlabel("peer's time / our time", fontsize=8, color=INK)
    axes.tick_params(axis="x", labelsize=8, colors=MUTED)
    axes.set_title(
        f"{host['size']} x {host['size']}, {host['threads']} thread(s), {host['cpu']}, {host['cpu_level']}",
        fontsize=9,
        color=INK,
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    with open_atomically(path, where="bench") as file:
        figure.savefig(file, format="png", metadata={"Software": None})
