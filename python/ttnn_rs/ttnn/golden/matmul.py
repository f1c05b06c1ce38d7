"""Matrix multiplication."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.eltwise.unary import activated

Array = NDArray[np.float64]


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    activation: Any = None,
    program_config: Any = None,
    **_: object,
) -> Array:
    """Return the matmul, repeating an operand without batch for every matrix."""
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if transpose_a and left.ndim > 1:
        left = left.swapaxes(-1, -2)
    if transpose_b and right.ndim > 1:
        right = right.swapaxes(-1, -2)
    return activated(np.matmul(left, right), _activations(activation, program_config))


def _activations(activation: Any, config: Any) -> tuple[Any, ...]:
    """Return a call's activation, or its program configuration's fused one."""
    chosen = getattr(config, "fused_activation", None) if activation is None else activation
    return () if chosen is None else (chosen,)


def linear(
    a: ArrayLike,
    b: ArrayLike,
    *,
    bias: ArrayLike | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    activation: Any = None,
    program_config: Any = None,
    **_: object,
) -> Array:
    """Return the matrix product plus the bias, broadcast over rows and batches."""
    product = matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    biased = product if bias is None else product + np.asarray(bias, np.float64)
    return activated(biased, _activations(activation, program_config))


def addmm(x: ArrayLike, a: ArrayLike, b: ArrayLike, *, alpha: float = 1.0, beta: float = 1.0, **_: object) -> Array:
    """Return `beta * x` plus `alpha` times the matrix product."""
    return beta * np.asarray(x, np.float64) + alpha * matmul(a, b)


def minimal_matmul(
    a: ArrayLike, b: ArrayLike, *, bias_tensor: ArrayLike | None = None, fused_activation: Any = None, **_: object
) -> Array:
    """Return the matrix product plus the bias."""
    return linear(a, b, bias=bias_tensor, activation=fused_activation)


def attn_matmul(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return row i of every head times user i's matrix.

    Heads share the matrices of a user evenly.
    """
    rows, matrices = np.asarray(a, np.float64), np.asarray(b, np.float64)
    each = rows.shape[1] // matrices.shape[1]
    product = np.matmul(rows.swapaxes(0, 2), np.repeat(matrices, each, axis=1))
    result: Array = product.swapaxes(0, 2)
    return result


group_attn_matmul = attn_matmul


def attn_matmul_from_cache(a: ArrayLike, b: ArrayLike, *, num_tokens: int, transpose_hw: bool, **_: object) -> Array:
    """Return row i of every head times user i's cache rows.

    They are the first rows, columns if transposed.
    """
    part = np.asarray(b, np.float64)[:, :, : -(-num_tokens // 32) * 32]
    return attn_matmul(a, part.swapaxes(-1, -2) if transpose_hw else part)


def sparse_matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    sparsity: ArrayLike,
    is_input_a_sparse: bool = False,
    is_input_b_sparse: bool = True,
    **_: object,
) -> Array:
    """Return the products that `sparsity` selects, and zeros elsewhere."""
    left, right, chosen = np.asarray(a, np.float64), np.asarray(b, np.float64), np.asarray(sparsity).reshape(-1) != 0
    first, second = left.reshape(-1, *left.shape[-2:]), right.reshape(-1, *right.shape[-2:])
    if is_input_a_sparse:
        shape = right.shape[:-2] if is_input_b_sparse else left.shape[:-2]
        products = first @ np.tile(second, (len(first) // len(second), 1, 1))
    else:
        shape = (*left.shape[:-2], *right.shape[:-2])
        products = (first[:, None] @ second[None]).reshape(-1, left.shape[-2], right.shape[-1])
    result: Array = np.where(chosen[:, None, None], products, 0.0).reshape(*shape, left.shape[-2], right.shape[-1])
    return result


def minimal_matmul_split(a: ArrayLike, b: ArrayLike, *, chunks: int = 3, **options: Any) -> list[Array]:
    """Return the parts of the product, cut between columns."""
    return np.split(minimal_matmul(a, b, **options), chunks, axis=-1)


def dit_minimal_matmul_addcmul_fused(
    a: ArrayLike,
    b: ArrayLike,
    scalar: float,
    base: ArrayLike,
    gate: ArrayLike,
    bias_tensor: ArrayLike | None = None,
    **_: object,
) -> Array:
    """Return `base + scalar * (a @ b + bias) * gate`."""
    product = linear(a, b, bias=bias_tensor)
    result: Array = np.asarray(base, np.float64) + scalar * product * np.asarray(gate, np.float64)
    return result
