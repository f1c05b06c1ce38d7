"""Compiled kernels on disk, keyed by everything their compilation sees."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from ttnn.base.exceptions import FileAccessError, KernelCompileError
from ttnn.base.files import read_bytes, write_atomically
from ttnn.metal.cpp.spec import CppSource

INCLUDE = Path(__file__).parent / "include"
"""Our headers under their official names."""
_WHERE = "cache of compiled kernels"
_SEAL = 64
"""Characters of a SHA-256."""
_LARGEST = 1 << 28
_OLD = 60
"""Seconds after which an unlocked work folder counts as abandoned."""


def cache_folder() -> Path:
    """Return the compiled kernels' folder.

    Below `TT_METAL_CACHE`, or in the user's cache folder.
    """
    setting = os.environ.get("TT_METAL_CACHE")
    if setting:
        return Path(setting).absolute() / "ttnn-rs-kernels"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "ttnn-rs" / "kernels"


def digest(*parts: str | bytes) -> str:
    """Return a name for these texts together."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()[:32]


def source_path(source: CppSource) -> Path:
    """Return a kernel's file; text becomes a file of the cache."""
    return source.path or cache_folder() / "sources" / f"{digest(source.text)}.cpp"


@lru_cache(maxsize=1)
def headers_digest() -> str:
    """Return a name for all of our headers."""
    files = sorted(path for path in INCLUDE.rglob("*") if path.is_file())
    return digest(*(part for path in files for part in (str(path.relative_to(INCLUDE)), path.read_bytes())))


# A stored file begins with the SHA-256 of its name and content: a file that is damaged, cut off, or the copy of
# another one is as good as missing, and is built and written again.


def _seal(name: str, data: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + data).hexdigest().encode()


def read_sealed(path: Path) -> bytes | None:
    """Return what `write_sealed` wrote, None if the file is missing or damaged."""
    try:
        data = read_bytes(path, where=_WHERE, limit=_LARGEST)
    except FileAccessError:
        return None
    return data[_SEAL:] if data[:_SEAL] == _seal(path.name, data[_SEAL:]) else None


def write_sealed(path: Path, data: bytes) -> None:
    """Write a file that `read_sealed` reads.

    Raises:
        KernelCompileError: the cache cannot be written.
    """
    write_cached(path, _seal(path.name, data) + data)


def write_cached(path: Path, data: bytes) -> None:
    """Write a file of the cache, replacing whatever has its name.

    Raises:
        KernelCompileError: the cache cannot be written.
    """
    try:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.is_symlink() or not path.is_file() or not os.access(path, os.W_OK):
            path.unlink(missing_ok=True)
        write_atomically(path, data, where=_WHERE)
    except (FileAccessError, OSError) as error:
        raise KernelCompileError(f"{error}. Set TT_METAL_CACHE to another folder.") from None


def is_sound(path: Path) -> bool:
    """Return whether a shared file is as `write_with_seal` wrote it."""
    try:
        seal = read_bytes(path.with_name(f"{path.name}.seal"), where=_WHERE, limit=_SEAL)
        return seal == _seal(path.name, read_bytes(path, where=_WHERE, limit=_LARGEST))
    except FileAccessError:
        return False


def write_with_seal(path: Path, data: bytes) -> None:
    """Write a shared file, and a file with its SHA-256.

    Raises:
        KernelCompileError: the cache cannot be written.
    """
    write_cached(path, data)
    write_cached(path.with_name(f"{path.name}.seal"), _seal(path.name, data))


_found: dict[tuple[Path, str], bytes] = {}
"""Images that this process has read or written.

A key names one image, whatever happens to its file.
"""
_MOST = 4096


def _remember(folder: Path, key: str, image: bytes) -> bytes:
    if len(_found) >= _MOST:
        _found.clear()
    _found[folder, key] = image
    return image


def find_image(folder: Path, key: str) -> bytes | None:
    """Return a key's image, None if absent or damaged."""
    known = _found.get((folder, key))
    if known is not None:
        return known
    image = read_sealed(folder / f"{key}.kernel")
    return None if image is None else _remember(folder, key, image)


def store_image(folder: Path, key: str, image: bytes) -> None:
    """Store the image of a key."""
    write_sealed(folder / f"{key}.kernel", image)
    _remember(folder, key, image)


# Places to work in. Each is locked as long as its process lives; those of the dead are removed.

_cleaned: set[Path] = set()


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """Make a work folder in the cache, removed after `with`.

    Raises:
        KernelCompileError: it cannot be made.
    """
    places = folder / "work"
    try:
        places.mkdir(parents=True, exist_ok=True)
        _clean(places)
        place = Path(tempfile.mkdtemp(dir=places))
        lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise KernelCompileError(
            f"the folder of compiled kernels, {folder}, cannot be made: {error.strerror}. "
            "Set TT_METAL_CACHE to another."
        ) from None
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield place
    finally:
        os.close(lock)
        shutil.rmtree(place, ignore_errors=True)


def _clean(places: Path) -> None:
    if places in _cleaned:
        return
    _cleaned.add(places)
    for place in places.iterdir():
        with suppress(OSError):
            if time.time() - place.stat().st_mtime < _OLD:
                continue
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(lock)
