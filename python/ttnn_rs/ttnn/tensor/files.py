"""Tensor files: official `.tensorbin` files and `as_tensor`'s cache.

A file is a little-endian u64 with the size of the header, the header (a FlatBuffer, filled up with zeros so that the
data begins at a multiple of 64), and the raw buffers of the tensor's parts. Equal parts are written once.
"""

from __future__ import annotations

import io
import logging
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, overload

import numpy as np

from ttnn.base.enums import (
    DataType,
    DumpTensorMode,
    Layout,
)
from ttnn.base.exceptions import (
    ArgumentError,
    DTypeError,
    FileAccessError,
    FileFormatError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    TtnnError,
    UnsupportedError,
)
from ttnn.base.files import make_folder, open_atomically, open_file, path_name
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.tensor.conversion import from_torch
from ttnn.tensor.distribution import CppTensorToMesh, ReplicateTensorToMesh, check_mapper
from ttnn.tensor.file_header import (
    DTYPE_NUMBER,
    ONE_PART,
    SIZE_BYTES,
    Stored,
    check_stored,
    header_bytes,
    read_parts,
    read_spec,
)
from ttnn.tensor.flat_buffer import Table
from ttnn.tensor.host_buffer import Array, Parts, Raw, as_array, as_parts, default_dtype, require_memory
from ttnn.tensor.tensor import Tensor
from ttnn.tensor.topology import WHOLE, PlacementShard

if TYPE_CHECKING:
    import torch

    from ttnn.device.lifecycle import MeshDevice

_SUFFIX = ".tensorbin"
_MAX_HEADER_BYTES = 1 << 20
_log = logging.getLogger("ttnn")


def dump_tensor(
    file_name: str | os.PathLike[str],
    tensor: Tensor,
    *,
    mode: DumpTensorMode = DumpTensorMode.DISTRIBUTED_GATHER,
) -> None:
    """Write `tensor` to a file.

    Args:
        file_name: Name that ends in .tensorbin. An existing file is replaced when the new one is complete.
        tensor: On the host or on a device.
        mode: Who writes on several hosts; there is one.

    Raises:
        FileFormatError: another ending, or a mesh or topology that the format does not have.
        FileAccessError: the file cannot be written.
        DTypeError: fp8_e4m3, which the format does not have.
        ShapeError: a tensor without elements, which the format does not have.
        StorageError: the tensor was deallocated.
    """
    where = "ttnn.dump_tensor"
    path = _checked_name(where, file_name)
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"{where}: tensor must be a ttnn.Tensor, got {type(tensor).__name__}")
    if not isinstance(mode, DumpTensorMode):
        raise ArgumentError(f"{where}: mode must be a DumpTensorMode, got {mode!r}")
    _write(where, path, tensor)


def load_tensor(file_name: str | os.PathLike[str], *, device: MeshDevice | None = None) -> Tensor:
    """Return a file's tensor, on the host or on `device`.

    Shape: `file` -> [..., H, W].

    Args:
        file_name: Name that ends in .tensorbin.
        device: Device of the output, in the memory configuration that the file names. Default: the host.

    Raises:
        FileFormatError: another ending, or a damaged file.
        FileAccessError: the file cannot be read, or is no regular file.
        OutOfMemoryError: the host has no memory for the tensor.
        UnsupportedError: the file has padding that is not modelled.
    """
    where = "ttnn.load_tensor"
    tensor = _read_file(where, _checked_name(where, file_name))
    return tensor if device is None else tensor._to_device(where, device, None)


@overload
def as_tensor(
    tensor: torch.Tensor | Array,
    dtype: DataType | None = ...,
    *,
    layout: Layout | None = ...,
    device: MeshDevice | None = ...,
    memory_config: MemoryConfig | None = ...,
    cache_file_name: str | os.PathLike[str] | None = ...,
    preprocess: Callable[..., torch.Tensor | Array] | None = ...,
    mesh_mapper: object = ...,
    cache_dump_mode: DumpTensorMode = ...,
) -> Tensor: ...


@overload
def as_tensor(tensor: None, *args: Any, **kwargs: Any) -> Tensor | None: ...


