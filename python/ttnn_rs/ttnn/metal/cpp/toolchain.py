"""The compiler of C++ kernels: zig's clang, or another one that the user names."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ttnn.base.exceptions import KernelCompileError

TARGET = ("-target", "riscv32-linux-musl")
_TIMEOUT = 300
"""Seconds that one run of the compiler may take."""


@dataclass(frozen=True)
class Toolchain:
    """Commands that compile and link, without their arguments.

    Attributes:
        compile: The C++ compiler, with target and processor.
        link: The linker.
        library: What builds the compiler's runtime library, empty if the compiler brings it.
        version: Part of the key of the cache.
    """

    compile: tuple[str, ...]
    link: tuple[str, ...]
    library: tuple[str, ...]
    version: str


def find_toolchain() -> Toolchain:
    """Return the toolchain: clang of the environment variable `TTNN_CXX`, else zig of the extra `kernels`.

    Raises:
        KernelCompileError: there is none.
    """
    return _find(os.environ.get("TTNN_CXX", ""))


@lru_cache(maxsize=8)
def _find(setting: str) -> Toolchain:
    if setting:
        return _named(shlex.split(setting))
    spec = find_spec("ziglang")
    folder = Path(next(iter(spec.submodule_search_locations or ()))) if spec else None
    zig = next((str(place) for name in ("zig", "zig.exe") if folder and (place := folder / name).is_file()), None)
    if zig is None:
        raise KernelCompileError(
            "C++ kernels need a compiler: install the extra with `pip install 'ttnn-rs[kernels]'` (zig, 101 MB), or "
            "name a clang++ of version 17 or later in the environment variable TTNN_CXX"
        )
    # Importing importlib.metadata takes longer than finding all that a program needs in the cache.
    assert folder is not None
    named = next(folder.parent.glob("ziglang-*.dist-info"), None)
    found = named.name.removeprefix("ziglang-").removesuffix(".dist-info") if named else "unknown"
    return Toolchain(
        (zig, "c++", *TARGET, "-mcpu=generic_rv32+m"),
        (zig, "ld.lld"),
        (zig, "build-lib", "-fcompiler-rt", *TARGET, "-mcpu=generic_rv32+m", "-OReleaseSmall"),
        f"zig {found}",
    )


def _named(command: Sequence[str]) -> Toolchain:
    """Return the toolchain around a compiler that the user names: its linker is `ld.lld` beside it or on the path."""
    program = shutil.which(command[0])
    if program is None:
        raise KernelCompileError(f"TTNN_CXX names {command[0]}, which does not exist")
    linker = shutil.which("ld.lld", path=str(Path(program).parent)) or shutil.which("ld.lld")
    if linker is None:
        raise KernelCompileError(f"TTNN_CXX names {program}, but there is no ld.lld beside it or on the path")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    target = ("--target=riscv32-unknown-elf", "-march=rv32im", "-mabi=ilp32", "-stdlib=libc++")
    return Toolchain((program, *command[1:], *target), (linker,), (), done.stdout.partition("\n")[0])


def run(command: Sequence[str], folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool in a folder; its own cache lies below ours.

    Raises:
        KernelCompileError: it cannot be started, or takes longer than 300 s.
    """
    place = str(cache / "zig")
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": place, "ZIG_LOCAL_CACHE_DIR": place, "LC_ALL": "C"}
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT, check=False,
            env=environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KernelCompileError(f"{command[0]} did not run: {error}") from error
