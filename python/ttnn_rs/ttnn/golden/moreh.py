"""Reference functions of the Moreh framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Dims = int | Sequence[int] | None


def moreh_sum(x: ArrayLike, dim: Dims = None, *, keepdim: bool = False, **_: object) -> Array:
    """Return the sum along dimensions.

    Rows and columns stay with size 1. Integers wrap around at 32 bits.
    """
    values = np.asarray(x)
    if values.dtype == np.int32:
        whole = values.sum(axis=_axes(dim, values.ndim), keepdims=True, dtype=np.int32)
        return _squeezed(whole, dim, keepdim)
    values = values.astype(np.float64)
    return _squeezed(values.sum(axis=_axes(dim, values.ndim), keepdims=True), dim, keepdim)


def moreh_mean(x: ArrayLike, *, dim: Dims = None, keepdim: bool = False, **_: object) -> Array:
    """Return the mean along dimensions; rows and columns stay with size 1."""
    values = np.asarray(x, np.float64)
    return _squeezed(values.mean(axis=_axes(dim, values.ndim), keepdims=True), dim, keepdim)


def fast_reduce_nc(x: ArrayLike, *, dims: Sequence[int] = (), **_: object) -> Array:
    """Return the sum over leading dimensions, which stay with size 1."""
    result: Array = np.asarray(x, np.float64).sum(axis=tuple(dims), keepdims=True)
    return result


def moreh_softmax(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return exp(x) / sum(exp(x))."""
    return np.exp(moreh_logsoftmax(x, dim))


def moreh_softmin(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return exp(-x) / sum(exp(-x))."""
    return moreh_softmax(-np.asarray(x, np.float64), dim)


def moreh_logsoftmax(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return x - log(sum(exp(x)))."""
    values = np.asarray(x, np.float64)
    if values.size == 0:
        return values
    shifted = values - values.max(axis=dim, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))
    return result


def _axes(dim: Dims, rank: int) -> tuple[int, ...]:
    named = range(rank) if dim is None else [dim] if isinstance(dim, int) else dim
    return tuple(axis % rank for axis in named)


def _squeezed(values: Array, dim: Dims, keepdim: bool) -> Array:
    axes = _axes(dim, values.ndim)
    gone = [axis for axis in axes if axis < values.ndim - 2 and not keepdim]
    return values.squeeze(axis=tuple(gone))


def moreh_full(shape: Sequence[int], fill_value: float, *_args: object, **_: object) -> Array:
    """Return `fill_value` in every element."""
    return np.full(tuple(shape), fill_value, np.float64)


def moreh_full_like(x: ArrayLike, fill_value: float, *_args: object, **_: object) -> Array:
    """Return `fill_value` in every element of the shape of `x`."""
    return np.full(np.shape(x), fill_value, np.float64)


