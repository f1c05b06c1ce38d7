"""Host tensor values: conversions to and from raw buffers.

The values are in numpy, torch, DLPack or lists.

The raw buffer of a tensor is the concatenation of its pages, as the official package keeps it on the host and writes
it to files. The bits are made by the engine (`_engine.host_pack`, `_engine.host_unpack`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttnn import _engine
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import (
    ArgumentError,
    DTypeError,
    IndexRangeError,
    LayoutError,
    OutOfMemoryError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.shape import require_rank
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.coordinates import MeshCoordinate, MeshCoordinateRange, MeshShape

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]
Raw = NDArray[np.uint8]

_BF16 = np.dtype(ml_dtypes.bfloat16)
# The host's conversion writes zeros, the codes 0x08 to 0x77 (1/64 to 240) and the NaN 0x7f: this type reads them alike.
_FP8 = np.dtype(ml_dtypes.float8_e4m3fn)

# numpy type of the words that the engine takes and gives for a data type.
_WORDS: dict[DataType, np.dtype[Any]] = {
    DataType.FLOAT32: np.dtype(np.float32),
    DataType.BFLOAT16: np.dtype(np.uint16),
    DataType.BFLOAT8_B: np.dtype(np.float32),
    DataType.BFLOAT4_B: np.dtype(np.float32),
    DataType.UINT32: np.dtype(np.uint32),
    DataType.INT32: np.dtype(np.int32),
    DataType.UINT16: np.dtype(np.uint16),
    DataType.UINT8: np.dtype(np.uint8),
    DataType.INT8: np.dtype(np.int8),
    DataType.FP8_E4M3: np.dtype(np.uint8),
}
# numpy type in which users see a data type.
NUMPY_TYPE: dict[DataType, np.dtype[Any]] = {**_WORDS, DataType.BFLOAT16: _BF16, DataType.FP8_E4M3: _FP8}

# Data type of a source array, and what a tensor becomes when no type is asked for.
_TYPE_OF_KIND: dict[np.dtype[Any], DataType] = {
    np.dtype(np.float32): DataType.FLOAT32,
    np.dtype(np.float64): DataType.FLOAT32,
    np.dtype(np.float16): DataType.FLOAT32,
    _BF16: DataType.BFLOAT16,
    np.dtype(np.bool_): DataType.UINT8,
    np.dtype(np.uint8): DataType.UINT8,
    np.dtype(np.int8): DataType.INT8,
    np.dtype(np.uint16): DataType.UINT16,
    np.dtype(np.int16): DataType.UINT16,
    np.dtype(np.uint32): DataType.UINT32,
    np.dtype(np.int32): DataType.INT32,
    np.dtype(np.uint64): DataType.UINT32,
    np.dtype(np.int64): DataType.UINT32,
}


class Parts(tuple[Raw, ...]):
    """The raw buffers of a host tensor distributed over several chips.

    The parts are of one specification, in the row-major order of their chips. Equal ones may be one buffer. There may
    be fewer than chips.

    Attributes:
        coords: The chip of each part.
        mesh_shape: The mesh.
    """

    coords: tuple[MeshCoordinate, ...]
    mesh_shape: MeshShape

    def __new__(cls, buffers: Iterable[Raw], coords: Iterable[MeshCoordinate], mesh_shape: MeshShape) -> Parts:
        """Return parts, sorted into the row-major order of their chips."""
        pairs = sorted(zip(coords, buffers, strict=True), key=lambda pair: tuple(pair[0]))
        new = super().__new__(cls, (raw for _, raw in pairs))
        new.coords, new.mesh_shape = tuple(coord for coord, _ in pairs), mesh_shape
        return new

    def __getnewargs__(self) -> tuple[tuple[Raw, ...], tuple[MeshCoordinate, ...], MeshShape]:
        return tuple(self), self.coords, self.mesh_shape

    def with_buffers(self, buffers: Iterable[Raw]) -> Parts:
        """Return other buffers for the same chips."""
        return Parts(buffers, self.coords, self.mesh_shape)

    def changed(self, change: Callable[[Raw], Raw]) -> Parts:
        """Return each buffer changed; equal parts share one as before."""
        made: dict[int, Raw] = {}
        for raw in self:
            if id(raw) not in made:
                made[id(raw)] = change(raw)
        return self.with_buffers(made[id(raw)] for raw in self)


def as_parts(host: Raw | Parts) -> Parts:
    """Return a single buffer as the only part."""
    return host if isinstance(host, Parts) else Parts([host], [MeshCoordinate(0, 0)], MeshShape(1, 1))


class DistributedHostBuffer:
    """A host tensor's raw buffers, one per chip that has a part."""

    def __init__(self, host: Raw | Parts, dtype: DataType) -> None:
        parts = as_parts(host)
        self._shape = parts.mesh_shape
        self._words: dict[MeshCoordinate, Array] = {
            coord: raw if dtype in BLOCK_FLOATS else raw.view(_WORDS[dtype])
            for coord, raw in zip(parts.coords, parts, strict=True)
        }

    def shape(self) -> MeshShape:
        """Return the shape of the mesh."""
        return self._shape

    def is_local(self, coord: MeshCoordinate) -> bool:
        """Return whether the buffer of a chip is on this host.

        Raises:
            IndexRangeError: the mesh has no such chip.
        """
        if coord not in MeshCoordinateRange(self._shape):
            raise IndexRangeError(f"DistributedHostBuffer: {coord!r} is outside {self._shape}")
        return True

    def get_shard(self, coord: MeshCoordinate) -> Array | None:
        """Return a chip buffer's words, None for a chip without a part.

        All pages in order; the bytes of the tiles for block floats.
        """
        self.is_local(coord)
        return self._words.get(coord)


