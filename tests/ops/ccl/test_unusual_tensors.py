"""Collectives of unusual tensors.

They return a result or raise an error of this package, and the mesh still works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, different, semaphores
from ttnn.base.exceptions import EngineBugError, TtnnError

CCL = ttnn.experimental
START, END = ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1)


def _sharded(mesh: ttnn.MeshDevice, strategy: Any, layout: ttnn.Layout, dtype: ttnn.DataType) -> ttnn.Tensor:
    shape = (1, 1, 128, 128)
    config = ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=2, x=2), strategy)
    if strategy is not ttnn.ShardStrategy.BLOCK:
        config = ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=1, x=4), strategy)
    return ttnn.to_memory_config(ttnn.to_layout(different(mesh, shape, dtype), layout), config)


def _rows(mesh: ttnn.MeshDevice, shape: tuple[int, ...], dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.to_layout(different(mesh, shape, dtype), ttnn.ROW_MAJOR_LAYOUT)


TENSORS: dict[str, Callable[[ttnn.MeshDevice], ttnn.Tensor]] = {
    "row-major": lambda mesh: _rows(mesh, (1, 1, 64, 128)),
    "partial tiles": lambda mesh: different(mesh, (1, 3, 20, 40)),
    "block floats of partial tiles": lambda mesh: different(mesh, (1, 4, 24, 40), ttnn.bfloat8_b),
    "bfloat4_b": lambda mesh: different(mesh, (1, 4, 32, 128), ttnn.bfloat4_b),
    "float32": lambda mesh: different(mesh, (1, 4, 36, 132), ttnn.float32),
    "one dimension": lambda mesh: ttnn.reshape(_rows(mesh, (1, 16)), [16]),
    "one dimension of tiles": lambda mesh: ttnn.reshape(different(mesh, (1, 128)), [128]),
    "six dimensions": lambda mesh: ttnn.reshape(_rows(mesh, (1, 4, 16, 32)), [1, 2, 2, 4, 4, 32]),
    "no elements": lambda mesh: ttnn.zeros([0, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh),
    "height shards": lambda mesh: _sharded(mesh, ttnn.ShardStrategy.HEIGHT, ttnn.TILE_LAYOUT, ttnn.bfloat16),
    "width shards": lambda mesh: _sharded(mesh, ttnn.ShardStrategy.WIDTH, ttnn.TILE_LAYOUT, ttnn.bfloat8_b),
    "block shards": lambda mesh: _sharded(mesh, ttnn.ShardStrategy.BLOCK, ttnn.TILE_LAYOUT, ttnn.float32),
    "height shards of rows": lambda m: _sharded(m, ttnn.ShardStrategy.HEIGHT, ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat16),
    "width shards of rows": lambda m: _sharded(m, ttnn.ShardStrategy.WIDTH, ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat16),
    "block shards of rows": lambda m: _sharded(m, ttnn.ShardStrategy.BLOCK, ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat16),
    "small tiles": lambda mesh: ttnn.Tensor(
        np.ones((8, 1, 32, 64), np.float32), ttnn.bfloat16, device=mesh, layout=ttnn.TILE_LAYOUT,
        tile=ttnn.Tile((16, 32)), mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0)),
    "integers": lambda mesh: ttnn.typecast(different(mesh, (1, 4, 20, 40)), ttnn.int32),
    "one chip": lambda mesh: ttnn.get_device_tensors(different(mesh, (1, 4, 32, 128)))[0],
}  # fmt: skip
CALLS: dict[str, Callable[[ttnn.Tensor, int, Any], Any]] = {
    "all_gather": lambda x, dim, _: ttnn.all_gather(x, dim, cluster_axis=1),
    "all_gather_async": lambda x, dim, some: CCL.all_gather_async(
        x, dim, 1, some.mesh, ttnn.Topology.Linear, some[:2]),
    "all_broadcast": lambda x, _, __: ttnn.all_broadcast(x, cluster_axis=1),
    "broadcast": lambda x, _, __: ttnn.broadcast(x, START, cluster_axis=1),
    "point_to_point": lambda x, _, __: ttnn.point_to_point(x, START, END),
    "point_to_point in place": lambda x, _, __: ttnn.point_to_point(x, START, END, output_tensor=x),
    "mesh_partition": lambda x, dim, _: ttnn.mesh_partition(x, dim, 1),
    "reduce_scatter": lambda x, dim, _: ttnn.reduce_scatter(x, dim, cluster_axis=1),
    "reduce_scatter_minimal_async": lambda x, dim, some: CCL.reduce_scatter_minimal_async(
        x, None, dim, some[:3], cluster_axis=1),
    "all_reduce": lambda x, _, __: ttnn.all_reduce(x, cluster_axis=1),
    "all_reduce of all": lambda x, _, __: ttnn.all_reduce(x),
    "all_reduce_async": lambda x, _, some: CCL.all_reduce_async(
        x, 1, some.mesh, some[:2], some[:3], some[:2], ttnn.ReduceType.Sum),
    "all_reduce_async in a buffer": lambda x, _, some: CCL.all_reduce_async(x, x, 1, some.mesh, some[0]),
    "all_to_all": lambda x, dim, _: CCL.all_to_all_async_generic(x, dim, dim - 1, cluster_axis=1),
    "neighbor_pad": lambda x, dim, some: CCL.neighbor_pad_async(x, [dim], [1], [1], "zeros", [1], some[:1], some[:1]),
    "slice_reshard": lambda x, dim, some: CCL.slice_reshard_async(x, dim, 1, 4, 1, some[0], some[0]),
}  # fmt: skip


class _Semaphores(list[ttnn.GlobalSemaphore]):
    mesh: ttnn.MeshDevice


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", TENSORS)
def test_unusual_tensors_give_results_or_errors_of_our_own(line: ttnn.MeshDevice, kind: str, call: str) -> None:
    some = _Semaphores(semaphores(line, 3))
    some.mesh = line
    x = TENSORS[kind](line)
    before = by_chip(x)
    for dim in range(-1, -x.spec.shape.rank - 1, -1):
        try:
            result = CALLS[call](x, dim, some)
        except EngineBugError:
            raise
        except TtnnError:
            continue
        for tensor in result if isinstance(result, list) else [result]:
            assert tensor.memory_config() == x.memory_config() or tensor.memory_config().is_sharded()
            assert len(by_chip(tensor)) == len(before)
        if call != "point_to_point in place":
            assert all(np.array_equal(a, b) for a, b in zip(before, by_chip(x), strict=True)), "the operand changed"
    y = different(line, (1, 32))
    assert np.array_equal(by_chip(ttnn.multiply(y, 2.0))[3], by_chip(y)[3] * 2)