def moreh_cumsum(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return running sums along `dim`."""
    return np.cumsum(np.asarray(x, np.float64), axis=dim)


def moreh_cumsum_backward(grad: ArrayLike, dim: int, **_: object) -> Array:
    """Return running sums along `dim` from the end."""
    result: Array = np.flip(np.cumsum(np.flip(np.asarray(grad, np.float64), dim), axis=dim), dim)
    return result


def moreh_sum_backward(
    grad: ArrayLike, *, input: ArrayLike, dim: int | Sequence[int] | None = None, **_: object
) -> Array:
    """Return the gradient repeated along the dimensions that were summed."""
    shape = np.shape(input)
    named = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = {axis % len(shape) for axis in named}
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    result: Array = np.broadcast_to(np.asarray(grad, np.float64).reshape(kept), shape).copy()
    return result


def moreh_matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    transpose_input: bool = False,
    transpose_other: bool = False,
    bias: ArrayLike | None = None,
    **_: object,
) -> Array:
    """Return the product of matrices, plus a bias."""
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    left = left.swapaxes(-1, -2) if transpose_input else left
    right = right.swapaxes(-1, -2) if transpose_other else right
    result: Array = left @ right
    return result if bias is None else result + np.asarray(bias, np.float64).reshape(-1)


def moreh_linear(x: ArrayLike, weight: ArrayLike, *, bias: ArrayLike | None = None, **_: object) -> Array:
    """Return the product with the transposed weight, plus a bias."""
    return moreh_matmul(x, weight, transpose_other=True, bias=bias)


def _summed(gradient: Array, shape: tuple[int, ...]) -> Array:
    axes = tuple(axis for axis, size in enumerate(shape) if size == 1 != gradient.shape[axis])
    return gradient.sum(axes, keepdims=True) if axes else gradient


def moreh_matmul_backward(
    grad: ArrayLike, a: ArrayLike, b: ArrayLike, *, are_required_outputs: Sequence[bool] = (True, True), **_: object
) -> list[Array | None]:
    """Return the gradients of both operands of a product."""
    given, left, right = (np.asarray(values, np.float64) for values in (grad, a, b))
    both = (given @ right.swapaxes(-1, -2), left.swapaxes(-1, -2) @ given)
    wanted = zip(are_required_outputs, both, (left.shape, right.shape), strict=True)
    return [_summed(gradient, shape) if flag else None for flag, gradient, shape in wanted]


def moreh_linear_backward(
    grad: ArrayLike,
    x: ArrayLike,
    weight: ArrayLike,
    *,
    are_required_outputs: Sequence[bool] = (True, True, True),
    **_: object,
) -> list[Array | None]:
    """Return the gradients of input, weight and bias."""
    given, values, matrix = (np.asarray(item, np.float64) for item in (grad, x, weight))
    of_weight = given.swapaxes(-1, -2) @ values
    all_three = (given @ matrix, _summed(of_weight, matrix.shape), given.reshape(-1, given.shape[-1]).sum(0))
    return [gradient if flag else None for flag, gradient in zip(are_required_outputs, all_three, strict=True)]


def moreh_mean_backward(
    grad: ArrayLike,
    *,
    dim: int | Sequence[int] | None = None,
    input_grad_shape: Sequence[int] | None = None,
    **options: Any,
) -> Array:
    """Return the gradient repeated along the mean's dimensions.

    It is divided by how many elements there were.
    """
    shape = tuple(input_grad_shape if input_grad_shape is not None else np.shape(options["input_grad"]))
    repeated = moreh_sum_backward(grad, input=np.zeros(shape), dim=dim)
    return repeated * (np.size(grad) / repeated.size)


def _f64(values: ArrayLike) -> Array:
    return np.asarray(values, np.float64)


def moreh_softmax_backward(output_tensor: ArrayLike, output_grad_tensor: ArrayLike, dim: int, **_: object) -> Array:
    """Return (dy - sum(y * dy)) * y."""
    output, grad = np.asarray(output_tensor, np.float64), np.asarray(output_grad_tensor, np.float64)
    result: Array = (grad - (output * grad).sum(axis=dim, keepdims=True)) * output
    return result


def moreh_softmin_backward(output_tensor: ArrayLike, output_grad_tensor: ArrayLike, dim: int, **_: object) -> Array:
    """Return -(dy - sum(y * dy)) * y."""
    return -moreh_softmax_backward(output_tensor, output_grad_tensor, dim)


def moreh_logsoftmax_backward(output_tensor: ArrayLike, output_grad_tensor: ArrayLike, dim: int, **_: object) -> Array:
    """Return dy - sum(dy) * exp(y)."""
    output, grad = np.asarray(output_tensor, np.float64), np.asarray(output_grad_tensor, np.float64)
    result: Array = grad - grad.sum(axis=dim, keepdims=True) * np.exp(output)
    return result


def moreh_layer_norm(
    input: ArrayLike,
    normalized_dims: int,
    eps: float = 1e-5,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    **options: ArrayLike | None,
) -> list[Array | None]:
    """Return the last dimensions' norm, mean and inverse deviation.

    The latter two if requested.
    """
    values = _f64(input)
    axes = tuple(range(values.ndim - normalized_dims, values.ndim))
    mean = values.mean(axes, keepdims=True)
    rstd = 1 / np.sqrt(values.var(axes, keepdims=True) + eps)
    result = (values - mean) * rstd
    for factors, join in ((gamma, np.multiply), (beta, np.add)):
        if factors is not None:
            result = join(result, _f64(factors).reshape(values.shape[values.ndim - normalized_dims :]))
    kept = {"mean": mean, "rstd": rstd}
    return [result, *(None if options.get(name) is None else of.squeeze(axes) for name, of in kept.items())]


def moreh_layer_norm_backward(
    output_grad: ArrayLike,
    input: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    normalized_dims: int,
    *,
    gamma: ArrayLike | None = None,
    **options: ArrayLike | None,
) -> list[Array | None]:
    """Return the gradients of input, gamma and beta that are asked for."""
    dy, values = _f64(output_grad), _f64(input)
    inner = values.shape[values.ndim - normalized_dims :]
    kept = (*values.shape[: values.ndim - normalized_dims], *(1 for _ in inner))
    axes = tuple(range(values.ndim - normalized_dims, values.ndim))
    outer = tuple(range(values.ndim - normalized_dims))
    inverse = _f64(rstd).reshape(kept)
    y = (values - _f64(mean).reshape(kept)) * inverse
    scaled = dy if gamma is None else dy * _f64(gamma).reshape(inner)
    of_input = inverse * (scaled - scaled.mean(axes, keepdims=True) - y * (y * scaled).mean(axes, keepdims=True))
    all_three = (of_input, (y * dy).sum(outer), dy.sum(outer))
    names = ("input_grad", "gamma_grad", "beta_grad")
    return [of if options.get(name) is not None else None for name, of in zip(names, all_three, strict=True)]


def moreh_group_norm(
    input: ArrayLike,
    num_groups: int,
    eps: float = 1e-5,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    are_required_outputs: Sequence[bool] = (True, False, False),
    **options: ArrayLike | None,
) -> list[Array | None]:
    """Return channel groups' norm, mean and inverse deviation.

    The latter two if requested.
    """
    values = _f64(input)
    n, c, h, w = values.shape
    groups = values.reshape(n, num_groups, c // num_groups, h, w)
    wanted = [
        options.get(name) is not None or flag
        for name, flag in zip(("mean", "rstd"), are_required_outputs[1:], strict=True)
    ]
    asked = dict(zip(("mean", "rstd"), (np.ones(()) if flag else None for flag in wanted), strict=True))
    result, mean, rstd = moreh_layer_norm(groups, 3, eps, **asked)
    assert result is not None
    result = result.reshape(values.shape)
    for factors, join in ((gamma, np.multiply), (beta, np.add)):
        if factors is not None:
            result = join(result, _f64(factors).reshape(1, c, 1, 1))
    return [result, *(None if of is None else of.reshape(1, 1, n, num_groups) for of in (mean, rstd))]


def moreh_group_norm_backward(
    output_grad: ArrayLike,
    input: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    num_groups: int,
    *,
    are_required_outputs: Sequence[bool] = (True, False, False),
    gamma: ArrayLike | None = None,
    **_: object,
) -> list[Array | None]:
    """Return the gradients of input, gamma and beta that are asked for."""
    dy, values = _f64(output_grad), _f64(input)
    n, c, h, w = values.shape
    groups = (n, num_groups, c // num_groups, h, w)
    scaled = dy if gamma is None else dy * _f64(gamma).reshape(1, c, 1, 1)
    of_input = moreh_layer_norm_backward(
        scaled.reshape(groups), values.reshape(groups), mean, rstd, 3, input_grad=np.ones(())
    )[0]
    assert of_input is not None
    kept = (n, num_groups, 1, 1, 1)
    y = (values.reshape(groups) - _f64(mean).reshape(kept)) * _f64(rstd).reshape(kept)
    of_gamma = (y.reshape(values.shape) * dy).sum((0, 2, 3))
    all_three = (of_input.reshape(values.shape), of_gamma.reshape(1, 1, 1, c), dy.sum((0, 2, 3)).reshape(1, 1, 1, c))
    return [of if flag else None for flag, of in zip(are_required_outputs, all_three, strict=True)]


def moreh_abs_pow(input: ArrayLike, p: float, **_: object) -> Array:
    """Return magnitudes to the power of p."""
    return np.power(np.abs(_f64(input)), p)


def _named(dim: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    named = range(rank) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
    return tuple(axis % rank for axis in named)


def moreh_norm(
    input: ArrayLike, p: float, *, dim: int | Sequence[int] | None = None, keepdim: bool = False, **_: object
) -> Array:
    """Return the p-norm along dimensions; rows and columns stay with size 1."""
    values = np.abs(_f64(input))
    axes = _named(dim, values.ndim)
    if p == 0:
        result = (values != 0).astype(np.float64).sum(axes, keepdims=True)
    elif np.isinf(p):
        result = (values.max if p > 0 else values.min)(axis=axes, keepdims=True)
    else:
        result = (values**p).sum(axes, keepdims=True) ** (1 / p)
    gone = [axis for axis in axes if axis < values.ndim - 2 and not keepdim]
    squeezed: Array = result.squeeze(tuple(gone))
    return squeezed


def moreh_norm_backward(
    input: ArrayLike,
    output: ArrayLike,
    output_grad: ArrayLike,
    p: float,
    *,
    dim: int | Sequence[int] | None = None,
    **_: object,
) -> Array:
    """Return the gradient of a p-norm."""
    values = _f64(input)
    axes = _named(dim, values.ndim)
    kept = [1 if axis in axes else size for axis, size in enumerate(values.shape)]
    norm, grad = _f64(output).reshape(kept), _f64(output_grad).reshape(kept)
    result: Array = np.sign(values) * np.abs(values) ** (p - 1) * norm * grad / norm**p
    return result


def moreh_adam(
    param: ArrayLike,
    grad: ArrayLike,
    average: ArrayLike,
    squares: ArrayLike,
    *,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    step: int = 0,
    amsgrad: bool = False,
    max_exp_avg_sq_in: ArrayLike | None = None,
    max_exp_avg_sq_out: ArrayLike | None = None,
    **_: object,
) -> list[Array | None]:
    """Return parameter, averages and the largest average after a step of Adam."""
    slope = _f64(grad) + weight_decay * _f64(param)
    numbers = {"lr": lr, "beta1": beta1, "beta2": beta2, "eps": eps, "step": step}
    largest = max_exp_avg_sq_in if amsgrad else None
    *found, new = _adam_step(_f64(param), slope, _f64(average), _f64(squares), largest, **numbers)
    return [*found, new if amsgrad or max_exp_avg_sq_out is None else _f64(max_exp_avg_sq_out)]


def moreh_adamw(
    param: ArrayLike,
    grad: ArrayLike,
    average: ArrayLike,
    squares: ArrayLike,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.01,
    step: int = 0,
    amsgrad: bool = False,
    *,
    max_exp_avg_sq_in: ArrayLike | None = None,
    max_exp_avg_sq_out: ArrayLike | None = None,
    **_: object,
) -> list[Array | None]:
    """Return parameter, averages and the largest average after a step of AdamW."""
    decayed = _f64(param) * (1 - lr * weight_decay)
    numbers = {"lr": lr, "beta1": beta1, "beta2": beta2, "eps": eps, "step": step}
    largest = max_exp_avg_sq_in if amsgrad else None
    *found, new = _adam_step(decayed, _f64(grad), _f64(average), _f64(squares), largest, **numbers)
    return [*found, new if amsgrad or max_exp_avg_sq_out is None else _f64(max_exp_avg_sq_out)]


def _adam_step(
    param: Array, slope: Array, average: Array, squares: Array, largest: ArrayLike | None, **numbers: float
) -> list[Array | None]:
    beta1, beta2, step = numbers["beta1"], numbers["beta2"], numbers["step"]
    average = beta1 * average + (1 - beta1) * slope
    squares = beta2 * squares + (1 - beta2) * slope**2
    divisor = squares if largest is None else np.maximum(squares, _f64(largest))
    root = np.sqrt(divisor / (1 - beta2**step)) + numbers["eps"]
    result = param - numbers["lr"] / (1 - beta1**step) * average / root
    return [result, average, squares, None if largest is None else divisor]


def moreh_sgd(
    param: ArrayLike,
    grad: ArrayLike,
    momentum_buffer_in: ArrayLike | None = None,
    param_out: ArrayLike | None = None,
    momentum_buffer_out: ArrayLike | None = None,
    lr: float = 0.001,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    momentum_initialized: bool = False,
    **_: object,
) -> list[Array | None]:
    """Return parameter and momentum after a stochastic gradient descent step."""
    slope = _f64(grad) + weight_decay * _f64(param)
    if not momentum:
        return [_f64(param) - lr * slope, None if momentum_buffer_out is None else _f64(momentum_buffer_out)]
    buffer = slope
    if momentum_initialized and momentum_buffer_in is not None:
        buffer = momentum * _f64(momentum_buffer_in) + (1 - dampening) * slope
    update = slope + momentum * buffer if nesterov else buffer
    return [_f64(param) - lr * update, buffer]


def moreh_dot(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return the dot product of two vectors."""
    return np.asarray((_f64(a) * _f64(b)).sum(), np.float64).reshape(1, 1, 1, 1)


def moreh_dot_backward(
    grad: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    input_grad: ArrayLike | None = None,
    other_grad: ArrayLike | None = None,
    **_: object,
) -> list[Array | None]:
    """Return the gradients of both vectors that are asked for."""
    factor = _f64(grad).reshape(())
    wanted = ((input_grad, b), (other_grad, a))
    return [None if target is None else _f64(values) * factor for target, values in wanted]


def _class_weights(target: ArrayLike, weight: ArrayLike | None, count: int, ignored: int) -> tuple[Array, Any]:
    """Return every target's weight and class.

    Targets that count as 0 have class 0.
    """
    classes = np.asarray(target, np.float64).astype(np.int64)
    counts = (classes != ignored) & (classes >= 0) & (classes < count)
    classes = np.where(counts, classes, 0)
    given = np.ones(count) if weight is None else _f64(weight).reshape(count)
    return np.where(counts, given[classes], 0.0), classes


def moreh_nll_loss(
    x: ArrayLike,
    target: ArrayLike,
    reduction: str,
    *,
    weight_tensor: ArrayLike | None = None,
    ignore_index: int = -100,
    **_: object,
) -> Array:
    """Return the negative log likelihood loss."""
    values = _f64(x)
    weights, classes = _class_weights(target, weight_tensor, values.shape[1], ignore_index)
    losses = -np.take_along_axis(values, classes[:, None], 1)[:, 0] * weights
    if reduction == "none":
        return losses.reshape((1, -1) if losses.ndim == 1 else losses.shape)
    total = losses.sum() / (weights.sum() if reduction == "mean" else 1.0)
    return np.asarray(total, np.float64).reshape(1, 1)


def moreh_nll_loss_backward(
    target: ArrayLike,
    output_grad: ArrayLike,
    _reduction_mean: bool,
    *,
    weight_tensor: ArrayLike | None = None,
    input_grad_tensor: ArrayLike,
    divisor_tensor: ArrayLike | None = None,
    ignore_index: int = -100,
    **_: object,
) -> Array:
    """Return the gradient of a summed loss."""
    divisor = 1.0 if divisor_tensor is None else float(_f64(divisor_tensor).reshape(()))
    grad = np.full(np.shape(target), float(_f64(output_grad).reshape(())) / divisor)
    return moreh_nll_loss_unreduced_backward(
        target, grad, weight_tensor=weight_tensor, input_grad_tensor=input_grad_tensor, ignore_index=ignore_index
    )


def moreh_nll_loss_unreduced_backward(
    target: ArrayLike,
    output_grad: ArrayLike,
    *,
    weight_tensor: ArrayLike | None = None,
    input_grad_tensor: ArrayLike,
    ignore_index: int = -100,
    **_: object,
) -> Array:
    """Return the gradient of losses that were not summed."""
    result: Array = np.zeros_like(_f64(input_grad_tensor))
    weights, classes = _class_weights(target, weight_tensor, result.shape[1], ignore_index)
    np.put_along_axis(result, classes[:, None], (-_f64(output_grad) * weights)[:, None], 1)
    return result


def moreh_clip_grad_norm(
    inputs: Sequence[ArrayLike], _max_norm: float, norm_type: float = 2.0, *_: object, **__: object
) -> Array:
    """Return the norm of all gradients together."""
    total = sum(float((np.abs(_f64(values)) ** norm_type).sum()) for values in inputs)
    return np.full((1, 1), total ** (1 / norm_type))


def moreh_arange(*bounds: Any, dtype: Any = None, untilize_out: bool = False, **named: Any) -> Array:
    """Return values from the start in equal steps."""
    numbers = [float(bound) for bound in bounds if isinstance(bound, int | float)]
    # Without a third number the first one is the end, unless that has a name.
    places = ("end", "step") if len(numbers) < 3 and "end" not in named else ("start", "end", "step")
    given = {"start": 0.0, "step": 1.0} | dict(zip(places, numbers, strict=False)) | named
    start, end, step = given["start"], given["end"], given["step"]
    values: Array = start + step * np.arange(int(np.ceil((end - start) / step)), dtype=np.float64)
    return values if untilize_out else values[None]


def moreh_getitem(index_tensors: Sequence[Any], index_dims: Sequence[int], *, input: ArrayLike, **_: object) -> Array:
    """Return the slices that indices name."""
    indices: list[Any] = [slice(None)] * np.ndim(input)
    for values, dim in zip(index_tensors, index_dims, strict=True):
        numbers = values.to_list() if hasattr(values, "to_list") else values
        indices[dim] = np.asarray(numbers, np.int64).reshape(-1)
    result: Array = _f64(input)[tuple(indices)]
    return result


def moreh_fold(
    input: ArrayLike,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    stride: Sequence[int] = (1, 1),
    **_: object,
) -> Array:
    """Return images in which blocks are added."""
    values = _f64(input)
    (height, width), (tall, wide) = output_size, kernel_size
    down, across = (
        (output_size[i] + 2 * padding[i] - dilation[i] * (kernel_size[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)
    )
    blocks = values.reshape(*values.shape[:-2], -1, tall, wide, down, across)
    result = np.zeros((*blocks.shape[:-4], height + 2 * padding[0], width + 2 * padding[1]))
    for row in range(tall):
        for column in range(wide):
            top, left = row * dilation[0], column * dilation[1]
            rows = slice(top, top + down * stride[0], stride[0])
            columns = slice(left, left + across * stride[1], stride[1])
            result[..., rows, columns] += blocks[..., row, column, :, :]
    inside: Array = result[..., padding[0] : padding[0] + height, padding[1] : padding[1] + width]
    return inside


def deepseek_moe_fast_reduce_nc(x: ArrayLike, dim: int, *, split_size: int, **_: object) -> list[Array]:
    """Return the sum over a leading dimension, cut between columns."""
    total: Array = np.asarray(x, np.float64).sum(axis=dim, keepdims=True)
    return np.split(total, max(1, total.shape[-1] // split_size), axis=-1)


def fast_reduce_nc_split(x: ArrayLike, *, dim: int, split_output_width: int, **_: object) -> tuple[Array, Array]:
    """Return the leading dimension's sum, split by first columns."""
    total: Array = np.asarray(x, np.float64).sum(axis=dim, keepdims=True)
    return total[..., :split_output_width], total[..., split_output_width:]
