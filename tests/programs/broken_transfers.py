"""Mistakes with addresses, coordinates, sizes and alignment."""

from __future__ import annotations

from broken import TILES, alone, broken, filled, pipeline
from parts import tiles_buffer

import ttnn
from ttnn import AddressError, KernelArgumentError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program
PAGE = 2048


def l1_buffer(device: Device, size: int = PAGE) -> metal.Buffer:
    config = metal.InterleavedBufferConfig(device=device, size=size, page_size=size, buffer_type=metal.BufferType.L1)
    return metal.create_buffer(config)


def pages_of(address: int, page: int = PAGE) -> InterleavedAddrGen:
    return InterleavedAddrGen[True](bank_base_address=address, page_size=page)


@broken(AddressError, "no core and no DRAM bank at NoC coordinates 60-60", "BRISC")
def read_from_nowhere(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(60, 60, 0x20000), get_arg_val(0), 32)  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "no core and no DRAM bank at NoC coordinates 60-60", "BRISC")
def write_to_nowhere(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(0)).write([1] * 8)
        noc_async_write(get_arg_val(0), get_noc_addr(60, 60, 0x20000), 32)  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "no core and no DRAM bank at NoC coordinates", "BRISC")
def logical_coordinates_in_a_semaphore_address(device: Device) -> Program:
    def kernel() -> None:
        noc_semaphore_inc(get_noc_addr(63, 0, get_semaphore(0)), 1)  # bug

    program = alone(device, kernel)
    metal.create_semaphore(program, metal.CoreCoord(0, 0), 0)
    return program


@broken(AddressError, "page 4 is outside the buffer", "NCRISC")
def one_page_too_far(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, get_dataformat(0))
        noc_async_read_tile(get_arg_val(1), pages, get_write_ptr(0))  # bug

    return pipeline(device, reader=reader)


@broken(AddressError, "page 4 is outside the buffer", "BRISC")
def one_page_too_far_written(device: Device) -> Program:
    def writer() -> None:
        cb_wait_front(16, 1)
        pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, get_dataformat(16))
        noc_async_write_tile(TILES, pages, get_read_ptr(16))  # bug

    return pipeline(device, writer=writer)


@broken(KernelArgumentError, "a tile of this format has 2048 B", "NCRISC")
def page_size_of_another_format(device: Device) -> Program:
    def reader() -> None:
        InterleavedAddrGenFast[True](get_arg_val(0), 2 * PAGE, get_dataformat(0))  # bug

    return pipeline(device, reader=reader)


@broken(AddressError, "pages of 4096 B are asked for, the buffer", "NCRISC")
def pages_of_another_size(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 2)
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0), 2 * PAGE)), get_write_ptr(0), 2 * PAGE)  # bug

    return pipeline(device, reader=reader)


@broken(AddressError, "no buffer starts at address", "NCRISC")
def address_off_by_a_page(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        pages = InterleavedAddrGenFast[True](get_arg_val(0) + 64, PAGE, get_dataformat(0))
        noc_async_read_tile(0, pages, get_write_ptr(0))  # bug

    return pipeline(device, reader=reader)


@broken(AddressError, "no buffer starts at address", "NCRISC")
def dram_address_taken_for_l1(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        pages = InterleavedAddrGenFast[False](get_arg_val(0), PAGE, get_dataformat(0))
        noc_async_read_tile(0, pages, get_write_ptr(0))  # bug

    return pipeline(device, reader=reader)


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


@broken(AddressError, "go 32 B past the end of", "BRISC")
def read_past_the_end_of_a_buffer(device: Device) -> Program:
    def kernel() -> None:
        source = get_noc_addr(0, pages_of(get_arg_val(0)))
        noc_async_read(source + PAGE - 32, get_arg_val(1), 64)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(AddressError, "past the end of", "BRISC")
def write_past_the_end_of_a_buffer(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(1)).write([1] * 512)
        noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))) + 1024, PAGE)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(AddressError, "past the end of", "BRISC")
def read_past_the_end_of_own_buffer(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(2) + 1024, PAGE)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device), l1_buffer(device))


@broken(AddressError, "belong to no buffer", "BRISC")
def l1_of_nobody(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), 1024 * 1024, PAGE)  # bug

    return alone(device, kernel, filled(device, 1))


