"""Moving permutations and reshapes together: remaining operations, equal values."""

from __future__ import annotations

import re

import numpy as np
import pytest

from testkit.ttir_reference import interpret
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir import CompileError, Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.versions import parse_module, print_module

UP = "ttir-erase-inverse-ops{enable-commute-downwards=false}"
DOWN = "ttir-erase-inverse-ops{enable-commute-upwards=false}"
BOTH = "ttir-erase-inverse-ops"
NHWC, NCHW = "array<i64: 0, 2, 3, 1>", "array<i64: 0, 3, 1, 2>"


def names(module: Module) -> str:
    """Return the operations of a module in order, without dialect."""
    return " ".join(op.name[5:] for op in module.op.walk() if isinstance(op, TableOp))


def function(arguments: str, *lines: str) -> str:
    """Return a function; each line is `op(values){attributes} : input types -> type`, its value %0, %1, ..."""
    given = [part.strip() for part in arguments.split(",")]
    head = ", ".join(f"%a{i}: tensor<{kind.replace('!', '')}>{_mark(kind)}" for i, kind in enumerate(given))
    body = []
    for i, line in enumerate(lines):
        found = re.fullmatch(r"(\w+)\(([^)]*)\)(?:\{(.*)\})? : (.*) -> (\S+)", line)
        assert found is not None, line
        op, values, attributes, inputs, result = found.groups()
        types = ", ".join(f"tensor<{kind}>" for kind in inputs.split(", ") if kind)
        inherent = f" <{{{attributes}}}>" if attributes else ""
        body.append(f'  %{i} = "ttir.{op}"({values}){inherent} : ({types}) -> tensor<{result}>')
    last = lines[-1].rpartition(" -> ")[2]
    text = "\n".join(body)
    return f"func.func @f({head}) -> tensor<{last}> {{\n{text}\n  return %{len(lines) - 1} : tensor<{last}>\n}}\n"


def _mark(kind: str) -> str:
    return " {ttcore.argument_type = #ttcore.argument_type<parameter>}" if kind.endswith("!") else ""


def permute(value: str, order: str, before: str, after: str) -> str:
    return f"permute({value}){{permutation = {order}}} : {before} -> {after}"


def reshape(value: str, before: str, after: str) -> str:
    sizes = ", ".join(f"{size} : i32" for size in after.split("x")[:-1])
    return f"reshape({value}){{shape = [{sizes}]}} : {before} -> {after}"


