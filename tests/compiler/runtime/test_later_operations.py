"""Operations of the later epochs: binary and emitted Python give equal bits, close to float64; three spellings."""

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
from ttir_inputs import chosen
from ttir_reference import interpret
from ttnn.compiler.binary import emit
from ttnn.compiler.binary.binary import Binary
from ttnn.compiler.binary.programs import programs
from ttnn.compiler.binary.translate import ttnn_to_binary
from ttnn.compiler.dialects import parse_module, print_module
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers, place
from ttnn.compiler.tools.translate import translate

Array = NDArray[Any]


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def function(op: str, inputs: list[str], output: str | list[str], attributes: str = "") -> str:
    """A function of one operation; without an output it returns its first argument, which the operation changes."""
    results = [output] if isinstance(output, str) else output
    given = ", ".join(f"tensor<{kind}>" for kind in results)
    made = ", ".join(f"%0#{index}" for index in range(len(results))) if len(results) > 1 else "%0"
    names = [f"%arg{index}" for index in range(len(inputs))]
    arguments = ", ".join(f"{name}: tensor<{kind}>" for name, kind in zip(names, inputs, strict=True))
    types = ", ".join(f"tensor<{kind}>" for kind in inputs)
    properties = f" <{{{attributes}}}>" if attributes else ""
    head = f'"ttir.{op}"({", ".join(names)}){properties} : ({types}) -> '
    if not results:
        return (
            f"func.func @one({arguments}) -> tensor<{inputs[0]}> {{\n  {head}()\n"
            f"  return %arg0 : tensor<{inputs[0]}>\n}}\n"
        )
    count = f":{len(results)}" if len(results) > 1 else ""
    return (
        f"func.func @one({arguments}) -> ({given}) {{\n  %0{count} = {head}({given})\n  return {made} : {given}\n}}\n"
    )


