"""Configurations of kernels and circular buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ttnn.base.call import as_integer, shown
from ttnn.base.data_format import DataFormat
from ttnn.base.enums import FORMAT_CODE, NOC, NOC_MODE, DataType, MathFidelity, UnpackToDestMode
from ttnn.base.exceptions import ArgumentError, MemoryConfigError
from ttnn.base.system_enums import DataMovementProcessor
from ttnn.base.tile import Tile
from ttnn.base.vendor_enum import VendorEnum

if TYPE_CHECKING:
    from ttnn.metal.buffers import Buffer

__all__ = [
    "NOC_0",
    "NOC_1",
    "CircularBufferConfig",
    "ComputeConfig",
    "DataFormat",
    "DataMovementConfig",
    "EthernetConfig",
    "KernelBuildOptLevel",
    "ReaderDataMovementConfig",
    "WriterDataMovementConfig",
    "format_code",
]

NOC_0 = NOC.RISCV_0_default
NOC_1 = NOC.RISCV_1_default


def format_code(data_format: DataFormat | DataType | int) -> int:
    """Return the chip's code of a format or of an element type.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(data_format, DataFormat):
        return int(data_format.value)
    if isinstance(data_format, DataType) and data_format in FORMAT_CODE:
        return FORMAT_CODE[data_format]
    if isinstance(data_format, int) and any(data_format == known.value for known in DataFormat):
        return data_format
    raise ArgumentError(f"expected a DataFormat or a DataType with a device format, got {data_format!r}")


class KernelBuildOptLevel(VendorEnum):
    """The optimization level of the official package's kernel compiler."""

    O1 = 0
    O2 = 1
    O3 = 2
    O0 = 3
    Os = 4
    Ofast = 5
    Oz = 6


@dataclass(kw_only=True)
class DataMovementConfig:
    """Configuration of a reader or writer kernel.

    Attributes:
        processor: RISCV_0 (BRISC) or RISCV_1 (NCRISC).
        noc: The kernel's default NoC.
        noc_mode: Whether the two kernels of a core keep to a network each, or may share.
        opt_level: Changes nothing: C++ kernels are compiled at one level.
        compile_args: Compile-time arguments by position.
        defines: Defines; `get_define` reads them in the kernel.
        named_compile_args: Compile-time arguments by name.
    """

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.RISCV_0_default
    compile_args: Sequence[int] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    named_compile_args: Mapping[str, int] = field(default_factory=dict)
    noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O2


@dataclass(kw_only=True)
class EthernetConfig(DataMovementConfig):
    """An Ethernet core kernel.

    `create_kernel` refuses it: these cores are not modelled.
    """

    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.Os


@dataclass(kw_only=True)
class ReaderDataMovementConfig(DataMovementConfig):
    """A data-movement kernel on NCRISC with the network that DRAM reads prefer."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_1
    noc: NOC = NOC_0


@dataclass(kw_only=True)
class WriterDataMovementConfig(DataMovementConfig):
    """A data-movement kernel on BRISC with the network that DRAM writes prefer."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC_1


@dataclass(kw_only=True)
class ComputeConfig:
    """Configuration of a compute kernel.

    Attributes:
        math_fidelity: Passes over mantissa parts.
        fp32_dest_acc_en: Dst holds 32-bit datums, and half as many tiles.
        dst_full_sync_en: Math and pack share one Dst instead of taking turns on its halves.
        unpack_to_dest_mode: One entry per CB; `UnpackToDestFp32` unpacks float32 tiles to Dst unchanged.
        bfp8_pack_precise: Block floats are packed from the full datum.
        math_approx_mode: Selects the approximate variant of `recip_tile`, `sqrt_tile`, `rsqrt_tile`, `rdiv_tile`,
            `softsign_tile`, `i1_tile`, `polygamma_tile` and `atan2_binary_tile`. Others have an argument `approx`.
            Kernels see it as the define `MATH_APPROX`.
        opt_level: Changes nothing: C++ kernels are compiled at one level.
        compile_args: Compile-time arguments by position.
        defines: Defines; `get_define` reads them in the kernel.
        named_compile_args: Compile-time arguments by name.
    """

    math_fidelity: MathFidelity = MathFidelity.HiFi4
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    unpack_to_dest_mode: Sequence[UnpackToDestMode] = ()
    bfp8_pack_precise: bool = False
    math_approx_mode: bool = False
    compile_args: Sequence[int] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    named_compile_args: Mapping[str, int] = field(default_factory=dict)
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O3


