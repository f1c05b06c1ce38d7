"""Name and options of a pass, without importing the IR, which dominates the time of `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ttnn.compiler.passes.options import Option, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn.compiler.asm.module import Module

__all__ = ["BOOK", "CURRENT", "EVERY", "LATER", "SLIDES", "PassSpec", "check_epoch"]

BOOK: Final = ("book",)
SLIDES: Final = ("slides",)
CURRENT: Final = ("current",)
LATER: Final = (*SLIDES, *CURRENT)
EVERY: Final = (*BOOK, *LATER)

Run: TypeAlias = "Callable[[Module, dict[str, Any]], None]"


@dataclass(frozen=True)
class PassSpec:
    """A pass.

    Attributes:
        name: As it is written on the command line.
        doc: What it does, one line.
        where: `module:function` below `ttnn.compiler.passes`; a full name for a pass that needs what lies above the
            passes. Nothing is imported before it runs.
        options: Its options.
        epochs: The epochs of the modules to which it applies.
    """

    name: str
    doc: str
    where: str
    options: tuple[Option, ...] = ()
    epochs: tuple[str, ...] = LATER

    def run(self, module: Module, text: str = "") -> None:
        """Run the pass on a module.

        Raises:
            OptionError: An option is wrong.
            CompileError: The module cannot be transformed, or is of an epoch to which the pass does not apply.
        """
        check_epoch(module, f"pass {self.name!r}", self.epochs)
        values = parse_options(f"pass {self.name}", self.options, text)
        name, _, function = self.where.partition(":")
        path = name if name.startswith("ttnn.") else f"ttnn.compiler.passes.{name}"
        run: Run = getattr(import_module(path), function)
        run(module, values)


def check_epoch(module: Module, what: str, epochs: tuple[str, ...]) -> None:
    """Raise for a module of an epoch to which a pass or pipeline does not apply.

    Args:
        module: The module.
        what: Kind and name of the pass or pipeline.
        epochs: The epochs to which it applies.

    Raises:
        CompileError: The module is of another epoch.
    """
    if module.epoch.value in epochs:
        return
    from ttnn.compiler.asm.diagnostics import CompileError

    known = f"epoch{'s' if len(epochs) > 1 else ''} {' and '.join(epochs)}"
    message = f"{what} applies to modules of the {known}, and this one is of the epoch {module.epoch.value}"
    raise CompileError(module.whole(f"{message}; --emit-epoch converts modules"))
