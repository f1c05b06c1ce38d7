"""Systems of cluster descriptors and mesh graph descriptors."""

from __future__ import annotations

from pathlib import Path

import pytest

import ttnn
from ttnn.base.config import manage_config
from ttnn.base.exceptions import ConfigError, DeviceError, UnsupportedError
from ttnn.base.system_enums import ClusterType
from ttnn.device.cluster_descriptor import ClusterDescriptor, parse_cluster_descriptor
from ttnn.device.device_info import cluster_descriptor, mesh_descriptor
from ttnn.device.embedding import place_chips
from ttnn.device.mesh_graph import MeshGraph, MeshGraphDescriptor
from ttnn.device.system import Link, System
from ttnn.device.systems import named_systems, system_of_cluster, system_of_environment, system_of_graph


def described(system: System, *, without: tuple[tuple[int, int], ...] = ()) -> ClusterDescriptor:
    """Return the descriptor of a system without the links of some pairs."""
    missing = {frozenset(pair) for pair in without}
    numbers = {*system.chips, *system.pcie}
    groups = system.cards or tuple((chip,) for chip in sorted(system.chips))
    arch = "blackhole" if system.chip.startswith("p") else "wormhole_b0"
    return ClusterDescriptor(
        name="mine.yaml",
        archs=dict.fromkeys(numbers, arch),
        pcie=system.pcie,
        links=tuple(link for link in system.links if frozenset((link.chip, link.other)) not in missing),
        remote_links=0,
        boards=tuple((system.board, group) for group in groups),
        harvesting={},
    )


def graph(
    *dims: int, rings: tuple[bool, ...] = (), channels: int = 2, strict: bool = False, arch: str = "wormhole_b0"
) -> MeshGraphDescriptor:
    mesh = MeshGraph("M0", arch, dims, rings or (False,) * len(dims), (1,) * len(dims), channels, strict)
    return MeshGraphDescriptor("mesh.textproto", {0: mesh})


@pytest.mark.parametrize("name", [name for name in named_systems() if name != "galaxy_torus"])
def test_descriptors_of_known_systems(name: str) -> None:
    system = named_systems()[name]
    found = system_of_cluster(described(system))
    assert (found.type, found.shape, found.chips, found.line) == (system.type, system.shape, system.chips, system.line)
    assert (found.usable_links, found.chip, found.cards) == (system.usable_links, system.chip, system.cards)
    assert found.links == system.links


def test_other_numbers_of_the_chips() -> None:
    t3k = named_systems()["t3k"]
    numbers = [3, 1, 2, 0, 7, 5, 6, 4]
    links = tuple(Link(numbers[link.chip], link.channel, numbers[link.other], link.other_channel) for link in t3k.links)
    cluster = described(t3k)
    found = system_of_cluster(ClusterDescriptor(**{**vars(cluster), "links": links}))
    assert (found.type, found.recorded) == (ClusterType.T3K, False)
    assert sorted(found.order((2, 4))) == [*range(8)]


def test_the_first_missing_link_is_named() -> None:
    cluster = described(named_systems()["t3k"], without=((2, 3), (1, 3)))
    with pytest.raises(DeviceError) as raised:
        system_of_cluster(cluster)
    assert str(raised.value) == (
        "system mine.yaml: chip 2 at MeshCoordinate([0, 2]) and chip 3 at MeshCoordinate([1, 2]) have no link; the "
        "mesh MeshShape([2, 4]) needs one"
    )


def test_chips_without_a_name_get_the_mesh_of_their_links() -> None:
    links = tuple(Link(chip, 1, chip + 1, 0) for chip in range(2))
    cluster = ClusterDescriptor("three.yaml", dict.fromkeys(range(3), "blackhole"), (0, 1, 2), links, 0, (), {})
    found = system_of_cluster(cluster)
    assert (found.type, found.shape, found.chips, found.usable_links) == (ClusterType.CUSTOM, (1, 3), (0, 1, 2), 1)
    cluster = ClusterDescriptor("three.yaml", dict.fromkeys(range(3), "blackhole"), (0, 1, 2), links[:1], 0, (), {})
    with pytest.raises(DeviceError, match=r"chip 1 at MeshCoordinate\(\[0, 1\]\) and chip 2 .* have no link"):
        system_of_cluster(cluster)
    mixed = ClusterDescriptor("mixed.yaml", {0: "blackhole", 1: "wormhole_b0"}, (0, 1), (), 0, (), {})
    with pytest.raises(UnsupportedError, match="chips of blackhole and wormhole_b0; expected one generation"):
        system_of_cluster(mixed)


def test_mesh_graphs_of_known_systems() -> None:
    t3k = system_of_graph(graph(2, 4))
    assert (t3k.type, t3k.chips, t3k.recorded) == (ClusterType.T3K, named_systems()["t3k"].chips, True)
    torus = system_of_graph(graph(8, 4, rings=(True, True), channels=4, strict=True))
    assert (torus.type, torus.links) == (ClusterType.GALAXY, named_systems()["galaxy_torus"].links)
    assert [torus.closes(torus.chips, (8, 4), axis) for axis in (0, 1)] == [True, True]
    ends = [(link.chip, link.channel) for link in torus.links] + [
        (link.other, link.other_channel) for link in torus.links
    ]
    assert len(set(ends)) == len(ends)
    assert max(channel for _, channel in ends) < 16
    own = system_of_graph(graph(3, 3, rings=(False, True), channels=1))
    assert (own.type, own.chips, len(own.links)) == (ClusterType.CUSTOM, tuple(range(9)), 12 + 3)
    assert [own.closes(own.chips, (3, 3), axis) for axis in (0, 1)] == [False, True]


