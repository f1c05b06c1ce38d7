"""No module imports itself indirectly, in any function.

`lint-imports` knows packages, not modules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

import ttnn

PACKAGE = Path(ttnn.__file__).parent


def modules() -> dict[str, Path]:
    """Return the files of the package by module name."""
    names = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imported(module: str, path: Path) -> Iterator[str]:
    """Yield a module's imports: top, functions, type checking."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{name.name}" for name in node.names)


def test_no_module_imports_itself_through_others() -> None:
    known = modules()
    graph: dict[str, set[str]] = {}
    for module, path in known.items():
        names = (name for name in imported(module, path) if name.split(".")[0] == "ttnn")
        # The name of a class or function is not a module; what it stands in is.
        owners = {name if name in known else name.rpartition(".")[0] for name in names}
        assert owners <= known.keys(), module
        graph[module] = owners - {module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))
