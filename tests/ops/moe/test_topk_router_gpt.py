"""`ttnn.experimental.topk_router_gpt` against its reference."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES = ttnn.TILE_LAYOUT
router = ttnn.experimental.topk_router_gpt


def _operands(tokens: int, width: int, device: ttnn.MeshDevice) -> list[ttnn.Tensor]:
    """Return logits that are far enough apart from each other."""
    source = ttnn.multiply(make((tokens, width), ttnn.bfloat16, TILES, device, 1), 2**-8)
    weight = make((width, 128), ttnn.bfloat16, TILES, device, 2)
    steps = np.stack([np.random.default_rng(row).permutation(128) / 2 for row in range(tokens)])
    bias = ttnn.Tensor(steps.astype(np.float32), ttnn.bfloat16, None, TILES).to(device)
    return [source, weight, bias]


@pytest.mark.parametrize(("tokens", "width", "k"), [(32, 96, 4), (5, 352, 32), (1, 2880, 1)])
def test_router_returns_experts_and_weights(tokens: int, width: int, k: int, device: ttnn.MeshDevice) -> None:
    source, weight, bias = _operands(tokens, width, device)
    indices, weights = router(source, weight_tensor=weight, bias_tensor=bias, k=k)
    for tensor, dtype in ((indices, ttnn.uint16), (weights, ttnn.bfloat16)):
        assert (tensor.dtype, tensor.layout) == (dtype, ttnn.ROW_MAJOR_LAYOUT)
        assert tuple(tensor.shape) == (tokens, k)
        assert tensor.memory_config() == ttnn.L1_MEMORY_CONFIG
    golden = ttnn.get_golden_function(router)
    order, expected = golden(values_of(source), values_of(weight), values_of(bias), k=k)
    np.testing.assert_array_equal(values_of(indices), order)
    # Logits of up to 64 lose up to a quarter three times; a weight w of 1 changes by w * (1 - w) times as much.
    np.testing.assert_allclose(values_of(weights), expected, atol=0.75 / 4)


def test_equal_logits_have_the_order_of_the_network(device: ttnn.MeshDevice) -> None:
    """The network is not stable: these are its indices."""
    zeros = [ttnn.zeros(shape, ttnn.bfloat16, TILES, device) for shape in ((32, 96), (96, 128), (32, 128))]
    indices, weights = router(zeros[0], weight_tensor=zeros[1], bias_tensor=zeros[2], k=8)
    found = values_of(indices)
    assert (found == found[0]).all()
    assert len(set(found[0])) == 8
    assert found[0].tolist() == [0, 1, 2, 3, 7, 6, 5, 4]
    np.testing.assert_array_equal(values_of(weights), np.full((32, 8), values_of(weights)[0, 0]))


def test_operands_that_do_not_fit(device: ttnn.MeshDevice) -> None:
    source, weight, bias = _operands(32, 96, device)
    with pytest.raises(ttnn.ParameterError, match=r"requires k in range \[1, 32\], got 33"):
        router(source, weight_tensor=weight, bias_tensor=bias, k=33)
    with pytest.raises(ttnn.ParameterError, match="only supports num_experts=128"):
        router(source, weight_tensor=weight, bias_tensor=bias, num_experts=64)
    with pytest.raises(ttnn.ShapeError, match="Weight tensor dim 0 must match input hidden_dim 96, got 128"):
        router(source, weight_tensor=make((128, 128), ttnn.bfloat16, TILES, device), bias_tensor=bias)
    with pytest.raises(ttnn.ShapeError, match="Bias tensor dim 0 must match batch size 32, got 1"):
        router(source, weight_tensor=weight, bias_tensor=make((1, 128), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.DTypeError, match="Input tensor must have BFLOAT16 dtype"):
        router(make((32, 96), ttnn.float32, TILES, device), weight_tensor=weight, bias_tensor=bias)
    with pytest.raises(ttnn.ShapeError, match=r"batch_size in \[1, 32\], got 64"):
        router(make((64, 96), ttnn.bfloat16, TILES, device), weight_tensor=weight, bias_tensor=bias)
    narrow = [make(shape, ttnn.bfloat16, TILES, device) for shape in ((32, 64), (64, 128))]
    with pytest.raises(ttnn.UnsupportedError, match="leave one of 3 cores without a product"):
        router(narrow[0], weight_tensor=narrow[1], bias_tensor=bias)
