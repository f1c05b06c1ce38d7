"""Mistakes of order: missing barriers, missing semaphores, kernels that wait for ever."""

from __future__ import annotations

from broken import TILES, alone, broken, filled, nothing, pipeline
from broken_transfers import PAGE, l1_buffer, pages_of
from parts import CORE, add_cb

import ttnn
from ttnn import DeadlockError, RaceError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


@broken(RaceError, "noc_async_read_barrier() is missing", "NCRISC", 0)
def push_before_the_data_is_there(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        noc_async_read_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
        cb_push_back(0, 1)  # bug

    return pipeline(device, reader=reader)


@broken(RaceError, "noc_async_read_barrier() is missing", "NCRISC", 0)
def barrier_of_the_other_network(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        noc_async_read_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
        noc_async_read_barrier(1 - noc_index())
        cb_push_back(0, 1)  # bug

    return pipeline(device, reader=reader)


@broken(RaceError, "noc_async_read_barrier() is missing", "NCRISC", 0)
def barrier_before_the_last_read(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 2)
        pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5)
        noc_async_read_tile(0, pages, get_write_ptr(0))
        noc_async_read_barrier()
        noc_async_read_tile(1, pages, get_write_ptr(0) + PAGE)
        cb_push_back(0, 2)  # bug

    return pipeline(device, reader=reader)


@broken(RaceError, "noc_async_read_barrier() is missing", "BRISC")
def load_before_the_data_is_there(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), PAGE)
        L1Pointer(get_arg_val(1))[0]  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(RaceError, "noc_async_read_barrier() is missing", "BRISC")
def loopback_without_read_barrier(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(2), PAGE)
        noc_async_write(get_arg_val(2), get_noc_addr(0, pages_of(get_arg_val(1))), PAGE)  # bug

    return alone(device, kernel, filled(device, 1), filled(device, 1), l1_buffer(device))


@broken(RaceError, "noc_async_write_barrier() is missing", "BRISC", 16)
def pop_before_the_data_has_left(device: Device) -> Program:
    def writer() -> None:
        cb_wait_front(16, 1)
        noc_async_write_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_read_ptr(16))
        cb_pop_front(16, 1)  # bug

    return pipeline(device, writer=writer)


@broken(RaceError, "are overwritten while they are still being sent", "BRISC")
def source_overwritten_while_it_is_sent(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(1)).write([1] * 512)
        noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)
        L1Pointer(get_arg_val(1))[0] = 2  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(RaceError, "the kernel ends with 1 reads", "BRISC")
def ends_while_it_reads(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), PAGE)

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(RaceError, "the kernel ends with 0 reads, 1 writes", "BRISC")
def ends_while_it_writes(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(1)).write([1] * 512)
        noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(RaceError, "the kernel ends with 0 reads, 1 writes", "BRISC")
def ends_with_writes_only_flushed(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(1)).write([1] * 512)
        noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)
        noc_async_writes_flushed()

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(RaceError, "and 1 atomics", "BRISC")
def ends_while_it_counts(device: Device) -> Program:
    def kernel() -> None:
        noc_semaphore_inc(get_noc_addr(get_semaphore(0)), 1)

    program = alone(device, kernel)
    metal.create_semaphore(program, CORE, 0)
    return program


@broken(DeadlockError, "cb_wait_front(0, 1): 0 of 2 pages are there", "TRISC", 0)
def reader_does_nothing(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)  # bug

    return pipeline(device, reader=nothing, compute=compute, writer=None)


