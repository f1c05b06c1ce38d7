"""Official kernels that exchange the edges of neighbours, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.official_gather import FULL, add_mux, mux_config
from testkit.official_rows import Row, accessor, addresses, kernel, needs_wheel, on_chips, parts, row_of, semaphores
from testkit.official_shards import at, block, directions, grid, kernel_on, route, shared_cb
from ttnn._experimental import fabric_mux

pytestmark = needs_wheel
READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()
SIDES = [ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 1)]
"""The cores that send to the next chip, and back."""
COPIES = ttnn.CoreCoord(0, 2)
CORES = grid(block(1, 3))
WIDTH, STICK = 64, 128
"""Numbers of a stick, and its bytes."""
FRAMES, HIGH, WIDE = 2, 4, 3
FOLDER = "experimental/ccl/neighbor_pad_async/device/kernels"
HALO = "experimental/ccl/neighbor_pad_halo/device/kernels"


@pytest.fixture
def row() -> Iterator[Row]:
    with row_of(4, wraps=False) as row:
        yield row


def sticks(row: Row, values: npt.NDArray[Any]) -> ttnn.Tensor:
    """Return a tensor of sticks of the chips, the first axis."""
    return ttnn.Tensor(
        values.reshape(-1, values.shape[-1]),
        ttnn.bfloat16,
        device=row.mesh,
        layout=ttnn.ROW_MAJOR_LAYOUT,
        mesh_mapper=ttnn.ShardTensorToMesh(row.mesh, 0).unwrap(),
    )


def random(*shape: int, seed: int = 5) -> npt.NDArray[Any]:
    """Return random numbers that are bfloat16."""
    return np.random.default_rng(seed).integers(-127, 128, shape).astype(np.float32)


def run(
    row: Row,
    tensors: Sequence[ttnn.Tensor],
    program: Callable[[int], Any],
    output: ttnn.Tensor,
    expected: Any,
    counters: Sequence[ttnn.GlobalSemaphore] = (),
) -> None:
    """Run the programs of the chips; compare their sticks.

    Counters are set to 0 before each run.
    """
    for seed in (None, 1):
        for counter in counters:
            ttnn.reset_global_semaphore_value(counter, 0)
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op([*tensors, output], on_chips({place: program(place) for place in range(row.chips)}))
        found = np.stack(parts(output)).astype(np.float32)
        np.testing.assert_array_equal(found, expected.reshape(found.shape))


def ends_of(row: Row, place: int, side: int) -> tuple[int, int]:
    """Return whether no chip sends here, and whether none receives."""
    starts, stops = place == 0, place == row.chips - 1
    return (int(starts), int(stops)) if side == 0 else (int(stops), int(starts))


def writer_words(
    row: Row, program: ttnn.ProgramDescriptor, place: int, side: int, walk: Sequence[int], *told: ttnn.CoreCoord
) -> list[int]:
    """Return the arguments of a writer: how it walks, semaphores, routes, connections.

    At its end it tells other cores.
    """
    beyond = row.chips - 1 - place if side == 0 else place
    return [
        *[*walk, *at(row, SIDES[side]), 1, *at(row, SIDES[1 - side]), len(told)],
        *[number for core in told for number in at(row, core)],
        *[0] * (16 - 2 * len(told)),
        *[
            *ends_of(row, place, side),
            side,
            0,
            1,
            *route(beyond),
            *directions(row, program, place, SIDES[side], (1, -1)[side]),
        ],
    ]


def test_pad_rows(row: Row) -> None:
    """A chip gets the rows beside its own."""
    values = random(row.chips, FRAMES, HIGH, WIDE, WIDTH)
    x = sticks(row, values)
    output = sticks(row, np.zeros((row.chips, FRAMES, HIGH + 2, WIDE, WIDTH), np.float32))
    held = semaphores(row, 2, CORES)
    common = [x.buffer_address(), output.buffer_address(), *addresses(held)]

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(cbs=[shared_cb(0, STICK, 2 * WIDE, CORES)])
        reads, writes = {}, {}
        for side, core in enumerate(SIDES):
            reads[core] = [0, 0, HIGH, FRAMES, 1, WIDE, WIDE, 0, *ends_of(row, place, side), side]
            writes[core] = writer_words(row, made, place, side, [0, 0, HIGH, HIGH + 2, FRAMES, 1, 1, WIDE, WIDE])
        made.kernels = [
            kernel_on(
                f"{FOLDER}/minimal_default_reader.cpp",
                READER,
                [0, 0, STICK, *accessor(x), 0, 0],
                reads,
                common_runtime_args=common[:3],
            ),
            kernel_on(
                f"{FOLDER}/minimal_default_writer.cpp",
                WRITER,
                [0, 0, STICK, *accessor(output), 0, 0, 0, 0, row.chips],
                writes,
                common_runtime_args=common,
            ),
            *copies(x, output, [0, HIGH, WIDE, WIDE], [0, HIGH, HIGH + 2, 1, WIDE, WIDE, 0, 0, 0]),
        ]
        return made

    whole = np.concatenate(list(values), 1)
    padded = np.concatenate([whole[:, :1], whole, whole[:, -1:]], 1)
    expected = np.stack([padded[:, HIGH * place : HIGH * place + HIGH + 2] for place in range(row.chips)])
    run(row, [x], program, output, expected)


def copies(
    x: ttnn.Tensor, output: ttnn.Tensor, reads: Sequence[int], writes: Sequence[int]
) -> list[ttnn.KernelDescriptor]:
    """Return the kernels that copy a chip's own rows."""
    common, rows = [x.buffer_address(), output.buffer_address()], [0, FRAMES * HIGH]
    return [
        kernel(
            f"{FOLDER}/local_copy_reader.cpp",
            READER,
            [0, STICK, *accessor(x)],
            rows,
            COPIES,
            common_runtime_args=[*common, *reads],
        ),
        kernel(
            f"{FOLDER}/local_copy_writer.cpp",
            WRITER,
            [0, STICK, *accessor(output)],
            [*rows, 0, 0],
            COPIES,
            common_runtime_args=[*common, *writes],
        ),
    ]


