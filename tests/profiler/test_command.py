"""`python -m ttnn profile SCRIPT`: progress, errors of the script, and its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PREAMBLE = """
import sys, time
import ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
ttnn.exp(a)
"""


def profiled(tmp_path: Path, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(PREAMBLE + script)
    command = [sys.executable, "-m", "ttnn", "profile", *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))


def test_an_error_of_the_script_is_shown_with_its_stack_alone(tmp_path: Path) -> None:
    result = profiled(tmp_path, "def inner():\n    ttnn.matmul(a, ttnn.ones((64, 64), device=device))\ninner()\n")
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{tmp_path / "script.py"}", line 9, in <module>'
    assert f'  File "{tmp_path / "script.py"}", line 8, in inner' in lines
    assert "runpy" not in result.stderr
    assert any(line.startswith("ttnn.base.exceptions.") for line in lines)
    # What ran before is reported all the same.
    assert "Unary" in result.stdout


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit('no more')", 1, "no more\n"),
        ("raise KeyboardInterrupt", 130, "ttnn: interrupted\n"),
        ("raise OSError('a disk')", 1, "OSError: a disk\n"),
    ],
)
def test_the_exit_code_is_that_of_the_script(tmp_path: Path, ending: str, code: int, said: str) -> None:
    result = profiled(tmp_path, ending)
    assert result.returncode == code
    assert result.stderr.endswith(said)
    assert "2 device operations, " in result.stdout


def test_a_script_of_more_than_a_second_shows_progress(tmp_path: Path) -> None:
    result = profiled(tmp_path, "time.sleep(1.5)\n")
    assert "profile: 2 calls of operators in 1 s" in result.stderr
    assert "profile:" not in profiled(tmp_path, "").stderr


def test_the_report_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "report"
    result = profiled(tmp_path, "", "--report", str(folder))
    assert result.returncode == 0, result.stderr
    assert f"ttnn-visualizer --profiler-path {folder} --performance-path {folder}" in result.stdout
    assert {"db.sqlite", "config.json", "ops_perf_results.csv", "profile_log_device.csv"} <= set(os.listdir(folder))


def test_the_document_counts_missing_operations(tmp_path: Path) -> None:
    result = profiled(tmp_path, "", "--json")
    document = json.loads(result.stdout)
    assert document["missing"] == []
    assert [row["operator"] for row in document["operations"]] == ["ttnn.ones", "ttnn.exp"]
    assert document["total_ns"] == sum(row["kernel_ns"] for row in document["operations"])
