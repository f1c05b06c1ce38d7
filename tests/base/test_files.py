"""Files are replaced whole or not at all, and reading one ends."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from ttnn.base import files
from ttnn.base.exceptions import ArgumentError, FileAccessError

OLD = b"old content"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    return path


def script(text: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".part")]


def test_written_bytes_and_texts_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write_atomically(path, b"\xff\0", where="here")
    assert files.read_bytes(path, where="here") == b"\xff\0"
    files.write_atomically(str(path), "\N{GREEK SMALL LETTER MU}\n", where="here")
    assert files.read_text(path, where="here") == "\N{GREEK SMALL LETTER MU}\n"
    assert os.listdir(tmp_path) == ["file"]


def test_mode_of_the_old_file_stays(old: Path) -> None:
    for mode in (0o600, 0o640, 0o755):
        old.chmod(mode)
        files.write_atomically(old, b"new", where="here")
        assert stat.S_IMODE(old.stat().st_mode) == mode


def test_mode_of_a_new_file_is_that_of_the_umask(tmp_path: Path) -> None:
    for umask, mode in ((0o022, 0o644), (0o077, 0o600)):
        before = os.umask(umask)
        try:
            files.write_atomically(tmp_path / f"{umask}", b"", where="here")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / f"{umask}").stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_a_file_that_may_not_be_written_is_not_replaced(old: Path) -> None:
    old.chmod(0o444)
    with pytest.raises(FileAccessError, match="cannot be written: Permission denied"):
        files.write_atomically(old, b"new", where="here")
    assert old.read_bytes() == OLD


def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path: Path, old: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    link = folder / "link"
    link.symlink_to("../file")
    files.write_atomically(link, b"new", where="here")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"
    dangling = folder / "dangling"
    dangling.symlink_to("../made")
    files.write_atomically(dangling, b"new", where="here")
    assert (tmp_path / "made").read_bytes() == b"new"
    loop = folder / "loop"
    loop.symlink_to("loop")
    with pytest.raises(FileAccessError, match="symbolic links"):
        files.write_atomically(loop, b"new", where="here")


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path, old: Path) -> None:
    def write() -> None:
        with files.open_atomically(old, where="here") as file:
            file.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert old.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["file"]


def test_a_write_limit_is_an_error_and_leaves_the_old_file(tmp_path: Path, old: Path) -> None:
    done = script(
        """
        import resource, sys
        from ttnn.base import files
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            files.write_atomically(sys.argv[1], bytes(100000), where="here")
        except files.FileAccessError as error:
            print(error, error.errno)
        """,
        old,
    )
    assert done.stdout == f"here: {old} cannot be written: File too large 27\n", done.stderr
    assert old.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["file"]


DIES = """
    import os, signal, sys
    from ttnn.base import files
    with files.open_atomically(sys.argv[1], where="here") as file:
        file.write(b"new")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_the_old_file_and_its_part_is_removed(tmp_path: Path, old: Path) -> None:
    assert script(DIES, old).returncode == -signal.SIGKILL
    assert old.read_bytes() == OLD
    assert len(parts(tmp_path)) == 1
    files.write_atomically(tmp_path / "other", b"", where="here")
    assert parts(tmp_path) == []


def test_the_part_of_a_living_writer_is_not_removed(tmp_path: Path, old: Path) -> None:
    with files.open_atomically(old, where="here") as file:
        file.write(b"new")
        done = script(
            "import sys; from ttnn.base import files; files.write_atomically(sys.argv[1], b'', where='here')",
            tmp_path / "other",
        )
        assert done.returncode == 0, done.stderr
        assert len(parts(tmp_path)) == 1
    assert old.read_bytes() == b"new"


def test_readers_beside_writers_see_whole_files(old: Path) -> None:
    contents = [bytes([letter]) * 100_000 for letter in b"abcd"]
    old.write_bytes(contents[0])

    def write(content: bytes) -> None:
        for _ in range(20):
            files.write_atomically(old, content, where="here")

    threads = [threading.Thread(target=write, args=[content]) for content in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert old.read_bytes() in contents
    assert parts(old.parent) == []


def test_devices_and_pipes_are_written_directly(tmp_path: Path) -> None:
    files.write_atomically(os.devnull, b"new", where="here")
    with pytest.raises(FileAccessError, match="/dev/full cannot be written: No space left on device"):
        files.write_atomically("/dev/full", b"new", where="here")
    with pytest.raises(FileAccessError, match="cannot be written: Is a directory"):
        files.write_atomically(tmp_path, b"new", where="here")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write_atomically(pipe, b"new", where="here")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    with (tmp_path / "out").open("wb") as out:
        code = "import sys; from ttnn.base import files; files.write_atomically('/dev/stdout', b'new', where='here')"
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, timeout=600)
    assert (tmp_path / "out").read_bytes() == b"new"


def test_impossible_file_names_raise_errors(tmp_path: Path) -> None:
    for name, sentence in (
        ("a\0b", "has a character that no file name can hold"),
        ("a\ud800", "has a character that no file name can hold"),
        ("", "expected a path, got an empty text"),
        ("x" * 256, "File name too long"),
        (tmp_path / "no folder" / "file", "No such file or directory"),
    ):
        for call in (files.read_bytes, files.read_text, lambda p, where: files.write_atomically(p, "", where=where)):
            with pytest.raises(FileAccessError, match=f"here: .*{sentence}"):
                call(name, where="here")
    for call in (files.read_bytes, files.read_text, lambda p, where: files.write_atomically(p, "", where=where)):
        with pytest.raises(ArgumentError, match="here: expected a path, got int"):
            call(3, where="here")


def test_endless_streams_are_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, kind in ((pipe, "a FIFO"), (Path("/dev/zero"), "a device file")):
        with pytest.raises(FileAccessError, match=f"here: {path} is {kind}; expected a file"):
            files.read_bytes(path, where="here")
    with pytest.raises(FileAccessError, match="Is a directory"):
        files.read_bytes(tmp_path, where="here")


def test_streams_are_read_to_a_limit(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="/dev/zero has more; expected at most 3000000 bytes"):
        files.read_bytes("/dev/zero", where="here", limit=3_000_000, streams=True)
    read, write = os.pipe()
    threading.Thread(target=lambda: (os.write(write, b"a" * 1000), os.close(write))).start()
    assert files.read_bytes(f"/dev/fd/{read}", where="here", streams=True) == b"a" * 1000
    os.close(read)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert files.read_bytes(pipe, where="here", streams=True) == b""


def test_large_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(200 << 30)
    with pytest.raises(FileAccessError, match="has 214748364800 bytes; expected at most 2147483648 bytes"):
        files.read_bytes(path, where="here")


def test_a_text_that_is_not_utf8_is_an_error(old: Path) -> None:
    old.write_bytes(b"abc\xff")
    with pytest.raises(FileAccessError, match="is not UTF-8 text: byte 0xff at offset 3"):
        files.read_text(old, where="here")
    with pytest.raises(FileAccessError, match="surrogates not allowed"):
        files.write_atomically(old, "\ud800", where="here")
    assert old.read_bytes() == b"abc\xff"
