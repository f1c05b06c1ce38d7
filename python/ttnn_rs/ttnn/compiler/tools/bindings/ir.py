"""`ttmlir.ir`: contexts, locations, modules, blocks, types, attributes and affine expressions.

Names and calls are those of the MLIR Python bindings ("MLIR Python Bindings", mlir.llvm.org). An object stands for one
of `ttnn.compiler.ir`; its text is that of MLIR without aliases.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ttnn.base.exceptions import ArgumentError
from ttnn.compiler.ir import affine
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module as Parsed
from ttnn.compiler.ir.operations import generic_operation
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.verifier import verify
from ttnn.compiler.ir.xdsl_adapter import AffineExpr as Expression
from ttnn.compiler.ir.xdsl_adapter import AffineMap as Map
from ttnn.compiler.ir.xdsl_adapter import Attribute as AnyAttribute
from ttnn.compiler.ir.xdsl_adapter import Block as AnyBlock
from ttnn.compiler.ir.xdsl_adapter import IndexType as AnyIndexType
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr as AnyIntegerAttr
from ttnn.compiler.ir.xdsl_adapter import IntegerType as AnyIntegerType
from ttnn.compiler.ir.xdsl_adapter import MemRefType as AnyMemRefType
from ttnn.compiler.ir.xdsl_adapter import (
    ModuleOp,
    NoneAttr,
    Operation,
    Region,
    Signedness,
    SSAValue,
    TensorType,
    builtin_float,
)
from ttnn.compiler.version import NEWEST, Version, version_of
from ttnn.compiler.versions import parse_module, print_module

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AffineConstantExpr",
    "AffineDimExpr",
    "AffineExpr",
    "AffineFloorDivExpr",
    "AffineMap",
    "AffineModExpr",
    "AffineSymbolExpr",
    "Attribute",
    "BF16Type",
    "Block",
    "Context",
    "F16Type",
    "F32Type",
    "F64Type",
    "IndexType",
    "InsertionPoint",
    "IntegerAttr",
    "IntegerType",
    "Location",
    "MemRefType",
    "Module",
    "RankedTensorType",
    "Type",
    "Value",
]

Own = TypeVar("Own")


class _Stack:
    """Objects that `with` blocks have opened, innermost last."""

    entries: ClassVar[list[Any]] = []

    @classmethod
    def current(cls, kind: type[Own]) -> Own | None:
        """Return the innermost object of a kind, or None."""
        return next((one for one in reversed(cls.entries) if isinstance(one, kind)), None)


def default_version() -> Version:
    """Return the default version: environment variable `TTMLIR_DEFAULT_VERSION`.

    For what does not show its own.

    Raises:
        ArgumentError: It has another value than 2024-09, 2025-10 or 2026-08.
    """
    names = ("TTMLIR_DEFAULT_VERSION", "TTMLIR_DEFAULT_EPOCH")
    name = next((name for name in names if os.environ.get(name)), None)
    try:
        return NEWEST if name is None else version_of(os.environ[name])
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}.") from None


class _Scoped:
    """Something that a `with` block opens."""

    def __enter__(self: Own) -> Own:
        _Stack.entries.append(self)
        return self

    def __exit__(self, *details: object) -> None:
        _Stack.entries.remove(self)


class Context(_Scoped):
    """Owner of types and attributes. Every context has all dialects."""

    allow_unregistered_dialects: bool = False

    @property
    def _CAPIPtr(self) -> Context:  # noqa: N802 - the name that calls of the compiler's dialects take it by
        """The context."""
        return self


class Location(_Scoped):
    """Source location of an operation.

    Attributes:
        text: As it is printed.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @staticmethod
    def unknown(context: Context | None = None) -> Location:
        """Return the unknown location."""
        return Location("loc(unknown)")

    @staticmethod
    def name(name: str, childLoc: Location | None = None, context: Context | None = None) -> Location:  # noqa: N803
        """Return a location that is a name."""
        return Location(f'loc("{name}")')

    @staticmethod
    def file(filename: str, line: int, col: int, context: Context | None = None) -> Location:
        """Return a place in a file."""
        return Location(f'loc("{filename}":{line}:{col})')

    def __str__(self) -> str:
        return self.text


