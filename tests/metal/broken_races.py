"""Order mistakes between cores: data used at the wrong time.

It is read, written or announced too early or late, whatever the values are.
"""

from __future__ import annotations

from broken import (
    KEPT,
    Kernel,
    add_case,
    alone,
    broken,
    broken_alone,
    dram_and_l1,
    dram_and_scratch,
    filled,
    l1_buffer,
    nothing,
    on_cores,
    pipeline,
)

import ttnn
from testkit.kernel_parts import (
    PAGE,
    at_neighbour,
    be_late,
    fill,
    page_in_dram,
    read_page,
    send,
    signal,
    wait,
    write_page,
)
from ttnn import RaceError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


def two_in_l1(device: Device) -> list[metal.Buffer]:
    """Arguments: two buffers with a page of values per L1."""
    return [filled(device, 64, buffer_type=metal.BufferType.L1) for _ in range(2)]


# Read after write.


@broken(RaceError, "were written by kernel maker (BRISC) on core 0-0, and nothing orders", "BRISC", core="1-0")
def page_of_dram_read_while_another_core_makes_it(device: Device) -> Program:
    def maker() -> None:
        fill(get_arg_val(5))
        write_page(0, get_arg_val(5))

    def user() -> None:
        be_late(get_arg_val(5))
        noc_async_read(page_in_dram(), get_arg_val(5), PAGE)  # bug

    return on_cores(device, maker, user, args=dram_and_scratch(device))


@broken(RaceError, "were written by kernel maker (BRISC) on core 1-0, and nothing orders", "BRISC")
def l1_of_another_core_read_too_early(device: Device) -> Program:
    def user() -> None:
        wait()
        noc_async_read(at_neighbour(get_arg_val(4)), get_arg_val(4), PAGE)  # bug

    def maker() -> None:
        signal(0, 1)
        fill(get_arg_val(4))

    l1 = filled(device, 2, buffer_type=metal.BufferType.L1)
    return on_cores(device, user, maker, args=[l1])


@broken(RaceError, "were written by kernel sender (BRISC) on core 0-0, and nothing orders", "BRISC", core="1-0")
def page_that_a_neighbour_sends_used_without_semaphore(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(4))
        send(get_arg_val(4), get_arg_val(5))
        noc_async_write_barrier()

    def receiver() -> None:
        be_late(get_arg_val(4))
        noc_async_write(get_arg_val(5), get_noc_addr(get_arg_val(4)), PAGE)  # bug

    return on_cores(device, sender, receiver, args=two_in_l1(device))


@broken(RaceError, "which signalled before its write was complete", "BRISC", core="1-0")
def loads_of_a_page_that_another_network_announced(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(4))
        send(get_arg_val(4), get_arg_val(5), 0)
        noc_semaphore_inc(get_noc_addr(get_arg_val(2), get_arg_val(3), get_semaphore(0)), 1, 1)
        noc_async_full_barrier(0)
        noc_async_full_barrier(1)

    def receiver() -> None:
        wait()
        page = L1Pointer(get_arg_val(5))
        sum(page[word] for word in range(16))  # bug

    return on_cores(device, sender, receiver, args=two_in_l1(device))


@broken(RaceError, "nothing ensures that kernel receiver (BRISC) on core 1-0 has read them before", "BRISC")
def loads_of_a_page_without_semaphore(device: Device) -> Program:
    def sender() -> None:
        be_late(get_arg_val(4))
        noc_async_write(get_arg_val(4), at_neighbour(get_arg_val(5)), PAGE)  # bug
        noc_async_write_barrier()

    def receiver() -> None:
        L1Pointer(get_arg_val(5))[3]

    return on_cores(device, sender, receiver, args=two_in_l1(device))


# Write after read.


@broken(RaceError, "nothing ensures that kernel user (BRISC) on core 0-0 has read them", "BRISC", core="1-0")
def page_of_dram_overwritten_before_the_other_core_has_read_it(device: Device) -> Program:
    def user() -> None:
        read_page(0, get_arg_val(5))

    def maker() -> None:
        fill(get_arg_val(5))
        noc_async_write(get_arg_val(5), page_in_dram(), PAGE)  # bug

    return on_cores(device, user, maker, args=dram_and_scratch(device))


