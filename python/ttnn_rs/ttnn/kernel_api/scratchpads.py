"""Named memory of a kernel: scratchpads and local L1 tensor shards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ttnn.base.exceptions import KernelArgumentError, KernelAssertError
from ttnn.kernel_api.accessor_args import TensorAccessorArgs
from ttnn.kernel_api.arguments import get_common_arg_val
from ttnn.kernel_api.bindings import ScratchpadBindingToken, TensorBindingToken
from ttnn.kernel_api.l1 import L1Pointer

_INVALID_FORMAT = 0xFF


class _Memory:
    """Datums of one type from an L1 address on."""

    __slots__ = ("_dtype", "_memory")

    def __init__(self, address: int, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)
        self._memory = L1Pointer(address, self._dtype)
        if address % self._dtype.alignment:
            raise KernelAssertError(f"{type(self).__name__}: address {address} is not aligned for {self._dtype}")

    def _check(self, index: int, count: int = 1) -> None:
        """Check that datums exist; nothing is known of the size."""

    def __getitem__(self, index: int) -> Any:
        self._check(index)
        return self._memory[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self._check(index)
        self._memory[index] = value

    def local_mem(self) -> L1Pointer:
        """Return a pointer to the first datum."""
        return self._memory

    @contextmanager
    def scoped_lock(self, offset: int, num_elements: int) -> Iterator[L1Pointer]:
        """Return a pointer to some datums for a `with` block."""
        self._check(offset, num_elements)
        yield self._memory + offset


class CoreLocalMem(_Memory):
    """An L1 array of one type: `CoreLocalMem(address, np.uint16)`, also for transfers."""

    __slots__ = ()

    def __init__(self, address: int | L1Pointer, dtype: Any = np.uint32) -> None:
        super().__init__(address.address if isinstance(address, L1Pointer) else address, dtype)

    def get_address(self) -> int:
        """Return the L1 address."""
        return self._memory.address

    def get_unsafe_ptr(self) -> L1Pointer:
        """Return a pointer."""
        return self._memory

    def __add__(self, count: int) -> CoreLocalMem:
        return CoreLocalMem(self._memory.address + count * self._dtype.itemsize, self._dtype)

    def __sub__(self, count: int) -> CoreLocalMem:
        return self + -count


class Scratchpad(_Memory):
    """A scratchpad as datums of one type: `Scratchpad(scratch.sums, np.float32)`.

    Raises:
        KernelAssertError: an index outside of it, or a size that is no whole number of datums.
    """

    __slots__ = ("_format", "_name", "_size")

    def __init__(self, token: ScratchpadBindingToken, dtype: Any = np.uint32) -> None:
        if not isinstance(token, ScratchpadBindingToken):
            raise KernelArgumentError(f"Scratchpad: expected a name of `scratch`, got {token!r}")
        super().__init__(get_common_arg_val(token.crta_offset), dtype)
        self._name, self._size, self._format = token.name, token.size_in_bytes, token.format
        if self._size % self._dtype.itemsize:
            raise KernelAssertError(f"Scratchpad: {self._size} B are not a multiple of {self._dtype}")

    def _check(self, index: int, count: int = 1) -> None:
        if not 0 <= index <= index + count <= self.size():
            raise KernelAssertError(
                f"Scratchpad: element {index + max(count, 1) - 1} of scratch.{self._name}, which has {self.size()}"
            )

    def size(self) -> int:
        """Return the number of elements."""
        return int(self._size // self._dtype.itemsize)

    def size_in_bytes(self) -> int:
        """Return the bytes."""
        return self._size

    def get_dataformat(self) -> int:
        """Return the host's format code, 255 if none."""
        return _INVALID_FORMAT if self._format is None else self._format

    def get_base_address(self) -> int:
        """Return the L1 address."""
        return self._memory.address

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self.size()))


class LocalTensorAccessor(_Memory):
    """An L1 tensor's part on this core, as elements.

    Raises:
        KernelArgumentError: the tensor is in DRAM.
    """

    __slots__ = ()

    def __init__(self, token: TensorBindingToken, dtype: Any = np.uint32) -> None:
        if not isinstance(token, TensorBindingToken):
            raise KernelArgumentError(f"LocalTensorAccessor: expected a name of `tensor`, got {token!r}")
        if TensorAccessorArgs(cta_offset=token.cta_offset).dram:
            raise KernelArgumentError(
                f"LocalTensorAccessor: tensor.{token.name} is in DRAM, not on a core; use TensorAccessor"
            )
        super().__init__(get_common_arg_val(token.addr_crta_offset // 4), dtype)

    def get_bank_base_address(self) -> int:
        """Return the L1 address."""
        return self._memory.address
