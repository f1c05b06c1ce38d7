"""Official kernels of reduce_scatter, unchanged, with the bits of the operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import ttnn
from testkit.official_gather import FULL, MUX_BASE, add_mux, gather_programs, gathering_cores, mux_config
from testkit.official_rows import (
    CORE,
    Row,
    accessor,
    addresses,
    cb,
    ends,
    kernel,
    needs_wheel,
    on_chips,
    parts,
    row_of,
    semaphores,
    tensor,
)
from ttnn._experimental import fabric_mux

pytestmark = needs_wheel
READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()
TILE_BYTES = {ttnn.bfloat16: 2048, ttnn.bfloat8_b: 1088, ttnn.float32: 4096}
SEEDS = [None, 1, 2]


class Form(NamedTuple):
    """The tiles of a chip's input, and of a slice.

    Attributes:
        dtype: Its dtype.
        rows: Tile rows.
        columns: Tile columns of the input.
        width: Tile columns of a slice.
    """

    dtype: ttnn.DataType
    rows: int
    columns: int
    width: int

    @property
    def tile(self) -> int:
        return TILE_BYTES[self.dtype]

    @property
    def together(self) -> int:
        """Tiles of a packet."""
        return 4352 // self.tile

    @property
    def slice_tiles(self) -> int:
        return self.rows * self.width

    def compute(self) -> ttnn.ComputeConfigDescriptor:
        return ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=self.dtype is ttnn.float32)


def form_of(row: Row, dtype: ttnn.DataType) -> tuple[Form, ttnn.Tensor, ttnn.Tensor]:
    """Return tiles, input and output of a sum over the last dimension."""
    form = Form(dtype, 3, 5 * row.chips, 5)
    x = tensor(row, (1, 1, 32 * form.rows, 32 * form.columns), dtype, ttnn.TILE_LAYOUT)
    shape = ttnn.Shape([1, 1, 32 * form.rows, 32 * form.width])
    return form, x, ttnn.allocate_tensor_on_device(shape, dtype, ttnn.TILE_LAYOUT, row.mesh)


def staging(row: Row, pages: int, page: int) -> ttnn.Tensor:
    """Return a tensor of pages of so many bytes."""
    return ttnn.allocate_tensor_on_device(
        ttnn.Shape([pages, page // 2]), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, row.mesh
    )


def check(output: ttnn.Tensor, expected: ttnn.Tensor) -> None:
    for part, other in zip(parts(output), parts(expected), strict=True):
        np.testing.assert_array_equal(part, other)


@pytest.fixture
def line() -> Iterator[Row]:
    with row_of(4, wraps=False) as row:
        yield row


# Every chip sends its part of a slice to the slice's chip.


@pytest.fixture(params=[(4, "galaxy_torus"), (8, "t3k")], ids=["ring of 4", "ring of 8"])
def ring(request: pytest.FixtureRequest) -> Iterator[Row]:
    chips, system = request.param
    with row_of(chips, wraps=True, system=system) as row:
        yield row


@pytest.fixture
def small_ring() -> Iterator[Row]:
    with row_of(4, wraps=True, system="galaxy_torus") as row:
        yield row


def direct_program(
    row: Row, form: Form, place: int, tensors: list[ttnn.Tensor], kept: list[int]
) -> ttnn.ProgramDescriptor:
    """Return the program of a chip.

    Tensors: input, staging, output. Semaphores: one for each chip, of the start, of each kernel's calls.
    """
    x, middle, output = tensors
    chips, granularity = row.chips, 4
    chunks = -(-form.slice_tiles // granularity)
    arrivals, (start, *calls) = kept[:chips], kept[chips:]
    core = row.mesh.worker_core_from_logical_core(CORE)
    ahead, behind = ends(row, place)
    others = [(place + step) % chips for step in range(1, chips)]
    hops = [step if step <= ahead else chips - step for step in range(1, chips)]
    backward = [step > ahead for step in range(1, chips)]
    nodes = [row.node(other) for other in others]
    # Blocks of a sum: the own one, then those of other chips in their order.
    blocks = [1 + place - (place > other) for other in others]
    part = [0, chunks, 0, form.slice_tiles]
    program = ttnn.ProgramDescriptor(
        cbs=[
            cb(0, form.tile, 2 * granularity, form.dtype),
            cb(1, form.tile, chips * granularity, form.dtype),
            cb(2, form.tile, 2 * granularity, form.dtype),
        ]
    )
    folder = "experimental/ccl/reduce_scatter_minimal_direct/device/kernels/reduce_scatter_minimal_direct"
    walk = [form.tile, granularity, chunks, form.slice_tiles]
    program.kernels = [
        kernel(
            f"{folder}_reader.cpp",
            READER,
            [*walk, form.width, form.columns, chips, 0, 1, 0, 0, *accessor(x), *accessor(middle)],
            [
                *[x.buffer_address(), middle.buffer_address(), place, *part, calls[0]],
                *[arrivals[other] for other in range(chips) if other != place],
                *others,
            ],
        ),
        kernel(
            f"{folder}_writer.cpp",
            WRITER,
            [*walk, chips, form.together, 0, 2, 0, 0, 1, *accessor(middle), *accessor(output)],
            [
                *[middle.buffer_address(), output.buffer_address(), place, *part, calls[1], arrivals[place]],
                *[core.x, core.y, 2, start, ahead, behind, *backward, *hops, *blocks],
                *[node.chip_id for node in nodes],
                *[node.mesh_id for node in nodes],
            ],
        ),
        kernel(
            f"{folder}_compute.cpp",
            form.compute(),
            [granularity, chips, 1, 2, 0],
            [chunks, form.slice_tiles, calls[2]],
        ),
    ]
    ways = [row.node((place + step) % chips) for step in (1, -1)]
    program.kernels[1].runtime_args[0][0] += ttnn.setup_routing_plane_connection(
        row.node(place), ways, [0], program, 1, CORE
    )
    return program


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32], ids=str)
def test_direct(ring: Row, dtype: ttnn.DataType) -> None:
    form, x, output = form_of(ring, dtype)
    chunks = -(-form.slice_tiles // 4)
    middle = staging(ring, 2 * ring.chips * chunks, 4 * form.tile)
    kept = semaphores(ring, ring.chips + 4)
    tensors: list[Any] = [x, middle, output]
    expected = ttnn.reduce_scatter(x, dim=3, topology=ttnn.Topology.Ring)
    # Calls alternate between two halves of the staging pages.
    for seed in SEEDS:
        programs = {place: direct_program(ring, form, place, tensors, addresses(kept)) for place in range(ring.chips)}
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op(tensors, on_chips(programs))
        check(output, expected)


# A worker and a mux core for each direction.

WORKERS = ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 1)
MUXES = ttnn.CoreCoord(7, 0), ttnn.CoreCoord(7, 1)
WORKER_CORES = ttnn.CoreRangeSet([ttnn.CoreRange(*WORKERS)])


def client_words(row: Row, program: ttnn.ProgramDescriptor, direction: int, *, valid: bool) -> list[int]:
    virtual = [row.mesh.worker_core_from_logical_core(each[direction]) for each in (MUXES, WORKERS)]
    return fabric_mux.client_runtime_args(
        valid, True, FULL, virtual[0], 0, WORKERS[direction], mux_config(1), program, virtual[1]
    )


class Sides(NamedTuple):
    """Tasks of a chip's workers: forward, and backward."""

    first: tuple[bool, bool]
    targets: tuple[int, int]

    @property
    def last(self) -> list[bool]:
        return [not first for first in self.first]


