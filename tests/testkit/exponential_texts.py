"""Texts with endless expansion or repeated passes, unless limited."""

from __future__ import annotations

import random
from collections.abc import Callable

USE = '"u.x"() {{a = {}}} : () -> ()\n'


def aliases(levels: int, definition: str, first: str) -> str:
    """Return aliases that each name the one before, `@` in their definition."""
    sigil = "!" if first == "i32" else "#"
    lines = [f"{sigil}a0 = {first}"]
    lines += [f"{sigil}a{i} = {definition}".replace("@", f"{sigil}a{i - 1}") for i in range(1, levels)]
    return "\n".join(lines) + "\n"


def doubled(definition: str, first: str = "1 : i32", levels: int = 40) -> str:
    """Return a module with an attribute that is doubled at each level."""
    last = ("!" if first == "i32" else "#") + f"a{levels - 1}"
    if "loc(" in definition:
        return aliases(levels, definition, first) + f'"u.x"() : () -> () loc({last})\n'
    return aliases(levels, definition, first) + USE.format(last)


def attribute(before: str, levels: int, after: str, inside: str = "1") -> str:
    """Return a module with an attribute that is nested in itself."""
    return USE.format(before * levels + inside + after * levels)


DOUBLED = {
    "arrays": doubled("[@, @]"),
    "dictionaries": doubled("{x = @, y = @}"),
    "tuples": doubled("tuple<@, @>", "i32"),
    "function types": doubled("(@, @) -> @", "i32"),
    "fused locations": doubled("loc(fused[@, @])", "loc(unknown)"),
    "call sites": doubled("loc(callsite(@ at @))", 'loc("x")'),
    "unknown attributes": doubled("#u.x<@, @>"),
    "attributes of no table": doubled("#ttcore.foo<@, @>"),
    "encodings": aliases(40, "#u.x<@, @>", "1 : i32") + USE.format("tensor<2xf32, #a39>"),
    "many uses": aliases(14, "[@, @]", "1 : i32") + USE.format("#a13") * 500,
    "many uses of a type": aliases(14, "[@, @]", "1 : i32") + USE.format("tensor<2xi32, #a13>") * 500,
    "uses of a long string": '#s = "' + "x" * 100_000 + '"\n' + USE.format("[" + ", ".join(["#s"] * 10_000) + "]"),
}

NESTED = {
    "arrays": attribute("[", 1_000, "]"),
    "dictionaries": attribute("{a = ", 1_000, "}"),
    "tuples": attribute("tuple<", 1_000, ">", "i1"),
    "tensors": attribute("tensor<2x", 1_000, ">", "i1"),
    "results of functions": attribute("() -> (", 1_000, ")", "i1"),
    "arguments of functions": attribute("(", 1_000, ") -> ()", "i1"),
    "complex numbers": attribute("complex<", 1_000, ">", "f32"),
    "fused locations": '"u.x"() : () -> () loc(' + "fused[" * 1_000 + "unknown" + "]" * 1_000 + ")",
    "named locations": '"u.x"() : () -> () loc(' + '"a"(' * 1_000 + "unknown" + ")" * 1_000 + ")",
    "regions": '"u.x"() ({' * 1_000 + "}) : () -> ()" * 1_000,
    "modules": "module {" * 1_000 + "}" * 1_000,
    "layouts": attribute("#ttnn.ttnn_layout<", 1_000, ">"),
    "aliases": aliases(1_000, "[@]", "1 : i32") + USE.format("#a999"),
    "aliases before their definition": "".join(f"#a{i} = [#a{i + 1}]\n" for i in range(1_000))
    + "#a1000 = 1 : i32\n"
    + USE.format("#a0"),
    "an alias in an array": "#a = " + "[" * 40 + "]" * 40 + "\n" + attribute("[", 40, "]", "#a"),
}

