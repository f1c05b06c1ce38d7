"""`ttir-to-ttir-decomposition`: what operations become, and that they mean the same in float64."""

from __future__ import annotations

# Lines of MLIR stay whole.
# ruff: noqa: E501
import numpy as np
import pytest

from testkit.pass_checks import function, names, op, rewritten
from testkit.ttir_reference import interpret
from ttnn.compiler.pipelines import run
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.versions import parse_module, print_module

PASS = "ttir-to-ttir-decomposition"
NORM = "epsilon = 1.0e-05 : f32, dimension = {} : i32"


def norm(shape: str, channels: int, dimension: int) -> str:
    statistics = ", ".join(f"%{name}: tensor<{channels}xf32>" for name in "soxv")
    kind = f"{shape}xf32"
    types = f"{kind}, " + ", ".join([f"{channels}xf32"] * 4) + f" -> {kind}"
    return function(
        f"%a: tensor<{kind}>, {statistics}",
        f"tensor<{kind}>",
        op("r", "batch_norm_inference", "%a, %s, %o, %x, %v", types, NORM.format(dimension)),
    )


CASES = {
    "reverse": (function("%a: tensor<3x4x5xf32>", "tensor<3x4x5xf32>", op("r", "reverse", "%a", "3x4x5xf32 -> 3x4x5xf32", "dimensions = array<i64: 2, 0>")), ["permute", "reshape", "constant", "embedding", "reshape", "permute"]),
    "reverse of integers": (function("%a: tensor<3x4x5xi32>", "tensor<3x4x5xi32>", op("r", "reverse", "%a", "3x4x5xi32 -> 3x4x5xi32", "dimensions = array<i64: 2, 0>")), ["arange", "reshape", "broadcast", "gather", "arange", "reshape", "broadcast", "gather"]),
    "reverse of bytes": (function("%a: tensor<3x4x5xui8>", "tensor<3x4x5xui8>", op("r", "reverse", "%a", "3x4x5xui8 -> 3x4x5xui8", "dimensions = array<i64: 2, 0>")), ["permute", "reshape", "constant", "embedding", "reshape", "permute"]),
    "index from the end": (function("%a: tensor<5x4xf32>", "tensor<2x4xf32>", op("r", "index", "%a", "5x4xf32 -> 2x4xf32", "dim = 0 : i32, begin = -3 : i32, end = -1 : i32, step = 1 : i32")), ["slice_static"]),
    "argmax over two dimensions": (
        function("%a: tensor<3x4x5xf32>", "tensor<1x4x1xi32>", op("r", "argmax", "%a", "3x4x5xf32 -> 1x4x1xi32", "dim_arg = [0 : i32, 2 : i32], keep_dim = true")),
        ["permute", "reshape", "argmax", "reshape"],
    ),
    "outer product": (
        function("%a: tensor<4x1xf32>, %b: tensor<1x6xf32>", "tensor<4x6xf32>", op("r", "dot_general", "%a, %b", "4x1xf32, 1x6xf32 -> 4x6xf32", "batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>")),
        ["multiply"],
    ),
    "norm of rows": (norm("2x3x5", 3, 1), ["reshape", "reshape", "reshape", "reshape", "reshape", "batch_norm_inference", "reshape"]),
    "norm of rows of whole tiles": (norm("2x3x64", 3, 1), ["reshape", "reshape", "reshape", "reshape", "reshape", "batch_norm_inference", "reshape"]),
    "norm of volumes with channels last": (norm("2x3x4x5x6", 6, 4), ["permute", "reshape", "reshape", "reshape", "reshape", "reshape", "batch_norm_inference", "reshape", "permute"]),
    "pool of a constant": (
        function("", "tensor<1x2x2x3xf32>", op("c", "full", "", " -> 1x4x4x3xf32", "shape = array<i32: 1, 4, 4, 3>, fill_value = 2.5 : f32"), op("r", "max_pool2d", "%c", "1x4x4x3xf32 -> 1x2x2x3xf32", "kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>, dilation = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, ceil_mode = false")),
        ["full", "full"],
    ),
    "padding counts in a mean": (
        function("", "tensor<1x6x6x3xf32>", op("c", "full", "", " -> 1x4x4x3xf32", "shape = array<i32: 1, 4, 4, 3>, fill_value = 2.5 : f32"), op("r", "avg_pool2d", "%c", "1x4x4x3xf32 -> 1x6x6x3xf32", "kernel = array<i32: 1, 1>, stride = array<i32: 1, 1>, dilation = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>, ceil_mode = false")),
        ["full", "avg_pool2d"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_decomposition_has_expected_operations_and_equal_values(case: str) -> None:
    body, left = CASES[case]
    assert names(rewritten(body, PASS, positive=case.startswith("norm"))) == left


def test_negative_padding_becomes_a_slice() -> None:
    body = function(
        "%a: tensor<4x6xf32>",
        "tensor<3x7xf32>",
        op("r", "pad", "%a", "4x6xf32 -> 3x7xf32", "padding = array<i32: -1, 0, 2, -1>, value = 1.5 : f32"),
    )
    module = parse_module(body)
    run(module, PASS)
    assert names(module) == ["slice_static", "pad"]
    text = print_module(module)
    assert "begins = [1 : i32, 0 : i32], ends = [4 : i32, 5 : i32]" in text
    assert "padding = array<i32: 0, 0, 2, 0>" in text


def test_batch_norm_training_statistics_keep_their_shape() -> None:
    statistics = ", ".join(f"%{name}: tensor<3xf32>" for name in "soxv")
    module = parse_module(
        f"""
        func.func @f(%a: tensor<2x4x5x3xf32>, {statistics}) -> (tensor<2x4x5x3xf32>, tensor<3xf32>, tensor<3xf32>) {{
          %r:3 = "ttir.batch_norm_training"(%a, %s, %o, %x, %v) <{{{NORM.format(3)}, momentum = 0.1 : f32}}> : (tensor<2x4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x5x3xf32>, tensor<3xf32>, tensor<3xf32>)
          return %r#0, %r#1, %r#2 : tensor<2x4x5x3xf32>, tensor<3xf32>, tensor<3xf32>
        }}
        """
    )
    run(module, PASS)
    assert names(module) == ["permute", *["reshape"] * 4, "batch_norm_training", "reshape", "reshape", "permute"]


def test_running_statistics_are_read_after_their_update() -> None:
    """Reshaped statistics, updated in place, whose reshapes must not join.

    The reshape back must not be joined with the one before.
    """
    statistics = ", ".join(f"%{name}: tensor<3xf32>" for name in "soxv")
    module = parse_module(
        f"""
        func.func @f(%a: tensor<2x3x4x5xf32>, {statistics}) -> tensor<3xf32> {{
          %r:3 = "ttir.batch_norm_training"(%a, %s, %o, %x, %v) <{{{NORM.format(1)}, momentum = 0.1 : f32}}> : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>)
          return %r#1 : tensor<3xf32>
        }}
        """
    )
    run(module, "ttir-to-ttnn-backend-pipeline")
    last = next(one for one in module.op.walk() if one.name == "func.return").operands[0]
    assert last.owner.name == "ttnn.reshape"  # type: ignore[union-attr]


def test_head_operations_decompose_only_for_the_host() -> None:
    body = """
    func.func @f(%a: tensor<2x8x96xf32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) {
      %q, %k, %v = "ttir.split_query_key_value_and_split_heads"(%a) <{num_heads = 4 : ui32, transpose_key = true}> : (tensor<2x8x96xf32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>)
      return %q, %k, %v : tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>
    }
    """
    module = parse_module(body)
    run(module, PASS)
    assert names(module) == ["split_query_key_value_and_split_heads"]
    run(module, f"{PASS}{{config=cpu-fallback}}")
    assert names(module) == [*["slice_static"] * 3, *["reshape"] * 3, *["permute"] * 4]


def test_reduce_or_on_the_host_becomes_a_comparison() -> None:
    body = function(
        "%a: tensor<4x6xf32>",
        "tensor<4xf32>",
        op("r", "reduce_or", "%a", "4x6xf32 -> 4xf32", "dim_arg = [1 : i32], keep_dim = false"),
    )
    module = parse_module(body)
    run(module, f"{PASS}{{config=cpu-fallback}}")
    assert names(module) == ["sum", "constant", "ne", "typecast"]
    given = np.zeros((4, 6))
    given[1], given[2, 3] = 1, 1
    (result,) = interpret(module, "f", [given])
    assert result.tolist() == [0, 1, 1, 0]


def test_unknown_decomposition_target_is_refused() -> None:
    with pytest.raises(OptionError, match="config is one of ttnn, ttmetal, cpu-fallback, not 'moon'"):
        run(parse_module(CASES["reverse"][0]), f"{PASS}{{config=moon}}")


LAYOUT = "#ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = 2x3, kernel_output_feature = 2, kernel_input_feature = 3, kernel_spatial_dimensions = 0x1, output_batch = 0, output_feature = 1, output_spatial_dimensions = 2x3>"


@pytest.mark.parametrize("reverse", ["true", "false"])
@pytest.mark.parametrize("padding", ["1, 1, 1, 1", "2, 1, 0, 2"])
def test_input_dilation_becomes_a_transposed_convolution(reverse: str, padding: str) -> None:
    sides = [int(one) for one in padding.split(", ")]
    height, width = (2 * 4 + 1 + sum(sides[:2]) - 2, 2 * 3 + 1 + sum(sides[2:]) - 2)
    kind = f"tensor<2x4x{height}x{width}xf32>"
    body = f"""
    func.func @f(%a: tensor<2x3x5x4xf32>, %w: tensor<3x3x4x3xf32>) -> {kind} {{
      %0 = ttir.empty() : {kind}
      %1 = "ttir.convolution"(%a, %w, %0) <{{batch_group_count = 1 : i64, convolution_layout = {LAYOUT}, feature_group_count = 1 : i64, input_dilation = array<i64: 2, 2>, padding = array<i64: {padding}>, weight_dilation = array<i64: 1, 1>, window_reversal = array<i1: {reverse}, {reverse}>, window_strides = array<i64: 1, 1>}}> : (tensor<2x3x5x4xf32>, tensor<3x3x4x3xf32>, {kind}) -> {kind}
      return %1 : {kind}
    }}
    """
    module = rewritten(body, PASS, version="2025-10")
    assert "conv_transpose2d" in names(module)
    assert ("embedding" in names(module)) == (reverse == "false")
    # A kernel that is reversed already is taken as it was before.
    call = '"ttir.convolution"(%a, %w, %0)'
    flip = '%e = ttir.empty() : tensor<3x3x4x3xf32>\n      %v = "ttir.reverse"(%w, %e) <{dimensions = array<i64: 1, 0>}> : (tensor<3x3x4x3xf32>, tensor<3x3x4x3xf32>) -> tensor<3x3x4x3xf32>'
    body = body.replace(f"%1 = {call}", f"{flip}\n      %1 = {call.replace('%w', '%v')}")
    module = rewritten(body, f"{PASS},canonicalize", version="2025-10")
    assert ("embedding" in names(module)) == (reverse == "true")
    assert "reverse" not in names(module)


@pytest.mark.parametrize("dims", ["0", "1, 0", "2"])
def test_reverse_of_2025_10_becomes_embedding(dims: str) -> None:
    kind = "tensor<3x4x5xf32>"
    body = f"""
    func.func @f(%a: {kind}) -> {kind} {{
      %0 = ttir.empty() : {kind}
      %1 = "ttir.reverse"(%a, %0) <{{dimensions = array<i64: {dims}>}}> : ({kind}, {kind}) -> {kind}
      return %1 : {kind}
    }}
    """
    assert "embedding" in names(rewritten(body, PASS, version="2025-10"))
    integers = rewritten(body.replace("xf32", "xi32"), PASS, version="2025-10")
    assert names(integers) == ["reverse"]


LINE = "#ttir<convolution_layout input_batch = 0, input_feature = 2, input_spatial_dimensions = 1, kernel_output_feature = 2, kernel_input_feature = 1, kernel_spatial_dimensions = 0, output_batch = 0, output_feature = 2, output_spatial_dimensions = 1>"


@pytest.mark.parametrize("groups", [1, 2])
def test_conv1d_and_batch_groups_decompose(groups: int) -> None:
    batch = 2 // groups
    body = f"""
    func.func @f(%a: tensor<2x9x3xf32>, %w: tensor<3x3x4xf32>) -> tensor<{batch}x5x4xf32> {{
      %0 = ttir.empty() : tensor<{batch}x5x4xf32>
      %1 = "ttir.convolution"(%a, %w, %0) <{{batch_group_count = {groups} : i64, convolution_layout = {LINE}, feature_group_count = 1 : i64, input_dilation = array<i64: 1>, padding = array<i64: 1, 1>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 2>}}> : (tensor<2x9x3xf32>, tensor<3x3x4xf32>, tensor<{batch}x5x4xf32>) -> tensor<{batch}x5x4xf32>
      return %1 : tensor<{batch}x5x4xf32>
    }}
    """
    module = rewritten(body, PASS, version="2025-10")
    assert names(module).count("conv2d") == groups


@pytest.mark.parametrize("method", ["Max", "Average", "Sum"])
@pytest.mark.parametrize("value", ["2.5", "0.0"])
def test_pooling_of_constants_folds(method: str, value: str) -> None:
    """Several inputs each; a kernel window over padding differs from one inside."""
    body = f"""
    func.func @f() -> (tensor<1x2x2x3xf32>, tensor<1x3x3x4xf32>) {{
      %a = "ttir.full"() <{{fill_value = {value} : f32, shape = array<i32: 1, 2, 4, 6>}}> : () -> tensor<1x2x4x6xf32>
      %b = "ttir.ones"() <{{shape = array<i32: 1, 3, 6, 8>}}> : () -> tensor<1x3x6x8xf32>
      %0 = ttir.empty() : tensor<1x2x2x3xf32>
      %1 = ttir.empty() : tensor<1x3x3x4xf32>
      %2:2 = "ttir.pooling"(%a, %b, %0, %1) <{{operandSegmentSizes = array<i32: 2, 2>, pooling_method = #ttir<pooling_method {method}>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>, base_dilations = array<i64: 1, 1, 1, 1>, window_dilations = array<i64: 1, 1, 1, 1>, padding = array<i64: 0, 0, 0, 0, 0, 0, 0, 0>}}> : (tensor<1x2x4x6xf32>, tensor<1x3x6x8xf32>, tensor<1x2x2x3xf32>, tensor<1x3x3x4xf32>) -> (tensor<1x2x2x3xf32>, tensor<1x3x3x4xf32>)
      return %2#0, %2#1 : tensor<1x2x2x3xf32>, tensor<1x3x3x4xf32>
    }}
    """
    assert set(names(rewritten(body, f"{PASS},canonicalize", version="2025-10"))) <= {"full", "zeros", "ones", "empty"}
    padded = body.replace("array<i64: 0, 0, 0, 0, 0, 0, 0, 0>", "array<i64: 0, 0, 0, 0, 1, 1, 1, 1>")
    for before, after in (("1x2x2x3xf32", "1x2x3x4xf32"), ("1x3x3x4xf32", "1x3x4x5xf32")):
        padded = padded.replace(before, after)
    assert "permute" in names(rewritten(padded, PASS, version="2025-10"))
