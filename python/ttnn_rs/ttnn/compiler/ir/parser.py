"""The parser: xdsl's recursive descent parser with MLIR additions.

Aliases may be used before they are defined, splats are not expanded, resources are kept, attributes of the dialects
come from tables, and every operation gets the place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from ttnn.compiler.ir.affine_parser import AffineTextParser
from ttnn.compiler.ir.attributes import FileRangeLoc, OpaqueDialectAttr, OpaqueDialectType, ResourceAttr
from ttnn.compiler.ir.dense import parse_dense, parse_sparse
from ttnn.compiler.ir.diagnostics import CompileError, Diagnostic, Source, VersionError
from ttnn.compiler.ir.expansion import Expansion
from ttnn.compiler.ir.layouts import OpaqueLayoutAttr, is_layout
from ttnn.compiler.ir.lexer import QUOTED, FastLexer
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.operations import generic_operation
from ttnn.compiler.ir.printing import LOCATIONS
from ttnn.compiler.ir.registry import Registry
from ttnn.compiler.ir.scopes import ValueScopes
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMap,
    AffineMapAttr,
    AffineSet,
    ArrayAttr,
    Attribute,
    CallSiteLoc,
    Context,
    FileLineColLoc,
    FusedLoc,
    Input,
    IntAttr,
    IRDLOperation,
    MemRefLayoutAttr,
    MemRefType,
    MLIRTokenKind,
    ModuleOp,
    NameLoc,
    NoneAttr,
    Operation,
    ParseError,
    Parser,
    StringAttr,
    UnknownLoc,
    UnrankedMemRefType,
    VerifyException,
    get_all_dialects,
)
from ttnn.compiler.limits import (
    DEPTH,
    DIMENSION,
    EXPANSION,
    EXPANSION_FACTOR,
    INTEGER_BITS,
    RANK,
)
from ttnn.compiler.version import Version

__all__ = ["MlirParser", "foreign_dialects", "foreign_operation", "parse_text"]

_ALIAS = re.compile(r"^[ \t]*([#!][A-Za-z_$-][\w$-]*)[ \t]*=(?!=)", re.MULTILINE)
_SHAPED = re.compile(r"(?:tensor|memref|vector)<[^<>\"]*(?:<[^<>\"]*>[^<>\"]*)*>")
# A comment, or a text in which there is none.
_COMMENT = re.compile(rf"({QUOTED})|//[^\n]*")
_REFERENCE = re.compile(rf"{QUOTED}|[#!]([A-Za-z_$-][\w$-]*)(?![\w$.<-])")
_CLOSE = {"<": ">", "(": ")", "[": "]", "{": "}"}
# What matters for brackets: arrows, brackets, comments and strings.
_BRACKET = re.compile(rf"->|[<(\[{{>)\]}}]|//[^\n]*|{QUOTED}|\"")
_INTEGER_TYPE = re.compile(r"[su]?i(\d+)")
_FOREIGN = (
    "affine", "arith", "bufferization", "builtin", "cf", "complex", "emitc", "func", "gpu", "linalg", "llvm", "math",
    "memref", "ml_program", "scf", "shape", "tensor", "tosa", "transform", "ub", "vector",
)  # fmt: skip
_HIDDEN = {"bufferization", "complex", "gpu", "shape", "transform", "ub"}


class MlirParser(Parser):
    """Parses one module."""

    _values: ValueScopes

    @property
    def ssa_values(self) -> ValueScopes:
        """Nameable values; a `copy` restores earlier ones."""
        return self._values

    @ssa_values.setter
    def ssa_values(self, values: dict[str, Any] | int) -> None:
        if isinstance(values, int):
            self._values.forget(values)
        else:
            self._values = ValueScopes()

    def __init__(
        self, registry: Registry, text: str, filename: str, *, allow_unregistered: bool, version: Version
    ) -> None:
        self.registry = registry
        self.version = version
        self.unregistered = allow_unregistered
        self.resources: dict[str, dict[str, bytes]] = {}
        self.places: dict[Operation, int] = {}
        self.dialects: set[str] = set()
        self.in_version = False
        self._text = text
        self._filename = StringAttr(filename)
        self._source = Source(text, filename)
        self._pending: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        self._resolving: set[str] = set()
        self._types: dict[str, Attribute] = {}
        self._depth = 0
        # The levels of regions around the operation that is read.
        self._outside = 0
        self._expansion = Expansion()
        self._room = EXPANSION + EXPANSION_FACTOR * len(text)
        self._known = frozenset(registry.dialects())
        super().__init__(_context(), "", filename)  # the lexer of the base class hangs on an open string
        self._parser_state.lexer = self._lexer = FastLexer(Input(text, filename))
        self._parser_state.current_token = self._parser_state.lexer.lex()
        for found in _ALIAS.finditer(text):
            self._pending.setdefault(found.group(1), found.end())

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parse a module; text without operations is an empty one."""
        if self._current_token.kind is MLIRTokenKind.EOF:
            return ModuleOp([])
        return super().parse_module(allow_implicit_module)

    def parse_dimension_list(self) -> list[int]:
        """Parse `1x2x`, also with spaces around the crosses; the last cross stays."""
        sizes: list[int] = []
        start = self._current_token.span
        numbers = (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.QUESTION)
        while self._current_token.kind in numbers:
            at = self._current_token.span
            sizes.append(self.parse_shape_dimension())
            if sizes[-1] > DIMENSION:
                self.raise_error(f"a dimension is at most {DIMENSION}", at)
            if len(sizes) > RANK:
                self.raise_error(f"a shape has at most {RANK} dimensions", start)
            cross = self._current_token.span.start
            if self._parse_optional_shape_delimiter() is None:
                break
            if self._current_token.kind not in numbers:
                self._resume_from(cross)
        return sizes

    # Aliases

    def _parse_alias_def(self) -> None:
        name = self._current_token.text
        start = self._current_token.span
        self._consume_token()
        self.parse_punctuation("=", " after alias name")
        here = self._current_token.span.start
        end = self._ends.get(name)
        if end is not None and self._text[self._pending.get(name, 0) : here].strip() == "":
            self._resume_from(end)
            return
        if name in self.attribute_aliases:
            self.raise_error(f"redefinition of attribute alias id '{name[1:]}'", start)
        if "." in name:
            self.raise_error("alias names with a '.' are reserved for dialect-defined names", start)
        self._resolving.add(name)
        value = self.parse_type() if name[0] == "!" else self.parse_attribute()
        self._resolving.discard(name)
        self._define(name, value, start)
        self._ends[name] = self._current_token.span.start

    def _define(self, name: str, value: Attribute, at: Any) -> None:
        """Keep the value of an alias, unless it nests too deeply."""
        if self._expansion.measure(value)[1] > DEPTH:
            self.raise_error(f"nested more than {DEPTH} levels deep", at)
        self.attribute_aliases[name] = value

    def _use(self, value: Attribute, at: Any = None) -> Attribute:
        """Return an attribute named in text, within limits.

        It is not written out there.
        """
        size, depth = self._expansion.measure(value)
        self._room -= size
        if self._depth - self._outside + depth > DEPTH:
            self.raise_error(f"nested more than {DEPTH} levels deep", at)
        if self._room < 0:
            limit = EXPANSION + EXPANSION_FACTOR * len(self._text)
            self.raise_error(f"with its aliases written out, the module has more than {limit:,} characters", at)
        return value

    def alias_value(self, name: str, at: Any = None) -> Attribute:
        """Return an alias's meaning, parsing later definitions first."""
        value = self.attribute_aliases.get(name)
        if value is not None:
            return self._use(value, at)
        offset = self._pending.get(name)
        if offset is None or name in self._resolving:
            kind = "type" if name[0] == "!" else "attribute"
            self.raise_error(f"undefined symbol alias id '{name[1:]}' of {kind}", at)
        resume = self._current_token.span.start
        # What a definition names is read first, so that a chain of definitions is no recursion.
        stack, seen = [(name, self._named_by(name))], {name}
        while stack:
            name, others = stack[-1]
            other = next((one for one in others if one not in seen), None)
            if other is not None:
                seen.add(other)
                stack.append((other, self._named_by(other)))
                continue
            stack.pop()
            if name not in self.attribute_aliases:
                self._read_definition(name)
        self._resume_from(resume)
        return self._use(self.attribute_aliases[name], at)

    def _named_by(self, name: str) -> Iterator[str]:
        """Yield unresolved aliases on a definition's line."""
        start = self._pending[name]
        end = self._text.find("\n", start)
        for found in _REFERENCE.finditer(self._text, start, end if end >= 0 else len(self._text)):
            one = found.group()
            if one in self._pending and one not in self.attribute_aliases and one not in self._resolving:
                yield one

    def _read_definition(self, name: str) -> None:
        """Read the definition of an alias, which comes later in the text."""
        offset = self._pending[name]
        self._resolving.add(name)
        self._resume_from(offset)
        value = self.parse_type() if name[0] == "!" else self.parse_attribute()
        self._ends[name] = self._current_token.span.start
        self._resolving.discard(name)
        self._define(name, value, offset)

    # Attributes and types of dialects

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        name = attr_or_dialect_name
        self._enter()
        try:
            if "." not in name and self._current_token.kind != MLIRTokenKind.LESS:
                full = ("!" if is_type else "#") + name
                return self.alias_value(full, self._text.rfind(full, 0, self._current_token.span.start))
            return self._dialect_attribute(name, is_type)
        finally:
            self._depth -= 1

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > DEPTH:
            self.raise_error(f"nested more than {DEPTH} levels deep")

    def _dialect_attribute(self, name: str, is_type: bool) -> Attribute:
        dialect, _, mnemonic = name.partition(".")
        self.dialects.add(dialect)
        if not mnemonic:
            parts = self.opaque_body()
            return (OpaqueDialectType if is_type else OpaqueDialectAttr)(name, parts, pretty=False)
        if dialect in self._known:
            found = self.registry.attribute(self, dialect, mnemonic, is_type)
            if found is not None:
                return found
        elif dialect in _FOREIGN:
            foreign: Attribute = super()._parse_dialect_type_or_attribute_body(name, is_type, False, None)
            return foreign
        elif not self.unregistered:
            self.raise_error(
                f"{'type' if is_type else 'attribute'} '{name}' of an unregistered dialect; "
                "--allow-unregistered-dialect keeps it as text"
            )
        parts = self.opaque_body() if self._current_token.kind == MLIRTokenKind.LESS else ()
        return (OpaqueDialectType if is_type else OpaqueDialectAttr)(name, parts)

    def opaque_body(self) -> tuple[str | Attribute, ...]:
        """Return the text of a `<>` bracket with aliases replaced."""
        start = self._current_token.span.start
        if self._current_token.kind != MLIRTokenKind.LESS:
            return ()
        end = self.balanced(start)
        parts = self.raw_parts(start, end)
        self._resume_from(end)
        return parts

    def raw_parts(self, start: int, end: int) -> tuple[str | Attribute, ...]:
        """Return a part of the text with aliases replaced."""
        body = self._text[start:end]
        if "//" in body:
            body = _COMMENT.sub(lambda found: found.group(1) or "", body)
        parts: list[str | Attribute] = []
        last = 0
        for found in _REFERENCE.finditer(body):
            if found.group(1) is None:
                continue
            name = found.group()
            if name in self._pending or name in self.attribute_aliases:
                parts += [body[last : found.start()], self.alias_value(name)]
                last = found.end()
        parts.append(body[last:])
        if "\n" in body:
            parts = [_one_line(part) if isinstance(part, str) else part for part in parts]
        return tuple(part for part in parts if part != "")

    def balanced(self, start: int) -> int:
        """Return the end of the brackets that open at `start`."""
        stack: list[str] = []
        for found in _BRACKET.finditer(self._text, start):
            piece = found.group()
            self._lexer.count(found.start())
            if piece in _CLOSE:
                stack.append(_CLOSE[piece])
            elif piece in _CLOSE.values():
                if not stack or stack.pop() != piece:
                    self.raise_error(f"unbalanced '{piece}' in dialect symbol", found.start())
                if not stack:
                    return found.end()
            elif piece == '"':
                self.raise_error("expected string literal to end", found.start())
        return self.raise_error("unexpected end of file in dialect symbol", start)

    # Builtin types and attributes

    def parse_optional_type(self) -> Any:
        """Parse an optional type.

        Shaped types that occurred in the text before are reused.
        """
        token = self._current_token
        if token.kind == MLIRTokenKind.BARE_IDENT and token.text in ("tensor", "memref", "vector"):
            start = token.span.start
            found = _SHAPED.match(self._text, start)
            if found is not None:
                known = self._types.get(found.group())
                if known is not None:
                    self._resume_from(found.end())
                    return self._use(known, start)
            self._enter()
            value = super().parse_optional_type()
            self._depth -= 1
            end = self.lexer.pos - len(self._current_token.text)
            text = self._text[start:end].rstrip()
            if text.endswith(">") and value is not None:
                self._types[text] = value
            return value
        self._enter()
        value = super().parse_optional_type()
        self._depth -= 1
        return value

    def _parse_optional_integer_or_float_type(self) -> Any:
        token = self._current_token
        if token.kind == MLIRTokenKind.BARE_IDENT:
            found = _INTEGER_TYPE.fullmatch(token.text)
            if found is not None and (len(found[1]) > 9 or int(found[1]) > INTEGER_BITS):
                self.raise_error(f"integer bitwidth is limited to {INTEGER_BITS} bits", token.span)
        return super()._parse_optional_integer_or_float_type()

    def _parse_optional_builtin_attr(self) -> Any:
        self._enter()
        try:
            return super()._parse_optional_builtin_attr()
        finally:
            self._depth -= 1

    def _parse_memref_attrs(self) -> Any:
        shape, element = self.parse_shape()
        extra: list[Attribute] = []
        while len(extra) < 2 and self.parse_optional_punctuation(",") is not None:
            extra.append(self.parse_attribute())
        if shape is None:
            return UnrankedMemRefType.from_type(element, extra[0] if extra else NoneAttr())
        layout: Attribute = NoneAttr()
        space: Attribute = NoneAttr()
        if len(extra) == 2:
            layout, space = extra
        elif extra and (isinstance(extra[0], MemRefLayoutAttr) or is_layout(extra[0])):
            layout = extra[0]
        elif extra:
            space = extra[0]
        if is_layout(layout):
            layout = OpaqueLayoutAttr(layout.mnemonic, layout.parts)  # type: ignore[attr-defined]
        if isinstance(layout, AffineMapAttr) and layout.data == AffineMap.identity(len(shape)):
            layout = NoneAttr()
        if not isinstance(layout, (MemRefLayoutAttr, NoneAttr)):
            self.raise_error("expected a layout: an affine map, a strided layout or a device layout")
        return MemRefType(element, shape, layout, space)

    def _parse_optional_builtin_parametrized_attr(self) -> Any:
        if self._current_token.kind == MLIRTokenKind.BARE_IDENT and self._current_token.text == "sparse":
            self._consume_token(MLIRTokenKind.BARE_IDENT)
            return parse_sparse(self)
        return super()._parse_optional_builtin_parametrized_attr()

    def _parse_builtin_dense_attr(self) -> Any:
        return parse_dense(self)

    def _parse_builtin_dense_resource_attr(self) -> Any:
        self.parse_characters("<", " in dense_resource attribute")
        key = self.parse_identifier_or_str_literal(" in dense_resource attribute")
        self.parse_characters(">", " in dense_resource attribute")
        self.parse_characters(":", " in dense_resource attribute")
        return ResourceAttr(key, self.parse_type())

    def parse_affine_map(self) -> AffineMap:
        """Parse `(d0, d1)[s0] -> (expressions)`."""
        return AffineTextParser(self._parser_state).parse_affine_map()

    def parse_affine_set(self) -> AffineSet:
        """Parse `(d0)[s0] : (constraints)`."""
        parser = AffineTextParser(self._parser_state)
        # A constraint has two sides.
        parser.left = 2 * RANK
        return parser.parse_affine_set()

    def _parse_location(self) -> Any:
        self._enter()
        try:
            return self._location()
        finally:
            self._depth -= 1

    def _location(self) -> Attribute:
        if self.parse_optional_keyword("unknown"):
            return UnknownLoc()
        text = self.parse_optional_str_literal()
        if text is not None:
            return self._file_or_name(text)
        if self._current_token.kind == MLIRTokenKind.HASH_IDENT:
            value = self.parse_attribute()
            if isinstance(value, LOCATIONS):
                return value
            self.raise_error("expected location, but found an attribute that is none")
        if self.parse_optional_keyword("callsite"):
            with self.in_parens():
                callee = self._start(self._parse_location())
                self.parse_keyword("at")
                return CallSiteLoc(callee, self._start(self._parse_location()))
        if self.parse_optional_keyword("fused"):
            metadata: Attribute = NoneAttr()
            if self.parse_optional_punctuation("<"):
                metadata = self.parse_attribute()
                self.parse_punctuation(">")
            parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
            return FusedLoc(ArrayAttr(parts), metadata)
        return self.raise_error("expected location instance")

    def _start(self, location: Any) -> Any:
        """Return the start of a range, which xdsl allows inside others."""
        if isinstance(location, FileRangeLoc):
            return FileLineColLoc(StringAttr(location.file), IntAttr(location.line), IntAttr(location.column))
        return location

    def _file_or_name(self, text: str) -> Attribute:
        if self.parse_optional_punctuation(":") is None:
            nested: Any = NoneAttr()
            if self.parse_optional_punctuation("("):
                nested = self._start(self._parse_location())
                self.parse_punctuation(")")
            return NameLoc(StringAttr(text), nested)
        line = self.parse_integer(False, False)
        self.parse_punctuation(":")
        column = self.parse_integer(False, False)
        if self.parse_optional_keyword("to"):
            end = "" if self._current_token.text == ":" else str(self.parse_integer(False, False))
            self.parse_punctuation(":")
            return FileRangeLoc(text, line, column, f"{end}:{self.parse_integer(False, False)}")
        return FileLineColLoc(StringAttr(text), IntAttr(line), IntAttr(column))

    # Operations

    def parse_operation(self) -> Operation:
        """Parse an operation in generic or pretty form, and note its place."""
        self._enter()
        outside, self._outside = self._outside, self._depth
        start = self._current_token.span
        bound = self._parse_op_result_list()
        stack = self._parser_state.dialect_stack
        token = self._current_token
        name_token = self._parse_optional_token(MLIRTokenKind.BARE_IDENT)
        if name_token is not None:
            operation = self._pretty_operation(name_token.text, token.span)
        else:
            name = self.expect(self.parse_optional_str_literal, "expected operation name in quotes")
            kind = self._operation_class(name, token.span)
            stack.append(name.partition(".")[0])
            operation = self._parse_generic_operation(kind)
            stack.pop()
        location = self.parse_optional_location()
        if location is not None:
            operation.location = location
        elif isinstance(operation.location, UnknownLoc):
            line, column = self._source.place(token.span.start)
            operation.location = FileLineColLoc(self._filename, IntAttr(line), IntAttr(column))
        self.places[operation] = token.span.start
        self._bind(operation, bound, start)
        self._outside = outside
        self._depth -= 1
        return operation

    def _bind(self, operation: Operation, bound: list[Any], at: Any) -> None:
        count = sum(size for _, size in bound)
        if bound and count != len(operation.results):
            self.raise_error(f"operation defines {len(operation.results)} results but was provided {count} to bind", at)
        index = 0
        for span, size in bound:
            self._register_ssa_definition(span.text[1:], operation.results[index : index + size], span)
            index += size

    def _pretty_operation(self, name: str, span: Any) -> Operation:
        stack = self._parser_state.dialect_stack
        full = name
        if "." not in name:
            candidates = [f"{dialect}.{name}" for dialect in reversed(stack)]
            full = next((one for one in candidates if self._foreign_class(one) is not None), "")
            full = full or (f"builtin.{name}" if self._foreign_class(f"builtin.{name}") else f"func.{name}")
        dialect = full.partition(".")[0]
        stack.append(dialect)
        operation = self.registry.parse_pretty(self, full, self.version)
        if operation is None:
            kind = self._foreign_class(full) if dialect not in self._known else None
            if kind is None:
                self.raise_error(f"custom op '{name}' is unknown (tried '{full}' as well)", span)
            operation = kind.parse(self)
        stack.pop()
        return operation

    def _foreign_class(self, name: str) -> type[Operation] | None:
        if name.partition(".")[0] not in _FOREIGN:
            return None
        return self.ctx.get_optional_op(name)

    def _operation_class(self, name: str, span: Any) -> type[Operation]:
        dialect = name.partition(".")[0]
        if dialect in self._known:
            kind = self.registry.operation(name, self.version)
            assert kind is not None
            return kind
        found = self._foreign_class(name)
        if found is not None:
            return found
        if dialect in _FOREIGN and "." in name:
            return generic_operation(name)
        if not self.unregistered:
            self.raise_error(
                f"operation '{name}' is of an unregistered dialect. If this is intended, "
                "please use -allow-unregistered-dialect",
                span,
            )
        return generic_operation(name)

    def _parse_generic_operation(self, op_type: type[Operation]) -> Operation:
        arguments = self.parse_op_args_list()
        successors = self.parse_optional_successors() or []
        properties = self.parse_optional_properties_dict()
        regions = self.parse_region_list()
        attributes = self.parse_optional_attr_dict()
        self.parse_punctuation(":", " before the type of the operation")
        types_at = self._current_token.span.start
        kind = self.parse_function_type()
        operands = self.resolve_operands(arguments, kind.inputs.data, types_at)
        inherent = getattr(op_type, "inherent", None)
        if inherent is None and issubclass(op_type, IRDLOperation):
            inherent = op_type.get_irdl_definition().properties.keys()
        for name in inherent or ():
            if name in attributes and name not in properties:
                properties[name] = attributes.pop(name)
        operation: Operation = op_type.create(
            operands=operands,
            result_types=kind.outputs.data,
            properties=properties,
            attributes=attributes,
            successors=successors,
            regions=regions,
        )
        return operation

    # Resources

    def _parse_file_metadata_dictionary(self) -> None:
        self._parse_token(MLIRTokenKind.FILE_METADATA_BEGIN, "expected '{-#'")
        while self._current_token.kind != MLIRTokenKind.FILE_METADATA_END:
            section = self.parse_identifier(" of a metadata section")
            self.parse_punctuation(":")
            if section not in ("dialect_resources", "external_resources"):
                self.raise_error(f"unknown key '{section}' in file metadata dictionary")
            self.parse_punctuation("{")
            while self.parse_optional_punctuation("}") is None:
                self._resource_group(section)
                self.parse_optional_punctuation(",")
            self.parse_optional_punctuation(",")
        self._consume_token()

    def _resource_group(self, section: str) -> None:
        owner = self.parse_identifier_or_str_literal(" of a resource group")
        self.parse_punctuation(":")
        self.parse_punctuation("{")
        entries = self.resources.setdefault(owner, {}) if section == "dialect_resources" else {}
        while self.parse_optional_punctuation("}") is None:
            key = self.parse_identifier_or_str_literal(" of a resource")
            self.parse_punctuation(":")
            at = self._current_token.span
            text = self._current_token.text
            if self._current_token.kind not in (MLIRTokenKind.STRING_LIT, MLIRTokenKind.BYTES_LIT):
                if section == "dialect_resources":
                    self.raise_error("expected a hex string of a resource", at)
                self._consume_token()
            else:
                self._consume_token()
                if section == "dialect_resources":
                    entries[key] = self._hex(text[1:-1], at)
            self.parse_optional_punctuation(",")

    def _hex(self, text: str, at: Any) -> bytes:
        try:
            if not text.startswith("0x"):
                raise ValueError
            return bytes.fromhex(text[2:])
        except ValueError:
            self.raise_error('expected a hex string that starts with "0x"', at)

    def fail_in_version(self, message: str, at: Any = None) -> NoReturn:
        """Raise a parse error about what another version may allow."""
        self.in_version = True
        self.raise_error(message, at)

    def fail(self, message: str, at: Any = None) -> NoReturn:
        """Raise a parse error at a span or the current token."""
        self.raise_error(message, at)


