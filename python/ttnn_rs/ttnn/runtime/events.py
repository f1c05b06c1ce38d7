"""Events inside of a program: operators, steps, and created tensors.

The program is made of the operators.

They are recorded while a call is resolved, and told to observers when its program runs. Tensors are kept as numbers
and specifications, so that a program holds no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ttnn._engine import Buffer, Resolving
from ttnn.base.observers import Observer
from ttnn.base.tensor_spec import TensorSpec
from ttnn.runtime.calls import COMPOSITES
from ttnn.tensor.tensor import Tensor


class SlotTensor(NamedTuple):
    """A tensor of a program.

    Attributes:
        number: That of the tensor; views of one slot have numbers of their own.
        slot: Slot of its buffer.
        spec: Its specification.
    """

    number: int
    slot: int
    spec: TensorSpec


class Event(NamedTuple):
    """An event inside of a program.

    Attributes:
        position: How many events of the engine are before it: allocations, steps, frees.
        kind: The method of `Observer` that it is told by.
        arguments: Arguments of that method, with `SlotTensor` in place of tensors.
    """

    position: int
    kind: str
    arguments: tuple[Any, ...]


def exchanged(value: Any, of: Callable[[Any], Any]) -> Any:
    """Return arguments with `of` applied inside of nested collections.

    Lists, tuples, dictionaries and composites of tensors.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([exchanged(part, of) for part in value])
    if kind is dict:
        return {name: exchanged(part, of) for name, part in value.items()}
    if kind in COMPOSITES:
        parts, make = COMPOSITES[kind]
        return make(tuple(exchanged(part, of) for part in parts(value)))
    return of(value)


def slot_tensor(value: Any) -> Any:
    """Return a slot tensor's `SlotTensor`; other values unchanged.

    Buffers of slots become their numbers.
    """
    if type(value) is Tensor and value.buffers and value.buffers[0].slot is not None:
        return SlotTensor(value.tensor_id, value.buffers[0].slot, value.spec)
    return value.slot if type(value) is Buffer else value


class Recording(Observer):
    """Records the events of a call that is being resolved.

    Attributes:
        events: The events so far.
        failed: True if an operator inside of the call has raised.
    """

    makes_program = True

    def __init__(self, resolving: Resolving) -> None:
        self._resolving = resolving
        self.events: list[Event] = []
        self.failed = False

    def _add(self, kind: str, *arguments: Any) -> None:
        self.events.append(Event(self._resolving.position, kind, exchanged(arguments, slot_tensor)))

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record the call of an operator inside of the call."""
        self._add("operation_start", operation, args, kwargs)

    def operation_end(self, result: Any) -> None:
        """Record its result."""
        self._add("operation_end", result)

    def operation_failed(self, error: BaseException) -> None:
        """Note that it raises."""
        self.failed = True

    def function_start(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Record the call of a tensor's function."""
        self._add("function_start", name, arguments)

    def function_end(self, result: Any) -> None:
        """Record its result."""
        self._add("function_end", result)

    def function_failed(self, error: BaseException) -> None:
        """Note that it raises."""
        self.failed = True

    def step(self, function: str, settings: dict[str, Any]) -> None:
        """Record a function of the engine."""
        self._add("step", function, settings)

    def created(self, tensor: Any) -> None:
        """Record a new tensor."""
        self._add("created", tensor)

    def noted(self, program: Any) -> None:
        """Record what an operator has decided on."""
        self._add("noted", program)


def tell(
    events: Iterable[Event],
    observers: Sequence[Observer],
    tensor: Callable[[SlotTensor], Tensor],
    advance: Callable[[int], None] | None = None,
) -> None:
    """Tell observers the events of a program.

    Args:
        events: The events.
        observers: Who is told.
        tensor: Returns the tensor of a slot.
        advance: Called before each event with its position.
    """

    def present(value: Any) -> Any:
        return tensor(value) if type(value) is SlotTensor else value

    for position, kind, recorded in events:
        if advance is not None:
            advance(position)
        arguments = exchanged(recorded, present)
        for observer in observers:
            getattr(observer, kind)(*arguments)
