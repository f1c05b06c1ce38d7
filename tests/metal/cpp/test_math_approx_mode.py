"""`math_approx_mode` changes the functions that ask for it only.

Their official header asks for it.

References follow the steps of the header, of which each is a multiply-add of the chip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit import tile_parts
from testkit.sfpu_calls import CALLS, Call
from testkit.sfpu_kernels import TILES, all_values, operands, python_kernel, run_text, source
from testkit.sfpu_kernels import wide_values as float32_values
from testkit.tile_parts import Matrix, api_bits
from ttnn import _engine, metal
from ttnn import kernel_api as api

Values = npt.NDArray[Any]
_WORMHOLE = 0
SEED = [float(np.uint32(word).view(np.float32)) for word in (0x3EA57EBB, 0x3FBA2E90, 0x4007C1F2)]


def mad(a: Any, b: Any, c: Any) -> Values:
    spread = np.broadcast_arrays(*(np.asarray(x, np.float32) for x in (a, b, c)))
    words = [np.ascontiguousarray(x).view(np.uint32).ravel() for x in spread]
    return _engine.sfpu_fma(*words, _WORMHOLE).view(np.float32).reshape(spread[0].shape)


def mul(a: Any, b: Any) -> Values:
    return mad(a, b, 0)


def horner(x: Values, coefficients: list[float]) -> Values:
    """Evaluate a polynomial whose highest coefficient comes first."""
    value: Values = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = mad(value, x, coefficient)
    return value


def reciprocal(x: Values, steps: int) -> Values:
    """Return 1 / x of normal numbers by parabola and Newton steps."""
    mantissa, exponent = np.frexp(x.astype(np.float32))
    negated = -2 * np.abs(mantissa)
    y = horner(negated, SEED)
    for _ in range(steps):
        y = mad(y, mad(negated, y, 1), y)
    return np.copysign(np.ldexp(y, 1 - exponent), x)


def root_parts(x: Values) -> tuple[Values, Values, Values]:
    """Return y near 1 / sqrt(x), x y, and its refining factor."""
    y = (np.uint32(0x5F0B3892) - (x.view(np.uint32) >> 1)).view(np.float32)
    root = mul(x, y)
    return y, root, mad(-y, root, 1.89099014875)


def sqrt(x: Values) -> Values:
    _, root, step = root_parts(x)
    return mul(root, step)


def rsqrt(x: Values) -> Values:
    y, _, step = root_parts(x)
    return mul(y, step)


def softsign(x: Values) -> Values:
    return mul(x, reciprocal(mad(np.abs(x), 1, 1), 1))


def rdiv(x: Values) -> Values:
    return mul(reciprocal(x, 1), 1.5)


def polygamma(x: Values) -> Values:
    """Return the first derivative of digamma."""
    total = np.zeros_like(x)
    for k in range(6):
        inverse = reciprocal(mad(x, 1, k), 1)
        total = mad(inverse, inverse, total)
    inverse = reciprocal(mad(x, 1, 6), 1)
    even = horner(mul(inverse, inverse), [720 / 30240, -24 / 720, 2 / 12, 1])
    return mad(mad(inverse, 0.5, even), inverse, total)


I1 = {
    2: (
        [2.0223499130e-05, 1.6126291630e-03, 5.4503594600e-02, 4.9992737740e-01],
        [-2.5076132990e-07, 1.0333660750e-04, -1.6242591070e-02, 1.0],
    ),
    4: (
        [
            *(1.2293555930e-12, 7.7937084564e-10, 2.0916867527e-07, 2.8397364076e-05),
            *(1.9247245509e-03, 5.6819390506e-02, 0.5),
        ],
        [
            *(7.4301498523e-19, -3.0635529988e-16, -3.1218170410e-13, 3.8127551116e-10),
            *(-1.9771712800e-07, 6.1268139689e-05, -1.1361218989e-02, 1.0),
        ],
    ),
}  # fmt: skip


def i1(x: Values, width: int) -> Values:
    over, under = I1[width]
    square = mul(x, x)
    return mul(mul(horner(square, over), x), reciprocal(horner(square, under), 1))


ANGLE = [0x101C, -0x14BC, 0x1930, -0x148C, 0x1BD4, -0x1240]


def atan2(y: Values, x: Values) -> Values:
    """Return the angle of points below the diagonal of the first quadrant."""
    ratio = mul(y, reciprocal(x, 1))
    square = mul(ratio, ratio)
    scaled = [float(word) * 2.0**-12 * 2.0**power for word, power in zip(ANGLE, (-8, -6, -5, -4, -4, -3), strict=True)]
    series = horner(square, [*scaled, float.fromhex("0x1.99938ap-3"), float.fromhex("-0x1.555558p-2")])
    return mad(mul(series, square), ratio, ratio)


@dataclass(frozen=True)
class Case:
    """A function, its C++ and Python calls, and its result."""

    name: str
    reference: Callable[..., Values]
    words: tuple[int, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()
    template: str = ""
    count: int = 1
    domain: tuple[float, float] = (2.0**-20, 2.0**20)
    rounds: bool = False
    """A 16-bit Dst rounds to nearest; otherwise the lower half is cut."""
    same_in_16_bits: bool = False

    @property
    def call(self) -> Call:
        return Call(self.name, self.reference, self.count, self.words, template=self.template)


CASES = [
    Case("sqrt", sqrt, rounds=True),
    Case("sqrt", sqrt, keywords=(("approx", True),), template="true", rounds=True),
    Case("rsqrt", rsqrt, rounds=True),
    Case("rsqrt", rsqrt, keywords=(("approx", True),), template="RsqrtMode::Fast", rounds=True),
    Case("softsign", softsign),
    Case("rdiv", rdiv, words=(api_bits(1.5),)),
    Case("rdiv", lambda x: np.trunc(rdiv(x)), words=(api_bits(1.5),), domain=(2.0**-7, 2.0),
         keywords=(("rounding_mode", api.RoundingMode.Trunc),), template="RoundingMode::Trunc"),
    Case("rdiv", lambda x: np.floor(rdiv(x)), words=(api_bits(1.5),), domain=(2.0**-7, 2.0),
         keywords=(("rounding_mode", api.RoundingMode.Floor),), template="RoundingMode::Floor"),
    Case("polygamma", polygamma, words=(api_bits(1), api_bits(1)), domain=(0.5, 100.0), rounds=True,
         same_in_16_bits=True),
    Case("i1", i1, domain=(2.0**-20, 10.0), rounds=True),
    Case("atan2_binary", atan2, count=2, domain=(2.0**-10, 2.0**10), same_in_16_bits=True),
    Case("recip", lambda x: reciprocal(x, 1)),
]  # fmt: skip


def wide_values(domain: tuple[float, float]) -> Values:
    """Return float32 numbers of a domain, spread over its exponents."""
    low, high = np.log2(domain)
    powers = np.random.default_rng(11).uniform(low, high, (TILES * 32, 32))
    return np.exp2(powers).astype(np.float32)


def in_python(device: ttnn.MeshDevice, case: Case, inputs: list[Values], config: metal.ComputeConfig) -> Values:
    def set_up() -> None:
        chosen = [(name, value) for name, value in case.keywords if name == "approx"]
        getattr(api, f"{case.name}_tile_init")(**dict(chosen))

    kernel = python_kernel(case.call, set_up, dict(case.keywords))
    return tile_parts.run(device, kernel, [Matrix(x) for x in inputs], Matrix(inputs[0]), config)


def configs(wide: bool) -> tuple[metal.ComputeConfig, metal.ComputeConfig]:
    modes = [metal.UnpackToDestMode.UnpackToDestFp32] * 32 if wide else []
    accurate, rough = (
        metal.ComputeConfig(math_approx_mode=mode, fp32_dest_acc_en=wide, unpack_to_dest_mode=modes)
        for mode in (False, True)
    )
    return accurate, rough


@pytest.mark.parametrize("wide", [False, True], ids=["16-bit", "32-bit"])
@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{i}-{case.name}" for i, case in enumerate(CASES)])
def test_approximate_function_matches_the_steps_of_its_header(index: int, wide: bool, device: ttnn.MeshDevice) -> None:
    case = CASES[index]
    first = wide_values(case.domain)
    inputs = [first, first[::-1].copy()][: case.count]
    if not wide:
        inputs = [x.astype(ml_dtypes.bfloat16) for x in inputs]
    accurate, rough = configs(wide)
    text = source([case.call for case in CASES])
    compiled = run_text(device, text, inputs, [index, case.count, TILES], rough)
    python = in_python(device, case, inputs, rough)
    word = np.uint32 if wide else np.uint16
    np.testing.assert_array_equal(compiled.view(word), python.view(word))
    plain = run_text(device, text, inputs, [index, case.count, TILES], accurate)
    assert (plain.view(word) != compiled.view(word)).any() != (case.same_in_16_bits and not wide)
    if case.same_in_16_bits and not wide:
        return
    numbers = [x.astype(np.float32) for x in inputs]
    inside = numbers[0] < 0.98 * numbers[1] if case.count == 2 else np.ones(first.shape, bool)
    wanted = case.reference(*(x[inside] for x in numbers), *([4 if wide else 2] if case.name == "i1" else []))
    bits = wanted.astype(np.float32).view(np.uint32)
    if not wide:
        bits = (bits + np.uint32(0x8000 if case.rounds else 0)) >> 16
    assert inside.sum() > 1000
    np.testing.assert_array_equal(compiled.view(word)[inside], bits)


def test_negative_numbers_and_zeros_have_roots_as_without_the_mode(device: ttnn.MeshDevice) -> None:
    accurate, rough = configs(True)
    values = np.tile(np.array([0.0, -0.0, -1.0, -np.inf, np.inf, -1e-3, 4.0, 1.0], np.float32), (TILES * 32, 4))
    for index in range(4):
        text = source([case.call for case in CASES])
        plain, got = (run_text(device, text, [values], [index, 1, TILES], config) for config in (accurate, rough))
        fast = bool(CASES[index].keywords)
        chosen = [0, 1, 4] if fast else [0, 1, 2, 3, 4, 5]
        np.testing.assert_array_equal(got[0, chosen].view(np.uint32), plain[0, chosen].view(np.uint32))


CHANGED = {"sqrt", "rsqrt", "rdiv", "softsign", "i1", "recip", "polygamma"}
"""Functions whose 16-bit Dst bits depend on the mode.