_CONTEXT: list[Context] = []


def _context() -> Context:
    """Return the context with MLIR's dialects.

    Classes are made when first asked for.
    """
    if not _CONTEXT:
        context = Context()
        for name, factory in get_all_dialects().items():
            if name in _FOREIGN:
                context.register_dialect(name, factory)
        _CONTEXT.append(context)
    return _CONTEXT[0]


def foreign_operation(name: str) -> type[Operation]:
    """Return the class of an operation of a dialect that MLIR brings.

    Raises:
        KeyError: There is none of that name.
    """
    found = _context().get_optional_op(name)
    if found is None:
        raise KeyError(name)
    return found


_QUOTED = re.compile(f"({QUOTED})")


def _one_line(text: str) -> str:
    """Return text on one line, with printed spacing; strings unchanged."""
    pieces = _QUOTED.split(text)
    for i in range(0, len(pieces), 2):
        # The lookbehinds let a search begin at the first of many blanks only.
        one = re.sub(r"(?<!\s)\s*\n\s*", " ", pieces[i])
        pieces[i] = re.sub(r"(?<! ) +([>\])}])", r"\1", re.sub(r"([<\[({]) +", r"\1", one))
    return "".join(pieces)


def foreign_dialects() -> tuple[str, ...]:
    """Return the dialects of MLIR that can be read."""
    return tuple(name for name in _FOREIGN if name not in _HIDDEN)