@broken(RaceError, "nothing ensures that kernel user (BRISC) on core 0-0 has read them", "BRISC", core="1-0")
def own_l1_overwritten_while_a_neighbour_reads_it(device: Device) -> Program:
    def user() -> None:
        noc_async_read(at_neighbour(get_arg_val(4)), get_arg_val(4), PAGE)
        noc_async_read_barrier()

    def owner() -> None:
        L1Pointer(get_arg_val(4)).write([2] * 512)  # bug

    l1 = filled(device, 2, buffer_type=metal.BufferType.L1)
    return on_cores(device, user, owner, args=[l1])


@broken(RaceError, "nothing ensures that kernel receiver (BRISC) on core 1-0 has read them", "BRISC")
def second_round_sent_before_the_first_was_used(device: Device) -> Program:
    def sender() -> None:
        for _ in range(2):
            be_late(get_arg_val(4))
            noc_async_write(get_arg_val(4), at_neighbour(get_arg_val(5)), PAGE)  # bug
            noc_async_write_barrier()
            signal(2, 3)
            wait()

    def receiver() -> None:
        signal(0, 1)
        wait()
        noc_async_write(get_arg_val(5), get_noc_addr(get_arg_val(4)), PAGE)
        noc_async_write_barrier()
        wait(2)

    return on_cores(device, sender, receiver, args=two_in_l1(device))


# Write after write.


@broken(RaceError, "were written by kernel first (BRISC) on core 0-0, and nothing orders", "BRISC", core="1-0")
def two_cores_write_the_same_page_of_dram(device: Device) -> Program:
    def first() -> None:
        fill(get_arg_val(5))
        write_page(0, get_arg_val(5))

    def second() -> None:
        be_late(get_arg_val(5))
        noc_async_write(get_arg_val(5), page_in_dram(), PAGE)  # bug

    return on_cores(device, first, second, args=dram_and_scratch(device))


@broken(RaceError, "were written by kernel sender (BRISC) on core 0-0, and nothing orders", "BRISC", core="2-0")
def two_cores_send_to_the_same_place(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(6))
        send(get_arg_val(6), get_arg_val(7))
        noc_async_write_barrier()

    def other() -> None:
        be_late(get_arg_val(6))
        noc_async_write(get_arg_val(6), at_neighbour(get_arg_val(7)), PAGE)  # bug

    return on_cores(device, sender, nothing, other, args=two_in_l1(device))