def test_mesh_graphs_of_blackhole_systems() -> None:
    assert system_of_graph(graph(1, 1, arch="blackhole")).type is ClusterType.P150
    assert system_of_graph(graph(1, 1)).type is ClusterType.N150
    galaxy = system_of_graph(graph(8, 4, arch="blackhole"))
    assert (galaxy.type, galaxy.chips) == (ClusterType.BLACKHOLE_GALAXY, named_systems()["blackhole_galaxy"].chips)
    assert system_of_graph(graph(8, 4, channels=4, arch="blackhole")).type is ClusterType.CUSTOM


def test_descriptors_state_the_generation() -> None:
    cluster = ClusterDescriptor("mine.yaml", {0: "blackhole", 1: "blackhole"}, (0,), (Link(0, 0, 1, 0),), 0, (), {})
    found = system_of_cluster(ClusterDescriptor(**{**vars(cluster), "boards": (("n300", (0, 1)),)}))
    assert (found.type, found.chip) == (ClusterType.CUSTOM, "p150")
    message = "mesh graph M0: arch is WORMHOLE_B0; the chips of system {} are blackhole"
    with pytest.raises(DeviceError, match=message.format("mine.yaml")):
        system_of_cluster(cluster, graph(1, 2).meshes[0])
    with pytest.raises(DeviceError, match=message.format("p150_x8")):
        system_of_graph(graph(2, 4), named_systems()["p150_x8"])


def test_mesh_graphs_of_given_chips() -> None:
    galaxy, t3k = named_systems()["galaxy"], named_systems()["t3k"]
    assert system_of_graph(graph(4, 8), galaxy).chips == galaxy.order((4, 8))
    assert system_of_graph(graph(1, 2), t3k).chips == (4, 0)
    with pytest.raises(DeviceError) as raised:
        system_of_graph(graph(8, 4, rings=(True, False)), galaxy)
    assert str(raised.value) == (
        "system galaxy: chip 0 at MeshCoordinate([0, 0]) and chip 1 at MeshCoordinate([7, 0]) have no link; mesh graph "
        "M0 needs 1"
    )
    with pytest.raises(DeviceError, match=r"have 2 links; mesh graph M0 needs 4"):
        system_of_graph(graph(2, 4, channels=4, strict=True), t3k)
    assert system_of_graph(graph(2, 4, channels=4), t3k).chips == t3k.chips
    with pytest.raises(DeviceError, match="mesh graph M0: 4x4 chips; system t3k has 8"):
        system_of_graph(graph(4, 4), t3k)


def several(*meshes: MeshGraphDescriptor) -> MeshGraphDescriptor:
    return MeshGraphDescriptor("several", dict(enumerate(each.meshes[0] for each in meshes)))


def test_each_process_has_one_of_several_meshes() -> None:
    two, t3k = several(graph(2, 2), graph(2, 2)), named_systems()["t3k"]
    parts = [system_of_graph(two, t3k, number) for number in "01"]
    # The mesh of a T3000 is 4 0 2 6 / 5 1 3 7.
    assert [(part.shape, part.chips) for part in parts] == [((2, 2), (4, 0, 5, 1)), ((2, 2), (2, 6, 3, 7))]
    galaxy = named_systems()["galaxy"]
    quarters = several(*[graph(4, 2, channels=4)] * 4)
    assert system_of_graph(quarters, galaxy, "2").chips == galaxy.order((4, 2), (4, 0))
    # Alone, each is the system with this mesh.
    assert system_of_graph(several(graph(2, 4), graph(1, 2)), None, "0").type is ClusterType.T3K
    message = r"several has 2 meshes; set TT_MESH_ID to the one of this process \(0, 1\)"
    for number in ("", "2", "-1", "x", "1" * 40):
        with pytest.raises(DeviceError, match=message):
            system_of_graph(two, t3k, number)
    message = "meshes of {} do not tile system t3k, a mesh of 2x4; equal meshes are expected, row by row"
    for meshes, sizes in (
        ((graph(1, 2), graph(2, 2)), "1x2, 2x2"),
        ((graph(2, 3), graph(2, 3)), "2x3"),
        ((graph(2, 2),) * 3, "2x2"),
    ):
        with pytest.raises(UnsupportedError, match=message.format(sizes)):
            system_of_graph(several(*meshes), t3k, "1")