FLOATS = frozenset({DataType.FLOAT32, DataType.BFLOAT16, DataType.FP8_E4M3}) | BLOCK_FLOATS


def as_array(source: object, where: str) -> Array:
    """Return `source` as a C-contiguous numpy array, shared where possible.

    Args:
        source: numpy array, torch tensor, or anything with `__dlpack__` or `__array__`.
        where: Who asks, for the error.

    Raises:
        ArgumentError: `source` is none of these.
        DTypeError: elements of a kind that no tensor holds (complex numbers, objects, text).
    """
    rank = getattr(source, "ndim", 0)
    require_rank(rank if isinstance(rank, int) else 0, where)
    if isinstance(source, np.ndarray) and hasattr(source, "mask"):
        raise DTypeError(f"{where}: a tensor has no mask; pass array.filled(...) or array.data")
    if isinstance(source, np.ndarray):
        array = np.asarray(source)
    elif _is_torch(source):
        array = _from_torch_tensor(source, where)
    elif hasattr(source, "__dlpack__"):
        array = _from_dlpack(source, where)
    elif hasattr(source, "__array__"):
        array = np.asarray(source)
    else:
        raise ArgumentError(f"{where}: expected a numpy array, a torch tensor or a DLPack object, got {_name(source)}")
    if array.dtype not in _TYPE_OF_KIND:
        if array.dtype.newbyteorder("=") in _TYPE_OF_KIND:
            array = array.astype(array.dtype.newbyteorder("="))
        else:
            raise DTypeError(f"{where}: elements of {array.dtype} have no ttnn data type")
    # Not ascontiguousarray: that one gives arrays of rank 0 a dimension.
    return array if array.flags.c_contiguous else array.copy(order="C")


def default_dtype(array: Array) -> DataType:
    """Return this array's default tensor data type."""
    return _TYPE_OF_KIND[array.dtype]


def resolve_layout(dtype: DataType, layout: Layout | None, where: str) -> Layout:
    """Return the layout that a tensor of `dtype` gets.

    Raises:
        LayoutError: the type does not exist in the layout asked for.
    """
    if not isinstance(dtype, DataType):
        raise ArgumentError(f"{where}: dtype must be a ttnn.DataType, got {dtype!r}")
    if dtype in BLOCK_FLOATS:
        if layout not in (None, Layout.TILE):
            raise LayoutError(
                f"{where}: {dtype.name} shares exponents inside tiles; pass layout=ttnn.TILE_LAYOUT",
                vendor="Layout must be Layout::TILE for bfloat8_b or bfloat4_b!",
            )
        return Layout.TILE
    return Layout.ROW_MAJOR if layout is None else layout


