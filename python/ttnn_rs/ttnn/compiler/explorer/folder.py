"""The folder that an explorer may read and write.

Paths of requests are data of strangers: none leads out of the folder.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from ttnn.base.exceptions import FileAccessError
from ttnn.base.files import make_folder, read_bytes
from ttnn.base.paths import is_inside, path_below
from ttnn.compiler.limits import FILE_BYTES, shortened

__all__ = ["ARTIFACTS", "IR_FOLDER", "ROOT", "SUFFIXES", "artifact_folder", "model_files", "model_path", "root"]

ROOT: Final = "TTNN_EXPLORER_ROOT"
"""Environment variable of the folder; the working folder by default."""
IR_FOLDER: Final = "TTNN_EXPLORER_IR"
"""Environment variable of the folder of dumped text, below the folder."""
ARTIFACTS: Final = "ttrt-artifacts"
SUFFIXES: Final = (".mlir", ".ttir", ".ttnn")
_MOST_FILES: Final = 10_000


def root() -> Path:
    """Return the folder, links resolved."""
    return Path(os.environ.get(ROOT) or ".").resolve()


def model_path(path: str) -> Path:
    """Return the path of a file or folder of a request.

    Raises:
        FileAccessError: It is not below the folder, or does not exist.
    """
    top = root()
    found = top / path if path else top / "."
    if path and not is_inside(found, top):
        raise FileAccessError(
            f"tt-explorer: {shortened(path)} is not below {top}, the folder that the explorer was started for. "
            "Start it for the folder of the file."
        )
    resolved = found.resolve()
    if not resolved.exists():
        raise FileAccessError(f"tt-explorer: there is no file or folder {shortened(path)}.")
    return resolved


def model_files(folder: Path) -> list[Path]:
    """Return the models of a folder and its subfolders, by name.

    Raises:
        FileAccessError: There are more than are listed.
    """
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ARTIFACTS)
        paths = (Path(place, name) for name in sorted(files) if name.endswith(SUFFIXES))
        found += [path for path in paths if is_inside(path, root()) and path.is_file()]
        if len(found) > _MOST_FILES:
            raise FileAccessError(f"tt-explorer: {folder} has more than {_MOST_FILES} models; open a folder in it.")
    return found


def artifact_folder(model: Path, options: str) -> Path:
    """Return the folder of what a model and its options give.

    It is created. Its name follows from the content of the model, so that a changed model is compiled again.

    Raises:
        FileAccessError: The model cannot be read, or a link leads out of the folder.
    """
    content = read_bytes(model, where="tt-explorer", limit=FILE_BYTES)
    digest = hashlib.sha256(content + b"\0" + options.encode()).hexdigest()[:12]
    folder = path_below(root() / ARTIFACTS, f"{model.name[:80]}-{digest}")
    if not is_inside(folder, root()):
        raise FileAccessError(f"tt-explorer: {root() / ARTIFACTS} is a link out of {root()}. Remove the link.")
    return make_folder(folder, where="tt-explorer")
