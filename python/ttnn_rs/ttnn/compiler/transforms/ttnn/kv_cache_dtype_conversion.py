"""`ttnn-kv-cache-dtype-conversion`: caches of keys and values in block formats."""

from __future__ import annotations

import re
from typing import Any, Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    BlockArgument,
    DictionaryAttr,
    FuncOp,
    SSAValue,
)
from ttnn.compiler.transforms.base import set_type, table_ops, update_function_type
from ttnn.compiler.transforms.traits import has
from ttnn.compiler.transforms.ttnn.build import Build, change_operands
from ttnn.compiler.transforms.ttnn.const_eval_hoist import function_kind
from ttnn.compiler.transforms.ttnn.layout.types import element_word, retyped
from ttnn.compiler.transforms.ttnn.weight_dtype_conversion import block_format

__all__ = ["run"]

_NAME: Final = "ttcore.kv_cache"
# The kernel of this one converts its rows itself.
_CONVERTS: Final = "ttnn.paged_update_cache"


def _entries(function: FuncOp) -> list[DictionaryAttr]:
    count = len(function.function_type.inputs.data)
    return list(function.arg_attrs.data) if function.arg_attrs is not None else [DictionaryAttr({})] * count


def run(module: Module, options: dict[str, Any]) -> None:
    """Convert device cache arguments and written values to the format.

    Functions in which a cache is not an argument stay as they are.

    Raises:
        OptionError: The option names no block format.
    """
    dtype = block_format(options["target-dtype"])
    if dtype is None:
        return
    for function in module.functions():
        if function_kind(function) != "forward_device":
            continue
        writers = [op for op in table_ops(function, "ttnn.") if has(op, "writes cache")]
        if all(_is_cache(function, op.group("cache")[0]) for op in writers):
            _convert(module, function, writers, dtype)


def _is_cache(function: FuncOp, value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and _NAME in _entries(function)[value.index].data


def _convert(module: Module, function: FuncOp, writers: list[TableOp], dtype: str) -> None:
    body = function.regions[0].blocks.first
    assert body is not None
    entries = _entries(function)
    for argument in body.args:
        if _NAME in entries[argument.index].data:
            set_type(argument, retyped(argument.type, dtype=dtype))
            entries[argument.index] = _local(entries[argument.index], dtype)
    if function.arg_attrs is not None:
        function.properties["arg_attrs"] = ArrayAttr(entries)
    for op in writers:
        value = op.group("input")[0]
        if op.name != _CONVERTS and element_word(value.type) != dtype:
            change_operands(op, input=Build(module, op).value("typecast", [value], retyped(value.type, dtype=dtype)))
    update_function_type(function)


def _local(entry: DictionaryAttr, dtype: str) -> DictionaryAttr:
    """Return an argument's attributes, with the chip part's format too."""
    shape = entry.data.get("ttcore.local_shape")
    if shape is None:
        return entry
    text = attribute_text(shape)
    inner = text[text.index("<") :]
    changed = re.sub(r"x(?:bf16|f32|!ttcore\.tile<[^>]*>)(?=[,>])", f"x!ttcore.tile<32x32, {dtype}>", inner, count=1)
    new: Attribute = OpaqueDialectAttr("ttcore.local_shape", (changed,))
    return DictionaryAttr({**entry.data, "ttcore.local_shape": new})
