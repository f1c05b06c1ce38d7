"""Operators with their arguments and types. Written by `cargo xtask stubs` from the registry."""
# ruff: noqa: N803
# fmt: off

from collections.abc import Sequence
from typing import overload

from ttnn.base.activation import Activation, UnaryWithParam
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.conv_config import Conv2dConfig, Conv3dConfig, Op2DSliceConfig
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreRangeSet
from ttnn.base.enums import DataType, Layout, MathFidelity, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.op_enums import ReduceType, UnaryOpType
from ttnn.base.program_config import (
    LayerNormDefaultProgramConfig,
    LayerNormShardedMultiCoreProgramConfig,
    MinimalMatmulConfig,
    PagedCacheGeometryOverride,
    SDPAProgramConfig,
    SoftmaxDefaultProgramConfig,
    SoftmaxShardedMultiCoreProgramConfig,
)
from ttnn.base.shape import Shape
from ttnn.base.system_enums import TileReshapeMapMode, Topology
from ttnn.base.tile import Tile
from ttnn.device.coordinates import MeshCoordinate, SubDeviceId
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.semaphores import GlobalSemaphore
from ttnn.metal.sockets import MeshSocket
from ttnn.operation.registry import FastOperation
from ttnn.ops.matmul.configs import AnyProgramConfig
from ttnn.tensor.tensor import Tensor

