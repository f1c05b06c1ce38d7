"""From C++ source to image: compile, choose the entry, link; what was compiled before comes from the cache."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from functools import lru_cache
from pathlib import Path

from ttnn import _engine
from ttnn.base.exceptions import KernelCompileError
from ttnn.metal.cpp.cache import (
    INCLUDE,
    cache_folder,
    digest,
    find_image,
    headers_digest,
    store_image,
    write_atomically,
)
from ttnn.metal.cpp.diagnostics import raise_compile_error, raise_link_error
from ttnn.metal.cpp.elf import symbols
from ttnn.metal.cpp.entry import find_entry, named_entry, refuse_split
from ttnn.metal.cpp.forwards import forwards
from ttnn.metal.cpp.generated import generated_header
from ttnn.metal.cpp.refused_header import refused_header
from ttnn.metal.cpp.sfpu_header import sfpu_header
from ttnn.metal.cpp.spec import TRISC, CompiledKernel, CppSource, KernelSettings
from ttnn.metal.cpp.toolchain import Toolchain, find_toolchain, run

_FLAGS = (
    *("-std=c++20", "-O2", "-gline-tables-only", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"),
    *("-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer", "-ffunction-sections"),
    *("-fdata-sections", "-fno-pic", "-fno-stack-protector", "-fno-sanitize=all", "-ffp-contract=off"),
    *("-fno-strict-aliasing", "-fno-optimize-sibling-calls", "-ferror-limit=5", "-w"),
    "-Wno-missing-template-arg-list-after-template-kw",
)
"""Flags of every compilation. Kernels read memory through pointers of other types, so aliasing is not strict; a call at
the end of a function stays a call, so that errors name its line."""


_NO_TIMES = ("-Xclang", "-fno-pch-timestamp")


def compile_kernel(source: CppSource, settings: KernelSettings) -> CompiledKernel:
    """Return a kernel compiled for a processor.

    Raises:
        KernelCompileError: there is no compiler, the source does not compile or link, or has no entry or two.
        UnsupportedError: the source needs what is not modelled.
        KernelArgumentError: a define or an argument has no name in C++.
    """
    header, names = generated_header(settings), settings.names
    toolchain, folder = find_toolchain(), cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KernelCompileError(
            f"the folder of compiled kernels, {folder}, cannot be made: {error.strerror}. "
            "Set TT_METAL_CACHE to another."
        ) from None
    key = digest(
        *(str(source.path), source.text, *map(str, source.roots), header, names, str(settings.processor)),
        *(toolchain.version, " ".join(_FLAGS), _base(toolchain)),
    )
    image = find_image(folder, key)
    if image is None:
        image, read = _build(source, header, names, settings.processor, toolchain, folder)
        store_image(folder, key, image, read)
    return CompiledKernel(image, _notes(image))


@lru_cache(maxsize=512)
def _notes(image: bytes) -> tuple[str, ...]:
    soft = [symbol.name for symbol in symbols(image) if re.fullmatch(r"__\w+[sd]f[2-3]?", symbol.name)]
    if not soft:
        return ()
    return (f"float arithmetic in software on a RISC: {', '.join(sorted(soft)[:5])}",)


def _build(
    source: CppSource, header: str, names: str, processor: int, toolchain: Toolchain, folder: Path
) -> tuple[bytes, list[str]]:
    refuse_split(source)
    base = _base_folder(toolchain, folder)
    with tempfile.TemporaryDirectory(prefix="ttnn-kernel-") as place:
        work = Path(place)
        path = source.path
        if path is None:
            # Kept, so that messages and debuggers find it.
            path = folder / "sources" / f"{digest(source.text)}.cpp"
            write_atomically(path, source.text.encode())
        (work / "ttnn_rs_generated.h").write_text(header, encoding="utf-8")
        start = "ttnn_rs/compute_start.h" if processor == TRISC else "ttnn_rs/dataflow_start.h"
        includes = ["ttnn_rs/base.h", "ttnn_rs_generated.h", start]
        if names:
            (work / "ttnn_rs_names.h").write_text(f'#line 2 "{INCLUDE.as_posix()}/names.h"\n{names}', encoding="utf-8")
            includes.append("ttnn_rs_names.h")
        lines = [
            *(f'#include "{name}"' for name in includes),
            f'#include "{path.as_posix()}"',
            *named_entry(source.text),
        ]
        (work / "kernel.cpp").write_text("\n".join(lines) + "\n", encoding="utf-8")
        searched = [INCLUDE, base / "forward", work, *_user_folders(source, path, folder)]
        command = [
            *(*toolchain.compile, *_FLAGS, "-include-pch", str(base / "base.pch")),
            *(flag for place in searched for flag in ("-I", str(place))),
            # Headers of the system are the compiler's, whose version is part of the key.
            *("-MMD", "-MF", "kernel.d", "-c", "kernel.cpp", "-o", "kernel.o"),
        ]
        done = run(command, work, folder)
        if done.returncode:
            raise_compile_error(source.name, done.stderr, (INCLUDE, folder, work, "."), path)
        entry = find_entry(source, (work / "kernel.o").read_bytes())
        _link(source.name, entry, work, base, toolchain, folder)
        depends = _dependencies((work / "kernel.d").read_text(encoding="utf-8"))
        read = [name for name in depends if not name.startswith((str(INCLUDE), str(base), str(work)))]
        return (work / "kernel.elf").read_bytes(), [name for name in read if Path(name).is_absolute()]


def _dependencies(text: str) -> list[str]:
    """Return the headers of a dependency file."""
    _, _, listed = text.replace("\\\n", " ").partition(":")
    return [name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", listed)]


_ROOT = re.compile(r"(.*)/ttnn/cpp/ttnn/")


def _user_folders(source: CppSource, path: Path, folder: Path) -> list[Path]:
    """Return where headers of the user are looked for: kernels of TT-NN name theirs from the top of its tree."""
    inside = _ROOT.match(path.as_posix())
    roots = [*([Path(inside[1])] if inside else []), *source.roots]
    found = []
    for root in dict.fromkeys(roots):
        if (root / "ttnn" / "cpp").is_dir():
            # Below this link only the folder `ttnn` is seen: nothing of the official device headers beside it.
            shadow = folder / "roots" / digest(str(root.resolve()))
            if not (shadow / "ttnn").exists():
                shadow.mkdir(parents=True, exist_ok=True)
                _link_folder(shadow / "ttnn", root.resolve() / "ttnn")
            found += [shadow, root / "ttnn", root / "ttnn" / "cpp"]
        else:
            found.append(root)
    return [path.parent, *found]


def _link_folder(link: Path, target: Path) -> None:
    try:
        link.symlink_to(target, target_is_directory=True)
    except FileExistsError:
        return


# What all kernels share.

_lock = threading.Lock()


@lru_cache(maxsize=8)
def _base(toolchain: Toolchain) -> str:
    """Return the name of what all kernels share: headers and what generates them, calls of the engine, compiler.

    What is generated follows from the code that generates it, which is faster to read than to run.
    """
    package = INCLUDE.parents[2]
    sources = sorted((*package.glob("kernel_api/*.py"), *INCLUDE.parent.glob("*.py")))
    written = (part for path in sources for part in (path.name, path.read_bytes()))
    calls = "\n".join(_engine.kernel_calls())
    return digest(headers_digest(), str(INCLUDE), *written, calls, _engine.__version__, toolchain.version)


def _generated() -> dict[str, str]:
    """Return the headers that are generated once for all kernels."""
    return {"ttnn_rs/sfpu_functions.h": sfpu_header(), "ttnn_rs/refused.h": refused_header()}


def _base_folder(toolchain: Toolchain, folder: Path) -> Path:
    """Return the folder with what all kernels share; make it if this is the first kernel."""
    base = folder / f"base-{_base(toolchain)}"
    with _lock:
        if not base.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            place = Path(tempfile.mkdtemp(dir=folder, prefix="base-new-"))
            try:
                _make_base(place, toolchain, folder)
                try:
                    place.rename(base)
                except OSError:  # another process was faster
                    if not base.is_dir():
                        raise
            finally:
                shutil.rmtree(place, ignore_errors=True)
    return base


def _make_base(place: Path, toolchain: Toolchain, folder: Path) -> None:
    headers = {name: f'#pragma once\n#include "{target}"\n' for name, target in forwards().items()}
    # Their lines count as lines of our headers: errors name the user's line.
    written = {name: f'#line 2 "{(INCLUDE / name).as_posix()}"\n{text}' for name, text in _generated().items()}
    for name, text in {**headers, **written}.items():
        file = place / "forward" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (place / "calls.S").write_text(_calls(), encoding="utf-8")
    shared = [*toolchain.compile, *_FLAGS, "-I", str(INCLUDE)]
    for command in (
        # The name of the folder says what the headers contain; when they were written does not matter.
        [*shared, *_NO_TIMES, "-x", "c++-header", str(INCLUDE / "ttnn_rs" / "base.h"), "-o", "base.pch"],
        [*shared, "-fno-builtin", "-c", str(INCLUDE / "ttnn_rs" / "start.cpp"), "-o", "start.o"],
        [*toolchain.compile, "-c", "calls.S", "-o", "calls.o"],
    ):
        done = run(command, place, folder)
        if done.returncode:
            raise_compile_error("ttnn_rs", done.stderr)


def _calls() -> str:
    """Return the stubs of the engine's calls: the number in t0, arguments where the ABI has them."""
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


