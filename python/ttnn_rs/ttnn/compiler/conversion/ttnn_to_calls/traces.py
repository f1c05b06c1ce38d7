"""Calls of trace operations: capture, execution, slot transfers.

To the input and output slots of a trace.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import TRACE, Call
from ttnn.compiler.conversion.ttnn_to_calls.parts import Calls, Handler, operand
from ttnn.compiler.conversion.ttnn_to_calls.rows import row

__all__ = ["TRACES"]


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
    "BeginTraceCaptureOp": row("ttnn.begin_trace_capture :device =cq_id:int", out="trace_id", like="trace_id"),
    "CaptureOrExecuteTraceOp": _capture_or_execute,
    "CopyOp": row("ttnn.copy src dst", returns=False),
    "EndTraceCaptureOp": row("ttnn.end_trace_capture :device trace_id =cq_id:int", returns=False),
    "ExecuteTraceOp": row("ttnn.execute_trace :device trace_id =cq_id:int =blocking:bool", returns=False),
    "WriteTensorOp": row("ttnn.copy_host_to_device_tensor host_tensor device_tensor =cq_id:int", returns=False),
}
"""By the member of the union `OpType`."""
