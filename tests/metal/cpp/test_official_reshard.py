"""Official kernels that move a slice's rows to neighbours."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.official_gather import READER, WRITER
from testkit.official_rows import (
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
WORKERS = ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 1)
CORES = ttnn.CoreRangeSet([ttnn.CoreRange(*WORKERS)])
HELD, STICKS, WIDTH = 6, 3, 64


def program_of(
    row: Row, x: ttnn.Tensor, output: ttnn.Tensor, kept: list[int], place: int, offset: int
) -> ttnn.ProgramDescriptor:
    """Return the program of a chip.

    Args:
        row: The chips.
        x: Rows of all chips.
        output: Rows of the slice, from all chips.
        kept: Addresses of the semaphores: end, start.
        place: The chip.
        offset: First row of the slice.
    """
    chips, stick, count = row.chips, 2 * WIDTH, output.shape[0]
    held, wanted = place * HELD, offset + place * count
    first, last = max(wanted, held) - held, min(wanted + count, held + HELD) - 1 - held
    ahead = held + HELD - wanted - count if place < chips - 1 else 0
    behind = wanted - held if place else 0
    received = max(held - wanted, 0)
    padded = max(wanted + count - held - HELD, 0) if place == chips - 1 else 0
    virtual = [row.mesh.worker_core_from_logical_core(core) for core in WORKERS]
    done, barrier = kept
    program = ttnn.ProgramDescriptor()
    folder = "experimental/ccl/slice_reshard_async/device/kernels/minimal_default"
    for side, step in enumerate((1, -1)):
        core, own, opposite, forward = WORKERS[side], virtual[side], virtual[1 - side], side == 0
        other = row.neighbour(place, step)
        starts = row.neighbour(place, -step) is None
        program.cbs.append(cb(0, stick, 3, core=core))
        words = [0, 0]
        if other is not None:
            connection = ttnn.setup_fabric_connection(row.node(place), row.node(other), 0, program, core)
            words = [1, *connection, 0] if forward else [0, 1, *connection]
        sent = max(ahead if forward else behind, 0)
        program.kernels += [
            kernel(
                f"{folder}_reader.cpp",
                READER,
                [starts, other is None, 0, forward, stick, *accessor(x)],
                [x.buffer_address(), 0, STICKS, HELD, sent, padded, first, last, STICKS, done],
                core,
            ),
            kernel(
                f"{folder}_writer.cpp",
                WRITER,
                [starts, other is None, 0, forward, *accessor(output)],
                [
                    *[x.buffer_address(), output.buffer_address(), stick, 0, STICKS, count, sent, first, last],
                    *[received, padded, STICKS, own.x, own.y, done, 1, opposite.x, opposite.y, barrier, *words],
                ],
                core,
            ),
        ]
    return program


@pytest.mark.parametrize(("offset", "count"), [(2, 5), (0, 5), (4, 5), (1, 6)])
def test_slice_reshard(offset: int, count: int) -> None:
    with row_of(4, wraps=False) as row:
        x = tensor(row, (HELD, STICKS, WIDTH), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
        shape = ttnn.Shape([count, STICKS, WIDTH])
        output = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, row.mesh)
        kept = semaphores(row, 2, CORES)
        rows = np.concatenate([*parts(x), np.zeros((HELD, STICKS, WIDTH), parts(x)[0].dtype)])
        expected = rows[offset : offset + row.chips * count].reshape(row.chips, count, STICKS, WIDTH)
        for seed in (None, 1, 2):
            programs = {place: program_of(row, x, output, addresses(kept), place, offset) for place in range(row.chips)}
            with ttnn.manage_config("fabric_shuffle", seed):
                ttnn.generic_op([x, output], on_chips(programs))
            np.testing.assert_array_equal(np.stack(parts(output)), expected)
