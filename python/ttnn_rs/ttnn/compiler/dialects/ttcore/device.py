"""Devices: core grids over chips, and memory address maps.

A worker map takes a point of the grid to (chip, y, x); the maps of L1 and DRAM take an index of a buffer to
(chip, y, x, offset). Source: tt-mlir, "Device" (docs/src/specs/device.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ttnn.base.exceptions import DeviceError
from ttnn.compiler.dialects.ttcore.affine import (
    AffineExpr,
    AffineMap,
    constant,
    dimensions,
    floordiv,
    mod,
    strides,
    times,
)
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc

__all__ = ["DRAM_PAGE", "Device", "dram_map", "l1_map", "worker_map"]

#: Elements of a DRAM page: neighbours of a buffer in one channel.
DRAM_PAGE: Final = 8192


def worker_map(mesh: Sequence[int], chip_grid: Sequence[int]) -> tuple[tuple[int, ...], AffineMap]:
    """Return a mesh's grid, and its map to (chip, y, x).

    All chips are one grid.

    The last two dimensions of the mesh put chips side by side and above each other, the others count whole grids.

    Args:
        mesh: Chips per dimension; ones are added behind a single dimension.
        chip_grid: Rows and columns of cores of one chip.
    """
    shape = tuple(mesh) if len(mesh) > 1 else (*mesh, 1) if mesh else (1, 1)
    rank = len(shape)
    rows, columns = chip_grid
    grid = (*shape[:-2], shape[-2] * rows, shape[-1] * columns)
    dims = dimensions(rank)
    y, x = dims[-2:]
    chip: AffineExpr | None = None

    def add(term: AffineExpr) -> None:
        nonlocal chip
        chip = term if chip is None else chip + term

    steps = strides(shape)
    for dim, size, step in zip(dims[:-2], shape[:-2], steps[:-2], strict=True):
        if size > 1 or math.prod(shape) > 1:
            add(dim if step == 1 else dim * step)
    if shape[-1] > 1:
        add(x // columns)
    if shape[-2] > 1:
        across = y // rows
        add(across if shape[-1] == 1 else across * shape[-1])
    results = (
        chip if chip is not None else constant(0),
        y % rows if shape[-2] > 1 else y,
        x % columns if shape[-1] > 1 else x,
    )
    return grid, AffineMap(rank, 0, results)


def _row_major(indices: Sequence[AffineExpr], shape: Sequence[int | AffineExpr]) -> AffineExpr:
    """An index's number in a box, with possibly symbolic sizes."""
    total: AffineExpr | None = None
    step: AffineExpr | None = None
    for index, size in zip(reversed(indices), reversed(shape), strict=True):
        term = index if step is None else times(index, step)
        total = term if total is None else term + total
        factor = size if isinstance(size, AffineExpr) else constant(size)
        step = factor if step is None else times(step, factor)
    return total if total is not None else constant(0)


def l1_map(workers: AffineMap, rank: int) -> AffineMap:
    """Return an L1 buffer's map.

    (chip, y, x) of the core that has the shard, offset in the shard.

    The symbols s0, s1, ... of the map are the sizes of a shard.

    Args:
        workers: Worker map of the device.
        rank: Rank of the grid.
    """
    dims = dimensions(rank)
    sizes: list[AffineExpr] = [AffineExpr.symbol(position) for position in range(rank)]
    cores = [floordiv(dim, size) for dim, size in zip(dims, sizes, strict=True)]
    within = [mod(dim, size) for dim, size in zip(dims, sizes, strict=True)]
    placed = [result.replace_dims_and_symbols(cores, ()) for result in workers.results]
    return AffineMap(rank, rank, (*placed, _row_major(within, sizes)))


