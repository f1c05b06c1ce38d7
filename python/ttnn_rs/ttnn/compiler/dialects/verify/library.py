"""Rules of `ttnn` result types, creation, normalization, matmuls.

Result types are checked against attributes.

Messages are those that tests of the compiler stack look for. Source: `lib/Dialect/TTNN/IR/TTNNOps.cpp` and
`include/ttmlir/Dialect/TTNN/Interfaces/TTNNTensorSpecInterface.h` of tt-mlir.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.dialects.basic_attributes import TileType
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.movement import topk
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    element_text,
    layout_of,
    need,
    require_4d,
    shape_of,
    tuple_text,
)
from ttnn.compiler.ir.xdsl_adapter import TensorType

__all__ = ["LIBRARY", "check_block_formats"]

_TILE: Final = 32


def check_block_formats(op: TableOp) -> None:
    """Check that block format tensors have their layout's tiles as elements.

    Raises:
        VerifyException: They differ.
    """
    for result in op.results if op.name.startswith("ttnn.") else ():
        layout, type_ = layout_of(result), result.type
        element = type_.element_type if isinstance(type_, TensorType) else None
        if layout is not None and isinstance(element, TileType):
            need(
                element.dtype == layout.dtype,
                "Output element type must match the scalar element type from encoding. Element type: "
                f"'{element_text(result)}', Scalar element type: '{layout.dtype}'.",
            )


def _rand(op: TableOp) -> None:
    need(op.get("low") < op.get("high"), "'low' value must be < 'high' value")
    size, result = getattr(op.properties.get("size"), "shape", ()), shape_of(op.results[0])
    need(
        tuple(size) == result,
        f"size argument does not match with output tensor shape. [Size = {tuple_text(size)}, output tensor shape = "
        f"{tuple_text(result)}]",
    )


def _constant(op: TableOp) -> None:
    layout = layout_of(op.results[0])
    if layout is None:
        return
    host, device = layout.space == "system_memory", op.operand("device") is not None
    need(host or device, "device operand must be specified for non-system memory buffer type")
    need(not host or not device, "device operand must not be specified for system memory buffer type")


def _clamp(op: TableOp) -> None:
    need(shape_of(op.inputs[0]) == shape_of(op.results[0]), "input and output must have same shape.")


def _assign(op: TableOp) -> None:
    same = shape_of(op.inputs[0]) == shape_of(op.results[0])
    need(same, "input and output tensor must have the same shape")
    need(
        element_text(op.inputs[0]) == element_text(op.results[0]),
        "output tensor data type does not match expected output data type",
    )


def _to_memory_config(op: TableOp) -> None:
    for word, value in (("Input", op.inputs[0]), ("Output", op.results[0])):
        need(layout_of(value) is not None, f"{word} tensor type missing layout attribute")


def _sparse_matmul(op: TableOp) -> None:
    a, b, sparsity = (shape_of(value) for value in op.inputs[:3])
    nnz = op.get("nnz")
    need(nnz is None or nnz > 0, "nnz must be greater than 0 when set")
    need(len(a) >= 4, "Input A must be at least a 4D tensor")
    need(len(b) == 4, "Input B must be a 4D tensor [1, E, K, N]")
    need(len(sparsity) == 4, "Sparsity tensor must be a 4D tensor")
    sparse = bool(op.get("is_input_a_sparse")), bool(op.get("is_input_b_sparse"))
    need(any(sparse), "At least one of is_input_a_sparse or is_input_b_sparse must be true")
    one, experts, inner, columns = b
    need(one == 1, "Input B first dimension must be 1")
    need(a[-1] == inner, "Input A inner dimension must match Input B K dimension")
    need(sparsity[-1] == experts, "Sparsity tensor last dimension must match number of experts in Input B")
    word, want, text = {
        (True, True): ("sparse-sparse", (1, experts, a[-2], columns), "[1, E, M, N]"),
        (False, True): ("dense-sparse", (a[0], a[1], 1, experts, a[-2], columns), "[A, B, 1, E, M, N]"),
        (True, False): ("sparse-dense", (a[0], experts, a[-2], columns), "[A, E, M, N]"),
    }[sparse]
    result = shape_of(op.results[0])
    need(len(result) == len(want), f"Output must be {len(want)}D for {word} mode")
    need(result == want, f"Output shape must be {text} for {word} mode")


# Normalization.


def _leading(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    for i in range(len(shape) - 1):
        need(shape[i] == result[i], f"output dimension {i} ({result[i]}) must match input dimension ({shape[i]})")


def _rms_before(op: TableOp) -> None:
    shape, residual = shape_of(op.inputs[0]), op.operand("residual")
    need(len(shape) >= 2, "input tensor must have rank greater than 1")
    need(len(shape) == len(shape_of(op.results[0])), "input rank must match the output rank")
    _leading(op)
    need(
        residual is None or shape_of(residual) == shape,
        "residual tensor shape must match the input tensor shape",
    )


def _layer_before(op: TableOp) -> None:
    shape, residual = shape_of(op.inputs[0]), op.operand("residual_input")
    need(len(shape) >= 2, "input tensor must have rank >= 2")
    need(residual is None or shape_of(residual) == shape, "residual_input shape must match input shape")
    need(len(shape) == len(shape_of(op.results[0])), "input and output must have the same rank")
    _leading(op)
    last, want = shape_of(op.results[0])[-1], 2 * _TILE
    need(
        last == want,
        f"output last dimension must be {want} (2 * TILE_WIDTH) for layernorm partial statistics, got {last}",
    )


def _layer_after(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    need(len(shape) >= 2, "input must have rank >= 2")
    need(len(shape_of(op.group("stats")[0])) >= 2, "stats must have rank >= 2")
    need(shape == shape_of(op.results[0]), "input and output must have the same shape")
    for name in ("weight", "bias"):
        value = op.operand(name)
        need(
            value is None or shape_of(value) == shape[-1:],
            f"{name} tensor must be 1D with size matching the last dimension of input",
        )


def _group_norm(op: TableOp) -> None:
    shape = shape_of(op.inputs[0])
    need(shape == shape_of(op.results[0]), "input and output must have the same shape")
    need(len(shape) == 4, f"input must be a 4D tensor [N, 1, H*W, C], got rank {len(shape)}")
    need(shape[1] == 1, f"input second dimension must be 1 for shape [N, 1, H*W, C], got {shape[1]}")
    groups, channels = op.get("num_groups"), shape[3]
    need(groups > 0, f"num_groups must be positive, got {groups}")
    need(
        channels % groups == 0,
        f"channel dimension (last dim) must be divisible by num_groups; got C={channels}, num_groups={groups}",
    )
    need(
        op.operand("input_mask") is None or channels % _TILE == 0,
        f"input_mask is not supported when channel dimension is not tile-aligned (multiple of 32); got C={channels}",
    )
    for name in ("weight", "bias"):
        value = op.operand(name)
        if value is None:
            continue
        one = shape_of(value)
        words = f"{name} must be either 1D [C] or 4D [1,1,C/32,32]"
        need(len(one) in (1, 4), f"{words}, got rank {len(one)}")
        if len(one) == 1:
            need(one[0] == channels, f"{name} must be 1D with size matching channel dimension C={channels}")
        else:
            need(one == (1, 1, channels // _TILE, _TILE), words)


# Indices.


def _scatter(op: TableOp) -> None:
    image, index, source = (shape_of(value) for value in op.inputs[:3])
    need(
        len(image) == len(index) == len(source),
        "Input tensor, index tensor, and source tensor must have the same rank. "
        f"Got input rank = {len(image)}, index rank = {len(index)}, source rank = {len(source)}",
    )
    need(index == source, "Index tensor must have the same shape as source tensor.")


def _gather(op: TableOp) -> None:
    kind = element_text(op.inputs[1])
    need(
        kind in ("ui16", "ui32", "si32", "i32"),
        f"Index tensor element type must be one of ui16, ui32, si32 or i32, got '{kind}'",
    )
    rank, index = len(shape_of(op.inputs[0])), len(shape_of(op.inputs[1]))
    need(
        rank == index,
        f"Input tensor and index tensor must have the same rank. Got input rank = {rank}, index rank = {index}",
    )
    need(rank >= 1, f"Input tensor and index tensor must have rank >= 1. Got rank = {rank}")
    dim = op.get("dim")
    need(-rank <= dim < rank, f"Dimension must be in the range [-{rank}, {rank}), got dim = {dim}")
    same = shape_of(op.inputs[1]) == shape_of(op.results[0])
    need(same, "Index tensor and result tensor must have the same shape.")


def _embedding_bw(op: TableOp) -> None:
    wide = "four_dimensional" in op.text.traits
    shape, weight, gradient = (shape_of(value) for value in op.inputs[:3])
    need(shape[-1] % _TILE == 0, "Input's last dim must be divisible by TILE_WIDTH")
    if wide:
        need(len(shape) == 4, "Input index tensor must be a 4D tensor")
        need(
            shape[1:3] == (1, 1),
            "Input index tensor dims 1 and 2 must be 1, got shape (B, ?, ?, N) where ? must be 1",
        )
    need(len(weight) == 2, "Input must be a 2D tensor")
    need(len(gradient) == 4, "Input gradient must be a 4D tensor")
    need(gradient[:2] == (1, 1), "Input gradient must be in the form (1, 1, R, C)")
    need(
        gradient[2] == math.prod(shape),
        "Input gradient first dimension must match the volume of the input tensor"
        if not wide
        else "Input gradient dim 2 must equal index_shape[0] * index_shape[-1]",
    )
    need(
        gradient[3] == weight[1],
        "Input gradient second dimension must match the second dimension of the weight tensor",
    )
    kinds = element_text(op.inputs[2]), element_text(op.results[0])
    need(kinds[0] == kinds[1], "Input gradient and output must have the same dtype")
    result = shape_of(op.results[0])
    if not wide:
        need(result == weight, "Output must have the same shape as weight")
        return
    want = (1, 1, *weight)
    need(want == result, f"expected output shape of {tuple_text(want)} but got {tuple_text(result)}")


def _pool(op: TableOp) -> None:
    require_4d({"input tensor": op.inputs[0]})


def _arange(op: TableOp) -> None:
    start, end, step = op.get("start"), op.get("end"), op.get("step")
    need(step != 0, "Step cannot be zero.")
    count = int((end - start) / step)
    need(count > 0, f"Invalid range: start={start}, end={end}, step={step}")
    result = shape_of(op.results[0])
    need(result == (count,), f"Output tensor shape must be {count}, but got {', '.join(map(str, result))}")


def _tt_lang(op: TableOp) -> None:
    need(bool(op.inputs), "tt-lang kernel must have at least one input operand.")
    roles = op.get("arg_roles")
    need(bool(roles), "`arg_roles` attribute must not be empty.")
    tokens = [token.strip() for token in roles.split(",")]
    need(
        len(tokens) == len(op.inputs),
        f"`arg_roles` token count ({len(tokens)}) must match number of inputs ({len(op.inputs)}).",
    )
    wrong = next((token for token in tokens if token not in ("in", "out")), None)
    need(wrong is None, f'`arg_roles` token must be "in" or "out", got: "{wrong}".')
    outs = tokens.count("out")
    need(
        tokens == ["in"] * (len(tokens) - outs) + ["out"] * outs,
        '`arg_roles` must list all "in" operands before any "out" operand (destination-passing-style ordering).',
    )
    need(
        outs == len(op.results),
        f'number of "out" roles ({outs}) must match number of results ({len(op.results)}).',
    )
    need(
        outs > 0,
        'tt-lang kernel must have at least one operand tagged "out" (the destination buffer the runtime returns as '
        "the kernel's output).",
    )
    for name in ("kernel_id", "version_tag"):
        need(bool(op.get(name)), f"`{name}` attribute must not be empty.")


LIBRARY: Final[dict[str, Rule]] = {
    "ttnn.rand": _rand,
    "ttnn.constant": _constant,
    "ttnn.clamp_scalar": _clamp,
    "ttnn.assign": _assign,
    "ttnn.to_memory_config": _to_memory_config,
    "ttnn.sparse_matmul": _sparse_matmul,
    "ttir.sparse_matmul": _sparse_matmul,
    "ttnn.rms_norm_pre_all_gather": _rms_before,
    "ttnn.layer_norm_pre_all_gather": _layer_before,
    "ttnn.layer_norm_post_all_gather": _layer_after,
    "ttnn.group_norm": _group_norm,
    "ttnn.scatter": _scatter,
    "ttnn.gather": _gather,
    "ttnn.topk": topk,
    "ttnn.embedding_bw": _embedding_bw,
    "ttnn.global_avg_pool2d": _pool,
    "ttnn.arange": _arange,
    "ttnn.tt_lang_op": _tt_lang,
    "ttir.tt_lang_op": _tt_lang,
}
"""By the full name of the operation."""
