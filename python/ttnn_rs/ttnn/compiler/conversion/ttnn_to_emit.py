"""`convert-ttnn-to-emitpy` and `convert-ttnn-to-emitc`: source functions that make the calls of a binary."""

from __future__ import annotations

import re
from typing import Any

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.conversion.calls_to_emitc import emitc_module, reason_not_cpp
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.generic import is_kernel
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs_of_tables
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import program_tables
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import FuncOp
from ttnn.compiler.transforms.ttcore.device import unwrap

__all__ = ["programs_of_module", "to_emitc", "to_emitpy"]


def to_emitpy(module: Module, options: dict[str, Any]) -> None:
    """Replace the functions of a module by functions of Python.

    Raises:
        CompileError: A function has operations other than those of the library, or one that is not executed.
    """
    programs = programs_of_module(module)
    if options["target-module"] and sum(not program.private for program in programs) != 1:
        raise CompileError(module.at(module.op, "a target module has one public function"))
    files = None
    if options["load-input-tensors-from-disk"]:
        folder = options["tensor-load-directory"]
        files = f"{folder}/{options['tensor-load-file-prefix']}" if folder else options["tensor-load-file-prefix"]
    _become(module, emitpy_module(programs, module.version, target_module=options["target-module"], files=files))


def to_emitc(module: Module) -> None:
    """Replace the functions of a module by functions of C++.

    Raises:
        CompileError: A function has operations other than those of the library, or one that is not executed.
    """
    programs = programs_of_module(module)
    for function, program in zip(_functions(module), programs, strict=True):
        if reason := reason_not_cpp(program):
            raise CompileError(module.at(function, reason))
    _become(module, emitc_module(programs, module.version))


def _functions(module: Module) -> list[FuncOp]:
    return [one for one in module.functions() if one.body.blocks and not is_kernel(one)]


def _become(module: Module, made: Module) -> None:
    """Replace the operations of a module by those of another one."""
    unwrap(module)
    block = module.op.body.block
    for op in list(block.ops):
        op.detach()
        op.erase(safe_erase=False)
    module.op.attributes.clear()
    for op in list(made.op.body.block.ops):
        op.detach()
        block.add_op(op)


def programs_of_module(module: Module) -> list[Program]:
    """Return the calls of the functions of a module.

    Raises:
        CompileError: An operation is none of the library, or is not executed.
    """
    functions = _functions(module)
    for function in functions:
        for op in function.body.walk():
            if op.name.startswith(("ttir.", "emitpy.")):
                raise CompileError(module.error(op, "is not an operation of ttnn: run a pipeline to ttnn first"))
    try:
        tables = program_tables(module)
    except CompileError as error:
        raise _illegal(module, functions, error.diagnostics[0].message) from None
    try:
        return programs_of_tables(tables, module.version)
    except CompileError:
        raise
    except TtnnError as error:
        raise _not_executed(module, functions, error) from None


def _not_executed(module: Module, functions: list[FuncOp], error: TtnnError) -> CompileError:
    """Return the diagnostic of an operation that is not executed."""
    found = re.match(r"program (.+), operation (\d+) \(\w+\): (.*)", error.sentence, re.DOTALL)
    function = next((one for one in functions if found and one.sym_name.data == found.group(1)), None)
    if found is None or function is None or function.body.blocks.first is None:
        return CompileError(module.at(functions[0], f"cannot be written as source: {error}"))
    ops = [op for op in function.body.blocks.first.ops if op.name != "func.return"]
    op = ops[int(found.group(2))]
    return CompileError(module.at(op, f"failed to legalize operation '{op.name}': {found.group(3)}"))


def _illegal(module: Module, functions: list[FuncOp], message: str) -> CompileError:
    """Return the diagnostic of the operation that a message names first."""
    for function in functions:
        for op in function.body.walk():
            if message.startswith(f"'{op.name}' op"):
                reason = message.partition(" op ")[2]
                return CompileError(module.at(op, f"failed to legalize operation '{op.name}': it {reason}"))
    return CompileError(module.at(module.op, message))
