"""`ttir-fusing`: what operations become, and that they mean the same in float64."""

from __future__ import annotations

# Lines of MLIR stay whole.
# ruff: noqa: E501
import numpy as np
import pytest

from testkit.pass_checks import dense, function, names, op, rewritten
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir import Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.transforms.ttir.fusing.registry import FIRST, PATTERNS, SWITCHED
from ttnn.compiler.versions import parse_module, print_module

F, T = "4x6xf32", "tensor<4x6xf32>"
A = f"%a: {T}"


def full(name: str, number: float, kind: str = F) -> str:
    sizes = ", ".join(kind.split("x")[:-1])
    return op(name, "full", "", f" -> {kind}", f"shape = array<i32: {sizes}>, fill_value = {number:.9e} : f32")


def unary(result: str, name: str, operand: str, kind: str = F) -> str:
    return op(result, name, operand, f"{kind} -> {kind}")


def binary(result: str, name: str, operands: str, kind: str = F) -> str:
    return op(result, name, operands, f"{kind}, {kind} -> {kind}")


def reduced(result: str, name: str, operand: str, types: str, dims: str, keep: bool = True) -> str:
    listed = ", ".join(f"{one} : i32" for one in dims.split(","))
    return op(result, name, operand, types, f"dim_arg = [{listed}], keep_dim = {str(keep).lower()}")


CONV = "stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32"
IMAGE, WEIGHT, OUT = "1x6x6x3xf32", "4x3x3x3xf32", "1x4x4x4xf32"
PARAMETER = "{ttcore.argument_type = #ttcore.argument_type<parameter>}"
CONV_ARGS = f"%a: tensor<{IMAGE}>, %w: tensor<{WEIGHT}>"
CONV_LINE = op("0", "conv2d", "%a, %w", f"{IMAGE}, {WEIGHT} -> {OUT}", CONV)

GELU = (
    full("half", 0.5), full("one", 1.0), full("root", 0.7071067811865476),
    binary("0", "multiply", "%a, %root"), unary("1", "erf", "%0"), binary("2", "add", "%1, %one"),
    binary("3", "multiply", "%half, %a"), binary("r", "multiply", "%3, %2"),
)  # fmt: skip
GELU_TANH = (
    full("half", 0.5), full("one", 1.0), full("c", 0.7978845608028654), full("d", 0.044715), full("three", 3.0),
    binary("0", "pow", "%a, %three"), binary("1", "multiply", "%d, %0"), binary("2", "add", "%a, %1"),
    binary("3", "multiply", "%c, %2"), unary("4", "tanh", "%3"), binary("5", "add", "%one, %4"),
    binary("6", "multiply", "%half, %5"), binary("r", "multiply", "%a, %6"),
)  # fmt: skip
SOFTMAX = (
    reduced("0", "max", "%a", f"{F} -> 4x1xf32", "1"),
    op("1", "broadcast", "%0", f"4x1xf32 -> {F}", "broadcast_dimensions = array<i64: 1, 6>"),
    binary("2", "subtract", "%a, %1"), unary("3", "exp", "%2"),
    reduced("4", "sum", "%3", f"{F} -> 4x1xf32", "1"),
    op("5", "broadcast", "%4", f"4x1xf32 -> {F}", "broadcast_dimensions = array<i64: 1, 6>"),
    binary("r", "div", "%3, %5"),
)  # fmt: skip
MISH = (
    full("c", 20.0), op("0", "gt", "%a, %c", f"{F}, {F} -> 4x6xi1"), unary("1", "exp", "%a"), unary("2", "log1p", "%1"),
    op("3", "where", "%0, %a, %2", f"4x6xi1, {F}, {F} -> {F}"), unary("4", "tanh", "%3"), binary("r", "multiply", "%a, %4"),
)  # fmt: skip
RMS = (
    binary("0", "multiply", "%a, %a"), reduced("1", "mean", "%0", f"{F} -> 4x1xf32", "1"), full("e", 1e-5, "4x1xf32"),
    op("2", "add", "%1, %e", "4x1xf32, 4x1xf32 -> 4x1xf32"), op("3", "rsqrt", "%2", "4x1xf32 -> 4x1xf32"),
    op("4", "broadcast", "%3", f"4x1xf32 -> {F}", "broadcast_dimensions = array<i64: 1, 6>"),
    binary("5", "multiply", "%a, %4"), op("6", "reshape", "%g", "6xf32 -> 1x6xf32", "shape = [1 : i32, 6 : i32]"),
    op("7", "broadcast", "%6", f"1x6xf32 -> {F}", "broadcast_dimensions = array<i64: 4, 1>"), binary("r", "multiply", "%7, %5"),
)  # fmt: skip
L2 = (
    binary("0", "multiply", "%a, %a"), reduced("1", "sum", "%0", f"{F} -> 1x6xf32", "0"), op("2", "sqrt", "%1", "1x6xf32 -> 1x6xf32"),
    op("3", "broadcast", "%2", f"1x6xf32 -> {F}", "broadcast_dimensions = array<i64: 4, 1>"), binary("4", "div", "%a, %3"),
    full("s", 2.0), binary("5", "multiply", "%4, %s"), op("6", "reshape", "%g", "4xf32 -> 4x1xf32", "shape = [4 : i32, 1 : i32]"),
    op("7", "broadcast", "%6", f"4x1xf32 -> {F}", "broadcast_dimensions = array<i64: 1, 6>"), binary("r", "multiply", "%5, %7"),
)  # fmt: skip

