"""`ttir-to-ttir-decomposition`: operations that TT-NN lacks become supported ones."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import FULL_SIZES, OUTER_PRODUCTS, Feature
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    IntegerAttr,
    IntegerType,
    Signedness,
    SSAValue,
    TensorType,
    builtin_float,
)
from ttnn.compiler.transforms.base import fail, replace, table_ops
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.transforms.ttir.build import i64s, ints, new, permute, reshape, slice_static, tensor_like, typed
from ttnn.compiler.transforms.ttir.constants import build_full, is_float
from ttnn.compiler.transforms.ttir.decomposition import indexing
from ttnn.compiler.transforms.ttir.decomposition.movement import negative_padding, reverse, split_heads
from ttnn.compiler.transforms.ttir.decomposition.norms import batch_norm, four_dimensions
from ttnn.compiler.transforms.ttir.decomposition.reductions import any_of_sum, argmax, pool_of_constant
from ttnn.compiler.transforms.ttir.decomposition.windows import channels_last, convolution, pooling
from ttnn.compiler.transforms.ttir.moves import users
from ttnn.compiler.version import Version

__all__ = ["run"]

Rewrite = Callable[[Module, TableOp], "Sequence[SSAValue] | None"]


def run(module: Module, options: dict[str, Any]) -> None:
    """Decompose until nothing is left to decompose.

    Raises:
        OptionError: The configuration does not exist.
        CompileError: An operation has no decomposition.
    """
    config = options["config"]
    if config not in CONFIGURATIONS:
        raise OptionError(f"option config is one of {', '.join(CONFIGURATIONS)}, not {config!r}.")
    rewrites = _rewrites(config, module.version)
    changed = True
    while changed:
        changed = False
        for op in table_ops(module.op, "ttir."):
            rewrite = rewrites.get(op.name.partition(".")[2])
            values = rewrite(module, op) if rewrite is not None else None
            if values is not None:
                replace(op, values)
                changed = True


def _rewrites(config: str, version: Version) -> dict[str, Rewrite]:
    """Return a target's decompositions.

    The fallback on the host has most operations itself.
    """
    found = {name: rewrite for name, rewrite, where in _REWRITES if where.of(version)}
    if config == "cpu-fallback":
        found = {**{name: one for name, one in found.items() if name not in _ON_HOST}, "reduce_or": any_of_sum}
        found["split_query_key_value_and_split_heads"] = split_heads
    return found


def _index(module: Module, op: TableOp) -> list[SSAValue]:
    shape = shape_of(op.inputs[0])
    dim = op.get("dim") % len(shape)
    begins, ends, step = [0] * len(shape), list(shape), [1] * len(shape)
    begin, end = (one + shape[dim] if one < 0 else one for one in (op.get("begin"), op.get("end")))
    begins[dim], ends[dim], step[dim] = begin, end, op.get("step")
    return [slice_static(module, op, op.inputs[0], begins, ends, step)]


def _index_select(module: Module, op: TableOp) -> list[SSAValue]:
    shape = shape_of(op.inputs[0])
    dim = op.get("dim") % len(shape)
    begin, length = op.get("begin"), op.get("length")
    stride = op.get("stride") or shape[dim]
    parts = []
    for start in range(begin, shape[dim], stride):
        begins, ends = [0] * len(shape), list(shape)
        begins[dim], ends[dim] = start, min(start + length, shape[dim])
        parts.append(slice_static(module, op, op.inputs[0], begins, ends, [1] * len(shape)))
    if len(parts) == 1:
        return parts
    kind = IntegerType(32, Signedness.SIGNED)
    return [new(module, op, "concat", parts, shape_of(op.results[0]), dim=IntegerAttr(dim, kind))]


def _dimension_size(module: Module, op: TableOp) -> list[SSAValue]:
    size = shape_of(op.inputs[0])[op.get("dimension")]
    if FULL_SIZES.of(module.version):
        return [build_full(module, op, op.results[0].type, size)]
    kind = TensorType(IntegerType(32, Signedness.UNSIGNED), [1])
    value = DenseAttr(kind, size.to_bytes(4, "little"), splat=True)
    return [typed(module, op, "constant", [], op.results[0].type, value=value)]


def _dot_general(module: Module, op: TableOp) -> list[SSAValue]:
    left, right = op.inputs
    batch_l, batch_r = list(op.get("batch_dims_lhs")), list(op.get("batch_dims_rhs"))
    inner_l, inner_r = list(op.get("contract_dims_lhs")), list(op.get("contract_dims_rhs"))
    shape_l, shape_r = shape_of(left), shape_of(right)
    rows = [i for i in range(len(shape_l)) if i not in batch_l + inner_l]
    columns = [i for i in range(len(shape_r)) if i not in batch_r + inner_r]
    left = permute(module, op, left, batch_l + rows + inner_l)
    right = permute(module, op, right, batch_r + inner_r + columns)
    batch = [shape_l[i] for i in batch_l]
    inner = math.prod(shape_l[i] for i in inner_l)
    m, n = math.prod(shape_l[i] for i in rows), math.prod(shape_r[i] for i in columns)
    left = reshape(module, op, left, [*batch, m, inner])
    right = reshape(module, op, right, [*batch, inner, n])
    # An outer product keeps the bits of its operands where a product of matrices would not.
    outer = inner == 1 and OUTER_PRODUCTS.of(module.version)
    product = typed(
        module, op, "multiply" if outer else "matmul", [left, right], tensor_like(op.results[0].type, [*batch, m, n])
    )
    return [reshape(module, op, product, shape_of(op.results[0]))]


def _as(name: str) -> Rewrite:
    """Return the rewrite to another operation with the same attributes."""

    def rewrite(module: Module, op: TableOp) -> list[SSAValue]:
        return [typed(module, op, name, list(op.inputs), op.results[0].type, **op.properties)]

    return rewrite


def _prod(module: Module, op: TableOp) -> list[SSAValue] | None:
    dims = op.get("dim_arg")
    shape = list(shape_of(op.inputs[0]))
    if dims is None or len(dims) in (1, len(shape)):
        return None
    value: SSAValue = op.inputs[0]
    for dim in sorted((d % len(shape) for d in dims), reverse=True):
        if op.get("keep_dim"):
            shape[dim] = 1
        else:
            del shape[dim]
        value = new(module, op, "prod", [value], shape, dim_arg=ints([dim]), keep_dim=op.properties["keep_dim"])
    return [value]


def _arange(module: Module, op: TableOp) -> list[SSAValue] | None:
    shape = shape_of(op.results[0])
    start, end, step = op.get("start"), op.get("end"), op.get("step")
    length = (end - start) // step
    if shape == (length,):
        return None
    dimension = op.get("arange_dimension")
    properties = {**op.properties, "arange_dimension": IntegerAttr(0, IntegerType(64))}
    flat = typed(module, op, "arange", [], tensor_like(op.results[0].type, [length]), **properties)
    ones = [length if i == dimension else 1 for i in range(len(shape))]
    value = reshape(module, op, flat, ones)
    if tuple(ones) != shape:
        factors = [out // size for out, size in zip(shape, ones, strict=True)]
        value = new(module, op, "broadcast", [value], shape, broadcast_dimensions=i64s(factors))
    return [value]


def _pooling_convolution(module: Module, op: TableOp) -> list[SSAValue] | None:
    return convolution(module, op) if op.name == "ttir.convolution" else pooling(module, op)


def _quantization(module: Module, op: TableOp, value: SSAValue) -> tuple[SSAValue, SSAValue, int | None]:
    """Return a quantized type's scales, zero points and axis.

    The first two are tensors.
    """
    assert isinstance(value.type, TensorType)
    text = attribute_text(value.type.element_type)
    found = re.fullmatch(r"!quant\.uniform<\w+(?:<[^>]*>)?:\w+(?::(\d+))?, (.*)>", text)
    if found is None:
        raise fail(module, op, f"the quantized type {text} cannot be decomposed")
    parts = [one.strip().partition(":") for one in found.group(2).strip("{}").split(",")]
    scales, points = [float(one[0]) for one in parts], [int(one[2] or 0) for one in parts]

    def constant(numbers: list[Any], kind: Any, code: str) -> SSAValue:
        type_ = TensorType(kind, [len(numbers)])
        same = len(set(numbers)) == 1
        raw = struct.pack(f"<{1 if same else len(numbers)}{code}", *numbers[: 1 if same else None])
        return typed(module, op, "constant", [], type_, value=DenseAttr(type_, raw, splat=same))

    axis = int(found.group(1)) if found.group(1) else None
    first = constant(scales, builtin_float("f32"), "f")
    return first, constant(points, IntegerType(32, Signedness.SIGNED), "i"), axis


def _unrolled(module: Module, op: TableOp) -> list[SSAValue] | None:
    name = op.name.removeprefix("ttir.")
    ends = {"quantize": op.results[:1], "dequantize": op.inputs[:1], "requantize": [op.inputs[0], op.results[0]]}[name]
    inputs, axis = [op.inputs[0]], None
    for one in ends:
        scale, point, axis = _quantization(module, op, one)
        inputs += [scale, point]
    properties = {} if axis is None else {"axis": i32_attr(axis)}
    return [typed(module, op, f"{name}_unrolled", inputs, op.results[0].type, **properties)]


def _reverse(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Reverse floats: TT-NN tables are bfloat16.

    Convolutions have reversed kernels first.
    """
    using = users(op.results[0])
    if not using or any(one.name == "ttir.convolution" for one in using):
        return None
    return reverse(module, op) if is_float(op.results[0].type.element_type) else None  # type: ignore[attr-defined]


