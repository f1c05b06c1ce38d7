"""Calls of the library, one operation each: binary, emitted Python of both kinds and direct calls have equal bits.

Values are those of float64, within bounds that are derived from what the operators round.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.asm.diagnostics import CompileError
from ttnn.compiler.asm.printing import attribute_text
from ttnn.compiler.asm.xdsl_adapter import TensorType
from ttnn.compiler.binary import emit
from ttnn.compiler.binary.binary import Binary
from ttnn.compiler.binary.emit import python_source
from ttnn.compiler.binary.emitc_source import emitc_functions
from ttnn.compiler.binary.emitpy_source import emitpy_source
from ttnn.compiler.binary.programs import programs
from ttnn.compiler.binary.translate import ttnn_to_binary
from ttnn.compiler.dialects import parse_module, print_module
from ttnn.compiler.dialects.attributes import element_of
from ttnn.compiler.passes.later_layouts import new_layout
from ttnn.compiler.passes.ttnn_types import retyped
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers, place

Array = NDArray[Any]
Shape = tuple[int, ...]
#: bfloat16 has 8 significant bits: rounding errs by half a unit in the last place, cutting bits off by less than one.
ROUND, CUT = 2.0**-8, 2.0**-7
PIPELINE = "ttir-to-ttnn-backend-pipeline"
#: Modules of the dialect `ttnn` have a device; everything else is in their text.
LIBRARY = "ttcore-register-device"


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def laid(shape: Shape, kind: str = "bf16", *, rows: bool = False, cores: int = 0) -> str:
    """Return a tensor type of the library: interleaved in DRAM, or in shards of height in L1."""
    plain: TensorType[Any] = TensorType(element_of(kind), list(shape))
    type_ = TensorType(plain.element_type, list(shape), new_layout(plain, tiled=not rows))
    if cores:
        type_ = retyped(type_, space="l1", memory="height_sharded", grid=(cores, 1))
        ranges = f"core_ranges = <[#ttnn.core_range<(0,0), (0,{cores - 1})>]>"
        return attribute_text(type_).replace("<height_sharded>", f"<height_sharded>, {ranges}")
    return attribute_text(type_)


def library(op: str, inputs: Sequence[str], outputs: Sequence[str], attributes: str = "", device: bool = False) -> str:
    """Return a function of one operation of the dialect `ttnn`."""
    names = [f"%arg{index}" for index in range(len(inputs))]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, inputs, strict=True))
    results = ", ".join(f"%r#{index}" for index in range(len(outputs))) if len(outputs) > 1 else "%r"
    given = ", ".join(outputs)
    operands, types = [*names], [*inputs]
    head = ""
    if device:
        head = (
            '  %d = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> '
            ": () -> !ttnn.device\n"
        )
        operands.append("%d")
        types.append("!ttnn.device")
    properties = f" <{{{attributes}}}>" if attributes else ""
    made = f"%r:{len(outputs)}" if len(outputs) > 1 else "%r"
    return (
        f"func.func @one({arguments}) -> ({given}) {{\n{head}"
        f'  {made} = "ttnn.{op}"({", ".join(operands)}){properties} : ({", ".join(types)}) -> ({given})\n'
        f"  return {results} : {given}\n}}\n"
    )


def tensors(op: str, inputs: Sequence[str], outputs: Sequence[str], attributes: str = "") -> str:
    """Return a function of one operation of the dialect `ttir`."""
    names = [f"%arg{index}" for index in range(len(inputs))]
    arguments = ", ".join(f"{name}: tensor<{kind}>" for name, kind in zip(names, inputs, strict=True))
    results = ", ".join(f"%r#{index}" for index in range(len(outputs))) if len(outputs) > 1 else "%r"
    given = ", ".join(f"tensor<{kind}>" for kind in outputs)
    types = ", ".join(f"tensor<{kind}>" for kind in inputs)
    made = f"%r:{len(outputs)}" if len(outputs) > 1 else "%r"
    return (
        f"func.func @one({arguments}) -> ({given}) {{\n"
        f'  {made} = "ttir.{op}"({", ".join(names)}) <{{{attributes}}}> : ({types}) -> ({given})\n'
        f"  return {results} : {given}\n}}\n"
    )


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
    """The error of a sum of products that is packed `volume` times, of the sum of their magnitudes.

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


