"""Attributes and types of the dialects that transformations look into. All others are kept as text.

Each class has its syntax in `parse`, which starts after the name, and in `body`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from ttnn.compiler.asm.affine import affine_text, constant, dim
from ttnn.compiler.asm.attributes import AttributePrinter, DialectAttr, OpaqueDialectType, float_text, shape_text
from ttnn.compiler.asm.xdsl_adapter import (
    AffineMap,
    Attribute,
    IntegerType,
    MemRefType,
    MLIRTokenKind,
    NoneAttr,
    Signedness,
    TypeAttribute,
    VerifyException,
)
from ttnn.compiler.dialects.enums import (
    CONSTRAINT_GROUPS,
    ENUMS,
    constraint_words,
    expand_constraint,
)

if TYPE_CHECKING:
    from ttnn.compiler.asm.parser import MlirParser

__all__ = [
    "ArgAllocAttr",
    "BufferAttr",
    "ChipDescAttr",
    "ConstraintAttr",
    "CoreRangeAttr",
    "DeviceAttr",
    "DeviceType",
    "EnumAttr",
    "GridAttr",
    "LayoutAttr",
    "MemoryConfigAttr",
    "ShapeAttr",
    "SystemDescAttr",
    "TTNNLayoutAttr",
    "TileType",
    "TtnnDeviceType",
    "data_type",
    "element_of",
    "enum",
    "parse_attribute",
]


def _word(parser: MlirParser) -> str:
    token = parser._current_token
    if token.kind != MLIRTokenKind.BARE_IDENT:
        parser.fail("expected a keyword")
    parser._consume_token()
    return token.text


def _dims(parser: MlirParser) -> tuple[int, ...]:
    return tuple(parser.parse_dimension_list())


def _nested(parser: MlirParser, name: str, parse: Callable[[MlirParser], Attribute]) -> Any:
    """Parse an attribute inside another one: an alias, the whole attribute, or what follows its name."""
    if parser._current_token.kind == MLIRTokenKind.HASH_IDENT:
        at = parser._current_token.span
        value = parser.parse_attribute()
        if not isinstance(value, DialectAttr) or value.full_name() != name:
            parser.fail(f"expected #{name} here", at)
        return value
    return parse(parser)


def stripped(printer: AttributePrinter, attribute: DialectAttr) -> str:
    """Return an attribute inside another one: its alias, or what follows its name."""
    text = printer.attribute(attribute)
    prefix = f"#{attribute.full_name()}"
    return text[len(prefix) :] if text.startswith(prefix + "<") else text


@dataclass(frozen=True)
class EnumAttr(DialectAttr):
    """`#dialect.mnemonic<word>`.

    Attributes:
        enum: `dialect.mnemonic`.
        value: The word.
    """

    enum: str
    value: str

    def full_name(self) -> str:
        """Return `dialect.mnemonic`."""
        return self.enum

    def body(self, printer: AttributePrinter) -> str:
        """Return `<word>`."""
        del printer
        return f"<{self.value}>"

    @property
    def code(self) -> int:
        """The number of the word."""
        return ENUMS[self.enum].index(self.value)


def enum(name: str, value: str) -> EnumAttr:
    """Return an enumeration attribute."""
    return EnumAttr(name, value)


def _enum_parser(name: str) -> Callable[[MlirParser], EnumAttr]:
    def parse(parser: MlirParser) -> EnumAttr:
        parser.parse_punctuation("<")
        at = parser._current_token.span
        word = _word(parser)
        if word not in ENUMS[name]:
            parser.fail(f"expected one of {', '.join(ENUMS[name])} for #{name}, got '{word}'", at)
        parser.parse_punctuation(">")
        return EnumAttr(name, word)

    return parse


@dataclass(frozen=True)
class ConstraintAttr(DialectAttr):
    """`#tt.operand_constraint<a|b|c>`: where an operand may live, in which form and layout."""

    name: ClassVar[str] = "tt.operand_constraint"
    bits: int

    def body(self, printer: AttributePrinter) -> str:
        """Return every bit and every group that is contained."""
        del printer
        return f"<{constraint_words(self.bits)}>"

    def allows(self, word: str) -> bool:
        """Return whether a word is among the bits."""
        wanted = expand_constraint([word])
        return wanted is not None and self.bits & wanted == wanted

    @staticmethod
    def parse(parser: MlirParser) -> ConstraintAttr:
        """Parse `<a|b>`."""
        parser.parse_punctuation("<")
        at = parser._current_token.span
        words = [_word(parser)]
        while parser.parse_optional_punctuation("|"):
            words.append(_word(parser))
        parser.parse_punctuation(">")
        bits = expand_constraint(words)
        if bits is None:
            parser.fail("expected words of an operand constraint", at)
        return ConstraintAttr(bits)

    @property
    def group(self) -> str | None:
        """The name of the group that it is exactly, of those that have an alias."""
        names = ("any", "any_device", "any_device_tile", "l1_block_sharded")
        return next((name for name in names if CONSTRAINT_GROUPS[name] == self.bits), None)


@dataclass(frozen=True)
class GridAttr(DialectAttr):
    """`#tt.grid<8x8>`, with the map from its points to chips and cores if it has one.

    Attributes:
        dialect: "tt" or "ttcore".
        shape: Its size per dimension.
        mapping: Points to (chip, y, x), or None.
        inverse: The map back, of the current epoch.
        keyed: Whether the maps have names in the text.
    """

    dialect: str
    shape: tuple[int, ...]
    mapping: AffineMap | None = None
    inverse: AffineMap | None = None
    keyed: bool = False

    def full_name(self) -> str:
        """Return `dialect.grid`."""
        return f"{self.dialect}.grid"

    def verify(self) -> None:
        """Check that every dimension is positive."""
        if any(size <= 0 for size in self.shape):
            raise VerifyException(f"grid {shape_text(self.shape)} must have positive dimensions")

    def body(self, printer: AttributePrinter) -> str:
        """Return `<8x8, map>`."""
        del printer
        text = shape_text(self.shape)
        if self.mapping is not None:
            text += f", {'virt_to_physical_map = ' if self.keyed else ''}{affine_text(self.mapping)}"
        if self.inverse is not None:
            text += f", physical_to_virt_map = {affine_text(self.inverse)}"
        return f"<{text}>"

    @staticmethod
    def parse_in(dialect: str) -> Callable[[MlirParser], GridAttr]:
        """Return the parser of grids of a dialect."""

        def parse(parser: MlirParser) -> GridAttr:
            parser.parse_punctuation("<")
            shape = _dims(parser)
            mapping = inverse = None
            keyed = False
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("virt_to_physical_map"):
                    parser.parse_punctuation("=")
                    mapping, keyed = parser.parse_affine_map(), True
                elif parser.parse_optional_keyword("physical_to_virt_map"):
                    parser.parse_punctuation("=")
                    inverse, keyed = parser.parse_affine_map(), True
                else:
                    mapping = _map(parser)
            parser.parse_punctuation(">")
            return GridAttr(dialect, shape, mapping, inverse, keyed)

        return parse


def _map(parser: MlirParser) -> AffineMap:
    """Parse a map, bare, in `affine_map<>` or by its alias."""
    if parser._current_token.kind == MLIRTokenKind.HASH_IDENT or parser._current_token.text == "affine_map":
        value = parser.parse_attribute()
        data = getattr(value, "data", None)
        if not isinstance(data, AffineMap):
            parser.fail("expected an affine map")
        return data
    return parser.parse_affine_map()


@dataclass(frozen=True)
class TileType(DialectAttr, TypeAttribute):
    """`!tt.tile<32x32, bf16>`.

    Attributes:
        dialect: "tt" or "ttcore".
        height: Rows.
        width: Columns.
        dtype: Word of the data type.
    """

    is_type: ClassVar[bool] = True
    dialect: str
    height: int
    width: int
    dtype: str

    def full_name(self) -> str:
        """Return `dialect.tile`."""
        return f"{self.dialect}.tile"

    def body(self, printer: AttributePrinter) -> str:
        """Return `<32x32, bf16>`."""
        del printer
        return f"<{self.height}x{self.width}, {self.dtype}>"

    @staticmethod
    def parse_in(dialect: str) -> Callable[[MlirParser], TileType]:
        """Return the parser of tiles of a dialect."""

        def parse(parser: MlirParser) -> TileType:
            parser.parse_punctuation("<")
            at = parser._current_token.span
            shape = _dims(parser)
            if len(shape) != 2 or min(shape) <= 0:
                parser.fail("expected a tile of 2 positive dimensions", at)
            parser.parse_punctuation(",")
            at = parser._current_token.span
            word = _word(parser)
            if word not in ENUMS[f"{dialect}.supportedDataTypes"]:
                parser.fail(f"unknown data type '{word}' of a tile", at)
            parser.parse_punctuation(">")
            return TileType(dialect, shape[0], shape[1], word)

        return parse


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
        """Check that map, grid and memref have one rank, and that memory layouts are of device memory."""
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
        """Whether the memref is of tiles."""
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
        linear = _strides(_dims(parser)) if listed else _map(parser)
        parser.parse_punctuation(",")
        oob_at = parser._current_token.span
        oob = _word(parser)
        if oob not in ENUMS["tt.oob_val"]:
            parser.fail(f"unknown out-of-bounds value '{oob}'", oob_at)
        parser.parse_punctuation(",")
        grid = _nested(parser, "tt.grid", GridAttr.parse_in("tt"))
        parser.parse_punctuation(",")
        memref = parser.parse_type()
        if not isinstance(memref, MemRefType):
            parser.fail("expected a memref in a layout", at)
        layout = "none"
        if parser.parse_optional_punctuation(","):
            word_at = parser._current_token.span
            layout = _word(parser)
            if layout not in ENUMS["tt.tensor_memory_layout"]:
                parser.fail(f"unknown memory layout '{layout}'", word_at)
        parser.parse_punctuation(">")
        return LayoutAttr(linear, oob, grid, memref, layout)


def _strides(strides: Sequence[int]) -> AffineMap:
    """Return the map of a list of strides, an older spelling: one row-major index and the last dimension."""
    rank = len(strides)
    if rank < 2:
        return AffineMap(rank, 0, tuple(dim(i) for i in range(rank)))
    from ttnn.compiler.asm.affine import add, mul

    last = strides[-2] or 1
    collapsed = constant(0)
    for i, step in enumerate(strides[:-1]):
        collapsed = add(collapsed, mul(dim(i), constant(step // last)))
    return AffineMap(rank, 0, (collapsed, dim(rank - 1)))


@dataclass(frozen=True)
class TTNNLayoutAttr(DialectAttr):
    """`#ttnn.ttnn_layout<map, <grid>, memref, <memory layout>>` of the later epochs.

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
        """Whether the memref is of tiles."""
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
        linear = _map(parser)
        parser.parse_punctuation(",")
        grid = _nested(parser, "ttcore.grid", GridAttr.parse_in("ttcore"))
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
                layout = _enum_parser("ttnn.tensor_memory_layout")(parser).value
                comma = parser._current_token.span.start
            end = parser.balanced(start)
            if parser._current_token.text != ">" or parser._current_token.span.end != end:
                rest = parser.raw_parts(comma, end - 1)
                parser._resume_from(end - 1)
        parser.parse_punctuation(">")
        try:
            return TTNNLayoutAttr(linear, grid, memref, layout, rest)
        except VerifyException as error:
            parser.fail(str(error), at)

    def verify(self) -> None:
        """Check that system memory has no memory layout and device memory has one."""
        device = self.space in ("dram", "l1", "l1_small", "trace")
        if device and self.mem_layout is None:
            raise VerifyException(f"Memory layout is required for {self.space} buffer type.")
        if not device and self.mem_layout is not None:
            raise VerifyException(f"Memory layout is not allowed for {self.space} buffer type.")
        if len(self.linear.results) != len(self.memref.get_shape()):
            raise VerifyException("the map and the memref of a layout must have one rank")


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


