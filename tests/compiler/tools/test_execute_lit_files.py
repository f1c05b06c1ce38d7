"""The public test harness: right results pass, negative controls fail."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit import ttir_reference
from testkit.execute_lit_files import Refused, compare, controlled, execute_file, finished
from testkit.lit_files import NotExecuted, alone, lowering, parts, rest
from testkit.ttir_inputs import chosen
from testkit.ttir_reference import interpret
from testkit.ttir_weights import in_blocks
from ttnn.compiler.runtime import prepared
from ttnn.compiler.versions import parse_module

pytest.importorskip("torch", reason="ttrt makes inputs with torch")
TEXT = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
// RUN: ttmlir-translate --ttnn-to-flatbuffer %t.mlir > %t.ttnn
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @sum(%arg0: tensor<64x96xf32>, %arg1: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %0 = tensor.empty() : tensor<64x96xf32>
  %1 = "ttir.add"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  return %1 : tensor<64x96xf32>
}
"""  # noqa: E501


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "add.mlir"
    path.write_text(TEXT)
    return path


def test_correct_file_passes(file: Path) -> None:
    assert execute_file(file, "add.mlir", "", "") == 1


def test_zeros_control_fails(file: Path) -> None:
    with controlled("zeros"), pytest.raises(AssertionError, match=r"sum, output 0: distance 1\.000"):
        execute_file(file, "add.mlir", "", "zeros")


def test_nothing_control_fails(file: Path) -> None:
    with pytest.raises(AssertionError, match="a tensor without layout has no binary form"):
        execute_file(file, "add.mlir", "", "nothing")


