"""Compiling untrusted kernels: allowed files only, within limits.

It reads no file that the host program did not name.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ttnn.base.exceptions import KernelCompileError
from ttnn.metal.cpp import compiler, toolchain
from ttnn.metal.cpp.assembly import forbidden_directive
from ttnn.metal.cpp.spec import BRISC, Chip, CppSource, KernelSettings

CHIP = Chip("WORMHOLE", ((0, 1), (0, 2)), ((18, 18), (19, 18)), 32, 16)
NOTHING = "\nvoid kernel_main() {}\n"
SECRET = "topsecret words of the host"


def compiled(text: str, path: Path | None = None, **more: object) -> bytes:
    if path is not None:
        path.write_text(text)
    return compiler.compile_kernel(CppSource(path, text, **more), KernelSettings(BRISC, CHIP)).image  # type: ignore[arg-type]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a file of the host next to the folder `kernels`."""
    (tmp_path / "kernels").mkdir()
    file = tmp_path / "secret.txt"
    file.write_text(SECRET)
    return file


INCLUDES = {
    "absolute": '#include "{0}"',
    "angle_brackets": "#include <{0}>",
    "import": '#import "{0}"',
    "include_next": '#include_next "{0}"',
    "digraph": '%:include "{0}"',
    "continued_line": '#incl\\\nude "{0}"',
    "macro": "#define HEADER <{0}>\n#include HEADER",
    "made_by_the_preprocessor": "#define S(x) #x\n#define T(x) S(x)\n#include T({0})",
    "embed": 'constexpr unsigned char data[] = {{\n#embed "{0}"\n}};',
    "dependency": '#pragma GCC dependency "{0}"',
}


@pytest.mark.parametrize("kind", INCLUDES)
@pytest.mark.parametrize("is_file", [False, True])
def test_header_outside_of_the_named_folders_is_refused(secret: Path, kind: str, is_file: bool) -> None:
    path = secret.parent / "kernels" / "kernel.cpp" if is_file else None
    with pytest.raises(KernelCompileError, match="outside of the folders that the program has named") as caught:
        compiled(INCLUDES[kind].format(secret) + NOTHING, path)
    assert "topsecret" not in str(caught.value)
    assert str(secret) in str(caught.value)


@pytest.mark.parametrize("name", ["../secret.txt", "linked.h"])
def test_path_and_link_that_leave_the_folder_are_refused(secret: Path, name: str) -> None:
    folder = secret.parent / "kernels"
    (folder / "linked.h").symlink_to(secret)
    with pytest.raises(KernelCompileError, match="outside of the folders") as caught:
        compiled(f'#include "{name}"' + NOTHING, folder / "kernel.cpp")
    assert "topsecret" not in str(caught.value)
    assert caught.value.line == 1


def test_source_cannot_ask_whether_a_file_exists(secret: Path) -> None:
    text = f'#if __has_include("{secret}") || __has_embed("{secret}")\n#error it exists\n#endif' + NOTHING
    assert compiled(text)
    assert compiled(text, secret.parent / "kernels" / "kernel.cpp")


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/zero", "/proc/self/environ", "waiting.h"])
def test_file_without_an_end_is_refused(secret: Path, name: str) -> None:
    folder = secret.parent / "kernels"
    os.mkfifo(folder / "waiting.h")
    with pytest.raises(KernelCompileError, match=r"outside of the folders|is a FIFO"):
        compiled(f'#include "{name}"' + NOTHING, folder / "kernel.cpp")


ASSEMBLY = {
    "incbin": 'asm(".incbin \\"{0}\\"");',
    "capitals": 'asm(".INCBIN \\"{0}\\"");',
    "include": 'asm(".include \\"{0}\\"");',
    "pieces": 'asm("\\x2e" "inc" "bin \\"{0}\\"");',
    "after_a_label": 'asm("here: .incbin \\"{0}\\"");',
    "quoted_directive": 'asm("\\".incbin\\" \\"{0}\\"");',
    "macro": 'asm(".macro m a b\\n.\\\\a\\\\b \\"{0}\\"\\n.endm\\nm inc bin");',
    "symbol": 'extern "C" void incbin();\nvoid f() {{ asm volatile(".%0 \\"{0}\\"" :: "S"(&incbin)); }}',
    "open_string": 'asm(".ascii \\"");\nasm(".incbin \\"{0}\\"");',
    "open_comment": 'asm("/* \\n\\" */ .incbin \\"{0}\\"");',
    "name_of_a_symbol": 'extern "C" void f() asm("x\\n.incbin \\"{0}\\"");\nvoid f() {{}}',
    "name_of_a_section": '__attribute__((section("x\\n.incbin \\"{0}\\"\\n"))) int word = 1;',
}


@pytest.mark.parametrize("kind", ASSEMBLY)
def test_assembly_that_reads_files_is_refused(secret: Path, kind: str) -> None:
    with pytest.raises(KernelCompileError, match="assembly with") as caught:
        compiled(ASSEMBLY[kind].format(secret) + NOTHING, secret.parent / "kernels" / "kernel.cpp")
    assert "topsecret" not in str(caught.value)


