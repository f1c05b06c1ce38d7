"""Mistakes with circular buffers."""

from __future__ import annotations

from broken import alone, broken, computing, pipeline
from parts import CORE, add_cb

import ttnn
from ttnn import CircularBufferError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


def source() -> InterleavedAddrGenFast:
    return InterleavedAddrGenFast[True](get_arg_val(0), get_tile_size(0), get_dataformat(0))


def read_tile(tile: int, at: int) -> None:
    noc_async_read_tile(tile, source(), at)
    noc_async_read_barrier()


def one_tile() -> None:
    """Read a tile as it should be done."""
    cb_reserve_back(0, 1)
    read_tile(0, get_write_ptr(0))
    cb_push_back(0, 1)


def write_tile() -> None:
    """Write a tile as it should be done."""
    out = InterleavedAddrGenFast[True](get_arg_val(0), get_tile_size(16), get_dataformat(16))
    cb_wait_front(16, 1)
    noc_async_write_tile(0, out, get_read_ptr(16))
    noc_async_write_barrier()
    cb_pop_front(16, 1)


def copy_one(push: bool = True, pop: bool = True) -> None:
    """Copy a tile as it should be done, or forget something."""
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)
    tile_regs_commit()
    if pop:
        cb_pop_front(0, 1)
    cb_reserve_back(16, 1)
    tile_regs_wait()
    pack_tile(0, 16)
    tile_regs_release()
    if push:
        cb_push_back(16, 1)


@broken(CircularBufferError, "cb_push_back is missing", "NCRISC", 0)
def missing_push(device: Device) -> Program:
    def reader() -> None:
        one_tile()
        cb_reserve_back(0, 1)
        read_tile(1, get_write_ptr(0))

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "cb_pop_front is missing", "BRISC", 16)
def missing_pop(device: Device) -> Program:
    def writer() -> None:
        write_tile()
        out = InterleavedAddrGenFast[True](get_arg_val(0), get_tile_size(16), get_dataformat(16))
        cb_wait_front(16, 1)
        noc_async_write_tile(1, out, get_read_ptr(16))
        noc_async_write_barrier()

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "cb_reserve_back(0, 1) first", "NCRISC", 0)
def push_without_reserve(device: Device) -> Program:
    def reader() -> None:
        cb_push_back(0, 1)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "2 pages are pushed, 1 are reserved", "NCRISC", 0)
def push_more_than_reserved(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        read_tile(0, get_write_ptr(0))
        cb_push_back(0, 2)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "1 pages are pushed, 0 are reserved", "NCRISC", 0)
def push_twice(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        read_tile(0, get_write_ptr(0))
        for _ in range(2):
            cb_push_back(0, 1)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "cb_wait_front(16, 1) first", "BRISC", 16)
def pop_without_wait(device: Device) -> Program:
    def writer() -> None:
        cb_pop_front(16, 1)  # bug

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "2 pages are popped, 1 were waited for", "BRISC", 16)
def pop_more_than_waited(device: Device) -> Program:
    def writer() -> None:
        cb_wait_front(16, 1)
        cb_pop_front(16, 2)  # bug

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "1 pages are popped, 0 were waited for", "TRISC", 0)
def compute_pops_twice(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        for _ in range(2):
            cb_pop_front(0, 1)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "3 can never be there", "BRISC", 16)
def wait_for_more_than_there_is_room_for(device: Device) -> Program:
    def writer() -> None:
        cb_wait_front(16, 3)  # bug

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "3 can never be there", "NCRISC", 0)
def reserve_more_than_there_is_room_for(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 3)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "a count must be at least 1", "NCRISC", 0)
def reserve_nothing(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 0)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "a count must be at least 1", "BRISC", 16)
def wait_for_nothing(device: Device) -> Program:
    def writer() -> None:
        cb_wait_front(16, 0)  # bug

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "CB 5 is not configured on this core", "NCRISC", 5)
def reader_uses_another_index(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(5, 1)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "CB 3 is not configured on this core", "TRISC", 3)
def compute_uses_another_index(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(3, 16)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "is not configured on this core", "NCRISC", 31)
def size_of_no_buffer(device: Device) -> Program:
    def reader() -> None:
        get_tile_size(31)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "counts must divide the CB", "NCRISC", 0)
def pages_past_the_end(device: Device) -> Program:
    def reader() -> None:
        for _ in range(2):
            cb_reserve_back(0, 2)
            for page in range(2):
                read_tile(page, get_write_ptr(0) + page * 2048)
            cb_push_back(0, 2)  # bug

    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 2)
        cb_pop_front(0, 2)

    return pipeline(device, reader=reader, compute=compute, writer=None, pages=3)


