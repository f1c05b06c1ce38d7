"""Block forms, multi-row layouts, and compute calls' second spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit import tile_parts
from testkit.tile_parts import Matrix
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.metal.timeline import Event

RNG = np.random.default_rng(33)


def small(rows: int, columns: int) -> npt.NDArray[Any]:
    return RNG.integers(-9, 10, (rows, columns)).astype(ml_dtypes.bfloat16)


def rows_of(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a matrix whose tiles, in order, are `values` rows."""
    return tile_parts.from_tiles(values.reshape(-1), (32, values.size // 32))


def as_rows(tiles: npt.NDArray[Any], shape: tuple[int, int]) -> npt.NDArray[Any]:
    return tile_parts.to_tiles(tiles).reshape(shape)


@pytest.mark.parametrize(
    ("rows", "columns", "parts"), [(1, 2, 1), (2, 2, 1), (2, 1, 1), (4, 2, 1), (2, 2, 2), (1, 4, 2)]
)
def test_pack_untilize_dest_writes_rows_part_by_part(
    device: ttnn.MeshDevice, rows: int, columns: int, parts: int
) -> None:
    """`rows` rows of `columns` Dst tiles become `parts * columns` ones.

    Part after part.
    """
    data = small(32 * rows, 32 * columns * parts)
    tiles = rows * columns * parts

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.copy_init(0)
        api.cb_wait_front(0, tiles)
        api.cb_reserve_back(16, tiles)
        api.pack_untilize_dest_init(16, block_ct_dim=columns, full_ct_dim=columns * parts)
        for part in range(parts):
            api.tile_regs_acquire()
            for row in range(rows):
                for column in range(columns):
                    source = (row * parts + part) * columns + column
                    api.copy_tile(0, source, row * columns + column)
            api.tile_regs_commit()
            api.tile_regs_wait()
            api.pack_untilize_dest(16, rows, part)
            api.tile_regs_release()
        api.pack_untilize_uninit(16)
        api.cb_push_back(16, tiles)
        api.cb_pop_front(0, tiles)

    # Eight tiles of Dst at most.
    assert rows * columns <= 8
    out = Matrix(np.zeros((32, 32 * tiles), ml_dtypes.bfloat16))
    result = tile_parts.run(device, compute, [Matrix(data)], out)
    np.testing.assert_array_equal(as_rows(result, data.shape), data)


def test_pack_untilize_dest_starts_at_a_tile(device: ttnn.MeshDevice) -> None:
    data = small(32, 64)

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.copy_init(0)
        api.cb_wait_front(0, 2)
        api.cb_reserve_back(16, 2)
        api.tile_regs_acquire()
        api.copy_block(0, 0, 3, 2)
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.pack_untilize_dest_init(16, block_ct_dim=2)
        api.pack_untilize_dest(16, tile_dst_rt_offset=3)
        api.pack_untilize_uninit(16)
        api.tile_regs_release()
        api.cb_push_back(16, 2)
        api.cb_pop_front(0, 2)

    result = tile_parts.run(device, compute, [Matrix(data)], Matrix(np.zeros((32, 64), ml_dtypes.bfloat16)))
    np.testing.assert_array_equal(as_rows(result, data.shape), data)


def test_wrong_untilize_calls_raise(device: ttnn.MeshDevice) -> None:
    def several_rows() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.pack_untilize_init(0, 16, block_ct_dim=1)
        api.cb_wait_front(0, 2)
        api.cb_reserve_back(16, 2)
        api.pack_untilize_block(0, 2, 16)

    data = Matrix(small(64, 32))
    with pytest.raises(KernelArgumentError, match="2 rows of tiles in one call: the chip unpacks the first 1 tiles"):
        tile_parts.run(device, several_rows, [data], data)

    def narrow() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.pack_untilize_dest_init(16, face_r_dim=1, num_faces=2)

    device.reset()
    with pytest.raises(UnsupportedError, match=r"face_r_dim=1 num_faces=2 .*; only full 32x32 tiles are supported"):
        tile_parts.run(device, narrow, [data], data)


def test_tilize_block_no_pack_leaves_tiles_in_dst(device: ttnn.MeshDevice) -> None:
    data = small(32, 96)

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.cb_wait_front(0, 3)
        api.tilize_init_no_pack(0, 3)
        api.tile_regs_acquire()
        api.tilize_block_no_pack(0, 3, 1)
        api.tilize_uninit_no_pack(0)
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.cb_reserve_back(16, 3)
        api.pack_block(1, 16, 3)
        api.cb_push_back(16, 3)
        api.tile_regs_release()
        api.cb_pop_front(0, 3)

    out = Matrix(np.zeros((32, 96), ml_dtypes.bfloat16))
    result = tile_parts.run(device, compute, [Matrix(rows_of(data))], out)
    np.testing.assert_array_equal(result, data)


def test_tilize_converts_between_formats(device: ttnn.MeshDevice) -> None:
    data, other = small(32, 64), small(32, 64).astype(np.float32)

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 16)
        for cb in (0, 1):
            api.cb_wait_front(cb, 2)
        api.tilize_init(0, 2, 16)
        api.cb_reserve_back(16, 4)
        api.tilize_block(0, 2, 16)
        api.tilize_uninit_with_dt(0, 1, 16)
        api.tilize_init_short_with_dt(1, 1, 2, 16)
        api.fast_tilize_block(1, 2, 16, 0, 2)
        api.tilize_uninit(1, 16)
        api.cb_push_back(16, 4)
        for cb in (0, 1):
            api.cb_pop_front(cb, 2)

    out = Matrix(np.zeros((64, 64), ml_dtypes.bfloat16))
    result = tile_parts.run(device, compute, [Matrix(rows_of(data)), Matrix(rows_of(other))], out)
    np.testing.assert_array_equal(result.astype(np.float32), np.concatenate([data, other]).astype(np.float32))


def two_operands(step: Callable[[], None]) -> Callable[[], None]:
    """Return a compute kernel on two tiles of CB 0 and 1.

    `step` leaves two tiles in Dst.
    """

    def compute() -> None:
        api.binary_op_init_common(0, 1, 16)
        for cb in (0, 1):
            api.cb_wait_front(cb, 2)
        api.tile_regs_acquire()
        step()
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.cb_reserve_back(16, 2)
        api.pack_tile_block(0, 16, 2)
        api.cb_push_back(16, 2)
        api.tile_regs_release()
        for cb in (0, 1):
            api.cb_pop_front(cb, 2)

    return compute


def blocks(verb: str) -> Callable[[], None]:
    def step() -> None:
        getattr(api, f"{verb}_init")(0, 1)
        getattr(api, f"{verb}_block")(0, 1, 0, 0, 0, 2)

    return step


def reuse(verb: str) -> Callable[[], None]:
    def step() -> None:
        api.copy_init(0)
        api.copy_block(0, 0, 0, 2)
        getattr(api, f"{verb}_reuse_dest_init")(1)
        for tile in range(2):
            getattr(api, f"{verb}_reuse_dest_tiles")(1, tile, tile)

    return step


def named(op: api.EltwiseBinaryType) -> Callable[[], None]:
    def step() -> None:
        api.binary_tiles_init(0, 1, eltwise_binary_type=op)
        call = {"ELWADD": api.add_tiles, "ELWSUB": api.sub_tiles, "ELWMUL": api.mul_tiles}[op.name]
        for tile in range(2):
            call(0, 1, tile, tile, tile)

    return step


REFERENCE = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
OPERATIONS = {"add": "ELWADD", "sub": "ELWSUB", "mul": "ELWMUL"}


@pytest.mark.parametrize("verb", REFERENCE)
@pytest.mark.parametrize("form", ["block", "reuse", "named"])
def test_eltwise_binary_forms_match_the_reference(device: ttnn.MeshDevice, verb: str, form: str) -> None:
    a, b = small(64, 32), small(64, 32)
    op = api.EltwiseBinaryType[OPERATIONS[verb]]
    step = {"block": blocks(verb), "reuse": reuse(verb), "named": named(op)}[form]
    out = Matrix(np.zeros((64, 32), ml_dtypes.bfloat16))
    result = tile_parts.run(device, two_operands(step), [Matrix(a), Matrix(b)], out)
    np.testing.assert_array_equal(
        result.astype(np.float32), REFERENCE[verb](a.astype(np.float32), b.astype(np.float32))
    )


def test_eltwise_step_without_fpu_form_raises(device: ttnn.MeshDevice) -> None:
    data = Matrix(small(64, 32))
    with pytest.raises(KernelArgumentError, match="ELWDIV: the FPU adds, subtracts and multiplies"):
        tile_parts.run(device, two_operands(named(api.EltwiseBinaryType.ELWDIV)), [data, data], data)


def test_transpose_and_reduce_blocks_match_numpy(device: ttnn.MeshDevice) -> None:
    data, ones = small(64, 32), np.ones((64, 32), ml_dtypes.bfloat16)

    def transposes() -> None:
        api.transpose_init(0)
        api.transpose_block(0, 0, 0, 2)

    out = Matrix(np.zeros((64, 32), ml_dtypes.bfloat16))
    result = tile_parts.run(device, two_operands(transposes), [Matrix(data), Matrix(ones)], out)
    np.testing.assert_array_equal(result, np.concatenate([data[:32].T, data[32:].T]))

    def maxima() -> None:
        step = {"reduce_type": api.PoolType.MAX, "reduce_dim": api.ReduceDim.REDUCE_ROW}
        api.reduce_init(0, 1, 16, **step)
        api.reduce_block(0, 1, 0, 0, 0, 2, **step)

    result = tile_parts.run(device, two_operands(maxima), [Matrix(data), Matrix(ones)], out)
    np.testing.assert_array_equal(result[:, 0], data.astype(np.float32).max(axis=1))

    def maxima_of_the_block() -> None:
        api.reduce_block_max_row_init(0, 1, block_ct_dim=2)
        for tile in range(2):
            api.reduce_block_max_row(0, 1, 0, tile, block_ct_dim=2)

    result = tile_parts.run(device, two_operands(maxima_of_the_block), [Matrix(data), Matrix(ones)], out)
    wide = np.concatenate([data[:32], data[32:]], axis=1).astype(np.float32).max(axis=1)
    np.testing.assert_array_equal(result[:, 0], np.concatenate([wide, wide]))


def test_scoped_locks_neither_wait_nor_publish(device: ttnn.MeshDevice) -> None:
    """Locks neither wait, reserve, free nor publish.

    Kernels do that themselves, as in C++.
    """
    data = small(64, 32)
    places: list[tuple[int, int]] = []

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.copy_init(0)
        source, target = api.DataflowBuffer(0), api.DataflowBuffer(16)
        assert (source.get_entry_size(), source.get_stride_size(), source.get_total_num_entries()) == (2048, 2048, 2)
        for _ in range(2):
            source.wait_front(1)
            target.reserve_back(1)
            with source.scoped_read_lock(1) as front, target.scoped_write_lock() as back:
                places.append((front.get_ptr().address, back.get_ptr(np.uint16).address))
                assert places[-1] == (source.get_read_ptr(), target.get_write_ptr())
                api.tile_regs_acquire()
                api.copy_tile(0, 0, 0)
                api.tile_regs_commit()
                api.tile_regs_wait()
                api.pack_tile(0, 16)
                api.tile_regs_release()
            source.pop_front(1)
            target.push_back(1)

    result = tile_parts.run(device, compute, [Matrix(data)], Matrix(np.zeros((64, 32), ml_dtypes.bfloat16)))
    np.testing.assert_array_equal(result, data)
    assert len(set(places)) == 2


def test_matmul_after_mm_uninit_raises(device: ttnn.MeshDevice) -> None:
    data = Matrix(small(64, 32))

    def step() -> None:
        api.matmul_init(0, 1)
        api.mm_uninit(0, 1)
        api.matmul_tiles(0, 1, 0, 0, 0)

    with pytest.raises(RuntimeError, match=r"mm_init \(0.81.1: matmul_init\) is missing: nothing was set up yet"):
        tile_parts.run(device, two_operands(step), [data, data], data)


def test_timeline_has_math_and_its_wait_for_operands(device: ttnn.MeshDevice) -> None:
    """The timeline of an addition: math's work and waits are events.

    They are two events.
    """
    seen: list[Event] = []

    def step() -> None:
        api.add_init(0, 1)
        api.add_block(0, 1, 0, 0, 0, 2)

    data = Matrix(small(64, 32))
    report = tile_parts.run_report(device, two_operands(step), [data, data], data)
    kernel = next(index for index, kernel in enumerate(report.kernels) if kernel.risc == "TRISC")
    seen = [event for event in report.events if event.kernel == kernel and event.thread == 1]
    waits = [event for event in seen if event.name == "wait for unpack"]
    work = [event for event in seen if event.name == "add_tiles"]
    assert len(waits) == len(work) == 2
    # Unpacking two tiles takes longer than adding them.
    assert all(wait.end == step.start for wait, step in zip(waits, work, strict=True))
    assert all(step.end - step.start < 20 for step in work)
    assert report.kernels[kernel].waits["math: unpack"] == sum(wait.end - wait.start for wait in waits)


def test_dataflow_buffers_know_their_tile_shapes(device: ttnn.MeshDevice) -> None:
    seen: list[object] = []

    def compute() -> None:
        whole, small_tiles = api.DataflowBuffer(0), api.DataflowBuffer(1)
        for buffer in (whole, small_tiles):
            seen.append(
                [buffer.get_tile_hw(), buffer.get_tile_num_faces(), buffer.get_tile_r_dim(), buffer.get_tile_c_dim()]
            )
            seen.append([buffer.get_face_r_dim(), buffer.get_num_faces_r_dim(), buffer.get_num_faces_c_dim()])
            seen.append([buffer.get_partial_face(), buffer.get_narrow_tile()])
        whole.finish()

    program = metal.create_program()
    for index, tile, size in ((0, (32, 32), 2048), (1, (8, 16), 256)):
        config = metal.CircularBufferConfig(size, {index: metal.DataFormat.Float16_b}).set_page_size(index, size)
        metal.create_circular_buffer(program, (0, 0), config.set_tile_dims(index, ttnn.Tile(tile)))
    metal.create_kernel(program, compute, (0, 0), metal.ComputeConfig())
    metal.run_program(device, program)
    assert seen == [[1024, 4, 32, 32], [16, 2, 2], [0, 0], [128, 1, 8, 16], [8, 1, 1], [1, 1]]


def test_noc_transfers_accept_every_endpoint(device: ttnn.MeshDevice) -> None:
    seen: list[object] = []

    def kernel() -> None:
        noc, buffer = api.Noc(), api.CircularBuffer(0)
        buffer.reserve_back(2)
        words = api.CoreLocalMem(buffer.get_write_ptr())
        for index in range(16):
            words[index] = index
        ends = api.CircularBuffer.AddrSelector
        here = {"noc_x": api.my_x[0], "noc_y": api.my_y[0]}
        noc.async_write(
            api.use(buffer, ends.WRITE_PTR), api.UnicastEndpoint(), 32, {}, here | {"addr": (words + 16).get_address()}
        )
        noc.async_write_barrier()
        noc.async_read(api.UnicastEndpoint(), words + 24, 32, here | {"addr": (words + 8).get_address()})
        noc.async_read_barrier()
        buffer.push_back(2)
        seen.append([int(words[index]) for index in range(32)])
        seen.append((words + 4 - 4).get_unsafe_ptr().address == buffer.get_read_ptr() == words.local_mem().address)
        seen.append((buffer.get_cb_id(), noc.is_local_bank(here["noc_x"], here["noc_y"]), noc.is_local_bank(0, 0)))
        buffer.wait_front(2)
        buffer.pop_front(2)

    program = metal.create_program()
    config = metal.CircularBufferConfig(2048, {0: metal.DataFormat.UInt32}).set_page_size(0, 1024)
    metal.create_circular_buffer(program, (0, 0), config)
    metal.create_kernel(program, kernel, (0, 0), metal.DataMovementConfig())
    metal.run_program(device, program)
    assert seen == [[*range(16), *range(16)], True, (0, True, False)]


def test_polling_transfer_completion_raises(device: ttnn.MeshDevice) -> None:
    program = metal.create_program()
    metal.create_kernel(program, lambda: api.Noc().is_read_trid_flushed(1), (0, 0), metal.DataMovementConfig())
    with pytest.raises(ttnn.UnsupportedError, match=r"Noc\.is_read_trid_flushed: request counters are not modelled"):
        metal.run_program(device, program)
