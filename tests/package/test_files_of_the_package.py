"""Files go through `ttnn.base.files`: whole, and within limits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "python" / "ttnn_rs"
HOME = "ttnn/base/files.py"
METHODS = frozenset(["write_text", "write_bytes", "read_text", "read_bytes", "tofile", "savefig", "render"])
FUNCTIONS = frozenset(
    [
        *("open", "io.open", "os.open", "os.fdopen", "gzip.open", "np.load", "np.save", "np.savez", "np.fromfile"),
        *("np.memmap", "json.dump", "torch.save", "torch.load", "os.rename", "os.replace", "shutil.move"),
        *("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "sqlite3.connect"),
    ]
)
FOLDERS = {
    "ttnn/metal/cpp/": "compiles in a new folder, and checks what it finds in its cache by hashes",
    "ttnn/examples/models/": "reads weights from installed packages",
    "ttnn/model_preprocessing/": "fills a new folder, which is renamed; checks sizes and hashes",
}
ALLOWED = {
    ("ttnn/cli/__init__.py", "open"): "the null device",
    ("ttnn/cli/__init__.py", "os.open"): "the null device",
    ("ttnn/compiler/tools/output.py", "os.open"): "the null device",
    ("ttnn/cli/profile/traces.py", "gzip.open"): "unpacks an open file",
    ("ttnn/cli/goldens/walk.py", "np.load"): "reads an open file",
    ("ttnn/compiler/tools/ttrt/util.py", "torch.save"): "writes to an open file",
    ("ttnn/compiler/tools/ttrt/util.py", "open"): "appends lines to a log",
    ("ttnn/compiler/tools/ttrt/util.py", "shutil.copytree"): "makes a folder that is not there",
    ("ttnn/metal/timeline.py", "savefig"): "writes to an open file",
    ("ttnn/cli/sweep/matmul_figure.py", "savefig"): "writes to an open file",
    ("ttnn/cli/sweep/figure.py", "savefig"): "writes to an open file",
    ("ttnn/cli/bench/figure.py", "savefig"): "writes to an open file",
    ("ttnn/cli/demo/models.py", "savefig"): "writes to an open file",
    ("ttnn/cli/demo/figure.py", "savefig"): "writes to an open file",
    ("ttnn/reports/schema.py", "sqlite3.connect"): "transactions of the database",
    ("ttnn/device/systems.py", "read_text"): "files of the package",
    ("ttnn/device/watch.py", "open"): "memory that the processes of a job share",
    ("ttnn/tensor/host_buffer.py", "read_text"): "free memory, from the kernel",
    ("ttnn/operation/stubs.py", "read_text"): "files of the package",
    ("ttnn/operation/numerics.py", "read_text"): "files of the package",
    ("ttnn/operation/vendor_names.py", "read_text"): "files of the package",
    ("ttnn/compiler/dialects/spec.py", "read_text"): "files of the package",
    ("ttnn/compiler/pipelines/passes.py", "read_text"): "files of the package",
    ("ttnn/compiler/target/flatbuffer/schema.py", "read_text"): "files of the package",
}


def findings(source: str) -> Iterator[str]:
    """Yield the calls that open files, in the text of a module."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        method = name.rpartition(".")[2]
        # The engine has methods of these names for the memory of devices.
        if name in FUNCTIONS:
            yield name
        elif isinstance(node.func, ast.Attribute) and method in METHODS and not name.endswith(f"engine.{method}"):
            yield method
        elif method == "open" and node.args and isinstance(node.args[0], ast.Constant):
            yield "open"


def test_every_file_is_opened_in_one_place() -> None:
    files = sorted(PACKAGES.rglob("*.py"))
    assert len(files) > 500
    found = {
        (name, what)
        for name, path in ((path.relative_to(PACKAGES).as_posix(), path) for path in files)
        if name != HOME and not name.startswith(tuple(FOLDERS))
        for what in findings(path.read_text(encoding="utf-8"))
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    "source",
    [
        "open(path, 'w')",
        "path.open('wb')",
        "Path(x).write_text(y)",
        "path.read_bytes()",
        "json.dump(x, file)",
        "np.save(path, array)",
        "figure.savefig(path)",
        "sqlite3.connect(path)",
    ],
)
def test_a_call_that_opens_a_file_is_found(source: str) -> None:
    assert list(findings(source))


def test_the_memory_of_devices_is_no_file() -> None:
    assert not list(findings("device.engine.write_bytes(x)\nself._open(path)\nopen_device(0)"))
