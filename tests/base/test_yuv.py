"""YUV coefficients: white has no color, pure colors reach one half."""

from __future__ import annotations

import pytest

import ttnn


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [(ttnn.yuv_bt601_coefficients, (0.299, 0.587, 0.114)), (ttnn.yuv_bt709_coefficients, (0.2126, 0.7152, 0.0722))],
)
def test_yuv_coefficients_follow_their_standard(coefficients: object, expected: tuple[float, ...]) -> None:
    assert callable(coefficients)
    found = coefficients()
    assert isinstance(found, ttnn.YUVCoefficients)
    assert found.y == pytest.approx(expected)
    assert sum(found.cb) == pytest.approx(0)
    assert sum(found.cr) == pytest.approx(0)
    assert (found.cb[2], found.cr[0]) == (0.5, 0.5)
    # Differences are those of blue and red from brightness.
    assert found.cb[0] / found.y[0] == pytest.approx(found.cb[1] / found.y[1])
    assert found.cr[1] / found.y[1] == pytest.approx(found.cr[2] / found.y[2])
