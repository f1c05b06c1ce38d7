"""Objects that outlive programs: global semaphores, and circular buffers between cores."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from host_parts import PAIR, same

import ttnn
from testkit.parts import CORE, TILE, add_cb, tiles_buffer, values
from testkit.remote_kernels import RECEIVERS, ROUNDS, feed, forward, keep
from ttnn import metal
from ttnn.kernel_api import *


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
    with pytest.raises(ttnn.MemoryConfigError, match="semaphores must be in L1"):
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
def test_wrong_global_circular_buffers_raise(
    device: ttnn.MeshDevice, mapping: list[tuple[metal.CoreCoord, metal.CoreRangeSet]], size: int, text: str
) -> None:
    with pytest.raises(ttnn.TtnnError, match=text):
        ttnn.create_global_circular_buffer(device, mapping, size)


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
        (asks_for_too_much, "remote CB 31 has 2 pages, 3 are requested", 31),
    ],
)
def test_wrong_global_buffer_ends_raise(
    device: ttnn.MeshDevice, kernel: Callable[[], None], text: str, cb: int
) -> None:
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
