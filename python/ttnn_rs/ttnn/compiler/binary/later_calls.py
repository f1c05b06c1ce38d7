"""What the operations of the later epochs call. Descriptions say data type, layout and memory of each result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.binary.book_calls import Calls, Handler, describe_type, place
from ttnn.compiler.binary.calls import DEVICE, PROGRAM, Argument, Call, Name, New, Ref
from ttnn.compiler.binary.descriptions import Description, describe

__all__ = ["LATER"]

_DRAM: Final = New("ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.INTERLEAVED"), Name("ttnn.BufferType.DRAM")))
_UNARY: Final = {
    "IsFinite": "isfinite",
    "LogicalNot": "logical_not",
    "LeakyRelu": "leaky_relu",
    "BitwiseNot": "bitwise_not",
}
_BINARY: Final = {
    "Equal": "eq",
    "NotEqual": "ne",
    "GreaterEqual": "ge",
    "GreaterThan": "gt",
    "LessEqual": "le",
    "LessThan": "lt",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
    "LogicalXor": "logical_xor",
    "LogicalRightShift": "logical_right_shift",
    "LogicalLeftShift": "logical_left_shift",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
}
_ARRAYS: Final = {
    "Float32": np.float32,
    "BFloat16": ml_dtypes.bfloat16,
    "Int32": np.int32,
    "UInt32": np.uint32,
    "UInt16": np.uint16,
    "UInt8": np.uint8,
}


def _tensor(reference: dict[str, Any] | None) -> Ref | None:
    return None if reference is None else Ref(reference["global_id"])


def _finish(
    calls: Calls,
    table: dict[str, Any],
    function: str,
    have: Description,
    *arguments: Argument,
    data_type: str | None = None,
    out: str = "out",
    placed: bool = True,
    **keywords: Argument,
) -> None:
    """Add a call, and what brings its result to the description of the output.

    Args:
        calls: Where to add it.
        table: The operation.
        function: Public name.
        have: The first operand: the result has its data type and layout, unless `data_type` says otherwise.
        arguments: Of the function.
        data_type: Of the result.
        out: Field of the output.
        placed: Whether the function takes `memory_config`.
        keywords: Of the function.
    """
    number, want = table[out]["global_id"], describe(table[out])
    if placed and want.memory is not None:
        keywords["memory_config"] = want.memory
    memory = want.memory if placed and want.memory is not None else _DRAM
    result = Description(want.shape, data_type or have.data_type, have.tiled, memory)
    if (result.data_type, result.tiled, result.memory) == (want.data_type, want.tiled, want.memory):
        calls.call(function, *arguments, out=number, **keywords)
        return
    place(calls, calls.call(function, *arguments, **keywords), result, number, want)


def _compute(table: dict[str, Any]) -> New | None:
    """The compute configuration of an operation, or None."""
    config = table.get("compute_config")
    if not config:
        return None
    fields: list[tuple[str, Argument]] = []
    if "math_fidelity" in config:
        fields.append(("math_fidelity", Name(f"ttnn.MathFidelity.{config['math_fidelity']}")))
    names = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")
    fields += [(name, bool(config[name])) for name in names if name in config]
    return New("ttnn.WormholeComputeKernelConfig", (), tuple(fields))


def _unary(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    kind = table["type"]
    function = f"ttnn.{_UNARY.get(kind, kind.lower())}"
    extra = [float(table["params"]["parameter"])] if kind == "LeakyRelu" else []
    _finish(calls, table, function, have, _tensor(table["in"]), *extra)


def _number(table: dict[str, Any], name: str) -> float | int:
    value = table[name]
    number: float | int = value["value"] if isinstance(value, dict) else value
    return number


def _unary_composite(calls: Calls, table: dict[str, Any]) -> None:
    have, kind = describe(table["in"]), table["type"]
    if kind == "ClampScalar":
        ends: list[Argument] = [_number(table["params"], "min"), _number(table["params"], "max")]
        _finish(calls, table, "ttnn.clamp", have, _tensor(table["in"]), *ends)
    elif kind == "ClampTensor":
        ends = [_tensor(table["params"]["min"]), _tensor(table["params"]["max"])]
        _finish(calls, table, "ttnn.clamp", have, _tensor(table["in"]), *ends)
    else:
        _finish(calls, table, f"ttnn.{kind.lower()}", have, _tensor(table["in"]))


def _binary(calls: Calls, table: dict[str, Any]) -> None:
    have, kind = describe(table["lhs"]), table["type"]
    wanted = table.get("output_dtype")
    function = f"ttnn.{_BINARY.get(kind, kind.lower())}"
    dtype = describe_type(wanted) if wanted is not None and wanted != have.data_type else None
    operands = _tensor(table["lhs"]), _tensor(table["rhs"])
    _finish(calls, table, function, have, *operands, data_type=wanted or have.data_type, dtype=dtype)


def _binary_composite(calls: Calls, table: dict[str, Any]) -> None:
    have, kind = describe(table["lhs"]), table["type"]
    function = f"ttnn.{_BINARY.get(kind, kind.lower())}"
    _finish(calls, table, function, have, _tensor(table["lhs"]), _tensor(table["rhs"]))


def _pow_scalar(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["lhs"])
    _finish(calls, table, "ttnn.pow", have, _tensor(table["lhs"]), _number(table, "rhs"))


def _where(calls: Calls, table: dict[str, Any]) -> None:
    operands = [_tensor(table[name]) for name in ("first", "second", "third")]
    _finish(calls, table, "ttnn.where", describe(table["second"]), *operands)


def _reduction(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    dims = [int(dim) for dim in table["dim_arg"]] if "dim_arg" in table else None
    function = f"ttnn.{table['type'].lower()}"
    tensor, keep = _tensor(table["in"]), table["keep_dim"]
    _finish(calls, table, function, have, tensor, dim=dims, keepdim=keep, compute_kernel_config=_compute(table))


def _argmax(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    tensor: Argument = _tensor(table["in"])
    rows = Description(have.shape, have.data_type, False, _DRAM)
    if have.tiled:
        tensor = calls.call("ttnn.to_layout", tensor, rows.layout)
    _finish(
        calls, table, "ttnn.argmax", rows, tensor, data_type="UInt32", dim=table.get("dim"), keepdim=table["keep_dim"]
    )


def _prod(calls: Calls, table: dict[str, Any]) -> None:
    have, dim = describe(table["in"]), table.get("dim_arg")
    _finish(calls, table, "ttnn.prod", have, _tensor(table["in"]), dim=dim, keepdim=table["keep_dim"])


def _softmax(calls: Calls, table: dict[str, Any]) -> None:
    have, config = describe(table["in"]), _compute(table)
    stable = bool(table.get("numeric_stable", False))
    arguments = _tensor(table["in"]), table["dimension"]
    _finish(calls, table, "ttnn.softmax", have, *arguments, numeric_stable=stable, compute_kernel_config=config)


def _matmul(calls: Calls, table: dict[str, Any]) -> None:
    if table.get("matmul_program_config") is not None:
        raise UnsupportedError("a matmul_program_config of a binary is not executed.")
    have = describe(table["a"])
    options: dict[str, Argument] = {name: True for name in ("transpose_a", "transpose_b") if table.get(name)}
    options["compute_kernel_config"] = _compute(table)
    options["activation"] = table.get("activation") or None
    bias = _tensor(table.get("bias"))
    function = "ttnn.linear" if bias is not None else "ttnn.matmul"
    if bias is not None:
        options["bias"] = bias
    _finish(calls, table, function, have, _tensor(table["a"]), _tensor(table["b"]), **options)


def _transpose(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    _finish(calls, table, "ttnn.transpose", have, _tensor(table["in"]), table["dim0"], table["dim1"])


def _permute(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    order = [int(dim) for dim in table["permutation"]]
    _finish(calls, table, "ttnn.permute", have, _tensor(table["in"]), order)


def _concat(calls: Calls, table: dict[str, Any]) -> None:
    parts = [_tensor(one) for one in table["inputs"]]
    _finish(calls, table, "ttnn.concat", describe(table["inputs"][0]), parts, table["dim"])


def _reshape(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    shape = [int(size) for size in table.get("shape", [])]
    _finish(calls, table, "ttnn.reshape", have, _tensor(table["in"]), shape)


def _repeat(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    times = [int(count) for count in table["repeat_dims"]]
    _finish(calls, table, "ttnn.repeat", have, _tensor(table["in"]), times)


def _repeat_interleave(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["input"])
    _finish(calls, table, "ttnn.repeat_interleave", have, _tensor(table["input"]), table["repeats"], table["dim"])


def _pad(calls: Calls, table: dict[str, Any]) -> None:
    have, sizes = describe(table["in"]), [int(size) for size in table["padding"]]
    pairs = list(zip(sizes[::2], sizes[1::2], strict=True))
    tensor: Argument = _tensor(table["in"])
    if have.tiled and any(before for before, _ in pairs):
        # Elements before the first need rows.
        have = Description(have.shape, have.data_type, False, _DRAM)
        tensor = calls.call("ttnn.to_layout", tensor, have.layout)
    _finish(calls, table, "ttnn.pad", have, tensor, pairs, float(table["value"]))


def _slice(calls: Calls, table: dict[str, Any]) -> None:
    if table["type"] != "SliceStaticOp":
        raise UnsupportedError("slices whose ends are tensors are not executed.")
    have, params = describe(table["in"]), table["params"]
    ends = [int(one) for one in params["begins"]], [int(one) for one in params["ends"]]
    _finish(calls, table, "ttnn.slice", have, _tensor(table["in"]), *ends, [int(one) for one in table["step"]])


def _embedding(calls: Calls, table: dict[str, Any]) -> None:
    index, rows, want = describe(table["input"]), describe(table["weight"]), describe(table["out"])
    indices: Ref = Ref(table["input"]["global_id"])
    weight: Ref = Ref(table["weight"]["global_id"])
    indices = calls.cast(indices, index.data_type, "UInt32")
    row_major = Name("ttnn.ROW_MAJOR_LAYOUT")
    if index.tiled:
        indices = calls.call("ttnn.to_layout", indices, row_major)
    weight = calls.cast(weight, rows.data_type, "BFloat16")
    if rows.tiled:
        weight = calls.call("ttnn.to_layout", weight, row_major)
    made = calls.call("ttnn.embedding", indices, weight, layout=want.layout)
    if len(index.shape) == 1:
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, Description(want.shape, "BFloat16", want.tiled, _DRAM), table["out"]["global_id"], want)


def _moved(name: str) -> Handler:
    """A change of layout, data type or place: the output's description says which."""

    def add(calls: Calls, table: dict[str, Any]) -> None:
        reference = table[name]
        number, want = table["out"]["global_id"], describe(table["out"])
        place(calls, Ref(reference["global_id"]), describe(reference), number, want)

    return add


