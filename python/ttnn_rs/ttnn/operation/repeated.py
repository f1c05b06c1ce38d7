"""Repeated calls of an operator.

The first call with given specifications and options checks its arguments, plans the program and caches it. The second
one is recorded by the engine. A call that runs one program on its operands and a new tensor, and looks at nothing else,
is kept as a `PreparedCall` of the device. From then on a call with the same key only names its buffers. The program
cache of the device owns the prepared calls: clearing it drops them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.enums import BufferType, DataType, Layout
from ttnn.base.exceptions import MemoryConfigError, OutOfMemoryError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.observers import OBSERVERS
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.signature import GRADIENT_NAMES, OUTPUT_TENSOR_NAMES
from ttnn.tensor.tensor import Tensor

_CAPACITY: Final = 4096
_OUTPUTS: Final = frozenset((*OUTPUT_TENSOR_NAMES, *GRADIENT_NAMES))
_UNIQUE: Final = frozenset({type(None), str, DataType, Layout, BufferType, MemoryConfig})
"""Immutable types whose values equal no value of another type."""
_NUMBERS: Final = frozenset({bool, int})
_KEYWORDS: Final = object()
"""Separator before the names of keyword arguments in a key."""
_TWICE: Final = object()
"""Mark at the end of a key whose two operands are the same."""


class Call(NamedTuple):
    """Identity of a repeatable call, and the memory that it reads."""

    key: tuple[Any, ...]
    operands: list[_engine.Buffer]
    device: MeshDevice


def identify(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    """Return key and operands of a call.

    None if it writes into a tensor of the caller, or has arguments of other kinds, or while somebody observes.

    Args:
        name: The operator.
        args: Positional arguments as the caller gave them.
        kwargs: Keyword arguments likewise.
    """
    if OBSERVERS:
        # A prepared call allocates and runs inside of the engine, where nobody sees it.
        return None
    # On the way of every call, so it is one flat loop without further calls.
    key: list[Any] = [name, CONFIG.numerics]
    operands: list[_engine.Buffer] = []
    device = None
    values = args
    if kwargs:
        if not _OUTPUTS.isdisjoint(kwargs):
            return None
        key.append(_KEYWORDS)
        key.extend(kwargs)
        values = (*args, *kwargs.values())
    for value in values:
        kind = type(value)
        if kind is Tensor:
            buffer = value._buffer
            if buffer is None:
                return None
            key.append(value.spec)
            operands.append(buffer)
            device = value._device
        elif kind in _UNIQUE:
            key.append(value)
        elif kind in _NUMBERS:
            key += (kind, value)
        elif kind is float:
            # The two zeros are equal, but not the same number.
            key += (kind, value or str(value))
        else:
            return None
    if len(operands) == 2 and operands[0] is operands[1]:
        # Recorded with one buffer, a call cannot tell which operand is which.
        key.append(_TWICE)
        operands.pop()
    return None if device is None else Call(tuple(key), operands, device)


class Prepared(NamedTuple):
    """A call that only needs its operands."""

    run: _engine.PreparedCall
    spec: Any

    def __call__(self, name: str, call: Call) -> Tensor | None:
        """Return the result; None if an operand has no memory, or is on another device.

        Raises:
            OutOfMemoryError: there is no room for the result.
        """
        try:
            buffer = self.run(*call.operands)
        except (MemoryConfigError, OutOfMemoryError) as error:
            error.say_who(name)
            raise
        return None if buffer is None else Tensor._on_device(self.spec, call.device, buffer)


def recorded(run: Callable[..., Any], values: list[Any], call: Call) -> Any:
    """Run a call whose program is cached, and keep it if it can be repeated."""
    distinct = len({buffer.unique_id for buffer in call.operands}) == len(call.operands)
    if not distinct or not _engine.begin_recording():
        return run(*values)
    operands: list[_engine.Buffer] = []
    output = None
    try:
        result = run(*values)
        if type(result) is Tensor:
            operands, output = call.operands, result._buffer
    finally:
        prepared = _engine.end_recording(operands, output)
    kept = call.device._prepared
    if len(kept) >= _CAPACITY:
        kept.clear()
    kept[call.key] = None if prepared is None else Prepared(prepared, result.spec)
    return result
