"""Comparison of a compiled model with its framework."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.forge.checkers import AutomaticValueChecker, ValueChecker, copied
from ttnn.compiler.frontends.forge.formats import dtype_of, format_of
from ttnn.compiler.frontends.forge.model import CompiledModel
from ttnn.compiler.frontends.forge.modules import ForgeModule
from ttnn.compiler.frontends.forge.tensor import Tensor, to_pt_tensors

__all__ = ["DeprecatedVerifyConfig", "VerifyConfig", "verify"]


@dataclass
class VerifyConfig:
    """Settings of a comparison.

    Attributes:
        enabled: Whether anything is.
        verify_size: The number of outputs.
        verify_dtype: Their dtypes; 64-bit integers are 32-bit ones, as in tt-forge.
        verify_shape: Their shapes.
        verify_values: Their values.
        value_checker: How values are compared.
        verify_emitc_correctness: Refused: shared objects are not built.
        dump_tensors: Whether outputs are written to files.
        dump_tensors_path: The folder of these files.
    """

    enabled: bool = True
    verify_size: bool = True
    verify_dtype: bool = True
    verify_shape: bool = True
    verify_values: bool = True
    value_checker: ValueChecker = field(default_factory=AutomaticValueChecker)
    verify_emitc_correctness: bool = False
    dump_tensors: bool = False
    dump_tensors_path: str = ""


@dataclass
class DeprecatedVerifyConfig:
    """The older settings, accepted by `forge.compile` without effect."""

    graph_name: str = "graph"
    enabled: bool = True
    pcc: float | None = 0.99
    relative_atol: float = 0.1


def verify(
    inputs: Sequence[Any],
    framework_model: Any,
    compiled_model: CompiledModel,
    verify_cfg: VerifyConfig | None = None,
    with_backward: bool = False,
) -> tuple[Any, Any]:
    """Compare outputs of a framework with the device's; return both.

    Args:
        inputs: Inputs of both.
        framework_model: The framework's model.
        compiled_model: The compiled model.
        verify_cfg: What is compared.
        with_backward: Whether gradients of the first output are compared too.

    Raises:
        ValueError: They differ, or there are no inputs.
        TypeError: An argument is of another kind.
        UnsupportedError: The settings ask for what is not done here.
    """
    config = verify_cfg or VerifyConfig()
    if not inputs:
        raise ValueError("verify: expected inputs.")
    if not isinstance(compiled_model, CompiledModel):
        raise TypeError(f"verify: expected a compiled model of forge.compile, got {type(compiled_model).__name__}.")
    if not callable(framework_model):
        raise TypeError(f"verify: expected the framework's model, got {type(framework_model).__name__}.")
    if config.verify_emitc_correctness:
        raise UnsupportedError("verify_emitc_correctness: shared objects are not built.")
    wanted = _leaves(framework_model(*(one if isinstance(one, Tensor) else copied(one) for one in inputs)))
    found = compiled_model(*inputs)
    if config.dump_tensors:
        _dump(config.dump_tensors_path, wanted, found)
    if not config.enabled:
        return wanted, found
    if config.verify_size and len(wanted) != len(found):
        raise ValueError(
            f"Number of outputs: framework model has {len(wanted)} outputs, compiled model has {len(found)} outputs"
        )
    for first, second in zip(wanted, found, strict=False):
        _compare(first, second, config)
    if with_backward:
        _backward(inputs, wanted[0], found[0], framework_model, compiled_model, config)
    return wanted, found


def _leaves(given: Any) -> tuple[torch.Tensor, ...]:
    return to_pt_tensors([one for one in pytree.tree_leaves(given) if one is not None])


def _compare(first: torch.Tensor, second: torch.Tensor, config: VerifyConfig) -> None:
    if config.verify_dtype and dtype_of(format_of(first.dtype)) != dtype_of(format_of(second.dtype)):
        raise ValueError(f"Dtype mismatch: framework_model.dtype={first.dtype}, compiled_model.dtype={second.dtype}")
    if config.verify_shape and first.shape != second.shape:
        raise ValueError(f"Shape mismatch: framework_model.shape={first.shape}, compiled_model.shape={second.shape}")
    if config.verify_values:
        config.value_checker.check(first.detach(), second.detach())


def _backward(
    inputs: Sequence[Any],
    wanted: torch.Tensor,
    found: torch.Tensor,
    framework_model: Any,
    compiled_model: CompiledModel,
    config: VerifyConfig,
) -> None:
    """Compare the gradients of parameters."""
    parameters = _parameters(framework_model)
    gradient = torch.rand_like(wanted)
    _clear(parameters)
    found.grad = gradient.clone()
    compiled_model.backward()
    ours = {name: one.grad.clone() for name, one in parameters.items() if one.grad is not None}
    _clear(parameters)
    torch.autograd.backward([wanted], [gradient])
    theirs = {name: one.grad for name, one in parameters.items() if one.grad is not None}
    if set(ours) != set(theirs):
        raise ValueError(f"Gradients: framework model has {sorted(theirs)}, compiled model has {sorted(ours)}")
    for name, one in theirs.items():
        _compare(one, ours[name], config)
    del inputs


def _parameters(model: Any) -> dict[str, torch.Tensor]:
    model = getattr(model, "module", model) if not isinstance(model, torch.nn.Module) else model
    if isinstance(model, ForgeModule):
        return {name: one.value() for name, one in model.named()}
    if isinstance(model, torch.nn.Module):
        return dict(model.named_parameters())
    raise TypeError(f"verify: gradients are those of modules of PyTorch and forge, got {type(model).__name__}.")


def _clear(parameters: dict[str, torch.Tensor]) -> None:
    for one in parameters.values():
        one.grad = None


def _dump(folder: str, wanted: Sequence[torch.Tensor], found: Sequence[torch.Tensor]) -> None:
    """Write outputs of both models as arrays."""
    import io

    import numpy as np

    from ttnn.base.files import make_folder, write_atomically

    place = make_folder(folder or ".", where="forge.verify")
    for word, tensors in (("framework", wanted), ("compiled", found)):
        for i, one in enumerate(tensors):
            buffer = io.BytesIO()
            plain = one.detach()
            np.lib.format.write_array(buffer, (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy())
            write_atomically(Path(place) / f"{word}_output_{i}.npy", buffer.getvalue(), where="forge.verify")
