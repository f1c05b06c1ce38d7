"""Passes of dialect `ttnn`: volume convolution weights and composites."""

from __future__ import annotations

import pytest

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir import CompileError
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.pipelines import run
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.versions import parse_module, print_module

CONV = """func.func @f(%x: tensor<1x4x8x8x48xbf16>, %w: tensor<16x48x3x3x3xbf16>) -> tensor<1x2x6x6x16xbf16> {
  %0 = "ttir.conv3d"(%x, %w) <{stride = array<i32: 1, 1, 1>, padding = array<i32: 0, 0, 0>, groups = 1 : i32, \
padding_mode = "zeros"}> : (tensor<1x4x8x8x48xbf16>, tensor<16x48x3x3x3xbf16>) -> tensor<1x2x6x6x16xbf16>
  return %0 : tensor<1x2x6x6x16xbf16>
}
""".replace("\\\n", "")
LOWER = "ttcore-register-device, ttnn-layout, convert-ttir-to-ttnn, ttnn-workaround"


def test_conv3d_weights_become_a_tiled_block_matrix() -> None:
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


def test_conv3d_without_blocks_is_refused() -> None:
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
def test_composite_resolution_options_select_the_result(name: str, resolution: str, becomes: str) -> None:
    module = parse_module(COMPOSITE.replace("NAME", name))
    options = f"composite-resolution={resolution} enable-ttnn-decomposition-pass=false"
    run(module, f"ttir-to-ttnn-backend-pipeline{{{options}}}")
    names = [op.name for op in module.op.walk() if op.name.startswith("ttnn.") and op.name != "ttnn.deallocate"]
    assert names == [becomes]
    assert [function.sym_name.data for function in module.functions()] == ["f"]


def test_unknown_composite_resolutions_are_refused() -> None:
    with pytest.raises(OptionError, match="auto, inline, validate, force-promote"):
        run(parse_module(COMPOSITE.replace("NAME", "other")), "ttnn-resolve-composites{composite-resolution=promote}")


def types(*kinds: str) -> str:
    return ", ".join(f"tensor<{kind}>" for kind in kinds)


def chain(name: str, left: str, right: str, element: str, *, exchanged: bool = True) -> str:
    """Return a product whose result, `%name`, two chips exchange."""
    wide, half = f"32x64x{element}", f"32x32x{element}"
    made = (
        f'%p{name} = "ttnn.matmul"(%{left}, %{right}) : ({types(wide, f"64x64x{element}")}) -> {types(wide)}\n'
        f'%v{name} = "ttnn.reshape"(%p{name}) <{{shape = [32 : i32, 64 : i32]}}> : ({types(wide)}) -> {types(wide)}\n'
    )
    if not exchanged:
        return made.replace(f"%v{name} =", f"%{name} =")
    return made + (
        f'%s{name} = "ttnn.reduce_scatter"(%v{name}) <{{cluster_axis = 1 : ui32, scatter_dim = 1 : si32, '
        f"reduce_type = #ttcore.reduce_type<sum>}}> : ({types(wide)}) -> {types(half)}\n"
        f'%{name} = "ttnn.all_gather"(%s{name}) <{{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}}> '
        f": ({types(half)}) -> {types(wide)}\n"
    )


def lowered(body: str, element: str = "bf16") -> tuple[list[str], list[str]]:
    """Return the operations with results in bfp_bf8, and the others."""
    wide = f"32x64x{element}"
    arguments = f"%x: {types(wide)}, %r: {types(wide)}, " + ", ".join(
        f"%{one}: {types(f'64x64x{element}')}" for one in ("a", "b", "c")
    )
    text = f"func.func @f({arguments}) -> {types(wide)} {{\n{body}return %out : {types(wide)}\n}}\n"
    module = parse_module(text, version="2026-08")
    run(module, "ttnn-ccl-activation-dtype-lowering")
    assert print_module(parse_module(print_module(module), version="2026-08")) == print_module(module)
    changed: list[str] = []
    kept: list[str] = []
    for op in module.op.walk():
        if isinstance(op, TableOp):
            into = changed if "bfp_bf8" in attribute_text(op.results[0].type) else kept
            into.append(op.name.removeprefix("ttnn."))
    return changed, kept


def binary(name: str, result: str, left: str, right: str, element: str = "bf16") -> str:
    wide = f"32x64x{element}"
    return f'%{result} = "ttnn.{name}"(%{left}, %{right}) : ({types(wide, wide)}) -> {types(wide)}\n'


CHAIN = ["matmul", "reshape", "reduce_scatter", "all_gather"]


def test_reduce_scatter_of_a_projection_uses_bfp8_up_to_the_residual() -> None:
    assert lowered(chain("y", "x", "a", "bf16") + binary("add", "out", "r", "y")) == (CHAIN, ["add"])


@pytest.mark.parametrize("activated", [True, False])
def test_all_gather_of_a_gated_activation_uses_bfp8(activated: bool) -> None:
    wide = "32x64xbf16"
    silu = f'%z = "ttnn.silu"(%y) : ({types(wide)}) -> {types(wide)}\n' if activated else ""
    body = chain("y", "x", "a", "bf16") + silu + chain("w", "x", "b", "bf16")
    body += binary("multiply", "g", "z" if activated else "y", "w") + chain("q", "g", "c", "bf16")
    changed, kept = lowered(body + binary("add", "out", "q", "r"))
    assert changed == [*CHAIN, *(["silu"] if activated else []), *CHAIN, "multiply", *CHAIN]
    assert kept == ["add"]


@pytest.mark.parametrize(
    ("body", "element"),
    [
        (chain("out", "x", "a", "bf16"), "bf16"),
        (chain("y", "x", "a", "f32") + binary("add", "out", "y", "r", "f32"), "f32"),
        (chain("y", "x", "a", "bf16", exchanged=False) + binary("add", "out", "y", "r"), "bf16"),
        (chain("y", "x", "a", "bf16") + binary("multiply", "out", "y", "r"), "bf16"),
        (chain("y", "x", "a", "bf16") + binary("add", "out", "y", "y"), "bf16"),
    ],
)
def test_other_collectives_keep_their_data_type(body: str, element: str) -> None:
    assert lowered(body, element)[0] == []


def test_gate_with_other_users_keeps_its_data_type() -> None:
    body = chain("y", "x", "a", "bf16") + chain("w", "x", "b", "bf16") + binary("multiply", "g", "y", "w")
    body += chain("q", "g", "c", "bf16") + binary("add", "h", "q", "r") + binary("multiply", "out", "h", "g")
    changed, kept = lowered(body)
    assert changed == CHAIN
    assert kept == [*CHAIN, *CHAIN, "multiply", "add", "multiply"]


def test_activation_dtype_option_exists_only_in_2026_08() -> None:
    option = "ttir-to-ttnn-backend-pipeline{enable-activation-dtype-lowering=true}"
    run(parse_module(CONV), option)
    with pytest.raises(UnsupportedError, match="one of 2026-08"):
        run(parse_module(CONV, version="2025-10"), option)
