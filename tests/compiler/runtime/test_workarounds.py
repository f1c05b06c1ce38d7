"""`ttnn-workaround` and `ttnn-decompose-layouts`: float64, three ways, inserted operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from testkit.ttir_reference import interpret
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers, place
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

Array = NDArray[Any]
PIPELINE = "ttir-to-ttnn-runtime-pipeline"
WITHOUT = "{enable-layout-workaround-pass=false enable-decomposition-workaround-pass=false}"


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def function(op: str, inputs: list[str], output: str, attributes: str = "") -> str:
    names = [f"%arg{index}" for index in range(len(inputs))]
    arguments = ", ".join(f"{name}: tensor<{kind}>" for name, kind in zip(names, inputs, strict=True))
    types = ", ".join(f"tensor<{kind}>" for kind in inputs)
    return (
        f"func.func @one({arguments}) -> tensor<{output}> {{\n"
        f'  %0 = "ttir.{op}"({", ".join(names)}) <{{{attributes}}}> : ({types}) -> tensor<{output}>\n'
        f"  return %0 : tensor<{output}>\n}}\n"
    )


IMAGE = "1x16x16x32xbf16"
WINDOW = "stride = array<i32: 1, 1>, dilation = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>"
#: Text, and how far from float64 it may be: rounding to bfloat16 is an error of 2**-9, so four factors and their three
#: products are within seven of these.
EXAMPLES: dict[str, tuple[str, float]] = {
    "sum of integers": (function("sum", ["32x64xi32"], "32x1xi32", "keep_dim = true, dim_arg = [1 : i32]"), 4e-3),
    "product": (function("prod", ["32x4xf32"], "32x1xf32", "keep_dim = true, dim_arg = [1 : i32]"), 7 * 2**-9),
    "permuted integers": (
        function("permute", ["4x32x64xi32"], "64x4x32xi32", "permutation = array<i64: 2, 0, 1>"),
        0.0,
    ),
    "where of integers": (function("where", ["32x64xi32", "32x64xi32", "32x64xi32"], "32x64xi32"), 0.0),
    "tanh": (function("tanh", ["32x64xf32"], "32x64xf32"), 8e-3),
    "argmax": (function("argmax", ["64x96xf32"], "64x1xi32", "keep_dim = true, dim_arg = [1 : i32]"), 0.0),
    "padding before": (
        function("pad", ["30x64xf32"], "32x66xf32", "padding = array<i32: 2, 0, 1, 1>, value = 0.5 : f32"),
        0.0,
    ),
    "padding of five dimensions": (
        function(
            "pad",
            ["2x2x3x32x32xf32"],
            "2x2x5x32x33xf32",
            "padding = array<i32: 0, 0, 0, 0, 0, 2, 0, 0, 0, 1>, value = 0.0 : f32",
        ),
        0.0,
    ),
    "embedding": (function("embedding", ["32xi32", "64x96xf32"], "32x96xf32"), 4e-3),
    "max_pool2d": (
        function("max_pool2d", [IMAGE], "1x8x8x32xbf16", "kernel = array<i32: 2, 2>, ceil_mode = false, "
                 + WINDOW.replace("stride = array<i32: 1, 1>", "stride = array<i32: 2, 2>")),
        0.0,
    ),
    "conv2d": (
        function(
            "conv2d",
            [IMAGE, "64x32x3x3xbf16", "1x1x1x64xbf16"],
            "1x14x14x64xbf16",
            f"groups = 1 : i32, {WINDOW}",
        ),
        1.2e-2,
    ),
    "cumsum of the last dimension": (function("cumsum", ["2x3x32x64xf32"], "2x3x32x64xf32", "dim = 3 : i64"), 1e-2),
    "subtract with a broadcast": (function("subtract", ["32x64xf32", "1x64xf32"], "32x64xf32"), 4e-3),
    "sum of integers and floats": (function("add", ["32x64xi32", "32x64xf32"], "32x64xf32"), 4e-3),
    "integers above floats": (function("gt", ["32x64xi32", "32x64xbf16"], "32x64xbf16"), 0.0),
    "linear of batches": (function("linear", ["2x32x64xf32", "2x64x32xf32", "32xf32"], "2x32x32xf32"), 1e-2),
    "concat of vectors": (
        function("concat", ["32xf32", "64xf32"], "96xf32", "dim = 0 : si32"),
        0.0,
    ),
}  # fmt: skip


def lowered(text: str, version: Version, options: str = "") -> Any:
    module = parse_module(print_module(parse_module(text), version=version), default_version=version)
    run(module, PIPELINE + options)
    return module


def inputs_of(program: Program) -> list[Array]:
    random = np.random.default_rng(11)
    made: list[Array] = []
    for _, want in program.inputs:
        if want.data_type in ("Int32", "UInt32", "UInt16", "UInt8"):
            kind = {"Int32": np.int32, "UInt32": np.uint32, "UInt16": np.uint16, "UInt8": np.uint8}[want.data_type]
            made.append(random.integers(0, 5, want.shape).astype(kind))
        else:
            values = random.standard_normal(want.shape).astype(np.float32)
            made.append(values.astype(ml_dtypes.bfloat16) if want.data_type == "BFloat16" else values)
    return made


@pytest.mark.parametrize("version", ["2025-10", "2026-08"], ids=lambda version: version)
@pytest.mark.parametrize("name", EXAMPLES)
def test_binary_and_python_match_the_reference(name: str, version: Version, device: ttnn.MeshDevice) -> None:
    text, most = EXAMPLES[name]
    module = lowered(text, version)
    (program,) = programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))
    inputs = inputs_of(program)
    (expected,) = interpret(parse_module(text), "one", [one.astype(np.float64) for one in inputs])
    tensors = [ttnn.from_torch(one) for one in inputs]
    (result,) = execute(program, tensors, device)
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(emitpy_source(emitpy_module([program])), "emitted.py", "exec"), names)
    placed = [place(one, want, device, Transfers()) for one, (_, want) in zip(tensors, program.inputs, strict=True)]
    (emitted,) = names["one"](placed, device)
    assert ttnn.to_numpy(result).tobytes() == ttnn.to_numpy(emitted).tobytes()
    got = ttnn.to_numpy(result).astype(np.float64)
    assert got.shape == expected.shape
    assert np.linalg.norm(got - expected) <= most * np.linalg.norm(expected)


def test_small_integer_products_are_exact(device: ttnn.MeshDevice) -> None:
    text = function("prod", ["32x4xi32"], "32x1xi32", "keep_dim = true, dim_arg = [1 : i32]")
    (program,) = programs(ttnn_to_binary(lowered(text, "2026-08"), "0.1.0"))
    values = np.random.default_rng(3).integers(1, 40, (32, 4)).astype(np.int32)
    (result,) = execute(program, [ttnn.from_torch(values)], device)
    assert np.array_equal(ttnn.to_numpy(result), values.prod(axis=1, keepdims=True, dtype=np.int64))


def counted(module: Any) -> Counter[str]:
    return Counter(op.name.removeprefix("ttnn.") for op in module.op.walk() if op.name.startswith("ttnn."))


def test_pipeline_options_switch_the_workaround_passes() -> None:
    text, _ = EXAMPLES["linear of batches"]
    assert counted(lowered(text, "2026-08"))["linear"] == 0
    assert counted(lowered(text, "2026-08"))["matmul"] == 1
    assert counted(lowered(text, "2026-08", WITHOUT))["linear"] == 1
    text, _ = EXAMPLES["tanh"]
    assert counted(lowered(text, "2026-08"))["typecast"] == 2
    assert counted(lowered(text, "2026-08", WITHOUT))["typecast"] == 0


LAYOUTS = """#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#host = #ttnn.buffer_type<system_memory>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x96xf32, #host>>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#near = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x6x!ttcore.tile<32x32, bf16>, #l1>, <interleaved>>
#bytes = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x96xui8, #dram>, <interleaved>>
#more = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, u8>, #dram>, <interleaved>>
"""


def steps(before: str, after: str, kind: str, result: str) -> list[str]:
    text = (
        LAYOUTS
        + f"func.func @f(%a: tensor<64x96x{kind}, #{before}>) -> tensor<64x96x{result}, #{after}> {{\n"
        + f'  %0 = "ttnn.to_tensor_spec"(%a) : (tensor<64x96x{kind}, #{before}>) -> tensor<64x96x{result}, #{after}>\n'
        + f"  return %0 : tensor<64x96x{result}, #{after}>\n}}\n"
    )
    module = parse_module(text)
    run(module, "ttcore-register-device,ttnn-decompose-layouts")
    return [op.name.removeprefix("ttnn.") for op in module.op.walk() if op.name.startswith("ttnn.")]


def test_layout_changes_decompose_to_single_calls() -> None:
    assert steps("rows", "tiles", "f32", "bf16") == ["get_device", "to_device", "to_layout"]
    assert steps("tiles", "rows", "bf16", "f32") == ["typecast", "to_layout", "from_device"]
    assert steps("tiles", "near", "bf16", "bf16") == ["to_memory_config"]
    # The device does not change the layout of bytes.
    assert steps("bytes", "more", "ui8", "ui8") == ["get_device", "from_device", "to_layout", "to_device"]
    with pytest.raises(CompileError, match=r"Redundant ttnn::ToLayoutOp"):
        steps("tiles", "tiles", "bf16", "bf16")


ROWS = """#dram = #ttnn.buffer_type<dram>
#i = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#o = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @f(%a: tensor<32xui32, #i>, %w: tensor<64x96xf32, #w>) -> tensor<32x96xf32, #o> {
  %0 = "ttnn.embedding"(%a, %w) : (tensor<32xui32, #i>, tensor<64x96xf32, #w>) -> tensor<32x96xf32, #o>
  return %0 : tensor<32x96xf32, #o>
}
"""


def test_workaround_rows_convert_operands_and_results() -> None:
    module = parse_module(ROWS, default_version="2026-08")
    run(module, "ttnn-workaround")
    text = print_module(module, local_scope=True)
    assert text.count("ttnn.to_tensor_spec") == 3
    call = next(line for line in text.splitlines() if '"ttnn.embedding"' in line)
    assert "memref<1x32xui32" in call
    assert "memref<64x96xbf16" in call
    assert "memref<1x3x!ttcore.tile<32x32, bf16>" in call
    # A second run finds nothing left to do.
    before = text
    run(module, "ttnn-workaround")
    assert print_module(module, local_scope=True) == before
