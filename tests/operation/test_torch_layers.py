"""Golden layer functions on torch: official arguments, types and forms."""

from __future__ import annotations

from typing import Any

import pytest

import ttnn
from ttnn.operation.registry import find

torch = pytest.importorskip("torch")
_FLOATS = (torch.float32, torch.bfloat16)


def _golden(name: str) -> Any:
    return ttnn.get_golden_function(find(f"ttnn.{name}"))


def _random(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_products_transpose_by_position(dtype: Any) -> None:
    a, b = _random(8, 6, dtype=dtype), _random(8, 4, dtype=dtype, seed=1)
    assert torch.equal(_golden("matmul")(a, b, True), a.T @ b)
    assert torch.equal(_golden("matmul")(a.T, b.T, False, True), a.T @ b)
    assert torch.equal(_golden("linear")(a, b, True, bias=torch.ones(4, dtype=dtype)), a.T @ b + 1)
    assert torch.equal(_golden("matmul")(input_tensor_a=a.T, input_tensor_b=b), a.T @ b)


def test_a_bias_of_a_tile_has_one_row() -> None:
    a, b = _random(1, 1, 4, 32), _random(32, 16, seed=1)
    bias = _random(1, 1, 32, 16, seed=2)
    assert torch.equal(_golden("linear")(a, b, bias=bias), a @ b + bias[:, :, :1])


@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        ("relu", torch.relu),
        (ttnn.UnaryOpType.SILU, torch.nn.functional.silu),
        (ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU), torch.relu),
        ("gelu_approx", lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    ],
)
def test_activations_of_products(activation: Any, expected: Any) -> None:
    a, b = _random(8, 6), _random(6, 4, seed=1)
    assert torch.equal(_golden("linear")(a, b, activation=activation), expected(a @ b))


def test_addmm_scales_both_terms() -> None:
    x, a, b = _random(4, 5), _random(4, 6, seed=1), _random(6, 5, seed=2)
    expected = torch.addmm(x, a, b, alpha=0.5, beta=2.0)
    assert torch.equal(_golden("addmm")(x, a, b, alpha=0.5, beta=2.0), expected)
    assert torch.equal(_golden("addmm")(input_tensor=x, mat1_tensor=a, mat2_tensor=b), torch.addmm(x, a, b))


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_norms_match_torch(dtype: Any) -> None:
    x, weight, bias = (_random(*shape, dtype=dtype) for shape in ((2, 3, 32), (32,), (1, 32)))
    layer = torch.nn.functional.layer_norm(x, (32,), weight, bias[0], eps=1e-5)
    assert torch.equal(_golden("layer_norm")(x, weight=weight, bias=bias, epsilon=1e-5), layer)
    scaled = x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-12)
    assert torch.equal(_golden("rms_norm")(x), scaled)
    assert _golden("rms_norm")(x).dtype == torch.float32
    assert torch.equal(_golden("rms_norm")(x, weight), weight * scaled.to(dtype))
    rows = weight.reshape(1, 1, 32)
    assert torch.equal(_golden("rms_norm")(x, rows), weight * scaled.to(dtype))


@pytest.mark.parametrize("name", ["normalize_hw", "normalize_global"])
def test_normalization_divides_by_the_deviation_of_a_sample(name: str) -> None:
    x = _random(2, 3, 4, 5)
    dims = (2, 3) if name == "normalize_hw" else (0, 1, 2, 3)
    expected = (x - x.mean(dims, keepdim=True)) / x.std(dims, keepdim=True)
    assert torch.equal(_golden(name)(x), expected)


@pytest.mark.parametrize(
    "name", ["scale_mask_softmax", "scale_mask_softmax_in_place", "scale_causal_mask_hw_dims_softmax_in_place"]
)
def test_scaled_softmax_is_of_float32(name: str) -> None:
    x, mask = _random(1, 2, 4, 8, dtype=torch.bfloat16), _random(1, 1, 1, 8, dtype=torch.bfloat16, seed=1)
    expected = torch.softmax(x.float() * 0.5 + mask, dim=-1)
    golden = _golden(name)
    assert torch.equal(golden(x, 0.5, mask), expected)
    assert torch.equal(golden(x, scalar=0.5, attention_mask=mask), expected)
    assert torch.equal(golden(x, scale=0.5, mask=mask), expected)
    assert torch.equal(golden(x, mask, scale=0.5), expected)