def sparse(a: Any, b: Any, s: Any, device: Any) -> Any:
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(2, 8),
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        out_block_h=1,
        out_block_w=1,
        per_core_M=1,
        per_core_N=1,
        fuse_batch=False,
        mcast_in0=True,
    )
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
    return found.reshape(2, 2, 96, -1).repeat(2, axis=1)


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
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(2, 1),
        in0_block_w=2,
        out_subblock_h=1,
        out_subblock_w=1,
        out_block_h=2,
        out_block_w=1,
        per_core_M=2,
        per_core_N=1,
        fuse_batch=True,
        fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
        mcast_in0=True,
    )
    return ttnn.matmul(tiles(a, device), tiles(b, device), program_config=config)


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


def host(tensor: Any) -> Array:
    return ttnn.to_numpy(tensor)


@pytest.mark.parametrize("name", CASES)
def test_three_ways_have_equal_bits(name: str, device: ttnn.MeshDevice) -> None:
    case = CASES[name]
    module = parse_module(case.text)
    run(module, case.pipeline)
    whole = programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))
    (program,) = [one for one in whole if not one.private]
    random = np.random.default_rng(11)
    kinds = {"BFloat16": ml_dtypes.bfloat16, "Float32": np.float32}
    inputs = [
        case.given[index] if index in case.given else random.standard_normal(want.shape).astype(kinds[want.data_type])
        for index, (_, want) in enumerate(program.inputs)
    ]
    given = [ttnn.from_torch(one) for one in inputs]
    executed = [host(one) for one in execute(program, given, device)]
    placed = [place(one, want, device, Transfers()) for one, (_, want) in zip(given, program.inputs, strict=True)]
    sources = [python_source(whole)]
    run(module, "convert-ttnn-to-emitpy")
    sources.append(emitpy_source(module))
    for source in sources:
        names: dict[str, Any] = {"__name__": "emitted"}
        exec(compile(source, "emitted.py", "exec"), names)
        emitted = [host(one) for one in names["one"](placed, device)]
        assert [one.tobytes() for one in executed] == [one.tobytes() for one in emitted]
    direct = case.direct(*given, device)
    called = [host(one) for one in (direct if isinstance(direct, list | tuple) else [direct])]
    assert [one.tobytes() for one in executed] == [one.tobytes() for one in called]
    if case.exact is None:
        return
    values = [one.astype(np.float64) for one in inputs]
    expected = case.exact(*values)
    expected = expected if isinstance(expected, list) else [expected]
    allowed = 0.0 if case.allowed is None else case.allowed(*values)
    for one, other in zip(executed, expected, strict=True):
        assert one.shape == other.shape
        assert (np.abs(one.astype(np.float64) - other) <= allowed).all()


def test_emitted_cpp_compiles_against_the_header(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler of the host: g++ or clang++")
    sources = []
    for name, case in CASES.items():
        module = parse_module(case.text.replace("@one", f"@f_{name}"))
        run(module, f"{case.pipeline}, convert-ttnn-to-emitc")
        text = print_module(module)
        again = parse_module(text)
        assert print_module(again) == text
        sources.append(emitc_functions(again))
    source = tmp_path / "emitted.cpp"
    source.write_text("\n".join(sources))
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{Path(emit.__file__).parent / 'include'}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert source.read_text().count(") {\n") == len(CASES)


def test_random_numbers_lie_where_they_should(device: ttnn.MeshDevice) -> None:
    found = {}
    x = np.random.default_rng(11).standard_normal((64, 96)).astype(ml_dtypes.bfloat16)
    for name, inputs in (("rand", []), ("dropout", [ttnn.from_torch(x)])):
        module = parse_module(CASES[name].text)
        run(module, LIBRARY)
        (program,) = programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))
        found[name] = host(execute(program, inputs, device)[0]).astype(np.float64)
    assert found["rand"].min() >= -2
    assert found["rand"].max() <= 3
    # 6,144 numbers: the mean of as many even ones is within 5 standard deviations of 0.5.
    assert abs(found["rand"].mean() - 0.5) < 5 * (5 / 12**0.5) / 6144**0.5
    kept = found["dropout"] != 0
    scaled = 1.5 * x.astype(np.float64)
    assert (np.abs(found["dropout"] - scaled)[kept] <= CUT * np.abs(scaled)[kept]).all()
    # 32 elements of four rows fall together: 48 groups.
    assert abs(kept.mean() - 0.75) < 5 * (0.25 * 0.75 / 48) ** 0.5


