"""Kernel files that cannot be read: the error names the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ttnn
from ttnn import metal
from ttnn.base.exceptions import FileAccessError, KernelError

CORE = ttnn.CoreCoord(0, 0)


def create(path: object) -> None:
    metal.create_kernel(metal.create_program(), path, CORE, metal.DataMovementConfig())


@pytest.mark.parametrize("suffix", [".cpp", ".py"])
def test_a_kernel_that_is_not_utf8_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"kernel{suffix}"
    path.write_bytes(b"// \xa9\nvoid kernel_main() {}\n")
    with pytest.raises(KernelError, match=rf"kernel{suffix} is not UTF-8 text: byte 0xa9 at offset 3"):
        create(path)


def test_what_is_no_regular_file_is_no_kernel_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cpp")
    for path in (tmp_path / "pipe.cpp", tmp_path, "/dev/zero", f"{'x' * 256}.cpp"):
        with pytest.raises(KernelError, match="no kernel file"):
            create(str(path) if isinstance(path, Path) else path)


def test_a_name_that_no_file_has_is_an_error() -> None:
    with pytest.raises(FileAccessError, match="has a character that no file name can hold"):
        create("kernel\0.cpp")


def test_large_kernel_files_raise_an_error(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cpp"
    with path.open("wb") as file:
        file.truncate(200 << 30)
    with pytest.raises(KernelError, match="has 214748364800 bytes; expected at most"):
        create(path)
