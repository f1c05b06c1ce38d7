"""Decompositions of fused operations of PyTorch's CPU, which it has none for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch.nn import functional

__all__ = ["DECOMPOSITIONS"]


def _heads(x: torch.Tensor, count: int) -> torch.Tensor:
    batch, length, width = x.shape
    return x.view(batch, length, count, width // count).transpose(1, 2)


def _attention(
    x: torch.Tensor, heads: int, weight: torch.Tensor, bias: torch.Tensor, out: torch.Tensor, out_bias: torch.Tensor
) -> torch.Tensor:
    """Return self-attention of a batch."""
    query, key, value = functional.linear(x, weight, bias).chunk(3, -1)
    query, key, value = (_heads(one, heads) for one in (query, key, value))
    scores = torch.matmul(query * (query.shape[-1] ** -0.5), key.transpose(-2, -1))
    made = torch.matmul(torch.softmax(scores, -1), value)
    return functional.linear(made.transpose(1, 2).reshape(x.shape), out, out_bias)


def _encoder_layer(
    src: torch.Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor,
    proj_bias: torch.Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: torch.Tensor,
    norm_bias_1: torch.Tensor,
    norm_weight_2: torch.Tensor,
    norm_bias_2: torch.Tensor,
    ffn_weight_1: torch.Tensor,
    ffn_bias_1: torch.Tensor,
    ffn_weight_2: torch.Tensor,
    ffn_bias_2: torch.Tensor,
    mask: torch.Tensor | None = None,
    mask_type: int | None = None,
) -> Any:
    if mask is not None:
        return NotImplemented
    width = (embed_dim,)

    def attention(x: torch.Tensor) -> torch.Tensor:
        return _attention(x, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias)

    def forward(x: torch.Tensor) -> torch.Tensor:
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        inner = functional.gelu(inner) if use_gelu else torch.relu(inner)
        return functional.linear(inner, ffn_weight_2, ffn_bias_2)

    def first(x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, width, norm_weight_1, norm_bias_1, eps)

    def second(x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, width, norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = src + attention(first(src))
        return x + forward(second(x))
    x = first(src + attention(src))
    return second(x + forward(x))


_LSTM: Final = 2
"""Mode of a layer that is an LSTM."""


def _recurrent_layer(
    x: torch.Tensor,
    input_weight: torch.Tensor,
    hidden_weight: torch.Tensor,
    input_bias: torch.Tensor,
    hidden_bias: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    reverse: bool,
    batch_sizes: list[int],
    mode: int,
    *rest: Any,
) -> Any:
    """Return an LSTM's states, the last ones, and no workspace."""
    if mode != _LSTM or batch_sizes:
        return NotImplemented
    gates = functional.linear(x, input_weight, input_bias) + hidden_bias
    shape = hidden.shape
    hidden, cell = hidden.reshape(-1, shape[-1]), cell.reshape(-1, shape[-1])
    states = []
    for part in reversed(gates.unbind(0)) if reverse else gates.unbind(0):
        enter, forget, new, leave = (part + functional.linear(hidden, hidden_weight)).chunk(4, -1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
        hidden = torch.sigmoid(leave) * torch.tanh(cell)
        states.append(hidden)
    made = torch.stack(states[::-1] if reverse else states)
    return made, hidden.reshape(shape), cell.reshape(shape), x.new_zeros(0, dtype=torch.uint8)


DECOMPOSITIONS: Final[dict[Any, Callable[..., Any]]] = {
    torch.ops.aten._transformer_encoder_layer_fwd.default: _encoder_layer,
    torch.ops.aten.mkldnn_rnn_layer.default: _recurrent_layer,
}
"""A rule returns NotImplemented for arguments that it does not take."""
