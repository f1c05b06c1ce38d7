"""Pipelines under their official name: `ttnn.compiler.tools.bindings.passmanager`."""

from ttnn.compiler.tools.bindings.passmanager import PassManager as PassManager
