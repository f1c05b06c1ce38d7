"""`ttnn.pad`: elements of one value around a tensor.

Source: TT-NN docs "ttnn.pad".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import Layout
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.shape import Shape, as_dims
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import data_movement as golden
from ttnn.operation.signature import (
    BOOLEAN,
    FLOAT,
    INT_SEQUENCE,
    PADDING,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    on_device,
)
from ttnn.ops._programs.element_map import strides_of
from ttnn.ops._programs.movement import move, register_movement
from ttnn.ops.data_movement.slice import as_list
from ttnn.tensor.tensor import Tensor


def _padded(
    name: str,
    source: Tensor,
    widths: Sequence[tuple[int, int]],
    value: float,
    memory_config: MemoryConfig | None,
) -> Tensor:
    on_device(name, source)
    spec = source._spec
    dims = tuple(spec.shape)
    if any(before < 0 or after < 0 for before, after in widths):
        raise ShapeError(f"{name}: padding={[list(pair) for pair in widths]} must not be negative.")
    if spec.layout is Layout.TILE and any(before for before, _ in widths):
        raise ShapeError(
            f"{name}: padding={[list(pair) for pair in widths]} puts elements before the first of a tiled tensor; "
            "convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="ttnn.pad: on device tile padding does not support front padding",
        )
    shape = [before + size + after for size, (before, after) in zip(dims, widths, strict=True)]
    target = TensorSpec.of(shape, spec.dtype, spec.layout, memory_config or spec.memory_config, spec.tile)
    window = [(before, size) for size, (before, _) in zip(dims, widths, strict=True)]
    return move(source, target, strides=strides_of(dims), window=window, pad_value=value)


def _pad(
    input_tensor: Tensor,
    padding: Sequence[Sequence[int]],
    value: float,
    _use_multicore: bool,
    memory_config: MemoryConfig | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.pad"
    rank = input_tensor._spec.shape.rank
    if len(padding) > rank or any(len(pair) != 2 for pair in padding):
        raise ShapeError(
            f"{name}: padding={[list(pair) for pair in padding]} needs (before, after) for at most the {rank} "
            f"dimensions of {input_tensor._spec.shape}."
        )
    widths = [(0, 0)] * (rank - len(padding)) + [(int(before), int(after)) for before, after in padding]
    return _padded(name, input_tensor, widths, value, memory_config)


def _pad_to(
    input_tensor: Tensor,
    output_padded_shape: Sequence[int],
    input_tensor_start: Sequence[int],
    value: float,
    _use_multicore: bool,
    memory_config: MemoryConfig | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.pad"
    dims = tuple(input_tensor._spec.shape)
    out, start = as_dims(Shape(output_padded_shape)), as_list(input_tensor_start)
    if not len(out) == len(start) == len(dims):
        raise ShapeError(
            f"{name}: output_padded_shape={list(out)} and input_tensor_start={start} need {len(dims)} entries."
        )
    widths = [(first, total - first - size) for size, total, first in zip(dims, out, start, strict=True)]
    return _padded(name, input_tensor, widths, value, memory_config)


_MULTICORE: Final = Param("use_multicore", BOOLEAN, True, doc="Changes the time only, not the result.")


def _examples(shape: tuple[int, ...], layout: Layout) -> Iterator[tuple[Any, ...]]:
    if shape:
        yield [(0, 3)] * len(shape), 1.0
        if layout is not Layout.TILE:
            yield [(2, 1)], 0.0


pad = register_movement(
    "pad",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("padding", PADDING, doc="(before, after) for each of the last dimensions."),
                Param("value", FLOAT, doc="Value of the added elements."),
            ),
            (_MULTICORE, MEMORY_CONFIG_OPTION, SUB_CORE_GRIDS_OPTION),
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("output_padded_shape", INT_SEQUENCE, doc="Shape of the output."),
                Param("input_tensor_start", INT_SEQUENCE, doc="Index of the output at which the input starts."),
                Param("value", FLOAT),
            ),
            (_MULTICORE, MEMORY_CONFIG_OPTION, SUB_CORE_GRIDS_OPTION),
            run=_pad_to,
        ),
    ),
    _pad,
    "Return `input_tensor` padded with `value`.\n"
    "Shape: [..., H, W] -> [..., before + H + after, before + W + after].\n"
    "Tiled tensors are padded at the end of a dimension only.",
    golden=golden.pad,
    raises=(("ShapeError", "a padding is negative, or a tiled tensor is padded at the front."),),
    examples=_examples,
)
