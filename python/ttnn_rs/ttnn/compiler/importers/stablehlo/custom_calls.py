"""Custom calls, by their targets.

Caches, attention, functions of MHLO, placement on devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.importers.builder.types import is_float
from ttnn.compiler.importers.sharding import gspmd
from ttnn.compiler.importers.stablehlo import composites
from ttnn.compiler.importers.stablehlo.collectives import mesh_shard
from ttnn.compiler.importers.stablehlo.composites import attention
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_FRONTEND: Final = "mhlo.frontend_attributes"


class _Texts:
    """Attributes that frontends write as strings."""

    def __init__(self, view: View) -> None:
        self._entries = view.entries(_FRONTEND)

    def text(self, name: str) -> str | None:
        """Return an attribute, or None."""
        found = self._entries.get(name)
        return None if found is None else str(found)

    def truth(self, name: str, default: bool = False) -> bool:
        """Return whether an attribute says true."""
        found = self.text(name)
        return default if found is None else found.lower() in ("true", "1")

    def number(self, name: str) -> int | None:
        """Return a whole number, or None."""
        found = self.text(name)
        try:
            return None if found is None else int(found)
        except ValueError:
            refuse(f"has {name} = {found!r}, which is no whole number")

    def real(self, name: str) -> float | None:
        """Return a number, or None."""
        found = self.text(name)
        try:
            return None if found is None else float(found)
        except ValueError:
            refuse(f"has {name} = {found!r}, which is no number")


def _cache(name: str) -> Any:
    """Return the row of a cache that is changed in place.

    It is the result.
    """

    def row(scope: Scope, view: View, texts: _Texts) -> SSAValue:
        values = scope.operands(view)
        scope.b.op(name, *values, batch_offset=texts.number("batch_offset") or 0)
        return values[0]

    return row


def _paged_cache(name: str) -> Any:
    """Return the row of a cache that is changed in place.

    It is the result.
    """

    def row(scope: Scope, view: View, texts: _Texts) -> SSAValue:
        values: list[SSAValue | None] = [*scope.operands(view)]
        values += [None] * (4 - len(values))
        entries = {"share_cache": texts.truth("share_cache")} if name == "paged_update_cache" else {}
        scope.b.op(name, *values, **entries)
        cache = values[0]
        assert cache is not None
        return cache

    return row


def _attention(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    values = scope.operands(view)
    rest = values[3:]
    has_sink = texts.truth("has_attention_sink")
    has_mask = texts.truth("has_attention_mask", len(rest) > int(has_sink))
    mask = rest.pop(0) if has_mask and rest else None
    sink = rest.pop(0) if has_sink and rest else None
    return attention(
        scope,
        values[:3],
        mask=mask,
        sink=sink,
        causal=texts.truth("is_causal", True),
        scale=texts.real("scale"),
        window=texts.number("sliding_window_size"),
    )


def _optional(rest: list[SSAValue], present: bool) -> SSAValue | None:
    return rest.pop(0) if present and rest else None


def _decode(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    query, key, value, position, *rest = scope.operands(view)
    mask = _optional(rest, texts.truth("has_attention_mask"))
    sink = _optional(rest, texts.truth("has_attention_sink"))
    made: SSAValue = scope.b.scaled_dot_product_attention_decode(
        query,
        key,
        value,
        mask,
        position,
        sink,
        is_causal=texts.truth("is_causal", True),
        scale=texts.real("scale"),
        types=[scope.type(view.types[0])],
    )
    return made


def _paged_decode(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    query, key, value, table, *rest = scope.operands(view)
    mask = _optional(rest, texts.truth("has_attention_mask"))
    position = _optional(rest, texts.truth("has_cur_pos_tensor"))
    sink = _optional(rest, texts.truth("has_attention_sink"))
    type_ = scope.type(view.types[0])
    made: SSAValue = scope.b.paged_scaled_dot_product_attention_decode(
        query,
        key,
        value,
        table,
        scope.b.empty(types=[type_]),
        mask,
        position,
        sink,
        is_causal=texts.truth("is_causal", True),
        scale=texts.real("scale"),
        sliding_window_size=texts.number("sliding_window_size"),
        types=[type_],
    )
    return made


def _latent_decode(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    query, key, *rest = scope.operands(view)
    value = _optional(rest, texts.truth("has_value"))
    table = rest.pop(0)
    mask = _optional(rest, texts.truth("has_attention_mask"))
    position = _optional(rest, texts.truth("has_cur_pos_tensor"))
    sink = _optional(rest, texts.truth("has_attention_sink"))
    made: SSAValue = scope.b.paged_flash_multi_latent_attention_decode(
        query,
        key,
        value,
        table,
        mask,
        position,
        sink,
        head_dim_v=texts.number("head_dim_v"),
        is_causal=texts.truth("is_causal", True),
        scale=texts.real("scale"),
        types=[scope.type(view.types[0])],
    )
    return made


def _chunked(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    type_ = scope.type(view.types[0])
    made: SSAValue = scope.b.chunked_scaled_dot_product_attention(
        *scope.operands(view), scope.b.empty(types=[type_]), scale=texts.real("scale"), types=[type_]
    )
    return made


def _sampling(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    made: SSAValue = scope.b.sampling(
        *scope.operands(view), seed=texts.number("seed"), types=[scope.type(view.types[0])]
    )
    return made


def _sparse(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    nnz = texts.number("nnz")
    made: SSAValue = scope.b.sparse_matmul(
        *scope.operands(view),
        is_input_a_sparse=texts.truth("is_input_a_sparse"),
        is_input_b_sparse=texts.truth("is_input_b_sparse", True),
        nnz=nnz or None,
        types=[scope.type(view.types[0])],
    )
    return made


def _function(name: str) -> Any:
    def row(scope: Scope, view: View, texts: _Texts) -> SSAValue:
        del texts
        made: SSAValue = scope.b.op(name, scope.operands(view)[0])
        return made

    return row


def _topk(scope: Scope, view: View, texts: _Texts) -> Any:
    del texts
    given = view.entries("mhlo.attributes")
    types = [scope.type(one) for one in view.types]
    return scope.b.topk(
        scope.operands(view)[0],
        k=given["k"],
        dim=-1,
        largest=bool(given.get("largest", True)),
        sorted=True,
        types=types,
    )


def _same(scope: Scope, view: View, texts: _Texts) -> list[SSAValue]:
    del texts
    return scope.operands(view)[: len(view.types)]


def _sharding(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    """Remember the placement of a value, which the next call asks for."""
    del texts
    (value,) = scope.operands(view)
    scope.placements[view.op.results[0]] = view.get("mhlo.sharding", "{replicated}")
    return value


def _shard(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    """Cut a tensor into parts, or join it.

    Arguments that are parts already stay as they are.
    """
    del texts
    (value,) = scope.operands(view)
    inwards = view.get("call_target_name") == "SPMDFullToShardShape"
    type_ = scope.type(view.types[0])
    if inwards and value in scope.local:
        return value
    text = scope.placements.get(view.op.operands[0], "{replicated}") if inwards else view.get("mhlo.sharding", "")
    try:
        placement = gspmd(text, scope.mesh)
    except ValueError as error:
        refuse(f": {error}")
    if placement is None:
        return value
    return mesh_shard(scope, value, placement, "full_to_shard" if inwards else "shard_to_full", type_)


def _partition(scope: Scope, view: View, texts: _Texts) -> SSAValue:
    """Keep the part of a device."""
    (value,) = scope.operands(view)
    made: SSAValue = scope.b.mesh_partition(
        value, dim=texts.number("dim"), cluster_axis=texts.number("cluster_axis"), types=[scope.type(view.types[0])]
    )
    return made


_Target = Callable[[Scope, View, _Texts], Any]

_TARGETS: Final[dict[str, _Target]] = {
    "Sharding": _sharding,
    "SPMDFullToShardShape": _shard,
    "SPMDShardToFullShape": _shard,
    "mhlo.erf": _function("erf"),
    "mhlo.asinh": _function("asinh"),
    "mhlo.topk": _topk,
    "tt.fill_cache": _cache("fill_cache"),
    "tt.update_cache": _cache("update_cache"),
    "tt.paged_fill_cache": _paged_cache("paged_fill_cache"),
    "tt.paged_update_cache": _paged_cache("paged_update_cache"),
    "tt.scaled_dot_product_attention": _attention,
    "tt.scaled_dot_product_attention_decode": _decode,
    "tt.paged_scaled_dot_product_attention_decode": _paged_decode,
    "tt.paged_flash_mla_decode": _latent_decode,
    "tt.chunked_scaled_dot_product_attention": _chunked,
    "tt.sampling": _sampling,
    "tt.sparse_matmul": _sparse,
    "tt.mesh_partition": _partition,
    "tt.mark_argument": _same,
    "tt.sharding_constraint": _same,
    "annotate_device_placement": _same,
}


def _custom_call(scope: Scope, view: View) -> Any:
    target = view.get("call_target_name", "")
    if target in composites.NAMES:
        return composites.NAMES[target](scope, view, view.entries("tt.composite_attributes"))
    row = _TARGETS.get(target)
    if row is None:
        refuse(f': custom_call target "{target}" is unknown')
    if target.startswith("mhlo.") and not is_float(scope.type(view.op.operands[0].type).element_type):
        refuse("of integers has no TTIR operation")
    return row(scope, view, _Texts(view))


ROWS: Final = {"stablehlo.custom_call": _custom_call}
