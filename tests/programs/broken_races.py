"""Mistakes of order between cores: data read, written or announced at the wrong time, whatever the values are."""

from __future__ import annotations

from broken import KEPT, alone, broken, filled, l1_buffer, nothing, on_cores, pipeline
from broken_transfers import PAGE, pages_of

import ttnn
from ttnn import RaceError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program
# Arguments of two cores: x and y of core 0-0, x and y of core 1-0, then buffers. Of three cores: two words more.


def fill(address: int, value: int = 1) -> None:
    """Store a page of words."""
    L1Pointer(address).write([value] * (PAGE // 4))


def be_late(scratch: int) -> None:
    """Let the other kernels of the program get ahead."""
    for _ in range(4):
        fill(scratch)


def signal(x: int, y: int, semaphore: int = 0) -> None:
    """Count a semaphore of a core up."""
    noc_semaphore_inc(get_noc_addr(get_arg_val(x), get_arg_val(y), get_semaphore(semaphore)), 1)
    noc_async_atomic_barrier()


def wait(value: int = 1, semaphore: int = 0) -> None:
    """Wait until a semaphore has at least this value."""
    noc_semaphore_wait_min(L1Pointer(get_semaphore(semaphore)), value)


def send(source: int, target: int, noc: int = -1) -> None:
    """Send a page to core 1-0 without waiting for it."""
    noc_async_write(source, get_noc_addr(get_arg_val(2), get_arg_val(3), target), PAGE, noc)


def read_page(page: int, place: int, at: int = 4) -> None:
    """Read a page of the buffer in this argument and wait for it."""
    noc_async_read(get_noc_addr(page, pages_of(get_arg_val(at))), place, PAGE)
    noc_async_read_barrier()


def write_page(page: int, place: int, at: int = 4) -> None:
    """Write a page of the buffer in this argument and wait for it."""
    noc_async_write(place, get_noc_addr(page, pages_of(get_arg_val(at))), PAGE)
    noc_async_write_barrier()


# Read after write.


@broken(RaceError, "were written by kernel maker (BRISC) on core 0-0, and nothing orders", "BRISC", core="1-0")
def page_of_dram_read_while_another_core_makes_it(device: Device) -> Program:
    def maker() -> None:
        fill(get_arg_val(5))
        write_page(0, get_arg_val(5))

    def user() -> None:
        be_late(get_arg_val(5))
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(4))), get_arg_val(5), PAGE)  # bug

    return on_cores(device, maker, user, args=[filled(device), l1_buffer(device)])


@broken(RaceError, "were written by kernel maker (BRISC) on core 1-0, and nothing orders", "BRISC")
def l1_of_another_core_read_too_early(device: Device) -> Program:
    def user() -> None:
        wait()
        there = get_noc_addr(get_arg_val(2), get_arg_val(3), get_arg_val(4))
        noc_async_read(there, get_arg_val(4), PAGE)  # bug

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

    both = [filled(device, 64, buffer_type=metal.BufferType.L1) for _ in range(2)]
    return on_cores(device, sender, receiver, args=both)


# Write after read.


@broken(RaceError, "nothing says that kernel user (BRISC) on core 0-0 has read them", "BRISC", core="1-0")
def page_of_dram_overwritten_before_the_other_core_has_read_it(device: Device) -> Program:
    def user() -> None:
        read_page(0, get_arg_val(5))

    def maker() -> None:
        fill(get_arg_val(5))
        noc_async_write(get_arg_val(5), get_noc_addr(0, pages_of(get_arg_val(4))), PAGE)  # bug

    return on_cores(device, user, maker, args=[filled(device), l1_buffer(device)])


@broken(RaceError, "nothing says that kernel user (BRISC) on core 0-0 has read them", "BRISC", core="1-0")
def own_l1_overwritten_while_a_neighbour_reads_it(device: Device) -> Program:
    def user() -> None:
        noc_async_read(get_noc_addr(get_arg_val(2), get_arg_val(3), get_arg_val(4)), get_arg_val(4), PAGE)
        noc_async_read_barrier()

    def owner() -> None:
        L1Pointer(get_arg_val(4)).write([2] * 512)  # bug

    l1 = filled(device, 2, buffer_type=metal.BufferType.L1)
    return on_cores(device, user, owner, args=[l1])


