"""Mistakes with Dst, with initialisation calls and with data formats."""

from __future__ import annotations

from collections.abc import Callable

from broken import broken_compute, broken_computing, broken_reader

import ttnn
from testkit.kernel_parts import front_and_dst, ready_to_pack, tile_in_dst
from ttnn import KernelArgumentError, KernelSetupError, RegisterError, metal
from ttnn.kernel_api import *

Device = ttnn.MeshDevice
Program = metal.Program
WIDE = metal.ComputeConfig(fp32_dest_acc_en=True)
FULL = metal.ComputeConfig(dst_full_sync_en=True)


def two_tiles(init: Callable[[], None] | None = None) -> None:
    """Wait for both operands and acquire Dst."""
    binary_op_init_common(0, 1, 16)
    if init:
        init()
    cb_wait_front(0, 1)
    cb_wait_front(1, 1)
    tile_regs_acquire()


def block_of_one() -> None:
    """Set up one-tile block matmuls, wait for operands, acquire Dst."""
    mm_block_init(0, 1, 16, 0, 1, 1, 1)
    cb_wait_front(0, 1)
    cb_wait_front(1, 1)
    tile_regs_acquire()


@broken_compute(RegisterError, "Dst is used without tile_regs_acquire()")
def copy_without_acquire() -> None:
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    copy_tile(0, 0, 0)  # bug


@broken_compute(RegisterError, "Dst is used without tile_regs_acquire()")
def function_without_acquire() -> None:
    unary_op_init_common(0, 16)
    exp_tile_init()
    exp_tile(0)  # bug


@broken_compute(RegisterError, "Dst is used without tile_regs_acquire()")
def math_after_commit() -> None:
    tile_in_dst()
    tile_regs_commit()
    copy_tile(0, 0, 1)  # bug


@broken_compute(RegisterError, "Dst is acquired already")
def acquire_twice() -> None:
    unary_op_init_common(0, 16)
    for _ in range(2):
        tile_regs_acquire()  # bug


@broken_compute(RegisterError, "tile_regs_commit() without tile_regs_acquire()")
def commit_without_acquire() -> None:
    unary_op_init_common(0, 16)
    tile_regs_commit()  # bug


@broken_compute(RegisterError, "tile_regs_commit() is missing")
def wait_without_commit() -> None:
    tile_in_dst()
    tile_regs_wait()  # bug


@broken_compute(RegisterError, "pack without tile_regs_wait()")
def pack_without_wait() -> None:
    tile_in_dst()
    tile_regs_commit()
    cb_reserve_back(16, 1)
    pack_tile(0, 16)  # bug


@broken_compute(RegisterError, "tile_regs_release() without tile_regs_wait()")
def release_without_wait() -> None:
    tile_in_dst()
    tile_regs_commit()
    tile_regs_release()  # bug


@broken_compute(RegisterError, "tile_regs_release() is missing")
def halves_never_released() -> None:
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    for _ in range(3):
        tile_regs_acquire()  # bug
        copy_tile(0, 0, 0)
        tile_regs_commit()


@broken_compute(RegisterError, "Dst[8] does not exist: Dst holds 8 tiles here")
def past_half_of_dst() -> None:
    front_and_dst()
    for index in range(9):
        copy_tile(0, 0, index)  # bug


@broken_compute(RegisterError, "Dst[4] does not exist: Dst holds 4 tiles here", compute_config=WIDE)
def past_half_of_wide_dst() -> None:
    front_and_dst()
    copy_tile(0, 0, 4)  # bug


@broken_compute(RegisterError, "Dst[16] does not exist: Dst holds 16 tiles here", compute_config=FULL)
def past_all_of_dst() -> None:
    front_and_dst()
    copy_tile(0, 0, 16)  # bug


@broken_compute(RegisterError, "Dst[3] is read, but nothing has been written there")
def pack_of_nothing() -> None:
    tile_in_dst()
    ready_to_pack()
    pack_tile(3, 16)  # bug


@broken_compute(RegisterError, "Dst[1] is read, but nothing has been written there")
def function_of_nothing() -> None:
    tile_in_dst()
    exp_tile_init()
    exp_tile(1)  # bug


@broken_compute(RegisterError, "nothing has been written there")
def last_block_is_forgotten_by_the_next() -> None:
    tile_in_dst()
    ready_to_pack()
    pack_tile(0, 16)
    tile_regs_release()
    cb_push_back(16, 1)
    tile_regs_acquire()
    exp_tile_init()
    exp_tile(0)  # bug


