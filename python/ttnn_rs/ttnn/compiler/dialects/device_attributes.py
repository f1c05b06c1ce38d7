"""Devices, chips and systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn.compiler.ir.affine import affine_text
from ttnn.compiler.ir.attributes import AttributePrinter, DialectAttr, shape_text
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMap,
    MLIRTokenKind,
    TypeAttribute,
    VerifyException,
)

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser

from ttnn.compiler.dialects.basic_attributes import (
    GridAttr,
)
from ttnn.compiler.dialects.syntax import parse_dims, parse_map, parse_nested, parse_word, stripped

__all__ = [
    "ChipDescAttr",
    "DeviceAttr",
    "DeviceType",
    "SystemDescAttr",
    "TtnnDeviceType",
    "split_lists",
]


@dataclass(frozen=True)
class DeviceAttr(DialectAttr):
    """`#tt.device<workerGrid = .., l1Map = .., dramMap = .., meshShape = .., chipIds = [..]>`.

    Attributes:
        dialect: "tt" or "ttcore".
        grid: The grid of workers with its map.
        l1_map: Tensor indices to (chip, y, x, offset); None if the text had none.
        dram_map: The same for DRAM.
        mesh_shape: The mesh of chips.
        chip_ids: The chips, row-major.
        rest: Entries of the later versions, in their text.
    """

    dialect: str
    grid: GridAttr
    l1_map: AffineMap | None
    dram_map: AffineMap | None
    mesh_shape: tuple[int, ...]
    chip_ids: tuple[int, ...]
    rest: tuple[tuple[str, str], ...] = ()

    def full_name(self) -> str:
        """Return `dialect.device`."""
        return f"{self.dialect}.device"

    def verify(self) -> None:
        """Check chips, mesh and maps."""
        volume = 1
        for size in self.mesh_shape:
            volume *= size
        if not self.chip_ids:
            raise VerifyException("expected at least one chip")
        if self.mesh_shape and volume != len(self.chip_ids):
            raise VerifyException(f"mesh shape has {volume} chips but {len(self.chip_ids)} chip ids are passed")
        if self.grid.mapping is not None and len(self.grid.mapping.results) != 3:
            raise VerifyException("expected workerGrid to map to 3 dimensions: chip, y, x")
        for name, memory_map in (("l1Map", self.l1_map), ("dramMap", self.dram_map)):
            if memory_map is not None and len(memory_map.results) != 4:
                raise VerifyException(f"expected {name} to map to 4 dimensions: chip, y, x, offset")

    def body(self, printer: AttributePrinter) -> str:
        """Return what follows the name."""
        entries = [f"workerGrid = #{self.grid.full_name()}{self.grid.body(printer)}"]
        later = dict(self.rest)
        if "dramGrid" in later:
            entries.append(f"dramGrid = {later.pop('dramGrid')}")
        if self.l1_map is not None:
            entries.append(f"l1Map = {affine_text(self.l1_map)}")
        if self.dram_map is not None:
            entries.append(f"dramMap = {affine_text(self.dram_map)}")
        entries.append(f"meshShape = {shape_text(self.mesh_shape)}")
        entries.append(f"chipIds = [{', '.join(map(str, self.chip_ids))}]")
        entries += [f"{key} = {text}" for key, text in later.items()]
        return f"<{', '.join(entries)}>"

    @staticmethod
    def parse_in(dialect: str) -> Callable[[MlirParser], DeviceAttr]:
        """Return the parser of devices of a dialect."""

        def parse(parser: MlirParser) -> DeviceAttr:
            at = parser._current_token.span
            end = parser.balanced(at.start)
            parser.parse_punctuation("<")
            found: dict[str, Any] = {}
            rest: list[tuple[str, str]] = []
            while parser._current_token.span.end < end:
                key = parse_word(parser)
                if key in found:
                    parser.fail(f"{key} is given twice", at)
                parser.parse_punctuation("=")
                found[key] = _device_entry(parser, dialect, key, rest, end)
                if not parser.parse_optional_punctuation(","):
                    break
            parser.parse_punctuation(">")
            for key in ("workerGrid", "meshShape", "chipIds"):
                if key not in found:
                    parser.fail(f"expected {key} in a device", at)
            return DeviceAttr(
                dialect,
                found["workerGrid"],
                found.get("l1Map"),
                found.get("dramMap"),
                found["meshShape"],
                found["chipIds"],
                tuple(rest),
            )

        return parse


def _device_entry(parser: MlirParser, dialect: str, key: str, rest: list[tuple[str, str]], end: int) -> Any:
    if key == "workerGrid":
        return parse_nested(parser, f"{dialect}.grid", GridAttr.parse_in(dialect))
    if key in ("l1Map", "dramMap"):
        return parse_map(parser)
    if key == "meshShape":
        return parse_dims(parser)
    if key == "chipIds":
        return tuple(
            parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_integer(False, False))
        )
    start = stop = parser._current_token.span.start
    depth = 0
    text = parser._text
    while stop < end - 1 and (depth or text[stop] != ","):
        depth += (text[stop] in "<[({") - (text[stop] in ">])}" and text[stop - 1] != "-")
        stop += 1
    parser._resume_from(stop)
    rest.append((key, text[start:stop].strip()))
    return rest[-1]


@dataclass(frozen=True)
class DeviceType(DialectAttr, TypeAttribute):
    """`!tt.device<#device>`: the type of `ttnn.get_device` in 2024-09."""

    name: ClassVar[str] = "tt.device"
    is_type: ClassVar[bool] = True
    device: DeviceAttr

    def body(self, printer: AttributePrinter) -> str:
        """Return the device in brackets."""
        return f"<{stripped(printer, self.device)}>"

    @staticmethod
    def parse(parser: MlirParser) -> DeviceType:
        """Parse what follows `!tt.device`."""
        parser.parse_punctuation("<")
        device = parse_nested(parser, "tt.device", DeviceAttr.parse_in("tt")) if _is_alias(parser) else _device(parser)
        parser.parse_punctuation(">")
        return DeviceType(device)


def _is_alias(parser: MlirParser) -> bool:
    return bool(parser._current_token.kind == MLIRTokenKind.HASH_IDENT)


def _device(parser: MlirParser) -> DeviceAttr:
    return DeviceAttr.parse_in("tt")(parser)


@dataclass(frozen=True)
class TtnnDeviceType(DialectAttr, TypeAttribute):
    """`!ttnn.device`: the type of `ttnn.get_device` in the later versions."""

    name: ClassVar[str] = "ttnn.device"
    is_type: ClassVar[bool] = True


@dataclass(frozen=True)
class ChipDescAttr(DialectAttr):
    """A system descriptor's chip entries, in text order.

    Attributes:
        dialect: "tt" or "ttcore".
        entries: Name and text of each entry; lists and dictionaries are kept as they are written.
    """

    dialect: str
    entries: tuple[tuple[str, str], ...]

    def full_name(self) -> str:
        """Return `dialect.chip_desc`."""
        return f"{self.dialect}.chip_desc"

    def body(self, printer: AttributePrinter) -> str:
        """Return the entries in braces."""
        del printer
        return "{" + ", ".join(f"{key} = {text}" for key, text in self.entries) + "}"

    def get(self, key: str) -> str | None:
        """Return the text of an entry, or None."""
        return dict(self.entries).get(key)


@dataclass(frozen=True)
class SystemDescAttr(DialectAttr):
    """`#tt.system_desc<[chips], [indices], [capabilities], [coords]>`, with CPUs first in the later versions.

    Attributes:
        dialect: "tt" or "ttcore".
        lists: The text of each list, without its brackets.
    """

    dialect: str
    lists: tuple[str, ...]

    def full_name(self) -> str:
        """Return `dialect.system_desc`."""
        return f"{self.dialect}.system_desc"

    def body(self, printer: AttributePrinter) -> str:
        """Return the lists."""
        del printer
        return "<" + ", ".join(f"[{text}]" for text in self.lists) + ">"

    @staticmethod
    def parse_in(dialect: str) -> Callable[[MlirParser], SystemDescAttr]:
        """Return the parser of system descriptors of a dialect."""

        def parse(parser: MlirParser) -> SystemDescAttr:
            at = parser._current_token.span
            start = at.start
            if parser._current_token.text != "<":
                parser.fail("expected '<' of a system descriptor")
            end = parser.balanced(start)
            lists = tuple(part.strip() for part in split_lists(parser._text[start + 1 : end - 1]))
            if not 4 <= len(lists) <= 6 or any(not (one.startswith("[") and one.endswith("]")) for one in lists):
                parser.fail("expected lists of chips, indices, capabilities and coordinates", at)
            parser._resume_from(end)
            return SystemDescAttr(dialect, tuple(" ".join(one[1:-1].split()) for one in lists))

        return parse


def split_lists(text: str) -> list[str]:
    """Return a text's parts between unbracketed commas."""
    parts, depth, last = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<[({") - (char in ">])}")
        if char == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    parts.append(text[last:])
    return [part for part in parts if part.strip()]
