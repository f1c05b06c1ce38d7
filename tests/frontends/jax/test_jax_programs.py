"""Programs of jax on the platform tt, compared with its CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

Same = Callable[..., None]


def _array(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_binary_operators(same: Same, name: str) -> None:
    same(getattr(jnp, name), _array(4, 5), _array(4, 5, seed=1))


@pytest.mark.parametrize("name", ["abs", "exp", "tanh", "negative", "floor", "sign"])
def test_unary_operators(same: Same, name: str) -> None:
    same(getattr(jnp, name), _array(3, 40), atol=5e-3)


def test_nan_is_not_itself(same: Same) -> None:
    x = np.array([[1, np.nan, -2, 0]], np.float32)
    same(lambda x: (jnp.isnan(x), x == x, x != x, jnp.where(jnp.isnan(x), 7, x)), x, atol=0)


def test_matmul(same: Same) -> None:
    same(lambda a, b: a @ b, _array(33, 70), _array(70, 5, seed=1), atol=5e-3)


def test_softmax(same: Same) -> None:
    same(jax.nn.softmax, _array(4, 50), atol=5e-3)


def test_erfc_is_one_operation(same: Same) -> None:
    def function(x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)

    same(function, _array(4, 40), atol=1e-2)
    assert 'stablehlo.composite "chlo.erfc"' in jax.jit(function).lower(_array(4, 40)).as_text()


def test_random_bits_are_those_of_the_cpu(same: Same) -> None:
    same(lambda key: jax.random.bits(key, (64,)), np.array([0, 3], np.uint32))


def test_uniform_numbers_are_those_of_the_cpu(same: Same) -> None:
    same(lambda key: jax.random.uniform(key, (64,)), np.array([0, 3], np.uint32), atol=0)


def test_normal_numbers(same: Same) -> None:
    same(lambda key: jax.random.normal(key, (64,)), np.array([0, 3], np.uint32), atol=1e-2)


def test_grad(same: Same) -> None:
    same(jax.grad(lambda w, x: jnp.sum((x @ w) ** 2)), _array(6, 3), _array(4, 6, seed=1), atol=5e-3)


def test_value_and_grad_of_a_layer(same: Same) -> None:
    def loss(w: Any, b: Any, x: Any) -> Any:
        return jnp.mean((jax.nn.relu(x @ w + b)) ** 2)

    same(jax.value_and_grad(loss, argnums=(0, 1)), _array(8, 3), _array(3), _array(5, 8, seed=1), pcc=0.99, atol=2e-2)


def test_vmap(same: Same) -> None:
    same(jax.vmap(lambda a, b: a @ b), _array(3, 4, 5), _array(3, 5, 2, seed=1), atol=5e-3)


def test_jvp(same: Same) -> None:
    same(lambda x, t: jax.jvp(lambda x: x * x + 1, (x,), (t,)), _array(3, 4), _array(3, 4, seed=1))


def test_scan(same: Same) -> None:
    same(lambda x: lax.scan(lambda carry, row: (carry + row, carry * row), x[0], x), _array(5, 4))


def test_while_loop(same: Same) -> None:
    same(lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 2), (0, x)), _array(3, 4))


@pytest.mark.parametrize("offset", [-100, 100])
def test_cond(same: Same, offset: float) -> None:
    same(lambda x: lax.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, x), _array(3, 4) + np.float32(offset))


def test_remat_and_custom_vjp(same: Same) -> None:
    @jax.custom_vjp
    def double(x: Any) -> Any:
        return 2 * x

    double.defvjp(lambda x: (2 * x, None), lambda _, g: (3 * g,))
    same(jax.grad(lambda x: jax.checkpoint(lambda y: double(y * y))(x).sum()), _array(3, 4))


def test_bfloat16(same: Same) -> None:
    same(lambda x: x.astype(jnp.bfloat16) * 3 + 1, _array(8, 8), pcc=0.999, atol=2e-2)


def test_integers_and_comparisons(same: Same) -> None:
    x = np.arange(-12, 12, dtype=np.int32).reshape(4, 6)
    same(lambda x: (x + 3, x * x, x > 2, jnp.where(x > 0, x, -x)), x)


def test_results_that_are_arguments_or_occur_twice(same: Same) -> None:
    same(lambda x, y: (x, y + 1, x, 3), _array(2, 3), _array(2, 3, seed=1))


def test_donated_arguments_are_deleted(tt: Any) -> None:
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.device_put(_array(4, 4), tt) * 1
    before = np.asarray(x).copy()
    y = step(x)
    assert x.is_deleted()
    assert not y.is_deleted()
    np.testing.assert_allclose(np.asarray(y), before + 1, rtol=1e-6)
    z = jax.device_put(_array(4, 4), tt)
    jax.jit(lambda x: x + 1)(z)
    assert not z.is_deleted()


def test_arrays_of_constants_need_no_device_program(tt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ttnn.compiler.frontends.jax import plugin

    def refuse(*_: Any) -> Any:
        raise AssertionError("a program was built for the device")

    monkeypatch.setattr(plugin, "build", refuse)
    jax.clear_caches()
    plugin.forget()
    np.testing.assert_array_equal(np.asarray(jnp.arange(5)), np.arange(5))
    np.testing.assert_array_equal(np.asarray(jnp.ones((2, 3))), np.ones((2, 3)))
    np.testing.assert_array_equal(np.asarray(jnp.full((3,), 7, jnp.uint8)), np.full(3, 7))
    np.testing.assert_array_equal(np.asarray(jnp.zeros((2, 2), bool)), np.zeros((2, 2), bool))
    with pytest.raises(jax.errors.JaxRuntimeError, match="a program was built"):
        jnp.ones(3) + jnp.arange(3)


def test_equal_programs_are_built_once(tt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ttnn.compiler.frontends.jax import plugin

    built = []
    build = plugin.build
    monkeypatch.setattr(plugin, "build", lambda *a: built.append(1) or build(*a))
    plugin.forget()
    for _ in range(3):
        jax.clear_caches()
        assert float((jax.device_put(_array(2, 2), tt) * 5).sum()) == pytest.approx(5 * _array(2, 2).sum(), rel=1e-2)
    assert len(built) == 2


def test_options_reach_the_compiler(tt: Any) -> None:
    x = jax.device_put(_array(4, 4), tt)
    good = jax.jit(lambda x: x * 7, compiler_options={"optimization_level": "0"})
    np.testing.assert_allclose(np.asarray(good(x)), _array(4, 4) * 7, rtol=1e-2)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r'option "math_fidelty" is unknown; known: backend, '):
        jax.jit(lambda x: x * 8, compiler_options={"math_fidelty": "hifi4"})(x)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r'option "optimization_level" is 7; expected 0, 1 or 2'):
        jax.jit(lambda x: x * 9, compiler_options={"optimization_level": "7"})(x)


@pytest.mark.parametrize(
    ("name", "value"), [("math_fidelity", "lofi"), ("backend", "codegen_py"), ("export_path", "x"), ("dry_run", True)]
)
def test_options_without_effect_are_refused(tt: Any, name: str, value: object) -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match=f'UNIMPLEMENTED: option "{name}" = {value}: '):
        jax.jit(lambda x: x * 8, compiler_options={name: value})(_array(4, 4))


def test_compiled_programs_show_their_text(tt: Any) -> None:
    compiled = jax.jit(lambda x: x * 5).lower(_array(2, 3)).compile()
    assert "multiply" in compiled.as_text()
    assert compiled.memory_analysis().output_size_in_bytes == 24


def test_programs_are_serialized(tt: Any) -> None:
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: x + 5).lower(_array(2, 3)).compile()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), backend="tt")
    np.testing.assert_allclose(np.asarray(again(_array(2, 3))), _array(2, 3) + 5, rtol=1e-5)
