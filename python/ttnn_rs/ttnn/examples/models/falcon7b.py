"""Falcon-7B at full size: 32 layers, 4544 wide.

71 heads of queries and one of keys and values, each of 64.

Attention and feed-forward are parallel: both read the same normed input, and both are added to it. 32 users
decode at once, one row of a tile each. In bfloat8_b the weights occupy 8 of the chip's 12.8 GB, in bfloat16 they do not
fit. No package has the weights, so a layer accepts any: a dictionary with the names and shapes of `layer_shapes`.

* `Layer.prefill`: all tokens of one user, whose keys and values go into the caches;
* `Layer.decode`: one token of each user, all at the same position;
* `torch_prefill` and `torch_decode`: the same in torch.

Operators, placements and blocks are those of public ports for Wormhole cards: attention of a prompt over shards of rows
of all heads, attention of a token with a user to a core.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

import ttnn

LAYERS, WIDTH, HEADS, HEAD, HIDDEN, VOCABULARY = 32, 4544, 71, 64, 18176, 65024
USERS, PADDED_HEADS = 32, 96
EPSILON, ROPE_BASE, MASKED = 1e-5, 10_000.0, -1e5
SLICES = {128: 1, 1024: 4, 2048: 16}
"""Attention slices in L1 by prompt length; other lengths use one."""

Weights = dict[str, torch.Tensor]


def layer_shapes() -> dict[str, tuple[int, int] | tuple[int]]:
    """Return a layer's weights.

    Matrices are [inputs, outputs], queries before keys before values.
    """
    return {
        "norm.weight": (WIDTH,),
        "norm.bias": (WIDTH,),
        "heads": (WIDTH, (HEADS + 2) * HEAD),
        "joined": (WIDTH, WIDTH),
        "wide": (WIDTH, HIDDEN),
        "narrow": (HIDDEN, WIDTH),
    }


def outer_shapes() -> dict[str, tuple[int, int] | tuple[int]]:
    """Return the shapes of the parts around the layers."""
    return {"table": (VOCABULARY, WIDTH), "norm.weight": (WIDTH,), "norm.bias": (WIDTH,), "head": (WIDTH, VOCABULARY)}


def angles(positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rotation's cosines and sines at positions [N, 64].

    Both halves of a head are rotated together.
    """
    frequencies = ROPE_BASE ** (-torch.arange(0, HEAD, 2, dtype=torch.float32) / HEAD)
    turned = (positions[:, None].float() * frequencies).repeat(1, 2)
    return turned.cos(), turned.sin()


