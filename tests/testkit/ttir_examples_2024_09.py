"""One module for each tensor operation of 2024-09."""

from __future__ import annotations

__all__ = ["LOWERED", "TTIR", "function"]

CONSTRAINT = "#tt.operand_constraint<any_device>"


def function(
    name: str, inputs: list[str], output: str, attributes: str = "", *, sizes: str = "", dialect: str = "ttir"
) -> str:
    """Return a function that calls one operation with an output operand.

    Args:
        name: The operation, without dialect.
        inputs: Types of the inputs, for example "2x3xf32".
        output: Type of the output.
        attributes: Its attributes.
        sizes: Segment sizes, for example "2, 1".
        dialect: Its dialect.
    """
    arguments = ", ".join(f"%arg{i}: tensor<{one}>" for i, one in enumerate(inputs))
    operands = ", ".join([f"%arg{i}" for i in range(len(inputs))] + ["%0"])
    types = ", ".join(f"tensor<{one}>" for one in [*inputs, output])
    constraints = ", ".join([CONSTRAINT] * (len(inputs) + 1))
    entries = [attributes] if attributes else []
    if dialect == "ttir":
        entries.append(f"operand_constraints = [{constraints}]")
    if sizes:
        entries.insert(0, f"operandSegmentSizes = array<i32: {sizes}>")
    return (
        f"func.func @f({arguments}) -> tensor<{output}> {{\n"
        f"  %0 = tensor.empty() : tensor<{output}>\n"
        f'  %1 = "{dialect}.{name}"({operands}) <{{{", ".join(entries)}}}> : ({types}) -> tensor<{output}>\n'
        f"  return %1 : tensor<{output}>\n"
        "}\n"
    )


_UNARY = ("abs", "exp", "neg", "reciprocal", "relu", "sigmoid", "sqrt")
_BINARY = ("add", "div", "ge", "maximum", "multiply", "subtract")
_CONV = ", ".join(
    f"{name} = 1 : si32"
    for name in [
        "stride_height",
        "stride_width",
        "dilation_height",
        "dilation_width",
        "groups",
        "padding_left",
        "padding_right",
        "padding_top",
        "padding_bottom",
    ]
)
_POOL = (
    "kernel_height = 2 : si32, kernel_width = 2 : si32, stride_height = 2 : si32, stride_width = 2 : si32, "
    "dilation_height = 1 : si32, dilation_width = 1 : si32, ceil_mode = false, padding_left = 0 : si32, "
    "padding_right = 0 : si32, padding_top = 0 : si32, padding_bottom = 0 : si32"
)
_LAYOUT = "#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<{}, #tt.memory_space<l1>>>"
_L1 = f"64x128xf32, {_LAYOUT.format('64x128xf32')}"
_L1_TILES = f"64x128xf32, {_LAYOUT.format('2x4x!tt.tile<32x32, f32>')}"
_GENERIC = f"""
func.func @f(%arg0: tensor<64x128xf32>, %arg1: tensor<64x128xf32>) -> tensor<64x128xf32> {{
  %0 = tensor.empty() : tensor<64x128xf32>
  %1 = "ttir.generic"(%arg0, %arg1, %0) <{{grid = #tt.grid<1x1>, indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
    affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = [#tt.iterator_type<parallel>, #tt.iterator_type<parallel>],
    operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [{CONSTRAINT}, {CONSTRAINT}, {CONSTRAINT}]}}> ({{
  ^bb0(%a: tensor<64x128xf32>, %b: tensor<64x128xf32>, %c: tensor<64x128xf32>):
    %2 = "ttir.kernel"(%a, %b, %c) <{{kind = @eltwise, op = @mulitply, operandSegmentSizes = array<i32: 2, 1>,
      operand_constraints = [{CONSTRAINT}, {CONSTRAINT}, {CONSTRAINT}]}}>
      : (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    "ttir.yield"(%2) : (tensor<64x128xf32>) -> ()
  }}) : (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}}
"""
_ALLOC = f"""
func.func @f() {{
  %0 = "ttir.alloc"() <{{address = 1024 : i64, size = 32768 : i64, memory_space = #tt.memory_space<l1>}}>
    : () -> tensor<{_L1}>
  "ttir.dealloc"(%0) : (tensor<{_L1}>) -> ()
  return
}}
"""

