"""Temporary folders: one per user, inaccessible to other users."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from ttnn.base.exceptions import FileAccessError
from ttnn.base.files import make_folder

__all__ = ["default_temporary_folder", "home_folder", "new_temporary_folder"]

_log: Final = logging.getLogger("ttnn")


def default_temporary_folder() -> Path:
    """Return `ttnn-<user id>` in the temporary folder of the host. Nothing is made."""
    try:
        base = tempfile.gettempdir()
    except FileNotFoundError:
        # No folder of the host is writable, and most programs need none.
        base = "/tmp"
    return Path(base) / f"ttnn-{os.getuid()}"


def home_folder() -> Path:
    """Return the user's home folder, or the temporary folder without one."""
    try:
        return Path.home()
    except RuntimeError:
        return default_temporary_folder()


def new_temporary_folder(prefix: str, parent: Path, *, where: str) -> Path:
    """Make a folder with a new name; return its path.

    Args:
        prefix: Beginning of its name.
        parent: The folder that gets it. The default one is made with mode 0700, and is not used if it belongs to
            another user, is a symbolic link, or others may write to it.
        where: Who asks, for the error.

    Raises:
        FileAccessError: no folder can be made.
    """
    try:
        if parent == default_temporary_folder() and not _made_private(parent):
            _log.warning(
                "%s: %s belongs to another user, is a link or may be changed by others, and is not used", where, parent
            )
            return Path(tempfile.mkdtemp(prefix=f"ttnn-{prefix}"))
        return Path(tempfile.mkdtemp(prefix=prefix, dir=make_folder(parent, where=where)))
    except FileAccessError:
        raise
    except OSError as error:
        raise FileAccessError(f"{where}: no temporary folder can be made: {error.strerror}") from None


def _made_private(folder: Path) -> bool:
    """Make a missing folder with mode 0700; return whether it is private.

    Private: only this user can have put files there.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        return False
    if stat.S_IMODE(status.st_mode) != 0o700:
        folder.chmod(0o700)
    return True
