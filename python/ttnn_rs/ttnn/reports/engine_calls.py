"""The engine's programs while a graph is captured: every function that runs one is replaced by one that tells of it.

Operators call the engine as functions of `ttnn.runtime.engine_steps`, and pipelines as objects. Without a capture both
are the engine's own, so that calls pay nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from ttnn.operation.observation import note
from ttnn.operation.registry import entries
from ttnn.ops._programs.pipeline import Pipeline
from ttnn.runtime import engine_steps

Told = Callable[[str, dict[str, Any]], None]
"""Function of the engine function's name and its keyword arguments, called before it runs."""

_PIPELINE: Final = "Pipeline"
_ALWAYS: Final = frozenset({"copy_pages", "fill", "move_elements", "unary", "write_window"})
"""Functions that operators call in addition to those of their entries."""
NAMES: Final = {
    "attention_decode": "attention",
    "attention_prefill": "attention",
    "copy_pages": "copy",
    "dropout": "experimental.dropout",
    "embedding_backward": "embedding_bw",
    "gather_elements": "gather",
    "gather_rows": "gather",
    "is_in": "isin",
    "matmul_fast": "matmul",
    "move_elements": "move",
    "normal": "randn",
    "pool_sticks": "pool",
    "replace_tile_rows": "tile rows",
    "scatter_elements": "scatter",
    "write_window": "copy",
}
"""The engine's own names of functions, where they are others than those of the module."""


class EngineCalls:
    """Replaces the functions of the engine.

    Args:
        before: Called before a program runs.
        skip: Whether the program is not to run.
    """

    def __init__(self, before: Told, skip: Callable[[], bool]) -> None:
        self.before, self.skip = before, skip
        self.originals: dict[str, Any] = {}
        self.run = Pipeline.run

    def install(self) -> None:
        """Replace the functions."""
        names = _ALWAYS.union(*(entry.engine for entry in entries())) - {_PIPELINE}
        for name in sorted(names):
            self.originals[name] = getattr(engine_steps, name)
            setattr(engine_steps, name, self._telling(NAMES.get(name, name), self.originals[name]))
        self.run = Pipeline.run
        Pipeline.run = self._telling_run(Pipeline.run)  # type: ignore[method-assign]

    def remove(self) -> None:
        """Restore the functions."""
        for name, original in self.originals.items():
            setattr(engine_steps, name, original)
        Pipeline.run = self.run  # type: ignore[method-assign]
        self.originals.clear()

    def _telling(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        thread = threading.get_ident()

        def told(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != thread:
                return original(*args, **kwargs)
            self.before(name, kwargs)
            return None if self.skip() else original(*args, **kwargs)

        return told

    def _telling_run(self, original: Callable[..., None]) -> Callable[..., None]:
        thread = threading.get_ident()

        def told(program: Pipeline, inputs: Any, outputs: Any) -> None:
            if threading.get_ident() != thread:
                return original(program, inputs, outputs)
            self.before("pipeline", {})
            if not self.skip():
                return original(program, inputs, outputs)
            note(program)
            return None

        return told