Case = tuple[str, list[str], float]
"""Function, remaining operations, and largest relative difference.

It is a part of the largest output.
"""
EXACT, FLOAT32 = 1e-12, 2.0**-22
CASES: dict[str, Case] = {
    "maximum(x, 0)": (function(A, T, full("z", 0.0), binary("r", "maximum", "%z, %a")), ["relu"], EXACT),
    "minimum(relu(x), 6)": (function(A, T, full("s", 6.0), unary("0", "relu", "%a"), binary("r", "minimum", "%0, %s")), ["relu6"], EXACT),
    "relu6(x + 3) / 6": (
        function(A, T, full("t", 3.0), full("s", 6.0), binary("0", "add", "%t, %a"), unary("1", "relu6", "%0"), binary("r", "div", "%1, %s")),
        ["hardsigmoid"],
        EXACT,
    ),
    "x * sigmoid(x)": (function(A, T, unary("0", "sigmoid", "%a"), binary("r", "multiply", "%0, %a")), ["silu"], EXACT),
    "gelu by erf": (function(A, T, *GELU), ["gelu"], FLOAT32),
    # The official compiler takes the approximation for the function; they differ by 5e-4 at most.
    "gelu by tanh": (function(A, T, *GELU_TANH), ["gelu"], 5e-4),
    # ln(1 + e**x) is x in float32 beyond the threshold.
    "mish": (function(A, T, *MISH), ["mish"], FLOAT32),
    "softmax": (function(A, T, *SOFTMAX), ["softmax"], EXACT),
    "kept dimension": (
        function(A, "tensor<4x1xf32>", reduced("0", "sum", "%a", f"{F} -> 4xf32", "1", keep=False), op("r", "reshape", "%0", "4xf32 -> 4x1xf32", "shape = [4 : i32, 1 : i32]")),
        ["sum"],
        EXACT,
    ),
    # 1 / 6 is rounded to float32.
    "sum(x) * (1 / n)": (
        function(A, "tensor<4xf32>", full("s", 0.16666667, "4xf32"), reduced("0", "sum", "%a", f"{F} -> 4xf32", "1", keep=False), binary("r", "multiply", "%0, %s", "4xf32")),
        ["mean"],
        FLOAT32,
    ),
    "mean of images": (
        function(
            "%a: tensor<2x3x4x5xf32>", "tensor<2x5xf32>",
            reduced("0", "mean", "%a", "2x3x4x5xf32 -> 2x5xf32", "1,2", keep=False), op("r", "abs", "%0", "2x5xf32 -> 2x5xf32"),
        ),
        ["reshape", "mean", "reshape", "abs"],
        EXACT,
    ),
    "convolution and bias": (
        function(
            f"{CONV_ARGS}, %b: tensor<1x1x1x4xf32>", f"tensor<{OUT}>", CONV_LINE,
            op("1", "broadcast", "%b", f"1x1x1x4xf32 -> {OUT}", "broadcast_dimensions = array<i64: 1, 4, 4, 1>"), binary("r", "add", "%0, %1", OUT),
        ),
        ["conv2d"],
        EXACT,
    ),
    "convolution and two biases": (
        function(
            f"{CONV_ARGS}, %b: tensor<1x1x1x4xf32>, %c: tensor<1x1x1x4xf32>", f"tensor<{OUT}>",
            op("0", "conv2d", "%a, %w, %b", f"{IMAGE}, {WEIGHT}, 1x1x1x4xf32 -> {OUT}", CONV), op("r", "add", "%c, %0", f"1x1x1x4xf32, {OUT} -> {OUT}"),
        ),
        ["add", "conv2d"],
        EXACT,
    ),
    "product and bias": (
        function(f"{A}, %b: tensor<6x5xf32>, %c: tensor<5xf32>", "tensor<4x5xf32>", op("0", "matmul", "%a, %b", f"{F}, 6x5xf32 -> 4x5xf32"), op("r", "add", "%0, %c", "4x5xf32, 5xf32 -> 4x5xf32")),
        ["linear"],
        EXACT,
    ),
    "product, reshape and bias": (
        function(
            f"{A}, %b: tensor<6x5xf32>, %c: tensor<1x1x5xf32>", "tensor<2x2x5xf32>", op("0", "matmul", "%a, %b", f"{F}, 6x5xf32 -> 4x5xf32"),
            op("1", "reshape", "%0", "4x5xf32 -> 2x2x5xf32", "shape = [2 : i32, 2 : i32, 5 : i32]"),
op("r", "add", "%1, %c", "2x2x5xf32, 1x1x5xf32 -> 2x2x5xf32"),
        ),
        ["linear", "reshape"],
        EXACT,
    ),
    "row of a product": (
        function(
            f"{A}, %b: tensor<6x5xf32>", "tensor<1x5xf32>", op("0", "matmul", "%a, %b", f"{F}, 6x5xf32 -> 4x5xf32"),
            op("r", "slice_static", "%0", "4x5xf32 -> 1x5xf32", "begins = [3 : i32, 0 : i32], ends = [4 : i32, 5 : i32], step = [1 : i32, 1 : i32]"),
        ),
        ["slice_static", "matmul"],
        EXACT,
    ),
    "columns of a linear operation": (
        function(
            f"{A}, %b: tensor<5x6xf32>, %c: tensor<5xf32>", "tensor<4x2xf32>",
            op("0", "linear", "%a, %b, %c", f"{F}, 5x6xf32, 5xf32 -> 4x5xf32", "transpose_b = true"),
            op("r", "slice_static", "%0", "4x5xf32 -> 4x2xf32", "begins = [0 : i32, 1 : i32], ends = [4 : i32, 5 : i32], step = [1 : i32, 2 : i32]"),
        ),
        ["slice_static", "slice_static", "linear"],
        EXACT,
    ),
    "products of one matrix": (
        function(
            f"{A}, %b: tensor<6x5xf32>, %c: tensor<5x6xf32>, %d: tensor<6x2xf32>", "tensor<4x12xf32>",
            op("0", "matmul", "%a, %b", f"{F}, 6x5xf32 -> 4x5xf32"), op("1", "matmul", "%a, %c", f"{F}, 5x6xf32 -> 4x5xf32", "transpose_b = true"),
            op("2", "matmul", "%a, %d", f"{F}, 6x2xf32 -> 4x2xf32"), op("r", "concat", "%0, %1, %2", "4x5xf32, 4x5xf32, 4x2xf32 -> 4x12xf32", "dim = 1 : si32"),
        ),
        ["permute", "concat", "matmul", "slice_static", "slice_static", "slice_static", "concat"],
        EXACT,
    ),
    "rms_norm": (function(f"{A}, %g: tensor<6xf32>", T, *RMS), ["rms_norm"], FLOAT32),
    # The norm is not zero, so the guard against it does not count.
    "rms_norm as a scaled norm over rows": (function(f"{A}, %g: tensor<4xf32>", T, *L2), ["permute", "rms_norm", "permute"], FLOAT32),
    "two branches": (
        function(
            "%a: tensor<1x6x6x3xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x3x1x1xf32>", "tensor<1x6x6x4xf32>",
            op("0", "conv2d", "%a, %w", "1x6x6x3xf32, 4x3x3x3xf32 -> 1x6x6x4xf32", "stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32"),
            op("1", "conv2d", "%a, %v", "1x6x6x3xf32, 4x3x1x1xf32 -> 1x6x6x4xf32", CONV), binary("r", "add", "%1, %0", "1x6x6x4xf32"),
        ),
        ["pad", "add", "conv2d"],
        EXACT,
    ),
    "padding of volumes": (
        function(
            "%a: tensor<1x3x4x4x2xf32>, %w: tensor<3x2x3x3x3xf32>", "tensor<1x3x4x4x3xf32>",
            op("0", "pad", "%a", "1x3x4x4x2xf32 -> 1x5x6x6x2xf32", "padding = array<i32: 0, 0, 1, 1, 1, 1, 1, 1, 0, 0>, value = 0.0 : f32"),
            op("r", "conv3d", "%0, %w", "1x5x6x6x2xf32, 3x2x3x3x3xf32 -> 1x3x4x4x3xf32", 'stride = array<i32: 1, 1, 1>, padding = array<i32: 0, 0, 0>, groups = 1 : i32, padding_mode = "zeros"'),
        ),
        ["conv3d"],
        EXACT,
    ),
    "heads": (
        function(
            "%a: tensor<2x3x4x5xf32>", "tensor<2x4x15xf32>", op("0", "permute", "%a", "2x3x4x5xf32 -> 2x4x3x5xf32", "permutation = array<i64: 0, 2, 1, 3>"),
            op("r", "reshape", "%0", "2x4x3x5xf32 -> 2x4x15xf32", "shape = [2 : i32, 4 : i32, 15 : i32]"),
        ),
        ["concatenate_heads"],
        EXACT,
    ),
    "heads that repeat": (
        function(
            "%a: tensor<2x3x4xf32>", "tensor<2x6x4xf32>", op("0", "reshape", "%a", "2x3x4xf32 -> 2x3x1x4xf32", "shape = [2 : i32, 3 : i32, 1 : i32, 4 : i32]"),
            op("1", "broadcast", "%0", "2x3x1x4xf32 -> 2x3x2x4xf32", "broadcast_dimensions = array<i64: 1, 1, 2, 1>"),
            op("r", "reshape", "%1", "2x3x2x4xf32 -> 2x6x4xf32", "shape = [2 : i32, 6 : i32, 4 : i32]"),
        ),
        ["repeat_interleave"],
        EXACT,
    ),
    "repeats": (
        function(
            "%a: tensor<2x3x4xf32>", "tensor<2x6x4xf32>", op("0", "reshape", "%a", "2x3x4xf32 -> 2x1x3x4xf32", "shape = [2 : i32, 1 : i32, 3 : i32, 4 : i32]"),
            op("1", "broadcast", "%0", "2x1x3x4xf32 -> 2x2x3x4xf32", "broadcast_dimensions = array<i64: 1, 2, 1, 1>"),
            op("r", "reshape", "%1", "2x2x3x4xf32 -> 2x6x4xf32", "shape = [2 : i32, 6 : i32, 4 : i32]"),
        ),
        ["repeat"],
        EXACT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_fused_form_has_expected_operations_and_equal_values(case: str) -> None:
    body, left, relative = CASES[case]
    assert names(rewritten(body, "ttir-fusing", relative=relative)) == left


def test_scale_fuses_into_weights_and_bias_only_if_constant() -> None:
    lines = (
        op("0", "conv2d", "%a, %w, %b", f"{IMAGE}, {WEIGHT}, 1x1x1x4xf32 -> {OUT}", CONV),
        op("r", "multiply", "%0, %s", f"{OUT}, 1x1x1x4xf32 -> {OUT}"),
    )
    arguments = f"{CONV_ARGS}, %b: tensor<1x1x1x4xf32>, %s: tensor<1x1x1x4xf32>"
    option = "ttir-fusing{ttnn-enable-conv2d-with-multiply-pattern=true}"
    constant = rewritten(function(f"{arguments} {PARAMETER}", f"tensor<{OUT}>", *lines), option)
    assert names(constant) == ["reshape", "multiply", "multiply", "conv2d"]
    assert names(rewritten(function(arguments, f"tensor<{OUT}>", *lines), option)) == ["conv2d", "multiply"]
    off = rewritten(function(f"{arguments} {PARAMETER}", f"tensor<{OUT}>", *lines), "ttir-fusing")
    assert names(off) == ["conv2d", "multiply"]


def test_batch_norm_fuses_into_the_convolution() -> None:
    statistics = ", ".join(f"%{name}: tensor<4xf32> {PARAMETER}" for name in "soxv")
    body = function(
        f"{CONV_ARGS}, {statistics}",
        f"tensor<{OUT}>",
        CONV_LINE,
        op("r", "batch_norm_inference", "%0, %s, %o, %x, %v", f"{OUT}, 4xf32, 4xf32, 4xf32, 4xf32 -> {OUT}", "epsilon = 1.0e-05 : f32, dimension = 3 : i32"),
    )  # fmt: skip
    option = "ttir-fusing{ttnn-enable-conv2d-with-multiply-pattern=true}"
    module = rewritten(body, option, relative=FLOAT32, positive=True)
    assert names(module)[-1] == "conv2d"
    assert "batch_norm_inference" not in names(module)
    assert "operandSegmentSizes" in print_module(module) or names(module).count("conv2d") == 1


@pytest.mark.parametrize("descending", ["true", "false"])
def test_slice_of_a_sort_becomes_topk(descending: str) -> None:
    cut = "begins = [0 : i32, 0 : i32], ends = [4 : i32, 2 : i32], step = [1 : i32, 1 : i32]"
    body = f"""
    func.func @f(%a: tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xsi32>) {{
      %v, %i = "ttir.sort"(%a) <{{dim = -1 : si32, descending = {descending}, stable = false}}> : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xsi32>)
      {op("0", "slice_static", "%v", "4x6xf32 -> 4x2xf32", cut)}
      {op("1", "slice_static", "%i", "4x6xsi32 -> 4x2xsi32", cut)}
      return %0, %1 : tensor<4x2xf32>, tensor<4x2xsi32>
    }}
    """
    assert names(rewritten(body, "ttir-fusing")) == ["topk"]


def test_slice_at_the_end_of_a_sort_is_kept() -> None:
    """topk gives the largest first; an ascending sort has it last."""
    cut = "begins = [0 : i32, 3 : i32], ends = [4 : i32, 6 : i32], step = [1 : i32, 1 : i32]"
    body = f"""
    func.func @f(%a: tensor<4x6xf32>) -> tensor<4x3xf32> {{
      %v, %i = "ttir.sort"(%a) <{{dim = 1 : si32, descending = false, stable = false}}> : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xsi32>)
      {op("0", "slice_static", "%v", "4x6xf32 -> 4x3xf32", cut)}
      return %0 : tensor<4x3xf32>
    }}
    """
    assert names(rewritten(body, "ttir-fusing")) == ["sort", "slice_static"]


def test_permutes_fuse_into_matmul_on_request() -> None:
    body = function(
        "%a: tensor<6x4xf32>, %b: tensor<6x5xf32>", "tensor<4x5xf32>", op("0", "permute", "%a", "6x4xf32 -> 4x6xf32", "permutation = array<i64: 1, 0>"),
        op("r", "matmul", "%0, %b", "4x6xf32, 6x5xf32 -> 4x5xf32"),
    )  # fmt: skip
    assert names(rewritten(body, "ttir-fusing{enable-permute-matmul-fusion=true}")) == ["matmul"]
    assert names(rewritten(body, "ttir-fusing")) == ["permute", "matmul"]


NOT_FUSED = {
    "another constant": function(A, T, full("z", 0.5), binary("r", "maximum", "%z, %a")),
    "softplus with a low threshold": function(A, T, full("c", 2.0), *MISH[1:]),
    "a scale that is not one over the count": function(A, "tensor<4xf32>", full("s", 0.17, "4xf32"), reduced("0", "sum", "%a", f"{F} -> 4xf32", "1", keep=False), binary("r", "multiply", "%0, %s", "4xf32")),
    "a norm that is not scaled by its size": function(f"{A}, %g: tensor<4xf32>", T, *(line.replace("fill_value = 2.0", "fill_value = 3.0") for line in L2)),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_FUSED)
def test_similar_patterns_with_other_meaning_are_kept(case: str) -> None:
    body = NOT_FUSED[case]
    assert names(rewritten(body, "ttir-fusing")) == names(parse_module(body))


def test_fused_convolution_weights_are_marked() -> None:
    module = parse_module(function(CONV_ARGS, f"tensor<{OUT}>", CONV_LINE.replace("%0", "%r")))
    run(module, "ttir-fusing")
    assert "ttcore.conv2d_weight" in print_module(module)


def test_weight_marks_survive_fusing() -> None:
    body = function(f"{A}, %b: tensor<6x5xf32>, %c: tensor<5xf32>", "tensor<4x5xf32>", op("0", "matmul", "%a, %b", f"{F}, 6x5xf32 -> 4x5xf32"), op("r", "add", "%0, %c", "4x5xf32, 5xf32 -> 4x5xf32"))  # fmt: skip
    module = parse_module(body)
    product = next(one for one in module.op.walk() if one.name == "ttir.matmul")
    from ttnn.compiler.ir.xdsl_adapter import StringAttr

    product.attributes["ttcore.weight_dtype"] = StringAttr("bfp_bf8")
    run(module, "ttir-fusing")
    assert 'ttcore.weight_dtype = "bfp_bf8"' in print_module(module)


def fused_2025_10(body: str, pipeline: str = "ttir-fusing") -> Module:
    module = parse_module(body, default_version="2025-10")
    run(module, pipeline)
    return module


POOL = "base_dilations = array<i64: 1, 1, 1, 1>, operandSegmentSizes = array<i32: 1, 1>, pooling_method = #ttir<pooling_method Sum>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 1, 1>"


def pooled(value: float) -> str:
    return f"""
    func.func @f(%a: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {{
      %0 = ttir.empty() : tensor<1x2x6x6xf32>
      %1 = "ttir.pad"(%a, %0) <{{padding = array<i32: 0, 0, 0, 0, 1, 1, 1, 1>, value = {value} : f32}}> : (tensor<1x2x4x4xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
      %2 = ttir.empty() : tensor<1x2x4x4xf32>
      %3 = "ttir.pooling"(%1, %2) <{{padding = array<i64: 0, 0, 0, 0, 0, 0, 0, 0>, {POOL}}}> : (tensor<1x2x6x6xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
      return %3 : tensor<1x2x4x4xf32>
    }}
    """


def test_sum_pool_fuses_only_zero_padding() -> None:
    assert names(fused_2025_10(pooled(0.0))) == ["pooling"]
    assert names(fused_2025_10(pooled(1.0))) == ["pad", "pooling"]


@pytest.mark.parametrize(
    ("middle", "left"),
    [("1.0", ["pooling"]), ("2.0", ["pooling", "constant", "pooling", "reshape", "broadcast", "div"])],
)
def test_pooled_sum_divided_by_its_count_becomes_average_pool(middle: str, left: list[str]) -> None:
    inside = np.zeros((6, 6))
    inside[1:5, 1:5] = 1
    inside[2, 2] = float(middle)
    values = str(inside.tolist())
    count = POOL.replace("1, 1, 1, 1", "1, 1").replace("1, 1, 3, 3", "3, 3")
    body = f"""
    func.func @f(%a: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {{
      {dense(values, "6x6xf32")}
      %0 = ttir.empty() : tensor<1x2x4x4xf32>
      %1 = "ttir.pooling"(%a, %0) <{{padding = array<i64: 0, 0, 0, 0, 1, 1, 1, 1>, {POOL}}}> : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
      %2 = ttir.empty() : tensor<4x4xf32>
      %3 = "ttir.pooling"(%c, %2) <{{padding = array<i64: 0, 0, 0, 0>, {count}}}> : (tensor<6x6xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %4 = ttir.empty() : tensor<1x1x4x4xf32>
      %5 = "ttir.reshape"(%3, %4) <{{shape = [1 : i32, 1 : i32, 4 : i32, 4 : i32]}}> : (tensor<4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
      %6 = ttir.empty() : tensor<1x2x4x4xf32>
      %7 = "ttir.broadcast"(%5, %6) <{{broadcast_dimensions = array<i64: 1, 2, 1, 1>}}> : (tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
      %8 = ttir.empty() : tensor<1x2x4x4xf32>
      %9 = "ttir.div"(%1, %7, %8) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
      return %9 : tensor<1x2x4x4xf32>
    }}
    """
    module = rewritten(body, "ttir-fusing", version="2025-10")
    assert sorted(names(module)) == sorted(left)
    assert ("Average" in print_module(module)) == (left == ["pooling"])
    # Elements of the padding are not counted.
    assert ("{count_include_pad = false}" in print_module(module)) == (left == ["pooling"])
    if left == ["pooling"]:
        module = rewritten(body, "ttir-fusing,ttir-to-ttir-decomposition", version="2025-10")
        assert "avg_pool2d" in names(module)


def test_padding_before_average_pool_without_count_is_kept() -> None:
    average = pooled(0.0).replace("Sum", "Average")
    assert names(rewritten(average, "ttir-fusing", version="2025-10")) == ["pooling"]
    uncounted = average.replace("}> : (tensor<1x2x6x6xf32>", "}> {count_include_pad = false} : (tensor<1x2x6x6xf32>")
    assert names(rewritten(uncounted, "ttir-fusing", version="2025-10")) == ["pad", "pooling"]


def test_scaled_sum_becomes_global_average_pool_on_request() -> None:
    body = """
    func.func @f(%a: tensor<2x3x4x4xf32>) -> tensor<2x3x1x1xf32> {
      %s = "ttir.full"() <{shape = array<i32: 2, 3, 1, 1>, fill_value = 0.0625 : f32}> : () -> tensor<2x3x1x1xf32>
      %0 = ttir.empty() : tensor<2x3x1x1xf32>
      %1 = "ttir.sum"(%a, %0) <{dim_arg = [2 : i32, 3 : i32], keep_dim = true}> : (tensor<2x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
      %2 = ttir.empty() : tensor<2x3x1x1xf32>
      %3 = "ttir.multiply"(%1, %s, %2) : (tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
      return %3 : tensor<2x3x1x1xf32>
    }
    """
    option = "ttir-fusing{ttnn-enable-global-avg-pool-pattern=true}"
    assert names(rewritten(body, option, version="2025-10")) == ["permute", "global_avg_pool2d", "permute"]
    assert names(rewritten(body, "ttir-fusing", version="2025-10")) == ["full", "sum", "multiply"]


def scattered(length: int, positions: str, grid: bool = False, batch: int = 2) -> str:
    """A scatter of cache rows.

    `positions` makes `%q` of the argument `%p`.
    """
    part = f"1x{batch}x{length}x8"
    shape = [1, batch, length, 8]
    lines, places = "", "%q"
    if grid:
        for dim, size in enumerate(shape):
            kind = f"tensor<{size}xi32>"
            ones = "x".join(str(size if i == dim else 1) for i in range(4))
            sizes = ", ".join(f"{size if i == dim else 1} : i32" for i in range(4))
            factors = ", ".join(str(1 if i == dim else one) for i, one in enumerate(shape))
            counted = f'"ttir.arange"() <{{arange_dimension = 0 : i64, end = {size} : si64, start = 0 : si64, step = 1 : si64}}> : () -> {kind}'
            lines += f"""
              %n{dim} = {counted if dim != 2 else '"ttir.reshape"(%q, %q) <{shape = [' + str(size) + " : i32]}> : (" + kind + ", " + kind + ") -> " + kind}
              %e{dim} = ttir.empty() : tensor<{ones}xi32>
              %r{dim} = "ttir.reshape"(%n{dim}, %e{dim}) <{{shape = [{sizes}]}}> : ({kind}, tensor<{ones}xi32>) -> tensor<{ones}xi32>
              %f{dim} = ttir.empty() : tensor<{part}xi32>
              %b{dim} = "ttir.broadcast"(%r{dim}, %f{dim}) <{{broadcast_dimensions = array<i64: {factors}>}}> : (tensor<{ones}xi32>, tensor<{part}xi32>) -> tensor<{part}xi32>
              %g{dim} = ttir.empty() : tensor<{part}x1xi32>
              %c{dim} = "ttir.reshape"(%b{dim}, %g{dim}) <{{shape = [{", ".join(f"{size} : i32" for size in (*shape, 1))}]}}> : (tensor<{part}xi32>, tensor<{part}x1xi32>) -> tensor<{part}x1xi32>"""
        one = f"tensor<{part}x1xi32>"
        lines += f"""
              %h = ttir.empty() : tensor<{part}x4xi32>
              %g = "ttir.concat"(%c0, %c1, %c2, %c3, %h) <{{dim = 4 : si32}}> : ({one}, {one}, {one}, {one}, tensor<{part}x4xi32>) -> tensor<{part}x4xi32>"""
        places = "%g"
    dims = "0, 1, 2, 3" if grid else "2"
    windows = "array<i32>" if grid else "array<i32: 0, 1, 3>"
    index = f"tensor<{part}x4xi32>" if grid else f"tensor<{length}xi32>"
    cache = f"tensor<1x{batch}x64x8xf32>"
    return f"""
    func.func @f(%c: {cache}, %u: tensor<{part}xf32>, %p: tensor<{length}xi32>) -> {cache} {{
      {positions}
      {lines}
      %z = ttir.empty() : {cache}
      %s = "ttir.scatter"(%c, {places}, %u, %z) <{{index_vector_dim = {4 if grid else 1} : i32, indices_are_sorted = false, input_batching_dims = array<i32>, inserted_window_dims = array<i32: {dims}>, scatter_dims_to_operand_dims = array<i32: {dims}>, scatter_indices_batching_dims = array<i32>, unique_indices = false, update_window_dims = {windows}}}> : ({cache}, {index}, tensor<{part}xf32>, {cache}) -> {cache}
      return %s : {cache}
    }}
    """


def moved(length: int) -> str:
    """Return the argument after a reshape."""
    kind = f"tensor<{length}xi32>"
    return f'%q = "ttir.reshape"(%p, %p) <{{shape = [{length} : i32]}}> : ({kind}, {kind}) -> {kind}'


def counted(length: int, start: int) -> str:
    numbers = f"end = {start + length} : si64, start = {start} : si64, step = 1 : si64"
    return f'%q = "ttir.arange"() <{{arange_dimension = 0 : i64, {numbers}}}> : () -> tensor<{length}xi32>'


@pytest.mark.parametrize("grid", [False, True], ids=["line", "grid"])
def test_scatter_to_one_cache_position_becomes_update_cache(grid: bool) -> None:
    module = rewritten(scattered(1, moved(1), grid), "ttir-fusing", version="2025-10")
    assert names(module) == ["update_cache"]
    module = rewritten(scattered(1, moved(1), grid), "ttir-to-ttir-decomposition", version="2025-10")
    assert names(module).count("scatter_in_dim") == 1


@pytest.mark.parametrize("grid", [False, True], ids=["line", "grid"])
def test_scatter_from_position_zero_becomes_fill_cache(grid: bool) -> None:
    filled = rewritten(scattered(32, counted(32, 0), grid), "ttir-fusing", version="2025-10")
    assert names(filled) == ["fill_cache"]
    # Other positions, positions that are not known, and rows that are no whole tiles.
    for length, other in ((32, counted(32, 1)), (32, moved(32)), (4, counted(4, 0))):
        module = rewritten(scattered(length, other, grid), "ttir-fusing", version="2025-10")
        assert "scatter" in names(module)
        assert "fill_cache" not in names(module)
        module = rewritten(scattered(length, other, grid), "ttir-to-ttir-decomposition", version="2025-10")
        assert names(module).count("scatter_in_dim") == 1


def test_scatter_with_other_coordinates_is_kept() -> None:
    body = (
        scattered(1, moved(1), grid=True)
        .replace("start = 0 : si64", "start = 1 : si64", 1)
        .replace("end = 1 :", "end = 2 :", 1)
    )
    assert "scatter" in names(fused_2025_10(body))


def test_large_scatters_are_split() -> None:
    body = scattered(300, moved(300)).replace("x64x8xf32", "x512x8xf32")
    module = rewritten(body, "ttir-to-ttir-decomposition", version="2025-10")
    assert names(module).count("scatter_in_dim") == 2


def test_fusing_patterns_are_listed_once() -> None:
    listed = [*FIRST, *PATTERNS, *(one for group in SWITCHED.values() for one in group)]
    assert len({(one.apply, one.roots, one.versions) for one in listed}) == len(listed)
    table = {one.name for one in listed}
    assert {"gelu", "softmax", "bias", "topk", "rms_norm"} <= table
    assert all(isinstance(one, TableOp) for one in parse_module(CASES["softmax"][0]).op.walk() if "ttir" in one.name)
