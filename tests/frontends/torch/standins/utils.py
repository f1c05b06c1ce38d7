"""Stand-in for the module of this name in the tests of tt-xla."""

from __future__ import annotations

from enum import Enum

__all__ = ["Category"]


class Category(Enum):
    """Kinds of tests."""

    OP_TEST = "op_test"
