"""Names and values that reach C++.

Paths of sources, relative roots, defines, named arguments.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import ttnn
from ttnn import metal
from ttnn.base.exceptions import KernelArgumentError, KernelCompileError
from ttnn.metal import sources
from ttnn.metal.cpp.generated import generated_header
from ttnn.metal.cpp.spec import BRISC, Chip, KernelSettings

CORE = metal.CoreCoord(0, 0)
CHIP = Chip("WORMHOLE", ((0, 1), (0, 2)), ((18, 18), (19, 18)), 32, 16)
PRINTS = '#include "api/debug/dprint.h"\nvoid kernel_main() {{ DPRINT << {} << ENDL(); }}\n'
ODD_NAMES = ['say "hi"', "two\nlines", "back\\slash", "colon:1", "it's", "a b", "$HOME", "#1", "%s", "-x"]


def run(device: ttnn.MeshDevice, source: str | Path, **config: object) -> None:
    program = metal.create_program()
    metal.create_kernel(program, source, CORE, metal.DataMovementConfig(**config))
    metal.run_program(device, program)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_source_and_header_with_any_name_compile(
    device: ttnn.MeshDevice, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "count.h").write_text("constexpr int COUNT = 7;\n")
    source = folder / f"{name}.cpp"
    source.write_text('#include "count.h"\n' + PRINTS.format("COUNT"))
    run(device, source)
    assert capsys.readouterr().out.endswith(": 7\n")


@pytest.mark.parametrize("name", ODD_NAMES)
def test_error_names_a_source_with_any_name(device: ttnn.MeshDevice, tmp_path: Path, name: str) -> None:
    source = tmp_path / f"{name}.cpp"
    source.write_text("void kernel_main() {\n  unknown();\n}\n")
    with pytest.raises(KernelCompileError) as caught:
        run(device, source)
    assert (caught.value.file, caught.value.line) == (str(source), 2)
    source.write_text('#include "dataflow_api.h"\nvoid kernel_main() {\n  cb_push_back(40, 1);\n}\n')
    with pytest.raises(ttnn.KernelError) as raised:
        run(device, source)
    assert (raised.value.file, raised.value.line) == (str(source), 3)


def test_relative_root_names_headers_and_sources(
    device: ttnn.MeshDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project" / "include").mkdir(parents=True)
    (tmp_path / "project" / "include" / "count.h").write_text("constexpr int COUNT = 8;\n")
    (tmp_path / "project" / "kernel.cpp").write_text("#include <include/count.h>\n" + PRINTS.format("COUNT"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "_root", [])
    sources.SetRootDir("project")
    program = metal.create_program()
    metal.create_kernel(program, "kernel.cpp", CORE, metal.DataMovementConfig())
    text = "#include <include/count.h>\n" + PRINTS.format("COUNT")
    metal.create_kernel_from_string(program, text, metal.CoreCoord(1, 0), metal.DataMovementConfig())
    metal.run_program(device, program)
    assert capsys.readouterr().out.count(": 8\n") == 2


VALUES = {
    "plain": ("4 + 5", "VALUE", "9"),
    "carriage_return": ("4\r+\r\n5", "VALUE", "9"),
    "newline": ("4 +\n 5", "VALUE", "9"),
    "line_comment": ("4 // four\n + 5", "VALUE", "9"),
    "comment": ("4 /* four \n */ + 5", "VALUE", "9"),
    "continued_line": ("4 \\\n + 5", "VALUE", "9"),
    "trailing_backslash": ("4 \\", "0\n#define TEXT(x) #x\n<< TEXT(done)", "0done"),
    "marks_in_a_string": ('"/*"', "VALUE << 9", "/*9"),
    "raw_string": ('R"(/* // )"', "VALUE << 9", "/* // 9"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_value_of_a_define_ends_with_its_line(
    device: ttnn.MeshDevice, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    value, used, printed = VALUES[kind]
    (tmp_path / "kernel.cpp").write_text(PRINTS.format(f"{used} << NEXT"))
    run(device, tmp_path / "kernel.cpp", defines={"VALUE": value, "NEXT": '"!"'})
    assert capsys.readouterr().out.endswith(f": {printed}!\n")


@pytest.mark.parametrize(
    ("value", "what"), [("4 /* four", "comment"), ('R"(4', "raw string"), ("4\0", "NUL"), ("/*" * 100_000, "comment")]
)
def test_value_that_does_not_end_is_refused(value: str, what: str) -> None:
    with pytest.raises(KernelArgumentError, match=rf"the value of VALUE .*{what}"):
        generated_header(KernelSettings(BRISC, CHIP, defines={"VALUE": value}))


def test_name_of_a_define_stays_in_its_line() -> None:
    with pytest.raises(KernelArgumentError, match="is not a valid C"):
        generated_header(KernelSettings(BRISC, CHIP, defines={"F(a,\nb)": "1"}))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_named_argument_with_any_name(
    device: ttnn.MeshDevice, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    literal = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    (tmp_path / "kernel.cpp").write_text(PRINTS.format(f'get_named_compile_time_arg_val("{literal}")'))
    run(device, tmp_path / "kernel.cpp", named_compile_args={name: 6})
    assert capsys.readouterr().out.endswith(": 6\n")
