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
