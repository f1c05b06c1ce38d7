"""Softmax streamed through four cores: exp, sum, reciprocal, multiply.

One step each.

A tile that a core has packed is sent straight into the next core's circular buffer. Two semaphores make a link: the
receiver counts up `room` at the sender for every page that it has reserved, the sender counts up `sent` at the receiver
for every tile that has arrived. The exponentials go two ways: to the sum and to the multiplication.
"""

from __future__ import annotations

from typing import NamedTuple

import ttnn
from examples.classic.softmax_parts import (
    OUT,
    RECIP,
    SUM_SCALER,
    X,
    by_operator,
    compute_config,
    fill_sum_scaler,
    float_cb,
    pack_one,
    row_products,
    sum_row,
)
from examples.common import Outcome, add_cb, empty, main, random_bf16, read_tiles, same_bits, to_device, write_tiles
from ttnn import metal
from ttnn.kernel_api import *

SUM = 17
"""CB for the sum on its core and on the next."""


class Link(NamedTuple):
    """One stream end: far core, semaphores, receiver buffer, round size.

    There are two semaphores; a round has so many tiles.
    """

    x: int
    y: int
    room: int
    sent: int
    cb: int
    tiles: int


def links_of(count: int, first: int = 0) -> list[Link]:
    """Return the links that the runtime arguments describe from `first` on."""
    width = len(Link._fields)
    return [Link(*(get_arg_val(first + width * i + field) for field in range(width))) for i in range(count)]


def receive() -> None:
    """Reader of a receiving core.

    Arguments: rounds, whether to make ones, number of links, the links.
    """
    rounds, ones, count = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    if ones:
        fill_sum_scaler()
    links = links_of(count, 3)
    received = [0] * count
    for _ in range(rounds):
        for index, link in enumerate(links):
            for _ in range(link.tiles):
                cb_reserve_back(link.cb, 1)
                noc_semaphore_inc(get_noc_addr(link.x, link.y, get_semaphore(link.room)), 1)
                received[index] += 1
                noc_semaphore_wait_min(L1Pointer(get_semaphore(link.sent)), received[index])
                cb_push_back(link.cb, 1)
    noc_async_atomic_barrier()


def send() -> None:
    """Writer of a sending core.

    Arguments: the CB that it empties, tiles in all, number of links, the links.
    """
    source, tiles, count = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    links = links_of(count, 3)
    rings = [get_local_cb_interface(link.cb) for link in links]
    for tile in range(tiles):
        cb_wait_front(source, 1)
        for link, ring in zip(links, rings, strict=True):
            # The same buffers are at the same addresses on all four cores.
            place = ring.fifo_limit - ring.fifo_size + tile % ring.fifo_num_pages * ring.fifo_page_size
            noc_semaphore_wait_min(L1Pointer(get_semaphore(link.room)), tile + 1)
            noc_async_write(get_read_ptr(source), get_noc_addr(link.x, link.y, place), get_tile_size(source))
            noc_async_write_barrier()
            noc_semaphore_inc(get_noc_addr(link.x, link.y, get_semaphore(link.sent)), 1)
        cb_pop_front(source, 1)
    noc_async_atomic_barrier()


def exponentials() -> None:
    """Compute of the first core."""
    tiles = get_compile_time_arg_val(0)
    init_sfpu(X, OUT)
    exp_tile_init(approx=True)
    for _ in range(tiles):
        cb_wait_front(X, 1)
        tile_regs_acquire()
        copy_tile(X, 0, 0)
        exp_tile(0, approx=True)
        pack_one(OUT)
        cb_pop_front(X, 1)


def sums() -> None:
    """Compute of the second core: one sum for each row of tiles."""
    rows, wt = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    binary_op_init_common(X, SUM_SCALER, SUM)
    cb_wait_front(SUM_SCALER, 1)
    for _ in range(rows):
        cb_wait_front(X, wt)
        sum_row(X, wt)
        pack_one(SUM)
        reduce_uninit()
        cb_pop_front(X, wt)


