"""Golden gradients against PyTorch's autograd, both in float64.

PyTorch has some of its constants in float32, a sixth for example, which is why 1e-7 counts as equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as nn

import ttnn
from testkit.gradient_calls import Call, calls, fit, gradients
from ttnn.golden.eltwise import complex as complex_golden
from ttnn.operation.registry import Op
from ttnn.operation.signature import TENSOR

Function = Callable[..., torch.Tensor]
SHAPE = (4, 1, 5, 3)


def _clamp(x: Any, low: Any = None, high: Any = None, **limits: Any) -> torch.Tensor:
    return torch.clamp(x, limits.get("min", low), limits.get("max", high))


def _gelu(x: Any, variant: Any = None) -> torch.Tensor:
    return nn.gelu(x, approximate="tanh" if variant is ttnn.GeluVariant.Tanh else "none")


def _bias_gelu(a: Any, b: Any, variant: Any = None, approximate: str = "none") -> torch.Tensor:
    return _gelu(a + b, ttnn.GeluVariant.Tanh if approximate == "tanh" else variant)


def _div_no_nan(x: Any, scalar: float) -> torch.Tensor:
    return x / scalar


def _repeat(x: Any, shape: tuple[int, ...]) -> torch.Tensor:
    repeated: torch.Tensor = x.repeat(*shape)
    return repeated


def _of_name(name: str) -> Function:
    """Return PyTorch's function of the same name."""
    found: Function = getattr(torch, name, None) or getattr(torch.special, name, None) or getattr(nn, name)
    return found


# Where the function is not PyTorch's of the same name, or takes its operands otherwise.
FUNCTIONS: dict[str, Function] = {
    "abs": torch.abs,
    "add": lambda a, b: a + b,
    "addalpha": lambda a, b, alpha=1.0: torch.add(a, b, alpha=alpha),
    "addcdiv": lambda a, b, c, alpha: torch.addcdiv(a, b, c, value=alpha),
    "addcmul": lambda a, b, c, alpha: torch.addcmul(a, b, c, value=alpha),
    "assign": lambda a, *b: a + (b[0] if b else 0.0),
    "bias_gelu": _bias_gelu,
    "clamp": _clamp,
    "clip": _clamp,
    "concat": lambda a, b, dim: torch.concat((a, b), dim),
    "div": lambda a, b, mode=None, rounding_mode=None: torch.div(a, b, rounding_mode=rounding_mode or mode),
    "div_no_nan": _div_no_nan,
    "fill": lambda x: 0.0 * x,
    "fill_zero": lambda x: 0.0 * x,
    "gelu": _gelu,
    "hardtanh": lambda x, min=-1.0, max=1.0: nn.hardtanh(x, min, max),
    "i0": torch.i0,
    "ldexp": lambda a, b: a * torch.exp2(b),
    "leaky_relu": lambda x, negative_slope=0.009999999776482582: nn.leaky_relu(x, negative_slope),
    "log_sigmoid": nn.logsigmoid,
    "logiteps": lambda x, eps=0.0: torch.logit(x, eps),
    "max": torch.maximum,
    "min": torch.minimum,
    "mul": lambda a, b: a * b,
    "multigammaln": lambda x: torch.mvlgamma(x, 4),
    "polygamma": lambda x, n: torch.polygamma(n, x),
    "pow": lambda x, exponent: x**exponent,
    "rdiv": lambda x, scalar, rounding_mode=None: torch.div(torch.full_like(x, scalar), x, rounding_mode=rounding_mode),
    "repeat": _repeat,
    "rpow": lambda x, exponent: x**exponent,
    "rsub": lambda a, b: b - a,
    "squared_difference": lambda a, b: (a - b) ** 2,
    "sub": lambda a, b: a - b,
    "subalpha": lambda a, b, alpha=1.0: torch.sub(a, b, alpha=alpha),
    "tanhshrink": nn.tanhshrink,
    "threshold": lambda x, min, max: nn.threshold(x, min, max),
    "where": lambda condition, a, b: torch.where(condition != 0, a, b),
}
# Functions of `torch` that take other arguments than those of the same name in `torch.nn.functional`.
FUNCTIONS |= {name: lambda a, b: 0.0 * a for name in ("eq", "ge", "gt", "le", "lt", "ne")}
FUNCTIONS |= {name: getattr(nn, name) for name in ("celu", "selu", "softsign", "hardshrink", "softshrink", "softplus")}


