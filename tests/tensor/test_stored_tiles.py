"""Tiles of 1x16 to 4x16 are stored as by 0.81.1."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import ttnn

VALUES = (((np.arange(250) * 29) % 101 - 50) / 7).astype(np.float32).reshape(5, 50)
# Bytes of a tile, and the first digits of the SHA-256 of all tiles: dumped by the official package 0.81.1.
BYTES = {
    (1, "bfloat16"): (32, "8aaba1d278ce2885"),
    (1, "float32"): (64, "f012e0c3b865788b"),
    (1, "bfloat8_b"): (32, "082651c3933a2751"),
    (1, "bfloat4_b"): (24, "a4615211b01eae2b"),
    (2, "bfloat16"): (64, "1a7327f6ab7ae6e5"),
    (2, "float32"): (128, "9f52eacf0794062f"),
    (2, "bfloat8_b"): (48, "3c5f027c185b4b4c"),
    (2, "bfloat4_b"): (32, "7477e7e3a48a6850"),
    (4, "bfloat16"): (128, "60360975db2c82bd"),
    (4, "float32"): (256, "847d443817a1e825"),
    (4, "bfloat8_b"): (80, "ff1bd693c375c572"),
    (4, "bfloat4_b"): (48, "9f0d8ef3fb9e7264"),
}
# The same of the elements.
ELEMENTS = {
    "bfloat16": "b13e9e442ffa827b",
    "float32": "80826be3c380a617",
    "bfloat8_b": "16621412643db5a0",
    "bfloat4_b": "2af81af277367df0",
}


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


@pytest.mark.parametrize(("height", "name"), BYTES)
def test_stored_bytes_are_the_official_ones(height: int, name: str, tmp_path: Path, device: ttnn.MeshDevice) -> None:
    size, expected = BYTES[height, name]
    tile, dtype = ttnn.Tile((height, 16)), getattr(ttnn, name)
    tensor = ttnn.Tensor(VALUES, dtype, None, ttnn.TILE_LAYOUT, None, tile)
    assert (tuple(tensor.padded_shape), tile.get_tile_size(dtype)) == ((-(-5 // height) * height, 64), size)
    ttnn.dump_tensor(tmp_path / "low.tensorbin", tensor)
    stored = (tmp_path / "low.tensorbin").read_bytes()
    assert digest(stored[-size * 4 * -(-5 // height) :]) == expected
    there = tensor.to(device)
    for other in (tensor, ttnn.load_tensor(tmp_path / "low.tensorbin"), ttnn.from_device(there)):
        assert (other.tile, digest(np.asarray(other.to_list(), np.float32).tobytes())) == (tile, ELEMENTS[name])


def test_operators_refuse_them(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.Tensor(VALUES, ttnn.bfloat16, None, ttnn.TILE_LAYOUT, None, ttnn.Tile((1, 16))).to(device)
    for call in (ttnn.exp, lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), lambda x: ttnn.add(x, x)):
        with pytest.raises(ttnn.UnsupportedError):
            call(tensor)
    rows = ttnn.to_layout(ttnn.from_device(tensor), ttnn.ROW_MAJOR_LAYOUT)
    assert rows.layout == ttnn.ROW_MAJOR_LAYOUT