def _link(name: str, entry: str, work: Path, base: Path, toolchain: Toolchain, folder: Path) -> None:
    script = INCLUDE / "ttnn_rs" / "kernel.ld"
    command = [
        *(*toolchain.link, "-T", str(script), "-n", "--gc-sections", f"--defsym=tt_entry={entry}"),
        *(str(base / "start.o"), str(base / "calls.o"), "kernel.o"),
    ]
    done = run([*command, "-o", "kernel.elf"], work, folder)
    if done.returncode and "std::__1::__sort<" in done.stderr:
        command.append(str(_sorting(toolchain, base, folder)))
        done = run([*command, "-o", "kernel.elf"], work, folder)
    if done.returncode and re.search(r"undefined symbol: __\w+", done.stderr):
        done = run([*command, *_runtime_library(toolchain, base, folder), "-o", "kernel.elf"], work, folder)
    if done.returncode:
        raise_link_error(name, done.stderr)


def _sorting(toolchain: Toolchain, base: Path, folder: Path) -> Path:
    """Return the functions behind `std::sort` of plain numbers; few kernels need them."""
    made = base / "sort.o"
    if not made.is_file():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            command = [*toolchain.compile, *_FLAGS, "-c", str(INCLUDE / "ttnn_rs" / "sort.cpp"), "-o", "sort.o"]
            done = run(command, Path(place), folder)
            if done.returncode:
                raise_compile_error("ttnn_rs", done.stderr)
            write_atomically(made, (Path(place) / "sort.o").read_bytes())
    return made


def _runtime_library(toolchain: Toolchain, base: Path, folder: Path) -> list[str]:
    """Return the library of soft float and 64-bit division; few kernels need it, and it takes some seconds once."""
    if not toolchain.library:
        return []
    library = base / "librt.a"
    if not library.is_file():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            (Path(place) / "empty.c").write_text("\n", encoding="utf-8")
            command = [*toolchain.library, "--name", "rt", "empty.c"]
            done = run(command, Path(place), folder)
            if done.returncode:
                raise_link_error("ttnn_rs", done.stderr)
            write_atomically(library, (Path(place) / "librt.a").read_bytes())
    return [str(library)]
