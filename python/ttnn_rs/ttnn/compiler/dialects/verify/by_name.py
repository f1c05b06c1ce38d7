"""Rules of the operations of 2025-10 and 2026-08: normalization, attention, quantization.

Messages are those that tests of the compiler stack look for. Source: verifiers in `lib/Dialect/TTIR/IR/TTIROps.cpp` and
`lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
import re
from typing import Final

from ttnn.compiler.dialects.operations import RULES, TableOp
from ttnn.compiler.dialects.verify.attention import ATTENTION
from ttnn.compiler.dialects.verify.collectives import COLLECTIVES
from ttnn.compiler.dialects.verify.convolutions import CONVOLUTIONS
from ttnn.compiler.dialects.verify.library import LIBRARY, check_block_formats
from ttnn.compiler.dialects.verify.movement import MOVEMENT
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    element_text,
    list_text,
    need,
    require_4d,
    shape_of,
    tuple_text,
)
from ttnn.compiler.dialects.verify.traces import TRACES
from ttnn.compiler.dialects.verify.windows import WINDOWS, image_order
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType

__all__ = ["check_later"]


# Normalization, attention.


def _rms_norm(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    need(shape == shape_of(op.results[0]), "input and output must have the same shape")
    parts = {name: op.operand(name) for name in ("weight", "bias")}
    if op.name.startswith("ttnn."):
        for name, value in parts.items():
            if value is None:
                continue
            if not shape:
                need(not shape_of(value), f"{name} tensor must be 0D for 0D input tensor")
            else:
                need(
                    shape_of(value) == shape[-1:],
                    f"{name} tensor must be 1D with size matching the last dimension of input",
                )
        return
    normal = tuple(op.get("normalized_shape"))
    need(bool(normal), "normalized_shape cannot be empty")
    need(len(normal) <= len(shape), "normalized_shape has more dimensions than input tensor")
    need(
        shape[len(shape) - len(normal) :] == normal,
        "normalized_shape dimensions must match trailing dimensions of input tensor",
    )
    for name, value in parts.items():
        if value is not None:
            need(shape_of(value) == normal, f"{name} tensor shape must match normalized_shape")


def _batch_norm(op: TableOp) -> None:
    if op.name.startswith("ttir."):
        rank = len(shape_of(op.inputs[0]))
        need(2 <= rank <= 5, "input tensor must have rank between 2 and 5")
        need(0 <= op.get("dimension") < rank, "dimension attribute must be within input rank bounds")


def _concatenate_heads(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    need(len(shape) == 4, f"expected rank of input tensor is 4, got rank {len(shape)}")
    need(len(result) == 3, f"expected rank of output tensor is 3, got rank {len(result)}")
    batch, heads, length, size = shape
    need(result[0] == batch, f"expected output batch dimension to be {batch}, got {result[0]}")
    need(result[1] == length, f"expected output sequence dimension to be {length}, got {result[1]}")
    need(
        result[2] == heads * size,
        f"expected output hidden dimension to be num_heads * head_size = {heads * size}, got {result[2]}",
    )


def _nlp_concat_heads(op: TableOp) -> None:
    require_4d({"output tensor": op.results[0], "input tensor": op.inputs[0]})
    batch, heads, length, size = shape_of(op.inputs[0])
    want, result = (batch, 1, length, heads * size), shape_of(op.results[0])
    need(result == want, f"expected output shape {tuple_text(want)}, got {tuple_text(result)}")


def _nlp_concat_heads_decode(op: TableOp) -> None:
    require_4d({"input tensor": op.inputs[0], "output tensor": op.results[0]})
    shape, result, heads = shape_of(op.inputs[0]), shape_of(op.results[0]), op.get("num_heads")
    need(result[1] == 1, f"output dimension 1 must be 1, got {result[1]}")
    need(
        heads <= shape[2],
        "num_heads attribute must be less than or equal to input num_heads dimension, got num_heads = "
        f"{heads}, input num_heads dimension = {shape[2]}",
    )
    need(
        shape[0] == result[0],
        "input sequence dimension must match output sequence dimension, got input sequence size = "
        f"{shape[0]}, output sequence size = {result[0]}",
    )
    size = heads * shape[3]
    # The official message gives the heads of the input and those asked for in this order.
    need(
        result[3] == size,
        f"Output hidden dimension must equal num_heads * head_size, got num_heads = {shape[2]}, head_size = {heads}, "
        f"expected hidden size = {size}, actual output hidden size = {result[3]}",
    )


def _bitcast(op: TableOp) -> None:
    kinds = [value.type.element_type for value in (op.inputs[0], op.results[0]) if isinstance(value.type, TensorType)]
    widths = [re.search(r"\d+$", attribute_text(kind)) for kind in kinds]
    for word, width in zip(("Input", "Output"), widths, strict=True):
        need(width is not None, f"{word} tensor type must be an integer or floating point type")
    need(
        len({width.group() for width in widths if width is not None}) == 1,
        "Input and output tensor element types must have the same bit width",
    )


def _split_heads(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    need(len(shape) == 3, f"expected rank of input tensor is 3, got rank {len(shape)}")
    ranks = [len(shape_of(value)) for value in op.results]
    need(
        ranks == [4, 4, 4],
        f"expected rank of query/key/value output tensor is 4, got query rank: {ranks[0]}, key rank: {ranks[1]}, "
        f"value rank: {ranks[2]}",
    )
    heads = op.get("num_heads")
    pairs = op.get("num_kv_heads") or heads
    need(heads > 0 and pairs > 0, f"numbers of heads must be positive, got {heads} and {pairs}")
    batch, length, hidden = shape
    size = hidden // (heads if len(op.inputs) > 1 else heads + 2 * pairs)
    key = (batch, pairs, size, length) if op.get("transpose_key") else (batch, pairs, length, size)
    wanted = {"query": (batch, heads, length, size), "key": key, "value": (batch, pairs, length, size)}
    for (name, want), value in zip(wanted.items(), op.results, strict=True):
        got = shape_of(value)
        need(got == want, f"expected {name} output shape {tuple_text(want)}, got {tuple_text(got)}")


def _argmax(op: TableOp) -> None:
    if op.name.startswith("ttir."):
        dims = op.get("dim_arg")
        need(
            dims is None or isinstance(dims, int) or len(dims) <= 1 or "several_dims" in op.text.traits,
            f"can only reduce one dimension; number of specified dimensions: "
            f"{0 if dims is None or isinstance(dims, int) else len(dims)}.",
        )
        return
    rank, dim = len(shape_of(op.inputs[0])), op.get("dim")
    if dim is not None:
        need(
            -rank <= dim < rank,
            f"dim attribute value {dim} is out of range for input tensor of rank {rank}, expected value in range "
            f"[{-rank}, {rank - 1}]",
        )
    kept = (1,) if op.get("keep_dim") else ()
    shape = shape_of(op.inputs[0])
    want = kept * rank if dim is None else (*shape[: dim % rank], *kept, *shape[dim % rank + 1 :])
    result = shape_of(op.results[0])
    if "checked_shape" in op.text.traits:
        need(result == want, f"expected output shape {tuple_text(want)}, got {tuple_text(result)}")


def _prod(op: TableOp) -> None:
    if op.name.startswith("ttnn."):
        need(len(shape_of(op.inputs[0])) <= 4, "Input tensor rank is greater than 4 for reduce(product).")


def _pow_scalar(op: TableOp) -> None:
    value = op.get("rhs")
    need(value >= 0, f"exponent must be non-negative; but got {value}")


def _dot_general(op: TableOp) -> None:
    shapes = {side: shape_of(value) for side, value in zip(("lhs", "rhs"), op.inputs, strict=True)}
    sizes: dict[str, list[list[int]]] = {"batch": [], "contract": []}
    for side, shape in shapes.items():
        dims = [*op.get(f"batch_dims_{side}"), *op.get(f"contract_dims_{side}")]
        need(
            all(0 <= dim < len(shape) for dim in dims) and len(set(dims)) == len(dims),
            f"batch_dims_{side} and contract_dims_{side} must be different dimensions in range [0, {len(shape)}), "
            f"got {list_text(dims)}",
        )
        for kind, found in sizes.items():
            found.append([shape[dim] for dim in op.get(f"{kind}_dims_{side}")])
    for kind, (left, right) in sizes.items():
        need(left == right, f"{kind} dimensions must have equal sizes, got {list_text(left)} and {list_text(right)}")


# Quantization.


def _quantized(value: SSAValue) -> str:
    text = element_text(value)
    return text if text.startswith("!quant.uniform") else ""


def _quantize(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    name = op.name.rpartition(".")[2].replace("_unrolled", "")
    source, target = element_text(op.inputs[0]), element_text(op.results[0])
    words = "must be UniformQuantizedType or UniformQuantizedPerAxisType, but got"
    floats = ("f32", "bf16", "f16", "f64")
    if name == "quantize":
        need(source in floats, f"Input element type must be float, but got '{source}'")
        need(bool(_quantized(op.results[0])), f"Output element type {words} '{target}'")
    elif name == "dequantize":
        need(bool(_quantized(op.inputs[0])), f"Input element type {words} '{source}'")
        need(target in floats, f"Output element type must be float, but got '{target}'")
    else:
        need(bool(_quantized(op.inputs[0])), f"Input element type {words} '{source}'")
        need(bool(_quantized(op.results[0])), f"Output element type {words} '{target}'")
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    need(
        len(shape) == len(result),
        f"Input tensor rank of {len(shape)} does not match the output tensor rank of {len(result)}",
    )
    need(
        shape == result,
        f"Output tensor shape {list_text(result)} must match the inferred shape: {list_text(shape)}",
    )


_STORAGE: Final = re.compile(r"!quant.uniform<([iu]\d+):")


def _unrolled(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    shape = shape_of(op.inputs[0])
    rank, axis = len(shape), op.get("axis")
    if op.name == "ttir.requantize_unrolled":
        kinds = [element_text(value) for value in (op.inputs[0], op.results[0])]
        need(
            len({"{" in kind for kind in kinds}) == 1 and all(kind.startswith("!quant.uniform") for kind in kinds),
            "Input and output element types must both be per-axis or both be per-tensor quantized types, "
            f"but got '{kinds[0]}' and '{kinds[1]}'",
        )
    if axis is not None:
        need(
            0 <= axis < rank,
            f"Axis value {axis} is out of the range [0, {rank}) for the input tensor of rank {rank}",
        )
        for scale in op.inputs[1::2]:
            count = math.prod(shape_of(scale))
            need(
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
                need(
                    low <= number <= high,
                    f"Zero point {number} is out of the range for storage type '{storage.group(1)}'",
                )


_RULES: Final[dict[str, Rule]] = {
    **WINDOWS,
    **MOVEMENT,
    **COLLECTIVES,
    **ATTENTION,
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
    "dot_general": _dot_general,
    "quantize": _quantize,
    "dequantize": _quantize,
    "requantize": _quantize,
    "quantize_unrolled": _unrolled,
    "dequantize_unrolled": _unrolled,
    "requantize_unrolled": _unrolled,
}


_LIBRARY: Final[dict[str, Rule]] = {**CONVOLUTIONS, **LIBRARY, **TRACES}


def check_later(op: TableOp) -> None:
    """Check an operation by the rules of its name.

    Raises:
        VerifyException: It breaks one.
    """
    dialect, _, name = op.name.partition(".")
    if dialect not in ("ttir", "ttnn") or op.text.first:
        return
    check_block_formats(op)
    image_order(op)
    for rule in (_RULES.get(name), _LIBRARY.get(op.name)):
        if rule is not None:
            rule(op)


RULES.append(check_later)
