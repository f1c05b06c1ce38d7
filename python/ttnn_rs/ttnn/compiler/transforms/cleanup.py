"""The generic passes: canonicalize, cse, symbol-dce, remove-dead-values, inline."""

from __future__ import annotations

from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import LOCAL
from ttnn.compiler.ir.xdsl_adapter import Block, CallOp, FuncOp, Operation, StringAttr, SymbolRefAttr
from ttnn.compiler.transforms.base import erase, replace
from ttnn.compiler.transforms.inline_call import inline_call
from ttnn.compiler.transforms.rewriting import rewrite
from ttnn.compiler.transforms.traits import has, is_dead, is_pure
from ttnn.compiler.transforms.ttir.canonical.hoisting import hoist_constants
from ttnn.compiler.transforms.ttir.canonical.registry import CANONICAL, FOLDS
from ttnn.compiler.transforms.ttnn.canonical.registry import LIBRARY

__all__ = [
    "canonicalize",
    "cse",
    "erase_dead",
    "form_expressions",
    "inline",
    "remove_dead_values",
    "symbol_dce",
]


def erase_dead(owner: Operation) -> bool:
    """Erase unused operations without effect; return whether any existed."""
    changed = False
    for op in reversed(list(owner.walk())):
        if op is not owner and is_dead(op):
            erase(op)
            changed = True
    return changed


def canonicalize(module: Module) -> None:
    """Fold no-op operations, join chains, and erase unused ones."""
    hoist_constants(module)
    if rewrite(module, (*FOLDS, *CANONICAL, *LIBRARY)):
        hoist_constants(module)


def form_expressions(module: Module) -> None:
    """Leave C++ statements as they are.

    Expressions of several operations only read better.
    """
    del module


def cse(module: Module) -> None:
    """Merge equal operations without side effects."""
    for op in [module.op, *module.op.walk()]:
        for region in op.regions:
            for block in region.blocks:
                _cse_block(block)
    erase_dead(module.op)


def _key(op: Operation) -> tuple[object, ...]:
    return (
        op.name,
        tuple(id(value) for value in op.operands),
        tuple(LOCAL.attribute(result.type) for result in op.results),
        tuple(sorted((name, LOCAL.attribute(value)) for name, value in {**op.properties, **op.attributes}.items())),
    )


def _cse_block(block: Block) -> None:
    seen: dict[tuple[object, ...], Operation] = {}
    for op in list(block.ops):
        if not is_pure(op) or has(op, "memory") or op.name == "tensor.empty":
            continue
        key = _key(op)
        known = seen.get(key)
        if known is None:
            seen[key] = op
        else:
            replace(op, known.results)


def symbol_dce(module: Module) -> None:
    """Erase private functions that nobody names."""
    while True:
        named = {
            value.root_reference.data
            for op in module.op.walk()
            for value in (*op.properties.values(), *op.attributes.values())
            if isinstance(value, SymbolRefAttr)
        }
        dead = [
            function
            for function in module.functions()
            if getattr(function.properties.get("sym_visibility"), "data", "") == "private"
            and function.sym_name.data not in named
        ]
        if not dead:
            return
        for function in dead:
            erase(function)


def remove_dead_values(module: Module) -> None:
    """Erase operations without effect whose results are not used."""
    while erase_dead(module.op):
        pass


def inline(module: Module) -> None:
    """Replace calls by the bodies of their functions."""
    by_name: dict[str, FuncOp] = {function.sym_name.data: function for function in module.functions()}
    for call in [op for op in module.op.walk() if isinstance(op, CallOp)]:
        callee = call.properties.get("callee")
        function = by_name.get(callee.root_reference.data) if isinstance(callee, SymbolRefAttr) else None
        if function is None or len(function.regions[0].blocks) != 1:
            continue
        body = function.regions[0].blocks.first
        assert body is not None
        if call.parent_op() is function or any(isinstance(op, CallOp) for op in body.ops):
            continue
        inline_call(call, function)
    named = {
        value.root_reference.data
        for op in module.op.walk()
        if not isinstance(op, CallOp)
        for value in op.properties.values()
        if isinstance(value, SymbolRefAttr)
    }
    for name, function in by_name.items():
        private = function.properties.get("sym_visibility") == StringAttr("private")
        called = any(
            isinstance(op, CallOp) and getattr(op.properties.get("callee"), "string_value", str)() == name
            for op in module.op.walk()
        )
        if private and not called and name not in named and function.regions[0].blocks.first is not None:
            erase(function)
