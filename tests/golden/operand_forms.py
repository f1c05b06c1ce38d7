"""Operator calls with each operand in other layouts and memory configs.

Results of two forms of an operand have the same values, or a call is refused with an error of ours, or the steps of the
two programs differ in their arithmetic: `op_programs` compares them as it compares recorded programs with ours.

    python tests/golden/operand_forms.py [PATTERN] [--refusals]
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from op_programs import Steps, first_difference
from program_forms import normal_steps

import ttnn
from testkit import every_place
from testkit.reference_calls import TENSORS, callable_of
from testkit.signature_calls import GIVEN, calls, first_dtype
from ttnn.base.exceptions import DeviceError, EngineBugError, TtnnError
from ttnn.base.observers import OBSERVERS
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED

_INTERLEAVED: Final = {"interleaved DRAM": ttnn.DRAM_MEMORY_CONFIG, "interleaved L1": ttnn.L1_MEMORY_CONFIG}
_CUTS: Final = {"height": (1, 6), "width": (6, 1), "block": (3, 2)}
"""Number of shards across and down."""
_LAYOUTS: Final = {
    "tiles": (ttnn.TILE_LAYOUT, 32),
    "rows": (ttnn.ROW_MAJOR_LAYOUT, 32),
    "few rows": (ttnn.ROW_MAJOR_LAYOUT, 1),
}
"""Layouts, and of what the sides of their shards are multiples."""
FORMS: Final = (
    *(f"{layout}, {place}" for layout in ("tiles", "rows") for place in (*_INTERLEAVED, *_CUTS, "nd")),
    *(f"few rows, {cut}" for cut in _CUTS),
)
_BLOCK_FLOATS: Final = (ttnn.bfloat8_b, ttnn.bfloat4_b)
SHAPES: Final = ((33, 65), (2, 40, 96))
UNDEFINED: Final = ("empty_like",)
"""Operators whose results have no defined values."""
DTYPES: Final = (ttnn.bfloat16, ttnn.float32, ttnn.int32, ttnn.bfloat8_b)


class Operand(NamedTuple):
    """A tensor argument: its values on the host, and where they go."""

    host: ttnn.Tensor
    config: ttnn.MemoryConfig

    def on(self, device: ttnn.MeshDevice, form: str | None) -> ttnn.Tensor:
        """Return the tensor on the device, in a form if given."""
        if form is None:
            return self.host.to(device, self.config)
        name, _, where = form.partition(", ")
        layout, unit = _LAYOUTS[name]
        return self.host.to(layout).to(device, _memory_config(where, tuple(self.host.shape), unit))


def _memory_config(where: str, shape: tuple[int, ...], unit: int) -> ttnn.MemoryConfig:
    """Return a memory config with as many shards as the shape needs."""
    if where in _INTERLEAVED:
        return _INTERLEAVED[where]
    *leading, height, width = (1, 1, *shape)[-max(2, len(shape)) :]
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((1, 2), (3, 3))])
    rows, columns = -(-height // unit), -(-width // unit)
    if where == "nd":
        # Of every matrix, one row of tiles or one row, cut in two.
        shard = (*(1 for _ in leading), unit, -(-columns // 2) * unit)[-max(1, len(shape)) :]
        return ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec(shard, cores))
    across, down = _CUTS[where]
    shard = (max(1, -(-math.prod(leading) * rows // down)) * unit, max(1, -(-columns // across)) * unit)
    scheme = ttnn.TensorMemoryLayout[f"{where.upper()}_SHARDED"]
    spec = ttnn.ShardSpec(cores, shard, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(scheme, ttnn.BufferType.L1, spec)


def _taken(value: Any, operands: list[Operand]) -> Any:
    """Return an argument without tensors, which are added to `operands`."""
    if isinstance(value, ttnn.Tensor) and value.storage_type() is ttnn.StorageType.DEVICE:
        operands.append(Operand(value.cpu(), value.memory_config()))
        return _Number(len(operands) - 1)
    if isinstance(value, ttnn.ComplexTensor):
        return (ttnn.ComplexTensor, _taken(value.real, operands), _taken(value.imag, operands))
    if isinstance(value, list | tuple):
        return type(value)(_taken(item, operands) for item in value)
    return value


@dataclass(frozen=True)
class _Number:
    index: int


def _given(value: Any, tensors: list[ttnn.Tensor]) -> Any:
    if isinstance(value, _Number):
        return tensors[value.index]
    if isinstance(value, tuple) and value and value[0] is ttnn.ComplexTensor:
        return ttnn.complex_tensor(*(_given(part, tensors) for part in value[1:]))
    if isinstance(value, list | tuple):
        return type(value)(_given(item, tensors) for item in value)
    return value


def values_of(result: Any) -> Any:
    """Return the values, data types and shapes of a result."""
    if isinstance(result, list | tuple):
        return [values_of(item) for item in result]
    if isinstance(result, ttnn.ComplexTensor):
        return [values_of(result.real), values_of(result.imag)]
    if not isinstance(result, ttnn.Tensor):
        return result
    return (result.dtype.name, tuple(result.shape), np.ascontiguousarray(result.to_numpy()).tobytes())


@dataclass
class Ends:
    """Outcomes of calls.

    Attributes:
        counts: Their number by kind.
        failures: What is wrong.
        other: Pairs whose programs differ in their arithmetic: the first differing field.
        refusals: Errors of refused calls.
        operators: Those of which a call has a result.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    other: dict[str, str] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    operators: set[str] = field(default_factory=set)


