"""Passes and pipelines of 2024-09."""

from __future__ import annotations

import itertools

import pytest

from testkit.ttir_examples_2024_09 import LOWERED, function
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.dialects.attributes import ArgAllocAttr, LayoutAttr
from ttnn.compiler.ir import CompileError, Module, attribute_text
from ttnn.compiler.pipelines import parse_pipeline, run
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.versions import parse_module, print_module

MULTIPLY = function("multiply", ["64x128xf32", "64x128xf32"], "64x128xf32", sizes="2, 1")
DEVICE = "ttir-load-system-desc,ttir-implicit-device"


def ops(module: Module, name: str) -> list[TableOp]:
    """Return the operations of a name."""
    return [op for op in module.op.walk() if isinstance(op, TableOp) and op.name == name]


def layout(op: TableOp) -> LayoutAttr:
    """Return the layout of the result of an operation."""
    encoding = op.results[0].type.encoding  # type: ignore[attr-defined]
    assert isinstance(encoding, LayoutAttr)
    return encoding


def lowered(text: str, pipeline: str) -> Module:
    """Return a module after a pipeline; its text is read as itself."""
    module = parse_module(text)
    run(module, pipeline)
    again = print_module(module)
    assert print_module(parse_module(again)) == again
    return module


def test_layout_brings_operands_to_dram_and_results_back() -> None:
    module = lowered(MULTIPLY, f"{DEVICE},ttir-layout")
    moves = ops(module, "ttir.to_layout")
    assert [layout(op).space for op in moves] == ["dram", "dram", "system"]
    multiply = ops(module, "ttir.multiply")[0]
    assert layout(multiply).mem_layout == "interleaved"
    assert layout(multiply).grid.shape == (1, 1)
    assert not layout(multiply).tiled


def test_layout_options_select_memory_spaces() -> None:
    options = "init-memory-space=l1 default-memory-space=l1 default-device-memory-layout=none"
    module = lowered(MULTIPLY, f"{DEVICE},ttir-layout{{{options}}}")
    assert ops(module, "ttir.to_layout") == []
    assert layout(ops(module, "ttir.multiply")[0]).space == "l1"


def test_layout_tilizes_operands_of_tile_operations() -> None:
    module = lowered(MULTIPLY.replace("any_device>", "any_device_tile>"), f"{DEVICE},ttir-layout")
    assert layout(ops(module, "ttir.multiply")[0]).tiled
    assert attribute_text(layout(ops(module, "ttir.multiply")[0]).memref) == (
        "memref<2x4x!tt.tile<32x32, f32>, #tt.memory_space<dram>>"
    )


def test_layout_refuses_an_unknown_space() -> None:
    with pytest.raises(CompileError, match="expected one of system, mmio, dram, l1, got 'moon'"):
        run(parse_module(MULTIPLY), f"{DEVICE},ttir-layout{{init-memory-space=moon}}")


MAP, GRIDS = "(d0, d1) -> (d0, d1)", {"1x1": "64x128xf32", "2x2": "32x64xf32"}


def at(linear: str = MAP, grid: str = "1x1", tile: str = "", space: str = "l1") -> str:
    """Return a layout."""
    shape = GRIDS[grid]
    if tile:
        shape = {"1x1": "2x4", "2x2": "1x2"}[grid] + f"x!tt.tile<32x32, {tile}>"
    return f"#tt.layout<{linear}, undef, <{grid}>, memref<{shape}, #tt.memory_space<{space}>>, interleaved>"


SPLITS = {
    "linear": (at(), at(linear="(d0, d1) -> (d1, d0)"), 1),
    "grid": (at(), at(grid="2x2"), 1),
    "format": (at(tile="f32"), at(tile="bf16"), 1),
    "space": (at(tile="f32"), at(tile="f32", space="dram"), 1),
    "grid and format": (at(), at(grid="2x2", tile="f32"), 2),
    "grid and space": (at(tile="f32", space="dram"), at(grid="2x2", tile="f32"), 2),
    "grid, format and space": (at(tile="f32", space="dram"), at(grid="2x2"), 3),
}


@pytest.mark.parametrize("name", SPLITS)
def test_split_compound_layout_changes_one_thing_at_a_time(name: str) -> None:
    source, target, count = SPLITS[name]
    text = f"""
    func.func @f(%arg0: tensor<64x128xf32, {source}>) -> tensor<64x128xf32, {target}> {{
      %0 = tensor.empty() : tensor<64x128xf32, {target}>
      %1 = "ttir.to_layout"(%arg0, %0) : (tensor<64x128xf32, {source}>, tensor<64x128xf32, {target}>)
        -> tensor<64x128xf32, {target}>
      return %1 : tensor<64x128xf32, {target}>
    }}
    """
    module = lowered(text, "ttir-split-compound-layout")
    steps = ops(module, "ttir.to_layout")
    assert len(steps) == count
    from ttnn.compiler.transforms.tt.split import changes

    chain = [steps[0].inputs[0].type.encoding, *(layout(op) for op in steps)]  # type: ignore[attr-defined]
    assert all(len(changes(before, after)) == 1 for before, after in itertools.pairwise(chain))
    assert attribute_text(chain[-1]) == target