def reciprocals() -> None:
    """Compute of the third core.

    Its input is unpacked to Dst, where float32 keeps all its bits.
    """
    rows = get_compile_time_arg_val(0)
    init_sfpu(SUM, RECIP)
    recip_tile_init()
    for _ in range(rows):
        cb_wait_front(SUM, 1)
        tile_regs_acquire()
        copy_tile(SUM, 0, 0)
        recip_tile(0)
        pack_one(RECIP)
        cb_pop_front(SUM, 1)


def products() -> None:
    """Compute of the fourth core."""
    rows, wt = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    binary_op_init_common(X, RECIP, OUT)
    for _ in range(rows):
        cb_wait_front(X, wt)
        row_products(X, RECIP, wt)
        cb_pop_front(X, wt)


def run(device: ttnn.MeshDevice, height: int = 128, width: int = 128) -> Outcome:
    """Compute the softmax of each of `height` rows, without subtracting the maximum."""
    x, out = to_device(random_bf16((height, width), 8, 2.0), device), empty((height, width), device)
    rows, wt = height // 32, width // 32
    tiles = rows * wt
    exp, total, recip, product = (metal.CoreCoord(i, 0) for i in range(4))
    cores = metal.CoreRange(exp, product)

    program = metal.create_program()
    for index, pages in ((X, 2 * wt), (OUT, 2)):
        add_cb(program, cores, index, pages)
    for index in (SUM_SCALER, SUM, RECIP):
        float_cb(program, cores, index, 1 if index == SUM_SCALER else 2)

    def semaphore() -> int:
        return metal.create_semaphore(program, cores, 0)

    def link(sender: metal.CoreCoord, receiver: metal.CoreCoord, cb: int, share: int) -> tuple[Link, Link]:
        """Return the sender's and the receiver's end."""
        room, sent = semaphore(), semaphore()
        at = [device.worker_core_from_logical_core(core) for core in (receiver, sender)]
        return tuple(Link(core.x, core.y, room, sent, cb, share) for core in at)

    exps_to_sum, exps_from_exp = link(exp, total, X, wt)
    exps_to_product, product_from_exp = link(exp, product, X, wt)
    sum_to_recip, recip_from_sum = link(total, recip, SUM, 1)
    recip_to_product, product_from_recip = link(recip, product, RECIP, 1)

    reader, writer = metal.ReaderDataMovementConfig(), metal.WriterDataMovementConfig()
    plan = (
        # core, reader and its arguments, compute and its arguments, writer and its arguments
        (exp, read_tiles, [x.buffer_address(), 0, tiles], exponentials, [tiles], send,
         [OUT, tiles, 2, *exps_to_sum, *exps_to_product]),
        (total, receive, [rows, 1, 1, *exps_from_exp], sums, [rows, wt], send, [SUM, rows, 1, *sum_to_recip]),
        (recip, receive, [rows, 0, 1, *recip_from_sum], reciprocals, [rows], send, [RECIP, rows, 1, *recip_to_product]),
        (product, receive, [rows, 0, 2, *product_from_exp, *product_from_recip], products, [rows, wt], write_tiles,
         [out.buffer_address(), 0, tiles]),
    )  # fmt: skip
    for core, read, read_args, compute, compute_args, write, write_args in plan:
        metal.set_runtime_args(program, metal.create_kernel(program, read, core, reader), core, read_args)
        metal.set_runtime_args(program, metal.create_kernel(program, write, core, writer), core, write_args)
        metal.create_kernel(program, compute, core, compute_config(device, compute_args, unpack_to_dest=(SUM,)))

    report = metal.enqueue_program(metal.command_queue(device), program)
    did = f"{rows} rows of {wt} tiles through exp on 0-0, sum on 1-0, reciprocal on 2-0, multiply on 3-0"
    return Outcome(report, did, {"same bits as ttnn.softmax": same_bits(out, by_operator(x, stable=False))})


if __name__ == "__main__":
    main(run, "Softmax as a stream through four cores")
