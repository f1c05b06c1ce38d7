"""Official kernels that gather and add shards, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.official_rows import (
    Row,
    accessor,
    addresses,
    cb,
    ends,
    kernel,
    needs_wheel,
    on_chips,
    one,
    parts,
    row_of,
    semaphores,
    tensor,
)
from testkit.official_shards import at, block, coordinates, directions, grid, kernel_on, route, sharded, shared_cb

pytestmark = needs_wheel
READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()
WORKER = ttnn.CoreCoord(0, 0)
TILE, HELD, HEADER = 2048, 6, 96
"""Tile bytes, tiles of a chip, bytes of a packet header."""
ROW = "experimental/ccl"


@pytest.fixture
def row() -> Iterator[Row]:
    # All chips of a ring have the same constants, so a kernel is compiled once.
    with row_of(4, wraps=True, system="galaxy_torus") as row:
        yield row


@pytest.fixture
def unwatched() -> Iterator[Row]:
    """Open a ring without the watcher.

    It refuses these kernels: they read or send pages that are popped, or push pages that are not reserved.
    """
    with ttnn.manage_config("watcher", False), row_of(4, wraps=True, system="galaxy_torus") as row:
        yield row


def run(
    row: Row, tensors: list[ttnn.Tensor], output: ttnn.Tensor, program: Callable[[int], Any], expected: Any
) -> None:
    """Run the programs of the chips; compare what each one has."""
    for seed in (None, 1):
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op([*tensors, output], on_chips({place: program(place) for place in range(row.chips)}))
        for part, other in zip(parts(output), expected, strict=True):
            np.testing.assert_array_equal(part, other)


def test_all_gather(row: Row) -> None:
    """Six tiles of each chip, from three cores to six."""
    cores, targets = grid(block(3, 1)), grid(block(3, 2, y=1))
    x = sharded(row, (1, 1, 32, 32 * HELD), cores, random=True)
    output = sharded(row, (1, 1, 32, 32 * HELD * row.chips), targets)
    held = semaphores(row, 2, one(WORKER))
    kept = addresses(held)
    here, folder = at(row, WORKER), f"{ROW}/all_gather_async/device/kernels/llama_shapes_sharded"

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(cbs=[cb(0, TILE, HELD, core=WORKER), cb(1, HEADER, 4, ttnn.uint32, WORKER)])
        ahead, behind = ends(row, place)
        first, offset = divmod(place * HELD, 4)
        count = -(-(offset + HELD) // 4)
        made.kernels = [
            kernel(
                f"{folder}_reader.cpp",
                READER,
                [0, 0, TILE],
                [2, HELD, 0, 3, *coordinates(row, cores)],
                WORKER,
                common_runtime_args=[x.buffer_address()],
            ),
            kernel(
                f"{folder}_writer.cpp",
                WRITER,
                [0, 1, 4, 0, 2, TILE, ahead, behind, row.chips, 1, *route(ahead), *route(behind)],
                [
                    *[4, HELD, offset, count, 1, 1, *here, row.chips, *here],
                    *[*coordinates(row, targets, first, count), *directions(row, made, place, WORKER)],
                ],
                WORKER,
                common_runtime_args=[output.buffer_address(), *kept],
            ),
        ]
        return made

    run(row, [x], output, program, [np.concatenate(parts(x), -1)] * row.chips)


def test_gather_for_matmul(unwatched: Row) -> None:
    """Each chip's tiles reach a core of their own, which spreads them."""
    row = unwatched
    cores, receivers = grid(block(3, 1)), grid(block(2, 2, y=1))
    x = sharded(row, (1, 1, 32, 32 * HELD), cores, random=True)
    middle = sharded(row, (1, 1, 32, 32 * HELD * row.chips), receivers)
    output = sharded(row, (1, 1, 32, 32 * HELD * row.chips * 4), receivers)
    held = semaphores(row, 1, receivers)
    kept = addresses(held)
    folder = f"{ROW}/llama_all_gather_matmul_async/device/kernels/worker"
    places = [ttnn.CoreCoord(index % 2, 1 + index // 2) for index in range(row.chips)]
    corners = [row.mesh.worker_core_from_logical_core(core) for core in (places[-1], places[0])]
    box = [number for corner in corners for number in (corner.x, corner.y)]

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(
            cbs=[cb(0, TILE, HELD, core=WORKER), cb(1, HEADER, 4, ttnn.uint32, WORKER)],
            semaphores=[ttnn.SemaphoreDescriptor(id=index, core_ranges=receivers) for index in range(row.chips)],
        )
        shard = ttnn.cb_descriptor_from_sharded_tensor(2, middle)
        made.cbs.append(shard)
        ahead, behind = ends(row, place)
        target = coordinates(row, receivers, place, 1)
        made.kernels = [
            kernel(
                f"{folder}_reader.cpp",
                READER,
                [0, 0, TILE],
                [
                    *[x.buffer_address(), middle.buffer_address(), 2, HELD, 0, 0, 3, place, *kept, *target],
                    *[*coordinates(row, cores), 1, *target],
                ],
                WORKER,
            ),
            kernel(
                f"{folder}_writer.cpp",
                WRITER,
                [0, 1, 4, 0, 2, TILE, ahead, behind, 0],
                [
                    *[middle.buffer_address(), *kept, HELD, HELD, 0, 1, *target, *target],
                    *directions(row, made, place, WORKER),
                ],
                WORKER,
            ),
        ]
        made.kernels += [
            kernel(
                f"{folder}_receiver.cpp",
                WRITER,
                [1, 2, TILE, row.chips, *range(row.chips)],
                [
                    *[*kept, index, place, output.buffer_address(), *box, 4, HELD, index],
                    *[(index - 1) % row.chips, (index + 1) % row.chips],
                ],
                core,
            )
            for index, core in enumerate(places)
        ]
        return made

    run(row, [x, middle], output, program, [np.concatenate(parts(x) * 4, -1)] * row.chips)


@pytest.mark.parametrize("heads", [False, True], ids=["all_reduce_async", "all_reduce_create_qkv_heads"])
def test_all_reduce(heads: bool) -> None:
    """Three cores get two tiles of each chip; one operator adds them.

    It does so without the watcher, as it pushes pages that are not reserved.
    """
    with ttnn.manage_config("watcher", heads), row_of(2, wraps=False) as row:
        cores, reducers = grid(block(3, 1)), grid(block(3, 1, y=2))
        everywhere = grid(block(1, 1), block(3, 1, y=2))
        x = sharded(row, (1, 1, 32, 32 * HELD), cores, random=True)
        middle = sharded(row, (1, 1, 32, 32 * 4 * 2 * row.chips), everywhere)
        output = sharded(row, (1, 1, 32, 32 * HELD), reducers)
        held = semaphores(row, 1, everywhere)
        kept, here, targets = addresses(held), at(row, WORKER), coordinates(row, reducers)
        folder = f"{ROW}/all_reduce_async/device/kernels"
        of_heads = "experimental/transformer/all_reduce_create_qkv_heads/device/kernels"
        box = [targets[2], targets[5], targets[0], targets[3]]

        def program(place: int) -> ttnn.ProgramDescriptor:
            made = ttnn.ProgramDescriptor(
                cbs=[
                    cb(0, TILE, HELD, core=WORKER),
                    cb(1, HEADER, 4, ttnn.uint32, WORKER),
                    ttnn.cb_descriptor_from_sharded_tensor(2, middle),
                    ttnn.cb_descriptor_from_sharded_tensor(3, output),
                ],
                semaphores=[ttnn.SemaphoreDescriptor(id=0, core_ranges=everywhere)],
            )
            ahead, behind = ends(row, place)
            words = [2, *kept] if heads else [2]
            ranges = [1, 0, *targets, *box] if heads else [0, 0, *targets]
            routes = [] if heads else [*route(ahead), *route(behind)]
            made.kernels = [
                kernel(
                    f"{folder}/dataflow/worker_reader.cpp",
                    READER,
                    [0, 0, TILE],
                    [2, HELD, 0, 3, *coordinates(row, cores)],
                    WORKER,
                    common_runtime_args=[x.buffer_address()],
                ),
                kernel(
                    f"{of_heads if heads else folder}/dataflow/worker_writer.cpp",
                    WRITER,
                    [place, 1, 4, 0, 2, TILE, ahead, behind, *routes],
                    [
                        *[*words, 2, HELD, 0, 3, 3, *here, row.chips, 0],
                        *[*ranges, *directions(row, made, place, WORKER)],
                    ],
                    WORKER,
                    common_runtime_args=kept,
                ),
            ]
            if not heads:
                adds = ttnn.corerange_to_cores(reducers)
                made.kernels += [
                    kernel_on(
                        f"{folder}/dataflow/reduction_receiver.cpp",
                        READER,
                        [2, 2 * row.chips],
                        {core: [1, 0, row.chips] for core in adds},
                        common_runtime_args=kept,
                    ),
                    kernel_on(
                        f"{folder}/compute/reduction.cpp",
                        ttnn.ComputeConfigDescriptor(),
                        [2, 3],
                        {core: [1, row.chips, 2] for core in adds},
                    ),
                ]
            return made

        tiles = [np.split(part, 3, -1) for part in parts(x)]
        if heads:
            gathered = [np.concatenate([tiles[chip][core] for chip in range(2)], -1) for core in range(3)]
            unused = np.zeros_like(gathered[0])
            run(row, [x], middle, program, [np.concatenate([unused, *gathered], -1)] * row.chips)
        else:
            run(row, [x, middle], output, program, parts(ttnn.all_reduce(x, topology=ttnn.Topology.Linear)))


def test_gather_and_concatenate_heads(unwatched: Row) -> None:
    """Eight entries of a batch per chip, each with eight heads.

    One chip puts them together; constants of those kernels are its own.
    """
    row, joins = unwatched, 2
    batch, size, entry = 8 * row.chips, 128, 2048
    cores = grid(block(3, 2, x=1), block(2, 1, x=1, y=2))
    gathering = grid(block(8, 4, y=4))
    boxes = [block(2, 1, y=3), block(6, 1, x=2, y=3), block(4, 2, x=4)]
    joining = grid(*boxes)
    x = sharded(row, (1, 1, 64, size), cores, ttnn.ROW_MAJOR_LAYOUT, rows=True, random=True)
    middle = sharded(row, (1, 1, 8 * batch, size), gathering, ttnn.ROW_MAJOR_LAYOUT, rows=True)
    output = sharded(row, (1, 1, batch, 8 * size), joining)
    held = semaphores(row, 1, one(WORKER))
    kept, here, folder = addresses(held), at(row, WORKER), f"{ROW}/all_gather_concat_heads_fused/device/kernels"
    corners = [[row.mesh.worker_core_from_logical_core(corner) for corner in (box.end, box.start)] for box in boxes]
    firsts, lasts = zip(*corners, strict=True)
    ranges = [number for side in (firsts, lasts) for number in (*(c.x for c in side), *(c.y for c in side))]

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(
            cbs=[
                cb(0, entry, 8, core=WORKER),
                cb(1, HEADER, 4, ttnn.uint32, WORKER),
                shared_cb(2, TILE, 2, joining),
                ttnn.cb_descriptor_from_sharded_tensor(3, output),
            ],
            semaphores=[
                ttnn.SemaphoreDescriptor(id=index, core_ranges=grid(*boxes, block(1, 1))) for index in range(2)
            ],
        )
        ahead, behind = ends(row, place)
        first = 8 * place
        places = ttnn.corerange_to_cores(joining, None, True)
        everyone, without = coordinates(row, gathering), {core: [] for core in places}
        made.kernels = [
            kernel(
                f"{folder}/llama_all_gather_concat_reader.cpp",
                READER,
                [0, 0, entry],
                [x.buffer_address(), *kept, 1, 8, 0, 8, *coordinates(row, cores)],
                WORKER,
            ),
            kernel(
                f"{folder}/llama_all_gather_concat_writer.cpp",
                WRITER,
                [0, 1, 4, 0, 2, entry, ahead, behind, 0, 3, row.chips],
                [
                    *[middle.buffer_address(), *kept, 1, 8, 0, 8, 1, 1, *here, 0, 1],
                    *[*coordinates(row, gathering, first, 8), *ranges, *directions(row, made, place, WORKER)],
                ],
                WORKER,
            ),
        ]
        if place != joins:
            return made
        made.kernels += [
            kernel_on(
                f"{folder}/llama_concat_reader.cpp",
                READER,
                [2, 1, batch, 2, 0, first, first + 8, batch, first, 2 * size, size],
                {
                    core: [middle.buffer_address(), x.buffer_address(), 0, 1, *everyone, index % 2, index // 2]
                    for index, core in enumerate(places)
                },
            ),
            kernel_on(f"{folder}/tilize_compute.cpp", ttnn.ComputeConfigDescriptor(), [1, 2, 2, 3], without),
            kernel_on(f"{folder}/tilize_writer.cpp", WRITER, [3], without),
        ]
        return made

    values = np.concatenate(parts(x), -2).reshape(1, 1, batch, 8 * size)
    expected = [np.zeros_like(values)] * row.chips
    expected[joins] = values
    run(row, [x, middle], output, program, expected)


def test_gather_rows(row: Row) -> None:
    """Two pages of a row go in a packet."""
    page, pages = 320, 64
    x = tensor(row, (1, 1, pages, page // 2), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
    shape = ttnn.Shape([1, 1, pages * row.chips, page // 2])
    output = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, row.mesh)
    held = semaphores(row, 2, one(WORKER))
    kept, here, folder = addresses(held), at(row, WORKER), f"{ROW}/all_gather_async/device/kernels/broadcast_rm"

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(cbs=[cb(0, 2 * page, 3, core=WORKER)])
        ahead, behind = ends(row, place)
        neighbours = [row.node(other) for step in (1, -1) if (other := row.neighbour(place, step)) is not None]
        made.kernels = [
            kernel(
                f"{folder}_reader.cpp",
                READER,
                [0, page, 2 * page, *accessor(x)],
                [x.buffer_address(), 0, pages],
                WORKER,
            ),
            kernel(
                f"{folder}_writer.cpp",
                WRITER,
                [0, 2 * page, page, 2 * page, ahead, behind, 1, ahead, 1, behind, *accessor(output)],
                [
                    *[output.buffer_address(), *kept, place * pages, (place + 1) * pages, 1, 1, *here, row.chips],
                    *[*here, len(neighbours)],
                ],
                WORKER,
            ),
        ]
        words = ttnn.setup_routing_plane_connection(row.node(place), neighbours, [0], made, 1, WORKER)
        made.kernels[1].runtime_args[WORKER.x][WORKER.y] += words
        return made

    run(row, [x], output, program, [np.concatenate(parts(x), -2)] * row.chips)


def test_gather_statistics(unwatched: Row) -> None:
    """A tile of each chip is gathered; then both cores read weights."""
    row = unwatched
    width = 3
    cores = grid(block(2, 1))
    second = ttnn.CoreCoord(1, 0)
    x = tensor(row, (1, 1, 32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    weights = tensor(row, (1, 1, 2 * width, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
    output = sharded(row, (1, 1, 32, 32 * row.chips), one(WORKER))
    gamma = sharded(row, (1, 1, 32, 32 * 2 * width), cores)
    held = semaphores(row, 1, cores)
    kept, here = addresses(held), at(row, WORKER)
    corners = coordinates(row, cores)
    box = [corners[1], corners[3], corners[0], corners[2]]
    one_bits = 0x3F800000

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(
            cbs=[
                *[shared_cb(index, TILE, 1, cores) for index in (0, 1, 2, 3, 4, 5, 6, 7)],
                shared_cb(8, HEADER, 4, cores, ttnn.uint32),
                ttnn.cb_descriptor_from_sharded_tensor(9, gamma),
            ],
            semaphores=[ttnn.SemaphoreDescriptor(id=0, core_ranges=cores)],
        )
        ahead, behind = ends(row, place)
        target = coordinates(row, one(WORKER))
        gathers = [0, *kept, row.chips, output.buffer_address(), place, 1, *here, *target]
        gathers += directions(row, made, place, WORKER)
        waits = [1, *kept, row.chips, output.buffer_address()]
        made.kernels = [
            kernel(
                "point_to_point/device/kernels/dataflow/reader_unary_interleaved_start_id_gen.cpp",
                READER,
                accessor(x),
                [x.buffer_address(), 1, 0, TILE],
                WORKER,
            ),
            kernel_on(
                f"{ROW}/rms_allgather/device/kernels/dataflow/rms_writer.cpp",
                WRITER,
                [
                    *[1, 1, 2, 0, 8, 1, TILE, ahead, behind, 1, 1, width, 3, 4, 5, 6, 9, 0, 0, 0, 0, 0, 7, 2, 2],
                    *accessor(weights),
                ],
                {
                    core: [
                        *[6 + len(words), *box, one_bits, *words],
                        *[one_bits, one_bits, weights.buffer_address(), width * index],
                    ]
                    for index, (core, words) in enumerate(((WORKER, gathers), (second, waits)))
                },
                defines=[("SKIP_WRITE_BACK", "1")],
            ),
        ]
        return made

    run(row, [x, weights, gamma], output, program, [np.concatenate(parts(x), -1)] * row.chips)
    for part, other in zip(parts(gamma), parts(weights), strict=True):
        np.testing.assert_array_equal(part[0, 0, 0], other.reshape(-1))
