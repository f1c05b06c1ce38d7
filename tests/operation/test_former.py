"""Arguments of earlier versions of the official package."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of


def _x(device: ttnn.MeshDevice, seed: int = 0) -> ttnn.Tensor:
    return make((33, 40), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, seed)


@pytest.mark.parametrize("value", [None, False, True])
def test_use_legacy_argument_has_no_effect(value: bool | None, device: ttnn.MeshDevice) -> None:
    a, b = _x(device), _x(device, 1)
    for operator in (ttnn.add, ttnn.mul, ttnn.eq, ttnn.pow, ttnn.divide, ttnn.add_):
        first, second = ttnn.clone(a), ttnn.clone(a)
        expected = operator(first, b)
        with pytest.warns(DeprecationWarning, match=rf"use_legacy={value} is an argument of earlier versions"):
            got = operator(second, b, use_legacy=value)
        np.testing.assert_array_equal(raw_of(got), raw_of(expected))


def test_arguments_that_are_left_out(device: ttnn.MeshDevice) -> None:
    x = _x(device)
    for operator in (ttnn.erfc, ttnn.tanhshrink):
        with pytest.warns(DeprecationWarning, match="the accurate one"):
            got = operator(x, fast_and_approximate_mode=True)
        np.testing.assert_array_equal(raw_of(got), raw_of(operator(x)))
    with pytest.warns(DeprecationWarning, match="use_multicore=False"):
        got = ttnn.argmax(x, dim=-1, use_multicore=False)
    np.testing.assert_array_equal(raw_of(got), raw_of(ttnn.argmax(x, dim=-1)))


@pytest.mark.parametrize(("word", "variant"), [("none", "Accurate"), ("tanh", "Tanh")])
def test_approximate_argument_selects_a_variant(word: str, variant: str, device: ttnn.MeshDevice) -> None:
    grad, x = _x(device), _x(device, 1)
    with pytest.warns(DeprecationWarning, match="use variant"):
        (got,) = ttnn.gelu_bw(grad, x, approximate=word)
    (expected,) = ttnn.gelu_bw(grad, x, variant=getattr(ttnn.GeluVariant, variant))
    np.testing.assert_array_equal(raw_of(got), raw_of(expected))


def test_former_arguments_are_in_no_signature_and_excuse_no_others(device: ttnn.MeshDevice) -> None:
    x = _x(device)
    assert "use_legacy" not in inspect.signature(ttnn.add).parameters
    for call in (
        lambda: ttnn.add(x, x, use_legacy="yes"),
        lambda: ttnn.exp(x, use_legacy=True),
        lambda: ttnn.gelu_bw(x, x, approximate="erf"),
    ):
        with pytest.raises(ttnn.ArgumentError, match="incompatible function arguments"):
            call()
