"""8-bit and 16-bit integers keep their signs.

They are unsigned on the chip; operations that depend on the sign are tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.module import Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

ROWS = "dim_arg = [1 : i32], keep_dim = true"
#: Operation, data type, number of operands, type of the result, attributes and what NumPy computes from int64.
CASES: dict[str, tuple[str, str, int, str, str, Any]] = {
    "to floats": ("typecast", "si8", 1, "4x32xf32", "", lambda a: a),
    "to words": ("typecast", "i16", 1, "4x32xi32", "", lambda a: a),
    "largest": ("maximum", "i8", 2, "4x32xi8", "", np.maximum),
    "negative": ("neg", "si8", 1, "4x32xsi8", "", np.negative),
    "below": ("lt", "si16", 2, "4x32xbf16", "", np.less),
    "rectified": ("relu", "si16", 1, "4x32xsi16", "", lambda a: np.maximum(a, 0)),
    "sum of words": ("sum", "si8", 1, "4x1xsi32", ROWS, lambda a: a.sum(axis=1, keepdims=True)),
    "smallest of rows": ("min", "si8", 1, "4x1xsi8", ROWS, lambda a: a.min(axis=1, keepdims=True)),
    "difference": ("subtract", "si16", 2, "4x32xsi16", "", np.subtract),
    "unsigned": ("typecast", "ui8", 1, "4x32xf32", "", lambda a: a & 0xFF),
}


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def text(name: str) -> str:
    op, kind, count, output, attributes, _ = CASES[name]
    names = [f"%a{index}" for index in range(count)]
    arguments = ", ".join(f"{one}: tensor<4x32x{kind}>" for one in names)
    types = ", ".join([f"tensor<4x32x{kind}>"] * count)
    return (
        f"func.func @f({arguments}) -> tensor<{output}> {{\n"
        f'  %0 = "ttir.{op}"({", ".join(names)}) <{{{attributes}}}> : ({types}) -> tensor<{output}>\n'
        f"  return %0 : tensor<{output}>\n}}\n"
    )


def lowered(module: Module) -> Any:
    run(module, "ttir-to-ttnn-runtime-pipeline")
    whole = programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))
    (program,) = [one for one in whole if not one.private]
    return program


@pytest.mark.parametrize("version", ["2025-10", "2026-08"], ids=lambda version: version)
@pytest.mark.parametrize("name", CASES)
def test_narrow_integers_keep_their_signs(name: str, version: Version, device: ttnn.MeshDevice) -> None:
    _, kind, count, output, _, function = CASES[name]
    program = lowered(parse_module(print_module(parse_module(text(name)), version=version), default_version=version))
    width = 16 if "16" in kind else 8
    random = np.random.default_rng(3)
    numbers = [random.integers(-(1 << (width - 1)), 1 << (width - 1), (4, 32)) for _ in range(count)]
    if name == "sum of words":
        # Sums below 256 are exact in bfloat16.
        numbers = [one // 32 for one in numbers]
    unsigned = np.uint16 if width == 16 else np.uint8
    inputs = [ttnn.from_torch(one.astype(unsigned)) for one in numbers]
    got = ttnn.to_numpy(execute(program, inputs, device)[0])
    if got.dtype == unsigned:
        # The bits are those of the signed result.
        got = got.view(f"int{width}")
    expected = function(*numbers)
    expected = expected.astype(f"int{width}") if "i8" in output or "i16" in output else expected
    assert got.astype(np.int64).tolist() == expected.astype(np.int64).tolist()


def test_operations_with_equal_bits_stay_unsigned() -> None:
    module = parse_module(text("difference"))
    run(module, "ttir-element-type-normalization")
    assert [op.name for op in module.functions()[0].body.blocks[0].ops] == ["ttir.subtract", "func.return"]
