"""reduce_scatter and all_reduce: order and values of sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, different, places, same
from ttnn.base.enums import FORMAT_CODE
from ttnn.base.exceptions import FabricError, UnsupportedError
from ttnn.runtime import engine_steps

WIDE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
NARROW = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=False)


def added(tensor: ttnn.Tensor, dim: int, groups: list[list[int]], **options: Any) -> list[np.ndarray]:
    """Return the slices that the engine adds in an order."""
    spec, count = tensor.spec, len(groups[0])
    shape = [size // count if index == dim else size for index, size in enumerate(spec.shape)]
    result = ttnn.empty(shape, spec.dtype, spec.layout, tensor.device(), ttnn.DRAM_MEMORY_CONFIG)
    padded = list(spec.padded_shape)
    pages = [*padded[:-2], padded[-2] // 32, padded[-1] // 32]
    slices = (int(np.prod(pages[:dim])), int(np.prod(pages[dim:])) // count)
    engine_steps.sum_over_chips(
        tensor.buffer,
        result.buffer,
        groups=groups,
        format=FORMAT_CODE[spec.dtype],
        slices=slices,
        **{"chunk": 8, "dst32": False, "matrix": result.spec.padded_shape[-2] * result.spec.padded_shape[-1] // 1024}
        | options,
    )
    return by_chip(result)


SHAPE = (1, 1, 64, 512)
Call = Callable[[ttnn.Tensor], ttnn.Tensor]


@pytest.mark.parametrize(
    ("call", "options"),
    [
        (lambda x: ttnn.reduce_scatter(x, 3), {"order": "direct"}),
        (lambda x: ttnn.reduce_scatter(x, 3, topology=ttnn.Topology.Linear), {"order": "line"}),
        (lambda x: ttnn.reduce_scatter(x, 3, num_workers_per_link=1), {"order": "ring"}),
        (lambda x: ttnn.reduce_scatter(x, 3, chunks_per_sync=2), {"order": "ring"}),
        (lambda x: ttnn.reduce_scatter(x, 3, use_l1_small_for_semaphores=True), {"order": "ring"}),
        (lambda x: ttnn.reduce_scatter(x, 3, compute_kernel_config=NARROW), {"order": "ring"}),
        (
            lambda x: ttnn.reduce_scatter(x, 3, compute_kernel_config=WIDE),
            {"order": "ring", "dst32": True, "chunk": 4},
        ),
    ],
)
def test_options_choose_the_order(ring: ttnn.MeshDevice, call: Call, options: dict[str, Any]) -> None:
    x = different(ring, SHAPE)
    assert same(by_chip(call(x)), added(x, 3, places(ring), **options))
    assert same(by_chip(call(x)), added(x, 3, places(ring), **options)), "the program of a later call"


def test_orders_give_other_bits(ring: ttnn.MeshDevice) -> None:
    x = different(ring, SHAPE)
    sums = [added(x, 3, places(ring), order=order) for order in ("direct", "line", "ring", "pairs")]
    assert not any(same(a, b) for index, a in enumerate(sums) for b in sums[:index])


@pytest.mark.parametrize(("columns", "order"), [(8192, "direct"), (8448, "ring")])
def test_a_tensor_above_512_kib_goes_around_the_ring(ring: ttnn.MeshDevice, columns: int, order: str) -> None:
    x = different(ring, (1, 1, 32, columns))
    assert (x.spec.num_pages * x.spec.page_bytes <= 524_288) == (order == "direct")
    assert same(by_chip(ttnn.reduce_scatter(x, 3)), added(x, 3, places(ring), order=order))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_groups_are_those_of_the_axis(line: ttnn.MeshDevice, axis: int, dim: int) -> None:
    x = different(line, (4, 4, 128, 128))
    result = ttnn.reduce_scatter(x, dim, cluster_axis=axis)
    assert same(by_chip(result), added(x, dim, places(line, axis), order="line"))
    placements = result.tensor_topology().placements()
    assert placements[axis] == ttnn.PlacementShard(dim)


def test_other_axes_keep_their_placements(line: ttnn.MeshDevice) -> None:
    mapper = ttnn.create_mesh_mapper(line, ttnn.MeshMapperConfig([ttnn.PlacementShard(0), ttnn.PlacementShard(3)]))
    values = np.random.default_rng(3).normal(size=(2, 1, 64, 512)).astype(np.float32)
    x = ttnn.Tensor(values, ttnn.bfloat16, device=line, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)
    output = ttnn.zeros((1, 1, 64, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, line)
    scattered = ttnn.reduce_scatter(x, 3, cluster_axis=1, output_tensor=output)
    for result, last in ((scattered, 3), (output, 3), (ttnn.all_gather(x, 3, cluster_axis=1), None)):
        first, second = result.tensor_topology().placements()
        assert first == ttnn.PlacementShard(0)
        assert second == (ttnn.PlacementReplicate() if last is None else ttnn.PlacementShard(last))


def test_without_an_axis_a_mesh_is_reduced_axis_by_axis(line: ttnn.MeshDevice) -> None:
    x = different(line, SHAPE)
    steps = ttnn.reduce_scatter(ttnn.reduce_scatter(x, 3, cluster_axis=0), 3, cluster_axis=1)
    result = ttnn.reduce_scatter(x, 3)
    assert same(by_chip(result), by_chip(steps))
    assert list(result.tensor_topology().distribution_shape()) == [8]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b], ids=str)
@pytest.mark.parametrize("shape", [SHAPE, (1, 1, 33, 40), (1, 1, 32, 32)], ids=str)
def test_all_reduce_leaves_every_chip_with_the_sum(
    ring: ttnn.MeshDevice, dtype: ttnn.DataType, shape: tuple[int, ...]
) -> None:
    x = different(ring, shape, dtype)
    parts, results = by_chip(x), by_chip(ttnn.all_reduce(x))
    assert all(np.array_equal(result, results[0]) for result in results)
    # A rounding per chip, of float32 that of TF32, of a block relative to its largest datum.
    unit = {ttnn.bfloat16: 2.0**-8, ttnn.float32: 2.0**-10, ttnn.bfloat8_b: 2.0**-6, ttnn.bfloat4_b: 2.0**-2}[dtype]
    assert np.abs(results[0] - np.sum(parts, 0)).max() < 8 * unit * np.sum(np.abs(parts), 0).max()


def test_all_reduce_is_reduce_scatter_and_all_gather(line: ttnn.MeshDevice) -> None:
    x = different(line, (1, 2, 64, 128))
    parts = ttnn.all_gather(ttnn.reduce_scatter(x, 3, cluster_axis=1), 3, cluster_axis=1)
    assert same(by_chip(ttnn.all_reduce(x, cluster_axis=1)), by_chip(parts))
    both = ttnn.all_reduce(ttnn.all_reduce(x, cluster_axis=0), cluster_axis=1)
    assert same(by_chip(ttnn.all_reduce(x)), by_chip(both))


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT], ids=str)
def test_slices_that_are_no_tiles_are_padded(ring: ttnn.MeshDevice, layout: ttnn.Layout) -> None:
    x = ttnn.to_layout(different(ring, (1, 1, 64, 320)), layout)
    scattered = ttnn.reduce_scatter(x, 3)
    assert (tuple(scattered.shape), scattered.layout) == ((1, 1, 64, 40), layout)
    edges = ((0, 0), (0, 0), (0, 0), (0, 24))
    padded = [np.concatenate([np.pad(each, edges) for each in np.split(part, 8, 3)], 3) for part in by_chip(x)]
    mapper = ttnn.ShardTensorToMesh(ring, 0)
    whole = ttnn.Tensor(np.concatenate(padded), x.dtype, device=ring, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)
    expected = added(whole, 3, places(ring), order="direct")
    assert same(by_chip(scattered), [part[..., :40] for part in expected])


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda x: ttnn.reduce_scatter(x, 3, cluster_axis=2), FabricError, "Invalid cluster axis 2. Must be 0 or 1"),
        (lambda x: ttnn.reduce_scatter(x, 3, cluster_axis=1, num_links=5), RuntimeError, "link index 2 is out of"),
        (lambda x: ttnn.reduce_scatter(x, 4), ttnn.ShapeError, "should be between 0 and 3 however is 4"),
        (lambda x: ttnn.reduce_scatter(ttnn.slice(x, [0, 0, 0, 0], [1, 1, 64, 511]), 3), ttnn.ShapeError, "divide"),
        (lambda x: ttnn.all_reduce(ttnn.typecast(x, ttnn.int32)), UnsupportedError, "sums of INT32 over chips"),
        (
            lambda x: ttnn.all_reduce(ttnn.get_device_tensors(x)[3]),
            ttnn.StorageError,
            "the tensor is on 1 of 8 chips",
        ),
    ],
)
def test_wrong_calls_leave_the_mesh_usable(
    line: ttnn.MeshDevice, call: Call, error: type[Exception], sentence: str
) -> None:
    x = different(line, SHAPE)
    with pytest.raises(error, match=sentence):
        call(x)
    assert len(by_chip(ttnn.all_reduce(x))) == 8


def test_without_a_fabric_there_are_no_collectives() -> None:
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
        x = different(mesh, SHAPE)
        for call in (lambda: ttnn.all_reduce(x), lambda: ttnn.all_gather(x, 3), lambda: ttnn.reduce_scatter(x, 3)):
            with pytest.raises(FabricError, match=r"set_fabric_config(.|\n)*un-initialized fabric context"):
                call()
