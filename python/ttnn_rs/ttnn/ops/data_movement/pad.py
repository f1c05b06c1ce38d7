"""`ttnn.pad`: elements of one value around a tensor.

Source: TT-NN docs "ttnn.pad".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import Layout, TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ParameterError, ShapeError
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
    on_device,
    sub_core_grids_of_interleaved,
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
    spec = source.spec
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
    place = memory_config or _own_place(spec, shape)
    if memory_config is not None and spec.layout is Layout.TILE and _stays(spec, shape, memory_config):
        place = spec.memory_config
    target = TensorSpec.of(shape, spec.dtype, spec.layout, place, spec.tile)
    window = [(before, size) for size, (before, _) in zip(dims, widths, strict=True)]
    return move(source, target, strides=strides_of(dims), window=window, pad_value=value)


def _stays(spec: TensorSpec, shape: Sequence[int], memory_config: MemoryConfig) -> bool:
    """Return True if the output keeps the input's memory config.

    `memory_config` is ignored then.

    The official operator fills the padding of the input where the output has the same tiles, and moves that only
    from pages to shards or back.
    """
    padded = TensorSpec.of(shape, spec.dtype, spec.layout, tile=spec.tile).padded_shape
    same_kind = (memory_config.shard_spec is None) == (spec.memory_config.shard_spec is None)
    return same_kind and tuple(padded) == tuple(spec.padded_shape)


def _own_place(spec: TensorSpec, shape: Sequence[int]) -> MemoryConfig:
    """Return the default output memory config.

    That of the input, with shards of the output's rows.
    """
    config = spec.memory_config
    shards = config.shard_spec
    if shards is None or config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        return config
    if tuple(shape[:-1]) == tuple(spec.shape)[:-1] and shape[-1] == spec.shape[-1]:
        return config
    plain = TensorSpec.of(shape, spec.dtype, spec.layout, MemoryConfig(buffer_type=config.buffer_type), spec.tile)
    return plain.height_sharded(shards.grid).memory_config


def _check_program(
    name: str, use_multicore: bool, memory_config: MemoryConfig | None, sub_core_grids: CoreRangeSet | None
) -> None:
    """Refuse cores for a program on one core, or on shard cores."""
    if sub_core_grids is None:
        return
    if not use_multicore:
        raise ParameterError(
            f"{name}: sub_core_grids={sub_core_grids} requires use_multicore=True; omit one of them.",
            vendor="ttnn.pad: sub_core_grids is only supported when use_multicore is true",
        )
    if memory_config is not None and memory_config.is_sharded():
        raise MemoryConfigError(
            f"{name}: the cores that hold a sharded output work on it; leave out sub_core_grids={sub_core_grids}.",
            vendor="ttnn.pad: Output memory layout must be interleaved when sub_core_grids argument is provided",
        )


def _pad(
    input_tensor: Tensor,
    padding: Sequence[Sequence[int]],
    value: float,
    use_multicore: bool,
    memory_config: MemoryConfig | None,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.pad"
    _check_program(name, use_multicore, memory_config, sub_core_grids)
    rank = input_tensor.spec.shape.rank
    if len(padding) > rank or any(len(pair) != 2 for pair in padding):
        raise ShapeError(
            f"{name}: padding={[list(pair) for pair in padding]} needs (before, after) for at most the {rank} "
            f"dimensions of {input_tensor.spec.shape}.",
            vendor="ttnn.pad: padding len can't be larger than input tensor rank",
        )
    widths = [(0, 0)] * (rank - len(padding)) + [(int(before), int(after)) for before, after in padding]
    return _padded(name, input_tensor, widths, value, memory_config)


def _pad_to(
    input_tensor: Tensor,
    output_padded_shape: Sequence[int],
    input_tensor_start: Sequence[int],
    value: float,
    use_multicore: bool,
    memory_config: MemoryConfig | None,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.pad"
    _check_program(name, use_multicore, memory_config, sub_core_grids)
    dims = tuple(input_tensor.spec.shape)
    out, start = as_dims(Shape(output_padded_shape)), as_list(input_tensor_start)
    if not len(out) == len(start) == len(dims):
        raise ShapeError(
            f"{name}: output_padded_shape={list(out)} and input_tensor_start={start} need {len(dims)} entries."
        )
    widths = [(first, total - first - size) for size, total, first in zip(dims, out, start, strict=True)]
    return _padded(name, input_tensor, widths, value, memory_config)


_CORES: Final = sub_core_grids_of_interleaved(
    "ttnn.pad: Input memory layout must be interleaved when sub_core_grids argument is provided"
)
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
            (_MULTICORE, MEMORY_CONFIG_OPTION, _CORES),
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("output_padded_shape", INT_SEQUENCE, doc="Shape of the output."),
                Param("input_tensor_start", INT_SEQUENCE, doc="Index of the output at which the input starts."),
                Param("value", FLOAT),
            ),
            (_MULTICORE, MEMORY_CONFIG_OPTION, _CORES),
            run=_pad_to,
        ),
    ),
    _pad,
    "Return `input_tensor` padded with `value`.\n"
    "Shape: [..., H, W] -> [..., before + H + after, before + W + after].\n"
    "Tiled tensors are padded at the end of a dimension only. Elements that fill tiles of the input are added where it "
    "is; `memory_config` is then ignored, unless one of the two has a shard specification.",
    golden=golden.pad,
    raises=(
        ("ShapeError", "a padding is negative, or a tiled tensor is padded at the front."),
        ("ParameterError", "`sub_core_grids` without `use_multicore`."),
        ("MemoryConfigError", "`sub_core_grids` with a sharded tensor."),
    ),
    examples=_examples,
)
