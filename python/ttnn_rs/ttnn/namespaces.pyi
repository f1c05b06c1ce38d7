"""Operators with their arguments and types. Written by `cargo xtask stubs` from the registry."""
# fmt: off

from ttnn.base.memory_config import MemoryConfig
from ttnn.base.program_config import SoftmaxDefaultProgramConfig, SoftmaxShardedMultiCoreProgramConfig
from ttnn.operation.registry import FastOperation
from ttnn.tensor.tensor import Tensor

class _TransformerAttentionSoftmax(FastOperation):
    def __call__(self, tensor: Tensor, *, head_size: int | None = None, attention_mask: Tensor | None = None,
        program_config: SoftmaxDefaultProgramConfig | SoftmaxShardedMultiCoreProgramConfig | None = None,
        causal_mask: bool = False, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _InTransformer:
    attention_softmax: _TransformerAttentionSoftmax
    """Return the softmax of `tensor / sqrt(head_size) + attention_mask` over the last dimension."""
    attention_softmax_: _TransformerAttentionSoftmax
    """Write the softmax of `tensor / sqrt(head_size) + attention_mask` along rows into `tensor`, and return it."""

transformer: _InTransformer
