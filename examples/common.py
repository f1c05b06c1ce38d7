"""Shared example code: buffers, usual reader and writer, printed results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

import ttnn
from ttnn import metal
from ttnn.kernel_api import *

Array = npt.NDArray[np.float32]
EXAMPLES = Path(__file__).parent
"""A folder per API spelling, with C++ kernels in `cpp`.

There it is a folder for each module, a file for each kernel.
"""
BF16_TILE = 2048
"""Bytes of a 32 x 32 tile of bfloat16."""


class Outcome(NamedTuple):
    """An example's result: program report, description, comparison outcomes."""

    report: metal.Report
    did: str
    checks: dict[str, bool]


_in_cpp: set[str] | bool = False
_spelling = "classic"
_sources: list[Path] = []


@contextmanager
def in_cpp(kernels: set[str] | bool = True, *, objects: bool = False) -> Iterator[list[Path]]:
    """Use C++ kernels in the `with` block: all, or these names.

    With `objects`, they are those in the spelling of 0.81.1. Yields the list of sources that programs used.
    """
    global _in_cpp, _spelling, _sources
    before = _in_cpp, _spelling, _sources
    _in_cpp, _spelling, _sources = kernels, "objects" if objects else "classic", []
    try:
        yield _sources
    finally:
        _in_cpp, _spelling, _sources = before


def kernel(function: Callable[[], None]) -> Callable[[], None] | Path:
    """Return a program's kernel: Python function, or file in C++.

    Both are the same kernel.
    """
    name = function.__name__
    if not _in_cpp or (isinstance(_in_cpp, set) and name not in _in_cpp):
        return function
    module = Path(function.__code__.co_filename)
    program, home = module.stem, module.parent.name
    if home == "classic" and _spelling == "objects" and (EXAMPLES / "objects" / module.name).is_file():
        raise SystemExit(f"{program} is another program with objects: python -m examples.objects.{program} --cpp")
    spelling = home if home in ("objects", "metal2") else _spelling
    source = EXAMPLES / spelling / "cpp" / program / f"{name}.cpp"
    if not source.is_file():
        raise SystemExit(f"{program}: {name} has no kernel in this spelling of C++, {source}")
    _sources.append(source)
    return source


def accessors(*operands: ttnn.Tensor | metal.Buffer) -> list[int]:
    """Return compile-time arguments for each operand's `TensorAccessor`."""
    return [word for operand in operands for word in ttnn.TensorAccessorArgs(operand).get_compile_time_args()]


def random_bf16(shape: Sequence[int], seed: int, scale: float = 1.0) -> Array:
    """Return normally distributed values that bfloat16 holds exactly."""
    values = np.random.default_rng(seed).standard_normal(tuple(shape), dtype=np.float32) * np.float32(scale)
    return values.astype(ml_dtypes.bfloat16).astype(np.float32)


