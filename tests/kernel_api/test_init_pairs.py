"""Functions of several inits alternate where compatible, else clashes raise.

Compatible: the inits set nothing different. The clash is named.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit import tile_parts
from testkit.kernel_parts import pack_one
from testkit.tile_parts import Matrix
from ttnn import _engine
from ttnn import kernel_api as api
from ttnn.base.exceptions import KernelSetupError
from ttnn.metal.cpp.sfpu_header import sfpu_header

Call = Callable[[], None]
Half = npt.NDArray[np.uint16]
X = np.random.default_rng(5).uniform(0.5, 4.0, (32, 32)).astype(ml_dtypes.bfloat16)
TWO = 0x4000_0000


def ran(device: ttnn.MeshDevice, inits: list[Call], calls: list[Call]) -> Half:
    """Return the bits of X after these inits and calls."""

    def compute() -> None:
        api.init_sfpu(0, 16)
        api.cb_wait_front(0, 1)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        api.copy_tile(0, 0, 1)
        for call in [*inits, *calls]:
            call()
        pack_one()
        api.cb_pop_front(0, 1)

    out = Matrix(np.zeros((32, 32), ml_dtypes.bfloat16))
    return np.asarray(tile_parts.run(device, compute, [Matrix(X)], out, ttnn.metal.ComputeConfig())).view(np.uint16)


def on(function: Callable[..., None], *words: int) -> Call:
    return lambda: function(0, *words)


def add_binary() -> None:
    api.add_binary_tile(0, 1, 0)


RIGHT: dict[str, tuple[list[Call], list[Call]]] = {
    "arithmetic with scalars, of two tiles": (
        [api.binop_with_scalar_tile_init, api.add_binary_tile_init],
        [on(api.mul_unary_tile, TWO), add_binary],
    ),
    "a sum after a fill": ([api.add_binary_tile_init, api.fill_tile_init], [add_binary, add_binary]),
    "four plain ones": (
        [api.relu_tile_init, api.abs_tile_init, api.negative_tile_init, api.square_tile_init],
        [on(api.square_tile), on(api.negative_tile), on(api.abs_tile), on(api.relu_tile)],
    ),
    "comparisons": (
        [api.gtz_tile_init, api.unary_gt_tile_init],
        [on(api.unary_gt_tile, TWO), on(api.gtz_tile)],
    ),
    "both roots": ([api.sqrt_tile_init, api.rsqrt_tile_init], [on(api.sqrt_tile), on(api.rsqrt_tile)]),
    "a constant and an address mode": ([api.sqrt_tile_init, api.gtz_tile_init], [on(api.sqrt_tile), on(api.gtz_tile)]),
    "a quotient and a sigmoid": (
        [api.div_binary_tile_init, api.sigmoid_tile_init],
        [lambda: api.div_binary_tile(0, 1, 0), on(api.sigmoid_tile)],
    ),
}
WRONG: dict[str, tuple[list[Call], list[Call], str]] = {
    "a root after a reciprocal": (
        [api.sqrt_tile_init, api.recip_tile_init],
        [on(api.recip_tile), on(api.sqrt_tile)],
        "sqrt_tile_init before sqrt_tile is missing: recip_tile_init has changed vConstFloatPrgm0, vConstFloatPrgm1, "
        "vConstFloatPrgm2 since",
    ),
    "a maximum after a choice": (
        [api.binary_max_tile_init, api.where_tile_init],
        [lambda: api.binary_max_tile(0, 1, 0)],
        "where_tile_init has changed the instruction sequences of SFPLOADMACRO since",
    ),
    "a table after another function": (
        [lambda: api.sigmoid_tile_init(fast_and_approx=True), api.square_tile_init],
        [on(api.square_tile), lambda: api.sigmoid_tile(0, fast_and_approx=True)],
        "square_tile has changed the lane registers since",
    ),
    "a square after a reciprocal": (
        [api.square_tile_init, api.recip_tile_init],
        [on(api.recip_tile), on(api.square_tile)],
        "recip_tile_init has changed vConstFloatPrgm0, vConstFloatPrgm1, vConstFloatPrgm2 since",
    ),
    "no init of its own": (
        [api.abs_tile_init, api.square_tile_init],
        [on(api.gtz_tile)],
        "gtz_tile_init before gtz_tile is missing: the SFPU was last set up by square_tile_init",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_functions_in_turns_have_the_bits_that_each_has_after_its_own_init(device: ttnn.MeshDevice, name: str) -> None:
    inits, calls = RIGHT[name]
    names = {getattr(init, "__name__", ""): init for init in inits}
    together = ran(device, inits, [*calls, *calls])
    # The same calls, each right after all inits: the last one called is that of another function each time.
    again = [step for call in calls for step in (*reversed(inits), call)]
    assert names
    assert np.array_equal(together, ran(device, [], [*again, *again]))


def test_twice_a_number_and_itself_is_three_times_it(device: ttnn.MeshDevice) -> None:
    inits, calls = RIGHT["arithmetic with scalars, of two tiles"]
    # A store to a 16-bit Dst truncates.
    three = (3 * X.astype(np.float32)).view(np.uint32) >> 16
    assert np.array_equal(ran(device, inits, calls), three.astype(np.uint16))


@pytest.mark.parametrize("name", WRONG)
def test_conflicting_init_is_named(device: ttnn.MeshDevice, name: str) -> None:
    inits, calls, text = WRONG[name]
    with pytest.raises(KernelSetupError) as caught:
        ran(device, inits, calls)
    assert text in str(caught.value)
    device.reset()


def test_every_init_of_the_kernel_api_is_in_the_table() -> None:
    titles = {line.split('"')[3].replace(" ", "") for line in sfpu_header().splitlines() if "TTNN_RS_FUNCTION(" in line}
    assert titles == {title for title, _ in _engine.sfpu_setups()}
