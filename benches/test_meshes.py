"""Meshes of several chips: opening, calls, collectives against numpy's copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ratios import compare, copy_of

CLOSED = ttnn.FabricConfig.DISABLED
SYSTEMS = {"t3k": (2, 4), "galaxy": (4, 8)}
MEBIBYTES = 4
"""Size of each chip's tensor in the copies and sums."""


def resident_mebibytes() -> int:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096 >> 20


@pytest.fixture
def ring() -> Iterator[ttnn.MeshDevice]:
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING)
    with ttnn.manage_config("system", "t3k"), ttnn.create_mesh_device(ttnn.MeshShape(1, 8)) as mesh:
        yield mesh
    ttnn.set_fabric_config(CLOSED)


@pytest.mark.benchmark(group="open and close a mesh")
@pytest.mark.parametrize("system", SYSTEMS)
def test_open(benchmark: Any, system: str) -> None:
    with ttnn.manage_config("system", system):
        before = resident_mebibytes()
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(*SYSTEMS[system]))
        benchmark.extra_info["resident MiB"] = resident_mebibytes() - before
        ttnn.close_mesh_device(mesh)
        benchmark(lambda: ttnn.close_mesh_device(ttnn.open_mesh_device(ttnn.MeshShape(*SYSTEMS[system]))))


@pytest.mark.benchmark(group="an operator on one tile of each chip")
@pytest.mark.parametrize("system", SYSTEMS)
def test_call(benchmark: Any, system: str) -> None:
    shape = ttnn.MeshShape(*SYSTEMS[system])
    with ttnn.manage_config("system", system), ttnn.create_mesh_device(shape) as mesh:
        x = ttnn.ones((1, 1, 32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
        benchmark(ttnn.relu, x)


def _tensor(mesh: ttnn.MeshDevice) -> ttnn.Tensor:
    rows = (MEBIBYTES << 20) // 2 // 2048
    values = np.random.default_rng(1).normal(size=(8, 1, rows, 2048)).astype(np.float32)
    mapper = ttnn.ShardTensorToMesh(mesh, 0)
    return ttnn.Tensor(values, ttnn.bfloat16, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)


COLLECTIVES: dict[str, tuple[Callable[[ttnn.Tensor], ttnn.Tensor], int]] = {
    "all_gather": (lambda x: ttnn.all_gather(x, 2), 64 * MEBIBYTES),
    "reduce_scatter direct": (
        lambda x: ttnn.experimental.reduce_scatter_minimal_direct(x, 3),
        8 * MEBIBYTES,
    ),
    "reduce_scatter ring": (lambda x: ttnn.reduce_scatter(x, 3), 8 * MEBIBYTES),
    "reduce_scatter line": (lambda x: ttnn.reduce_scatter(x, 3, topology=ttnn.Topology.Linear), 8 * MEBIBYTES),
    "all_reduce": (lambda x: ttnn.all_reduce(x), 72 * MEBIBYTES),
}
"""With the MiB of a copy.

They are those that are written, of sums those that are read."""


@pytest.mark.benchmark(group="collectives of eight chips, 4 MiB of bfloat16 each")
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective(benchmark: Any, ring: ttnn.MeshDevice, name: str) -> None:
    x, (call, size) = _tensor(ring), COLLECTIVES[name]
    compare(benchmark, lambda: call(x), copy_of(size << 20), "copy")
