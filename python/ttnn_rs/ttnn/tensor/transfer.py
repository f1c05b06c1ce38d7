"""Transfers between host and device: buffers, pages, shard cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, cast

import numpy as np

from ttnn.base import nd_shards
from ttnn.base.core_range import CoreCoord, CoreLike, as_core, check_in_grid
from ttnn.base.enums import Arch, BufferType, DataType, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import ArgumentError, DeviceError, DTypeError, MemoryConfigError, UnsupportedError
from ttnn.base.memory_config import Allocation
from ttnn.base.observers import OBSERVERS, allocates_nothing, blocked, elements_of
from ttnn.base.tensor_spec import TensorSpec, require_allocatable
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor.host_buffer import Parts, Raw
from ttnn.tensor.phantom import PhantomBuffer
from ttnn.tensor.topology import TensorTopology, chips_of

if TYPE_CHECKING:
    from ttnn._engine import Buffer
    from ttnn._engine import Device as Engine


def require_open(operator: str, device: MeshDevice) -> None:
    """Check that `device` is an open device.

    Raises:
        ArgumentError: it is no device.
        DeviceError: it is closed.
    """
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"{operator}: expected a ttnn.MeshDevice, got {type(device).__name__}")
    if not device.is_open:
        raise DeviceError(f"{operator}: the device is closed")


def check_queue(operator: str, cq_id: int | None) -> None:
    """Check the number of a command queue.

    Commands run in order whatever their queue is, so it is not used.

    Raises:
        ArgumentError: no device has such a queue.
    """
    if cq_id is None:
        return
    try:
        number = int(cq_id)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{operator}: cq_id must be a number, got {cq_id!r}") from None
    if number not in (0, 1):
        raise ArgumentError(f"{operator}: a device has command queues 0 and 1, got {number}")


def allocate(spec: TensorSpec, device: MeshDevice) -> tuple[Buffer, ...]:
    """Return the new buffer of a tensor's pages.

    It has one address on all chips of a mesh.

    Raises:
        DeviceError: the device is closed.
        OutOfMemoryError: there is no room.
        MemoryConfigError: sharded without cores, or over cores that the device does not have.
        DTypeError: fp8_e4m3 on another chip than a Blackhole.
    """
    require_open("allocating a tensor", device)
    if spec.dtype is DataType.FP8_E4M3 and device.arch() is not Arch.BLACKHOLE:
        arch = device.arch().name.lower()
        raise DTypeError(
            f"allocating a tensor: {arch} has no fp8_e4m3, only blackhole has; convert to float32 on the host.",
            vendor=f"FP8_E4M3 is not supported on arch {arch}",
        )
    _check_grid(spec, device)
    if OBSERVERS and allocates_nothing():
        # What takes it asks for its facts only; no transfer and no program happens.
        return (cast("Buffer", PhantomBuffer(spec, device.chips[0], [chip.place for chip in device.chips])),)
    config = spec._memory_config
    interleaved = config.interleaved
    if not interleaved:
        require_allocatable(spec)
    # An empty tensor has no pages on any core.
    if interleaved or spec.num_pages == 0:
        kind, columns = config.buffer_type.value, max(1, spec.page_grid[1])
        return (device.engine.allocate_interleaved(kind, spec.page_bytes, spec.num_pages, columns),)
    return (_allocate_sharded(spec, device.engine),)


def _allocate_sharded(spec: TensorSpec, engine: Engine) -> Buffer:
    config = spec._memory_config
    if config._nd_shard_spec is not None:
        return _allocate_dealt(spec, engine)
    rows, columns = spec.page_grid
    page_height, page_width = spec.page_shape
    shards = config._shard_spec
    assert shards is not None
    cores = shard_cores(spec)
    return engine.allocate_sharded(
        config.buffer_type.value,
        spec.page_bytes,
        (rows, columns),
        (shards.shape[0] // page_height, shards.shape[1] // page_width),
        [(core.x, core.y) for core in cores],
        config._allocation.value,
    )


def _allocate_dealt(spec: TensorSpec, engine: Engine) -> Buffer:
    if spec._memory_config._allocation is not Allocation.LOCKSTEP:
        raise UnsupportedError(
            "allocating a tensor: range lock-step allocation of n-dimensional shards is not implemented; "
            "use a ShardSpec.",
            "unimplemented",
        )
    where = nd_shards.deal(spec)
    kind = spec._memory_config.buffer_type
    return engine.allocate_listed(
        kind.value,
        spec.page_bytes,
        max(1, spec.page_grid[1]),
        [(core.x, core.y) for core in where.cores],
        where.slots,
        [*zip(where.core.tolist(), where.slot.tolist(), strict=True)],
    )


def _check_grid(spec: TensorSpec, device: MeshDevice) -> None:
    """Check that the device has the shards' cores or DRAM banks.

    A bank is core (number, 0).
    """
    config = spec._memory_config
    shards = config._shard_spec or config._nd_shard_spec
    if shards is None:
        return
    dram = config.buffer_type is BufferType.DRAM
    columns, rows = device.chip["dram_grid" if dram else "grid"]
    core = shards.grid._outside(columns, rows)
    if core is None:
        return
    vendor = _no_bank(core, "DRAM" if dram else "L1", columns * rows)
    if dram:
        raise MemoryConfigError(
            f"a tensor of {spec.shape} has a DRAM shard on ({core.x}, {core.y}); this device has the banks (0, 0) to "
            f"({columns - 1}, 0); got the grid {shards.grid.bounding_box()}.",
            vendor=vendor,
        )
    what = f"memory_config of a tensor of {spec.shape} places shards on"
    check_in_grid(what, shards.grid, (columns, rows), error=MemoryConfigError, vendor=vendor)


def _no_bank(core: CoreCoord, kind: str, banks: int) -> str:
    """Return the official sentence for a shard without a bank.

    It is on a core without one.
    """
    return (
        f"Invalid shard grid: shard core ({core.x}, {core.y}) has no {kind} bank on this device, which has {banks} of "
        "them. Derive the shard grid from the device (dram_grid_size() for DRAM, compute_with_storage_grid_size() for "
        "L1) rather than assuming a fixed size -- a harvested device exposes fewer banks than an unharvested one of "
        "the same type. An L1 shard core outside the compute grid is legal only while it is claimed via "
        "ServiceCoreManager."
    )


def write(
    buffers: Sequence[Buffer], spec: TensorSpec, host: Raw | Parts, device: MeshDevice, place: int | None = None
) -> None:
    """Write all pages of a tensor.

    Each chip that has the buffer gets the pages, or its part of them, in the order of the coordinates; with `place`
    only that chip gets them.
    """
    if OBSERVERS and blocked():
        return
    row_bytes = _row_bytes(spec)
    (buffer,) = buffers
    if isinstance(host, Parts):
        for place, raw in zip(chips_with(buffer, device), host, strict=True):
            buffer.write(raw, row_bytes, place)
    else:
        buffer.write(host, row_bytes, place)


def read(buffers: Sequence[Buffer], spec: TensorSpec, place: int | None = None) -> Raw:
    """Return a tensor's pages on a chip, by default its first."""
    if spec.num_pages == 0:
        return np.empty(0, dtype=np.uint8)
    if OBSERVERS and blocked():
        known = elements_of(buffers[0])
        return np.zeros(spec.raw_bytes, np.uint8) if known is None else known
    if place is None:
        return buffers[0].read(_row_bytes(spec), spec.page_grid[0])
    return buffers[0].read(_row_bytes(spec), spec.page_grid[0], place=place)


