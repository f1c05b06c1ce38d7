"""Tensor files: official `.tensorbin` files and `as_tensor`'s cache.

A file is a little-endian u64 with the size of the header, the header (a FlatBuffer, filled up with zeros so that the
data begins at a multiple of 64), and the raw buffer of the tensor.
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

from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import (
    BufferType,
    DataType,
    DumpTensorMode,
    Layout,
    ShardDistributionStrategy,
    ShardOrientation,
    TensorMemoryLayout,
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
from ttnn.base.memory_config import MemoryConfig, NdShardSpec, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.tensor.conversion import from_torch
from ttnn.tensor.distribution import check_mapper
from ttnn.tensor.flat_buffer import Builder, Table
from ttnn.tensor.host_buffer import Array, as_array, default_dtype, require_memory
from ttnn.tensor.tensor import Tensor

if TYPE_CHECKING:
    import torch

    from ttnn.device.lifecycle import MeshDevice

_SUFFIX = ".tensorbin"
_DATA_ALIGNMENT = 64
_SIZE_BYTES = 8
_MAX_HEADER_BYTES = 1 << 20
_log = logging.getLogger("ttnn")

# Numbers of the file format. The first eight agree with DataType.
_DTYPE_NUMBER = {
    DataType.BFLOAT16: 0,
    DataType.FLOAT32: 1,
    DataType.UINT32: 2,
    DataType.BFLOAT8_B: 3,
    DataType.BFLOAT4_B: 4,
    DataType.UINT8: 5,
    DataType.UINT16: 6,
    DataType.INT32: 7,
    DataType.INT8: 9,
}
_DTYPE = {number: dtype for dtype, number in _DTYPE_NUMBER.items()}
_ROW_MAJOR_PAGES, _TILE_PAGES = 1, 2
_INLINE_STORAGE = 1
_NO_DIM = -1


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
        FileFormatError: another ending.
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
        UnsupportedError: the file holds parts for several chips, or padding that is not modelled.
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
            file that is damaged, or holds a tensor of another data type, layout or shape, is replaced, with a warning.
            With `preprocess` the shape is not compared: only `preprocess` knows it.
        preprocess: Applied to `tensor` before the conversion.
        mesh_mapper: Distribution over the mesh of one device.
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
    check_mapper(where, mesh_mapper)
    for label, value, kind in (("dtype", dtype, DataType), ("layout", layout, Layout)):
        if not isinstance(value, kind | None):
            raise ArgumentError(f"{where}: {label} must be a ttnn.{kind.__name__}, got {value!r}")

    def convert(target: MeshDevice | None) -> Tensor | None:
        values = tensor if preprocess is None else preprocess(tensor)
        if values is None:
            return None
        return from_torch(
            values,
            dtype=dtype,
            layout=layout,
            device=target,
            memory_config=memory_config,
            mesh_mapper=mesh_mapper,
        )

    if cache_file_name is None:
        return convert(device)
    if cache_file_name in ("", Path()):
        raise ParameterError(f"{where}: cache_file_name is empty; pass the prefix of a file name, or None for no cache")
    prefix = path_name(where, cache_file_name)
    path = Path(f"{prefix}_dtype_{_name_of(dtype)}_layout_{_name_of(layout)}{_SUFFIX}")
    damage: FileFormatError | UnsupportedError | None = None
    if os.path.lexists(path):
        try:
            cached = load_tensor(path)
            _check_cached(where, path, cached, None if preprocess else tensor, dtype, layout)
            if device is None and memory_config is not None and cached.memory_config() != memory_config:
                raise FileFormatError(f"{where}: {path} holds a tensor in {cached.memory_config()}")
            return _placed(where, cached, device, memory_config)
        except (FileFormatError, UnsupportedError) as error:
            damage = error
    made = convert(None)
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
) -> None:
    """Raise FileFormatError unless a cached tensor matches the arguments."""
    if dtype is None and source is not None:
        dtype = default_dtype(as_array(source, where))
    pairs = [
        ("data type", cached.dtype, dtype),
        ("layout", cached.layout, layout),
        ("shape", tuple(cached.shape), None if source is None else tuple(source.shape)),
    ]
    for what, got, expected in pairs:
        if expected is not None and got != expected:
            raise FileFormatError(f"{where}: {path} holds a tensor of {what} {got}; expected {expected}")


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
    header, raw = _parts(where, tensor)
    with open_atomically(path, where=where) as file:
        file.write(header)
        file.write(raw.data)


def tensor_bytes(where: str, tensor: Tensor) -> bytes:
    """Return the content of a tensor's file.

    Raises:
        DTypeError: fp8_e4m3, which the format does not have.
        ShapeError: a tensor without elements, which the format does not have.
        StorageError: the tensor was deallocated.
    """
    header, raw = _parts(where, tensor)
    return header + raw.tobytes()


def tensor_of_bytes(where: str, name: str, data: bytes) -> Tensor:
    """Return the tensor of a file's content, on the host.

    Raises:
        FileFormatError: the content is damaged.
        UnsupportedError: it holds parts for several chips, or padding that is not modelled.
    """
    return _read(where, name, io.BytesIO(data), len(data))


def _parts(where: str, tensor: Tensor) -> tuple[bytes, np.ndarray[Any, Any]]:
    """Return the header and the data of a tensor's file."""
    if tensor.dtype not in _DTYPE_NUMBER:
        raise DTypeError(
            f"{where}: the file format has no {tensor.dtype.name}", vendor="FP8_E4M3 cannot be serialized to flatbuffer"
        )
    host = tensor._to_host(where)
    if host._spec._padding is not None:
        # The file says nothing of a padded shape.
        host = host._repacked(TensorSpec.of(host.shape, host.dtype, host.layout, tile=host.tile), where)
    raw = host._require_host(where)
    if raw.nbytes == 0:
        raise ShapeError(
            f"{where}: a tensor of {tensor.shape} has nothing to write",
            vendor="Unexpected empty buffer during tensor serialization",
        )
    return header_bytes(host.spec, raw.nbytes), raw


