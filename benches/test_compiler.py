"""The compiler layer on 5,000 operations: reading, writing, TTNN pipeline."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

if importlib.util.find_spec("xdsl") is None:
    pytest.skip('needs pip install "ttnn-rs[compiler]"', allow_module_level=True)

from ttnn.compiler.pipelines import run
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

LAYOUT = "#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>"


def chain(count: int, encoding: str = "") -> str:
    """Return a function with a chain of elementwise operations.

    Each has an `empty`, in the text of 2024-09.

    Args:
        count: Number of operations, half of them `empty`.
        encoding: Layout of the tensors, or none.
    """
    type_ = f"tensor<64x128xf32{', #layout' if encoding else ''}>"
    lines = [f"#layout = {encoding}"] if encoding else []
    lines += ["#c = #tt.operand_constraint<any_device>", f"func.func @f(%x0: {type_}, %y: {type_}) -> {type_} {{"]
    for i in range(count // 2):
        name = ("add", "multiply", "subtract", "maximum")[i % 4]
        lines.append(f"  %e{i} = tensor.empty() : {type_}")
        lines.append(
            f'  %x{i + 1} = "ttir.{name}"(%x{i}, %y, %e{i}) <{{operandSegmentSizes = array<i32: 2, 1>, '
            f"operand_constraints = [#c, #c, #c]}}> : ({type_}, {type_}, {type_}) -> {type_}"
        )
    return "\n".join([*lines, f"  return %x{count // 2} : {type_}", "}"])


@pytest.mark.parametrize("count", [1250, 5000])
def test_parse_and_verify(benchmark: Any, count: int) -> None:
    benchmark.pedantic(parse_module, (chain(count, LAYOUT),), rounds=3, iterations=1)


@pytest.mark.parametrize("count", [1250, 5000])
def test_print(benchmark: Any, count: int) -> None:
    module = parse_module(chain(count, LAYOUT))
    benchmark.pedantic(print_module, (module,), rounds=3, iterations=1)


@pytest.mark.parametrize("count", [1250, 5000])
@pytest.mark.parametrize("version", ["2024-09", "2026-08"], ids=lambda version: version)
def test_ttnn_pipeline(benchmark: Any, count: int, version: Version) -> None:
    text = print_module(parse_module(chain(count)), version=version)

    def modules() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (parse_module(text, default_version=version), "ttir-to-ttnn-backend-pipeline"), {}

    benchmark.pedantic(run, setup=modules, rounds=2, iterations=1)
