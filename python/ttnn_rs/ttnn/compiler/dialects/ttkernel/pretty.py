"""Pretty forms of `ttkernel` calls and their `emitc` statements.

`ttkernel.call(%a, %b) : (T, U) -> ()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.ir.printing import quote
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerAttr, Operation, SSAValue, StringAttr, UnitAttr
from ttnn.compiler.version import Version

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser
    from ttnn.compiler.ir.writer import Writer

__all__ = ["parse_emitc", "parse_kernel_call", "print_emitc", "print_kernel_call"]

#: Attributes that stand among the operands, first.
_FIRST: Final = {"get_compile_time_arg_val": "arg_index", "dprint": "fmt"}
_BINARY: Final = (
    *("add", "sub", "mul", "div", "rem"),
    *("bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor"),
)


def parse_kernel_call(parser: MlirParser, name: str, version: Version) -> Operation | None:
    """Parse a `ttkernel` operation after its name; None in other forms."""
    short = name.removeprefix("ttkernel.")
    kind = operation_class(name, version)
    if kind is None or kind.spec.regions or parser._current_token.text != "(":
        return None
    properties: dict[str, Attribute] = {}
    parser.parse_punctuation("(")
    first = _FIRST.get(short)
    if first is not None:
        token = parser._current_token.text
        properties[first] = (
            StringAttr(parser.parse_str_literal()) if token.startswith('"') else i32_attr(parser.parse_integer())
        )
        parser.parse_optional_punctuation(",")
    names = []
    while not parser.parse_optional_punctuation(")"):
        names.append(parser.parse_unresolved_operand())
        parser.parse_optional_punctuation(",")
    attributes = dict(parser.parse_optional_attr_dict())
    properties |= {key: attributes.pop(key) for key in list(attributes) if key in kind.text.attributes}
    results: list[Attribute] = []
    operands: list[SSAValue] = []
    if parser.parse_optional_punctuation(":"):
        at = parser._current_token.span.start
        function = parser.parse_function_type()
        operands, results = list(parser.resolve_operands(names, function.inputs.data, at)), list(function.outputs.data)
    elif names:
        parser.fail("expected ':' and the types of the operands")
    op: Operation = kind.create(operands=operands, result_types=results, properties=properties, attributes=attributes)
    return op


def print_kernel_call(writer: Writer, op: TableOp) -> bool:
    """Write a `ttkernel` operation in call form; else False."""
    short = op.name.removeprefix("ttkernel.")
    first = _FIRST.get(short)
    simple = first is not None or (not op.text.attributes and "." not in short and "::" not in short)
    if op.regions or not simple or short in ("return", "unreachable"):
        return False
    value = op.properties.get(first) if first is not None else None
    parts: list[str] = []
    if isinstance(value, IntegerAttr):
        parts = [str(value.value.data)]
    elif isinstance(value, StringAttr):
        parts = [quote(value.data)]
    elif first is not None:
        return False
    parts += [writer.value(operand) for operand in op.operands]
    writer.write(f"{op.name}({', '.join(parts)})")
    writer.attributes(op.attributes)
    types = writer.text.types(operand.type for operand in op.operands)
    writer.write(f" : ({types}) -> {writer.text.results(result.type for result in op.results)}")
    return True


# emitc


def _emitc_call(parser: MlirParser, version: Version) -> Operation:
    properties: dict[str, Attribute] = {"callee": StringAttr(parser.parse_str_literal())}
    names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
    attributes = dict(parser.parse_optional_attr_dict())
    properties |= {key: attributes.pop(key) for key in ("args", "template_args") if key in attributes}
    parser.parse_punctuation(":")
    at = parser._current_token.span.start
    kind = parser.parse_function_type()
    operands = list(parser.resolve_operands(names, kind.inputs.data, at))
    return make("emitc.call_opaque", version, operands, list(kind.outputs.data), properties, attributes=attributes)


def _emitc_literal(parser: MlirParser, version: Version) -> Operation:
    value = StringAttr(parser.parse_str_literal())
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return make("emitc.literal", version, [], [parser.parse_type()], {"value": value}, attributes=attributes)


def _emitc_include(parser: MlirParser, version: Version) -> Operation:
    properties: dict[str, Attribute] = {}
    if parser.parse_optional_punctuation("<"):
        properties = {"include": StringAttr(parser.parse_str_literal()), "is_standard_include": UnitAttr()}
        parser.parse_punctuation(">")
    else:
        properties["include"] = StringAttr(parser.parse_str_literal())
    return make("emitc.include", version, [], [], properties, attributes=parser.parse_optional_attr_dict())


def _emitc_verbatim(parser: MlirParser, version: Version) -> Operation:
    value, operands = StringAttr(parser.parse_str_literal()), []
    if parser.parse_optional_keyword("args"):
        names = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        parser.parse_punctuation(":")
        at = parser._current_token.span.start
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = list(parser.resolve_operands(names, types, at))
    attributes = parser.parse_optional_attr_dict()
    return make("emitc.verbatim", version, operands, [], {"value": value}, attributes=attributes)


def _emitc_cast(parser: MlirParser, version: Version) -> Operation:
    name = parser.parse_unresolved_operand()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser._current_token.span.start
    source = parser.parse_type()
    parser.parse_keyword("to")
    operands = list(parser.resolve_operands([name], [source], at))
    return make("emitc.cast", version, operands, [parser.parse_type()], attributes=attributes)


def _emitc_binary(name: str) -> Callable[[MlirParser, Version], Operation]:
    def parse(parser: MlirParser, version: Version) -> Operation:
        names = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        at = parser._current_token.span.start
        kind = parser.parse_function_type()
        operands = list(parser.resolve_operands(names, kind.inputs.data, at))
        return make(name, version, operands, list(kind.outputs.data), attributes=attributes)

    return parse


_PARSERS: Final[dict[str, Callable[[MlirParser, Version], Operation]]] = {
    "emitc.call_opaque": _emitc_call,
    "emitc.cast": _emitc_cast,
    "emitc.include": _emitc_include,
    "emitc.literal": _emitc_literal,
    "emitc.verbatim": _emitc_verbatim,
    **{f"emitc.{name}": _emitc_binary(f"emitc.{name}") for name in _BINARY},
}


def parse_emitc(parser: MlirParser, name: str, version: Version) -> Operation | None:
    """Parse an `emitc` operation after its name; None without pretty form."""
    parse = _PARSERS.get(name)
    return None if parse is None else parse(parser, version)


def print_emitc(writer: Writer, op: TableOp) -> bool:
    """Write an `emitc` operation beyond MLIR's forms; else False.

    It has no pretty form then.
    """
    short = op.name.removeprefix("emitc.")
    value = op.properties.get("value")
    if short == "literal" and isinstance(value, StringAttr):
        writer.write(f"emitc.literal {quote(value.data)}")
        writer.attributes(op.attributes)
        writer.write(f" : {writer.attribute(op.results[0].type)}")
        return True
    if short == "cast":
        writer.write(f"emitc.cast {writer.value(op.operands[0])}")
        writer.attributes(op.attributes)
        types = (op.operands[0].type, op.results[0].type)
        writer.write(f" : {writer.attribute(types[0])} to {writer.attribute(types[1])}")
        return True
    if short in _BINARY:
        writer.write(f"{op.name} {writer.values(op.operands)}")
        writer.attributes(op.attributes)
        types_text = writer.text.types(operand.type for operand in op.operands)
        writer.write(f" : ({types_text}) -> {writer.attribute(op.results[0].type)}")
        return True
    return False