`atan2` does in a 32-bit one.
"""


@pytest.mark.parametrize(
    ("index", "entry"), list(enumerate(CALLS)), ids=[f"{i}-{call.name}" for i, call in enumerate(CALLS)]
)
def test_functions_without_approximation_keep_their_bits(index: int, entry: Call, device: ttnn.MeshDevice) -> None:
    call = entry
    if call.name in CHANGED:
        return
    wide = call.width == 32
    inputs = [x[:1024] for x in operands(call, float32_values() if wide else all_values())]
    accurate, rough = configs(wide)
    results = [
        run_text(device, source(CALLS), inputs, [index, call.operands, 32], config) for config in (accurate, rough)
    ]
    np.testing.assert_array_equal(*(result.view(np.uint16) for result in results))


LEGACY = """
#include "api/compute/compute_kernel_api.h"
void kernel_main() {
    init_sfpu(0, 16);
    for (uint32_t tile = 0; tile < get_arg_val<uint32_t>(0); ++tile) {
        cb_wait_front(0, 1);
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        copy_tile(0, 0, 0);
        rsqrt_tile_init<FLAG>();
        rsqrt_tile<FLAG>(0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_pop_front(0, 1);
        cb_push_back(16, 1);
    }
}
"""


@pytest.mark.parametrize("wide", [False, True], ids=["16-bit", "32-bit"])
def test_the_legacy_flag_of_rsqrt_selects_the_older_algorithm(wide: bool, device: ttnn.MeshDevice) -> None:
    x = wide_values((2.0**-20, 2.0**20))
    x[0] = 0
    x = x if wide else x.astype(ml_dtypes.bfloat16)
    word = np.uint32 if wide else np.uint16
    words = x.view(word).astype(np.uint32) << (0 if wide else 16)
    for config, variant in zip(configs(wide), ("compat", "compat_approx"), strict=True):
        old, new = (run_text(device, LEGACY.replace("FLAG", flag), [x], [TILES], config) for flag in ("true", "false"))
        expected = _engine.sfpu("rsqrt", variant, words, wide) >> (0 if wide else 16)
        np.testing.assert_array_equal(old.view(word), expected)
        # The older one has no special case of zero.
        assert float(old[0, 0]) < np.inf
        assert np.isinf(float(new[0, 0]))


def test_the_legacy_init_is_not_that_of_the_present_algorithm(device: ttnn.MeshDevice) -> None:
    x = all_values()[:32]
    for init, call in (("true", "false"), ("false", "true")):
        text = LEGACY.replace("init<FLAG>", f"init<{init}>").replace("rsqrt_tile<FLAG>", f"rsqrt_tile<{call}>")
        if init == "true":
            with pytest.raises(ttnn.KernelSetupError, match="rsqrt_tile_init before rsqrt_tile is missing"):
                run_text(device, text, [x], [1])
            device.reset()
        else:
            run_text(device, text, [x], [1])


SUM = """
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/tile_move_copy.h"
void kernel_main() {
    compute_kernel_hw_startup(0, 16);
    copy_init(0);
    for (uint32_t tile = 0; tile < get_arg_val<uint32_t>(0); ++tile) {
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        for (uint32_t cb = 0; cb < 2; ++cb) { cb_wait_front(cb, 1); copy_tile(cb, 0, cb); }
        NAME_binary_tile_init();
        NAME_binary_tile<DstRoundingMode::MODE>(0, 1, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        for (uint32_t cb = 0; cb < 2; ++cb) { cb_pop_front(cb, 1); }
        cb_push_back(16, 1);
    }
}
"""


@pytest.mark.parametrize(("name", "sign"), [("add", (1, 1)), ("sub", (1, -1)), ("rsub", (-1, 1))])
def test_sums_are_rounded_where_the_kernel_asks_for_it(
    name: str, sign: tuple[int, int], device: ttnn.MeshDevice
) -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.uniform(-4, 4, (TILES * 32, 32)).astype(ml_dtypes.bfloat16) for _ in range(2))
    exact = np.float32(sign[0]) * a.astype(np.float32) + np.float32(sign[1]) * b.astype(np.float32)
    results = {}
    for mode in ("Default", "NearestEven"):
        text = SUM.replace("NAME", name).replace("MODE", mode)
        results[mode] = run_text(device, text, [a, b], [TILES]).view(np.uint16)
    np.testing.assert_array_equal(results["NearestEven"], exact.astype(ml_dtypes.bfloat16).view(np.uint16))
    np.testing.assert_array_equal(results["Default"], (exact.view(np.uint32) >> 16).astype(np.uint16))
