"""Conversion of tensors: torch and numpy, host and device, data types, memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout, StorageType
from ttnn.base.exceptions import (
    ArgumentError,
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ShapeError,
    StorageError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.shape import ShapeLike
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.tensor import host_buffer, transfer
from ttnn.tensor.construction import tensor_from_array
from ttnn.tensor.tensor import Tensor
from ttnn.tensor.tensor import allocate_tensor_on_device as _allocate
from ttnn.tensor.topology import replicated_on
from ttnn.tensor.transfer import check_queue

if TYPE_CHECKING:
    import torch

    from ttnn.device.lifecycle import MeshDevice

    AllocationArgument: TypeAlias = TensorSpec | ShapeLike | DataType | Layout | MeshDevice | MemoryConfig | None

__all__ = [
    "get_memory_config",
    "has_storage_type_of",
    "has_tile_padding",
    "is_sharded",
    "is_tensor_storage_on_device",
    "to_numpy",
]


def require_tensor(operator: str, tensor: object, label: str = "tensor") -> None:
    """Raise unless the argument is a tensor."""
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"{operator}: {label} must be a ttnn.Tensor, got {type(tensor).__name__}")


@overload
def from_torch(
    tensor: torch.Tensor | host_buffer.Array,
    dtype: DataType | None = ...,
    *,
    spec: TensorSpec | None = ...,
    tile: Tile | None = ...,
    pad_value: float | None = ...,
    layout: Layout | None = ...,
    device: MeshDevice | None = ...,
    memory_config: MemoryConfig | None = ...,
    mesh_mapper: object = ...,
    cq_id: int | None = ...,
    preserve_nan_values: bool = ...,
    col_tilize: bool = ...,
    enable_bfloat_opt: bool = ...,
) -> Tensor: ...


@overload
def from_torch(tensor: None, *args: Any, **kwargs: Any) -> None: ...


def from_torch(
    tensor: torch.Tensor | host_buffer.Array | None,
    dtype: DataType | None = None,
    *,
    spec: TensorSpec | None = None,
    tile: Tile | None = None,
    pad_value: float | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    mesh_mapper: object = None,
    cq_id: int | None = None,
    preserve_nan_values: bool = False,
    col_tilize: bool = False,
    enable_bfloat_opt: bool = False,
) -> Tensor | None:
    """Create a tensor from a torch or numpy tensor.

    None is returned for None.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        tensor: The values. Not changed and not kept, except that a read-only or non-contiguous array is copied.
        dtype: Data type of the output. Default: that of the values.
        spec: Shape, data type, layout, memory configuration and tile. It excludes the arguments for them.
        tile: Tile shape.
        pad_value: Value of the tile padding. Default: 0.
        layout: Layout of the output. Default: TILE_LAYOUT for block floats, else ROW_MAJOR_LAYOUT.
        device: Device of the output. Default: the host.
        memory_config: Memory configuration on the device. A sharded one must name its cores.
        mesh_mapper: Distribution over a mesh, such as `ttnn.ShardTensorToMesh(device, dim=0)`. `spec`, layout and
            memory configuration are those of a part.
        cq_id: Command queue 0 or 1.
        preserve_nan_values: Accepted. NaNs are made canonical in any case, as in TT-NN.
        col_tilize: Transpose the last two dimensions first (block floats).
        enable_bfloat_opt: Only False.

    Raises:
        ShapeError: `spec` has another shape.
        ArgumentError: `spec` and one of the arguments that it excludes.
        LayoutError: a block float in row-major layout.
        DTypeError: values without a ttnn data type, or fp8_e4m3 from other than float32.
        MemoryConfigError: sharded without cores, or shards that do not fit.
    """
    where = "ttnn.from_torch"
    if tensor is None:
        return None
    if spec is not None:
        if not isinstance(spec, TensorSpec):
            raise ArgumentError(f"{where}: spec must be a ttnn.TensorSpec, got {type(spec).__name__}")
        _check_spec(where, tensor, spec, dtype, layout, memory_config, tile, col_tilize)
        dtype, layout, memory_config, tile = spec.dtype, spec.layout, spec.memory_config, spec.tile
    return tensor_from_array(
        Tensor,
        where,
        tensor,
        dtype=dtype,
        layout=layout,
        device=device,
        memory_config=memory_config,
        tile=tile,
        pad_value=pad_value,
        mesh_mapper=mesh_mapper,
        cq_id=cq_id,
        preserve_nan_values=preserve_nan_values,
        col_tilize=col_tilize,
        enable_bfloat_opt=enable_bfloat_opt,
    )


def _check_spec(
    where: str,
    tensor: torch.Tensor | host_buffer.Array,
    spec: TensorSpec,
    dtype: DataType | None,
    layout: Layout | None,
    memory_config: MemoryConfig | None,
    tile: Tile | None,
    col_tilize: bool,
) -> None:
    if col_tilize:
        raise LayoutError(
            f"{where}: spec sets the shape of the result, and col_tilize=True would swap its last dimensions",
            vendor="ttnn.from_torch: col_tilize=True is not supported with spec",
        )
    if spec.shape != tuple(tensor.shape):
        raise ShapeError(
            f"{where}: spec is for {spec.shape}, the values have {tuple(tensor.shape)}",
            vendor=f"ttnn.from_torch: spec shape {spec.shape} must be the same as tensor shape {tensor.shape}",
        )
    for name, value in (("dtype", dtype), ("layout", layout), ("memory_config", memory_config), ("tile", tile)):
        if value is not None:
            raise MemoryConfigError(
                f"{where}: both spec and {name} are passed",
                vendor=f"ttnn.from_torch: {name} must be None when spec is specified",
            )


def to_torch(
    tensor: Tensor,
    dtype: torch.dtype | None = None,
    *,
    torch_rank: int | None = None,
    mesh_composer: object = None,
    device: MeshDevice | None = None,
    cq_id: int | None = None,
) -> torch.Tensor:
    """Return the values of `tensor` as a torch tensor, without tile padding.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        tensor: On the host or on a device.
        dtype: Torch type of the result; by default the one of the same name, float32 for block floats.
        torch_rank: Drop leading dimensions of size 1 until this rank.
        mesh_composer: Joins the parts of a distributed tensor, such as `ttnn.ConcatMeshToTensor(device, dim=0)`.
        device: The device of the tensor, or None.
        cq_id: Command queue 0 or 1.

    Raises:
        ShapeError: `torch_rank` cannot be reached.
        DTypeError: `dtype` is no torch type.
        StorageError: the tensor was deallocated, `device` is not where it is, or it has several parts and there is no
            composer.
    """
    where = "ttnn.to_torch"
    require_tensor(where, tensor)
    check_queue(where, cq_id)
    if device is not None and tensor._device is not None and tensor._device is not device:
        raise StorageError(f"{where}: the tensor is on another device than device=")
    if torch_rank is not None and (isinstance(torch_rank, bool) or not isinstance(torch_rank, int)):
        raise ArgumentError(f"{where}: torch_rank must be an int or None, got {torch_rank!r}")
    result = tensor.to_torch(mesh_composer)
    if torch_rank is not None:
        while result.dim() > torch_rank and result.shape[0] == 1:
            result = result.squeeze(0)
        if result.dim() > torch_rank:
            raise ShapeError(
                f"{where}: {tensor.shape} cannot have rank {torch_rank}, a leading dimension is not 1",
                vendor="ttnn: Unable to squeeze to desired rank!",
            )
    try:
        return result if dtype is None else result.to(dtype=dtype)
    except TypeError:
        raise DTypeError(f"{where}: dtype must be a torch.dtype, got {dtype!r}") from None


def to_numpy(tensor: Tensor, *, mesh_composer: object = None) -> host_buffer.Array:
    """Return a numpy array without padding.

    bfloat16 as ml_dtypes.bfloat16, block floats as float32.
    """
    require_tensor("ttnn.to_numpy", tensor)
    return tensor.to_numpy(mesh_composer)


def to_device(
    tensor: Tensor, device: MeshDevice, memory_config: MemoryConfig | None = None, *, cq_id: int | None = None
) -> Tensor:
    """Return `tensor` copied to a device.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        tensor: A host tensor; one that is on `device` is returned as it is, whatever `memory_config` is.
        device: The device.
        memory_config: Where on it; by default as the host tensor says, which is interleaved DRAM unless it was asked
            for something else.
        cq_id: Command queue 0 or 1.

    Raises:
        DeviceError: the device is closed.
        OutOfMemoryError: the memory is full.
        StorageError: deallocated, or on another device.
    """
    require_tensor("ttnn.to_device", tensor)
    check_queue("ttnn.to_device", cq_id)
    return tensor._to_device("ttnn.to_device", device, memory_config)


def from_device(tensor: Tensor, blocking: bool = True, *, cq_id: int | None = None) -> Tensor:
    """Return `tensor` copied to the host with padding, layout and type.

    A host tensor is returned unchanged.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        tensor: A device tensor.
        blocking: Reads always wait until they are done.
        cq_id: Command queue 0 or 1.

    Raises:
        StorageError: it was deallocated.
        DeviceError: its device is closed.
    """
    require_tensor("ttnn.from_device", tensor)
    check_queue("ttnn.from_device", cq_id)
    return tensor._to_host("ttnn.from_device")


def to_dtype(tensor: Tensor, dtype: DataType) -> Tensor:
    """Return a host tensor converted to another data type.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        tensor: A host tensor. Device tensors are converted by `ttnn.typecast`.
        dtype: The type. A block float is returned in TILE_LAYOUT, whatever the layout of `tensor`.

    Raises:
        StorageError: it is on a device, or deallocated.
    """
    where = "ttnn.to_dtype"
    require_tensor(where, tensor)
    tensor._require_parts(where)
    if dtype is tensor.dtype:
        return tensor
    if DataType.FP8_E4M3 in (dtype, tensor.dtype) and DataType.FLOAT32 not in (dtype, tensor.dtype):
        raise DTypeError(
            f"{where}: {tensor.dtype.name} to {dtype.name}",
            vendor="FP8_E4M3 cross-type conversion is only supported to/from FLOAT32",
        )
    layout = Layout.TILE if dtype in tuple(BLOCK_FLOATS) else tensor.layout
    spec = TensorSpec.of(tensor.shape, dtype, layout, tensor.memory_config(), tensor.tile)
    return tensor._repacked(spec, where)


def quantize_weights_via_host(device_tensor: Tensor, *, dtype: DataType, memory_config: MemoryConfig | None) -> Tensor:
    """Return a device tensor converted to a data type by the host.

    It rounds as `ttnn.from_torch` does.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        device_tensor: The tensor.
        dtype: The type. A block float is returned in TILE_LAYOUT.
        memory_config: Memory config of the result; None for that of the tensor.

    Raises:
        StorageError: it is not on a device.
    """
    where = "ttnn.experimental.quantize_weights_via_host"
    require_tensor(where, device_tensor)
    device_tensor._require_device(where, "device_tensor")
    converted = to_dtype(device_tensor._to_host(where), dtype)
    device = device_tensor.device()
    assert device is not None
    return to_device(converted, device, memory_config=memory_config or device_tensor.memory_config())


def deallocate(tensor: Tensor, force: bool = True) -> None:
    """Release the memory of `tensor`.

    Nothing is returned, and nothing happens to a tensor that was released before.

    Args:
        tensor: The tensor.
        force: Release it even if views use it.
    """
    require_tensor("ttnn.deallocate", tensor)
    tensor.deallocate(force)


def reallocate(tensor: Tensor, memory_config: MemoryConfig | None = None) -> Tensor:
    """Return `tensor` in new memory, to reduce fragmentation.

    The old one is deallocated.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        tensor: A device tensor.
        memory_config: Memory configuration of the output. Default: that of `tensor`.

    Raises:
        StorageError: it is on the host, or deallocated.
        OutOfMemoryError: the memory is full; the tensor keeps its values.
    """
    where = "ttnn.reallocate"
    require_tensor(where, tensor)
    tensor._require_device(where, "tensor")
    device = tensor._device
    assert device is not None
    spec = tensor.spec if memory_config is None else tensor.spec.with_memory_config(memory_config)
    values = tensor._to_host(where)
    for buffer in tensor.buffers:
        buffer.deallocate()
    try:
        moved = values._to_device(where, device, spec.memory_config)
    except Exception:
        # The place it had is free, so this cannot fail.
        tensor.buffers = values._to_device(where, device, tensor.memory_config()).buffers
        raise
    return moved


def allocate_tensor_on_device(*args: AllocationArgument, **kwargs: AllocationArgument) -> Tensor:
    """Create an uninitialized tensor on a device.

    Shape: `shape` -> [*shape].

    Args:
        args: (tensor_spec, mesh_device) or (shape, dtype, layout, mesh_device, memory_config=None).
        kwargs: The same by name.

    Raises:
        DeviceError: the device is closed.
        OutOfMemoryError: the memory is full.
    """
    spec, device = _spec_and_device("ttnn.allocate_tensor_on_device", args, kwargs)
    return _allocate(spec, device)


def allocate_tensor_on_host(*args: AllocationArgument, **kwargs: AllocationArgument) -> Tensor:
    """Create a tensor of zeros on the host.

    Shape: `shape` -> [*shape].

    On a mesh of several chips it has a part for each.

    Args:
        args: (tensor_spec, mesh_device) or (shape, dtype, layout, mesh_device, memory_config=None).
        kwargs: The same by name.
    """
    spec, device = _spec_and_device("ttnn.allocate_tensor_on_host", args, kwargs)
    if not device._several:
        return Tensor._on_host(spec, np.zeros(spec.raw_bytes, dtype=np.uint8))
    zeros = [np.zeros(spec.raw_bytes, dtype=np.uint8) for _ in device.chips]
    tensor = Tensor._on_host(spec, host_buffer.Parts(zeros, device.coordinates(), device.shape))
    tensor.update_tensor_topology(replicated_on(device.shape))
    return tensor


def _spec_and_device(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[TensorSpec, MeshDevice]:
    def by_spec(tensor_spec: TensorSpec, mesh_device: MeshDevice) -> tuple[TensorSpec, MeshDevice]:
        return tensor_spec, mesh_device

    def by_parts(
        shape: ShapeLike,
        dtype: DataType,
        layout: Layout,
        mesh_device: MeshDevice,
        memory_config: MemoryConfig | None = None,
    ) -> tuple[TensorSpec, MeshDevice]:
        return TensorSpec.of(shape, dtype, layout, memory_config or DRAM_MEMORY_CONFIG), mesh_device

    has_spec = "tensor_spec" in kwargs or (bool(args) and isinstance(args[0], TensorSpec))
    try:
        spec, device = (by_spec if has_spec else by_parts)(*args, **kwargs)
    except TypeError as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{where}(): incompatible function arguments. {error}") from None
    transfer.require_open(where, device)
    return spec, device


def has_storage_type_of(tensor: Tensor, storage_type: StorageType) -> bool:
    """Return True if a tensor has this storage type."""
    require_tensor("ttnn.has_storage_type_of", tensor)
    return tensor.storage_type() is storage_type


def is_tensor_storage_on_device(tensor: Tensor) -> bool:
    """Return whether a tensor is on a device."""
    require_tensor("ttnn.is_tensor_storage_on_device", tensor)
    return tensor.storage_type() is StorageType.DEVICE


def is_sharded(tensor: Tensor) -> bool:
    """Return whether a tensor is sharded."""
    require_tensor("ttnn.is_sharded", tensor)
    return tensor.is_sharded()


def get_memory_config(tensor: Tensor) -> MemoryConfig | None:
    """Return a device tensor's memory configuration, None for host tensors."""
    require_tensor("ttnn.get_memory_config", tensor)
    return tensor.memory_config() if tensor._device is not None and tensor.is_allocated() else None


