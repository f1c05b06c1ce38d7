"""Official results and errors of calls with unusual arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES, ROWS, L1 = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT, ttnn.L1_MEMORY_CONFIG
BF16, F32, I32, U32 = ttnn.bfloat16, ttnn.float32, ttnn.int32, ttnn.uint32
HEIGHT = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
WIDTH = ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG
BLOCK = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
Make = Callable[..., ttnn.Tensor]


@pytest.fixture
def t(device: ttnn.MeshDevice) -> Make:
    def tensor(
        shape: tuple[int, ...],
        dtype: ttnn.DataType = BF16,
        layout: ttnn.Layout = TILES,
        place: ttnn.MemoryConfig = ttnn.DRAM_MEMORY_CONFIG,
    ) -> ttnn.Tensor:
        return make(shape, dtype, layout, device, sum(shape), memory_config=place)

    return tensor


def sharded(shape: tuple[int, ...], y: int, x: int, strategy: str) -> ttnn.MemoryConfig:
    config: ttnn.MemoryConfig = ttnn.create_sharded_memory_config(
        shape, ttnn.CoreGrid(y=y, x=x), ttnn.ShardStrategy[strategy]
    )
    return config


FOUR_ROWS = sharded((1, 1, 128, 64), 4, 1, "HEIGHT")
TWO_BY_TWO = sharded((1, 1, 256, 128), 2, 2, "BLOCK")
# A call, and kind, shape and number of the shards of its result.
SHARDS: dict[str, tuple[Callable[[Make], Any], str, list[int], int]] = {
    "one tensor, over the grid": (lambda t: ttnn.exp(t((2, 96, 64)), memory_config=BLOCK), "BLOCK", [32, 32], 12),
    "rows are cut at 16 bytes": (
        lambda t: ttnn.exp(t((4, 48), layout=ROWS), memory_config=WIDTH),
        "WIDTH",
        [4, 8],
        6,
    ),
    "one tensor, its shards": (
        lambda t: ttnn.exp(t((1, 1, 128, 64), place=FOUR_ROWS), memory_config=HEIGHT),
        "HEIGHT",
        [32, 64],
        4,
    ),
    "two tensors, a sharded operand's kind": (
        lambda t: ttnn.add(t((1, 1, 128, 64)), t((1, 1, 128, 64), place=FOUR_ROWS), memory_config=BLOCK),
        "HEIGHT",
        [32, 64],
        4,
    ),
    "three tensors, the request's kind": (
        lambda t: ttnn.where(
            t((1, 1, 256, 128)), t((1, 1, 256, 128), place=TWO_BY_TWO), t((1, 1, 256, 128)), memory_config=BLOCK
        ),
        "BLOCK",
        [128, 64],
        4,
    ),
    "a transpose, in the ratio of the shapes": (
        lambda t: ttnn.transpose(t((1, 1, 256, 128), place=TWO_BY_TWO), -2, -1, memory_config=BLOCK),
        "BLOCK",
        [64, 128],
        4,
    ),
    "a slice, on the operand's cores": (
        lambda t: ttnn.slice(t((1, 1, 256, 128), place=TWO_BY_TWO), [0, 0, 0, 0], [1, 1, 128, 128]),
        "BLOCK",
        [64, 64],
        4,
    ),
    "a repetition": (
        lambda t: ttnn.repeat(t((1, 1, 64, 64)), [1, 1, 2, 1], memory_config=HEIGHT),
        "HEIGHT",
        [32, 64],
        4,
    ),
    "a reduction, evenly": (
        lambda t: ttnn.sum(t((1, 1, 256, 128), place=TWO_BY_TWO), -1, True),
        "BLOCK",
        [128, 32],
        4,
    ),
    "a norm, the operand's": (
        lambda t: ttnn.layer_norm(t((1, 1, 256, 128), place=TWO_BY_TWO), memory_config=BLOCK),
        "BLOCK",
        [128, 64],
        4,
    ),
}


@pytest.mark.parametrize("name", SHARDS)
def test_shards_of_results(name: str, t: Make) -> None:
    call, kind, shape, cores = SHARDS[name]
    config = call(t).memory_config()
    shards = config.shard_spec
    assert (config.memory_layout.name, list(shards.shape), shards.num_cores()) == (f"{kind}_SHARDED", shape, cores)


# A call, and shape, data type, layout and buffer type of its result.
RESULTS: dict[str, tuple[Callable[[Make], ttnn.Tensor], tuple[int, ...], ttnn.DataType, ttnn.Layout, str]] = {
    "where with two numbers": (lambda t: ttnn.where(t((32, 32), I32), 1, 0), (32, 32), F32, TILES, "DRAM"),
    "clamp of integers with a fraction": (
        lambda t: ttnn.clamp(t((32, 32), I32), min=-1.5, max=2.5),
        (32, 32),
        F32,
        TILES,
        "DRAM",
    ),
    "a gradient that broadcasts": (
        lambda t: ttnn.cos_bw(t((1, 1, 64, 40)), t((1, 1, 1, 40)))[0],
        (1, 1, 64, 40),
        BF16,
        TILES,
        "DRAM",
    ),
    "a pool of one image": (lambda t: ttnn.global_avg_pool2d(t((8, 8, 32))), (1, 1, 1, 32), BF16, TILES, "DRAM"),
    "a pool with shards asked for": (
        lambda t: ttnn.global_avg_pool2d(t((1, 8, 8, 32)), memory_config=BLOCK),
        (1, 1, 1, 32),
        BF16,
        TILES,
        "L1",
    ),
    "an image in L1": (
        lambda t: ttnn.upsample(t((1, 4, 4, 32), layout=ROWS, place=L1), 2),
        (1, 8, 8, 32),
        BF16,
        ROWS,
        "L1",
    ),
    "the largest of a vector": (lambda t: ttnn.topk(t((64,)), 32)[0], (32,), BF16, TILES, "DRAM"),
    "no largest": (lambda t: ttnn.argmax(t((1, 1, 0, 32)), dim=3), (1, 1, 0), U32, TILES, "DRAM"),
    "weights of more columns than the input": (
        lambda t: ttnn.layer_norm(t((1, 1, 32, 40)), weight=t((1, 64))),
        (1, 1, 32, 40),
        BF16,
        TILES,
        "DRAM",
    ),
    "fewer counts than dimensions": (lambda t: ttnn.repeat(t((32, 64)), [2]), (32, 128), BF16, TILES, "DRAM"),
    "concatenated in L1": (lambda t: ttnn.concat([t((32, 64), place=L1)] * 2, 0), (64, 64), BF16, TILES, "DRAM"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_specifications_of_results(name: str, t: Make) -> None:
    call, shape, dtype, layout, buffer_type = RESULTS[name]
    result = call(t)
    config = result.memory_config()
    assert (tuple(result.shape), result.dtype, result.layout) == (shape, dtype, layout)
    assert (config.memory_layout.name, config.buffer_type.name) == ("INTERLEAVED", buffer_type)


MIXED: dict[str, tuple[Callable[[Make], ttnn.Tensor], ttnn.DataType]] = {
    "integers with bfloat16": (lambda t: ttnn.multiply(t((32, 32), I32), t((32, 32))), BF16),
    "integers with float32": (lambda t: ttnn.multiply(t((32, 32), I32), t((32, 32), F32)), F32),
    "integers with a float": (lambda t: ttnn.multiply(t((32, 32), U32), 1.5), F32),
    "a quotient of integers": (lambda t: ttnn.div(t((32, 32), I32), t((32, 32), I32)), F32),
    "a rounded quotient of integers": (
        lambda t: ttnn.div(t((32, 32), I32), t((32, 32), I32), rounding_mode="floor"),
        I32,
    ),
    "a rounded quotient by a float": (lambda t: ttnn.div(t((32, 32), I32), 3.0, rounding_mode="floor"), F32),
    "where with a number": (lambda t: ttnn.where(t((32, 32), I32), t((32, 32), I32), 2.0), I32),
    "a power": (lambda t: ttnn.pow(t((32, 32), I32), 2.0), I32),
    "uint16 with a fraction": (lambda t: ttnn.add(t((32, 32), ttnn.uint16), 2.5), ttnn.uint16),
}


@pytest.mark.parametrize("name", MIXED)
def test_data_types_of_mixed_results(name: str, t: Make) -> None:
    call, dtype = MIXED[name]
    assert call(t).dtype is dtype


def test_the_values_of_a_gradient_that_broadcasts(t: Make) -> None:
    grad, x = t((1, 1, 64, 40), F32), t((1, 1, 1, 40), F32)
    found = values_of(ttnn.sin_bw(grad, x)[0])
    np.testing.assert_allclose(found, values_of(grad) * np.cos(values_of(x)), rtol=1e-2, atol=1e-2)


def test_further_columns_of_weights_do_not_count(t: Make) -> None:
    x, wide = t((1, 1, 32, 40)), t((1, 64))
    narrow = ttnn.slice(wide, [0, 0], [1, 40])
    np.testing.assert_array_equal(values_of(ttnn.rms_norm(x, weight=wide)), values_of(ttnn.rms_norm(x, weight=narrow)))


SHARDED = {"place": TWO_BY_TWO}
BIG = (1, 1, 256, 128)
# A call, the class of its error, and the beginning of the official sentence.
REFUSALS: tuple[tuple[Callable[[Make], Any], type[Exception], str], ...] = (
    (
        lambda t: ttnn.exp(t((1, 1, 0, 40)), memory_config=BLOCK),
        ttnn.MemoryConfigError,
        "Unary: zero-volume specless-sharded is only representable for HEIGHT_SHARDED",
    ),
    (
        lambda t: ttnn.add(t((64, 47)), t((33, 40))),
        ttnn.ShapeError,
        "Invalid subtile broadcast type",
    ),
    (
        lambda t: ttnn.exp_bw(t((1, 1, 64, 41)), t((1, 1, 64, 40))),
        ttnn.ShapeError,
        "Invalid subtile broadcast type",
    ),
    (
        lambda t: ttnn.linear(t((64, 96)), t((96, 64)), bias=t((1, 32))),
        ttnn.ShapeError,
        "Broadcasting rule violation at dimension index -1 (output rank 2), dim a: 64, dim b: 32",
    ),
    (
        lambda t: ttnn.matmul(t((2, 3, 32, 64)), t((3, 64, 32))),
        ttnn.ShapeError,
        "Batched (non-bcast) matmul requires inputs of the same rank, got a_shape rank: 4 vs b_shape rank: 3",
    ),
    (
        lambda t: ttnn.layer_norm(t(BIG), weight=t((1, 128), layout=ROWS)),
        ttnn.ShapeError,
        "Gamma's last padded dim needs to equal tile width",
    ),
    (
        lambda t: ttnn.rms_norm(t(BIG), weight=t((4, 32))),
        ttnn.ShapeError,
        "Input and gamma padded widths must match and gamma logical width must be >= input logical width",
    ),
    (
        lambda t: ttnn.layer_norm(t(BIG), weight=t((1, 128)), bias=t((4, 32), layout=ROWS)),
        ttnn.LayoutError,
        "Gamma and beta must have the same layout!",
    ),
    (
        lambda t: ttnn.rms_norm(t((1, 1, 128, 64), place=FOUR_ROWS)),
        ttnn.MemoryConfigError,
        "Height sharded inputs are not supported.",
    ),
    (
        lambda t: ttnn.layer_norm(t(BIG, **SHARDED), memory_config=L1),
        ttnn.MemoryConfigError,
        "Sharded inputs require sharded outputs.",
    ),
    (
        lambda t: ttnn.argmax(t((64,)), dim=3),
        ttnn.ShapeError,
        "argmax: Dimension out of range (expected to be in range of [-1, 0], but got 3)",
    ),
    (
        lambda t: ttnn.argmax(t((1, 1, 0, 32))),
        ttnn.ShapeError,
        "Expected reduction dim 2 to have non-zero size",
    ),
    (
        lambda t: ttnn.topk(t(BIG, **SHARDED), 32),
        ttnn.MemoryConfigError,
        "Sharded implementation not supported yet",
    ),
    (
        lambda t: ttnn.cumsum(t(BIG, **SHARDED), -1),
        ttnn.MemoryConfigError,
        "ttnn accumulation operations (cumprod, cumsum) do not support sharded input tensors.",
    ),
    (
        lambda t: ttnn.transformer.scaled_dot_product_attention(
            *(t((1, 2, 128, 64), place=sharded((1, 2, 128, 64), 2, 1, "HEIGHT")) for _ in range(3))
        ),
        ttnn.MemoryConfigError,
        "Operands to SDPA need to be DRAM/L1 interleaved",
    ),
    (
        lambda t: ttnn.transformer.scaled_dot_product_attention(
            t((1, 8, 64, 64)), t((1, 2, 64, 64)), t((2, 64, 64)), is_causal=True
        ),
        ttnn.ShapeError,
        "K and V batch must match. Got K: 1, V: 2",
    ),
    (
        lambda t: ttnn.experimental.nlp_create_qkv_heads(
            t((1, 1, 64, 1024)), num_heads=8, num_kv_heads=4, transpose_k_heads=False, memory_config=HEIGHT
        ),
        ttnn.MemoryConfigError,
        "Number of shards along height 16 must not exceed number of cores 8",
    ),
    (
        lambda t: ttnn.experimental.nlp_create_qkv_heads_decode(
            t((1, 1, 33, 1152)), num_heads=16, num_kv_heads=1, memory_config=L1
        ),
        ttnn.ShapeError,
        "Unsupported input shape = Shape([1, 1, 33, 1152])",
    ),
    (
        lambda t: ttnn.group_norm(t((1, 64, 64), layout=ROWS), num_groups=2),
        ttnn.ShapeError,
        "Invalid tensor shape: Input tensor must have rank 4. (rank=3)",
    ),
    (
        lambda t: ttnn.embedding(t((1, 32), U32, ROWS), t((64, 128), ttnn.bfloat4_b)),
        ttnn.DTypeError,
        "Only TILE layout is supported for BFLOAT8_B dtype!",
    ),
    (
        lambda t: ttnn.roll(t((64,)), 3, 1),
        ttnn.ShapeError,
        "Invalid dimension index 1. The dimension must be within the range [-1, 0].",
    ),
    (
        lambda t: ttnn.upsample(t((1, 4, 4, 32), layout=ROWS), 2, memory_config=HEIGHT),
        ttnn.MemoryConfigError,
        "Output memory config is sharded but input memory config is not sharded",
    ),
    (
        lambda t: ttnn.max_bw(*(t((1, 1, 64, 40), layout=ROWS) for _ in range(3))),
        ttnn.LayoutError,
        "Ternary operation requires tensor to be in Tile layout when working with non-sharded input tensor.",
    ),
    (
        lambda t: ttnn.concat_bw(t((1, 64, 40)), t((1, 1, 64, 40)), t((1, 1, 64, 40))),
        ttnn.ShapeError,
        "concat_bw expects rank-4 tensors, got grad rank 3, input rank 4, other rank 4",
    ),
    (
        lambda t: ttnn.nonzero(t((1, 64, 40))),
        ttnn.ShapeError,
        "non_zero_indices: input must be rank-4, got rank 3",
    ),
    (
        lambda t: ttnn.moreh_linear(t((1, 1, 64, 40)), t((1, 1, 64, 40), layout=ROWS)),
        ttnn.LayoutError,
        "moreh_matmul other only supports TILE layout.",
    ),
    (
        lambda t: ttnn.rms_norm_post_all_gather(t((1, 1, 64, 40)), t((1, 64, 40))),
        ttnn.ShapeError,
        "Stats and input dim1 must match, got stats: 64 vs input: 1",
    ),
    (
        lambda t: ttnn.typecast(t(BIG), F32, memory_config=TWO_BY_TWO),
        ttnn.MemoryConfigError,
        "Typecast operation requires Input and Output memory layout to match.",
    ),
    (
        lambda t: ttnn.sum(t((64, 64)), -1, memory_config=BLOCK),
        ttnn.MemoryConfigError,
        "Sharded memory layout TensorMemoryLayout::BLOCK_SHARDED requires either nd_shard_spec or shard_spec",
    ),
)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case[2][:40])
def test_refusals_have_the_official_sentence(case: tuple[Callable[[Make], Any], type[Exception], str], t: Make) -> None:
    call, error, sentence = case
    with pytest.raises(error) as caught:
        call(t)
    assert f"\ninfo:\n{sentence}" in str(caught.value)