def read_parts(buffers: Sequence[Buffer], spec: TensorSpec, device: MeshDevice) -> Raw | Parts:
    """Return a tensor's pages from each chip that has it.

    On a device of one chip, that is one raw buffer.
    """
    if not device._several:
        return read(buffers, spec)
    chips = chips_with(buffers[0], device)
    return Parts((read(buffers, spec, place) for place in chips), chips.values(), device.shape)


def chips_with(buffer: Buffer, device: MeshDevice) -> dict[int, MeshCoordinate]:
    """Return the coordinates of a buffer's chips, by place.

    They are in the order of the coordinates, which is not that of the places after `reshape`.
    """
    there = set(buffer.places)
    coordinates = zip(device.chips, device.coordinates(), strict=True)
    return {chip.place: coordinate for chip, coordinate in coordinates if chip.place in there}


def present_topology(topology: TensorTopology, buffer: Buffer, device: MeshDevice) -> TensorTopology:
    """Return a topology with the present coordinates of a buffer's chips.

    The chips get other coordinates by `reshape`, topologies keep the former ones. Unless exactly one former order of
    the chips explains them, the topology is returned as it is.
    """
    there, coords = chips_with(buffer, device), topology.mesh_coords()
    if set(there.values()) <= set(coords):
        return topology
    found = {places for places in _former_places(coords, device) if set(there) <= set(places)}
    if len(found) != 1:
        return topology
    chips = zip(device.chips, device.coordinates(), strict=True)
    present = {chip.place: coordinate for chip, coordinate in chips}
    moved = [present[place] for place in found.pop()]
    return TensorTopology(topology.distribution_shape(), topology.placements(), moved)


