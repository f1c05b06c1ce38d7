"""Mesh graph descriptors: meshes, their dimensions and channels, as protobuf text.

The files come from elsewhere: they are read within limits, and what is not as it has to be is a `FileFormatError`.

Source: tt-metal `tt_metal/fabric/protobuf/mesh_graph_descriptor.proto` (fields).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import PathName, read_text
from ttnn.device.coordinates import MAX_CHIPS

MAX_BYTES: Final = 1 << 20
MAX_DEPTH: Final = 16
MAX_TOKENS: Final = 1 << 18
MAX_WORD: Final = 64
MAX_INSTANCES: Final = 1 << 12
_ARCHS: Final = {"WORMHOLE_B0": "wormhole_b0", "BLACKHOLE": "blackhole"}
_POLICIES: Final = ("STRICT", "RELAXED")
_TOKEN: Final = re.compile(
    r"""(?P<space>[\s]+|\#[^\n]*)|(?P<text>"[^"\\\n]*"|'[^'\\\n]*')|(?P<number>[-+]?[0-9]+(?![\w.]))"""
    r"""|(?P<word>[A-Za-z_]\w*)|(?P<mark>[{}\[\]:,;])"""
)


class Word(str):
    """A word without quotes: an enumerator, true or false."""

    __slots__ = ()


@dataclass(frozen=True)
class MeshGraph:
    """A kind of mesh.

    Attributes:
        name: Its name in the file.
        arch: Generation of the chips.
        dims: Chips per dimension.
        rings: Dimensions that are rings.
        hosts: Hosts per dimension.
        channels: Links of two neighbours.
        strict: Whether all of these links have to be there.
    """

    name: str
    arch: str
    dims: tuple[int, ...]
    rings: tuple[bool, ...]
    hosts: tuple[int, ...]
    channels: int
    strict: bool


@dataclass(frozen=True)
class MeshGraphDescriptor:
    """The content of a mesh graph descriptor.

    Attributes:
        name: The name of its file.
        meshes: Its meshes by number, in the top-level instance. Where several instances of graphs have the same number,
            the later ones get others.
    """

    name: str
    meshes: Mapping[int, MeshGraph]


def read_mesh_graph(path: PathName) -> MeshGraphDescriptor:
    """Read a mesh graph descriptor.

    Raises:
        FileAccessError: the file cannot be read, or is too large.
        FileFormatError: it is no mesh graph descriptor.
    """
    return parse_mesh_graph(read_text(path, where="mesh graph descriptor", limit=MAX_BYTES), str(path))


def parse_mesh_graph(text: str, name: str) -> MeshGraphDescriptor:
    """Return the content of a mesh graph descriptor.

    Raises:
        FileFormatError: it is no mesh graph descriptor.
    """
    fields = _Reader(text, name).message()
    kinds: dict[str, MeshGraph] = {}
    for message in fields.messages("mesh_descriptors"):
        mesh = _mesh(message)
        if mesh.name in kinds:
            fields.fail(f"mesh_descriptors: {mesh.name!r} is there twice")
        kinds[mesh.name] = mesh
    graphs: dict[str, _Message] = {}
    for message in fields.messages("graph_descriptors"):
        name_of_graph = message.text("name")
        if name_of_graph in graphs:
            fields.fail(f"graph_descriptors: {name_of_graph!r} is there twice")
        graphs[name_of_graph] = message
    top = fields.messages("top_level_instance")
    if len(top) != 1:
        fields.fail(f"expected one top_level_instance, got {len(top)}")
    meshes: dict[int, MeshGraph] = {}
    seen: set[tuple[int, int]] = set()
    following = 0
    for instance, reference in _references(top[0], graphs):
        kind, number = reference.text("mesh_descriptor"), reference.number("mesh_id", 0)
        if kind not in kinds:
            reference.fail(f"mesh_descriptor: there is no mesh {kind!r}")
        if (instance, number) in seen:
            reference.fail(f"mesh_id: {number} is there twice")
        seen.add((instance, number))
        # Each instance of a graph has numbers of its own.
        number = following if number in meshes else number
        meshes[number], following = kinds[kind], max(following, number + 1)
    if not meshes:
        fields.fail("top_level_instance: expected a mesh or a graph of meshes")
    return MeshGraphDescriptor(name, meshes)


