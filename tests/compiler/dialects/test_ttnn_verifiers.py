"""Rules of `ttnn` operations: right ones read, wrong ones refused.

Each refusal has its reason.
"""

from __future__ import annotations

import pytest

from ttnn.compiler.ir import CompileError
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module

DRAM = "#ttnn.buffer_type<dram>"


def laid(shape: str, element: str, tile: str, *, memref: str = "1x1") -> str:
    """Return a tensor type of the library with a layout."""
    layout = (
        f"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<{memref}x!ttcore.tile<32x32, {tile}>, {DRAM}>, "
        "<interleaved>>"
    )
    return f"tensor<{shape}x{element}, {layout}>"


def text(name: str, inputs: str, attributes: str, results: str) -> str:
    """Return a module with one operation on arguments of these types.

    The types are separated by blanks.
    """
    types = [one.replace("~", " ") for one in inputs.split()]
    arguments = ", ".join(f"%arg{i}: {one}" for i, one in enumerate(types))
    operands = ", ".join(f"%arg{i}" for i in range(len(types)))
    properties = f" <{{{attributes}}}>" if attributes else ""
    outs = ", ".join(one.replace("~", " ") for one in results.split())
    return (
        f"module {{\n  func.func @main({arguments}) {{\n"
        f'    {"%0:" + str(len(results.split())) + " = " if results else ""}"{name}"({operands}){properties} : '
        f"({', '.join(types)}) -> ({outs})\n    return\n  }}\n}}\n"
    )


CONV = (
    "batch_size = 1 : i32, input_height = 8 : i32, input_width = 8 : i32, in_channels = 4 : i32, "
    "out_channels = 6 : i32, kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, padding = array<i32: 0, 0>, "
    "dilation = array<i32: 1, 1>, groups = 1 : i32"
)
CONV_IN = "tensor<1x1x64x4xbf16> tensor<6x4x3x3xbf16> tensor<1x1x1x6xbf16> !ttnn.device"
SEGMENTS = ", operandSegmentSizes = array<i32: 1, 1, 1, 1>"
CONV3 = (
    "batch_size = 1 : i32, input_depth = 8 : i32, input_height = 8 : i32, input_width = 8 : i32, "
    "in_channels = 4 : i32, out_channels = 6 : i32, kernel_size = array<i32: 3, 3, 3>, stride = array<i32: 1, 1, 1>, "
    "padding = array<i32: 0, 0, 0>, groups = 1 : i32" + SEGMENTS
)
CONV3_IN = "tensor<1x8x8x8x4xbf16> tensor<108x6xbf16> tensor<1x6xbf16> !ttnn.device"
CONV3_OUT = "tensor<1x6x6x6x6xbf16>"
SDPA = "tensor<1x8x32x64xbf16> tensor<4x2x32x64xbf16> tensor<4x2x32x64xbf16>"
SPARSE = "tensor<2x4x32x64xbf16> tensor<1x4x64x96xbf16> tensor<2x4x1x4xbf16>"
LATENT = "tensor<1x16x32x128xbf16> tensor<1x1x32x128xbf16>"
SAMPLING = "tensor<4x64xi32> tensor<4xui32> tensor<4xbf16> tensor<4xbf16>"
GROUPS = "num_groups = 4 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0>"
MOE = "tensor<32x2880xbf16> tensor<32x4xui16> tensor<32x4xbf16> tensor<1x16xui16> {w0} tensor<12x1x4x2x2880x128xbf16>"
MOE_OUT = "tensor<1x16xui32> tensor<1x512xui32> tensor<4x129xui32> tensor<12x2xbf16> tensor<12x2xbf16>"
ROTARY = "tensor<1x4x32x64xbf16> tensor<1x1x32x64xbf16> tensor<1x1x32x64xbf16>"

