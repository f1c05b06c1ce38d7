"""Programs with and without `enable-fusing-pass`: fused ones give equal numbers.

Both are compared with float64 and with each other. Sums and products of matrices have TF32 operands (a relative
distance of 1e-2 for sums of this length covers both programs); functions of the vector unit are within 4e-3, as in the
tests of single operations.
"""

from __future__ import annotations

# Lines of MLIR stay whole.
# ruff: noqa: E501
from collections.abc import Iterator

import numpy as np
import pytest

import ttnn
from testkit.pass_checks import function, names, op
from testkit.ttir_reference import interpret
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.versions import parse_module

S, T = "64x96xf32", "tensor<64x96xf32>"


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def full(name: str, number: float, kind: str = S) -> str:
    sizes = ", ".join(kind.split("x")[:-1])
    return op(name, "full", "", f" -> {kind}", f"shape = array<i32: {sizes}>, fill_value = {number:.9e} : f32")


def two(result: str, name: str, operands: str, kind: str = S) -> str:
    return op(result, name, operands, f"{kind}, {kind} -> {kind}")


def one(result: str, name: str, operand: str) -> str:
    return op(result, name, operand, f"{S} -> {S}")


SPREAD = "broadcast_dimensions = array<i64: 1, 96>"
KEPT = "dim_arg = [1 : i32], keep_dim = true"
CASES = {
    "silu": (function(f"%a: {T}", T, one("0", "sigmoid", "%a"), two("r", "multiply", "%a, %0")), ["silu"], 4e-3),
    "relu6": (function(f"%a: {T}", T, full("z", 0.0), full("s", 6.0), two("0", "maximum", "%a, %z"), two("r", "minimum", "%0, %s")), ["relu6"], 4e-3),
    "gelu": (
        function(
            f"%a: {T}", T, full("h", 0.5), full("o", 1.0), full("q", 0.7071067811865476), two("0", "multiply", "%a, %q"), one("1", "erf", "%0"),
            two("2", "add", "%1, %o"), two("3", "multiply", "%a, %h"), two("r", "multiply", "%3, %2"),
        ),
        ["gelu"],
        4e-3,
    ),
    "softmax": (
        function(
            f"%a: {T}", T, op("0", "max", "%a", f"{S} -> 64x1xf32", KEPT), op("1", "broadcast", "%0", f"64x1xf32 -> {S}", SPREAD), two("2", "subtract", "%a, %1"),
            one("3", "exp", "%2"), op("4", "sum", "%3", f"{S} -> 64x1xf32", KEPT), op("5", "broadcast", "%4", f"64x1xf32 -> {S}", SPREAD), two("r", "div", "%3, %5"),
        ),
        ["softmax"],
        1e-2,
    ),
    "linear": (
        function(f"%a: {T}, %b: tensor<96x32xf32>, %c: tensor<32xf32>", "tensor<64x32xf32>", op("0", "matmul", "%a, %b", f"{S}, 96x32xf32 -> 64x32xf32"), op("r", "add", "%0, %c", "64x32xf32, 32xf32 -> 64x32xf32")),
        ["linear"],
        1e-2,
    ),
    "three products": (
        function(
            f"%a: {T}, %b: tensor<96x32xf32>, %c: tensor<96x32xf32>, %d: tensor<96x64xf32>", "tensor<64x128xf32>",
            *(op(str(i), "matmul", f"%a, %{name}", f"{S}, 96x{n}xf32 -> 64x{n}xf32") for i, (name, n) in enumerate((("b", 32), ("c", 32), ("d", 64)))),
            op("r", "concat", "%0, %1, %2", "64x32xf32, 64x32xf32, 64x64xf32 -> 64x128xf32", "dim = 1 : si32"),
        ),
        ["concat", "matmul", "slice_static"],
        1e-2,
    ),
    "mean": (function(f"%a: {T}", "tensor<64xf32>", full("s", 1 / 96, "64xf32"), op("0", "sum", "%a", f"{S} -> 64xf32", "dim_arg = [1 : i32], keep_dim = false"), two("r", "multiply", "%0, %s", "64xf32")), ["mean"], 1e-2),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_fused_and_unfused_programs_agree(case: str, device: ttnn.MeshDevice) -> None:
    body, expected_names, bound = CASES[case]
    module = parse_module(body)
    random = np.random.default_rng(3)
    inputs = [
        random.standard_normal(tuple(argument.type.get_shape())).astype(np.float32)  # type: ignore[attr-defined]
        for argument in module.functions()[0].body.blocks[0].args
    ]
    (expected,) = interpret(module, "f", inputs)
    results = []
    for state in ("true", "false"):
        lowered = parse_module(body)
        run(lowered, f"ttir-to-ttnn-backend-pipeline{{enable-fusing-pass={state}}}")
        assert (set(expected_names) <= set(names(lowered))) == (state == "true")
        program = next(one for one in programs(ttnn_to_binary(lowered, "0.1.0")) if one.name == "f")
        (result,) = execute(program, [ttnn.from_torch(given) for given in inputs], device)
        results.append(ttnn.to_numpy(result).astype(np.float64))
    scale = np.linalg.norm(expected)
    assert all(np.linalg.norm(got - expected) <= bound * scale for got in results)
    assert np.linalg.norm(results[0] - results[1]) <= bound * scale


def test_convolution_weights_may_have_other_users(device: ttnn.MeshDevice) -> None:
    kind = "tensor<8x4x3x3xf32>"
    text = f'func.func @f(%w: {kind} {{ttcore.conv2d_weight}}) -> {kind} {{ %0 = "ttir.exp"(%w) : ({kind}) -> {kind} return %0 : {kind} }}'
    lowered = parse_module(text)
    run(lowered, "ttir-to-ttnn-backend-pipeline")
    program = next(one for one in programs(ttnn_to_binary(lowered, "0.1.0")) if one.name == "f")
    weights = np.random.default_rng(0).standard_normal((8, 4, 3, 3)).astype(np.float32)
    (result,) = execute(program, [ttnn.from_torch(weights)], device)
    np.testing.assert_allclose(ttnn.to_numpy(result), np.exp(weights.astype(np.float64)), rtol=4e-3)
