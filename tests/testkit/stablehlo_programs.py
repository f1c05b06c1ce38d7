"""Functions of jax whose StableHLO programs are imported, with their inputs.

Each is compiled by the CPU backend of jax, which is the reference, and by the importer of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

__all__ = ["PROGRAMS", "Program", "distance", "lowered", "wrong"]


@dataclass(frozen=True)
class Program:
    """A function, its inputs.

    And the distance that its floating point results may have.

    Attributes:
        function: The function.
        inputs: Its inputs.
        most: Largest distance of an element from the reference, as a share of the largest one.
        correlation: Least correlation with the reference.
    """

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    most: float = 2e-3
    correlation: float = 0.9999


PRODUCT = {"most": 5e-3}
GRADIENT = {"most": 5e-2, "correlation": 0.99}
#: Operators whose operands or results the compiler stack rounds to bfloat16.
BFLOAT16 = {"most": 3e-2, "correlation": 0.998}
PROGRAMS: dict[str, Program] = {}


def _random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def _whole(low: int, high: int, *shape: int, dtype: Any = np.int32, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


def _add(name: str, function: Callable[..., Any], *inputs: Any, **bars: float) -> None:
    assert name not in PROGRAMS
    PROGRAMS[name] = Program(function, inputs, **bars)


X, Y = _random(4, 33), _random(4, 33, seed=1)
POSITIVE = np.abs(X) + np.float32(0.1)


def _elementwise() -> None:
    for name in ("abs", "ceil", "cos", "exp", "expm1", "floor", "sign", "sin", "square", "isfinite"):
        _add(name, getattr(jnp, name), X)
    for name in ("arcsin", "arctan", "arctanh", "cosh", "sinh", "tan"):
        _add(name, getattr(jnp, name), np.tanh(X) * np.float32(0.9))
    _add("tanh", jnp.tanh, X, **BFLOAT16)
    for name in ("cbrt", "log", "log1p", "sqrt"):
        _add(name, getattr(jnp, name), POSITIVE)
    _add("round_to_even", jnp.round, np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.4, -3.6], np.float32))
    _add("round_away", lambda a: lax.round(a, lax.RoundingMethod.AWAY_FROM_ZERO), X * 3)
    _add("rsqrt", lax.rsqrt, POSITIVE)
    _add("logistic", lax.logistic, X)
    _add("arccosh", jnp.arccosh, POSITIVE + 1)
    _add("erf", lax.erf, X)
    _add("erf_inv", lax.erf_inv, np.tanh(X))
    _add("lgamma", lax.lgamma, X * 3, **PRODUCT)
    _add("digamma", lax.digamma, POSITIVE * 5)
    _add("broadcast_add", jnp.add, X, _random(33))
    _add("subtract", jnp.subtract, X, Y)
    _add("divide", jnp.divide, X, np.abs(Y) + 1)
    _add("power", jnp.power, POSITIVE, Y)
    _add("atan2", jnp.arctan2, X, Y)
    _add("remainder_of_dividend", lax.rem, X * 5, Y + 3 * np.sign(Y))
    _add("maximum_minimum", lambda a, b: (jnp.maximum(a, b), jnp.minimum(a, b)), X, Y)
    _add("comparisons", lambda a, b: (a < b, a <= b, a == b, a != b, a > b, a >= b), np.round(X), np.round(Y))
    _add("logic", lambda a, b: (a & b, a | b, a ^ b, ~a), X > 0, Y > 0)
    _add("where", jnp.where, X > 0, X, Y)
    _add("clip", lambda a: jnp.clip(a, -0.5, 0.5), X)
    _add("gelu", jax.nn.gelu, X)
    _add("silu", jax.nn.silu, X)
    _add("float16", lambda a: a * 2, X.astype(np.float16), most=1e-2)
    _add("bfloat16", lambda a: a * 2, X.astype(ml_dtypes.bfloat16), most=2e-2)


def _integers() -> None:
    large, words = (-(10**9), 10**9), (0, 2**32)
    unsigned = [_whole(*words, 4, 33, dtype=np.uint32, seed=one) for one in range(2)]
    _add("integer_add", jnp.add, _whole(*large, 4, 33), _whole(*large, 4, 33, seed=1))
    _add("unsigned_wraps", lambda a, b: (a + b, a - b, a & b, a | b, a ^ b, ~a), *unsigned)
    _add("integer_where", jnp.where, X > 0, _whole(*large, 4, 33), _whole(*large, 4, 33, seed=1))
    _add("integer_divide", lax.div, _whole(-500, 500, 4, 33, dtype=np.int16), _whole(1, 20, 4, 33, dtype=np.int16))
    _add("divide_by_power", lambda a: lax.div(a, jnp.int32(8)), _whole(*large, 4, 33))
    _add("integer_remainder", lax.rem, _whole(-500, 500, 4, 33), _whole(1, 20, 4, 33))
    shifts = _whole(0, 40, 4, 33)
    _add("shift_left", lax.shift_left, _whole(*large, 4, 33), shifts)
    _add("shift_right_logical", lax.shift_right_logical, _whole(*large, 4, 33), shifts)
    _add("shift_right_arithmetic", lax.shift_right_arithmetic, _whole(*large, 4, 33), shifts)
    _add("integer_clip", lambda a: jnp.clip(a, -5, 5), _whole(-50, 50, 4, 33))
    _add("float_to_integer", lambda a: a.astype(jnp.int32), X * 10)
    _add("float_to_truth", lambda a: a.astype(bool), np.round(X) / 1e4)
    _add("truth_to_float", lambda a: a.astype(jnp.float32), X > 0)
    _add("int8_wraps", lambda a: a + jnp.int8(100), _whole(-128, 128, 4, 33, dtype=np.int8))
    key = np.array([0, 42], np.uint32)
    _add("random_bits", lambda k: jax.random.bits(jax.random.wrap_key_data(k), (8,)), key)
    _add("random_uniform", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (8,)), key)


def _movement() -> None:
    cube = _random(3, 4, 5)
    _add("transpose", lambda a: jnp.transpose(a, (2, 0, 1)), cube)
    _add("reshape", lambda a: a.reshape(20, 3), cube)
    _add("concatenate", lambda a, b: jnp.concatenate([a, b], 1), X, _random(4, 7))
    _add("reverse", lambda a: a[::-1, ::-1], X)
    _add("strided_slice", lambda a: a[1:3, 2:30:3], X)
    _add("iota", lambda a: a + lax.broadcasted_iota(jnp.float32, (4, 33), 1), X)
    _add("pad", lambda a: jnp.pad(a, ((1, 2), (0, 3)), constant_values=2.0), X)
    _add("pad_between", lambda a: lax.pad(a, jnp.float32(1), ((1, 2, 1), (0, -3, 2))), X)
    _add("pad_negative", lambda a: lax.pad(a, jnp.float32(1), ((-1, 2, 0), (2, -3, 0))), X)
    _add("pad_by_value", lambda a, v: lax.pad(a, v, ((1, 2, 0), (0, 3, 0))), X, np.float32(3))
    _add("dynamic_slice", lambda a, i: lax.dynamic_slice(a, (i, jnp.int32(2)), (2, 5)), X, np.int32(9))
    _add("update_row", lambda a, u, i: lax.dynamic_update_slice(a, u, (i, 0)), X, _random(1, 33), np.int32(2))
    _add("update_block", lambda a, u, i: lax.dynamic_update_slice(a, u, (i, i)), X, _random(2, 5), np.int32(1))
    _add("update_constant_place", lambda a, u: lax.dynamic_update_slice(a, u, (1, 3)), X, _random(2, 5))


def _products() -> None:
    _add("dot", jnp.dot, _random(32, 48), _random(48, 16), **PRODUCT)
    _add("dot_batched", lambda a, b: jnp.einsum("bik,bjk->bij", a, b), _random(3, 8, 16), _random(3, 9, 16), **PRODUCT)
    _add(
        "dot_inner_batch",
        lambda a, b: jnp.einsum("ibk,bkj->bij", a, b),
        _random(5, 3, 16),
        _random(3, 16, 7),
        **PRODUCT,
    )
    _add("outer", jnp.outer, _random(5), _random(7), **PRODUCT)

    def conv(name: str, x: Any, w: Any, strides: Any, padding: Any, **more: Any) -> None:
        bars = BFLOAT16 if len(strides) == 3 else PRODUCT
        _add(name, lambda a, b: lax.conv_general_dilated(a, b, strides, padding, **more), x, w, **bars)

    last = ("NHWC", "HWIO", "NHWC")
    image, kernel = _random(1, 4, 9, 9), _random(8, 4, 3, 3)
    conv("conv_last", _random(1, 8, 8, 4), _random(3, 3, 4, 8), (1, 1), "SAME", dimension_numbers=last)
    conv("conv_strided", image, kernel, (2, 2), "VALID")
    conv("conv_groups", _random(1, 8, 8, 8), _random(8, 2, 3, 3), (1, 1), "SAME", feature_group_count=4)
    conv("conv_dilated", image, kernel, (1, 1), "SAME", rhs_dilation=(2, 2))
    conv("conv_input_dilated", _random(1, 4, 5, 5), kernel, (1, 1), ((2, 2), (2, 2)), lhs_dilation=(2, 2))
    conv("conv_uneven", image, kernel, (1, 1), ((0, 1), (2, 0)))
    conv("conv_batch_groups", _random(4, 4, 6, 6), kernel, (1, 1), "VALID", batch_group_count=2)
    conv("conv_line", _random(1, 4, 16), _random(8, 4, 3), (1,), "SAME")
    conv("conv_volume", _random(1, 4, 5, 5, 5), _random(8, 4, 3, 3, 3), (1, 1, 1), "SAME")


def _reductions() -> None:
    for name in ("max", "mean", "min", "sum", "var"):
        _add(f"reduce_{name}", lambda a, n=name: getattr(jnp, n)(a, axis=1), X, **PRODUCT)
    _add("reduce_prod", lambda a: jnp.prod(a, axis=1), POSITIVE[:, :8], **BFLOAT16)
    _add("reduce_logic", lambda a: (jnp.all(a, 1), jnp.any(a, 0)), X > -1)
    _add("reduce_integers", lambda a: (jnp.sum(a, 1), jnp.max(a, 0)), _whole(-1000, 1000, 4, 33))
    _add("arg_extremes", lambda a: (jnp.argmax(a, 1), jnp.argmin(a, 0)), X)
    _add("softmax", jax.nn.softmax, X)
    _add(
        "layer_norm",
        lambda a: (a - a.mean(-1, keepdims=True)) / jnp.sqrt(a.var(-1, keepdims=True) + 1e-5),
        X,
        **PRODUCT,
    )
    _add("cumulative", lambda a: (jnp.cumsum(a, 1), lax.cumsum(a, 1, reverse=True)), X, **PRODUCT)
    _add("cumulative_product", lambda a: jnp.cumprod(a * 0.5, 1), X, **PRODUCT)
    _add("cumulative_max", lambda a: lax.cummax(a, 1), _random(4, 12))

    def pool(initial: float, step: Any, size: Any, strides: Any, padding: str = "VALID") -> Callable[[Any], Any]:
        return lambda a: lax.reduce_window(a, initial, step, size, strides, padding)

    image = _random(1, 8, 8, 4)
    _add("max_pool", pool(-np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1)), image, **BFLOAT16)
    _add("max_pool_overlapping", pool(-np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), image, **BFLOAT16)
    _add(
        "max_pool_volume", pool(-np.inf, lax.max, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1)), _random(1, 4, 4, 4, 8), **BFLOAT16
    )
    _add("min_pool_line", pool(np.inf, lax.min, (1, 3), (1, 2)), _random(4, 16), **BFLOAT16)
    whole = _whole(-100, 100, 1, 8, 8, 4)
    _add("max_pool_integers", pool(-(2**31), lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), whole)
    _add("sum_pool", pool(0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1)), image, **BFLOAT16)


def _indexing() -> None:
    table, rows = _random(16, 8), _whole(0, 16, 5)
    _add("take", lambda a, i: a[i], table, rows, **BFLOAT16)
    _add("take_matrix", lambda a, i: a[i], table, _whole(0, 16, 2, 3), **BFLOAT16)
    _add("take_pairs", lambda a, i, j: a[i, j], _random(6, 7, 8), _whole(0, 6, 5), _whole(0, 7, 5), **BFLOAT16)
    _add("take_clipped", lambda a, i: jnp.take(a, i, axis=0, mode="clip"), table, _whole(-4, 25, 9), **BFLOAT16)
    _add(
        "take_filled",
        lambda a, i: jnp.take(a, i, axis=0, mode="fill", fill_value=7.0),
        table,
        _whole(0, 25, 9),
        **BFLOAT16,
    )
    _add("take_along", lambda a, i: jnp.take_along_axis(a, i, 1), _random(4, 16), _whole(0, 16, 4, 5))
    _add("take_integers", lambda a, i: a[i], _whole(-(10**6), 10**6, 16, 8), rows)
    place, update = np.array([1, 5, 9], np.int32), _random(3, 8)
    _add("scatter", lambda a, i, u: a.at[i].set(u), table, place, update)
    _add("scatter_dropped", lambda a, i, u: a.at[i].set(u, mode="drop"), table, np.array([1, 50, 9], np.int32), update)
    _add("scatter_add", lambda a, i, u: a.at[i].add(u), table, np.array([1, 5, 1], np.int32), update)
    _add("scatter_pairs", lambda a, i, j, u: a.at[i, j].add(u), _random(6, 7), place[:2], place[:2] % 7, _random(2))
    _add("sort", lambda a: jnp.sort(a, 1), _random(4, 32), **BFLOAT16)
    keys = np.stack([np.random.default_rng(one).permutation(32) for one in range(4)]).astype(np.float32)
    _add("argsort", lambda a: jnp.argsort(a, 1), keys)
    _add("sort_by_key", lambda a, b: lax.sort((a, b), num_keys=1), keys, _random(4, 32))
    _add(
        "top_k", lambda a: lax.top_k(a, 5), np.tile(np.random.default_rng(5).permutation(64), (4, 1)).astype(np.float32)
    )


def _control() -> None:
    _add("loop", lambda a: lax.fori_loop(0, 5, lambda i, v: v * 0.5 + i, a), X)
    _add("scan", lambda a: lax.scan(lambda c, v: (c + v, c * 2), jnp.zeros(33), a), X)
    _add("branch", lambda p, a: lax.cond(p, jnp.sin, jnp.cos, a), np.bool_(True), X)
    _add("branch_of_three", lambda i, a: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], a), np.int32(7), X, **BFLOAT16)
    _add(
        "gradient_of_products",
        jax.grad(lambda w, a: jnp.sum(jnp.tanh(a @ w) ** 2)),
        _random(16, 8),
        _random(4, 16),
        **GRADIENT,
    )

    def convolved(w: Any, a: Any) -> Any:
        return jnp.sum(lax.conv_general_dilated(a, w, (1, 1), "SAME") ** 2)

    _add("gradient_of_kernel", jax.grad(convolved), _random(4, 2, 3, 3), _random(1, 2, 6, 6), **GRADIENT)

    def pooled(a: Any) -> Any:
        return jnp.sum(lax.reduce_window(a, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2)

    _add("gradient_of_pool", jax.grad(pooled), _random(1, 8, 8, 4), **GRADIENT)
    _add("complex", lambda a, b: jnp.abs((a + 1j * b) * (a - 2j * b)), X, Y)
    _add("complex_quotient", lambda a, b: jnp.real(jnp.exp(1j * a) / (1.5 + 1j * b)), X, Y)
    _add("same_output_twice", lambda a: (a, a), X)
    _add("scalars", lambda a: (a * 2 + 1, jnp.float32(2)), np.float32(3))


for _family in (_elementwise, _integers, _movement, _products, _reductions, _indexing, _control):
    _family()


def lowered(program: Program) -> tuple[str, list[Any], list[Any]]:
    """Return the StableHLO text of a program, its inputs.

    And its results on the CPU.
    """
    jitted = jax.jit(program.function, keep_unused=True)
    results = [np.asarray(one) for one in jax.tree.leaves(jitted(*program.inputs))]
    return jitted.lower(*program.inputs).as_text(), list(program.inputs), results


def distance(got: Any, wanted: Any) -> tuple[float, float]:
    """Return the largest distance as a share of the largest element.

    And the correlation.
    """
    a, b = (np.asarray(one, np.float64).reshape(-1) for one in (got, wanted))
    if not np.array_equal(np.isfinite(a), np.isfinite(b)) or not np.array_equal(a[~np.isfinite(a)], b[~np.isfinite(b)]):
        return np.inf, 0.0
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    if not a.size:
        return 0.0, 1.0
    share = float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))
    sizes = np.linalg.norm(a - a.mean()) * np.linalg.norm(b - b.mean())
    return share, float((a - a.mean()) @ (b - b.mean()) / sizes) if sizes else float(share <= 1e-2)


def wrong(program: Program, got: list[Any], wanted: list[Any]) -> list[str]:
    """Return what is wrong with results.

    Types, shapes, values; integers and truth are exact.
    """
    found = []
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            found.append(f"output {i} is {a.dtype}{a.shape}, expected {b.dtype}{b.shape}")
        elif b.dtype.kind in "biu":
            if not np.array_equal(a, b):
                found.append(f"output {i}: {np.mean(a != b):.1%} of the elements differ")
        else:
            share, correlation = distance(a, b)
            if share > program.most or correlation < program.correlation:
                found.append(f"output {i}: distance {share:.2e}, correlation {correlation:.6f}")
    return found
