"""Files shared by all kernels.

Precompiled header, start code, engine calls, libraries, command lines.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from ttnn import _engine
from ttnn.base.exceptions import KernelCompileError
from ttnn.metal.cpp.cache import (
    INCLUDE,
    digest,
    headers_digest,
    is_sound,
    read_sealed,
    work_folder,
    write_sealed,
    write_with_seal,
)
from ttnn.metal.cpp.diagnostics import raise_compile_error, raise_link_error
from ttnn.metal.cpp.forwards import forwards
from ttnn.metal.cpp.refused_header import refused_header
from ttnn.metal.cpp.sfpu_header import sfpu_header
from ttnn.metal.cpp.toolchain import Toolchain, run

FLAGS = (
    *("-std=c++20", "-O2", "-gline-tables-only", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"),
    *("-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer", "-ffunction-sections"),
    *("-fdata-sections", "-fno-pic", "-fno-stack-protector", "-fno-sanitize=all", "-ffp-contract=off"),
    *("-fno-strict-aliasing", "-fno-optimize-sibling-calls", "-ferror-limit=5", "-w"),
    # An image does not name the folder that it was made in.
    *("-Wno-missing-template-arg-list-after-template-kw", "-ffile-compilation-dir=."),
)
"""Flags of every compilation.

Kernels read memory through pointers of other types, so aliasing is not strict; a call at the end of a function stays a
call, so that errors name its line.
"""
ASSEMBLE = ("-march=rv32im", "-mno-relax")
"""Assembler flags, which exclude zig's processor flags."""
_NO_TIMES = ("-Xclang", "-fno-pch-timestamp")
_KERNEL_FLAGS = (
    # Assembly is looked at before it is assembled, see `assembly`. Its comments would hold the names of files.
    *("-S", "-fno-integrated-as", "-fno-verbose-asm"),
    *("-ivfsoverlay", "OVERLAY", "-include-pch", "base.pch", "-Xclang", "-disable-pragma-debug-crash"),
)
_FOLDER_FLAGS = ("-isystem", "-internal-isystem", "-internal-externc-isystem", "-idirafter", "-I", "-resource-dir")


@dataclass(frozen=True)
class Shared:
    """Files shared by all kernels, on disk, valid when they were checked.

    Attributes:
        folder: Where its files are.
        driver: The compiler, with the flags of every compilation.
        frontend: The compiler proper: reads one source and writes assembly. It looks for no file by itself.
        headers: Our headers under further names: name, file.
        system: Folders of the compiler's own headers.
    """

    folder: Path
    driver: tuple[str, ...]
    frontend: tuple[str, ...]
    headers: dict[str, Path]
    system: tuple[str, ...]


_lock = threading.Lock()
_FILES = ("base.pch", "start.o", "calls.o", "sfpu_functions.h", "refused.h")
_GENERATED = {"ttnn_rs/sfpu_functions.h": sfpu_header, "ttnn_rs/refused.h": refused_header}
"""Headers that are generated once for all kernels."""


@lru_cache(maxsize=8)
def shared_name(toolchain: Toolchain) -> str:
    """Return the shared files' name.

    It follows from headers and what generates them, calls of the engine, compiler.

    What is generated follows from the code that generates it, which is faster to read than to run.
    """
    package = INCLUDE.parents[2]
    sources = sorted((*package.glob("kernel_api/*.py"), *INCLUDE.parent.glob("*.py")))
    written = (part for path in sources for part in (path.name, path.read_bytes()))
    calls = "\n".join(_engine.kernel_calls())
    named = (*toolchain.compile, *toolchain.link, *toolchain.library, toolchain.version)
    return digest(headers_digest(), str(INCLUDE), *written, calls, _engine.__version__, *named)


def find_shared(toolchain: Toolchain, cache: Path) -> Shared:
    """Return the shared files, remaking missing or damaged ones.

    Raises:
        KernelCompileError: something of it cannot be made.
    """
    folder = cache / f"shared-{shared_name(toolchain)}"
    with _lock:
        commands = _commands(folder)
        if commands is None or not all(is_sound(folder / name) for name in _FILES):
            _make(folder, toolchain, cache)
            commands = _commands(folder)
    if commands is None:
        raise KernelCompileError(f"{folder} cannot be read after it was written. Set TT_METAL_CACHE to another folder.")
    driver, frontend = commands
    files = {**{name: _target(name) for name in forwards()}, **{name: folder / Path(name).name for name in _GENERATED}}
    system = [value for flag, value in pairwise(frontend) if flag in _FOLDER_FLAGS]
    return Shared(folder, driver, frontend, files, tuple(dict.fromkeys(filter(os.path.isdir, system))))


def _target(name: str) -> Path:
    """Return the header that another name finally forwards to."""
    while name in forwards():
        name = forwards()[name]
    return INCLUDE / name


