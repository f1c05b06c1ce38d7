"""Layouts of tensors, memory configurations, core ranges and buffers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn.compiler.dialects.enums import (
    ENUMS,
)
from ttnn.compiler.features import CORE_RANGES, DIALECT_TT, SHARDED_DRAM
from ttnn.compiler.ir.affine import affine_text, constant, dim
from ttnn.compiler.ir.attributes import AttributePrinter, DialectAttr, shape_text
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMap,
    Attribute,
    MemRefType,
    MLIRTokenKind,
    NoneAttr,
    VerifyException,
)
from ttnn.compiler.version import Version

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser

from ttnn.compiler.dialects.basic_attributes import (
    EnumAttr,
    GridAttr,
    TileType,
    data_type,
    enum_parser,
)
from ttnn.compiler.dialects.syntax import parse_dims, parse_map, parse_nested, parse_word, stripped
from ttnn.compiler.limits import CORES

__all__ = [
    "ArgAllocAttr",
    "BufferAttr",
    "CoreRangeAttr",
    "LayoutAttr",
    "MemoryConfigAttr",
    "ShapeAttr",
    "TTNNLayoutAttr",
    "core_range_parser",
    "shape_parser",
]


@dataclass(frozen=True)
class LayoutAttr(DialectAttr):
    """`#tt.layout<map, oob, <grid>, memref, memory layout>`: how a tensor lies on the cores.

    Attributes:
        linear: Tensor indices to physical indices.
        oob: What padding holds.
        grid: The grid of cores.
        memref: The shard of one core.
        mem_layout: "none", "interleaved" and so on.
    """

    name: ClassVar[str] = "tt.layout"
    linear: AffineMap
    oob: str
    grid: GridAttr
    memref: MemRefType[Any]
    mem_layout: str = "none"

    def verify(self) -> None:
        """Check ranks of map, grid, memref, and device memory layouts."""
        rank = len(self.grid.shape)
        if len(self.linear.results) != rank or len(self.memref.get_shape()) != rank:
            raise VerifyException(
                f"layout map has {len(self.linear.results)} results, its grid {rank} dimensions and its memref "
                f"{len(self.memref.get_shape())}: all must be equal"
            )
        if self.mem_layout != "none" and self.space not in ("dram", "l1"):
            raise VerifyException(f"memory layout {self.mem_layout} is only for device memory, not {self.space}")

    def body(self, printer: AttributePrinter) -> str:
        """Return `<map, oob, <grid>, memref, memory layout>`."""
        last = "" if self.mem_layout == "none" else f", {self.mem_layout}"
        memref = printer.attribute(self.memref)
        return f"<{affine_text(self.linear)}, {self.oob}, {stripped(printer, self.grid)}, {memref}{last}>"

    @property
    def space(self) -> str:
        """Word of the memory space."""
        return getattr(self.memref.memory_space, "value", "system")

    @property
    def element(self) -> Attribute:
        """Type of an element of the memref: scalar or tile."""
        element: Attribute = self.memref.element_type
        return element

    @property
    def tiled(self) -> bool:
        """Return True if the memref has tiles."""
        return isinstance(self.element, TileType)

    def with_memref(self, **changes: Any) -> LayoutAttr:
        """Return the layout with another shape, element or space of the memref."""
        memref = self.memref
        new = MemRefType(
            changes.get("element", memref.element_type),
            changes.get("shape", memref.get_shape()),
            NoneAttr(),
            changes.get("space", memref.memory_space),
        )
        return replace(self, memref=new)

    @staticmethod
    def parse(parser: MlirParser) -> LayoutAttr:
        """Parse what follows `#tt.layout`."""
        parser.parse_punctuation("<")
        at = parser._current_token.span
        listed = parser._current_token.kind == MLIRTokenKind.INTEGER_LIT
        linear = _strides(parse_dims(parser)) if listed else parse_map(parser)
        parser.parse_punctuation(",")
        oob_at = parser._current_token.span
        oob = parse_word(parser)
        if oob not in ENUMS["tt.oob_val"]:
            parser.fail(f"unknown out-of-bounds value '{oob}'", oob_at)
        parser.parse_punctuation(",")
        grid = parse_nested(parser, "tt.grid", GridAttr.parse_in("tt"))
        parser.parse_punctuation(",")
        memref = parser.parse_type()
        if not isinstance(memref, MemRefType):
            parser.fail("expected a memref in a layout", at)
        layout = "none"
        if parser.parse_optional_punctuation(","):
            word_at = parser._current_token.span
            layout = parse_word(parser)
            if layout not in ENUMS["tt.tensor_memory_layout"]:
                parser.fail(f"unknown memory layout '{layout}'", word_at)
        parser.parse_punctuation(">")
        return LayoutAttr(linear, oob, grid, memref, layout)


def _strides(strides: Sequence[int]) -> AffineMap:
    """Return the map of strides, an older spelling.

    One row-major index and the last dimension.
    """
    rank = len(strides)
    if rank < 2:
        return AffineMap(rank, 0, tuple(dim(i) for i in range(rank)))
    from ttnn.compiler.ir.affine import add, mul

    last = strides[-2] or 1
    collapsed = constant(0)
    for i, step in enumerate(strides[:-1]):
        collapsed = add(collapsed, mul(dim(i), constant(step // last)))
    return AffineMap(rank, 0, (collapsed, dim(rank - 1)))


def _coordinates(part: str | Attribute) -> str | Attribute:
    """Return printed text: coordinates `(0,7)`, and bare core sets.

    Sets of cores have no name of their attribute.
    """
    if not isinstance(part, str):
        return part
    part = part.replace("core_ranges = #ttnn.core_range_set<", "core_ranges = <")
    return re.sub(r"\((\d+), (\d+)\)", r"(\1,\2)", re.sub(r"\s+", " ", part))


def check_memory(space: str, mem_layout: str | None, version: Version | None) -> None:
    """Check that a memory layout fits its buffer type and version.

    A version is checked if it is given.

    Raises:
        VerifyException: It does not.
    """
    if mem_layout is None:
        if space in ("dram", "l1", "l1_small", "trace"):
            raise VerifyException("Memory layout is required for non-SystemMemory buffer type.")
        return
    if space == "system_memory":
        raise VerifyException("Memory layout is not allowed for SystemMemory buffer type.")
    if space != "dram":
        return
    if version is not None and not SHARDED_DRAM.of(version) and mem_layout != "interleaved":
        raise VerifyException("DRAM buffer type must have Interleaved memory layout.")
    if version is not None and SHARDED_DRAM.of(version) and mem_layout == "block_sharded":
        raise VerifyException(
            "BlockSharded layout is not supported for DRAM buffer type; use WidthSharded, HeightSharded or Interleaved"
        )


@dataclass(frozen=True)
class TTNNLayoutAttr(DialectAttr):
    """`#ttnn.ttnn_layout<map, <grid>, memref, <memory layout>>` of the later versions.

    Attributes:
        linear: Tensor indices to physical indices.
        grid: The grid of cores.
        memref: The shard of one core; its space is a `#ttnn.buffer_type`.
        mem_layout: Word of the memory layout, or None for system memory.
        rest: Text of further entries in order: mesh, core ranges and so on.
    """

    name: ClassVar[str] = "ttnn.ttnn_layout"
    linear: AffineMap
    grid: GridAttr
    memref: MemRefType[Any]
    mem_layout: str | None = None
    rest: tuple[str | Attribute, ...] = ()

    def body(self, printer: AttributePrinter) -> str:
        """Return what follows the name."""
        text = f"<{affine_text(self.linear)}, {stripped(printer, self.grid)}, {printer.attribute(self.memref)}"
        if self.mem_layout is not None:
            text += f", <{self.mem_layout}>"
        text += "".join(part if isinstance(part, str) else printer.attribute(part) for part in self.rest)
        return text + ">"

    @property
    def space(self) -> str:
        """Word of the buffer type."""
        return getattr(self.memref.memory_space, "value", "system_memory")

    @property
    def tiled(self) -> bool:
        """Return True if the memref has tiles."""
        return isinstance(self.memref.element_type, TileType)

    @property
    def dtype(self) -> str:
        """Word of the data type."""
        element = self.memref.element_type
        return element.dtype if isinstance(element, TileType) else data_type(element)

    @staticmethod
    def parse(parser: MlirParser) -> TTNNLayoutAttr:
        """Parse what follows `#ttnn.ttnn_layout`."""
        start = parser._current_token.span.start
        parser.parse_punctuation("<")
        linear = parse_map(parser)
        parser.parse_punctuation(",")
        grid = parse_nested(parser, "ttcore.grid", GridAttr.parse_in("ttcore"))
        parser.parse_punctuation(",")
        at = parser._current_token.span
        memref = parser.parse_type()
        if not isinstance(memref, MemRefType):
            parser.fail("expected a memref in a layout", at)
        layout: str | None = None
        rest: tuple[str | Attribute, ...] = ()
        if parser._current_token.text == ",":
            comma = parser._current_token.span.start
            parser.parse_punctuation(",")
            if parser._current_token.text == "<":
                layout = enum_parser("ttnn.tensor_memory_layout")(parser).value
                comma = parser._current_token.span.start
            end = parser.balanced(start)
            if parser._current_token.text != ">" or parser._current_token.span.end != end:
                rest = tuple(_coordinates(part) for part in parser.raw_parts(comma, end - 1))
                parser._resume_from(end - 1)
        parser.parse_punctuation(">")
        try:
            made = TTNNLayoutAttr(linear, grid, memref, layout, rest)
            made.check_grid(parser.version)
            check_memory(made.space, layout, parser.version)
            made.check_cores(parser.version)
        except VerifyException as error:
            parser.fail_in_version(str(error), at)
        return made

    def verify(self) -> None:
        """Check that device memory, not system memory, has a layout."""
        check_memory(self.space, self.mem_layout, None)

    def check_grid(self, version: Version) -> None:
        """Check that only memory that is distributed over cores has a grid.

        Raises:
            VerifyException: Other memory has one.
        """
        space, shape = self.space, tuple(self.grid.shape)
        if shape == (1, 1) or space in ("l1", "l1_small"):
            return
        got = ", ".join(map(str, shape))
        if not SHARDED_DRAM.of(version):
            raise VerifyException(
                f"expected (1, 1) grid shape for non-L1 buffer type, got ({got}) for {space} buffer type"
            )
        if space == "dram" and self.sharded:
            return
        words = " with interleaved memory layout" if space == "dram" else ""
        raise VerifyException(f"expected (1, 1) grid shape for {space} buffer type{words}, got ({got})")

    def check_cores(self, version: Version) -> None:
        """Check that only sharded 2026-08 layouts name shard cores.

        Raises:
            VerifyException: Cores are missing or too many.
        """
        if not CORE_RANGES.of(version):
            return
        rest = "".join(part if isinstance(part, str) else "#" for part in self.rest)
        cores = "core_ranges" in rest
        if self.sharded and not cores and "ignorePhysicalLayout = true" not in rest:
            raise VerifyException(f"sharded TTNN layout ({self.mem_layout}) must carry a core_range_set")
        if not self.sharded and cores:
            word = self.mem_layout or "no memory layout"
            raise VerifyException(f"non-sharded TTNN layout must not carry a core_range_set (got {word})")

    @property
    def sharded(self) -> bool:
        """Return True if the tensor is sharded."""
        return (self.mem_layout or "").endswith("_sharded")


@dataclass(frozen=True)
class ShapeAttr(DialectAttr):
    """`#ttnn.shape<64x128>`, `#ttnn.mesh_shape<1x2>`, `#ttnn.mesh_offset<0x0>`."""

    mnemonic: str
    shape: tuple[int, ...]

    def full_name(self) -> str:
        """Return `dialect.mnemonic`."""
        return self.mnemonic

    def body(self, printer: AttributePrinter) -> str:
        """Return the dimensions."""
        del printer
        return f"<{shape_text(self.shape)}>"


def shape_parser(name: str) -> Callable[[MlirParser], ShapeAttr]:
    """Return the parser of a shape, after its name."""

    def parse(parser: MlirParser) -> ShapeAttr:
        # Some of these are printed without brackets inside other attributes.
        if not parser.parse_optional_punctuation("<"):
            return ShapeAttr(name, parse_dims(parser))
        shape = parse_dims(parser)
        parser.parse_punctuation(">")
        return ShapeAttr(name, shape)

    return parse


@dataclass(frozen=True)
class MemoryConfigAttr(DialectAttr):
    """`#ttnn.memory_config`: `<<layout>, <buffer>>` in 2024-09, `<#buffer, <layout>, shard spec>` later.

    Attributes:
        buffer: The `#ttnn.buffer_type`.
        layout: Word of the memory layout, or None.
        rest: Text of a shard specification.
        short: Whether it is written the way of 2024-09.
    """

    name: ClassVar[str] = "ttnn.memory_config"
    buffer: EnumAttr
    layout: str | None
    rest: tuple[str | Attribute, ...] = ()
    short: bool = False

    def body(self, printer: AttributePrinter) -> str:
        """Return what follows the name."""
        if self.short:
            return f"<<{self.layout}>, <{self.buffer.value}>>"
        text = f"<{stripped(printer, self.buffer)}"
        if self.layout is not None:
            text += f", <{self.layout}>"
        text += "".join(part if isinstance(part, str) else printer.attribute(part) for part in self.rest)
        return text + ">"

    @staticmethod
    def parse(parser: MlirParser) -> MemoryConfigAttr:
        """Parse what follows `#ttnn.memory_config`."""
        start = parser._current_token.span.start
        parser.parse_punctuation("<")
        if parser._current_token.text == "<":
            at = parser._current_token.span
            parser.parse_punctuation("<")
            word = parse_word(parser)
            parser.parse_punctuation(">")
            if word in ENUMS["ttnn.tensor_memory_layout"]:
                parser.parse_punctuation(",")
                buffer = enum_parser("ttnn.buffer_type")(parser)
                parser.parse_punctuation(">")
                return MemoryConfigAttr(buffer, word, (), short=True)
            if word not in ENUMS["ttnn.buffer_type"]:
                parser.fail(f"unknown buffer type '{word}'", at)
            buffer = EnumAttr("ttnn.buffer_type", word)
        else:
            buffer = parse_nested(parser, "ttnn.buffer_type", enum_parser("ttnn.buffer_type"))
        layout: str | None = None
        rest: tuple[str | Attribute, ...] = ()
        comma = parser._current_token.span.start
        if parser.parse_optional_punctuation(","):
            if parser._current_token.text == "<":
                layout = enum_parser("ttnn.tensor_memory_layout")(parser).value
                comma = parser._current_token.span.start
            end = parser.balanced(start)
            if parser._current_token.span.end != end:
                rest = parser.raw_parts(comma, end - 1)
                parser._resume_from(end - 1)
        parser.parse_punctuation(">")
        made = MemoryConfigAttr(buffer, layout, rest)
        try:
            made.check(parser.version)
        except VerifyException as error:
            parser.fail_in_version(str(error))
        return made

    def check(self, version: Version) -> None:
        """Check that buffer type, memory layout and shards fit each other.

        Raises:
            VerifyException: They do not.
        """
        if DIALECT_TT.of(version):
            return
        space = self.buffer.value
        check_memory(space, self.layout, version)
        if not any(isinstance(part, str) and "shard_spec" in part for part in self.rest):
            return
        spaces = ("l1", "dram") if SHARDED_DRAM.of(version) else ("l1",)
        if space not in spaces:
            words = "L1 or DRAM buffer type" if SHARDED_DRAM.of(version) else "L1 buffer type"
            raise VerifyException(f"Sharding is only valid for {words}")
        if self.layout is None:
            raise VerifyException("Tensor memory layout is required for sharding")
        if not self.layout.endswith("_sharded"):
            raise VerifyException(
                "Sharding is only valid for block sharded, height sharded, or width sharded tensor memory layout"
            )


@dataclass(frozen=True)
class CoreRangeAttr(DialectAttr):
    """`#ttnn.core_range<0x0, 8x8>` of 2024-09: offset and size."""

    dialect: str
    offset: tuple[int, ...]
    size: tuple[int, ...]

    def verify(self) -> None:
        """Raise for a range of no device."""
        if math.prod(self.size) > CORES:
            raise VerifyException(f"core range {shape_text(self.size)} has more than {CORES} cores")

    def full_name(self) -> str:
        """Return `dialect.core_range`."""
        return f"{self.dialect}.core_range"

    def body(self, printer: AttributePrinter) -> str:
        """Return offset and size."""
        del printer
        return f"<{shape_text(self.offset)}, {shape_text(self.size)}>"


def core_range_parser(dialect: str) -> Callable[[MlirParser], CoreRangeAttr | None]:
    """Return the parser of a dialect's core range, after its name."""

    def parse(parser: MlirParser) -> CoreRangeAttr | None:
        start = parser._current_token.span.start
        if parser._text[start + 1 : start + 2] == "(":
            return None
        parser.parse_punctuation("<")
        offset = parse_dims(parser)
        parser.parse_punctuation(",")
        size = parse_dims(parser)
        parser.parse_punctuation(">")
        return CoreRangeAttr(dialect, offset, size)

    return parse


