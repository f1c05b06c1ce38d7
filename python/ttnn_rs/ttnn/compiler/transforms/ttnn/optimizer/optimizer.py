"""`ttnn-optimizer`: rewrites that are kept if the predicted time falls."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.verifier import verify
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType
from ttnn.compiler.transforms.base import table_ops
from ttnn.compiler.transforms.rewriting import Pattern, library_patterns, rewrite
from ttnn.compiler.transforms.ttnn import const_eval_hoist, deallocate, decompose_layouts
from ttnn.compiler.transforms.ttnn.layout.chip import chip_of, worker_grid
from ttnn.compiler.transforms.ttnn.optimizer.attention import (
    attention,
    cast_and_back,
    flat_product,
    join_heads,
    split_heads,
)
from ttnn.compiler.transforms.ttnn.optimizer.layouts import rows_of_results
from ttnn.compiler.transforms.ttnn.optimizer.model import Log, Model, ModelOfDevice, ProductConfig, Time
from ttnn.compiler.transforms.ttnn.optimizer.products import attribute_of, choices, compute_of, products_of

__all__ = ["run"]

_NUMBER: Final = "optimizer.product"
"""Attribute with a product's number in the lowered copy."""
EXACT, BLOCKS, FORMULA = "exact", "blocks", "formula"
"""Classes of rewrites, by what of the values may change.

Nothing; the order of additions; the roundings of intermediate values."""


@dataclass(frozen=True)
class _Fusion:
    """A rewrite.

    Attributes:
        name: For the log.
        kind: Its class.
        patterns: What it applies.
    """

    name: str
    kind: str
    patterns: tuple[Pattern, ...]


_CASTS: Final = library_patterns((cast_and_back, "typecast to_tensor_spec"))
FUSIONS: Final = (
    _Fusion("attention", FORMULA, (*library_patterns((attention, "matmul")), *_CASTS)),
    _Fusion("join heads", EXACT, library_patterns((join_heads, "reshape"))),
    _Fusion("split heads", FORMULA, library_patterns((split_heads, "scaled_dot_product_attention"))),
    _Fusion("products in batches", BLOCKS, library_patterns((flat_product, "matmul linear"))),
    _Fusion("casts", EXACT, _CASTS),
)


def _lowered(module: Module, *, constants: bool) -> Module:
    """Return a copy of a module as it is executed.

    Args:
        module: The module.
        constants: Whether what depends on parameters only becomes functions of its own.
    """
    copy = _copy(module)
    if constants:
        const_eval_hoist.run(copy)
        const_eval_hoist.inputs_to_host(copy)
    decompose_layouts.run(copy)
    deallocate.run(copy)
    return copy


def _copy(module: Module) -> Module:
    return replace(module, op=module.op.clone(), places={}, hoisted=set())


class _Search:
    """The best module so far, and its time."""

    def __init__(self, module: Module, model: Model, log: Callable[[str], None], *, constants: bool = True) -> None:
        self.module, self.model, self.log, self.constants = module, model, log, constants
        self.before = self.best = self.model.time(_lowered(module, constants=constants))
        self.withheld: list[tuple[str, int]] = []

    def consider(self, name: str, kind: str, change: Callable[[Module], bool], *, allowed: bool) -> None:
        """Apply a rewrite to a copy; take it if faster."""
        changed = _copy(self.module)
        if not change(changed):
            return
        try:
            verify(changed)
            found = self.model.time(_lowered(changed, constants=self.constants))
        except TtnnError as error:
            self.log(f"{name} ({kind}) refused: {error}")
            return
        gain = self.best.nanoseconds - found.nanoseconds
        verdict = "kept" if gain > 0 else "withheld"
        if gain > 0 and not allowed:
            verdict = "withheld by preserve-bits"
            self.withheld.append((name, gain))
        self.log(f"{name} ({kind}) {verdict}: {_us(self.best)} -> {_us(found)} us")
        if verdict == "kept":
            self.module, self.best = changed, found


def _rows_of_results(module: Module) -> bool:
    """Return whether results were changed to rows."""
    # Not by `rewrite`: these do not stand before the operation that they replace.
    return bool([op for op in table_ops(module.op, "ttnn.reshape") if rows_of_results(module, op)])


