"""Rotary position embeddings: values, tokens, decoding, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import transformer as golden

TILES = ttnn.TILE_LAYOUT


def tensors(
    shape: tuple[int, ...], tables: tuple[int, ...], device: ttnn.MeshDevice
) -> tuple[ttnn.Tensor, ttnn.Tensor, ttnn.Tensor]:
    x, cos, sin = (make(of, ttnn.bfloat16, TILES, device, seed) for seed, of in enumerate((shape, tables, tables)))
    return x, cos, sin


def swap(device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return the matrix that swaps neighbours and negates one of them."""
    matrix = np.zeros((1, 1, 32, 32), np.float32)
    for i in range(0, 32, 2):
        matrix[0, 0, i, i + 1], matrix[0, 0, i + 1, i] = 1, -1
    return ttnn.Tensor(matrix, ttnn.bfloat16, device=device, layout=TILES)


def close(result: ttnn.Tensor, expected: np.ndarray) -> None:
    """Three roundings to bfloat16, relative to the larger product."""
    np.testing.assert_allclose(values_of(result), expected, atol=2**-6 * np.abs(expected).max())


def test_halves_are_rotated(device: ttnn.MeshDevice) -> None:
    x, cos, sin = tensors((2, 3, 64, 128), (1, 1, 96, 128), device)
    expected = golden.rotary_embedding(*map(values_of, (x, cos, sin)))
    result = ttnn.experimental.rotary_embedding(x, cos, sin)
    close(result, expected)
    assert ttnn.transformer.rotary_embedding is ttnn.experimental.rotary_embedding
    np.testing.assert_array_equal(values_of(ttnn.experimental.rotary_embedding_hf(x, cos, sin)), values_of(result))


def test_a_token_has_one_row_of_the_tables(device: ttnn.MeshDevice) -> None:
    x, cos, sin = tensors((1, 4, 32, 64), (1, 1, 96, 64), device)
    result = ttnn.experimental.rotary_embedding(x, cos, sin, 70)
    close(result, golden.rotary_embedding(*map(values_of, (x, cos, sin)), token_index=70))


def test_a_sequence_is_padded_to_tiles(device: ttnn.MeshDevice) -> None:
    x, cos, sin = tensors((1, 2, 40, 64), (1, 1, 64, 64), device)
    result = ttnn.experimental.rotary_embedding(x, cos, sin)
    assert tuple(result.shape) == (1, 2, 64, 64)
    close(ttnn.slice(result, [0] * 4, [1, 2, 40, 64]), golden.rotary_embedding(*map(values_of, (x, cos, sin))))


@pytest.mark.parametrize("decodes", [False, True])
def test_pairs_are_rotated_by_a_tile(decodes: bool, device: ttnn.MeshDevice) -> None:
    x, cos, sin = tensors((1, 3, 32, 128), (1, 3, 32, 128), device)
    result = ttnn.experimental.rotary_embedding_llama(x, cos, sin, swap(device), is_decode_mode=decodes)
    operands = [*map(values_of, (x, cos, sin)), values_of(swap(device))]
    close(result, golden.rotary_embedding_llama(*operands, is_decode_mode=decodes))


def test_queries_and_keys_have_halves_of_the_tables(device: ttnn.MeshDevice) -> None:
    q, cos, sin = tensors((1, 2, 32, 64), (1, 4, 32, 64), device)
    k = make((1, 2, 32, 64), ttnn.bfloat16, TILES, device, 7)
    both = ttnn.experimental.rotary_embedding_llama_fused_qk(q, k, cos, sin, swap(device))
    for number, (x, result) in enumerate(zip((q, k), both, strict=True)):
        users = slice(2 * number, 2 * number + 2)
        tables = [values_of(table)[:, users] for table in (cos, sin)]
        expected = golden.rotary_embedding_llama(values_of(x), *tables, values_of(swap(device)), is_decode_mode=True)
        close(result, expected)
        whole = golden.rotary_embedding_llama_fused_qk(*map(values_of, (q, k, cos, sin, swap(device))))
        np.testing.assert_array_equal(whole[number], expected)


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x, cos, sin = tensors((1, 1, 32, 64), (1, 1, 32, 64), device)
    with pytest.raises(ttnn.ParameterError, match="token_index=32 is out of range"):
        ttnn.experimental.rotary_embedding(x, cos, sin, 32)
    with pytest.raises(ttnn.ShapeError, match="they must be equal"):
        ttnn.experimental.rotary_embedding(x, cos, tensors((1, 1, 64, 64), (1, 1, 64, 64), device)[0])
    odd = tensors((1, 1, 32, 96), (1, 1, 32, 96), device)
    with pytest.raises(ttnn.ShapeError, match="multiple of 64"):
        ttnn.experimental.rotary_embedding(*odd)
    with pytest.raises(ttnn.ShapeError, match="a tile of 32x32"):
        ttnn.experimental.rotary_embedding_llama(x, cos, sin, x)


def test_rows_are_tiled_and_shards_are_chosen(device: ttnn.MeshDevice) -> None:
    x, cos, sin = tensors((1, 3, 64, 64), (1, 1, 64, 64), device)
    expected = values_of(ttnn.experimental.rotary_embedding(x, cos, sin))
    rows = [ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT) for tensor in (x, cos, sin)]
    np.testing.assert_array_equal(values_of(ttnn.experimental.rotary_embedding(*rows)), expected)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1)
    result = ttnn.experimental.rotary_embedding(x, cos, sin, memory_config=place)
    shards = result.memory_config().shard_spec
    assert shards is not None
    # Six rows of tiles: one for each core.
    assert (shards.num_cores(), tuple(shards.shape)) == (6, (32, 64))
    np.testing.assert_array_equal(values_of(result), expected)
    again = ttnn.experimental.rotary_embedding(result, cos, sin, memory_config=place)
    assert again.memory_config() == result.memory_config()


