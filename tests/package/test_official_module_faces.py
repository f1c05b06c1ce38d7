"""Official module paths re-export names, without own code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ttnn

PACKAGE = Path(ttnn.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
OWN = {"__init__", "__main__", "_engine", "namespaces"}
"""Top-level modules that are not official paths of re-exported names."""
FACES = sorted({path.stem for path in PACKAGE.glob("*.py")} - OWN)
PLAIN = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


@pytest.mark.parametrize("name", FACES)
def test_official_module_has_no_code(name: str) -> None:
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        # The docstring, and the functions that always raise, which one call makes.
        assert isinstance(node, (*PLAIN, ast.Expr)), f"{name}.py, line {node.lineno}: move it to its room"


def test_architecture_page_lists_the_official_modules() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\| official modules \|.*$", page, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", line)) == FACES
