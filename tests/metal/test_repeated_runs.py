"""Repeated programs: changed arguments, semaphores and circular buffers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from broken import filled
from host_parts import TILES, buffers, copy_program, same

import ttnn
from testkit.parts import CORE, add_cb, tiles_buffer
from ttnn import metal
from ttnn.kernel_api import *


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


def test_semaphores_start_at_their_value_in_every_run(device: ttnn.MeshDevice) -> None:
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
    with pytest.raises(ttnn.MemoryConfigError, match="its own memory"):
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


def pack_ones() -> None:
    """Compute: a tile of ones to CB 16."""
    init_sfpu(16, 16)
    fill_tile_init()
    tile_regs_acquire()
    fill_tile(0, 1.0)
    tile_regs_commit()
    cb_reserve_back(16, 1)
    tile_regs_wait()
    pack_tile(0, 16)
    tile_regs_release()
    cb_push_back(16, 1)


def store_ones() -> None:
    """A tile of ones to CB 16, word by word."""
    cb_reserve_back(16, 1)
    for word in range(512):
        L1Pointer(get_write_ptr(16))[word] = 0x3F80_3F80
    cb_push_back(16, 1)


def fetch() -> None:
    """A tile from another core's L1.

    Arguments: x, y, address, DRAM address of the result.
    """
    cb_reserve_back(0, 1)
    noc_async_read(get_noc_addr(get_arg_val(0), get_arg_val(1), get_arg_val(2)), get_write_ptr(0), 2048)
    noc_async_read_barrier()
    noc_async_write_tile(0, InterleavedAddrGenFast[True](get_arg_val(3), 2048, 5), get_write_ptr(0))
    noc_async_write_barrier()
    cb_push_back(0, 1)
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


@pytest.mark.parametrize("made", [pack_ones, store_ones])
def test_the_next_program_reads_what_this_one_left_in_a_buffer(
    device: ttnn.MeshDevice, made: Callable[[], None]
) -> None:
    place = metal.ShardedBufferConfig(
        device=device, size=2048, page_size=2048, tensor_pages=(1, 1), shard_pages=(1, 1), cores=[CORE],
        buffer_type=metal.BufferType.L1,
    )  # fmt: skip
    l1, out = metal.create_buffer(place), tiles_buffer(device, 1)
    program = metal.create_program()
    config = metal.CircularBufferConfig(2048, {16: metal.DataFormat.Float16_b}).set_page_size(16, 2048)
    metal.create_circular_buffer(program, CORE, config.set_globally_allocated_address(l1))
    metal.create_kernel(program, made, CORE, metal.ComputeConfig() if made is pack_ones else metal.DataMovementConfig())
    metal.run_program(device, program)

    program, other = metal.create_program(), metal.CoreCoord(3, 2)
    add_cb(program, 0, 1, cores=other)
    there = device.worker_core_from_logical_core(CORE)
    kernel = metal.create_kernel(program, fetch, other, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, other, [there.x, there.y, l1.address(), out])
    metal.run_program(device, program)
    assert (out.read().view(np.uint16) == 0x3F80).all()


def test_two_indices_share_one_circular_buffer(device: ttnn.MeshDevice) -> None:
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
