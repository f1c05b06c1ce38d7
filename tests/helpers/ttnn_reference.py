"""An interpreter of the dialect `ttnn` in numpy float64: what a program of the library computes, wherever tensors are.

Most operations are those of `ttir` (`ttir_reference.py`) under the same or another name. Layouts, formats and places
change no value: what only moves or converts a tensor is an identity, and prepared weights are the weights. Functions
that call others, constants that are computed once and traces are interpreted too. What a program does not define, such
as the elements of `ttnn.empty` and random numbers, is unknown, and so is all that comes of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

import ttir_reference
from ttir_attention import ATTENTION, IN_PLACE
from ttir_reference import NoReference, in_range
from ttir_weights import in_blocks
from ttir_windows import WINDOWS
from ttnn.compiler.asm.attributes import ResourceAttr
from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.printing import attribute_text
from ttnn.compiler.asm.xdsl_adapter import BlockArgument, FuncOp, Operation, StringAttr
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.dialects.attributes import TTNNLayoutAttr, data_type

Array = NDArray[Any]
Groups: TypeAlias = Callable[[str], Any]
#: Told each operation of the library and its operands.
Observer: TypeAlias = Callable[[TableOp, list[Array]], None]


@dataclass
class Tensor:
    """Elements of a tensor, which operations may change in place; None where the program does not define them."""

    data: Array | None


class Asked:
    """An operation of the library as the functions for `ttir` ask for it: by its name there, with its attributes."""

    def __init__(self, op: TableOp, name: str, facts: dict[str, Any] | None = None) -> None:
        """Give some attributes another name or form; the others are those of the operation."""
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


#: What changes the layout, the place or the format of a tensor, or lets it be.
MOVES: Final = frozenset(
    {
        "assign", "from_device", "to_device", "to_dtype", "to_layout", "to_memory_config", "to_tensor_spec", "typecast",
        "prepare_conv2d_bias", "prepare_conv2d_weights", "prepare_conv_transpose2d_bias",
        "prepare_conv_transpose2d_weights",
    }
)  # fmt: skip
#: What has no result and changes no tensor.
SILENT: Final = frozenset({"deallocate", "end_trace_capture", "execute_trace", "reset_global_semaphore"})
#: What makes values that are no tensors.
HANDLES: Final = frozenset({"begin_trace_capture", "create_global_semaphore", "get_device"})
#: What has elements of no defined value.
UNKNOWN: Final = frozenset({"empty", "rand", "dropout"})
#: What kernels of the program compute.
KERNELS: Final = frozenset({"generic", "tt_lang_op"})
NAMES: Final = {
    "div": "div",
    "divide": "div",
    "embedding_bw": "embedding_backward",
    "moreh_cumsum": "cumsum",
    "pow_tensor": "pow",
    "quantize": "quantize_unrolled",
    "dequantize": "dequantize_unrolled",
    "upsample": "upsample2d",
}


def _last_dimension(op: TableOp) -> dict[str, Any]:
    return {"normalized_shape": (1,)}


def _one_dimension(name: str) -> Callable[[TableOp], dict[str, Any]]:
    def facts(op: TableOp) -> dict[str, Any]:
        dim = op.get(name)
        return {"dim_arg": None if dim is None else (dim,)}

    return facts


#: Attributes that `ttir` has in another form.
FACTS: Final[dict[str, Callable[[TableOp], dict[str, Any]]]] = {
    "arange": lambda op: {"arange_dimension": len(_shape(op)) - 1},
    "argmax": _one_dimension("dim"),
    "group_norm": lambda op: {"channel_dim": -1},
    "layer_norm": _last_dimension,
    "prod": _one_dimension("dim_arg"),
    "repeat": lambda op: {"repeat_dimensions": op.attribute("repeat_dims").shape},  # type: ignore[union-attr]
    "rms_norm": _last_dimension,
}


def _shape(op: Operation, index: int = 0) -> tuple[int, ...]:
    return tuple(int(size) for size in op.results[index].type.get_shape())  # type: ignore[attr-defined]


def _activated(op: TableOp, value: Array) -> Array:
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


def _sides(padding: Sequence[int]) -> tuple[int, ...]:
    """Padding at top, left, bottom and right; the library has two numbers, or top, bottom, left and right."""
    if len(padding) == 2:
        return (padding[0], padding[1], padding[0], padding[1])
    top, bottom, left, right = padding
    return (top, left, bottom, right)


def _image(op: TableOp, x: Array) -> Array:
    """[1, 1, N * H * W, C] -> [N, H, W, C]."""
    return x.reshape(op.get("batch_size"), op.get("input_height"), op.get("input_width"), -1)


def _window_facts(op: TableOp) -> dict[str, Any]:
    if "kernel_height" in op.spec.attributes:
        # The book: one padding for both sides.
        names = ("padding_height", "padding_width", "padding_height", "padding_width")
        sides = zip(("top", "left", "bottom", "right"), names, strict=True)
        return {f"padding_{side}": op.get(name) for side, name in sides}
    return {"padding": _sides(op.get("padding")), "kernel": op.get("kernel_size")}


def _conv2d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Rows of pixels, weights [O, C / groups, kh, kw], or [C, O / groups, kh, kw] if it is transposed."""
    short = op.name.removeprefix("ttnn.")
    weight, count = given[1], op.get("groups")
    feet = (op.get("out_channels"), op.get("in_channels") // count)
    if short == "conv_transpose2d":
        feet = (op.get("in_channels"), op.get("out_channels") // count)
    size = op.get("kernel_size") if "kernel_size" in op.spec.attributes else weight.shape[2:]
    if weight.shape != (*feet, *size):
        raise NoReference(f"{op.name} with weights of another shape")
    asked: Any = Asked(op, short, _window_facts(op))
    return [_activated(op, WINDOWS[short](asked, [_image(op, given[0])], groups)[0])]


def _conv1d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """[N, L, C] and weights [O, C / groups, k]: a convolution of images of one row."""
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
    """Weights [O, C / groups, kd, kh, kw], or the matrix that is made of them, which has the kernel's places first."""
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
    """[N, C, H, W]; without running statistics, and in training, those of the batch, which change the running ones."""
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
    """Attention whose values are the first columns of the keys, if they are no tensor."""
    q, k, value = given[0], given[1], groups("value")
    v = k[..., : op.get("head_dim_v")] if value is None else value
    asked: Any = Asked(op, "scaled_dot_product_attention")
    return ATTENTION["scaled_dot_product_attention"](asked, [q, k, v], groups)


def _heads(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """[1, 1, B, W] -> queries [1, B, H, D], keys and values [1, B, G, D], perhaps of some users only."""
    heads, pairs = op.get("num_heads"), op.get("num_kv_heads") or op.get("num_heads")
    offset, size = groups("batch_offset"), op.get("slice_size")
    first = 0 if offset is None else int(offset.reshape(-1)[0])
    rows = given[0][:, :, first : given[0].shape[2] if size is None else first + size]
    parts = rows.reshape(1, rows.shape[2], heads + 2 * pairs, -1)
    return np.split(parts, [heads, heads + pairs], axis=2)


def _decode(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Attention of one token of each user; without positions it is the last one."""
    users, length = given[1].shape[0], given[1].shape[2]

    def known(name: str) -> Any:
        found = groups(name)
        return np.full(users, length - 1) if found is None and name == "cur_pos_tensor" else found

    asked: Any = Asked(op, "scaled_dot_product_attention_decode")
    return ATTENTION["scaled_dot_product_attention_decode"](asked, given, known)


def _joined_heads(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """[1, B, rows, D] -> [1, 1, B, H * D]: of the rows the first are heads."""
    x = given[0][:, :, : op.get("num_heads")]
    return [x.reshape(1, 1, x.shape[1], -1)]


def _rotary(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """x * cos + (-right half, left half) * sin; with a token the tables have its row for all."""
    x, token = given[0], op.get("token_index")
    rows = slice(0, x.shape[-2]) if token is None else slice(token, token + 1)
    cos, sin = (table[..., rows, :] for table in given[1:3])
    left, right = np.split(x, 2, axis=-1)
    return [x * cos + np.concatenate([-right, left], axis=-1) * sin]


def _rotary_llama(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """x * cos + (every 32 columns times a matrix) * sin; in decoding every user may have a matrix and a row."""
    x, cos, sin, matrix = given
    matrices = matrix.reshape(-1, 1, 32, 32)
    decoding = bool(op.get("is_decode_mode"))
    own = matrices[: x.shape[1]] if decoding and len(matrices) > 1 else matrices[0, 0]
    turned = x.reshape(*x.shape[:-1], -1, 32) @ own
    rows = slice(0, 1) if decoding else slice(0, x.shape[-2])
    return [x * cos[..., rows, :] + turned.reshape(x.shape) * sin[..., rows, :]]


def _statistics(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """The sums of squares, and for a layer norm the sums, of every row: each the first of 32 columns."""
    layer = op.name.startswith("ttnn.layer_norm")
    more = groups("residual_input" if layer else "residual")
    x = given[0] if more is None else given[0] + more
    sums = [x * x, x] if layer else [x * x]
    made = np.zeros((*x.shape[:-1], 32 * len(sums)))
    for place, one in enumerate(sums):
        made[..., 32 * place] = one.sum(axis=-1)
    return [made]


def _normed(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Normalized rows from the sums of squares, and of the elements, that 64 columns of each chip have."""
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
    """What one chip has of all: its own."""
    if _shape(op) != given[0].shape:
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


def _evaluate(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Return the results of an operation of the library, or what it leaves in its operands.

    Raises:
        NoReference: The interpreter does not know it.
    """
    short = op.name.removeprefix("ttnn.")
    if short in OWN:
        return OWN[short](op, given, groups)
    asked: Any = Asked(op, NAMES.get(short, short), FACTS[short](op) if short in FACTS else None)
    try:
        made = ttir_reference.evaluate(asked, given, groups)
    except NoReference:
        raise NoReference(op.name) from None
    return [_activated(op, made[0])] if short in ("linear", "matmul") else made


def _stored(value: Array, kind: Any) -> Array:
    """Elements of a tensor as its type holds them: integers of their width, and blocks of four bits."""
    layout = getattr(kind, "encoding", None)
    if isinstance(layout, TTNNLayoutAttr) and layout.dtype == "bfp_bf4":
        return in_blocks(value, 3)
    return in_range(value, getattr(kind, "element_type", None))


def _resource(module: Module, value: ResourceAttr) -> Array:
    """Elements whose bytes stand in the resource section of the text, behind four that say how they are aligned."""
    data = module.resources["builtin"][value.key][4:]
    kind: Any = value.type
    word = attribute_text(kind.element_type)
    if word == "bf16":
        words = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return words.view(np.float32).reshape(kind.get_shape())
    dtype = {"f": "f", "s": "i", "u": "u", "i": "i"}[word[0]] + str(int(re.sub(r"\D", "", word)) // 8)
    return np.frombuffer(data, dtype).reshape(kind.get_shape())


def is_typed_as_computed(op: Operation) -> bool:
    """Return whether the results of an operation are what it says.

    A layout has the format of its tensor, and a transposed convolution as many rows as its windows give: no verifier
    asks.
    """
    for result in op.results:
        kind: Any = result.type
        word = kind.encoding.dtype if isinstance(getattr(kind, "encoding", None), TTNNLayoutAttr) else "bfp"
        if not word.startswith("bfp") and data_type(kind.element_type) != word:
            return False
    if not isinstance(op, TableOp) or op.name != "ttnn.conv_transpose2d":
        return True
    top, left, bottom, right = _sides(op.get("padding"))
    rows = op.get("batch_size")
    for axis, name, sides in ((0, "input_height", top + bottom), (1, "input_width", left + right)):
        span = (op.get("kernel_size")[axis] - 1) * op.get("dilation")[axis] + 1
        rows *= (op.get(name) - 1) * op.get("stride")[axis] - sides + span + op.get("output_padding")[axis]
    return math.prod(_shape(op)) == rows * op.get("out_channels")


#: A tensor may take so many times its elements in tiles: those of the reference have eight bytes, and copies.
_PADDED: Final = 8


def elements(op: Operation) -> int:
    """Return how many elements the largest tensor of an operation has.

    In the library weights of groups become those of all, and tiles count, too, as kernels of a few places become whole
    ones.
    """
    sizes = []
    for value in (*op.operands, *op.results):
        if hasattr(value.type, "get_shape"):
            shape = tuple(value.type.get_shape())
            tiles = math.prod(shape[:-2]) * math.prod(-(-size // 32) * 32 for size in shape[-2:])
            sizes.append(max(math.prod(shape), tiles // _PADDED if op.name.startswith("ttnn.") else 0))
    if isinstance(op, TableOp) and op.name in ("ttnn.conv1d", "ttnn.conv2d", "ttnn.conv_transpose2d"):
        size = op.get("kernel_size") if "kernel_size" in op.spec.attributes else (1,)
        places = size if isinstance(size, int) else math.prod(size)
        sizes.append(op.get("in_channels") * op.get("out_channels") * places)
    return max(sizes, default=0)


def _weight(op: TableOp, value: Array, general: str | None) -> Array:
    """The second operand of a product in the format that its operation, or else the program, asks for of parameters."""
    named = op.attributes.get("ttcore.weight_dtype")
    word = named.data if isinstance(named, StringAttr) else general
    return in_blocks(value, 3) if word == "bfp_bf4" and _is_parameter(op.operands[1]) else value


def _is_parameter(value: Any) -> bool:
    while isinstance(value.owner, TableOp) and value.owner.operands:
        value = value.owner.operands[0]
    function = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    if not isinstance(function, FuncOp) or function.arg_attrs is None:
        return False
    kind = function.arg_attrs.data[value.index].data.get("ttcore.argument_type")
    return kind is not None and any(word in attribute_text(kind) for word in ("parameter", "constant"))


def _prepared(value: Array, shape: tuple[int, ...]) -> Array:
    """Weights as the rows that convolutions multiply with: places of the kernel, then input channels."""
    if value.shape == shape:
        return value
    rows = np.transpose(value, (2, 3, 1, 0)).reshape(1, 1, -1, value.shape[0])
    if rows.shape != shape:
        raise NoReference(f"weights of {list(value.shape)} that are prepared as {list(shape)}")
    return rows


class _Run:
    """The interpretation of one function and of those that it calls."""

    def __init__(self, module: Module, observe: Observer | None, weights: str | None) -> None:
        self._weights = weights
        self._functions = {function.sym_name.data: function for function in module.functions()}
        self._observe = observe
        self._module = module
        self._files: dict[str, Tensor] = {}

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """Return the results of a function, each a tensor or None."""
        block = self._functions[name].body.blocks[0]
        values: dict[Any, Any] = dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if op.name == "func.return":
                return [values[value] for value in op.operands]
            values.update(zip(op.results, self._results(op, values), strict=True))
        raise NoReference("a function without return")

    def _results(self, op: Operation, values: dict[Any, Any]) -> list[Any]:
        given = [values[value] for value in op.operands]
        if op.name == "func.call":
            return self.call(op.callee.string_value(), given)  # type: ignore[attr-defined]
        if not isinstance(op, TableOp):
            raise NoReference(op.name)
        dialect, _, short = op.name.partition(".")
        if op.name == "ttcore.load_cached":
            return self.call(op.get("callee"), given)
        if op.name == "ttcore.composite":
            return self.call(op.get("decomposition"), given)
        if op.name == "ttnn.d2m_subgraph":
            return self.call(op.get("d2m_func"), [values[one] for one in op.group("inputs")])
        if dialect != "ttnn" or short in KERNELS:
            raise NoReference(op.name)
        if short in SILENT:
            return []
        if short in HANDLES:
            return [None]
        if short in UNKNOWN:
            return [Tensor(None) for _ in op.results]
        if short == "dump_tensor":
            self._files[op.get("file_path")] = Tensor(np.array(given[0].data))
            return []
        if short == "load_tensor":
            if op.get("file_path") not in self._files:
                raise NoReference("ttnn.load_tensor of a file that the program has not written")
            return [self._files[op.get("file_path")]]
        constant = op.attribute("value") if short == "constant" else None
        if isinstance(constant, ResourceAttr):
            return [Tensor(_resource(self._module, constant).astype(np.float64))]
        if short in ("copy", "write_tensor"):
            given[1].data = given[0].data
            return []
        return self._computed(op, values)

    def _computed(self, op: TableOp, values: dict[Any, Any]) -> list[Tensor]:
        short = op.name.removeprefix("ttnn.")
        tensors = [values[value] for value in op.inputs if values[value] is not None]
        if any(one.data is None for one in tensors):
            if short in IN_PLACE:
                tensors[0].data = None
            return [Tensor(None) for _ in op.results]

        def groups(group: str) -> Any:
            value = op.operand(group) if any(one.name == group for one in op.spec.operands) else None
            return None if value is None else values[value].data

        operands = [one.data for one in tensors]
        if short in ("linear", "matmul", "sparse_matmul"):
            operands[1] = _weight(op, operands[1], self._weights)
        if self._observe is not None:
            self._observe(op, operands)
        with np.errstate(all="ignore"):
            made = operands[:1] if short in MOVES else _evaluate(op, operands, groups)
        if short in IN_PLACE:
            tensors[0].data, made = made[0], []
        if short == "batch_norm_training" and len(made) > 1:
            for name, value in zip(("running_mean", "running_var"), made[1:], strict=True):
                values[op.operand(name)].data = value
            made = made[:1]
        results = []
        for index, value in enumerate(made):
            found = np.array(value, dtype=np.float64)
            if not short.startswith("prepare_"):
                found = _as_declared(op, index, found)
            if short in ttir_reference.SUMS and np.abs(found).max(initial=0) > np.finfo(np.float32).max:
                raise OverflowError
            results.append(Tensor(_stored(found, op.results[index].type)))
        return results


def _as_declared(op: TableOp, index: int, value: Array) -> Array:
    """A result in the shape of its type: windows make rows of images, and heads stand in rows of a tile.

    Raises:
        NoReference: The type has another number of elements than the operation makes.
    """
    shape = _shape(op, index)
    if value.size == math.prod(shape):
        return value.reshape(shape)
    if len(shape) == value.ndim and all(had <= size for had, size in zip(value.shape, shape, strict=True)):
        # Rows or columns up to a tile are zero.
        return np.pad(value, [(0, size - had) for size, had in zip(shape, value.shape, strict=True)])
    raise NoReference(f"{op.name} with a result of {list(shape)} where {list(value.shape)} is computed")


def interpret(
    module: Module,
    name: str,
    inputs: Sequence[Array],
    observe: Observer | None = None,
    weights: str | None = None,
) -> list[Array | None]:
    """Return the results of a function of a module in `ttnn`, in float64; None where a program does not define them.

    Args:
        module: The module.
        name: Name of the function.
        inputs: Its tensors.
        observe: Is told operations and operands.
        weights: The format that parameters are to have in products of matrices.

    Raises:
        NoReference: An operation that the interpreter does not know.
        OverflowError: A softmax that is not numerically stable, or a sum of products, leaves the range of float32.
    """
    run = _Run(module, observe, weights)
    function = next(one for one in module.functions() if one.sym_name.data == name)
    given = iter(inputs)
    arguments: list[Tensor | None] = []
    for argument in function.body.blocks[0].args:
        if not hasattr(argument.type, "get_shape"):
            arguments.append(None)
            continue
        # A tensor of the chip has the bits of narrow integers without a sign.
        arguments.append(Tensor(_stored(np.array(next(given), dtype=np.float64), argument.type)))
    kinds = function.function_type.outputs.data
    results = [(one.data, kind) for one, kind in zip(run.call(name, arguments), kinds, strict=True) if one is not None]
    return [None if data is None else _prepared(data, tuple(kind.get_shape())) for data, kind in results]  # type: ignore[attr-defined]
