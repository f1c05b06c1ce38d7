"""Attributes and types that transformations read.

All others are kept as text.

Each class has its syntax in `parse`, which starts after the name, and in `body`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from ttnn.compiler.dialects.enums import (
    ENUMS,
)
from ttnn.compiler.ir.attributes import OpaqueDialectAttr, OpaqueDialectType, float_text
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
)

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser

from ttnn.compiler.dialects.basic_attributes import (
    ConstraintAttr,
    EnumAttr,
    GridAttr,
    TileType,
    data_type,
    element_of,
    enum,
    enum_parser,
)
from ttnn.compiler.dialects.device_attributes import (
    ChipDescAttr,
    DeviceAttr,
    DeviceType,
    SystemDescAttr,
    TtnnDeviceType,
    split_lists,
)
from ttnn.compiler.dialects.layout_attributes import (
    ArgAllocAttr,
    BufferAttr,
    CoreRangeAttr,
    LayoutAttr,
    MemoryConfigAttr,
    ShapeAttr,
    TTNNLayoutAttr,
    core_range_parser,
    shape_parser,
)
from ttnn.compiler.dialects.syntax import stripped

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
    "split_lists",
    "stripped",
]

_NUMBER: Final = re.compile(r"\d+\.\d*(?:[eE][-+]?\d+)?")


def _quantized(parser: MlirParser) -> str:
    """Return a quantized type's parameters in MLIR spelling."""
    text = "".join(part for part in parser.opaque_body() if isinstance(part, str))
    text = re.sub(r"\s*,\s*", ", ", re.sub(r"\s*([:{}<>])\s*", r"\1", text))
    # Only the scales of an axis stand without blanks.
    text = re.sub(r"\{.*?\}", lambda found: found.group().replace(", ", ","), text)
    return _NUMBER.sub(lambda found: float_text(float(found.group()), "f64"), text)


_COORDINATE: Final = re.compile(r"core_coord = (?:#ttnn\.core_coord)?<(\d+), (\d+)>")


def _kernel(name: str) -> Callable[[MlirParser], Attribute | None]:
    """Return a generic kernel's parser.

    Each core has runtime arguments once.
    """

    def parse(parser: MlirParser) -> Attribute:
        at = parser._current_token.span
        made: Attribute = OpaqueDialectAttr(name, parser.opaque_body())
        seen = set()
        for coordinate in _COORDINATE.findall(attribute_text(made)):
            if coordinate in seen:
                parser.fail(f"Duplicate CoreCoord ({', '.join(coordinate)}) in runtime arguments", at)
            seen.add(coordinate)
        return made

    return parse


_KERNELS: Final = (
    "compute_kernel",
    "read_kernel",
    "write_kernel",
    "data_movement_kernel",
    "source_compute_kernel",
    "source_read_kernel",
    "source_write_kernel",
)

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
    "ttnn.shape": shape_parser("ttnn.shape"),
    "ttnn.mesh_shape": shape_parser("ttnn.mesh_shape"),
    "ttnn.memory_config": MemoryConfigAttr.parse,
    "ttnn.core_range": core_range_parser("ttnn"),
    "ttmetal.core_range": core_range_parser("ttmetal"),
    **{f"ttnn.{name}": _kernel(f"ttnn.{name}") for name in _KERNELS},
    **{name: enum_parser(name) for name in ENUMS},
}
_TYPES: Final[dict[str, Parse]] = {
    "tt.tile": TileType.parse_in("tt"),
    "ttcore.tile": TileType.parse_in("ttcore"),
    "tt.device": DeviceType.parse,
    "ttnn.device": lambda parser: TtnnDeviceType(),
    "quant.uniform": lambda parser: OpaqueDialectType("quant.uniform", (_quantized(parser),)),
}


def parse_attribute(parser: MlirParser, name: str, is_type: bool) -> Attribute | None:
    """Parse a table's attribute or type; None without a class.

    It is parsed after its name.
    """
    parse = (_TYPES if is_type else _PARSERS).get(name)
    return parse(parser) if parse is not None else None
