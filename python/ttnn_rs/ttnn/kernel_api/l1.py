"""Words of this core's L1: pointers and semaphores."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.context import here, switch


class L1Pointer:
    """A pointer into this core's L1, as `reinterpret_cast<volatile tt_l1_ptr T*>(address)` makes it.

    `pointer[i]` loads and stores the i-th datum, `read` and `write` move many at once.
    """

    __slots__ = ("_bytes", "_dtype", "address")

    def __init__(self, address: int, dtype: Any = np.uint32) -> None:
        self.address = address
        self._dtype = np.dtype(dtype)
        self._bytes = self._dtype.itemsize

    def __getitem__(self, index: int) -> Any:
        if self._dtype == np.uint32:
            run = here.run
            address = self.address + 4 * index
            while (value := run.load_word(address)) is None:
                switch()
            return int(value)
        return self.read(1, index)[0]

    def __setitem__(self, index: int, value: Any) -> None:
        if self._dtype == np.uint32:
            here.run.store_word(self.address + 4 * index, int(value) & 0xFFFF_FFFF)
        else:
            self.write(np.asarray([value], dtype=self._dtype), index)

    def __add__(self, count: int) -> L1Pointer:
        return L1Pointer(self.address + count * self._bytes, self._dtype)

    def read(self, count: int, start: int = 0) -> npt.NDArray[Any]:
        """Return `count` datums from `start` on."""
        data: npt.NDArray[np.uint8] = here.run.load_bytes(self.address + start * self._bytes, count * self._bytes)
        return data.view(self._dtype)

    def write(self, values: npt.ArrayLike, start: int = 0) -> None:
        """Store datums from `start` on."""
        array = np.ascontiguousarray(values, dtype=self._dtype)
        here.run.store_bytes(self.address + start * self._bytes, array.reshape(-1).view(np.uint8))


tt_l1_ptr = L1Pointer


def _address(pointer: int | L1Pointer) -> int:
    if isinstance(pointer, L1Pointer):
        return pointer.address
    if isinstance(pointer, int):
        return pointer
    raise KernelArgumentError(f"expected an L1 address or an L1Pointer, got {pointer!r}")


def get_semaphore(semaphore_id: int) -> int:
    """Return a program semaphore's L1 address, equal on every core."""
    return int(here.run.get_semaphore(semaphore_id))


def noc_semaphore_set(sem_addr: int | L1Pointer, val: int) -> None:
    """Store a value in a semaphore of this core."""
    here.run.noc_semaphore_set(_address(sem_addr), val)


def noc_semaphore_wait(sem_addr: int | L1Pointer, val: int) -> None:
    """Wait until a semaphore of this core has this value."""
    run, address = here.run, _address(sem_addr)
    while not run.noc_semaphore_wait(address, val, False):
        switch()


def noc_semaphore_wait_min(sem_addr: int | L1Pointer, val: int) -> None:
    """Wait until a semaphore of this core has at least this value."""
    run, address = here.run, _address(sem_addr)
    while not run.noc_semaphore_wait(address, val, True):
        switch()


def noc_semaphore_inc(addr: int, incr: int, noc_id: int = -1, vc: int = 0) -> None:
    """Start adding to a semaphore somewhere; `addr` is a NoC address."""
    run = here.run
    while not run.noc_semaphore_inc(addr, incr, noc_id):
        switch()


def noc_semaphore_set_remote(src_local_l1_addr: int, dst_noc_addr: int, noc: int = -1) -> None:
    """Start copying a local L1 word to a semaphore of another core."""
    run = here.run
    while not run.noc_semaphore_set_remote(src_local_l1_addr, dst_noc_addr, noc):
        switch()


def noc_semaphore_set_multicast(
    src_local_l1_addr: int, dst_noc_addr_multicast: int, num_dests: int, linked: bool = False, noc: int = -1
) -> None:
    """Start copying an L1 word to semaphores of other rectangle cores."""
    run = here.run
    while not run.noc_semaphore_set_multicast(src_local_l1_addr, dst_noc_addr_multicast, num_dests, False, linked, noc):
        switch()


def noc_semaphore_set_multicast_loopback_src(
    src_local_l1_addr: int, dst_noc_addr_multicast: int, num_dests: int, linked: bool = False, noc: int = -1
) -> None:
    """Start copying an L1 word to all semaphores of a rectangle."""
    run = here.run
    while not run.noc_semaphore_set_multicast(src_local_l1_addr, dst_noc_addr_multicast, num_dests, True, linked, noc):
        switch()


# Numbers for code that fills tiles by hand.


def bf16_to_fp32(bf16: int) -> float:
    """Return the bfloat16 value of these bits."""
    return float(np.uint32((bf16 & 0xFFFF) << 16).view(np.float32))


def fp32_to_bf16_truncate(x: float) -> int:
    """Return the upper half of the bits of a float32."""
    return int(np.float32(x).view(np.uint32)) >> 16


def fp32_to_bf16(x: float) -> int:
    """Return the bits of the nearest bfloat16, ties to even."""
    return int(np.float32(x).astype(ml_dtypes.bfloat16).view(np.uint16))
