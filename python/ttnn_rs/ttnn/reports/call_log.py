"""Log of operator calls, one JSON file per call.

While tracing is on, every call that a program makes writes its arguments and its result into a file
`<number>_<operator>_<time>.json` in the folder `TTNN_OPERATION_TRACE_DIR`, or else `operation_parameters` below
`CONFIG.root_report_path`. Tensors are described by shape, data type, layout, memory configuration and device, and hold
their values if `enable_tensor_value_serialization` says so. Tracing is on from the start in a process with the
command-line argument `--trace-params`. Calls that operators make themselves belong to the outer call.

Source: tt-metal `ttnn/ttnn/operation_tracer.py` (names of files and fields).
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.config import CONFIG
from ttnn.base.config_dicts import compute_kernel_config_to_dict, memory_config_to_dict, program_config_to_dict
from ttnn.base.files import make_folder, write_atomically
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.paths import path_below
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.registry import FastOperation
from ttnn.tensor.tensor import Tensor

_FLAG = "--trace-params"
_LABEL = 100
"""Maximum characters of an operation's name in file names."""
_call = FastOperation.__call__


class _Log:
    """State of the call log."""

    on = False
    values = False
    count = 0
    inside = False
    source: str | None = None


def is_tracing_enabled() -> bool:
    """Return whether calls are logged."""
    return _Log.on


def enable_tracing(enable: bool = True) -> None:
    """Log the calls of operators from now on, or stop."""
    _Log.on = bool(enable)
    # Replacing the method keeps the question off the way of calls that nobody logs.
    FastOperation.__call__ = _logged_call if enable else _call  # type: ignore[method-assign, assignment]


def enable_tensor_value_serialization(enable: bool = True) -> None:
    """Write the values of tensors, or only what they are (the default)."""
    _Log.values = bool(enable)


def set_sweep_source_hash(hash_value: str | None = None) -> None:
    """Write a text into all further files, as `sweep_source_hash`; None for none."""
    _Log.source = hash_value


def _logged_call(operation: FastOperation, *args: Any, **kwargs: Any) -> Any:
    if _Log.inside:
        return _call(operation, *args, **kwargs)
    _Log.inside = True
    try:
        result = _call(operation, *args, **kwargs)
    finally:
        _Log.inside = False
    _log(operation.__name__, args, kwargs, result)
    return result


