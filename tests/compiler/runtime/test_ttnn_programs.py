"""Public `ttnn` programs, executed and compared by their harness."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.execute_lit_files import execute_file

pytest.importorskip("torch", reason="ttrt makes inputs with torch")
HEAD = """#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#host = #ttnn.buffer_type<system_memory>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
#numbers = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xsi32, #host>>
"""


@pytest.fixture
def compared(tmp_path: Path) -> Executed:
    return Executed(tmp_path)


class Executed:
    """The number of correct outputs of a text."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "program.mlir"

    def __call__(self, text: str, options: str = "", version: str = "2026-08") -> int:
        self.path.write_text(f"// RUN: ttmlir-opt {options} %s\n{HEAD}{text}")
        return execute_file(self.path, self.path.name, "", "", version)


@pytest.mark.parametrize("version", ["2025-10", "2026-08"])
def test_unsigned_integers_keep_their_type_through_layout_changes(compared: Executed, version: str) -> None:
    """A multi-step type change that ended as si32.

    The function does not return that.
    """
    typecast = ", dtype = #ttcore.supportedDataTypes<si32>" if version == "2025-10" else ""
    word = "to_layout" if version == "2025-10" else "to_tensor_spec"
    memory = f"<{{layout = #ttnn.layout<row_major>{typecast}, memory_config = #ttnn.memory_config<#host>}}>"
    attributes = memory if version == "2025-10" else ""
    text = f"""func.func @cast(%a: tensor<32x32xf32, #tiles>) -> tensor<32x32xi32, #numbers> {{
  %0 = "ttnn.{word}"(%a) {attributes} : (tensor<32x32xf32, #tiles>) -> tensor<32x32xi32, #numbers>
  return %0 : tensor<32x32xi32, #numbers>
}}
"""
    assert compared(text, version=version) == 1


def test_conv3d_weights_on_the_host_stay_there(compared: Executed) -> None:
    """A layout with another index map requested an empty change.

    It is another map than the pass chooses.
    """
    text = """#in = #ttnn.ttnn_layout<(d0, d1, d2, d3, d4) -> (d0 * 64 + d1 * 16 + d2 * 4 + d3, d4), <1x1>, memref<64x32xbf16, #dram>, <interleaved>>
#raw = #ttnn.ttnn_layout<(d0, d1, d2, d3, d4) -> (d0 * 288 + d1 * 9 + d2 * 3 + d3, d4), <1x1>, memref<1152x3xbf16, #host>>
#out = #ttnn.ttnn_layout<(d0, d1, d2, d3, d4) -> (d0 * 8 + d1 * 4 + d2 * 2 + d3, d4), <1x1>, memref<8x32xbf16, #dram>, <interleaved>>
func.func @volume(%x: tensor<1x4x4x4x32xbf16, #in>, %w: tensor<32x32x3x3x3xbf16, #raw>) -> tensor<1x2x2x2x32xbf16, #out> {
  %d = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %0 = "ttnn.conv3d"(%x, %w, %d) <{batch_size = 1 : i32, conv3d_config = #ttnn.conv3d_config<t_out_block = 1, w_out_block = 1, h_out_block = 1, c_out_block = 32, c_in_block = 32, compute_with_storage_grid_size = #ttcore.grid<8x8>>, groups = 1 : i32, in_channels = 32 : i32, input_depth = 4 : i32, input_height = 4 : i32, input_width = 4 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 32 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x4x4x4x32xbf16, #in>, tensor<32x32x3x3x3xbf16, #raw>, !ttnn.device) -> tensor<1x2x2x2x32xbf16, #out>
  return %0 : tensor<1x2x2x2x32xbf16, #out>
}
"""  # noqa: E501
    assert compared(text, "--ttcore-register-device --ttnn-prepare-conv3d-weights") == 1


def test_moved_tensor_outlives_its_deallocated_source(compared: Executed) -> None:
    """`to_device` of a device tensor returns that tensor.

    Freeing the one was freeing the other.
    """
    tile = "tensor<32x32xf32, #tiles>"
    text = f"""func.func @twice(%a: {tile}) -> {tile} {{
  %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 1x1>}}> : () -> !ttnn.device
  %0 = "ttnn.neg"(%a) : ({tile}) -> {tile}
  %1 = "ttnn.to_device"(%0, %d) : ({tile}, !ttnn.device) -> {tile}
  "ttnn.deallocate"(%0) <{{force = false}}> : ({tile}) -> ()
  %2 = "ttnn.exp"(%1) : ({tile}) -> {tile}
  "ttnn.deallocate"(%1) <{{force = false}}> : ({tile}) -> ()
  return %2 : {tile}
}}
"""
    assert compared(text) == 1


