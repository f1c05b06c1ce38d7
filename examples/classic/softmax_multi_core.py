"""Softmax over rows on many cores, by tile rows.

Maximum, exponentials and reciprocal sum of a row stay in circular buffers of its L1.
"""

from __future__ import annotations

import ttnn
from examples.classic.softmax_parts import (
    EXPS,
    MAX,
    MAX_SCALER,
    OUT,
    RECIP,
    SUM_SCALER,
    X,
    by_operator,
    compute_config,
    fill_max_scaler,
    fill_sum_scaler,
    float_cb,
    row_exponentials,
    row_maximum,
    row_products,
    row_reciprocal,
)
from examples.common import (
    Outcome,
    accessors,
    add_cb,
    empty,
    kernel,
    main,
    random_bf16,
    same_bits,
    to_device,
    write_tiles,
)
from ttnn import metal
from ttnn.kernel_api import *


def read_rows() -> None:
    """Reader: the ones, then tile rows.

    Arguments: address, first row, number of rows; Wt when compiled.
    """
    source, first, rows = get_arg_val(0), get_arg_val(1), get_arg_val(2)
    wt = get_compile_time_arg_val(0)
    fill_max_scaler()
    fill_sum_scaler()
    pages = InterleavedAddrGenFast[True](source, get_tile_size(X), get_dataformat(X))
    for row in range(first, first + rows):
        cb_reserve_back(X, wt)
        l1 = get_write_ptr(X)
        for tile in range(wt):
            noc_async_read_tile(row * wt + tile, pages, l1 + tile * get_tile_size(X))
        noc_async_read_barrier()
        cb_push_back(X, wt)


def softmax() -> None:
    """Compute: maximum, exponentials, reciprocal sum and products of each row."""
    rows, wt = get_arg_val(0), get_compile_time_arg_val(0)
    binary_op_init_common(X, MAX_SCALER, OUT)
    cb_wait_front(MAX_SCALER, 1)
    cb_wait_front(SUM_SCALER, 1)
    for _ in range(rows):
        cb_wait_front(X, wt)
        row_maximum(wt)
        row_exponentials(wt)
        cb_pop_front(X, wt)
        cb_wait_front(EXPS, wt)
        row_reciprocal(wt)
        row_products(EXPS, RECIP, wt)
        cb_pop_front(EXPS, wt)


def run(device: ttnn.MeshDevice, height: int = 320, width: int = 128) -> Outcome:
    """Compute the softmax of each of `height` rows."""
    x, out = to_device(random_bf16((height, width), 7, 3.0), device), empty((height, width), device)
    ht, wt = height // 32, width // 32
    grid = device.compute_with_storage_grid_size()
    count, cores, group_1, group_2, rows_1, rows_2 = metal.split_work_to_cores(grid, ht)

    program = metal.create_program()
    for index, pages in ((X, 2 * wt), (MAX_SCALER, 1), (EXPS, wt), (MAX, 1), (OUT, 2)):
        add_cb(program, cores, index, pages)
    for index in (SUM_SCALER, RECIP):
        float_cb(program, cores, index, 1)
    reading = metal.ReaderDataMovementConfig(compile_args=[wt, *accessors(x)])
    writing = metal.WriterDataMovementConfig(compile_args=accessors(out))
    reader = metal.create_kernel(program, kernel(read_rows), cores, reading)
    writer = metal.create_kernel(program, kernel(write_tiles), cores, writing)
    compute = metal.create_kernel(program, kernel(softmax), cores, compute_config(device, [wt]))
    first = 0
    for group, rows in ((group_1, rows_1), (group_2, rows_2)):
        for core in group.cores():
            metal.set_runtime_args(program, reader, core, [x.buffer_address(), first, rows])
            metal.set_runtime_args(program, writer, core, [out.buffer_address(), first * wt, rows * wt])
            metal.set_runtime_args(program, compute, core, [rows])
            first += rows

    report = metal.enqueue_program(metal.command_queue(device), program)
    did = f"{ht} rows of {wt} tiles on {count} cores"
    return Outcome(report, did, {"same bits as ttnn.softmax": same_bits(out, by_operator(x, stable=True))})


if __name__ == "__main__":
    main(run, "Softmax on many cores")
