"""The engine's programs while a graph is captured: every function that runs one is replaced by one that tells of it.

Operators call the engine as functions of the module `ttnn._engine`, and pipelines as objects that it makes. While
nobody captures, the module is as it was, so that calls pay nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from ttnn import _engine
from ttnn.operation.registry import entries
from ttnn.ops._programs.pipeline import Pipeline

_PIPELINE: Final = "Pipeline"
_ALWAYS: Final = frozenset({"copy_pages", "fill", "move_elements", "unary", "write_window"})
"""Functions that operators call beside those that their entries name."""


class EngineCalls:
    """Replaces the functions of the engine.

    Args:
        before: Called before a program runs, with the name of the function.
        skip: Whether the program is not to run.
    """

    def __init__(self, before: Callable[[str], None], skip: Callable[[], bool]) -> None:
        self.before, self.skip = before, skip
        self.originals: dict[str, Any] = {}

    def install(self) -> None:
        """Replace the functions."""
        names = _ALWAYS.union(*(entry.engine for entry in entries())) - {_PIPELINE}
        for name in sorted(names):
            self.originals[name] = getattr(_engine, name)
            setattr(_engine, name, self._telling(name, self.originals[name]))
        self.run = Pipeline.run
        Pipeline.run = self._telling(_PIPELINE, Pipeline.run)  # type: ignore[method-assign]

    def remove(self) -> None:
        """Put the functions back."""
        for name, original in self.originals.items():
            setattr(_engine, name, original)
        Pipeline.run = self.run  # type: ignore[method-assign]
        self.originals.clear()

    def _telling(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        thread = threading.get_ident()

        def told(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != thread:
                return original(*args, **kwargs)
            self.before(name)
            return None if self.skip() else original(*args, **kwargs)

        return told
