"""Tensor dialect passes, one by one: remaining text, equal values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from test_inverse_ops import both, function, names, permute, reshape

from testkit.ttir_reference import interpret
from ttnn.compiler.ir import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.transforms.ttir.erase_inverse_ops.complex_moves import steps
from ttnn.compiler.versions import parse_module, print_module


def constant(value: str, kind: str) -> str:
    return f"constant(){{value = dense<{value}> : tensor<{kind}>}} :  -> {kind}"


def broadcast(value: str, factors: str, before: str, after: str) -> str:
    return f"broadcast({value}){{broadcast_dimensions = array<i64: {factors}>}} : {before} -> {after}"


def full(kind: str) -> str:
    sizes = kind.rpartition("x")[0].replace("x", ", ")
    return f"full(){{shape = array<i32: {sizes}>, fill_value = 2.5 : f32}} :  -> {kind}"


A, B = "4x5xf32", "4x1x5xf32"
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "broadcast of a number": (
        "ttir-fold-constant-reshape-broadcast",
        function(A, constant("3.0", "1x5xf32"), broadcast("%0", "4, 1", "1x5xf32", A),
                 f"add(%a0, %1) : {A}, {A} -> {A}"),
        "full add",
    ),
    "reshape and broadcast of a number": (
        "ttir-fold-constant-reshape-broadcast",
        function("3xf32", constant("3.0", "1x1xf32"), broadcast("%0", "1, 3", "1x1xf32", "1x3xf32"),
                 reshape("%1", "1x3xf32", "3xf32"), "pow(%a0, %2) : 3xf32, 3xf32 -> 3xf32"),
        "constant pow",
    ),
    "reshape meets a constant": (
        "ttir-move-reshape-to-constant",
        function(A, constant("3.0", B), reshape("%a0", A, B), f"pow(%1, %0) : {B}, {B} -> {B}"),
        "full pow reshape",
    ),
    "reshape meets a constant on the left": (
        "ttir-move-reshape-to-constant",
        function(A, constant("3.0", B), reshape("%a0", A, B), f"subtract(%0, %1) : {B}, {B} -> {B}"),
        "full subtract reshape",
    ),
    "reshape meets an argument": (
        "ttir-move-reshape-to-constant",
        function(f"{A}, {B}", reshape("%a0", A, B), f"pow(%0, %a1) : {B}, {B} -> {B}"), "reshape pow",
    ),
    "sum": (
        "ttir-reduction-force-keep-dim",
        function("2x3x4xf32", "sum(%a0){dim_arg = [-2 : i32], keep_dim = false} : 2x3x4xf32 -> 2x4xf32"), "sum reshape",
    ),
    "mean of all": (
        "ttir-reduction-force-keep-dim",
        function("2x3xf32", "mean(%a0){keep_dim = false} : 2x3xf32 -> f32"), "mean reshape",
    ),
    "sum that keeps": (
        "ttir-reduction-force-keep-dim",
        function("2x3xf32", "sum(%a0){dim_arg = [1 : i32], keep_dim = true} : 2x3xf32 -> 2x1xf32"), "sum",
    ),
    "broadcast into add": (
        "ttir-implicit-broadcast-fold",
        function("5xf32, 4x5xf32", reshape("%a0", "5xf32", "1x5xf32"), broadcast("%0", "4, 1", "1x5xf32", A),
                 f"add(%1, %a1) : {A}, {A} -> {A}"), "reshape add",
    ),
    "broadcasts of both into add": (
        "ttir-implicit-broadcast-fold",
        function("1x5xf32, 1x1xf32", broadcast("%a0", "4, 1", "1x5xf32", A), broadcast("%a1", "4, 5", "1x1xf32", A),
                 f"add(%0, %1) : {A}, {A} -> {A}"), "add broadcast",
    ),
    "broadcast into exp": (
        "ttir-implicit-broadcast-fold",
        function("1x5xf32", broadcast("%a0", "4, 1", "1x5xf32", A), f"exp(%0) : {A} -> {A}"), "exp broadcast",
    ),
    "full": (
        "ttir-fold-full-to-scalar",
        function(A, full(A), f"add(%a0, %0) : {A}, {A} -> {A}"), "full add",
    ),
    "full that has the shape": (
        "ttir-fold-full-to-scalar",
        function("1x5xf32", full(A), f"add(%a0, %0) : 1x5xf32, {A} -> {A}"), "full add broadcast",
    ),
    "full twice": (
        "ttir-fold-full-to-scalar", function(A, full(A), f"multiply(%0, %0) : {A}, {A} -> {A}",
                                             f"add(%1, %a0) : {A}, {A} -> {A}"), "full add",
    ),
    "permute in steps": (
        "ttir-decompose-complex-permute",
        function("2x3x4x5xf32", permute("%a0", "array<i64: 0, 3, 2, 1>", "2x3x4x5xf32", "2x5x4x3xf32")),
        "permute permute permute",
    ),
    "rms norm": (
        "ttir-decompose-composites",
        function("2x3x4xf32, 4xf32, 4xf32", "rms_norm(%a0, %a1, %a2){normalized_shape = array<i64: 4>} : "
                 "2x3x4xf32, 4xf32, 4xf32 -> 2x3x4xf32"),
        "multiply mean full add rsqrt multiply reshape multiply reshape add",
    ),
    "layer norm": (
        "ttir-decompose-composites",
        function("2x3x4xf32", "layer_norm(%a0){normalized_shape = array<i64: 3, 4>} : 2x3x4xf32 -> 2x3x4xf32"),
        "mean mean subtract multiply mean mean full add rsqrt multiply",
    ),
    "softmax": (
        "ttir-decompose-composites",
        function(A, f"softmax(%a0){{dimension = -1 : si32, numericStable = true}} : {A} -> {A}"),
        "max subtract exp sum div",
    ),
    "repeat": (
        "ttir-decompose-composites",
        function("2x3xf32", "repeat(%a0){repeat_dimensions = array<i64: 5, 2>} : 2x3xf32 -> 10x6xf32"),
        "concat concat concat concat",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_passes_have_expected_operations_and_equal_values(name: str) -> None:
    passes, text, want = EXAMPLES[name]
    assert names(both(text, passes)) == want


def test_complex_permutes_split_into_transposes_and_outer_permutes() -> None:
    x = np.arange(2 * 3 * 4 * 5 * 6).reshape(2, 3, 4, 5, 6)
    for order in itertools.permutations(range(5)):
        found, y = steps(order), x
        for one in found:
            assert len(found) == 1 or one == [0, 1, 2, 4, 3] or one[-1] == 4
            y = np.transpose(y, one)
        assert len(found) <= 3
        np.testing.assert_array_equal(y, np.transpose(x, order))


SHAPES = ["6", "6x1", "1x6", "2x3", "2x3x1", "1x2x3", "2x1x3", "6x1x1", "1x1x6", "3x2x1", "1x6x1", "2x3x1x1", "1x1"]


@pytest.mark.parametrize("before", SHAPES)
def test_complex_reshapes_split_and_keep_values(before: str) -> None:
    for after in SHAPES:
        if math.prod(map(int, before.split("x"))) == math.prod(map(int, after.split("x"))):
            module = both(function(f"{before}xf32", reshape("%a0", f"{before}xf32", f"{after}xf32")),
                          "ttir-decompose-complex-reshape")  # fmt: skip
            turns = before.endswith("x1") != after.endswith("x1") and "1" != before != after
            if before.count("x") and after.count("x") and turns and before.replace("x1", "") == after.replace("1x", ""):
                assert "permute" in names(module)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_decomposes_to_its_matmuls(groups: int, causal: bool) -> None:
    text = function(
        f"1x2x3x4xf32, 1x{groups}x5x4xf32, 1x{groups}x5x4xf32, 1x1x3x5xf32",
        "scaled_dot_product_attention(%a0, %a1, %a2, %a3)"
        f"{{is_causal = {str(causal).lower()}, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}} : "
        f"1x2x3x4xf32, 1x{groups}x5x4xf32, 1x{groups}x5x4xf32, 1x1x3x5xf32 -> 1x2x3x4xf32",
    )
    module = parse_module(text)
    run(module, "ttir-decompose-composites")
    rng = np.random.default_rng(3)
    q, k, v, mask = (
        rng.normal(size=shape) for shape in [(1, 2, 3, 4), (1, groups, 5, 4), (1, groups, 5, 4), (1, 1, 3, 5)]
    )
    scores = q @ np.repeat(k, 2 // groups, axis=1).swapaxes(2, 3) / 2 + mask
    if causal:
        scores = np.where(np.arange(3)[:, None] >= np.arange(5), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    want = weights / weights.sum(-1, keepdims=True) @ np.repeat(v, 2 // groups, axis=1)
    np.testing.assert_allclose(interpret(module, "f", [q, k, v, mask])[0], want, rtol=1e-12)


def after(text: str, passes: str) -> str:
    """Return a module's text after passes, which reads as itself."""
    module = parse_module(text)
    run(module, passes)
    out = print_module(module)
    assert print_module(parse_module(out)) == out
    return out


