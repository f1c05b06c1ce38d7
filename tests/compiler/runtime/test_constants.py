"""Constant functions: hoisting, one run per parameters, block format weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.seen_calls import SeenCalls
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.transforms.options import OptionError
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

PIPELINE = "ttir-to-ttnn-runtime-pipeline"
T = "tensor<64x64xbf16>"
KIND = "ttcore.argument_type = #ttcore.argument_type"
TEXT = f"""func.func @f(
    %x: {T} {{{KIND}<input>}}, %w: {T} {{{KIND}<parameter>}}, %v: {T} {{{KIND}<constant>}}) -> {T} {{
  %0 = "ttir.subtract"(%w, %v) : ({T}, {T}) -> {T}
  %1 = "ttir.exp"(%0) : ({T}) -> {T}
  %2 = "ttir.matmul"(%x, %1) : ({T}, {T}) -> {T}
  return %2 : {T}
}}
"""


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def lowered(text: str, options: str = "", version: Version = "2026-08") -> Any:
    module = parse_module(print_module(parse_module(text), version=version), default_version=version)
    run(module, PIPELINE + options)
    return module


def found(module: Any) -> dict[str, Program]:
    binary = Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes())
    return {program.name: program for program in programs(binary)}


def inputs(seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    return [random.standard_normal((64, 64)).astype(ml_dtypes.bfloat16) for _ in range(3)]


@pytest.mark.parametrize("version", ["2025-10", "2026-08"], ids=lambda version: version)
def test_const_eval_runs_once_for_equal_parameters(version: Version, device: ttnn.MeshDevice) -> None:
    module = lowered(TEXT, version=version)
    names = [function.sym_name.data for function in module.functions()]
    assert names == ["f_const_eval_0", "f"]
    program = found(module)["f"]
    assert {name: one.private for name, one in found(module).items()} == {"f_const_eval_0": True, "f": False}
    x, w, v = (ttnn.from_torch(one) for one in inputs(0))
    runs: list[list[str]] = []

    def outputs(*tensors: Any) -> bytes:
        seen = SeenCalls()
        (result,) = execute(program, list(tensors), device, observe=seen)
        runs.append(seen.functions)
        return bytes(ttnn.to_numpy(result).tobytes())

    first, again = outputs(x, w, v), outputs(x, w, v)
    other = ttnn.from_torch(inputs(1)[1])
    changed, back = outputs(x, other, v), outputs(x, w, v)
    assert first == again == back != changed
    counts = [seen.count("ttnn.exp") for seen in runs]
    # The results of both sets of parameters are kept.
    assert counts == [1, 0, 1, 0]
    # Without functions of constants the same bits come out.
    plain = found(lowered(TEXT, "{enable-const-eval=false}", version))["f"]
    (direct,) = execute(plain, [x, w, v], device)
    assert ttnn.to_numpy(direct).tobytes() == first


def test_emitted_python_calls_const_eval_functions(device: ttnn.MeshDevice) -> None:
    module = lowered(TEXT, "{enable-const-eval-inputs-to-system-memory=false}")
    whole = found(module)
    run(module, "convert-ttnn-to-emitpy")
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(emitpy_source(module), "emitted.py", "exec"), names)
    tensors = [ttnn.from_torch(one, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for one in inputs(2)]
    (result,) = execute(whole["f"], tensors, device)
    (emitted,) = names["f"](tensors, device)
    assert ttnn.to_numpy(result).tobytes() == ttnn.to_numpy(emitted).tobytes()


def test_const_eval_arguments_are_stored_on_the_host() -> None:
    module = lowered(TEXT)
    (_, forward) = module.functions()
    spaces = [one.encoding.space for one in forward.function_type.inputs.data]
    assert spaces == ["dram", "system_memory", "system_memory"]
    spaces = [
        one.encoding.space for one in lowered(TEXT, "{enable-const-eval=false}").functions()[0].function_type.inputs
    ]
    assert spaces == ["dram", "dram", "dram"]


def test_repeated_hoisting_merges_const_eval_functions() -> None:
    module = parse_module(TEXT)
    run(module, "const-eval-hoist-transform")
    before = print_module(module)
    assert before.count("ttcore.load_cached") == 1
    run(module, "const-eval-hoist-transform")
    assert print_module(module) == before


def test_const_eval_results_in_l1_are_refused() -> None:
    near = "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x4x!ttcore.tile<32x32, bf16>, #l1>, <interleaved>>"
    kind = "tensor<64x64xbf16, #near>"
    text = (
        f"#l1 = #ttnn.buffer_type<l1>\n#near = {near}\n"
        f"func.func @f(%w: {kind} {{{KIND}<parameter>}}) -> {kind} {{\n"
        f'  %0 = "ttnn.exp"(%w) : ({kind}) -> {kind}\n  return %0 : {kind}\n}}\n'
    )
    with pytest.raises(CompileError, match="resides in L1, and the op is a const-eval candidate"):
        run(parse_module(text), "const-eval-hoist-transform")


def test_weights_become_block_formats(device: ttnn.MeshDevice) -> None:
    exact = [one.astype(np.float64) for one in inputs(3)]
    expected = exact[0] @ np.exp(exact[1] - exact[2])
    distances = []
    for word in ("none", "bfp_bf8", "bfp_bf4"):
        module = lowered(TEXT, f"{{experimental-weight-dtype={word}}}")
        assert print_module(module).count(f"tile<32x32, {word}>") == 0 or word != "none"
        (result,) = execute(found(module)["f"], [ttnn.from_torch(one) for one in inputs(3)], device)
        got = ttnn.to_numpy(result).astype(np.float64)
        distances.append(np.linalg.norm(got - expected) / np.linalg.norm(expected))
    # 16 elements share an exponent: with 7 and with 3 bits of mantissa.
    assert distances[0] < distances[1] < distances[2]
    assert distances[1] < 2e-2
    assert distances[2] < 2e-1
    with pytest.raises(OptionError, match="bfp_bf8, bfp_bf4"):
        lowered(TEXT, "{experimental-weight-dtype=bfp_bf2}")


CACHE = """func.func @g(%c: tensor<1x2x64x32xbf16>, %r: tensor<1x2x32x32xbf16>) -> tensor<1x2x64x32xbf16> {
  "ttir.fill_cache"(%c, %r) <{batch_offset = 0 : i32}> : (tensor<1x2x64x32xbf16>, tensor<1x2x32x32xbf16>) -> ()
  return %c : tensor<1x2x64x32xbf16>
}
"""


def test_caches_become_block_formats() -> None:
    module = parse_module(CACHE)
    run(module, PIPELINE + "{experimental-kv-cache-dtype=bfp_bf8}")
    (function,) = module.functions()
    cache, rows = function.function_type.inputs.data
    assert (cache.encoding.dtype, rows.encoding.dtype) == ("bfp_bf8", "bf16")
    assert function.function_type.outputs.data[0].encoding.dtype == "bfp_bf8"
    text = print_module(module)
    assert text.index('"ttnn.typecast"') < text.index('"ttnn.fill_cache"')


RESOURCE = """func.func @h(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "ttir.constant"() <{value = dense_resource<blob> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %1 = "ttir.add"(%x, %0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
{-#
  dialect_resources: { builtin: { blob: "0xBYTES" } }
#-}
"""


def test_constants_in_resources_are_evaluated(device: ttnn.MeshDevice) -> None:
    values = np.array([[1, -2], [0.5, 4]], np.float32)
    words = "04000000" + values.tobytes().hex()
    (program,) = found(lowered(RESOURCE.replace("BYTES", words), "{enable-const-eval=false}")).values()
    (result,) = execute(program, [ttnn.from_torch(np.ones((2, 2), np.float32))], device)
    assert np.array_equal(ttnn.to_numpy(result), values + 1)
    with pytest.raises(CompileError, match="resource 'blob' has 12 bytes, its type needs 16"):
        found(lowered(RESOURCE.replace("BYTES", words[:-8])))
    with pytest.raises(CompileError, match="the file has no bytes for the resource 'blob'"):
        found(lowered(RESOURCE.replace("builtin: { blob", "builtin: { other").replace("BYTES", words)))


TRANSPOSED = f"""func.func @f(%x: tensor<1x32x5x5xbf16>, %w: tensor<32x16x2x2xbf16> {{{KIND}<constant>}}) -> tensor<1x16x10x10xbf16> {{
  %0 = "ttir.conv_transpose2d"(%x, %w) <{{batch_dim = 0 : i64, channel_dim = 1 : i64, height_dim = 2 : i64,
    width_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, output_padding = array<i32: 0, 0>,
    padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>}}>
    : (tensor<1x32x5x5xbf16>, tensor<32x16x2x2xbf16>) -> tensor<1x16x10x10xbf16>
  return %0 : tensor<1x16x10x10xbf16>
}}
"""  # noqa: E501


def test_const_eval_of_unchanged_weights_is_not_hoisted(device: ttnn.MeshDevice) -> None:
    """A transposed convolution with host weights, as constant functions have them."""
    module = lowered(TRANSPOSED)
    (function,) = module.functions()
    assert [one.encoding.space for one in function.function_type.inputs.data] == ["dram", "system_memory"]
    random = np.random.default_rng(4)
    tensors = [
        ttnn.from_torch(random.standard_normal(shape).astype(ml_dtypes.bfloat16))
        for shape in ((1, 32, 5, 5), (32, 16, 2, 2))
    ]
    program, plain = found(module)["f"], found(lowered(TRANSPOSED, "{enable-const-eval=false}"))["f"]
    results = [ttnn.to_numpy(execute(one, tensors, device)[0]).tobytes() for one in (program, program, plain)]
    assert results[0] == results[1] == results[2]
    assert any(results[0])


def test_byte_constants_are_tilized_on_the_host(device: ttnn.MeshDevice) -> None:
    kind = "tensor<2x3xui8>"
    text = f"""func.func @f() -> {kind} {{
  %0 = "ttir.constant"() <{{value = dense<[[1, 2, 254], [3, 0, 128]]> : {kind}}}> : () -> {kind}
  return %0 : {kind}
}}"""
    module = lowered(text, "{enable-const-eval=false}")
    (program,) = found(module).values()
    (result,) = execute(program, [], device)
    assert ttnn.to_numpy(result).tolist() == [[1, 2, 254], [3, 0, 128]]
    run(module, "convert-ttnn-to-emitpy")
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(emitpy_source(module), "emitted.py", "exec"), names)
    (tensor,) = names["f"]([], device)
    assert ttnn.to_numpy(tensor).tolist() == [[1, 2, 254], [3, 0, 128]]
