"""The object style of 0.81.1: `Noc`, `Semaphore`, endpoints. Buffers are in `buffer_objects`.

Every method is one of the functions of this package; the objects keep its first arguments. Designated initialisers of
C++ (`{.page_id = 3}`) are dictionaries here (`{"page_id": 3}`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.kernel_api import dataflow, l1, stateful
from ttnn.kernel_api.buffer_objects import CircularBuffer, CircularBufferView
from ttnn.kernel_api.context import here
from ttnn.kernel_api.scratchpads import CoreLocalMem, LocalTensorAccessor, Scratchpad

_Fields = Mapping[str, int]


@dataclass(frozen=True)
class UnicastEndpoint:
    """A core; arguments `noc_x`, `noc_y`, `addr`."""


@dataclass(frozen=True)
class MulticastEndpoint:
    """A rectangle of cores; arguments `noc_x_start`, `noc_y_start`, `noc_x_end`, `noc_y_end`, `addr`."""


@dataclass(frozen=True)
class AllocatorBank:
    """A bank; arguments `bank_id`, `addr`. `dram=False`: the L1 of a core."""

    dram: bool = True


class Noc:
    """One of the networks; by default the kernel's own."""

    __slots__ = ("_noc",)

    def __init__(self, noc_id: int = -1) -> None:
        self._noc = noc_id

    def get_noc_id(self) -> int:
        """Return the NoC id."""
        return self._noc if self._noc >= 0 else int(here.kernel.noc_index)

    def async_read(
        self, src: Any, dst: Any, size: int, src_args: _Fields | None = None, dst_args: _Fields | None = None
    ) -> None:
        """Start reading `size` bytes of an endpoint or page into L1."""
        target = _local(dst, dst_args or {}, back=True)
        dataflow.noc_async_read(_remote(src, src_args or {}), target, size, self._noc)

    def async_write(
        self, src: Any, dst: Any, size: int, src_args: _Fields | None = None, dst_args: _Fields | None = None
    ) -> None:
        """Start writing `size` bytes of L1 to an endpoint or page."""
        source = _local(src, src_args or {}, back=False)
        dataflow.noc_async_write(source, _remote(dst, dst_args or {}), size, self._noc)

    def async_write_multicast(
        self,
        src: Any,
        dst: MulticastEndpoint,
        size: int,
        num_dests: int,
        src_args: _Fields | None = None,
        dst_args: _Fields | None = None,
        linked: bool = False,
        loopback: bool = False,
    ) -> None:
        """Start writing equal bytes to a rectangle; `loopback` includes this core."""
        source = _local(src, src_args or {}, back=False)
        fields = dict(dst_args or {})
        target = dataflow.get_noc_multicast_addr(
            fields["noc_x_start"], fields["noc_y_start"], fields["noc_x_end"], fields["noc_y_end"], fields["addr"]
        )
        send = dataflow.noc_async_write_multicast_loopback_src if loopback else dataflow.noc_async_write_multicast
        send(source, target, size, num_dests, linked, self._noc)

    # Transfers in parts: the target's core or bank is stored once, with `size` also how many bytes each has.

    def set_async_read_state(self, src: Any, size: int = 0, src_args: _Fields | None = None) -> None:
        """Store the source of the following reads.

        With `size` each is one packet of so many bytes.
        """
        place = _remote(src, src_args or {})
        if size:
            stateful.noc_async_read_one_packet_set_state(place, size, 0, self._noc)
        else:
            stateful.noc_async_read_set_state(place, self._noc)

    def async_read_with_state(
        self, src: Any, dst: Any, size: int = 0, src_args: _Fields | None = None, dst_args: _Fields | None = None
    ) -> None:
        """Start a read from the stored core or bank.

        Default: the stored packet size.
        """
        address = _remote(src, src_args or {}) & ((1 << 36) - 1)
        target = _local(dst, dst_args or {}, back=True)
        if size:
            stateful.noc_async_read_with_state(address, target, size, self._noc)
        else:
            stateful.noc_async_read_one_packet_with_state(address, target, 0, self._noc)

    def set_async_write_state(self, dst: Any, size: int = 0, dst_args: _Fields | None = None) -> None:
        """Store the target of the following writes.

        With `size` each is one packet of so many bytes.
        """
        place = _remote(dst, dst_args or {})
        if size:
            stateful.noc_async_write_one_packet_set_state(place, size, self._noc)
        else:
            stateful.noc_async_write_set_state(place, self._noc)

    def async_write_with_state(
        self, src: Any, dst: Any, size: int = 0, src_args: _Fields | None = None, dst_args: _Fields | None = None
    ) -> None:
        """Start a write to the stored core or bank.

        Default: the stored packet size.
        """
        source = _local(src, src_args or {}, back=False)
        address = _remote(dst, dst_args or {}) & ((1 << 36) - 1)
        if size:
            stateful.noc_async_write_with_state(source, address, size, self._noc)
        else:
            stateful.noc_async_write_one_packet_with_state(source, address, self._noc)

    def inline_dw_write(self, dst: Any, val: int, dst_args: _Fields | None = None, be: int = 0xF) -> None:
        """Start writing one 32-bit word."""
        dataflow.noc_inline_dw_write(_remote(dst, dst_args or {}), val, be, self._noc)

    def is_local_addr(self, noc_addr: int) -> bool:
        """Return True if an address is in this core's L1."""
        return (noc_addr >> 36 & 63, noc_addr >> 42 & 63) == tuple(here.kernel.noc_coord)

    def is_local_bank(self, virtual_x: int, virtual_y: int) -> bool:
        """Return whether a core is this one."""
        return (virtual_x, virtual_y) == tuple(here.kernel.noc_coord)

    def is_read_trid_flushed(self, trid: int) -> NoReturn:
        """Raise UnsupportedError: whether reads have arrived is known at barriers only."""
        raise UnsupportedError("Noc.is_read_trid_flushed: request counters are not modelled; use async_read_barrier")

    def async_write_zeros(self, dst: Any, size: int, dst_args: _Fields | None = None) -> None:
        """Start writing zeros."""
        stateful.noc_async_write_zeros(_remote(dst, dst_args or {}), size, self._noc)

    def async_read_barrier(self, trid: int | None = None) -> None:
        """Wait until all reads, or those with `trid`, have arrived."""
        here.run.noc_barrier(0, self._noc, -1 if trid is None else trid)

    def async_write_barrier(self, trid: int | None = None) -> None:
        """Wait until all writes have arrived."""
        here.run.noc_barrier(2, self._noc, -1 if trid is None else trid)

    def async_writes_flushed(self, trid: int | None = None) -> None:
        """Wait until all writes have left."""
        here.run.noc_barrier(1, self._noc, -1 if trid is None else trid)

    def set_read_trid(self, trid: int) -> None:
        """Set the transaction id of following reads, 0 to 15."""
        stateful.noc_async_read_set_trid(trid, self._noc)

    def set_write_trid(self, trid: int) -> None:
        """Set the transaction id of following writes, 0 to 15."""
        stateful.noc_async_write_set_trid(trid, self._noc)

    def async_atomic_barrier(self) -> None:
        """Wait until all atomics are done."""
        dataflow.noc_async_atomic_barrier(self._noc)

    def async_full_barrier(self) -> None:
        """Wait for everything."""
        dataflow.noc_async_full_barrier(self._noc)


