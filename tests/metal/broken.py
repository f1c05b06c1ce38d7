"""Deliberately broken programs: case format and correct pipeline.

Cases change the pipeline.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import ttnn
from testkit.kernel_parts import copy_tiles
from testkit.parts import CORE, add_cb, read_one, tiles_buffer, write_one
from ttnn import metal
from ttnn.kernel_api import *

TILES = 4
Kernel = Callable[[], object]


class Broken(NamedTuple):
    """A program with an error, and its message.

    `None` where the host finds the error.
    """

    name: str
    build: Callable[[ttnn.MeshDevice], metal.Program]
    error: type[Exception]
    text: str
    risc: str | None
    cb: int | None
    core: str
    file: str
    line: int | None


CASES: list[Broken] = []
KEPT: list[metal.Buffer] = []
"""Buffers of the running case.

A program does not own the buffers that its kernels use.
"""
Build = Callable[[ttnn.MeshDevice], metal.Program]


def broken(
    error: type[Exception], text: str, risc: str | None = None, cb: int | None = None, core: str = "0-0"
) -> Callable[[Build], Build]:
    """Register the function that builds a program.

    The line of the mistake carries the comment `# bug`; without one, the kernel's end is meant.
    """

    def register(build: Build) -> Build:
        add_case(build, build, error, text, risc, cb, core)
        return build

    return register


def add_case(
    source: Callable[..., object],
    build: Build,
    error: type[Exception],
    text: str,
    risc: str | None,
    cb: int | None,
    core: str,
    at: Callable[..., object] | None = None,
) -> None:
    """Register a case with a mistake in `source`, visible in `at`.

    Both are lines.
    """
    lines, first = inspect.getsourcelines(at or source)
    marked = [first + index for index, line in enumerate(lines) if line.rstrip().endswith("# bug")]
    assert len(marked) <= 1, f"{source.__name__} has several lines that end in '# bug'"
    line = marked[0] if marked else None
    CASES.append(Broken(source.__name__, build, error, text, risc, cb, core, inspect.getfile(source), line))


def broken_role(
    role: str, risc: str, error: type[Exception], text: str, cb: int | None = None, **options: Any
) -> Callable[[Kernel], Kernel]:
    """Register a kernel that is wrong in its role in a pipeline."""

    def register(kernel: Kernel) -> Kernel:
        def build(device: ttnn.MeshDevice) -> metal.Program:
            return pipeline(device, **{role: kernel}, **options)

        add_case(kernel, build, error, text, risc, cb, "0-0")
        return kernel

    return register


broken_reader = partial(broken_role, "reader", "NCRISC")
broken_compute = partial(broken_role, "compute", "TRISC")
broken_writer = partial(broken_role, "writer", "BRISC")


def broken_alone(
    error: type[Exception],
    text: str,
    cb: int | None = None,
    *,
    args: Callable[[ttnn.MeshDevice], Sequence[Any]] = lambda _: (),
    **options: Any,
) -> Callable[[Kernel], Kernel]:
    """Register a data-movement kernel that is wrong alone, with arguments."""

    def register(kernel: Kernel) -> Kernel:
        def build(device: ttnn.MeshDevice) -> metal.Program:
            return alone(device, kernel, *args(device), **options)

        add_case(kernel, build, error, text, "BRISC", cb, "0-0")
        return kernel

    return register


def broken_computing(
    error: type[Exception], text: str, cb: int | None = None, config: metal.ComputeConfig | None = None
) -> Callable[[Kernel], Kernel]:
    """Register a compute kernel that is wrong between CBs.

    CBs 0, 1, 2 (float32) and 16, 17 (float32).
    """

    def register(kernel: Kernel) -> Kernel:
        add_case(kernel, lambda device: computing(device, kernel, config), error, text, "TRISC", cb, "0-0")
        return kernel

    return register


def nothing() -> None:
    """Return at once."""


def filled(device: ttnn.MeshDevice, tiles: int = TILES, **more: Any) -> metal.Buffer:
    """Return a buffer of tiles that holds values."""
    buffer = tiles_buffer(device, tiles, **more)
    buffer.write(np.full(buffer.size(), 0x3F, np.uint8))
    return buffer


def l1_buffer(device: ttnn.MeshDevice, size: int = 2048) -> metal.Buffer:
    """Return a buffer of one page in L1."""
    config = metal.InterleavedBufferConfig(device=device, size=size, page_size=size, buffer_type=metal.BufferType.L1)
    return metal.create_buffer(config)


def one_l1(device: ttnn.MeshDevice) -> list[metal.Buffer]:
    """Arguments: a page of L1."""
    return [l1_buffer(device)]


def dram_and_l1(device: ttnn.MeshDevice) -> list[metal.Buffer]:
    """Arguments: a page of DRAM with values, a page of L1."""
    return [filled(device, 1), l1_buffer(device)]


def dram_and_scratch(device: ttnn.MeshDevice) -> list[metal.Buffer]:
    """Arguments: a buffer in DRAM with values, a page of L1."""
    return [filled(device), l1_buffer(device)]


def on_cores(
    device: ttnn.MeshDevice, *kernels: Kernel, args: Sequence[Any] = (), semaphores: int = 1, cbs: Sequence[int] = ()
) -> metal.Program:
    """Return a data-movement program on cores of row 0.

    There is one kernel on each of as many cores, which all get the same arguments.

    In front of `args` they get the NoC coordinates of the cores: x and y of core 0-0, then of core 1-0, and so on.
    """
    program = metal.create_program()
    cores = [metal.CoreCoord(x, 0) for x in range(len(kernels))]
    row = metal.CoreRange(cores[0], cores[-1])
    places = [device.worker_core_from_logical_core(core) for core in cores]
    for _ in range(semaphores):
        metal.create_semaphore(program, row, 0)
    for index in cbs:
        add_cb(program, index, 2, cores=row)
    for core, kernel in zip(cores, kernels, strict=True):
        handle = metal.create_kernel(program, kernel, core, metal.DataMovementConfig())
        values = [coordinate for place in places for coordinate in (place.x, place.y)]
        metal.set_runtime_args(program, handle, core, [*values, *args])
    KEPT.extend(arg for arg in args if isinstance(arg, metal.Buffer))
    return program


def with_cbs(cbs: Sequence[int], pages: int, semaphores: int) -> metal.Program:
    """Return a program without kernels: CBs and semaphores on 0-0."""
    program = metal.create_program()
    for index in cbs:
        add_cb(program, index, pages)
    for _ in range(semaphores):
        metal.create_semaphore(program, CORE, 0)
    return program


def pipeline(
    device: ttnn.MeshDevice,
    *,
    reader: Kernel | None = read_one,
    compute: Kernel | None = copy_tiles,
    writer: Kernel | None = write_one,
    pages: int = 2,
    cbs: Sequence[int] = (0, 16),
    compute_config: metal.ComputeConfig | None = None,
    semaphores: int = 0,
    source: metal.Buffer | None = None,
    extra: Sequence[Any] = (),
) -> metal.Program:
    """Return a DRAM copy program with some kernels replaced.

    Reader and writer get the address of their buffer, the number of tiles and `extra`; compute the number and `extra`.
    """
    program = with_cbs(cbs, pages, semaphores)
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
    device: ttnn.MeshDevice,
    kernel: Kernel,
    *args: Any,
    pages: int = 2,
    cbs: Sequence[int] = (0,),
    semaphores: int = 0,
) -> metal.Program:
    """Return a program of one data movement kernel, on BRISC."""
    program = with_cbs(cbs, pages, semaphores)
    handle = metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, handle, CORE, list(args))
    KEPT.extend(arg for arg in args if isinstance(arg, metal.Buffer))
    return program


def computing(device: ttnn.MeshDevice, compute: Kernel, config: metal.ComputeConfig | None = None) -> metal.Program:
    """Return a pipeline with this compute kernel and five CBs.

    CBs 0, 1, 2 (float32) and 16, 17 (float32).
    """

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
