"""The repository's compact golden set: location and hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent / "data"
HASHES = DATA / "SHA256SUMS"
MANIFEST = DATA / "MANIFEST.toml"


def hash_of(values: np.ndarray) -> str:
    """Return the SHA-256 of an array's little-endian bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()).hexdigest()


def hashes() -> dict[tuple[str, str], str]:
    """Return the full set's array hashes, by file and array name."""
    lines = HASHES.read_text(encoding="utf-8").splitlines()
    return {(file, array): digest for digest, file, array in (line.split("  ") for line in lines)}


def vector_files() -> list[str]:
    """Return the names of the files that the manifest lists."""
    return sorted(p.relative_to(DATA).as_posix() for p in DATA.rglob("*") if p.is_file() and p != MANIFEST)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
