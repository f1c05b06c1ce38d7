"""Meshes of several chips and tensors with other values on each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import ttnn


@contextmanager
def mesh_of(shape: tuple[int, int], fabric: ttnn.FabricConfig) -> Iterator[ttnn.MeshDevice]:
    ttnn.set_fabric_config(fabric)
    try:
        with ttnn.create_mesh_device(ttnn.MeshShape(*shape)) as mesh:
            yield mesh
    finally:
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def different(mesh: ttnn.MeshDevice, shape: tuple[int, ...], dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    """Return a tensor with other values on every chip."""
    values = np.random.default_rng(7).normal(size=(len(mesh.chips) * shape[0], *shape[1:])).astype(np.float32)
    mapper = ttnn.ShardTensorToMesh(mesh, 0)
    return ttnn.Tensor(values, dtype, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)


def by_chip(tensor: ttnn.Tensor) -> list[np.ndarray]:
    return [part.to_torch().float().numpy() for part in ttnn.get_device_tensors(tensor)]


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def places(mesh: ttnn.MeshDevice, axis: int | None = None) -> list[list[int]]:
    grid = np.array([chip.place for chip in mesh.chips]).reshape(tuple(mesh.shape))
    return [grid.ravel().tolist()] if axis is None else (grid.T if axis == 0 else grid).tolist()


def semaphores(mesh: ttnn.MeshDevice, count: int) -> list[ttnn.GlobalSemaphore]:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (7, 6))])
    return [ttnn.create_global_semaphore(mesh, cores, 0) for _ in range(count)]
