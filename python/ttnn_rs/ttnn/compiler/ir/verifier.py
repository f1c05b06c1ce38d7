"""Verification of a module.

Every value is defined before its uses, and every operation by its own rules.
"""

from __future__ import annotations

from ttnn.compiler.ir.diagnostics import CompileError, Diagnostic
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.operations import GenericOp
from ttnn.compiler.ir.scopes import Scope
from ttnn.compiler.ir.xdsl_adapter import (
    Block,
    BlockArgument,
    FuncOp,
    FunctionType,
    Operation,
    OpResult,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
    VerifyException,
)

__all__ = ["WholeMessage", "verify", "verify_module"]

_TABLES = frozenset({"builtin.module"})
_ISOLATED = ("func.func", "builtin.module")


class WholeMessage(VerifyException):
    """An operation's error whose message does not start with its name."""


def verify_module(module: Module) -> list[Diagnostic]:
    """Return what is wrong with a module; empty if nothing is."""
    found: list[Diagnostic] = []
    _verify_region_owner(module, module.op, Scope(), found)
    return found


def verify(module: Module) -> None:
    """Verify a module.

    Raises:
        CompileError: Something is wrong; the first finding in each function.
    """
    found = verify_module(module)
    if found:
        raise CompileError(*found)


def _verify_region_owner(module: Module, op: Operation, visible: Scope, found: list[Diagnostic]) -> None:
    symbols: set[str] = set()
    for region in op.regions:
        blocks = list(region.blocks)
        scope = visible if op.name not in _ISOLATED else Scope()
        outside = len(scope)
        if len(blocks) > 1:
            # Dominance between blocks is that of a graph; what is defined in any earlier block counts here.
            for block in blocks:
                scope.update(block.args)
                for inner in block.ops:
                    scope.update(inner.results)
        before = len(found)
        for block in blocks:
            _verify_block(module, block, region, scope, symbols, found)
            if len(found) > before:
                return
        scope.forget(outside)


def _verify_block(
    module: Module, block: Block, region: Region, scope: Scope, symbols: set[str], found: list[Diagnostic]
) -> None:
    scope.update(block.args)
    for op in block.ops:
        early = next((i for i, one in enumerate(op.operands) if one not in scope and not _outside(one, region)), None)
        if op.regions:
            before = len(found)
            _verify_region_owner(module, op, scope, found)
            if len(found) > before:
                if op.name in _ISOLATED:
                    continue
                return
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr):
            if name.data in symbols:
                found.append(module.at(op, f"redefinition of symbol named '{name.data}'"))
                return
            symbols.add(name.data)
        try:
            _own_rules(op)
        except VerifyException as error:
            message = str(error).splitlines()[0] if str(error) else "is not valid"
            found.append(module.at(op, message) if isinstance(error, WholeMessage) else module.error(op, message))
            return
        # As in MLIR, an operation is looked at by itself first.
        if early is not None:
            found.append(module.error(op, f"operand #{early} does not dominate this use"))
            return
        scope.update(op.results)


def _outside(value: SSAValue, region: Region) -> bool:
    """Return whether a value is outside the verified text.

    Parsed text has no such value.
    """
    del region
    return not isinstance(value, (OpResult, BlockArgument))


def _own_rules(op: Operation) -> None:
    if isinstance(op, FuncOp):
        _function(op)
    elif isinstance(op, ReturnOp):
        _return(op)
    elif not isinstance(op, GenericOp) and op.name not in _TABLES:
        op.verify_()


def _function(op: FuncOp) -> None:
    kind = op.properties.get("function_type")
    if not isinstance(kind, FunctionType):
        raise VerifyException("requires attribute 'function_type' of a function type")
    body = op.regions[0].blocks.first if op.regions else None
    if body is None:
        return
    types = tuple(argument.type for argument in body.args)
    if types != tuple(kind.inputs.data):
        raise VerifyException("type of entry block arguments must match the function type")
    last = body.last_op
    if last is None or (
        len(op.regions[0].blocks) == 1 and isinstance(last, ReturnOp) is False and _ends(last) is False
    ):
        raise VerifyException("expects its body to end with a terminator")


def _ends(op: Operation) -> bool:
    from ttnn.compiler.ir.xdsl_adapter import IsTerminator

    return bool(op.has_trait(IsTerminator)) or op.name.split(".")[-1] in ("return", "yield", "unreachable")


def _return(op: ReturnOp) -> None:
    parent = op.parent_op()
    if not isinstance(parent, FuncOp):
        raise VerifyException("expects parent op 'func.func'")
    expected = tuple(parent.function_type.outputs.data)
    got = tuple(operand.type for operand in op.operands)
    if len(expected) != len(got):
        raise VerifyException(
            f"has {len(got)} operands, but enclosing function (@{parent.sym_name.data}) returns {len(expected)}"
        )
    if expected != got:
        from ttnn.compiler.ir.printing import attribute_text

        i = next(i for i, pair in enumerate(zip(expected, got, strict=True)) if pair[0] != pair[1])
        raise VerifyException(
            f"type of return operand {i} ('{attribute_text(got[i])}') doesn't match function result type "
            f"('{attribute_text(expected[i])}') in function @{parent.sym_name.data}"
        )