def test_wrong_operator_is_detected(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ttnn.compiler.conversion.ttnn_to_calls import rows

    monkeypatch.setitem(rows._FUNCTIONS, "Add", "subtract")
    with pytest.raises(AssertionError, match="sum, output 0: distance"):
        execute_file(file, "add.mlir", "", "")


def test_run_line_that_lowers_is_found() -> None:
    assert lowering(TEXT, "a.ttsys") == ["--ttir-to-ttnn-backend-pipeline=system-desc-path=a.ttsys"]
    assert lowering("// RUN: ttmlir-opt --canonicalize %s | FileCheck %s\n" + TEXT, "") == lowering(TEXT, "")
    assert lowering("// RUN: ttmlir-opt --canonicalize %s | FileCheck %s", "") == ["--canonicalize"]
    with pytest.raises(NotExecuted, match="no line that reads it"):
        lowering("// RUN: ttmlir-translate --ttnn-to-flatbuffer %s", "")
    with pytest.raises(NotExecuted, match="expects an error"):
        lowering("// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline %s 2>&1 | FileCheck %s", "")


def test_file_that_stops_at_a_pass_runs_the_rest_of_the_pipeline(file: Path) -> None:
    file.write_text("// RUN: ttmlir-opt --canonicalize %s\n" + TEXT.partition("\n")[2])
    assert execute_file(file, "add.mlir", "", "") == 1
    with controlled("zeros"), pytest.raises(AssertionError, match=r"sum, output 0: distance 1\.000"):
        execute_file(file, "add.mlir", "", "zeros")
    assert rest(TEXT, "#ttnn.ttnn_layout", ["--ttnn-layout"], "") == ["--convert-ttir-to-ttnn"]
    assert rest(TEXT, '"ttir.generic"', ["--ttir-generic"], "") == ["--ttir-to-ttmetal-backend-pipeline"]
    with pytest.raises(NotExecuted, match="buffers of d2m"):
        rest("ttir.ttnn_metal_layout_cast #ttcore.metal_layout<>", "", [], "")


def test_compare_reports_shape_distance_and_non_finite_values() -> None:
    right = np.linspace(-1, 1, 100)
    assert compare(right, right) == ""
    assert compare(right * 1.001, right) == ""
    assert "distance" in compare(right * 1.2, right)
    assert "shape" in compare(right[:99], right)
    assert "not finite" in compare(np.full(100, np.nan), right)
    assert compare(np.where(right < 0, np.nan, right), np.where(right < 0, np.nan, right)) == ""
    noise = right + np.random.default_rng(0).standard_normal(100) * 0.1
    assert compare(noise, right) != ""
    assert compare(np.zeros(5), np.zeros(5)) == ""
    assert "where the reference is zero" in compare(np.ones(5), np.zeros(5))


OVERFLOWING = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @line(%arg0: tensor<32x64xf32>, %arg1: tensor<64x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.matmul"(%arg0, %arg1) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.matmul"(%0, %arg0) : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %2 = "ttir.matmul"(%1, %arg1) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %3 = "ttir.softmax"(%2) <{dimension = 1 : si32}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}
"""


def test_overflowing_softmax_runs_again_with_small_inputs(tmp_path: Path) -> None:
    path = tmp_path / "line.mlir"
    path.write_text(OVERFLOWING)
    assert execute_file(path, "line.mlir", "", "", "2026-08") == 1
    with controlled("zeros"), pytest.raises(AssertionError, match=r"line, output 0: distance 1\.000"):
        execute_file(path, "line.mlir", "", "zeros", "2026-08")


TRUTHS = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @all(%arg0: tensor<8x7x64xi1>) -> tensor<8x64xi1> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 1>}> : (tensor<8x7x64xi1>) -> tensor<8x64x7xi1>
  %1 = "ttir.reduce_and"(%0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<8x64x7xi1>) -> tensor<8x64xi1>
  return %1 : tensor<8x64xi1>
}
func.func @any(%arg0: tensor<8x64x7xbf16>) -> tensor<8x64x1xbf16> {
  %1 = "ttir.reduce_or"(%arg0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<8x64x7xbf16>) -> tensor<8x64xbf16>
  %2 = "ttir.reshape"(%1) <{shape = [8 : i32, 64 : i32, 1 : i32]}> : (tensor<8x64xbf16>) -> tensor<8x64x1xbf16>
  return %2 : tensor<8x64x1xbf16>
}
func.func @chosen(%arg0: tensor<8x64xi1>, %arg1: tensor<8x64xi32>, %arg2: tensor<8x64xi32>) -> tensor<8x64xi32> {
  %0 = "ttir.where"(%arg0, %arg1, %arg2) : (tensor<8x64xi1>, tensor<8x64xi32>, tensor<8x64xi32>) -> tensor<8x64xi32>
  return %0 : tensor<8x64xi32>
}
"""


def test_boolean_inputs_contain_true_and_false(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = chosen(parse_module(TRUTHS, default_version="2026-08"))
    for values in (found["all", 0].all(axis=1), found["any", 0].any(axis=2), found["chosen", 0] != 0):
        assert 0.3 < values.mean() < 0.7
    assert set(found) == {("all", 0), ("any", 0), ("chosen", 0)}
    path = tmp_path / "truths.mlir"
    path.write_text(TRUTHS)
    assert execute_file(path, "truths.mlir", "", "", "2026-08") == 3
    original = prepared.public
    monkeypatch.setattr(prepared, "public", lambda name: original(name.replace("ttnn.sum", "ttnn.min")))
    with pytest.raises(AssertionError, match="any, output 0: distance"):
        execute_file(path, "truths.mlir", "", "", "2026-08")


CACHES = """func.func @two(
    %arg0: tensor<1x2x16x32xbf16>, %arg1: tensor<1x2x1x32xbf16>, %arg2: tensor<1xi32>, %arg3: tensor<1xi32>)
    -> tensor<1x2x16x32xbf16> {
  "ttir.update_cache"(%arg0, %arg1, %arg2) <{batch_offset = 0 : i32}>
    : (tensor<1x2x16x32xbf16>, tensor<1x2x1x32xbf16>, tensor<1xi32>) -> ()
  "ttir.update_cache"(%arg0, %arg1, %arg3) <{batch_offset = 0 : i32}>
    : (tensor<1x2x16x32xbf16>, tensor<1x2x1x32xbf16>, tensor<1xi32>) -> ()
  return %arg0 : tensor<1x2x16x32xbf16>
}
"""


DRAWN = """// RUN: ttmlir-opt --canonicalize %s > %t.mlir
func.func @sorted(%arg0: tensor<1x50272xbf16>) -> tensor<1x50272xbf16> {
  %0, %1 = "ttir.sort"(%arg0) : (tensor<1x50272xbf16>) -> (tensor<1x50272xbf16>, tensor<1x50272xsi32>)
  return %0 : tensor<1x50272xbf16>
}
func.func @drawn(
    %arg0: tensor<4x64xbf16>, %arg1: tensor<4x64xi32>, %arg2: tensor<4xui32>, %arg3: tensor<4xbf16>,
    %arg4: tensor<4xbf16>) -> tensor<4xi32> {
  %0 = "ttir.sampling"(%arg0, %arg1, %arg2, %arg3, %arg4)
    : (tensor<4x64xbf16>, tensor<4x64xi32>, tensor<4xui32>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
"""


def test_sorted_inputs_have_no_duplicates() -> None:
    module = parse_module(DRAWN, default_version="2026-08")
    found = chosen(module)
    line = found["sorted", 0]
    assert len(np.unique(line)) == line.size
    assert np.isfinite(line).all()
    assert (np.abs(line) >= np.finfo(np.float32).tiny).all()
    assert np.array_equal(line.astype(ml_dtypes.bfloat16).astype(np.float32), line)
    values, k = found["drawn", 0], found["drawn", 2]
    names = np.arange(256.0).reshape(4, 64)
    (tokens,) = interpret(module, "drawn", [values, names, k, k, k])
    assert tokens.tolist() == [names[user, values[user].argmax()] for user in range(4)]


WEIGHTS = """// RUN: ttmlir-opt --ttir-propagate-weight-dtype %s > %t.mlir
func.func @coarse(
    %arg0: tensor<32x64xbf16>,
    %arg1: tensor<48x64xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.weight_dtype = "bfp_bf4"},
    %arg2: tensor<16x64xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.weight_dtype = "bfp_bf4"})
    -> tensor<32x64xbf16> {
  %0 = "ttir.concat"(%arg1, %arg2) <{dim = 0 : si32}> : (tensor<48x64xbf16>, tensor<16x64xbf16>) -> tensor<64x64xbf16>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %2 = "ttir.matmul"(%arg0, %1) : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
  return %2 : tensor<32x64xbf16>
}
"""  # noqa: E501


def test_reference_rounds_weights_to_their_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "weights.mlir"
    path.write_text(WEIGHTS)
    assert execute_file(path, "weights.mlir", "", "", "2026-08") == 1
    monkeypatch.setattr(ttir_reference, "weight", lambda op, values: values)
    with pytest.raises(AssertionError, match=r"coarse, output 0: distance 0\.1"):
        execute_file(path, "weights.mlir", "", "", "2026-08")
    x = np.random.default_rng(0).standard_normal((32, 48)).astype(ml_dtypes.bfloat16)
    for bits, dtype in ((3, ttnn.bfloat4_b), (7, ttnn.bfloat8_b)):
        stored = ttnn.to_numpy(ttnn.from_torch(x, dtype=dtype, layout=ttnn.TILE_LAYOUT))
        assert np.array_equal(in_blocks(x.astype(np.float64), bits), stored.astype(np.float64))


def test_cache_positions_of_a_function_are_equal() -> None:
    found = chosen(parse_module(CACHES, default_version="2026-08"))
    assert found["two", 2] == found["two", 3]
    assert 0 < found["two", 2] < 16


NARROW = """// RUN: ttmlir-opt --canonicalize %s > %t.mlir
func.func @narrow() -> tensor<4xsi8> {
  %0 = "ttir.constant"() {value = dense<[-1.5, 2.5, -128.0, 127.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %1 = "ttir.typecast"(%0) : (tensor<4xf32>) -> tensor<4xsi8>
  return %1 : tensor<4xsi8>
}
func.func @wide() -> tensor<2xi64> {
  %0 = "ttir.constant"() {value = dense<[9223372036854775807, -9]> : tensor<2xi64>} : () -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @widened(%arg0: tensor<4x32xsi8>) -> tensor<4x32xf32> {
  %0 = "ttir.typecast"(%arg0) : (tensor<4x32xsi8>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
func.func @cut(%arg0: tensor<1x1x5x5xbf16>) -> tensor<1x1x7x3xbf16> {
  %0 = "ttir.pad"(%arg0) <{padding = array<i32: 0, 0, 0, 0, 1, 1, -2, 0>, value = 3.0 : f32}> : (tensor<1x1x5x5xbf16>) -> tensor<1x1x7x3xbf16>
  return %0 : tensor<1x1x7x3xbf16>
}
"""  # noqa: E501


def test_narrow_integers_and_negative_padding_have_a_reference(tmp_path: Path) -> None:
    module = parse_module(NARROW, default_version="2026-08")
    (narrow,) = interpret(module, "narrow", [])
    assert narrow.tolist() == [-1, 2, -128, 127]
    x = np.arange(25.0).reshape(1, 1, 5, 5)
    (cut,) = interpret(module, "cut", [x])
    assert np.array_equal(cut, np.pad(x[..., 2:], [(0, 0), (0, 0), (1, 1), (0, 0)], constant_values=3))
    path = tmp_path / "narrow.mlir"
    path.write_text(NARROW)
    assert execute_file(path, "narrow.mlir", "", "", "2026-08") == 4
    (wide,) = interpret(module, "wide", [])
    assert wide.tolist() == [2**31 - 1, -9]
    (widened,) = interpret(module, "widened", [np.array([[1, 255, 128, 127] * 8] * 4)])
    assert widened[0, :4].tolist() == [1, -1, -128, 127]
    with controlled("zeros"), pytest.raises(AssertionError, match=r"narrow, output 0: distance 1\.000"):
        execute_file(path, "narrow.mlir", "", "zeros", "2026-08")


STEPS = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @backwards(%arg0: tensor<64x64xbf16>) -> tensor<32x64xbf16> {
  %0 = "ttir.slice_static"(%arg0) <{begins = [63: i32, 0: i32], ends = [0: i32, 64: i32], step = [-2: i32, 1: i32]}> : (tensor<64x64xbf16>) -> tensor<32x64xbf16>
  return %0 : tensor<32x64xbf16>
}
func.func @product(%arg0: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = "ttir.multiply"(%arg0, %arg0) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}
"""  # noqa: E501
POOL = (
    """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @padded(%arg0: tensor<1x8x8x32xbf16>) -> tensor<1x10x10x32xbf16> {
  %0 = "ttir.max_pool2d"(%arg0) <{kernel = array<i32: 1, 1>, stride = array<i32: 1, 1>, dilation = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>, ceil_mode = false}> : (tensor<1x8x8x32xbf16>) -> tensor<1x10x10x32xbf16>
  return %0 : tensor<1x10x10x32xbf16>
}
"""  # noqa: E501
    + STEPS[STEPS.index("func.func @product") :]
)
AVERAGE = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @average(%arg0: tensor<1x8x8x32xbf16>) -> tensor<1x6x6x32xbf16> {
  %0 = "ttir.avg_pool2d"(%arg0) <{kernel = array<i32: 2, 2>, stride = array<i32: 1, 1>, dilation = array<i32: 2, 2>, padding = array<i32: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = true}> : (tensor<1x8x8x32xbf16>) -> tensor<1x6x6x32xbf16>
  return %0 : tensor<1x6x6x32xbf16>
}
"""  # noqa: E501


def test_operator_refusal_does_not_hide_wrong_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pool.mlir"
    path.write_text(POOL)
    with pytest.raises(Refused, match=r"ttnn\.max_pool2d: .*padding \[1, 1\] is more than half of the kernel size"):
        execute_file(path, "pool.mlir", "", "", "2026-08")
    original = prepared.public
    monkeypatch.setattr(prepared, "public", lambda name: original(name.replace("multiply", "add")))
    with pytest.raises(AssertionError, match="product, output 0: distance"):
        execute_file(path, "pool.mlir", "", "", "2026-08")


def test_pass_refusals_are_not_failures(tmp_path: Path) -> None:
    path = tmp_path / "average.mlir"
    path.write_text(AVERAGE)
    with pytest.raises(Refused, match=r"'ttir\.avg_pool2d' op only supports lowering to TTNN for dilation"):
        execute_file(path, "average.mlir", "", "", "2026-08")
    with pytest.raises(AssertionError, match="a tensor without layout has no binary form"):
        execute_file(path, "average.mlir", "", "nothing", "2026-08")


def test_refusal_messages_are_distinguished_from_failures() -> None:
    refusals = (
        "a.mlir:3:10: error: 'ttir.conv3d' op cannot be lowered with groups: ttnn.conv3d only supports groups == 1",
        "error: program f, operation 0 (TopKRouterGptOp): this operation is not executed: the order of its sums is "
        "not known, and TT-NN does not have a description of it.",
        "error: program f, operation 8 (AdamWOp): this operation is not executed: it is an operator of the training "
        "library ttml, which TT-NN does not have.",
    )
    for text in refusals:
        with pytest.raises(Refused, match=r"groups == 1|TT-NN does not have"):
            finished("tool", 1, text)
    for text in (
        "error: program f, operation 8 (OtherOp): this operation is not executed. There are AddOp, SubtractOp.",
        "a.mlir:3:10: error: 'ttnn.to_tensor_spec' op Redundant ttnn::ToLayoutOp",
    ):
        with pytest.raises(AssertionError, match="tool: "):
            finished("tool", 1, text)
    finished("tool", 0, refusals[0])


ATTENTION = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="enable-ttnn-decomposition-pass=false" %s > %t.mlir
func.func @window(%q: tensor<1x2x1x32xbf16>, %k: tensor<1x2x32x32xbf16>, %v: tensor<1x2x32x32xbf16>)
    -> tensor<1x2x1x32xbf16> {
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = false, sliding_window_size = 4 : ui32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
    : (tensor<1x2x1x32xbf16>, tensor<1x2x32x32xbf16>, tensor<1x2x32x32xbf16>) -> tensor<1x2x1x32xbf16>
  return %0 : tensor<1x2x1x32xbf16>
}
func.func @chunk(
    %q: tensor<1x2x32x32xbf16>, %k: tensor<4x2x32x32xbf16>, %v: tensor<4x2x32x32xbf16>, %p: tensor<1x3xi32>,
    %s: tensor<1xi32>) -> tensor<1x2x32x32xbf16> {
  %0 = ttir.empty() : tensor<1x2x32x32xbf16>
  %1 = "ttir.chunked_scaled_dot_product_attention"(%q, %k, %v, %p, %s, %0) : (tensor<1x2x32x32xbf16>,
    tensor<4x2x32x32xbf16>, tensor<4x2x32x32xbf16>, tensor<1x3xi32>, tensor<1xi32>, tensor<1x2x32x32xbf16>)
    -> tensor<1x2x32x32xbf16>
  return %1 : tensor<1x2x32x32xbf16>
}
func.func @latent(
    %q: tensor<1x1x32x64xbf16>, %k: tensor<2x1x64x64xbf16>, %p: tensor<1x8xui32>, %c: tensor<1xsi32>)
    -> tensor<1x1x32x32xbf16> {
  %0 = "ttir.paged_flash_multi_latent_attention_decode"(%q, %k, %p, %c) <{head_dim_v = 32 : ui32, is_causal = true,
    operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1, 0>}>
    : (tensor<1x1x32x64xbf16>, tensor<2x1x64x64xbf16>, tensor<1x8xui32>, tensor<1xsi32>) -> tensor<1x1x32x32xbf16>
  return %0 : tensor<1x1x32x32xbf16>
}
"""


def test_attention_positions_are_within_the_cache_pages(tmp_path: Path) -> None:
    path = tmp_path / "attention.mlir"
    path.write_text(ATTENTION)
    found = chosen(parse_module(ATTENTION, default_version="2026-08"))
    assert found["chunk", 4] == 32
    assert 0 <= found["latent", 3] < 128
    assert execute_file(path, "attention.mlir", "", "", "2026-08") == 3
    with controlled("zeros"), pytest.raises(AssertionError, match=r"window, output 0: distance 1\.000"):
        execute_file(path, "attention.mlir", "", "zeros", "2026-08")


NOTHING = """func.func @none(
    %arg0: tensor<32x32xf32>, %arg1: tensor<0x32xi32>, %arg2: tensor<0x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.scatter"(%arg0, %arg1, %arg2) <{dim = 0 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}>
    : (tensor<32x32xf32>, tensor<0x32xi32>, tensor<0x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
"""


def test_empty_index_inputs_are_chosen() -> None:
    assert chosen(parse_module(NOTHING, default_version="2026-08"))["none", 1].shape == (0, 32)


COORDINATES = """
func.func @flat(%arg0: tensor<15xf32>, %arg1: tensor<4x2xi32>, %arg2: tensor<4xf32>) -> tensor<15xf32> {
  %0 = "ttir.slice_static"(%arg1) <{begins = [0: i32, 0: i32], ends = [4: i32, 1: i32], step = [1: i32, 1: i32]}> : (tensor<4x2xi32>) -> tensor<4x1xi32>
  %1 = "ttir.full"() <{fill_value = 5 : i32, shape = array<i32: 4, 1>}> : () -> tensor<4x1xi32>
  %2 = "ttir.multiply"(%0, %1) : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %3 = "ttir.slice_static"(%arg1) <{begins = [0: i32, 1: i32], ends = [4: i32, 2: i32], step = [1: i32, 1: i32]}> : (tensor<4x2xi32>) -> tensor<4x1xi32>
  %4 = "ttir.add"(%2, %3) : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %5 = "ttir.reshape"(%4) <{shape = [4: i32]}> : (tensor<4x1xi32>) -> tensor<4xi32>
  %6 = "ttir.scatter"(%arg0, %5, %arg2) <{dim = 0 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}> : (tensor<15xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<15xf32>
  return %6 : tensor<15xf32>
}
"""  # noqa: E501


def test_coordinate_inputs_point_at_an_element() -> None:
    made = chosen(parse_module(COORDINATES, default_version="2026-08"))["flat", 1]
    assert len(set((made @ [5, 1]).tolist())) == 4
    assert (made >= 0).all()
    assert (made < [3, 5]).all()


def test_functions_that_call_each_other_run_in_one_module() -> None:
    called = STEPS.replace(
        "  return %0 : tensor<64x64xbf16>",
        "%1 = call @backwards(%0) : (tensor<64x64xbf16>) -> tensor<32x64xbf16>\nreturn %0 : tensor<64x64xbf16>",
    )
    assert alone(called, "steps.mlir", "2026-08") == []
    first, second = alone(STEPS, "steps.mlir", "2026-08")
    assert ("@backwards" in first, "@product" in first) == (True, False)
    assert ("@backwards" in second, "@product" in second) == (False, True)


EXPONENTS = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @steep(%arg0: tensor<32x512xbf16>, %arg1: tensor<512x32xbf16>) -> tensor<32x32xbf16> {
  %0 = "ttir.matmul"(%arg0, %arg1) : (tensor<32x512xbf16>, tensor<512x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.exp"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1 : tensor<32x32xbf16>
}
"""


def test_large_exponents_run_again_with_small_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "steep.mlir"
    path.write_text(EXPONENTS)
    assert execute_file(path, "steep.mlir", "", "", "2026-08") == 1
    with controlled("zeros"), pytest.raises(AssertionError, match=r"steep, output 0: distance 1\.000"):
        execute_file(path, "steep.mlir", "", "zeros", "2026-08")
    # What is wrong for small inputs, too, stays wrong.
    original = prepared.public
    monkeypatch.setattr(prepared, "public", lambda name: original(name.replace("ttnn.exp", "ttnn.cos")))
    with pytest.raises(AssertionError, match="steep, output 0"):
        execute_file(path, "steep.mlir", "", "", "2026-08")


def test_nested_modules_with_equal_function_names_all_run() -> None:
    inner = "  module @{} attributes {{mhlo.input_output_alias = []}} {{\n    func.func @main() {{\n    }}\n  }}\n"
    text = "#a = 1\nmodule {\n" + inner.format("one") + inner.format("two") + "}\n"
    assert parts(text) == ["#a = 1\n" + inner.format(name).rstrip("\n") for name in ("one", "two")]
    other = text.replace("func.func @main", "func.func @other", 1)
    assert len(parts(other)) == 1


GATHER = """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @pairs(%arg0: tensor<500x500x32xbf16>, %arg1: tensor<64x2xi32>) -> tensor<64x32xbf16> {
  %0 = ttir.empty() : tensor<64x32xbf16>
  %1 = "ttir.gather"(%arg0, %arg1, %0) <{offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0, 1>, index_vector_dim = 1 : si64, slice_sizes = array<i64: 1, 1, 32>, indices_are_sorted = false}> : (tensor<500x500x32xbf16>, tensor<64x2xi32>, tensor<64x32xbf16>) -> tensor<64x32xbf16>
  return %1 : tensor<64x32xbf16>
}
"""  # noqa: E501


def test_gather_indices_of_2025_10_reach_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "gather.mlir"
    path.write_text(GATHER)
    assert execute_file(path, "gather.mlir", "", "", "2025-10") == 1


def test_emitc_and_emitpy_files_run_the_whole_pipeline(tmp_path: Path) -> None:
    path = tmp_path / "pool.mlir"
    pool = AVERAGE.replace("dilation = array<i32: 2, 2>", "dilation = array<i32: 1, 1>").replace("1x6x6x32", "1x7x7x32")
    line = '--ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%"'
    for options in (
        f"{line} --ttnn-tuplify-tensors --ttnn-create-input-gens",
        "--ttcore-register-device --ttnn-layout",
    ):
        path.write_text(pool.replace(line, options))
        assert execute_file(path, "pool.mlir", "", "", "2026-08") == 1


def test_resource_of_wrong_size_excludes_only_its_function(tmp_path: Path) -> None:
    path = tmp_path / "resource.mlir"
    path.write_text(
        """// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%system_desc_path%" %s > %t.mlir
func.func @short() -> tensor<1x2xf32> {
  %0 = "ttir.constant"() <{value = dense_resource<two> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
func.func @wrong(%arg0: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.exp"(%arg0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
{-#
  dialect_resources: {
    builtin: {
      two: "0x0200000000400040"
    }
  }
#-}
"""
    )
    left_out: list[str] = []
    assert execute_file(path, "resource.mlir", "", "", "2026-08", left_out) == 1
    assert left_out == ["a resource of another size than its type"]
    with controlled("zeros"), pytest.raises(AssertionError, match=r"wrong, output 0: distance 1\.000"):
        execute_file(path, "resource.mlir", "", "zeros", "2026-08")
