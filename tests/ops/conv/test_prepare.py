"""Prepared weights and bias return unprepared ones' bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import raw_of

SIZES = {
    "in_channels": 32,
    "out_channels": 64,
    "batch_size": 1,
    "input_height": 6,
    "input_width": 5,
    "kernel_size": (3, 3),
}
FORMS = [("conv2d", (64, 16, 3, 3), "OIHW"), ("conv_transpose2d", (32, 32, 3, 3), "IOHW")]


def _tensors(shape: tuple[int, ...]) -> list[ttnn.Tensor]:
    rng = np.random.default_rng(0)
    shapes = [(1, 1, 30, 32), shape, (1, 1, 1, 64)]
    return [ttnn.Tensor(rng.normal(size=size).astype(np.float32), ttnn.bfloat16) for size in shapes]


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize(("name", "shape", "weights_format"), FORMS)
def test_prepared(
    name: str, shape: tuple[int, ...], weights_format: str, on_device: bool, device: ttnn.MeshDevice
) -> None:
    x, weight, bias = _tensors(shape)
    run = getattr(ttnn, name)
    prefix = "prepare_conv" if name == "conv2d" else "prepare_conv_transpose2d"
    options: dict[str, Any] = SIZES | {"groups": 2, "padding": (1, 1), "device": device}
    expected = run(input_tensor=x, weight_tensor=weight, bias_tensor=bias, **options)
    call = options | {"device": device if on_device else None, "input_dtype": ttnn.bfloat16, "has_bias": True}
    prepared = getattr(ttnn, f"{prefix}_weights")(weight_tensor=weight, weights_format=weights_format, **call)
    of_bias = getattr(ttnn, f"{prefix}_bias")(bias_tensor=bias, **call)
    result = run(input_tensor=x, weight_tensor=prepared, bias_tensor=of_bias, **options)
    np.testing.assert_array_equal(raw_of(result), raw_of(expected))
    with pytest.raises(ttnn.ParameterError, match="weights_format"):
        getattr(ttnn, f"{prefix}_weights")(weight_tensor=weight, weights_format="HWIO", **call)
    with pytest.raises(ttnn.ArgumentError, match="unexpected keyword argument 'strides'"):
        getattr(ttnn, f"{prefix}_bias")(bias_tensor=bias, strides=(1, 1), **call)


def test_extent_of_an_output() -> None:
    """The number of kernel windows that start inside the padded input."""
    for size, window, stride, pad, dilation in ((32, 3, 1, 1, 1), (33, 3, 2, 1, 1), (20, 5, 3, 2, 2), (7, 7, 1, 0, 1)):
        starts = range(-pad, size + pad - dilation * (window - 1), stride)
        assert ttnn.get_conv_output_dim(size, window, stride, pad, dilation) == len(starts)