LOWERED: dict[str, str] = {
    **{name: function(name, ["64x128xf32"], "64x128xf32", sizes="1, 1") for name in _UNARY},
    **{name: function(name, ["64x128xf32", "128xf32"], "64x128xf32", sizes="2, 1") for name in _BINARY},
    "concat": function("concat", ["32x32xf32", "32x64xf32"], "32x96xf32", "dim = -1 : si32"),
    "constant": (
        "func.func @f() -> tensor<32x32xf32> {\n"
        '  %0 = "ttir.constant"() <{value = dense<5.0> : tensor<32x32xf32>}> : () -> tensor<32x32xf32>\n'
        f"  return %0 : tensor<32x32xf32>\n}}\nmodule attributes {{mark = {CONSTRAINT}}} {{}}\n"
    ),
    "conv2d": function("conv2d", ["1x32x32x64xbf16", "64x64x3x3xbf16", "1x1x1x64xbf16"], "1x32x32x64xbf16", _CONV),
    "embedding": function("embedding", ["32x32xf32", "512x128xf32"], "32x32x128xf32"),
    "matmul": function("matmul", ["64x128xbf16", "128x96xbf16"], "64x96xbf16"),
    "max": function("max", ["512x1024xbf16"], "512x1xbf16", "dim_arg = [-1 : i32], keep_dim = true"),
    "max_pool2d": function("max_pool2d", ["1x128x128x32xbf16"], "1x64x64x32xbf16", _POOL),
    "mean": function("mean", ["512x1024xbf16"], "512x1xbf16", "dim_arg = [-1 : i32], keep_dim = true"),
    "reshape": function(
        "reshape", ["4x2x32x32xbf16"], "2x4x32x32xbf16", "shape = [2 : i32, 4 : i32, 32 : i32, 32 : i32]"
    ),
    "softmax": function("softmax", ["512x1024xbf16"], "512x1024xbf16", "dimension = -1 : si32"),
    "squeeze": function("squeeze", ["1x2x1x32x32xbf16"], "1x2x32x32xbf16", "dim = -3 : si32"),
    "sum": function("sum", ["512x1024xbf16"], "512x1xbf16", "dim_arg = [-1 : i32], keep_dim = true"),
    "transpose": function("transpose", ["64x128xbf16"], "128x64xbf16", "dim0 = -1 : si32, dim1 = 0 : si32"),
    "unsqueeze": function("unsqueeze", ["4x2x32x32xbf16"], "4x1x2x32x32xbf16", "dim = -4 : si32"),
}
"""The operations that the TTNN pipeline lowers one by one."""

TTIR: dict[str, str] = {
    **LOWERED,
    "broadcast": function("broadcast", ["1xf32"], "512x512xf32", "dimension = [1]"),
    "to_layout": (
        f"func.func @f(%arg0: tensor<{_L1}>) -> tensor<{_L1_TILES}> {{\n"
        f"  %0 = tensor.empty() : tensor<{_L1_TILES}>\n"
        f'  %1 = "ttir.to_layout"(%arg0, %0) : (tensor<{_L1}>, tensor<{_L1_TILES}>) -> tensor<{_L1_TILES}>\n'
        f"  return %1 : tensor<{_L1_TILES}>\n}}\n"
    ),
    "generic": _GENERIC,
    "kernel": _GENERIC,
    "yield": _GENERIC,
    "alloc": _ALLOC,
    "dealloc": _ALLOC,
}
"""All 34 operations."""
