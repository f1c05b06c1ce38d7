"""The official module of this name: tracing of models, which is not built. Tracing is always off."""

from __future__ import annotations

from typing import NoReturn

from ttnn.base.exceptions import UnsupportedError


def is_tracing_enabled() -> bool:
    """Return whether operators are traced: no."""
    return False


def disable_tracing() -> None:
    """Trace no operators, as is always so."""


def enable_tracing() -> NoReturn:
    """Always raise: traces of models are not built."""
    _not_built("enable_tracing")


def trace() -> NoReturn:
    """Always raise: traces of models are not built."""
    _not_built("trace")


def visualize(*outputs: object, file_name: str | None = None) -> NoReturn:
    """Always raise: traces of models are not built."""
    _not_built("visualize")


def get_graph(output: object) -> NoReturn:
    """Always raise: traces of models are not built."""
    _not_built("get_graph")


def codegen(output: object) -> NoReturn:
    """Always raise: traces of models are not built."""
    _not_built("codegen")


def _not_built(call: str) -> NoReturn:
    raise UnsupportedError(f"ttnn.tracer.{call}: traces of models are not built", "unimplemented")