class _Details(Steps):
    """Also collects what decides the order of additions in a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.details: list[Any] = []

    def step(self, function: str, settings: dict[str, Any]) -> None:
        super().step(function, settings)
        if function == "pipeline":
            program = self._noted[-1]
            self.details += [[one[name] for name in _OF_A_PASS] for one in program._passes]
        elif function == "group_norm":
            self.details.append([settings[name] for name in ("blocks", "adds_tiles", "local", "across")])


_OF_A_PASS: Final = ("load", "parts", "eltwise", "function", "scaler", "factors", "chain", "format")


class Forms:
    """One call, whose operands are made anew for each run."""

    def __init__(
        self,
        operation: Callable[..., Any],
        positional: Sequence[Any],
        keywords: dict[str, Any],
        device: ttnn.MeshDevice,
    ) -> None:
        self.operands: list[Operand] = []
        self._operation, self._device = operation, device
        self._positional = [_taken(value, self.operands) for value in positional]
        self._keywords = {name: _taken(value, self.operands) for name, value in keywords.items()}

    def exist(self, forms: dict[int, str]) -> bool:
        """Return whether operands have these forms: shards may not fit."""
        try:
            for index, form in forms.items():
                self.operands[index].on(self._device, form)
        except TtnnError:
            return False
        return True

    def run(self, forms: dict[int, str], steps: Steps | None = None) -> Any:
        """Return the result with some operands in forms; `steps` observes the call."""
        tensors = [operand.on(self._device, forms.get(i)) for i, operand in enumerate(self.operands)]
        positional = [_given(value, tensors) for value in self._positional]
        keywords = {name: _given(value, tensors) for name, value in self._keywords.items()}
        if steps is not None:
            OBSERVERS.append(steps)
        try:
            return self._operation(*positional, **keywords)
        finally:
            if steps is not None:
                OBSERVERS.remove(steps)

    def difference(self, first: dict[int, str], second: dict[int, str]) -> str:
        """Return the field in which the arithmetic of two calls differs."""
        found = []
        for forms in (first, second):
            steps = _Details()
            self.run(forms, steps)
            found.append((normal_steps(steps.found), steps.details))
        (steps, details), (other_steps, other_details) = found
        return first_difference(steps, other_steps) or ("order of additions" if details != other_details else "")

    def forms(self) -> Iterator[tuple[str, dict[int, str]]]:
        """Yield the forms of one operand, and those of all."""
        everything = range(len(self.operands))
        for which in [*([index] for index in everything), *([everything] if len(everything) > 1 else [])]:
            for form in FORMS:
                if form.startswith("tiles") or not any(self.operands[i].host.dtype in _BLOCK_FLOATS for i in which):
                    label = "operands" if which is everything else f"operand {which[0]}"
                    yield f"{label} in {form}", dict.fromkeys(which, form)


def with_operands(entry: registry.Op) -> bool:
    """Return whether calls of an operator have tensors."""
    return any(
        param.kind.text in ("ttnn.Tensor", "ttnn.ComplexTensor", TENSORS)
        for signature in entry.signatures
        for param in signature.params
        if param.default is REQUIRED or (entry.name, param.name) in GIVEN
    )


def dtypes_of(entry: registry.Op) -> list[ttnn.DataType]:
    """Return the data types of an operator's calls."""
    return list(dict.fromkeys((first_dtype(entry), *(dtype for dtype in DTYPES if dtype in entry.dtypes))))


