"""Rules of operations on several chips.

Messages are those that tests of the compiler stack look for. Source: verifiers in `lib/Dialect/TTIR/IR/TTIROps.cpp` and
`lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
import re
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    Shape,
    element_text,
    need,
    need_rank,
    shape_of,
)
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import TensorType

__all__ = ["COLLECTIVES", "dense_numbers"]


_REDUCTIONS: Final = ("sum", "max", "min")


def _reduce_type(op: TableOp, words: str) -> None:
    kind = op.properties.get("reduce_type")
    name = attribute_text(kind) if kind is not None else ""
    found = re.search(r"<(\w+)>", name)
    current = "reduce_type" in op.text.traits
    # The library of 2026-08 adds only.
    allowed = ("sum",) if current and op.name.startswith("ttnn.") else _REDUCTIONS
    word = "type" if current else "op"
    need(found is not None and found.group(1) in allowed, f"Invalid reduction {word} for {words}")


def _all_reduce(op: TableOp) -> None:
    _reduce_type(op, "all reduce op.")


def _gather_dim(op: TableOp) -> None:
    rank, dim = len(shape_of(op.inputs[0])), op.get("all_gather_dim")
    words = (
        "gather dimension for all reduce op. Gather"
        if op.name.startswith("ttnn.")
        else "dimension for all gather op. Gather"
    )
    need(
        -rank <= dim < rank,
        f"Invalid {words} dimension must be >= to input tensor rank or < -input tensor rank, got gather_dim = {dim}",
    )


def _reduce_scatter(op: TableOp) -> None:
    _reduce_type(op, "reduce scatter op.")
    rank, dim = len(shape_of(op.inputs[0])), op.get("scatter_dim")
    word = "scatter dimension" if op.name.startswith("ttnn.") else "dimension"
    need(
        -rank <= dim < rank,
        f"Invalid {word} for reduce scatter op. Scatter dimension must be >= to input tensor rank or < -input tensor "
        f"rank, got scatter_dim = {dim}",
    )


def _all_to_all(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    split, concat, count = op.get("split_dim"), op.get("concat_dim"), op.get("split_count")
    rank = len(shape)
    need(0 <= split < rank, f"splitDim must be in the range [0, {rank - 1}], got {split}")
    need(count > 0, "splitCount must be a positive integer")
    need(shape[split] % count == 0, "splitDim size must be divisible by splitCount")
    need(0 <= concat < rank, f"concatDim must be in the range [0, {rank - 1}], got {concat}")
    want = list(shape)
    want[split] //= count
    want[concat] *= count
    text = ["<" + ", ".join(map(str, one)) + ">" for one in (want, result)]
    need(list(result) == want, f"Output shape mismatch: expected = {text[0]} output = {text[1]}")
    need(element_text(op.inputs[0]) == element_text(op.results[0]), "Input and output element types must match")


def dense_numbers(op: TableOp, name: str) -> tuple[Shape, list[int]]:
    """Return shape and numbers of a dense attribute, row by row."""
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
    shape, numbers = dense_numbers(op, "source_target_pairs")
    need(len(shape) == 2, f"The rank of source target pairs must be 2, got rank = {len(shape)}")
    for side in (numbers[::2], numbers[1::2]):
        need(len(set(side)) == len(side), "There are duplicate 'src' or 'dest' devices in source target pairs")


def _collective_broadcast(op: TableOp) -> None:
    result = op.results[0].type
    output = op.outs[0].type if op.outs else result
    need(op.inputs[0].type == output, "input and output must have the same type")
    need(output == result, "output and result must have the same type")
    shape, numbers = dense_numbers(op, "replica_groups")
    need(len(shape) == 2, "replica_groups must be a 2D array")
    top = math.prod(shape) - 1
    need(all(one >= 0 for one in numbers), "replica_groups values must be positive")
    for one in numbers:
        need(one <= top, f"replica_groups values must be in the range [0, {top}], got {one}")
    need(len(set(numbers)) == len(numbers), "replica_groups must not contain duplicate values")


def _point_to_point(op: TableOp) -> None:
    if len(op.inputs) > 1:
        word = "Accum" if "accum_tensor" in {group.written for group in op.text.inputs} else "Optional output"
        first, second = op.inputs[:2]
        same = shape_of(first) == shape_of(second) and element_text(first) == element_text(second)
        need(same, f"{word} tensor must match input tensor in shape and element type.")


def _experts(op: TableOp) -> None:
    need(len(shape_of(op.inputs[0])) == 4, "input_tensor must be a 4D tensor")
    if op.name.endswith("dispatch"):
        need(len(shape_of(op.inputs[1])) == 4, "expert_indices must be a 4D tensor")
    need(op.get("num_devices") > 0, "num_devices must be positive")
    need(op.get("cluster_axis") in (0, 1), "cluster_axis must be 0 or 1")
    if op.name.endswith("combine"):
        need(op.get("num_experts_per_tok") > 0, "num_experts_per_tok must be positive")
        dim = op.get("output_shard_dim")
        if op.name.startswith("ttnn.") and dim is not None:
            need(dim in (1, 2), f"output_shard_dim must be 1 or 2, got {dim}")


def _dispatch_metadata(op: TableOp) -> None:
    ranks = {
        "input_tensor": (4, "[1, 1, M, H]"),
        "expert_indices": (4, "[1, 1, M, K]"),
        "expert_scores": (4, "[1, 1, M, K]"),
        "expert_mapping": (4, "[1, 1, D, E]") if op.name.startswith("ttir.") else (2, "[D, E]"),
    }
    for name, (rank, text) in ranks.items():
        need_rank(op.group(name)[0], rank, f"{name} must be a {rank}D tensor {text}")
    for word, letter, value in zip(("dispatched", "indices", "scores"), "HKK", op.results, strict=True):
        need_rank(value, 3, f"{word} output must be a 3D tensor [1, tokens_global, {letter}]")
    need(op.get("num_devices") > 0, "num_devices must be positive")
    need(op.get("cluster_axis") in (0, 1), "cluster_axis must be 0 or 1")


def _router(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    layouts = {"input": "[B, hidden_dim]", "weight": "[hidden_dim, num_experts]", "bias": "[B, num_experts]"}
    for name, text in layouts.items():
        rank = len(shape_of(op.group(name)[0]))
        need(rank == 2, f"{name} must be a 2D tensor {text}, but got rank {rank}")
    (batch, hidden), weight, bias = (shape_of(op.group(name)[0]) for name in layouts)
    need(weight[0] == hidden, f"weight dim 0 ({weight[0]}) must equal input hidden_dim ({hidden})")
    need(bias[0] == batch, f"bias dim 0 ({bias[0]}) must equal input batch size B ({batch})")
    need(bias[1] == weight[1], f"bias dim 1 ({bias[1]}) must equal weight num_experts ({weight[1]})")
    experts, k = op.get("num_experts"), op.get("k")
    need(experts > 0, f"num_experts must be positive, but got: {experts}")
    need(experts == weight[1], f"num_experts attribute ({experts}) must equal weight dim 1 ({weight[1]})")
    need(k > 0, f"k must be positive, but got: {k}")
    results = dict(zip(("expert_indices", "expert_weights"), map(shape_of, op.results), strict=True))
    for name, shape in results.items():
        need(len(shape) == 2, f"{name} must be a 2D tensor [B, k], but got rank {len(shape)}")
    for name, shape in results.items():
        need(shape[0] == batch, f"{name} dim 0 ({shape[0]}) must equal input batch size B ({batch})")
        need(shape[1] == k, f"{name} dim 1 ({shape[1]}) must equal k ({k})")


def _remap(op: TableOp) -> None:
    ranks = {"topk_tensor": "[D, B, S, E]", "expert_mapping": "[1, 1, E, D]", "expert_metadata": "[D, B, S, K]"}
    for name, text in ranks.items():
        need_rank(op.group(name)[0], 4, f"{name} must be a 4D tensor {text}")
    for word, value in zip(("mapping", "reduced"), op.results, strict=True):
        need_rank(value, 4, f"{word} output must be a 4D tensor")
    need(op.get("reduction_size") > 0, "reduction_size must be positive")


def _moe_gpt(op: TableOp) -> None:
    shapes = {}
    for name in ("w0_w1_tensor", "w2_tensor"):
        need_rank(op.group(name)[0], 6, f"{name} must be a rank 6 tensor")
        shapes[name] = shape_of(op.group(name)[0])
    for name, shape in shapes.items():
        need(shape[5] == 128, f"{name} dim[5] must be 128 (4*TILE_SIZE)")
    first, second = shapes.values()
    need(first[0] == second[0], "w0_w1_tensor and w2_tensor must have same dim[0] (num_cores)")
    need(first[2] == second[2], "w0_w1_tensor and w2_tensor must have same dim[2] (experts_per_device)")
    for name in ("expert_indices", "expert_scores"):
        need(len(shape_of(op.group(name)[0])) >= 2, f"{name} must have rank >= 2")


def _multiple(op: TableOp, *names: str) -> None:
    for name in names:
        size = op.get(name)
        need(size > 0 and size % 32 == 0, f"{name} must be a positive multiple of 32")


def _expert_weights(op: TableOp) -> None:
    _multiple(op, "hidden_size", "intermediate_size")
    if op.name.endswith("w0_w1_weights"):
        both = [op.operand(name) is None for name in ("bias_0", "bias_1")]
        need(both[0] == both[1], "bias_0 and bias_1 must be both present or both absent")


def _moe_compute(op: TableOp) -> None:
    _multiple(op, "intermediate_size")
    need(op.get("output_height_shard_dim") > 0, "output_height_shard_dim must be positive")
    shape = shape_of(op.inputs[0])
    need(len(shape) >= 2, "tilize_input_tensor must have rank >= 2")
    need(
        shape[-1] > 0 and shape[-1] % 32 == 0,
        "tilize_input_tensor last dim (hidden_size) must be a positive multiple of 32",
    )


COLLECTIVES: Final[dict[str, Rule]] = {
    "topk_router_gpt": _router,
    "all_reduce": _all_reduce,
    "all_gather": _gather_dim,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "collective_permute": _collective_permute,
    "collective_broadcast": _collective_broadcast,
    "point_to_point": _point_to_point,
    "all_to_all_dispatch": _experts,
    "all_to_all_combine": _experts,
    "all_to_all_dispatch_metadata": _dispatch_metadata,
    "moe_expert_token_remap": _remap,
    "moe_gpt": _moe_gpt,
    "moe_compute": _moe_compute,
    "prepare_moe_compute_w0_w1_weights": _expert_weights,
    "prepare_moe_compute_w2_weights": _expert_weights,
}
