"""Print options and corners that the recorded texts do not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ConfigError


@pytest.fixture(autouse=True)
def _default_options() -> Iterator[None]:
    yield
    ttnn.set_printoptions()


def text(values: Any, **options: Any) -> str:
    return str(ttnn.Tensor(np.array(values, np.float32), **options)).split(", shape=")[0].removeprefix("ttnn.Tensor(")


def test_profile_empty_prints_no_values() -> None:
    ttnn.set_printoptions(profile="Empty")
    assert str(ttnn.Tensor(np.zeros((2, 2), np.float32))) == (
        "ttnn.Tensor(..., shape=Shape([2, 2]), dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)"
    )


def test_thresholds_of_scientific_notation() -> None:
    assert text([1.0, 1000.0]) == "[ 1.0000, 1000.0000]"
    assert text([1.0, 1001.0]) == "[ 1.0000e+00,  1.0010e+03]"
    assert text([1e8]) == "[100000000.0000]"
    assert text([1.1e8]) == "[ 1.1000e+08]"
    assert text([1e-3]) == "[ 0.0010]"
    assert text([9e-5]) == "[ 9.0000e-05]"
    assert text([0.0, float("inf"), float("nan")]) == "[ 0.0000,     inf,     nan]"


def test_modes_and_precision() -> None:
    for mode in (True, "true", "True"):
        ttnn.set_printoptions(sci_mode=mode, precision=1)
        assert text([1.0]) == "[ 1.0e+00]"
    for mode in (None, "default", "none"):
        ttnn.set_printoptions(sci_mode=mode)
        assert text([1.0]) == "[ 1.0000]"
    ttnn.set_printoptions(precision=0)
    assert text([2.0]) == "[  2]"


def test_every_set_starts_from_the_defaults() -> None:
    ttnn.set_printoptions(profile="full", precision=1)
    ttnn.set_printoptions(sci_mode=False)
    assert text(np.zeros(6)) == "[ 0.0000,  0.0000,  ...,  0.0000,  0.0000]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"profile": "long"},
            "ttnn.set_printoptions: profile must be one of empty, short, full; got 'long'\ninfo:\nbad optional access",
        ),
        (
            {"sci_mode": "maybe"},
            "ttnn.set_printoptions: sci_mode must be True, False, None or 'default'; got 'maybe'",
        ),
        ({"sci_mode": 1}, "ttnn.set_printoptions: sci_mode must be True, False, None or 'default'; got 1"),
        ({"precision": -1}, "ttnn.set_printoptions: precision must be a number from 0 on, got -1"),
        ({"precision": 2.5}, "ttnn.set_printoptions: precision must be a number from 0 on, got 2.5"),
    ],
)
def test_options_that_do_not_exist(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ttnn.set_printoptions(**options)
    assert str(caught.value) == message
    assert isinstance(caught.value, RuntimeError)


def test_empty_dimensions() -> None:
    assert text(np.zeros((2, 0))) == "[[],\n             []]"
    assert text(np.zeros((0, 2))) == "[]"


def test_blocks_of_rank_4_are_separated_by_one_empty_line() -> None:
    assert "]]],\n\n             [[[" in text(np.zeros((2, 1, 1, 1)))


def test_small_integers() -> None:
    assert "[    0,   255]" in str(ttnn.Tensor(np.array([0, 255], np.uint8)))
    assert "[ -128,   127]" in str(ttnn.Tensor(np.array([-128, 127], np.int8)))
    assert "[ 1.0000, -0.5000]" in str(ttnn.Tensor(np.array([1.0, -0.5], np.float32), ttnn.fp8_e4m3))
