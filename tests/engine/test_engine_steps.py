"""Compute engine steps, as `ttnn._engine` exports them for goldens."""

import numpy as np
import pytest

from ttnn import _engine

_INTEGERS = {"int32": 8, "uint32": 24}


@pytest.mark.parametrize("code", _INTEGERS.values(), ids=_INTEGERS)
def test_copy_tile_brings_32_bit_integers_into_dst_as_they_are(code: int) -> None:
    words = np.arange(1024, dtype=np.uint32).reshape(32, 32) * np.uint32(0x9E3779B9)
    faces = words.reshape(2, 16, 2, 16).swapaxes(1, 2)
    dst = _engine.datacopy_tiles(np.ascontiguousarray(faces).view(np.uint8).reshape(1, 4096), code, True, True)
    np.testing.assert_array_equal(dst[0], words)
