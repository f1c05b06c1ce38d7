"""The host side of programs: what is changed between runs, queues, events, traces, global objects, meshes, printing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from broken import copy_tiles, filled, pipeline
from parts import CORE, TILE, add_cb, build, read_one, tiles_buffer, values, write_one

import ttnn
from ttnn import metal
from ttnn.kernel_api import *

TILES = 4
PAIR = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))


@pytest.fixture
def device() -> Iterator[ttnn.MeshDevice]:
    """Return a device with two command queues."""
    opened = ttnn.open_device(device_id=0, num_command_queues=2)
    yield opened
    if opened.is_open:
        ttnn.close_device(opened)


def copy_program(device: ttnn.MeshDevice, source: metal.Buffer, target: metal.Buffer) -> metal.Program:
    args = {"reader": [source, TILES], "compute": [TILES], "writer": [target, TILES]}
    return build({"reader": read_one, "compute": copy_tiles, "writer": write_one}, args, {0: 2, 16: 2})


def buffers(device: ttnn.MeshDevice, count: int) -> list[metal.Buffer]:
    made = [tiles_buffer(device, TILES) for _ in range(count)]
    for number, buffer in enumerate(made):
        buffer.write(values(TILES * TILE, number))
    return made


def same(one: metal.Buffer, other: metal.Buffer) -> bool:
    return bool(np.array_equal(one.read(), other.read()))


# Runs of one program.


def test_arguments_change_between_runs(device: ttnn.MeshDevice) -> None:
    a, b, out = buffers(device, 3)
    program, queue = copy_program(device, a, out), metal.command_queue(device)
    metal.enqueue_program(queue, program)
    assert same(a, out)
    reader = program.kernels[0]
    metal.set_runtime_args(program, reader, CORE, [b, TILES])
    metal.enqueue_program(queue, program)
    assert same(b, out)
    metal.get_runtime_args(program, reader, CORE)[0] = a.address()
    metal.enqueue_program(queue, program)
    assert same(a, out)


@pytest.mark.parametrize("spoiled", [[1, "two"], [1] * 342, [1, 1 << 32]])
def test_lists_of_arguments_are_checked_when_the_program_runs(device: ttnn.MeshDevice, spoiled: list[int]) -> None:
    a, out = buffers(device, 2)
    program = copy_program(device, a, out)
    metal.get_runtime_args(program, program.kernels[0], CORE)[:] = spoiled
    with pytest.raises(ttnn.KernelArgumentError, match=r"argument 1 must be a 32-bit integer|at most 341 fit"):
        metal.run_program(device, program)
    metal.get_runtime_args(program, program.kernels[0], CORE)[:] = [a.address(), TILES]
    metal.set_common_runtime_args(program, program.kernels[0], [7])
    metal.get_common_runtime_args(program, program.kernels[0])[0] = -1
    metal.run_program(device, program)
    assert same(a, out)


def test_semaphores_start_anew(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        semaphore = L1Pointer(get_semaphore(0))
        assert semaphore[0] == 5
        noc_semaphore_set(semaphore, 9)

    program = metal.create_program()
    assert metal.create_semaphore(program, CORE, 5) == 0
    metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    for _ in range(2):
        metal.run_program(device, program)


def ring_of(pages: int) -> metal.Program:
    """A kernel that sees `pages` pages in CB 0."""

    def kernel() -> None:
        assert get_local_cb_interface(0).fifo_num_pages == get_arg_val(0)

    program = metal.create_program()
    add_cb(program, 0, pages)
    handle = metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, handle, CORE, [pages])
    return program


def test_size_and_pages_of_a_circular_buffer_change_between_runs(device: ttnn.MeshDevice) -> None:
    program = ring_of(2)
    handle, kernel = program.circular_buffers[0], program.kernels[0]
    metal.run_program(device, program)
    metal.update_circular_buffer_total_size(program, handle, 6 * 2048)
    metal.set_runtime_args(program, kernel, CORE, [6])
    metal.run_program(device, program)
    metal.update_circular_buffer_page_size(program, handle, 0, 1024)
    metal.set_runtime_args(program, kernel, CORE, [12])
    metal.run_program(device, program)
    assert metal.get_circular_buffer_config(program, handle).page_sizes == {0: 1024}
    for call in (
        lambda: metal.update_circular_buffer_total_size(program, handle, 1000),
        lambda: metal.update_circular_buffer_page_size(program, handle, 0, 1000),
    ):
        with pytest.raises(ttnn.MemoryConfigError, match="must be divisible by page size"):
            call()
    with pytest.raises(ttnn.MemoryConfigError, match="memory of its own"):
        metal.update_dynamic_circular_buffer_address(program, handle, filled(device))


def test_a_circular_buffer_moves_from_buffer_to_buffer(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        assert get_read_ptr(0) == get_arg_val(0)
        L1Pointer(get_read_ptr(0))[0] = get_arg_val(1)

    l1 = [tiles_buffer(device, 4, buffer_type=metal.BufferType.L1) for _ in range(2)]
    program = metal.create_program()
    config = metal.CircularBufferConfig(2048, {0: metal.DataFormat.Float16_b}).set_page_size(0, 2048)
    handle = metal.create_circular_buffer(program, CORE, config.set_globally_allocated_address(l1[0]))
    function = metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    for number, buffer in enumerate(l1):
        buffer.write(np.zeros(buffer.size(), np.uint8))
        metal.update_dynamic_circular_buffer_address(program, handle, buffer)
        metal.set_runtime_args(program, function, CORE, [buffer, number + 1])
        metal.run_program(device, program)
    assert [buffer.read()[0] for buffer in l1] == [1, 2]
    metal.update_dynamic_circular_buffer_address_and_total_size(program, handle, l1[0], 4096)
    with pytest.raises(ttnn.MemoryConfigError, match="it needs an L1 buffer"):
        metal.run_program(device, program)
    metal.update_dynamic_circular_buffer_address_and_total_size(program, handle, l1[0], 2048)
    metal.deallocate_buffer(l1[0])
    with pytest.raises(ttnn.MemoryConfigError, match="deallocated"):
        metal.run_program(device, program)


def test_two_indices_share_a_circular_buffer(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        assert get_write_ptr(1) == get_write_ptr(24)
        assert get_local_cb_interface(1).fifo_num_pages == 2 * get_local_cb_interface(24).fifo_num_pages

    formats = {1: metal.DataFormat.Float16_b, 24: metal.DataFormat.Float32}
    config = metal.CircularBufferConfig(8192, formats).set_page_size(1, 2048)
    config.index(24).set_page_size(4096)
    program = metal.create_program()
    metal.create_circular_buffer(program, CORE, config)
    metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    metal.run_program(device, program)


# Queues and traces.


def test_two_queues_with_events(device: ttnn.MeshDevice) -> None:
    compute, transfer = metal.command_queue(device), metal.command_queue(device, 1)
    a, b, out = buffers(device, 3)
    words = values(TILES * TILE, 9).view(np.uint32)
    metal.enqueue_write_buffer(transfer, a, words)
    written = metal.enqueue_record_event(transfer)
    metal.enqueue_wait_for_event(compute, written)
    metal.enqueue_program(compute, copy_program(device, a, b))
    done = metal.enqueue_record_event(compute)
    metal.event_synchronize(done)
    assert metal.event_query(done)
    metal.enqueue_wait_for_event(transfer, done)
    assert np.array_equal(metal.enqueue_read_buffer(transfer, b), words)
    metal.finish(compute)
    metal.synchronize(device, 1)
    event = ttnn.record_event(device, 1)
    ttnn.wait_for_event(0, event)
    ttnn.event_synchronize(event)
    with ttnn.manage_device(device_id=1) as other:
        with pytest.raises(ttnn.DeviceError, match="is of another device"):
            metal.enqueue_wait_for_event(metal.command_queue(other), event)
        with pytest.raises(ttnn.DeviceError, match="is on device 0, the queue of device 1"):
            metal.enqueue_write_buffer(metal.command_queue(other), out, words)
    with pytest.raises(ttnn.DeviceError, match="queue 2 does not exist, the device was opened with 2"):
        metal.command_queue(device, 2)
    ttnn.close_device(device)
    for call in (
        lambda: metal.event_query(event),
        lambda: metal.finish(compute),
        lambda: metal.run_program(device, metal.create_program()),
    ):
        with pytest.raises(ttnn.DeviceError, match="device 0 is closed"):
            call()


def test_a_trace_keeps_the_arguments_of_its_capture(device: ttnn.MeshDevice) -> None:
    a, b, out = buffers(device, 3)
    program, queue = copy_program(device, a, out), metal.command_queue(device)
    before = out.read().copy()
    trace = metal.begin_trace_capture(device, 0)
    assert metal.enqueue_program(queue, program) is None
    metal.set_runtime_args(program, program.kernels[0], CORE, [b, TILES])
    assert ttnn.is_trace_capture_active(device)
    refused = [
        (ttnn.UnsupportedError, lambda: ttnn.zeros([32, 32], device=device)),
        (ttnn.DeviceError, lambda: metal.enqueue_read_buffer(queue, out)),
        (ttnn.DeviceError, lambda: metal.run_program(device, program)),
        (ttnn.DeviceError, lambda: metal.begin_trace_capture(device, 0)),
        (ttnn.DeviceError, lambda: metal.end_trace_capture(device, 0, 17)),
    ]
    for error, call in refused:
        with pytest.raises(error, match="trace"):
            call()
    metal.end_trace_capture(device, 0, trace)
    assert np.array_equal(out.read(), before)
    for seed in (5, 6):
        a.write(values(TILES * TILE, seed))
        (report,) = metal.replay_trace(device, 0, trace)
        assert same(a, out)
        assert report.cycles > 0
        assert queue.last_report is report
    ttnn.execute_trace(device, trace, cq_id=1)
    ttnn.release_trace(device, trace)
    with pytest.raises(ttnn.DeviceError, match="the device has no trace 0"):
        ttnn.execute_trace(device, trace)


def model(x: ttnn.Tensor, weights: ttnn.Tensor, bias: ttnn.Tensor) -> ttnn.Tensor:
    hidden = ttnn.relu(ttnn.matmul(x, weights))
    both = hidden + bias
    ttnn.deallocate(hidden)
    ttnn.add_(both, bias)
    return ttnn.softmax(both, dim=-1)


def on_device(device: ttnn.MeshDevice, seed: int) -> ttnn.Tensor:
    return ttnn.from_torch(
        values(64 * 64, seed, np.float32).reshape(64, 64), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )


def test_operators_in_a_trace(device: ttnn.MeshDevice) -> None:
    x, weights, bias = (on_device(device, seed) for seed in range(3))
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    out = model(x, weights, bias)
    with pytest.raises(ttnn.UnsupportedError, match="transfers and new tensors cannot"):
        ttnn.to_torch(out)
    with pytest.raises(ttnn.UnsupportedError, match="transfers and new tensors cannot"):
        on_device(device, 9)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    address, before = out.buffer_address(), device._engine.allocated_bytes()
    for seed in (7, 8, 7):
        fresh = on_device(device, seed)
        ttnn.copy_host_to_device_tensor(ttnn.from_device(fresh), x)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        wanted = model(fresh, weights, bias)
        assert np.array_equal(ttnn.to_numpy(out), ttnn.to_numpy(wanted))
        del fresh, wanted
    assert (out.buffer_address(), device._engine.allocated_bytes()) == (address, before)
    ttnn.release_trace(device, trace)
    x.deallocate()
    with pytest.raises(ttnn.StorageError):
        model(x, weights, bias)


def test_operators_and_programs_in_a_trace(device: ttnn.MeshDevice) -> None:
    x, bias = on_device(device, 1), on_device(device, 2)
    copied = ttnn.zeros([64, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    trace = metal.begin_trace_capture(device, 0)
    shifted = x + bias
    args = {"reader": [shifted.buffer_address(), 4], "compute": [4], "writer": [copied.buffer_address(), 4]}
    program = build({"reader": read_one, "compute": copy_tiles, "writer": write_one}, args, {0: 2, 16: 2})
    metal.enqueue_program(metal.command_queue(device), program)
    twice = copied + copied
    metal.end_trace_capture(device, 0, trace)
    (report,) = metal.replay_trace(device, 0, trace)
    assert report.cycles > 0
    assert np.array_equal(ttnn.to_numpy(twice), ttnn.to_numpy((x + bias) + (x + bias)))


def test_a_reset_ends_a_capture(device: ttnn.MeshDevice) -> None:
    trace = metal.begin_trace_capture(device, 0)
    device.reset()
    assert not ttnn.is_trace_capture_active(device)
    ttnn.zeros([32, 32], device=device)
    with pytest.raises(ttnn.DeviceError, match="is not being captured"):
        metal.end_trace_capture(device, 0, trace)


# What outlives programs.


def test_a_global_semaphore_counts_from_program_to_program(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        address = get_arg_val(0)
        noc_semaphore_inc(get_noc_addr(get_arg_val(1), get_arg_val(2), address), 1)
        noc_async_atomic_barrier()
        noc_semaphore_wait_min(L1Pointer(address), get_arg_val(3))

    semaphore = ttnn.create_global_semaphore(device, metal.CoreRangeSet([PAIR]), 40)
    other = metal.create_global_semaphore(device, PAIR, 0, metal.BufferType.L1)
    assert semaphore.address() == ttnn.get_global_semaphore_address(semaphore) != other.address()
    program = metal.create_program()
    handle = metal.create_kernel(program, kernel, PAIR, metal.DataMovementConfig())
    for wanted in (41, 42):
        for x in range(2):
            there = device.worker_core_from_logical_core(metal.CoreCoord(1 - x, 0))
            args = [semaphore, there.x, there.y, wanted]
            metal.set_runtime_args(program, handle, metal.CoreCoord(x, 0), args)
        metal.run_program(device, program)
    assert (semaphore.values(), other.values()) == ([42, 42], [0, 0])
    ttnn.reset_global_semaphore_value(semaphore, 7)
    assert semaphore.values() == [7, 7]
    with pytest.raises(ttnn.MemoryConfigError, match="semaphores lie in L1"):
        metal.create_global_semaphore(device, PAIR, 0, metal.BufferType.DRAM)
    with pytest.raises(ttnn.KernelArgumentError, match="an unsigned 32-bit word, got -1"):
        metal.create_global_semaphore(device, PAIR, -1)


def test_a_global_circular_buffer_tells_its_kernels_where_the_other_side_is(device: ttnn.MeshDevice) -> None:
    def sender() -> None:
        config = L1Pointer(get_arg_val(0))
        assert [config[i] for i in (0, 1, 3, 4, 5)] == [1, 2, get_arg_val(1), 4096, get_arg_val(1)]
        table = L1Pointer(config[2])
        assert [table[i] for i in range(4)] == [get_arg_val(2 + i) for i in range(4)]

    def receiver() -> None:
        config = L1Pointer(get_arg_val(0))
        assert [config[i] for i in range(6)] == [
            0,
            my_x[0] - 1 - get_relative_logical_x(),
            my_y[0],
            *[get_arg_val(1), 4096, get_arg_val(1)],
        ]
        assert L1Pointer(config[6])[0] == L1Pointer(config[6] + 16)[0] == 0

    to = metal.CoreRange(metal.CoreCoord(1, 0), metal.CoreCoord(2, 0))
    buffer = ttnn.create_global_circular_buffer(device, [(CORE, metal.CoreRangeSet([to]))], 4096)
    assert buffer.receiver_cores().num_cores() == 2
    assert buffer.all_cores().num_cores() == 3
    there = [device.worker_core_from_logical_core(core) for core in to.cores()]
    program = metal.create_program()
    args = [buffer.config_address(), buffer.buffer_address(), *(value for core in there for value in (core.x, core.y))]
    kernel = metal.create_kernel(program, sender, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, CORE, args)
    kernel = metal.create_kernel(program, receiver, to, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, to, args)
    config = metal.CircularBufferConfig(4096)
    config.remote_index(31).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
    config.index(1).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
    metal.create_circular_buffer(program, buffer.all_cores(), config, buffer)
    metal.run_program(device, program)
    assert f"remote end of the global circular buffer at {buffer.buffer_address()}" in repr(program)


@pytest.mark.parametrize(
    ("mapping", "size", "text"),
    [
        ([], 4096, "names no sender"),
        ([(CORE, metal.CoreRangeSet([PAIR]))], 4096, "core 0-0 appears twice"),
        ([(metal.CoreCoord(2, 0), metal.CoreRangeSet([PAIR]))], 4090, "a multiple of 16 B"),
        ([(metal.CoreCoord(20, 0), metal.CoreRangeSet([PAIR]))], 4096, "outside the compute grid"),
        ([(metal.CoreCoord(2, 0), metal.CoreRangeSet())], 4096, "needs a CoreRangeSet of receivers"),
    ],
)
def test_wrong_global_circular_buffers(
    device: ttnn.MeshDevice, mapping: list[tuple[metal.CoreCoord, metal.CoreRangeSet]], size: int, text: str
) -> None:
    with pytest.raises(ttnn.TtnnError, match=text):
        ttnn.create_global_circular_buffer(device, mapping, size)


# Meshes, memory, sources.


def test_a_mesh_of_one_chip() -> None:
    mesh = metal.distributed.MeshDevice.create(metal.MeshDeviceConfig(mesh_shape=ttnn.MeshShape(1, 1)))
    queue = mesh.mesh_command_queue()
    local = metal.DeviceLocalBufferConfig(page_size=2048)
    config = metal.ReplicatedBufferConfig(size=TILES * 2048)
    source, target = (metal.MeshBuffer.create(config, local, mesh) for _ in range(2))
    assert (source.size(), source.device_local_size(), source.num_pages()) == (8192, 8192, 4)
    data = values(TILES * TILE, 3)
    metal.enqueue_write_mesh_buffer(queue, source, data)
    workload = metal.MeshWorkload()
    workload.add_program(ttnn.MeshCoordinateRange(mesh.shape), copy_program(mesh, source, target))
    assert metal.enqueue_mesh_workload(queue, workload, False).cycles > 0
    queue.finish()
    words: list[int] = []
    metal.enqueue_read_mesh_buffer(queue, words, target, True)
    assert np.array_equal(np.array(words, np.uint32).view(np.uint16), data.view(np.uint16))
    origin = ttnn.MeshCoordinate(0, 0)
    metal.write_shard(queue, target, np.zeros(8192, np.uint8), origin)
    assert not metal.read_shard(queue, [], target.get_device_buffer(origin), origin).any()
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        metal.read_shard(queue, [], target, ttnn.MeshCoordinate(0, 1))
    with pytest.raises(ttnn.MemoryConfigError, match="overlaps with"):
        workload.add_program(ttnn.MeshCoordinateRange(mesh.shape), metal.create_program())
    elsewhere = metal.MeshWorkload()
    elsewhere.add_program(ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 2)), metal.create_program())
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        metal.enqueue_mesh_workload(queue, elsewhere)
    halves = metal.ShardedMeshBufferConfig(global_size=8192, global_buffer_shape=(64, 64), shard_shape=(32, 64))
    with pytest.raises(ttnn.UnsupportedError, match="for several chips; only 1x1 is built"):
        metal.MeshBuffer.create(halves, local, mesh)
    trace = mesh.begin_mesh_trace()
    metal.enqueue_mesh_workload(queue, workload)
    mesh.end_mesh_trace(0, trace)
    mesh.replay_mesh_trace(0, trace)
    assert same(source, target)
    mesh.release_mesh_trace(trace)
    assert mesh.close()
    with pytest.raises(ttnn.UnsupportedError, match="has several chips"):
        ttnn.MeshDevice.create(metal.MeshDeviceConfig(mesh_shape=ttnn.MeshShape(1, 2)))


def test_sharded_buffers_by_official_parameters(device: ttnn.MeshDevice) -> None:
    spec = metal.ShardSpecBuffer(
        metal.CoreRangeSet([PAIR]), (32, 64), ttnn.ShardOrientation.ROW_MAJOR, (32, 32), (2, 2)
    )
    config = metal.ShardedBufferConfig(device=device, size=8192, page_size=2048, shard_parameters=spec)
    buffer = metal.create_buffer(config)
    data = values(4 * TILE, 1)
    buffer.write(data)
    assert np.array_equal(buffer.read(np.uint16), data.view(np.uint16))
    # The second core has the second row of tiles.
    assert np.array_equal(
        metal.read_from_device_l1(device, (1, 0), buffer.address(), 4096), data.view(np.uint32)[1024:]
    )


def test_memory_by_address(device: ttnn.MeshDevice) -> None:
    buffer = tiles_buffer(device, 1)
    metal.write_to_device_dram_channel(device, 0, buffer.address(), np.arange(512, dtype=np.uint32))
    assert np.array_equal(metal.read_from_buffer(buffer), np.arange(512))
    metal.write_to_buffer(buffer, np.zeros(512, np.uint32))
    words: list[int] = []
    metal.read_from_device_dram_channel(device, 0, buffer.address(), 16, words)
    assert words == [0] * 4
    metal.write_to_device_l1(device, (7, 7), 500_000, [1, 2, 3])
    assert metal.read_from_device_l1(device, (7, 7), 500_000, 12).tolist() == [1, 2, 3]
    for call in (
        lambda: metal.read_from_device_l1(device, (7, 7), 1_499_132, 8),
        lambda: metal.read_from_device_l1(device, (8, 8), 0, 8),
        lambda: metal.read_from_device_dram_channel(device, 12, 0, 8),
        lambda: metal.write_to_device_dram_channel(device, 0, (1 << 30) - 4, [1, 2]),
    ):
        with pytest.raises(ttnn.DeviceError, match=r"outside|does not exist"):
            call()


KERNEL = """
def kernel_main():
    noc_semaphore_set(L1Pointer(get_semaphore(0)), get_compile_time_arg_val(0))
    helper()


