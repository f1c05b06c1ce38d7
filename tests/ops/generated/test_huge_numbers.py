"""Python integers beyond floats and words are refused everywhere.

Wherever a number is accepted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make
from testkit.signature_calls import calls
from ttnn.base.exceptions import ArgumentError, DTypeError, EngineBugError, TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import Signature

# More digits than Python turns into text, too.
HUGE = (2**1024, -(10**5000))


def _forms(entry: registry.Op, signature: Signature, number: int) -> list[tuple[str, Any]]:
    """Return (parameter, value) for number parameters, alone or in lists."""
    kinds = [(param.name, param.kind.accepts) for param in signature.params if param.modelled]
    # There is no padding in the calls of `reshape`.
    kinds = [(name, accepts) for name, accepts in kinds if (entry.name, name) != ("reshape", "pad_value")]
    return [(name, number) for name, accepts in kinds if accepts(0.5) or accepts(5)] + [
        (name, [number]) for name, accepts in kinds if accepts([0.5]) or accepts([5])
    ]


WITH_NUMBERS = [entry for entry in registry.entries() if any(_forms(entry, s, 0) for s in entry.signatures)]


@pytest.mark.parametrize("number", HUGE, ids=["positive", "negative"])
@pytest.mark.parametrize("entry", WITH_NUMBERS, ids=str)
def test_every_number_of_every_operator(entry: registry.Op, number: int, device: ttnn.MeshDevice) -> None:
    for call in calls(entry, device):
        for name, value in _forms(entry, call.signature, number):
            with pytest.raises(TtnnError) as caught:
                call(**{name: value})
            assert not isinstance(caught.value, EngineBugError), name


def test_numbers_beyond_float_are_named_in_errors(device: ttnn.MeshDevice) -> None:
    t = make((2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ArgumentError, match=r"hardtanh\(ttnn.Tensor, max_val=int beyond float\)"):
        ttnn.hardtanh(t, max_val=10**400)
    with pytest.raises(ArgumentError, match=r"add\(ttnn.Tensor, int, activations=list\)"):
        ttnn.add(t, 1, activations=[(ttnn.UnaryOpType.POWER, 10**400)])
    with pytest.raises(
        ArgumentError, match=r"^UnaryWithParam: UnaryOpType.POWER accepts values in the range of a float.$"
    ):
        ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 10**400)
    with pytest.raises(DTypeError, match=r"^ttnn.add: the number has more than 308 digits; a float cannot hold it. "):
        t + 10**5000


@pytest.mark.parametrize("decimals", [39, 400, 2**31, -400, -(2**31)])
def test_more_decimals_than_float32_has(decimals: int, device: ttnn.MeshDevice) -> None:
    """The factors are infinity and 0, as at 40 decimals."""
    t = make((2, 3), ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert np.isnan(ttnn.round(t, decimals=decimals).to_list()).all()


@pytest.mark.parametrize("scalar", [1e300, -1e300])
@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_scalars_beyond_float32(name: str, scalar: float, device: ttnn.MeshDevice) -> None:
    """The chip gets infinity, without any warning."""
    t = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    infinite = getattr(ttnn, name)(t, scalar=np.copysign(np.inf, scalar))
    assert getattr(ttnn, name)(t, scalar=scalar).item() == infinite.item()


def test_negative_zero_has_a_negative_inverse(device: ttnn.MeshDevice) -> None:
    t = ttnn.full((32, 32), -2.0, ttnn.float32, ttnn.TILE_LAYOUT, device)
    of_zeros = [ttnn.celu(t, alpha=alpha).to_list()[0][0] for alpha in (0.0, -0.0)]
    assert of_zeros[0] == 0.0
    assert np.isnan(of_zeros[1])  # -0 * (e^(-2 * -infinity) - 1)
