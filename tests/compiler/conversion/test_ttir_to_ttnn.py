"""Lowerings of later versions to several calls, and decompositions under them."""

# Lines of MLIR stay whole.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from testkit.pass_checks import names, rewritten
from testkit.ttir_reference import interpret
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

Array = NDArray[Any]


def function(op: str, inputs: str, results: str, attributes: str = "") -> str:
    """Return a function with one operation; types are separated by blanks."""
    given, made = inputs.split(), results.split()
    arguments = ", ".join(f"%arg{i}: tensor<{kind}>" for i, kind in enumerate(given))
    operands = ", ".join(f"%arg{i}" for i in range(len(given)))
    types = ", ".join(f"tensor<{kind}>" for kind in given)
    outs = ", ".join(f"tensor<{kind}>" for kind in made)
    values = ", ".join(f"%0#{i}" for i in range(len(made))) if len(made) > 1 else "%0"
    count = f":{len(made)}" if len(made) > 1 else ""
    return (
        f"func.func @f({arguments}) -> ({outs}) {{\n"
        f'  %0{count} = "ttir.{op}"({operands}) <{{{attributes}}}> : ({types}) -> ({outs})\n'
        f"  return {values} : {outs}\n}}\n"
    )


def lowered(text: str, version: Version = "2026-08") -> list[TableOp]:
    """Return the lowered `ttnn` operations of a function, without deallocations."""
    module = parse_module(text, version=version)
    run(module, "ttcore-register-device,ttnn-layout,convert-ttir-to-ttnn")
    ops = [op for op in module.op.walk() if isinstance(op, TableOp) and op.name.startswith("ttnn.")]
    for op in ops:
        op.verify_()
    return ops


def short(ops: list[TableOp]) -> list[str]:
    """Return names without their dialect, but the device."""
    return [op.name[5:] for op in ops if op.name != "ttnn.get_device"]


def shape(op: TableOp) -> tuple[int, ...]:
    """Return the shape of the first result."""
    return tuple(op.results[0].type.get_shape())  # type: ignore[attr-defined]


CONV1 = (
    "stride = 1 : i32, padding = {}, dilation = 1 : i32, groups = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1>"
)


@pytest.mark.parametrize(("padding", "length", "expected"), [("array<i32: 1, 0>", 15, (1, 0)), ("1 : i32", 16, (1, 1))])
def test_conv1d_images_are_flattened(padding: str, length: int, expected: tuple[int, int]) -> None:
    text = function("conv1d", "2x16x8xbf16 12x8x3xbf16 1x1x12xbf16", f"2x{length}x12xbf16", CONV1.format(padding))
    ops = lowered(text)
    assert short(ops) == ["reshape", "conv1d", "reshape"]
    conv = ops[-2]
    assert shape(conv) == (1, 1, 2 * length, 12)
    assert conv.get("padding") == expected
    assert (conv.get("kernel_size"), conv.get("input_length"), conv.get("batch_size")) == (3, 16, 2)


CONV3 = 'stride = 1 : i32, padding = 0 : i32, groups = {} : i32, padding_mode = "replicate"'


def test_conv3d_channels_are_padded_to_whole_tiles() -> None:
    text = function("conv3d", "1x8x8x8x4xbf16 32x4x3x3x3xbf16", "1x6x6x6x32xbf16", CONV3.format(1))
    ops = lowered(text)
    assert short(ops) == ["pad", "conv3d"]
    assert shape(ops[-2]) == (1, 8, 8, 8, 32)
    assert (ops[-1].get("in_channels"), ops[-1].get("padding_mode")) == (32, "replicate")


def test_conv3d_with_groups_raises() -> None:
    text = function("conv3d", "1x8x8x8x4xbf16 32x2x3x3x3xbf16", "1x6x6x6x32xbf16", CONV3.format(2))
    with pytest.raises(CompileError, match="only supports groups == 1"):
        lowered(text)


POOL = "kernel = 2 : i32, stride = 2 : i32, dilation = {} : i32, padding = {}, ceil_mode = false"


