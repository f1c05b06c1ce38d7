"""The program of the SFPU's functions of three operands: checks, broadcasting, formats.

Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/ternary`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ttnn import _engine
from ttnn.base.enums import FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.operation.result_shards import of_three
from ttnn.operation.steps import word
from ttnn.ops._programs.common import (
    FLOATS,
    INTEGER_RANGE,
    WIDE,
    allocate,
    as_float,
    full_tiles,
    is_empty,
    on_device,
    result_spec,
    same_device,
    take_output,
)
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

Operand = Tensor | float
LARGEST_RANK: Final = 8
_ON_HOST: Final = "Ternary operation requires input to be on Device. Input storage type: 0"


@dataclass(frozen=True)
class Ternary:
    """The properties of one operator: name, SFPU function, operand names."""

    name: str
    function: str
    labels: tuple[str, str, str]


@lru_cache(maxsize=4096)
def broadcast(operator: str, labels: tuple[str, ...], shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the shape that all `shapes` are broadcast to.

    Raises:
        ShapeError: there is none.
    """
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    out = []
    for axis in range(rank):
        largest = max(shape[axis] for shape in padded)
        if any(shape[axis] not in (1, largest) for shape in padded):
            given = ", ".join(f"{label} {list(shape)}" for label, shape in zip(labels, shapes, strict=True))
            found = ", ".join(f"dim {name}: {shape[axis]}" for name, shape in zip("abc", padded, strict=False))
            raise ShapeError(
                f"{operator}: cannot broadcast {given}: dimension {axis - rank} differs.",
                vendor=f"Broadcasting rule violation at dimension index {axis - rank} (output rank {rank}), {found}",
            )
        out.append(largest)
    return tuple(out)


def broadcasts_rows_or_columns(tensors: Sequence[Tensor]) -> bool:
    """Return True if operands differ in height or width.

    Tiles are broadcast then.
    """
    ends = {(1, 1, *tensor.spec.shape._dims)[-2:] for tensor in tensors}
    return len(ends) > 1


def check_tensors(operator: Ternary, operands: Sequence[Operand]) -> list[Any]:
    """Return the operands with all tensors in tiles.

    Only the first one is required to be tiled; others are converted.

    Raises:
        StorageError: one is on the host, or they are on different devices.
        LayoutError: the first is row-major.
    """
    first = None
    tiled: list[Any] = []
    for operand, label in zip(operands, operator.labels, strict=True):
        tiled.append(operand)
        if not isinstance(operand, Tensor):
            continue
        device = on_device(operator.name, operand, label, _ON_HOST)
        if first is not None and operand.spec.layout is not Layout.TILE:
            same_device(operator.name, first, operand, label)
            tiled[-1] = tilize_padded(operator.name, operand)
            continue
        first = first or device
        same_device(operator.name, first, operand, label)
        if operand.spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{operator.name}: {label} is {operand.spec.layout.name}; the operator requires TILE_LAYOUT. Convert "
                "it with ttnn.to_layout.",
                vendor="Ternary operation requires tensor to be in Tile layout when working with non-sharded input "
                "tensor. "
                "Input tensor layout: 0",
            )
        full_tiles(operator.name, operand, label)
    return tiled


def number_for(operator: str, label: str, value: float, dtype: DataType) -> float:
    """Return a number as a datum of `dtype`.

    Raises:
        DTypeError: an integer type does not have it.
    """
    value = as_float(operator, value, label)
    if dtype in INTEGER_RANGE:
        low, high = INTEGER_RANGE[dtype]
        if not (value.is_integer() and low <= value <= high):
            raise DTypeError(f"{operator}: {label} is {value:g}, no value of {dtype.name} ({low} to {high}).")
    return value


