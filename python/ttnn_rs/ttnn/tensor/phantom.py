"""Buffers without memory, for captured graphs that do not run."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ttnn.base import nd_shards
from ttnn.base.enums import BufferType
from ttnn.base.observers import OBSERVERS, Observer, observing
from ttnn.base.tensor_spec import TensorSpec, require_allocatable

if TYPE_CHECKING:
    from ttnn.device.chip import Chip
    from ttnn.tensor.host_buffer import Raw


class PhantomBuffer:
    """A buffer with a real one's properties, address 0, no bytes.

    It counts as allocated until it is released, or until the capture ends that it was made for.
    """

    has_own_addresses: ClassVar[bool] = False
    _ids: ClassVar[itertools.count[int]] = itertools.count(-1, -1)

    def __init__(self, spec: TensorSpec, chip: Chip, places: Sequence[int]) -> None:
        config = spec.memory_config
        dram = config.buffer_type in (BufferType.DRAM, BufferType.TRACE)
        facts = chip.facts
        alignment = facts["dram_alignment" if dram else "l1_alignment"]
        self.address = 0
        self.places = self._all = list(places)
        self.buffer_type = config.buffer_type.value
        self.page_bytes = spec.page_bytes
        self.aligned_page_bytes = -(-spec.page_bytes // alignment) * alignment
        self.num_pages = spec.num_pages
        self.page_columns = max(1, spec.page_grid[1])
        self.size = self.page_bytes * self.num_pages
        banks = facts["dram_banks"] if dram else facts["grid"][0] * facts["grid"][1]
        self.bytes_per_bank = pages_per_bank(spec, banks) * self.aligned_page_bytes
        self.unique_id = next(PhantomBuffer._ids)
        self._capture: Observer | None = next(observer for observer in observing() if observer.blocks)

    @property
    def is_on_all_chips(self) -> bool:
        """Return True if it is on all chips of its mesh."""
        return self.places == self._all

    @property
    def is_allocated(self) -> bool:
        """Return True if it was not released, and its capture continues."""
        return self._capture is not None and self._capture in OBSERVERS

    def deallocate(self) -> None:
        """Release it."""
        self._capture = None

    def on(self, places: Sequence[int]) -> PhantomBuffer:
        """Return the same buffer on some of its chips."""
        part = copy.copy(self)
        part.places = list(places)
        return part

    def write(self, data: Raw, row_bytes: int, place: int | None = None) -> None:
        """Write nothing."""

    def read(self, row_bytes: int, rows: int, require_written: bool = False, place: int | None = None) -> Any:
        """Return zeros."""
        return np.zeros(row_bytes * rows, np.uint8)


def pages_per_bank(spec: TensorSpec, banks: int) -> int:
    """Return the pages that the fullest bank holds of a tensor."""
    config = spec.memory_config
    if config.interleaved:
        return -(-spec.num_pages // banks)
    require_allocatable(spec)
    if config.nd_shard_spec is not None:
        return nd_shards.deal(spec).slots
    shards = config.shard_spec
    assert shards is not None
    height, width = (-(-size // page) for size, page in zip(shards.shape, spec.page_shape, strict=True))
    return height * width
