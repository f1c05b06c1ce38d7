"""The compute engine: Dst, FPU matmul and element-wise steps, reductions, packing.

Names are given in the classic spelling and in that of 0.81.1; both are one function.
"""

from __future__ import annotations

from ttnn.base.vendor_enum import VendorEnum
from ttnn.kernel_api.context import here, switch
from ttnn.kernel_api.fpu_steps import ADD, MUL, NONE, SUB, step_number


class EltwiseBinaryType(VendorEnum):
    """Element-wise steps of the FPU."""

    ELWMUL = 0
    ELWDIV = 1
    ELWADD = 2
    ELWSUB = 3
    ELWLESS = 4


class BroadcastType(VendorEnum):
    """The elements of the second operand that are broadcast over the tile."""

    NONE = 0
    COL = 1
    ROW = 2
    SCALAR = 3


class PoolType(VendorEnum):
    """The operation of a reduction."""

    SUM = 0
    AVG = 1
    MAX = 2
    MIN = 3


class ReduceDim(VendorEnum):
    """The dimensions that are reduced."""

    REDUCE_ROW = 0
    REDUCE_COL = 1
    REDUCE_SCALAR = 2


class VectorMode(VendorEnum):
    """Faces that a function processes: all, first row, first column."""

    NONE = 0
    R = 1
    C = 2
    RC = 4


# Registers.


def tile_regs_acquire() -> None:
    """Math: acquire a free half of Dst, all with full sync.

    It starts empty.
    """
    run = here.run
    while not run.tile_regs_acquire():
        switch()


def tile_regs_commit() -> None:
    """Math: commit the half to the packer."""
    here.run.tile_regs_commit()


def tile_regs_wait() -> None:
    """Pack: wait for a half that math has committed."""
    here.run.tile_regs_wait()


def tile_regs_release() -> None:
    """Pack: release the half to math."""
    here.run.tile_regs_release()


def acquire_dst(mode: object = None) -> None:
    """Acquire Dst for math and pack together (classic)."""
    run = here.run
    while not run.acquire_dst():
        switch()


def release_dst(mode: object = None) -> None:
    """Release Dst (classic)."""
    here.run.release_dst()


# Setup.


def compute_kernel_hw_startup(icb0: int, icb1: int, ocb: int | None = None, *, reverse: bool = False) -> None:
    """Set up unpackers and packer for the CBs' formats; call first.

    `reverse` is the template argument `SrcOrder::Reverse`: matmul puts its left operand into SrcB.
    """
    if ocb is None:
        icb1, ocb = icb0, icb1
    if reverse:
        icb0, icb1 = icb1, icb0
    here.run.hw_startup(icb0, icb1, ocb)


def binary_op_init_common(icb0: int, icb1: int, ocb: int) -> None:
    """Set up unpackers and packer for a kernel of two operands (classic)."""
    here.run.hw_startup(icb0, icb1, ocb)


def unary_op_init_common(icb: int, ocb: int) -> None:
    """Set up unpackers and packer, and copies to Dst (classic)."""
    here.run.hw_startup(icb, icb, ocb)
    here.run.copy_init(icb, False)


init_sfpu = unary_op_init_common


def unary_op_init_common_no_pack(icb: int) -> None:
    """Set up the unpackers and copies to Dst (classic).

    The packer keeps its setup.
    """
    here.run.reconfig_data_format(icb, icb)
    here.run.copy_init(icb, False)


def reconfig_data_format(first: int, second: int, third: int = -1, fourth: int = -1) -> None:
    """Set up both unpackers for other CBs' formats.

    (a, b), or (old a, a, old b, b).
    """
    if third < 0:
        here.run.reconfig_data_format(first, second)
    else:
        here.run.reconfig_data_format(second, fourth, first, third)


