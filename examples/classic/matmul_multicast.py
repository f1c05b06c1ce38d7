"""Matmul with multicast: every tile of the operands leaves DRAM once.

The first column of cores reads the left operand and sends it along its row, the first row of cores reads the right
operand and sends it down its column.

The left operand travels on one data movement processor and one NoC, the right one and the result on the other.
"""

from __future__ import annotations

from collections.abc import Callable

import ttnn
from examples.classic.matmul_parts import (
    PARTIALS,
    Blocking,
    by_operator,
    compute_config,
    multiply_blocks,
    operands,
    write_subblocks,
)
from examples.common import Outcome, accessors, add_cb, empty, kernel, main, same_bits
from ttnn import metal
from ttnn.kernel_api import *

BLOCKING = Blocking(per_core_m=2, per_core_n=2, kt=8, in0_block_w=2, subblock_h=2, subblock_w=2)

INVALID, VALID = 0, 1


def send_block(l1: int, size: int, receivers: list[int], ready: int, arrived: int) -> None:
    """Wait for all receivers' room; send the block, then its flag.

    `receivers` is their rectangle's corners and number. Data and flag use the same route, so the flag arrives last.
    """
    x0, y0, x1, y1, count = receivers
    if count == 0:
        return
    noc_semaphore_wait(L1Pointer(ready), count)
    noc_semaphore_set(L1Pointer(ready), 0)
    noc_async_write_multicast(l1, get_noc_multicast_addr(x0, y0, x1, y1, l1), size, count)
    noc_semaphore_set_multicast(arrived, get_noc_multicast_addr(x0, y0, x1, y1, arrived), count)
    noc_async_writes_flushed()


def receive_block(sender: tuple[int, int], ready: int, arrived: int) -> None:
    """Tell the sender that there is room and wait for its flag."""
    noc_semaphore_set(L1Pointer(arrived), INVALID)
    noc_semaphore_inc(get_noc_addr(*sender, ready), 1)
    noc_semaphore_wait(L1Pointer(arrived), VALID)


def in0_sender() -> None:
    """Left operand, first column.

    Arguments: address, first row, ready and arrived semaphore, receivers.
    """
    address, first_row, ready, arrived = (get_arg_val(i) for i in range(4))
    receivers = [get_arg_val(i) for i in range(4, 9)]
    blocking = Blocking(*(get_compile_time_arg_val(i) for i in range(6)))
    ready, arrived = get_semaphore(ready), get_semaphore(arrived)
    noc_semaphore_set(L1Pointer(arrived), VALID)
    a = InterleavedAddrGenFast[True](address, get_tile_size(0), get_dataformat(0))
    for k in range(0, blocking.kt, blocking.in0_block_w):
        cb_reserve_back(0, blocking.in0_tiles)
        start = l1 = get_write_ptr(0)
        for row in range(first_row, first_row + blocking.per_core_m):
            for column in range(k, k + blocking.in0_block_w):
                noc_async_read_tile(row * blocking.kt + column, a, l1)
                l1 += get_tile_size(0)
        noc_async_read_barrier()
        send_block(start, l1 - start, receivers, ready, arrived)
        cb_push_back(0, blocking.in0_tiles)
    noc_async_write_barrier()


def in0_receiver() -> None:
    """Left operand, other columns. Arguments: ready and arrived semaphore, the sender's coordinates."""
    ready, arrived = get_semaphore(get_arg_val(0)), get_semaphore(get_arg_val(1))
    sender = get_arg_val(2), get_arg_val(3)
    blocking = Blocking(*(get_compile_time_arg_val(i) for i in range(6)))
    for _ in range(0, blocking.kt, blocking.in0_block_w):
        cb_reserve_back(0, blocking.in0_tiles)
        receive_block(sender, ready, arrived)
        cb_push_back(0, blocking.in0_tiles)
    noc_async_atomic_barrier()


def in1_sender_writer() -> None:
    """Right operand, first row, then the result.

    Arguments: in1_sender's as in0_sender's and Nt, then the result's.
    """
    address, first_column, ready, arrived = (get_arg_val(i) for i in range(4))
    receivers = [get_arg_val(i) for i in range(4, 9)]
    nt, target, first_row = (get_arg_val(i) for i in range(9, 12))
    blocking = Blocking(*(get_compile_time_arg_val(i) for i in range(6)))
    ready, arrived = get_semaphore(ready), get_semaphore(arrived)
    noc_semaphore_set(L1Pointer(arrived), VALID)
    b = InterleavedAddrGenFast[True](address, get_tile_size(1), get_dataformat(1))
    for k in range(0, blocking.kt, blocking.in0_block_w):
        cb_reserve_back(1, blocking.in1_tiles)
        start = l1 = get_write_ptr(1)
        for row in range(k, k + blocking.in0_block_w):
            for column in range(first_column, first_column + blocking.per_core_n):
                noc_async_read_tile(row * nt + column, b, l1)
                l1 += get_tile_size(1)
        noc_async_read_barrier()
        send_block(start, l1 - start, receivers, ready, arrived)
        cb_push_back(1, blocking.in1_tiles)
    write_subblocks(target, first_row, first_column, nt, blocking)


