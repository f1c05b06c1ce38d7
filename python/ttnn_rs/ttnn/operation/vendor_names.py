"""Official names; missing ones raise an error with the reason.

`vendor_names.txt` has the operators of ttnn 0.81.1, and other public names that are not all here, in sections.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from ttnn.base.exceptions import MissingNameError

_WHY: Final = {
    "several chips": "not implemented for meshes; docs/meshes.md lists what is",
    "tools": (
        "captured graphs, their reports, traces of models and profiles are not implemented; programs of kernels report "
        "their time (ttnn.metal)"
    ),
    "others": (
        "the official package has it, here it is not implemented; ttnn.query_registered_operations() lists what is"
    ),
}


@lru_cache(maxsize=1)
def _sections() -> dict[str, str]:
    """Return the section of every name and dotted name's namespace."""
    found: dict[str, str] = {}
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for block in text.split("[")[1:]:
        section, names = block.split("]")
        for name in names.split():
            found[name] = section
            found.setdefault(name.split(".")[0], section)
    return found


def names() -> list[str]:
    """Return all names of the official package that are listed, sorted."""
    return sorted(_sections())


def not_here() -> list[str]:
    """Return the official names that `ttnn` lacks, sorted."""
    return sorted(name for name in _sections() if not _has(name))


def _has(name: str) -> bool:
    where: object = sys.modules["ttnn"]
    for part in name.split("."):
        where = getattr(where, part, None)
    return where is not None


def missing(name: str) -> AttributeError:
    """Return a missing `ttnn` name's error.

    It has the reason if the official package has the name.
    """
    section = _sections().get(name)
    if section is None:
        # A namespace, such as `experimental.kda`.
        section = next((one for inner, one in _sections().items() if inner.startswith(f"{name}.")), None)
    if section is None:
        return AttributeError(f"module 'ttnn' has no attribute {name!r}", name=name)
    return MissingNameError(f"ttnn.{name}: {_WHY[section]}", "unimplemented")
