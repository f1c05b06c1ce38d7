"""Official kernels of all_gather whose chips pass on what they receive."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.official_gather import gather_programs, gathering_cores
from testkit.official_rows import addresses, needs_wheel, parts, row_of, semaphores, tensor

pytestmark = needs_wheel


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("wraps", [False, True], ids=["line", "ring"])
def test_all_gather(wraps: bool, workers: int) -> None:
    with row_of(4, wraps=wraps, system="galaxy_torus" if wraps else "t3k") as row:
        x = tensor(row, (1, 1, 64, 96), ttnn.bfloat16, ttnn.TILE_LAYOUT)
        shape = ttnn.Shape([1, 1, 64, 96 * row.chips])
        output = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, row.mesh)
        kept = semaphores(row, 2, gathering_cores(workers))
        expected = parts(ttnn.all_gather(x, dim=3))
        for seed in (None, 1):
            with ttnn.manage_config("fabric_shuffle", seed):
                programs = gather_programs(row, x, output, addresses(kept), 2048, workers)
                ttnn.generic_op([x, output], programs)
            for part, other in zip(parts(output), expected, strict=True):
                np.testing.assert_array_equal(part, other)