def helper():
    assert get_define("MODE") == "slow"
"""


def test_kernels_from_files_and_texts(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    path = tmp_path / "writer.py"
    path.write_text(KERNEL)
    config = metal.DataMovementConfig(compile_args=[3], defines={"MODE": "slow"})

    def program() -> metal.Program:
        made = metal.create_program()
        metal.create_semaphore(made, CORE, 0)
        return made

    first, second, third = program(), program(), program()
    metal.create_kernel(first, str(path), CORE, config)
    metal.create_kernel_from_string(second, KERNEL, CORE, config)
    metal.set_root_dir(tmp_path)
    metal.create_kernel(third, "writer.py", CORE, config)
    for made in (first, second, third):
        metal.run_program(device, made)
    wrong = metal.DataMovementConfig(compile_args=[3], defines={"MODE": "fast"})
    fourth = program()
    metal.create_kernel_from_string(fourth, KERNEL, CORE, wrong)
    with pytest.raises(ttnn.KernelError, match=r"AssertionError") as caught:
        metal.run_program(device, fourth)
    assert caught.value.line == 8
    device.reset()
    for text, error, sentence in (
        ("int x;", ttnn.KernelError, "SyntaxError"),
        ("def main(): pass", ttnn.KernelError, "defines no function kernel_main"),
        ("#include <cstdint>\nvoid kernel_main() {}", ttnn.UnsupportedError, "this is C"),
    ):
        with pytest.raises(error, match=sentence):
            metal.create_kernel_from_string(program(), text, CORE, config)
    with pytest.raises(ttnn.KernelError, match="doesn't exist in any of the searched paths"):
        metal.create_kernel(program(), "nowhere.py", CORE, config)


def test_sub_devices(device: ttnn.MeshDevice) -> None:
    left, right = (
        metal.CoreRangeSet([metal.CoreRange(metal.CoreCoord(x, 0), metal.CoreCoord(x + 3, 7))]) for x in (0, 4)
    )
    manager = device.create_sub_device_manager([ttnn.SubDevice([left]), ttnn.SubDevice([right])], 0)
    device.load_sub_device_manager(manager)
    device.set_sub_device_stall_group([ttnn.SubDeviceId(1)])
    a, out = buffers(device, 2)
    metal.run_program(device, copy_program(device, a, out))
    across = metal.create_program()
    both = metal.CoreRange(metal.CoreCoord(3, 0), metal.CoreCoord(4, 0))
    metal.create_kernel(across, lambda: None, both, metal.DataMovementConfig())
    with pytest.raises(ttnn.DeviceError, match="Programs must be executed on a single sub-device"):
        metal.run_program(device, across)
    with pytest.raises(ttnn.DeviceError, match="sub-device 2 of 2 does not exist"):
        ttnn.synchronize_device(device, sub_device_ids=[ttnn.SubDeviceId(2)])
    with pytest.raises(ttnn.DeviceError, match="is loaded; clear it first"):
        device.remove_sub_device_manager(manager)
    device.clear_loaded_sub_device_manager()
    device.remove_sub_device_manager(manager)
    metal.run_program(device, across)
    with pytest.raises(ttnn.DeviceError, match="has no sub-device manager 1"):
        device.load_sub_device_manager(manager)
    with pytest.raises(ttnn.DeviceError, match="core 0-0 is in two sub-devices"):
        device.create_sub_device_manager([ttnn.SubDevice([left]), ttnn.SubDevice([left])], 0)
    with pytest.raises(ttnn.UnsupportedError, match="local_l1_size 3200"):
        device.create_sub_device_manager([ttnn.SubDevice([left])], 3200)


# Printing.


def test_a_program_prints_itself(device: ttnn.MeshDevice) -> None:
    program = pipeline(device)
    program.kernels[1].config.compile_args = list(range(20))
    metal.set_common_runtime_args(program, program.kernels[0], [5])
    metal.create_semaphore(program, PAIR, 3)
    add_cb(program, 24, 1, metal.DataFormat.Float32, PAIR)
    source, target = (program.kernels[i].args[0, 0][0] for i in (0, 2))
    compiled = "[0, 1, 2, 3, 4, 5, 6, 7, ... 20 in all]"
    l1 = tiles_buffer(device, 1, buffer_type=metal.BufferType.L1)
    assert program.describe(device).splitlines() == [
        "Program on 2 cores {[0-0 - 1-0]}",
        "  kernels",
        f"    BRISC   write_one   on {{[0-0 - 0-0]}}  NoC 1  arguments [{target}, 4]",
        f"    NCRISC  read_one    on {{[0-0 - 0-0]}}  NoC 0  arguments [{source}, 4]; common arguments [5]",
        f"    TRISC   copy_tiles  on {{[0-0 - 0-0]}}  HiFi4  compiled with {compiled}; arguments [4]",
        "  circular buffers",
        "    CB 0   2 pages of 2048 B  Float16_b  on {[0-0 - 0-0]}",
        "    CB 16  2 pages of 2048 B  Float16_b  on {[0-0 - 0-0]}",
        "    CB 24  1 page of 4096 B   Float32    on {[0-0 - 1-0]}",
        "  semaphores",
        "    0  starts at 3  on {[0-0 - 1-0]}",
        "  L1 of {[0-0 - 0-0]}: 12288 B of circular buffers",
        "      105,824    109,920  CB 0",
        "      109,920    114,016  CB 16",
        "      114,016    118,112  CB 24",
        f"      118,112  {l1.address():>9,}  free, {l1.address() - 118_112} B",
        "  L1 of {[1-0 - 1-0]}: 4096 B of circular buffers",
        "      114,016    118,112  CB 24",
        f"      118,112  {l1.address():>9,}  free, {l1.address() - 118_112} B",
    ]
    assert "addresses from the first that is free" in repr(program)
    assert repr(metal.create_program()) == "Program on 0 cores"
    add_cb(program, 5, 800)
    assert "CB 5" in repr(program)
    with pytest.raises(ttnn.MemoryConfigError, match="beyond max L1 size"):
        program.describe(device)


# Circular buffers between cores.

ROUNDS, RECEIVERS = 5, 2


def feed() -> None:
    """Sender: rows of one page for each receiver. Arguments: address, first row, rows."""
    pages = InterleavedAddrGenFast[True](get_arg_val(0), 2048, 5)
    for row in range(get_arg_val(1), get_arg_val(1) + get_arg_val(2)):
        cb_reserve_back(0, RECEIVERS)
        for part in range(RECEIVERS):
            noc_async_read_tile(row * RECEIVERS + part, pages, get_write_ptr(0) + part * 2048)
        noc_async_read_barrier()
        cb_push_back(0, RECEIVERS)


def forward() -> None:
    """Sender: what `feed` brings, to the receivers. Arguments: rows."""
    for _ in range(get_arg_val(0)):
        cb_wait_front(0, RECEIVERS)
        remote_cb_reserve_back(31, 1)
        remote_cb_push_back_and_write_pages(31, get_read_ptr(0), 1, 1, 1, 2048)
        noc_async_write_barrier()
        cb_pop_front(0, RECEIVERS)
    noc_async_atomic_barrier()
    remote_cb_sender_barrier(31)
    update_remote_cb_config_in_l1(31)


def keep() -> None:
    """Receiver: pages that come, to a buffer. Arguments: address, first row, rows, L1 address, pages there."""
    pages = InterleavedAddrGenFast[True](get_arg_val(0), 2048, 5)
    for row in range(get_arg_val(1), get_arg_val(1) + get_arg_val(2)):
        remote_cb_wait_front(31, 1)
        place = get_arg_val(3) + row % get_arg_val(4) * 2048
        noc_async_write_tile(row * RECEIVERS + get_relative_logical_x(), pages, place)
        noc_async_write_barrier()
        remote_cb_pop_front(31, 1)
        noc_async_atomic_barrier()
    update_remote_cb_config_in_l1(31)


def test_pages_go_through_a_global_circular_buffer_from_program_to_program(device: ttnn.MeshDevice) -> None:
    to = metal.CoreRange(metal.CoreCoord(1, 0), metal.CoreCoord(RECEIVERS, 0))
    shared = ttnn.create_global_circular_buffer(device, [(CORE, metal.CoreRangeSet([to]))], 2 * 2048)
    source, target = (tiles_buffer(device, 2 * ROUNDS * RECEIVERS) for _ in range(2))
    source.write(values(2 * ROUNDS * RECEIVERS * TILE, 8))
    for first in (0, ROUNDS):
        program = metal.create_program()
        config = metal.CircularBufferConfig(2 * 2048)
        config.remote_index(31).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
        metal.create_circular_buffer(program, shared.all_cores(), config, shared)
        add_cb(program, 0, 2 * RECEIVERS)
        for function, cores, kind, args in (
            (feed, CORE, metal.ReaderDataMovementConfig(), [source, first, ROUNDS]),
            (forward, CORE, metal.WriterDataMovementConfig(), [ROUNDS]),
            (keep, to, metal.WriterDataMovementConfig(), [target, first, ROUNDS, shared.buffer_address(), 2]),
        ):
            metal.set_runtime_args(program, metal.create_kernel(program, function, cores, kind), cores, args)
        metal.run_program(device, program)
    assert same(source, target)


def sends_on_the_wrong_side() -> None:
    remote_cb_reserve_back(31, 1)


def has_no_end() -> None:
    remote_cb_wait_front(30, 1)


def asks_for_too_much() -> None:
    remote_cb_wait_front(31, 3)


@pytest.mark.parametrize(
    ("kernel", "text", "cb"),
    [
        (sends_on_the_wrong_side, "this core receives through remote CB 31", 31),
        (has_no_end, "remote CB 30 is not configured on this core", 30),
        (asks_for_too_much, "remote CB 31 has 2 pages, 3 are asked for", 31),
    ],
)
def test_wrong_ends(device: ttnn.MeshDevice, kernel: Callable[[], None], text: str, cb: int) -> None:
    to = metal.CoreRange(metal.CoreCoord(1, 0), metal.CoreCoord(1, 0))
    shared = ttnn.create_global_circular_buffer(device, [(CORE, metal.CoreRangeSet([to]))], 2 * 2048)
    config = metal.CircularBufferConfig(2 * 2048)
    config.remote_index(31).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
    program = metal.create_program()
    metal.create_circular_buffer(program, to, config, shared)
    metal.create_kernel(program, kernel, to, metal.DataMovementConfig())
    with pytest.raises(ttnn.CircularBufferError, match=text) as caught:
        metal.run_program(device, program)
    assert (caught.value.core, caught.value.risc, caught.value.cb) == ("1-0", "BRISC", cb)