def _created(function: str) -> Callable[[Calls, dict[str, Any], list[Argument]], None]:
    def add(calls: Calls, table: dict[str, Any], values: list[Argument]) -> None:
        number, want = table["out"]["global_id"], describe(table["out"])
        device = None if want.on_host else DEVICE
        arguments = [*values, want.dtype, want.layout]
        calls.call(function, *arguments, out=number, device=device, memory_config=want.memory)

    return add


def _empty(calls: Calls, table: dict[str, Any]) -> None:
    _created("ttnn.zeros")(calls, table, [list(describe(table["out"]).shape)])


def _named_full(calls: Calls, table: dict[str, Any]) -> None:
    _created("ttnn.zeros" if table["type"] == "Zeros" else "ttnn.ones")(
        calls, table, [list(describe(table["out"]).shape)]
    )


def _full(calls: Calls, table: dict[str, Any]) -> None:
    _created("ttnn.full")(calls, table, [list(describe(table["out"]).shape), _number(table, "fill_value")])


def _arange(calls: Calls, table: dict[str, Any]) -> None:
    number, want = table["out"]["global_id"], describe(table["out"])
    ends = [int(table[name]) for name in ("start", "end", "step")]
    made = calls.call("ttnn.arange", *ends, dtype=want.dtype, device=DEVICE)
    have = Description(want.shape, want.data_type, False, _DRAM)
    place(calls, made, have, number, want)


