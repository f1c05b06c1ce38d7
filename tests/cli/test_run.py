"""`python -m ttnn run`: what the programs of a script cost, and their timelines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


def run_in_shell(command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], input=text, capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "PY": sys.executable},
    )  # fmt: skip


def test_script_from_a_pipe_runs_as_python_runs_it(script: Path) -> None:
    for command, named in (
        ('"$PY" -m ttnn run <(cat one.py) x', "/dev/fd/"),
        ('"$PY" -m ttnn run /dev/stdin x', "/dev/stdin"),
        ('mkfifo f; (sleep 0.3; cat one.py > f) & "$PY" -m ttnn run f x; rm f', "f"),
    ):
        script.write_text(f"{SCRIPT}print(__name__, __file__, sys.modules['__main__'].__dict__ is globals())\n")
        done = run_in_shell(command, script.read_text(encoding="utf-8"))
        lines = done.stdout.splitlines()
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert lines[0] == "argument x"
        assert lines[1].startswith(f"__main__ {named}")
        assert lines[1].endswith(" True")
        assert lines[2].startswith("program 1: ")


def test_errors_of_a_script_from_a_pipe_show_its_lines(script: Path) -> None:
    script.write_text("import sys\nraise ValueError(1)  # here\n", encoding="utf-8")
    done = run_in_shell('"$PY" -m ttnn run /dev/stdin', script.read_text(encoding="utf-8"))
    assert done.returncode == 1
    first, place, line, *_, last = done.stderr.splitlines()
    assert (first, place) == ("Traceback (most recent call last):", '  File "/dev/stdin", line 2, in <module>')
    assert (line, last) == ("    raise ValueError(1)  # here", "ValueError: 1")


def test_a_script_without_an_end_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "/dev/zero"]) == 1
    assert capsys.readouterr().err.strip() == "ttnn: run: /dev/zero has more; expected at most 67108864 bytes"


def test_no_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "none.py"]) == 2
    assert "run: none.py is not a file" in capsys.readouterr().err
    assert main(["run", "no\0ne.py"]) == 1
    assert "has a character that no file name can hold" in capsys.readouterr().err


def test_a_script_that_does_not_parse_has_no_frames_of_ours(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("def (", encoding="utf-8")
    assert main(["run", str(script)]) == 1
    text = capsys.readouterr().err
    assert text.startswith(f'  File "{script}", line 1')
    assert "SyntaxError" in text