def _shape_parser(name: str) -> Callable[[MlirParser], ShapeAttr]:
    def parse(parser: MlirParser) -> ShapeAttr:
        # Some of these are printed without brackets inside other attributes.
        if not parser.parse_optional_punctuation("<"):
            return ShapeAttr(name, _dims(parser))
        shape = _dims(parser)
        parser.parse_punctuation(">")
        return ShapeAttr(name, shape)

    return parse


@dataclass(frozen=True)
class MemoryConfigAttr(DialectAttr):
    """`#ttnn.memory_config`: `<<layout>, <buffer>>` in the book, `<#buffer, <layout>, shard spec>` later.

    Attributes:
        buffer: The `#ttnn.buffer_type`.
        layout: Word of the memory layout, or None.
        rest: Text of a shard specification.
        book: Whether it is written the way of the book.
    """

    name: ClassVar[str] = "ttnn.memory_config"
    buffer: EnumAttr
    layout: str | None
    rest: tuple[str | Attribute, ...] = ()
    book: bool = False

    def body(self, printer: AttributePrinter) -> str:
        """Return what follows the name."""
        if self.book:
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
            word = _word(parser)
            parser.parse_punctuation(">")
            if word in ENUMS["ttnn.tensor_memory_layout"]:
                parser.parse_punctuation(",")
                buffer = _enum_parser("ttnn.buffer_type")(parser)
                parser.parse_punctuation(">")
                return MemoryConfigAttr(buffer, word, (), book=True)
            if word not in ENUMS["ttnn.buffer_type"]:
                parser.fail(f"unknown buffer type '{word}'", at)
            buffer = EnumAttr("ttnn.buffer_type", word)
        else:
            buffer = _nested(parser, "ttnn.buffer_type", _enum_parser("ttnn.buffer_type"))
        layout: str | None = None
        rest: tuple[str | Attribute, ...] = ()
        comma = parser._current_token.span.start
        if parser.parse_optional_punctuation(","):
            if parser._current_token.text == "<":
                layout = _enum_parser("ttnn.tensor_memory_layout")(parser).value
                comma = parser._current_token.span.start
            end = parser.balanced(start)
            if parser._current_token.span.end != end:
                rest = parser.raw_parts(comma, end - 1)
                parser._resume_from(end - 1)
        parser.parse_punctuation(">")
        return MemoryConfigAttr(buffer, layout, rest)


