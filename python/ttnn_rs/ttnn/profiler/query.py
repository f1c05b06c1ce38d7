"""Constraints and runtime of a call that does not run.

Source: tt-metal `ttnn/api/ttnn/graph/graph_query_op_constraints.hpp`, `graph_query_op_runtime.hpp` (names and fields;
the official package has them in C++ only).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.exceptions import ArgumentError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.vendor_enum import VendorEnum
from ttnn.device.mesh_device import MeshDevice
from ttnn.profiler.asking import AllocationRecord, Asked, ask
from ttnn.profiler.missing import Missing
from ttnn.runtime.calls import question_key

_CAPACITY: Final = 1 << 16
"""Answers that a device keeps."""


class ExecutionStatus(VendorEnum):
    """True if the call would succeed."""

    Success = 0
    Error = 1


@dataclass(frozen=True)
class ResourceUsage:
    """Bytes of L1 per core that a call needs beside its operands.

    Attributes:
        cb_peak_size_per_core: Most bytes of circular buffers.
        l1_buffers_peak_per_core: Most bytes of buffers that it allocates.
        peak_memory_usage_per_core: Most bytes of both at once.
        l1_output_buffer_per_core: Bytes of its results.
    """

    cb_peak_size_per_core: int = 0
    l1_buffers_peak_per_core: int = 0
    peak_memory_usage_per_core: int = 0
    l1_output_buffer_per_core: int = 0


@dataclass(frozen=True)
class ConstraintQueryResponse:
    """The constraints of a call.

    Attributes:
        status: Whether it would succeed.
        resource_usage: What it needs; zeros if it would fail.
        output_tensor_specs: Specifications of its results, in order.
        error_message: Why it would fail, None if it would not.
        output_records: The buffers of its results, for the `initial_state` of a next query.
    """

    status: ExecutionStatus
    resource_usage: ResourceUsage = ResourceUsage()
    output_tensor_specs: tuple[TensorSpec, ...] = ()
    error_message: str | None = None
    output_records: tuple[AllocationRecord, ...] = ()

    @property
    def output_tensor_spec(self) -> TensorSpec | None:
        """Return the specification of the first result, None without one."""
        return self.output_tensor_specs[0] if self.output_tensor_specs else None


@dataclass(frozen=True)
class RuntimeQueryResponse:
    """The predicted time of a call.

    Attributes:
        status: Whether it would succeed, and every time is known.
        runtime: Nanoseconds of its device operations together, without the gaps between them; 0 if it would fail.
        error_message: Why there is none, None if there is.
        device_operations: Name and nanoseconds of each.
    """

    status: ExecutionStatus
    runtime: int = 0
    error_message: str | None = None
    device_operations: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class _Known:
    """Answers of equal questions; the second is made when it is needed."""

    asked: Asked
    constraints: ConstraintQueryResponse | None = None
    runtime: RuntimeQueryResponse | None = None


def query_op_constraints(
    op: Callable[..., Any],
    device: MeshDevice,
    /,
    *args: Any,
    initial_state: Sequence[AllocationRecord] | None = None,
    **kwargs: Any,
) -> ConstraintQueryResponse:
    """Return whether a call would succeed, its results and its L1.

    Nothing runs, and the device's memory is not touched. Equal questions are answered once. Not an official Python
    function.

    Args:
        op: An operator such as `ttnn.matmul`, or a function that calls operators.
        device: The open device that it is asked for.
        *args: The call's arguments. A `ttnn.TensorSpec` stands for a tensor on the device, an existing device tensor
            for its specification.
        initial_state: Buffers that exist before the call, see `AllocationRecord`; without them the memory is empty.
            Operands without a record are allocated after them.
        **kwargs: The call's arguments by name.

    Raises:
        ArgumentError: `device` is none, an argument is on another one, or records overlap.
        DeviceError: the device is closed.
        UnsupportedError: the device is divided into sub-devices.
    """
    known = _known(op, device, args, kwargs, initial_state)
    if known.constraints is None:
        asked = known.asked
        if asked.error is not None:
            known.constraints = ConstraintQueryResponse(ExecutionStatus.Error, error_message=asked.error)
        else:
            usage = ResourceUsage(*asked.peaks, asked.l1_output)
            known.constraints = ConstraintQueryResponse(
                ExecutionStatus.Success, usage, asked.outputs, output_records=asked.records
            )
    return known.constraints


def query_op_runtime(
    op: Callable[..., Any],
    device: MeshDevice,
    /,
    *args: Any,
    initial_state: Sequence[AllocationRecord] | None = None,
    **kwargs: Any,
) -> RuntimeQueryResponse:
    """Return the predicted time of a call on the chip.

    It is that of the call's rows in a profile (`ttnn.profiler.profile`). Nothing runs. Not an official Python function.

    Args:
        op: An operator, or a function that calls operators.
        device: The open device that it is asked for.
        *args: The call's arguments, as for `query_op_constraints`.
        initial_state: Buffers that exist before the call, likewise.
        **kwargs: The call's arguments by name.

    Raises:
        ArgumentError: as of `query_op_constraints`.
        DeviceError: the device is closed.
        UnsupportedError: the device is divided into sub-devices.
    """
    known = _known(op, device, args, kwargs, initial_state)
    if known.runtime is None:
        known.runtime = _runtime(known.asked)
    return known.runtime


def _runtime(asked: Asked) -> RuntimeQueryResponse:
    if asked.error is not None:
        return RuntimeQueryResponse(ExecutionStatus.Error, error_message=asked.error)
    times = []
    for plan in asked.plans:
        if isinstance(plan, Missing):
            return RuntimeQueryResponse(ExecutionStatus.Error, error_message=plan.reason)
        times.append((plan.name, plan.nanoseconds))
    return RuntimeQueryResponse(
        ExecutionStatus.Success,
        round(sum(time for _, time in times)),
        device_operations=tuple((name, round(time)) for name, time in times),
    )


def _known(
    op: Callable[..., Any],
    device: MeshDevice,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    initial_state: Sequence[AllocationRecord] | None,
) -> _Known:
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"query_op_constraints: expected a ttnn.MeshDevice, got {type(device).__name__}")
    state = () if initial_state is None else tuple(initial_state)
    key = question_key((op, state), args, kwargs)
    answers: dict[Hashable, _Known] = device._answers
    if key is not None and device.is_open:
        found = answers.get(key)
        if found is not None:
            return found
    found = _Known(ask(op, device, args, kwargs, state))
    if key is not None:
        if len(answers) >= _CAPACITY:
            answers.clear()
        answers[key] = found
    return found
