"""Folds of tensor operations: what does nothing goes, chains of one kind become one."""

from __future__ import annotations

from collections.abc import Callable

from ttnn.compiler.asm.epochs import Epoch
from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.printing import LOCAL
from ttnn.compiler.asm.xdsl_adapter import ArrayAttr, DenseArrayBase, IntegerType, SSAValue
from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.rules import shape_of
from ttnn.compiler.passes.base import insert_before, owner_of
from ttnn.compiler.passes.rewriting import Apply, pattern, rewrite

__all__ = ["fold_all"]

Fold = Callable[[Module, TableOp], "SSAValue | None"]


def fold_all(module: Module) -> None:
    """Apply the folds until none applies."""
    rewrite(module, [pattern(_values(fold), name) for name, fold in _FOLDS.items()])


def _values(fold: Fold) -> Apply:
    """Return the pattern of a fold."""

    def apply(module: Module, op: TableOp) -> list[SSAValue] | None:
        if len(op.results) != 1 or op.n_outs:
            return None
        value = fold(module, op)
        return None if value is None or value is op.results[0] else [value]

    return apply


def _producer(value: SSAValue, name: str) -> TableOp | None:
    owner = owner_of(value)
    return owner if isinstance(owner, TableOp) and owner.name == name and not owner.n_outs else None


def _remake(module: Module, op: TableOp, value: SSAValue, **properties: object) -> SSAValue:
    new = make(
        op.name,
        module.epoch,
        [value],
        [op.results[0].type],
        {**op.properties, **properties},  # type: ignore[dict-item]
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]


def _reshape(module: Module, op: TableOp) -> SSAValue | None:
    if op.inputs[0].type == op.results[0].type:
        return op.inputs[0]
    producer = _producer(op.inputs[0], "ttir.reshape")
    if producer is not None:
        shape = ArrayAttr([i32_attr(size) for size in shape_of(op.results[0])])
        return _remake(module, op, producer.inputs[0], shape=shape)
    return None


def _transpose(module: Module, op: TableOp) -> SSAValue | None:
    if module.epoch is not Epoch.BOOK:
        return _as_permute(module, op)
    rank = len(shape_of(op.inputs[0]))
    dims = {op.get("dim0") % rank, op.get("dim1") % rank}
    if len(dims) == 1:
        return op.inputs[0]
    producer = _producer(op.inputs[0], "ttir.transpose")
    if producer is not None and {producer.get("dim0") % rank, producer.get("dim1") % rank} == dims:
        return producer.inputs[0]
    return None


def _as_permute(module: Module, op: TableOp) -> SSAValue:
    """Return a transpose as the permutation that it is, so that chains of both join."""
    rank = len(shape_of(op.inputs[0]))
    order = list(range(rank))
    first, second = op.get("dim0") % rank, op.get("dim1") % rank
    order[first], order[second] = order[second], order[first]
    new = make(
        "ttir.permute",
        module.epoch,
        [op.inputs[0]],
        [op.results[0].type],
        {"permutation": DenseArrayBase.from_list(IntegerType(64), order)},
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, new)
    value: SSAValue = new.results[0]
    return value


def _permute(module: Module, op: TableOp) -> SSAValue | None:
    order = tuple(op.get("permutation"))
    if order == tuple(range(len(order))):
        return op.inputs[0]
    producer = _producer(op.inputs[0], "ttir.permute")
    if producer is not None:
        first = producer.get("permutation")
        joined = [first[i] for i in order]
        array = DenseArrayBase.from_list(IntegerType(64), joined)
        return _remake(module, op, producer.inputs[0], permutation=array)
    return None


def _broadcast(module: Module, op: TableOp) -> SSAValue | None:
    if op.inputs[0].type == op.results[0].type:
        return op.inputs[0]
    producer = _producer(op.inputs[0], "ttir.broadcast")
    if producer is not None and "broadcast_dimensions" in op.properties:
        before, after = producer.get("broadcast_dimensions"), op.get("broadcast_dimensions")
        if len(before) == len(after):
            factors = [a * b for a, b in zip(before, after, strict=True)]
            array = DenseArrayBase.from_list(IntegerType(64), factors)
            return _remake(module, op, producer.inputs[0], broadcast_dimensions=array)
    return None


def _same_type(module: Module, op: TableOp) -> SSAValue | None:
    del module
    return op.inputs[0] if op.inputs[0].type == op.results[0].type else None