def test_pad_columns(row: Row) -> None:
    """Rows above and below are there; their corners are sent too."""
    values, edges = random(row.chips, FRAMES, HIGH, WIDE, WIDTH), random(row.chips, FRAMES, 2, WIDE, WIDTH, seed=6)
    tall = np.concatenate([edges[:, :, :1], values, edges[:, :, 1:]], 2)
    first = np.zeros((row.chips, FRAMES, HIGH + 2, WIDE + 2, WIDTH), np.float32)
    first[:, :, (0, -1), 1:-1] = edges
    x, output = sticks(row, values), sticks(row, first)
    held = semaphores(row, 2, CORES)
    arrived, barrier = addresses(held)
    common = [output.buffer_address(), barrier, arrived, x.buffer_address()]

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(cbs=[shared_cb(0, STICK, 4, CORES)])
        reads, writes = {}, {}
        rows = [1, HIGH, 1]
        for side, core in enumerate(SIDES):
            reads[core] = [FRAMES, 0, 1, 0, WIDE + 2, 1, WIDE, *ends_of(row, place, side), side, *rows, 0, 0, 0]
            walk = [0, 0, WIDE, WIDE + 2, FRAMES * (HIGH + 2), 1, 1, 1, 1]
            writes[core] = [*writer_words(row, made, place, side, walk), 0, FRAMES, *rows, HIGH + 2]
        made.kernels = [
            kernel_on(
                f"{FOLDER}/phase2_w_reader.cpp",
                READER,
                [0, 1, STICK, *accessor(output), *accessor(x)],
                reads,
                common_runtime_args=common,
            ),
            kernel_on(
                f"{FOLDER}/minimal_default_writer.cpp",
                WRITER,
                [0, 1, STICK, *accessor(output), 0, 0, 0, 1, row.chips],
                writes,
                common_runtime_args=[x.buffer_address(), output.buffer_address(), arrived, barrier],
            ),
            *copies(x, output, [0, HIGH, WIDE, WIDE], [1, HIGH, HIGH + 2, 1, WIDE, WIDE + 2, 0, 0, 0]),
        ]
        return made

    whole = np.concatenate(list(tall), 2)
    blank = np.zeros_like(whole[:, :, :1])
    padded = np.concatenate([blank, whole, blank], 2)
    expected = np.stack([padded[:, :, WIDE * place : WIDE * place + WIDE + 2] for place in range(row.chips)])
    run(row, [x], program, output, expected)


