"""Decompositions of `ttnn-workaround`: operations without a matching kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.dialects.kinds import i32_attr, integer
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import LINEAR_BIASES
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, Attribute, DenseArrayBase, IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.base import fail, owner_of
from ttnn.compiler.transforms.rewriting import Pattern, Result, library_patterns, rewrite
from ttnn.compiler.transforms.ttnn.build import Build, change_operands, set_result
from ttnn.compiler.transforms.ttnn.layout.chip import chip_of, mesh_shape, usable_l1
from ttnn.compiler.transforms.ttnn.layout.types import HOST, element_word, on_host, retyped, tensor_layout
from ttnn.compiler.transforms.ttnn.workarounds.attention import ATTENTION, PAGED_UPDATE
from ttnn.compiler.transforms.ttnn.workarounds.norms import NORMS

__all__ = ["decompose"]

_TILE: Final = 32


def decompose(module: Module, level: int) -> None:
    """Apply the decompositions of the module's version until none applies.

    Args:
        module: The module.
        level: Optimization level; from 2 on, an optimizer places what `paged_update_cache` takes.

    Raises:
        CompileError: An operation cannot be decomposed.
    """
    rewrite(module, [*_BEFORE, *_SINCE, *ATTENTION, *NORMS, *(PAGED_UPDATE if level < 2 else ()), *_BOTH])


def _result(op: TableOp) -> Attribute:
    kind: Attribute = op.results[0].type
    return kind


def _as_rank_four(module: Module, op: TableOp, dim: str | None, suffix: str) -> Result:
    """Add leading dimensions to a collective of lower rank."""
    value = op.inputs[0]
    shape, out = shape_of(value), shape_of(op.results[0])
    missing = 4 - len(shape)
    if missing <= 0:
        return None
    build = Build(module, op)
    wide = build.reshape(value, (1,) * missing + shape, "_reshape_to_4d")
    moved = {} if dim is None else {dim: integer(op.get(dim) + missing, "si32")}
    type_ = retyped(_result(op), shape=(1,) * missing + out)
    made = build.again(op, [type_], operands={"input": wide}, suffix=suffix, **moved)
    return [build.reshape(made.results[0], out, like=_result(op))]


def _all_gather_four(module: Module, op: TableOp) -> Result:
    return _as_rank_four(module, op, "all_gather_dim", "_all_gather_4d")


def _reduce_scatter_four(module: Module, op: TableOp) -> Result:
    return _as_rank_four(module, op, "scatter_dim", "_reduce_scatter_4d")


def _all_reduce_four(module: Module, op: TableOp) -> Result:
    return _as_rank_four(module, op, None, "_all_reduce_4d")


def _all_gather_vector(module: Module, op: TableOp) -> Result:
    shape, out = shape_of(op.inputs[0]), shape_of(op.results[0])
    if len(shape) != 1:
        return None
    build = Build(module, op)
    wide = build.reshape(op.inputs[0], (1, *shape), "_reshape_to_2d")
    type_ = retyped(_result(op), shape=(1, *out))
    dim = integer(op.get("all_gather_dim") % 1 + 1, "si32")
    made = build.again(op, [type_], operands={"input": wide}, suffix="_all_gather_2d", all_gather_dim=dim)
    return [build.reshape(made.results[0], out, like=_result(op))]


# Part of the memory of a chip that gathering instead of scattering may need.
_MEMORY_PART: Final = 0.05


def _all_reduce_parts(module: Module, op: TableOp) -> Result:
    """Scatter and gather along a chip-divisible dimension.

    Else gather and reduce on each of them.
    """
    shape, axis = shape_of(op.inputs[0]), op.get("cluster_axis")
    mesh = mesh_shape(module)
    chips = mesh[axis] if axis < len(mesh) else 1
    build = Build(module, op)
    dim = next((i for i, size in enumerate(shape) if size % chips == 0), None)
    common = {"cluster_axis": op.properties["cluster_axis"]}
    device = op.operand("device")
    if dim is None:
        if not _gather_fits(module, op, chips):
            raise fail(module, op, f"no dimension of {list(shape)} can be divided among {chips} chips")
        wide = build.reshape(op.inputs[0], (1, *shape), "_reshape")
        type_ = retyped(wide.type, shape=(chips, *shape))
        gathered = build.value(
            "all_gather", [wide, device], type_, suffix="_allGather", all_gather_dim=integer(0, "si32"), **common
        )
        kind = op.get("reduce_type")
        if kind not in ("sum", "mean", "max", "min"):
            raise fail(module, op, f"{kind} is not supported")
        dims: Attribute = ArrayAttr([i32_attr(0)])
        keep = IntegerAttr(0, IntegerType(1))
        return [build.value(kind, [gathered], _result(op), keep_dim=keep, dim_arg=dims)]
    part = tuple(size // chips if i == dim else size for i, size in enumerate(shape))
    place = integer(dim, "si32")
    scattered = build.value(
        "reduce_scatter",
        [op.inputs[0], device],
        retyped(op.inputs[0].type, shape=part),
        suffix="_reduceScatter",
        reduce_type=op.properties["reduce_type"],
        scatter_dim=place,
        **common,
    )
    return [build.value("all_gather", [scattered, device], _result(op), all_gather_dim=place, **common)]


def _gather_fits(module: Module, op: TableOp, chips: int) -> bool:
    chip = chip_of(module)
    size = math.prod(shape_of(op.inputs[0])) * _bytes(op.inputs[0])
    padded = -(-chips // _TILE) * _TILE
    more = (chips + 2 * padded) * size - (1 + 1 / chips) * size
    return more <= chip.dram_channel_size * chip.num_dram_channels * _MEMORY_PART


def _bytes(value: SSAValue) -> int:
    return {"f32": 4, "u32": 4, "si32": 4, "u8": 1}.get(element_word(value.type), 2)


# Joining and cutting.

_MOST_PARTS: Final = 50


def _long_concat(module: Module, op: TableOp) -> Result:
    values = list(op.inputs)
    if len(values) <= _MOST_PARTS:
        return None
    build, dim = Build(module, op), op.get("dim")
    running = values[0]
    for start in range(1, len(values), _MOST_PARTS - 1):
        parts = [running, *values[start : start + _MOST_PARTS - 1]]
        shape = list(shape_of(running))
        shape[dim] = sum(shape_of(part)[dim] for part in parts)
        type_ = retyped(values[0].type, shape=shape)
        running = build.again(op, [type_], operands={"inputs": parts}).results[0]
    return [running]


def _vector_concat(module: Module, op: TableOp) -> Result:
    out = shape_of(op.results[0])
    if len(out) != 1:
        return None
    build = Build(module, op)
    parts = [build.reshape(value, (*shape_of(value), 1)) for value in op.inputs]
    made = build.again(op, [retyped(_result(op), shape=(*out, 1))], operands={"inputs": parts})
    return [build.reshape(made.results[0], out, like=_result(op))]


_MOST_SCATTERED: Final = 256


def _long_scatter(module: Module, op: TableOp) -> Result:
    dim = op.get("dim")
    index, source = op.group("index")[0], op.group("source")[0]
    shape = shape_of(index)
    if shape[dim] <= _MOST_SCATTERED:
        return None
    build = Build(module, op)
    running = op.group("input")[0]
    for number, start in enumerate(range(0, shape[dim], _MOST_SCATTERED)):
        begins, ends = [0] * len(shape), list(shape)
        begins[dim], ends[dim] = start, min(start + _MOST_SCATTERED, shape[dim])
        parts = {
            name: build.slice(value, begins, ends, suffix=f"_chunk_{number}_{name}")
            for name, value in (("index", index), ("source", source))
        }
        made = build.again(op, [running.type], operands={"input": running, **parts}, suffix=f"_chunk_{number}_scatter")
        running = made.results[0]
    return [running]


def _wide_slice(module: Module, op: TableOp) -> Result:
    """Rows over half of L1 are cut along another dimension.

    They do not fit twice.
    """
    out = shape_of(op.results[0])
    rank = len(out)
    size = _bytes(op.inputs[0])
    usable = usable_l1(chip_of(module))
    if rank < 2 or out[-1] * size * 2 <= usable:
        return None
    swap = next((dim for dim in range(rank - 2, -1, -1) if out[dim] * size * 2 <= usable), None)
    if swap is None:
        return None
    order = list(range(rank))
    order[swap], order[-1] = order[-1], order[swap]
    build = Build(module, op)
    turned = build.permute(op.inputs[0], order, "_permute")
    begins, ends, steps = ([op.get(name)[i] for i in order] for name in ("begins", "ends", "step"))
    part = build.slice(turned, begins, ends, steps, suffix="_slice")
    return [_permuted(build, part, order, _result(op), "_permuteInverse")]


def _permuted(build: Build, value: SSAValue, order: Sequence[int], type_: Attribute, suffix: str) -> SSAValue:
    array = DenseArrayBase.from_list(IntegerType(64), list(order))
    return build.value("permute", [value], type_, permutation=array, suffix=suffix)


_MOST_PADDED: Final = 3


def _high_pad(module: Module, op: TableOp) -> Result:
    """Padding has rank 4: unpadded dimensions are joined in front."""
    shape, padding = shape_of(op.inputs[0]), op.get("padding")
    rank = len(shape)
    padded = [dim for dim in range(rank) if any(padding[2 * dim : 2 * dim + 2])]
    kept = [dim for dim in range(rank) if dim not in padded]
    if rank <= 4 or not padded or len(padded) > _MOST_PADDED:
        return None
    build = Build(module, op)
    order = kept + padded
    turned = build.permute(op.inputs[0], order, "_perm_fwd")
    flat = (math.prod(shape[dim] for dim in kept), *(shape[dim] for dim in padded))
    joined = build.reshape(turned, flat, "_squeeze")
    sizes = [0, 0, *(size for dim in padded for size in padding[2 * dim : 2 * dim + 2])]
    made = build.pad(joined, sizes, op.get("value"), multicore=op.get("use_multicore"), suffix="_pad")
    whole = build.reshape(made, (*(shape[dim] for dim in kept), *shape_of(made)[1:]), "_unsqueeze")
    inverse = [order.index(dim) for dim in range(rank)]
    return [_permuted(build, whole, inverse, _result(op), "_perm_inv")]


def _squeezed_table(module: Module, op: TableOp) -> Result:
    """Tables of `embedding` have four dimensions at most; leading ones go."""
    weight = op.group("weight")[0]
    shape = shape_of(weight)
    if len(shape) <= 4:
        return None
    if any(size != 1 for size in shape[:-2]):
        raise fail(module, op, f"the table has shape {list(shape)}; all but its last two dimensions must be one")
    change_operands(op, weight=Build(module, op).reshape(weight, (1, 1, *shape[-2:]), "_reshape"))
    return True


# Reductions and scans.


def _argmax_four(module: Module, op: TableOp) -> Result:
    shape, out = shape_of(op.inputs[0]), shape_of(op.results[0])
    missing = 4 - len(shape)
    if missing <= 0:
        return None
    build = Build(module, op)
    wide = build.reshape(op.inputs[0], (1,) * missing + shape, "_reshapeInput")
    changes: dict[str, Any] = {"use_multicore": IntegerAttr(0, IntegerType(1))}
    if op.get("dim") is not None:
        dim = op.get("dim")
        changes["dim"] = i32_attr(dim + missing if dim >= 0 else dim)
    type_ = retyped(_result(op), shape=(1,) * missing + out)
    made = build.again(op, [type_], operands={"input": wide}, **changes)
    return [build.reshape(made.results[0], out, "_reshapeOutput", like=_result(op))]


def _cumsum_front(module: Module, op: TableOp) -> Result:
    dim = op.get("dim")
    if dim <= 1:
        return None
    shape = shape_of(op.inputs[0])
    order = list(range(len(shape)))
    order[0], order[dim] = order[dim], order[0]
    build = Build(module, op)
    turned = build.permute(op.inputs[0], order, "_permute")
    type_ = retyped(_result(op), shape=[shape[i] for i in order])
    made = build.again(op, [type_], operands={"input": turned}, dim=IntegerAttr(0, IntegerType(64)))
    return [_permuted(build, made.results[0], order, _result(op), "_permuteInverse")]


def _cumsum_four(module: Module, op: TableOp) -> Result:
    shape = shape_of(op.inputs[0])
    missing = 4 - len(shape)
    if missing <= 0:
        return None
    build = Build(module, op)
    wide = build.reshape(op.inputs[0], shape + (1,) * missing, "_reshapeInput")
    made = build.again(op, [retyped(_result(op), shape=shape + (1,) * missing)], operands={"input": wide})
    return [build.reshape(made.results[0], shape, "_reshapeOutput", like=_result(op))]


_MOST_FACTORS: Final = 16


def _integer_product(module: Module, op: TableOp) -> Result:
    """Few integers are multiplied consecutively.

    A product in bfloat16 would round them.
    """
    value, dim = op.inputs[0], op.get("dim_arg")
    shape = shape_of(value)
    kind = getattr(value.type, "element_type", None)
    if not isinstance(kind, IntegerType) or not isinstance(dim, int):
        return None
    dim += len(shape) if dim < 0 else 0
    if not 0 <= dim < len(shape) or not 0 < shape[dim] <= _MOST_FACTORS:
        return None
    build = Build(module, op)

    def part(index: int) -> SSAValue:
        begins, ends = [0] * len(shape), list(shape)
        begins[dim], ends[dim] = index, index + 1
        return build.slice(value, begins, ends, suffix=f"_int_prod_slice_{index}")

    running = part(0)
    for index in range(1, shape[dim]):
        running = build.value("multiply", [running, part(index)], running.type, suffix=f"_int_prod_mul_{index}")
    if not op.get("keep_dim"):
        running = build.reshape(running, shape_of(op.results[0]), "_int_prod_reshape", like=_result(op))
    return [running]


# Element by element.


def _long_multiply(module: Module, op: TableOp) -> Result:
    """Large dimensions before two of size one: near-empty tiles."""
    out = shape_of(op.results[0])
    ranks = {len(shape_of(value)) for value in (*op.inputs, op.results[0])}
    if ranks != {4} or min(out[:2]) < 1024 or out[2:] != (1, 1):
        return None
    if any(owner_of(value) is None for value in op.inputs):
        return None
    build, order = Build(module, op), (2, 3, 0, 1)
    left, right = (
        _after(value, build.permute(value, order, f"_{name}_permute"))
        for value, name in zip(op.inputs, ("lhs", "rhs"), strict=True)
    )
    type_ = retyped(_result(op), shape=[out[i] for i in order])
    made = build.again(op, [type_], operands={"lhs": left, "rhs": right})
    return [_permuted(build, made.results[0], order, _result(op), "_output_permute")]


def _after(value: SSAValue, made: SSAValue) -> SSAValue:
    """Move a value's operation to its operand, for other users.

    They may follow it.
    """
    owner, first = made.owner, value.owner
    block = first.parent if isinstance(first, TableOp) else None
    if isinstance(owner, TableOp) and isinstance(first, TableOp) and block is not None and owner.parent is block:
        block.detach_op(owner)
        block.insert_op_after(owner, first)
    return made


def _broadcast_subtract(module: Module, op: TableOp) -> Result:
    left, right = op.inputs[:2]
    if shape_of(left) == shape_of(right):
        return None
    build = Build(module, op)
    negated = build.value("neg", [right], right.type, suffix="_neg")
    return [build.value("add", [left, negated], _result(op))]


def _repeat_operands(module: Module, op: TableOp) -> Result:
    out = shape_of(op.results[0])
    changed = False
    for index, value in enumerate(op.inputs):
        if shape_of(value) != out:
            op.operands[index] = Build(module, op).repeat(value, out)
            changed = True
    return changed or None


# Products of matrices.

_ACTIVATIONS: Final = ("relu", "sigmoid", "gelu", "tanh", "silu")


def _product_shape(op: TableOp) -> tuple[int, ...]:
    a, b = shape_of(op.inputs[0]), shape_of(op.inputs[1])
    columns = b[-2] if len(b) > 1 and op.get("transpose_b") else b[-1]
    if len(a) == 1:
        return (1,) if len(b) == 1 else (*b[:-2], columns)
    rows = a[-1] if op.get("transpose_a") else a[-2]
    if len(b) == 1:
        return (*a[:-2], rows)
    return (*_broadcast(a[:-2], b[:-2]), rows, columns)


def _broadcast(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    rank = max(len(first), len(second))
    left, right = ((1,) * (rank - len(one)) + tuple(one) for one in (first, second))
    return tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))


def _batched(op: TableOp) -> bool:
    return any(size > 1 for size in shape_of(op.inputs[1])[:-2])


def _keeps_bias(op: TableOp, product: tuple[int, ...]) -> bool:
    bias = shape_of(op.group("bias")[0])
    rows = len(bias) > 1 and any(size > 1 for size in bias[:-1])
    return not _batched(op) and bool(bias) and not rows and bias[-1] == product[-1]


def _linear(module: Module, op: TableOp) -> Result:
    """A bias that the kernel does not add is added after."""
    bias = op.operand("bias")
    if bias is None:
        return None
    product = _product_shape(op)
    if _keeps_bias(op, product) if LINEAR_BIASES.of(module.version) else not _batched(op):
        return None
    build = Build(module, op)
    kept = {
        name: op.properties[name] for name in ("transpose_a", "transpose_b", "compute_config") if name in op.properties
    }
    named = {name: value for name, value in op.attributes.items() if name == "ttcore.weight_dtype"}
    made = build.op(
        "matmul",
        list(op.inputs[:2]),
        [retyped(_result(op), shape=product)],
        suffix="_decomp_matmul",
        attributes=named,
        **kept,
    )
    sum_shape = _broadcast(product, shape_of(bias))
    value = build.value("add", [made.results[0], bias], retyped(_result(op), shape=sum_shape), suffix="_decomp_add")
    if sum_shape != shape_of(op.results[0]):
        value = build.reshape(value, shape_of(op.results[0]), "_decomp_reshape", like=_result(op))
    activation = op.get("activation")
    if activation is not None:
        if activation not in _ACTIVATIONS:
            raise fail(module, op, f"Unsupported activation type in LinearOp decomposition: {activation}")
        value = build.value(activation, [value], _result(op), suffix=f"_decomp_{activation}")
    return [value]


# Windows.


def _conv_parts(module: Module, op: TableOp) -> Result:
    """Weights and biases prepared from host rows; tiled results."""
    changed = False
    build = Build(module, op)
    for name in ("weight", "bias"):
        value = op.operand(name)
        if value is None:
            continue
        layout = tensor_layout(value)
        if on_host(layout) and not layout.tiled:
            continue
        dtype = "bf16" if layout.dtype == "bfp_bf8" else None
        type_ = retyped(value.type, dtype=dtype, tiled=False, space="system_memory", memory=HOST)
        change_operands(op, **{name: build.spec(value, type_, f"_{name}")})
        changed = True
    if not tensor_layout(op.results[0]).tiled:
        set_result(op, retyped(_result(op), tiled=True))
        changed = True
    return changed or None


def _no_stride_folding(module: Module, op: TableOp) -> Result:
    del module
    config = op.properties.get("conv2d_config")
    text = attribute_text(config) if config is not None else ""
    if "enable_kernel_stride_folding = false" in text:
        return None
    inner = text[text.index("<") + 1 : text.rindex(">")] if "<" in text else ""
    fields = [part for part in _fields(inner) if not part.startswith("enable_kernel_stride_folding")]
    order = [part for part in fields if part.startswith("config_tensors_in_dram")]
    fields = [*(part for part in fields if part not in order), "enable_kernel_stride_folding = false", *order]
    op.properties["conv2d_config"] = OpaqueDialectAttr("ttnn.conv2d_config", (f"<{', '.join(fields)}>",))
    return True


def _fields(text: str) -> list[str]:
    parts, depth, last = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<[(") - (char in ">])")
        if char == "," and not depth:
            parts.append(text[last:i])
            last = i + 1
    return [part.strip() for part in (*parts, text[last:]) if part.strip()]


def _whole_image(module: Module, op: TableOp) -> Result:
    del module
    if "conv2d_slice_config" in op.properties:
        return None
    op.properties["conv2d_slice_config"] = OpaqueDialectAttr("ttnn.conv2d_slice_config", ("<l1_full, 0>",))
    return True


def _padded_upsample(module: Module, op: TableOp) -> Result:
    """Bilinear interpolation takes whole tiles of channels."""
    channels = shape_of(op.inputs[0])[3]
    if op.get("mode") != "bilinear" or channels % _TILE == 0:
        return None
    wide = -(-channels // _TILE) * _TILE
    build, out = Build(module, op), shape_of(op.results[0])
    padded = build.pad(op.inputs[0], (0,) * 7 + (wide - channels,), suffix="pad")
    made = build.again(op, [retyped(_result(op), shape=(*out[:3], wide))], operands={"input": padded})
    return [build.slice(made.results[0], (0,) * 4, out, suffix="slice", like=_result(op))]


def _heads_by_hand(module: Module, op: TableOp) -> Result:
    shape = shape_of(op.inputs[0])
    if shape[3] % _TILE == 0:
        return None
    build = Build(module, op)
    turned = build.permute(op.inputs[0], (0, 2, 1, 3), "_concat_heads")
    return [build.reshape(turned, shape_of(op.results[0]), like=_result(op))]


# Others of 2026-08.


def _signed_gather(module: Module, op: TableOp) -> Result:
    """Negative indices give NaN, or the smallest integer.

    The kernel has unsigned ones.
    """
    index = op.group("index")[0]
    if element_word(index.type) != "si32":
        return None
    build, out = Build(module, op), _result(op)
    zero = build.full(0, index.type, "_zero")
    mask_type = retyped(index.type, dtype=element_word(out))
    mask = build.value("lt", [index, zero], mask_type, suffix="_idx_lt_zero")
    safe = build.value("maximum", [index, zero], index.type, suffix="_clamp")
    unsigned = build.spec(safe, retyped(index.type, dtype="u32"), "_to_u32")
    raw = build.again(op, operands={"index": unsigned}, suffix="_safe_gather").results[0]
    integral = element_word(out) in ("si32", "u32", "u16", "u8")
    filled = build.full(-(1 << 31) if integral else math.nan, out, "_fill")
    return [build.value("where", [mask, filled, raw], out)]


def _vector_gather(module: Module, op: TableOp) -> Result:
    value, index = op.group("input")[0], op.group("index")[0]
    if len(shape_of(value)) != 1:
        return None
    build, out = Build(module, op), shape_of(op.results[0])
    dim = op.get("dim")
    operands = {
        "input": build.reshape(value, (1, *shape_of(value)), "_input_reshape"),
        "index": build.reshape(index, (1, *shape_of(index)), "_index_reshape"),
    }
    moved = integer(dim + 1 if dim >= 0 else dim, "si32")
    type_ = retyped(_result(op), shape=(1, *out))
    made = build.again(op, [type_], operands=operands, suffix="_gather", dim=moved)
    return [build.reshape(made.results[0], out, like=_result(op))]


def _flat_sampling(module: Module, op: TableOp) -> Result:
    values, indices = op.group("input_values")[0], op.group("input_indices")[0]
    shape = shape_of(values)
    if len(shape) != 2:
        return None
    build = Build(module, op)
    operands = {
        "input_values": build.reshape(values, (1, 1, *shape), "_values_reshape"),
        "input_indices": build.reshape(indices, (1, 1, *shape), "_indices_reshape"),
    }
    type_ = retyped(_result(op), shape=(1, 1, 1, shape[0]))
    made = build.again(op, [type_], operands=operands, suffix="_sampling")
    return [build.reshape(made.results[0], (shape[0],), like=_result(op))]


def _diagonal_send(module: Module, op: TableOp) -> Result:
    sender, receiver = op.get("sender_coord"), op.get("receiver_coord")
    if sender[0] == receiver[0] or sender[1] == receiver[1]:
        return None
    build = Build(module, op)
    between = DenseArrayBase.from_list(IntegerType(64), [sender[0], receiver[1]])
    first = build.again(
        op, operands={"optional_output_tensor": None}, suffix="_p2p_to_intermediate", receiver_coord=between
    )
    second = build.again(
        op, operands={"input": first.results[0]}, suffix="_p2p_from_intermediate", sender_coord=between
    )
    return list(second.results)


_ROUTED: Final = 8


def _padded_router(module: Module, op: TableOp) -> Result:
    """The router gives a multiple of eight experts."""
    k = op.get("k")
    padded = -(-k // _ROUTED) * _ROUTED
    if k == padded:
        return None
    build = Build(module, op)
    batch = shape_of(op.results[0])[0]
    types = [retyped(result.type, shape=(batch, padded)) for result in op.results]
    made = build.again(op, types, k=i32_attr(padded))
    return [
        build.slice(new, (0, 0), (batch, k), like=old.type) for new, old in zip(made.results, op.results, strict=True)
    ]


_BEFORE: Final[tuple[Pattern, ...]] = library_patterns(
    (_all_reduce_parts, "all_reduce"),
    (_long_concat, "concat"),
    (_vector_concat, "concat"),
    (_reduce_scatter_four, "reduce_scatter"),
    (_long_scatter, "scatter"),
    (_all_gather_four, "all_gather"),
    (_cumsum_front, "cumsum"),
    (_cumsum_four, "cumsum"),
    (_argmax_four, "argmax"),
    (_long_multiply, "multiply"),
    (_broadcast_subtract, "subtract"),
    (_repeat_operands, "where"),
    (_whole_image, "conv2d"),
    (_heads_by_hand, "concatenate_heads"),
    versions="2025-10",
)
_SINCE: Final[tuple[Pattern, ...]] = library_patterns(
    (_signed_gather, "gather"),
    (_vector_gather, "gather"),
    (_flat_sampling, "sampling"),
    (_all_reduce_four, "all_reduce"),
    (_all_gather_vector, "all_gather"),
    (_reduce_scatter_four, "reduce_scatter"),
    (_integer_product, "prod"),
    (_high_pad, "pad"),
    (_wide_slice, "slice_static"),
    (_diagonal_send, "point_to_point"),
    (_padded_router, "topk_router_gpt"),
    versions="2026-08..",
)
_BOTH: Final[tuple[Pattern, ...]] = library_patterns(
    (_squeezed_table, "embedding"),
    (_padded_upsample, "upsample"),
    (_linear, "linear"),
    (_conv_parts, "conv1d conv2d conv_transpose2d"),
    (_no_stride_folding, "conv2d conv_transpose2d"),
)
