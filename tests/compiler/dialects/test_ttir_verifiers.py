"""Rules of `ttir` operations: refusals and their reasons."""

from __future__ import annotations

import pytest

from ttnn.compiler.ir import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.versions import parse_module, print_module


def one(op: str, inputs: str, output: str, attributes: str = "") -> str:
    """Return a function of one operation; types are separated by spaces."""
    given = inputs.split()
    head = ", ".join(f"%a{i}: tensor<{kind}>" for i, kind in enumerate(given))
    names = ", ".join(f"%a{i}" for i in range(len(given)))
    types = ", ".join(f"tensor<{kind}>" for kind in given)
    outs = [f"tensor<{kind}>" for kind in output.split()]
    results = f"({', '.join(outs)})"
    many = f":{len(outs)}" if len(outs) > 1 else ""
    body = f'  %r{many} = "ttir.{op}"({names})' if outs else f'  "ttir.{op}"({names})'
    inherent = f" <{{{attributes}}}>" if attributes else ""
    return f"func.func @f({head}) {{\n{body}{inherent} : ({types}) -> {results}\n  return\n}}\n"


SPARSE = "1x4x32x64xbf16 1x4x64x96xbf16 1x1x1x4xbf16"
BOTH = "is_input_a_sparse = true, is_input_b_sparse = true"
ROUTER, ROUTED = "32x64xbf16 64x128xbf16 32x128xbf16", "32x4xui16 32x4xbf16"
DISPATCH, DISPATCHED = "1x1x8x64xbf16 1x1x8x4xi64 1x1x8x4xbf16 1x1x2x8xi64", "1x16x64xbf16 1x16x4xi64 1x16x4xbf16"
DIMS = ", ".join(f"batch_dims_{side} = array<i64: 0>, contract_dims_{side} = array<i64: 1>" for side in ("lhs", "rhs"))
PAGES = "128x12x32x256xbf16 {}x12x65x256xbf16 8x16xi32"
FINE: dict[str, str] = {
    "sparse": one("sparse_matmul", SPARSE, "1x4x32x96xbf16", BOTH),
    "router": one("topk_router_gpt", ROUTER, ROUTED, "k = 4 : i32, num_experts = 128 : i32"),
    "dispatch": one(
        "all_to_all_dispatch_metadata", DISPATCH, DISPATCHED, "num_devices = 2 : i64, cluster_axis = 0 : i64"
    ),
    "pages": one("paged_fill_cache", PAGES.format(1), ""),
    "topk": one("topk", "4x8xbf16", "4x3xbf16 4x3xi32", "k = 3 : i32, dim = -1 : i32"),
    "linear": one("linear", "128xbf16 128xbf16 1xbf16", "1xbf16"),
    "heads": one(
        "split_query_key_value_and_split_heads",
        "2x32x96xbf16",
        "2x2x32x16xbf16 2x2x32x16xbf16 2x2x32x16xbf16",
        "num_heads = 2 : ui32, transpose_key = false",
    ),
    "conv": one(
        "conv2d",
        "1x8x8x4xbf16 6x4x3x3xbf16",
        "1x6x6x6xbf16",
        "stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32, width_dim = 2 : i64",
    ),
    "size": one("get_dimension_size", "4x8xf32", "1xi32", "dimension = 1 : i32"),
    "asinh": one("asinh", "4x8xf32", "4x8xf32"),
    "shift": one("right_shift", "4x8xsi32 8xsi32", "4x8xsi32"),
    "dot": one("dot_general", "4x10x1xf32 4x10x2xf32", "4x1x2xf32", DIMS),
}
REFUSED: list[tuple[str, str, str, str]] = [
    ("sparse", "<1x4x32x96xbf16", "<4x32x96xbf16", "Output must be 4D for sparse-sparse mode"),
    ("sparse", "is_input_b_sparse = true", "is_input_b_sparse = true, nnz = 0 : i64", "nnz must be greater than 0"),
    ("router", "k = 4", "k = 0", "k must be positive, but got: 0"),
    (
        "router",
        "num_experts = 128",
        "num_experts = 64",
        r"attribute \(64\) must equal weight dim 1 \(128\)",
    ),
    ("router", "32x4xui16", "32x8xui16", r"expert_indices dim 1 \(8\) must equal k \(4\)"),
    ("dispatch", "num_devices = 2", "num_devices = 0", "num_devices must be positive"),
    ("dispatch", "1x1x2x8xi64", "2x8xi64", r"expert_mapping must be a 4D tensor \[1, 1, D, E\]"),
    ("pages", "<1x12x65", "<4x12x65", "must be statically 1 when no batch_idx_tensor is provided, got 4"),
    ("pages", "<1x12x65", "<?x12x65", "must be statically 1 when no batch_idx_tensor is provided, got dynamic"),
    ("topk", "k = 3", "k = 9", r"K should be between 1 and the size of the specified dimension \(1\), but got: 9"),
    ("topk", "dim = -1", "dim = 2", "specified dimension should be between -2 and 1, but got: 2"),
    ("linear", "<1xbf16", "<bf16", "Bias must be at least a 1D tensor"),
    ("conv", "width_dim = 2", "width_dim = 1", r"each of the dimensions 0 to 3 once, got \(0, 1, 1, 3\)"),
    ("size", "dimension = 1", "dimension = 2", r"range \[0, 2\), got 2"),
    ("size", "dimension = 1", "dimension = -1", r"range \[0, 2\), got -1"),
    ("heads", "num_heads = 2", "num_heads = 0", "numbers of heads must be positive, got 0 and 0"),
    ("conv", "groups = 1", "groups = 0", "Number of groups must be positive, got 0"),
    ("asinh", "-> (tensor<4x8xf32>", "-> (tensor<8xf32>", r"result shape \(8\) doesn't match expected shape"),
    ("shift", "tensor<8xsi32>", "tensor<7xsi32>", r"operand shape \(7\) is not broadcast compatible"),
    ("dot", "dims_rhs = array<i64: 1>", "dims_rhs = array<i64: 33>", r"range \[0, 3\), got \(0,33\)"),
    ("dot", "dims_rhs = array<i64: 1>", "dims_rhs = array<i64: 0>", r"different dimensions in range .* got \(0,0\)"),
    ("dot", "4x10x2xf32", "4x9x2xf32", r"contract dimensions must have equal sizes, got \(10\) and \(9\)"),
    ("dot", "tensor<4x10x2xf32", "tensor<3x10x2xf32", r"batch dimensions must have equal sizes, got \(4\) and \(3\)"),
]


