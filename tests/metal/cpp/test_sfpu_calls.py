"""Every SFPU call of floating-point tiles, over all bfloat16 values, in a Python and in a C++ kernel.

The two kernels have the same bits, and those of the operator whose program is the call alone. A reference in float64
tells what the header does with operands, their order and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
import torch

import ttnn
from testkit import tile_parts
from testkit.sfpu_calls import CALLS, Call
from testkit.tile_parts import CORE, OUT, Matrix
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.kernel_api.sfpu_functions import Approximable, Binary, Ternary, Unary

Values = npt.NDArray[Any]
TILES = 64
HEADERS = """
#include "api/compute/compute_kernel_api.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/logsigmoid.h"
"""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence numpy's warnings about NaN."""
    with np.errstate(invalid="ignore"):
        yield


def all_values() -> Values:
    """Return the 65,536 bfloat16 values in tiles."""
    return np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16).reshape(TILES * 32, 32)


def _case(index: int, call: Call) -> str:
    template = f"<{call.template}>" if call.template else ""
    places = ["0"] if call.operands == 1 else [*(str(i) for i in range(call.operands)), "0"]
    words = [f"{word:#x}u" for word in call.words]
    arguments = ", ".join(places if call.init_takes_parameters else [*places, *words])
    set_up = ", ".join(words if call.init_takes_parameters else [])
    init_template = f"<{call.init_template}>" if call.init_template else ""
    return f"case {index}: {call.init_name}{init_template}({set_up}); {call.name}_tile{template}({arguments}); break;"


def source() -> str:
    """Return a kernel with all calls, of which an argument chooses one."""
    cases = "\n".join(_case(index, call) for index, call in enumerate(CALLS))
    return (
        HEADERS
        + """
void kernel_main() {
    const uint32_t which = get_arg_val<uint32_t>(0), operands = get_arg_val<uint32_t>(1);
    compute_kernel_hw_startup(0, 16);
    copy_init(0);
    for (uint32_t tile = 0; tile < get_arg_val<uint32_t>(2); ++tile) {
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        for (uint32_t cb = 0; cb < operands; ++cb) {
            cb_wait_front(cb, 1);
            copy_tile(cb, 0, cb);
        }
        switch (which) {
"""
        + cases
        + """
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        for (uint32_t cb = 0; cb < operands; ++cb) { cb_pop_front(cb, 1); }
        cb_push_back(16, 1);
    }
}
"""
    )


def python_kernel(call: Call) -> Callable[[], None]:
    def kernel() -> None:
        api.compute_kernel_hw_startup(0, OUT)
        api.copy_init(0)
        places = [0] if call.operands == 1 else [*range(call.operands), 0]
        for _ in range(TILES):
            api.cb_reserve_back(OUT, 1)
            api.tile_regs_acquire()
            for cb in range(call.operands):
                api.cb_wait_front(cb, 1)
                api.copy_tile(cb, 0, cb)
            words = (call.words, []) if call.init_takes_parameters else ([], call.words)
            getattr(api, call.init_name)(*words[0], **dict(call.keywords))
            getattr(api, f"{call.name}_tile")(*places, *words[1], **dict(call.keywords))
            api.tile_regs_commit()
            api.tile_regs_wait()
            api.pack_tile(0, OUT)
            api.tile_regs_release()
            for cb in range(call.operands):
                api.cb_pop_front(cb, 1)
            api.cb_push_back(OUT, 1)

    return kernel


def run_text(
    device: ttnn.MeshDevice, text: str, inputs: list[Values], args: list[int], *, approximate: bool = False
) -> Values:
    """Run a C++ compute kernel where `tile_parts.run` runs one in Python."""
    queue, program = metal.command_queue(device), metal.create_program()
    reader_args: list[Any] = [len(inputs)]
    out = Matrix(inputs[0])
    for cb, values in enumerate(inputs):
        matrix = Matrix(values)
        buffer = tile_parts._buffer(device, matrix)
        metal.enqueue_write_buffer(queue, buffer, tile_parts.to_tiles(values))
        reader_args += [buffer, matrix.page, matrix.tiles]
        tile_parts._add_cb(program, cb, matrix)
    target = tile_parts._buffer(device, out)
    tile_parts._add_cb(program, OUT, out)
    reader = metal.create_kernel(program, tile_parts._read_all, CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, tile_parts._write_all, CORE, metal.WriterDataMovementConfig())
    compute = metal.create_kernel_from_string(program, text, CORE, metal.ComputeConfig(math_approx_mode=approximate))
    metal.set_runtime_args(program, reader, CORE, reader_args)
    metal.set_runtime_args(program, writer, CORE, [target, out.page, out.tiles])
    metal.set_runtime_args(program, compute, CORE, args)
    metal.enqueue_program(queue, program)
    return tile_parts.from_tiles(
        metal.enqueue_read_buffer(queue, target).view(out.values.dtype),
        out.values.shape,  # type: ignore[arg-type]
    )


