"""SFPU calls in Python and C++, on all bfloat16 values.

Also on integers.

The two kernels have the same bits, and those of the operator whose program is the call alone. A reference tells what
the header does with operands, their order and parameters: in float64, and of integers exactly.
"""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest
import torch

import ttnn
from testkit import tile_parts
from testkit.sfpu_calls import CALLS, Call
from testkit.sfpu_integer_calls import INTEGER_CALLS
from testkit.sfpu_kernels import (
    HEADERS,
    TILES,
    Values,
    all_values,
    operands,
    python_kernel,
    run_text,
    source,
    wide_values,
)
from testkit.tile_parts import WIDE, Matrix
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.kernel_api.sfpu_functions import Approximable, Binary, Ternary, Tiles, Unary
from ttnn.kernel_api.sfpu_integers import _ByFormat, _OneTile


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence numpy's warnings about NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        yield


def check_reference(call: Call, inputs: list[Values], got: Values) -> None:
    """Compare with float64, within 1/32.

    A wrong operand, sign or parameter is off by far more.
    """
    low, high = call.domain
    wide = [values.astype(np.float64) for values in inputs]
    inside = np.logical_and.reduce([(low <= x) & (x <= high) & (np.abs(x) > 2.0**-6) for x in wide])
    assert inside.sum() > 100
    expected = call.reference(*(x[inside] for x in wide))
    error = np.abs(got[inside].astype(np.float64) - expected) / (1 + np.abs(expected))
    worst = int(error.argmax())
    assert error[worst] < 1 / 32, (call.name, [x[inside][worst] for x in wide], expected[worst])


def operator_bits(device: ttnn.MeshDevice, call: Call, inputs: list[Values]) -> Values:
    """Return what the operator makes of the operands."""
    assert call.operator is not None
    kinds = (np.int32, torch.float32) if inputs[0].dtype == np.float32 else (np.int16, torch.bfloat16)
    tensors = [
        ttnn.from_torch(torch.from_numpy(x.view(kinds[0])).view(kinds[1]), layout=ttnn.TILE_LAYOUT, device=device)
        for x in inputs
    ]
    result = ttnn.to_torch(call.operator(*tensors))
    return result.view(torch.int32 if kinds[0] is np.int32 else torch.int16).numpy().view(f"u{result.element_size()}")


@pytest.mark.parametrize("wide", [False, True], ids=["16-bit", "32-bit"])
@pytest.mark.parametrize(
    ("index", "entry"), list(enumerate(CALLS)), ids=[f"{i}-{call.name}" for i, call in enumerate(CALLS)]
)
def test_sfpu_call_matches_its_header(index: int, entry: Call, wide: bool, device: ttnn.MeshDevice) -> None:
    call = entry
    if call.width and call.width != (32 if wide else 16):
        pytest.skip("the header has no such call for this width of Dst")
    inputs = operands(call, wide_values() if wide else all_values())
    config, word = (WIDE, np.uint32) if wide else (metal.ComputeConfig(), np.uint16)
    python = tile_parts.run(device, python_kernel(call), [Matrix(x) for x in inputs], Matrix(inputs[0]), config)
    compiled = run_text(device, source(CALLS), inputs, [index, call.operands, TILES], config)
    np.testing.assert_array_equal(python.view(word), compiled.view(word))
    check_reference(call, inputs, python)
    if call.operator is not None and not (wide and call.operator_in_16_bits):
        finite = np.logical_and.reduce([np.isfinite(x.astype(np.float32)) for x in inputs])
        np.testing.assert_array_equal(python.view(word)[finite], operator_bits(device, call, inputs)[finite])


@pytest.mark.parametrize("wide", [False, True], ids=["16-bit", "32-bit"])
@pytest.mark.parametrize(
    "index", range(len(INTEGER_CALLS)), ids=[f"{i}-{call.function}" for i, call in enumerate(INTEGER_CALLS)]
)
def test_integer_sfpu_call_matches_its_header(index: int, wide: bool, device: ttnn.MeshDevice) -> None:
    call = INTEGER_CALLS[index]
    if not wide and call.dtype != np.uint16:
        pytest.skip("words of 32 bits need a 32-bit Dst")
    rng = np.random.default_rng(17)
    shape = (4 * 32, 32)
    inputs = [rng.integers(*domain, shape, np.int64).astype(call.dtype) for domain in call.domains]
    inputs[0][:, 3] = 0 if call.domains[0][0] <= 0 else call.domains[0][0]
    if call.operands == 2:
        inputs[1][:, 5] = np.clip(inputs[0][:, 5].astype(np.int64), call.domains[1][0], call.domains[1][1] - 1)
    expected = np.asarray(call.reference(*inputs)).astype(call.result or call.dtype)
    config = metal.ComputeConfig(fp32_dest_acc_en=wide)
    out = Matrix(np.zeros(shape, expected.dtype))
    python = tile_parts.run(device, python_kernel(call, tiles=4), [Matrix(x) for x in inputs], out, config)
    np.testing.assert_array_equal(python, expected)
    compiled = run_text(device, source(INTEGER_CALLS), inputs, [index, call.operands, 4], config, out)
    np.testing.assert_array_equal(compiled, expected)


