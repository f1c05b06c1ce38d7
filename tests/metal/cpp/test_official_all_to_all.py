"""Official kernels of all_to_all_async, unchanged."""

from __future__ import annotations

import numpy as np

import ttnn
from testkit.official_gather import READER, WRITER
from testkit.official_rows import (
    CORE,
    Row,
    accessor,
    addresses,
    cb,
    kernel,
    needs_wheel,
    on_chips,
    parts,
    row_of,
    semaphores,
    tensor,
)

pytestmark = needs_wheel
PAGE, TOGETHER, SYNC, BANKS = 2048, 2, 2, 12
ROWS, WIDTH = 2, 4
FOLDER = "experimental/ccl/all_to_all_async/device/kernels/interleaved_all_to_all"


def receiver(chip: int) -> ttnn.CoreCoord:
    """Return the core that receives from a chip."""
    return ttnn.CoreCoord(1, chip)


def program_of(row: Row, tensors: list[ttnn.Tensor], done: int, place: int) -> ttnn.ProgramDescriptor:
    """Return the program of a chip.

    Tensors: input, packets of other chips, output.
    """
    x, middle, output = tensors
    chips = row.chips
    ahead, behind = chips - 1 - place, place
    # Columns of the input become those of other chips, one input below the other.
    shard = [ROWS, chips * WIDTH, 0, WIDTH, ROWS, WIDTH]
    whole = [chips * ROWS, WIDTH]
    header = ttnn.get_tt_fabric_packet_header_size_bytes()
    program = ttnn.ProgramDescriptor(cbs=[cb(0, PAGE, 2 * TOGETHER), cb(1, header, 3, ttnn.uint32)])
    to = row.mesh.worker_core_from_logical_core(receiver(place))
    words: list[int] = []
    for step in (1, -1):
        other = row.neighbour(place, step)
        nodes = row.node(place), row.node(place if other is None else other)
        words += [0] if other is None else [1, *ttnn.setup_fabric_connection(*nodes, 0, program, CORE)]
    program.kernels = [
        kernel(
            f"{FOLDER}_reader.cpp",
            READER,
            [place, chips, 0, TOGETHER, PAGE, ahead, behind, *accessor(x)],
            [x.buffer_address(), *shard, 0, 0],
        ),
        kernel(
            f"{FOLDER}_writer.cpp",
            WRITER,
            [
                *[place, chips, 1, 3, 0, TOGETHER, PAGE, ahead, behind, 0, SYNC, TOGETHER, BANKS],
                *[*accessor(middle), *accessor(output)],
            ],
            [
                *[middle.buffer_address(), output.buffer_address(), done, *whole, place * ROWS, 0, ROWS, WIDTH],
                *[0, 0, to.x, to.y, *words],
            ],
        ),
    ]
    for sender in range(chips):
        core = receiver(sender)
        program.cbs.append(cb(0, PAGE, 2 * TOGETHER, core=core))
        common = [place, chips, TOGETHER, SYNC, 0, 0, PAGE, 0]
        where = [*shard, sender * ROWS, 0, *whole, TOGETHER, sender]
        program.kernels += [
            kernel(
                f"{FOLDER}_receiver_reader.cpp",
                READER,
                [*common, TOGETHER, BANKS, *accessor(x), *accessor(middle)],
                [middle.buffer_address(), x.buffer_address(), done, *where],
                core,
            ),
            kernel(
                f"{FOLDER}_receiver_writer.cpp",
                WRITER,
                [*common, *accessor(output)],
                [output.buffer_address(), *where],
                core,
            ),
        ]
    return program


def test_all_to_all() -> None:
    with row_of(4, wraps=False) as row:
        x = tensor(row, (1, 1, 32 * ROWS, 32 * WIDTH * row.chips), ttnn.bfloat16, ttnn.TILE_LAYOUT)
        packets = (row.chips - 1) * ROWS * WIDTH // TOGETHER
        pages = (packets // BANKS + 1) * TOGETHER * BANKS
        middle, output = (
            ttnn.allocate_tensor_on_device(ttnn.Shape(shape), ttnn.bfloat16, ttnn.TILE_LAYOUT, row.mesh)
            for shape in ([1, 1, 32, 32 * pages], [1, 1, 32 * ROWS * row.chips, 32 * WIDTH])
        )
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(receiver(0), receiver(row.chips - 1))])
        kept = semaphores(row, 1, cores)
        inputs = np.concatenate(parts(x), axis=2)
        for seed in (None, 1, 2):
            programs = {
                place: program_of(row, [x, middle, output], addresses(kept)[0], place) for place in range(row.chips)
            }
            with ttnn.manage_config("fabric_shuffle", seed):
                ttnn.generic_op([x, middle, output], on_chips(programs))
            for chip, part in enumerate(parts(output)):
                first = 32 * WIDTH * chip
                np.testing.assert_array_equal(part, inputs[..., first : first + 32 * WIDTH])
