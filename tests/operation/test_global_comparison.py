"""Comparison mode from the start: golden values carried between operators."""

from __future__ import annotations

import gc
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of
from ttnn.operation import carried
from ttnn.operation.slow_path import ComparisonError, correlation


@pytest.fixture
def report(tmp_path: Path) -> Iterator[Path]:
    """Return the report folder, with comparison mode and logging on."""
    names = ("root_report_path", "report_name", "enable_logging", "enable_comparison_mode", "comparison_mode_pcc")
    before = {name: getattr(ttnn.CONFIG, name) for name in names}
    for name, value in zip(names, (tmp_path, "porting", True, True, 0.0), strict=True):
        setattr(ttnn.CONFIG, name, value)
    carried.forget_all()
    folder = ttnn.CONFIG.report_path
    assert folder is not None
    yield folder
    for name, value in before.items():
        setattr(ttnn.CONFIG, name, value)


def _records(report: Path, level: str) -> dict[int, float]:
    with sqlite3.connect(report / "db.sqlite") as database:
        return dict(database.execute(f"SELECT tensor_id, actual_pcc FROM {level}_tensor_comparison_records"))


def _tensor(device: ttnn.MeshDevice, seed: int, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    values = np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32)
    return ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)


def test_a_chain_is_compared_with_its_chain_of_golden_functions(device: ttnn.MeshDevice, report: Path) -> None:
    a, b = _tensor(device, 0, ttnn.bfloat8_b), _tensor(device, 1)
    x, y = values_of(a), values_of(b)
    steps = [ttnn.tanh(a)]
    expected = [np.tanh(x)]
    for _ in range(3):
        steps.append(ttnn.add(ttnn.matmul(steps[-1], b, dtype=ttnn.bfloat8_b), 0.5))
        expected.append(expected[-1] @ y + 0.5)
    found, local = _records(report, "global"), _records(report, "local")
    for tensor, values in zip(steps, expected, strict=True):
        assert found[tensor.tensor_id] == pytest.approx(correlation(values, values_of(tensor)), abs=1e-12)
    # Every operator is near to its golden function; the program drifts away.
    assert min(local.values()) > 0.9997
    assert found[steps[3].tensor_id] < found[steps[1].tensor_id] < 0.99999
    assert found[steps[3].tensor_id] < local[steps[3].tensor_id]


def test_a_distance_of_the_program_has_its_own_words(device: ttnn.MeshDevice, report: Path) -> None:
    a = _tensor(device, 0, ttnn.bfloat8_b)
    b = ttnn.tanh(ttnn.multiply(a, a))
    with (
        ttnn.manage_config("comparison_mode_pcc", 0.99998),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        pytest.raises(ComparisonError, match=r"ttnn\.neg: PCC to the golden functions from the start of the program"),
    ):
        ttnn.neg(b)


def test_results_that_are_written_into_operands_carry_their_new_values(device: ttnn.MeshDevice, report: Path) -> None:
    a, b = _tensor(device, 0), _tensor(device, 1)
    x = values_of(a) + values_of(b)
    ttnn.add_(a, b)
    output = ttnn.zeros_like(b)
    ttnn.multiply(a, b, output_tensor=output)
    result = ttnn.exp(output)
    found = _records(report, "global")[result.tensor_id]
    # The place of a result is no operand: what it carried before does not count.
    assert found == pytest.approx(correlation(np.exp(x * values_of(b)), values_of(result)), abs=1e-12)


def test_lists_and_transfers_carry(device: ttnn.MeshDevice, report: Path) -> None:
    a, b = _tensor(device, 0), _tensor(device, 1)
    x = np.tanh(values_of(a))
    y = values_of(b)
    there = ttnn.to_device(ttnn.from_device(ttnn.tanh(a)), device)
    first, second = ttnn.split(ttnn.concat([there, b], 0), 64, 0)
    result = ttnn.add(first, second)
    found = _records(report, "global")[result.tensor_id]
    assert found == pytest.approx(correlation(x + y, values_of(result)), abs=1e-12)


def test_what_is_not_known_is_not_compared(
    device: ttnn.MeshDevice, report: Path, caplog: pytest.LogCaptureFixture
) -> None:
    a = ttnn.exp(_tensor(device, 0))
    cut = ttnn.untilize_with_unpadding(a, [31, 63])
    with caplog.at_level(logging.WARNING, logger="ttnn"):
        result = ttnn.exp(ttnn.tilize(cut))
    assert "an operand was made by an operator without a golden value" in caplog.text
    assert result.tensor_id in _records(report, "local")
    assert result.tensor_id not in _records(report, "global")


def test_nothing_is_carried_without_a_report_or_for_a_tensor_that_is_gone(
    device: ttnn.MeshDevice, report: Path
) -> None:
    a = _tensor(device, 0)
    kept = ttnn.exp(a)
    assert len(carried._carried) == 1
    del kept
    gc.collect()
    assert not carried._carried
    with ttnn.manage_config("report_name", None):
        kept = ttnn.exp(a)
    assert not carried._carried
    assert kept.is_allocated()