def _commands(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the compiler's command lines, None if not known yet."""
    data = read_sealed(folder / "commands.json")
    if data is None:
        return None
    stored = json.loads(data)
    return tuple(stored["driver"]), tuple(stored["frontend"])


def _make(folder: Path, toolchain: Toolchain, cache: Path) -> None:
    with work_folder(cache) as work:
        for name, made in _GENERATED.items():
            # Their lines count as lines of our headers: errors name the user's line.
            text = f'#line 2 "{(INCLUDE / name).as_posix()}"\n{made()}'
            (work / Path(name).name).write_text(text, encoding="utf-8")
        (work / "calls.S").write_text(_calls(), encoding="utf-8")
        (work / "probe.cpp").touch()
        driver = _driver(toolchain, work, cache)
        compile_ours = [*driver, "-I", str(INCLUDE)]
        for command in (
            # The name of the folder depends on the content of the headers; when they were written does not matter.
            [*compile_ours, *_NO_TIMES, "-x", "c++-header", str(INCLUDE / "ttnn_rs" / "base.h"), "-o", "base.pch"],
            [*compile_ours, "-fno-builtin", "-c", str(INCLUDE / "ttnn_rs" / "start.cpp"), "-o", "start.o"],
            [*driver, *ASSEMBLE, "-c", "calls.S", "-o", "calls.o"],
        ):
            _run(command, work, cache)
        for name in _FILES:
            write_with_seal(folder / name, (work / name).read_bytes())
        frontend = _frontend(driver, work, cache, folder)
        stored = {"driver": driver, "frontend": frontend}
        write_sealed(folder / "commands.json", json.dumps(stored).encode())


def _run(command: Sequence[str], work: Path, cache: Path) -> None:
    done = run(command, work, cache)
    if done.returncode:
        raise_compile_error("ttnn_rs", done.stdout)


def _driver(toolchain: Toolchain, work: Path, cache: Path) -> list[str]:
    """Return clang's command line without zig.

    Zig only adds flags to it, and files of a cache that knows less than ours.
    """
    if not toolchain.library:
        return [*toolchain.compile, *FLAGS]
    # In a new cache of its own, since zig calls clang for nothing that it finds in its cache.
    own = {"ZIG_GLOBAL_CACHE_DIR": str(work), "ZIG_LOCAL_CACHE_DIR": str(work), "ZIG_VERBOSE_CC": "1"}
    done = run([*toolchain.compile, *FLAGS, "-c", "probe.cpp", "-o", "probe.o"], work, cache, variables=own)
    zig = toolchain.compile[0]
    # The words of the line are not quoted, so that paths are taken out first.
    hidden = [str(work), str(cache), str(Path(zig).parent)]
    for index, path in enumerate(hidden):
        done.stdout = done.stdout.replace(path, f"@{index}@")
    line = next((line for line in done.stdout.splitlines() if re.match(r"@2@/zig\S* clang ", line)), "")
    words = line.split()
    if done.returncode or words[-3:-1] != ["-c", "-o"] or "-MF" not in words or "probe.cpp" not in words:
        raise KernelCompileError(f"{zig} does not show how it calls clang: {done.stdout[:500]}")
    words.remove("probe.cpp")
    listed = words.index("-MF")
    words = words[:listed] + words[listed + 2 : -3]
    kept = [word for word in words if word not in ("-MD", "-MV", "-MMD")]
    return [re.sub(r"@(\d)@", lambda found: hidden[int(found[1])], word) for word in kept]


def _frontend(driver: list[str], work: Path, cache: Path, folder: Path) -> list[str]:
    """Return the compiler proper, as its driver starts it.

    A driver refuses names of files that no disk has.
    """
    command = [*driver, *_KERNEL_FLAGS, "-x", "c++", "probe.cpp", "-o", "OUTPUT", "-###"]
    done = run(command, work, cache)
    line = next((line for line in done.stdout.splitlines() if '"-cc1"' in line), "")
    words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', line)]
    if done.returncode or words[-3:] != ["-x", "c++", "probe.cpp"] or "OUTPUT" not in words:
        raise KernelCompileError(f"{driver[0]} does not show how it compiles: {done.stdout[:500]}")
    program = driver[: 1 + (driver[1] == "clang")]
    words = [*program, *words[1:-3]]
    words[words.index("base.pch")] = str(folder / "base.pch")
    return words


def _calls() -> str:
    """Return engine call stubs: number in t0, ABI arguments."""
    lines = []
    for number, name in enumerate(_engine.kernel_calls()):
        lines += [
            f'.section .tt_calls.{name}, "ax", @progbits',
            f".globl tt_call_{name}",
            f"tt_call_{name}:",
            f"    li t0, {number}",
            "    ecall",
            "    ret",
        ]
    return "\n".join(lines) + "\n"


def _once(path: Path, cache: Path, make: Callable[[Path], object]) -> str:
    """Return a rarely needed file, made in a work folder if missing.

    `make` makes it, also if it is damaged.
    """
    with _lock:
        if not is_sound(path):
            with work_folder(cache) as work:
                make(work)
                write_with_seal(path, (work / path.name).read_bytes())
    return str(path)


def sorting(shared: Shared, cache: Path) -> str:
    """Return the object file of the functions of `std::sort` for plain numbers."""
    source = str(INCLUDE / "ttnn_rs" / "sort.cpp")
    return _once(
        shared.folder / "sort.o", cache, lambda work: _run([*shared.driver, "-c", source, "-o", "sort.o"], work, cache)
    )


def runtime_library(shared: Shared, toolchain: Toolchain, cache: Path) -> list[str]:
    """Return the library of soft float and 64-bit division.

    It takes some seconds once.
    """
    if not toolchain.library:
        return []

    def make(work: Path) -> None:
        (work / "empty.c").write_text("\n", encoding="utf-8")
        done = run([*toolchain.library, "--name", "rt", "empty.c"], work, cache)
        if done.returncode:
            raise_link_error("ttnn_rs", done.stdout)

    return [_once(shared.folder / "librt.a", cache, make)]
