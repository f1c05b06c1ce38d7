"""The tensors among a call's arguments and results, and device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.signature import GRADIENT_NAMES, OUTPUT_TENSOR_NAMES
from ttnn.runtime.calls import COMPOSITES
from ttnn.tensor.tensor import Tensor

_OUTPUTS: Final = frozenset((*OUTPUT_TENSOR_NAMES, *GRADIENT_NAMES))


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in arguments or results, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from tensors_in(part)
    elif type(value) in COMPOSITES:
        yield from tensors_in(COMPOSITES[type(value)].parts(value))


def inputs_and_outputs(args: Any, kwargs: dict[str, Any], result: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Return a call's read and written tensors.

    Written are its results, or else what it was given.
    """
    read = {name: value for name, value in kwargs.items() if name not in _OUTPUTS}
    return list(tensors_in((args, read))), list(tensors_in(result)) or list(tensors_in(kwargs))


def device_of(args: Any, kwargs: dict[str, Any], result: Any) -> MeshDevice | None:
    """Return the device of a call's tensors, or the given one."""
    for tensor in tensors_in((args, kwargs, result)):
        device = tensor._device
        if device is not None:
            return device
    return next((value for value in (*args, *kwargs.values()) if isinstance(value, MeshDevice)), None)