@broken_compute(RegisterError, "the kernel ends with Dst", writer=None)
def ends_with_dst_acquired() -> None:
    tile_in_dst()
    cb_pop_front(0, 1)


@broken_compute(RegisterError, "the kernel ends with Dst", writer=None)
def ends_with_dst_committed() -> None:
    tile_in_dst()
    cb_pop_front(0, 1)
    tile_regs_commit()


@broken_compute(KernelSetupError, "is missing")
def no_setup_at_all() -> None:
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)  # bug


@broken_computing(KernelSetupError, "is missing")
def sum_without_init() -> None:
    two_tiles()
    add_tiles(0, 1, 0, 0, 0)  # bug


@broken_computing(KernelSetupError, "is missing")
def product_after_init_of_sum() -> None:
    two_tiles(lambda: add_tiles_init(0, 1))
    mul_tiles(0, 1, 0, 0, 0)  # bug


@broken_computing(KernelSetupError, "is missing")
def copy_after_init_of_sum() -> None:
    two_tiles(lambda: add_tiles_init(0, 1))
    copy_tile(0, 0, 0)  # bug


@broken_computing(KernelSetupError, "is missing")
def matmul_after_init_of_sum() -> None:
    two_tiles(lambda: add_tiles_init(0, 1))
    matmul_tiles(0, 1, 0, 0, 0)  # bug


@broken_computing(KernelSetupError, "is missing")
def broadcast_after_init_of_whole_tiles() -> None:
    two_tiles(lambda: add_tiles_init(0, 1))
    add_tiles_bcast_rows(0, 1, 0, 0, 0)  # bug


@broken_computing(KernelSetupError, "is missing")
def broadcast_of_columns_after_init_of_rows() -> None:
    two_tiles(lambda: mul_bcast_rows_init_short(0, 1))
    mul_tiles_bcast_cols(0, 1, 0, 0, 0)  # bug


@broken_computing(KernelSetupError, "is missing")
def reduction_without_init() -> None:
    two_tiles()
    reduce_tile(0, 1, 0, 0, 0, reduce_dim=ReduceDim.REDUCE_ROW)  # bug


@broken_computing(KernelSetupError, "is missing")
def maximum_after_init_of_sum() -> None:
    two_tiles(lambda: reduce_init(0, 1, 16, reduce_type=PoolType.SUM, reduce_dim=ReduceDim.REDUCE_COL))
    reduce_tile(0, 1, 0, 0, 0, reduce_type=PoolType.MAX, reduce_dim=ReduceDim.REDUCE_COL)  # bug


@broken_computing(KernelSetupError, "reduce_uninit is missing")
def whole_tile_packed_with_the_mask_of_a_reduction() -> None:
    two_tiles(lambda: reduce_init(0, 1, 16, reduce_type=PoolType.SUM, reduce_dim=ReduceDim.REDUCE_ROW))
    reduce_tile(0, 1, 0, 0, 0, reduce_type=PoolType.SUM, reduce_dim=ReduceDim.REDUCE_ROW)
    add_tiles_init(0, 1)
    add_tiles(0, 1, 0, 0, 1)
    ready_to_pack()
    pack_tile(0, 16)
    pack_tile(1, 16)  # bug


@broken_compute(KernelSetupError, "exp_tile_init")
def function_without_init() -> None:
    tile_in_dst()
    exp_tile(0)  # bug


@broken_compute(KernelSetupError, "exp_tile_init")
def function_after_init_of_another() -> None:
    tile_in_dst()
    recip_tile_init()
    exp_tile(0)  # bug


@broken_compute(KernelSetupError, "is missing")
def transpose_after_init_of_copy() -> None:
    tile_in_dst()
    transpose_wh_tile(0, 0, 0)  # bug


@broken_compute(KernelSetupError, "is missing")
def tilize_without_init() -> None:
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    cb_reserve_back(16, 1)
    tilize_block(0, 1, 16)  # bug


@broken_compute(KernelSetupError, "is missing")
def untilize_without_init() -> None:
    unary_op_init_common(0, 16)
    cb_wait_front(0, 1)
    cb_reserve_back(16, 1)
    untilize_block(0, 1, 16)  # bug


@broken_computing(KernelSetupError, "the init call set")
def block_of_another_width_than_the_init_said() -> None:
    block_of_one()
    matmul_block(0, 1, 0, 0, 0, 0, 2, 1, 1)  # bug


