"""One-operation functions in the later versions' functional form."""

from __future__ import annotations

__all__ = ["EXAMPLES", "S", "function"]


def function(op: str, inputs: list[str], output: str | list[str], attributes: str = "") -> str:
    """A one-operation function; without output, it returns the argument.

    It is the first one, which the operation changes.
    """
    results = [output] if isinstance(output, str) else output
    given = ", ".join(f"tensor<{kind}>" for kind in results)
    made = ", ".join(f"%0#{index}" for index in range(len(results))) if len(results) > 1 else "%0"
    names = [f"%arg{index}" for index in range(len(inputs))]
    arguments = ", ".join(f"{name}: tensor<{kind}>" for name, kind in zip(names, inputs, strict=True))
    types = ", ".join(f"tensor<{kind}>" for kind in inputs)
    properties = f" <{{{attributes}}}>" if attributes else ""
    head = f'"ttir.{op}"({", ".join(names)}){properties} : ({types}) -> '
    if not results:
        return (
            f"func.func @one({arguments}) -> tensor<{inputs[0]}> {{\n  {head}()\n"
            f"  return %arg0 : tensor<{inputs[0]}>\n}}\n"
        )
    count = f":{len(results)}" if len(results) > 1 else ""
    return (
        f"func.func @one({arguments}) -> ({given}) {{\n  %0{count} = {head}({given})\n  return {made} : {given}\n}}\n"
    )