def _constant(calls: Calls, table: dict[str, Any]) -> None:
    number, want = table["out"]["global_id"], describe(table["out"])
    stored = str(table.get("input_dtype", want.data_type))
    if stored not in _ARRAYS:
        raise UnsupportedError(f"a constant of {stored} is not executed; there are {', '.join(_ARRAYS)}.")
    data = table.get("input", table.get("data", b""))
    values = np.frombuffer(data, dtype=_ARRAYS[stored])
    if values.size not in (1, math.prod(want.shape)):
        raise ValueError(f"a constant has {values.size} values for the shape {want.shape}")
    plain = [float(one) for one in values] if stored in ("Float32", "BFloat16") else [int(one) for one in values]
    if len(plain) == 1 and math.prod(want.shape) != 1:
        _created("ttnn.full")(calls, table, [list(want.shape), plain[0]])
        return
    made = calls.call("ttnn.from_buffer", plain, list(want.shape), describe_type(stored), DEVICE)
    place(calls, made, Description(want.shape, stored, False, _DRAM), number, want)


def _conv2d(calls: Calls, table: dict[str, Any]) -> None:
    """Weights may be anywhere: the function prepares them."""
    if table.get("conv2d_config") and set(table["conv2d_config"]) & {"activation", "weights_dtype"}:
        raise UnsupportedError("activation and weights_dtype of a conv2d_config of a binary are not executed.")
    have, want = describe(table["input"]), describe(table["out"])
    names = ("in_channels", "out_channels", "batch_size", "input_height", "input_width", "groups")
    facts: dict[str, Argument] = {name: table[name] for name in names}
    facts |= {name: [int(one) for one in table[name]] for name in ("kernel_size", "stride", "padding", "dilation")}
    if len(facts["padding"]) == 4:
        top, left, bottom, right = facts["padding"]
        facts["padding"] = [top, bottom, left, right]
    made = calls.call(
        "ttnn.conv2d",
        _tensor(table["input"]),
        _tensor(table["weight"]),
        device=DEVICE,
        bias_tensor=_tensor(table.get("bias")),
        compute_config=_compute(table),
        **facts,
    )
    _images(calls, made, have.data_type, table, want)