def line_program(
    row: Row, form: Form, place: int, tensors: list[ttnn.Tensor], kept: list[int], batches: int = 0
) -> ttnn.ProgramDescriptor:
    """Return the program of a chip.

    Tensors: input, partial sums of both directions, output.

    Args:
        row: The chips.
        form: Their tiles.
        place: The chip.
        tensors: Its tensors.
        kept: Addresses of the semaphores.
        batches: Batches of a slice of dimension 0; 0 for a slice of the last dimension.
    """
    x, middle, output = tensors
    chips, granularity, sync_every = row.chips, 4, 2
    sides = Sides((place == 0, place == chips - 1), (chips - 1 - place, place))
    both = all(sides.last)
    if batches:
        part = form.rows * form.columns
        pages, out_pages = part * batches * chips, part * batches
        read = write = [out_pages, part, batches, both]
        start, steps = [], [batches]
    else:
        part = out_pages = form.slice_tiles
        pages = form.rows * form.columns
        shape = [pages, pages, out_pages, out_pages, 1, form.columns, 1, form.rows, form.width]
        read, write = [*shape, 0, both, 3], [*shape, 3, both]
        start, steps = [0, 0], [1, 1]
    program = ttnn.ProgramDescriptor()
    for index in range(4):
        entry = ttnn.CBFormatDescriptor(buffer_index=index, data_format=form.dtype, page_size=form.tile)
        total = 2 * granularity * form.tile
        program.cbs.append(ttnn.CBDescriptor(total_size=total, core_ranges=WORKER_CORES, format_descriptors=[entry]))
    program.semaphores.append(ttnn.SemaphoreDescriptor(id=0, core_ranges=WORKER_CORES, initial_value=0))
    barrier, done = kept
    common = [*(each.buffer_address() for each in tensors), 0, barrier, done, done, 0]
    kind = "dim_zero_line" if batches else "line"
    folder = f"experimental/ccl/reduce_scatter_minimal_async/device/kernels/{kind}_reduc"
    routes = [*[0, 1], *[1, chips, 0, 0, 0, 0]] * 2
    virtual = [row.mesh.worker_core_from_logical_core(core) for core in WORKERS]
    for direction, step in enumerate((1, -1)):
        core, targets, ends_here = WORKERS[direction], sides.targets[direction], sides.last[direction]
        first = sides.first[direction]
        if targets:
            add_mux(row, program, (place, place + step), MUXES[direction])
        own, opposite = virtual[direction], virtual[1 - direction]
        doing = [direction == 0, first, targets, ends_here, sync_every]
        program.kernels += [
            kernel(
                f"{folder}e_scatter_minimal_async_reader.cpp",
                READER,
                [
                    *[place, chips, 0, 1, 2, granularity, form.tile, pages, *read],
                    *[*accessor(x), *accessor(middle), *accessor(output)],
                ],
                [0, *doing, 0, part, *start],
                core,
                common_runtime_args=common,
            ),
            kernel(
                f"{folder}e_scatter_minimal_async_writer.cpp",
                WRITER,
                [
                    *[chips, 3, 2, granularity, form.tile, min(form.together, 2), pages, *write],
                    *fabric_mux.client_compile_time_args(1, FULL, mux_config(1)),
                    *[1, *routes, *accessor(middle), *accessor(output)],
                ],
                [
                    *[own.x, own.y, 0, opposite.x, opposite.y, 1, *doing, 0, 0, 0, part],
                    *client_words(row, program, direction, valid=targets > 0),
                ],
                core,
                common_runtime_args=common,
            ),
            kernel(
                f"{folder}tion.cpp",
                form.compute(),
                [0, 1, 3, granularity, *steps],
                [(0 if first else targets) + ends_here, 0, part],
                core,
            ),
        ]
    return program


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32], ids=str)
def test_line(line: Row, dtype: ttnn.DataType) -> None:
    form, x, output = form_of(line, dtype)
    shape = ttnn.Shape([2, 1, 32 * form.rows, 32 * form.columns])
    middle = ttnn.allocate_tensor_on_device(shape, dtype, ttnn.TILE_LAYOUT, line.mesh)
    kept = semaphores(line, 2, WORKER_CORES)
    tensors: list[Any] = [x, middle, output]
    expected = ttnn.reduce_scatter(x, dim=3, topology=ttnn.Topology.Linear)
    for seed in SEEDS:
        programs = {place: line_program(line, form, place, tensors, addresses(kept)) for place in range(line.chips)}
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op(tensors, on_chips(programs))
        check(output, expected)


