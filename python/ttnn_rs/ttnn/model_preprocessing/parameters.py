"""Trees of parameters: dictionaries with attribute access, lists, and module arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ttnn.base.dot_access import DotAccessDict
from ttnn.device.lifecycle import MeshDevice
from ttnn.tensor.conversion import to_device
from ttnn.tensor.tensor import Tensor


class ParameterDict(DotAccessDict):
    """Parameters of a module by name; `parameters.weight` is `parameters["weight"]`."""

    def __repr__(self) -> str:
        return _text(self, "")


class ParameterList(list[Any]):
    """Parameters of the modules of a list."""

    def __repr__(self) -> str:
        return _text(self, "")

    def __contains__(self, index: object) -> bool:
        """Return whether an index is present.

        The official class asks for indices, not for elements.
        """
        return isinstance(index, int) and index < len(self)


class ModuleArgs(dict[Any, Any]):
    """Arguments of a module and the shape of its input."""


class Conv2dArgs(DotAccessDict, ModuleArgs):
    """`torch.nn.Conv2d` arguments with input batch size, height and width."""


class ConvTranspose2dArgs(DotAccessDict, ModuleArgs):
    """`torch.nn.ConvTranspose2d` arguments with input batch size, height and width."""


class MaxPool2dArgs(DotAccessDict, ModuleArgs):
    """Arguments of a `torch.nn.MaxPool2d` with the shape of its input."""


class GroupNormArgs(DotAccessDict, ModuleArgs):
    """`torch.nn.GroupNorm` arguments with input batch size, height and width."""


def make_parameter_dict(dictionary: Mapping[Any, Any]) -> ParameterDict:
    """Return nested dictionaries as `ParameterDict`.

    Arguments of modules stay what they are.
    """
    if isinstance(dictionary, ParameterDict):
        return dictionary
    return ParameterDict(
        {
            key: make_parameter_dict(value) if isinstance(value, dict) and not isinstance(value, ModuleArgs) else value
            for key, value in dictionary.items()
        }
    )


def _block(opening: str, lines: list[str], closing: str, indentation: str) -> str:
    if not lines:
        return opening + closing
    inner = ",\n".join(f"{indentation}  {line}" for line in lines)
    return f"{opening}\n{inner}\n{indentation}{closing}"


def _text(value: Any, indentation: str) -> str:
    """Return a tree as text, one parameter per line.

    Tensors by shape and type.
    """
    deeper = f"{indentation}  "
    if isinstance(value, ParameterDict):
        return _block("{", [f"{key}: {_text(item, deeper)}" for key, item in value.items()], "}", indentation)
    if isinstance(value, ParameterList):
        return _block("[", [_text(item, deeper) for item in value], "]", indentation)
    if isinstance(value, Tensor):
        return f"ttnn.Tensor(shape={value.shape}, layout={value.layout}, dtype={value.dtype})"
    if isinstance(value, torch.Tensor):
        return f"torch.Tensor(shape={value.shape}, dtype={value.dtype})"
    if isinstance(value, ModuleArgs):
        return _block("{", [f"{key}: {item}" for key, item in value.items()], "}", indentation)
    return repr(value)


def repr_parameters(file: Any, parameters: Any, indentation: str = "") -> None:
    """Write a tree into a file, as `repr` shows it."""
    file.write(_text(parameters, indentation))


def apply_to_tensors(tree: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Return the tree with a function applied to every tensor.

    The tree itself is changed.
    """
    if isinstance(tree, ParameterDict):
        for name, value in tree.items():
            tree[name] = apply_to_tensors(value, function)
        return tree
    if isinstance(tree, ParameterList):
        for index, value in enumerate(tree):
            tree[index] = apply_to_tensors(value, function)
        return tree
    return function(tree) if isinstance(tree, Tensor) else tree


def move_to_device(object: Any, device: MeshDevice) -> Any:
    """Return a tree with tensors on a device.

    Torch tensors and other values stay.
    """
    return apply_to_tensors(object, lambda tensor: to_device(tensor, device))
