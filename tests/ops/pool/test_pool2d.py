"""Pooling: what PyTorch gives for the same windows, exact maxima, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn

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
def test_larger_images(mode: str, factor: Any, device: ttnn.MeshDevice) -> None:
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


def test_what_does_not_fit_is_refused(device: ttnn.MeshDevice) -> None:
    x = _image((1, 4, 4, 32), device)
    with pytest.raises(ttnn.ShapeError, match="pixels"):
        ttnn.max_pool2d(x, 1, 5, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1])
    with pytest.raises(ttnn.ParameterError, match="more than half"):
        ttnn.max_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [2, 2], [1, 1])
    with pytest.raises(ttnn.ParameterError, match="does not fit"):
        ttnn.avg_pool2d(x, 1, 4, 4, 32, [5, 5], [1, 1], [0, 0])
    with pytest.raises(ttnn.ParameterError, match="mode"):
        ttnn.upsample(x, 2, mode="cubic")
    with pytest.raises(ttnn.UnsupportedError, match="fractions"):
        ttnn.upsample(x, 1.5)
    assert ttnn.max_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1]).shape == (1, 1, 4, 32)
