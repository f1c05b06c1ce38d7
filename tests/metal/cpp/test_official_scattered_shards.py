"""Official kernels that add slices of shards, unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

import ttnn
from testkit.official_rows import Row, addresses, needs_wheel, on_chips, parts, row_of, semaphores
from testkit.official_shards import block, coordinates, directions, grid, kernel_on, sharded, shared_cb

pytestmark = needs_wheel
READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()
CHIPS, HEADER = 2, 96
"""Chips, bytes of a packet header."""
SENDER = ttnn.CoreCoord(0, 0)


@contextmanager
def unwatched() -> Iterator[Row]:
    """Open two chips without the watcher.

    The kernels push pages that are not reserved, which it refuses.
    """
    with ttnn.manage_config("watcher", False), row_of(CHIPS, wraps=False) as row:
        yield row


def braces(values: Sequence[int | Sequence[int]]) -> str:
    """Return the text of an array."""
    return "{" + ", ".join(str(value) if isinstance(value, int) else braces(value) for value in values) + "}"


def pairs(row: Row, cores: ttnn.CoreRangeSet) -> str:
    """Return the text of an array of virtual coordinates."""
    numbers = coordinates(row, cores)
    half = len(numbers) // 2
    return braces(list(zip(numbers[:half], numbers[half:], strict=True)))


def total(x: ttnn.Tensor) -> np.ndarray:
    """Return the sum of the chips' values, with the operator's bits."""
    tiles = ttnn.to_layout(ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG), ttnn.TILE_LAYOUT)
    return parts(ttnn.all_reduce(tiles, topology=ttnn.Topology.Linear))[0]


def workers_and_box(row: Row, cores: ttnn.CoreRangeSet) -> tuple[list[ttnn.CoreCoord], list[int]]:
    """Return the cores that add, and the virtual corners."""
    numbers = coordinates(row, cores)
    half = len(numbers) // 2
    return ttnn.corerange_to_cores(cores, None, True), [numbers[0], numbers[half], numbers[half - 1], numbers[-1]]


def test_reduce_scatter() -> None:
    """Eight tiles of a slice: four packets, a core for each."""
    tile, together, cores, adding = 2048, 2, grid(block(4, 2)), grid(block(4, 1, y=1))
    held = [SENDER, *ttnn.corerange_to_cores(adding)]
    everywhere = grid(*(ttnn.CoreRange(core, core) for core in held))
    folder = "experimental/ccl/llama_reduce_scatter/device/kernels"
    with unwatched() as row:
        x = sharded(row, (1, 1, 32, 32 * 8 * CHIPS), cores, random=True)
        output = sharded(row, (1, 1, 32, 32 * 8), adding)
        kept = semaphores(row, 1, everywhere)
        [arrived] = addresses(kept)
        workers, box = workers_and_box(row, adding)

        def program(place: int) -> ttnn.ProgramDescriptor:
            made = ttnn.ProgramDescriptor(
                cbs=[
                    ttnn.cb_descriptor_from_sharded_tensor(0, x),
                    shared_cb(1, tile, 8, everywhere),
                    shared_cb(2, HEADER, 2, everywhere, ttnn.uint32),
                    shared_cb(3, tile, CHIPS * together, everywhere),
                    shared_cb(4, tile, together, everywhere),
                    ttnn.cb_descriptor_from_sharded_tensor(5, output),
                ],
                semaphores=[ttnn.SemaphoreDescriptor(id=0, core_ranges=everywhere)],
            )
            defines = [
                ("DEVICE_ORDER", braces([1 - place])),
                ("INPUT_CORE_XY", pairs(row, cores)),
                ("OUTPUT_CORE_XY", pairs(row, adding)),
                ("SCHEDULE", braces([[core, 0, 2] for core in range(4)])),
                ("PACKET_WORKER_CORES", pairs(row, adding)),
            ]
            walk = [place, 2, 2, together, 4, CHIPS, tile, 4]
            reads = {SENDER: [arrived, 0, 1, 0, 0, 0, 0, 4, 8]}
            writes = {SENDER: [arrived, 0, 1, 0, 0, 0, 4, 8, *directions(row, made, place, SENDER)]}
            for packet, core in enumerate(workers):
                reads[core] = [arrived, 0, 0, 1, 8 * place + together * packet, 0, 0, 0, 0]
                writes[core] = [arrived, 0, 0, 1, together * packet, 0, 0, 0]
            made.kernels = [
                kernel_on(
                    f"{folder}/dataflow/reader_llama_reduce_scatter.cpp",
                    READER,
                    [0, 1, 2, 3, 4, 5, *walk, *box, 1, 4, 0],
                    reads,
                    defines=defines,
                ),
                kernel_on(
                    f"{folder}/dataflow/writer_llama_reduce_scatter.cpp",
                    WRITER,
                    [1, 2, 3, 4, 5, *walk, *box[:2], 4, 0],
                    writes,
                    defines=defines,
                ),
                kernel_on(
                    f"{folder}/compute/reduction.cpp",
                    ttnn.ComputeConfigDescriptor(),
                    [3, 4, CHIPS, 2, together],
                    {core: [] for core in workers},
                ),
            ]
            return made

        expected = np.split(total(x), CHIPS, -1)
        for seed in (None, 1):
            with ttnn.manage_config("fabric_shuffle", seed):
                ttnn.generic_op([x, output], on_chips({place: program(place) for place in range(CHIPS)}))
            for part, other in zip(parts(output), expected, strict=True):
                np.testing.assert_array_equal(part, other)


def test_reduce_scatter_into_heads() -> None:
    """Eight heads of queries, one of keys, one of values."""
    page, batch, pages, together, size = 1024, 8, 20, 4, 128
    cores, adding = grid(block(5, 4)), grid(block(5, 1, y=1))
    everywhere = grid(block(1, 1), block(5, 1, y=1))
    folder = "experimental/ccl/llama_reduce_scatter_create_heads/device/kernels"
    with unwatched() as row:
        x = sharded(row, (1, 1, pages * CHIPS * batch, 64), cores, ttnn.ROW_MAJOR_LAYOUT, rows=True, random=True)
        targets = [grid(block(8, 1, y=y)) for y in (5, 6, 7)]
        outputs = [
            sharded(row, (1, 1, rows, size), target, ttnn.ROW_MAJOR_LAYOUT, rows=True)
            for rows, target in zip((8 * batch, batch, batch), targets, strict=True)
        ]
        kept = semaphores(row, 1, everywhere)
        [arrived] = addresses(kept)
        workers, box = workers_and_box(row, adding)
        places = [output.buffer_address() for output in outputs]

        def paged(index: int, count: int) -> ttnn.CBDescriptor:
            tile = ttnn.TileDescriptor(16, 32)
            form = ttnn.CBFormatDescriptor(index, ttnn.bfloat16, page, tile)
            return ttnn.CBDescriptor(total_size=page * count, core_ranges=everywhere, format_descriptors=[form])

        def program(place: int) -> ttnn.ProgramDescriptor:
            made = ttnn.ProgramDescriptor(
                cbs=[
                    ttnn.cb_descriptor_from_sharded_tensor(0, x, core_ranges=everywhere),
                    paged(1, pages),
                    shared_cb(2, HEADER, 16, everywhere, ttnn.uint32),
                    paged(3, CHIPS * together),
                    paged(4, together),
                ],
                semaphores=[ttnn.SemaphoreDescriptor(id=0, core_ranges=everywhere)],
            )
            defines = [
                ("DEVICE_ORDER", braces([1 - place])),
                ("INPUT_CORE_XY", pairs(row, cores)),
                *((f"{name}_OUTPUT_CORE_XY", pairs(row, target)) for name, target in zip("QKV", targets, strict=True)),
                ("SCHEDULE", braces([[core, 0, 1] for core in range(pages)])),
                ("PACKET_WORKER_CORES", pairs(row, adding)),
            ]
            walk = [place, 2, 2, together, pages, CHIPS, page, batch]
            reads = {SENDER: [arrived, 0, 1, 0, 0, 0, 0, 0, pages, pages, *places]}
            writes = {SENDER: [arrived, 0, 1, 0, 0, 0, 5, pages, *places, *directions(row, made, place, SENDER)]}
            for packet, core in enumerate(workers):
                first = together * packet
                reads[core] = [arrived, 0, 0, 1, first, pages * place + first, 0, 0, 0, 0, *places]
                writes[core] = [arrived, 0, 0, 1, first, 0, 0, 0, *places]
            made.kernels = [
                kernel_on(
                    f"{folder}/dataflow/reader_llama_reduce_scatter.cpp",
                    READER,
                    [0, 1, 2, 3, 4, *walk, *box, 1, pages],
                    reads,
                    defines=defines,
                ),
                kernel_on(
                    f"{folder}/dataflow/writer_llama_reduce_scatter.cpp",
                    WRITER,
                    [1, 2, 3, 4, *walk, *box[:2], 5, 0],
                    writes,
                    defines=defines,
                ),
                kernel_on(
                    f"{folder}/compute/reduction.cpp",
                    ttnn.ComputeConfigDescriptor(),
                    [3, 4, CHIPS, 2, together],
                    {core: [] for core in workers},
                ),
            ]
            return made

        # Pages of a chip: halves of heads, with a row for each entry of the batch.
        summed = total(x).reshape(pages // 2, 2, CHIPS, batch, 64).transpose(2, 3, 0, 1, 4).reshape(CHIPS, batch, -1)
        ttnn.generic_op([x, *outputs], on_chips({place: program(place) for place in range(CHIPS)}))
        for place, wanted in enumerate(summed):
            split = np.split(wanted, [8 * size, 9 * size], -1)
            for output, other in zip(outputs, split, strict=True):
                np.testing.assert_array_equal(parts(output)[place].reshape(batch, -1), other)