def test_pools_with_gaps_and_uneven_transposes_raise() -> None:
    with pytest.raises(CompileError, match=r"only supports lowering to TTNN for dilation of \(1, 1\)"):
        lowered(function("avg_pool2d", "1x8x8x4xbf16", "1x3x3x4xbf16", POOL.format(2, "0 : i32")))
    attributes = (
        "stride = 1 : i32, padding = array<i32: 1, 0, 0, 0>, output_padding = 0 : i32, dilation = 1 : i32, "
        "groups = 1 : i32"
    )
    with pytest.raises(CompileError, match="padding_top/padding_left must equal padding_bottom/padding_right"):
        lowered(function("conv_transpose2d", "1x8x8x4xbf16 4x6x3x3xbf16", "1x9x10x6xbf16", attributes))


def test_max_pool_with_indices_returns_both_results() -> None:
    text = function("max_pool2d_with_indices", "1x8x8x4xbf16", "1x4x4x4xbf16 1x4x4x4xi32", POOL.format(1, "0 : i32"))
    (pool,) = [op for op in lowered(text) if op.name.endswith("indices")]
    assert len(pool.results) == 2


GROUPS = "num_groups = 2 : i64, channel_dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0, {0}, {0}>"


@pytest.mark.parametrize("given", [0, 1])
def test_group_norm_has_channels_last_and_a_scale(given: int) -> None:
    inputs = "2x64x4x8xbf16" + " 64xbf16 64xbf16" * given
    ops = lowered(function("group_norm", inputs, "2x64x4x8xbf16", GROUPS.format(given)))
    made = [] if given else ["ones", "zeros"]
    assert short(ops) == ["permute", "reshape", *made, "group_norm", "reshape", "permute"]
    norm = next(op for op in ops if op.name == "ttnn.group_norm")
    assert shape(norm) == (2, 1, 32, 64)
    assert shape(ops[-1]) == (2, 64, 4, 8)


def test_layer_norm_normalizes_the_last_dimension() -> None:
    attributes = "normalized_shape = array<i64: 4, 8>, operandSegmentSizes = array<i32: 1, 0, 0>"
    with pytest.raises(CompileError, match="over the last dimension"):
        lowered(function("layer_norm", "2x4x8xbf16", "2x4x8xbf16", attributes))
    attributes = "normalized_shape = array<i64: 8>, operandSegmentSizes = array<i32: 1, 0, 0>"
    assert short(lowered(function("layer_norm", "2x4x8xbf16", "2x4x8xbf16", attributes))) == ["layer_norm"]


@pytest.mark.parametrize(
    ("indices", "gradient", "expected"),
    [
        ("64xui32", "64x16xbf16", ["reshape", "reshape", "embedding_bw", "reshape"]),
        ("2x32xui32", "2x32x16xbf16", ["reshape", "reshape", "embedding_bw", "reshape"]),
        ("2x20xui32", "2x20x16xbf16", ["pad", "pad", "reshape", "reshape", "embedding_bw", "reshape"]),
    ],
)
def test_embedding_backward_pads_rows_to_whole_tiles(indices: str, gradient: str, expected: list[str]) -> None:
    ops = lowered(function("embedding_backward", f"{indices} 50x16xbf16 {gradient}", "50x16xbf16"))
    assert sorted(short(ops)) == sorted(expected)
    step = next(op for op in ops if op.name == "ttnn.embedding_bw")
    assert shape(step) == (1, 1, 50, 16)
    assert tuple(step.inputs[2].type.get_shape()) == (1, 1, 64, 16)  # type: ignore[attr-defined]


def test_embedding_backward_of_2025_10_has_the_shape_of_the_table() -> None:
    ops = lowered(function("embedding_backward", "2x32xui32 50x16xbf16 2x32x16xbf16", "50x16xbf16"), "2025-10")
    assert short(ops) == ["reshape", "embedding_bw"]
    assert shape(ops[-1]) == (50, 16)


ADAMW = (
    "lr = 0.1 : f32, beta1 = 0.5 : f32, beta2 = 0.5 : f32, beta1_pow = 0.5 : f32, beta2_pow = 0.5 : f32, "
    "epsilon = 0.1 : f32, weight_decay = 0.0 : f32"
)
KIND = "32x32xbf16"


def test_adamw_step_updates_its_operands_in_place() -> None:
    text = function("adamw", " ".join([KIND] * 4), " ".join([KIND] * 3), ADAMW)
    module = parse_module(text, version="2026-08")
    run(module, "ttcore-register-device,ttnn-layout,convert-ttir-to-ttnn")
    body = module.functions()[0].body.blocks[0]
    last = body.last_op
    assert last is not None
    assert list(last.operands) == [body.args[0], body.args[2], body.args[3]]
    read = text.replace("return %0#0", f'%1 = "ttir.exp"(%arg0) : (tensor<{KIND}>) -> tensor<{KIND}>\n  return %1')
    with pytest.raises(CompileError, match="is read after the step"):
        lowered(read)


