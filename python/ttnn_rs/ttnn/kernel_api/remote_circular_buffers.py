"""Circular buffers between cores: senders fill receivers' pages.

See `ttnn.metal.global_circular_buffer`.

Both sides find each other through the configuration in their L1. What was sent and what was taken out again is counted
in units of 16 bytes, in words that both sides can wait for.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.base.exceptions import CircularBufferError, KernelArgumentError, UnsupportedError
from ttnn.kernel_api.circular_buffers import get_read_ptr, get_write_ptr
from ttnn.kernel_api.context import here
from ttnn.kernel_api.dataflow import get_noc_addr, noc_async_write
from ttnn.kernel_api.l1 import L1Pointer, noc_semaphore_inc, noc_semaphore_wait_min

_UNIT = 16
"""Bytes per count of the counters.

It is also the distance of a receiver's two counters.
"""
_POINTER = 5
"""Configuration word with the start of the next program."""


class _Remote:
    """One end of a remote CB as its kernel sees it."""

    __slots__ = ("cb", "config", "counters", "moved", "page_bytes", "places", "pointer", "sends", "size", "start")

    def __init__(self, cb: int, config: int, page_bytes: int) -> None:
        words = [int(word) for word in L1Pointer(config).read(7)]
        self.cb, self.config, self.page_bytes = cb, config, page_bytes
        self.sends = bool(words[0])
        self.start, self.size, self.pointer = words[3], words[4], words[_POINTER]
        if self.sends:
            table = [int(word) for word in L1Pointer(words[2]).read(2 * words[1])]
            self.places = list(zip(table[::2], table[1::2], strict=True))
        else:
            self.places = [(words[1], words[2])]
        self.counters = words[6]
        # What this end itself has counted: sent to every receiver, or taken out.
        self.moved = int(L1Pointer(self.counters + (0 if self.sends else _UNIT))[0])

    def units(self, call: str, pages: int) -> int:
        """Return a number of pages as units, after checking its bounds."""
        size = pages * self.page_bytes
        if pages <= 0 or size > self.size:
            raise CircularBufferError(
                f"{call}: remote CB {self.cb} has {self.size // self.page_bytes} pages, {pages} are requested",
                cb=self.cb,
            )
        return size // _UNIT

    def advance(self, units: int) -> None:
        """Advance the pointer past pages, wrapping at the end."""
        self.moved += units
        self.pointer = self.start + (self.pointer - self.start + units * _UNIT) % self.size


def _end(call: str, cb_id: int, *, sends: bool | None = None) -> _Remote:
    """Return this core's end of a remote CB.

    Raises:
        CircularBufferError: there is none, or it is the other end.
    """
    kernel = here.kernel
    end = kernel.remotes.get(cb_id)
    if end is None:
        raise CircularBufferError(f"{call}: remote CB {cb_id} is not configured on this core", cb=cb_id)
    if isinstance(end, tuple):
        end = kernel.remotes[cb_id] = _Remote(cb_id, *end)
    if sends is not None and end.sends is not sends:
        side = "sends" if end.sends else "receives"
        raise CircularBufferError(f"{call}: this core {side} through remote CB {cb_id}", cb=cb_id)
    return end  # type: ignore[no-any-return]


def remote_cb_reserve_back(cb_id: int, num_pages: int) -> None:
    """Wait until `num_pages` pages are free on every receiver.

    Raises:
        CircularBufferError: this core does not send through it, or there are fewer pages at all.
    """
    end = _end("remote_cb_reserve_back", cb_id, sends=True)
    needed = end.moved + end.units("remote_cb_reserve_back", num_pages) - end.size // _UNIT
    for receiver in range(len(end.places)):
        if needed > 0:
            noc_semaphore_wait_min(L1Pointer(end.counters + (2 * receiver + 1) * _UNIT), needed)


def remote_cb_push_back_and_write_pages(
    cb_id: int,
    local_cb_addr: int,
    num_pages: int,
    num_rows: int,
    coalesced_num_pages_per_row: int,
    coalesced_page_size: int,
    noc: int = -1,
) -> None:
    """Start writing pages to every receiver, and count them as sent.

    The bytes at `local_cb_addr` are `num_rows` rows. A row has a part for each receiver, in their order, of
    `coalesced_num_pages_per_row` pieces of `coalesced_page_size` bytes.

    Raises:
        CircularBufferError: this core does not send through it.
        KernelArgumentError: the pieces are not the pages.
    """
    call = "remote_cb_push_back_and_write_pages"
    end = _end(call, cb_id, sends=True)
    units = end.units(call, num_pages)
    part = coalesced_num_pages_per_row * coalesced_page_size
    if part * num_rows != units * _UNIT:
        raise KernelArgumentError(
            f"{call}: {num_rows} rows of {coalesced_num_pages_per_row} pieces of {coalesced_page_size} B are not "
            f"{num_pages} pages of {end.page_bytes} B"
        )
    for receiver, (x, y) in enumerate(end.places):
        target = end.pointer
        for row in range(num_rows):
            source = local_cb_addr + row * part * len(end.places) + receiver * part
            for piece in range(coalesced_num_pages_per_row):
                place = get_noc_addr(x, y, target)
                noc_async_write(source + piece * coalesced_page_size, place, coalesced_page_size, noc)
                target = end.start + (target - end.start + coalesced_page_size) % end.size
        counter = end.counters + 2 * receiver * _UNIT
        L1Pointer(counter)[0] = end.moved + units
        noc_semaphore_inc(get_noc_addr(x, y, counter), units, noc)
    end.advance(units)


def remote_cb_sender_barrier(cb_id: int) -> None:
    """Wait until the receivers have popped everything that was sent.

    Raises:
        CircularBufferError: this core does not send through it.
    """
    end = _end("remote_cb_sender_barrier", cb_id, sends=True)
    for receiver in range(len(end.places)):
        noc_semaphore_wait_min(L1Pointer(end.counters + (2 * receiver + 1) * _UNIT), end.moved)


def remote_cb_wait_front(cb_id: int, num_pages: int) -> None:
    """Wait until `num_pages` pages have arrived.

    Raises:
        CircularBufferError: this core does not receive through it, or there are fewer pages at all.
    """
    end = _end("remote_cb_wait_front", cb_id, sends=False)
    units = end.units("remote_cb_wait_front", num_pages)
    noc_semaphore_wait_min(L1Pointer(end.counters), end.moved + units)


def remote_cb_pop_front(cb_id: int, num_pages: int, noc: int = -1) -> None:
    """Pop pages, and notify the sender.

    Raises:
        CircularBufferError: this core does not receive through it.
    """
    end = _end("remote_cb_pop_front", cb_id, sends=False)
    units = end.units("remote_cb_pop_front", num_pages)
    end.advance(units)
    counter = end.counters + _UNIT
    L1Pointer(counter)[0] = end.moved
    noc_semaphore_inc(get_noc_addr(*end.places[0], counter), units, noc)


def align_local_cbs_to_remote_cb(cb_id: int, local_cb_indices: Sequence[int]) -> None:
    """Align local CBs in shared memory with the remote one's pointer.

    Raises:
        UnsupportedError: it is not at their start, as the previous program left it.
    """
    end = _end("align_local_cbs_to_remote_cb", cb_id)
    for index in local_cb_indices:
        if end.pointer not in (get_read_ptr(index), get_write_ptr(index)):
            raise UnsupportedError(
                f"align_local_cbs_to_remote_cb: CB {index} starts at {get_read_ptr(index)}, remote CB {cb_id} stands "
                f"at {end.pointer}; local circular buffers always start at their first page",
                "unimplemented",
            )


def resize_remote_sender_cb_interface(cb_id: int, page_size: int, noc: int = -1) -> None:
    """Set the page size of a remote CB at the sender.

    Raises:
        CircularBufferError: this core does not send through it.
        UnsupportedError: the pages would have to be moved: the size or the place is no multiple of the new page.
    """
    _resize(
        "resize_remote_sender_cb_interface", _end("resize_remote_sender_cb_interface", cb_id, sends=True), page_size
    )


def resize_remote_receiver_cb_interface(cb_id: int, page_size: int, noc: int = -1) -> None:
    """Set the page size of a remote CB at a receiver.

    Raises:
        CircularBufferError: this core does not receive through it.
        UnsupportedError: as `resize_remote_sender_cb_interface`.
    """
    call = "resize_remote_receiver_cb_interface"
    _resize(call, _end(call, cb_id, sends=False), page_size)


def _resize(call: str, end: _Remote, page_size: int) -> None:
    if page_size <= 0 or page_size % _UNIT or end.size % page_size or (end.pointer - end.start) % page_size:
        raise UnsupportedError(
            f"{call}: pages of {page_size} B in a remote CB of {end.size} B that is at {end.pointer - end.start}; "
            "both must be multiples of the page",
            "unimplemented",
        )
    end.page_bytes = page_size


def update_remote_cb_config_in_l1(cb_id: int) -> None:
    """Store pointers and counts, so that the next program continues from them."""
    end = _end("update_remote_cb_config_in_l1", cb_id)
    L1Pointer(end.config)[_POINTER] = end.pointer
