"""Partial transfers: stored state, single packets, transaction ids.

And the rest of the NoC API.
"""

from __future__ import annotations

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.context import check_one_packet, here, switch
from ttnn.kernel_api.dataflow import (
    noc_async_read,
    noc_async_write,
    noc_async_write_multicast,
    noc_inline_dw_write,
)
from ttnn.kernel_api.l1 import noc_semaphore_inc

_LOCAL = (1 << 36) - 1
"""Bits of the local address in a NoC address."""


def _network(noc: int) -> int:
    return int(here.kernel.noc_index) if noc < 0 else noc


def _store(kind: str, noc: int, target: int, size: int) -> None:
    here.kernel.states[kind, _network(noc)] = (target & ~_LOCAL, size)


def _stored(call: str, kind: str, noc: int) -> tuple[int, int]:
    state = here.kernel.states.get((kind, _network(noc)))
    if state is None:
        raise KernelArgumentError(f"{call}: noc_async_{kind}_set_state was not called on this network")
    return int(state[0]), int(state[1])


def noc_async_read_set_state(src_noc_addr: int, noc: int = -1) -> None:
    """Store the source of the following reads."""
    _store("read", noc, src_noc_addr, 0)


def noc_async_read_with_state(src_local_l1_addr: int, dst_local_l1_addr: int, size: int, noc: int = -1) -> None:
    """Start a read from the stored core or bank."""
    source, _ = _stored("noc_async_read_with_state", "read", noc)
    noc_async_read(source | src_local_l1_addr, dst_local_l1_addr, size, noc)


def noc_async_read_one_packet_set_state(src_noc_addr: int, size: int, vc: int = 0, noc: int = -1) -> None:
    """Store the following reads' source and size."""
    check_one_packet("noc_async_read_one_packet_set_state", size)
    _store("read", noc, src_noc_addr, size)


def noc_async_read_one_packet_with_state(
    src_local_l1_addr: int, dst_local_l1_addr: int, vc: int = 0, noc: int = -1
) -> None:
    """Start a read of stored size from the stored core or bank."""
    source, size = _stored("noc_async_read_one_packet_with_state", "read", noc)
    noc_async_read(source | src_local_l1_addr, dst_local_l1_addr, size, noc)


def noc_async_read_one_packet_with_state_with_trid(
    src_base_addr: int, src_addr: int, dest_addr: int, trid: int = 0, noc: int = -1
) -> None:
    """Start a read of the stored size with a transaction id."""
    noc_async_read_set_trid(trid, noc)
    noc_async_read_one_packet_with_state(src_base_addr + src_addr, dest_addr, 0, noc)


def noc_async_write_one_packet_set_state(dst_noc_addr: int, size: int, noc: int = -1, vc: int = 0) -> None:
    """Store the following writes' target and size."""
    check_one_packet("noc_async_write_one_packet_set_state", size)
    _store("write", noc, dst_noc_addr, size)


def noc_async_write_one_packet_with_state(src_local_l1_addr: int, dst_local_l1_addr: int, noc: int = -1) -> None:
    """Start a write of stored size to the stored core or bank."""
    target, size = _stored("noc_async_write_one_packet_with_state", "write", noc)
    noc_async_write(src_local_l1_addr, target | dst_local_l1_addr, size, noc)


def noc_async_write_set_state(dst_noc_addr: int, noc: int = -1, vc: int = 0) -> None:
    """Store the target of the following writes."""
    _store("write", noc, dst_noc_addr, 0)


def noc_async_write_with_state(src_local_l1_addr: int, dst_local_l1_addr: int, size: int, noc: int = -1) -> None:
    """Start a write to the stored core or bank."""
    target, _ = _stored("noc_async_write_with_state", "write", noc)
    noc_async_write(src_local_l1_addr, target | dst_local_l1_addr, size, noc)


def noc_async_write_one_packet_with_trid_set_state(
    dst_noc_addr: int, cmd_buf: int = 0, noc: int = -1, vc: int = 0
) -> None:
    """Store the target of the following writes with a transaction id."""
    _store("write", noc, dst_noc_addr, 0)


def noc_async_write_one_packet_with_trid_with_state(
    src_local_l1_addr: int, dst_local_l1_addr: int, size: int, trid: int, cmd_buf: int = 0, noc: int = -1
) -> None:
    """Start a transaction-id write to the stored core or bank."""
    check_one_packet("noc_async_write_one_packet_with_trid_with_state", size)
    noc_async_write_set_trid(trid, noc)
    noc_async_write_with_state(src_local_l1_addr, dst_local_l1_addr, size, noc)


def noc_async_write_one_packet_with_trid(
    src_local_l1_addr: int, dst_noc_addr: int, size: int, trid: int, cmd_buf: int = 0, noc: int = -1, vc: int = 0
) -> None:
    """Start a write with a transaction id."""
    check_one_packet("noc_async_write_one_packet_with_trid", size)
    noc_async_write_set_trid(trid, noc)
    noc_async_write(src_local_l1_addr, dst_noc_addr, size, noc)