class CircularBufferConfig:
    """A circular buffer: size, and page size and format of each index.

    Attributes:
        total_size: Bytes.
        formats: Code of the format of each index.
        page_sizes: Bytes of a page of each index.
        tiles: Height and width of the tiles of indices whose tiles are not 32x32.
        buffer: The L1 buffer that it shares, if it has no memory of its own.
        address_offset: Where in that buffer it starts.
        remote_formats: Formats of indices of a global circular buffer, which kernels of other cores fill.
    """

    def __init__(self, total_size: int, data_formats: Mapping[int, DataFormat | DataType] | None = None) -> None:
        self.total_size = _size("total_size", total_size)
        if data_formats is not None and not isinstance(data_formats, Mapping):
            raise ArgumentError(f"CircularBufferConfig: data_formats must map indices to formats, got {data_formats!r}")
        self.formats = {_number("buffer index", i): format_code(kind) for i, kind in (data_formats or {}).items()}
        self.page_sizes: dict[int, int] = {}
        self.tiles: dict[int, tuple[int, int]] = {}
        self.buffer: Buffer | None = None
        self.address_offset = 0
        self.remote_formats: dict[int, int] = {}

    def set_page_size(self, buffer_index: int, page_size: int) -> CircularBufferConfig:
        """Set an index's page size, a divisor of the total size.

        Raises:
            MemoryConfigError: it is not.
        """
        size = _size("page_size", page_size)
        if self.total_size % size:
            raise MemoryConfigError(
                f"CircularBufferConfig: CB {buffer_index} of {self.total_size} B is not whole pages of {size} B",
                vendor=f"Total circular buffer size {self.total_size} B must be divisible by page size {size} B",
            )
        self.page_sizes[_number("buffer index", buffer_index)] = size
        return self

    def set_data_format(self, buffer_index: int, data_format: DataFormat | DataType) -> CircularBufferConfig:
        """Set the format of one index."""
        self.formats[_number("buffer index", buffer_index)] = format_code(data_format)
        return self

    def set_tile_dims(self, buffer_index: int, tile: Tile) -> CircularBufferConfig:
        """Set the tile of one index."""
        if not isinstance(tile, Tile):
            raise ArgumentError(f"CircularBufferConfig.set_tile_dims: expected a ttnn.Tile, got {tile!r}")
        height, width = tile.tile_shape
        self.tiles[_number("buffer index", buffer_index)] = (height, width)
        return self

    def set_globally_allocated_address(self, buffer: Buffer, address_offset: int = 0) -> CircularBufferConfig:
        """Use an L1 buffer's bytes from `address_offset` as its pages."""
        if not hasattr(buffer, "memory"):
            raise ArgumentError(
                f"CircularBufferConfig.set_globally_allocated_address: expected a Buffer, got {buffer!r}"
            )
        self.buffer = buffer
        self.address_offset = _number("address_offset", address_offset)
        return self

    def set_total_size(self, total_size: int) -> CircularBufferConfig:
        """Set the total size in bytes."""
        self.total_size = _size("total_size", total_size)
        return self

    def index(self, buffer_index: int) -> _Index:
        """Return what is set for one index."""
        return _Index(self, buffer_index)

    def remote_index(self, buffer_index: int) -> _RemoteIndex:
        """Return what is set for one index of a global circular buffer."""
        return _RemoteIndex(self, _number("buffer index", buffer_index))


def _number(what: str, value: object) -> int:
    number = as_integer(value)
    if number is None:
        raise ArgumentError(f"CircularBufferConfig: {what} must be an int, got {value!r}")
    if not 0 <= number < 1 << 32:
        raise MemoryConfigError(f"CircularBufferConfig: {what} must be between 0 and 2^32 - 1, got {shown(number)}")
    return number


def _size(what: str, value: object) -> int:
    number = _number(what, value)
    if number == 0:
        raise MemoryConfigError(f"CircularBufferConfig: {what} must not be 0")
    return number


class _Index:
    """One index of a `CircularBufferConfig`."""

    def __init__(self, config: CircularBufferConfig, index: int) -> None:
        self._config, self._number = config, index

    def set_page_size(self, page_size: int) -> _Index:
        """Set the bytes of a page."""
        self._config.set_page_size(self._number, page_size)
        return self

    def set_data_format(self, data_format: DataFormat | DataType) -> _Index:
        """Set the format."""
        self._config.set_data_format(self._number, data_format)
        return self

    def set_tile_dims(self, tile: Tile) -> _Index:
        """Set the tile."""
        self._config.set_tile_dims(self._number, tile)
        return self


class _RemoteIndex(_Index):
    """One index of a `CircularBufferConfig` that belongs to a global circular buffer."""

    def set_data_format(self, data_format: DataFormat | DataType) -> _RemoteIndex:
        """Set the format."""
        self._config.remote_formats[self._number] = format_code(data_format)
        return self
