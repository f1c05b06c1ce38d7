"""Output and assertions of kernels, and marks of the profiler.

Kernel output is printed on the host's standard output, line by line, prefixed with device, core and RISC.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from ttnn.base.exceptions import KernelAssertError
from ttnn.kernel_api.context import KernelContext, here

_RISCS = {"BRISC": "BR", "NCRISC": "NC", "TRISC": "TR"}


class ENDL:
    """The end of a printed line."""


class HEX:
    """Integers that follow are printed in base 16."""


class OCT:
    """Integers that follow are printed in base 8."""


class DEC:
    """Integers that follow are printed in base 10."""


class FIXED:
    """Print floats that follow with a fixed number of decimals."""


class DEFAULTFLOAT:
    """Floats that follow are printed as by default."""


@dataclass(frozen=True)
class SETPRECISION:
    """Digits of floats that follow."""

    digits: int


@dataclass(frozen=True)
class SETW:
    """Minimum width of the next item."""

    width: int


def F32(value: int) -> float:  # noqa: N802 - the official name
    """Return the float32 value of these bits, for printing."""
    return float(np.uint32(value).view(np.float32)) if isinstance(value, int) else float(value)


def BF16(value: int) -> float:  # noqa: N802 - the official name
    """Return the bfloat16 value of these bits, for printing."""
    return float(np.uint16(value).view(ml_dtypes.bfloat16))


def U32(value: int) -> int:  # noqa: N802 - the official name
    """Return the low 32 bits of an integer, for printing."""
    return int(value) & 0xFFFF_FFFF


@dataclass(frozen=True)
class Printer:
    """The type of `DPRINT`: a format function and a stream (classic).

    The format has `{}`; the stream ends with `ENDL()`.
    """

    base: str = ""
    fixed: bool = False
    precision: int = 6
    width: int = 0

    def __call__(self, template: str | Printer, *values: Any) -> None:
        """Print values in a format with `{}` for each."""
        if not isinstance(template, Printer):
            _write(template.format(*values))

    def __lshift__(self, item: Any) -> Printer:
        if isinstance(item, type) and item in _FORMS:
            item = item()
        if isinstance(item, ENDL):
            _write("\n")
            return self
        if isinstance(item, (HEX, OCT, DEC)):
            return replace(self, base=_FORMS[type(item)])
        if isinstance(item, (FIXED, DEFAULTFLOAT)):
            return replace(self, fixed=isinstance(item, FIXED))
        if isinstance(item, SETPRECISION):
            return replace(self, precision=item.digits)
        if isinstance(item, SETW):
            return replace(self, width=item.width)
        _write(self._text(item).rjust(self.width))
        return replace(self, width=0) if self.width else self

    def _text(self, item: Any) -> str:
        if isinstance(item, (float, np.floating)):
            return format(float(item), f".{self.precision}{'f' if self.fixed else 'g'}")
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            return format(int(item), self.base)
        return str(item)


_FORMS = {ENDL: "", HEX: "x", OCT: "o", DEC: "", FIXED: "", DEFAULTFLOAT: ""}

DPRINT = Printer()
DEVICE_PRINT = DPRINT
DPRINT_UNPACK = DPRINT
DPRINT_MATH = DPRINT
DPRINT_PACK = DPRINT


def _write(text: str) -> None:
    kernel: KernelContext = here.kernel
    *lines, kernel.printed = (kernel.printed + text).split("\n")
    for line in lines:
        write_line(kernel, line)


def write_line(kernel: KernelContext, line: str) -> None:
    """Write a kernel's line to the host's standard output."""
    x, y = kernel.core
    sys.stdout.write(f"{kernel.device_id}:(x={x},y={y}):{_RISCS[kernel.risc]}: {line}\n")


def end_line(kernel: KernelContext) -> None:
    """Print a kernel's last line without line end, after its return."""
    if kernel.printed:
        write_line(kernel, kernel.printed)
        kernel.printed = ""


def ASSERT(condition: object, message: str = "") -> None:  # noqa: N802 - the official name
    """Stop the program if a condition is false.

    No cost, no effect without the watcher.

    Raises:
        KernelAssertError: it does not.
    """
    if not condition and here.run.is_watched:
        raise KernelAssertError(f"ASSERT: the condition does not hold{': ' + message if message else ''}")


LLK_ASSERT = ASSERT


def WAYPOINT(name: str) -> None:  # noqa: N802 - the official name
    """No effect: reports name the line of every waiting kernel."""


def DeviceZoneScopedN(name: str) -> AbstractContextManager[None]:  # noqa: N802 - the official name
    """No effect, called or in `with`: reports time every call."""
    return nullcontext()


DeviceZoneScopedMainN = DeviceZoneScopedN


def invalidate_l1_cache() -> None:
    """Do nothing: this chip has no cache between its cores and L1."""
