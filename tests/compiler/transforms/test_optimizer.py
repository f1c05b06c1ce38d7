"""Optimized programs are predicted to be faster, and right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.pass_checks import function, names, op
from testkit.ttir_encoder import encoder
from testkit.ttir_reference import interpret
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import Call, Ref
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir import Module
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.predict import predict, predicted_rows
from ttnn.compiler.transforms.base import set_type, table_ops
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.optimizer import optimizer
from ttnn.compiler.transforms.ttnn.optimizer.model import Log, ModelOfDevice
from ttnn.compiler.versions import parse_module, print_module

SMALL = {"layers": 1, "batch": 2, "tokens": 64, "width": 128, "heads": 4, "hidden": 256}
FUSED = {"scaled_dot_product_attention", "split_query_key_value_and_split_heads", "concatenate_heads"}


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def lowered(text: str, options: str = "") -> Module:
    module = parse_module(text)
    run(module, f"ttir-to-ttnn-backend-pipeline{{{options}}}")
    return module


def program_of(module: Module) -> Program:
    (found,) = (one for one in programs(ttnn_to_binary(module, "0.1.0")) if not one.private)
    return found


def drawn(text: str) -> list[np.ndarray[Any, Any]]:
    """Return inputs in bfloat16: weights as large as in models."""
    random = np.random.default_rng(5)
    arguments = parse_module(text).functions()[0].body.blocks[0].args
    shapes = [tuple(argument.type.get_shape()) for argument in arguments]  # type: ignore[attr-defined]
    made = [
        random.standard_normal(shape) * (shape[0] ** -0.5 if len(shape) == 2 and i > 1 else 1)
        for i, shape in enumerate(shapes)
    ]
    return [value.astype(ml_dtypes.bfloat16) for value in made]


def executed(module: Module, given: list[np.ndarray[Any, Any]], device: ttnn.MeshDevice) -> np.ndarray[Any, Any]:
    inputs = [ttnn.Tensor(value.astype(np.float32), ttnn.bfloat16) for value in given]
    (result,) = execute(program_of(module), inputs, device)
    return ttnn.to_numpy(result).astype(np.float64)


def compare(text: str, device: ttnn.MeshDevice, fused: set[str]) -> None:
    """Check that the optimized program is as right as the other one."""
    given = drawn(text)
    source = parse_module(text)
    (exact,) = interpret(source, source.functions()[0].sym_name.data, [value.astype(np.float64) for value in given])
    before, after = lowered(text), lowered(text, "enable-optimizer=true")
    assert not fused & set(names(before))
    assert fused <= set(names(after))
    results = [executed(module, given, device) for module in (before, after)]
    errors = [float(np.linalg.norm(result - exact)) for result in results]
    assert errors[1] <= 1.25 * errors[0] + 1e-6
    assert np.corrcoef(results[1].ravel(), exact.ravel())[0, 1] >= 0.999


def test_an_encoder_is_fused_and_as_right_as_before(device: ttnn.MeshDevice) -> None:
    compare(encoder(**SMALL), device, FUSED)


HALF = "2x2x64x32xbf16"


def attention(element: str, bound: str = "0xFF800000") -> str:
    """Return attention of bfloat16 tensors, computed in f32 or bf16.

    In f32 masked rows are zeros.
    """
    wide, scores, turned, column = (f"2x2x{sizes}x{element}" for sizes in ("64x32", "64x64", "32x64", "64x1"))
    casts = [op(f"{name}w", "typecast", f"%{name}", f"{HALF} -> {wide}") for name in "qkv"]
    masked = [
        op("low", "constant", "", f" -> {scores}", f"value = dense<{bound}> : tensor<{scores}>"),
        op("zero", "constant", "", f" -> {scores}", f"value = dense<0.0> : tensor<{scores}>"),
        op("is", "eq", "%s, %low", f"{scores}, {scores} -> {scores}"),
        op("some", "logical_not", "%is", f"{scores} -> {scores}"),
        op("any", "reduce_or", "%some", f"{scores} -> {column}", "dim_arg = [3 : i32], keep_dim = true"),
        op("none", "logical_not", "%any", f"{column} -> {column}"),
        op("safe", "where", "%none, %zero, %soft", f"{column}, {scores}, {scores} -> {scores}"),
    ]
    is_wide = element == "f32"
    lines = [
        *(casts if is_wide else []),
        op("half", "full", "", f" -> {wide}", "shape = array<i32: 2, 2, 64, 32>, fill_value = 0.42 : f32"),
        op("qs", "multiply", "%qw, %half", f"{wide}, {wide} -> {wide}"),
        op("kt", "permute", "%kw", f"{wide} -> {turned}", "permutation = array<i64: 0, 1, 3, 2>"),
        op("s", "matmul", "%qs, %kt", f"{wide}, {turned} -> {scores}"),
        op("soft", "softmax", "%s", f"{scores} -> {scores}", "dimension = 3 : si32, numericStable = true"),
        *(masked if is_wide else []),
        op("c" if is_wide else "r", "matmul", f"%{'safe' if is_wide else 'soft'}, %vw", f"{scores}, {wide} -> {wide}"),
        *([op("r", "typecast", "%c", f"{wide} -> {HALF}")] if is_wide else []),
    ]
    kind, last = f"tensor<{HALF}>", "" if is_wide else "w"
    return function(", ".join(f"%{name}{last}: {kind}" for name in "qkv"), kind, *lines)


def test_attention_takes_the_type_in_front_of_casts(device: ttnn.MeshDevice) -> None:
    text = attention("f32")
    after = lowered(text, "enable-optimizer=true")
    assert "scaled_dot_product_attention" in names(after)
    assert not {"typecast", "where", "softmax"} & set(names(after))
    given = drawn(text)
    (exact,) = interpret(parse_module(text), "f", [value.astype(np.float64) for value in given])
    # As right as the same attention in bfloat16, operation by operation.
    plain = executed(lowered(attention("bf16")), given, device)
    result = executed(after, given, device)
    assert np.linalg.norm(result - exact) <= 1.25 * np.linalg.norm(plain - exact) + 1e-6
    assert np.corrcoef(result.ravel(), exact.ravel())[0, 1] >= 0.999


def test_keys_of_a_group_of_heads_are_not_repeated(device: ttnn.MeshDevice) -> None:
    few, many, turned, scores = "2x2x64x32xbf16", "2x4x64x32xbf16", "2x4x32x64xbf16", "2x4x64x64xbf16"
    repeated = "repeats = 2 : ui32, dim = 1 : si32"
    text = function(
        f"%q: tensor<{many}>, %k: tensor<{few}>, %v: tensor<{few}>",
        f"tensor<{many}>",
        op("kk", "repeat_interleave", "%k", f"{few} -> {many}", repeated),
        op("vv", "repeat_interleave", "%v", f"{few} -> {many}", repeated),
        op("kt", "permute", "%kk", f"{many} -> {turned}", "permutation = array<i64: 0, 1, 3, 2>"),
        op("s", "matmul", "%q, %kt", f"{many}, {turned} -> {scores}"),
        op("soft", "softmax", "%s", f"{scores} -> {scores}", "dimension = 3 : si32, numericStable = true"),
        op("r", "matmul", "%soft, %vv", f"{scores}, {many} -> {many}"),
    )
    compare(text, device, {"scaled_dot_product_attention"})
    assert "repeat_interleave" not in names(lowered(text, "enable-optimizer=true"))


def test_a_result_with_a_further_dimension_is_given_in_rows(device: ttnn.MeshDevice) -> None:
    kind, result = "32x512xbf16", "32x1x512xbf16"
    shape = "shape = [32 : i32, 1 : i32, 512 : i32]"
    text = function(
        f"%a: tensor<{kind}>, %b: tensor<{kind}>",
        f"tensor<{result}>",
        op("s", "add", "%a, %b", f"{kind}, {kind} -> {kind}"),
        op("r", "reshape", "%s", f"{kind} -> {result}", shape),
    )
    given = drawn(text)
    before, after = lowered(text), lowered(text, "enable-optimizer=true preserve-bits=true")
    assert program_of(before).outputs[0][1].tiled
    assert not program_of(after).outputs[0][1].tiled
    assert np.array_equal(executed(before, given, device), executed(after, given, device))
    assert predict(program_of(after), device).nanoseconds < predict(program_of(before), device).nanoseconds


def test_zeros_for_other_rows_are_no_attention() -> None:
    after = lowered(attention("f32", "1.0"), "enable-optimizer=true")
    assert "scaled_dot_product_attention" not in names(after)
    assert "softmax" in names(after)


def test_preserved_bits_are_those_of_the_program_without_optimizer(
    device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    text = encoder(**SMALL)
    given = drawn(text)
    before, after = lowered(text), lowered(text, "enable-optimizer=true preserve-bits=true")
    written = capsys.readouterr().err
    assert "concatenate_heads" in names(after)
    assert "scaled_dot_product_attention" not in names(after)
    assert "matmul_program_config" not in print_module(after)
    assert np.array_equal(executed(before, given, device), executed(after, given, device))
    assert "withheld by preserve-bits: 1, predicted" in written


@pytest.mark.parametrize("predicting", [predict, predicted_rows])
def test_predicting_a_program_touches_no_file(
    device: ttnn.MeshDevice, tmp_path: Path, predicting: Callable[..., object]
) -> None:
    program = program_of(lowered(encoder(**SMALL)))
    number, _ = program.inputs[0]
    path = tmp_path / "a.tensorbin"
    written = replace(program, calls=(Call("ttnn.dump_tensor", [str(path), Ref(number)]), *program.calls))
    with pytest.raises(UnsupportedError, match=r"the time of ttnn\.dump_tensor is not predicted"):
        predicting(written, device)
    assert not path.exists()


def test_the_prediction_is_the_time_of_the_program(device: ttnn.MeshDevice) -> None:
    text = encoder(**SMALL)
    for options in ("", "enable-optimizer=true"):
        module = lowered(text, options)
        program = program_of(module)
        predicted = predict(program, device)
        inputs = [ttnn.Tensor(value.astype(np.float32), ttnn.bfloat16) for value in drawn(text)]
        execute(program, inputs, device)  # constants
        with ttnn.profiler.profile() as profile:
            execute(program, inputs, device)
        # Layouts of inputs are those of the program after the first operations of a run.
        rows = [round(row.nanoseconds) for row in profile.rows][-predicted.operations :]
        assert len(rows) == predicted.operations
        assert sum(rows) + round((len(rows) - 1) * 700) == predicted.nanoseconds
        assert predicted.missing == []


def test_constants_count_where_they_are_computed_in_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    times = []
    for state in ("true", "false"):
        lowered(encoder(**SMALL), f"enable-optimizer=true enable-const-eval={state}")
        times.append(float(capsys.readouterr().err.split()[2]))
    assert times[0] < times[1]


def test_equal_modules_become_equal_text() -> None:
    text = encoder(**SMALL)
    first, second = (print_module(lowered(text, "optimization-level=1")) for _ in range(2))
    assert first == second
    assert "matmul_program_config" in first


def test_a_rewrite_that_is_slower_is_not_taken(capsys: pytest.CaptureFixture[str]) -> None:
    module = parse_module(encoder(**SMALL))
    run(module, "ttir-to-ttnn-backend-pipeline{enable-const-eval=false}")
    lines: list[str] = []
    search = optimizer._Search(module, ModelOfDevice.get(), lines.append)

    def slower(copy: Module) -> bool:
        for one in table_ops(copy.op, "ttnn.softmax"):
            build = Build(copy, one)
            twice = build.permute(build.permute(one.operands[0], (1, 0, 2, 3)), (1, 0, 2, 3))
            one.operands[0] = twice
        return True

    def wrong(copy: Module) -> bool:
        for one in table_ops(copy.op, "ttnn.softmax"):
            set_type(one.results[0], copy.functions()[0].body.blocks[0].args[0].type)
        return True

    search.consider("slower", "exact", slower, allowed=True)
    search.consider("wrong", "exact", wrong, allowed=True)
    assert search.module is module
    assert lines[0].startswith("slower (exact) withheld: ")
    assert lines[1].startswith("wrong (exact) refused: ")
    assert capsys.readouterr().err == ""


def test_decisions_are_written_where_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = encoder(**SMALL)
    lowered(text, "enable-optimizer=true")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("[optimizer] predicted ")
    monkeypatch.setattr(Log, "on", True)
    lowered(text, "enable-optimizer=true")
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("[optimizer] ") for line in lines)
    assert any("attention (formula) kept: " in line for line in lines)
    assert any("runner-up" in line for line in lines)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("optimization-level=2", "there are 0"),
        ("enable-optimizer=true memory-layout-analysis-enabled=true", "tensors stay interleaved in DRAM"),
        ("enable-optimizer=true override-output-layout=add=1x1", "tensors stay interleaved in DRAM"),
        ("preserve-bits=true", "add enable-optimizer=true"),
    ],
)
def test_options_that_are_not_there_are_refused(options: str, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        lowered(encoder(**SMALL), options)


def test_the_optimizer_needs_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelOfDevice, "_given", None)
    with pytest.raises(UnsupportedError, match="needs the operators"):
        lowered(encoder(**SMALL), "enable-optimizer=true")


def test_a_program_without_time_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(module: Module) -> None:
        raise UnsupportedError("no such operator.")

    text = encoder(**SMALL)
    plain = print_module(lowered(text))
    monkeypatch.setattr(ModelOfDevice.get(), "time", refuse)
    assert print_module(lowered(text, "optimization-level=1 preserve-bits=true")) == plain
    assert "not optimized, since the program has no predicted time: no such operator." in capsys.readouterr().err


def test_minilm_reaches_its_bar() -> None:
    before, after = (ModelOfDevice.get().time(lowered(encoder(), options)) for options in ("", "optimization-level=1"))
    assert before.missing == after.missing == 0
    assert before.nanoseconds > 4_500_000
    assert after.nanoseconds < 1_100_000  # 1,600 us are enough