def _log(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    named = os.environ.get("TTNN_OPERATION_TRACE_DIR")
    folder = Path(named) if named else CONFIG.root_report_path / "operation_parameters"
    serialize_operation_parameters(name, args, kwargs, folder, result, serialize_tensor_values=_Log.values)


def wrap_function_for_tracing(original_function: Callable[..., Any], operation_name: str) -> Callable[..., Any]:
    """Return a function that logs its calls while tracing."""

    @wraps(original_function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        result = original_function(*args, **kwargs)
        if _Log.on and not _Log.inside:
            _log(operation_name, args, kwargs, result)
        return result

    return traced


def serialize_operation_parameters(
    operation_name: str,
    function_args: Sequence[Any],
    function_kwargs: Mapping[str, Any],
    log_dir: str | os.PathLike[str],
    return_value: Any = None,
    serialize_tensor_values: bool = True,
) -> None:
    """Write the file of one call.

    Args:
        operation_name: Full name, for example "ttnn.add".
        function_args: Positional arguments.
        function_kwargs: Arguments by name.
        log_dir: Folder of the file; it is made if need be.
        return_value: Result; nothing is written for None.
        serialize_tensor_values: Whether tensors are written with their values.
    """
    # Reading tensors calls operators.
    before, _Log.inside = _Log.inside, True
    try:
        _Log.count += 1

        def plain(value: Any) -> Any:
            return _plain(value, serialize_tensor_values)

        call: dict[str, Any] = {
            "operation_id": _Log.count,
            "operation_name": operation_name,
            "args": [{"position": index, "value": plain(value)} for index, value in enumerate(function_args)],
            "kwargs": {name: plain(value) for name, value in function_kwargs.items()},
        }
        if return_value is not None:
            call["return_value"] = plain(return_value)
        if _Log.source is not None:
            call["sweep_source_hash"] = _Log.source
        folder = make_folder(log_dir, where="serialize_operation_parameters")
        # Names of operations are the caller's: a character that is no part of a word may be one of a path.
        label = re.sub(r"\W", "_", operation_name.replace("::", "_"), flags=re.ASCII)[:_LABEL]
        file = path_below(folder, f"{_Log.count}_{label}_{datetime.now():%Y%m%d_%H%M%S_%f}.json")
        write_atomically(file, json.dumps(call, indent=2), where="serialize_operation_parameters")
    finally:
        _Log.inside = before


def _plain(value: Any, values: bool) -> Any:
    """Return an argument or result as JSON can hold it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item, values) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item, values) for key, item in value.items()}
    if isinstance(value, Tensor):
        return _of_tensor(value, values)
    if isinstance(value, MeshDevice):
        return {"type": "MeshDevice", "repr": repr(value), **_of_device(value)}
    if isinstance(value, MemoryConfig):
        return memory_config_to_dict(value)
    if isinstance(value, WormholeComputeKernelConfig):
        return compute_kernel_config_to_dict(value)
    if hasattr(value, "to_json") and type(value).__name__.endswith("ProgramConfig"):
        return program_config_to_dict(value)
    if hasattr(value, "detach"):
        return _of_torch(value, values)
    return {"type": type(value).__name__, "value": str(value)}


def _of_device(device: MeshDevice) -> dict[str, Any]:
    return {"shape": list(device.shape), "device_ids": list(device.get_device_ids())}


def _of_tensor(tensor: Tensor, values: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "ttnn.Tensor",
        "original_shape": list(tensor.shape),
        "original_dtype": str(tensor.dtype),
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype),
        "layout": str(tensor.layout),
        "storage_type": str(tensor.storage_type()),
        "memory_config": memory_config_to_dict(tensor.memory_config()),
    }
    topology = tensor.tensor_topology()
    found["mesh_device"] = {
        "placements": [
            f"{type(place).__name__}({place.dim})" if hasattr(place, "dim") else type(place).__name__
            for place in topology.placements()
        ],
        "distribution_shape": list(topology.distribution_shape()),
    }
    device = tensor.device()
    if device is not None:
        found["mesh_device"].update(_of_device(device))
    if values and tensor.is_allocated():
        found["values"] = tensor.to_list()
    return found


def _of_torch(tensor: Any, values: bool) -> dict[str, Any]:
    found = {"type": "torch.Tensor", "shape": list(tensor.shape), "dtype": str(tensor.dtype)}
    if values:
        plain = tensor.detach().cpu()
        found["values"] = np.asarray(plain.double() if plain.is_floating_point() else plain).tolist()
    return found


class Switches(ModuleType):
    """Class of the official module, whose switches programs set by assignment."""

    @property
    def _ENABLE_TRACE(self) -> bool:  # noqa: N802 - the official name
        return _Log.on

    @_ENABLE_TRACE.setter
    def _ENABLE_TRACE(self, on: bool) -> None:  # noqa: N802 - the official name
        enable_tracing(on)

    @property
    def _SERIALIZE_TENSOR_VALUES(self) -> bool:  # noqa: N802 - the official name
        return _Log.values

    @_SERIALIZE_TENSOR_VALUES.setter
    def _SERIALIZE_TENSOR_VALUES(self, on: bool) -> None:  # noqa: N802 - the official name
        enable_tensor_value_serialization(on)

    @property
    def _OPERATION_COUNTER(self) -> int:  # noqa: N802 - the official name
        return _Log.count

    @_OPERATION_COUNTER.setter
    def _OPERATION_COUNTER(self, count: int) -> None:  # noqa: N802 - the official name
        _Log.count = count


if _FLAG in sys.argv:
    enable_tracing()
