"""Passes as `.mlir` files: RUN lines, CHECK lines and executed programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testkit.execute_lit_files import controlled, execute_file
from testkit.lit_files import lowering
from ttnn.compiler.tools.opt import main

pytest.importorskip("torch", reason="ttrt makes inputs with torch")
pytest.importorskip("filecheck")
FILES = sorted(Path(__file__).parent.glob("*.mlir"))
VERSION = "2026-08"


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def file(request: pytest.FixtureRequest) -> Path:
    return request.param  # type: ignore[no-any-return]


def checked(file: Path, options: list[str], output: Path) -> subprocess.CompletedProcess[str]:
    assert main([f"--default-version={VERSION}", *options, str(file), "-o", str(output)]) == 0
    command = [sys.executable, "-m", "filecheck", str(file), "--input-file", str(output)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_check_lines_match_the_output_of_the_run_line(file: Path, tmp_path: Path) -> None:
    done = checked(file, lowering(file.read_text(), ""), tmp_path / "out.mlir")
    assert done.returncode == 0, done.stderr


def test_check_lines_fail_without_the_pass(file: Path, tmp_path: Path) -> None:
    assert checked(file, [], tmp_path / "out.mlir").returncode == 1


def test_executed_programs_match_the_reference(file: Path) -> None:
    assert execute_file(file, file.name, "", "", VERSION) >= 1


def test_executor_that_returns_zeros_fails(file: Path) -> None:
    with controlled("zeros"), pytest.raises(AssertionError):
        execute_file(file, file.name, "", "zeros", VERSION)
