"""Mistakes with addresses, coordinates, sizes and alignment."""

from __future__ import annotations

from broken import (
    KEPT,
    TILES,
    alone,
    broken,
    broken_alone,
    broken_reader,
    broken_writer,
    dram_and_l1,
    filled,
    l1_buffer,
    one_l1,
    pipeline,
)

import ttnn
from testkit.kernel_parts import PAGE, fill, pages_of
from testkit.parts import tiles_buffer
from ttnn import AddressError, KernelArgumentError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


@broken_alone(AddressError, "no core and no DRAM bank at NoC coordinates 60-60", args=one_l1)
def read_from_nowhere() -> None:
    noc_async_read(get_noc_addr(60, 60, 0x20000), get_arg_val(0), 32)  # bug


@broken_alone(AddressError, "no core and no DRAM bank at NoC coordinates 60-60", args=one_l1)
def write_to_nowhere() -> None:
    L1Pointer(get_arg_val(0)).write([1] * 8)
    noc_async_write(get_arg_val(0), get_noc_addr(60, 60, 0x20000), 32)  # bug


@broken_alone(AddressError, "no core and no DRAM bank at NoC coordinates", semaphores=1)
def logical_coordinates_in_a_semaphore_address() -> None:
    noc_semaphore_inc(get_noc_addr(63, 0, get_semaphore(0)), 1)  # bug


@broken_reader(AddressError, "page 4 is outside the buffer")
def one_page_too_far() -> None:
    cb_reserve_back(0, 1)
    pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, get_dataformat(0))
    noc_async_read_tile(get_arg_val(1), pages, get_write_ptr(0))  # bug


@broken_writer(AddressError, "page 4 is outside the buffer")
def one_page_too_far_written() -> None:
    cb_wait_front(16, 1)
    pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, get_dataformat(16))
    noc_async_write_tile(TILES, pages, get_read_ptr(16))  # bug


@broken_reader(KernelArgumentError, "a tile of this format has 2048 B")
def page_size_of_another_format() -> None:
    InterleavedAddrGenFast[True](get_arg_val(0), 2 * PAGE, get_dataformat(0))  # bug


@broken_reader(AddressError, "pages of 4096 B are requested, but the buffer")
def pages_of_another_size() -> None:
    cb_reserve_back(0, 2)
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0), 2 * PAGE)), get_write_ptr(0), 2 * PAGE)  # bug


@broken_reader(AddressError, "no buffer starts at address")
def address_off_by_a_page() -> None:
    cb_reserve_back(0, 1)
    pages = InterleavedAddrGenFast[True](get_arg_val(0) + 64, PAGE, get_dataformat(0))
    noc_async_read_tile(0, pages, get_write_ptr(0))  # bug


@broken_reader(AddressError, "no buffer starts at address")
def dram_address_taken_for_l1() -> None:
    cb_reserve_back(0, 1)
    pages = InterleavedAddrGenFast[False](get_arg_val(0), PAGE, get_dataformat(0))
    noc_async_read_tile(0, pages, get_write_ptr(0))  # bug


@broken(AddressError, "", "NCRISC")
def buffer_freed_before_the_run(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, get_dataformat(0))
        noc_async_read_tile(0, pages, get_write_ptr(0))  # bug

    source = filled(device)
    program = pipeline(device, reader=reader, source=source)
    metal.deallocate_buffer(source)
    return program


@broken_alone(AddressError, "go 32 B past the end of", args=dram_and_l1)
def read_past_the_end_of_a_buffer() -> None:
    source = get_noc_addr(0, pages_of(get_arg_val(0)))
    noc_async_read(source + PAGE - 32, get_arg_val(1), 64)  # bug


@broken_alone(AddressError, "past the end of", args=dram_and_l1)
def write_past_the_end_of_a_buffer() -> None:
    fill(get_arg_val(1))
    noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))) + 1024, PAGE)  # bug


@broken_alone(
    AddressError, "past the end of", args=lambda device: [filled(device, 1), l1_buffer(device), l1_buffer(device)]
)
def read_past_the_end_of_own_buffer() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(2) + 1024, PAGE)  # bug


@broken_alone(AddressError, "belong to no buffer", args=lambda device: [filled(device, 1)])
def l1_of_nobody() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), 1024 * 1024, PAGE)  # bug


@broken_alone(AddressError, "outside its", args=lambda device: [filled(device, 1)])
def past_the_end_of_l1() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), 1499136, PAGE)  # bug


@broken_alone(AddressError, "outside its")
def pointer_past_the_end_of_l1() -> None:
    L1Pointer(0x4000_0000)[0]  # bug


@broken(AddressError, "were never written", "NCRISC")
def page_that_was_never_written(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, get_dataformat(0))
        noc_async_read_tile(0, pages, get_write_ptr(0))  # bug

    return pipeline(device, reader=reader, source=tiles_buffer(device, TILES))


@broken_alone(AddressError, "were never written", args=dram_and_l1)
def own_bytes_that_were_never_written() -> None:
    noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)  # bug


