"""Compilation settings of a C++ kernel, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

BRISC, NCRISC, TRISC = range(3)


@dataclass(frozen=True)
class CppSource:
    """A kernel in C++: a file, or a text.

    Attributes:
        path: The file, or None for a text.
        text: The source.
        roots: Folders in which headers of the user are looked for, after that of the source.
        named: Further folders whose files the source may include by a path.
    """

    path: Path | None
    text: str
    roots: tuple[Path, ...] = ()
    named: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """Return the name by which reports call the kernel."""
        return self.path.stem if self.path else "kernel_main"


@dataclass(frozen=True)
class CbFormat:
    """A circular buffer's format and tile.

    Codes of formats are the chip's.
    """

    format: int
    height: int = 32
    width: int = 32


@dataclass(frozen=True)
class ComputeSettings:
    """Settings of a compute kernel that its code can see."""

    fidelity: str = "HiFi4"
    approximate: bool = False
    dst32: bool = False
    full_sync: bool = False


@dataclass(frozen=True)
class Chip:
    """The target chip: NoC coordinates of banks, alignments."""

    arch: str
    dram_banks: tuple[tuple[int, int], ...]
    l1_banks: tuple[tuple[int, int], ...]
    dram_alignment: int
    l1_alignment: int
    packet_header: int = 0
    """Bytes of a packet header; 0 without a fabric."""
    header_pool: int = 0
    """First L1 address of the room for packet headers."""


@dataclass(frozen=True)
class KernelSettings:
    """Everything that a kernel's code may depend on."""

    processor: int
    chip: Chip
    noc_index: int = 0
    noc_mode: int = 0
    compile_args: tuple[int, ...] = ()
    named_compile_args: Mapping[str, int] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    buffers: Mapping[int, CbFormat] = field(default_factory=dict)
    remotes: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Each remote circular buffer's configuration address (L1) and page size."""
    compute: ComputeSettings | None = None
    names: str = ""
    """The header of names of a kernel with a specification."""


@dataclass(frozen=True)
class CompiledKernel:
    """A runnable kernel: ELF image and remarks for the report."""

    image: bytes
    notes: tuple[str, ...] = ()
