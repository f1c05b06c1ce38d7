"""Operations of 2024-09 binaries, upgraded to those of later binaries.

Binaries of 2024-09 describe tensors on the device without tiles where operations have put them into tiles; upgraded
tables have the description that a tensor has when the program runs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

from ttnn.base.exceptions import ShapeError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe, memory_config
from ttnn.compiler.conversion.ttnn_to_calls.handlers import HANDLERS
from ttnn.compiler.conversion.ttnn_to_calls.parts import Calls, Handler, in_rows
from ttnn.compiler.conversion.ttnn_to_calls.rows import function_of, row

__all__ = ["HANDLERS_2024_09", "upgraded"]

#: Names of fields that later binaries have renamed.
_FIELDS: Final = {"MatmulOp": {"in0": "a", "in1": "b"}}
_MOVES: Final = ("EmbeddingOp", "ToDeviceOp", "FromDeviceOp", "ToLayoutOp", "ToMemoryConfigOp")


def upgraded(kind: str, table: dict[str, Any], known: dict[int, Description]) -> tuple[str, dict[str, Any]]:
    """Return member and table of an operation as in later binaries.

    Args:
        kind: Member of the union `OpType`.
        table: Its table.
        known: Descriptions of tensors when the program runs, by number; that of the output is added.
    """

    def described(value: Any) -> Any:
        if isinstance(value, list):
            return [described(one) for one in value]
        if not isinstance(value, dict) or "desc" not in value:
            return value
        have = known.get(value["global_id"]) or describe(value)
        # Operators accept tensors in rows, and return tiles.
        return value | {"desc": have if kind in _MOVES else replace(have, tiled=True)}

    names = _FIELDS.get(kind, {})
    own = {names.get(name, name): described(value) for name, value in table.items() if name not in ("out", "output")}
    for name in ("kernel", "stride", "padding", "dilation"):
        if f"{name}_height" in table:
            own["kernel_size" if name == "kernel" else name] = [table[f"{name}_{side}"] for side in ("height", "width")]
    if kind == "EltwiseOp":
        inputs = own.pop("ins")
        kind = "EltwiseUnaryOp" if len(inputs) == 1 else "EltwiseBinaryOp"
        own |= zip(("in",) if len(inputs) == 1 else ("lhs", "rhs"), inputs, strict=False)
    elif kind == "MaxPool2dOp":
        kind, own["type"] = "Pool2dOp", "MaxPool2d"
    out = table.get("out", table.get("output"))
    if out is not None and "desc" in out:
        known[out["global_id"]] = want = _output(kind, own, describe(out))
        own["out"] = out | {"desc": want}
    return kind, own


def _output(kind: str, table: dict[str, Any], want: Description) -> Description:
    """Return the description of an output; binaries describe it after later moves."""
    if kind == "ToLayoutOp":
        if table["layout"] not in ("RowMajor", "Tile"):
            raise UnsupportedError(
                f"ToLayoutOp: layout {table['layout']} is not supported; there are RowMajor and Tile."
            )
        return replace(describe(table["in"]), data_type=want.data_type, tiled=table["layout"] == "Tile")
    if kind == "FromDeviceOp":
        return replace(describe(table["in"]), memory=None)
    if kind == "ToDeviceOp":
        have = describe(table["in"])
        memory = (want.in_tiles() if have.tiled else want).memory
        shard = memory.arguments[2] if memory is not None and len(memory.arguments) == 3 else None
        return replace(have, memory=memory_config(table.get("memcfg"), shard) or memory)
    return want if want.on_host else want.in_tiles()


def _to_layout(calls: Calls, table: dict[str, Any]) -> None:
    have, want = describe(table["in"]), describe(table["out"])
    cast = want.dtype if have.data_type != want.data_type else None
    calls.call("ttnn.to_layout", Ref(table["in"]["global_id"]), want.layout, out=table["out"]["global_id"], dtype=cast)


_MATMUL: Final = row("ttnn.matmul a b")


def _matmul(calls: Calls, table: dict[str, Any]) -> None:
    have, other = describe(table["a"]), describe(table["b"])
    if len(have.shape) > 1 and (math.prod(other.shape[:-2]) == 1 or have.shape[:-2] == other.shape[:-2]):
        _MATMUL(calls, table)
        return
    # A vector beside a stack of matrices, and stacks whose dimensions are repeated, become matrices first.
    want = describe(table["out"])
    vector = len(other.shape) == 1
    left = [1] * (2 - len(have.shape)) + list(have.shape)
    right = [*other.shape, 1] if vector else list(other.shape)
    rank = max(len(left), len(right))
    left = [1] * (rank - len(left)) + left
    right = [1] * (rank - len(right)) + right
    batch = [max(pair) for pair in zip(left[:-2], right[:-2], strict=True)]
    first = _repeated(calls, Ref(table["a"]["global_id"]), have.shape, left, batch)
    second = _repeated(calls, Ref(table["b"]["global_id"]), other.shape, right, batch)
    product = calls.call("ttnn.matmul", first, second, memory_config=want.memory)
    calls.call("ttnn.reshape", product, list(want.shape), out=table["out"]["global_id"])


def _repeated(calls: Calls, tensor: Ref, have: tuple[int, ...], shape: list[int], batch: list[int]) -> Ref:
    """A stack of matrices, repeated to the given batch dimensions."""
    if tuple(shape) != have:
        tensor = calls.call("ttnn.reshape", tensor, shape)
    repeats = [want // size for want, size in zip(batch, shape[:-2], strict=True)] + [1, 1]
    return calls.call("ttnn.repeat", tensor, repeats) if math.prod(repeats) > 1 else tensor


_REDUCTION: Final = row("ttnn.{type} in memory_config=out:memory dim=dim_arg?:numbers keepdim=keep_dim")


def _reduction(calls: Calls, table: dict[str, Any]) -> None:
    have, want, out = describe(table["in"]), describe(table["out"]), table["out"]["global_id"]
    dims = [int(dim) for dim in table["dim_arg"]] if "dim_arg" in table else None
    keep, rank = table["keep_dim"], len(have.shape)
    gone = {dim % rank for dim in dims} if dims is not None else set(range(rank))
    shape = tuple(1 if dim in gone else size for dim, size in enumerate(have.shape) if keep or dim not in gone)
    if shape == want.shape:
        _REDUCTION(calls, table)
        return
    function, tensor = f"ttnn.{function_of(table)}", Ref(table["in"]["global_id"])
    step = calls.call(function, tensor, dim=dims, keepdim=keep, memory_config=want.memory)
    if math.prod(shape) == math.prod(want.shape):
        calls.call("ttnn.reshape", step, list(want.shape), out=out)
    elif len(shape) == len(want.shape):
        # Modules of 2024 declare some reductions with the padding of their tiles, which is zero.
        padding = [(0, size - had) for size, had in zip(want.shape, shape, strict=True)]
        calls.call("ttnn.pad", step, padding, 0.0, out=out)
    else:
        raise ShapeError(f"a reduction to {list(shape)} is declared as {list(want.shape)}.")


def _embedding(calls: Calls, table: dict[str, Any]) -> None:
    """Embedding of converted indices and tables; the result is converted after."""
    want, out = describe(table["out"]), table["out"]["global_id"]
    operands = in_rows(calls, table["input"], "UInt32"), in_rows(calls, table["weight"], "BFloat16")
    same = want.data_type == "BFloat16"
    # A row of indices counts as a matrix of one row.
    flat = len(describe(table["input"]).shape) == 1
    placed = {"layout": want.layout, "memory_config": want.memory}
    found = calls.call("ttnn.embedding", *operands, out=out if same and not flat else None, **placed)
    if not same:
        found = calls.cast(found, "BFloat16", want.data_type, None if flat else out)
    if flat:
        calls.call("ttnn.reshape", found, list(want.shape), out=out)


HANDLERS_2024_09: Final[dict[str, Handler]] = {
    **HANDLERS,
    "Conv2dOp": row(
        "ttnn.conv2d input weight device=:device =in_channels =out_channels =batch_size =input_height =input_width "
        "=kernel_size =stride =padding =dilation =groups bias_tensor=bias?",
        flat=True,
    ),
    "DeallocOp": row("ttnn.deallocate in", returns=False),
    "EmbeddingOp": _embedding,
    "FromDeviceOp": row("ttnn.from_device in", like="out"),
    "MatmulOp": _matmul,
    "ReductionOp": _reduction,
    "SoftmaxOp": row("ttnn.softmax in dimension"),
    "ToDeviceOp": row("ttnn.to_device in :device memory_config=out:memory", like="out"),
    "ToLayoutOp": _to_layout,
}
"""Calls of upgraded tables, by the member of the union `OpType`."""
