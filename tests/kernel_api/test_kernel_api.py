"""Kernel API beyond single-core examples: layouts, reductions, many cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import ttnn
from testkit.kernel_parts import pack_one, tiles_of
from testkit.parts import CORE, TILE, add_cb, build, read_one, tiles_buffer, values, write_one
from ttnn import metal
from ttnn.kernel_api import (
    CircularBuffer,
    InterleavedAddrGen,
    InterleavedAddrGenFast,
    L1Pointer,
    Noc,
    PoolType,
    ReduceDim,
    TensorAccessor,
    TensorAccessorArgs,
    binary_op_init_common,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    compute_kernel_hw_startup,
    copy_init,
    copy_tile,
    get_arg_val,
    get_noc_addr,
    get_noc_multicast_addr,
    get_read_ptr,
    get_semaphore,
    get_write_ptr,
    my_x,
    my_y,
    noc_async_atomic_barrier,
    noc_async_read,
    noc_async_read_barrier,
    noc_async_read_tile,
    noc_async_write,
    noc_async_write_barrier,
    noc_async_write_multicast,
    noc_async_write_tile,
    noc_semaphore_inc,
    noc_semaphore_set,
    noc_semaphore_set_multicast,
    noc_semaphore_wait,
    pack_untilize_block,
    pack_untilize_init,
    pack_untilize_uninit,
    reduce_init,
    reduce_tile,
    reduce_uninit,
    tile_regs_acquire,
    tilize_block,
    tilize_init,
    tilize_uninit,
    transpose_wh_init,
    transpose_wh_tile,
    untilize_block,
    untilize_init,
    untilize_uninit,
)


def run_unary(device: ttnn.MeshDevice, data: np.ndarray[Any, Any], compute: Any, block: int) -> np.ndarray[Any, Any]:
    """Run reader, compute and writer on all tiles of `data`.

    CBs hold `block` tiles.
    """
    tiles = data.size // TILE
    queue = metal.command_queue(device)
    source, out = tiles_buffer(device, tiles), tiles_buffer(device, tiles)
    metal.enqueue_write_buffer(queue, source, data)
    args = {"reader": [source, tiles], "compute": [tiles, block], "writer": [out, tiles]}
    kernels = {"reader": read_one, "compute": compute, "writer": write_one}
    metal.enqueue_program(queue, build(kernels, args, {0: block, 16: block}))
    return metal.enqueue_read_buffer(queue, out).view(data.dtype)


def in_blocks(
    init: Callable[[int], None], step: Callable[[int], None], uninit: Callable[[], None]
) -> Callable[[], None]:
    """Return a compute kernel: CB 0 to CB 16 by block.

    Arguments: tiles, tiles of a block.
    """

    def compute() -> None:
        tiles, block = get_arg_val(0), get_arg_val(1)
        compute_kernel_hw_startup(0, 16)
        init(block)
        for _ in range(tiles // block):
            cb_wait_front(0, block)
            cb_reserve_back(16, block)
            step(block)
            cb_push_back(16, block)
            cb_pop_front(0, block)
        uninit()

    return compute


TILIZE = in_blocks(
    lambda block: tilize_init(0, block, 16), lambda block: tilize_block(0, block, 16), lambda: tilize_uninit(0, 16)
)
UNTILIZE = in_blocks(lambda _: untilize_init(0), lambda block: untilize_block(0, block, 16), lambda: untilize_uninit(0))
PACK_UNTILIZE = in_blocks(
    lambda block: pack_untilize_init(0, 16, block_ct_dim=block),
    lambda _: pack_untilize_block(0, 1, 16),
    lambda: pack_untilize_uninit(16),
)


@pytest.mark.parametrize("block", [1, 3])
def test_tilize_and_untilize_round_trip(device: ttnn.MeshDevice, block: int) -> None:
    rows, tiles = 64, 2 * block
    data = values(tiles * TILE, 7).reshape(rows, block * 32)
    tiled = run_unary(device, data.reshape(-1), TILIZE, block)
    np.testing.assert_array_equal(tiled.view(np.uint16), metal.tilize_nfaces(data, rows, block * 32).view(np.uint16))
    for kernel in (UNTILIZE, PACK_UNTILIZE):
        back = run_unary(device, tiled, kernel, block)
        np.testing.assert_array_equal(back.view(np.uint16), data.reshape(-1).view(np.uint16))


def test_tilize_reads_and_writes_at_tile_offsets(device: ttnn.MeshDevice) -> None:
    def step(tiles: int) -> None:
        half = tiles // 2
        tilize_block(0, half, 16, half, 0)
        tilize_block(0, half, 16, 0, half)

    kernel = in_blocks(lambda tiles: tilize_init(0, tiles // 2, 16), step, lambda: tilize_uninit(0, 16))
    data = values(4 * TILE, 7).reshape(2, 32, 64)
    tiled = run_unary(device, data.reshape(-1), kernel, 4)
    expected = np.concatenate([metal.tilize_nfaces(block, 32, 64) for block in data[::-1]])
    np.testing.assert_array_equal(tiled.view(np.uint16), expected.view(np.uint16))


def test_a_page_that_is_still_being_sent_is_not_freed(device: ttnn.MeshDevice) -> None:
    def writer() -> None:
        cb_wait_front(0, 2)
        noc_async_write_tile(0, tiles_of(get_arg_val(0), 0), get_read_ptr(0) + 2 * TILE)
        cb_pop_front(0, 2)

    kernels = {"reader": read_one, "writer": writer}
    source, out = tiles_buffer(device, 2), tiles_buffer(device, 2)
    metal.enqueue_write_buffer(metal.command_queue(device), source, values(2 * TILE, 1))
    program = build(kernels, {"reader": [source, 2], "writer": [out, 2]}, {0: 2, 16: 2})
    with pytest.raises(ttnn.RaceError, match=r"CB 0: 2048 B at L1 address \d+ are still being sent"):
        metal.enqueue_program(metal.command_queue(device), program)


def test_reading_a_word_again_is_not_waiting_for_it(device: ttnn.MeshDevice) -> None:
    seen: list[int] = []

    def reader() -> None:
        cb_reserve_back(0, 1)
        word = L1Pointer(get_write_ptr(0))
        word[0] = 7
        seen.extend(word[0] for _ in range(20))

    metal.enqueue_program(metal.command_queue(device), build({"reader": reader}, {"reader": []}, {0: 1, 16: 1}))
    assert seen == [7] * 20


def test_a_transfer_past_the_end_says_by_how_much(device: ttnn.MeshDevice) -> None:
    def reader() -> None:
        cb_reserve_back(0, 1)
        noc_async_read_tile(0, tiles_of(get_arg_val(0), 0), get_write_ptr(0) + 768)

    source = tiles_buffer(device, 1)
    metal.enqueue_write_buffer(metal.command_queue(device), source, values(TILE, 1))
    program = build({"reader": reader}, {"reader": [source]}, {0: 1, 16: 1})
    with pytest.raises(ttnn.KernelError, match=r"2048 B .* go 768 B past the end of CB 0"):
        metal.enqueue_program(metal.command_queue(device), program)


def transpose_kernel() -> None:
    transpose_wh_init(0, 16)
    for _ in range(get_arg_val(0)):
        cb_wait_front(0, 1)
        tile_regs_acquire()
        transpose_wh_tile(0, 0, 0)
        pack_one()
        cb_pop_front(0, 1)


def test_transpose_tile_exchanges_rows_and_columns(device: ttnn.MeshDevice) -> None:
    matrices = values(2 * TILE, 8).reshape(2, 32, 32)
    tiles = np.concatenate([metal.tilize_nfaces(m, 32, 32) for m in matrices])
    expected = np.concatenate([metal.tilize_nfaces(np.ascontiguousarray(m.T), 32, 32) for m in matrices])
    result = run_unary(device, tiles, transpose_kernel, 2)
    np.testing.assert_array_equal(result.view(np.uint16), expected.view(np.uint16))


def test_waiting_for_no_pages_returns_at_once(device: ttnn.MeshDevice) -> None:
    """Waiting for no pages neither waits nor moves pointers.

    Kernels do it where there is no padding to skip.
    """

    def step(block: int) -> None:
        for nothing in (cb_wait_front, cb_pop_front):
            nothing(0, 0)
        for nothing in (cb_reserve_back, cb_push_back):
            nothing(16, 0)
        tilize_block(0, block, 16)

    kernel = in_blocks(lambda block: tilize_init(0, block, 16), step, lambda: tilize_uninit(0, 16))
    data = values(2 * TILE, 7).reshape(32, 64)
    tiled = run_unary(device, data.reshape(-1), kernel, 2)
    np.testing.assert_array_equal(tiled.view(np.uint16), metal.tilize_nfaces(data, 32, 64).view(np.uint16))


def read_with_scaler() -> None:
    cb_reserve_back(2, 1)
    L1Pointer(get_write_ptr(2), ml_dtypes.bfloat16).write(np.ones(TILE, ml_dtypes.bfloat16))
    cb_push_back(2, 1)
    read_one()


def reduce_kernel() -> None:
    rows, columns = get_arg_val(0), get_arg_val(1)
    step = {"reduce_type": PoolType.MAX, "reduce_dim": ReduceDim.REDUCE_ROW}
    binary_op_init_common(0, 2, 16)
    reduce_init(0, 2, 16, **step)
    cb_wait_front(2, 1)
    for _ in range(rows):
        tile_regs_acquire()
        for _ in range(columns):
            cb_wait_front(0, 1)
            reduce_tile(0, 2, 0, 0, 0, **step)
            cb_pop_front(0, 1)
        pack_one()
    reduce_uninit()
    cb_pop_front(2, 1)


def test_reduce_tile_computes_row_maxima(device: ttnn.MeshDevice) -> None:
    rows, columns = 2, 3
    data = values(rows * columns * TILE, 9).reshape(rows * 32, columns * 32)
    queue = metal.command_queue(device)
    source, out = tiles_buffer(device, rows * columns), tiles_buffer(device, rows)
    metal.enqueue_write_buffer(queue, source, metal.tilize_nfaces(data, rows * 32, columns * 32))
    args = {"reader": [source, rows * columns], "compute": [rows, columns], "writer": [out, rows]}
    kernels = {"reader": read_with_scaler, "compute": reduce_kernel, "writer": write_one}
    metal.enqueue_program(queue, build(kernels, args, {0: 2, 2: 1, 16: 2}))
    result = metal.untilize_nfaces(metal.enqueue_read_buffer(queue, out).view(ml_dtypes.bfloat16), rows * 32, 32)
    expected = np.zeros((rows * 32, 32), np.float32)
    expected[:, 0] = data.astype(np.float32).max(axis=1)
    np.testing.assert_array_equal(result.astype(np.float32), expected)


# Many cores.


def multicast_sender() -> None:
    source, x0, y0, x1, y1, receivers, ready, sent = (get_arg_val(i) for i in range(8))
    ready_address, sent_address = get_semaphore(ready), get_semaphore(sent)
    cb_reserve_back(0, 1)
    l1 = get_write_ptr(0)
    noc_async_read_tile(0, InterleavedAddrGenFast[True](source, 2048, 5), l1)
    noc_async_read_barrier()
    noc_semaphore_wait(ready_address, receivers)
    noc_semaphore_set(ready_address, 0)
    noc_async_write_multicast(l1, get_noc_multicast_addr(x0, y0, x1, y1, l1), 2048, receivers)
    noc_semaphore_set(sent_address, 1)
    noc_semaphore_set_multicast(sent_address, get_noc_multicast_addr(x0, y0, x1, y1, sent_address), receivers)
    noc_async_write_barrier()
    cb_push_back(0, 1)


def multicast_receiver() -> None:
    sender_x, sender_y, ready, sent = (get_arg_val(i) for i in range(4))
    cb_reserve_back(0, 1)
    noc_semaphore_set(get_semaphore(sent), 0)
    noc_semaphore_inc(get_noc_addr(sender_x, sender_y, get_semaphore(ready)), 1)
    noc_async_atomic_barrier()
    noc_semaphore_wait(get_semaphore(sent), 1)
    cb_push_back(0, 1)


def write_own() -> None:
    target, page = get_arg_val(0), get_arg_val(1)
    cb_wait_front(0, 1)
    noc_async_write_tile(page, InterleavedAddrGenFast[True](target, 2048, 5), get_read_ptr(0))
    noc_async_write_barrier()
    cb_pop_front(0, 1)


@pytest.mark.parametrize("size", [2, 8])
def test_multicast_writes_every_core_of_the_rectangle(device: ttnn.MeshDevice, size: int) -> None:
    cores = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(size - 1, size - 1))
    queue = metal.command_queue(device)
    source, out = tiles_buffer(device, 1), tiles_buffer(device, size * size)
    data = values(TILE, 10)
    metal.enqueue_write_buffer(queue, source, data)
    program = metal.create_program()
    add_cb(program, 0, 1, cores=cores)
    ready = metal.create_semaphore(program, cores, 0)
    sent = metal.create_semaphore(program, cores, 0)
    others = metal.CoreRangeSet([cores]).subtract(metal.CoreRangeSet([metal.CoreRange(CORE, CORE)]))
    sender = metal.create_kernel(program, multicast_sender, CORE, metal.ReaderDataMovementConfig())
    receiver = metal.create_kernel(program, multicast_receiver, others, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, write_own, cores, metal.WriterDataMovementConfig())
    first, last = (device.worker_core_from_logical_core(core) for core in (cores.start, cores.end))
    metal.set_runtime_args(
        program, sender, CORE, [source, first.x, first.y, last.x, last.y, size * size - 1, ready, sent]
    )
    metal.set_runtime_args(program, receiver, others, [first.x, first.y, ready, sent])
    for page, core in enumerate(metal.CoreRangeSet([cores]).cores()):
        metal.set_runtime_args(program, writer, core, [out, page])
    reports = [metal.enqueue_program(queue, program) for _ in range(2)]
    result = metal.enqueue_read_buffer(queue, out).view(np.uint16).reshape(size * size, TILE)
    np.testing.assert_array_equal(result, np.broadcast_to(data.view(np.uint16), result.shape))
    assert reports[0].cycles == reports[1].cycles


# The object style and the official Python form.


def copy_with_objects() -> None:
    tiles = get_arg_val(2)
    noc, buffer = Noc(), CircularBuffer(0)
    source = TensorAccessor(TensorAccessorArgs[0](), get_arg_val(0))
    target = TensorAccessor(TensorAccessorArgs[2](), get_arg_val(1))
    for tile in range(tiles):
        buffer.reserve_back(1)
        noc.async_read(source, buffer, 2048, {"page_id": tile}, {"offset_bytes": 0})
        noc.async_read_barrier()
        buffer.push_back(1)
        buffer.wait_front(1)
        noc.async_write(buffer, target, 2048, {}, {"page_id": tile})
        noc.async_write_barrier()
        buffer.pop_front(1)


@pytest.mark.parametrize("memory_config", [ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG], ids=["dram", "l1"])
def test_generic_op_runs_a_kernel_on_tensors(device: ttnn.MeshDevice, memory_config: ttnn.MemoryConfig) -> None:
    values = torch.randn(64, 96, dtype=torch.bfloat16)
    tensor = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)
    output = ttnn.allocate_tensor_on_device(tensor.spec, device)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(3, 2), ttnn.CoreCoord(3, 2))])
    args = ttnn.RuntimeArgs()
    args[3][2] = [tensor.buffer_address(), output.buffer_address(), 6]
    compile_args = [
        *ttnn.TensorAccessorArgs(tensor).get_compile_time_args(),
        *ttnn.TensorAccessorArgs(output).get_compile_time_args(),
    ]
    form = ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=2048)
    descriptor = ttnn.ProgramDescriptor(
        kernels=[
            ttnn.KernelDescriptor(
                kernel_source=copy_with_objects,
                core_ranges=cores,
                compile_time_args=compile_args,
                runtime_args=args,
                config=ttnn.ReaderConfigDescriptor(),
            )
        ],
        cbs=[ttnn.CBDescriptor(total_size=4096, core_ranges=cores, format_descriptors=[form])],
    )
    result = ttnn.generic_op([tensor, output], descriptor)
    assert result is output
    assert torch.equal(ttnn.to_torch(result), values)
    with pytest.raises(RuntimeError, match="at least one input tensor and one output tensor"):
        ttnn.generic_op([tensor], descriptor)


# Neighbours.


def pass_to_the_right() -> None:
    """Cores signal their tile, then read the left neighbour's.

    They read it after the neighbour's signal.
    """
    page, left_x, left_y, ready, target, source = (get_arg_val(i) for i in range(6))
    own = get_semaphore(ready)
    tile, flag, received = (get_write_ptr(0) + i * 2048 for i in range(3))
    noc_async_read_tile(page, InterleavedAddrGenFast[True](source, 2048, 5), tile)
    noc_async_read_barrier()
    noc_semaphore_inc(get_noc_addr(my_x[0], my_y[0], own), 1)
    noc_async_atomic_barrier()
    if left_x == 0:
        received = tile
    else:
        while True:
            noc_async_read(get_noc_addr(left_x, left_y, own), flag, 16)
            noc_async_read_barrier()
            if L1Pointer(flag)[0] == 1:
                break
        noc_async_read(get_noc_addr(left_x, left_y, tile), received, 2048)
        noc_async_read_barrier()
    noc_async_write(received, get_noc_addr(page, InterleavedAddrGen[True](target, 2048)), 2048)
    noc_async_write_barrier()


def test_semaphore_polling_passes_pages_between_cores(device: ttnn.MeshDevice) -> None:
    count = 4
    cores = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(count - 1, 0))
    queue = metal.command_queue(device)
    source, out = tiles_buffer(device, count), tiles_buffer(device, count)
    data = values(count * TILE, 12)
    metal.enqueue_write_buffer(queue, source, data)
    program = metal.create_program()
    add_cb(program, 0, 3, cores=cores)
    ready = metal.create_semaphore(program, cores, 0)
    kernel = metal.create_kernel(program, pass_to_the_right, cores, metal.ReaderDataMovementConfig())
    for page in range(count):
        left = device.worker_core_from_logical_core(metal.CoreCoord(page - 1, 0)) if page else metal.CoreCoord(0, 0)
        core = metal.CoreCoord(page, 0)
        metal.set_runtime_args(program, kernel, core, [page, left.x, left.y, ready, out, source])
    metal.enqueue_program(queue, program)
    result = metal.enqueue_read_buffer(queue, out).view(np.uint16).reshape(count, TILE)
    tiles = data.view(np.uint16).reshape(count, TILE)
    np.testing.assert_array_equal(result, tiles[[0, 0, 1, 2]])


def copy_kernel() -> None:
    compute_kernel_hw_startup(0, 16)
    copy_init(0)
    for _ in range(get_arg_val(0)):
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        pack_one()
        cb_pop_front(0, 1)


def test_copy_tile_copies_every_format(device: ttnn.MeshDevice) -> None:
    data = values(4 * TILE, 11)
    np.testing.assert_array_equal(run_unary(device, data, copy_kernel, 2).view(np.uint16), data.view(np.uint16))
