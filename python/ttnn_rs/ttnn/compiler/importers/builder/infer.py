"""Result types of `ttir` operations from their operands and attributes.

One row for each operation or family.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import padding_of, pair_of, window_count
from ttnn.compiler.importers.builder.types import element_of, shape_of, tensor
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerType, SSAValue, TensorType
from ttnn.compiler.transforms.traits import has

__all__ = ["broadcast_shapes", "infer"]

Types = list[TensorType[Any]]
Rule = Callable[[TableOp], Types]

_INDEX: Final = IntegerType(32)
_BOOL: Final = IntegerType(1)


def broadcast_shapes(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the shape to which shapes broadcast, from the right.

    Raises:
        ValueError: They do not.
    """
    rank = max(map(len, shapes), default=0)
    found = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1 and found[i] not in (1, size):
                raise ValueError(f"shapes {' and '.join(str(list(one)) for one in shapes)} do not broadcast")
            found[i] = size if size != 1 else found[i]
    return tuple(found)


def _like(value: SSAValue, shape: Sequence[int] | None = None, element: Attribute | None = None) -> TensorType[Any]:
    return tensor(shape_of(value) if shape is None else shape, element_of(value) if element is None else element)


def _same(op: TableOp) -> Types:
    return [_like(op.inputs[0])]


def _elementwise(op: TableOp) -> Types:
    shape = broadcast_shapes([shape_of(one) for one in op.inputs])
    if has(op, "comparison") or op.name == "ttir.isfinite":
        return [tensor(shape, _BOOL)]
    return [_like(op.inputs[1 if op.name == "ttir.where" else 0], shape)]


def _reduction(op: TableOp) -> Types:
    shape = shape_of(op.inputs[0])
    given = op.get("dim_arg")
    dims = {int(one) % max(1, len(shape)) for one in given} if given is not None else set(range(len(shape)))
    kept = [1 if i in dims else size for i, size in enumerate(shape) if op.get("keep_dim") or i not in dims]
    return [_like(op.inputs[0], kept, _INDEX if op.name == "ttir.argmax" else None)]


def _matmul(op: TableOp) -> Types:
    a, b = (list(shape_of(one)) for one in op.inputs[:2])
    if op.get("transpose_a") and len(a) > 1:
        a[-2:] = a[:-3:-1]
    if op.get("transpose_b") and len(b) > 1:
        b[-2:] = b[:-3:-1]
    rows, columns = a[-2:-1], b[-1:] if len(b) > 1 else []
    batch = broadcast_shapes([a[:-2], b[:-2]])
    return [_like(op.inputs[0], (*batch, *rows, *columns))]


def _dot_general(op: TableOp) -> Types:
    a, b = (shape_of(one) for one in op.inputs)
    batch, left = op.get("batch_dims_lhs"), op.get("contract_dims_lhs")
    other, right = op.get("batch_dims_rhs"), op.get("contract_dims_rhs")
    free = [size for i, size in enumerate(a) if i not in (*batch, *left)]
    free += [size for i, size in enumerate(b) if i not in (*other, *right)]
    return [_like(op.inputs[0], [a[i] for i in batch] + free)]


def _reshape(op: TableOp) -> Types:
    return [_like(op.inputs[0], op.get("shape"))]


def _permute(op: TableOp) -> Types:
    shape = shape_of(op.inputs[0])
    return [_like(op.inputs[0], [shape[i] for i in op.get("permutation")])]