@broken(RaceError, "were written by kernel other (BRISC) on core 1-0, and nothing orders", "BRISC")
def overlapping_halves(device: Device) -> Program:
    def first() -> None:
        fill(get_arg_val(5))
        wait()
        noc_async_write(get_arg_val(5), page_in_dram(), PAGE // 2 + 32)  # bug

    def other() -> None:
        fill(get_arg_val(5))
        signal(0, 1)
        noc_async_write(get_arg_val(5), page_in_dram() + PAGE // 2, PAGE // 2)
        noc_async_write_barrier()

    return on_cores(device, first, other, args=dram_and_scratch(device))


# Announced before it has arrived.


def use_when_told() -> None:
    wait()
    noc_async_read(page_in_dram(), get_arg_val(5), PAGE)  # bug


def broken_announcement(maker: Kernel) -> Kernel:
    """Register a kernel that announces a page still in flight.

    It tells core 1-0 of a page of DRAM.
    """
    text = f"still in flight from kernel {maker.__name__} (BRISC) on core 0-0"

    def build(device: Device) -> Program:
        return on_cores(device, maker, use_when_told, args=dram_and_scratch(device))

    add_case(maker, build, RaceError, text, "BRISC", None, "1-0", at=use_when_told)
    return maker


@broken_announcement
def page_of_dram_announced_without_write_barrier() -> None:
    fill(get_arg_val(5))
    noc_async_write(get_arg_val(5), page_in_dram(), PAGE)
    signal(2, 3)
    noc_async_write_barrier()


@broken_announcement
def page_announced_after_a_flush_only() -> None:
    fill(get_arg_val(5))
    noc_async_write(get_arg_val(5), page_in_dram(), PAGE)
    noc_async_writes_flushed()
    signal(2, 3)
    noc_async_write_barrier()


@broken_announcement
def page_announced_after_the_barrier_of_other_transactions() -> None:
    fill(get_arg_val(5))
    noc_async_write_set_trid(3)
    noc_async_write(get_arg_val(5), page_in_dram(), PAGE)
    noc_async_write_barrier_with_trid(4)
    signal(2, 3)
    noc_async_write_barrier()


@broken(RaceError, "still in flight from kernel sender (BRISC) on core 0-0", "BRISC", core="1-0")
def page_announced_over_another_network_than_it_takes(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(4))
        send(get_arg_val(4), get_arg_val(5), noc=1)
        signal(2, 3)
        noc_async_write_barrier(1)

    def receiver() -> None:
        wait()
        noc_async_write(get_arg_val(5), get_noc_addr(get_arg_val(4)), PAGE)  # bug

    return on_cores(device, sender, receiver, args=two_in_l1(device))


@broken(RaceError, "still in flight from kernel sender (BRISC) on core 0-0", "BRISC", core="2-0")
def page_announced_to_a_third_core(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(6))
        send(get_arg_val(6), get_arg_val(7))
        signal(4, 5)
        noc_async_write_barrier()

    def user() -> None:
        wait()
        noc_async_read(at_neighbour(get_arg_val(7)), get_arg_val(6), PAGE)  # bug

    return on_cores(device, sender, nothing, user, args=two_in_l1(device))


@broken(RaceError, "still in flight from kernel reader (NCRISC) on core 0-0", "BRISC")
def page_copied_inside_the_core_and_pushed_without_write_barrier(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        fill(get_arg_val(2))
        noc_async_write(get_arg_val(2), get_noc_addr(get_write_ptr(0)), PAGE)
        cb_push_back(0, 1)
        noc_async_write_barrier()

    def writer() -> None:
        cb_wait_front(0, 1)
        noc_async_write_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_read_ptr(0))  # bug

    l1 = l1_buffer(device)
    KEPT.append(l1)
    return pipeline(device, reader=reader, compute=nothing, writer=writer, extra=[l1])


# Semaphores.


@broken(RaceError, "a change by kernel counter (BRISC) on core 1-0", "BRISC")
def semaphore_reset_after_it_was_counted_again(device: Device) -> Program:
    def collector() -> None:
        wait()
        signal(2, 3, semaphore=1)
        be_late(get_arg_val(5))
        read_page(0, get_arg_val(5))
        noc_semaphore_set(L1Pointer(get_semaphore(0)), 0)  # bug

    def counter() -> None:
        signal(0, 1)
        wait(semaphore=1)
        signal(0, 1)

    return on_cores(device, collector, counter, args=dram_and_scratch(device), semaphores=2)


@broken(RaceError, "a change by kernel first (BRISC) on core 0-0", "BRISC", core="2-0")
def two_cores_set_one_flag(device: Device) -> Program:
    def first() -> None:
        noc_inline_dw_write(at_neighbour(get_semaphore(0)), 1)
        noc_async_write_barrier()

    def other() -> None:
        noc_inline_dw_write(at_neighbour(get_semaphore(0)), 1)  # bug

    return on_cores(device, first, nothing, other)


@broken(RaceError, "a change by kernel receiver (BRISC) on core 1-0", "BRISC")
def flag_reset_after_the_sender_was_told_to_go_on(device: Device) -> Program:
    def sender() -> None:
        wait()
        L1Pointer(get_arg_val(4))[0] = 1
        noc_semaphore_set_remote(get_arg_val(4), at_neighbour(get_semaphore(1)))  # bug
        noc_async_write_barrier()

    def receiver() -> None:
        signal(0, 1)
        noc_semaphore_set(L1Pointer(get_semaphore(1)), 0)
        wait(1, semaphore=1)

    return on_cores(device, sender, receiver, args=[l1_buffer(device)], semaphores=2)


def wait_for_another_read() -> None:
    noc_async_read_set_trid(2)
    noc_async_read(page_in_dram(at=0), get_arg_val(1), PAGE)
    noc_async_read_barrier_with_trid(1)


@broken_alone(RaceError, "noc_async_read_barrier() is missing", args=dram_and_l1)
def read_barrier_of_other_transactions() -> None:
    wait_for_another_read()
    L1Pointer(get_arg_val(1))[0]  # bug


@broken(RaceError, "are overwritten while they are still being sent", "BRISC")
def multicast_source_overwritten_while_it_is_sent(device: Device) -> Program:
    ends = [device.worker_core_from_logical_core(metal.CoreCoord(x, 0)) for x in (1, 3)]

    def kernel() -> None:
        fill(get_arg_val(0))
        target = get_noc_multicast_addr(ends[0].x, ends[0].y, ends[1].x, ends[1].y, get_arg_val(0))
        noc_async_write_multicast(get_arg_val(0), target, PAGE, 3)
        L1Pointer(get_arg_val(0))[7] = 0  # bug

    return alone(device, kernel, l1_buffer(device))


@broken_alone(RaceError, "the kernel ends with 1 reads", args=dram_and_l1)
def ends_after_the_barrier_of_other_transactions() -> None:
    wait_for_another_read()
