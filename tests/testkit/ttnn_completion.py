"""Completion of library programs that cannot run by themselves."""

from __future__ import annotations

from typing import Any

from testkit.ttir_attention import IN_PLACE
from ttnn.compiler.dialects.attributes import TTNNLayoutAttr
from ttnn.compiler.dialects.device_attributes import TtnnDeviceType
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, FuncOp
from ttnn.compiler.transforms.base import erase, update_function_type
from ttnn.compiler.transforms.ttcore.device import device_value
from ttnn.compiler.transforms.ttnn.build import Build

#: Operations without result that change an operand, and which one.
_CHANGED = {**{f"ttnn.{name}": 0 for name in IN_PLACE}, "ttnn.copy": 1, "ttnn.write_tensor": 1}


def complete(module: Module) -> None:
    """Make functions open their device; return their changed arguments."""
    for function in module.functions():
        if function.body.blocks:
            _own_device(module, function)
            _returning(function)


def _own_device(module: Module, function: FuncOp) -> None:
    block = function.body.blocks[0]
    for argument in [one for one in block.args if isinstance(one.type, TtnnDeviceType)]:
        first: Any = block.first_op
        argument.replace_all_uses_with(device_value(module, first))
        if function.arg_attrs is not None:
            kept = [one for index, one in enumerate(function.arg_attrs.data) if index != argument.index]
            function.properties["arg_attrs"] = ArrayAttr(kept)
        block.erase_arg(argument)
        update_function_type(function)


def _returning(function: FuncOp) -> None:
    block = function.body.blocks[0]
    end: Any = block.last_op
    if end.operands or function.sym_visibility is not None:
        return
    changed = [op.operands[_CHANGED[op.name]] for op in block.ops if op.name in _CHANGED]
    end.operands = [argument for argument in block.args if argument in changed]
    update_function_type(function)


def emptied(module: Module) -> None:
    """Replace programs by functions that return ones."""
    for function in module.functions():
        end: Any = function.body.blocks[0].last_op if function.body.blocks else None
        if end is None or not all(
            isinstance(getattr(one.type, "encoding", None), TTNNLayoutAttr) for one in end.operands
        ):
            continue
        build = Build(module, end)
        end.operands = [build.filled("ones", one.type) for one in end.operands]
        made = {build.device.owner, *(one.owner for one in end.operands), end}
        for op in reversed(list(function.body.blocks[0].ops)):
            if op not in made:
                erase(op)
