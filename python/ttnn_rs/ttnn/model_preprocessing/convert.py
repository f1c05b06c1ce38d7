"""The walk over a torch model with one of three preprocessors.

That of the caller, the default one, or parameter by parameter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from ttnn.base.exceptions import ArgumentError, DTypeError, ParameterError
from ttnn.model_preprocessing.parameters import ParameterList, make_parameter_dict
from ttnn.model_preprocessing.weights import as_tensor, default_preprocessor, torch_dtype_to_ttnn_dtype

Preprocessor: TypeAlias = Callable[..., Mapping[Any, Any] | None]
Choice: TypeAlias = Callable[[Any, str], bool]


def convert_torch_model_to_ttnn_model(
    model: Any,
    *,
    convert_to_ttnn: Choice,
    custom_preprocessor: Preprocessor | None,
    name: str,
    ttnn_module_args: Any,
) -> Any:
    """Return parameters of a module and its submodules.

    A ParameterDict, a ParameterList for a list.

    Args:
        model: The torch module.
        convert_to_ttnn: Function of a module and its full name; True if its own parameters become ttnn tensors. Those
            of the others stay torch tensors; the weight of a linear layer is transposed in either case.
        custom_preprocessor: Called with module and name, and with `ttnn_module_args` and `convert_to_ttnn` if it has
            parameters of these names. What it returns replaces the whole subtree, unless it is empty.
        name: Full name of the module.
        ttnn_module_args: Arguments of the modules below, as `infer_ttnn_module_args` returns them, or None.

    Raises:
        ArgumentError: `custom_preprocessor` has other parameters.
        ParameterError: the default preprocessor left out children or parameters of a module.
        DTypeError: a parameter has a type without a corresponding data type.
    """
    if isinstance(model, torch.nn.ModuleList):
        return ParameterList(
            [
                convert_torch_model_to_ttnn_model(
                    child,
                    convert_to_ttnn=convert_to_ttnn,
                    custom_preprocessor=custom_preprocessor,
                    name=_below(name, index),
                    ttnn_module_args=None if ttnn_module_args is None else ttnn_module_args[index],
                )
                for index, child in enumerate(model)
            ]
        )
    if custom_preprocessor is not None:
        own = _preprocess(custom_preprocessor, model, name, convert_to_ttnn, ttnn_module_args)
        if own:
            return make_parameter_dict(own)

    children = dict(model.named_children())
    plain: dict[Any, Any] = dict(model.named_parameters(recurse=False))
    parameters: dict[Any, Any]
    if convert_to_ttnn(model, name):
        known = default_preprocessor(model, name, ttnn_module_args)
        if known:
            if len(known) != len(children) + len(plain):
                raise ParameterError(
                    f"convert_torch_model_to_ttnn_model: {name!r} has {[*children, *plain]}, and the default "
                    f"preprocessor knows {list(known)}; give a custom_preprocessor.",
                    vendor="Not all children or parameters were converted using default_preprocessor_parameters!",
                )
            return known
        parameters = {label: _converted(value, _below(name, label)) for label, value in plain.items()}
    elif isinstance(model, torch.nn.Linear):
        parameters = {"weight": model.weight.T.contiguous()}
        if model.bias is not None:
            parameters["bias"] = model.bias
    else:
        parameters = plain

    for label, child in children.items():
        key = int(label) if label.isdigit() else label
        below = convert_torch_model_to_ttnn_model(
            child,
            convert_to_ttnn=convert_to_ttnn,
            custom_preprocessor=custom_preprocessor,
            name=_below(name, label),
            ttnn_module_args=None if ttnn_module_args is None else ttnn_module_args.get(key),
        )
        if below:
            parameters[key] = below
    return make_parameter_dict(parameters)


def _below(name: str, label: object) -> str:
    return f"{name}.{label}" if name else f"{label}"


def _converted(parameter: Any, name: str) -> Any:
    dtype = torch_dtype_to_ttnn_dtype.get(parameter.dtype)
    if dtype is None:
        raise DTypeError(f"convert_torch_model_to_ttnn_model: no data type stands for {parameter.dtype} of {name!r}.")
    return as_tensor(parameter, dtype)


def _preprocess(
    preprocessor: Preprocessor, model: Any, name: str, convert_to_ttnn: Choice, ttnn_module_args: Any
) -> Mapping[Any, Any] | None:
    """Return the caller's preprocessor result for a module.

    It receives the parameters that it names.
    """
    named = list(inspect.signature(preprocessor).parameters)
    if len(named) < 2:
        raise ArgumentError(
            f"custom_preprocessor: expected parameters for model and name, got {named}.",
            vendor="Custom preprocessor must have at least two parameters: model and name",
        )
    offered = {"ttnn_module_args": ttnn_module_args, "convert_to_ttnn": convert_to_ttnn}
    unknown = [label for label in named[2:] if label not in offered]
    if unknown:
        raise ArgumentError(
            f"custom_preprocessor: parameter {unknown[0]!r} is none of {', '.join(offered)}.",
            vendor=f"Unsupported parameter: {unknown[0]}",
        )
    return preprocessor(model, name, **{label: offered[label] for label in named[2:]})


def preprocess_remaining_children_and_parameters(
    model: Any,
    name: str,
    convert_to_ttnn: Choice,
    custom_preprocessor: Preprocessor | None,
    parameters: dict[Any, Any],
    ttnn_module_args: Any,
    *,
    already_preprocessed_children: Any,
) -> dict[Any, Any]:
    """Return parameters with those of children left by a preprocessor.

    Args:
        model: The torch module.
        name: Its full name.
        convert_to_ttnn: As in `convert_torch_model_to_ttnn_model`.
        custom_preprocessor: Likewise.
        parameters: What the preprocessor has made; it is changed.
        ttnn_module_args: Likewise.
        already_preprocessed_children: Names to leave out.
    """
    for label, child in model.named_children():
        if label not in already_preprocessed_children:
            parameters[label] = convert_torch_model_to_ttnn_model(
                child,
                name=name,
                convert_to_ttnn=convert_to_ttnn,
                custom_preprocessor=custom_preprocessor,
                ttnn_module_args=None if ttnn_module_args is None else ttnn_module_args.get(label),
            )
    for label, parameter in model.named_parameters(recurse=False):
        if label not in already_preprocessed_children:
            parameters[label] = (
                _converted(parameter, _below(name, label)) if convert_to_ttnn(model, name) else parameter
            )
    return parameters
