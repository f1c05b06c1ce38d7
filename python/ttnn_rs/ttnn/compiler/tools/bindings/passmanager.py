"""`ttmlir.passmanager` and `ttmlir.passes`: pipelines on modules of the bindings."""

from __future__ import annotations

from ttnn.base.files import write_atomically
from ttnn.compiler.pipelines import run
from ttnn.compiler.tools.bindings.ir import Context, Module
from ttnn.compiler.tools.version import package_version

__all__ = [
    "PassManager",
    "ttir_to_ttmetal_backend_pipeline",
    "ttir_to_ttnn_backend_pipeline",
    "ttmetal_to_flatbuffer_file",
    "ttnn_to_flatbuffer_file",
]


class PassManager:
    """A pipeline.

    Attributes:
        text: Its passes, as on the command line.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @staticmethod
    def parse(pipeline: str, context: Context | None = None) -> PassManager:
        """Return the pipeline of a text.

        Raises:
            ParameterError: The text is no pipeline.
        """
        return PassManager(pipeline)

    def run(self, module: Module) -> None:
        """Run the passes on a module, in place.

        Raises:
            CompileError: The module cannot be transformed.
        """
        run(module.parsed, self.text)

    def __str__(self) -> str:
        return self.text


def ttir_to_ttnn_backend_pipeline(module: Module, options: str = "") -> None:
    """Lower a module to the library, in place."""
    run(module.parsed, f"ttir-to-ttnn-backend-pipeline{{{options}}}")


def ttir_to_ttmetal_backend_pipeline(module: Module, options: str = "") -> None:
    """Lower a module to commands and kernels, in place."""
    run(module.parsed, f"ttir-to-ttmetal-backend-pipeline{{{options}}}")


def ttnn_to_flatbuffer_file(module: Module, filepath: str) -> None:
    """Write the TTNN binary of a lowered module."""
    from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import binary_bytes, ttnn_to_binary

    data = binary_bytes(module.parsed, ttnn_to_binary(module.parsed, package_version()))
    write_atomically(filepath, data, where="ttnn_to_flatbuffer_file")


def ttmetal_to_flatbuffer_file(module: Module, filepath: str) -> None:
    """Write the TTMetal binary of a lowered module."""
    from ttnn.compiler.conversion.ttmetal_to_flatbuffer import metal_to_binary
    from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import binary_bytes

    data = binary_bytes(module.parsed, metal_to_binary(module.parsed, package_version()))
    write_atomically(filepath, data, where="ttmetal_to_flatbuffer_file")
