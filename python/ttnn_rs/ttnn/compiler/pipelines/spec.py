"""Name and options of a pass, without importing the IR, which dominates the time of `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ttnn.compiler.transforms.options import Option

if TYPE_CHECKING:
    from ttnn.compiler.ir.module import Module

__all__ = ["BOOK", "CURRENT", "EVERY", "LATER", "SLIDES", "PassSpec", "check_epoch"]

BOOK: Final = ("book",)
SLIDES: Final = ("slides",)
CURRENT: Final = ("current",)
LATER: Final = (*SLIDES, *CURRENT)
EVERY: Final = (*BOOK, *LATER)


@dataclass(frozen=True)
class PassSpec:
    """A pass.

    Attributes:
        name: As it is written on the command line.
        doc: What it does, one line.
        options: Its options.
        epochs: The epochs of the modules to which it applies.
    """

    name: str
    doc: str
    options: tuple[Option, ...] = ()
    epochs: tuple[str, ...] = LATER


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
    from ttnn.compiler.ir.diagnostics import CompileError

    known = f"epoch{'s' if len(epochs) > 1 else ''} {' and '.join(epochs)}"
    message = f"{what} applies to modules of the {known}, and this one is of the epoch {module.epoch.value}"
    raise CompileError(module.whole(f"{message}; --emit-epoch converts modules"))
