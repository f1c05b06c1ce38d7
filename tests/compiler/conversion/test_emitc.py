"""Kernels in `emitc`: the pass, their text, and their C++."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.cpp.emitc import emitc_kernels
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

CB = "!ttkernel.cb<8, !ttcore.tile<32x32, f32>>"
COMPUTE = f"""func.func @halve() attributes {{ttkernel.thread = #ttkernel.thread<compute>}} {{
  %c2 = arith.constant 2 : i32
  %c6 = arith.constant 6 : i32
  %0 = ttkernel.get_compile_time_arg_val(0) : () -> {CB}
  %1 = ttkernel.get_compile_time_arg_val(1) : () -> i32
  %2 = arith.addi %c2, %c6 : i32
  %3 = arith.muli %2, %1 : i32
  %4 = arith.trunci %3 : i32 to i16
  ttkernel.cb_wait_front(%0, %c2) : ({CB}, i32) -> ()
  ttkernel.untilize_block(%0, %3, %0) : ({CB}, i32, {CB}) -> ()
  ttkernel.cb_pop_front(%0, %c2) : ({CB}, i32) -> ()
  return
}}
"""
MOVE = """func.func @move() attributes {ttkernel.thread = #ttkernel.thread<noc>} {
  %x = arith.constant 1 : index
  %a = arith.constant 262144 : i32
  %0 = ttkernel.get_arg_val(%x) : (index) -> i32
  %1 = ttkernel.get_noc_addr(%x, %x, %0) : (index, index, i32) -> !ttkernel.noc_addr
  ttkernel.noc_async_read(%1, %a, %0) : (!ttkernel.noc_addr, i32, i32) -> ()
  ttkernel.noc_async_read_barrier() : () -> ()
  return
}
"""


def source(text: str, version: Version) -> str:
    module = parse_module(text, default_version=version)
    run(module, "convert-ttkernel-to-emitc")
    written = print_module(module)
    again = parse_module(written)
    assert print_module(again) == written
    return emitc_kernels(again)


def test_kernel_calls_of_2025_10_keep_their_cpp_text() -> None:
    assert source(MOVE, "2025-10") == (
        '// move\n#include <cstdint>\n#include "dataflow_api.h"\nvoid kernel_main() {\n  size_t v1 = 1;\n'
        "  int32_t v2 = 262144;\n  int32_t v3 = get_arg_val<uint32_t>(v1);\n  int64_t v4 = get_noc_addr(v1, v1, v3);\n"
        "  noc_async_read(v4, v2, v3);\n  noc_async_read_barrier();\n  return;\n}\n"
    )
    assert "cb_wait_front(get_compile_time_arg_val(0), v1);" in source(COMPUTE, "2025-10")


def test_circular_buffers_of_2026_08_are_objects() -> None:
    text = source(COMPUTE, "2026-08")
    assert "  CircularBuffer cb_ctarg_0(get_compile_time_arg_val(0));\n" in text
    assert "  cb_ctarg_0.wait_front(v1);\n" in text
    assert '#include "api/dataflow/circular_buffer.h"\n' in text


DECLARATIONS = """#include <cstddef>
namespace tt { enum class CB : int {}; }
constexpr int get_compile_time_arg_val(int i) { return i + 3; }
template <typename A, typename B> void cb_wait_front(A, B) {}
template <typename A, typename B> void cb_pop_front(A, B) {}
int seen = 0;
template <typename A, typename B, typename C> void untilize_block(A, B b, C) { seen = b; }
"""


def test_kernel_arithmetic_compiles_and_computes(tmp_path: Path) -> None:
    """The C++ on the host, with the kernel API's functions replaced."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler of the host: g++ or clang++")
    body = "\n".join(line for line in source(COMPUTE, "2025-10").splitlines() if '#include "' not in line)
    file = tmp_path / "kernel.cpp"
    file.write_text(f"{DECLARATIONS}{body}\nint main() {{ kernel_main(); return seen; }}\n")
    program = tmp_path / "kernel"
    done = subprocess.run([compiler, "-o", str(program), str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(program)], check=False).returncode == (2 + 6) * 4


