"""`ttnn.moe`: the first expert's share among a token's chosen experts.

Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/moe`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.golden import moe as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, same_device, take_output
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.eltwise.binary import add, multiply
from ttnn.ops.eltwise.unary.predicates import OPERATORS as _TESTS
from ttnn.ops.normalization.softmax import softmax
from ttnn.ops.reduction.generic import sum as row_sum
from ttnn.ops.reduction.sort import topk
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.moe"
_K: Final = 32
_LEAST: Final = 64


def _check_mask(label: str, tensor: Tensor, width: int, word: str) -> None:
    shape = tuple(tensor.spec.shape)
    if shape != (1, 1, 1, width):
        raise ShapeError(
            f"{_NAME}: {label} has shape {list(shape)}; it must be [1, 1, 1, {width}].",
            vendor=f"{word} mask must be row-broadcastable with last dim == "
            f"{'k' if word == 'Topk' else 'input'}. Got rank={len(shape)} and shape={tensor.spec.shape} for k={width}",
        )


def _check(tensors: tuple[tuple[str, Tensor], ...], k: int) -> None:
    (_, source), (_, experts), (_, chosen) = tensors
    shape = tuple(source.spec.shape)
    if len(shape) != 4:
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {list(shape)}; it must be of rank 4.",
            vendor=f"Input shape must be 4D, got {len(shape)}",
        )
    if k != _K:
        raise ParameterError(f"{_NAME}: k is {k}; it must be {_K}.", vendor="K must be equal to 32")
    _check_mask("topk_mask_tensor", chosen, k, "Topk")
    width = shape[3]
    if width < _LEAST or width & (width - 1):
        raise ShapeError(
            f"{_NAME}: input_tensor has {width} experts; they must be a power of two from {_LEAST} on. Pad with -inf.",
            vendor=f"Input shape inner dim {width} must be a power of 2, pad with -infinity if necessary",
        )
    if shape[0] * shape[1] * shape[2] % TILE_SIZE or not shape[2]:
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {list(shape)}; its rows must be a multiple of {TILE_SIZE}.",
            vendor="Input height (combined input_shape[0-2]) must be a multiple of 32",
        )
    _check_mask("expert_mask_tensor", experts, width, "Expert")
    for label, tensor in tensors:
        if tensor.spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{_NAME}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor="The input must be in tiled format",
            )
        if tensor.spec.dtype is not DataType.BFLOAT16:
            raise DTypeError(f"{_NAME}: {label} is {tensor.spec.dtype.name}; typecast it to bfloat16 first.")


def _moe(
    input_tensor: Tensor,
    expert_mask_tensor: Tensor,
    topk_mask_tensor: Tensor,
    k: int,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    for label, tensor in (("expert_mask_tensor", expert_mask_tensor), ("topk_mask_tensor", topk_mask_tensor)):
        same_device(_NAME, device, tensor, label)
    _check(
        (
            ("input_tensor", input_tensor),
            ("expert_mask_tensor", expert_mask_tensor),
            ("topk_mask_tensor", topk_mask_tensor),
        ),
        k,
    )
    place = memory_config or input_tensor.spec.memory_config
    if place.is_sharded() or input_tensor.spec.memory_config.is_sharded():
        raise MemoryConfigError(
            f"{_NAME}: input or output is sharded; use ttnn.DRAM_MEMORY_CONFIG.",
            vendor="Sharded implementation not supported yet",
        )
    shape = (*tuple(input_tensor.spec.shape)[:3], 1)
    if output_tensor is not None:
        output_tensor = take_output(_NAME, output_tensor, shape, Layout.TILE, device)
        if output_tensor.spec.dtype is not DataType.BFLOAT16:
            raise DTypeError(f"{_NAME}: output_tensor is {output_tensor.spec.dtype.name}; the result is BFLOAT16.")
    dram = {"memory_config": DRAM_MEMORY_CONFIG}
    values, indices = topk(add(input_tensor, expert_mask_tensor, **dram), k, -1, True, True, **dram)
    weights = softmax(add(values, topk_mask_tensor, **dram), -1, numeric_stable=True, **dram)
    is_first = _TESTS["eqz"](cast("ttnn.typecast", indices, DataType.BFLOAT16), **dram)
    result: Tensor = row_sum(multiply(weights, is_first, **dram), -1, True, **dram)
    if output_tensor is not None:
        copy_into(result, output_tensor)
        return output_tensor
    return result if result.spec.memory_config == place else moved_to(result, place)


def _examples(shape: tuple[int, ...], layout: Layout) -> Iterator[tuple[Any, ...]]:
    width = shape[3] if len(shape) == 4 else 0
    if width >= _LEAST and not width & (width - 1) and shape[2] % TILE_SIZE == 0 and layout is Layout.TILE:
        yield Operand((1, 1, 1, width)), Operand((1, 1, 1, _K), 2)


moe = register(
    Op(
        name="moe",
        signatures=(
            Signature(
                (
                    Param("input_tensor", TENSOR, doc="[N, C, H, W] in bfloat16 on a device: scores of W experts."),
                    Param(
                        "expert_mask_tensor",
                        TENSOR,
                        doc="[1, 1, 1, W]: added to the scores.",
                        example=Operand((1, 1, 1, 128)),
                    ),
                    Param(
                        "topk_mask_tensor",
                        TENSOR,
                        doc="[1, 1, 1, 32]: added to the largest scores.",
                        example=Operand((1, 1, 1, _K), 2),
                    ),
                    Param("k", INTEGER, _K, doc="How many of the largest scores count: 32."),
                ),
                (MEMORY_CONFIG_OPTION, Param("output_tensor", TENSOR, None, doc="Preallocated output.")),
            ),
        ),
        run=_moe,
        doc="Return expert 0's softmax weight among the 32 largest scores, else 0.\n"
        "Shape: [N, C, H, W], [1, 1, 1, W], [1, 1, 1, 32] -> [N, C, H, 1].\n"
        "Every step is that of the operator of its name in bfloat16; recorded vectors do not cover the operator.",
        source="tt-metal `ttnn/cpp/ttnn/operations/reduction/moe`",
        dtypes=(DataType.BFLOAT16,),
        layouts=(Layout.TILE,),
        golden=golden.moe,
        accuracy=no_bound("for scores that are nearly equal"),
        composition=True,
        reference=(DataType.BFLOAT16,),
        raises=(
            ("ShapeError", "shapes do not fit."),
            ("ParameterError", "`k` is not 32."),
            ("LayoutError", "a tensor is row-major."),
            ("DTypeError", "a tensor is not bfloat16."),
            ("MemoryConfigError", "a tensor is sharded."),
        ),
        examples=_examples,
    )
)