class Attribute:
    """An attribute.

    Attributes:
        raw: The object that it stands for.
    """

    def __init__(self, raw: AnyAttribute) -> None:
        self.raw = raw

    def __str__(self) -> str:
        return attribute_text(self.raw)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    @staticmethod
    def parse(text: str, context: Context | None = None) -> Attribute:
        """Return the attribute of a text.

        Raises:
            CompileError: The text is no attribute.
        """
        module = parse_module(f'"any.op"() {{value = {text}}} : () -> ()', allow_unregistered=True)
        return wrap(next(iter(module.op.body.blocks[0].ops)).attributes["value"])


class Type(Attribute):
    """A type."""

    @staticmethod
    def parse(text: str, context: Context | None = None) -> Type:
        """Return the type of a text.

        Raises:
            CompileError: The text is no type.
        """
        module = parse_module(f'%0 = "any.op"() : () -> {text}', allow_unregistered=True)
        found = wrap(next(iter(module.op.body.blocks[0].ops)).results[0].type)
        assert isinstance(found, Type)
        return found


class IntegerType(Type):
    """An integer type."""

    @staticmethod
    def get_signless(width: int, context: Context | None = None) -> IntegerType:
        """Return `iN`."""
        return IntegerType(AnyIntegerType(width))

    @staticmethod
    def get_signed(width: int, context: Context | None = None) -> IntegerType:
        """Return `siN`."""
        return IntegerType(AnyIntegerType(width, Signedness.SIGNED))

    @staticmethod
    def get_unsigned(width: int, context: Context | None = None) -> IntegerType:
        """Return `uiN`."""
        return IntegerType(AnyIntegerType(width, Signedness.UNSIGNED))

    @property
    def width(self) -> int:
        """Bits."""
        assert isinstance(self.raw, AnyIntegerType)
        return int(self.raw.width.data)


class IndexType(Type):
    """The type `index`."""

    @staticmethod
    def get(context: Context | None = None) -> IndexType:
        """Return it."""
        return IndexType(AnyIndexType())


class _FloatType(Type):
    width: ClassVar[str]

    @classmethod
    def get(cls, context: Context | None = None) -> Self:
        """Return it."""
        return cls(builtin_float(cls.width))


class F32Type(_FloatType):
    """The type `f32`."""

    width = "f32"


class F16Type(_FloatType):
    """The type `f16`."""

    width = "f16"


class BF16Type(_FloatType):
    """The type `bf16`."""

    width = "bf16"


class F64Type(_FloatType):
    """The type `f64`."""

    width = "f64"


class RankedTensorType(Type):
    """A tensor type with sizes."""

    @staticmethod
    def get(
        shape: Sequence[int], element_type: Type, encoding: Attribute | None = None, loc: Location | None = None
    ) -> RankedTensorType:
        """Return the type of a tensor."""
        raw = encoding.raw if encoding is not None else NoneAttr()
        return RankedTensorType(TensorType(element_type.raw, list(shape), raw))

    @property
    def _tensor(self) -> TensorType[Any]:
        assert isinstance(self.raw, TensorType)
        return self.raw

    @property
    def shape(self) -> list[int]:
        """Sizes."""
        return [int(size) for size in self._tensor.get_shape()]

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def element_type(self) -> Type:
        """Type of an element."""
        found = wrap(self._tensor.element_type)
        assert isinstance(found, Type)
        return found

    @property
    def encoding(self) -> Attribute | None:
        """The layout, or None."""
        raw = self._tensor.encoding
        return None if isinstance(raw, NoneAttr) else wrap(raw)


class MemRefType(Type):
    """A type of memory with sizes."""

    @staticmethod
    def get(
        shape: Sequence[int],
        element_type: Type,
        layout: Attribute | None = None,
        memory_space: Attribute | None = None,
        loc: Location | None = None,
    ) -> MemRefType:
        """Return the type of memory."""
        parts = [one.raw if one is not None else NoneAttr() for one in (layout, memory_space)]
        return MemRefType(AnyMemRefType(element_type.raw, list(shape), parts[0], parts[1]))  # type: ignore[arg-type]

    @property
    def shape(self) -> list[int]:
        """Sizes."""
        assert isinstance(self.raw, AnyMemRefType)
        return [int(size) for size in self.raw.get_shape()]