@broken_alone(AddressError, "were never written", args=one_l1)
def word_that_was_never_written() -> None:
    L1Pointer(get_arg_val(0))[3]  # bug


@broken_alone(AddressError, "must be equal modulo", args=dram_and_l1)
def source_and_target_aligned_differently() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1) + 16, 64)  # bug


@broken_alone(AddressError, "must be equal modulo", args=dram_and_l1)
def read_off_by_one_byte() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))) + 1, get_arg_val(1), 64)  # bug


@broken_alone(AddressError, "must be equal modulo", args=dram_and_l1)
def write_off_by_four_bytes() -> None:
    fill(get_arg_val(1))
    noc_async_write(get_arg_val(1) + 4, get_noc_addr(0, pages_of(get_arg_val(0))), 64)  # bug


@broken_alone(AddressError, "is not a multiple of 4", args=one_l1)
def word_off_by_a_byte() -> None:
    L1Pointer(get_arg_val(0) + 2)[0] = 1  # bug


@broken_alone(AddressError, "is not a multiple of", args=one_l1)
def inline_write_off_by_two_bytes() -> None:
    noc_inline_dw_write(get_noc_addr(get_arg_val(0) + 2), 1)  # bug


@broken_alone(AddressError, "a transfer has at least 1 B, got 0 B", args=dram_and_l1)
def empty_read() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), 0)  # bug


@broken(KernelArgumentError, "do not fit into one packet", "BRISC")
def packet_too_large(device: Device) -> Program:
    def kernel() -> None:
        source = get_noc_addr(0, pages_of(get_arg_val(0), 32768))
        noc_async_read_one_packet(source, get_arg_val(1), 32768)  # bug

    config = metal.InterleavedBufferConfig(device=device, size=32768, page_size=32768)
    source = metal.create_buffer(config)
    source.write(bytes(32768))
    return alone(device, kernel, source, l1_buffer(device, 32768))


@broken(AddressError, "num_dests is 4", "BRISC")
def wrong_number_of_receivers(device: Device) -> Program:
    start, end = (device.worker_core_from_logical_core(metal.CoreCoord(x, 0)) for x in (1, 3))

    def kernel() -> None:
        fill(get_arg_val(0))
        target = get_noc_multicast_addr(start.x, start.y, end.x, end.y, get_arg_val(0))
        noc_async_write_multicast(get_arg_val(0), target, PAGE, 4)  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "has non-worker cores", "BRISC")
def multicast_past_the_grid(device: Device) -> Program:
    start = device.worker_core_from_logical_core(metal.CoreCoord(1, 0))

    def kernel() -> None:
        fill(get_arg_val(0))
        target = get_noc_multicast_addr(start.x, start.y, 60, start.y, get_arg_val(0))
        noc_async_write_multicast(get_arg_val(0), target, PAGE, 8)  # bug

    return alone(device, kernel, l1_buffer(device))


def multicast_on(device: Device, noc: int, start: int, end: int) -> Program:
    """Return a program that multicasts from column to column of row 0."""
    corners = [device.worker_core_from_logical_core(metal.CoreCoord(x, 0)) for x in (start, end)]

    def kernel() -> None:
        fill(get_arg_val(0))
        target = get_noc_multicast_addr(corners[0].x, corners[0].y, corners[1].x, corners[1].y, get_arg_val(0))
        noc_async_write_multicast(get_arg_val(0), target, PAGE, 3, noc=noc)

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "NoC 0 starts at the corner with the smaller coordinates; swap start and end", "BRISC")
def multicast_from_the_far_corner(device: Device) -> Program:
    return multicast_on(device, 0, 3, 1)


@broken(AddressError, "NoC 1 starts at the corner with the larger coordinates; swap start and end", "BRISC")
def multicast_on_the_other_network_from_the_near_corner(device: Device) -> Program:
    return multicast_on(device, 1, 1, 3)


@broken_alone(AddressError, "semaphore 3 does not exist on this core")
def semaphore_that_nobody_created() -> None:
    get_semaphore(3)  # bug


@broken_alone(AddressError, "belong to the firmware", args=one_l1)
def write_below_the_first_circular_buffer() -> None:
    L1Pointer(1024)[0] = 1  # bug


@broken_alone(AddressError, "belong to the firmware", args=one_l1, semaphores=1)
def argument_overwritten() -> None:
    L1Pointer(get_arg_addr(0))[0] = 1  # bug


@broken_alone(AddressError, "belong to the firmware", semaphores=1)
def second_word_behind_a_semaphore() -> None:
    L1Pointer(get_semaphore(0))[4] = 1  # bug


@broken_alone(
    AddressError,
    "were never written",
    args=lambda device: [tiles_buffer(device, 64, buffer_type=metal.BufferType.L1)],
)
def l1_of_another_core_that_nobody_wrote() -> None:
    there = get_noc_addr(my_x[0] + 1, my_y[0], get_arg_val(0))
    noc_async_read(there, get_arg_val(0), PAGE)  # bug


