"""Requirements on matmul operands, bias and activation, for every program."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.base.enums import DataType, Layout, UnaryOpType
from ttnn.base.exceptions import DTypeError, LayoutError, ProgramConfigError, ShapeError

from .configs import ProgramConfig
from .problem import Problem

FLOATS = frozenset({DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B})

FUSABLE = frozenset(
    {
        UnaryOpType.RELU,
        UnaryOpType.GELU,
        UnaryOpType.SILU,
        UnaryOpType.TANH,
        UnaryOpType.SIGMOID,
        UnaryOpType.RELU6,
        UnaryOpType.HARDTANH,
        UnaryOpType.HARDSIGMOID,
        UnaryOpType.SELU,
        UnaryOpType.SOFTPLUS,
    }
)
"""Activations that the compute kernel applies before packing a subblock."""


def check_operands(problem: Problem) -> None:
    """Check layouts, data types and the inner dimension.

    Raises:
        LayoutError: an operand is not tilized.
        DTypeError: an operand is not of a floating point type.
        ShapeError: the inner dimensions differ.
    """
    a, b = problem.a, problem.b
    if a.layout is not Layout.TILE or b.layout is not Layout.TILE:
        raise LayoutError(
            f"ttnn.matmul: both operands have to be in TILE_LAYOUT, got {a.layout.name} and {b.layout.name}. Convert "
            "with "
            "ttnn.to_layout(tensor, ttnn.TILE_LAYOUT).",
            vendor="Inputs to matmul must be tilized",
        )
    for label, operand in (("A", a), ("B", b)):
        if operand.dtype not in FLOATS:
            raise DTypeError(
                f"ttnn.matmul: operand {label} is {operand.dtype.name}; the matmul program accepts bfloat16, float32, "
                "bfloat8_b and bfloat4_b.",
                vendor=f"Unsupported data format for input {label}: {operand.dtype.cpp_name}",
            )
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"ttnn.matmul: inner dimensions differ: input_tensor_a is {a.shape} (K={a.shape[-1]}), input_tensor_b is "
            f"{b.shape} (K={b.shape[-2]}), after the requested transposes. Pass transpose_b=True if b is stored as "
            "[N, K].",
            vendor="The width of the first tensor must be equal to the height of the second tensor. Mismatch: "
            f"width={a.shape[-1]} height={b.shape[-2]}",
        )


def check_fused_activation(config: ProgramConfig) -> None:
    """Raise for an activation that the compute kernel does not have.

    Raises:
        ProgramConfigError: the activation cannot be fused.
    """
    activation = config.fused_activation
    if activation is not None and activation.op not in FUSABLE:
        names = ", ".join(sorted(op.name.lower() for op in FUSABLE))
        raise ProgramConfigError(
            f"ttnn.matmul: {activation.op.name} cannot be fused into a matmul; {names} can. Without core_grid the "
            "activation runs as a separate operator.",
            vendor=f"Unsupported UnaryOpType for fused activation: {activation.op.cpp_name}",
        )


def check_bias_broadcast(bias: Sequence[int], product: Sequence[int]) -> None:
    """Check that a fused bias broadcasts over the product's rows and batches.

    Raises:
        ShapeError: a dimension is neither 1 nor that of the product.
    """
    for ours, given in zip(product[-2::-1], bias[-2::-1], strict=False):
        if ours != given and 1 not in (ours, given):
            raise ShapeError(
                f"ttnn.linear: the bias {tuple(bias)} does not broadcast over the matmul {tuple(product)}.",
                vendor="Broadcast error: Invalid dimension",
            )
