"""Gated linear units: two slices, a function and a product.

The function is applied to the second; each step is a program of its own.

Source: tt-metal `unary_composite_op.cpp`; TT-NN docs of the operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.base.enums import TILE_SIZE, DataType, GeluVariant, Layout
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.result_shards import without_shards
from ttnn.operation.signature import INTEGER, Param, Signature, instance_kind
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, no_such_dimension, on_device
from ttnn.ops.data_movement.slice import slice as slice_
from ttnn.ops.eltwise.binary import multiply
from ttnn.ops.eltwise.unary.activations import OPERATORS as _ACTIVATIONS
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS
from ttnn.ops.eltwise.unary.variants import gelu, sigmoid
from ttnn.tensor.tensor import Tensor

_RANK: Final = 4
_INTEGERS: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16)


def _halves(operator: str, tensor: Tensor, dim: int, memory_config: MemoryConfig | None) -> tuple[Tensor, Tensor]:
    """Return the halves of the padded last dimension."""
    on_device(operator, tensor)
    spec = tensor.spec
    rank = len(spec.shape._dims)
    if rank < _RANK:
        raise ShapeError(
            f"{operator}: input_tensor has rank {rank}, the operator takes rank {_RANK}.",
            vendor=no_such_dimension(_RANK - 1, rank),
        )
    if dim not in (-1, _RANK - 1):
        raise ShapeError(f"{operator}: dim is {dim}; only the last dimension, -1 or {_RANK - 1}, is split.")
    padded = tuple(spec.padded_shape)
    half = padded[_RANK - 1] // 2
    if half % TILE_SIZE:
        raise ShapeError(
            f"{operator}: half of the padded width {padded[-1]} of {tensor.shape} is not a multiple of {TILE_SIZE}.",
            vendor="Split tensor dimension should be in full tile",
        )
    if rank != _RANK:
        raise ShapeError(
            f"{operator}: input_tensor has rank {rank}, the operator takes rank {_RANK}.",
            vendor=f"Input rank {rank} and begins {_RANK} must have the same size",
        )
    # As on the chip the padding belongs to the halves.
    whole = tensor._view(TensorSpec.of(padded, spec.dtype, spec.layout, spec.memory_config, spec.tile))
    ends = [*padded[:-1], half]
    first: Tensor = slice_(whole, [0] * _RANK, ends, [1] * _RANK, memory_config=memory_config)
    second: Tensor = slice_(whole, [0] * (_RANK - 1) + [half], list(padded), [1] * _RANK, memory_config=memory_config)
    return first, second


def _gated(name: str, gate: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return the operator function that applies `gate` to its second half."""

    def run(input_tensor: Tensor, dim: int, memory_config: MemoryConfig | None, *more: Any) -> Tensor:
        if memory_config is not None and not without_shards(memory_config):
            TensorSpec.of(input_tensor.spec.shape, input_tensor.spec.dtype, input_tensor.spec.layout, memory_config)
        first, second = _halves(f"ttnn.{name}", input_tensor, dim, memory_config)
        options = dict(zip(("variant",), more, strict=False))
        result: Tensor = multiply(
            first, gate(second, memory_config=memory_config, **options), memory_config=memory_config
        )
        return result

    return run


_DIM: Final = Param("dim", INTEGER, -1, doc="Dimension that is split. Only the last one is supported.")
_VARIANT: Final = Param(
    "variant",
    instance_kind("ttnn.GeluVariant", GeluVariant),
    GeluVariant.Accurate,
    doc="Form of GELU: accurate or with tanh.",
)


def _examples(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((), (3,)) if len(shape) == _RANK and 0 not in shape and shape[-1] % (2 * TILE_SIZE) == 0 else ()


def _register(name: str, gate: Callable[..., Tensor], what: str, *, more: tuple[Param, ...] = ()) -> FastOperation:
    integers = _INTEGERS if name == "reglu" else ()
    return register(
        Op(
            name=name,
            signatures=(Signature((INPUT_TENSOR, _DIM), (MEMORY_CONFIG_OPTION, *more)),),
            run=_gated(name, gate),
            doc=f"Return `a * {what}(b)` of the halves `a`, `b` of the padded last dimension.\n"
            "Shape: [N, C, H, 2 * W] -> [N, C, H, W], with H rounded up to full tiles.",
            source="tt-metal `ttnn/cpp/ttnn/operations/eltwise/unary/device/unary_composite_op.cpp`",
            dtypes=(*FLOAT_INPUTS, *integers),
            reference=integers,
            layouts=(Layout.TILE, Layout.ROW_MAJOR),
            golden=getattr(golden, name),
            # A rounded gate, then a rounded product. The tail of gelu in float32 is its own.
            accuracy=max_ulp((DataType.BFLOAT16, 3), (DataType.FLOAT32, 23872500 if name == "geglu" else 8)),
            composition=True,
            raises=(
                (
                    "ShapeError",
                    "the rank is not 4, `dim` is not the last dimension, or half of the width is not a multiple of 32.",
                ),
                ("DTypeError", "the integer data type is not supported by the activation or the product."),
                ("StorageError", "the input is on the host."),
            ),
            examples=_examples,
        )
    )


glu = _register("glu", sigmoid, "sigmoid")
reglu = _register("reglu", _ACTIVATIONS["relu"], "relu")
geglu = _register("geglu", gelu, "gelu", more=(_VARIANT,))
swiglu = _register("swiglu", _ACTIVATIONS["silu"], "silu")
