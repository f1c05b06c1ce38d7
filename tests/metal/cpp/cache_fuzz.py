"""Mutation of a compiled kernel cache and headers, with lookups.

Each kernel is looked up.

    python tests/metal/cpp/cache_fuzz.py [--lookups N] [--seed N]

The result of a lookup must be the image of the files as they are now: from the cache, or built again. A build is
replaced by a function of all that the compiler would see, and its tools by ones that write a file each; everything else
is the code that runs. So a wrong image, an old one and an error that is not ours are noticed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from ttnn.metal.cpp import cache, compiler, shared
from ttnn.metal.cpp.spec import BRISC, Chip, CppSource, KernelSettings
from ttnn.metal.cpp.toolchain import Limits, Toolchain
from ttnn.metal.cpp.visible import Visible

CHIP = Chip("WORMHOLE", ((0, 1), (0, 2)), ((18, 18), (19, 18)), 32, 16)
DAMAGES = ("flip", "truncate", "empty", "delete", "extend", "replace", "folder", "link")
TOOLS = Toolchain(("fake",), ("fake",), (), "fake 1")


@dataclass
class Counts:
    """Lookups: all, cached, built, wrong; and remade shared parts."""

    lookups: int = 0
    found: int = 0
    rebuilt: int = 0
    wrong: int = 0
    mended: int = 0


def damage(file: Path, how: str, rng: random.Random) -> None:
    """Damage a file of a cache."""
    data = bytearray(file.read_bytes()) if file.is_file() else bytearray()
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    if file.is_symlink():
        file.unlink()
    if how == "flip" and data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.write_bytes(data)
    elif how == "truncate":
        file.write_bytes(data[: rng.randrange(len(data) or 1)])
    elif how == "extend":
        file.write_bytes(data + rng.randbytes(1 + rng.randrange(9)))
    elif how == "replace":
        others = [other for other in sorted(file.parent.iterdir()) if other != file and other.is_file()]
        file.write_bytes(rng.choice(others).read_bytes() if others else b"other")
    elif how == "empty":
        file.write_bytes(b"")
    else:
        file.unlink(missing_ok=True)
        if how == "folder":
            file.mkdir()
        elif how == "link":
            file.symlink_to(rng.choice(["/dev/zero", "/nowhere", str(file)]))


def _content(job: object, seen: Visible) -> bytes:
    parts = [f"{path}\n".encode() + data for path, data in sorted(seen.files.items())]
    return b"\x7fELF" + hashlib.sha256(b"\0".join(parts)).digest() * 8


class _Fuzz:
    def __init__(self, place: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.counts = Counts()
        self.kernels = place / "kernels"
        self.folders = [place / "kernels", place / "first", place / "second"]
        for folder in self.folders:
            folder.mkdir()
        self.cache = place / "cache"

    def run_tool(
        self, command: Sequence[str], work: Path, folder: Path, *_: Limits
    ) -> subprocess.CompletedProcess[str]:
        for name in ("base.pch", "start.o", "calls.o"):
            (work / name).write_bytes(name.encode() * 20)
        line = ' "fake" "-cc1" "-include-pch" "base.pch" "-o" "OUTPUT" "-x" "c++" "probe.cpp"\n'
        return subprocess.CompletedProcess(command, 0, line if "-###" in command else "", "")

    def build(
        self, job: compiler._Job, seen: Visible, asked: tuple[str, ...], tools: Toolchain, folder: Path
    ) -> tuple[bytes, str, tuple[str, ...]]:
        self.counts.rebuilt += 1
        parts = shared.find_shared(tools, folder)
        for name in shared._FILES:
            self.counts.wrong += not cache.is_sound(parts.folder / name)
        return _content(job, seen), compiler._key(job, seen, tools), asked

    def change_header(self) -> None:
        header = self.rng.choice(self.folders) / self.rng.choice(["a.h", "b.h"])
        if self.rng.random() < 0.3:
            header.unlink(missing_ok=True)
            return
        before = header.stat() if header.exists() else None
        more = self.rng.choice(["", '#include "b.h"\n', "#if __has_include(<a.h>)\n#endif\n"])
        header.write_text(f"// {self.rng.randrange(4)}\n{more}")
        if before is not None and self.rng.random() < 0.5:
            os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))

    def damage_cache(self) -> None:
        files = [
            path for path in sorted(self.cache.rglob("*")) if not path.is_dir() or path.suffix in (".kernel", ".seal")
        ]
        if files:
            chosen = self.rng.choice(files)
            self.counts.mended += "shared-" in str(chosen)
            damage(chosen, self.rng.choice(DAMAGES), self.rng)

    def look_up(self) -> None:
        number = self.rng.randrange(3)
        path = self.kernels / f"k{number}.cpp"
        text = ['#include "a.h"\n', "#include <b.h>\n", '#define H "a.h"\n#include H\n'][
            number
        ] + "void kernel_main() {}\n"
        if self.rng.random() < 0.8:
            cache._found.clear()  # a new process
        source = CppSource(path, text, tuple(self.folders[1:]))
        built = self.counts.rebuilt
        image = compiler.compile_kernel(source, KernelSettings(BRISC, CHIP)).image
        seen = compiler.visible_files(source, path, "")
        self.counts.wrong += image != _content(None, seen)
        self.counts.found += self.counts.rebuilt == built
        self.counts.lookups += 1


def run(place: Path, lookups: int, seed: int) -> Counts:
    """Return lookup outcomes in a cache mutated before each."""
    fuzz = _Fuzz(place, seed)
    with ExitStack() as stack:
        for target, name, value in (
            (compiler, "_build", fuzz.build),
            (compiler, "find_toolchain", lambda: TOOLS),
            (compiler, "_notes", lambda image: ()),
            (shared, "run", fuzz.run_tool),
            (shared, "_GENERATED", {"ttnn_rs/sfpu_functions.h": str, "ttnn_rs/refused.h": str}),
        ):
            stack.enter_context(mock.patch.object(target, name, value))
        stack.enter_context(mock.patch("os.fsync"))  # a crash of the host is another subject
        stack.enter_context(mock.patch.dict(os.environ, {"TT_METAL_CACHE": str(fuzz.cache)}))
        for _ in range(lookups):
            for _ in range(fuzz.rng.randrange(3)):
                fuzz.change_header() if fuzz.rng.random() < 0.3 else fuzz.damage_cache()
            fuzz.look_up()
    cache._found.clear()
    return fuzz.counts


def main() -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lookups", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        counts = run(Path(place), options.lookups, options.seed)
    print(
        f"{counts.lookups} lookups: {counts.found} from the cache, {counts.rebuilt} built, {counts.wrong} wrong; "
        f"{counts.mended} shared parts damaged"
    )
    return int(counts.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