def _images(calls: Calls, made: Ref, data_type: str, table: dict[str, Any], want: Description) -> None:
    """Bring the flat result of a window operator to its description."""
    flat = (1, 1, math.prod(want.shape[:-1]), want.shape[-1])
    if flat != want.shape:
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, Description(want.shape, data_type, True, _DRAM), table["out"]["global_id"], want)


def _pool2d(calls: Calls, table: dict[str, Any]) -> None:
    """Pooling takes bfloat16; other types are converted before and after."""
    have, want = describe(table["in"]), describe(table["out"])
    tensor = calls.cast(Ref(table["in"]["global_id"]), have.data_type, "BFloat16")
    numbers = [table[name] for name in ("batch_size", "input_height", "input_width", "channels")]
    kernel, stride, padding, dilation = (
        [int(one) for one in table[name]] for name in ("kernel_size", "stride", "padding", "dilation")
    )
    if len(padding) == 4:
        top, left, bottom, right = padding
        padding = [top, bottom, left, right]
    tiles = Name("ttnn.TILE_LAYOUT")
    if table["type"] == "MaxPool2d":
        windows = [kernel, stride, padding, dilation]
        made = calls.call("ttnn.max_pool2d", tensor, *numbers, *windows, table["ceil_mode"], output_layout=tiles)
    else:
        counted = bool(table.get("extra_params", {}).get("count_include_pad", True))
        windows = [kernel, stride, padding]
        made = calls.call(
            "ttnn.avg_pool2d", tensor, *numbers, *windows, table["ceil_mode"], counted, output_layout=tiles
        )
    _images(calls, made, "BFloat16", table, want)


def _global_avg_pool2d(calls: Calls, table: dict[str, Any]) -> None:
    _finish(calls, table, "ttnn.global_avg_pool2d", describe(table["in"]), _tensor(table["in"]))


def _upsample(calls: Calls, table: dict[str, Any]) -> None:
    have, scale = describe(table["in"]), table["scale_factor"]["scale"]
    tensor: Argument = _tensor(table["in"])
    rows = Description(have.shape, have.data_type, False, _DRAM)
    if have.tiled:
        tensor = calls.call("ttnn.to_layout", tensor, rows.layout)
    factor = [int(one) for one in scale] if isinstance(scale, list) else int(scale)
    _finish(calls, table, "ttnn.upsample", rows, tensor, factor, mode=table.get("mode") or "nearest")