LOGSIGMOID = (
    HEADERS
    + """
void kernel_main() {
    compute_kernel_hw_startup(0, 16);
    copy_init(0);
    for (uint32_t tile = 0; tile < get_arg_val<uint32_t>(2); ++tile) {
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        for (uint32_t cb = 0; cb < 2; ++cb) {
            cb_wait_front(cb, 1);
            copy_tile(cb, 0, cb);
        }
        logsigmoid_tile_init();
        logsigmoid_tile(0, 1, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_pop_front(0, 1);
        cb_pop_front(1, 1);
        cb_push_back(16, 1);
    }
}
"""
)


@pytest.mark.parametrize("fast", [False, True])
def test_logsigmoid_takes_the_number_and_the_exponential_of_its_negative(fast: bool, device: ttnn.MeshDevice) -> None:
    x = all_values()
    bits = torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    number = ttnn.from_torch(bits, layout=ttnn.TILE_LAYOUT, device=device)
    powers = ttnn.exp(ttnn.neg(number), fast_and_approximate_mode=fast)
    inputs = [x, ttnn.to_torch(powers).view(torch.int16).numpy().view(ml_dtypes.bfloat16)]
    call = Call("logsigmoid", lambda x, _: -np.logaddexp(0, -x), 2)
    python = tile_parts.run(device, python_kernel(call), [Matrix(values) for values in inputs], Matrix(x))
    compiled = run_text(device, LOGSIGMOID, inputs, [0, 2, TILES])
    np.testing.assert_array_equal(python.view(np.uint16), compiled.view(np.uint16))
    # The header's polynomial is -1.30619 there, which a 16-bit Dst cuts.
    assert float(python[x == ml_dtypes.bfloat16(-1.0)][0]) == -1.3046875
    wide = x.astype(np.float64)
    if fast:
        # The operator's program: the fast exponential, and the call.
        operator = ttnn.to_torch(ttnn.log_sigmoid(number)).float().numpy()
        same = np.isfinite(wide) & np.isfinite(operator)
        np.testing.assert_array_equal(python[same].astype(np.float32), operator[same])
        return
    inside = (np.abs(wide) <= 80) & (np.abs(wide) > 2.0**-6)
    expected = -np.logaddexp(0, -wide[inside])
    error = np.abs(python[inside].astype(np.float64) - expected) / (2.0**-6 + np.abs(expected))
    assert error.max() < 1 / 32


def test_operands_of_logsigmoid_are_kept(device: ttnn.MeshDevice) -> None:
    x = tile_parts.X

    def body() -> None:
        api.logsigmoid_tile_init()
        api.logsigmoid_tile(0, 1, 2)

    np.testing.assert_array_equal(
        tile_parts.apply(device, [x, x, x], body).view(np.uint16),
        np.where(x == 0, 0, x).astype(x.dtype).view(np.uint16),
    )


@pytest.mark.parametrize("approximate", [False, True])
def test_a_reciprocal_is_as_approximate_as_its_kernel(approximate: bool, device: ttnn.MeshDevice) -> None:
    modes = ("Default", "Precise", "Approximate")
    cases = "".join(
        f"case {i}: recip_tile_init<DST_ACCUM_MODE, ReciprocalApproxMode::{mode}>(); "
        f"recip_tile<DST_ACCUM_MODE, ReciprocalApproxMode::{mode}>(0); break;"
        for i, mode in enumerate(modes)
    )
    cases += "case 3: recip_tile_init(); recip_tile(0); break;"
    start, _, rest = source(CALLS).partition("switch (which) {")
    text = start + "switch (which) {" + cases + rest[rest.index("}\n        tile_regs_commit") :]
    config = metal.ComputeConfig(math_approx_mode=approximate)
    values = all_values()
    default, precise, rough, plain = (
        run_text(device, text, [values], [which, 1, TILES], config).view(np.uint16) for which in range(4)
    )
    assert (precise != rough).any()
    np.testing.assert_array_equal(default, rough if approximate else precise)
    np.testing.assert_array_equal(plain, default)


KINDS = (Approximable, Binary, Ternary, Tiles, Unary, _ByFormat, _OneTile)


def test_every_sfpu_call_is_tested() -> None:
    known = {call.function for call in (*CALLS, *INTEGER_CALLS)}
    calls = {name for name in dir(api) if "_tile" in name and isinstance(getattr(api, name), KINDS)}
    assert {name for name in calls - known if "_pack" not in name} == UNLISTED


UNLISTED = {
    # Integers and floats together: `kernel_api/test_lanes.py`.
    "quant_tile",
    "requant_tile",
    "dequant_tile",
    # Names of calls that are listed.
    "logical_not_unary_tile",
    "where_fp32_tile",
    "where_int32_tile",
    "where_uint32_tile",
}