#: The shape of most operands.
S = "64x96xf32"
UNARY = "abs ceil cos erf erfc exp expm1 floor gelu isfinite leaky_relu log1p logical_not neg relu sigmoid sign silu"
UNARY += " sin tan tanh cbrt rsqrt sqrt reciprocal log atan"
BINARY = (
    "add subtract multiply div eq ne ge gt le lt maximum minimum logical_and logical_or logical_xor atan2 remainder pow"
)
EXAMPLES: dict[str, str] = {
    **{op: function(op, [S], S, "parameter = 0.25 : f32" if op == "leaky_relu" else "") for op in UNARY.split()},
    **{op: function(op, [S, S], S) for op in BINARY.split()},
    "argmax": function("argmax", [S], "64x1xi32", "keep_dim = true, dim_arg = [1 : i32]"),
    "batch_norm_training": function(
        "batch_norm_training",
        ["2x32x4x8xf32", "32xf32", "32xf32", "32xf32", "32xf32"],
        ["2x32x4x8xf32", "32xf32", "32xf32"],
        "dimension = 1 : i32, epsilon = 1.0e-5 : f32, momentum = 0.1 : f32",
    ),
    "broadcast": function("add", [S, "1x96xf32"], S),
    "clamp_scalar": function("clamp_scalar", [S], S, "min = -0.5 : f32, max = 0.25 : f32"),
    "concat": function("concat", [S, "64x32xf32"], "64x128xf32", "dim = 1 : si32"),
    "concatenate_heads": function("concatenate_heads", ["1x4x32x64xf32"], "1x32x256xf32"),
    "cumsum": function("cumsum", [S], S, "dim = 0 : i64"),
    "linear": function("linear", [S, "96x32xf32", "32xf32"], "64x32xf32"),
    "matmul": function("matmul", [S, "32x96xf32"], "64x32xf32", "transpose_b = true"),
    "max": function("max", [S], "64x1xf32", "keep_dim = true, dim_arg = [1 : i32]"),
    "mean": function("mean", [S], "1x96xf32", "keep_dim = true, dim_arg = [0 : i32]"),
    "min": function("min", [S], "64xf32", "keep_dim = false, dim_arg = [1 : i32]"),
    "pad": function("pad", [S], "70x97xf32", "padding = array<i32: 0, 6, 1, 0>, value = 0.5 : f32"),
    "permute": function("permute", ["2x64x96xf32"], "96x2x64xf32", "permutation = array<i64: 2, 0, 1>"),
    "repeat": function("repeat", ["1x64x96xf32"], "3x64x96xf32", "repeat_dimensions = array<i64: 3, 1, 1>"),
    "reshape": function("reshape", [S], "2x32x96xf32", "shape = [2 : i32, 32 : i32, 96 : i32]"),
    "slice": function(
        "slice_static",
        [S],
        "32x48xf32",
        "begins = [0 : i32, 48 : i32], ends = [64 : i32, 96 : i32], step = [2 : i32, 1 : i32]",
    ),
    "slice_backwards": function(
        "slice_static",
        [S],
        "4x8xf32",
        "begins = [-1 : i32, 90 : i32], ends = [3 : i32, 11 : i32], step = [-16 : i32, -10 : i32]",
    ),
    "slice_of_nothing": function(
        "slice_static",
        [S],
        "64x0xf32",
        "begins = [0 : i32, 128 : i32], ends = [64 : i32, 128 : i32], step = [1 : i32, 1 : i32]",
    ),
    "softmax": function("softmax", [S], S, "dimension = -1 : si32"),
    "sum": function("sum", [S], "64x1xf32", "keep_dim = true, dim_arg = [1 : i32]"),
    "transpose": function("transpose", [S], "96x64xf32", "dim0 = 0 : si32, dim1 = 1 : si32"),
    "typecast": function("typecast", [S], "64x96xbf16"),
    "where": function("where", [S, S, S], S),
    "attention": function(
        "scaled_dot_product_attention",
        ["1x4x64x32xf32", "1x2x64x32xf32", "1x2x64x32xf32"],
        "1x4x64x32xf32",
        "is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>",
    ),
    "attention_decode": function(
        "scaled_dot_product_attention_decode",
        ["1x2x32x32xbf16", "2x4x64x32xbf16", "2x4x64x32xbf16", "2xi32"],
        "1x2x32x32xbf16",
        "is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>",
    ),
    "attention_mask": function(
        "scaled_dot_product_attention",
        ["1x4x64x32xbf16", "1x4x96x32xbf16", "1x4x96x32xbf16", "1x1x64x96xbf16"],
        "1x4x64x32xbf16",
        "is_causal = false, scale = 0.25 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>",
    ),
    "attention_mask_of_all_queries": function(
        "scaled_dot_product_attention",
        ["1x4x64x32xbf16", "1x4x96x32xbf16", "1x4x96x32xbf16", "1x1x1x96xbf16"],
        "1x4x64x32xbf16",
        "is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>",
    ),
    "attention_paged": function(
        "paged_scaled_dot_product_attention_decode",
        ["1x2x32x32xbf16", "8x4x32x32xbf16", "8x4x32x32xbf16", "2x3xi32", "1x2x32x32xbf16", "2xi32"],
        "1x2x32x32xbf16",
        "is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0>",
    ),
    **{
        f"attention_paged_window{word}": function(
            "paged_scaled_dot_product_attention_decode",
            ["1x2x32x32xbf16", "8x4x32x32xbf16", "8x4x32x32xbf16", "2x3xi32", "1x2x32x32xbf16", *places],
            "1x2x32x32xbf16",
            f"is_causal = {causal}, sliding_window_size = 40 : ui32, "
            f"operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, {len(places)}, 0>",
        )
        for word, causal, places in (("", "true", ["2xi32"]), ("_from_the_end", "false", []))
    },
    "conv2d_channels_first": function(
        "conv2d",
        ["1x4x16x12xbf16", "8x4x3x3xbf16"],
        "1x8x16x12xbf16",
        "stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32, "
        "channel_dim = 1 : i64, height_dim = 2 : i64, width_dim = 3 : i64",
    ),
    "conv2d_four_paddings": function(
        "conv2d",
        ["1x16x12x4xbf16", "8x4x3x3xbf16", "1x1x1x8xbf16"],
        "1x19x11x8xbf16",
        "stride = 1 : i32, padding = array<i32: 2, 0, 3, 1>, dilation = 1 : i32, groups = 1 : i32",
    ),
    "conv_transpose2d": function(
        "conv_transpose2d",
        ["1x8x8x16xbf16", "16x8x3x3xbf16"],
        "1x16x16x8xbf16",
        "stride = 2 : i32, padding = 1 : i32, output_padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32",
    ),
    "cumprod": function("cumprod", ["8x96xf32"], "8x96xf32", "dim = 0 : i64"),
    "dequantize": function("dequantize", ["64x96x!quant.uniform<i32:f32, 0.02>"], S),
    "embedding_backward": function("embedding_backward", ["2x32xi32", "64x96xbf16", "2x32x96xbf16"], "64x96xbf16"),
    "embedding_backward_of_a_row": function("embedding_backward", ["40xi32", "64x96xbf16", "40x96xbf16"], "64x96xbf16"),
    "fill_cache": function("fill_cache", ["2x4x64x32xf32", "1x4x32x32xf32"], [], "batch_offset = 1 : i32"),
    "reverse_integers": function("reverse", ["5x40x70xi32"], "5x40x70xi32", "dimensions = array<i64: 0, 2>"),
    "gather": function("gather", [S, "64x32xi32"], "64x32xf32", "dim = 1 : i32"),
    "gelu_bw": function("gelu_bw", ["64x96xbf16", "64x96xbf16"], "64x96xbf16"),
    "gelu_bw_tanh": function("gelu_bw", ["64x96xbf16", "64x96xbf16"], "64x96xbf16", 'approximate = "tanh"'),
    "group_norm": function(
        "group_norm",
        ["1x1x64x128xbf16", "128xbf16", "128xbf16"],
        "1x1x64x128xbf16",
        "num_groups = 4 : i64, epsilon = 1.0e-5 : f32, operandSegmentSizes = array<i32: 1, 0, 1, 1>",
    ),
    "linear_of_a_vector": function("linear", [S, "96xf32", "64xf32"], "64xf32"),
    "matmul_of_batches": function("matmul", ["4x1x32x64xf32", "4x3x64x32xf32"], "4x3x32x32xf32"),
    "matmul_of_vectors": function("matmul", ["96xf32", "96xf32"], "1xf32"),
    "paged_fill_cache": function(
        "paged_fill_cache",
        ["8x4x32x32xbf16", "1x4x64x32xbf16", "2x3xi32"],
        [],
        "operandSegmentSizes = array<i32: 1, 1, 1, 0>",
    ),
    "paged_update_cache": function(
        "paged_update_cache",
        ["8x4x32x32xbf16", "1x2x4x32xbf16", "2xi32", "2x3xi32"],
        [],
        "share_cache = false, operandSegmentSizes = array<i32: 1, 1, 1, 1>",
    ),
    "quantize": function("quantize", [S], "64x96x!quant.uniform<i32:f32, 0.05:7>"),
    "requantize": function("requantize", ["64x96x!quant.uniform<i32:f32, 0.1>"], "64x96x!quant.uniform<i32:f32, 0.3>"),
    "scatter": function(
        "scatter",
        [S, "64x32xi32", "64x32xf32"],
        S,
        "dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>",
    ),
    "slice_dynamic": function("slice_dynamic", [S, "2xi32", "2xi32"], "32x64xf32"),
    "sort": function("sort", [S], [S, "64x96xi32"], "dim = 1 : si32, descending = true"),
    "split_heads": function(
        "split_query_key_value_and_split_heads",
        ["2x32x256xf32"],
        ["2x4x32x32xf32", "2x2x32x32xf32", "2x2x32x32xf32"],
        "num_heads = 4 : ui32, num_kv_heads = 2 : ui32, transpose_key = true, operandSegmentSizes = array<i32: 1, 0>",
    ),
    "topk": function(
        "topk", [S], ["64x8xf32", "64x8xi32"], "k = 8 : i32, dim = 1 : i32, largest = true, sorted = true"
    ),
    "update_cache": function(
        "update_cache", ["2x4x64x32xbf16", "1x4x2x32xbf16", "1xi32"], [], "batch_offset = 0 : i32"
    ),
}
