"""C++ source to image: compile, choose entry, link, or load cached."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from ttnn.base.exceptions import KernelCompileError
from ttnn.metal.cpp.assembly import assembler_error, forbidden_directive
from ttnn.metal.cpp.cache import (
    INCLUDE,
    cache_folder,
    digest,
    find_image,
    read_sealed,
    source_path,
    store_image,
    work_folder,
    write_cached,
    write_sealed,
)
from ttnn.metal.cpp.diagnostics import missing_header, raise_compile_error, raise_link_error
from ttnn.metal.cpp.elf import symbols
from ttnn.metal.cpp.entry import find_entry, named_entry, refuse_split
from ttnn.metal.cpp.generated import generated_header
from ttnn.metal.cpp.overlay import WORK, overlay
from ttnn.metal.cpp.shared import ASSEMBLE, Shared, find_shared, runtime_library, shared_name, sorting
from ttnn.metal.cpp.spec import TRISC, CompiledKernel, CppSource, KernelSettings
from ttnn.metal.cpp.toolchain import KERNEL_LIMITS, Toolchain, find_toolchain, run
from ttnn.metal.cpp.visible import Visible, visible_files

_MOST_ASKED = 64
"""Names of headers that only macros make up, in one kernel."""
_LARGEST = 4 << 20
"""Characters of a source."""


@dataclass(frozen=True)
class _Job:
    """A kernel to compile.

    Attributes:
        source: The kernel.
        main: The path of its source. A text has one in the cache, so that messages and debuggers find it.
        processor: What it runs on.
        header: The generated header.
        names: The header of names.
    """

    source: CppSource
    main: Path
    processor: int
    header: str
    names: str


def compile_kernel(source: CppSource, settings: KernelSettings) -> CompiledKernel:
    """Return a kernel compiled for a processor.

    Raises:
        KernelCompileError: there is no compiler, the source does not compile or link, has no entry or two, needs more
            than the compiler may use, or names files that it may not read.
        UnsupportedError: the source needs what is not modelled.
        KernelArgumentError: a define or an argument has no name in C++.
    """
    header, names = generated_header(settings), settings.names
    toolchain, folder = find_toolchain(), cache_folder()
    if len(source.text) > _LARGEST:
        raise KernelCompileError(f"kernel {source.name} has more than {_LARGEST >> 20} MiB of text", kernel=source.name)
    main = source_path(source)
    job = _Job(source, main, settings.processor, header, names)
    seen = visible_files(source, main, header)
    first = key = _key(job, seen, toolchain)
    image = find_image(folder, key)
    asked = _asked(folder, first) if image is None else ()
    if asked:
        seen = visible_files(source, main, header, asked)
        key = _key(job, seen, toolchain)
        image = find_image(folder, key)
    if image is None:
        image, key, asked = _build(job, seen, asked, toolchain, folder)
        store_image(folder, key, image)
        if asked:
            write_sealed(folder / f"{first}.names", json.dumps(asked).encode())
    return CompiledKernel(image, _notes(image))


def _key(job: _Job, seen: Visible, toolchain: Toolchain) -> str:
    """Return an image's name: all that the compiler sees, in order."""
    order = (part for folder in seen.search for part in folder)
    files = (part for path, data in sorted(seen.files.items()) for part in (path, data))
    known = (seen.main, job.header, job.names, str(job.processor), shared_name(toolchain), str(len(seen.search)))
    return digest(*known, *order, *files)


def _asked(folder: Path, key: str) -> tuple[str, ...]:
    """Return header names requested at a kernel's last compilation."""
    data = read_sealed(folder / f"{key}.names")
    return () if data is None else tuple(json.loads(data))


@lru_cache(maxsize=512)
def _notes(image: bytes) -> tuple[str, ...]:
    soft = [symbol.name for symbol in symbols(image) if re.fullmatch(r"__\w+[sd]f[2-3]?", symbol.name)]
    if not soft:
        return ()
    return (f"float arithmetic in software on a RISC: {', '.join(sorted(soft)[:5])}",)


def _build(
    job: _Job, seen: Visible, asked: tuple[str, ...], toolchain: Toolchain, folder: Path
) -> tuple[bytes, str, tuple[str, ...]]:
    """Return an image, its key, and its compiler-only header names."""
    refuse_split(job.source)
    shared = find_shared(toolchain, folder)
    if job.source.path is None:
        write_cached(job.main, job.source.text.encode(errors="surrogatepass"))
    while True:
        with work_folder(folder) as work:
            output = _compile(job, seen, shared, work, folder)
            if output is None:
                _assemble(job, shared, work, folder)
                return _link(job.source, work, shared, toolchain, folder), _key(job, seen, toolchain), asked
        name = missing_header(output)
        if not name or name in asked or len(asked) >= _MOST_ASKED:
            _raise(job, seen, output, folder)
        more = visible_files(job.source, job.main, job.header, (*asked, name))
        if more.files == seen.files:
            _raise(job, more, output, folder)
        seen, asked = more, (*asked, name)


