"""SFPU functions written in C++ kernels have the built-in bits.

They are written operation by operation.
"""

from __future__ import annotations

import importlib

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from ttnn import metal

CORE = metal.CoreCoord(0, 0)
KERNEL = """
#include "api/compute/compute_kernel_api.h"
#include "api/compute/tile_move_copy.h"

#ifdef TRISC_MATH
inline void face() {
    for (int i = 0; i < 8; ++i, dst_reg++) {
        vFloat x = dst_reg[0];
%s
    }
}
#endif

void kernel_main() {
    init_sfpu(0, 16);
    for (uint32_t tile = 0; tile < get_arg_val<uint32_t>(0); ++tile) {
        cb_wait_front(0, 1);
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        copy_tile(0, 0, 0);
        MATH((_llk_math_eltwise_unary_sfpu_params_<false>(face, 0, VectorMode::RC)));
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_pop_front(0, 1);
        cb_push_back(16, 1);
    }
}
"""

EXP = """
        vFloat z = x * 1.44269502f + 127.0f;
        vFloat low = 0.0f, high = 255.0f;
        vec_min_max(low, z);
        vec_min_max(z, high);
        vInt scaled = reinterpret<vInt>(shft(reinterpret<vUInt>(exman8(z)), exexp(z)));
        vFloat f = int32_to_float(exman9(reinterpret<vFloat>(scaled)), 0);
        vFloat y = f * 4.79175009e-15f + 7.83963543e-08f;
        y = y * f + 1.001953125f;
        y = copyexp(y, reinterpret<vFloat>(scaled));
        dst_reg[0] = float_to_fp16b(y, 0);
"""
RECIPROCAL = """
        vFloat s = setman(vFloat(-1.0f), reinterpret<vInt>(x));
        vFloat y = vFloat(0.321334004f) * s + 1.45141482f;
        y = y * s + 2.12008834f;
        vFloat t = s * y + 1.0f;
        y = y * t + y;
        y = float_to_fp16b(y, 0);
        vFloat scale = setman(reinterpret<vFloat>(~reinterpret<vUInt>(x)), 0) * 0.5f;
        dst_reg[0] = setsgn(y * scale, x);
"""
SIGMOID = """
        vUInt l0 = 0x3dff, l1 = 0x21d8, l2 = 0xff10;
        dst_reg[0] = lut(x, l0, l1, l2) + 0.5f;
"""
TANH_TABLE = """
        l_reg[LRegs::LReg0] = vUInt(0x389c3bb2);
        vUInt a0 = l_reg[LRegs::LReg0];
        dst_reg[0] = lut2(x, a0, vUInt(0x2e2c3498), vUInt(0x7c002900), vUInt(0x322c7c00), vUInt(0x3a2537b6),
                          vUInt(0x3c003b10));
"""
HARDSIGMOID = """
        vFloat y = x * 0.166666672f + 0.5f;
        v_if(y > 1.0f) { y = 1.0f; }
        v_endif;
        v_if(y < 0.0f) { y = 0.0f; }
        v_endif;
        dst_reg[0] = y;
"""
ELSE_IF = """
        vFloat y;
        v_if(x == 0.0f) { y = x; }
        v_elseif(x < 0.0f) { y = -1.0f; }
        v_else { y = 1.0f; }
        v_endif;
        dst_reg[0] = y;
"""
RELU6 = """
        v_if(!(x < 0.0f) && x < 6.0f) { dst_reg[0] = x; }
        v_else {
            v_block {
                v_and(x >= 6.0f);
                dst_reg[0] = 6.0f;
            }
            v_endblock;
            v_if(x < 0.0f || x == 0.0f) { dst_reg[0] = vConst0; }
            v_endif;
        }
        v_endif;
"""


def all_bfloat16() -> npt.NDArray[np.float32]:
    """Every bfloat16 value but NaN and denormals, in tiles."""
    words = np.arange(65536, dtype=np.uint32) << 16
    exponents = words >> 23 & 255
    words[(exponents == 255) | (exponents == 0)] = 0
    return words.view(np.float32).reshape(2048, 32)


