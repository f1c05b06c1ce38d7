"""How kernels and circular buffers of a program are configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ttnn.exceptions import ArgumentError, MemoryConfigError
from ttnn.system_types import DataMovementProcessor
from ttnn.tile import Tile
from ttnn.types import FORMAT_CODE, NOC, DataType, MathFidelity, UnpackToDestMode
from ttnn.vendor_enum import VendorEnum

if TYPE_CHECKING:
    from ttnn.metal.buffers import Buffer

__all__ = [
    "NOC_0",
    "NOC_1",
    "CircularBufferConfig",
    "ComputeConfig",
    "DataFormat",
    "DataMovementConfig",
    "ReaderDataMovementConfig",
    "WriterDataMovementConfig",
    "format_code",
]

NOC_0 = NOC.RISCV_0_default
NOC_1 = NOC.RISCV_1_default


class DataFormat(VendorEnum):
    """Formats of datums in memory, with the codes of the chip."""

    Float32 = 0
    Float16 = 1
    Bfp8 = 2
    Bfp4 = 3
    Tf32 = 4
    Float16_b = 5
    Bfp8_b = 6
    Bfp4_b = 7
    Int32 = 8
    UInt16 = 9
    Lf8 = 10
    Bfp2 = 11
    Int8 = 14
    Bfp2_b = 15
    UInt32 = 24
    Fp8_e4m3 = 26
    UInt8 = 30


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


@dataclass(kw_only=True)
class DataMovementConfig:
    """How a reader or writer kernel runs.

    Attributes:
        processor: RISCV_0 (BRISC) or RISCV_1 (NCRISC).
        noc: Network that the kernel uses unless a call says otherwise.
        compile_args: Compile-time arguments by position.
        defines: Defines; `get_define` reads them in the kernel.
        named_compile_args: Compile-time arguments by name.
    """

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.RISCV_0_default
    compile_args: Sequence[int] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    named_compile_args: Mapping[str, int] = field(default_factory=dict)


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
    """How a compute kernel runs.

    Attributes:
        math_fidelity: Passes over mantissa parts.
        fp32_dest_acc_en: Dst holds 32-bit datums, and half as many tiles.
        dst_full_sync_en: Math and pack share one Dst instead of taking turns on its halves.
        unpack_to_dest_mode: One entry per CB; `UnpackToDestFp32` brings float32 tiles to Dst unchanged.
        bfp8_pack_precise: Block floats are packed from the full datum.
        math_approx_mode: Seen by kernels as the define `MATH_APPROX`; functions take it as their `approx` argument.
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


class CircularBufferConfig:
    """A circular buffer: its size, and page size and format of each index that shares its memory."""

    def __init__(self, total_size: int, data_formats: Mapping[int, DataFormat | DataType] | None = None) -> None:
        self.total_size = total_size
        self.formats = {int(index): format_code(kind) for index, kind in (data_formats or {}).items()}
        self.page_sizes: dict[int, int] = {}
        self.tiles: dict[int, tuple[int, int]] = {}
        self.buffer: Buffer | None = None

    def set_page_size(self, buffer_index: int, page_size: int) -> CircularBufferConfig:
        """Set the bytes of a page of one index; the total size must be a multiple of it.

        Raises:
            MemoryConfigError: it is not.
        """
        if page_size <= 0 or self.total_size % page_size:
            raise MemoryConfigError(
                f"CircularBufferConfig: Total circular buffer size {self.total_size} B must be divisible by "
                f"page size {page_size} B"
            )
        self.page_sizes[int(buffer_index)] = page_size
        return self

    def set_data_format(self, buffer_index: int, data_format: DataFormat | DataType) -> CircularBufferConfig:
        """Set the format of one index."""
        self.formats[int(buffer_index)] = format_code(data_format)
        return self

    def set_tile_dims(self, buffer_index: int, tile: Tile) -> CircularBufferConfig:
        """Set the tile of one index."""
        height, width = tile.tile_shape
        self.tiles[int(buffer_index)] = (height, width)
        return self

    def set_globally_allocated_address(self, buffer: Buffer) -> CircularBufferConfig:
        """Let it lie in an L1 buffer, whose bytes are its pages."""
        self.buffer = buffer
        return self

    def set_total_size(self, total_size: int) -> CircularBufferConfig:
        """Set the bytes of the whole buffer."""
        self.total_size = total_size
        return self

    def index(self, buffer_index: int) -> _Index:
        """Return what is set for one index."""
        return _Index(self, buffer_index)


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
