"""Tensor storage: specification and page memory, on host or device."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import BLOCK_FLOATS, ELEMENT_BYTES, DataType, Layout, StorageType
from ttnn.base.exceptions import (
    ArgumentError,
    DeviceError,
    MemoryConfigError,
    ShapeError,
    StorageError,
    UnsupportedError,
)
from ttnn.base.memory_config import Allocation, MemoryConfig
from ttnn.base.observers import OBSERVERS, observed, observing
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.device.coordinates import MeshCoordinate
from ttnn.tensor import host_buffer, transfer
from ttnn.tensor.distribution import CppMeshToTensor
from ttnn.tensor.dunders import operation
from ttnn.tensor.host_buffer import Array, Parts, Raw, as_parts
from ttnn.tensor.topology import WHOLE, TensorTopology, replicated_on

if TYPE_CHECKING:
    from typing_extensions import Self

    from ttnn._engine import Buffer
    from ttnn.device.mesh_device import MeshDevice

_ids = itertools.count(1)


def new_id() -> int:
    """Return a number that no tensor of this process has or gets."""
    return next(_ids)


def count_ids_from(number: int) -> None:
    """Start further tensor ids at `number`, unless they are as large already."""
    global _ids
    _ids = itertools.count(max(next(_ids), number))


class TensorStorage:
    """A tensor's state: specification, pages, and transfers."""

    __slots__ = ("__weakref__", "_device", "_host", "_id", "_sharers", "_spec", "_topology", "_whole", "buffers")

    buffers: tuple[Buffer, ...]  # one, for all chips that it is on; none on the host
    _spec: TensorSpec
    _host: Raw | Parts | None  # parts if it is distributed over a mesh of several chips
    _device: MeshDevice | None
    _id: int | None
    _topology: TensorTopology  # only where it is not the usual one
    _whole: Buffer  # of a part of a mesh tensor, the buffer on all chips
    # The living tensors on the same buffer (views), this one included; None as long as there was never another.
    _sharers: set[weakref.ref[TensorStorage]] | None

    @classmethod
    def _make(
        cls, spec: TensorSpec, host: Raw | Parts | None, buffers: tuple[Buffer, ...], device: MeshDevice | None
    ) -> Self:
        new = cls.__new__(cls)
        new._spec, new._host, new.buffers, new._device = spec, host, buffers, device
        new._id, new._sharers = None, None
        return new

    @classmethod
    def _on_host(cls, spec: TensorSpec, host: Raw | Parts) -> Self:
        """Return the host tensor of a raw buffer or parts, uncopied.

        A buffer has all pages, `spec.raw_bytes` bytes.
        """
        size = host[0].nbytes if isinstance(host, Parts) else host.nbytes
        if size != spec.raw_bytes:
            raise ShapeError(f"Tensor: {spec.shape} needs a buffer of {spec.raw_bytes} B, got {size} B")
        return cls._make(spec, host, (), None)

    @classmethod
    def _on_device(cls, spec: TensorSpec, device: MeshDevice, *buffers: Buffer) -> Self:
        """Return the device tensor of buffers, one for each chip."""
        return cls._make(spec, None, buffers, device)

    def _view(self, spec: TensorSpec) -> Self:
        """Return a tensor with another shape on the same memory."""
        view = self._make(spec, self._host, self.buffers, self._device)
        if self.buffers:
            view._share_with(self)
        return view

    def _share_with(self, other: TensorStorage) -> None:
        if other._sharers is None:
            other._sharers = set()
            other._join(other._sharers)
        self._join(other._sharers)

    def _join(self, sharers: set[weakref.ref[TensorStorage]]) -> None:
        # The reference removes itself when the tensor ends, so that a set is as large as there are tensors.
        sharers.add(weakref.ref(self, sharers.discard))
        self._sharers = sharers

    # What it is.

    @property
    def shape(self) -> Shape:
        """Return the logical shape."""
        return self._spec._shape

    @property
    def padded_shape(self) -> Shape:
        """Return the shape with the padding of the layout."""
        return self._spec._padded_shape

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return self._spec._dtype

    @property
    def layout(self) -> Layout:
        """Return the layout."""
        return self._spec._layout

    @property
    def tile(self) -> Tile:
        """Return the tile."""
        return self._spec._tile

    if TYPE_CHECKING:

        @property
        def spec(self) -> TensorSpec:
            """Shape, data type, layout, memory config and tile."""

    else:
        # Every call reads it several times; this getter runs without a Python frame.
        spec = property(attrgetter("_spec"), doc="Shape, data type, layout, memory config and tile.")

    def get_dtype(self) -> DataType:
        """Return the element type."""
        return self._spec._dtype

    def get_layout(self) -> Layout:
        """Return the layout."""
        return self._spec._layout

    def get_tile(self) -> Tile:
        """Return the tile."""
        return self._spec._tile

    def memory_config(self) -> MemoryConfig:
        """Return the memory config.

        That of a host tensor is the one it gets on a device.
        """
        return self._spec._memory_config

    def storage_type(self) -> StorageType:
        """Return HOST or DEVICE."""
        return StorageType.HOST if self._device is None else StorageType.DEVICE

    def device(self) -> MeshDevice | None:
        """Return the device, None for a host tensor."""
        return self._device

    def devices(self) -> list[MeshDevice]:
        """Return its devices: one, or none for a host tensor."""
        return [] if self._device is None else [self._device]

    def device_coords(self) -> list[MeshCoordinate]:
        """Return the mesh coordinates of its parts."""
        if isinstance(self._host, Parts):
            return list(self._host.coords)
        if self._device is None or not self._device._several or not self.buffers:
            return [MeshCoordinate(0, 0)]
        return list(transfer.chips_with(self.buffers[0], self._device).values())

    def tensor_topology(self) -> TensorTopology:
        """Return the tensor's distribution over a mesh, from its mapper."""
        if hasattr(self, "_topology"):
            return self._topology
        several = self._device is not None and self._device._several
        return replicated_on(self._device.shape) if several and self._device else WHOLE

    def volume(self) -> int:
        """Return the number of elements with padding."""
        return self._spec._padded_shape.volume()

    def logical_volume(self) -> int:
        """Return the number of elements without padding."""
        return self._spec._shape.volume()

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return ELEMENT_BYTES[self._spec._dtype]

    def is_sharded(self) -> bool:
        """Return whether the tensor is sharded."""
        return self._spec._memory_config.is_sharded()

    @property
    def tensor_id(self) -> int:
        """Return a number that no other tensor of this process has."""
        if self._id is None:
            self._id = new_id()
        return self._id

    # Memory.

    @property
    def buffer(self) -> Buffer | None:
        """Its buffer on a step's chip, None on the host."""
        return self.buffers[0] if self.buffers else None

    def is_allocated(self) -> bool:
        """Return whether it has memory."""
        if self._device is None:
            return self._host is not None
        return bool(self.buffers) and self.buffers[0].is_allocated

    def deallocate(self, force: bool = False) -> None:
        """Release the memory.

        A tensor that was released before stays as it is.

        Args:
            force: Release it even if other tensors (views) use it; they are unallocated afterwards.
        """
        if not isinstance(force, (bool, int)):
            raise ArgumentError(f"Tensor.deallocate: force must be True or False, got {force!r}")
        if OBSERVERS:
            return observed("Tensor::deallocate", (self, force), lambda: self._deallocate(force))
        return self._deallocate(force)

    def _deallocate(self, force: bool) -> None:
        if self._device is None:
            self._host = None
        elif self.is_allocated() and (force or not self._is_shared()):
            for buffer in self.buffers:
                buffer.deallocate()

    def _is_shared(self) -> bool:
        return self._sharers is not None and len(self._sharers) > 1

    def _require_device(self, operator: str, label: str = "input_tensor") -> Buffer:
        """Return the buffer, if on an open device and allocated.

        Args:
            operator: Who asks, for the error.
            label: What the tensor is for it.

        Raises:
            StorageError: it is on the host, or deallocated.
            DeviceError: its device is closed.
        """
        if self._device is None or not self.buffers:
            raise StorageError(
                f"{operator}: {label} is a host tensor of {self.shape}; move it with ttnn.to_device first",
                vendor="Input tensor must be on device, got storage type: StorageType::HOST",
            )
        if not self.buffers[0].is_allocated:
            if not self._device.is_open:
                raise DeviceError(f"{operator}: the device of {label} ({self.shape}) is closed")
            raise self._released(operator, label)
        return self.buffers[0]

    def _require_host(self, operator: str, label: str = "the tensor") -> Raw:
        """Return the raw buffer, if on the host, allocated and only one."""
        host = self._host
        if type(host) is np.ndarray and self._device is None:
            return host
        host = self._require_parts(operator, label)
        if not isinstance(host, Parts):
            return host
        if len(host) > 1:
            raise StorageError(
                f"{operator}: {label} of {self.shape} has {len(host)} parts on the mesh {host.mesh_shape}; pass a "
                "mesh_composer, or choose a part with ttnn.get_device_tensors",
                vendor=f"Can't convert a tensor distributed on {host.mesh_shape} mesh to row-major logical tensor. "
                "Supply a mesh composer to concatenate multi-device shards.",
            )
        return host[0]

    def _require_parts(self, operator: str, label: str = "the tensor") -> Raw | Parts:
        """Return the raw buffer or buffers, if on the host and allocated."""
        if self._device is not None:
            raise StorageError(
                f"{operator}: {label} of {self.shape} is on a device; read it with ttnn.from_device first",
                vendor="Expected Tensor with HostStorage, got StorageType::DEVICE",
            )
        if self._host is None:
            raise self._released(operator, label)
        return self._host

    def _released(self, operator: str, label: str) -> StorageError:
        letter = "B" if label.endswith("_b") else "A"
        sentence = f"{operator}: {label} of {self.shape} was deallocated"
        return StorageError(sentence, vendor=f"Input Tensor {letter} is not allocated")

    def buffer_address(self) -> int:
        """Return the address in each bank.

        Raises:
            MemoryConfigError: each core has an address of its own.
        """
        buffer = self._require_device("Tensor.buffer_address", "the tensor")
        if self.is_per_core_allocated():
            raise MemoryConfigError(
                "Tensor.buffer_address: each core has an address of its own; "
                "use experimental_per_core_buffer_address(device_coord, core).",
                vendor="Per-core allocated tensors do not have a single address. Use "
                "experimental_per_core_buffer_address(device_coord, core) instead.",
            )
        return buffer.address

    def is_per_core_allocated(self) -> bool:
        """Return whether each core has an address of its own."""
        return self._device is not None and self._spec._memory_config._allocation is Allocation.PER_CORE

    def is_range_lockstep_allocated(self) -> bool:
        """Return whether its address may be another buffer's on other cores."""
        return self._device is not None and self._spec._memory_config._allocation is Allocation.LOCKSTEP_IN_SHARDS

    def experimental_per_core_buffer_address(self, *where: MeshCoordinate | CoreCoord) -> int:
        """Return the address of the shard on a core.

        Args:
            where: (device_coord, core), or (core) as in earlier versions; the address is the same on all chips.

        Raises:
            ArgumentError: other arguments, a chip that the tensor is not on, or a core without a shard.
            MemoryConfigError: all cores have the same address.
        """
        call = "Tensor.experimental_per_core_buffer_address"
        buffer = self._require_device(call, "the tensor")
        core = where[-1] if where else None
        if (
            not isinstance(core, CoreCoord)
            or len(where) > 2
            or not all(isinstance(place, MeshCoordinate) for place in where[:-1])
        ):
            raise ArgumentError(f"{call}: expected (device_coord: MeshCoordinate, core: CoreCoord), got {where}")
        if not self.is_per_core_allocated():
            raise MemoryConfigError(
                f"{call}: all cores have the same address; use buffer_address().",
                vendor="Buffer does not use per-core allocation",
            )
        if len(where) == 2 and where[0] not in self.device_coords():
            raise ArgumentError(f"{call}: the tensor is not on the chip at {where[0]}")
        address = buffer.address_on(core.x, core.y)
        if address is None:
            raise ArgumentError(
                f"{call}: no shard is on core {core.x}-{core.y}",
                vendor=f"No per-core address for core ({core.x}, {core.y})",
            )
        return address

    def buffer_page_size(self) -> int:
        """Return the bytes of a page: a tile or a row."""
        return self._require_device("Tensor.buffer_page_size", "the tensor").page_bytes

    def buffer_aligned_page_size(self) -> int:
        """Return the bytes from one page of a bank to the next."""
        return self._require_device("Tensor.buffer_aligned_page_size", "the tensor").aligned_page_bytes

    def buffer_num_pages(self) -> int:
        """Return the number of pages."""
        return self._require_device("Tensor.buffer_num_pages", "the tensor").num_pages

    def buffer_unique_id(self) -> int:
        """Return a number that no other buffer has."""
        return self._require_device("Tensor.buffer_unique_id", "the tensor").unique_id

    # From place to place.

    def _to_device(self, operator: str, device: MeshDevice, memory_config: MemoryConfig | None) -> Self:
        transfer.require_open(operator, device)
        if self._device is not None:
            self._require_device(operator, "the tensor")
            if self._device is not device:
                raise StorageError(f"{operator}: the tensor of {self.shape} is on another device; read it first")
            return self
        spec = self._spec if memory_config is None else self._spec.with_memory_config(memory_config)
        if OBSERVERS:
            arguments = (self, device, spec._memory_config)
            return observed("Tensor::to_device", arguments, lambda: self._moved_to_device(device, spec, operator))
        return self._moved_to_device(device, spec, operator)

    def _moved_to_device(self, device: MeshDevice, spec: TensorSpec, operator: str) -> Self:
        host = self._require_parts(operator)
        if isinstance(host, Parts) and host.mesh_shape != device.shape:
            raise StorageError(
                f"{operator}: the tensor is distributed over the mesh {host.mesh_shape}, the device is {device.shape}",
                vendor=f"Error: distributed host buffer has different shape {host.mesh_shape} than the mesh device "
                f"{device.shape}",
            )
        if self._spec._padding is not None and not self._spec.is_padded_further:
            raise UnsupportedError(
                f"{operator}: rows of {self.shape} padded to {self.padded_shape} are not supported on a device; "
                "convert the tensor to TILE_LAYOUT first, or slice it with unpad.",
                "unimplemented",
            )
        if spec.padded_shape != self._spec.padded_shape:
            host = self._repacked(spec, operator)._require_parts(operator)
        buffers = transfer.allocate_for(spec, device, host)
        moved = self._make(spec, None, buffers, device)
        if isinstance(host, Parts) or not device._several:
            moved = self._like_topology(moved)
        if OBSERVERS:
            for observer in observing():
                observer.created(moved)
        transfer.write(buffers, spec, host, device)
        return moved

    def _to_host(self, operator: str) -> Self:
        if self._device is None:
            self._require_parts(operator)
            return self
        if OBSERVERS:
            return observed("Tensor::cpu", (self, True), lambda: self._moved_to_host(operator))
        return self._moved_to_host(operator)

    def _moved_to_host(self, operator: str) -> Self:
        self._require_device(operator, "the tensor")
        device = self._device
        assert device is not None
        if not device._several:
            raw = transfer.read(self.buffers, self._spec)
            return self._like_topology(self._on_host(self._spec, raw))
        moved = self._on_host(self._spec, transfer.read_parts(self.buffers, self._spec, device))
        moved._topology = transfer.present_topology(self.tensor_topology(), self.buffers[0], device)
        return moved

    def _like_topology(self, moved: Self) -> Self:
        if hasattr(self, "_topology"):
            moved._topology = self._topology
        return moved

    def _to_layout(self, layout: Layout) -> Self:
        if self._device is not None:
            moved: Self = operation("to_layout")(self, layout)
            return moved
        if OBSERVERS:
            return observed("Tensor::to_layout", (self, layout), lambda: self._in_layout(layout))
        return self._in_layout(layout)

    def _in_layout(self, layout: Layout) -> Self:
        if layout is self.layout:
            return self
        if layout is Layout.ROW_MAJOR and self.dtype in BLOCK_FLOATS:
            warnings.warn(
                f"Tensor.to: {self.dtype.name} shares exponents inside tiles; the tensor must stay in TILE layout.",
                stacklevel=4,
            )
            return self
        spec = TensorSpec.of(self.shape, self.dtype, layout, self.memory_config(), self.tile)
        if self._spec._padding is not None:
            return self._by_parts("Tensor.to", partial(TensorStorage._tiled_with_padding, spec=spec))
        return self._repacked(spec, "Tensor.to")

    def _tiled_with_padding(self, spec: TensorSpec) -> Self:
        """Return rows padded to full tiles, tiled; padding values stay."""
        if spec.padded_shape != self.padded_shape:
            raise UnsupportedError(
                f"Tensor.to: a tensor of {self.shape} padded to {self.padded_shape} has other tiles than {self.shape} "
                f"needs ({spec.padded_shape}); only padding up to the next tile is built.",
                "unimplemented",
            )
        whole = TensorSpec.of(spec.padded_shape, spec.dtype, spec.layout, spec.memory_config, spec.tile)
        raw = host_buffer.unpack_padded(self._require_host("Tensor.to"), self._spec)
        return self._on_host(spec, host_buffer.pack(raw, whole, where="Tensor.to"))

    def _repacked(self, spec: TensorSpec, operator: str, pad_value: float = 0.0) -> Self:
        """Return a host tensor of `spec` with equal, type-converted values."""
        host = self._require_parts(operator)
        if isinstance(host, Parts):
            return self._by_parts(
                operator, partial(TensorStorage._repacked, spec=spec, operator=operator, pad_value=pad_value)
            )
        values = host_buffer.unpack(host, self._spec)
        if self._spec.dtype is DataType.FP8_E4M3:
            values = values.astype(np.float32)
        raw = host_buffer.pack(values.reshape(tuple(spec.shape)), spec, pad_value=pad_value, where=operator)
        return self._like_topology(self._on_host(spec, raw))

    def _by_parts(self, operator: str, change: Callable[[Self], Self]) -> Self:
        """Return a host tensor with each part changed; the distribution stays.

        Args:
            operator: Who asks, for the error.
            change: Returns a host tensor for one with a single buffer.
        """
        host = self._require_parts(operator)
        if not isinstance(host, Parts):
            return self._like_topology(change(self))
        specs: list[TensorSpec] = []

        def changed(raw: Raw) -> Raw:
            part = change(self._on_host(self._spec, raw))
            specs.append(part._spec)
            return part._require_host(operator)

        parts = host.changed(changed)
        return self._like_topology(self._on_host(specs[0], parts))

    def _values(self, operator: str, composer: CppMeshToTensor | None = None) -> Array:
        """Return the unpadded values, of several parts as a composer joins them."""
        host = self._to_host(operator)
        if composer is None:
            return host_buffer.unpack(host._require_host(operator), host._spec)
        parts = as_parts(host._require_parts(operator))
        return composer.joined(operator, parts, lambda raw: host_buffer.unpack(raw, host._spec))

    def _packable(self, operator: str, composer: CppMeshToTensor | None = None) -> Array:
        """Return the values in a type that raw buffers are made from."""
        values = self._values(operator, composer)
        return values.astype(np.float32) if self._spec.dtype is DataType.FP8_E4M3 else values