def as_tensor(
    tensor: torch.Tensor | Array | None,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = Layout.ROW_MAJOR,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    cache_file_name: str | os.PathLike[str] | None = None,
    preprocess: Callable[..., torch.Tensor | Array] | None = None,
    mesh_mapper: object = None,
    cache_dump_mode: DumpTensorMode = DumpTensorMode.DISTRIBUTED_GATHER,
) -> Tensor | None:
    """Create a tensor from torch or numpy, cached in a file.

    Shape: [..., H, W] -> [..., H, W].

    Args:
        tensor: Values. They are not read if the cache file is used; their shape and data type are compared with it.
        dtype: Element type.
        layout: Layout.
        device: Device of the output. It requires `memory_config`.
        memory_config: Memory configuration on the device. It overrides that of the cache file.
        cache_file_name: Prefix of the name of the cache file, `<name>_dtype_<DTYPE>_layout_<LAYOUT>.tensorbin`. A
            file that is damaged, or holds a tensor of another data type, layout, shape or distribution, is replaced,
            with a warning. With `preprocess` the shape is not compared: only `preprocess` knows it.
        preprocess: Applied to `tensor` before the conversion.
        mesh_mapper: Distribution over a mesh. A cache file has the parts; of a tensor that `ReplicateTensorToMesh`
            distributes it has one, so that any mesh can load it.
        cache_dump_mode: As `mode` of `dump_tensor`.

    Raises:
        MemoryConfigError: `device` without `memory_config`.
        ParameterError: `cache_file_name` is empty.
        FileFormatError: the cache file cannot be used, and there are no values to replace it.
    """
    where = "ttnn.as_tensor"
    if device is not None and memory_config is None:
        raise MemoryConfigError(
            f"{where}: device requires a memory config, for example memory_config=ttnn.DRAM_MEMORY_CONFIG",
            vendor="memory_config must be specified when device is specified",
        )
    mapper = check_mapper(where, mesh_mapper)
    for label, value, kind in (("dtype", dtype, DataType), ("layout", layout, Layout)):
        if not isinstance(value, kind | None):
            raise ArgumentError(f"{where}: {label} must be a ttnn.{kind.__name__}, got {value!r}")

    def convert(target: MeshDevice | None, mapper: CppTensorToMesh | None) -> Tensor | None:
        values = tensor if preprocess is None else preprocess(tensor)
        if values is None:
            return None
        return from_torch(
            values,
            dtype=dtype,
            layout=layout,
            device=target,
            memory_config=memory_config,
            mesh_mapper=mapper,
        )

    if cache_file_name is None:
        return convert(device, mapper)
    if isinstance(mapper, ReplicateTensorToMesh):
        mapper = None
    if cache_file_name in ("", Path()):
        raise ParameterError(f"{where}: cache_file_name is empty; pass the prefix of a file name, or None for no cache")
    prefix = path_name(where, cache_file_name)
    path = Path(f"{prefix}_dtype_{_name_of(dtype)}_layout_{_name_of(layout)}{_SUFFIX}")
    damage: FileFormatError | UnsupportedError | None = None
    if os.path.lexists(path):
        try:
            cached = load_tensor(path)
            _check_cached(where, path, cached, None if preprocess else tensor, dtype, layout, mapper)
            _check_spread(where, path, cached, mapper, device)
            if device is None and memory_config is not None and cached.memory_config() != memory_config:
                raise FileFormatError(f"{where}: {path} holds a tensor in {cached.memory_config()}")
            return _placed(where, cached, device, memory_config)
        except (FileFormatError, UnsupportedError) as error:
            damage = error
    made = convert(None, mapper)
    if made is None:
        if damage is not None:
            raise damage
        return None
    if damage is not None:
        _log.warning("%s: the cache file is replaced: %s", where, damage)
    make_folder(path.parent, where=where)
    dump_tensor(path, made, mode=cache_dump_mode)
    return _placed(where, made, device, memory_config)


def _check_cached(
    where: str,
    path: Path,
    cached: Tensor,
    source: torch.Tensor | Array | None,
    dtype: DataType | None,
    layout: Layout | None,
    mapper: CppTensorToMesh | None,
) -> None:
    """Raise FileFormatError unless a cached tensor matches the arguments."""
    if dtype is None and source is not None:
        dtype = default_dtype(as_array(source, where))
    shape = None if source is None else tuple(source.shape)
    pairs: list[tuple[str, object, object]] = [("data type", cached.dtype, dtype), ("layout", cached.layout, layout)]
    if shape is not None and mapper is not None:
        shape = mapper.plan(where, shape).shape
    pairs.append(("shape", tuple(cached.shape), shape))
    for what, got, expected in pairs:
        if expected is not None and got != expected:
            raise FileFormatError(f"{where}: {path} holds a tensor of {what} {got}; expected {expected}")


