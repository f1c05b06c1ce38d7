"""Cluster descriptors of the driver: what is read, what is refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from ttnn.base.exceptions import FileAccessError, FileFormatError, TtnnError
from ttnn.base.yaml_text import MAX_DEPTH, parse_yaml
from ttnn.device.cluster_descriptor import MAX_BYTES, parse_cluster_descriptor, read_cluster_descriptor
from ttnn.device.system import Link

BLOCKS = """
arch:
  0: wormhole_b0
  1: wormhole_b0
chips:
  {}
chip_unique_ids:
  1: 14521741482
ethernet_connections:
  -
    - chip: 1
      chan: 1
    - chip: 0
      chan: 9
  -
    - chip: 0
      chan: 8
    - chip: 1
      chan: 0
ethernet_connections_to_remote_devices:
  -
    - chip: 1
      chan: 7
    - remote_chip_id: 14251335820
      chan: 7
chips_with_mmio:
  - 0: 3
harvesting:
  0:
    noc_translation: true
    harvest_mask: 136
  1:
    noc_translation: true
    harvest_mask: 0x240
chip_pci_bdfs:
  0: 0000:01:00.0
boards:
  -
    - board_id: 72058990194991233
    - board_type: n300
    - chips:
        - 0
        - 1
"""

# The same in the form of hand-written descriptors.
FLOWS = """---
arch: {
   0: Wormhole,   # a comment
   1: "Wormhole",
}

chips: {0: [0,0,0,0], 1: [1,0,0,0]}

