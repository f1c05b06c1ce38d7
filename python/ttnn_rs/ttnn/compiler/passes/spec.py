"""What a pass is: its name and options, without the objects of modules, which are most of the time of `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from ttnn.compiler.passes.options import Option, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn.compiler.asm.module import Module

__all__ = ["PassSpec"]

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
    """

    name: str
    doc: str
    where: str
    options: tuple[Option, ...] = ()

    def run(self, module: Module, text: str = "") -> None:
        """Run the pass on a module.

        Raises:
            OptionError: An option is wrong.
            CompileError: The module cannot be transformed.
        """
        values = parse_options(f"pass {self.name}", self.options, text)
        name, _, function = self.where.partition(":")
        path = name if name.startswith("ttnn.") else f"ttnn.compiler.passes.{name}"
        run: Run = getattr(import_module(path), function)
        run(module, values)
