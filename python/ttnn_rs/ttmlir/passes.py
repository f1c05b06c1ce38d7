"""Pipelines and translations under their official name: `ttnn.compiler.tools.bindings.passmanager`."""

from ttnn.compiler.tools.bindings.passmanager import *  # noqa: F403
from ttnn.compiler.tools.bindings.passmanager import __all__ as __all__
