"""Lowering of products of selected matrices to the library."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr

__all__ = ["sparse_config"]

_TILE = 32


def sparse_config(op: TableOp, grid: tuple[int, ...]) -> OpaqueDialectAttr:
    """Return the matmul's division over cores.

    Rows of tiles stay whole, columns are divided over the cores of a row.

    Args:
        op: [..., M, K] and [..., K, N].
        grid: Rows and columns of cores.
    """
    rows, columns = grid[-2:]
    height, width = (-(-size // _TILE) for size in (shape_of(op.inputs[0])[-2], shape_of(op.inputs[1])[-1]))
    used = min(columns, width)
    # Every core of a row gets columns.
    while -(-width // -(-width // used)) != used:
        used -= 1
    text = (
        f"<compute_with_storage_grid_size = #ttnn.core_coord<{used}, {rows}>, in0_block_w = 1, out_subblock_h = 1, "
        f"out_subblock_w = 1, out_block_h = 1, out_block_w = 1, per_core_m = {height}, "
        f"per_core_n = {-(-width // used)}, fuse_batch = false, mcast_in0 = true, gather_in0 = false, "
        "hop_cores = #ttnn.core_range_set<>, num_global_cb_receivers = 0, untilize_out = false>"
    )
    return OpaqueDialectAttr("ttnn.matmul_multi_core_reuse_multi_cast_1d_program_config", (text,))