SDPA = "is_causal = false, scale = 0.125 : f32, operandSegmentSizes = array<i32: 1, 1, 1, {}, {}>"


def test_attention_of_one_position_lowers_to_decode_attention() -> None:
    inputs = "2x8x1x64xbf16 2x4x32x64xbf16 2x4x32x64xbf16 1x1x1x32xbf16 1x8x1x1xbf16"
    ops = lowered(function("scaled_dot_product_attention", inputs, "2x8x1x64xbf16", SDPA.format(1, 1)))
    decode = next(op for op in ops if op.name.endswith("decode"))
    assert shape(decode) == (1, 2, 8, 64)
    assert tuple(decode.group("attention_mask")[0].type.get_shape()) == (1, 1, 8, 32)  # type: ignore[attr-defined]
    full = next(op for op in ops if op.name == "ttnn.full")
    assert full.get("fill_value") == 8.0
    assert shape(ops[-1]) == (2, 8, 1, 64)


def test_attention_masks_have_a_row_for_each_position() -> None:
    inputs = "2x8x64x64xbf16 2x4x32x64xbf16 2x4x32x64xbf16 1x1x1x32xbf16"
    ops = lowered(function("scaled_dot_product_attention", inputs, "2x8x64x64xbf16", SDPA.format(1, 0)))
    assert short(ops) == ["repeat", "scaled_dot_product_attention"]
    assert shape(next(op for op in ops if op.name == "ttnn.repeat")) == (1, 1, 64, 32)


def test_pow_with_a_negative_exponent_takes_a_tensor() -> None:
    text = """
func.func @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {{
  %0 = "ttir.full"() <{{shape = array<i32: 4, 8>, fill_value = {} : f32}}> : () -> tensor<4x8xf32>
  %1 = "ttir.pow"(%arg0, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}}
"""
    assert short(lowered(text.format("-2.0"))) == ["full", "pow_tensor"]
    assert short(lowered(text.format("2.0")))[-1] == "pow_scalar"


def test_broadcasts_of_all_operands_move_after_the_operation() -> None:
    text = """
func.func @f(%a: tensor<1x6xf32>, %b: tensor<1x6xf32>, %c: tensor<4x1xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = "ttir.broadcast"(%a) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x6xf32>) -> tensor<4x6xf32>
  %1 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x6xf32>) -> tensor<4x6xf32>
  %2 = "ttir.broadcast"(%c) <{broadcast_dimensions = array<i64: 1, 6>}> : (tensor<4x1xf32>) -> tensor<4x6xf32>
  %3 = "ttir.add"(%0, %1) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = "ttir.multiply"(%0, %2) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %3, %4 : tensor<4x6xf32>, tensor<4x6xf32>
}
"""
    after = rewritten(text, "ttir-implicit-broadcast-fold")
    assert names(after) == ["add", "broadcast", "multiply"]


def decomposed(text: str, version: Version) -> Module:
    """Return a module after decomposition."""
    module = parse_module(text, version=version)
    run(module, "ttir-to-ttir-decomposition")
    return module


def gather_text(attributes: str, shapes: str, result: str) -> str:
    value, starts = shapes.split()
    return (
        f"func.func @f(%a: tensor<{value}>, %i: tensor<{starts}>) -> tensor<{result}> {{\n"
        f'  %0 = "ttir.gather"(%a, %i) <{{{attributes}, operand_batching_dims = array<i64>, '
        "start_indices_batching_dims = array<i64>, indices_are_sorted = false}> : "
        f"(tensor<{value}>, tensor<{starts}>) -> tensor<{result}>\n  return %0 : tensor<{result}>\n}}\n"
    )