def test_products_are_packed_to_the_type_of_the_tables(device: ttnn.MeshDevice) -> None:
    # A row whose products span eight binary orders: the small ones lose their low bits to the shared exponent.
    x = ttnn.Tensor(np.tile([256.0, 1.0], (1, 1, 32, 32)).astype(np.float32), ttnn.bfloat16, device, TILES)
    ones = np.ones((1, 1, 32, 64), np.float32)
    cos, sin = (ttnn.Tensor(ones * value, ttnn.bfloat8_b, device, TILES) for value in (1.0, 0.0))
    result = values_of(ttnn.experimental.rotary_embedding(x, cos, sin))
    np.testing.assert_array_equal(result[0, 0, 0, :2], [256.0, 0.0])


def test_float32_passes_a_16_bit_dst(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(5)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in ((1, 2, 32, 64), *[(1, 1, 64, 64)] * 2)]
    x, cos, sin = (ttnn.Tensor(array, ttnn.float32, device, TILES) for array in values)
    for token in (None, 40):
        result = ttnn.experimental.rotary_embedding(x, cos, sin, token)
        assert result.dtype is ttnn.float32
        options = {} if token is None else {"token_index": token}
        close(result, golden.rotary_embedding(*values, **options))
        # Dst has sixteen bits: what is packed are bfloat16 numbers.
        assert not (values_of(result).astype(np.float32).view(np.uint32) & 0xFFFF).any()
    whole = ttnn.experimental.rotary_embedding_hf(x, cos, sin)
    np.testing.assert_array_equal(values_of(whole), values_of(ttnn.experimental.rotary_embedding(x, cos, sin)))
    with pytest.raises(ttnn.DTypeError, match="use BFLOAT16 or BFLOAT8_B or BFLOAT4_B or FLOAT32"):
        ttnn.experimental.rotary_embedding_hf(make((1, 1, 32, 64), ttnn.int32, TILES, device), cos, sin)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_the_compute_configuration_is_not_used(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """LoFi and a 32-bit Dst have other bits, as `rotary_embedding_hf` shows."""
    x, cos, sin = (make((1, 2, 64, 128), dtype, TILES, device, seed) for seed in range(3))
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, fp32_dest_acc_en=True)
    plain, configured = (
        values_of(ttnn.experimental.rotary_embedding(x, cos, sin, compute_kernel_config=given))
        for given in (None, config)
    )
    np.testing.assert_array_equal(configured, plain)
    other = ttnn.experimental.rotary_embedding_hf(x, cos, sin, compute_kernel_config=config)
    assert (values_of(other) != plain).any()


def test_four_bit_blocks_are_rotated(device: ttnn.MeshDevice) -> None:
    x = make((1, 2, 32, 64), ttnn.bfloat4_b, TILES, device, fit=np.sign)
    ones, zeros = (ttnn.full((1, 1, 32, 64), value, ttnn.bfloat16, TILES, device) for value in (1.0, 0.0))
    result = ttnn.experimental.rotary_embedding(x, zeros, ones)
    assert result.dtype is ttnn.bfloat4_b
    values = values_of(x)
    np.testing.assert_array_equal(values_of(result), np.concatenate([-values[..., 32:], values[..., :32]], -1))


@pytest.mark.parametrize("users", [1, 4])
def test_cores_have_their_own_tiles(users: int, device: ttnn.MeshDevice) -> None:
    q, cos, sin = tensors((1, users, 32, 64), (1, 2 * users, 32, 64), device)
    k = make((1, users, 32, 64), ttnn.bfloat16, TILES, device, 7)
    one = values_of(swap(device))
    # The tile of core i exchanges pairs and multiplies by i + 1.
    scaled = np.concatenate([one * (core + 1) for core in range(2 * users)], 2).astype(np.float32)
    many = ttnn.Tensor(scaled, ttnn.bfloat16, device, TILES)
    found = ttnn.experimental.rotary_embedding_llama_fused_qk(q, k, cos, sin, many)
    # Which the golden functions know.
    for result, values in zip(
        found, golden.rotary_embedding_llama_fused_qk(*map(values_of, (q, k, cos, sin, many))), strict=True
    ):
        close(result, values)
    tables = [ttnn.slice(table, [0] * 4, [1, users, 32, 64]) for table in (cos, sin)]
    single = ttnn.experimental.rotary_embedding_llama(q, *tables, many, is_decode_mode=True)
    close(single, golden.rotary_embedding_llama(*map(values_of, (q, *tables, many)), is_decode_mode=True))
    for first, tensor, result in zip((0, users), (q, k), found, strict=True):
        for user in range(users):
            core = first + user
            alone = [
                ttnn.slice(t, [0, i, 0, 0], [1, i + 1, 32, 64]) for t, i in ((tensor, user), (cos, core), (sin, core))
            ]
            tile = ttnn.Tensor((one * (core + 1)).astype(np.float32), ttnn.bfloat16, device, TILES)
            expected = ttnn.experimental.rotary_embedding_llama(*alone, tile, is_decode_mode=True)
            np.testing.assert_array_equal(values_of(result)[:, user : user + 1], values_of(expected))
