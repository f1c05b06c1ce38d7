"""Parts of plans beside programs of the device: host operations, loops, branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import ttnn
from ttnn.base.exceptions import EngineBugError, UnsupportedError
from ttnn.compiler.dialects.operations import plain
from ttnn.compiler.frontends.border import Border
from ttnn.compiler.frontends.device_program import DeviceProgram
from ttnn.compiler.frontends.host import OPERATIONS
from ttnn.compiler.frontends.resident import Elements, Held
from ttnn.compiler.importers.builder.segments import Part
from ttnn.compiler.ir.module import location_name
from ttnn.compiler.ir.xdsl_adapter import CallOp
from ttnn.compiler.runtime.place import Transfers
from ttnn.compiler.runtime.predict import PredictedRow, total

__all__ = ["Branch", "Host", "Inner", "Loop", "Segment"]


class Inner(Protocol):
    """A plan that is part of a loop or a branch."""

    @property
    def outputs(self) -> list[Border]:
        """Its results."""

    @property
    def programs(self) -> list[DeviceProgram]:
        """Its programs of the device."""

    @property
    def islands(self) -> list[str]:
        """Its operations of the host."""

    def run(self, values: Sequence[Any], device: Any, transfers: Transfers | None = None) -> list[Any]:
        """Return the results as tensors."""

    def describe(self) -> str:
        """Return its parts, one a line."""

    def predicted_rows(self, device: Any = None) -> list[PredictedRow]:
        """Return its device operations."""


class Host:
    """An operation that the host computes on arrays.

    Attributes:
        runs: How often it ran.
        plans: None.
    """

    def __init__(self, part: Part, call: CallOp) -> None:
        """Check an operation.

        Args:
            part: What it is.
            call: Where it is called.

        Raises:
            UnsupportedError: The host has no such operation.
        """
        if part.operation not in OPERATIONS:
            raise UnsupportedError(f"{part.operation}: the host computes {', '.join(OPERATIONS)} only.")
        self._name, self._place = part.operation, location_name(call)
        self._operation = OPERATIONS[part.operation]
        self._options = {key: plain(value) for key, value in (part.options or {}).items()}
        self._inputs = [Border(f"operand {i} of {self._name}", one.type) for i, one in enumerate(call.operands)]
        self._outputs = [Border(f"result {i} of {self._name}", one.type) for i, one in enumerate(call.results)]
        self.runs = 0
        self.plans: list[Inner] = []

    def run(self, values: Sequence[Any], device: Any, transfers: Transfers) -> list[Any]:
        """Return the results, on the host.

        Args:
            values: Tensors or `Held`.
            device: The device.
            transfers: Counts copies and conversions.
        """
        del device
        arrays = [_array(border, value, transfers) for border, value in zip(self._inputs, values, strict=True)]
        made = self._operation(arrays, self._options)
        for border, one in zip(self._outputs, made, strict=True):
            if one.shape != border.shape or one.dtype != border.dtype:
                raise EngineBugError(f"{border.name} is {one.dtype}{list(one.shape)}, expected {border}.")
        self.runs += 1
        return [Elements(border, one) for border, one in zip(self._outputs, made, strict=True)]

    def predicted_rows(self, device: Any) -> list[PredictedRow]:
        """Return no rows: nothing runs on the device."""
        del device
        return []

    def __str__(self) -> str:
        return f"host, {self._name}" + (f" at {self._place}" if self._place else "")


class Loop:
    """Rounds of a plan, as long as another one says so.

    Attributes:
        plans: The condition and the body.
        rounds: Rounds of the last run.
    """

    def __init__(self, condition: Inner, body: Inner) -> None:
        self.plans = [condition, body]
        self.rounds = 0

    def run(self, values: Sequence[Any], device: Any, transfers: Transfers) -> list[Any]:
        """Return the values that the loop ends with.

        Args:
            values: The first values, and those that stay.
            device: The device.
            transfers: Counts copies and conversions.
        """
        condition, body = self.plans
        count = len(body.outputs)
        now, fixed = list(values[:count]), list(values[count:])
        self.rounds = 0
        while bool(_read(condition, [*now, *fixed], device, transfers).reshape(())):
            now = body.run([*now, *fixed], device, transfers)
            self.rounds += 1
        return now

    def predicted_rows(self, device: Any) -> list[PredictedRow]:
        """Return the rows of all rounds of the last run.

        There is at least one.
        """
        condition, body = (plan.predicted_rows(device) for plan in self.plans)
        rounds = max(1, self.rounds)
        return [
            *(replace(row, times=row.times * (rounds + 1)) for row in condition),
            *(replace(row, times=row.times * rounds) for row in body),
        ]

    def __str__(self) -> str:
        return "loop, its condition and its body:"


class Branch:
    """One of several plans.

    Attributes:
        plans: The plans.
    """

    def __init__(self, plans: Sequence[Inner], call: CallOp) -> None:
        """Keep plans.

        Args:
            plans: The plans.
            call: Where one of them is called.
        """
        self.plans = list(plans)
        self._index = Border("the number of a branch", call.operands[0].type)

    def run(self, values: Sequence[Any], device: Any, transfers: Transfers) -> list[Any]:
        """Return the results of the plan whose number is the first value.

        Args:
            values: The number or truth, and what the plans read.
            device: The device.
            transfers: Counts copies and conversions.
        """
        found = _array(self._index, values[0], transfers).reshape(())
        # The first branch is the one of truth.
        chosen = int(not found) if found.dtype.kind == "b" else int(found)
        plan = self.plans[chosen if 0 <= chosen < len(self.plans) else -1]
        return plan.run(values[1:], device, transfers)

    def predicted_rows(self, device: Any) -> list[PredictedRow]:
        """Return the rows of the plan that takes the longest time."""
        return max((plan.predicted_rows(device) for plan in self.plans), key=total)

    def __str__(self) -> str:
        return f"branch of {len(self.plans)}:"


Segment: TypeAlias = DeviceProgram | Host | Loop | Branch


def _array(border: Border, value: Any, transfers: Transfers) -> Any:
    """Return a value as an array of the host."""
    if isinstance(value, Elements) and value.array is not None:
        return value.array
    tensor = value
    if isinstance(value, Held):
        tensor = value.origin if value.origin is not None else value.host()
    if tensor.storage_type() == ttnn.StorageType.DEVICE:
        transfers.down(tensor)
    return border.array(tensor)


def _read(plan: Inner, values: Sequence[Any], device: Any, transfers: Transfers) -> Any:
    """Return the only result of a plan as an array."""
    (result,) = plan.run(values, device, transfers)
    return _array(plan.outputs[0], result, transfers)
