"""Names and strings never become statements of emitted Python or C++.

They are those of a module or binary.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest

from ttnn.compiler.conversion.calls_to_emit import identifiers
from ttnn.compiler.conversion.calls_to_emitc import emitc_module
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.printing import quote, unquote
from ttnn.compiler.ir.target_text import comment, cpp_string, is_cpp_callee, is_python_identifier, python_string
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, StringAttr
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.cpp.emitc import emitc_functions, emitc_kernels
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.versions import parse_module, print_module

BENIGN = "benign"
HOSTILE = [
    "g = 1\nimport os; x",
    "g\rimport os",
    'g"); import os; ("',
    "g'); import os; ('",
    "g\\",
    'g\\"',
    "g\\\n",
    "g\0h",
    "g\u2028import os",
    "g\u2029import os",
    "g\x85import os",
    "g\x0bimport os",
    "g\x0cimport os",
    "g\x1cimport os",
    "*/ import os /*",
    "g??/",
    "g??/\nimport os",
    "g // h",
    "g # h",
    "g; import os",
    "{}",
    "{{g}}",
    "g h",
    "1g",
    "class",
    "import",
    "\uff49mport",
    "\ufb01",
    "\U0001f600",
    "\u202eg",
    "g()",
    "g=1",
    "",
]
INT = '!emitpy.opaque<"int">'
#: Statements with a name at NAME; those of functions have a value %v.
MODULE = {
    "global": "emitpy.global @NAME = 3 : i32",
    "class": "emitpy.class @NAME {\n}",
    "base": "emitpy.class @c(@NAME) {\n}",
    "function": "func.func @NAME() {\n return\n}",
    "module": "emitpy.import import NAME",
    "alias": 'emitpy.import import "m" as NAME',
    "from": 'emitpy.import from NAME import "b"',
    "star": "emitpy.import from NAME import *",
    "member": 'emitpy.import from "m" import NAME',
    "renamed": 'emitpy.import from "m" import "b" as NAME',
    "file": 'emitpy.file NAME {\n emitpy.import import "m"\n}',
    "argument": f"func.func @f(%a: {INT} {{emitpy.name = NAME}}) -> {INT} {{\n return %a : {INT}\n}}",
    "method": "emitpy.class @c {\n func.func @f(%a: INT) attributes {emitpy.method_kind = NAME} {\n return\n }\n}",
}
BODY = {
    "callee": "%0 = emitpy.call_opaque NAME(%v) : (INT) -> INT",
    "ordered callee": "%0 = emitpy.call_opaque NAME(%v) {args = [0 : index]} : (INT) -> INT",
    "word": '%0 = emitpy.call_opaque "g"(%v) {args = [0 : index], keyword_args = [NAME]} : (INT) -> INT',
    "string": '%0 = emitpy.call_opaque "g"(%v) {args = [NAME]} : (INT) -> INT',
    "result": '%0 = emitpy.call_opaque "g"(%v) {emitpy.name = NAME} : (INT) -> INT',
    "get": "%0 = emitpy.get_attr %v, NAME : (INT) -> INT",
    "set": "emitpy.set_attr %v, NAME, %v : (INT, INT)",
    "dictionary": "%0 = emitpy.create_dict NAME(%v, %v) : (INT, INT) -> !emitpy.dict",
    "nested": "emitpy.nested_func NAME {\n ^bb0(%b: INT):\n emitpy.nested_func_return %b : INT\n }",
    "inline": (
        "%0 = emitpy.expression (%v) : (INT) -> INT {\n ^bb0(%b: INT):\n"
        " %1 = emitpy.get_attr %b, NAME : (INT) -> INT\n emitpy.yield %1 : INT\n }\n"
        ' emitpy.set_attr %v, "a", %0 : (INT, INT)'
    ),
}
CASES = {
    **MODULE,
    **{name: f"func.func @f(%v: INT) {{\n {text}\n return\n}}".replace("INT", INT) for name, text in BODY.items()},
    "global statement": (
        f"emitpy.global @NAME = 3 : i32\nfunc.func @f() -> {INT} {{\n %0 = emitpy.global_statement @NAME : {INT}\n"
        f" emitpy.assign_global @NAME = %0 : {INT}\n return %0 : {INT}\n}}"
    ),
    "call": "func.func @NAME() {\n return\n}\nfunc.func @g() {\n func.call @NAME() : () -> ()\n return\n}",
}
#: Places where any text has a form: as a string, in a comment, or as an identifier made of it.
ALWAYS = {"string", "file", "argument", "result"}


def emitpy(name: str, case: str) -> str:
    return emitpy_source(parse_module(CASES[case].replace("INT", INT).replace("NAME", quote(name)), version="2026-08"))


def shape(source: str) -> list[str]:
    return [type(node).__name__ for node in ast.walk(ast.parse(source))]


@pytest.mark.parametrize("case", CASES)
def test_emitpy_refuses_a_name_or_keeps_the_statements(case: str) -> None:
    expected = shape(emitpy(BENIGN, case))
    refused = 0
    for name in HOSTILE:
        if not name and case in ("alias", "renamed", "word"):
            # Nothing is renamed, and an argument without a word is positional.
            continue
        try:
            made = emitpy(name, case)
        except CompileError:
            refused += 1
            assert case not in ALWAYS, (case, name)
            continue
        assert shape(made) == expected, (case, name, made)
        assert case in ALWAYS or is_python_identifier(name), (case, name)
    assert refused or case in ALWAYS


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_strings_keep_their_value(text: str) -> None:
    assert unquote(quote(text)) == text
    assert len(python_string(text).splitlines()) == 1
    assert ast.literal_eval(python_string(text)) == text
    literal = cpp_string(text)
    assert literal.isascii()
    assert literal.isprintable()
    assert "??" not in literal
    assert ast.literal_eval(f"b{literal}".replace("\\?", "?")).decode() == text
    made = emitpy(text, "string")
    (call,) = [node for node in ast.walk(ast.parse(made)) if isinstance(node, ast.Call)]
    assert isinstance(call.args[0], ast.Constant)
    assert call.args[0].value == text


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_comments_end_at_their_line(text: str) -> None:
    shown = comment(text)
    assert len(f"{shown}x".splitlines()) == 1
    assert not shown.endswith(("\\", "??/"))


def test_escapes_in_print_formats_are_kept() -> None:
    assert cpp_string('a\\n"\\"b\\', escapes=True) == '"a\\n\\"\\"b\\\\"'
    assert cpp_string('a\\n"', escapes=False) == '"a\\\\n\\""'


TENSOR = "tensor<32x32xf32, #far>"
BINARY = f"""#dram = #ttnn.buffer_type<dram>
#far = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @f(%a: {TENSOR}) -> {TENSOR} {{
  "ttnn.dump_tensor"(%a) <{{file_path = PATH}}> : ({TENSOR}) -> ()
  return %a : {TENSOR}
}}
"""


def binary(path: str, name: str) -> list[Any]:
    made = ttnn_to_binary(parse_module(BINARY.replace("PATH", quote(path)), version="2026-08"), "0.1.0")
    made.values["programs"][0]["name"] = name
    return list(programs(Binary.parse(made.to_bytes())))


def without_strings(source: str) -> str:
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', source)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_names_and_strings_of_binaries_keep_the_statements(text: str) -> None:
    given = binary(text, text)
    benign = binary(BENIGN, BENIGN)
    made = emitpy_source(emitpy_module(given))
    assert shape(made) == shape(emitpy_source(emitpy_module(benign)))
    strings = [node.value for node in ast.walk(ast.parse(made)) if isinstance(node, ast.Constant)]
    assert text in strings
    (name,) = identifiers(given)
    made, expected = (emitc_functions(emitc_module(one)) for one in (given, benign))
    assert cpp_string(text) in made
    assert without_strings(made) == without_strings(expected).replace(f" {BENIGN}(", f" {name}(")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_strings_of_a_ttnn_module_reach_emitted_source_unchanged(text: str) -> None:
    module = parse_module(BINARY.replace("PATH", quote(text)), version="2026-08")
    run(module, "convert-ttnn-to-emitpy")
    made = emitpy_source(module)
    assert text in [node.value for node in ast.walk(ast.parse(made)) if isinstance(node, ast.Constant)]
    module = parse_module(BINARY.replace("PATH", quote(text)), version="2026-08")
    run(module, "convert-ttnn-to-emitc")
    assert cpp_string(text) in emitc_functions(module)


def test_program_names_shadow_no_other_name() -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    names = ["f", "create_inputs_for_f", "f", "v1", "device", "float", "zip", "auto", "lambda", "main", "\u00b2", "a.b"]
    made = identifiers([Named(name) for name in names])  # type: ignore[arg-type]
    assert made == [
        *("f", "create_inputs_for_f_", "f__", "f_v1", "f_device", "f_float", "f_zip", "f_auto", "f_lambda", "f_main"),
        *("_", "a_b"),
    ]


KERNEL = """func.func @NAME() attributes {ttkernel.thread = #ttkernel.thread<noc>} {
  emitc.call_opaque CALLEE() : () -> ()
  return
}
"""


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_emitted_cpp_kernels_keep_their_lines(text: str) -> None:
    def kernel(name: str, callee: str = "g") -> str:
        made = KERNEL.replace("NAME", quote(name)).replace("CALLEE", quote(callee))
        return emitc_kernels(parse_module(made, version="2026-08"))

    first, *rest = kernel(text).splitlines()
    assert rest == kernel(BENIGN).splitlines()[1:]
    assert first.startswith("// ")
    assert not first.endswith("\\")
    if text != "import":
        with pytest.raises(CompileError, match="is no name of a C"):
            kernel(BENIGN, text)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_kernel_prints_keep_their_text(text: str) -> None:
    module = parse_module(
        "func.func @k() attributes {ttkernel.thread = #ttkernel.thread<noc>} {\n"
        f"  ttkernel.dprint({quote(text.replace('{}', ''))}) : () -> ()\n  return\n}}\n",
        version="2026-08",
    )
    run(module, "convert-ttkernel-to-emitc")
    (line,) = [line for line in emitc_kernels(module).split("\n") if "DPRINT" in line]
    assert re.fullmatch(r'  DPRINT\("(?:\\.|[^"\\])*"\);', line)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_cpp_functions_and_includes_with_unsafe_names_raise(text: str) -> None:
    def functions(name: str, header: str) -> str:
        made = f"emitc.include {quote(header)}\nfunc.func @{quote(name)}() {{\n return\n}}\n"
        return emitc_functions(parse_module(made, version="2026-08"))

    assert '#include "a/b.h"' in functions(BENIGN, "a/b.h")
    if text != "import":
        with pytest.raises(CompileError, match="is no identifier of C"):
            functions(text, "a.h")
    if text not in ("g h", "1g", "class", "import"):
        with pytest.raises(CompileError, match="is no name of a header"):
            functions(BENIGN, text)


def test_kernel_functions_have_the_names_of_operations() -> None:
    made = 'func.func @"a\\0A#error"() {\n  "ttkernel.g(); x"() : () -> ()\n  return\n}\n'
    module = parse_module(made, version="2024-09", allow_unregistered=True)
    with pytest.raises(CompileError, match=r"failed to legalize operation 'ttkernel\.g"):
        run(module, "convert-ttkernel-to-emitc")
    named = made.replace('"ttkernel.g(); x"()', '"ttkernel.builtin"() <{op = @"g(); x", kind = @k}>')
    module = parse_module(named, version="2024-09")
    run(module, "convert-ttkernel-to-emitc")
    with pytest.raises(CompileError, match="is no name of a C"):
        emitc_kernels(module)


@pytest.mark.parametrize("name", ["g", "::tt::f", "a::b<int, c::d>", "reinterpret_cast", "x.y", "p->f", "f<uint32_t*>"])
def test_valid_cpp_function_names_are_accepted(name: str) -> None:
    assert is_cpp_callee(name)


@pytest.mark.parametrize("text", [*HOSTILE, "\ud7ff", "a.b$c", "->", "%0", "@g"], ids=ascii)
def test_mlir_names_and_strings_round_trip(text: str) -> None:
    name = quote(text or "x")
    made = (
        f"#at = loc({name})\n"
        f"func.func @{name}() attributes {{test.a = {quote(text)}, test.list = [{quote(text)}]}} {{\n"
        f"  func.call @{name}() : () -> () loc(#at)\n  return\n}}\n"
    )
    module = parse_module(made, version="2026-08")
    written = print_module(module, debuginfo=True)
    again = parse_module(written, version="2026-08")
    assert print_module(again, debuginfo=True) == written
    (function,) = again.functions()
    assert function.sym_name.data == (text or "x")
    assert function.attributes["test.a"] == StringAttr(text)
    assert function.attributes["test.list"] == ArrayAttr([StringAttr(text)])
