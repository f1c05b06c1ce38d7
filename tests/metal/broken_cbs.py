"""Mistakes with circular buffers."""

from __future__ import annotations

from broken import broken, broken_alone, broken_compute, broken_computing, broken_reader, broken_writer, pipeline

import ttnn
from testkit.kernel_parts import (
    copy_one,
    front_and_dst,
    pop_tile,
    push_tile,
    push_words,
    read_tile,
    ready_to_pack,
    tile_in_dst,
    tiles_of,
    write_front,
)
from testkit.parts import CORE, add_cb
from ttnn import CircularBufferError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program


@broken_reader(CircularBufferError, "cb_push_back is missing", 0)
def missing_push() -> None:
    push_tile()
    cb_reserve_back(0, 1)
    read_tile(1, get_write_ptr(0))


@broken_writer(CircularBufferError, "cb_pop_front is missing", 16)
def missing_pop() -> None:
    pop_tile()
    cb_wait_front(16, 1)
    write_front(1)


@broken_reader(CircularBufferError, "cb_reserve_back(0, 1) first", 0)
def push_without_reserve() -> None:
    cb_push_back(0, 1)  # bug


@broken_reader(CircularBufferError, "2 pages are pushed, 1 are reserved", 0)
def push_more_than_reserved() -> None:
    cb_reserve_back(0, 1)
    read_tile(0, get_write_ptr(0))
    cb_push_back(0, 2)  # bug


@broken_reader(CircularBufferError, "1 pages are pushed, 0 are reserved", 0)
def push_twice() -> None:
    cb_reserve_back(0, 1)
    read_tile(0, get_write_ptr(0))
    for _ in range(2):
        cb_push_back(0, 1)  # bug


@broken_writer(CircularBufferError, "cb_wait_front(16, 1) first", 16)
def pop_without_wait() -> None:
    cb_pop_front(16, 1)  # bug


@broken_writer(CircularBufferError, "2 pages are popped, 1 were waited for", 16)
def pop_more_than_waited() -> None:
    cb_wait_front(16, 1)
    cb_pop_front(16, 2)  # bug


@broken_compute(CircularBufferError, "1 pages are popped, 0 were waited for", 0)
def compute_pops_twice() -> None:
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    for _ in range(2):
        cb_pop_front(0, 1)  # bug


@broken_writer(CircularBufferError, "fewer than 3; make the CB larger", 16)
def wait_for_more_than_there_is_room_for() -> None:
    cb_wait_front(16, 3)  # bug


@broken_reader(CircularBufferError, "fewer than 3; make the CB larger", 0)
def reserve_more_than_there_is_room_for() -> None:
    cb_reserve_back(0, 3)  # bug


@broken_reader(CircularBufferError, "CB 5 is not configured on this core", 5)
def reader_uses_another_index() -> None:
    cb_reserve_back(5, 1)  # bug


@broken_compute(CircularBufferError, "CB 3 is not configured on this core", 3)
def compute_uses_another_index() -> None:
    unary_op_init_common(3, 16)  # bug


@broken_reader(CircularBufferError, "is not configured on this core", 31)
def size_of_no_buffer() -> None:
    get_tile_size(31)  # bug


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


@broken_writer(CircularBufferError, "two producers", 0, reader=push_tile)
def two_producers() -> None:
    cb_wait_front(16, 1)
    cb_pop_front(16, 1)
    cb_reserve_back(0, 1)  # bug


@broken_writer(CircularBufferError, "two consumers", 0)
def two_consumers() -> None:
    cb_wait_front(16, 1)
    cb_pop_front(16, 1)
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)  # bug


@broken_compute(CircularBufferError, "wait for more pages", 0)
def tile_that_nobody_waited_for() -> None:
    front_and_dst()
    copy_tile(0, 1, 0)  # bug


@broken_compute(CircularBufferError, "wait for more pages", 0)
def tile_without_any_wait() -> None:
    unary_op_init_common(0, 16)
    tile_regs_acquire()
    copy_tile(0, 0, 0)  # bug


@broken_computing(CircularBufferError, "wait for more pages", 1)
def second_operand_without_wait() -> None:
    binary_op_init_common(0, 1, 16)
    add_tiles_init(0, 1)
    cb_wait_front(0, 1)
    tile_regs_acquire()
    add_tiles(0, 1, 0, 0, 0)  # bug


@broken_compute(CircularBufferError, "wait for more pages", 0)
def tile_after_the_pop() -> None:
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)  # bug