def test_allocate_gives_live_buffers_disjoint_addresses() -> None:
    text = """
    #l1 = #tt.memory_space<l1>
    #layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x5xf32, #l1>, interleaved>
    #c = #tt.operand_constraint<any_device>
    func.func @f(%a: tensor<33x5xf32, #layout>, %b: tensor<33x5xf32, #layout>) -> tensor<33x5xf32, #layout> {
      %0 = tensor.empty() : tensor<33x5xf32, #layout>
      %1 = "ttir.multiply"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#c, #c, #c]}>
        : (tensor<33x5xf32, #layout>, tensor<33x5xf32, #layout>, tensor<33x5xf32, #layout>) -> tensor<33x5xf32, #layout>
      %2 = tensor.empty() : tensor<33x5xf32, #layout>
      %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#c, #c]}>
        : (tensor<33x5xf32, #layout>, tensor<33x5xf32, #layout>) -> tensor<33x5xf32, #layout>
      return %3 : tensor<33x5xf32, #layout>
    }
    """
    module = lowered(text, f"{DEVICE},ttir-allocate")
    allocs = ops(module, "ttir.alloc")
    function = module.functions()[0]
    arguments = function.attributes["tt.arg_alloc"].data  # type: ignore[attr-defined]
    assert all(isinstance(one, ArgAllocAttr) for one in arguments)
    spans = [(one.address, one.size) for one in arguments] + [(op.get("address"), op.get("size")) for op in allocs]
    assert [size for _, size in spans] == [660] * 4
    assert all(address % 16 == 0 and address >= 1024 for address, _ in spans)
    for (first, size), (second, _) in itertools.pairwise(sorted(spans)):
        assert first + size <= second
    order = [op.name for op in function.walk()]
    # The product is freed after its last use; the result is not.
    assert order.count("ttir.dealloc") == 1
    assert order.index("ttir.dealloc") == order.index("ttir.exp") + 1
    assert not [op for op in module.op.walk() if op.name == "tensor.empty"]


def test_allocate_raises_when_memory_is_full() -> None:
    big = function("exp", ["2048x2048xf32"], "2048x2048xf32", sizes="1, 1")
    options = "init-memory-space=l1 default-memory-space=l1 default-device-memory-layout=none"
    with pytest.raises(CompileError, match="out of memory: 16777216 bytes at 1024 pass the end 1499136 of l1"):
        run(parse_module(big), f"{DEVICE},ttir-layout{{{options}}},ttir-allocate")


@pytest.mark.parametrize("name", ["ttir-generic", "ttir-generic-kernel"])
def test_generic_wraps_elementwise_operations(name: str) -> None:
    module = lowered(MULTIPLY, name)
    (generic,) = ops(module, "ttir.generic")
    inner = [op.name for op in generic.regions[0].ops]
    assert inner == ["ttir.multiply" if name == "ttir-generic" else "ttir.kernel", "ttir.yield"]
    maps = [attribute_text(one) for one in generic.properties["indexing_maps"].data]  # type: ignore[attr-defined]
    assert maps == ["affine_map<(d0, d1) -> (d0, d1)>"] * 3
    assert generic.get("iterator_types") == ("parallel", "parallel")
    assert attribute_text(generic.properties["grid"]) == "#tt.grid<1x1>"


def test_generic_of_a_matmul_has_a_systolic_loop() -> None:
    module = lowered(LOWERED["matmul"], "ttir-generic")
    (generic,) = ops(module, "ttir.generic")
    maps = [attribute_text(one) for one in generic.properties["indexing_maps"].data]  # type: ignore[attr-defined]
    assert maps == [
        "affine_map<(d0, d1, d2) -> (d0, d2)>",
        "affine_map<(d0, d1, d2) -> (d2, d1)>",
        "affine_map<(d0, d1, d2) -> (d0, d1)>",
    ]
    assert generic.get("iterator_types") == ("parallel", "parallel", "systolic")


def test_optimizer_selects_the_largest_grid() -> None:
    module = lowered(MULTIPLY, f"{DEVICE},ttir-layout,ttir-optimizer")
    found = layout(ops(module, "ttir.multiply")[0])
    assert found.grid.shape == (8, 8)
    assert attribute_text(found.memref) == "memref<8x16xf32, #tt.memory_space<dram>>"


