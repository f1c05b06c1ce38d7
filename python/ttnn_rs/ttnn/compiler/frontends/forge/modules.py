"""Modules of frameworks under the names of tt-forge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.compiler.frontends.forge.tensor import Parameter, Tensor, to_pt_tensor

__all__ = ["ForgeModule", "JaxModule", "Module", "OnnxModule", "PyTorchModule"]


class Module:
    """A module with a name."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ParameterError(f"the name of a module: expected a text, got {type(name).__name__}.")
        self.name = name

    def get_name(self) -> str:
        """Return its name."""
        return self.name

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what its framework computes."""
        raise UnsupportedError(f"module {self.name!r} has no forward.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what its framework computes."""
        return self.forward(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name}"


class PyTorchModule(Module):
    """A module of PyTorch.

    Attributes:
        module: It.
    """

    def __init__(self, name: str, module: torch.nn.Module, redirect_forward: bool = True) -> None:
        """Name a module; `redirect_forward` has no effect: the module is not changed."""
        super().__init__(name)
        del redirect_forward
        if not isinstance(module, torch.nn.Module):
            raise ParameterError(f"PyTorchModule: expected a torch.nn.Module, got {type(module).__name__}.")
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what PyTorch computes."""
        return self.module(*args, **kwargs)


class OnnxModule(Module):
    """An ONNX model, which ONNX's reference computes.

    Attributes:
        module: The model, or the path of its file.
    """

    def __init__(self, name: str, module: Any, onnx_path: str | None = None) -> None:
        """Name a model.

        Args:
            name: The name.
            module: A ModelProto.
            onnx_path: Its file, for a model with tensors in files beside it.
        """
        super().__init__(name)
        self.module, self.onnx_path = module, onnx_path

    @property
    def source(self) -> Any:
        """File of the model if there is one, else the model."""
        return self.module if self.onnx_path is None else self.onnx_path

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what ONNX's reference computes, as a list of tensors of PyTorch."""
        from onnx.reference import ReferenceEvaluator

        run = ReferenceEvaluator(self.source)
        feeds = dict(zip(run.input_names, args, strict=False)) | kwargs
        arrays = {name: to_pt_tensor(one).detach().numpy() for name, one in feeds.items()}
        return [to_pt_tensor(one) for one in run.run(None, arrays)]


class JaxModule(Module):
    """A function of jax.

    Attributes:
        module: It.
    """

    def __init__(self, name: str, module: Callable[..., Any]) -> None:
        super().__init__(name)
        if not callable(module):
            raise ParameterError(f"JaxModule: expected a function, got {type(module).__name__}.")
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what jax computes on the CPU."""
        import jax

        with jax.default_device(jax.devices("cpu")[0]):
            return self.module(*(to_jax(one) for one in args), **kwargs)


def to_jax(value: Any) -> Any:
    """Return a tensor of PyTorch as an array for jax."""
    return to_pt_tensor(value).detach().numpy() if isinstance(value, (torch.Tensor, Tensor)) else value


class ForgeModule(Module):
    """A module that is written with `forge.op`.

    Subclasses write `forward` of tensors; parameters that are set as attributes are found by their names.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._parameters: dict[str, Parameter] = {}
        self._constants: dict[str, Tensor] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            value.name = value.name or name
            self._parameters[name] = value
        super().__setattr__(name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the module computes, of tensors of forge or PyTorch."""
        return self.forward(*(Tensor(one) if isinstance(one, torch.Tensor) else one for one in args), **kwargs)

    def add_parameter(self, name: str, parameter: Parameter, prepend_name: bool = False) -> None:
        """Add a parameter under a name.

        Raises:
            ParameterError: There is one already.
        """
        key = f"{self.name}.{name}" if prepend_name else name
        if key in self._parameters:
            raise ParameterError(f"module {self.name!r} has a parameter {key!r} already.")
        parameter.name = key
        self._parameters[key] = parameter

    def add_constant(self, name: str, value: Any = None, shape: Any = None) -> None:
        """Add a constant under a name; zeros without a value."""
        self._constants[name] = Tensor(torch.zeros(*shape) if value is None else to_pt_tensor(value), constant=True)

    def get_parameter(self, name: str) -> Parameter:
        """Return a parameter by name.

        Raises:
            ParameterError: There is none.
        """
        found = dict(self.named())
        if name not in found:
            raise ParameterError(f"module {self.name!r} has no parameter {name!r}; it has {', '.join(found)}.")
        return found[name]

    def get_constant(self, name: str) -> Tensor:
        """Return a constant by name."""
        return self._constants[name]

    def get_parameters(self) -> list[Parameter]:
        """Return all parameters, also those of modules inside."""
        return [one for _, one in self.named()]

    def named(self) -> list[tuple[str, Parameter]]:
        """Return names and parameters, also of modules inside, each once."""
        found = list(self._parameters.items())
        for name, one in vars(self).items():
            if isinstance(one, ForgeModule):
                found += [(f"{name}.{key}", value) for key, value in one.named()]
        return found

    def set_parameters(self, **values: torch.Tensor) -> None:
        """Set parameters by name."""
        for name, value in values.items():
            self.get_parameter(name).set_value(value)
