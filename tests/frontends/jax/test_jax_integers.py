"""Integers of 32 bits keep all bits in movement and arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

VALUES = np.array([2**31 - 1, 16777217, -16777217, -(2**31), 5, 123456789], np.int32)
PLACES = np.array([5, 0, 3, 1, 2, 4], np.int32)
TABLE = np.stack([VALUES, VALUES[::-1], VALUES ^ 1])

CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "take": (lambda v, i: v[i], VALUES),
    "take_along": (lambda v, i: jnp.take_along_axis(v, jnp.stack([i, i, i]), axis=1), TABLE),
    "take_columns": (lambda v, i: jnp.take(v, i, axis=1), TABLE),
    "dynamic_slice": (lambda v, i: lax.dynamic_slice(v, (i[3],), (3,)), VALUES),
    "transpose": (lambda v, i: jnp.transpose(v.reshape(3, 2, 3), (2, 0, 1)), TABLE),
    "where": (lambda v, i: jnp.where(i > 2, v, -v), VALUES),
    "scatter": (lambda v, i: jnp.zeros(8, jnp.int32).at[i].set(v), VALUES),
    "scatter_add": (lambda v, i: v.at[i].add(v), VALUES),
    "cumsum": (lambda v, i: jnp.cumsum(v), VALUES),
    "product": (lambda v, i: v.astype(jnp.uint32) * jnp.uint32(2654435761), VALUES),
    "largest": (lambda v, i: (v.max(1), jnp.argmax(v, 1)), TABLE),
}


@pytest.mark.parametrize("name", CASES)
def test_all_bits_are_kept(name: str, tt: Any) -> None:
    function, values = CASES[name]
    found = []
    for device in (jax.devices("cpu")[0], tt):
        arguments = (jax.device_put(one, device) for one in (values, PLACES))
        found.append([np.asarray(one) for one in jax.tree.leaves(jax.jit(function)(*arguments))])
    for want, got in zip(*found, strict=True):
        assert got.dtype == want.dtype
        assert np.array_equal(got, want)
