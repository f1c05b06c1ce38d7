"""`UnaryWithParam`: a unary operator with its parameters, as calls name fused activations.

Source: TT-NN docs, "UnaryWithParam".
"""

from __future__ import annotations

import numpy as np

from ttnn.base.enums import UnaryOpType
from ttnn.base.exceptions import ArgumentError


class UnaryWithParam:
    """A unary operator with up to two parameters, as a fused activation.

    Args:
        op_type: The operator, or a pair (operator, parameter).
        params: Its parameters.

    Raises:
        ArgumentError: `op_type` is no operator, a parameter is no number, or there are more than two.
    """

    __slots__ = ("op_type", "params")

    op_type: UnaryOpType
    params: list[float]

    def __init__(self, op_type: UnaryOpType | tuple[UnaryOpType, float], *params: float) -> None:
        if isinstance(op_type, tuple) and not params and len(op_type) == 2:
            op_type, *rest = op_type
            params = tuple(rest)
        if not isinstance(op_type, UnaryOpType):
            raise ArgumentError(f"UnaryWithParam: the operator is a UnaryOpType, got {type(op_type).__name__}.")
        if len(params) > 2 or not all(isinstance(value, int | float | np.integer | np.floating) for value in params):
            raise ArgumentError(f"UnaryWithParam: {op_type} accepts at most two values, got {params!r}.")
        try:
            numbers = [float(value) for value in params]
        except OverflowError:
            raise ArgumentError(f"UnaryWithParam: {op_type} accepts values in the range of a float.") from None
        object.__setattr__(self, "op_type", op_type)
        object.__setattr__(self, "params", numbers)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"UnaryWithParam.{name} is read-only")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnaryWithParam):
            return NotImplemented
        return self.op_type is other.op_type and self.params == other.params

    def __hash__(self) -> int:
        return hash((self.op_type, *self.params))

    def __repr__(self) -> str:
        parts = [str(self.op_type), *(f"{value:g}" for value in self.params)]
        return f"UnaryWithParam({', '.join(parts)})"


Activation = UnaryWithParam | UnaryOpType | tuple[UnaryOpType, float]
"""The accepted types of a fused activation."""


def as_unary(activation: Activation) -> UnaryWithParam:
    """Return an activation in its full form."""
    if isinstance(activation, UnaryWithParam):
        return activation
    return UnaryWithParam(activation)
