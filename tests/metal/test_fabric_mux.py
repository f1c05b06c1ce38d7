"""Kernels that send through mux cores, compared with collectives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import metal
from ttnn._experimental import fabric_mux
from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.kernel_api import *

CHIPS, TILE, WORKERS = 4, 2048, 3
V1 = "tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp"
V2 = "tt_metal/fabric/impl/kernels/tt_fabric_mux_v2.cpp"
MUXES = [ttnn.CoreCoord(7, row) for row in range(2)]


def one(core: ttnn.CoreCoord) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange(core, core)])


@pytest.fixture
def line() -> Iterator[ttnn.MeshDevice]:
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, CHIPS))
    yield mesh
    ttnn.close_mesh_device(mesh)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def gather() -> None:
    """Send a worker's page to all chips through two mux cores.

    Arguments: input, output, pages, worker, place, semaphore; for each direction hops, and those of a client.
    """
    source = InterleavedAddrGen[True](bank_base_address=get_arg_val(0), page_size=TILE)
    target = InterleavedAddrGen[True](bank_base_address=get_arg_val(1), page_size=TILE)
    pages, worker, place, semaphore = (get_arg_val(index) for index in range(2, 6))
    header, l1 = PacketHeaderPool.allocate_header(), get_write_ptr(0)
    noc_async_read(get_noc_addr(worker, source), l1, TILE)
    noc_async_read_barrier()
    there = get_noc_addr(place * pages + worker, target)
    noc_async_write(l1, there, TILE)
    for first in (6, 24):
        hops, valid, _, x, y, *addresses, channel = (get_arg_val(first + index) for index in range(11))
        if not valid:
            continue
        sizes = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
        sender = build_connection_to_fabric_endpoint(x, y, channel, *sizes, *addresses, 0, 0, 0)
        wait_for_fabric_endpoint_ready(x, y, get_compile_time_arg_val(2), get_semaphore(get_arg_val(first + 12)))
        fabric_client_connect(sender)
        header.to_chip_multicast(MulticastRoutingCommandHeader(1, hops))
        header.to_noc_unicast_write(NocUnicastCommandHeader(there), TILE)
        fabric_async_write(sender, header, l1, TILE)
        own = get_noc_addr(semaphore)
        header.to_noc_unicast_atomic_inc(NocUnicastAtomicIncCommandHeader(own, 1))
        fabric_atomic_inc(sender, header)
        fabric_client_disconnect(sender)
        fabric_endpoint_terminate(x, y, get_compile_time_arg_val(3))
    noc_async_write_barrier()
    noc_semaphore_wait(semaphore, CHIPS - 1)
    noc_semaphore_set(semaphore, 0)


def config_of_mux() -> fabric_mux.Config:
    return fabric_mux.Config(WORKERS, 1, 8, 4, fabric_mux.channel_buffer_size_bytes(), 120_000)


def add_mux(mesh: ttnn.MeshDevice, program: ttnn.ProgramDescriptor, place: int, step: int, core: ttnn.CoreCoord) -> Any:
    config = config_of_mux()
    nodes = [mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, column)) for column in (place, place + step)]
    kernel = ttnn.KernelDescriptor(
        kernel_source=V1,
        core_ranges=one(core),
        compile_time_args=config.kernel_compile_time_args(),
        config=ttnn.WriterConfigDescriptor(),
    )
    kernel.runtime_args[core.x][core.y] = config.kernel_runtime_args(*nodes, 0, program, core)
    program.kernels.append(kernel)
    return config


def gather_program(mesh: ttnn.MeshDevice, place: int, x: ttnn.Tensor, output: ttnn.Tensor, semaphore: int) -> Any:
    program = ttnn.ProgramDescriptor()
    configs = {
        step: add_mux(mesh, program, place, step, core)
        for step, core in zip((1, -1), MUXES, strict=True)
        if 0 <= place + step < CHIPS
    }
    for worker in range(WORKERS):
        core = ttnn.CoreCoord(0, worker)
        form = ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=TILE)
        program.cbs.append(ttnn.CBDescriptor(total_size=TILE, core_ranges=one(core), format_descriptors=[form]))
        fixed = fabric_mux.client_compile_time_args(WORKERS, fabric_mux.ChannelType.FULL_SIZE, config_of_mux())
        kernel = ttnn.KernelDescriptor(
            kernel_source=gather,
            core_ranges=one(core),
            compile_time_args=fixed,
            config=ttnn.WriterConfigDescriptor(),
        )
        words = [x.buffer_address(), output.buffer_address(), WORKERS, worker, place, semaphore]
        for step, mux, hops in ((1, MUXES[0], CHIPS - 1 - place), (-1, MUXES[1], place)):
            words.append(hops)
            if step not in configs:
                words += [0] * 17
                continue
            virtual = mesh.worker_core_from_logical_core(mux)
            words += fabric_mux.client_runtime_args(
                True,
                worker == 0,
                fabric_mux.ChannelType.FULL_SIZE,
                virtual,
                worker,
                core,
                configs[step],
                program,
                mesh.worker_core_from_logical_core(ttnn.CoreCoord(0, 0)),
            )
        kernel.runtime_args[core.x][core.y] = words
        program.kernels.append(kernel)
    return program


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_workers_share_a_link_through_a_mux_core(line: ttnn.MeshDevice, seed: int | None) -> None:
    values = np.random.default_rng(5).standard_normal((CHIPS, 1, 32, 32 * WORKERS)).astype(np.float32)
    mapper = ttnn.ShardTensorToMesh(line, 0).unwrap()
    x = ttnn.Tensor(values, ttnn.bfloat16, device=line, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)
    shape = ttnn.Shape([CHIPS, 1, 32, 32 * WORKERS])
    output = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, line)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, WORKERS - 1))])
    semaphore = ttnn.create_global_semaphore(line, cores, 0)
    address = ttnn.get_global_semaphore_address(semaphore)
    programs = {}
    for place in range(CHIPS):
        at = ttnn.MeshCoordinate(0, place)
        programs[ttnn.MeshCoordinateRange(at, at)] = gather_program(line, place, x, output, address)
    with ttnn.manage_config("fabric_shuffle", seed):
        ttnn.generic_op([x, output], ttnn.MeshProgramDescriptor(programs))
    expected = ttnn.all_gather(x, dim=0, topology=ttnn.Topology.Linear)
    for part, other in zip(ttnn.get_device_tensors(output), ttnn.get_device_tensors(expected), strict=True):
        np.testing.assert_array_equal(part.to_numpy(), other.to_numpy())


def send_word() -> None:
    """Send a word to the next chip.

    Arguments: target, then those of a client of the second kind.
    """
    sender, following = FabricMuxV2Sender.build_from_args(1)
    assert following == 12
    sender.open()
    header = PacketHeaderPool.allocate_header()
    header.to_chip_unicast(1)
    header.to_noc_unicast_inline_write(NocUnicastInlineWriteCommandHeader(get_noc_addr(get_arg_val(0)), 7))
    assert sender.has_space_for_packet()
    sender.send_payload_flush_non_blocking_from_address(header.address, packet_header_bytes())
    assert sender.flush()
    sender.close()


def second_kind(mesh: ttnn.MeshDevice, channel: int, connection: int | None = None) -> tuple[Any, metal.MeshBuffer]:
    """Return a workload on the first chip, and its target."""
    local = metal.DeviceLocalBufferConfig(page_size=64, buffer_type=ttnn.BufferType.L1)
    buffer = metal.MeshBuffer.create(metal.ReplicatedBufferConfig(size=64), local, mesh)
    metal.enqueue_write_mesh_buffer(mesh.mesh_command_queue(), buffer, np.zeros(64, np.uint8))
    nodes = [mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, column)) for column in range(2)]
    words = ttnn.compute_fabric_connection_rt_args(nodes[0], nodes[1:], [], [0], [1])[1:]
    program, mux = metal.create_program(), MUXES[0]
    named = {"fabric_mux_v2_num_channels": 2}
    forwards = metal.create_kernel(program, V2, mux, metal.WriterDataMovementConfig(named_compile_args=named))
    metal.set_runtime_args(program, forwards, mux, words if connection is None else [connection, 0, 0])
    reader = metal.ReaderDataMovementConfig(named_compile_args=named)
    metal.create_kernel(program, V2, mux, reader)
    core = ttnn.CoreCoord(0, 0)
    kernel = metal.create_kernel(program, send_word, core, metal.DataMovementConfig())
    virtual = mesh.worker_core_from_logical_core(mux)
    metal.set_runtime_args(program, kernel, core, [buffer, virtual.x, virtual.y, channel, *[0] * 8])
    workload = metal.MeshWorkload()
    first = ttnn.MeshCoordinate(0, 0)
    workload.add_program(ttnn.MeshCoordinateRange(first, first), program)
    return workload, buffer


def test_a_mux_core_of_the_second_kind(line: ttnn.MeshDevice) -> None:
    workload, buffer = second_kind(line, channel=1)
    queue = line.mesh_command_queue()
    metal.enqueue_mesh_workload(queue, workload)
    there = [metal.read_shard(queue, None, buffer, ttnn.MeshCoordinate(0, column)) for column in range(CHIPS)]
    assert [int(part.view(np.uint32)[0]) for part in there] == [0, 7, 0, 0]


def test_there_is_no_such_channel(line: ttnn.MeshDevice) -> None:
    workload, _ = second_kind(line, channel=2)
    with pytest.raises(
        KernelArgumentError, match=r"no mux kernel .* has channel 2 on .*; the program has channels 0 of"
    ):
        metal.enqueue_mesh_workload(line.mesh_command_queue(), workload)
    line.reset()
    workload, _ = second_kind(line, channel=1, connection=99)
    with pytest.raises(KernelArgumentError, match="the mux kernel on core 7-0 forwards to connection 99; the chip has"):
        metal.enqueue_mesh_workload(line.mesh_command_queue(), workload)


def test_kernels_of_mux_cores_need_their_arguments(line: ttnn.MeshDevice) -> None:
    for name, args, words, text in (
        (V1, [1, 2, 3], [], "compile-time arguments name no channels"),
        (V1, config_of_mux().kernel_compile_time_args(), [1, 2, 3, 4], "4 runtime arguments have no words"),
        (V2, [], [], "compile-time arguments name no channels"),
    ):
        program = metal.create_program()
        kernel = metal.create_kernel(program, name, MUXES[0], metal.DataMovementConfig(compile_args=args))
        metal.set_runtime_args(program, kernel, MUXES[0], words)
        workload, first = metal.MeshWorkload(), ttnn.MeshCoordinate(0, 0)
        workload.add_program(ttnn.MeshCoordinateRange(first, first), program)
        with pytest.raises(KernelArgumentError, match=text):
            metal.enqueue_mesh_workload(line.mesh_command_queue(), workload)


def test_memory_of_a_mux_core(line: ttnn.MeshDevice) -> None:
    config = config_of_mux()
    full, headers = fabric_mux.ChannelType
    assert [config.num_channels(kind) for kind in (full, headers)] == [3, 1]
    assert [config.num_buffers(kind) for kind in (full, headers)] == [8, 4]
    assert [config.buffer_size_bytes(kind) for kind in (full, headers)] == [4400, 48]
    # Three words, then of each channel what is known of its worker and three words, then packets.
    assert config.memory_map_end_address() == 120_000 + 3 * 16 + 4 * (64 + 3 * 16) + 3 * 8 * 4400 + 4 * 48
    fixed = config.kernel_compile_time_args()
    assert (len(fixed), fixed[:5], fixed[18:]) == (22, [3, 8, 4400, 1, 4], [0, 1, 2, 3])
    program = ttnn.ProgramDescriptor()
    words = fabric_mux.client_runtime_args(
        True, False, headers, ttnn.CoreCoord(18, 19), 0, ttnn.CoreCoord(0, 1), config, program, (20, 21), 9
    )
    assert (len(words), words[:4], words[9:11], words[15:]) == (17, [1, 0, 18, 19], [3, 9], [20, 21])
    assert [semaphore.id for semaphore in program.semaphores] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((0, 0, 8, 8, 4400, 120_000), ttnn.ParameterError, "0 channels; 1 to 32"),
        ((20, 20, 8, 8, 4400, 120_000), ttnn.ParameterError, "40 channels"),
        ((1, 0, 8, 8, 4401, 120_000), ttnn.ParameterError, "4401; 0 to 4400"),
        ((1, 0, 8, 8, 4400, 1_480_000), ttnn.MemoryConfigError, "after 1499136"),
        ((1, 0, 8, 8, 4400, 120_000, ttnn.CoreType.WORKER, 150_000), ttnn.MemoryConfigError, "after 150000"),
        ((1, 0, 8, 8, 4400, 120_000, ttnn.CoreType.IDLE_ETH), UnsupportedError, "IDLE_ETH cores are not modelled"),
        ((1.5, 0, 8, 8, 4400, 120_000), ttnn.ArgumentError, "must be an int"),
    ],
)
def test_memory_that_is_impossible(line: ttnn.MeshDevice, args: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        fabric_mux.Config(*args)
    with pytest.raises(ttnn.IndexRangeError, match="channel 3 of 3"):
        fabric_mux.client_runtime_args(
            True,
            True,
            fabric_mux.ChannelType.FULL_SIZE,
            (1, 1),
            3,
            (0, 0),
            config_of_mux(),
            ttnn.ProgramDescriptor(),
            (1, 1),
        )
