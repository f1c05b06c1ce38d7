"""`tt-populate-argument-types`: which arguments of functions are inputs, parameters and constants."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.dialects.attributes import EnumAttr
from ttnn.compiler.dialects.enums import ENUMS
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, DictionaryAttr, FuncOp
from ttnn.compiler.transforms.options import OptionError

__all__ = ["run"]

_NAME = "ttcore.argument_type"


def run(module: Module, options: dict[str, Any]) -> None:
    """Mark the arguments of the functions that the option names.

    Raises:
        OptionError: A word is no type of an argument.
        CompileError: A function does not exist or has another number of arguments.
    """
    functions = {one.sym_name.data: one for one in module.functions()}
    for part in filter(None, options["argument-types"].split(";")):
        name, _, text = part.partition("=")
        words = [word.strip() for word in text.split(",") if word.strip()]
        for word in words:
            if word not in ENUMS[_NAME]:
                raise OptionError(f"argument type {word!r} is none of {', '.join(ENUMS[_NAME])}.")
        function = functions.get(name)
        if function is None:
            message = f'Function: "{name}" was provided in the argument types map, however it was not found in module!'
            raise CompileError(module.at(module.op, message))
        _mark(module, function, words)


def _mark(module: Module, function: FuncOp, words: list[str]) -> None:
    count = len(function.function_type.inputs.data)
    if len(words) != count:
        message = (
            f'Did not provide the correct number of argument types for function: "{function.sym_name.data}". '
            f"Expected: {count} arguments, got: {len(words)} arguments"
        )
        raise CompileError(module.at(function, message))
    old = function.arg_attrs.data if function.arg_attrs is not None else [DictionaryAttr({})] * count
    marked = [
        DictionaryAttr({_NAME: EnumAttr(_NAME, word), **{k: v for k, v in entry.data.items() if k != _NAME}})
        for entry, word in zip(old, words, strict=True)
    ]
    function.properties["arg_attrs"] = ArrayAttr(marked)
