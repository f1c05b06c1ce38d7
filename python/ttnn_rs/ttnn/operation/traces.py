"""TT-NN operators in traces: each call that is captured is made again when the trace runs.

An operator runs during the capture too. When the trace runs, its results go to the memory that they had then, so
tensors of the capture show them; what was deallocated in between is passed on from call to call.
"""

from __future__ import annotations

import threading
from typing import Any

from ttnn.base.exceptions import UnsupportedError
from ttnn.device.mesh_device import CommandQueue
from ttnn.device.traces import CAPTURING
from ttnn.operation.observation import Observation, Operator
from ttnn.operation.operands import tensors_in
from ttnn.tensor.tensor import Tensor

_inside = threading.local()
"""Set while an operator that is being recorded runs: operators that it calls are part of it."""


class OperatorCall:
    """A call of an operator, with the tensors that it took and returned."""

    def __init__(
        self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], results: list[Tensor]
    ) -> None:
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.results = results

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        observer = Observation.active
        if observer is None:
            return self.operation.function(*args, **kwargs)
        return observer.call(self.operation, args, kwargs, _plainly)

    def replay(self, queue: CommandQueue, replaced: dict[int, Tensor], *, trace: bool) -> None:
        """Make the call again.

        Args:
            queue: The command queue.
            replaced: Results of this replay for tensors of the capture that were deallocated, by the id of the old one.
            trace: For programs only.
        """
        args, kwargs = _exchange(self.args, replaced), _exchange(self.kwargs, replaced)
        returned = list(tensors_in(self._run(args, kwargs)))
        for before, now in zip(self.results, returned, strict=True):
            if not before.is_allocated():
                replaced[id(before)] = now
            elif before is not now and before.buffer_address() != now.buffer_address():
                _copy(now, before)


def record(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator, and add the call to the trace of its tensors' device, if that captures one.

    Raises:
        UnsupportedError: it brings a tensor to the host.
    """
    devices = (tensor.device() for tensor in tensors_in((args, kwargs)))
    capturing = ((device, device._traces.steps) for device in devices if device is not None)
    device, steps = next(((device, steps) for device, steps in capturing if steps is not None), (None, None))
    if device is None or steps is None or getattr(_inside, "operator", False):
        return operation.function(*args, **kwargs)
    _inside.operator = True
    device._traces.resume()
    try:
        result = operation.function(*args, **kwargs)
    finally:
        _inside.operator = False
        device._traces.suspend()
    results = [tensor for tensor in tensors_in(result) if tensor.device() is device]
    if operation.__name__ == "ttnn.deallocate":
        return result
    if not results:
        raise UnsupportedError(f"{operation.__name__}: {CAPTURING}")
    steps.append(OperatorCall(operation, args, dict(kwargs), results))
    return result


def _plainly(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return operation.function(*args, **kwargs)


def _exchange(value: Any, replaced: dict[int, Tensor]) -> Any:
    """Return arguments with the tensors that stand for others."""
    if isinstance(value, Tensor):
        return replaced.get(id(value), value) if not value.is_allocated() else value
    if isinstance(value, (list, tuple)) and any(True for _ in tensors_in(value)):
        return type(value)(_exchange(part, replaced) for part in value)
    if isinstance(value, dict):
        return {name: _exchange(part, replaced) for name, part in value.items()}
    return value


def _copy(source: Tensor, target: Tensor) -> None:
    """Copy the pages of a tensor over those of another one of the same kind."""
    pages, into = source._require_device("trace"), target._require_device("trace")
    row = pages.page_bytes * pages.page_columns
    into.write(pages.read(row, pages.num_pages // pages.page_columns, require_written=False).reshape(-1), row)