def noc_async_write_multicast_one_packet(
    src_local_l1_addr: int, dst_noc_addr_multicast: int, size: int, num_dests: int, linked: bool = False, noc: int = -1
) -> None:
    """Start a multicast of one packet."""
    check_one_packet("noc_async_write_multicast_one_packet", size)
    noc_async_write_multicast(src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, linked, noc)


def noc_inline_dw_write_set_state(
    addr: int, val: int = 0, be: int = 0xF, cmd_buf: int = 0, noc: int = -1, vc: int = 0
) -> None:
    """Store the following words' target and their written bytes."""
    here.kernel.states["word", _network(noc)] = (addr, be)


def noc_inline_dw_write_with_state(val: int, addr: int = 0, cmd_buf: int = 0, noc: int = -1) -> None:
    """Start writing a word to the stored address."""
    target, enabled = _stored("noc_inline_dw_write_with_state", "word", noc)
    noc_inline_dw_write(target if addr == 0 else target & ~_LOCAL | addr, val, enabled, noc)


# Transaction ids.


def noc_async_read_set_trid(trid: int = 0, noc: int = -1) -> None:
    """Set the transaction id of following reads, 0 to 15."""
    here.run.set_trid(False, trid, noc)


def noc_async_write_set_trid(trid: int = 0, noc: int = -1) -> None:
    """Set the transaction id of following writes, 0 to 15."""
    here.run.set_trid(True, trid, noc)


def noc_async_read_barrier_with_trid(trid: int, noc: int = -1) -> None:
    """Wait until the reads with a transaction id have arrived."""
    here.run.noc_barrier(0, noc, trid)


def noc_async_write_flushed_with_trid(trid: int, noc: int = -1) -> None:
    """Wait until the writes with a transaction id have left."""
    here.run.noc_barrier(1, noc, trid)


def noc_async_write_barrier_with_trid(trid: int, noc: int = -1) -> None:
    """Wait until the writes with a transaction id have arrived."""
    here.run.noc_barrier(2, noc, trid)


# The rest.


def noc_async_posted_writes_flushed(noc: int = -1) -> None:
    """Wait until all writes have left."""
    here.run.noc_barrier(1, noc)


def reset_noc_trid_barrier_counter(id_mask: int = 0xFFFF, noc: int = -1) -> None:
    """Clear transfers of transaction ids, one bit each, from later barriers.

    No later barrier waits for them.
    """
    here.run.reset_trids(id_mask, noc)


def _receivers(call: str, addr: int, num_dests: int) -> list[int]:
    """Return NoC addresses of a location on other cores of a rectangle."""
    x1, y1, x0, y0 = (addr >> bit & 63 for bit in (36, 42, 48, 54))
    own = tuple(here.kernel.noc_coord)
    columns, rows = range(min(x0, x1), max(x0, x1) + 1), range(min(y0, y1), max(y0, y1) + 1)
    workers = set(here.kernel.banks[1])
    targets = [(x, y) for y in rows for x in columns if (x, y) != own and (x, y) in workers]
    if len(targets) != num_dests:
        text = f"{call}: the rectangle has {len(targets)} receivers, but num_dests is {num_dests}"
        raise KernelArgumentError(text)
    return [y << 42 | x << 36 | addr & _LOCAL for x, y in targets]


def noc_semaphore_inc_multicast(addr: int, incr: int, num_dests: int, noc_id: int = -1, vc: int = 0) -> None:
    """Start incrementing the semaphores of all other cores of a rectangle."""
    for target in _receivers("noc_semaphore_inc_multicast", addr, num_dests):
        noc_semaphore_inc(target, incr, noc_id)


def noc_inline_mcast_dw_write(
    addr: int,
    val: int,
    be: int = 0xF,
    noc: int = -1,
    vc: int = 0,
    customized_src_addr: int = 0,
    num_dest: int = 1,
) -> None:
    """Start writing one 32-bit word to all other cores of a rectangle."""
    for target in _receivers("noc_inline_mcast_dw_write", addr, num_dest):
        noc_inline_dw_write(target, val, be, noc)


def get_bank_index(page_id: int, dram: bool = True) -> int:
    """Return the bank of a page of an interleaved buffer."""
    banks = here.kernel.banks[0 if dram else 1]
    return page_id % len(banks)


def get_noc_addr_from_bank_id(bank_id: int, bank_address_offset: int, noc: int = -1, *, dram: bool = True) -> int:
    """Return an offset's NoC address in a DRAM or L1 bank.

    In an L1 bank with `dram=False`.

    Raises:
        KernelArgumentError: there is no such bank.
    """
    banks = here.kernel.banks[0 if dram else 1]
    if not 0 <= bank_id < len(banks):
        raise KernelArgumentError(f"get_noc_addr_from_bank_id: bank {bank_id} of {len(banks)}")
    x, y = banks[bank_id]
    here.run.spend(1)
    return int(y << 42 | x << 36 | bank_address_offset)


def noc_async_write_zeros(dst_noc_addr: int, size: int, noc: int = -1) -> None:
    """Start writing zeros, word by word."""
    if size % 4:
        raise KernelArgumentError(f"noc_async_write_zeros: {size} B are not whole words")
    run = here.run
    for offset in range(0, size, 4):
        while not run.noc_inline_dw_write(dst_noc_addr + offset, 0, noc):
            switch()
