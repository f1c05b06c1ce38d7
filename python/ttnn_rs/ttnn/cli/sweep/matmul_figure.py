"""The plot of `sweep matmul`: error over K per Dst width.

One panel each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ttnn.base.files import open_atomically
from ttnn.cli.sweep.figure import INK, MUTED
from ttnn.cli.sweep.matmul_errors import BLOCKINGS, FIDELITIES, Measurement

COLOURS: Final = {"LoFi": "#c0392b", "HiFi2": "#d68910", "HiFi3": "#2c6fbb", "HiFi4": "#1e8449"}
STYLES: Final = ("-", "--", ":")


def draw(path: Path, found: Sequence[Measurement], label: str) -> None:
    """Write the plot to `path`; the same results give the same bytes."""
    figure = Figure(figsize=(9.6, 3.8), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    widths = sorted({m.dst for m in found})
    axes = figure.subplots(1, len(widths), sharey=True, squeeze=False)[0]
    for panel, dst in zip(axes, widths, strict=True):
        for fidelity in FIDELITIES:
            for blocking, style in zip(BLOCKINGS, STYLES, strict=True):
                line = [m for m in found if (m.dst, m.fidelity, m.blocking) == (dst, fidelity, blocking)]
                if line:
                    panel.plot(
                        [m.k for m in line],
                        [m.relative_error for m in line],
                        style,
                        color=COLOURS[fidelity],
                        marker="o",
                        markersize=2.5,
                        linewidth=1.1,
                        label=f"{fidelity}, added {blocking}",
                    )
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_title(f"{dst}-bit Dst", fontsize=9, color=INK)
        panel.set_xlabel("K", fontsize=8, color=MUTED)
        panel.tick_params(labelsize=7, colors=INK)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    axes[0].set_ylabel("root mean square error, relative", fontsize=8, color=MUTED)
    axes[-1].legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.suptitle(f"ttnn.matmul, {label}: error over the length of the sums", fontsize=10, color=INK)
    figure.tight_layout()
    with open_atomically(path, where="sweep") as file:
        figure.savefig(file, format="png", metadata={"Software": None})
