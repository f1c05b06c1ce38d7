"""`Tensor`: values on host or device, with shape, type and layout.

And a memory config.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ttnn.base.call import shown
from ttnn.base.enums import Layout
from ttnn.base.exceptions import ArgumentError, DTypeError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.observers import OBSERVERS, observed, observing
from ttnn.base.shape import ShapeLike, as_dims
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.tensor import construction, host_buffer, host_shapes, indexing, printing, transfer
from ttnn.tensor.distribution import check_composer
from ttnn.tensor.dunders import TensorOperators, operation
from ttnn.tensor.host_buffer import Array, DistributedHostBuffer, Parts, Raw
from ttnn.tensor.storage import TensorStorage
from ttnn.tensor.topology import TensorTopology
from ttnn.tensor.transfer import check_queue

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from ttnn.base.core_range import CoreLike


_TO_FRAMEWORK: Final = "tt::tt_metal::detail::convert_tt_tensor_to_framework_tensor"


class Tensor(TensorStorage, TensorOperators):
    """A tensor on the host or on a device.

    Made from another tensor (which it then shares memory with), from a flat list of numbers
    `Tensor(data, shape, data_type, layout, device=None, memory_config=None, tile=None, pad_value=0)`, or from an array
    `Tensor(tensor, data_type=None, device=None, layout=None, mem_config=None, tile=None, cq_id=None, pad_value=None,
    mesh_mapper=None, preserve_nan_values=False, col_tilize=False, enable_bfloat_opt=False)`.
    """

    __slots__ = ()

    # numpy scalars and arrays leave `array + tensor` to the tensor instead of taking it apart.
    __array_ufunc__: ClassVar[None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        made = construction.tensor_from_arguments(Tensor, args, kwargs)
        self._spec, self._host = made._spec, made._host
        self.buffers, self._device = made.buffers, made._device
        self._id, self._sharers = None, None
        if hasattr(made, "_topology"):
            self._topology = made._topology
        if self.buffers:
            self._share_with(made)

    # From place to place.

    def to(
        self,
        target: MeshDevice | Layout | None = None,
        mem_config: MemoryConfig | None = None,
        cq_id: int | None = None,
        *,
        device: MeshDevice | None = None,
        layout: Layout | None = None,
    ) -> Tensor:
        """Return a copy on a device, or in another layout."""
        check_queue("Tensor.to", cq_id)
        given = [item for item in (target, device, layout) if item is not None]
        if len(given) != 1:
            raise ArgumentError(f"Tensor.to: expected one device or one layout, got {len(given)}")
        target = given[0]
        if isinstance(target, Layout):
            if mem_config is not None:
                raise ArgumentError(
                    "Tensor.to: a layout change keeps the device; mem_config is for a move to a device only"
                )
            return self._to_layout(target)
        return self._to_device("Tensor.to", target, mem_config)

    def cpu(self, blocking: bool = True, cq_id: int | None = None) -> Tensor:
        """Return a copy on the host.

        Reads always wait until they are done.
        """
        check_queue("Tensor.cpu", cq_id)
        return self._to_host("Tensor.cpu")

    # Values.

    def to_numpy(self, mesh_composer: object = None) -> Array:
        """Return unpadded values as a numpy array; block floats as float32.

        Args:
            mesh_composer: Joins the parts of a distributed tensor.

        Raises:
            StorageError: there are several parts, also equal ones, and no composer.
        """
        where = "Tensor.to_numpy"
        return self._values(where, check_composer(where, mesh_composer))

    def to_torch(self, mesh_composer: object = None) -> torch.Tensor:
        """Return unpadded values as a torch tensor; block floats as float32."""
        where = "Tensor.to_torch"
        values = self._values(where, check_composer(where, mesh_composer))
        if OBSERVERS:
            return observed(_TO_FRAMEWORK, (self.spec,), lambda: host_buffer.torch_of(values))
        return host_buffer.torch_of(values)

    def to_torch_with_padded_shape(self) -> torch.Tensor:
        """Return the values as a torch tensor with padding."""
        host = self._to_host("Tensor.to_torch_with_padded_shape")
        raw = host._require_host("Tensor.to_torch_with_padded_shape")
        return host_buffer.torch_of(host_buffer.unpack_padded(raw, host._spec))

    def to_list(self) -> Any:
        """Return nested lists of the values, a scalar for rank 0."""
        values = self._values("Tensor.to_list")
        return (values if values.dtype.kind in "iu" else values.astype(np.float32)).tolist()

    def item(self) -> float | int:
        """Return the value of a tensor with one element.

        Raises:
            ShapeError: there is not exactly one.
        """
        if self.logical_volume() != 1:
            raise ShapeError(
                f"Tensor.item: a tensor of {self.shape} has {self.logical_volume()} values",
                vendor="tensor.item() requires tensor to have exactly one element",
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
        """Return a DLPack capsule of a host tensor's values.

        bfloat16 goes through torch.
        """
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
        """Return a host tensor of the same logical shape, padded to `output_shape`.

        The padded shape has the values at `input_start` and `pad_value` around them; the logical shape names its first
        elements.

        Raises:
            LayoutError: the tensor is in TILE layout.
            ShapeError: the values do not fit into `output_shape`.
        """
        return host_shapes.padded(self, output_shape, input_start, pad_value)

    def unpad(self, start: ShapeLike, end: ShapeLike) -> Tensor:
        """Return a slice of a host tensor's padded shape.

        From `start` to `end` (excluded).
        """
        return host_shapes.part(self, start, end)

    def pad_to_tile(self, pad_value: float) -> Tensor:
        """Return a host tensor padded to whole tiles in two dimensions.

        These are multiples of 32 in the last two.

        A vector is a row, a scalar a row of one. A tensor in TILE layout is returned as it is: its tiles are full.
        """
        self._require_parts("Tensor.pad_to_tile")
        if self.layout is Layout.TILE:
            return self
        *outer, height, width = (1, 1, *self.padded_shape)[-max(2, self.padded_shape.rank) :]
        full = (*outer, -(-height // 32) * 32, -(-width // 32) * 32)
        return self.pad(full, (0,) * len(full), pad_value)

    def unpad_from_tile(self, shape: ShapeLike) -> Tensor:
        """Return the first elements of each dimension of a host tensor.

        The shape may be shorter than the tensor's: what is not named is of size 1.
        """
        dims, rank = as_dims(shape), self.padded_shape.rank
        return self.unpad((0,) * rank, (1,) * (rank - len(dims)) + dims)

    def extract_shard(self, core: CoreLike | int) -> Tensor:
        """Return a core's shard as a host tensor [1, 1, H, W].

        The core is a coordinate or a shard index.
        """
        return host_shapes.shard(self, core)

    def host_buffer(self) -> DistributedHostBuffer:
        """Return the raw buffers of a host tensor's parts."""
        return DistributedHostBuffer(self._require_parts("Tensor.host_buffer"), self.dtype)

    def update_tensor_topology(self, topology: TensorTopology) -> None:
        """Set the topology; values are not moved."""
        if not isinstance(topology, TensorTopology):
            raise ArgumentError(f"Tensor.update_tensor_topology: expected a TensorTopology, got {shown(topology)}")
        self._topology = topology

    # Python's protocols.

    def __getitem__(self, index: Any) -> Tensor:
        return indexing.get_item(self, index)

    def __repr__(self) -> str:
        if not self.is_allocated():
            return printing.unallocated_text(self._spec)
        if isinstance(self._host, Parts):
            parts = (self._on_host(self._spec, raw) for raw in self._host)
            return "\n".join(map(repr, parts))
        if self._device is not None and self._device._several:
            lines = []
            for part in parts_of(self):
                (coord,) = part.device_coords()
                lines.append(f"device_id: {self._device.get_device_id(coord)}, {coord}")
                lines.append(printing.tensor_text(part._spec, partial(part._values, "str(Tensor)")))
            return "\n".join(lines)
        return printing.tensor_text(self._spec, lambda: self._values("str(Tensor)"))

    def __copy__(self) -> Tensor:
        return self._view(self._spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self._device is not None:
            clone: Tensor = operation("clone")(self)
            return clone
        host = self._require_parts("copy.deepcopy")
        copied = host.changed(np.copy) if isinstance(host, Parts) else host.copy()
        return self._like_topology(Tensor._on_host(self._spec, copied))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (_unpickled, (self._spec, self._require_parts("pickle"), getattr(self, "_topology", None)))


def parts_of(tensor: Tensor) -> list[Tensor]:
    """Return the parts of a device tensor, one per chip."""
    assert tensor._device is not None
    return [part_on(tensor, [place]) for place in transfer.chips_with(tensor.buffers[0], tensor._device)]


def part_on(tensor: Tensor, places: Sequence[int]) -> Tensor:
    """Return a device tensor on some of its chips, on its memory."""
    (buffer,) = tensor.buffers
    part = tensor._like_topology(tensor._view(tensor.spec))
    part.buffers, part._whole = (buffer.on(list(places)),), getattr(tensor, "_whole", buffer)
    return part


class _Limit(threading.local):
    """Chips of the new tensors of a call.

    They are limited while the operands are on some chips only.

    Attributes:
        places: The engine's places of the chips; None for all.
    """

    places: list[int] | None = None


LIMIT: Final = _Limit()


def limited(tensor: Tensor) -> Tensor:
    """Return a new tensor, on the chips of the call that runs."""
    if LIMIT.places is not None:
        (buffer,) = tensor.buffers
        tensor.buffers, tensor._whole = (buffer.on(LIMIT.places),), buffer
    return tensor


def allocate_tensor_on_device(spec: TensorSpec, device: MeshDevice) -> Tensor:
    """Return a new tensor on the device, not written yet.

    Raises:
        DeviceError: the device is closed.
        OutOfMemoryError: there is no room.
        MemoryConfigError: sharded without cores.
    """
    tensor = Tensor._make(spec, None, transfer.allocate(spec, device), device)
    if OBSERVERS:
        for observer in observing():
            observer.created(tensor)
    return tensor


def _unpickled(spec: TensorSpec, host: Raw | Parts, topology: TensorTopology | None = None) -> Tensor:
    tensor = Tensor._on_host(spec, host)
    if topology is not None:
        tensor.update_tensor_topology(topology)
    return tensor
