"""Later operations: binary and Python agree, close to float64.

In three spellings.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from testkit.ttir_examples import EXAMPLES, S
from testkit.ttir_inputs import chosen
from testkit.ttir_reference import interpret
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers, place
from ttnn.compiler.target import cpp
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.tools.translate import translate
from ttnn.compiler.versions import parse_module, print_module

Array = NDArray[Any]


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


#: Sums of products and of many values have TF32 operands; results of these are compared by their distance.
LOOSE = {
    "batch_norm_training",
    "group_norm",
    "matmul",
    "linear",
    "cumsum",
    "sum",
    "mean",
    "softmax",
    "conv_transpose2d",
    "cumprod",
}
LOOSE |= {op for op in EXAMPLES if op.startswith(("embedding_b", "conv2d", "linear", "matmul", "gelu_bw"))}
POSITIVE = {"sqrt", "rsqrt", "log", "log1p", "reciprocal", "div", "pow", "remainder"}


def inputs_of(program: Any, op: str) -> list[Array]:
    random = np.random.default_rng(7)
    given = chosen(parse_module(EXAMPLES[op]))
    made = []
    for index, (_, want) in enumerate(program.inputs):
        values = given.get(("one", index), random.standard_normal(want.shape))
        made.append(values.astype({"Int32": np.int32, "UInt32": np.uint32}.get(want.data_type, np.float32)))
    if op in ("eq", "ne", "logical_and", "logical_or", "logical_xor", "logical_not", "where"):
        # Without negative zeros: predicates look at bits.
        made = [np.round(one) + np.float32(0) for one in made]
    return [np.abs(one) + np.float32(0.5) for one in made] if op in POSITIVE else made


#: What attention errs by. bfloat16 has 8 significant bits; HiFi2 cuts the last of one factor off, results are rounded;
#: the exponential has the accuracy that `ttnn.transformer` documents.
CUT, ROUND, EXPONENTIAL = 2.0**-7, 2.0**-8, 0.03


def attention_bound(op: str, inputs: list[Array]) -> Array:
    """Return the error bound of each element of attention.

    The weights are p = exp(s) / sum(exp(s)). Where each exp(s) errs by the share w, a sum of p * v errs by 2 * w of the
    sum of p * |v|: once for itself, once for the sum that it is divided by. A score errs by a cut of one factor and
    its rounding, of the sum of the magnitudes of its products; the product with the values by a cut, the rounding of
    the weights and that of the result, and so does a mask that is added, which is rounded with the score.
    """
    queries, keys = (np.abs(one.astype(np.float64)).reshape(-1, one.shape[-1]) for one in inputs[:2])
    scale = 0.25 if op == "attention_mask" else queries.shape[-1] ** -0.5
    scores = (queries @ keys.T).max() * scale
    masks = [one for one in inputs[3:] if op.startswith("attention_mask") and one.ndim == 4]
    added = max((np.abs(one[one > -1e4]).max() for one in masks), default=0.0)
    weights = EXPONENTIAL + (CUT + ROUND) * scores + ROUND * (scores + added)
    values = [*inputs[:2], np.abs(inputs[2]), *inputs[3:]]
    (magnitude,) = interpret(parse_module(EXAMPLES[op]), "one", values)
    return np.asarray((2 * weights + CUT + 2 * ROUND) * magnitude)


def host(tensor: Any) -> Array:
    return ttnn.to_numpy(tensor)


@pytest.mark.parametrize("op", EXAMPLES)
def test_binary_and_python_match_the_reference(op: str, device: ttnn.MeshDevice) -> None:
    module = parse_module(EXAMPLES[op])
    lowered = parse_module(EXAMPLES[op])
    # Every operation in one program, as it is called.
    run(lowered, "ttir-to-ttnn-backend-pipeline{enable-ttnn-decomposition-pass=false enable-const-eval=false}")
    (program,) = programs(Binary.parse(ttnn_to_binary(lowered, "0.1.0").to_bytes()))
    inputs = inputs_of(program, op)
    inputs = [rounded(one, want.data_type) for one, (_, want) in zip(inputs, program.inputs, strict=True)]
    expected = interpret(module, "one", inputs)
    results = execute(program, [ttnn.from_torch(one) for one in inputs], device)
    got = [host(result) for result in results]
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(str(translate("mlir-to-python", print_module(lowered))), "emitted.py", "exec"), names)
    tensors = [ttnn.from_torch(one) for one in inputs]
    placed = [place(one, want, device, Transfers()) for one, (_, want) in zip(tensors, program.inputs, strict=True)]
    emitted = [host(one) for one in names["one"](placed, device)]
    assert [one.tobytes() for one in got] == [one.tobytes() for one in emitted]
    if op.startswith("attention"):
        assert got[0].shape == expected[0].shape
        error = got[0].astype(np.float64) - expected[0]
        assert (np.abs(error) <= attention_bound(op, inputs)).all()
        # Errors of weights have both signs: together they stay below the largest of one exponential.
        assert np.linalg.norm(error) <= EXPONENTIAL * np.linalg.norm(expected[0])
        return
    for one, other in zip(got, expected, strict=True):
        assert one.shape == other.shape
        distance = np.linalg.norm(one.astype(np.float64) - other) / max(np.linalg.norm(other), 1e-30)
        assert distance <= (1e-2 if op in LOOSE else 4e-3)


def test_int64_limits_saturate_to_int32() -> None:
    text = """func.func @clamp(%a: tensor<32x32xi64>) -> tensor<32x32xi64> {
  %0 = "ttir.constant"() <{value = dense<1> : tensor<32x32xi64>}> : () -> tensor<32x32xi64>
  %1 = "ttir.constant"() <{value = dense<9223372036854775807> : tensor<32x32xi64>}> : () -> tensor<32x32xi64>
  %2 = "ttir.clamp_tensor"(%a, %0, %1) : (tensor<32x32xi64>, tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi64>
  return %2 : tensor<32x32xi64>
}
"""
    module = parse_module(text)
    run(module, "ttir-to-ttnn-backend-pipeline")
    assert "2147483647 : i32" in print_module(module)


SOURCES = ("add", "concat", "embedding_backward", "gelu_bw", "matmul", "sort", "split_heads", "update_cache")


@pytest.mark.parametrize("op", SOURCES)
def test_emitpy_statements_equal_the_binary(op: str, device: ttnn.MeshDevice) -> None:
    """Pipeline to dialect `emitpy`, whose text is read before Python output."""
    lowered, python = parse_module(EXAMPLES[op]), parse_module(EXAMPLES[op])
    run(lowered, "ttir-to-ttnn-backend-pipeline")
    (program,) = programs(ttnn_to_binary(lowered, "0.1.0"))
    run(python, "ttir-to-emitpy-pipeline{target-module=true}")
    source = str(translate("mlir-to-python", print_module(python)))
    assert "def forward(input, device):" in source
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    inputs = inputs_of(program, op)
    expected = execute(program, [ttnn.from_torch(one) for one in inputs], device)
    tensors = [ttnn.from_torch(one) for one in inputs]
    placed = [place(one, want, device, Transfers()) for one, (_, want) in zip(tensors, program.inputs, strict=True)]
    emitted = names["forward"](placed, device)
    assert [host(one).tobytes() for one in emitted] == [host(one).tobytes() for one in expected]


def test_emitted_python_runs_standalone(device: ttnn.MeshDevice) -> None:
    """Functions call each other; `create_inputs_for_NAME` makes what they take."""
    text = EXAMPLES["exp"].replace("@one", "private @inner") + (
        f"func.func @outer(%a: tensor<{S}>) -> tensor<{S}> {{\n  %0 = call @inner(%a) : (tensor<{S}>) -> tensor<{S}>\n"
        f'  %1 = "ttir.neg"(%0) : (tensor<{S}>) -> tensor<{S}>\n  return %1 : tensor<{S}>\n}}\n'
    )
    module = parse_module(text)
    run(module, "ttir-to-ttnn-backend-pipeline,convert-ttnn-to-emitpy")
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(str(translate("mlir-to-python", print_module(module))), "emitted.py", "exec"), names)
    (result,) = names["outer"](names["create_inputs_for_outer"](device), device)
    ones = ttnn.ones([64, 96], ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert host(result).tobytes() == host(ttnn.neg(ttnn.exp(ones))).tobytes()


def rounded(values: Array, data_type: str) -> Array:
    """Inputs in the data type that the program has them in."""
    return values.astype(ml_dtypes.bfloat16).astype(np.float32) if data_type == "BFloat16" else values


def test_emitted_cpp_compiles_against_the_header(tmp_path: Path) -> None:
    """All examples at once, from `ttnn` and from `emitc`.

    The header has names only: calls and types are checked.
    """
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler of the host: g++ or clang++")
    sources = []
    for op, text in EXAMPLES.items():
        lowered = parse_module(text.replace("@one", f"@f_{op}"))
        run(lowered, "ttir-to-ttnn-backend-pipeline{enable-const-eval=false}")
        sources.append(str(translate("mlir-to-cpp", print_module(lowered))))
        run(lowered, "convert-ttnn-to-emitc")
        assert translate("mlir-to-cpp", print_module(lowered)) == sources[-1]
    source = tmp_path / "emitted.cpp"
    source.write_text("\n".join(sources))
    include = Path(cpp.__file__).parent / "include"
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    functions = re.findall(r"^[:a-z<]*ttnn::Tensor>? f_", source.read_text(), re.M)
    assert len(functions) == len(EXAMPLES)


def test_program_calls_another_program(device: ttnn.MeshDevice) -> None:
    text = EXAMPLES["exp"].replace("@one", "@inner") + (
        f"func.func @outer(%a: tensor<{S}>) -> tensor<{S}> {{\n  %0 = call @inner(%a) : (tensor<{S}>) -> tensor<{S}>\n"
        f'  %1 = "ttir.neg"(%0) : (tensor<{S}>) -> tensor<{S}>\n  return %1 : tensor<{S}>\n}}\n'
    )
    lowered = parse_module(text)
    run(lowered, "ttir-to-ttnn-backend-pipeline")
    found = {program.name: program for program in programs(ttnn_to_binary(lowered, "0.1.0"))}
    x = np.random.default_rng(0).standard_normal((64, 96)).astype(np.float32)
    (result,) = execute(found["outer"], [ttnn.from_torch(x)], device)
    placed = place(ttnn.from_torch(x), found["outer"].inputs[0][1], device, Transfers())
    assert np.array_equal(host(result), host(ttnn.neg(ttnn.exp(placed))))


def test_cancelling_moves_keep_the_bits(device: ttnn.MeshDevice) -> None:
    wide, tall = "tensor<2x32x64x96xbf16>", "tensor<2x64x96x32xbf16>"
    text = (
        f"func.func @one(%a: {wide}, %b: {wide}) -> {wide} {{\n"
        f'  %0 = "ttir.permute"(%a) <{{permutation = array<i64: 0, 2, 3, 1>}}> : ({wide}) -> {tall}\n'
        f'  %1 = "ttir.permute"(%b) <{{permutation = array<i64: 0, 2, 3, 1>}}> : ({wide}) -> {tall}\n'
        f'  %2 = "ttir.add"(%0, %1) : ({tall}, {tall}) -> {tall}\n  %3 = "ttir.exp"(%2) : ({tall}) -> {tall}\n'
        f'  %4 = "ttir.permute"(%3) <{{permutation = array<i64: 0, 3, 1, 2>}}> : ({tall}) -> {wide}\n'
        f"  return %4 : {wide}\n}}\n"
    )
    rng = np.random.default_rng(5)
    inputs = [rounded(rng.standard_normal((2, 32, 64, 96)).astype(np.float32), "BFloat16") for _ in range(2)]
    results, moves = [], []
    for erase in ("true", "false"):
        lowered = parse_module(text)
        run(lowered, f"ttir-to-ttnn-backend-pipeline{{enable-erase-inverse-ops-pass={erase}}}")
        moves.append(print_module(lowered).count('"ttnn.permute"'))
        (program,) = programs(ttnn_to_binary(lowered, "0.1.0"))
        results.append(host(execute(program, [ttnn.from_torch(one) for one in inputs], device)[0]))
    assert moves == [0, 3]
    assert results[0].tobytes() == results[1].tobytes()


FIRST = """#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @one(%a: tensor<96x160xbf16>, %b: tensor<1x160xbf16>) -> tensor<96x160xbf16> {
  %0 = tensor.empty() : tensor<96x160xbf16>
  %1 = "ttir.subtract"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xbf16>, tensor<1x160xbf16>, tensor<96x160xbf16>) -> tensor<96x160xbf16>
  return %1 : tensor<96x160xbf16>
}
"""  # noqa: E501
OUTPUTS_AS_OPERANDS = """func.func @one(%a: tensor<96x160xbf16>, %b: tensor<1x160xbf16>) -> tensor<96x160xbf16> {
  %0 = ttir.empty() : tensor<96x160xbf16>
  %1 = "ttir.subtract"(%a, %b, %0) : (tensor<96x160xbf16>, tensor<1x160xbf16>, tensor<96x160xbf16>) -> tensor<96x160xbf16>
  return %1 : tensor<96x160xbf16>
}
"""  # noqa: E501
RESULTS_ONLY = """func.func @one(%a: tensor<96x160xbf16>, %b: tensor<1x160xbf16>) -> tensor<96x160xbf16> {
  %0 = "ttir.subtract"(%a, %b) : (tensor<96x160xbf16>, tensor<1x160xbf16>) -> tensor<96x160xbf16>
  return %0 : tensor<96x160xbf16>
}
"""


def test_three_versions_have_equal_bits(device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((96, 160), (1, 160)))
    results = []
    for text, version in ((FIRST, "2024-09"), (OUTPUTS_AS_OPERANDS, "2025-10"), (RESULTS_ONLY, "2026-08")):
        module = parse_module(text)
        assert module.version == version
        run(module, "ttir-to-ttnn-backend-pipeline")
        binary = Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes())
        assert binary.language == version
        (result,) = execute(programs(binary)[0], [ttnn.from_torch(a), ttnn.from_torch(b)], device)
        results.append(host(result).tobytes())
    assert results[0] == results[1] == results[2]