def calls_of(entry: registry.Op, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> Iterator[tuple[str, Forms]]:
    """Yield a call for each signature."""
    for number, call in enumerate(calls(entry, device, dtype)):
        yield f"{entry.name} {dtype.name} {number}", Forms(call.operation, (), call.arguments, device)


def calls_of_shape(
    entry: registry.Op, dtype: ttnn.DataType, shape: tuple[int, ...], device: ttnn.MeshDevice
) -> Iterator[tuple[str, Forms]]:
    """Yield a call of a shape that is no multiple of tiles."""
    layout = ttnn.TILE_LAYOUT if ttnn.TILE_LAYOUT in entry.layouts else ttnn.ROW_MAJOR_LAYOUT
    case = every_place.Case(entry, dtype, layout, shape)
    for number, one in every_place.sample(str(case), 1, [*enumerate(every_place.calls_of(case, device))]):
        values = [_built(value) for value in one.positional]
        keywords = {name: _built(value) for name, value in one.keywords}
        yield f"{case} {number}", Forms(callable_of(entry), values, keywords, device)


def _built(value: Any) -> Any:
    return value.build(ttnn.DRAM_MEMORY_CONFIG) if isinstance(value, every_place.Slot) else value


def check(one: Forms, entry: registry.Op, title: str, ends: Ends) -> None:
    """Compare a call in all forms of its operands."""
    known: list[tuple[dict[int, str], Any]] = []
    for label, forms in [("as made", {}), *one.forms()] if one.operands else []:
        what = f"{title}: {label}"
        if not one.exist(forms):
            ends.counts["no such form"] += 1
            continue
        try:
            found = values_of(one.run(forms))
        except Exception as error:
            if isinstance(error, TtnnError) and not isinstance(error, EngineBugError | DeviceError):
                ends.counts["refused"] += 1
                ends.refusals.append(f"{what}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
            else:
                ends.failures.append(f"{what}: {error!r}")
            continue
        ends.operators.add(entry.name)
        equal = [index for index, (_, values) in enumerate(known) if values == found]
        if equal or not known:
            ends.counts["other arithmetic" if any(equal) else "equal"] += 1
            if not known:
                known.append((forms, found))
            continue
        differences = [one.difference(others, forms) for others, _ in known]
        if all(differences):
            ends.counts["other arithmetic"] += 1
            ends.other[what] = differences[0]
            known.append((forms, found))
        else:
            ends.failures.append(f"{what}: other values, but the steps are equal")


def main() -> int:
    """Run calls of every data type and shape; print their outcomes."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="regular expression for operators")
    parser.add_argument("--refusals", action="store_true", help="print the errors of refused calls")
    options = parser.parse_args()
    ends, start = Ends(), time.perf_counter()
    for entry in registry.entries():
        if not (re.search(options.pattern, entry.name) and with_operands(entry)) or entry.name in UNDEFINED:
            continue
        chip = "p150" if entry.only_on is ttnn.Arch.BLACKHOLE else "n150"
        before = len(ends.failures)
        with ttnn.manage_device(device_id=0, chip=chip) as device:
            for dtype in dtypes_of(entry):
                for title, one in calls_of(entry, dtype, device):
                    check(one, entry, title, ends)
                for shape in SHAPES if dtype in entry.dtypes else ():
                    for title, one in calls_of_shape(entry, dtype, shape, device):
                        check(one, entry, title, ends)
        for text in ends.failures[before:]:
            print(text, flush=True)
    print(*(f"other arithmetic: {what}: {field}" for what, field in ends.other.items()), sep="\n")
    print(*(ends.refusals if options.refusals else ()), sep="\n")
    print(f"{len(ends.operators)} operators, {dict(ends.counts)}, {time.perf_counter() - start:.0f} s")
    return 1 if ends.failures else 0


if __name__ == "__main__":
    sys.exit(main())
