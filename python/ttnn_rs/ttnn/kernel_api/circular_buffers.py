"""Circular buffers: pages from a producer to a consumer on one core."""

from __future__ import annotations

from typing import NamedTuple

from ttnn.kernel_api.context import here, switch


def cb_reserve_back(operand: int, num_pages: int) -> None:
    """Wait until `num_pages` pages at the back are free."""
    run = here.run
    while not run.cb_reserve_back(operand, num_pages):
        switch()


def cb_push_back(operand: int, num_pages: int) -> None:
    """Publish `num_pages` reserved pages."""
    here.run.cb_push_back(operand, num_pages)


def cb_wait_front(operand: int, num_pages: int) -> None:
    """Wait until `num_pages` pages are at the front.

    Successive waits do not add up.
    """
    run = here.run
    while not run.cb_wait_front(operand, num_pages):
        switch()


def cb_pop_front(operand: int, num_pages: int) -> None:
    """Free `num_pages` pages of the front."""
    here.run.cb_pop_front(operand, num_pages)


def cb_pages_available_at_front(operand: int, num_pages: int) -> bool:
    """Return whether `num_pages` pages are at the front, without waiting."""
    run = here.run
    while (answer := run.cb_pages_available_at_front(operand, num_pages)) is None:
        switch()
    return bool(answer)


def cb_pages_reservable_at_back(operand: int, num_pages: int) -> bool:
    """Return whether `num_pages` pages at the back are free, without waiting."""
    run = here.run
    while (answer := run.cb_pages_reservable_at_back(operand, num_pages)) is None:
        switch()
    return bool(answer)


def get_write_ptr(operand: int) -> int:
    """Return the L1 address of the page at the back."""
    return int(here.run.get_write_ptr(operand))


def get_read_ptr(operand: int) -> int:
    """Return the L1 address of the page at the front."""
    return int(here.run.get_read_ptr(operand))


class CBInterface(NamedTuple):
    """A circular buffer as its kernel sees it. Sizes in bytes."""

    fifo_rd_ptr: int
    fifo_wr_ptr: int
    fifo_limit: int
    fifo_size: int
    fifo_page_size: int
    fifo_num_pages: int


def get_local_cb_interface(operand: int) -> CBInterface:
    """Return pointers and sizes of a circular buffer."""
    run = here.run
    address, page_bytes, pages, *_ = run.cb_interface(operand)
    size = page_bytes * pages
    read, write = run.get_read_ptr(operand), run.get_write_ptr(operand)
    return CBInterface(read, write, address + size, size, page_bytes, pages)


def get_tile_size(operand: int) -> int:
    """Return the bytes of a tile in the buffer's format."""
    return int(here.run.cb_interface(operand)[4])


def get_dataformat(operand: int) -> int:
    """Return the code of the buffer's data format."""
    return int(here.run.cb_interface(operand)[3])


def get_tile_hw(operand: int) -> int:
    """Return the datums of a tile."""
    *_, height, width = here.run.cb_interface(operand)
    return int(height * width)


def get_tile_num_faces(operand: int) -> int:
    """Return the faces of a tile."""
    *_, height, width = here.run.cb_interface(operand)
    return int(max(1, height // 16) * (width // 16))