class IntegerAttr(Attribute):
    """An integer of a type."""

    @staticmethod
    def get(kind: Type, value: int) -> IntegerAttr:
        """Return it."""
        assert isinstance(kind.raw, AnyIntegerType | AnyIndexType)
        return IntegerAttr(AnyIntegerAttr(value, kind.raw))

    @property
    def value(self) -> int:
        """The number."""
        assert isinstance(self.raw, AnyIntegerAttr)
        return int(self.raw.value.data)


WRAPPERS: dict[type, type[Attribute]] = {
    TensorType: RankedTensorType,
    AnyMemRefType: MemRefType,
    AnyIntegerType: IntegerType,
    AnyIndexType: IndexType,
    AnyIntegerAttr: IntegerAttr,
    type(builtin_float("f32")): F32Type,
    type(builtin_float("f16")): F16Type,
    type(builtin_float("bf16")): BF16Type,
    type(builtin_float("f64")): F64Type,
}
"""Binding classes by represented class; dialects add theirs."""


def wrap(raw: AnyAttribute) -> Attribute:
    """Return the object of the bindings for an attribute or a type."""
    return WRAPPERS.get(type(raw), Type if "Type" in type(raw).__name__ else Attribute)(raw)


class AffineExpr:
    """An affine expression.

    Attributes:
        raw: The object that it stands for.
    """

    def __init__(self, raw: Expression) -> None:
        self.raw = raw

    @staticmethod
    def _of(value: AffineExpr | int) -> Expression:
        return affine.constant(value) if isinstance(value, int) else value.raw

    def __add__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(affine.add(self.raw, self._of(other)))

    def __radd__(self, other: int) -> AffineExpr:
        return AffineExpr(affine.add(self._of(other), self.raw))

    def __mul__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(affine.mul(self.raw, self._of(other)))

    def __rmul__(self, other: int) -> AffineExpr:
        return self * other

    def __mod__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(affine.mod(self.raw, self._of(other)))

    def __sub__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(affine.add(self.raw, affine.mul(self._of(other), affine.constant(-1))))

    def __str__(self) -> str:
        return affine.affine_expression(self.raw)


class AffineConstantExpr(AffineExpr):
    """A number."""

    @staticmethod
    def get(value: int, context: Context | None = None) -> AffineExpr:
        """Return it."""
        return AffineConstantExpr(affine.constant(value))


class AffineDimExpr(AffineExpr):
    """A dimension."""

    @staticmethod
    def get(position: int, context: Context | None = None) -> AffineExpr:
        """Return it."""
        return AffineDimExpr(affine.dim(position))


class AffineSymbolExpr(AffineExpr):
    """A symbol."""

    @staticmethod
    def get(position: int, context: Context | None = None) -> AffineExpr:
        """Return it."""
        return AffineSymbolExpr(Expression.symbol(position))


class AffineFloorDivExpr(AffineExpr):
    """A quotient, rounded down."""

    @staticmethod
    def get(lhs: AffineExpr | int, rhs: AffineExpr | int) -> AffineExpr:
        """Return it."""
        return AffineExpr(affine.floordiv(AffineExpr._of(lhs), AffineExpr._of(rhs)))


class AffineModExpr(AffineExpr):
    """A remainder."""

    @staticmethod
    def get(lhs: AffineExpr | int, rhs: AffineExpr | int) -> AffineExpr:
        """Return it."""
        return AffineExpr(affine.mod(AffineExpr._of(lhs), AffineExpr._of(rhs)))


class AffineMap:
    """A map of indices.

    Attributes:
        raw: The object that it stands for.
    """

    def __init__(self, raw: Map) -> None:
        self.raw = raw

    @staticmethod
    def get(
        dim_count: int, symbol_count: int, exprs: Sequence[AffineExpr], context: Context | None = None
    ) -> AffineMap:
        """Return the map of dimensions and symbols to expressions."""
        return AffineMap(Map(dim_count, symbol_count, tuple(one.raw for one in exprs)))

    @staticmethod
    def get_identity(n_dims: int, context: Context | None = None) -> AffineMap:
        """Return the map that changes nothing."""
        return AffineMap(Map.identity(n_dims))

    @property
    def n_dims(self) -> int:
        """Number of dimensions."""
        return self.raw.num_dims

    def __str__(self) -> str:
        return affine.affine_text(self.raw)


