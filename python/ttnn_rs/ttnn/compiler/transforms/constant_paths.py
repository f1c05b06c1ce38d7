"""Values that depend only on parameters and constants of a function."""

from __future__ import annotations

from ttnn.compiler.dialects.attributes import EnumAttr
from ttnn.compiler.ir.xdsl_adapter import BlockArgument, DictionaryAttr, FuncOp, Operation, SSAValue

__all__ = ["ConstantPaths", "argument_type"]


def argument_type(argument: BlockArgument) -> str:
    """Return an argument's `ttcore.argument_type`; "" without.

    Input, parameter, constant or default.
    """
    owner = argument.block.parent_op()
    if not isinstance(owner, FuncOp) or owner.arg_attrs is None:
        return ""
    entry = owner.arg_attrs.data[argument.index]
    value = entry.data.get("ttcore.argument_type") if isinstance(entry, DictionaryAttr) else None
    return value.value if isinstance(value, EnumAttr) else ""


class ConstantPaths:
    """Test for values from parameters and constants only.

    They are among the arguments.

    Answers are kept: rewrites that keep values keep what they depend on.
    """

    def __init__(self) -> None:
        self._known: dict[SSAValue, tuple[bool, bool]] = {}

    def __call__(self, value: SSAValue) -> bool:
        """Return whether a value reaches such an argument, and no other one."""
        constant, other = self._reach(value)
        return constant and not other

    def _reach(self, value: SSAValue) -> tuple[bool, bool]:
        stack = [value]
        while stack:
            one = stack[-1]
            if one in self._known:
                stack.pop()
                continue
            if isinstance(one, BlockArgument):
                constant = argument_type(one) in ("parameter", "constant")
                self._known[stack.pop()] = (constant, not constant)
                continue
            owner = one.owner
            assert isinstance(owner, Operation)
            missing = [operand for operand in owner.operands if operand not in self._known]
            if missing:
                stack += missing
                continue
            found = [self._known[operand] for operand in owner.operands]
            self._known[stack.pop()] = (any(pair[0] for pair in found), any(pair[1] for pair in found))
        return self._known[value]
