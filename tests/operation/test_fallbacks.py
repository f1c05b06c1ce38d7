"""Operators that run on the host by golden functions.

They are counted, and shown where a program is shown.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.operation.fallbacks import counted_fallbacks, fallback_counts, reset_fallback_counts


def test_calls_are_counted_by_operator(device: ttnn.MeshDevice) -> None:
    x = make((2, 32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    reshape, relu = (ttnn.get_fallback_function(operation) for operation in (ttnn.reshape, ttnn.relu))
    reset_fallback_counts()
    relu(x)
    with counted_fallbacks() as inside:
        for _ in range(2):
            result = reshape(x, (64, 64))
        relu(x)
    np.testing.assert_array_equal(values_of(result), values_of(x).reshape(64, 64))
    assert dict(inside) == {"ttnn.reshape": 2, "ttnn.relu": 1}
    assert fallback_counts() == {"ttnn.reshape": 2, "ttnn.relu": 2}
    reset_fallback_counts()
    assert fallback_counts() == {}


def test_a_fallback_can_be_made_an_error(device: ttnn.MeshDevice) -> None:
    x = make((3, 5), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    relu = ttnn.get_fallback_function(ttnn.relu)
    with (
        ttnn.manage_config("throw_exception_on_fallback", True),
        pytest.raises(ttnn.UnsupportedError, match=r"ttnn\.relu: its fallback function runs on the host"),
    ):
        relu(x)
    with pytest.raises(ttnn.ArgumentError, match="needs a tensor argument"):
        relu(3)


def test_reports_and_profiles_show_them(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    x = make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    relu = ttnn.get_fallback_function(ttnn.relu)
    with ttnn.profiler.profile() as profile:
        for _ in range(3):
            ttnn.exp(relu(x))
    assert dict(profile.fallbacks) == {"ttnn.relu": 3}
    assert [row.record.operator for row in profile.rows] == ["ttnn.exp"] * 3
    profile.report(tmp_path / "report")
    with sqlite3.connect(tmp_path / "report" / "db.sqlite") as database:
        names = [name for (name,) in database.execute("SELECT name FROM operations ORDER BY operation_id")]
    assert names == ["ttnn.relu (torch)", "ttnn.exp"] * 3


def test_comparison_mode_carries_through_them(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    x = make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with (
        ttnn.manage_config("root_report_path", tmp_path),
        ttnn.manage_config("report_name", "fallbacks"),
        ttnn.manage_config("enable_logging", True),
        ttnn.manage_config("enable_comparison_mode", True),
    ):
        result = ttnn.exp(ttnn.get_fallback_function(ttnn.relu)(x))
        folder = ttnn.CONFIG.report_path
    assert folder is not None
    with sqlite3.connect(folder / "db.sqlite") as database:
        rows = database.execute(
            "SELECT actual_pcc FROM global_tensor_comparison_records WHERE tensor_id = ?", [result.tensor_id]
        ).fetchall()
    assert len(rows) == 1
