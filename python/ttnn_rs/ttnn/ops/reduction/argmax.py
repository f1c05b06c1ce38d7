"""Index of the largest element.

Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/argmax`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import DTypeError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import Op, register
from ttnn.operation.result_shards import without_shards
from ttnn.operation.signature import BOOLEAN, INTEGER, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    full_tiles,
    is_empty,
    memory_of_result,
    on_device,
    take_output,
)
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_TILE_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_ROW_DTYPES: Final = (*_TILE_DTYPES, DataType.INT32, DataType.UINT32, DataType.UINT16)
_NAME: Final = "ttnn.argmax"


def _check(spec: TensorSpec, dim: int | None) -> None:
    given = spec.dtype.cpp_name
    if spec.layout is Layout.TILE:
        if spec.dtype not in _TILE_DTYPES:
            raise DTypeError(
                f"{_NAME}: input_tensor is {spec.dtype.name} in TILE_LAYOUT; typecast it first.",
                vendor=f"Only BFLOAT16, FLOAT32 are supported for inputs with TILE layout, got {given}",
            )
        if dim is None:
            raise ShapeError(
                f"{_NAME}: without dim the input must be row-major; pass dim, or convert it with ttnn.to_layout.",
                vendor="For inputs with TILE layout, dim parameter must be specified!",
            )
    elif spec.dtype not in _ROW_DTYPES:
        raise DTypeError(
            f"{_NAME}: input_tensor is {spec.dtype.name} in ROW_MAJOR_LAYOUT; typecast it first.",
            vendor="Only BFLOAT16, FLOAT32, INT32, UINT32, and UINT16 are supported for inputs with ROW_MAJOR layout, "
            f"got {given}",
        )


def _axis(dim: int, rank: int) -> int:
    """Return the index of the searched dimension.

    Raises:
        ShapeError: it is out of range.
    """
    if not -rank <= dim < rank:
        raise ShapeError(
            f"{_NAME}: dim={dim} is out of range for a tensor of rank {rank}.",
            vendor=f"argmax: Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})",
        )
    return dim % rank


def _argmax(
    input_tensor: Tensor,
    dim: int | None,
    keepdim: bool,
    sub_core_grids: CoreRangeSet | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _enable_secondary_dm: bool | None,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    spec = input_tensor.spec
    dims = list(spec.shape)
    axis = None if dim is None or not dims else _axis(dim, len(dims))
    memory_config = memory_of_result(memory_config, output_tensor, spec.memory_config)
    if axis is None:
        shape = [1] * len(dims) if keepdim else []
    else:
        shape = [*dims[:axis], *([1] if keepdim else []), *dims[axis + 1 :]]
    searched = dims if axis is None else dims[axis : axis + 1]
    if 0 in searched:
        index = dims.index(0) if axis is None else axis
        raise ShapeError(
            f"{_NAME}: {spec.shape} has no element along dim={dim}.",
            vendor=f"Expected reduction dim {index} to have non-zero size",
        )
    # No program runs for an empty result, which keeps the layout of the input.
    layout = spec.layout if 0 in shape else Layout.ROW_MAJOR
    out_spec = TensorSpec.of(shape, DataType.UINT32, layout, memory_config)
    if without_shards(memory_config):
        raise MemoryConfigError(
            f"{_NAME}: memory_config is {memory_config.memory_layout.name} without cores.",
            vendor="MemoryConfig must have Shard Spec specified for sharded memory layout",
        )
    _check(spec, dim)
    full_tiles(_NAME, input_tensor)
    by_rows = spec.layout is Layout.ROW_MAJOR and axis in (None, len(dims) - 1)
    if sub_core_grids is not None and by_rows and sub_core_grids.size() > 2:
        raise ParameterError(
            f"{_NAME}: sub_core_grids={sub_core_grids} has {sub_core_grids.size()} rectangles; rows take at most two.",
            vendor=f"Multicore argmax only supports up to 2 core grid ranges, but got {sub_core_grids.size()} ranges",
        )
    for side, place in (("input", spec.memory_config), ("output", memory_config)):
        if place.is_sharded():
            raise MemoryConfigError(
                f"{_NAME}: the {side} is {place.memory_layout.name}, but only interleaved tensors are supported; use "
                "ttnn.to_memory_config.",
                vendor=f"Only INTERLEAVED memory layout is supported for {side}s, got {place.memory_layout.cpp_name}",
            )
    if output_tensor is None:
        output = allocate(out_spec, device)
    else:
        output = take_output(_NAME, output_tensor, shape, layout, device)
        if output.spec.dtype is not DataType.UINT32:
            raise DTypeError(f"{_NAME}: output_tensor is {output.spec.dtype.name}, indices are UINT32.")
    if is_empty(out_spec):
        return output
    assert input_tensor.buffer is not None
    assert output.buffer is not None
    engine_steps.argmax(
        input_tensor.buffer,
        output.buffer,
        format=FORMAT_CODE[spec.dtype],
        tiled=spec.layout is Layout.TILE,
        shape=dims,
        dim=axis,
    )
    return output


def _examples(shape: tuple[int, ...], layout: Layout) -> Iterator[tuple[Any, ...]]:
    if not math.prod(shape):
        return
    if layout is not Layout.TILE:
        yield ()
    if shape:
        yield from ((dim,) for dim in {-1, 0})
        yield -1, True


argmax = register(
    Op(
        name="argmax",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param("dim", INTEGER, None, doc="Dimension to search. Default: the flattened tensor."),
                    Param("keepdim", BOOLEAN, False, doc="Whether to keep the searched dimension with size 1."),
                ),
                (
                    SUB_CORE_GRIDS_OPTION,
                    MEMORY_CONFIG_OPTION,
                    OUTPUT_TENSOR_OPTION,
                    Param("enable_secondary_dm", BOOLEAN, None, modelled=False),
                ),
            ),
        ),
        run=_argmax,
        doc="Return the index of the maximum along `dim`, as uint32 in rows.\n"
        "Shape: [..., H, W] -> [..., H] for `dim` -1, or [..., H, 1] with `keepdim`.\n"
        "NaN counts as the largest value. The first index is returned for ties.",
        source="tt-metal `ttnn/cpp/ttnn/operations/reduction/argmax`",
        dtypes=_ROW_DTYPES,
        only_rows=tuple(dtype for dtype in _ROW_DTYPES if dtype not in _TILE_DTYPES),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.argmax,
        accuracy=bit_exact(),
        engine=("argmax",),
        raises=(
            ("DTypeError", "the data type is not supported in the input's layout."),
            ("ShapeError", "the searched dimension is empty, or `dim` is not given for a tiled input."),
            ("MemoryConfigError", "the input or the output is sharded."),
            ("ParameterError", "`sub_core_grids` has more than two rectangles and the input is row-major."),
        ),
        examples=_examples,
    )
)
