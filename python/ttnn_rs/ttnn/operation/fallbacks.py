"""Operators that run on the host by request, counted and shown.

They run by their golden functions, because the program asks for it.

A fallback is an operator of its own, named after the one that it replaces: "ttnn.reshape (torch)". Reports and
profiles list it under that name, which the official tools show as an operator of the host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.operation.registry import FastOperation
from ttnn.operation.slow_path import plain
from ttnn.tensor.tensor import Tensor

SUFFIX: Final = " (torch)"
_counts: Final[Counter[str]] = Counter()


def fallback_counts() -> dict[str, int]:
    """Return each operator's host run count, by name.

    Since the process began or the last reset.
    """
    return dict(_counts)


def reset_fallback_counts() -> None:
    """Reset the counts."""
    _counts.clear()


@contextmanager
def counted_fallbacks() -> Iterator[Counter[str]]:
    """Return a context manager that counts fallbacks by operator."""
    before, inside = Counter(_counts), Counter[str]()
    try:
        yield inside
    finally:
        inside.update(_counts - before)


def fallback_of(operation: FastOperation, golden: Callable[..., Any]) -> FastOperation:
    """Return an operator that runs another's golden function on the host."""

    def fallback(*args: Any, **kwargs: Any) -> Any:
        name = operation.__name__
        if CONFIG.throw_exception_on_fallback:
            raise UnsupportedError(
                f"{name}: its fallback function runs on the host, and CONFIG.throw_exception_on_fallback is set; call "
                f"{name} itself.",
                "unsupported",
            )
        first = next((value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)), None)
        if first is None:
            raise ArgumentError(f"{name}: the fallback function needs a tensor argument.")
        with np.errstate(all="ignore"):
            result = golden(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()})
        _counts[name] += 1

        def tensor(values: Any) -> Tensor:
            host = Tensor(np.asarray(values, np.float32), first.dtype, None, first.layout)
            return host if first._device is None else host.to(first._device)

        return [tensor(item) for item in result] if isinstance(result, list | tuple) else tensor(result)

    doc = f"Return what the golden function of `{operation.__name__}` gives, like the first tensor and on its device."
    return FastOperation(f"{operation.__name__}{SUFFIX}", fallback, golden_function=operation.golden_function, doc=doc)
