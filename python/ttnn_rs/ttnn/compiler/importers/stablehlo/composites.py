"""Composites: those that TTIR has as one operation; of others the decomposition."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of, tensor
from ttnn.compiler.importers.builder.types import is_signed, width_of
from ttnn.compiler.importers.stablehlo import chlo
from ttnn.compiler.importers.stablehlo.random import uniform
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.attributes import DenseAttr, OpaqueDialectAttr
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["NAMES", "ROWS", "attention"]

_RMS_EPSILON: Final = 1.1920928955078125e-07
"""That of PyTorch's `rms_norm` where none is given.

The distance of float32 numbers at one.
"""


def _ints(value: Any) -> list[int]:
    """Return numbers of a dense or a list attribute."""
    return list(value.ints()) if isinstance(value, DenseAttr) else [int(one) for one in value]


def _gelu(scope: Scope, view: View, given: dict[str, Any]) -> SSAValue:
    del given
    made: SSAValue = scope.b.gelu(scope.operands(view)[0])
    return made


def _norm(name: str, default: float) -> Any:
    def row(scope: Scope, view: View, given: dict[str, Any]) -> SSAValue:
        values: list[SSAValue | None] = [*scope.operands(view)]
        values += [None] * (3 - len(values))
        made: SSAValue = scope.b.op(
            name,
            *values,
            normalized_shape=_ints(given["normalized_shape"]),
            epsilon=float(given.get("epsilon", default)),
        )
        return made

    return row


def _group_norm(scope: Scope, view: View, given: dict[str, Any]) -> SSAValue:
    value, *rest = scope.operands(view)
    more: list[SSAValue | None] = [*rest]
    more += [None] * (2 - len(rest))
    made: SSAValue = scope.b.group_norm(
        value,
        None,
        *more,
        num_groups=given["num_groups"],
        epsilon=float(given.get("epsilon", 1e-5)),
        channel_dim=given.get("channel_dim", len(shape_of(value)) - 1),
    )
    return made


def attention(
    scope: Scope,
    values: list[SSAValue],
    *,
    mask: SSAValue | None,
    sink: SSAValue | None = None,
    causal: bool,
    scale: float | None,
    window: int | None = None,
) -> SSAValue:
    """Return attention; batches and heads that are missing have size 1."""
    shape = shape_of(values[0])
    lead = [1] * (4 - len(shape))
    query, key, value = (scope.reshape(one, [*lead, *shape_of(one)]) for one in values)
    if mask is not None:
        have = shape_of(mask)
        mask = scope.reshape(mask, [*[1] * (4 - len(have)), *have])
    made: SSAValue = scope.b.scaled_dot_product_attention(
        query, key, value, mask, sink, is_causal=causal, scale=scale, sliding_window_size=window
    )
    return scope.reshape(made, [*shape[:-1], shape_of(made)[-1]])


def _attention(scope: Scope, view: View, given: dict[str, Any]) -> SSAValue:
    values = scope.operands(view)
    mask = values[3] if len(values) > 3 else None
    scale = given.get("scale")
    return attention(
        scope,
        values[:3],
        mask=mask,
        causal=bool(given.get("is_causal", False)),
        scale=None if scale is None else float(scale),
    )


def _topk(keep: str) -> Any:
    def row(scope: Scope, view: View, given: dict[str, Any]) -> Any:
        (value, *_) = scope.operands(view)
        types = [scope.type(one) for one in view.types]
        shape = shape_of(types[0])
        both = {
            "values": [types[0], tensor(shape, "i32")],
            "indices": [tensor(shape, element_of(value)), types[0]],
            "both": types,
        }[keep]
        values, indices = scope.b.topk(
            value,
            k=given["k"],
            dim=given.get("dim", -1),
            largest=bool(given.get("largest", True)),
            sorted=bool(given.get("sorted", True)),
            types=both,
        )
        return {"values": values, "indices": indices, "both": [values, indices]}[keep]

    return row


def _argmax(scope: Scope, view: View, given: dict[str, Any]) -> SSAValue:
    (value,) = scope.operands(view)
    dims = [int(given["dim"])] if given.get("dim") is not None else None
    made: SSAValue = scope.b.argmax(
        value, dim_arg=dims, keep_dim=bool(given.get("keepdim", False)), types=[scope.type(view.types[0])]
    )
    return made


def _gather(scope: Scope, view: View, given: dict[str, Any]) -> SSAValue:
    value, index = scope.operands(view)[:2]
    if "dim" not in given:
        return scope.call(view.symbol("decomposition"), scope.operands(view))[0]
    if is_signed(element_of(index)):
        index = scope.cast(index, scalar("ui32" if width_of(element_of(index)) >= 32 else "ui16"))
    made: SSAValue = scope.b.gather(value, index, dim=given["dim"])
    return made


def _uniform(scope: Scope, view: View, given: dict[str, Any]) -> SSAValue:
    del given
    values = scope.operands(view)
    low, high = (scope.splat_of(one) for one in values[-2:])
    if low is None or high is None:
        refuse("with bounds that are no constants has no TTIR operation")
    first, last = sorted((float(low), float(high)))
    return uniform(scope, scope.type(view.types[0]), first, last)


def _adamw(scope: Scope, view: View, given: dict[str, Any]) -> Any:
    names = ("lr", "beta1", "beta2", "beta1_pow", "beta2_pow", "epsilon", "weight_decay")
    values: list[SSAValue | None] = [*scope.operands(view)]
    entries = {name: float(given[name]) for name in names}
    return scope.b.adamw(
        *values,
        stochastic_rounding=bool(given.get("stochastic_rounding", False)),
        types=[scope.type(one) for one in view.types],
        **entries,
    )


_MASKS: Final = ("none", "causal", "arbitrary")


def _training_attention(name: str) -> Any:
    def row(scope: Scope, view: View, given: dict[str, Any]) -> Any:
        entries: dict[str, Any] = {
            "mask_type": OpaqueDialectAttr("ttcore.attention_mask_type", (f"<{_MASKS[given.get('mask_type', 0)]}>",)),
            "dropout_probability": float(given.get("dropout_probability", 0.0)),
        }
        if name == "sdpa_fw":
            entries["return_intermediates"] = len(view.types) > 1
        return scope.b.op(name, *scope.operands(view), types=[scope.type(one) for one in view.types], **entries)

    return row


NAMES: Final = {
    "tenstorrent.gelu": _gelu,
    "tenstorrent.gelu_tanh": _gelu,
    "tenstorrent.rms_norm": _norm("rms_norm", _RMS_EPSILON),
    "tenstorrent.layer_norm": _norm("layer_norm", 1e-5),
    "tenstorrent.group_norm": _group_norm,
    "tenstorrent.scaled_dot_product_attention": _attention,
    "tenstorrent.sdpa_fw": _training_attention("sdpa_fw"),
    "tenstorrent.sdpa_bw": _training_attention("sdpa_bw"),
    "tenstorrent.topk": _topk("both"),
    "tenstorrent.topk_values": _topk("values"),
    "tenstorrent.topk_indices": _topk("indices"),
    "tenstorrent.argmax": _argmax,
    "tenstorrent.gather": _gather,
    "tenstorrent.gather_dim": _gather,
    "tenstorrent.uniform": _uniform,
    "tenstorrent.adamw": _adamw,
}


class _Named(View):
    """A composite that stands for an operation of CHLO."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the composite."""
        return self.entries("composite_attributes").get(name, default)


def _composite(scope: Scope, view: View) -> Any:
    name = view.get("name", "")
    row = NAMES.get(name)
    if row is not None:
        return row(scope, view, view.entries("composite_attributes"))
    if name in chlo.ROWS:
        return chlo.ROWS[name](scope, _Named(view.op, name))
    return scope.call(view.symbol("decomposition"), scope.operands(view))


ROWS: Final = {"stablehlo.composite": _composite}
