"""Everything this package raises on purpose.

Each class also derives from the builtin class that scripts catch today: the official package raises `RuntimeError`
for every failed check, so an error that answers one of those checks is a `RuntimeError` too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

__all__ = [
    "AddressError",
    "ArgumentError",
    "CircularBufferError",
    "ConfigError",
    "DTypeError",
    "DeadlockError",
    "DeviceError",
    "EngineBugError",
    "FabricError",
    "FileAccessError",
    "FileFormatError",
    "IndexRangeError",
    "KernelArgumentError",
    "KernelAssertError",
    "KernelCompileError",
    "KernelError",
    "KernelSetupError",
    "LayoutError",
    "MemoryConfigError",
    "MissingNameError",
    "OutOfMemoryError",
    "ParameterError",
    "ProgramConfigError",
    "RaceError",
    "RankError",
    "RegisterError",
    "ShapeError",
    "StorageError",
    "TtnnError",
    "UnsupportedError",
]


WITNESSES: Final[list[Callable[[TtnnError], None]]] = []
"""Observers of errors at creation, whether or not caught later."""

_OPERATOR: Final = re.compile(r"(ttnn(?:\.\w+)+): (.*)", re.DOTALL)
_METHOD: Final = re.compile(r"Tensor\.\w+: ")
_IN_A_STEP: Final = "in one of its steps, "


class TtnnError(Exception):
    """Base of everything this package raises on purpose.

    The text is made of the fields, in this order: operator, sentence, supported, and after `info:` the vendor sentence.

    Attributes:
        operator: Who refused the call, for example "ttnn.exp"; empty if unknown.
        sentence: What is wrong: which argument, what was expected, what came, what to do.
        supported: The supported operands, as a sentence; empty if that is not the question.
        vendor: The sentence of the official package, verbatim, because programs in the wild match it.
    """

    def __init__(self, sentence: str = "", *, vendor: str = "") -> None:
        super().__init__(sentence)
        # Errors of the engine come as one text.
        text, _, after = sentence.partition("\ninfo:\n")
        named = _OPERATOR.match(text)
        self.operator, self.sentence = named.groups() if named else ("", text)
        self.supported = ""
        self.vendor = vendor or after
        self._refused_a_call = False
        for witness in WITNESSES:
            witness(self)

    def say_who(self, operator: str) -> None:
        """Add the operator's name to a message without one.

        Errors of tensors and memory have none.
        """
        if not (self.operator or self.sentence.startswith("ttnn.")):
            self.operator = operator

    def say_outer(self, operator: str) -> None:
        """Replace an inner operator's or method's name by the caller's."""
        if self._refused_a_call and self.operator != operator and not self.sentence.startswith(_IN_A_STEP):
            self.sentence = f"{_IN_A_STEP}{self.sentence}"
        self.operator, self.sentence = operator, _METHOD.sub("", self.sentence, count=1)

    def refuse_call(self, operator: str) -> None:
        """Name the operator that raised; an outer operator replaces it."""
        self.say_outer(operator)
        self._refused_a_call = True

    def __str__(self) -> str:
        who = f"{self.operator}: " if self.operator else ""
        supported = f" {self.supported}" if self.supported else ""
        vendor = f"\ninfo:\n{self.vendor}" if self.vendor else ""
        return f"{who}{self.sentence}{supported}{vendor}"


class ShapeError(TtnnError, RuntimeError, ValueError):
    """Shapes do not fit each other, or what the operator needs."""


class DTypeError(TtnnError, RuntimeError, TypeError):
    """A data type that the operator or the conversion does not support."""


class LayoutError(TtnnError, RuntimeError, ValueError):
    """An unsupported layout (row-major, tile) of operator or data type."""


class MemoryConfigError(TtnnError, RuntimeError, ValueError):
    """A memory configuration that contradicts itself, the tensor or the device."""


class ProgramConfigError(TtnnError, RuntimeError, ValueError):
    """A program configuration that does not fit the operands or the device."""