def dram_map(workers: AffineMap, grid: Sequence[int], channels: int, page: int = DRAM_PAGE) -> AffineMap:
    """Return a DRAM buffer's map: (chip, 0, channel, offset).

    The pages alternate between the channels.

    The symbols s0, s1, ... of the map are the sizes of a shard. The offset leaves out the stride of the pages of a
    channel, as the published map does; real addresses come from the allocator of the device.

    Args:
        workers: Worker map of the device.
        grid: Grid of the device.
        channels: DRAM channels of a chip.
        page: Elements of a page.
    """
    rank = len(grid)
    dims = dimensions(rank)
    sizes: list[AffineExpr] = [AffineExpr.symbol(position) for position in range(rank)]
    cores = [floordiv(dim, size) for dim, size in zip(dims, sizes, strict=True)]
    within = [mod(dim, size) for dim, size in zip(dims, sizes, strict=True)]
    volume: AffineExpr = sizes[0]
    for size in sizes[1:]:
        volume = times(volume, size)
    address = times(_row_major(cores, list(grid)), volume) + _row_major(within, sizes)
    chip = workers.results[0].replace_dims_and_symbols(cores, ())
    results = (
        chip,
        constant(0),
        (address // page) % channels,
        address // (page * channels) + address % page,
    )
    return AffineMap(rank, rank, results)


@dataclass(frozen=True)
class Device:
    """Some chips of a system, seen as one grid of cores.

    Attributes:
        grid: Cores per dimension.
        workers: Map of the grid to (chip, y, x); a chip is an index into `chip_ids`.
        l1: Map of a buffer in L1 to (chip, y, x, offset).
        dram: Map of a buffer in DRAM to (chip, y, x, offset).
        mesh_shape: Chips per dimension.
        chip_ids: Chips in the order of the mesh.

    Raises:
        DeviceError: No chip, not as many chips as the mesh has places, a size below 1, or maps with other than three
            or four results.
    """

    grid: tuple[int, ...]
    workers: AffineMap
    l1: AffineMap
    dram: AffineMap
    mesh_shape: tuple[int, ...]
    chip_ids: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.chip_ids:
            raise DeviceError("a device has at least one chip.")
        if math.prod(self.mesh_shape) != len(self.chip_ids):
            raise DeviceError(
                f"a mesh of {'x'.join(map(str, self.mesh_shape))} has {math.prod(self.mesh_shape)} chips, "
                f"and {len(self.chip_ids)} are passed."
            )
        if any(size < 1 for size in self.grid):
            raise DeviceError(f"a grid has at least one core per dimension, got {self.grid}.")
        if len(self.workers.results) != 3:
            raise DeviceError(f"a worker map has 3 results (chip, y, x), got {len(self.workers.results)}.")
        for name, memory in (("L1", self.l1), ("DRAM", self.dram)):
            if len(memory.results) != 4:
                raise DeviceError(f"a map of {name} has 4 results (chip, y, x, offset), got {len(memory.results)}.")

    @staticmethod
    def of_system(system: SystemDesc, mesh_shape: Sequence[int] = ()) -> Device:
        """Return the device of a mesh of a system's first chips.

        Args:
            system: The chips that there are.
            mesh_shape: Chips per dimension; all chips side by side if it is empty and the system has several, one
                chip otherwise.

        Raises:
            DeviceError: A mesh with more chips than the system has.
        """
        count = len(system.chip_indices)
        mesh = tuple(mesh_shape) or (1,)
        if any(size < 1 for size in mesh) or math.prod(mesh) > count:
            raise DeviceError(
                f"a mesh of {'x'.join(map(str, mesh))} needs {math.prod(mesh)} chips, "
                f"the system descriptor has {count}. Load a descriptor of a larger system, or make the mesh smaller."
            )
        grids = [chip.grid for chip in system.chips]
        smallest = tuple(min(sizes) for sizes in zip(*grids, strict=True))
        grid, workers = worker_map(mesh, smallest)
        channels = min(chip.num_dram_channels for chip in system.chips)
        return Device(
            grid,
            workers,
            l1_map(workers, len(grid)),
            dram_map(workers, grid, channels),
            mesh,
            tuple(range(math.prod(mesh))),
        )