def _cumsum(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    _finish(calls, table, "ttnn.cumsum", have, _tensor(table["in"]), int(table["dim"]))


def _norm(function: str) -> Handler:
    def add(calls: Calls, table: dict[str, Any]) -> None:
        have = describe(table["input"])
        parts = {name: _tensor(table.get(name)) for name in ("weight", "bias")}
        config = _compute(table)
        options: dict[str, Argument] = {"epsilon": float(table["epsilon"]), "compute_kernel_config": config, **parts}
        _finish(calls, table, function, have, _tensor(table["input"]), **options)

    return add


def _batch_norm(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["input"])
    names = ("running_mean", "running_var", "weight", "bias")
    options: dict[str, Argument] = {name: _tensor(table.get(name)) for name in names}
    _finish(calls, table, "ttnn.batch_norm", have, _tensor(table["input"]), eps=float(table["epsilon"]), **options)


def _gather(calls: Calls, table: dict[str, Any]) -> None:
    have, index = describe(table["input"]), describe(table["index"])
    places = calls.cast(Ref(table["index"]["global_id"]), index.data_type, "UInt32")
    _finish(calls, table, "ttnn.gather", have, _tensor(table["input"]), int(table["dim"]), index=places)


def _concatenate_heads(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    _finish(calls, table, "ttnn.transformer.concatenate_heads", have, _tensor(table["in"]))


def _deallocate(calls: Calls, table: dict[str, Any]) -> None:
    calls.added.append(Call("ttnn.deallocate", [Ref(table["in"]["global_id"]), False], {}, (), calls.operation))


def _program(name: str) -> Handler:
    """A call of another program of the binary."""

    def add(calls: Calls, table: dict[str, Any]) -> None:
        inputs = [_tensor(one) for one in table.get("inputs", [])]
        outputs = tuple(one["global_id"] for one in table.get("outputs", []))
        whole = tuple(range(len(outputs)))
        calls.added.append(Call(PROGRAM, [int(table[name]), inputs], {}, outputs, calls.operation, whole))

    return add


def _get_device(calls: Calls, table: dict[str, Any]) -> None:
    """The device is an argument of every program."""


#: What each member of the union `OpType` adds.
LATER: Final[dict[str, Handler]] = {
    "ArangeOp": _arange,
    "BatchNormInferenceOp": _batch_norm,
    "ConcatOp": _concat,
    "ConcatenateHeadsOp": _concatenate_heads,
    "ConstantOp": _constant,
    "Conv2dOp": _conv2d,
    "CumSumOp": _cumsum,
    "DeallocateOp": _deallocate,
    "EltwiseBinaryCompositeOp": _binary_composite,
    "EltwiseBinaryCompositeScalarOp": _pow_scalar,
    "EltwiseBinaryOp": _binary,
    "EltwiseTernaryWhereOp": _where,
    "EltwiseUnaryCompositeOp": _unary_composite,
    "EltwiseUnaryOp": _unary,
    "EmbeddingOp": _embedding,
    "EmptyOp": _empty,
    "FromDeviceOp": _moved("in"),
    "FullOp": _full,
    "FuncCallOp": _program("program_id"),
    "GatherOp": _gather,
    "GetDeviceOp": _get_device,
    "GlobalAvgPool2dOp": _global_avg_pool2d,
    "LayerNormOp": _norm("ttnn.layer_norm"),
    "LinearOp": _matmul,
    "LoadCachedOp": _program("program_idx"),
    "MatmulOp": _matmul,
    "MorehCumSumOp": _cumsum,
    "NamedFullOp": _named_full,
    "PadOp": _pad,
    "PermuteOp": _permute,
    "Pool2dOp": _pool2d,
    "RMSNormOp": _norm("ttnn.rms_norm"),
    "ReductionArgMaxOp": _argmax,
    "ReductionOp": _reduction,
    "ReductionProdOp": _prod,
    "RepeatInterleaveOp": _repeat_interleave,
    "RepeatOp": _repeat,
    "ReshapeOp": _reshape,
    "SliceOp": _slice,
    "SoftmaxOp": _softmax,
    "ToDTypeOp": _moved("in"),
    "ToDeviceOp": _moved("in"),
    "ToLayoutOp": _moved("in"),
    "ToMemoryConfigOp": _moved("in0"),
    "TransposeOp": _transpose,
    "TypecastOp": _moved("in"),
    "UpsampleOp": _upsample,
}
