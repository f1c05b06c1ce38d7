"""Tensors and parameters of modules that are written with `forge.op`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ttnn.base.exceptions import ParameterError
from ttnn.compiler.frontends.forge.formats import DataFormat, dtype_of, format_of

__all__ = ["Parameter", "Tensor", "to_forge_tensors", "to_pt_tensor", "to_pt_tensors"]


class Tensor:
    """A tensor of PyTorch under the names of tt-forge."""

    def __init__(self, value: torch.Tensor, dev_data_format: DataFormat | None = None, constant: bool = False) -> None:
        """Wrap a tensor.

        Args:
            value: The tensor.
            dev_data_format: Its format on the device; default: that of its dtype.
            constant: Whether it is a constant.
        """
        self._value, self._constant = value, constant
        self._format = format_of(value.dtype) if dev_data_format is None else dev_data_format

    @classmethod
    def create_from_torch(
        cls, torch_tensor: torch.Tensor, dev_data_format: DataFormat | None = None, constant: bool = False
    ) -> Tensor:
        """Return a tensor of PyTorch, wrapped."""
        return Tensor(torch_tensor, dev_data_format, constant)

    @classmethod
    def create_from_shape(
        cls, tensor_shape: Sequence[int], data_format: DataFormat = DataFormat.Float32, constant: bool = False
    ) -> Tensor:
        """Return a random tensor of a shape."""
        return Tensor(torch.rand(tuple(tensor_shape)).to(dtype_of(data_format)), data_format, constant)

    def value(self) -> torch.Tensor:
        """Return the tensor of PyTorch."""
        return self._value

    def to_pytorch(self) -> torch.Tensor:
        """Return the tensor of PyTorch."""
        return self._value

    def has_value(self) -> bool:
        """Return whether there are elements; there always are."""
        return True

    def is_constant(self) -> bool:
        """Return whether it is a constant."""
        return self._constant

    @property
    def shape(self) -> torch.Size:
        """Its shape."""
        return self._value.shape

    @property
    def ndim(self) -> int:
        """Its rank."""
        return self._value.ndim

    @property
    def data_format(self) -> DataFormat:
        """Its format on the device."""
        return self._format

    @property
    def pt_data_format(self) -> torch.dtype:
        """Its dtype in PyTorch."""
        return self._value.dtype

    @property
    def requires_grad(self) -> bool:
        """True if it has a gradient."""
        return self._value.requires_grad

    @property
    def grad(self) -> torch.Tensor | None:
        """Its gradient."""
        return self._value.grad

    def set_requires_grad(self, requires_grad: bool) -> None:
        """Set whether it has a gradient."""
        self._value.requires_grad_(requires_grad)

    def to_format(self, data_format: DataFormat) -> Tensor:
        """Return the tensor in another format."""
        return Tensor(self._value.to(dtype_of(data_format)), data_format, self._constant)

    def clone(self) -> Tensor:
        """Return a copy."""
        return Tensor(self._value.clone(), self._format, self._constant)

    def detach(self) -> Tensor:
        """Return the tensor without its history."""
        return Tensor(self._value.detach(), self._format, self._constant)

    def __add__(self, other: Any) -> Tensor:
        return Tensor(self._value + _plain(other))

    def __radd__(self, other: Any) -> Tensor:
        return Tensor(_plain(other) + self._value)

    def __sub__(self, other: Any) -> Tensor:
        return Tensor(self._value - _plain(other))

    def __rsub__(self, other: Any) -> Tensor:
        return Tensor(_plain(other) - self._value)

    def __mul__(self, other: Any) -> Tensor:
        return Tensor(self._value * _plain(other))

    def __rmul__(self, other: Any) -> Tensor:
        return Tensor(_plain(other) * self._value)

    def __repr__(self) -> str:
        return f"Forge Tensor: {self._value!r}, {self._format.name}"


def _plain(value: Any) -> Any:
    return value.value() if isinstance(value, Tensor) else value


class Parameter(Tensor):
    """A parameter of a module."""

    def __init__(
        self,
        *args: Any,
        requires_grad: bool = True,
        name: str | None = None,
        dev_data_format: DataFormat = DataFormat.Float32,
    ) -> None:
        """Make a parameter of zeros of a shape, or of a tensor.

        Args:
            args: The shape, or one tensor.
            requires_grad: Whether it has a gradient.
            name: Its name.
            dev_data_format: Its format, for one that is made of a shape.
        """
        if len(args) == 1 and isinstance(args[0], torch.Tensor):
            value = args[0]
        else:
            value = torch.zeros(*args, dtype=dtype_of(dev_data_format))
        super().__init__(torch.nn.Parameter(value.detach(), requires_grad=requires_grad and value.is_floating_point()))
        self.name = name

    def get_name(self) -> str | None:
        """Return its name."""
        return self.name

    def set_value(self, value: torch.Tensor) -> None:
        """Set its elements.

        Raises:
            ParameterError: They have another shape.
        """
        if value.shape != self._value.shape:
            raise ParameterError(f"parameter {self.name!r} has the shape {list(self.shape)}, got {list(value.shape)}.")
        with torch.no_grad():
            self._value.copy_(value)


def to_forge_tensors(tensors: Iterable[Any]) -> tuple[Tensor, ...]:
    """Return tensors of PyTorch, wrapped."""
    return tuple(one if isinstance(one, Tensor) else Tensor(one) for one in tensors)


def to_pt_tensors(tensors: Any) -> tuple[torch.Tensor, ...]:
    """Return tensors of any framework as tensors of PyTorch."""
    several = tensors if isinstance(tensors, (list, tuple)) else (tensors,)
    return tuple(to_pt_tensor(one) for one in several)


def to_pt_tensor(value: Any) -> torch.Tensor:
    """Return a tensor of any framework as one of PyTorch."""
    if isinstance(value, Tensor):
        return value.value()
    if isinstance(value, torch.Tensor):
        return value
    import numpy as np

    array = np.array(value)
    if str(array.dtype) == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(array)