def test_line_of_batches(line: Row) -> None:
    dtype, batches = ttnn.bfloat16, 2
    form = Form(dtype, 2, 3, 3)
    x = tensor(line, (batches * line.chips, 1, 32 * form.rows, 32 * form.columns), dtype, ttnn.TILE_LAYOUT)
    middle, output = (
        ttnn.allocate_tensor_on_device(
            ttnn.Shape([count, 1, 32 * form.rows, 32 * form.columns]), dtype, ttnn.TILE_LAYOUT, line.mesh
        )
        for count in (2 * batches * line.chips, batches)
    )
    kept = semaphores(line, 2, WORKER_CORES)
    tensors: list[Any] = [x, middle, output]
    expected = ttnn.reduce_scatter(x, dim=0, topology=ttnn.Topology.Linear)
    for seed in SEEDS:
        programs = {
            place: line_program(line, form, place, tensors, addresses(kept), batches) for place in range(line.chips)
        }
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op(tensors, on_chips(programs))
        check(output, expected)


def test_all_reduce(line: Row) -> None:
    """The sum of slices, then their gather."""
    form, x, slices = form_of(line, ttnn.bfloat16)
    shape = ttnn.Shape([2, 1, 32 * form.rows, 32 * form.columns])
    middle = ttnn.allocate_tensor_on_device(shape, form.dtype, ttnn.TILE_LAYOUT, line.mesh)
    output = ttnn.allocate_tensor_on_device(x.shape, form.dtype, ttnn.TILE_LAYOUT, line.mesh)
    kept, others = semaphores(line, 2, WORKER_CORES), semaphores(line, 2, gathering_cores(1))
    tensors: list[Any] = [x, middle, slices]
    expected = ttnn.all_reduce(x, topology=ttnn.Topology.Linear)
    for seed in SEEDS:
        programs = {place: line_program(line, form, place, tensors, addresses(kept)) for place in range(line.chips)}
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op(tensors, on_chips(programs))
            ttnn.generic_op([slices, output], gather_programs(line, slices, output, addresses(others), form.tile, 1))
        check(output, expected)


