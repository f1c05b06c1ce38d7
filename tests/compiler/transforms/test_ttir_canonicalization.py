"""Folds and canonical forms: remaining operations, equal meaning."""

# Lines of MLIR stay whole.
# ruff: noqa: E501

from __future__ import annotations

import numpy as np
import pytest

from testkit.pass_checks import dense, function, names, op, rewritten
from ttnn.compiler.pipelines import run
from ttnn.compiler.transforms.ttir.constants import constant_of
from ttnn.compiler.versions import parse_module, print_module

F, T = "4x6xf32", "tensor<4x6xf32>"
A = f"%a: {T}"
FULL = op("c", "full", "", f" -> {F}", "shape = array<i32: 4, 6>, fill_value = 2.5 : f32")
ONES = op("o", "ones", "", " -> 4x6xi1", "shape = array<i32: 4, 6>")

CASES = {
    "relu(relu(x))": (function(A, T, op("0", "relu", "%a", f"{F} -> {F}"), op("r", "relu", "%0", f"{F} -> {F}")), ["relu"]),
    "neg(neg(x))": (function(A, T, op("0", "neg", "%a", f"{F} -> {F}"), op("r", "neg", "%0", f"{F} -> {F}")), []),
    "minimum(x, x)": (function(A, T, op("r", "minimum", "%a, %a", f"{F}, {F} -> {F}")), []),
    "reshape(reshape(x))": (
        function(
            A,
            "tensor<3x8xf32>",
            op("0", "reshape", "%a", f"{F} -> 24xf32", "shape = [24 : i32]"),
            op("r", "reshape", "%0", "24xf32 -> 3x8xf32", "shape = [3 : i32, 8 : i32]"),
        ),
        ["reshape"],
    ),
    "transpose twice": (
        function(
            A,
            T,
            op("0", "transpose", "%a", f"{F} -> 6x4xf32", "dim0 = 0 : si32, dim1 = 1 : si32"),
            op("r", "permute", "%0", f"6x4xf32 -> {F}", "permutation = array<i64: 1, 0>"),
        ),
        [],
    ),
    "permutation of ones": (
        function(
            "%a: tensor<1x1x5xf32>",
            "tensor<1x1x5xf32>",
            op("r", "permute", "%a", "1x1x5xf32 -> 1x1x5xf32", "permutation = array<i64: 1, 0, 2>"),
        ),
        [],
    ),
    "slices": (
        function(
            "%a: tensor<20x6xf32>",
            "tensor<3x2xf32>",
            op(
                "0",
                "slice_static",
                "%a",
                "20x6xf32 -> 8x5xf32",
                "begins = [2 : i32, 1 : i32], ends = [18 : i32, 6 : i32], step = [2 : i32, 1 : i32]",
            ),
            op(
                "r",
                "slice_static",
                "%0",
                "8x5xf32 -> 3x2xf32",
                "begins = [1 : i32, 0 : i32], ends = [6 : i32, 4 : i32], step = [2 : i32, 2 : i32]",
            ),
        ),
        ["slice_static"],
    ),
    "slice of concat": (
        function(
            f"{A}, %b: tensor<4x3xf32>",
            "tensor<4x3xf32>",
            op("0", "concat", "%a, %b", f"{F}, 4x3xf32 -> 4x9xf32", "dim = -1 : si32"),
            op(
                "r",
                "slice_static",
                "%0",
                "4x9xf32 -> 4x3xf32",
                "begins = [0 : i32, 6 : i32], ends = [4 : i32, 9 : i32], step = [1 : i32, 1 : i32]",
            ),
        ),
        [],
    ),
    "repeats": (
        function(
            A,
            "tensor<8x18xf32>",
            op("0", "repeat", "%a", f"{F} -> 8x6xf32", "repeat_dimensions = array<i64: 2, 1>"),
            op("r", "repeat", "%0", "8x6xf32 -> 8x18xf32", "repeat_dimensions = array<i64: 1, 3>"),
        ),
        ["repeat"],
    ),
    "reverses": (
        function(
            A,
            T,
            op("0", "reverse", "%a", f"{F} -> {F}", "dimensions = array<i64: 0, 1>"),
            op("r", "reverse", "%0", f"{F} -> {F}", "dimensions = array<i64: 1>"),
        ),
        ["reverse"],
    ),
    "clamps": (
        function(
            A,
            T,
            op("0", "clamp_scalar", "%a", f"{F} -> {F}", "min = 0.0 : f32, max = 9.0 : f32"),
            op("r", "clamp_scalar", "%0", f"{F} -> {F}", "min = -1.0 : f32, max = 6.0 : f32"),
        ),
        ["relu6"],
    ),
    "clamp between constants": (
        function(
            A,
            T,
            FULL,
            op("z", "zeros", "", f" -> {F}", "shape = array<i32: 4, 6>"),
            op("r", "clamp_tensor", "%a, %z, %c", f"{F}, {F}, {F} -> {F}"),
        ),
        ["clamp_scalar"],
    ),
    "a <= b": (
        function(f"{A}, %b: {T}", T, op("r", "le", "%a, %b", f"{F}, {F} -> {F}")),
        ["ge"],
    ),
    "known condition": (
        function(f"{A}, %b: {T}", T, ONES, op("r", "where", "%o, %a, %b", f"4x6xi1, {F}, {F} -> {F}")),
        [],
    ),
    "true and x": (
        function(
            f"{A}, %b: {T}",
            "tensor<4x6xi1>",
            ONES,
            op("0", "gt", "%a, %b", f"{F}, {F} -> 4x6xi1"),
            op("r", "logical_and", "%o, %0", "4x6xi1, 4x6xi1 -> 4x6xi1"),
        ),
        ["gt"],
    ),
    "x and x": (function(A, T, op("r", "logical_and", "%a, %a", f"{F}, {F} -> {F}")), ["zeros", "ne"]),
    "x or x of truth values": (
        function(
            f"{A}, %b: {T}",
            "tensor<4x6xi1>",
            op("0", "gt", "%a, %b", f"{F}, {F} -> 4x6xi1"),
            op("r", "logical_or", "%0, %0", "4x6xi1, 4x6xi1 -> 4x6xi1"),
        ),
        ["gt"],
    ),
    "product of truth values": (
        function(
            f"{A}, %b: {T}",
            "tensor<4xf32>",
            op("0", "gt", "%a, %b", f"{F}, {F} -> {F}"),
            op("r", "prod", "%0", f"{F} -> 4xf32", "dim_arg = [1 : i32], keep_dim = false"),
        ),
        ["gt", "min"],
    ),
    "sum of a splat": (
        function("", "tensor<4xf32>", FULL, op("r", "sum", "%c", f"{F} -> 4xf32", "dim_arg = [1 : i32], keep_dim = false")),
        ["full"],
    ),
    "linear without bias": (
        function(
            f"{A}, %b: tensor<5x6xf32>",
            "tensor<4x5xf32>",
            op("r", "linear", "%a, %b", f"{F}, 5x6xf32 -> 4x5xf32", "transpose_a = false, transpose_b = true"),
        ),
        ["matmul"],
    ),
    "merged batches": (
        function(
            "%a: tensor<2x3x4x5xf32>, %b: tensor<2x3x5x6xf32>",
            "tensor<2x3x4x6xf32>",
            op("0", "reshape", "%a", "2x3x4x5xf32 -> 6x4x5xf32", "shape = [6 : i32, 4 : i32, 5 : i32]"),
            op("1", "reshape", "%b", "2x3x5x6xf32 -> 6x5x6xf32", "shape = [6 : i32, 5 : i32, 6 : i32]"),
            op("2", "matmul", "%0, %1", "6x4x5xf32, 6x5x6xf32 -> 6x4x6xf32"),
            op("r", "reshape", "%2", "6x4x6xf32 -> 2x3x4x6xf32", "shape = [2 : i32, 3 : i32, 4 : i32, 6 : i32]"),
        ),
        ["matmul"],
    ),
    "embedding of units": (
        function(
            "%i: tensor<4xi32>, %w: tensor<8x16xf32>",
            "tensor<64xf32>",
            op("0", "reshape", "%i", "4xi32 -> 4x1xi32", "shape = [4 : i32, 1 : i32]"),
            op("1", "embedding", "%0, %w", "4x1xi32, 8x16xf32 -> 4x1x16xf32"),
            op("r", "reshape", "%1", "4x1x16xf32 -> 64xf32", "shape = [64 : i32]"),
        ),
        ["embedding", "reshape"],
    ),
    "permutation between reshapes": (
        function(
            A,
            "tensor<1x6x4xf32>",
            op("0", "reshape", "%a", f"{F} -> 1x1x4x6xf32", "shape = [1 : i32, 1 : i32, 4 : i32, 6 : i32]"),
            op("1", "permute", "%0", "1x1x4x6xf32 -> 1x1x6x4xf32", "permutation = array<i64: 0, 1, 3, 2>"),
            op("r", "reshape", "%1", "1x1x6x4xf32 -> 1x6x4xf32", "shape = [1 : i32, 6 : i32, 4 : i32]"),
        ),
        ["reshape", "permute"],
    ),
    "casts": (
        function(A, "tensor<4x6xf32>", op("0", "typecast", "%a", f"{F} -> 4x6xf64"), op("r", "typecast", "%0", f"4x6xf64 -> {F}")),
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_canonical_form_has_expected_operations_and_equal_values(case: str) -> None:
    body, left = CASES[case]
    assert names(rewritten(body, "canonicalize")) == left


CONSTANTS = {
    "add": ("[1.5, -2.0, 3.25]", "[0.5, 4.0, -1.0]", "f32"),
    "subtract": ("[1.5, -2.0, 3.25]", "[0.5, 4.0, -1.0]", "bf16"),
    "multiply": ("[3, -2, 7]", "[5, 4, -1]", "si32"),
    "div": ("[1.0, -2.0, 3.0]", "[3.0, 7.0, -9.0]", "f32"),
    "remainder": ("[7, -7, 9]", "[4, 4, -4]", "si32"),
    "maximum": ("[1.0, -2.0, 3.0]", "[3.0, 7.0, -9.0]", "f32"),
    "pow": ("[1.0, 2.0, 3.0]", "[3.0, 0.5, 2.0]", "f32"),
    "ge": ("[1.0, 2.0, 3.0]", "[3.0, 2.0, 2.0]", "f32"),
    "bitwise_xor": ("[1, 2, 3]", "[3, 7, 12]", "si32"),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_operations_on_two_constants_fold(name: str) -> None:
    left, right, element = CONSTANTS[name]
    kind = f"3x{element}"
    body = function(
        "",
        f"tensor<{kind}>",
        dense(left, kind),
        dense(right, kind, "d"),
        op("r", name, "%c, %d", f"{kind}, {kind} -> {kind}"),
    )
    # Float32 rounds to 2**-24, bfloat16 to 2**-9.
    module = rewritten(body, "canonicalize", relative=2.0**-8 if element == "bf16" else 2.0**-22)
    assert names(module) == ["constant"]


@pytest.mark.parametrize(
    "name", ["abs", "ceil", "cos", "exp", "floor", "log", "neg", "reciprocal", "rsqrt", "sign", "sqrt", "tan", "cbrt"]
)
def test_operations_on_one_constant_fold(name: str) -> None:
    kind = "2x2xf32"
    body = function(
        "", f"tensor<{kind}>", dense("[[0.5, 1.25], [2.5, 7.0]]", kind), op("r", name, "%c", f"{kind} -> {kind}")
    )
    assert names(rewritten(body, "canonicalize", relative=2.0**-22)) in (["constant"], ["ones"])


@pytest.mark.parametrize("name", ["reciprocal", "rsqrt"])
def test_division_by_zero_is_not_folded(name: str) -> None:
    body = function("", "tensor<2xf32>", dense("[0.0, 1.0]", "2xf32"), op("r", name, "%c", "2xf32 -> 2xf32"))
    module = parse_module(body)
    run(module, "canonicalize")
    assert names(module) == ["constant", name]


MOVES = {
    "reshape": ("3x2xf32", "shape = [3 : i32, 2 : i32]"),
    "permute": ("3x2xf32", "permutation = array<i64: 1, 0>"),
    "repeat": ("4x3xf32", "repeat_dimensions = array<i64: 2, 1>"),
    "repeat_interleave": ("2x6xf32", "repeats = 2 : ui32, dim = 1 : si32"),
    "slice_static": ("1x2xf32", "begins = [1 : i32, 0 : i32], ends = [2 : i32, 3 : i32], step = [1 : i32, 2 : i32]"),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_of_constants_fold(name: str) -> None:
    kind, attributes = MOVES[name]
    body = function(
        "",
        f"tensor<{kind}>",
        dense("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "2x3xf32"),
        op("r", name, "%c", f"2x3xf32 -> {kind}", attributes),
    )
    assert names(rewritten(body, "canonicalize")) == ["constant"]


@pytest.mark.parametrize(
    ("values", "source", "target", "folded"),
    [
        ("[1.7, -2.3, 3.0]", "f32", "si8", [1, -2, 3]),
        ("[300.0, 1.0, 2.0]", "f32", "si8", None),
        ("[-1, 2, 3]", "si32", "ui8", None),
        ("[-1, 2, 3]", "si32", "f32", [-1.0, 2.0, 3.0]),
        ("[1.0, 1.0e39, 2.0]", "f64", "f32", None),
    ],
)
def test_exact_casts_of_constants_fold(values: str, source: str, target: str, folded: list[float] | None) -> None:
    body = function(
        "", f"tensor<3x{target}>", dense(values, f"3x{source}"), op("r", "typecast", "%c", f"3x{source} -> 3x{target}")
    )
    module = parse_module(body)
    run(module, "canonicalize")
    last = next(one for one in module.op.walk() if one.name == "func.return").operands[0]
    found = constant_of(last)
    if folded is None:
        assert found is None
    else:
        assert found is not None
        assert found.data.tolist() == folded


def test_rounding_cast_pairs_are_kept_when_conservative() -> None:
    body = function(
        A,
        T,
        op("0", "typecast", "%a", f"{F} -> 4x6xbf16", "conservative_folding = true"),
        op("r", "typecast", "%0", f"4x6xbf16 -> {F}", "conservative_folding = false"),
    )
    module = parse_module(body)
    run(module, "canonicalize")
    assert names(module) == ["typecast", "typecast"]


def test_transposes_fold_into_matmul_in_2025_10() -> None:
    body = """
    func.func @f(%a: tensor<6x4xf32>, %b: tensor<5x6xf32>) -> tensor<4x5xf32> {
      %0 = ttir.empty() : tensor<4x6xf32>
      %1 = "ttir.transpose"(%a, %0) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      %2 = ttir.empty() : tensor<6x5xf32>
      %3 = "ttir.permute"(%b, %2) <{permutation = array<i64: 1, 0>}> : (tensor<5x6xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
      %4 = ttir.empty() : tensor<4x5xf32>
      %5 = "ttir.matmul"(%1, %3, %4) : (tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
      return %5 : tensor<4x5xf32>
    }
    """
    module = rewritten(body, "canonicalize", version="2025-10")
    assert names(module) == ["matmul"]
    assert "transpose_a = true, transpose_b = true" in print_module(module)


def test_topk_of_one_and_cache_update_simplify() -> None:
    module = parse_module(
        """
        func.func @f(%a: tensor<8x1xbf16>, %c: tensor<2x4x32x8xbf16>, %i: tensor<1x4x2x8xbf16>, %u: tensor<1xsi32>)
            -> (tensor<8x1xbf16>, tensor<8x1xui16>) {
          %v, %n = "ttir.topk"(%a) <{k = 1 : i32, dim = -1 : i32}> : (tensor<8x1xbf16>) -> (tensor<8x1xbf16>, tensor<8x1xui16>)
          "ttir.update_cache"(%c, %i, %u) <{batch_offset = 0 : i32}> : (tensor<2x4x32x8xbf16>, tensor<1x4x2x8xbf16>, tensor<1xsi32>) -> ()
          return %v, %n : tensor<8x1xbf16>, tensor<8x1xui16>
        }
        """
    )
    run(module, "canonicalize")
    assert names(module) == ["zeros", "permute", "repeat", "paged_update_cache"]


def test_pointwise_convolution_becomes_matmul() -> None:
    attributes = 'stride = array<i32: 1, 1, 1>, padding = array<i32: 0, 0, 0>, groups = 1 : i32, padding_mode = "zeros"'
    body = function(
        "%a: tensor<2x2x3x2x4xf32>, %w: tensor<5x4x1x1x1xf32>, %b: tensor<1x1x1x1x5xf32>",
        "tensor<2x2x3x2x5xf32>",
        op("r", "conv3d", "%a, %w, %b", "2x2x3x2x4xf32, 5x4x1x1x1xf32, 1x1x1x1x5xf32 -> 2x2x3x2x5xf32", attributes),
    )
    module = rewritten(body, "canonicalize")
    assert names(module) == ["reshape", "reshape", "reshape", "linear", "reshape"]


def test_canonicalize_reads_spaced_shapes_and_empty_modules() -> None:
    assert names(parse_module("// nothing\n")) == []
    module = parse_module(
        "func.func @f(%a: tensor<2 x 3 x f32>) -> tensor<2x3xf32> {\n  return %a : tensor<2x3xf32>\n}\n"
    )
    assert "tensor<2x3xf32>" in print_module(module)
    assert np.prod(module.functions()[0].body.blocks[0].args[0].type.get_shape()) == 6  # type: ignore[attr-defined]