def operands(call: Call) -> list[Values]:
    """Return all values, and the same in other orders, some of them beside themselves."""
    first, rng = all_values(), np.random.default_rng(3)
    result = [first]
    for _ in range(call.operands - 1):
        other = rng.permutation(first.ravel())
        low, high = call.domain
        other[::2] = rng.uniform(low, high, other[::2].shape)
        other[::7] = first.ravel()[::7]
        result.append(other.reshape(first.shape))
    return result


def check_reference(call: Call, inputs: list[Values], got: Values) -> None:
    """Compare with float64; a wrong operand, sign or parameter is off by far more than 1/32."""
    low, high = call.domain
    wide = [values.astype(np.float64) for values in inputs]
    inside = np.logical_and.reduce([(low <= x) & (x <= high) & (np.abs(x) > 2.0**-6) for x in wide])
    assert inside.sum() > 100
    expected = call.reference(*(x[inside] for x in wide))
    error = np.abs(got[inside].astype(np.float64) - expected) / (1 + np.abs(expected))
    worst = int(error.argmax())
    assert error[worst] < 1 / 32, (call.name, [x[inside][worst] for x in wide], expected[worst])


@pytest.mark.parametrize("index", range(len(CALLS)), ids=[f"{i}-{call.name}" for i, call in enumerate(CALLS)])
def test_call_is_that_of_its_header(index: int, device: ttnn.MeshDevice) -> None:
    call = CALLS[index]
    inputs = operands(call)
    python = tile_parts.run(device, python_kernel(call), [Matrix(x) for x in inputs], Matrix(inputs[0]))
    compiled = run_text(device, source(), inputs, [index, call.operands, TILES])
    np.testing.assert_array_equal(python.view(np.uint16), compiled.view(np.uint16))
    check_reference(call, inputs, python)
    if call.operator is not None:
        bits = torch.from_numpy(inputs[0].view(np.int16)).view(torch.bfloat16)
        x = ttnn.from_torch(bits, layout=ttnn.TILE_LAYOUT, device=device)
        expected = ttnn.to_torch(call.operator(x)).view(torch.int16).numpy().view(np.uint16)
        finite = np.isfinite(inputs[0].astype(np.float32))
        np.testing.assert_array_equal(python.view(np.uint16)[finite], expected[finite])


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
    start, _, rest = source().partition("switch (which) {")
    text = start + "switch (which) {" + cases + rest[rest.index("}\n        tile_regs_commit") :]
    values = all_values()
    default, precise, rough, plain = (
        run_text(device, text, [values], [which, 1, TILES], approximate=approximate).view(np.uint16)
        for which in range(4)
    )
    assert (precise != rough).any()
    np.testing.assert_array_equal(default, rough if approximate else precise)
    np.testing.assert_array_equal(plain, default)


def test_every_call_of_floating_point_tiles_is_listed() -> None:
    known = {call.name for call in CALLS}
    calls = {
        name.removesuffix("_tile")
        for name in dir(api)
        if name.endswith("_tile") and isinstance(getattr(api, name), (Approximable, Binary, Ternary, Unary))
    }
    left = {
        name for name in calls - known if not any(part in name for part in ("int", "shift", "bitwise", "gcd", "lcm"))
    }
    assert left == UNLISTED


UNLISTED = {
    # Names of calls that are listed.
    "logical_not_unary",
    "where_fp32",
    # Steps of operators, tested with those.
    "lgamma_stirling",
    "polygamma",
    # A neighbour among the numbers: `test_tile_functions.py`.
    "nextafter_binary",
    "nextafter_bf16_binary",
}