def test_data_format_conversion_computes_in_one_format() -> None:
    text = function(A, constant("0.1", A), f"add(%a0, %0) : {A}, {A} -> {A}", f"exp(%1) : {A} -> {A}")
    out = after(text, "ttir-global-data-format-conversion")
    assert "@f(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32>" in out
    assert "(tensor<4x5xbf16>, tensor<4x5xbf16>) -> tensor<4x5xbf16>" in out
    assert out.count("ttir.typecast") == 2
    assert out.count("dense<1.000980e-01> : tensor<4x5xbf16>") == 1
    assert "ttir.typecast" not in after(text, "ttir-global-data-format-conversion{target-format=f32}")
    kept = text.replace('"ttir.exp"(%1) : (tensor<4x5xf32>)', '"ttir.exp"(%1) {preserveDataFormat} : (tensor<4x5xf32>)')
    out = after(kept, "ttir-global-data-format-conversion")
    assert "{preserveDataFormat} : (tensor<4x5xf32>) -> tensor<4x5xf32>" in out
    with pytest.raises(CompileError, match=r"Invalid target format 'f8'. Supported formats: f32, bf16, bfp_bf8"):
        after(text, "ttir-global-data-format-conversion{target-format=f8}")


def test_predicate_results_take_the_type_of_their_operands() -> None:
    out = after(
        function(
            "4xi32, 4xi32", "eq(%a0, %a1) : 4xi32, 4xi32 -> 4xi1", "where(%0, %a0, %a1) : 4xi1, 4xi32, 4xi32 -> 4xi32"
        ),
        "ttir-predicate-type-alignment",
    )
    assert "(tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>" in out
    assert "i1" not in out.replace("i32", "")
    out = after(function("4xi1, 4xf32", "multiply(%a0, %a1) : 4xi1, 4xf32 -> 4xf32"), "ttir-predicate-type-alignment")
    assert '"ttir.typecast"(%arg0)' in out


