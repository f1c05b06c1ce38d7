"""`ttnn-resolve-composites`: composite operations become their decompositions."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.xdsl_adapter import FuncOp, SymbolRefAttr
from ttnn.compiler.passes.base import erase, fail
from ttnn.compiler.passes.cleanup import inline_call
from ttnn.compiler.passes.options import OptionError

__all__ = ["run"]

_RESOLUTIONS: Final = ("auto", "inline", "validate", "promote")


def run(module: Module, options: dict[str, Any]) -> None:
    """Put the body of the decomposition in the place of every composite; decompositions that nobody names go.

    A composite stays one operation only where a model of a device finds that better; there is none here.

    Raises:
        OptionError: The option has another value than those of the official pass.
        CompileError: A decomposition does not exist.
    """
    word = options["composite-resolution"]
    if word not in _RESOLUTIONS:
        raise OptionError(f"option composite-resolution is one of {', '.join(_RESOLUTIONS)}, not {word!r}.")
    if word in ("validate", "promote"):
        message = f"composite-resolution={word} requires the optimizer; falling back to inline"
        module.warnings.append(module.at(module.op, message, severity="warning"))
    functions: dict[str, FuncOp] = {function.sym_name.data: function for function in module.functions()}
    used: set[FuncOp] = set()
    # Decompositions may hold composites themselves.
    rounds = 0
    while found := [op for op in module.op.walk() if op.name == "ttcore.composite"]:
        rounds += 1
        for op in found:
            name = op.properties["decomposition"]
            assert isinstance(name, SymbolRefAttr)
            function = functions.get(name.root_reference.data)
            if function is None or len(function.regions[0].blocks) != 1:
                raise fail(module, op, f"decomposition @{name.root_reference.data} is no function with a body")
            if op.parent_op() is function or rounds > len(functions):
                raise fail(module, op, "is part of its own decomposition")
            inline_call(op, function)
            used.add(function)
    for function in used:
        if getattr(function.properties.get("sym_visibility"), "data", "") == "private":
            erase(function)