NAMED = """
#c = #tt.operand_constraint<any_device>
func.func @main(%a: tensor<1x32x32xf32>, %b: tensor<1x32x32xf32>) -> (tensor<1x32x32xf32>, tensor<1x32x32xf32>) {
  %0 = tensor.empty() : tensor<1x32x32xf32> loc(#l1)
  %1 = "ttir.add"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#c, #c, #c]}>
    : (tensor<1x32x32xf32>, tensor<1x32x32xf32>, tensor<1x32x32xf32>) -> tensor<1x32x32xf32> loc(#l1)
  %2 = tensor.empty() : tensor<1x32x32xf32> loc(#l2)
  %3 = "ttir.add"(%1, %b, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#c, #c, #c]}>
    : (tensor<1x32x32xf32>, tensor<1x32x32xf32>, tensor<1x32x32xf32>) -> tensor<1x32x32xf32> loc(#l2)
  return %1, %3 : tensor<1x32x32xf32>, tensor<1x32x32xf32>
}
#l1 = loc("add_1_0"("f":0:4))
#l2 = loc("add_2_0"("f":0:6))
"""


def test_overrides_find_operations_by_the_names_of_their_locations() -> None:
    module = lowered(NAMED, "ttir-to-ttnn-backend-pipeline{override-grid-sizes=add_1_0=4x4}")
    shards = [attribute_text(layout(op).memref) for op in ops(module, "ttnn.add")]
    assert shards == ["memref<8x8xf32, #tt.memory_space<dram>>", "memref<4x4xf32, #tt.memory_space<dram>>"]
    module = lowered(NAMED, "ttir-to-ttnn-backend-pipeline{override-output-layout=add_2_0=2x2:l1:interleaved}")
    assert layout(ops(module, "ttnn.add")[1]).space == "l1"
    with pytest.raises(OptionError, match="Invalid memory space: moon"):
        run(parse_module(NAMED), "ttir-to-ttnn-backend-pipeline{override-output-layout=add_2_0=2x2:moon:interleaved}")


def test_lowered_multiply_has_the_documented_form() -> None:
    module = lowered(MULTIPLY, "ttir-to-ttnn-backend-pipeline")
    names = [op.name for op in module.functions()[0].walk()][1:]
    assert names == [
        "ttnn.get_device",
        "ttnn.to_layout",
        "ttnn.to_device",
        "ttnn.to_layout",
        "ttnn.to_device",
        "ttnn.empty",
        "ttnn.multiply",
        "ttnn.to_memory_config",
        "func.return",
    ]
    assert ops(module, "ttnn.to_layout")[0].get("layout") == "tile"
    assert ops(module, "ttnn.multiply")[0].outs == tuple(ops(module, "ttnn.empty")[0].results)


def test_ttmetal_pipeline_writes_kernels() -> None:
    module = lowered(function("exp", ["64x128xf32"], "64x128xf32", sizes="1, 1"), "ttir-to-ttmetal-backend-pipeline")
    dispatches = ops(module, "ttmetal.dispatch")
    kernels = [[op.name.partition(".")[2] for op in one.regions[0].ops] for one in dispatches]
    inits = [name for kernel in kernels for name in kernel if name.endswith("_init")]
    assert inits == ["tilize_init", "exp_tile_init", "untilize_init"]
    assert kernels[1].count("exp_tile") == kernels[1].count("pack_tile") == 8


def test_regridding_reads_every_byte_once() -> None:
    source, target = (one.replace(", interleaved", "") for one in (at(tile="f32"), at(grid="2x2", tile="f32")))
    text = f"""
    func.func @f(%arg0: tensor<64x128xf32, {source}>) -> tensor<64x128xf32, {target}> {{
      %0 = tensor.empty() : tensor<64x128xf32, {target}>
      %1 = "ttir.to_layout"(%arg0, %0) : (tensor<64x128xf32, {source}>, tensor<64x128xf32, {target}>)
        -> tensor<64x128xf32, {target}>
      return %1 : tensor<64x128xf32, {target}>
    }}
    """
    module = lowered(text, f"{DEVICE},ttir-allocate,convert-ttir-to-ttmetal")
    (dispatch,) = ops(module, "ttmetal.dispatch")
    assert len(dispatch.regions) == 4
    sizes = [
        op.operands[2].owner.properties["value"].value.data  # type: ignore[union-attr]
        for region in dispatch.regions
        for op in region.ops
        if op.name == "ttkernel.noc_async_read"
    ]
    assert sum(sizes) == 64 * 128 * 4