CASES = [
    # name, operands, attributes, results, reason: "" for a right one
    ("relu", "tensor<4xf32>", "", "tensor<4xf32>", ""),
    ("relu", "tensor<4xf32> tensor<4xf32>", "", "tensor<4xf32>", "requires a single operand"),
    ("conv2d", CONV_IN, CONV + SEGMENTS, "tensor<1x1x36x6xbf16>", ""),
    ("conv2d", CONV_IN, CONV + SEGMENTS, "tensor<1x1x35x6xbf16>", "(1 * 6 * 6 = 36)"),
    (
        "conv2d",
        CONV_IN,
        CONV.replace("out_channels = 6", "out_channels = 5") + SEGMENTS,
        "tensor<1x1x36x6xbf16>",
        "Expected output channels attribute (5) to match the output channels in the weight tensor (6).",
    ),
    (
        "conv2d",
        CONV_IN,
        CONV.replace("input_width = 8", "input_width = 9") + SEGMENTS,
        "tensor<1x1x36x6xbf16>",
        "The input tensor's flattened dimension (64) does not match the product of batch_size_attr * "
        "input_height_attr * input_width_attr (1 * 8 * 9 = 72).",
    ),
    (
        "conv2d",
        CONV_IN,
        CONV.replace("dilation = array<i32: 1, 1>", "dilation = array<i32: 5, 1>") + SEGMENTS,
        "tensor<1x1x36x6xbf16>",
        "The effective kernel size (11, 3) cannot be greater than the padded input size per channel (8, 8).",
    ),
    ("conv3d", CONV3_IN, CONV3, CONV3_OUT, ""),
    ("conv3d", CONV3_IN, CONV3.replace("groups = 1", "groups = 0"), CONV3_OUT, "groups must be >= 1, got: 0"),
    (
        "conv3d",
        CONV3_IN.replace("108", "109"),
        CONV3,
        CONV3_OUT,
        "weight flattened dimension (109) must equal kD*kH*kW*C_in/groups (108)",
    ),
    ("conv3d", CONV3_IN, CONV3, "tensor<1x6x5x6x6xbf16>", "output height (5) does not match calculated height (6)"),
    (
        "prepare_conv2d_bias",
        "tensor<1x1x1x7xbf16> !ttnn.device",
        CONV + ", input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, "
        "input_tensor_layout = #ttnn.layout<tile>, input_dtype = #ttcore.supportedDataTypes<bf16>",
        "tensor<1x1x1x7xbf16>",
        "Expected output channels attribute (6) to match the number of output channels in the bias tensor (7)",
    ),
    (
        "chunked_scaled_dot_product_attention",
        SDPA + " tensor<1x4xi32> tensor<1xi32>",
        "",
        "tensor<1x8x32x64xbf16>",
        "",
    ),
    (
        "chunked_scaled_dot_product_attention",
        SDPA + " tensor<1x4xi32> tensor<2xi32>",
        "",
        "tensor<1x8x32x64xbf16>",
        "Chunk start index must have shape [1]",
    ),
    (
        "chunked_scaled_dot_product_attention",
        SDPA + " tensor<2x4xi32> tensor<1xi32>",
        "",
        "tensor<1x8x32x64xbf16>",
        "Page table number of users must match query number of users.",
    ),
    (
        "flash_mla_prefill",
        LATENT,
        "head_dim_v = 64 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0>",
        "tensor<1x16x32x64xbf16>",
        "",
    ),
    (
        "flash_mla_prefill",
        LATENT,
        "head_dim_v = 0 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 0>",
        "tensor<1x16x32x64xbf16>",
        "head_dim_v must be greater than 0",
    ),
    (
        "indexer_score_dsa",
        "tensor<1x8x32x128xbf16> tensor<1x1x64x128xbf16> tensor<1x8x32x1xbf16>",
        "",
        "tensor<1x1x32x64xbf16>",
        "",
    ),
    (
        "indexer_score_dsa",
        "tensor<1x8x32x128xbf16> tensor<1x2x64x128xbf16> tensor<1x8x32x1xbf16>",
        "",
        "tensor<1x1x32x64xbf16>",
        "Key must have a single head (dim 1 must be 1)",
    ),
    ("rotary_embedding", ROTARY, "", "tensor<1x4x32x64xbf16>", ""),
    (
        "rotary_embedding",
        ROTARY.replace("1x1x32x64xbf16", "1x1x64x64xbf16", 1),
        "",
        "tensor<1x4x32x64xbf16>",
        "cos and sin tensor shapes must match.",
    ),
    ("rotary_embedding_llama", ROTARY + " tensor<1x1x32x32xbf16>", "", "tensor<1x4x32x64xbf16>", ""),
    (
        "rotary_embedding_llama",
        ROTARY + " tensor<1x1x32x64xbf16>",
        "",
        "tensor<1x4x32x64xbf16>",
        "transformation matrix must have shape (1,1,32,32) but got (1,1,32,64).",
    ),
    (
        "paged_fill_cache",
        "tensor<128x4x32x64xbf16> tensor<1x4x65x64xbf16> tensor<8x16xi32>",
        "",
        "",
        "",
    ),
    (
        "paged_fill_cache",
        "tensor<128x4x32x64xbf16> tensor<4x4x65x64xbf16> tensor<8x16xi32> tensor<2xi32>",
        "",
        "",
        "Batch index tensor must have dim 0 equal to input batch (4), got 2",
    ),
    ("sampling", "tensor<4x64xbf16> " + SAMPLING, "", "tensor<4xi32>", ""),
    (
        "sampling",
        "tensor<64x64xbf16> " + SAMPLING.replace("4x64", "64x64"),
        "",
        "tensor<4xi32>",
        "batch (64) must be in [1, 32] (kernel limit)",
    ),
    ("rand", "!ttnn.device", "size = #ttnn.shape<32x32>", "tensor<32x32xbf16>", ""),
    (
        "rand",
        "!ttnn.device",
        "size = #ttnn.shape<64x64>",
        "tensor<32x32xbf16>",
        "[Size = (64, 64), output tensor shape = (32, 32)]",
    ),
    (
        "rand",
        "!ttnn.device",
        "size = #ttnn.shape<32x32>, low = 1.0 : f32",
        "tensor<32x32xbf16>",
        "'low' value must be < 'high' value",
    ),
    ("assign", "tensor<4xf32>", "", "tensor<4xf32>", ""),
    ("assign", "tensor<4xf32>", "", "tensor<4xbf16>", "output tensor data type does not match"),
    ("sparse_matmul", SPARSE, "", "tensor<2x4x1x4x32x96xbf16>", ""),
    ("sparse_matmul", SPARSE, "", "tensor<2x4x32x96xbf16>", "Output must be 6D for dense-sparse mode"),
    ("sparse_matmul", SPARSE, "nnz = 0 : i64", "tensor<2x4x1x4x32x96xbf16>", "nnz must be greater than 0"),
    (
        "layer_norm_pre_all_gather",
        "tensor<1x1x32x128xbf16>",
        "operandSegmentSizes = array<i32: 1, 0, 0>",
        "tensor<1x1x32x64xbf16>",
        "",
    ),
    (
        "layer_norm_pre_all_gather",
        "tensor<1x1x32x128xbf16>",
        "operandSegmentSizes = array<i32: 1, 0, 0>",
        "tensor<1x1x32x32xbf16>",
        "output last dimension must be 64 (2 * TILE_WIDTH)",
    ),
    (
        "layer_norm_post_all_gather",
        "tensor<1x1x32x128xbf16> tensor<1x1x32x64xbf16>",
        "operandSegmentSizes = array<i32: 1, 1, 0, 0>",
        "tensor<1x1x32x64xbf16>",
        "input and output must have the same shape",
    ),
    ("group_norm", "tensor<1x1x64x32xbf16>", GROUPS, "tensor<1x1x64x32xbf16>", ""),
    (
        "group_norm",
        "tensor<1x1x64x30xbf16>",
        GROUPS,
        "tensor<1x1x64x30xbf16>",
        "got C=30, num_groups=4",
    ),
    (
        "moe_expert_token_remap",
        "tensor<1x2x128x32xbf16> tensor<32x8xi64> tensor<1x2x128x4xi64>",
        "reduction_size = 32 : i64",
        "tensor<1x2x128x4xbf16> tensor<1x1x8x4xbf16>",
        "expert_mapping must be a 4D tensor",
    ),
    ("moe_gpt", MOE.format(w0="tensor<12x1x4x4x2880x128xbf16>"), "", MOE_OUT, ""),
    ("moe_gpt", MOE.format(w0="tensor<12x1x4x4x2880x64xbf16>"), "", MOE_OUT, "dim[5] must be 128 (4*TILE_SIZE)"),
    (
        "prepare_moe_compute_w0_w1_weights",
        "tensor<4x64x64xbf16> tensor<4x64x64xbf16> tensor<4x64xbf16> !ttnn.device",
        "hidden_size = 64 : ui32, intermediate_size = 64 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>",
        "tensor<4xbf16>",
        "bias_0 and bias_1 must be both present or both absent",
    ),
    (
        "tt_lang_op",
        "tensor<4xf32> tensor<4xf32>",
        'kernel_id = "a", version_tag = "1", arg_roles = "in,out", shard_spec = ""',
        "tensor<4xf32>",
        "",
    ),
    (
        "tt_lang_op",
        "tensor<4xf32> tensor<4xf32>",
        'kernel_id = "a", version_tag = "1", arg_roles = "out,in", shard_spec = ""',
        "tensor<4xf32>",
        '`arg_roles` must list all "in" operands before any "out" operand',
    ),
    ("argmax", "tensor<4x8xf32>", "dim = 1 : si32, keep_dim = false", "tensor<4xui32>", ""),
    ("argmax", "tensor<4x8xf32>", "dim = 1 : si32, keep_dim = true", "tensor<4xui32>", "expected output shape (4, 1)"),
    ("reshape", "tensor<4x8xf32>", "shape = [-2 : i32, 32 : i32]", "tensor<1x32xf32>", "All dimensions must be >= 0"),
    (
        "nlp_create_qkv_heads_decode",
        "tensor<1x1x32x384xbf16>",
        "num_heads = 4 : ui32, num_kv_heads = 1 : ui32",
        "tensor<1x32x4x64xbf16> tensor<1x32x1x64xbf16> tensor<1x32x1x64xbf16>",
        "",
    ),
    (
        "nlp_create_qkv_heads_decode",
        "tensor<1x1x32x384xbf16>",
        "num_heads = 4 : ui32, num_kv_heads = 1 : ui32",
        "tensor<1x32x4x64xbf16> tensor<1x32x4x64xbf16> tensor<1x32x1x64xbf16>",
        "expected key shape (1, 32, 1, 64), got (1, 32, 4, 64)",
    ),
    (
        "nlp_concat_heads_decode",
        "tensor<1x1x32x128xbf16>",
        "num_heads = 34 : ui32",
        "tensor<1x1x1x4096xbf16>",
        "num_heads attribute must be less than or equal to input num_heads dimension",
    ),
]