MUXES = [ttnn.CoreCoord(7, 0), ttnn.CoreCoord(7, 1)]
TOP, SIDE = FRAMES * WIDE, FRAMES * (HIGH + 2)
"""Sticks of the rows above, and of the columns on a side."""


def mux_words(row: Row, program: ttnn.ProgramDescriptor, place: int, side: int) -> list[int]:
    """Add a mux core if there is a neighbour; return client words."""
    other = row.neighbour(place, (1, -1)[side])
    if other is not None:
        add_mux(row, program, (place, other), MUXES[side])
    mux, own = (row.mesh.worker_core_from_logical_core(core[side]) for core in (MUXES, SIDES))
    return fabric_mux.client_runtime_args(
        other is not None, True, FULL, mux, 0, SIDES[side], mux_config(1), program, own
    )


def clients() -> list[int]:
    return fabric_mux.client_compile_time_args(1, FULL, mux_config(1))


@pytest.mark.parametrize("mux", [False, True], ids=["connections", "mux"])
def test_rows_of_a_halo(row: Row, mux: bool) -> None:
    """Rows reach a buffer of their own, then the padded output."""
    values = random(row.chips, FRAMES, HIGH, WIDE, WIDTH)
    columns = random(row.chips, 2, FRAMES, HIGH + 2, WIDTH, seed=6)
    first = np.zeros((row.chips, 2 * TOP, WIDTH), np.float32)
    first = np.concatenate([first, columns.reshape(row.chips, 2 * SIDE, WIDTH)], 1)
    x, compact = sticks(row, values), sticks(row, first)
    output = sticks(row, np.zeros((row.chips, FRAMES, HIGH + 2, WIDE + 2, WIDTH), np.float32))
    held = semaphores(row, 2, CORES)
    common = [x.buffer_address(), compact.buffer_address(), *addresses(held), 0]
    done = addresses(held)[1]

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(cbs=[shared_cb(0, STICK, 4, CORES), shared_cb(1, STICK, 2 * WIDE, CORES)])
        reads, writes = {}, {}
        for side, core in enumerate(SIDES):
            own, limits = at(row, core), ends_of(row, place, side)
            reads[core] = [0, 0, HIGH, FRAMES, 1, WIDE, WIDE, 0, HIGH, *limits, side, 1, *at(row, COPIES) * 16]
            if mux:
                walk = [side * TOP, FRAMES, 1, WIDE, WIDE]
                words = mux_words(row, made, place, side)
                writes[core] = [*walk, *own, *limits, side, 0, 1, *words, *at(row, SIDES[1 - side])]
            else:
                walk = [side * TOP, 0, HIGH, 1, FRAMES, 1, 1, WIDE, WIDE]
                writes[core] = [*writer_words(row, made, place, side, walk, COPIES), 0]
        made.kernels += [
            kernel_on(
                f"{HALO}/np_h_reader.cpp",
                READER,
                [0, 0, STICK, *accessor(x), 0, 0, 1, 1, 1],
                reads,
                common_runtime_args=common,
            ),
            kernel_on(
                f"{HALO}/np_h_mux_writer.cpp" if mux else f"{HALO}/np_writer.cpp",
                WRITER,
                [0, 0, 1, STICK, *accessor(compact), 1, *clients()]
                if mux
                else [0, 0, STICK, *accessor(compact), 0, 0, 0, 0, row.chips, 0, 1, 0, 0, 1],
                writes,
                common_runtime_args=common,
            ),
        ]
        if not mux:
            # Every reader and writer tells it; those of the mux do not tell of rows at the ends of the line.
            made.kernels.append(
                kernel(
                    f"{HALO}/np_fused_scatter_writer.cpp",
                    WRITER,
                    [
                        *[STICK, FRAMES, HIGH + 2, WIDE + 2, HIGH, WIDE, 1, 1, 0, 4, 0],
                        *[*accessor(x), *accessor(compact), *accessor(output)],
                    ],
                    [
                        *[x.buffer_address(), compact.buffer_address(), output.buffer_address()],
                        *[0, FRAMES * (HIGH + 2) * (WIDE + 2), done, 4],
                    ],
                    COPIES,
                )
            )
        return made

    whole = np.concatenate(list(values), 1)
    padded = np.concatenate([whole[:, :1], whole, whole[:, -1:]], 1)
    rows = np.stack([padded[:, HIGH * place : HIGH * place + HIGH + 2] for place in range(row.chips)])
    if mux:
        first[:, :TOP], first[:, TOP : 2 * TOP] = (rows[:, :, end].reshape(-1, TOP, WIDTH) for end in (0, -1))
        run(row, [x], program, compact, first, held)
    else:
        left, right = columns.swapaxes(0, 1)[:, :, :, :, None]
        run(row, [x, compact], program, output, np.concatenate([left, rows, right], 3), held)