def header_bytes(spec: TensorSpec, data_bytes: int) -> bytes:
    """Return all bytes of a file before the data."""
    builder = Builder()
    shape = builder.numbers(list(spec.shape))
    layout = _layout(builder, spec)
    described = builder.table((1, "ref", layout), (0, "ref", shape))

    def coordinate() -> int:
        return builder.table((0, "ref", builder.numbers([0, 0])))

    # One part, for the only chip of a 1x1 mesh.
    place = coordinate()
    storage = builder.structure("QQ", 8, 0, data_bytes)
    part = builder.table((2, "ref", place), (1, "ref", storage), (0, "B", _INLINE_STORAGE))
    parts = builder.references([part])
    mesh = builder.table((0, "ref", builder.numbers([1, 1])))
    distribution = builder.table((0, "ref", builder.numbers([1])))
    placements = builder.references([builder.table((1, "i", _NO_DIM), (0, "B", 0))])
    coordinates = builder.references([coordinate()])
    topology = builder.table((2, "ref", coordinates), (1, "ref", placements), (0, "ref", distribution))
    root = builder.table((3, "ref", topology), (2, "ref", parts), (1, "ref", mesh), (0, "ref", described))
    builder.align(_SIZE_BYTES)
    header = builder.finish(root)
    header += bytes(-(len(header) + _SIZE_BYTES) % _DATA_ALIGNMENT)
    return struct.pack("<Q", len(header)) + header


def _layout(builder: Builder, spec: TensorSpec) -> int:
    alignment = builder.numbers(_alignment(spec))
    if spec.layout is Layout.TILE:
        height, width = spec.tile.tile_shape
        tile = builder.table((1, "I", width), (0, "I", height))
        pages, kind = builder.table((0, "ref", tile)), _TILE_PAGES
    else:
        pages, kind = builder.table(), _ROW_MAJOR_PAGES
    memory = _memory(builder, spec.memory_config)
    return builder.table(
        (4, "ref", alignment),
        (3, "ref", memory),
        (2, "ref", pages),
        (1, "B", kind),
        (0, "B", _DTYPE_NUMBER[spec.dtype]),
    )


def _alignment(spec: TensorSpec) -> list[int]:
    """Return to what multiples the last dimensions are padded."""
    if spec.layout is Layout.TILE:
        return spec.tile.tile_shape
    shards, nd = spec.memory_config.shard_spec, spec.memory_config.nd_shard_spec
    if nd is not None:
        return [nd.shard_shape[-1]]
    if shards is not None and spec.memory_config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        return [shards.shape[1]]
    return [1]


def _memory(builder: Builder, config: MemoryConfig) -> int:
    shards, nd = config.shard_spec, config.nd_shard_spec
    described = described_nd = 0
    if shards is not None:
        described = builder.table(
            (2, "I", shards.shape[1]),
            (1, "I", shards.shape[0]),
            (0, "ref", _cores(builder, shards.grid)),
            (3, "B", shards.orientation.value),
        )
    if nd is not None:
        shape = builder.numbers(list(nd.shard_shape))
        described_nd = builder.table(
            (1, "ref", _cores(builder, nd.grid)),
            (0, "ref", shape),
            (3, "B", nd.shard_distribution_strategy.value),
            (2, "B", nd.orientation.value),
        )
    return builder.table(
        (3, "ref", described_nd),
        (2, "ref", described),
        (1, "H", config.buffer_type.value),
        (0, "H", config.memory_layout.value),
        (4, "B", int(nd is not None)),
    )


