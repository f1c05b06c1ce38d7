"""Files: replaced whole or not at all, and read within limits.

Everything the package writes to a file goes through `open_atomically` or `write_atomically`, and everything it reads
from a file that another program may have made through `open_file`, `read_bytes` or `read_text`.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from ttnn.base.exceptions import ArgumentError, FileAccessError, FileFormatError

__all__ = [
    "MAX_FILE_BYTES",
    "PathName",
    "make_folder",
    "open_atomically",
    "open_file",
    "part_path",
    "path_name",
    "read_bytes",
    "read_json",
    "read_stream",
    "read_stream_bytes",
    "read_text",
    "try_lock",
    "write_atomically",
]

PathName = str | os.PathLike[str]

#: Largest file that is read as a whole. FlatBuffers end at 2 GiB, and texts are far smaller.
MAX_FILE_BYTES: Final = 1 << 31

_PART: Final = (".ttnn-", ".part")
_STREAMS: Final = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
_NOT_SUPPORTED: Final = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK)
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device file",
    stat.S_IFBLK: "a device file",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}

_CHUNK: Final = 1 << 20

_cleaned: Final[set[tuple[int, int]]] = set()


def path_name(where: str, path: PathName) -> str:
    """Return a path as text.

    Raises:
        ArgumentError: `path` is not a path.
        FileAccessError: it is empty, or has a NUL character or one that no file name can hold.
    """
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise ArgumentError(f"{where}: expected a path, got {type(path).__name__}") from None
    if not name:
        raise FileAccessError(f"{where}: expected a path, got an empty text")
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise FileAccessError(f"{where}: {name!r} has a character that no file name can hold")
    return name


def make_folder(path: PathName, *, where: str) -> Path:
    """Make a folder and its parents as needed; return its path.

    Raises:
        FileAccessError: it cannot be made, or a file has its name.
    """
    folder = Path(path_name(where, path))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(where, str(folder), "made", error) from None
    return folder


@contextmanager
def open_atomically(path: PathName, *, where: str) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces the old one at exit.

    For a `with` block.

    The data goes to a part file in the same folder, which is renamed when it is on the disk. If anything fails before
    leaves the old file as it was. Mode, owner and symbolic link of the old file are kept. Devices, pipes and the
    standard streams are written directly.

    Args:
        path: The file.
        where: Who writes, for the error.

    Raises:
        FileAccessError: the file cannot be written; the message has the reason.
    """
    name = path_name(where, path)
    try:
        old = _status(name)
        if (old is not None and not stat.S_ISREG(old.st_mode)) or name.startswith(_STREAMS):
            # A FIFO without a reader would block.
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
            os.set_blocking(descriptor, True)
            with os.fdopen(descriptor, "wb") as file:
                yield file
            return
        # A link is kept: the file that it leads to is replaced.
        with _part_of(os.path.realpath(name), old) as (_, file):
            yield file
    except FileAccessError:
        raise
    except OSError as error:
        raise _refused(where, name, "written", error) from None


@contextmanager
def part_path(path: PathName, *, where: str) -> Iterator[Path]:
    """Yield an empty part file's path; it replaces a file at exit.

    For a `with` block.

    For libraries that write to a path; otherwise as `open_atomically`.

    Raises:
        FileAccessError: the file cannot be written; the message has the reason.
    """
    name = path_name(where, path)
    try:
        with _part_of(os.path.realpath(name), _status(name)) as (part, _):
            yield Path(part)
    except FileAccessError:
        raise
    except OSError as error:
        raise _refused(where, name, "written", error) from None


@contextmanager
def _part_of(target: str, old: os.stat_result | None) -> Iterator[tuple[str, BinaryIO]]:
    """Yield a part file and its name; it replaces `target` at exit."""
    if old is not None and not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    folder = os.path.dirname(target)
    _clean(folder)
    part, descriptor = _part_file(folder, 0o666 if old is None else 0o600)
    done = False
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield part, file
            file.flush()
            if old is not None:
                _keep_owner(descriptor, old)
                os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
            os.fsync(descriptor)
            os.replace(part, target)
            done = True
    finally:
        if not done:
            with suppress(OSError):
                os.unlink(part)
    _sync_folder(folder)


def write_atomically(path: PathName, data: bytes | bytearray | memoryview | str, *, where: str) -> None:
    """Write a file completely or not at all; see `open_atomically`.

    Args:
        path: The file.
        data: Its bytes, or its text, which is written in UTF-8.
        where: Who writes, for the error.

    Raises:
        FileAccessError: the file cannot be written; the message has the reason.
    """
    if isinstance(data, str):
        try:
            data = data.encode()
        except UnicodeEncodeError as error:
            raise FileAccessError(f"{where}: {os.fspath(path)} cannot be written: {error}") from None
    with open_atomically(path, where=where) as file:
        file.write(data)


@contextmanager
def open_file(path: PathName, *, where: str, streams: bool = False) -> Iterator[BinaryIO]:
    """Open a file for reading, without endless or blocking files.

    For a `with` block.

    Args:
        path: The file.
        where: Who reads, for the error.
        streams: Accept pipes and devices too. The caller reads no more than it can use.

    Raises:
        FileAccessError: the file cannot be read, or is a folder, FIFO, socket or device.
    """
    name = path_name(where, path)
    try:
        # A FIFO without a writer would block.
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
            if kind != stat.S_IFREG and (kind == stat.S_IFDIR or not streams):
                raise FileAccessError(f"{where}: {name} is {_KINDS.get(kind, 'no regular file')}; expected a file")
            os.set_blocking(descriptor, True)
            yield file
    except FileAccessError:
        raise
    except OSError as error:
        raise _refused(where, name, "read", error) from None