@dataclass(frozen=True)
class CoreRangeAttr(DialectAttr):
    """`#ttnn.core_range<0x0, 8x8>` of the book: offset and size."""

    dialect: str
    offset: tuple[int, ...]
    size: tuple[int, ...]

    def full_name(self) -> str:
        """Return `dialect.core_range`."""
        return f"{self.dialect}.core_range"

    def body(self, printer: AttributePrinter) -> str:
        """Return offset and size."""
        del printer
        return f"<{shape_text(self.offset)}, {shape_text(self.size)}>"


def _core_range_parser(dialect: str) -> Callable[[MlirParser], CoreRangeAttr | None]:
    def parse(parser: MlirParser) -> CoreRangeAttr | None:
        start = parser._current_token.span.start
        if parser._text[start + 1 : start + 2] == "(":
            return None
        parser.parse_punctuation("<")
        offset = _dims(parser)
        parser.parse_punctuation(",")
        size = _dims(parser)
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
        words = [_word(parser)]
        while parser.parse_optional_punctuation("|"):
            words.append(_word(parser))
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
        space = _word(parser)
        if space not in ENUMS["tt.memory_space"]:
            parser.fail(f"unknown memory space '{space}'", at)
        parser.parse_punctuation(">")
        return ArgAllocAttr(address, size, space)


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
        rest: Entries of the later epochs, in their text.
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
            raise VerifyException(f"mesh shape has {volume} chips but {len(self.chip_ids)} chip ids are given")
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
                key = _word(parser)
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
        return _nested(parser, f"{dialect}.grid", GridAttr.parse_in(dialect))
    if key in ("l1Map", "dramMap"):
        return _map(parser)
    if key == "meshShape":
        return _dims(parser)
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
    """`!tt.device<#device>`: the type of `ttnn.get_device` in the book."""

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
        device = _nested(parser, "tt.device", DeviceAttr.parse_in("tt")) if _is_alias(parser) else _device(parser)
        parser.parse_punctuation(">")
        return DeviceType(device)


