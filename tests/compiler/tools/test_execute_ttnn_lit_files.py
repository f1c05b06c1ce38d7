"""Public `ttnn` files: float64 reference and executing harness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from testkit import ttir_reference
from testkit.execute_lit_files import Refused, controlled, execute_file
from testkit.lit_files import IllTyped, NotExecuted, alone, rest
from testkit.ttir_inputs import chosen
from testkit.ttir_weights import in_blocks
from testkit.ttnn_completion import complete
from testkit.ttnn_reference import NoReference, interpret, is_typed_as_computed
from ttnn.compiler.pipelines import registry
from ttnn.compiler.versions import parse_module

pytest.importorskip("torch", reason="ttrt makes inputs with torch")
HEAD = """#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xbf16, #host>>
#words = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!tiles = tensor<32x32xbf16, #tiles>
"""
SUM = (
    HEAD
    + """// RUN: ttmlir-opt --canonicalize %s | FileCheck %s
func.func @sum(%arg0: tensor<32x32xbf16, #rows>, %arg1: tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #rows> {
  %0 = "ttnn.to_tensor_spec"(%arg0) : (tensor<32x32xbf16, #rows>) -> tensor<32x32xbf16, #tiles>
  %1 = "ttnn.subtract"(%0, %arg1) : (!tiles, !tiles) -> tensor<32x32xbf16, #tiles>
  %2 = "ttnn.to_tensor_spec"(%1) : (tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %3 = "ttnn.to_tensor_spec"(%2) : (tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #rows>
  return %3 : tensor<32x32xbf16, #rows>
}
"""
)


def execute(path: Path, text: str, control: str = "", left_out: list[str] | None = None) -> int:
    path.write_text(text)
    return execute_file(path, path.name, "", control, "2026-08", left_out)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "library.mlir"


def results(text: str, *inputs: NDArray[np.float64], name: str = "f", weights: str | None = None) -> list[object]:
    module = parse_module(HEAD + text, "a.mlir", default_version="2026-08")
    return list(interpret(module, name, inputs, weights=weights))


def test_ttnn_program_is_correct_and_its_negative_controls_fail(file: Path) -> None:
    assert execute(file, SUM) == 1
    with controlled("zeros"), pytest.raises(AssertionError, match=r"sum, output 0: distance 1\.000"):
        execute(file, SUM, "zeros")
    with pytest.raises(AssertionError, match="sum, output 0: distance"):
        execute(file, SUM, "nothing")


def test_wrong_pass_is_detected(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cse = registry.find("cse")

    def swapped(module: Any) -> None:
        cse(module)
        for op in module.op.walk():
            if op.name == "ttnn.subtract":
                op.operands = list(reversed(op.operands))

    monkeypatch.setitem(registry._generic(), "cse", swapped)
    with pytest.raises(AssertionError, match="sum, output 0: distance"):
        execute(file, SUM.replace("--canonicalize", "--canonicalize --cse"))


def test_missing_device_and_layouts_are_completed() -> None:
    assert rest(SUM, "", ["--ttir-to-ttnn-backend-pipeline"], "") == []
    whole = rest(SUM, "", [], "a.ttsys")
    assert whole[:2] == ["--ttcore-register-device=system-desc-path=a.ttsys", "--ttnn-layout"]
    assert whole[-2:] == ["--ttnn-decompose-layouts", "--ttnn-deallocate"]
    assert "--ttnn-workaround" in whole
    assert "--ttnn-workaround" not in rest(SUM, "#ttcore.device<", ["--ttnn-workaround"], "")
    undefined = ["--ttnn-set-compute-kernel-config=math-fidelity=undefined"]
    assert any("math-fidelity=hifi4" in option for option in rest(SUM, "", undefined, ""))
    with pytest.raises(NotExecuted, match="no program of tensors"):
        rest("emitpy.constant", "", [], "")


TENSOR = "tensor<1x2x64x32xbf16>"
FILLED = f"""// RUN: ttmlir-opt --ttnn-workaround %s | FileCheck %s
func.func @fill(%cache: {TENSOR}, %rows: tensor<1x2x32x32xbf16>, %device: !ttnn.device) {{
  %0 = "ttnn.multiply"(%rows, %rows) : (tensor<1x2x32x32xbf16>, tensor<1x2x32x32xbf16>) -> tensor<1x2x32x32xbf16>
  "ttnn.fill_cache"(%cache, %0) <{{batch_offset = 0 : i32}}> : ({TENSOR}, tensor<1x2x32x32xbf16>) -> ()
  return
}}
"""


def test_tensors_changed_in_place_are_compared(file: Path) -> None:
    assert execute(file, FILLED) == 1
    with controlled("zeros"), pytest.raises(AssertionError, match=r"fill, output 0: distance 1\.000"):
        execute(file, FILLED, "zeros")
    module = parse_module(FILLED, "a.mlir", default_version="2026-08")
    complete(module)
    cache, rows = np.ones((1, 2, 64, 32)), np.full((1, 2, 32, 32), 3.0)
    (made,) = interpret(module, "fill", [cache, rows])
    assert made is not None
    assert (made[:, :, :32] == 9).all()
    assert (made[:, :, 32:] == 1).all()


def test_functions_without_reference_do_not_exclude_the_others(file: Path) -> None:
    random = """func.func @random() -> tensor<32x32xbf16, #tiles> {
  %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %1 = "ttnn.rand"(%0) <{size = #ttnn.shape<32x32>, low = 0.0 : f32, high = 1.0 : f32, seed = 0 : ui32}> : (!ttnn.device) -> tensor<32x32xbf16, #tiles>
  return %1 : tensor<32x32xbf16, #tiles>
}
"""  # noqa: E501
    typed = """func.func @typed(%arg0: tensor<32x32xbf16, #words>) -> tensor<32x32xbf16, #words> {
  %0 = "ttnn.relu"(%arg0) : (tensor<32x32xbf16, #words>) -> tensor<32x32xbf16, #words>
  return %0 : tensor<32x32xbf16, #words>
}
"""
    left_out: list[str] = []
    assert execute(file, SUM + random + typed, left_out=left_out) == 1
    assert left_out == [
        "no reference of values that the program does not define",
        "results of another type than computed",
    ]
    with pytest.raises(NotExecuted, match="values that the program does not define"):
        execute(file, HEAD + "// RUN: ttmlir-opt %s\n" + random)
    with pytest.raises(IllTyped):
        execute(file, HEAD + "// RUN: ttmlir-opt %s\n" + typed)


def test_operands_that_the_operator_rejects_count_as_refused(file: Path) -> None:
    kind = "tensor<1x1x32x32xbf16>"
    text = f"""// RUN: ttmlir-opt %s
func.func @turn(%a: {kind}, %b: {kind}, %c: {kind}) -> {kind} {{
  %0 = "ttnn.rotary_embedding"(%a, %b, %c) : ({kind}, {kind}, {kind}) -> {kind}
  return %0 : {kind}
}}
"""
    with pytest.raises(Refused, match="halves of full tiles need a multiple of 64"):
        execute(file, text)


def test_ttnn_index_inputs_are_valid_indices() -> None:
    text = """func.func @f(%a: tensor<4x8xui32>, %w: tensor<16x32xbf16>, %b: tensor<8x8xf32>) -> tensor<4x8x32xbf16> {
  %0 = "ttnn.to_layout"(%a) : (tensor<4x8xui32>) -> tensor<4x8xui32>
  %1 = "ttnn.embedding"(%0, %w) : (tensor<4x8xui32>, tensor<16x32xbf16>) -> tensor<4x8x32xbf16>
  %2 = "ttnn.typecast"(%b) : (tensor<8x8xf32>) -> tensor<8x8xui32>
  return %1 : tensor<4x8x32xbf16>
}
"""
    found = chosen(parse_module(text, "a.mlir", default_version="2026-08"))
    assert set(found) == {("f", 0), ("f", 2)}
    assert found["f", 0].max() < 16
    assert found["f", 2].min() >= 0


def test_variance_inputs_are_positive() -> None:
    kinds = "(tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>"
    text = f"""func.func @f(%a: tensor<1x4x2x2xf32>, %s: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<1x4x2x2xf32> {{
  %0 = "ttir.batch_norm_inference"(%a, %s, %s, %s, %v) <{{dimension = 1 : i32, epsilon = 1.0e-05 : f32}}> : {kinds}
  return %0 : tensor<1x4x2x2xf32>
}}
"""
    found = chosen(parse_module(text, "a.mlir", default_version="2026-08"))
    assert set(found) == {("f", 2)}
    assert found["f", 2].min() > 0


def test_matmul_with_activation_and_bfp4_weights_matches_the_reference() -> None:
    kinds = "(tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xbf16>"
    text = f"""func.func @f(%a: tensor<4x16xbf16>, %b: tensor<16x16xbf16> {{ttcore.argument_type = #ttcore.argument_type<parameter>}}) -> tensor<4x16xbf16> {{
  %0 = "ttnn.matmul"(%a, %b) <{{transpose_a = false, transpose_b = false, activation = "relu"}}> : {kinds}
  return %0 : tensor<4x16xbf16>
}}
"""  # noqa: E501
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((4, 16)), generator.standard_normal((16, 16))
    np.testing.assert_allclose(results(text, a, b)[0], np.maximum(a @ b, 0))  # type: ignore[arg-type]
    cut = results(text, a, b, weights="bfp_bf4")[0]
    np.testing.assert_allclose(cut, np.maximum(a @ in_blocks(b, 3), 0))  # type: ignore[arg-type]


CONVOLUTION = """func.func @f(%x: tensor<1x1x16x2xbf16>, %w: tensor<3x2x3x3xbf16>, %b: tensor<1x1x1x3xbf16>) -> tensor<1x1x6x3xbf16> {
  %d = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %p = "ttnn.prepare_conv2d_weights"(%w, %d) <{input_memory_config = #ttnn.memory_config<#dram, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, weights_format = "OIHW", batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = true, in_channels = 2 : i32, input_height = 4 : i32, input_width = 4 : i32, kernel_size = array<i32: 3, 3>, out_channels = 3 : i32, padding = array<i32: 1, 0, 0, 0>, stride = array<i32: 1, 1>, input_dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<3x2x3x3xbf16>, !ttnn.device) -> tensor<1x1x18x3xbf16>
  %0 = "ttnn.conv2d"(%x, %p, %b, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 2 : i32, input_height = 4 : i32, input_width = 4 : i32, kernel_size = array<i32: 3, 3>, out_channels = 3 : i32, padding = array<i32: 1, 0, 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x16x2xbf16>, tensor<1x1x18x3xbf16>, tensor<1x1x1x3xbf16>, !ttnn.device) -> tensor<1x1x6x3xbf16>
  return %0 : tensor<1x1x6x3xbf16>
}
"""  # noqa: E501


def test_convolution_with_prepared_weights_matches_the_reference() -> None:
    generator = np.random.default_rng(0)
    x, w, b = (generator.standard_normal(shape) for shape in ((1, 1, 16, 2), (3, 2, 3, 3), (1, 1, 1, 3)))
    image = np.pad(x.reshape(4, 4, 2), ((1, 0), (0, 0), (0, 0)))
    expected = [
        np.einsum("hwc,ochw->o", image[row : row + 3, column : column + 3], w) + b.reshape(-1)
        for row in range(3)
        for column in range(2)
    ]
    (made,) = results(CONVOLUTION, x, w, b)
    np.testing.assert_allclose(np.reshape(made, (6, 3)), expected)  # type: ignore[arg-type]


def test_transposed_convolution_with_wrong_row_count_is_ill_typed() -> None:
    for rows, right in ((36, True), (16, False)):
        text = f"""func.func @f(%x: tensor<1x1x16x2xbf16>, %w: tensor<2x3x3x3xbf16>) -> tensor<1x1x{rows}x3xbf16> {{
  %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 1x1>}}> : () -> !ttnn.device
  %0 = "ttnn.conv_transpose2d"(%x, %w, %d) <{{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 2 : i32, input_height = 4 : i32, input_width = 4 : i32, kernel_size = array<i32: 3, 3>, out_channels = 3 : i32, padding = array<i32: 0, 0>, output_padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}}> : (tensor<1x1x16x2xbf16>, tensor<2x3x3x3xbf16>, !ttnn.device) -> tensor<1x1x{rows}x3xbf16>
  return %0 : tensor<1x1x{rows}x3xbf16>
}}
"""  # noqa: E501
        module = parse_module(text, "a.mlir", default_version="2026-08")
        assert all(map(is_typed_as_computed, module.op.walk())) is right


def test_max_pool_indices_match_the_reference() -> None:
    import torch

    text = """func.func @f(%x: tensor<1x5x6x3xf32>) -> (tensor<1x3x3x3xf32>, tensor<1x3x3x3xi32>) {
  %0 = ttir.empty() : tensor<1x3x3x3xf32>
  %1 = ttir.empty() : tensor<1x3x3x3xi32>
  %2, %3 = "ttir.max_pool2d_with_indices"(%x, %0, %1) <{kernel = array<i32: 3, 3>, stride = array<i32: 2, 2>, dilation = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>, ceil_mode = false}> : (tensor<1x5x6x3xf32>, tensor<1x3x3x3xf32>, tensor<1x3x3x3xi32>) -> (tensor<1x3x3x3xf32>, tensor<1x3x3x3xi32>)
  return %2, %3 : tensor<1x3x3x3xf32>, tensor<1x3x3x3xi32>
}
"""  # noqa: E501
    module = parse_module(text, "a.mlir", default_version="2026-08")
    x = chosen(module)["f", 0]
    assert np.unique(x.reshape(-1, 3), axis=0).shape == (30, 3)
    largest, places = ttir_reference.interpret(module, "f", [x])
    image = torch.from_numpy(x.transpose(0, 3, 1, 2).astype(np.float64))
    expected = torch.nn.functional.max_pool2d(image, 3, 2, 1, return_indices=True)
    np.testing.assert_array_equal(largest.transpose(0, 3, 1, 2), expected[0].numpy())
    np.testing.assert_array_equal(places.transpose(0, 3, 1, 2), expected[1].numpy())


def test_sparse_matmul_matches_the_reference() -> None:
    kinds = "(tensor<2x1x4x8xbf16>, tensor<1x3x8x4xbf16>, tensor<2x1x1x3xbf16>) -> tensor<2x1x1x3x4x4xbf16>"
    text = f"""func.func @f(%a: tensor<2x1x4x8xbf16>, %b: tensor<1x3x8x4xbf16>, %s: tensor<2x1x1x3xbf16>) -> tensor<2x1x1x3x4x4xbf16> {{
  %0 = "ttir.sparse_matmul"(%a, %b, %s) <{{is_input_a_sparse = false, is_input_b_sparse = true}}> : {kinds}
  return %0 : tensor<2x1x1x3x4x4xbf16>
}}
"""  # noqa: E501
    module = parse_module(text, "a.mlir", default_version="2026-08")
    sparsity = chosen(module)["f", 2]
    assert set(sparsity.reshape(-1)) == {0, 1}
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, 1, 4, 8)), generator.standard_normal((1, 3, 8, 4))
    (made,) = ttir_reference.interpret(module, "f", [a, b, sparsity])
    for row, expert in np.ndindex(2, 3):
        product = a[row, 0] @ b[0, expert] * sparsity[row, 0, 0, expert]
        np.testing.assert_allclose(made[row, 0, 0, expert], product)


def test_heads_rotary_and_norm_statistics_match_the_reference() -> None:
    generator = np.random.default_rng(0)
    text = """func.func @f(%x: tensor<1x1x2x16xbf16>) -> (tensor<1x2x2x4xbf16>, tensor<1x2x1x4xbf16>) {
  %q, %k, %v = "ttnn.nlp_create_qkv_heads_decode"(%x) <{num_heads = 2 : ui32, num_kv_heads = 1 : ui32}> : (tensor<1x1x2x16xbf16>) -> (tensor<1x2x2x4xbf16>, tensor<1x2x1x4xbf16>, tensor<1x2x1x4xbf16>)
  return %q, %v : tensor<1x2x2x4xbf16>, tensor<1x2x1x4xbf16>
}
"""  # noqa: E501
    x = generator.standard_normal((1, 1, 2, 16))
    queries, values = results(text, x)
    np.testing.assert_array_equal(queries, x[0, 0, :, :8].reshape(1, 2, 2, 4))  # type: ignore[arg-type]
    np.testing.assert_array_equal(values, x[0, 0, :, 12:].reshape(1, 2, 1, 4))  # type: ignore[arg-type]
    kind = "tensor<1x1x4x8xbf16>"
    turn = f"""func.func @f(%x: {kind}, %c: {kind}, %s: {kind}) -> {kind} {{
  %0 = "ttnn.rotary_embedding"(%x, %c, %s) <{{token_index = 2 : ui32}}> : ({kind}, {kind}, {kind}) -> {kind}
  return %0 : {kind}
}}
"""
    x, c, s = (generator.standard_normal((1, 1, 4, 8)) for _ in range(3))
    turned = np.concatenate([-x[..., 4:], x[..., :4]], axis=-1)
    np.testing.assert_allclose(results(turn, x, c, s)[0], x * c[..., 2:3, :] + turned * s[..., 2:3, :])  # type: ignore[arg-type]
    sums = """func.func @f(%x: tensor<1x1x4x8xbf16>) -> tensor<1x1x4x64xbf16> {
  %0 = "ttnn.layer_norm_pre_all_gather"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x1x4x8xbf16>) -> tensor<1x1x4x64xbf16>
  return %0 : tensor<1x1x4x64xbf16>
}
"""  # noqa: E501
    (made,) = results(sums, x)
    np.testing.assert_allclose(made[..., 0], (x * x).sum(-1))  # type: ignore[index]
    np.testing.assert_allclose(made[..., 32], x.sum(-1))  # type: ignore[index]


def test_programs_with_calls_and_writes_match_the_reference() -> None:
    kind = "tensor<32x32xbf16, #tiles>"
    text = f"""func.func private @const(%a: {kind}) -> {kind} {{
  %0 = "ttnn.add"(%a, %a) : ({kind}, {kind}) -> {kind}
  return %0 : {kind}
}}
func.func private @store(%from: {kind}, %to: {kind}) {{
  "ttnn.copy"(%from, %to) : ({kind}, {kind}) -> ()
  return
}}
func.func @f(%a: {kind}) -> ({kind}, {kind}) {{
  %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 1x1>}}> : () -> !ttnn.device
  %0 = "ttcore.load_cached"(%a) <{{callee = @const}}> : ({kind}) -> {kind}
  %1 = "ttnn.empty"(%d) <{{shape = #ttnn.shape<32x32>}}> : (!ttnn.device) -> {kind}
  %2 = "ttnn.empty"(%d) <{{shape = #ttnn.shape<32x32>}}> : (!ttnn.device) -> {kind}
  call @store(%0, %1) : ({kind}, {kind}) -> ()
  %3 = "ttnn.add"(%2, %0) : ({kind}, {kind}) -> {kind}
  return %1, %3 : {kind}, {kind}
}}
"""
    a = np.arange(1024.0).reshape(32, 32)
    stored, unknown = results(text, a)
    np.testing.assert_array_equal(stored, 2 * a)  # type: ignore[arg-type]
    assert unknown is None


def test_operation_without_reference_is_named() -> None:
    text = """func.func @f(%a: tensor<2x2xbf16>) -> tensor<2x2xbf16> {
  %0 = "ttnn.bitcast_convert"(%a) : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  return %0 : tensor<2x2xbf16>
}
"""
    with pytest.raises(NoReference, match=r"ttnn\.bitcast_convert"):
        results(text, np.zeros((2, 2)))


def test_file_that_reads_a_model_executes_the_model(tmp_path: Path) -> None:
    folder = tmp_path / "ttmlir"
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "exp.mlir").write_text(
        """func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "ttir.exp"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""
    )
    path = folder / "model.mlir"
    path.write_text("// RUN: ttmlir-opt --ttir-to-emitpy-pipeline -o %t.mlir %models/exp.mlir\n")
    assert execute_file(path, path.name, "", "", "2026-08") == 1


def test_generic_program_kernels_have_no_reference_and_stay_in_their_module() -> None:
    text = """func.func private @kernel() attributes {ttkernel.thread = #ttkernel.thread<noc>} {
  return
}
func.func @f(%a: tensor<32x32xf32, #words>) -> tensor<32x32xf32, #words> {
  "ttnn.generic"(%a, %a) <{operandSegmentSizes = array<i32: 2, 0>, program = #ttnn.program<kernels = [#ttnn.read_kernel<symbol_ref = @kernel, core_ranges = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = [], rt_args = []>], cbs = [], semaphores = []>}> : (tensor<32x32xf32, #words>, tensor<32x32xf32, #words>) -> ()
  return %a : tensor<32x32xf32, #words>
}
"""  # noqa: E501
    assert alone(HEAD + text, "a.mlir", "2026-08") == []
    with pytest.raises(NoReference, match=r"ttnn\.generic"):
        results(text, np.zeros((32, 32)))
