"""Calls of the operations of 2024-09.

Each function takes the table of an operation and adds calls. Operations are given their output; its description says
which data type and placement the result has.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

from ttnn.base.exceptions import ShapeError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, Argument, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe, dtype_name, memory_config
from ttnn.compiler.conversion.ttnn_to_calls.parts import Calls, Handler, place

__all__ = ["TT_HANDLERS"]


def _in(calls: Calls, reference: dict[str, Any]) -> tuple[Ref, Description]:
    """Number of an input, and how it is."""
    number = reference["global_id"]
    return Ref(number), calls.known.get(number) or describe(reference)


def _out(calls: Calls, reference: dict[str, Any]) -> tuple[int, Description]:
    """Output number of a tiled device operator, and its form."""
    number, want = reference["global_id"], describe(reference)
    if not want.on_host:
        want = want.in_tiles()
    calls.known[number] = want
    return number, want


def _get_device(calls: Calls, table: dict[str, Any]) -> None:
    """The device is an argument of every program."""


def _to_layout(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in"])
    number, want = table["out"]["global_id"], describe(table["out"])
    layout = {"RowMajor": "ttnn.ROW_MAJOR_LAYOUT", "Tile": "ttnn.TILE_LAYOUT"}.get(table["layout"])
    if layout is None:
        raise UnsupportedError(f"ToLayoutOp: layout {table['layout']} is not supported; there are RowMajor and Tile.")
    cast = want.dtype if have.data_type != want.data_type else None
    calls.call("ttnn.to_layout", tensor, Name(layout), out=number, dtype=cast)
    # The output is described as it will be after the transfer that follows.
    calls.known[number] = replace(have, data_type=want.data_type, tiled=table["layout"] == "Tile")


def _to_device(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in"])
    number, want = table["out"]["global_id"], describe(table["out"])
    if have.tiled:
        want = want.in_tiles()
    shard = want.memory.arguments[2] if want.memory is not None and len(want.memory.arguments) == 3 else None
    config = memory_config(table.get("memcfg"), shard) or want.memory
    calls.call("ttnn.to_device", tensor, DEVICE, out=number, memory_config=config)
    calls.known[number] = replace(have, memory=config)


def _from_device(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in"])
    number = table["out"]["global_id"]
    calls.call("ttnn.from_device", tensor, out=number)
    calls.known[number] = replace(have, memory=None)


def _to_memory_config(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in0"])
    out, want = _out(calls, table["out"])
    place(calls, tensor, have, out, want)


def _empty(calls: Calls, table: dict[str, Any]) -> None:
    out, want = _out(calls, table["out"])
    on_device = table.get("device") is not None and want.memory is not None
    calls.call(
        "ttnn.zeros",
        list(table.get("shape", [])),
        dtype_name(table["dtype"]),
        want.layout,
        out=out,
        device=DEVICE if on_device else None,
        memory_config=want.memory if on_device else None,
    )


def _full(calls: Calls, table: dict[str, Any]) -> None:
    out, want = _out(calls, table["out"])
    calls.call(
        "ttnn.full",
        list(want.shape),
        float(table["fill_value"]),
        want.dtype,
        want.layout,
        out=out,
        device=None if want.on_host else DEVICE,
        memory_config=want.memory,
    )


_ELTWISE: Final = {
    "Add": "add",
    "Multiply": "multiply",
    "Subtract": "subtract",
    "Relu": "relu",
    "GreaterEqual": "ge",
    "Sqrt": "sqrt",
    "Div": "divide",
    "Sigmoid": "sigmoid",
    "Reciprocal": "reciprocal",
    "Exp": "exp",
    "Maximum": "maximum",
    "Abs": "abs",
    "Neg": "neg",
    "Rsqrt": "rsqrt",
}


def finish(
    calls: Calls, function: str, have: str, table: dict[str, Any], *arguments: Argument, **keywords: Argument
) -> None:
    """Add a call with result type `have`, and output conversions.

    The output is that of the table.
    """
    out, want = _out(calls, table["out"])
    if have == want.data_type:
        calls.call(function, *arguments, out=out, memory_config=want.memory, **keywords)
        return
    step = calls.call(function, *arguments, memory_config=want.memory, **keywords)
    calls.cast(step, have, want.data_type, out)


def _eltwise(calls: Calls, table: dict[str, Any]) -> None:
    function = _ELTWISE.get(table["type"])
    if function is None:
        raise UnsupportedError(f"EltwiseOp: {table['type']} is not supported; there are {', '.join(_ELTWISE)}.")
    inputs = table["ins"]
    finish(
        calls,
        f"ttnn.{function}",
        _in(calls, inputs[0])[1].data_type,
        table,
        *(Ref(one["global_id"]) for one in inputs),
    )


def _matmul(calls: Calls, table: dict[str, Any]) -> None:
    first, have = _in(calls, table["in0"])
    second, other = _in(calls, table["in1"])
    if len(have.shape) > 1 and (math.prod(other.shape[:-2]) == 1 or have.shape[:-2] == other.shape[:-2]):
        finish(calls, "ttnn.matmul", have.data_type, table, first, second)
        return
    # The library takes no vector beside a stack of matrices, and repeats no dimension of one stack for the other.
    out, want = _out(calls, table["out"])
    vector = len(other.shape) == 1
    left = [1] * (2 - len(have.shape)) + list(have.shape)
    right = [*other.shape, 1] if vector else list(other.shape)
    rank = max(len(left), len(right))
    left = [1] * (rank - len(left)) + left
    right = [1] * (rank - len(right)) + right
    batch = [max(pair) for pair in zip(left[:-2], right[:-2], strict=True)]
    first = _repeated(calls, first, have.shape, left, batch)
    second = _repeated(calls, second, other.shape, right, batch)
    product = calls.call("ttnn.matmul", first, second, memory_config=want.memory)
    calls.call("ttnn.reshape", product, list(want.shape), out=out)


def _repeated(calls: Calls, tensor: Ref, have: tuple[int, ...], shape: list[int], batch: list[int]) -> Ref:
    """A stack of matrices, repeated to the given batch dimensions."""
    if tuple(shape) != have:
        tensor = calls.call("ttnn.reshape", tensor, shape)
    repeats = [want // size for want, size in zip(batch, shape[:-2], strict=True)] + [1, 1]
    return calls.call("ttnn.repeat", tensor, repeats) if math.prod(repeats) > 1 else tensor


def _reduction(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in"])
    function = {"Sum": "ttnn.sum", "Mean": "ttnn.mean", "Max": "ttnn.max"}[table["type"]]
    dims = [int(dim) for dim in table["dim_arg"]] if "dim_arg" in table else None
    out, want = _out(calls, table["out"])
    keep = table["keep_dim"]
    rank = len(have.shape)
    gone = {dim % rank for dim in dims} if dims is not None else set(range(rank))
    shape = tuple(1 if dim in gone else size for dim, size in enumerate(have.shape) if keep or dim not in gone)
    if shape == want.shape:
        finish(calls, function, have.data_type, table, tensor, dim=dims, keepdim=keep)
        return
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
    """Unsigned indices and bfloat16 tables on chip, else converted.

    Others are converted before, the result after.
    """
    indices, index = _in(calls, table["input"])
    weight, rows = _in(calls, table["weight"])
    out, want = _out(calls, table["output"])
    indices = calls.cast(indices, index.data_type, "UInt32")
    if index.tiled:
        indices = calls.call("ttnn.to_layout", indices, Name("ttnn.ROW_MAJOR_LAYOUT"))
    weight = calls.cast(weight, rows.data_type, "BFloat16")
    if rows.tiled:
        weight = calls.call("ttnn.to_layout", weight, Name("ttnn.ROW_MAJOR_LAYOUT"))
    same = want.data_type == "BFloat16"
    # A row of indices counts as a matrix of one row.
    flat = len(index.shape) == 1
    found = calls.call(
        "ttnn.embedding",
        indices,
        weight,
        out=out if same and not flat else None,
        layout=want.layout,
        memory_config=want.memory,
    )
    if not same:
        found = calls.cast(found, "BFloat16", want.data_type, None if flat else out)
    if flat:
        calls.call("ttnn.reshape", found, list(want.shape), out=out)


def _softmax(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in"])
    finish(calls, "ttnn.softmax", have.data_type, table, tensor, table["dimension"])


def _transpose(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in"])
    finish(calls, "ttnn.transpose", have.data_type, table, tensor, table["dim0"], table["dim1"])


def _concat(calls: Calls, table: dict[str, Any]) -> None:
    inputs = table["inputs"]
    parts = [Ref(one["global_id"]) for one in inputs]
    finish(calls, "ttnn.concat", _in(calls, inputs[0])[1].data_type, table, parts, table["dim"])


def _reshape(calls: Calls, table: dict[str, Any]) -> None:
    tensor, have = _in(calls, table["in"])
    finish(calls, "ttnn.reshape", have.data_type, table, tensor, [int(size) for size in table.get("shape", [])])


def sizes(table: dict[str, Any], name: str) -> list[int]:
    """Return height and width of a window's property."""
    return [table[f"{name}_height"], table[f"{name}_width"]]


