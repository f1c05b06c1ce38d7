"""`ttir-decompose-composites`: norms, softmax, attention and repetition decomposed.

Into the operations that they are made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.dialects.kinds import f32_attr, i32_array, si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerAttr, IntegerType, Signedness, SSAValue
from ttnn.compiler.transforms.rewriting import pattern, rewrite
from ttnn.compiler.transforms.ttir.build import ints, reshape, tensor_like, typed
from ttnn.compiler.transforms.ttir.canonical.registry import FOLDS
from ttnn.compiler.transforms.ttir.moves import move, plain_tensors

__all__ = ["run"]

_TRUE = IntegerAttr(1, IntegerType(1))


class _Builder:
    """Inserts operations before one; results have its element type."""

    def __init__(self, module: Module, op: TableOp) -> None:
        self._module, self._op = module, op
        self._like = op.inputs[0].type

    def make(self, name: str, inputs: Sequence[SSAValue], size: Sequence[int], /, **properties: Attribute) -> SSAValue:
        """Return the result of an operation."""
        return typed(self._module, self._op, name, list(inputs), tensor_like(self._like, size), **properties)

    def full(self, shape: Sequence[int], number: float) -> SSAValue:
        """Return a tensor of one number."""
        return self.make("full", [], shape, shape=i32_array(list(shape)), fill_value=f32_attr(number))

    def reduced(self, name: str, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """Return a reduction that keeps its dimensions."""
        shape = [1 if i in dims else size for i, size in enumerate(shape_of(value))]
        return self.make(name, [value], shape, keep_dim=_TRUE, dim_arg=ints(dims))

    def scaled(self, value: SSAValue) -> SSAValue:
        """Return a normalized value after weight and bias of the operation."""
        shape = shape_of(value)
        for group, name in (("weight", "multiply"), ("bias", "add")):
            factor = self._op.operand(group)
            if factor is not None:
                ones = (1,) * (len(shape) - len(shape_of(factor)))
                factor = reshape(self._module, self._op, factor, [*ones, *shape_of(factor)])
                value = self.make(name, [value, factor], shape)
        return value

    def over_deviation(self, value: SSAValue, variance: SSAValue) -> SSAValue:
        """Return `value / sqrt(variance + epsilon)`."""
        small = shape_of(variance)
        total = self.make("add", [variance, self.full(small, self._op.get("epsilon"))], small)
        return self.make("multiply", [value, self.make("rsqrt", [total], small)], shape_of(value))


def _normalized(op: TableOp) -> list[int]:
    rank = len(shape_of(op.inputs[0]))
    return list(range(rank - len(op.get("normalized_shape")), rank))


def _rms_norm(module: Module, op: TableOp) -> list[SSAValue] | None:
    if not plain_tensors(op):
        return None
    build, x = _Builder(module, op), op.inputs[0]
    square = build.make("multiply", [x, x], shape_of(x))
    return [build.scaled(build.over_deviation(x, build.reduced("mean", square, _normalized(op))))]


def _layer_norm(module: Module, op: TableOp) -> list[SSAValue] | None:
    if not plain_tensors(op):
        return None
    build, x = _Builder(module, op), op.inputs[0]

    def mean(value: SSAValue) -> SSAValue:
        for dim in reversed(_normalized(op)):
            value = build.reduced("mean", value, [dim])
        return value

    centred = build.make("subtract", [x, mean(x)], shape_of(x))
    square = build.make("multiply", [centred, centred], shape_of(x))
    return [build.scaled(build.over_deviation(centred, mean(square)))]


def _softmax(module: Module, op: TableOp) -> list[SSAValue] | None:
    if not plain_tensors(op):
        return None
    build, value = _Builder(module, op), op.inputs[0]
    shape = shape_of(value)
    dims = [op.get("dimension") % len(shape)]
    if op.get("numericStable"):
        value = build.make("subtract", [value, build.reduced("max", value, dims)], shape)
    power = build.make("exp", [value], shape)
    return [build.make("div", [power, build.reduced("sum", power, dims)], shape)]


def _repeat(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Repeat by doubling, by a count's binary digits.

    They select the doubled parts it is made of.
    """
    if not plain_tensors(op):
        return None
    build, value = _Builder(module, op), op.inputs[0]
    for dim, count in enumerate(op.get("repeat_dimensions")):
        parts, chunk = [], value
        for bit in range(count.bit_length()):
            if bit:
                chunk = _joined(build, [chunk, chunk], dim)
            if count >> bit & 1:
                parts.append(chunk)
        value = parts[0] if len(parts) == 1 else _joined(build, parts, dim)
    return [value]


def _joined(build: _Builder, parts: Sequence[SSAValue], dim: int) -> SSAValue:
    shape = list(shape_of(parts[0]))
    shape[dim] = sum(shape_of(part)[dim] for part in parts)
    return build.make("concat", parts, shape, dim=si32_attr(dim))


def _attention(module: Module, op: TableOp) -> list[SSAValue] | None:
    sinks = [group for group in op.spec.operands if group.name == "attention_sink" and op.group(group.name)]
    if not plain_tensors(op) or sinks or op.get("sliding_window_size") is not None:
        return None
    build = _Builder(module, op)
    query, key, value = op.inputs[:3]
    batch, heads, rows, size = shape_of(query)
    groups, columns = shape_of(key)[1:3]
    # Heads that share keys are more rows of one product.
    stacked = [batch, groups, heads // groups * rows]
    query = reshape(module, op, query, [*stacked, size])
    product = build.make("matmul", [query, move(module, op, "permute", key, [0, 1, 3, 2])], [*stacked, columns])
    shape = [batch, heads, rows, columns]
    scores = reshape(module, op, product, shape)
    scale = op.get("scale")
    scores = build.make("multiply", [scores, build.full(shape, 1 / math.sqrt(size) if scale is None else scale)], shape)
    mask = op.operand("attention_mask")
    if mask is not None:
        scores = build.make("add", [scores, mask], shape)
    if op.get("is_causal"):
        scores = build.make("add", [scores, _causal(build, rows, columns)], shape)
    weights = build.make("softmax", [scores], shape, dimension=si32_attr(3), numericStable=_TRUE)
    weights = reshape(module, op, weights, [*stacked, columns])
    out = build.make("matmul", [weights, value], [*stacked, shape_of(value)[-1]])
    return [reshape(module, op, out, shape_of(op.results[0]))]


def _causal(build: _Builder, rows: int, columns: int) -> SSAValue:
    """Return zero where a row sees a column, and minus infinity elsewhere."""
    shape = [1, 1, rows, columns]

    def count(length: int, dim: int) -> SSAValue:
        numbers = {"start": 0, "end": length, "step": 1}
        given = {name: IntegerAttr(number, IntegerType(64, Signedness.SIGNED)) for name, number in numbers.items()}
        return build.make("arange", [], shape, arange_dimension=IntegerAttr(dim, IntegerType(64)), **given)

    seen = build.make("ge", [count(rows, 2), count(columns, 3)], shape)
    return build.make("where", [seen, build.full(shape, 0.0), build.full(shape, -math.inf)], shape)


def run(module: Module) -> None:
    """Decompose attention, norms, softmax and repeat.

    Attention with a window or a sink stays.
    """
    rewrite(
        module,
        [
            *FOLDS,
            pattern(_attention, "scaled_dot_product_attention"),
            pattern(_rms_norm, "rms_norm"),
            pattern(_layer_norm, "layer_norm"),
            pattern(_repeat, "repeat"),
            pattern(_softmax, "softmax"),
        ],
        backwards=True,
    )
