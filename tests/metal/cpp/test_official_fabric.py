"""Official kernels that send packets, unchanged, with the bits of collectives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ttnn
from testkit.official_rows import (
    CORE,
    Row,
    accessor,
    cb,
    empty_like,
    ends,
    kernel,
    needs_wheel,
    on_chips,
    parts,
    row_of,
    semaphores,
    tensor,
)

pytestmark = needs_wheel


@pytest.fixture(params=[(4, False), (8, True)], ids=["line of 4", "ring of 8"])
def row(request: pytest.FixtureRequest) -> Iterator[Row]:
    chips, wraps = request.param
    with row_of(chips, wraps=wraps) as row:
        yield row


POINTS = "point_to_point/device/kernels/dataflow"


@pytest.mark.parametrize(("sender", "receiver"), [(0, 1), (3, 1), (0, 3)])
def test_point_to_point(row: Row, sender: int, receiver: int) -> None:
    x = tensor(row, (1, 1, 32, 192), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    output, pages, page, together = empty_like(x, row.mesh), 6, 2048, 2
    packets = ttnn.allocate_tensor_on_device(
        ttnn.Shape([pages // together, page * together // 2]), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, row.mesh
    )
    kept = semaphores(row, 1)
    done = ttnn.get_global_semaphore_address(kept[0])
    hops, forward = abs(receiver - sender), receiver > sender
    fixed = [*accessor(x)]
    send = ttnn.ProgramDescriptor(cbs=[cb(0, page, 2), cb(1, 64, 4, ttnn.uint32), cb(2, page * together, 1)])
    send.kernels = [
        kernel(
            f"{POINTS}/reader_unary_interleaved_start_id_gen.cpp",
            ttnn.ReaderConfigDescriptor(),
            fixed,
            [x.buffer_address(), pages, 0, page],
        ),
        kernel(
            f"{POINTS}/writer_send.cpp",
            ttnn.WriterConfigDescriptor(),
            [0, 1, 2, 16, *accessor(packets)],
            [packets.buffer_address(), 0, pages, hops, page, page * together, together, 1, done],
        ),
    ]
    receive = ttnn.ProgramDescriptor(
        cbs=[cb(0, 64, 4, ttnn.uint32), cb(1, page * together, 1), cb(2, page, 3 * together)]
    )
    receive.kernels = [
        kernel(
            f"{POINTS}/reader_receive.cpp",
            ttnn.ReaderConfigDescriptor(),
            [0, 1, 2, 16, *accessor(packets)],
            [0, pages, together, packets.buffer_address(), page * together, page, 1, done, hops],
        ),
        kernel(
            f"{POINTS}/writer_unary_interleaved_start_id_gen.cpp",
            ttnn.WriterConfigDescriptor(),
            [2, *accessor(output)],
            [output.buffer_address(), pages, 0, page],
        ),
    ]
    for program, index, here, ahead in ((send, 1, sender, forward), (receive, 0, receiver, not forward)):
        following = row.neighbour(here, 1 if ahead else -1)
        assert following is not None
        words = ttnn.setup_fabric_connection(row.node(here), row.node(following), 0, program, CORE)
        program.kernels[index].runtime_args[0][0] += [1, *words, 0] if ahead else [0, 1, *words]
    ttnn.generic_op([x, packets, output], on_chips({sender: send, receiver: receive}))
    np.testing.assert_array_equal(parts(output)[receiver], parts(x)[sender])
    expected = ttnn.point_to_point(x, ttnn.MeshCoordinate(0, sender), ttnn.MeshCoordinate(0, receiver))
    np.testing.assert_array_equal(parts(output)[receiver], parts(expected)[receiver])


@pytest.mark.parametrize("sender", [0, 2])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT], ids=["tiles", "rows"])
def test_broadcast(row: Row, layout: ttnn.Layout, sender: int) -> None:
    tiles = layout is ttnn.TILE_LAYOUT
    x = tensor(row, (1, 1, 64, 160), ttnn.bfloat16, layout)
    output = empty_like(x, row.mesh)
    page, pages, packet = (2048, 10, 4352) if tiles else (320, 64, 4096)
    kept = semaphores(row, 2)
    ready, barrier = map(ttnn.get_global_semaphore_address, kept)
    core = row.mesh.worker_core_from_logical_core(CORE)
    programs = {}
    for place in range(row.chips):
        ahead, behind = ends(row, place)
        neighbours = [row.neighbour(place, step) for step in (1, -1)]
        sends, count = place == sender, packet // page if tiles else 2
        if tiles:
            reader_fixed = [0, count, page, sends]
            writer_fixed = [0, count, page, ahead, behind, sends]
        else:
            reader_fixed = [0, page, page, count, 1, packet, sends]
            writer_fixed = [0, page, page, packet, count, 1, ahead, behind, sends]
        for other, distance in zip(neighbours, (ahead, behind), strict=True):
            writer_fixed += [0, 0] if other is None else [1, distance]
        args = [output.buffer_address(), ready, 0, pages, not sends, not sends, core.x, core.y, 1, barrier]
        args += [core.x, core.y, sum(other is not None for other in neighbours)]
        name = "ccl/broadcast/device/kernels/broadcast_" + ("tile" if tiles else "rm")
        program = ttnn.ProgramDescriptor(cbs=[cb(0, page, 3 * count)])
        program.kernels = [
            kernel(
                f"{name}_reader.cpp",
                ttnn.ReaderConfigDescriptor(),
                [*map(int, reader_fixed), *accessor(x)],
                [x.buffer_address(), 0, pages],
            ),
            kernel(
                f"{name}_writer.cpp",
                ttnn.WriterConfigDescriptor(),
                [*map(int, writer_fixed), *accessor(output)],
                [*map(int, args)],
            ),
        ]
        nodes = [row.node(other) for other in neighbours if other is not None]
        words = ttnn.setup_routing_plane_connection(row.node(place), nodes, [0], program, 1, CORE)
        program.kernels[1].runtime_args[0][0] += words
        programs[place] = program
    ttnn.generic_op([x, output], on_chips(programs))
    for part in parts(output):
        np.testing.assert_array_equal(part, parts(x)[sender])


def rows_of_pages(x: ttnn.Tensor, dim: int) -> int:
    """Return how many tiles of a chip follow each other."""
    tiles = [*list(x.shape)[:-2], x.shape[-2] // 32, x.shape[-1] // 32]
    return int(np.prod(tiles[dim:]))


@pytest.mark.parametrize("dim", [0, 2, 3])
def test_all_gather(row: Row, dim: int) -> None:
    x = tensor(row, (1, 1, 64, 160), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    shape = list(x.shape)
    shape[dim] *= row.chips
    output = ttnn.allocate_tensor_on_device(ttnn.Shape(shape), ttnn.bfloat16, ttnn.TILE_LAYOUT, row.mesh)
    page, pages, packet, depth = 2048, 10, 4096, 3
    stripe = rows_of_pages(x, dim)
    kept = semaphores(row, 2)
    barrier, done = map(ttnn.get_global_semaphore_address, kept)
    core = row.mesh.worker_core_from_logical_core(CORE)
    jump = row.chips * stripe - (stripe - 1)
    programs = {}
    for place in range(row.chips):
        ahead, behind = ends(row, place)
        entry = 3 * packet
        common = [page, 1, stripe, jump, 0]
        start = place * stripe
        where = [start, 0, 0, 0, pages, place, barrier, done, core.x, core.y]
        alternate = (behind, ahead) if row.wraps else (ahead, behind)
        sides = (0, 1)
        program = ttnn.ProgramDescriptor(cbs=[cb(0, entry, depth)])
        program.kernels = [
            kernel(
                "ccl/all_gather/device/kernels/multicast_reader.cpp",
                ttnn.ReaderConfigDescriptor(),
                [
                    page,
                    *common,
                    depth,
                    entry,
                    packet,
                    int(row.wraps),
                    int(ahead > 0),
                    1,
                    *accessor(x),
                    *accessor(output),
                ],
                [
                    *[x.buffer_address(), output.buffer_address(), 0, pages, *where, row.chips - 1],
                    *[ahead, ahead, behind, 0, alternate[0], alternate[0], alternate[1], 0, sides[0], *sides, 0],
                ],
            ),
            kernel(
                "ccl/all_gather/device/kernels/multicast_writer.cpp",
                ttnn.WriterConfigDescriptor(),
                [*common, entry, packet, int(row.wraps), int(behind > 0), 1, *accessor(output)],
                [
                    *[output.buffer_address(), *where],
                    *[behind, ahead, behind, 0, alternate[1], alternate[0], alternate[1], 0, sides[1], *sides, 0],
                ],
            ),
        ]
        for index, (step, hops) in enumerate(((1, ahead), (-1, behind))):
            other = row.neighbour(place, step)
            if hops and other is not None:
                nodes = [row.node(other)]
                words = ttnn.setup_routing_plane_connection(row.node(place), nodes, [0], program, index, CORE)
                program.kernels[index].runtime_args[0][0] += words
        programs[place] = program
    ttnn.generic_op([x, output], on_chips(programs))
    expected = ttnn.all_gather(x, dim=dim, topology=ttnn.Topology.Ring if row.wraps else ttnn.Topology.Linear)
    for part, other in zip(parts(output), parts(expected), strict=True):
        np.testing.assert_array_equal(part, other)