@pytest.mark.parametrize("name", FINE)
def test_valid_ttir_operations_are_read(name: str) -> None:
    text = print_module(parse_module(FINE[name]))
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize(("name", "old", "new", "reason"), REFUSED)
def test_wrong_ttir_operations_are_refused(name: str, old: str, new: str, reason: str) -> None:
    text = FINE[name]
    assert old in text
    with pytest.raises(CompileError, match=reason):
        parse_module(text.replace(old, new))


CONVOLUTION = (
    "func.func @f(%a: tensor<1x3x8x8xbf16>, %b: tensor<4x3x3x3xbf16>) -> tensor<1x4x6x6xbf16> {\n"
    "  %0 = ttir.empty() : tensor<1x4x6x6xbf16>\n"
    '  %1 = "ttir.convolution"(%a, %b, %0) <{batch_group_count = 1 : i64, convolution_layout = '
    "#ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = 2x3, "
    "kernel_output_feature = 0, kernel_input_feature = 1, kernel_spatial_dimensions = 2x3, output_batch = 0, "
    "output_feature = 1, output_spatial_dimensions = 2x3>, feature_group_count = 1 : i64, input_dilation = "
    "array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, weight_dilation = array<i64: 1, 1>, window_reversal = "
    "array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x3x8x8xbf16>, tensor<4x3x3x3xbf16>, "
    "tensor<1x4x6x6xbf16>) -> tensor<1x4x6x6xbf16>\n  return %1 : tensor<1x4x6x6xbf16>\n}\n"
)


def test_convolutions_of_2025_10_are_read_and_refused_by_its_rules() -> None:
    assert parse_module(CONVOLUTION).version == "2025-10"
    with pytest.raises(CompileError, match="must have the same number of spatial dimensions"):
        parse_module(CONVOLUTION.replace("output_spatial_dimensions = 2x3", "output_spatial_dimensions = 2"))
    with pytest.raises(CompileError, match="Window strides must have the same number of elements"):
        parse_module(CONVOLUTION.replace("window_strides = array<i64: 1, 1>", "window_strides = array<i64: 1>"))


def test_operand_counts_of_2025_10_include_outputs() -> None:
    line = '  %1 = "ttir.add"(%a, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n'
    text = (
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = ttir.empty() : tensor<4xf32>\n"
        f"{line}  return %1 : tensor<4xf32>\n}}\n"
    )
    # An operation with too few operands for an output is no mark of 2025-10, which another one may be.
    assert parse_module(text).version == "2026-08"
    mark = '  %2 = "ttir.neg"(%a, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n'
    with pytest.raises(CompileError, match="expected 3 operands, but found 2"):
        parse_module(text.replace(line, mark + line))


def test_complex_element_types_are_refused_by_normalization() -> None:
    kind = "tensor<2xcomplex<f32>>"
    text = f"func.func @f(%a: {kind}) -> {kind} {{\n  return %a : {kind}\n}}\n"
    with pytest.raises(CompileError, match=r"'func.func' op Unsupported type\."):
        run(parse_module(text), "ttir-element-type-normalization")


def test_cse_keeps_separate_empty_tensors() -> None:
    text = (
        "func.func @f() -> (tensor<4xf32>, tensor<4xf32>) {\n  %0 = ttir.empty() : tensor<4xf32>\n"
        "  %1 = ttir.empty() : tensor<4xf32>\n  return %0, %1 : tensor<4xf32>, tensor<4xf32>\n}\n"
    )
    module = parse_module(text)
    run(module, "cse")
    assert print_module(module).count("ttir.empty") == 2


def test_sparse_literals_are_read_but_refused_as_constants() -> None:
    literal = "sparse<[[0, 0], [0, 1]], [2.0, 2.0]> : tensor<1x2xbf16>"
    text = f"module attributes {{x.y = {literal}}} {{\n}}\n"
    assert f"x.y = {literal}" in print_module(parse_module(text))
    bad = (
        f'func.func @f() -> tensor<1x2xbf16> {{\n  %0 = "ttir.constant"() <{{value = {literal}}}> : () -> '
        "tensor<1x2xbf16>\n  return %0 : tensor<1x2xbf16>\n}\n"
    )
    with pytest.raises(CompileError, match=r"must be one of DenseResourceElementsAttr or DenseElements"):
        parse_module(bad)
    with pytest.raises(CompileError, match="expected indices, values and '>' in a sparse literal"):
        parse_module(text.replace("2.0]>", "2.0]"))
