"""Programs that are broken on purpose: how a case is written, and the correct pipeline that cases change."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from parts import CORE, add_cb, read_one, tiles_buffer, write_one

import ttnn
from ttnn import metal
from ttnn.kernel_api import *

TILES = 4
Kernel = Callable[[], object]


class Broken(NamedTuple):
    """A program with a mistake and what must be said of it; `None` where the host finds the mistake."""

    name: str
    build: Callable[[ttnn.MeshDevice], metal.Program]
    error: type[Exception]
    text: str
    risc: str | None
    cb: int | None
    core: str
    line: int | None


CASES: list[Broken] = []
KEPT: list[metal.Buffer] = []
"""Buffers of the case that runs: a program does not own the buffers that its kernels use."""


def broken(
    error: type[Exception], text: str, risc: str | None = None, cb: int | None = None, core: str = "0-0"
) -> Callable[[Callable[[ttnn.MeshDevice], metal.Program]], Callable[[ttnn.MeshDevice], metal.Program]]:
    """Register a case. The line of the mistake carries the comment `# bug`; without one, the kernel's end is meant."""

    def register(build: Callable[[ttnn.MeshDevice], metal.Program]) -> Callable[[ttnn.MeshDevice], metal.Program]:
        lines, first = inspect.getsourcelines(build)
        marked = [first + index for index, line in enumerate(lines) if line.rstrip().endswith("# bug")]
        assert len(marked) <= 1, f"{build.__name__} has several lines that end in '# bug'"
        CASES.append(Broken(build.__name__, build, error, text, risc, cb, core, marked[0] if marked else None))
        return build

    return register


def copy_tiles() -> None:
    """Compute: CB 0 to CB 16, tile by tile."""
    unary_op_init_common(0, 16)
    for _ in range(get_arg_val(0)):
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        cb_pop_front(0, 1)
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)


def nothing() -> None:
    """Return at once."""


def filled(device: ttnn.MeshDevice, tiles: int = TILES, **more: Any) -> metal.Buffer:
    """Return a buffer of tiles that holds values."""
    buffer = tiles_buffer(device, tiles, **more)
    buffer.write(np.full(buffer.size(), 0x3F, np.uint8))
    return buffer


def pipeline(
    device: ttnn.MeshDevice,
    *,
    reader: Kernel | None = read_one,
    compute: Kernel | None = copy_tiles,
    writer: Kernel | None = write_one,
    pages: int = 2,
    cbs: Sequence[int] = (0, 16),
    compute_config: metal.ComputeConfig | None = None,
    source: metal.Buffer | None = None,
    extra: Sequence[Any] = (),
) -> metal.Program:
    """Return a program that copies tiles, DRAM to DRAM, with some of its kernels replaced.

    Reader and writer get the address of their buffer, the number of tiles and `extra`; compute the number and `extra`.
    """
    program = metal.create_program()
    for index in cbs:
        add_cb(program, index, pages)
    source, target = source or filled(device), tiles_buffer(device, TILES)
    KEPT.extend((source, target))
    kernels = (
        (reader, metal.ReaderDataMovementConfig(), [source, TILES]),
        (compute, compute_config or metal.ComputeConfig(), [TILES]),
        (writer, metal.WriterDataMovementConfig(), [target, TILES]),
    )
    for function, config, args in kernels:
        if function is not None:
            kernel = metal.create_kernel(program, function, CORE, config)
            metal.set_runtime_args(program, kernel, CORE, [*args, *extra])
    return program


def alone(
    device: ttnn.MeshDevice, kernel: Kernel, *args: Any, pages: int = 2, cbs: Sequence[int] = (0,)
) -> metal.Program:
    """Return a program of one data movement kernel, on BRISC."""
    program = metal.create_program()
    for index in cbs:
        add_cb(program, index, pages)
    handle = metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, handle, CORE, list(args))
    KEPT.extend(arg for arg in args if isinstance(arg, metal.Buffer))
    return program


def computing(device: ttnn.MeshDevice, compute: Kernel, config: metal.ComputeConfig | None = None) -> metal.Program:
    """Return a pipeline with this compute kernel and CBs 0, 1, 2 (float32) and 16, 17 (float32)."""

    def read_both() -> None:
        a = InterleavedAddrGenFast[True](get_arg_val(0), get_tile_size(0), get_dataformat(0))
        for tile in range(2):
            for cb in (0, 1, 2):
                cb_reserve_back(cb, 1)
                for part in range(get_tile_size(cb) // get_tile_size(0)):
                    noc_async_read_tile(tile, a, get_write_ptr(cb) + part * get_tile_size(0))
                noc_async_read_barrier()
                cb_push_back(cb, 1)

    program = pipeline(device, reader=read_both, compute=compute, writer=None, cbs=(0, 1, 16), compute_config=config)
    for index in (2, 17):
        add_cb(program, index, 2, metal.DataFormat.Float32)
    return program