def test_booleans_narrow_to_one_bit() -> None:
    text = function("4xf32, 4xf32", "ge(%a0, %a1) : 4xf32, 4xf32 -> 4xf32", "logical_not(%0) : 4xf32 -> 4xf32",
                    "add(%1, %0) : 4xf32, 4xf32 -> 4xf32")  # fmt: skip
    module = both(text, "ttir-cpu-boolean-narrowing")
    assert names(module) == "ge typecast logical_not typecast add"
    assert print_module(module).count("-> tensor<4xi1>") == 2


def test_quantized_values_convert_to_one_width() -> None:
    text = (
        "func.func @f(%a: tensor<3x!quant.uniform<i8<-8:7>:f32:0, {1.000000e-01:3, 2.000000e-01, 3.000000e-01}>>) "
        "-> tensor<3xf32> {\n"
        '  %0 = "ttir.dequantize"(%a) : (tensor<3x!quant.uniform<i8<-8:7>:f32:0, {1.000000e-01:3, 2.000000e-01, '
        "3.000000e-01}>>) -> tensor<3xf32>\n  return %0 : tensor<3xf32>\n}\n"
    )
    want = "!quant.uniform<i32:f32:0,{1.000000e-01:3,2.000000e-01,3.000000e-01}>"
    assert after(text, "ttir-quant-data-type-conversion").replace(", ", ",").count(want) == 2
    with pytest.raises(CompileError, match=r"Invalid quantization bit width \(must be 8, 16, 32, or 64\)"):
        after(text, "ttir-quant-data-type-conversion{target-bit-width=12}")
    wide = after(text, "ttir-quant-data-type-conversion{target-bit-width=16}")
    with pytest.raises(CompileError, match=r"width 8 is smaller than quantized type of width 16. Out of range"):
        after(wide, "ttir-quant-data-type-conversion{target-bit-width=8}")


