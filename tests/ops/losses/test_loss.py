"""`ttnn.l1_loss` and `ttnn.mse_loss`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of

SHAPE = (1, 2, 64, 128)
NONE, MEAN, SUM = ttnn.LossReductionMode.NONE, ttnn.LossReductionMode.MEAN, ttnn.LossReductionMode.SUM
FLOATS = [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32]


def _tensor(device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16, seed: int = 0) -> ttnn.Tensor:
    return make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, seed)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["l1_loss", "mse_loss"])
def test_losses_have_the_bits_of_their_operators(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    reference, prediction = _tensor(device, dtype), _tensor(device, dtype, 1)
    loss = getattr(ttnn, name)
    whole = loss(reference, prediction)
    activation = ttnn.UnaryOpType.ABS if name == "l1_loss" else ttnn.UnaryOpType.SQUARE
    np.testing.assert_array_equal(raw_of(whole), raw_of(ttnn.subtract(reference, prediction, activations=[activation])))
    for reduction, reduce in ((SUM, ttnn.sum), (MEAN, ttnn.mean)):
        reduced = loss(reference, prediction, reduction=reduction)
        assert reduced.shape == []
        np.testing.assert_array_equal(raw_of(reduced), raw_of(reduce(whole)))
        exact = ttnn.golden.losses.__dict__[name](values_of(reference), values_of(prediction), reduction=reduction)
        np.testing.assert_allclose(values_of(reduced), exact, rtol=0.02)
    output = ttnn.empty_like(whole)
    assert loss(reference, prediction, output_tensor=output) is output
    np.testing.assert_array_equal(raw_of(output), raw_of(whole))
    with pytest.raises(ttnn.UnsupportedError, match=r"output_tensor with reduction=LossReductionMode\.SUM"):
        loss(reference, prediction, reduction=SUM, output_tensor=output)
