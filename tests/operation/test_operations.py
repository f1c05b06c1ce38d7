"""Operators as objects: names, queues, hooks, golden functions, the slow path."""

from __future__ import annotations

import csv
import dataclasses
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.device import queues
from ttnn.operation import hooks, registry


@pytest.fixture
def slow_path() -> Iterator[None]:
    """Turn the fast runtime mode off for the test."""
    with ttnn.manage_config("enable_fast_runtime_mode", False):
        yield


def test_operators_have_the_official_fields() -> None:
    assert [field.name for field in dataclasses.fields(ttnn.exp)] == [
        "python_fully_qualified_name",
        "function",
        "preprocess_golden_function_inputs",
        "golden_function",
        "postprocess_golden_function_outputs",
        "is_cpp_operation",
        "is_experimental",
        "output_tensor_kwarg_names",
    ]
    assert all(hasattr(ttnn.exp, field.name) for field in dataclasses.fields(ttnn.exp))
    assert sorted([ttnn.multiply, ttnn.add]) == [ttnn.add, ttnn.multiply]
    assert isinstance(ttnn.exp, hooks.FastOperation)


def test_operations_have_official_attributes() -> None:
    operation = ttnn.exp
    assert isinstance(operation, registry.FastOperation)
    assert operation.__name__ == operation.python_fully_qualified_name == "ttnn.exp"
    assert operation.is_cpp_operation
    assert not operation.is_experimental
    assert operation.output_tensor_kwarg_names[0] == "output_tensor"
    assert operation.__doc__ is not None
    assert operation.__doc__.startswith("Return the element-wise exponential, `e^x`, of `input_tensor`.")
    assert repr(operation) == "<operation ttnn.exp>"


def test_operations_sort_and_hash_by_name() -> None:
    names = [operation.__name__ for operation in registry.operations()]
    assert names == sorted(names)
    assert len({ttnn.add, ttnn.exp, ttnn.add}) == 2
    assert ttnn.add < ttnn.exp
    assert ttnn.mul is ttnn.multiply
    assert ttnn.sub_ is ttnn.subtract_
    assert ttnn.mul.__name__ == "ttnn.multiply"