S = "64x96xf32"
UNARY = "abs ceil cos erf erfc exp expm1 floor gelu isfinite leaky_relu log1p logical_not neg relu sigmoid sign silu"
UNARY += " sin tan tanh cbrt rsqrt sqrt reciprocal log atan"
BINARY = (
    "add subtract multiply div eq ne ge gt le lt maximum minimum logical_and logical_or logical_xor atan2 remainder pow"
)
EXAMPLES: dict[str, str] = {
    **{op: function(op, [S], S, "parameter = 0.25 : f32" if op == "leaky_relu" else "") for op in UNARY.split()},
    **{op: function(op, [S, S], S) for op in BINARY.split()},
    "argmax": function("argmax", [S], "64x1xi32", "keep_dim = true, dim_arg = [1 : i32]"),
    "batch_norm_training": function(
        "batch_norm_training",
        ["2x32x4x8xf32", "32xf32", "32xf32", "32xf32", "32xf32"],
        ["2x32x4x8xf32", "32xf32", "32xf32"],
        "dimension = 1 : i32, epsilon = 1.0e-5 : f32, momentum = 0.1 : f32",
    ),
    "broadcast": function("add", [S, "1x96xf32"], S),
    "clamp_scalar": function("clamp_scalar", [S], S, "min = -0.5 : f32, max = 0.25 : f32"),
    "concat": function("concat", [S, "64x32xf32"], "64x128xf32", "dim = 1 : si32"),
    "concatenate_heads": function("concatenate_heads", ["1x4x32x64xf32"], "1x32x256xf32"),
    "cumsum": function("cumsum", [S], S, "dim = 0 : i64"),
    "linear": function("linear", [S, "96x32xf32", "32xf32"], "64x32xf32"),
    "matmul": function("matmul", [S, "32x96xf32"], "64x32xf32", "transpose_b = true"),
    "max": function("max", [S], "64x1xf32", "keep_dim = true, dim_arg = [1 : i32]"),
    "mean": function("mean", [S], "1x96xf32", "keep_dim = true, dim_arg = [0 : i32]"),
    "min": function("min", [S], "64xf32", "keep_dim = false, dim_arg = [1 : i32]"),
    "pad": function("pad", [S], "70x97xf32", "padding = array<i32: 0, 6, 1, 0>, value = 0.5 : f32"),
    "permute": function("permute", ["2x64x96xf32"], "96x2x64xf32", "permutation = array<i64: 2, 0, 1>"),
    "repeat": function("repeat", ["1x64x96xf32"], "3x64x96xf32", "repeat_dimensions = array<i64: 3, 1, 1>"),
    "reshape": function("reshape", [S], "2x32x96xf32", "shape = [2 : i32, 32 : i32, 96 : i32]"),
    "slice": function(
        "slice_static",
        [S],
        "32x48xf32",
        "begins = [0 : i32, 48 : i32], ends = [64 : i32, 96 : i32], step = [2 : i32, 1 : i32]",
    ),
    "softmax": function("softmax", [S], S, "dimension = -1 : si32"),
    "sum": function("sum", [S], "64x1xf32", "keep_dim = true, dim_arg = [1 : i32]"),
    "transpose": function("transpose", [S], "96x64xf32", "dim0 = 0 : si32, dim1 = 1 : si32"),
    "typecast": function("typecast", [S], "64x96xbf16"),
    "where": function("where", [S, S, S], S),
    "attention": function(
        "scaled_dot_product_attention",
        ["1x4x64x32xf32", "1x2x64x32xf32", "1x2x64x32xf32"],
        "1x4x64x32xf32",
        "is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>",
    ),
    "attention_decode": function(
        "scaled_dot_product_attention_decode",
        ["1x2x32x32xbf16", "2x4x64x32xbf16", "2x4x64x32xbf16", "2xi32"],
        "1x2x32x32xbf16",
        "is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>",
    ),
    "attention_mask": function(
        "scaled_dot_product_attention",
        ["1x4x64x32xbf16", "1x4x96x32xbf16", "1x4x96x32xbf16", "1x1x64x96xbf16"],
        "1x4x64x32xbf16",
        "is_causal = false, scale = 0.25 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>",
    ),
    "attention_mask_of_all_queries": function(
        "scaled_dot_product_attention",
        ["1x4x64x32xbf16", "1x4x96x32xbf16", "1x4x96x32xbf16", "1x1x1x96xbf16"],
        "1x4x64x32xbf16",
        "is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>",
    ),
    "attention_paged": function(
        "paged_scaled_dot_product_attention_decode",
        ["1x2x32x32xbf16", "8x4x32x32xbf16", "8x4x32x32xbf16", "2x3xi32", "1x2x32x32xbf16", "2xi32"],
        "1x2x32x32xbf16",
        "is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0>",
    ),
    **{
        f"attention_paged_window{word}": function(
            "paged_scaled_dot_product_attention_decode",
            ["1x2x32x32xbf16", "8x4x32x32xbf16", "8x4x32x32xbf16", "2x3xi32", "1x2x32x32xbf16", *places],
            "1x2x32x32xbf16",
            f"is_causal = {causal}, sliding_window_size = 40 : ui32, "
            f"operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, {len(places)}, 0>",
        )
        for word, causal, places in (("", "true", ["2xi32"]), ("_from_the_end", "false", []))
    },
    "conv2d_channels_first": function(
        "conv2d",
        ["1x4x16x12xbf16", "8x4x3x3xbf16"],
        "1x8x16x12xbf16",
        "stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32, "
        "channel_dim = 1 : i64, height_dim = 2 : i64, width_dim = 3 : i64",
    ),
    "conv2d_four_paddings": function(
        "conv2d",
        ["1x16x12x4xbf16", "8x4x3x3xbf16", "1x1x1x8xbf16"],
        "1x19x11x8xbf16",
        "stride = 1 : i32, padding = array<i32: 2, 0, 3, 1>, dilation = 1 : i32, groups = 1 : i32",
    ),
    "conv_transpose2d": function(
        "conv_transpose2d",
        ["1x8x8x16xbf16", "16x8x3x3xbf16"],
        "1x16x16x8xbf16",
        "stride = 2 : i32, padding = 1 : i32, output_padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32",
    ),
    "cumprod": function("cumprod", ["8x96xf32"], "8x96xf32", "dim = 0 : i64"),
    "dequantize": function("dequantize", ["64x96x!quant.uniform<i32:f32, 0.02>"], S),
    "embedding_backward": function("embedding_backward", ["2x32xi32", "64x96xbf16", "2x32x96xbf16"], "64x96xbf16"),
    "embedding_backward_of_a_row": function("embedding_backward", ["40xi32", "64x96xbf16", "40x96xbf16"], "64x96xbf16"),
    "fill_cache": function("fill_cache", ["2x4x64x32xf32", "1x4x32x32xf32"], [], "batch_offset = 1 : i32"),
    "reverse of integers": function("reverse", ["5x40x70xi32"], "5x40x70xi32", "dimensions = array<i64: 0, 2>"),
    "gather": function("gather", [S, "64x32xi32"], "64x32xf32", "dim = 1 : i32"),
    "gelu_bw": function("gelu_bw", ["64x96xbf16", "64x96xbf16"], "64x96xbf16"),
    "gelu_bw_tanh": function("gelu_bw", ["64x96xbf16", "64x96xbf16"], "64x96xbf16", 'approximate = "tanh"'),
    "group_norm": function(
        "group_norm",
        ["1x1x64x128xbf16", "128xbf16", "128xbf16"],
        "1x1x64x128xbf16",
        "num_groups = 4 : i64, epsilon = 1.0e-5 : f32, operandSegmentSizes = array<i32: 1, 0, 1, 1>",
    ),
    "linear_of_a_vector": function("linear", [S, "96xf32", "64xf32"], "64xf32"),
    "matmul_of_batches": function("matmul", ["4x1x32x64xf32", "4x3x64x32xf32"], "4x3x32x32xf32"),
    "matmul_of_vectors": function("matmul", ["96xf32", "96xf32"], "1xf32"),
    "paged_fill_cache": function(
        "paged_fill_cache",
        ["8x4x32x32xbf16", "1x4x64x32xbf16", "2x3xi32"],
        [],
        "operandSegmentSizes = array<i32: 1, 1, 1, 0>",
    ),
    "paged_update_cache": function(
        "paged_update_cache",
        ["8x4x32x32xbf16", "1x2x4x32xbf16", "2xi32", "2x3xi32"],
        [],
        "share_cache = false, operandSegmentSizes = array<i32: 1, 1, 1, 1>",
    ),
    "quantize": function("quantize", [S], "64x96x!quant.uniform<i32:f32, 0.05:7>"),
    "requantize": function("requantize", ["64x96x!quant.uniform<i32:f32, 0.1>"], "64x96x!quant.uniform<i32:f32, 0.3>"),
    "scatter": function(
        "scatter",
        [S, "64x32xi32", "64x32xf32"],
        S,
        "dim = 1 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>",
    ),
    "slice_dynamic": function("slice_dynamic", [S, "2xi32", "2xi32"], "32x64xf32"),
    "sort": function("sort", [S], [S, "64x96xi32"], "dim = 1 : si32, descending = true"),
    "split_heads": function(
        "split_query_key_value_and_split_heads",
        ["2x32x256xf32"],
        ["2x4x32x32xf32", "2x2x32x32xf32", "2x2x32x32xf32"],
        "num_heads = 4 : ui32, num_kv_heads = 2 : ui32, transpose_key = true, operandSegmentSizes = array<i32: 1, 0>",
    ),
    "topk": function(
        "topk", [S], ["64x8xf32", "64x8xi32"], "k = 8 : i32, dim = 1 : i32, largest = true, sorted = true"
    ),
    "update_cache": function(
        "update_cache", ["2x4x64x32xbf16", "1x4x2x32xbf16", "1xi32"], [], "batch_offset = 0 : i32"
    ),
}
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
    """How far each element of attention may be off.

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
def test_binary_and_python_and_reference(op: str, device: ttnn.MeshDevice) -> None:
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


def test_the_end_of_64_bits_is_that_of_32() -> None:
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
def test_statements_of_python_give_the_bits_of_the_binary(op: str, device: ttnn.MeshDevice) -> None:
    """The pipeline goes to the dialect `emitpy`; its text is read again before Python is written from it."""
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


def test_a_program_of_python_runs_alone(device: ttnn.MeshDevice) -> None:
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
    """All examples at once, directly and from `emitc`; the header has names only: calls and types are checked."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler of the host: g++ or clang++")
    sources = []
    for op, text in EXAMPLES.items():
        for pipeline, name in (("ttnn-backend", f"f_{op}"), ("emitc", f"f_{op}_by_statements")):
            lowered = parse_module(text.replace("@one", f"@{name}"))
            run(lowered, f"ttir-to-{pipeline}-pipeline{{enable-const-eval=false}}")
            sources.append(str(translate("mlir-to-cpp", print_module(lowered))))
    source = tmp_path / "emitted.cpp"
    source.write_text("\n".join(sources))
    include = Path(emit.__file__).parent / "include"
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    functions = re.findall(r"^[:a-z<]*ttnn::Tensor>? f_", source.read_text(), re.M)
    assert len(functions) == 2 * len(EXAMPLES)


