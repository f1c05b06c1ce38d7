"""Shared model test code: weight packages, operators, golden functions, values."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import _engine
from ttnn.cli.demo.measure import sha256


def needs(*modules: str, always: bool = True) -> None:
    """Skip a module's tests without these packages, or fail if required.

    `TTNN_MODELS_REQUIRED=1` requires those of the modules that every check runs (`always`), `TTNN_MODELS_REQUIRED=all`
    those of all.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if not missing:
        return
    message = f"no package {', '.join(missing)}: docs/models.md says how to install it"
    if os.environ.get("TTNN_MODELS_REQUIRED") in (("1", "all") if always else ("all",)):
        pytest.fail(message, pytrace=False)
    pytest.skip(message, allow_module_level=True)


def large() -> None:
    """Skip a module's tests unless `TTNN_MODELS_REQUIRED=all`.

    They take minutes, and memory.
    """
    if os.environ.get("TTNN_MODELS_REQUIRED") != "all":
        pytest.skip("takes minutes: set TTNN_MODELS_REQUIRED=all, as cargo xtask models does", allow_module_level=True)


@dataclass
class Operators:
    """Distance of a run's operators to their golden functions."""

    found: list[tuple[str, float]] = field(default_factory=list)
    _name: str = ""

    def before(self, operation: Any, args: Any, kwargs: Any) -> None:
        self._name = operation.__name__
        assert operation.plain_golden is not None or self._name in WITHOUT_GOLDEN, (
            f"{self._name} has no golden function"
        )

    def call(self, operation: Any, args: Any, kwargs: Any) -> Any:
        return operation.function(*args, **kwargs)

    def compared(self, comparisons: Any, level: str) -> None:
        assert level == "local"
        self.found += [(self._name, comparison.actual_pcc) for comparison in comparisons]

    def worst(self) -> dict[str, float]:
        """Return the smallest correlation of every operator."""
        return {name: min(pcc for other, pcc in self.found if other == name) for name, _ in self.found}


WITHOUT_GOLDEN = {"ttnn.deallocate", "ttnn.from_torch", "ttnn.to_torch", "ttnn.to_device", "ttnn.from_device"}
"""These move tensors between host and device, or free them."""


@contextmanager
def results_of(*names: str) -> Iterator[list[str]]:
    """Yield these operators' result SHA-256 list, from here on."""
    found: list[str] = []

    def after(operation: Any, args: Any, kwargs: Any, output: Any) -> None:
        if operation.__name__ in names:
            found.append(sha256(output[0] if isinstance(output, list | tuple) else output))

    # Hooks belong to the slow path, as in the official package.
    with ttnn.manage_config("enable_fast_runtime_mode", False), ttnn.register_post_operation_hook(after):
        yield found


def bits_on_every_host(run: Callable[[], list[str]], device: ttnn.MeshDevice) -> list[str]:
    """Return a run's hashes for threads, CPU levels and programs.

    Any number and level, with and without programs.

    The fixtures `cpu_level` and `host_threads` put both back.
    """
    first = run()
    for threads in (1, 2, 8):
        _engine.set_threads(threads)
        assert run() == first, f"{threads} threads"
    for level in _engine.cpu_levels():
        # The scalar definition takes minutes for a model.
        if level != "scalar":
            _engine.set_cpu_level(level)
            assert run() == first, level
    device.disable_and_clear_program_cache()
    assert run() == first, "without program cache"
    return first


def falls_with_phases(found: Mapping[str, float], noise: float = 1e-5) -> None:
    """Assert that correlations with torch fall from HiFi4 over HiFi2 to LoFi.

    Args:
        found: By the name of the fidelity.
        noise: By how much HiFi2 may be better than HiFi4: in block floats it is exact in all bits of a mantissa.
    """
    assert found["LoFi"] < found["HiFi2"] <= found["HiFi4"] + noise, found


def trace(device: ttnn.MeshDevice, run: Callable[[], Any]) -> Any:
    """Return a replayed run's result, after a first run.

    Programs and weights are there then.

    The device needs a trace region.
    """
    number = ttnn.begin_trace_capture(device, cq_id=0)
    try:
        result = run()
    finally:
        ttnn.end_trace_capture(device, number, cq_id=0)
    ttnn.execute_trace(device, number, cq_id=0, blocking=True)
    return result


def as_numpy(tensor: ttnn.Tensor) -> Any:
    """Return the values of a tensor as float32."""
    return np.asarray(ttnn.from_device(tensor).to_numpy(), np.float32)