def test_heads_and_rotations() -> None:
    x, cos, sin = _random(1, 2, 1, 64), _random(1, 1, 8, 64, seed=1), _random(1, 1, 8, 64, seed=2)
    heads = _golden("transformer.concatenate_heads")(_random(2, 3, 4, 5))
    assert heads.shape == (2, 4, 15)
    assert heads[1, 2, 7] == _random(2, 3, 4, 5)[1, 1, 2, 2]
    turned = torch.cat((-x[..., 32:], x[..., :32]), dim=-1)
    expected = x * cos[:, :, 3:4] + turned * sin[:, :, 3:4]
    assert torch.equal(_golden("experimental.rotary_embedding")(x, cos, sin, 3), expected)


def test_convolution_is_of_float32() -> None:
    x, weight = _random(1, 1, 64, 4, dtype=torch.bfloat16), _random(8, 4, 3, 3, dtype=torch.bfloat16, seed=1)
    options = {"in_channels": 4, "out_channels": 8, "batch_size": 1, "input_height": 8, "input_width": 8}
    options |= {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1}
    image = x.reshape(1, 8, 8, 4).permute(0, 3, 1, 2).float()
    expected = torch.nn.functional.conv2d(image, weight.float(), padding=1).permute(0, 2, 3, 1).reshape(1, 1, 64, 8)
    result = _golden("conv2d")(x, weight, **options)
    torch.testing.assert_close(result, expected, rtol=1e-6, atol=1e-5)
    (listed,) = _golden("conv2d")(input_tensor=x, weight_tensor=weight, return_output_dim=True, **options)
    assert torch.equal(listed, result)


def test_operands_by_name() -> None:
    a, b = _random(3, 4), _random(3, 4, seed=1)
    assert torch.equal(_golden("add")(input_tensor_a=a, input_tensor_b=b), a + b)
    assert torch.equal(_golden("multiply")(a, input_tensor_b=2.0), a * 2.0)
    assert torch.equal(_golden("pow")(a.abs(), exponent=1.5), a.abs() ** 1.5)
    pooled = _golden("max_pool2d")(
        input_tensor=_random(1, 1, 64, 32), batch_size=1, input_h=8, input_w=8, channels=32, kernel_size=[2, 2],
        stride=[2, 2], padding=[0, 0], dilation=[1, 1],
    )  # fmt: skip
    assert pooled.shape == (1, 1, 16, 32)


def test_integers_of_reductions_and_shifts() -> None:
    x = torch.tensor([[1, 0xFFFFFFFF]], dtype=torch.int64).to(torch.uint32)
    assert _golden("sum")(x).dtype == torch.int64
    assert _golden("sum")(x).item() == 2**32
    assert _golden("argmax")(x, dim=1).dtype == torch.int64
    shifted = _golden("logical_right_shift")(x, 4)
    assert shifted.dtype == torch.int32
    assert shifted.tolist() == [[0, 0x0FFFFFFF]]
    assert torch.equal(_golden("mean")(_random(2, 3), dim=1, correction=True), _random(2, 3).mean(1))


def test_gradient_of_a_power() -> None:
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    (gradient,) = _golden("rpow_bw")(torch.ones(2), x, 3.0)
    assert gradient.tolist() == [0.75, 12.0]


def test_reciprocal_of_zero_is_infinite() -> None:
    assert _golden("reciprocal")(torch.tensor([0.0, -0.0]), device=None).tolist() == [float("inf"), float("-inf")]


def test_heads_of_segformer() -> None:
    x = _random(1, 1, 30, 64)
    query, key, value = _golden("experimental.nlp_create_qkv_heads_segformer")(x)
    assert query.shape == key.shape == value.shape == (1, 2, 32, 32)
    assert torch.equal(query[0, 1, :30], x[0, 0, :, 32:])
    assert query[0, :, 30:].abs().max() == key.abs().max() == value.abs().max() == 0