@dataclass(frozen=True)
class BufferAttr(DialectAttr):
    """`#tt.buffer<memref, alias>`: the memory of an operand inside a dispatch region."""

    name: ClassVar[str] = "tt.buffer"
    memref: MemRefType[Any]
    access: str

    def body(self, printer: AttributePrinter) -> str:
        """Return memref and access."""
        return f"<{printer.attribute(self.memref)}, {self.access}>"

    @staticmethod
    def parse(parser: MlirParser) -> BufferAttr:
        """Parse what follows `#tt.buffer`."""
        parser.parse_punctuation("<")
        at = parser._current_token.span
        memref = parser.parse_type()
        if not isinstance(memref, MemRefType):
            parser.fail("expected a memref", at)
        parser.parse_punctuation(",")
        at = parser._current_token.span
        words = [parse_word(parser)]
        while parser.parse_optional_punctuation("|"):
            words.append(parse_word(parser))
        if any(word not in ("alias", "stream") for word in words):
            parser.fail("expected alias or stream", at)
        parser.parse_punctuation(">")
        return BufferAttr(memref, "|".join(words))


@dataclass(frozen=True)
class ArgAllocAttr(DialectAttr):
    """`#tt.arg_alloc<address, size, space>`: where an argument of a function lies."""

    name: ClassVar[str] = "tt.arg_alloc"
    address: int
    size: int
    space: str

    def body(self, printer: AttributePrinter) -> str:
        """Return address, size and space."""
        del printer
        return f"<{self.address}, {self.size}, {self.space}>"

    @staticmethod
    def parse(parser: MlirParser) -> ArgAllocAttr:
        """Parse what follows `#tt.arg_alloc`."""
        parser.parse_punctuation("<")
        address = parser.parse_integer(False, False)
        parser.parse_punctuation(",")
        size = parser.parse_integer(False, False)
        parser.parse_punctuation(",")
        at = parser._current_token.span
        space = parse_word(parser)
        if space not in ENUMS["tt.memory_space"]:
            parser.fail(f"unknown memory space '{space}'", at)
        parser.parse_punctuation(">")
        return ArgAllocAttr(address, size, space)
