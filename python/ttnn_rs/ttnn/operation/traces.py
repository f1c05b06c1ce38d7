"""TT-NN operators in traces: captured calls, repeated at each run.

An operator runs during the capture too. When the trace runs, its results go to the memory that they had then, so
tensors of the capture show them; what was deallocated in between is passed on from call to call.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.base.observers import observed_operation, observing
from ttnn.device.mesh_device import CommandQueue, MeshDevice
from ttnn.device.traces import CAPTURING
from ttnn.operation.observation import Operator
from ttnn.operation.operands import tensors_in
from ttnn.runtime.events import exchanged
from ttnn.tensor.tensor import Tensor

_inside = threading.local()
"""True while a recorded operator runs.

Operators that it calls are part of it.
"""


class _Made:
    """A tensor returned by a captured call.

    It lives as long as the program keeps it, as without a trace.

    Attributes:
        tensor: The tensor, if it still lives.
        last: The last call that uses or returns it.
    """

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)
        self.last: OperatorCall | None = None


_made: Final[dict[int, _Made]] = {}
"""Captured tensors by `id`.

Entries of tensors that are gone are replaced.
"""


def _named(tensor: Tensor) -> _Made | None:
    found = _made.get(id(tensor))
    return found if found is not None and found.tensor() is tensor else None


_stand_ins: Final[list[weakref.ref[Tensor]]] = []
"""Tensors that were allocated in captures."""


def _standing_for(tensor: Tensor, address: int | None) -> Tensor:
    """Return the tensor at a freed trace input's address, or input.

    It was freed during the capture.

    A program writes the inputs of the next run there: it has allocated a tensor like the input in the capture.
    """
    _stand_ins[:] = [found for found in _stand_ins if found() is not None]
    for found in _stand_ins:
        other = found()
        if other is None or not other.is_allocated() or other.device() is not tensor._device:
            continue
        if other.spec == tensor.spec and other.buffer_address() == address:
            return other
    return tensor


class OperatorCall:
    """An operator call, with its operands and results.

    Tensors that were there before the capture are kept by the trace; those of the capture are not.
    """

    def __init__(
        self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], results: list[Tensor]
    ) -> None:
        self.operation = operation
        self.args = exchanged(args, _name)
        self.kwargs = exchanged(kwargs, _name)
        taken = {id(tensor) for tensor in tensors_in((args, kwargs))}
        self.results: list[_Made | Tensor] = []
        for tensor in results:
            if id(tensor) in taken:
                self.results.append(_named(tensor) or tensor)
            else:
                _made[id(tensor)] = _Made(tensor)
                self.results.append(_made[id(tensor)])
        self.places = {
            id(tensor): tensor.buffer_address()
            for tensor in tensors_in((args, kwargs))
            if _named(tensor) is None and tensor.device() is not None and tensor.is_allocated()
        }
        touched = [made for tensor in tensors_in((args, kwargs)) if (made := _named(tensor)) is not None]
        self.touched = [*touched, *(made for made in self.results if isinstance(made, _Made))]
        for made in self.touched:
            made.last = self

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        observers = [observer for observer in observing() if observer.replays]
        return observed_operation(observers, self.operation, args, kwargs, _plainly)

    def replay(self, queue: CommandQueue, replaced: dict[int, Tensor], *, trace: bool) -> None:
        """Make the call again.

        Args:
            queue: The command queue.
            replaced: Results of this replay for tensors of the capture whose memory was given back, by what stands for
                them.
            trace: For programs only.
        """

        def present(value: Any) -> Any:
            if isinstance(value, _Made):
                now = replaced.get(id(value))
                return value.tensor() if now is None else now
            if isinstance(value, Tensor) and not value.is_allocated():
                return _standing_for(value, self.places.get(id(value)))
            return value

        args, kwargs = exchanged(self.args, present), exchanged(self.kwargs, present)
        returned = list(tensors_in(self._run(args, kwargs)))
        for before, now in zip(self.results, returned, strict=True):
            tensor = before.tensor() if isinstance(before, _Made) else before
            if tensor is None or not tensor.is_allocated():
                replaced[id(before)] = now
            elif tensor is not now and tensor.buffer_address() != now.buffer_address():
                _copy(now, tensor)
        for made in self.touched:
            if made.last is self:
                replaced.pop(id(made), None)


def _name(value: Any) -> Any:
    """Return the placeholder of a captured tensor; other values unchanged."""
    return (_named(value) or value) if isinstance(value, Tensor) else value


def record(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator, adding the call to a capturing device's trace.

    It is the device of its tensors.

    Raises:
        UnsupportedError: it copies a tensor to the host.
    """
    if operation.__name__ in _ALLOCATIONS:
        return _allocated(operation, args, kwargs)
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


_ALLOCATIONS: Final = ("ttnn.allocate_tensor_on_device",)
"""Calls that allocate later runs' inputs, outside of the trace.

They are made during a capture.
"""


def _allocated(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an allocating operator, also while its device captures."""
    devices = [value for value in (*args, *kwargs.values()) if isinstance(value, MeshDevice)]
    capturing = [device for device in devices if device._traces.steps is not None]
    for device in capturing:
        device._traces.resume()
    try:
        result = operation.function(*args, **kwargs)
    finally:
        for device in capturing:
            device._traces.suspend()
    if capturing:
        _stand_ins.append(weakref.ref(result))
    return result


def _plainly(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return operation.function(*args, **kwargs)


def _copy(source: Tensor, target: Tensor) -> None:
    """Copy a tensor's pages over another's, chip by chip."""
    pages, into = source._require_device("trace"), target._require_device("trace")
    row, rows = pages.page_bytes * pages.page_columns, pages.num_pages // pages.page_columns
    for place in pages.places:
        into.write(pages.read(row, rows, require_written=False, place=place).reshape(-1), row, place)
