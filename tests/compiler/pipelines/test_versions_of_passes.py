"""Passes and pipelines on modules of each version.

Each applies, or one diagnostic says that it does not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from testkit.ttir_examples import EXAMPLES
from testkit.ttir_examples_2024_09 import TTIR
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.ir import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.pipelines.catalog import PIPELINES
from ttnn.compiler.pipelines.passes import PASSES
from ttnn.compiler.tools.opt import main
from ttnn.compiler.version import VERSIONS, Version, span
from ttnn.compiler.versions import parse_module, print_module

VERSIONS_OF = {name: one.versions for name, one in PASSES.items()} | {
    name: span(one.versions) for name, one in PIPELINES.items()
}
KERNEL = """func.func @k() attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  %0 = arith.constant 1 : i32
  return
}
"""


@cache
def texts(version: Version) -> tuple[str, ...]:
    """Return a version's modules.

    Tensor operations, calls of `ttnn`, a kernel and no operation.
    """
    tensors = TTIR["multiply"] if version == "2024-09" else print_module(parse_module(EXAMPLES["add"]), version=version)
    module = read(tensors, version)
    run(module, "ttir-to-ttnn-backend-pipeline")
    return tensors, print_module(module), KERNEL, "module {}\n"


def read(text: str, version: Version) -> Module:
    """Return a module of the version, even if its text is neutral."""
    return parse_module(text, "m.mlir", version=version)


def messages(module: Module, pipeline: str) -> list[str]:
    """Return what a pipeline says against a module."""
    try:
        run(module, pipeline)
    except CompileError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    except UnsupportedError as error:
        return [str(error)]
    return []


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version)
@pytest.mark.parametrize("name", VERSIONS_OF)
def test_pass_applies_to_a_version_or_raises(
    name: str, version: Version, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # one of them writes a file
    for text in texts(version):
        module = read(text, version)
        before = print_module(module)
        if version in VERSIONS_OF[name]:
            assert "applies to" not in ", ".join(messages(module, name))
            print_module(module)
            continue
        with pytest.raises(CompileError) as raised:
            run(module, name)
        (diagnostic,) = raised.value.diagnostics
        kind = "pass" if name in PASSES else "pipeline"
        assert f"{kind} '{name}' applies to modules of version" in diagnostic.message
        assert f"{' and '.join(VERSIONS_OF[name])}, and this one is of version {version};" in diagnostic.message
        assert diagnostic.file == "m.mlir"
        assert diagnostic.source_line is not None
        assert diagnostic.source_line.startswith("module") or diagnostic.line == 1
        assert print_module(module) == before


@pytest.mark.parametrize("name", VERSIONS_OF)
def test_every_pass_accepts_modules_of_its_versions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if name == "ttir-to-ttmetal-pipeline":
        pytest.skip("always refused")
    for version in VERSIONS:
        if version not in VERSIONS_OF[name]:
            continue
        assert any(not messages(read(text, version), name) for text in texts(version)), version


def test_emitc_of_2024_09_programs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "a.mlir"
    source.write_text(KERNEL)
    assert main(["--default-epoch=book", "--convert-ttnn-to-emitc", str(source)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        f"{source}:1:1: error: pass 'convert-ttnn-to-emitc' applies to modules of versions 2025-10 and 2026-08, "
        "and this one is of version 2024-09"
    )


def test_help_lists_the_versions_of_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("--ttir-layout " in line and line.endswith("Versions: 2024-09.") for line in lines)
    assert any("--cse " in line and "Versions" not in line for line in lines)