def run(device: ttnn.MeshDevice, body: str, x: ttnn.Tensor) -> ttnn.Tensor:
    """Run the function on a tensor of tiles."""
    common = importlib.import_module("examples.common")
    tiles = x.shape[0] * x.shape[1] // 1024
    wide = x.dtype == ttnn.float32
    out = ttnn.empty(list(x.shape), x.dtype, ttnn.TILE_LAYOUT, device)
    program = metal.create_program()
    for index in (0, 16):
        form = metal.DataFormat.Float32 if wide else metal.DataFormat.Float16_b
        common.add_cb(program, CORE, index, 2, form, 4096 if wide else 2048)
    config = metal.ComputeConfig(
        fp32_dest_acc_en=wide,
        unpack_to_dest_mode=[metal.UnpackToDestMode.UnpackToDestFp32] * 32 if wide else [],
    )
    compute = metal.create_kernel_from_string(program, KERNEL % body, CORE, config)
    metal.set_runtime_args(program, compute, CORE, [tiles])
    for kernel, kind, tensor in (
        (common.read_tiles, metal.ReaderDataMovementConfig(), x),
        (common.write_tiles, metal.WriterDataMovementConfig(), out),
    ):
        handle = metal.create_kernel(program, kernel, CORE, kind)
        metal.set_runtime_args(program, handle, CORE, [tensor.buffer_address(), 0, tiles])
    metal.run_program(device, program)
    return out


def words(tensor: ttnn.Tensor) -> npt.NDArray[np.float32]:
    return ttnn.to_numpy(tensor).astype(np.float32)


@pytest.mark.parametrize(
    ("body", "built_in"),
    [
        (EXP, ttnn.exp),
        (RECIPROCAL, ttnn.reciprocal),
        (SIGMOID, lambda x: ttnn.sigmoid(x, mode=ttnn.SigmoidMode.FastApproximate)),
        (TANH_TABLE, lambda x: ttnn.tanh(x, fast_and_approximate_mode=True)),
        (HARDSIGMOID, ttnn.hardsigmoid),
        (ELSE_IF, ttnn.sign),
        (RELU6, ttnn.relu6),
    ],
    ids=["exp", "reciprocal", "sigmoid", "tanh_table", "hardsigmoid", "sign", "relu6"],
)
def test_vector_operations_have_the_bits_of_the_built_in_function(
    device: ttnn.MeshDevice, body: str, built_in: ttnn.Op
) -> None:
    x = ttnn.from_torch(all_bfloat16(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    ours, theirs = words(run(device, body, x)), words(built_in(x))
    different = np.flatnonzero(ours.view(np.uint32) != theirs.view(np.uint32))
    assert different.size == 0, (words(x).ravel()[different[:4]], ours.ravel()[different[:4]])


@pytest.mark.parametrize(
    ("body", "built_in"), [(HARDSIGMOID, ttnn.hardsigmoid), (ELSE_IF, ttnn.sign), (RELU6, ttnn.relu6)]
)
def test_vector_operations_in_float32_dst_have_the_bits_of_the_built_in_function(
    device: ttnn.MeshDevice, body: str, built_in: ttnn.Op
) -> None:
    values = np.random.default_rng(5).standard_normal((256, 32), dtype=np.float32) * np.float32(4)
    x = ttnn.from_torch(values, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    assert words(run(device, body, x)).tobytes() == words(built_in(x)).tobytes()


MISTAKES = {
    "never assigned": ("vFloat y;\n dst_reg[0] = y + x;", ttnn.KernelArgumentError),
    "random numbers": ("dst_reg[0] = float_to_fp16b(x * 0.3333333f);", ttnn.UnsupportedError),
    "need fp32_dest_acc_en": ("vInt y = dst_reg[0];\n dst_reg[0] = y;", ttnn.KernelSetupError),
    "does not exist": ("dst_reg[32 * 40] = x;", ttnn.RegisterError),
    "nothing has been written": ("vFloat y = dst_reg[32];\n dst_reg[0] = x + y;", ttnn.RegisterError),
    "last line begins at 4": (
        "vUInt l = 0;\n dst_reg[0] = lut2(x, l, l, l, l, l, l, 2);",
        ttnn.UnsupportedError,
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_wrong_vector_operations_raise(device: ttnn.MeshDevice, text: str) -> None:
    body, error = MISTAKES[text]
    values = np.linspace(-2, 2, 1024, dtype=np.float32).reshape(32, 32)
    x = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(error, match=text):
        run(device, body, x)
