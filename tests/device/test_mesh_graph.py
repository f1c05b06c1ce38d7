"""Mesh graph descriptors: what is read, what is refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ttnn.base.exceptions import FileAccessError, FileFormatError
from ttnn.device.mesh_graph import MAX_BYTES, MAX_DEPTH, MAX_INSTANCES, parse_mesh_graph, read_mesh_graph

TORUS = """
# A mesh
mesh_descriptors {
  name: "M0"
  arch: WORMHOLE_B0
  device_topology { dims: [ 8, 4 ], dim_types: [ RING, LINE ] }
  host_topology   { dims: [ 2, 1 ] }
  channels { count: 4 policy: STRICT }
}
pinnings { logical_fabric_node_id { mesh_id: 0 chip_id: 0 } }
top_level_instance { mesh { mesh_descriptor: "M0" mesh_id: 0 } }
"""

GRAPH = """
mesh_descriptors: { name: 'A'; arch: BLACKHOLE; device_topology { dims: 1 dims: 2 } channels { count: 2 } };
mesh_descriptors { name: "B" arch: BLACKHOLE device_topology { dims: [4] types: [RING] } channels { count: 1 } }
graph_descriptors { name: "G" type: "FABRIC"
  instances { mesh { mesh_descriptor: "A" mesh_id: 0 } }
  instances { mesh { mesh_descriptor: "A" mesh_id: 1 } }
  instances { graph { graph_descriptor: "H" graph_id: 0 } }
  connections {
    nodes { mesh { mesh_descriptor: "A" mesh_id: 0 } }
    nodes { mesh { mesh_descriptor: "A" mesh_id: 1 } }
    channels { count: 2 policy: RELAXED }
    directional: false
  }
}
graph_descriptors { name: "H" instances { mesh { mesh_descriptor: "B" mesh_id: 2 } } }
top_level_instance { graph { graph_descriptor: "G" graph_id: 0 } }
"""


def test_a_mesh() -> None:
    (mesh,) = parse_mesh_graph(TORUS, "torus.textproto").meshes.values()
    assert (mesh.name, mesh.arch, mesh.dims, mesh.rings) == ("M0", "wormhole_b0", (8, 4), (True, False))
    assert (mesh.hosts, mesh.channels, mesh.strict) == ((2, 1), 4, True)


def test_a_graph_of_meshes() -> None:
    meshes = parse_mesh_graph(GRAPH, "graph.textproto").meshes
    assert {number: (mesh.name, mesh.dims, mesh.rings) for number, mesh in meshes.items()} == {
        0: ("A", (1, 2), (False, False)),
        1: ("A", (1, 2), (False, False)),
        2: ("B", (4,), (True,)),
    }
    assert [(mesh.hosts, mesh.strict) for mesh in meshes.values()] == [((1, 1), False), ((1, 1), False), ((1,), False)]


def test_instances_of_a_graph_number_their_meshes() -> None:
    again = 'instances { graph { graph_descriptor: "H" graph_id: 0 } }'
    text = GRAPH.replace("mesh_id: 2", "mesh_id: 0").replace(again, f"{again} {again}")
    meshes = parse_mesh_graph(text, "graph.textproto").meshes
    assert {number: mesh.name for number, mesh in meshes.items()} == {0: "A", 1: "A", 2: "B", 3: "B"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dims: [ 8, 4 ]", "dims: [ 8, 0 ]", "mesh_descriptors.device_topology: dims: expected 1 to 3 sizes"),
        ("dims: [ 8, 4 ]", "dims: [ 64, 64 ]", "with at most 1024 chips, got [64, 64]"),
        ("dims: [ 8, 4 ]", 'dims: [ 8, "4" ]', "mesh_descriptors.device_topology: dims: expected numbers"),
        ("dims: [ 8, 4 ]", "dims: []", "mesh_descriptors.device_topology: dims: expected numbers"),
        ("[ RING, LINE ]", "[ RING ]", "dim_types: expected LINE or RING for each of 2 dimensions, got ['RING']"),
        ("[ RING, LINE ]", "[ RING, KNOT ]", "dim_types: expected LINE or RING"),
        ("[ RING, LINE ]", "[ 1, 2 ]", "dim_types: expected words without quotes"),
        ("{ dims: [ 2, 1 ] }", "{ dims: [ 3, 1 ] }", "host_topology: expected divisors of [8, 4], got [3, 1]"),
        ("WORMHOLE_B0", "GRAYSKULL", "arch: expected WORMHOLE_B0 or BLACKHOLE, got 'GRAYSKULL'"),
        ("WORMHOLE_B0", '"BLACKHOLE"', "arch: expected a word without quotes"),
        ("STRICT", "LAX", "channels: policy: expected STRICT or RELAXED, got 'LAX'"),
        ("count: 4", "count: 400", "channels: count: expected 1 to 16 links, got 400"),
        ("count: 4", "count: 4 count: 5", "channels: count: expected one value, got 2"),
        ("count: 4", "count: -4", "channels: count: expected a number from 0 on"),
        ("channels {", "lanes {", "mesh_descriptors: channels: expected one message, got 0"),
        ("channels {", "channels: 3 x {", "mesh_descriptors: channels: expected a message in braces"),
        ('name: "M0"', 'name: ""', "mesh_descriptors: name: expected a text in quotes"),
        ('mesh_descriptor: "M0"', 'mesh_descriptor: "M1"', "mesh_descriptor: there is no mesh 'M1'"),
        ("top_level_instance", "instance", "expected one top_level_instance, got 0"),
        ("mesh { mesh_descriptor", "grid { mesh_descriptor", "top_level_instance: expected a mesh"),
        ("# A mesh", "%", "line 2: did not expect '%"),
        ("# A mesh", "5: 3", "line 2: expected the name of a field, got '5'"),
        ("# A mesh", "}", "line 2: expected the name of a field, got '}'"),
        ("# A mesh", "a 5", "line 2: expected `:` or `{` after 'a'"),
        ("# A mesh", "a: [1 2]", "line 2: expected `,` or `]`, got '2'"),
        ("# A mesh", "a: ,", "line 2: expected a value, got ','"),
        ("# A mesh", "a: " + "9" * 100, "line 2: expected a value, got '9999"),
        ("# A mesh", "a { " * 40, f"line 2: more than {MAX_DEPTH} levels"),
    ],
)
def test_other_files_are_refused(old: str, new: str, message: str) -> None:
    assert old in TORUS
    with pytest.raises(FileFormatError) as raised:
        parse_mesh_graph(TORUS.replace(old, new), "torus.textproto")
    assert str(raised.value).startswith("mesh graph descriptor torus.textproto: ")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('graph_descriptor: "H"', 'graph_descriptor: "K"', "graph_descriptor: there is no graph 'K'"),
        ('graph_descriptor: "H"', 'graph_descriptor: "G"', f"more than {MAX_INSTANCES} instances"),
        ('"A" mesh_id: 1 } }\n  instances', '"A" mesh_id: 0 } }\n  instances', "mesh_id: 0 is there twice"),
        ('name: "H" instances { mesh { mesh_descriptor: "B" mesh_id: 2 } }',
         'name: "H" instances {' + 'graph { graph_descriptor: "H" }' * 20_000 + "}",
         f"top_level_instance: more than {MAX_INSTANCES} instances"),
        ('name: "H"', 'name: "G"', "graph_descriptors: 'G' is there twice"),
        ('name: "H" instances { mesh { mesh_descriptor: "B" mesh_id: 2 } }',
         'name: "H" instances { graph { graph_descriptor: "H" } } instances { graph { graph_descriptor: "H" } }',
         f"top_level_instance: more than {MAX_INSTANCES} instances"),
        ('mesh_descriptors { name: "B"', 'mesh_descriptors { name: "A"', "mesh_descriptors: 'A' is there twice"),
    ],
)  # fmt: skip
def test_graphs_that_make_no_sense(old: str, new: str, message: str) -> None:
    assert old in GRAPH
    with pytest.raises(FileFormatError) as raised:
        parse_mesh_graph(GRAPH.replace(old, new), "graph.textproto")
    assert message in str(raised.value)


def test_files_are_read_within_limits(tmp_path: Path) -> None:
    path = tmp_path / "mesh.textproto"
    path.write_text(TORUS)
    assert read_mesh_graph(path).meshes[0].dims == (8, 4)
    path.write_text("#" * (MAX_BYTES + 1))
    with pytest.raises(FileAccessError, match="mesh graph descriptor"):
        read_mesh_graph(path)


def _is_read(text: str) -> bool:
    try:
        parse_mesh_graph(text, "x")
    except FileFormatError:
        return False
    return True


def test_damaged_files_are_read_or_refused() -> None:
    """Cut and changed descriptors raise no other error."""
    dice = random.Random(7)
    texts = []
    for source in (TORUS, GRAPH):
        texts += [source[:length] for length in range(0, len(source), 5)]
        for _ in range(300):
            text = list(source)
            for _ in range(dice.randrange(1, 6)):
                text[dice.randrange(len(text))] = dice.choice("[]{}:,-'\"# \n\t\0x9\u00e9&;")
            texts.append("".join(text))
    assert sum(not _is_read(text) for text in texts) > 300