def test_mesh_larger_than_the_system_is_refused_with_both_numbers() -> None:
    with pytest.raises(CompileError, match=r"a mesh of 2x4 needs 8 chips, the system descriptor has 1"):
        run(parse_module(MULTIPLY), "ttir-to-ttnn-backend-pipeline{mesh-shape=2,4}")


def test_pipeline_text_is_parsed_with_options() -> None:
    steps = parse_pipeline("builtin.module(ttir-layout{init-memory-space=l1 x={a,b}}, func.func(cse, canonicalize))")
    assert steps == [("ttir-layout", "init-memory-space=l1 x={a,b}"), ("cse", ""), ("canonicalize", "")]
    for wrong in ("builtin.module(", "a,,b", "a)", "a{", "no-such-pass"):
        with pytest.raises(OptionError):
            run(parse_module(MULTIPLY), wrong)
    with pytest.raises(OptionError, match="pass cse has no option 'fast'; it has none"):
        run(parse_module(MULTIPLY), "cse{fast=1}")


@pytest.mark.parametrize("option", ["memory-layout-analysis-enabled=true", "optimization-level=2"])
def test_unsupported_pipeline_options_are_refused(option: str) -> None:
    module = parse_module("func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> { return %a : tensor<2x2xf32> }")
    with pytest.raises(UnsupportedError, match=option.partition("=")[0]):
        run(module, f"ttir-to-ttnn-backend-pipeline{{{option}}}")


def test_convolution_with_channels_first_is_permuted() -> None:
    dims = ", ".join(f"{name}_dim = {i} : i64" for i, name in enumerate(("batch", "channel", "height", "width")))
    text = f"""
    func.func @f(%x: tensor<1x3x32x32xbf16>, %w: tensor<8x3x3x3xbf16>) -> tensor<1x8x30x30xbf16> {{
      %0 = "ttir.conv2d"(%x, %w) <{{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32, {dims}}}>
        : (tensor<1x3x32x32xbf16>, tensor<8x3x3x3xbf16>) -> tensor<1x8x30x30xbf16>
      return %0 : tensor<1x8x30x30xbf16>
    }}
    """
    module = parse_module(text)
    run(module, "ttir-to-ttir-decomposition")
    assert [op.name for op in module.op.walk() if op.name.startswith("ttir.")] == [
        "ttir.permute",
        "ttir.conv2d",
        "ttir.permute",
    ]
    assert [op.get("channel_dim") for op in ops(module, "ttir.conv2d")] == [3]


def test_compute_configs_are_completed_and_weights_name_their_format() -> None:
    text = """
    func.func @f(%a: tensor<32x64xbf16>, %b: tensor<64x32xbf16> {ttcore.weight_dtype = "bfp_bf8"})
        -> tensor<32x32xbf16> {
      %0 = "ttir.matmul"(%a, %b) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
      return %0 : tensor<32x32xbf16>
    }
    """
    module = parse_module(text)
    run(module, "ttir-propagate-weight-dtype")
    assert ops(module, "ttir.matmul")[0].attributes["ttcore.weight_dtype"].data == "bfp_bf8"
    module = parse_module(text.replace("ttir.matmul", "ttnn.matmul"))
    run(module, "ttnn-set-compute-kernel-config{math-fidelity=hifi2}")
    config = ops(module, "ttnn.matmul")[0].properties["compute_config"]
    assert (
        attribute_text(config) == "#ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = true>"
    )


def test_argument_types_are_marked() -> None:
    text = "func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) { return }"
    module = parse_module(text)
    run(module, "tt-populate-argument-types{argument-types=f=input,constant}")
    assert "%arg1: tensor<2xf32> {ttcore.argument_type = #ttcore.argument_type<constant>}" in print_module(module)
    for wrong, reason in (("f=input", "Expected: 2 arguments, got: 1"), ("g=input,input", "was not found in module")):
        with pytest.raises(CompileError, match=reason):
            run(parse_module(text), f"tt-populate-argument-types{{argument-types={wrong}}}")


@pytest.mark.parametrize(("number", "made"), [("2.5", "ttnn.full"), ("0.0", "ttnn.empty")])
def test_full_lowers_to_a_constant(number: str, made: str) -> None:
    text = (
        "#any = #tt.operand_constraint<any_device>\nfunc.func @f() -> tensor<64x32xf32> {\n"
        f'  %0 = "ttir.constant"() <{{value = dense<{number}> : tensor<64x32xf32>}}> : () -> tensor<64x32xf32>\n'
        "  return %0 : tensor<64x32xf32>\n}\n"
    )
    module = parse_module(text)
    run(module, "ttir-constant-as-fill")
    assert '"ttir.fill"' in print_module(module)
    run(module, "ttir-to-ttnn-backend-pipeline")
    assert "ttir.fill" not in print_module(module)
    assert f'"{made}"' in print_module(module)
