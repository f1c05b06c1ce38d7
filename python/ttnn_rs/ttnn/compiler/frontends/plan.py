"""Compiled functions: their parts, borders, and parameters on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ttnn
from ttnn.base.exceptions import ParameterError
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.frontends.device_program import DeviceProgram, borders
from ttnn.compiler.frontends.host import islands_allowed
from ttnn.compiler.frontends.partition import Cut, partition
from ttnn.compiler.frontends.resident import Elements, Held
from ttnn.compiler.frontends.segments import Branch, Host, Loop, Segment
from ttnn.compiler.importers.stablehlo import UNROLLED, read, to_ttir
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import FuncOp
from ttnn.compiler.runtime.place import Transfers
from ttnn.compiler.runtime.predict import PredictedRow, predicted_rows, total
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.version import NEWEST
from ttnn.compiler.versions import parse_module, print_module
from ttnn.device.mesh_device import open_devices

__all__ = ["Plan", "compile_stablehlo", "compile_ttir"]


class Plan:
    """A compiled function.

    Calls take arrays or tensors for all inputs that are not bound, and return arrays. Bound inputs are on the device
    already, in the form that the program asks for, and what depends on them only is computed once.

        plan = compile_stablehlo(text)
        plan.bind({1: weights}, device)
        (result,) = plan(x, device=device)

    Most plans are one program of the device. Operations that only the host has, loops whose number of rounds depends on
    data, and branches are segments between such programs.

    Attributes:
        name: Name of the function.
        inputs: The arguments of the function.
        outputs: Its results.
        ttir: The text of its `ttir` program.
        segments: What runs, in order.
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
            UnsupportedError: It has integers beyond 32 bits.
        """
        self.ttir = print_module(module)
        chosen = _chosen(module, function)
        self.name = chosen.sym_name.data
        self.inputs, self.outputs = borders(chosen)
        self.segments: list[Segment] = []
        # None for a plan that is one program.
        self._cuts: list[Cut] | None = None
        self._results: list[int] = []
        found = partition(module, chosen)
        if found is None:
            self.segments.append(DeviceProgram(module, chosen, options))
        else:
            self._cuts, self._results = found
            self.segments += [_segment(cut, module, options) for cut in self._cuts]
        self._bound: dict[int, Held] = {}

    @property
    def programs(self) -> list[DeviceProgram]:
        """The programs of the device, those in loops and branches too."""
        found: list[DeviceProgram] = []
        for one in self.segments:
            if isinstance(one, DeviceProgram):
                found.append(one)
            else:
                found += [program for plan in one.plans for program in plan.programs]
        return found

    @property
    def islands(self) -> list[str]:
        """Operations of the host, one entry each."""
        found = []
        for one in self.segments:
            if isinstance(one, Host):
                found.append(str(one))
            elif not isinstance(one, DeviceProgram):
                found += [text for plan in one.plans for text in plan.islands]
        return found

    @property
    def only(self) -> DeviceProgram:
        """Return the program of a plan that has no other parts.

        Raises:
            ParameterError: It has several.
        """
        (*others, first) = self.segments
        if others or not isinstance(first, DeviceProgram):
            raise ParameterError(f"@{self.name} has {len(self.segments)} segments; a single program is expected.")
        return first

    @property
    def binary(self) -> Binary:
        """The binary of a plan that is one program.

        Raises:
            ParameterError: It has several.
        """
        return self.only.binary

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
            if self._cuts is None:
                self.only.place(number, held, device, Transfers())
            for cut, segment in zip(self._cuts or (), self.segments, strict=False):
                if isinstance(segment, DeviceProgram) and number in cut.reads:
                    segment.place(cut.reads.index(number), held, device, Transfers())
            self._bound[number] = held

    def form(self, number: int) -> Description:
        """Return the form in which the program asks for an input."""
        return self.only.form(number)

    @property
    def bound(self) -> tuple[int, ...]:
        """Numbers of the inputs that are bound."""
        return tuple(sorted(self._bound))

    @property
    def writes(self) -> frozenset[int]:
        """Numbers of the inputs that it changes in place, such as caches."""
        if self._cuts is None:
            return self.only.writes
        found: set[int] = set()
        for cut, segment in zip(self._cuts, self.segments, strict=True):
            if isinstance(segment, DeviceProgram):
                found.update(cut.reads[i] for i in segment.writes)
        return frozenset(one for one in found if one < len(self.inputs))

    def run(
        self,
        values: Sequence[Any],
        device: Any,
        transfers: Transfers | None = None,
        given: frozenset[int] = frozenset(),
    ) -> list[Any]:
        """Return the results as tensors, where the program leaves them.

        Args:
            values: Arrays, tensors or `Held` of the inputs that are not bound, in order.
            device: The device.
            transfers: Counts copies and conversions.
            given: Numbers of the inputs that may be changed: nobody reads them afterwards. What a plan changes
                otherwise is a copy, on the device.

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
        everything: Sequence[Any] = values
        if self._bound:
            rest = iter(values)
            everything = [self._bound[i] if i in self._bound else next(rest) for i in range(count)]
            given -= set(self._bound)
        if self._cuts is None:
            return self.only.run(everything, device, counted, given)
        return self._run_segments(self._cuts, everything, device, counted, given)

    def _run_segments(
        self, cuts: list[Cut], values: Sequence[Any], device: Any, transfers: Transfers, given: frozenset[int]
    ) -> list[Any]:
        known: dict[int, Any] = {}
        for number, (value, border) in enumerate(zip(values, self.inputs, strict=True)):
            # Several segments may read one: it is copied to the device once.
            known[number] = value if isinstance(value, Held) else Elements(border, value)
        last = {number: at for at, cut in enumerate(cuts) for number in cut.reads}
        for at, (cut, segment) in enumerate(zip(cuts, self.segments, strict=True)):
            read = [known[number] for number in cut.reads]
            if isinstance(segment, DeviceProgram):
                own = frozenset(i for i, number in enumerate(cut.reads) if number in given and last[number] == at)
                results = segment.run(read, device, transfers, own)
            else:
                results = segment.run(read, device, transfers)
            known.update(zip(cut.writes, results, strict=True))
            for number in {*cut.reads, *cut.writes}:
                if last.get(number, -1) <= at and number not in self._results:
                    del known[number]
        results = []
        for number, border in zip(self._results, self.outputs, strict=True):
            value = known[number]
            if isinstance(value, Held):
                value = value.origin if value.origin is not None else value.host()
            results.append(border.tensor(value))
        return results

    def __call__(self, *values: Any, device: Any) -> list[Any]:
        """Return the results as arrays with the elements of the framework."""
        results = self.run(values, device)
        return [border.array(one) for border, one in zip(self.outputs, results, strict=True)]

    def predicted_rows(self, device: Any = None) -> list[PredictedRow]:
        """Return the device operations of the plan with predicted times.

        Nothing runs. A loop counts the rounds of its last run, at least one; a branch counts its longest plan.

        Args:
            device: The device; default: the default one, or the first that is open.

        Raises:
            ParameterError: No device is open.
            UnsupportedError: The time of an operation is not known.
        """
        where = device if device is not None else _open_device()
        rows: list[PredictedRow] = []
        for one in self.segments:
            if isinstance(one, DeviceProgram):
                rows += predicted_rows(one.program, where)
            else:
                rows += one.predicted_rows(where)
        return rows

    def predicted_ns(self, device: Any = None) -> float:
        """Return the predicted time of a run on the chip, in nanoseconds.

        Transfers are not part of it, nor the constants that the first run computes, nor the gaps between operations.

        Args:
            device: As of `predicted_rows`.

        Raises:
            ParameterError: No device is open.
            UnsupportedError: The time of an operation is not known.
        """
        return total(self.predicted_rows(device))

    def python(self) -> str:
        """Return the program as Python source that calls `ttnn`.

        It has the same bits and times.

        Raises:
            ParameterError: The plan has several segments.
        """
        return emitpy_source(emitpy_module(self.only.program.all))

    def describe(self) -> str:
        """Return the borders and the segments of the plan, one a line."""
        lines = [f"plan of @{self.name}", *(f"  {one}" for one in self.inputs)]
        for number, segment in enumerate(self.segments):
            lines.append(f"  segment {number}: {segment}")
            if not isinstance(segment, DeviceProgram):
                lines += [f"    {line}" for plan in segment.plans for line in plan.describe().splitlines()]
        return "\n".join([*lines, *(f"  {one}" for one in self.outputs)])