# Two partial sums travel around a ring, one each way.


def ring_form(form: Form) -> int:
    """Return the tiles of a chunk."""
    return 4 if form.dtype is ttnn.float32 else 8


def ring_program(
    row: Row, form: Form, place: int, tensors: list[ttnn.Tensor], kept: list[int], *, chunked: bool, mux: bool
) -> ttnn.ProgramDescriptor:
    """Return the program of a chip.

    Tensors: input, partial sums, output, partial sums of the last hop but one.

    Args:
        row: The chips.
        form: Their tiles.
        place: The chip.
        tensors: Its tensors.
        kept: Addresses of the semaphores.
        chunked: Whether partial sums have a page for each chunk.
        mux: Whether packets go through mux cores.
    """
    x, middle, output, last = tensors
    chips, granularity = row.chips, ring_form(form)
    barrier, *ready = kept
    pages = form.rows * form.columns
    ids = {"cb_input_id": 0, "cb_interm_id": 1, "cb_interm2_id": 2, "cb_reader_output_id": 3, "cb_compute_output_id": 4}
    named = {
        **ids,
        "my_chip_id": place,
        "ring_size": chips,
        "tile_granularity": granularity,
        "page_size": form.tile,
        "input_batch_num_pages": pages,
        "output_batch_num_pages": form.slice_tiles,
        "input_channel_num_pages": pages,
        "output_channel_num_pages": form.slice_tiles,
        "input_tensor_B": 1,
        "input_tensor_Wt": form.columns,
        "slice_C": 1,
        "slice_Ht": form.rows,
        "slice_Wt": form.width,
        "fuse_op": 0,
        "dim": 3,
        "contiguous_interm": int(chunked),
        "chunks_per_channel": -(-form.slice_tiles // granularity),
        "num_tiles_to_write_per_packet": min(form.together, 4),
        "interm_tiles_per_packet": min(form.together, granularity),
    }
    program = ttnn.ProgramDescriptor()
    for index in ids.values():
        entry = ttnn.CBFormatDescriptor(buffer_index=index, data_format=form.dtype, page_size=form.tile)
        total = 2 * granularity * form.tile
        program.cbs.append(ttnn.CBDescriptor(total_size=total, core_ranges=WORKER_CORES, format_descriptors=[entry]))
    common = [*(each.buffer_address() for each in (x, middle, output, last)), barrier, *ready, 0]
    routes = [*[0, 1], *[1, chips - 1, 0, 0, 0, 0]] * 2
    virtual = [row.mesh.worker_core_from_logical_core(core) for core in WORKERS]
    folder = "experimental/ccl/reduce_scatter_minimal_async/device/kernels/ring_reduc"
    for side, step in enumerate((1, -1)):
        core, own, opposite, forward = WORKERS[side], virtual[side], virtual[1 - side], side == 0
        other = (place + step) % chips
        if mux:
            words = transient_mux(row, program, place, other, side)
        else:
            words = ttnn.setup_fabric_connection(row.node(place), row.node(other), 0, program, core)
            words = [1, *words, 0] if forward else [0, 1, *words]
        part = [0, form.slice_tiles]
        program.kernels += [
            kernel(
                f"{folder}e_scatter_minimal_async_reader.cpp",
                READER,
                [*accessor(x), *accessor(middle), *accessor(output), *accessor(last)],
                [forward, 1, *part, 0, 0, 0, 1],
                core,
                common_runtime_args=common,
                named_compile_time_args=list(named.items()),
            ),
            kernel(
                f"{folder}e_scatter_minimal_async_writer.cpp",
                WRITER,
                [*routes, *accessor(middle), *accessor(output), *accessor(last)],
                [*[own.x, own.y, opposite.x, opposite.y, 1, forward, 1, 0, 0], *part, 0, 1, *words],
                core,
                common_runtime_args=common,
                named_compile_time_args=list(named.items()),
                defines=[("USE_WORKER_MUX", "1")] if mux else [],
            ),
            kernel(
                f"{folder}tion.cpp",
                form.compute(),
                [],
                [*part, forward, 0, 1],
                core,
                named_compile_time_args=list(named.items()),
            ),
        ]
    return program


def transient_mux(row: Row, program: ttnn.ProgramDescriptor, place: int, other: int, side: int) -> list[int]:
    """Add a mux core of the second kind; return client words."""
    core, source = MUXES[side], "tt_metal/fabric/impl/kernels/tt_fabric_mux_v2.cpp"
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(core, core)])
    named = {"fabric_mux_v2_num_channels": 1}
    for config in (WRITER, READER):
        program.kernels.append(
            ttnn.KernelDescriptor(
                kernel_source=source, core_ranges=cores, config=config, named_compile_time_args=list(named.items())
            )
        )
    forwards = program.kernels[-2]
    words = ttnn.setup_fabric_connection(row.node(place), row.node(other), 0, program, core)
    forwards.runtime_args[core.x][core.y] = words
    virtual = row.mesh.worker_core_from_logical_core(core)
    return [virtual.x, virtual.y, 0, 8, fabric_mux.channel_buffer_size_bytes(), *[MUX_BASE] * 3, 0, 1, MUX_BASE]