def to_device(values: Array, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    """Return a tiled tensor in DRAM with these values."""
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def empty(shape: Sequence[int], device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    """Return a tiled DRAM tensor for a program to fill."""
    return ttnn.empty(list(shape), dtype, ttnn.TILE_LAYOUT, device)


def same_bits(ours: ttnn.Tensor, other: ttnn.Tensor) -> bool:
    """Return True if two tensors hold the same bits."""
    return ttnn.to_numpy(ours).tobytes() == ttnn.to_numpy(other).tobytes()


def add_cb(
    program: metal.Program,
    cores: metal.CoreCoord | metal.CoreRange | metal.CoreRangeSet,
    index: int,
    pages: int,
    data_format: metal.DataFormat = metal.DataFormat.Float16_b,
    page_size: int = BF16_TILE,
) -> metal.CBHandle:
    """Create a circular buffer of so many tiles on the cores."""
    config = metal.CircularBufferConfig(pages * page_size, {index: data_format}).set_page_size(index, page_size)
    return metal.create_circular_buffer(program, cores, config)


def read_tiles() -> None:
    """Reader: consecutive buffer tiles to CB 0.

    Arguments: address, first tile, number of tiles.
    """
    source, first, tiles = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    pages = InterleavedAddrGenFast[True](source, get_tile_size(0), get_dataformat(0))
    for tile in range(first, first + tiles):
        cb_reserve_back(0, 1)
        noc_async_read_tile(tile, pages, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


def write_tiles() -> None:
    """Writer: CB 16 to consecutive buffer tiles.

    Arguments: address, first tile, number of tiles.
    """
    target, first, tiles = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    pages = InterleavedAddrGenFast[True](target, get_tile_size(16), get_dataformat(16))
    for tile in range(first, first + tiles):
        cb_wait_front(16, 1)
        noc_async_write_tile(tile, pages, get_read_ptr(16))
        noc_async_write_barrier()
        cb_pop_front(16, 1)


def on_each_tile(
    device: ttnn.MeshDevice,
    compute: Callable[[], None],
    operator: Callable[[ttnn.Tensor], ttnn.Tensor],
    values: Array,
) -> tuple[metal.Report, bool]:
    """Run a one-core kernel from CB 0 to CB 16; compare.

    It makes a tile of CB 16 of each tile of CB 0; the result is compared with an operator's.

    The kernel's compile-time argument is the number of tiles. Returns the report, and whether the bits are the same.
    """
    core = metal.CoreCoord(0, 0)
    x, out, tiles = to_device(values, device), empty(values.shape, device), values.size // 1024
    program = metal.create_program()
    for index in (0, 16):
        add_cb(program, core, index, 2)
    reading = metal.ReaderDataMovementConfig(compile_args=accessors(x))
    writing = metal.WriterDataMovementConfig(compile_args=accessors(out))
    reader = metal.create_kernel(program, kernel(read_tiles), core, reading)
    writer = metal.create_kernel(program, kernel(write_tiles), core, writing)
    metal.create_kernel(program, kernel(compute), core, metal.ComputeConfig(compile_args=[tiles]))
    metal.set_runtime_args(program, reader, core, [x.buffer_address(), 0, tiles])
    metal.set_runtime_args(program, writer, core, [out.buffer_address(), 0, tiles])
    report = metal.enqueue_program(metal.command_queue(device), program)
    return report, same_bits(out, operator(x))


def main(example: Callable[[ttnn.MeshDevice], Outcome], description: str) -> None:
    """Run an example on its own device, print, draw, and check.

    It fails if a comparison did.

    The command is `python -m examples.SPELLING.NAME`, in the folder of the repository.
    """
    parser = argparse.ArgumentParser(description=description)
    picture = Path(sys.argv[0]).with_suffix(".png").name
    parser.add_argument("--plot", type=Path, metavar="PNG", default=picture, help="picture of timeline and grid")
    parser.add_argument("--trace", type=Path, metavar="JSON", help="timeline for ui.perfetto.dev")
    spelling = "take the kernels in C++, which need a compiler: in the classic spelling, or with objects as in 0.81.1"
    parser.add_argument("--cpp", nargs="?", const="classic", choices=["classic", "objects"], help=spelling)
    arguments = parser.parse_args()
    in_spelling = in_cpp(bool(arguments.cpp), objects=arguments.cpp == "objects")
    with in_spelling as sources, ttnn.manage_device(device_id=0) as device:
        outcome = example(device)
    if arguments.cpp and not sources:
        parser.error("argument --cpp: the kernels of this program are in Python only")
    print(description)
    print(outcome.did)
    print(f"{outcome.report.cycles:,} cycles, {outcome.report.microseconds:.1f} us on the chip")
    for what, holds in outcome.checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} {what}")
    if arguments.trace:
        outcome.report.save(arguments.trace)
    outcome.report.plot(arguments.plot)
    print(f"timeline drawn to {arguments.plot}")
    if not all(outcome.checks.values()):
        raise SystemExit(1)