def _former_places(coords: Sequence[MeshCoordinate], device: MeshDevice) -> Iterator[tuple[int, ...]]:
    """Yield the places of coordinates in each order before a `reshape`.

    A former shape has the order that a `reshape` back to it makes, or that of the opened mesh, which is that of the
    places.
    """
    numbers, place_of = device.get_device_ids(), {chip.id: chip.place for chip in device.chips}
    opened = tuple(sorted(numbers, key=place_of.__getitem__))
    for rows in range(1, len(numbers) + 1):
        shape = (rows, len(numbers) // rows)
        if shape[0] * shape[1] != len(numbers):
            continue
        try:
            orders = {tuple(device._system.reshaped(numbers, tuple(device.shape), shape))}
            if device._system.order(shape) == opened:
                orders.add(opened)
        except DeviceError:
            continue
        for order in orders:
            chips = dict(zip(chips_of(MeshShape(shape)), order, strict=True))
            if all(coord in chips for coord in coords):
                yield tuple(place_of[chips[coord]] for coord in coords)


def allocate_for(spec: TensorSpec, device: MeshDevice, host: Raw | Parts) -> tuple[Buffer, ...]:
    """Return the new buffer for a host tensor and its chips.

    The chips without a part have the memory too, but no contents.
    """
    buffers = allocate(spec, device)
    if not isinstance(host, Parts) or len(host) == len(device.chips):
        return buffers
    return (buffers[0].on([device.chip_at("allocating a tensor", coord).place for coord in host.coords]),)


def _row_bytes(spec: TensorSpec) -> int:
    return spec.page_grid[1] * spec.page_bytes


def shard_grid(spec: TensorSpec) -> tuple[int, int]:
    """Return the (rows, columns) of a tensor's shards."""
    shards = spec._memory_config._shard_spec
    assert shards is not None
    height, width = spec.physical_shape
    return -(-height // shards.shape[0]), -(-width // shards.shape[1])


def shard_cores(spec: TensorSpec) -> list[CoreCoord]:
    """Return the shard cores, in shard order (row by row).

    Height and width shards are assigned to the cores of the set in order. Block shards go to a grid whose first
    axis is the row of shards, or the column for COL_MAJOR.
    """
    config = spec._memory_config
    shards = config._shard_spec
    assert shards is not None
    rows, columns = shard_grid(spec)
    row_major = shards.orientation is ShardOrientation.ROW_MAJOR
    if config.memory_layout is not TensorMemoryLayout.BLOCK_SHARDED:
        return list(islice(shards.grid.cores(row_wise=row_major), rows * columns))
    x, y = shards.grid.bounding_box().start.x, shards.grid.bounding_box().start.y
    places = [(row, column) for row in range(rows) for column in range(columns)]
    if row_major:
        return [CoreCoord(x + column, y + row) for row, column in places]
    return [CoreCoord(x + row, y + column) for row, column in places]


def shard_of_core(spec: TensorSpec, core: CoreLike | int) -> tuple[int, int]:
    """Return (row, column) of the shard that a core holds.

    Raises:
        MemoryConfigError: the tensor is not sharded, or the core holds none of it.
    """
    if spec._memory_config._shard_spec is None:
        raise MemoryConfigError(f"a tensor of {spec.shape} in {spec.memory_config} has no shards of height and width")
    cores = shard_cores(spec)
    number = core if isinstance(core, int) else cores.index(as_core(core)) if as_core(core) in cores else -1
    if not 0 <= number < len(cores):
        raise MemoryConfigError(f"core {core} holds no shard of a tensor of {spec.shape}; cores are {cores}")
    return divmod(number, shard_grid(spec)[1])


def page_cores(spec: TensorSpec) -> list[CoreCoord]:
    """Return each page's core of a sharded tensor.

    Raises:
        MemoryConfigError: the tensor is not sharded.
    """
    config = spec._memory_config
    if config._nd_shard_spec is not None:
        where = nd_shards.deal(spec)
        return [where.cores[index] for index in where.core]
    if config._shard_spec is None:
        raise MemoryConfigError(f"a tensor of {spec.shape} in {config} is not sharded")
    cores, across = shard_cores(spec), shard_grid(spec)[1]
    height, width = (size // page for size, page in zip(config._shard_spec.shape, spec.page_shape, strict=True))
    rows, columns = spec.page_grid
    return [cores[row // height * across + column // width] for row in range(rows) for column in range(columns)]
