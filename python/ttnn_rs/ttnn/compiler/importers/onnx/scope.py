"""The function in work, and a node of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from ttnn.compiler.importers.builder import Builder, tensor
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_integer
from ttnn.compiler.importers.fx.scope import Arguments
from ttnn.compiler.importers.fx.scope import Scope as AtenScope
from ttnn.compiler.importers.fx.table import ROWS as ATEN
from ttnn.compiler.importers.fx.types import element_for
from ttnn.compiler.importers.onnx.types import Dtype, dtype_of
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Described", "Node", "Row", "Scope"]

_FLOATS: Final = 64
"""Most floats of a constant; more are a parameter."""
_INTEGERS: Final = 1 << 16
"""Most integers of a constant; more are a parameter."""


@dataclass(frozen=True)
class Described:
    """Shape and element type of a tensor."""

    shape: tuple[int, ...]
    dtype: Dtype


@dataclass
class _Call:
    """A call of an aten operation, as its row sees it."""

    target: str
    meta: dict[str, Any]


class Scope(AtenScope):
    """Steps of ONNX.

    Those of aten operations, their rows, and values that are known.

    Attributes:
        parameters: Arrays of the parameters, by number of the argument.
    """

    def __init__(self, builder: Builder) -> None:
        super().__init__(builder)
        self.parameters: dict[int, Any] = {}
        self.arguments = 0

    def argument(self, name: str, described: Described, kind: str) -> SSAValue:
        """Append an argument of the function and return it."""
        self.arguments += 1
        made: SSAValue = self.b.argument(name, tensor(described.shape, element_for(described.dtype)), kind)
        return made

    def tensor(self, value: Value) -> SSAValue:
        """Return a value as a tensor of the program.

        Known ones become constants if they are small, and parameters if not.
        """
        if value.tensor is None:
            value.tensor = self._known(value)
        return value.tensor

    def _known(self, value: Value) -> SSAValue:
        import numpy as np

        array, element = value.known, element_for(value.dtype)
        if is_integer(element) and array.size and (array.min() < -(1 << 31) or array.max() >= 1 << 31):
            wrong = array[(array < -(1 << 31)) | (array >= 1 << 31)].reshape(-1)[0]
            refuse(f"has the constant {wrong}, which does not fit 32 bits")
        if array.size and not any(array.strides):
            number = array.reshape(-1)[0] if array.size == 1 else array[(0,) * array.ndim]
            made: SSAValue = self.b.splat(number.item(), array.shape, element)
            return made
        if array.size > (_FLOATS if value.dtype.is_floating_point else _INTEGERS):
            self.parameters[self.arguments] = array
            return self.argument(value.name, Described(value.shape, value.dtype), "parameter")
        wide = array.astype(np.float32) if value.dtype.is_floating_point else array
        return self.one(self.b.constant(wide, element))

    def aten(self, name: str, dtype: Dtype, shape: Sequence[int] | None = None, /, **values: Any) -> Any:
        """Return what the row of an aten operation returns.

        Args:
            name: The operation.
            dtype: Element type of the result.
            shape: Shape of the result, for rows that read it.
            values: Arguments by name.
        """
        described = Described(tuple(shape or ()), dtype)
        call = _Call(f"aten.{name}", {"val": described})
        return ATEN[f"aten.{name}"](self, Arguments(call, values, {}, frozenset()))

    def split(self, x: SSAValue, dtype: Dtype, shapes: Sequence[Sequence[int]], dim: int) -> list[SSAValue]:
        """Return parts of a tensor along a dimension."""
        call = _Call("aten.split", {"val": [Described(tuple(one), dtype) for one in shapes]})
        made: list[SSAValue] = ATEN["aten.split"](self, Arguments(call, {"self": x, "dim": dim}, {}, frozenset()))
        return made


@dataclass
class Node:
    """A node with its operands.

    Attributes:
        proto: The node as the file has it.
        opset: Version of its domain.
        values: Its operands; None for those that are left out.
        scope: The function in work.
        imports: Opset versions by domain.
        run: Imports a graph in it, given values by name, and returns the graph's results.
        original: Opset of the model before it was converted.
        unrolled: Most nodes of a loop that is written out.
    """

    proto: Any
    opset: int
    values: list[Value | None]
    scope: Scope
    imports: Mapping[str, int]
    run: Callable[[Any, dict[str, Value]], list[Value]]
    original: int
    unrolled: int

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """Its attributes."""
        from onnx import helper

        return {one.name: helper.get_attribute_value(one) for one in self.proto.attribute}

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute; texts decoded."""
        found = self.attributes.get(name, default)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else found

    def value(self, at: int) -> Value | None:
        """Return an operand, or None."""
        return self.values[at] if at < len(self.values) else None

    def needed(self, at: int) -> Value:
        """Return an operand that has to be there."""
        found = self.value(at)
        if found is None:
            refuse(f"lacks operand {at}")
        return found

    def __getitem__(self, at: int) -> SSAValue:
        """Return an operand as a tensor of the program."""
        return self.scope.tensor(self.needed(at))

    def tensors(self) -> list[SSAValue]:
        """Return all operands as tensors of the program."""
        return [self[i] for i in range(len(self.values))]

    def optional(self, at: int) -> SSAValue | None:
        """Return an operand as a tensor of the program, or None."""
        return self[at] if self.value(at) is not None else None

    def shape(self, at: int = 0) -> tuple[int, ...]:
        """Return the shape of an operand."""
        return self.needed(at).shape

    def rank(self, at: int = 0) -> int:
        """Return the rank of an operand."""
        return len(self.shape(at))

    @property
    def dtype(self) -> Dtype:
        """Element type of the first operand."""
        return self.needed(0).dtype

    def axis(self, default: int, name: str = "axis", at: int = 0) -> int:
        """Return an attribute that is a dimension, counted from the front."""
        rank, axis = self.rank(at), int(self.attribute(name, default))
        if not -rank <= axis < max(1, rank):
            refuse(f"has {name} = {axis} for a tensor of {rank} dimensions")
        return axis % max(1, rank)

    def known(self, at: int) -> Any:
        """Return the elements of an operand, or None without it.

        Raises:
            Refusal: They depend on data.
        """
        value = self.value(at)
        if value is None:
            return None
        if value.known is None:
            refuse(f"has operand {at} ({self.proto.input[at]!r}), which depends on data")
        return value.known

    def ints(self, name: str, at: int, since: int) -> list[int] | None:
        """Return integers: an attribute before an opset, an operand from it on."""
        if self.opset < since:
            found = self.attribute(name)
            return None if found is None else [int(one) for one in found]
        found = self.known(at)
        return None if found is None else [int(one) for one in found.reshape(-1)]

    def wants(self, at: int) -> bool:
        """Return whether somebody may read a result."""
        return at < len(self.proto.output) and bool(self.proto.output[at])

    @cached_property
    def results(self) -> list[Described]:
        """Shapes and element types that ONNX infers for the results."""
        from onnx import defs, helper, numpy_helper, shape_inference

        schema = defs.get_schema(self.proto.op_type, self.opset, self.proto.domain)
        types, data = {}, {}
        for name, value in zip(self.proto.input, self.values, strict=True):
            if value is None:
                continue
            types[name] = helper.make_tensor_type_proto(value.dtype.number, list(value.shape))
            if value.known is not None and value.known.size <= _INTEGERS:
                data[name] = numpy_helper.from_array(value.known, name)
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.imports.items()]
        found = shape_inference.infer_node_outputs(schema, self.proto, types, data, opset_imports=opsets)
        made = []
        for name in self.proto.output:
            if not name:
                continue
            type_ = found[name].tensor_type
            sizes = [one.dim_value if one.HasField("dim_value") else -1 for one in type_.shape.dim]
            if not type_.HasField("shape") or min(sizes, default=0) < 0:
                refuse(f"has a result {name!r} whose shape depends on data")
            made.append(Described(tuple(sizes), dtype_of(type_.elem_type)))
        return made

    @property
    def result(self) -> Described:
        """Shape and element type that ONNX infers for the first result."""
        return self.results[0]


Row: TypeAlias = Callable[[Scope, Node], Any]
"""Function that appends a node and returns its value or values."""