_LARGE: Final = 1 << 30
"""Bytes from which on it is asked whether the host has them."""


def require_memory(where: str, shape: Sequence[int], size: int) -> None:
    """Raise unless the host has room for a tensor.

    Linux promises more memory than there is and ends the process that uses it, so an allocation does not fail in time.

    Args:
        where: Who asks, for the error.
        shape: Shape of the tensor, for the error.
        size: Bytes of what is made.

    Raises:
        OutOfMemoryError: there are fewer bytes.
    """
    if size <= _LARGE:
        return
    if size > sys.maxsize:
        raise OutOfMemoryError(f"{where}: a host tensor of {list(shape)} is larger than the address space.", "host")
    available = _available_bytes()
    if size > available:
        raise OutOfMemoryError(
            f"{where}: the host has no memory for a tensor of {list(shape)}: that takes {size} bytes, and {available} "
            "are available.",
            "host",
            size,
            available,
        )


def _available_bytes() -> int:
    """Return the available memory of the host in bytes."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return sys.maxsize
    amounts = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return amounts[0] if amounts else sys.maxsize


def pack(
    array: Array, spec: TensorSpec, *, pad_value: float = 0.0, preserve_nan: bool = False, where: str = "ttnn.Tensor()"
) -> Raw:
    """Return the raw buffer of a tensor with these values.

    Args:
        array: Values of the logical shape, C-contiguous, as `as_array` returns them.
        spec: The tensor.
        pad_value: What tile padding holds.
        preserve_nan: Passed on to the conversion; the official one makes every NaN canonical with it too.
        where: Who asks, for the error.

    Raises:
        ShapeError: the array has another number of elements than the shape.
        DTypeError: fp8_e4m3 is asked for and the values are not float32.
        OutOfMemoryError: the host has no room for the tensor with its padding.
    """
    if array.size != math.prod(spec.shape):
        raise ShapeError(
            f"{where}: {array.size} values do not fill a tensor of {spec.shape}",
            vendor=f"Current buffer size is {array.size} different from shape volume {math.prod(spec.shape)}",
        )
    if spec.dtype is DataType.FP8_E4M3 and array.dtype != np.float32:
        raise DTypeError(
            f"{where}: fp8_e4m3 is made from float32 values only, got {array.dtype}",
            vendor=f"source dtype {array.dtype} is not supported when target is ttnn.fp8_e4m3; only float32 input is "
            "supported.",
        )
    if spec.num_pages == 0:
        return np.empty(0, dtype=np.uint8)
    require_memory(where, spec.shape, spec.num_pages * spec.page_bytes)
    values, source = _source_words(array, spec.dtype)
    if spec.layout is Layout.ROW_MAJOR:
        raw = _engine.host_pack(
            values, FORMAT_CODE[source], FORMAT_CODE[spec.dtype], (1, 1, values.size), None, 0.0, preserve_nan, False
        )
        return _widened(raw, spec, pad_value)
    dims, tile = _matrix_dims(spec), (spec.tile.tile_shape[0], spec.tile.tile_shape[1])
    if spec.tile.transpose_within_face:
        padding = np.full(1, pad_value).astype(_BF16 if source is DataType.BFLOAT16 else values.dtype)
        values, dims = _with_transposed_tiles(values.reshape(dims), tile, padding.view(values.dtype))
        tile = (tile[1], tile[0])
    return _engine.host_pack(
        values,
        FORMAT_CODE[source],
        FORMAT_CODE[spec.dtype],
        dims,
        tile,
        float(pad_value),
        preserve_nan,
        False,
    )


def unpack(raw: Raw, spec: TensorSpec) -> Array:
    """Return a raw buffer's values in logical shape.

    The padding is dropped; the numpy type is that of the data type.
    """
    dims = tuple(spec.shape)
    if math.prod(dims) == 0:
        return np.empty(dims, dtype=NUMPY_TYPE[spec.dtype])
    require_memory("ttnn.Tensor", dims, math.prod(dims) * NUMPY_TYPE[spec.dtype].itemsize)
    if spec.is_padded_further:
        return np.array(unpack_padded(raw, spec)[tuple(map(slice, dims))])
    if spec.layout is Layout.ROW_MAJOR:
        padded = tuple(spec.padded_shape)
        values = raw.view(_WORDS[spec.dtype]).reshape(padded)
        own = (1,) * (len(padded) - len(dims)) + dims
        values = np.array(values[tuple(map(slice, own))])
    else:
        height, width = spec.tile.tile_shape
        if spec.tile.transpose_within_face:
            return _from_transposed_tiles(raw, spec, (height, width))
        values = _engine.host_unpack(raw, FORMAT_CODE[spec.dtype], _matrix_dims(spec), (height, width))
    result: Array = values.view(NUMPY_TYPE[spec.dtype]).reshape(dims)
    return result


def unpack_padded(raw: Raw, spec: TensorSpec) -> Array:
    """Return a raw buffer's values with padding, in padded shape."""
    padded = TensorSpec.of(spec.padded_shape, spec.dtype, spec.layout, tile=spec.tile)
    return unpack(raw, padded)