_ALWAYS, _ONLY_2025, _SINCE_2026 = Feature(), Feature(versions="2025-10"), Feature(versions="2026-08..")
_REWRITES: tuple[tuple[str, Rewrite, Feature], ...] = (
    ("index", _index, _ALWAYS),
    ("index_select", _index_select, _ALWAYS),
    ("get_dimension_size", _dimension_size, _ALWAYS),
    ("dot_general", _dot_general, _ALWAYS),
    ("reduce_or", _as("sum"), _ALWAYS),
    ("reduce_and", _as("prod"), _ALWAYS),
    ("prod", _prod, _ALWAYS),
    ("arange", _arange, _ALWAYS),
    ("batch_norm_inference", batch_norm, _ALWAYS),
    ("batch_norm_training", batch_norm, _ALWAYS),
    ("convolution", _pooling_convolution, _ALWAYS),
    ("pooling", _pooling_convolution, _ALWAYS),
    ("conv2d", channels_last, _ALWAYS),
    ("conv_transpose2d", channels_last, _ALWAYS),
    ("quantize", _unrolled, _ALWAYS),
    ("dequantize", _unrolled, _ALWAYS),
    ("requantize", _unrolled, _ALWAYS),
    ("gather", indexing.gather, _ONLY_2025),
    ("reverse", _reverse, _ONLY_2025),
    ("scatter", indexing.scatter, _ONLY_2025),
    ("argmax", argmax, _SINCE_2026),
    ("max_pool2d", pool_of_constant, _SINCE_2026),
    ("avg_pool2d", pool_of_constant, _SINCE_2026),
    ("pad", negative_padding, _SINCE_2026),
    ("reverse", reverse, _SINCE_2026),
    ("conv3d", channels_last, _SINCE_2026),
    ("adamw", four_dimensions, _SINCE_2026),
    ("sdpa_fw", four_dimensions, _SINCE_2026),
    ("sdpa_bw", four_dimensions, _SINCE_2026),
)

CONFIGURATIONS = ("ttnn", "ttmetal", "cpu-fallback")
"""Targets of the decomposition."""

_ON_HOST = (
    *("index", "get_dimension_size", "index_select", "quantize", "dequantize", "requantize", "reverse"),
    *("conv2d", "conv3d", "conv_transpose2d"),
)
