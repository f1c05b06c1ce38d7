"""Keys of calls that `runtime.calls` does not identify: with host tensors, or while a capture needs every step.

Calls with equal keys run the same device operations on the same specifications. Whether two operands are the same
tensor makes no difference to a plan.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import TtnnError
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.observation import Operator
from ttnn.tensor.tensor import Tensor

_BEGIN: Final = object()
_END: Final = object()


def key_of(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...] | None, list[int], MeshDevice | None]:
    """Return the key of a call, the numbers of its tensors, and the device of one of them.

    Without a key, the call must be described each time: it has an argument that cannot be compared.
    """
    key: list[Any] = [name, CONFIG.numerics]
    numbers: list[int] = []
    device = _add(key, numbers, args)
    for word, value in kwargs.items():
        key.append(word)
        device = _add(key, numbers, (value,)) or device
    try:
        hash(found := tuple(key))
    except TypeError:
        return None, numbers, device
    return found, numbers, device


def timed(
    key: tuple[Any, ...] | None, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...] | None:
    """Return the key of a call with the elements that decide how long it takes.

    None if they cannot be read: the operator refuses the call.
    """
    if key is None or operation.entry is None or not operation.entry.timed_by:
        return key
    (signature,) = operation.entry.signatures
    given = dict(zip((param.name for param in signature.positional), args, strict=False)) | kwargs
    tensors = (given.get(name) for name in operation.entry.timed_by)
    try:
        return (*key, *(tensor.to_numpy().tobytes() for tensor in tensors if type(tensor) is Tensor))
    except TtnnError:
        return None


def _add(key: list[Any], numbers: list[int], values: tuple[Any, ...] | list[Any]) -> MeshDevice | None:
    device = None
    for value in values:
        kind = type(value)
        if kind is Tensor:
            buffer = value.buffer
            key += (value.spec, buffer is None)
            numbers.append(-value.tensor_id if buffer is None else buffer.unique_id)
            device = value._device or device
        elif kind is list or kind is tuple:
            key.append(_BEGIN)
            device = _add(key, numbers, value) or device
            key.append(_END)
        else:
            # Numbers of different types are equal; what cannot be compared is found when the key is hashed.
            key += (kind, value)
    return device
