"""The platform tt of jax, and comparisons with its CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

if find_spec("jax") is None and os.environ.get("TTNN_JAX_REQUIRED") != "1":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="module")
def tt() -> Iterator[Any]:
    """First device of the platform tt, the default of a module."""
    import jax

    import jax_plugin_tt

    jax_plugin_tt.initialize()
    device = jax.devices("tt")[0]
    with jax.default_device(device):
        yield device
    from ttnn.compiler.frontends.jax.device import close

    close()


@pytest.fixture
def same(tt: Any) -> Callable[..., None]:
    """Comparison of a jitted function on tt and on the CPU."""
    import jax

    def compare(function: Callable[..., Any], *arguments: Any, pcc: float = 0.9999, atol: float = 2e-3) -> None:
        got = jax.tree.leaves(jax.jit(function)(*arguments))
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.tree.leaves(jax.jit(function)(*arguments))
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert one.devices() == {tt}
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            agree(np.asarray(one), np.asarray(other), pcc, atol)

    return compare


def agree(got: Any, expected: Any, pcc: float, atol: float) -> None:
    """Assert that arrays are equal, floats within bounds."""
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(got, expected)
        return
    got, expected = got.astype(np.float64).reshape(-1), expected.astype(np.float64).reshape(-1)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_allclose(got, expected, rtol=0, atol=atol * max(np.abs(expected).max(initial=0), 1e-30))
    if got.size > 1 and got.std() > 0 and expected.std() > 0:
        assert np.corrcoef(got, expected)[0, 1] >= pcc


@pytest.fixture
def agreement() -> Callable[..., None]:
    """Comparison of two arrays that `same` makes."""
    return agree


@pytest.fixture
def run_script() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runner of a script in a process of its own."""

    def run(script: str, *, register: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        start = "import jax, jax_plugin_tt\n" + ("jax_plugin_tt.initialize()\n" if register else "")
        setting = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TTNN_JAX_"))}
        setting |= environment
        command = [sys.executable, "-W", "error", "-c", start + script]
        return subprocess.run(command, env=setting, capture_output=True, text=True, timeout=600)

    return run