GATHERS = {
    "rows": (
        "offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, "
        "index_vector_dim = 2 : si64, slice_sizes = array<i64: 1, 6>",
        "9x6xf32 2x5xi32",
        "2x5x6xf32",
        lambda a, i: a[i],
    ),
    "columns": (
        "offset_dims = array<i64: 0>, collapsed_slice_dims = array<i64: 1>, start_index_map = array<i64: 1>, "
        "index_vector_dim = 1 : si64, slice_sizes = array<i64: 7, 1>",
        "7x9xf32 4xi32",
        "7x4xf32",
        lambda a, i: a[:, i],
    ),
    "pairs": (
        "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0, 1>, start_index_map = array<i64: 0, 1>, "
        "index_vector_dim = 1 : si64, slice_sizes = array<i64: 1, 1, 5>",
        "4x3x5xf32 6x2xi32",
        "6x5xf32",
        lambda a, i: a[i[:, 0], i[:, 1]],
    ),
    "pairs in many rows": (
        "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0, 1>, start_index_map = array<i64: 0, 1>, "
        "index_vector_dim = 0 : si64, slice_sizes = array<i64: 1, 1, 5>",
        "300x300x5xf32 2x6xi32",
        "6x5xf32",
        lambda a, i: a[i[0], i[1]],
    ),
}


@pytest.mark.parametrize("name", GATHERS)
def test_gather_of_2025_10_lowers_to_embedding(name: str) -> None:
    attributes, shapes, result, expected = GATHERS[name]
    module = decomposed(gather_text(attributes, shapes, result), "2025-10")
    assert "embedding" in names(module)
    assert "gather" not in names(module)
    random = np.random.default_rng(3)
    sizes = [tuple(int(one) for one in kind.split("x")[:-1]) for kind in shapes.split()]
    value, indices = random.standard_normal(sizes[0]), random.integers(0, 3, sizes[1])
    (got,) = interpret(module, "f", [value, indices])
    np.testing.assert_array_equal(got, expected(value, indices))
    # Products of the library lose bits of larger numbers.
    assert ("matmul" in names(module)) == (name == "pairs")


def test_gather_with_batch_dimensions_raises() -> None:
    attributes = (
        "offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, "
        "index_vector_dim = 2 : si64, slice_sizes = array<i64: 1, 4>"
    )
    module = parse_module(gather_text(attributes, "9x6xf32 2x5xi32", "2x5x4xf32"), version="2025-10")
    with pytest.raises(CompileError, match=r"failed to legalize operation 'ttir.gather'"):
        run(module, "ttir-to-ttir-decomposition,ttnn-layout,convert-ttir-to-ttnn")


def scatter_text(attributes: str, value: str, indices: str, update: str) -> str:
    types = f"(tensor<{value}>, tensor<{indices}>, tensor<{update}>)"
    return (
        f"func.func @f(%a: tensor<{value}>, %i: tensor<{indices}>, %u: tensor<{update}>) -> tensor<{value}> {{\n"
        f'  %0 = "ttir.scatter"(%a, %i, %u) <{{{attributes}, input_batching_dims = array<i32>, '
        "scatter_indices_batching_dims = array<i32>, indices_are_sorted = false, unique_indices = true}> : "
        f"{types} -> tensor<{value}>\n  return %0 : tensor<{value}>\n}}\n"
    )


def test_scatter_of_rows_uses_one_dimension() -> None:
    attributes = (
        "update_window_dims = array<i32: 1>, inserted_window_dims = array<i32: 0>, "
        "scatter_dims_to_operand_dims = array<i32: 0>, index_vector_dim = 1 : i32"
    )
    module = decomposed(scatter_text(attributes, "9x6xf32", "3x1xi32", "3x6xf32"), "2025-10")
    assert "scatter_in_dim" in names(module)
    random = np.random.default_rng(3)
    value, update, rows = random.standard_normal((9, 6)), random.standard_normal((3, 6)), np.array([[7], [0], [4]])
    expected = value.copy()
    expected[rows[:, 0]] = update
    np.testing.assert_array_equal(interpret(module, "f", [value, rows, update])[0], expected)