def _cases() -> list[Any]:
    return [pytest.param(entry, call, id=f"{entry.name}({call})") for entry in gradients() for call in calls(entry)]


def _operands(entry: Op, call: Call) -> list[Any]:
    found: list[Any] = []
    for index, item in enumerate(call.arguments, 1):
        if item is TENSOR:
            values = np.random.default_rng(index).normal(size=SHAPE)
            found.append(fit(entry, index, ttnn.bfloat16)(values).astype(np.float64))
        else:
            found.append(item)
    return found


@pytest.mark.parametrize(("entry", "call"), _cases())
def test_gradients_match_automatic_differentiation(entry: Op, call: Call) -> None:
    name = entry.name.removesuffix("_bw")
    function = FUNCTIONS[name] if name in FUNCTIONS else _of_name(name)
    operands = _operands(entry, call)
    if name == "repeat":
        operands[0] = operands[0][:1]
    leaves = [torch.tensor(item, requires_grad=True) if isinstance(item, np.ndarray) else item for item in operands]
    output = function(*leaves, **dict(call.keywords))
    grad = np.random.default_rng(0).normal(size=tuple(output.shape))
    assert entry.golden is not None
    references = entry.golden(grad, *operands, **dict(call.keywords))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if name in ("clamp", "clip"):
        tensors = tensors[:1]  # limits have no gradient here
    elif name == "where":
        tensors = tensors[1:]
    if output.requires_grad:
        output.backward(torch.tensor(grad))
    assert len(references) == len(tensors)
    for reference, leaf in zip(references, tensors, strict=True):
        expected = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
        np.testing.assert_allclose(reference, expected.numpy(), rtol=1e-7, atol=1e-12)


COMPLEX: dict[str, tuple[Function, bool]] = {
    "abs_bw": (torch.abs, False),
    "angle_bw": (torch.angle, False),
    "conj_bw": (torch.conj, True),
    "imag_bw": (torch.imag, False),
    "real_bw": (torch.real, False),
    "reciprocal_bw": (torch.reciprocal, True),
}
PAIRS: dict[str, tuple[Function, tuple[float, ...]]] = {
    "add_bw": (lambda a, b, alpha: a + alpha * b, (0.5,)),
    "sub_bw": (lambda a, b, alpha: a - alpha * b, (0.5,)),
    "mul_bw": (torch.mul, ()),
    "div_bw": (torch.div, ()),
}


def _numbers(seed: int) -> Any:
    generator = np.random.default_rng(seed)
    return generator.normal(size=SHAPE) + 1j * generator.normal(size=SHAPE)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_gradients_match_automatic_differentiation(name: str) -> None:
    function, is_complex = COMPLEX[name]
    x, grad = _numbers(1), _numbers(2)
    grad = grad if is_complex else grad.real
    leaf = torch.tensor(x, requires_grad=True)
    function(leaf).backward(torch.tensor(grad))
    assert leaf.grad is not None
    np.testing.assert_allclose(getattr(complex_golden, name)(grad, x)[0], leaf.grad.resolve_conj().numpy(), rtol=1e-12)


def test_polar_gradients_match_automatic_differentiation() -> None:
    x, grad = _numbers(1), _numbers(2)
    x = np.abs(x.real) + 1j * x.imag
    magnitude, angle = (torch.tensor(part, requires_grad=True) for part in (x.real, x.imag))
    torch.polar(magnitude, angle).backward(torch.tensor(grad))
    assert magnitude.grad is not None
    assert angle.grad is not None
    reference = complex_golden.polar_bw(grad, x)[0]
    np.testing.assert_allclose(reference.real, magnitude.grad.numpy(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(reference.imag, angle.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_of_complex_pairs_match_automatic_differentiation(name: str) -> None:
    function, more = PAIRS[name]
    a, b, grad = _numbers(1), _numbers(2), _numbers(3)
    leaves = [torch.tensor(value, requires_grad=True) for value in (a, b)]
    function(*leaves, *more).backward(torch.tensor(grad))
    for reference, leaf in zip(getattr(complex_golden, name)(grad, a, b, *more), leaves, strict=True):
        assert leaf.grad is not None
        np.testing.assert_allclose(reference, leaf.grad.resolve_conj().numpy(), rtol=1e-12)