def _open_device() -> Any:
    """Return the default device, or the first that is open."""
    default = ttnn.GetDefaultDevice()
    for device in (default, *open_devices.values()):
        if device is not None and device.is_open:
            return device
    raise ParameterError("predicted times need a device: open one, or pass it.")


def _segment(cut: Cut, module: Module, options: str) -> Segment:
    """Return a part of a function, compiled."""
    if cut.program is not None:
        return DeviceProgram(cut.program, cut.program.functions()[0], options)
    assert cut.part is not None
    assert cut.call is not None
    if cut.part.kind == "host":
        return Host(cut.part, cut.call)
    plans = [Plan(module, name, options) for name in cut.part.functions]
    return Loop(plans[0], plans[1]) if cut.part.kind == "loop" else Branch(plans, cut.call)


def _chosen(module: Module, name: str | None) -> FuncOp:
    found = {one.sym_name.data: one for one in module.functions()}
    public = [key for key, one in found.items() if one.sym_visibility is None or one.sym_visibility.data == "public"]
    if name is None and len(public) == 1:
        name = public[0]
    if name is None or name not in found:
        raise ParameterError(f"expected the name of a function, one of {', '.join(public)}; got {name!r}.")
    return found[name]


def compile_stablehlo(source: Any, function: str | None = None, options: str = "", unrolled: int = UNROLLED) -> Plan:
    """Return the plan of a function of a StableHLO program.

    Args:
        source: Text, bytecode, a portable artifact, or a module of jaxlib.
        function: Name of the function; default: the only public one.
        options: Options of the pipeline.
        unrolled: Most operations of a loop of a constant number of rounds that is written out.

    Raises:
        CompileError: The program is wrong.
        UnsupportedError: Operations cannot be imported: all of them.
    """
    module = read(source)
    to_ttir(module, segments=True, islands=islands_allowed(), limit=unrolled)
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
