"""Pretty forms of MLIR's own dialects.

They are builtin, func, arith, tensor, memref, scf, cf, affine, emitc.

A printer writes the operation without its results and returns True, or returns False before writing anything if the
operation needs the generic form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.ir.affine import affine_expression
from ttnn.compiler.ir.interfaces import WriterLike
from ttnn.compiler.ir.printing import quote, symbol_text
from ttnn.compiler.ir.xdsl_adapter import (
    AffineConstantExpr,
    AffineMap,
    AffineMapAttr,
    ArrayAttr,
    Attribute,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    Operation,
    StringAttr,
    SymbolRefAttr,
)

__all__ = ["PRINTERS", "print_symbol_region"]

Printer = Callable[[WriterLike, Operation], bool]


def _get(operation: Operation, name: str) -> Attribute | None:
    return operation.properties.get(name, operation.attributes.get(name))


def _rest(operation: Operation, *leave_out: str) -> dict[str, Attribute]:
    entries = {**operation.properties, **operation.attributes}
    return {name: value for name, value in entries.items() if name not in leave_out}


def _string(operation: Operation, name: str) -> str | None:
    value = _get(operation, name)
    return value.data if isinstance(value, StringAttr) else None


def print_symbol_region(writer: WriterLike, operation: Operation, keyword: str, implicit: str = "") -> bool:
    """Write an operation of name, attributes and region, as modules."""
    name = _string(operation, "sym_name")
    writer.write(keyword + (f" {symbol_text(name)}" if name else ""))
    writer.attributes(_rest(operation, "sym_name"), keyword=True)
    writer.write(" ")
    writer.region(operation.regions[0], empty_terminator=implicit)
    return True


def _module(writer: WriterLike, operation: Operation) -> bool:
    parent = operation.parent_op()
    # Inside operations of other dialects the name is written in full.
    keyword = "module" if parent is None or parent.name == "builtin.module" else "builtin.module"
    return print_symbol_region(writer, operation, keyword)


def _func(writer: WriterLike, operation: Operation) -> bool:
    kind = _get(operation, "function_type")
    name = _string(operation, "sym_name")
    if not isinstance(kind, FunctionType) or name is None or len(operation.regions) != 1:
        return False
    visibility = _string(operation, "sym_visibility")
    writer.write(operation.name + " " + (f"{visibility} " if visibility else "") + symbol_text(name) + "(")
    blocks = operation.regions[0].blocks
    body = blocks.first
    argument_attributes = _dictionaries(_get(operation, "arg_attrs"), len(kind.inputs.data))
    if body is not None and len(body.args) != len(kind.inputs.data):
        return False
    for i, type_ in enumerate(kind.inputs.data):
        writer.write(", " if i else "")
        if body is not None:
            writer.write(f"{writer.value(body.args[i])}: ")
        writer.write(writer.attribute(type_))
        if argument_attributes[i]:
            writer.write(" " + writer.dictionary(argument_attributes[i]))
        if body is not None:
            writer.argument_location(body.args[i].location)
    writer.write(")")
    outputs = kind.outputs.data
    if outputs:
        result_attributes = _dictionaries(_get(operation, "res_attrs"), len(outputs))
        texts = [
            writer.attribute(type_) + (f" {writer.dictionary(entries)}" if entries else "")
            for type_, entries in zip(outputs, result_attributes, strict=True)
        ]
        grouped = len(texts) != 1 or any(result_attributes) or isinstance(outputs[0], FunctionType)
        writer.write(f" -> ({', '.join(texts)})" if grouped else f" -> {texts[0]}")
    writer.attributes(
        _rest(operation, "sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"), keyword=True
    )
    if body is not None:
        writer.write(" ")
        writer.region(operation.regions[0], arguments=False)
    return True


def _dictionaries(attribute: Attribute | None, count: int) -> list[dict[str, Attribute]]:
    if isinstance(attribute, ArrayAttr) and len(attribute.data) == count:
        return [dict(one.data) if isinstance(one, DictionaryAttr) else {} for one in attribute.data]
    return [{}] * count


def _types(writer: WriterLike, operation: Operation) -> str:
    return ", ".join(writer.attribute(operand.type) for operand in operation.operands)


def _terminator(name: str) -> Printer:
    """Return the printer of `name %a, %b : T, U`."""

    def printer(writer: WriterLike, operation: Operation) -> bool:
        writer.write(name)
        writer.attributes(_rest(operation))
        if operation.operands:
            writer.write(f" {writer.values(operation.operands)} : {_types(writer, operation)}")
        return True

    return printer


def _call(writer: WriterLike, operation: Operation) -> bool:
    callee = _get(operation, "callee")
    if not isinstance(callee, SymbolRefAttr):
        return False
    writer.write(f"{'call' if operation.name == 'func.call' else operation.name} {writer.attribute(callee)}")
    writer.write(f"({writer.values(operation.operands)})")
    writer.attributes(_rest(operation, "callee"))
    writer.write(f" : ({_types(writer, operation)}) -> {writer.text.results(r.type for r in operation.results)}")
    return True


def _constant(writer: WriterLike, operation: Operation) -> bool:
    value = _get(operation, "value")
    if value is None:
        return False
    writer.write("arith.constant")
    writer.attributes(_rest(operation, "value"))
    writer.write(f" {writer.attribute(value)}")
    return True


def _elementwise(writer: WriterLike, operation: Operation) -> bool:
    """Write `arith.addi %a, %b : T`: operands and results have one type."""
    if len(operation.results) != 1 or not operation.operands:
        return False
    flags = _rest(operation)
    text = ""
    overflow = flags.pop("overflowFlags", None)
    fast = flags.pop("fastmath", None)
    for attribute, keyword in ((overflow, "overflow"), (fast, "fastmath")):
        if attribute is not None and not str(attribute).endswith("<none>"):
            text += f" {keyword}{str(attribute).split(keyword, 1)[-1]}"
    writer.write(f"{operation.name} {writer.values(operation.operands)}{text}")
    writer.attributes(flags)
    writer.write(f" : {writer.attribute(operation.results[0].type)}")
    return True


def _cast(writer: WriterLike, operation: Operation) -> bool:
    if len(operation.operands) != 1 or len(operation.results) != 1:
        return False
    writer.write(f"{operation.name} {writer.value(operation.operands[0])}")
    writer.attributes({k: v for k, v in _rest(operation).items() if k not in ("fastmath", "roundingmode")})
    writer.write(f" : {_types(writer, operation)} to {writer.attribute(operation.results[0].type)}")
    return True


_INTEGER_PREDICATES: Final = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES: Final = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)


def _compare(writer: WriterLike, operation: Operation) -> bool:
    predicate = _get(operation, "predicate")
    table = _INTEGER_PREDICATES if operation.name == "arith.cmpi" else _FLOAT_PREDICATES
    if not isinstance(predicate, IntegerAttr) or not 0 <= predicate.value.data < len(table):
        return False
    word = table[predicate.value.data]
    writer.write(f"{operation.name} {word}, {writer.values(operation.operands)}")
    writer.attributes(_rest(operation, "predicate", "fastmath"))
    writer.write(f" : {writer.attribute(operation.operands[0].type)}")
    return True


def _select(writer: WriterLike, operation: Operation) -> bool:
    writer.write(f"{operation.name} {writer.values(operation.operands)}")
    writer.attributes(_rest(operation))
    condition = operation.operands[0].type
    kind = "" if isinstance(condition, IntegerType) else writer.attribute(condition) + ", "
    writer.write(f" : {kind}{writer.attribute(operation.results[0].type)}")
    return True


def _empty(writer: WriterLike, operation: Operation) -> bool:
    writer.write(f"{operation.name}({writer.values(operation.operands)})")
    writer.attributes(_rest(operation))
    writer.write(f" : {writer.attribute(operation.results[0].type)}")
    return True


def _unary_of(name: str) -> Printer:
    """Return the printer of `name %a : T`."""

    def printer(writer: WriterLike, operation: Operation) -> bool:
        writer.write(f"{name} {writer.values(operation.operands)}")
        writer.attributes(_rest(operation))
        writer.write(f" : {_types(writer, operation)}")
        return True

    return printer


def _alloc(writer: WriterLike, operation: Operation) -> bool:
    if operation.operands:
        return False
    writer.write(f"{operation.name}()")
    writer.attributes(_rest(operation, "operandSegmentSizes"))
    writer.write(f" : {writer.attribute(operation.results[0].type)}")
    return True


def _indexed(writer: WriterLike, operation: Operation) -> bool:
    """Write `memref.load %m[%i] : T` and `memref.store %v, %m[%i] : T`."""
    stores = len(operation.results) == 0
    first = 1 if stores else 0
    if len(operation.operands) <= first:
        return False
    writer.write(f"{operation.name} " + (writer.value(operation.operands[0]) + ", " if stores else ""))
    writer.write(f"{writer.value(operation.operands[first])}[{writer.values(operation.operands[first + 1 :])}]")
    writer.attributes({k: v for k, v in _rest(operation).items() if k != "nontemporal" or str(v) != "false"})
    writer.write(f" : {writer.attribute(operation.operands[first].type)}")
    return True


def _tensor_extract(writer: WriterLike, operation: Operation) -> bool:
    writer.write(f"{operation.name} {writer.value(operation.operands[0])}[{writer.values(operation.operands[1:])}]")
    writer.attributes(_rest(operation))
    writer.write(f" : {writer.attribute(operation.operands[0].type)}")
    return True


def _dim(writer: WriterLike, operation: Operation) -> bool:
    writer.write(f"{operation.name} {writer.values(operation.operands)}")
    writer.attributes(_rest(operation))
    writer.write(f" : {writer.attribute(operation.operands[0].type)}")
    return True


def _scf_for(writer: WriterLike, operation: Operation) -> bool:
    low, high, step, *initial = operation.operands
    body = operation.regions[0].blocks.first
    if body is None or not body.args:
        return False
    variable, *carried = body.args
    writer.write(f"scf.for {writer.value(variable)} = {writer.value(low)} to {writer.value(high)}")
    writer.write(f" step {writer.value(step)}")
    if initial:
        pairs = (f"{writer.value(a)} = {writer.value(i)}" for a, i in zip(carried, initial, strict=False))
        writer.write(f" iter_args({', '.join(pairs)}) -> ({writer.text.types(r.type for r in operation.results)})")
    if not isinstance(variable.type, IndexType):
        writer.write(f" : {writer.attribute(variable.type)}")
    writer.write(" ")
    writer.region(operation.regions[0], arguments=False, empty_terminator="scf.yield")
    writer.attributes(_rest(operation))
    return True


def _scf_if(writer: WriterLike, operation: Operation) -> bool:
    writer.write(f"scf.if {writer.value(operation.operands[0])}")
    if operation.results:
        writer.write(f" -> ({writer.text.types(r.type for r in operation.results)})")
    writer.write(" ")
    writer.region(operation.regions[0], empty_terminator="scf.yield")
    if len(operation.regions) > 1 and operation.regions[1].blocks.first is not None:
        writer.write(" else ")
        writer.region(operation.regions[1], empty_terminator="scf.yield")
    writer.attributes(_rest(operation))
    return True


def _branch(writer: WriterLike, operation: Operation) -> bool:
    writer.write(f"cf.br {writer.names.block(operation.successors[0])}")
    if operation.operands:
        writer.write(f"({writer.values(operation.operands)} : {_types(writer, operation)})")
    writer.attributes(_rest(operation))
    return True


def _bound(writer: WriterLike, attribute: Attribute | None, operands: list[Any], minimum: str) -> str | None:
    """Return the text of a bound of an affine loop."""
    if not isinstance(attribute, AffineMapAttr):
        return None
    bound: AffineMap = attribute.data
    if len(bound.results) == 1:
        only = bound.results[0]
        if bound.num_dims == 0 and bound.num_symbols == 0 and isinstance(only, AffineConstantExpr):
            return str(only.value)
        if len(operands) == 1 and affine_expression(only) in ("d0", "s0"):
            return str(writer.value(operands[0]))
    dims = f"({writer.values(operands[: bound.num_dims])})"
    symbols = f"[{writer.values(operands[bound.num_dims :])}]" if bound.num_symbols else ""
    prefix = f"{minimum} " if len(bound.results) > 1 else ""
    return f"{prefix}{writer.attribute(attribute)}{dims}{symbols}"


def _affine_for(writer: WriterLike, operation: Operation) -> bool:
    body = operation.regions[0].blocks.first
    lower, upper, step = (_get(operation, name) for name in ("lowerBoundMap", "upperBoundMap", "step"))
    if body is None or not isinstance(lower, AffineMapAttr) or not isinstance(upper, AffineMapAttr):
        return False
    operands = list(operation.operands)
    low_count = lower.data.num_dims + lower.data.num_symbols
    high_count = upper.data.num_dims + upper.data.num_symbols
    low = _bound(writer, lower, operands[:low_count], "max")
    high = _bound(writer, upper, operands[low_count : low_count + high_count], "min")
    initial = operands[low_count + high_count :]
    writer.write(f"affine.for {writer.value(body.args[0])} = {low} to {high}")
    if isinstance(step, IntegerAttr) and step.value.data != 1:
        writer.write(f" step {step.value.data}")
    if initial:
        pairs = (f"{writer.value(a)} = {writer.value(i)}" for a, i in zip(body.args[1:], initial, strict=False))
        writer.write(f" iter_args({', '.join(pairs)}) -> ({writer.text.types(r.type for r in operation.results)})")
    writer.write(" ")
    writer.region(operation.regions[0], arguments=False, empty_terminator="affine.yield")
    writer.attributes(_rest(operation, "lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes"))
    return True


def _affine_apply(writer: WriterLike, operation: Operation) -> bool:
    map_ = _get(operation, "map")
    if not isinstance(map_, AffineMapAttr):
        return False
    operands = list(operation.operands)
    dims = f"({writer.values(operands[: map_.data.num_dims])})"
    symbols = f"[{writer.values(operands[map_.data.num_dims :])}]" if map_.data.num_symbols else ""
    writer.write(f"{operation.name} {writer.attribute(map_)}{dims}{symbols}")
    writer.attributes(_rest(operation, "map"))
    return True


def _emitc_call(writer: WriterLike, operation: Operation) -> bool:
    callee = _string(operation, "callee")
    if callee is None:
        return False
    writer.write(f"emitc.call_opaque {quote(callee)}({writer.values(operation.operands)})")
    writer.attributes(_rest(operation, "callee"))
    writer.write(f" : ({_types(writer, operation)}) -> {writer.text.results(r.type for r in operation.results)}")
    return True


def _emitc_include(writer: WriterLike, operation: Operation) -> bool:
    text = _string(operation, "include")
    if text is None:
        return False
    standard = _get(operation, "is_standard_include") is not None
    writer.write("emitc.include " + (f"<{quote(text)}>" if standard else quote(text)))
    writer.attributes(_rest(operation, "include", "is_standard_include"))
    return True


def _emitc_verbatim(writer: WriterLike, operation: Operation) -> bool:
    text = _string(operation, "value")
    if text is None:
        return False
    writer.write(f"emitc.verbatim {quote(text)}")
    if operation.operands:
        writer.write(f" args {writer.values(operation.operands)} : {_types(writer, operation)}")
    writer.attributes(_rest(operation, "value"))
    return True


_ELEMENTWISE: Final = [
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "remsi",
    "remui",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrsi",
    "shrui",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
    "addf",
    "subf",
    "mulf",
    "divf",
    "remf",
    "maximumf",
    "minimumf",
    "maxnumf",
    "minnumf",
    "negf",
]
_MATH: Final = [
    "absf",
    "absi",
    "atan",
    "atan2",
    "cbrt",
    "ceil",
    "cos",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "powf",
    "round",
    "roundeven",
    "rsqrt",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "fma",
]
_CASTS: Final = [
    "extf",
    "extsi",
    "extui",
    "truncf",
    "trunci",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
    "index_cast",
    "index_castui",
    "bitcast",
]

PRINTERS: Final[dict[str, Printer]] = {
    "builtin.module": _module,
    "func.func": _func,
    "func.return": _terminator("return"),
    "func.call": _call,
    "arith.constant": _constant,
    "arith.cmpi": _compare,
    "arith.cmpf": _compare,
    "arith.select": _select,
    **{f"arith.{name}": _elementwise for name in _ELEMENTWISE},
    **{f"math.{name}": _elementwise for name in _MATH},
    **{f"arith.{name}": _cast for name in _CASTS},
    "tensor.empty": _empty,
    "tensor.cast": _cast,
    "tensor.dim": _dim,
    "tensor.extract": _tensor_extract,
    "memref.alloc": _alloc,
    "memref.alloca": _alloc,
    "memref.dealloc": _unary_of("memref.dealloc"),
    "memref.load": _indexed,
    "memref.store": _indexed,
    "memref.cast": _cast,
    "memref.dim": _dim,
    "scf.for": _scf_for,
    "scf.if": _scf_if,
    "scf.yield": _terminator("scf.yield"),
    "cf.br": _branch,
    "affine.for": _affine_for,
    "affine.apply": _affine_apply,
    "affine.yield": _terminator("affine.yield"),
    "emitc.call_opaque": _emitc_call,
    "emitc.include": _emitc_include,
    "emitc.verbatim": _emitc_verbatim,
    "builtin.unrealized_conversion_cast": _cast,
}
