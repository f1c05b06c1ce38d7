"""Global circular buffers: one core fills others' L1 pages.

From program to program.

On every sender and receiver the buffer has the same bytes of L1, and a page of configuration next to it, which is
where kernels find the other side:

| word | sender | receiver |
|---|---|---|
| 0 | 1 | 0 |
| 1 | number of receivers | NoC x of the sender |
| 2 | address of the table of receivers: NoC x and y of each | NoC y of the sender |
| 3 | address of the data | address of the data |
| 4 | bytes of the data | bytes of the data |
| 5 | address that the next program starts at | likewise |
| 6 | address of the counters of the first receiver | address of its own counters |

A receiver's counters are two words, 16 bytes apart, at the same address on both sides: units of 16 bytes that were
sent, and that were taken out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ttnn.base.core_range import CoreCoord, CoreLike, CoreRange, CoreRangeSet, as_core, check_in_grid
from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ArgumentError, MemoryConfigError
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer, ShardedBufferConfig, create_buffer
from ttnn.operation.program_keys import STANDS_FOR

__all__ = ["CreateGlobalCircularBuffer", "GlobalCircularBuffer", "create_global_circular_buffer"]

UNIT = 16
"""Bytes that the counters count; also their distance."""
_WORDS = 8
"""Words of a configuration before the table of receivers."""


class GlobalCircularBuffer:
    """A circular buffer between cores, which outlives programs. Made by `create_global_circular_buffer`."""

    def __init__(
        self,
        device: MeshDevice,
        mapping: Sequence[tuple[CoreCoord, CoreRangeSet]],
        data: Buffer,
        config: Buffer,
        size: int,
    ) -> None:
        self.device = device
        self._mapping = list(mapping)
        self._data = data
        self._config = config
        self._size = size

    def cb_buffer(self) -> Buffer:
        """Return the memory of the pages."""
        return self._data

    def buffer_address(self) -> int:
        """Return the L1 address of the pages, the same on every core."""
        return self._data.address()

    def config_address(self) -> int:
        """Return the L1 address of the configuration, the same on every core."""
        return self._config.address()

    def size(self) -> int:
        """Return its bytes on each receiver."""
        return self._size

    def sender_receiver_core_mapping(self) -> list[tuple[CoreCoord, CoreRangeSet]]:
        """Return each sender with its receivers."""
        return list(self._mapping)

    def sender_cores(self) -> CoreRangeSet:
        """Return the senders."""
        return CoreRangeSet([CoreRange(sender, sender) for sender, _ in self._mapping])

    def receiver_cores(self) -> CoreRangeSet:
        """Return the receivers."""
        return CoreRangeSet([core_range for _, receivers in self._mapping for core_range in receivers.ranges()])

    def all_cores(self) -> CoreRangeSet:
        """Return senders and receivers."""
        return CoreRangeSet([*self.sender_cores().ranges(), *self.receiver_cores().ranges()])

    def __repr__(self) -> str:
        pairs = ", ".join(f"{sender} -> {receivers}" for sender, receivers in self._mapping)
        return f"GlobalCircularBuffer({self._size} B at {self.buffer_address()}: {pairs})"


STANDS_FOR[GlobalCircularBuffer] = lambda cb: (type(cb), cb.buffer_address(), cb.config_address(), cb.size())


def create_global_circular_buffer(
    mesh_device: MeshDevice,
    sender_receiver_core_mapping: Sequence[tuple[CoreLike, CoreRangeSet]],
    size: int,
    buffer_type: BufferType = BufferType.L1,
) -> GlobalCircularBuffer:
    """Return a new global circular buffer; all counts are 0.

    Args:
        mesh_device: Its device.
        sender_receiver_core_mapping: Each sender with the cores whose buffers it fills.
        size: Bytes on each core, a multiple of 16.
        buffer_type: L1 or L1_SMALL.

    Raises:
        MemoryConfigError: another size or memory, a core with two roles.
        DeviceError: a core outside the grid.
        OutOfMemoryError: L1 is full.
    """
    call = "create_global_circular_buffer"
    if not isinstance(mesh_device, MeshDevice):
        raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {mesh_device!r}")
    if buffer_type not in (BufferType.L1, BufferType.L1_SMALL):
        raise MemoryConfigError(f"{call}: circular buffers must be in L1, not in {buffer_type}")
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0 or size % UNIT:
        raise MemoryConfigError(f"{call}: size must be a multiple of {UNIT} B, got {size!r}")
    pairs = sender_receiver_core_mapping
    if not isinstance(pairs, (list, tuple)) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ArgumentError(f"{call}: expected a list of pairs of a sender and its receivers, got {pairs!r}")
    mapping = [(as_core(sender), receivers) for sender, receivers in pairs]
    cores: list[CoreCoord] = []
    for sender, receivers in mapping:
        if not isinstance(receivers, CoreRangeSet) or receivers.empty():
            raise ArgumentError(f"{call}: sender {sender} needs a CoreRangeSet of receivers, got {receivers!r}")
        check_in_grid(f"{call}: sender {sender} has as receiver", receivers, mesh_device.chip["grid"])
        cores += [sender, *receivers.cores()]
    if not cores:
        raise ArgumentError(f"{call}: the mapping names no sender")
    counts = Counter(cores)
    twice = next((core for core in cores if counts[core] > 1), None)
    if twice is not None:
        raise MemoryConfigError(f"{call}: core {twice} appears twice; a core sends or receives, and from one sender")
    words = _configurations(mesh_device, mapping)
    data = _on_each_core(mesh_device, cores, size, buffer_type)
    config = _on_each_core(mesh_device, cores, len(words[0]) * 4, buffer_type)
    _fill_in(words, mapping, data.address(), config.address(), size)
    config.write(words)
    return GlobalCircularBuffer(mesh_device, mapping, data, config, size)


def _on_each_core(device: MeshDevice, cores: Sequence[CoreCoord], size: int, kind: BufferType) -> Buffer:
    config = ShardedBufferConfig(
        device=device,
        size=len(cores) * size,
        page_size=size,
        tensor_pages=(len(cores), 1),
        shard_pages=(1, 1),
        cores=cores,
        buffer_type=kind,
    )
    return create_buffer(config)


def _configurations(device: MeshDevice, mapping: Sequence[tuple[CoreCoord, CoreRangeSet]]) -> np.ndarray:
    """Return a configuration per core, with the coordinates filled in."""
    most = max(receivers.num_cores() for _, receivers in mapping)
    table = -(-2 * most // 4) * 4
    rows: list[list[int]] = []
    for sender, receivers in mapping:
        x_y = device.worker_core_from_logical_core(sender)
        places = [device.worker_core_from_logical_core(core) for core in receivers.cores()]
        rows.append([1, len(places), *[0] * (_WORDS - 2), *(value for place in places for value in (place.x, place.y))])
        rows += [[0, x_y.x, x_y.y] for _ in places]
    words = np.zeros((len(rows), _WORDS + table + most * 2 * UNIT // 4), np.uint32)
    for row, values in zip(words, rows, strict=True):
        row[: len(values)] = values
    return words


def _fill_in(
    words: np.ndarray, mapping: Sequence[tuple[CoreCoord, CoreRangeSet]], data: int, config: int, size: int
) -> None:
    """Write the addresses into the configurations."""
    most = max(receivers.num_cores() for _, receivers in mapping)
    counters = config + words.shape[1] * 4 - most * 2 * UNIT
    words[:, 3:6] = (data, size, data)
    row = 0
    for _, receivers in mapping:
        words[row, 2], words[row, 6] = config + _WORDS * 4, counters
        for number in range(receivers.num_cores()):
            words[row + 1 + number, 6] = counters + number * 2 * UNIT
        row += 1 + receivers.num_cores()


CreateGlobalCircularBuffer = create_global_circular_buffer