@broken_computing(KernelSetupError, "reconfig", 2)
def operand_of_another_format() -> None:
    binary_op_init_common(0, 1, 16)
    add_tiles_init(0, 2)
    cb_wait_front(0, 1)
    cb_wait_front(2, 1)
    tile_regs_acquire()
    add_tiles(0, 2, 0, 0, 0)  # bug


@broken_computing(KernelSetupError, "reconfig", 17)
def result_of_another_format() -> None:
    tile_in_dst()
    ready_to_pack(17)
    pack_tile(0, 17)  # bug


@broken_compute(RegisterError, "tile_regs_commit() without tile_regs_acquire()")
def commit_twice() -> None:
    tile_in_dst()
    for _ in range(2):
        tile_regs_commit()  # bug


@broken_compute(RegisterError, "tile_regs_release() without tile_regs_wait()")
def release_twice() -> None:
    tile_in_dst()
    ready_to_pack()
    pack_tile(0, 16)
    for _ in range(2):
        tile_regs_release()  # bug


@broken_compute(RegisterError, "the kernel ends with Dst")
def ends_with_dst_of_the_older_form() -> None:
    unary_op_init_common(0, 16)
    acquire_dst()


@broken_compute(RegisterError, "Dst[1] is read, but nothing has been written there")
def second_operand_of_a_function_is_missing() -> None:
    tile_in_dst()
    add_binary_tile_init()
    add_binary_tile(0, 1, 0)  # bug


@broken_compute(RegisterError, "Dst[2] is read, but nothing has been written there")
def third_operand_of_a_choice_is_missing() -> None:
    tile_in_dst()
    copy_tile(0, 0, 1)
    where_tile_init()
    where_tile(0, 1, 2, 0)  # bug


@broken_computing(RegisterError, "Dst[8] does not exist")
def block_larger_than_dst() -> None:
    block_of_one()
    for tile in range(9):
        matmul_block(0, 1, 0, 0, tile, 0, 1, 1, 1)  # bug


@broken_computing(KernelSetupError, "the init call set")
def transposed_block_after_another_init() -> None:
    block_of_one()
    matmul_block(0, 1, 0, 0, 0, 1, 1, 1, 1)  # bug


@broken_computing(KernelSetupError, "is missing")
def dest_reuse_without_init() -> None:
    two_tiles(lambda: copy_tile_to_dst_init_short(0))
    copy_tile(0, 0, 0)
    binary_dest_reuse_tiles(1, 0, 0, op=EltwiseBinaryType.ELWADD, reuse=EltwiseBinaryReuseDestType.DEST_TO_SRCA)  # bug


@broken_computing(KernelSetupError, "is missing")
def spread_copy_without_init() -> None:
    two_tiles(lambda: add_tiles_init(0, 1))
    unary_bcast(0, 0, 0, dim=BroadcastType.ROW)  # bug


@broken_compute(KernelSetupError, "is missing")
def row_major_pack_without_init() -> None:
    tile_in_dst()
    ready_to_pack()
    pack_untilize_dest(16)  # bug


@broken_compute(KernelSetupError, "pack_untilize_uninit is missing")
def tile_packed_while_rows_are_set_up() -> None:
    tile_in_dst()
    pack_untilize_dest_init(16, block_ct_dim=1)
    ready_to_pack()
    pack_tile(0, 16)  # bug


@broken_compute(KernelSetupError, "the init call set")
def rows_of_another_width_than_the_init_said() -> None:
    compute_kernel_hw_startup(0, 0, 16)
    tilize_init(0, 2, 16)
    cb_wait_front(0, 1)
    cb_reserve_back(16, 1)
    tilize_block(0, 1, 16)  # bug


@broken_computing(KernelSetupError, "reconfig", 2)
def first_operand_of_another_format() -> None:
    unary_op_init_common(0, 16)
    copy_tile_to_dst_init_short(2)
    cb_wait_front(2, 1)
    tile_regs_acquire()
    copy_tile(2, 0, 0)  # bug


@broken_reader(KernelArgumentError, "")
def tile_packed_by_a_reader() -> None:
    pack_tile(0, 16)  # bug


@broken_compute(KernelArgumentError, "")
def word_sent_by_a_compute_kernel() -> None:
    noc_inline_dw_write(get_noc_addr(1, 1, 0), 1)  # bug
