"""Command queues, events and traces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from host_parts import TILES, buffers, copy_program, same

import ttnn
from testkit.kernel_parts import copy_tiles
from testkit.parts import CORE, TILE, build, read_one, values, write_one
from ttnn import metal
from ttnn.base.exceptions import ArgumentError, KernelArgumentError


@pytest.fixture
def device() -> Iterator[ttnn.MeshDevice]:
    """Return a device with two command queues."""
    opened = ttnn.open_device(device_id=0, num_command_queues=2)
    yield opened
    if opened.is_open:
        ttnn.close_device(opened)


def test_two_queues_synchronize_by_events(device: ttnn.MeshDevice) -> None:
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


def test_trace_of_operators_replays_with_new_inputs(device: ttnn.MeshDevice) -> None:
    x, weights, bias = (on_device(device, seed) for seed in range(3))
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    out = model(x, weights, bias)
    with pytest.raises(ttnn.UnsupportedError, match="transfers and new tensors cannot"):
        ttnn.to_torch(out)
    with pytest.raises(ttnn.UnsupportedError, match="transfers and new tensors cannot"):
        on_device(device, 9)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    address, before = out.buffer_address(), device.engine.allocated_bytes()
    for seed in (7, 8, 7):
        fresh = on_device(device, seed)
        ttnn.copy_host_to_device_tensor(ttnn.from_device(fresh), x)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        wanted = model(fresh, weights, bias)
        assert np.array_equal(ttnn.to_numpy(out), ttnn.to_numpy(wanted))
        del fresh, wanted
    assert (out.buffer_address(), device.engine.allocated_bytes()) == (address, before)
    ttnn.release_trace(device, trace)
    x.deallocate()
    with pytest.raises(ttnn.StorageError):
        model(x, weights, bias)


def test_trace_of_operators_and_programs_replays(device: ttnn.MeshDevice) -> None:
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


def test_device_reset_ends_a_capture(device: ttnn.MeshDevice) -> None:
    trace = metal.begin_trace_capture(device, 0)
    device.reset()
    assert not ttnn.is_trace_capture_active(device)
    ttnn.zeros([32, 32], device=device)
    with pytest.raises(ttnn.DeviceError, match="is not being captured"):
        metal.end_trace_capture(device, 0, trace)


def test_queue_must_be_a_number(device: ttnn.MeshDevice) -> None:
    for queue in ("x", float("inf"), [0]):
        with pytest.raises(ArgumentError, match="a trace: cq_id must be the index of a command queue"):
            ttnn.begin_trace_capture(device, cq_id=queue)


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array("x"), -1, 2**32, True, 1.0, "1"], ids=repr)
def test_semaphore_value_beyond_a_word_raises(device: ttnn.MeshDevice, value: object) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
    with pytest.raises(KernelArgumentError, match="a semaphore holds an unsigned 32-bit word"):
        ttnn.create_global_semaphore(device, cores, value)


def test_a_trace_keeps_no_memory_that_the_program_gives_back() -> None:
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)
    try:
        x = ttnn.ones((1, 1, 2048, 2048), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
        start = ttnn.zeros_like(x)

        def chain() -> ttnn.Tensor:
            # Sixteen tensors of an eighth of L1 each, of which two live at a time.
            kept = half = ttnn.add(x, start, memory_config=ttnn.L1_MEMORY_CONFIG)
            for step in range(16):
                kept = ttnn.add(kept, half, memory_config=ttnn.L1_MEMORY_CONFIG)
                if step % 2:
                    ttnn.deallocate(half)
                    half = ttnn.multiply(kept, 0.5, memory_config=ttnn.L1_MEMORY_CONFIG)
            return kept

        expected = chain().to_numpy()
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        result = chain()
        ttnn.end_trace_capture(device, trace, cq_id=0)
        for scale in (1.0, 2.0):
            ttnn.copy_host_to_device_tensor(
                ttnn.Tensor(np.full((1, 1, 2048, 2048), scale, np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT), x
            )
            ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
            np.testing.assert_array_equal(result.to_numpy(), scale * expected)
        ttnn.release_trace(device, trace)
    finally:
        ttnn.close_device(device)


def test_memory_can_be_allocated_in_a_capture() -> None:
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)
    try:
        x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        spec, address = x.spec, x.buffer_address()
        ttnn.deallocate(x)
        x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        y = ttnn.add(x, x)
        # The input's memory may be given back in the capture, and taken for the input of the next run.
        ttnn.deallocate(x)
        again = ttnn.allocate_tensor_on_device(spec, device)
        ttnn.end_trace_capture(device, trace, cq_id=0)
        assert again.buffer_address() == address
        for scale in (3.0, 5.0):
            values = ttnn.Tensor(np.full((32, 32), scale, np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
            ttnn.copy_host_to_device_tensor(values, again)
            ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
            assert (y.to_numpy() == 2 * scale).all()
        ttnn.deallocate(again)
        with pytest.raises(ttnn.StorageError, match="was deallocated"):
            ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    finally:
        ttnn.close_device(device)
