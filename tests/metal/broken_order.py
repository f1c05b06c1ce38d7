"""Mistakes of order in one kernel: missing barriers."""

from __future__ import annotations

from broken import broken_alone, broken_reader, broken_writer, dram_and_l1, filled, l1_buffer

import ttnn
from testkit.kernel_parts import PAGE, fill, pages_of
from ttnn import RaceError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


@broken_reader(RaceError, "noc_async_read_barrier() is missing", 0)
def push_before_the_data_is_there() -> None:
    cb_reserve_back(0, 1)
    noc_async_read_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
    cb_push_back(0, 1)  # bug


@broken_reader(RaceError, "noc_async_read_barrier() is missing", 0)
def barrier_of_the_other_network() -> None:
    cb_reserve_back(0, 1)
    noc_async_read_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_write_ptr(0))
    noc_async_read_barrier(1 - noc_index())
    cb_push_back(0, 1)  # bug


@broken_reader(RaceError, "noc_async_read_barrier() is missing", 0)
def barrier_before_the_last_read() -> None:
    cb_reserve_back(0, 2)
    pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5)
    noc_async_read_tile(0, pages, get_write_ptr(0))
    noc_async_read_barrier()
    noc_async_read_tile(1, pages, get_write_ptr(0) + PAGE)
    cb_push_back(0, 2)  # bug


@broken_alone(RaceError, "noc_async_read_barrier() is missing", args=dram_and_l1)
def load_before_the_data_is_there() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), PAGE)
    L1Pointer(get_arg_val(1))[0]  # bug


@broken_alone(
    RaceError,
    "noc_async_read_barrier() is missing",
    args=lambda device: [filled(device, 1), filled(device, 1), l1_buffer(device)],
)
def loopback_without_read_barrier() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(2), PAGE)
    noc_async_write(get_arg_val(2), get_noc_addr(0, pages_of(get_arg_val(1))), PAGE)  # bug


@broken_writer(RaceError, "noc_async_write_barrier() is missing", 16)
def pop_before_the_data_has_left() -> None:
    cb_wait_front(16, 1)
    noc_async_write_tile(0, InterleavedAddrGenFast[True](get_arg_val(0), PAGE, 5), get_read_ptr(16))
    cb_pop_front(16, 1)  # bug


@broken_alone(
    RaceError,
    "are overwritten while they are still being sent",
    args=dram_and_l1,
)
def source_overwritten_while_it_is_sent() -> None:
    fill(get_arg_val(1))
    noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)
    L1Pointer(get_arg_val(1))[0] = 2  # bug


@broken_alone(RaceError, "the kernel ends with 1 reads", args=dram_and_l1)
def ends_while_it_reads() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), PAGE)


@broken_alone(RaceError, "the kernel ends with 0 reads, 1 writes", args=dram_and_l1)
def ends_while_it_writes() -> None:
    fill(get_arg_val(1))
    noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)


@broken_alone(RaceError, "the kernel ends with 0 reads, 1 writes", args=dram_and_l1)
def ends_with_writes_only_flushed() -> None:
    fill(get_arg_val(1))
    noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)
    noc_async_writes_flushed()


@broken_alone(RaceError, "and 1 atomics", semaphores=1)
def ends_while_it_counts() -> None:
    noc_semaphore_inc(get_noc_addr(get_semaphore(0)), 1)