def _transpose(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    i, j = op.get("dim0"), op.get("dim1")
    shape[i], shape[j] = shape[j], shape[i]
    return [_like(op.inputs[0], shape)]


def _concat(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    shape[op.get("dim")] = sum(shape_of(one)[op.get("dim")] for one in op.inputs)
    return [_like(op.inputs[0], shape)]


def _slice(op: TableOp) -> Types:
    parts = zip(op.get("begins"), op.get("ends"), op.get("step"), strict=True)
    return [_like(op.inputs[0], [max(0, math.ceil((end - begin) / step)) for begin, end, step in parts])]


def _pad(op: TableOp) -> Types:
    padding = op.get("padding")
    shape = [size + padding[2 * i] + padding[2 * i + 1] for i, size in enumerate(shape_of(op.inputs[0]))]
    return [_like(op.inputs[0], shape)]


def _times(name: str) -> Rule:
    def rule(op: TableOp) -> Types:
        return [_like(op.inputs[0], [a * b for a, b in zip(shape_of(op.inputs[0]), op.get(name), strict=True)])]

    return rule


def _repeat_interleave(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    shape[op.get("dim")] *= op.get("repeats")
    return [_like(op.inputs[0], shape)]


def _squeeze(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    del shape[op.get("dim")]
    return [_like(op.inputs[0], shape)]


def _unsqueeze(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    at = op.get("dim")
    shape.insert(at + len(shape) + 1 if at < 0 else at, 1)
    return [_like(op.inputs[0], shape)]


def _embedding(op: TableOp) -> Types:
    weight = op.inputs[1]
    return [_like(weight, (*shape_of(op.inputs[0]), shape_of(weight)[-1]))]


def _gather(op: TableOp) -> Types:
    return [_like(op.inputs[0], shape_of(op.inputs[1]))]


def _sort(op: TableOp) -> Types:
    return [_like(op.inputs[0]), _like(op.inputs[0], None, _INDEX)]


def _topk(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    shape[op.get("dim")] = op.get("k")
    return [_like(op.inputs[0], shape), _like(op.inputs[0], shape, _INDEX)]


def _pool(op: TableOp) -> Types:
    batch, height, width, channels = shape_of(op.inputs[0])
    (kh, kw), (sh, sw), (dh, dw) = (pair_of(op, name, "") for name in ("kernel", "stride", "dilation"))
    top, left, bottom, right = padding_of(op, "")
    up = bool(op.get("ceil_mode"))
    shape = (
        batch,
        window_count(height, kh, sh, top, bottom, dh, up=up),
        window_count(width, kw, sw, left, right, dw, up=up),
        channels,
    )
    types = [_like(op.inputs[0], shape)]
    return [*types, _like(op.inputs[0], shape, _INDEX)] if op.name.endswith("indices") else types


def _conv2d(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    out, _, kh, kw = shape_of(op.inputs[1])
    (sh, sw), (dh, dw) = pair_of(op, "stride", ""), pair_of(op, "dilation", "")
    top, left, bottom, right = padding_of(op, "")
    h, w = op.get("height_dim"), op.get("width_dim")
    shape[h] = window_count(shape[h], kh, sh, top, bottom, dh)
    shape[w] = window_count(shape[w], kw, sw, left, right, dw)
    shape[op.get("channel_dim")] = out
    return [_like(op.inputs[0], shape)]


def _conv_transpose2d(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    _, out, kh, kw = shape_of(op.inputs[1])
    (sh, sw), (dh, dw), (oh, ow) = (pair_of(op, name, "") for name in ("stride", "dilation", "output_padding"))
    top, left, bottom, right = padding_of(op, "")
    h, w = op.get("height_dim"), op.get("width_dim")
    shape[h] = (shape[h] - 1) * sh - top - bottom + dh * (kh - 1) + oh + 1
    shape[w] = (shape[w] - 1) * sw - left - right + dw * (kw - 1) + ow + 1
    shape[op.get("channel_dim")] = out * op.get("groups")
    return [_like(op.inputs[0], shape)]


def _numbers(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


def _conv1d(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    out, kernel = shape_of(op.inputs[1])[0], shape_of(op.inputs[1])[2]
    (stride,), (dilation,) = _numbers(op.get("stride"), 1), _numbers(op.get("dilation"), 1)
    padding = _numbers(op.get("padding"), 1)
    at = op.get("length_dim")
    shape[at] = window_count(shape[at], kernel, stride, padding[0], padding[-1], dilation)
    shape[op.get("channel_dim")] = out
    return [_like(op.inputs[0], shape)]


def _conv3d(op: TableOp) -> Types:
    shape = list(shape_of(op.inputs[0]))
    out, _, *kernel = shape_of(op.inputs[1])
    stride, padding = _numbers(op.get("stride"), 3), _numbers(op.get("padding"), 3)
    for i, name in enumerate(("depth_dim", "height_dim", "width_dim")):
        at = op.get(name)
        shape[at] = window_count(shape[at], kernel[i], stride[i], padding[i], padding[i], 1)
    shape[op.get("channel_dim")] = out
    return [_like(op.inputs[0], shape)]


def _created(op: TableOp) -> Types:
    value = op.attribute("value")
    type_ = getattr(value, "type", None)
    return [type_] if isinstance(type_, TensorType) else []


def _attention(op: TableOp) -> Types:
    return [_like(op.inputs[0], (*shape_of(op.inputs[0])[:-1], shape_of(op.inputs[2])[-1]))]


def _batch_norm_training(op: TableOp) -> Types:
    return [_like(op.inputs[0]), _like(op.inputs[3]), _like(op.inputs[4])]


def _nothing(op: TableOp) -> Types:
    del op
    return []


_RULES: Final[dict[str, Rule]] = {
    **dict.fromkeys(("matmul", "linear"), _matmul),
    **dict.fromkeys(("max_pool2d", "avg_pool2d", "max_pool2d_with_indices"), _pool),
    **dict.fromkeys(
        (
            "batch_norm_inference",
            "clamp_scalar",
            "clamp_tensor",
            "cumprod",
            "cumsum",
            "dropout",
            "group_norm",
            "layer_norm",
            "reverse",
            "rms_norm",
            "scatter",
            "softmax",
        ),
        _same,
    ),
    **dict.fromkeys(("fill_cache", "paged_fill_cache", "paged_update_cache", "update_cache"), _nothing),
    "batch_norm_training": _batch_norm_training,
    "broadcast": _times("broadcast_dimensions"),
    "concat": _concat,
    "constant": _created,
    "conv1d": _conv1d,
    "conv2d": _conv2d,
    "conv3d": _conv3d,
    "conv_transpose2d": _conv_transpose2d,
    "dot_general": _dot_general,
    "embedding": _embedding,
    "gather": _gather,
    "pad": _pad,
    "permute": _permute,
    "repeat": _times("repeat_dimensions"),
    "repeat_interleave": _repeat_interleave,
    "reshape": _reshape,
    "scaled_dot_product_attention": _attention,
    "slice_static": _slice,
    "sort": _sort,
    "squeeze": _squeeze,
    "topk": _topk,
    "transpose": _transpose,
    "unsqueeze": _unsqueeze,
}


def infer(op: TableOp) -> Types | None:
    """Return the result types of an operation.

    None for one whose results its operands do not determine: casts, creation, collectives.
    """
    name = op.name.partition(".")[2]
    if name in ("typecast", "bitcast_convert"):
        return None
    rule = _RULES.get(name)
    if rule is None and has(op, "reduction"):
        rule = _reduction
    if rule is None and has(op, "elementwise"):
        rule = _elementwise
    return rule(op) if rule is not None else None
