"""A program around a compute kernel, tiles in and out.

Tiles have any format and shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import ttnn
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.metal import DataFormat

CORE = metal.CoreCoord(0, 0)
FORMATS: dict[Any, DataFormat] = {
    np.dtype(ml_dtypes.bfloat16): DataFormat.Float16_b,
    np.dtype(np.float32): DataFormat.Float32,
    np.dtype(np.int32): DataFormat.Int32,
    np.dtype(np.uint32): DataFormat.UInt32,
    np.dtype(np.uint16): DataFormat.UInt16,
}
OUT = 16
WIDE = metal.ComputeConfig(fp32_dest_acc_en=True, unpack_to_dest_mode=[metal.UnpackToDestMode.UnpackToDestFp32] * 32)
Array = npt.NDArray[Any]
X = np.concatenate([np.linspace(-6, 6, 1000), [0.0, -0.0, 1e-3, 30.0, -30.0, 4.5, 88.0, 1.0] * 3]).astype(
    ml_dtypes.bfloat16
).reshape(32, 32)  # fmt: skip
"""A tile around the turning points of functions."""


@dataclass(frozen=True)
class Matrix:
    """A matrix as tiles of one shape."""

    values: Array
    tile: tuple[int, int] = (32, 32)

    @property
    def data_format(self) -> DataFormat:
        return FORMATS[self.values.dtype]

    @property
    def page(self) -> int:
        return self.tile[0] * self.tile[1] * self.values.dtype.itemsize

    @property
    def tiles(self) -> int:
        return int(self.values.size // (self.tile[0] * self.tile[1]))


def to_tiles(values: Array, tile: tuple[int, int] = (32, 32)) -> Array:
    """Return a matrix as tiles in memory order.

    Faces of 16 columns and at most 16 rows, row-major inside.
    """
    height, width = tile
    face = min(height, 16)
    rows, columns = values.shape
    cut = values.reshape(rows // height, height // face, face, columns // width, width // 16, 16)
    return np.ascontiguousarray(cut.transpose(0, 3, 1, 4, 2, 5)).reshape(-1)


def from_tiles(flat: Array, shape: tuple[int, int], tile: tuple[int, int] = (32, 32)) -> Array:
    """Return tiles in memory order as a matrix."""
    height, width = tile
    face = min(height, 16)
    rows, columns = shape
    cut = flat.reshape(rows // height, columns // width, height // face, width // 16, face, 16)
    return np.ascontiguousarray(cut.transpose(0, 2, 4, 1, 3, 5)).reshape(shape)


def _read_all() -> None:
    """Arguments: number of CBs, then address, page bytes and pages of each."""
    for cb in range(api.get_arg_val(0)):
        address, page, pages = (api.get_arg_val(1 + 3 * cb + i) for i in range(3))
        source = api.InterleavedAddrGen(address, page)
        for tile in range(pages):
            api.cb_reserve_back(cb, 1)
            api.noc_async_read_page(tile, source, api.get_write_ptr(cb))
            api.noc_async_read_barrier()
            api.cb_push_back(cb, 1)


def _write_all() -> None:
    """Arguments: address, page bytes, pages."""
    address, page, pages = (api.get_arg_val(i) for i in range(3))
    target = api.InterleavedAddrGen(address, page)
    for tile in range(pages):
        api.cb_wait_front(OUT, 1)
        api.noc_async_write_page(tile, target, api.get_read_ptr(OUT))
        api.noc_async_write_barrier()
        api.cb_pop_front(OUT, 1)


def run(
    device: ttnn.MeshDevice,
    compute: Callable[[], object],
    inputs: Sequence[Matrix],
    out: Matrix,
    config: metal.ComputeConfig | None = None,
    args: Sequence[int] = (),
) -> Array:
    """Run a compute kernel on `inputs`; return CB 16 as matrix.

    Tiles of `inputs` are CB 0 on; the matrix has the form of `out`.

    All tiles of every CB fit into it at once.
    """
    target, _ = _run(device, compute, inputs, out, config, args)
    result = metal.enqueue_read_buffer(metal.command_queue(device), target).view(out.values.dtype)
    return from_tiles(result, out.values.shape, out.tile)  # type: ignore[arg-type]


def run_report(
    device: ttnn.MeshDevice, compute: Callable[[], object], inputs: Sequence[Matrix], out: Matrix
) -> metal.Report:
    """Do the same and return the report."""
    return _run(device, compute, inputs, out, None, ())[1]


def _run(
    device: ttnn.MeshDevice,
    compute: Callable[[], object],
    inputs: Sequence[Matrix],
    out: Matrix,
    config: metal.ComputeConfig | None,
    args: Sequence[int],
) -> tuple[metal.Buffer, metal.Report]:
    queue = metal.command_queue(device)
    program = metal.create_program()
    reader_args: list[Any] = [len(inputs)]
    for cb, matrix in enumerate(inputs):
        buffer = _buffer(device, matrix)
        metal.enqueue_write_buffer(queue, buffer, to_tiles(matrix.values, matrix.tile))
        reader_args += [buffer, matrix.page, matrix.tiles]
        _add_cb(program, cb, matrix)
    target = _buffer(device, out)
    _add_cb(program, OUT, out)
    reader = metal.create_kernel(program, _read_all, CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, _write_all, CORE, metal.WriterDataMovementConfig())
    kernel = metal.create_kernel(program, compute, CORE, config or metal.ComputeConfig())
    metal.set_runtime_args(program, reader, CORE, reader_args)
    metal.set_runtime_args(program, writer, CORE, [target, out.page, out.tiles])
    metal.set_runtime_args(program, kernel, CORE, list(args))
    return target, metal.enqueue_program(queue, program)


def _buffer(device: ttnn.MeshDevice, matrix: Matrix) -> metal.Buffer:
    size = matrix.tiles * matrix.page
    return metal.create_buffer(metal.InterleavedBufferConfig(device=device, size=size, page_size=matrix.page))


def _add_cb(program: metal.Program, index: int, matrix: Matrix) -> None:
    config = metal.CircularBufferConfig(matrix.tiles * matrix.page, {index: matrix.data_format})
    config.set_page_size(index, matrix.page)
    if matrix.tile != (32, 32):
        config.set_tile_dims(index, ttnn.Tile(matrix.tile))
    metal.create_circular_buffer(program, CORE, config)


def one_tile(inputs: int, body: Callable[[], object], results: tuple[int, ...] = (0,)) -> Callable[[], None]:
    """Return a compute kernel around `body`.

    CBs 0.. to Dst 0.., `body`, the tiles `results` of Dst to CB 16.
    """

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 16)
        for cb in range(inputs):
            api.cb_wait_front(cb, 1)
        api.tile_regs_acquire()
        for cb in range(inputs):
            api.reconfig_data_format_srca(cb)
            api.copy_init(cb)
            api.copy_tile(cb, 0, cb)
        body()
        api.tile_regs_commit()
        api.tile_regs_wait()
        for result in results:
            api.cb_reserve_back(16, 1)
            api.pack_tile(result, 16)
            api.cb_push_back(16, 1)
        api.tile_regs_release()
        for cb in range(inputs):
            api.cb_pop_front(cb, 1)

    return compute


def apply(device: ttnn.MeshDevice, operands: list[Array], body: Callable[[], object], dtype: Any = None) -> Array:
    """Return Dst 0 after `body`, with operands in Dst 0 on."""
    out = Matrix(np.zeros((32, 32), dtype or operands[0].dtype))
    config = None if operands[0].dtype == ml_dtypes.bfloat16 or operands[0].dtype == np.uint16 else WIDE
    return run(device, one_tile(len(operands), body), [Matrix(x) for x in operands], out, config)


def api_bits(value: float) -> int:
    """Return the bits of a float32, as the kernel API takes parameters."""
    return int(np.float32(value).view(np.uint32))
