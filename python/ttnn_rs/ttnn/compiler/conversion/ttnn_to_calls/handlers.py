"""Calls of later operations.

Descriptions have data type, layout and memory of each result.
"""

from __future__ import annotations

import math
from typing import Any, Final

import ml_dtypes
import numpy as np

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.attention import ATTENTION
from ttnn.compiler.conversion.ttnn_to_calls.calls import CACHED, DEVICE, PROGRAM, Argument, Call, Name, Ref
from ttnn.compiler.conversion.ttnn_to_calls.collectives import COLLECTIVES
from ttnn.compiler.conversion.ttnn_to_calls.configurations import program_config
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe, dtype_name
from ttnn.compiler.conversion.ttnn_to_calls.generic import GENERIC
from ttnn.compiler.conversion.ttnn_to_calls.parts import (
    DRAM,
    INTEGERS,
    Calls,
    Handler,
    compute_config,
    finish,
    in_rows,
    in_tiles,
    operand,
    place,
)
from ttnn.compiler.conversion.ttnn_to_calls.quantization import QUANTIZATION
from ttnn.compiler.conversion.ttnn_to_calls.rows import function_of, row
from ttnn.compiler.conversion.ttnn_to_calls.selection import SELECTION
from ttnn.compiler.conversion.ttnn_to_calls.traces import TRACES
from ttnn.compiler.conversion.ttnn_to_calls.windows import WINDOWS

__all__ = ["HANDLERS"]

_ARRAYS: Final = {
    "Float32": np.float32,
    "BFloat16": ml_dtypes.bfloat16,
    "Int32": np.int32,
    "UInt32": np.uint32,
    "UInt16": np.uint16,
    "UInt8": np.uint8,
}


def _binary(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["lhs"])
    wanted = table.get("output_dtype")
    if wanted is not None and (wanted in INTEGERS) != (have.data_type in INTEGERS):
        # Kernels of integers write integers, and those of floats floats.
        wanted = None
    function = f"ttnn.{function_of(table)}"
    dtype = dtype_name(wanted) if wanted is not None and wanted != have.data_type else None
    operands = operand(table["lhs"]), operand(table["rhs"])
    finish(calls, table, function, have, *operands, data_type=wanted or have.data_type, dtype=dtype)


def _matmul(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["a"])
    options: dict[str, Argument] = {name: True for name in ("transpose_a", "transpose_b") if table.get(name)}
    if table.get("matmul_program_config") is not None:
        member = table["matmul_program_config_type"]
        options["program_config"] = program_config(member, table["matmul_program_config"])
    options["compute_kernel_config"] = compute_config(table)
    options["activation"] = table.get("activation") or None
    bias, want = operand(table.get("bias")), describe(table["out"])
    a, b = describe(table["a"]), describe(table["b"])
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    operands = [operand(table["a"]), operand(table["b"])]
    if math.prod(b.shape[:-2]) != 1:
        operands = [_repeated(calls, table[name], batch) for name in ("a", "b")]
    if 1 not in (len(a.shape), len(b.shape)):
        options |= {} if bias is None else {"bias": bias}
        finish(calls, table, "ttnn.matmul" if bias is None else "ttnn.linear", have, *operands, **options)
        return
    # Vectors: the function's result may have a dimension of size one more or less than the binary's.
    made = calls.call("ttnn.matmul", *operands, **options)
    shape = _vector_product(a.shape, b.shape)
    made = calls.call("ttnn.reshape", made, list(shape))
    if bias is not None:
        made = calls.call("ttnn.add", made, bias)
    if (shape if bias is None else np.broadcast_shapes(shape, describe(table["bias"]).shape)) != want.shape:
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, Description(want.shape, have.data_type, True, DRAM), table["out"]["global_id"], want)


def _refused(reason: str) -> Handler:
    """An operation that the library does not have."""

    def refuse(calls: Calls, table: dict[str, Any]) -> None:
        del calls, table
        raise UnsupportedError(f"this operation is not executed: {reason}.")

    return refuse


_CHIPS: Final = "TT-NN has no public operator for it, or one that is not implemented, and it has no decomposition"
_EXCHANGES: Final = (
    *("AllReduceAsyncOp", "AllToAllDispatchMetadataOp", "DistributedRMSNormOp", "MoeComputeOp"),
    "SelectiveReduceCombineOp",
)
_TRAINING: Final = "it is an operator of the training library ttml, which TT-NN does not have"


