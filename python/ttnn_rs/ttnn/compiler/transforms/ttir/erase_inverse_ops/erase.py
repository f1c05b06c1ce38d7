"""`ttir-erase-inverse-ops`: permutations and reshapes meet and join or cancel.

They are moved until they meet others.
"""

from __future__ import annotations

from typing import Any

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DialectAttr
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import FuncOp, SSAValue
from ttnn.compiler.transforms.constant_paths import ConstantPaths
from ttnn.compiler.transforms.rewriting import pattern, rewrite
from ttnn.compiler.transforms.ttir.canonical.registry import FOLDS
from ttnn.compiler.transforms.ttir.erase_inverse_ops.downwards import downwards
from ttnn.compiler.transforms.ttir.erase_inverse_ops.upwards import BROADCASTS, UPWARDS
from ttnn.compiler.transforms.ttir.moves import MOVES, made_by, move

__all__ = ["run"]


def run(module: Module, options: dict[str, Any]) -> None:
    """Move permutations and reshapes up, then down, until their number stays.

    Raises:
        CompileError: It does not stay within the iterations of the options.
    """
    for function in module.functions():
        if function.regions[0].blocks.first is not None and (options["force"] or _flattened(function)):
            _run(module, function, options)


def _flattened(function: FuncOp) -> bool:
    return any(
        isinstance(value, DialectAttr) and value.full_name() == "ttir.flattened_compat_info"
        for op in function.walk()
        for value in (*op.properties.values(), *op.attributes.values())
    )


def _run(module: Module, function: FuncOp, options: dict[str, Any]) -> None:
    constant = ConstantPaths()
    common = [*FOLDS, pattern(_permute_reshape_permute, "permute")]
    up = [*common, UPWARDS] if options["enable-commute-upwards"] else []
    down = [*common, BROADCASTS, downwards(constant)] if options["enable-commute-downwards"] else []

    def count() -> int:
        return sum(1 for op in function.walk() if op.name in MOVES and not constant(op.results[0]))

    before = (-1, -1)
    for _ in range(options["max-iterations"]):
        rewrite(module, up, within=function, backwards=True)
        above = count()
        rewrite(module, down, within=function, backwards=True)
        now = (above, count())
        if now == before:
            if now[0] < now[1]:
                rewrite(module, up, within=function, backwards=True)
            return
        before = now
    message = f"EraseInverseOps: TM count has not converged after {options['max-iterations']} iterations."
    raise CompileError(module.at(function, message))


def _groups(before: tuple[int, ...], after: tuple[int, ...], names: tuple[int, ...]) -> list[list[int]] | None:
    """Return joined dimension names after a reshape; None if split.

    For each dimension of the result.
    """
    groups: list[list[int]] = []
    at = 0
    for size in after:
        if at < len(before) and before[at] == size:
            groups.append([names[at]])
            at += 1
            continue
        group, product = [], 1
        while size > 1 and at < len(before) and size % (product * before[at]) == 0:
            group.append(names[at])
            product *= before[at]
            at += 1
        if product != size:
            return None
        groups.append(group)
    return groups if at == len(before) else None


def _permute_reshape_permute(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return a reshape for order-preserving permute, reshape, permute."""
    reshaped = made_by(op.inputs[0], "ttir.reshape")
    first = made_by(reshaped.inputs[0], "ttir.permute") if reshaped is not None else None
    if reshaped is None or first is None or op.n_outs:
        return None
    before, after = shape_of(reshaped.inputs[0]), shape_of(reshaped.results[0])
    if len(before) != len(after):
        return None
    groups = _groups(before, after, first.get("permutation"))
    if groups is None:
        return None
    if [name for i in op.get("permutation") for name in groups[i]] != list(range(len(before))):
        return None
    return [move(module, op, "reshape", first.inputs[0], shape_of(op.results[0]))]