def _concat(module: Module, op: TableOp) -> SSAValue | None:
    del module
    return op.inputs[0] if len(op.inputs) == 1 else None


def _idempotent(module: Module, op: TableOp) -> SSAValue | None:
    del module
    producer = _producer(op.inputs[0], op.name)
    return producer.results[0] if producer is not None and producer.results[0].type == op.results[0].type else None


def _involution(module: Module, op: TableOp) -> SSAValue | None:
    del module
    producer = _producer(op.inputs[0], op.name)
    return producer.inputs[0] if producer is not None and producer.inputs[0].type == op.results[0].type else None


def _same_operands(module: Module, op: TableOp) -> SSAValue | None:
    del module
    first = op.inputs[0]
    return first if first is op.inputs[1] and first.type == op.results[0].type else None


def _reverse(module: Module, op: TableOp) -> SSAValue | None:
    dims = set(op.get("dimensions"))
    if not dims:
        return op.inputs[0]
    producer = _producer(op.inputs[0], "ttir.reverse")
    if producer is None:
        return None
    joined = sorted(dims ^ set(producer.get("dimensions")))
    array = DenseArrayBase.from_list(IntegerType(64), joined)
    return _remake(module, op, producer.inputs[0], dimensions=array) if joined else producer.inputs[0]


def _repeat(module: Module, op: TableOp) -> SSAValue | None:
    if op.inputs[0].type == op.results[0].type:
        return op.inputs[0]
    producer = _producer(op.inputs[0], "ttir.repeat")
    if producer is None or sum(1 for _ in producer.results[0].uses) != 1:
        return None
    pairs = zip(op.get("repeat_dimensions"), producer.get("repeat_dimensions"), strict=True)
    array = DenseArrayBase.from_list(IntegerType(64), [a * b for a, b in pairs])
    return _remake(module, op, producer.inputs[0], repeat_dimensions=array)


def _mesh_shard(module: Module, op: TableOp) -> SSAValue | None:
    replicated = "replicate" in LOCAL.attribute(op.properties["shard_type"])
    ones = not replicated and all(size == 1 for size in op.get("shard_shape"))
    return _same_type(module, op) if ones else None


def _pool(module: Module, op: TableOp) -> SSAValue | None:
    def numbers(name: str) -> tuple[int, ...]:
        value = op.get(name)
        return (value,) if isinstance(value, int) else tuple(value)

    ones = all(one == 1 for name in ("kernel", "stride", "dilation") for one in numbers(name))
    return _same_type(module, op) if ones and not any(numbers("padding")) else None


def _slice(module: Module, op: TableOp) -> SSAValue | None:
    whole = not any(op.get("begins")) and all(one == 1 for one in op.get("step"))
    return _same_type(module, op) if whole else None


def _linear(module: Module, op: TableOp) -> SSAValue | None:
    """Return a product of matrices for a linear operation without a bias."""
    if len(op.inputs) > 2:
        return None
    new = make(
        "ttir.matmul",
        module.epoch,
        list(op.inputs),
        [op.results[0].type],
        {name: value for name, value in op.properties.items() if name in ("transpose_a", "transpose_b")},
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, new)
    value: SSAValue = new.results[0]
    return value


def _later(fold: Fold) -> Fold:
    """Return a fold that the book does not have."""
    return lambda module, op: None if module.epoch is Epoch.BOOK else fold(module, op)


_FOLDS: dict[str, Fold] = {
    **dict.fromkeys(
        ["logical_and", "logical_or", "bitwise_and", "bitwise_or", "minimum", "maximum"], _later(_same_operands)
    ),
    "reverse": _reverse,
    "repeat": _later(_repeat),
    "mesh_shard": _mesh_shard,
    "max_pool2d": _later(_pool),
    "avg_pool2d": _pool,
    "slice_static": _slice,
    "linear": _later(_linear),
    "reshape": _reshape,
    "transpose": _transpose,
    "permute": _permute,
    "broadcast": _broadcast,
    "typecast": _same_type,
    "concat": _concat,
    "relu": _idempotent,
    "abs": _idempotent,
    "sign": _idempotent,
    "relu6": _idempotent,
    "ceil": _idempotent,
    "floor": _idempotent,
    "bitwise_not": _involution,
    "neg": _involution,
}
