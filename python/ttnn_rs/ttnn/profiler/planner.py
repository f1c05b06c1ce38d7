"""Plans of operators, from events of their calls or programs.

Programs hold the events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ttnn.base.exceptions import UnsupportedError
from ttnn.base.observers import Observer
from ttnn.operation.operands import device_of, inputs_and_outputs
from ttnn.ops.ccl.transfers import Transfer
from ttnn.profiler.describe import EngineCall, describe
from ttnn.profiler.missing import Missing
from ttnn.profiler.plan import Plan
from ttnn.runtime.calls import Call
from ttnn.runtime.programs import Program


@dataclass(slots=True)
class _Running:
    """A running operator call, with its steps and decisions so far.

    Attributes:
        operator: Full name.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        calls: Its steps.
        programs: Its decisions.
        place: Device operations before its first transfer between chips; None without one.
    """

    operator: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    calls: list[EngineCall] = field(default_factory=list)
    programs: list[Any] = field(default_factory=list)
    place: int | None = None


class Planner(Observer):
    """Collects the device operations of calls.

    An operator with steps of its own is a device operation; one that only calls others is none, and each of those is
    its own.

    Attributes:
        plans: The device operations so far, or why their plan is not known.
        last: Those of the operator that ended last.
    """

    in_full = False

    def __init__(self) -> None:
        self.plans: list[Plan | Missing] = []
        self.last: list[Plan | Missing] = []
        self._running: list[_Running] = []

    @property
    def is_idle(self) -> bool:
        """Return True if no operator runs."""
        return not self._running

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An operator is called."""
        self._running.append(_Running(operation.__name__, args, kwargs))

    def operation_failed(self, error: BaseException) -> None:
        """The innermost operator raises: it has no plan."""
        self._running.pop()

    def operation_end(self, result: Any) -> None:
        """Plan what the innermost operator has run."""
        call = self._running.pop()
        self.last = []
        if not call.calls and not call.programs:
            return
        device = device_of(call.args, call.kwargs, result)
        if device is not None:
            inputs, outputs = inputs_and_outputs(call.args, call.kwargs, result)
            self.last = describe(call.operator, call.calls, call.programs, inputs, outputs, device)
            place = len(self.plans) if call.place is None else call.place
            self.plans[place:place] = map(_of_known_time, self.last)

    def step(self, function: str, settings: dict[str, Any]) -> None:
        """Keep a step of the innermost operator."""
        if self._running:
            self._running[-1].calls.append((function, settings))

    def noted(self, program: Any) -> None:
        """Keep what the innermost operator has decided on."""
        if self._running:
            call = self._running[-1]
            call.programs.append(program)
            if isinstance(program, Transfer) and call.place is None:
                call.place = len(self.plans)

    def launched(self, program: Program, call: Call) -> None:
        """Plan what the program of the innermost operator has run."""
        program.tell(self, call)


def _of_known_time(plan: Plan | Missing) -> Plan | Missing:
    """Return a plan of known time, or why it is unknown."""
    if isinstance(plan, Plan):
        try:
            _ = plan.timing
        except UnsupportedError as error:
            return Missing(plan.name, plan.card, str(error), plan.inputs, plan.outputs)
    return plan
