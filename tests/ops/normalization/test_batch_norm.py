"""`ttnn.batch_norm`: inference, training, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import normalization as golden

TILES = ttnn.TILE_LAYOUT
SHAPE, CHANNEL = (2, 3, 40, 64), (1, 3, 1, 1)


def channels(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> dict[str, ttnn.Tensor]:
    names = ("running_mean", "running_var", "weight", "bias")
    return {
        name: make(CHANNEL, dtype, TILES, device, seed, fit=lambda values: np.abs(values) + 0.5)
        for seed, name in enumerate(names)
    }


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("affine", [False, True])
def test_inference(affine: bool, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x, kept = make(SHAPE, dtype, TILES, device, 9), channels(dtype, device)
    if not affine:
        del kept["weight"], kept["bias"]
    result = ttnn.batch_norm(x, eps=2**-10, **kept)
    expected = golden.batch_norm(values_of(x), eps=2**-10, **{name: values_of(t) for name, t in kept.items()})
    step = 2**-7 if dtype is ttnn.bfloat16 else 2**-18
    np.testing.assert_allclose(values_of(result), expected, atol=step * np.abs(expected).max())
    output = ttnn.empty_like(x)
    assert ttnn.batch_norm(x, eps=2**-10, output=output, **kept) is output
    np.testing.assert_array_equal(values_of(output), values_of(result))


def test_training_moves_the_statistics(device: ttnn.MeshDevice) -> None:
    x, kept = make(SHAPE, ttnn.float32, TILES, device, 9), channels(ttnn.float32, device)
    values = values_of(x)
    expected = {
        name: 0.75 * values_of(kept[name]) + 0.25 * of
        for name, of in (
            ("running_mean", values.mean((0, 2, 3), keepdims=True)),
            ("running_var", values.var((0, 2, 3), keepdims=True, ddof=1)),
        )
    }
    result = ttnn.batch_norm(x, training=True, momentum=0.25, **kept)
    reference = golden.batch_norm(values, training=True, **{n: values_of(kept[n]) for n in ("weight", "bias")})
    np.testing.assert_allclose(values_of(result), reference, atol=1e-4)
    for name, statistics in expected.items():
        np.testing.assert_allclose(values_of(kept[name]), statistics, rtol=1e-5)


def test_missing_and_wrong_operands_raise_errors(device: ttnn.MeshDevice) -> None:
    x, kept = make(SHAPE, ttnn.bfloat16, TILES, device), channels(ttnn.bfloat16, device)
    with pytest.raises(ttnn.ParameterError, match="must be defined in evaluation mode"):
        ttnn.batch_norm(x)
    with pytest.raises(ttnn.ShapeError, match="running_mean has shape"):
        ttnn.batch_norm(x, **kept | {"running_mean": make((1, 2, 1, 1), ttnn.bfloat16, TILES, device)})
    with pytest.raises(ttnn.DTypeError, match="weight is FLOAT32"):
        ttnn.batch_norm(x, **kept | {"weight": make(CHANNEL, ttnn.float32, TILES, device)})
    with pytest.raises(ttnn.ShapeError, match=r"must be \[N, C, H, W\]"):
        ttnn.batch_norm(make((32, 32), ttnn.bfloat16, TILES, device), training=True)
