"""`ttnn-decomposition`, composites and signatures: values, and pass output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.versions import parse_module, print_module

Array = NDArray[Any]
PIPELINE = "ttir-to-ttnn-runtime-pipeline"


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def outputs(text: str, inputs: list[Array], device: ttnn.MeshDevice) -> list[Array]:
    module = parse_module(text)
    run(module, PIPELINE)
    found = {program.name: program for program in programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))}
    results = execute(found["f"], [ttnn.from_torch(one) for one in inputs], device)
    return [ttnn.to_numpy(one).astype(np.float64) for one in results]


def normal(*shapes: tuple[int, ...]) -> list[Array]:
    random = np.random.default_rng(5)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def distance(got: Array, expected: Array) -> float:
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


def attention(q: Array, k: Array, v: Array, mask: Array) -> Array:
    q, k, v = (one.astype(np.float64) for one in (q, k, v))
    k, v = (np.repeat(one, q.shape[1] // one.shape[1], axis=1) for one in (k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    made: Array = weights / weights.sum(axis=-1, keepdims=True) @ v
    return made


ROWS = np.arange(64)[:, None] - np.arange(64)[None, :]
MASKS: dict[str, tuple[str, Array]] = {
    "all": ("is_causal = false", np.zeros((64, 64))),
    "causal": ("is_causal = true", np.where(ROWS < 0, -np.inf, 0)),
    "window": (
        "is_causal = true, sliding_window_size = 16 : ui32",
        np.where((ROWS < 0) | (ROWS >= 16), -np.inf, 0),
    ),
    "sides": ("is_causal = false, sliding_window_size = 16 : ui32", np.where(np.abs(ROWS) > 8, -np.inf, 0)),
}


@pytest.mark.parametrize("name", MASKS)
def test_attention_decomposes_to_matmuls_and_softmax(name: str, device: ttnn.MeshDevice) -> None:
    attributes, mask = MASKS[name]
    q, k = "tensor<1x4x64x32xf32>", "tensor<1x2x64x32xf32>"
    text = (
        f"func.func @f(%q: {q}, %k: {k}, %v: {k}) -> {q} {{\n"
        '  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{'
        f"{attributes}, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}}> : ({q}, {k}, {k}) -> {q}\n"
        f"  return %0 : {q}\n}}\n"
    )
    inputs = normal((1, 4, 64, 32), (1, 2, 64, 32), (1, 2, 64, 32))
    (got,) = outputs(text, inputs, device)
    assert distance(got, attention(*inputs, mask)) < 1e-2


def test_group_norm_decomposition_normalizes_each_group(device: ttnn.MeshDevice) -> None:
    t, c = "tensor<2x1x64x64xf32>", "tensor<64xf32>"
    text = (
        f"func.func @f(%x: {t}, %w: {c}, %b: {c}) -> {t} {{\n"
        '  %0 = "ttir.group_norm"(%x, %w, %b) <{epsilon = 1.0e-05 : f32, num_groups = 4 : i64, '
        f"operandSegmentSizes = array<i32: 1, 0, 1, 1>}}> : ({t}, {c}, {c}) -> {t}\n  return %0 : {t}\n}}\n"
    )
    x, w, b = normal((2, 1, 64, 64), (64,), (64,))
    (got,) = outputs(text, [x, w, b], device)
    grouped = x.astype(np.float64).reshape(2, 64, 4, 16)
    mean, spread = grouped.mean(axis=(1, 3), keepdims=True), grouped.std(axis=(1, 3), keepdims=True)
    expected = ((grouped - mean) / np.sqrt(spread**2 + 1e-5)).reshape(2, 1, 64, 64) * w + b
    assert distance(got, expected) < 1e-2


def test_heads_below_a_tile_are_split_and_joined(device: ttnn.MeshDevice) -> None:
    t, r = "tensor<1x4x32x24xf32>", "tensor<1x32x96xf32>"
    text = (
        f'func.func @f(%x: {t}) -> {r} {{\n  %0 = "ttir.concatenate_heads"(%x) : ({t}) -> {r}\n  return %0 : {r}\n}}\n'
    )
    (x,) = normal((1, 4, 32, 24))
    (got,) = outputs(text, [x], device)
    assert np.array_equal(got, x.transpose(0, 2, 1, 3).reshape(1, 32, 96).astype(np.float64))


T = "tensor<32x32xf32>"
COMPOSITE = f"""func.func @f(%a: {T}, %b: {T}) -> {T} {{
  %0 = "ttcore.composite"(%a, %b) <{{composite_name = "mine", decomposition = @body, composite_attributes = {{}}}}>
      : ({T}, {T}) -> {T}
  return %0 : {T}
}}
func.func private @body(%a: {T}, %b: {T}) -> {T} {{
  %0 = "ttir.subtract"(%a, %b) : ({T}, {T}) -> {T}
  return %0 : {T}
}}
"""


def test_composites_resolve_to_their_decompositions(device: ttnn.MeshDevice) -> None:
    a, b = normal((32, 32), (32, 32))
    (got,) = outputs(COMPOSITE, [a, b], device)
    assert distance(got, a.astype(np.float64) - b) < 1e-6
    module = parse_module(COMPOSITE)
    run(module, "ttnn-resolve-composites")
    assert [function.sym_name.data for function in module.functions()] == ["f"]
    endless = COMPOSITE.replace('"ttir.subtract"(%a, %b) :', '"ttcore.composite"(%a, %b) <{composite_name = "x", '
                                "decomposition = @body}> :")  # fmt: skip
    with pytest.raises(CompileError, match="part of its own decomposition"):
        run(parse_module(endless), "ttnn-resolve-composites")


ADD = f"""func.func @add(%a: {T}, %b: {T}) -> {T} {{
  %0 = "ttir.add"(%a, %b) : ({T}, {T}) -> {T}
  return %0 : {T}
}}
"""


@pytest.mark.parametrize(
    ("step", "maker", "mark"),
    [
        ("ttnn-create-input-gens", "create_inputs_for_add", '"ttnn.ones"'),
        ("ttnn-load-input-tensors{tensor-load-directory=in}", "load_inputs_for_add", 'file_path = "in/arg1.tensorbin"'),
    ],
)
def test_tuplified_programs_have_a_main_function(step: str, maker: str, mark: str) -> None:
    module = parse_module(ADD)
    run(module, f"{PIPELINE},ttcore-unwrap-device-module,ttnn-tuplify-tensors,{step}")
    assert [function.sym_name.data for function in module.functions()] == ["add", maker, "main"]
    text = print_module(module)
    assert mark in text
    assert "ttcore.get_tuple_element %arg0[1]" in text
    # What is written is read again.
    assert print_module(parse_module(text)) == text
    plain = parse_module(ADD)
    with pytest.raises(CompileError, match="run ttnn-tuplify-tensors first"):
        run(plain, f"{PIPELINE},{step}")


def test_exported_programs_accept_host_inputs() -> None:
    module = parse_module(ADD)
    run(module, f"{PIPELINE},ttcore-unwrap-device-module,ttnn-tuplify-tensors,ttnn-prepare-module-for-export")
    (function,) = module.functions()
    assert function.sym_name.data == "forward"
    joined, device = function.function_type.inputs.data
    assert [one.encoding.space for one in joined.types.data] == ["system_memory"] * 2
    assert device.full_name() == "ttnn.device"
    ones = '"ttir.ones"() <{shape = array<i32: 32, 32>}>'
    empty = parse_module(f"func.func @f() -> {T} {{\n  %0 = {ones} : () -> {T}\n  return %0 : {T}\n}}\n")
    with pytest.raises(CompileError, match=r"at least one \(tuple\) input"):
        run(empty, f"{PIPELINE},ttcore-unwrap-device-module,ttnn-prepare-module-for-export")


def test_parameters_are_not_deallocated() -> None:
    text = ADD.replace(f"%b: {T}", f"%b: {T} {{ttcore.argument_type = #ttcore.argument_type<parameter>}}")
    module = parse_module(text)
    run(module, PIPELINE)
    freed = print_module(module).count('"ttnn.deallocate"')
    run(module, "ttnn-adjust-deallocs")
    assert print_module(module).count('"ttnn.deallocate"') == freed - 1


def test_last_deallocation_of_a_view_is_forced() -> None:
    shard = "memref<1x1x!ttcore.tile<32x32, f32>, #dram>"
    layout = f"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, {shard}, <interleaved>>"
    wide = layout.replace("(d0, d1) -> (d0, d1)", "(d0, d1, d2) -> (d0 * 32 + d1, d2)")
    a, b = "tensor<32x32xf32, #a>", "tensor<1x32x32xf32, #b>"
    text = (
        f"#dram = #ttnn.buffer_type<dram>\n#a = {layout}\n#b = {wide}\nfunc.func @f(%x: {a}) -> {b} {{\n"
        f'  %0 = "ttnn.add"(%x, %x) : ({a}, {a}) -> {a}\n'
        f'  %1 = "ttnn.reshape"(%0) <{{shape = [1 : i32, 32 : i32, 32 : i32]}}> : ({a}) -> {b}\n'
        f'  %2 = "ttnn.add"(%1, %1) : ({b}, {b}) -> {b}\n'
        f'  "ttnn.deallocate"(%0) <{{force = false}}> : ({a}) -> ()\n'
        f'  "ttnn.deallocate"(%1) <{{force = false}}> : ({b}) -> ()\n'
        f"  return %2 : {b}\n}}\n"
    )
    module = parse_module(text)
    run(module, "ttnn-force-final-deallocs")
    lines = [line for line in print_module(module).splitlines() if "deallocate" in line]
    assert len(lines) == 1
    assert "(%1) <{force = true}>" in lines[0]


@pytest.mark.parametrize("mesh", ["#ttnn<mesh_shape 1x4>", "#ttnn.mesh_shape<1x4>"])
def test_distributed_norms_gather_along_their_axis(mesh: str) -> None:
    shard = "memref<1x4x!ttcore.tile<32x32, bf16>, #dram>"
    kind = "tensor<32x128xbf16, #a>"
    module = parse_module(
        "#dram = #ttnn.buffer_type<dram>\n"
        f"#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, {shard}, <interleaved>>\n"
        f"func.func @f(%x: {kind}) -> {kind} {{\n"
        f'  %0 = "ttnn.get_device"() <{{mesh_shape = {mesh}}}> : () -> !ttnn.device\n'
        '  %1 = "ttnn.distributed_layer_norm"(%x, %0) <{cluster_axis = 1 : ui32, epsilon = 1.0e-05 : f32, '
        f"operandSegmentSizes = array<i32: 1, 0, 0, 0, 1>}}> : ({kind}, !ttnn.device) -> {kind}\n"
        f"  return %1 : {kind}\n}}\n"
    )
    run(module, "ttnn-decomposition")
    text = print_module(module)
    assert "tensor<32x64xbf16" in text
    assert "tensor<32x256xbf16" in text
    assert text.index("layer_norm_pre_all_gather") < text.index("all_gather_dim = 1") < text.index("post_all_gather")
