"""A report has one writer; killed ones leave readable databases."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

import ttnn
from ttnn.base.exceptions import FileAccessError, FileFormatError
from ttnn.reports import schema

RUN = """
import os, pathlib, signal, sys
import torch, ttnn
ttnn.CONFIG.root_report_path, ttnn.CONFIG.report_name = pathlib.Path(sys.argv[1]), "run"
# The same folder at every time of day.
object.__setattr__(ttnn.CONFIG, "_folder", ("run", "run"))
device = ttnn.open_device(device_id=0)
t = ttnn.from_torch(torch.ones(32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

def calls(count):
    ttnn.CONFIG.enable_logging = True
    for _ in range(count):
        ttnn.exp(t)
    ttnn.CONFIG.enable_logging = False
"""


def start(text: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN + textwrap.dedent(text), str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def count(folder: Path, query: str = "SELECT count(*) FROM operations") -> int:
    with closing(sqlite3.connect(folder / "db.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(connection.execute(query).fetchone()[0])


def test_two_processes_write_two_reports(tmp_path: Path) -> None:
    first = start("calls(3); print('written', flush=True); input(); calls(2)", tmp_path)
    assert first.stdout is not None
    assert first.stdout.readline() == "written\n"
    second = start("calls(4); print(ttnn.CONFIG.report_path)", tmp_path)
    path, errors = second.communicate()
    assert Path(path.strip()) == tmp_path / "run_process2"
    assert f"another process writes {tmp_path / 'run'}; this one writes {tmp_path / 'run_process2'}" in errors
    first.communicate("\n")
    assert count(tmp_path / "run") == 5
    assert count(tmp_path / "run_process2") == 4


def test_a_fork_writes_a_report_of_its_own(tmp_path: Path) -> None:
    text = """
    calls(2)
    if os.fork() == 0:
        calls(3)
        os._exit(0)
    os.wait()
    calls(1)
    """
    _, errors = start(text, tmp_path).communicate()
    assert "another process writes" in errors
    assert count(tmp_path / "run") == 3
    assert count(tmp_path / "run_process2") == 3


def test_a_report_goes_on_after_its_writer_was_killed(tmp_path: Path) -> None:
    text = """
    from ttnn.reports import writer
    calls(2)
    old = writer._write_lifetimes
    def dies(*arguments):
        old(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    writer._write_lifetimes = dies
    calls(1)
    """
    died = start(text, tmp_path)
    died.communicate()
    assert died.returncode == -signal.SIGKILL
    assert count(tmp_path / "run") == 2
    _, errors = start("calls(3)", tmp_path).communicate()
    assert "another process" not in errors
    assert count(tmp_path / "run") == 5
    assert count(tmp_path / "run", "SELECT count(DISTINCT operation_id) FROM operation_arguments") == 5


def test_a_killed_profile_report_leaves_the_old_one(tmp_path: Path) -> None:
    text = """
    with ttnn.profiler.profile() as profile:
        ttnn.exp(t)
    folder = pathlib.Path(sys.argv[1]) / "report"
    profile.report(folder)
    profile.report(folder, done=lambda name: os.kill(os.getpid(), signal.SIGKILL))
    """
    died = start(text, tmp_path)
    died.communicate()
    assert died.returncode == -signal.SIGKILL
    folder = tmp_path / "report"
    assert count(folder) == 1
    assert len([name for name in os.listdir(folder) if name.endswith(".part")]) == 1


def test_a_database_that_was_killed_at_birth_gets_its_tables(tmp_path: Path) -> None:
    (tmp_path / "db.sqlite").touch()
    schema.connect(tmp_path / "db.sqlite").close()
    assert count(tmp_path) == 0


def test_what_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(FileFormatError, match=r"db\.sqlite cannot be used: file is not a database"):
        list(ttnn.database.query_operations(tmp_path))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileAccessError, match=r"db\.sqlite is a FIFO; expected a file"):
        list(ttnn.database.query_operations(tmp_path))
