"""Mistral-7B at full size: 32 layers, 4096 wide.

32 heads of queries and 8 of keys and values, each of 128.

32 users decode at once, each at a position of its own, with caches in bfloat8_b. In bfloat8_b the weights need 8 of the
chip's 12.8 GB. No package has the weights, so a layer accepts any: a dictionary with the names and shapes of
`layer_shapes`. The feed-forward may have a format and fidelity of its own: bfloat4_b at LoFi is the quick setting of
the public ports.

* `Layer.prefill`: all tokens of one user, whose keys and values go into the caches;
* `Layer.decode`: one token of each user;
* `torch_prefill` and `torch_decode`: the same in torch.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

import ttnn

LAYERS, WIDTH, HEADS, GROUPS, HEAD, HIDDEN, VOCABULARY = 32, 4096, 32, 8, 128, 14336, 32000
USERS = 32
EPSILON, ROPE_BASE = 1e-5, 10_000.0
FUSED = (HEADS + 2 * GROUPS) * HEAD

Weights = dict[str, torch.Tensor]


def layer_shapes() -> dict[str, tuple[int, ...]]:
    """Return a layer's weights.

    Matrices are [inputs, outputs], queries before keys before values.
    """
    return {
        "attention_norm.weight": (WIDTH,),
        "heads": (WIDTH, FUSED),
        "joined": (WIDTH, WIDTH),
        "hidden_norm.weight": (WIDTH,),
        "gate": (WIDTH, HIDDEN),
        "up": (WIDTH, HIDDEN),
        "down": (HIDDEN, WIDTH),
    }


def outer_shapes() -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parts around the layers."""
    return {"table": (VOCABULARY, WIDTH), "norm.weight": (WIDTH,), "head": (WIDTH, VOCABULARY)}


