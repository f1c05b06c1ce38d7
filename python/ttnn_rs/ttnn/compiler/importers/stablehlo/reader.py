"""Reading StableHLO: short and generic text, bytecode, portable artifacts, modules of jaxlib.

All of them become generic text, which the reader of this package parses: the importer sees one form.
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any, Final

from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.compiler.ir.diagnostics import CompileError, Diagnostic
from ttnn.compiler.ir.module import Module
from ttnn.compiler.limits import DEPTH, shortened
from ttnn.compiler.version import NEWEST
from ttnn.compiler.versions import parse_module

__all__ = ["Library", "has_jaxlib", "read"]

_BYTECODE: Final = b"ML\xefR"
_SHORT: Final = 'this file is in StableHLO\'s short syntax; pip install "ttnn-rs[jax]"'
_PLACE: Final = re.compile(r'error: "[^"]*":(\d+):(\d+): (.*)')
_INTERFACE: Final = re.compile(r"(?:stablehlo|chlo|vhlo|sdy)\.\w+(?: |$)")


def has_jaxlib() -> bool:
    """Return whether jaxlib is installed; it is not imported."""
    return importlib.util.find_spec("jaxlib") is not None


class Library:
    """The MLIR bindings of jaxlib, imported at the first use."""

    def __init__(self) -> None:
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, sdy, stablehlo

        self.ir = ir
        self.stablehlo = stablehlo
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        self.context = ir.Context()
        self.context.append_dialect_registry(registry)
        for dialect in (stablehlo, chlo, sdy):
            dialect.register_dialect(self.context)
        self.context.load_all_available_dialects()
        self.context.allow_unregistered_dialects = True

    def parse(self, source: str | bytes, name: str = "-", first_line: int = 0) -> Any:
        """Return the jaxlib module of a text, bytecode or artifact.

        Raises:
            CompileError: The text is wrong; the diagnostic says where.
            FileFormatError: The bytes are damaged, or of a version that jaxlib does not read.
        """
        try:
            with self.context:
                if isinstance(source, bytes) and b"StableHLO_v" in source[:64]:
                    return self.stablehlo.deserialize_portable_artifact(self.context, source)
                return self.ir.Module.parse(source, self.context)
        except (self.ir.MLIRError, ValueError) as error:
            if isinstance(source, bytes):
                raise FileFormatError(f"{name}: not readable as StableHLO: {shortened(str(error))}") from None
            raise CompileError(_diagnostic(str(error), source, name, first_line)) from None

    def generic_text(self, module: Any) -> str:
        """Return a jaxlib module in generic text, with locations."""
        text: str = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
        return text


def _diagnostic(message: str, text: str, name: str, first_line: int) -> Diagnostic:
    found = _PLACE.search(message)
    if found is None:
        return Diagnostic("error", shortened(message), name, 1 + first_line, 1)
    line = int(found[1])
    lines = text.splitlines()
    shown = lines[line - 1] if line <= len(lines) else ""
    return Diagnostic("error", found[3].strip(), name, line + first_line, int(found[2]), shown)


def _depth(text: str) -> int:
    """Return how deeply brackets nest, roughly: arrows and strings are counted out."""
    depth = most = 0
    for char in re.sub(r'"(?:[^"\\]|\\.)*"|//.*|->|[^(){}\[\]<>]+', "", text):
        depth += 1 if char in "({[<" else -1
        most = max(most, depth)
    return most


def read(source: Any, name: str = "-", *, first_line: int = 0) -> Module:
    """Return a StableHLO program, each operation in generic form.

    Args:
        source: Text, bytes of bytecode or of a portable artifact, or a module of jaxlib.
        name: What to call it in messages.
        first_line: Lines before the text in its file.

    Raises:
        CompileError: The text is wrong.
        FileFormatError: The bytes are no program.
        UnsupportedError: The form needs jaxlib, which is missing.
    """
    if isinstance(source, (bytes, bytearray)) and not bytes(source).startswith(_BYTECODE):
        try:
            source = bytes(source).decode()
        except UnicodeDecodeError:
            raise FileFormatError(f"{name}: neither MLIR text nor MLIR bytecode.") from None
    if not has_jaxlib():
        if not isinstance(source, str):
            raise UnsupportedError(f'{name} is MLIR bytecode; pip install "ttnn-rs[jax]"')
        if _INTERFACE.search(re.sub(r'"(?:[^"\\]|\\.)*"|//.*', "", source)):
            raise UnsupportedError(f"{name}: {_SHORT}")
        return _parsed(source, name, first_line)
    library = Library()
    if isinstance(source, (str, bytes, bytearray)):
        if isinstance(source, str) and _depth(source) > DEPTH:
            raise CompileError(Diagnostic("error", "nested too deeply", name, 1 + first_line, 1))
        module = library.parse(bytes(source) if isinstance(source, bytearray) else source, name, first_line)
    else:
        module = source
    return _parsed(library.generic_text(module), name, 0)


def _parsed(text: str, name: str, first_line: int) -> Module:
    return parse_module(text, name, allow_unregistered=True, verify_module=False, version=NEWEST, first_line=first_line)
