"""Mistakes with Dst, with initialisation calls and with data formats."""

from __future__ import annotations

from collections.abc import Callable

from broken import broken, computing, pipeline

import ttnn
from ttnn import KernelSetupError, RegisterError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program
WIDE = metal.ComputeConfig(fp32_dest_acc_en=True)


def one_tile() -> None:
    """Set up copies and have a tile in Dst 0."""
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)


def two_tiles(init: Callable[[], None] | None = None) -> None:
    """Wait for both operands and acquire Dst."""
    binary_op_init_common(0, 1, 16)
    if init:
        init()
    cb_wait_front(0, 1)
    cb_wait_front(1, 1)
    tile_regs_acquire()


@broken(RegisterError, "Dst is used without tile_regs_acquire()", "TRISC")
def copy_without_acquire(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        copy_tile(0, 0, 0)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "Dst is used without tile_regs_acquire()", "TRISC")
def function_without_acquire(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        exp_tile_init()
        exp_tile(0)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "Dst is used without tile_regs_acquire()", "TRISC")
def math_after_commit(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        tile_regs_commit()
        copy_tile(0, 0, 1)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "Dst is acquired already", "TRISC")
def acquire_twice(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        for _ in range(2):
            tile_regs_acquire()  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "tile_regs_commit() without tile_regs_acquire()", "TRISC")
def commit_without_acquire(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        tile_regs_commit()  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "tile_regs_commit() is missing", "TRISC")
def wait_without_commit(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        tile_regs_wait()  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "pack without tile_regs_wait()", "TRISC")
def pack_without_wait(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        tile_regs_commit()
        cb_reserve_back(16, 1)
        pack_tile(0, 16)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "tile_regs_release() without tile_regs_wait()", "TRISC")
def release_without_wait(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        tile_regs_commit()
        tile_regs_release()  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "tile_regs_release() is missing", "TRISC")
def halves_never_released(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        for _ in range(3):
            tile_regs_acquire()  # bug
            copy_tile(0, 0, 0)
            tile_regs_commit()

    return pipeline(device, compute=compute)


@broken(RegisterError, "Dst[8] does not exist: Dst holds 8 tiles here", "TRISC")
def past_half_of_dst(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        for index in range(9):
            copy_tile(0, 0, index)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "Dst[4] does not exist: Dst holds 4 tiles here", "TRISC")
def past_half_of_wide_dst(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 4)  # bug

    return pipeline(device, compute=compute, compute_config=WIDE)


@broken(RegisterError, "Dst[16] does not exist: Dst holds 16 tiles here", "TRISC")
def past_all_of_dst(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 16)  # bug

    return pipeline(device, compute=compute, compute_config=metal.ComputeConfig(dst_full_sync_en=True))


@broken(RegisterError, "Dst[3] is read, but nothing has been written there", "TRISC")
def pack_of_nothing(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        tile_regs_commit()
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(3, 16)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "Dst[1] is read, but nothing has been written there", "TRISC")
def function_of_nothing(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        exp_tile_init()
        exp_tile(1)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "nothing has been written there", "TRISC")
def last_block_is_forgotten_by_the_next(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        tile_regs_commit()
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)
        tile_regs_acquire()
        exp_tile_init()
        exp_tile(0)  # bug

    return pipeline(device, compute=compute)


@broken(RegisterError, "the kernel ends with Dst", "TRISC")
def ends_with_dst_acquired(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        cb_pop_front(0, 1)

    return pipeline(device, compute=compute, writer=None)


@broken(RegisterError, "the kernel ends with Dst", "TRISC")
def ends_with_dst_committed(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        cb_pop_front(0, 1)
        tile_regs_commit()

    return pipeline(device, compute=compute, writer=None)


@broken(KernelSetupError, "is missing", "TRISC")
def no_setup_at_all(device: Device) -> Program:
    def compute() -> None:
        cb_wait_front(0, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)  # bug

    return pipeline(device, compute=compute)


@broken(KernelSetupError, "is missing", "TRISC")
def sum_without_init(device: Device) -> Program:
    def compute() -> None:
        two_tiles()
        add_tiles(0, 1, 0, 0, 0)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "is missing", "TRISC")
def product_after_init_of_sum(device: Device) -> Program:
    def compute() -> None:
        two_tiles(lambda: add_tiles_init(0, 1))
        mul_tiles(0, 1, 0, 0, 0)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "is missing", "TRISC")
def copy_after_init_of_sum(device: Device) -> Program:
    def compute() -> None:
        two_tiles(lambda: add_tiles_init(0, 1))
        copy_tile(0, 0, 0)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "is missing", "TRISC")
