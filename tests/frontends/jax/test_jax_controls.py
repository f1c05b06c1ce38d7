"""Wrong results that the comparison with jax's CPU must find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

_NORMAL = np.random.default_rng(0).standard_normal
_A, _B = _NORMAL((8, 8)).astype(np.float32), _NORMAL((8, 8)).astype(np.float32)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "subtract": jnp.subtract,
    "divide": jnp.divide,
    "matmul": jnp.matmul,
    "softmax": lambda a, b: jax.nn.softmax(a - 2 * b),
    "layer": lambda a, b: jax.nn.relu(a @ b + b[0]),
    "normalized": lambda a, b: (a - a.mean(-1, keepdims=True)) / (1 + jnp.abs(b)),
    "gradient": jax.grad(lambda a, b: jnp.sum((a @ b) ** 2)),
    "compare": lambda a, b: a > 2 * b,
    "argmax": lambda a, b: jnp.argmax(a @ b + a, axis=-1),
    "scan": lambda a, b: jax.lax.scan(lambda c, r: (c + r, c - r), b[0], a)[1],
}


def _share(agree: Callable[..., None], change: Callable[[Any, list[Any]], Any]) -> float:
    """Return the share of functions whose changed result is refused."""
    found = []
    with jax.default_device(jax.devices("cpu")[0]):
        for function in _FUNCTIONS.values():
            expected = np.asarray(function(_A, _B))
            try:
                agree(np.asarray(change(function, [expected, _A, _B])), expected, 0.9999, 2e-3)
                found.append(False)
            except (AssertionError, ValueError):
                found.append(True)
    return float(np.mean(found))


def test_right_results_are_accepted(agreement: Callable[..., None]) -> None:
    assert _share(agreement, lambda function, values: values[0]) == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda function, values: np.zeros_like(values[0]),
        lambda function, values: values[1].astype(values[0].dtype),
        lambda function, values: function(values[2], values[1]),
    ],
    ids=["zeros", "inputs", "swapped"],
)
def test_wrong_results_are_found(agreement: Callable[..., None], change: Callable[[Any, list[Any]], Any]) -> None:
    assert _share(agreement, change) > 0.9


@pytest.mark.parametrize("name", ["layer", "normalized", "softmax"])
def test_an_importer_without_broadcasts_is_found(
    tt: Any, agreement: Callable[..., None], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from ttnn.compiler.frontends.jax import plugin
    from ttnn.compiler.importers.builder.steps import Steps

    def dropped(steps: Any, value: Any, shape: Any, dims: Any = None) -> Any:
        del dims
        return steps.splat(0, value, shape)

    with jax.default_device(jax.devices("cpu")[0]):
        expected = np.asarray(jax.jit(_FUNCTIONS[name])(_A, _B))
    monkeypatch.setattr(Steps, "broadcast", dropped)
    jax.clear_caches()
    plugin.forget()
    got = np.asarray(jax.jit(_FUNCTIONS[name])(_A, _B))
    jax.clear_caches()
    plugin.forget()
    with pytest.raises(AssertionError):
        agreement(got, expected, 0.9999, 2e-3)