def reconfig_data_format_srca(first: int, second: int = -1) -> None:
    """Set up unpacker A for another CB's format: (new) or (old, new)."""
    if second < 0:
        here.run.reconfig_data_format(first, -1)
    else:
        here.run.reconfig_data_format(second, -1, first, -1)


def reconfig_data_format_srcb(first: int, second: int = -1) -> None:
    """Set up unpacker B for another CB's format: (new) or (old, new)."""
    if second < 0:
        here.run.reconfig_data_format(-1, first)
    else:
        here.run.reconfig_data_format(-1, second, -1, first)


# Formats and shapes of tiles come from the CB at every unpack here, so the full forms of 0.81.1 are the plain ones.
reconfig_full_operand = reconfig_data_format_skip_int8 = reconfig_data_format
reconfig_full_operand_srca = reconfig_data_format_srca_skip_int8 = reconfig_data_format_srca
reconfig_full_operand_srcb = reconfig_data_format_srcb_skip_int8 = reconfig_data_format_srcb


def reconfig_tile_shape(icb0_new_operand: int, icb1_new_operand: int) -> None:
    """Set up both unpackers for other CBs' tile shapes.

    Each unpack sets them anyway.
    """
    reconfig_tile_shape_srca(icb0_new_operand)
    reconfig_tile_shape_srcb(icb1_new_operand)


def reconfig_tile_shape_srca(srca_new_operand: int) -> None:
    """Set up unpacker A for the tile shape of another CB."""
    here.run.cb_interface(srca_new_operand)


def reconfig_tile_shape_srcb(srcb_new_operand: int) -> None:
    """Set up unpacker B for the tile shape of another CB."""
    here.run.cb_interface(srcb_new_operand)


def pack_reconfig_data_format(first: int, second: int = -1) -> None:
    """Set up the packer for another CB's format: (new) or (old, new)."""
    if second < 0:
        here.run.pack_reconfig_data_format(first)
    else:
        here.run.pack_reconfig_data_format(second, first)


def pack_reconfig_l1_acc(l1_acc_en: int) -> None:
    """Enable or disable accumulation in L1 by the packer."""
    here.run.pack_reconfig_l1_acc(bool(l1_acc_en))


def pack_relu_config(mode: int, threshold: int = 0) -> None:
    """Configure ReLU in the packer.

    One word with mode (bits 0-1) and threshold (bits 16-31), or pass both.
    """
    if threshold == 0:
        mode, threshold = mode & 3, mode >> 16
    here.run.pack_relu_config(mode, threshold)


# Tile products.


def mm_init(in0_cb_id: int = 0, in1_cb_id: int = 1, out_cb_id: int = 16, transpose: int = 0) -> None:
    """Set up everything for tile matmuls (classic).

    Old headers have these CBs as defaults.
    """
    here.run.hw_startup(in1_cb_id, in0_cb_id, out_cb_id)
    here.run.matmul_init(in0_cb_id, in1_cb_id, bool(transpose), (0, 0, 0))


def matmul_init(in0_cb_id: int, in1_cb_id: int, transpose: int = 0) -> None:
    """Set up the FPU for tile matmuls."""
    here.run.matmul_init(in0_cb_id, in1_cb_id, bool(transpose), (0, 0, 0))


mm_init_short = matmul_init


def mm_init_short_with_dt(in0_cb_id: int, in1_cb_id: int, c_in_old_srca: int, transpose: int = 0) -> None:
    """Set up tile matmuls and unpacker A, configured for `c_in_old_srca` before (classic)."""
    reconfig_data_format_srca(c_in_old_srca, in1_cb_id)
    matmul_init(in0_cb_id, in1_cb_id, transpose)


def matmul_tiles(in0_cb_id: int, in1_cb_id: int, in0_tile: int, in1_tile: int, dst: int, transpose: int = 0) -> None:
    """`Dst[dst] += in0 tile x in1 tile`. The classic last argument is that of the init."""
    here.run.matmul_tiles(in0_cb_id, in1_cb_id, in0_tile, in1_tile, dst)