def parse_text(
    text: str,
    registry: Registry,
    filename: str = "-",
    *,
    allow_unregistered: bool = False,
    version: Version,
    first_line: int = 0,
) -> Module:
    """Return the module of a text, not verified.

    Raises:
        CompileError: The text is not a module; one diagnostic says where.
    """
    source = Source(text, filename, first_line)
    parser: MlirParser | None = None
    try:
        parser = MlirParser(registry, text, filename, allow_unregistered=allow_unregistered, version=version)
        parser._source = source
        operation = parser.parse_module()
    except ParseError as error:
        kind = VersionError if parser is not None and parser.in_version else CompileError
        raise kind(_diagnostic(source, error.span.start, _worded(error.msg))) from None
    except VerifyException as error:
        raise CompileError(_diagnostic(source, _here(parser), str(error))) from None
    except RecursionError:
        raise CompileError(_diagnostic(source, _here(parser), "nested too deeply")) from None
    except CompileError:
        raise
    except Exception as error:
        # xdsl answers some malformed text with assertions and KeyErrors; a reader of text only needs the place.
        message = f"invalid text: {str(error) or type(error).__name__}"
        raise CompileError(_diagnostic(source, _here(parser), message)) from None
    if not isinstance(operation, ModuleOp):
        raise CompileError(_diagnostic(source, 0, "expected a module"))
    return Module(
        operation, version, filename, parser.resources, source, parser.places, dialects=frozenset(parser.dialects)
    )


#: Messages of xdsl that say nothing to a reader of text, and what is said instead.
_WORDS: Final = {
    " in block definition": "expected an operation, the label of a block or '}'",
    "Could not parse entire input!": "expected an operation",
    "Expected shape type.": "expected the type of elements",
}


def _worded(message: str) -> str:
    """A message of xdsl as MLIR writes its own."""
    message = _WORDS.get(message, message)
    return message.replace("Expected ", "expected ", 1) if message.startswith("Expected ") else message


def _here(parser: MlirParser | None) -> int:
    return parser._current_token.span.start if parser is not None else 0


def _diagnostic(source: Source, offset: int, message: str) -> Diagnostic:
    # An error at the end of the text is shown at its last character, where a line can be printed.
    offset = max(0, min(offset, len(source.text)))
    line, column = source.place(offset)
    first = message.splitlines()[0] if message else "invalid text"
    return Diagnostic("error", first, source.name, line, column, source.line(line))