NUMBERS = {
    "a number of": USE.format("9" * 5_000 + " : i64"),
    "a number of 1,000,002": USE.format("0x" + "F" * 1_000_000 + " : i64"),
    "a number of 100,002": USE.format("9" * 100_000 + ".0 : f32"),
    "limited to 16777215 bits": USE.format("1 : i99999999999"),
    "integer bitwidth": USE.format("si" + "9" * 10_000),
    "a dimension is at most": USE.format("tensor<99999999999999999999xf32>"),
    "expected integer elements": USE.format("dense<[" + "9" * 5_000 + "]> : tensor<1xi32>"),
    "provided 99999999999 to bind": '%0:99999999999 = "u.x"() : () -> i32\n',
    "at most 64 dimensions": USE.format("tensor<" + "1x" * 10_000 + "f32>"),
    "at most 64 dimensions and": USE.format("affine_map<(" + ", ".join(f"d{i}" for i in range(100)) + ") -> (d0)>"),
    "at most 64 results": USE.format("affine_map<(d0) -> (" + ", ".join(["d0"] * 10_000) + ")>"),
    "at most 128 operands": USE.format("affine_map<(d0)[s0] -> (d0" + " * s0" * 5_000 + ")>"),
    "has at most 128 operands": USE.format("affine_map<(d0) -> (" + "(" * 5_000 + "d0" + ")" * 5_000 + ")>"),
    "expression has at most 128": USE.format("affine_map<(d0) -> (" + "-" * 5_000 + "d0)>"),
    "affine expression is at most": USE.format("affine_map<(d0) -> (d0 * " + "9" * 100 + ")>"),
    "at most 250,000 escapes": USE.format('"' + "\\0A" * 300_000 + '"'),
    "expected string literal to end": '"u.x"() {a = "' + "x" * 1_000_000,
    "undefined symbol alias": "#a = [#b]\n#b = [#a]\n" + USE.format("#a"),
    "redefinition of": "#a = 1 : i32\n" * 2_000,
}

#: Texts that are right, or wrong, and took quadratic time.
LONG = {
    "string": USE.format('"' + "x" * 5_000_000 + '"'),
    "name": '"u.' + "x" * 2_000_000 + '"() : () -> ()',
    "brackets": USE.format("#u.y<" + "[1]" * 200_000 + ">"),
    "blanks": USE.format("#u.y<a\n" + " " * 500_000 + "b>"),
    "properties": '"ttnn.x"() <{' + "dim = 1 : i32, " * 20_000 + "a = 1}> : () -> ()",
    "lines": "\n" * 2_000_000 + USE.format("1"),
    "bits": USE.format('dense<"0x' + "5A" * 1_000_000 + '"> : tensor<8000000xi1>'),
    "constants": "".join(f"%{i} = arith.constant 1.0 : f32\n" for i in range(3_000)),
    "regions": "".join(f'%{i} = "u.x"() ({{}}) : () -> i32\n' for i in range(3_000)),
}


def grown(random_: random.Random) -> str:
    """Return a module with too much nesting, repetition or names."""

    def one() -> str:
        return random_.choice(["1 : i32", "unit", '"s"', "@f", "f32", "dense<1> : tensor<4294967296xi8>", "[]"])

    def deep(inside: str) -> str:
        before, after = random_.choice(
            [("[", "]"), ("{a = ", "}"), ("#u.x<", ">"), ("[1, ", "]"), ("tuple<", ">"), ("tensor<2x", ">")]
        )
        levels = random_.choice([1, 3, 30, 63, 64, 65, 300])
        return before * levels + inside + after * levels

    def wide(inside: str) -> str:
        return "[" + ", ".join([inside] * random_.choice([1, 10, 300])) + "]"

    def number(inside: str) -> str:
        digits = "9" * random_.choice([1, 18, 19, 20, 999, 1_001])
        kind = random_.choice(["{} : i64", "{} : index", "tensor<{}xf32>", "1 : i{}", "{}.0 : f64", "0x{} : index"])
        return f"[{kind.format(digits)}, {inside}]"

    def affine(inside: str) -> str:
        count = random_.choice([1, 5, 64, 65, 128, 129])
        term = random_.choice([" + d0 * 3", " floordiv 2", " mod 5", " * s0", " - d1 * 7", " + 9223372036854775807"])
        return f"[affine_map<(d0, d1)[s0] -> (d0{term * count})>, {inside}]"

    steps: list[Callable[[str], str]] = [deep, wide, number, affine]
    lines, value = [], one()
    for number_ in range(random_.choice([1, 2, 10, 30])):
        for _ in range(random_.choice([0, 1, 1, 2])):
            if len(value) < 10_000:
                value = random_.choice(steps)(value)
        lines.append(f"#a{number_} = {value}")
        value = random_.choice([f"#a{number_}", f"[#a{number_}, #a{number_}]", f"{{x = #a{number_}, y = #a0}}"])
    random_.shuffle(lines)
    return "\n".join(lines) + "\n" + USE.format(value) * random_.choice([1, 1, 50])