class Value:
    """A result or an argument.

    Attributes:
        raw: The object that it stands for.
    """

    def __init__(self, raw: SSAValue) -> None:
        self.raw = raw

    @property
    def type(self) -> Type:
        """Its type."""
        found = wrap(self.raw.type)
        assert isinstance(found, Type)
        return found


class Block:
    """A block of operations.

    Attributes:
        raw: The object that it stands for.
    """

    def __init__(self, raw: AnyBlock) -> None:
        self.raw = raw

    @staticmethod
    def create_at_start(parent: Region | Any, arg_types: Sequence[Type] = ()) -> Block:
        """Return a new first block of a region."""
        region = parent if isinstance(parent, Region) else parent.raw
        made = AnyBlock(arg_types=[kind.raw for kind in arg_types])
        region.insert_block(made, 0)
        return Block(made)

    @property
    def arguments(self) -> list[Value]:
        """Its arguments."""
        return [Value(argument) for argument in self.raw.args]


class InsertionPoint(_Scoped):
    """Insertion position of new operations: the end of a block."""

    def __init__(self, block: Block) -> None:
        self.block = block

    @staticmethod
    def at_block_begin(block: Block) -> InsertionPoint:
        """Return the place before an empty block's first operation.

        Raises:
            ArgumentError: It has operations.
        """
        if block.raw.first_op is not None:
            raise ArgumentError(
                "InsertionPoint.at_block_begin: only empty blocks are supported, use InsertionPoint(block)."
            )
        return InsertionPoint(block)

    def insert(self, op: Operation) -> None:
        """Insert an operation there."""
        self.block.raw.add_op(op)


def insert(op: Operation) -> Operation:
    """Insert an operation at the innermost `with InsertionPoint(..)`.

    Raises:
        ArgumentError: There is none.
    """
    point = _Stack.current(InsertionPoint)
    if point is None:
        raise ArgumentError(f"{op.name}: an operation needs a place: use it inside of `with InsertionPoint(block)`.")
    point.insert(op)
    return op


def unknown_operation(name: str, operands: Sequence[Value], results: Sequence[Type], **parts: Any) -> Operation:
    """Return an operation in generic form."""
    made: Operation = generic_operation(name).create(
        operands=[one.raw for one in operands], result_types=[one.raw for one in results], **parts
    )
    return made


class Module:
    """A module.

    Attributes:
        parsed: The object that it stands for.
    """

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed

    @staticmethod
    def parse(text: str, context: Context | None = None) -> Module:
        """Return the module of a text.

        Raises:
            CompileError: The text is no valid module.
        """
        return Module(parse_module(text, default_version=default_version()))

    @staticmethod
    def create(loc: Location | None = None) -> Module:
        """Return an empty module."""
        return Module(Parsed(ModuleOp([]), "2024-09"))

    @property
    def body(self) -> Block:
        """Its block."""
        return Block(self.parsed.op.body.blocks[0])

    @property
    def operation(self) -> Module:
        """The operation of the module."""
        return self

    def verify(self) -> bool:
        """Return whether the module is valid."""
        try:
            verify(self.parsed)
        except CompileError:
            return False
        return all(_ends(block) for function in self.parsed.functions() for block in function.body.blocks)

    def __str__(self) -> str:
        """Return its text, generic if invalid, as MLIR prints it."""
        return print_module(self.parsed, generic=not self.verify(), local_scope=False)

    def dump(self) -> None:
        """Write the text to standard error."""
        sys.stderr.write(f"{self}\n")


def _ends(block: AnyBlock) -> bool:
    """Return True if a block of a function has the required terminator."""
    return block.last_op is not None and block.last_op.name in ("func.return", "ttkernel.return", "cf.br", "cf.cond_br")
