"""Loops, branches and operations of the host in programs of jax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402


def same(function: Any, *arguments: Any, tt: Any, close: float = 0.0) -> None:
    """Compare a program on the chip with the one on the CPU."""
    cpu = jax.devices("cpu")[0]
    want = jax.tree.leaves(jax.jit(function)(*(jax.device_put(one, cpu) for one in arguments)))
    got = jax.tree.leaves(jax.jit(function)(*(jax.device_put(one, tt) for one in arguments)))
    for one, other in zip(got, want, strict=True):
        assert one.devices() == {tt}
        assert one.dtype == other.dtype
        if close:
            assert np.abs(np.asarray(one) - np.asarray(other)).max() <= close * np.abs(np.asarray(other)).max()
        else:
            assert np.array_equal(np.asarray(one), np.asarray(other))


def test_while_by_value(tt: Any) -> None:
    def collatz(n: Any) -> Any:
        def step(state: Any) -> Any:
            n, count = state
            return lax.select(n & 1 == 0, n >> 1, 3 * n + 1), count + 1

        return lax.while_loop(lambda state: state[0] != 1, step, (n, jnp.int32(0)))

    for n in (1, 6, 27):
        same(collatz, np.int32(n), tt=tt)


def test_a_count_that_is_an_argument(tt: Any) -> None:
    def power(x: Any, n: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, y: y * x + i, jnp.ones_like(x))

    for n in (0, 3):
        same(power, np.array([1, 2, 3], np.float32), np.int32(n), tt=tt)


def test_a_loop_in_a_branch_runs_only_if_it_is_taken(tt: Any) -> None:
    def endless(x: Any, take: Any) -> Any:
        def loop(x: Any) -> Any:
            return lax.while_loop(lambda y: jnp.sum(y) < 1000, lambda y: y - 1, x) + 2

        return lax.cond(take, loop, lambda x: x - 1, x)

    same(endless, np.array([1000, 2], np.float32), np.bool_(True), tt=tt)
    # With these values the loop has no end.
    same(endless, np.array([1, 2], np.float32), np.bool_(False), tt=tt)


def test_integer_quotients_of_all_bits(tt: Any) -> None:
    a = np.array([2**31 - 1, -(2**31), 16777217, -16777217, 12], np.int32)
    b = np.array([2, 3, 1, 5, -5], np.int32)
    same(lambda a, b: (a // b, a % b, lax.div(a, b)), a, b, tt=tt)


def test_sorts_of_wide_integers(tt: Any) -> None:
    x = np.array([5, 2**31 - 1, 16777217, 16777216, -(2**31), 0], np.int32)
    same(lambda x: (jnp.sort(x), jnp.argsort(x)), x, tt=tt)


def test_factors_and_solutions(tt: Any) -> None:
    a = np.random.default_rng(0).standard_normal((6, 6)).astype(np.float32)
    a = a @ a.T + 3 * np.eye(6, dtype=np.float32)
    b = np.random.default_rng(1).standard_normal((6, 2)).astype(np.float32)

    def solve(a: Any, b: Any) -> Any:
        factor = jnp.linalg.cholesky(a)
        return factor, jax.scipy.linalg.solve_triangular(factor, b, lower=True)

    same(solve, a, b, tt=tt, close=1e-3)


@pytest.mark.parametrize("algorithm", ["RNG_THREE_FRY", "RNG_PHILOX", "RNG_DEFAULT"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (4, 2)])
def test_random_bits_of_xla(algorithm: str, shape: tuple[int, ...], tt: Any) -> None:
    key = np.array([1, 2, 3, 4294967295], np.uint32)
    kind = getattr(lax.RandomAlgorithm, algorithm)
    same(lambda key: lax.rng_bit_generator(key, shape, jnp.uint32, algorithm=kind), key, tt=tt)


def test_a_decoding_step_keeps_its_caches_on_the_device(tt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention over donated caches, equal to the CPU's bit for bit."""
    from ttnn.compiler.runtime.place import Transfers

    heads, length, size = 2, 64, 32

    def step(keys: Any, values: Any, x: Any, position: Any) -> Any:
        keys = lax.dynamic_update_slice(keys, x, (0, 0, position, 0))
        values = lax.dynamic_update_slice(values, 2 * x, (0, 0, position, 0))
        scores = jnp.einsum("bhqd,bhkd->bhqk", x, keys).astype(jnp.float32) / size**0.5
        scores = jnp.where(jnp.arange(length) <= position, scores, -1e9)
        return keys, values, jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(x.dtype), values)

    uploads: list[int] = []
    up = Transfers.up
    monkeypatch.setattr(Transfers, "up", lambda self, tensor: (uploads.append(tensor.volume()), up(self, tensor))[1])
    run = jax.jit(step, donate_argnums=(0, 1))
    zeros = np.zeros((1, heads, length, size), jnp.bfloat16)
    states = {one: [jax.device_put(zeros, one) for _ in range(2)] for one in (tt, jax.devices("cpu")[0])}
    for position in range(4):
        x = np.random.default_rng(position).standard_normal((1, heads, 1, size)).astype(jnp.bfloat16)
        outputs = []
        for device, state in states.items():
            old = list(state)
            uploads.clear()
            *state[:], output = run(*state, jax.device_put(x, device), jax.device_put(np.int32(position), device))
            assert all(one.is_deleted() for one in old)
            outputs.append(np.asarray(output).astype(np.float64))
            if device is tt and position:
                assert max(uploads) < zeros.size
        assert np.abs(outputs[0] - outputs[1]).max() <= 3e-2 * np.abs(outputs[1]).max()
    got, want = ([np.asarray(one) for one in state] for state in states.values())
    assert all(one.tobytes() == other.tobytes() for one, other in zip(got, want, strict=True))


def _close_keys(*shape: int) -> Any:
    """Elements that bfloat16 does not tell apart, with ties, infinities and NaN."""
    rng = np.random.default_rng(7)
    x = (1 + rng.integers(0, 40, shape) * 1e-6).astype(np.float32)
    x.reshape(-1)[[1, 4, 5, 9]] = [np.nan, np.inf, -np.inf, np.nan]
    return x


@pytest.mark.parametrize("axis", [0, 1])
def test_orders_of_float32_are_exact(axis: int, tt: Any) -> None:
    def orders(x: Any) -> Any:
        payload = jnp.arange(x.size, dtype=jnp.int32).reshape(x.shape) * 123457
        sorted_, moved = lax.sort((x, payload), dimension=axis, num_keys=1)
        return sorted_.view(jnp.int32), moved, jnp.argsort(x, axis=axis), jnp.sort(x, axis=axis)

    x = _close_keys(12, 20)
    cpu = jax.devices("cpu")[0]
    want = jax.jit(lambda x: orders(x)[1:])(jax.device_put(x, cpu))
    got = jax.jit(lambda x: orders(x)[1:])(jax.device_put(x, tt))
    for one, other in zip(got, want, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other), equal_nan=one.dtype == jnp.float32)


def test_largest_elements_of_float32_are_exact(tt: Any) -> None:
    x = _close_keys(3, 50)
    x[np.isnan(x)] = 0
    same(lambda x: lax.top_k(x, 7), x, tt=tt)
