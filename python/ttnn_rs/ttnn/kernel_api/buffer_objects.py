"""Buffers in the object style of 0.81.1: `CircularBuffer` and `DataflowBuffer`.

Every method is one of the functions of this package; the objects keep its first argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ttnn.kernel_api import circular_buffers as cb
from ttnn.kernel_api.context import here, switch
from ttnn.kernel_api.l1 import L1Pointer

_FACE = 16


def get_tile_address(cb_id: int, tile_index: int) -> int:
    """Return the L1 address of a tile at the front."""
    return cb.get_read_ptr(cb_id) + tile_index * cb.get_tile_size(cb_id)


get_tile_l1_byte_address = get_tile_address


def read_tile_value(cb_id: int, tile_index: int, element_offset: int) -> int:
    """Return the 32-bit word `element_offset` of a tile at the front."""
    run = here.run
    while (word := run.read_tile_value(cb_id, tile_index, element_offset)) is None:
        switch()
    return int(word)


class CircularBuffer:
    """A circular buffer of this core."""

    __slots__ = ("id",)

    class AddrSelector(Enum):
        """The end of the buffer that a transfer uses."""

        WRITE_PTR = 0
        READ_PTR = 1

    def __init__(self, cb_id: int) -> None:
        self.id = int(cb_id)

    def get_id(self) -> int:
        """Return its id."""
        return self.id

    get_cb_id = get_id

    def reserve_back(self, num_pages: int) -> None:
        """Wait until pages at the back are free."""
        cb.cb_reserve_back(self.id, num_pages)

    def push_back(self, num_pages: int) -> None:
        """Publish reserved pages."""
        cb.cb_push_back(self.id, num_pages)

    def wait_front(self, num_pages: int) -> None:
        """Wait until pages are at the front."""
        cb.cb_wait_front(self.id, num_pages)

    def pop_front(self, num_pages: int) -> None:
        """Free pages of the front."""
        cb.cb_pop_front(self.id, num_pages)

    def pages_reservable_at_back(self, num_pages: int) -> bool:
        """Return whether pages at the back are free."""
        return cb.cb_pages_reservable_at_back(self.id, num_pages)

    def pages_available_at_front(self, num_pages: int) -> bool:
        """Return whether pages are at the front."""
        return cb.cb_pages_available_at_front(self.id, num_pages)

    def get_write_ptr(self) -> int:
        """Return the L1 address of the back."""
        return cb.get_write_ptr(self.id)

    def get_read_ptr(self) -> int:
        """Return the L1 address of the front."""
        return cb.get_read_ptr(self.id)

    def get_tile_size(self) -> int:
        """Return the bytes of a tile."""
        return cb.get_tile_size(self.id)

    def get_tile_hw(self) -> int:
        """Return the datums of a tile."""
        return cb.get_tile_hw(self.id)

    def get_dataformat(self) -> int:
        """Return the code of the data format."""
        return cb.get_dataformat(self.id)

    def get_tile_address(self, tile_index: int) -> int:
        """Return the L1 address of a tile at the front."""
        return get_tile_address(self.id, tile_index)

    def read_tile_value(self, tile_index: int, element_offset: int) -> int:
        """Return a 32-bit word of a tile at the front."""
        return read_tile_value(self.id, tile_index, element_offset)


@dataclass(frozen=True)
class CircularBufferView:
    """One end of a circular buffer."""

    cb: CircularBuffer
    selector: CircularBuffer.AddrSelector


def use(cb: CircularBuffer, selector: CircularBuffer.AddrSelector) -> CircularBufferView:
    """Return a transfer's buffer end; C++ has a template argument selector."""
    return CircularBufferView(cb, selector)


@dataclass(frozen=True)
class DfbScopedLock:
    """Entries that a kernel reads or writes itself."""

    address: int

    def get_ptr(self, dtype: Any = np.uint32) -> L1Pointer:
        """Return a pointer to the first of them."""
        return L1Pointer(self.address, dtype)


def _tile_shape(cb_id: int) -> tuple[int, int]:
    *_, height, width = here.run.cb_interface(cb_id)
    return int(height), int(width)


class DataflowBuffer(CircularBuffer):
    """A circular buffer in the words of 0.81.1: its pages are entries."""

    __slots__ = ()

    def get_entry_size(self) -> int:
        """Return the bytes of an entry."""
        return cb.get_local_cb_interface(self.id).fifo_page_size

    def get_total_num_entries(self) -> int:
        """Return the number of entries."""
        return cb.get_local_cb_interface(self.id).fifo_num_pages

    def get_stride_size(self) -> int:
        """Return an entry's distance in bytes: entries have no gaps."""
        return self.get_entry_size()

    def get_tile_num_faces(self) -> int:
        """Return the faces of a tile."""
        return cb.get_tile_num_faces(self.id)

    def get_tile_r_dim(self) -> int:
        """Return the rows of a tile."""
        return _tile_shape(self.id)[0]

    def get_tile_c_dim(self) -> int:
        """Return the columns of a tile."""
        return _tile_shape(self.id)[1]

    def get_face_r_dim(self) -> int:
        """Return the rows of a face."""
        return min(self.get_tile_r_dim(), _FACE)

    def get_num_faces_r_dim(self) -> int:
        """Return the faces of a tile one above the other."""
        return max(1, self.get_tile_r_dim() // _FACE)

    def get_num_faces_c_dim(self) -> int:
        """Return the faces of a tile side by side."""
        return max(1, self.get_tile_c_dim() // _FACE)

    def get_partial_face(self) -> int:
        """Return 1 if faces have fewer than 16 rows."""
        return int(self.get_tile_r_dim() < _FACE)

    def get_narrow_tile(self) -> int:
        """Return 1 if tiles have fewer than 32 columns."""
        return int(self.get_tile_c_dim() < 2 * _FACE)

    def finish(self) -> None:
        """Do nothing (deprecated)."""

    def write_barrier(self, noc: Any) -> None:
        """Wait until all writes have arrived (deprecated)."""
        noc.async_write_barrier()

    @contextmanager
    def scoped_write_lock(self, num_entries: int = 1) -> Iterator[DfbScopedLock]:
        """Mark reserved entries as being written in a `with` block.

        It does not reserve or push.
        """
        yield DfbScopedLock(self.get_write_ptr())

    @contextmanager
    def scoped_read_lock(self, num_entries: int = 1) -> Iterator[DfbScopedLock]:
        """Mark entries at the front as being read in a `with` block.

        It does not wait or pop.
        """
        yield DfbScopedLock(self.get_read_ptr())
