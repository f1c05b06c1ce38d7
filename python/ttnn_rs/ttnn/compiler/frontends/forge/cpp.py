"""Programs as C++."""

from __future__ import annotations

from ttnn.compiler.pipelines import run
from ttnn.compiler.tools.translate import translate
from ttnn.compiler.version import NEWEST
from ttnn.compiler.versions import parse_module, print_module

__all__ = ["cpp_source"]


def cpp_source(ttir: str) -> str:
    """Return a `ttir` program as C++.

    Args:
        ttir: Its text.

    Raises:
        CompileError: It cannot be lowered.
    """
    module = parse_module(ttir, version=NEWEST)
    run(module, "ttir-to-ttnn-backend-pipeline")
    found = translate("mlir-to-cpp", print_module(module))
    assert isinstance(found, str)
    return found