def _compile(job: _Job, seen: Visible, shared: Shared, work: Path, folder: Path) -> str | None:
    """Write `kernel.s`; return the compiler's messages if it fails."""
    start = "ttnn_rs/compute_start.h" if job.processor == TRISC else "ttnn_rs/dataflow_start.h"
    generated = {"ttnn_rs_generated.h": job.header}
    includes = [f"{WORK}/ttnn_rs_generated.h", start]
    if job.names:
        generated["ttnn_rs_names.h"] = f'#line 2 "{INCLUDE.as_posix()}/names.h"\n{job.names}'
        includes.append(f"{WORK}/ttnn_rs_names.h")
    # The source is the compiler's main file, so that its name may have any character.
    entry = "".join(f"\n{line}" for line in named_entry(job.source.text))
    (work / "overlay.json").write_text(overlay(seen, generated, entry, shared, work), encoding="utf-8")
    words = {"OVERLAY": str(work / "overlay.json"), "OUTPUT": "kernel.s", "probe.cpp": job.main.name}
    searched = [str(INCLUDE), f"{WORK}/forward", *(place.path for place in seen.search)]
    command = [
        *(words.get(word, word) for word in shared.frontend),
        *(flag for place in searched for flag in ("-I", place)),
        *(flag for name in includes for flag in ("-include", name)),
        *("-x", "c++", seen.main),
    ]
    done = run(command, work, folder, KERNEL_LIMITS)
    return done.stdout if done.returncode else None


def _raise(job: _Job, seen: Visible, output: str, folder: Path) -> NoReturn:
    ours = (str(INCLUDE), str(folder), WORK, "<built-in>")
    raise_compile_error(job.source.name, output, ours, job.main, seen.files, seen.refused)


def _assemble(job: _Job, shared: Shared, work: Path, folder: Path) -> None:
    """Write `kernel.o`."""
    text = (work / "kernel.s").read_bytes().decode("latin-1")
    forbidden = forbidden_directive(text)
    if forbidden is not None:
        what, place = forbidden
        raise _assembly_error(
            job,
            place,
            f"assembly with {what}: a kernel may neither include files in its assembly nor have macros there; use "
            "#embed or an array for data",
        )
    command = [*shared.driver, *ASSEMBLE, "-c", "-x", "assembler", "kernel.s", "-o", "kernel.o"]
    done = run(command, work, folder, KERNEL_LIMITS)
    if done.returncode:
        what, place = assembler_error(text, done.stdout) or (done.stdout[:2000], "")
        raise _assembly_error(job, place, what)


def _assembly_error(job: _Job, place: str, what: str) -> KernelCompileError:
    file, _, line = place.rpartition(":")
    text = f"{place or job.main}: error: {what}"
    return KernelCompileError(text, kernel=job.source.name, file=file or str(job.main), line=int(line or 0))


def _link(source: CppSource, work: Path, shared: Shared, toolchain: Toolchain, folder: Path) -> bytes:
    entry = find_entry(source, (work / "kernel.o").read_bytes())
    script = INCLUDE / "ttnn_rs" / "kernel.ld"
    command = [
        *(*toolchain.link, "-T", str(script), "-n", "--gc-sections", f"--defsym=tt_entry={entry}"),
        # A source names no library of the host.
        *("--no-dependent-libraries", str(shared.folder / "start.o"), str(shared.folder / "calls.o"), "kernel.o"),
    ]
    output = ("-o", "kernel.elf")
    done = run([*command, *output], work, folder, KERNEL_LIMITS)
    if done.returncode and "std::__1::__sort<" in done.stdout:
        command.append(sorting(shared, folder))
        done = run([*command, *output], work, folder, KERNEL_LIMITS)
    if done.returncode and re.search(r"undefined symbol: __\w+", done.stdout):
        command += runtime_library(shared, toolchain, folder)
        done = run([*command, *output], work, folder, KERNEL_LIMITS)
    if done.returncode:
        raise_link_error(source.name, done.stdout)
    return (work / "kernel.elf").read_bytes()
