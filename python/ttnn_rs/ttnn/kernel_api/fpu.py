"""The FPU's other steps: broadcasts, Dst reuse, reductions, transposes."""

from __future__ import annotations

from ttnn.base.exceptions import KernelArgumentError
from ttnn.base.vendor_enum import VendorEnum
from ttnn.kernel_api.compute import BroadcastType, EltwiseBinaryType, PoolType, ReduceDim
from ttnn.kernel_api.context import here
from ttnn.kernel_api.fpu_steps import ADD, COL, MUL, ROW, SCALAR, SUB, step_number


def _row_only(bcast_row_idx: int) -> None:
    if bcast_row_idx != 0:
        raise KernelArgumentError(f"bcast_row_idx={bcast_row_idx}: only row 0 is broadcast")


# Broadcast. `op` and `dim` are template arguments in C++.


def init_bcast(icb0: int, icb1: int, ocb: int, *, op: EltwiseBinaryType, dim: BroadcastType) -> None:
    """Set up everything for a kernel of broadcast steps (classic)."""
    here.run.hw_startup(icb0, icb1, ocb)
    here.run.eltwise_init(step_number(op), dim.value, False, icb0, icb1)


def bcast_init(icb0: int, icb1: int, *, op: EltwiseBinaryType, dim: BroadcastType) -> None:
    """Set up the FPU for broadcast steps."""
    here.run.eltwise_init(step_number(op), dim.value, False, icb0, icb1)


def any_tiles_bcast(
    icb0: int,
    icb1: int,
    itile0: int,
    itile1: int,
    idst: int,
    bcast_row_idx: int = 0,
    *,
    op: EltwiseBinaryType,
    dim: BroadcastType,
) -> None:
    """`Dst[idst]` = a tile and one row, column or datum of another."""
    _row_only(bcast_row_idx)
    here.run.eltwise_tiles(step_number(op), dim.value, icb0, icb1, itile0, itile1, idst)


def add_tiles_bcast(icb0: int, icb1: int, itile0: int, itile1: int, idst: int, *, dim: BroadcastType) -> None:
    """`Dst[idst]` = tile + broadcast row, column or element of another."""
    here.run.eltwise_tiles(ADD, dim.value, icb0, icb1, itile0, itile1, idst)


def sub_tiles_bcast(icb0: int, icb1: int, itile0: int, itile1: int, idst: int, *, dim: BroadcastType) -> None:
    """`Dst[idst]` = tile - broadcast row, column or element of another."""
    here.run.eltwise_tiles(SUB, dim.value, icb0, icb1, itile0, itile1, idst)


def mul_tiles_bcast(icb0: int, icb1: int, itile0: int, itile1: int, idst: int, *, dim: BroadcastType) -> None:
    """`Dst[idst]` = tile * broadcast row, column or element of another."""
    here.run.eltwise_tiles(MUL, dim.value, icb0, icb1, itile0, itile1, idst)


def add_bcast_rows_init(icb0: int, icb1: int) -> None:
    """Set up `add_tiles_bcast_rows`."""
    here.run.eltwise_init(ADD, ROW, False, icb0, icb1)


def add_bcast_cols_init(icb0: int, icb1: int) -> None:
    """Set up `add_tiles_bcast_cols`."""
    here.run.eltwise_init(ADD, COL, False, icb0, icb1)


def add_bcast_scalar_init(icb0: int, icb1: int) -> None:
    """Set up `add_tiles_bcast_scalar`."""
    here.run.eltwise_init(ADD, SCALAR, False, icb0, icb1)


def sub_bcast_rows_init(icb0: int, icb1: int) -> None:
    """Set up `sub_tiles_bcast_rows`."""
    here.run.eltwise_init(SUB, ROW, False, icb0, icb1)


def sub_bcast_cols_init(icb0: int, icb1: int) -> None:
    """Set up `sub_tiles_bcast_cols`."""
    here.run.eltwise_init(SUB, COL, False, icb0, icb1)


def sub_bcast_scalar_init(icb0: int, icb1: int) -> None:
    """Set up `sub_tiles_bcast_scalar`."""
    here.run.eltwise_init(SUB, SCALAR, False, icb0, icb1)


def mul_bcast_rows_init(icb0: int, icb1: int) -> None:
    """Set up `mul_tiles_bcast_rows`."""
    here.run.eltwise_init(MUL, ROW, True, icb0, icb1)


