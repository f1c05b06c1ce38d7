"""The engine, as the extension module exports it. Private: users see only the modules of this package.

Formats are the chip's format codes, fidelities the number of phases (1 LoFi .. 4 HiFi4), arch 0 is Wormhole and 1
Blackhole. Arrays are C-contiguous.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]
_Words = npt.NDArray[np.uint32]
_Step = tuple[str, str] | tuple[str, str, Sequence[int]]
"""A vector-unit function: name, variant, and parameters as raw 32-bit words if it takes any."""

__version__: str

# Host: CPU levels, worker threads, conversions of host tensors.
def cpu_levels() -> list[str]: ...
def cpu_level() -> str: ...
def set_cpu_level(name: str) -> None: ...
def threads() -> int: ...
def set_threads(n: int) -> None: ...
def cpu_name() -> str: ...
def tile_bytes(format: int, height: int, width: int) -> int: ...
def host_pack(
    values: npt.NDArray[Any],
    source_format: int,
    target_format: int,
    dims: tuple[int, int, int],
    tile: tuple[int, int] | None = None,
    pad_value: float = 0.0,
    preserve_nan: bool = False,
    col_tilize: bool = False,
) -> _Bytes: ...
def host_unpack(
    buffer: _Bytes, format: int, dims: tuple[int, int, int], tile: tuple[int, int] | None = None
) -> npt.NDArray[Any]: ...

# Single engine steps on arrays of tiles. Register tiles are row-major [n, 32, 32].
def unpack_tiles(l1: _Bytes, format: int, register_format: int, to_dst: bool) -> _Words: ...
def pack_tiles(
    dst: _Words,
    dst_format: str,
    intermediate: int,
    output: int,
    relu_mode: int = 0,
    relu_threshold: int = 0,
    l1_before: _Bytes | None = None,
) -> _Bytes: ...
def matmul_tiles(
    in0: _Bytes, in1: _Bytes, format0: int, format1: int, fidelity: int, dst32: bool, arch: int
) -> _Words: ...
def eltwise_tiles(
    in0: _Bytes,
    in1: _Bytes,
    format0: int,
    format1: int,
    op: str,
    broadcast: str,
    repeat: int,
    fidelity: int,
    dst32: bool,
    arch: int,
) -> _Words: ...
def reduce_tiles(
    tiles: _Bytes, format: int, scaler_bits: int, pool: str, dim: str, fidelity: int, dst32: bool, arch: int
) -> _Words: ...
def row_sum_tiles(tiles: _Bytes, format: int, scaler_bits: int, fidelity: int, dst32: bool, arch: int) -> _Words: ...
def datacopy_tiles(l1: _Bytes, format: int, dst32: bool, copy_tile: bool = False, arch: int = 0) -> _Words: ...
def mvmul_steps(a: _Words, b: _Words, d: _Words, family: str, phase: int, dst32: bool, arch: int) -> _Words: ...
def sfpu_fma(x: _Words, y: _Words, z: _Words, arch: int) -> _Words: ...
def sfpu_load(mode: str, words: _Words) -> _Words: ...
def sfpu_store(mode: str, words: _Words) -> _Words: ...
def sfpu_round(mode: str, words: _Words) -> _Words: ...
def sfpu_cast(mode: str, words: _Words) -> _Words: ...
def sfpu(name: str, variant: str, values: _Words, dst32: bool, parameters: Sequence[int] = ...) -> _Words: ...
def sfpu_variants() -> list[tuple[str, str]]: ...
def sfpu_binary(
    name: str, a: _Words, b: _Words, dst32: bool, variant: str = "default", parameters: Sequence[int] = ...
) -> _Words: ...
def sfpu_ternary(
    name: str, a: _Words, b: _Words, c: _Words, dst32: bool, variant: str = "default", parameters: Sequence[int] = ...
) -> _Words: ...
def sfpu_functions() -> list[tuple[int, str, str, list[str]]]: ...
def sfpu_binary_names() -> list[str]: ...

# Chips, devices and buffers.
def chip_names() -> list[str]: ...
def chip_info(name: str) -> dict[str, Any]: ...

@final
class Buffer:
    @property
    def address(self) -> int: ...
    @property
    def page_bytes(self) -> int: ...
    @property
    def aligned_page_bytes(self) -> int: ...
    @property
    def num_pages(self) -> int: ...
    @property
    def page_columns(self) -> int: ...
    @property
    def bytes_per_bank(self) -> int: ...
    @property
    def buffer_type(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def unique_id(self) -> int: ...
    @property
    def is_allocated(self) -> bool: ...
    def deallocate(self) -> None: ...
    def write(self, data: _Bytes, row_bytes: int) -> None: ...
    def read(self, row_bytes: int, rows: int, require_written: bool = False) -> _Bytes: ...

@final
class Device:
    def __new__(
        cls, chip: str, l1_small_size: int = 0, trace_region_size: int = 0, worker_l1_size: int = 0
    ) -> Device: ...
    @property
    def is_open(self) -> bool: ...
    def close(self) -> None: ...
    def allocate_interleaved(
        self, buffer_type: int, page_bytes: int, num_pages: int, page_columns: int = 1
    ) -> Buffer: ...
    def allocate_sharded(
        self,
        buffer_type: int,
        page_bytes: int,
        tensor_pages: tuple[int, int],
        shard_pages: tuple[int, int],
        cores: Sequence[tuple[int, int]],
    ) -> Buffer: ...
    def memory_view(self, buffer_type: int) -> dict[str, Any]: ...
    def block_table(self, buffer_type: int) -> list[dict[str, str]]: ...
    def lowest_l1_address(self) -> int | None: ...
    def set_watched(self, watched: bool) -> None: ...
    def fail_allocation(self, k: int | None) -> None: ...
    def state_hash(self) -> int: ...
    def allocated_bytes(self) -> int: ...
    def buffers(self) -> list[dict[str, int]]: ...

# Operators on device buffers. Each releases the interpreter lock.
def matmul(
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    out: Buffer,
    *,
    formats: tuple[int, int, int, int],
    batch: tuple[int, int, int],
    mt: int,
    kt: int,
    nt: int,
    k: int,
    kb: int,
    fidelity: int,
    dst32: bool,
    l1_acc: bool,
    relu: bool,
    activation: Sequence[_Step],
    transpose_a: bool,
    transpose_b: bool,
    arch: int,
) -> None: ...
def matmul_fast(
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    out: Buffer,
    *,
    formats: tuple[int, int, int, int],
    batch: tuple[int, int, int],
    mt: int,
    kt: int,
    nt: int,
    k: int,
    kb: int,
    fidelity: int,
    dst32: bool,
    l1_acc: bool,
    relu: bool,
    activation: Sequence[_Step],
    transpose_a: bool,
    transpose_b: bool,
    arch: int,
) -> None: ...
def unary(
    input: Buffer,
    output: Buffer,
    *,
    formats: tuple[int, int],
    chain: Sequence[_Step],
    dst32: bool,
    tiled: bool,
    packer_relu: bool = False,
    precise: bool = False,
    arch: int = 0,
) -> None: ...
def binary(
    a: Buffer,
    b: Buffer | None,
    output: Buffer,
    *,
    formats: tuple[int, int, int],
    op: str,
    engine: str,
    scalar: float | None,
    scalar_is_lhs: bool,
    shape_a: Sequence[int],
    shape_b: Sequence[int],
    shape_out: Sequence[int],
    tiled: bool,
    fidelity: int,
    dst32: bool,
    pre_a: Sequence[_Step] = ...,
    pre_b: Sequence[_Step] = ...,
    post: Sequence[_Step] = ...,
    packer_relu: bool = False,
    arch: int = 0,
    variant: str = "default",
    parameters: Sequence[int] = ...,
) -> None: ...
def ternary(
    operands: Sequence[Buffer | float],
    output: Buffer,
    *,
    formats: tuple[int, int, int, int],
    op: str,
    parameters: Sequence[int],
    shapes: Sequence[Sequence[int]],
    shape_out: Sequence[int],
    dst32: bool,
    arch: int = 0,
) -> None: ...
def softmax(
    input: Buffer,
    output: Buffer,
    *,
    format: int,
    rows: int,
    wt: int,
    width: int,
    stable: bool,
    exact_exp: bool,
    dst32: bool,
    fidelity: int,
    arch: int = 0,
) -> None: ...
def reduce(
    input: Buffer,
    output: Buffer,
    *,
    formats: tuple[int, int],
    outer: int,
    rows: int,
    columns: int,
    axis: str,
    join: str,
    length: int = 1,
    scaler: float = 1.0,
    scale: float = 1.0,
    fill: tuple[int, int, float] | None = None,
    fidelity: int = 3,
    dst32: bool = True,
    arch: int = 0,
) -> None: ...
def argmax(
    input: Buffer, output: Buffer, *, format: int, tiled: bool, shape: Sequence[int], dim: int | None
) -> None: ...
def move_elements(
    input: Buffer,
    output: Buffer,
    *,
    formats: tuple[int, int],
    in_shape: Sequence[int],
    out_shape: Sequence[int],
    strides: Sequence[int],
    offset: int,
    in_tile: tuple[int, int] | None,
    out_tile: tuple[int, int] | None,
    window: Sequence[tuple[int, int]] | None = None,
    pad_value: float = 0.0,
    through_dst: bool = False,
) -> None: ...
def copy_pages(input: Buffer, output: Buffer) -> None: ...
def fill(output: Buffer, *, format: int, value: float) -> None: ...
def functions() -> list[tuple[str, str]]: ...