def mm_block_init(
    in0_cb_id: int = 0,
    in1_cb_id: int = 1,
    out_cb_id: int = 16,
    transpose: int = 0,
    ct_dim: int = 1,
    rt_dim: int = 1,
    kt_dim: int = 1,
) -> None:
    """Set up everything for block matmuls (classic)."""
    here.run.hw_startup(in1_cb_id, in0_cb_id, out_cb_id)
    here.run.matmul_init(in0_cb_id, in1_cb_id, bool(transpose), (ct_dim, rt_dim, kt_dim))


def matmul_block_init(
    in0_cb_id: int, in1_cb_id: int, transpose: int = 0, ct_dim: int = 1, rt_dim: int = 1, kt_dim: int = 1
) -> None:
    """Set up the FPU for block matmuls."""
    here.run.matmul_init(in0_cb_id, in1_cb_id, bool(transpose), (ct_dim, rt_dim, kt_dim))


mm_block_init_short = matmul_block_init


def mm_block_init_short_with_dt(
    in0_cb_id: int,
    in1_cb_id: int,
    old_in1_cb_id: int,
    transpose: int = 0,
    ct_dim: int = 1,
    rt_dim: int = 1,
    kt_dim: int = 1,
) -> None:
    """Set up block matmuls and unpacker A, configured for `old_in1_cb_id` before (classic)."""
    reconfig_data_format_srca(old_in1_cb_id, in1_cb_id)
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim)


def mm_block_init_short_with_both_dt(
    in0_cb_id: int,
    in1_cb_id: int,
    old_in0_cb_id: int,
    old_in1_cb_id: int,
    transpose: int = 0,
    ct_dim: int = 1,
    rt_dim: int = 1,
    kt_dim: int = 1,
) -> None:
    """Set up block matmuls and both unpackers (classic).

    The unpackers were configured for the old CBs before.
    """
    reconfig_data_format(old_in1_cb_id, in1_cb_id, old_in0_cb_id, in0_cb_id)
    matmul_block_init(in0_cb_id, in1_cb_id, transpose, ct_dim, rt_dim, kt_dim)


def mm_uninit(in0_cb_id: int, in1_cb_id: int) -> None:
    """End matmuls; the next operation needs its own init."""
    here.run.end_math()


def matmul_block(
    in0_cb_id: int,
    in1_cb_id: int,
    in0_tile_index: int,
    in1_tile_index: int,
    idst: int,
    transpose: int,
    ct_dim: int,
    rt_dim: int,
    kt_dim: int,
) -> None:
    """`Dst[idst + r * ct + c] += in0[in0_tile_index + r * kt] x in1[in1_tile_index + c]` for all r < rt, c < ct."""
    here.run.matmul_block(
        in0_cb_id,
        in1_cb_id,
        in0_tile_index,
        in1_tile_index,
        idst,
        bool(transpose),
        ct_dim,
        rt_dim,
        kt_dim,
    )


# Element-wise steps.


def add_tiles_init(icb0: int, icb1: int, acc_to_dest: bool = False) -> None:
    """Set up the FPU for sums of tiles."""
    here.run.eltwise_init(ADD, NONE, bool(acc_to_dest), icb0, icb1)


def sub_tiles_init(icb0: int, icb1: int, acc_to_dest: bool = False) -> None:
    """Set up the FPU for differences of tiles."""
    here.run.eltwise_init(SUB, NONE, bool(acc_to_dest), icb0, icb1)


def mul_tiles_init(icb0: int, icb1: int, acc_to_dest: bool = True) -> None:
    """Set up the FPU for element-wise products."""
    here.run.eltwise_init(MUL, NONE, True, icb0, icb1)


add_init = add_tiles_init
sub_init = sub_tiles_init
mul_init = mul_tiles_init