@broken_alone(AddressError, "belong to no buffer", args=one_l1)
def page_sent_to_free_l1_of_another_core() -> None:
    fill(get_arg_val(0))
    noc_async_write(get_arg_val(0), get_noc_addr(my_x[0] + 1, my_y[0], 400_000), PAGE)  # bug


@broken_reader(AddressError, "past the end of CB 0", pages=1, compute=None, writer=None)
def page_read_across_the_end_of_a_circular_buffer() -> None:
    cb_reserve_back(0, 1)
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_write_ptr(0) + 1024, PAGE)  # bug


@broken_alone(KernelArgumentError, "has no atomics", args=lambda device: [filled(device, 1)])
def count_in_dram() -> None:
    noc_semaphore_inc(get_noc_addr(0, pages_of(get_arg_val(0))), 1)  # bug


@broken_alone(KernelArgumentError, "noc_async_read_set_state was not called", args=dram_and_l1)
def read_with_a_state_that_nobody_set() -> None:
    noc_async_read_with_state(get_arg_val(0), get_arg_val(1), 32)  # bug


@broken_alone(KernelArgumentError, "noc_async_write_set_state was not called", args=dram_and_l1)
def write_with_the_state_of_the_other_network() -> None:
    noc_async_write_one_packet_set_state(get_noc_addr(0, pages_of(get_arg_val(0))), 32, noc=1)
    noc_async_write_one_packet_with_state(get_arg_val(1), get_arg_val(0), noc=0)  # bug


@broken_alone(KernelArgumentError, "transaction id 16; ids are 0 to 15")
def transaction_id_that_does_not_exist() -> None:
    noc_async_read_set_trid(16)  # bug


@broken_alone(KernelArgumentError, "noc must be 0 or 1, got 2", args=dram_and_l1)
def third_network() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), 32, 2)  # bug


@broken_alone(KernelArgumentError, "bank 12 of 12")
def bank_that_the_chip_lacks() -> None:
    get_noc_addr_from_bank_id(12, 1 << 20)  # bug


@broken_alone(KernelArgumentError, "are not whole words", args=dram_and_l1)
def half_a_word_of_zeros() -> None:
    noc_async_write_zeros(get_noc_addr(0, pages_of(get_arg_val(0))), 30)  # bug


@broken_alone(KernelArgumentError, "num_dests is 3", semaphores=1)
def count_sent_to_another_number_of_cores() -> None:
    target = get_noc_multicast_addr(my_x[0] + 1, my_y[0], my_x[0] + 2, my_y[0], get_semaphore(0))
    noc_semaphore_inc_multicast(target, 1, 3)  # bug


@broken_alone(AddressError, "num_dests is 2", args=one_l1)
def sender_not_counted_in_a_loopback() -> None:
    fill(get_arg_val(0))
    target = get_noc_multicast_addr(my_x[0], my_y[0], my_x[0] + 2, my_y[0], get_arg_val(0))
    noc_async_write_multicast_loopback_src(get_arg_val(0), target, PAGE, 2)  # bug


@broken_alone(AddressError, "has non-worker cores", args=one_l1)
def multicast_to_logical_coordinates() -> None:
    fill(get_arg_val(0))
    noc_async_write_multicast(get_arg_val(0), get_noc_multicast_addr(1, 0, 3, 0, get_arg_val(0)), PAGE, 3)  # bug


@broken_alone(AddressError, "", args=dram_and_l1)
def part_of_a_page_from_beyond_the_page() -> None:
    noc_async_read_page(0, pages_of(get_arg_val(0)), get_arg_val(1), PAGE)  # bug


@broken_reader(AddressError, "pages of 4096 B are requested, but the buffer")
def buffer_of_bfloat16_read_as_float32() -> None:
    pages = InterleavedAddrGenFast[True](get_arg_val(0), 2 * PAGE, 0)
    cb_reserve_back(0, 2)
    noc_async_read_tile(0, pages, get_write_ptr(0))  # bug


@broken(AddressError, "no buffer starts at address", "BRISC")
def accessor_of_another_tensor(device: Device) -> Program:
    l1 = l1_buffer(device)

    def kernel() -> None:
        pages = TensorAccessor(TensorAccessorArgs(0), get_arg_val(0))
        noc_async_read_page(0, pages, get_arg_val(1))  # bug

    program = alone(device, kernel, filled(device, 1), l1)
    metal.TensorAccessorArgs(l1).append_to(args := [])
    program.kernels[0].config.compile_args = args
    return program


@broken(AddressError, "outside the buffer", "BRISC")
def buffer_replaced_by_a_smaller_one(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(3, pages_of(get_arg_val(0))), get_arg_val(1), PAGE)  # bug

    large = filled(device, TILES)
    program = alone(device, kernel, large, l1_buffer(device))
    metal.deallocate_buffer(large)
    KEPT.append(filled(device, 2))
    return program


@broken_alone(KernelArgumentError, "noc_async_read: size must be an integer", args=dram_and_l1)
def negative_size() -> None:
    noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), -32)  # bug
