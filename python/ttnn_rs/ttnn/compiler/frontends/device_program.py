"""Programs of the device, compiled from functions of `ttir`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import ttnn
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import PROGRAM, references
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.dialects.operations import plain
from ttnn.compiler.frontends.border import Border
from ttnn.compiler.frontends.disk_cache import cached
from ttnn.compiler.frontends.resident import Held
from ttnn.compiler.importers.builder.types import is_integer, is_signed, width_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module, location_name
from ttnn.compiler.ir.xdsl_adapter import Attribute, DictionaryAttr, FuncOp, StringAttr
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers, place
from ttnn.compiler.runtime.prepared import prepared
from ttnn.compiler.target.flatbuffer.binary import Binary

__all__ = ["DeviceProgram", "borders"]

_PIPELINE: Final = "ttir-to-ttnn-backend-pipeline"


class DeviceProgram:
    """A program of the device.

    Attributes:
        inputs: The arguments of the function.
        outputs: Its results.
        binary: The binary that it is in.
        program: The program.
        writes: Numbers of the inputs that it changes in place.
    """

    def __init__(self, module: Module, function: FuncOp, options: str) -> None:
        """Compile a function of a `ttir` module; the module is not changed.

        Args:
            module: The module.
            function: The function.
            options: Options of the pipeline.

        Raises:
            CompileError: The program cannot be lowered.
            UnsupportedError: It has integers beyond 32 bits.
        """
        name = function.sym_name.data
        self.inputs, self.outputs = borders(function)
        _check_constants(function)
        self.binary: Binary = cached(module, options, lambda: _binary(module, options))
        self.program: Program = next(one for one in programs(self.binary) if one.name == name)
        self._constant = prepared(self.program).constant
        self.writes = frozenset(_written(self.program))

    def __str__(self) -> str:
        return f"program of the device, {len(self.program.calls)} calls"

    def form(self, number: int) -> Description:
        """Return the form in which the program asks for an input."""
        return self.program.inputs[number][1]

    def place(self, number: int, value: Any, device: Any, transfers: Transfers) -> Any:
        """Return an input as the executor takes it.

        Inputs that only constants are made of stay where they are.
        """
        if not isinstance(value, Held):
            return value if isinstance(value, ttnn.Tensor) else self.inputs[number].tensor(value)
        identity, want = self.program.inputs[number]
        return value if identity in self._constant else value.keep(want, device, transfers, self)

    def run(
        self, values: Sequence[Any], device: Any, transfers: Transfers, given: frozenset[int] = frozenset()
    ) -> list[Any]:
        """Return the results as tensors, where the program leaves them.

        Args:
            values: Arrays, tensors or `Held`.
            device: The device.
            transfers: Counts copies and conversions.
            given: Numbers of the inputs that the program may change; others are copied on the device if it would.
        """
        tensors = [self.place(i, value, device, transfers) for i, value in enumerate(values)]
        for number in self.writes - given:
            own = place(tensors[number], self.form(number), device, transfers)
            tensors[number] = ttnn.clone(own) if own is tensors[number] else own
        return execute(self.program, tensors, device, transfers)


_IN_PLACE: Final = frozenset(
    {
        "ttnn.fill_cache",
        "ttnn.update_cache",
        "ttnn.experimental.paged_fill_cache",
        "ttnn.experimental.paged_update_cache",
    }
)
"""Functions that change their first argument."""


def _written(program: Program, depth: int = 0) -> set[int]:
    """Return the numbers of the inputs that a program changes.

    Programs that it calls may do so.
    """
    numbers = {identity: number for number, (identity, _) in enumerate(program.inputs)}
    found: set[int] = set()
    for call in program.calls:
        if call.function in _IN_PLACE:
            found.update(numbers[one] for one in references(call.arguments[:1]) if one in numbers)
        elif call.function == PROGRAM and depth < _DEPTH:
            inner = _written(program.all[call.arguments[0]], depth + 1)
            passed = list(references(call.arguments[1]))
            found.update(numbers[passed[i]] for i in inner if passed[i] in numbers)
    return found


_DEPTH: Final = 8


def borders(function: FuncOp) -> tuple[list[Border], list[Border]]:
    """Return the inputs and outputs of a function."""
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    inputs = [
        _border(i, type_, attributes[i] if i < len(attributes) else None)
        for i, type_ in enumerate(function.function_type.inputs.data)
    ]
    return inputs, [Border(f"output {i}", type_) for i, type_ in enumerate(function.function_type.outputs.data)]


def _binary(module: Module, options: str) -> Binary:
    """Return the binary of a module; the module is not changed."""
    lowered = Module(module.op.clone(), module.version, module.filename, dict(module.resources))
    run(lowered, f"{_PIPELINE}{{{options}}}" if options else _PIPELINE)
    return ttnn_to_binary(lowered, "0.1.0")


def _check_constants(function: FuncOp) -> None:
    """Refuse constants that the device cannot hold.

    Raises:
        UnsupportedError: An integer does not fit 32 bits.
    """
    import numpy as np

    for op in function.walk():
        value = op.properties.get("value")
        if op.name != "ttir.constant" or not isinstance(value, DenseAttr):
            continue
        if not is_integer(value.element_type) or width_of(value.element_type) <= 32:
            continue
        limits = np.iinfo(np.int32 if is_signed(value.element_type) else np.uint32)
        elements = value.elements()
        wrong = elements[(elements < limits.min) | (elements > limits.max)]
        if wrong.size:
            where = location_name(op) or "an unknown place"
            raise UnsupportedError(
                f"constant {wrong[0]} at {where} does not fit 32 bits, which the device has at most."
            )


def _border(number: int, type_: Attribute, attributes: Attribute | None) -> Border:
    entries = attributes.data if isinstance(attributes, DictionaryAttr) else {}
    name, kind = entries.get("ttir.name"), entries.get("ttcore.argument_type")
    text = f"argument {number}" if not isinstance(name, StringAttr) else f"argument {name.data!r}"
    return Border(text, type_, str(plain(kind)) if kind is not None else "input")
