"""Decompositions of `ttnn-workaround` for attention and caches."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.dialects.kinds import f32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.rewriting import Pattern, Result, library_patterns
from ttnn.compiler.transforms.ttnn.build import Build, change_operands
from ttnn.compiler.transforms.ttnn.layout.chip import chip_of, sharded, worker_grid
from ttnn.compiler.transforms.ttnn.layout.types import retyped, tensor_layout

__all__ = ["ATTENTION", "PAGED_UPDATE"]

_TILE: Final = 32


def _up(size: int) -> int:
    return -(-size // _TILE) * _TILE


def _padded(build: Build, value: SSAValue, dim: int, size: int, *, suffix: str = "") -> SSAValue:
    shape = shape_of(value)
    padding = [0] * (2 * len(shape))
    padding[2 * dim + 1] = size - shape[dim]
    return build.pad(value, padding, multicore=True, suffix=suffix)


def _fill_cache(module: Module, op: TableOp) -> Result:
    """Rows after the sequence are cleared.

    Up to the end of the tile.
    """
    value = op.group("input")[0]
    shape = shape_of(value)
    if len(shape) < 2 or shape[-2] % _TILE == 0:
        return None
    size = _up(shape[-2])
    if op.name == "ttnn.fill_cache" and size > shape_of(op.group("cache")[0])[-2]:
        return None
    change_operands(op, input=_padded(Build(module, op), value, len(shape) - 2, size, suffix="_scrub_input_pad"))
    return True


def _rotary(module: Module, op: TableOp) -> Result:
    """The kernel gives whole tiles of positions."""
    out = shape_of(op.results[0])
    if len(out) < 2 or out[-2] % _TILE == 0:
        return None
    build = Build(module, op)
    made = build.again(op, [retyped(op.results[0].type, shape=(*out[:-2], _up(out[-2]), out[-1]))])
    return [build.slice(made.results[0], (0,) * len(out), out, like=op.results[0].type)]


def _sink(module: Module, op: TableOp) -> Result:
    """Head sinks are a tile column: one row per head."""
    sink = op.operand("attention_sink")
    if sink is None:
        return None
    shape = shape_of(sink)
    if len(shape) != 4 or shape[2:] != (1, 1):
        return None
    build, heads = Build(module, op), shape[1]
    if shape[0] != 1:
        sink = build.slice(sink, (0, 0, 0, 0), (1, heads, 1, 1))
    column = build.reshape(sink, (heads, 1))
    change_operands(op, attention_sink=_padded(build, column, 1, _TILE))
    return True


def _mask_of_heads(module: Module, op: TableOp) -> Result:
    mask, query = op.operand("attention_mask"), op.group("query")[0]
    if mask is None or len(shape_of(mask)) != 4 or len(shape_of(query)) != 4:
        return None
    shape, heads = shape_of(mask), shape_of(query)[2]
    if shape[2] != 1 or heads == 1:
        return None
    change_operands(op, attention_mask=Build(module, op).repeat(mask, (*shape[:2], heads, shape[3])))
    return True


def _exact_exponent(module: Module, op: TableOp) -> Result:
    """On Blackhole the approximate exponential of the default program is too coarse."""
    if chip_of(module).arch != "blackhole":
        return None
    config = op.properties.get("program_config")
    text = attribute_text(config) if config is not None else ""
    if "exp_approx_mode = false" in text:
        return None
    if text:
        inner = text[text.index("<") + 1 : text.rindex(">")]
        inner = inner.replace("exp_approx_mode = true", "exp_approx_mode = false")
        if "exp_approx_mode" not in inner:
            head, found, tail = inner.partition(", max_cores_per_head_batch")
            inner = f"{head}, exp_approx_mode = false{found}{tail}"
    else:
        rows, columns = worker_grid(module)
        inner = (
            f"compute_with_storage_grid_size = #ttnn.core_coord<{columns}, {rows}>, q_chunk_size = 32, "
            "k_chunk_size = 32, exp_approx_mode = false, max_cores_per_head_batch = 1"
        )
    op.properties["program_config"] = OpaqueDialectAttr("ttnn.sdpa_program_config", (f"<{inner}>",))
    return True


def _whole_heads(module: Module, op: TableOp) -> Result:
    """Heads are zero-padded to whole tiles, with unchanged scores."""
    query, key, value = (op.group(name)[0] for name in ("query", "key", "value"))
    size = shape_of(query)[-1]
    if size % _TILE == 0:
        return None
    build = Build(module, op)
    operands = {
        name: _padded(build, one, len(shape_of(one)) - 1, _up(size))
        for name, one in (("query", query), ("key", key), ("value", value))
    }
    changes: dict[str, Any] = {}
    if op.get("scale") is None:
        # The default scale is that of the size before padding.
        changes["scale"] = f32_attr(size**-0.5)
    made = build.again(op, [operands["query"].type], operands=operands, **changes)
    out = shape_of(op.results[0])
    return [build.slice(made.results[0], (0,) * len(out), out, like=op.results[0].type)]


def _split_heads(module: Module, op: TableOp) -> Result:
    """Heads that are not whole tiles are cut by slices."""
    query_shape = shape_of(op.results[0])
    size = query_shape[3]
    if size % _TILE == 0:
        return None
    value, other = op.group("input_tensor")[0], op.operand("kv_input_tensor")
    heads, others = op.get("num_heads"), op.get("num_kv_heads")
    if others is not None and other is None:
        return None
    build = Build(module, op)
    batch, rows, columns = shape_of(value)

    def part(source: SSAValue, index: int, width: int, name: str) -> SSAValue:
        begin = (0, 0, index * width)
        return build.slice(source, begin, (batch, rows, (index + 1) * width), suffix=name)

    def wide(source: SSAValue, count: int, name: str) -> SSAValue:
        shape = shape_of(source)
        return build.reshape(source, (batch, shape[1], count, shape[2] // count), f"_reshape_{name}")

    def turned(source: SSAValue, name: str) -> SSAValue:
        return build.permute(source, (0, 2, 1, 3), f"_permute_{name}")

    if other is not None and others is not None:
        width = others * size
        query = turned(wide(value, heads, "query"), "query")
        parts = [part(other, i, width, f"_slice_{n}") for i, n in enumerate("kv")]
        key, values = (turned(wide(one, others, n), n) for one, n in zip(parts, "kv", strict=True))
    else:
        width = columns // 3
        parts = [part(value, i, width, f"_split_{n}") for i, n in enumerate("qkv")]
        parts = [wide(one, heads, n) for one, n in zip(parts, "qkv", strict=True)]
        query, key, values = (turned(one, n) for one, n in zip(parts, "qkv", strict=True))
    if op.get("transpose_key"):
        key = build.permute(key, (0, 1, 3, 2), "_transpose_k")
    return [query, key, values]


def _decode_heads(module: Module, op: TableOp) -> Result:
    """Each user's heads lie on a core of its own."""
    value = op.inputs[0]
    layout = tensor_layout(value)
    if layout.space == "l1" and layout.mem_layout == "height_sharded":
        return None
    type_ = sharded(module, value.type, "height_sharded", (shape_of(value)[1], 1))
    change_operands(op, input=Build(module, op).spec(value, type_))
    return True


def _paged_update(module: Module, op: TableOp) -> Result:
    """Each user's row lies on a core of its own."""
    value = op.group("input")[0]
    type_ = sharded(module, value.type, "height_sharded", (shape_of(value)[1], 1))
    if value.type == type_:
        return None
    change_operands(op, input=Build(module, op).spec(value, type_))
    return True


ATTENTION: Final[tuple[Pattern, ...]] = library_patterns(
    (_rotary, "rotary_embedding"),
    (_fill_cache, "fill_cache paged_fill_cache"),
    (_decode_heads, "nlp_concat_heads_decode"),
    (_split_heads, "split_query_key_value_and_split_heads"),
    (_sink, "scaled_dot_product_attention_decode"),
    (_mask_of_heads, "scaled_dot_product_attention_decode"),
    (_exact_exponent, "paged_scaled_dot_product_attention_decode"),
    (_whole_heads, "scaled_dot_product_attention"),
    versions="2026-08..",
)
PAGED_UPDATE: Final[tuple[Pattern, ...]] = library_patterns(
    (_paged_update, "paged_update_cache"),
    versions="2026-08..",
)
