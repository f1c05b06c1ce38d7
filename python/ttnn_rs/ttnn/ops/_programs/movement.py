"""Data movement in any format.

It is an element map, with a cast where block floats leave their groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import declare
from ttnn.ops._programs.common import allocate, is_empty, result_spec
from ttnn.ops._programs.element_map import move_into
from ttnn.ops._programs.typecast import cast
from ttnn.tensor.tensor import Tensor


def move(
    source: Tensor,
    spec: TensorSpec,
    *,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    window: Sequence[tuple[int, int]] | None = None,
    pad_value: float = 0.0,
    through_dst: bool = False,
) -> Tensor:
    """Return a new tensor filled from `source`, as `move_into` does.

    A block-float result whose elements leave their groups of 16 is moved in bfloat16 and cast back, as on the chip.
    """
    assert source._device is not None
    options = {"offset": offset, "pad_value": pad_value, "through_dst": through_dst}
    if spec.dtype not in BLOCK_FLOATS or source.spec.dtype not in BLOCK_FLOATS:
        output = allocate(spec, source._device)
        return move_into(source, output, strides=strides, window=window, **options)  # type: ignore[arg-type]
    plain = TensorSpec.of(spec.shape, DataType.BFLOAT16, spec.layout, spec.memory_config, spec.tile)
    moved = allocate(plain, source._device)
    if is_empty(source.spec) or spec.layout is not Layout.TILE:
        move_into(source, moved, strides=strides, window=window, **options)  # type: ignore[arg-type]
        result = cast("ttnn.typecast", moved, spec.dtype)
    else:
        result = allocate(result_spec(plain, spec.shape._dims, spec.dtype, None), source._device)
        precise = spec.dtype is DataType.BFLOAT8_B
        move_into(source, moved, strides=strides, window=window, result=result, precise=precise, **options)  # type: ignore[arg-type]
    moved.deallocate(True)
    return result


_MOVED: Final = (
    DataType.BFLOAT16,
    DataType.FLOAT32,
    DataType.BFLOAT8_B,
    DataType.BFLOAT4_B,
    DataType.INT32,
    DataType.UINT32,
    DataType.UINT16,
    DataType.UINT8,
)

register_movement: Final = partial(
    declare,
    source="tt-metal `ttnn/cpp/ttnn/operations/data_movement`",
    dtypes=_MOVED,
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    accuracy=bit_exact(),
    engine=("move_elements",),
    numerics="movement",
)
"""Registers an operator that moves elements and changes none."""
