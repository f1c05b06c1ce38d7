"""Mutated text: no traceback, no hang, one diagnostic with its place.

A seeded sample runs here; `TTNN_COMPILER_MUTATIONS=200000 pytest tests/compiler/ir/test_mutated_texts.py` runs more.
"""

from __future__ import annotations

import os
import random
import re

import pytest

from testkit.ttir_examples import EXAMPLES
from testkit.ttir_examples_2024_09 import TTIR
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.ir import CompileError, Diagnostic
from ttnn.compiler.pipelines import run
from ttnn.compiler.tools.translate import translate
from ttnn.compiler.versions import parse_module, print_module

COUNT = int(os.environ.get("TTNN_COMPILER_MUTATIONS", "2500"))


def seeds() -> list[str]:
    """Return the texts to mutate.

    Operations, a lowered module, and one with everything else.
    """
    module = parse_module(TTIR["multiply"])
    run(module, "ttir-to-ttnn-backend-pipeline")
    rest = """
    #map = affine_map<(d0, d1)[s0] -> (d0 * 2 + s0, d1 mod 4)>
    !t = tensor<2x2xf32>
    func.func @f(%a: !t loc("x":1:2), %c: i1) -> !t
        attributes {m = #map, d = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} {
      %r:2 = "u.two"(%a) ({
      ^bb0(%z: f32):
        "u.y"(%z) [^bb0] {a = [1 : i32, "s\\0A", @x::@y, dense<"0x00FF"> : tensor<2xi8>]} : (f32) -> ()
      }) : (!t) -> (!t, memref<2x!tt.tile<32x32, bf16>, #tt.memory_space<l1>>) loc(#l)
      return %r#0 : !t
    }
    #l = loc(fused<"m">["a"("b":3:4), callsite("c" at unknown)])
    {-# dialect_resources: { builtin: { k: "0x0400000000" } } #-}
    """
    return [*TTIR.values(), *EXAMPLES.values(), print_module(module), rest]


PIECES = (
    '"', "<", ">", "(", ")", "{", "}", "[", "]", ",", ":", "=", "%0", "#a", "!a", "@f", "^bb0", "->", "loc(",
    "dense<", "0x", "-1", "99999999999999999999", "1e400", "x", "tensor<", "memref<", "affine_map<", "{-#", "#-}",
    "\x00", "\\", "é", "// -----\n", "#tt.layout<", "!tt.tile<0x0, f32>", "array<i32:", "module", "func.func",
    "\n", "unit", "?",
)  # fmt: skip


def mutate(text: str, random_: random.Random) -> str:
    """Return a text with one to four changes."""
    for _ in range(random_.randint(1, 4)):
        at = random_.randrange(len(text) + 1)
        kind = random_.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + random_.randint(1, 8) :]
        elif kind == 1:
            text = text[:at] + random_.choice(PIECES) + text[at:]
        elif kind == 2:
            other = random_.randrange(len(text) + 1)
            text = text[:at] + text[other : other + 20] + text[at:]
        elif kind == 3:
            text = text[:at] + random_.choice(PIECES) + text[at + 1 :]
        else:
            text = text[:at]
        text = text or " "
    return text


def read(text: str) -> list[Diagnostic]:
    """Read and write a text; return what was said against it."""
    try:
        print_module(parse_module(text, "m.mlir", allow_unregistered=True), debuginfo=True)
    except CompileError as error:
        return list(error.diagnostics)
    return []


def test_mutated_text_raises_one_diagnostic() -> None:
    random_ = random.Random(26)
    texts = seeds()
    refused = 0
    for number in range(COUNT):
        text = mutate(random_.choice(texts), random_)
        diagnostics = read(text)
        if not diagnostics:
            continue
        refused += 1
        assert len(diagnostics) == 1, number
        (diagnostic,) = diagnostics
        assert diagnostic.severity == "error"
        assert diagnostic.message, number
        assert (diagnostic.line and diagnostic.column) or diagnostic.at, (number, text)
        assert not any(word in diagnostic.message for word in ("Traceback", "0x7f")), number
    assert refused > COUNT // 3


_NUMBER = re.compile(r"(?<![%\w.#])-?\d+(?=[ ,:\]x>])")
_KIND = re.compile(r"\b(f32|bf16|i32|si32|ui32|i1)\b")
_NUMBERS = ("-1", "0", "1", "2", "3", "5", "33", "100", "4294967296")
_KINDS = ("f32", "bf16", "f64", "i1", "i8", "ui8", "ui16", "i32", "si32", "i64")


def change(text: str, random_: random.Random) -> str:
    """Return a text with another number or type.

    It stays text, and seldom a program.
    """
    pattern, others = random_.choice([(_NUMBER, _NUMBERS), (_KIND, _KINDS)])
    places = list(pattern.finditer(text))
    if not places:
        return text
    place = random_.choice(places)
    return text[: place.start()] + random_.choice(others) + text[place.end() :]


def test_changed_numbers_and_types_are_lowered_or_refused() -> None:
    random_ = random.Random(27)
    texts = [*TTIR.values(), *EXAMPLES.values()]
    lowered, count = 0, min(COUNT // 5, 10_000)
    for _ in range(count):
        text = change(random_.choice(texts), random_)
        try:
            module = parse_module(text, "m.mlir")
            run(module, "ttir-to-ttnn-backend-pipeline")
            made = print_module(module)
            assert translate("ttnn-to-flatbuffer", made, "m.mlir")
            assert translate("mlir-to-python", made, "m.mlir")
        except (CompileError, UnsupportedError):
            continue
        lowered += 1
    assert count // 10 < lowered < count * 5 // 6


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        '"u.x"() {a = ' + "[" * 3000 + "]" * 3000 + "} : () -> ()",
        '"u.x"() (' + "{" + '"u.x"() ({' * 1500,
        "!a = " + "tensor<2x" * 2000,
        '"u.x"() {a = dense<' + "[" * 3000,
        "#a = loc(" + "fused[" * 3000,
        '"u.x"() {a = #u.y<' + "<" * 4000 + "} : () -> ()",
        '"u.x"() {a = affine_map<(d0) -> (' + "(" * 4000 + "d0)>} : () -> ()",
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(CompileError) as error:
        parse_module(text, allow_unregistered=True)
    assert len(error.value.diagnostics) == 1


def test_number_too_large_for_the_binary_raises_one_diagnostic() -> None:
    text = """
    func.func @f(%c: tensor<1x2x64x32xbf16>, %x: tensor<1x2x32x32xbf16>) -> tensor<1x2x64x32xbf16> {
      "ttir.fill_cache"(%c, %x) <{batch_offset = -1 : i32}> : (tensor<1x2x64x32xbf16>, tensor<1x2x32x32xbf16>) -> ()
      return %c : tensor<1x2x64x32xbf16>
    }
    """
    module = parse_module(text, "m.mlir")
    run(module, "ttir-to-ttnn-backend-pipeline")
    with pytest.raises(CompileError) as found:
        translate("ttnn-to-flatbuffer", print_module(module), "m.mlir")
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.message.startswith("'ttnn.fill_cache' op has no binary form: ")
    assert diagnostic.message.endswith(".batch_offset: a value of type uint32 is expected, got -1.")
    assert "batch_offset = -1" in (diagnostic.source_line or "")
    assert diagnostic.line
