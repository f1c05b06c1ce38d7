"""Collectives with semaphores of the caller: values, orders, checks."""

from __future__ import annotations

import numpy as np
import pytest
from test_sums_over_chips import WIDE, added

import ttnn
from testkit.meshes import by_chip, different, places, same, semaphores
from ttnn.base.exceptions import FabricError

SHAPE = (1, 1, 64, 512)


def test_all_gather_async_is_all_gather(line: ttnn.MeshDevice) -> None:
    x, two = different(line, SHAPE), semaphores(line, 2)
    expected = by_chip(ttnn.all_gather(x, 3, cluster_axis=1))
    output = ttnn.zeros((1, 1, 64, 2048), ttnn.bfloat16, ttnn.TILE_LAYOUT, line)
    gather = ttnn.experimental.all_gather_async
    into = gather(
        x, persistent_output_buffer=output, dim=3, multi_device_global_semaphore=two, cluster_axis=1, num_links=1
    )
    along = gather(x, 3, 1, line, ttnn.Topology.Linear, two)
    assert into.buffer_address() == output.buffer_address()
    assert same(by_chip(into), expected)
    assert same(by_chip(along), expected)
    with pytest.raises(ttnn.ParameterError, match="requires 2 semaphores"):
        gather(x, 3, 1, line, ttnn.Topology.Linear, semaphores(line, 3))
    with pytest.raises(FabricError, match=r"from src \(M0, D3\) to dst \(M0, D4\)"):
        gather(x, 3, two)


def test_reduce_scatter_minimal_async_is_the_ring(ring: ttnn.MeshDevice) -> None:
    x, three = different(ring, SHAPE), semaphores(ring, 3)
    scatter = ttnn.experimental.reduce_scatter_minimal_async
    narrow = scatter(x, dim=3, multi_device_global_semaphore=three)
    wide = scatter(x, dim=3, multi_device_global_semaphore=three, compute_kernel_config=WIDE)
    linear = scatter(x, dim=3, multi_device_global_semaphore=three, topology=ttnn.Topology.Linear)
    direct = ttnn.experimental.reduce_scatter_minimal_direct(x, 3)
    assert same(by_chip(narrow), added(x, 3, places(ring), order="ring"))
    assert same(by_chip(wide), added(x, 3, places(ring), order="ring", dst32=True, chunk=4))
    assert same(by_chip(linear), added(x, 3, places(ring), order="line"))
    assert same(by_chip(direct), added(x, 3, places(ring), order="direct"))


def test_dimension_0_of_a_ring_goes_all_around(ring: ttnn.MeshDevice) -> None:
    x, three = different(ring, (8, 1, 64, 64)), semaphores(ring, 3)
    result = by_chip(ttnn.experimental.reduce_scatter_minimal_async(x, dim=0, multi_device_global_semaphore=three))
    parts = by_chip(x)

    def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with ttnn.manage_device(31) as one:
            sides = (ttnn.Tensor(side, ttnn.bfloat16, device=one, layout=ttnn.TILE_LAYOUT) for side in (a, b))
            return np.asarray(ttnn.add(*sides).to_torch().float().numpy())

    up, down = parts[4][3:4], parts[2][3:4]
    for step in range(2, 9):
        up, down = add(up, parts[(3 + step) % 8][3:4]), add(down, parts[(3 - step) % 8][3:4])
    # Of four tiles the first two go up.
    assert np.array_equal(result[3][..., :32, :], up[..., :32, :])
    assert np.array_equal(result[3][..., 32:, :], down[..., 32:, :])


def test_all_reduce_async(line: ttnn.MeshDevice) -> None:
    x, three = different(line, (1, 1, 64, 256)), semaphores(line, 3)
    pairs = semaphores(line, 2)
    reduce = ttnn.experimental.all_reduce_async
    result = reduce(x, 1, line, pairs, three, pairs, ttnn.ReduceType.Sum)
    assert same(by_chip(result), by_chip(ttnn.all_reduce(x, cluster_axis=1)))
    room = ttnn.zeros((1, 1, 64, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, line)
    for wide in (False, True):
        in_pairs = by_chip(reduce(x, room, 1, line, pairs[0], fp32_dest_acc=wide))
        slices = added(x, 3, places(line, 1), order="pairs", dst32=wide)
        rows = [np.concatenate(slices[row * 4 : row * 4 + 4], 3) for row in range(2)]
        assert same(in_pairs, [rows[chip // 4] for chip in range(8)])
    with pytest.raises(FabricError, match="forwarding direction"):
        reduce(x, None, line, pairs, three, pairs, ttnn.ReduceType.Sum)


@pytest.mark.parametrize(("in_dim", "out_dim"), [(2, 3), (3, 2), (0, 3), (1, 0)])
def test_all_to_all(line: ttnn.MeshDevice, in_dim: int, out_dim: int) -> None:
    x = different(line, (4, 2, 128, 128))
    parts = by_chip(x)
    result = by_chip(ttnn.experimental.all_to_all_async_generic(x, in_dim, out_dim, cluster_axis=1))
    for chip in range(8):
        group = parts[chip // 4 * 4 : chip // 4 * 4 + 4]
        expected = np.concatenate([np.split(part, 4, out_dim)[chip % 4] for part in group], in_dim)
        assert np.array_equal(result[chip], expected)


def test_cached_programs_do_not_keep_semaphores(ring: ttnn.MeshDevice) -> None:
    """Semaphores are runtime arguments.

    New ones run the same program, and their memory is free again.
    """
    x, free = different(ring, SHAPE), semaphores(ring, 1)[0].address()
    for _ in range(3):
        ttnn.experimental.all_gather_async(x, 3, semaphores(ring, 2))
        assert semaphores(ring, 1)[0].address() == free
    count = ring.num_program_cache_entries()
    ttnn.experimental.all_gather_async(x, 3, semaphores(ring, 2))
    assert ring.num_program_cache_entries() == count