@pytest.mark.parametrize("part", ["in0_block_w = 2", "fuse_batch = true", "#ttnn.core_coord<2, 1>", "op_type = relu"])
def test_what_is_wrong_in_a_configuration_is_named(part: str) -> None:
    wrong = {"in0_block_w = 2": "in9_block_w = 2", "#ttnn.core_coord<2, 1>": "#ttnn.core_coord<2>"}
    word = wrong.get(part, part.replace("true", "maybe").replace("relu", "nothing"))
    module = parse_module(CASES["matmul_with_a_program_config"].text.replace(part, word))
    run(module, LIBRARY)
    with pytest.raises(CompileError, match=r"has no (form|name) in .*TTNN binaries"):
        ttnn_to_binary(module, "0.1.0")


GRID = "compute_with_storage_grid_size = #ttnn.core_coord<2, 1>, "
BLOCKS = "in0_block_w = 2, out_subblock_h = 1, out_subblock_w = 1, "


@pytest.mark.parametrize(
    ("mnemonic", "fields", "written"),
    [
        (
            "matmul_multi_core_reuse_program_config",
            f"{GRID}{BLOCKS}per_core_m = 2, per_core_n = 1",
            "MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=ttnn.CoreCoord(2, 1), in0_block_w=2, "
            "out_subblock_h=1, out_subblock_w=1, per_core_M=2, per_core_N=1)",
        ),
        (
            "matmul_multi_core_reuse_multi_cast_program_config",
            f"{GRID}{BLOCKS}out_block_h = 1, out_block_w = 1, per_core_m = 1, per_core_n = 2, "
            "transpose_mcast = false, fuse_batch = true",
            "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=ttnn.CoreCoord(2, 1), "
            "in0_block_w=2, out_subblock_h=1, out_subblock_w=1, out_block_h=1, out_block_w=1, per_core_M=1, "
            "per_core_N=2, transpose_mcast=False, fuse_batch=True)",
        ),
        (
            "matmul_multi_core_reuse_multi_cast_dram_sharded_program_config",
            "in0_block_w = 2, per_core_m = 1, per_core_n = 3, "
            "fused_activation = #ttnn.unary_with_param<op_type = silu>",
            "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=2, per_core_M=1, per_core_N=3, "
            "fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU))",
        ),
    ],
)
def test_configurations_of_products_reach_the_call(mnemonic: str, fields: str, written: str) -> None:
    kinds = [laid((64, 128)), laid((128, 64))]
    module = parse_module(
        library("matmul", kinds, [laid((64, 64))], f"matmul_program_config = #ttnn.{mnemonic}<{fields}>")
    )
    run(module, LIBRARY)
    source = python_source(programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes())))
    assert f"program_config=ttnn.{written}" in source


REFUSED = {
    "adamw": (
        library(
            "adamw",
            [laid((1, 1, 32, 32))] * 4,
            [],
            "lr = 1.0e-3 : f32, beta1 = 0.9 : f32, beta2 = 0.99 : f32, beta1_pow = 0.9 : f32, beta2_pow = 0.99 : f32, "
            "epsilon = 1.0e-8 : f32, weight_decay = 0.0 : f32",
        ),
        "training library ttml",
    ),
    "sdpa_fw": (
        library(
            "sdpa_fw",
            [laid((1, 2, 32, 64))] * 3,
            [laid((1, 2, 32, 64))],
            "mask_type = #ttcore.attention_mask_type<causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0>, "
            "resultSegmentSizes = array<i32: 1, 0>",
        ),
        "training library ttml",
    ),
    "sdpa_bw": (
        library(
            "sdpa_bw",
            [*[laid((1, 2, 32, 64))] * 5, laid((1, 2, 32, 32), "f32")],
            [laid((1, 2, 32, 64))] * 3,
            "mask_type = #ttcore.attention_mask_type<causal>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>",
        ),
        "training library ttml",
    ),
    "topk_router_gpt": (
        library(
            "topk_router_gpt",
            [laid((32, 128)), laid((128, 128)), laid((32, 128))],
            [laid((32, 4), "u32", rows=True), laid((32, 4), rows=True)],
            "k = 4 : i32, num_experts = 128 : i32",
        ),
        "merged in an order that is not built",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_library_lacks_is_refused_with_its_reason(name: str) -> None:
    text, reason = REFUSED[name]
    text = text.replace("%r = ", "").replace("return %r : ", "return") if name == "adamw" else text
    module = parse_module(text)
    run(module, LIBRARY)
    binary = Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes())
    with pytest.raises(UnsupportedError, match=reason):
        programs(binary)
    with pytest.raises(CompileError, match=f"failed to legalize operation 'ttnn.{name}': .*{reason}"):
        run(module, "convert-ttnn-to-emitpy")