def angles(positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rotation's cosines and sines at positions [N, 128].

    Neighbours are rotated together.
    """
    frequencies = ROPE_BASE ** (-torch.arange(0, HEAD, 2, dtype=torch.float32) / HEAD)
    turned = (positions[:, None].float() * frequencies).repeat_interleave(2, -1)
    return turned.cos(), turned.sin()


def turn(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    return x * cosines + torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2) * sines


# torch ----------------------------------------------------------------------------------------------------------------


def torch_heads(weights: Weights, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    y = F.rms_norm(x, (WIDTH,), weights["attention_norm.weight"], EPSILON) @ weights["heads"]
    parts = y.split([HEADS * HEAD, GROUPS * HEAD, GROUPS * HEAD], -1)
    query, key, value = (part.unflatten(-1, (-1, HEAD)) for part in parts)
    return query, key, value


def torch_rest(weights: Weights, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
    x = x + context.flatten(-2) @ weights["joined"]
    y = F.rms_norm(x, (WIDTH,), weights["hidden_norm.weight"], EPSILON)
    return x + (F.silu(y @ weights["gate"]) * (y @ weights["up"])) @ weights["down"]


def torch_prefill(weights: Weights, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return a layer's output [S, 4096] for one user's tokens.

    Also its keys and values [8, S, 128].
    """
    length = len(x)
    query, key, value = (part.transpose(0, 1) for part in torch_heads(weights, x))
    query, key = (turn(part, *angles(torch.arange(length))) for part in (query, key))
    many = [part.repeat_interleave(HEADS // GROUPS, 0) for part in (key, value)]
    scores = query @ many[0].transpose(-1, -2) / math.sqrt(HEAD) + torch.full((length, length), -math.inf).triu(1)
    return torch_rest(weights, x, (scores.softmax(-1) @ many[1]).transpose(0, 1)), key, value


def torch_decode(
    weights: Weights, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, position: int
) -> torch.Tensor:
    """Return a layer's output [32, 4096] for a token per user.

    Their keys and values are [32, 8, P, 128].
    """
    query, key, value = torch_heads(weights, x)
    place = angles(torch.tensor([position]))
    keys = torch.cat([keys[:, :, :position], turn(key, *place)[:, :, None]], 2).repeat_interleave(HEADS // GROUPS, 1)
    values = torch.cat([values[:, :, :position], value[:, :, None]], 2).repeat_interleave(HEADS // GROUPS, 1)
    scores = (turn(query, *place)[:, :, None] @ keys.transpose(-1, -2) / math.sqrt(HEAD)).softmax(-1)
    return torch_rest(weights, x, (scores @ values)[:, :, 0])


# TT-NN ----------------------------------------------------------------------------------------------------------------


class Rotation:
    """Cosines, sines and the neighbour swap matrix for both phases."""

    def __init__(self, device: ttnn.MeshDevice, positions: int) -> None:
        self.device, self.positions = device, positions
        swap = torch.zeros(1, 1, 32, 32)
        swap[..., range(0, 32, 2), range(1, 32, 2)] = 1.0
        swap[..., range(1, 32, 2), range(0, 32, 2)] = -1.0
        self.swap = self.place(swap)
        self.a_user_to_a_core = self.shards(HEAD)
        self.swap_of_users = ttnn.to_memory_config(self.place(swap.repeat(1, 1, USERS, 1)), self.shards(32))

    def shards(self, columns: int) -> ttnn.MemoryConfig:
        return ttnn.create_sharded_memory_config(
            (32, columns),
            ttnn.CoreGrid(y=4, x=8),
            ttnn.ShardStrategy.HEIGHT,
            use_height_and_width_as_shard_shape=True,
        )

    def place(self, tensor: torch.Tensor) -> ttnn.Tensor:
        return ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.device)

    def of_prompt(self, length: int) -> list[ttnn.Tensor]:
        """Return cosines and sines [1, 1, S, 128]."""
        return [self.place(part[None, None]) for part in angles(torch.arange(length))]

    def of_users(self, positions: torch.Tensor) -> list[ttnn.Tensor]:
        """Return each user's cosines and sines [1, 32, 1, 128], and positions."""
        tables = [ttnn.to_memory_config(self.place(p[None, :, None]), self.a_user_to_a_core) for p in angles(positions)]
        return [*tables, ttnn.from_torch(positions.to(torch.int32), dtype=ttnn.int32, device=self.device)]


class Norm:
    """A root mean square norm.

    Of a token of each user, over shards of columns on 32 cores.
    """

    def __init__(self, device: ttnn.MeshDevice, weight: torch.Tensor) -> None:
        # Rows of 32: the form in which kernels read the weights of a norm.
        self.weight = ttnn.from_torch(weight.reshape(1, 1, -1, 32), dtype=ttnn.bfloat16, device=device)
        # 128 tiles of squares are added up: in a 16-bit Dst their sum comes out 7 % too large.
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )

    def __call__(self, x: ttnn.Tensor) -> ttnn.Tensor:
        if x.shape[-2] > 32:
            return ttnn.rms_norm(x, epsilon=EPSILON, weight=self.weight, compute_kernel_config=self.compute)
        columns = WIDTH // 32
        shards = ttnn.create_sharded_memory_config(
            (32, columns),
            ttnn.CoreGrid(y=4, x=8),
            ttnn.ShardStrategy.WIDTH,
            use_height_and_width_as_shard_shape=True,
        )
        config = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(8, 4), subblock_w=1, block_h=1, block_w=columns // 32, inplace=False
        )
        y = ttnn.rms_norm(
            ttnn.to_memory_config(x, shards),
            epsilon=EPSILON,
            weight=self.weight,
            program_config=config,
            compute_kernel_config=self.compute,
            memory_config=shards,
        )
        return ttnn.sharded_to_interleaved(y, ttnn.L1_MEMORY_CONFIG)


class Layer:
    """A layer with its caches.

    Args:
        dtype: Of the weights; bfloat4_b is for the feed-forward only, attention has bfloat8_b then.
        fidelity: Of the feed-forward. Attention has HiFi2 at least.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        weights: Weights,
        rotation: Rotation,
        dtype: ttnn.DataType = ttnn.bfloat8_b,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.LoFi,
    ) -> None:
        self.device, self.rotation = device, rotation
        self.norms = {name: Norm(device, weights[f"{name}.weight"]) for name in ("attention_norm", "hidden_norm")}
        of_attention = ttnn.bfloat8_b if dtype == ttnn.bfloat4_b else dtype
        self.weights = {
            name: ttnn.from_torch(
                tensor,
                dtype=of_attention if name in ("heads", "joined") else dtype,
                layout=ttnn.TILE_LAYOUT,
                device=device,
            )
            for name, tensor in weights.items()
            if tensor.dim() == 2
        }
        shape = (USERS, GROUPS, rotation.positions, HEAD)
        self.keys, self.values = (
            ttnn.zeros(shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2)
        )
        precise = ttnn.MathFidelity.HiFi2 if fidelity == ttnn.MathFidelity.LoFi else fidelity
        self.compute, self.attention_compute = (
            ttnn.WormholeComputeKernelConfig(math_fidelity=of, math_approx_mode=False, packer_l1_acc=True)
            for of in (fidelity, precise)
        )

    def linear(self, x: ttnn.Tensor, name: str) -> ttnn.Tensor:
        attention = name in ("heads", "joined")
        return ttnn.linear(
            x,
            self.weights[name],
            dtype=ttnn.bfloat16,
            core_grid=ttnn.CoreGrid(y=8, x=8),
            compute_kernel_config=self.attention_compute if attention else self.compute,
        )

    def rest(self, x: ttnn.Tensor, joined: ttnn.Tensor) -> ttnn.Tensor:
        """Return what follows attention: its sum with the input, and the feed-forward."""
        x = ttnn.add(x, self.linear(joined, "joined"))
        y = self.norms["hidden_norm"](x)
        hidden = ttnn.multiply(
            self.linear(y, "gate"), self.linear(y, "up"), input_tensor_a_activations=[ttnn.UnaryOpType.SILU]
        )
        return ttnn.add(x, self.linear(hidden, "down"))

    def prefill(self, x: ttnn.Tensor, user: int, tables: list[ttnn.Tensor]) -> ttnn.Tensor:
        """Return the output [1, 1, S, 4096] for a user's tokens.

        S is a multiple of 32.
        """
        fused = self.linear(self.norms["attention_norm"](x), "heads")
        query, key, value = ttnn.experimental.nlp_create_qkv_heads(
            fused, num_heads=HEADS, num_kv_heads=GROUPS, transpose_k_heads=False
        )
        ttnn.deallocate(fused)
        query = ttnn.experimental.rotary_embedding_llama(query, *tables, self.rotation.swap)
        key = ttnn.experimental.rotary_embedding_llama(key, *tables, self.rotation.swap)
        key, value = ttnn.typecast(key, ttnn.bfloat8_b), ttnn.typecast(value, ttnn.bfloat8_b)
        ttnn.fill_cache(self.keys, key, user)
        ttnn.fill_cache(self.values, value, user)
        context = ttnn.transformer.scaled_dot_product_attention(
            ttnn.typecast(query, ttnn.bfloat8_b),
            key,
            value,
            is_causal=True,
            compute_kernel_config=self.attention_compute,
        )
        return self.rest(x, ttnn.experimental.nlp_concat_heads(context))

    def decode(self, x: ttnn.Tensor, tables: list[ttnn.Tensor]) -> ttnn.Tensor:
        """Return the output [1, 1, 32, 4096] for a token per user.

        `tables` are those of their positions.
        """
        cosines, sines, positions = tables
        fused = self.linear(self.norms["attention_norm"](x), "heads")
        query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
            fused, num_heads=HEADS, num_kv_heads=GROUPS, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
        )
        ttnn.deallocate(fused)
        swap = self.rotation.swap_of_users
        query = ttnn.experimental.rotary_embedding_llama(query, cosines, sines, swap, is_decode_mode=True)
        key = ttnn.experimental.rotary_embedding_llama(key, cosines, sines, swap, is_decode_mode=True)
        ttnn.experimental.paged_update_cache(self.keys, key, update_idxs_tensor=positions)
        ttnn.experimental.paged_update_cache(self.values, value, update_idxs_tensor=positions)
        context = ttnn.transformer.scaled_dot_product_attention_decode(
            query,
            self.keys,
            self.values,
            cur_pos_tensor=positions,
            # Chunks of keys grow with the position.
            program_config=ttnn.SDPAProgramConfig(
                compute_with_storage_grid_size=(8, 8), q_chunk_size=0, k_chunk_size=0
            ),
            compute_kernel_config=self.attention_compute,
        )
        context = ttnn.to_memory_config(context, self.rotation.a_user_to_a_core)
        joined = ttnn.experimental.nlp_concat_heads_decode(context, num_heads=HEADS)
        return self.rest(x, ttnn.sharded_to_interleaved(joined, ttnn.L1_MEMORY_CONFIG))


class Outer:
    """The parts around the layers: embedding table, last norm, head."""

    def __init__(self, device: ttnn.MeshDevice, weights: Weights, dtype: ttnn.DataType = ttnn.bfloat8_b) -> None:
        self.device = device
        self.table = ttnn.from_torch(weights["table"], dtype=ttnn.bfloat16, device=device)
        self.norm = Norm(device, weights["norm.weight"])
        self.head = ttnn.from_torch(weights["head"], dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, packer_l1_acc=True
        )

    def embed(self, tokens: torch.Tensor) -> ttnn.Tensor:
        """Return the words [1, 1, N, 4096] of tokens [N]."""
        ids = ttnn.from_torch(tokens[None].to(torch.int32), dtype=ttnn.uint32, device=self.device)
        return ttnn.unsqueeze(ttnn.embedding(ids, self.table, layout=ttnn.TILE_LAYOUT), 1)

    def logits(self, x: ttnn.Tensor) -> ttnn.Tensor:
        """Return the scores of the next token [1, 1, N, vocabulary]."""
        grid = ttnn.CoreGrid(y=8, x=8)
        return ttnn.linear(
            self.norm(x), self.head, dtype=ttnn.bfloat16, core_grid=grid, compute_kernel_config=self.compute
        )
