"""Compiled models: lists of tensors of PyTorch from inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ttnn.base.exceptions import FileFormatError, ParameterError, UnsupportedError
from ttnn.base.files import write_atomically
from ttnn.compiler.frontends.forge.cpp import cpp_source
from ttnn.compiler.frontends.forge.tensor import to_pt_tensors

__all__ = ["CompiledModel"]

_WHERE = "forge"


class CompiledModel:
    """A model on the device.

    Attributes:
        framework_module: What was compiled.
    """

    def __init__(
        self,
        run: Callable[..., Any],
        plans: Callable[[], Sequence[Any]],
        module: Any,
        *,
        training: bool = False,
        optimizer: Any = None,
    ) -> None:
        """Wrap a function that runs on the device.

        Args:
            run: The function.
            plans: Returns the plans of its programs.
            module: What was compiled.
            training: Whether `backward` follows.
            optimizer: An optimizer of forge that `step` asks; None for none.
        """
        self._run, self._plans, self.framework_module = run, plans, module
        self._training, self._optimizer = training, optimizer
        self._outputs: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._inputs: list[Any] = []

    def __call__(self, *inputs: Any) -> list[torch.Tensor]:
        """Return the outputs.

        In training they are leaves: their gradients are what `backward` begins with.
        """
        given = to_pt_tensors(inputs)
        found = [one for one in pytree.tree_leaves(self._run(*given)) if one is not None]
        results = list(to_pt_tensors(found))
        if not self._training:
            return results
        self._inputs = [one for one in given if one.requires_grad]
        leaves = [one.detach().requires_grad_(one.requires_grad) for one in results]
        self._outputs = [(one, leaf) for one, leaf in zip(results, leaves, strict=True) if one.requires_grad]
        return leaves

    def forward(self, *inputs: Any) -> list[torch.Tensor]:
        """Return the outputs."""
        return self(*inputs)

    def training(self) -> bool:
        """Return whether it was compiled for training."""
        return self._training

    def backward(self) -> list[torch.Tensor]:
        """Add gradients to parameters and inputs; return the inputs'.

        It begins with the gradients of the outputs of the last call.

        Raises:
            UnsupportedError: It was compiled without training.
            ParameterError: There was no call, or its outputs have no gradient.
        """
        if not self._training:
            raise UnsupportedError("forge: the model was compiled for inference; pass training=True or an optimizer.")
        pairs = [(one, leaf.grad) for one, leaf in self._outputs if leaf.grad is not None]
        if not pairs:
            raise ParameterError("forge: backward needs gradients of outputs, which loss.backward() makes.")
        torch.autograd.backward([one for one, _ in pairs], [grad for _, grad in pairs])
        self._outputs = []
        return [one.grad for one in self._inputs if one.grad is not None]

    def step(self) -> None:
        """Change the parameters by the optimizer.

        Raises:
            UnsupportedError: There is no optimizer of forge.
        """
        if self._optimizer is None:
            raise UnsupportedError("forge: the model was compiled without an optimizer of forge.optimizers.")
        self._optimizer.step()

    def update_host_weights(self) -> None:
        """Do nothing: parameters are those of the framework's module."""

    @property
    def plans(self) -> list[Any]:
        """The plans of its programs."""
        return list(self._plans())

    def describe(self) -> str:
        """Return the borders and segments of its programs."""
        return "\n".join(one.describe() for one in self.plans)

    def save(self, output_path: str) -> None:
        """Write the binary of its program.

        Raises:
            FileFormatError: The name does not end with `.ttnn`.
            FileAccessError: The file cannot be written.
            UnsupportedError: It has no program, or several.
        """
        if Path(output_path).suffix != ".ttnn":
            raise FileFormatError(f"{_WHERE}: the name of a binary ends with .ttnn, got {str(output_path)!r}.")
        write_atomically(output_path, self._only().binary.to_bytes(), where=_WHERE)

    def export_to_cpp(self, export_path: str) -> None:
        """Write its program as C++.

        Raises:
            FileAccessError: The file cannot be written.
            UnsupportedError: It has no program, or several.
        """
        write_atomically(export_path, cpp_source(self._only().ttir).encode(), where=_WHERE)

    def export_to_shared_object(self) -> str:
        """Refuse: the host's C++ compiler is not run.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("forge: shared objects are not built; export_to_cpp writes the source.")

    def _only(self) -> Any:
        plans = self.plans
        if len(plans) != 1:
            raise UnsupportedError(f"{_WHERE}: the model has {len(plans)} programs of the device; expected one.")
        return plans[0]
