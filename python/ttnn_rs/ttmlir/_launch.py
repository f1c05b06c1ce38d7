"""Start of `ttmlir-opt`.

It imports the compiler layer without the operators, which cost a second.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path


def light_package() -> None:
    """Make `ttnn` importable as a namespace, so that `ttnn.compiler` loads without `ttnn/__init__.py`."""
    if "ttnn" in sys.modules:
        return
    spec = importlib.util.find_spec("ttnn")
    if spec is None or spec.origin is None:
        return
    package = types.ModuleType("ttnn")
    package.__path__ = [str(Path(spec.origin).parent)]
    package.__spec__ = spec
    sys.modules["ttnn"] = package


def opt() -> None:
    """Run `ttmlir-opt` with the process's arguments; exit with its code."""
    if not any("optimiz" in word for word in sys.argv[1:]):
        # The optimizer predicts times of operators.
        light_package()
    from ttnn.compiler.tools.opt import main

    sys.exit(main())