@broken(RaceError, "nothing says that kernel receiver (BRISC) on core 1-0 has read them", "BRISC")
def second_round_sent_before_the_first_was_used(device: Device) -> Program:
    def sender() -> None:
        for _ in range(2):
            be_late(get_arg_val(4))
            there = get_noc_addr(get_arg_val(2), get_arg_val(3), get_arg_val(5))
            noc_async_write(get_arg_val(4), there, PAGE)  # bug
            noc_async_write_barrier()
            signal(2, 3)
            wait()

    def receiver() -> None:
        signal(0, 1)
        wait()
        noc_async_write(get_arg_val(5), get_noc_addr(get_arg_val(4)), PAGE)
        noc_async_write_barrier()
        wait(2)

    both = [filled(device, 64, buffer_type=metal.BufferType.L1) for _ in range(2)]
    return on_cores(device, sender, receiver, args=both)


# Write after write.


@broken(RaceError, "were written by kernel first (BRISC) on core 0-0, and nothing orders", "BRISC", core="1-0")
def two_cores_write_the_same_page_of_dram(device: Device) -> Program:
    def first() -> None:
        fill(get_arg_val(5))
        write_page(0, get_arg_val(5))

    def second() -> None:
        be_late(get_arg_val(5))
        noc_async_write(get_arg_val(5), get_noc_addr(0, pages_of(get_arg_val(4))), PAGE)  # bug

    return on_cores(device, first, second, args=[filled(device), l1_buffer(device)])


@broken(RaceError, "were written by kernel sender (BRISC) on core 0-0, and nothing orders", "BRISC", core="2-0")
def two_cores_send_to_the_same_place(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(6))
        send(get_arg_val(6), get_arg_val(7))
        noc_async_write_barrier()

    def other() -> None:
        be_late(get_arg_val(6))
        there = get_noc_addr(get_arg_val(2), get_arg_val(3), get_arg_val(7))
        noc_async_write(get_arg_val(6), there, PAGE)  # bug

    both = [filled(device, 64, buffer_type=metal.BufferType.L1) for _ in range(2)]
    return on_cores(device, sender, nothing, other, args=both)


@broken(RaceError, "were written by kernel other (BRISC) on core 1-0, and nothing orders", "BRISC")
def overlapping_halves(device: Device) -> Program:
    def first() -> None:
        fill(get_arg_val(5))
        wait()
        target = get_noc_addr(0, pages_of(get_arg_val(4)))
        noc_async_write(get_arg_val(5), target, PAGE // 2 + 32)  # bug

    def other() -> None:
        fill(get_arg_val(5))
        signal(0, 1)
        target = get_noc_addr(0, pages_of(get_arg_val(4)))
        noc_async_write(get_arg_val(5), target + PAGE // 2, PAGE // 2)
        noc_async_write_barrier()

    return on_cores(device, first, other, args=[filled(device), l1_buffer(device)])


# Announced before it has arrived.


@broken(RaceError, "still on their way from kernel maker (BRISC) on core 0-0", "BRISC", core="1-0")
def page_of_dram_announced_without_write_barrier(device: Device) -> Program:
    def maker() -> None:
        fill(get_arg_val(5))
        noc_async_write(get_arg_val(5), get_noc_addr(0, pages_of(get_arg_val(4))), PAGE)
        signal(2, 3)
        noc_async_write_barrier()

    def user() -> None:
        wait()
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(4))), get_arg_val(5), PAGE)  # bug

    return on_cores(device, maker, user, args=[filled(device), l1_buffer(device)])


@broken(RaceError, "still on their way from kernel maker (BRISC) on core 0-0", "BRISC", core="1-0")
def page_announced_after_a_flush_only(device: Device) -> Program:
    def maker() -> None:
        fill(get_arg_val(5))
        noc_async_write(get_arg_val(5), get_noc_addr(0, pages_of(get_arg_val(4))), PAGE)
        noc_async_writes_flushed()
        signal(2, 3)
        noc_async_write_barrier()

    def user() -> None:
        wait()
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(4))), get_arg_val(5), PAGE)  # bug

    return on_cores(device, maker, user, args=[filled(device), l1_buffer(device)])


@broken(RaceError, "still on their way from kernel maker (BRISC) on core 0-0", "BRISC", core="1-0")
def page_announced_after_the_barrier_of_other_transactions(device: Device) -> Program:
    def maker() -> None:
        fill(get_arg_val(5))
        noc_async_write_set_trid(3)
        noc_async_write(get_arg_val(5), get_noc_addr(0, pages_of(get_arg_val(4))), PAGE)
        noc_async_write_barrier_with_trid(4)
        signal(2, 3)
        noc_async_write_barrier()

    def user() -> None:
        wait()
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(4))), get_arg_val(5), PAGE)  # bug

    return on_cores(device, maker, user, args=[filled(device), l1_buffer(device)])