def _check_spread(
    where: str, path: Path, cached: Tensor, mapper: CppTensorToMesh | None, device: MeshDevice | None
) -> None:
    """Check that a cached tensor is distributed as a mapper does.

    Without a mapper it has one part, or is replicated on all chips of its mesh, which is that of the device.

    Raises:
        FileFormatError: it is distributed otherwise.
    """
    parts, topology = as_parts(cached._require_parts(where)), cached.tensor_topology()
    chips = parts.mesh_shape.mesh_size()
    shape, placements = topology.distribution_shape(), topology.placements()
    if mapper is None:
        split = any(
            isinstance(place, PlacementShard) and count > 1 for place, count in zip(placements, shape, strict=True)
        )
        elsewhere = chips > 1 and device is not None and device.shape != parts.mesh_shape
        if split or elsewhere or len(parts) != chips:
            raise FileFormatError(
                f"{where}: {path} holds {len(parts)} parts of distribution {topology} on the mesh {parts.mesh_shape}; "
                "expected a tensor of one part, or replicated on the mesh"
            )
        return
    whole = list(cached.shape)
    for place, count in zip(placements, shape, strict=True):
        if isinstance(place, PlacementShard) and -len(whole) <= place.dim < len(whole):
            whole[place.dim] *= count
    try:
        plan = mapper.plan(where, whole)
    except ShapeError as error:
        raise FileFormatError(f"{where}: {path} holds a tensor of distribution {topology}: {error.sentence}") from None
    mesh = plan.mesh if plan.mesh.mesh_size() > 1 else ONE_PART.mesh_shape
    if (topology, parts.mesh_shape, len(parts)) != (plan.topology, mesh, len(plan.cuts)):
        raise FileFormatError(
            f"{where}: {path} holds {len(parts)} parts of distribution {topology} on the mesh {parts.mesh_shape}; "
            f"expected {len(plan.cuts)} of {plan.topology} on {mesh}"
        )


def _placed(where: str, tensor: Tensor, device: MeshDevice | None, memory_config: MemoryConfig | None) -> Tensor:
    """Return a tensor in the requested memory config.

    It is not part of a cache file's name.
    """
    return tensor if device is None else tensor._to_device(where, device, memory_config)


def _name_of(member: DataType | Layout | None) -> str:
    return "None" if member is None else member.name


def _checked_name(where: str, file_name: str | os.PathLike[str]) -> Path:
    if not isinstance(file_name, str | os.PathLike):
        raise ArgumentError(f"{where}: file_name must be a path, got {type(file_name).__name__}")
    path = Path(path_name(where, file_name))
    if path.suffix != _SUFFIX:
        raise FileFormatError(
            f"{where}: {path.name} does not end in {_SUFFIX}", vendor=f"File {path} must have .tensorbin extension"
        )
    return path


def _write(where: str, path: Path, tensor: Tensor) -> None:
    header, parts = _parts(where, tensor)
    with open_atomically(path, where=where) as file:
        file.write(header)
        for raw in parts:
            file.write(raw.data)


def tensor_bytes(where: str, tensor: Tensor) -> bytes:
    """Return the content of a tensor's file.

    Raises:
        DTypeError: fp8_e4m3, which the format does not have.
        FileFormatError: a mesh or topology that the format does not have.
        ShapeError: a tensor without elements, which the format does not have.
        StorageError: the tensor was deallocated.
    """
    header, parts = _parts(where, tensor)
    return header + b"".join(raw.tobytes() for raw in parts)


def tensor_of_bytes(where: str, name: str, data: bytes) -> Tensor:
    """Return the tensor of a file's content, on the host.

    Raises:
        FileFormatError: the content is damaged.
        UnsupportedError: it has padding that is not modelled.
    """
    return _read(where, name, io.BytesIO(data), len(data))


