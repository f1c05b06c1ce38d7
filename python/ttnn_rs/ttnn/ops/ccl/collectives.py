"""Collectives that are not implemented: calling them raises.

Source: tt-metal `ttnn/cpp/ttnn/operations/ccl`.
"""

from __future__ import annotations

from typing import Final, NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported

_PLAIN: Final = (
    "fused_rms_minimal",
    "reduce_to_root",
    "transformer.exp_ring_joint_scaled_dot_product_attention",
    "transformer.ring_distributed_scaled_dot_product_attention",
    "transformer.ring_joint_scaled_dot_product_attention",
    "transformer.ring_mla",
)
_EXPERIMENTAL: Final = (
    "all_gather_async_reversed",
    "all_gather_concat",
    "all_gather_minimal_matmul_async",
    "all_reduce_create_qkv_heads",
    "all_to_all_async",
    "all_to_all_dispatch_metadata",
    "deepseek_moe_reduce_scatter",
    "deepseek_prefill.combine",
    "deepseek_prefill.combine_fabric2d",
    "deepseek_prefill.compressor_state_exchange",
    "deepseek_prefill.dispatch",
    "deepseek_prefill.dispatch_fabric2d",
    "deepseek_prefill.inbound_socket_service_sync",
    "deepseek_prefill.offset_cumsum",
    "deepseek_prefill.outbound_socket_service_sync",
    "dit_fused_distributed_groupnorm",
    "dit_fused_distributed_groupnorm_create_stats_buffer",
    "dit_fused_distributed_layernorm",
    "dit_fused_distributed_layernorm_create_stats_buffer",
    "dit_fused_distributed_rmsnorm",
    "dit_fused_distributed_rmsnorm_create_stats_buffer",
    "halo_scatter",
    "high_bw_all_gather",
    "llama_all_gather_matmul_async",
    "llama_reduce_scatter",
    "llama_rs_create_heads",
    "llama_rs_matmul",
    "matmul_reduce_scatter_async",
    "minimal_matmul_strided_reduce_scatter_async",
    "neighbor_pad_halo",
    "recv_async_h2d",
    "reduce_scatter_minimal_direct_create_persistent_buffers",
    "reduce_scatter_minimal_direct_create_staging_buffer",
    "ring_attention_all_gather_async",
    "ring_indexer_score_dsa",
    "selective_reduce_combine",
    "send_async_d2h",
    "strided_all_gather_async",
    "strided_all_gather_minimal_matmul_async",
    "strided_reduce_scatter_async",
)


def _refuse(name: str) -> NoReturn:
    # The last line is that of the official package on a chip without others.
    raise UnsupportedError(
        f"{name}: this collective is not implemented; docs/meshes.md lists those that are. Leave it out on one "
        "chip.\ninfo:\nTrying to get un-initialized fabric context",
        "unimplemented",
    )


for _name in (*_PLAIN, *(f"experimental.{name}" for name in _EXPERIMENTAL)):
    declare_unsupported(_name, _refuse)
