"""The builder: functions of `ttir` operations.

One method for each operation of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ttnn.base.exceptions import EngineBugError
from ttnn.compiler.dialects.attributes import EnumAttr
from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.importers.builder.attributes import attribute
from ttnn.compiler.importers.builder.infer import infer
from ttnn.compiler.importers.builder.types import dense, element_of, is_float, shape_of, tensor
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.verifier import verify
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    CallOp,
    CallSiteLoc,
    DictionaryAttr,
    FileLineColLoc,
    FuncOp,
    FunctionType,
    FusedLoc,
    ModuleOp,
    NameLoc,
    Operation,
    OpResult,
    Region,
    ReturnOp,
    SSAValue,
    SSAValues,
    StringAttr,
    TensorType,
    UnknownLoc,
)
from ttnn.compiler.version import NEWEST

__all__ = ["Builder", "program"]

_IDENTITY: Final[dict[str, Callable[[TableOp], bool]]] = {
    "ttir.reshape": lambda op: shape_of(op.inputs[0]) == tuple(op.get("shape")),
    "ttir.permute": lambda op: list(op.get("permutation")) == list(range(len(op.get("permutation")))),
}
"""Operations that return their operand, if so."""


class Builder:
    """Builds one function.

    An operation of the table is a method of its name: operands in order (None for one that is missing), attributes as
    Python values by name. It returns its result, or all of them if there are several. `types` states result types:
    they must agree with the inferred ones, or take their place where none can be inferred.

        builder = Builder("main")
        x = builder.argument("x", tensor((32, 64), "f32"))
        function = builder.finish([builder.exp(x)])
        module = program([function])
    """

    def __init__(self, name: str, *, visibility: str | None = None) -> None:
        self.name = name
        self.visibility = visibility
        # What it calls.
        self.functions: list[FuncOp] = []
        # Arguments that nobody reads after the function.
        self.donated: set[SSAValue] = set()
        self._block = Block()
        self._arguments: list[DictionaryAttr] = []
        self._constants: dict[DenseAttr, SSAValue] = {}
        self._location: Attribute = UnknownLoc()
        self._names = 0

    def argument(
        self,
        name: str | None,
        type_: Attribute,
        kind: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Append an argument and return it.

        Args:
            name: The framework's name of it.
            type_: Its type.
            kind: `input`, `parameter`, `constant` or `default`.
            attributes: Its other attributes.
        """
        entries = dict(attributes or {})
        if kind is not None:
            entries["ttcore.argument_type"] = EnumAttr("ttcore.argument_type", kind)
        if name is not None:
            entries["ttir.name"] = StringAttr(name)
        self._arguments.append(DictionaryAttr(entries))
        return self._block.insert_arg(type_, len(self._arguments) - 1)

    def location(self, place: str | Attribute | None) -> None:
        """Set the location of the operations that follow.

        Often a name of the framework.
        """
        if isinstance(place, str):
            self._location = NameLoc(StringAttr(place), UnknownLoc())
        else:
            self._location = UnknownLoc() if place is None else place

    def constant(self, value: Any, element: Attribute | None = None) -> SSAValue:
        """Return a constant; equal ones are one value.

        Args:
            value: An array, with the type of its elements, or a finished attribute.
            element: Type of the elements.
        """
        if element is not None:
            value = dense(value, element)
        if not isinstance(value, DenseAttr):
            return self._one(self.op("constant", value=value))
        known = self._constants.get(value)
        if known is None:
            known = self._constants[value] = self._one(self.op("constant", value=value))
        return known

    def splat(self, value: float, shape: Sequence[int], element: Attribute) -> SSAValue:
        """Return a constant of one value."""
        return self.constant(DenseAttr(tensor(shape, element), dense(value, element).data, splat=True))

    def op(self, name: str, *operands: SSAValue | None, types: Sequence[Attribute] | None = None, **given: Any) -> Any:
        """Append an operation; return its result, or a tuple of several.

        Raises:
            EngineBugError: It has no such attribute, or the stated result types are not those inferred.
        """
        first = operands[0] if operands else None
        if name in ("eq", "ne") and first is not None and first is operands[1] and is_float(element_of(first)):
            # The compiler takes x = x as true, which tests for NaN are not.
            ordered = self.op("le", *operands, types=types, **given)
            return ordered if name == "eq" else self.op("logical_not", ordered, types=types)
        kind = operation_class(f"ttir.{name}", NEWEST)
        if kind is None:
            raise EngineBugError(f"ttir.{name} is no operation.")
        known = kind.text.attributes
        properties = {}
        for key, value in given.items():
            if key not in known:
                raise EngineBugError(f"ttir.{name} has no attribute {key}.")
            if value is not None:
                properties[key] = attribute(kind.name, known[key], value)
        values = [one for one in operands if one is not None]
        groups = kind.text.inputs
        sizes = None
        if len(values) != len(operands) or sum(bool(one.kind) for one in groups) > 1:
            sizes = tuple(int(i < len(operands) and operands[i] is not None) for i in range(len(groups)))
        made = make(kind.name, NEWEST, values, [], properties, sizes=sizes, location=self._location)
        if kind.name in _IDENTITY and _IDENTITY[kind.name](made):
            result = made.inputs[0]
            made.drop_all_references()
            return result
        results = self._types(made, types)
        made.results = SSAValues(OpResult(one, made, i) for i, one in enumerate(results))
        self._block.add_op(made)
        return made.results[0] if len(made.results) == 1 else tuple(made.results)

    def unique(self, what: str) -> str:
        """Return a name for a function that this one calls."""
        self._names += 1
        return f"{self.name}_{what}{self._names - 1}"

    def call(self, name: str, operands: Sequence[SSAValue], types: Sequence[Attribute]) -> list[SSAValue]:
        """Append the call of a function, and return its results."""
        made = CallOp(name, list(operands), list(types))
        if isinstance(self._location, NameLoc | FileLineColLoc | CallSiteLoc | FusedLoc):
            made.location = self._location
        self._block.add_op(made)
        return list(made.results)

    def append(self, operation: Operation) -> None:
        """Append an operation that is already made."""
        self._block.add_op(operation)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method of an operation of the table."""
        if name.startswith("_") or operation_class(f"ttir.{name}", NEWEST) is None:
            raise AttributeError(f"ttir.{name} is no operation.")

        def method(*operands: SSAValue | None, **given: Any) -> Any:
            return self.op(name, *operands, **given)

        return method

    def finish(
        self,
        outputs: Sequence[SSAValue],
        *,
        results: Sequence[Mapping[str, Attribute]] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> FuncOp:
        """Return the function, complete.

        Args:
            outputs: What it returns.
            results: Attributes of each of them.
            attributes: Attributes of the function.
        """
        self._block.add_op(ReturnOp(*outputs))
        type_ = FunctionType.from_lists([one.type for one in self._block.args], [one.type for one in outputs])
        visibility = StringAttr(self.visibility) if self.visibility else None
        function = FuncOp(
            self.name,
            type_,
            Region(self._block),
            visibility=visibility,
            arg_attrs=ArrayAttr(self._arguments) if any(one.data for one in self._arguments) else None,
            res_attrs=ArrayAttr([DictionaryAttr(dict(one)) for one in results]) if results and any(results) else None,
        )
        function.attributes |= dict(attributes or {})
        return function

    @staticmethod
    def _one(value: Any) -> SSAValue:
        assert isinstance(value, SSAValue)
        return value

    def _types(self, op: TableOp, stated: Sequence[Attribute] | None) -> list[Attribute]:
        try:
            found = infer(op)
        except (ValueError, IndexError, TypeError) as error:
            shapes = ", ".join(attribute_text(one.type) for one in op.inputs)
            raise EngineBugError(f"{op.name} of {shapes}: {error}.") from None
        if found is None:
            if stated is None:
                raise EngineBugError(f"{op.name}: its result cannot be inferred, and no type is stated.")
            return list(stated)
        if stated is None:
            return list(found)
        if [_size(one) for one in stated] != [_size(one) for one in found]:
            texts = [", ".join(attribute_text(one) for one in types) for types in (found, stated)]
            raise EngineBugError(f"{op.name}: the result is {texts[0]}, the framework states {texts[1]}.")
        return list(stated)


def _size(type_: Attribute) -> tuple[int, ...]:
    """Return the shape, which inference determines; elements may be stated (predicates, indices)."""
    return tuple(type_.get_shape()) if isinstance(type_, TensorType) else ()


def program(
    functions: Sequence[Operation], attributes: Mapping[str, Attribute] | None = None, name: StringAttr | None = None
) -> Module:
    """Return a module of finished functions, verified.

    Raises:
        CompileError: An operation breaks a rule of the dialect.
    """
    operation = ModuleOp(list(functions), dict(attributes or {}), name)
    module = Module(operation, NEWEST)
    verify(module)
    return module