def test_a_program_calls_another(device: ttnn.MeshDevice) -> None:
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


def test_moves_that_cancel_leave_the_bits_as_they_are(device: ttnn.MeshDevice) -> None:
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


BOOK = """#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @one(%a: tensor<96x160xbf16>, %b: tensor<1x160xbf16>) -> tensor<96x160xbf16> {
  %0 = tensor.empty() : tensor<96x160xbf16>
  %1 = "ttir.subtract"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xbf16>, tensor<1x160xbf16>, tensor<96x160xbf16>) -> tensor<96x160xbf16>
  return %1 : tensor<96x160xbf16>
}
"""  # noqa: E501
SLIDES = """func.func @one(%a: tensor<96x160xbf16>, %b: tensor<1x160xbf16>) -> tensor<96x160xbf16> {
  %0 = ttir.empty() : tensor<96x160xbf16>
  %1 = "ttir.subtract"(%a, %b, %0) : (tensor<96x160xbf16>, tensor<1x160xbf16>, tensor<96x160xbf16>) -> tensor<96x160xbf16>
  return %1 : tensor<96x160xbf16>
}
"""  # noqa: E501
CURRENT = """func.func @one(%a: tensor<96x160xbf16>, %b: tensor<1x160xbf16>) -> tensor<96x160xbf16> {
  %0 = "ttir.subtract"(%a, %b) : (tensor<96x160xbf16>, tensor<1x160xbf16>) -> tensor<96x160xbf16>
  return %0 : tensor<96x160xbf16>
}
"""


def test_three_spellings_have_equal_bits(device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((96, 160), (1, 160)))
    results = []
    for text, epoch in ((BOOK, "book"), (SLIDES, "slides"), (CURRENT, "current")):
        module = parse_module(text)
        assert module.epoch.value == epoch
        run(module, "ttir-to-ttnn-backend-pipeline")
        binary = Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes())
        assert binary.epoch == epoch
        (result,) = execute(programs(binary)[0], [ttnn.from_torch(a), ttnn.from_torch(b)], device)
        results.append(host(result).tobytes())
    assert results[0] == results[1] == results[2]
