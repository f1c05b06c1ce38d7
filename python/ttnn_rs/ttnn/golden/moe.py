"""Mixture of experts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def moe(x: ArrayLike, expert_mask: ArrayLike, topk_mask: ArrayLike, k: int = 32, **_: object) -> Array:
    """Return element 0's share in the softmax of the `k` largest.

    Of every row.
    """
    scores = np.asarray(x, np.float64) + np.asarray(expert_mask, np.float64)
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :k]
    values = np.take_along_axis(scores, order, -1) + np.asarray(topk_mask, np.float64)
    weights = np.exp(values - values.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    result: Array = np.where(order == 0, weights, 0.0).sum(-1, keepdims=True)
    return result


def deepseek_grouped_gate(
    scores: ArrayLike, bias: ArrayLike, *, route_scale: float = 1.0, epsilon: float = 1e-20, **_: object
) -> list[NDArray[Any]]:
    """Return chosen experts' shares and numbers: 8 of 4 groups.

    They are the groups whose 2 best have most.
    """
    sigmoid = 1 / (1 + np.exp(-np.asarray(scores, np.float64)))
    biased = sigmoid + np.asarray(bias, np.float64)
    groups = biased.reshape(*biased.shape[:-1], 8, 32)
    sums = np.sort(groups, axis=-1)[..., -2:].sum(axis=-1)
    kept = np.argsort(-sums, axis=-1, kind="stable")[..., :4]
    allowed = np.zeros(sums.shape, bool)
    np.put_along_axis(allowed, kept, True, axis=-1)
    masked = np.where(allowed[..., None], groups, -np.inf).reshape(biased.shape)
    experts = np.argsort(-masked, axis=-1, kind="stable")[..., :8]
    taken = np.take_along_axis(sigmoid, experts, axis=-1)
    return [taken / (taken.sum(axis=-1, keepdims=True) + epsilon) * route_scale, experts]


def topk_router_gpt(
    x: ArrayLike, weight_tensor: ArrayLike, bias_tensor: ArrayLike, *, k: int = 4, **_: object
) -> list[NDArray[Any]]:
    """Return the indices of the `k` largest logits, and their softmax."""
    logits = np.asarray(x, np.float64) @ np.asarray(weight_tensor, np.float64) + np.asarray(bias_tensor, np.float64)
    order = np.argsort(-logits, axis=-1, kind="stable")[:, :k]
    values = np.take_along_axis(logits, order, -1)
    weights = np.exp(values - values.max(-1, keepdims=True))
    return [order, weights / weights.sum(-1, keepdims=True)]


def _counted(
    rows: ArrayLike, weights: ArrayLike, indices: ArrayLike | None, table: ArrayLike | None
) -> tuple[Array, Array]:
    """Return rows, and weights that are 0 where rows are left out."""
    values, factors = np.asarray(rows, np.float64), np.asarray(weights, np.float64)[..., :1]
    if indices is not None and table is not None:
        chips = np.asarray(table).reshape(-1)[np.asarray(indices, np.int64)]
        here = chips.reshape(factors.shape) != -1
    else:
        here = factors != 0
    return np.where(here, values, 0.0), np.where(here, factors, 0.0)


def post_combine_reduce(
    rows: ArrayLike,
    weights: ArrayLike,
    indices: ArrayLike | None = None,
    expert_dispatch_table: ArrayLike | None = None,
    **_: object,
) -> Array:
    """Return weighted sums of the rows of each token's experts."""
    values, factors = _counted(rows, weights, indices, expert_dispatch_table)
    result: Array = (values * factors).sum(axis=-2)
    return result


def sums_of_magnitudes(
    rows: ArrayLike,
    weights: ArrayLike,
    indices: ArrayLike | None = None,
    expert_dispatch_table: ArrayLike | None = None,
    **_: object,
) -> Array:
    """Return the sums of the products' magnitudes."""
    values, factors = _counted(rows, weights, indices, expert_dispatch_table)
    result: Array = np.abs(values * factors).sum(axis=-2)
    return result


def _expert_rows(start: ArrayLike, counts: ArrayLike, table: ArrayLike, expert: int) -> slice:
    """Return the rows of an expert in whole tiles."""
    starts, lengths, experts = (np.asarray(numbers).astype(int).reshape(-1) for numbers in (start, counts, table))
    first = starts[experts[expert]] // 32 * 32
    return slice(first, first + -(-lengths[experts[expert]] // 32) * 32)


def extract_rows(
    rows: ArrayLike,
    start: ArrayLike,
    counts: ArrayLike,
    global_expert_idx_table: ArrayLike,
    *,
    local_expert_id: int,
    max_dispatched_tokens_per_expert: int,
) -> Array:
    """Return the rows of an expert, then zeros."""
    values = np.asarray(rows, np.float64)
    found = values[_expert_rows(start, counts, global_expert_idx_table, local_expert_id)]
    result = np.zeros((max_dispatched_tokens_per_expert, values.shape[1]))
    result[: len(found)] = found
    return result


def insert_rows(
    rows: ArrayLike,
    local: ArrayLike,
    start: ArrayLike,
    counts: ArrayLike,
    global_expert_idx_table: ArrayLike,
    *,
    local_expert_id: int,
) -> Array:
    """Return the rows of all experts with those of one replaced."""
    result = np.array(rows, np.float64)
    part = _expert_rows(start, counts, global_expert_idx_table, local_expert_id)
    result[part] = np.asarray(local, np.float64)[: part.stop - part.start]
    return result