def _conv2d(calls: Calls, table: dict[str, Any]) -> None:
    """Weights and bias stay where they are: the function prepares them."""
    tensor, have = _in(calls, table["input"])
    out, want = _out(calls, table["out"])
    bias = Ref(table["bias"]["global_id"]) if table.get("bias") else None
    counts = {
        name: table[name] for name in ("in_channels", "out_channels", "batch_size", "input_height", "input_width")
    }
    made = calls.call(
        "ttnn.conv2d",
        tensor,
        _in(calls, table["weight"])[0],
        device=DEVICE,
        **counts,
        kernel_size=sizes(table, "kernel"),
        stride=sizes(table, "stride"),
        padding=sizes(table, "padding"),
        dilation=sizes(table, "dilation"),
        groups=table["groups"],
        bias_tensor=bias,
    )
    interleaved = New("ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.INTERLEAVED"), Name("ttnn.BufferType.DRAM")))
    flat = (1, 1, want.shape[0] * want.shape[1] * want.shape[2], want.shape[3]) if len(want.shape) == 4 else want.shape
    result = Description(flat, have.data_type, tiled=True, memory=interleaved)
    if flat != want.shape:
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, result, out, want)


def _max_pool2d(calls: Calls, table: dict[str, Any]) -> None:
    """Pooling takes bfloat16; other types are converted before and after."""
    tensor, have = _in(calls, table["in"])
    out, want = _out(calls, table["out"])
    if have.on_host:
        tensor = calls.call("ttnn.to_device", tensor, DEVICE)
    tensor = calls.cast(tensor, have.data_type, "BFloat16")
    made = calls.call(
        "ttnn.max_pool2d",
        tensor,
        table["batch_size"],
        table["input_height"],
        table["input_width"],
        table["channels"],
        sizes(table, "kernel"),
        sizes(table, "stride"),
        sizes(table, "padding"),
        sizes(table, "dilation"),
        table["ceil_mode"],
        output_layout=Name("ttnn.TILE_LAYOUT"),
    )
    interleaved = New("ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.INTERLEAVED"), Name("ttnn.BufferType.DRAM")))
    flat = (1, 1, want.shape[0] * want.shape[1] * want.shape[2], want.shape[3]) if len(want.shape) == 4 else want.shape
    if flat != want.shape:
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, Description(want.shape, "BFloat16", tiled=True, memory=interleaved), out, want)


def _dealloc(calls: Calls, table: dict[str, Any]) -> None:
    calls.deallocate(table["in"])


#: What each member of the union `OpType` adds.
TT_HANDLERS: Final[dict[str, Handler]] = {
    "GetDeviceOp": _get_device,
    "ToMemoryConfigOp": _to_memory_config,
    "ToLayoutOp": _to_layout,
    "ToDeviceOp": _to_device,
    "FromDeviceOp": _from_device,
    "EmptyOp": _empty,
    "FullOp": _full,
    "EltwiseOp": _eltwise,
    "MatmulOp": _matmul,
    "ReductionOp": _reduction,
    "EmbeddingOp": _embedding,
    "SoftmaxOp": _softmax,
    "TransposeOp": _transpose,
    "Conv2dOp": _conv2d,
    "ConcatOp": _concat,
    "ReshapeOp": _reshape,
    "MaxPool2dOp": _max_pool2d,
    "DeallocOp": _dealloc,
}
