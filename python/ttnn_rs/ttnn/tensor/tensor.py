"""`Tensor`: values on the host or on a device, with shape, type, layout and placement."""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ttnn.base.enums import ELEMENT_BYTES, DataType, Layout, StorageType
from ttnn.base.exceptions import (
    ArgumentError,
    DeviceError,
    DTypeError,
    ParameterError,
    ShapeError,
    StorageError,
    fatal,
)
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.shape import Shape, ShapeLike
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.device.coordinates import MeshCoordinate
from ttnn.tensor import host_buffer, host_shapes, indexing, printing, transfer
from ttnn.tensor.distribution import WHOLE, TensorTopology, check_composer
from ttnn.tensor.dunders import TensorOperators
from ttnn.tensor.dunders import operation as operation
from ttnn.tensor.host_buffer import Array, DistributedHostBuffer, Raw

if TYPE_CHECKING:
    import torch

    from ttnn._engine import Buffer
    from ttnn.base.core_range import CoreLike
    from ttnn.device.lifecycle import MeshDevice

_ids = itertools.count(1)


class Tensor(TensorOperators):
    """A tensor on the host or on a device.

    Made from another tensor (which it then shares memory with), from a flat list of numbers
    `Tensor(data, shape, data_type, layout, device=None, memory_config=None, tile=None, pad_value=0)`, or from an array
    `Tensor(tensor, data_type=None, device=None, layout=None, mem_config=None, tile=None, cq_id=None, pad_value=None,
    mesh_mapper=None, preserve_nan_values=False, col_tilize=False, enable_bfloat_opt=False)`.
    """

    __slots__ = ("__weakref__", "_buffer", "_device", "_host", "_id", "_sharers", "_spec", "_topology")

    # numpy scalars and arrays leave `array + tensor` to the tensor instead of taking it apart.
    __array_ufunc__: ClassVar[None] = None

    _spec: TensorSpec
    _host: Raw | None
    _buffer: Buffer | None
    _device: MeshDevice | None
    _id: int | None
    _topology: TensorTopology  # only where it is not the usual one
    # Tensors on the same buffer (views), this one included; None as long as it is the only one.
    _sharers: list[weakref.ref[Tensor]] | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Imported here: construction is conversion, and conversions make tensors.
        from ttnn.tensor import construction

        made = construction.tensor_from_arguments(args, kwargs)
        self._spec, self._host = made._spec, made._host
        self._buffer, self._device = made._buffer, made._device
        self._id, self._sharers = None, None
        if hasattr(made, "_topology"):
            self._topology = made._topology
        if self._buffer is not None:
            self._share_with(made)

    @classmethod
    def _make(cls, spec: TensorSpec, host: Raw | None, buffer: Buffer | None, device: MeshDevice | None) -> Tensor:
        new = cls.__new__(cls)
        new._spec, new._host, new._buffer, new._device = spec, host, buffer, device
        new._id, new._sharers = None, None
        return new

    @classmethod
    def _on_host(cls, spec: TensorSpec, raw: Raw) -> Tensor:
        """Return the host tensor of a raw buffer (all pages, `spec.raw_bytes` bytes), which it keeps."""
        if raw.nbytes != spec.raw_bytes:
            raise ShapeError(f"Tensor: {spec.shape} needs a buffer of {spec.raw_bytes} B, got {raw.nbytes} B")
        return cls._make(spec, raw, None, None)

    @classmethod
    def _on_device(cls, spec: TensorSpec, device: MeshDevice, buffer: Buffer) -> Tensor:
        """Return the device tensor of a buffer."""
        return cls._make(spec, None, buffer, device)

    def _view(self, spec: TensorSpec) -> Tensor:
        """Return a tensor with another shape on the same memory."""
        view = Tensor._make(spec, self._host, self._buffer, self._device)
        if self._buffer is not None:
            view._share_with(self)
        return view

    def _share_with(self, other: Tensor) -> None:
        if other._sharers is None:
            other._sharers = [weakref.ref(other)]
        self._sharers = other._sharers
        self._sharers.append(weakref.ref(self))

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

    @property
    def spec(self) -> TensorSpec:
        """Return shape, type, layout, placement and tile in one value."""
        return self._spec

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
        """Return where the tensor lives; for a host tensor, where it would go."""
        return self._spec._memory_config

    def storage_type(self) -> StorageType:
        """Return HOST or DEVICE."""
        return StorageType.HOST if self._device is None else StorageType.DEVICE

    def device(self) -> MeshDevice | None:
        """Return the device, None for a host tensor."""
        return self._device

    def devices(self) -> list[MeshDevice]:
        """Return the devices that hold it: one, or none for a host tensor."""
        return [] if self._device is None else [self._device]

    def device_coords(self) -> list[MeshCoordinate]:
        """Return where in the mesh its parts are: (0, 0), the only chip."""
        return [MeshCoordinate(0, 0)]

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
        """Return whether it is spread over cores in shards."""
        return self._spec._memory_config.is_sharded()

    @property
    def tensor_id(self) -> int:
        """Return a number that no other tensor of this process has."""
        if self._id is None:
            self._id = next(_ids)
        return self._id

    # Memory.

    def is_allocated(self) -> bool:
        """Return whether it has memory."""
        if self._device is None:
            return self._host is not None
        return self._buffer is not None and self._buffer.is_allocated

    def deallocate(self, force: bool = False) -> None:
        """Release the memory.

        Args:
            force: Release it even if other tensors (views) use it; they are unallocated afterwards.

        Raises:
            StorageError: it was released before.
            DeviceError: the device is closed.
        """
        if not isinstance(force, (bool, int)):
            raise ArgumentError(f"Tensor.deallocate: force must be True or False, got {force!r}")
        if self._device is None:
            if self._host is None:
                raise self._released("Tensor.deallocate", "the tensor")
            self._host = None
            return
        buffer = self._require_device("Tensor.deallocate", "the tensor")
        if force or not self._is_shared():
            buffer.deallocate()

    def _is_shared(self) -> bool:
        others = (sharer() for sharer in self._sharers or ())
        return any(other is not None and other is not self for other in others)

    def _require_device(self, operator: str, label: str = "input_tensor") -> Buffer:
        """Return the buffer, if the tensor is on an open device and allocated.

        Args:
            operator: Who asks, for the error.
            label: What the tensor is for it.

        Raises:
            StorageError: it is on the host, or deallocated.
            DeviceError: its device is closed.
        """
        if self._device is None or self._buffer is None:
            raise fatal(
                StorageError,
                f"{operator}: {label} is a host tensor of {self.shape}; move it with ttnn.to_device first",
                "Input tensor must be on device, got storage type: StorageType::HOST",
            )
        if not self._buffer.is_allocated:
            if not self._device.is_open:
                raise DeviceError(f"{operator}: the device of {label} ({self.shape}) is closed")
            raise self._released(operator, label)
        return self._buffer

    def _require_host(self, operator: str, label: str = "the tensor") -> Raw:
        """Return the raw buffer, if the tensor is on the host and allocated."""
        if self._device is not None:
            raise fatal(
                StorageError,
                f"{operator}: {label} of {self.shape} is on a device; read it with ttnn.from_device first",
                "Expected Tensor with HostStorage, got StorageType::DEVICE",
            )
        if self._host is None:
            raise self._released(operator, label)
        return self._host

    def _released(self, operator: str, label: str) -> StorageError:
        letter = "B" if label.endswith("_b") else "A"
        sentence = f"{operator}: {label} of {self.shape} was deallocated"
        return fatal(StorageError, sentence, f"Input Tensor {letter} is not allocated")

    def buffer_address(self) -> int:
        """Return the address in each bank."""
        return self._require_device("Tensor.buffer_address", "the tensor").address

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

    def to(self, target: MeshDevice | Layout, mem_config: MemoryConfig | None = None, cq_id: Any = None) -> Tensor:
        """Return a copy on a device, or in another layout."""
        check_queue("Tensor.to", cq_id)
        if isinstance(target, Layout):
            if mem_config is not None:
                raise ArgumentError(
                    "Tensor.to: the layout changes where the tensor is; mem_config goes with a device only"
                )
            return self._to_layout(target)
        return self._to_device("Tensor.to", target, mem_config)

    def cpu(self, blocking: bool = True, cq_id: Any = None) -> Tensor:
        """Return a copy on the host. Reads always wait until they are done."""
        check_queue("Tensor.cpu", cq_id)
        return self._to_host("Tensor.cpu")

    def _to_device(self, operator: str, device: MeshDevice, memory_config: MemoryConfig | None) -> Tensor:
        spec = self._spec if memory_config is None else self._spec.with_memory_config(memory_config)
        transfer.require_open(operator, device)
        if self._device is not None:
            self._require_device(operator, "the tensor")
            if self._device is not device:
                raise StorageError(f"{operator}: the tensor of {self.shape} is on another device; read it first")
            return self if spec == self._spec else operation("to_memory_config")(self, memory_config)
        raw = self._require_host(operator)
        if spec.padded_shape != self._spec.padded_shape:
            raw = host_buffer.pack(host_buffer.unpack(raw, self._spec), spec, where=operator)
        buffer = transfer.allocate(spec, device)
        transfer.write(buffer, spec, raw)
        return self._like_topology(Tensor._on_device(spec, device, buffer))

    def _to_host(self, operator: str) -> Tensor:
        if self._device is None:
            self._require_host(operator)
            return self
        raw = transfer.read(self._require_device(operator, "the tensor"), self._spec)
        return self._like_topology(Tensor._on_host(self._spec, raw))

    def _like_topology(self, moved: Tensor) -> Tensor:
        if hasattr(self, "_topology"):
            moved._topology = self._topology
        return moved

    def _to_layout(self, layout: Layout) -> Tensor:
        if self._device is not None:
            moved: Tensor = operation("to_layout")(self, layout)
            return moved
        if layout is self.layout:
            return self
        spec = TensorSpec.of(self.shape, self.dtype, layout, self.memory_config(), self.tile)
        return self._repacked(spec, "Tensor.to")

    def _repacked(self, spec: TensorSpec, operator: str, pad_value: float = 0.0) -> Tensor:
        """Return a host tensor with the same values (up to the conversion of types) as `spec` says."""
        values = host_buffer.unpack(self._require_host(operator), self._spec)
        if self._spec.dtype is DataType.FP8_E4M3:
            values = values.astype(np.float32)
        raw = host_buffer.pack(values.reshape(tuple(spec.shape)), spec, pad_value=pad_value, where=operator)
        return Tensor._on_host(spec, raw)

    # Values.

    def _values(self, operator: str) -> Array:
        host = self._to_host(operator)
        return host_buffer.unpack(host._require_host(operator), host._spec)

    def to_numpy(self, mesh_composer: object = None) -> Array:
        """Return the values as a numpy array without padding; block floats as float32.

        Args:
            mesh_composer: None, or a composer for one device, which changes nothing.
        """
        check_composer("Tensor.to_numpy", mesh_composer, self.shape.rank)
        return self._values("Tensor.to_numpy")

    def to_torch(self, mesh_composer: object = None) -> torch.Tensor:
        """Return the values as a torch tensor without padding; block floats as float32."""
        check_composer("Tensor.to_torch", mesh_composer, self.shape.rank)
        return host_buffer.torch_of(self._values("Tensor.to_torch"))

    def to_torch_with_padded_shape(self) -> torch.Tensor:
        """Return the values as a torch tensor with padding."""
        host = self._to_host("Tensor.to_torch_with_padded_shape")
        raw = host._require_host("Tensor.to_torch_with_padded_shape")
        return host_buffer.torch_of(host_buffer.unpack_padded(raw, host._spec))

    def to_list(self) -> Any:
        """Return nested lists of the values, a number for rank 0."""
        values = self._values("Tensor.to_list")
        return (values if values.dtype.kind in "iu" else values.astype(np.float32)).tolist()

    def item(self) -> float | int:
        """Return the only value.

        Raises:
            ShapeError: there is not exactly one.
        """
        if self.logical_volume() != 1:
            raise fatal(
                ShapeError,
                f"Tensor.item: a tensor of {self.shape} has {self.logical_volume()} values",
                "tensor.item() requires tensor to have exactly one element",
            )
        value = self._values("Tensor.item").reshape(())
        return int(value) if value.dtype.kind in "iu" else float(value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the values for `numpy.asarray`, as `to_numpy` does.

        The official tensors lack this, and numpy makes an array of one object of them, which is never wanted.

        Raises:
            ParameterError: `copy` is False; the values are always a copy of what the tensor holds.
        """
        if copy is False:
            raise ParameterError("Tensor.__array__: copy=False; an array of a tensor's values is always a copy")
        values = self._values("Tensor.__array__")
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        """Return a DLPack capsule of the values of a host tensor (bfloat16 through torch)."""
        values = host_buffer.unpack(self._require_host("Tensor.__dlpack__"), self._spec)
        if values.dtype.kind in "iuf":
            return values.__dlpack__(**options)
        try:
            return host_buffer.torch_of(values).__dlpack__(**options)
        except ImportError:
            raise DTypeError(f"Tensor.__dlpack__: {self.dtype.name} needs torch, numpy has no such type") from None

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return (1, 0): host memory."""
        self._require_host("Tensor.__dlpack__")
        return (1, 0)

    # Shape changes on the host.

    def reshape(self, *shape: Any) -> Tensor:
        """Return the tensor with another shape of the same volume.

        Args:
            shape: Ints, or one Shape or sequence of ints; one of them may be -1.

        Raises:
            ShapeError: the volumes differ.
        """
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if self._device is not None:
            reshaped: Tensor = operation("reshape")(self, wanted)
            return reshaped
        return host_shapes.reshaped(self, host_shapes.resolve_shape("Tensor.reshape", self, wanted))

    def pad(self, output_shape: ShapeLike, input_start: ShapeLike, pad_value: float) -> Tensor:
        """Return a host tensor of `output_shape` with this one at `input_start` and `pad_value` around it."""
        return host_shapes.padded(self, output_shape, input_start, pad_value)

    def unpad(self, start: ShapeLike, end: ShapeLike) -> Tensor:
        """Return the part of a host tensor from `start` to `end` (not included)."""
        return host_shapes.part(self, start, end)

    def pad_to_tile(self, pad_value: float) -> Tensor:
        """Return a host tensor with the last two dimensions filled up to multiples of 32."""
        dims = tuple(self.shape)
        if len(dims) < 2:
            raise ShapeError(f"Tensor.pad_to_tile: {self.shape} has no height")
        height, width = (-(-size // 32) * 32 for size in dims[-2:])
        return self.pad((*dims[:-2], height, width), (0,) * len(dims), pad_value)

    def unpad_from_tile(self, shape: ShapeLike) -> Tensor:
        """Return the first elements of each dimension of a host tensor."""
        return self.unpad((0,) * self.shape.rank, shape)

    def extract_shard(self, core: CoreLike | int) -> Tensor:
        """Return the shard of a core (a coordinate, or its number in shard order) as a host tensor [1, 1, H, W]."""
        return host_shapes.shard(self, core)

    def host_buffer(self) -> DistributedHostBuffer:
        """Return the parts of a host tensor: one."""
        return DistributedHostBuffer(self._require_host("Tensor.host_buffer"), self.dtype)

    def tensor_topology(self) -> TensorTopology:
        """Return over which chips the tensor is spread, and how: the only one, as the mapper said that made it."""
        return getattr(self, "_topology", WHOLE)

    def update_tensor_topology(self, topology: TensorTopology) -> None:
        """Say that the tensor is spread in another way; its values stay where they are."""
        if not isinstance(topology, TensorTopology):
            raise ArgumentError(f"Tensor.update_tensor_topology: expected a TensorTopology, got {topology!r}")
        self._topology = topology

    # Python's protocols.

    def __getitem__(self, index: Any) -> Tensor:
        return indexing.get_item(self, index)

    def __repr__(self) -> str:
        if not self.is_allocated():
            return printing.unallocated_text(self._spec)
        return printing.tensor_text(self._spec, lambda: self._values("str(Tensor)"))

    def __copy__(self) -> Tensor:
        return self._view(self._spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self._device is not None:
            clone: Tensor = operation("clone")(self)
            return clone
        return Tensor._on_host(self._spec, self._require_host("copy.deepcopy").copy())

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (_unpickled, (self._spec, self._require_host("pickle")))


def allocate_tensor_on_device(spec: TensorSpec, device: MeshDevice) -> Tensor:
    """Return a new tensor on the device, not written yet.

    Raises:
        DeviceError: the device is closed.
        OutOfMemoryError: there is no room.
        MemoryConfigError: sharded without cores.
    """
    return Tensor._on_device(spec, device, transfer.allocate(spec, device))


def check_queue(operator: str, cq_id: Any) -> None:
    """Refuse what is no command queue. Commands run in order whatever their queue is, so nothing else is to do."""
    if cq_id is None:
        return
    try:
        number = int(cq_id)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{operator}: cq_id must be a number, got {cq_id!r}") from None
    if number not in (0, 1):
        raise ArgumentError(f"{operator}: a device has command queues 0 and 1, got {number}")


def _unpickled(spec: TensorSpec, raw: Raw) -> Tensor:
    return Tensor._on_host(spec, raw)
