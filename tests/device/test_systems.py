"""Systems of several chips: orders, links, rings, and the choice of one."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import ttnn
from ttnn import _engine
from ttnn.base.config import Config, apply_environment, manage_config
from ttnn.base.exceptions import ConfigError, DeviceError
from ttnn.base.system_enums import SYSTEMS, ClusterType
from ttnn.device.system import Link, System, border, snake, walk
from ttnn.device.systems import cluster_type, named_systems, part_of, system_of_environment

T3K = (4, 0, 2, 6, 5, 1, 3, 7)


def system(name: str) -> System:
    return named_systems()[name]


def test_every_name_has_a_system_whose_links_make_its_mesh() -> None:
    assert tuple(named_systems()) == SYSTEMS
    for name, each in named_systems().items():
        each.require_links()
        assert each.name == name
        assert each.chip in _engine.chip_names()
        assert len(each.chips) == each.shape[0] * each.shape[1] == len(set(each.chips))
        assert each.order(each.shape) == each.chips
        assert cluster_type(each.board, len(each.chips)) is each.type
        for chip, other in each.mesh_pairs():
            assert each.usable_between(chip, other) == each.usable_links, (name, chip, other)


def test_recorded_orders_and_links(golden: Path) -> None:
    recorded = json.loads((golden / "host/mesh_systems.json").read_text())
    names = {each.type.name: each for name, each in named_systems().items() if name != "galaxy_torus"}
    for kind, orders in recorded["chip_order"].items():
        assert names[kind].recorded
        for shape, chips in orders.items():
            assert list(names[kind].order([*map(int, shape.split("x"))])) == chips, (kind, shape)
    for kind, links in recorded["links"].items():
        assert sorted(names[kind].links) == sorted(Link(*link) for link in links), kind


def test_parts_of_the_system_mesh() -> None:
    t3k = system("t3k")
    assert t3k.order((1, 4)) == (4, 0, 2, 6)
    assert t3k.order((1, 4), (1, 0)) == (5, 1, 3, 7)
    assert t3k.order((1, 6)) == (4, 0, 2, 6, 7, 3)
    assert t3k.order((2, 2), (0, 2)) == (2, 6, 3, 7)
    assert t3k.order((3, 2)) == (4, 5, 0, 1, 2, 3)
    assert t3k.order((3, 2), (0, 1)) == (0, 1, 2, 3, 6, 7)
    assert t3k.order((8,)) == t3k.order((1, 1, 8)) == t3k.order((1, 8))
    assert system("n300").order((1, 2)) == (0, 1)
    assert system("galaxy").order((2, 2), (6, 0)) == (5, 21, 1, 17)


@pytest.mark.parametrize(
    ("name", "shape", "offset", "message"),
    [
        (
            "galaxy",
            (2, 16),
            None,
            "Requested mesh is too big and is not rotatable: MeshShape([2, 16]) and SystemMesh MeshShape([8, 4]), "
            "offset MeshCoordinate([0, 0])",
        ),
        ("t3k", (2, 4), (0, 1), "offset MeshCoordinate([0, 1])"),
        ("t3k", (1, 9), None, "Requested mesh is too big and is not rotatable: MeshShape([1, 9])"),
        ("t3k", (1, 5), (1, 0), "Requested mesh is too big and is not rotatable: MeshShape([1, 5])"),
        ("t3k", (1, 1), (2, 0), "is out of bounds for the system mesh shape MeshShape([2, 4])"),
        ("t3k", (2, 2), (0, 0, 0), "Provided offset dimensions mismatch: MeshCoordinate([0, 0, 0]) != 2"),
        ("t3k", (2, 2, 2), None, "Requested mesh shape dimensions mismatch: MeshShape([2, 2, 2]) != MeshShape([2, 4])"),
        ("t3k", (0, 4), None, "all dimensions must be positive"),
    ],
)
def test_meshes_that_do_not_fit(
    name: str, shape: tuple[int, ...], offset: tuple[int, ...] | None, message: str
) -> None:
    with pytest.raises(DeviceError) as raised:
        system(name).order(shape, offset)
    assert message in str(raised.value)


def test_walks_are_rings_of_neighbours() -> None:
    def beside(a: tuple[int, int], b: tuple[int, int]) -> bool:
        return abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1

    for rows in range(1, 9):
        for columns in range(1, 9):
            for places in (walk(rows, columns), snake(rows, columns)):
                assert sorted(places) == [(row, column) for row in range(rows) for column in range(columns)]
                assert all(beside(a, b) for a, b in itertools.pairwise(places))
            if min(rows, columns) > 1 and rows * columns % 2 == 0:
                assert beside(walk(rows, columns)[0], walk(rows, columns)[-1])
            ring = border(rows, columns)
            assert len(ring) == len(set(ring))
            assert min(rows, columns) < 2 or len(ring) == 2 * (rows + columns) - 4
    # `reshape` of a Galaxy from 4x8 to 1x32 follows this walk.
    galaxy = system("galaxy").order((4, 8))
    assert [galaxy[row * 8 + column] for row, column in walk(4, 8)] == [
        *(0, 4, 8, 12, 13, 9, 5, 1, 17, 19, 3, 7, 11, 15, 14, 10, 6, 2),
        *(18, 22, 26, 30, 31, 27, 23, 21, 25, 29, 28, 24, 20, 16),
    ]


def test_links_of_two_chips() -> None:
    t3k = system("t3k")
    assert t3k.links_between(0, 4) == (Link(0, 8, 4, 0), Link(0, 9, 4, 1))
    assert t3k.links_between(4, 0) == (Link(4, 0, 0, 8), Link(4, 1, 0, 9))
    assert t3k.links_between(0, 6) == ()
    assert t3k.neighbours(0) == (1, 2, 4)
    assert t3k.fabric_node(1) == 5
    with pytest.raises(DeviceError, match=r"^system t3k has no chip 8; chips are \[0, 1, 2, 3, 4, 5, 6, 7\]"):
        t3k.neighbours(8)
    # Of the two links of a card, one serves dispatch; with one down, none is left.
    assert [t3k.reserved_links(0, 4), t3k.reserved_links(0, 2)] == [1, 0]
    assert t3k.usable_between(0, 4, [Link(0, 8, 4, 0)]) == 0
    assert t3k.usable_between(0, 2, [Link(0, 6, 2, 6)]) == 1
    assert system("galaxy").usable_between(0, 4, [Link(0, 8, 4, 4)]) == 3


def test_rings() -> None:
    t3k = system("t3k")
    assert t3k.closes(t3k.order((1, 8)), (1, 8), axis=1)
    assert t3k.closes(t3k.order((1, 8)), (1, 8))
    assert not t3k.closes(t3k.order((1, 4)), (1, 4), axis=1)
    assert not t3k.closes(t3k.order((1, 8)), (1, 8), axis=0)
    assert [t3k.closes(t3k.chips, (2, 4), axis) for axis in (0, 1, None)] == [False, False, True]
    galaxy = system("galaxy")
    assert [galaxy.closes(galaxy.chips, (8, 4), axis) for axis in (0, 1, None)] == [False, False, True]
    blackhole = system("blackhole_galaxy")
    assert [blackhole.closes(blackhole.chips, (8, 4), axis) for axis in (0, 1)] == [True, True]
    assert not system("n300").closes((0, 1), (2, 1), axis=0)


def test_a_missing_link_is_named() -> None:
    links = tuple(link for link in system("t3k").links if {link.chip, link.other} != {1, 3})
    broken = System("mine", ClusterType.T3K, "n300", "n300", (2, 4), T3K, (0, 1, 2, 3), 1, links)
    with pytest.raises(DeviceError) as raised:
        broken.require_links()
    assert str(raised.value) == (
        "system mine: chip 1 at MeshCoordinate([1, 1]) and chip 3 at MeshCoordinate([1, 2]) have no link; the mesh "
        "MeshShape([2, 4]) needs one"
    )


# The choice of a system.


def test_the_switch() -> None:
    with manage_config("system", "T3K"):
        assert ttnn.CONFIG.system == "t3k"
        assert system_of_environment() is system("t3k")
    assert system_of_environment() is system("n150")
    with manage_config("arch_name", "blackhole"):
        assert system_of_environment() is system("p150")
    config = Config()
    apply_environment(config, {"TTNN_SYSTEM": "P150x4"})
    assert config.system == "p150_x4"
    with pytest.raises(ConfigError, match=r"^environment variable TTNN_SYSTEM: CONFIG.system: expected one of n150, "):
        apply_environment(config, {"TTNN_SYSTEM": "quietbox"})


@pytest.mark.parametrize(
    ("name", "visible", "shape", "chips", "kind"),
    [
        ("t3k", "0", (1, 2), (1, 0), ClusterType.N300),
        ("t3k", "2, 3", (2, 2), (0, 2, 1, 3), ClusterType.N300_2x2),
        ("t3k", "3,2", (2, 2), (1, 3, 0, 2), ClusterType.N300_2x2),
        ("t3k", "0,2", (1, 4), (2, 0, 1, 3), ClusterType.N300_2x2),
        ("p150_x8", "1", (1, 1), (0,), ClusterType.P150),
        ("galaxy", "0,4", (2, 1), (0, 1), ClusterType.CUSTOM),
    ],
)
def test_some_cards(name: str, visible: str, shape: tuple[int, int], chips: tuple[int, ...], kind: ClusterType) -> None:
    part = part_of(system(name), [int(card) for card in visible.split(",")])
    assert (part.shape, part.chips, part.type) == (shape, chips, kind)
    assert part.pcie == tuple(range(len(visible.split(","))))


@pytest.mark.parametrize(
    ("visible", "message"),
    [
        ("1,2", "chips [1, 2, 5, 6] of system t3k are no mesh: chip 4 is missing"),
        ("4", "expected different chips of [0, 1, 2, 3], separated by commas; got 4"),
        ("1,1", "expected different chips of [0, 1, 2, 3], separated by commas; got 1, 1"),
        ("1,x", "expected numbers of chips, separated by commas; got '1,x'"),
        ("1" * 2000, "expected numbers of chips, separated by commas; got '1111"),
    ],
)
def test_cards_that_are_no_mesh(monkeypatch: pytest.MonkeyPatch, visible: str, message: str) -> None:
    monkeypatch.setenv("TT_VISIBLE_DEVICES", visible)
    with manage_config("system", "t3k"), pytest.raises(DeviceError) as raised:
        system_of_environment()
    assert str(raised.value).startswith(f"TT_VISIBLE_DEVICES: {message}")


def test_a_card_outside_of_the_system_mesh() -> None:
    with pytest.raises(DeviceError, match=r"chips \[\] of system tg are no mesh: none of \[0\] is in the system mesh"):
        part_of(system("tg"), [0])


@pytest.mark.parametrize(
    ("name", "arch_name", "chip"),
    [
        ("n150", "blackhole", "n150"),
        ("p100", "wormhole_b0", "p100"),
        ("p150", "wormhole_b0", "p150"),
        ("p150_x8", "wormhole_b0", "p150"),
    ],
)
def test_a_chosen_system_opens_its_own_chips(name: str, arch_name: str, chip: str) -> None:
    one = ttnn.MeshShape(1, 1)
    openings = (
        lambda: ttnn.open_device(device_id=0),
        lambda: ttnn.open_mesh_device(one),
        lambda: ttnn.open_mesh_device(one, physical_device_ids=[0]),
    )
    facts = _engine.chip_info(chip)
    with manage_config("system", name), manage_config("arch_name", arch_name):
        for opening in openings:
            device = opening()
            assert device.chip["name"] == chip
            assert ttnn.cluster.get_cluster_type() is system(name).type
            ttnn.close_device(device)
        assert ttnn.get_arch_name() == facts["arch_name"]
        assert (ttnn.is_blackhole(), ttnn.is_wormhole_b0()) == (chip != "n150", chip == "n150")
        assert ttnn.get_dram_alignment() == facts["dram_alignment"]
        assert ttnn.DispatchCoreConfig().axis is (
            ttnn.DispatchCoreAxis.ROW if chip == "n150" else ttnn.DispatchCoreAxis.COL
        )
        assert ttnn.get_device_ids() == sorted(system(name).chips)
        for opening in (
            lambda: ttnn.open_device(device_id=8),
            lambda: ttnn.open_mesh_device(one, physical_device_ids=[8]),
        ):
            with pytest.raises(DeviceError, match=f"system {name} has no chip 8; chips are "):
                opening()


def test_one_card_of_a_system_opens_its_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_VISIBLE_DEVICES", "0")
    with manage_config("system", "p150_x4"), ttnn.manage_device(0) as device:
        assert device.chip["name"] == "p150"


def test_cards_without_a_chosen_system() -> None:
    for arch_name, chip in (("wormhole_b0", "n150"), ("blackhole", "p150")):
        with manage_config("arch_name", arch_name), ttnn.manage_device(31) as device:
            assert device.chip["name"] == chip
            assert ttnn.get_device_ids() == [0, 31]


def test_chips_of_a_mesh_differ() -> None:
    with pytest.raises(DeviceError, match=r"physical_device_ids must be different devices, got \[0, 0\]"):
        ttnn.open_mesh_device(ttnn.MeshShape(1, 2), physical_device_ids=[0, 0])


def test_visible_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_VISIBLE_DEVICES", "1,3")
    with manage_config("system", "t3k"):
        assert system_of_environment().chips == (2, 0, 1, 3)
        monkeypatch.setenv("TT_VISIBLE_DEVICES", "")
        assert system_of_environment() is system("t3k")
