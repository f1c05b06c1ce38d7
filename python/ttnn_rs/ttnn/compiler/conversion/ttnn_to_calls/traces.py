"""Calls of trace operations: capture, execution, slot transfers.

To the input and output slots of a trace.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, TRACE, Call
from ttnn.compiler.conversion.ttnn_to_calls.parts import operand
from ttnn.compiler.conversion.ttnn_to_calls.tt_handlers import Calls, Handler

__all__ = ["TRACES"]


def _begin(calls: Calls, table: dict[str, Any]) -> None:
    calls.call("ttnn.begin_trace_capture", DEVICE, out=table["trace_id"]["global_id"], cq_id=int(table["cq_id"]))


def _end(calls: Calls, table: dict[str, Any]) -> None:
    arguments = [DEVICE, operand(table["trace_id"])]
    calls.added.append(Call("ttnn.end_trace_capture", arguments, {"cq_id": int(table["cq_id"])}, (), calls.operation))


def _execute(calls: Calls, table: dict[str, Any]) -> None:
    arguments = [DEVICE, operand(table["trace_id"])]
    keywords = {"cq_id": int(table["cq_id"]), "blocking": bool(table["blocking"])}
    calls.added.append(Call("ttnn.execute_trace", arguments, keywords, (), calls.operation))


def _write(calls: Calls, table: dict[str, Any]) -> None:
    arguments = [operand(table["host_tensor"]), operand(table["device_tensor"])]
    keywords = {"cq_id": int(table["cq_id"])}
    calls.added.append(Call("ttnn.copy_host_to_device_tensor", arguments, keywords, (), calls.operation))


def _copy(calls: Calls, table: dict[str, Any]) -> None:
    arguments = [operand(table["src"]), operand(table["dst"])]
    calls.added.append(Call("ttnn.copy", arguments, {}, (), calls.operation))


def _capture_or_execute(calls: Calls, table: dict[str, Any]) -> None:
    """Trace programs: slot allocation, capture, run; then inputs.

    There is no slot allocation in 2025-10.
    """
    names = ("allocate_slots_program_id", "capture_program_id", "execute_program_id")
    programs = [int(table[name]) if name in table else None for name in names]
    inputs = [operand(one) for one in table.get("inputs", [])]
    outputs = tuple(one["global_id"] for one in table.get("outputs", []))
    whole = tuple(range(len(outputs)))
    calls.added.append(Call(TRACE, [*programs, inputs], {}, outputs, calls.operation, whole))


TRACES: Final[dict[str, Handler]] = {
    "BeginTraceCaptureOp": _begin,
    "CaptureOrExecuteTraceOp": _capture_or_execute,
    "CopyOp": _copy,
    "EndTraceCaptureOp": _end,
    "ExecuteTraceOp": _execute,
    "WriteTensorOp": _write,
}
"""By the member of the union `OpType`."""