def from_list(data: Sequence[float], where: str) -> Array:
    """Return flat numbers as an array: int64 for ints, else float32."""
    array = np.asarray(data)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise ArgumentError(f"{where}: data must be a flat sequence of numbers")
    if array.dtype.kind == "f":
        # Python floats are doubles; overflow to infinity is what a conversion to float32 means.
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    return array.astype(np.int64) if array.dtype.kind != "u" else array


def torch_of(values: Array) -> torch.Tensor:
    """Return a torch tensor on the memory of `values`.

    Raises:
        UnsupportedError: the torch version has no type for it.
    """
    import torch

    if values.dtype == _BF16:
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    if values.dtype == _FP8:
        kind = getattr(torch, "float8_e4m3fn", None)
        if kind is None:
            raise UnsupportedError("to_torch: this version of torch has no float8_e4m3fn")
        fp8: torch.Tensor = torch.from_numpy(values.view(np.uint8)).view(kind)
        return fp8
    try:
        return torch.from_numpy(values)
    except TypeError:
        # Before torch 2.3 there were no unsigned types above uint8; the next larger signed one holds all values.
        return torch.from_numpy(values.astype(np.int32 if values.dtype == np.uint16 else np.int64))


def _matrix_dims(spec: TensorSpec) -> tuple[int, int, int]:
    dims = tuple(spec.shape)
    rows, columns = (1, 1, *dims)[-2:]
    return math.prod(dims[:-2]), rows, columns