def turn(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    cosines, sines = angles(positions)
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat([-second, first], -1) * sines


# torch ----------------------------------------------------------------------------------------------------------------


def torch_prefill(weights: Weights, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return a layer's output [S, 4544] for one user's tokens.

    Also its keys and values [S, 64].
    """
    length = len(x)
    y = F.layer_norm(x, (WIDTH,), weights["norm.weight"], weights["norm.bias"], EPSILON)
    query, key, value = (y @ weights["heads"]).split([HEADS * HEAD, HEAD, HEAD], -1)
    positions = torch.arange(length)
    key = turn(key, positions)
    query = turn(query.unflatten(-1, (HEADS, HEAD)).transpose(0, 1), positions)
    scores = query @ key.T / math.sqrt(HEAD) + torch.full((length, length), -math.inf).triu(1)
    context = (scores.softmax(-1) @ value).transpose(0, 1).flatten(-2)
    hidden = F.gelu(y @ weights["wide"])
    return x + context @ weights["joined"] + hidden @ weights["narrow"], key, value


def torch_decode(
    weights: Weights, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, position: int
) -> torch.Tensor:
    """Return a layer's output [32, 4544] for a token per user.

    Their keys and values before are [32, P, 64].
    """
    y = F.layer_norm(x, (WIDTH,), weights["norm.weight"], weights["norm.bias"], EPSILON)
    query, key, value = (y @ weights["heads"]).split([HEADS * HEAD, HEAD, HEAD], -1)
    place = torch.tensor([position])
    keys = torch.cat([keys[:, :position], turn(key, place)[:, None]], 1)
    values = torch.cat([values[:, :position], value[:, None]], 1)
    query = turn(query.unflatten(-1, (HEADS, HEAD)), place)
    scores = (query @ keys.transpose(-1, -2) / math.sqrt(HEAD)).softmax(-1)
    hidden = F.gelu(y @ weights["wide"])
    return x + (scores @ values).flatten(-2) @ weights["joined"] + hidden @ weights["narrow"]


# TT-NN ----------------------------------------------------------------------------------------------------------------


class Norm:
    """A layer norm over row and column blocks on 8x8 cores."""

    def __init__(self, device: ttnn.MeshDevice, weights: Weights) -> None:
        place = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device}
        self.weight, self.bias = (ttnn.from_torch(weights[f"norm.{n}"][None], **place) for n in ("weight", "bias"))

    def __call__(self, x: ttnn.Tensor) -> ttnn.Tensor:
        rows = x.shape[-2] // 32
        down = min(8, rows)
        height, width = rows // down, -(-WIDTH // 32 // 8)
        shards = ttnn.create_sharded_memory_config(
            (height * 32, width * 32),
            ttnn.CoreGrid(y=down, x=8),
            ttnn.ShardStrategy.BLOCK,
            use_height_and_width_as_shard_shape=True,
        )
        config = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(8, down), subblock_w=1, block_h=height, block_w=width, inplace=False
        )
        y = ttnn.layer_norm(
            ttnn.interleaved_to_sharded(x, shards),
            epsilon=EPSILON,
            weight=self.weight,
            bias=self.bias,
            memory_config=shards,
            program_config=config,
        )
        return ttnn.sharded_to_interleaved(y, ttnn.DRAM_MEMORY_CONFIG)


class Rotation:
    """Cosines and sines of all positions, and the masks of attention."""

    def __init__(self, device: ttnn.MeshDevice, positions: int) -> None:
        self.device = device
        self.positions = positions
        self.tables = [self.place(part[None, None], ttnn.bfloat16) for part in angles(torch.arange(positions))]

    def place(self, tensor: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device)

    def prefill_masks(self, length: int) -> list[ttnn.Tensor]:
        """Return each slice's attention mask, [1, 1, rows, length].

        A slice has rows of all heads.
        """
        causal = torch.full((length, length), MASKED).triu(1)
        slices = SLICES.get(length, 1)
        rows = HEADS * length // slices
        return [
            self.place(causal[torch.arange(i * rows, (i + 1) * rows) % length][None, None], ttnn.bfloat4_b)
            for i in range(slices)
        ]

    def decode_mask(self, position: int) -> ttnn.Tensor:
        """Return the last tile's mask after the position, [1, 1, 1, keys]."""
        mask = torch.zeros(1, 1, 1, position // 32 * 32 + 32)
        mask[..., position + 1 :] = MASKED
        return self.place(mask, ttnn.bfloat16)


class Layer:
    """A layer with its caches.

    Args:
        dtype: Of the weights; activations and caches are bfloat16.
        fidelity: Of decoding. A prompt has HiFi2 at least.
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
        place = {"layout": ttnn.TILE_LAYOUT, "device": device}
        self.norm = Norm(device, weights)
        self.weights = {
            name: ttnn.from_torch(tensor, dtype=dtype, **place) for name, tensor in weights.items() if tensor.dim() == 2
        }
        shape = (USERS, 1, rotation.positions, HEAD)
        self.keys, self.values = (
            ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2)
        )
        precise = ttnn.MathFidelity.HiFi2 if fidelity == ttnn.MathFidelity.LoFi else fidelity
        self.decode_compute, self.prefill_compute = (
            ttnn.WormholeComputeKernelConfig(math_fidelity=of, math_approx_mode=False, packer_l1_acc=True)
            for of in (fidelity, precise)
        )

    def linear(
        self, x: ttnn.Tensor, name: str, compute: ttnn.WormholeComputeKernelConfig, activation: str | None = None
    ) -> ttnn.Tensor:
        return ttnn.linear(
            x,
            self.weights[name],
            activation=activation,
            dtype=ttnn.bfloat16,
            # Rows of a long prompt divide among all cores; columns of a few tokens among 7 rows of them.
            core_grid=ttnn.CoreGrid(y=8 if x.shape[-2] > 128 else 7, x=8),
            compute_kernel_config=compute,
        )

    def beside(
        self, x: ttnn.Tensor, y: ttnn.Tensor, attention: ttnn.Tensor, compute: ttnn.WormholeComputeKernelConfig
    ) -> ttnn.Tensor:
        """Return the sum of input, attention, and normed feed-forward."""
        length = y.shape[-2]
        # Of more than 1,024 rows, the blocks of a core would not fit into its L1 as a whole.
        parts = [
            ttnn.slice(y, (0, 0, start, 0), (1, 1, min(start + 1024, length), WIDTH)) if length > 1024 else y
            for start in range(0, length, 1024)
        ]
        narrow = [self.linear(self.linear(part, "wide", compute, "gelu_approx"), "narrow", compute) for part in parts]
        whole = ttnn.concat(narrow, dim=2) if len(narrow) > 1 else narrow[0]
        return ttnn.add(ttnn.add(whole, attention), x)

    def prefill(self, x: ttnn.Tensor, user: int, masks: list[ttnn.Tensor]) -> ttnn.Tensor:
        """Return the output [1, 1, S, 4544] for a user's tokens.

        S is a multiple of 32.
        """
        length, compute = x.shape[-2], self.prefill_compute
        y = self.norm(x)
        fused = self.linear(y, "heads", compute)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads_falcon7b(fused)
        ttnn.deallocate(fused)
        cosines, sines = (ttnn.slice(t, (0, 0, 0, 0), (1, 1, length, HEAD)) for t in self.rotation.tables)
        query = ttnn.experimental.rotary_embedding(query, cosines, sines)
        key = ttnn.experimental.rotary_embedding(key, cosines, sines)
        ttnn.fill_cache(self.keys, key, user)
        ttnn.fill_cache(self.values, value, user)
        context = self.attend(query, ttnn.transpose(key, -2, -1), value, masks)
        joined = ttnn.experimental.nlp_concat_heads(context)
        return self.beside(x, y, self.linear(joined, "joined", compute), compute)

    def attend(self, query: ttnn.Tensor, key: ttnn.Tensor, value: ttnn.Tensor, masks: list[ttnn.Tensor]) -> ttnn.Tensor:
        """Return the heads' context [1, 71, S, 64], by row slice."""
        length, slices = query.shape[-2], len(masks)
        rows = -(-HEADS * length // slices // 57 // 32)  # tiles for each of 57 cores, of the 64 that there are
        columns = length // 32
        context = ttnn.zeros(query.shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.device)

        def product(a: ttnn.Tensor, b: ttnn.Tensor, inner: int, width: int) -> ttnn.Tensor:
            config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
                compute_with_storage_grid_size=(8, 8),
                in0_block_w=inner,
                out_subblock_h=1,
                out_subblock_w=min(width, 8) if width % 8 == 0 else math.gcd(width, 4),
                per_core_M=rows,
                per_core_N=width,
                fuse_batch=True,
                mcast_in0=False,
            )
            return ttnn.matmul(
                a,
                b,
                dtype=ttnn.bfloat16,
                program_config=config,
                compute_kernel_config=self.prefill_compute,
                memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
            )

        softmax = ttnn.SoftmaxShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(8, 8), subblock_w=1, block_h=rows, block_w=columns
        )
        for i, mask in enumerate(masks):
            part = ttnn.interleaved_to_sharded_partial(
                query,
                (8, 8),
                (rows * 32, HEAD),
                slices,
                i,
                ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
                ttnn.ShardOrientation.ROW_MAJOR,
            )
            scores = product(part, key, HEAD // 32, columns)
            scores = ttnn.scale_causal_mask_hw_dims_softmax_in_place(
                scores,
                1.0 / math.sqrt(HEAD),
                mask,
                program_config=softmax,
                compute_kernel_config=self.prefill_compute,
            )
            seen = product(scores, value, columns, HEAD // 32)
            ttnn.sharded_to_interleaved_partial(seen, context, slices, i, memory_config=ttnn.DRAM_MEMORY_CONFIG)
            for used in (part, scores, seen):
                ttnn.deallocate(used)
        return context

    def decode(self, x: ttnn.Tensor, position: int, mask: ttnn.Tensor) -> ttnn.Tensor:
        """Return the output [1, 1, 32, 4544] for a token per user."""
        compute, kept = self.decode_compute, mask.shape[-1]
        y = self.norm(x)
        fused = self.linear(y, "heads", compute)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads_falcon7b(fused)
        ttnn.deallocate(fused)
        query = ttnn.experimental.rotary_embedding(query, *self.rotation.tables, position)
        key = ttnn.experimental.rotary_embedding(key, *self.rotation.tables, position)
        ttnn.update_cache(self.keys, key, position)
        ttnn.update_cache(self.values, value, position)

        def sharded(tensor: ttnn.Tensor, rows: int) -> ttnn.Tensor:
            return ttnn.interleaved_to_sharded(tensor, self.a_user_to_a_core(rows, HEAD))

        def cached(cache: ttnn.Tensor) -> ttnn.Tensor:
            part = ttnn.slice(cache, (0, 0, 0, 0), (USERS, 1, kept, HEAD), memory_config=ttnn.L1_MEMORY_CONFIG)
            return sharded(part, kept)

        # [1, 71, users, 64] becomes [users, 1, 96, 64]: a user's heads are the rows of its products.
        query = ttnn.pad(query, [(0, 0), (0, PADDED_HEADS - HEADS), (0, 0), (0, 0)], 0.0)
        query = ttnn.reshape(ttnn.transpose(query, 1, 2), (USERS, 1, PADDED_HEADS, HEAD))
        keys = ttnn.transpose(cached(self.keys), -2, -1, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
        scores = self.batched(sharded(query, PADDED_HEADS), keys)
        softmax = ttnn.SoftmaxShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(8, 4), subblock_w=1, block_h=PADDED_HEADS // 32, block_w=kept // 32
        )
        scores = ttnn.scale_mask_softmax_in_place(scores, 1.0 / math.sqrt(HEAD), mask, program_config=softmax)
        context = self.batched(scores, cached(self.values))
        context = ttnn.sharded_to_interleaved(context, ttnn.L1_MEMORY_CONFIG)
        context = ttnn.transpose(ttnn.reshape(context, (1, USERS, PADDED_HEADS, HEAD)), 1, 2)
        context = ttnn.slice(context, (0, 0, 0, 0), (1, HEADS, USERS, HEAD))
        joined = ttnn.experimental.nlp_concat_heads(context)
        return self.beside(x, y, self.linear(joined, "joined", compute), compute)

    @staticmethod
    def a_user_to_a_core(rows: int, columns: int) -> ttnn.MemoryConfig:
        return ttnn.create_sharded_memory_config(
            (rows, columns),
            ttnn.CoreGrid(y=4, x=8),
            ttnn.ShardStrategy.HEIGHT,
            use_height_and_width_as_shard_shape=True,
        )

    def batched(self, a: ttnn.Tensor, b: ttnn.Tensor) -> ttnn.Tensor:
        """Return the products of all users, each on its core."""
        columns = b.shape[-1] // 32
        config = ttnn.MatmulMultiCoreReuseProgramConfig(
            compute_with_storage_grid_size=(8, 4),
            in0_block_w=a.shape[-1] // 32,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=PADDED_HEADS // 32,
            per_core_N=columns,
        )
        return ttnn.matmul(
            a,
            b,
            dtype=ttnn.bfloat16,
            program_config=config,
            compute_kernel_config=self.decode_compute,
            memory_config=self.a_user_to_a_core(PADDED_HEADS, columns * 32),
        )


class Outer:
    """The parts around the layers: embedding table, last norm, head."""

    def __init__(self, device: ttnn.MeshDevice, weights: Weights, dtype: ttnn.DataType = ttnn.bfloat8_b) -> None:
        self.device = device
        self.table = ttnn.from_torch(weights["table"], dtype=ttnn.bfloat16, device=device)
        self.norm = Norm(device, weights)
        self.head = ttnn.from_torch(weights["head"], dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.LoFi, math_approx_mode=False, packer_l1_acc=True
        )

    def embed(self, tokens: torch.Tensor) -> ttnn.Tensor:
        """Return the words [1, 1, N, 4544] of tokens [N]."""
        ids = ttnn.from_torch(tokens[None].to(torch.int32), dtype=ttnn.uint32, device=self.device)
        return ttnn.unsqueeze(ttnn.embedding(ids, self.table, layout=ttnn.TILE_LAYOUT), 1)

    def logits(self, x: ttnn.Tensor) -> ttnn.Tensor:
        """Return the scores of the next token [1, 1, N, vocabulary]."""
        grid = ttnn.CoreGrid(y=7, x=8)
        return ttnn.linear(
            self.norm(x), self.head, dtype=ttnn.bfloat16, core_grid=grid, compute_kernel_config=self.compute
        )