def run_ternary(
    operator: Ternary,
    operands: Sequence[Operand],
    dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    parameters: Sequence[float] = (),
) -> Tensor:
    """Run the SFPU's function on checked operands, or on whole-row pages.

    `check_tensors` has passed the operands.

    Args:
        operator: What to run.
        operands: Tensors or numbers; at least one tensor. The result lives where the first of them does.
        dtype: Data type of the result; that of `output_tensor` has priority.
        memory_config: Where the result lives.
        output_tensor: Takes the result if given.
        parameters: Of the function.

    Raises:
        ShapeError: the shapes cannot be broadcast.
        DTypeError: floating point meets integers.
    """
    name = operator.name
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    like = tensors[0].spec
    device = on_device(name, tensors[0])
    dtype = dtype if output_tensor is None else output_tensor.spec.dtype
    dtypes = {tensor.spec.dtype for tensor in tensors} | {dtype}
    labels = tuple(
        label for operand, label in zip(operands, operator.labels, strict=True) if isinstance(operand, Tensor)
    )
    shape = broadcast(name, labels, tuple(tensor.spec.shape._dims for tensor in tensors))
    if len(shape) > LARGEST_RANK:
        raise UnsupportedError(f"{name}: tensors up to rank {LARGEST_RANK} are built, got {list(shape)}.")
    if output_tensor is None:
        place = of_three([tensor.spec for tensor in tensors], shape, memory_config, device)
        output = allocate(result_spec(like, shape, dtype, place), device)
    else:
        output = take_output(name, output_tensor, shape, like.layout, device)
        if any(output is tensor and tensor.spec.shape._dims != shape for tensor in tensors):
            raise ShapeError(f"{name}: output_tensor is an operand that is broadcast to {list(shape)}.")
    if is_empty(output.spec):
        return output
    dst32 = bool(WIDE & dtypes)
    # A number fills a tile of the result's type; in a 16-bit Dst it is truncated to bfloat16.
    filled = dtype if dtype in INTEGER_RANGE else DataType.FLOAT32 if dst32 else DataType.BFLOAT16
    formats = [operand.spec.dtype if isinstance(operand, Tensor) else filled for operand in operands]
    assert output.buffer is not None
    engine_steps.ternary(
        [_engine_operand(operand) for operand in operands],
        output.buffer,
        formats=(FORMAT_CODE[formats[0]], FORMAT_CODE[formats[1]], FORMAT_CODE[formats[2]], FORMAT_CODE[dtype]),
        op=operator.function,
        parameters=[word(parameter) for parameter in parameters],
        shapes=[operand.spec.shape._dims if isinstance(operand, Tensor) else () for operand in operands],
        shape_out=shape,
        dst32=dst32,
        tiled=like.layout is Layout.TILE,
    )
    return output


def _engine_operand(operand: Operand) -> _engine.Buffer | float:
    if not isinstance(operand, Tensor):
        return float(operand)
    assert operand.buffer is not None
    return operand.buffer


def is_block_float(tensors: Sequence[Tensor]) -> bool:
    """Return True if a tensor holds block floats."""
    return any(tensor.spec.dtype in (DataType.BFLOAT8_B, DataType.BFLOAT4_B) for tensor in tensors)


def check_dtypes(operator: Ternary, dtypes: Sequence[DataType], taken: Sequence[DataType]) -> None:
    """Refuse data types that are neither floating point nor `taken`.

    Raises:
        DTypeError: such a type.
    """
    for dtype in dtypes:
        if dtype not in taken and dtype not in FLOATS:
            raise DTypeError(
                f"{operator.name}: a tensor is {dtype.name}; the operator takes "
                f"{', '.join(known.name for known in (*FLOATS, *taken))}."
            )


def are_integers(operator: Ternary, tensors: Sequence[Tensor], taken: Sequence[DataType]) -> bool:
    """Return True if the tensors hold integers of one type.

    Raises:
        DTypeError: an unsupported type, or floating point with integers.
    """
    dtypes = [tensor.spec.dtype for tensor in tensors]
    check_dtypes(operator, dtypes, taken)
    integers = [dtype in INTEGER_RANGE for dtype in dtypes]
    if any(integers) and len(set(dtypes)) > 1:
        raise DTypeError(
            f"{operator.name}: the tensors are {', '.join(dtype.name for dtype in dtypes)}; typecast them to one type."
        )
    return any(integers)
