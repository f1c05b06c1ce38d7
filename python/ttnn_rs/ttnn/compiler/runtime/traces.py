"""Traces of programs, captured once, rerun with new inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ttnn
from ttnn.base.exceptions import FileFormatError

__all__ = ["Trace", "is_trace_id"]

Run = Callable[[int, Sequence[Any]], list[Any]]
"""Runs a program of the binary, by number, and returns its outputs."""


def is_trace_id(value: Any) -> bool:
    """Return whether a program's value is a trace id.

    It is no tensor here.
    """
    return isinstance(value, ttnn.MeshTraceId)


@dataclass
class Trace:
    """A trace that has been captured.

    Attributes:
        device: Where.
        number: Its id.
        slots: What it reads: a tensor for each input. Inputs that stay on the device are their own slots.
        fixed: Whether each slot is the input itself.
        outputs: What it writes.
    """

    device: Any
    number: Any
    slots: list[Any]
    fixed: list[bool]
    outputs: list[Any]

    @classmethod
    def capture(
        cls, device: Any, inputs: Sequence[Any], outputs: int, allocate: int | None, capture: int, run: Run
    ) -> Trace:
        """Capture a trace.

        Args:
            device: Where.
            inputs: On the device those that stay, the others on the host; in 2025-10 all are on the device.
            outputs: How many tensors the trace writes.
            allocate: Number of the program that allocates slots; None in 2025-10, where `capture` does.
            capture: Number of the program that captures the trace.
            run: Runs programs.

        Raises:
            FileFormatError: The programs return other things than a trace needs.
        """
        count = len(inputs)
        if allocate is None:
            (number, results) = _first(run(capture, inputs), 1 + 2 * outputs + count)
            slots, written = results[outputs : outputs + count], results[outputs + count :]
            for result, slot in zip(results, written, strict=False):
                # This run's values; in the slots there are none before the trace has run.
                ttnn.copy(result, slot)
        else:
            resident = [tensor for tensor in inputs if _on_device(tensor)]
            made = run(allocate, resident)
            if len(made) != count + outputs:
                raise FileFormatError(f"a trace of {count} inputs and {outputs} outputs has {len(made)} slots.")
            staged = [tensor for tensor in inputs if not _on_device(tensor)]
            number, _ = _first(run(capture, [*staged, *made]), 1)
            slots, written = made[:count], made[count:]
        fixed = [slot is tensor for slot, tensor in zip(slots, inputs, strict=True)]
        return cls(device, number, list(slots), fixed, list(written))

    def fits(self, device: Any, inputs: Sequence[Any]) -> bool:
        """Return whether a trace can run with these inputs.

        Those that it reads where they are must be the same tensors.
        """
        return (
            self.device is device
            and all(
                slot.is_allocated() and (not fixed or slot is tensor)
                for slot, fixed, tensor in zip(self.slots, self.fixed, inputs, strict=True)
            )
            and all(output.is_allocated() for output in self.outputs)
        )

    def execute(self, inputs: Sequence[Any], execution: int, run: Run) -> None:
        """Write a trace's input slots and run it.

        `execution` is the number of the program that does.
        """
        for tensor, slot, fixed in zip(inputs, self.slots, self.fixed, strict=True):
            if not fixed:
                (ttnn.copy if _on_device(tensor) else ttnn.copy_host_to_device_tensor)(tensor, slot)
        run(execution, [self.number])


def _first(values: Sequence[Any], count: int) -> tuple[Any, Sequence[Any]]:
    """Return a trace's id and its program's further results."""
    if len(values) != count or not is_trace_id(values[0]):
        raise FileFormatError(f"a program that captures a trace returns its id and {count - 1} tensors.")
    return values[0], values[1:]


def _on_device(tensor: Any) -> bool:
    return bool(tensor.storage_type() == ttnn.StorageType.DEVICE)