ethernet_connections: [
   [{chip: 1, chan: 1}, {chip: 0, chan: 9}, {routing_enabled: true}],
   [{chip: 0, chan: 8}, {chip: 1, chan: 0}, {routing_enabled: true}],
]
ethernet_connections_to_remote_devices: [[{chip: 1, chan: 7}, {remote_chip_id: 14251335820, chan: 7}]]
chips_with_mmio: [
   0: 3,
]
harvesting: {
   0: {noc_translation: true, harvest_mask: 136},
   1: {noc_translation: true, harvest_mask: 576},
}
boards: [[{board_id: 72058990194991233}, {board_type: n300}, {chips: [0,1]}]]
"""


@pytest.mark.parametrize("text", [BLOCKS, FLOWS], ids=["blocks", "flows"])
def test_both_forms(text: str) -> None:
    cluster = parse_cluster_descriptor(text, "mine.yaml")
    assert cluster.archs == {0: "wormhole_b0", 1: "wormhole_b0"}
    assert cluster.pcie == (0,)
    assert cluster.links == (Link(0, 8, 1, 0), Link(0, 9, 1, 1))
    assert cluster.remote_links == 1
    assert cluster.boards == (("n300", (0, 1)),)
    assert cluster.harvesting == {0: 136, 1: 576}


def test_older_descriptors_have_kinds_of_boards_only() -> None:
    text = "arch: {0: blackhole}\nboardtype: {0: p150}\n"
    cluster = parse_cluster_descriptor(text, "x")
    assert (cluster.boards, cluster.pcie, cluster.links) == ((("p150", (0,)),), (0,), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a mapping with the key arch"),
        ("- 1\n", "expected a mapping with the key arch"),
        ("chips: {}\n", "arch: expected at least one chip"),
        ("arch: [0]\n", "arch: expected a mapping, got list"),
        ("arch: {0: grayskull}\n", "arch: chip 0: expected wormhole, wormhole_b0, blackhole; got 'grayskull'"),
        ("arch: {-1: blackhole}\n", "arch: expected numbers of chips from 0 to 1023, got '-1'"),
        ("arch: {true: blackhole}\n", "arch: expected numbers of chips from 0 to 1023, got 'True'"),
        ("arch: {99999: blackhole}\n", "arch: expected numbers of chips from 0 to 1023, got '99999'"),
        ("arch: {0: blackhole}\nethernet_connections: 3\n", "ethernet_connections: expected a list, got int"),
        ("arch: {0: blackhole}\nethernet_connections: [3]\n", "ethernet_connections: expected two ends of a link"),
        ("arch: {0: blackhole}\nethernet_connections: [[{chip: 0, chan: 1}, 2]]\n", "expected chip and chan, got '2'"),
        (
            "arch: {0: blackhole}\nethernet_connections: [[{chip: 0, chan: 1}, {chip: 4, chan: 1}]]\n",
            "ethernet_connections: expected a chip of arch, got '4'",
        ),
        (
            "arch: {0: blackhole}\nethernet_connections: [[{chip: 0, chan: 1}, {chip: 0, chan: 2}]]\n",
            "ethernet_connections: a link of chip 0 leads to itself",
        ),
        (
            "arch: {0: blackhole}\nethernet_connections: [[{chip: 0, chan: 1e9}, {chip: 0, chan: 2}]]\n",
            "ethernet_connections: expected a channel from 0 to 31, got '1e9'",
        ),
        (
            "arch: {0: blackhole, 1: blackhole}\n"
            "ethernet_connections: [[{chip: 0, chan: 1}, {chip: 1, chan: 1}], [{chip: 0, chan: 1}, {chip: 1}]]\n",
            "ethernet_connections: chip 0 channel 1 has two links",
        ),
        ("arch: {0: blackhole}\nchips_with_mmio: [0, 0]\n", "chips_with_mmio: a chip is there twice"),
        ("arch: {0: blackhole}\nharvesting: {0: 5}\n", "harvesting: chip 0: expected harvest_mask"),
        ("arch: {0: blackhole}\nharvesting: {0: {harvest_mask: -1}}\n", "harvesting: chip 0: expected harvest_mask"),
        ("arch: {0: blackhole}\nboards: [3]\n", "boards: expected board_id, board_type and chips, got '3'"),
        ("arch: {0: blackhole}\nboards: [[{board_type: p150}]]\n", "boards: expected board_type and chips"),
        (
            "arch: {0: blackhole}\nboards: [[{board_type: a}, {chips: [0]}], [{board_type: b}, {chips: [0]}]]\n",
            "boards: a chip is on two boards",
        ),
        ("arch: {0: blackhole}\narch: {0: blackhole}\n", "line 2: the key 'arch' is there twice"),
        ("arch:\n  0: &a blackhole\n", "line 2: anchors are not read: '&a blackhole'"),
        ("arch: !!python/object:os.system {}\n", "line 1: tags are not read"),
        ("arch: {0: blackhole\n", "line 1: a bracket is not closed"),
        ("arch: 0}\n", "line 1: a bracket is closed that is not open"),
        ("arch: 'x\n", "line 1: a quote is not closed"),
        ("arch:\n\t0: blackhole\n", "line 2: tabs do not indent"),
        ("arch: {0 blackhole}\n", "line 1: expected `key: value` in braces"),
        ("arch: [1 {2}]\n", "line 1: expected `,` or `]`"),
        ("arch: {} 5\n", "line 1: expected nothing after the bracket, got ' 5'"),
        ("a: 1\n---\nb: 2\n", "line 2: expected one document"),
        ("a: 1\n   b: 2\n", "line 2: expected the end of the file or a line with less indentation"),
        ("a:\n  b: 1\n c: 2\n", "line 3: expected the end of the file"),
        ("a: 1\nword\n", "line 2: expected `key: value`, got 'word'"),
        ("[" * 60 + "]" * 60, f"line 1: more than {MAX_DEPTH} levels"),
        ("\n".join("  " * level + "-" for level in range(60)), f"more than {MAX_DEPTH} levels"),
        ("- " * 60 + "1\n", f"line 1: more than {MAX_DEPTH} levels"),
    ],
)
def test_other_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(FileFormatError) as raised:
        parse_cluster_descriptor(text, "mine.yaml")
    assert str(raised.value).startswith("cluster descriptor mine.yaml: ")
    assert message in str(raised.value)


def test_scalars() -> None:
    text = """
    - [1, -2, 0x1F, 1.5, -2.e3, true, False, null, ~, 'it''s', "a # b", a:b, 0000:01:00.0, 1.2.3, x y]
    - {a: 1, 'b c': [], "d": {}}
    -
    - - 1
      - 2
    - key: value   # comment
      other:
      - 3
    """
    assert parse_yaml(text, "here") == [
        [1, -2, 31, 1.5, -2000.0, True, False, None, None, "it's", "a # b", "a:b", "0000:01:00.0", "1.2.3", "x y"],
        {"a": 1, "b c": [], "d": {}},
        None,
        [1, 2],
        {"key": "value", "other": [3]},
    ]


def test_lines_of_flow_collections_are_joined_once() -> None:
    # Takes minutes if each line copies those before it.
    assert parse_yaml("\ufeffx: [\n" + "1,\n" * 300_000 + "]\ny: {a: 1,\n b: 2}\nz: 3\n", "here") == {
        "x": [1] * 300_000,
        "y": {"a": 1, "b": 2},
        "z": 3,
    }


def test_files_are_read_within_limits(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(BLOCKS)
    assert read_cluster_descriptor(path).pcie == (0,)
    path.write_text("#" * (MAX_BYTES + 1))
    with pytest.raises(FileAccessError, match="cluster descriptor"):
        read_cluster_descriptor(path)
    with pytest.raises(FileAccessError, match="no-such-file"):
        read_cluster_descriptor(tmp_path / "no-such-file")
    path.write_bytes(b"arch: \xff\xfe")
    with pytest.raises(FileAccessError, match="UTF-8"):
        read_cluster_descriptor(path)


def _outcome(text: str) -> Any:
    try:
        return parse_cluster_descriptor(text, "x")
    except TtnnError as error:
        return error


def test_damaged_files_are_read_or_refused() -> None:
    """Cut, repeated and changed descriptors raise no other error."""
    dice = random.Random(7)
    refused = 0
    for source in (BLOCKS, FLOWS):
        for length in range(0, len(source), 7):
            refused += isinstance(_outcome(source[:length]), FileFormatError)
        for _ in range(300):
            text = list(source)
            for _ in range(dice.randrange(1, 6)):
                text[dice.randrange(len(text))] = dice.choice("[]{}:,-'\"# \n\t\0x9\u00e9&*!|")
            refused += isinstance(_outcome("".join(text)), FileFormatError)
    assert refused > 200