def _is_alias(parser: MlirParser) -> bool:
    return bool(parser._current_token.kind == MLIRTokenKind.HASH_IDENT)


def _device(parser: MlirParser) -> DeviceAttr:
    return DeviceAttr.parse_in("tt")(parser)


@dataclass(frozen=True)
class TtnnDeviceType(DialectAttr, TypeAttribute):
    """`!ttnn.device`: the type of `ttnn.get_device` in the later epochs."""

    name: ClassVar[str] = "ttnn.device"
    is_type: ClassVar[bool] = True

    def body(self, printer: AttributePrinter) -> str:
        """Return nothing: it has no parameters."""
        del printer
        return ""


Value: TypeAlias = "int | str | tuple[Value, ...] | tuple[tuple[str, Value], ...]"


@dataclass(frozen=True)
class ChipDescAttr(DialectAttr):
    """The entries of a chip in a system descriptor, in the order of the text.

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
    """`#tt.system_desc<[chips], [indices], [capabilities], [coords]>`, with CPUs first in the later epochs.

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
    """Return the parts of a text between the commas that stand outside of all brackets."""
    parts, depth, last = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<[({") - (char in ">])}")
        if char == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    parts.append(text[last:])
    return [part for part in parts if part.strip()]


_ELEMENTS: Final = {"f32": "f32", "f16": "f16", "bf16": "bf16", "f64": "f32"}


