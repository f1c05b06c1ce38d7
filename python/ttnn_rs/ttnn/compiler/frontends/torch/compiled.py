"""Compiled graphs: a plan of the device between tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ttnn.compiler.frontends.plan import Plan
from ttnn.compiler.frontends.torch.border import argument, left, parameter, result
from ttnn.compiler.ir.module import Module

__all__ = ["Compiled"]


class Compiled:
    """A program of the device that takes and returns tensors of PyTorch.

    Parameters are copied to the device once for each form that programs ask for, and again when they change.

    Attributes:
        plan: The plan.
        runs: How often it ran.
        kept: Numbers of the results that only programs read: they stay on the device.
    """

    def __init__(
        self, module: Module, described: Sequence[Any], kinds: Sequence[str], device: Callable[[], Any], options: str
    ) -> None:
        """Compile a module.

        Args:
            module: The `ttir` program.
            described: PyTorch's descriptions of the results.
            kinds: Kind of each argument.
            device: Returns the device.
            options: Options of the pipeline.
        """
        self.plan = Plan(module, None, options)
        self._described = [(one.dtype, tuple(int(size) for size in one.shape)) for one in described]
        self._kinds = list(kinds)
        self._device = device
        self.runs = 0
        self.kept: frozenset[int] = frozenset()

    def __call__(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the results for inputs."""
        device = self._device()
        given = [
            argument(value, border.name) if kind == "input" else parameter(value, border.name)
            for value, kind, border in zip(inputs, self._kinds, self.plan.inputs, strict=True)
        ]
        results = self.plan.run(given, device)
        self.runs += 1
        kept = self.kept if not saved_elsewhere() else ()
        return tuple(
            (left if number in kept else result)(one, dtype, shape)
            for number, (one, (dtype, shape)) in enumerate(zip(results, self._described, strict=True))
        )


def saved_elsewhere() -> bool:
    """Return whether hooks of autograd read saved tensors."""
    return torch._C._autograd._top_saved_tensors_default_hooks(False) is not None
