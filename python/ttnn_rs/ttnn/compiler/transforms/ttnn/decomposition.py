"""`ttnn-decomposition`: `ttnn` operations that programs avoid.

Where no model of a device objects.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from ttnn.compiler.dialects.kinds import i32_attr, integer
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, Attribute, IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.base import fail
from ttnn.compiler.transforms.rewriting import Pattern, Result, library_patterns, rewrite
from ttnn.compiler.transforms.ttnn.attention_masks import causal_mask, decode_mask, window_mask
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.types import retyped

__all__ = ["run"]

_TILE: Final = 32


def run(module: Module) -> None:
    """Decompose until nothing is left to decompose.

    Raises:
        CompileError: An operation lacks what its decomposition needs.
    """
    rewrite(module, _PATTERNS)


def _result(op: TableOp) -> Attribute:
    kind: Attribute = op.results[0].type
    return kind


def _concatenate_heads(module: Module, op: TableOp) -> Result:
    build = Build(module, op)
    turned = build.permute(op.inputs[0], (0, 2, 1, 3), "_concat_heads")
    return [build.reshape(turned, shape_of(op.results[0]), like=_result(op))]


def _group_norm(module: Module, op: TableOp) -> Result:
    """Group mean and variance, then channel scale and shift."""
    value = op.group("input")[0]
    shape, groups = shape_of(value), op.get("num_groups")
    if len(shape) != 4 or groups <= 0 or shape[3] % groups:
        return None
    build = Build(module, op)
    batch, _, rows, channels = shape
    grouped = build.reshape(value, (batch, rows, groups, channels // groups), "_group_reshape")
    stats = retyped(value.type, shape=(batch, 1, groups, 1))
    dims: dict[str, Any] = {"keep_dim": _flag(1), "dim_arg": _ints(1, 3)}
    mean = build.value("mean", [grouped], stats, suffix="_mean", **dims)
    centred = build.value("subtract", [grouped, mean], grouped.type, suffix="_center")
    squared = build.value("multiply", [centred, centred], grouped.type, suffix="_square")
    variance = build.value("mean", [squared], stats, suffix="_variance", **dims)
    small = build.full(float(op.get("epsilon")), stats, "_eps")
    stable = build.value("add", [variance, small], stats, suffix="_add_eps")
    inverse = build.value("rsqrt", [stable], stats, suffix="_rsqrt")
    normal = build.value("multiply", [centred, inverse], grouped.type, suffix="_normalize")
    made = build.reshape(normal, shape, "_unreshape")
    for name, function in (("weight", "multiply"), ("bias", "add")):
        affine = op.operand(name)
        if affine is not None:
            wide = build.reshape(affine, (1, 1, 1, channels), f"_{name}_reshape")
            made = build.value(function, [made, wide], _result(op), suffix=f"_{name}_{function[:3]}")
    return [made]


def _ints(*values: int) -> Attribute:
    return ArrayAttr([i32_attr(value) for value in values])


def _flag(value: int) -> Attribute:
    return IntegerAttr(value, IntegerType(1))


_MOST_CHANNELS: Final = 4096


def _grouped_convolution(module: Module, op: TableOp) -> Result:
    """Groups of many channels are convolved in chunks of groups."""
    groups, before, after = (op.get(name) for name in ("groups", "in_channels", "out_channels"))
    weight = op.group("weight")[0]
    if groups <= 1 or max(before, after) <= _MOST_CHANNELS or before % groups or after % groups:
        return None
    if shape_of(weight)[0] != after:
        return None
    each = _groups_of_chunk(groups, before // groups, after // groups)
    if each in (0, groups):
        return None
    build = Build(module, op)
    value, bias = op.group("input")[0], op.operand("bias")
    wide, out = each * (before // groups), each * (after // groups)
    shape = shape_of(op.results[0])
    numbers = {"groups": each, "in_channels": wide, "out_channels": out}
    changes: dict[str, Any] = {name: i32_attr(number) for name, number in numbers.items()}
    parts = []
    for chunk in range(groups // each):
        suffix = f"_group_chunk_{chunk}"
        operands: dict[str, Any] = {
            "input": _part(build, value, -1, chunk * wide, wide, suffix),
            "weight": _part(build, weight, 0, chunk * out, out, suffix),
        }
        if bias is not None:
            operands["bias"] = _part(build, bias, -1, chunk * out, out, suffix)
        type_ = retyped(_result(op), shape=(*shape[:-1], out))
        parts.append(build.again(op, [type_], operands=operands, suffix=suffix, **changes).results[0])
    return [build.value("concat", parts, _result(op), dim=integer(len(shape) - 1, "si32"))]


def _groups_of_chunk(groups: int, before: int, after: int) -> int:
    """Return the largest whole-tile group chunk, or the largest.

    It is the number of groups whose channels are whole tiles.
    """
    divisors = [
        count for count in range(min(_MOST_CHANNELS // max(before, after), groups), 0, -1) if groups % count == 0
    ]
    whole = (count for count in divisors if count * before % _TILE == 0 and count * after % _TILE == 0)
    return next(whole, divisors[0] if divisors else 0)


def _part(build: Build, value: SSAValue, dim: int, start: int, size: int, suffix: str) -> SSAValue:
    shape = shape_of(value)
    begins, ends = [0] * len(shape), list(shape)
    begins[dim], ends[dim] = start, start + size
    return build.slice(value, begins, ends, suffix=suffix)


def _attention(module: Module, op: TableOp) -> Result:
    """softmax(scale * Q K^T + mask) V, with keys and values repeated.

    They have fewer heads.
    """
    query, key, value = (op.group(name)[0] for name in ("query", "key", "value"))
    shape, other = shape_of(query), shape_of(key)
    if len(shape) != 4 or len(other) != 4 or shape[1] % other[1]:
        return None
    batch, heads, rows, size = shape
    columns = other[2]
    build = Build(module, op)
    if heads != other[1]:
        repeats: dict[str, Any] = {"repeats": integer(heads // other[1], "ui32"), "dim": integer(1, "si32")}
        key, value = (
            build.value("repeat_interleave", [one], retyped(one.type, shape=(batch, heads, columns, size)), **repeats)
            for one in (key, value)
        )
    turned = build.value(
        "transpose",
        [key],
        retyped(key.type, shape=(batch, heads, size, columns)),
        dim0=integer(-2, "si32"),
        dim1=integer(-1, "si32"),
    )
    kind = retyped(query.type, shape=(batch, heads, rows, columns))
    scores = build.value("matmul", [query, turned], kind)
    given = op.get("scale")
    scale = build.full(float(given) if given is not None else 1 / math.sqrt(size), retyped(query.type, shape=(1,) * 4))
    scores = build.value("multiply", [scores, scale], kind)
    for mask in _masks(build, op, query, (heads, rows, columns)):
        scores = build.value("add", [scores, mask], kind)
    sink = op.operand("attention_sink")
    if sink is not None:
        scores = _with_sink(build, scores, sink, scale, query.type)
    weights = build.value("softmax", [scores], scores.type, dimension=integer(-1, "si32"), numericStable=_flag(1))
    if sink is not None:
        weights = build.slice(weights, (0,) * 4, (batch, heads, rows, columns))
    return [build.value("matmul", [weights, value], retyped(query.type, shape=shape))]


def _masks(build: Build, op: TableOp, query: SSAValue, sizes: tuple[int, int, int]) -> list[SSAValue]:
    heads, rows, columns = sizes
    found = []
    mask, window = op.operand("attention_mask"), op.get("sliding_window_size")
    if mask is not None:
        shape = shape_of(mask)
        if shape[1] == 1 and heads > 1:
            mask = build.repeat(mask, (shape[0], heads, *shape[2:]))
        found.append(mask)
    causal = bool(op.get("is_causal"))
    if window is not None:
        found.append(window_mask(build, query.type, rows, columns, window, causal=causal))
    elif mask is None and causal:
        found.append(causal_mask(build, query.type, rows, columns))
    return found


def _with_sink(build: Build, scores: SSAValue, sink: SSAValue, scale: SSAValue, type_: Attribute) -> SSAValue:
    """Return scores with those of sinks as further columns."""
    batch, heads, rows, columns = shape_of(scores)
    scaled = build.value("multiply", [sink, scale], sink.type)
    more = shape_of(sink)[-1]
    wanted = (batch, heads, rows, more)
    if shape_of(scaled) != wanted:
        scaled = build.repeat(scaled, wanted)
    joined = retyped(type_, shape=(batch, heads, rows, columns + more))
    return build.value("concat", [scores, scaled], joined, dim=integer(-1, "si32"))


def _attention_of_step(module: Module, op: TableOp) -> Result:
    """Attention of one position, [1, B, H, D], as one-row attention."""
    query, key = op.group("query")[0], op.group("key")[0]
    shape = shape_of(query)
    if len(shape) != 4 or len(shape_of(key)) != 4:
        return None
    build = Build(module, op)
    turned = build.permute(query, (1, 2, 0, 3))
    given = op.get("scale")
    scale = float(given) if given is not None else 1 / math.sqrt(shape[3])
    mask = decode_mask(build, op, shape[1], shape_of(key)[2], scale)
    sink = op.operand("attention_sink")
    if sink is not None and len(shape_of(sink)) == 2:
        heads, columns = shape_of(sink)
        sink = build.slice(build.reshape(sink, (1, heads, 1, columns)), (0,) * 4, (1, heads, 1, 1))
    operands = {
        "query": turned,
        "key": key,
        "value": op.group("value")[0],
        "attention_mask": mask,
        "attention_sink": sink,
    }
    made = build.value(
        "scaled_dot_product_attention",
        operands,
        turned.type,
        is_causal=_flag(0),
        scale=op.properties.get("scale"),
    )
    return [build.permute(made, (2, 0, 1, 3))]


_STATISTICS: Final = 64


def _distributed_layer_norm(module: Module, op: TableOp) -> Result:
    """Gathered part sums of the axis, then normalized parts.

    They are of all chips.
    """
    value, device = op.group("input")[0], op.operand("device")
    mesh = (
        device.owner.properties.get("mesh_shape") if device is not None and isinstance(device.owner, TableOp) else None
    )
    # `#ttnn<mesh_shape 1x2>` is an older spelling, which is kept as text.
    sizes = re.search(r"(\d+)x(\d+)", attribute_text(mesh)) if mesh is not None else None
    if sizes is None:
        raise fail(module, op, "expected device to be defined by a GetDeviceOp with a mesh_shape attribute")
    chips = int(sizes.group(1 if op.get("cluster_axis") == 0 else 2))
    build = Build(module, op)
    residual = op.operand("residual")
    if residual is not None:
        value = build.value("add", [value, residual], value.type, suffix="_residual_add")
    shape = shape_of(value)
    part = retyped(value.type, shape=(*shape[:-1], _STATISTICS))
    sums = build.value("layer_norm_pre_all_gather", {"input": value}, part, suffix="_pre_all_gather")
    whole = build.value(
        "all_gather",
        [sums],
        retyped(value.type, shape=(*shape[:-1], _STATISTICS * chips)),
        suffix="_all_gather",
        all_gather_dim=integer(len(shape) - 1, "si32"),
        cluster_axis=op.properties["cluster_axis"],
    )
    operands = {"input": value, "stats": whole, "weight": op.operand("weight"), "bias": op.operand("bias")}
    epsilon = op.properties.get("epsilon")
    return [
        build.value("layer_norm_post_all_gather", operands, _result(op), suffix="_post_all_gather", epsilon=epsilon)
    ]


_PATTERNS: Final[tuple[Pattern, ...]] = library_patterns(
    (_distributed_layer_norm, "distributed_layer_norm"),
    (_grouped_convolution, "conv1d conv2d"),
    (_concatenate_heads, "concatenate_heads"),
    (_group_norm, "group_norm"),
    (_attention, "scaled_dot_product_attention"),
    (_attention_of_step, "scaled_dot_product_attention_decode"),
)
