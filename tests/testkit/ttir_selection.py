"""Sorting, selection, scattering and quantization of the dialect `ttir` in numpy float64."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir.printing import attribute_text

Array = NDArray[Any]
Groups = Callable[[str], Any]
_erf = np.vectorize(math.erf, otypes=[np.float64])


def sort(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    x, dim = given[0], op.get("dim")
    order = np.argsort(-x if op.get("descending") else x, axis=dim, kind="stable")
    return [np.take_along_axis(x, order, axis=dim), order]


def topk(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    x, dim, k = given[0], op.get("dim"), op.get("k")
    order = np.argsort(-x if op.get("largest") else x, axis=dim, kind="stable").take(np.arange(k), axis=dim)
    return [np.take_along_axis(x, order, axis=dim), order]


def gather(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Elements along one dimension.

    In 2025-10 slices whose corners the indices name, as StableHLO defines it.
    """
    if "start_index_map" not in op.spec.attributes:
        return [np.take_along_axis(given[0], given[1].astype(np.int64), axis=op.get("dim"))]
    x, starts, axis, sizes = given[0], given[1].astype(np.int64), op.get("index_vector_dim"), op.get("slice_sizes")
    vectors = np.moveaxis(starts, axis, -1) if axis < starts.ndim else starts[..., None]
    dropped = {*op.get("collapsed_slice_dims"), *op.get("operand_batching_dims")}
    # Dimensions of the indices without that of the vector.
    batches = [dim - (dim > axis) for dim in op.get("start_indices_batching_dims")]
    kept = [size for dim, size in enumerate(sizes) if dim not in dropped]
    made = np.zeros((*vectors.shape[:-1], *kept))
    for place in np.ndindex(*vectors.shape[:-1]):
        corner = [0] * x.ndim
        for dim, value in zip(op.get("start_index_map"), vectors[place], strict=True):
            corner[dim] = min(max(int(value), 0), x.shape[dim] - sizes[dim])
        for dim, batch in zip(op.get("operand_batching_dims"), batches, strict=True):
            corner[dim] = place[batch]
        cut = tuple(slice(first, first + size) for first, size in zip(corner, sizes, strict=True))
        made[place] = x[cut].reshape(kept)
    offsets = list(op.get("offset_dims"))
    others = [dim for dim in range(made.ndim) if dim not in offsets]
    return [np.transpose(made, np.argsort([*others, *offsets]))]


