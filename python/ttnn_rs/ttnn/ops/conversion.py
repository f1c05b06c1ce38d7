"""Operators between host and device.

They are functions of `ttnn.tensor` which hooks observe and which have a command queue.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ttnn.base.call import checked
from ttnn.operation.registry import FastOperation, add_operation
from ttnn.operation.slow_path import float64_values
from ttnn.tensor import conversion, copies, files

__all__ = [
    "allocate_tensor_on_device",
    "allocate_tensor_on_host",
    "as_tensor",
    "copy_device_to_host_tensor",
    "copy_host_to_device_tensor",
    "copy_host_to_device_tensor_partial",
    "deallocate",
    "dump_tensor",
    "from_device",
    "from_torch",
    "load_tensor",
    "reallocate",
    "to_device",
    "to_dtype",
    "to_torch",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _operator(function: _Function, golden: Callable[..., Any] | None = None, *, module: str = "ttnn") -> _Function:
    """Return `function` registered as an operator of its name in a module."""
    operation = FastOperation(f"{module}.{function.__name__}", checked(function), golden_function=golden)
    # The registered object is called like the function it wraps.
    return cast("_Function", add_operation(operation))


def _values_of_file(file_name: str | os.PathLike[str], *_: object, **_options: object) -> Any:
    """Return the values of the tensor in a file as float64."""
    return float64_values(files.load_tensor(file_name))


allocate_tensor_on_device = _operator(conversion.allocate_tensor_on_device)
allocate_tensor_on_host = _operator(conversion.allocate_tensor_on_host)
as_tensor = _operator(files.as_tensor)
copy_device_to_host_tensor = _operator(copies.copy_device_to_host_tensor)
copy_host_to_device_tensor = _operator(copies.copy_host_to_device_tensor)
copy_host_to_device_tensor_partial = _operator(copies.copy_host_to_device_tensor_partial)
deallocate = _operator(conversion.deallocate)
dump_tensor = _operator(files.dump_tensor)
from_device = _operator(conversion.from_device)
from_torch = _operator(conversion.from_torch)
load_tensor = _operator(files.load_tensor, _values_of_file)
quantize_weights_via_host = _operator(conversion.quantize_weights_via_host, module="ttnn.experimental")
reallocate = _operator(conversion.reallocate)
to_device = _operator(conversion.to_device)
to_dtype = _operator(conversion.to_dtype)
to_torch = _operator(conversion.to_torch)
