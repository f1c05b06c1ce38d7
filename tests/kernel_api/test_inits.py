"""Compute calls without init, or after another's, raise and name it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit import tile_parts
from testkit.kernel_parts import pack_one
from testkit.tile_parts import Matrix
from ttnn import _engine, metal
from ttnn import kernel_api as api
from ttnn.base.exceptions import KernelSetupError
from ttnn.kernel_api.context import here
from ttnn.kernel_api.sfpu_functions import (
    Approximable,
    Binary,
    FacedBinary,
    InitParameters,
    Packed,
    Ternary,
    Tiles,
    Unary,
)
from ttnn.kernel_api.sfpu_variants import _Exponential

PAGE = np.ones((64, 32), ml_dtypes.bfloat16)
ROW, SUM = api.BroadcastType.ROW, api.PoolType.SUM
ADD, TO_A = api.EltwiseBinaryType.ELWADD, api.EltwiseBinaryReuseDestType.DEST_TO_SRCA
REDUCE: dict[str, Any] = {"reduce_type": SUM, "reduce_dim": api.ReduceDim.REDUCE_COL}
REUSE: dict[str, Any] = {"op": ADD, "reuse": TO_A}

# Call, its init, and what the message calls that init.
MATRIX: dict[str, tuple[Callable[[], object], Callable[[], object], str]] = {
    "matmul_tiles": (lambda: api.matmul_tiles(0, 1, 0, 0, 0), lambda: api.mm_init_short(0, 1), "mm_init"),
    "matmul_block": (
        lambda: api.matmul_block(0, 1, 0, 0, 0, 0, 1, 1, 1),
        lambda: api.mm_block_init_short(0, 1),
        "mm_block_init",
    ),
    "add_tiles": (lambda: api.add_tiles(0, 1, 0, 0, 0), lambda: api.add_tiles_init(0, 1), "add_tiles_init"),
    "sub_tiles": (lambda: api.sub_tiles(0, 1, 0, 0, 0), lambda: api.sub_init(0, 1), "sub_tiles_init"),
    "mul_tiles": (lambda: api.mul_tiles(0, 1, 0, 0, 0), lambda: api.mul_tiles_init(0, 1), "mul_tiles_init"),
    "binary_dest_reuse_tiles": (
        lambda: api.binary_dest_reuse_tiles(0, 0, 0, **REUSE),
        lambda: api.binary_dest_reuse_tiles_init(0, **REUSE),
        "binary_dest_reuse_tiles_init",
    ),
    "mul_reuse_dest_tiles": (
        lambda: api.mul_reuse_dest_tiles(0, 0, 0),
        lambda: api.mul_reuse_dest_init(0),
        "binary_dest_reuse_tiles_init",
    ),
    "copy_tile": (lambda: api.copy_tile(0, 0, 0), lambda: api.copy_init(0), "copy_tile_to_dst_init_short"),
    "transpose_wh_tile": (
        lambda: api.transpose_wh_tile(0, 0, 0),
        lambda: api.transpose_wh_init_short(0),
        "transpose_wh_init",
    ),
    "transpose_wh_dest": (
        lambda: api.transpose_wh_dest(0),
        lambda: api.transpose_wh_dest_init_short(),
        "transpose_wh_dest_init_short",
    ),
    "unary_bcast": (
        lambda: api.unary_bcast(0, 0, 0, dim=ROW),
        lambda: api.unary_bcast_init(0, dim=ROW),
        "unary_bcast_init",
    ),
    "reduce_tile": (
        lambda: api.reduce_tile(0, 1, 0, 0, 0, **REDUCE),
        lambda: api.reduce_init(0, 1, 16, **REDUCE),
        "reduce_init",
    ),
    "tilize_block_no_pack": (
        lambda: api.tilize_block_no_pack(0, 1, 0),
        lambda: api.tilize_init_no_pack(0, 1),
        "tilize_init",
    ),
}
for verb in ("add", "sub", "mul"):
    for form in ("rows", "cols", "scalar"):
        name = f"{verb}_tiles_bcast_{form}"
        MATRIX[name] = (
            lambda call=name: getattr(api, call)(0, 1, 0, 0, 0),  # type: ignore[misc]
            lambda init=f"{verb}_bcast_{form}_init": getattr(api, init)(0, 1),  # type: ignore[misc]
            f"{verb}_",
        )
# These acquire Dst themselves.
WITH_PACK: dict[str, tuple[Callable[[], object], Callable[[], object], str]] = {
    "tilize_block": (lambda: api.tilize_block(0, 1, 16), lambda: api.tilize_init(0, 1, 16), "tilize_init"),
    "untilize_block": (lambda: api.untilize_block(0, 1, 16), lambda: api.untilize_init(0), "untilize_init"),
    "pack_untilize_block": (
        lambda: api.pack_untilize_block(0, 1, 16),
        lambda: api.pack_untilize_init(0, 16, block_ct_dim=1),
        "pack_untilize_init",
    ),
}


def in_a_kernel(device: ttnn.MeshDevice, body: Callable[[], None]) -> None:
    """Run `body` in a compute kernel.

    CBs 0 and 1 hold two tiles, CB 16 has room, Dst is free.
    """

    def compute() -> None:
        api.binary_op_init_common(0, 1, 16)
        for cb in (0, 1):
            api.cb_wait_front(cb, 2)
        api.cb_reserve_back(16, 1)
        body()
        api.pack_untilize_uninit(16)
        api.reduce_uninit()
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.pack_tile(0, 16, out_of_order=True)
        api.tile_regs_release()
        api.cb_push_back(16, 1)
        for cb in (0, 1):
            api.cb_pop_front(cb, 2)

    out = Matrix(np.zeros((32, 32), ml_dtypes.bfloat16))
    tile_parts.run(device, compute, [Matrix(PAGE), Matrix(PAGE)], out, metal.ComputeConfig())


def refused(call: Callable[[], object], init: str) -> str:
    """Run a call without init; return the message's current setup."""
    run = here.run
    with pytest.raises(KernelSetupError, match=rf"{re.escape(init)}.* is missing|the init call set") as caught:
        call()
    # A mistake ends its program, and these programs try many.
    here.run, here.mistake, here.guard._ending = run, None, False
    return str(caught.value).rpartition("is missing: ")[2]


