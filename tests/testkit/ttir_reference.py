"""A numpy float64 interpreter of dialect `ttir`.

It knows nothing of layouts, of `ttnn` or of the engine.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testkit.ttir_attention import ATTENTION, IN_PLACE
from testkit.ttir_selection import SELECTION
from testkit.ttir_weights import weight
from testkit.ttir_windows import WINDOWS, pair, upsampled
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import IntegerType, Signedness

Array = NDArray[Any]
_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


class NoReference(Exception):
    """An operation that the interpreter does not know."""


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _shifted(a: Array, b: Array, *, left: bool) -> Array:
    """Bit shifts of 32-bit words with zeros.

    Nothing is left of a shift of 32 or more.
    """
    words, by = a.astype(np.int64) & 0xFFFFFFFF, b.astype(np.int64)
    count = np.clip(by, 0, 63)
    moved = (words << count if left else words >> count) & 0xFFFFFFFF
    return np.where((by < 0) | (by > 31), 0, moved)


UNARY: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "bitwise_not": lambda x: np.invert(x.astype(np.int64)),
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": _erf,
    "erfc": _erfc,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "isfinite": np.isfinite,
    "log": np.log,
    "log1p": np.log1p,
    "logical_not": lambda x: x == 0,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "neg": np.negative,
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": _sigmoid,
    "sign": np.sign,
    "silu": lambda x: x * _sigmoid(x),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
    "typecast": lambda x: x,
    "to_layout": lambda x: x,
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "atan2": np.arctan2,
    "bitwise_and": lambda a, b: a.astype(np.int64) & b.astype(np.int64),
    "bitwise_or": lambda a, b: a.astype(np.int64) | b.astype(np.int64),
    "bitwise_xor": lambda a, b: a.astype(np.int64) ^ b.astype(np.int64),
    "div": np.divide,
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "logical_and": lambda a, b: (a != 0) & (b != 0),
    "logical_or": lambda a, b: (a != 0) | (b != 0),
    "logical_left_shift": lambda a, b: _shifted(a, b, left=True),
    "logical_right_shift": lambda a, b: _shifted(a, b, left=False),
    "logical_xor": lambda a, b: (a != 0) ^ (b != 0),
    "lt": np.less,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "ne": np.not_equal,
    "pow": np.power,
    "remainder": np.remainder,
    "subtract": np.subtract,
}
#: What grows from layer to layer where weights are random numbers.
SUMS = ("conv2d", "linear", "matmul")
REDUCE: dict[str, Callable[..., Array]] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "reduce_and": np.all,
    "reduce_or": np.any,
}


def _is_stable(op: TableOp) -> bool:
    name = "numericStable" if "numericStable" in op.spec.attributes else "numeric_stable"
    return name in op.spec.attributes and bool(op.get(name))


def _softmax(x: Array, dim: int, *, stable: bool) -> Array:
    """Softmax along a dimension.

    Raises:
        OverflowError: The largest value is not subtracted, and an exponential or their sum is beyond float32.
    """
    if not stable and np.exp(x).sum(axis=dim).max(initial=0) > np.finfo(np.float32).max:
        raise OverflowError
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def _matmul(op: TableOp, a: Array, b: Array) -> Array:
    if "transpose_a" in op.spec.attributes:
        a = np.swapaxes(a, -1, -2) if op.get("transpose_a") else a
        b = np.swapaxes(b, -1, -2) if op.get("transpose_b") else b
    return np.matmul(a, b)


def _dot_general(op: TableOp, a: Array, b: Array) -> Array:
    """Batch dimensions, then the rest of first and second operand."""
    letters = iter(string.ascii_letters)
    names_a = [next(letters) for _ in a.shape]
    names_b = [next(letters) for _ in b.shape]
    batch = [names_a[dim] for dim in op.get("batch_dims_lhs")]
    for kind in ("batch", "contract"):
        for one, other in zip(op.get(f"{kind}_dims_lhs"), op.get(f"{kind}_dims_rhs"), strict=True):
            names_b[other] = names_a[one]
    shared = set(names_a) & set(names_b)
    result = [*batch, *(name for name in names_a + names_b if name not in shared)]
    return np.einsum(f"{''.join(names_a)},{''.join(names_b)}->{''.join(result)}", a, b, optimize=True)


def _norm(op: TableOp, x: Array, weight: Array | None, bias: Array | None, centre: bool) -> Array:
    axes = tuple(range(x.ndim - len(op.get("normalized_shape")), x.ndim))
    x = x - x.mean(axis=axes, keepdims=True) if centre else x
    made = x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + op.get("epsilon"))
    made = made if weight is None else made * weight
    return made if bias is None else made + bias


def _shape(op: TableOp) -> tuple[int, ...]:
    return tuple(int(size) for size in op.results[0].type.get_shape())  # type: ignore[attr-defined]


def evaluate(op: TableOp, given: list[Array], groups: Callable[[str], Any]) -> list[Array]:
    """Return the results of an operation.

    Raises:
        NoReference: The interpreter does not know it.
    """
    short = op.name.removeprefix("ttir.")
    if short in UNARY:
        return [UNARY[short](given[0])]
    if short in BINARY:
        return [BINARY[short](given[0], given[1])]
    if short in REDUCE:
        dims = op.get("dim_arg")
        return [REDUCE[short](given[0], axis=None if dims is None else tuple(dims), keepdims=op.get("keep_dim"))]
    for functions in (ATTENTION, SELECTION, WINDOWS):
        if short in functions:
            return functions[short](op, given, groups)
    made = _special(op, short, given, groups)
    return [made]


def _special(op: TableOp, short: str, given: list[Array], groups: Callable[[str], Any]) -> Array:
    x = given[0] if given else np.zeros(())
    if short == "argmax":
        dims = op.get("dim_arg")
        if dims is not None and len(dims) > 1:
            dims = sorted(dim % x.ndim for dim in dims)
            kept = [i for i in range(x.ndim) if i not in dims]
            flat = np.transpose(x, [*kept, *dims]).reshape(*(x.shape[i] for i in kept), -1)
            return np.argmax(flat, axis=-1).reshape(_shape(op))
        return np.argmax(x, axis=None if dims is None else dims[0], keepdims=op.get("keep_dim"))
    if short == "arange":
        line = np.arange(op.get("start"), op.get("end"), op.get("step"), dtype=np.float64)
        shape = [1] * len(_shape(op))
        shape[op.get("arange_dimension")] = line.size
        return np.broadcast_to(line.reshape(shape), _shape(op))
    if short == "broadcast":
        return np.broadcast_to(x, _shape(op))
    if short == "clamp_scalar":
        return np.clip(x, op.get("min"), op.get("max"))
    if short == "clamp_tensor":
        return np.clip(x, given[1], given[2])
    if short == "concat":
        return np.concatenate(given, axis=op.get("dim"))
    if short in ("constant", "fill"):
        made = op.attribute("value").to_numpy()  # type: ignore[union-attr]
        if made.dtype.kind == "i" and made.dtype.itemsize == 8:
            # The chip has 32 bits: what does not fit is the nearest number that does.
            made = np.clip(made, -(1 << 31), (1 << 31) - 1)
        return made.astype(np.float64).reshape(_shape(op))
    if short == "scatter_in_dim":
        made = x.copy()
        np.put_along_axis(made, given[1].astype(np.int64), given[2], axis=op.get("dim"))
        return made
    if short == "cumsum":
        return np.cumsum(x, axis=op.get("dim"))
    if short == "dot_general":
        return _dot_general(op, x, given[1])
    if short == "embedding":
        return given[1].reshape(-1, given[1].shape[-1])[x.astype(np.int64)].reshape(_shape(op))
    if short in ("empty", "zeros"):
        return np.zeros(_shape(op))
    if short == "full":
        return np.full(_shape(op), float(op.get("fill_value")))
    if short == "index":
        cut = [slice(None)] * x.ndim
        cut[op.get("dim")] = slice(op.get("begin"), op.get("end"), op.get("step"))
        return x[tuple(cut)]
    if short == "layer_norm":
        return _norm(op, x, groups("weight"), groups("bias"), centre=True)
    if short == "leaky_relu":
        return np.where(x > 0, x, x * op.get("parameter"))
    if short == "linear":
        made = _matmul(op, given[0], given[1])
        return made if groups("bias") is None else made + groups("bias")
    if short == "matmul":
        return _matmul(op, given[0], given[1])
    if short == "global_avg_pool2d":
        return x.mean(axis=(1, 2), keepdims=True)
    if short == "ones":
        return np.ones(_shape(op))
    if short == "pad":
        sides = list(zip(op.get("padding")[::2], op.get("padding")[1::2], strict=True))
        # Negative padding cuts.
        inner = x[tuple(slice(max(-a, 0), size - max(-b, 0)) for (a, b), size in zip(sides, x.shape, strict=True))]
        return np.pad(inner, [(max(a, 0), max(b, 0)) for a, b in sides], constant_values=op.get("value"))
    if short == "permute":
        return np.transpose(x, op.get("permutation"))
    if short == "repeat":
        return np.tile(x, op.get("repeat_dimensions"))
    if short == "repeat_interleave":
        return np.repeat(x, op.get("repeats"), axis=op.get("dim"))
    if short == "reverse":
        return np.flip(x, op.get("dimensions"))
    if short == "rms_norm":
        return _norm(op, x, groups("weight"), groups("bias"), centre=False)
    if short in ("reshape", "squeeze", "unsqueeze"):
        return x.reshape(_shape(op))
    if short == "slice_static":
        return x[
            tuple(slice(b, e, s) for b, e, s in zip(op.get("begins"), op.get("ends"), op.get("step"), strict=True))
        ]
    if short == "softmax":
        return _softmax(x, op.get("dimension"), stable=_is_stable(op))
    if short == "mesh_shard" and getattr(op.attribute("shard_type"), "value", "") == "identity":
        return x
    if short == "transpose":
        return np.swapaxes(x, op.get("dim0"), op.get("dim1"))
    if short == "upsample2d":
        return upsampled(x, pair(op.get("scale_factor")), bilinear=op.get("mode") == "bilinear")
    if short == "where":
        return np.where(given[0] != 0, given[1], given[2])
    raise NoReference(op.name)


def in_range(value: Array, kind: Any) -> Array:
    """Integers modulo their type's range.

    float64 has those of 32 bits exactly.
    """
    if not isinstance(kind, IntegerType) or not 8 <= kind.width.data <= 32 or not np.isfinite(value).all():
        return value
    size = 2.0**kind.width.data
    value = np.trunc(value)
    if kind.signedness.data is Signedness.UNSIGNED:
        return np.mod(value, size)
    return np.mod(value + size / 2, size) - size / 2


def _declared(value: Array, shape: tuple[int, ...]) -> Array:
    """A result in its type's shape.

    Files of 2024 declare some reductions without a dimension of size one, and some with the padding of a tile, which is
    zero.
    """
    if value.shape == shape:
        return value
    if value.size == math.prod(shape):
        return value.reshape(shape)
    padding = [(0, size - had) for size, had in zip(shape, value.shape, strict=True)]
    return np.pad(value, padding)


def interpret(
    module: Module, name: str, inputs: Sequence[Array], observe: Callable[[TableOp, list[Array]], None] | None = None
) -> list[Array]:
    """Return a `ttir` function's float64 results; `observe` sees operations.

    It is told operations and operands.

    Raises:
        NoReference: An operation that the interpreter does not know.
        OverflowError: A softmax that is not numerically stable, or a sum of products, leaves the range of float32.
    """
    functions = {function.sym_name.data: function for function in module.functions()}
    function = functions[name]
    block = function.body.blocks[0]
    values: dict[Any, Array] = {}
    for argument, given in zip(block.args, inputs, strict=True):
        # A tensor of the chip has the bits of narrow integers without a sign.
        kind = getattr(argument.type, "element_type", None)
        values[argument] = in_range(np.asarray(given).astype(np.float64), kind)
    for op in block.ops:
        if op.name == "func.return":
            return [values[value] for value in op.operands]
        if op.name in ("tensor.empty", "ttir.empty"):
            values[op.results[0]] = np.zeros(tuple(op.results[0].type.get_shape()))  # type: ignore[attr-defined]
            continue
        if op.name == "func.call":
            callee = op.callee.string_value()  # type: ignore[attr-defined]
            made = interpret(module, callee, [values[value] for value in op.operands], observe)
        elif not isinstance(op, TableOp) or not op.name.startswith("ttir."):
            raise NoReference(op.name)
        else:

            def groups(group: str, op: TableOp = op) -> Any:
                value = op.operand(group)
                return None if value is None else values[value]

            operands = [values[value] for value in op.inputs]
            if op.name in ("ttir.matmul", "ttir.linear", "ttir.sparse_matmul"):
                operands[1] = weight(op, operands[1])
            if observe is not None:
                observe(op, operands)
            with np.errstate(all="ignore"):
                made = evaluate(op, operands, groups)
            if op.name.removeprefix("ttir.") in IN_PLACE:
                values[op.inputs[0]] = made[0]
                made = made[: len(op.results)]
        for result, value in zip(op.results, made, strict=True):
            found = _declared(np.asarray(value, dtype=np.float64), tuple(result.type.get_shape()))
            if op.name.removeprefix("ttir.") in SUMS and np.abs(found).max(initial=0) > np.finfo(np.float32).max:
                raise OverflowError
            values[result] = in_range(found, result.type.element_type)
    raise NoReference("a function without return")
