"""SFPU functions beyond element-wise ones, and the packer thread's functions.

Running sums, moving averages, Welford's statistics and quantisation keep lane registers from call to call; their init
fills them, and another function's init forgets them. `X_tile_pack` runs on the packer's thread, between its two calls
`tile_regs_wait` and `tile_regs_release`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.base.vendor_enum import VendorEnum
from ttnn.kernel_api.compute import PoolType, ReduceDim, VectorMode
from ttnn.kernel_api.l1 import L1Pointer
from ttnn.kernel_api.sfpu import float_bits, product_bits
from ttnn.kernel_api.sfpu_functions import (
    Packed,
    approximable,
    binary,
    init,
    keeping_init,
    packed,
    ternary,
    tiles,
    unary,
    with_init,
)

_FLOAT32, _INT32, _UINT32 = 0, 8, 24

# Functions of the listings that need no explanation.
gelu_tanh_tile_init, gelu_tanh_tile = with_init(approximable("gelu_tanh_tile", "gelu", "tanh", "tanh_fast"))
gelu_derivative_tile_init, gelu_derivative_tile = with_init(
    approximable("gelu_derivative_tile", "gelu_derivative", "accurate", "approx")
)
tanh_derivative_tile_init, tanh_derivative_tile = with_init(
    approximable("tanh_derivative_tile", "tanh_derivative", "accurate", "approx")
)
lgamma_stirling_tile_init, lgamma_stirling_tile = with_init(unary("lgamma_stirling_tile"))
polygamma_tile_init, _polygamma = with_init(unary("polygamma_tile", "polygamma", parameters=2))
_LARGEST_ORDER = 34
"""The factorial of a higher order is beyond float32."""
power_iterative_tile_init, power_iterative_tile = with_init(unary("power_iterative_tile", parameters=1))
xielu_tile_init, xielu_tile = with_init(unary("xielu_tile", parameters=2))
logsigmoid_tile_init, _log_sigmoid = with_init(binary("logsigmoid_tile", "log_sigmoid"))
_logsigmoid_negated = unary("logsigmoid_tile", "neg", init="logsigmoid_tile_init")
mac_tile_init, mac_tile = with_init(ternary("mac_tile"))
nextafter_binary_tile_init, nextafter_binary_tile = with_init(binary("nextafter_binary_tile", "nextafter"))
nextafter_bf16_binary_tile_init, nextafter_bf16_binary_tile = with_init(
    binary("nextafter_bf16_binary_tile", "nextafter", "bf16")
)

# The packer's thread.
gelu_tile_init_pack, gelu_tile_pack = with_init(
    approximable("gelu_tile_pack", "gelu", "accurate", "approx_lut", kind=Packed, approximate_by_default=True)
)
gelu_tanh_tile_init_pack, gelu_tanh_tile_pack = with_init(packed("gelu_tanh_tile_pack", "gelu", "tanh"))
sigmoid_tile_init_pack, sigmoid_tile_pack = with_init(
    approximable("sigmoid_tile_pack", "sigmoid", "accurate", "approx", kind=Packed)
)
silu_tile_init_pack, silu_tile_pack = with_init(packed("silu_tile_pack", "silu", "accurate"))
tanh_tile_init_pack, tanh_tile_pack = with_init(
    approximable("tanh_tile_pack", "tanh", "accurate", "approx_lut", kind=Packed)
)
hardsigmoid_tile_init_pack, hardsigmoid_tile_pack = with_init(packed("hardsigmoid_tile_pack", "hardsigmoid"))
hardtanh_tile_init_pack, hardtanh_tile_pack = with_init(packed("hardtanh_tile_pack", "hardtanh", parameters=2))
relu_max_tile_init_pack, relu_max_tile_pack = with_init(packed("relu_max_tile_pack", "relu_max", parameters=1))
selu_tile_init_pack, _selu_pack = with_init(packed("selu_tile_pack", "selu", parameters=2))
softplus_tile_init_pack, softplus_tile_pack = with_init(packed("softplus_tile_pack", "softplus", parameters=3))


def logsigmoid_tile(idst_in0: int, idst_in1: int, idst_out: int) -> None:
    """`Dst[idst_out]` = log(sigmoid(x)) from x and, in the second tile, e^-x."""
    # The listing starts from -x, and negating twice is exact.
    _logsigmoid_negated(idst_in0)
    _log_sigmoid(idst_in0, idst_in1, idst_out)
    if idst_out != idst_in0:
        _logsigmoid_negated(idst_in0)


def polygamma_tile(idst: int, n_packed: int, scale_packed: int) -> None:
    """`Dst[idst]` = polygamma, the derivative of digamma.

    Order and scale, (-1)^(n + 1) n!, are bits of float32.

    Raises:
        KernelArgumentError: the order is not 1 to 34.
    """
    order = float(np.uint32(n_packed & 0xFFFF_FFFF).view(np.float32))
    if not 1 <= order < _LARGEST_ORDER + 1:
        raise KernelArgumentError(f"polygamma_tile: the order is the bits of a float32 from 1 to 34, got {order}")
    _polygamma(idst, int(order), scale_packed)


def selu_tile_pack(idst: int, scale: int, alpha: int) -> None:
    """Same as `selu_tile`, on the packer's thread."""
    _selu_pack(idst, scale, product_bits(scale, alpha))


