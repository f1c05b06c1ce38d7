"""`prod` and its gradient: chain model bits, shapes, refusals."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
import torch

import ttnn
from testkit.operands import from_raw, raw_of
from ttnn import _engine
from ttnn.base.enums import FORMAT_CODE
from ttnn.ops.reduction import prod

TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
Floats = npt.NDArray[np.float32]


def _device(
    values: Any, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16, layout: ttnn.Layout = TILE
) -> ttnn.Tensor:
    host = torch.from_numpy(np.ascontiguousarray(values, np.float32))
    return ttnn.from_torch(host, dtype=dtype, layout=layout, device=device)


def _values(tensor: ttnn.Tensor) -> Floats:
    return np.asarray(ttnn.to_torch(tensor).float().numpy())


def _short(shape: tuple[int, ...], seed: int) -> Floats:
    """Return values near 1 with at most six significant bits.

    Their products with bfloat16 need no low bits of it.
    """
    generator = np.random.default_rng(seed)
    return (generator.integers(28, 36, size=shape) / 32.0).astype(np.float32)


def _cut(x: Floats) -> Floats:
    """Return FP32 words' upper halves, which the FPU reads."""
    return (np.ascontiguousarray(x).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def _packed(x: Floats) -> Floats:
    """Return FP32 words packed to bfloat16, halves away from zero."""
    return ((x.view(np.uint32) + np.uint32(0x8000)) & np.uint32(0xFFFF0000)).view(np.float32)


def _model_of_everything(values: Floats) -> float:
    """Tiles row by row, then the last tile's elements face by face."""
    height, width = values.shape
    padded = np.ones((-(-height // 32) * 32, -(-width // 32) * 32), np.float32)
    padded[:height, :width] = values
    tiles = padded.reshape(padded.shape[0] // 32, 32, padded.shape[1] // 32, 32).swapaxes(1, 2).reshape(-1, 32, 32)
    running = tiles[0]
    for tile in tiles[1:]:
        running = _cut(running) * tile
    last = _packed(running).reshape(2, 16, 2, 16).swapaxes(1, 2).reshape(-1)
    product = ml_dtypes.bfloat16(1.0)
    for value in last.astype(ml_dtypes.bfloat16):
        product = ml_dtypes.bfloat16(product * value)
    return float(product)


@pytest.mark.parametrize("shape", [(32, 32), (33, 31), (64, 96), (100, 70)])
@pytest.mark.parametrize("layout", [TILE, ROWS])
def test_bits_of_the_product_of_everything(
    shape: tuple[int, int], layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    values = _short(shape, seed=1)
    result = ttnn.prod(_device(values, device, layout=layout))
    assert tuple(result.shape) == ()
    assert result.layout is TILE
    assert float(_values(result)) == _model_of_everything(values)


def test_products_of_float32(device: ttnn.MeshDevice) -> None:
    # Powers of two are exact on every way; what is cut is the running product of more than eleven bits.
    values = np.ones((64, 64), np.float32)
    values[0, 0], values[40, 3], values[63, 63] = 0.25, -8.0, 1.5
    assert float(_values(ttnn.prod(_device(values, device, ttnn.float32)))) == -3.0
    factors = np.full((3, 1, 1), 1.0 + 2.0**-6, np.float32)
    # In TF32 (1 + 2^-6)^2 is 1 + 2^-5; the next product is that of FP32.
    result = _values(ttnn.prod(_device(factors, device, ttnn.float32), 0))
    assert float(result.reshape(())) == (1.0 + 2.0**-5) * (1.0 + 2.0**-6)


@pytest.mark.parametrize("dim", [0, 1, 2, 3, -1, -2])
@pytest.mark.parametrize("keepdim", [False, True])
def test_block_floats_along_a_dimension_are_products_on_the_fpu(
    dim: int, keepdim: bool, device: ttnn.MeshDevice
) -> None:
    x = _device(_short((2, 3, 4, 5), seed=2), device, ttnn.bfloat8_b)
    result = ttnn.prod(x, dim, keepdim)
    # FP32 in Dst, of which the FPU reads the upper half. The last product is packed from there.
    *parts, last = (np.squeeze(part, dim) for part in np.split(_values(x), (2, 3, 4, 5)[dim], axis=dim))
    running = parts[0]
    for part in parts[1:]:
        running = _cut(running) * part
    expected = _on_fpu(_device(_cut(running), device, ttnn.float32), _device(last, device, ttnn.bfloat8_b))
    shape = [2, 3, 4, 5]
    shape[dim : dim + 1 or None] = [1] if keepdim else []
    assert list(result.shape) == shape
    assert result.dtype is ttnn.bfloat8_b
    np.testing.assert_array_equal(_values(result).reshape(-1), _values(expected).reshape(-1))


@pytest.mark.parametrize("tiles", [1, 2])
@pytest.mark.parametrize(("word", "expected"), [(0x7FC0, 0x7F80), (0xFFC1, 0xFF80), (0x0001, 0), (0x8000, 0)])
def test_every_tile_passes_through_dst(tiles: int, word: int, expected: int, device: ttnn.MeshDevice) -> None:
    """A single element too: NaN becomes infinite, denormals 0.

    It is multiplied by none; -0 becomes 0, too.
    """
    words = np.full((tiles, 1024), 0x3F80, np.uint16)
    words[0, 5] = word
    product = ttnn.prod(from_raw(words, (tiles, 32, 32), ttnn.bfloat16, device), keepdim=True)
    assert raw_of(product).view(np.uint16)[0] == expected
    small = ttnn.prod(from_raw(words, (tiles, 1, 6), ttnn.bfloat16, device))
    assert raw_of(small).view(np.uint16)[0] == expected


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("shape", [(7,), (5, 40), (3, 33, 31), (2, 3, 2, 33, 5)])
@pytest.mark.parametrize("layout", [TILE, ROWS])
def test_products_that_are_exact(
    dtype: ttnn.DataType, shape: tuple[int, ...], layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    values = np.random.default_rng(3).choice(np.float32([0.5, 1.0, -1.0, 2.0]), size=shape)
    x = _device(values, device, dtype, layout)
    for dim in range(-len(shape), len(shape)):
        result = ttnn.prod(x, dim)
        np.testing.assert_array_equal(_values(result), np.prod(values, axis=dim))
        assert result.layout is TILE
    assert tuple(ttnn.prod(x, keepdim=True).shape) == (1,) * len(shape)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(2, 3, 33, 31), (3, 2, 1, 40), (2, 1, 3, 2, 5)])
def test_every_element_is_multiplied_for_itself(
    dtype: ttnn.DataType, shape: tuple[int, ...], device: ttnn.MeshDevice
) -> None:
    """More leading dimensions return bits of one-by-one multiplication."""
    generator = np.random.default_rng(8)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-39, -1e-39, 3e38, -1e-30])
    values = np.where(
        generator.random(shape) < 0.1, generator.choice(special, size=shape), generator.normal(size=shape)
    )
    whole = _device(values, device, dtype)
    for dim in (-1, -2):
        got = _values(ttnn.prod(whole, dim)).reshape(-1, shape[-3 - dim])
        matrices = values.reshape(-1, *shape[-2:])
        expected = [_values(ttnn.prod(_device(matrix, device, dtype), dim)) for matrix in matrices]
        np.testing.assert_array_equal(got.view(np.uint32), np.stack(expected).view(np.uint32))


def _on_fpu(a: ttnn.Tensor, b: ttnn.Tensor) -> ttnn.Tensor:
    """Return two tensors' product as one chain step.

    It has the second's data type. In a 16-bit Dst for bfloat16, with 32 bits for float32.
    """
    output = ttnn.zeros(a.shape, b.dtype, TILE, a.device())
    assert a.buffer is not None
    assert output.buffer is not None
    codes = FORMAT_CODE[a.dtype], FORMAT_CODE[b.dtype], FORMAT_CODE[output.dtype]
    shape, wide = tuple(a.shape), a.dtype is ttnn.float32
    _engine.binary(
        a.buffer,
        b.buffer,
        output.buffer,
        formats=codes,
        op="mul",
        engine="fpu",
        scalar=None,
        scalar_is_lhs=False,
        shape_a=shape,
        shape_b=shape,
        shape_out=shape,
        tiled=True,
        fidelity=3 if wide else 4,
        dst32=wide,
    )
    return output


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(3, 35, 66, 40), (35, 2, 3, 33), (66, 33), (1, 40, 70)])
def test_chains_are_products_on_the_fpu(dtype: ttnn.DataType, shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    """Factors multiply the product so far, across tiles and blocks."""
    generator = np.random.default_rng(9)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, 1e-39, 3e38, -3e38, 1.2e-38])
    near = np.exp2(generator.normal(size=shape) * 0.1) * generator.choice([-1.0, 1.0], size=shape)
    values = np.where(generator.random(shape) < 0.01, generator.choice(special, size=shape), near).astype(np.float32)
    x = _device(values, device, dtype)
    for dim in range(len(shape)):
        parts = [np.atleast_2d(part) for part in np.moveaxis(values, dim, 0)]
        expected = _device(np.ones_like(parts[0]), device, dtype)
        if dtype is ttnn.float32:
            # The first factor is copied: through SrcA, which has TF32, and without denormals.
            first = parts.pop(0).view(np.uint32) & np.uint32(0xFFFFE000)
            first = np.where(first & np.uint32(0x7F800000), first, 0).astype(np.uint32).view(np.float32)
            expected = _device(first, device, dtype)
        for part in parts:
            expected = _on_fpu(expected, _device(part, device, dtype))
        got = _values(ttnn.prod(x, dim))
        np.testing.assert_array_equal(got.reshape(-1).view(np.uint32), _values(expected).reshape(-1).view(np.uint32))


