"""Language versions: names, ranges, and conversion of text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttnn.compiler.dialects.spec import find, text_of
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