def _with_transposed_tiles(
    matrices: Array, tile: tuple[int, int], padding: Array
) -> tuple[Array, tuple[int, int, int]]:
    """Return tile-padded matrices with every tile transposed, and their dimensions."""
    count, rows, columns = matrices.shape
    height, width = tile
    down, across = -(-rows // height), -(-columns // width)
    padded = np.empty((count, down * height, across * width), matrices.dtype)
    padded[:] = padding
    padded[:, :rows, :columns] = matrices
    turned = padded.reshape(count, down, height, across, width).swapaxes(2, 4)
    return np.ascontiguousarray(turned).reshape(-1), (count, down * width, across * height)


def _from_transposed_tiles(raw: Raw, spec: TensorSpec, tile: tuple[int, int]) -> Array:
    """Return a raw buffer's values, whose tiles are transposed."""
    (count, rows, columns), (height, width) = _matrix_dims(spec), tile
    down, across = -(-rows // height), -(-columns // width)
    stored = (count, down * width, across * height)
    values = _engine.host_unpack(raw, FORMAT_CODE[spec.dtype], stored, (width, height)).view(NUMPY_TYPE[spec.dtype])
    turned = values.reshape(count, down, width, across, height).swapaxes(2, 4)
    matrices = np.ascontiguousarray(turned).reshape(count, down * height, across * width)
    result: Array = np.ascontiguousarray(matrices[:, :rows, :columns]).reshape(tuple(spec.shape))
    return result


def _widened(raw: Raw, spec: TensorSpec, pad_value: float) -> Raw:
    """Return rows padded to whole shards; the engine packs rows without gaps."""
    width = spec.physical_shape[1]
    logical = tuple(spec.shape)[-1] if spec.shape.rank else 1
    if width == logical:
        return raw
    words = _WORDS[spec.dtype]
    padding = np.full((1, 1), pad_value).astype(_BF16 if spec.dtype is DataType.BFLOAT16 else words).view(words)
    rows = raw.view(words).reshape(-1, logical)
    wide = np.empty((rows.shape[0], width), dtype=words)
    wide[:, :logical] = rows
    wide[:, logical:] = padding
    return wide.reshape(-1).view(np.uint8)


def _source_words(array: Array, target: DataType) -> tuple[Array, DataType]:
    """Return a flat array of an engine type, and the type."""
    flat = array.reshape(-1)
    kind = flat.dtype
    if kind == _BF16:
        return flat.view(np.uint16), DataType.BFLOAT16
    if kind == np.float32:
        return flat, DataType.FLOAT32
    if kind in (np.float64, np.float16):
        with np.errstate(over="ignore"):
            return flat.astype(np.float32), DataType.FLOAT32
    if kind == np.bool_:
        return flat.view(np.uint8), DataType.UINT8
    if kind in (np.int64, np.uint64):
        return _narrowed(flat, target)
    if kind == np.int16:
        if target is DataType.UINT16:
            return flat.view(np.uint16), DataType.UINT16
        return flat.astype(np.int32), DataType.INT32
    return flat, _TYPE_OF_KIND[kind]


def _narrowed(flat: Array, target: DataType) -> tuple[Array, DataType]:
    """Return 64-bit integers in a type that the engine takes.

    32-bit targets keep the low bits, smaller ones saturate, floats round the full value.
    """
    if target in FLOATS:
        return flat.astype(np.float32), DataType.FLOAT32
    if target is DataType.INT32:
        return flat.astype(np.int32), DataType.INT32
    if target is DataType.UINT32:
        return flat.astype(np.uint32), DataType.UINT32
    words = _WORDS[target]
    limits = np.iinfo(words)
    return np.clip(flat, limits.min, limits.max).astype(words), target


def _is_torch(source: object) -> bool:
    # Without importing torch: a torch tensor cannot exist before torch was imported.
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "Tensor") and isinstance(source, torch.Tensor)


def _from_torch_tensor(source: Any, where: str) -> Array:
    import torch

    tensor = source.detach()
    if tensor.layout is not torch.strided or tensor.is_complex() or tensor.is_quantized:
        raise DTypeError(f"{where}: only dense real tensors are supported, got {tensor.layout}, {tensor.dtype}")
    if tensor.device.type == "meta":
        raise DTypeError(f"{where}: a tensor on the meta device has a shape but no values")
    tensor = tensor.cpu()
    if hasattr(tensor, "resolve_neg"):
        tensor = tensor.resolve_neg()
    if tensor.dtype is torch.bfloat16:
        array: Array = tensor.contiguous().view(torch.int16).numpy().view(_BF16)
        return array
    try:
        array = tensor.contiguous().numpy()
    except TypeError:
        raise DTypeError(f"{where}: elements of {tensor.dtype} have no ttnn data type") from None
    return array


def _from_dlpack(source: Any, where: str) -> Array:
    try:
        return np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # numpy has no bfloat16; torch does, and whoever made the object has probably imported it.
        if "torch" in sys.modules:
            from torch.utils.dlpack import from_dlpack

            try:
                return _from_torch_tensor(from_dlpack(source), where)
            except (BufferError, RuntimeError, TypeError, ValueError):
                pass
        raise DTypeError(f"{where}: numpy cannot read this DLPack object ({error})") from None


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
