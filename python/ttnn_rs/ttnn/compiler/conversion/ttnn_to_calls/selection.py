"""Calls of sorting, selection, scattering and dynamic slices, later versions.

Dynamic slices have tensor ends.
"""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument, Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe
from ttnn.compiler.conversion.ttnn_to_calls.parts import (
    DRAM,
    INTEGERS,
    L1,
    Calls,
    Handler,
    finish,
    in_rows,
    in_tiles,
    numbers,
    operand,
    place,
    several,
)
from ttnn.compiler.conversion.ttnn_to_calls.rows import row

__all__ = ["SELECTION"]

_SORTED: Final = ("BFloat16", "Float32", "UInt16")
_SCATTERED: Final = {"Sum": "add", "Prod": "multiply", "Min": "amin", "Max": "amax"}

_USERS: Final = 32
#: A score whose probability is zero beside any other.
_NEVER: Final = -1e30
#: Single slices that one slice with a negative step becomes.
_SLICES: Final = 1 << 14


def _index_type(width: int) -> str:
    """Return the type of indices along a dimension.

    16 bits while they suffice.
    """
    return "UInt16" if width < 1 << 16 else "UInt32"


def _sort(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    kind = have.data_type if have.data_type in _SORTED else "Float32"
    dim = int(table["dim"])
    made = [
        Description(have.shape, kind, True, DRAM),
        Description(have.shape, _index_type(have.shape[dim]), True, DRAM),
    ]
    tensor = in_tiles(calls, table["in"], kind)
    options = {"stable": bool(table.get("stable"))}
    several(calls, "ttnn.sort", [tensor, dim, bool(table["descending"])], options, table["outputs"], made)


def _topk(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["input_tensor"])
    kind = "Float32" if have.data_type in INTEGERS else have.data_type
    dim = int(table.get("dim", -1))
    shape = list(have.shape)
    shape[dim] = int(table["k"])
    made = [
        Description(tuple(shape), kind, True, DRAM),
        Description(tuple(shape), _index_type(have.shape[dim]), True, DRAM),
    ]
    tensor = in_tiles(calls, table["input_tensor"], kind)
    arguments = [tensor, int(table["k"]), dim, bool(table.get("largest", True)), bool(table.get("sorted", True))]
    several(calls, "ttnn.topk", arguments, {}, table["outputs"], made)


def _router(calls: Calls, table: dict[str, Any]) -> None:
    k = int(table["k"])
    shape = (*describe(table["input"]).shape[:-1], k)
    made = [Description(shape, kind, False, L1) for kind in ("UInt16", "BFloat16")]
    tensors = {
        name: in_tiles(calls, table[field], "BFloat16")
        for name, field in (("weight_tensor", "weight"), ("bias_tensor", "bias"))
    }
    options: dict[str, Argument] = {**tensors, "k": k, "num_experts": int(table["num_experts"])}
    outs = [table["expert_indices"], table["expert_weights"]]
    source = in_tiles(calls, table["input"], "BFloat16")
    several(calls, "ttnn.experimental.topk_router_gpt", [source], options, outs, made)


def _scatter(calls: Calls, table: dict[str, Any]) -> None:
    """Values and indices are in rows.

    In tiles the program supports neither float32 nor long rows of integers.
    """
    have = describe(table["input"])
    index = describe(table["index"])
    values = [in_rows(calls, table[name], have.data_type) for name in ("input", "source")]
    places = in_rows(calls, table["index"], index.data_type if index.data_type in INTEGERS else "UInt32")
    reduce = _SCATTERED.get(str(table.get("scatter_reduce_type", "Invalid")))
    rows = Description(have.shape, have.data_type, False, DRAM)
    parts: dict[str, Argument] = {"dim": int(table["dim"]), "index": places, "src": values[1], "reduce": reduce}
    finish(calls, table, "ttnn.scatter", rows, values[0], **parts)


def _slice(calls: Calls, table: dict[str, Any]) -> None:
    have, params = describe(table["in"]), table["params"]
    tensor: Argument = operand(table["in"])
    steps = numbers(table.get("step") or [1] * len(have.shape))
    if table["type"] == "SliceStaticOp":
        if min(steps, default=1) < 0 and 0 not in describe(table["out"]).shape:
            _slice_backwards(calls, table, steps)
            return
        ends: list[Argument] = [numbers(params["begins"]), numbers(params["ends"])]
        if 0 in describe(table["out"]).shape:
            # Slices of no elements may lie behind the tensor, which `ttnn.slice` refuses.
            sides = (params["begins"], params["ends"])
            ends = [[min(one, size) for one, size in zip(numbers(side), have.shape, strict=True)] for side in sides]
        finish(calls, table, "ttnn.slice", have, tensor, *ends, steps)
        return
    # Ends in tensors are read by the program; it takes rows of 32-bit integers.
    ends = [in_rows(calls, params[name], "UInt32") for name in ("begins", "ends")]
    finish(calls, table, "ttnn.slice", have, tensor, *ends, steps)


def _slice_backwards(calls: Calls, table: dict[str, Any], steps: list[int]) -> None:
    """The function steps forwards only.

    For a negative step single slices are joined, the last of them first.
    """
    have, want = describe(table["in"]), describe(table["out"])
    firsts, ends = (numbers(table["params"][name]) for name in ("begins", "ends"))
    for dim, (step, size, count) in enumerate(zip(steps, have.shape, want.shape, strict=True)):
        if step < 0:
            begin = firsts[dim] + size if firsts[dim] < 0 else firsts[dim]
            firsts[dim], ends[dim] = begin + (count - 1) * step, begin + 1
    made = calls.call("ttnn.slice", operand(table["in"]), firsts, ends, [abs(step) for step in steps])
    for dim, step in enumerate(steps):
        if step > 0 or want.shape[dim] == 1:
            continue
        if want.shape[dim] > _SLICES:
            raise UnsupportedError(
                f"a slice with step {step} of {want.shape[dim]} elements in dimension {dim} is not executed: "
                f"it is joined of single slices, of which {_SLICES} are possible."
            )
        parts = []
        for first in reversed(range(want.shape[dim])):
            begins = [first if one == dim else 0 for one in range(len(steps))]
            stops = [first + 1 if one == dim else count for one, count in enumerate(want.shape)]
            parts.append(calls.call("ttnn.slice", made, begins, stops, [1] * len(steps)))
        made = calls.call("ttnn.concat", parts, dim)
    place(
        calls, made, Description(want.shape, have.data_type, have.tiled, have.memory), table["out"]["global_id"], want
    )


def _embedding_backward(calls: Calls, table: dict[str, Any]) -> None:
    """Indices are [batch, row], gradients bfloat16 tiles of rank 4.

    Indices are in rows, with rows of a multiple of 32.
    """
    index, want = describe(table["input"]), describe(table["out"])
    width = describe(table["in_grad"]).shape[-1]
    count = math.prod(index.shape)
    indices = in_rows(calls, table["input"], "UInt32")
    if len(index.shape) != 2:
        indices = calls.call("ttnn.reshape", indices, [1, count])
    grad = in_tiles(calls, table["in_grad"], "BFloat16")
    if describe(table["in_grad"]).shape != (1, 1, count, width):
        grad = calls.call("ttnn.reshape", grad, [1, 1, count, width])
    weight = in_tiles(calls, table["weight"], "BFloat16")
    made = calls.call("ttnn.embedding_bw", indices, weight, grad)
    if want.shape != (1, 1, *want.shape[-2:]):
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, Description(want.shape, "BFloat16", True, DRAM), table["out"]["global_id"], want)


