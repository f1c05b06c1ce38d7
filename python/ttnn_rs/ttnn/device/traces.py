"""Device traces: steps recorded once and replayed with equal arguments.

What a step does is known to its recorder: operators (`ttnn.operation.traces`) and programs (`ttnn.metal.queues`) append
steps of their own to the trace that is being captured.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Final, Protocol

from ttnn import _engine
from ttnn.base.call import shown
from ttnn.base.exceptions import ArgumentError, DeviceError
from ttnn.device.coordinates import MeshTraceId

CAPTURING: Final = (
    "a trace is being captured; programs and operators on device tensors become part of it, transfers and new tensors "
    "cannot: make them before or after"
)


class Step(Protocol):
    """One step of a trace."""

    def replay(self, queue: Any, replaced: dict[int, Any], *, trace: bool) -> Any:
        """Repeat the step on a command queue; return a program's report.

        None is returned for operators.

        Args:
            queue: The `CommandQueue`.
            replaced: Tensors of this replay that replace deallocated tensors of the capture, by the id of the old
                one.
            trace: Record calls and transfers of programs.
        """
        ...


class Traces:
    """Traces of one device: finished ones and the one being captured."""

    __slots__ = ("_engine", "_finished", "_next", "_open", "steps")

    capturing: ClassVar[set[int]] = set()
    """Ids of the `Traces` that capture now.

    If there are none, operators do not look at the devices of tensors.
    """

    replaying: ClassVar[int | None] = None
    """The number of the trace that runs now, None outside of traces."""

    steps: list[Step] | None
    """The trace that is being captured, None if there is none."""

    def __init__(self, engine: _engine.Device) -> None:
        self._engine = engine
        self._finished: dict[int, list[Step]] = {}
        self._next = 0
        self._open: int | None = None
        self.steps = None

    def begin(self) -> MeshTraceId:
        """Start to capture a trace; return its id.

        Raises:
            DeviceError: a trace is being captured already, or a program has failed on the device.
        """
        if self.steps is not None:
            raise DeviceError("begin_trace_capture: a trace is being captured already")
        if self._engine.failure is not None:
            raise DeviceError(f"begin_trace_capture: {self._engine.failure}")
        self._open, self.steps = self._next, []
        self._next += 1
        Traces.capturing.add(id(self))
        self.suspend()
        return MeshTraceId(self._open)

    def end(self, trace_id: MeshTraceId | int) -> None:
        """End the capture of a trace.

        Raises:
            DeviceError: this trace is not being captured.
        """
        number = _number("end_trace_capture", trace_id)
        if self.steps is None or self._open != number:
            raise DeviceError(f"end_trace_capture: trace {shown(number)} is not being captured")
        self._finished[number] = self.steps
        self.give_up()
        self.resume()

    def give_up(self) -> None:
        """Abort the capture, if there is one."""
        self._open = self.steps = None
        Traces.capturing.discard(id(self))

    def suspend(self) -> None:
        """Block all engine work of this device while a trace is captured."""
        self._engine.stop(CAPTURING, "UnsupportedError")

    def resume(self) -> None:
        """Unblock engine work."""
        self._engine.reset()

    def find(self, call: str, trace_id: MeshTraceId | int) -> list[Step]:
        """Return the steps of a finished trace.

        Raises:
            DeviceError: there is no such trace.
        """
        number = _number(call, trace_id)
        if number not in self._finished:
            raise DeviceError(f"{call}: the device has no trace {shown(number)}")
        return self._finished[number]

    def release(self, trace_id: MeshTraceId | int) -> None:
        """Release a trace.

        Raises:
            DeviceError: there is no such trace.
        """
        self.find("release_trace", trace_id)
        del self._finished[int(trace_id)]

    def __del__(self, capturing: set[int] = capturing) -> None:
        # When the interpreter ends, the name of the class may be gone.
        capturing.discard(id(self))


def _number(call: str, trace_id: MeshTraceId | int) -> int:
    # A torch tensor has `__index__`, too.
    if isinstance(trace_id, bool) or not isinstance(trace_id, MeshTraceId | Integral):
        raise ArgumentError(f"{call}: expected the id of a trace, got {shown(trace_id)}")
    return int(trace_id)