def test_scatter_of_elements_keeps_values() -> None:
    attributes = (
        "update_window_dims = array<i32>, inserted_window_dims = array<i32: 0, 1>, "
        "scatter_dims_to_operand_dims = array<i32: 0, 1>, index_vector_dim = 2 : i32"
    )
    module = decomposed(scatter_text(attributes, "20x32xf32", "20x16x2xi32", "20x16xf32"), "2025-10")
    assert names(module).count("scatter_in_dim") == 2
    random = np.random.default_rng(3)
    places = random.permutation(20 * 32)[: 20 * 16].reshape(20, 16)
    indices = np.stack([places // 32, places % 32], axis=-1)
    value, update = random.standard_normal((20, 32)), random.standard_normal((20, 16))
    expected = value.copy()
    expected[indices[..., 0], indices[..., 1]] = update
    np.testing.assert_array_equal(interpret(module, "f", [value, indices, update])[0], expected)


def test_int64_constants_saturate_to_int32() -> None:
    text = """
func.func @f() -> tensor<3xi64> {
  %0 = "ttir.constant"() <{value = dense<[9223372036854775807, -9223372036854775808, 5]> : tensor<3xi64>}> : () -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
"""
    module = parse_module(text, version="2026-08")
    run(module, "ttir-element-type-normalization")
    (op,) = [op for op in module.op.walk() if isinstance(op, TableOp)]
    assert list(op.properties["value"].elements()) == [2**31 - 1, -(2**31), 5]  # type: ignore[attr-defined]


def test_deallocating_convolution_is_the_last_user_of_its_input() -> None:
    conv = (
        "in_channels = 4 : i32, out_channels = 6 : i32, batch_size = 1 : i32, input_height = 8 : i32, "
        "input_width = 8 : i32, kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, "
        "padding = array<i32: 1, 1>, dilation = array<i32: 1, 1>, groups = 1 : i32, "
        "conv2d_config = #ttnn.conv2d_config<deallocate_activation = true>"
    )
    kind, weight, made = "tensor<1x1x64x4xbf16>", "tensor<6x4x3x3xbf16>", "tensor<1x1x64x6xbf16>"
    after = f'  %2 = "ttnn.relu"(%a) : ({kind}) -> {kind}\n'
    text = (
        f"func.func @f(%a: {kind}, %w: {weight}, %d: !ttnn.device) -> {made} {{{{\n"
        f'  %1 = "ttnn.conv2d"(%a, %w, %d) <{{{{{conv}, operandSegmentSizes = array<i32: 1, 1, 0, 1>}}}}> : '
        f"({kind}, {weight}, !ttnn.device) -> {made}\n{{}}  return %1 : {made}\n}}}}\n"
    )
    module = parse_module(text.format(""), version="2026-08")
    run(module, "ttnn-deallocate")
    freed = [op.operands[0] for op in module.op.walk() if op.name == "ttnn.deallocate"]
    arguments = module.functions()[0].body.blocks[0].args
    assert freed == [arguments[1]]
    with pytest.raises(CompileError, match="error: use-after-free detected: op deallocates its input but is not"):
        run(parse_module(text.format(after), version="2026-08"), "ttnn-deallocate")


WEIGHTS = """
func.func @f(%arg0: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %0 = ttir.empty() : tensor<8xbf16>
  %1 = "ttir.layer_norm"(%arg0, %0) <{normalized_shape = array<i64: 8>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return %1 : tensor<4x8xbf16>
}
"""


def test_empty_operand_is_an_output_only_with_the_result_type() -> None:
    assert parse_module(WEIGHTS).version == "2026-08"
    other = (
        WEIGHTS.replace("layer_norm", "relu").split("<{")[0]
        + ": (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>"
    )
    text = other.replace("tensor<8xbf16>\n", "tensor<4x8xbf16>\n") + "\n  return %1 : tensor<4x8xbf16>\n}\n"
    assert parse_module(text).version == "2025-10"


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ('"ttnn.typecast"(%a) <{dtype = #ttcore.supportedDataTypes<f32>}> :', "2025-10"),
        ('"ttnn.typecast"(%a) :', "2026-08"),
    ],
)
def test_attributes_that_repeat_the_result_imply_2025_10(line: str, version: Version) -> None:
    kind = "tensor<4x8xf32>"
    empty = '%d = "ttnn.get_device"() : () -> !ttnn.device\n  %e = "ttnn.zeros"(%d) <{dtype = #ttcore.supportedDataTypes<f32>, '
    empty += f"shape = #ttnn.shape<4x8>}}> : (!ttnn.device) -> {kind}"
    text = f"func.func @f(%a: {kind}) -> {kind} {{\n  {empty}\n  %0 = {line} ({kind}) -> {kind}\n  return %0 : {kind}\n}}\n"
    assert parse_module(text).version == version


