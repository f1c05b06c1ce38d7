"""Passes of the dialect `ttnn`: weights of convolutions of volumes, and what composites become."""

from __future__ import annotations

import pytest

from ttnn.compiler.asm import CompileError
from ttnn.compiler.dialects import parse_module, print_module
from ttnn.compiler.passes.options import OptionError
from ttnn.compiler.pipelines import run

CONV = """func.func @f(%x: tensor<1x4x8x8x48xbf16>, %w: tensor<16x48x3x3x3xbf16>) -> tensor<1x2x6x6x16xbf16> {
  %0 = "ttir.conv3d"(%x, %w) <{stride = array<i32: 1, 1, 1>, padding = array<i32: 0, 0, 0>, groups = 1 : i32, \
padding_mode = "zeros"}> : (tensor<1x4x8x8x48xbf16>, tensor<16x48x3x3x3xbf16>) -> tensor<1x2x6x6x16xbf16>
  return %0 : tensor<1x2x6x6x16xbf16>
}
""".replace("\\\n", "")
LOWER = "ttcore-register-device, ttnn-layout, convert-ttir-to-ttnn, ttnn-workaround"


def test_weights_become_a_matrix_of_blocks_in_tiles() -> None:
    module = parse_module(CONV)
    run(module, f"{LOWER}, ttnn-prepare-conv3d-weights")
    (prepared,) = [op for op in module.op.walk() if op.name == "ttnn.prepare_conv3d_weights"]
    (conv,) = [op for op in module.op.walk() if op.name == "ttnn.conv3d"]
    # 48 channels are padded to 64; blocks of 32 end with a tile.
    facts = {name: prepared.get(name) for name in ("groups", "c_in_block", "alignment")}  # type: ignore[attr-defined]
    assert facts == {"groups": 1, "c_in_block": 32, "alignment": 32}
    given, made = prepared.operands[0].type.encoding, prepared.results[0].type  # type: ignore[attr-defined]
    assert (given.space, given.tiled) == ("system_memory", False)
    assert tuple(made.get_shape()) == (27 * 64, 16)  # type: ignore[attr-defined]
    assert (made.encoding.space, made.encoding.tiled) == ("dram", False)  # type: ignore[attr-defined]
    assert conv.operands[1].type.encoding.tiled  # type: ignore[attr-defined]
    before = print_module(module)
    run(module, "ttnn-prepare-conv3d-weights")
    assert print_module(module) == before


def test_a_convolution_without_blocks_is_refused() -> None:
    module = parse_module(CONV)
    run(module, LOWER)
    (conv,) = [op for op in module.op.walk() if op.name == "ttnn.conv3d"]
    del conv.properties["conv3d_config"]
    with pytest.raises(CompileError, match="needs a conv3d_config with c_in_block"):
        run(module, "ttnn-prepare-conv3d-weights")


X, T = "tensor<1x1x32x64xbf16>", "tensor<1x1x64x64xbf16>"
COMPOSITE = f"""func.func @f(%x: {X}, %c: {X}, %s: {X}) -> {X} {{
  %0 = "ttcore.composite"(%x, %c, %s) <{{composite_name = "NAME", decomposition = @d, composite_attributes = {{}}}}> \
: ({X}, {X}, {X}) -> {X}
  return %0 : {X}
}}
func.func private @d(%x: {X}, %c: {X}, %s: {X}) -> {X} {{
  %0 = "ttir.multiply"(%x, %c) : ({X}, {X}) -> {X}
  return %0 : {X}
}}
""".replace("\\\n", "")


@pytest.mark.parametrize(
    ("name", "resolution", "becomes"),
    [
        ("rotary_embedding", "force-promote", "ttnn.rotary_embedding"),
        ("rotary_embedding", "auto", "ttnn.multiply"),
        ("rotary_embedding", "inline", "ttnn.multiply"),
        ("other", "force-promote", "ttnn.multiply"),
    ],
)
def test_what_a_composite_becomes(name: str, resolution: str, becomes: str) -> None:
    module = parse_module(COMPOSITE.replace("NAME", name))
    options = f"composite-resolution={resolution} enable-ttnn-decomposition-pass=false"
    run(module, f"ttir-to-ttnn-backend-pipeline{{{options}}}")
    names = [op.name for op in module.op.walk() if op.name.startswith("ttnn.") and op.name != "ttnn.deallocate"]
    assert names == [becomes]
    assert [function.sym_name.data for function in module.functions()] == ["f"]


def test_other_resolutions_are_refused() -> None:
    with pytest.raises(OptionError, match="auto, inline, validate, force-promote"):
        run(parse_module(COMPOSITE.replace("NAME", "other")), "ttnn-resolve-composites{composite-resolution=promote}")