def mul_bcast_cols_init(icb0: int, icb1: int) -> None:
    """Set up `mul_tiles_bcast_cols`."""
    here.run.eltwise_init(MUL, COL, True, icb0, icb1)


def mul_bcast_scalar_init(icb0: int, icb1: int) -> None:
    """Set up `mul_tiles_bcast_scalar`."""
    here.run.eltwise_init(MUL, SCALAR, True, icb0, icb1)


add_bcast_rows_init_short = add_bcast_rows_init
add_bcast_cols_init_short = add_bcast_cols_init
add_bcast_scalar_init_short = add_bcast_scalar_init
sub_bcast_rows_init_short = sub_bcast_rows_init
sub_bcast_cols_init_short = sub_bcast_cols_init
sub_tiles_bcast_scalar_init_short = sub_bcast_scalar_init
mul_bcast_rows_init_short = mul_bcast_rows_init
mul_bcast_cols_init_short = mul_bcast_cols_init
mul_tiles_bcast_scalar_init_short = mul_bcast_scalar_init


def add_tiles_bcast_rows(icb0: int, icb1: int, itile0: int, itile1: int, idst: int, bcast_row_idx: int = 0) -> None:
    """`Dst[idst]` = a tile plus row 0 of another."""
    _row_only(bcast_row_idx)
    here.run.eltwise_tiles(ADD, ROW, icb0, icb1, itile0, itile1, idst)


def add_tiles_bcast_cols(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst]` = a tile plus column 0 of another."""
    here.run.eltwise_tiles(ADD, COL, icb0, icb1, itile0, itile1, idst)


def add_tiles_bcast_scalar(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst]` = a tile plus datum 0 of another."""
    here.run.eltwise_tiles(ADD, SCALAR, icb0, icb1, itile0, itile1, idst)


def sub_tiles_bcast_rows(icb0: int, icb1: int, itile0: int, itile1: int, idst: int, bcast_row_idx: int = 0) -> None:
    """`Dst[idst]` = a tile minus row 0 of another."""
    _row_only(bcast_row_idx)
    here.run.eltwise_tiles(SUB, ROW, icb0, icb1, itile0, itile1, idst)


def sub_tiles_bcast_cols(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst]` = a tile minus column 0 of another."""
    here.run.eltwise_tiles(SUB, COL, icb0, icb1, itile0, itile1, idst)