def test_operators_use_the_command_queue_of_the_block(device: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    seen: list[int] = []
    probe = registry.FastOperation("ttnn.probe", lambda: seen.append(queues.current_queue()))
    probe()
    probe(queue_id=1)
    probe(cq_id=1)
    probe(queue_id=None)
    with hooks.command_queue(1):
        probe()
    probe()
    assert seen == [0, 1, 1, 0, 1, 0]
    np.testing.assert_array_equal(values_of(ttnn.exp(x, queue_id=0)), values_of(ttnn.exp(x)))


def test_hooks_run_on_the_slow_path_only(device: ttnn.MeshDevice, slow_path: None) -> None:
    x = make((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def before(operation: registry.FastOperation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        calls.append((operation.__name__, args, kwargs))

    def after(
        operation: registry.FastOperation, args: tuple[Any, ...], kwargs: dict[str, Any], output: ttnn.Tensor
    ) -> None:
        calls.append((f"{operation.__name__} done", args, {"output": output}))

    with hooks.register_pre_operation_hook(before), hooks.register_post_operation_hook(after):
        result = ttnn.add(x, 1.0, queue_id=0)
        with ttnn.manage_config("enable_fast_runtime_mode", True):
            ttnn.add(x, 1.0)
    ttnn.add(x, 1.0)
    assert [name for name, _, _ in calls] == ["ttnn.add", "ttnn.add done"]
    assert calls[0][1] == (x, 1.0) or calls[0][1][0] is x
    assert calls[1][2]["output"] is result


def test_a_hook_must_return_nothing(device: ttnn.MeshDevice, slow_path: None) -> None:
    x = make((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with (
        hooks.register_pre_operation_hook(lambda *_: 5),  # type: ignore[arg-type,return-value]
        pytest.raises(RuntimeError, match=r"Pre-operation hook .* returned 5 but must return None"),
    ):
        ttnn.exp(x)
    with (
        hooks.register_post_operation_hook(lambda *_: "x"),  # type: ignore[arg-type,return-value]
        pytest.raises(RuntimeError, match=r"Post-operation hook .* returned 'x' but must return None"),
    ):
        ttnn.exp(x)


def test_enable_logging_logs_every_call(device: ttnn.MeshDevice, caplog: pytest.LogCaptureFixture) -> None:
    x = make((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with ttnn.manage_config("enable_logging", True), caplog.at_level(logging.DEBUG, logger="ttnn"):
        ttnn.exp(x)
    assert [record.getMessage() for record in caplog.records] == [
        "Started <operation ttnn.exp>",
        "Finished <operation ttnn.exp>",
    ]


def test_comparison_mode_raises_for_a_distant_result(device: ttnn.MeshDevice) -> None:
    x = make((32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        ttnn.manage_config("comparison_mode_pcc", 0.999),
    ):
        ttnn.softmax(ttnn.add(x, x))
        ttnn.move(ttnn.multiply_(x, 3.0))
        x = make((32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        wrong = registry.FastOperation("ttnn.wrong", lambda x: x, golden_function=lambda x: -x)
        with pytest.raises(RuntimeError, match=r"ttnn\.wrong: PCC to the golden function is -1\.0"):
            wrong(x)


def test_golden_functions_accept_torch_and_numpy() -> None:
    torch = pytest.importorskip("torch")
    golden = hooks.get_golden_function(ttnn.softmax)
    values = np.random.default_rng(0).normal(size=(3, 5))
    expected = np.exp(values) / np.exp(values).sum(-1, keepdims=True)
    np.testing.assert_allclose(golden(values), expected, rtol=1e-14)
    result = golden(torch.from_numpy(values).to(torch.float32), dim=-1, memory_config=None)
    assert result.dtype is torch.float32
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)
    assert hooks.get_golden_function(ttnn.argmax)(torch.tensor([1.0, 3.0, 2.0])).item() == 1


def test_missing_golden_function_raises_comparison_error() -> None:
    with pytest.raises(RuntimeError, match=r"ttnn\.probe does not have a golden function"):
        hooks.get_golden_function(registry.FastOperation("ttnn.probe", lambda x: x))


def test_attached_golden_function() -> None:
    operation = registry.FastOperation("ttnn.probe", lambda x: x)
    hooks.attach_golden_function(operation, lambda x: x + 1)
    assert hooks.get_golden_function(operation)(1) == 2


def test_fallback_function(device: ttnn.MeshDevice) -> None:
    x = make((3, 5), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    result = hooks.get_fallback_function(ttnn.relu)(x)
    assert result.device() is device
    assert (result.dtype, result.layout) == (x.dtype, x.layout)
    np.testing.assert_array_equal(values_of(result), np.maximum(values_of(x), 0))


def test_python_operations(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    @hooks.register_python_operation(name="ttnn.test_double", golden_function=lambda x: 2 * x)
    def double(x: ttnn.Tensor) -> ttnn.Tensor:
        """Return twice the tensor."""
        return ttnn.add(x, x)

    try:
        x = make((3, 5), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
        np.testing.assert_array_equal(values_of(double(x)), 2 * values_of(x))
        assert double in hooks.query_registered_operations()
        assert double.__doc__ == "Return twice the tensor."
        with pytest.raises(ValueError, match=r"ttnn\.test_double is registered twice"):
            hooks.register_python_operation(name="ttnn.test_double")(lambda x: x)
        hooks.dump_operations(tmp_path / "operations.csv")
        with open(tmp_path / "operations.csv", encoding="utf-8", newline="") as file:
            rows = {row["python_fully_qualified_name"]: row for row in csv.DictReader(file)}
        assert rows["ttnn.test_double"]["is_cpp_operation"] == "False"
        assert rows["ttnn.add"]["has_golden_function"] == "True"
    finally:
        del registry._operations["ttnn.test_double"]


def test_numbers_of_numpy_are_numbers(device: ttnn.MeshDevice) -> None:
    x = make((2, 3), ttnn.float32, ttnn.TILE_LAYOUT, device)
    expected = values_of(ttnn.add(x, 2))
    for number in (np.float32(2), np.int64(2), np.float64(2)):
        np.testing.assert_array_equal(values_of(ttnn.add(x, number)), expected)
    np.testing.assert_array_equal(values_of(ttnn.reshape(x, (np.int64(3), 2))), values_of(x).reshape(3, 2))
