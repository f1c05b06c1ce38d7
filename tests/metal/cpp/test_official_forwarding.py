"""Official kernels that pass slices on along a row, unchanged."""

from __future__ import annotations

import numpy as np

import ttnn
from testkit.official_rows import (
    CORE,
    accessor,
    addresses,
    cb,
    kernel,
    needs_wheel,
    on_chips,
    one,
    parts,
    row_of,
    semaphores,
    tensor,
)
from testkit.official_shards import at, block, directions, grid, kernel_on, route, shared_cb

pytestmark = needs_wheel
READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()
FOLDER = "experimental/ccl"
TILE = 2048


def test_all_gather() -> None:
    """Two heads of three tiles by two, two to a packet."""
    with row_of(3, wraps=False) as row:
        heads, rows, columns, together = 2, 2, 3, 2
        x = tensor(row, (1, heads, 32 * rows, 32 * columns), ttnn.bfloat16, ttnn.TILE_LAYOUT)
        shape = ttnn.Shape([1, heads, 32 * rows, 32 * columns * row.chips])
        output = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, row.mesh)
        sides = [ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 1)]
        held = semaphores(row, 3, grid(block(1, 2)))
        common = [x.buffer_address(), output.buffer_address(), *addresses(held)]

        def program(place: int) -> ttnn.ProgramDescriptor:
            # The kernels name a semaphore of an operator that they do not signal.
            made = ttnn.ProgramDescriptor(semaphores=[ttnn.SemaphoreDescriptor(id=0, core_ranges=grid(block(1, 2)))])
            ahead, behind = row.chips - 1 - place, place
            sizes = [heads, columns, rows, heads, columns * row.chips, rows, heads]
            fixed = [row.chips, place, 0, together, TILE, ahead, behind, 1, 3, *sizes, 0, 0]
            routes = [0, 1, *route(ahead), 0, 1, *route(behind)]
            walk = [0, rows * columns, 0, 0, 1]
            for side, core in enumerate(sides):
                made.cbs.append(cb(0, TILE, 2 * together, core=core))
                own, opposite = at(row, core), at(row, sides[1 - side])
                made.kernels += [
                    kernel(
                        f"{FOLDER}/all_gather_async/device/kernels/minimal_default_reader.cpp",
                        READER,
                        [*fixed, *accessor(x), *accessor(output)],
                        [side, *walk],
                        core,
                        common_runtime_args=common,
                    ),
                    kernel(
                        f"{FOLDER}/all_gather_async/device/kernels/minimal_default_writer.cpp",
                        WRITER,
                        [*fixed, row.chips - 1, *routes, *accessor(output)],
                        [*own, 1, *opposite, side, *walk, *directions(row, made, place, core, (1, -1)[side])],
                        core,
                        common_runtime_args=common,
                    ),
                ]
            return made

        expected = np.concatenate(parts(x), -1)
        for seed in (None, 1):
            with ttnn.manage_config("fabric_shuffle", seed):
                ttnn.generic_op([x, output], on_chips({place: program(place) for place in range(row.chips)}))
            for part in parts(output):
                np.testing.assert_array_equal(part, expected)


def test_tails_of_neighbours() -> None:
    """Two rows of tiles of each head go on around a ring."""
    with row_of(4, wraps=True, system="galaxy_torus") as row:
        heads, rows, columns = 2, 4, 3
        x = tensor(row, (1, heads, 32 * rows, 32 * columns), ttnn.bfloat16, ttnn.TILE_LAYOUT)
        shape = ttnn.Shape([1, heads, 64, 32 * columns])
        output = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, row.mesh)
        held = semaphores(row, 1, one(CORE))
        [arrived] = addresses(held)
        own, folder = at(row, CORE), f"{FOLDER}/ring_attention_all_gather_async/device/kernels"

        def program(place: int) -> ttnn.ProgramDescriptor:
            made = ttnn.ProgramDescriptor(
                cbs=[cb(0, TILE, 2 * columns), cb(1, 96, 1, ttnn.uint32)],
                semaphores=[ttnn.SemaphoreDescriptor(id=index, core_ranges=one(CORE)) for index in range(3)],
            )
            walk = [rows * columns, heads, 0, 2 * columns, 0, 3 * columns, columns, columns]
            signal = [1, 0, 0, *own, 1, *own, 1, 1]
            made.kernels = [
                kernel(
                    f"{folder}/ring_attention_neighbor_halo_reader.cpp",
                    READER,
                    [0, row.chips, 0, 2, TILE, 1, 2, 1, 1, 1, 0, TILE, *accessor(x), 0],
                    [arrived, 0, *walk, x.buffer_address(), *signal],
                ),
                kernel(
                    f"{folder}/ring_attention_neighbor_halo_writer.cpp",
                    WRITER,
                    [1, 0, 2, TILE, 1, 0, 1, 0, 1, 0, TILE, *accessor(output), 0],
                    [
                        *[*own, arrived, 0, 2 * columns, heads, 0, 2 * columns, 0, columns, columns],
                        *[output.buffer_address(), *directions(row, made, place, CORE, 1), 0, 0, 2, 0, 0],
                    ],
                ),
            ]
            return made

        tails = [part[:, :, [*range(96, 128), *range(32, 64)]] for part in parts(x)]
        for seed in (None, 1):
            with ttnn.manage_config("fabric_shuffle", seed):
                ttnn.generic_op([x, output], on_chips({place: program(place) for place in range(row.chips)}))
            for place, part in enumerate(parts(output)):
                np.testing.assert_array_equal(part, tails[place - 1])


def test_rows_of_tokens_for_senders() -> None:
    """Two cores turn tiles into rows, and tell a third."""
    with row_of(2, wraps=False) as row:
        tile_rows, columns, token, wide = 3, 4, 256, 2
        x = tensor(row, (1, 1, 32 * tile_rows, 32 * columns), ttnn.bfloat16, ttnn.TILE_LAYOUT)
        output = ttnn.allocate_tensor_on_device(x.shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, row.mesh)
        pool, counts = [ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0)], ttnn.CoreCoord(2, 0)
        held = semaphores(row, 1, one(counts))
        [landed] = addresses(held)
        walk = [0, 1, tile_rows, len(pool), columns, wide, TILE, token, 32, 1, landed, 12, *at(row, counts)]
        folder = "experimental/deepseek_prefill/dispatch_fabric2d/device/kernels"

        def program() -> ttnn.ProgramDescriptor:
            made = ttnn.ProgramDescriptor(
                cbs=[shared_cb(0, TILE, 2 * wide, grid(block(2, 1))), shared_cb(1, TILE, 64, grid(block(2, 1)))]
            )
            made.kernels = [
                kernel_on(
                    f"{folder}/dataflow/untilize_reader_dispatch_fabric2d.cpp",
                    READER,
                    [*walk, *accessor(x)],
                    {core: [index, x.buffer_address()] for index, core in enumerate(pool)},
                ),
                kernel_on(
                    f"{folder}/compute/untilize_dispatch_fabric2d.cpp",
                    ttnn.ComputeConfigDescriptor(),
                    walk,
                    {core: [index] for index, core in enumerate(pool)},
                ),
                kernel_on(
                    f"{folder}/dataflow/untilize_writer_dispatch_fabric2d.cpp",
                    WRITER,
                    [*walk, *accessor(output)],
                    {core: [index, output.buffer_address()] for index, core in enumerate(pool)},
                ),
            ]
            return made

        ttnn.generic_op([x, output], on_chips({place: program() for place in range(row.chips)}))
        for part, other in zip(parts(output), parts(x), strict=True):
            np.testing.assert_array_equal(part, other)
