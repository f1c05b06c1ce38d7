"""The temporary folder is private to a user, and optional."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ttnn.base.exceptions import FileAccessError
from ttnn.base.temporary import default_temporary_folder, new_temporary_folder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return default_temporary_folder()


def test_temporary_folder_is_per_user(temporary: Path, tmp_path: Path) -> None:
    assert temporary == tmp_path / f"ttnn-{os.getuid()}"
    made = new_temporary_folder("new_", temporary, where="here")
    assert made.parent == temporary
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700
    temporary.chmod(0o755)
    new_temporary_folder("new_", temporary, where="here")
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_not_used(
    temporary: Path, tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    temporary.mkdir()
    temporary.chmod(mode)
    with caplog.at_level(logging.WARNING, logger="ttnn"):
        made = new_temporary_folder("new_", temporary, where="here")
    assert (made.parent, stat.S_IMODE(made.stat().st_mode)) == (tmp_path, 0o700)
    assert os.listdir(temporary) == []
    assert "may be changed by others, and is not used" in caplog.text


def test_temporary_folder_that_is_a_link_is_not_used(
    temporary: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    temporary.symlink_to(theirs)
    with caplog.at_level(logging.WARNING, logger="ttnn"):
        made = new_temporary_folder("new_", temporary, where="here")
    assert made.parent == tmp_path
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert os.listdir(theirs) == []
    assert "belongs to another user, is a link" in caplog.text


def test_the_folder_of_another_user_is_not_used(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: temporary.stat().st_uid + 1)
    made = new_temporary_folder("new_", temporary, where="here")
    assert made.parent == tmp_path
    assert os.listdir(temporary) == []


def test_a_folder_of_the_program_keeps_its_mode(tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    chosen.mkdir(mode=0o755)
    assert new_temporary_folder("new_", chosen, where="here").parent == chosen
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(FileAccessError, match=r"here: .*file cannot be made: File exists"):
        new_temporary_folder("new_", tmp_path / "file", where="here")


def test_the_package_is_imported_without_temporary_and_home_folder() -> None:
    code = """
import os, pwd, tempfile

def nowhere():
    raise FileNotFoundError(2, "No usable temporary directory found")

def nobody(number):
    raise KeyError(number)

tempfile.gettempdir, pwd.getpwuid = nowhere, nobody
import ttnn
print(ttnn.ones([2, 2]).shape, ttnn.CONFIG.tmp_dir == ttnn.CONFIG.cache_path.parent.parent)
"""
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.stdout == "Shape([2, 2]) True\n", done.stderr
