"""Kernels that wait for ever.

Nobody pushes, pops, sets or counts what they wait for.
"""

from __future__ import annotations

from broken import (
    TILES,
    alone,
    broken,
    broken_alone,
    broken_compute,
    broken_reader,
    broken_writer,
    dram_and_scratch,
    l1_buffer,
    nothing,
    on_cores,
    one_l1,
    pipeline,
)

import ttnn
from testkit.kernel_parts import (
    at_neighbour,
    be_late,
    copy_one,
    count,
    fill,
    pop_tile,
    push_tile,
    push_words,
    read_page,
    read_tile,
    signal,
    write_front,
)
from testkit.parts import CORE
from ttnn import DeadlockError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


@broken_compute(DeadlockError, "cb_wait_front(0, 1): 0 of 2 pages are there", 0, reader=nothing, writer=None)
def reader_does_nothing() -> None:
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)  # bug


def push_three() -> None:
    for tile in range(TILES - 1):
        push_tile(tile)


@broken_compute(
    DeadlockError, "kernel push_three (NCRISC), which pushes them, has returned", 0, reader=push_three, writer=None
)
def reader_ends_one_tile_early() -> None:
    unary_op_init_common(0, 16)
    for _ in range(TILES):
        cb_wait_front(0, 1)  # bug
        cb_pop_front(0, 1)


@broken_reader(DeadlockError, "cb_reserve_back(0, 1): 0 of 2 pages are free", 0, compute=nothing, writer=None)
def compute_does_nothing() -> None:
    for tile in range(TILES):
        cb_reserve_back(0, 1)  # bug
        read_tile(tile, get_write_ptr(0))
        cb_push_back(0, 1)


@broken_alone(DeadlockError, "no kernel changes it", semaphores=1)
def semaphore_that_nobody_sets() -> None:
    noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug


@broken_alone(DeadlockError, "the semaphore holds 2", semaphores=1)
def semaphore_that_jumps_over_the_value() -> None:
    count(value=2)
    noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug


@broken_alone(DeadlockError, "noc_semaphore_wait_min", semaphores=1)
def one_count_too_few() -> None:
    count()
    noc_semaphore_wait_min(L1Pointer(get_semaphore(0)), 2)  # bug


@broken_alone(DeadlockError, "no kernel changes it", semaphores=2)
def wrong_semaphore_is_counted() -> None:
    count(semaphore=1)
    noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug


@broken_alone(DeadlockError, "again and again", args=one_l1)
def loop_on_a_word_that_nobody_changes() -> None:
    flag = L1Pointer(get_arg_val(0))
    flag[0] = 0
    while flag[0] == 0:  # bug
        pass


@broken_alone(DeadlockError, "this kernel itself would have to push them", 0)
def kernel_waits_for_itself() -> None:
    push_words(0)
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


def forget_the_last_tile() -> None:
    unary_op_init_common(0, 16)
    for _ in range(TILES - 1):
        copy_one()
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


@broken_writer(DeadlockError, "cb_wait_front(16, 1)", 16, compute=forget_the_last_tile)
def compute_forgets_the_last_tile() -> None:
    for tile in range(TILES):
        cb_wait_front(16, 1)  # bug
        write_front(tile)
        cb_pop_front(16, 1)


@broken_alone(DeadlockError, "cb_wait_front", 5, cbs=(5,))
def buffer_without_producer() -> None:
    cb_wait_front(5, 1)  # bug


@broken(DeadlockError, "wait cycle: back (BRISC of core 0-0) -> forth (NCRISC of core 0-0) -> back", "BRISC", 0)
def two_kernels_wait_for_each_others_pages(device: Device) -> Program:
    def forth() -> None:
        for _ in range(2):
            push_words(0)
            cb_wait_front(1, 1)
            cb_pop_front(1, 1)
        cb_wait_front(1, 1)

    def back() -> None:
        for _ in range(2):
            push_words(1)
            cb_wait_front(0, 1)
            cb_pop_front(0, 1)
        cb_reserve_back(1, 2)
        fill(get_write_ptr(1))
        cb_wait_front(0, 1)  # bug

    return pipeline(device, reader=forth, compute=None, writer=back, cbs=(0, 1))


@broken_compute(DeadlockError, "cb_wait_front(0, 2): 1 of 2 pages are there", 0, reader=push_three, writer=None)
def block_that_the_tiles_do_not_fill() -> None:
    unary_op_init_common(0, 16)
    for _ in range(2):
        cb_wait_front(0, 2)  # bug
        cb_pop_front(0, 2)


@broken(DeadlockError, "no kernel changes it", "BRISC", core="3-0")
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


@broken(
    DeadlockError,
    "kernel sender (BRISC of core 0-0) changed the semaphore at this address of core 2-0, where no kernel waits for it",
    "BRISC",
    core="1-0",
)
def count_that_goes_to_the_wrong_core(device: Device) -> Program:
    def sender() -> None:
        signal(4, 5)

    def receiver() -> None:
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    return on_cores(device, sender, receiver, nothing)


@broken(DeadlockError, "no kernel changed the semaphore in between: if it is a flag, reset it", "BRISC")
def flag_that_keeps_its_value(device: Device) -> Program:
    def sender() -> None:
        noc_semaphore_set(L1Pointer(get_semaphore(1)), 1)
        for _ in range(3):
            noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug
            noc_semaphore_set(L1Pointer(get_semaphore(0)), 0)
            noc_semaphore_set_remote(get_semaphore(1), at_neighbour(get_semaphore(1)))
        noc_async_write_barrier()

    def receiver() -> None:
        for _ in range(3):
            signal(0, 1)
            noc_semaphore_wait(L1Pointer(get_semaphore(1)), 1)

    return on_cores(device, sender, receiver, semaphores=2)


@broken(DeadlockError, "the semaphore holds 2, and no kernel changes it any more: the last was sender", "BRISC")
def two_cores_count_past_the_value(device: Device) -> Program:
    def collector() -> None:
        be_late(get_arg_val(7))
        read_page(0, get_arg_val(7), at=6)
        noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug

    def sender() -> None:
        signal(0, 1)

    return on_cores(device, collector, sender, sender, args=dram_and_scratch(device))


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
        push_tile(tile)


@broken(DeadlockError, "again and again", "BRISC")
def flag_of_another_core_read_again_and_again(device: Device) -> Program:
    def poller() -> None:
        there = at_neighbour(get_semaphore(0))
        flag = L1Pointer(get_arg_val(4))
        flag[0] = 0
        while flag[0] == 0:
            noc_async_read(there, get_arg_val(4), 16)  # bug
            noc_async_read_barrier()

    return on_cores(device, poller, nothing, args=[l1_buffer(device)])


@broken_writer(
    DeadlockError,
    "kernel writer_that_waits_for_a_signal_of_nobody (BRISC), which pops them, waits too",
    semaphores=1,
)
def writer_that_waits_for_a_signal_of_nobody() -> None:
    pop_tile()
    noc_semaphore_wait(L1Pointer(get_semaphore(0)), 1)  # bug
