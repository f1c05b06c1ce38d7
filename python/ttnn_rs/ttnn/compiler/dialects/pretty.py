"""Pretty forms of operations of the compiler's dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn.compiler.dialects.attributes import DeviceAttr, stripped
from ttnn.compiler.dialects.emitpy.pretty import parse_emitpy, print_emitpy
from ttnn.compiler.dialects.kinds import integer
from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.dialects.ttkernel.pretty import parse_emitc, parse_kernel_call, print_emitc, print_kernel_call
from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.ir.attributes import DialectAttr
from ttnn.compiler.ir.pretty import print_symbol_region
from ttnn.compiler.ir.printing import symbol_text
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    Block,
    IntegerAttr,
    IntegerType,
    Operation,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    UnitAttr,
)
from ttnn.compiler.version import Version

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser
    from ttnn.compiler.ir.writer import Writer

__all__ = ["parse_pretty", "print_pretty"]


def parse_pretty(parser: MlirParser, name: str, version: Version) -> Operation | None:
    """Parse an operation after its name; None without a pretty form."""
    if name.startswith("emitc."):
        return parse_emitc(parser, name, version)
    if DIALECT_TT.of(version):
        return None
    if name.startswith("ttkernel."):
        return parse_kernel_call(parser, name, version)
    if name.startswith("emitpy."):
        return parse_emitpy(parser, name, version)
    if name in ("ttcore.device_module", "ttcore.cpu_module"):
        return _wrapper(parser, name, version)
    if name == "ttcore.device":
        return _device(parser, version)
    if name == "ttir.empty":
        parser.parse_punctuation("(")
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return make(name, version, [], [parser.parse_type()], attributes=attributes)
    if name == "ttcore.load_cached":
        return _load_cached(parser, version)
    if name == "ttcore.tuple":
        return _tuple(parser, version)
    if name == "ttcore.get_tuple_element":
        return _tuple_element(parser, version)
    if name == "ttir.to_layout":
        return _to_layout(parser, version)
    if name == "ttir.ttnn_metal_layout_cast":
        return _layout_cast(parser, version)
    if name == "ttcore.optimization_barrier":
        return _barrier(parser, version)
    if name == "ttcore.get_global":
        symbol = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return make(name, version, [], [parser.parse_type()], {"sym_name": symbol}, attributes=attributes)
    if name == "ttcore.global":
        return _global(parser, version)
    return None


def _wrapper(parser: MlirParser, name: str, version: Version) -> Operation:
    found = parser.parse_optional_attr_dict_with_keyword()
    attributes = dict(found.data) if found is not None else {}
    region = parser.parse_region()
    if region.blocks.first is None:
        region.add_block(Block())
    return make(name, version, [], [], attributes=attributes, regions=[region])


def _device(parser: MlirParser, version: Version) -> Operation:
    symbol = parser.parse_symbol_name()
    parser.parse_punctuation("=")
    device = (
        parser.parse_attribute()
        if parser._current_token.text.startswith("#")
        else DeviceAttr.parse_in("ttcore")(parser)
    )
    attributes = parser.parse_optional_attr_dict()
    return make("ttcore.device", version, [], [], {"sym_name": symbol, "device_attr": device}, attributes=attributes)


def _tuple(parser: MlirParser, version: Version) -> Operation:
    at = parser._current_token.span.start
    names = []
    while not parser._current_token.text.startswith((":", "{")):
        names.append(parser.parse_unresolved_operand())
        if not parser.parse_optional_punctuation(","):
            break
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    kind = parser.parse_type()
    if not isinstance(kind, TupleType):
        parser.fail("expected a tuple type", at)
    operands = parser.resolve_operands(names, kind.types.data, at)
    return make("ttcore.tuple", version, list(operands), [kind], attributes=attributes)


def _tuple_element(parser: MlirParser, version: Version) -> Operation:
    at = parser._current_token.span.start
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation("[")
    index = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation("]")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    kind = parser.parse_function_type()
    values = parser.resolve_operands([operand], kind.inputs.data, at)
    properties = {"index": IntegerAttr(index, IntegerType(32))}
    return make(
        "ttcore.get_tuple_element", version, list(values), list(kind.outputs.data), properties, attributes=attributes
    )


def _load_cached(parser: MlirParser, version: Version) -> Operation:
    parser.parse_punctuation("(")
    callee = SymbolRefAttr(parser.parse_symbol_name())
    parser.parse_punctuation(",")
    names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
    parser.parse_punctuation(")")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser._current_token.span.start
    kind = parser.parse_function_type()
    operands = parser.resolve_operands(names, kind.inputs.data, at)
    return make(
        "ttcore.load_cached",
        version,
        list(operands),
        list(kind.outputs.data),
        {"callee": callee},
        attributes=attributes,
    )


def _to_layout(parser: MlirParser, version: Version) -> Operation:
    names = [parser.parse_unresolved_operand()]
    parser.parse_punctuation(",")
    names.append(parser.parse_unresolved_operand())
    parser.parse_punctuation(":")
    at = parser._current_token.span.start
    types = [parser.parse_type()]
    parser.parse_keyword("into")
    types.append(parser.parse_type())
    properties = {}
    if parser.parse_optional_keyword("hostInfo"):
        parser.parse_punctuation("=")
        properties["layout"] = parser.parse_attribute()
    attributes = parser.parse_optional_attr_dict()
    results = []
    if parser.parse_optional_punctuation("->"):
        results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    operands = parser.resolve_operands(names, types, at)
    kind = operation_class("ttir.to_layout", version)
    assert kind is not None
    op: Operation = kind.create(operands=operands, result_types=results, properties=properties, attributes=attributes)
    return op


def _layout_cast(parser: MlirParser, version: Version) -> Operation:
    source = parser.parse_unresolved_operand()
    attributes = dict(parser.parse_optional_attr_dict())
    parser.parse_punctuation(":")
    at = parser._current_token.span.start
    type_ = parser.parse_type()
    parser.parse_punctuation("->")
    operands = parser.resolve_operands([source], [type_], at)
    name = "ttir.ttnn_metal_layout_cast"
    kind = operation_class(name, version)
    assert kind is not None
    properties = {key: attributes.pop(key) for key in kind.spec.attributes if key in attributes}
    return make(name, version, list(operands), [parser.parse_type()], properties, attributes=attributes)


def _barrier(parser: MlirParser, version: Version) -> Operation:
    names = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser._current_token.span.start
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    operands = parser.resolve_operands(names, types, at)
    return make("ttcore.optimization_barrier", version, list(operands), list(types), attributes=attributes)


def _global(parser: MlirParser, version: Version) -> Operation:
    properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
    parser.parse_punctuation("=")
    properties["type"] = parser.parse_type()
    if parser.parse_optional_punctuation("["):
        properties["index"] = integer(parser.parse_integer(), "si32")
        parser.parse_punctuation("]")
    attributes = parser.parse_optional_attr_dict()
    return make("ttcore.global", version, [], [], properties, attributes=attributes)


def print_pretty(writer: Writer, operation: Operation) -> bool:
    """Write an operation without results; False without a pretty form."""
    if isinstance(operation, TableOp) and operation.name.startswith("emitc."):
        return print_emitc(writer, operation)
    if not isinstance(operation, TableOp) or operation.text.first:
        return False
    name = operation.name
    if name.startswith("ttkernel."):
        return print_kernel_call(writer, operation)
    if name.startswith("emitpy."):
        return print_emitpy(writer, operation)
    if name in ("ttcore.device_module", "ttcore.cpu_module"):
        return print_symbol_region(writer, operation, name)
    if name == "ttir.empty":
        writer.write("ttir.empty()")
        writer.attributes(operation.attributes)
        writer.write(f" : {writer.attribute(operation.results[0].type)}")
        return True
    if name == "ttcore.device":
        symbol, device = operation.properties.get("sym_name"), operation.properties.get("device_attr")
        if not isinstance(symbol, StringAttr) or not isinstance(device, DialectAttr):
            return False
        writer.write(f"ttcore.device {symbol_text(symbol.data)} = {stripped(writer, device)}")
        writer.attributes(operation.attributes)
        return True
    if name == "ttcore.load_cached":
        callee = operation.properties.get("callee")
        if callee is None:
            return False
        types = writer.text.types(value.type for value in operation.operands)
        writer.write(f"ttcore.load_cached({writer.attribute(callee)}, [{writer.values(operation.operands)}])")
        writer.attributes(operation.attributes)
        writer.write(f" : ({types}) -> {writer.text.results(r.type for r in operation.results)}")
        return True
    if name == "ttcore.optimization_barrier":
        writer.write(f"ttcore.optimization_barrier {writer.values(operation.operands)}")
        writer.attributes(operation.attributes)
        writer.write(f" : {writer.text.types(value.type for value in operation.operands)}")
        return True
    if name == "ttcore.tuple" and isinstance(operation.results[0].type, TupleType):
        writer.write(f"ttcore.tuple {writer.values(operation.operands)}".rstrip())
        writer.attributes(operation.attributes)
        writer.write(f" : {writer.attribute(operation.results[0].type)}")
        return True
    if name == "ttcore.get_tuple_element" and isinstance(operation.properties.get("index"), IntegerAttr):
        element = operation.properties["index"]
        assert isinstance(element, IntegerAttr)
        writer.write(f"ttcore.get_tuple_element {writer.value(operation.operands[0])}[{element.value.data}]")
        writer.attributes(operation.attributes)
        kinds = [writer.attribute(value.type) for value in (*operation.operands, *operation.results)]
        writer.write(f" : ({kinds[0]}) -> {kinds[1]}")
        return True
    if name == "ttir.to_layout":
        return _print_to_layout(writer, operation)
    if name == "ttir.ttnn_metal_layout_cast":
        writer.write(f"ttir.ttnn_metal_layout_cast {writer.value(operation.operands[0])}")
        writer.attributes({**operation.properties, **operation.attributes})
        source, target = operation.operands[0].type, operation.results[0].type
        writer.write(f" : {writer.attribute(source)} -> {writer.attribute(target)}")
        return True
    if name == "ttcore.get_global":
        symbol = operation.properties.get("sym_name")
        if not isinstance(symbol, StringAttr):
            return False
        writer.write(f"ttcore.get_global {symbol_text(symbol.data)}")
        writer.attributes(operation.attributes)
        writer.write(f" : {writer.attribute(operation.results[0].type)}")
        return True
    if name == "ttcore.global":
        symbol, type_ = operation.properties.get("sym_name"), operation.properties.get("type")
        if not isinstance(symbol, StringAttr) or type_ is None:
            return False
        writer.write(f"ttcore.global {symbol_text(symbol.data)} = {writer.attribute(type_)}")
        index = operation.properties.get("index")
        if isinstance(index, IntegerAttr):
            writer.write(f" [{index.value.data}]")
        writer.attributes(operation.attributes)
        return True
    return False


def _print_to_layout(writer: Writer, operation: TableOp) -> bool:
    names = writer.names.outputs(operation)
    operands = writer.expansion.operands(operation, names)
    if len(operands) != 2:
        return False
    texts = [one if isinstance(one, str) else writer.value(one) for one, _ in operands]
    types = [writer.attribute(type_) for _, type_ in operands]
    writer.write(f"ttir.to_layout {', '.join(texts)} : {types[0]} into {types[1]}")
    layout = operation.properties.get("layout")
    if layout is not None and not isinstance(layout, UnitAttr):
        writer.write(f" hostInfo = {writer.attribute(layout)}")
    writer.attributes(operation.attributes)
    if operation.results:
        writer.write(f" -> {writer.text.types(r.type for r in operation.results)}")
    return True
