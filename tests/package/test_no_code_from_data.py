"""No module runs file content: no pickles, `eval`, or shell.

`exec` for scripts and kernels only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ttnn

PACKAGES = Path(ttnn.__file__).parents[1]
NAMES = ("tracy", "tt_lib", "ttmlir", "ttnn", "ttnn_run", "ttrt")
MODULES = {
    "_pickle",
    "cPickle",
    "cloudpickle",
    "code",
    "dill",
    "imp",
    "joblib",
    "jsonpickle",
    "marshal",
    "pickle",
    "pty",
    "runpy",
    "shelve",
    "yaml",
}
FUNCTIONS = {
    "__import__",
    "commands.getoutput",
    "compile",
    "eval",
    "exec",
    "execfile",
    "os.popen",
    "os.system",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "torch.hub.load",
    "torch.package.PackageImporter",
}
ALLOWED = {
    # A Python kernel that the host program hands over as a text or a file.
    ("ttnn/metal/sources.py", "exec"): 1,
    ("ttnn/metal/sources.py", "compile"): 1,
    # The script that `python -m ttnn run SCRIPT` runs.
    ("ttnn/cli/common/scripts.py", "import runpy"): 1,
    ("ttnn/cli/common/scripts.py", "exec"): 1,
    ("ttnn/cli/common/scripts.py", "compile"): 1,
}


def _name(function: ast.expr) -> str:
    """Return the dotted name of what is called."""
    if isinstance(function, ast.Attribute):
        return f"{_name(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else "?"


def _given(call: ast.Call, name: str) -> object:
    """Return the value of a keyword if it is a constant."""
    found = next((word.value for word in call.keywords if word.arg == name), None)
    return found.value if isinstance(found, ast.Constant) else ast.unparse(found) if found is not None else None


def findings(source: str) -> Iterator[str]:
    """Yield what could run data, in the text of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (f"import {one.name}" for one in node.names if one.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").split(".")[0] in MODULES and not node.level:
                yield f"import {node.module}"
            names = {f"{node.module}.{one.name}" for one in node.names} & (FUNCTIONS | {"torch.load", "numpy.load"})
            yield from names
        elif isinstance(node, ast.Call):
            name = _name(node.func)
            unsafe = name in ("torch.load", "torch.jit.load") and _given(node, "weights_only") is not True
            unsafe |= name in ("np.load", "numpy.load") and _given(node, "allow_pickle") not in (None, False)
            if unsafe or name in FUNCTIONS or name.startswith("builtins."):
                yield name
            elif _given(node, "shell") not in (None, False):
                yield "shell"


def test_no_module_runs_what_a_file_says() -> None:
    found: dict[tuple[str, str], int] = {}
    files = sorted(path for name in NAMES for path in (PACKAGES / name).rglob("*.py"))
    assert len(files) > 500
    for path in files:
        for what in findings(path.read_text(encoding="utf-8")):
            key = str(path.relative_to(PACKAGES)), what
            found[key] = found.get(key, 0) + 1
    assert found == ALLOWED


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import os, shelve",
        "import yaml\nyaml.load(x)",
        "eval(x)",
        "exec(x)",
        "builtins.eval(x)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "torch.load(path, weights_only=flag)",
        "from torch import load",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(x, shell=True)",
        "subprocess.run(x, shell=flag)",
        "os.system(x)",
    ],
)
def test_a_module_that_could_run_data_is_found(source: str) -> None:
    assert list(findings(source))


def test_harmless_calls_are_not_reported_as_running_data() -> None:
    assert not list(findings("model.eval()\nre.compile(x)\ntorch.load(p, weights_only=True)\nnp.load(p)"))