def sampling(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """The largest score's index: only one counts per user."""
    values, indices = (one.reshape(-1, one.shape[-1]) for one in given[:2])
    assert (given[2] == 1).all(), "what is drawn from more scores is random"
    order = np.argmax(values, axis=-1)[:, None]
    return [np.take_along_axis(indices, order, axis=-1)]


def scatter(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Scattered elements along one dimension, windows in 2025-10."""
    if "update_window_dims" in op.spec.attributes:
        return [_scattered_windows(op, *given[:3])]
    x, index, source, dim = given[0].copy(), given[1].astype(np.int64), given[2], op.get("dim")
    source = source[tuple(slice(0, size) for size in index.shape)]
    how = op.attribute("scatter_reduce_type") if "scatter_reduce_type" in op.spec.attributes else None
    word = getattr(how, "value", "invalid")
    places = list(np.indices(index.shape))
    places[dim] = index
    functions = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
    if word in functions:
        functions[word].at(x, tuple(places), source)
    else:
        x[tuple(places)] = source
    return [x]


def _scattered_windows(op: TableOp, x: Array, indices: Array, update: Array) -> Array:
    """Windows of the update at index corners.

    They replace those of the operand; others are left out.
    """
    made, windows, batching = x.copy(), op.get("update_window_dims"), op.get("input_batching_dims")
    axis, dropped = op.get("index_vector_dim"), {*op.get("inserted_window_dims"), *batching}
    vectors = np.moveaxis(indices, axis, -1) if axis < indices.ndim else indices[..., None]
    scattered = [dim for dim in range(update.ndim) if dim not in windows]
    sizes = iter(update.shape[dim] for dim in windows)
    shape = [1 if dim in dropped else next(sizes) for dim in range(x.ndim)]
    ordered = np.transpose(update, [*scattered, *windows])
    # Dimensions of the indices without that of the vector, as those of the update that are no window.
    batches = [dim - (dim > axis) for dim in op.get("scatter_indices_batching_dims")]
    for place in np.ndindex(*vectors.shape[:-1]):
        corner = [0] * x.ndim
        for dim, value in zip(op.get("scatter_dims_to_operand_dims"), vectors[place], strict=True):
            corner[dim] = int(value)
        for dim, batch in zip(batching, batches, strict=True):
            corner[dim] = place[batch]
        cut = tuple(slice(first, first + size) for first, size in zip(corner, shape, strict=True))
        if all(one.start >= 0 and one.stop <= extent for one, extent in zip(cut, x.shape, strict=True)):
            made[cut] = ordered[place].reshape(shape)
    return made


def slice_dynamic(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    x, begins, ends = given
    steps = op.get("step") or (1,) * x.ndim
    cuts = zip(begins.astype(int).reshape(-1), ends.astype(int).reshape(-1), steps, strict=True)
    return [x[tuple(slice(begin, end, step) for begin, end, step in cuts)]]


def embedding_backward(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Rows of the gradient are added up by their index."""
    index, weight, grad = given
    made = np.zeros(weight.shape)
    np.add.at(made.reshape(-1, weight.shape[-1]), index.astype(np.int64).reshape(-1), grad.reshape(-1, grad.shape[-1]))
    return [made]


def gelu_backward(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    grad, x = given
    if op.get("approximate") == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        t = np.tanh(inner)
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
        return [grad * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)]
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return [grad * (0.5 * (1 + _erf(x / math.sqrt(2))) + x * density)]


def batch_norm_training(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """The normalized batch, and the running mean and variance after it."""
    x, scale, offset, mean, variance = given[:5]
    dim, momentum = op.get("dimension"), op.get("momentum")
    axes = tuple(axis for axis in range(x.ndim) if axis != dim)
    shape = [x.shape[dim] if axis == dim else 1 for axis in range(x.ndim)]
    own, spread = x.mean(axis=axes), x.var(axis=axes)
    made = (x - own.reshape(shape)) / np.sqrt(spread.reshape(shape) + op.get("epsilon"))
    made = made * scale.reshape(shape) + offset.reshape(shape)
    # The running variance takes the estimate of the population, with n - 1.
    count = x.size / x.shape[dim]
    kept = [(1 - momentum) * mean.reshape(-1) + momentum * own]
    kept += [(1 - momentum) * variance.reshape(-1) + momentum * spread * count / (count - 1)]
    return [made, *(one.reshape(mean.shape) for one in kept)]


def batch_norm_inference(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    x, scale, offset, mean, variance = given[:5]
    shape = [x.shape[op.get("dimension")] if axis == op.get("dimension") else 1 for axis in range(x.ndim)]
    scale, offset, mean, variance = (one.reshape(shape) for one in (scale, offset, mean, variance))
    return [(x - mean) / np.sqrt(variance + op.get("epsilon")) * scale + offset]


def group_norm(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Group norm of [N, 1, H * W, C], or channels elsewhere.

    Normalized over space and the channels of each group.
    """
    dim, count = op.get("channel_dim"), op.get("num_groups")
    x = np.moveaxis(given[0], dim, -1)
    parts = x.reshape(x.shape[0], -1, count, x.shape[-1] // count)
    mean, spread = parts.mean(axis=(1, 3), keepdims=True), parts.var(axis=(1, 3), keepdims=True)
    made = ((parts - mean) / np.sqrt(spread + op.get("epsilon"))).reshape(x.shape)
    weight, bias = groups("weight"), groups("bias")
    made = made if weight is None else made * weight.reshape(-1)
    made = made if bias is None else made + bias.reshape(-1)
    return [np.moveaxis(made, -1, dim)]


def quantization_parameters(kind: Any, rank: int) -> tuple[Array, Array]:
    """Scales and zero points that `!quant.uniform<storage:type, scale:zero>` has, one or along an axis."""
    text = re.sub(r"\s", "", str(kind))
    found = re.search(r"uniform<[^,<>]*?(?:<[^>]*>)?:\w+(?::(\d+))?,(.*)>", text)
    assert found is not None, text
    pairs = [one.partition(":") for one in found.group(2).strip("{}").split(",")]
    scales = np.array([float(scale) for scale, _, _ in pairs])
    zeros = np.array([float(zero or 0) for _, _, zero in pairs])
    if found.group(1) is None:
        return scales[0], zeros[0]
    shape = [1] * rank
    shape[int(found.group(1))] = -1
    return scales.reshape(shape), zeros.reshape(shape)


def _element(value: Any) -> str:
    return attribute_text(value.type.element_type)


def quantize(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    scale, zero = quantization_parameters(_element(op.results[0]), given[0].ndim)
    return [np.round(given[0] / scale) + zero]


def dequantize(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    scale, zero = quantization_parameters(_element(op.inputs[0]), given[0].ndim)
    return [(given[0] - zero) * scale]


def requantize(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    (number,) = dequantize(op, given, groups)
    return quantize(op, [number], groups)


def _along(op: TableOp, value: Array, rank: int) -> Array:
    """A scale or zero point, of all or per axis index."""
    axis = op.get("axis")
    return value.reshape(() if axis is None else [-1 if dim == axis else 1 for dim in range(rank)])


def quantize_unrolled(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    scale, zero = (_along(op, groups(name), given[0].ndim) for name in ("scale", "zero_point"))
    return [np.round(given[0] / scale) + zero]


def dequantize_unrolled(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    scale, zero = (_along(op, groups(name), given[0].ndim) for name in ("scale", "zero_point"))
    return [(given[0] - zero) * scale]


def index_select(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Pieces of a length from every stride of a dimension on."""
    dim, size = op.get("dim"), given[0].shape[op.get("dim")]
    begin, length = op.get("begin"), op.get("length")
    starts = range(begin, size, op.get("stride") or size)
    return [given[0].take([at for start in starts for at in range(start, min(start + length, size))], axis=dim)]


def sparse_matmul(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Matmuls of the sparsity's matrix pairs, zeros for others.

    Of a sparse first operand every matrix has its own place; of the second one all go with each of the first.
    """
    a, b, chosen = given[0], given[1], given[2].reshape(-1) != 0
    shape = tuple(int(size) for size in op.results[0].type.get_shape())  # type: ignore[attr-defined]
    first, second = a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])
    made = np.zeros((chosen.size, a.shape[-2], b.shape[-1]))
    for place in np.flatnonzero(chosen):
        one = place if op.get("is_input_a_sparse") else place // len(second)
        made[place] = first[one] @ second[place % len(second)]
    return [made.reshape(shape)]


SELECTION: dict[str, Callable[[TableOp, list[Array], Groups], list[Array]]] = {
    "batch_norm_inference": batch_norm_inference,
    "batch_norm_training": batch_norm_training,
    "cumprod": lambda op, given, groups: [np.cumprod(given[0], axis=op.get("dim"))],
    "dequantize": dequantize,
    "dequantize_unrolled": dequantize_unrolled,
    "embedding_backward": embedding_backward,
    "gather": gather,
    "gelu_bw": gelu_backward,
    "get_dimension_size": lambda op, given, groups: [np.array([given[0].shape[op.get("dimension")]])],
    "group_norm": group_norm,
    "index_select": index_select,
    "quantize": quantize,
    "quantize_unrolled": quantize_unrolled,
    "requantize": requantize,
    "sampling": sampling,
    "scatter": scatter,
    "scatter_in_dim": scatter,
    "slice_dynamic": slice_dynamic,
    "sort": sort,
    "sparse_matmul": sparse_matmul,
    "topk": topk,
}