def _configure(search: _Search) -> None:
    """Choose program configurations of products; blocks."""
    rows, columns = worker_grid(search.module)
    arch = str(chip_of(search.module).arch)
    copy = _copy(search.module)
    candidates: dict[int, list[ProductConfig]] = {}
    for number, op in enumerate(products_of(copy)):
        candidates[number] = choices(op, (columns, rows), arch)
        op.attributes[_NUMBER] = IntegerAttr(number, IntegerType(32))
    lowered = _lowered(copy, constants=search.constants)
    numbers: dict[tuple[str, int], int] = {}
    for function in lowered.functions():
        block = function.body.blocks.first
        for place, op in enumerate(op for op in block.ops if op.name != "func.return") if block is not None else ():
            mark = op.attributes.get(_NUMBER)
            if isinstance(mark, IntegerAttr) and candidates[mark.value.data]:
                numbers[function.sym_name.data, place] = mark.value.data
    times = search.model.alternatives(lowered, {key: candidates[number] for key, number in numbers.items()})
    chosen: dict[int, ProductConfig] = {}
    for key, (before, found) in times.items():
        legal = sorted((time, index) for index, time in enumerate(found) if time is not None)
        if not legal or legal[0][0] >= before:
            continue
        number = numbers[key]
        best, index = legal[0]
        chosen[number] = candidates[number][index]
        runner = legal[1][0] if len(legal) > 1 else before
        search.log(
            f"product {number}: {before / 1000:.1f} -> {best / 1000:.1f} us, {len(legal)} of {len(found)} "
            f"configurations legal, runner-up {runner / 1000:.1f} us"
        )

    def change(module: Module) -> bool:
        for number, op in enumerate(products_of(module)):
            if number in chosen:
                op.properties["matmul_program_config"] = attribute_of(chosen[number])
                if chosen[number].fidelity:
                    op.properties["compute_config"] = compute_of(chosen[number])
        return bool(chosen)

    search.consider("product configurations", BLOCKS, change, allowed=True)


def _withheld(search: _Search) -> str:
    """Return how many rewrites were faster and change bits that are preserved."""
    if not search.withheld:
        return ""
    gains = sum(gain for _, gain in search.withheld) / 1e6
    return f"; withheld by preserve-bits: {len(search.withheld)}, predicted {gains:.3f} ms"


def _us(found: Time) -> str:
    return f"{found.nanoseconds / 1000:.1f}"


def run(module: Module, options: dict[str, Any]) -> None:
    """Rewrite a module where that is predicted to be faster.

    A module that cannot be timed as it is stays so; one line says why.

    Raises:
        UnsupportedError: There is no model of a device.
    """
    begin = time.perf_counter()
    lines: list[str] = []
    model = ModelOfDevice.get()
    try:
        search = _Search(module, model, lines.append, constants=options["enable-const-eval"])
    except TtnnError as error:
        sys.stderr.write(f"[optimizer] not optimized, since the program has no predicted time: {error}\n")
        return
    for fusion in FUSIONS:

        def change(copy: Module, patterns: tuple[Pattern, ...] = fusion.patterns) -> bool:
            return rewrite(copy, patterns)

        search.consider(fusion.name, fusion.kind, change, allowed=fusion.kind == EXACT or not options["preserve-bits"])
    search.consider("results in rows", EXACT, _rows_of_results, allowed=True)
    if not options["preserve-bits"]:
        _configure(search)
    if search.module is not module:
        module.op.detach_region(0)
        module.op.add_region(search.module.op.detach_region(0))
    if Log.on:
        sys.stderr.write("".join(f"[optimizer] {line}\n" for line in lines))
    before, after = search.before, search.best
    factor = before.nanoseconds / max(1, after.nanoseconds)
    sys.stderr.write(
        f"[optimizer] predicted {before.nanoseconds / 1e6:.3f} ms -> {after.nanoseconds / 1e6:.3f} ms ({factor:.2f}x), "
        f"{before.operations} -> {after.operations} device operations, {search.model.queries} queries, "
        f"{time.perf_counter() - begin:.1f} s{_withheld(search)}\n"
    )
