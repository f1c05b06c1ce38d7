"""The operations of `forge.op`: functions of PyTorch on tensors of forge.

What a ForgeModule computes with them is traced like a module of PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch.nn import functional

from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.compiler.frontends.forge.formats import DataFormat, dtype_of
from ttnn.compiler.frontends.forge.tensor import Tensor

__all__ = ["OPERATIONS"]


def _value(given: Any) -> Any:
    return given.value() if isinstance(given, Tensor) else given


def _wrapped(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function of PyTorch as an operation.

    Its first argument is a name, which has no effect.
    """

    def operation(label: str, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(label, str):
            raise ParameterError(f"forge.op.{name}: the first argument is a name, got {type(label).__name__}.")
        found = function(*map(_value, args), **{key: _value(one) for key, one in kwargs.items()})
        return tuple(map(Tensor, found)) if isinstance(found, tuple) else Tensor(found)

    operation.__name__ = name
    operation.__doc__ = (function.__doc__ or "").splitlines()[0] if function.__doc__ else f"Return {name}."
    return operation


def _pairs(padding: Any, kernel: Sequence[int]) -> list[int]:
    """Return padding as left, right, top, bottom."""
    if padding == "same":
        height, width = kernel
        return [(width - 1) // 2, width // 2, (height - 1) // 2, height // 2]
    if isinstance(padding, int):
        return [padding] * 4
    given = [int(one) for one in padding]
    if len(given) == 2:
        return [given[1], given[1], given[0], given[0]]
    return given


def _channels_first(x: Any) -> Any:
    return x.permute(0, 3, 1, 2)


def _channels_last(x: Any) -> Any:
    return x.permute(0, 2, 3, 1)


def _conv2d(
    activations: Any,
    weights: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = "same",
    dilation: Any = 1,
    groups: int = 1,
    channel_last: bool = False,
) -> Any:
    """Return a convolution of images."""
    x = _channels_first(activations) if channel_last else activations
    x = functional.pad(x, _pairs(padding, weights.shape[2:]))
    bias = None if bias is None else bias.reshape(-1)
    made = functional.conv2d(x, weights, bias, stride=stride, dilation=dilation, groups=groups)
    return _channels_last(made) if channel_last else made


def _conv2d_transpose(
    activations: Any,
    weights: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = "same",
    dilation: Any = 1,
    groups: int = 1,
    channel_last: bool = False,
    output_padding: Any = 0,
) -> Any:
    """Return a transposed convolution of images."""
    x = _channels_first(activations) if channel_last else activations
    left, right, top, bottom = _pairs(padding, weights.shape[2:])
    if left != right or top != bottom:
        raise UnsupportedError("forge.op.Conv2dTranspose: padding that differs before and after has no equivalent.")
    made = functional.conv_transpose2d(
        x, weights, None if bias is None else bias.reshape(-1), stride, (top, left), output_padding, groups, dilation
    )
    return _channels_last(made) if channel_last else made


def _pool(function: Callable[..., Any], rank: int) -> Callable[..., Any]:
    def pooled(
        activations: Any,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0 if rank == 1 else "same",
        *more: Any,
        channel_last: bool = False,
        **options: Any,
    ) -> Any:
        """Return values of windows."""
        kernel = [kernel_size] * rank if isinstance(kernel_size, int) else list(kernel_size)
        if padding == "same":
            padding = [one // 2 for one in kernel]
        if isinstance(padding, (list, tuple)) and len(padding) == 2 * rank:
            padding = [padding[2], padding[0]] if rank == 2 else [padding[0]]
        if options.pop("max_pool_add_sub_surround", False):
            raise UnsupportedError("forge.op.MaxPool2d: max_pool_add_sub_surround is not there.")
        options.pop("max_pool_add_sub_surround_value", None)
        x = _channels_first(activations) if channel_last else activations
        made = function(x, kernel, stride, padding, *more, **options)
        return _channels_last(made) if channel_last else made

    return pooled


def _cast(x: Any, dtype: Any) -> Any:
    """Return a tensor of another type."""
    return x.to(dtype_of(dtype) if isinstance(dtype, DataFormat) else dtype)


def _identity(x: Any, unsqueeze: Any = None, unsqueeze_dim: int | None = None) -> Any:
    """Return a tensor unchanged, or with dimensions before it."""
    if unsqueeze is None or unsqueeze_dim is None:
        return x
    return x.reshape([1] * (unsqueeze_dim - x.ndim) + list(x.shape))


def _select(x: Any, dim: int, index: Any, stride: int = 0) -> Any:
    """Return ranges of a dimension, one in each stride."""
    begin, length = (index, 1) if isinstance(index, int) else index
    stride = stride or x.shape[dim]
    parts = [x.narrow(dim, at, min(length, x.shape[dim] - at)) for at in range(begin, x.shape[dim], stride)]
    return torch.cat(parts, dim)


def _index(x: Any, dim: int, start: int, stop: int | None = None, stride: int = 1) -> Any:
    """Return a slice of a dimension."""
    places: list[Any] = [slice(None)] * x.ndim
    stop = start + 1 if stop is None else stop
    places[dim] = slice(start, stop, stride)
    return x[tuple(places)]


def _index_copy(x: Any, index: Any, value: Any, dim: int) -> Any:
    """Return a tensor with slices replaced."""
    return torch.index_copy(x, dim, index.long(), value)


def _broadcast(x: Any, dim: int, shape: int) -> Any:
    """Return a tensor with a dimension repeated."""
    sizes = list(x.shape)
    sizes[dim] = shape
    return x.expand(sizes)


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(x: Any, dim: int, keep_dim: bool = True) -> Any:
        """Return a reduction of a dimension."""
        return function(x, dim, keepdim=keep_dim)

    return reduced


def _argmax(x: Any, dim: int | None = None, keep_dim: bool = False) -> Any:
    """Return positions of the largest elements."""
    return torch.argmax(x, dim, keep_dim)


def _matmul(x: Any, y: Any, bias: Any = None) -> Any:
    """Return a matrix product, with a bias if there is one."""
    made = torch.matmul(x, y)
    return made if bias is None else made + bias


def _layer_norm(x: Any, weights: Any, bias: Any, dim: int = -1, epsilon: float = 1e-05) -> Any:
    """Return a tensor normalised over its last dimension."""
    if dim not in (-1, x.ndim - 1):
        raise UnsupportedError(f"forge.op.Layernorm: dimension {dim}; it is the last one.")
    return functional.layer_norm(x, x.shape[-1:], weights.reshape(-1), bias.reshape(-1), epsilon)


def _batch_norm(x: Any, weights: Any, bias: Any, running_mean: Any, running_var: Any, epsilon: float = 1e-05) -> Any:
    """Return a batch normalised by known statistics."""
    return functional.batch_norm(x, running_mean, running_var, weights, bias, False, 0.0, epsilon)


def _softmax(x: Any, *, dim: int, stable: bool = True) -> Any:
    """Return the softmax of a dimension."""
    del stable
    return torch.softmax(x, dim)


def _log_softmax(x: Any, *, dim: int, stable: bool = True) -> Any:
    """Return the logarithm of the softmax of a dimension."""
    del stable
    return torch.log_softmax(x, dim)


def _dropout(x: Any, p: float = 0.5, training: bool = True, seed: int = 0) -> Any:
    """Return a tensor unchanged; training takes random numbers."""
    if training and p:
        raise UnsupportedError("forge.op.Dropout: random numbers of forge are not there; pass training=False.")
    del seed
    return x


def _resize(x: Any, sizes: Any, mode: str, align_corners: bool, channel_last: bool) -> Any:
    moved = _channels_first(x) if channel_last else x
    kind = {"nearest": "nearest", "linear": "linear", "bilinear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    options = {} if kind == "nearest" else {"align_corners": align_corners}
    made = functional.interpolate(moved, size=sizes, mode=kind, **options)
    return _channels_last(made) if channel_last else made


def _resize1d(x: Any, size: int, mode: str = "nearest", align_corners: bool = False, channel_last: bool = False) -> Any:
    """Return lines of another size."""
    if channel_last:
        return _resize(x.transpose(1, 2), [size], mode, align_corners, False).transpose(1, 2)
    return _resize(x, [size], mode, align_corners, False)


def _resize2d(
    x: Any, sizes: Any, mode: str = "nearest", align_corners: bool = False, channel_last: bool = False
) -> Any:
    """Return images of another size."""
    return _resize(x, list(sizes), mode, align_corners, channel_last)


def _scaled2d(up: bool) -> Callable[..., Any]:
    def scaled(x: Any, scale_factor: Any, mode: str = "nearest", channel_last: bool = False) -> Any:
        """Return images larger or smaller by a factor."""
        factors = [scale_factor] * 2 if isinstance(scale_factor, int) else list(scale_factor)
        have = x.shape[1:3] if channel_last else x.shape[2:]
        sizes = [size * one if up else size // one for size, one in zip(have, factors, strict=True)]
        return _resize(x, sizes, mode, False, channel_last)

    return scaled


def _pad(x: Any, pad: Sequence[int], mode: str = "constant", value: float = 0.0, channel_last: bool = False) -> Any:
    """Return a padded tensor."""
    moved = _channels_first(x) if channel_last else x
    options = {"value": value} if mode == "constant" else {}
    made = functional.pad(moved, list(pad), mode=mode, **options)
    return _channels_last(made) if channel_last else made


def _constant_pad(x: Any, padding: Sequence[int], value: float = 0.0) -> Any:
    """Return a tensor padded on both sides of each dimension."""
    pairs = [list(padding[i : i + 2]) for i in range(0, len(padding), 2)]
    return functional.pad(x, [one for pair in reversed(pairs) for one in pair], value=value)


def _fill_cache(cache: Any, input: Any, batch_offset: int = 0) -> Any:
    """Return a cache whose first places are replaced."""
    made = cache.clone()
    made[batch_offset : batch_offset + input.shape[0], :, : input.shape[2]] = input
    return made


def _update_cache(cache: Any, input: Any, update_index: int, batch_offset: int = 0) -> Any:
    """Return a cache with one place replaced."""
    made = cache.clone()
    made[batch_offset : batch_offset + input.shape[0], :, update_index : update_index + 1] = input
    return made


def _constant(*, constant: float, dtype: Any = DataFormat.Float32) -> Any:
    """Return a number as a tensor."""
    return torch.tensor([constant], dtype=dtype_of(dtype))


def _clip(x: Any, min: float, max: float) -> Any:
    """Return elements within limits."""
    return torch.clamp(x, min, max)


def _named(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(torch, name)

    def operation(*operands: Any) -> Any:
        return function(*operands)

    operation.__doc__ = f"Return `torch.{name}`."
    return operation


_TORCH: Final = {
    "Abs": "abs", "Add": "add", "Atan": "atan", "BitwiseAnd": "bitwise_and", "Cosine": "cos", "CumSum": "cumsum",
    "Divide": "div", "Equal": "eq", "Erf": "erf", "Exp": "exp", "Greater": "gt", "GreaterEqual": "ge",
    "Heaviside": "heaviside", "Less": "lt", "LessEqual": "le", "Log": "log", "LogicalAnd": "logical_and",
    "LogicalNot": "logical_not", "Max": "maximum", "Min": "minimum", "Multiply": "mul", "NotEqual": "ne",
    "Power": "pow", "Reciprocal": "reciprocal", "Relu": "relu", "Remainder": "remainder", "Sigmoid": "sigmoid",
    "Sine": "sin", "Sqrt": "sqrt", "Subtract": "sub", "Tanh": "tanh",
}  # fmt: skip

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _named(word) for name, word in _TORCH.items()},
    "AdvIndex": lambda x, index, dim=0: torch.index_select(x, dim, index.reshape(-1).long()),
    "Argmax": _argmax,
    "AvgPool1d": _pool(functional.avg_pool1d, 1),
    "AvgPool2d": _pool(functional.avg_pool2d, 2),
    "Batchnorm": _batch_norm,
    "Broadcast": _broadcast,
    "Cast": _cast,
    "Clip": _clip,
    "Concatenate": lambda *operands, axis: torch.cat(operands, axis),
    "Constant": _constant,
    "ConstantPad": _constant_pad,
    "Conv2d": _conv2d,
    "Conv2dTranspose": _conv2d_transpose,
    "Downsample2d": _scaled2d(up=False),
    "Dropout": _dropout,
    "Embedding": lambda indices, embedding_table: functional.embedding(indices.long(), embedding_table),
    "FillCache": _fill_cache,
    "Gelu": lambda x, approximate="none": functional.gelu(x, approximate=approximate),
    "Identity": _identity,
    "Index": _index,
    "IndexCopy": _index_copy,
    "Layernorm": _layer_norm,
    "LeakyRelu": lambda x, alpha: functional.leaky_relu(x, alpha),
    "LogSoftmax": _log_softmax,
    "Matmul": _matmul,
    "MaxPool1d": _pool(functional.max_pool1d, 1),
    "MaxPool2d": _pool(functional.max_pool2d, 2),
    "Pad": _pad,
    "PixelShuffle": lambda x, upscale_factor: functional.pixel_shuffle(x, upscale_factor),
    "Pow": lambda x, exponent: torch.pow(x, exponent),
    "ReduceAvg": _reduced(torch.mean),
    "ReduceMax": _reduced(torch.amax),
    "ReduceSum": _reduced(torch.sum),
    "Repeat": lambda x, repeats: x.repeat(list(repeats)),
    "RepeatInterleave": lambda x, repeats, dim: torch.repeat_interleave(x, repeats, dim),
    "Reshape": lambda x, shape: x.reshape(tuple(shape)),
    "Resize1d": _resize1d,
    "Resize2d": _resize2d,
    "Select": _select,
    "Softmax": _softmax,
    "Squeeze": lambda x, dim: torch.squeeze(x, dim),
    "Stack": lambda *operands, axis: torch.stack(operands, axis),
    "Transpose": lambda x, dim0, dim1: x.transpose(dim0, dim1),
    "Unsqueeze": lambda x, dim: torch.unsqueeze(x, dim),
    "UpdateCache": _update_cache,
    "Upsample2d": _scaled2d(up=True),
    "Where": lambda condition, x, y: torch.where(condition.bool(), x, y),
}

OPERATIONS: Final = {name: _wrapped(function, name) for name, function in _FUNCTIONS.items()}
"""Operations by name."""
