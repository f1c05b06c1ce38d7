"""Copies between equal tensors of host and device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.exceptions import MemoryConfigError, ShapeError, StorageError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.tensor import transfer
from ttnn.tensor.conversion import require_tensor
from ttnn.tensor.host_buffer import Parts, Raw, as_parts
from ttnn.tensor.tensor import Tensor
from ttnn.tensor.transfer import check_queue


def _require_same(where: str, host_tensor: Tensor, device_tensor: Tensor) -> None:
    for what, vendor, ours, theirs in (
        ("shape", "shape", host_tensor.shape, device_tensor.shape),
        ("data type", "dtype", host_tensor.dtype, device_tensor.dtype),
        ("layout", "page config", host_tensor.layout, device_tensor.layout),
        ("tile", "page config", host_tensor.tile, device_tensor.tile),
    ):
        if ours != theirs:
            raise ShapeError(
                f"{where}: the {what} of the host tensor is {ours}, that of the device tensor {theirs}",
                vendor=f"Host tensor has different {vendor}",
            )


def copy_host_to_device_tensor(host_tensor: Tensor, device_tensor: Tensor, cq_id: int | None = None) -> None:
    """Write a host tensor to an equal device tensor.

    Shape, data type and layout are the same.

    Shape: [..., H, W] -> [..., H, W].

    Raises:
        StorageError: a tensor is on the wrong side (host or device), or deallocated.
        ShapeError: shape, data type or layout differ.
    """
    where = "ttnn.copy_host_to_device_tensor"
    check_queue(where, cq_id)
    host, spec = _host_for(where, host_tensor, device_tensor)
    assert device_tensor._device is not None
    transfer.write(device_tensor.buffers, spec, host, device_tensor._device)


def _host_for(where: str, host_tensor: Tensor, device_tensor: Tensor) -> tuple[Raw | Parts, TensorSpec]:
    """Return a host tensor's buffers, padded for the device tensor.

    Parts are those of the device tensor's chips.
    """
    require_tensor(where, host_tensor, "host_tensor")
    require_tensor(where, device_tensor, "device_tensor")
    host_tensor._require_parts(where, "host_tensor")
    device_tensor._require_device(where, "device_tensor")
    _require_same(where, host_tensor, device_tensor)
    spec = device_tensor.spec
    if spec.padded_shape != host_tensor.padded_shape:
        host_tensor = host_tensor._repacked(spec, where)
    host = host_tensor._require_parts(where)
    if not isinstance(host, Parts):
        return host, spec
    held, coords = dict(zip(host.coords, host, strict=True)), device_tensor.device_coords()
    device = device_tensor._device
    assert device is not None
    if host.mesh_shape != device.shape or not set(coords) <= set(held):
        raise StorageError(
            f"{where}: host_tensor is distributed over {len(host)} chips of the mesh {host.mesh_shape}, device_tensor "
            f"is on {len(coords)} of {device.shape}",
            vendor=f"Error: distributed host buffer has different shape {host.mesh_shape} than the mesh device "
            f"{device.shape}",
        )
    return Parts((held[coord] for coord in coords), coords, host.mesh_shape), spec


def copy_host_to_device_tensor_partial(
    host_tensor: Tensor, device_tensor: Tensor, logical_core_filter: CoreRangeSet, cq_id: int | None = None
) -> None:
    """Write the given cores' shards of a host tensor to device.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        host_tensor: Values.
        device_tensor: Sharded, of the same shape, type and layout.
        logical_core_filter: Cores whose shards are written; the others keep their values.
        cq_id: Command queue 0 or 1.

    Raises:
        StorageError: a tensor is on the wrong side (host or device), or deallocated.
        ShapeError: shape, data type or layout differ.
        MemoryConfigError: the device tensor is not sharded.
    """
    where = "ttnn.copy_host_to_device_tensor_partial"
    check_queue(where, cq_id)
    host, spec = _host_for(where, host_tensor, device_tensor)
    if not spec.memory_config.is_sharded():
        raise MemoryConfigError(f"{where}: device_tensor is not sharded ({spec.memory_config})")
    cores = transfer.page_cores(spec)
    chosen = {core for core in set(cores) if logical_core_filter.contains(core)}
    if not chosen:
        return
    written = np.array([core in chosen for core in cores], dtype=bool)
    device = device_tensor._device
    assert device is not None
    if not written.all():
        before = as_parts(transfer.read_parts(device_tensor.buffers, spec, device))
        given = host if isinstance(host, Parts) else [host] * len(before)
        merged = [_merged(old, new, written) for old, new in zip(before, given, strict=True)]
        host = before.with_buffers(merged)
    transfer.write(device_tensor.buffers, spec, host, device)


def _merged(old: Raw, new: Raw, written: NDArray[np.bool_]) -> Raw:
    """Return the pages of a buffer, some of them from another."""
    pages = np.array(old).reshape(len(written), -1)
    pages[written] = new.reshape(pages.shape)[written]
    return pages.reshape(-1)


def copy_device_to_host_tensor(
    device_tensor: Tensor, host_tensor: Tensor, blocking: bool = True, cq_id: int | None = None
) -> None:
    """Write a device tensor to an equal host tensor.

    Shape, data type and layout are the same.

    Shape: [..., H, W] -> [..., H, W].

    Raises:
        StorageError: a tensor is on the wrong side (host or device), or deallocated.
        ShapeError: shape, data type or layout differ.
    """
    where = "ttnn.copy_device_to_host_tensor"
    check_queue(where, cq_id)
    require_tensor(where, host_tensor, "host_tensor")
    require_tensor(where, device_tensor, "device_tensor")
    device_tensor._require_device(where, "device_tensor")
    target = host_tensor._require_parts(where, "host_tensor")
    _require_same(where, host_tensor, device_tensor)
    read = device_tensor._to_host(where)
    if read.padded_shape != host_tensor.padded_shape:
        read = read._repacked(host_tensor.spec, where)
    if isinstance(target, Parts) and isinstance(read._host, Parts) and target.mesh_shape == read._host.mesh_shape:
        # Equal parts of the target may be one buffer, so that they are exchanged, not written to.
        held = dict(zip(read._host.coords, read._host, strict=True))
        parts = (held.get(coord, raw) for coord, raw in zip(target.coords, target, strict=True))
        host_tensor._host = target.with_buffers(parts)
        return
    target, source = host_tensor._require_host(where, "host_tensor"), read._require_host(where, "device_tensor")
    if target.flags.writeable:
        np.copyto(target, source)
    else:
        host_tensor._host = source
