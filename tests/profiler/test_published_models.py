"""Published tokens per second on several chips, beside predictions."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.meshes import published_models
from examples.meshes.published_models import GALAXY, ROWS, Decoder, Row


@pytest.mark.parametrize("row", [row for row in ROWS if row.system is not GALAXY], ids=lambda row: row.name)
def test_a_prediction_is_between_the_published_row_and_the_time_of_its_weights(row: Row) -> None:
    decoder = Decoder(row.model, row.system)
    time, exchange = decoder.nanoseconds()
    assert row.measured < 1e9 / time < decoder.limit()
    assert (exchange > 0) is (row.system.chips > 1)


@pytest.mark.parametrize(("inner", "columns", "dtype"), [(8192, 1280, "BFLOAT8_B"), (8192, 3584, "BFLOAT8_B")])
def test_weights_over_dram_banks_are_read_at_the_published_rate(inner: int, columns: int, dtype: str) -> None:
    # tt-metal, "Saturating DRAM bandwidth": 239 to 260 GB/s in the matmuls of a Llama-3-70B decode step.
    (plan,) = Decoder(ROWS[0].model, ROWS[0].system).product(inner, columns, dtype, "HiFi2")
    assert 0.9 * 239 < plan.timing.dram_read_bytes / plan.nanoseconds < 1.1 * 260


def test_the_page_has_the_table() -> None:
    page = Path(__file__).parents[2] / "docs/meshes.md"
    assert "\n".join(published_models.table()) in page.read_text(encoding="utf-8")
