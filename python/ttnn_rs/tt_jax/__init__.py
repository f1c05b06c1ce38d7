"""Names of tt-jax; the code is in `ttnn.compiler.frontends.jax`."""

from ttnn.compiler.frontends.jax.helpers import codegen_cpp, codegen_py
from ttnn.compiler.frontends.jax.helpers import serialize as serialize_compiled_artifacts
from ttnn.compiler.frontends.jax.helpers import serialize_to_disk as serialize_compiled_artifacts_to_disk

__all__ = ["codegen_cpp", "codegen_py", "serialize_compiled_artifacts", "serialize_compiled_artifacts_to_disk"]
