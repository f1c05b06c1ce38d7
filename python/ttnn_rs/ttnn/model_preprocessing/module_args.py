"""Layer arguments with input shapes, from one run of a model.

Of convolutions, poolings and group norms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

from ttnn.base.dot_access import DotAccessDict
from ttnn.base.enums import DataType, MathFidelity
from ttnn.base.exceptions import ParameterError
from ttnn.model_preprocessing.parameters import (
    Conv2dArgs,
    ConvTranspose2dArgs,
    GroupNormArgs,
    MaxPool2dArgs,
    ModuleArgs,
    ParameterDict,
)

_CONVOLUTION: Final = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups")
_WINDOW: Final = ("kernel_size", "stride", "padding", "dilation")
_KINDS: Final[tuple[tuple[type, type[ModuleArgs], tuple[str, ...]], ...]] = (
    (torch.nn.ConvTranspose2d, ConvTranspose2dArgs, (*_CONVOLUTION, "output_padding", "padding_mode")),
    (torch.nn.Conv2d, Conv2dArgs, (*_CONVOLUTION, "padding_mode")),
    (torch.nn.MaxPool2d, MaxPool2dArgs, _WINDOW),
    (torch.nn.GroupNorm, GroupNormArgs, ("num_groups", "num_channels", "eps", "affine")),
)


def _arguments(module: Any, shape: Any, device: Any) -> ModuleArgs | None:
    """Return a module's arguments, given its input shape."""
    for kind, made, fields in _KINDS:
        if not isinstance(module, kind):
            continue
        found = made({field: getattr(module, field) for field in fields})
        found["batch_size"] = shape[0]
        if made is MaxPool2dArgs:
            found["input_channels"] = shape[1]
        found["input_height"], found["input_width"] = shape[-2], shape[-1]
        found["dtype"] = DataType.BFLOAT16
        if made in (Conv2dArgs, ConvTranspose2dArgs):
            found["math_fidelity"] = MathFidelity.HiFi4
            found["weights_dtype"] = DataType.BFLOAT16
            found["use_1d_systolic_array"] = True
            found["enable_auto_formatting"] = False
            found["conv_blocking_and_parallelization_config_override"] = {}
            found["device"] = device
        return found
    return None


def infer_ttnn_module_args(*, model: Any, run_model: Callable[[Any], Any] | None, device: Any) -> Any:
    """Return arguments of the modules that one model run calls.

    None if there is nothing to run.

    A convolution, transposed convolution, max pooling or group norm has its arguments with the shape of its input.
    Any other module has a dictionary with attribute access of the modules that it called, by the last part of their
    names; numbers are there as integers too. No picture of the model's graph is written.

    Args:
        model: The torch module.
        run_model: Called with the model; runs it on an example.
        device: Device in the arguments of convolutions.
    """
    if run_model is None:
        return None
    names = {module: name.rpartition(".")[2] for name, module in model.named_modules()}
    # What the running modules have called so far; the outermost entry is the caller's.
    running: list[dict[Any, Any]] = [{}]

    def enter(module: Any, _inputs: Any) -> None:
        running.append(DotAccessDict())

    def leave(module: Any, inputs: Any, _output: Any) -> None:
        called = running.pop()
        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        found = _arguments(module, tuple(tensors[0].shape), device) if tensors else None
        label = names[module]
        running[-1][label] = called if found is None else found
        if label.isdigit():
            running[-1][int(label)] = running[-1][label]

    hooks = []
    try:
        for module in names:
            hooks += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
        run_model(model)
    finally:
        for hook in hooks:
            hook.remove()
    if "" not in running[0]:
        raise ParameterError("infer_ttnn_module_args: run_model did not call the model that it was given.")
    return running[0][""]


def merge_ttnn_module_args_into_parameters(parameters: Any, ttnn_module_args: Any, path: tuple[str, ...] = ()) -> Any:
    """Return parameters with module arguments as `ttnn_module_args`.

    The tree is changed.

    Raises:
        ParameterError: a name has a parameter here and something else there.
    """
    if isinstance(ttnn_module_args, ModuleArgs):
        ttnn_module_args.pop("device", None)
        parameters["ttnn_module_args"] = ttnn_module_args
        return parameters
    for key in parameters if isinstance(parameters, ParameterDict) else ():
        if key not in ttnn_module_args:
            continue
        left, right = parameters[key], ttnn_module_args[key]
        if isinstance(left, dict) and isinstance(right, dict):
            merge_ttnn_module_args_into_parameters(left, right, (*path, str(key)))
        elif left is not right:
            raise ParameterError(f"merge_ttnn_module_args_into_parameters: conflict at {'.'.join((*path, str(key)))}.")
    return parameters
