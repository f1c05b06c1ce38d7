"""Key and value cache arguments, and their length arguments."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    BlockArgument,
    DictionaryAttr,
    FuncOp,
    IntegerAttr,
    SSAValue,
    UnitAttr,
)
from ttnn.compiler.transforms.base import owner_of, table_ops
from ttnn.compiler.transforms.traits import has
from ttnn.compiler.transforms.ttir.moves import made_by, users

__all__ = ["infer_arguments", "share_lengths"]

_INDEXED = ("ttir.update_cache", "ttir.paged_update_cache")
_THROUGH = frozenset(f"ttir.{name}" for name in ("mesh_shard", "broadcast", "repeat", "reshape", "typecast", "add"))


def _argument(value: SSAValue, function: FuncOp) -> BlockArgument | None:
    """Return a value's function argument, or that of its shard."""
    shard = made_by(value, "ttir.mesh_shard")
    if shard is not None:
        value = shard.inputs[0]
    return value if isinstance(value, BlockArgument) and value.block.parent_op() is function else None


def infer_arguments(module: Module) -> None:
    """Mark the arguments that operations on caches fill with `ttcore.kv_cache`."""
    for function in module.functions():
        caches = set()
        for op in table_ops(function, "ttir."):
            if has(op, "writes cache"):
                argument = _argument(op.inputs[0], function)
                if argument is not None:
                    caches.add(argument.index)
        if caches:
            _mark(function, caches)


def _mark(function: FuncOp, caches: set[int]) -> None:
    count = len(function.function_type.inputs.data)
    old = function.arg_attrs.data if function.arg_attrs is not None else [DictionaryAttr({})] * count
    marks: dict[str, Attribute] = {"ttcore.kv_cache": UnitAttr()}
    function.properties["arg_attrs"] = ArrayAttr(
        [DictionaryAttr({**entry.data, **marks}) if i in caches else entry for i, entry in enumerate(old)]
    )


def _lengths(function: FuncOp) -> set[BlockArgument]:
    """Return the arguments from which the indices of updates are computed."""
    found, seen = set(), set()
    work = [op.operand("update_index") for op in table_ops(function, "ttir.") if op.name in _INDEXED]
    while work:
        value = work.pop()
        if value is None or value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument):
            if value.block.parent_op() is function:
                found.add(value)
            continue
        owner = owner_of(value)
        if isinstance(owner, TableOp) and owner.name in _THROUGH:
            work += owner.inputs if owner.name == "ttir.add" else owner.inputs[:1]
    return found


def _step(value: SSAValue) -> int | None:
    """Return the whole number of a `full`."""
    full = made_by(value, "ttir.full")
    fill = full.properties.get("fill_value") if full is not None else None
    return fill.value.data if isinstance(fill, IntegerAttr) else None


def _writeback(value: SSAValue, function: FuncOp, lengths: set[BlockArgument]) -> tuple[BlockArgument, int] | None:
    """Return length argument and step of a returned `length + step`.

    If a returned value is that.
    """
    if len(users(value)) != 1:
        return None
    shard = made_by(value, "ttir.mesh_shard")
    total = shard.inputs[0] if shard is not None else value
    add = made_by(total, "ttir.add")
    if add is None or len(users(total)) != 1:
        return None
    for side, other in (add.inputs, add.inputs[::-1]):
        argument, step = _argument(side, function), _step(other)
        if argument in lengths and argument is not None and step is not None and argument.type == total.type:
            return argument, step
    return None


def share_lengths(module: Module) -> None:
    """Merge length arguments of layers whose cache lengths advance by one step.

    A model keeps one length for each layer, and all of them count the same tokens: arguments of one type that fill
    indices of caches and that the function returns advanced by the same number are taken to be equal.
    """
    for function in module.functions():
        block = function.regions[0].blocks.last
        end = block.last_op if block is not None else None
        lengths = _lengths(function)
        if end is None or end.name != "func.return" or not lengths:
            continue
        groups: dict[tuple[int, Attribute], list[BlockArgument]] = {}
        for value in end.operands:
            found = _writeback(value, function, lengths)
            if found is not None:
                groups.setdefault((found[1], found[0].type), []).append(found[0])
        for group in groups.values():
            for argument in group[:-1]:
                if argument is not group[-1]:
                    argument.replace_all_uses_with(group[-1])