def _cores(builder: Builder, grid: CoreRangeSet) -> int:
    ranges = []
    for r in grid.ranges():
        start = builder.table((1, "i", r.start.y), (0, "i", r.start.x))
        end = builder.table((1, "i", r.end.y), (0, "i", r.end.x))
        ranges.append(builder.table((1, "ref", end), (0, "ref", start)))
    return builder.table((0, "ref", builder.references(ranges)))


def _read_file(where: str, path: Path) -> Tensor:
    try:
        with open_file(path, where=where) as file:
            return _read(where, path, file, os.fstat(file.fileno()).st_size)
    except FileAccessError as error:
        error.vendor = f'Cannot open "{path}" for reading'
        raise


def _read(where: str, path: Path | str, file: BinaryIO, size_of_file: int) -> Tensor:
    first = file.read(_SIZE_BYTES)
    if len(first) < _SIZE_BYTES:
        raise FileFormatError(
            f"{where}: {path} has {len(first)} B", vendor=f'Tensor file "{path}" is too small to be valid'
        )
    header_size = struct.unpack("<Q", first)[0]
    begin = _SIZE_BYTES + header_size
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
        spec = _read_spec(root.required(0, "tensor"))
        offset, size = _read_storage(root.tables(2))
    except FileFormatError as error:
        raise FileFormatError(
            f"{where}: {path}: {error}",
            vendor="Cannot validate tensor data; this most likely indicates data corruption.",
        ) from None
    except UnsupportedError:
        raise
    except (TtnnError, ValueError) as error:
        raise FileFormatError(f"{where}: {path} describes no tensor: {error}") from None
    stored = max(0, min(size, size_of_file - begin - offset))
    if stored == size == spec.raw_bytes:
        require_memory(where, spec.shape, size)
        raw = np.empty(size, np.uint8)
        file.seek(begin + offset)
        stored = file.readinto(raw)  # type: ignore[attr-defined]
        if stored == size:
            return Tensor._on_host(spec, raw)
    raise FileFormatError(
        f"{where}: {path} holds {stored} B of data, its header says {size} B, {spec.shape} needs {spec.raw_bytes} B"
    )


def _read_spec(table: Table) -> TensorSpec:
    layout = table.required(1, "layout")
    number = layout.number(0, "B")
    if number not in _DTYPE:
        raise FileFormatError(f"the header has data type {number}, which does not exist")
    pages = layout.number(1, "B")
    if pages not in (_ROW_MAJOR_PAGES, _TILE_PAGES):
        raise FileFormatError(f"the header has page kind {pages}, which does not exist")
    tile = None
    if pages == _TILE_PAGES:
        shape = layout.required(2, "tile").required(0, "tile shape")
        tile = Tile([shape.number(0, "I"), shape.number(1, "I")], bool(shape.number(2, "B")))
    config = _read_memory(layout.required(3, "memory configuration"))
    spec = TensorSpec.of(
        table.numbers(0), _DTYPE[number], Layout.TILE if pages == _TILE_PAGES else Layout.ROW_MAJOR, config, tile
    )
    padding = layout.numbers(4)
    if padding != _alignment(spec):
        raise UnsupportedError(
            f"ttnn.load_tensor: the tensor is padded to multiples of {padding}, only {_alignment(spec)} is modelled"
        )
    return spec


def _read_memory(table: Table) -> MemoryConfig:
    buffer_type, nd = BufferType(table.number(1, "H")), table.table(3)
    if nd is not None and table.number(4, "B"):
        cores = _read_cores(nd.required(1, "cores"))
        orientation, strategy = ShardOrientation(nd.number(2, "B")), ShardDistributionStrategy(nd.number(3, "B"))
        return MemoryConfig(buffer_type, NdShardSpec(nd.numbers(0), cores, orientation, strategy))
    shards = table.table(2)
    described = None
    if shards is not None:
        shape = [shards.number(1, "I"), shards.number(2, "I")]
        cores = _read_cores(shards.required(0, "cores"))
        described = ShardSpec(cores, shape, ShardOrientation(shards.number(3, "B")))
    return MemoryConfig(TensorMemoryLayout(table.number(0, "H")), buffer_type, described)


def _read_cores(table: Table) -> CoreRangeSet:
    corners = [(r.required(0, "start"), r.required(1, "end")) for r in table.tables(0)]
    return CoreRangeSet(
        [
            CoreRange((start.number(0, "i"), start.number(1, "i")), (end.number(0, "i"), end.number(1, "i")))
            for start, end in corners
        ]
    )


def _read_storage(parts: list[Table]) -> tuple[int, int]:
    """Return offset and size of the data.

    The offset counts from the beginning of the data.
    """
    if len(parts) != 1:
        raise UnsupportedError(
            f"ttnn.load_tensor: the file holds {len(parts)} parts, for several chips; one is modelled"
        )
    storage = parts[0].structure(1, "QQ")
    if storage is None or parts[0].number(0, "B") != _INLINE_STORAGE:
        raise FileFormatError("the header has no data offset")
    return storage[0], storage[1]
