"""Model files as modules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import read_bytes, read_text
from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.importers.stablehlo import read as read_stablehlo
from ttnn.compiler.ir.module import Module
from ttnn.compiler.limits import FILE_BYTES
from ttnn.compiler.pipelines import run_steps
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.tools.translate import PRE_PIPELINE
from ttnn.compiler.versions import parse_module

__all__ = ["has_ttnn", "is_early", "load", "module_of", "text_of"]

_STABLEHLO: Final = re.compile(r"^[^/\n]*\b(stablehlo|vhlo|sdy|chlo)\.", re.MULTILINE)


def text_of(path: Path) -> str:
    """Return the text of a model.

    That of a binary is the text before its pipeline, if it keeps that stage, else the text of its lowered module.

    Raises:
        FileAccessError: The file cannot be read.
        FileFormatError: A binary is damaged, or has no text.
    """
    if path.suffix != ".ttnn":
        return read_text(path, where="tt-explorer", limit=FILE_BYTES)
    binary = Binary.parse(read_bytes(path, where="tt-explorer", limit=FILE_BYTES), path.name)
    programs = binary.values.get("programs") or [{}]
    debug = programs[0].get("debug_info") or {}
    stages = {stage.get("name"): stage.get("source") for stage in debug.get("mlir_stages") or []}
    mlir = binary.values.get("mlir") or debug.get("mlir") or {}
    text = stages.get(PRE_PIPELINE) or mlir.get("source")
    if not text:
        raise FileFormatError(
            f"{path.name}: the binary has no text of its module. Translate it with --pre-pipeline, or open the text."
        )
    return str(text)


def module_of(text: str, name: str) -> Module:
    """Return a module of text; StableHLO becomes `ttir`.

    Raises:
        CompileError: The text is wrong.
        UnsupportedError: StableHLO without its reader.
    """
    if not _STABLEHLO.search(text):
        return parse_module(text, name)
    module = read_stablehlo(text, name)
    run_steps(module, [("stablehlo-to-ttir-pipeline", "")])
    return module


def load(path: Path) -> Module:
    """Return the module of a model file.

    Raises:
        CompileError: The text is wrong.
        FileAccessError: The file cannot be read.
        FileFormatError: A binary is damaged, or has no text.
        UnsupportedError: StableHLO without its reader.
    """
    return module_of(text_of(path), path.name)


def has_ttnn(module: Module) -> bool:
    """Return whether a module is lowered already."""
    names = {op.name.partition(".")[0] for op in module.op.walk()}
    return "ttnn" in names and not names & {"ttir"}


def is_early(module: Module) -> bool:
    """Return whether a module is of 2024-09, which has other pipelines."""
    return DIALECT_TT.of(module.version)
