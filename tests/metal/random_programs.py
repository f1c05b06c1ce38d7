"""Random small programs, right or wrong, end the same way twice.

With their bits or with an error of ours.

A program has one of these shapes: a pipeline on one or two cores; tiles that one core sends to a row of others; a
ring in which every core gives a tile to the next; sums that the packer makes in L1. Its kernels are lists of calls,
and half of the programs then lose, repeat, swap or change some call. As a command it runs as many as one likes:
`--programs 200000`.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Sequence

import numpy as np
from random_calls import (
    PAGE,
    SOURCE_TILES,
    Await,
    Call,
    Place,
    Signal,
    accumulating,
    compute,
    copying,
    maker,
    passing,
    perform,
    reader,
    receiver,
    sender,
    spoil,
    writer,
)

import ttnn
from ttnn import metal

Lists = list[list[Call]]
"""Reader, compute and writer calls; an empty list is no kernel."""


def pipeline(chance: random.Random, source: int, target: int, places: Sequence[Place]) -> tuple[list[Lists], int]:
    """Return each core's kernels and CB pages.

    Two operands, one result, two cores meet at the end.
    """
    block = chance.choice((1, 1, 2))
    tiles = block * chance.randrange(1, 3)
    cores: list[Lists] = []
    for index in range(len(places)):
        lists = [
            reader(chance, source, tiles, block, (0, 1)),
            compute(chance, tiles, block),
            writer(target, index * tiles, tiles, block),
        ]
        if len(places) == 2:
            lists[0] += [(Signal(), (*places[1 - index], 0))]
            lists[2] += [(Await(), (0, 1))]
        cores.append(lists)
    return cores, 2 * block


def multicast(chance: random.Random, source: int, target: int, places: Sequence[Place]) -> tuple[list[Lists], int]:
    """Return the kernels of a sending core and its receivers."""
    tiles = chance.randrange(1, 3)
    readers = [sender(chance, source, tiles, places), *(receiver(tiles, places[0]) for _ in places[1:])]
    cores = [
        [calls, copying(chance, tiles), writer(target, index * tiles, tiles, 1)] for index, calls in enumerate(readers)
    ]
    return cores, 2


def ring(chance: random.Random, source: int, target: int, places: Sequence[Place]) -> tuple[list[Lists], int]:
    """Return the kernels of cores that pass tiles along."""
    cores: list[Lists] = []
    for index in range(len(places)):
        first = reader(chance, source, 1, 1, (0,)) if chance.random() < 0.7 else maker(chance, 1, 0)
        cores.append([first, [], passing(target, index, places[(index + 1) % len(places)])])
    return cores, 2


def accumulation(chance: random.Random, source: int, target: int, places: Sequence[Place]) -> tuple[list[Lists], int]:
    """Return the kernels of cores whose packers add tiles up."""
    tiles = chance.randrange(1, 4)
    cores = [
        [reader(chance, source, tiles, 1, (0,)), accumulating(tiles), writer(target, index, 1, 1)]
        for index in range(len(places))
    ]
    return cores, 2


SHAPES = (
    # how often, how many cores, what
    (5, (1, 1, 2), pipeline),
    (2, (2, 3, 4), multicast),
    (2, (1, 2, 3, 4), ring),
    (1, (1, 2), accumulation),
)


def build(
    seed: int, device: ttnn.MeshDevice, source: metal.Buffer, target: metal.Buffer, *, correct: bool = False
) -> metal.Program:
    """Return a seed's program.

    With `correct`, as it is before anything is spoiled.
    """
    chance = random.Random(seed)
    ((_, counts, shape),) = chance.choices(SHAPES, [weight for weight, _, _ in SHAPES])
    row = [metal.CoreCoord(x, 0) for x in range(chance.choice(counts))]
    places = [Place(core.x, core.y) for core in map(device.worker_core_from_logical_core, row)]
    spoiled = chance.random() < 0.5
    config = metal.ComputeConfig(
        math_fidelity=chance.choice((metal.MathFidelity.LoFi, metal.MathFidelity.HiFi4)),
        fp32_dest_acc_en=chance.random() < 0.5,
    )
    cores, pages = shape(chance, source.address(), target.address(), places)
    program = metal.create_program()
    everywhere = metal.CoreRange(row[0], row[-1])
    for cb in (0, 1, 2, 16):
        ring_config = metal.CircularBufferConfig(pages * PAGE, {cb: metal.DataFormat.Float16_b}).set_page_size(cb, PAGE)
        metal.create_circular_buffer(program, everywhere, ring_config)
    for _ in range(2):
        metal.create_semaphore(program, everywhere, 0)
    configs = (metal.ReaderDataMovementConfig(), config, metal.WriterDataMovementConfig())
    for core, lists in zip(row, cores, strict=True):
        if spoiled and not correct:
            for _ in range(chance.randrange(1, 3)):
                spoil(chance, chance.choice([calls for calls in lists if calls]))
        for calls, kernel_config in zip(lists, configs, strict=True):
            if calls:
                metal.create_kernel(program, perform(calls), core, kernel_config)
    return program


def buffers(seed: int, device: ttnn.MeshDevice) -> tuple[metal.Buffer, metal.Buffer]:
    """Return a buffer of random tiles and one of zeros."""
    config = metal.InterleavedBufferConfig(device=device, size=SOURCE_TILES * PAGE, page_size=PAGE)
    source, target = metal.create_buffer(config), metal.create_buffer(config)
    data = np.random.default_rng(seed).integers(0, 1 << 16, SOURCE_TILES * PAGE // 2, dtype=np.uint16)
    source.write(data)
    target.write(np.zeros(SOURCE_TILES * PAGE, np.uint8))
    return source, target


def outcome(seed: int, device: ttnn.MeshDevice, *, correct: bool = False) -> tuple[str, str]:
    """Run a seed's program; return result hash and report.

    On a fresh part of a device.

    Raises:
        Exception: anything but an error that the documentation names.
    """
    source, target = buffers(seed, device)
    try:
        report = metal.run_program(device, build(seed, device, source, target, correct=correct))
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
