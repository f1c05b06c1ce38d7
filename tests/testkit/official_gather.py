"""Host program of the official all_gather by unicast."""

from __future__ import annotations

import ttnn
from testkit.official_rows import Row, accessor, kernel, needs_wheel, on_chips
from ttnn._experimental import fabric_mux

MUX_BASE = 1_000_000
FULL = fabric_mux.ChannelType.FULL_SIZE
READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()
KERNELS = "ccl/all_gather/device/kernels/unicast"
PACKET, DEPTH = 4096, 3

__all__ = ["gather_programs", "gathering_cores", "needs_wheel"]


def mux_config(clients: int) -> fabric_mux.Config:
    """Return a mux core of so many clients."""
    return fabric_mux.Config(clients, 0, 8, 0, fabric_mux.channel_buffer_size_bytes(), MUX_BASE)


def add_mux(
    row: Row, program: ttnn.ProgramDescriptor, ends: tuple[int, int], core: ttnn.CoreCoord, clients: int = 1
) -> None:
    """Add a mux core that forwards from a chip to its neighbour."""
    config, (place, other) = mux_config(clients), ends
    mux = ttnn.KernelDescriptor(
        kernel_source="tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp",
        core_ranges=ttnn.CoreRangeSet([ttnn.CoreRange(core, core)]),
        compile_time_args=config.kernel_compile_time_args(),
        config=WRITER,
    )
    words = config.kernel_runtime_args(row.node(place), row.node(other), 0, program, core)
    mux.runtime_args[core.x][core.y] = words
    program.kernels.append(mux)


def gathering_cores(workers: int) -> ttnn.CoreRangeSet:
    """Return the cores of the workers, a column for each direction."""
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, workers - 1))])


def gather_programs(
    row: Row, x: ttnn.Tensor, output: ttnn.Tensor, kept: list[int], page: int, workers: int
) -> ttnn.MeshProgramDescriptor:
    """Return the programs that gather tiles along the last dimension.

    Several workers of a direction share a mux core.

    Args:
        row: The chips.
        x: Input of each chip.
        output: Output of each chip.
        kept: Addresses of the semaphores: barrier, data.
        page: Bytes of a tile.
        workers: Workers of a direction.
    """
    return on_chips({place: _program(row, (x, output), kept, page, workers, place) for place in range(row.chips)})


def _iterations(row: Row, place: int, forward: bool) -> int:
    """Return how many stripes a chip sends in a direction."""
    if row.wraps:
        return row.chips // 2
    if forward:
        return 0 if place == row.chips - 1 else place + 1
    return 0 if place == 0 else row.chips - place


def _program(
    row: Row, tensors: tuple[ttnn.Tensor, ttnn.Tensor], kept: list[int], page: int, workers: int, place: int
) -> ttnn.ProgramDescriptor:
    x, output = tensors
    chips, stripe = row.chips, x.shape[-1] // 32
    pages, entry = stripe * x.shape[-2] // 32, PACKET // page * page
    form = ttnn.CBFormatDescriptor(buffer_index=0, data_format=x.dtype, page_size=entry)
    cb = ttnn.CBDescriptor(total_size=DEPTH * entry, core_ranges=gathering_cores(workers), format_descriptors=[form])
    program = ttnn.ProgramDescriptor(cbs=[cb])
    common = [page, 1, stripe, chips, 0, entry]
    fixed = [*common, PACKET, 1, 2, *accessor(output)]
    if workers > 1:
        fixed += fabric_mux.client_compile_time_args(workers, FULL, mux_config(workers))
    for side, step in enumerate((1, -1)):
        forward, other = side == 0, row.neighbour(place, step)
        iterations = _iterations(row, place, forward)
        mux = ttnn.CoreCoord(7, side)
        if iterations and other is not None and workers > 1:
            add_mux(row, program, (place, other), mux, workers)
        received = chips // 2 if row.wraps else (place if forward else chips - 1 - place)
        below = 0
        if iterations:
            below = max(_iterations(row, (place + step) % chips, forward) - 1, 0)
        for worker in range(workers):
            core, partner = ttnn.CoreCoord(side, worker), ttnn.CoreCoord(1 - side, worker)
            here, there = (row.mesh.worker_core_from_logical_core(each) for each in (core, partner))
            start, end = pages * worker // workers, pages * (worker + 1) // workers
            count, half = end - start, (end - start) // 2
            final = (start, count)
            if row.wraps and chips % 2 == 0:
                final = (start, half) if forward else (start + half, count - half)
            walk = [place, chips - 1 if forward else 1, iterations]
            part = [start, count, *final]
            total = received * count - (count - final[1])
            node = row.node(place if other is None else other)
            sends = kernel(
                f"{KERNELS}_writer.cpp",
                WRITER,
                fixed,
                [
                    *[output.buffer_address(), *walk, *part, iterations > 0 if forward else not _forward(row, place)],
                    *[*kept, there.x, there.y, here.x, here.y, below, node.chip_id, node.mesh_id],
                ],
                core,
                defines=[("USE_WORKER_MUX", "1")] if workers > 1 else [],
            )
            program.kernels += [
                kernel(
                    f"{KERNELS}_reader.cpp",
                    READER,
                    [page, *common, 1, *accessor(x), *accessor(output)],
                    [x.buffer_address(), output.buffer_address(), *walk, total, *part, start, end, *kept],
                    core,
                ),
                sends,
            ]
            if iterations and other is not None:
                sends.runtime_args[core.x][core.y] += (
                    _client(row, program, mux, core, workers)
                    if workers > 1
                    else ttnn.setup_routing_plane_connection(
                        row.node(place), [row.node(other)], [0], program, len(program.kernels) - 1, core
                    )
                )
    return program


def _forward(row: Row, place: int) -> bool:
    return _iterations(row, place, True) > 0


def _client(
    row: Row, program: ttnn.ProgramDescriptor, mux: ttnn.CoreCoord, core: ttnn.CoreCoord, workers: int
) -> list[int]:
    """Return the words of a worker's channel of a mux core."""
    virtual, master = (row.mesh.worker_core_from_logical_core(each) for each in (mux, ttnn.CoreCoord(core.x, 0)))
    return fabric_mux.client_runtime_args(
        True, core.y == 0, FULL, virtual, core.y, core, mux_config(workers), program, master
    )
