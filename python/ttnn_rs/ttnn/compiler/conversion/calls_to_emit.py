"""Conversion of calls to emitted functions: shared code for Python and C++."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from ttnn.base.exceptions import FileFormatError
from ttnn.compiler.conversion.ttnn_to_calls.calls import (
    CACHED,
    PROGRAM,
    TRACE,
    Call,
    DeviceArgument,
    New,
    Ref,
    kept_by_traces,
    needs_device,
    references,
)
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.ir.opaque import opaque
from ttnn.compiler.ir.target_text import is_cpp_identifier, is_python_identifier
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    IndexType,
    IntegerAttr,
    SSAValue,
    StringAttr,
)
from ttnn.compiler.version import Version

__all__ = ["Builder", "identifiers"]

#: Functions whose result may be their argument, or share its memory: the argument must live as long as the result.
_SHARING: Final = {
    "ttnn.to_layout",
    "ttnn.to_device",
    "ttnn.from_device",
    "ttnn.to_memory_config",
    "ttnn.typecast",
    "ttnn.reshape",
    "ttnn.squeeze",
    "ttnn.unsqueeze",
    "ttnn.concat",
    "ttnn.slice",
    "ttnn.permute",
    "ttnn.transpose",
    "ttnn.pad",
    "ttnn.repeat",
}
#: Names that emitted source uses for something else: variables, modules, and the builtins that it calls.
_RESERVED: Final = re.compile(r"(v|v_|var_|input_)\d+|main|ttnn|std|input|inputs|device|all|dict|float|zip")


def _identifier(name: str, taken: set[str]) -> str:
    """Return a unique identifier for the name of a function."""
    text = name if is_python_identifier(name) and name.isascii() else re.sub(r"\W", "_", name, flags=re.ASCII)
    text = text or "program"
    if not (is_python_identifier(text) and is_cpp_identifier(text)) or _RESERVED.fullmatch(text):
        text = f"f_{text}"
    # The functions that make and load inputs are named after it.
    while taken.intersection(names := (text, *(f"{verb}_inputs_for_{text}" for verb in ("create", "load")))):
        text += "_"
    taken.update(names)
    return text


def identifiers(programs: Sequence[Program], taken: set[str] | None = None) -> list[str]:
    """Return a unique function name for each program."""
    known = set() if taken is None else set(taken)
    return [_identifier(program.name, known) for program in programs]


def _last_uses(program: Program) -> dict[int, list[int]]:
    """Return the tensors that are freed after each call, by its number."""
    kept = {number for number, _ in (*program.inputs, *program.outputs)} | kept_by_traces(program.calls)
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, call in enumerate(program.calls):
        for number in references([call.arguments, call.keywords]):
            last[number] = index
            if call.function in _SHARING or call.function == "ttnn.deallocate":
                kept.add(number)
        # The result is this tensor.
        kept.update(references(call.keywords.get("output_tensor")))
        for number in call.outputs:
            if number in made:
                kept.add(number)
            made[number] = index
    freed: dict[int, list[int]] = {}
    for number, index in last.items():
        if number in made and number not in kept and program.calls[index].function not in _SHARING:
            freed.setdefault(index, []).append(number)
    return freed


class Builder(ABC):
    """Statements that make the calls of a program, added to a block.

    Args:
        version: Version of the operations.
        block: Receives the statements.
        names: Functions of all programs.

    Attributes:
        tensors: Values of the tensors of the program, by number.
        keywords: Arguments have keywords; without them they are comments.
        list_callee: Name whose call is a list of tensors.
    """

    dialect: ClassVar[str]
    keywords: ClassVar[bool]
    list_callee: ClassVar[str]
    tensor_type: ClassVar[Attribute]
    list_type: ClassVar[Attribute]
    object_type: ClassVar[Attribute]

    def __init__(self, version: Version, block: Block, names: Sequence[str] = ()) -> None:
        self._version = version
        self._names = names
        self.block = block
        self.tensors: dict[int, SSAValue] = {}

    @staticmethod
    @abstractmethod
    def literal(argument: Any) -> str:
        """Return an argument without tensors in the language."""

    @staticmethod
    @abstractmethod
    def callee(path: str) -> str:
        """Return a public name in the language."""

    @abstractmethod
    def device(self) -> SSAValue:
        """Return the device."""

    @abstractmethod
    def element(self, values: SSAValue, index: int) -> SSAValue:
        """Return an element of a list of tensors."""

    @abstractmethod
    def inner_call(self, call: Call) -> list[SSAValue]:
        """Add a call of another program, and return its results."""

    def add(
        self,
        name: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        properties: Mapping[str, Attribute],
        attributes: dict[str, Attribute] | None = None,
    ) -> TableOp:
        """Add an operation of the dialect."""
        name = f"{self.dialect}.{name}"
        op = make(name, self._version, operands, types, properties, attributes=attributes or {})
        self.block.add_op(op)
        return op

    def opaque_call(
        self, callee: str, operands: Sequence[SSAValue], types: Sequence[Attribute] = (), **more: Attribute
    ) -> Sequence[SSAValue]:
        """Add a call of a function of the language; return the results."""
        return tuple(self.add("call_opaque", operands, types, {"callee": StringAttr(callee), **more}).results)

    def written(self, text: str, kind: Attribute) -> SSAValue:
        """Return a value that is written as text at its uses."""
        value: SSAValue = self.add("literal", [], [kind], {"value": StringAttr(text)}).results[0]
        return value

    def listed(self, values: Sequence[SSAValue]) -> SSAValue:
        """Return a list of values."""
        return self.opaque_call(self.list_callee, values, [self.list_type])[0]

    def call(
        self, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], types: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """Add a call of a public function; return the results.

        Arguments with tensors or the device are operands, the others are attributes.
        """
        operands: list[SSAValue] = []
        order: list[Attribute] = []
        words = [*("" for _ in arguments), *keywords]
        for word, argument in zip(words, (*arguments, *keywords.values()), strict=True):
            value = self.value(argument)
            if value is None:
                note = f"/*{word}=*/" if word and not self.keywords else ""
                order.append(opaque(self.dialect, note + self.literal(argument)))
            else:
                order.append(IntegerAttr(len(operands), IndexType()))
                operands.append(value)
        named = self.keywords and any(words)
        properties: dict[str, Attribute] = {}
        if named or len(order) != len(operands):
            properties["args"] = ArrayAttr(order)
            properties |= {"keyword_args": ArrayAttr([StringAttr(word) for word in words])} if self.keywords else {}
        return self.opaque_call(self.callee(path), operands, types, **properties)

    def value(self, argument: Any) -> SSAValue | None:
        """Return the value of an argument; None without tensors and device."""
        if isinstance(argument, Ref):
            return self.tensors[argument.id]
        if isinstance(argument, DeviceArgument):
            return self.device()
        if not needs_device(argument) and not any(True for _ in references(argument)):
            return None
        if isinstance(argument, New):
            (made,) = self.call(argument.path, argument.arguments, dict(argument.keywords), [self.object_type])
            return made
        return self.listed([self.value(one) or self.written(self.literal(one), self.object_type) for one in argument])

    def function_of(self, number: int) -> str:
        """Return the name of the function of a program.

        Raises:
            FileFormatError: The binary has no such program.
        """
        if not 0 <= number < len(self._names):
            raise FileFormatError(f"program {number} is called; the binary has {len(self._names)}.")
        return self._names[number]

    def statements(self, program: Program) -> list[SSAValue]:
        """Add the calls of a program; return the values of its outputs."""
        freed = _last_uses(program)
        kept = {number for number, _ in program.inputs} | kept_by_traces(program.calls)
        for index, call in enumerate(program.calls):
            if call.function == "ttnn.deallocate" and call.arguments[0].id in kept:
                # Inputs belong to the caller.
                continue
            finished = [self.tensors[number] for number in freed.get(index, [])]
            results = self._results(call)
            self.tensors |= dict(zip(call.outputs, results, strict=True))
            for value in finished:
                self.opaque_call(self.callee("ttnn.deallocate"), [value])
        return [self.tensors[number] for number, _ in program.outputs]

    def _results(self, call: Call) -> Sequence[SSAValue]:
        if call.function in (PROGRAM, CACHED, TRACE):
            return self.inner_call(call)
        if call.returns is None:
            return self.call(call.function, call.arguments, call.keywords, [self.tensor_type] * len(call.outputs))
        (made,) = self.call(call.function, call.arguments, call.keywords, [self.list_type])
        return [self.element(made, index) for index in call.returns]