def _parts(where: str, tensor: Tensor) -> tuple[bytes, list[Raw]]:
    """Return the header and the different parts of a tensor's file."""
    if tensor.dtype not in DTYPE_NUMBER:
        raise DTypeError(
            f"{where}: the file format has no {tensor.dtype.name}", vendor="FP8_E4M3 cannot be serialized to flatbuffer"
        )
    host = tensor._to_host(where)
    if host._spec._padding is not None:
        # The file says nothing of a padded shape.
        host = host._repacked(TensorSpec.of(host.shape, host.dtype, host.layout, tile=host.tile), where)
    size = host.spec.raw_bytes
    if size == 0:
        raise ShapeError(
            f"{where}: a tensor of {tensor.shape} has nothing to write",
            vendor="Unexpected empty buffer during tensor serialization",
        )
    parts = as_parts(host._require_parts(where))
    written = {id(raw): raw for raw in parts}
    offsets = {key: size * index for index, key in enumerate(written)}
    stored = Stored(parts.mesh_shape, parts.coords, [offsets[id(raw)] for raw in parts], host.tensor_topology())
    try:
        check_stored(stored)
    except FileFormatError as error:
        raise FileFormatError(f"{where}: {error}; update_tensor_topology sets the topology") from None
    return header_bytes(host.spec, size, stored), list(written.values())


def _read_file(where: str, path: Path) -> Tensor:
    try:
        with open_file(path, where=where) as file:
            return _read(where, path, file, os.fstat(file.fileno()).st_size)
    except FileAccessError as error:
        error.vendor = f'Cannot open "{path}" for reading'
        raise


def _read(where: str, path: Path | str, file: BinaryIO, size_of_file: int) -> Tensor:
    first = file.read(SIZE_BYTES)
    if len(first) < SIZE_BYTES:
        raise FileFormatError(
            f"{where}: {path} has {len(first)} B", vendor=f'Tensor file "{path}" is too small to be valid'
        )
    header_size = struct.unpack("<Q", first)[0]
    begin = SIZE_BYTES + header_size
    if begin > size_of_file:
        raise FileFormatError(
            f"{where}: {path} ends inside of its header",
            vendor=f'Tensor file "{path}" is truncated or corrupt (header_size={header_size}, '
            f"file_size={size_of_file})",
        )
    if header_size > _MAX_HEADER_BYTES:
        raise FileFormatError(f"{where}: {path} has a header of {header_size} B, expected at most {_MAX_HEADER_BYTES}")
    try:
        root = Table.root(file.read(header_size))
        spec = read_spec(root.required(0, "tensor"))
        parts, size = read_parts(root)
    except FileFormatError as error:
        raise FileFormatError(
            f"{where}: {path}: {error}",
            vendor="Cannot validate tensor data; this most likely indicates data corruption.",
        ) from None
    except UnsupportedError:
        raise
    except (TtnnError, ValueError) as error:
        raise FileFormatError(f"{where}: {path} describes no tensor: {error}") from None
    buffers: dict[int, Raw] = {}
    for offset in parts.offsets:
        if offset not in buffers:
            buffers[offset] = _read_part(where, path, file, spec, size, begin + offset, size_of_file)
    if parts.mesh_shape.mesh_size() == 1:
        tensor = Tensor._on_host(spec, buffers[parts.offsets[0]])
    else:
        shared = (buffers[offset] for offset in parts.offsets)
        tensor = Tensor._on_host(spec, Parts(shared, parts.coords, parts.mesh_shape))
    if parts.topology != WHOLE:
        tensor.update_tensor_topology(parts.topology)
    return tensor


def _read_part(
    where: str, path: Path | str, file: BinaryIO, spec: TensorSpec, size: int, begin: int, size_of_file: int
) -> Raw:
    """Return the bytes of a part, from `begin` on."""
    if begin > size_of_file:
        raise FileFormatError(
            f"{where}: {path} has a part from byte {begin} on and {size_of_file} B in all; it is cut short or damaged"
        )
    stored = min(size, size_of_file - begin)
    if stored == size == spec.raw_bytes:
        require_memory(where, spec.shape, size)
        raw = np.empty(size, np.uint8)
        file.seek(begin)
        stored = file.readinto(raw)  # type: ignore[attr-defined]
        if stored == size:
            return raw
    raise FileFormatError(
        f"{where}: {path} holds {stored} B of data, its header says {size} B, {spec.shape} needs {spec.raw_bytes} B"
    )