def _block_floats(shape: tuple[int, ...], dtype: ttnn.DataType, kind: str, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return a tensor of random bytes, ordinary exponents, or near 1."""
    generator = np.random.default_rng(10)
    near = np.exp2(generator.normal(size=shape) * 0.1) * generator.choice([-1.0, 1.0], size=shape)
    tensor = _device(near, device, dtype)
    if kind == "near 1":
        return tensor
    pages = tensor.spec.num_pages
    raw = generator.integers(0, 256, (pages, tensor.spec.page_bytes), dtype=np.uint8)
    if kind == "ordinary":
        raw[:, :64] = raw[:, :64] % 4 + 126
    return from_raw(raw, shape, dtype, device)


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    "shape",
    [
        (7,),
        (1,),
        (1, 40),
        (40, 1),
        (33, 70),
        (66, 16),
        (3, 33, 1),
        (2, 1, 40),
        (3, 2, 66, 40),
        (2, 35, 3, 33),
        (40, 1, 2, 3),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["near 1", "ordinary", "any"])
def test_block_floats_are_exchanged_and_multiplied(
    dtype: ttnn.DataType, shape: tuple[int, ...], kind: str, device: ttnn.MeshDevice
) -> None:
    """Row and column results equal a permute and a product.

    It is the product of what comes first.
    """
    x = _block_floats(shape, dtype, kind, device)
    rank = len(shape)
    for dim in range(max(rank - 2, 0), rank):
        rest = [size for axis, size in enumerate(shape) if axis != dim]
        moved = ttnn.permute(x, [dim, *(axis for axis in range(rank) if axis != dim)]) if rank > 1 else x
        moved = ttnn.reshape(moved, (shape[dim], *[1] * (2 - len(rest)), *rest))
        for keepdim in (False, True):
            kept = [1 if axis == dim else size for axis, size in enumerate(shape)] if keepdim else rest
            expected = ttnn.reshape(ttnn.prod(moved, 0), kept)
            got = ttnn.prod(x, dim, keepdim)
            assert got.shape == expected.shape
            np.testing.assert_array_equal(raw_of(got), raw_of(expected))


def test_places_and_outputs(device: ttnn.MeshDevice) -> None:
    values = _short((2, 3, 33, 40), seed=4)
    x = _device(values, device)
    assert ttnn.prod(x, memory_config=ttnn.L1_MEMORY_CONFIG).memory_config() == ttnn.L1_MEMORY_CONFIG
    assert ttnn.prod(x, 1, memory_config=ttnn.L1_MEMORY_CONFIG).memory_config() == ttnn.L1_MEMORY_CONFIG
    output = _device(np.zeros((1, 1, 33, 40)), device)
    assert ttnn.prod(x, output, dims=[0, 1]) is output
    np.testing.assert_array_equal(_values(output), _values(ttnn.prod(ttnn.prod(x, 1, True), 0, True)))
    with pytest.raises(ttnn.UnsupportedError, match=r"dims=\[2\] names rows or columns"):
        ttnn.prod(x, output, dims=[2])
    with pytest.raises(ttnn.ShapeError, match="names no dimension, or one twice"):
        ttnn.prod(x, output, dims=[0, 0])
    with pytest.raises(ttnn.ShapeError, match=r"output_tensor is Shape\(\[1, 1, 33, 40\]\), the result is"):
        ttnn.prod(x, output, dims=[0])


def test_products_of_nothing(device: ttnn.MeshDevice) -> None:
    x = ttnn.zeros((2, 0, 3), ttnn.bfloat16, TILE, device)
    assert float(_values(ttnn.prod(x))) == 1.0
    np.testing.assert_array_equal(_values(ttnn.prod(x, 1)), np.ones((2, 3)))
    assert tuple(ttnn.prod(x, 0).shape) == (0, 3)


def test_wrong_products_raise_errors(device: ttnn.MeshDevice) -> None:
    integers = ttnn.ones((2, 2), ttnn.int32, TILE, device)
    with pytest.raises(ttnn.DTypeError, match="unsupported data type for prod, expected BFLOAT16, FLOAT32, BFLOAT8_B"):
        ttnn.prod(integers, 0)
    sharded = ttnn.create_sharded_memory_config((64, 32), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.HEIGHT)
    with pytest.raises(ttnn.MemoryConfigError, match="Memory layout must be INTERLEAVED"):
        ttnn.prod(ttnn.to_memory_config(_device(np.ones((64, 32)), device), sharded))
    with pytest.raises(ttnn.ShapeError, match="dim=2 is out of range for a tensor of rank 2"):
        ttnn.prod(_device(np.ones((4, 4)), device), 2)


@pytest.mark.parametrize("layout", [TILE, ROWS])
def test_gradient_of_everything(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(5).choice(np.float32([0.5, 1.0, -1.0, 2.0]), size=(3, 40))
    x = _device(values, device, layout=layout)
    product = float(np.prod(values.astype(np.float64)))
    for grad in (np.full((1, 1), -2.0), np.arange(3.0, 123.0).reshape(3, 40)):
        (gradient,) = ttnn.prod_bw(_device(grad, device, layout=layout), x)
        np.testing.assert_array_equal(_values(gradient), grad.flat[0] * product / values)
    with pytest.raises(ttnn.ShapeError, match="the gradient of one product is one number"):
        ttnn.prod_bw(_device(np.ones((1, 40)), device), x)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_gradient_along_a_dimension(dim: int, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(6).choice(np.float32([0.5, 1.0, -1.0, 2.0]), size=(3, 4, 40))
    x = _device(values, device, ttnn.float32)
    products = np.prod(values, axis=dim, keepdims=True)
    grad = np.random.default_rng(7).choice(np.float32([1.0, -2.0, 3.0]), size=products.shape)
    for given in (grad, np.squeeze(grad, dim)):
        (gradient,) = ttnn.prod_bw(_device(given, device, ttnn.float32), x, dim=dim)
        np.testing.assert_array_equal(_values(gradient), grad * products / values)
    if dim == 0:
        with pytest.raises(ttnn.ShapeError, match="grad_tensor is"):
            ttnn.prod_bw(x, x, dim=dim)
        return
    full = np.zeros_like(values)
    full[(..., slice(1), slice(None)) if dim == 1 else (..., slice(1))] = grad
    (gradient,) = ttnn.prod_bw(_device(full, device, ttnn.float32), x, dim=dim)
    np.testing.assert_array_equal(_values(gradient), grad * products / values)


_FEW = [(2, 1, 2), (70, 1, 1), (5, 3, 2, 2), (40, 2, 3), (33, 32, 1), (33, 1, 32), (9, 8, 8), (6, 9, 7), (4, 5, 13)]


@pytest.mark.parametrize("chip", ["n150", "p150"])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=lambda dtype: dtype.name)
def test_small_matrices_of_rows_have_the_bits_of_their_tiles(dtype: ttnn.DataType, chip: str) -> None:
    """Small row-major matrices are multiplied in place.

    They have up to 64 elements, and padding of ones.
    """
    generator = np.random.default_rng(9)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-39, -1e-39, 3e38, 1e-30])
    with ttnn.manage_device(device_id=0, chip=chip) as device:
        for shape in _FEW:
            *leading, _, _ = shape
            for share in (0.0, 0.02, 0.5):
                values = np.exp2(generator.normal(0.0, 0.4, size=shape)) * generator.choice([1.0, -1.0], size=shape)
                values = np.where(generator.random(shape) < share, generator.choice(special, size=shape), values)
                rows = _device(values, device, dtype, ROWS)
                tiles = ttnn.tilize_with_val_padding(rows, [*leading, 32, 32], 1.0)
                got, expected = (raw_of(prod._last_tile(x)) for x in (rows, tiles))
                np.testing.assert_array_equal(got, expected, err_msg=f"{shape}, {share}")
