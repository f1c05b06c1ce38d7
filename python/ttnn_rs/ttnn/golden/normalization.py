"""Reference functions of normalizations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.eltwise.unary import activated


def softmax(x: ArrayLike, dim: int = -1, **_: object) -> NDArray[np.float64]:
    """Return exp(x) / sum(exp(x)) along `dim`; 1 for rank 0."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    if values.ndim == 0 or values.size == 0:
        return np.ones(values.shape, np.float64)
    powers = np.exp(values - values.max(axis=dim, keepdims=True))
    result: NDArray[np.float64] = powers / powers.sum(axis=dim, keepdims=True)
    return result


def scale_mask_softmax(
    x: ArrayLike,
    scale: float | None = None,
    mask: ArrayLike | None = None,
    *,
    is_causal_mask: bool = False,
    **_: object,
) -> NDArray[np.float64]:
    """Return the softmax of scale * x + mask over the last dimension.

    A causal mask repeats down the rows. Of another one only the first row counts.
    """
    scores: NDArray[np.float64] = np.asarray(x, np.float64) * (1.0 if scale is None else scale)
    if mask is not None:
        added: NDArray[np.float64] = np.asarray(mask, np.float64)
        rows = np.arange(scores.shape[-2]) % added.shape[-2]
        scores = scores + (added[..., rows, :] if is_causal_mask else added[..., :1, :])
    return softmax(scores)


def scale_causal_mask_softmax(
    x: ArrayLike, scale: float | None = None, mask: ArrayLike | None = None, **_: object
) -> NDArray[np.float64]:
    """Return `scale_mask_softmax` with a causal mask."""
    return scale_mask_softmax(x, scale, mask, is_causal_mask=True)


