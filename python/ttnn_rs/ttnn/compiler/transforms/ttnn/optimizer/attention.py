"""Fusions of attention and its heads into operators of the library."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.dialects.kinds import f32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.types import element_word, retyped
from ttnn.compiler.transforms.ttnn.optimizer.matching import before_casts, constant, maker, order_of, without_scale

__all__ = ["attention", "cast_and_back", "flat_product", "join_heads", "split_heads"]

_HEADS_FIRST: Final = (0, 2, 1, 3)
_FALSE: Final = IntegerAttr(0, IntegerType(1))


def _softmax(value: SSAValue) -> TableOp | None:
    """Return the softmax that makes a value.

    It is of the last dimension; casts, and zeros for masked rows, may follow it.
    """
    value = before_casts(value)
    zeroed = maker(value, "where")
    if zeroed is not None:
        condition, zeros, value = zeroed.operands[:3]
        if constant(zeros) != 0.0:
            return None
        value = before_casts(value)
    op = maker(value, "softmax")
    if op is None or op.get("dimension") not in (-1, len(shape_of(value)) - 1):
        return None
    if zeroed is not None and not _all_masked(condition, before_casts(op.operands[0])):
        return None
    return op


def _all_masked(condition: SSAValue, scores: SSAValue) -> bool:
    """Return whether a condition selects rows of minus infinity alone."""
    nothing = maker(before_casts(condition), "logical_not")
    total = None if nothing is None else maker(before_casts(nothing.operands[0]), "sum", "max")
    some = None if total is None else maker(before_casts(total.operands[0]), "logical_not")
    equal = None if some is None else maker(before_casts(some.operands[0]), "eq")
    if equal is None:
        return False
    return before_casts(equal.operands[0]) is scores and constant(equal.operands[1]) == -math.inf


def _plain(op: TableOp | None) -> bool:
    """Return whether a product has neither transposed operands nor an activation."""
    return op is not None and not (op.get("transpose_a") or op.get("transpose_b") or op.get("activation"))


def attention(module: Module, op: TableOp) -> Result:
    """A product of a softmax of products is attention; formula."""
    if not _plain(op) or len(shape_of(op.results[0])) != 4:
        return None
    weights = _softmax(op.operands[0])
    if weights is None:
        return None
    scores, mask, scale = before_casts(weights.operands[0]), None, 1.0
    added = maker(scores, "add")
    if added is not None:
        sides = [maker(_unscaled(part)[0], "matmul") for part in added.operands[:2]]
        index = next((index for index, side in enumerate(sides) if side is not None), None)
        if index is None:
            return None
        scores, mask = added.operands[index], added.operands[1 - index]
    scores, scale = _unscaled(scores)
    product = maker(scores, "matmul")
    if product is None or product.get("transpose_a") or product.get("activation"):
        return None
    build = Build(module, op)
    keys = product.operands[1]
    if not product.get("transpose_b"):
        keys = _transposed(build, keys)
    parts = [without_scale(build, part) for part in (product.operands[0], keys, op.operands[1])]
    (query, of_query), (key, of_key), (value, of_value) = parts
    few = [_before_repeat(part) for part in (key, value)]
    if shape_of(few[0])[:3] == shape_of(few[1])[:3]:
        # The operator reads keys and values of a group of heads once.
        key, value = few
    if any(element_word(part.type) not in ("bf16", "bfp_bf8") for part in (query, key, value)) or of_value != 1.0:
        return None
    if shape_of(key)[1] != shape_of(value)[1] or shape_of(query)[1] % shape_of(key)[1]:
        return None
    if mask is not None:
        mask = _mask(build, mask, shape_of(query), shape_of(key))
        if mask is None:
            return None
    type_ = retyped(query.type, shape=shape_of(op.results[0]))
    result = build.value(
        "scaled_dot_product_attention",
        {"query": query, "key": key, "value": value, "attention_mask": mask},
        type_,
        is_causal=_FALSE,
        scale=f32_attr(scale * of_query * of_key),
    )
    return [build.value("typecast", [result], op.results[0].type) if type_ != op.results[0].type else result]


def _before_repeat(value: SSAValue) -> SSAValue:
    """Return heads before their repetition for groups of queries."""
    op = maker(value, "repeat_interleave")
    return op.operands[0] if op is not None and op.get("dim") in (1, -3) else value


def _unscaled(value: SSAValue) -> tuple[SSAValue, float]:
    """Return the value before casts and constant factors, and their product."""
    scale = 1.0
    while True:
        value = before_casts(value)
        op = maker(value, "multiply", "divide")
        if op is None:
            return value, scale
        factor = constant(op.operands[1])
        if factor is None or not factor:
            return value, scale
        scale *= factor if op.name == "ttnn.multiply" else 1 / factor
        value = op.operands[0]


def _transposed(build: Build, keys: SSAValue) -> SSAValue:
    """Return keys with their last two dimensions exchanged.

    The permutation that made them is changed if there is one.
    """
    op = maker(keys, "permute")
    if op is not None and len(order_of(op)) == 4:
        order = order_of(op)
        return build.permute(op.operands[0], (*order[:2], order[3], order[2]))
    return build.permute(keys, (0, 1, 3, 2))


def _mask(build: Build, mask: SSAValue, query: tuple[int, ...], key: tuple[int, ...]) -> SSAValue | None:
    """Return a mask of the scores' shape in bfloat16.

    None if it has another one.
    """
    mask = before_casts(mask)
    if element_word(mask.type) == "f32":
        mask = build.value("typecast", [mask], retyped(mask.type, dtype="bf16"))
    shape = shape_of(mask)
    if len(shape) != 4 or shape[3] != key[2] or shape[2] not in (1, query[2]) or element_word(mask.type) != "bf16":
        return None
    whole = (query[0], shape[1], query[2], key[2])
    return mask if shape == whole else build.repeat(mask, whole)


def cast_and_back(module: Module, op: TableOp) -> Result:
    """A cast to float32 and back is nothing; exact."""
    inner = maker(op.operands[0], "typecast", "to_tensor_spec")
    if inner is None or element_word(inner.results[0].type) != "f32":
        return None
    return [inner.operands[0]] if inner.operands[0].type == op.results[0].type else None


def _rows_of(value: SSAValue) -> tuple[SSAValue, int] | None:
    """Return the matrix that heads are cut from, and their number.

    None for other values.
    """
    moved = maker(value, "permute")
    if moved is None or order_of(moved) != _HEADS_FIRST:
        return None
    cut = maker(moved.operands[0], "reshape")
    if cut is None:
        return None
    batch, rows, heads, size = shape_of(cut.results[0])
    before = shape_of(cut.operands[0])
    if before not in ((batch * rows, heads * size), (batch, rows, heads * size)):
        return None
    return cut.operands[0], heads


class _Projection:
    """A product that heads are cut from.

    Attributes:
        activation: The left operand.
        weights: The right operand.
        begin: Its first column.
        end: The column after its last.
        bias: What is added, None for nothing.
    """

    def __init__(self, value: SSAValue) -> None:
        self.bias: SSAValue | None = None
        added = maker(value, "add")
        if added is not None:
            value, self.bias = added.operands[0], added.operands[1]
        cut = maker(value, "slice_static")
        self.begin, self.end = 0, shape_of(value)[-1]
        if cut is not None:
            begins, ends = list(cut.get("begins")), list(cut.get("ends"))
            self.begin, self.end = begins[-1], ends[-1]
            whole = shape_of(cut.operands[0])
            self.legal = not any(begins[:-1]) and tuple(ends[:-1]) == whole[:-1] and set(cut.get("step")) == {1}
            value = cut.operands[0]
        else:
            self.legal = True
        op = maker(value, "matmul", "linear")
        self.legal = self.legal and _plain(op)
        if op is None:
            return
        self.activation, self.weights = op.operands[0], op.operands[1]
        given = op.operand("bias") if op.name == "ttnn.linear" else None
        if given is not None:
            self.legal = self.legal and self.bias is None
            self.bias = given
        # The bias of the product has all of its columns, one that is added to a part those of the part.
        self.whole_bias = given is not None and cut is not None
        columns = shape_of(self.weights)[-1] if self.whole_bias else self.end - self.begin
        if self.bias is not None and shape_of(self.bias) not in ((columns,), (1, columns), (1, 1, columns)):
            self.legal = False
        if len(shape_of(self.weights)) != 2:
            self.legal = False

    def columns(self, build: Build) -> SSAValue:
        """Return the columns of the weights."""
        rows, columns = shape_of(self.weights)
        if (self.begin, self.end) == (0, columns):
            return self.weights
        return build.slice(self.weights, (0, self.begin), (rows, self.end))

    def biases(self, build: Build) -> SSAValue | None:
        """Return the bias of the columns as a row, None without one."""
        if self.bias is None:
            return None
        row = build.reshape(self.bias, (1, shape_of(self.bias)[-1]))
        return build.slice(row, (0, self.begin), (1, self.end)) if self.whole_bias else row


def split_heads(module: Module, op: TableOp) -> Result:
    """Queries, keys and values of one activation come from one product; formula."""
    groups = ("query", "key", "value")
    found = [_rows_of(op.group(name)[0]) for name in groups]
    if any(part is None for part in found):
        return None
    parts = [part for part in found if part is not None]
    heads = {count for _, count in parts}
    shape = shape_of(op.group("query")[0])
    if len(heads) != 1 or any(shape_of(op.group(name)[0]) != shape for name in groups):
        return None
    made = [_Projection(value) for value, _ in parts]
    if not all(one.legal for one in made) or len({one.activation for one in made}) != 1:
        return None
    if any((one.bias is None) != (made[0].bias is None) for one in made):
        return None
    build = Build(module, op)
    width = shape[1] * shape[3]
    if any(one.end - one.begin != width for one in made):
        return None
    # Of parameters: where the columns lie is decided once.
    weights = _joined(build, [one.columns(build) for one in made])
    biases = [row for one in made if (row := one.biases(build)) is not None]
    bias = _joined(build, biases) if biases else None
    activation = _in_batches(build, made[0].activation, shape[0], shape[2])
    type_ = retyped(parts[0][0].type, shape=(shape[0], shape[2], 3 * width))
    rows = build.value("linear", {"a": activation, "b": weights, "bias": bias}, type_)
    number = IntegerAttr(shape[1], IntegerType(32))
    split = build.op(
        "split_query_key_value_and_split_heads",
        {"input_tensor": rows, "kv_input_tensor": None},
        [retyped(type_, shape=shape)] * 3,
        num_heads=number,
        transpose_key=_FALSE,
    )
    operands: dict[str, Any] = dict(zip(groups, split.results, strict=True))
    return [build.again(op, operands=operands).results[0]]


def _joined(build: Build, parts: list[SSAValue]) -> SSAValue:
    """Return matrices side by side."""
    columns = sum(shape_of(part)[1] for part in parts)
    type_ = retyped(parts[0].type, shape=(shape_of(parts[0])[0], columns))
    return build.value("concat", parts, type_, dim=IntegerAttr(1, IntegerType(32)))


def _in_batches(build: Build, value: SSAValue, batch: int, rows: int) -> SSAValue:
    """Return a matrix as [batch, rows, columns]."""
    flat = maker(value, "reshape")
    shape = (batch, rows, shape_of(value)[-1])
    if flat is not None and shape_of(flat.operands[0]) == shape:
        return flat.operands[0]
    return build.reshape(value, shape)


def join_heads(module: Module, op: TableOp) -> Result:
    """Heads side by side are joined by one operation; exact."""
    moved = maker(op.operands[0], "permute")
    if moved is None or order_of(moved) != _HEADS_FIRST:
        return None
    batch, rows, heads, size = shape_of(moved.results[0])
    if shape_of(op.results[0]) not in ((batch * rows, heads * size), (batch, rows, heads * size)) or size % 32:
        return None
    build = Build(module, op)
    type_ = retyped(op.results[0].type, shape=(batch, rows, heads * size))
    joined = build.value("concatenate_heads", [moved.operands[0]], type_)
    return [build.reshape(joined, shape_of(op.results[0]))]


def flat_product(module: Module, op: TableOp) -> Result:
    """A product of rows that were batches before stays in batches; blocks."""
    flat = maker(op.operands[0], "reshape")
    if flat is None or op.get("transpose_a") or len(shape_of(op.operands[1])) != 2:
        return None
    before = shape_of(flat.operands[0])
    if len(before) != 3 or len(shape_of(op.operands[0])) != 2 or before[-1] != shape_of(op.operands[0])[-1]:
        return None
    build = Build(module, op)
    columns = shape_of(op.results[0])[-1]
    type_ = retyped(op.results[0].type, shape=(*before[:-1], columns))
    made = build.again(op, [type_], operands={"a": flat.operands[0]})
    return [build.reshape(made.results[0], shape_of(op.results[0]))]
