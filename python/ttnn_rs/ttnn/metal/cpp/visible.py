"""User files that a kernel's compilation can see.

The source, and what it may include.

For the compiler these files and our headers are all that exists (see `overlay`). So an image depends on nothing that is
not in its key, and a source reads no file outside of the folders that the host program has named: that of the kernel's
file, those of headers, and the roots.

The names of headers are found without a preprocessor: every name that follows `include`, `embed`, `__has_include` and
the like, whatever the conditions around it. A file too many is harmless. A name that macros make up letter by letter is
one that the compiler asks for, and is then looked for in the same way.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ttnn.base.exceptions import FileAccessError, KernelCompileError
from ttnn.base.files import read_bytes
from ttnn.metal.cpp.cache import INCLUDE
from ttnn.metal.cpp.forwards import forwards
from ttnn.metal.cpp.spec import CppSource

_MOST_FILES = 5000
_MOST_BYTES = 64 << 20

_GAP = r"(?:[\s(]|/\*[^*\n]{0,200}\*/)*"
_NAMED = re.compile(
    rf'\b(?:include|import|embed|__has_include|__has_embed)(_next)?{_GAP}(?:"([^"\n]+)"|<([^<>\n]+)>)', re.ASCII
)
_COMPUTED = re.compile(
    r"(?:#|%:)[ \t]*(?:include|include_next|import|embed)[ \t]+[A-Za-z_]"
    r"|__has_(?:include(?:_next)?|embed)\s*\(\s*[A-Za-z_]"
)
_DEFINED = re.compile(r"^[ \t]*(?:#|%:)[ \t]*define\b.*", re.MULTILINE)
_LITERAL = re.compile(r'"([^"\n]+)"|<([^<>\n]+)>')
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
_ROOT = re.compile(r"(.*)/(?:ttnn/cpp/ttnn|tt-train/sources)/", re.DOTALL)
_SHOWN = ("ttnn/", "tt-train/", "models/", "tests/")
"""Folders of the official tree whose headers are seen."""


class Folder(NamedTuple):
    """A folder in which headers are looked for.

    Attributes:
        path: The folder, absolute.
        only: What names of headers start with.
    """

    path: str
    only: str = ""


@dataclass
class Visible:
    """Files that the compilation of a kernel can see.

    Attributes:
        main: The path of the source.
        search: Folders in which headers are looked for, in this order.
        files: Contents, by absolute path.
        refused: Why a header is not among them, by its name.
    """

    main: str
    search: tuple[Folder, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def visible_files(source: CppSource, main: Path, defined: str, asked: Sequence[str] = ()) -> Visible:
    """Return what the compilation of a kernel can see.

    Args:
        source: The kernel.
        main: The path of its source, that of a text too.
        defined: Generated header, whose defines may name headers.
        asked: Names that the compiler requested and that are in no source.

    Raises:
        KernelCompileError: the headers are too many or too large.
    """
    search = search_folders(source)
    named = {os.path.realpath(path) for path in (*(Path(one.path) for one in search), *source.named)}
    if source.path is not None:
        named.add(os.path.realpath(source.path.parent))
    seen = Visible(str(main), tuple(search))
    _Search(seen, named, source.path is not None).run(source.text.encode(errors="surrogatepass"), defined, asked)
    return seen


def search_folders(source: CppSource) -> list[Folder]:
    """Return the user's header folders.

    Official kernels name theirs from the top of their tree.
    """
    inside = _ROOT.match(source.path.as_posix()) if source.path else None
    roots = [*([Path(inside[1])] if inside else []), *(root.absolute() for root in source.roots)]
    found = [Folder(str(source.path.parent))] if source.path else []
    for root in dict.fromkeys(roots):
        if (root / "ttnn" / "cpp").is_dir():
            # The folder `tt_metal` has device headers, in whose place are ours.
            found += [*(Folder(str(root), name) for name in _SHOWN)]
            found += [Folder(str(root / "ttnn")), Folder(str(root / "ttnn" / "cpp"))]
        else:
            found.append(Folder(str(root)))
    return list(dict.fromkeys(found))


class _Search:
    """A search for the headers of a source, and for theirs."""

    def __init__(self, seen: Visible, named: set[str], has_folder: bool) -> None:
        self.seen = seen
        self.named = named
        self.has_folder = has_folder
        self.size = 0
        self.waiting: list[tuple[str, bytes]] = []
        self.computing: list[str] = []

    def run(self, text: bytes, defined: str, asked: Sequence[str]) -> None:
        self.add(self.seen.main, text)
        strings = dict.fromkeys((*asked, *_names(defined.encode(errors="surrogatepass")).strings))
        count = 0
        while count != len(self.seen.files):
            while self.waiting:
                path, data = self.waiting.pop()
                names = _names(data)
                strings.update(dict.fromkeys(names.strings))
                if names.computed or asked:
                    self.computing.append(path)
                for name, beside, all_of_them in names.named:
                    self.look(path, name, beside, all_of_them)
            # What macros make up is one of the names in defines, wherever these are.
            count = len(self.seen.files)
            for path in self.computing:
                for name in strings:
                    self.look(path, name, True, True)

    def add(self, path: str, data: bytes) -> None:
        self.size += len(data)
        if self.size > _MOST_BYTES or len(self.seen.files) >= _MOST_FILES:
            raise KernelCompileError(
                f"{self.seen.main}: its headers have more than {_MOST_BYTES >> 20} MiB, or are more than {_MOST_FILES}",
                file=self.seen.main,
            )
        self.seen.files[path] = data
        self.waiting.append((path, data))

    def look(self, includer: str, name: str, beside: bool, all_of_them: bool) -> None:
        """Find a header as the compiler does.

        Next to the file that names it, then in each folder.
        """
        for path in self.candidates(includer, name, beside):
            if (path in self.seen.files or self.read(path, name)) and not all_of_them:
                return

    def candidates(self, includer: str, name: str, beside: bool) -> Iterator[str]:
        if "\0" in name:
            return
        if os.path.isabs(name):
            yield os.path.normpath(name)
            return
        if beside and (self.has_folder or includer != self.seen.main):
            yield os.path.normpath(os.path.join(os.path.dirname(includer), name))
        if os.path.normpath(name) in our_names():
            return
        for folder, only in self.seen.search:
            if name.startswith(only):
                yield os.path.normpath(os.path.join(folder, name))

    def read(self, path: str, name: str) -> bool:
        """Add an existing file.

        A file that may not be read is remembered as refused.
        """
        try:
            os.lstat(path)
            real = os.path.realpath(path)
            if not self.may_read(real):
                self.seen.refused.setdefault(name, f"{path} is outside of the folders that the program has named")
                return False
            if stat.S_ISDIR(os.stat(real).st_mode):
                return False
            self.add(path, read_bytes(real, where="#include", limit=_MOST_BYTES))
        except FileAccessError as error:
            self.seen.refused.setdefault(name, str(error))
            return False
        except (OSError, ValueError):  # there is none, or no file can have this name
            return False
        return True

    def may_read(self, real: str) -> bool:
        return any(real.startswith(folder + os.sep) for folder in self.named if folder != os.sep) or (
            os.sep in self.named
        )


class _Names(NamedTuple):
    """Files that a file includes.

    Attributes:
        named: Headers: name, whether it is looked for beside the file first, whether all that are found count.
        computed: Whether macros make up names of headers.
        strings: Names in its defines.
    """

    named: tuple[tuple[str, bool, bool], ...]
    computed: bool
    strings: tuple[str, ...]


@lru_cache(maxsize=4096)
def _names(data: bytes) -> _Names:
    text = _CONTINUED.sub("", os.fsdecode(data))
    found = dict.fromkeys(
        (quoted or angled, bool(quoted), bool(later)) for later, quoted, angled in _NAMED.findall(text)
    )
    defined = (pair for line in _DEFINED.findall(text) for pair in _LITERAL.findall(line))
    strings = dict.fromkeys(quoted or angled for quoted, angled in defined)
    return _Names(tuple(found), _COMPUTED.search(text) is not None, tuple(strings))


@lru_cache(maxsize=1)
def our_names() -> frozenset[str]:
    """Return our headers' names, which no user header replaces."""
    ours = (path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*") if path.is_file())
    return frozenset((*ours, *forwards(), "ttnn_rs/sfpu_functions.h", "ttnn_rs/refused.h"))
