"""Data types of prepared weights and biases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn

SIZES: dict[str, Any] = {
    "in_channels": 32,
    "out_channels": 32,
    "batch_size": 1,
    "input_height": 8,
    "input_width": 8,
    "kernel_size": [3, 3],
    "padding": [1, 1],
    "return_weights_and_bias": True,
}


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("wanted", [None, ttnn.bfloat16])
@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16])
@pytest.mark.parametrize("operator", [ttnn.conv2d, ttnn.conv_transpose2d])
def test_weights_keep_their_type_unless_the_configuration_has_one(
    operator: Any, dtype: ttnn.DataType, wanted: ttnn.DataType | None, device: ttnn.MeshDevice
) -> None:
    image = ttnn.to_device(ttnn.Tensor(_random(1, 1, 64, 32), ttnn.float32), device)
    weight, bias = ttnn.Tensor(_random(32, 32, 3, 3), dtype), ttnn.Tensor(_random(1, 1, 1, 32), ttnn.float32)
    config = None if wanted is None else ttnn.Conv2dConfig(weights_dtype=wanted)
    _, prepared = operator(
        input_tensor=image, weight_tensor=weight, bias_tensor=bias, device=device, conv_config=config, **SIZES
    )
    assert [tensor.dtype for tensor in prepared] == [wanted or dtype] * 2