def has_tile_padding(tensor: Tensor, *, dim: int | None = None) -> bool:
    """Return whether height or width (or dimension `dim`) is padded."""
    require_tensor("ttnn.has_tile_padding", tensor)
    logical, padded = tuple(tensor.shape), tuple(tensor.padded_shape)
    if dim is not None:
        return tensor.shape[dim] != tensor.padded_shape[dim if dim < 0 else dim - len(logical)]
    return len(logical) > 1 and logical[-2:] != padded[-2:]


_IN_TORCH = {
    DataType.BFLOAT16: "bfloat16",
    DataType.FLOAT32: "float32",
    DataType.BFLOAT8_B: "float32",
    DataType.BFLOAT4_B: "float32",
    DataType.UINT8: "uint8",
    DataType.INT8: "int8",
    DataType.UINT16: "uint16",
    DataType.UINT32: "uint32",
    DataType.INT32: "int32",
    DataType.FP8_E4M3: "float8_e4m3fn",
}
"""The torch type of a data type in `to_torch`."""


def ttnn_dtype_to_torch_dtype(dtype: DataType) -> Any:
    """Return the torch dtype of `ttnn.to_torch` for a data type.

    Raises:
        ArgumentError: no DataType.
        DTypeError: INVALID.
    """
    import torch

    if not isinstance(dtype, DataType):
        raise ArgumentError(f"ttnn_dtype_to_torch_dtype: expected a DataType, got {type(dtype).__name__}")
    if dtype not in _IN_TORCH:
        raise DTypeError(f"ttnn_dtype_to_torch_dtype: no torch dtype corresponds to {dtype.name}")
    return getattr(torch, _IN_TORCH[dtype])