def _assign(calls: Calls, table: dict[str, Any]) -> None:
    number, want = table["output"]["global_id"], describe(table["output"])
    source = Ref(table["input"]["global_id"])
    made = calls.call("ttnn.assign", source, memory_config=describe(table["input"]).memory or DRAM)
    place(calls, made, describe(table["input"]), number, want)


def _sampling(calls: Calls, table: dict[str, Any]) -> None:
    """The program samples for 32 users from at least two tiles.

    Their number is a power of two.

    Scores that are added are too small to be drawn, users that are added have one score each that counts.
    """
    shape = describe(table["input_values"]).shape
    users, width = _USERS - shape[-2], max(64, 32 << (-(-shape[-1] // 32) - 1).bit_length()) - shape[-1]
    of_users = [(0, users)]
    around = [(0, 0), (0, 0), *of_users, (0, width)]
    index = describe(table["input_indices"])
    values = in_tiles(calls, table["input_values"], "BFloat16")
    indices = in_rows(calls, table["input_indices"], index.data_type if index.data_type in INTEGERS[:2] else "Int32")
    single = [
        in_rows(calls, table[name], kind) for name, kind in (("k", "UInt32"), ("p", "BFloat16"), ("temp", "BFloat16"))
    ]
    padded = users > 0
    if padded or width:
        values = calls.call("ttnn.pad", values, around, _NEVER)
        indices = calls.call("ttnn.pad", indices, around, 0)
    if padded:
        single = [
            calls.call("ttnn.pad", one, of_users, value) for one, value in zip(single, (1, 1.0, 1.0), strict=True)
        ]
    have = Description((1, 1, 1, _USERS), "UInt32", False, DRAM)
    seed = table.get("seed")
    made = calls.call("ttnn.sampling", values, indices, *single, seed=None if seed is None else int(seed))
    if padded:
        made = calls.call("ttnn.slice", made, [0, 0, 0, 0], [1, 1, 1, shape[-2]], [1, 1, 1, 1])
        have = Description((1, 1, 1, shape[-2]), "UInt32", False, DRAM)
    place(calls, made, have, table["out"]["global_id"], describe(table["out"]))


#: What each member of the union `OpType` adds.
SELECTION: Final[dict[str, Handler]] = {
    "AssignOp": _assign,
    "CumProdOp": row("ttnn.cumprod in dim:int"),
    "CumSumOp": row("ttnn.cumsum in dim:int"),
    "DropoutOp": row("ttnn.experimental.dropout in prob:float scale:float seed:int =use_per_device_seed?:true"),
    "EmbeddingBackwardOp": _embedding_backward,
    "GatherOp": row("ttnn.gather input dim:int =index:tiles/UInt32"),
    "MorehCumSumOp": row("ttnn.cumsum in dim:int"),
    "RandOp": row(
        "ttnn.rand out:sizes :device dtype=out:dtype layout=out:layout memory_config=out:memory =low?0.0:float "
        "=high?1.0:float =seed?0:int",
        like="out",
    ),
    "SamplingOp": _sampling,
    "ScatterOp": _scatter,
    "SliceOp": _slice,
    "SortOp": _sort,
    "TopKOp": _topk,
    "TopKRouterGptOp": _router,
}
