"""Optimizers whose step is a program of the device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch

from ttnn.base.exceptions import ParameterError
from ttnn.compiler.frontends.forge.tensor import Tensor
from ttnn.compiler.frontends.torch.backend import compile_function
from ttnn.compiler.frontends.torch.options import Options

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


class Optimizer(ABC):
    """An optimizer.

    Attributes:
        learning_rate: Its learning rate.
        steps: How many steps were made.
    """

    states = 0
    """Tensors that are kept for each parameter."""

    def __init__(self, learning_rate: float, parameters: Sequence[Any] | None = None) -> None:
        self.learning_rate, self.steps = float(learning_rate), 0
        self._parameters: list[torch.Tensor] = []
        self._kept: dict[int, list[torch.Tensor]] = {}
        self._compiled: dict[Any, Any] = {}
        if parameters:
            self.set_parameters_to_optimize(parameters)

    def set_parameters_to_optimize(self, parameters: Sequence[Any]) -> None:
        """Set the parameters: tensors of PyTorch or forge."""
        self._parameters = [one.value() if isinstance(one, Tensor) else one for one in parameters]

    def set_optimizer_parameters(self, learning_rate: float | None = None) -> None:
        """Set the learning rate; None leaves it."""
        self.learning_rate = self.learning_rate if learning_rate is None else float(learning_rate)

    def factors(self) -> list[float]:
        """Return the numbers of the next step, inputs of its program."""
        return [self.learning_rate]

    @abstractmethod
    def update(
        self, parameter: Any, gradient: Any, states: Sequence[Any], factors: Sequence[Any]
    ) -> tuple[Any, list[Any]]:
        """Return a parameter and its states after a step."""

    def zero_grad(self) -> None:
        """Remove the gradients."""
        for one in self._parameters:
            one.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change the parameters that have a gradient.

        Raises:
            ParameterError: There are no parameters.
        """
        if not self._parameters:
            raise ParameterError("the optimizer has no parameters: pass it to forge.compile.")
        changed = [one for one in self._parameters if one.grad is not None]
        if not changed:
            return
        self.steps += 1
        states = [state for one in changed for state in self._states(one)]
        factors = [torch.tensor([one]) for one in self.factors()]
        gradients: list[Any] = [one.grad for one in changed]
        values: list[Any] = [*factors, *(one.detach() for one in changed), *gradients, *states]
        key = tuple((tuple(one.shape), one.dtype) for one in values)
        if key not in self._compiled:
            count, numbers = len(changed), len(factors)
            self._compiled[key] = compile_function(
                lambda *given: self._all(count, numbers, given), values, ["input"] * len(values), Options()
            )
        results = self._compiled[key](*values)
        for one, new in zip([*changed, *states], results, strict=True):
            one.copy_(new)

    def _states(self, parameter: torch.Tensor) -> list[torch.Tensor]:
        found = self._kept.setdefault(id(parameter), [])
        while len(found) < self.states:
            found.append(torch.zeros_like(parameter))
        return found

    def _all(self, count: int, numbers: int, given: Sequence[Any]) -> list[Any]:
        """Return all parameters after a step, then all states."""
        factors, rest = given[:numbers], given[numbers:]
        parameters, gradients, states = rest[:count], rest[count : 2 * count], rest[2 * count :]
        made, kept = [], []
        for i in range(count):
            own = states[i * self.states : (i + 1) * self.states]
            parameter, new = self.update(parameters[i], gradients[i], own, factors)
            made.append(parameter)
            kept += new
        return [*made, *kept]


class SGD(Optimizer):
    """Gradient descent."""

    def update(
        self, parameter: Any, gradient: Any, states: Sequence[Any], factors: Sequence[Any]
    ) -> tuple[Any, list[Any]]:
        """Return a parameter less its gradient times the learning rate."""
        del states
        return parameter - gradient * factors[0], []


class Adam(Optimizer):
    """Adam: means of gradients and of their squares."""

    states = 2

    def __init__(
        self,
        learning_rate: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
        bias_correction: bool = True,
        parameters: Sequence[Any] | None = None,
        enable_adam_w: bool = False,
    ) -> None:
        super().__init__(learning_rate, parameters)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.weight_decay, self.bias_correction, self.enable_adam_w = weight_decay, bias_correction, enable_adam_w

    def factors(self) -> list[float]:
        """Return the learning rate and the two corrections of the next step."""
        if not self.bias_correction:
            return [self.learning_rate, 1.0, 1.0]
        return [self.learning_rate, 1 / (1 - self.beta1**self.steps), 1 / (1 - self.beta2**self.steps)]

    def update(
        self, parameter: Any, gradient: Any, states: Sequence[Any], factors: Sequence[Any]
    ) -> tuple[Any, list[Any]]:
        """Return a parameter and its two means after a step."""
        rate, first, second = factors
        if self.weight_decay and self.enable_adam_w:
            parameter = parameter - parameter * (rate * self.weight_decay)
        elif self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        mean = states[0] * self.beta1 + gradient * (1 - self.beta1)
        square = states[1] * self.beta2 + gradient * gradient * (1 - self.beta2)
        moved = rate * (mean * first) / (torch.sqrt(square * second) + self.epsilon)
        return parameter - moved, [mean, square]


class AdamW(Adam):
    """Adam whose weight decay does not pass through the means."""

    def __init__(
        self,
        learning_rate: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
        bias_correction: bool = True,
        parameters: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(
            learning_rate, beta1, beta2, epsilon, weight_decay, bias_correction, parameters, enable_adam_w=True
        )