def test_kernels_of_2024_09_have_no_arguments_afterwards() -> None:
    buffer = "!ttkernel.cb<cb_out1, 1024, memref<2x4x!tt.tile<32x32, f32>, #tt.memory_space<l1>>, 4096, 1>"
    text = f"""func.func @k(%a: {buffer}) {{
  %c4 = arith.constant 4 : i32
  "ttkernel.builtin"(%a, %c4) <{{op = @cb_push_back, kind = @any}}> : ({buffer}, i32) -> ()
  "ttkernel.return"() : () -> ()
}}
"""
    module = parse_module(text, version="2024-09")
    run(module, "convert-ttkernel-to-emitc")
    written = print_module(module)
    assert "func.func @k() {" in written
    assert 'emitc.call_opaque "cb_push_back"(%0, %1) : (!emitc.opaque<"::tt::CB">, i32) -> ()' in written
    assert print_module(parse_module(written, version="2024-09")) == written
    assert emitc_kernels(module).endswith(
        "namespace NAMESPACE {\nvoid kernel_main() {\n  ::tt::CB v1 = ::tt::CB::c_out1;\n  int32_t v2 = 4;\n"
        "  cb_push_back(v1, v2);\n  return;\n}\nvoid MAIN { kernel_main(); }\n}\n"
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("%0 = tensor.empty() : tensor<1xf32>", "failed to legalize operation 'tensor.empty'"),
        ('ttkernel.dprint("{}") : () -> ()', "'ttkernel.dprint': its format has 1 places for 0 values"),
        (
            "%b = arith.constant 0 : i32\n  ttkernel.noc_async_read_barrier_with_trid(%b) : (i32) -> ()",
            "calls of the NoC of the current interface are not written",
        ),
    ],
)
def test_calls_without_a_cpp_form_raise_compile_error(statement: str, message: str) -> None:
    text = f"func.func @k() attributes {{ttkernel.thread = #ttkernel.thread<noc>}} {{\n  {statement}\n  return\n}}\n"
    with pytest.raises(CompileError, match=message):
        run(parse_module(text), "convert-ttkernel-to-emitc")


PRINT = """func.func @say() attributes {{ttkernel.thread = #ttkernel.thread<{thread}>}} {{
  %n = arith.constant 42 : i32
  %i = arith.constant 7 : index
  %b = ttkernel.get_compile_time_arg_val(2) : () -> !ttkernel.cb<8, f32>
  ttkernel.dprint("n {{}}, i {{}}\\\\n", %n, %i) : (i32, index) -> ()
  ttkernel.dprint("{{}}", %b) : (!ttkernel.cb<8, f32>) -> ()
  return
}}
"""


def test_prints_of_2026_08_have_a_format_string() -> None:
    text = source(PRINT.format(thread="compute"), "2026-08")
    assert '  DPRINT("n {}, i {}\\n", v1, v2);\n' in text
    assert '  ttmlir::CBPrinter v3 = ttmlir::CBPrinter(get_compile_time_arg_val(2));\n  DPRINT("{}", v3);\n' in text
    assert '#include "api/debug/dprint.h"\n' in text
    assert 'DPRINT("{}", get_compile_time_arg_val(2));' in source(PRINT.format(thread="noc"), "2026-08")


PRINTED = """#include <cstddef>
#include <cstdint>
#include <iostream>
namespace tt { enum class CB : int {}; }
constexpr tt::CB get_compile_time_arg_val(int i) { return static_cast<tt::CB>(i + 3); }
struct Printer {} DPRINT;
Printer operator<<(Printer printer, const char *text) { std::cout << text; return printer; }
Printer operator<<(Printer printer, int32_t number) { std::cout << number; return printer; }
Printer operator<<(Printer printer, uint32_t number) { std::cout << number << 'u'; return printer; }
"""


def test_prints_of_2025_10_compile_and_run(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler of the host: g++ or clang++")
    text = source(PRINT.format(thread="compute"), "2025-10")
    assert '#include "debug/dprint.h"\n' in text
    body = "\n".join(line for line in text.splitlines() if '#include "' not in line)
    file, program = tmp_path / "kernel.cpp", tmp_path / "kernel"
    file.write_text(f"{PRINTED}{body}\nint main() {{ kernel_main(); return 0; }}\n")
    command = [compiler, "-std=c++17", "-o", str(program), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    assert printed == "n 42, i 7u\n5u"


def test_barriers_of_2026_08_are_methods() -> None:
    text = source(
        """func.func @k() attributes {ttkernel.thread = #ttkernel.thread<noc>} {
  %a = arith.constant 262400 : i32
  %0 = arith.constant 0 : i32
  %p = ttkernel.reinterpret_cast(%a) : (i32) -> (!ttkernel.l1_addr_ptr<8>)
  %n = ttkernel.load_from_l1(%p, %0) : (!ttkernel.l1_addr_ptr<8>, i32) -> i8
  ttkernel.noc_async_write_barrier(%n) : (i8) -> ()
  return
}
""",
        "2026-08",
    )
    pointer = "volatile tt_l1_ptr uint8_t*"
    assert f"  {pointer} v3 = reinterpret_cast<{pointer}>(v1);\n  int8_t v4 = (int8_t) v3[v2];\n" in text
    assert "  Noc(v4).async_write_barrier();\n" in text
    assert '#include "api/dataflow/noc.h"\n' in text
