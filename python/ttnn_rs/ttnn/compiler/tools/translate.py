"""`ttmlir-translate`, after its arguments are parsed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.tools.output import UNEXPECTED, read, write
from ttnn.compiler.tools.version import package_version
from ttnn.compiler.version import NEWEST, Version
from ttnn.compiler.versions import parse_module

__all__ = ["PRE_PIPELINE", "run", "translate", "ttnn_bytes"]


PRE_PIPELINE: Final = "PRE-PIPELINE"
"""Name of the stage before the pipeline to `ttnn`."""


def ttnn_bytes(module: Module, source: str | None = None) -> bytes:
    """Return the TTNN binary of a lowered module.

    Args:
        module: The module.
        source: Its text before it was lowered, which the binary keeps as a stage.

    Raises:
        CompileError: An operation or a tensor has no binary form.
    """
    from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import binary_bytes, ttnn_to_binary

    stages = None if source is None else {PRE_PIPELINE: source}
    return binary_bytes(module, ttnn_to_binary(module, package_version(), stages))


def _metal(module: Module) -> bytes:
    from ttnn.compiler.conversion.ttmetal_to_flatbuffer import metal_to_binary
    from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import binary_bytes

    return binary_bytes(module, metal_to_binary(module, package_version()))


def _kernels(module: Module) -> str:
    from ttnn.compiler.conversion.ttkernel_to_emitc import run
    from ttnn.compiler.target.cpp.emitc import emitc_kernels

    run(module)
    return emitc_kernels(module)


def _python(module: Module) -> str:
    from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
    from ttnn.compiler.conversion.ttnn_to_emit import programs_of_module
    from ttnn.compiler.target.python.emitpy import emitpy_source, has_emitpy

    return emitpy_source(module if has_emitpy(module) else emitpy_module(programs_of_module(module)))


def _cpp(module: Module) -> str:
    from ttnn.compiler.conversion.calls_to_emitc import emitc_module
    from ttnn.compiler.conversion.ttnn_to_emit import programs_of_module
    from ttnn.compiler.target.cpp.emitc import emitc_functions, has_emitc_functions

    return emitc_functions(module if has_emitc_functions(module) else emitc_module(programs_of_module(module)))


_TRANSLATIONS: Final[dict[str, Callable[[Module], bytes | str]]] = {
    "ttnn-to-flatbuffer": ttnn_bytes,
    "ttmetal-to-flatbuffer": _metal,
    "ttkernel-to-cpp": _kernels,
    "mlir-to-cpp": _cpp,
    "mlir-to-python": _python,
}


def translate(
    translation: str,
    text: str,
    filename: str = "-",
    *,
    allow_unregistered: bool = False,
    default_version: Version = NEWEST,
    source: str | None = None,
) -> bytes | str:
    """Return a module of MLIR text as a binary or as source.

    Args:
        translation: Name of the option without dashes, such as "ttnn-to-flatbuffer".
        text: The module.
        filename: Its name, for diagnostics.
        allow_unregistered: Keep operations and attributes of unknown dialects.
        default_version: Version of text that does not show its own.
        source: Text before the pipeline to `ttnn`, which a TTNN binary keeps as a stage.

    Raises:
        CompileError: The text is no valid module, or has no such form.
    """
    module = parse_module(text, filename, allow_unregistered=allow_unregistered, default_version=default_version)
    if source is not None:
        return ttnn_bytes(module, source)
    return _TRANSLATIONS[translation](module)


def run(
    translation: str,
    file: str,
    output: str,
    *,
    allow_unregistered: bool = False,
    default_version: Version = NEWEST,
    stage: str = "",
) -> int:
    """Translate a file; return the exit code.

    `stage` names the file whose text a TTNN binary keeps as the stage before the pipeline.
    """
    name = "<stdin>" if file == "-" else file
    text = read("ttmlir-translate", file)
    source = read("ttmlir-translate", stage) if stage else None
    if text is None or (stage and source is None):
        return 1
    try:
        made = translate(
            translation,
            text,
            name,
            allow_unregistered=allow_unregistered,
            default_version=default_version,
            source=source,
        )
    except CompileError as error:
        sys.stderr.write("".join(f"{diagnostic}\n" for diagnostic in error.diagnostics))
        return 1
    except TtnnError as error:
        sys.stderr.write(f"ttmlir-translate: error: {error}\n")
        return 1
    except UNEXPECTED as error:
        sys.stderr.write(f"{name}: error: {translation} failed on this module ({type(error).__name__}: {error})\n")
        return 1
    return write("ttmlir-translate", output, made if isinstance(made, bytes) else made.encode())
