"""Names of the official package that are not here, so that asking for one says why.

Source: public names of ttnn 0.81.1.
"""

from __future__ import annotations

from ttnn.base.exceptions import MissingNameError


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SEVERAL_CHIPS = _names(
    """
    D2DStageGateConfig D2DStageGateDescriptor D2DStreamService D2DStreamServiceReceiver D2DStreamServiceSender
    D2HSocket D2HStreamService FabricNodeId FabricRouterConfig H2DSocket H2DStreamService
    InterProcessCounterChannel LayerAckService Mcast McastConfig McastExplicitFixedSenderConfig
    McastFixedSenderConfig McastRotatingSenderConfig MeshId MeshSocket SocketConfig SocketConnection
    SocketMemoryConfig SubcontextId all_broadcast all_gather all_reduce all_to_all_combine all_to_all_dispatch
    attach_absent_mcast broadcast cluster compute_distribution_to_mesh_mapping compute_fabric_connection_rt_args
    create_socket_pair disaggregation distributed_context_allgather_int distributed_context_barrier
    distributed_context_get_rank distributed_context_get_size distributed_context_is_initialized
    distributed_context_local_to_world_rank distributed_context_recv_bytes distributed_context_send_bytes
    distributed_context_subcontext_count distributed_context_subcontext_id distributed_context_subcontext_size
    distributed_context_subcontext_sizes distributed_context_world_rank distributed_context_world_size
    fabric_connection_rt_args fabric_connection_rt_args_size get_all_fabric_mesh_ids get_all_mgd_fabric_types
    get_eth_forwarding_direction get_fabric_config get_fabric_kernel_defines get_forwarding_link_indices
    get_num_links get_physical_mesh_shapes get_tt_fabric_max_payload_size_bytes
    get_tt_fabric_packet_header_size_bytes get_usable_topology init_distributed_context
    layer_norm_post_all_gather layer_norm_pre_all_gather mesh_partition point_to_point reduce_scatter
    reduce_to_root rms_norm_post_all_gather rms_norm_pre_all_gather set_fabric_config setup_fabric_connection
    setup_routing_plane_connection using_distributed_env
    """
)
_TOOLS = _names(
    """
    LightMetalReplay ReadDeviceProfiler apply_device_delay comparison dump_stack_trace_on_segfault
    get_all_programs_perf_data get_latest_programs_perf_data graph graph_report light_metal_begin_capture
    light_metal_end_capture model_preprocessing operation_tracer profiler start_tracy_zone stop_tracy_zone
    test_hang_device_operation torch_tracer tracer tracy_frame tracy_message visualize_mesh_device
    visualize_system_mesh visualize_tensor
    """
)
_NOT_BUILT = _names(
    """
    ChunkGdnFusedProgramConfig ChunkGdnMonoProgramConfig ChunkGdnPhasedProgramConfig Conv1dConfig Conv2dConfig
    Conv2dSliceConfig Conv3dConfig IndexerScoreProgramConfig LayerNormDeviceOperation LayerNormInputs
    LayerNormMultiCoreProgramFactory LayerNormParams LayerNormShardedProgramFactory MatmulDeviceOperation
    MatmulInputs MatmulParams MeshProgramDescriptor MeshTraceId Op2DSliceConfig OverlappedTensor
    PagedCacheGeometryOverride QkvCausalConv1dSiluProgramConfig SliceDeviceOperation SliceInputs SliceParams
    SliceTileProgramFactory SlidingWindowParallelConfig YUVCoefficients adaptive_avg_pool2d adaptive_max_pool2d
    avg_pool2d batch_norm bcast begin_trace_capture bernoulli bitcast chunk
    composite_example composite_example_multiple_return compute_program_descriptor_hash concat
    conv1d conv2d conv_transpose2d create_global_circular_buffer create_global_semaphore
    create_group_norm_input_mask create_group_norm_input_negative_mask create_group_norm_weight_bias_rm
    create_layer_norm_reciprocals create_layernorm_program_config create_matmul_attributes cumprod cumsum
    dequantize determine_expected_group_norm_dram_grid_size
    determine_expected_group_norm_sharded_config_and_grid_size dram_group_norm_params_from_torch dram_prefetcher
    element_size ema embedding end_trace_capture execute_trace expand experimental fill_cache
    fill_implicit_tile_padding fill_ones_rm fill_rm fold from_buffer fused_rms_minimal gather get_cb_address
    get_conv_output_dim get_global_semaphore_address get_group_norm_cores_across_channel
    get_optimal_worker_cores_for_sharded_tensor global_avg_pool2d grid_sample group_norm index_fill
    index_fill_new indexed_fill interleaved_to_sharded_partial is_trace_capture_active kv_cache layer_norm
    manual_seed matmul_batched_weights matmul_select_program_factory max_pool2d moe moe_expert_token_remap
    moe_routing_remap moreh_abs_pow moreh_adam moreh_adamw moreh_arange moreh_bmm moreh_bmm_backward
    moreh_clip_grad_norm moreh_cumsum moreh_cumsum_backward moreh_dot moreh_dot_backward moreh_fold moreh_full
    moreh_full_like moreh_getitem moreh_group_norm moreh_group_norm_backward moreh_layer_norm
    moreh_layer_norm_backward moreh_linear moreh_linear_backward moreh_logsoftmax moreh_logsoftmax_backward
    moreh_matmul moreh_matmul_backward moreh_mean moreh_mean_backward moreh_nll_loss moreh_nll_loss_backward
    moreh_nll_loss_unreduced_backward moreh_norm moreh_norm_backward moreh_sgd moreh_softmax
    moreh_softmax_backward moreh_softmin moreh_softmin_backward moreh_sum moreh_sum_backward narrow nonzero
    normalize_global normalize_hw plus_one prepare_conv_bias prepare_conv_transpose2d_bias
    prepare_conv_transpose2d_weights prepare_conv_weights prepare_grid_sample_grid quantize rand
    randn release_trace repeat repeat_interleave requantize reset_global_semaphore_value reshape_on_device
    rgb_to_yuv rms_norm roll rotate sampling scale_causal_mask_hw_dims_softmax_in_place scale_mask_softmax
    scale_mask_softmax_in_place scatter scatter_add sharded_to_interleaved_partial snake_beta
    softmax_in_place sort sparse_matmul split stack std std_hw topk tosa_gather tosa_scatter transformer
    ttnn_dtype_to_torch_dtype uniform update_cache upsample var var_hw yuv_bt601_coefficients
    yuv_bt709_coefficients
    """
)


def missing(name: str) -> AttributeError:
    """Return the error for a name that `ttnn` does not have: one that says why if the official package has it."""
    if name in _SEVERAL_CHIPS:
        return MissingNameError(
            f"ttnn.{name}: chips that work together are not modelled; a mesh has one chip here", "unimplemented"
        )
    if name in _TOOLS:
        return MissingNameError(
            f"ttnn.{name}: captured graphs, their reports, traces of models and profiles are not built yet; programs "
            "of kernels report their time (ttnn.metal)",
            "unimplemented",
        )
    if name in _NOT_BUILT:
        return MissingNameError(
            f"ttnn.{name}: the official package has it, here it is not built yet; ttnn.query_registered_operations() "
            "lists what is",
            "unimplemented",
        )
    return AttributeError(f"module 'ttnn' has no attribute {name!r}", name=name)
