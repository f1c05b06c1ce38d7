"""Dialect `emitpy`: text, Python output, and errors."""

from __future__ import annotations

from typing import Any

import pytest

from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.versions import parse_module, print_module

INT = '!emitpy.opaque<"int">'
TEXT = f"""module {{
  emitpy.import import "math" as "m"
  emitpy.import from "functools" import "reduce" as "fold", "partial"
  emitpy.import from "operator" import *
  emitpy.global @total = #emitpy.opaque<"0">
  emitpy.class @Counter(#emitpy.opaque<"object">) {{
    func.func @__init__(%arg0: !emitpy.class<"Counter">, %arg1: {INT} {{emitpy.name = "start"}}) {{
      emitpy.set_attr %arg0, "count", %arg1 : (!emitpy.class<"Counter">, {INT})
      return
    }}
    func.func @next(%arg0: !emitpy.class<"Counter">) -> {INT} {{
      %0 = emitpy.get_attr %arg0, "count" : (!emitpy.class<"Counter">) -> {INT}
      %1 = "emitpy.constant"() <{{value = #emitpy.opaque<"1">}}> : () -> {INT}
      %2 = emitpy.call_opaque "add"(%0, %1) : ({INT}, {INT}) -> {INT}
      emitpy.set_attr %arg0, "count", %2 : (!emitpy.class<"Counter">, {INT})
      return %2 : {INT}
    }}
  }}
  func.func @note(%arg0: {INT} {{emitpy.name = "value"}}) -> {INT} {{
    %0 = emitpy.global_statement @total : {INT}
    emitpy.if "{{}} is None" args %arg0 : ({INT}) {{
      emitpy.verbatim "pass"
    }} else {{
      emitpy.if "{{}} > 10" args %arg0 : ({INT}) {{
        emitpy.assign_global @total = %arg0 : {INT}
      }}
    }}
    return %0 : {INT}
  }}
  func.func @look(%arg0: {INT} {{emitpy.name = "key"}}) -> !emitpy.dict {{
    %0 = emitpy.create_dict "table" {{literal_expr = "{{i: None for i in range(3)}}"}} : () -> !emitpy.dict
    %1 = emitpy.literal "1" : index
    %2 = emitpy.expression (%0, %1) : (!emitpy.dict, index) -> {INT} {{
    ^bb0(%arg1: !emitpy.dict, %arg2: index):
      %3 = emitpy.subscript %arg1[%arg2] : (!emitpy.dict, index) -> {INT}
      emitpy.yield %3 : {INT}
    }}
    emitpy.assign %2 = %arg0 : ({INT}, {INT})
    return %0 : !emitpy.dict
  }}
  func.func @sum(%arg0: {INT}, %arg1: {INT}) -> {INT} {{
    emitpy.nested_func "twice" {{
    ^bb0(%arg2: {INT}):
      %0 = emitpy.call_opaque "add"(%arg2, %arg2) : ({INT}, {INT}) -> {INT}
      emitpy.nested_func_return %0 : {INT}
    }}
    %0 = emitpy.call_opaque "twice"(%arg1) {{emitpy.name = "doubled"}} : ({INT}) -> {INT}
    %1 = emitpy.call_opaque "fold"(%0, %arg0) {{args = [#emitpy.opaque<"add">, 1 : index, 0 : index], keyword_args = ["", "", ""]}} : ({INT}, {INT}) -> {INT}
    return %1 : {INT}
  }}
}}
"""  # noqa: E501


def test_emitpy_text_round_trips() -> None:
    assert print_module(parse_module(TEXT)) == TEXT


def test_emitted_python_runs() -> None:
    names: dict[str, Any] = {}
    exec(compile(emitpy_source(parse_module(TEXT)), "emitted.py", "exec"), names)
    counter = names["Counter"](4)
    assert (counter.next(), counter.next()) == (5, 6)
    assert names["note"](3) == 0
    assert names["note"](30) == 30
    assert names["note"](None) == 30
    assert names["look"](7) == {0: None, 1: 7, 2: None}
    assert names["sum"]([1, 2], 3) == 1 + 2 + 6


def test_emitpy_files_keep_their_names() -> None:
    text = """module {
  emitpy.file "main" {
    func.func @f() {
      return
    }
    func.func @g() {
      call @f() : () -> ()
      return
    }
  }
  emitpy.file "other" {
    emitpy.import import "os"
  }
}
"""
    module = parse_module(text)
    assert print_module(module) == text
    assert emitpy_source(module).splitlines()[:2] == ['# File: "main"', "def f():"]
    assert emitpy_source(module, "other") == "import os\n"


EXPRESSION = f"""func.func @f(%a: {INT}) -> {INT} {{
  %0 = emitpy.expression(%a) : ({INT}) -> {INT} {{
  ^bb0(%x: {INT}):
    %1 = emitpy.call_opaque "g"(%x) : ({INT}) -> {INT}
    emitpy.yield %1 : {INT}
  }}
  return %0 : {INT}
}}
"""


CONDITION = 'emitpy.if "x" {\n emitpy.verbatim "pass"\n }\n %1 = emitpy.call_opaque'
STATEMENT = 'func.func @f() {\n  STATEMENT\n  return\n}\nemitpy.import import "x"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EXPRESSION.replace("%1 = emitpy.call_opaque", CONDITION), "not supported in inline expression"),
        ("emitpy.global @x = unit", "cannot emit attribute"),
        (STATEMENT.replace("STATEMENT", 'emitpy.verbatim "{}"'), "requires operands for each placeholder"),
        (STATEMENT.replace("STATEMENT", "%0 = arith.constant 1 : i32"), "has no form in Python"),
    ],
)
def test_wrong_emitpy_text_raises_one_diagnostic(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        emitpy_source(parse_module(text))


def test_operation_without_a_python_call_fails_to_legalize() -> None:
    text = """func.func @f(%q: tensor<1x8x64x64xbf16>) -> tensor<1x8x64x64xbf16> {
  %0 = "ttir.sdpa_fw"(%q, %q, %q) <{mask_type = #ttcore.attention_mask_type<causal>, dropout_probability = 0.0 : f32, return_intermediates = false}> : (tensor<1x8x64x64xbf16>, tensor<1x8x64x64xbf16>, tensor<1x8x64x64xbf16>) -> tensor<1x8x64x64xbf16>
  return %0 : tensor<1x8x64x64xbf16>
}
"""  # noqa: E501
    with pytest.raises(CompileError, match=r"failed to legalize operation 'ttnn\.sdpa_fw'"):
        run(parse_module(text), "ttir-to-emitpy-pipeline")
