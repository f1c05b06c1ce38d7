"""Documentation-style programs on one core have operator bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch

import ttnn
from testkit.kernel_parts import pack_one
from testkit.parts import CORE, FORMATS, TILE, add_cb, build, read_one, read_two, tiles_buffer, values, write_one
from ttnn import metal
from ttnn.kernel_api import (
    InterleavedAddrGen,
    InterleavedAddrGenFast,
    add_tiles,
    add_tiles_init,
    binary_op_init_common,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    copy_tile,
    exp_tile,
    exp_tile_init,
    get_arg_val,
    get_compile_time_arg_val,
    get_dataformat,
    get_noc_addr,
    get_tile_size,
    get_write_ptr,
    init_sfpu,
    matmul_tiles,
    mm_init,
    noc_async_read,
    noc_async_read_barrier,
    noc_async_read_tile,
    noc_async_write,
    noc_async_write_barrier,
    pack_tile,
    tile_regs_acquire,
    tile_regs_commit,
    tile_regs_release,
    tile_regs_wait,
)

Words = npt.NDArray[np.uint16]


def tensor(data: npt.NDArray[np.float32], device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.from_torch(
        torch.from_numpy(data.astype(np.float32)), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device
    )


def tensor_bits(result: ttnn.Tensor) -> Words:
    return ttnn.to_torch(result).to(torch.bfloat16).view(torch.uint16).numpy()


def add_kernel() -> None:
    tiles = get_arg_val(0)
    binary_op_init_common(0, 1, 16)
    add_tiles_init(0, 1)
    for _ in range(tiles):
        cb_wait_front(0, 1)
        cb_wait_front(1, 1)
        tile_regs_acquire()
        add_tiles(0, 1, 0, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        cb_reserve_back(16, 1)
        pack_tile(0, 16)
        cb_push_back(16, 1)
        cb_pop_front(0, 1)
        cb_pop_front(1, 1)
        tile_regs_release()


def test_elementwise_add_program_matches_the_operator(device: ttnn.MeshDevice) -> None:
    tiles = 16
    queue = metal.command_queue(device)
    a, b, out = (tiles_buffer(device, tiles) for _ in range(3))
    data = [values(tiles * TILE, seed) for seed in (1, 2)]
    metal.enqueue_write_buffer(queue, a, data[0])
    metal.enqueue_write_buffer(queue, b, data[1])
    args = {"reader": [a.address(), b.address(), tiles], "writer": [out.address(), tiles], "compute": [tiles]}
    program = build({"reader": read_two, "compute": add_kernel, "writer": write_one}, args, {0: 2, 1: 2, 16: 2})
    metal.enqueue_program(queue, program)
    metal.finish(queue)
    result = metal.enqueue_read_buffer(queue, out).view(np.uint16)
    rows = [tensor(x.reshape(tiles * 32, 32).astype(np.float32), device) for x in data]
    expected = ttnn.add(rows[0], rows[1])
    # Both buffers hold tiles; element-wise steps do not care where in a tile a datum lies.
    np.testing.assert_array_equal(result, tensor_bits(expected).reshape(-1))


def exp_kernel() -> None:
    tiles = get_arg_val(0)
    init_sfpu(0, 16)
    exp_tile_init()
    for _ in range(tiles):
        tile_regs_acquire()
        cb_wait_front(0, 1)
        copy_tile(0, 0, 0)
        exp_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        cb_reserve_back(16, 1)
        pack_tile(0, 16)
        cb_pop_front(0, 1)
        tile_regs_release()
        cb_push_back(16, 1)


def test_exp_pipeline_program_matches_the_operator(device: ttnn.MeshDevice) -> None:
    tiles = 8
    queue = metal.command_queue(device)
    source, out = tiles_buffer(device, tiles), tiles_buffer(device, tiles)
    data = values(tiles * TILE, 3)
    metal.enqueue_write_buffer(queue, source, data)
    args = {"reader": [source.address(), tiles], "writer": [out.address(), tiles], "compute": [tiles]}
    metal.enqueue_program(
        queue, build({"reader": read_one, "compute": exp_kernel, "writer": write_one}, args, {0: 2, 16: 2})
    )
    result = metal.enqueue_read_buffer(queue, out).view(np.uint16)
    expected = tensor_bits(ttnn.exp(tensor(data.reshape(tiles * 32, 32).astype(np.float32), device)))
    np.testing.assert_array_equal(result, expected.reshape(-1))


def loopback_kernel() -> None:
    l1, source, target, tiles, page = (get_arg_val(i) for i in range(5))
    read_from = InterleavedAddrGen[True](bank_base_address=source, page_size=page)
    write_to = InterleavedAddrGen[True](bank_base_address=target, page_size=page)
    for tile in range(tiles):
        noc_async_read(get_noc_addr(tile, read_from), l1, page)
        noc_async_read_barrier()
        noc_async_write(l1, get_noc_addr(tile, write_to), page)
        noc_async_write_barrier()


@pytest.mark.parametrize("page", [2048, 64, 96])
def test_loopback_kernel_copies_a_buffer(device: ttnn.MeshDevice, page: int) -> None:
    pages = 30
    config = metal.InterleavedBufferConfig(device=device, size=pages * page, page_size=page)
    source, target = metal.create_buffer(config), metal.create_buffer(config)
    l1 = metal.create_buffer(
        metal.InterleavedBufferConfig(device=device, size=page, page_size=page, buffer_type=metal.BufferType.L1)
    )
    data = np.random.default_rng(4).integers(0, 256, pages * page, dtype=np.uint8)
    queue = metal.command_queue(device)
    metal.enqueue_write_buffer(queue, source, data)
    program = metal.create_program()
    kernel = metal.create_kernel(program, loopback_kernel, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, CORE, [l1, source, target, pages, page])
    metal.enqueue_program(queue, program)
    np.testing.assert_array_equal(metal.enqueue_read_buffer(queue, target, np.empty(pages * page, np.uint8)), data)


def matmul_reader() -> None:
    a, b, mt, kt, nt = (get_arg_val(i) for i in range(5))
    left = InterleavedAddrGenFast[True](a, get_tile_size(0), get_dataformat(0))
    right = InterleavedAddrGenFast[True](b, get_tile_size(1), get_dataformat(1))
    for row in range(mt):
        for column in range(nt):
            for k in range(kt):
                cb_reserve_back(0, 1)
                noc_async_read_tile(row * kt + k, left, get_write_ptr(0))
                noc_async_read_barrier()
                cb_push_back(0, 1)
                cb_reserve_back(1, 1)
                noc_async_read_tile(k * nt + column, right, get_write_ptr(1))
                noc_async_read_barrier()
                cb_push_back(1, 1)


def matmul_compute() -> None:
    mt, kt, nt = (get_compile_time_arg_val(i) for i in range(3))
    mm_init(0, 1, 16)
    for _ in range(mt * nt):
        tile_regs_acquire()
        for _ in range(kt):
            cb_wait_front(0, 1)
            cb_wait_front(1, 1)
            matmul_tiles(0, 1, 0, 0, 0)
            cb_pop_front(0, 1)
            cb_pop_front(1, 1)
        pack_one()


@pytest.mark.parametrize(
    ("dtype", "fidelity", "wide"),
    [
        (ttnn.bfloat16, ttnn.MathFidelity.HiFi4, False),
        (ttnn.bfloat16, ttnn.MathFidelity.LoFi, False),
        (ttnn.bfloat16, ttnn.MathFidelity.HiFi2, True),
        (ttnn.bfloat8_b, ttnn.MathFidelity.HiFi2, False),
        (ttnn.float32, ttnn.MathFidelity.HiFi3, True),
    ],
)
def test_matmul_program_matches_the_operator(
    device: ttnn.MeshDevice, dtype: ttnn.DataType, fidelity: ttnn.MathFidelity, wide: bool
) -> None:
    mt, kt, nt = 2, 3, 2
    rng = np.random.default_rng(5)
    a = tensor(rng.standard_normal((mt * 32, kt * 32), dtype=np.float32), device, dtype)
    b = tensor(rng.standard_normal((kt * 32, nt * 32), dtype=np.float32), device, dtype)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, fp32_dest_acc_en=wide, packer_l1_acc=False)
    blocks = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(1, 1),
        in0_block_w=kt,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=mt,
        per_core_N=nt,
        transpose_mcast=False,
        fused_activation=None,
    )
    expected = ttnn.matmul(a, b, program_config=blocks, compute_kernel_config=config)
    out = ttnn.zeros([mt * 32, nt * 32], dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

    program = metal.create_program()
    for index in (0, 1, 16):
        add_cb(program, index, 2, FORMATS[dtype])
    reader = metal.create_kernel(program, matmul_reader, CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, write_one, CORE, metal.WriterDataMovementConfig())
    metal.create_kernel(
        program,
        matmul_compute,
        CORE,
        metal.ComputeConfig(math_fidelity=fidelity, fp32_dest_acc_en=wide, compile_args=[mt, kt, nt]),
    )
    metal.set_runtime_args(program, reader, CORE, [a.buffer_address(), b.buffer_address(), mt, kt, nt])
    metal.set_runtime_args(program, writer, CORE, [out.buffer_address(), mt * nt])
    metal.run_program(device, program)
    assert torch.equal(ttnn.to_torch(out), ttnn.to_torch(expected))
