"""The command line of `ttmlir-opt`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testkit.ttir_examples_2024_09 import LOWERED
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.pipelines import run
from ttnn.compiler.tools.opt import main
from ttnn.compiler.versions import parse_module

TEXT = LOWERED["multiply"]


def test_pipeline_lowers_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(TEXT)
    assert main(["--ttir-to-ttnn-backend-pipeline=enable-optimizer=false", str(source), "-o", str(target)]) == 0
    assert '"ttnn.multiply"' in target.read_text()
    assert main(["--pass-pipeline=builtin.module(cse)", str(target), "--mlir-print-local-scope"]) == 0
    assert "#layout" not in capsys.readouterr().out


def test_error_has_a_location_and_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(LOWERED["softmax"].replace("-1 : si32", "2 : si32"))
    assert main([str(source)]) == 1
    message = capsys.readouterr().err
    assert f"{source}:3:8: error: 'ttir.softmax' op Dimension attribute must be within the bounds" in message
    assert message.splitlines()[1].strip().startswith('%1 = "ttir.softmax"')
    assert message.splitlines()[2] == "       ^"


def test_split_input_file_runs_each_part_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.mlir"
    source.write_text('"ttir.x"() : () -> ()\n// -----\n"ttir.y"() : () -> (\n// -----\n"ttir.z"() : () -> ()\n')
    assert main(["--split-input-file", str(source)]) == 1
    out = capsys.readouterr()
    assert out.err.startswith(f"{source}:")
    assert [word in out.out for word in ("ttir.x", "ttir.y", "ttir.z")] == [True, False, True]


def test_verify_diagnostics_compares_expected_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.mlir"
    wrong = LOWERED["softmax"].replace("-1 : si32", "2 : si32")
    comment = "  // expected-error@+1 {{within the bounds}}\n  %1 ="
    source.write_text(wrong.replace("  %1 =", comment))
    assert main(["--verify-diagnostics", str(source)]) == 0
    source.write_text(wrong.replace("  %1 =", comment.replace("bounds", "moon")))
    assert main(["--verify-diagnostics", str(source)]) == 1
    assert "unexpected error" in capsys.readouterr().err
    source.write_text(TEXT.replace("  %1 =", comment))
    assert main(["--verify-diagnostics", str(source)]) == 1
    assert "was not produced" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--no-such-pass"], ["--emit-version=2030"], ["a", "b"], ["-o"], ["no-such-file"]]
)
def test_wrong_command_line_prints_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("tool", "entry"), [("ttmlir-opt", "ttmlir._launch:opt"), ("ttmlir-translate", "ttmlir._translate:main")]
)
def test_unwritable_output_prints_one_line(tool: str, entry: str, tmp_path: Path) -> None:
    source = tmp_path / "a.mlir"
    source.write_text(TEXT)
    arguments = [] if tool == "ttmlir-opt" else ["--mlir-to-cpp"]
    if tool == "ttmlir-translate":
        lowered = tmp_path / "b.mlir"
        assert main(["--ttir-to-ttnn-backend-pipeline", str(source), "-o", str(lowered)]) == 0
        source = lowered
    module, _, function = entry.partition(":")
    program = f"import sys; from {module} import {function}; sys.exit({function}())"
    command = [sys.executable, "-c", program, *arguments, str(source)]
    done = subprocess.run([*command, "-o", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{tool}: {tmp_path} cannot be written: Is a directory\n"
    # A reader that has gone, as `| head` does, needs no word.
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {", "expected an operation, the label of a block or '}'"),
        ("module {}}", "expected an operation"),
        ("func.func @f(%a: tensor<4xf33>) { return }", "expected the type of elements"),
        ("func.func @f() { return %a }", "expected ':'"),
    ],
)
def test_syntax_errors_name_what_was_expected(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.mlir"
    source.write_text(text)
    assert main([str(source)]) == 1
    assert f": error: {message}\n" in capsys.readouterr().err


def test_help_imports_no_ir_modules() -> None:
    # Their objects take longer to import than anyone wants to wait for a list of options.
    program = (
        "import sys; sys.argv = ['ttmlir-opt', '--help']; from ttmlir._launch import opt\n"
        "try: opt()\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "--ttir-to-ttnn-backend-pipeline" in done.stdout
    assert "ttnn.compiler.pipelines.passes" in done.stderr.split()
    assert not {"xdsl", "numpy", "ttnn.compiler.ir"} & set(done.stderr.split())


def test_show_dialects_lists_the_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show-dialects"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Available Dialects:"
    assert {"arith", "builtin", "emitc", "func", "scf", "tensor", "tt", "ttir", "ttkernel", "ttmetal", "ttnn"} <= set(
        lines
    )


def test_ttmetal_pipeline_of_the_later_versions_is_refused() -> None:
    text = """func.func @f(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "ttir.exp"(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""
    with pytest.raises(UnsupportedError, match="uses the dialect d2m"):
        run(parse_module(text), "ttir-to-ttmetal-pipeline{ttnn-mode=false}")