def data_type(element: Attribute) -> str:
    """Return the word of the data type that holds an element type.

    Raises:
        VerifyException: No data type holds it.
    """
    if isinstance(element, TileType):
        return element.dtype
    name = getattr(element, "name", "")
    if name in _ELEMENTS:
        return _ELEMENTS[name]
    if isinstance(element, OpaqueDialectType) and element.mnemonic == "quant.uniform":
        # Quantized integers are stored as 32 bits, whatever their own width.
        return "si32"
    if isinstance(element, IntegerType):
        width = element.width.data
        signed = element.signedness.data is not Signedness.UNSIGNED
        if width == 1:
            return "bf16"
        if width in (32, 64):
            return "si32" if signed else "u32"
        if width in (8, 16):
            return f"u{width}"
    if name == "index":
        return "u32"
    raise VerifyException(f"no data type of the chip holds elements of type {name}")


def element_of(word: str) -> Attribute:
    """Return the element type of a data type: of block formats that of what they unpack to."""
    from ttnn.compiler.asm.xdsl_adapter import builtin_float

    if word in ("f32", "f16", "bf16"):
        return builtin_float(word)
    if word in ("bfp_bf8", "bfp_bf4", "bfp_bf2"):
        return builtin_float("bf16")
    if word in ("bfp_f8", "bfp_f4", "bfp_f2"):
        return builtin_float("f16")
    if word == "si32":
        return IntegerType(32, Signedness.SIGNED)
    return IntegerType(int(word[1:]), Signedness.UNSIGNED)


_NUMBER: Final = re.compile(r"\d+\.\d*(?:[eE][-+]?\d+)?")


def _quantized(parser: MlirParser) -> str:
    """Return the parameters of a quantized type with blanks and numbers as MLIR prints them."""
    text = "".join(part for part in parser.opaque_body() if isinstance(part, str))
    text = re.sub(r"\s*,\s*", ", ", re.sub(r"\s*([:{}<>])\s*", r"\1", text))
    return _NUMBER.sub(lambda found: float_text(float(found.group()), "f64"), text)


Parse: TypeAlias = "Callable[[MlirParser], Attribute | None]"

_PARSERS: Final[dict[str, Parse]] = {
    "tt.operand_constraint": ConstraintAttr.parse,
    "tt.grid": GridAttr.parse_in("tt"),
    "ttcore.grid": GridAttr.parse_in("ttcore"),
    "tt.layout": LayoutAttr.parse,
    "tt.arg_alloc": ArgAllocAttr.parse,
    "tt.buffer": BufferAttr.parse,
    "tt.device": DeviceAttr.parse_in("tt"),
    "ttcore.device": DeviceAttr.parse_in("ttcore"),
    "tt.system_desc": SystemDescAttr.parse_in("tt"),
    "ttcore.system_desc": SystemDescAttr.parse_in("ttcore"),
    "ttnn.ttnn_layout": TTNNLayoutAttr.parse,
    "ttnn.shape": _shape_parser("ttnn.shape"),
    "ttnn.mesh_shape": _shape_parser("ttnn.mesh_shape"),
    "ttnn.memory_config": MemoryConfigAttr.parse,
    "ttnn.core_range": _core_range_parser("ttnn"),
    "ttmetal.core_range": _core_range_parser("ttmetal"),
    **{name: _enum_parser(name) for name in ENUMS},
}
_TYPES: Final[dict[str, Parse]] = {
    "tt.tile": TileType.parse_in("tt"),
    "ttcore.tile": TileType.parse_in("ttcore"),
    "tt.device": DeviceType.parse,
    "ttnn.device": lambda parser: TtnnDeviceType(),
    "quant.uniform": lambda parser: OpaqueDialectType("quant.uniform", (_quantized(parser),)),
}


def parse_attribute(parser: MlirParser, name: str, is_type: bool) -> Attribute | None:
    """Parse an attribute or type of the tables, after its name; None if it has no class."""
    parse = (_TYPES if is_type else _PARSERS).get(name)
    return parse(parser) if parse is not None else None
