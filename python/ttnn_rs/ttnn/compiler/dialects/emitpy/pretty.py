"""Pretty forms of dialect `emitpy`: Python statements and expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.ir.printing import quote, symbol_text
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    Operation,
    Region,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from ttnn.compiler.version import Version

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser
    from ttnn.compiler.ir.writer import Writer

__all__ = ["parse_emitpy", "print_emitpy"]

Parse = Callable[["MlirParser", Version], Operation]
Print = Callable[["Writer", TableOp], None]


class _Names:
    """Operands that are read before their types."""

    def __init__(self, parser: MlirParser) -> None:
        self._parser = parser
        self._names = [parser.parse_unresolved_operand()]

    def more(self) -> _Names:
        """Read the operands after a comma."""
        while self._parser.parse_optional_punctuation(","):
            self._names.append(self._parser.parse_unresolved_operand())
        return self

    def add(self) -> None:
        """Read one more operand."""
        self._names.append(self._parser.parse_unresolved_operand())

    def resolve(self, types: list[Attribute]) -> list[SSAValue]:
        """Return the values, now that their types are known."""
        at = self._parser._current_token.span.start
        return list(self._parser.resolve_operands(self._names, types, at))


def _values(parser: MlirParser) -> _Names | None:
    """Read `(%a, %b)` or `()`."""
    parser.parse_punctuation("(")
    if parser.parse_optional_punctuation(")"):
        return None
    names = _Names(parser).more()
    parser.parse_punctuation(")")
    return names


def _types(parser: MlirParser) -> list[Attribute]:
    """Read `(T, U)`."""
    return list(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))


def _body(parser: MlirParser) -> Region:
    """Read a region without terminator; it always has a block.

    Even if nothing is in it.
    """
    region = parser.parse_region()
    if region.blocks.first is None:
        region.add_block(Block())
    return region


def _string(parser: MlirParser) -> StringAttr:
    return StringAttr(parser.parse_str_literal())


def _call(parser: MlirParser, version: Version) -> Operation:
    properties: dict[str, Attribute] = {"callee": _string(parser)}
    names = _values(parser)
    attributes = dict(parser.parse_optional_attr_dict())
    for name in ("args", "keyword_args"):
        if name in attributes:
            properties[name] = attributes.pop(name)
    parser.parse_punctuation(":")
    kind = parser.parse_function_type()
    operands = names.resolve(list(kind.inputs.data)) if names is not None else []
    return make("emitpy.call_opaque", version, operands, list(kind.outputs.data), properties, attributes=attributes)


def _import(parser: MlirParser, version: Version) -> Operation:
    properties: dict[str, Attribute] = {}
    if parser.parse_optional_keyword("from"):
        properties["module_name"] = _string(parser)
        parser.parse_keyword("import")
        if parser.parse_optional_punctuation("*"):
            properties["import_all"] = UnitAttr()
        else:
            members, aliases = [], []
            while True:
                members.append(_string(parser))
                aliases.append(_string(parser) if parser.parse_optional_keyword("as") else StringAttr(""))
                if not parser.parse_optional_punctuation(","):
                    break
            properties["members_to_import"] = ArrayAttr(members)
            properties["member_aliases"] = ArrayAttr(aliases)
    else:
        parser.parse_keyword("import")
        properties["module_name"] = _string(parser)
        if parser.parse_optional_keyword("as"):
            properties["module_alias"] = _string(parser)
    return make("emitpy.import", version, [], [], properties)


def _literal(parser: MlirParser, version: Version) -> Operation:
    value = _string(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return make("emitpy.literal", version, [], [parser.parse_type()], {"value": value}, attributes=attributes)


def _subscript(parser: MlirParser, version: Version) -> Operation:
    names = _Names(parser)
    parser.parse_punctuation("[")
    names.add()
    parser.parse_punctuation("]")
    return _functional(parser, version, "emitpy.subscript", names, {})


def _functional(
    parser: MlirParser, version: Version, name: str, names: _Names | None, properties: dict[str, Attribute]
) -> Operation:
    """Read attributes and `: (operands) -> results`."""
    attributes = dict(parser.parse_optional_attr_dict())
    parser.parse_punctuation(":")
    kind = parser.parse_function_type()
    operands = names.resolve(list(kind.inputs.data)) if names is not None else []
    return make(name, version, operands, list(kind.outputs.data), properties, attributes=attributes)


def _get_attr(parser: MlirParser, version: Version) -> Operation:
    names = _Names(parser)
    parser.parse_punctuation(",")
    return _functional(parser, version, "emitpy.get_attr", names, {"attr_name": _string(parser)})


def _set_attr(parser: MlirParser, version: Version) -> Operation:
    names = _Names(parser)
    parser.parse_punctuation(",")
    name = _string(parser)
    parser.parse_punctuation(",")
    names.add()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    operands = names.resolve(_types(parser))
    return make("emitpy.set_attr", version, operands, [], {"attr_name": name}, attributes=attributes)


def _class(parser: MlirParser, version: Version) -> Operation:
    properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
    bases = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_attribute)
    if bases:
        properties["base_classes"] = ArrayAttr(bases)
    found = parser.parse_optional_attr_dict_with_keyword()
    attributes = dict(found.data) if found is not None else {}
    return make("emitpy.class", version, [], [], properties, attributes=attributes, regions=[_body(parser)])


def _create_dict(parser: MlirParser, version: Version) -> Operation:
    properties: dict[str, Attribute] = {"dict_name": _string(parser)}
    names = _values(parser) if parser._current_token.text == "(" else None
    attributes = dict(parser.parse_optional_attr_dict())
    if "literal_expr" in attributes:
        properties["literal_expr"] = attributes.pop("literal_expr")
    parser.parse_punctuation(":")
    kind = parser.parse_function_type()
    operands = names.resolve(list(kind.inputs.data)) if names is not None else []
    return make("emitpy.create_dict", version, operands, list(kind.outputs.data), properties, attributes=attributes)


def _assign(parser: MlirParser, version: Version) -> Operation:
    names = _Names(parser)
    parser.parse_punctuation("=")
    names.add()
    parser.parse_punctuation(":")
    operands = names.resolve(_types(parser))
    return make("emitpy.assign", version, operands, [], attributes=parser.parse_optional_attr_dict())


def _if(parser: MlirParser, version: Version) -> Operation:
    condition, operands = _string(parser), []
    if parser.parse_optional_keyword("args"):
        names = _Names(parser).more()
        parser.parse_punctuation(":")
        operands = names.resolve(_types(parser))
    regions = [_body(parser), _body(parser) if parser.parse_optional_keyword("else") else Region()]
    attributes = parser.parse_optional_attr_dict()
    return make("emitpy.if", version, operands, [], {"condition": condition}, attributes=attributes, regions=regions)


def _verbatim(parser: MlirParser, version: Version) -> Operation:
    value, operands = _string(parser), []
    if parser.parse_optional_keyword("args"):
        names = _Names(parser).more()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = names.resolve(list(types))
    attributes = parser.parse_optional_attr_dict()
    return make("emitpy.verbatim", version, operands, [], {"value": value}, attributes=attributes)


def _global(parser: MlirParser, version: Version) -> Operation:
    symbol = parser.parse_symbol_name()
    parser.parse_punctuation("=")
    value = parser.parse_attribute()
    if parser.parse_optional_punctuation(":"):
        # Text of an opaque value may name a type, which the value does not keep.
        parser.parse_type()
    properties = {"sym_name": symbol, "initial_value": value}
    return make("emitpy.global", version, [], [], properties, attributes=parser.parse_optional_attr_dict())


def _global_statement(parser: MlirParser, version: Version) -> Operation:
    symbol = SymbolRefAttr(parser.parse_symbol_name())
    parser.parse_punctuation(":")
    kind = parser.parse_type()
    attributes = parser.parse_optional_attr_dict()
    return make("emitpy.global_statement", version, [], [kind], {"name": symbol}, attributes=attributes)


def _assign_global(parser: MlirParser, version: Version) -> Operation:
    symbol = SymbolRefAttr(parser.parse_symbol_name())
    parser.parse_punctuation("=")
    names = _Names(parser)
    parser.parse_punctuation(":")
    return make("emitpy.assign_global", version, names.resolve([parser.parse_type()]), [], {"name": symbol})


def _yield(parser: MlirParser, version: Version) -> Operation:
    names = _Names(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return make("emitpy.yield", version, names.resolve([parser.parse_type()]), [], attributes=attributes)


def _expression(parser: MlirParser, version: Version) -> Operation:
    names = _values(parser) if parser._current_token.text == "(" else None
    properties: dict[str, Attribute] = {}
    if parser.parse_optional_punctuation("{"):
        parser.parse_keyword("do_not_inline")
        parser.parse_punctuation("}")
        properties["do_not_inline"] = UnitAttr()
    parser.parse_punctuation(":")
    operands = names.resolve(_types(parser)) if names is not None else []
    parser.parse_punctuation("->")
    kind = parser.parse_type()
    return make("emitpy.expression", version, operands, [kind], properties, regions=[parser.parse_region()])


def _nested_func(parser: MlirParser, version: Version) -> Operation:
    name = _string(parser)
    region = parser.parse_region()
    attributes = parser.parse_optional_attr_dict()
    return make("emitpy.nested_func", version, [], [], {"sym_name": name}, attributes=attributes, regions=[region])


def _nested_func_return(parser: MlirParser, version: Version) -> Operation:
    operands: list[SSAValue] = []
    if parser._current_token.text.startswith("%"):
        names = _Names(parser).more()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = names.resolve(list(types))
    return make("emitpy.nested_func_return", version, operands, [], attributes=parser.parse_optional_attr_dict())


def _file(parser: MlirParser, version: Version) -> Operation:
    name = _string(parser)
    found = parser.parse_optional_attr_dict_with_keyword()
    attributes = dict(found.data) if found is not None else {}
    return make("emitpy.file", version, [], [], {"id": name}, attributes=attributes, regions=[_body(parser)])


_PARSERS: Final[dict[str, Parse]] = {
    "assign": _assign,
    "assign_global": _assign_global,
    "call_opaque": _call,
    "class": _class,
    "create_dict": _create_dict,
    "expression": _expression,
    "file": _file,
    "get_attr": _get_attr,
    "global": _global,
    "global_statement": _global_statement,
    "if": _if,
    "import": _import,
    "literal": _literal,
    "nested_func": _nested_func,
    "nested_func_return": _nested_func_return,
    "set_attr": _set_attr,
    "subscript": _subscript,
    "verbatim": _verbatim,
    "yield": _yield,
}


def parse_emitpy(parser: MlirParser, name: str, version: Version) -> Operation | None:
    """Parse an `emitpy` operation after its name; None without pretty form."""
    parse = _PARSERS.get(name.removeprefix("emitpy."))
    return None if parse is None else parse(parser, version)


# Writing.


def _text(op: TableOp, name: str) -> str:
    value = op.properties.get(name)
    assert isinstance(value, StringAttr), name
    return value.data


def _kinds(writer: Writer, op: TableOp) -> str:
    return writer.text.types(value.type for value in op.operands)


def _function(writer: Writer, op: TableOp) -> None:
    results = writer.text.results(result.type for result in op.results)
    writer.write(f" : ({_kinds(writer, op)}) -> {results}")


def _rest(op: TableOp, *kept: str) -> dict[str, Attribute]:
    """The attributes in a textual dictionary.

    Discardable ones and these inherent ones.
    """
    return {**{name: op.properties[name] for name in kept if name in op.properties}, **op.attributes}


def _write_call(writer: Writer, op: TableOp) -> None:
    writer.write(f" {quote(_text(op, 'callee'))}({writer.values(op.operands)})")
    writer.attributes(_rest(op, "args", "keyword_args"))
    _function(writer, op)


def _write_import(writer: Writer, op: TableOp) -> None:
    module = quote(_text(op, "module_name"))
    members, aliases = op.properties.get("members_to_import"), op.properties.get("member_aliases")
    if "import_all" in op.properties:
        writer.write(f" from {module} import *")
    elif isinstance(members, ArrayAttr):
        others = list(aliases.data) if isinstance(aliases, ArrayAttr) else [StringAttr("")] * len(members.data)
        parts = []
        for member, alias in zip(members.data, others, strict=True):
            renamed = f" as {writer.attribute(alias)}" if isinstance(alias, StringAttr) and alias.data else ""
            parts.append(writer.attribute(member) + renamed)
        writer.write(f" from {module} import {', '.join(parts)}")
    else:
        alias = f" as {quote(_text(op, 'module_alias'))}" if "module_alias" in op.properties else ""
        writer.write(f" import {module}{alias}")


def _write_literal(writer: Writer, op: TableOp) -> None:
    writer.write(f" {quote(_text(op, 'value'))}")
    writer.attributes(op.attributes)
    writer.write(f" : {writer.attribute(op.results[0].type)}")


def _write_subscript(writer: Writer, op: TableOp) -> None:
    writer.write(f" {writer.value(op.operands[0])}[{writer.value(op.operands[1])}]")
    writer.attributes(op.attributes)
    _function(writer, op)


def _write_get_attr(writer: Writer, op: TableOp) -> None:
    writer.write(f" {writer.value(op.operands[0])}, {quote(_text(op, 'attr_name'))}")
    writer.attributes(op.attributes)
    _function(writer, op)


def _write_set_attr(writer: Writer, op: TableOp) -> None:
    first, second = (writer.value(value) for value in op.operands)
    writer.write(f" {first}, {quote(_text(op, 'attr_name'))}, {second}")
    writer.attributes(op.attributes)
    writer.write(f" : ({_kinds(writer, op)})")


def _write_class(writer: Writer, op: TableOp) -> None:
    bases = op.properties.get("base_classes")
    inner = ", ".join(writer.attribute(one) for one in bases.data) if isinstance(bases, ArrayAttr) else ""
    writer.write(f" {symbol_text(_text(op, 'sym_name'))}" + (f"({inner})" if inner else ""))
    writer.attributes(op.attributes, keyword=True)
    writer.write(" ")
    writer.region(op.regions[0])


def _write_create_dict(writer: Writer, op: TableOp) -> None:
    items = f" ({writer.values(op.operands)})" if op.operands else ""
    writer.write(f" {quote(_text(op, 'dict_name'))}{items}")
    writer.attributes(_rest(op, "literal_expr"))
    _function(writer, op)


def _write_assign(writer: Writer, op: TableOp) -> None:
    target, value = (writer.value(one) for one in op.operands)
    writer.write(f" {target} = {value} : ({_kinds(writer, op)})")
    writer.attributes(op.attributes)


def _write_if(writer: Writer, op: TableOp) -> None:
    writer.write(f" {quote(_text(op, 'condition'))} ")
    if op.operands:
        writer.write(f"args {writer.values(op.operands)} : ({_kinds(writer, op)}) ")
    writer.region(op.regions[0])
    if op.regions[1].blocks.first is not None:
        writer.write(" else ")
        writer.region(op.regions[1])
    writer.attributes(op.attributes)


def _write_verbatim(writer: Writer, op: TableOp) -> None:
    writer.write(f" {quote(_text(op, 'value'))}")
    if op.operands:
        writer.write(f" args {writer.values(op.operands)} : {_kinds(writer, op)}")
    writer.attributes(op.attributes)


def _write_global(writer: Writer, op: TableOp) -> None:
    value = writer.attribute(op.properties["initial_value"])
    writer.write(f" {symbol_text(_text(op, 'sym_name'))} = {value}")
    writer.attributes(op.attributes)


def _write_global_statement(writer: Writer, op: TableOp) -> None:
    writer.write(f" {writer.attribute(op.properties['name'])} : {writer.attribute(op.results[0].type)}")
    writer.attributes(op.attributes)


def _write_assign_global(writer: Writer, op: TableOp) -> None:
    writer.write(f" {writer.attribute(op.properties['name'])} = {writer.value(op.operands[0])} : {_kinds(writer, op)}")


def _write_yield(writer: Writer, op: TableOp) -> None:
    writer.write(f" {writer.value(op.operands[0])}")
    writer.attributes(op.attributes)
    writer.write(f" : {_kinds(writer, op)}")


def _write_expression(writer: Writer, op: TableOp) -> None:
    writer.write(f" ({writer.values(op.operands)})" if op.operands else "")
    writer.write(" {do_not_inline}" if "do_not_inline" in op.properties else "")
    kinds = f"({_kinds(writer, op)}) " if op.operands else ""
    writer.write(f" : {kinds}-> {writer.attribute(op.results[0].type)} ")
    writer.region(op.regions[0])


def _write_nested_func(writer: Writer, op: TableOp) -> None:
    writer.write(f" {quote(_text(op, 'sym_name'))} ")
    writer.region(op.regions[0])
    writer.attributes(op.attributes)


def _write_nested_func_return(writer: Writer, op: TableOp) -> None:
    if op.operands:
        writer.write(f" {writer.values(op.operands)} : {_kinds(writer, op)}")
    writer.attributes(op.attributes)


def _write_file(writer: Writer, op: TableOp) -> None:
    writer.write(f" {quote(_text(op, 'id'))}")
    writer.attributes(op.attributes, keyword=True)
    writer.write(" ")
    writer.region(op.regions[0])


_PRINTERS: Final[dict[str, Print]] = {
    "assign": _write_assign,
    "assign_global": _write_assign_global,
    "call_opaque": _write_call,
    "class": _write_class,
    "create_dict": _write_create_dict,
    "expression": _write_expression,
    "file": _write_file,
    "get_attr": _write_get_attr,
    "global": _write_global,
    "global_statement": _write_global_statement,
    "if": _write_if,
    "import": _write_import,
    "literal": _write_literal,
    "nested_func": _write_nested_func,
    "nested_func_return": _write_nested_func_return,
    "set_attr": _write_set_attr,
    "subscript": _write_subscript,
    "verbatim": _write_verbatim,
    "yield": _write_yield,
}


def print_emitpy(writer: Writer, op: TableOp) -> bool:
    """Write an `emitpy` operation without results; False without pretty form."""
    write = _PRINTERS.get(op.name.removeprefix("emitpy."))
    if write is None:
        return False
    writer.write(op.name)
    write(writer, op)
    return True
