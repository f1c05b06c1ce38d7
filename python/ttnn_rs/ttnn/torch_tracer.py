"""The official module of this name: graphs of torch models, which are not built. Tracing is always off."""

from __future__ import annotations

from ttnn.base.refused import refusing

globals().update(refusing("ttnn.torch_tracer", "trace visualize get_graph codegen", "graphs of models are not built"))


def is_tracing_enabled() -> bool:
    """Return whether torch is traced: no."""
    return False


def disable_tracing() -> None:
    """Trace nothing, as is always so."""
