"""Random small programs, correct or not: each must end the same way twice, with its bits or with an error of ours.

A program is a pipeline on one or two cores, written down as lists of calls; half of the programs then lose, repeat,
swap or change some call. As a command it runs as many as one likes: `--programs 200000`.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ttnn
from ttnn import metal
from ttnn.kernel_api import *

PAGE = 2048
SOURCE_TILES = 8
Call = tuple[Callable[..., Any], tuple[Any, ...]]
VECTOR = ((exp_tile_init, exp_tile), (recip_tile_init, recip_tile), (relu_tile_init, relu_tile))


class Read:
    """Start reading a tile of a buffer into a place of a CB's back."""

    def __call__(self, base: int, tile: int, cb: int, place: int) -> None:
        pages = InterleavedAddrGenFast[True](base, PAGE, get_dataformat(cb))
        noc_async_read_tile(tile, pages, get_write_ptr(cb) + place * PAGE)


class Write:
    """Start writing a tile of a CB's front."""

    def __call__(self, base: int, tile: int, cb: int, place: int) -> None:
        pages = InterleavedAddrGenFast[True](base, PAGE, get_dataformat(cb))
        noc_async_write_tile(tile, pages, get_read_ptr(cb) + place * PAGE)


class Signal:
    """Count a semaphore of a core up."""

    def __call__(self, x: int, y: int, semaphore: int) -> None:
        noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(semaphore)), 1)
        noc_async_atomic_barrier()


class Await:
    """Wait for a semaphore of this core."""

    def __call__(self, semaphore: int, value: int) -> None:
        noc_semaphore_wait_min(L1Pointer(get_semaphore(semaphore)), value)


def reader(chance: random.Random, base: int, tiles: int, block: int, cbs: tuple[int, ...]) -> list[Call]:
    """Return the calls of a reader of blocks of tiles into every CB."""
    calls: list[Call] = []
    for _ in range(0, tiles, block):
        for cb in cbs:
            calls.append((cb_reserve_back, (cb, block)))
            calls += [(Read(), (base, chance.randrange(SOURCE_TILES), cb, place)) for place in range(block)]
            calls += [(noc_async_read_barrier, ()), (cb_push_back, (cb, block))]
    return calls


def compute(chance: random.Random, tiles: int, block: int) -> list[Call]:
    """Return the calls of a compute kernel: a step of the matrix unit and perhaps one of the vector unit."""
    kind = chance.randrange(4)
    calls: list[Call] = [(binary_op_init_common, (0, 1, 16))]
    inits: list[Call] = [
        (add_tiles_init, (0, 1)),
        (mul_tiles_init, (0, 1)),
        (matmul_init, (0, 1)),
        (copy_tile_to_dst_init_short, (0,)),
    ]
    if kind == 2:
        calls = [(mm_init, (0, 1, 16))]
    calls.append(inits[kind])
    steps: list[Callable[[int], Call]] = [
        lambda i: (add_tiles, (0, 1, i, i, i)),
        lambda i: (mul_tiles, (0, 1, i, i, i)),
        lambda i: (matmul_tiles, (0, 1, i, i, i)),
        lambda i: (copy_tile, (0, i, i)),
    ]
    vector = chance.choice((None, *VECTOR))
    if vector:
        calls.append((vector[0], ()))
    for _ in range(0, tiles, block):
        calls += [(cb_wait_front, (cb, block)) for cb in (0, 1)] + [(tile_regs_acquire, ())]
        for i in range(block):
            calls.append(steps[kind](i))
            if vector:
                calls.append((vector[1], (i,)))
        calls += [(tile_regs_commit, ())] + [(cb_pop_front, (cb, block)) for cb in (0, 1)]
        calls += [(cb_reserve_back, (16, block)), (tile_regs_wait, ())]
        calls += [(pack_tile, (i, 16)) for i in range(block)]
        calls += [(tile_regs_release, ()), (cb_push_back, (16, block))]
    return calls


def writer(base: int, first: int, tiles: int, block: int) -> list[Call]:
    """Return the calls of a writer."""
    calls: list[Call] = []
    for start in range(0, tiles, block):
        calls.append((cb_wait_front, (16, block)))
        calls += [(Write(), (base, first + start + place, 16, place)) for place in range(block)]
        calls += [(noc_async_write_barrier, ()), (cb_pop_front, (16, block))]
    return calls


