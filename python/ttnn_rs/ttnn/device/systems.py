"""Systems with a name, and the one that the user chose.

`systems.json` has the chips, orders and links of the systems with a name.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ConfigError, DeviceError, UnsupportedError
from ttnn.base.system_enums import ClusterType
from ttnn.device.cluster_descriptor import ClusterDescriptor, read_cluster_descriptor
from ttnn.device.embedding import MAX_STEPS, neighbours_of, place_chips, shapes_of
from ttnn.device.mesh_graph import MeshGraph, MeshGraphDescriptor, read_mesh_graph
from ttnn.device.system import Link, System

DEFAULT_SYSTEM: Final = {"wormhole_b0": "n150", "blackhole": "p150"}
"""The system without a choice, by the generation that ARCH_NAME names."""
_VARIABLES: Final = ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_MESH_GRAPH_DESC_PATH", "TT_VISIBLE_DEVICES")
_BOARDS: Final = {"ubb_wormhole": "ubb", "ubb": "ubb", "ubb_blackhole": "ubb_blackhole"}
"""Kinds of boards that are written in several ways."""
_MAX_TEXT: Final = 1000
_MAX_DIGITS: Final = 7
_TABLE: Final = Path(__file__).with_name("systems.json")


@cache
def named_systems() -> Mapping[str, System]:
    """Return the systems with a name."""
    systems: dict[str, System] = {}
    for name, entry in json.loads(_TABLE.read_text(encoding="utf-8"))["systems"].items():
        if "rings_of" in entry:
            systems[name] = replace(with_rings(systems[entry["rings_of"]], (True, True)), name=name)
        else:
            systems[name] = _system(name, entry)
    return systems


def _system(name: str, entry: Mapping[str, Any]) -> System:
    return System(
        name=name,
        type=ClusterType[entry["type"]],
        board=entry["board"],
        chip=entry["chip"],
        shape=(entry["shape"][0], entry["shape"][1]),
        chips=tuple(entry["order"]),
        pcie=tuple(entry["pcie"]),
        usable_links=entry["usable_links"],
        links=tuple(Link(*link) for link in entry["links"]),
        cards=tuple(map(tuple, entry.get("cards", ()))),
        line=tuple(entry["line"]) if "line" in entry else None,
        torus=entry.get("torus", False),
        recorded="order_from" not in entry,
    )


def cluster_type(board: str, chips: int) -> ClusterType:
    """Return the type of some chips on boards of one kind."""
    for system in named_systems().values():
        if (system.board, len(system.chips)) == (board, chips):
            return system.type
    return ClusterType.CUSTOM


def part_of(system: System, cards: Sequence[int]) -> System:
    """Return the system of some cards, numbered anew: chips with PCIe first.

    Args:
        system: The system of all cards.
        cards: Numbers of their chips with PCIe, each also for the other chips of its card.

    Raises:
        DeviceError: there is no such card, one is named twice, or their chips are no mesh.
    """
    if len(set(cards)) != len(cards) or not cards or not set(cards) <= set(system.pcie):
        raise DeviceError(
            f"TT_VISIBLE_DEVICES: expected different chips of {list(system.pcie)}, separated by commas; got "
            f"{', '.join(map(str, cards)) or 'none'}"
        )
    members = {card: next((group for group in system.cards if card in group), (card,)) for card in cards}
    remote = (chip for card in cards for chip in members[card] if chip not in cards)
    numbers = {chip: number for number, chip in enumerate(dict.fromkeys([*cards, *remote]))}
    inside = [chip for chip in numbers if chip in system.place_of]
    rows, columns = (sorted({system.place_of[chip][axis] for chip in inside}) for axis in (0, 1))
    order = tuple(system.at((row, column)) for row in rows for column in columns)
    missing = next((chip for chip in order if chip not in numbers), None)
    if missing is not None or not inside:
        lack = f"chip {missing} is missing" if inside else f"none of {list(cards)} is in the system mesh"
        raise DeviceError(f"TT_VISIBLE_DEVICES: chips {sorted(inside)} of system {system.name} are no mesh: {lack}")
    part = replace(
        system,
        name=f"{system.name}[{','.join(map(str, cards))}]",
        type=cluster_type(system.board, len(order)),
        shape=(len(rows), len(columns)),
        chips=tuple(numbers[chip] for chip in order),
        pcie=tuple(range(len(cards))),
        links=tuple(
            Link(numbers[link.chip], link.channel, numbers[link.other], link.other_channel)
            for link in system.links
            if link.chip in numbers and link.other in numbers
        ),
        cards=tuple(
            tuple(sorted(numbers[chip] for chip in group))
            for group in system.cards
            if all(chip in numbers for chip in group)
        ),
        line=None,
        recorded=False,
    )
    part.require_links()
    return part


def with_rings(system: System, rings: tuple[bool, bool]) -> System:
    """Return a system whose columns (0) or rows (1) are rings.

    The links that are not there get the first free channels of their chips, as many as neighbours have.
    """
    rows, columns = system.shape
    ends = [((0, column), (rows - 1, column)) for column in range(columns) if rings[0] and rows > 2]
    ends += [((row, 0), (row, columns - 1)) for row in range(rows) if rings[1] and columns > 2]
    taken = {end for link in system.links for end in ((link.chip, link.channel), (link.other, link.other_channel))}
    count = min((len(system.links_between(*pair)) for pair in system.mesh_pairs()), default=0)
    links = list(system.links)
    for first, last in ends:
        chip, other = sorted((system.at(first), system.at(last)))
        if system.links_between(chip, other):
            continue
        for _ in range(count):
            channels = [
                next(channel for channel in range(1000) if (end, channel) not in taken) for end in (chip, other)
            ]
            taken |= {(chip, channels[0]), (other, channels[1])}
            links.append(Link(chip, channels[0], other, channels[1]))
    return replace(system, links=tuple(sorted(links)), rings=rings)


# Systems of descriptors.


def system_of_cluster(cluster: ClusterDescriptor, graph: MeshGraph | None = None) -> System:
    """Return the system that a cluster descriptor, and a mesh graph, describe.

    A known number of known cards has the system mesh and the order of the system with a name, if the links allow it.
    Other chips get a mesh that their links make.

    Raises:
        DeviceError: the links do not make the mesh; the message names the first pair without a link. Or the mesh graph
            is for another generation.
        UnsupportedError: chips of several generations.
    """
    archs = sorted(set(cluster.archs.values()))
    if len(archs) > 1:
        raise UnsupportedError(
            f"cluster descriptor {cluster.name}: chips of {' and '.join(archs)}; expected one generation"
        )
    if graph is not None:
        _require_arch(graph, cluster.name, archs[0])
    known = _known(cluster, archs[0])
    chips = sorted(known.chips if known is not None else cluster.archs)
    neighbours = neighbours_of((link.chip, link.other) for link in cluster.links)
    shape = _two_dimensions(graph) if graph is not None else None
    board = _board_of(cluster)
    system = System(
        name=cluster.name,
        type=known.type if known is not None else ClusterType.CUSTOM,
        board=board,
        chip=next(
            (each.chip for each in named_systems().values() if (each.board, _arch_of(each)) == (board, archs[0])),
            DEFAULT_SYSTEM[archs[0]],
        ),
        shape=(1, len(chips)),
        chips=tuple(chips),
        pcie=cluster.pcie,
        usable_links=0,
        links=cluster.links,
        cards=known.cards if known is not None else _cards(cluster),
        recorded=False,
    )
    if known is not None and (shape is None or shape == known.shape):
        system = replace(system, shape=known.shape, chips=known.chips, line=known.line, recorded=known.recorded)
        if not _makes_mesh(system):
            found = place_chips(chips, neighbours, known.shape, (False, False))
            system = system if found is None else replace(system, chips=found, line=None, recorded=False)
    else:
        rings = (False, False) if graph is None else (graph.rings[0], graph.rings[-1])
        steps = iter(range(MAX_STEPS))
        for each in [shape] if shape is not None else shapes_of(len(chips)):
            if each[0] * each[1] != len(chips):
                raise DeviceError(
                    f"mesh graph {graph.name if graph else ''}: MeshShape({list(each)}) has {each[0] * each[1]} chips, "
                    f"{cluster.name} has {len(chips)}"
                )
            found = place_chips(chips, neighbours, each, rings, steps)
            if found is not None or shape is not None:
                system = replace(system, shape=each, chips=found or tuple(chips))
                break
    return _checked(_with_usable(system, known), graph)


def _cards(cluster: ClusterDescriptor) -> tuple[tuple[int, ...], ...]:
    return tuple(chips for kind, chips in cluster.boards if kind in ("n300", "p300") and len(chips) > 1)


def _makes_mesh(system: System) -> bool:
    return all(system.links_between(*pair) for pair in system.mesh_pairs())


def _with_usable(system: System, known: System | None) -> System:
    if known is not None:
        return replace(system, usable_links=known.usable_links)
    free = [
        len(system.links_between(*pair)) - system.reserved_links(*pair)
        for pair in system.mesh_pairs()
        if system.links_between(*pair)
    ]
    return replace(system, usable_links=max(0, min(free, default=0)))


def _board_of(cluster: ClusterDescriptor) -> str:
    kinds = {_BOARDS.get(kind, kind.rstrip("abc")) for kind, _ in cluster.boards} - {"n150"} or {
        kind for kind, _ in cluster.boards
    }
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _known(cluster: ClusterDescriptor, arch: str) -> System | None:
    """Return the system with a name that has these cards and chips."""
    board = _board_of(cluster)
    for system in named_systems().values():
        if (system.board, _arch_of(system)) == (board, arch) and {*system.chips, *system.pcie} == set(cluster.archs):
            return system
    return None


def _two_dimensions(graph: MeshGraph) -> tuple[int, int]:
    if len(graph.dims) > 2:
        raise UnsupportedError(
            f"mesh graph {graph.name}: MeshShape({list(graph.dims)}) has {len(graph.dims)} dimensions"
        )
    return (graph.dims[0], graph.dims[1]) if len(graph.dims) == 2 else (1, graph.dims[0])


def _checked(system: System, graph: MeshGraph | None) -> System:
    """Return a system with the links of its mesh and mesh graph.

    Raises:
        DeviceError: a link is missing.
    """
    system.require_links()
    if graph is None:
        return system
    system = replace(system, rings=(graph.rings[0], graph.rings[-1]))
    for chip, other in [*system.mesh_pairs(), *system.ring_pairs()]:
        found, needed = len(system.links_between(chip, other)), graph.channels if graph.strict else 1
        if found < needed:
            places = [f"chip {each} at MeshCoordinate({list(system.place_of[each])})" for each in (chip, other)]
            raise DeviceError(
                f"system {system.name}: {places[0]} and {places[1]} have {found or 'no'} link{'s' * (found > 1)}; mesh "
                f"graph {graph.name} needs {needed}"
            )
    return system


def system_of_graph(descriptor: MeshGraphDescriptor, system: System | None = None, mesh_id: str = "") -> System:
    """Return a system in the mesh of a mesh graph descriptor.

    Args:
        descriptor: The mesh.
        system: The chips; None for a system with a name that has this mesh, or for chips of their own.
        mesh_id: The number of the mesh, if the descriptor has several.

    Raises:
        DeviceError: links of the system are missing, its chips are of another generation, or there is no such mesh.
        UnsupportedError: meshes that do not tile the system.
    """
    graph = mesh_of(descriptor, mesh_id)
    shape = _two_dimensions(graph)
    if system is not None and len(descriptor.meshes) > 1:
        _require_arch(graph, system.name, _arch_of(system))
        return _checked(_tile(system, descriptor, shape, int(mesh_id)), graph)
    if system is not None:
        _require_arch(graph, system.name, _arch_of(system))
        if shape[0] * shape[1] > len(system.chips):
            raise DeviceError(
                f"mesh graph {graph.name}: {shape[0]}x{shape[1]} chips; system {system.name} has {len(system.chips)}"
            )
        return _checked(_reshaped(system, shape), graph)
    rings = (graph.rings[0], graph.rings[-1])
    # A single chip has no links that tell its card: it is the default one.
    first = named_systems()[DEFAULT_SYSTEM[graph.arch]]
    for named in (first, *named_systems().values()):
        counts = {len(named.links_between(*pair)) for pair in named.mesh_pairs()}
        same = sorted(named.shape) == sorted(shape) and _arch_of(named) == graph.arch
        if same and min(counts, default=graph.channels) == graph.channels and named.rings == (False, False):
            return replace(_checked(with_rings(_reshaped(named, shape), rings), graph), name=descriptor.name)
    count = shape[0] * shape[1]
    chips = tuple(range(count))
    bare = System(
        name=descriptor.name,
        type=ClusterType.CUSTOM,
        board="unknown",
        chip=DEFAULT_SYSTEM[graph.arch],
        shape=shape,
        chips=chips,
        pcie=chips,
        usable_links=graph.channels,
        links=(),
        recorded=False,
    )
    channels = dict.fromkeys(chips, 0)
    links: list[Link] = []
    for chip, other in bare.mesh_pairs():
        for _ in range(graph.channels):
            links.append(Link(chip, channels[chip], other, channels[other]))
            channels[chip] += 1
            channels[other] += 1
    return with_rings(replace(bare, links=tuple(sorted(links))), rings)


def mesh_of(descriptor: MeshGraphDescriptor, mesh_id: str) -> MeshGraph:
    """Return the mesh of a mesh graph descriptor that a process has.

    Args:
        descriptor: The descriptor.
        mesh_id: The value of TT_MESH_ID; a descriptor of one mesh needs none.

    Raises:
        DeviceError: there are several, and none of this number.
    """
    meshes = descriptor.meshes
    if len(meshes) == 1:
        return next(iter(meshes.values()))
    number = int(mesh_id) if mesh_id.isdecimal() and len(mesh_id) < _MAX_DIGITS else -1
    if number not in meshes:
        known = ", ".join(map(str, sorted(meshes)[:8])) + (", ..." if len(meshes) > 8 else "")
        raise DeviceError(
            f"mesh graph descriptor {descriptor.name} has {len(meshes)} meshes; set TT_MESH_ID to the one of this "
            f"process ({known}), got {mesh_id[:40]!r}"
        )
    return meshes[number]


def _tile(system: System, descriptor: MeshGraphDescriptor, shape: tuple[int, int], mesh_id: int) -> System:
    """Return the part of a system that a mesh has.

    The meshes tile the system mesh, row by row.
    """
    places = [each for each, size in zip(system.shape, shape, strict=True) if each % size == 0]
    meshes = [_two_dimensions(mesh) for mesh in descriptor.meshes.values()]
    if len(places) < 2 or len(set(meshes)) > 1 or len(meshes) * math.prod(shape) > math.prod(system.shape):
        sizes = ", ".join(f"{rows}x{columns}" for rows, columns in sorted(set(meshes)))
        raise UnsupportedError(
            f"mesh graph descriptor {descriptor.name}: {len(meshes)} meshes of {sizes} do not tile system "
            f"{system.name}, a mesh of {system.shape[0]}x{system.shape[1]}; equal meshes are expected, row by row"
        )
    row, column = divmod(sorted(descriptor.meshes).index(mesh_id), system.shape[1] // shape[1])
    return _reshaped(system, shape, (row * shape[0], column * shape[1]))


def _arch_of(system: System) -> str:
    return str(_engine.chip_info(system.chip)["arch_name"])


def _require_arch(graph: MeshGraph, system: str, arch: str) -> None:
    if graph.arch != arch:
        raise DeviceError(
            f"mesh graph {graph.name}: arch is {graph.arch.upper()}; the chips of system {system} are {arch}"
        )


def _reshaped(system: System, shape: tuple[int, int], offset: tuple[int, int] | None = None) -> System:
    """Return a system with another system mesh, or a part of it."""
    if shape == system.shape:
        return system
    chips = system.order(shape, offset)
    kind = system.type if len(chips) == len(system.chips) else cluster_type(system.board, len(chips))
    return replace(system, shape=shape, chips=chips, type=kind, line=None, recorded=False)


# The choice.


def is_chosen() -> bool:
    """Return whether the user chose a system."""
    return CONFIG.system is not None or any(os.environ.get(name, "").strip() for name in _VARIABLES)


def default_arch_name() -> str:
    """Return the generation of the chosen system, or that of ARCH_NAME."""
    return _arch_of(system_of_environment()) if is_chosen() else str(CONFIG.arch_name)


def host_topology() -> tuple[int, int] | None:
    """Return the hosts along rows and columns of the system mesh.

    They are those of the mesh graph descriptor; None for one host.

    Raises:
        FileFormatError: a file that is no descriptor, or cannot be read.
    """
    path = os.environ.get("TT_MESH_GRAPH_DESC_PATH", "").strip()
    hosts = _hosts(_file(path), _mesh_id()) if path else (1, 1)
    return None if math.prod(hosts) == 1 else hosts


def _mesh_id() -> str:
    return os.environ.get("TT_MESH_ID", "").strip()


@lru_cache(maxsize=16)
def _hosts(graph: tuple[str, int, int], mesh_id: str) -> tuple[int, int]:
    mesh = mesh_of(read_mesh_graph(graph[0]), mesh_id)
    return _two_dimensions(replace(mesh, dims=mesh.hosts))


def system_of_environment() -> System:
    """Return the system that the user chose; one chip by default.

    `CONFIG.system` (TTNN_SYSTEM) names it, or TT_METAL_MOCK_CLUSTER_DESC_PATH describes its chips and links.
    TT_MESH_GRAPH_DESC_PATH describes its mesh, alone or for these chips. TT_VISIBLE_DEVICES selects some of its cards;
    where the mesh has several hosts, it names the cards of one, and the system is that of all.

    Raises:
        ConfigError: a name and a cluster descriptor.
        DeviceError: the links do not make the mesh, or TT_VISIBLE_DEVICES has other numbers than those of cards.
        FileFormatError: a file that is no descriptor, or cannot be read.
    """
    cluster, graph, visible = (os.environ.get(name, "").strip() for name in _VARIABLES)
    if visible and host_topology() is not None:
        visible = ""
    if cluster and CONFIG.system is not None:
        raise ConfigError(
            f"TTNN_SYSTEM is {CONFIG.system}, and TT_METAL_MOCK_CLUSTER_DESC_PATH describes a system; set one of them"
        )
    named = CONFIG.system or ("" if cluster or graph else DEFAULT_SYSTEM[CONFIG.arch_name])
    return _chosen(named, _file(cluster), _file(graph), visible, _mesh_id() if graph else "")


def system_for(shape: Sequence[int] | None) -> System:
    """Return the system of a mesh of some shape.

    It is the chosen one. Without a choice it is the smallest system with a name that has such a mesh, of the generation
    that ARCH_NAME names: a mesh of 2x4 is a T3K, or eight p150.

    Args:
        shape: Rows and columns; None for the system itself.

    Raises:
        DeviceError: as `system_of_environment`.
    """
    system = system_of_environment()
    if is_chosen() or len(system.chips) > 1 or shape is None or math.prod(shape) == 1:
        return system
    generation = _engine.chip_info(system.chip)["arch"]
    alike = [each for each in named_systems().values() if _engine.chip_info(each.chip)["arch"] == generation]
    for each in sorted(alike, key=lambda each: len(each.chips)):
        with suppress(DeviceError):
            each.order(tuple(shape))
            return each
    return max(alike, key=lambda each: len(each.chips))


def _file(path: str) -> tuple[str, int, int]:
    """Return a path, its time and size; an edited file differs."""
    if not path:
        return "", 0, 0
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return path, 0, 0
    return path, status.st_mtime_ns, status.st_size


@lru_cache(maxsize=16)
def _chosen(
    name: str, cluster: tuple[str, int, int], graph: tuple[str, int, int], visible: str, mesh_id: str
) -> System:
    descriptor = read_mesh_graph(graph[0]) if graph[0] else None
    if cluster[0]:
        one = descriptor is not None and len(descriptor.meshes) == 1
        mesh = mesh_of(descriptor, mesh_id) if descriptor is not None and one else None
        system = system_of_cluster(read_cluster_descriptor(cluster[0]), mesh)
        if descriptor is not None and not one:
            system = system_of_graph(descriptor, system, mesh_id)
    elif descriptor is not None:
        system = system_of_graph(descriptor, named_systems()[name] if name else None, mesh_id)
    else:
        system = named_systems()[name]
    return part_of(system, _numbers(visible)) if visible else system


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text[:_MAX_TEXT].split(",")]
    if len(text) > _MAX_TEXT or not all(part.isdecimal() and len(part) <= 4 for part in parts):
        raise DeviceError(f"TT_VISIBLE_DEVICES: expected numbers of chips, separated by commas; got {text[:80]!r}")
    return tuple(map(int, parts))