def sub_tiles_bcast_scalar(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst]` = a tile minus datum 0 of another."""
    here.run.eltwise_tiles(SUB, SCALAR, icb0, icb1, itile0, itile1, idst)


def mul_tiles_bcast_rows(icb0: int, icb1: int, itile0: int, itile1: int, idst: int, bcast_row_idx: int = 0) -> None:
    """`Dst[idst]` = a tile times row 0 of another."""
    _row_only(bcast_row_idx)
    here.run.eltwise_tiles(MUL, ROW, icb0, icb1, itile0, itile1, idst)


def mul_tiles_bcast_cols(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst]` = a tile times column 0 of another."""
    here.run.eltwise_tiles(MUL, COL, icb0, icb1, itile0, itile1, idst)


def mul_tiles_bcast_scalar(icb0: int, icb1: int, itile0: int, itile1: int, idst: int) -> None:
    """`Dst[idst]` = a tile times datum 0 of another."""
    here.run.eltwise_tiles(MUL, SCALAR, icb0, icb1, itile0, itile1, idst)


def unary_bcast_init(icb: int, ocb: int | None = None, *, dim: BroadcastType) -> None:
    """Set up broadcasts of one row, column or element.

    With `ocb` (classic) also unpackers and packer.
    """
    if ocb is not None:
        here.run.hw_startup(icb, icb, ocb)
    here.run.unary_bcast_init(dim.value, icb)


def unary_bcast(icb: int, in_tile_index: int, dst_tile_index: int, *, dim: BroadcastType) -> None:
    """`Dst[dst_tile_index]` = one row, column or element of a tile, broadcast."""
    here.run.unary_bcast(dim.value, icb, in_tile_index, dst_tile_index)


def unary_bcast_uninit(icb: int = 0) -> None:
    """End `unary_bcast`; the next init sets up what it needs."""


# Reuse of Dst.


class EltwiseBinaryReuseDestType(VendorEnum):
    """The source register that Dst is moved to."""

    NONE = 0
    DEST_TO_SRCA = 1
    DEST_TO_SRCB = 2


def binary_dest_reuse_tiles_init(icb0: int, *, op: EltwiseBinaryType, reuse: EltwiseBinaryReuseDestType) -> None:
    """Set up steps on a CB and Dst."""
    here.run.reuse_init(step_number(op), _to_a(reuse), icb0)


def binary_dest_reuse_tiles(
    in_cb_id: int,
    in_tile_index: int,
    dst_tile_index: int,
    *,
    op: EltwiseBinaryType,
    reuse: EltwiseBinaryReuseDestType,
) -> None:
    """`Dst[d]` = `Dst[d]` op tile, or tile op `Dst[d]`.

    The first with Dst to SrcA, the second with Dst to SrcB.
    """
    here.run.eltwise_reuse_dst(step_number(op), _to_a(reuse), in_cb_id, in_tile_index, dst_tile_index)


binary_reuse_dest_tiles = binary_dest_reuse_tiles


binary_reuse_dest_init = binary_dest_reuse_tiles_init
_TO_A = EltwiseBinaryReuseDestType.DEST_TO_SRCA


def add_reuse_dest_init(icb: int, *, reuse: EltwiseBinaryReuseDestType = _TO_A) -> None:
    """Set up sums of a CB and Dst."""
    here.run.reuse_init(ADD, _to_a(reuse), icb)


def sub_reuse_dest_init(icb: int, *, reuse: EltwiseBinaryReuseDestType = _TO_A) -> None:
    """Set up differences of a CB and Dst."""
    here.run.reuse_init(SUB, _to_a(reuse), icb)


def mul_reuse_dest_init(icb: int, *, reuse: EltwiseBinaryReuseDestType = _TO_A) -> None:
    """Set up products of a CB and Dst."""
    here.run.reuse_init(MUL, _to_a(reuse), icb)


def add_reuse_dest_tiles(
    in_cb_id: int, in_tile_index: int, dst_tile_index: int, *, reuse: EltwiseBinaryReuseDestType = _TO_A
) -> None:
    """`Dst[d]` = sum of `Dst[d]` and a tile."""
    here.run.eltwise_reuse_dst(ADD, _to_a(reuse), in_cb_id, in_tile_index, dst_tile_index)


def sub_reuse_dest_tiles(
    in_cb_id: int, in_tile_index: int, dst_tile_index: int, *, reuse: EltwiseBinaryReuseDestType = _TO_A
) -> None:
    """`Dst[d]` = `Dst[d]` - tile (Dst to SrcA), or tile - `Dst[d]` (Dst to SrcB)."""
    here.run.eltwise_reuse_dst(SUB, _to_a(reuse), in_cb_id, in_tile_index, dst_tile_index)


def mul_reuse_dest_tiles(
    in_cb_id: int, in_tile_index: int, dst_tile_index: int, *, reuse: EltwiseBinaryReuseDestType = _TO_A
) -> None:
    """`Dst[d]` = product of `Dst[d]` and a tile."""
    here.run.eltwise_reuse_dst(MUL, _to_a(reuse), in_cb_id, in_tile_index, dst_tile_index)


def _to_a(reuse: EltwiseBinaryReuseDestType) -> bool:
    if reuse is EltwiseBinaryReuseDestType.NONE:
        raise KernelArgumentError("reuse: choose DEST_TO_SRCA or DEST_TO_SRCB")
    return reuse is EltwiseBinaryReuseDestType.DEST_TO_SRCA


# Copies of several tiles.


def copy_block_matmul_partials(icb: int, start_in_tile_index: int, start_dst_tile_index: int, ntiles: int) -> None:
    """Copy `ntiles` tiles of a CB to Dst."""
    for tile in range(ntiles):
        here.run.copy_tile(icb, start_in_tile_index + tile, start_dst_tile_index + tile)


copy_block = copy_block_matmul_partials


# Reductions. `reduce_type` and `reduce_dim` are template arguments in C++.


def _pool(kind: PoolType) -> int:
    if kind is PoolType.MIN:
        raise KernelArgumentError("reduce_type=PoolType.MIN: the FPU has no minimum; sfpu_reduce has")
    return 1 if kind is PoolType.MAX else 0


def reduce_init(
    icb: int,
    icb_scaler: int,
    ocb: int = -1,
    *,
    reduce_type: PoolType = PoolType.SUM,
    reduce_dim: ReduceDim = ReduceDim.REDUCE_SCALAR,
) -> None:
    """Set up reductions; until `reduce_uninit` the packer packs only the results."""
    here.run.reduce_init(_pool(reduce_type), reduce_dim.value, icb, icb_scaler)


def reduce_tile(
    icb: int,
    icb_scaler: int,
    itile: int,
    itile_scaler: int,
    idst: int,
    *,
    reduce_type: PoolType = PoolType.SUM,
    reduce_dim: ReduceDim = ReduceDim.REDUCE_SCALAR,
) -> None:
    """Reduce a tile onto `Dst[idst]`.

    Rows to column 0, columns to row 0, all to element 0.

    Row 0 of each face of the scaler tile multiplies; for REDUCE_SCALAR it does so twice.
    """
    here.run.reduce_tile(_pool(reduce_type), reduce_dim.value, icb, icb_scaler, itile, itile_scaler, idst)


def reduce_uninit(icb: int = 0) -> None:
    """Restore packing of whole tiles."""
    here.run.reduce_uninit()


def reduce_block(
    icb: int,
    icb_scaler: int,
    start_itile: int,
    itile_scaler: int,
    start_idst: int,
    ntiles: int,
    *,
    reduce_type: PoolType = PoolType.SUM,
    reduce_dim: ReduceDim = ReduceDim.REDUCE_SCALAR,
) -> None:
    """`reduce_tile` for `ntiles` tiles, each onto its own Dst tile."""
    pool, dim = _pool(reduce_type), reduce_dim.value
    for tile in range(ntiles):
        here.run.reduce_tile(pool, dim, icb, icb_scaler, start_itile + tile, itile_scaler, start_idst + tile)


# Maxima of rows over a block of tiles; its width is a template argument in C++.


def reduce_block_max_row_init(icb: int, icb_scaler: int, *, block_ct_dim: int = 1) -> None:
    """Set up row maxima of `block_ct_dim` tiles.

    In C++ the kernel's first init sets the CBs.
    """
    here.run.reduce_init(_pool(PoolType.MAX), ReduceDim.REDUCE_ROW.value, icb, icb_scaler)


def reduce_block_max_row(icb: int, icb_scaler: int, row_start_index: int, idst: int, *, block_ct_dim: int = 1) -> None:
    """Write row maxima of `block_ct_dim` tiles to `Dst[idst]`, column 0.

    From `row_start_index` on.
    """
    pool, dim = _pool(PoolType.MAX), ReduceDim.REDUCE_ROW.value
    for tile in range(block_ct_dim):
        here.run.reduce_tile(pool, dim, icb, icb_scaler, row_start_index + tile, 0, idst)


def reduce_block_max_row_uninit(icb: int = 0) -> None:
    """Restore packing of whole tiles."""
    here.run.reduce_uninit()


# Transposes.


def transpose_wh_init(icb: int, ocb: int) -> None:
    """Set up everything for a kernel that transposes tiles (classic)."""
    here.run.hw_startup(icb, icb, ocb)
    here.run.copy_init(icb, True)


def transpose_init(icb: int) -> None:
    """Set up transposes of tiles."""
    here.run.copy_init(icb, True)


transpose_wh_init_short = transpose_init


def transpose_tile(icb: int, itile: int, idst: int) -> None:
    """`Dst[idst]` = a transposed tile."""
    here.run.transpose_tile(icb, itile, idst)


transpose_wh_tile = transpose_tile


def transpose_block(icb: int, start_itile: int, start_idst: int, ntiles: int) -> None:
    """`transpose_tile` for `ntiles` tiles from these on."""
    for tile in range(ntiles):
        here.run.transpose_tile(icb, start_itile + tile, start_idst + tile)


def transpose_dest_init(operand: int = 0) -> None:
    """Set up transposes inside Dst."""
    here.run.transpose_dst_init()


transpose_wh_dest_init_short = transpose_dest_init


def transpose_dest(idst: int) -> None:
    """Transpose `Dst[idst]` in place."""
    here.run.transpose_dst(idst)


transpose_wh_dest = transpose_dest