class _ExperimentalAttnMatmul(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, compute_with_storage_grid_size: CoreCoord,
        dtype: DataType | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalAttnMatmulFromCache(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, num_tokens: int, transpose_hw: bool,
        compute_with_storage_grid_size: CoreCoord, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalBroadcastTo(FastOperation):
    def __call__(self, input: Tensor, output_shape: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None,
        output: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalConcatenateHeads(FastOperation):
    def __call__(self, input_tensor: Tensor, compute_with_storage_grid_size: CoreCoord, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalConv3D(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, *, device: MeshDevice | None = None,
        bias_tensor: Tensor | None = None, config: Conv3dConfig | None = None, dtype: DataType, output_channels: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int] = ..., padding: Shape | Sequence[int] = ...,
        dilation: Shape | Sequence[int] = ..., padding_mode: str = 'zeros', groups: int = 1,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        halo_buffer: Tensor | None = None, logical_h_mask: int = 0, logical_w_mask: int = 0,
        pad_offset_tensor: Tensor | None = None, output_pad_h: int = 0, output_pad_w: int = 0,
        weight_lo_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalConvertToChw(FastOperation):
    def __call__(self, input: Tensor, *, dtype: DataType | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalConvertToHwc(FastOperation):
    def __call__(self, input: Tensor, *, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalCreateQkvHeads(FastOperation):
    def __call__(self, input: Tensor, *, num_heads: int, num_kv_heads: int | None = None,
        transpose_k_heads: bool = True, memory_config: MemoryConfig | None = None,
        output_tensors: Sequence[Tensor] | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalCreateQkvHeadsFromSeparateTensors(FastOperation):
    def __call__(self, input: Tensor, input_kv: Tensor, *, num_heads: int, num_kv_heads: int | None = None,
        transpose_k_heads: bool = True, memory_config: MemoryConfig | None = None,
        output_tensors: Sequence[Tensor] | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalDeepseekGroupedGate(FastOperation):
    def __call__(self, scores: Tensor, bias: Tensor, *, n_groups: int = 8, summed_experts_per_group: int = 2,
        topk_groups: int = 4, n_activated_experts: int = 8, route_scale: float = 1.0,
        epsilon: float = 9.999999682655225e-21, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _ExperimentalDeepseekMoeFastReduceNc(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, split_size: int, output_memory_config: MemoryConfig = ...,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _ExperimentalDeepseekPrefillExtract(FastOperation):
    def __call__(self, global_tensor: Tensor, start: Tensor, counts: Tensor, global_expert_idx_table: Tensor, *,
        local_expert_id: int, max_dispatched_tokens_per_expert: int, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalDeepseekPrefillInsert(FastOperation):
    def __call__(self, global_tensor: Tensor, local_tensor: Tensor, start: Tensor, counts: Tensor,
        global_expert_idx_table: Tensor, *, local_expert_id: int, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalDeepseekPrefillPostCombineReduce(FastOperation):
    def __call__(self, combine_output: Tensor, weights: Tensor, indices: Tensor | None = None,
        expert_dispatch_table: Tensor | None = None, *, expert_dim: int = 3,
        output_memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalDitLayernormPostAllgather(FastOperation):
    def __call__(self, input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-05, weight: Tensor | None = None,
        bias: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, dtype: DataType | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalDitLayernormPreAllgather(FastOperation):
    def __call__(self, input_tensor: Tensor, recip_tensor: Tensor, *, dtype: DataType = ...,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalDitMinimalMatmulAddcmulFused(FastOperation):
    def __call__(self, matmul_input_tensor: Tensor, matmul_weight_tensor: Tensor, scalar: float,
        addcmul_input_tensor1: Tensor, addcmul_input_tensor2: Tensor, bias_tensor: Tensor | None = None, *,
        config: MinimalMatmulConfig | None = None, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalDitRmsNormUnaryFused(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, epsilon: float = 9.999999747378752e-06, weight: Tensor | None = None,
        bias: Tensor | None = None, residual_input_tensor: Tensor | None = None, *,
        memory_config: MemoryConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, activation: Activation | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, epsilon: float = 9.999999747378752e-06, weight: Tensor | None = None,
        bias: Tensor | None = None, residual_input_tensor: Tensor | None = None, *,
        memory_config: MemoryConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, activation: str | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalDropout(FastOperation):
    def __call__(self, input_tensor: Tensor, probability: float, scale: float, seed: int, *,
        use_per_device_seed: bool = True, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalFastReduceNc(FastOperation):
    def __call__(self, input: Tensor, *, dims: Shape | Sequence[int] = ..., output: Tensor | None = None,
        memory_config: MemoryConfig = ..., compute_kernel_config: WormholeComputeKernelConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalFastReduceNcSplit(FastOperation):
    def __call__(self, input: Tensor, *, dim: int, split_output_width: int, memory_config: MemoryConfig = ...,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor]: ...

class _ExperimentalGroupAttnMatmul(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, compute_with_storage_grid_size: CoreCoord,
        memory_config: MemoryConfig | None = ..., dtype: DataType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, optional_output_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalHcSumReduce(FastOperation):
    def __call__(self, input: Tensor, *, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        math_fidelity: MathFidelity | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalIntimg(FastOperation):
    def __call__(self, input_tensor: Tensor, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalIsin(FastOperation):
    def __call__(self, elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False,
        out: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalMinimalMatmul(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, *, bias_tensor: Tensor | None = None,
        fused_activation: Activation | None = None, config: MinimalMatmulConfig | None = None,
        memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, fuse_swiglu: bool = False,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalMinimalMatmulSplit(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, *, chunks: int = 3, dim: int = -1,
        bias_tensor: Tensor | None = None, fused_activation: Activation | None = None,
        config: MinimalMatmulConfig | None = None, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        fuse_swiglu: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...

class _ExperimentalNlpConcatHeads(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalNlpConcatHeadsBoltz(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalNlpConcatHeadsDecode(FastOperation):
    def __call__(self, input_tensor: Tensor, *, num_heads: int, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalNlpCreateQHeadsSplit(FastOperation):
    def __call__(self, input: Tensor, *, num_heads: int, split_head_dim: int, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor]: ...

class _ExperimentalNlpCreateQkvHeads(FastOperation):
    def __call__(self, input: Tensor, input_kv: Tensor | None = None, *, num_heads: int,
        num_kv_heads: int | None = None, transpose_k_heads: bool = True, kv_tied: bool = False,
        memory_config: MemoryConfig | None = None, output_tensors: Sequence[Tensor] | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalNlpCreateQkvHeadsBoltz(FastOperation):
    def __call__(self, input: Tensor, input_kv: Tensor | None = None, *, num_heads: int,
        num_kv_heads: int | None = None, transpose_k_heads: bool = True, memory_config: MemoryConfig | None = None,
        output_tensors: Sequence[Tensor] | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalNlpCreateQkvHeadsDecode(FastOperation):
    def __call__(self, input_tensor: Tensor, *, num_heads: int, num_kv_heads: int | None = None,
        output_tensors: Sequence[Tensor] | None = None, overlap_qk_coregrid: bool | None = True,
        batch_offset: Tensor | None = None, slice_size: int | None = None, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalNlpCreateQkvHeadsFalcon7B(FastOperation):
    def __call__(self, input: Tensor, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalNlpCreateQkvHeadsSegformer(FastOperation):
    def __call__(self, input: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensors: Sequence[Tensor] | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalNlpKvCacheLoadSlice(FastOperation):
    def __call__(self, input_tensor: Tensor, *, seq_len_start: int, seq_len_end: int,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalPaddedSlice(FastOperation):
    def __call__(self, input_tensor: Tensor, padded_slice_start: Shape | Sequence[int],
        padded_slice_end: Shape | Sequence[int], padded_slice_step: Shape | Sequence[int] | None = None, *,
        memory_config: MemoryConfig, output_tensor: Tensor | None = None, pad_value: float | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalPagedFillCache(FastOperation):
    def __call__(self, cache_tensor: Tensor, input_tensor: Tensor, page_table: Tensor, *,
        batch_idx_tensor: Tensor | None = None, batch_idx: int = 0,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        mesh_coords: set[MeshCoordinate] | None = None, block_size: int | None = None,
        cache_position_modulo: int | None = None, valid_seq_len_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalPagedFusedUpdateCache(FastOperation):
    def __call__(self, cache_tensor1: Tensor, input_tensor1: Tensor, cache_tensor2: Tensor, input_tensor2: Tensor, *,
        update_idxs: Shape | Sequence[int] = ..., update_idxs_tensor: Tensor | None = None,
        share_cache: bool | None = None, page_table: Tensor | None = None, batch_offset: int = 0,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        mesh_coords: set[MeshCoordinate] | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor]: ...

class _ExperimentalPagedUpdateCache(FastOperation):
    def __call__(self, cache_tensor: Tensor, input_tensor: Tensor, *, update_idxs: Shape | Sequence[int] = ...,
        update_idxs_tensor: Tensor | None = None, share_cache: bool | None = None, page_table: Tensor | None = None,
        batch_offset: int = 0, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        mesh_coords: set[MeshCoordinate] | None = None, block_size: int | None = None, num_kv_heads: int | None = None,
        cache_position_modulo: int | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalPrefixScan(FastOperation):
    def __call__(self, a: Tensor, bx: Tensor, h_prev: Tensor, *, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, math_fidelity: MathFidelity | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalPrepareConv3DWeights(FastOperation):
    def __call__(self, weight_tensor: Tensor, *, groups: int = 1, C_in_block: int = 0, alignment: int = 32,
        device: MeshDevice | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalRepeatAndInterleaveEltwiseMul(FastOperation):
    def __call__(self, a: Tensor, b: Tensor, *, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, math_fidelity: MathFidelity | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalRotaryEmbedding(FastOperation):
    def __call__(self, input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, token_index: int | None = None, *,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalRotaryEmbeddingHf(FastOperation):
    def __call__(self, input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, *, is_decode_mode: bool = False,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalRotaryEmbeddingLlama(FastOperation):
    def __call__(self, input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, trans_mat: Tensor, *,
        is_decode_mode: bool = False, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalRotaryEmbeddingLlamaFusedQk(FastOperation):
    def __call__(self, q_input_tensor: Tensor, k_input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor,
        trans_mat: Tensor, *, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor]: ...

class _ExperimentalRotateHalf(FastOperation):
    def __call__(self, input: Tensor, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalSliceWrite(FastOperation):
    def __call__(self, input_tensor: Tensor, output_tensor: Tensor, start: Shape | Sequence[int],
        end: Shape | Sequence[int], step: Shape | Sequence[int], *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalSplitQueryKeyValueAndSplitHeads(FastOperation):
    def __call__(self, input_tensor: Tensor, compute_with_storage_grid_size: CoreCoord, *,
        memory_config: MemoryConfig | None = None, num_heads: int = 16, output_tensors: Sequence[Tensor] | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalTopkRouterGpt(FastOperation):
    def __call__(self, input_tensor: Tensor, *, weight_tensor: Tensor, bias_tensor: Tensor, k: int = 4,
        num_experts: int = 128, queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor]: ...

class _ExperimentalTransposeRm(FastOperation):
    def __call__(self, input: Tensor, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalTypecast(FastOperation):
    def __call__(self, input_tensor: Tensor, dtype: DataType, memory_config: MemoryConfig | None = None,
        optional_output_tensor: Tensor | None = None, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalView(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, shape: Shape | Sequence[int], *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, N: int, C: int, H: int, W: int, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalWanFusedRmsnormPostAllgather(FastOperation):
    def __call__(self, input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-05, num_heads_per_device: int = 1,
        weight: Tensor | None = None, transformation_mat: Tensor | None = None, rope_cos: Tensor | None = None,
        rope_sin: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, dtype: DataType | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalWanFusedRmsnormPreAllgather(FastOperation):
    def __call__(self, input_tensor: Tensor, *, dtype: DataType = ...,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _KvCacheFillCacheForUserInPlace(FastOperation):
    def __call__(self, cache: Tensor, input: Tensor, batch_index: int, *, update_idx: int = 0,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _KvCacheUpdateCacheForTokenInPlace(FastOperation):
    def __call__(self, cache: Tensor, input: Tensor, update_index: int, batch_offset: int = 0,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TransformerAttentionSoftmax(FastOperation):
    def __call__(self, tensor: Tensor, *, head_size: int | None = None, attention_mask: Tensor | None = None,
        program_config: SoftmaxDefaultProgramConfig | SoftmaxShardedMultiCoreProgramConfig | None = None,
        causal_mask: bool = False, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TransformerChunkedFlashMlaPrefill(FastOperation):
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, head_dim_v: int, page_table_tensor: Tensor,
        chunk_start_idx: int, *, scale: float | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TransformerChunkedScaledDotProductAttention(FastOperation):
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor,
        page_table_tensor: Tensor, chunk_start_idx: int | None = None, *, chunk_start_idx_tensor: Tensor | None = None,
        scale: float | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        paged_cache_geometry: PagedCacheGeometryOverride | None = None, sliding_window_size: int | None = None,
        attention_sink: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _TransformerFlashMlaPrefill(FastOperation):
    @overload
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, head_dim_v: int, *,
        attn_mask: Tensor | None = None, is_causal: bool = True, scale: float | None = None,
        memory_config: MemoryConfig | None = None, program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, *,
        attn_mask: Tensor | None = None, is_causal: bool = True, scale: float | None = None,
        memory_config: MemoryConfig | None = None, program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TransformerFlashMultiLatentAttentionDecode(FastOperation):
    @overload
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor | None, head_dim_v: int,
        *, is_causal: bool = True, attn_mask: Tensor | None = None, cur_pos: Shape | Sequence[int] = ...,
        cur_pos_tensor: Tensor | None = None, attention_sink: Tensor | None = None, scale: float | None = None,
        sliding_window_size: int | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor | None = None, *,
        head_dim_v: int, is_causal: bool = True, attn_mask: Tensor | None = None, cur_pos: Shape | Sequence[int] = ...,
        cur_pos_tensor: Tensor | None = None, attention_sink: Tensor | None = None, scale: float | None = None,
        sliding_window_size: int | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TransformerJointScaledDotProductAttention(FastOperation):
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, joint_tensor_q: Tensor,
        joint_tensor_k: Tensor, joint_tensor_v: Tensor, *, joint_strategy: str, program_config: SDPAProgramConfig,
        scale: float | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor]: ...

class _TransformerPagedFlashMultiLatentAttentionDecode(FastOperation):
    @overload
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor | None, head_dim_v: int,
        page_table_tensor: Tensor, *, is_causal: bool = True, attn_mask: Tensor | None = None,
        cur_pos_tensor: Tensor | None = None, attention_sink: Tensor | None = None, scale: float | None = None,
        sliding_window_size: int | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        paged_cache_geometry: PagedCacheGeometryOverride | None = None, cache_position_modulo: int | None = None,
        spec_multi_pos_tiles: int = 0, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor | None = None, *,
        head_dim_v: int, page_table_tensor: Tensor, is_causal: bool = True, attn_mask: Tensor | None = None,
        cur_pos_tensor: Tensor | None = None, attention_sink: Tensor | None = None, scale: float | None = None,
        sliding_window_size: int | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        paged_cache_geometry: PagedCacheGeometryOverride | None = None, cache_position_modulo: int | None = None,
        spec_multi_pos_tiles: int = 0, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _TransformerPagedScaledDotProductAttentionDecode(FastOperation):
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor,
        page_table_tensor: Tensor, *, is_causal: bool = True, attn_mask: Tensor | None = None,
        cur_pos_tensor: Tensor | None = None, attention_sink: Tensor | None = None, scale: float | None = None,
        sliding_window_size: int | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        paged_cache_geometry: PagedCacheGeometryOverride | None = None, cache_position_modulo: int | None = None,
        spec_multi_pos_tiles: int = 0, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _TransformerScaledDotProductAttention(FastOperation):
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, *,
        attn_mask: Tensor | None = None, is_causal: bool = True, scale: float | None = None,
        sliding_window_size: int | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, attention_sink: Tensor | None = None,
        cu_window_seqlens: Tensor | None = None, windowed_q_token_offset: int = 0,
        windowed_q_token_offset_tensor: Tensor | None = None, output_concat_heads: bool = False,
        attn_mask_block_map: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _TransformerScaledDotProductAttentionDecode(FastOperation):
    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, *,
        is_causal: bool = True, attn_mask: Tensor | None = None, cur_pos: Shape | Sequence[int] = ...,
        cur_pos_tensor: Tensor | None = None, attention_sink: Tensor | None = None, scale: float | None = None,
        sliding_window_size: int | None = None, memory_config: MemoryConfig | None = None,
        program_config: SDPAProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, share_cache: bool | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _TransformerSplitQueryKeyValueAndSplitHeads(FastOperation):
    def __call__(self, input_tensor: Tensor, kv_input_tensor: Tensor | None = None, *, num_heads: int,
        num_kv_heads: int | None = None, transpose_key: bool = True, memory_config: MemoryConfig | None = None,
        use_falcon7b_backend: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _ExperimentalAllGatherAsync(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, dim: int,
        multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore], *, num_links: int | None = None,
        memory_config: MemoryConfig | None = None, topology: Topology = ..., subdevice_id: SubDeviceId | None = None,
        use_optimal_ccl_for_llama: bool = False, barrier_semaphore: GlobalSemaphore | None = None,
        sub_core_grids: CoreRangeSet | None = None, num_workers_per_link: int | None = None,
        num_buffers_per_channel: int | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, persistent_output_buffer: Tensor | None, dim: int,
        multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore], *, num_links: int | None = None,
        memory_config: MemoryConfig | None = None, topology: Topology = ..., subdevice_id: SubDeviceId | None = None,
        cluster_axis: int | None = None, use_optimal_ccl_for_llama: bool = False, use_broadcast: bool = False,
        barrier_semaphore: GlobalSemaphore | None = None, chunks_per_sync: int | None = None,
        num_workers_per_link: int | None = None, num_buffers_per_channel: int | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, persistent_output_buffer: Tensor | None = None, *, dim: int,
        multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore], num_links: int | None = None,
        memory_config: MemoryConfig | None = None, topology: Topology = ..., subdevice_id: SubDeviceId | None = None,
        cluster_axis: int | None = None, use_optimal_ccl_for_llama: bool = False, use_broadcast: bool = False,
        barrier_semaphore: GlobalSemaphore | None = None, chunks_per_sync: int | None = None,
        num_workers_per_link: int | None = None, num_buffers_per_channel: int | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, cluster_axis: int, mesh_device: MeshDevice, topology: Topology,
        multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore], *,
        persistent_output_tensor: Tensor | None = None, num_links: int | None = None,
        memory_config: MemoryConfig | None = None, subdevice_id: SubDeviceId | None = None,
        use_optimal_ccl_for_llama: bool = False, use_broadcast: bool = False,
        barrier_semaphore: GlobalSemaphore | None = None, sub_core_grids: CoreRangeSet | None = None,
        num_workers_per_link: int | None = None, num_buffers_per_channel: int | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalAllGatherMatmulAsync(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, persistent_output_buffer: Tensor | None, dim: int,
        multi_device_global_semaphore: Sequence[GlobalSemaphore], all_gather_core_grid_offset: CoreCoord, *,
        bias: Tensor | None = None, num_links: int | None = 1, memory_config_ag: MemoryConfig | None = None,
        topology: Topology = ..., barrier_semaphore: GlobalSemaphore | None = None,
        subdevice_id: SubDeviceId | None = None, memory_config_mm: MemoryConfig | None = None,
        transpose_a: bool = False, transpose_b: bool = False, dtype: DataType | None = None,
        program_config: AnyProgramConfig | None = None, activation: str | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        chunks_per_sync: int | None = None, num_workers_per_link: int | None = None,
        num_buffers_per_channel: int | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, persistent_output_buffer: Tensor | None = None, *,
        dim: int, multi_device_global_semaphore: Sequence[GlobalSemaphore], all_gather_core_grid_offset: CoreCoord,
        bias: Tensor | None = None, num_links: int | None = 1, memory_config_ag: MemoryConfig | None = None,
        topology: Topology = ..., barrier_semaphore: GlobalSemaphore | None = None,
        subdevice_id: SubDeviceId | None = None, memory_config_mm: MemoryConfig | None = None,
        transpose_a: bool = False, transpose_b: bool = False, dtype: DataType | None = None,
        program_config: AnyProgramConfig | None = None, activation: str | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        chunks_per_sync: int | None = None, num_workers_per_link: int | None = None,
        num_buffers_per_channel: int | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _ExperimentalAllReduceAsync(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, num_devices: int, barrier_semaphores: Sequence[GlobalSemaphore],
        rs_global_semaphores: Sequence[GlobalSemaphore], ag_global_semaphores: Sequence[GlobalSemaphore],
        math_op: ReduceType, *, memory_config: MemoryConfig | None = None, topology: Topology | None = ...,
        num_links: int | None = None, subdevice_id: SubDeviceId | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, cluster_axis: int | None, mesh_device: MeshDevice,
        barrier_semaphores: Sequence[GlobalSemaphore] | None, rs_global_semaphores: Sequence[GlobalSemaphore] | None,
        ag_global_semaphores: Sequence[GlobalSemaphore] | None, math_op: ReduceType, *,
        memory_config: MemoryConfig | None = None, topology: Topology | None = ..., num_links: int | None = None,
        subdevice_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, cluster_axis: int | None = None, *, mesh_device: MeshDevice,
        barrier_semaphores: Sequence[GlobalSemaphore] | None = None,
        rs_global_semaphores: Sequence[GlobalSemaphore] | None = None,
        ag_global_semaphores: Sequence[GlobalSemaphore] | None = None, math_op: ReduceType,
        memory_config: MemoryConfig | None = None, topology: Topology | None = ..., num_links: int | None = None,
        subdevice_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, buffer_tensor: Tensor, cluster_axis: int, mesh_device: MeshDevice,
        multi_device_global_semaphore: GlobalSemaphore, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, topology: Topology | None = ..., num_links: int | None = None,
        subdevice_id: SubDeviceId | None = None, use_noc1_only: bool = False, use_optimal_ccl_for_llama: bool = False,
        fp32_dest_acc: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalAllToAllAsyncGeneric(FastOperation):
    def __call__(self, input_tensor: Tensor, in_dim: int, out_dim: int, *,
        persistent_output_buffer: Tensor | None = None, num_links: int | None = None,
        memory_config: MemoryConfig | None = None, topology: Topology | None = None,
        subdevice_id: SubDeviceId | None = None, cluster_axis: int | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalNeighborPadAsync(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: Shape | Sequence[int], padding_left: Shape | Sequence[int],
        padding_right: Shape | Sequence[int], padding_mode: str, cluster_axis: Shape | Sequence[int],
        neighbor_semaphore: Sequence[GlobalSemaphore], barrier_semaphore: Sequence[GlobalSemaphore], *,
        num_links: Shape | Sequence[int] | None = None, memory_config: MemoryConfig | None = None,
        topology: Topology | None = ..., persistent_output_buffer: Tensor | None = None, logical_h: int = 0,
        t_front_pad: int = 0, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalRecvAsync(FastOperation):
    def __call__(self, output_tensor: Tensor, mesh_socket: MeshSocket, *, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _ExperimentalReduceScatterMinimalAsync(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, persistent_output_buffers: Sequence[Tensor] | None, dim: int,
        multi_device_global_semaphore: Sequence[GlobalSemaphore], *, barrier_semaphore: GlobalSemaphore | None = None,
        num_links: int | None = None, memory_config: MemoryConfig | None = None,
        intermediate_memory_config: MemoryConfig | None = None, topology: Topology = ...,
        subdevice_id: SubDeviceId | None = None, cluster_axis: int | None = None, chunks_per_sync: int | None = None,
        num_workers_per_link: int | None = None, num_buffers_per_channel: int | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, persistent_output_buffers: Sequence[Tensor] | None = None, *, dim: int,
        multi_device_global_semaphore: Sequence[GlobalSemaphore], barrier_semaphore: GlobalSemaphore | None = None,
        num_links: int | None = None, memory_config: MemoryConfig | None = None,
        intermediate_memory_config: MemoryConfig | None = None, topology: Topology = ...,
        subdevice_id: SubDeviceId | None = None, cluster_axis: int | None = None, chunks_per_sync: int | None = None,
        num_workers_per_link: int | None = None, num_buffers_per_channel: int | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalReduceScatterMinimalAsyncCreateIntermediateBuffer(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, topology: Topology = ..., cluster_axis: int | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _ExperimentalReduceScatterMinimalDirect(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, cluster_axis: int | None = None, num_links: int | None = None,
        memory_config: MemoryConfig | None = None, persistent_buffers: Sequence[Tensor] | None = None,
        subdevice_id: SubDeviceId | None = None, sub_core_grid: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalSendAsync(FastOperation):
    def __call__(self, input_tensor: Tensor, mesh_socket: MeshSocket, *, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _ExperimentalSliceReshardAsync(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, output_dim_offset: int, output_dim_shape: int, cluster_axis: int,
        final_semaphore: GlobalSemaphore, barrier_semaphore: GlobalSemaphore, *, num_links: int | None = 1,
        memory_config: MemoryConfig | None = None, topology: Topology | None = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarAdd(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = True,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = True,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: int | float, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = True,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarAddInPlace(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarAddalpha(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarAddmm(FastOperation):
    def __call__(self, input_tensor: Tensor, mat1_tensor: Tensor, mat2_tensor: Tensor, *, alpha: float = 1.0,
        beta: float = 1.0, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        program_config: AnyProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarAtan2(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarAvgPool2D(FastOperation):
    def __call__(self, input_tensor: Tensor, batch_size: int, input_h: int, input_w: int, channels: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int], padding: Shape | Sequence[int],
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *,
        memory_config: MemoryConfig | None = None, dram_slice_config: Op2DSliceConfig | None = None,
        applied_shard_scheme: TensorMemoryLayout | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, deallocate_input: bool = False,
        reallocate_halo_output: bool = True, dtype: DataType = ..., output_layout: Layout = ...,
        config_tensor_in_dram: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarBiasGelu(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarBiasGeluInPlace(FastOperation):
    @overload
    def __call__(self, input_a: Tensor, input_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarBitwiseAnd(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_b: int, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarConv2D(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, *, device: MeshDevice | None = None,
        in_channels: int, out_channels: int, batch_size: int, input_height: int, input_width: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int] = ..., padding: Shape | Sequence[int] = ...,
        dilation: Shape | Sequence[int] = ..., groups: int = 1, dtype: DataType | None = None,
        bias_tensor: Tensor | None = None, conv_config: Conv2dConfig | None = None,
        compute_config: WormholeComputeKernelConfig | None = None, memory_config: MemoryConfig | None = None,
        slice_config: Op2DSliceConfig | None = None, return_output_dim: bool = False,
        return_weights_and_bias: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor | tuple[object, ...]: ...

class _ExperimentalQuasarDiv(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, value: int | float, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: int | float, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarDivNoNan(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, value: int | float, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarDivideInPlace(FastOperation):
    @overload
    def __call__(self, input_a: Tensor, input_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = False, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = False, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarEq(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarFmod(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, scalar: int | float, *, memory_config: MemoryConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarFold(FastOperation):
    def __call__(self, input: Tensor, stride_h: int, stride_w: int, use_transpose_as_fold: bool = False,
        output_shape: Shape | Sequence[int] | None = None, padding: Shape | Sequence[int] = ...,
        grid_size: CoreRangeSet | None = None, override_memory_config: MemoryConfig | None = None,
        collapse_output: bool = False, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarGcd(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarInterleavedToSharded(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, grid: CoreCoord | tuple[int, int] | CoreRangeSet,
        shard_shape: Shape | Sequence[int], shard_scheme: TensorMemoryLayout, shard_orientation: ShardOrientation,
        output_dtype: DataType | None = None, *, keep_l1_aligned: bool | None = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, sharded_memory_config: MemoryConfig, output_dtype: DataType | None = None,
        *, keep_l1_aligned: bool | None = False, preallocated_output: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarIsclose(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, rtol: float = 9.999999747378752e-06,
        atol: float = 9.99999993922529e-09, equal_nan: bool = False, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarLinear(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, bias: Tensor | None = None,
        transpose_a: bool = False, transpose_b: bool = False, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, program_config: AnyProgramConfig | None = None,
        activation: str | UnaryWithParam | UnaryOpType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, global_cb: object | None = None,
        sub_device_id: SubDeviceId | None = None, prefetcher_pipes: Sequence[object] = ...,
        in0_column_offset: int | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarMatmul(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, transpose_a: bool = False,
        transpose_b: bool = False, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        program_config: AnyProgramConfig | None = None, activation: str | UnaryWithParam | UnaryOpType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, global_cb: object | None = None,
        sub_device_id: SubDeviceId | None = None, prefetcher_pipes: Sequence[object] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarMaxPool2D(FastOperation):
    def __call__(self, input_tensor: Tensor, batch_size: int, input_h: int, input_w: int, channels: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int], padding: Shape | Sequence[int],
        dilation: Shape | Sequence[int], ceil_mode: bool = False, *, memory_config: MemoryConfig | None = None,
        dram_slice_config: Op2DSliceConfig | None = None, applied_shard_scheme: TensorMemoryLayout | None = None,
        deallocate_input: bool = False, reallocate_halo_output: bool = True, return_indices: bool = False,
        dtype: DataType = ..., output_layout: Layout = ..., config_tensor_in_dram: bool = False,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor | list[Tensor]: ...

class _ExperimentalQuasarMaximum(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_b: int | float, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarMultiply(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: int | float, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarPad(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, padding: Sequence[Sequence[int]], value: float, *,
        use_multicore: bool = True, memory_config: MemoryConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, output_padded_shape: Shape | Sequence[int],
        input_tensor_start: Shape | Sequence[int], value: float, *, use_multicore: bool = True,
        memory_config: MemoryConfig | None = None, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarPolyval(FastOperation):
    def __call__(self, input_tensor_a: Tensor, coeffs: Sequence[float], *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarPow(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, exponent: int, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, exponent: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, exponent: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: float, exponent: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarPrelu(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, weight: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, weight: int | float, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, weight: Sequence[float], *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarReshape(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, shape: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None,
        pad_value: int | float | None = None, reshape_tile_mode: TileReshapeMapMode = ...,
        sub_core_grids: CoreRangeSet | None = None, skip_padding_fill: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, logical_shape: Shape | Sequence[int], padded_shape: Shape | Sequence[int],
        *, memory_config: MemoryConfig | None = None, pad_value: int | float | None = None,
        reshape_tile_mode: TileReshapeMapMode = ..., sub_core_grids: CoreRangeSet | None = None,
        skip_padding_fill: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarReshard(FastOperation):
    def __call__(self, input_tensor: Tensor, output_memory_config: MemoryConfig, output_tensor: Tensor | None = None, *,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarRsub(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_b: int | float, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., fast_and_approximate_mode: bool | None = True,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., fast_and_approximate_mode: bool | None = True,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarRsubInPlace(FastOperation):
    @overload
    def __call__(self, input_a: Tensor, input_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarShardedToInterleaved(FastOperation):
    def __call__(self, input_tensor: Tensor, memory_config: MemoryConfig | None = None,
        output_dtype: DataType | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarSlice(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, starts: Tensor, ends: Tensor,
        slice_step: Shape | Sequence[int] | None = None, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, pad_value: float | None = None, slice_dim: int | None = None,
        num_devices: int | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, starts: Shape | Sequence[int], ends: Shape | Sequence[int],
        steps: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        pad_value: float | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, slice_start: Shape | Sequence[int], slice_end: Shape | Sequence[int],
        slice_step: Shape | Sequence[int] | None = None, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, pad_value: float | None = None, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarSparseMatmul(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, sparsity: Tensor,
        program_config: AnyProgramConfig, nnz: int | None = None, is_input_a_sparse: bool = False,
        is_input_b_sparse: bool = True, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, global_cb: object | None = None,
        sub_device_id: SubDeviceId | None = None, indices: Tensor | None = None, bias: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarTilize(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, use_multicore: bool = True, use_low_perf: bool = False, tile: Tile = ...,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarTilizeWithValPadding(FastOperation):
    def __call__(self, input_tensor: Tensor, output_tensor_shape: Shape | Sequence[int], pad_value: int | float, *,
        memory_config: MemoryConfig | None = None, dtype: DataType | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarTilizeWithZeroPadding(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        output_dtype: DataType | None = None, use_multicore: bool = True, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarToLayout(FastOperation):
    def __call__(self, tensor: Tensor, layout: Layout, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, sub_core_grids: CoreRangeSet | None = None, pad_value: float = 0.0,
        *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarToMemoryConfig(FastOperation):
    def __call__(self, tensor: Tensor, memory_config: MemoryConfig, dtype: DataType | None = None,
        output_tensor: Tensor | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarTranspose(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, dim1: int, dim2: int, *, memory_config: MemoryConfig | None = None,
        pad_value: float = 0.0, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim1: int, dim2: int, pad_value: float = 0.0, *,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarTypecast(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, dtype: DataType, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, input_dtype: DataType, output_dtype: DataType, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarUntilize(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        use_pack_untilize: bool, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalQuasarUntilizeWithUnpadding(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, output_tensor_end: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, output_tensor_end: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, use_multicore: bool = True, use_pack_untilize: bool,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _InExperimental:
    class _InExperimentalDeepseekPrefill:
        extract: _ExperimentalDeepseekPrefillExtract
        """Return the rows of one expert, rounded up to tiles."""
        insert: _ExperimentalDeepseekPrefillInsert
        """Write the rows of one expert; return the tensor."""
        post_combine_reduce: _ExperimentalDeepseekPrefillPostCombineReduce
        """Return weighted sums of the rows of each token's experts, tiled."""
        combine: FastOperation
        combine_fabric2d: FastOperation
        compressor_state_exchange: FastOperation
        dispatch: FastOperation
        dispatch_fabric2d: FastOperation
        inbound_socket_service_sync: FastOperation
        offset_cumsum: FastOperation
        outbound_socket_service_sync: FastOperation
        pack_scaled_fp8_kv_cache: FastOperation
        per_token_cast_back: FastOperation
        per_token_cast_to_fp8: FastOperation
    deepseek_prefill: _InExperimentalDeepseekPrefill
    class _InExperimentalQuasar:
        class _InExperimentalQuasarTransformer:
            chunked_flash_mla_prefill: _TransformerChunkedFlashMlaPrefill
            """Return causal attention from position `chunk_start_idx` over a paged latent cache."""
            chunked_scaled_dot_product_attention: _TransformerChunkedScaledDotProductAttention
            """Return causal attention from position `chunk_start_idx` over a paged cache."""
            flash_mla_prefill: _TransformerFlashMlaPrefill
            """Return attention with values from the keys' first columns, or a tensor."""
            flash_multi_latent_attention_decode: _TransformerFlashMultiLatentAttentionDecode
            """Return decode attention whose values are the first columns of the keys."""
            joint_scaled_dot_product_attention: _TransformerJointScaledDotProductAttention
            """Return the attention of two sequences over both's keys and values."""
            paged_flash_multi_latent_attention_decode: _TransformerPagedFlashMultiLatentAttentionDecode
            """Return decode attention over a paged cache whose values are key columns."""
            paged_scaled_dot_product_attention_decode: _TransformerPagedScaledDotProductAttentionDecode
            """Return attention of one query per user over blocked keys, values."""
            scaled_dot_product_attention: _TransformerScaledDotProductAttention
            """Return `softmax(scale * q @ k.T + attn_mask) @ v`, head by head."""
            scaled_dot_product_attention_decode: _TransformerScaledDotProductAttentionDecode
            """Return attention of one query per user over earlier keys."""
        transformer: _InExperimentalQuasarTransformer
        add: _ExperimentalQuasarAdd
        """Return the element-wise sum `a + b`, with broadcasting."""
        add_: _ExperimentalQuasarAddInPlace
        """Write the sum `a + b` to the first operand."""
        addalpha: _ExperimentalQuasarAddalpha
        """Return the element-wise sum `a + alpha * b`, with broadcasting."""
        addmm: _ExperimentalQuasarAddmm
        """Return `beta * input_tensor + alpha * (mat1_tensor @ mat2_tensor)`."""
        atan2: _ExperimentalQuasarAtan2
        """Return the element-wise angle `atan2(a, b)` in radians, in [-pi, pi], with broadcasting."""
        avg_pool2d: _ExperimentalQuasarAvgPool2D
        """Return the average pooling of images, channel by channel."""
        bias_gelu: _ExperimentalQuasarBiasGelu
        """Return the element-wise GELU `gelu(a + b)` of the sum, with broadcasting."""
        bias_gelu_: _ExperimentalQuasarBiasGeluInPlace
        """Write the GELU `gelu(a + b)` of the sum to the first operand."""
        bitwise_and: _ExperimentalQuasarBitwiseAnd
        """Return the element-wise bitwise AND of `a` and `b`, with broadcasting."""
        bitwise_left_shift: _ExperimentalQuasarBitwiseAnd
        """Return the element-wise left shift of `a` by `b` bits, with broadcasting."""
        bitwise_or: _ExperimentalQuasarBitwiseAnd
        """Return the element-wise bitwise OR of `a` and `b`, with broadcasting."""
        bitwise_right_shift: _ExperimentalQuasarBitwiseAnd
        """Return the element-wise arithmetic right shift of `a` by `b`, with broadcasting."""
        bitwise_xor: _ExperimentalQuasarBitwiseAnd
        """Return the element-wise bitwise XOR of `a` and `b`, with broadcasting."""
        conv2d: _ExperimentalQuasarConv2D
        """Return the convolution of images with `weight_tensor`, plus `bias_tensor`."""
        div: _ExperimentalQuasarDiv
        """Return the element-wise quotient `a / b`, with broadcasting."""
        div_no_nan: _ExperimentalQuasarDivNoNan
        """Return the element-wise quotient `a / b`, 0 where `b` is 0, with broadcasting."""
        divide: _ExperimentalQuasarDiv
        """Return the element-wise quotient `a / b`, with broadcasting."""
        divide_: _ExperimentalQuasarDivideInPlace
        """Write the quotient `a / b` to the first operand."""
        eq: _ExperimentalQuasarEq
        """Return the element-wise comparison `a == b` (1 or 0), with broadcasting."""
        eq_: _ExperimentalQuasarBiasGeluInPlace
        """Write the comparison `a == b` (1 or 0) to the first operand."""
        floor_div: _ExperimentalQuasarDivNoNan
        """Return the element-wise rounded-down quotient `floor(a / b)`, with broadcasting."""
        fmod: _ExperimentalQuasarFmod
        """Return the element-wise remainder `a - b * trunc(a / b)` with the sign of `a`, with broadcasting."""
        fold: _ExperimentalQuasarFold
        """Return images whose blocks of pixels are channels."""
        gcd: _ExperimentalQuasarGcd
        """Return the element-wise greatest common divisor of `a` and `b`, with broadcasting."""
        ge: _ExperimentalQuasarEq
        """Return the element-wise comparison `a >= b` (1 or 0), with broadcasting."""
        ge_: _ExperimentalQuasarBiasGeluInPlace
        """Write the comparison `a >= b` (1 or 0) to the first operand."""
        gt: _ExperimentalQuasarEq
        """Return the element-wise comparison `a > b` (1 or 0), with broadcasting."""
        gt_: _ExperimentalQuasarBiasGeluInPlace
        """Write the comparison `a > b` (1 or 0) to the first operand."""
        hypot: _ExperimentalQuasarAtan2
        """Return the element-wise hypotenuse `sqrt(a^2 + b^2)`, with broadcasting."""
        interleaved_to_sharded: _ExperimentalQuasarInterleavedToSharded
        """Return an interleaved tensor sharded over L1 of a core grid."""
        isclose: _ExperimentalQuasarIsclose
        """Return the element-wise comparison `|a - b| <= atol + rtol * |b|` (0/1; int32 in float32), with broadcasting.
        """
        lcm: _ExperimentalQuasarGcd
        """Return the element-wise least common multiple of `a` and `b`, with broadcasting."""
        ldexp: _ExperimentalQuasarEq
        """Return the element-wise product `a * 2^b`, with broadcasting."""
        ldexp_: _ExperimentalQuasarBiasGeluInPlace
        """Write the product `a * 2^b` to the first operand."""
        le: _ExperimentalQuasarEq
        """Return the element-wise comparison `a <= b` (1 or 0), with broadcasting."""
        le_: _ExperimentalQuasarBiasGeluInPlace
        """Write the comparison `a <= b` (1 or 0) to the first operand."""
        linear: _ExperimentalQuasarLinear
        """Return `activation(input_tensor_a @ input_tensor_b + bias)`."""
        logaddexp: _ExperimentalQuasarEq
        """Return the element-wise logarithm `ln(e^a + e^b)`, with broadcasting."""
        logaddexp2: _ExperimentalQuasarEq
        """Return the element-wise base-2 logarithm `log2(2^a + 2^b)`, with broadcasting."""
        logaddexp2_: _ExperimentalQuasarBiasGeluInPlace
        """Write the base-2 logarithm `log2(2^a + 2^b)` to the first operand."""
        logaddexp_: _ExperimentalQuasarBiasGeluInPlace
        """Write the logarithm `ln(e^a + e^b)` to the first operand."""
        logical_and: _ExperimentalQuasarEq
        """Return the element-wise logical AND `a and b` (1 or 0), with broadcasting."""
        logical_and_: _ExperimentalQuasarBiasGeluInPlace
        """Write the logical AND `a and b` (1 or 0) to the first operand."""
        logical_left_shift: _ExperimentalQuasarBitwiseAnd
        """Return the element-wise left shift of `a` by `b` bits, with broadcasting."""
        logical_or: _ExperimentalQuasarEq
        """Return the element-wise logical OR `a or b` (1 or 0), with broadcasting."""
        logical_or_: _ExperimentalQuasarBiasGeluInPlace
        """Write the logical OR `a or b` (1 or 0) to the first operand."""
        logical_right_shift: _ExperimentalQuasarEq
        """Return the element-wise logical right shift of `a` by `b`, with broadcasting."""
        logical_xor: _ExperimentalQuasarEq
        """Return the element-wise logical XOR `a xor b` (1 or 0), with broadcasting."""
        logical_xor_: _ExperimentalQuasarBiasGeluInPlace
        """Write the logical XOR `a xor b` (1 or 0) to the first operand."""
        lt: _ExperimentalQuasarEq
        """Return the element-wise comparison `a < b` (1 or 0), with broadcasting."""
        lt_: _ExperimentalQuasarBiasGeluInPlace
        """Write the comparison `a < b` (1 or 0) to the first operand."""
        matmul: _ExperimentalQuasarMatmul
        """Return the matmul `input_tensor_a @ input_tensor_b`."""
        max_pool2d: _ExperimentalQuasarMaxPool2D
        """Return the max pooling of images, channel by channel."""
        maximum: _ExperimentalQuasarMaximum
        """Return the element-wise maximum of `a` and `b`, with broadcasting."""
        minimum: _ExperimentalQuasarMaximum
        """Return the element-wise minimum of `a` and `b`, with broadcasting."""
        move: _ExperimentalNlpConcatHeads
        """Return a copy of `input_tensor`, and deallocate it."""
        multiply: _ExperimentalQuasarMultiply
        """Return the element-wise product `a * b`, with broadcasting."""
        multiply_: _ExperimentalQuasarDivideInPlace
        """Write the product `a * b` to the first operand."""
        ne: _ExperimentalQuasarEq
        """Return the element-wise comparison `a != b` (1 or 0), with broadcasting."""
        ne_: _ExperimentalQuasarBiasGeluInPlace
        """Write the comparison `a != b` (1 or 0) to the first operand."""
        nextafter: _ExperimentalQuasarAtan2
        """Return the element-wise next representable value after `a` toward `b`, with broadcasting."""
        outer: _ExperimentalQuasarAtan2
        """Return the outer product of the last dimensions of two tensors."""
        pad: _ExperimentalQuasarPad
        """Return `input_tensor` padded with `value`."""
        padded_slice: _ExperimentalPaddedSlice
        """Return a slice of images, pixel sharded, channels padded to shard width."""
        polyval: _ExperimentalQuasarPolyval
        """Return the element-wise polynomial of `input_tensor` with the coefficients `coeffs`."""
        pow: _ExperimentalQuasarPow
        """Return the element-wise power `a^b`, with broadcasting."""
        prelu: _ExperimentalQuasarPrelu
        """Return `input_tensor_a` where it is not negative, and `weight * input_tensor_a` elsewhere."""
        reallocate: FastOperation
        remainder: _ExperimentalQuasarEq
        """Return the element-wise modulus `a - b * floor(a / b)` with the sign of `b`, with broadcasting."""
        reshape: _ExperimentalQuasarReshape
        """Return `input_tensor` with a new shape and elements in equal order."""
        reshard: _ExperimentalQuasarReshard
        """Return a sharded tensor with another shard specification."""
        rsub: _ExperimentalQuasarRsub
        """Return the element-wise reversed difference `b - a`, with broadcasting."""
        rsub_: _ExperimentalQuasarRsubInPlace
        """Write the reversed difference `b - a` to the first operand."""
        sharded_to_interleaved: _ExperimentalQuasarShardedToInterleaved
        """Return a sharded tensor as an interleaved one."""
        slice: _ExperimentalQuasarSlice
        """Return the elements from `starts` to `ends` (excluded), with `steps`."""
        slice_write: _ExperimentalSliceWrite
        """Write a tensor into a slice of another, and return that."""
        sparse_matmul: _ExperimentalQuasarSparseMatmul
        """Return the matmuls that `sparsity` selects, and zeros for the others."""
        squared_difference: _ExperimentalQuasarEq
        """Return the element-wise squared difference `(a - b)^2`, with broadcasting."""
        squared_difference_: _ExperimentalQuasarBiasGeluInPlace
        """Write the squared difference `(a - b)^2` to the first operand."""
        subalpha: _ExperimentalQuasarAddalpha
        """Return the element-wise difference `a - alpha * b`, with broadcasting."""
        subtract: _ExperimentalQuasarAdd
        """Return the element-wise difference `a - b`, with broadcasting."""
        subtract_: _ExperimentalQuasarAddInPlace
        """Write the difference `a - b` to the first operand."""
        tilize: _ExperimentalQuasarTilize
        """Return `input_tensor` in TILE_LAYOUT, values unchanged."""
        tilize_with_val_padding: _ExperimentalQuasarTilizeWithValPadding
        """Return `input_tensor` in TILE_LAYOUT, padded with `pad_value` to `output_tensor_shape`."""
        tilize_with_zero_padding: _ExperimentalQuasarTilizeWithZeroPadding
        """Return `input_tensor` in TILE_LAYOUT, padded with zeros to full tiles."""
        to_device: FastOperation
        to_layout: _ExperimentalQuasarToLayout
        """Return `tensor` in `layout`, values unchanged."""
        to_memory_config: _ExperimentalQuasarToMemoryConfig
        """Return `tensor` in `memory_config`, values unchanged."""
        transpose: _ExperimentalQuasarTranspose
        """Return `input_tensor` with the dimensions `dim1` and `dim2` transposed."""
        typecast: _ExperimentalQuasarTypecast
        """Return `input_tensor` converted to another data type, on its host or device."""
        untilize: _ExperimentalQuasarUntilize
        """Return `input_tensor` in ROW_MAJOR_LAYOUT, without its tile padding."""
        untilize_with_unpadding: _ExperimentalQuasarUntilizeWithUnpadding
        """Return `input_tensor` in ROW_MAJOR_LAYOUT, cropped to `output_tensor_end`."""
        xlogy: _ExperimentalQuasarEq
        """Return the element-wise product `a * ln(b)`, with broadcasting."""
        matmul_batched_weights: FastOperation
    quasar: _InExperimentalQuasar
    attn_matmul: _ExperimentalAttnMatmul
    """Return the matmul of each user's rows of `input_tensor_a` and matrix."""
    attn_matmul_from_cache: _ExperimentalAttnMatmulFromCache
    """Return the matmul of each user's rows of `input_tensor_a` and cache rows."""
    broadcast_to: _ExperimentalBroadcastTo
    """Return `input` with dimensions of size 1 repeated."""
    concatenate_heads: _ExperimentalConcatenateHeads
    """Return concatenated heads."""
    conv3d: _ExperimentalConv3D
    """Return the convolution of volumes with `weight_tensor`, plus `bias_tensor`."""
    convert_to_chw: _ExperimentalConvertToChw
    """Return a channels-first image, row-major and width sharded on equal cores."""
    convert_to_hwc: _ExperimentalConvertToHwc
    """Return images with their channels last, row-major and sharded by height."""
    create_qkv_heads: _ExperimentalCreateQkvHeads
    """Return the heads of queries, keys and values, sharded by height."""
    create_qkv_heads_from_separate_tensors: _ExperimentalCreateQkvHeadsFromSeparateTensors
    """Return sharded query heads, and key and value heads of another tensor."""
    deepseek_grouped_gate: _ExperimentalDeepseekGroupedGate
    """Return selected experts' bfloat16 weights and uint16 indices."""
    deepseek_moe_fast_reduce_nc: _ExperimentalDeepseekMoeFastReduceNc
    """Return the sum over a leading dimension, in parts of `split_size` columns."""
    dit_layernorm_post_allgather: _ExperimentalDitLayernormPostAllgather
    """Return the layer norm of a device's row parts, from all statistics."""
    dit_layernorm_pre_allgather: _ExperimentalDitLayernormPreAllgather
    """Return every row's mean and variance, in columns 0 and 32."""
    dit_minimal_matmul_addcmul_fused: _ExperimentalDitMinimalMatmulAddcmulFused
    """Return `addcmul_input_tensor1 + scalar * product * addcmul_input_tensor2`, where the product is
    `matmul_input_tensor @ matmul_weight_tensor + bias_tensor`.
    """
    dit_rms_norm_unary_fused: _ExperimentalDitRmsNormUnaryFused
    """Return `activation(x / sqrt(mean(x ** 2) + epsilon) * weight + bias)` over the last dimension of `x =
    input_tensor + residual_input_tensor`.
    """
    dropout: _ExperimentalDropout
    """Return 0 with a probability, else the scaled input, truncated to bfloat16."""
    fast_reduce_nc: _ExperimentalFastReduceNc
    """Return the sum over leading dimensions, rounded to bfloat16 at every addition."""
    fast_reduce_nc_split: _ExperimentalFastReduceNcSplit
    """Return the sum over a leading dimension, split after its first columns."""
    group_attn_matmul: _ExperimentalGroupAttnMatmul
    """Return each user's rows times the matrix of its head group."""
    hc_sum_reduce: _ExperimentalHcSumReduce
    """Return the sums of every 32 columns."""
    intimg: _ExperimentalIntimg
    """Return the integral image: cumulative sums over rows and columns per channel."""
    isin: _ExperimentalIsin
    """Return 2**32 - 1 where an element is among `test_elements`, 0 elsewhere."""
    minimal_matmul: _ExperimentalMinimalMatmul
    """Return `input_tensor @ weight_tensor + bias_tensor`."""
    minimal_matmul_split: _ExperimentalMinimalMatmulSplit
    """Return the parts of `input_tensor @ weight_tensor + bias_tensor`, cut between columns."""
    nlp_concat_heads: _ExperimentalNlpConcatHeads
    """Return concatenated heads."""
    nlp_concat_heads_boltz: _ExperimentalNlpConcatHeadsBoltz
    """Return the heads of every pair of tokens side by side."""
    nlp_concat_heads_decode: _ExperimentalNlpConcatHeadsDecode
    """Return every user's heads side by side, a head per core."""
    nlp_create_q_heads_split: _ExperimentalNlpCreateQHeadsSplit
    """Return the first columns of every head, and the others."""
    nlp_create_qkv_heads: _ExperimentalNlpCreateQkvHeads
    """Return the heads of queries, keys and values."""
    nlp_create_qkv_heads_boltz: _ExperimentalNlpCreateQkvHeadsBoltz
    """Return query, key and value heads of every pair of tokens."""
    nlp_create_qkv_heads_decode: _ExperimentalNlpCreateQkvHeadsDecode
    """Return the heads of every user's token, a user per core."""
    nlp_create_qkv_heads_falcon7b: _ExperimentalNlpCreateQkvHeadsFalcon7B
    """Return Falcon-7B's 71 query heads, key head and value head."""
    nlp_create_qkv_heads_segformer: _ExperimentalNlpCreateQkvHeadsSegformer
    """Return heads of 32 columns, and two unwritten tensors of equal shape."""
    nlp_create_qkv_heads_vit: _ExperimentalNlpCreateQkvHeadsSegformer
    """Return the 12 heads of queries, keys and values of ViT."""
    nlp_kv_cache_load_slice: _ExperimentalNlpKvCacheLoadSlice
    """Return rows of a cache, a head to a core."""
    padded_slice: _ExperimentalPaddedSlice
    """Return a slice of images, pixel sharded, channels padded to shard width."""
    paged_fill_cache: _ExperimentalPagedFillCache
    """Write a prompt's keys or values into pages; return the cache."""
    paged_fused_update_cache: _ExperimentalPagedFusedUpdateCache
    """Write each user's token's keys and values into caches; return these."""
    paged_update_cache: _ExperimentalPagedUpdateCache
    """Write each user's token's keys or values at its position."""
    prefix_scan: _ExperimentalPrefixScan
    """Return the states `h[i] = a[i] * h[i - 1] + bx[i]` of all rows."""
    prepare_conv3d_weights: _ExperimentalPrepareConv3DWeights
    """Return weights in the layout of `conv3d`."""
    repeat_and_interleave_eltwise_mul: _ExperimentalRepeatAndInterleaveEltwiseMul
    """Return the product of `a` and `b`, repeated to 163840 columns."""
    rotary_embedding: _ExperimentalRotaryEmbedding
    """Return the rotary embedding `x * cos + rotate_half(x) * sin`."""
    rotary_embedding_hf: _ExperimentalRotaryEmbeddingHf
    """Return the rotary embedding `x * cos + rotate_half(x) * sin`."""
    rotary_embedding_llama: _ExperimentalRotaryEmbeddingLlama
    """Return the rotary embedding `x * cos + (x @ trans_mat) * sin`, per 32 columns."""
    rotary_embedding_llama_fused_qk: _ExperimentalRotaryEmbeddingLlamaFusedQk
    """Return `rotary_embedding_llama` in decode mode of queries and of keys."""
    rotate_half: _ExperimentalRotateHalf
    """Return the negated second column half, then the first, in tiles."""
    slice_write: _ExperimentalSliceWrite
    """Write a tensor into a slice of another, and return that."""
    split_query_key_value_and_split_heads: _ExperimentalSplitQueryKeyValueAndSplitHeads
    """Return the heads of queries, of transposed keys, and of values."""
    topk_router_gpt: _ExperimentalTopkRouterGpt
    """Return the k best experts' indices and softmax weights, row-major."""
    transpose_rm: _ExperimentalTransposeRm
    """Return a row-major tensor with its last two dimensions transposed."""
    typecast: _ExperimentalTypecast
    """Return a copy of `input_tensor` in another data type."""
    view: _ExperimentalView
    """Return a view of `input_tensor` with a new shape, sharing pages."""
    wan_fused_rmsnorm_post_allgather: _ExperimentalWanFusedRmsnormPostAllgather
    """Return the RMS norm of a part of rows."""
    wan_fused_rmsnorm_pre_allgather: _ExperimentalWanFusedRmsnormPreAllgather
    """Return the sum of squares of every row."""
    all_gather_async: _ExperimentalAllGatherAsync
    """Return the joined tensors of a group's chips."""
    all_gather_matmul_async: _ExperimentalAllGatherMatmulAsync
    """Return the joined tensors of a ring of chips and their product."""
    all_reduce_async: _ExperimentalAllReduceAsync
    """Return the sum of a group's tensors, on each chip."""
    all_to_all_async_generic: _ExperimentalAllToAllAsyncGeneric
    """Return the slices that a group's chips have for each chip."""
    neighbor_pad_async: _ExperimentalNeighborPadAsync
    """Return each chip's tensor with rows of its neighbours."""
    recv_async: _ExperimentalRecvAsync
    """Write a socket's next tensor to `output_tensor`."""
    recv_direct_async: _ExperimentalRecvAsync
    """Write a socket's next tensor to `output_tensor`."""
    reduce_scatter_minimal_async: _ExperimentalReduceScatterMinimalAsync
    """Return each chip's slice of its group's sum."""
    reduce_scatter_minimal_async_create_intermediate_buffer: _ExperimentalReduceScatterMinimalAsyncCreateIntermediateBuffer
    """Return two buffers for partial sums of a ring."""
    reduce_scatter_minimal_direct: _ExperimentalReduceScatterMinimalDirect
    """Return each chip's slice of its group's sum."""
    send_async: _ExperimentalSendAsync
    """Write a tensor to a socket."""
    send_direct_async: _ExperimentalSendAsync
    """Write a tensor to a socket."""
    slice_reshard_async: _ExperimentalSliceReshardAsync
    """Return a range of a distributed dimension, in equal parts."""
    all_gather_async_reversed: FastOperation
    all_gather_concat: FastOperation
    all_gather_minimal_matmul_async: FastOperation
    all_reduce_create_qkv_heads: FastOperation
    all_to_all_async: FastOperation
    all_to_all_dispatch_metadata: FastOperation
    deepseek_moe_reduce_scatter: FastOperation
    dit_fused_distributed_groupnorm: FastOperation
    dit_fused_distributed_groupnorm_create_stats_buffer: FastOperation
    dit_fused_distributed_layernorm: FastOperation
    dit_fused_distributed_layernorm_create_stats_buffer: FastOperation
    dit_fused_distributed_rmsnorm: FastOperation
    dit_fused_distributed_rmsnorm_create_stats_buffer: FastOperation
    halo_scatter: FastOperation
    high_bw_all_gather: FastOperation
    llama_all_gather_matmul_async: FastOperation
    llama_reduce_scatter: FastOperation
    llama_rs_create_heads: FastOperation
    llama_rs_matmul: FastOperation
    matmul_reduce_scatter_async: FastOperation
    minimal_matmul_strided_reduce_scatter_async: FastOperation
    neighbor_pad_halo: FastOperation
    recv_async_h2d: FastOperation
    reduce_scatter_minimal_direct_create_persistent_buffers: FastOperation
    reduce_scatter_minimal_direct_create_staging_buffer: FastOperation
    ring_attention_all_gather_async: FastOperation
    ring_indexer_score_dsa: FastOperation
    selective_reduce_combine: FastOperation
    send_async_d2h: FastOperation
    strided_all_gather_async: FastOperation
    strided_all_gather_minimal_matmul_async: FastOperation
    strided_reduce_scatter_async: FastOperation
    create_global_circular_buffer_for_matmul_1d: FastOperation
    create_global_circular_buffer_for_tensor_prefetcher: FastOperation
    create_prefetcher_pipes_for_tensor_prefetcher: FastOperation
    is_tensor_prefetcher_supported: FastOperation
    queue_tensor_prefetcher_request: FastOperation
    start_tensor_prefetcher: FastOperation
    stop_tensor_prefetcher: FastOperation
    tensor_prefetcher_block_count_for_matmul_1d: FastOperation
    test_dram_prefetcher_consumer: FastOperation
    test_dram_prefetcher_validator: FastOperation
    test_tensor_prefetcher_pipe_consumer: FastOperation
    test_tensor_prefetcher_pipe_validator: FastOperation
    wait_for_cq_on_tensor_prefetcher: FastOperation
    moe_compute: FastOperation

experimental: _InExperimental
class _InTransformer:
    rotary_embedding: _ExperimentalRotaryEmbedding
    """Return the rotary embedding `x * cos + rotate_half(x) * sin`."""
    attention_softmax: _TransformerAttentionSoftmax
    """Return the softmax of `tensor / sqrt(head_size) + attention_mask` over the last dimension."""
    attention_softmax_: _TransformerAttentionSoftmax
    """Write the softmax of `tensor / sqrt(head_size) + attention_mask` over rows into `tensor`; return it."""
    chunked_flash_mla_prefill: _TransformerChunkedFlashMlaPrefill
    """Return causal attention from position `chunk_start_idx` over a paged latent cache."""
    chunked_scaled_dot_product_attention: _TransformerChunkedScaledDotProductAttention
    """Return causal attention from position `chunk_start_idx` over a paged cache."""
    concatenate_heads: _ExperimentalNlpConcatHeads
    """Return concatenated heads."""
    flash_mla_prefill: _TransformerFlashMlaPrefill
    """Return attention with values from the keys' first columns, or a tensor."""
    flash_multi_latent_attention_decode: _TransformerFlashMultiLatentAttentionDecode
    """Return decode attention whose values are the first columns of the keys."""
    joint_scaled_dot_product_attention: _TransformerJointScaledDotProductAttention
    """Return the attention of two sequences over both's keys and values."""
    paged_flash_multi_latent_attention_decode: _TransformerPagedFlashMultiLatentAttentionDecode
    """Return decode attention over a paged cache whose values are key columns."""
    paged_scaled_dot_product_attention_decode: _TransformerPagedScaledDotProductAttentionDecode
    """Return attention of one query per user over blocked keys, values."""
    scaled_dot_product_attention: _TransformerScaledDotProductAttention
    """Return `softmax(scale * q @ k.T + attn_mask) @ v`, head by head."""
    scaled_dot_product_attention_decode: _TransformerScaledDotProductAttentionDecode
    """Return attention of one query per user over earlier keys."""
    split_query_key_value_and_split_heads: _TransformerSplitQueryKeyValueAndSplitHeads
    """Return the heads of queries, keys and values."""
    exp_ring_joint_scaled_dot_product_attention: FastOperation
    ring_distributed_scaled_dot_product_attention: FastOperation
    ring_joint_scaled_dot_product_attention: FastOperation
    ring_mla: FastOperation

transformer: _InTransformer
class _InKvCache:
    fill_cache_for_user_: _KvCacheFillCacheForUserInPlace
    """Write a user's prompt's keys or values into the cache; return it."""
    update_cache_for_token_: _KvCacheUpdateCacheForTokenInPlace
    """Write each user's token's keys or values into the cache."""

kv_cache: _InKvCache
