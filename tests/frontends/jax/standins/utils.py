"""Stand-in for the module of this name in the tests of tt-xla."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import jax
import jax.numpy as jnp

__all__ = [
    "Category",
    "convert_output_to_bfloat16",
    "enable_x64",
    "failed_fe_compilation",
    "failed_runtime",
    "failed_ttmlir_compilation",
    "incorrect_result",
]


class Category(Enum):
    """Kinds of tests."""

    OP_TEST = "op_test"
    GRAPH_TEST = "graph_test"
    MODEL_TEST = "model_test"
    OTHER = "other"


@contextmanager
def enable_x64() -> Iterator[None]:
    """Allow 64-bit types for a `with` block."""
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", False)


def _reason(text: str) -> str:
    return text


failed_fe_compilation = failed_ttmlir_compilation = failed_runtime = incorrect_result = _reason


def convert_output_to_bfloat16(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its result in bfloat16."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords).astype(jnp.bfloat16)

    return run
