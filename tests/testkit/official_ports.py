"""Shared public port code: random weights, distance to a reference."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest


@dataclass
class LocalHub:
    """Hub model configurations by name.

    Weights are random numbers of a fixed seed.
    """

    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)

    def config(self, cls: Any, name: str) -> Any:
        """Return the configuration of a model."""
        made = cls(**self.configs[name])
        made._attn_implementation = "eager"
        return made

    def model(self, cls: Any, name: str, config: Any = None) -> Any:
        """Return a random-weight model in evaluation mode, always the same."""
        import torch

        if name not in self.made:
            torch.manual_seed(len(name))
            self.made[name] = cls(config if config is not None else self.config(cls.config_class, name)).eval()
        return self.made[name]


def correlation(expected: Any, actual: Any, *, centred: bool = False) -> float:
    """Return the Pearson correlation of two torch tensors.

    Of rows without their mean if asked for.
    """
    left, right = (np.asarray(value.detach().double()).reshape(-1, value.shape[-1]) for value in (expected, actual))
    if centred:
        left, right = left - left.mean(0), right - right.mean(0)
    return float(np.corrcoef(left.ravel(), right.ravel())[0, 1])


class Distances:
    """Correlations of a port with its reference, and test time."""

    def __init__(self) -> None:
        self.found: list[float] = []
        self.begin = time.monotonic()

    def take(self, expected: Any, actual: Any) -> float:
        """Add and return the correlation of two torch tensors."""
        self.found.append(correlation(expected, actual))
        return self.found[-1]

    def of(self, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Add what a module of the checkout compares from now on."""

        def wrap(function: Any) -> Any:
            def compared(expected: Any, actual: Any, *args: Any, **kwargs: Any) -> Any:
                self.take(expected, actual.reshape(expected.shape))
                return function(expected, actual, *args, **kwargs)

            return compared

        for name in ("comp_pcc", "assert_with_pcc", "check_with_pcc"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, wrap(getattr(module, name)))

    def report(self, port: str, size: str, bar: float, official: float, replaced: str = "") -> None:
        """Check the smallest correlation, and write a line of the table."""
        assert self.found
        least = min(self.found)
        table = os.environ.get("TTNN_PORTS_TABLE")
        if table:
            seconds = time.monotonic() - self.begin
            with open(table, "a", encoding="utf-8") as file:
                file.write(f"| {port} | {size} | {least:.4f} | {official} | {bar} | {seconds:.0f} | {replaced} |\n")
        assert least >= max(bar, official), f"{port} {size}: {least:.5f}"
