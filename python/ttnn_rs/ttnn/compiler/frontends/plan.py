"""Compiled programs of the device.

A plan has one program, its borders, and parameters that stay on the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ttnn
from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.dialects.operations import plain
from ttnn.compiler.frontends.border import Border
from ttnn.compiler.frontends.disk_cache import cached
from ttnn.compiler.frontends.resident import Elements, Held
from ttnn.compiler.importers.builder.types import is_integer, is_signed, width_of
from ttnn.compiler.importers.stablehlo import read, to_ttir
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module, location_name
from ttnn.compiler.ir.xdsl_adapter import Attribute, DictionaryAttr, FuncOp, StringAttr
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers
from ttnn.compiler.runtime.prepared import prepared
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.version import NEWEST
from ttnn.compiler.versions import parse_module, print_module

__all__ = ["Plan", "compile_stablehlo", "compile_ttir"]

_PIPELINE = "ttir-to-ttnn-backend-pipeline"


class Plan:
    """A compiled function.

    Calls take arrays or tensors for all inputs that are not bound, and return arrays. Bound inputs are on the device
    already, in the form that the program asks for, and what depends on them only is computed once.

        plan = compile_stablehlo(text)
        plan.bind({1: weights}, device)
        (result,) = plan(x, device=device)

    Attributes:
        inputs: The arguments of the function.
        outputs: Its results.
        ttir: The text of its `ttir` program.
    """

    def __init__(self, module: Module, function: str | None = None, options: str = "") -> None:
        """Compile a function of a `ttir` module; the module is not changed.

        Args:
            module: The module.
            function: Name of the function; default: the only public one.
            options: Options of the pipeline, such as `enable-trace=true`.

        Raises:
            ParameterError: There is no such function, or several.
            CompileError: The program cannot be lowered.
            UnsupportedError: It runs on several devices, or has integers beyond 32 bits.
        """
        self.ttir = print_module(module)
        chosen = _chosen(module, function)
        self.name = chosen.sym_name.data
        attributes = chosen.arg_attrs.data if chosen.arg_attrs is not None else ()
        self.inputs = [
            _border(i, type_, attributes[i] if i < len(attributes) else None)
            for i, type_ in enumerate(chosen.function_type.inputs.data)
        ]
        self.outputs = [Border(f"output {i}", type_) for i, type_ in enumerate(chosen.function_type.outputs.data)]
        _check_constants(chosen)
        self.binary: Binary = cached(module, options, lambda: _binary(module, options))
        self._program: Program = next(one for one in programs(self.binary) if one.name == self.name)
        if self._program.mesh != (1, 1):
            mesh = "x".join(map(str, self._program.mesh))
            raise UnsupportedError(f"@{self.name} runs on a mesh of {mesh} devices; plans run on one.")
        self._bound: dict[int, Any] = {}
        self._constant = prepared(self._program).constant

    def bind(self, values: Mapping[int, Any], device: Any) -> None:
        """Move inputs to the device, where they stay until bound again.

        Args:
            values: An array, tensor or `Held` by number of the input.
            device: The device.

        Raises:
            ParameterError: There is no such input.
        """
        for number, value in values.items():
            if not 0 <= number < len(self.inputs):
                raise ParameterError(f"@{self.name} has {len(self.inputs)} inputs, got a value of input {number}.")
            held = value if isinstance(value, Held) else Elements(self.inputs[number], value)
            self._placed(number, held, device, Transfers())
            self._bound[number] = held

    def _placed(self, number: int, value: Any, device: Any, transfers: Transfers) -> Any:
        """Return an input as the executor takes it.

        Inputs that only constants are made of stay where they are.
        """
        if not isinstance(value, Held):
            return value if isinstance(value, ttnn.Tensor) else self.inputs[number].tensor(value)
        identity, want = self._program.inputs[number]
        return value if identity in self._constant else value.keep(want, device, transfers, self)

    def form(self, number: int) -> Description:
        """Return the form in which the program asks for an input."""
        return self._program.inputs[number][1]

    @property
    def bound(self) -> tuple[int, ...]:
        """Numbers of the inputs that are bound."""
        return tuple(sorted(self._bound))

    def run(self, values: Sequence[Any], device: Any, transfers: Transfers | None = None) -> list[Any]:
        """Return the results as tensors, where the program leaves them.

        Args:
            values: Arrays, tensors or `Held` of the inputs that are not bound, in order.
            device: The device.
            transfers: Counts copies and conversions.

        Raises:
            ParameterError: Another number of values.
        """
        count = len(self.inputs)
        if len(values) != count - len(self._bound):
            raise ParameterError(
                f"@{self.name} has {count} inputs, {len(self._bound)} of them bound: expected "
                f"{count - len(self._bound)} values, got {len(values)}."
            )
        counted = transfers if transfers is not None else Transfers()
        given: Sequence[Any] = values
        if self._bound:
            rest = iter(values)
            given = [self._bound[i] if i in self._bound else next(rest) for i in range(count)]
        tensors = [self._placed(i, value, device, counted) for i, value in enumerate(given)]
        return execute(self._program, tensors, device, counted)

    def __call__(self, *values: Any, device: Any) -> list[Any]:
        """Return the results as arrays with the elements of the framework."""
        results = self.run(values, device)
        return [border.array(one) for border, one in zip(self.outputs, results, strict=True)]

    def describe(self) -> str:
        """Return the borders and the segments of the plan, one a line."""
        lines = [f"plan of @{self.name}", *(f"  {one}" for one in self.inputs)]
        lines.append(f"  segment 0: program of the device, {len(self._program.calls)} calls")
        return "\n".join([*lines, *(f"  {one}" for one in self.outputs)])


def _chosen(module: Module, name: str | None) -> FuncOp:
    found = {one.sym_name.data: one for one in module.functions()}
    public = [key for key, one in found.items() if one.sym_visibility is None or one.sym_visibility.data == "public"]
    if name is None and len(public) == 1:
        name = public[0]
    if name is None or name not in found:
        raise ParameterError(f"expected the name of a function, one of {', '.join(public)}; got {name!r}.")
    return found[name]


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


def compile_stablehlo(source: Any, function: str | None = None, options: str = "") -> Plan:
    """Return the plan of a function of a StableHLO program.

    Args:
        source: Text, bytecode, a portable artifact, or a module of jaxlib.
        function: Name of the function; default: the only public one.
        options: Options of the pipeline.

    Raises:
        CompileError: The program is wrong.
        UnsupportedError: Operations cannot be imported: all of them.
    """
    module = read(source)
    to_ttir(module)
    return Plan(module, function, options)


def compile_ttir(text: str, function: str | None = None, options: str = "") -> Plan:
    """Return the plan of a function of a `ttir` program.

    Args:
        text: The program.
        function: Name of the function; default: the only public one.
        options: Options of the pipeline.

    Raises:
        CompileError: The program is wrong.
    """
    return Plan(parse_module(text, version=NEWEST), function, options)
