"""The generic passes: canonicalize, cse, symbol-dce, remove-dead-values, inline."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.printing import LOCAL
from ttnn.compiler.asm.xdsl_adapter import Block, CallOp, FuncOp, Operation, StringAttr, SymbolRefAttr
from ttnn.compiler.passes.base import erase, insert_before, replace
from ttnn.compiler.passes.purity import is_pure

__all__ = [
    "canonicalize",
    "cse",
    "erase_dead",
    "form_expressions",
    "inline",
    "inline_call",
    "remove_dead_values",
    "symbol_dce",
]


def erase_dead(owner: Operation) -> bool:
    """Erase operations without effect whose results are not used; return whether there were any."""
    changed = False
    for op in reversed(list(owner.walk())):
        if op is not owner and is_pure(op) and not any(result.uses for result in op.results):
            erase(op)
            changed = True
    return changed


def canonicalize(module: Module, options: dict[str, Any]) -> None:
    """Fold operations that do nothing, join chains, and erase what is not used."""
    del options
    from ttnn.compiler.passes.canonical.hoisting import hoist_constants
    from ttnn.compiler.passes.canonical.registry import CANONICAL, FOLDS, LIBRARY
    from ttnn.compiler.passes.rewriting import rewrite

    hoist_constants(module)
    if rewrite(module, (*FOLDS, *CANONICAL, *LIBRARY)):
        hoist_constants(module)


def form_expressions(module: Module, options: dict[str, Any]) -> None:
    """Leave the statements of C++ as they are: expressions of several operations only read better."""
    del module, options


def cse(module: Module, options: dict[str, Any]) -> None:
    """Merge equal operations without side effects."""
    del options
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
        # Each `empty` is memory of its own.
        if not is_pure(op) or op.name in ("ttir.empty", "ttnn.empty", "tensor.empty"):
            continue
        key = _key(op)
        known = seen.get(key)
        if known is None:
            seen[key] = op
        else:
            replace(op, known.results)


def symbol_dce(module: Module, options: dict[str, Any]) -> None:
    """Erase private functions that nobody names."""
    del options
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


def remove_dead_values(module: Module, options: dict[str, Any]) -> None:
    """Erase operations without effect whose results are not used."""
    del options
    while erase_dead(module.op):
        pass


def inline_call(call: Operation, function: FuncOp) -> None:
    """Replace a call by the body of its one-block function."""
    body = function.regions[0].blocks.first
    assert body is not None
    values = dict(zip(body.args, call.operands, strict=True))
    results: tuple[Any, ...] = ()
    for op in body.ops:
        if op.name == "func.return":
            results = tuple(values.get(value, value) for value in op.operands)
        else:
            insert_before(call, op.clone(values))
    replace(call, results)


def inline(module: Module, options: dict[str, Any]) -> None:
    """Replace calls by the bodies of their functions."""
    del options
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