@broken(DeadlockError, "kernel reader (NCRISC), which pushes them, has returned", "TRISC", 0)
def reader_ends_one_tile_early(device: Device) -> Program:
    def reader() -> None:
        for tile in range(TILES - 1):
            cb_reserve_back(0, 1)
            noc_async_read_tile(tile, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
            noc_async_read_barrier()
            cb_push_back(0, 1)

    def compute() -> None:
        unary_op_init_common(0, 16)
        for _ in range(TILES):
            cb_wait_front(0, 1)  # bug
            cb_pop_front(0, 1)

    return pipeline(device, reader=reader, compute=compute, writer=None)


@broken(DeadlockError, "cb_reserve_back(0, 1): 0 of 2 pages are free", "NCRISC", 0)
def compute_does_nothing(device: Device) -> Program:
    def reader() -> None:
        for tile in range(TILES):
            cb_reserve_back(0, 1)  # bug
            noc_async_read_tile(tile, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
            noc_async_read_barrier()
            cb_push_back(0, 1)

    return pipeline(device, reader=reader, compute=nothing, writer=None)


@broken(DeadlockError, "nobody changes it", "BRISC")
def semaphore_that_nobody_sets(device: Device) -> Program:
    def kernel() -> None:
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    program = alone(device, kernel)
    metal.create_semaphore(program, CORE, 0)
    return program


@broken(DeadlockError, "the semaphore holds 2", "BRISC")
def semaphore_that_jumps_over_the_value(device: Device) -> Program:
    def kernel() -> None:
        noc_semaphore_inc(get_noc_addr(get_semaphore(0)), 2)
        noc_async_atomic_barrier()
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    program = alone(device, kernel)
    metal.create_semaphore(program, CORE, 0)
    return program


@broken(DeadlockError, "noc_semaphore_wait_min", "BRISC")
def one_count_too_few(device: Device) -> Program:
    def kernel() -> None:
        noc_semaphore_inc(get_noc_addr(get_semaphore(0)), 1)
        noc_async_atomic_barrier()
        noc_semaphore_wait_min(L1Pointer(get_semaphore(0)), 2)  # bug

    program = alone(device, kernel)
    metal.create_semaphore(program, CORE, 0)
    return program


@broken(DeadlockError, "nobody changes it", "BRISC")
def wrong_semaphore_is_counted(device: Device) -> Program:
    def kernel() -> None:
        noc_semaphore_inc(get_noc_addr(get_semaphore(1)), 1)
        noc_async_atomic_barrier()
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    program = alone(device, kernel)
    for _ in range(2):
        metal.create_semaphore(program, CORE, 0)
    return program


@broken(DeadlockError, "again and again", "BRISC")
def loop_on_a_word_that_nobody_changes(device: Device) -> Program:
    def kernel() -> None:
        flag = L1Pointer(get_arg_val(0))
        flag[0] = 0
        while flag[0] == 0:  # bug
            pass

    return alone(device, kernel, l1_buffer(device))


@broken(DeadlockError, "this kernel itself would have to push them", "BRISC", 0)
def kernel_waits_for_itself(device: Device) -> Program:
    def kernel() -> None:
        cb_reserve_back(0, 1)
        L1Pointer(get_write_ptr(0)).write([1] * 512)
        cb_push_back(0, 1)
        cb_wait_front(0, 2)  # bug

    return alone(device, kernel)


@broken(DeadlockError, "core 1-0", "BRISC", core="0-0")
def two_cores_wait_for_each_other(device: Device) -> Program:
    there = [device.worker_core_from_logical_core(metal.CoreCoord(1 - x, 0)) for x in range(2)]

    def kernel() -> None:
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug
        noc_semaphore_inc(get_noc_addr(get_arg_val(0), get_arg_val(1), get_semaphore(0)), 1)

    program = metal.create_program()
    both = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))
    metal.create_semaphore(program, both, 0)
    handle = metal.create_kernel(program, kernel, both, metal.DataMovementConfig())
    for x in range(2):
        metal.set_runtime_args(program, handle, metal.CoreCoord(x, 0), [there[x].x, there[x].y])
    return program


@broken(DeadlockError, "cb_wait_front(16, 1)", "BRISC", 16)
def compute_forgets_the_last_tile(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        for tile in range(TILES):
            cb_wait_front(0, 1)
            tile_regs_acquire()
            copy_tile(0, 0, 0)
            tile_regs_commit()
            cb_pop_front(0, 1)
            tile_regs_wait()
            if tile < TILES - 1:
                cb_reserve_back(16, 1)
                pack_tile(0, 16)
                cb_push_back(16, 1)
            tile_regs_release()

    def writer() -> None:
        out = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5)
        for tile in range(TILES):
            cb_wait_front(16, 1)  # bug
            noc_async_write_tile(tile, out, get_read_ptr(16))
            noc_async_write_barrier()
            cb_pop_front(16, 1)

    return pipeline(device, compute=compute, writer=writer)


@broken(DeadlockError, "cb_wait_front", "BRISC", 5)
def buffer_without_producer(device: Device) -> Program:
    def kernel() -> None:
        cb_wait_front(5, 1)  # bug

    program = alone(device, kernel)
    add_cb(program, 5)
    return program