class Semaphore:
    """A semaphore of the program, on this core."""

    __slots__ = ("address",)

    def __init__(self, semaphore_id: int) -> None:
        self.address = l1.get_semaphore(semaphore_id)

    def value(self) -> int:
        """Return its value."""
        return int(l1.L1Pointer(self.address)[0])

    def set(self, value: int) -> None:
        """Store a value."""
        l1.noc_semaphore_set(self.address, value)

    def wait(self, value: int) -> None:
        """Wait until it has this value."""
        l1.noc_semaphore_wait(self.address, value)

    def wait_min(self, value: int) -> None:
        """Wait until it has at least this value."""
        l1.noc_semaphore_wait_min(self.address, value)

    def up(self, value: int = 1, noc: Noc | None = None, noc_x: int | None = None, noc_y: int | None = None) -> None:
        """Add to it; with coordinates, to that of another core."""
        if noc_x is None or noc_y is None:
            l1.noc_semaphore_set(self.address, self.value() + value)
        else:
            network = noc.get_noc_id() if noc is not None else -1
            l1.noc_semaphore_inc(dataflow.get_noc_addr(noc_x, noc_y, self.address), value, network)

    def down(self, value: int = 1) -> None:
        """Wait until it is at least `value`, and subtract that."""
        l1.noc_semaphore_wait_min(self.address, value)
        l1.noc_semaphore_set(self.address, self.value() - value)

    def set_multicast(
        self,
        noc: Noc,
        noc_x_start: int,
        noc_y_start: int,
        noc_x_end: int,
        noc_y_end: int,
        num_dests: int,
        linked: bool = False,
        *,
        loopback: bool = False,
    ) -> None:
        """Copy its value to a rectangle's semaphores; `loopback` includes this one."""
        self.relay_multicast(
            noc, self, noc_x_start, noc_y_start, noc_x_end, noc_y_end, num_dests, linked, loopback=loopback
        )

    def inc_multicast(
        self,
        noc: Noc,
        noc_x_start: int,
        noc_y_start: int,
        noc_x_end: int,
        noc_y_end: int,
        value: int,
        num_dests: int,
    ) -> None:
        """Add to the semaphores of a rectangle of cores."""
        target = dataflow.get_noc_multicast_addr(noc_x_start, noc_y_start, noc_x_end, noc_y_end, self.address)
        stateful.noc_semaphore_inc_multicast(target, value, num_dests, noc.get_noc_id())

    def relay_unicast(self, noc: Noc, noc_x: int, noc_y: int, dst: Semaphore | None = None) -> None:
        """Copy its value to another core's semaphore, or to `dst`."""
        target = dataflow.get_noc_addr(noc_x, noc_y, (dst or self).address)
        l1.noc_semaphore_set_remote(self.address, target, noc.get_noc_id())

    def relay_multicast(
        self,
        noc: Noc,
        dst: Semaphore,
        noc_x_start: int,
        noc_y_start: int,
        noc_x_end: int,
        noc_y_end: int,
        num_dests: int,
        linked: bool = False,
        *,
        loopback: bool = False,
    ) -> None:
        """Copy its value to semaphore `dst` of a rectangle of cores."""
        target = dataflow.get_noc_multicast_addr(noc_x_start, noc_y_start, noc_x_end, noc_y_end, dst.address)
        send = l1.noc_semaphore_set_multicast_loopback_src if loopback else l1.noc_semaphore_set_multicast
        send(self.address, target, num_dests, linked, noc.get_noc_id())


