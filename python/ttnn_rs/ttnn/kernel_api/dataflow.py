"""Data movement: addresses, reads, writes, multicast, barriers.

A transfer is only started by its call. Its data may be used after the barrier.
"""

from __future__ import annotations

from typing import Protocol, overload

from ttnn.kernel_api.context import check_one_packet, here, switch

_X = 36
"""Bit of a NoC address's target column; the row follows."""
_Y = 42
_X0 = 48
"""Position of the first column of a multicast rectangle."""
_Y0 = 54

_ADDRESS = 1
"""Cycles of address arithmetic."""
_READS, _FLUSHED, _WRITES, _ATOMICS, _FULL = range(5)


class PageSource(Protocol):
    """An object that computes page addresses: address generator or tensor accessor."""

    dram: bool
    base: int
    page_bytes: int


@overload
def get_noc_addr(x: int, y: int, addr: int, noc: int = -1, /) -> int: ...
@overload
def get_noc_addr(addr: int, /) -> int: ...
@overload
def get_noc_addr(page: int, addrgen: PageSource, offset: int = 0, noc: int = -1, /) -> int: ...
def get_noc_addr(first: int, second: int | PageSource | None = None, third: int = 0, noc: int = -1, /) -> int:
    """Return a NoC address.

    Of (x, y, address), of a local L1 address, or of (page, address generator, offset).
    """
    if second is None:
        here.run.spend(_ADDRESS)
        x, y = here.kernel.noc_coord
        return int(y << _Y | x << _X | first)
    if isinstance(second, int):
        here.run.spend(_ADDRESS)
        return second << _Y | first << _X | third
    return int(here.run.page_address(second.dram, second.base, second.page_bytes, first, third))


def get_noc_multicast_addr(
    noc_x_start: int, noc_y_start: int, noc_x_end: int, noc_y_end: int, addr: int, noc: int = -1
) -> int:
    """Return the address of equal L1 bytes on a rectangle of cores."""
    here.run.spend(_ADDRESS)
    return noc_y_start << _Y0 | noc_x_start << _X0 | noc_y_end << _Y | noc_x_end << _X | addr


def noc_async_read(src_noc_addr: int, dst_local_l1_addr: int, size: int, noc: int = -1) -> None:
    """Start reading `size` bytes into this core's L1."""
    run = here.run
    while not run.noc_async_read(src_noc_addr, dst_local_l1_addr, size, noc):
        switch()


def noc_async_read_one_packet(src_noc_addr: int, dst_local_l1_addr: int, size: int, noc: int = -1) -> None:
    """Start reading `size` bytes, at most one packet, into this core's L1."""
    check_one_packet("noc_async_read_one_packet", size)
    noc_async_read(src_noc_addr, dst_local_l1_addr, size, noc)


def noc_async_write(src_local_l1_addr: int, dst_noc_addr: int, size: int, noc: int = -1) -> None:
    """Start writing `size` bytes of this core's L1."""
    run = here.run
    while not run.noc_async_write(src_local_l1_addr, dst_noc_addr, size, noc):
        switch()


def noc_async_write_one_packet(src_local_l1_addr: int, dst_noc_addr: int, size: int, noc: int = -1) -> None:
    """Start writing `size` bytes, at most one packet, of this core's L1."""
    check_one_packet("noc_async_write_one_packet", size)
    noc_async_write(src_local_l1_addr, dst_noc_addr, size, noc)


def noc_async_read_page(id: int, addrgen: PageSource, dst_local_l1_addr: int, offset: int = 0, noc: int = -1) -> None:
    """Start reading page `id`, from `offset` on, into this core's L1."""
    run = here.run
    dram, base, size = addrgen.dram, addrgen.base, addrgen.page_bytes
    while not run.noc_async_read_page(dram, base, size, id, offset, dst_local_l1_addr, size - offset, noc):
        switch()


def noc_async_read_tile(id: int, addrgen: PageSource, dst_local_l1_addr: int, offset: int = 0, noc: int = -1) -> None:
    """Start reading tile `id`, from `offset` on, into this core's L1."""
    run = here.run
    dram, base, size = addrgen.dram, addrgen.base, addrgen.page_bytes
    while not run.noc_async_read_tile(dram, base, size, id, offset, dst_local_l1_addr, size - offset, noc):
        switch()


def noc_async_write_page(
    id: int, addrgen: PageSource, src_local_l1_addr: int, size: int = 0, offset: int = 0, noc: int = -1
) -> None:
    """Start writing page `id`; all of it, or `size` bytes from `offset`."""
    run = here.run
    dram, base, page = addrgen.dram, addrgen.base, addrgen.page_bytes
    size = size or page - offset
    while not run.noc_async_write_page(dram, base, page, id, offset, src_local_l1_addr, size, noc):
        switch()


def noc_async_write_tile(id: int, addrgen: PageSource, src_local_l1_addr: int, noc: int = -1) -> None:
    """Start writing tile `id`."""
    run = here.run
    dram, base, size = addrgen.dram, addrgen.base, addrgen.page_bytes
    while not run.noc_async_write_tile(dram, base, size, id, 0, src_local_l1_addr, size, noc):
        switch()


def noc_async_write_multicast(
    src_local_l1_addr: int, dst_noc_addr_multicast: int, size: int, num_dests: int, linked: bool = False, noc: int = -1
) -> None:
    """Start writing equal bytes to a rectangle of cores except this one."""
    run = here.run
    while not run.noc_async_write_multicast(
        src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, False, linked, noc
    ):
        switch()


def noc_async_write_multicast_loopback_src(
    src_local_l1_addr: int, dst_noc_addr_multicast: int, size: int, num_dests: int, linked: bool = False, noc: int = -1
) -> None:
    """Start writing equal bytes to a rectangle of cores including this one."""
    run = here.run
    while not run.noc_async_write_multicast(
        src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, True, linked, noc
    ):
        switch()


def noc_inline_dw_write(
    addr: int, val: int, be: int = 0xF, noc: int = -1, vc: int = 0, customized_src_addr: int = 0
) -> None:
    """Start writing one 32-bit word, with byte enables `be`."""
    run = here.run
    while not run.noc_inline_dw_write(addr, val & 0xFFFF_FFFF, noc, be):
        switch()


def noc_async_read_barrier(noc: int = -1) -> None:
    """Wait until all reads have arrived."""
    here.run.noc_barrier(_READS, noc)


def noc_async_writes_flushed(noc: int = -1) -> None:
    """Wait until all writes have left; their source may be overwritten."""
    here.run.noc_barrier(_FLUSHED, noc)


def noc_async_write_barrier(noc: int = -1) -> None:
    """Wait until all writes have arrived."""
    here.run.noc_barrier(_WRITES, noc)


def noc_async_atomic_barrier(noc: int = -1) -> None:
    """Wait until all atomics are done."""
    here.run.noc_barrier(_ATOMICS, noc)


def noc_async_full_barrier(noc: int = -1) -> None:
    """Wait for everything."""
    here.run.noc_barrier(_FULL, noc)