@broken(CircularBufferError, "two producers", "BRISC", 0)
def two_producers(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        read_tile(0, get_write_ptr(0))
        cb_push_back(0, 1)

    def writer() -> None:
        cb_wait_front(16, 1)
        cb_pop_front(16, 1)
        cb_reserve_back(0, 1)  # bug

    return pipeline(device, reader=reader, writer=writer)


@broken(CircularBufferError, "two consumers", "BRISC", 0)
def two_consumers(device: Device) -> Program:
    def writer() -> None:
        cb_wait_front(16, 1)
        cb_pop_front(16, 1)
        cb_wait_front(0, 1)
        cb_pop_front(0, 1)  # bug

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "wait for more pages", "TRISC", 0)
def tile_that_nobody_waited_for(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 1, 0)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "wait for more pages", "TRISC", 0)
def tile_without_any_wait(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        tile_regs_acquire()
        copy_tile(0, 0, 0)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "wait for more pages", "TRISC", 1)
def second_operand_without_wait(device: Device) -> Program:
    def compute() -> None:
        binary_op_init_common(0, 1, 16)
        add_tiles_init(0, 1)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        add_tiles(0, 1, 0, 0, 0)  # bug

    return computing(device, compute)


@broken(CircularBufferError, "wait for more pages", "TRISC", 0)
def tile_after_the_pop(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        cb_pop_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "cb_reserve_back for more pages", "TRISC", 16)
def pack_without_reserve(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "cb_reserve_back for more pages", "TRISC", 16)
def pack_more_than_reserved(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        cb_reserve_back(16, 1)
        tile_regs_wait()
        for _ in range(2):
            pack_tile(0, 16)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "cb_reserve_back for more pages", "TRISC", 16)
def pack_out_of_order_past_the_pages(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        tile_regs_commit()
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16, 1, out_of_order=True)  # bug

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "no byte of it was ever written", "TRISC", 0)
def page_pushed_without_data(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)

    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)  # bug

    return pipeline(device, reader=reader, compute=compute)


@broken(CircularBufferError, "its pages have 1024 B", "TRISC", 2)
def pages_smaller_than_a_tile(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(2, 1)
        L1Pointer(get_write_ptr(2)).write([0] * 256)
        cb_push_back(2, 1)

    def compute() -> None:
        unary_op_init_common(2, 16)
        cb_wait_front(2, 1)
        tile_regs_acquire()
        copy_tile(2, 0, 0)  # bug

    program = pipeline(device, reader=reader, compute=compute)
    config = metal.CircularBufferConfig(2048, {2: metal.DataFormat.Float16_b}).set_page_size(2, 1024)
    metal.create_circular_buffer(program, CORE, config)
    return program


@broken(CircularBufferError, "reserve pages before writing them", "NCRISC", 0)
def read_into_pages_not_reserved(device: Device) -> Program:
    def reader() -> None:
        one_tile()
        noc_async_read_tile(1, source(), get_write_ptr(0))  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "reserve pages before writing them", "NCRISC", 0)
def read_past_pages_reserved(device: Device) -> Program:
    def reader() -> None:
        cb_reserve_back(0, 1)
        noc_async_read_tile(0, source(), get_write_ptr(0) + 1024)  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "reserve pages before writing them", "NCRISC", 0)
def store_into_pages_not_reserved(device: Device) -> Program:
    def reader() -> None:
        one_tile()
        L1Pointer(get_write_ptr(0))[0] = 1  # bug

    return pipeline(device, reader=reader)


@broken(CircularBufferError, "wait for pages before reading them", "BRISC", 16)
def write_from_pages_not_waited_for(device: Device) -> Program:
    def writer() -> None:
        write_tile()
        out = InterleavedAddrGenFast[True](get_arg_val(0), get_tile_size(16), get_dataformat(16))
        noc_async_write_tile(1, out, get_read_ptr(16))  # bug

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "wait for pages before reading them", "BRISC", 16)
def load_from_pages_not_waited_for(device: Device) -> Program:
    def writer() -> None:
        write_tile()
        L1Pointer(get_read_ptr(16))[0]  # bug

    return pipeline(device, writer=writer)


@broken(CircularBufferError, "cb_pop_front is missing", "TRISC", 0)
def compute_never_pops(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        copy_one()
        copy_one(pop=False)

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "cb_push_back is missing", "TRISC", 16)
def compute_never_pushes(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        copy_one()
        copy_one(push=False)

    return pipeline(device, compute=compute)


@broken(CircularBufferError, "is not configured on this core", "TRISC", 16, core="1-0")
def buffer_on_one_of_two_cores(device: Device) -> Program:
    program = metal.create_program()
    both = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))
    add_cb(program, 16, cores=CORE)

    def compute() -> None:
        cb_reserve_back(16, 1)  # bug

    metal.create_kernel(program, compute, both, metal.ComputeConfig())
    return program


@broken(CircularBufferError, "cb_wait_front(0, 1) first", "BRISC", 0)
def producer_pops_its_own_buffer(device: Device) -> Program:
    def kernel() -> None:
        cb_reserve_back(0, 1)
        L1Pointer(get_write_ptr(0)).write([0] * 512)
        cb_push_back(0, 1)
        cb_pop_front(0, 1)  # bug

    return alone(device, kernel)