@pytest.mark.parametrize(("name", "inputs", "attributes", "results", "reason"), CASES)
def test_ttnn_operations_are_read_or_refused_with_a_reason(
    name: str, inputs: str, attributes: str, results: str, reason: str
) -> None:
    source = text(f"ttnn.{name}", inputs, attributes, results)
    if not reason:
        parse_module(source, version="2026-08")
        return
    with pytest.raises(CompileError) as error:
        parse_module(source, "wrong.mlir", version="2026-08")
    assert "wrong.mlir:3:" in str(error.value)
    assert f"error: 'ttnn.{name}' op " in str(error.value)
    assert reason in str(error.value)


ADD = laid("32x32", "f32", "f32").replace(" ", "~")
OTHER = laid("32x32", "f32", "bf16").replace(" ", "~")
F32 = "dtype = #ttcore.supportedDataTypes<f32>"
MEMORY = "memory_config = #ttnn.memory_config<#ttnn.buffer_type<{}>, <interleaved>>"


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "result", "reason"),
    [
        ("add", f"{ADD} {ADD}", F32, ADD, ""),
        (
            "add",
            f"{ADD} {ADD}",
            F32,
            OTHER,
            "output tensor layout data type bf16 must match output data type attribute",
        ),
        (
            "add",
            f"{ADD} {ADD}",
            "",
            ADD,
            "output data type attribute is not defined for op that has output layout data",
        ),
        ("typecast", ADD, F32, OTHER, "Output tensor data type bf16 must match the data type of dtype attribute f32."),
        ("to_memory_config", ADD, MEMORY.format("dram"), ADD, ""),
        (
            "to_memory_config",
            ADD,
            MEMORY.format("l1"),
            ADD,
            "Output tensor buffer type dram must match memory config buffer type l1",
        ),
    ],
)
def test_attributes_of_2025_10_repeat_the_layout_of_the_result(
    name: str, inputs: str, attributes: str, result: str, reason: str
) -> None:
    source = text(f"ttnn.{name}", inputs, attributes, result)
    if not reason:
        parse_module(source, version="2025-10")
        return
    with pytest.raises(CompileError, match=reason):
        parse_module(source, version="2025-10")


