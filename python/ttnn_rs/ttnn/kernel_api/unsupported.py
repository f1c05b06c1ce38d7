"""Unsupported kernel API names, with reasons.

Calling one raises `UnsupportedError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ttnn.base.exceptions import UnsupportedError

_RANDOM = "the chip's pseudo-random numbers depend on time and are not known"
_NETWORK = "its kernel is newer than the specified ones"
_LANES = "its result in unused rows, or where it reads the neighbouring tile, is not specified"
_NO_LISTING = "the dataflow of its kernel is not specified"
_HALF = "unpacker, FPU and packer are not modelled separately"
_FLAGS = "FPU and SFPU special-value flags are not modelled"
_DEBUG = "a debugger's view of the registers is not modelled"
_PCIE = "host memory over PCIe is not modelled"
_THREADS = "kernels of several threads belong to a later chip"
_REMOTE = "its counters are not specified; use a global circular buffer with the remote_cb_ calls"
_SOCKET = "sockets and the fabric between chips are not modelled"
_COUNTERS = "the NoC's request counters are not modelled; barriers know their transfers"

_REASONS = {
    _RANDOM: "dropout_kernel_init dropout_tile rand_tile rand_tile_init stochastic_round_tile",
    _NETWORK: """topk_canonicalize_negzero_values topk_defuse_tile topk_finalize_uint16_indices topk_fuse_tile
        topk_stamp_local_positions topk_stamp_tile_rank_range
        topk_strip_rank_tags topk_uint16_move_dest_tile_to_pack_half
        topk_uint16_prepare_value_tile_for_pack max_reduce_with_indices max_reduce_with_indices_init""",
    _LANES: """tiled_prod_tile tiled_prod_tile_init sfpu_add_int sfpu_sum_int_col sfpu_sum_int_init sfpu_sum_int_row
        sfpu_add_bcast_col sfpu_add_bcast_col_init sfpu_add_bcast_row sfpu_add_bcast_row_init sfpu_bcast
        sfpu_bcast_col_init sfpu_bcast_init sfpu_bcast_row_init sfpu_mul_bcast_col sfpu_mul_bcast_col_init
        sfpu_mul_bcast_row sfpu_mul_bcast_row_init sfpu_normalize_bcast_col sfpu_normalize_bcast_col_two_tiles
        sfpu_normalize_bcast_scalar sfpu_normalize_bcast_scalar_init sfpu_residual_normalize_bcast_col
        sfpu_sub_bcast_col sfpu_sub_bcast_col_init sfpu_sub_bcast_row sfpu_sub_bcast_row_init""",
    _NO_LISTING: """clamped_silu_glu_tile clamped_silu_glu_tile_init situ_glu_tile situ_glu_tile_init
        lgamma_adjusted_tile lgamma_adjusted_tile_init lgamma_stirling_float_tile lgamma_stirling_float_tile_init
        triangle_solve_tile triangle_solve_tile_init dequant_int8_tile dequant_int8_tile_init quant_int8_tile
        quant_int8_tile_init quant_uint8_tile quant_uint8_tile_init requant_int8_in_int8_out_tile
        requant_int8_in_int8_out_tile_init requant_int8_in_tile requant_int8_in_tile_init
        requant_int8_in_uint8_out_tile requant_int8_in_uint8_out_tile_init requant_int8_tile requant_int8_tile_init
        requant_uint8_tile requant_uint8_tile_init two_pass_stats_clear two_pass_stats_combine_block
        two_pass_stats_finalize_and_combine_to_face two_pass_stats_finalize_split_mean_to_row
        two_pass_stats_finalize_to_face two_pass_stats_finalize_to_row two_pass_stats_finish_shifted_mean
        two_pass_stats_init_shifted two_pass_stats_restore_anchor two_pass_stats_restore_anchor_from_state
        two_pass_stats_save_anchor two_pass_stats_save_anchor_to_state two_pass_stats_save_state
        two_pass_stats_switch_group two_pass_stats_update_rows two_pass_stats_update_shifted_rows
        reduce_block_max_row_init_runtime reduce_block_max_row_reinit_minimal
        reduce_block_max_row_reinit_minimal_runtime reduce_block_max_row_reinit_short
        reduce_block_max_row_reinit_short_runtime reduce_block_max_row_runtime reduce_block_max_row_uninit_runtime""",
    _HALF: """matmul_tiles_math matmul_block_math_dynamic_throttle reduce_tile_math dummy_pack dummy_unpack
        tilizeA_B_reduce_init unpack_tilizeA_B_block unpack_tilizeA_B_uninit enable_fp32_dest_acc disable_fp32_dest_acc
        restore_fp32_dest_acc set_fp32_dest_acc state_configure fast_tilize_init_skip_remap
        fast_tilize_init_with_dt_skip_remap pack_untilize_init_skip_remap""",
    _FLAGS: """clear_compute_special_value_flags get_compute_special_value_flags get_compute_special_value_flags_fpu
        get_compute_special_value_flags_sfpu store_compute_special_value_flags_to_l1""",
    _DEBUG: "dbg_halt dbg_unhalt dbg_read_dest_acc_row wait_for_sync_register_value",
    _PCIE: """noc_async_read_clear_pcie_state noc_async_read_pcie noc_async_read_set_pcie_state
        noc_async_write_clear_pcie_state noc_async_write_pcie noc_async_write_set_pcie_state""",
    _THREADS: """get_barrier_id get_my_thread_id get_num_threads sync_dm_compute_threads sync_threads
        tensix_global_sem tensix_global_sem_barrier tensix_global_sem_fetch_add tensix_global_sem_init
        tensix_global_sem_read thread_sync_init wait_threads""",
    _REMOTE: "CrossNodeDFB PrefetcherPipe",
    _SOCKET: """fabric_socket_notify_sender_stateful tt_uva_fin tt_uva_ini tt_uva_put tt_uva_put_signal tt_uva_quiet
        tt_uva_self tt_uva_signal_fetch tt_uva_sync tt_uva_test""",
    _COUNTERS: "noc_async_read_inc_num_issued noc_cmd_bufs_mid_clear",
}


def _unsupported(name: str, reason: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(f"{name}: {reason}", "unsupported")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raise UnsupportedError: {reason}."
    return refuse


UNSUPPORTED = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""Every name here, with its reason."""

globals().update({name: _unsupported(name, reason) for name, reason in UNSUPPORTED.items()})
