"""Language versions: names, ranges, and conversion of text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.spec import find, text_of
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import registry
from ttnn.compiler.pipelines.passes import PASSES
from ttnn.compiler.tools.bindings.ir import default_version
from ttnn.compiler.tools.opt import main
from ttnn.compiler.version import VERSIONS, Version, span, version_of
from ttnn.compiler.versions import parse_module, print_module

TILES = "memref<1x1x!ttcore.tile<32x32, bf16>, #dram>"
HEAD = f"""#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, {TILES}, <interleaved>>
module {{
  func.func @f(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {{
"""
TAIL = "    return %1 : tensor<32x32xbf16, #ttnn_layout>\n  }\n}\n"
KIND = "tensor<32x32xbf16, #ttnn_layout>"
PLACE = "memory_config = #ttnn.memory_config<#dram, <interleaved>>"
OLD = (
    f'    %0 = "ttnn.abs"(%arg0) <{{{PLACE}}}> : ({KIND}) -> {KIND}\n'
    f'    %1 = "ttnn.add"(%0, %arg0) <{{dtype = #ttcore.supportedDataTypes<bf16>}}> : ({KIND}, {KIND}) -> {KIND}\n'
)
NEW = f'    %0 = "ttnn.abs"(%arg0) : ({KIND}) -> {KIND}\n    %1 = "ttnn.add"(%0, %arg0) : ({KIND}, {KIND}) -> {KIND}\n'


def test_attributes_repeating_the_result_are_only_in_text_of_2025_10() -> None:
    module = parse_module(HEAD + OLD + TAIL)
    assert module.version == "2025-10"
    assert not any("dtype" in op.properties or "memory_config" in op.properties for op in module.op.walk())
    assert print_module(module) == HEAD + OLD + TAIL
    assert print_module(module, version="2026-08") == HEAD + NEW + TAIL


def test_text_of_2026_08_is_downgraded_to_2025_10() -> None:
    module = parse_module(HEAD + NEW + TAIL, version="2026-08")
    written = print_module(module, version="2025-10")
    # Only those that every module of 2025-10 has: data types of sums, not places.
    assert written == HEAD + OLD.replace(f" <{{{PLACE}}}>", "") + TAIL
    assert print_module(parse_module(written, version="2025-10"), version="2026-08") == HEAD + NEW + TAIL


def test_to_layout_of_2026_08_keeps_its_output() -> None:
    text = """module {
  func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xbf16> {
    %0 = ttir.empty() : tensor<4x4xbf16>
    %1 = ttir.to_layout %arg0, %0 : tensor<4x4xf32> into tensor<4x4xbf16> -> tensor<4x4xbf16>
    return %1 : tensor<4x4xbf16>
  }
}
"""
    module = parse_module(text, version="2026-08")
    assert [op.name for op in module.op.walk() if op.name.startswith("ttir.")] == ["ttir.to_layout"]
    assert print_module(module) == text
    assert '%0 = "ttir.empty"() : () -> tensor<4x4xbf16>' in print_module(module, generic=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-10", ("2025-10",)),
        ("2025-10..", ("2025-10", "2026-08")),
        ("..2025-10", ("2024-09", "2025-10")),
        ("..", VERSIONS),
    ],
)
def test_version_spans_are_parsed(text: str, expected: tuple[Version, ...]) -> None:
    assert span(text) == expected


def test_table_fields_apply_to_their_versions() -> None:
    # Operations that differ only in outputs and in what repeats their results are one.
    for name in ("ttir.abs", "ttnn.add"):
        assert find(name, "2025-10") is find(name, "2026-08") is not None
    assert [group.name for group in text_of("ttir.abs", "2025-10").outs] == ["output"]
    assert text_of("ttir.abs", "2026-08").outs == ()
    assert sorted(text_of("ttnn.add", "2025-10").repeated) == ["dtype", "memory_config"]
    assert text_of("ttnn.add", "2026-08").repeated == {}


def ttnn_line(operation: str, operands: int = 1) -> str:
    """Return a module of one operation in 2025-10 or 2026-08."""
    kinds = ", ".join(["tensor<4x4xf32>"] * operands)
    return f"""module {{
  func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {{
    %0 = {operation} : ({kinds}) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }}
}}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            '"ttnn.prod"(%arg0) <{dim_arg = 1 : i64, keep_dim = true}>',
            '"ttnn.prod"(%arg0) <{dim_arg = 1 : si64, keep_dim = true}>',
        ),
        ('"ttnn.moreh_cumsum"(%arg0) <{dim = 0 : i64}>', '"ttnn.cumsum"(%arg0) <{dim = 0 : si32}>'),
        (
            '"ttnn.point_to_point"(%arg0) <{receive_coord = array<i64: 0, 1>, send_coord = array<i64: 0, 0>}>',
            '"ttnn.point_to_point"(%arg0) <{receiver_coord = array<i64: 0, 1>, sender_coord = array<i64: 0, 0>}>',
        ),
        ('"ttnn.to_layout"(%arg0) <{layout = #ttnn.layout<tile>}>', '"ttnn.to_tensor_spec"(%arg0)'),
    ],
)
def test_kinds_and_names_of_2025_10_are_those_of_2026_08_inside(old: str, new: str) -> None:
    module = parse_module(ttnn_line(old), version="2025-10", verify_module=False)
    newest = parse_module(ttnn_line(new), version="2026-08", verify_module=False)
    op, same = (next(one for one in each.op.walk() if isinstance(one, TableOp)) for each in (module, newest))
    assert op.name == same.name
    assert {name: op.properties[name] for name in same.properties} == same.properties
    assert print_module(module) == ttnn_line(old)


CONVOLUTION = """func.func @f(%a: tensor<1x4x4x4xf32>, %b: tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32> {{
  %0 = "ttir.conv2d"(%a, %b) <{{{}, dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}}>
    : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}}
"""


def test_attributes_that_a_version_lacks_are_left_out_if_they_are_the_default() -> None:
    written = print_module(parse_module(CONVOLUTION.format("channel_dim = 3 : i64")), version="2025-10")
    assert "channel_dim" not in written
    module = parse_module(CONVOLUTION.format("channel_dim = 1 : i64, height_dim = 2 : i64, width_dim = 3 : i64"))
    with pytest.raises(CompileError, match=r"has [a-z]+_dim, which does not exist in version 2025-10"):
        print_module(module, version="2025-10")


@pytest.mark.parametrize(("old", "new"), [("book", "2024-09"), ("slides", "2025-10"), ("current", "2026-08")])
def test_names_of_older_releases_are_accepted(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "f.mlir"
    source.write_text("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n")
    outputs = []
    for arguments in ([f"--default-epoch={old}", f"--emit-epoch={old}"], [f"--emit-version={new}"]):
        assert main([*arguments, str(source)]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    monkeypatch.setenv("TTMLIR_DEFAULT_EPOCH", old)
    assert default_version() == version_of(new)
    monkeypatch.setenv("TTMLIR_DEFAULT_VERSION", "2026-08")
    assert default_version() == "2026-08"


def test_every_pass_of_the_table_has_a_function() -> None:
    assert all(callable(registry.find(name)) for name in PASSES)
    assert {name for group in registry._GROUPS for name in group()} == set(PASSES)
