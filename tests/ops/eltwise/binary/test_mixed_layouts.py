"""Row-major and tiled operands: tilized first, tiled result."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import ttnn
from testkit.eltwise_calls import fit
from testkit.operands import describe, make
from ttnn.operation import registry
from ttnn.operation.signature import TENSOR

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
ENTRIES = [
    entry
    for entry in registry.entries()
    if entry.family == "binary" and entry.name != "situ_glu" and {TILES, ROWS} <= set(entry.layouts)
    if any([param.kind for param in signature.positional] == [TENSOR, TENSOR] for signature in entry.signatures)
]
CASES = [
    pytest.param(entry, dtype, id=f"{entry.name}-{dtype.name}")
    for entry in ENTRIES
    for dtype in (ttnn.bfloat16, ttnn.float32, ttnn.int32)
    if dtype in entry.dtypes and (entry.name, dtype) != ("pow", ttnn.int32)
]
SHAPES = [((2, 33, 40), (2, 33, 40)), ((2, 33, 40), (33, 1))]


@pytest.mark.parametrize("layouts", [(ROWS, TILES), (TILES, ROWS)], ids=["rows first", "tiles first"])
@pytest.mark.parametrize(("entry", "dtype"), CASES)
def test_the_result_is_that_of_tiles(
    entry: registry.Op, dtype: ttnn.DataType, layouts: tuple[ttnn.Layout, ttnn.Layout], device: ttnn.MeshDevice
) -> None:
    operation = getattr(ttnn, entry.name)

    def operand(index: int, shape: tuple[int, ...]) -> Any:
        return make(shape, dtype, layouts[index], device, index, fit=partial(fit, entry), limit=50)

    for first, second in SHAPES:
        a, b = operand(0, first), operand(1, second)
        if entry.name.endswith("_") and a.layout is ROWS:
            with pytest.raises(ttnn.LayoutError, match="is ROW_MAJOR"):
                operation(a, b)
            continue
        expected = operation(ttnn.to_layout(a, TILES) if a.layout is ROWS else ttnn.clone(a), ttnn.to_layout(b, TILES))
        found = operation(a, b)
        assert found.layout is TILES
        assert describe(found) == describe(expected)


def test_with_an_output_tensor(device: ttnn.MeshDevice) -> None:
    a = make((33, 40), ttnn.bfloat16, ROWS, device)
    b, target = (make((33, 40), ttnn.bfloat16, TILES, device, seed) for seed in (1, 2))
    assert ttnn.add(a, b, output_tensor=target) is target
    assert describe(target) == describe(ttnn.add(ttnn.to_layout(a, TILES), b))
