"""What a kernel has to know of a tensor to find its pages: one class for hosts and kernels."""

from __future__ import annotations

from functools import partial
from typing import Any

from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ArgumentError
from ttnn.kernel_api.arguments import get_compile_time_arg_val
from ttnn.kernel_api.context import KernelContext, here
from ttnn.tensor.tensor import Tensor

_SHARDED, _DRAM = 1, 2


class TensorAccessorArgs:
    """Facts about a buffer or tensor, as compile-time arguments.

    On the host: `TensorAccessorArgs(tensor).append_to(compile_args)`. In a kernel: `TensorAccessorArgs[0]()`, or
    `TensorAccessorArgs(0)`, reads them again from argument 0 on.

    Raises:
        ArgumentError: on the host, something else than a buffer or tensor.
        KernelArgumentError: in a kernel, there are fewer arguments.
    """

    __slots__ = ("_args", "_offset", "dram", "page_bytes", "sharded")

    def __init__(self, buffer: Any = None, crta_offset: int = 0, *, cta_offset: int | None = None) -> None:
        offset = cta_offset if cta_offset is not None else 0 if buffer is None else buffer
        if isinstance(here.kernel, KernelContext) and isinstance(offset, int):
            self._offset = offset
            self._args = [get_compile_time_arg_val(offset), get_compile_time_arg_val(offset + 1)]
        else:
            self._offset = 0
            self._args = _describe(buffer)
        self.sharded = bool(self._args[0] & _SHARDED)
        self.dram = bool(self._args[0] & _DRAM)
        self.page_bytes = self._args[1]

    def __class_getitem__(cls, offsets: int | tuple[int, int]) -> Any:
        return partial(cls, *(offsets if isinstance(offsets, tuple) else (offsets,)))

    # Hosts.

    def append_to(self, compile_args: list[int], common_args: list[int] | None = None) -> None:
        """Append the arguments to a list."""
        compile_args += self._args

    def get_compile_time_args(self) -> list[int]:
        """Return the arguments."""
        return list(self._args)

    def get_common_runtime_args(self) -> list[int]:
        """Return the common runtime arguments: none."""
        return []

    # Kernels.

    def next_compile_time_args_offset(self) -> int:
        """Return where the arguments after these start."""
        return self._offset + len(self._args)

    def num_compile_time_args(self) -> int:
        """Return how many arguments these are."""
        return len(self._args)


def _describe(buffer: Any) -> list[int]:
    """Return the arguments for a `metal.Buffer` or a tensor on a device."""
    if isinstance(buffer, Tensor):
        memory = buffer._require_device("TensorAccessorArgs", "the tensor")
        sharded = buffer.memory_config().is_sharded()
    elif hasattr(buffer, "memory") and hasattr(buffer, "is_sharded"):
        memory, sharded = buffer.memory, buffer.is_sharded
    else:
        raise ArgumentError(f"TensorAccessorArgs: expected a Buffer or a Tensor, got {type(buffer).__name__}")
    dram = BufferType(memory.buffer_type) in (BufferType.DRAM, BufferType.TRACE)
    return [_SHARDED * int(sharded) | _DRAM * int(dram), memory.aligned_page_bytes]
