"""Rules of data movement and creation: slices, indices, repetition, sorting, ranges, constants.

Messages are those that tests of the compiler stack look for. Source: verifiers in `lib/Dialect/TTIR/IR/TTIROps.cpp` and
`lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.dialects.attributes import ShapeAttr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    Shape,
    element_text,
    list_text,
    need,
    shape_of,
    tuple_text,
)
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import IntegerType, TensorType

__all__ = ["MOVEMENT", "topk"]


def _bounds(shape: Shape, dim: int, begin: int, end: int, step: int) -> None:
    size = shape[dim]
    where = f"Input shape: {tuple_text(shape)}"
    need(
        -size <= begin < size or size == 0,
        f"Invalid begin index for dimension {dim}. Expected value in range [{-size}, {size}), got {begin}. {where}",
    )
    need(
        -size <= end <= size,
        f"Invalid end index for dimension {dim}. Expected value in range [{-size}, {size}], got {end}. {where}",
    )
    need(step != 0, f"Step value for dimension {dim} cannot be zero")
    first, last = (one + size if one < 0 else one for one in (begin, end))
    words = f"{first}{f' ({begin})' if begin < 0 else ''}, end: {last}{f' ({end})' if end < 0 else ''}"
    rest = f"index for dimension {dim}. Got begin: {words}, step: {step}, input shape: {tuple_text(shape)}"
    if step > 0:
        need(first <= last, f"For positive step, begin index must be less than or equal to end {rest}")
    else:
        need(first >= last, f"For negative step, begin index must be greater than or equal to end {rest}")


def _sliced(op: TableOp) -> Shape:
    shape = shape_of(op.inputs[0])
    need(len(shape) >= 1, "Input must be at least a 1D tensor")
    return shape


def _same_kind(op: TableOp, rank: int) -> None:
    need(
        element_text(op.inputs[0]) == element_text(op.results[0]),
        "Output tensor must have the same element type as the input tensor",
    )
    need(len(shape_of(op.results[0])) == rank, "Output tensor must have the same rank as the input tensor")


def _slice_static(op: TableOp) -> None:
    shape = _sliced(op)
    begins, ends, steps = (tuple(op.get(name)) for name in ("begins", "ends", "step"))
    need(
        len(begins) == len(ends) == len(steps) == len(shape),
        "Begins, ends, and step attributes must have the same number of elements as the input tensor rank",
    )
    if op.name.startswith("ttir."):
        _same_kind(op, len(shape))
    result = shape_of(op.results[0])
    for dim, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=True)):
        if begin == end:
            # A slice of nothing may begin anywhere.
            need(step != 0, f"Step value for dimension {dim} cannot be zero")
        else:
            _bounds(shape, dim, begin, end, step)
        size = math.ceil(((end + shape[dim] if end < 0 else end) - (begin + shape[dim] if begin < 0 else begin)) / step)
        need(
            result[dim] == size,
            f"Mismatch in dimension {dim} of the output tensor: expected size {size}, but got {result[dim]}",
        )


def _slice_dynamic(op: TableOp) -> None:
    shape = _sliced(op)
    begins, ends = (shape_of(value) for value in op.inputs[1:3])
    need(len(begins) == len(ends) == 1, "Begins and ends must be 1D tensors")
    step = op.get("step")
    need(
        begins[0] == ends[0] == len(shape) and (step is None or len(step) == len(shape)),
        "Begins, ends, and step must have the same number of elements as the input tensor rank",
    )
    _same_kind(op, len(shape))
    for dim, one in enumerate(step or ()):
        need(one != 0, f"Step value for dimension {dim} cannot be zero")


def _index(op: TableOp) -> None:
    shape = _sliced(op)
    dim, begin, end, step = (op.get(name) for name in ("dim", "begin", "end", "step"))
    need(0 <= dim < len(shape), f"Invalid dimension index {dim}. Input tensor rank is {len(shape)}")
    _same_kind(op, len(shape))
    _bounds(shape, dim, begin, end, step)
    size = math.ceil(((end + shape[dim] if end < 0 else end) - (begin + shape[dim] if begin < 0 else begin)) / step)
    got = shape_of(op.results[0])[dim]
    need(got == size, f"Mismatch in dimension {dim} of the output tensor: expected size {size}, but got {got}")


def _index_select(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    dim, begin, length, stride = (op.get(name) for name in ("dim", "begin", "length", "stride"))
    need(-len(shape) <= dim < len(shape), f"Invalid dimension {dim} for select op with input tensor rank {len(shape)}")
    size = shape[dim]
    stride = stride or size
    need(
        0 <= stride <= size,
        f"Invalid stride {stride} for dimension {dim} with size {size}. stride must be non-negative",
    )
    need(0 <= begin < size, f"Invalid begin index {begin} for dimension {dim} with size {size}")
    need(
        0 < length <= stride and begin + length <= size,
        f"Invalid length {length} for begin index {begin} and stride {stride}",
    )
    total = length * -(-(size - begin) // stride)
    got = shape_of(op.results[0])[dim]
    need(total == got, f"Sum of all slices must be equal to the output size for dimension {dim}: {total} and {got}")


def _repeat(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    value = op.attribute("repeat_dims")
    given = value.shape if isinstance(value, ShapeAttr) else op.get("repeat_dimensions")
    if given is None:
        return
    need(
        len(given) == len(shape),
        f"Input tensor rank {len(shape)} doesn't match the number of repeat dimensions {len(given)}.",
    )
    need(
        len(result) == len(shape),
        f"Input tensor rank {len(shape)} doesn't match the output tensor rank {len(result)}.",
    )
    for i, factor in enumerate(given):
        need(factor > 0, f"Repeat dimension at index {i} must be greater than 0.")
        need(
            shape[i] * factor == result[i],
            f"Input tensor shape {list_text(shape)} at index {i} does not repeat to output {list_text(result)} "
            f"using repeat value {factor}.",
        )


def _repeat_interleave(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    rank = len(shape)
    need(rank >= 1, "Input must be at least a 1D tensor")
    repeats, dim = op.get("repeats"), op.get("dim")
    need(repeats != 0, "Repeats attribute must be non-zero")
    need(-rank <= dim < rank, f"Dimension attribute must be within the bounds[{-rank}, {rank}), got {dim}")
    want = list(shape)
    want[dim] *= repeats
    text = ["[" + ",".join(map(str, one)) + "]" for one in (result, want)]
    need(list(result) == want, f"Output shape {text[0]} does not match the expected shape {text[1]}")


def _reverse(op: TableOp) -> None:
    dims = op.get("dimensions")
    rank = len(shape_of(op.inputs[0]))
    for i, dim in enumerate(dims):
        need(dim not in dims[:i], f"dimensions should be unique. Got: {', '.join(map(str, dims))}")
    for dim in dims:
        need(dim >= 0, f"all dimensions should be non-negative. Got dimension: {dim}")
    for dim in dims:
        need(dim < rank, f"all dimensions should be in interval [0, {rank}). Got dimension: {dim}")


def _sort(op: TableOp) -> None:
    need(len(op.results) == 2, "expected 2 results")
    shape = shape_of(op.inputs[0])
    rank, dim = len(shape), op.get("dim")
    need(
        -rank <= dim < rank,
        f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})",
    )
    if op.name.startswith("ttnn."):
        kind = op.results[1].type
        element = kind.element_type if isinstance(kind, TensorType) else None
        need(
            isinstance(element, IntegerType),
            f"Expected integer data type for indices but got '{element_text(op.results[1])}'",
        )
    need(
        shape == shape_of(op.results[0]) and element_text(op.inputs[0]) == element_text(op.results[0]),
        "Sorted tensor type does not match with input tensor.",
    )
    need(shape == shape_of(op.results[1]), "Indices shape does not match with input tensor shape.")


def _cumsum(op: TableOp) -> None:
    rank, dim = len(shape_of(op.inputs[0])), op.get("dim")
    need(-rank <= dim < rank, f"specified dimension should be between {-rank} and {rank - 1}, but got: {dim}")


def topk(op: TableOp) -> None:
    """Refuse missing dimensions, and more elements than they have."""
    shape, dim, k = shape_of(op.inputs[0]), op.get("dim"), op.get("k")
    rank = len(shape)
    need(
        -rank <= dim < rank,
        f"specified dimension should be between {-rank} and {rank - 1}, but got: {dim}",
    )
    # The message names the dimension, not its size, as the official one does.
    need(
        1 <= k <= shape[dim],
        f"K should be between 1 and the size of the specified dimension ({dim % rank}), but got: {k}",
    )


def _gather(op: TableOp) -> None:
    if op.spec.attributes.get("dim") is None:
        return
    shape = shape_of(op.inputs[0])
    rank, dim = len(shape), op.get("dim")
    need(-rank <= dim < rank, f"Dimension must be in the range [{-rank}, {rank}), got dim = {dim}")
    need(rank == len(shape_of(op.inputs[1])), "Input tensor and index tensor must have the same rank.")
    kind = op.inputs[1].type
    element = kind.element_type if isinstance(kind, TensorType) else None
    need(
        isinstance(element, IntegerType), f"Index tensor must have an integer type, got '{element_text(op.inputs[1])}'"
    )


def _clamp(op: TableOp) -> None:
    need(shape_of(op.inputs[0]) == shape_of(op.results[0]), "input and output must have same shape.")


def _arange(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    start, end, step, dim = (op.get(name) for name in ("start", "end", "step", "arange_dimension"))
    need(step != 0, "Step value cannot be zero")
    count, got = (end - start) // step, shape_of(op.results[0])[dim]
    need(
        count == got,
        f"Output tensor shape must be {count} at dim {dim} (since start={start}, end={end}, step={step}), but got "
        f"{got}",
    )


def _full(op: TableOp) -> None:
    given, result = op.get("shape"), shape_of(op.results[0])
    if isinstance(given, tuple):
        need(tuple(given) == result, f"expected shape {tuple_text(result)}, got {tuple_text(given)}")


def _rand(op: TableOp) -> None:
    result = shape_of(op.results[0])
    if op.name.startswith("ttir."):
        kind = op.properties.get("dtype")
        if kind is not None:
            text, element = attribute_text(kind), element_text(op.results[0])
            need(
                text == element,
                f"dtype does not match with output tensor type [dtype = '{text}', output tensor type = '{element}'].",
            )
        size = op.get("size")
        need(
            size is None or tuple(size) == result,
            f"Size argument does not match with output tensor shape. [Size = {attribute_text(op.properties['size'])}, "
            f"output tensor shape = {tuple_text(result)}].",
        )
    need(op.get("low") < op.get("high"), "'low' value must be < 'high' value.")


def _get_dimension_size(op: TableOp) -> None:
    rank, dim = len(shape_of(op.inputs[0])), op.get("dimension")
    need(0 <= dim < rank, f"dimension must be in range [0, {rank}), got {dim}")


MOVEMENT: Final[dict[str, Rule]] = {
    "slice_static": _slice_static,
    "slice_dynamic": _slice_dynamic,
    "index": _index,
    "index_select": _index_select,
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    "reverse": _reverse,
    "sort": _sort,
    "cumsum": _cumsum,
    "topk": topk,
    "gather": _gather,
    "get_dimension_size": _get_dimension_size,
    "clamp_scalar": _clamp,
    "arange": _arange,
    "full": _full,
    "rand": _rand,
}
