"""The compiler's file system: allowed kernel files and headers.

They are copies of what a kernel may read, our headers, and the compiler's own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from ttnn.metal.cpp.cache import INCLUDE
from ttnn.metal.cpp.shared import Shared
from ttnn.metal.cpp.visible import Visible

WORK = "/ttnn-rs-kernel"
"""Virtual folder of generated kernel files. No disk has this folder."""


def overlay(seen: Visible, generated: Mapping[str, str], entry: str, shared: Shared, work: Path) -> str:
    """Return the file system's description for clang's `-ivfsoverlay`.

    The user's files are copies of what was read when the key was made, so that a file that changes meanwhile changes
    nothing, and no link or device is followed.

    Args:
        seen: Files of the user.
        generated: Headers that are generated for this kernel, by name.
        entry: Text after the end of the source.
        shared: What all kernels share.
        work: Where copies are written.
    """
    contents = dict(seen.files)
    contents[seen.main] += entry.encode(errors="surrogatepass")
    contents |= {f"{WORK}/{name}": text.encode(errors="surrogatepass") for name, text in generated.items()}
    files = []
    for number, (path, data) in enumerate(contents.items()):
        copy = work / f"{number}.copy"
        copy.write_bytes(data)
        files.append(_entry("file", path, str(copy), external=False))
    ours = (_entry("file", f"{WORK}/forward/{name}", str(path), external=True) for name, path in shared.headers.items())
    folders = (_entry("directory-remap", path, os.path.realpath(path), external=False) for path in _outermost(shared))
    # The compiler crashes if it does not see its working folder.
    here = {"type": "directory", "name": str(work), "contents": []}
    pch = str(shared.folder / "base.pch")
    described = {
        "version": 0,
        "redirecting-with": "redirect-only",
        "case-sensitive": True,
        "roots": [*files, *ours, _entry("file", pch, pch, external=False), *folders, here],
    }
    return json.dumps(described)


def _entry(kind: str, name: str, place: str, *, external: bool) -> dict[str, object]:
    return {"type": kind, "name": os.path.normpath(name), "external-contents": place, "use-external-name": external}


def _outermost(shared: Shared) -> list[str]:
    """Return our folder and the compiler's, without nested ones."""
    folders = sorted({os.path.normpath(path) for path in (str(INCLUDE), *shared.system)})
    return [path for path in folders if not any(path.startswith(other + os.sep) for other in folders)]
