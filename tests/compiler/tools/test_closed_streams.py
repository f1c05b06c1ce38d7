"""Tools with closed standard streams end in one line."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("a.mlir >&-", "standard output is closed"), ("<&-", "standard input is closed"), ("- <&-", "input is closed")],
)
def test_closed_stream_prints_one_line(tmp_path: Path, arguments: str, said: str) -> None:
    (tmp_path / "a.mlir").write_text("module {}\n", encoding="utf-8")
    script = "import sys; from ttmlir._launch import opt; sys.argv[0] = 'ttmlir-opt'; sys.exit(opt())"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(script)} {arguments}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that takes nothing")
@pytest.mark.parametrize("arguments", ["query", "query --quiet --save-artifacts", "run a.ttnn", "read a.ttnn"])
def test_full_standard_output_prints_one_line(tmp_path: Path, arguments: str) -> None:
    from test_ttrt import relu_binary, store

    store(relu_binary(), tmp_path / "a.ttnn")
    command = f"{shlex.quote(sys.executable)} -m ttrt {arguments} > /dev/full"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    if "--quiet" in arguments:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        tool = f"ttrt {arguments.split()[0]}"
        said = f"{tool}: error: standard output cannot be written: No space left on device\n"
        assert (done.returncode, done.stderr) == (1, said)
