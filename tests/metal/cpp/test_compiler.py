"""Compiling: generated files, cache content, messages without a compiler."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import ttnn
from ttnn import _engine, metal
from ttnn.base.exceptions import KernelArgumentError, KernelCompileError
from ttnn.kernel_api.unsupported import UNSUPPORTED
from ttnn.metal.cpp import compiler
from ttnn.metal.cpp.cache import INCLUDE
from ttnn.metal.cpp.forwards import forwards
from ttnn.metal.cpp.generated import generated_header
from ttnn.metal.cpp.sfpu_header import sfpu_header
from ttnn.metal.cpp.spec import BRISC, TRISC, CbFormat, Chip, ComputeSettings, CppSource, KernelSettings
from ttnn.metal.cpp.toolchain import _find

CHIP = Chip("WORMHOLE", ((0, 1), (0, 2)), ((18, 18), (19, 18)), 32, 16)
NOTHING = "void kernel_main() {}\n"


def settings(**more: object) -> KernelSettings:
    return KernelSettings(BRISC, CHIP, **more)  # type: ignore[arg-type]


def source(text: str, path: Path | None = None) -> CppSource:
    return CppSource(path, text)


def test_every_call_of_the_headers_is_one_of_the_engine() -> None:
    texts = [path.read_text(encoding="utf-8") for path in INCLUDE.rglob("*") if path.is_file()]
    used = {name for text in texts for name in re.findall(r"\btt_call_(\w+)\(", text)}
    assert used <= set(_engine.kernel_calls())


def test_every_header_that_a_name_stands_for_is_there() -> None:
    generated = {"ttnn_rs/sfpu_functions.h", "ttnn_rs/refused.h"}
    for name, target in forwards().items():
        assert target in generated or target in forwards() or (INCLUDE / target).is_file(), name


@pytest.mark.parametrize(("processor", "compute"), [(BRISC, None), (TRISC, ComputeSettings())])
def test_every_header_compiles(processor: int, compute: ComputeSettings | None) -> None:
    headers = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h*"))
    kept = [name for name in headers if name.startswith("api/compute/") == (compute is not None)]
    text = "".join(f'#include "{name}"\n' for name in kept if not name.startswith("ttnn_rs/"))
    chosen = KernelSettings(processor, CHIP, compute=compute, buffers={0: CbFormat(5)})
    assert compiler.compile_kernel(source(text + NOTHING), chosen).image


def test_every_function_of_the_kernel_api_has_one_in_cpp() -> None:
    import ttnn.kernel_api as api

    compute = {
        name for name in api.__all__ if re.search(r"_tile(s|_init|_pack)?\b|_tile_", name) and name not in UNSUPPORTED
    }
    headers = "".join(path.read_text(encoding="utf-8") for path in INCLUDE.rglob("*.h"))
    text = sfpu_header() + headers
    made = {f"{verb}{rest}" for verb in ("add", "sub", "mul") for rest in re.findall(r"verb##(\w+)", headers)}
    made |= {f"{verb}_bcast_{kind}_init" for verb in ("add", "sub", "mul") for kind in ("rows", "cols", "scalar")}
    made |= {f"{verb}_tiles_bcast_{kind}" for verb in ("add", "sub", "mul") for kind in ("rows", "cols", "scalar")}
    made |= {"exp_tile", "exp_tile_init", "exp_packthread_tile", "exp_packthread_tile_init"}
    made |= {"reconfig_tile_shape"}
    missing = {name for name in compute - made if not re.search(rf"\b{name}\(", text)}
    assert not missing


def test_generated_header_has_circular_buffer_tables() -> None:
    text = generated_header(settings(buffers={3: CbFormat(6), 4: CbFormat(0, 16, 32)}))
    formats, sizes = (re.search(rf"unpack_{name}\[32\] = {{([^}}]*)}}", text) for name in ("src_format", "tile_size"))
    assert formats
    assert sizes
    assert formats[1].split(", ")[2:6] == ["255", "6", "0", "255"]
    assert sizes[1].split(", ")[2:6] == ["0", "1088", "2048", "0"]


def test_invalid_cpp_define_names_raise() -> None:
    with pytest.raises(KernelArgumentError, match="is not a valid C"):
        generated_header(settings(defines={"2TILES": "1"}))


def test_compiled_kernel_is_reused_until_a_header_changes(tmp_path: Path) -> None:
    header, kernel = tmp_path / "count.hpp", tmp_path / "kernel.cpp"
    text = '#include "count.hpp"\nvoid kernel_main() { cb_reserve_back(0, COUNT); }\n'
    kernel.write_text(text)
    header.write_text("constexpr uint32_t COUNT = 1;\n")
    first = compiler.compile_kernel(source(text, kernel), settings())
    assert compiler.compile_kernel(source(text, kernel), settings()).image == first.image
    header.write_text("constexpr uint32_t COUNT = 2;  // two\n")
    second = compiler.compile_kernel(source(text, kernel), settings())
    assert second.image != first.image
    other = compiler.compile_kernel(source(text, kernel), settings(defines={"UNUSED": "1"}))
    assert other.image


def test_damaged_cache_entry_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler.compile_kernel(source(NOTHING), settings())
    for path in compiler.cache_folder().glob("*.elf"):
        path.write_bytes(b"nothing")
    monkeypatch.setattr("ttnn.metal.cpp.cache._found", {})
    assert compiler.compile_kernel(source(NOTHING), settings()).image.startswith(b"\x7fELF")


def test_bank_tables_match_the_address_functions(device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]) -> None:
    text = """#include "api/dataflow/dataflow_api.h"
