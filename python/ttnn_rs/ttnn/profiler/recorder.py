"""What operators run on devices while a profiler looks on.

An operator's call that asks the engine to work is a device operation; one that only calls others is none, and each of
those is its own. The first call with given arguments is described and planned. Later ones are recognised by the key
that repeated calls have, and cost a look-up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.device.mesh_device import MeshDevice
from ttnn.device.traces import Traces
from ttnn.operation.observation import Observation, Operator, Run
from ttnn.operation.operands import device_of, inputs_and_outputs
from ttnn.operation.repeated import identify
from ttnn.profiler.describe import EngineCall, describe
from ttnn.profiler.plan import Plan


@dataclass(slots=True)
class Frame:
    """A call of an operator that runs now, and what it has asked of the engine so far."""

    operator: str
    calls: list[EngineCall] = field(default_factory=list)
    programs: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """One device operation of a call.

    Attributes:
        plan: What it does.
        operator: Full name of the operator that the caller called.
        device: The device's number.
        started: Host time in nanoseconds at which the call began.
        trace: The trace that it was part of, None outside of traces.
    """

    plan: Plan
    operator: str
    device: int
    started: int
    trace: int | None = None


@dataclass(slots=True)
class Known:
    """What a call with given arguments runs: its operator, its device, its device operations."""

    operator: str
    device: MeshDevice | None
    plans: tuple[Plan, ...]


class Recorder:
    """Collects the device operations of all calls of this process."""

    def __init__(self) -> None:
        self._calls: list[tuple[Known, int, int | None]] = []
        self._stack: list[Frame] = []
        self._known: dict[Any, Known] = {}
        self._plans: list[Plan] = []

    @property
    def records(self) -> list[Record]:
        """The device operations in the order of execution."""
        return [
            Record(plan, known.operator, 0 if known.device is None else known.device.id(), started, trace)
            for known, started, trace in self._calls
            for plan in known.plans
        ]

    def start(self) -> None:
        """Begin to look on."""
        _engine.take_calls()
        _engine.observe(True)
        Observation.active = self

    def stop(self) -> None:
        """End it."""
        _engine.observe(False)
        Observation.active = None
        Observation.in_full = False

    def note(self, program: Any) -> None:
        """Keep the program of the operator that runs now."""
        if self._stack:
            self._stack[-1].programs.append(program)

    def call(self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run) -> Any:
        """Run an operator and record its device operations."""
        if self._stack:
            return self._inner(operation, args, kwargs, run)
        started = time.perf_counter_ns()
        name = operation.__name__
        call = identify(name, args, kwargs)
        if call is not None:
            known = self._known.get(call.key)
            if known is not None and known.device is call.device:
                self._calls.append((known, started, Traces.replaying))
                prepared = call.device._prepared.get(call.key)
                plain = CONFIG.enable_fast_runtime_mode and not CONFIG.enable_comparison_mode
                if prepared is not None and plain and not CONFIG.enable_logging:
                    # The shortest way, as that of a call which nobody looks on.
                    output = prepared(name, call)
                    if output is not None:
                        return output
                return run(operation, args, kwargs)
        self._plans = []
        _engine.take_calls()
        Observation.in_full = True
        try:
            result = self._inner(operation, args, kwargs, run)
        finally:
            Observation.in_full = False
        device = device_of(args, kwargs, result)
        known = Known(name, device, tuple(self._plans))
        if known.plans:
            self._calls.append((known, started, Traces.replaying))
        if call is not None:
            self._known[call.key] = known
        return result

    def _inner(self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run) -> Any:
        stack = self._stack
        if stack:
            stack[-1].calls += _engine.take_calls()
        frame = Frame(operation.__name__)
        stack.append(frame)
        try:
            result = run(operation, args, kwargs)
        finally:
            frame.calls += _engine.take_calls()
            stack.pop()
        if frame.calls:
            inputs, outputs = inputs_and_outputs(args, kwargs, result)
            device = device_of(args, kwargs, result)
            if device is not None:
                self._plans += describe(frame.operator, frame.calls, frame.programs, inputs, outputs, device)
        return result
