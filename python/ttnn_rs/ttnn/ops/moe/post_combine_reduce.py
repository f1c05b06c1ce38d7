"""`ttnn.experimental.deepseek_prefill.post_combine_reduce`: weighted sums of experts' rows.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/deepseek_prefill/post_combine_reduce`.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import L1_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moe as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import INTEGER, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import allocate, on_device, same_device
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.deepseek_prefill.post_combine_reduce"
_BF16: Final = DataType.BFLOAT16
_TILE: Final = 32
_MOST: Final = 8
_DATUMS: Final = 1024


def _row_major(label: str, tensor: Tensor, dtype: DataType, sentence: str) -> None:
    spec = tensor.spec
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: {label} is tiled; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor=f"{label} must be ROW_MAJOR",
        )
    if spec.dtype is not dtype:
        raise DTypeError(f"{_NAME}: {label} is {spec.dtype.name}; it must be {dtype.name}.", vendor=sentence)
    if not spec.memory_config.interleaved:
        raise MemoryConfigError(f"{_NAME}: {label} is sharded; it must be interleaved.")


def _check_shapes(rows: Tensor, weights: Tensor, expert_dim: int) -> None:
    shape, factors = tuple(rows.spec.shape), tuple(weights.spec.shape)
    rank = len(shape)
    if rank < 2:
        raise ShapeError(
            f"{_NAME}: combine_output has shape {list(shape)}; it must be [..., experts, D].",
            vendor=f"combine_output rank must be at least 2 (expert + embedding dimensions), got {rank}",
        )
    if not 0 <= expert_dim < rank:
        raise ParameterError(
            f"{_NAME}: expert_dim is {expert_dim}; combine_output has rank {rank}.",
            vendor=f"expert_dim {expert_dim} must be less than combine_output rank {rank}",
        )
    if len(factors) != rank:
        raise ShapeError(
            f"{_NAME}: weights has shape {list(factors)} and combine_output {list(shape)}; their ranks must agree.",
            vendor="weights rank must match combine_output rank: got weights rank "
            f"{len(factors)} and combine_output rank {rank}",
        )
    for dim in range(rank - 1):
        if factors[dim] != shape[dim]:
            raise ShapeError(
                f"{_NAME}: weights has shape {list(factors)} and combine_output {list(shape)}; "
                "all dimensions but the last must agree.",
                vendor=f"weights padded_shape[{dim}] ({factors[dim]}) must match combine_output padded_shape[{dim}] "
                f"({shape[dim]})",
            )
    if expert_dim != rank - 2:
        raise ParameterError(
            f"{_NAME}: expert_dim is {expert_dim}; the program reads the rows of a token one after the other, so that "
            f"it must be {rank - 2}, the last but one."
        )
    width = shape[-1]
    if width % _TILE or not width:
        raise ShapeError(
            f"{_NAME}: rows of combine_output have {width} elements; they must be a multiple of {_TILE}.",
            vendor=f"Embedding dimension {width} must be divisible by tile width ({_TILE}); "
            f"remainder is {width % _TILE}",
        )
    if width > _MOST * _DATUMS:
        raise ShapeError(
            f"{_NAME}: rows of combine_output have {width} elements; the program has {_MOST * _DATUMS}.",
            vendor=f"Embedding dimension tiles {-(-width // _DATUMS)} must fit in 8 DST registers for batching",
        )
    tokens = math.prod(shape[:-2])
    if not tokens or tokens % _TILE or not shape[-2]:
        raise ShapeError(
            f"{_NAME}: combine_output has shape {list(shape)}, {tokens} tokens; they must be a multiple of {_TILE}.",
            vendor=f"Number of tokens {tokens} must be divisible by {_TILE} for hardware tilization"
            if tokens
            else f"post_combine_reduce: num_tokens must be > 0, got {tokens}",
        )


def _check_routes(indices: Tensor, table: Tensor, tokens: int, slots: int) -> None:
    _row_major(
        "indices",
        indices,
        DataType.UINT16,
        f"indices must be uint16 (matching moe_grouped_topk output), got {indices.spec.dtype.cpp_name}",
    )
    _row_major("expert_dispatch_table", table, DataType.INT32, "expert_dispatch_table must be int32")
    shape = tuple(indices.spec.shape)
    if shape[-1] != slots or math.prod(shape[:-1]) != tokens:
        raise ShapeError(
            f"{_NAME}: indices has shape {list(shape)}; it must have a row of {slots} experts for each of {tokens} "
            "tokens."
        )
    if math.prod(tuple(table.spec.shape)[:-1]) != 1:
        raise ShapeError(
            f"{_NAME}: expert_dispatch_table has shape {list(table.spec.shape)}; it must be one row of experts."
        )


def _post_combine_reduce(
    combine_output: Tensor,
    weights: Tensor,
    indices: Tensor | None,
    expert_dispatch_table: Tensor | None,
    expert_dim: int,
    output_memory_config: MemoryConfig | None,
) -> Tensor:
    device = on_device(_NAME, combine_output, "combine_output", "combine_output must be on device")
    same_device(_NAME, device, weights, "weights")
    if (indices is None) != (expert_dispatch_table is None):
        given = [str(tensor is not None).lower() for tensor in (indices, expert_dispatch_table)]
        raise ParameterError(
            f"{_NAME}: pass indices and expert_dispatch_table, or none of them.",
            vendor="indices and expert_dispatch_table must be provided together or omitted together; "
            f"got indices={given[0]}, expert_dispatch_table={given[1]}",
        )
    _check_shapes(combine_output, weights, expert_dim)
    _row_major("combine_output", combine_output, _BF16, "combine_output must be bfloat16")
    _row_major("weights", weights, _BF16, "weights must be bfloat16")
    *leading, slots, width = tuple(combine_output.spec.shape)
    routes = None
    if indices is not None and expert_dispatch_table is not None:
        for label, tensor in (("indices", indices), ("expert_dispatch_table", expert_dispatch_table)):
            same_device(_NAME, device, tensor, label)
        _check_routes(indices, expert_dispatch_table, math.prod(leading), slots)
        assert indices.buffer is not None
        assert expert_dispatch_table.buffer is not None
        routes = (indices.buffer, expert_dispatch_table.buffer)
    place = output_memory_config or L1_MEMORY_CONFIG
    output = allocate(TensorSpec.of((*leading, width), _BF16, Layout.TILE, place), device)
    assert combine_output.buffer is not None
    assert weights.buffer is not None
    assert output.buffer is not None
    engine_steps.sum_experts(combine_output.buffer, weights.buffer, routes, output.buffer, slots=slots, width=width)
    return output


def _example(shape: tuple[int, ...], seed: int) -> Operand:
    return Operand(shape, seed, layout=Layout.ROW_MAJOR)


post_combine_reduce = register(
    Op(
        name="experimental.deepseek_prefill.post_combine_reduce",
        signatures=(
            Signature(
                (
                    Param(
                        "combine_output",
                        TENSOR,
                        doc="[..., experts, D] in bfloat16, row-major: a row of every expert of a token.",
                        example=_example((1, 1, 32, 4, 64), 1),
                    ),
                    Param(
                        "weights",
                        TENSOR,
                        doc="[..., experts, 1] in bfloat16, row-major: the factor of each row.",
                        example=_example((1, 1, 32, 4, 1), 2),
                    ),
                    Param("indices", TENSOR, None, doc="[..., experts] in uint16, row-major: numbers of the experts."),
                    Param(
                        "expert_dispatch_table",
                        TENSOR,
                        None,
                        doc="[all experts] in int32, row-major: their chips. -1 means that an expert is not here.",
                    ),
                ),
                (
                    Param("expert_dim", INTEGER, 3, doc="The dimension of the experts, the last but one."),
                    Param("output_memory_config", MEMORY_CONFIG, None, doc="Memory config of the output. Default: L1."),
                ),
            ),
        ),
        run=_post_combine_reduce,
        doc="Return weighted sums of the rows of each token's experts, tiled.\n"
        "Shape: [..., experts, D], [..., experts, 1] -> [..., D].\n"
        "Products and sums are rounded to bfloat16, in the order of the experts. Rows of experts that are not here are "
        "left out; without a table, those of weight zero, except for the first of a token.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/deepseek_prefill/post_combine_reduce`",
        dtypes=(_BF16,),
        layouts=(Layout.ROW_MAJOR,),
        golden=golden.post_combine_reduce,
        # Each product and each sum is rounded once.
        accuracy=max_ulp((_BF16, 8), magnitude=golden.sums_of_magnitudes),
        engine=("sum_experts",),
        raises=(
            ("DTypeError", "a data type is not supported."),
            ("LayoutError", "a tensor is tiled."),
            ("MemoryConfigError", "an operand is sharded."),
            ("ShapeError", "shapes do not fit, or there are not 32 tokens or a multiple of them."),
            ("ParameterError", "`expert_dim` is not the last but one, or only one of the route tensors is given."),
        ),
        examples=(),
    )
)