def in1_receiver_writer() -> None:
    """Right operand, other rows, then the result.

    Arguments: semaphores, sender, then address, row, column, Nt.
    """
    ready, arrived = get_semaphore(get_arg_val(0)), get_semaphore(get_arg_val(1))
    sender = get_arg_val(2), get_arg_val(3)
    target, first_row, first_column, nt = (get_arg_val(i) for i in range(4, 8))
    blocking = Blocking(*(get_compile_time_arg_val(i) for i in range(6)))
    for _ in range(0, blocking.kt, blocking.in0_block_w):
        cb_reserve_back(1, blocking.in1_tiles)
        receive_block(sender, ready, arrived)
        cb_push_back(1, blocking.in1_tiles)
    noc_async_atomic_barrier()
    write_subblocks(target, first_row, first_column, nt, blocking)


def rectangle(device: ttnn.MeshDevice, first: tuple[int, int], last: tuple[int, int], noc: int) -> list[int]:
    """Return a kernel's multicast rectangle and its number of cores.

    NoC 1 runs from the far corner.
    """
    if last[0] < first[0] or last[1] < first[1]:
        return [0, 0, 0, 0, 0]
    start, end = (device.worker_core_from_logical_core(metal.CoreCoord(*core)) for core in (first, last))
    if noc == 1:
        start, end = end, start
    return [start.x, start.y, end.x, end.y, (last[0] - first[0] + 1) * (last[1] - first[1] + 1)]


def build(
    device: ttnn.MeshDevice,
    tensors: tuple[ttnn.Tensor, ttnn.Tensor, ttnn.Tensor],
    grid: tuple[int, int],
    blocking: Blocking,
) -> metal.Program:
    """Return the program for left operand, right operand and result."""
    columns, rows = grid
    nt = columns * blocking.per_core_n
    program = metal.create_program()

    def cores(x0: int, y0: int, x1: int, y1: int) -> metal.CoreRange:
        return metal.CoreRange(metal.CoreCoord(x0, y0), metal.CoreCoord(x1, y1))

    every = cores(0, 0, columns - 1, rows - 1)
    add_cb(program, every, 0, 2 * blocking.in0_tiles)
    add_cb(program, every, 1, 2 * blocking.in1_tiles)
    add_cb(program, every, 16, blocking.out_tiles)
    add_cb(program, every, PARTIALS, blocking.out_tiles)
    in0_ready, in0_arrived, in1_ready, in1_arrived = (metal.create_semaphore(program, every, INVALID) for _ in range(4))

    def data_movement(
        function: Callable[[], None], where: metal.CoreRange, processor: int, *tensors: ttnn.Tensor
    ) -> metal.Kernel:
        config = metal.DataMovementConfig(
            processor=(metal.DataMovementProcessor.RISCV_0, metal.DataMovementProcessor.RISCV_1)[processor],
            noc=(metal.NOC.RISCV_0_default, metal.NOC.RISCV_1_default)[processor],
            compile_args=[*blocking, *accessors(*tensors)],
        )
        return metal.create_kernel(program, kernel(function), where, config)

    a, b, out = tensors
    left_senders = data_movement(in0_sender, cores(0, 0, 0, rows - 1), 0, a)
    right_senders = data_movement(in1_sender_writer, cores(0, 0, columns - 1, 0), 1, b, out)
    metal.create_kernel(program, kernel(multiply_blocks), every, compute_config(blocking))
    left_receivers = data_movement(in0_receiver, cores(1, 0, columns - 1, rows - 1), 0) if columns > 1 else None
    right_receivers = (
        data_movement(in1_receiver_writer, cores(0, 1, columns - 1, rows - 1), 1, b, out) if rows > 1 else None
    )

    left, right, target = (tensor.buffer_address() for tensor in tensors)
    for y in range(rows):
        for x in range(columns):
            core, row, column = metal.CoreCoord(x, y), y * blocking.per_core_m, x * blocking.per_core_n
            if x == 0:
                receivers = rectangle(device, (1, y), (columns - 1, y), 0)
                metal.set_runtime_args(program, left_senders, core, [left, row, in0_ready, in0_arrived, *receivers])
            else:
                sender = device.worker_core_from_logical_core(metal.CoreCoord(0, y))
                metal.set_runtime_args(program, left_receivers, core, [in0_ready, in0_arrived, sender.x, sender.y])
            if y == 0:
                receivers = rectangle(device, (x, 1), (x, rows - 1), 1)
                arguments = [right, column, in1_ready, in1_arrived, *receivers, nt, target, row]
                metal.set_runtime_args(program, right_senders, core, arguments)
            else:
                sender = device.worker_core_from_logical_core(metal.CoreCoord(x, 0))
                arguments = [in1_ready, in1_arrived, sender.x, sender.y, target, row, column, nt]
                metal.set_runtime_args(program, right_receivers, core, arguments)
    return program


def run(
    device: ttnn.MeshDevice,
    grid: tuple[int, int] = (4, 4),
    blocking: Blocking = BLOCKING,
) -> Outcome:
    """Multiply on grid[0] x grid[1] cores with the block sizes of `blocking`.

    Each core has them.
    """
    m, k, n = grid[1] * blocking.per_core_m * 32, blocking.kt * 32, grid[0] * blocking.per_core_n * 32
    a, b = operands(device, m, k, n)
    out = empty((m, n), device)
    program = build(device, (a, b, out), grid, blocking)
    report = metal.enqueue_program(metal.command_queue(device), program)
    expected = by_operator(a, b, blocking, grid)
    did = f"{m} x {k} by {k} x {n} on {grid[0]} x {grid[1]} cores; {sum(report.noc_bytes):,} B over the NoC"
    return Outcome(report, did, {"same bits as ttnn.matmul with this blocking": same_bits(out, expected)})


if __name__ == "__main__":
    main(run, "Matmul with multicast")
