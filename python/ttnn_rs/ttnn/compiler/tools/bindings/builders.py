"""`ttmlir.dialects`: functions that make operations where the innermost insertion point says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from ttnn.base.exceptions import ArgumentError, MissingNameError
from ttnn.compiler.dialects import attributes, make, operation_class
from ttnn.compiler.dialects.ttcore.algebra import element_bytes, tile_bytes
from ttnn.compiler.ir.attributes import OpaqueDialectType
from ttnn.compiler.ir.xdsl_adapter import Block as AnyBlock
from ttnn.compiler.ir.xdsl_adapter import FuncOp as AnyFuncOp
from ttnn.compiler.ir.xdsl_adapter import IndexType, IntegerAttr, IntegerType, MemRefType, Region
from ttnn.compiler.tools.bindings import kernel_arguments, tt
from ttnn.compiler.tools.bindings import ttcore as ttcore_attributes
from ttnn.compiler.tools.bindings.ir import Context, Type, Value, insert, unknown_operation
from ttnn.compiler.tools.bindings.ir import MemRefType as BoundMemRefType
from ttnn.compiler.version import Version

__all__ = ["Dialect", "arith", "func", "scf", "tensor", "ttcore", "ttir", "ttkernel", "ttnn"]


class Dialect:
    """The operations of a dialect of the tables: `dialect.name(operands.., results=[types])`.

    Attributes:
        ir: Its types and attributes.
    """

    def __init__(self, name: str, ir: SimpleNamespace | None = None) -> None:
        self._name = name
        self.ir = ir or SimpleNamespace()

    def register_dialect(self, context: Context, load: bool = True) -> None:
        """Make the dialect known to a context; all are."""

    def __getattr__(self, short: str) -> Callable[..., Any]:
        name = f"{self._name}.{short}"
        version: Version = "2026-08" if self._name == "ttcore" else "2024-09"
        kind = None if short.startswith("_") else operation_class(name, version)
        if kind is None:
            raise MissingNameError(f"the dialect {self._name} has no operation {short}.")

        def build(*operands: Value, results: Sequence[Type] = (), **properties: Any) -> Any:
            if not all(isinstance(one, Value) for one in operands):
                raise ArgumentError(f"{name}: operands are values, got {[type(one).__name__ for one in operands]}.")
            given = {key: value.raw for key, value in properties.items()}
            op = insert(make(name, version, [one.raw for one in operands], [one.raw for one in results], given))
            made = [Value(result) for result in op.results]
            return made[0] if len(made) == 1 else made or None

        return build


class CBType(Type):
    """`!ttkernel.cb`."""

    @staticmethod
    def get(context: Context, address: int, port: int, memref: BoundMemRefType) -> CBType:
        """Return a circular buffer's type on memory.

        A page is an element or a tile.
        """
        raw = memref.raw
        assert isinstance(raw, MemRefType)
        element = raw.element_type
        word = attributes.data_type(element)
        tiled = isinstance(element, attributes.TileType)
        page = tile_bytes(word, element.height, element.width) if tiled else element_bytes(word)
        kind = ("cb_in", "cb_dfl", "cb_out", "cb_int")[port // 8]
        made = CBType(OpaqueDialectType("ttkernel.cb", (f"<{kind}{port % 8}, {address}, ", raw, f", {page}, 1>")))
        made._shape = memref.shape
        _SHAPES[str(made)] = memref.shape
        return made

    @staticmethod
    def cast(kind: Type) -> CBType:
        """Return a type as that of a circular buffer.

        Raises:
            ArgumentError: It is another type.
        """
        text = str(kind)
        if text not in _SHAPES:
            raise ArgumentError(f"CBType.cast: {text} is no type of a circular buffer of this process.")
        made = CBType(kind.raw)
        made._shape = _SHAPES[text]
        return made

    @property
    def shape(self) -> list[int]:
        """Sizes of its memory."""
        return self._shape

    _shape: list[int]


_SHAPES: dict[str, list[int]] = {}


class FuncOp:
    """A function.

    Attributes:
        raw: The object that it stands for.
    """

    def __init__(self, name: str, type: tuple[Sequence[Type], Sequence[Type]]) -> None:
        """Create a function without body at the insertion point."""
        inputs, results = type
        parts = [one.raw for one in inputs], [one.raw for one in results]
        self.raw = AnyFuncOp(name, parts, Region())
        insert(self.raw)

    @property
    def body(self) -> Region:
        """Its region."""
        return self.raw.body


class ForOp:
    """A loop.

    Attributes:
        raw: The object that it stands for.
    """

    def __init__(self, lower_bound: Value, upper_bound: Value, step: Value) -> None:
        """Make a loop and put it where the insertion point says."""
        region = Region(AnyBlock(arg_types=[lower_bound.raw.type]))
        self.raw = unknown_operation("scf.for", [lower_bound, upper_bound, step], [], regions=[region])
        insert(self.raw)

    @property
    def regions(self) -> list[Region]:
        """Its regions."""
        return list(self.raw.regions)


def _constant(kind: Type, value: int) -> Value:
    """Return a constant."""
    assert isinstance(kind.raw, IntegerType | IndexType)
    properties = {"value": IntegerAttr(value, kind.raw)}
    return Value(insert(unknown_operation("arith.constant", [], [kind], properties=properties)).results[0])


def _empty(kind: Type) -> Value:
    """Return an empty tensor."""
    return Value(insert(unknown_operation("tensor.empty", [], [kind])).results[0])


arith = SimpleNamespace(constant=_constant)
func = SimpleNamespace(FuncOp=FuncOp)
scf = SimpleNamespace(ForOp=ForOp)
tensor = SimpleNamespace(empty=_empty)
ttcore = Dialect("ttcore", ttcore_attributes.ir)
ttir = Dialect("ttir")
ttnn = Dialect("ttnn")
ttkernel = Dialect("ttkernel", SimpleNamespace(CBType=CBType, **vars(kernel_arguments.ir), **vars(tt.ir)))
