"""Kernels that send packets to other chips, compared with collectives and NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from ttnn import metal
from ttnn.base.exceptions import (
    AddressError,
    DeadlockError,
    KernelArgumentError,
    KernelError,
    RaceError,
    UnsupportedError,
)
from ttnn.kernel_api import *

CORE = ttnn.CoreCoord(0, 0)
CORES = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, CORE)])
TILE = 2048


@pytest.fixture
def ring() -> Iterator[ttnn.MeshDevice]:
    """Eight chips in a ring."""
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 8))
    yield mesh
    ttnn.close_mesh_device(mesh)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def gather() -> None:
    """Send pages to all chips.

    Arguments: input, output, pages, own place, semaphore, hops and connection each way.
    """
    source = InterleavedAddrGen[True](bank_base_address=get_arg_val(0), page_size=TILE)
    target = InterleavedAddrGen[True](bank_base_address=get_arg_val(1), page_size=TILE)
    pages, place, semaphore = get_arg_val(2), get_arg_val(3), get_arg_val(4)
    ways = []
    for first in (5, 9):
        sender, _ = WorkerToFabricEdmSender.build_from_args(first + 1)
        sender.open()
        ways.append((get_arg_val(first), sender))
    header, l1 = PacketHeaderPool.allocate_header(), get_write_ptr(0)
    for page in range(pages):
        noc_async_read(get_noc_addr(page, source), l1, TILE)
        noc_async_read_barrier()
        there = get_noc_addr(place * pages + page, target)
        noc_async_write(l1, there, TILE)
        for hops, sender in ways:
            command = NocUnicastCommandHeader(there)
            fabric_multicast_noc_unicast_write(sender, header, l1, TILE, command, 1, hops)
        noc_async_write_barrier()
    for hops, sender in ways:
        command = NocUnicastAtomicIncCommandHeader(get_noc_addr(*my_place(), semaphore), 1)
        fabric_multicast_noc_unicast_atomic_inc(sender, header, command, 1, hops)
        sender.close()
    noc_semaphore_wait(semaphore, 7)
    noc_semaphore_set(semaphore, 0)


def my_place() -> tuple[int, int]:
    address = get_noc_addr(0)
    return address >> 36 & 63, address >> 42 & 63


def tensor(mesh: ttnn.MeshDevice, pages: int) -> ttnn.Tensor:
    values = np.random.default_rng(5).standard_normal((8, 1, 32, 32 * pages)).astype(np.float32)
    mapper = ttnn.ShardTensorToMesh(mesh, 0).unwrap()
    return ttnn.Tensor(values, ttnn.bfloat16, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)


def each_chip(mesh: ttnn.MeshDevice, program: Callable[[int], ttnn.ProgramDescriptor]) -> ttnn.MeshProgramDescriptor:
    """Return a program for each chip of a row."""
    programs = {}
    for column in range(8):
        at = ttnn.MeshCoordinate(0, column)
        programs[ttnn.MeshCoordinateRange(at, at)] = program(column)
    return ttnn.MeshProgramDescriptor(programs)


def program_of(
    mesh: ttnn.MeshDevice, kernel: Any, place: int, args: list[Any], ways: dict[int, list[int]]
) -> ttnn.ProgramDescriptor:
    """Return a program of one kernel.

    `ways`: words before the connection to each neighbour.
    """
    cb = ttnn.CBDescriptor(
        total_size=2 * TILE,
        core_ranges=CORES,
        format_descriptors=[ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=TILE)],
    )
    descriptor = ttnn.KernelDescriptor(kernel_source=kernel, core_ranges=CORES, config=ttnn.WriterConfigDescriptor())
    program = ttnn.ProgramDescriptor(kernels=[descriptor], cbs=[cb])
    words = list(args)
    node = [mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, column)) for column in range(8)]
    for step, before in ways.items():
        words += before
        words += ttnn.setup_fabric_connection(node[place], node[(place + step) % 8], 0, program, CORE)
    descriptor.runtime_args[0][0] = words
    return program


def gathered(mesh: ttnn.MeshDevice, x: ttnn.Tensor, pages: int) -> npt.NDArray[Any]:
    shape = ttnn.Shape([8, 1, 32, 32 * pages])
    output = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
    semaphore = ttnn.create_global_semaphore(mesh, CORES, 0)
    address = ttnn.get_global_semaphore_address(semaphore)
    args = [x.buffer_address(), output.buffer_address(), pages]
    program = each_chip(mesh, lambda place: program_of(mesh, gather, place, [*args, place, address], {1: [4], -1: [3]}))
    ttnn.generic_op([x, output], program)
    return np.stack([part.to_numpy() for part in ttnn.get_device_tensors(output)])


def test_a_gather_of_packets_is_all_gather(ring: ttnn.MeshDevice) -> None:
    x = tensor(ring, 3)
    result = gathered(ring, x, 3)
    expected = ttnn.all_gather(x, dim=0, topology=ttnn.Topology.Ring)
    for part, chip in zip(ttnn.get_device_tensors(expected), result, strict=True):
        np.testing.assert_array_equal(part.to_numpy(), chip)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_packets_changes_nothing(ring: ttnn.MeshDevice, seed: int) -> None:
    x = tensor(ring, 2)
    expected = gathered(ring, x, 2)
    with ttnn.manage_config("fabric_shuffle", seed):
        np.testing.assert_array_equal(gathered(ring, x, 2), expected)


# One packet from chip 0, and what it does at chip 1 or others.


def send_one(*hops: int) -> Callable[[Callable[[PacketHeader, int], None]], Callable[[], None]]:
    """Make a kernel that sends 64 bytes, counting from 0.

    A function writes the header.

    Arguments: target, connection.
    """

    def make(write: Callable[[PacketHeader, int], None]) -> Callable[[], None]:
        def kernel() -> None:
            sender, _ = WorkerToFabricEdmSender.build_from_args(1)
            sender.open()
            l1, header = get_write_ptr(0), PacketHeaderPool.allocate_header()
            L1Pointer(l1, np.uint8).write(np.arange(64))
            header.to_chip_multicast(MulticastRoutingCommandHeader(*hops))
            write(header, get_noc_addr(*my_place(), get_arg_val(0)))
            sender.send_payload_without_header_non_blocking_from_address(l1, 64)
            sender.send_payload_flush_blocking_from_address(header.address, packet_header_bytes())
            sender.close()

        return kernel

    return make


@send_one(1, 2)
def write_to_two(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_write(NocUnicastCommandHeader(target), 48)


@send_one(2, 1)
def write_word(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_inline_write(NocUnicastInlineWriteCommandHeader(target + 4, 7))


@send_one(7, 1)
def add_twice(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_atomic_inc(NocUnicastAtomicIncCommandHeader(target + 4, 2**32 - 1))


@send_one(1, 1)
def fused(header: PacketHeader, target: int) -> None:
    command = NocUnicastAtomicIncFusedCommandHeader(target + 32, target, 3)
    header.to_noc_fused_unicast_write_atomic_inc(command, 32)


@send_one(1, 1)
def scatter(header: PacketHeader, target: int) -> None:
    command = NocUnicastScatterCommandHeader([target + 48, target + 16, target], [16, 16])
    header.to_noc_unicast_scatter_write(command, 48)


@send_one(1, 1)
def fused_scatter(header: PacketHeader, target: int) -> None:
    command = NocUnicastScatterAtomicIncFusedCommandHeader([target + 32, target + 48], target, [16], 5)
    header.to_noc_fused_unicast_scatter_write_atomic_inc(command, 32)


COUNT = np.arange(64, dtype=np.uint8)
ONES = np.full(64, 1, np.uint8)


def expected(**parts: bytes) -> npt.NDArray[np.uint8]:
    """Return 64 ones with other bytes at places."""
    values = ONES.copy()
    for name, data in parts.items():
        start = int(name[1:])
        values[start : start + len(data)] = np.frombuffer(data, np.uint8)
    return values


def buffer_of_ones(mesh: ttnn.MeshDevice) -> metal.MeshBuffer:
    config = metal.DeviceLocalBufferConfig(page_size=64, buffer_type=ttnn.BufferType.L1)
    buffer = metal.MeshBuffer.create(metal.ReplicatedBufferConfig(size=64), config, mesh)
    metal.enqueue_write_mesh_buffer(mesh.mesh_command_queue(), buffer, ONES)
    return buffer


def on_first_chip(mesh: ttnn.MeshDevice, kernel: Any, args: list[Any]) -> metal.MeshWorkload:
    """Return a workload of one kernel.

    It is on chip (0, 0), with a connection to the next one.
    """
    node = [mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, column)) for column in range(2)]
    words = ttnn.compute_fabric_connection_rt_args(node[0], node[1:], [], [0], [1])
    program = metal.create_program()
    config = metal.CircularBufferConfig(2 * TILE, {0: ttnn.bfloat16}).set_page_size(0, TILE)
    metal.create_circular_buffer(program, CORE, config)
    id = metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, id, CORE, [*args, *words[1:]])
    workload = metal.MeshWorkload()
    first = ttnn.MeshCoordinate(0, 0)
    workload.add_program(ttnn.MeshCoordinateRange(first, first), program)
    return workload


@pytest.mark.parametrize(
    ("kernel", "chips", "result"),
    [
        (write_to_two, {1, 2}, expected(_0=bytes(range(48)))),
        (write_word, {2}, expected(_4=(7).to_bytes(4, "little"))),
        (add_twice, {7}, expected(_4=(0x01010100).to_bytes(4, "little"))),
        (fused, {1}, expected(_0=(0x01010104).to_bytes(4, "little"), _32=bytes(range(32)))),
        (scatter, {1}, expected(_48=bytes(range(16)), _16=bytes(range(16, 32)), _0=bytes(range(32, 48)))),
        (fused_scatter, {1}, expected(_0=(0x01010106).to_bytes(4, "little"), _32=bytes(range(32)))),
    ],
    ids=["write", "word", "add", "fused", "scatter", "fused_scatter"],
)
def test_packets(ring: ttnn.MeshDevice, kernel: Any, chips: set[int], result: npt.NDArray[np.uint8]) -> None:
    buffer = buffer_of_ones(ring)
    queue = ring.mesh_command_queue()
    metal.enqueue_mesh_workload(queue, on_first_chip(ring, kernel, [buffer]))
    for column in range(8):
        there = metal.read_shard(queue, None, buffer, ttnn.MeshCoordinate(0, column)).view(np.uint8)
        np.testing.assert_array_equal(there, result if column in chips else ONES, err_msg=f"chip {column}")


# Mistakes.


@send_one(1, 1)
def past_the_end(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_write(NocUnicastCommandHeader(target + 32), 64)


@send_one(8, 1)
def too_far(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_write(NocUnicastCommandHeader(target), 64)


@send_one(1, 1)
def nowhere(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_write(NocUnicastCommandHeader(63 << 36), 64)


@send_one(1, 1)
def larger_than_payload(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_write(NocUnicastCommandHeader(target), 128)


@send_one(1, 1)
def unaligned(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_atomic_inc(NocUnicastAtomicIncCommandHeader(target + 2, 1))


@send_one(1, 1)
def unlike(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_write(NocUnicastCommandHeader(target + 8), 32)


@send_one(1, 1)
def unlike_part(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_scatter_write(NocUnicastScatterCommandHeader([target, target + 32], [24]), 40)


def unaligned_payload() -> None:
    sender, _ = WorkerToFabricEdmSender.build_from_args(1)
    sender.open()
    L1Pointer(get_write_ptr(0), np.uint8).write(np.zeros(64, np.uint8))
    sender.send_payload_without_header_non_blocking_from_address(get_write_ptr(0) + 8, 32)


def unaligned_header() -> None:
    sender, _ = WorkerToFabricEdmSender.build_from_args(1)
    sender.open()
    sender.send_payload_non_blocking_from_address(PacketHeaderPool.allocate_header(2).address + 4, 48)


def no_mux() -> None:
    WorkerToFabricEdmSender(0x40000000 | 18 << 16 | 25 << 8 | 3).open()


@send_one(1, 1)
def read(header: PacketHeader, target: int) -> None:
    header.to_noc_unicast_write(NocUnicastCommandHeader(target), 64)
    L1Pointer(header.address + 42, np.uint8).write([7])


def not_open() -> None:
    sender, _ = WorkerToFabricEdmSender.build_from_args(1)
    sender.wait_for_empty_write_slot()


def open_twice() -> None:
    sender, _ = WorkerToFabricEdmSender.build_from_args(1)
    sender.open()
    sender.open()


def no_connection() -> None:
    WorkerToFabricEdmSender(99).open()


def too_large() -> None:
    sender, _ = WorkerToFabricEdmSender.build_from_args(1)
    sender.open()
    L1Pointer(get_write_ptr(0), np.uint8).write(np.zeros(4096, np.uint8))
    sender.send_payload_without_header_non_blocking_from_address(get_write_ptr(0), 4368)


def too_many_headers() -> None:
    PacketHeaderPool.allocate_header(30)
    PacketHeaderPool.allocate_header(3)


@pytest.mark.parametrize(
    ("kernel", "error", "text"),
    [
        (past_the_end, AddressError, "64 B at address .* of the L1 of core 0-0 of the receiving chip"),
        (too_far, KernelArgumentError, "8 hops over connection .*, which has 7 chips"),
        (nowhere, AddressError, "63-0"),
        (larger_than_payload, KernelArgumentError, "its payload is 128 B, but 64 B were written"),
        (unaligned, AddressError, "multiple of 4|aligned"),
        (unlike, AddressError, r"source \d+ and destination \d+ of a transfer must be equal modulo 16"),
        (unlike_part, AddressError, r"source \d+ and destination \d+ of a transfer must be equal modulo 16"),
        (unaligned_payload, AddressError, r"the L1 address of a packet's payload \d+ is not a multiple of 16"),
        (unaligned_header, AddressError, r"the L1 address of a packet header \d+ is not a multiple of 16"),
        (no_mux, KernelArgumentError, "no mux kernel .* has channel 3 on the core with NoC coordinates 18-25"),
        (read, UnsupportedError, "a read on the other chip"),
        (not_open, KernelArgumentError, "is not open"),
        (open_twice, KernelArgumentError, "is open already"),
        (no_connection, KernelArgumentError, "there is no connection 99; the host made connections"),
        (too_large, KernelArgumentError, "4368 B is larger than 4352 B"),
        (too_many_headers, KernelArgumentError, "3 headers; 2 of 32 are left"),
    ],
)
def test_mistakes_name_chip_core_kernel_and_line(
    ring: ttnn.MeshDevice, kernel: Any, error: type[Exception], text: str
) -> None:
    buffer = buffer_of_ones(ring)
    with pytest.raises(error, match=text) as caught:
        metal.enqueue_mesh_workload(ring.mesh_command_queue(), on_first_chip(ring, kernel, [buffer]))
    assert "chip (0, 0), core 0-0" in str(caught.value), caught.value
    assert "test_fabric_kernels.py:" in str(caught.value), caught.value
    if isinstance(caught.value, KernelError):
        assert caught.value.chip == (0, 0)
    ring.reset()
    metal.enqueue_mesh_workload(ring.mesh_command_queue(), on_first_chip(ring, write_word, [buffer]))


def add_to_next() -> None:
    """Add 3 to a semaphore of the next chip. Arguments: semaphore, connection."""
    sender, _ = WorkerToFabricEdmSender.build_from_args(1)
    sender.open()
    command = NocUnicastAtomicIncCommandHeader(get_noc_addr(*my_place(), get_arg_val(0)), 3)
    fabric_unicast_noc_unicast_atomic_inc(sender, PacketHeaderPool.allocate_header(), command, 1)
    sender.close()


def test_semaphores_that_are_left_above_zero_are_noted(ring: ttnn.MeshDevice) -> None:
    left, other = (ttnn.create_global_semaphore(ring, CORES, value) for value in (0, 5))
    address = ttnn.get_global_semaphore_address(left)
    workload = on_first_chip(ring, add_to_next, [address])
    for value in (3, 6):
        report = metal.enqueue_mesh_workload(ring.mesh_command_queue(), workload)
        assert report.notes == [
            f"chip (0, 1), core 0-0: the global semaphore at {address} is left at {value}; the next program that waits "
            "for it begins with this value"
        ]
    assert other.values(ttnn.MeshCoordinate(0, 1)) == [5]
    with ttnn.manage_config("watcher", False):
        assert metal.enqueue_mesh_workload(ring.mesh_command_queue(), workload).notes == []
    ttnn.reset_global_semaphore_value(left, 2**32 - 3)
    assert metal.enqueue_mesh_workload(ring.mesh_command_queue(), workload).notes == []


def wait_for_ever() -> None:
    noc_semaphore_wait(get_semaphore(0), 1)


def test_a_deadlock_names_every_chip(ring: ttnn.MeshDevice) -> None:
    workload = metal.MeshWorkload()
    for column in (0, 3):
        program = metal.create_program()
        metal.create_semaphore(program, CORES, 0)
        metal.create_kernel(program, wait_for_ever, CORE, metal.DataMovementConfig())
        at = ttnn.MeshCoordinate(0, column)
        workload.add_program(ttnn.MeshCoordinateRange(at, at), program)
    with pytest.raises(DeadlockError) as caught:
        metal.enqueue_mesh_workload(ring.mesh_command_queue(), workload)
    text = str(caught.value)
    assert "chip (0, 0), core 0-0 BRISC kernel wait_for_ever" in text
    assert "chip (0, 3), core 0-0" in text
    assert caught.value.chip == (0, 0)
    ring.reset()


def use_at_once() -> None:
    """Read the buffer that a packet writes, without a semaphore. Arguments: target."""
    L1Pointer(get_arg_val(0)).read(16)


def test_bytes_of_a_packet_need_a_semaphore(ring: ttnn.MeshDevice) -> None:
    buffer = buffer_of_ones(ring)
    workload = on_first_chip(ring, write_to_two, [buffer])
    program = metal.create_program()
    kernel = metal.create_kernel(program, use_at_once, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, CORE, [buffer])
    second = ttnn.MeshCoordinate(0, 1)
    workload.add_program(ttnn.MeshCoordinateRange(second, second), program)
    with pytest.raises(RaceError, match=r"chip \(0, 0\).*nothing ensures that kernel use_at_once .* has read them"):
        metal.enqueue_mesh_workload(ring.mesh_command_queue(), workload)
    ring.reset()


@pytest.mark.parametrize(
    ("route", "text"),
    [
        (lambda header: header.to_chip_unicast(257), "distance_in_hops is 257; 0 to 255"),
        (lambda header: header.to_chip_unicast(-1), "distance_in_hops is -1"),
        (lambda header: header.to_chip_multicast(MulticastRoutingCommandHeader(1, 257)), "range_hops is 257"),
        (
            lambda header: header.to_chip_multicast(MulticastRoutingCommandHeader(257, 1)),
            "start_distance_in_hops is 257",
        ),
        (lambda header: header.to_device(65536), "dst_dev_id is 65536"),
        (lambda header: header.to_rectangle(256, 0, 0, 0), "a number of hops is 256"),
        (lambda header: header.to_noc_unicast_write(NocUnicastCommandHeader(0), 70000), "payload is 70000"),
        (lambda header: header.to_chip_unicast(1.5), "distance_in_hops is 1.5; an integer is required"),
        (lambda header: PacketHeaderPool.allocate_header(1.5), "num_headers is 1.5; an integer"),
    ],
)
def test_fields_of_a_header_have_their_limits(ring: ttnn.MeshDevice, route: Any, text: str) -> None:
    def kernel() -> None:
        PacketHeaderPool.allocate_header().to_chip_unicast(np.int64(1))
        route(PacketHeaderPool.allocate_header())

    with pytest.raises(KernelArgumentError, match=text):
        metal.enqueue_mesh_workload(ring.mesh_command_queue(), on_first_chip(ring, kernel, []))
    ring.reset()


def interrupted_at_its_end() -> None:
    try:
        noc_semaphore_wait(get_semaphore(0), 1)
    finally:
        raise KeyboardInterrupt


def test_an_interrupt_of_a_kernel_that_is_closed_closes_the_others(ring: ttnn.MeshDevice) -> None:
    closed = []

    def waits() -> None:
        try:
            noc_semaphore_wait(get_semaphore(0), 1)
        finally:
            closed.append(True)

    workload = metal.MeshWorkload()
    for column, kernel in enumerate((interrupted_at_its_end, waits)):
        program = metal.create_program()
        metal.create_semaphore(program, CORES, 0)
        metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
        at = ttnn.MeshCoordinate(0, column)
        workload.add_program(ttnn.MeshCoordinateRange(at, at), program)
    with pytest.raises(KeyboardInterrupt):
        metal.enqueue_mesh_workload(ring.mesh_command_queue(), workload)
    assert closed == [True]
    ring.reset()
    buffer = buffer_of_ones(ring)
    metal.enqueue_mesh_workload(ring.mesh_command_queue(), on_first_chip(ring, write_word, [buffer]))
