"""Regular expressions in `expected-error-re` comments: found, wrong, or without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttnn.compiler.tools import opt

TEXT = """
// expected-error-re @+1 {{%s}}
func.func @f(%%a: tensor<1xnothing>) {
  return
}
"""


@pytest.mark.parametrize("pattern", ["the type{{.*}}elements", "{{t[h]+e.*}} of {{.*}}s"])
def test_matching_expected_error_pattern_passes(tmp_path: Path, pattern: str) -> None:
    assert run(tmp_path, pattern) == 0


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("no_other_{{.*}}", "was not produced"),
        ("{{(}}", "is no regular expression"),
        ("{{((((((([A-Za-z_.% '\"]+)+)+)+)+)+)+)+}}#", "needs more than"),
    ],
)
def test_unmatched_expected_error_pattern_is_named_with_its_line(
    tmp_path: Path, pattern: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttnn.compiler.tools.expectations._SECONDS", 1)
    assert run(tmp_path, pattern) == 1
    said = capsys.readouterr().err
    assert "x.mlir:2: error: " in said
    assert message in said


def run(folder: Path, pattern: str) -> int:
    """Return the exit code of `--verify-diagnostics` on an unknown type.

    It is `ttmlir-opt --verify-diagnostics`.
    """
    path = folder / "x.mlir"
    path.write_text(TEXT % pattern, encoding="utf-8")
    return opt.main(["--verify-diagnostics", str(path)])
