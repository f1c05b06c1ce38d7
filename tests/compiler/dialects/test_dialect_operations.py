"""Table operations: read, verified, written, lowered; wrong ones are refused.

The refusal has a reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.ttir_examples_2024_09 import LOWERED, TTIR, function
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.dialects import spec as tables
from ttnn.compiler.dialects.spec import DIALECTS, operations, text_of
from ttnn.compiler.ir import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

TTNN = [
    "abs",
    "add",
    "alloc",
    "concat",
    "conv2d",
    "dealloc",
    "div",
    "embedding",
    "empty",
    "exp",
    "full",
    "get_device",
    "ge",
    "matmul",
    "max",
    "max_pool2d",
    "maximum",
    "mean",
    "multiply",
    "neg",
    "reciprocal",
    "relu",
    "reshape",
    "sigmoid",
    "softmax",
    "sqrt",
    "subtract",
    "sum",
    "to_device",
    "to_layout",
    "to_memory_config",
    "transpose",
]

TRAITS = [(spec, trait) for dialect in DIALECTS for spec in operations(dialect).values() for trait in spec.traits]


def test_every_trait_is_asked_for_by_a_rule_or_pass() -> None:
    package = Path(tables.__file__).parents[1]
    source = "".join(file.read_text(encoding="utf-8") for file in package.rglob("*.py"))
    traits = {trait for _, trait in TRAITS if not trait.startswith(("writes ", "returns "))}
    assert {"effects", "memory", "elementwise", "terminator"} <= traits
    assert {trait for trait in traits if f'"{trait}"' not in source} == set()


def test_written_operands_are_operands_of_their_operation() -> None:
    written = [(spec, trait.removeprefix("writes ")) for spec, trait in TRAITS if trait.startswith("writes ")]
    assert {"ttnn.paged_update_cache", "ttnn.adamw"} <= {spec.name for spec, _ in written}
    assert [(spec.name, name) for spec, name in written if name not in {group.name for group in spec.operands}] == []


def test_tables_have_the_operations_of_2024_09() -> None:
    assert len(TTIR) == 34
    assert len(TTNN) == 32
    for dialect, names in (("ttir", TTIR), ("ttnn", TTNN)):
        assert {name for name in names if (name, "2024-09") not in operations(dialect)} == set()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_table_line_round_trips(dialect: str) -> None:
    for (name, version), spec in operations(dialect).items():
        assert spec.name == f"{dialect}.{name}"
        assert version in spec.texts
        groups = text_of(spec.name, version).operands
        assert len({group.name for group in groups}) == len(groups)


@pytest.mark.parametrize("name", TTIR)
def test_operation_of_2024_09_is_written_as_it_was_read(name: str) -> None:
    module = parse_module(TTIR[name])
    assert module.version == "2024-09"
    assert any(isinstance(op, TableOp) and op.name == f"ttir.{name}" for op in module.op.walk())
    text = print_module(module)
    assert print_module(parse_module(text)) == text
    assert f'"ttir.{name}"' in text


@pytest.mark.parametrize("name", LOWERED)
def test_operation_of_2024_09_is_lowered_and_written_as_itself(name: str) -> None:
    module = parse_module(LOWERED[name])
    run(module, "ttir-to-ttnn-backend-pipeline")
    lowered = {"squeeze": "reshape", "unsqueeze": "reshape", "constant": "full"}.get(name, name)
    text = print_module(module)
    assert f'"ttnn.{lowered}"' in text
    assert '"ttir.' not in text
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize(
    "name", ["relu", "add", "matmul", "softmax", "concat", "conv2d", "max_pool2d", "transpose", "sum"]
)
@pytest.mark.parametrize("version", ["2025-10", "2026-08"])
def test_operations_of_the_later_versions_round_trip(name: str, version: Version) -> None:
    text = print_module(parse_module(LOWERED[name]), version=version)
    module = parse_module(text, default_version=version)
    assert module.version == version
    assert print_module(module) == text
    run(module, "ttir-to-ttnn-backend-pipeline")
    lowered = print_module(module)
    assert f'"ttnn.{ {"transpose": "permute"}.get(name, name) }"' in lowered
    assert '"ttir.' not in lowered
    assert print_module(parse_module(lowered, default_version=version)) == lowered


F = "2x4xf32"
WRONG = [
    ("add", function("add", ["2x3xf32", "4x3xf32"], "4x3xf32", sizes="2, 1"), "Operands are not broadcast compatible"),
    ("add", function("add", [F, F], F, sizes="1, 1"), "operand count (3) does not match with the total size (2)"),
    ("add", function("add", [F, F], "2x1xf32", sizes="2, 1"), "not broadcast compatible"),
    ("softmax", function("softmax", [F], F, "dimension = 2 : si32"), "Dimension attribute must be within the bounds"),
    ("softmax", function("softmax", [F], F, "dimension = 1 : i32"), "32-bit signed integer attribute"),
    ("softmax", function("softmax", [F], F), "requires attribute 'dimension'"),
    ("softmax", function("softmax", [F], "4x2xf32", "dimension = 1 : si32"), "shapes must be the same"),
    ("transpose", function("transpose", [F], F, "dim0 = 0 : si32, dim1 = 1 : si32"), "transpose dimension mismatch"),
    ("transpose", function("transpose", ["4xf32"], "4xf32", "dim0 = 0 : si32, dim1 = 0 : si32"), "at least a 2D"),
    ("concat", function("concat", [F, F], "4x4xf32", "dim = 2 : si32"), "Invalid dimension 2 for concatenation."),
    ("concat", function("concat", [F, "2x5xf32"], "4x4xf32", "dim = 0 : si32"), "must have the same dimensions"),
    ("concat", function("concat", [F, F], "5x4xf32", "dim = 0 : si32"), "does not match the sum"),
    ("reshape", function("reshape", [F], "3x3xf32", "shape = [3 : i32, 3 : i32]"), "same number of elements"),
    ("reshape", function("reshape", [F], "4x2xf32", "shape = [8 : i32]"), "size must match output tensor rank"),
    (
        "reshape",
        function("reshape", [F], "4x2xf32", "shape = [2 : i32, 4 : i32]"),
        "must match the output tensor shape",
    ),
    ("squeeze", function("squeeze", [F], "4xf32", "dim = 0 : si32"), "Dimension 0 in the input tensor must be 1."),
    ("unsqueeze", function("unsqueeze", [F], "2x4x1xf32", "dim = 5 : si32"), "within the bounds"),
    (
        "matmul",
        function("matmul", [F, F], "2x4xf32"),
        "Input A[-1](4) and B[-2](2) must have matching inner dimensions",
    ),
    ("matmul", function("matmul", [F, "4x3xf32"], "2x4xf32"), "Output shape dimension[1](4) doesn't match"),
    ("matmul", function("matmul", ["f32", F], "4xf32"), "Input A must be at least a 1D tensor"),
    ("embedding", function("embedding", [F, "8xf32"], "2x4x8xf32"), "Weight must be a 2D tensor"),
    ("embedding", function("embedding", [F, "8x3xf32"], "2x4xf32"), "one dimension more than input"),
    ("max", function("max", [F], "2x1xf32", "dim_arg = [2 : i32], keep_dim = true"), "out of range"),
    ("max", function("max", [F], "2x1xf32", "dim_arg = [1 : i32]"), "requires attribute 'keep_dim'"),
    *(
        (op, TTIR[op].replace(f"{name} = {value}", f"{name} = {wrong}"), f"{name} must be {value} or more, got {wrong}")
        for op, name, value, wrong in (
            ("conv2d", "stride_height", 1, 0),
            ("conv2d", "dilation_width", 1, -1),
            ("max_pool2d", "padding_left", 0, -1),
        )
    ),
    ("broadcast", function("broadcast", ["3xf32"], F, "dimension = [1]"), "is not broadcastable to output shape"),
]


@pytest.mark.parametrize(("name", "text", "reason"), WRONG)
def test_wrong_operation_is_refused_with_its_reason(name: str, text: str, reason: str) -> None:
    with pytest.raises(CompileError) as error:
        parse_module(text, "wrong.mlir")
    message = str(error.value)
    assert f"error: 'ttir.{name}' op " in message
    assert reason in message
    assert message.startswith("wrong.mlir:")


def test_unknown_operation_is_read_and_refused_at_lowering() -> None:
    text = """
    func.func @f(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0 = "ttir.not_there"(%arg0) {k = 1 : i32} : (tensor<2x2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }
    """
    module = parse_module(text)
    assert '"ttir.not_there"(%arg0) {k = 1 : i32}' in print_module(module)
    with pytest.raises(CompileError, match=r"failed to legalize operation 'ttir.not_there'.* has no lowering of it"):
        run(module, "ttir-to-ttnn-backend-pipeline")
