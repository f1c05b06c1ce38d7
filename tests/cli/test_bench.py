"""The bench command: runs, comparisons in the same run, output files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ttnn.cli import main


def test_bench_times_cases_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "bench.png"
    arguments = ["bench", "--size", "32", "--repeat", "1", "--threads", "1", "--output", str(picture), "--json"]
    assert main(arguments) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["host"]["threads"] == 1
    assert content["host"]["numerics"] == "exact"
    names = [result["name"] for result in content["results"]]
    assert {"matmul bfloat16 LoFi", "matmul bfloat16 HiFi4", "add bfloat16", "exp bfloat16"} <= set(names)
    assert len(set(names)) == len(names)
    for result in content["results"]:
        assert result["seconds"] > 0
        for peer in result["peers"].values():
            assert peer["ratio"] == pytest.approx(peer["seconds"] / result["seconds"])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert json.loads(picture.with_suffix(".json").read_text()) == content


def test_bench_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["bench", "--size", "32", "--repeat", "1", "--only", "add float32", "--output", str(tmp_path / "x.png")]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "add float32" in out
    assert "matmul" not in out
    assert f"plot: {tmp_path / 'x.png'}; results: {tmp_path / 'x.json'}" in out


def test_figures_that_cannot_be_written_do_not_take_the_table_along() -> None:
    pytest.importorskip("matplotlib")
    arguments = ["bench", "--size", "32", "--repeat", "1", "--only", "add float32"]
    done = subprocess.run(
        [sys.executable, "-m", "ttnn", *arguments], capture_output=True, text=True, check=False, cwd="/proc"
    )
    assert done.returncode == 1
    assert "add float32" in done.stdout
    assert done.stderr.endswith("ttnn: bench: ttnn-bench.json cannot be written: No such file or directory\n")


@pytest.mark.parametrize("arguments", [("--size", "33"), ("--size", "0"), ("--repeat", "0")])
def test_bench_refuses_sizes_that_are_no_tiles(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["bench", *arguments])
    assert stop.value.code == 2
    assert "must be" in capsys.readouterr().err


def test_bench_says_what_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--size", "x"])
    assert "argument --size: must be a number, got 'x'" in capsys.readouterr().err


def test_bench_without_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    assert main(["bench", "--only", "nothing like it"]) == 2
    assert "no case contains" in capsys.readouterr().err
