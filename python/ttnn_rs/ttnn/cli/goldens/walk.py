"""Check of a golden vector folder: checkers and array results.

A checker is a generator: for each array of a file it yields what the engine computes for it on the file's chip, or why
it does not. Arrays that it never names are inputs and parameters. Every array of a file therefore ends up in exactly
one of four counts.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.base.exceptions import FileFormatError, TtnnError
from ttnn.base.files import open_file
from ttnn.cli.goldens.chips import Chip, chip_of

Words = NDArray[Any]


@dataclass(frozen=True)
class Computed:
    """The engine's values for one array of the file."""

    array: str
    values: Words


@dataclass(frozen=True)
class Uncovered:
    """An array that the engine cannot compute, and why."""

    array: str
    reason: str


Verdict = Computed | Uncovered
Archive = dict[str, Words]
Checker = Callable[[Path, Archive, Chip], Iterator[Verdict]]


@dataclass(frozen=True)
class Difference:
    """Values of one array that are not those of the vectors."""

    array: str
    different: int
    values: int
    first_index: tuple[int, ...]
    expected: str
    got: str

    def __str__(self) -> str:
        return (
            f"{self.array}: {self.different} of {self.values} values differ, first at {list(self.first_index)}: "
            f"expected {self.expected}, got {self.got}"
        )


@dataclass
class FileReport:
    """Counts of one file: arrays, and the values inside them."""

    path: str
    arch: str
    equal_arrays: int = 0
    equal_values: int = 0
    input_arrays: int = 0
    differences: list[Difference] = field(default_factory=list)
    uncovered: dict[str, str] = field(default_factory=dict)

    @property
    def different_values(self) -> int:
        """Number of values that differ."""
        return sum(difference.different for difference in self.differences)


@contextmanager
def reading(relative: str) -> Iterator[None]:
    """Name the file in what its reading raises.

    Raises:
        FileFormatError: it is no archive of arrays, or not the arrays that its README describes.
    """
    try:
        yield
    except TtnnError:
        raise
    except (OSError, EOFError, LookupError, ValueError, zipfile.BadZipFile) as error:
        raise FileFormatError(
            f"goldens: {relative} does not hold what its README describes: {type(error).__name__}: {error}"
        ) from error


#: Largest archive, unpacked: a few kilobytes can declare terabytes.
_MAX_ARCHIVE_BYTES = 1 << 32


def names_in(path: Path) -> list[str]:
    """Return the names of the arrays of an `.npz` file."""
    with open_file(path, where="goldens") as file, np.load(file, allow_pickle=False) as archive:
        return list(archive.files)


def load(path: Path) -> Archive:
    """Return the arrays of an `.npz` file."""
    with open_file(path, where="goldens") as file, np.load(file, allow_pickle=False) as archive:
        unpacked = sum(entry.file_size for entry in archive.zip.infolist())
        if unpacked > _MAX_ARCHIVE_BYTES:
            raise FileFormatError(f"goldens: {path} unpacks to {unpacked} B; expected at most {_MAX_ARCHIVE_BYTES}")
        return {name: archive[name] for name in archive.files}


def no_checker(_path: Path, archive: Archive, _chip: Chip) -> Iterator[Verdict]:
    """Check a file of unknown name: no array is covered."""
    for name in archive:
        yield Uncovered(name, "no checker knows a file of this name")


def check_file(path: Path, relative: str, checker: Checker, advance: Callable[[str], None]) -> FileReport:
    """Compare every array of one file.

    `advance` is called with each array's name when it is done.

    Raises:
        FileFormatError: see `reading`.
    """
    with reading(relative):
        return _check(path, relative, checker, advance)


def _check(path: Path, relative: str, checker: Checker, advance: Callable[[str], None]) -> FileReport:
    archive, chip = load(path), chip_of(path)
    report = FileReport(relative, chip.arch)
    seen: set[str] = set()
    for verdict in checker(path, archive, chip):
        if verdict.array in seen:
            raise ValueError(f"{relative}: array {verdict.array} was checked twice")
        seen.add(verdict.array)
        if isinstance(verdict, Uncovered):
            report.uncovered[verdict.array] = verdict.reason
        else:
            difference = compare(verdict.array, archive[verdict.array], verdict.values)
            if difference is None:
                report.equal_arrays += 1
                report.equal_values += archive[verdict.array].size
            else:
                report.differences.append(difference)
                report.equal_values += difference.values - difference.different
        advance(verdict.array)
    unknown = seen - set(archive)
    if unknown:
        raise ValueError(f"{relative} has no arrays {sorted(unknown)}")
    report.input_arrays = len(archive) - len(seen)
    return report


def compare(array: str, expected: Words, got: Words) -> Difference | None:
    """Return where `got` differs from `expected`, bit for bit.

    Floating-point values count as equal if both are NaN.
    """
    if expected.shape != got.shape:
        return Difference(array, expected.size, expected.size, (), f"shape {expected.shape}", f"shape {got.shape}")
    if expected.dtype.kind == "f":
        bits = expected.view(f"u{expected.itemsize}") == got.astype(expected.dtype).view(f"u{expected.itemsize}")
        same = bits | (np.isnan(expected) & np.isnan(got))
    else:
        same = expected == got
    wrong = np.argwhere(~same)
    if not len(wrong):
        return None
    first = tuple(int(i) for i in wrong[0])
    return Difference(array, len(wrong), expected.size, first, _word(expected[first]), _word(got[first]))


def _word(value: Any) -> str:
    return f"{int(value):#x}" if np.asarray(value).dtype.kind in "ui" else repr(float(value))


def files_of(folder: Path, only: Iterable[str] = ()) -> list[tuple[str, Path]]:
    """Return (relative name, path) of all `.npz`, or those in `only`.

    They are below `folder`; the name begins with one of `only`.
    """
    wanted = tuple(only)
    found = [(path.relative_to(folder).as_posix(), path) for path in sorted(folder.rglob("*.npz"))]
    return [(name, path) for name, path in found if not wanted or name.startswith(wanted)]
