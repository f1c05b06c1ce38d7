"""`ttrt.binary`: files of binaries as objects."""

from __future__ import annotations

import json
from typing import Any

from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import write_atomically
from ttnn.compiler.target.flatbuffer.binary import Binary as Content

__all__ = [
    "Binary",
    "Flatbuffer",
    "SystemDesc",
    "as_dict",
    "load_binary_from_capsule",
    "load_binary_from_path",
    "load_from_path",
    "load_system_desc_from_path",
]


class Flatbuffer:
    """A binary of any kind.

    Attributes:
        content: What it contains.
    """

    def __init__(self, content: Content) -> None:
        self.content = content

    @property
    def version(self) -> str:
        """Version of the compiler that wrote it."""
        return self.content.version

    @property
    def ttmlir_git_hash(self) -> str:
        """Revision of the compiler that wrote it."""
        return str(self.content.values.get("ttmlir_git_hash", ""))

    @property
    def file_identifier(self) -> str:
        """The four letters that name the kind of binary."""
        return self.content.identifier

    def as_json(self) -> str:
        """Return the content as JSON."""
        return self.content.as_json()

    def store(self, path: str) -> None:
        """Write the binary to a file."""
        write_atomically(path, self.content.to_bytes(), where="store")


class Binary(Flatbuffer):
    """A binary with programs."""


class SystemDesc(Flatbuffer):
    """A system descriptor."""


def _load(path: str, kinds: tuple[str, ...]) -> Content:
    content = Content.load(path)
    if content.identifier not in kinds:
        raise FileFormatError(f"{path}: the identifier is {content.identifier}, expected {' or '.join(kinds)}.")
    return content


def load_from_path(path: str) -> Flatbuffer:
    """Return the binary of a file, whatever its kind.

    Raises:
        FileFormatError: It is damaged, or no binary.
    """
    return Flatbuffer(Content.load(path))


def load_binary_from_path(path: str) -> Binary:
    """Return the binary of a file with programs.

    Raises:
        FileFormatError: It is damaged, or has no programs.
    """
    return Binary(_load(path, ("TTNN", "TTM0")))


def load_system_desc_from_path(path: str) -> SystemDesc:
    """Return the system descriptor of a file.

    Raises:
        FileFormatError: It is damaged, or no descriptor.
    """
    return SystemDesc(_load(path, ("TTSY",)))


def load_binary_from_capsule(capsule: bytes | Content | Binary) -> Binary:
    """Return a binary compiled in this process, or its bytes.

    It is what the compiler returned.

    Raises:
        FileFormatError: The bytes are no binary.
    """
    if isinstance(capsule, Binary):
        return capsule
    return Binary(capsule if isinstance(capsule, Content) else Content.parse(bytes(capsule)))


def as_dict(binary: Flatbuffer) -> dict[str, Any]:
    """Return the content as a dictionary with JSON's keys."""
    values: dict[str, Any] = json.loads(binary.as_json())
    return values