@pytest.mark.parametrize(
    ("dtype", "mux", "chunked"),
    [
        (ttnn.bfloat16, False, False),
        (ttnn.bfloat16, True, False),
        (ttnn.bfloat16, True, True),
        (ttnn.bfloat8_b, True, False),
        (ttnn.float32, True, True),
    ],
    ids=["bfloat16", "bfloat16, mux", "bfloat16, mux, chunks", "bfloat8_b, mux", "float32, mux, chunks"],
)
def test_ring(small_ring: Row, dtype: ttnn.DataType, mux: bool, chunked: bool) -> None:
    form, x, output = form_of(small_ring, dtype)
    granularity = ring_form(form)
    if chunked:
        chunks = -(-form.slice_tiles // granularity)
        middle, last = (staging(small_ring, pages * chunks, granularity * form.tile) for pages in (small_ring.chips, 1))
    else:
        middle = ttnn.allocate_tensor_on_device(x.shape, dtype, ttnn.TILE_LAYOUT, small_ring.mesh)
        last = middle
    kept = semaphores(small_ring, 3, WORKER_CORES)
    tensors: list[Any] = [x, middle, output, last]
    expected = ttnn.reduce_scatter(x, dim=3, topology=ttnn.Topology.Ring, chunks_per_sync=1)
    for seed in SEEDS[: 1 + 2 * mux]:
        programs = {
            place: ring_program(small_ring, form, place, tensors, addresses(kept), chunked=chunked, mux=mux)
            for place in range(small_ring.chips)
        }
        with ttnn.manage_config("fabric_shuffle", seed):
            ttnn.generic_op([x, middle, last, output], on_chips(programs))
        check(output, expected)