def both(text: str, passes: str) -> Module:
    """Return a module after passes; its function keeps its values."""
    before, after = parse_module(text), parse_module(text)
    run(after, passes)
    again = print_module(after)
    assert print_module(parse_module(again)) == again
    rng = np.random.default_rng(7)
    shapes = [arg.type.get_shape() for arg in before.functions()[0].body.blocks[0].args]  # type: ignore[attr-defined]
    inputs = [rng.uniform(0.5, 2.0, shape) for shape in shapes]
    for want, got in zip(interpret(before, "f", inputs), interpret(after, "f", inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
        assert got.shape == want.shape
    return after


A, B = "1x3x4x5xf32", "1x4x5x3xf32"
REDUCE = "dim_arg = [1 : i32, 2 : i32], keep_dim = "
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "unary up": (UP, function(A, f"exp(%a0) : {A} -> {A}", permute("%0", NHWC, A, B)), "permute exp"),
    "reshape up": (UP, function(A, f"exp(%a0) : {A} -> {A}", reshape("%0", A, "3x20xf32")), "reshape exp"),
    "binary up": (UP, function(f"{A}, {A}", f"add(%a0, %a1) : {A}, {A} -> {A}", permute("%0", NHWC, A, B)),
                  "permute permute add"),
    "binary down": (DOWN, function(f"{A}, {A}", permute("%a0", NHWC, A, B), permute("%a1", NHWC, A, B),
                                   f"add(%0, %1) : {B}, {B} -> {B}"), "add permute"),
    "parameter down": (DOWN, function(f"{A}, {B}!", permute("%a0", NHWC, A, B), f"add(%0, %a1) : {B}, {B} -> {B}"),
                       "permute add permute"),
    "constant down": (DOWN, function(A, permute("%a0", NHWC, A, B), "ones(){shape = array<i32: 1, 4, 5, 3>} :  -> " + B,
                                     f"add(%0, %1) : {B}, {B} -> {B}"), "ones add permute"),
    "constants alone": (BOTH, function(A, f"ones(){{shape = array<i32: 1, 3, 4, 5>}} :  -> {A}",
                                       f"add(%0, %a0) : {A}, {A} -> {A}"), "ones add"),
    "input stays": (DOWN, function(f"{A}, {B}", permute("%a0", NHWC, A, B), f"add(%0, %a1) : {B}, {B} -> {B}"),
                    "permute add"),
    "used twice stays": (DOWN, function(A, permute("%a0", NHWC, A, B), f"add(%0, %0) : {B}, {B} -> {B}"),
                         "permute add"),
    "cancel": (BOTH, function(A, permute("%a0", NHWC, A, B), f"exp(%0) : {B} -> {B}", permute("%1", NCHW, B, A)),
               "exp"),
    "concat up": (UP, function(f"{A}, {A}", f"concat(%a0, %a1){{dim = 1 : si32}} : {A}, {A} -> 1x6x4x5xf32",
                               permute("%0", NHWC, "1x6x4x5xf32", "1x4x5x6xf32")), "permute permute concat"),
    "concat down": (DOWN, function(f"{A}, {A}", permute("%a0", NHWC, A, B), permute("%a1", NHWC, A, B),
                                   f"concat(%0, %1){{dim = -1 : si32}} : {B}, {B} -> 1x4x5x6xf32"), "concat permute"),
    "reshape concat up": (UP, function("2x4x3xf32, 2x5x3xf32",
                                       "concat(%a0, %a1){dim = 1 : si32} : 2x4x3xf32, 2x5x3xf32 -> 2x9x3xf32",
                                       reshape("%0", "2x9x3xf32", "1x2x9x3xf32")), "reshape reshape concat"),
    "reshape concat stays": (UP, function("2x4x3xf32, 2x5x3xf32",
                                          "concat(%a0, %a1){dim = 1 : si32} : 2x4x3xf32, 2x5x3xf32 -> 2x9x3xf32",
                                          reshape("%0", "2x9x3xf32", "18x3xf32")), "concat reshape"),
    "slice up": (UP, function(A, "slice_static(%a0){begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [1 : i32, "
                              "3 : i32, 4 : i32, 5 : i32], step = [1 : i32, 1 : i32, 2 : i32, 1 : i32]} : "
                              f"{A} -> 1x2x2x5xf32", permute("%0", NHWC, "1x2x2x5xf32", "1x2x5x2xf32")),
                 "permute slice_static"),
    "slice down": (DOWN, function(A, permute("%a0", NHWC, A, B),
                                  "slice_static(%0){begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [1 : i32, "
                                  "3 : i32, 5 : i32, 3 : i32], step = [1 : i32, 1 : i32, 2 : i32, 1 : i32]} : "
                                  f"{B} -> 1x2x3x3xf32"), "slice_static permute"),
    "reshape slice down": (DOWN, function("2x3x8xf32", reshape("%a0", "2x3x8xf32", "6x8xf32"),
                                          "slice_static(%0){begins = [0 : i32, 2 : i32], ends = [6 : i32, -1 : i32], "
                                          "step = [1 : i32, 1 : i32]} : 6x8xf32 -> 6x5xf32"), "slice_static reshape"),
    "reshape slice up": (UP, function("6x8xf32",
                                      "slice_static(%a0){begins = [0 : i32, 2 : i32], ends = [6 : i32, 7 : i32], "
                                      "step = [1 : i32, 2 : i32]} : 6x8xf32 -> 6x3xf32",
                                      reshape("%0", "6x3xf32", "2x3x3xf32")), "reshape slice_static"),
    "reshape slice stays": (DOWN, function("2x3x8xf32", reshape("%a0", "2x3x8xf32", "6x8xf32"),
                                           "slice_static(%0){begins = [1 : i32, 2 : i32], ends = [6 : i32, 7 : i32], "
                                           "step = [1 : i32, 1 : i32]} : 6x8xf32 -> 5x5xf32"), "reshape slice_static"),
    "reduce keeps, up": (UP, function(A, f"mean(%a0){{{REDUCE}true}} : {A} -> 1x1x1x5xf32",
                                      permute("%0", "array<i64: 3, 1, 0, 2>", "1x1x1x5xf32", "5x1x1x1xf32")),
                         "permute mean"),
    "reduce drops, up": (UP, function("2x3x4x5xf32", "sum(%a0){dim_arg = [1 : i32], keep_dim = false} : "
                                      "2x3x4x5xf32 -> 2x4x5xf32",
                                      permute("%0", "array<i64: 2, 0, 1>", "2x4x5xf32", "5x2x4xf32")), "permute sum"),
    "reduce keeps, down": (DOWN, function(A, permute("%a0", NHWC, A, B),
                                          f"max(%0){{{REDUCE}true}} : {B} -> 1x1x1x3xf32"),
                           "max permute"),
    "reduce drops, down": (DOWN, function("2x3x4x5xf32",
                                          permute("%a0", "array<i64: 3, 0, 2, 1>", "2x3x4x5xf32", "5x2x4x3xf32"),
                                          "sum(%0){dim_arg = [-2 : i32], keep_dim = false} : "
                                          "5x2x4x3xf32 -> 5x2x3xf32"), "sum permute"),
    "argmax down": (DOWN, function("2x3x4xf32", permute("%a0", "array<i64: 2, 0, 1>", "2x3x4xf32", "4x2x3xf32"),
                                   "argmax(%0){dim_arg = [2 : i32], keep_dim = true} : 4x2x3xf32 -> 4x2x1xi32"),
                    "argmax permute"),
    "argmax of all stays": (DOWN, function("2x3x4xf32", permute("%a0", "array<i64: 2, 0, 1>", "2x3x4xf32", "4x2x3xf32"),
                                           "argmax(%0){keep_dim = true} : 4x2x3xf32 -> 1x1x1xi32"), "permute argmax"),
    "reshape reduce down": (DOWN, function("2x3x8xf32", reshape("%a0", "2x3x8xf32", "6x8xf32"),
                                           "sum(%0){dim_arg = [1 : i32], keep_dim = true} : 6x8xf32 -> 6x1xf32"),
                            "sum reshape"),
    "reshape reduce all down": (DOWN, function("2x3x8xf32", reshape("%a0", "2x3x8xf32", "6x8xf32"),
                                               "sum(%0){keep_dim = true} : 6x8xf32 -> 1x1xf32"), "sum reshape"),
    "reshape reduce stays": (DOWN, function("2x3x8xf32", reshape("%a0", "2x3x8xf32", "6x8xf32"),
                                            "sum(%0){dim_arg = [0 : i32], keep_dim = true} : 6x8xf32 -> 1x8xf32"),
                             "reshape sum"),
    "reshape softmax up": (UP, function("6x8xf32", "softmax(%a0){dimension = -1 : si32} : 6x8xf32 -> 6x8xf32",
                                        reshape("%0", "6x8xf32", "2x3x8xf32")), "reshape softmax"),
    "reshape softmax down": (DOWN, function("2x3x8xf32", reshape("%a0", "2x3x8xf32", "6x8xf32"),
                                            "softmax(%0){dimension = 1 : si32} : 6x8xf32 -> 6x8xf32"),
                             "softmax reshape"),
    "reshape softmax stays": (DOWN, function("2x3x8xf32", reshape("%a0", "2x3x8xf32", "6x8xf32"),
                                             "softmax(%0){dimension = 0 : si32} : 6x8xf32 -> 6x8xf32"),
                              "reshape softmax"),
    "reshape norm up": (UP, function("6x8xf32, 8xf32", "rms_norm(%a0, %a1){normalized_shape = array<i64: 8>, "
                                     "operandSegmentSizes = array<i32: 1, 1, 0>} : 6x8xf32, 8xf32 -> 6x8xf32",
                                     reshape("%0", "6x8xf32", "2x3x8xf32")), "reshape rms_norm"),
    "reshape broadcast up": (UP, function("4x1x3xf32", "broadcast(%a0){broadcast_dimensions = array<i64: 1, 6, 1>} : "
                                          "4x1x3xf32 -> 4x6x3xf32", reshape("%0", "4x6x3xf32", "4x2x3x3xf32")),
                             "reshape broadcast"),
    "reshape broadcast stays": (UP, function("4x1x3xf32", "broadcast(%a0){broadcast_dimensions = array<i64: 1, 6, 1>}"
                                             " : 4x1x3xf32 -> 4x6x3xf32", reshape("%0", "4x6x3xf32", "24x3xf32")),
                                "broadcast reshape"),
    "permute broadcast up": (UP, function("4x1x3xf32", "broadcast(%a0){broadcast_dimensions = array<i64: 1, 6, 1>} : "
                                          "4x1x3xf32 -> 4x6x3xf32",
                                          permute("%0", "array<i64: 2, 0, 1>", "4x6x3xf32", "3x4x6xf32")),
                             "permute broadcast"),
    "six dimensions stay": (UP, function("1x1x1x1x4x6xf32", "exp(%a0) : 1x1x1x1x4x6xf32 -> 1x1x1x1x4x6xf32",
                                         reshape("%0", "1x1x1x1x4x6xf32", "24xf32")), "exp reshape"),
    "permute reshape permute": (BOTH, function("2x3x4x5xf32", permute("%a0", NCHW, "2x3x4x5xf32", "2x5x3x4xf32"),
                                               reshape("%0", "2x5x3x4xf32", "2x5x12x1xf32"),
                                               permute("%1", NHWC, "2x5x12x1xf32", "2x12x1x5xf32")), "reshape"),
    "unit dimensions": (BOTH, function("4x1x1xf32", permute("%a0", "array<i64: 0, 2, 1>", "4x1x1xf32", "4x1x1xf32"),
                                       "exp(%0) : 4x1x1xf32 -> 4x1x1xf32"), "exp"),
    "explicit": ("ttir-explicate-tms", function("4x5xf32, 2x1x5xf32",
                                                "add(%a0, %a1) : 4x5xf32, 2x1x5xf32 -> 2x4x5xf32"),
                 "reshape broadcast broadcast add"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_commuted_moves_have_expected_operations_and_equal_values(name: str) -> None:
    passes, text, want = EXAMPLES[name]
    assert names(both(text, passes)) == want


def test_users_of_equal_moves_share_one() -> None:
    text = (
        "func.func @f(%a: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {\n"
        '  %0 = "ttir.exp"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>\n'
        '  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<4x6xf32>) -> tensor<6x4xf32>\n'
        '  %2 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<4x6xf32>) -> tensor<6x4xf32>\n'
        "  return %1, %2 : tensor<6x4xf32>, tensor<6x4xf32>\n}\n"
    )
    assert names(both(text, UP)) == "permute exp"


def test_commuting_keeps_the_order_of_operations() -> None:
    text = function(
        "4x4xf32, 4x4xf32",
        "multiply(%a0, %a1) : 4x4xf32, 4x4xf32 -> 4x4xf32",
        "matmul(%a0, %a1) : 4x4xf32, 4x4xf32 -> 4x4xf32",
        "add(%0, %1) : 4x4xf32, 4x4xf32 -> 4x4xf32",
        "reshape(%2){shape = [16 : i32]} : 4x4xf32 -> 16xf32",
    )
    assert names(both(text, UP)) == "reshape reshape multiply matmul reshape add"


def test_erase_inverse_ops_keeps_the_version_of_the_text() -> None:
    text = (
        "func.func @f(%a: tensor<4x6xf32>) -> tensor<6x4xf32> {\n"
        "  %0 = ttir.empty() : tensor<4x6xf32>\n"
        '  %1 = "ttir.exp"(%a, %0) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>\n'
        "  %2 = ttir.empty() : tensor<6x4xf32>\n"
        '  %3 = "ttir.permute"(%1, %2) <{permutation = array<i64: 1, 0>}> : (tensor<4x6xf32>, tensor<6x4xf32>)'
        " -> tensor<6x4xf32>\n  return %3 : tensor<6x4xf32>\n}\n"
    )
    assert print_module(both(text, UP)).count("ttir.empty()") == 2


def test_functions_without_flattened_images_change_only_by_force() -> None:
    text = EXAMPLES["cancel"][1]
    assert names(both(text, "ttir-erase-inverse-ops{force=false}")) == "permute exp permute"


def test_iteration_limit_raises_with_its_location() -> None:
    with pytest.raises(CompileError, match=r"2:.*EraseInverseOps: TM count has not converged after 1 iterations"):
        run(parse_module("// one\n" + EXAMPLES["cancel"][1]), "ttir-erase-inverse-ops{max-iterations=1}")


def test_long_chains_commute_in_linear_time() -> None:
    count = 400
    lines = [permute("%a0", NHWC, A, B), *(f"exp(%{i}) : {B} -> {B}" for i in range(count))]
    text = function(A, *lines, permute(f"%{count}", NCHW, B, A))
    module = parse_module(text)
    run(module, BOTH)
    assert names(module) == " ".join(["exp"] * count)


def test_pipeline_leaves_no_inverse_pairs() -> None:
    module = parse_module(EXAMPLES["cancel"][1])
    run(module, "ttir-to-ttnn-backend-pipeline")
    assert "ttnn.permute" not in print_module(module)
    module = parse_module(EXAMPLES["cancel"][1])
    run(module, "ttir-to-ttnn-backend-pipeline{enable-erase-inverse-ops-pass=false}")
    assert print_module(module).count('"ttnn.permute"') == 2