def _references(top: _Message, graphs: Mapping[str, _Message]) -> Iterator[tuple[int, _Message]]:
    """Yield the references to meshes of the top-level instance.

    Each is yielded with the number of the graph instance that it is a part of.
    """
    # A stack of iterators: a graph that refers to itself fills the counter and not the memory.
    instances = {name: graph.messages("instances") for name, graph in graphs.items()}
    stack, count, number = [(0, iter([top]))], 0, 0
    while stack:
        graph_instance, rest = stack[-1]
        instance = next(rest, None)
        if instance is None:
            stack.pop()
            continue
        meshes, inner = instance.messages("mesh"), instance.messages("graph")
        count += max(1, len(meshes) + len(inner))
        if count > MAX_INSTANCES:
            top.fail(f"more than {MAX_INSTANCES} instances; does a graph refer to itself?")
        yield from ((graph_instance, mesh) for mesh in meshes)
        for graph in inner:
            name = graph.text("graph_descriptor")
            if name not in graphs:
                graph.fail(f"graph_descriptor: there is no graph {name!r}")
            number += 1
            stack.append((number, iter(instances[name])))


def _mesh(message: _Message) -> MeshGraph:
    device, channels = message.one("device_topology"), message.one("channels")
    dims = device.numbers("dims")
    chips = 1
    for size in dims:
        chips *= size
    if not 1 <= len(dims) <= 3 or min(dims) < 1 or chips > MAX_CHIPS:
        device.fail(f"dims: expected 1 to 3 sizes with at most {MAX_CHIPS} chips, got {list(dims)[:8]}")
    kinds = device.words("dim_types") or device.words("types") or ("LINE",) * len(dims)
    if len(kinds) != len(dims) or not set(kinds) <= {"LINE", "RING"}:
        device.fail(f"dim_types: expected LINE or RING for each of {len(dims)} dimensions, got {list(kinds)[:8]}")
    hosts = message.one("host_topology").numbers("dims") if "host_topology" in message.fields else (1,) * len(dims)
    if len(hosts) != len(dims) or any(count < 1 or size % count for count, size in zip(hosts, dims, strict=True)):
        message.fail(f"host_topology: expected divisors of {list(dims)}, got {list(hosts)[:8]}")
    arch, policy = message.word("arch", ""), channels.word("policy", "RELAXED")
    if arch not in _ARCHS:
        message.fail(f"arch: expected {' or '.join(_ARCHS)}, got {arch!r}")
    if policy not in _POLICIES:
        channels.fail(f"policy: expected {' or '.join(_POLICIES)}, got {policy!r}")
    count = channels.number("count", 0)
    if not 1 <= count <= 16:
        channels.fail(f"count: expected 1 to 16 links, got {count}")
    return MeshGraph(
        name=message.text("name"),
        arch=_ARCHS[arch],
        dims=dims,
        rings=tuple(kind == "RING" for kind in kinds),
        hosts=hosts,
        channels=count,
        strict=policy == "STRICT",
    )


