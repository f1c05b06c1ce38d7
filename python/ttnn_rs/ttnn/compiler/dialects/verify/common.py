"""Rules of operations beyond their tables: ranks, shapes, dimensions and volumes.

Messages are those that tests of the compiler stack look for. Source: verifiers in `lib/Dialect/TTIR/IR/TTIROps.cpp` and
`lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from ttnn.compiler.dialects.operations import RULES, TableOp
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    Shape,
    element_text,
    need,
    shape_of,
)
from ttnn.compiler.ir.attributes import SparseAttr
from ttnn.compiler.ir.xdsl_adapter import NoneAttr, TensorType, VerifyException

__all__ = ["broadcast_shape", "check", "shape_of"]


def _join(shape: Sequence[int]) -> str:
    return ",".join(map(str, shape))


def _fail(message: str) -> None:
    raise VerifyException(message)


def broadcast_shape(shapes: Sequence[Shape]) -> Shape | None:
    """Return the numpy-style broadcast shape, or None."""
    out: list[int] = []
    for i in range(1, max((len(shape) for shape in shapes), default=0) + 1):
        sizes = {shape[-i] for shape in shapes if len(shape) >= i} - {1}
        if len(sizes) > 1:
            return None
        out.append(sizes.pop() if sizes else 1)
    return tuple(reversed(out))


def _only(op: TableOp) -> Shape:
    return shape_of(op.results[0])


def _tuple(shape: Sequence[int]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _elementwise_later(op: TableOp) -> None:
    joined: Shape | None = None
    for value in op.inputs:
        if hasattr(value.type, "get_shape"):
            shape = shape_of(value)
            both = shape if joined is None else broadcast_shape([joined, shape])
            need(
                both is not None,
                f"operand shape {_tuple(shape)} is not broadcast compatible with inferred operand shapes "
                f"{_tuple(joined or ())}",
            )
            joined = both
    if op.results and joined is not None and op.name.startswith("ttir."):
        result = _only(op)
        need(
            result == joined,
            f"result shape {_tuple(result)} doesn't match expected shape after broadcasting {_tuple(joined)}",
        )


def _elementwise(op: TableOp) -> None:
    if not op.text.first:
        _elementwise_later(op)
        return
    shapes = [shape_of(value) for value in op.inputs if hasattr(value.type, "get_shape")]
    joined = broadcast_shape(shapes)
    need(joined is not None, "Operands are not broadcast compatible")
    if op.results and joined is not None:
        result = _only(op)
        if broadcast_shape([joined, result]) != result:
            text = "x".join(map(str, joined))
            _fail(
                f"result type '{'x'.join(map(str, result))}' not broadcast compatible with broadcasted operands's "
                f"shapes '{text}'"
            )


def _softmax(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    need(shape == _only(op), "Input and output shapes must be the same")
    dimension = op.get("dimension")
    need(
        -len(shape) <= dimension < len(shape),
        "Dimension attribute must be within the bounds of the input tensor",
    )


def _transpose(op: TableOp) -> None:
    shape, result = list(shape_of(op.inputs[0])), list(_only(op))
    rank = len(shape)
    need(rank >= 2, "Input must be at least a 2D tensor")
    need(rank == len(result), "Input must have the same rank as output")
    dims = op.get("dim0"), op.get("dim1")
    for i, one in enumerate(dims):
        need(-rank <= one < rank, f"Dimension {i} attribute must be within the bounds of the input tensor")
    first, second = dims
    shape[first], shape[second] = shape[second], shape[first]
    need(shape == result, "Input-output transpose dimension mismatch.")


def _concat(op: TableOp) -> None:
    shapes = [shape_of(value) for value in op.inputs]
    need(bool(shapes), "expected at least one input tensor")
    rank = len(shapes[0])
    dim = op.get("dim")
    need(-rank <= dim < rank, f"Invalid dimension {dim} for concatenation.")
    axis = dim % rank
    result = _only(op)
    total = 0
    for shape in shapes:
        need(len(shape) == rank, "All input tensors must have the same rank.")
        need(
            all(i == axis or shape[i] == shapes[0][i] for i in range(rank)),
            f"All input tensors must have the same dimensions, except for dimension {dim}.",
        )
        total += shape[axis]
    expected = (*shapes[0][:axis], total, *shapes[0][axis + 1 :])
    need(
        result == expected,
        f"Output tensor dimension {dim} does not match the sum of input tensor dimensions: "
        f"{result[axis] if axis < len(result) else 'none'} vs. {total}.",
    )


def _reshape(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), _only(op)
    given = op.get("shape")
    if given is None:
        return
    if not op.text.first:
        _reshape_later(shape, result, given, current="empty_sizes" in op.text.traits)
        return
    need(len(given) == len(result), "Shape attribute size must match output tensor rank")
    if op.text.first:
        need(len(given) > 0, "Shape attribute must be non-empty")
        need(len(given) <= 5, "Shape attribute must have at most 5 elements")
    need(math.prod(shape) == math.prod(result), "Input and output tensors must have the same number of elements")
    need(sum(1 for size in given if size == -1) <= 1, "Shape attribute must have at most one -1 element")
    for size, out in zip(given, result, strict=True):
        if size != -1:
            need(size > 0 or out == size == 0, "All dimensions must be positive except the one with -1")
            need(size == out, "Shape attribute must match the output tensor shape for dimensions that are not -1")


def _reshape_later(shape: Shape, result: Shape, given: Sequence[int], *, current: bool) -> None:
    need(
        len(given) == len(result),
        f"Shape attribute size {len(given)} must match output tensor rank {len(result)}",
    )
    counts = math.prod(shape), math.prod(result)
    need(
        counts[0] == counts[1],
        f"Input tensor number of elements {counts[0]} and output tensor number of elements {counts[1]} must be the "
        "same",
    )
    need(sum(1 for size in given if size == -1) <= 1, "Shape attribute must have at most one -1 element")
    for i, (size, out) in enumerate(zip(given, result, strict=True)):
        if size != -1:
            need(
                size > 0 or (current and size == 0) or out == size == 0,
                "All dimensions must be " + (">= 0" if current else "positive") + " except the one with -1",
            )
            need(
                size == out,
                f"Shape attribute {size} must match the output tensor shape {out} at index {i} for dimension that is "
                "not -1",
            )


def _squeeze(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), _only(op)
    dim = op.get("dim")
    rank = len(shape)
    need(-rank <= dim < rank, f"Invalid dimension {dim} for squeezing.")
    axis = dim % rank
    need(shape[axis] == 1, f"Dimension {dim} in the input tensor must be 1.")
    need(len(result) > 0, "Output tensor must have at least one dimension.")
    need(len(result) == rank - 1, "Output tensor rank must be one less than the input tensor rank.")
    need(
        result == shape[:axis] + shape[axis + 1 :],
        f"Dimensions of the output tensor must be the same as the input tensor except for dimension {dim}.",
    )


def _unsqueeze(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), _only(op)
    dim = op.get("dim")
    rank = len(shape)
    need(-rank - 1 <= dim <= rank, "Dimension attribute must be within the bounds of the input tensor")
    need(len(result) == rank + 1, "Output tensor must have one more dimension than the input tensor")
    axis = dim % (rank + 1)
    need(result[axis] == 1, "Dimension added must be of size 1")
    need(
        result == (*shape[:axis], 1, *shape[axis:]),
        "All dimensions of the input tensor must be the same as the output tensor except for the dimension added",
    )


def _matmul(op: TableOp) -> None:
    a, b = (list(shape_of(value)) for value in op.inputs[:2])
    result = list(_only(op))
    need(len(a) >= 1, "Input A must be at least a 1D tensor")
    need(len(b) >= 1, "Input B must be at least a 1D tensor")
    vector_a, vector_b = len(a) == 1, len(b) == 1
    if vector_a:
        a = [1, *a]
    elif op.spec.attributes.get("transpose_a") and op.get("transpose_a"):
        a[-1], a[-2] = a[-2], a[-1]
    if vector_b:
        b = [*b, 1]
    elif op.spec.attributes.get("transpose_b") and op.get("transpose_b"):
        b[-1], b[-2] = b[-2], b[-1]
    need(a[-1] == b[-2], f"Input A[-1]({a[-1]}) and B[-2]({b[-2]}) must have matching inner dimensions")
    expected: list[int] = []
    if len(a) > 2 or len(b) > 2:
        batch = broadcast_shape([tuple(a[:-2]), tuple(b[:-2])])
        need(
            batch is not None,
            f"Batch dimensions of input A({_join(a[:-2])}) and B({_join(b[:-2])}) are not broadcast compatible",
        )
        expected += batch or ()
    expected += ([] if vector_a else [a[-2]]) + ([] if vector_b else [b[-1]])
    biased = len(op.inputs) > 2 and op.name.endswith(".linear")
    if biased:
        need(len(shape_of(op.inputs[2])) >= 1, "Bias must be at least a 1D tensor")
    if not expected and not biased:
        need(bool(result), "Scalar output is not supported, output must be at least a 1D tensor")
        need(result == [1], "Scalar output must be a 1D tensor of size 1")
        return
    if biased:
        joined = broadcast_shape([tuple(expected), shape_of(op.inputs[2])])
        need(
            joined is not None,
            f"Bias shape({_join(shape_of(op.inputs[2]))}) is not broadcast compatible with the matmul output "
            f"shape({_join(expected)})",
        )
        bias = shape_of(op.inputs[2])
        if op.name == "ttnn.linear" and len(bias) > 1 and 0 < bias[-2] <= 32 and result == expected:
            # Rows of one tile are added by the kernel, whose result has the shape of the product.
            return
        expected = list(joined or ())
    need(
        len(result) == len(expected),
        f"Output shape rank({len(result)}) must match the expected output shape rank({len(expected)})",
    )
    for i, (got, want) in enumerate(zip(result, expected, strict=True)):
        need(
            got == want,
            f"Output shape dimension[{i}]({got}) doesn't match the expected output shape dimension[{i}]({want})",
        )


def _embedding(op: TableOp) -> None:
    shape, weight, result = shape_of(op.inputs[0]), shape_of(op.inputs[1]), _only(op)
    if op.text.first:
        need(len(weight) == 2, "Weight must be a 2D tensor")
        need(len(result) == len(shape) + 1, "Output must have one dimension more than input")
        need(result == (*shape, weight[1]), "Output shape must be that of the input followed by the weight columns")
        return
    need(len(shape) <= 2, "input must be at most a 2D tensor, got " + f"{len(shape)}D ranked tensor")
    need(len(weight) >= 2, f"weight must be at least 2D tensor, got {len(weight)}D ranked tensor")
    need(all(size == 1 for size in weight[:-2]), "weight must be effectively 2D tensor")
    need(
        result == (*shape, weight[-1]),
        f"expected output shape of ({', '.join(map(str, (*shape, weight[-1])))}) but got "
        f"({', '.join(map(str, result))})",
    )


def _steps(op: TableOp) -> None:
    """Windows move by at least one; padding is nonnegative."""
    for name in op.spec.attributes:
        least = 0 if name.startswith("padding_") else 1
        if re.match("(kernel|stride|dilation|padding)_", name):
            need(op.get(name) >= least, f"{name} must be {least} or more, got {op.get(name)}")


def _conv2d_tt(op: TableOp) -> None:
    shape, weight, result = shape_of(op.inputs[0]), shape_of(op.inputs[1]), _only(op)
    need(len(shape) >= 3, "Input must be at least a 3D tensor")
    need(len(weight) == 4, "Weight must be a 4D tensor")
    need(len(result) == 4 and len(shape) == 4, "Input and output must be 4D tensors")
    bias = op.operand("bias")
    if bias is not None:
        bias_shape = shape_of(bias)
        need(len(bias_shape) == 4, "Bias must be a 4D tensor")
        need(bias_shape[:3] == (1, 1, 1), "Bias must only have data on the final dimenstion")
    _steps(op)
    groups = op.get("groups")
    need(groups > 0, "Groups must be positive")
    need(
        shape[-1] % groups == 0 and result[-1] % groups == 0,
        f"Input and output channels, {shape[-1]} and {result[-1]}, must be divisible by the {groups} groups",
    )


def _conv2d(op: TableOp) -> None:
    if op.name.startswith("ttnn.") or op.text.first:
        return _conv2d_tt(op) if op.name.startswith("ttir.") else None
    return None


def _max_pool2d(op: TableOp) -> None:
    if not op.text.first or op.name.startswith("ttnn."):
        return
    shape = shape_of(op.inputs[0])
    need(
        len(shape) == 4,
        f"Input tensor rank must be 4. Recieved input with rank {len(shape)}. Shape: ({_join(shape)}).",
    )
    height, width = op.get("original_height"), op.get("original_width")
    if (height is None) != (width is None):
        given = "original_height" if width is None else "original_width"
        _fail(
            "If providing the original height and width as attributes, both original_height and original_width must be "
            f"set. However, only {given} was provided."
        )
    _steps(op)
    size = (height, width) if height is not None else shape[1:3]
    for name, i in (("height", 0), ("width", 1)):
        kernel = op.get(f"kernel_{name}")
        need(
            kernel <= size[i],
            f"Kernel {name} {kernel} is greater than input {name} {size[i]}. This MaxPool2d configuration is invalid.",
        )


def _reduction(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), _only(op)
    dims = op.get("dim_arg")
    dims = (dims,) if isinstance(dims, int) else dims
    rank = len(shape)
    if dims is None:
        axes = set(range(rank))
    else:
        for one in dims:
            words = (
                f"Reduction dimension {one} is out of range for a tensor"
                if op.text.first
                else f"Reduce dimension {one} is out of range for input tensor"
            )
            need(-rank <= one < max(rank, 1), f"{words} of rank {rank}")
        axes = {one % max(rank, 1) for one in dims}
        if not op.text.first:
            need(len(axes) == len(dims), "Reduce dimensions are not unique")
    if op.text.first:
        # 2024-09's tests give outputs of other shapes than keep_dim says; the volume is what must fit.
        kept = math.prod(size for i, size in enumerate(shape) if i not in axes)
        need(bool(result) or kept == 1, "Output tensor must have at least one dimension")
        return
    expected = (
        tuple(1 if i in axes else size for i, size in enumerate(shape))
        if op.get("keep_dim")
        else tuple(size for i, size in enumerate(shape) if i not in axes)
    )
    need(
        result == expected,
        f"Expected output shape ({', '.join(map(str, expected))}), got ({', '.join(map(str, result))})",
    )


def _broadcast(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), _only(op)
    if op.text.first:
        rank = len(result)
        for one in op.get("dimension"):
            need(-rank <= one < rank, f"Dimension {one} is out of range for a tensor of rank {rank}")
        need(
            broadcast_shape([shape, result]) == result,
            f"Input tensor shape ({_join(shape)}) is not broadcastable to output shape: ({_join(result)})",
        )
        return
    factors = op.get("broadcast_dimensions")
    if factors is None:
        return
    need(
        len(shape) == len(result),
        f"Input tensor rank of {len(shape)} does not match output tensor rank of {len(result)}",
    )
    need(len(factors) == len(result), "Input tensor rank should match output tensor rank.")
    joined = broadcast_shape([shape, result])
    need(
        joined == result,
        f"Input tensor shape ({_join(shape)}) is not broadcastable to output shape: ({_join(result)})",
    )
    for i, (size, factor) in enumerate(zip(shape, factors, strict=True)):
        want = size * factor
        need(
            want == result[i],
            f"Input tensor shape ({_join(shape)}) index {i} does not broadcast to output ({_join(result)}) using "
            f"broadcast value {factor}",
        )


def _permute(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), _only(op)
    order = op.get("permutation")
    need(
        sorted(order) == list(range(len(shape))),
        f"Expected a permutation of ({', '.join(map(str, range(len(shape))))}), got ({', '.join(map(str, order))}).",
    )
    expected = tuple(shape[i] for i in order)
    need(
        result == expected,
        f"Expected result shape ({', '.join(map(str, expected))}), got ({', '.join(map(str, result))})",
    )


def _constant(op: TableOp) -> None:
    value = op.attribute("value")
    if op.name == "ttir.constant" and value is not None:
        need(
            not isinstance(value, SparseAttr),
            "value attribute must be one of DenseResourceElementsAttr or DenseElementsAttr.",
        )
        need("complex<" not in element_text(op.results[0]), "value attribute must be of int or float type.")
    kind = getattr(value, "type", None)
    if isinstance(kind, TensorType) and isinstance(op.results[0].type, TensorType):
        need(tuple(kind.get_shape()) == _only(op), "value and result must have the same shape")


def _to_layout(op: TableOp) -> None:
    if not op.text.first or not op.name.startswith("ttir."):
        return
    types = op.inputs[0].type, op.results[0].type
    for word, kind in zip(("Input", "Output"), types, strict=True):
        need(
            isinstance(kind, TensorType) and not isinstance(kind.encoding, NoneAttr),
            f"{word} tensor type missing layout attribute",
        )
    need(shape_of(op.inputs[0]) == _only(op), "Input and output shapes must be the same")


def _generic(op: TableOp) -> None:
    if not op.text.first:
        return
    block = op.regions[0].blocks.first
    count = len(op.inputs) + (op.n_outs or len(op.results))
    need(
        block is not None and len(block.args) == count,
        "The number of op operands and region/block operands must match",
    )


def _alloc(op: TableOp) -> None:
    kind = op.results[0].type
    need(
        isinstance(kind, TensorType) and not isinstance(kind.encoding, NoneAttr),
        "Result type missing layout attribute",
    )
    need(op.get("size") != 0, "Alloc size must be non-zero")


_RULES: Final[dict[str, Rule]] = {
    **dict.fromkeys(["max", "mean", "sum", "min", "prod", "reduce_and", "reduce_or"], _reduction),
    "softmax": _softmax,
    "transpose": _transpose,
    "concat": _concat,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "matmul": _matmul,
    "linear": _matmul,
    "embedding": _embedding,
    "conv2d": _conv2d,
    "max_pool2d": _max_pool2d,
    "broadcast": _broadcast,
    "permute": _permute,
    "constant": _constant,
    "to_layout": _to_layout,
    "generic": _generic,
    "alloc": _alloc,
}
_DIALECTS: Final = ("ttir", "ttnn", "ttmetal")


def check(op: TableOp) -> None:
    """Check an operation by the rules of its name.

    Raises:
        VerifyException: It breaks one.
    """
    dialect, _, name = op.name.partition(".")
    if "elementwise" in op.spec.traits:
        _elementwise(op)
    elif dialect in _DIALECTS and name in _RULES:
        _RULES[name](op)


RULES.append(check)
