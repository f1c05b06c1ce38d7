"""The text form: reading and writing are inverse."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ttmlir._translate import main as translate_main
from ttnn.compiler.ir import CompileError, DenseAttr, location_name
from ttnn.compiler.ir.attributes import float_text
from ttnn.compiler.version import VERSIONS
from ttnn.compiler.versions import parse_module, print_module

ADD = """
#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
module attributes {} {
  func.func @f(%a: tensor<96x160xbf16>, %b: tensor<160xbf16>) -> tensor<96x160xbf16> {
    %0 = tensor.empty() : tensor<96x160xbf16>
    %1 = "ttir.subtract"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>,
        operand_constraints = [#any_device, #any_device, #any_device]}>
        : (tensor<96x160xbf16>, tensor<160xbf16>, tensor<96x160xbf16>) -> tensor<96x160xbf16>
    return %1 : tensor<96x160xbf16>
  }
}
"""


def again(text: str, **options: bool) -> str:
    """Return the text of a module that was read from a text."""
    return print_module(parse_module(text, allow_unregistered=True), **options)


def settled(text: str, **options: bool) -> str:
    """Return the written text after checking that it is read as itself."""
    once = again(text, **options)
    assert again(once, **options) == once
    return once


def test_output_operands_are_removed_on_read_and_restored_on_write() -> None:
    module = parse_module(ADD)
    assert module.version == "2024-09"
    subtract = next(op for op in module.op.walk() if op.name == "ttir.subtract")
    assert len(subtract.operands) == 2
    assert not [op for op in module.op.walk() if op.name == "tensor.empty"]
    text = settled(ADD)
    assert "%0 = tensor.empty() : tensor<96x160xbf16>" in text
    assert '%1 = "ttir.subtract"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>' in text


OUTPUTS = """module {
  func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = ttir.empty() : tensor<4x4xf32>
    %1 = ttir.empty() : tensor<4x4xf32>
    %2 = "ttir.exp"(%arg0, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "ttir.neg"(%2, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}
"""


def test_empty_outputs_are_restored_at_their_position() -> None:
    assert again(OUTPUTS) == OUTPUTS
    module = parse_module(OUTPUTS)
    exp = next(op for op in module.op.walk() if op.name == "ttir.exp")
    exp.results[0].replace_all_uses_with(exp.operands[0])
    exp.detach()
    exp.erase()
    # What stood before an operation that is gone stands before the one that needs it.
    assert print_module(module).splitlines()[2:4] == [
        "    %0 = ttir.empty() : tensor<4x4xf32>",
        '    %1 = "ttir.neg"(%arg0, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>',
    ]


def test_three_versions_of_a_program_convert_into_each_other() -> None:
    texts = {version: print_module(parse_module(ADD), version=version) for version in VERSIONS}
    assert '"ttir.subtract"(%arg0, %arg1, %0) : (' in texts["2025-10"]
    assert "ttir.empty() : tensor<96x160xbf16>" in texts["2025-10"]
    assert '%0 = "ttir.subtract"(%arg0, %arg1) : (' in texts["2026-08"]
    for version, text in texts.items():
        assert parse_module(text).version == version
        for other in VERSIONS:
            assert print_module(parse_module(text), version=other) == texts[other]


LOCATED = """
#loc = loc("net.py":7:0)
module {
  func.func @f(%arg0: tensor<2x2xf32> loc("net.py":7:0)) -> tensor<2x2xf32> {
    %0 = "ttir.relu"(%arg0) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc(#loc2)
    return %0 : tensor<2x2xf32> loc(#loc3)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("net.py":9:4)
#loc2 = loc("relu_1"(#loc1))
#loc3 = loc(fused["net.py":1:2, callsite(#loc1 at #loc)])
"""


def test_attributes_of_another_version_are_refused() -> None:
    text = """func.func @f() -> tensor<4x4xbf16> {
      %0 = "ttir.rand"() <{size = [4 : i32, 4 : i32]}> : () -> tensor<4x4xbf16>
      return %0 : tensor<4x4xbf16>
    }"""
    module = parse_module(text, default_version="2026-08")
    message = "'ttir.rand' op cannot be written in version 2025-10: it requires attribute 'dtype'"
    with pytest.raises(CompileError, match=message) as caught:
        print_module(module, version="2025-10")
    assert caught.value.diagnostics[0].line == 2


def test_locations_may_be_named_before_their_definition() -> None:
    module = parse_module(LOCATED)
    relu = next(op for op in module.op.walk() if op.name == "ttir.relu")
    assert location_name(relu) == "relu_1"
    text = settled(LOCATED, debuginfo=True)
    assert text.startswith("#loc")
    assert 'loc("relu_1"(#loc' in text
    assert text.index("module") < text.index('loc("relu_1"(#loc')
    assert "loc(" not in again(LOCATED)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("dense<1.5> : tensor<4xf32>", "dense<1.500000e+00> : tensor<4xf32>"),
        ("dense<[1.0, 2.0]> : tensor<2xf32>", "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>"),
        ("dense<0.1> : tensor<2xf32>", "dense<1.000000e-01> : tensor<2xf32>"),
        ("dense<3.14159274> : tensor<2xf32>", "dense<3.14159274> : tensor<2xf32>"),
        ("dense<0xFF800000> : tensor<2xf32>", "dense<0xFF800000> : tensor<2xf32>"),
        ("dense<[0x7F800000, 1.0]> : tensor<2xf32>", "dense<[0x7F800000, 1.000000e+00]> : tensor<2xf32>"),
        ("dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>", "dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>"),
        ("dense<true> : tensor<2xi1>", "dense<true> : tensor<2xi1>"),
        ("dense<> : tensor<0xf32>", "dense<> : tensor<0xf32>"),
        ('dense<"0x0000803F"> : tensor<8xf32>', 'dense<"0x0000803F"> : tensor<8xf32>'),
        ("dense<0.3333> : tensor<2xbf16>", "dense<3.339840e-01> : tensor<2xbf16>"),
        ("3: si32", "3 : si32"),
        ("array<i32: 2, 1>", "array<i32: 2, 1>"),
        ("array<i1: true>", "array<i1: true>"),
        ('[0 : i32, unit, "a\\22"]', '[0 : i32, unit, "a\\22"]'),
        ("1.0e-7 : f32", "1.000000e-07 : f32"),
        ("affine_map<(d0, d1) -> ((d0 floordiv 8) * 2 + d1 floordiv 8)>", "#map"),
        ('#u.x<a, [b<c>], "d>">', '#u.x<a, [b<c>], "d>">'),
        ("!u.y<?>", "!u.y<?>"),
        ("tensor<*xf32>", "tensor<*xf32>"),
        ("memref<2x4x!tt.tile<32 x 32, bf16>, #tt.memory_space<l1>>", "memref<2x4x!tt.tile<32x32, bf16>, #l1_>"),
        ("memref<4x4xf32, strided<[8, 1], offset: 2>, 1>", "memref<4x4xf32, strided<[8, 1], offset: 2>, 1 : i64>"),
        ("memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>", "memref<4x4xf32, #map>"),
        ("#tt.grid<8x8, (d0, d1) -> (0, d0, d1)>", "#tt.grid<8x8, (d0, d1) -> (0, d0, d1)>"),
        ("#tt.operand_constraint<dram|l1|tile|any_device_tile>", "#any_device_tile"),
        ('@a::@"b c"', '@a::@"b c"'),
    ],
)
def test_attributes_print_in_their_canonical_form(written: str, read: str) -> None:
    text = settled(f'"u.op"() {{value = {written}}} : () -> ()')
    assert f'"u.op"() {{value = {read}}} : () -> ()' in text


def test_affine_expressions_print_with_fewest_parentheses() -> None:
    map_ = "(d0, d1)[s0] -> (d0 * 8 - d1, -d0 + 4, (d0 + d1) mod 8, d0 ceildiv s0, (d0 floordiv 8) * 2 + d1 floordiv 8)"
    assert f"affine_map<{map_}>" in settled(f'"u.op"() {{value = affine_map<{map_}>}} : () -> ()')


def test_alias_names_are_unique_and_derived_from_attributes() -> None:
    text = again(
        '"u.op"() {a = #tt.layout<(d0) -> (d0), undef, <1>, memref<4xf32, #tt.memory_space<l1>>>,'
        " b = #tt.layout<(d0) -> (d0), zero, <1>, memref<4xf32, #tt.memory_space<l1>>>,"
        " c = #tt.iterator_type<parallel>} : () -> ()"
    )
    assert text.splitlines()[:4] == [
        "#l1_ = #tt.memory_space<l1>",
        "#parallel = #tt.iterator_type<parallel>",
        "#layout = #tt.layout<(d0) -> (d0), undef, <1>, memref<4xf32, #l1_>>",
        "#layout1 = #tt.layout<(d0) -> (d0), zero, <1>, memref<4xf32, #l1_>>",
    ]
    local = again('"u.op"() {c = #tt.iterator_type<parallel>} : () -> ()', local_scope=True)
    assert "c = #tt.iterator_type<parallel>" in local


def test_strided_layouts_are_read_as_maps() -> None:
    text = again(
        '"u.op"() {a = #tt.layout<8192x128x1, undef, <1x1>, memref<64x128xf32, #tt.memory_space<l1>>>} : () -> ()'
    )
    assert "#tt.layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), undef, <1x1>" in text


def test_regions_blocks_and_successors_round_trip() -> None:
    text = settled(
        """
        func.func private @g(tensor<2xf32>) -> tensor<2xf32>
        func.func @f(%c: i1, %x: f32) -> f32 {
          "u.cond"(%c, %x)[^a, ^b] : (i1, f32) -> ()
        ^a:
          cf.br ^b(%x : f32)
        ^b(%y: f32):
          %r:2 = "u.two"(%y) ({
          ^bb0(%z: f32):
            "u.yield"(%z) : (f32) -> ()
          }, {}) {k} : (f32) -> (f32, i1)
          return %r#0 : f32
        }
        """
    )
    assert "^bb2(%0: f32):" in text or "^bb2(%arg2: f32):" in text
    assert ':2 = "u.two"' in text
    assert "#0 : f32" in text


def test_resources_round_trip() -> None:
    text = """
    %0 = "ttir.constant"() <{value = dense_resource<blob> : tensor<1xf32>}> : () -> tensor<1xf32>
    {-#
      dialect_resources: { builtin: { blob: "0x040000000000803F" } }
    #-}
    """
    module = parse_module(text)
    assert module.resources == {"builtin": {"blob": bytes.fromhex("040000000000803F")}}
    assert 'blob: "0x040000000000803F"' in settled(text)


def test_large_splat_is_stored_as_one_element() -> None:
    text = '%0 = "ttir.constant"() <{value = dense<1.0> : tensor<10000000xf32>}> : () -> tensor<10000000xf32>'
    parse_module(text)  # imports are not counted
    tracemalloc.start()
    module = parse_module(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    value = (
        next(iter(module.op.walk()))
        and next(op for op in module.op.walk() if op.name == "ttir.constant").properties["value"]
    )
    assert isinstance(value, DenseAttr)
    assert value.splat
    assert len(value.data) == 4
    assert value.to_numpy().shape == (10_000_000,)
    assert peak < 50_000_000


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            'module {\n  %0 = "ttir.relu"(%1) : (tensor<2xf32>) -> tensor<2xf32>\n}\n',
            "f:4:1",
            "values used but not defined",
        ),
        ('"x.y"() : () -> ()', "f:1:1", "unregistered dialect"),
        ('"ttir.relu"() {a = #nothing} : () -> ()', "f:1:20", "undefined symbol alias id 'nothing'"),
        ('"func.return"() {a = dense<[1, [2]]> : tensor<2xi32>} : () -> ()', "f:1:27", "ranks are not consistent"),
        ('"func.return"() {a = dense<1.5> : tensor<2xi32>} : () -> ()', "f:1:27", "expected integer elements"),
        ("#a = #b\n#b = #a\n", "f:2:6", "undefined symbol alias"),
        ("module {", "f:1:9", ""),
        ('"ttir.relu"() {a = #tt.grid<0x8>} : () -> ()', "f:1:", "positive"),
    ],
)
def test_diagnostic_has_file_line_and_column(text: str, place: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        parse_module(text, "f")
    first, *rest = str(error.value).splitlines()
    assert first.startswith(f"{place}"), first
    assert ": error: " in first
    assert message in first
    assert rest[-1].strip() == "^" or not rest
    assert len(error.value.diagnostics) == 1


def test_wrong_dimension_diagnostic_names_the_operation() -> None:
    text = ADD.replace("ttir.subtract", "ttir.softmax").replace("%a, %b, %0", "%a, %0")
    text = text.replace("operandSegmentSizes = array<i32: 2, 1>,", "dimension = 2 : si32,")
    text = text.replace("(tensor<96x160xbf16>, tensor<160xbf16>, tensor", "(tensor<96x160xbf16>, tensor")
    with pytest.raises(CompileError, match="op Dimension attribute must be within the bounds"):
        parse_module(text)


@pytest.mark.parametrize(
    ("value", "element", "text"),
    [
        (0.01, "f32", "0.00999999977"),
        (0.02, "f32", "2.000000e-02"),
        (1e-12, "f32", "9.99999996E-13"),
        (0.1, "f64", "1.000000e-01"),
        (1.0, "bf16", "1.000000e+00"),
        (-0.0, "f32", "-0.000000e+00"),
        (float("inf"), "f32", "0x7F800000"),
    ],
)
def test_floats_print_with_the_digits_of_mlir(value: float, element: str, text: str) -> None:
    assert float_text(value, element) == text


def test_every_wrong_function_reports_its_error() -> None:
    wrong = "func.func @{}(%a: tensor<2xf32>) -> tensor<3xf32> {{ return %a : tensor<2xf32> }}"
    with pytest.raises(CompileError) as error:
        parse_module("\n".join(wrong.format(name) for name in "ab"))
    assert [one.line for one in error.value.diagnostics] == [1, 2]


@pytest.mark.parametrize(
    ("operation", "version"),
    [
        ('"ttnn.argmax"(%a) <{dim = 1 : i32, keep_dim = true, use_multicore = false}>', "2025-10"),
        ('"ttnn.argmax"(%a) <{dim = 1 : si32, keep_dim = true}>', "2026-08"),
        ('"ttnn.argmax"(%a) <{keep_dim = true}>', "2026-08"),
        ('"ttnn.typecast"(%a) <{dtype = #ttcore.supportedDataTypes<f32>}>', "2025-10"),
        # Later, two operands are optional, so that the sizes of groups are stated.
        ('"ttnn.scaled_dot_product_attention"(%a, %a, %a, %a) <{is_causal = false}>', "2025-10"),
        ('"ttnn.moreh_cumsum"(%a) <{dim = 0 : i64}>', "2025-10"),
        ('"ttnn.softmax"(%a) <{dimension = 0 : si32}>', "2026-08"),
    ],
)
def test_version_of_ttnn_text_is_detected(operation: str, version: str) -> None:
    """The lowered text has no `ttir.empty` by which 2025-10 are known otherwise."""
    kinds = ", ".join(["tensor<4xf32>"] * operation.count("%a"))
    text = f"func.func @f(%a: tensor<4xf32>) {{\n  %0 = {operation} : ({kinds}) -> tensor<4xf32>\n  return\n}}"
    assert parse_module(text, verify_module=False).version == version


@pytest.mark.parametrize(("dialect", "expected"), [("ttnn.buffer_type", "#l1 = #ttnn.buffer_type<l1>")])
def test_alias_may_end_in_a_digit(dialect: str, expected: str) -> None:
    layout = f"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x8xf32, #{dialect}<l1>>, <interleaved>>"
    text = f"func.func @f(%a: tensor<4x8xf32, {layout}>) {{\n  return\n}}\n"
    assert expected in print_module(parse_module(text, version="2026-08"))


@pytest.mark.parametrize(("version", "asks"), [("2025-10", False), ("2026-08", True)])
def test_translate_reads_ambiguous_text_as_the_default_version(
    version: str, asks: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The operation is written alike in both; only their rules differ.
    text = """func.func @f(%a: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
      %0 = "ttnn.reshape"(%a) <{shape = [-2 : i32, 4 : i32]}> : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
      return %0 : tensor<4x4xbf16>
    }"""
    (tmp_path / "f.mlir").write_text(text)
    assert translate_main(["--mlir-to-python", f"--default-version={version}", str(tmp_path / "f.mlir")]) == 1
    message = capsys.readouterr().err
    assert ("must be >= 0" in message, "must be positive" in message) == (asks, not asks)


def test_translate_accepts_printing_options(tmp_path: Path) -> None:
    text = "func.func @f(%a: tensor<4x8xf32>) {\n  return\n}\n"
    (tmp_path / "f.mlir").write_text(text)
    line = ["--mlir-to-python", "--mlir-print-local-scope", "-mlir-print-debuginfo", str(tmp_path / "f.mlir")]
    for number in (2, 3):
        # With and without one of them; both end alike, for no layout is given.
        assert translate_main([*line[:number], line[-1]]) == translate_main([line[0], line[-1]])
