"""Kernels that wait for ever: nobody pushes, pops, sets or counts what they wait for."""

from __future__ import annotations

from broken import (
    TILES,
    alone,
    broken,
    broken_alone,
    broken_reader,
    broken_writer,
    filled,
    l1_buffer,
    nothing,
    on_cores,
    one_l1,
    pipeline,
)
from broken_races import be_late, read_page, signal
from broken_transfers import PAGE
from parts import CORE, add_cb

import ttnn
from ttnn import DeadlockError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


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


@broken_reader(DeadlockError, "cb_reserve_back(0, 1): 0 of 2 pages are free", 0, compute=nothing, writer=None)
def compute_does_nothing() -> None:
    for tile in range(TILES):
        cb_reserve_back(0, 1)  # bug
        noc_async_read_tile(tile, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


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


@broken_alone(DeadlockError, "again and again", args=one_l1)
def loop_on_a_word_that_nobody_changes() -> None:
    flag = L1Pointer(get_arg_val(0))
    flag[0] = 0
    while flag[0] == 0:  # bug
        pass


@broken_alone(DeadlockError, "this kernel itself would have to push them", 0)
def kernel_waits_for_itself() -> None:
    cb_reserve_back(0, 1)
    L1Pointer(get_write_ptr(0)).write([1] * 512)
    cb_push_back(0, 1)
    cb_wait_front(0, 2)  # bug


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


@broken(DeadlockError, "wait cycle: back (BRISC of core 0-0) -> forth (NCRISC of core 0-0) -> back", "BRISC", 0)
def two_kernels_wait_for_each_others_pages(device: Device) -> Program:
    def forth() -> None:
        for _ in range(2):
            cb_reserve_back(0, 1)
            L1Pointer(get_write_ptr(0)).write([1] * 512)
            cb_push_back(0, 1)
            cb_wait_front(1, 1)
            cb_pop_front(1, 1)
        cb_wait_front(1, 1)

    def back() -> None:
        for _ in range(2):
            cb_reserve_back(1, 1)
            L1Pointer(get_write_ptr(1)).write([1] * 512)
            cb_push_back(1, 1)
            cb_wait_front(0, 1)
            cb_pop_front(0, 1)
        cb_reserve_back(1, 2)
        L1Pointer(get_write_ptr(1)).write([1] * 512)
        cb_wait_front(0, 1)  # bug

    return pipeline(device, reader=forth, compute=None, writer=back, cbs=(0, 1))


@broken(DeadlockError, "cb_wait_front(0, 2): 1 of 2 pages are there", "TRISC", 0)
def block_that_the_tiles_do_not_fill(device: Device) -> Program:
    def reader() -> None:
        for tile in range(3):
            cb_reserve_back(0, 1)
            noc_async_read_tile(tile, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
            noc_async_read_barrier()
            cb_push_back(0, 1)

    def compute() -> None:
        unary_op_init_common(0, 16)
        for _ in range(2):
            cb_wait_front(0, 2)  # bug
            cb_pop_front(0, 2)

    return pipeline(device, reader=reader, compute=compute, writer=None)


@broken(DeadlockError, "no kernel ever has", "BRISC", core="3-0")
def core_that_the_multicast_leaves_out(device: Device) -> Program:
    ends = [device.worker_core_from_logical_core(metal.CoreCoord(x, 0)) for x in (1, 2)]

    def sender() -> None:
        noc_semaphore_set(L1Pointer(get_semaphore(0)), 1)
        target = get_noc_multicast_addr(ends[0].x, ends[0].y, ends[1].x, ends[1].y, get_semaphore(0))
        noc_semaphore_set_multicast(get_semaphore(0), target, 2)
        noc_async_write_barrier()

    def receiver() -> None:
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    return on_cores(device, sender, receiver, receiver, receiver)


@broken(DeadlockError, "nobody changes it", "BRISC", core="1-0")
def count_that_goes_to_the_wrong_core(device: Device) -> Program:
    def sender() -> None:
        signal(4, 5)

    def receiver() -> None:
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    return on_cores(device, sender, receiver, nothing)


@broken(DeadlockError, "the semaphore holds 2, and nobody changes it: the last was sender", "BRISC")
def two_cores_count_past_the_value(device: Device) -> Program:
    def collector() -> None:
        be_late(get_arg_val(7))
        read_page(0, get_arg_val(7), at=6)
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    def sender() -> None:
        signal(0, 1)

    return on_cores(device, collector, sender, sender, args=[filled(device), l1_buffer(device)])


@broken_alone(DeadlockError, "the semaphore holds 0", semaphores=1)
def semaphore_waited_for_in_the_wrong_direction() -> None:
    noc_semaphore_set(L1Pointer(get_semaphore(0)), 0)
    noc_semaphore_wait(L1Pointer(get_semaphore(0)), 0xFFFF_FFFF)  # bug


@broken(DeadlockError, "the semaphore holds 2", "BRISC")
def global_semaphore_that_the_first_program_left_counted(device: Device) -> Program:
    semaphore = metal.create_global_semaphore(device, CORE, 0)

    def kernel() -> None:
        noc_semaphore_inc(get_noc_addr(get_arg_val(0)), 1)
        noc_async_atomic_barrier()
        noc_semaphore_wait(L1Pointer(get_arg_val(0)), 1)  # bug

    program = alone(device, kernel, semaphore)
    metal.run_program(device, program)
    return program


@broken_writer(
    DeadlockError,
    "0 of 2 pages are there; no kernel of this core has pushed any",
    5,
    cbs=(0, 5, 16),
)
def page_asked_for_again_and_again() -> None:
    while not cb_pages_available_at_front(5, 1):  # bug
        pass


@broken_reader(DeadlockError, "cb_reserve_back(0, 1): 0 of 2 pages are free", 0, compute=None, writer=None)
def room_asked_for_again_and_again() -> None:
    for tile in range(TILES):
        while not cb_pages_reservable_at_back(0, 1):  # bug
            pass
        cb_reserve_back(0, 1)
        noc_async_read_tile(tile, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


@broken(DeadlockError, "again and again", "BRISC")
def flag_of_another_core_read_again_and_again(device: Device) -> Program:
    def poller() -> None:
        there = get_noc_addr(get_arg_val(2), get_arg_val(3), get_semaphore(0))
        flag = L1Pointer(get_arg_val(4))
        flag[0] = 0
        while flag[0] == 0:
            noc_async_read(there, get_arg_val(4), 16)  # bug
            noc_async_read_barrier()

    return on_cores(device, poller, nothing, args=[l1_buffer(device)])


@broken(DeadlockError, "kernel writer (BRISC), which pops them, waits too", "BRISC")
def writer_that_waits_for_a_signal_of_nobody(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        for _ in range(TILES):
            cb_wait_front(0, 1)
            tile_regs_acquire()
            copy_tile(0, 0, 0)
            tile_regs_commit()
            cb_pop_front(0, 1)
            cb_reserve_back(16, 1)
            tile_regs_wait()
            pack_tile(0, 16)
            tile_regs_release()
            cb_push_back(16, 1)

    def writer() -> None:
        cb_wait_front(16, 1)
        noc_async_write_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_read_ptr(16))
        noc_async_write_barrier()
        cb_pop_front(16, 1)
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    program = pipeline(device, compute=compute, writer=writer)
    metal.create_semaphore(program, CORE, 0)
    return program
