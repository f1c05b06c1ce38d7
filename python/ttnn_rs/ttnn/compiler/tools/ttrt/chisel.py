"""Comparison of each operation of a program with float64, as records.

The reference of a call is the golden function of its operator: once of the operands that it had on the chip (isolated),
and once of what the references before it returned (accumulated).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

import numpy as np

import ttnn
from ttnn.compiler.conversion.ttnn_to_calls.calls import Call
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.runtime.place import public
from ttnn.operation.carried import LostError, carried_by, keep
from ttnn.operation.registry import FastOperation
from ttnn.operation.slow_path import call_golden, correlation, float64_values, plain

__all__ = ["EXPECTED_PCC", "Chisel"]

EXPECTED_PCC: Final = 0.99
"""Correlation with its reference below which an operation is reported."""
_MOVES: Final = frozenset({"ttnn.to_layout", "ttnn.to_device", "ttnn.from_device", "ttnn.to_memory_config"})
"""Operators without a golden function whose result is their operand."""


class Chisel:
    """Observer of a program that compares each call with its reference.

    Attributes:
        records: A record for each call of an operator, in order.
    """

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self._expected: list[tuple[Any, Any, str]] = []

    def before(self, program: Program, call: Call, arguments: list[Any], keywords: dict[str, Any]) -> None:
        """Compute the references: the call may change its operands."""
        operator = public(call.function) if call.function.startswith("ttnn.") else None
        if not isinstance(operator, FastOperation):
            self._expected.append((None, None, ""))
            return
        if operator.plain_golden is None and call.function not in _MOVES:
            self._expected.append((None, None, "no_golden"))
            return
        isolated, reason = _reference(operator, call, arguments, keywords, float64_values)
        carried, _ = _reference(operator, call, arguments, keywords, lambda one: carried_by(one, float64_values))
        self._expected.append((isolated, carried, reason))

    def after(self, program: Program, call: Call, result: Any, nanoseconds: int) -> None:
        """Compare the results of a call, and keep their references."""
        isolated, carried, reason = self._expected.pop()
        if isolated is None and not reason:
            return
        results = list(result) if isinstance(result, list | tuple) else [result]
        for number, tensor in enumerate(one for one in results if isinstance(one, ttnn.Tensor)):
            record: dict[str, Any] = {
                "program": program.name,
                "operation": call.operation,
                "location": program.location(call),
                "function": call.function,
                "output": number,
                "shape": list(tensor.shape),
                "dtype": tensor.dtype.name,
                "status": reason,
            }
            whole = _of(carried, number)
            keep(tensor, whole)
            expected = _of(isolated, number)
            if not reason and expected is not None:
                record |= _compared(expected, whole, float64_values(tensor))
            self.records.append(record)

    @property
    def lines(self) -> str:
        """Return the records as lines of JSON."""
        return "".join(f"{json.dumps(one)}\n" for one in self.records)

    @property
    def failures(self) -> list[str]:
        """Return a sentence for each result that is far from its reference."""
        return [
            f"{one['location'] or one['operation']}: {one['function']} has PCC {one.get('pcc')} ({one['status']})"
            for one in self.records
            if one["status"] in ("numerics_fail", "shape")
        ]

    def summary(self) -> str:
        """Return the number of results of each status."""
        counts = Counter(one["status"] for one in self.records)
        return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))


def _reference(
    operator: FastOperation, call: Call, arguments: list[Any], keywords: dict[str, Any], values: Any
) -> tuple[Any, str]:
    """Return the golden results of a call, or None and the status."""

    def plainly(value: Any) -> Any:
        if isinstance(value, list | tuple) and any(isinstance(item, ttnn.Tensor) for item in value):
            return [plain(item, values) for item in value]
        return plain(value, values)

    try:
        if operator.plain_golden is None:
            return values(arguments[0]), ""
        with np.errstate(all="ignore"):
            return call_golden(operator, tuple(arguments), keywords, plainly), ""
    except LostError:
        return None, "no_golden"
    # A call that the operator refuses raises itself, in its own words.
    except Exception as error:
        return None, f"golden_error: {error!r}"


def _of(golden: Any, number: int) -> Any:
    """Return the golden value of a result, or None."""
    if isinstance(golden, list | tuple):
        return np.asarray(golden[number]) if number < len(golden) and golden[number] is not None else None
    return None if golden is None or number else np.asarray(golden)


def _compared(expected: Any, whole: Any, got: Any) -> dict[str, Any]:
    """Return status and errors of a result."""
    if expected.size != got.size:
        return {"status": "shape", "expected_shape": list(expected.shape)}
    pcc = correlation(expected.reshape(got.shape), got)
    found = {"status": "ok" if pcc >= EXPECTED_PCC else "numerics_fail", "pcc": pcc, "error": _error(expected, got)}
    if whole is not None and whole.size == got.size:
        found["accumulated_pcc"] = correlation(whole.reshape(got.shape), got)
        found["accumulated_error"] = _error(whole, got)
    return found


def _error(expected: Any, got: Any) -> float | None:
    """Return the norm of the difference relative to that of the reference."""
    expected = np.asarray(expected, np.float64).reshape(got.shape)
    usable = np.isfinite(expected) & np.isfinite(got)
    norm = float(np.linalg.norm(expected[usable]))
    difference = float(np.linalg.norm(got[usable] - expected[usable]))
    return difference / norm if norm else (0.0 if not difference else None)