@pytest.mark.parametrize(("users", "sharded"), [(1, True), (32, True), (12, False)])
def test_decode_heads_of_all_users_are_concatenated(compared: Executed, users: int, sharded: bool) -> None:
    """`ttnn` assigns a core per user and returns whole tiles.

    It returns the rows of a tile whatever their number.
    """
    shard = f"<1x1>, memref<{users}x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>"
    if sharded:
        corner = (min(users, 8) - 1, users // 8 - 1 if users > 8 else 0)
        ranges = f"#ttnn.core_range_set<[#ttnn.core_range<(0,0), ({corner[0]},{corner[1]})>]>"
        shard = f"<{users}x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>, core_ranges = {ranges}"
    text = f"""#in = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * {32 * users} + d1 * 32 + d2, d3), {shard}>
#out = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<1x8x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @join(%a: tensor<1x{users}x32x32xbf16, #in>) -> tensor<1x1x{users}x256xbf16, #out> {{
  %0 = "ttnn.nlp_concat_heads_decode"(%a) <{{num_heads = 8 : ui32}}> : (tensor<1x{users}x32x32xbf16, #in>) -> tensor<1x1x{users}x256xbf16, #out>
  return %0 : tensor<1x1x{users}x256xbf16, #out>
}}
"""  # noqa: E501
    assert compared(text) == 1


def test_decode_heads_of_some_users_are_selected(compared: Executed) -> None:
    """The first of them is the number in a tensor."""
    text = """#row = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<1x96x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#one = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #dram>, <interleaved>>
#heads = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 256 + d1 * 32 + d2, d3), <8x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>, core_ranges = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (7,0)>]>>
!heads = tensor<1x8x32x32xbf16, #heads>
func.func @slice(%a: tensor<1x1x32x3072xbf16, #row>) -> (!heads, !heads, !heads) {
  %d = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %0 = "ttnn.constant"(%d) <{value = dense<[8]> : tensor<1xui32>}> : (!ttnn.device) -> tensor<1xui32, #one>
  %1, %2, %3 = "ttnn.nlp_create_qkv_heads_decode"(%a, %0) <{num_heads = 32 : ui32, num_kv_heads = 32 : ui32, overlap_qk_coregrid = true, slice_size = 8 : ui32}> : (tensor<1x1x32x3072xbf16, #row>, tensor<1xui32, #one>) -> (!heads, !heads, !heads)
  return %1, %2, %3 : !heads, !heads, !heads
}
"""  # noqa: E501
    assert compared(text) == 3


def test_rms_norm_from_gathered_statistics_matches_the_reference(compared: Executed) -> None:
    def layout(width: int) -> str:
        tiles = f"memref<1x{width // 32}x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>"
        return f"#ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, {tiles}>"

    row, both, one = (f"tensor<1x1x32x{width}xbf16, {layout(width)}>" for width in (128, 64, 32))
    text = f"""func.func @rms(%a: {row}, %b: {row}) -> {one} {{
  %0 = "ttnn.rms_norm_pre_all_gather"(%a, %b) : ({row}, {row}) -> {one}
  return %0 : {one}
}}
func.func @layer(%a: {row}, %w: {row}) -> ({both}, {row}) {{
  %0 = "ttnn.layer_norm_pre_all_gather"(%a) <{{operandSegmentSizes = array<i32: 1, 0, 0>}}> : ({row}) -> {both}
  %1 = "ttnn.layer_norm_post_all_gather"(%a, %0) <{{epsilon = 1.0e-05 : f32, operandSegmentSizes = array<i32: 1, 1, 0, 0>}}> : ({row}, {both}) -> {row}
  return %0, %1 : {both}, {row}
}}
"""  # noqa: E501
    assert compared(text) == 3


def test_tensors_are_dumped_and_loaded(compared: Executed) -> None:
    tile = "tensor<32x32xf32, #tiles>"
    text = f"""func.func @files(%a: {tile}) -> {tile} {{
  %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 1x1>}}> : () -> !ttnn.device
  %0 = "ttnn.neg"(%a) : ({tile}) -> {tile}
  "ttnn.dump_tensor"(%0) <{{file_path = "negative.tensorbin"}}> : ({tile}) -> ()
  %1 = "ttnn.load_tensor"(%d) <{{file_path = "negative.tensorbin"}}> : (!ttnn.device) -> {tile}
  return %1 : {tile}
}}
"""
    assert compared(text) == 1
