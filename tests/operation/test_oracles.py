"""Golden functions on torch tensors: official types, forms and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.golden.gradient_oracles import GRADIENTS
from ttnn.golden.torch_functions import FUNCTIONS
from ttnn.operation.registry import entries, find

torch = pytest.importorskip("torch")

_WITHOUT_GOLDEN = {
    "experimental.padded_slice",
    "experimental.slice_write",
    "bitcast",
    "empty",
    "empty_like",
    "from_buffer",
    "untilize_with_unpadding",
}
_INTEGERS = ("bitwise_", "logical_left_shift", "logical_right_shift", "gcd", "lcm")
_COUNTS = {"unary": 1, "binary": 2, "ternary": 3}
_FLOATS = (torch.float32, torch.bfloat16)
# Gradients at a concatenation, and of functions whose reference has other conventions at ties.
_OTHER_SHAPES = {"concat_bw"}


def _golden(name: str) -> Any:
    return ttnn.get_golden_function(find(f"ttnn.{name}"))


def test_every_operator_has_a_golden_function() -> None:
    assert {entry.name for entry in entries() if entry.golden is None} <= _WITHOUT_GOLDEN


def _operands(count: int, dtype: Any) -> list[Any]:
    generator = torch.Generator().manual_seed(7)
    return [(torch.rand(3, 6, generator=generator) * 0.5 + 0.25).to(dtype) for _ in range(count)]


_PLAIN = [
    entry.name
    for entry in entries()
    if entry.family in _COUNTS
    and entry.name in FUNCTIONS
    and not entry.name.startswith(_INTEGERS)
    and entry.name
    not in {"clamp", "clip", "fill", "heaviside", "polygamma", "polyval", "prelu", "rdiv", "relu_max", "relu_min"}
    and entry.name not in {"rpow", "threshold"}
]


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
@pytest.mark.parametrize("name", _PLAIN)
def test_types_of_element_wise_functions(name: str, dtype: Any) -> None:
    entry = find(f"ttnn.{name}").entry
    assert entry is not None
    result = _golden(name)(*_operands(_COUNTS[entry.family], dtype), device=None)
    assert result.shape == (3, 6)
    assert result.dtype in (dtype, torch.bool) or name == "mish"


@pytest.mark.parametrize("name", _PLAIN)
def test_element_wise_functions_agree_with_the_reference(name: str) -> None:
    entry = find(f"ttnn.{name}").entry
    assert entry is not None
    assert entry.golden is not None
    operands = _operands(_COUNTS[entry.family], torch.float32)
    if name in ("acosh",):
        operands = [operand + 1.0 for operand in operands]
    extra = {"addalpha": (1.0,), "subalpha": (1.0,), "leaky_relu": (0.01,)}.get(name, ())
    expected = entry.golden(*(operand.double().numpy() for operand in operands), *extra)
    result = _golden(name)(*operands).double().numpy()
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
@pytest.mark.parametrize(
    "name",
    sorted(
        set(GRADIENTS)
        - _OTHER_SHAPES
        - {"clamp_bw", "clip_bw", "polygamma_bw", "pow_bw", "rdiv_bw", "repeat_bw", "rpow_bw", "imag_bw", "polar_bw"}
    ),
)
def test_gradients_come_per_tensor_in_their_type(name: str, dtype: Any) -> None:
    gradient = GRADIENTS[name]
    results = _golden(name)(*_operands(1 + gradient.fixed + gradient.tensors, dtype))
    assert [(result.shape, result.dtype) for result in results] == [((3, 6), dtype)] * gradient.tensors


@pytest.mark.parametrize(
    ("name", "extra", "options", "forward"),
    [
        ("pow_bw", (3.0,), {}, lambda x: x**3),
        ("clamp_bw", (0.3, 0.6), {}, lambda x: torch.clamp(x, 0.3, 0.6)),
        ("clip_bw", (), {"min": 0.3, "max": None}, lambda x: torch.clamp(x, 0.3)),
        ("polygamma_bw", (2,), {}, lambda x: torch.special.polygamma(2, x)),
        ("rdiv_bw", (2.0,), {}, lambda x: 2.0 / x),
        ("hardshrink_bw", (0.5,), {}, lambda x: torch.nn.functional.hardshrink(x, 0.5)),
        ("softshrink_bw", (), {"lambd": 0.5}, lambda x: torch.nn.functional.softshrink(x, 0.5)),
        ("threshold_bw", (0.5, 1.0), {}, lambda x: torch.threshold(x, 0.5, 1.0)),
        ("logiteps_bw", (), {"eps": 0.4}, lambda x: torch.logit(x, 0.4)),
        ("elu_bw", (), {"alpha": 0.5}, lambda x: torch.nn.functional.elu(x, 0.5)),
    ],
)
def test_parameters_of_gradients(name: str, extra: Any, options: Any, forward: Any) -> None:
    grad, x = _operands(2, torch.float32)
    leaf = x.clone().requires_grad_()
    forward(leaf).backward(gradient=grad)
    (result,) = _golden(name)(grad, x, *extra, **options)
    assert torch.allclose(result, leaf.grad, rtol=1e-6)
    assert x.grad is None


def test_powers_of_negative_bases_have_infinite_gradients() -> None:
    grad, x = torch.ones(2), torch.tensor([-2.0, 2.0])
    assert _golden("pow_bw")(grad, x, 2.0)[0].tolist() == [float("inf"), 4.0]
    assert _golden("pow_bw")(grad, x, 0)[0].tolist() == [0.0, 0.0]


def test_repetitions_add_up() -> None:
    (result,) = _golden("repeat_bw")(torch.ones(4, 3), torch.ones(2, 3), (2, 1))
    assert torch.equal(result, torch.full((2, 3), 2.0))


def test_gradient_of_a_number_is_left_out() -> None:
    grad, x = _operands(2, torch.float32)
    for name in ("add_bw", "sub_bw", "mul_bw", "div_bw", "fmod_bw"):
        assert len(_golden(name)(grad, x, 2.0)) == 1


def test_complex_gradients_are_joined() -> None:
    grad, real, imag = _operands(3, torch.float32)
    x = torch.complex(real, imag)
    (result,) = _golden("angle_bw")(grad, x)
    leaf = x.clone().requires_grad_()
    torch.angle(leaf).backward(gradient=grad)
    assert torch.equal(result, torch.cat((leaf.grad.real, leaf.grad.imag), dim=-1))
    first, second = _golden("mul_bw")(torch.complex(grad, grad), x, x)
    assert first.shape == second.shape == (3, 12)


def test_golden_integers_wrap() -> None:
    largest = torch.tensor([2**31 - 1], dtype=torch.int32)
    assert _golden("add")(largest, largest).tolist() == [-2]
    assert _golden("multiply")(largest, 2).tolist() == [-2]
    words = torch.tensor([2**32 - 1], dtype=torch.int64).to(torch.uint32)
    assert _golden("add")(words, words).to(torch.int64).tolist() == [2**32 - 2]
    assert _golden("bitwise_right_shift")(words, 4).to(torch.int64).tolist() == [2**28 - 1]
    assert _golden("logical_right_shift")(torch.tensor([-1], dtype=torch.int32), 4).tolist() == [2**28 - 1]


def test_domains_are_masked_in_bfloat16() -> None:
    outside = torch.tensor([2.0], dtype=torch.bfloat16)
    for name in ("asin", "acos", "atanh"):
        assert _golden(name)(outside, device=None).item() == float("inf")
        assert torch.isnan(_golden(name)(outside.float(), device=None)).all()


def test_a_number_beside_a_tensor() -> None:
    x = _operands(1, torch.bfloat16)[0]
    assert torch.equal(_golden("remainder")(x, 0.3, device=None), torch.remainder(x.float(), 0.3).bfloat16())
    assert torch.equal(_golden("maximum")(x, 0.5), torch.clamp(x, min=0.5))
    assert torch.equal(_golden("div")(x, 0.3, "floor"), torch.div(x, 0.3, rounding_mode="floor"))


def test_in_place_comparisons_keep_the_type_and_the_operand() -> None:
    a, b = _operands(2, torch.float32)
    before = a.clone()
    result = _golden("gt_")(a, b)
    assert result.dtype == torch.float32
    assert torch.equal(result, (a > b).float())
    assert torch.equal(a, before)


def test_reductions_return_what_torch_returns() -> None:
    x = _operands(1, torch.float32)[0]
    values, indices = _golden("max")(x, dim=-1)
    assert torch.equal(values, x.max(dim=-1).values)
    assert torch.equal(indices, x.max(dim=-1).indices)
    assert torch.equal(_golden("sum")(x, dim=(0, 1), keepdim=True), x.sum(dim=(0, 1), keepdim=True))
    assert _golden("mean")(x, keepdim=True).shape == (1, 1)
    assert _golden("mse_loss")(x, x, reduction="mean").shape == ()


def test_operators_without_a_function_of_torch_keep_the_type() -> None:
    x = _operands(1, torch.bfloat16)[0]
    assert torch.equal(_golden("permute")(x, (1, 0), device=None), x.T)
    whole = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    assert torch.equal(_golden("permute")(whole, (1, 0)), whole.T)
    assert _golden("softmax")(x, dim=-1).dtype == torch.bfloat16


def test_arrays_are_computed_in_float64() -> None:
    assert _golden("exp")(np.array([1.0])).dtype == np.float64


def test_the_gradient_of_polar_is_cat_of_its_parts() -> None:
    x = torch.complex(*(torch.rand(2, 3, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2)))
    leaf = x.clone().requires_grad_()
    torch.polar(leaf.real, leaf.imag).backward(x.conj())
    (result,) = _golden("polar_bw")(x.conj(), x)
    assert torch.equal(result, torch.cat((leaf.grad.real, leaf.grad.imag), dim=-1))


def test_the_attribute_is_what_the_function_returns() -> None:
    x = torch.tensor([[0.5, 2.0]], dtype=torch.bfloat16)
    assert torch.equal(ttnn.reciprocal.golden_function(x, device=None), torch.reciprocal(x))
    assert ttnn.get_golden_function(ttnn.reciprocal) is ttnn.reciprocal.golden_function

    class Wrapper:
        def golden_function(self, value: Any) -> Any:
            return value + 1

    assert torch.equal(ttnn.get_golden_function(Wrapper())(x), x + 1)
    with pytest.raises(ttnn.ArgumentError, match="expected an operator"):
        ttnn.get_golden_function(object())
