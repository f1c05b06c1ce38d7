"""The table of SFPU init settings matches the official headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from official_setups import Headers, row, titles
from vendor import WHEEL

TABLE = Path(__file__).resolve().parents[3] / "rust/tt-program/src/state/compute/setups.txt"


@pytest.mark.skipif(not (WHEEL / "ttnn").is_dir(), reason="TTNN_OFFICIAL_WHEEL names no unpacked official wheel")
def test_inits_set_what_the_official_headers_set() -> None:
    headers = Headers(WHEEL)
    found = [row(headers, title) for title in titles()]
    assert TABLE.read_text(encoding="utf-8").splitlines() == found
    # Read by hand: products and sums set nothing, a reciprocal three constants, a maximum a sequence.
    assert "relu_tile_init" in found
    assert "recip_tile_init(approx=True) prgm0=3ea57ebb prgm1=3fba2e90 prgm2=4007c1f2" in found
    assert "binary_max_tile_init addr_mod_6=2 macros=binary_max_min_init<true>" in found