def _remote(place: Any, fields: _Fields) -> int:
    """Return the NoC address of an endpoint or a page."""
    if isinstance(place, UnicastEndpoint):
        return dataflow.get_noc_addr(fields["noc_x"], fields["noc_y"], fields["addr"])
    if isinstance(place, AllocatorBank):
        return stateful.get_noc_addr_from_bank_id(fields["bank_id"], fields["addr"], dram=place.dram)
    if hasattr(place, "page_bytes"):
        return dataflow.get_noc_addr(fields["page_id"], place, fields.get("offset_bytes", 0))
    if isinstance(place, int):
        return place
    raise KernelArgumentError(f"Noc: {place!r} is not an endpoint, tensor accessor or NoC address")


def _local(place: Any, fields: _Fields, *, back: bool) -> int:
    """Return the L1 address of a buffer's back or front.

    Or of a place in this core's L1.
    """
    offset = fields.get("offset_bytes", 0)
    if isinstance(place, CircularBufferView):
        place, back = place.cb, place.selector is CircularBuffer.AddrSelector.WRITE_PTR
    if isinstance(place, CircularBuffer):
        return (place.get_write_ptr() if back else place.get_read_ptr()) + offset
    if isinstance(place, l1.L1Pointer):
        return place.address + offset
    if isinstance(place, Scratchpad):
        if not 0 <= offset < place.size_in_bytes():
            raise KernelArgumentError(
                f"Noc: offset_bytes={offset} is outside of a scratchpad of {place.size_in_bytes()} B"
            )
        return place.get_base_address() + offset
    if isinstance(place, LocalTensorAccessor):
        return place.get_bank_base_address() + offset
    if isinstance(place, CoreLocalMem):
        return place.get_address() + offset
    if isinstance(place, int):
        return place + offset
    raise KernelArgumentError(f"Noc: {place!r} is not a circular buffer or L1 address")