def read_bytes(path: PathName, *, where: str, limit: int = MAX_FILE_BYTES, streams: bool = False) -> bytes:
    """Return the content of a file.

    Args:
        path: The file.
        where: Who reads, for the error.
        limit: Largest size in bytes.
        streams: Accept pipes and devices too.

    Raises:
        FileAccessError: the file cannot be read, is no regular file, or is larger than `limit`.
    """
    with open_file(path, where=where, streams=streams) as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > limit else file.read(size + 1)
        # Pipes and files of /proc have no size, and a file may grow.
        while size < len(data) <= limit and (more := file.read(min(max(len(data), _CHUNK), limit + 1 - len(data)))):
            data += more
        if size > limit or len(data) > limit:
            got = f"{size} bytes" if size > limit else "more"
            raise FileAccessError(f"{where}: {os.fsdecode(path)} has {got}; expected at most {limit} bytes")
    return data


def read_text(path: PathName, *, where: str, limit: int = MAX_FILE_BYTES, streams: bool = False) -> str:
    """Return a UTF-8 file's content, with Python's newlines.

    Raises:
        FileAccessError: as `read_bytes`, or the file is not UTF-8.
    """
    return decoded(read_bytes(path, where=where, limit=limit, streams=streams), os.fsdecode(path), where)


def read_stream(stream: IO[bytes] | io.BufferedIOBase, name: str, *, where: str, limit: int = MAX_FILE_BYTES) -> str:
    """Return the text that is left in an open stream.

    Raises:
        FileAccessError: it cannot be read, is not UTF-8, or is longer than `limit` bytes.
    """
    return decoded(read_stream_bytes(stream, name, where=where, limit=limit), name, where)


def read_stream_bytes(
    stream: IO[bytes] | io.BufferedIOBase, name: str, *, where: str, limit: int = MAX_FILE_BYTES
) -> bytes:
    """Return the bytes that are left in an open stream.

    Raises:
        FileAccessError: it cannot be read, or is longer than `limit` bytes.
    """
    try:
        data = stream.read(_CHUNK)
        while len(data) <= limit and (more := stream.read(min(len(data), limit + 1 - len(data)))):
            data += more
    except OSError as error:
        raise _refused(where, name, "read", error) from None
    if len(data) > limit:
        raise FileAccessError(f"{where}: {name} has more; expected at most {limit} bytes")
    return data


def decoded(data: bytes, name: str, where: str) -> str:
    """Return bytes as text, its lines ended by line feeds.

    Raises:
        FileAccessError: they are not UTF-8.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileAccessError(
            f"{where}: {name} is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_json(path: PathName, *, where: str, limit: int = MAX_FILE_BYTES, streams: bool = False) -> Any:
    """Return the value of a JSON file.

    Raises:
        FileAccessError: as `read_text`.
        FileFormatError: the file is not JSON, or nested too deeply to be read.
    """
    text = read_text(path, where=where, limit=limit, streams=streams)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{where}: {os.fsdecode(path)} is not JSON: {error}") from None


def try_lock(path: PathName, *, where: str) -> int | None:
    """Lock and make a file; return its descriptor, None if locked elsewhere.

    The lock lasts until the descriptor is closed, or the process and its forks have ended.

    Raises:
        FileAccessError: the file cannot be made.
    """
    name = path_name(where, path)
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise _refused(where, name, "locked", error) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            os.close(descriptor)
            return None
    return descriptor


def _refused(where: str, name: str, what: str, error: OSError) -> FileAccessError:
    shown = name if len(name) <= 300 else f"{name[:300]}..."
    refused = FileAccessError(f"{where}: {shown} cannot be {what}: {error.strerror or error}")
    refused.errno, refused.strerror, refused.filename = error.errno, error.strerror, name
    return refused


def _status(name: str) -> os.stat_result | None:
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None


def _part_file(folder: str, mode: int) -> tuple[str, int]:
    """Return a new part file's name and descriptor.

    It is locked as long as its writer lives.
    """
    while True:
        part = os.path.join(folder, secrets.token_hex(8).join(_PART))
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:
                os.close(descriptor)
                raise
        # Another process may have taken the file for that of a dead writer before the lock was there.
        if os.fstat(descriptor).st_nlink:
            return part, descriptor
        os.close(descriptor)


def _clean(folder: str) -> None:
    """Remove part files of dead writers, once per folder and process."""
    status = os.stat(folder)
    if (status.st_dev, status.st_ino) in _cleaned:
        return
    _cleaned.add((status.st_dev, status.st_ino))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PART[0]) and entry.name.endswith(_PART[1]):
                with suppress(OSError):
                    _remove_dead(entry.path)


def _remove_dead(part: str) -> None:
    descriptor = os.open(part, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # The lock of a living writer cannot be had.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(part)
    finally:
        os.close(descriptor)


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)


def _sync_folder(folder: str) -> None:
    """Flush a rename to disk, if the file system supports it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except PermissionError:
        # A folder in which one may write and not list.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
    finally:
        os.close(descriptor)
