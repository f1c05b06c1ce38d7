"""`ttnn.embedding`: the rows of a table that indices name.

A table in tiles is converted to rows first, so bfloat8_b becomes bfloat16. Rows are copied as they are; in
TILE_LAYOUT they pass through Dst, which turns denormals and -0 into +0 and NaN into infinity.
Source: tt-metal `ttnn/cpp/ttnn/operations/embedding`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.op_enums import EmbeddingsType
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import embedding as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.result_shards import without_shards
from ttnn.operation.signature import DATA_TYPE, INTEGER, LAYOUT, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    allocate,
    is_empty,
    on_device,
    same_device,
    take_output,
    values_of_chips,
)
from ttnn.ops._programs.element_map import copy_into, in_rows
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.layout import untilized
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.embedding"
_INDICES: Final = (DataType.UINT32, DataType.BFLOAT16)
_TABLES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)


def _indices(tensor: Tensor, rows: int) -> Tensor:
    """Return the indices in rows.

    Raises:
        ParameterError: one is no row of the table.
    """
    on_device(_NAME, tensor)
    if not is_empty(tensor.spec):
        numbers = np.stack(values_of_chips(tensor))
        with np.errstate(invalid="ignore"):
            least, largest = float(np.min(numbers)), float(np.max(numbers))
        if not least >= 0:  # or no number
            raise ParameterError(f"{_NAME}: input_tensor has the index {least:g}; rows are counted from 0.")
        if largest >= rows:
            raise ParameterError(
                f"{_NAME}: input_tensor has the index {largest:g}, the table {rows} rows; the device would read "
                "past its end."
            )
    if tensor.spec.layout is not Layout.ROW_MAJOR:
        tensor = untilized(_NAME, tensor, DRAM_MEMORY_CONFIG)
    return in_rows(tensor)


def _check_dtype(dtype: DataType | None, indices: Tensor, table: TensorSpec, layout: Layout | None) -> None:
    """Reject data types that the official program checks for rows.

    Elsewhere it ignores `dtype` for rows.

    Raises:
        DTypeError: `layout` is left out, the table is in rows, its width and the number of indices fill tiles.
    """
    if dtype is None or dtype is table.dtype or layout is not None or table.layout is not Layout.ROW_MAJOR:
        return
    lengths = (indices.spec.padded_shape[-1] if indices.spec.shape.rank else 1, table.padded_shape[-1])
    if all(length % TILE_SIZE == 0 for length in lengths):
        raise DTypeError(
            f"{_NAME}: dtype={dtype.name} needs layout=ttnn.TILE_LAYOUT; rows are {DataType.BFLOAT16.name}.",
            vendor="Can only typecast output embeddings when producing TILE_LAYOUT output",
        )


def _embedding(
    input_tensor: Tensor,
    weight: Tensor,
    padding_idx: int | None,
    layout: Layout | None,
    embeddings_type: EmbeddingsType,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    device = on_device(_NAME, weight, "weight")
    same_device(_NAME, device, input_tensor, "input_tensor")
    of = weight.spec
    if of.dtype is DataType.BFLOAT4_B:
        raise DTypeError(
            f"{_NAME}: weight is {of.dtype.name}, which has no rows; use bfloat16 or bfloat8_b.",
            vendor="Only TILE layout is supported for BFLOAT8_B dtype!",
        )
    _check_dtype(dtype, input_tensor, of, layout)
    rank = input_tensor.spec.shape.rank
    dims = (1, 1, *input_tensor.spec.shape)[-max(2, rank) :]
    table_shape = (1, 1, *of.shape)[-max(2, of.shape.rank) :]
    rows, width = table_shape[-2:]
    # Of indices of higher rank, the first row of each batch is read.
    shape = (dims[-1], width) if rank == 1 else (dims[0], dims[-1], width)
    tiled = (of.layout if layout is None else layout) is Layout.TILE
    place = memory_config or DRAM_MEMORY_CONFIG
    if without_shards(place):
        raise MemoryConfigError(
            f"{_NAME}: memory_config is {place.memory_layout.name} without cores.",
            vendor="MemoryConfig must have Shard Spec specified for sharded memory layout",
        )
    if place.is_sharded():
        # Tiles are made at once of row-major indices that fill them, of rows otherwise.
        at_once = tiled and input_tensor.spec.layout is Layout.ROW_MAJOR and not (dims[-1] % TILE_SIZE)
        TensorSpec.of(shape, DataType.BFLOAT16, Layout.TILE if at_once else Layout.ROW_MAJOR, place)
    if input_tensor.spec.dtype not in _INDICES:
        raise DTypeError(
            f"{_NAME}: input_tensor is {input_tensor.spec.dtype.name}; indices are uint32 or bfloat16.",
            vendor="Input must be UINT32 or BFLOAT16",
        )
    if of.dtype not in _TABLES:
        raise DTypeError(
            f"{_NAME}: weight is {of.dtype.name}; tables are bfloat16 or bfloat8_b.",
            vendor="Weights tensor must have BFLOAT16 dtype",
        )
    if of.shape.rank == 0 or any(size != 1 for size in table_shape[:-2]):
        raise ShapeError(f"{_NAME}: weight has shape {of.shape}; a table is [V, D], with leading dimensions of 1.")
    indices = _indices(input_tensor, rows)
    if 0 in dims[1:-1] and 0 not in shape:
        raise ShapeError(f"{_NAME}: input_tensor has shape {input_tensor.spec.shape}; it has no indices to read.")
    table = in_rows(weight if of.layout is Layout.ROW_MAJOR else untilized(_NAME, weight, DRAM_MEMORY_CONFIG))
    kept = place if place.interleaved and output_tensor is None else DRAM_MEMORY_CONFIG
    result = allocate(TensorSpec.of(shape, DataType.BFLOAT16, Layout.TILE if tiled else Layout.ROW_MAJOR, kept), device)
    if not is_empty(result.spec):
        assert indices.buffer is not None
        assert table.buffer is not None
        assert result.buffer is not None
        engine_steps.gather_rows(
            indices.buffer,
            table.buffer,
            result.buffer,
            format=FORMAT_CODE[indices.spec.dtype],
            sizes=(dims[0], dims[-1]),
            tiled=width if tiled else None,
        )
    if tiled and dtype is not None and dtype is not result.spec.dtype:
        result = cast("ttnn.typecast", result, dtype)
    if output_tensor is not None:
        spec = result.spec
        output_tensor = take_output(_NAME, output_tensor, shape, spec.layout, device, dtype=spec.dtype)
        copy_into(result, output_tensor)
        return output_tensor
    if result.spec.memory_config != place:
        moved = allocate(result.spec.with_memory_config(place), device)
        copy_into(result, moved)
        return moved
    return result


def _examples(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if not 1 <= len(shape) <= 2 or 0 in shape:
        return ()
    return ((Operand((100, 64), dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR),),)


embedding = register(
    Op(
        name="embedding",
        signatures=(
            Signature(
                (
                    Param("input_tensor", TENSOR, doc="[B, S] on a device: indices, uint32 or bfloat16."),
                    Param(
                        "weight",
                        TENSOR,
                        doc="[V, D] in bfloat16 or bfloat8_b: the table.",
                        example=Operand((1, 1, 128, 64)),
                    ),
                ),
                (
                    Param("padding_idx", INTEGER, None, doc="The row of this index is read like any other."),
                    Param("layout", LAYOUT, None, doc="Layout of the output. Default: that of the table."),
                    Param(
                        "embeddings_type",
                        instance_kind("ttnn.EmbeddingsType", EmbeddingsType),
                        EmbeddingsType.GENERIC,
                        doc="Which rows the program keeps at hand, which changes time only.",
                    ),
                    Param(
                        "dtype",
                        DATA_TYPE,
                        None,
                        doc="Data type of an output in TILE_LAYOUT. Default: bfloat16, as rows always are.",
                    ),
                    MEMORY_CONFIG_OPTION,
                    OUTPUT_TENSOR_OPTION,
                ),
            ),
        ),
        run=_embedding,
        doc=(
            "Return the rows of `weight` that `input_tensor` names.\n"
            "Shape: [B, S], [V, D] -> [B, S, D]; [S], [V, D] -> [S, D].\n"
            "A table in bfloat8_b is converted to bfloat16 first."
        ),
        source="tt-metal `ttnn/cpp/ttnn/operations/embedding`",
        dtypes=_INDICES,
        layouts=(Layout.ROW_MAJOR, Layout.TILE),
        golden=golden.embedding,
        accuracy=bit_exact(),
        engine=("gather_rows",),
        numerics="movement",
        raises=(
            ("DTypeError", "indices or table have another data type, or `dtype` is given for rows."),
            ("ShapeError", "the table is not a matrix, or there are no indices."),
            ("ParameterError", "an index is not a row of the table."),
        ),
        domain=np.abs,
        examples=_examples,
    )
)