class OutOfMemoryError(TtnnError, RuntimeError, MemoryError):
    """The banks of the device have no room for a buffer.

    Attributes:
        bank: Kind of memory ("DRAM", "L1", ...), empty if unknown.
        requested_bytes: What each bank had to store.
        largest_free_bytes: Largest block that was free in a bank.
    """

    def __init__(
        self, message: str, bank: str = "", requested_bytes: int = 0, largest_free_bytes: int = 0, **fields: str
    ) -> None:
        super().__init__(message, **fields)
        self.bank = bank
        self.requested_bytes = requested_bytes
        self.largest_free_bytes = largest_free_bytes


class DeviceError(TtnnError, RuntimeError):
    """A closed, missing or wrong device.

    A wrong one is not that of the tensor.
    """


class FabricError(DeviceError):
    """A missing fabric, or links between chips that are down."""


class RankError(DeviceError):
    """Processes of a mesh that disagree, or one that died."""


class StorageError(TtnnError, RuntimeError):
    """A tensor in the wrong storage (host or device), or deallocated."""


class ArgumentError(TtnnError, TypeError):
    """A call that fits no signature."""


class ParameterError(TtnnError, RuntimeError, ValueError):
    """A valid type with a value that the operator does not support."""


class IndexRangeError(TtnnError, IndexError):
    """An index outside of the tensor."""


class ConfigError(TtnnError, RuntimeError, ValueError, AttributeError):
    """An unknown field, or an invalid value."""


class FileFormatError(TtnnError, RuntimeError, ValueError):
    """A file that is not what its name promises."""


class FileAccessError(FileFormatError, OSError):
    """A file that cannot be read or written, or no file.

    `errno`, `strerror` and `filename` are those of the system, None if it was not asked.
    """


class KernelError(TtnnError, RuntimeError):
    """A kernel error that would break the hardware, or any exception.

    Attributes:
        core: Logical core on which it ran, as "x-y".
        risc: BRISC, NCRISC or TRISC.
        kernel: Name of the kernel.
        line: Source line, 0 if unknown.
        cb: Circular buffer that it is about, None if it is about none.
        file: Source file, empty if unknown.
        chip: Coordinate of the chip in its mesh; empty in a mesh of one chip.
    """

    chip: tuple[int, ...] = ()

    def __init__(
        self,
        message: str,
        core: str = "",
        risc: str = "",
        kernel: str = "",
        line: int = 0,
        cb: int | None = None,
        file: str = "",
        **fields: str,
    ) -> None:
        super().__init__(message, **fields)
        self.core = core
        self.risc = risc
        self.kernel = kernel
        self.line = line
        self.cb = cb
        self.file = file


class AddressError(KernelError):
    """An out-of-bounds, misaligned, freed or unwritten memory access."""


class CircularBufferError(KernelError):
    """A circular buffer protocol error: reserve, push, wait, pop."""


class RegisterError(KernelError):
    """A Dst protocol error: acquire, commit, wait, release."""


class KernelSetupError(KernelError):
    """A missing or wrong init call, or unconfigured data format."""


class RaceError(KernelError):
    """Data used before its transfer is complete."""


class KernelArgumentError(KernelError):
    """Missing, extra or invalid arguments of kernels or kernel API calls."""


class KernelAssertError(KernelError):
    """An assertion of a kernel that does not hold."""


class KernelCompileError(KernelError):
    """A C++ kernel that fails to compile or link.

    Also a missing compiler.
    """


class DeadlockError(KernelError):
    """No kernel of a program can continue.

    Attributes:
        waits: One text per kernel that waits: where, for what, and who would have to bring it.
    """

    def __init__(self, message: str, waits: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.waits = waits


class UnsupportedError(TtnnError, NotImplementedError):
    """A feature of the real card that is not supported (yet).

    `NotImplementedError` is a `RuntimeError`, so this one is too.

    Attributes:
        category: "unsupported" (will stay so), "unimplemented" (not implemented) or "untested".
    """

    def __init__(self, message: str, category: str = "unsupported") -> None:
        super().__init__(message)
        self.category = category


class MissingNameError(UnsupportedError, AttributeError):
    """A missing name of the official package, also an AttributeError."""


class EngineBugError(TtnnError, RuntimeError):
    """A violated engine invariant: a bug of this package, please report."""
