"""The greedy rewriting of operations."""

from __future__ import annotations

import pytest

from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir import CompileError, Module
from ttnn.compiler.transforms.rewriting import Result, pattern, rewrite
from ttnn.compiler.transforms.ttir.build import new
from ttnn.compiler.versions import parse_module

CHAIN = """
func.func @f(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.neg"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.sin"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
"""


def names(module: Module) -> list[str]:
    return [op.name.removeprefix("ttir.") for op in module.op.walk() if isinstance(op, TableOp)]


def test_created_operations_are_rewritten_and_dead_ones_erased() -> None:
    module = parse_module(CHAIN)

    def to_abs(module: Module, op: TableOp) -> Result:
        return [new(module, op, "abs", list(op.inputs), (32, 32))]

    def to_cos(module: Module, op: TableOp) -> Result:
        return [new(module, op, "cos", list(op.inputs), (32, 32))]

    assert rewrite(module, [pattern(to_abs, "neg"), pattern(to_cos, "abs")])
    assert names(module) == ["exp", "cos"]
    assert not rewrite(module, [pattern(to_abs, "neg")])


def test_patterns_apply_in_their_order() -> None:
    module = parse_module(CHAIN)

    def first(module: Module, op: TableOp) -> Result:
        return [new(module, op, "floor", list(op.inputs), (32, 32))]

    def second(module: Module, op: TableOp) -> Result:
        return [new(module, op, "ceil", list(op.inputs), (32, 32))]

    rewrite(module, [pattern(first, "neg"), pattern(second, "neg", "exp")])
    assert names(module) == ["ceil", "floor"]


def test_in_place_changes_are_revisited() -> None:
    module = parse_module(CHAIN)

    def skip(module: Module, op: TableOp) -> Result:
        producer = op.inputs[0].owner
        if not isinstance(producer, TableOp):
            return None
        op.operands[0] = producer.inputs[0]
        return True

    assert rewrite(module, [pattern(skip, "neg")])
    assert names(module) == ["neg"]


def test_patterns_that_undo_each_other_raise() -> None:
    module = parse_module(CHAIN)

    def there(module: Module, op: TableOp) -> Result:
        return [new(module, op, "abs", list(op.inputs), (32, 32))]

    def back(module: Module, op: TableOp) -> Result:
        return [new(module, op, "neg", list(op.inputs), (32, 32))]

    with pytest.raises(CompileError, match=r"rewriting does not end; the last pattern was (there|back)"):
        rewrite(module, [pattern(there, "neg"), pattern(back, "abs")])


def test_pattern_errors_keep_their_location() -> None:
    module = parse_module(CHAIN)

    def refuse(module: Module, op: TableOp) -> Result:
        raise CompileError(module.error(op, "not this one"))

    with pytest.raises(CompileError, match=r":4:8: error: 'ttir.neg' op not this one"):
        rewrite(module, [pattern(refuse, "neg")])
