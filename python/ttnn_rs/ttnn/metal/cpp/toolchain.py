"""The C++ kernel compiler: zig's clang, or a user's."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ttnn.base.exceptions import KernelCompileError

TARGET = ("-target", "riscv32-linux-musl")
_TIMEOUT = 600
"""Time limit of one run of the compiler, in seconds."""


@dataclass(frozen=True)
class Toolchain:
    """Commands that compile and link, without their arguments.

    Attributes:
        compile: The C++ compiler, with target and processor.
        link: The linker.
        library: What builds the compiler's runtime library, empty if the compiler has it.
        version: Part of the key of the cache.
    """

    compile: tuple[str, ...]
    link: tuple[str, ...]
    library: tuple[str, ...]
    version: str


def find_toolchain() -> Toolchain:
    """Return the toolchain: `TTNN_CXX`'s clang, or zig of extra `kernels`.

    `TTNN_CXX` is an environment variable.

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
    # Importing importlib.metadata is slower than finding all that a program needs in the cache.
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
    """Return the toolchain of a user's compiler.

    Its linker is `ld.lld` next to it or on the path.
    """
    program = shutil.which(command[0])
    if program is None:
        raise KernelCompileError(f"TTNN_CXX names {command[0]}, which does not exist")
    linker = shutil.which("ld.lld", path=str(Path(program).parent)) or shutil.which("ld.lld")
    if linker is None:
        raise KernelCompileError(f"TTNN_CXX names {program}, but there is no ld.lld next to it or on the path")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    target = ("--target=riscv32-unknown-elf", "-march=rv32im", "-mabi=ilp32", "-stdlib=libc++")
    return Toolchain((program, *command[1:], *target), (linker,), (), done.stdout.partition("\n")[0])


@dataclass(frozen=True)
class Limits:
    """Resource limits of one tool run.

    Attributes:
        memory: MiB of address space.
        seconds: Seconds of CPU.
        file: MiB of the largest file that it writes.
    """

    memory: int
    seconds: int
    file: int


KERNEL_LIMITS = Limits(memory=2048, seconds=60, file=256)
"""Limit far above TT-NN's largest kernels, which compile in seconds."""
SHARED_LIMITS = Limits(memory=65536, seconds=1800, file=1024)
"""Memory for building our own sources.

Zig reserves a stack for each core.
"""

# The limits hold from the first instruction of the tool. A `preexec_fn` would run Python between fork and exec, which
# is not safe while other threads run. A lower limit of the user's stays.
_LIMITED = """
ulimit -c 0
ulimit -v {memory}
ulimit -f {blocks}
ulimit -S -t {seconds}
ulimit -H -t {hard}
exec 2>&1
exec "$@"
"""
_SHOWN = 1 << 20
"""Bytes of a tool's messages that are read."""
_NO_MEMORY = re.compile(
    r"^(?:LLVM ERROR: out of memory|libc\+\+abi: .*bad_alloc|terminate called .*bad_alloc|error: OutOfMemory"
    r"|(?:ld\.lld|zig): error: .*[Cc]annot allocate memory)",
    re.MULTILINE,
)
_TOO_LARGE = re.compile(r"^(?:ld\.lld|zig|LLVM|error|fatal)[^\n]*(?:[Ff]ile too large|FileTooBig)", re.MULTILINE)
_KEPT_VARIABLES = ("LD_LIBRARY_PATH", "SYSTEMROOT")


def _environment(folder: Path, cache: Path) -> dict[str, str]:
    """Return a tool's environment.

    It has none of the variables from which compilers read flags, folders or plugins.
    """
    zig = str(cache / "zig")
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    own = {name: str(folder) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")}
    fixed = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}
    return {**kept, **own, **fixed, "ZIG_GLOBAL_CACHE_DIR": zig, "ZIG_LOCAL_CACHE_DIR": zig}


def run(
    command: Sequence[str], folder: Path, cache: Path, limits: Limits = SHARED_LIMITS, variables: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """Run a tool in a folder, limited, with its own environment.

    Its cache is below ours.

    Raises:
        KernelCompileError: it cannot be started, or reaches a limit.
    """
    sizes = {"memory": limits.memory << 10, "blocks": limits.file << 11}
    script = "exec 2>/dev/null" + _LIMITED.format(**sizes, seconds=limits.seconds, hard=limits.seconds + 5)
    shown = folder / "messages.txt"
    try:
        with shown.open("ab") as messages:
            process = subprocess.Popen(
                ("/bin/sh", "-c", script, "sh", *command), cwd=folder, env={**_environment(folder, cache), **variables},
                stdin=subprocess.DEVNULL, stdout=messages, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                code = process.wait(_TIMEOUT)
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        with shown.open("rb") as messages:
            text = messages.read(_SHOWN).decode(errors="replace")
    except subprocess.TimeoutExpired:
        raise KernelCompileError(_limit(command, f"{_TIMEOUT} s of time")) from None
    except OSError as error:
        raise KernelCompileError(f"{command[0]} did not run: {error}") from error
    if code < 0 and not text:
        text = f"the compiler ended with signal {-code}"
    if code == -signal.SIGXCPU:
        raise KernelCompileError(_limit(command, f"{limits.seconds} s of CPU time"))
    if code == -signal.SIGXFSZ or (code and _TOO_LARGE.search(text)):
        raise KernelCompileError(_limit(command, f"{limits.file} MiB for a file that it writes"))
    if code and _NO_MEMORY.search(text):
        raise KernelCompileError(_limit(command, f"{limits.memory} MiB of memory"))
    return subprocess.CompletedProcess(command, code, text, "")


def _limit(command: Sequence[str], what: str) -> str:
    return f"the compiler of C++ kernels ({command[0]}) stopped at its limit of {what}; make the kernel smaller"
