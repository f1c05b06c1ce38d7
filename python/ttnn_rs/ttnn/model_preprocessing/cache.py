"""The cache of model parameters: one folder per model name.

    manifest.json   version, tree, and size and SHA-256 of each file
    data-<id>/      the files that the manifest lists, named by their numbers
    part-<id>/      a version that a process is writing; the process holds a lock on the folder

A new version is written next to the old one. Replacing the manifest publishes it; only then is the old version removed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import FileFormatError, ParameterError
from ttnn.base.paths import path_below
from ttnn.model_preprocessing.cache_values import DAMAGE, Reader, Writer, read_whole
from ttnn.model_preprocessing.parameters import ParameterDict, ParameterList

_FORMAT: Final = 1
_MANIFEST: Final = "manifest.json"
_LARGEST_MANIFEST: Final = 256 << 20
_LOCK_SECONDS: Final = 60
_OLD_VERSION: Final = "version.txt"
_OLD_SUFFIXES: Final = (
    ".tensorbin",
    ".pt",
    ".conv2d_module_args",
    ".conv_transpose2d_module_args",
    ".group_norm_module_args",
    ".max_pool2d_module_args",
)
"""Cache files of earlier package versions.

They are removed, never read.
"""


def git_hash() -> str:
    """Return the working directory's short commit hash.

    It is the default version of cached parameters.

    Raises:
        ParameterError: there is no repository.
    """
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ParameterError(
            "preprocess_model: the working directory is in no git repository, so a version must be given.",
            vendor="Couldn't get git hash!",
        ) from error


class ParameterCache:
    """The cached parameters of a model.

    Args:
        root: Folder of all models.
        model_name: Name of the model; a slash counts as an underscore.

    Attributes:
        folder: Folder of the model.

    Raises:
        ParameterError: the name is no file name.
    """

    def __init__(self, root: Path, model_name: str) -> None:
        self.folder = path_below(root, model_name.replace("/", "_"), "preprocess_model: model_name")

    def load(self, version: str, seen: Any = None) -> ParameterDict | ParameterList | None:
        """Return a version's tree, None if the cache has another or none.

        Args:
            version: The version.
            seen: A manifest whose files were damaged.

        Raises:
            FileFormatError: the cache is damaged.
        """
        content = self._content()
        if content is None:
            return None
        try:
            return self._tree(content, version)
        except FileFormatError:
            if content == seen:
                raise
        # Another process may have published a new version and removed the files of this one.
        return self.load(version, content)

    def store(self, version: str, tree: ParameterDict | ParameterList) -> None:
        """Write a tree and publish it as the only version.

        Raises:
            OSError: the files cannot be written.
            ParameterError: the cache cannot hold a value of the tree.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        number = uuid.uuid4().hex
        part, data = self.folder / f"part-{number}", self.folder / f"data-{number}"
        with self._locked():
            part.mkdir()
            held = _lock(part)
        try:
            content = {
                "format": _FORMAT,
                "model": self.folder.name,
                "version": version,
                "folder": data.name,
                "tree": Writer(part).node(tree),
            }
            document = {"content": content, "sha256": _digest(content)}
            with (part / _MANIFEST).open("x", encoding="utf-8") as file:
                json.dump(document, file)
                file.flush()
                os.fsync(file.fileno())
            with self._locked():
                part.rename(data)
                manifest = self.folder / _MANIFEST
                if manifest.is_dir() and not manifest.is_symlink():
                    _remove(manifest)
                (data / _MANIFEST).replace(manifest)
                self._clean(data.name)
        finally:
            os.close(held)
            _remove(part)

    def _content(self) -> Any:
        """Return the manifest's content, None if the cache is empty.

        Raises:
            FileFormatError: it is damaged.
        """
        if not os.path.lexists(self.folder):
            return None
        _require_folder(self.folder)
        manifest = self.folder / _MANIFEST
        if not os.path.lexists(manifest):
            if os.path.lexists(self.folder / _OLD_VERSION):
                raise FileFormatError(f"{self.folder} is of an earlier version of the package")
            if any(one.name.startswith("data-") for one in self.folder.iterdir()):
                raise FileFormatError(f"{manifest} is missing")
            return None
        try:
            document = json.loads(read_whole(manifest, None, _LARGEST_MANIFEST))
            content, digest = document["content"], document["sha256"]
        except DAMAGE as error:
            raise FileFormatError(f"{manifest} is damaged: {type(error).__name__}: {error}") from None
        if _digest(content) != digest:
            raise FileFormatError(f"{manifest} is damaged: its SHA-256 is another one")
        return content

    def _tree(self, content: Any, version: str) -> ParameterDict | ParameterList | None:
        try:
            if content["format"] != _FORMAT:
                return None
            if content["model"] != self.folder.name:
                raise FileFormatError(f"{self.folder} holds the parameters of the model {content['model']!r}")
            if content["version"] != version:
                return None
            folder = path_below(self.folder, content["folder"])
            _require_folder(folder)
            tree = Reader(folder).value(content["tree"])
        except DAMAGE as error:
            raise FileFormatError(f"{self.folder / _MANIFEST} is damaged: {type(error).__name__}: {error}") from None
        if not isinstance(tree, ParameterDict | ParameterList):
            raise FileFormatError(f"{self.folder / _MANIFEST} is damaged: it has no tree")
        return tree

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the folder's lock.

        Processes hold it only while they publish a version.
        """
        held = _lock(self.folder, _LOCK_SECONDS)
        try:
            yield
        finally:
            os.close(held)

    def _clean(self, current: str) -> None:
        """Remove other versions, parts of dead processes, and earlier formats."""
        for path in list(self.folder.iterdir()):
            if path.name.startswith("data-") and path.name != current:
                _remove(path)
            elif path.name.startswith("part-"):
                with suppress(BlockingIOError):
                    held = _lock(path) if path.is_dir() and not path.is_symlink() else None
                    _remove(path)
                    if held is not None:
                        os.close(held)
        if os.path.lexists(self.folder / _OLD_VERSION):
            for place, _, names in os.walk(self.folder, topdown=False):
                if Path(place).name.startswith(("data-", "part-")):
                    continue
                for name in names:
                    if Path(name).suffix in _OLD_SUFFIXES:
                        _remove(Path(place, name))
                with suppress(OSError):
                    os.rmdir(place)
            _remove(self.folder / _OLD_VERSION)


def _lock(folder: Path, seconds: float = 0) -> int:
    """Return a descriptor with a folder's lock.

    Closing it, or the end of the process, releases it.

    Raises:
        BlockingIOError: another process holds it for longer than `seconds`.
        OSError: there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    end = time.monotonic() + seconds
    try:
        while not _locks(descriptor):
            if time.monotonic() >= end:
                raise BlockingIOError(errno.EAGAIN, "another process holds the lock", str(folder))
            time.sleep(0.005)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _locks(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(path: Path) -> None:
    """Remove a file, link or folder if possible.

    Links are not followed.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _require_folder(path: Path) -> None:
    try:
        kind = path.lstat().st_mode
    except OSError as error:
        raise FileFormatError(f"{path}: {error.strerror}") from None
    if not stat.S_ISDIR(kind):
        what = "a symbolic link" if stat.S_ISLNK(kind) else "no folder"
        raise FileFormatError(f"{path} is {what}; the cache is elsewhere if CONFIG.model_cache_path says so")


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
