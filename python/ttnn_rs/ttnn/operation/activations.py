"""The official module `ttnn.operations.activations`: golden functions of fused activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn.base.activation import UnaryWithParam
from ttnn.base.enums import UnaryOpType
from ttnn.base.exceptions import ArgumentError
from ttnn.operation.hooks import get_golden_function
from ttnn.operation.registry import exports


def get_golden_function_for_activation(
    activation: str | UnaryOpType | UnaryWithParam | None,
) -> Callable[..., Any] | None:
    """Return an activation's golden function.

    A name, a UnaryOpType, a UnaryWithParam, or None for none.

    Parameters of a UnaryWithParam are left out, and so is the ending "_approx" of a name.

    Raises:
        ArgumentError: no activation, or one without an operator of its name.
        ComparisonError: the operator has no golden function.
    """
    if activation is None:
        return None
    kind = activation.op_type if isinstance(activation, UnaryWithParam) else activation
    if not isinstance(kind, str | UnaryOpType):
        raise ArgumentError(f"get_golden_function_for_activation: {activation!r} is not an activation")
    name = kind.removesuffix("_approx") if isinstance(kind, str) else kind.name.lower()
    operation = exports().get(name)
    if operation is None:
        raise ArgumentError(f"get_golden_function_for_activation: no operator is called {name}")
    return get_golden_function(operation)