# Masks and places.
mask_tile_init = init("mask_tile_init")
_mask = tiles("mask_tile", "mask", 2)
_mask_posinf = tiles("mask_posinf_tile", "mask_posinf", 2, "mask_tile_init")


def mask_tile(idst_data: int, idst2_mask: int, data_format: int = 5) -> None:
    """Zero `Dst[idst_data]` where the next tile's mask is zero.

    Raises:
        KernelArgumentError: it does not.
    """
    _mask(idst_data, _behind("mask_tile", idst_data, idst2_mask))


def mask_posinf_tile(idst_data: int, idst2_mask: int) -> None:
    """Set `Dst[idst_data]` to infinity where the next tile's mask is zero.

    Raises:
        KernelArgumentError: it does not.
    """
    _mask_posinf(idst_data, _behind("mask_posinf_tile", idst_data, idst2_mask))


def _behind(call: str, data: int, mask: int) -> int:
    if mask != data + 1:
        raise KernelArgumentError(f"{call}: the mask of Dst[{data}] must be Dst[{data + 1}], not Dst[{mask}]")
    return mask


alt_complex_rotate90_tile_init = init("alt_complex_rotate90_tile_init")
_rotate = tiles("alt_complex_rotate90_tile", "alt_complex_rotate90", 1)


def alt_complex_rotate90_tile(idst: int) -> None:
    """Multiply complex column pairs by i: (a, b) becomes (-b, a)."""
    _rotate(idst)


sfpu_add_top_row_init = init("sfpu_add_top_row_init")
_top_row = tiles("sfpu_add_top_row", "add_top_row", 3)
_top_row_int = tiles("sfpu_add_top_row", "add_top_row_int", 3)


def sfpu_add_top_row(dst_tile_0: int, dst_tile_1: int, dst_tile_out: int, *, data_format: int = _FLOAT32) -> None:
    """Add rows 0 to 3 of two tiles to a third's.

    Raises:
        UnsupportedError: not Float32, Int32 or UInt32.
    """
    code = int(data_format)
    if code not in (_FLOAT32, _INT32, _UINT32):
        raise UnsupportedError(f"sfpu_add_top_row: the kernel has no format {code}", "unsupported")
    function = _top_row if code == _FLOAT32 else _top_row_int
    function(dst_tile_0, dst_tile_1, dst_tile_out)


reshuffle_rows_tile_init = init("reshuffle_rows_tile_init")
_reshuffle = tiles("reshuffle_rows_tile", "reshuffle_rows", 2)
_INDEX_HEADER = 16
"""Bytes before the row numbers: the kernel skips a tile header."""