def test_assembly_that_reads_no_files_compiles() -> None:
    text = """#include "api/debug/dprint.h"
        void kernel_main() {
            asm volatile("" ::: "memory");
            asm volatile("fence /* all */ # don't move");
            DPRINT << ".incbin of a 'text' /* with */ # marks" << ENDL();
        }
    """
    assert compiled(text)


def test_name_of_a_file_does_not_reach_the_assembly(secret: Path) -> None:
    image = compiled(f'#line 1 "x\\n.incbin \\"{secret}\\"\\n"' + NOTHING)
    assert SECRET.encode() not in image


@pytest.mark.parametrize(
    "line",
    ['.incbin "x"', "a: .Include 'x'", '".incbin" "x"', '.ascii "a', "/* a", "a */", ".byte '\"', \"", '# "a" "b'],
)
def test_line_of_assembly_is_forbidden(line: str) -> None:
    assert forbidden_directive(f"\tnop\n{line}\n") is not None


@pytest.mark.parametrize("line", ['.ascii ".incbin \\"x\\""', ".rodata.incbins", "fence # all", '.file 1 "a#b/\'c"'])
def test_line_of_assembly_is_harmless(line: str) -> None:
    assert forbidden_directive(f"\tnop\n{line}\n") is None


@pytest.mark.parametrize(
    "text",
    [
        '#pragma comment(lib, "{0}")',
        'asm(".section .deplibs,\\"MS\\",@llvm_dependent_libraries,1\\n.asciz \\"{0}\\"");',
    ],
)
def test_source_names_no_library_for_the_linker(secret: Path, text: str) -> None:
    assert SECRET.encode() not in compiled(text.format(secret) + NOTHING)


@pytest.mark.parametrize("what", ["root", "working folder"])
def test_folder_that_the_program_names_is_read(secret: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ttnn.metal.sources import kernel_from_file, set_root_dir

    (secret.parent / "shared.h").write_text("constexpr uint32_t COUNT = 3;\n")
    path = secret.parent / "kernels" / "kernel.cpp"
    path.write_text('#include "../shared.h"\nvoid kernel_main() { cb_reserve_back(0, COUNT); }\n')
    if what == "root":
        set_root_dir(secret.parent)
    else:
        monkeypatch.chdir(secret.parent)
    try:
        found = kernel_from_file("create_kernel", path)
    finally:
        set_root_dir_to_nothing()
    assert isinstance(found, CppSource)
    assert compiler.compile_kernel(found, KernelSettings(BRISC, CHIP)).image


def set_root_dir_to_nothing() -> None:
    from ttnn.metal import sources

    sources._root.clear()


def test_embedded_data_beside_the_source_is_read(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\x03\x05")
    text = 'constexpr unsigned char data[] = {\n#embed "data.bin"\n};\nstatic_assert(data[1] == 5);' + NOTHING
    assert compiled(text, tmp_path / "kernel.cpp")


@pytest.mark.parametrize("name", ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"])
def test_environment_does_not_reach_the_compiler(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "from_environment.h").write_text("#error read\n")
    monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("CCC_OVERRIDE_OPTIONS", f"+-I{tmp_path}")
    text = '#if __has_include("from_environment.h")\n#error found\n#endif // ' + name
    assert compiled(text + NOTHING)


LIMITED = {
    "memory": ('asm(".fill 0x7fffffff, 8, 1");', toolchain.Limits(512, 60, 4096), "512 MiB of memory"),
    "file": ('asm(".space 0x4000000");', toolchain.Limits(2048, 60, 16), "16 MiB for a file"),
    "time": (
        "template <int N, int M> struct T { static constexpr unsigned v = T<N - 1, M>::v + T<N - 1, M + 1>::v; };\n"
        "template <int M> struct T<0, M> { static constexpr unsigned v = M; };\nstatic_assert(T<900, 0>::v);",
        toolchain.Limits(2048, 1, 16),
        "1 s of CPU time",
    ),
}


@pytest.mark.parametrize("what", LIMITED)
def test_limit_is_one_error_that_names_it(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, limits, message = LIMITED[what]
    monkeypatch.setattr(compiler, "KERNEL_LIMITS", limits)
    compiler.find_shared(toolchain.find_toolchain(), compiler.cache_folder())
    with pytest.raises(KernelCompileError, match=f"stopped at its limit of {message}"):
        compiled(text + NOTHING)


def test_compiler_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "_TIMEOUT", 0.2)
    with pytest.raises(KernelCompileError, match=r"limit of 0\.2 s of time"):
        toolchain.run(["/bin/sleep", "60"], tmp_path, tmp_path)


def test_endless_compiler_messages_raise(tmp_path: Path) -> None:
    limits = replace(toolchain.KERNEL_LIMITS, file=4)
    with pytest.raises(KernelCompileError, match="4 MiB for a file"):
        toolchain.run(["/usr/bin/yes"], tmp_path, tmp_path, limits)


def test_pragma_that_crashes_the_compiler_is_ignored() -> None:
    assert compiled("#pragma clang __debug crash\n#pragma clang __debug overflow_stack" + NOTHING)


def test_source_of_many_open_comments_ends_soon() -> None:
    with pytest.raises(KernelCompileError, match="unterminated /"):
        compiled("/* " * 300_000)