def layer_norm(
    x: ArrayLike,
    *,
    epsilon: float = 1e-12,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    residual_input_tensor: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return the layer norm over the last dimension.

    (x - mean) / sqrt(variance + epsilon), times `weight`, plus `bias`.
    """
    values = _with_residual(x, residual_input_tensor)
    centered = values - values.mean(-1, keepdims=True)
    return _scaled(centered / np.sqrt((centered**2).mean(-1, keepdims=True) + epsilon), weight, bias)


def rms_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    epsilon: float = 1e-12,
    bias: ArrayLike | None = None,
    residual_input_tensor: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return the RMS norm over the last dimension.

    x / sqrt(mean(x ** 2) + epsilon), times `weight`, plus `bias`.
    """
    values = _with_residual(x, residual_input_tensor)
    return _scaled(values / np.sqrt((values**2).mean(-1, keepdims=True) + epsilon), weight, bias)


def dit_rms_norm_unary_fused(
    x: ArrayLike,
    epsilon: float = 1e-5,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    residual_input_tensor: ArrayLike | None = None,
    *,
    activation: Any = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return the RMS norm after an activation."""
    norm = rms_norm(x, epsilon=epsilon, weight=weight, bias=bias, residual_input_tensor=residual_input_tensor)
    return activated(norm, () if activation is None else (activation,))


def batch_norm(
    x: ArrayLike,
    *,
    running_mean: ArrayLike | None = None,
    running_var: ArrayLike | None = None,
    training: bool = False,
    eps: float = 1e-5,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return (x - mean) / sqrt(variance + eps) of every channel, times `weight`, plus `bias`."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    over = (0, 2, 3)
    if training or running_mean is None or running_var is None:
        mean, variance = values.mean(over, keepdims=True), values.var(over, keepdims=True)
    else:
        mean, variance = np.asarray(running_mean, np.float64), np.asarray(running_var, np.float64)
    result: NDArray[np.float64] = (values - mean) / np.sqrt(variance + eps)
    result = result if weight is None else result * np.asarray(weight, np.float64)
    return result if bias is None else result + np.asarray(bias, np.float64)


def rms_norm_pre_all_gather(
    x: ArrayLike, *, residual_input_tensor: ArrayLike | None = None, **_: object
) -> NDArray[np.float64]:
    """Return every row's sum of squares, in column 0 of 32."""
    values = _with_residual(x, residual_input_tensor)
    return _first_column((values**2).sum(-1, keepdims=True))


def layer_norm_pre_all_gather(
    x: ArrayLike, *, residual_input_tensor: ArrayLike | None = None, **_: object
) -> NDArray[np.float64]:
    """Return every row's sums of squares and elements.

    Each is in the first of 32 columns.
    """
    values = _with_residual(x, residual_input_tensor)
    sums = [_first_column(part.sum(-1, keepdims=True)) for part in (values**2, values)]
    return np.concatenate(sums, axis=-1)


def rms_norm_post_all_gather(
    x: ArrayLike,
    stats: ArrayLike,
    *,
    epsilon: float = 1e-12,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return the RMS norm from all devices' statistics.

    x / sqrt(mean(x ** 2) + epsilon).
    """
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    gathered: NDArray[np.float64] = np.asarray(stats, np.float64)
    mean = gathered.sum(-1, keepdims=True) / (values.shape[-1] * gathered.shape[-1] // 32)
    return _scaled(values / np.sqrt(mean + epsilon), weight, bias)


def layer_norm_post_all_gather(
    x: ArrayLike,
    stats: ArrayLike,
    *,
    epsilon: float = 1e-12,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return (x - mean) / sqrt(variance + epsilon), both from the statistics of all devices."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    gathered: NDArray[np.float64] = np.asarray(stats, np.float64)
    count = values.shape[-1] * gathered.shape[-1] // 64
    pairs = gathered.reshape(*gathered.shape[:-1], gathered.shape[-1] // 64, 2, 32)
    squares, mean = (pairs[..., part, :].sum((-2, -1))[..., None] / count for part in (0, 1))
    return _scaled((values - mean) / np.sqrt(squares - mean**2 + epsilon), weight, bias)


def dit_layernorm_pre_allgather(x: ArrayLike, recip_tensor: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return every row's mean and variance, in columns 0 of 32."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    parts = [_first_column(part) for part in (values.mean(-1, keepdims=True), values.var(-1, keepdims=True))]
    return np.concatenate(parts, axis=-1)


def wan_fused_rmsnorm_post_allgather(
    x: ArrayLike,
    stats: ArrayLike,
    *,
    epsilon: float = 1e-5,
    num_heads_per_device: int = 1,
    weight: ArrayLike | None = None,
    transformation_mat: ArrayLike | None = None,
    rope_cos: ArrayLike | None = None,
    rope_sin: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return the RMS norm from all parts' statistics.

    By heads, and rotated by the tables.
    """
    normed = rms_norm_post_all_gather(x, stats, epsilon=epsilon, weight=weight)
    rows = normed.shape[-2]
    heads: NDArray[np.float64] = np.moveaxis(normed.reshape(1, rows, num_heads_per_device, -1), 2, 1)
    if transformation_mat is None or rope_cos is None or rope_sin is None:
        return heads
    tiles = heads.reshape(*heads.shape[:-1], -1, 32)
    rotated = (tiles @ np.asarray(transformation_mat, np.float64)[0, 0]).reshape(heads.shape)
    result: NDArray[np.float64] = heads * np.asarray(rope_cos, np.float64) + rotated * np.asarray(rope_sin, np.float64)
    return result


def dit_layernorm_post_allgather(
    x: ArrayLike,
    stats: ArrayLike,
    *,
    epsilon: float = 1e-5,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return the layer norm from all devices' means and variances.

    (x - mean) / sqrt(variance + epsilon).
    """
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    gathered: NDArray[np.float64] = np.asarray(stats, np.float64)
    pairs = gathered.reshape(*gathered.shape[:-1], gathered.shape[-1] // 64, 2, 32)[..., 0]
    means, variances = pairs[..., 0], pairs[..., 1]
    mean = means.mean(-1, keepdims=True)
    variance = (variances + (means - mean) ** 2).mean(-1, keepdims=True)
    return _scaled((values - mean) / np.sqrt(variance + epsilon), weight, bias)


def _first_column(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a column followed by 31 columns of zeros."""
    return np.pad(column, [(0, 0)] * (column.ndim - 1) + [(0, 31)])


def _with_residual(x: ArrayLike, residual: ArrayLike | None) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    return values if residual is None else values + np.asarray(residual, np.float64)


def _scaled(values: NDArray[np.float64], weight: ArrayLike | None, bias: ArrayLike | None) -> NDArray[np.float64]:
    """Return values times a weight row, plus a row.

    Both may be given in rows of 32. Further rows do not count.
    """
    width = values.shape[-1]
    if weight is not None:
        values = values * np.asarray(weight, np.float64).reshape(-1)[:width]
    return values if bias is None else values + np.asarray(bias, np.float64).reshape(-1)[:width]


def normalize_hw(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return (x - mean) / sqrt(variance) over the last two dimensions."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    result: NDArray[np.float64] = (values - values.mean((-2, -1), keepdims=True)) / values.std((-2, -1), keepdims=True)
    return result


def var_hw(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return the variance over the last two dimensions."""
    result: NDArray[np.float64] = np.asarray(x, np.float64).var((-2, -1), keepdims=True)
    return result


def std_hw(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return the standard deviation over the last two dimensions."""
    return np.sqrt(var_hw(x))


def normalize_global(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return (x - mean) / sqrt(variance) over everything."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    result: NDArray[np.float64] = (values - values.mean()) / values.std()
    return result


def terms_of_normalize_hw(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return (|x| + |mean|) / sqrt(variance), in whose units the difference is rounded."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    sizes = np.abs(values) + np.abs(values.mean((-2, -1), keepdims=True))
    result: NDArray[np.float64] = sizes / values.std((-2, -1), keepdims=True)
    return result


def group_norm(
    x: ArrayLike,
    *,
    num_groups: int,
    epsilon: float = 1e-12,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    **_: object,
) -> NDArray[np.float64]:
    """Return the group norm of [N, 1, H * W, C].

    Over rows and the channels of every group.
    """
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    batch, _one, rows, channels = values.shape
    groups = values.reshape(batch, rows, num_groups, channels // num_groups)
    middle = groups.mean(axis=(1, 3), keepdims=True)
    variance = groups.var(axis=(1, 3), keepdims=True)
    result: NDArray[np.float64] = ((groups - middle) / np.sqrt(variance + epsilon)).reshape(values.shape)
    if weight is not None:
        result = result * np.asarray(weight, np.float64).reshape(-1)[:channels]
    return result if bias is None else result + np.asarray(bias, np.float64).reshape(-1)[:channels]
