"""Named sequences of passes, and the text form of pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ttnn.compiler.pipelines.runner import parse_pipeline, run, run_steps

__all__ = ["parse_pipeline", "run", "run_steps"]


def __getattr__(name: str) -> Any:
    # Imported when it is used: `ttmlir-opt --help` reads the catalog beside it and needs no modules.
    if name in __all__:
        from ttnn.compiler.pipelines import runner

        return getattr(runner, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