def test_fpu_steps_need_their_own_init(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        for name, (call, _, init) in MATRIX.items():
            api.tile_regs_acquire()
            assert "nothing was set up yet" in refused(call, init), name
            finish()
        for name, (call, own, init) in MATRIX.items():
            for other, (_, foreign, _) in MATRIX.items():
                if other == name:
                    continue
                foreign()
                api.tile_regs_acquire()
                said = refused(call, init)
                # A block after the init of single tiles is told apart by its size.
                known = "the FPU is set up for", "the init call set matmul of single tiles"
                assert any(text in said for text in known), (name, other)
                finish()
            api.copy_init(0)
            api.tile_regs_acquire()
            api.copy_tile(0, 0, 0)
            own()
            call()
            api.reduce_uninit()
            finish()

    def finish() -> None:
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.tile_regs_release()

    in_a_kernel(device, body)


def test_packing_steps_need_their_own_init(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        for name, (call, own, init) in WITH_PACK.items():
            refused(call, init)
            for other, (_, foreign, _) in WITH_PACK.items():
                if other != name:
                    foreign()
                    refused(call, init)
                    api.pack_untilize_uninit(16)
            own()
            call()
            api.pack_untilize_uninit(16)

    in_a_kernel(device, body)


def test_pack_tile_after_pack_untilize_needs_uninit(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        api.tile_regs_commit()
        api.tile_regs_wait()
        refused(lambda: api.pack_untilize_dest(16), "pack_untilize_init (or _dest_init)")
        api.pack_untilize_dest_init(16, block_ct_dim=1)
        refused(lambda: api.pack_tile(0, 16), "pack_untilize_uninit")
        api.tile_regs_release()

    in_a_kernel(device, body)


PLAIN = {title for title, sets in _engine.sfpu_setups() if not sets}
"""Inits that set nothing of their own, replaceable by any other."""


def functions() -> dict[str, Any]:
    """Return the vector functions by name."""
    kinds = (Unary, Binary, Ternary, Approximable, _Exponential)
    return {
        name: value for name, value in vars(api).items() if isinstance(value, kinds) and not isinstance(value, Tiles)
    }


def unwrap(function: Any) -> Any:
    if isinstance(function, _Exponential):
        return function._functions[False, api.InputClamping.ClampToNegative]
    return function._variants[bool(function._default)] if isinstance(function, Approximable) else function


def vector_call(function: Any) -> Callable[[], object]:
    inner = unwrap(function)
    tiles = {Unary: 1, InitParameters: 1, Packed: 1, Binary: 3, FacedBinary: 3, Ternary: 4}[type(inner)]
    parameters = [0x3F80_0000] * inner._count
    return lambda: function(*[0] * tiles, *parameters)


def test_sfpu_functions_need_their_own_init(device: ttnn.MeshDevice) -> None:
    found = functions()
    assert len(found) > 190

    def body() -> None:
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        for name, function in found.items():
            inner = unwrap(function)
            if isinstance(inner, Packed):
                continue
            init = inner._names[1]
            foreign = "exp_tile_init" if init != "exp_tile_init" else "recip_tile_init"
            getattr(api, foreign)()
            if init in PLAIN:
                continue
            said = refused(vector_call(function), f"{init} before {inner._names[0]}")
            own = said.startswith(f"{foreign} has changed ")
            assert own or said == f"the SFPU was last set up by {foreign}", name
            assert callable(getattr(api, init.partition("(")[0])), name
        api.tile_regs_commit()
        api.tile_regs_wait()
        for name, function in found.items():
            inner = unwrap(function)
            if isinstance(inner, Packed):
                # The inits of math's thread are none for the packer's.
                refused(vector_call(function), f"{inner._names[1]} before {inner._names[0]}")
                assert callable(getattr(api, inner._names[1].partition("(")[0])), name
        api.tile_regs_release()

    in_a_kernel(device, body)


def test_sfpu_functions_without_any_init_raise(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        for function in functions().values():
            if not isinstance(unwrap(function), Packed):
                assert refused(vector_call(function), unwrap(function)._names[1]) == "the SFPU was never set up"
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.tile_regs_release()

    in_a_kernel(device, body)


SAME_CONSTANTS = {"sqrt", "rsqrt", "sigmoid", "tanh", "gelu", "log", "log1p", "expm1", "erf", "mish"}
"""Both variants set equal constants, or the approximate one others."""
VARIANTS = ["recip", "sqrt", "rsqrt", "sigmoid", "tanh", "gelu", "log", "log1p", "expm1", "erf", "mish", "exp"]


@pytest.mark.parametrize("name", VARIANTS)
def test_each_variant_needs_its_own_init(device: ttnn.MeshDevice, name: str) -> None:
    setup, function = getattr(api, f"{name}_tile_init"), getattr(api, f"{name}_tile")

    def body() -> None:
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        setup(approx=False)
        assert refused(lambda: function(0, approx=True), f"{name}_tile_init(approx=True)").endswith("_tile_init")
        function(0, approx=False)
        setup(approx=True)
        function(0, approx=True)
        if name in SAME_CONSTANTS:
            function(0, approx=False)
        else:
            said = refused(lambda: function(0, approx=False), f"{name}_tile_init before")
            assert said.startswith(f"{name}_tile_init(approx=True) has changed vConstFloatPrgm0")
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.tile_regs_release()

    in_a_kernel(device, body)


SPECIAL: dict[str, tuple[Callable[[], object], Callable[[], object], str]] = {
    "cumsum_tile": (lambda: api.cumsum_tile(0), api.cumsum_tile_init, "cumsum_tile_init"),
    "ema_tile": (lambda: api.ema_tile(0), lambda: api.ema_init(0, 0), "ema_init"),
    "ema_clear_previous_output": (api.ema_clear_previous_output, lambda: api.ema_init(0, 0), "ema_init"),
    "welford_update": (lambda: api.welford_update(0, 0), api.welford_init, "welford_init"),
    "welford_clear": (api.welford_clear, api.welford_init, "welford_init"),
    "welford_save_state": (lambda: api.welford_save_state(0), api.welford_init, "welford_init"),
    "welford_finalize_to_row": (lambda: api.welford_finalize_to_row(0, 0), api.welford_init, "welford_init"),
    "welford_finalize_to_face": (lambda: api.welford_finalize_to_face(0, 0), api.welford_init, "welford_init"),
    "mask_tile": (lambda: api.mask_tile(0, 1), api.mask_tile_init, "mask_tile_init"),
    "alt_complex_rotate90_tile": (
        lambda: api.alt_complex_rotate90_tile(0),
        api.alt_complex_rotate90_tile_init,
        "alt_complex_rotate90_tile_init",
    ),
    "sfpu_add_top_row": (lambda: api.sfpu_add_top_row(0, 1, 2), api.sfpu_add_top_row_init, "sfpu_add_top_row_init"),
    "sfpu_reduce": (
        lambda: api.sfpu_reduce(0, pool_type=SUM, reduce_dim=api.ReduceDim.REDUCE_ROW),
        api.sfpu_reduce_init,
        "sfpu_reduce_init",
    ),
    "add_uint16_tile": (lambda: api.add_uint16_tile(0, 1, 0), api.add_int_tile_init, "add_int_tile_init"),
    "eqz_tile_uint16": (lambda: api.eqz_tile_uint16(0), api.eqz_tile_init, "eqz_tile_init"),
    "fill_tile_int": (
        lambda: api.fill_tile_int(0, 1, data_format=metal.DataFormat.UInt16),
        api.fill_tile_init,
        "fill_tile_init",
    ),
    "typecast_tile": (
        lambda: api.typecast_tile(0, in_dtype=5, out_dtype=9),
        api.typecast_tile_init,
        "typecast_tile_init",
    ),
    "round_tile": (lambda: api.round_tile(0, 1), api.rounding_op_tile_init, "rounding_op_tile_init"),
    "copy_dest_values": (lambda: api.copy_dest_values(0, 1), api.copy_dest_values_init, "copy_dest_values_init"),
    "rdiv_tile": (lambda: api.rdiv_tile(0, 0x3F80_0000), api.rdiv_tile_init, "rdiv_tile_init"),
    "log_with_base_tile": (
        lambda: api.log_with_base_tile(0, 0x3FB8_AA3B),
        api.log_with_base_tile_init,
        "log_with_base_tile_init",
    ),
    "isclose_binary_tile": (
        lambda: api.isclose_binary_tile(0, 1, 0, 0, 0),
        api.isclose_binary_tile_init,
        "isclose_binary_tile_init",
    ),
    "max_tile": (lambda: api.max_tile(0, 1), api.max_tile_init, "max_tile_init"),
}


def test_functions_that_keep_registers_or_move_datums(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.copy_init(0)
        for name, (call, own, init) in SPECIAL.items():
            api.tile_regs_acquire()
            api.copy_tile(0, 0, 0)
            api.copy_tile(1, 0, 1)
            api.exp_tile_init()
            if init not in PLAIN:
                said = refused(call, init)
                last = "the SFPU was last set up by exp_tile_init"
                assert said.startswith("exp_tile_init has changed ") or said == last, name
            own()
            call()
            api.tile_regs_commit()
            api.tile_regs_wait()
            api.tile_regs_release()

    in_a_kernel(device, body)


def test_another_init_invalidates_sfpu_registers(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        api.cumsum_tile_init()
        api.cumsum_tile(0)
        api.exp_tile_init()
        api.exp_tile(0)
        api.cumsum_tile_init()
        refused(lambda: api.cumsum_tile(0, first=False), "cumsum_tile(first=True) before cumsum")
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.tile_regs_release()

    in_a_kernel(device, body)


def test_nothing_works_before_the_hardware_is_set_up(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        for cb in (0, 1):
            api.cb_wait_front(cb, 2)
        for _, own, _ in MATRIX.values():
            refused(own, "compute_kernel_hw_startup")
        api.binary_op_init_common(0, 1, 16)
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        pack_one()
        for cb in (0, 1):
            api.cb_pop_front(cb, 2)

    out = Matrix(np.zeros((32, 32), ml_dtypes.bfloat16))
    tile_parts.run(device, compute, [Matrix(PAGE), Matrix(PAGE)], out)