@broken(AddressError, "outside its", "BRISC")
def past_the_end_of_l1(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), 1499136, PAGE)  # bug

    return alone(device, kernel, filled(device, 1))


@broken(AddressError, "outside its", "BRISC")
def pointer_past_the_end_of_l1(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(0x4000_0000)[0]  # bug

    return alone(device, kernel)


@broken(AddressError, "nobody has written", "NCRISC")
def page_that_was_never_written(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        pages = InterleavedAddrGenFast[True](get_arg_val(0), PAGE, get_dataformat(0))
        noc_async_read_tile(0, pages, get_write_ptr(0))  # bug

    return pipeline(device, reader=reader, source=tiles_buffer(device, TILES))


@broken(AddressError, "nobody has written", "BRISC")
def own_bytes_that_were_never_written(device: Device) -> Program:
    def kernel() -> None:
        noc_async_write(get_arg_val(1), get_noc_addr(0, pages_of(get_arg_val(0))), PAGE)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(AddressError, "nobody has written", "BRISC")
def word_that_was_never_written(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(0))[3]  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "differ modulo", "BRISC")
def source_and_target_aligned_differently(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1) + 16, 64)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(AddressError, "differ modulo", "BRISC")
def read_off_by_one_byte(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))) + 1, get_arg_val(1), 64)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(AddressError, "differ modulo", "BRISC")
def write_off_by_four_bytes(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(1)).write([1] * 512)
        noc_async_write(get_arg_val(1) + 4, get_noc_addr(0, pages_of(get_arg_val(0))), 64)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(AddressError, "is not a multiple of 4", "BRISC")
def word_off_by_a_byte(device: Device) -> Program:
    def kernel() -> None:
        L1Pointer(get_arg_val(0) + 2)[0] = 1  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "is not a multiple of", "BRISC")
def inline_write_off_by_two_bytes(device: Device) -> Program:
    def kernel() -> None:
        noc_inline_dw_write(get_noc_addr(get_arg_val(0) + 2), 1)  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "a transfer of 0 B", "BRISC")
def empty_read(device: Device) -> Program:
    def kernel() -> None:
        noc_async_read(get_noc_addr(0, pages_of(get_arg_val(0))), get_arg_val(1), 0)  # bug

    return alone(device, kernel, filled(device, 1), l1_buffer(device))


@broken(KernelArgumentError, "do not fit into one packet", "BRISC")
def packet_too_large(device: Device) -> Program:
    def kernel() -> None:
        source = get_noc_addr(0, pages_of(get_arg_val(0), 32768))
        noc_async_read_one_packet(source, get_arg_val(1), 32768)  # bug

    config = metal.InterleavedBufferConfig(device=device, size=32768, page_size=32768)
    source = metal.create_buffer(config)
    source.write(bytes(32768))
    return alone(device, kernel, source, l1_buffer(device, 32768))


@broken(AddressError, "num_dests says 4", "BRISC")
def wrong_number_of_receivers(device: Device) -> Program:
    start, end = (device.worker_core_from_logical_core(metal.CoreCoord(x, 0)) for x in (1, 3))

    def kernel() -> None:
        L1Pointer(get_arg_val(0)).write([1] * 512)
        target = get_noc_multicast_addr(start.x, start.y, end.x, end.y, get_arg_val(0))
        noc_async_write_multicast(get_arg_val(0), target, PAGE, 4)  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "holds no worker cores only", "BRISC")
def multicast_past_the_grid(device: Device) -> Program:
    start = device.worker_core_from_logical_core(metal.CoreCoord(1, 0))

    def kernel() -> None:
        L1Pointer(get_arg_val(0)).write([1] * 512)
        target = get_noc_multicast_addr(start.x, start.y, 60, start.y, get_arg_val(0))
        noc_async_write_multicast(get_arg_val(0), target, PAGE, 8)  # bug

    return alone(device, kernel, l1_buffer(device))


@broken(AddressError, "semaphore 3 does not exist on this core", "BRISC")
def semaphore_that_nobody_created(device: Device) -> Program:
    def kernel() -> None:
        get_semaphore(3)  # bug

    return alone(device, kernel)
