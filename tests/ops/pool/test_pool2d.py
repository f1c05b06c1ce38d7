"""Pooling: comparison with PyTorch, exact maxima, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

CASES: list[tuple[tuple[int, int, int, int], dict[str, Any]]] = [
    ((1, 8, 8, 32), {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0)}),
    ((2, 9, 7, 40), {"kernel_size": (3, 3), "stride": (2, 1), "padding": (1, 1)}),
    ((1, 10, 10, 16), {"kernel_size": (3, 2), "stride": (2, 2), "padding": (1, 0), "ceil_mode": True}),
    ((1, 12, 12, 64), {"kernel_size": (5, 5), "stride": (1, 1), "padding": (2, 2)}),
    ((1, 16, 16, 8), {"kernel_size": (7, 7), "stride": (3, 3), "padding": (3, 3)}),
]


def _image(shape: tuple[int, ...], device: ttnn.MeshDevice) -> ttnn.Tensor:
    values = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    return ttnn.Tensor(values, ttnn.bfloat16).to(device)


def _channels_first(x: ttnn.Tensor) -> Any:
    torch = pytest.importorskip("torch")
    return torch.from_numpy(np.asarray(x.to_numpy(), np.float64)).permute(0, 3, 1, 2)


def _flat(reference: Any) -> np.ndarray:
    return np.asarray(reference.permute(0, 2, 3, 1).reshape(1, 1, -1, reference.shape[1]))


@pytest.mark.parametrize(("shape", "options"), CASES)
def test_maxima_are_exact(shape: tuple[int, int, int, int], options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    x = _image(shape, device)
    batch, height, width, channels = shape
    result = ttnn.max_pool2d(
        x, batch_size=batch, input_h=height, input_w=width, channels=channels, dilation=(1, 1), **options
    )
    torch = pytest.importorskip("torch")
    reference = _flat(torch.nn.functional.max_pool2d(_channels_first(x), **options))
    np.testing.assert_array_equal(np.asarray(result.to_numpy(), np.float64), reference)


@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_means_are_near(
    shape: tuple[int, int, int, int], options: dict[str, Any], count_include_pad: bool, device: ttnn.MeshDevice
) -> None:
    x = _image(shape, device)
    batch, height, width, channels = shape
    result = ttnn.avg_pool2d(
        x,
        batch_size=batch,
        input_h=height,
        input_w=width,
        channels=channels,
        count_include_pad=count_include_pad,
        **options,
    )
    torch = pytest.importorskip("torch")
    reference = _flat(
        torch.nn.functional.avg_pool2d(_channels_first(x), count_include_pad=count_include_pad, **options)
    )
    assert np.max(np.abs(np.asarray(result.to_numpy(), np.float64) - reference)) < 0.03


def test_windows_that_divide_the_image(device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    x = _image((1, 8, 8, 32), device)
    first = _channels_first(x)
    largest = ttnn.adaptive_max_pool2d(x, 1, 8, 8, 32, [3, 5])
    expected = _flat(torch.nn.functional.adaptive_max_pool2d(first, (3, 5)))
    np.testing.assert_array_equal(np.asarray(largest.to_numpy(), np.float64), expected)
    mean = ttnn.adaptive_avg_pool2d(x, 1, 8, 8, 32, [3, 5])
    expected = _flat(torch.nn.functional.adaptive_avg_pool2d(first, (3, 5)))
    assert np.max(np.abs(np.asarray(mean.to_numpy(), np.float64) - expected)) < 0.02


def test_a_divisor_may_be_given(device: ttnn.MeshDevice) -> None:
    x = _image((1, 4, 4, 32), device)
    halves = ttnn.avg_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0], divisor_override=8)
    quarters = ttnn.avg_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0])
    np.testing.assert_array_equal(
        np.asarray(quarters.to_numpy(), np.float64), 2 * np.asarray(halves.to_numpy(), np.float64)
    )


def test_infinities_and_zeros(device: ttnn.MeshDevice) -> None:
    values = np.full((1, 2, 2, 32), -np.inf, np.float32)
    values[0, 0, 0, 1], values[0, 0, 0, 2] = -0.0, np.inf
    x = ttnn.Tensor(values, ttnn.bfloat16).to(device)
    result = np.asarray(ttnn.max_pool2d(x, 1, 2, 2, 32, [2, 2], [2, 2], [0, 0], [1, 1]).to_numpy(), np.float64)
    assert result[0, 0, 0, 0] == -np.inf
    assert result[0, 0, 0, 1] == 0
    assert not np.signbit(result[0, 0, 0, 1])
    assert result[0, 0, 0, 2] == np.inf


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("factor", [2, (3, 2), 4])
def test_upsample_matches_torch(mode: str, factor: Any, device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    x = _image((2, 5, 6, 32), device)
    result = ttnn.upsample(x, factor, mode=mode)
    options = {} if mode == "nearest" else {"align_corners": False}
    reference = torch.nn.functional.interpolate(_channels_first(x), scale_factor=factor, mode=mode, **options)
    got = np.asarray(result.to_numpy(), np.float64)
    expected = np.asarray(reference.permute(0, 2, 3, 1))
    assert got.shape == expected.shape
    if mode == "nearest":
        np.testing.assert_array_equal(got, expected)
    assert np.max(np.abs(got - expected)) < 0.05


@pytest.mark.parametrize("factor", [1.5, (2.5, 1.25), (0.75, 0.5), (2.0, 0.5), (1.5, 3), 0.3])
def test_images_larger_by_fractions(factor: Any, device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    x = _image((2, 8, 20, 32), device)
    result = ttnn.upsample(x, factor)
    reference = torch.nn.functional.interpolate(_channels_first(x), scale_factor=factor, mode="nearest")
    np.testing.assert_array_equal(result.to_numpy(), np.asarray(reference.permute(0, 2, 3, 1)))
    golden = ttnn.get_golden_function(ttnn.upsample)(x.to_torch(), factor)
    assert torch.equal(golden.to(torch.bfloat16), result.to_torch())


def test_positions_of_fractions_have_16_fractional_bits(device: ttnn.MeshDevice) -> None:
    """The reciprocal rounds up, so far right pixels come early."""
    x = ttnn.from_torch(_wide(30000), dtype=ttnn.bfloat16, device=device)
    got = np.asarray(ttnn.upsample(x, [1, 1.1]).to_numpy(), np.int64)[0, 0, :, :2] @ [1, 256]
    outputs = np.arange(33000)
    np.testing.assert_array_equal(got, np.minimum(outputs * 59579 >> 16, 29999))
    assert np.any(got != np.floor(outputs / 1.1))


def _wide(width: int) -> Any:
    """Return a pixel row with numbers in two base 256 digits."""
    torch = pytest.importorskip("torch")
    pixels = torch.arange(width).reshape(1, 1, width, 1)
    return torch.cat([pixels % 256, pixels // 256], dim=3).to(torch.bfloat16)


def test_shards_of_images_larger_by_fractions_stay_on_their_cores(device: ttnn.MeshDevice) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 3))])
    spec = ttnn.ShardSpec(cores, [32, 32], ttnn.ShardOrientation.ROW_MAJOR)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    x = _image((1, 8, 16, 32), device)
    result = ttnn.upsample(ttnn.to_memory_config(x, place), [1.5, 1.0])
    assert result.memory_config().shard_spec == ttnn.ShardSpec(cores, [48, 32], spec.orientation)
    np.testing.assert_array_equal(result.to_numpy(), ttnn.upsample(x, [1.5, 1.0]).to_numpy())


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x = _image((1, 4, 4, 32), device)
    with pytest.raises(ttnn.ShapeError, match="pixels"):
        ttnn.max_pool2d(x, 1, 5, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1])
    with pytest.raises(ttnn.ParameterError, match="more than half"):
        ttnn.max_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [2, 2], [1, 1])
    with pytest.raises(ttnn.ParameterError, match="does not fit"):
        ttnn.avg_pool2d(x, 1, 4, 4, 32, [5, 5], [1, 1], [0, 0])
    with pytest.raises(ttnn.ParameterError, match="mode"):
        ttnn.upsample(x, 2, mode="cubic")
    with pytest.raises(ttnn.ParameterError, match="bilinear requires integers"):
        ttnn.upsample(x, 1.5, mode="bilinear")
    with pytest.raises(ttnn.ParameterError, match="positive"):
        ttnn.upsample(x, [1.5, -0.5])
    with pytest.raises(ttnn.LayoutError, match="ROW_MAJOR"):
        ttnn.upsample(ttnn.to_layout(_image((1, 4, 32, 32), device), ttnn.TILE_LAYOUT), 1.5)
    with pytest.raises(ttnn.ShapeError, match="leaves nothing"):
        ttnn.upsample(x, [1.0, 0.2])
    with pytest.raises(ttnn.MemoryConfigError, match="not sharded"):
        ttnn.upsample(x, 1.5, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
    assert ttnn.max_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1]).shape == (1, 1, 4, 32)


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), [((3, 3), 2, 1, 1), ((2, 4), 1, 0, 2)])
def test_pixels_of_the_largest(
    kernel: tuple[int, int], stride: int, padding: int, dilation: int, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    torch = pytest.importorskip("torch")
    # Few values, so that many are equal: the first counts.
    values = np.random.default_rng(7).integers(-5, 5, (2, 9, 11, 40)).astype(np.float32)
    x = ttnn.Tensor(values.reshape(1, 1, -1, 40), ttnn.bfloat16, device=device)
    options = {"batch_size": 2, "input_h": 9, "input_w": 11, "channels": 40, "kernel_size": list(kernel)}
    options |= {"stride": [stride] * 2, "padding": [padding] * 2, "dilation": [dilation] * 2}
    largest, found = ttnn.max_pool2d(x, **options, return_indices=True, output_layout=layout)
    wanted, indices = torch.nn.functional.max_pool2d(
        torch.from_numpy(values.transpose(0, 3, 1, 2).copy()), kernel, stride, padding, dilation, return_indices=True
    )
    shape = tuple(largest.shape)
    np.testing.assert_array_equal(values_of(largest), wanted.permute(0, 2, 3, 1).reshape(shape).numpy())
    np.testing.assert_array_equal(values_of(found), indices.permute(0, 2, 3, 1).reshape(shape).numpy())
    assert found.dtype is ttnn.uint16
    assert found.layout is layout


def test_pixels_beyond_65535(device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(7).normal(size=(1, 1, 256 * 257, 1)).astype(np.float32)
    x = ttnn.Tensor(values, ttnn.bfloat16, device=device)
    options = {"batch_size": 1, "input_h": 256, "input_w": 257, "channels": 1, "kernel_size": [256, 257]}
    _, found = ttnn.max_pool2d(
        x, **(options | {"kernel_size": [4, 1]}), stride=[4, 1], padding=[0, 0], dilation=[1, 1], return_indices=True
    )
    assert found.dtype is ttnn.uint32
    rows = values_of(x).reshape(64, 4, 257)
    expected = (np.arange(64)[:, None] * 4 + rows.argmax(1)) * 257 + np.arange(257)
    np.testing.assert_array_equal(values_of(found).reshape(64, 257), expected)


def test_block_floats_come_out_in_tiles(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 64, 64), ttnn.bfloat8_b, ttnn.TILE_LAYOUT, device)
    options = {"batch_size": 1, "input_h": 8, "input_w": 8, "channels": 64, "kernel_size": [2, 2]}
    options |= {"stride": [2, 2], "padding": [0, 0], "dilation": [1, 1]}
    plain = ttnn.max_pool2d(x, **options, output_layout=ttnn.TILE_LAYOUT)
    packed = ttnn.max_pool2d(x, **options, output_layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
    np.testing.assert_array_equal(values_of(packed), values_of(ttnn.typecast(plain, ttnn.bfloat8_b)))
    with pytest.raises(ttnn.LayoutError, match="BFLOAT8_B"):
        ttnn.max_pool2d(x, **options, dtype=ttnn.bfloat8_b)
    flat = ttnn.max_pool2d(ttnn.reshape(x, (64, 64)), **options)
    np.testing.assert_array_equal(values_of(flat), values_of(plain))
