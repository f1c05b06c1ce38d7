"""Operators with their arguments and types. Written by `cargo xtask stubs` from the registry."""
# fmt: off

from collections.abc import Sequence

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.program_config import SoftmaxDefaultProgramConfig, SoftmaxShardedMultiCoreProgramConfig
from ttnn.base.shape import Shape
from ttnn.operation.registry import FastOperation
from ttnn.tensor.tensor import Tensor

class _ExperimentalFastReduceNc(FastOperation):
    def __call__(self, input: Tensor, *, dims: Shape | Sequence[int] = ..., output: Tensor | None = None,
        memory_config: MemoryConfig = ..., compute_kernel_config: WormholeComputeKernelConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalNlpConcatHeads(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExperimentalNlpCreateQkvHeads(FastOperation):
    def __call__(self, input: Tensor, input_kv: Tensor | None = None, *, num_heads: int,
        num_kv_heads: int | None = None, transpose_k_heads: bool = True, kv_tied: bool = False,
        memory_config: MemoryConfig | None = None, output_tensors: Sequence[Tensor] | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

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

class _TransformerSplitQueryKeyValueAndSplitHeads(FastOperation):
    def __call__(self, input_tensor: Tensor, kv_input_tensor: Tensor | None = None, *, num_heads: int,
        num_kv_heads: int | None = None, transpose_key: bool = True, memory_config: MemoryConfig | None = None,
        use_falcon7b_backend: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> tuple[Tensor, Tensor, Tensor]: ...

class _InExperimental:
    fast_reduce_nc: _ExperimentalFastReduceNc
    """Return the sum over leading dimensions, rounded to bfloat16 at every addition."""
    nlp_concat_heads: _ExperimentalNlpConcatHeads
    """Return heads side by side."""
    nlp_create_qkv_heads: _ExperimentalNlpCreateQkvHeads
    """Return the heads of queries, keys and values."""
    rotary_embedding: _ExperimentalRotaryEmbedding
    """Return `x * cos + rotated * sin`, where `rotated` has the halves of the columns of x swapped and the first half
    negated.
    """
    rotary_embedding_hf: _ExperimentalRotaryEmbeddingHf
    """Return `x * cos + rotated * sin`, where `rotated` has the halves of the columns of x swapped and the first half
    negated.
    """
    rotary_embedding_llama: _ExperimentalRotaryEmbeddingLlama
    """Return `x * cos + (x @ trans_mat) * sin`, the product taken for every 32 columns."""
    rotary_embedding_llama_fused_qk: _ExperimentalRotaryEmbeddingLlamaFusedQk
    """Return `rotary_embedding_llama` in decode mode of queries and of keys."""

experimental: _InExperimental
class _InTransformer:
    rotary_embedding: _ExperimentalRotaryEmbedding
    """Return `x * cos + rotated * sin`, where `rotated` has the halves of the columns of x swapped and the first half
    negated.
    """
    attention_softmax: _TransformerAttentionSoftmax
    """Return the softmax of `tensor / sqrt(head_size) + attention_mask` over the last dimension."""
    attention_softmax_: _TransformerAttentionSoftmax
    """Write the softmax of `tensor / sqrt(head_size) + attention_mask` over rows into `tensor`; return it."""
    concatenate_heads: _ExperimentalNlpConcatHeads
    """Return heads side by side."""
    split_query_key_value_and_split_heads: _TransformerSplitQueryKeyValueAndSplitHeads
    """Return the heads of queries, keys and values."""

transformer: _InTransformer
class _InKvCache:
    fill_cache_for_user_: _KvCacheFillCacheForUserInPlace
    """Write the keys or values of a user's prompt into the cache, and return the cache."""
    update_cache_for_token_: _KvCacheUpdateCacheForTokenInPlace
    """Write the keys or values of a token of every user into the cache, and return the cache."""

kv_cache: _InKvCache
