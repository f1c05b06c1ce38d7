"""Examples of several chips hold what they print."""

from __future__ import annotations

import importlib

import numpy as np
import pytest


def test_tensor_parallel_mlp_is_as_close_as_one_chip() -> None:
    mlp = importlib.import_module("examples.meshes.tensor_parallel_mlp")
    x, weights = mlp.operands()
    results, nanoseconds = mlp.on_mesh(x, weights)
    single, _ = mlp.on_one_chip(x, weights)
    rows = [results[:4], results[4:]]
    assert all(np.array_equal(one, row[0]) for row in rows for one in row)
    assert not np.array_equal(rows[0][0], rows[1][0])
    expected = mlp.exact(x, weights)
    whole = np.concatenate([row[0] for row in rows])
    # Partial sums are rounded to bfloat16 on their way.
    assert mlp.distance(single, expected) < mlp.distance(whole, expected) < 1.3 * mlp.distance(single, expected)
    assert nanoseconds > 0


@pytest.mark.parametrize("steps", [1, 3])
def test_plate_on_a_mesh_has_the_bits_of_one_chip(steps: int) -> None:
    plate = importlib.import_module("examples.meshes.plate_halo")
    plates = plate.heat()
    made = plate.on_mesh(plates, steps)
    assert np.array_equal(made, plate.on_one_chip(plates, steps))
    # Means of quarters are exact in float32 for so few steps.
    assert made.sum(dtype=np.float64) == plates.sum(dtype=np.float64)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("tensor_parallel_mlp", "chips of a row have equal results: True"), ("plate_halo", "2x4 equals one chip: True")],
)
def test_example_prints_its_comparison(name: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(f"examples.meshes.{name}").main()
    assert sentence in capsys.readouterr().out
