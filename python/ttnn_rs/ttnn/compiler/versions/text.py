"""Reading and writing modules with all dialects."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from ttnn.compiler.dialects.registry import REGISTRY
from ttnn.compiler.ir.diagnostics import CompileError, VersionError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.parser import parse_text
from ttnn.compiler.ir.verifier import verify
from ttnn.compiler.ir.writer import write_module
from ttnn.compiler.ir.xdsl_adapter import VerifyException
from ttnn.compiler.version import NEWEST, VERSIONS, Version
from ttnn.compiler.versions.detect import detect
from ttnn.compiler.versions.functional import Downgrade, to_functional

__all__ = ["parse_module", "print_module"]


def parse_module(
    text: str,
    filename: str = "-",
    *,
    allow_unregistered: bool = False,
    verify_module: bool = True,
    version: Version | None = None,
    default_version: Version = NEWEST,
    first_line: int = 0,
) -> Module:
    """Return the module of a text, in functional form.

    Args:
        text: MLIR text of any version.
        filename: Its name, for diagnostics and locations.
        allow_unregistered: Whether operations and attributes of unknown dialects are kept.
        verify_module: Whether the module is verified.
        version: Its version; detected if None.
        default_version: The version of a text that fits several.
        first_line: Lines before the text in the file.

    Raises:
        CompileError: The text is not a module, or the module is not valid; the diagnostic says where.
    """

    def read(version: Version) -> Module:
        return parse_text(
            text, REGISTRY, filename, allow_unregistered=allow_unregistered, version=version, first_line=first_line
        )

    module = read(version) if version is not None else _detected(read, default_version)
    to_functional(module)
    if verify_module:
        verify(module)
    return module


def _detected(read: Callable[[Version], Module], default: Version) -> Module:
    """Return a module in the version of its operations."""
    try:
        module = read(default)
    except VersionError:
        for version in [one for one in VERSIONS if one != default]:
            with suppress(CompileError):
                module = read(version)
                if detect(replace(module, version=default)) == version:
                    return module
        raise
    found = detect(module)
    return module if found == default else read(found)


def print_module(
    module: Module,
    *,
    version: Version | None = None,
    debuginfo: bool = False,
    local_scope: bool = False,
    generic: bool = False,
) -> str:
    """Return the text of a module.

    Args:
        module: The module.
        version: The version of the text; None is the one that was read.
        debuginfo: Whether locations are printed.
        local_scope: Whether attributes are printed where they are used, without aliases.
        generic: Whether all operations are printed in generic form.

    Raises:
        CompileError: An operation does not exist in the version that was asked for.
    """
    if version is not None and version != module.version:
        from ttnn.compiler.versions.convert import convert

        module = convert(module, version)
    try:
        return write_module(
            module.op,
            REGISTRY,
            Downgrade(module.version),
            version=module.version,
            resources=module.resources,
            debuginfo=debuginfo,
            local_scope=local_scope,
            generic=generic,
        )
    except VerifyException as error:
        raise CompileError(module.at(module.op, str(error))) from None
