"""Entry module of the extension, imported by the server."""

from ttnn.compiler.explorer.extensions import NodeDataProviders as NodeDataProviders
from ttnn.compiler.explorer.extensions import TTAdapter as TTAdapter

__all__ = ["NodeDataProviders", "TTAdapter"]