class _Message:
    """The fields of a message, each with all of its values."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.fields: dict[str, list[Any]] = {}

    def fail(self, what: str) -> NoReturn:
        inside = f"{self.path}: " if self.path else ""
        raise FileFormatError(f"mesh graph descriptor {self.name}: {inside}{what}")

    def messages(self, field: str) -> list[_Message]:
        values = self.fields.get(field, [])
        if not all(isinstance(value, _Message) for value in values):
            self.fail(f"{field}: expected a message in braces")
        return values

    def one(self, field: str) -> _Message:
        values = self.messages(field)
        if len(values) != 1:
            self.fail(f"{field}: expected one message, got {len(values)}")
        return values[0]

    def _only(self, field: str, default: Any) -> Any:
        values = self.fields.get(field, [default])
        if len(values) != 1:
            self.fail(f"{field}: expected one value, got {len(values)}")
        return values[0]

    def text(self, field: str) -> str:
        value = self._only(field, None)
        if not isinstance(value, str) or isinstance(value, Word) or not value:
            self.fail(f"{field}: expected a text in quotes")
        return value

    def word(self, field: str, default: str) -> str:
        value = self._only(field, Word(default))
        if not isinstance(value, Word):
            self.fail(f"{field}: expected a word without quotes")
        return str(value)

    def number(self, field: str, default: int) -> int:
        value = self._only(field, default)
        if not isinstance(value, int) or not 0 <= value < 1 << 31:
            self.fail(f"{field}: expected a number from 0 on")
        return value

    def numbers(self, field: str) -> tuple[int, ...]:
        values = self.fields.get(field, [])
        if not values or len(values) > 8 or not all(isinstance(value, int) for value in values):
            self.fail(f"{field}: expected numbers")
        return tuple(values)

    def words(self, field: str) -> tuple[str, ...]:
        values = self.fields.get(field, [])
        if not all(isinstance(value, Word) for value in values):
            self.fail(f"{field}: expected words without quotes")
        return tuple(map(str, values))


class _Reader:
    """Reads protobuf text."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.tokens = list(self._tokens())
        self.at = 0

    def _fail(self, offset: int, what: str) -> NoReturn:
        line = self.text.count("\n", 0, offset) + 1
        raise FileFormatError(f"mesh graph descriptor {self.name}: line {line}: {what}")

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        at, count = 0, 0
        while at < len(self.text):
            found = _TOKEN.match(self.text, at)
            if found is None:
                self._fail(at, f"did not expect {self.text[at : at + 20]!r}")
            if found.lastgroup != "space":
                count += 1
                if count > MAX_TOKENS:
                    self._fail(at, f"more than {MAX_TOKENS} words and marks")
                yield str(found.lastgroup), found.group(), at
            at = found.end()

    def _peek(self) -> tuple[str, str, int]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "the end of the file", len(self.text))

    def _next(self) -> tuple[str, str, int]:
        token = self._peek()
        self.at += 1
        return token

    def message(self, path: str = "", depth: int = 0) -> _Message:
        """Read fields up to the closing brace or the file's end."""
        message = _Message(self.name, path)
        while True:
            kind, text, offset = self._next()
            if (kind, text) == (("mark", "}") if depth else ("end", text)):
                return message
            if kind != "word":
                self._fail(offset, f"expected the name of a field, got {text[:40]!r}")
            values = message.fields.setdefault(text, [])
            inner = f"{path}.{text}" if path else text
            if self._peek()[1] == ":" and self._peek()[0] == "mark":
                self._next()
                if self._peek()[:2] == ("mark", "["):
                    self._list(values, inner, depth)
                else:
                    values.append(self._value(inner, depth))
            elif self._peek()[:2] == ("mark", "{"):
                values.append(self._value(inner, depth))
            else:
                self._fail(self._peek()[2], f"expected `:` or `{{` after {text[:40]!r}")
            if self._peek()[0] == "mark" and self._peek()[1] in ",;":
                self._next()

    def _list(self, values: list[Any], path: str, depth: int) -> None:
        self._next()
        if self._peek()[:2] == ("mark", "]"):
            self._next()
            return
        while True:
            values.append(self._value(path, depth))
            kind, text, offset = self._next()
            if (kind, text) == ("mark", "]"):
                return
            if (kind, text) != ("mark", ","):
                self._fail(offset, f"expected `,` or `]`, got {text[:40]!r}")

    def _value(self, path: str, depth: int) -> Any:
        kind, text, offset = self._next()
        if (kind, text) == ("mark", "{"):
            if depth >= MAX_DEPTH:
                self._fail(offset, f"more than {MAX_DEPTH} levels")
            return self.message(path, depth + 1)
        if kind == "text":
            return text[1:-1]
        if kind not in ("number", "word") or len(text) > MAX_WORD:
            self._fail(offset, f"expected a value, got {text[:40]!r}")
        return int(text) if kind == "number" else Word(text)
