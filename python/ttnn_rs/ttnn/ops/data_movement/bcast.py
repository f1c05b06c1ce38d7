"""`ttnn.bcast`: arithmetic with a row, column or scalar per matrix.

It adds, subtracts or multiplies.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement/bcast`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from ttnn.base.enums import TILE_SIZE, BcastOpDim, BcastOpMath, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import DTypeError, MemoryConfigError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import data_movement as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import (
    FLOATS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    allocate,
    full_tiles,
    is_empty,
    memory_of_result,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.pipeline import ROWS, Pipeline
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.bcast"
_HIFI4: Final = 4
_OPS: Final = {BcastOpMath.ADD: "add", BcastOpMath.SUB: "sub", BcastOpMath.MUL: "mul"}
_WITHIN_TILES: Final = {BcastOpDim.H: "row", BcastOpDim.W: "column", BcastOpDim.HW: "scalar"}


@lru_cache(maxsize=256)
def _program(
    shape: tuple[int, ...],
    other: tuple[int, ...],
    dtypes: tuple[DataType, DataType, DataType],
    op: BcastOpMath,
    dim: BcastOpDim,
) -> Pipeline:
    """Return the program: one FPU operation in a 16-bit Dst."""
    program = Pipeline(shape, ROWS, dtypes[0], False, _HIFI4)
    a, b = program.tensor(dtypes[0]), program.tensor(dtypes[1], other, _WITHIN_TILES[dim])
    program.eltwise(_OPS[op], a, b, dtypes[2], output=0)
    return program


def _tiles(tensor: Tensor) -> Tensor:
    return tensor if tensor.spec.layout is Layout.TILE else tilize_padded(_NAME, tensor)


def _shapes(
    a: tuple[int, ...], b: tuple[int, ...], dim: BcastOpDim, *, sharded: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of both inputs as matrices that meet each other.

    Raises:
        ShapeError: they do not fit.
    """
    rank = max(len(a), len(b), 2)
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (a, b))
    wanted = [*left[-2:]]
    if dim is not BcastOpDim.W:
        wanted[0] = 1
    if dim is not BcastOpDim.H:
        wanted[1] = 1
    # Only whole tiles are compared: values beyond the first row or column of b are ignored.
    padded = [-(-size // TILE_SIZE) for size in right[-2:]]
    if padded != [-(-size // TILE_SIZE) for size in wanted]:
        raise ShapeError(
            f"{_NAME}: input_b has shape {list(b)}; a row, column or number for {list(a)} along {dim.name} ends with "
            f"{wanted}.",
            vendor=f"Input tensor B of {list(b)} must fit input tensor A of {list(a)} for bcast along {dim.name}",
        )
    right = (*right[:-2], *wanted)
    if sharded and dim is BcastOpDim.H and left[0] == 1 < right[0] and rank > 2:
        # The rows of a are parted among the batches of b.
        parts = right[0]
        if left[-2] % (parts * TILE_SIZE) or any(size != 1 for size in (*left[:-2], *right[1:-2])):
            raise ShapeError(f"{_NAME}: {left[-2]} rows of input_a do not divide into {parts} parts of full tiles.")
        return (parts, *left[1:-2], left[-2] // parts, left[-1]), right
    leading = right[:-2]
    if any(size != 1 for size in leading) and leading != left[:-2] and not (sharded and leading[1:] == left[1:-2]):
        raise ShapeError(
            f"{_NAME}: input_b has shape {list(b)}; before its matrices come those of {list(a)}, or ones.",
            vendor="Broadcast with batch is currently only supported when bN*bC=1 or N & C match or equivalent",
        )
    return left, right


def _check_places(a: MemoryConfig, out: MemoryConfig, dim: BcastOpDim) -> None:
    """Refuse memory configs that the program of a dimension does not support.

    Raises:
        MemoryConfigError: such a placement.
    """
    interleaved = (a.interleaved, out.interleaved)
    if dim is BcastOpDim.H:
        fits, vendor = interleaved[0] == interleaved[1], "Input and output mem layouts must be the same for bcast H op!"
    elif dim is BcastOpDim.W:
        fits, vendor = all(interleaved), "Bcast does not currently support input0 sharding, except if dim is W"
    else:
        shards = TensorMemoryLayout.HEIGHT_SHARDED
        fits = a.memory_layout is out.memory_layout and (a.interleaved or a.memory_layout is shards)
        vendor = "Input and output mem layouts must be the same for bcast HW op!"
    if not fits:
        raise MemoryConfigError(
            f"{_NAME}: input_a is in {a} and the output in {out}; along {dim.name} they are both interleaved"
            f"{'' if dim is BcastOpDim.W else ', or both sharded'}.",
            vendor=vendor,
        )


def _bcast(
    input_a: Tensor,
    input_b: Tensor,
    math_op: BcastOpMath,
    dim: BcastOpDim,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    device = on_device(_NAME, input_a, "input_a")
    same_device(_NAME, device, input_b, "input_b")
    for label, tensor in (("input_a", input_a), ("input_b", input_b)):
        full_tiles(_NAME, tensor, label)
        if tensor.spec.dtype not in FLOATS:
            raise DTypeError(
                f"{_NAME}: {label} is {tensor.spec.dtype.name}; it must be floating point.",
                vendor="Unsupported data format",
            )
    spec = input_a.spec
    is_sharded = spec.memory_config.is_sharded()
    place = memory_of_result(memory_config, output_tensor, spec.memory_config)
    _check_places(spec.memory_config, place, dim)
    shape, other = _shapes(spec.shape._dims, input_b.spec.shape._dims, dim, sharded=is_sharded)
    if output_tensor is None:
        if place.is_sharded() and is_sharded:
            place = MemoryConfig(place.memory_layout, place.buffer_type, spec.memory_config.shard_spec)
        output = allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, place), device)
    else:
        output = take_output(_NAME, output_tensor, spec.shape._dims, Layout.TILE, device)
        if output.spec.dtype not in FLOATS:
            raise DTypeError(
                f"{_NAME}: output_tensor is {output.spec.dtype.name}; it must be floating point.",
                vendor="Unsupported data format",
            )
    if is_empty(output.spec):
        return output
    dtypes = (spec.dtype, input_b.spec.dtype, output.spec.dtype)
    program = _program(shape, other, dtypes, math_op, dim)
    program.run([_tiles(input_a), _tiles(input_b)], [output])
    return output


def _examples(shape: tuple[int, ...], _layout: Layout) -> Iterator[tuple[Any, ...]]:
    if len(shape) < 2 or 0 in shape:
        return
    for math_op, dim, ends in (
        (BcastOpMath.ADD, BcastOpDim.H, (1, shape[-1])),
        (BcastOpMath.SUB, BcastOpDim.W, (shape[-2], 1)),
        (BcastOpMath.MUL, BcastOpDim.HW, (1, 1)),
    ):
        yield Operand((*(1 for _ in shape[:-2]), *ends)), math_op, dim


bcast = register(
    Op(
        name="bcast",
        signatures=(
            Signature(
                (
                    Param("input_a", TENSOR, doc="First operand: [..., H, W] on a device."),
                    Param(
                        "input_b",
                        TENSOR,
                        doc="Second operand: [..., 1, W], [..., H, 1] or [..., 1, 1].",
                        example=Operand((1, 1, 1, 128)),
                    ),
                    Param("math_op", instance_kind("ttnn.BcastOpMath", BcastOpMath), example=BcastOpMath.ADD),
                    Param(
                        "dim",
                        instance_kind("ttnn.BcastOpDim", BcastOpDim),
                        doc="Along which dimension `input_b` is repeated.",
                        example=BcastOpDim.H,
                    ),
                ),
                (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION),
            ),
        ),
        run=_bcast,
        doc="Return sums, differences or products with each matrix's row, column or scalar.\n"
        "Shape: [..., H, W] -> [..., H, W] in TILE_LAYOUT.\n"
        "One FPU operation with HiFi4 in a 16-bit Dst, also for float32. The rows of a sharded input may be parted "
        "among the batches of `input_b`.",
        source="tt-metal `ttnn/cpp/ttnn/operations/data_movement/bcast`",
        dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.FLOAT32),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.bcast,
        # A product is added up in four phases, each of which rounds in Dst.
        accuracy=max_ulp((DataType.BFLOAT16, 2)),
        engine=("Pipeline",),
        raises=(
            ("ShapeError", "the shapes do not fit."),
            ("DTypeError", "a tensor is not floating point."),
            ("MemoryConfigError", "the program of `dim` does not support the memory configs."),
            ("StorageError", "an operand is on the host, deallocated or on another device."),
        ),
        examples=_examples,
    )
)
