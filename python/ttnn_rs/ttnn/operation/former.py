"""Arguments of earlier official versions that 0.81.1 does not accept.

A program written for them runs here: the argument is translated or ignored, with a `DeprecationWarning`. They
are in no signature, as in the official package.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.enums import GeluVariant, TileReshapeMapMode


@dataclass(frozen=True)
class Former:
    """One such argument.

    Args:
        taken_by: Whether an operator accepted it, from its category and its name below `ttnn`.
        values: What it could be.
        now: What it is today, as keyword arguments.
        why: What became of it, for the warning.
    """

    taken_by: Callable[[str, str], bool]
    values: tuple[Any, ...]
    now: Callable[[Any], dict[str, Any]]
    why: str


def _left_out(_value: Any) -> dict[str, Any]:
    return {}


_GELU: Final = {"none": GeluVariant.Accurate, "tanh": GeluVariant.Tanh}

FORMER: Final = {
    "use_legacy": Former(
        lambda category, name: category == "eltwise/binary",
        (None, False, True),
        _left_out,
        "there is one program, that of use_legacy=False",
    ),
    "fast_and_approximate_mode": Former(
        lambda category, name: name in ("erfc", "tanhshrink"),
        (False, True),
        _left_out,
        "there is one program, the accurate one",
    ),
    "use_multicore": Former(
        lambda category, name: name == "argmax", (False, True), _left_out, "the program chooses its cores"
    ),
    "recreate_mapping_tensor": Former(
        lambda category, name: name == "reshape",
        tuple(TileReshapeMapMode),
        lambda value: {"reshape_tile_mode": value},
        "use reshape_tile_mode",
    ),
    "reciprocals": Former(
        lambda category, name: name == "group_norm", (None,), _left_out, "the program computes its reciprocals"
    ),
    "approximate": Former(
        lambda category, name: name == "gelu_bw", tuple(_GELU), lambda value: {"variant": _GELU[value]}, "use variant"
    ),
}


def translated(category: str, name: str, kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a call's keyword arguments without those of earlier versions.

    None if it has none.

    Args:
        category: The operator's, for example "eltwise/binary".
        name: Its name below `ttnn`.
        kwargs: As the call has them.
    """
    found = {
        key: former
        for key, value in kwargs.items()
        if (former := FORMER.get(key)) is not None
        and former.taken_by(category, name)
        and any(value is known or (isinstance(known, str) and value == known) for known in former.values)
    }
    if not found:
        return None
    current = {key: value for key, value in kwargs.items() if key not in found}
    for key, former in found.items():
        warnings.warn(
            f"ttnn.{name}: {key}={kwargs[key]!r} is an argument of earlier versions: {former.why}.",
            DeprecationWarning,
            stacklevel=4,
        )
        for new, value in former.now(kwargs[key]).items():
            current.setdefault(new, value)
    return current