@broken(RaceError, "still on their way from kernel sender (BRISC) on core 0-0", "BRISC", core="1-0")
def page_announced_over_another_network_than_it_takes(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(4))
        send(get_arg_val(4), get_arg_val(5), noc=1)
        signal(2, 3)
        noc_async_write_barrier(1)

    def receiver() -> None:
        wait()
        noc_async_write(get_arg_val(5), get_noc_addr(get_arg_val(4)), PAGE)  # bug

    both = [filled(device, 64, buffer_type=metal.BufferType.L1) for _ in range(2)]
    return on_cores(device, sender, receiver, args=both)


@broken(RaceError, "still on their way from kernel sender (BRISC) on core 0-0", "BRISC", core="2-0")
def page_announced_to_a_third_core(device: Device) -> Program:
    def sender() -> None:
        fill(get_arg_val(6))
        send(get_arg_val(6), get_arg_val(7))
        signal(4, 5)
        noc_async_write_barrier()

    def user() -> None:
        wait()
        there = get_noc_addr(get_arg_val(2), get_arg_val(3), get_arg_val(7))
        noc_async_read(there, get_arg_val(6), PAGE)  # bug

    both = [filled(device, 64, buffer_type=metal.BufferType.L1) for _ in range(2)]
    return on_cores(device, sender, nothing, user, args=both)


@broken(RaceError, "still on their way from kernel reader (NCRISC) on core 0-0", "BRISC")
def page_copied_inside_the_core_and_pushed_without_write_barrier(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        L1Pointer(get_arg_val(2)).write([1] * 512)
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


@broken(RaceError, "what kernel counter (BRISC) on core 1-0 made of it", "BRISC")
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

    return on_cores(device, collector, counter, args=[filled(device), l1_buffer(device)], semaphores=2)


@broken(RaceError, "what kernel first (BRISC) on core 0-0 made of it", "BRISC", core="2-0")
def two_cores_set_one_flag(device: Device) -> Program:
    def first() -> None:
        noc_inline_dw_write(get_noc_addr(get_arg_val(2), get_arg_val(3), get_semaphore(0)), 1)
        noc_async_write_barrier()

    def other() -> None:
        noc_inline_dw_write(get_noc_addr(get_arg_val(2), get_arg_val(3), get_semaphore(0)), 1)  # bug

    return on_cores(device, first, nothing, other)


@broken(RaceError, "what kernel receiver (BRISC) on core 1-0 made of it", "BRISC")
def flag_reset_after_the_sender_was_told_to_go_on(device: Device) -> Program:
    def sender() -> None:
        wait()
        L1Pointer(get_arg_val(4))[0] = 1
        there = get_noc_addr(get_arg_val(2), get_arg_val(3), get_semaphore(1))
        noc_semaphore_set_remote(get_arg_val(4), there)  # bug
        noc_async_write_barrier()

    def receiver() -> None:
        signal(0, 1)
        noc_semaphore_set(L1Pointer(get_semaphore(1)), 0)
        wait(1, semaphore=1)

    return on_cores(device, sender, receiver, args=[l1_buffer(device)], semaphores=2)


@broken(RaceError, "noc_async_read_barrier() is missing", "BRISC")
def read_barrier_of_other_transactions(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read_set_trid(2)
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), PAGE)
        noc_async_read_barrier_with_trid(1)
        L1Pointer(get_arg_val(1))[0]  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(RaceError, "are overwritten while they are still being sent", "BRISC")
def multicast_source_overwritten_while_it_is_sent(device: Device) -> Program:
    ends = [device.worker_core_from_logical_core(metal.CoreCoord(x, 0)) for x in (1, 3)]

    def kernel() -> None:
        fill(get_arg_val(0))
        target = get_noc_multicast_addr(ends[0].x, ends[0].y, ends[1].x, ends[1].y, get_arg_val(0))
        noc_async_write_multicast(get_arg_val(0), target, PAGE, 3)
        L1Pointer(get_arg_val(0))[7] = 0  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(RaceError, "the kernel ends with 1 reads", "BRISC")
def ends_after_the_barrier_of_other_transactions(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read_set_trid(2)
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), PAGE)
        noc_async_read_barrier_with_trid(1)

    return alone(device, kernel, filled(device, 1), l1_buffer(device))
