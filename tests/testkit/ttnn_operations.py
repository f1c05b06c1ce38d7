"""`ttnn` operations that differ from `ttir`, in numpy float64."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testkit import ttir_reference
from testkit.ttir_attention import ATTENTION
from testkit.ttir_reference import NoReference
from testkit.ttir_windows import WINDOWS
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Operation

Array = NDArray[Any]
Groups: TypeAlias = Callable[[str], Any]


class Asked:
    """A `ttnn` operation in `ttir` form: name and attributes."""

    def __init__(self, op: TableOp, name: str, facts: dict[str, Any] | None = None) -> None:
        """Rename or convert some attributes; the others are those of the operation."""
        self._op, self._facts = op, facts or {}
        self.name = f"ttir.{name}"
        self.inputs, self.results = op.inputs, op.results
        self.spec = SimpleNamespace(attributes={*op.spec.attributes, *self._facts}, operands=op.spec.operands)

    def get(self, name: str) -> Any:
        """Return an attribute as Python has it."""
        return self._facts[name] if name in self._facts else self._op.get(name)

    def attribute(self, name: str) -> Any:
        """Return an attribute."""
        return self._op.attribute(name)


def shape_of(op: Operation, index: int = 0) -> tuple[int, ...]:
    return tuple(int(size) for size in op.results[index].type.get_shape())  # type: ignore[attr-defined]


def activated(op: TableOp, value: Array) -> Array:
    """A result after the activation that its operation computes with it."""
    word = op.get("activation") if "activation" in op.spec.attributes else None
    for name in ("conv2d_config", "matmul_program_config"):
        config = op.attribute(name) if name in op.spec.attributes else None
        found = re.search(r"activation = \S*<op_type = (\w+)", attribute_text(config)) if config is not None else None
        word = found[1] if found else word
    if word is None:
        return value
    if word not in ttir_reference.UNARY:
        raise NoReference(f"{op.name} with the activation {word}")
    return ttir_reference.UNARY[word](value)


def sides(padding: Sequence[int]) -> tuple[int, ...]:
    """Padding at top, left, bottom, right.

    `ttnn` has two numbers, or top, bottom, left and right.
    """
    if len(padding) == 2:
        return (padding[0], padding[1], padding[0], padding[1])
    top, bottom, left, right = padding
    return (top, left, bottom, right)


def _image(op: TableOp, x: Array) -> Array:
    """[1, 1, N * H * W, C] -> [N, H, W, C]."""
    return x.reshape(op.get("batch_size"), op.get("input_height"), op.get("input_width"), -1)


def _window_facts(op: TableOp) -> dict[str, Any]:
    if "kernel_height" in op.spec.attributes:
        # 2024-09: one padding for both sides.
        names = ("padding_height", "padding_width", "padding_height", "padding_width")
        places = zip(("top", "left", "bottom", "right"), names, strict=True)
        return {f"padding_{side}": op.get(name) for side, name in places}
    return {"padding": sides(op.get("padding")), "kernel": op.get("kernel_size")}


def _conv2d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Convolution of pixel rows.

    Weights [O, C / groups, kh, kw], or [C, O / groups, kh, kw] if it is transposed.
    """
    short = op.name.removeprefix("ttnn.")
    weight, count = given[1], op.get("groups")
    feet = (op.get("out_channels"), op.get("in_channels") // count)
    if short == "conv_transpose2d":
        feet = (op.get("in_channels"), op.get("out_channels") // count)
    size = op.get("kernel_size") if "kernel_size" in op.spec.attributes else weight.shape[2:]
    if weight.shape != (*feet, *size):
        raise NoReference(f"{op.name} with weights of another shape")
    asked: Any = Asked(op, short, _window_facts(op))
    return [activated(op, WINDOWS[short](asked, [_image(op, given[0])], groups)[0])]


def _conv1d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """1D convolution as one-row images.

    [N, L, C] and weights [O, C / groups, k].
    """
    padding = op.get("padding")
    facts = {
        "stride": (1, op.get("stride")),
        "dilation": (1, op.get("dilation")),
        "padding": (0, padding[0], 0, padding[-1]),
    }
    x = given[0].reshape(op.get("batch_size"), 1, op.get("input_length"), -1)
    feet = (op.get("out_channels"), op.get("in_channels") // op.get("groups"))
    weight = given[1].reshape(*feet, 1, op.get("kernel_size"))
    asked: Any = Asked(op, "conv2d", facts)
    return WINDOWS["conv2d"](asked, [x], lambda name: weight if name == "weight" else groups(name))


def _conv3d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """3D convolution weights or their matrix.

    [O, C / groups, kd, kh, kw], or the matrix that has the kernel's positions first.
    """
    size, weight = tuple(op.get("kernel_size")), given[1]
    feet = (op.get("out_channels"), op.get("in_channels") // op.get("groups"))
    if weight.shape != (*feet, *size):
        raise NoReference(f"{op.name} with weights of another shape")
    asked: Any = Asked(op, "conv3d")
    return WINDOWS["conv3d"](asked, [given[0][..., : op.get("in_channels")]], groups)


def _pool(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    short = op.name.removeprefix("ttnn.")
    asked: Any = Asked(op, short, _window_facts(op))
    return WINDOWS[short](asked, [_image(op, given[0])], groups)


def _batch_norm(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Batch norm of [N, C, H, W].

    Without running statistics, and in training, those of the batch, which change the running ones.
    """
    x, axes = given[0], (0, 2, 3)
    mean, variance = groups("running_mean"), groups("running_var")
    if op.name.endswith("training") or mean is None:
        own, spread = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    else:
        own, spread = mean, variance
    made = (x - own) / np.sqrt(spread + op.get("epsilon"))
    weight, bias = groups("weight"), groups("bias")
    made = made if weight is None else made * weight
    made = made if bias is None else made + bias
    if not op.name.endswith("training") or mean is None:
        return [made]
    # The running variance takes the estimate of the population, with n - 1.
    count, momentum = x.size / x.shape[1], op.get("momentum")
    changed = [(1 - momentum) * mean + momentum * own]
    changed += [(1 - momentum) * variance + momentum * spread * count / (count - 1)]
    return [made, *changed]


def _requantize(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    axis, rank = op.get("axis"), given[0].ndim
    shape = [] if axis is None else [-1 if dim == axis else 1 for dim in range(rank)]
    before, first, after, zero = (one.reshape(shape) for one in given[1:])
    return [np.round((given[0] - first) * before / after) + zero]


def _pow_scalar(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    return [np.power(given[0], op.get("rhs"))]


def _latent(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Attention with values as the keys' first columns, by default.

    If they are no tensor.
    """
    q, k, value = given[0], given[1], groups("value")
    v = k[..., : op.get("head_dim_v")] if value is None else value
    asked: Any = Asked(op, "scaled_dot_product_attention")
    return ATTENTION["scaled_dot_product_attention"](asked, [q, k, v], groups)


def _heads(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Decode heads of [1, 1, B, W].

    Queries [1, B, H, D], keys and values [1, B, G, D], perhaps of some users only.
    """
    heads, pairs = op.get("num_heads"), op.get("num_kv_heads") or op.get("num_heads")
    offset, size = groups("batch_offset"), op.get("slice_size")
    first = 0 if offset is None else int(offset.reshape(-1)[0])
    rows = given[0][:, :, first : given[0].shape[2] if size is None else first + size]
    parts = rows.reshape(1, rows.shape[2], heads + 2 * pairs, -1)
    return np.split(parts, [heads, heads + pairs], axis=2)


def _decode(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Attention of one token per user, by default the last."""
    users, length = given[1].shape[0], given[1].shape[2]

    def known(name: str) -> Any:
        found = groups(name)
        return np.full(users, length - 1) if found is None and name == "cur_pos_tensor" else found

    asked: Any = Asked(op, "scaled_dot_product_attention_decode")
    return ATTENTION["scaled_dot_product_attention_decode"](asked, given, known)


def _joined_heads(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Concatenated decode heads: [1, B, rows, D] -> [1, 1, B, H * D].

    Of the rows the first are heads.
    """
    x = given[0][:, :, : op.get("num_heads")]
    return [x.reshape(1, 1, x.shape[1], -1)]


def _rotary(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """x * cos + (-right half, left half) * sin.

    With a token the tables have its row for all.
    """
    x, token = given[0], op.get("token_index")
    rows = slice(0, x.shape[-2]) if token is None else slice(token, token + 1)
    cos, sin = (table[..., rows, :] for table in given[1:3])
    left, right = np.split(x, 2, axis=-1)
    return [x * cos + np.concatenate([-right, left], axis=-1) * sin]


def _rotary_llama(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """x * cos + (every 32 columns times a matrix) * sin.

    In decoding every user may have a matrix and a row.
    """
    x, cos, sin, matrix = given
    matrices = matrix.reshape(-1, 1, 32, 32)
    decoding = bool(op.get("is_decode_mode"))
    own = matrices[: x.shape[1]] if decoding and len(matrices) > 1 else matrices[0, 0]
    turned = x.reshape(*x.shape[:-1], -1, 32) @ own
    rows = slice(0, 1) if decoding else slice(0, x.shape[-2])
    return [x * cos[..., rows, :] + turned.reshape(x.shape) * sin[..., rows, :]]


def _statistics(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Row sums of squares, and sums for layer norm.

    Each is the first of 32 columns.
    """
    layer = op.name.startswith("ttnn.layer_norm")
    more = groups("residual_input" if layer else "residual")
    x = given[0] if more is None else given[0] + more
    sums = [x * x, x] if layer else [x * x]
    made = np.zeros((*x.shape[:-1], 32 * len(sums)))
    for place, one in enumerate(sums):
        made[..., 32 * place] = one.sum(axis=-1)
    return [made]


def _normed(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Normalized rows from 64 columns of statistics per chip.

    They have the sums of squares, and of the elements.
    """
    x, stats = given[:2]
    parts = stats.reshape(*stats.shape[:-1], -1, 2, 32).sum(axis=(-1, -3))
    count = x.shape[-1] * (stats.shape[-1] // 64)
    squares, mean = parts[..., :1] / count, parts[..., 1:] / count
    made = (x - mean) / np.sqrt(squares - mean * mean + op.get("epsilon"))
    weight, bias = groups("weight"), groups("bias")
    made = made if weight is None else made * weight
    return [made if bias is None else made + bias]


def _distributed(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """On one chip the norm of the sum of input and residual."""
    more, bias = groups("residual"), groups("bias") if op.name.endswith("layer_norm") else None
    x = given[0] if more is None else given[0] + more
    x = x - x.mean(axis=-1, keepdims=True) if op.name.endswith("layer_norm") else x
    made = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + op.get("epsilon"))
    made = made if groups("weight") is None else made * groups("weight").reshape(-1)
    return [made if bias is None else made + bias.reshape(-1)]


def _exchanged(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Return the part of one chip in a collective: its own."""
    if shape_of(op) != given[0].shape:
        raise NoReference(f"{op.name} of several chips")
    return [given[0]]


#: What is not as in `ttir`, or not there.
OWN: Final[dict[str, Callable[[TableOp, list[Array], Groups], list[Array]]]] = {
    "all_gather": _exchanged,
    "all_reduce": _exchanged,
    "all_reduce_async": _exchanged,
    "avg_pool2d": _pool,
    "batch_norm_inference": _batch_norm,
    "batch_norm_training": _batch_norm,
    "conv1d": _conv1d,
    "conv2d": _conv2d,
    "conv3d": _conv3d,
    "conv_transpose2d": _conv2d,
    "distributed_layer_norm": _distributed,
    "distributed_rms_norm": _distributed,
    "flash_mla_prefill": _latent,
    "layer_norm_post_all_gather": _normed,
    "layer_norm_pre_all_gather": _statistics,
    "max_pool2d": _pool,
    "max_pool2d_with_indices": _pool,
    "nlp_concat_heads": ATTENTION["concatenate_heads"],
    "nlp_concat_heads_decode": _joined_heads,
    "nlp_create_qkv_heads_decode": _heads,
    "pow_scalar": _pow_scalar,
    "reduce_scatter": _exchanged,
    "requantize": _requantize,
    "rms_norm_pre_all_gather": _statistics,
    "rotary_embedding": _rotary,
    "rotary_embedding_llama": _rotary_llama,
    "scaled_dot_product_attention_decode": _decode,
}
