"""The nodes of a trace.

Source: tt-metal `ttnn/ttnn/tracer.py`, `ttnn/ttnn/torch_tracer.py` (names and fields).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Node:
    """A node, with five attributes in the graph.

    They are `operation`, `shapes`, `dtypes`, `layouts` and `memory_configs`.
    """

    name: str
    unique_id: int


@dataclass(frozen=True)
class PositionalArgumentName:
    """Name of a positional argument."""

    index: int

    def __str__(self) -> str:
        return f"arg_{self.index}"


@dataclass(frozen=True)
class InputTensorIndex:
    """Placeholder for a tensor argument, an edge with this `sink_input_index`.

    The edge leads into the node.
    """

    index: int


@dataclass(frozen=True, eq=False)
class TorchTensor:
    """A torch tensor that was there before."""

    tensor: Any

    def __str__(self) -> str:
        return "torch.Tensor"


@dataclass(frozen=True, eq=False)
class TorchParameter:
    """A parameter of a torch module."""

    parameter: Any

    def __str__(self) -> str:
        return f"parameter {name_of(self.parameter)}".rstrip()


@dataclass(frozen=True, eq=False)
class TorchFunction:
    """A call of a torch function."""

    function: Any
    arg_name_value_pairs: Sequence[tuple[Any, Any]]

    def __str__(self) -> str:
        module = str(getattr(self.function, "__module__", None) or "torch")
        prefix = module if module.startswith("torch.nn.functional") else "torch"
        return f"{prefix}.{self.function.__name__}"


@dataclass(frozen=True)
class TorchModuleInput:
    """A tensor that a torch module takes, inside of the module's graph."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class TorchModule:
    """A torch module call, with the graph of its inside."""

    module: Any
    graph: Any
    inputs: Sequence[Node]
    outputs: Sequence[tuple[Node, int]]
    arg_name_value_pairs: Sequence[tuple[Any, Any]]

    def __str__(self) -> str:
        return type(self.module).__name__


@dataclass(frozen=True)
class TTNNTensor:
    """A `ttnn.Tensor` that was there before."""

    def __str__(self) -> str:
        return "ttnn.Tensor"


@dataclass(frozen=True, eq=False)
class TTNNOperation:
    """A call of an operator."""

    pretty_name: str
    operation: Any
    arg_name_value_pairs: Sequence[tuple[Any, Any]]

    def __str__(self) -> str:
        return self.pretty_name


def name_of(parameter_or_module: Any) -> str:
    """Return a parameter's or module's name in the outermost traced module."""
    return str(getattr(parameter_or_module, "__ttnn_tracer_name__", ""))


def argument_pairs(args: Sequence[Any], kwargs: Mapping[str, Any], is_tensor: Any) -> list[tuple[Any, Any]]:
    """Return call arguments as (name, value).

    Tensors are counted in their order.

    Args:
        args: Positional arguments.
        kwargs: Arguments by name.
        is_tensor: Whether a value is a tensor.
    """
    count = 0

    def replaced(value: Any) -> Any:
        nonlocal count
        if is_tensor(value):
            count += 1
            return InputTensorIndex(count - 1)
        if isinstance(value, list | tuple):
            return [replaced(part) for part in value]
        if isinstance(value, dict):
            return {key: replaced(part) for key, part in value.items()}
        return value

    pairs: list[tuple[Any, Any]] = [(PositionalArgumentName(i), replaced(value)) for i, value in enumerate(args)]
    return pairs + [(name, replaced(value)) for name, value in kwargs.items()]