def test_kv_cache_arguments_are_marked() -> None:
    text = (
        "func.func @f(%a: tensor<1x4x32x64xbf16>, %b: tensor<1x4x32x64xbf16>) -> tensor<1x4x32x64xbf16> {\n"
        '  "ttir.fill_cache"(%a, %b) <{batch_offset = 0 : i32}> : (tensor<1x4x32x64xbf16>, '
        "tensor<1x4x32x64xbf16>) -> ()\n  return %a : tensor<1x4x32x64xbf16>\n}\n"
    )
    out = after(text, "ttir-infer-kv-cache-argument-types")
    assert out.count("ttcore.kv_cache") == 1
    assert "%arg0: tensor<1x4x32x64xbf16> {ttcore.kv_cache}" in out


def test_equal_cache_lengths_are_shared() -> None:
    cache, token, one = "tensor<1x4x32x64xbf16>", "tensor<1x4x1x64xbf16>", "tensor<1xi32>"
    lines = []
    for i in (0, 1):
        lines.append(
            f'  "ttir.update_cache"(%c{i}, %t, %n{i}) <{{batch_offset = 0 : i32}}> : ({cache}, {token}, {one}) -> ()\n'
        )
        lines.append(f'  %{i} = "ttir.add"(%n{i}, %s) : ({one}, {one}) -> {one}\n')
    text = (
        f"func.func @f(%c0: {cache}, %c1: {cache}, %t: {token}, %n0: {one}, %n1: {one}) -> ({one}, {one}) "
        f'{{\n  %s = "ttir.full"() <{{shape = array<i32: 1>, fill_value = 1 : i32}}> : () -> {one}\n'
        f"{''.join(lines)}  return %0, %1 : {one}, {one}\n}}\n"
    )
    out = after(text, "ttir-consolidate-static-cache-updates")
    assert "%arg3" not in out.partition("{\n")[2].partition("\n")[2]
    other = text.replace('"ttir.add"(%n1, %s)', '"ttir.add"(%n1, %n1)')
    assert '"ttir.update_cache"(%arg0, %arg2, %arg3)' in after(other, "ttir-consolidate-static-cache-updates")


def test_concatenated_weights_take_the_most_precise_format_with_a_warning() -> None:
    def argument(name: str, dtype: str) -> str:
        mark = f' {{ttcore.weight_dtype = "{dtype}"}}' if dtype else ""
        return f"%{name}: tensor<8x4xbf16>{mark}"

    def text(first: str, second: str) -> str:
        return (
            f"func.func @f(%x: tensor<2x8xbf16>, {argument('a', first)}, {argument('b', second)}) -> "
            'tensor<2x8xbf16> {\n  %0 = "ttir.concat"(%a, %b) <{dim = 1 : si32}> : '
            "(tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<8x8xbf16>\n"
            '  %1 = "ttir.matmul"(%x, %0) : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>\n'
            "  return %1 : tensor<2x8xbf16>\n}\n"
        )

    for first, second, warned in [("bfp_bf4", "bfp_bf8", 1), ("bfp_bf8", "bfp_bf8", 0), ("bfp_bf8", "", 1)]:
        module = parse_module(text(first, second))
        run(module, "ttir-propagate-weight-dtype")
        assert '{ttcore.weight_dtype = "bfp_bf8"} : (tensor<2x8xbf16>' in print_module(module)
        assert len(module.warnings) == warned
    module = parse_module(text("", ""))
    run(module, "ttir-propagate-weight-dtype")
    assert "weight_dtype" not in print_module(module)