def _repeated(calls: Calls, reference: dict[str, Any], batch: tuple[int, ...]) -> Ref:
    """A matmul operand with the result's batches.

    The function repeats only what has none.
    """
    shape, found = describe(reference).shape, Ref(reference["global_id"])
    if shape[:-2] == batch:
        return found
    ends = shape[-2:] if len(shape) > 1 else (1, *shape)
    full = (*(1,) * (len(batch) - len(shape[:-2])), *shape[:-2], *ends)
    if full != shape:
        found = calls.call("ttnn.reshape", found, list(full))
    factors = [count // size for count, size in zip(batch, full[:-2], strict=True)]
    return calls.call("ttnn.repeat", found, [*factors, 1, 1]) if set(factors) != {1} else found


def _vector_product(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of a product with a vector.

    That of two vectors has one element.
    """
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    rows = a[-2:-1] if len(a) > 1 else ()
    columns = b[-1:] if len(b) > 1 else ()
    return (*batch, *rows, *columns) or (1,)


def _pad(calls: Calls, table: dict[str, Any]) -> None:
    have, sizes = describe(table["in"]), [int(size) for size in table["padding"]]
    pairs = list(zip(sizes[::2], sizes[1::2], strict=True))
    tensor: Argument = operand(table["in"])
    if have.tiled and any(before for before, _ in pairs):
        # Elements before the first need rows.
        have = Description(have.shape, have.data_type, False, DRAM)
        tensor = calls.call("ttnn.to_layout", tensor, have.layout)
    finish(calls, table, "ttnn.pad", have, tensor, pairs, float(table["value"]))


def _embedding(calls: Calls, table: dict[str, Any]) -> None:
    want = describe(table["out"])
    operands = in_rows(calls, table["input"], "UInt32"), in_rows(calls, table["weight"], "BFloat16")
    made = calls.call("ttnn.embedding", *operands, layout=want.layout)
    if len(describe(table["input"]).shape) == 1:
        made = calls.call("ttnn.reshape", made, list(want.shape))
    place(calls, made, Description(want.shape, "BFloat16", want.tiled, DRAM), table["out"]["global_id"], want)


def _moved(name: str) -> Handler:
    """A change of layout, type or memory, per output description."""

    def add(calls: Calls, table: dict[str, Any]) -> None:
        reference = table[name]
        number, want = table["out"]["global_id"], describe(table["out"])
        place(calls, Ref(reference["global_id"]), describe(reference), number, want)

    return add


def _arange(calls: Calls, table: dict[str, Any]) -> None:
    number, want = table["out"]["global_id"], describe(table["out"])
    ends = [int(table[name]) for name in ("start", "end", "step")]
    made = calls.call("ttnn.arange", *ends, dtype=want.dtype, device=DEVICE)
    have = Description(want.shape, want.data_type, False, DRAM)
    place(calls, made, have, number, want)


#: What a description says is made as it says.
_AS_DESCRIBED: Final = "out:dtype out:layout device=out:device memory_config=out:memory"
_FILLED: Final = row(f"ttnn.full out:sizes fill_value {_AS_DESCRIBED}", like="out")
_UNSIGNED: Final = {"UInt8": 8, "UInt16": 16, "UInt32": 32}


def _full(calls: Calls, table: dict[str, Any]) -> None:
    """Add a call of `full`.

    Binaries hold the bits of unsigned numbers as signed ones.
    """
    width = _UNSIGNED.get(describe(table["out"]).data_type)
    value = table["fill_value"]
    value = value["value"] if isinstance(value, dict) else value
    if width is not None and isinstance(value, int):
        value %= 1 << width
    _FILLED(calls, table | {"fill_value": value})


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
        _full(calls, {"out": table["out"], "fill_value": plain[0]})
        return
    # The device makes no tiles of bytes; the host does.
    tiled = want.tiled and stored == "UInt8"
    layout = want.layout if tiled else None
    made = calls.call("ttnn.from_buffer", plain, list(want.shape), dtype_name(stored), DEVICE, layout=layout)
    place(calls, made, Description(want.shape, stored, tiled, DRAM), number, want)


def _of_whole_tensors(text: str, data_type: str = "") -> Handler:
    """Part of a norm, without fields that change how statistics are added."""
    made, function = row(text, data_type=data_type), text.partition(" ")[0]

    def add(calls: Calls, table: dict[str, Any]) -> None:
        for name in ("recip", "program_config"):
            if table.get(name) is not None:
                raise UnsupportedError(f"{name} of {function} is not executed: the norm of a whole tensor is.")
        made(calls, table)

    return add


_SPARSE_MATMUL: Final = row(
    "ttnn.sparse_matmul a b sparsity=sparsity:rows/BFloat16 =program_config:1d =nnz?:int =is_input_a_sparse:bool "
    "=is_input_b_sparse:bool compute_kernel_config=:config"
)


def _sparse_matmul(calls: Calls, table: dict[str, Any]) -> None:
    if not table.get("program_config"):
        raise UnsupportedError("sparse_matmul without a program_config is not executed: the function needs one.")
    _SPARSE_MATMUL(calls, table)


def _batch_norm_training(calls: Calls, table: dict[str, Any]) -> None:
    """Running mean and variance change in place, as [1, C, 1, 1]."""
    have = describe(table["input"])
    channels = [1, have.shape[1], 1, 1]
    options: dict[str, Argument] = {}
    for name in ("running_mean", "running_var", "weight", "bias"):
        value = operand(table.get(name))
        if value is not None and describe(table[name]).shape != tuple(channels):
            value = calls.call("ttnn.reshape", value, channels)
        options[name] = value
    finish(
        calls,
        table,
        "ttnn.batch_norm",
        have,
        operand(table["input"]),
        eps=float(table["epsilon"]),
        momentum=float(table["momentum"]),
        training=True,
        **options,
    )
    for name in ("running_mean", "running_var"):
        reference = table.get(name)
        if reference is not None and options[name] != Ref(reference["global_id"]):
            shape = list(describe(reference).shape)
            calls.call("ttnn.reshape", options[name], shape, out=reference["global_id"])


def _group_norm(calls: Calls, table: dict[str, Any]) -> None:
    """The function uses bfloat16 and [1, C] factors, no mask.

    It knows without a mask which columns belong to a group.
    """
    factors: dict[str, Argument] = {}
    for name in ("weight", "bias"):
        reference = table.get(name)
        if reference is None:
            continue
        shape = describe(reference).shape
        value = in_tiles(calls, reference, "BFloat16") if len(shape) == 1 else operand(reference)
        factors[name] = calls.call("ttnn.reshape", value, [1, *shape]) if len(shape) == 1 else value
    finish(
        calls,
        table,
        "ttnn.group_norm",
        Description(describe(table["input"]).shape, "BFloat16", True, DRAM),
        in_tiles(calls, table["input"], "BFloat16"),
        num_groups=int(table["num_groups"]),
        epsilon=float(table["epsilon"]),
        inplace=False,
        **factors,
    )


def _gelu_backward(calls: Calls, table: dict[str, Any]) -> None:
    """The function returns a list with the gradient of its one input."""
    have, number, want = describe(table["input"]), table["out"]["global_id"], describe(table["out"])
    variant = {"none": "Accurate", "tanh": "Tanh"}.get(table.get("approximate") or "none")
    if variant is None:
        raise UnsupportedError(f"gelu_bw: approximate is {table['approximate']}; there are none and tanh.")
    operands = [operand(table["grad"]), operand(table["input"])]
    made = calls.call("ttnn.gelu_bw", *operands, variant=Name(f"ttnn.GeluVariant.{variant}"), memory_config=DRAM)
    calls.added[-1].returns = (0,)
    place(calls, made, Description(want.shape, have.data_type, True, DRAM), number, want)


def _program(name: str, function: str = PROGRAM) -> Handler:
    """A call of another program of the binary."""

    def add(calls: Calls, table: dict[str, Any]) -> None:
        inputs = [operand(one) for one in table.get("inputs", [])]
        outputs = tuple(one["global_id"] for one in table.get("outputs", []))
        whole = tuple(range(len(outputs)))
        calls.added.append(Call(function, [int(table[name]), inputs], {}, outputs, calls.operation, whole))

    return add


def _get_device(calls: Calls, table: dict[str, Any]) -> None:
    """The device is an argument of every program."""


_NORM: Final = "ttnn.{} input =epsilon:float compute_kernel_config=:config =weight? =bias?"
_STATISTICS: Final = (
    "ttnn.{}_pre_all_gather input dtype=out:dtype residual_input_tensor={}? compute_kernel_config=:config"
)

#: What each member of the union `OpType` adds.
HANDLERS: Final[dict[str, Handler]] = {
    **ATTENTION,
    **COLLECTIVES,
    **GENERIC,
    **QUANTIZATION,
    **SELECTION,
    **TRACES,
    **WINDOWS,
    **dict.fromkeys(_EXCHANGES, _refused(_CHIPS)),
    "AdamWOp": _refused(_TRAINING),
    "ArangeOp": _arange,
    "AssignOp": row("ttnn.assign input memory_config=output:memory dtype=output:dtype", out="output", like="output"),
    "BatchNormInferenceOp": row("ttnn.batch_norm input eps=epsilon:float =running_mean? =running_var? =weight? =bias?"),
    "BatchNormTrainingOp": _batch_norm_training,
    "BitcastConvertOp": row("ttnn.bitcast in out:dtype", data_type="out"),
    "ConcatOp": row("ttnn.concat inputs dim"),
    "ConstantOp": _constant,
    "DeallocateOp": row("ttnn.deallocate in :false", returns=False),
    "DumpTensorOp": row("ttnn.dump_tensor file_path:text in", returns=False),
    "EltwiseBinaryCompositeOp": row("ttnn.{type} lhs rhs"),
    "EltwiseBinaryCompositeScalarOp": row("ttnn.pow lhs rhs"),
    "EltwiseBinaryOp": _binary,
    "EltwiseTernaryWhereOp": row("ttnn.where first second third", like="second"),
    "EltwiseUnaryCompositeOp": row("ttnn.{type} in params.min? params.max?"),
    "EltwiseUnaryOp": row("ttnn.{type} in params.parameter?:float"),
    "EmbeddingOp": _embedding,
    "EmptyOp": row(f"ttnn.zeros out:sizes {_AS_DESCRIBED}", like="out"),
    "ExperimentalEltwiseBinaryBackwardOp": _gelu_backward,
    "FromDeviceOp": _moved("in"),
    "FullOp": _full,
    "FuncCallOp": _program("program_id"),
    "GetDeviceOp": _get_device,
    "GroupNormOp": _group_norm,
    "LayerNormOp": row(_NORM.format("layer_norm")),
    "LayerNormPostAllGatherOp": _of_whole_tensors(
        "ttnn.layer_norm_post_all_gather input stats =weight? =bias? =epsilon:float compute_kernel_config=:config"
    ),
    "LayerNormPreAllGatherOp": _of_whole_tensors(_STATISTICS.format("layer_norm", "residual_input"), "out"),
    "LinearOp": _matmul,
    "LoadCachedOp": _program("program_idx", CACHED),
    "LoadTensorOp": row("ttnn.load_tensor file_path:text =device?:device", like="out"),
    "MatmulOp": _matmul,
    "NamedFullOp": row(f"ttnn.{{type}} out:sizes {_AS_DESCRIBED}", like="out"),
    "PadOp": _pad,
    "PermuteOp": row("ttnn.permute in permutation:numbers"),
    "RMSNormOp": row(_NORM.format("rms_norm")),
    "RMSNormPreAllGatherOp": _of_whole_tensors(_STATISTICS.format("rms_norm", "residual"), "out"),
    "ReductionArgMaxOp": row("ttnn.argmax in:rows =dim? keepdim=keep_dim", data_type="UInt32"),
    "ReductionOp": row("ttnn.{type} in dim=dim_arg?:numbers keepdim=keep_dim compute_kernel_config=:config"),
    "ReductionProdOp": row("ttnn.prod in dim=dim_arg? keepdim=keep_dim"),
    "RepeatInterleaveOp": row("ttnn.repeat_interleave input repeats dim"),
    "RepeatOp": row("ttnn.repeat in repeat_dims:numbers"),
    "ReshapeOp": row("ttnn.reshape in shape?:shape"),
    "SDPABackwardOp": _refused(_TRAINING),
    "SDPAForwardOp": _refused(_TRAINING),
    "SoftmaxOp": row("ttnn.softmax in dimension =numeric_stable?:bool compute_kernel_config=:config"),
    "SparseMatmulOp": _sparse_matmul,
    "ToDTypeOp": _moved("in"),
    "ToDeviceOp": _moved("in"),
    "ToLayoutOp": _moved("in"),
    "ToMemoryConfigOp": _moved("in0"),
    "TransposeOp": row("ttnn.transpose in dim0 dim1"),
    "TypecastOp": _moved("in"),
}
