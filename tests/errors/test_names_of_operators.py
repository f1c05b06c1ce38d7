"""An operator's error names it, whichever of its steps refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ttnn
from ttnn.base.exceptions import TtnnError

Make = Callable[..., ttnn.Tensor]


@pytest.fixture
def t(device: ttnn.MeshDevice) -> Make:
    """Return a function that makes a device tensor of zeros."""

    def make(shape: tuple[int, ...], dtype: ttnn.DataType = ttnn.bfloat16, **options: Any) -> ttnn.Tensor:
        return ttnn.zeros(shape, dtype, options.get("layout", ttnn.TILE_LAYOUT), device)

    return make


CALLS: dict[str, tuple[Callable[[Make], Any], str]] = {
    "tril": (lambda t: ttnn.tril(t((2, 2, 2, 2, 2, 2))), "ttnn.tril: in one of its steps, cannot broadcast "),
    "triu": (lambda t: ttnn.triu(t((2, 2, 2, 2, 2, 2))), "ttnn.triu: in one of its steps, cannot broadcast "),
    "linear": (lambda t: ttnn.linear(t((32, 64)), t((32, 64))), "ttnn.linear: inner dimensions differ: "),
    "polygamma_bw": (
        lambda t: ttnn.polygamma_bw(t((32, 32), ttnn.int32), t((32, 32), ttnn.int32), 1),
        "ttnn.polygamma_bw: in one of its steps, ",
    ),
    "experimental.quasar.add": (
        lambda t: ttnn.experimental.quasar.add(t((2, 3)), t((2, 4))),
        "ttnn.experimental.quasar.add: cannot broadcast ",
    ),
    "moreh_cumsum": (
        lambda t: ttnn.moreh_cumsum(t((32, 32)), 9),
        "ttnn.moreh_cumsum: in one of its steps, dim=9 is out of range ",
    ),
}


@pytest.mark.parametrize(("call", "text"), CALLS.values(), ids=CALLS)
def test_the_called_operator_is_named(t: Make, call: Callable[[Make], Any], text: str) -> None:
    with pytest.raises(TtnnError) as caught:
        call(t)
    assert str(caught.value).startswith(text)
    assert " takes" not in str(caught.value) or f"{text.partition(':')[0]} takes" in str(caught.value)


@pytest.mark.parametrize("exponent", [ttnn.int32, ttnn.uint32], ids=["INT32", "UINT32"])
def test_pow_error_names_the_dtypes_of_that_exponent(t: Make, exponent: ttnn.DataType) -> None:
    assert ttnn.pow(t((2, 3), exponent), 2).dtype == exponent
    with pytest.raises(ttnn.DTypeError) as caught:
        ttnn.pow(t((2, 3), exponent), t((2, 3), exponent))
    name, text = exponent.name, str(caught.value).partition("\ninfo:\n")[0]
    assert text.startswith(f"ttnn.pow: input_tensor is {name} and the exponent a tensor; ")
