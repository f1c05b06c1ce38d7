"""Traced programs: functions, equal bits, and repeated captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.seen_calls import SeenCalls
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.calls_to_emitc import emitc_module
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

VERSIONS = pytest.mark.parametrize("version", ["2025-10", "2026-08"], ids=lambda version: version)
KIND = "ttcore.argument_type = #ttcore.argument_type"
T = "tensor<64x32xbf16>"
TWO = f"""func.func @two(
    %x: {T} {{{KIND}<input>}}, %y: {T} {{{KIND}<input>}}, %w: {T} {{{KIND}<parameter>}}) -> ({T}, {T}) {{
  %0 = "ttir.exp"(%w) : ({T}) -> {T}
  %1 = "ttir.multiply"(%x, %0) : ({T}, {T}) -> {T}
  %2 = "ttir.subtract"(%1, %y) : ({T}, {T}) -> {T}
  %3 = "ttir.add"(%2, %1) : ({T}, {T}) -> {T}
  return %3, %2 : {T}, {T}
}}
"""
CACHE, ROW = "tensor<1x2x64x32xbf16>", "tensor<1x2x32x32xbf16>"
FILL = {
    "2025-10": f"""func.func @fill(%c: {CACHE}, %r: {ROW}) -> ({CACHE}, {ROW}) {{
  %e = ttir.empty() : {ROW}
  %0 = "ttir.add"(%r, %r, %e) : ({ROW}, {ROW}, {ROW}) -> {ROW}
  %1 = "ttir.fill_cache"(%c, %0) <{{batch_offset = 0 : i32}}> : ({CACHE}, {ROW}) -> {CACHE}
  return %1, %0 : {CACHE}, {ROW}
}}
""",
    "2026-08": f"""func.func @fill(%c: {CACHE}, %r: {ROW}) -> ({CACHE}, {ROW}) {{
  %0 = "ttir.add"(%r, %r) : ({ROW}, {ROW}) -> {ROW}
  "ttir.fill_cache"(%c, %0) <{{batch_offset = 0 : i32}}> : ({CACHE}, {ROW}) -> ()
  return %c, %0 : {CACHE}, {ROW}
}}
""",
}


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def lowered(text: str, version: Version, options: str = "enable-trace=true", pipeline: str = "backend") -> Any:
    written = text if "ttir.fill_cache" in text else print_module(parse_module(text), version=version)
    module = parse_module(written, default_version=version)
    name = "ttir-to-emitpy-pipeline" if pipeline == "emitpy" else f"ttir-to-ttnn-{pipeline}-pipeline"
    run(module, f"{name}{{{options}}}")
    return module


def found(text: str, version: Version, options: str = "enable-trace=true") -> list[Program]:
    return programs(Binary.parse(ttnn_to_binary(lowered(text, version, options), "0.1.0").to_bytes()))


def random(seed: int, *shape: int) -> Any:
    return ttnn.from_torch(np.random.default_rng(seed).standard_normal(shape).astype(ml_dtypes.bfloat16))


def on_device(tensor: Any, device: ttnn.MeshDevice) -> Any:
    return ttnn.to_device(ttnn.to_layout(tensor, ttnn.TILE_LAYOUT), device)


def outputs(program: Program, inputs: list[Any], device: ttnn.MeshDevice) -> tuple[list[bytes], list[str]]:
    """The bytes of the outputs, and what was called."""
    seen = SeenCalls()
    made = execute(program, inputs, device, observe=seen)
    return [ttnn.to_numpy(one).tobytes() for one in made], seen.functions


@VERSIONS
@pytest.mark.parametrize("const_eval", ["true", "false"])
def test_trace_equals_the_program_without_trace(version: Version, const_eval: str, device: ttnn.MeshDevice) -> None:
    traced = found(TWO, version, f"enable-trace=true enable-const-eval={const_eval}")[-1]
    plain = found(TWO, version, f"enable-const-eval={const_eval}")[-1]
    weight = random(9, 64, 32)
    if const_eval == "false":
        # It is its own slot: another tensor on the device would be captured anew.
        weight = on_device(weight, device)
    results = []
    for seed in range(3):
        inputs = [random(2 * seed, 64, 32), random(2 * seed + 1, 64, 32), weight]
        got, calls = outputs(traced, inputs, device)
        expected, direct = outputs(plain, inputs, device)
        assert got == expected
        assert ("ttnn.multiply" in calls, "ttnn.begin_trace_capture" in calls) == (seed == 0, seed == 0)
        assert calls.count("ttnn.execute_trace") == (0 if seed == 0 and version == "2025-10" else 1)
        assert "ttnn.multiply" in direct
        results.append(tuple(got))
    assert len(set(results)) == 3


@VERSIONS
def test_other_parameters_capture_another_trace(version: Version, device: ttnn.MeshDevice) -> None:
    program = found(TWO, version, "enable-trace=true enable-const-eval=false")[-1]
    x, y = random(0, 64, 32), random(1, 64, 32)
    first, second = (on_device(random(seed, 64, 32), device) for seed in (2, 3))
    before = ttnn.to_numpy(first).tobytes()
    one, _ = outputs(program, [x, y, first], device)
    other, calls = outputs(program, [x, y, second], device)
    assert "ttnn.begin_trace_capture" in calls
    again, _ = outputs(program, [x, y, first], device)
    assert one == again != other
    assert ttnn.to_numpy(first).tobytes() == before


@VERSIONS
def test_freed_outputs_capture_the_trace_again(version: Version, device: ttnn.MeshDevice) -> None:
    program = found(TWO, version)[-1]
    inputs = [random(seed, 64, 32) for seed in range(3)]
    made = execute(program, inputs, device)
    expected = [ttnn.to_numpy(one).tobytes() for one in made]
    for one in made:
        ttnn.deallocate(one)
    got, calls = outputs(program, inputs, device)
    assert got == expected
    assert "ttnn.begin_trace_capture" in calls


@VERSIONS
def test_trace_updates_a_cache_in_place(version: Version, device: ttnn.MeshDevice) -> None:
    traced, plain = found(FILL[version], version)[-1], found(FILL[version], version, "enable-trace=false")[-1]
    caches = [on_device(random(0, 1, 2, 64, 32), device) for _ in range(2)]
    for seed in (1, 2):
        rows = random(seed, 1, 2, 32, 32)
        got, _ = outputs(traced, [caches[0], rows], device)
        expected, _ = outputs(plain, [caches[1], rows], device)
        assert got == expected
        assert ttnn.to_numpy(caches[0]).tobytes() == got[0]


@VERSIONS
def test_emitted_python_runs_traces(version: Version, device: ttnn.MeshDevice) -> None:
    options = "enable-trace=true enable-const-eval=false"
    whole = found(TWO, version, options)
    source = emitpy_source(lowered(TWO, version, options, pipeline="emitpy"))
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    weight = on_device(random(9, 64, 32), device)
    ids = set()
    for seed in range(3):
        values = [random(2 * seed, 64, 32), random(2 * seed + 1, 64, 32)]
        described = whole[-1].inputs
        given = [
            ttnn.to_layout(one, ttnn.TILE_LAYOUT) if want.on_host else on_device(one, device)
            for one, (_, want) in zip(values, described, strict=False)
        ]
        made = [ttnn.to_numpy(one).tobytes() for one in names["two"]([*given, weight], device)]
        assert made == outputs(whole[-1], [*values, weight], device)[0]
        (captured,) = names["TRACES"].values()
        ids.add(captured[1])
    # It is captured once.
    assert len(ids) == 1


@VERSIONS
def test_traces_are_refused_as_cpp(version: Version) -> None:
    with pytest.raises(UnsupportedError, match="traces are not written as C"):
        emitc_module(found(TWO, version))


def test_trace_hoisting_creates_its_functions() -> None:
    text = print_module(lowered(TWO, "2026-08", "enable-trace=true enable-const-eval=false"))
    again = parse_module(text)
    names = {function.sym_name.data: function for function in again.functions()}
    assert list(names) == [
        "trace_0_two",
        "allocate_slots_trace_0_two",
        "run_and_capture_trace_0_two",
        "execute_trace_0_two",
        "two",
    ]
    kinds = [getattr(one.attributes["tt.function_type"], "data", "") for one in names.values()]
    assert kinds[:4] == ["trace_main", "trace_allocate_slots", "trace_run_and_capture", "trace_execute"]
    # The parameter, two inputs, two outputs; slots are all but the parameter.
    sizes = [(len(one.function_type.inputs.data), len(one.function_type.outputs.data)) for one in names.values()]
    assert sizes == [(5, 0), (1, 5), (7, 1), (1, 0), (3, 2)]
    spaces = [one.encoding.space for one in names["two"].function_type.inputs.data]
    assert spaces == ["system_memory", "system_memory", "dram"]
    (main,) = [op for op in names["two"].walk() if op.name == "ttnn.capture_or_execute_trace"]
    assert list(main.properties["operandSegmentSizes"].get_values()) == [1, 3, 0]  # type: ignore[attr-defined]


def test_operations_that_cannot_be_recorded_are_refused() -> None:
    layout = (
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, "
        "#ttnn.buffer_type<dram>>, <interleaved>>"
    )
    kind = f"tensor<32x32xbf16, {layout}>"
    text = (
        f"func.func private @c(%a: {kind}) -> {kind} {{\n  return %a : {kind}\n}}\n"
        f'func.func @f(%a: {kind}) -> {kind} attributes {{tt.function_type = "forward_device"}} {{\n'
        f'  %0 = "ttnn.exp"(%a) : ({kind}) -> {kind}\n'
        f"  %1 = ttcore.load_cached(@c, [%a]) : ({kind}) -> {kind}\n"
        f'  %2 = "ttnn.add"(%0, %1) : ({kind}, {kind}) -> {kind}\n  return %2 : {kind}\n}}\n'
    )
    with pytest.raises(CompileError, match="cannot be recorded in a trace, but is between operations that are"):
        run(parse_module(text), "ttnn-trace-hoist-transform")
