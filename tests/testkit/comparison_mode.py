"""Operators in comparison mode: near golden functions, and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import ttnn

_UNREACHABLE = 2.0
"""A correlation that no result has."""


@contextmanager
def _comparison(pcc: float) -> Iterator[None]:
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        ttnn.manage_config("comparison_mode_pcc", pcc),
    ):
        yield


def agrees_with_golden(call: Callable[[], Any], pcc: float = 0.999) -> None:
    """Assert correlation with the golden function, in comparison mode."""
    with _comparison(pcc):
        call()
    with _comparison(_UNREACHABLE), pytest.raises(ttnn.ComparisonError):
        call()
