"""Tensor descriptions for page addresses, for hosts and kernels."""

from __future__ import annotations

from functools import partial
from typing import Any

from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ArgumentError
from ttnn.kernel_api.arguments import get_compile_time_arg_val
from ttnn.kernel_api.context import KernelContext, here
from ttnn.tensor.shard_distribution import (
    IN_DRAM,
    RUNTIME_PAGE_SIZE,
    RUNTIME_TENSOR_SHAPE,
    SHARDED,
    accessor_words,
    distribution_of,
)
from ttnn.tensor.tensor import Tensor


class TensorAccessorArgs:
    """Facts about a buffer or tensor, as compile-time arguments.

    On the host: `TensorAccessorArgs(tensor).append_to(compile_args)`. In a kernel: `TensorAccessorArgs[0]()`, or
    `TensorAccessorArgs(0)`, reads them again from argument 0 on.

    Raises:
        ArgumentError: on the host, something else than a buffer or tensor.
        KernelArgumentError: in a kernel, there are fewer arguments.
    """

    __slots__ = ("_args", "_offset", "dram", "page_bytes", "runtime_page_size", "sharded")

    def __init__(self, buffer: Any = None, crta_offset: int = 0, *, cta_offset: int | None = None) -> None:
        offset = cta_offset if cta_offset is not None else 0 if buffer is None else buffer
        if isinstance(here.kernel, KernelContext) and isinstance(offset, int):
            self._offset = offset
            self._args = _read(offset)
        else:
            self._offset = 0
            self._args = _describe(buffer)
        flags = self._args[0]
        self.sharded = bool(flags & SHARDED)
        self.dram = bool(flags & IN_DRAM)
        self.runtime_page_size = bool(flags & RUNTIME_PAGE_SIZE)
        self.page_bytes = 0 if self.runtime_page_size else self._args[1]

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


def _read(offset: int) -> list[int]:
    """Return the running kernel's arguments from an offset.

    The first of them is their number.
    """
    flags = get_compile_time_arg_val(offset)
    count = 1 if flags & RUNTIME_PAGE_SIZE else 2
    if flags & SHARDED:
        rank = get_compile_time_arg_val(offset + count)
        banks = get_compile_time_arg_val(offset + count + 1) & 0x7FFF_FFFF
        count += 2 + rank * (1 if flags & RUNTIME_TENSOR_SHAPE else 2) + (banks + 1) // 2
    return [get_compile_time_arg_val(offset + word) for word in range(count)]


def _describe(buffer: Any) -> list[int]:
    """Return the arguments for a `metal.Buffer` or a tensor on a device."""
    if isinstance(buffer, Tensor):
        memory = buffer._require_device("TensorAccessorArgs", "the tensor")
        device = buffer.device()
        assert device is not None
        shards = distribution_of(buffer.spec, device)
    elif hasattr(buffer, "memory") and hasattr(buffer, "distribution"):
        memory, shards = buffer.memory, buffer.distribution
    else:
        raise ArgumentError(f"TensorAccessorArgs: expected a Buffer or a Tensor, got {type(buffer).__name__}")
    dram = BufferType(memory.buffer_type) in (BufferType.DRAM, BufferType.TRACE)
    return accessor_words(dram, memory.aligned_page_bytes, shards)