def reshuffle_rows_tile(idst: int, idx_addr: int) -> None:
    """Add row i of `Dst[idst]` to row `index[i]` of the next tile.

    Indices of 32 or more skip the row.

    Args:
        idst: The tile; the next one accumulates.
        idx_addr: L1 address; the 32 row numbers are the bytes from 16 on.
    """
    rows = L1Pointer(idx_addr + _INDEX_HEADER, np.uint8).read(32)
    _reshuffle(idst, idst + 1, parameters=tuple(int(row) for row in rows))


# Scans.
cumsum_tile_init = init("cumsum_tile_init")
_cumsum = tiles("cumsum_tile", "cumsum", 1)


def cumsum_tile(idst: int, first: bool = True) -> None:
    """Replace `Dst[idst]` by cumulative column sums; `first` restarts them."""
    _cumsum(idst, parameters=(int(first),))


ema_init = keeping_init("ema_init", "ema_init")
_ema = tiles("ema_tile", "ema", 2, "ema_init")
_ema_clear = tiles("ema_clear_previous_output", "ema_clear", 0, "ema_init")


def ema_clear_previous_output() -> None:
    """Start another moving average."""
    _ema_clear()


def ema_tile(input_dst_index: int) -> None:
    """`Dst[input_dst_index + 1]` = moving average down the columns: `alpha * previous + beta * x`."""
    _ema(input_dst_index, input_dst_index + 1)


# Welford's algorithm: mean and sum of squared distances of each column. Tables of reciprocals are sequences of float32
# bits; with an empty one the kernel divides.
class WelfordInitMode(VendorEnum):
    """Effect of `welford_init` on the running mean and squares.

    They are the mean and the sum of squared distances so far.
    """

    ClearStats = 0
    PreserveStats = 1


_start = keeping_init("welford_init", "welford_clear")
_resume = init("welford_init")
_clear = tiles("welford_clear", "welford_clear", 0, "welford_init")
_update = tiles("welford_update", "welford_update", 1, "welford_init")
_save = tiles("welford_save_state", "welford_save", 2, "welford_init")
_restore = tiles("welford_restore_state", "welford_restore", 2, "welford_init")
_to_row = tiles("welford_finalize_to_row", "welford_to_row", 2, "welford_init")
_to_face = tiles("welford_finalize_to_face", "welford_to_face", 2, "welford_init")


def _reciprocal(call: str, index: int, table: Sequence[int]) -> int:
    if index < 0:
        raise KernelArgumentError(f"{call}: the index of a reciprocal is at least 0, got {index}")
    if not table:
        return float_bits(float(np.float32(1.0) / np.float32(index + 1)))
    if index >= len(table):
        raise KernelArgumentError(f"{call}: reciprocal {index} of {len(table)} is needed")
    return int(table[index])


def welford_init(*, mode: WelfordInitMode = WelfordInitMode.ClearStats) -> None:
    """Set the SFPU up for Welford's algorithm.

    It starts with a group of elements or continues the last one.
    """
    if mode is WelfordInitMode.PreserveStats:
        _resume()
    else:
        _start()


def welford_clear() -> None:
    """Start with another group of datums."""
    _clear()


def welford_reinit(cbid: int = 0) -> None:
    """Set the SFPU up for Welford again, continuing the group."""
    _resume()


def welford_update(input_dst_idx: int, start_idx: int, reciprocal_lut: Sequence[int] = ()) -> None:
    """Add 32 elements of each column, the first with index `start_idx`."""
    welford_update_rows(input_dst_idx, start_idx, 0, 32, reciprocal_lut)


