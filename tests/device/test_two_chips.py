"""A Wormhole and a Blackhole in one process, each with its bits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np
import pytest

import ttnn

CHIPS = ("n150", "p150")
Call = Callable[[ttnn.Tensor, ttnn.Tensor], ttnn.Tensor]
CALLS: dict[str, Call] = {
    "reciprocal": lambda x, _: ttnn.reciprocal(x),
    "erf, approximate": lambda x, _: ttnn.erf(x, fast_and_approximate_mode=True),
    "tan": lambda x, _: ttnn.tan(x),
    "softsign": lambda x, _: ttnn.softsign(x),
    "digamma": lambda x, _: ttnn.digamma(x),
    "chain": lambda x, _: ttnn.unary_chain(
        x, [ttnn.UnaryWithParam(ttnn.UnaryOpType.ATANH), ttnn.UnaryWithParam(ttnn.UnaryOpType.MISH)]
    ),
    "atan2": lambda x, y: ttnn.atan2(x, y),
    "remainder": lambda x, y: ttnn.remainder(x, y),
    "addcdiv": lambda x, y: ttnn.addcdiv(x, x, y, value=0.5),
    "softmax": lambda x, _: ttnn.softmax(x, dim=-1),
    "layer_norm": lambda x, _: ttnn.layer_norm(x),
    "matmul": lambda x, y: ttnn.matmul(x, y, transpose_a=True),
    "sigmoid_bw": lambda x, y: ttnn.sigmoid_bw(x, y)[0],
    "mean": lambda x, _: ttnn.mean(x, dim=-1),
}
OTHER_BITS = {
    "bfloat16": {"erf, approximate", "chain", "atan2", "softmax"},
    "float32": {"reciprocal", "erf, approximate", "softsign", "digamma", "atan2", "remainder", "addcdiv", "softmax"},
}
"""Calls whose results differ between the chips, among others."""


def results(device: ttnn.MeshDevice, call: Call, dtype: ttnn.DataType, tiles: int) -> bytes:
    generator = np.random.default_rng(45)
    values = [generator.standard_normal((32 * tiles, 64)).astype(np.float32) for _ in range(2)]
    x, y = (ttnn.Tensor(value, dtype, device, ttnn.TILE_LAYOUT) for value in values)
    return ttnn.to_numpy(call(x, y)).tobytes()


# From 256 tiles on, results in a 16-bit Dst come from tables that calls share.
@pytest.mark.parametrize("tiles", [2, 150])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=["bfloat16", "float32"])
def test_each_chip_gives_its_own_bits(dtype: ttnn.DataType, tiles: int) -> None:
    alone: dict[str, dict[str, bytes]] = {}
    for chip in CHIPS:
        device = ttnn.open_device(device_id=0, chip=chip)
        alone[chip] = {name: results(device, call, dtype, tiles) for name, call in CALLS.items()}
        ttnn.close_device(device)
    different = {name for name in CALLS if alone["n150"][name] != alone["p150"][name]}
    assert OTHER_BITS[dtype.name.lower()] <= different
    with ExitStack() as opened:
        devices = {}
        for number, chip in enumerate(CHIPS):
            devices[chip] = ttnn.open_device(device_id=number, chip=chip)
            opened.callback(ttnn.close_device, devices[chip])
        for _ in range(3):  # the third equal call runs a cached program
            for name, call in CALLS.items():
                for chip in CHIPS:
                    assert results(devices[chip], call, dtype, tiles) == alone[chip][name], f"{name} on {chip}"


def test_a_tensor_of_the_other_chip_is_refused() -> None:
    with ExitStack() as opened:
        tensors = []
        for number, chip in enumerate(CHIPS):
            device = ttnn.open_device(device_id=number, chip=chip)
            opened.callback(ttnn.close_device, device)
            tensors.append(ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device))
        with pytest.raises(ttnn.StorageError, match="another device"):
            ttnn.add(*tensors)
        for tensor in tensors:
            assert ttnn.to_numpy(ttnn.add(tensor, tensor)).min() == 2.0
