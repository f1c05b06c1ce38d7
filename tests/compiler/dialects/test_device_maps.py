"""The document "Device": sixteen devices, each at all grid points."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from ttnn.base.exceptions import DeviceError
from ttnn.compiler.dialects.ttcore.affine import AffineExpr, AffineMap, constant, dimensions, evaluate
from ttnn.compiler.dialects.ttcore.device import Device, dram_map, l1_map, worker_map
from ttnn.compiler.dialects.ttcore.system_desc import ChipDesc, SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import from_attribute, to_attribute

D0, D1, D2, D3 = dimensions(4)
ZERO = constant(0)
INFERRED = {
    "single": ((1,), (8, 8), (ZERO, D0, D1)),
    "batch parallel": ((2, 1, 1), (2, 8, 8), (D0, D1, D2)),
    "batch parallel 4": ((4, 1, 1), (4, 8, 8), (D0, D1, D2)),
    "side by side": ((1, 2), (8, 16), (D1 // 8, D0, D1 % 8)),
    "top to bottom": ((2, 1), (16, 8), (D0 // 8, D0 % 8, D1)),
    "2x4 mesh": ((2, 4), (16, 32), (D1 // 8 + (D0 // 8) * 4, D0 % 8, D1 % 8)),
    "4x2 mesh": ((4, 2), (32, 16), (D1 // 8 + (D0 // 8) * 2, D0 % 8, D1 % 8)),
    "batch and 2d": ((2, 1, 2), (2, 8, 16), (D0 * 2 + D2 // 8, D1, D2 % 8)),
    "batch 3": ((3, 3, 1), (3, 24, 8), (D0 * 3 + D1 // 8, D1 % 8, D2)),
    "n-d": ((3, 2, 1, 1), (3, 2, 8, 8), (D0 * 2 + D1, D2, D3)),
    "pipeline part 2": ((2, 2), (16, 16), ((D0 // 8) * 2 + D1 // 8, D0 % 8, D1 % 8)),
}
GIVEN = {
    "batch on one chip": ((2, 4, 8), (ZERO, D0 * 4 + D1, D2)),
    "transposed": ((8, 8), (ZERO, D1, D0)),
    "extra wide": ((1, 64), (ZERO, D0 * 8 + D1 // 8, D1 % 8)),
    "extra tall, transposed": ((64, 1), (ZERO, D1 * 8 + D0 // 8, D0 % 8)),
    "staircase": ((8, 8), (ZERO, D0, (D0 + D1) % 8)),
}
POINTS = {
    "side by side": {(3, 7): (0, 3, 7), (3, 8): (1, 3, 0), (7, 15): (1, 7, 7)},
    "batch and 2d": {(0, 5, 9): (1, 5, 1), (1, 0, 0): (2, 0, 0), (1, 7, 15): (3, 7, 7)},
    "pipeline part 2": {(0, 8): (1, 0, 0), (8, 0): (2, 0, 0), (15, 15): (3, 7, 7)},
    "extra wide": {(0, 9): (0, 1, 1), (0, 63): (0, 7, 7)},
    "extra tall, transposed": {(9, 0): (0, 1, 1)},
    "staircase": {(1, 7): (0, 1, 0), (7, 7): (0, 7, 6)},
}


def _map(grid: tuple[int, ...], results: tuple[AffineExpr, ...]) -> AffineMap:
    return AffineMap(len(grid), 0, results)


@pytest.mark.parametrize("name", INFERRED)
def test_inferred_maps_match_the_document_at_all_points(name: str) -> None:
    mesh, grid, results = INFERRED[name]
    found, workers = worker_map(mesh, (8, 8))
    assert found == grid
    assert np.array_equal(evaluate(workers, grid), evaluate(_map(grid, results), grid))


@pytest.mark.parametrize("name", [*INFERRED, *GIVEN])
def test_worker_map_visits_every_core_of_every_chip_once(name: str) -> None:
    grid, results = INFERRED[name][1:] if name in INFERRED else GIVEN[name]
    points = evaluate(_map(grid, results), grid).reshape(-1, 3)
    chips = points[:, 0].max() + 1
    assert sorted(map(tuple, points.tolist())) == [
        (chip, y, x) for chip in range(chips) for y in range(8) for x in range(8)
    ]


@pytest.mark.parametrize("name", POINTS)
def test_map_points_match_the_document(name: str) -> None:
    grid, results = INFERRED[name][1:] if name in INFERRED else GIVEN[name]
    values = evaluate(_map(grid, results), grid)
    assert {point: tuple(values[point].tolist()) for point in POINTS[name]} == POINTS[name]


def test_all_sixteen_documented_devices_are_tested() -> None:
    assert len(INFERRED) + len(GIVEN) == 16


def test_l1_map_matches_the_document() -> None:
    _, workers = worker_map((1,), (8, 8))
    memory = l1_map(workers, 2)
    assert memory.eval([5, 7], [2, 3]) == (0, 2, 2, 4)
    assert memory.eval([100, 40], [32, 32]) == (0, 3, 1, 136)


def test_l1_offsets_cover_each_shard_once() -> None:
    _, workers = worker_map((1, 2), (8, 8))
    memory = l1_map(workers, 2)
    seen = [memory.eval([y, x], [2, 3]) for y in range(16) for x in range(48)]
    assert sorted(seen) == [
        (chip, y, x, offset) for chip in range(2) for y in range(8) for x in range(8) for offset in range(6)
    ]


def test_dram_map_matches_the_document() -> None:
    grid, workers = worker_map((1,), (8, 8))
    memory = dram_map(workers, grid, channels=12)
    assert memory.eval([0, 0], [64, 128]) == (0, 0, 0, 0)
    assert memory.eval([63, 127], [64, 128]) == (0, 0, 0, 8191)
    assert memory.eval([64, 0], [64, 128]) == (0, 0, 8, 0)


def test_device_of_the_default_system_has_its_grid_and_maps() -> None:
    device = Device.of_system(SystemDesc.default())
    assert (device.grid, device.mesh_shape, device.chip_ids) == ((8, 8), (1,), (0,))
    assert str(device.workers) == "(d0, d1) -> (0, d0, d1)"


def test_device_grid_is_the_smallest_of_its_chips() -> None:
    chips = (ChipDesc(grid=(8, 8)), ChipDesc(grid=(7, 9)))
    system = SystemDesc(chips, (0, 1), ((), ()), ((0, 0, 0, 0), (0, 0, 0, 1)))
    assert Device.of_system(system, (1, 2)).grid == (7, 16)


@pytest.mark.parametrize(
    ("mesh", "sentence"),
    [((1, 2), "a mesh of 1x2 needs 2 chips, the system descriptor has 1"), ((0,), "a mesh of 0 needs 0 chips")],
)
def test_mesh_larger_than_the_system_raises(mesh: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(DeviceError) as caught:
        Device.of_system(SystemDesc.default(), mesh)
    assert sentence in str(caught.value)


def test_contradicting_device_attributes_raise() -> None:
    good = Device.of_system(SystemDesc.default())
    parts = {name: getattr(good, name) for name in Device.__dataclass_fields__}
    for change, sentence in [
        ({"chip_ids": ()}, "at least one chip"),
        ({"chip_ids": (0, 1)}, "a mesh of 1 has 1 chips, and 2 are passed"),
        ({"grid": (0, 8)}, "at least one core"),
        ({"workers": good.l1}, "3 results"),
        ({"dram": good.workers}, "4 results"),
    ]:
        with pytest.raises(DeviceError, match=sentence):
            Device(**{**parts, **change})


def test_system_descriptors_name_their_differences() -> None:
    assert SystemDesc.for_arch("wormhole_b0") == SystemDesc.default()
    two = SystemDesc.for_arch("wormhole_b0", 2)
    assert (len(two.chip_indices), len(two.channels)) == (2, 1)
    assert two.differences(two) == []
    assert SystemDesc.default().differences(two) == ["number of chips: 1 and 2"]
    other = SystemDesc.default().differences(SystemDesc.for_arch("blackhole"))
    assert "chip 0: arch: wormhole_b0 and blackhole" in other
    assert "8x8" in SystemDesc.default().summary()
    with pytest.raises(DeviceError, match="'grayskull' is unknown"):
        SystemDesc.for_arch("grayskull")
    with pytest.raises(DeviceError, match="at least one chip"):
        SystemDesc.for_arch("blackhole", 0)


@pytest.mark.parametrize(("arch", "board"), [("wormhole_b0", "n150"), ("blackhole", "p150")])
def test_default_descriptor_matches_the_simulated_chip(arch: str, board: str) -> None:
    from ttnn import _engine

    info = _engine.chip_info(board)
    chip = SystemDesc.for_arch(arch).chips[0]
    assert chip.grid == tuple(reversed(info["grid"]))
    assert info["arch_name"] == chip.arch


@pytest.mark.parametrize(
    ("dialect", "number", "words"),
    [("ttcore", 1, ("host_mmio",)), ("ttcore", 0, ()), ("tt", 1, ("pcie",)), ("tt", 3, ("pcie", "host_mmio"))],
)
def test_chip_capabilities_may_be_a_number(dialect: str, number: int, words: tuple[str, ...]) -> None:
    attribute = to_attribute(SystemDesc.default(), dialect)
    place = 3 if dialect == "ttcore" else 2
    lists = [f"{number} : i32" if index == place else one for index, one in enumerate(attribute.lists)]
    assert from_attribute(dataclasses.replace(attribute, lists=tuple(lists))).capabilities == (words,)