def spoil(chance: random.Random, calls: list[Call]) -> None:
    """Lose, repeat, swap or change one call."""
    at = chance.randrange(len(calls))
    mistake = chance.randrange(4)
    if mistake == 0:
        del calls[at]
    elif mistake == 1:
        calls.insert(at, calls[at])
    elif mistake == 2:
        other = chance.randrange(len(calls))
        calls[at], calls[other] = calls[other], calls[at]
    else:
        function, args = calls[at]
        if args:
            which = chance.randrange(len(args))
            changed = max(0, args[which] + chance.choice((-1, 1, 2, 16)))
            calls[at] = function, (*args[:which], changed, *args[which + 1 :])


def perform(calls: list[Call]) -> Callable[[], None]:
    """Return a kernel that makes these calls."""

    def kernel() -> None:
        for function, args in calls:
            function(*args)

    return kernel


def build(seed: int, device: ttnn.MeshDevice, source: metal.Buffer, target: metal.Buffer) -> metal.Program:
    """Return the program of a seed."""
    chance = random.Random(seed)
    cores = [metal.CoreCoord(x, 0) for x in range(chance.choice((1, 1, 2)))]
    block = chance.choice((1, 1, 2))
    tiles = block * chance.randrange(1, 3)
    program = metal.create_program()
    everywhere = metal.CoreRange(cores[0], cores[-1])
    for cb in (0, 1, 16):
        config = metal.CircularBufferConfig(2 * block * PAGE, {cb: metal.DataFormat.Float16_b}).set_page_size(cb, PAGE)
        metal.create_circular_buffer(program, everywhere, config)
    semaphore = metal.create_semaphore(program, everywhere, 0)
    places = [device.worker_core_from_logical_core(core) for core in cores]
    spoiled = chance.random() < 0.5
    config = metal.ComputeConfig(
        math_fidelity=chance.choice((metal.MathFidelity.LoFi, metal.MathFidelity.HiFi4)),
        fp32_dest_acc_en=chance.random() < 0.5,
    )
    for index, core in enumerate(cores):
        lists = [
            reader(chance, source.address(), tiles, block, (0, 1)),
            compute(chance, tiles, block),
            writer(target.address(), index * tiles, tiles, block),
        ]
        if len(cores) == 2:
            place = places[1 - index]
            lists[0] += [(Signal(), (place.x, place.y, semaphore))]
            lists[2] += [(Await(), (semaphore, 1))]
        if spoiled:
            for _ in range(chance.randrange(1, 3)):
                spoil(chance, chance.choice(lists))
        configs = (metal.ReaderDataMovementConfig(), config, metal.WriterDataMovementConfig())
        for calls, kernel_config in zip(lists, configs, strict=True):
            metal.create_kernel(program, perform(calls), core, kernel_config)
    return program


def outcome(seed: int, device: ttnn.MeshDevice) -> tuple[str, str]:
    """Run the program of a seed on a fresh part of a device; return how it ended.

    Raises:
        Exception: anything but an error that the documentation names.
    """
    config = metal.InterleavedBufferConfig(device=device, size=SOURCE_TILES * PAGE, page_size=PAGE)
    source, target = metal.create_buffer(config), metal.create_buffer(config)
    data = np.random.default_rng(seed).integers(0, 1 << 16, SOURCE_TILES * PAGE // 2, dtype=np.uint16)
    source.write(data)
    target.write(np.zeros(SOURCE_TILES * PAGE, np.uint8))
    try:
        report = metal.run_program(device, build(seed, device, source, target))
    except ttnn.KernelError as error:
        device.reset()
        return type(error).__name__, str(error)
    digest = hashlib.sha256(target.read(np.uint8).tobytes()).hexdigest()
    for buffer in (source, target):
        metal.deallocate_buffer(buffer)
    return "ok", f"{digest} {report!r}"


def check(seed: int, device: ttnn.MeshDevice) -> str:
    """Run a seed twice and return how it ended, by class.

    Raises:
        AssertionError: both runs differ; the text names the seed.
    """
    try:
        first, again = outcome(seed, device), outcome(seed, device)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
    assert first == again, f"seed {seed}: two runs differ:\n{first}\n{again}"
    return first[0]


def main() -> None:
    """Run many seeds and print how they ended."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    arguments = parser.parse_args()
    ends: dict[str, int] = {}
    start = time.perf_counter()
    with ttnn.manage_device(device_id=0) as device:
        for number in range(arguments.programs):
            end = check(arguments.seed + number, device)
            ends[end] = ends.get(end, 0) + 1
            if number % 1000 == 999 and sys.stderr.isatty():
                print(f"\r{number + 1} of {arguments.programs}", end="", file=sys.stderr)
    seconds = time.perf_counter() - start
    print(f"\nseeds {arguments.seed} to {arguments.seed + arguments.programs - 1}, each run twice: {ends}")
    print(f"{arguments.programs / seconds * 60:,.0f} programs a minute")


if __name__ == "__main__":
    main()