@broken_compute(CircularBufferError, "cb_reserve_back for more pages", 16)
def pack_without_reserve() -> None:
    tile_in_dst()
    tile_regs_commit()
    tile_regs_wait()
    pack_tile(0, 16)  # bug


@broken_compute(CircularBufferError, "cb_reserve_back for more pages", 16)
def pack_more_than_reserved() -> None:
    tile_in_dst()
    ready_to_pack()
    for _ in range(2):
        pack_tile(0, 16)  # bug


@broken_compute(CircularBufferError, "cb_reserve_back for more pages", 16)
def pack_out_of_order_past_the_pages() -> None:
    tile_in_dst()
    ready_to_pack()
    pack_tile(0, 16, 1, out_of_order=True)  # bug


def push_nothing() -> None:
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)


@broken_compute(CircularBufferError, "no byte of it was ever written", 0, reader=push_nothing)
def page_pushed_without_data() -> None:
    front_and_dst()
    copy_tile(0, 0, 0)  # bug


@broken(CircularBufferError, "but pages of 1024 B", "TRISC", 2)
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


@broken_reader(CircularBufferError, "reserve pages before writing them", 0)
def read_into_pages_not_reserved() -> None:
    push_tile()
    noc_async_read_tile(1, tiles_of(get_arg_val(0), 0), get_write_ptr(0))  # bug


@broken_reader(CircularBufferError, "reserve pages before writing them", 0)
def read_past_pages_reserved() -> None:
    cb_reserve_back(0, 1)
    noc_async_read_tile(0, tiles_of(get_arg_val(0), 0), get_write_ptr(0) + 1024)  # bug


@broken_reader(CircularBufferError, "reserve pages before writing them", 0)
def store_into_pages_not_reserved() -> None:
    push_tile()
    L1Pointer(get_write_ptr(0))[0] = 1  # bug


@broken_writer(CircularBufferError, "wait for pages before reading them", 16)
def write_from_pages_not_waited_for() -> None:
    pop_tile()
    noc_async_write_tile(1, tiles_of(get_arg_val(0), 16), get_read_ptr(16))  # bug


@broken_writer(CircularBufferError, "wait for pages before reading them", 16)
def load_from_pages_not_waited_for() -> None:
    pop_tile()
    L1Pointer(get_read_ptr(16))[0]  # bug


@broken_compute(CircularBufferError, "cb_pop_front is missing", 0)
def compute_never_pops() -> None:
    unary_op_init_common(0, 16)
    copy_one()
    copy_one(pop=False)


@broken_compute(CircularBufferError, "cb_push_back is missing", 16)
def compute_never_pushes() -> None:
    unary_op_init_common(0, 16)
    copy_one()
    copy_one(push=False)


@broken(CircularBufferError, "is not configured on this core", "TRISC", 16, core="1-0")
def buffer_on_one_of_two_cores(device: Device) -> Program:
    program = metal.create_program()
    both = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(1, 0))
    add_cb(program, 16, cores=CORE)

    def compute() -> None:
        cb_reserve_back(16, 1)  # bug

    metal.create_kernel(program, compute, both, metal.ComputeConfig())
    return program


@broken_alone(CircularBufferError, "cb_wait_front(0, 1) first", 0)
def producer_pops_its_own_buffer() -> None:
    push_words(0)
    cb_pop_front(0, 1)  # bug


@broken_reader(CircularBufferError, "is not configured on this core", 40)
def index_beyond_those_of_the_chip() -> None:
    cb_reserve_back(40, 1)  # bug


@broken_writer(CircularBufferError, "counts must divide the CB", 16, pages=3, compute=None, reader=None)
def front_past_the_end() -> None:
    for _ in range(2):
        push_words(16)
        cb_wait_front(16, 1)
        cb_pop_front(16, 1)
    for _ in range(2):
        push_words(16)
    cb_wait_front(16, 2)
    cb_pop_front(16, 2)  # bug


@broken_compute(CircularBufferError, "which no kernel has written; pack the first tile", 16)
def sum_in_l1_that_starts_with_nothing() -> None:
    tile_in_dst()
    ready_to_pack()
    pack_reconfig_l1_acc(1)
    pack_tile(0, 16)  # bug


@broken_compute(CircularBufferError, "two producers", 0)
def compute_packs_into_its_own_input() -> None:
    unary_op_init_common(0, 0)
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)
    tile_regs_commit()
    cb_reserve_back(0, 1)  # bug


@broken_compute(CircularBufferError, "wait for more pages", 0)
def value_of_a_tile_that_nobody_waited_for() -> None:
    unary_op_init_common(0, 16)
    read_tile_value(0, 0, 0)  # bug