def test_columns_of_a_halo(row: Row) -> None:
    """The corners are rows that a chip has from others."""
    values = random(row.chips, FRAMES, HIGH, WIDE, WIDTH)
    edges = random(row.chips, 2, FRAMES, WIDE, WIDTH, seed=6)
    first = np.zeros((row.chips, 2 * TOP + 2 * SIDE, WIDTH), np.float32)
    first[:, : 2 * TOP] = edges.reshape(row.chips, 2 * TOP, WIDTH)
    x, compact = sticks(row, values), sticks(row, first)
    held = semaphores(row, 2, CORES)
    arrived, barrier = addresses(held)

    def program(place: int) -> ttnn.ProgramDescriptor:
        made = ttnn.ProgramDescriptor(cbs=[shared_cb(0, STICK, 4, CORES)])
        reads, writes = {}, {}
        for side, core in enumerate(SIDES):
            limits = ends_of(row, place, side)
            base = 2 * TOP + side * SIDE
            reads[core] = [
                *[SIDE, 0, 1, 0, WIDE + 2, 1, WIDE, *limits, side],
                *[x.buffer_address(), HIGH, 1, TOP, 0, 0, 0],
            ]
            writes[core] = [
                *[base, SIDE, *at(row, core), *at(row, core), place == 0, place == row.chips - 1, side, 0, 1],
                *mux_words(row, made, place, side),
            ]
        made.kernels += [
            kernel_on(
                f"{HALO}/np_phase2_w_reader.cpp",
                READER,
                [0, 1, STICK, *accessor(compact), *accessor(x), 0, 0, 1, 1],
                reads,
                common_runtime_args=[compact.buffer_address(), barrier, arrived, 0],
            ),
            kernel_on(
                f"{HALO}/np_w_mux_writer.cpp",
                WRITER,
                [0, STICK, *accessor(compact), 1, *clients()],
                writes,
                common_runtime_args=[x.buffer_address(), compact.buffer_address(), arrived, barrier],
            ),
        ]
        return made

    tall = np.concatenate([edges[:, :1].swapaxes(1, 2), values, edges[:, 1:].swapaxes(1, 2)], 2)
    expected = first.copy()
    sides = expected[:, 2 * TOP :].reshape(row.chips, 2, FRAMES, HIGH + 2, WIDTH)
    sides[1:, 0] = tall[:-1, :, :, -1]
    sides[:-1, 1] = tall[1:, :, :, 0]
    run(row, [x], program, compact, expected)
