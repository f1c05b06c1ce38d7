"""Shared matmul example code: operands, reference operator, block kernel.

The kernel multiplies blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import ttnn
from examples.common import random_bf16, to_device
from ttnn import metal
from ttnn.kernel_api import *

PARTIALS = 24
"""CB of partial sums that wait for the next K block."""


class Blocking(NamedTuple):
    """Matmul block sizes, in tiles.

    M and N of a core, K read at once, subblock held in Dst.
    """

    per_core_m: int
    per_core_n: int
    kt: int
    in0_block_w: int
    subblock_h: int
    subblock_w: int

    @property
    def in0_tiles(self) -> int:
        """Tiles of a block of the left operand."""
        return self.per_core_m * self.in0_block_w

    @property
    def in1_tiles(self) -> int:
        """Tiles of a block of the right operand."""
        return self.per_core_n * self.in0_block_w

    @property
    def out_tiles(self) -> int:
        """Tiles of a core's result."""
        return self.per_core_m * self.per_core_n


def operands(device: ttnn.MeshDevice, m: int, k: int, n: int) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    """Return bfloat16 operands of m x k and k x n."""
    return to_device(random_bf16((m, k), 1), device), to_device(random_bf16((k, n), 2), device)


def compute_config(blocking: Blocking | None = None, **more: object) -> metal.ComputeConfig:
    """Return a HiFi4 compute kernel configuration with a 16-bit Dst."""
    return metal.ComputeConfig(
        math_fidelity=metal.MathFidelity.HiFi4, compile_args=list(blocking) if blocking else [], **more
    )


def by_operator(a: ttnn.Tensor, b: ttnn.Tensor, blocking: Blocking, grid: tuple[int, int]) -> ttnn.Tensor:
    """Return the product as `ttnn.matmul` computes it.

    With the same blocking, fidelity and Dst.
    """
    return ttnn.matmul(
        a,
        b,
        program_config=ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=grid,
            in0_block_w=blocking.in0_block_w,
            out_subblock_h=blocking.subblock_h,
            out_subblock_w=blocking.subblock_w,
            per_core_M=blocking.per_core_m,
            per_core_N=blocking.per_core_n,
            transpose_mcast=False,
            fused_activation=None,
        ),
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=False, packer_l1_acc=False
        ),
    )


def multiply_blocks() -> None:
    """Compute: sum over K in blocks, partial sums in L1.

    Between blocks the partial sums of each subblock wait in L1.
    """
    blocking = Blocking(*(get_compile_time_arg_val(i) for i in range(6)))
    height, width = blocking.subblock_h, blocking.subblock_w
    blocks = blocking.kt // blocking.in0_block_w
    mm_block_init(0, 1, 16, 0, width, height, blocking.in0_block_w)
    for block in range(blocks):
        target = 16 if block == blocks - 1 else PARTIALS
        cb_wait_front(0, blocking.in0_tiles)
        cb_wait_front(1, blocking.in1_tiles)
        for row in range(0, blocking.per_core_m, height):
            for column in range(0, blocking.per_core_n, width):
                tile_regs_acquire()
                if block > 0:
                    copy_tile_to_dst_init_short(PARTIALS)
                    cb_wait_front(PARTIALS, height * width)
                    for tile in range(height * width):
                        copy_tile(PARTIALS, tile, tile)
                    cb_pop_front(PARTIALS, height * width)
                    mm_block_init_short(0, 1, 0, width, height, blocking.in0_block_w)
                for k in range(blocking.in0_block_w):
                    matmul_block(
                        0,
                        1,
                        row * blocking.in0_block_w + k,
                        column + k * blocking.per_core_n,
                        0,
                        0,
                        width,
                        height,
                        blocking.in0_block_w,
                    )
                tile_regs_commit()
                cb_reserve_back(target, height * width)
                tile_regs_wait()
                for tile in range(height * width):
                    pack_tile(tile, target)
                tile_regs_release()
                cb_push_back(target, height * width)
        cb_pop_front(0, blocking.in0_tiles)
        cb_pop_front(1, blocking.in1_tiles)


def write_block() -> None:
    """Writer: a core's result by subblock, in order of arrival.

    Arguments: address, first row, first column, Nt.
    """
    target, first_row, first_column, nt = (get_arg_val(i) for i in range(4))
    write_subblocks(target, first_row, first_column, nt, Blocking(*(get_compile_time_arg_val(i) for i in range(6))))


def write_subblocks(target: int, first_row: int, first_column: int, nt: int, blocking: Blocking) -> None:
    """Write the subblocks of CB 16 to their tensor positions.

    The tensor is `nt` tiles wide.
    """
    pages = InterleavedAddrGenFast[True](target, get_tile_size(16), get_dataformat(16))
    height, width = blocking.subblock_h, blocking.subblock_w
    for row in range(first_row, first_row + blocking.per_core_m, height):
        for column in range(first_column, first_column + blocking.per_core_n, width):
            cb_wait_front(16, height * width)
            l1 = get_read_ptr(16)
            for y in range(height):
                for x in range(width):
                    noc_async_write_tile((row + y) * nt + column + x, pages, l1)
                    l1 += get_tile_size(16)
            noc_async_write_barrier()
            cb_pop_front(16, height * width)