def add_tiles(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst] = icb0[itile0] + icb1[itile1]`."""
    here.run.eltwise_tiles(ADD, NONE, icb0, icb1, itile0, itile1, idst)


def sub_tiles(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst] = icb0[itile0] - icb1[itile1]`."""
    here.run.eltwise_tiles(SUB, NONE, icb0, icb1, itile0, itile1, idst)


def mul_tiles(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst] += icb0[itile0] * icb1[itile1]`, datum by datum; Dst is zero after acquire."""
    here.run.eltwise_tiles(MUL, NONE, icb0, icb1, itile0, itile1, idst)


def binary_tiles_init(
    icb0: int,
    icb1: int,
    acc_to_dest: bool = False,
    *,
    eltwise_binary_type: EltwiseBinaryType,
    full_init: bool = True,
) -> None:
    """Set up the FPU for an element-wise step, a C++ template argument.

    Raises:
        KernelArgumentError: a step that the FPU does not have.
    """
    here.run.eltwise_init(step_number(eltwise_binary_type), NONE, bool(acc_to_dest), icb0, icb1)


def add_block(icb0: int, icb1: int, start_itile0: int, start_itile1: int, start_idst: int, ntiles: int) -> None:
    """`add_tiles` for `ntiles` tiles from these on."""
    for tile in range(ntiles):
        add_tiles(icb0, icb1, start_itile0 + tile, start_itile1 + tile, start_idst + tile)


def sub_block(icb0: int, icb1: int, start_itile0: int, start_itile1: int, start_idst: int, ntiles: int) -> None:
    """`sub_tiles` for `ntiles` tiles from these on."""
    for tile in range(ntiles):
        sub_tiles(icb0, icb1, start_itile0 + tile, start_itile1 + tile, start_idst + tile)


def mul_block(icb0: int, icb1: int, start_itile0: int, start_itile1: int, start_idst: int, ntiles: int) -> None:
    """`mul_tiles` for `ntiles` tiles from these on."""
    for tile in range(ntiles):
        mul_tiles(icb0, icb1, start_itile0 + tile, start_itile1 + tile, start_idst + tile)


# Copies.


def copy_tile_to_dst_init_short(cbid: int, transpose: int = 0) -> None:
    """Set up copies of tiles to Dst."""
    here.run.copy_init(cbid, bool(transpose))


copy_init = copy_tile_init = copy_tile_to_dst_init_short


def copy_tile_to_dst_init_short_with_dt(old_cbid: int, new_cbid: int, transpose: int = 0) -> None:
    """Set up tile copies to Dst and unpacker A.

    It was configured for `old_cbid` before.
    """
    reconfig_data_format_srca(old_cbid, new_cbid)
    copy_tile_to_dst_init_short(new_cbid, transpose)


def copy_tile(in_cb_id: int, in_tile_index: int, dst_tile_index: int) -> None:
    """`Dst[dst_tile_index]` = a tile of a CB."""
    here.run.copy_tile(in_cb_id, in_tile_index, dst_tile_index)


# Packing.


def pack_tile(ifrom_dst: int, icb: int, output_tile_index: int = 0, *, out_of_order: bool = False) -> None:
    """Pack `Dst[ifrom_dst]` to a CB's back, after the tile before.

    `out_of_order`, a template argument in C++, packs to tile `output_tile_index` of the back instead.
    """
    here.run.pack_tile(ifrom_dst, icb, output_tile_index if out_of_order else -1)


matmul_pack_tile = pack_tile


def pack_tile_block(ifrom_dst: int, icb: int, ntiles: int) -> None:
    """Pack `ntiles` tiles of Dst, in order."""
    for tile in range(ntiles):
        here.run.pack_tile(ifrom_dst + tile, icb, -1)


pack_block = pack_tile_block


def pack_init(icb: int) -> None:
    """Set up the packer for whole tiles of a CB's format."""
    here.run.pack_untilize_mode(0, 0)
    here.run.pack_reconfig_data_format(icb)
