"""Pieces that programs of the tests share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import ttnn
from ttnn import metal
from ttnn.kernel_api import (
    InterleavedAddrGenFast,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    get_arg_val,
    get_dataformat,
    get_read_ptr,
    get_tile_size,
    get_write_ptr,
    noc_async_read_barrier,
    noc_async_read_tile,
    noc_async_write_barrier,
    noc_async_write_tile,
)

TILE = 1024
CORE = metal.CoreCoord(0, 0)
FORMATS = {
    ttnn.bfloat16: metal.DataFormat.Float16_b,
    ttnn.float32: metal.DataFormat.Float32,
    ttnn.bfloat8_b: metal.DataFormat.Bfp8_b,
}


def values(count: int, seed: int, dtype: npt.DTypeLike = ml_dtypes.bfloat16) -> npt.NDArray[Any]:
    return np.random.default_rng(seed).standard_normal(count, dtype=np.float32).astype(dtype)


def tile_bytes(data_format: metal.DataFormat) -> int:
    return {metal.DataFormat.Float32: 4096, metal.DataFormat.Float16_b: 2048, metal.DataFormat.Bfp8_b: 1088}[
        data_format
    ]


def tiles_buffer(
    device: ttnn.MeshDevice, tiles: int, data_format: metal.DataFormat = metal.DataFormat.Float16_b, **more: Any
) -> metal.Buffer:
    page = tile_bytes(data_format)
    config = metal.InterleavedBufferConfig(device=device, size=tiles * page, page_size=page, **more)
    return metal.create_buffer(config)


def add_cb(
    program: metal.Program,
    index: int,
    pages: int = 2,
    data_format: metal.DataFormat = metal.DataFormat.Float16_b,
    cores: Any = CORE,
) -> metal.CBHandle:
    page = tile_bytes(data_format)
    config = metal.CircularBufferConfig(pages * page, {index: data_format}).set_page_size(index, page)
    return metal.create_circular_buffer(program, cores, config)


def build(
    kernels: Mapping[str, Callable[[], object]],
    args: Mapping[str, Sequence[Any]],
    cbs: Mapping[int, int],
    compute_config: metal.ComputeConfig | None = None,
) -> metal.Program:
    """Return a program on core 0-0, by role and CB.

    Kernels and arguments by `reader`, `compute`, `writer`, pages by CB.
    """
    program = metal.create_program()
    for index, pages in cbs.items():
        add_cb(program, index, pages)
    configs = {
        "reader": metal.ReaderDataMovementConfig(),
        "writer": metal.WriterDataMovementConfig(),
        "compute": compute_config or metal.ComputeConfig(),
    }
    for role, function in kernels.items():
        kernel = metal.create_kernel(program, function, CORE, configs[role])
        metal.set_runtime_args(program, kernel, CORE, list(args.get(role, ())))
    return program


def read_two() -> None:
    """Reader: two buffers' tiles to CB 0 and 1.

    Arguments: both addresses, number of tiles.
    """
    first, second, tiles = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    a = InterleavedAddrGenFast[True](first, get_tile_size(0), get_dataformat(0))
    b = InterleavedAddrGenFast[True](second, get_tile_size(1), get_dataformat(1))
    for tile in range(tiles):
        cb_reserve_back(0, 1)
        cb_reserve_back(1, 1)
        noc_async_read_tile(tile, a, get_write_ptr(0))
        noc_async_read_tile(tile, b, get_write_ptr(1))
        noc_async_read_barrier()
        cb_push_back(0, 1)
        cb_push_back(1, 1)


def read_one() -> None:
    """Reader: buffer tiles to CB 0. Arguments: address, tile count."""
    source, tiles = get_arg_val(0), get_arg_val(1)
    a = InterleavedAddrGenFast[True](source, get_tile_size(0), get_dataformat(0))
    for tile in range(tiles):
        cb_reserve_back(0, 1)
        noc_async_read_tile(tile, a, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


def write_one() -> None:
    """Writer: CB 16 tiles to a buffer. Arguments: address, tile count."""
    target, tiles = get_arg_val(0), get_arg_val(1)
    out = InterleavedAddrGenFast[True](target, get_tile_size(16), get_dataformat(16))
    for tile in range(tiles):
        cb_wait_front(16, 1)
        noc_async_write_tile(tile, out, get_read_ptr(16))
        noc_async_write_barrier()
        cb_pop_front(16, 1)
