"""Compiled kernels on disk: a key of everything that is known before compiling, then the headers that were read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ttnn.base import files

INCLUDE = Path(__file__).parent / "include"
"""Our headers under their official names."""


def cache_folder() -> Path:
    """Return the folder of compiled kernels: below `TT_METAL_CACHE`, or in the user's cache folder."""
    setting = os.environ.get("TT_METAL_CACHE")
    if setting:
        return Path(setting) / "ttnn-rs-kernels"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ttnn-rs" / "kernels"


def digest(*parts: str | bytes) -> str:
    """Return a name for these texts together."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()[:32]


@lru_cache(maxsize=1)
def headers_digest() -> str:
    """Return a name for all of our headers."""
    files = sorted(path for path in INCLUDE.rglob("*") if path.is_file())
    return digest(*(part for path in files for part in (str(path.relative_to(INCLUDE)), path.read_bytes())))


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is never seen half written, though several processes write it at once."""
    files.make_folder(path.parent, where="kernel cache")
    files.write_atomically(path, data, where="kernel cache")


def _file_digest(path: str) -> str:
    try:
        return digest(Path(path).read_bytes())
    except OSError:
        return ""


_found: dict[tuple[Path, str], tuple[bytes, dict[str, tuple[int, int]]]] = {}
"""Images that this process has read, with times and sizes of the headers at that moment."""


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def find_image(folder: Path, key: str) -> bytes | None:
    """Return the image of a key, if the headers that its source included are still the same."""
    known = _found.get((folder, key))
    if known is not None and all(_stamp(path) == before for path, before in known[1].items()):
        return known[0]
    try:
        entry = json.loads((folder / f"{key}.json").read_bytes())
        if any(_file_digest(path) != before for path, before in entry["headers"].items()):
            return None
        image = (folder / f"{entry['image']}.elf").read_bytes()
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    if digest(image) != entry["image"]:
        return None
    _found[folder, key] = image, {path: _stamp(path) for path in entry["headers"]}
    return image


def store_image(folder: Path, key: str, image: bytes, headers: Iterable[str]) -> None:
    """Store the image of a key with the headers that its source included."""
    name = digest(image)
    write_atomically(folder / f"{name}.elf", image)
    entry = {"image": name, "headers": {path: _file_digest(path) for path in headers}}
    write_atomically(folder / f"{key}.json", json.dumps(entry, indent=1).encode())
