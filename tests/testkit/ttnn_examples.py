"""Example `ttnn` calls: text, call, float64 values, tolerance.

One operation each.

Bounds are derived from what the operators round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import ttnn
from testkit.ttnn_text import laid, library, tensors

Array = NDArray[Any]
#: bfloat16 has 8 significant bits: rounding errs by half a unit in the last place, cutting bits off by less than one.
ROUND, CUT = 2.0**-8, 2.0**-7
PIPELINE = "ttir-to-ttnn-backend-pipeline"
#: Modules of the dialect `ttnn` have a device; everything else is in their text.
LIBRARY = "ttcore-register-device"


@dataclass
class Case:
    """An example.

    Attributes:
        text: The module.
        direct: What one would call instead, from tensors on the host and the device.
        exact: The outputs in float64, from inputs in float64; None for random ones.
        allowed: How far each element may be off, from inputs in float64; None where there is no rounding.
        given: Inputs that are no random numbers, by position.
        pipeline: What lowers the module.
    """

    text: str
    direct: Callable[..., Any]
    exact: Callable[..., Any] | None
    allowed: Callable[..., Any] | None = None
    given: dict[int, Array] = field(default_factory=dict)
    pipeline: str = PIPELINE


def tiles(tensor: Any, device: Any) -> Any:
    return ttnn.to_device(ttnn.to_layout(tensor, ttnn.TILE_LAYOUT), device)


def rows(tensor: Any, device: Any) -> Any:
    return ttnn.to_device(ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT), device)


def sums(volume: int) -> float:
    """Error of a product sum packed `volume` times, relative.

    It is relative to the sum of their magnitudes.

    HiFi2 cuts one bit off an operand; every packing rounds the sum, and so does the end.
    """
    return CUT + (volume + 1) * ROUND


# Convolutions of rows and volumes.


def windows_1d(x: Array, w: Array) -> Array:
    length = x.shape[1] - w.shape[2] + 1
    parts = [np.einsum("nlc,oc->nlo", x[:, k : k + length], w[:, :, k]) for k in range(w.shape[2])]
    return np.sum(parts, axis=0)


def conv1d(x: Any, w: Any, b: Any, device: Any) -> Any:
    facts = {"in_channels": 32, "out_channels": 16, "batch_size": 2, "input_length": 64, "kernel_size": 3}
    flat = ttnn.from_device(ttnn.to_layout(ttnn.reshape(tiles(b, device), [1, 1, 1, 16]), ttnn.ROW_MAJOR_LAYOUT))
    made = ttnn.conv1d(rows(x, device), w, device=device, padding=[0, 0], bias_tensor=flat, **facts)
    return ttnn.reshape(made, [2, 62, 16])


def windows_3d(x: Array, w: Array) -> Array:
    sizes = [size - kernel + 1 for size, kernel in zip(x.shape[1:4], w.shape[2:], strict=True)]
    total = np.zeros((x.shape[0], *sizes, w.shape[0]))
    for where in np.ndindex(*w.shape[2:]):
        cut = tuple(slice(first, first + size) for first, size in zip(where, sizes, strict=True))
        total += np.einsum("nthwc,oc->nthwo", x[(slice(None), *cut)], w[(..., *where)])
    return total


def conv3d(x: Any, w: Any, b: Any, device: Any) -> Any:
    padded = ttnn.pad(tiles(x, device), [(0, 0)] * 4 + [(0, 16)], 0.0)
    weights = ttnn.experimental.prepare_conv3d_weights(
        ttnn.to_layout(w, ttnn.ROW_MAJOR_LAYOUT), groups=1, C_in_block=32, alignment=32, device=device
    )
    config = ttnn.Conv3dConfig(C_out_block=32, C_in_block=32, compute_with_storage_grid_size=ttnn.CoreCoord(8, 8))
    made = ttnn.experimental.conv3d(
        ttnn.to_layout(padded, ttnn.ROW_MAJOR_LAYOUT),
        ttnn.to_layout(weights, ttnn.TILE_LAYOUT),
        device=device,
        bias_tensor=ttnn.reshape(tiles(b, device), [1, 16]),
        config=config,
        dtype=ttnn.bfloat16,
        output_channels=16,
        kernel_size=[3, 3, 3],
    )
    return ttnn.to_layout(made, ttnn.TILE_LAYOUT)


# Activations that convolutions and products compute themselves.


def activated_text(name: str) -> str:
    facts = "stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32"
    kinds = ["tensor<1x8x8x32xbf16>", "tensor<16x32x3x3xbf16>"]
    out = "tensor<1x8x8x16xbf16>"
    return (
        f"func.func @one(%x: {kinds[0]}, %w: {kinds[1]}) -> {out} {{\n"
        f'  %0 = "ttir.conv2d"(%x, %w) <{{{facts}}}> : ({", ".join(kinds)}) -> {out}\n'
        f'  %1 = "ttir.{name}"(%0) : ({out}) -> {out}\n  return %1 : {out}\n}}\n'
    )


def activated_call(name: str) -> Callable[..., Any]:
    def call(x: Any, w: Any, device: Any) -> Any:
        config = ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16, activation=ttnn.UnaryWithParam(getattr(ttnn.UnaryOpType, name.upper()))
        )
        facts = {"in_channels": 32, "out_channels": 16, "batch_size": 1, "input_height": 8, "input_width": 8}
        rows_ = ttnn.to_layout(ttnn.reshape(tiles(x, device), [1, 1, 64, 32]), ttnn.ROW_MAJOR_LAYOUT)
        made = ttnn.conv2d(rows_, w, device=device, padding=[1, 1], kernel_size=[3, 3], conv_config=config, **facts)
        return ttnn.reshape(made, [1, 8, 8, 16])

    return call


def images(x: Array, w: Array) -> Array:
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    parts = [np.einsum("nhwc,oc->nhwo", padded[:, i : i + 8, j : j + 8], w[:, :, i, j]) for i, j in np.ndindex(3, 3)]
    return np.sum(parts, axis=0)


# Weights and a bias that are prepared before the convolution.

FACTS = (
    "in_channels = 32 : i32, out_channels = 16 : i32, batch_size = 1 : i32, input_height = 8 : i32, "
    "input_width = 8 : i32, kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, padding = array<i32: 1, 1>, "
    "dilation = array<i32: 1, 1>, groups = 1 : i32"
)
INPUT = (
    "input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, "
    "input_tensor_layout = #ttnn.layout<tile>, input_dtype = #ttcore.supportedDataTypes<bf16>"
)


def prepared_text(transposed: bool) -> str:
    name, more, order = "conv2d", "", "OIHW"
    kinds = [laid((1, 1, 64, 32)), laid((16, 32, 3, 3), rows=True), laid((1, 1, 1, 16), rows=True)]
    if transposed:
        name, more, order = "conv_transpose2d", ", output_padding = array<i32: 0, 0>", "IOHW"
        kinds[1] = laid((32, 16, 3, 3), rows=True)
    weights_, bias, out = laid((1, 1, 288, 16)), laid((1, 1, 1, 16)), laid((1, 1, 64, 16))
    arguments = ", ".join(f"%{one}: {kind}" for one, kind in zip("xwb", kinds, strict=True))
    return (
        f"func.func @one({arguments}) -> {out} {{\n"
        '  %d = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> '
        ": () -> !ttnn.device\n"
        f'  %0 = "ttnn.prepare_{name}_weights"(%w, %d) <{{{FACTS}{more}, {INPUT}, has_bias = true, '
        f'weights_format = "{order}"}}> : ({kinds[1]}, !ttnn.device) -> {weights_}\n'
        f'  %1 = "ttnn.prepare_{name}_bias"(%b, %d) <{{{FACTS}, {INPUT}}}> '
        f": ({kinds[2]}, !ttnn.device) -> {bias}\n"
        f'  %r = "ttnn.{name}"(%x, %0, %1, %d) <{{{FACTS}{more}}}> '
        f": ({kinds[0]}, {weights_}, {bias}, !ttnn.device) -> {out}\n  return %r : {out}\n}}\n"
    )


def prepared_call(transposed: bool) -> Callable[..., Any]:
    function = ttnn.conv_transpose2d if transposed else ttnn.conv2d

    def call(x: Any, w: Any, b: Any, device: Any) -> Any:
        facts = {"in_channels": 32, "out_channels": 16, "batch_size": 1, "input_height": 8, "input_width": 8}
        return function(tiles(x, device), w, bias_tensor=b, device=device, padding=[1, 1], kernel_size=[3, 3], **facts)

    return call


def flat_images(x: Array, w: Array, b: Array) -> Array:
    return images(x.reshape(1, 8, 8, 32), w).reshape(1, 1, 64, 16) + b


def turned(w: Array) -> Array:
    """Weights of the convolution that the transposed one is."""
    return np.swapaxes(w, 0, 1)[:, :, ::-1, ::-1]


def silu(x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-x)))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": lambda x: np.maximum(x, 0), "silu": silu}


def product_text(name: str) -> str:
    out = "tensor<64x64xbf16>"
    return (
        f"func.func @one(%a: {out}, %b: {out}) -> {out} {{\n"
        f'  %0 = "ttir.matmul"(%a, %b) : ({out}, {out}) -> {out}\n'
        f'  %1 = "ttir.{name}"(%0) : ({out}) -> {out}\n  return %1 : {out}\n}}\n'
    )


# Pools with the places of their elements.


def largest(x: Array) -> list[Array]:
    parts = x.reshape(1, 8, 2, 8, 2, 32).transpose(0, 1, 3, 5, 2, 4).reshape(1, 8, 8, 32, 4)
    rows_, columns = np.meshgrid(np.arange(8), np.arange(8), indexing="ij")
    first = parts.argmax(-1)
    places = (2 * rows_[None, ..., None] + first // 2) * 16 + 2 * columns[None, ..., None] + first % 2
    return [parts.max(-1), places]


def pool(x: Any, device: Any) -> Any:
    flat = ttnn.to_layout(ttnn.reshape(tiles(x, device), [1, 1, 256, 32]), ttnn.ROW_MAJOR_LAYOUT)
    windows = ([2, 2], [2, 2], [0, 0], [1, 1])
    made, places = ttnn.max_pool2d(flat, 1, 16, 16, 32, *windows, False, return_indices=True)
    places = ttnn.typecast(ttnn.to_layout(places, ttnn.TILE_LAYOUT), ttnn.int32)
    made = ttnn.to_layout(made, ttnn.TILE_LAYOUT)
    return [ttnn.reshape(one, [1, 8, 8, 32]) for one in (made, places)]


# Selected products.

SELECTED = np.array([1, 0, 0.5, 0, 0, 2, 0, 1], np.float32).reshape(1, 2, 1, 4).astype(ml_dtypes.bfloat16)


def selected(a: Array, b: Array, s: Array) -> Array:
    every = np.einsum("xamk,yekn->xayemn", a, b)
    return every * (s != 0).reshape(1, 2, 1, 4, 1, 1)


def one_row_of_cores(grid: tuple[int, int], **options: Any) -> Any:
    """Return a multicast matmul configuration with one-tile blocks.

    Cores exchange tiles of one operand.
    """
    blocks = dict.fromkeys(("out_subblock_h", "out_subblock_w", "out_block_w", "per_core_N"), 1)
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(*grid), mcast_in0=True, **blocks, **options
    )


def sparse(a: Any, b: Any, s: Any, device: Any) -> Any:
    config = one_row_of_cores((2, 8), in0_block_w=1, out_block_h=1, per_core_M=1, fuse_batch=False)
    given = [tiles(one, device) for one in (a, b)]
    return ttnn.sparse_matmul(*given, sparsity=rows(s, device), program_config=config)


#: LoFi takes 5 of the 8 significant bits of one operand and 7 of the other: what is cut off each.
LOFI = 2.0**-4 + CUT

# Attention. Weights are p = exp(s) / sum(exp(s)); if every exp(s) errs by w at most, sums of p * v err by 2 * w of the
# sums of p * |v|. EXPONENTIAL is the accuracy of the exponential that `ttnn.transformer` documents; scores err by what
# HiFi2 cuts off a factor and by their rounding, of the sum of the magnitudes of their products.
EXPONENTIAL, SCORES, VALUES = 0.03, CUT + ROUND, CUT + 2 * ROUND


def weights(q: Array, k: Array, first: int, scale: float) -> Array:
    scores = np.einsum("bhsd,bhtd->bhst", q, k) * scale
    hidden = np.arange(k.shape[2]) > first + np.arange(q.shape[2])[:, None]
    scores = np.where(hidden, -np.inf, scores)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def attention_bound(q: Array, k: Array, v: Array, first: int, scale: float) -> Array:
    magnitude = np.einsum("bhsd,bhtd->bhst", np.abs(q), np.abs(k)).max() * scale
    share = 2 * (EXPONENTIAL + SCORES * magnitude) + VALUES
    return np.asarray(share * (weights(q, k, first, scale) @ np.abs(v)))


PAGES = np.array([[3, 0, 2], [5, 1, 4]], np.int32)
START = np.array([32], np.int32)


def paged(cache: Array, pages: Array) -> Array:
    found = np.swapaxes(cache[pages.astype(int)], 1, 2)
    heads = cache.shape[1]
    return found.reshape(2, heads, 96, -1).repeat(4 // heads, axis=1)


def chunked(q: Array, k: Array, v: Array, pages: Array, start: Array) -> Array:
    keys, values = paged(k, pages), paged(v, pages)
    return np.asarray(weights(q, keys, 32, 32**-0.5) @ values)


#: One core for each user and head; keys come a tile after the other.
CHUNKS = (
    "program_config = #ttnn.sdpa_program_config<compute_with_storage_grid_size = #ttnn.core_coord<8, 8>, "
    "q_chunk_size = 32, k_chunk_size = 32, max_cores_per_head_batch = 1>"
)


def chunks() -> Any:
    return ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(8, 8),
        q_chunk_size=32,
        k_chunk_size=32,
        max_cores_per_head_batch=1,
    )


def chunked_call(configured: bool) -> Callable[..., Any]:
    def call(q: Any, k: Any, v: Any, pages: Any, start: Any, device: Any) -> Any:
        given = [tiles(one, device) for one in (q, k, v)]
        return ttnn.transformer.chunked_scaled_dot_product_attention(
            *given,
            rows(pages, device),
            chunk_start_idx_tensor=rows(start, device),
            program_config=chunks() if configured else None,
        )

    return call


def decoded(q: Array, k: Array, v: Array, pages: Array, positions: Array) -> Array:
    keys, values = paged(k, pages), paged(v, pages)
    queries = q[0][:, :, None]
    return np.asarray(weights(queries, keys, int(positions[0]), 32**-0.5) @ values)[:, :, 0][None]


def decoded_bound(q: Array, k: Array, v: Array, pages: Array, positions: Array) -> Array:
    bound = attention_bound(q[0][:, :, None], paged(k, pages), paged(v, pages), int(positions[0]), 32**-0.5)
    return np.asarray(bound[:, :, 0][None])


def decoded_call(q: Any, k: Any, v: Any, pages: Any, positions: Any, device: Any) -> Any:
    given = [tiles(one, device) for one in (q, k, v)]
    return ttnn.transformer.paged_scaled_dot_product_attention_decode(
        *given,
        rows(pages, device),
        cur_pos_tensor=rows(positions, device),
        program_config=chunks(),
    )


def latent_decoded_call(q: Any, k: Any, pages: Any, positions: Any, device: Any) -> Any:
    return ttnn.transformer.paged_flash_multi_latent_attention_decode(
        tiles(q, device),
        tiles(k, device),
        head_dim_v=32,
        page_table_tensor=rows(pages, device),
        cur_pos_tensor=rows(positions, device),
        scale=32**-0.5,
    )


def latent_text(value: bool) -> str:
    kinds = ["1x4x64x128xbf16", "1x1x64x128xbf16", *(["1x1x64x64xbf16"] if value else [])]
    names = [f"%arg{index}" for index in range(len(kinds))]
    arguments = ", ".join(f"{name}: tensor<{kind}>" for name, kind in zip(names, kinds, strict=True))
    types = ", ".join(f"tensor<{kind}>" for kind in kinds)
    out = "tensor<1x4x64x64xbf16>"
    facts = f"head_dim_v = 64 : ui32, is_causal = true, has_value = {str(value).lower()}, has_attention_mask = false"
    ends = "begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 4 : i32, 64 : i32, 64 : i32]"
    return (
        f'func.func @one({arguments}) -> {out} {{\n  %0 = "ttcore.composite"({", ".join(names)}) <{{'
        f'composite_name = "flash_mla_prefill", decomposition = @d, composite_attributes = {{{facts}}}}}> : ({types}) '
        f"-> {out}\n  return %0 : {out}\n}}\nfunc.func private @d({arguments}) -> {out} {{\n"
        f'  %0 = "ttir.slice_static"(%arg0) <{{{ends}, step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}}> : '
        f"(tensor<1x4x64x128xbf16>) -> {out}\n  return %0 : {out}\n}}\n"
    )


def latent(q: Array, k: Array, v: Array | None = None) -> Array:
    keys = k.repeat(4, axis=1)
    values = keys[..., :64] if v is None else v.repeat(4, axis=1)
    return np.asarray(weights(q, keys, 0, 128**-0.5) @ values)


def latent_bound(q: Array, k: Array, v: Array | None = None) -> Array:
    keys = k.repeat(4, axis=1)
    values = keys[..., :64] if v is None else v.repeat(4, axis=1)
    return attention_bound(q, keys, values, 0, 128**-0.5)


def latent_call(q: Any, k: Any, *more: Any) -> Any:
    *value, device = more
    given = [tiles(one, device) for one in (q, k, *value)]
    last: list[Any] = [] if value else [64]
    return ttnn.transformer.flash_mla_prefill(*given, *last, is_causal=True)


# Rotary embeddings: two products and their sum, each rounded; values in between are packed once more.

PAIRS = np.zeros((1, 1, 32, 32), np.float32)
PAIRS[0, 0, np.arange(0, 32, 2), np.arange(1, 32, 2)] = 1
PAIRS[0, 0, np.arange(1, 32, 2), np.arange(0, 32, 2)] = -1


def halves(x: Array) -> Array:
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def pairs(x: Array) -> Array:
    shape = x.shape
    return np.asarray((x.reshape(*shape[:-1], -1, 32) @ PAIRS[0, 0].astype(float)).reshape(shape))


def rotated_bound(turn: Callable[[Array], Array]) -> Callable[..., Array]:
    def bound(x: Array, c: Array, s: Array, *_: Array) -> Array:
        return np.asarray(2 * CUT * (np.abs(x * c) + np.abs(turn(x) * s)))

    return bound


ROTARY = [laid((1, 2, 64, 64)), laid((1, 1, 64, 64)), laid((1, 1, 64, 64))]

# Heads of a token of every user: nothing is computed.
USERS, HEADS, PAIR, WIDTH = 4, 8, 2, 64
FUSED = (1, 1, USERS, (HEADS + 2 * PAIR) * WIDTH)
QUERIES, KEYS = (1, USERS, HEADS, WIDTH), (1, USERS, PAIR, WIDTH)


def heads(x: Array) -> list[Array]:
    q, k, v = np.split(x[0, 0], [HEADS * WIDTH, (HEADS + PAIR) * WIDTH], axis=-1)
    return [one.reshape(1, USERS, -1, WIDTH) for one in (q, k, v)]


def user_to_a_core(rows_: int) -> Any:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, USERS - 1))])
    spec = ttnn.ShardSpec(cores, [rows_, WIDTH], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def heads_call(x: Any, device: Any) -> Any:
    return ttnn.experimental.nlp_create_qkv_heads_decode(
        tiles(x, device), num_heads=HEADS, num_kv_heads=PAIR, memory_config=user_to_a_core(32)
    )


def joined(x: Array) -> Array:
    return np.pad(x.reshape(1, 1, USERS, HEADS * WIDTH), ((0, 0), (0, 0), (0, 32 - USERS), (0, 0)))


def joined_call(x: Any, device: Any) -> Any:
    sharded = ttnn.to_memory_config(tiles(x, device), user_to_a_core(32))
    side = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1)
    made = ttnn.experimental.nlp_concat_heads_decode(sharded, num_heads=HEADS, memory_config=side)
    return ttnn.to_memory_config(made, ttnn.DRAM_MEMORY_CONFIG)


CONV = "stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32"
CONV3 = (
    "stride = array<i32: 1, 1, 1>, padding = array<i32: 0, 0, 0>, groups = 1 : i32, "
    'padding_mode = "zeros", operandSegmentSizes = array<i32: 1, 1, 1>'
)
POOL = (
    "kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>, dilation = array<i32: 1, 1>, "
    "padding = array<i32: 0, 0, 0, 0>, ceil_mode = false"
)
RAND = "size = #ttnn.shape<64x96>, low = -2.0 : f32, high = 3.0 : f32, seed = 17 : ui32"
DROPOUT = "prob = 0.25 : f32, scale = 1.5 : f32, seed = 21 : ui32, use_per_device_seed = false"

CONFIG = (
    "matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_1d_program_config<"
    "compute_with_storage_grid_size = #ttnn.core_coord<2, 1>, in0_block_w = 2, out_subblock_h = 1, "
    "out_subblock_w = 1, out_block_h = 2, out_block_w = 1, per_core_m = 2, per_core_n = 1, fuse_batch = true, "
    "fused_activation = #ttnn.unary_with_param<op_type = relu>, mcast_in0 = true, gather_in0 = false, "
    "hop_cores = #ttnn.core_range_set<>, num_global_cb_receivers = 0, untilize_out = false>"
)


def configured(a: Any, b: Any, device: Any) -> Any:
    relu = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
    config = one_row_of_cores(
        (2, 1), in0_block_w=2, out_block_h=2, per_core_M=2, fuse_batch=True, fused_activation=relu
    )
    return ttnn.matmul(tiles(a, device), tiles(b, device), program_config=config)


# Tokens of users.


def sampling_text(users: int, width: int) -> str:
    scores, one = f"{users}x{width}", f"{users}x"
    inputs = [f"{scores}xbf16", f"{scores}xi32", f"{one}ui32", f"{one}bf16", f"{one}bf16"]
    return tensors("sampling", inputs, [f"{one}i32"], "seed = 42 : ui32")


def sampling_call(users: int, width: int) -> Callable[..., Any]:
    """32 users and a power of two width, made on the host."""

    def call(values: Any, indices: Any, k: Any, p: Any, temp: Any, device: Any) -> Any:
        def filled(tensor: Any, shape: tuple[int, ...], value: float) -> Any:
            array = ttnn.to_numpy(tensor)
            made = np.full(shape, value, array.dtype)
            made[tuple(slice(0, size) for size in array.shape)] = array
            return ttnn.from_torch(made)

        scores = tiles(filled(values, (32, width), -1e30), device)
        names = rows(filled(indices, (32, width), 0), device)
        single = [rows(filled(one, (32,), 1), device) for one in (k, p, temp)]
        scores, names = (ttnn.reshape(one, [1, 1, 32, width]) for one in (scores, names))
        made = ttnn.sampling(scores, names, *single, seed=42)
        found = ttnn.to_numpy(made).reshape(-1)[:users]
        return ttnn.from_torch(found.astype(np.int32))

    return call


def sampled(values: Array, indices: Array, *_: Array) -> Array:
    return np.take_along_axis(indices, values.argmax(axis=-1)[:, None], axis=-1).reshape(-1)


def sampling_inputs(users: int, width: int, most: int) -> dict[int, Array]:
    random = np.random.default_rng(5)
    return {
        1: random.integers(0, 1 << 20, (users, width)).astype(np.int32),
        2: random.integers(1, most + 1, users).astype(np.uint32),
        3: np.full(users, 0.9, ml_dtypes.bfloat16),
        4: np.ones(users, ml_dtypes.bfloat16),
    }


CASES: dict[str, Case] = {
    "matmul_with_a_program_config": Case(
        library("matmul", [laid((64, 128)), laid((128, 64))], [laid((64, 64))], CONFIG),
        configured,
        lambda a, b: np.maximum(a @ b, 0),
        # Two blocks of K; with a program configuration the fidelity is LoFi.
        lambda a, b: (LOFI + 3 * ROUND) * (np.abs(a) @ np.abs(b)),
        pipeline=LIBRARY,
    ),
    **{
        f"conv2d_with_{name}": Case(
            activated_text(name),
            activated_call(name),
            lambda x, w, function=function: function(images(x, w)),
            # Three rows of the window; a slope of silu is 1.1 at most, and its result is rounded.
            lambda x, w: (1.1 * sums(3) + ROUND) * images(np.abs(x), np.abs(w)),
        )
        for name, function in ACTIVATIONS.items()
    },
    "conv2d_with_prepared_weights": Case(
        prepared_text(False),
        prepared_call(False),
        flat_images,
        lambda x, w, b: sums(4) * flat_images(np.abs(x), np.abs(w), np.abs(b)),
        pipeline=LIBRARY,
    ),
    "conv_transpose2d_with_prepared_weights": Case(
        prepared_text(True),
        prepared_call(True),
        lambda x, w, b: flat_images(x, turned(w), b),
        lambda x, w, b: sums(4) * flat_images(np.abs(x), np.abs(turned(w)), np.abs(b)),
        pipeline=LIBRARY,
    ),
    "matmul_with_silu": Case(
        product_text("silu"),
        lambda a, b, device: ttnn.matmul(tiles(a, device), tiles(b, device), activation="silu"),
        lambda a, b: silu(a @ b),
        lambda a, b: (1.1 * sums(2) + ROUND) * (np.abs(a) @ np.abs(b)),
    ),
    "matmul_of_a_repeated_operand": Case(
        """func.func @one(%a: tensor<1x4x64x64xbf16>, %b: tensor<1x1x64x32xbf16>) -> tensor<1x4x64x32xbf16> {
  %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 1, 4, 1, 1>}>
    : (tensor<1x1x64x32xbf16>) -> tensor<1x4x64x32xbf16>
  %1 = "ttir.matmul"(%a, %0) : (tensor<1x4x64x64xbf16>, tensor<1x4x64x32xbf16>) -> tensor<1x4x64x32xbf16>
  return %1 : tensor<1x4x64x32xbf16>
}
""",
        # The product repeats its operand itself; here nothing else does.
        lambda a, b, device: ttnn.matmul(tiles(a, device), ttnn.repeat(tiles(b, device), [1, 4, 1, 1])),
        lambda a, b: a @ b,
        lambda a, b: sums(2) * (np.abs(a) @ np.abs(b)),
    ),
    "conv1d": Case(
        tensors("conv1d", ["2x64x32xbf16", "16x32x3xbf16", "1x1x16xbf16"], ["2x62x16xbf16"], CONV),
        conv1d,
        lambda x, w, b: windows_1d(x, w) + b,
        # Three rows of the window, and the bias.
        lambda x, w, b: sums(4) * (windows_1d(np.abs(x), np.abs(w)) + np.abs(b)),
    ),
    "conv3d": Case(
        tensors("conv3d", ["1x4x8x8x48xbf16", "16x48x3x3x3xbf16", "1x1x1x1x16xbf16"], ["1x2x6x6x16xbf16"], CONV3),
        conv3d,
        lambda x, w, b: windows_3d(x, w) + b,
        # Two blocks of 32 channels, each 27 tiles that a 16-bit Dst rounds, their sum and the bias.
        lambda x, w, b: sums(2 * 27 + 2) * (windows_3d(np.abs(x), np.abs(w)) + np.abs(b)),
    ),
    "max_pool2d_with_indices": Case(
        tensors("max_pool2d_with_indices", ["1x16x16x32xbf16"], ["1x8x8x32xbf16", "1x8x8x32xi32"], POOL),
        pool,
        largest,
    ),
    "bitcast_convert": Case(
        tensors("bitcast_convert", ["64x96xf32"], ["64x96xui32"]).replace(" <{}>", ""),
        lambda x, device: ttnn.bitcast(tiles(x, device), ttnn.uint32),
        lambda x: x.astype(np.float32).view(np.uint32),
    ),
    "sparse_matmul": Case(
        tensors(
            "sparse_matmul",
            ["1x2x32x128xbf16", "1x4x128x64xbf16", "1x2x1x4xbf16"],
            ["1x2x1x4x32x64xbf16"],
            "is_input_a_sparse = false, is_input_b_sparse = true",
        ),
        sparse,
        selected,
        # A block of a tile of K after the other.
        lambda a, b, s: (LOFI + 5 * ROUND) * selected(np.abs(a), np.abs(b), s),
        {2: SELECTED},
    ),
    **{
        name: Case(
            latent_text(value),
            latent_call,
            latent,
            latent_bound,
            pipeline=f"{PIPELINE}{{composite-resolution=force-promote enable-ttnn-decomposition-pass=false}}",
        )
        for name, value in (("flash_mla_prefill", False), ("flash_mla_prefill_with_values", True))
    },
    **{
        f"chunked_scaled_dot_product_attention{name}": Case(
            library(
                "chunked_scaled_dot_product_attention",
                [
                    laid((2, 4, 64, 32)),
                    laid((6, 2, 32, 32)),
                    laid((6, 2, 32, 32)),
                    laid((2, 3), "si32", rows=True),
                    laid((1,), "si32", rows=True),
                ],
                [laid((2, 4, 64, 32))],
                CHUNKS if name else "",
            ),
            chunked_call(bool(name)),
            chunked,
            lambda q, k, v, pages, start: attention_bound(q, paged(k, pages), paged(v, pages), 32, 32**-0.5),
            {3: PAGES, 4: START},
            LIBRARY,
        )
        for name in ("", "_with_a_program_config")
    },
    "paged_attention_decode_with_a_program_config": Case(
        library(
            "paged_scaled_dot_product_attention_decode",
            [
                laid((1, 2, 4, 32)),
                laid((6, 2, 32, 32)),
                laid((6, 2, 32, 32)),
                laid((2, 3), "si32", rows=True),
                laid((2,), "si32", rows=True),
            ],
            [laid((1, 2, 4, 32))],
            f"is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>, {CHUNKS}",
        ),
        decoded_call,
        decoded,
        decoded_bound,
        {3: PAGES, 4: np.array([40, 40], np.int32)},
        LIBRARY,
    ),
    "paged_flash_multi_latent_attention_decode": Case(
        tensors(
            "paged_flash_multi_latent_attention_decode",
            ["1x2x4x64xbf16", "6x1x32x64xbf16", "2x3xi32", "2xi32"],
            ["1x2x4x32xbf16"],
            "head_dim_v = 32 : ui32, is_causal = true, scale = 0.17677669 : f32, "
            "operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1, 0>",
        ),
        latent_decoded_call,
        lambda q, k, pages, positions: decoded(q, k, k[..., :32], pages, positions),
        lambda q, k, pages, positions: decoded_bound(q, k, k[..., :32], pages, positions),
        {2: PAGES, 3: np.array([40, 40], np.int32)},
    ),
    "rotary_embedding": Case(
        library("rotary_embedding", ROTARY, ROTARY[:1]),
        lambda x, c, s, device: ttnn.experimental.rotary_embedding(*(tiles(one, device) for one in (x, c, s))),
        lambda x, c, s: x * c + halves(x) * s,
        rotated_bound(halves),
        pipeline=LIBRARY,
    ),
    "rotary_embedding_llama": Case(
        library("rotary_embedding_llama", [*ROTARY, laid((1, 1, 32, 32))], ROTARY[:1], "is_decode_mode = false"),
        lambda x, c, s, t, device: ttnn.experimental.rotary_embedding_llama(
            *(tiles(one, device) for one in (x, c, s, t)), is_decode_mode=False
        ),
        lambda x, c, s, t: x * c + pairs(x) * s,
        rotated_bound(pairs),
        {3: PAIRS.astype(ml_dtypes.bfloat16)},
        LIBRARY,
    ),
    "nlp_create_qkv_heads_decode": Case(
        library(
            "nlp_create_qkv_heads_decode",
            [laid(FUSED)],
            [laid(shape, cores=USERS) for shape in (QUERIES, KEYS, KEYS)],
            f"num_heads = {HEADS} : ui32, num_kv_heads = {PAIR} : ui32",
        ),
        heads_call,
        heads,
        pipeline=LIBRARY,
    ),
    "nlp_concat_heads_decode": Case(
        library(
            "nlp_concat_heads_decode",
            [laid(QUERIES, cores=USERS)],
            [laid((1, 1, 32, HEADS * WIDTH))],
            f"num_heads = {HEADS} : ui32",
        ),
        joined_call,
        joined,
        pipeline=LIBRARY,
    ),
    # What is drawn from more than one score is random.
    "sampling": Case(sampling_text(32, 128), sampling_call(32, 128), None, given=sampling_inputs(32, 128, 32)),
    "sampling_of_four_users": Case(
        sampling_text(4, 96), sampling_call(4, 128), sampled, given=sampling_inputs(4, 96, 1)
    ),
    # Logits that are nearly equal change places.
    "topk_router_gpt": Case(
        library(
            "topk_router_gpt",
            [laid((32, 128)), laid((128, 128)), laid((32, 128))],
            [laid((32, 4), "u16", rows=True), laid((32, 4), rows=True)],
            "k = 4 : i32, num_experts = 128 : i32",
        ),
        lambda x, weight, bias, device: ttnn.experimental.topk_router_gpt(
            tiles(x, device), weight_tensor=tiles(weight, device), bias_tensor=tiles(bias, device), k=4
        ),
        None,
        pipeline=LIBRARY,
    ),
    "rand": Case(
        library("rand", [], [laid((64, 96))], RAND, device=True),
        lambda device: ttnn.rand(
            [64, 96], device, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, low=-2.0, high=3.0, seed=17
        ),
        None,
        pipeline=LIBRARY,
    ),
    "dropout": Case(
        library("dropout", [laid((64, 96))], [laid((64, 96))], DROPOUT),
        lambda x, device: ttnn.experimental.dropout(tiles(x, device), 0.25, 1.5, 21, use_per_device_seed=False),
        None,
        pipeline=LIBRARY,
    ),
}