@pytest.mark.parametrize(("name", "weight"), [("conv2d", "8x4x3x3xbf16"), ("conv_transpose2d", "4x8x3x3xbf16")])
def test_lowered_convolution_of_2025_10_is_read_as_2025_10(name: str, weight: str) -> None:
    x, out = "tensor<1x16x12x4xbf16>", "tensor<1x16x12x8xbf16>"
    facts = "stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32"
    facts += ", output_padding = 0 : i32" if name == "conv_transpose2d" else ""
    module = parse_module(
        f"func.func @f(%x: {x}, %w: tensor<{weight}>) -> {out} {{\n  %e = ttir.empty() : {out}\n"
        f'  %0 = "ttir.{name}"(%x, %w, %e) <{{{facts}}}> : ({x}, tensor<{weight}>, {out}) -> {out}\n'
        f"  return %0 : {out}\n}}\n"
    )
    run(module, "ttir-to-ttnn-backend-pipeline")
    assert parse_module(print_module(module)).version == module.version == "2025-10"


CONVOLUTION = (
    "#ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = {s}, "
    "kernel_output_feature = 0, kernel_input_feature = 1, kernel_spatial_dimensions = {s}, output_batch = 0, "
    "output_feature = 1, output_spatial_dimensions = {s}>"
)


def general(inputs: str, result: str, spatial: str, *, groups: int = 1, padding: str) -> str:
    """Return a general convolution with channels second, of stride one."""
    rank = len(spatial.split("x"))
    ones = ", ".join(["1"] * rank)
    false = ", ".join(["false"] * rank)
    return function(
        "convolution",
        inputs,
        result,
        f"batch_group_count = {groups} : i64, convolution_layout = {CONVOLUTION.format(s=spatial)}, "
        f"feature_group_count = 1 : i64, input_dilation = array<i64: {ones}>, padding = array<i64: {padding}>, "
        f"weight_dilation = array<i64: {ones}>, window_reversal = array<i1: {false}>, "
        f"window_strides = array<i64: {ones}>",
    )


