"""Placeholder for an engine that is not built.

The extension module of this name is imported before this file.
"""

raise ImportError(
    "ttnn: the engine (ttnn._engine) is not built for this Python; install a wheel, or build it with `maturin develop`"
)
