"""Text of tensors, identical to that of the official package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.base.exceptions import ConfigError
from ttnn.base.tensor_spec import TensorSpec

_HEAD = "ttnn.Tensor("
_PROFILES = ("empty", "short", "full")
# A dimension longer than this keeps two items at each edge in the short profile.
_LONGEST_DIM = 4
_EDGE = 2
_INT_WIDTH = 5


@dataclass
class PrintOptions:
    """Print options of tensors.

    Attributes:
        profile: "empty" (no values), "short" or "full".
        sci_mode: Scientific notation; None decides per tensor.
        precision: Digits after the point.
    """

    profile: str = "short"
    sci_mode: bool | None = None
    precision: int = 4


OPTIONS = PrintOptions()


def set_printoptions(
    *, profile: str = "short", sci_mode: str | bool | None = None, precision: int | None = None
) -> None:
    """Set tensor print options; omitted ones are reset to their defaults.

    Args:
        profile: "empty", "short" (default) or "full", in any case.
        sci_mode: True, False, or None or "default" to decide per tensor.
        precision: Digits after the point, 4 if None.

    Raises:
        ConfigError: unknown profile or mode, or a precision that is not a number from 0 on.
    """
    if not isinstance(profile, str) or profile.lower() not in _PROFILES:
        raise ConfigError(
            f"ttnn.set_printoptions: profile must be one of {', '.join(_PROFILES)}; got {profile!r}",
            vendor="bad optional access",
        )
    modes = {"true": True, "false": False, "none": None, "default": None}
    if not isinstance(sci_mode, bool | None):
        if not isinstance(sci_mode, str) or sci_mode.lower() not in modes:
            raise ConfigError(
                f"ttnn.set_printoptions: sci_mode must be True, False, None or 'default'; got {sci_mode!r}"
            )
        sci_mode = modes[sci_mode.lower()]
    digits = 4 if precision is None else precision
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 0:
        raise ConfigError(f"ttnn.set_printoptions: precision must be a number from 0 on, got {precision!r}")
    OPTIONS.profile = profile.lower()
    OPTIONS.sci_mode = sci_mode
    OPTIONS.precision = digits


def unallocated_text(spec: TensorSpec) -> str:
    """Return the text of a tensor whose memory was released."""
    return f"{_HEAD}<buffer is not allocated>{_tail(spec)}"


def tensor_text(spec: TensorSpec, read: Callable[[], NDArray[Any]]) -> str:
    """Return the text of a tensor.

    Args:
        spec: The tensor.
        read: Returns its values; not called if they are not printed.
    """
    if OPTIONS.profile == "empty":
        return f"{_HEAD}...{_tail(spec)}"
    values = read()
    if values.dtype.kind not in "iu":
        values = values.astype(np.float32)
    return f"{_HEAD}{_nested(values, 0, _formatter(values))}{_tail(spec)}"


def _tail(spec: TensorSpec) -> str:
    return f", shape={spec.shape}, dtype={spec.dtype.cpp_name}, layout={spec.layout.cpp_name})"


def _formatter(values: NDArray[Any]) -> Callable[[Any], str]:
    if values.dtype.kind in "iu":
        return lambda value: f"{int(value):{_INT_WIDTH}d}"
    digits = OPTIONS.precision
    scientific = _wants_scientific(values) if OPTIONS.sci_mode is None else OPTIONS.sci_mode
    # Sign, one digit, point: 3 characters before the digits. An exponent like e+00 takes 4 more.
    width, kind = (digits + 7, "e") if scientific else (digits + 3, "f")

    def text(value: Any) -> str:
        number = float(value)
        return "nan".rjust(width) if number != number else f"{number:{width}.{digits}{kind}}"

    return text


def _wants_scientific(values: NDArray[Any]) -> bool:
    magnitudes = np.abs(values[np.isfinite(values) & (values != 0)].astype(np.float64))
    if magnitudes.size == 0:
        return False
    smallest, largest = float(magnitudes.min()), float(magnitudes.max())
    return largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4


def _nested(values: NDArray[Any], depth: int, text: Callable[[Any], str]) -> str:
    if values.ndim == 0:
        return text(values[()])
    if values.ndim == 1:
        separator = ", "
        items = [" ..." if index is None else text(values[index]) for index in _shown(values.shape[0])]
    else:
        lines = "\n" if values.ndim == 2 else "\n\n"
        separator = "," + lines + " " * (len(_HEAD) + depth + 1)
        items = [
            "..." if index is None else _nested(values[index], depth + 1, text) for index in _shown(values.shape[0])
        ]
    return f"[{separator.join(items)}]"


def _shown(length: int) -> list[int | None]:
    """Return the indices that are printed; None is the ellipsis."""
    if OPTIONS.profile == "full" or length <= _LONGEST_DIM:
        return list(range(length))
    return [*range(_EDGE), None, *range(length - _EDGE, length)]
