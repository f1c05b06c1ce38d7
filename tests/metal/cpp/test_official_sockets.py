"""Official kernels of sockets, unchanged: tensors sent from chip to chip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.official_rows import (
    CORE,
    Row,
    accessor,
    cb,
    empty_like,
    kernel,
    needs_wheel,
    on_chips,
    parts,
    row_of,
    tensor,
)

pytestmark = needs_wheel
FOLDER = "experimental/ccl/send_recv_async"
PAGE, TOGETHER, HEADER = 2048, 2, 96
BLOCK = PAGE * TOGETHER


@pytest.fixture(params=[ttnn.FabricConfig.FABRIC_1D, ttnn.FabricConfig.FABRIC_2D], ids=["1D", "2D"])
def row(request: pytest.FixtureRequest) -> Iterator[Row]:
    with row_of(4, wraps=False, fabric=request.param) as row:
        yield row


class Pair:
    """A socket between two chips, and a program for each."""

    def __init__(self, row: Row, sender: int, receiver: int, memory: ttnn.BufferType, fifo: int) -> None:
        self.row, self.places = row, (sender, receiver)
        cores = [ttnn.MeshCoreCoord(ttnn.MeshCoordinate(0, place), CORE) for place in self.places]
        connection = ttnn.SocketConnection(*cores)
        config = ttnn.SocketConfig([connection], ttnn.SocketMemoryConfig(memory, fifo))
        self.sockets = ttnn.create_socket_pair(row.mesh, row.mesh, config)
        self.programs = [ttnn.ProgramDescriptor(), ttnn.ProgramDescriptor()]

    def connection(self, end: int) -> list[int]:
        """Return the words of a connection towards the other end."""
        nodes = [self.row.node(self.places[end]), self.row.node(self.places[1 - end])]
        return list(ttnn.setup_fabric_connection(*nodes, 0, self.programs[end], CORE))

    def run(self, x: ttnn.Tensor, output: ttnn.Tensor) -> None:
        ttnn.generic_op([x, output], on_chips(dict(zip(self.places, self.programs, strict=True))))


READER, WRITER = ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor()


def counts(pages: int) -> list[int]:
    return [pages // TOGETHER, pages % TOGETHER]


def sends(pair: Pair, x: ttnn.Tensor, pages: int, *, dram: bool) -> None:
    program = pair.programs[0]
    program.cbs = [cb(0, BLOCK, 2), cb(1, HEADER, 2, ttnn.uint32)]
    program.kernels = [
        kernel(
            f"{FOLDER}/send_async/device/kernels/sender_reader.cpp",
            READER,
            [0, PAGE, PAGE, TOGETHER, 0, 0, 0, *accessor(x)],
            [x.buffer_address(), pages, 0, *counts(pages)],
        ),
        kernel(
            f"{FOLDER}/send_async/device/kernels/sender_writer.cpp",
            WRITER,
            [0, 1, BLOCK, PAGE, TOGETHER, 0, 0, 0, dram],
            [pair.sockets[0].get_config_buffer_address(), 0, pages, 0, *counts(pages), *pair.connection(0)],
        ),
    ]


def receives(pair: Pair, output: ttnn.Tensor, pages: int, *, dram: bool) -> None:
    program, state = pair.programs[1], pair.sockets[1].get_config_buffer_address()
    program.cbs = [cb(0, HEADER, 2, ttnn.uint32), cb(1, PAGE, 2 * TOGETHER)]
    if dram:
        program.kernels = [
            kernel(
                f"{FOLDER}/recv_async/device/kernels/receiver_reader.cpp",
                READER,
                [0, 1, BLOCK, PAGE, dram],
                [state, 0, pages // TOGETHER, TOGETHER, pages % TOGETHER, *pair.connection(1)],
            ),
            kernel(
                f"{FOLDER}/recv_async/device/kernels/receiver_writer.cpp",
                WRITER,
                [1, PAGE, *accessor(output)],
                [output.buffer_address(), 0, pages],
            ),
        ]
    else:
        program.kernels = [
            kernel(
                f"{FOLDER}/recv_async/device/kernels/receiver_inplace_writer.cpp",
                WRITER,
                [0, PAGE, BLOCK, PAGE, TOGETHER, *accessor(output)],
                [state, output.buffer_address(), pages, 0, *counts(pages), *pair.connection(1)],
            )
        ]


@pytest.mark.parametrize("memory", [ttnn.BufferType.L1, ttnn.BufferType.DRAM], ids=["L1", "DRAM"])
@pytest.mark.parametrize("ends", [(0, 3), (2, 1)], ids=["0 to 3", "2 to 1"])
def test_send_and_receive(row: Row, ends: tuple[int, int], memory: ttnn.BufferType) -> None:
    # Seven pages through a queue of three blocks.
    pages, dram = 7, memory is ttnn.BufferType.DRAM
    x = tensor(row, (1, 1, 32, 32 * pages), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    output = empty_like(x, row.mesh)
    pair = Pair(row, *ends, memory, 3 * BLOCK + 64)
    sends(pair, x, pages, dram=dram)
    receives(pair, output, pages, dram=dram)
    for seed in (None, 3):
        with ttnn.manage_config("fabric_shuffle", seed):
            pair.run(x, output)
        np.testing.assert_array_equal(parts(output)[ends[1]], parts(x)[ends[0]])


@pytest.mark.parametrize("packs", [False, True], ids=["pages", "banks"])
def test_send_to_where_the_receiver_says(row: Row, packs: bool) -> None:
    pages, banks, handshake = 27, 12, 16
    x = tensor(row, (1, 1, 32, 32 * pages), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    output = empty_like(x, row.mesh)
    pair = Pair(row, 3, 2, ttnn.BufferType.L1, 1024)
    sender, receiver = pair.programs
    entry = banks * BLOCK if packs else BLOCK
    sender.cbs = [cb(0, entry, 2), cb(1, HEADER, 2, ttnn.uint32), cb(2, handshake, 2, ttnn.uint32)]
    sizes: list[Any] = [PAGE, PAGE, TOGETHER, 0, 0, 0, banks, packs]
    states = [socket.get_config_buffer_address() for socket in pair.sockets]
    sender.kernels = [
        kernel(
            f"{FOLDER}/send_direct_async/device/kernels/sender_direct_reader.cpp",
            READER,
            [0, *sizes, *accessor(x)],
            [x.buffer_address(), pages, 0, *counts(pages)],
        ),
        kernel(
            f"{FOLDER}/send_direct_async/device/kernels/sender_direct_writer.cpp",
            WRITER,
            [0, 1, 2, handshake, *sizes, *accessor(output)],
            [states[0], pages, 0, *counts(pages), *pair.connection(0)],
        ),
    ]
    receiver.cbs = [cb(0, HEADER, 2, ttnn.uint32)]
    receiver.kernels = [
        kernel(
            f"{FOLDER}/recv_direct_async/device/kernels/receiver_direct.cpp",
            WRITER,
            [0, handshake],
            [states[1], output.buffer_address(), *pair.connection(1)],
        )
    ]
    pair.run(x, output)
    np.testing.assert_array_equal(parts(output)[2], parts(x)[3])


def test_states_of_several_receivers(row: Row) -> None:
    """A sender has seven words, then counters and places of receivers."""
    cores = [
        ttnn.MeshCoreCoord(ttnn.MeshCoordinate(0, place), ttnn.CoreCoord(0, y)) for place, y in ((0, 0), (3, 0), (1, 1))
    ]
    config = ttnn.SocketConfig(
        [ttnn.SocketConnection(cores[0], cores[1]), ttnn.SocketConnection(cores[0], cores[2])],
        ttnn.SocketMemoryConfig(ttnn.BufferType.L1, 4096),
    )
    sender, receiver = ttnn.create_socket_pair(row.mesh, row.mesh, config)
    states = [socket._buffer for socket in (sender, receiver)]
    queue, addresses = receiver._queue.address(), [state.address() for state in states]
    places = [row.mesh.worker_core_from_logical_core(core.core_coord) for core in cores]
    words = states[0].read(coord=ttnn.MeshCoordinate(0, 0)).view(np.uint32)
    one_dimension = ttnn.get_fabric_config() is ttnn.FabricConfig.FABRIC_1D
    own, second, third = (row.node(place).chip_id for place in (0, 3, 1))
    chips = (1, 1) if one_dimension else (second, third)
    assert words[:7].tolist() == [0, 2, 0, addresses[1], queue, 4096, 0]
    assert words[16:24].tolist() == [0, chips[0], places[1].y, places[1].x, 0, chips[1], places[2].y, places[2].x]
    for number, (place, index) in enumerate(((3, 0), (1, 1))):
        state = states[1].read(coord=ttnn.MeshCoordinate(0, place)).view(np.uint32).reshape(2, -1)[index]
        upstream = [0, chips[number] if one_dimension else own, places[0].y, places[0].x]
        assert state[:11].tolist() == [0, queue, queue, 4096, 0, 0, *upstream, addresses[0] + 32 + 16 * number]