def test_a_process_opens_the_mesh_of_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "two.textproto"
    path.write_text(
        """
        mesh_descriptors {
          name: "M0" arch: WORMHOLE_B0
          device_topology { dims: [ 2, 2 ] }
          host_topology { dims: [ 1, 1 ] }
          channels { count: 2 policy: RELAXED }
        }
        graph_descriptors {
          name: "G0" type: "FABRIC"
          instances { mesh { mesh_descriptor: "M0" mesh_id: 0 } }
          instances { mesh { mesh_descriptor: "M0" mesh_id: 1 } }
        }
        top_level_instance { graph { graph_descriptor: "G0" graph_id: 0 } }
        """,
        encoding="utf-8",
    )
    monkeypatch.setenv("TT_MESH_GRAPH_DESC_PATH", str(path))
    with manage_config("system", "t3k"):
        with pytest.raises(DeviceError, match="has 2 meshes; set TT_MESH_ID"):
            ttnn.open_mesh_device()
        for number, chips in (("0", [4, 0, 5, 1]), ("1", [2, 6, 3, 7])):
            monkeypatch.setenv("TT_MESH_ID", number)
            with ttnn.create_mesh_device(ttnn.MeshShape(2, 2)) as mesh:
                assert mesh.get_device_ids() == chips
                ones = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=mesh)
                assert all((ttnn.to_torch(part) == 2).all() for part in ttnn.get_device_tensors(ttnn.add(ones, ones)))


def test_a_cluster_in_the_mesh_of_a_graph() -> None:
    cluster = described(named_systems()["t3k"])
    found = system_of_cluster(cluster, graph(1, 8, rings=(False, True)).meshes[0])
    assert found.shape == (1, 8)
    assert found.closes(found.chips, (1, 8), axis=1)
    with pytest.raises(DeviceError, match=r"MeshShape\(\[2, 2\]\) has 4 chips, mine.yaml has 8"):
        system_of_cluster(cluster, graph(2, 2).meshes[0])


def test_a_search_without_a_result_ends() -> None:
    chips = list(range(36))
    everybody = {chip: set(chips) - {chip} for chip in chips}
    assert place_chips(chips, everybody, (6, 6), (True, True)) == tuple(chips)
    # All but the last chip fit in every order.
    assert place_chips(chips, {**everybody, 35: {0}, 0: {35}}, (6, 6), (False, False)) is None
    # A chip without a neighbour ends the search before its first step; the steps are those of all shapes.
    steps = iter(range(5))
    assert place_chips(chips, {**everybody, 35: set()}, (6, 6), (False, False), steps) is None
    assert next(steps) == 0
    assert place_chips(chips, everybody, (6, 6), (False, False), steps) is None
    assert next(steps, None) is None


# Files that the environment names.

YAML = """
arch: {0: wormhole_b0, 1: wormhole_b0}
ethernet_connections: [[{chip: 0, chan: 8}, {chip: 1, chan: 0}], [{chip: 0, chan: 9}, {chip: 1, chan: 1}]]
chips_with_mmio: [0: 0]
boards: [[{board_id: 1}, {board_type: n300}, {chips: [0, 1]}]]
"""


def test_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(YAML)
    monkeypatch.setenv("TT_METAL_MOCK_CLUSTER_DESC_PATH", str(path))
    found = system_of_environment()
    assert (found.type, found.shape, found.pcie) == (ClusterType.N300, (2, 1), (0,))
    assert system_of_environment() is found
    with manage_config("system", "t3k"), pytest.raises(ConfigError, match="TTNN_SYSTEM is t3k, and TT_METAL_MOCK"):
        system_of_environment()
    mesh = tmp_path / "mesh.textproto"
    mesh.write_text(
        'mesh_descriptors { name: "M" arch: WORMHOLE_B0 device_topology { dims: [1, 2] } channels { count: 2 } }\n'
        'top_level_instance { mesh { mesh_descriptor: "M" mesh_id: 0 } }\n'
    )
    monkeypatch.setenv("TT_MESH_GRAPH_DESC_PATH", str(mesh))
    assert system_of_environment().shape == (1, 2)
    monkeypatch.delenv("TT_METAL_MOCK_CLUSTER_DESC_PATH")
    assert (system_of_environment().shape, system_of_environment().type) == ((1, 2), ClusterType.N300)
    with manage_config("system", "t3k"):
        assert system_of_environment().chips == (4, 0)


@pytest.mark.parametrize("name", ["n300", "t3k", "galaxy", "p150_x8", "tg"])
def test_written_descriptors_are_read(name: str) -> None:
    system = named_systems()[name]
    with manage_config("system", name):
        text = Path(ttnn.cluster.serialize_cluster_descriptor()).read_text()
    found = system_of_cluster(parse_cluster_descriptor(text, "written.yaml"))
    assert (found.type, found.chips, found.links) == (system.type, system.chips, tuple(sorted(system.links)))
    assert (found.pcie, found.cards) == (system.pcie, system.cards)


def test_coordinates_of_an_open_mesh() -> None:
    with manage_config("system", "n300"):
        device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
        assert mesh_descriptor([device]) == "chips:\n  0: [0, 0]\n  1: [0, 1]\n"
        assert cluster_descriptor([device]).startswith(
            "arch:\n  0: Wormhole\n  1: Wormhole\nchips:\n  0: [0, 0, 0, 0]\n"
        )
        ttnn.close_mesh_device(device)
