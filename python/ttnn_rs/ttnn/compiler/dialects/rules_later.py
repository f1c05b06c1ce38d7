"""Rules of the operations of the slides and the current epoch: windows, slices, collectives, attention, quantization.

Messages are those that tests of the compiler stack look for. Source: verifiers in `lib/Dialect/TTIR/IR/TTIROps.cpp` and
`lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.asm.attributes import DenseAttr
from ttnn.compiler.asm.epochs import Epoch
from ttnn.compiler.asm.printing import attribute_text
from ttnn.compiler.asm.xdsl_adapter import IntegerType, SSAValue, TensorType
from ttnn.compiler.dialects.attributes import ShapeAttr
from ttnn.compiler.dialects.operations import RULES, TableOp
from ttnn.compiler.dialects.rules import Rule, Shape, _need, shape_of

__all__ = ["check_later"]


def _t(values: Sequence[Any]) -> str:
    return "(" + ", ".join(map(str, values)) + ")"


def _c(values: Sequence[Any]) -> str:
    return "(" + ",".join(map(str, values)) + ")"


def _element(value: SSAValue) -> str:
    kind = value.type
    return attribute_text(kind.element_type) if isinstance(kind, TensorType) else ""


def _four_d(names: dict[str, SSAValue | None], end: str = "must be a 4D tensor") -> None:
    for name, value in names.items():
        if value is not None:
            _need(len(shape_of(value)) == 4, f"{name} {end}")


def _pair(op: TableOp, name: str, word: str) -> Shape:
    value = op.get(name)
    if isinstance(value, int):
        return (value, value)
    _need(len(value) == 2, f"Expected integer or pair of integers, got tuple of size {len(value)}{word}")
    return tuple(value)


def _sides(op: TableOp, word: str) -> Shape:
    """Return top, left, bottom, right."""
    value = op.get("padding")
    if isinstance(value, int):
        return (value,) * 4
    _need(
        len(value) in (2, 4),
        f"Expected integer, pair, or tuple of size 4, but got tuple of size {len(value)}{word}",
    )
    return (*value, *value) if len(value) == 2 else tuple(value)


def _flat(op: TableOp) -> Shape | None:
    """Return batch, height and width of a flattened image, or None."""
    value = op.properties.get("flattened_compat_info")
    if value is None:
        return None
    numbers = [int(one) for one in re.findall(r"= (\d+)", attribute_text(value))]
    return tuple(numbers[:3]) if len(numbers) == 3 else None


def _out(size: int, kernel: int, stride: int, before: int, after: int, dilation: int, *, up: bool = False) -> int:
    rest = size + before + after - dilation * (kernel - 1) - 1
    return (-(-rest // stride) if up else rest // stride) + 1


# Windows.


def _pool(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    _four_d({"input": op.inputs[0], "output": op.results[0]})
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    kernel = _pair(op, "kernel", " for kernel attribute")
    stride = _pair(op, "stride", " for stride attribute")
    dilation = _pair(op, "dilation", " for dilation attribute")
    top, left, bottom, right = _sides(op, " for padding attribute")
    _need(min(kernel) > 0, "kernel size attribute values must be > 0")
    _need(min(stride) > 0, "stride attribute values must be > 0")
    _need(min(dilation) > 0, "dilation attribute values must be > 0")
    _need(min(top, left, bottom, right) >= 0, "padding attribute values must be >= 0")
    flat = _flat(op)
    batch, height, width = flat or shape[:3]
    if flat is not None:
        count = math.prod(flat)
        _need(
            shape[2] == count,
            f"the input tensor's flattened dimension ({shape[2]}) does not match the product of batch_size * "
            f"input_height * input_width from FlattenedCompatInfo ({batch} * {height} * {width} = {count})",
        )
    padded = (height + top + bottom, width + left + right)
    effective = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    _need(
        effective[0] <= padded[0] and effective[1] <= padded[1],
        f"effective kernel size {_t(effective)} cannot be greater than the padded input size per channel {_t(padded)}",
    )
    up = bool(op.get("ceil_mode"))
    expected = (
        _out(height, kernel[0], stride[0], top, bottom, dilation[0], up=up),
        _out(width, kernel[1], stride[1], left, right, dilation[1], up=up),
    )
    _need(
        result[3] == shape[3],
        f"number of output channels from the output tensor ({result[3]}) must match the number of input channels "
        f"({shape[3]})",
    )
    if flat is not None:
        count = batch * expected[0] * expected[1]
        _need(
            result[2] == count,
            f"output tensor's flattened dimension ({result[2]}) does not match the product of batch_size * "
            f"output_height * output_width ({batch} * {expected[0]} * {expected[1]} = {count})",
        )
    else:
        _need(
            result[0] == batch,
            f"batch size from the input tensor ({batch}) must match the first dimension of the output tensor "
            f"({result[0]})",
        )
        _need(
            result[1:3] == expected,
            f"output tensor height and width dimension {_t(result[1:3])} do not match the expected dimensions "
            f"{_t(expected)}",
        )
    if len(op.results) == 2:
        _need(shape_of(op.results[1]) == result, "Pooled values and indices must have the same shape")
        kind = op.results[1].type
        _need(
            isinstance(kind, TensorType) and isinstance(kind.element_type, IntegerType),
            "Indices result must have integer element type",
        )


def _global_pool(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    _need(
        len(shape) >= 3,
        "input tensor must have at least 2 dimensions for global average pooling over 2 spatial dimensions",
    )
    _need(result[0] == shape[0], "batch dimension must remain the same between input and output")
    _need(result[-1] == shape[-1], "channel dimension must remain the same between input and output")
    _need(all(size == 1 for size in result[-3:-1]), "spatial dimensions of the output must be 1")


def _conv2d(op: TableOp) -> None:
    bias = op.operand("bias")
    tensors = {"input": op.inputs[0], "weight": op.inputs[1], "bias": bias, "output": op.results[0]}
    if op.name.startswith("ttnn."):
        _ttnn_conv2d(op, {name.capitalize(): value for name, value in tensors.items()})
        return
    _four_d(tensors)
    shape, weight, result = shape_of(op.inputs[0]), shape_of(op.inputs[1]), shape_of(op.results[0])
    stride = _pair(op, "stride", " for stride")
    sides = _sides(op, " for padding")
    dilation = _pair(op, "dilation", " for dilation")
    _need(min(stride) > 0, "Stride attribute values must be > 0.")
    _need(min(sides) >= 0, "Padding attribute values must be >= 0.")
    _need(min(dilation) > 0, "Dilation attribute values must be > 0.")
    at = tuple(op.get(f"{name}_dim") for name in ("height", "width", "channel"))
    h_at, w_at, c_at = (1, 2, 3) if at[0] is None else at
    flat = _flat(op)
    height, width = flat[1:] if flat is not None else (shape[h_at], shape[w_at])
    groups, channels, out = op.get("groups"), shape[c_at], result[c_at]
    _need(
        channels % groups == 0,
        f"The number of input channels from the input tensor ({channels}) is not divisible by the number of groups "
        f"({groups}).",
    )
    _need(
        weight[0] % groups == 0,
        f"The number of output channels from the weight tensor ({weight[0]}) is not divisible by the number of groups "
        f"({groups}).",
    )
    _need(
        channels // groups == weight[1],
        f"The number of input channels per group ({channels // groups}) must match the number of input channels in "
        f"the weight tensor ({weight[1]}).",
    )
    if bias is not None:
        extent = shape_of(bias)[c_at]
        _need(
            weight[0] == extent,
            f"The number of output channels from the weight tensor ({weight[0]}) must match the number of output "
            f"channels in the bias tensor ({extent}).",
        )
    padded = (height + sides[0] + sides[2], width + sides[1] + sides[3])
    effective = tuple(d * (k - 1) + 1 for d, k in zip(dilation, weight[2:], strict=True))
    _need(
        effective[0] <= padded[0] and effective[1] <= padded[1],
        f"The effective kernel size {_t(effective)} cannot be greater than the padded input size per channel "
        f"{_t(padded)}.",
    )
    _need(
        weight[0] == out,
        f"The number of output channels from the output tensor ({out}) must match the number of output channels in "
        f"the weight tensor ({weight[0]}).",
    )
    if flat is None:
        expected = tuple((p - e) // s + 1 for p, e, s in zip(padded, effective, stride, strict=True))
        found = (result[h_at], result[w_at])
        _need(
            found == expected,
            f" The output tensor height and width dimension {_t(found)} do not match the expected dimensions "
            f"{_t(expected)}.",
        )


def _ttnn_conv2d(op: TableOp, tensors: dict[str, SSAValue | None]) -> None:
    del tensors["Weight"]
    weight = shape_of(op.inputs[1])
    if len(weight) == 4 and weight[0] == weight[1] == 1:
        return  # prepared weights
    _four_d({"Input": tensors["Input"], "Weight": op.inputs[1], "Bias": tensors["Bias"], "Output": op.results[0]})
    values = {}
    for name, word in (("kernel_size", "Kernel size"), ("stride", "Stride"), ("padding", "Padding"), ("dilation", "")):
        word = word or "Dilation"
        values[name] = tuple(op.get(name))
        size = len(values[name])
        _need(size == 2 or (name == "padding" and size == 4), f"{word} attribute must have two values, got: {size}")
    _need(min(values["stride"]) > 0, f"Stride attribute values must be greater than 0, got: {_t(values['stride'])}")
    _need(
        min(values["padding"]) >= 0,
        f"Padding attribute values must be greater than or equal to 0, got: {_t(values['padding'])}",
    )
    _need(
        min(values["dilation"]) > 0, f"Dilation attribute values must be greater than 0, got: {_t(values['dilation'])}"
    )
    channels, out, groups = op.get("in_channels"), op.get("out_channels"), op.get("groups")
    _need(
        channels // groups == weight[1],
        f" Expected input channels / groups attribute ({channels}/{groups}) = {channels // groups} to match the "
        f"number of input channels per group in the weight tensor ({weight[1]})."[0 if groups == 1 else 1 :],
    )
    _need(
        out == weight[0],
        f"Expected output channels attribute ({out}) to match the output channels in the weight tensor ({weight[0]}).",
    )
    for i, word in enumerate(("height", "width")):
        got, want = values["kernel_size"][i], weight[2 + i]
        _need(
            got == want,
            f"Expected kernel {word} attribute ({got}) to match the kernel {word} in the weight tensor ({want}).",
        )


def _conv_transpose2d(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    bias = op.operand("bias")
    _four_d({"Input": op.inputs[0], "Weight": op.inputs[1], "Bias": bias, "Output": op.results[0]})
    shape, weight, result = shape_of(op.inputs[0]), shape_of(op.inputs[1]), shape_of(op.results[0])
    flat = _flat(op)
    if flat is None:
        _need(shape[0] == result[0], "Batch size of input and output tensors must match")
    stride = _pair(op, "stride", " for stride")
    _need(min(stride) > 0, "Stride values must be greater than 0")
    sides = _sides(op, " for padding")
    _need(min(sides) >= 0, "Padding values must be greater or equal than 0")
    extra = _pair(op, "output_padding", " for output padding")
    _need(min(extra) >= 0, "Output padding values must be greater or equal than 0")
    dilation = _pair(op, "dilation", " for dilation")
    _need(min(dilation) > 0, "Dilation values must be greater than 0")
    groups, channels, out = op.get("groups"), shape[-1], result[-1]
    _need(
        channels % groups == 0,
        "Number of input channels from input tensor must be divisible by the number of groups. "
        f"Got {channels} input channels and {groups} groups",
    )
    _need(
        out % groups == 0,
        "Number of output channels from output tensor must be divisible by the number of groups. "
        f"Got {out} output channels and {groups} groups.",
    )
    _need(
        channels == weight[0],
        "Number of input channels from input tensor must match the first dimension of the weight tensor. "
        f"Got {channels} input channels and {weight[0]} in the weight tensor.",
    )
    _need(
        out // groups == weight[1],
        "Number of output channels per group must match the second dimension of the weight tensor. "
        f"Got {out // groups} output channels per group and {weight[1]} in the weight tensor.",
    )
    if bias is not None:
        extent = shape_of(bias)[-1]
        _need(
            extent == out,
            f"Mismatch in bias tensor dimensions. Bias tensor has {extent} channels, but the output tensor has {out} "
            "channels.",
        )
    height, width = flat[1:] if flat is not None else shape[1:3]
    expected = tuple(
        (size - 1) * s - before - after + d * (k - 1) + 1 + more
        for size, s, before, after, d, k, more in zip(
            (height, width), stride, sides[:2], sides[2:], dilation, weight[2:], extra, strict=True
        )
    )
    _need(
        min(expected) >= 0,
        f"Given input size per channel: ({height} x {width}). Calculated output size per channel: ({expected[0]} x "
        f"{expected[1]}). Output size is too small",
    )
    if flat is None:
        _need(
            result[1:3] == expected,
            f"Mismatch between expected output size per channel and got output tensor dimensions. Expected: "
            f"({expected[0]} x {expected[1]}), got: ({result[1]} x {result[2]}).",
        )


def _upsample(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    _need(len(shape) == 4, f"Expected rank of input tensor is 4, got rank {len(shape)}")
    _need(len(result) == 4, f"Expected rank of output tensor is 4, got rank {len(result)}")
    scale = _pair(op, "scale_factor", "")
    _need(min(scale) > 0, f"Scale factors H = {scale[0]} and W = {scale[1]} must be positive integers")
    mode = op.get("mode")
    _need(mode in ("nearest", "bilinear"), f'Expected modes are (nearest, bilinear), got "{mode}"')
    want = (shape[0], shape[1] * scale[0], shape[2] * scale[1], shape[3])
    for i, word in ((0, "N"), (1, "H"), (2, "W"), (3, "C")):
        extra = f" input {word} dimension * scale{word} =" if word in "HW" else ""
        _need(result[i] == want[i], f"Expected output {word} dimension to be{extra} {want[i]}, got {result[i]}")


# Data movement.


def _bounds(shape: Shape, dim: int, begin: int, end: int, step: int) -> None:
    size = shape[dim]
    where = f"Input shape: {_t(shape)}"
    _need(
        -size <= begin < size or size == 0,
        f"Invalid begin index for dimension {dim}. Expected value in range [{-size}, {size}), got {begin}. {where}",
    )
    _need(
        -size <= end <= size,
        f"Invalid end index for dimension {dim}. Expected value in range [{-size}, {size}], got {end}. {where}",
    )
    _need(step != 0, f"Step value for dimension {dim} cannot be zero")
    first, last = (one + size if one < 0 else one for one in (begin, end))
    words = f"{first}{f' ({begin})' if begin < 0 else ''}, end: {last}{f' ({end})' if end < 0 else ''}"
    rest = f"index for dimension {dim}. Got begin: {words}, step: {step}, input shape: {_t(shape)}"
    if step > 0:
        _need(first <= last, f"For positive step, begin index must be less than or equal to end {rest}")
    else:
        _need(first >= last, f"For negative step, begin index must be greater than or equal to end {rest}")


def _sliced(op: TableOp) -> Shape:
    shape = shape_of(op.inputs[0])
    _need(len(shape) >= 1, "Input must be at least a 1D tensor")
    return shape


def _same_kind(op: TableOp, rank: int) -> None:
    _need(
        _element(op.inputs[0]) == _element(op.results[0]),
        "Output tensor must have the same element type as the input tensor",
    )
    _need(len(shape_of(op.results[0])) == rank, "Output tensor must have the same rank as the input tensor")


def _slice_static(op: TableOp) -> None:
    shape = _sliced(op)
    begins, ends, steps = (tuple(op.get(name)) for name in ("begins", "ends", "step"))
    _need(
        len(begins) == len(ends) == len(steps) == len(shape),
        "Begins, ends, and step attributes must have the same number of elements as the input tensor rank",
    )
    if op.name.startswith("ttir."):
        _same_kind(op, len(shape))
    result = shape_of(op.results[0])
    for dim, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=True)):
        _bounds(shape, dim, begin, end, step)
        size = math.ceil(((end + shape[dim] if end < 0 else end) - (begin + shape[dim] if begin < 0 else begin)) / step)
        _need(
            result[dim] == size,
            f"Mismatch in dimension {dim} of the output tensor: expected size {size}, but got {result[dim]}",
        )


def _slice_dynamic(op: TableOp) -> None:
    shape = _sliced(op)
    begins, ends = (shape_of(value) for value in op.inputs[1:3])
    _need(len(begins) == len(ends) == 1, "Begins and ends must be 1D tensors")
    step = op.get("step")
    _need(
        begins[0] == ends[0] == len(shape) and (step is None or len(step) == len(shape)),
        "Begins, ends, and step must have the same number of elements as the input tensor rank",
    )
    _same_kind(op, len(shape))
    for dim, one in enumerate(step or ()):
        _need(one != 0, f"Step value for dimension {dim} cannot be zero")


def _index(op: TableOp) -> None:
    shape = _sliced(op)
    dim, begin, end, step = (op.get(name) for name in ("dim", "begin", "end", "step"))
    _need(0 <= dim < len(shape), f"Invalid dimension index {dim}. Input tensor rank is {len(shape)}")
    _same_kind(op, len(shape))
    _bounds(shape, dim, begin, end, step)
    size = math.ceil(((end + shape[dim] if end < 0 else end) - (begin + shape[dim] if begin < 0 else begin)) / step)
    got = shape_of(op.results[0])[dim]
    _need(got == size, f"Mismatch in dimension {dim} of the output tensor: expected size {size}, but got {got}")


def _index_select(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    dim, begin, length, stride = (op.get(name) for name in ("dim", "begin", "length", "stride"))
    _need(-len(shape) <= dim < len(shape), f"Invalid dimension {dim} for select op with input tensor rank {len(shape)}")
    size = shape[dim]
    stride = stride or size
    _need(
        0 <= stride <= size,
        f"Invalid stride {stride} for dimension {dim} with size {size}. stride must be non-negative",
    )
    _need(0 <= begin < size, f"Invalid begin index {begin} for dimension {dim} with size {size}")
    _need(
        0 < length <= stride and begin + length <= size,
        f"Invalid length {length} for begin index {begin} and stride {stride}",
    )
    total = length * -(-(size - begin) // stride)
    got = shape_of(op.results[0])[dim]
    _need(total == got, f"Sum of all slices must be equal to the output size for dimension {dim}: {total} and {got}")


def _repeat(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    value = op.attribute("repeat_dims")
    given = value.shape if isinstance(value, ShapeAttr) else op.get("repeat_dimensions")
    if given is None:
        return
    _need(
        len(given) == len(shape),
        f"Input tensor rank {len(shape)} doesn't match the number of repeat dimensions {len(given)}.",
    )
    _need(
        len(result) == len(shape),
        f"Input tensor rank {len(shape)} doesn't match the output tensor rank {len(result)}.",
    )
    for i, factor in enumerate(given):
        _need(factor > 0, f"Repeat dimension at index {i} must be greater than 0.")
        _need(
            shape[i] * factor == result[i],
            f"Input tensor shape {_c(shape)} at index {i} does not repeat to output {_c(result)} using repeat value "
            f"{factor}.",
        )


def _repeat_interleave(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    rank = len(shape)
    _need(rank >= 1, "Input must be at least a 1D tensor")
    repeats, dim = op.get("repeats"), op.get("dim")
    _need(repeats != 0, "Repeats attribute must be non-zero")
    _need(-rank <= dim < rank, f"Dimension attribute must be within the bounds[{-rank}, {rank}), got {dim}")
    want = list(shape)
    want[dim] *= repeats
    text = ["[" + ",".join(map(str, one)) + "]" for one in (result, want)]
    _need(list(result) == want, f"Output shape {text[0]} does not match the expected shape {text[1]}")


def _reverse(op: TableOp) -> None:
    dims = op.get("dimensions")
    rank = len(shape_of(op.inputs[0]))
    for i, dim in enumerate(dims):
        _need(dim not in dims[:i], f"dimensions should be unique. Got: {', '.join(map(str, dims))}")
    for dim in dims:
        _need(dim >= 0, f"all dimensions should be non-negative. Got dimension: {dim}")
    for dim in dims:
        _need(dim < rank, f"all dimensions should be in interval [0, {rank}). Got dimension: {dim}")


def _sort(op: TableOp) -> None:
    _need(len(op.results) == 2, "expected 2 results")
    shape = shape_of(op.inputs[0])
    rank, dim = len(shape), op.get("dim")
    _need(
        -rank <= dim < rank,
        f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})",
    )
    if op.name.startswith("ttnn."):
        kind = op.results[1].type
        element = kind.element_type if isinstance(kind, TensorType) else None
        _need(
            isinstance(element, IntegerType),
            f"Expected integer data type for indices but got '{_element(op.results[1])}'",
        )
    _need(
        shape == shape_of(op.results[0]) and _element(op.inputs[0]) == _element(op.results[0]),
        "Sorted tensor type does not match with input tensor.",
    )
    _need(shape == shape_of(op.results[1]), "Indices shape does not match with input tensor shape.")


def _cumsum(op: TableOp) -> None:
    rank, dim = len(shape_of(op.inputs[0])), op.get("dim")
    _need(-rank <= dim < rank, f"specified dimension should be between {-rank} and {rank - 1}, but got: {dim}")


def _topk(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    _cumsum(op)
    size = shape[op.get("dim")]
    k = op.get("k")
    _need(1 <= k <= size, f"K should be between 1 and the size of the specified dimension ({size}), but got: {k}")


def _gather(op: TableOp) -> None:
    if op.spec.attributes.get("dim") is None:
        return
    shape = shape_of(op.inputs[0])
    rank, dim = len(shape), op.get("dim")
    _need(-rank <= dim < rank, f"Dimension must be in the range [{-rank}, {rank}), got dim = {dim}")
    _need(rank == len(shape_of(op.inputs[1])), "Input tensor and index tensor must have the same rank.")
    kind = op.inputs[1].type
    element = kind.element_type if isinstance(kind, TensorType) else None
    _need(isinstance(element, IntegerType), f"Index tensor must have an integer type, got '{_element(op.inputs[1])}'")


def _clamp(op: TableOp) -> None:
    _need(shape_of(op.inputs[0]) == shape_of(op.results[0]), "input and output must have same shape.")


# Creation.


def _arange(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    start, end, step, dim = (op.get(name) for name in ("start", "end", "step", "arange_dimension"))
    _need(step != 0, "Step value cannot be zero")
    count, got = (end - start) // step, shape_of(op.results[0])[dim]
    _need(
        count == got,
        f"Output tensor shape must be {count} at dim {dim} (since start={start}, end={end}, step={step}), but got "
        f"{got}",
    )


def _full(op: TableOp) -> None:
    given, result = op.get("shape"), shape_of(op.results[0])
    if isinstance(given, tuple):
        _need(tuple(given) == result, f"expected shape {_t(result)}, got {_t(given)}")


def _rand(op: TableOp) -> None:
    result = shape_of(op.results[0])
    if op.name.startswith("ttir."):
        kind = op.properties.get("dtype")
        if kind is not None:
            text, element = attribute_text(kind), _element(op.results[0])
            _need(
                text == element,
                f"dtype does not match with output tensor type [dtype = '{text}', output tensor type = '{element}'].",
            )
        size = op.get("size")
        _need(
            size is None or tuple(size) == result,
            f"Size argument does not match with output tensor shape. [Size = {attribute_text(op.properties['size'])}, "
            f"output tensor shape = {_t(result)}].",
        )
    _need(op.get("low") < op.get("high"), "'low' value must be < 'high' value.")


def _constant(op: TableOp) -> None:
    if op.name.startswith("ttir."):
        value = op.properties.get("value")
        text = attribute_text(value) if value is not None else ""
        _need(
            not text.startswith("sparse<"),
            "value attribute must be one of DenseResourceElementsAttr or DenseElementsAttr.",
        )
        _need("complex<" not in _element(op.results[0]), "value attribute must be of int or float type.")


# Collectives.

_REDUCTIONS: Final = ("sum", "max", "min")


def _reduce_type(op: TableOp, words: str) -> None:
    kind = op.properties.get("reduce_type")
    name = attribute_text(kind) if kind is not None else ""
    found = re.search(r"<(\w+)>", name)
    word = "type" if Epoch.CURRENT in op.spec.epochs and Epoch.SLIDES not in op.spec.epochs else "op"
    _need(found is not None and found.group(1) in _REDUCTIONS, f"Invalid reduction {word} for {words}")


def _all_reduce(op: TableOp) -> None:
    _reduce_type(op, "all reduce op.")


def _gather_dim(op: TableOp) -> None:
    rank, dim = len(shape_of(op.inputs[0])), op.get("all_gather_dim")
    words = (
        "gather dimension for all reduce op. Gather"
        if op.name.startswith("ttnn.")
        else "dimension for all gather op. Gather"
    )
    _need(
        -rank <= dim < rank,
        f"Invalid {words} dimension must be >= to input tensor rank or < -input tensor rank, got gather_dim = {dim}",
    )


def _reduce_scatter(op: TableOp) -> None:
    _reduce_type(op, "reduce scatter op.")
    rank, dim = len(shape_of(op.inputs[0])), op.get("scatter_dim")
    word = "scatter dimension" if op.name.startswith("ttnn.") else "dimension"
    _need(
        -rank <= dim < rank,
        f"Invalid {word} for reduce scatter op. Scatter dimension must be >= to input tensor rank or < -input tensor "
        f"rank, got scatter_dim = {dim}",
    )


def _all_to_all(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    split, concat, count = op.get("split_dim"), op.get("concat_dim"), op.get("split_count")
    rank = len(shape)
    _need(0 <= split < rank, f"splitDim must be in the range [0, {rank - 1}], got {split}")
    _need(count > 0, "splitCount must be a positive integer")
    _need(shape[split] % count == 0, "splitDim size must be divisible by splitCount")
    _need(0 <= concat < rank, f"concatDim must be in the range [0, {rank - 1}], got {concat}")
    want = list(shape)
    want[split] //= count
    want[concat] *= count
    text = ["<" + ", ".join(map(str, one)) + ">" for one in (want, result)]
    _need(list(result) == want, f"Output shape mismatch: expected = {text[0]} output = {text[1]}")
    _need(_element(op.inputs[0]) == _element(op.results[0]), "Input and output element types must match")


def _numbers(op: TableOp, name: str) -> tuple[Shape, list[int]]:
    value = op.properties.get(name)
    if not isinstance(value, DenseAttr):
        return (), []
    kind = value.type
    shape = tuple(kind.get_shape()) if isinstance(kind, TensorType) else ()
    numbers = [int(one) for one in value.elements()]
    if value.splat:
        numbers *= math.prod(shape)
    return shape, [one - (1 << 64) if one >= 1 << 63 else one for one in numbers]


def _collective_permute(op: TableOp) -> None:
    shape, numbers = _numbers(op, "source_target_pairs")
    _need(len(shape) == 2, f"The rank of source target pairs must be 2, got rank = {len(shape)}")
    for side in (numbers[::2], numbers[1::2]):
        _need(len(set(side)) == len(side), "There are duplicate 'src' or 'dest' devices in source target pairs")


def _collective_broadcast(op: TableOp) -> None:
    result = op.results[0].type
    _need(op.inputs[0].type == result, "input and output must have the same type")
    shape, numbers = _numbers(op, "replica_groups")
    _need(len(shape) == 2, "replica_groups must be a 2D array")
    top = math.prod(shape) - 1
    _need(all(one >= 0 for one in numbers), "replica_groups values must be positive")
    for one in numbers:
        _need(one <= top, f"replica_groups values must be in the range [0, {top}], got {one}")
    _need(len(set(numbers)) == len(numbers), "replica_groups must not contain duplicate values")


def _point_to_point(op: TableOp) -> None:
    if len(op.inputs) > 1:
        word = "Accum" if "accum_tensor" in {group.name for group in op.spec.operands} else "Optional output"
        same = shape_of(op.inputs[0]) == shape_of(op.inputs[1]) and _element(op.inputs[0]) == _element(op.inputs[1])
        _need(same, f"{word} tensor must match input tensor in shape and element type.")


def _experts(op: TableOp) -> None:
    _need(len(shape_of(op.inputs[0])) == 4, "input_tensor must be a 4D tensor")
    if op.name.endswith("dispatch"):
        _need(len(shape_of(op.inputs[1])) == 4, "expert_indices must be a 4D tensor")
    _need(op.get("num_devices") > 0, "num_devices must be positive")
    _need(op.get("cluster_axis") in (0, 1), "cluster_axis must be 0 or 1")
    if op.name.endswith("combine"):
        _need(op.get("num_experts_per_tok") > 0, "num_experts_per_tok must be positive")
        dim = op.get("output_shard_dim")
        if op.name.startswith("ttnn.") and dim is not None:
            _need(dim in (1, 2), f"output_shard_dim must be 1 or 2, got {dim}")


# Normalization, attention.


def _rms_norm(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    _need(shape == shape_of(op.results[0]), "input and output must have the same shape")
    parts = {name: op.operand(name) for name in ("weight", "bias")}
    if op.name.startswith("ttnn."):
        for name, value in parts.items():
            if value is None:
                continue
            if not shape:
                _need(not shape_of(value), f"{name} tensor must be 0D for 0D input tensor")
            else:
                _need(
                    shape_of(value) == shape[-1:],
                    f"{name} tensor must be 1D with size matching the last dimension of input",
                )
        return
    normal = tuple(op.get("normalized_shape"))
    _need(bool(normal), "normalized_shape cannot be empty")
    _need(len(normal) <= len(shape), "normalized_shape has more dimensions than input tensor")
    _need(
        shape[len(shape) - len(normal) :] == normal,
        "normalized_shape dimensions must match trailing dimensions of input tensor",
    )
    for name, value in parts.items():
        if value is not None:
            _need(shape_of(value) == normal, f"{name} tensor shape must match normalized_shape")


def _batch_norm(op: TableOp) -> None:
    if op.name.startswith("ttir."):
        rank = len(shape_of(op.inputs[0]))
        _need(2 <= rank <= 5, "input tensor must have rank between 2 and 5")
        _need(0 <= op.get("dimension") < rank, "dimension attribute must be within input rank bounds")


def _concatenate_heads(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    _need(len(shape) == 4, f"expected rank of input tensor is 4, got rank {len(shape)}")
    _need(len(result) == 3, f"expected rank of output tensor is 3, got rank {len(result)}")
    batch, heads, length, size = shape
    _need(result[0] == batch, f"expected output batch dimension to be {batch}, got {result[0]}")
    _need(result[1] == length, f"expected output sequence dimension to be {length}, got {result[1]}")
    _need(
        result[2] == heads * size,
        f"expected output hidden dimension to be num_heads * head_size = {heads * size}, got {result[2]}",
    )


def _nlp_concat_heads(op: TableOp) -> None:
    _four_d({"input tensor": op.inputs[0], "output tensor": op.results[0]})
    batch, heads, length, size = shape_of(op.inputs[0])
    want, result = (batch, 1, length, heads * size), shape_of(op.results[0])
    _need(result == want, f"expected output shape {_t(want)}, got {_t(result)}")


def _nlp_concat_heads_decode(op: TableOp) -> None:
    _four_d({"input tensor": op.inputs[0], "output tensor": op.results[0]})
    shape, result, heads = shape_of(op.inputs[0]), shape_of(op.results[0]), op.get("num_heads")
    _need(shape[0] == result[0], "input sequence dimension must match output sequence dimension")
    _need(heads <= shape[2], f"num_heads attribute must be less than or equal to input num_heads dimension {shape[2]}")
    _need(result[1] == 1, f"output dimension 1 must be 1, got {result[1]}")
    size = heads * shape[3]
    _need(
        result[3] == size,
        f"Output hidden dimension must equal num_heads * head_size, got num_heads = {heads}, head_size = {shape[3]}, "
        f"expected hidden size = {size}, actual output hidden size = {result[3]}",
    )


def _bitcast(op: TableOp) -> None:
    kinds = [value.type.element_type for value in (op.inputs[0], op.results[0]) if isinstance(value.type, TensorType)]
    widths = [re.search(r"\d+$", attribute_text(kind)) for kind in kinds]
    for word, width in zip(("Input", "Output"), widths, strict=True):
        _need(width is not None, f"{word} tensor type must be an integer or floating point type")
    _need(
        len({width.group() for width in widths if width is not None}) == 1,
        "Input and output tensor element types must have the same bit width",
    )


def _split_heads(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    _need(len(shape) == 3, f"expected rank of input tensor is 3, got rank {len(shape)}")
    ranks = [len(shape_of(value)) for value in op.results]
    _need(
        ranks == [4, 4, 4],
        f"expected rank of query/key/value output tensor is 4, got query rank: {ranks[0]}, key rank: {ranks[1]}, "
        f"value rank: {ranks[2]}",
    )
    heads = op.get("num_heads")
    pairs = op.get("num_kv_heads") or heads
    batch, length, hidden = shape
    size = hidden // (heads if len(op.inputs) > 1 else heads + 2 * pairs)
    key = (batch, pairs, size, length) if op.get("transpose_key") else (batch, pairs, length, size)
    wanted = {"query": (batch, heads, length, size), "key": key, "value": (batch, pairs, length, size)}
    for (name, want), value in zip(wanted.items(), op.results, strict=True):
        _need(shape_of(value) == want, f"expected {name} output shape {_t(want)}, got {_t(shape_of(value))}")


def _argmax(op: TableOp) -> None:
    if op.name.startswith("ttir."):
        dims = op.get("dim_arg")
        _need(
            dims is None or isinstance(dims, int) or len(dims) <= 1,
            f"can only reduce one dimension; number of specified dimensions: "
            f"{0 if dims is None or isinstance(dims, int) else len(dims)}.",
        )
        return
    rank, dim = len(shape_of(op.inputs[0])), op.get("dim")
    if dim is not None:
        _need(
            -rank <= dim < rank,
            f"dim attribute value {dim} is out of range for input tensor of rank {rank}, expected value in range "
            f"[{-rank}, {rank - 1}]",
        )


def _prod(op: TableOp) -> None:
    if op.name.startswith("ttnn."):
        _need(len(shape_of(op.inputs[0])) <= 4, "Input tensor rank is greater than 4 for reduce(product).")


def _pow_scalar(op: TableOp) -> None:
    value = op.get("rhs")
    _need(value >= 0, f"exponent must be non-negative; but got {value}")


# Quantization.


def _quantized(value: SSAValue) -> str:
    text = _element(value)
    return text if text.startswith("!quant.uniform") else ""


def _quantize(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    name = op.name.rpartition(".")[2].replace("_unrolled", "")
    source, target = _element(op.inputs[0]), _element(op.results[0])
    words = "must be UniformQuantizedType or UniformQuantizedPerAxisType, but got"
    floats = ("f32", "bf16", "f16", "f64")
    if name == "quantize":
        _need(source in floats, f"Input element type must be float, but got '{source}'")
        _need(bool(_quantized(op.results[0])), f"Output element type {words} '{target}'")
    elif name == "dequantize":
        _need(bool(_quantized(op.inputs[0])), f"Input element type {words} '{source}'")
        _need(target in floats, f"Output element type must be float, but got '{target}'")
    else:
        _need(bool(_quantized(op.inputs[0])), f"Input element type {words} '{source}'")
        _need(bool(_quantized(op.results[0])), f"Output element type {words} '{target}'")
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    _need(
        len(shape) == len(result),
        f"Input tensor rank of {len(shape)} does not match the output tensor rank of {len(result)}",
    )
    _need(
        shape == result,
        f"Output tensor shape {_c(result)} must match the inferred shape: {_c(shape)}",
    )


_STORAGE: Final = re.compile(r"!quant.uniform<([iu]\d+):")


def _unrolled(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    shape = shape_of(op.inputs[0])
    rank, axis = len(shape), op.get("axis")
    if axis is not None:
        _need(
            0 <= axis < rank,
            f"Axis value {axis} is out of the range [0, {rank}) for the input tensor of rank {rank}",
        )
        for scale in op.inputs[1::2]:
            count = math.prod(shape_of(scale))
            _need(
                count == shape[axis],
                f"Number of scales ({count}) does not match the size of the quantized axis ({shape[axis]})",
            )
    kind = _quantized(op.results[0]) or _quantized(op.inputs[0])
    storage = _STORAGE.match(kind)
    if storage is not None:
        width, signed = int(storage.group(1)[1:]), storage.group(1)[0] == "i"
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
        for point in op.inputs[2::2]:
            value = getattr(point.owner, "properties", {}).get("value")
            for one in value.elements() if isinstance(value, DenseAttr) else ():
                number = int(one) - (1 << 32 if int(one) >= 1 << 31 else 0)
                _need(
                    low <= number <= high,
                    f"Zero point {number} is out of the range for storage type '{storage.group(1)}'",
                )


_RULES: Final[dict[str, Rule]] = {
    "max_pool2d": _pool,
    "max_pool2d_with_indices": _pool,
    "avg_pool2d": _pool,
    "global_avg_pool2d": _global_pool,
    "conv2d": _conv2d,
    "conv_transpose2d": _conv_transpose2d,
    "upsample": _upsample,
    "upsample2d": _upsample,
    "slice_static": _slice_static,
    "slice_dynamic": _slice_dynamic,
    "index": _index,
    "index_select": _index_select,
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    "reverse": _reverse,
    "sort": _sort,
    "cumsum": _cumsum,
    "topk": _topk,
    "gather": _gather,
    "clamp_scalar": _clamp,
    "arange": _arange,
    "full": _full,
    "rand": _rand,
    "constant": _constant,
    "all_reduce": _all_reduce,
    "all_gather": _gather_dim,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "collective_permute": _collective_permute,
    "collective_broadcast": _collective_broadcast,
    "point_to_point": _point_to_point,
    "all_to_all_dispatch": _experts,
    "all_to_all_combine": _experts,
    "rms_norm": _rms_norm,
    "batch_norm_inference": _batch_norm,
    "batch_norm_training": _batch_norm,
    "concatenate_heads": _concatenate_heads,
    "nlp_concat_heads": _nlp_concat_heads,
    "nlp_concat_heads_decode": _nlp_concat_heads_decode,
    "bitcast_convert": _bitcast,
    "split_query_key_value_and_split_heads": _split_heads,
    "argmax": _argmax,
    "prod": _prod,
    "pow_scalar": _pow_scalar,
    "quantize": _quantize,
    "dequantize": _quantize,
    "requantize": _quantize,
    "quantize_unrolled": _unrolled,
    "dequantize_unrolled": _unrolled,
    "requantize_unrolled": _unrolled,
}


def check_later(op: TableOp) -> None:
    """Check an operation by the rules of its name.

    Raises:
        VerifyException: It breaks one.
    """
    dialect, _, name = op.name.partition(".")
    rule = _RULES.get(name) if dialect in ("ttir", "ttnn") else None
    if rule is not None and Epoch.BOOK not in op.spec.epochs:
        rule(op)


RULES.append(check_later)
