"""`--ttnn-to-flatbuffer`: binaries from modules of the dialect `ttnn`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.compiler.conversion.calls_to_emitc import emitc_module
from ttnn.compiler.conversion.ttnn_to_calls.generic import is_kernel
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs_of_tables
from ttnn.compiler.conversion.ttnn_to_flatbuffer.tables import Program
from ttnn.compiler.conversion.ttnn_to_flatbuffer.tt_tables import TtProgram
from ttnn.compiler.dialects.attributes import SystemDescAttr
from ttnn.compiler.dialects.registry import REGISTRY
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import from_attribute
from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import AttributeText
from ttnn.compiler.ir.values import ValueNames
from ttnn.compiler.ir.writer import Writer
from ttnn.compiler.ir.xdsl_adapter import Operation
from ttnn.compiler.target.cpp.emitc import emitc_functions
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.flatbuffer.schema import Schema
from ttnn.compiler.target.flatbuffer.system_desc import to_table, version_table
from ttnn.compiler.versions import print_module
from ttnn.compiler.versions.functional import Downgrade

__all__ = ["OperationText", "binary_bytes", "program_tables", "system_of", "ttnn_to_binary"]

_OPERATION = re.compile(r"\.programs\[(\d+)\]\.operations\[(\d+)\]")


class OperationText:
    """Text of single operations, with their module's names."""

    def __init__(self, module: Module) -> None:
        self._expansion = Downgrade(module.version)
        self._names = ValueNames(module.op, self._expansion)

    def __call__(self, op: Operation) -> str:
        """Return the text of an operation, attributes in place."""
        writer = Writer(REGISTRY, self._names, AttributeText(), self._expansion)
        writer.operation(op)
        return "".join(writer.out).strip()


def system_of(module: Module) -> SystemDesc:
    """Return the system descriptor on a module, or the default one.

    Raises:
        CompileError: It contradicts itself.
    """
    modules = [op for op in module.op.walk() if op.name == "builtin.module"]
    for name in ("tt.system_desc", "ttcore.system_desc"):
        attribute = next((op.attributes[name] for op in modules if name in op.attributes), None)
        if isinstance(attribute, SystemDescAttr):
            try:
                return from_attribute(attribute)
            except (ValueError, RuntimeError) as error:
                raise CompileError(module.at(module.op, str(error))) from None
    return SystemDesc.default()


def program_tables(module: Module) -> list[dict[str, Any]]:
    """Return the tables `Program` of a module's functions with bodies.

    Raises:
        CompileError: An operation or a tensor has no binary form.
    """
    text = OperationText(module)
    functions = [function for function in module.functions() if function.body.blocks and not is_kernel(function)]
    made = TtProgram(module) if DIALECT_TT.of(module.version) else Program(module, module.version, functions)
    return [made.program(function, text) for function in functions]


def ttnn_to_binary(module: Module, version: str, stages: Mapping[str, str] | None = None) -> Binary:
    """Return the binary of a `ttnn` module, one program per function.

    Args:
        module: The lowered module.
        version: Version of the package, "major.minor.patch".
        stages: Text of the module at earlier stages, by their names, as debug information. 2024-09 has no such fields.

    Raises:
        CompileError: An operation or a tensor has no binary form.
    """
    tables = program_tables(module)
    values: dict[str, Any] = {
        "version": version_table(version),
        "ttmlir_git_hash": version,
        "system_desc": to_table(system_of(module), module.version),
    }
    if DIALECT_TT.of(module.version):
        debug = _debug_info(module, tables)
        tables = [table | {"debug_info": debug} for table in tables]
    else:
        if stages:
            debug = {"mlir_stages": [{"name": name, "source": text} for name, text in stages.items()]}
            tables = [table | {"debug_info": debug} for table in tables]
        values["schema_hash"] = Schema.load(module.version).digest
        values["mlir"] = {"name": "ttnn", "source": print_module(module)}
    return Binary("TTNN", module.version, values | {"programs": tables})


def binary_bytes(module: Module, binary: Binary) -> bytes:
    """Return the bytes of the binary that was made of a module.

    Raises:
        CompileError: A value does not fit the binary's field for it.
    """
    try:
        return binary.to_bytes()
    except FileFormatError as error:
        found = _OPERATION.search(error.sentence)
        table = binary.values["programs"][int(found[1])]["operations"][int(found[2])] if found else {}
        text = OperationText(module)
        made = (op for op in module.op.walk() if not op.regions and text(op) == table.get("debug_info"))
        operation = next(made, None) if found else None
        if operation is None:
            raise CompileError(module.whole(error.sentence)) from None
        raise CompileError(module.error(operation, f"has no binary form: {error.sentence}")) from None


def _debug_info(module: Module, tables: list[dict[str, Any]]) -> dict[str, Any]:
    """The table `DebugInfo` of 2024-09.

    The module's text, and its C++ if its programs have one.
    """
    info: dict[str, Any] = {"mlir": {"name": "ttnn", "source": print_module(module)}}
    with contextlib.suppress(UnsupportedError):
        info["cpp"] = emitc_functions(emitc_module(programs_of_tables(tables, "2024-09")))
    return info
