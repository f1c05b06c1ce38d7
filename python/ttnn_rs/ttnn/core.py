"""The official module of this name: small helpers of the host."""

from __future__ import annotations

from typing import Any

from ttnn.base.enums import DataType
from ttnn.base.exceptions import ArgumentError, DTypeError
from ttnn.base.memory_config import create_sharded_memory_config as create_sharded_memory_config
from ttnn.base.memory_config import create_sharded_memory_config_ as create_sharded_memory_config_
from ttnn.base.work_split import grid_to_cores as grid_to_cores
from ttnn.base.work_split import num_cores_to_corerangeset as num_cores_to_corerangeset
from ttnn.base.work_split import (
    num_cores_to_corerangeset_in_subcoregrids as num_cores_to_corerangeset_in_subcoregrids,
)
from ttnn.base.work_split import split_work_to_cores as split_work_to_cores
from ttnn.device.driver import *  # noqa: F403
from ttnn.device.driver import dump_stack_trace_on_segfault as dump_stack_trace_on_segfault
from ttnn.device.events import get_current_command_queue_id_for_thread as get_current_command_queue_id_for_thread
from ttnn.tensor.conversion import get_memory_config as get_memory_config
from ttnn.tensor.conversion import has_storage_type_of as has_storage_type_of
from ttnn.tensor.conversion import has_tile_padding as has_tile_padding
from ttnn.tensor.conversion import is_sharded as is_sharded
from ttnn.tensor.conversion import is_tensor_storage_on_device as is_tensor_storage_on_device
from ttnn.tensor.printing import set_printoptions as set_printoptions

_IN_TORCH = {
    DataType.BFLOAT16: "bfloat16",
    DataType.FLOAT32: "float32",
    DataType.BFLOAT8_B: "float32",
    DataType.BFLOAT4_B: "float32",
    DataType.UINT8: "uint8",
    DataType.INT8: "int8",
    DataType.UINT16: "uint16",
    DataType.UINT32: "uint32",
    DataType.INT32: "int32",
    DataType.FP8_E4M3: "float8_e4m3fn",
}
"""The type of torch in which `to_torch` returns the values of a data type."""


def divup(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    return -(-a // b)


def roundup(a: int, b: int) -> int:
    """Return the least multiple of b that is at least a."""
    return divup(a, b) * b


def ttnn_dtype_to_torch_dtype(dtype: DataType) -> Any:
    """Return the type of torch in which `ttnn.to_torch` returns the values of a data type.

    Raises:
        ArgumentError: no DataType.
        DTypeError: INVALID.
    """
    import torch

    if not isinstance(dtype, DataType):
        raise ArgumentError(f"ttnn_dtype_to_torch_dtype: expected a DataType, got {type(dtype).__name__}")
    if dtype not in _IN_TORCH:
        raise DTypeError(f"ttnn_dtype_to_torch_dtype: no type of torch stands for {dtype.name}")
    return getattr(torch, _IN_TORCH[dtype])