def matmul_after_init_of_sum(device: Device) -> Program:
    def compute() -> None:
        two_tiles(lambda: add_tiles_init(0, 1))
        matmul_tiles(0, 1, 0, 0, 0)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "is missing", "TRISC")
def broadcast_after_init_of_whole_tiles(device: Device) -> Program:
    def compute() -> None:
        two_tiles(lambda: add_tiles_init(0, 1))
        add_tiles_bcast_rows(0, 1, 0, 0, 0)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "is missing", "TRISC")
def broadcast_of_columns_after_init_of_rows(device: Device) -> Program:
    def compute() -> None:
        two_tiles(lambda: mul_bcast_rows_init_short(0, 1))
        mul_tiles_bcast_cols(0, 1, 0, 0, 0)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "is missing", "TRISC")
def reduction_without_init(device: Device) -> Program:
    def compute() -> None:
        two_tiles()
        reduce_tile(0, 1, 0, 0, 0, reduce_dim=ReduceDim.REDUCE_ROW)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "is missing", "TRISC")
def maximum_after_init_of_sum(device: Device) -> Program:
    def compute() -> None:
        two_tiles(lambda: reduce_init(0, 1, 16, reduce_type=PoolType.SUM, reduce_dim=ReduceDim.REDUCE_COL))
        reduce_tile(0, 1, 0, 0, 0, reduce_type=PoolType.MAX, reduce_dim=ReduceDim.REDUCE_COL)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "exp_tile_init", "TRISC")
def function_without_init(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        exp_tile(0)  # bug

    return pipeline(device, compute=compute)


@broken(KernelSetupError, "exp_tile_init", "TRISC")
def function_after_init_of_another(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        recip_tile_init()
        exp_tile(0)  # bug

    return pipeline(device, compute=compute)


@broken(KernelSetupError, "is missing", "TRISC")
def transpose_after_init_of_copy(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        transpose_wh_tile(0, 0, 0)  # bug

    return pipeline(device, compute=compute)


@broken(KernelSetupError, "is missing", "TRISC")
def tilize_without_init(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        cb_reserve_back(16, 1)
        tilize_block(0, 1, 16)  # bug

    return pipeline(device, compute=compute)


@broken(KernelSetupError, "is missing", "TRISC")
def untilize_without_init(device: Device) -> Program:
    def compute() -> None:
        unary_op_init_common(0, 16)
        cb_wait_front(0, 1)
        cb_reserve_back(16, 1)
        untilize_block(0, 1, 16)  # bug

    return pipeline(device, compute=compute)


@broken(KernelSetupError, "the init call said", "TRISC")
def block_of_another_width_than_the_init_said(device: Device) -> Program:
    def compute() -> None:
        mm_block_init(0, 1, 16, 0, 1, 1, 1)
        cb_wait_front(0, 1)
        cb_wait_front(1, 1)
        tile_regs_acquire()
        matmul_block(0, 1, 0, 0, 0, 0, 2, 1, 1)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "reconfig", "TRISC", 2)
def operand_of_another_format(device: Device) -> Program:
    def compute() -> None:
        binary_op_init_common(0, 1, 16)
        add_tiles_init(0, 2)
        cb_wait_front(0, 1)
        cb_wait_front(2, 1)
        tile_regs_acquire()
        add_tiles(0, 2, 0, 0, 0)  # bug

    return computing(device, compute)


@broken(KernelSetupError, "reconfig", "TRISC", 17)
def result_of_another_format(device: Device) -> Program:
    def compute() -> None:
        one_tile()
        tile_regs_commit()
        cb_reserve_back(17, 1)
        tile_regs_wait()
        pack_tile(0, 17)  # bug

    return computing(device, compute)
