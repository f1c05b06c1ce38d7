"""Cluster descriptors of the driver: chips, links, harvesting and boards, in YAML.

The files come from elsewhere: they are read within limits, and what is not as it has to be is a `FileFormatError`.

Source: tt-umd, `tests/cluster_descriptor_examples` (fields).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import PathName, read_text
from ttnn.base.yaml_text import parse_yaml
from ttnn.device.coordinates import MAX_CHIPS
from ttnn.device.system import Link

MAX_BYTES: Final = 4 << 20
MAX_CHANNELS: Final = 32
_ARCHS: Final = {"wormhole": "wormhole_b0", "wormhole_b0": "wormhole_b0", "blackhole": "blackhole"}


@dataclass(frozen=True)
class ClusterDescriptor:
    """The content of a cluster descriptor.

    Attributes:
        name: The name of its file.
        archs: Generations of the chips, by number.
        pcie: Chips that the host reaches over PCIe.
        links: Links between these chips.
        remote_links: How many links lead to chips of other hosts.
        boards: Kind and chips of each card.
        harvesting: Mask of the cores that each chip lacks.
    """

    name: str
    archs: Mapping[int, str]
    pcie: tuple[int, ...]
    links: tuple[Link, ...]
    remote_links: int
    boards: tuple[tuple[str, tuple[int, ...]], ...]
    harvesting: Mapping[int, int]


def read_cluster_descriptor(path: PathName) -> ClusterDescriptor:
    """Read a cluster descriptor.

    Raises:
        FileAccessError: the file cannot be read, or is too large.
        FileFormatError: it is no cluster descriptor.
    """
    return parse_cluster_descriptor(read_text(path, where="cluster descriptor", limit=MAX_BYTES), str(path))


def parse_cluster_descriptor(text: str, name: str) -> ClusterDescriptor:
    """Return the content of a cluster descriptor.

    Raises:
        FileFormatError: it is no cluster descriptor.
    """
    return _Fields(name, parse_yaml(text, f"cluster descriptor {name}")).descriptor()


class _Fields:
    def __init__(self, name: str, document: Any) -> None:
        self.name = name
        if not isinstance(document, dict):
            self.fail("expected a mapping with the key arch")
        self.document: dict[Any, Any] = document

    def fail(self, what: str) -> NoReturn:
        raise FileFormatError(f"cluster descriptor {self.name}: {what}")

    def descriptor(self) -> ClusterDescriptor:
        archs = self._archs()
        return ClusterDescriptor(
            name=self.name,
            archs=archs,
            pcie=self._pcie(archs),
            links=self._links(archs),
            remote_links=len(self._list("ethernet_connections_to_remote_devices")),
            boards=self._boards(archs),
            harvesting=self._harvesting(archs),
        )

    def _mapping(self, key: str) -> dict[Any, Any]:
        value = self.document.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail(f"{key}: expected a mapping, got {type(value).__name__}")
        return value

    def _list(self, key: str) -> list[Any]:
        value = self.document.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fail(f"{key}: expected a list, got {type(value).__name__}")
        return value

    def _chip(self, key: str, value: object, archs: Mapping[int, str]) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value not in archs:
            self.fail(f"{key}: expected a chip of arch, got {str(value)[:40]!r}")
        return value

    def _archs(self) -> dict[int, str]:
        archs: dict[int, str] = {}
        for chip, arch in self._mapping("arch").items():
            if isinstance(chip, bool) or not isinstance(chip, int) or not 0 <= chip < MAX_CHIPS:
                self.fail(f"arch: expected numbers of chips from 0 to {MAX_CHIPS - 1}, got {str(chip)[:40]!r}")
            if not isinstance(arch, str) or arch.lower() not in _ARCHS:
                self.fail(f"arch: chip {chip}: expected {', '.join(_ARCHS)}; got {str(arch)[:40]!r}")
            archs[chip] = _ARCHS[arch.lower()]
        if not archs:
            self.fail("arch: expected at least one chip")
        return archs

    def _pcie(self, archs: Mapping[int, str]) -> tuple[int, ...]:
        chips: list[int] = []
        for item in self._list("chips_with_mmio"):
            chips += [
                self._chip("chips_with_mmio", chip, archs) for chip in (item if isinstance(item, dict) else [item])
            ]
        if len(set(chips)) != len(chips):
            self.fail("chips_with_mmio: a chip is there twice")
        return tuple(sorted(chips)) or tuple(sorted(archs))

    def _links(self, archs: Mapping[int, str]) -> tuple[Link, ...]:
        links: list[Link] = []
        ends: set[tuple[int, int]] = set()
        key = "ethernet_connections"
        for item in self._list(key):
            if not isinstance(item, list) or len(item) < 2:
                self.fail(f"{key}: expected two ends of a link, got {str(item)[:60]!r}")
            numbers: list[int] = []
            for end in item[:2]:
                if not isinstance(end, dict):
                    self.fail(f"{key}: expected chip and chan, got {str(end)[:60]!r}")
                chip, channel = self._chip(key, end.get("chip"), archs), end.get("chan")
                if isinstance(channel, bool) or not isinstance(channel, int) or not 0 <= channel < MAX_CHANNELS:
                    self.fail(f"{key}: expected a channel from 0 to {MAX_CHANNELS - 1}, got {str(channel)[:40]!r}")
                if (chip, channel) in ends:
                    self.fail(f"{key}: chip {chip} channel {channel} has two links")
                ends.add((chip, channel))
                numbers += [chip, channel]
            if numbers[0] == numbers[2]:
                self.fail(f"{key}: a link of chip {numbers[0]} leads to itself")
            links.append(Link(*(numbers if numbers[0] < numbers[2] else numbers[2:] + numbers[:2])))
        return tuple(sorted(links))

    def _boards(self, archs: Mapping[int, str]) -> tuple[tuple[str, tuple[int, ...]], ...]:
        boards: list[tuple[str, tuple[int, ...]]] = []
        for item in self._list("boards"):
            parts = item if isinstance(item, list) else [item]
            if not all(isinstance(part, dict) for part in parts):
                self.fail(f"boards: expected board_id, board_type and chips, got {str(item)[:60]!r}")
            fields = {key: value for part in parts for key, value in part.items()}
            kind, chips = fields.get("board_type"), fields.get("chips")
            if not isinstance(kind, str) or not isinstance(chips, list):
                self.fail(f"boards: expected board_type and chips, got {str(fields)[:60]!r}")
            boards.append((kind.lower(), tuple(sorted(self._chip("boards", chip, archs) for chip in chips))))
        on_boards = [chip for _, chips in boards for chip in chips]
        if len(set(on_boards)) != len(on_boards):
            self.fail("boards: a chip is on two boards")
        if boards:
            return tuple(boards)
        # Older descriptors have kinds of boards only.
        kinds = self._mapping("chip_to_boardtype") or self._mapping("boardtype")
        for chip, kind in kinds.items():
            boards.append((str(kind).lower(), (self._chip("chip_to_boardtype", chip, archs),)))
        return tuple(boards)

    def _harvesting(self, archs: Mapping[int, str]) -> dict[int, int]:
        masks: dict[int, int] = {}
        for chip, fields in self._mapping("harvesting").items():
            mask = fields.get("harvest_mask", 0) if isinstance(fields, dict) else None
            if isinstance(mask, bool) or not isinstance(mask, int) or not 0 <= mask < 1 << 32:
                self.fail(f"harvesting: chip {str(chip)[:40]}: expected harvest_mask, a mask of 32 bits")
            masks[self._chip("harvesting", chip, archs)] = mask
        return masks
