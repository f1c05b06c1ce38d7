"""Kernel sources in binaries are C++; names stay in the package.

Whatever the sources say.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_generic_programs import found, module

import ttnn
from ttnn.base.exceptions import FileFormatError, KernelError, UnsupportedError
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.runtime.place import public
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.tools.ttrt.perf import Perf
from ttnn.compiler.tools.ttrt.run import Run

#: Sources that a stranger may have put into a binary; each is Python that makes a file, if somebody runs it.
PYTHON = [
    "open({!r}, 'w')\ndef kernel_main(): pass\n",
    "# void kernel_main_\nopen({!r}, 'w')\n",
    "# void\x0ckernel_main()\nopen({!r}, 'w')\n",
    "x = '#include'\nopen({!r}, 'w')\n",
    "\ufeffopen({!r}, 'w')\n",
    "",
]


def with_source(source: str, **fields: Any) -> Binary:
    """Return the module's binary with another source of the first kernel."""
    binary = ttnn_to_binary(module(), "0.1.0")
    for operation in binary.values["programs"][0]["operations"]:
        if operation["type_type"] == "GenericOp":
            operation["type"]["program"]["kernels"][0] |= {"source": source, **fields}
    return Binary.parse(binary.to_bytes())


@pytest.mark.parametrize("source", PYTHON, ids=range(len(PYTHON)))
@pytest.mark.parametrize("command", [Run, Perf])
def test_source_of_a_binary_never_runs_as_python(
    source: str, command: type[Run | Perf], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("TT_METAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "made"
    (tmp_path / "a.ttnn").write_bytes(with_source(source.format(str(made))).to_bytes())
    options = {"binary": "a.ttnn", "--result-file": "", "--ignore-version": True}
    code, (result,) = command(options)()
    assert (code, result["result"]) == (1, "error")
    assert "kernel" in result["exception"]
    assert not made.exists()


@pytest.fixture
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.mark.parametrize("source", PYTHON, ids=range(len(PYTHON)))
def test_source_in_emitted_python_never_runs_as_python(
    source: str, device: ttnn.MeshDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TT_METAL_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "made"
    text = emitpy_source(emitpy_module(programs(with_source(source.format(str(made))))))
    with pytest.raises(KernelError):
        found(text, np.zeros((32, 32), np.float32), device)
    assert not made.exists()


def test_source_that_is_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="kernels come from the binary itself"):
        programs(with_source("/etc/passwd", source_type="FILE_PATH"))


@pytest.mark.parametrize(
    "path", ["ttnn.os.system", "ttnn.__builtins__", "ttnn._engine", "ttnn.add.__class__", "ttnn.nothing", "ttnn."]
)
def test_names_that_lead_out_of_the_package_are_refused(path: str) -> None:
    with pytest.raises(FileFormatError, match="no public name of the package"):
        public(path)
