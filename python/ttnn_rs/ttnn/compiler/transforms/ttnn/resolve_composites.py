"""`ttnn-resolve-composites`: composite operations become their decompositions, or one operation of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, DictionaryAttr, FuncOp, IntegerAttr, Operation, SymbolRefAttr
from ttnn.compiler.transforms.base import erase, fail, replace
from ttnn.compiler.transforms.inline_call import inline_call
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.transforms.ttnn.build import Build

__all__ = ["run"]

_RESOLUTIONS: Final = ("auto", "inline", "validate", "force-promote")


def _named(op: Operation) -> dict[str, Attribute]:
    """The attributes of a composite by name."""
    given = op.properties.get("composite_attributes")
    return dict(given.data) if isinstance(given, DictionaryAttr) else {}


def _flag(attributes: dict[str, Attribute], name: str) -> bool:
    value = attributes.get(name)
    return isinstance(value, IntegerAttr) and value.value.data != 0


def _latent_attention(build: Build, op: Operation) -> TableOp:
    """Attention with values from keys or a tensor, per flags.

    From the first columns of the keys; flags state which operands there are.
    """
    given = _named(op)
    rest = iter(op.operands[2:])
    operands = {"query": op.operands[0], "key": op.operands[1]}
    operands |= {name: next(rest) for name in ("value", "attention_mask") if _flag(given, f"has_{name}")}
    kept: dict[str, Any] = {name: given.get(name) for name in ("head_dim_v", "is_causal", "scale")}
    return build.op("flash_mla_prefill", operands, [value.type for value in op.results], **kept)


def _same(name: str, *attributes: str) -> Callable[[Build, Operation], TableOp]:
    """A `ttnn` operation with the composite's operands and attributes.

    Attributes of these names.
    """

    def promoted(build: Build, op: Operation) -> TableOp:
        given = _named(op)
        kept: dict[str, Any] = {one: given.get(one) for one in attributes}
        return build.op(name, list(op.operands), [value.type for value in op.results], **kept)

    return promoted


_PROMOTED: Final[dict[str, Callable[[Build, Operation], TableOp]]] = {
    "flash_mla_prefill": _latent_attention,
    "rotary_embedding": _same("rotary_embedding"),
    "topk_router_gpt": _same("topk_router_gpt", "k", "num_experts"),
}


def _promote(module: Module, op: Operation) -> bool:
    """Replace a composite by a `ttnn` operation; return whether one exists."""
    name = getattr(op.properties.get("composite_name"), "data", "")
    promoted = _PROMOTED.get(name)
    if promoted is None:
        return False
    replace(op, promoted(Build(module, op), op).results)
    return True


def run(module: Module, options: dict[str, Any]) -> None:
    """Replace composites by their decompositions, removing unused ones.

    They are replaced by the bodies.

    With `force-promote`, those that the library has become one operation. The other resolutions do so only where a
    model of a device finds that better, and there is none here.

    Raises:
        OptionError: The option has another value than those of the official pass.
        CompileError: A decomposition does not exist.
    """
    word = options["composite-resolution"]
    if word not in _RESOLUTIONS:
        raise OptionError(f"option composite-resolution is one of {', '.join(_RESOLUTIONS)}, not {word!r}.")
    if word == "validate":
        message = f"composite-resolution={word} requires the optimizer; falling back to inline"
        module.warnings.append(module.at(module.op, message, severity="warning"))
    functions: dict[str, FuncOp] = {function.sym_name.data: function for function in module.functions()}
    used: set[FuncOp] = set()
    # Decompositions may hold composites themselves.
    rounds = 0
    while found := [op for op in module.op.walk() if op.name == "ttcore.composite"]:
        rounds += 1
        for op in found:
            name = op.properties["decomposition"]
            assert isinstance(name, SymbolRefAttr)
            function = functions.get(name.root_reference.data)
            if function is None or len(function.regions[0].blocks) != 1:
                raise fail(module, op, f"decomposition @{name.root_reference.data} is no function with a body")
            if word == "force-promote" and _promote(module, op):
                used.add(function)
                continue
            if op.parent_op() is function or rounds > len(functions):
                raise fail(module, op, "is part of its own decomposition")
            inline_call(op, function)
            used.add(function)
    for function in used:
        if getattr(function.properties.get("sym_visibility"), "data", "") == "private":
            erase(function)
