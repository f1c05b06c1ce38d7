"""What tests of models share: packages with weights, the operators of a run beside their golden functions, values."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import ttnn


def needs(*modules: str, always: bool = True) -> None:
    """Skip the tests of a module without these packages, or fail if they are required.

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
    """Skip the tests of a module unless `TTNN_MODELS_REQUIRED=all`: they take minutes, and memory."""
    if os.environ.get("TTNN_MODELS_REQUIRED") != "all":
        pytest.skip("takes minutes: set TTNN_MODELS_REQUIRED=all, as cargo xtask models does", allow_module_level=True)


@dataclass
class Operators:
    """How far the operators of a run were from their golden functions."""

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


def as_numpy(tensor: ttnn.Tensor) -> Any:
    """Return the values of a tensor as float32."""
    return np.asarray(ttnn.from_device(tensor).to_numpy(), np.float32)
