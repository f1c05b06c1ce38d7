"""Name and options of a pass, without importing the IR.

The import dominates the time of `--help`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn.compiler.transforms.options import Option
from ttnn.compiler.version import VERSIONS, Version

if TYPE_CHECKING:
    from ttnn.compiler.ir.module import Module

__all__ = ["PassSpec", "check_version"]


@dataclass(frozen=True)
class PassSpec:
    """A pass.

    Attributes:
        name: As it is written on the command line.
        doc: What it does, one line.
        options: Its options.
        versions: The versions of the modules to which it applies.
    """

    name: str
    doc: str
    options: tuple[Option, ...] = ()
    versions: tuple[Version, ...] = VERSIONS


def check_version(module: Module, what: str, known: tuple[Version, ...]) -> None:
    """Raise for a module version that a pass does not support.

    Or a pipeline.

    Args:
        module: The module.
        what: Kind and name of the pass or pipeline.
        known: The versions to which it applies.

    Raises:
        CompileError: The module is of another version.
    """
    if module.version in known:
        return
    from ttnn.compiler.ir.diagnostics import CompileError

    words = f"version{'s' if len(known) > 1 else ''} {' and '.join(known)}"
    message = f"{what} applies to modules of {words}, and this one is of version {module.version}"
    raise CompileError(module.whole(f"{message}; --emit-version converts modules"))
