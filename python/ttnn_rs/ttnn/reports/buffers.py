"""Device buffers and pages, as the official reports list them.

The engine lists buffers without their layout. It is known from the tensors that have them; that of a buffer without a
tensor, which only programs of `ttnn.metal` make, is not known, and is None.

Source: tt-metal `ttnn/core/reports.cpp`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base import nd_shards
from ttnn.base.enums import BufferType, TensorMemoryLayout
from ttnn.base.exceptions import ArgumentError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.storage import TensorStorage
from ttnn.tensor.transfer import page_cores


@dataclass(frozen=True)
class BufferInfo:
    """A buffer: location, and usage of the fullest bank."""

    device_id: int
    address: int
    max_size_per_bank: int
    buffer_type: BufferType
    buffer_layout: TensorMemoryLayout | None

    def numbers(self) -> tuple[int, int, int, int, int | None]:
        """Return the fields as the database has them."""
        layout = None if self.buffer_layout is None else self.buffer_layout.value
        return self.device_id, self.address, self.max_size_per_bank, self.buffer_type.value, layout


@dataclass(frozen=True)
class BufferPageInfo:
    """A buffer's L1 page: number, core, and address."""

    device_id: int
    address: int
    core_y: int
    core_x: int
    bank_id: int
    page_index: int
    page_address: int
    page_size: int
    buffer_type: BufferType

    def numbers(self) -> tuple[int, ...]:
        """Return the fields as the database has them."""
        place = (self.device_id, self.address, self.core_y, self.core_x, self.bank_id)
        return (*place, self.page_index, self.page_address, self.page_size, self.buffer_type.value)


_specs: Final[dict[int, TensorSpec | None]] = {}
"""Tensor specification by buffer id; None if the buffer has no tensor."""


def learn(tensor: TensorStorage) -> None:
    """Remember the specification of a device tensor for its buffer."""
    buffer = tensor.buffer
    if buffer is not None and _specs.get(buffer.unique_id) is None:
        _specs[buffer.unique_id] = tensor.spec


def get_buffers(devices: MeshDevice | Iterable[MeshDevice]) -> list[BufferInfo]:
    """Return the buffers of a device, or of several.

    Raises:
        ArgumentError: no device.
        DeviceError: a device is closed.
    """
    found = []
    for device in _devices("get_buffers", devices):
        for listed, spec in _listed(device):
            layout = None if spec is None else spec.memory_config.memory_layout
            kind = BufferType(listed["buffer_type"])
            found.append(BufferInfo(device.id(), listed["address"], listed["bytes_per_bank"], kind, layout))
    return found


def get_buffer_pages(devices: MeshDevice | Iterable[MeshDevice]) -> list[BufferPageInfo]:
    """Return all L1 buffer pages of one or several devices.

    Buffers whose layout is not known are left out.

    Raises:
        ArgumentError: no device.
        DeviceError: a device is closed.
    """
    return [
        page
        for device in _devices("get_buffer_pages", devices)
        for listed, spec in _listed(device)
        if spec is not None and BufferType(listed["buffer_type"]) in (BufferType.L1, BufferType.L1_SMALL)
        for page in _pages(device, listed, spec)
    ]


def _listed(device: MeshDevice) -> list[tuple[dict[str, int], TensorSpec | None]]:
    """Return the engine's buffers with their tensors' specifications."""
    listed = device.engine.buffers()
    if any(facts["unique_id"] not in _specs for facts in listed):
        for found in gc.get_objects():
            # Not isinstance: some objects of other packages warn when they are asked for their class. A tensor whose
            # constructor raised has no device.
            if issubclass(type(found), TensorStorage) and getattr(found, "_device", None) is device:
                learn(found)
        for facts in listed:
            _specs.setdefault(facts["unique_id"], None)
    return [(facts, _specs[facts["unique_id"]]) for facts in listed]


def _pages(device: MeshDevice, listed: dict[str, int], spec: TensorSpec) -> Iterator[BufferPageInfo]:
    columns, rows = device.chip["grid"]
    kind = BufferType(listed["buffer_type"])
    for page, (x, y, slot) in enumerate(_places(spec, columns, columns * rows)):
        yield BufferPageInfo(
            device_id=device.id(),
            address=listed["address"],
            core_y=y,
            core_x=x,
            bank_id=y * columns + x,
            page_index=page,
            page_address=listed["address"] + slot * listed["aligned_page_bytes"],
            page_size=listed["page_bytes"],
            buffer_type=kind,
        )


def _places(spec: TensorSpec, columns: int, banks: int) -> Iterator[tuple[int, int, int]]:
    """Yield core (x, y) and slot of a tensor's L1 pages.

    Bank n is the n-th core, row by row.
    """
    config = spec.memory_config
    if config.interleaved:
        for page in range(spec.num_pages):
            slot, bank = divmod(page, banks)
            yield bank % columns, bank // columns, slot
        return
    cores = page_cores(spec)
    if config.nd_shard_spec is not None:
        slots: Any = nd_shards.deal(spec).slot.tolist()
    else:
        shards = config.shard_spec
        assert shards is not None
        height, width = (size // page for size, page in zip(shards.shape, spec.page_shape, strict=True))
        grid = spec.page_grid
        slots = [row % height * width + column % width for row in range(grid[0]) for column in range(grid[1])]
    for core, slot in zip(cores, slots, strict=True):
        yield core.x, core.y, slot


def _devices(call: str, devices: object) -> list[MeshDevice]:
    found = [devices] if isinstance(devices, MeshDevice) else devices
    if not isinstance(found, Iterable):
        raise ArgumentError(f"{call}: expected a ttnn.MeshDevice or several, got {type(devices).__name__}")
    opened = []
    for device in found:
        if not isinstance(device, MeshDevice):
            raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {type(device).__name__}")
        device._require_open(call)
        opened.append(device)
    return opened
