"""The engine, where it has not been built: the extension module of this name is imported before this file."""

raise ImportError(
    "ttnn: the engine (ttnn._engine) is not built for this Python; install a wheel, or build it with `maturin develop`"
)
