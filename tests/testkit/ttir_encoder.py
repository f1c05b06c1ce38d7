"""Text of an encoder in TTIR, as torch models lower to it.

`python tests/testkit ttir_encoder --tokens 32` prints one of six layers, batch 8, width 384 with 12 heads.
"""

from __future__ import annotations

import argparse
import sys

PARAMETER = "{ttcore.argument_type = #ttcore.argument_type<parameter>}"
INPUT = "{ttcore.argument_type = #ttcore.argument_type<input>}"


class _Text:
    """Lines of a function, with its arguments."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.lines: list[str] = []

    def argument(self, kind: str, role: str = PARAMETER) -> str:
        name = f"%arg{len(self.arguments)}"
        self.arguments.append(f"{name}: tensor<{kind}xbf16> {role}")
        return name

    def op(self, name: str, operands: str, kinds: str, result: str, attributes: str = "") -> str:
        value = f"%{len(self.lines)}"
        types = ", ".join(f"tensor<{kind}xbf16>" for kind in kinds.split(", ") if kind)
        given = f" <{{{attributes}}}>" if attributes else ""
        self.lines.append(f'    {value} = "ttir.{name}"({operands}){given} : ({types}) -> tensor<{result}xbf16>')
        return value


def encoder(
    layers: int = 6, batch: int = 8, tokens: int = 32, width: int = 384, heads: int = 12, hidden: int = 1536
) -> str:
    """Return the module of an encoder.

    Its inputs are [batch * tokens, width] and a mask [batch, 1, 1, tokens].
    """
    text = _Text()
    size = width // heads
    flat, rows = f"{batch * tokens}x{width}", f"{batch}x{tokens}x{width}"
    x, mask = text.argument(flat, INPUT), text.argument(f"{batch}x1x1x{tokens}", INPUT)
    cut, split = f"{batch}x{tokens}x{heads}x{size}", f"{batch}x{heads}x{tokens}x{size}"
    turned, scores = f"{batch}x{heads}x{size}x{tokens}", f"{batch}x{heads}x{tokens}x{tokens}"
    sizes = ", ".join(f"{number} : i32" for number in (batch, tokens, heads, size))

    def linear(value: str, begin: int, end: int) -> str:
        weights, bias = text.argument(f"{begin}x{end}"), text.argument(f"{end}")
        kinds = f"{batch * tokens}x{begin}, {begin}x{end}, {end}"
        return text.op("linear", f"{value}, {weights}, {bias}", kinds, f"{batch * tokens}x{end}")

    def norm(value: str) -> str:
        weight, bias = text.argument(f"{width}"), text.argument(f"{width}")
        options = f"epsilon = 1.0e-12 : f32, normalized_shape = array<i64: {width}>, "
        options += "operandSegmentSizes = array<i32: 1, 1, 1>"
        return text.op("layer_norm", f"{value}, {weight}, {bias}", f"{flat}, {width}, {width}", flat, options)

    for _ in range(layers):
        parts = []
        for order, result in (("0, 2, 1, 3", split), ("0, 2, 3, 1", turned), ("0, 2, 1, 3", split)):
            part = text.op("reshape", linear(x, width, width), flat, cut, f"shape = [{sizes}]")
            parts.append(text.op("permute", part, cut, result, f"permutation = array<i64: {order}>"))
        product = text.op("matmul", f"{parts[0]}, {parts[1]}", f"{split}, {turned}", scores)
        fill = ", ".join(scores.split("x"))
        factor = text.op("full", "", "", scores, f"shape = array<i32: {fill}>, fill_value = {size**-0.5:.8e} : f32")
        product = text.op("multiply", f"{product}, {factor}", f"{scores}, {scores}", scores)
        product = text.op("add", f"{product}, {mask}", f"{scores}, {batch}x1x1x{tokens}", scores)
        weights = text.op("softmax", product, scores, scores, "dimension = 3 : si32, numericStable = true")
        context = text.op("matmul", f"{weights}, {parts[2]}", f"{scores}, {split}", split)
        context = text.op("permute", context, split, cut, "permutation = array<i64: 0, 2, 1, 3>")
        context = text.op("reshape", context, cut, flat, f"shape = [{batch * tokens} : i32, {width} : i32]")
        x = norm(text.op("add", f"{linear(context, width, width)}, {x}", f"{flat}, {flat}", flat))
        inner = f"{batch * tokens}x{hidden}"
        between = text.op("gelu", linear(x, width, hidden), inner, inner)
        x = norm(text.op("add", f"{linear(between, hidden, width)}, {x}", f"{flat}, {flat}", flat))
    x = text.op("reshape", x, flat, rows, f"shape = [{batch} : i32, {tokens} : i32, {width} : i32]")
    arguments, body = ", ".join(text.arguments), "\n".join(text.lines)
    result = f"tensor<{rows}xbf16>"
    return f"module {{\n  func.func @main({arguments}) -> {result} {{\n{body}\n    return {x} : {result}\n  }}\n}}\n"


def main() -> None:
    """Print a module."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("layers", 6), ("batch", 8), ("tokens", 32), ("width", 384), ("heads", 12), ("hidden", 1536)):
        parser.add_argument(f"--{name}", type=int, default=default)
    sys.stdout.write(encoder(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
