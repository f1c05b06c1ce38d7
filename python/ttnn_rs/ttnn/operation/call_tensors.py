"""Tensors and devices in the arguments and results of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from ttnn.base.exceptions import ArgumentError
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.signature import OUTPUT_TENSOR_NAMES
from ttnn.tensor.conversion import from_torch
from ttnn.tensor.tensor import Tensor


def get_tensors(object_value: Any, tensor_type: Any) -> list[Any]:
    """Return the class instances in an argument.

    Itself, or what lists, tuples and dictionaries hold.
    """
    if isinstance(object_value, tensor_type):
        return [object_value]
    if isinstance(object_value, Mapping):
        object_value = list(object_value.values())
    if isinstance(object_value, list | tuple):
        return [found for item in object_value for found in get_tensors(item, tensor_type)]
    return []


def get_ttnn_tensors(object_value: Any) -> list[Tensor]:
    """Return the tensors of ttnn in an argument."""
    return get_tensors(object_value, Tensor)


def get_all_tensors(object_value: Any) -> list[Any]:
    """Return the tensors of ttnn and of torch in an argument."""
    import torch

    return get_tensors(object_value, (Tensor, torch.Tensor))


def get_devices(object_value: Any) -> set[MeshDevice]:
    """Return an argument's devices, including those of allocated tensors."""
    tensors = [tensor for tensor in get_ttnn_tensors(object_value) if tensor.is_allocated()]
    found = {tensor.device() for tensor in tensors} | set(get_tensors(object_value, MeshDevice))
    return {device for device in found if device is not None}


def get_inplace_output_tensors(
    function_kwargs: Mapping[str, Any], output_tensor_kwarg_names: Sequence[str] = OUTPUT_TENSOR_NAMES
) -> list[Tensor]:
    """Return the tensors that a call is given for its results."""
    return get_ttnn_tensors([function_kwargs.get(name) for name in output_tensor_kwarg_names])


def get_output_tensor_ids(output: Any) -> list[int]:
    """Return the numbers of the tensors of a result."""
    return [tensor.tensor_id for tensor in get_ttnn_tensors(output)]


def set_tensor_id(tensor: Any, force: bool = False) -> None:
    """Number a tensor or a list's tensors.

    Tensors of ttnn have a number of their own; tensors of torch get one.

    Raises:
        ArgumentError: something else.
    """
    if isinstance(tensor, list | tuple):
        for item in tensor:
            set_tensor_id(item, force)
    elif hasattr(tensor, "detach"):
        if force or getattr(tensor, "tensor_id", None) is None:
            tensor.tensor_id = Tensor([0.0], [1], from_torch(tensor.new_zeros(1)).dtype).tensor_id
    elif not isinstance(tensor, Tensor):
        raise ArgumentError(f"set_tensor_id: expected tensors, got {type(tensor).__name__}")


def set_output_tensor_id_decorator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results are numbered."""

    @wraps(function)
    def numbered(*args: Any, **kwargs: Any) -> Any:
        output = function(*args, **kwargs)
        set_tensor_id(get_all_tensors(output))
        return output

    return numbered
