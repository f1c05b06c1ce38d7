"""`python -m ttnn run`: what the programs of a script cost, and their timelines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ttnn.cli import main

SCRIPT = """
import sys
import ttnn
from ttnn import metal

def kernel():
    print("argument", sys.argv[1])

device = ttnn.open_device(device_id=0)
program = metal.create_program()
metal.create_kernel(program, kernel, metal.CoreCoord(0, 0), metal.DataMovementConfig())
metal.run_program(device, program)
ttnn.close_device(device)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "one.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.mark.parametrize("before", [True, False])
def test_timeline(script: Path, capsys: pytest.CaptureFixture[str], before: bool) -> None:
    words = ["--timeline", str(script)] if before else [str(script), "--timeline"]
    assert main(["run", *words, "--timeline"]) == 0
    out = capsys.readouterr().out
    assert "argument --timeline\n" in out
    assert "program 1: " in out
    assert "core 0-0 BRISC  kernel: " in out
    assert "wrote one-1.trace.json" in out
    assert json.loads(Path("one-1.trace.json").read_text(encoding="utf-8"))["traceEvents"]


def test_costs_alone(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--json", str(script), "x"]) == 0
    (program,) = json.loads(capsys.readouterr().out.partition("\n")[2])["programs"]
    assert program["kernels"][0]["name"] == "kernel"
    assert not list(script.parent.glob("*.json"))


def test_script_without_programs(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("raise SystemExit(3)", encoding="utf-8")
    assert main(["run", str(script)]) == 3
    assert "no program of ttnn.metal ran" in capsys.readouterr().out


def test_no_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "none.py"]) == 2
    assert "run: none.py is not a file" in capsys.readouterr().err


def test_a_script_that_does_not_parse_has_no_frames_of_ours(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("def (", encoding="utf-8")
    assert main(["run", str(script)]) == 1
    text = capsys.readouterr().err
    assert text.startswith(f'  File "{script}", line 1')
    assert "SyntaxError" in text
