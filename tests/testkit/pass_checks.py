"""Checks of rewriting passes: equal meaning before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testkit.ttir_reference import interpret
from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.pipelines import run
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module


def function(arguments: str, result: str, *lines: str) -> str:
    """Return a function; the last line is `%r`."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @f({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"


def op(result: str, name: str, operands: str, types: str, attributes: str = "") -> str:
    """Return a line: `types` is "input, input -> result" without `tensor<>`."""
    given, _, made = types.partition(" -> ")
    listed = ", ".join(f"tensor<{one}>" for one in given.split(", ") if one)
    extra = f" <{{{attributes}}}>" if attributes else ""
    return f'%{result} = "ttir.{name}"({operands}){extra} : ({listed}) -> tensor<{made}>'


def dense(values: str, type_: str, name: str = "c") -> str:
    """Return a line with a constant."""
    return op(name, "constant", "", f" -> {type_}", f"value = dense<{values}> : tensor<{type_}>")


def names(module: Module) -> list[str]:
    """Return the names of the operations of a module, without their dialect."""
    return [op.name.partition(".")[2] for op in module.op.walk() if isinstance(op, TableOp)]


def inputs(module: Module, name: str, *, positive: bool = False) -> list[NDArray[Any]]:
    """Return a function's random inputs.

    Floats around 0 (or above it), small integers.
    """
    random = np.random.default_rng(7)
    function = next(one for one in module.functions() if one.sym_name.data == name)
    made: list[NDArray[Any]] = []
    for argument in function.body.blocks[0].args:
        shape = tuple(argument.type.get_shape())  # type: ignore[attr-defined]
        kind = attribute_text(argument.type.element_type)  # type: ignore[attr-defined]
        if kind == "i1":
            made.append(random.integers(0, 2, shape))
        elif "i" in kind:
            made.append(random.integers(0, 4, shape))
        else:
            drawn = random.standard_normal(shape) * 2
            made.append(np.abs(drawn) + 0.1 if positive else drawn)
    return made


def rewritten(
    body: str,
    pipeline: str,
    *,
    version: Version = "2026-08",
    relative: float = 1e-12,
    positive: bool = False,
) -> Module:
    """Return a module after a pipeline; its outputs are those of before.

    Args:
        body: Functions in MLIR text; the first one is executed.
        pipeline: Passes.
        version: The version of the text.
        relative: Largest difference, as a part of the largest output. The reference computes in float64: what is more
            than its rounding comes from constants that are rounded to the type of their elements.
        positive: Whether inputs are positive.
    """
    before = parse_module(body, default_version=version)
    after = parse_module(body, default_version=version)
    run(after, pipeline)
    text = print_module(after)
    assert print_module(parse_module(text, default_version=version)) == text
    name = before.functions()[0].sym_name.data
    given = inputs(before, name, positive=positive)
    expected, got = interpret(before, name, given), interpret(after, name, given)
    assert len(expected) == len(got)
    for one, other in zip(expected, got, strict=True):
        scale = np.abs(one[np.isfinite(one)]).max(initial=0.0)
        np.testing.assert_allclose(other, one, rtol=0, atol=relative * max(scale, 1e-30))
    return after
