"""Single `ttnn` calls: binary, emitted Python and direct calls agree.

Both kinds of emitted Python have equal bits.

Values are those of float64, within bounds that are derived from what the operators round.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.ttnn_examples import CASES, CUT, LIBRARY, Array
from testkit.ttnn_text import laid, library
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.calls_to_emitpy import emitpy_module
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers, place
from ttnn.compiler.target import cpp
from ttnn.compiler.target.cpp.emitc import emitc_functions
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.python.emitpy import emitpy_source
from ttnn.compiler.versions import parse_module, print_module


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def host(tensor: Any) -> Array:
    return ttnn.to_numpy(tensor)


@pytest.mark.parametrize("name", CASES)
def test_binary_python_and_calls_have_equal_bits(name: str, device: ttnn.MeshDevice) -> None:
    case = CASES[name]
    module = parse_module(case.text)
    run(module, case.pipeline)
    whole = programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))
    (program,) = [one for one in whole if not one.private]
    random = np.random.default_rng(11)
    kinds = {"BFloat16": ml_dtypes.bfloat16, "Float32": np.float32}
    inputs = [
        case.given[index] if index in case.given else random.standard_normal(want.shape).astype(kinds[want.data_type])
        for index, (_, want) in enumerate(program.inputs)
    ]
    given = [ttnn.from_torch(one) for one in inputs]
    executed = [host(one) for one in execute(program, given, device)]
    placed = [place(one, want, device, Transfers()) for one, (_, want) in zip(given, program.inputs, strict=True)]
    run(module, "convert-ttnn-to-emitpy")
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(emitpy_source(module), "emitted.py", "exec"), names)
    emitted = [host(one) for one in names["one"](placed, device)]
    assert [one.tobytes() for one in executed] == [one.tobytes() for one in emitted]
    direct = case.direct(*given, device)
    called = [host(one) for one in (direct if isinstance(direct, list | tuple) else [direct])]
    assert [one.tobytes() for one in executed] == [one.tobytes() for one in called]
    if case.exact is None:
        return
    values = [one.astype(np.float64) for one in inputs]
    expected = case.exact(*values)
    expected = expected if isinstance(expected, list) else [expected]
    allowed = 0.0 if case.allowed is None else case.allowed(*values)
    for one, other in zip(executed, expected, strict=True):
        assert one.shape == other.shape
        assert (np.abs(one.astype(np.float64) - other) <= allowed).all()


def test_emitted_cpp_compiles_against_the_header(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler of the host: g++ or clang++")
    sources = []
    for name, case in CASES.items():
        module = parse_module(case.text.replace("@one", f"@f_{name}"))
        run(module, f"{case.pipeline}, convert-ttnn-to-emitc")
        text = print_module(module)
        again = parse_module(text)
        assert print_module(again) == text
        sources.append(emitc_functions(again))
    source = tmp_path / "emitted.cpp"
    source.write_text("\n".join(sources))
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{Path(cpp.__file__).parent / 'include'}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert source.read_text().count(") {\n") == len(CASES)


def test_random_results_are_in_their_range(device: ttnn.MeshDevice) -> None:
    found = {}
    x = np.random.default_rng(11).standard_normal((64, 96)).astype(ml_dtypes.bfloat16)
    for name, inputs in (("rand", []), ("dropout", [ttnn.from_torch(x)])):
        module = parse_module(CASES[name].text)
        run(module, LIBRARY)
        (program,) = programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))
        found[name] = host(execute(program, inputs, device)[0]).astype(np.float64)
    assert found["rand"].min() >= -2
    assert found["rand"].max() <= 3
    # 6,144 numbers: the mean of as many even ones is within 5 standard deviations of 0.5.
    assert abs(found["rand"].mean() - 0.5) < 5 * (5 / 12**0.5) / 6144**0.5
    kept = found["dropout"] != 0
    scaled = 1.5 * x.astype(np.float64)
    assert (np.abs(found["dropout"] - scaled)[kept] <= CUT * np.abs(scaled)[kept]).all()
    # 32 elements of four rows fall together: 48 groups.
    assert abs(kept.mean() - 0.75) < 5 * (0.25 * 0.75 / 48) ** 0.5


@pytest.mark.parametrize("part", ["in0_block_w = 2", "fuse_batch = true", "#ttnn.core_coord<2, 1>", "op_type = relu"])
def test_wrong_configuration_field_is_named(part: str) -> None:
    wrong = {"in0_block_w = 2": "in9_block_w = 2", "#ttnn.core_coord<2, 1>": "#ttnn.core_coord<2>"}
    word = wrong.get(part, part.replace("true", "maybe").replace("relu", "nothing"))
    module = parse_module(CASES["matmul_with_a_program_config"].text.replace(part, word))
    run(module, LIBRARY)
    with pytest.raises(CompileError, match=r"has no (form|name) in .*TTNN binaries"):
        ttnn_to_binary(module, "0.1.0")


GRID = "compute_with_storage_grid_size = #ttnn.core_coord<2, 1>, "
BLOCKS = "in0_block_w = 2, out_subblock_h = 1, out_subblock_w = 1, "


@pytest.mark.parametrize(
    ("mnemonic", "fields", "written"),
    [
        (
            "matmul_multi_core_reuse_program_config",
            f"{GRID}{BLOCKS}per_core_m = 2, per_core_n = 1",
            "MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=ttnn.CoreCoord(2, 1), in0_block_w=2, "
            "out_subblock_h=1, out_subblock_w=1, per_core_M=2, per_core_N=1)",
        ),
        (
            "matmul_multi_core_reuse_multi_cast_program_config",
            f"{GRID}{BLOCKS}out_block_h = 1, out_block_w = 1, per_core_m = 1, per_core_n = 2, "
            "transpose_mcast = false, fuse_batch = true",
            "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=ttnn.CoreCoord(2, 1), "
            "in0_block_w=2, out_subblock_h=1, out_subblock_w=1, out_block_h=1, out_block_w=1, per_core_M=1, "
            "per_core_N=2, transpose_mcast=False, fuse_batch=True)",
        ),
        (
            "matmul_multi_core_reuse_multi_cast_dram_sharded_program_config",
            "in0_block_w = 2, per_core_m = 1, per_core_n = 3, "
            "fused_activation = #ttnn.unary_with_param<op_type = silu>",
            "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=2, per_core_M=1, per_core_N=3, "
            "fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU))",
        ),
    ],
)
def test_matmul_program_configs_reach_the_call(mnemonic: str, fields: str, written: str) -> None:
    kinds = [laid((64, 128)), laid((128, 64))]
    module = parse_module(
        library("matmul", kinds, [laid((64, 64))], f"matmul_program_config = #ttnn.{mnemonic}<{fields}>")
    )
    run(module, LIBRARY)
    source = emitpy_source(emitpy_module(programs(Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes()))))
    assert f"program_config=ttnn.{written}" in source


REFUSED = {
    "adamw": (
        library(
            "adamw",
            [laid((1, 1, 32, 32))] * 4,
            [],
            "lr = 1.0e-3 : f32, beta1 = 0.9 : f32, beta2 = 0.99 : f32, beta1_pow = 0.9 : f32, beta2_pow = 0.99 : f32, "
            "epsilon = 1.0e-8 : f32, weight_decay = 0.0 : f32",
        ),
        "training library ttml",
    ),
    "sdpa_fw": (
        library(
            "sdpa_fw",
            [laid((1, 2, 32, 64))] * 3,
            [laid((1, 2, 32, 64))],
            "mask_type = #ttcore.attention_mask_type<causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0>, "
            "resultSegmentSizes = array<i32: 1, 0>",
        ),
        "training library ttml",
    ),
    "sdpa_bw": (
        library(
            "sdpa_bw",
            [*[laid((1, 2, 32, 64))] * 5, laid((1, 2, 32, 32), "f32")],
            [laid((1, 2, 32, 64))] * 3,
            "mask_type = #ttcore.attention_mask_type<causal>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>",
        ),
        "training library ttml",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_calls_are_refused_with_a_reason(name: str) -> None:
    text, reason = REFUSED[name]
    text = text.replace("%r = ", "").replace("return %r : ", "return") if name == "adamw" else text
    module = parse_module(text)
    run(module, LIBRARY)
    binary = Binary.parse(ttnn_to_binary(module, "0.1.0").to_bytes())
    with pytest.raises(UnsupportedError, match=reason):
        programs(binary)
    with pytest.raises(CompileError, match=f"failed to legalize operation 'ttnn.{name}': .*{reason}"):
        run(module, "convert-ttnn-to-emitpy")