#include "api/debug/dprint.h"
void kernel_main() {
    uint32_t bank = get_arg_val<uint32_t>(0);
    uint64_t made = (uint64_t(dram_bank_to_noc_xy[noc_index][bank]) << NOC_ADDR_COORD_SHIFT) | 64;
    bool same = made + bank_to_dram_offset[bank] == get_noc_addr_from_bank_id<true>(bank, 64);
    made = (uint64_t(l1_bank_to_noc_xy[noc_index][bank]) << NOC_ADDR_COORD_SHIFT) | 64;
    DPRINT << same + (made + bank_to_l1_offset[bank] == get_noc_addr_from_bank_id<false>(bank, 64)) << ENDL();
}
"""
    program = metal.create_program()
    core = metal.CoreCoord(0, 0)
    kernel = metal.create_kernel_from_string(program, text, core, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, core, [5])
    metal.run_program(device, program)
    assert capsys.readouterr().out.endswith(": 2\n")


def test_standard_library_algorithms_run_in_kernels(device: ttnn.MeshDevice) -> None:
    text = """#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include "api/debug/assert.h"
void kernel_main() {
    std::array<uint32_t, 12> words;
    std::iota(words.begin(), words.end(), get_arg_val<uint32_t>(0));
    ASSERT(std::find(words.begin(), words.end(), words[0] + 7) - words.begin() == 7);
    ASSERT(std::find(words.begin(), words.end(), 99u) == words.end());
    std::reverse(words.begin(), words.end());
    std::sort(words.begin(), words.end(), [](auto a, auto b) { return a < b; });
    ASSERT(std::is_sorted(words.begin(), words.end()) && std::accumulate(words.begin(), words.end(), 0u) == 126);
    std::array<uint8_t, 33> bytes{}, copy;
    bytes[32] = get_arg_val<uint32_t>(0);
    std::copy(bytes.begin(), bytes.end(), copy.begin());
    ASSERT(std::find(copy.begin(), copy.end(), 5) == copy.begin() + 32);
    ASSERT(std::equal(copy.begin(), copy.end(), bytes.begin()));
    std::fill(copy.begin() + 1, copy.end(), 7);
    ASSERT(std::count(copy.begin(), copy.end(), 7) == 32 && std::memcmp(copy.data(), bytes.data(), 33) > 0);
}
"""
    program = metal.create_program()
    core = metal.CoreCoord(0, 0)
    kernel = metal.create_kernel_from_string(program, text, core, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, core, [5])
    assert metal.run_program(device, program).cycles > 0


@pytest.mark.parametrize("kind", ["std::uint32_t", "int", "float", "std::uint16_t", "std::uint64_t"])
def test_std_sort_orders_numbers(device: ttnn.MeshDevice, kind: str) -> None:
    text = f"""
        #include <algorithm>
        void kernel_main() {{
            {kind} values[40];
            for (int i = 0; i < 40; ++i) values[i] = {kind}(i * 37 % 40 + get_arg_val<std::uint32_t>(0));
            std::sort(values, values + 40);
            for (int i = 0; i < 40; ++i) ASSERT(values[i] == {kind}(i + 3));
        }}
    """
    program = metal.create_program()
    core = metal.CoreCoord(0, 0)
    kernel = metal.create_kernel_from_string(program, text, core, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, core, [3])
    assert metal.run_program(device, program).cycles > 0


def test_soft_float_multiplication_has_a_note() -> None:
    text = "volatile float a, b;\nvoid kernel_main() { a = a * b; }\n"
    (note,) = compiler.compile_kernel(source(text), settings()).notes
    assert "__mulsf3" in note


@pytest.mark.without_compiler
def test_missing_compiler_raises_kernel_compile_error(device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTNN_CXX", "no-such-clang++")
    program = metal.create_program()
    metal.create_kernel_from_string(program, NOTHING, metal.CoreCoord(0, 0), metal.DataMovementConfig())
    with pytest.raises(KernelCompileError, match=r"TTNN_CXX names no-such-clang\+\+, which does not exist"):
        metal.run_program(device, program)
    monkeypatch.delenv("TTNN_CXX")
    monkeypatch.setattr("ttnn.metal.cpp.toolchain.find_spec", lambda _: None)
    _find.cache_clear()
    with pytest.raises(KernelCompileError, match=r"pip install 'ttnn-rs\[kernels\]'"):
        metal.run_program(device, program)
    _find.cache_clear()


@pytest.mark.without_compiler
def test_ttnn_cxx_selects_the_compiler(device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's packages clang-19, lld-19, libc++-19-dev and picolibc-riscv64-unknown-elf are such a compiler."""
    compiler, headers = Path("/usr/lib/llvm-19/bin/clang++"), Path("/usr/lib/picolibc/riscv64-unknown-elf/include")
    if not (compiler.exists() and compiler.with_name("ld.lld").exists() and headers.is_dir()):
        pytest.skip("needs clang-19, lld-19, libc++-19-dev and picolibc-riscv64-unknown-elf of Debian")
    monkeypatch.setenv("TTNN_CXX", f"{compiler} -D_LIBCPP_HAS_NO_THREADS -idirafter {headers}")
    with importlib.import_module("examples.common").in_cpp():
        outcome = importlib.import_module("examples.classic.vector_exp").run(device)
    assert all(outcome.checks.values())
