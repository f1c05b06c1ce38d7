"""Stand-in for the module `infra` of tt-xla's tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jax_plugin_tt

jax_plugin_tt.initialize()
_CPU = jax.devices("cpu")[0]
_TT = jax.devices("tt")[0]


@dataclass
class Check:
    """A comparison that can be turned on and off, and its bounds."""

    enabled: bool = False
    required_pcc: float = 0.99
    required_atol: float = 1.6e-1
    rtol: float = 1e-2
    atol: float = 1e-2

    def enable(self) -> None:
        self.enabled = True

    def disable(self) -> None:
        self.enabled = False


@dataclass
class ComparisonConfig:
    """Comparisons, by default of the correlation."""

    equal: Check = field(default_factory=Check)
    atol: Check = field(default_factory=Check)
    pcc: Check = field(default_factory=lambda: Check(True))
    allclose: Check = field(default_factory=Check)

    def _all(self) -> tuple[Check, ...]:
        return (self.equal, self.atol, self.pcc, self.allclose)

    def disable_all(self) -> None:
        for check in self._all():
            check.disable()

    def enable_all(self) -> None:
        for check in self._all():
            check.enable()


def random_tensor(
    shape: tuple[int, ...], dtype: Any = "float32", random_seed: int = 0, minval: float = 0.0, maxval: float = 1.0
) -> Any:
    """Return random numbers, made on the CPU."""
    kind = jnp.dtype(dtype)
    with jax.default_device(_CPU):
        key = jax.random.PRNGKey(random_seed)
        if jnp.issubdtype(kind, jnp.integer):
            return jax.random.randint(key, shape, int(minval), int(maxval), kind)
        if kind == jnp.bool_:
            return jax.random.bernoulli(key, 0.5, shape)
        return jax.random.uniform(key, shape, kind, minval, maxval)


def run_op_test(
    op: Callable[..., Any],
    inputs: Sequence[Any],
    comparison_config: ComparisonConfig | None = None,
    request: Any = None,
) -> None:
    """Compare a function on tt with itself on the CPU."""
    config = comparison_config or ComparisonConfig()
    with jax.default_device(_CPU):
        expected = jax.tree.leaves(jax.jit(op)(*(jax.device_put(one, _CPU) for one in inputs)))
    with jax.default_device(_TT):
        got = jax.tree.leaves(jax.jit(op)(*(jax.device_put(one, _TT) for one in inputs)))
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        assert one.devices() == {_TT}
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        _compare(np.asarray(one), np.asarray(other), config)


def _compare(got: Any, expected: Any, config: ComparisonConfig) -> None:
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(got, expected)
    if config.equal.enabled:
        np.testing.assert_array_equal(got, expected)
    got, expected = got.astype(np.float64).reshape(-1), expected.astype(np.float64).reshape(-1)
    if config.atol.enabled:
        np.testing.assert_allclose(got, expected, rtol=0, atol=config.atol.required_atol)
    if config.allclose.enabled:
        np.testing.assert_allclose(got, expected, rtol=config.allclose.rtol, atol=config.allclose.atol)
    if config.pcc.enabled:
        # A correlation does not see a wrong scale, nor equal elements.
        np.testing.assert_allclose(got, expected, rtol=5e-2, atol=5e-2 * max(np.abs(expected).max(initial=0), 1e-30))
        if expected.size > 1 and expected.std() > 0:
            assert np.corrcoef(got, expected)[0, 1] >= config.pcc.required_pcc


def run_op_test_with_random_inputs(
    op: Callable[..., Any],
    input_shapes: Sequence[tuple[int, ...]],
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: Any = "float32",
    comparison_config: ComparisonConfig | None = None,
    request: Any = None,
) -> None:
    """Compare a function of random numbers on both platforms."""
    made = [random_tensor(shape, "float32" if dtype is None else dtype, 0, minval, maxval) for shape in input_shapes]
    run_op_test(op, made, comparison_config)


def run_graph_test_with_random_inputs(
    graph: Callable[..., Any],
    input_shapes: Sequence[tuple[int, ...]],
    comparison_config: ComparisonConfig | None = None,
    dtype: Any = "float32",
    request: Any = None,
) -> None:
    """Compare a larger function of random numbers on both platforms."""
    run_op_test_with_random_inputs(graph, input_shapes, dtype=dtype, comparison_config=comparison_config)
