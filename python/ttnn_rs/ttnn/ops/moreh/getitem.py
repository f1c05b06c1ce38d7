"""Slices that indices name along neighbouring dimensions.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_getitem`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import INT_SEQUENCE, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, same_device, take_output
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.movement import move
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.data_movement.indexed import gathered
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.eltwise.ternary.fused import where
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.moreh_getitem"
_INT32: Final = DataType.INT32


def _checked(input: Tensor, index_tensors: Sequence[Tensor], index_dims: Sequence[int]) -> list[int]:
    """Return the dimensions, if the operands fit."""
    device, spec = on_device(_NAME, input, "input"), input.spec
    if spec.dtype not in (_INT32, DataType.BFLOAT16):
        raise DTypeError(
            f"{_NAME}: input is {spec.dtype.name}; it must be INT32 or BFLOAT16.",
            vendor="Input tensor must be of type INT32 or BFLOAT16!",
        )
    dims = [int(dim) for dim in index_dims]
    if not dims or len(dims) != len(index_tensors):
        raise ParameterError(f"{_NAME}: {len(index_tensors)} index_tensors for index_dims={dims}; one for each.")
    rank = spec.shape.rank
    if dims != list(range(dims[0], dims[0] + len(dims))):
        raise ParameterError(
            f"{_NAME}: index_dims={dims} must be consecutive.",
            vendor=f"The value of index_dims={dims} must be consecutive integers.",
        )
    rows = spec.layout is Layout.ROW_MAJOR
    if dims[0] < 0 or dims[-1] >= rank or (rows and dims[-1] == rank - 1):
        limit = rank - 1 if rows else rank
        raise ShapeError(
            f"{_NAME}: index_dims={dims} for an input of shape {spec.shape} in {spec.layout.name}; they must be from 0 "
            f"to {limit - 1}.",
            vendor="getitem for ROW_MAJOR layout not support W index tensor!",
        )
    if 0 in tuple(spec.shape):
        raise ShapeError(f"{_NAME}: input has shape {spec.shape}; it has no elements.")
    count = (0, *index_tensors[0].spec.shape)[-1]
    for number, index in enumerate(index_tensors):
        same_device(_NAME, device, index, f"index_tensors[{number}]")
        own = index.spec
        if own.dtype is not _INT32:
            raise DTypeError(
                f"{_NAME}: index_tensors[{number}] is {own.dtype.name}; indices are INT32.",
                vendor="Index tensor must be of type INT32!",
            )
        if rows and own.layout is Layout.TILE:
            raise LayoutError(
                f"{_NAME}: index_tensors[{number}] is tiled, input is not; convert it to rows.",
                vendor="input layout ROW_MAJOR and index layout TILE not supported",
            )
        if own.layout is Layout.ROW_MAJOR and own.shape.rank != 1:
            raise ShapeError(
                f"{_NAME}: index_tensors[{number}] has shape {own.shape}; it must be [N] in rows.",
                vendor="Index tensor must be 1D for ROW_MAJOR layout!",
            )
        if not count or (0, *own.shape)[-1] != count:
            raise ShapeError(
                f"{_NAME}: index_tensors[{number}] has shape {own.shape}; it must have {count} elements in a row.",
                vendor="The shapes of all index tensors must be identical!",
            )
    return dims


def _joined(index_tensors: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """Return indices into the joined dimensions, counted from the end if negative."""
    joined: Tensor | None = None
    count = tuple(index_tensors[0].spec.shape)[-1]
    for index, size in zip(index_tensors, sizes, strict=True):
        row = move(index, TensorSpec.of((1, count), _INT32, Layout.TILE, DRAM_MEMORY_CONFIG))
        own: Tensor = where(find("ttnn.lt")(row, 0), find("ttnn.add")(row, size), row)
        joined = own if joined is None else find("ttnn.add")(find("ttnn.multiply")(joined, size), own)
    assert joined is not None
    return joined


def _getitem(
    input: Tensor | None,
    index_tensors: Sequence[Tensor],
    index_dims: Sequence[int],
    output: Tensor | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    if input is None:
        raise ParameterError(
            f"{_NAME}: input is not given.", vendor="Input tensor is required for moreh_getitem operation."
        )
    dims = _checked(input, index_tensors, index_dims)
    spec = input.spec
    shape = tuple(spec.shape)
    before, sizes, behind = shape[: dims[0]], shape[dims[0] : dims[-1] + 1], shape[dims[-1] + 1 :]
    count = tuple(index_tensors[0].spec.shape)[-1]
    ones = (1,) * (len(dims) - 1) if spec.layout is Layout.TILE else ()
    result_shape = (*before, *ones, count, *behind)
    device = on_device(_NAME, input, "input")
    if output is not None:
        take_output(_NAME, output, result_shape, spec.layout, device)
        if output.spec.dtype is not spec.dtype:
            raise DTypeError(
                f"{_NAME}: output is {output.spec.dtype.name}, input {spec.dtype.name}.",
                vendor="Output tensor must have the same dtype as input tensor!",
            )
    flat = (math.prod(before), math.prod(sizes), math.prod(behind))
    names = move(
        _joined(index_tensors, sizes),
        TensorSpec.of((flat[0], count, flat[2]), _INT32, Layout.TILE, DRAM_MEMORY_CONFIG),
        strides=[0, 1, 0],
    )
    tiled = move(input, TensorSpec.of(flat, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG))
    found = reshaped(_NAME, gathered(_NAME, tiled, 1, names), result_shape)
    place = memory_config or spec.memory_config
    result = move(found, TensorSpec.of(result_shape, spec.dtype, spec.layout, place))
    if output is None:
        return result
    copy_into(result, output)
    return output


moreh_getitem = declare(
    "moreh_getitem",
    (
        Signature(
            (
                Param("input", TENSOR, None, doc="The elements."),
                Param("index_tensors", TENSORS, doc="Indices of INT32 for each dimension; negative ones from the end."),
                Param("index_dims", INT_SEQUENCE, doc="Neighbouring dimensions.", example=[0]),
            ),
            (Param("output", TENSOR, None, doc="Preallocated output."), MEMORY_CONFIG_OPTION),
        ),
    ),
    _getitem,
    "Return `input[..., i, j, ...]` for index tensors.\n"
    "Shape: [A, D, E, B] -> [A, N, B] for two dimensions in rows, [A, 1, N, B] in tiles.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_getitem`",
    dtypes=(DataType.BFLOAT16, _INT32),
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    golden=golden.moreh_getitem,
    engine=("gather_elements",),
    numerics="movement",
    composition=True,
    raises=(
        ("DTypeError", "a data type is not supported."),
        ("LayoutError", "indices are tiled, and the input is not."),
        ("ShapeError", "dimensions are out of range, or indices are not vectors of one length."),
        ("ParameterError", "dimensions are not adjacent, or `input` is not given."),
    ),
    examples=(),
)
