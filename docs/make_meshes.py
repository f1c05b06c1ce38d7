"""Plot the timeline of an all_reduce on eight chips.

The plot is `docs/all-reduce.png`. Times are those of a profile; which slices a chip sends follows from the order of
additions in `docs/meshes.md`. Requires matplotlib: `pip install -e ".[demo]"`, then `python docs/make_meshes.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ttnn
from ttnn.profiler.links import START_NS

CHIPS: Final = 8
HALF: Final = CHIPS // 2
LANE: Final = 0.38
"""Height of the blocks of a direction."""


def operations() -> list[tuple[str, float]]:
    """Return the device operations of an all_reduce, and their microseconds."""
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING)
    with ttnn.manage_config("system", "t3k"), ttnn.create_mesh_device(ttnn.MeshShape(1, CHIPS)) as mesh:
        x = ttnn.Tensor(np.ones((1, 1, 1024, 2048), np.float32), ttnn.bfloat16, device=mesh, layout=ttnn.TILE_LAYOUT)
        with ttnn.profiler.profile() as profile:
            ttnn.all_reduce(x)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
    return [(row.plan.name.removesuffix("DeviceOperation"), row.nanoseconds / 1000) for row in profile.rows]


def slices(chip: int, way: int, *, gathers: bool) -> list[tuple[int, float]]:
    """Return the slices that a chip sends forward (1) or backward (-1).

    With the part of each: half of a slice's chunks goes one step further forward, the other half backward.
    """
    if gathers:
        steps = [(chip - way * step, 1.0) for step in range(HALF - 1)]
        return [*steps, (chip - way * (HALF - 1), 0.5)]
    return [(chip + way * HALF, 0.5), *((chip + way * step, 1.0) for step in range(HALF - 1, 0, -1))]


def main() -> None:
    """Write the picture."""
    found = operations()
    colors = plt.get_cmap("tab10")
    figure, axes = plt.subplots(figsize=(9, 5), dpi=100)
    start = 0.0
    for name, duration in found:
        begin = start + START_NS / 1000
        step = (duration - START_NS / 1000) / (HALF - 0.5)
        for chip in range(CHIPS):
            for way, top in ((1, chip - LANE), (-1, chip + 0.02)):
                at = begin
                for number, part in slices(chip, way, gathers=name.startswith("AllGather")):
                    slice_ = number % CHIPS
                    axes.broken_barh([(at, step * part)], (top, LANE - 0.02), color=colors(slice_), edgecolor="white")
                    middle = (at + step * part / 2, top + LANE / 2 - 0.01)
                    axes.text(*middle, str(slice_), ha="center", va="center", fontsize=7, color="white")
                    at += step * part
        axes.axvline(start, color="black", linewidth=0.8)
        axes.text(start + 2, -0.62, f"{name}: {duration:.0f} µs", fontsize=9)
        start += duration
    axes.set_yticks(range(CHIPS), [f"chip {chip}" for chip in range(CHIPS)])
    axes.set_ylim(CHIPS - 0.4, -0.9)
    axes.set_xlim(0, start)
    axes.set_xlabel("µs on a T3000; above: slices sent forward, below: backward")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(left=False)
    figure.tight_layout()
    figure.savefig(Path(__file__).parent / "all-reduce.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