def welford_update_rows(
    input_dst_idx: int, start_idx: int, start_row: int, num_rows: int, reciprocal_lut: Sequence[int] = ()
) -> None:
    """Add the elements of some rows.

    Raises:
        KernelArgumentError: rows beyond the tile, or a table without their reciprocals.
    """
    if not 0 <= start_row <= start_row + num_rows <= 32:
        raise KernelArgumentError(f"welford_update_rows: rows {start_row} to {start_row + num_rows} of a tile of 32")
    table = reciprocal_lut
    words = (_reciprocal("welford_update", start_idx + row, table) for row in range(num_rows))
    _update(input_dst_idx, parameters=(start_row, *words))


def welford_save_state(mean_dst_idx: int, group_id: int = 0) -> None:
    """Store the registers' mean and squares to tiles from `mean_dst_idx`."""
    _save(mean_dst_idx, mean_dst_idx + 1, parameters=(_group(group_id),))


def welford_restore_state(mean_dst_idx: int, group_id: int = 0) -> None:
    """Load what `welford_save_state` stored."""
    _restore(mean_dst_idx, mean_dst_idx + 1, parameters=(_group(group_id),))


def welford_finalize_to_row(mean_dst_idx: int, scale_idx: int, reciprocal_lut: Sequence[int] = ()) -> None:
    """Store mean and variance to row 0; rows 1-3 become 0.

    They are rows of two tiles.
    """
    word = _reciprocal("welford_finalize_to_row", scale_idx, reciprocal_lut)
    _to_row(mean_dst_idx, mean_dst_idx + 1, parameters=(word,))


def welford_finalize_to_face(
    mean_dst_idx: int,
    first: int,
    second: int | Sequence[int] = (),
    reciprocal_lut: Sequence[int] = (),
) -> None:
    """Store mean and variance from registers.

    (mean, [group,] scale, table).
    """
    if isinstance(second, int):
        group, scale, table = first, second, reciprocal_lut
    else:
        group, scale, table = 0, first, second
    word = _reciprocal("welford_finalize_to_face", scale, table)
    _to_face(mean_dst_idx, mean_dst_idx + 1, parameters=(word, _group(group)))


def _group(group: int) -> int:
    if not 0 <= group < 4:
        raise KernelArgumentError(f"Welford's statistics: group {group}; a face has room for groups 0 to 3")
    return group


# Quantisation. The zero point is the bits of a float32; `dequant_tile_init` has it negated.
quant_tile_init = keeping_init("quant_tile_init", "zero_point")
quant_tile = tiles("quant_tile", "quant", 3, makes=_INT32)
requant_tile_init = keeping_init("requant_tile_init", "zero_point")
requant_tile = tiles("requant_tile", "requant", 3, makes=_INT32)
dequant_tile_init = keeping_init("dequant_tile_init", "zero_point")
dequant_tile = tiles("dequant_tile", "dequant", 3, makes=_FLOAT32)

# Reductions inside a tile, on full float32.
sfpu_reduce_init = init("sfpu_reduce_init")
_REDUCTIONS = {
    (pool, dim): tiles("sfpu_reduce", f"reduce_{verb}_{place}", 1)
    for pool, verb in ((PoolType.SUM, "sum"), (PoolType.MAX, "max"), (PoolType.MIN, "min"))
    for dim, place in ((ReduceDim.REDUCE_ROW, "row"), (ReduceDim.REDUCE_COL, "col"))
}


def sfpu_reduce(
    idst: int,
    vector_mode: VectorMode | int = 4,
    *,
    pool_type: PoolType,
    reduce_dim: ReduceDim,
    data_format: int = _FLOAT32,
) -> None:
    """Reduce `Dst[idst]` rows to column 0, or columns to row 0.

    Other elements are kept.

    Raises:
        UnsupportedError: integers, averages, or both directions at once: their steps are not known.
    """
    function = _REDUCTIONS.get((pool_type, reduce_dim))
    if function is None or int(data_format) != _FLOAT32:
        text = f"sfpu_reduce: {pool_type} along {reduce_dim} in format {int(data_format)} has no known bits"
        raise UnsupportedError(f"{text}; sums, maxima and minima of rows or columns of Float32 have", "unsupported")
    function(idst)