def test_conv1d_equals_conv2d_of_width_one() -> None:
    module = decomposed(general("2x3x9xf32 5x3x4xf32", "2x5x8xf32", "2", padding="1, 1"), "2025-10")
    assert "conv2d" in names(module)
    random = np.random.default_rng(5)
    value, weight = random.standard_normal((2, 3, 9)), random.standard_normal((5, 3, 4))
    padded = np.pad(value, [(0, 0), (0, 0), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 4, axis=2)
    (got,) = interpret(module, "f", [value, weight])
    np.testing.assert_allclose(got, np.einsum("ncwk,ock->now", windows, weight), atol=1e-12)


def test_convolution_with_batch_groups_is_split() -> None:
    text = general("4x3x6x6xf32 10x3x3x3xf32", "2x10x4x4xf32", "2x3", groups=2, padding="0, 0, 0, 0")
    module = decomposed(text, "2025-10")
    assert names(module).count("conv2d") == 2
    random = np.random.default_rng(5)
    value, weight = random.standard_normal((4, 3, 6, 6)), random.standard_normal((10, 3, 3, 3))
    windows = np.lib.stride_tricks.sliding_window_view(value, (3, 3), axis=(2, 3))
    parts = [np.einsum("nchwij,ocij->nohw", windows[2 * i : 2 * i + 2], weight[5 * i : 5 * i + 5]) for i in range(2)]
    (got,) = interpret(module, "f", [value, weight])
    np.testing.assert_allclose(got, np.concatenate(parts, axis=1), atol=1e-12)


WIDE = (
    "kernel = array<i32: 4, 4>, stride = 1 : i32, dilation = 1 : i32, padding = 3 : i32, ceil_mode = false, "
    "count_include_pad = {}"
)


def test_avg_pool_with_padding_above_half_the_window_pads_with_zeros() -> None:
    ops = lowered(function("avg_pool2d", "1x8x8x4xbf16", "1x11x11x4xbf16", WIDE.format("true")))
    assert short(ops)[:3] == ["pad", "reshape", "avg_pool2d"]
    pool = next(op for op in ops if op.name == "ttnn.avg_pool2d")
    assert (pool.get("input_height"), pool.get("input_width"), pool.get("padding")) == (14, 14, (0, 0))
    ops = lowered(function("avg_pool2d", "1x8x8x4xbf16", "1x11x11x4xbf16", WIDE.format("false")))
    assert "pad" not in short(ops)


KERNEL = """
#first = #ttnn.core_runtime_args<core_coord = <0, 0>, args = []>
#second = #ttnn.core_runtime_args<core_coord = <{}, 0>, args = []>
#kernel = #ttnn.write_kernel<symbol_ref = @k, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>, ct_args = [], common_rt_args = [], rt_args = [#first, #second]>
module attributes {{kernel = #kernel}} {{}}
"""


def test_repeated_runtime_arguments_of_a_core_raise() -> None:
    parse_module(KERNEL.format(1), version="2026-08")
    with pytest.raises(CompileError, match=r"error: Duplicate CoreCoord \(0, 0\) in runtime arguments"):
        parse_module(KERNEL.format(0), version="2026-08")


def test_operation_unknown_to_2025_10_is_read_as_2026_08() -> None:
    line = '%0 = "ttnn.layer_norm"(%a) <{dtype = #ttcore.supportedDataTypes<f32>, operandSegmentSizes = array<i32: 1, 0, 0>}>'
    text = f"func.func @f(%a: tensor<4x8xf32>) {{\n  {line} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n  return\n}}\n"
    assert parse_module(text).version == "2026-08"


def test_multi_line_attributes_print_on_one_line() -> None:
    text = """
module attributes {
  kernel = #ttnn.kernel_cb<
    total_size = 4096,
    core_ranges = <[
      #ttnn.core_range<(0,0), (1,0)>
    ]>,
    name = "a <  b"
  >
} {}
"""
    written = print_module(parse_module(text, version="2026-08"))
    assert 'total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>, name = "a <  b">' in written


@pytest.mark.parametrize(("version", "has_back"), [("2026-08", True), ("2025-10", False)])
def test_registered_device_of_2026_08_has_an_inverse_map(version: Version, has_back: bool) -> None:
    module = parse_module("module {}", version=version)
    run(module, "builtin.module(ttcore-register-device)")
    text = print_module(module)
    assert (
        "physical_to_virt_map = (d0, d1, d2) -> (d1, d2)>, dramGrid = #ttcore.grid<1x12>, l1Map" in text
    ) is has_back
    assert print_module(parse_module(text, version=version)) == text


def shards(direction: str) -> str:
    return (
        f"<{{shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<{direction}>, "
        "shard_shape = array<i64: 1, 1>, shard_type = #ttcore.shard_type<devices>}>"
    )


@pytest.mark.parametrize("version", ["2025-10", "2026-08"], ids=lambda version: version)
def test_mesh_shards_stay_on_the_host(version: Version) -> None:
    kind = "tensor<32x64xf32>"
    text = f"""func.func @f(%a: {kind}, %b: {kind}) -> ({kind}, {kind}) {{
  %0 = "ttir.mesh_shard"(%a) {shards("full_to_shard")} : ({kind}) -> {kind}
  %1 = "ttir.mesh_shard"(%b) {shards("shard_to_full")} : ({kind}) -> {kind}
  return %0, %1 : {kind}, {kind}
}}"""
    module = parse_module(text, version=version)
    run(module, "builtin.module(ttcore-register-device, ttnn-layout)")
    (function,) = module.functions()
    kinds = [*function.function_type.inputs.data, *function.function_type.outputs.data]
    assert [one.encoding.space == "system_memory" for one in kinds] == [True] * 4  # type: ignore[attr-defined]
    assert [op for op in module.op.walk() if op.name == "ttir.to_layout"] == []


def test_operations_on_mesh_shards_read_them_from_the_device() -> None:
    kind = "tensor<32x64xf32>"
    text = f"""func.func @f(%a: {kind}) -> ({kind}, {kind}) {{
  %0 = ttir.empty() : {kind}
  %1 = "ttir.exp"(%a, %0) : ({kind}, {kind}) -> {kind}
  %2 = "ttir.mesh_shard"(%a) {shards("full_to_shard")} : ({kind}) -> {kind}
  %3 = ttir.empty() : {kind}
  %4 = "ttir.neg"(%2, %3) : ({kind}, {kind}) -> {kind}
  return %1, %4 : {kind}, {kind}
}}"""
    module = parse_module(text, version="2025-10")
    run(module, "builtin.module(ttcore-register-device, ttnn-layout)")
    ops = {op.name: op for op in module.op.walk()}
    for name in ("ttir.exp", "ttir.neg"):
        assert ops[name].operands[0].type.encoding.space == "dram"  # type: ignore[attr-defined]
        assert ops[name].operands[0].owner.name == "ttir.to_layout"  # type: ignore[union-attr]
    assert ops["ttir.mesh_shard"].operands[0].type.encoding.space == "system_memory"  # type: ignore[attr-defined]