LAYOUT = "module {{ func.func @f(%a: tensor<32x32xf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), {}>>) {{ return }} }}"
TILE = "memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<{}>>"


@pytest.mark.parametrize(
    ("version", "layout", "reason"),
    [
        ("2026-08", f"<1x1>, {TILE.format('dram')}, <interleaved>", ""),
        ("2026-08", f"<1x1>, {TILE.format('dram')}", "Memory layout is required for non-SystemMemory buffer type."),
        (
            "2026-08",
            f"<1x1>, {TILE.format('system_memory')}, <interleaved>",
            "Memory layout is not allowed for SystemMemory buffer type.",
        ),
        (
            "2026-08",
            f"<8x8>, {TILE.format('dram')}, <interleaved>",
            r"expected \(1, 1\) grid shape for dram buffer type with interleaved memory layout, got \(8, 8\)",
        ),
        (
            "2025-10",
            f"<8x8>, {TILE.format('dram')}, <interleaved>",
            r"expected \(1, 1\) grid shape for non-L1 buffer type, got \(8, 8\) for dram buffer type",
        ),
        ("2026-08", f"<1x4>, {TILE.format('l1')}, <width_sharded>", "must carry a core_range_set"),
        ("2025-10", f"<1x4>, {TILE.format('l1')}, <width_sharded>", ""),
        (
            "2025-10",
            f"<1x1>, {TILE.format('dram')}, <width_sharded>",
            "DRAM buffer type must have Interleaved memory layout.",
        ),
        (
            "2026-08",
            f"<1x1>, {TILE.format('dram')}, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>",
            "BlockSharded layout is not supported for DRAM buffer type",
        ),
    ],
)
def test_layouts_are_read_or_refused_with_a_reason(version: Version, layout: str, reason: str) -> None:
    if not reason:
        parse_module(LAYOUT.format(layout), version=version)
        return
    with pytest.raises(CompileError, match=reason):
        parse_module(LAYOUT.format(layout), version=version)
