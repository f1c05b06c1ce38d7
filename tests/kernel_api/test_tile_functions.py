"""Tile vector functions against other names and operators."""

from __future__ import annotations

import inspect
import types
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit import tile_parts
from testkit.tile_parts import Array, Matrix, X, api_bits, apply
from ttnn import kernel_api as api
from ttnn.base.exceptions import KernelArgumentError, UnsupportedError

RNG = np.random.default_rng(31)


def test_log_with_base_is_log2_and_log10(device: ttnn.MeshDevice) -> None:
    positive = np.abs(X.astype(np.float32)).astype(ml_dtypes.bfloat16)
    for scale, init, same in (
        (0x3FB8AA3B, "log2_tile_init", "log2_tile"),
        (0x3EDE5BD9, "log10_tile_init", "log10_tile"),
    ):

        def with_base(scale: int = scale) -> None:
            api.log_with_base_tile_init()
            api.log_with_base_tile(0, scale)

        def plain(init: str = init, same: str = same) -> None:
            getattr(api, init)()
            getattr(api, same)(0)

        np.testing.assert_array_equal(
            apply(device, [positive], with_base).view(np.uint16), apply(device, [positive], plain).view(np.uint16)
        )

    def other() -> None:
        api.log_with_base_tile_init()
        api.log_with_base_tile(0, api_bits(1.0))

    with pytest.raises(UnsupportedError, match="log_with_base_tile: base_scale=0x3f800000"):
        apply(device, [X], other)


PACKED = ["sigmoid", "silu", "tanh", "hardsigmoid", "gelu", "gelu_tanh"]


@pytest.mark.parametrize("name", PACKED)
def test_packer_thread_functions_match_the_math_thread(device: ttnn.MeshDevice, name: str) -> None:
    def on_pack() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.copy_init(0)
        api.cb_wait_front(0, 1)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        api.tile_regs_commit()
        api.tile_regs_wait()
        getattr(api, f"{name}_tile_init_pack")()
        getattr(api, f"{name}_tile_pack")(0)
        api.cb_reserve_back(16, 1)
        api.pack_tile(0, 16)
        api.cb_push_back(16, 1)
        api.tile_regs_release()
        api.cb_pop_front(0, 1)

    def on_math() -> None:
        getattr(api, f"{name}_tile_init")()
        getattr(api, f"{name}_tile")(0)

    out = Matrix(np.zeros((32, 32), ml_dtypes.bfloat16))
    packed = tile_parts.run(device, on_pack, [Matrix(X)], out)
    np.testing.assert_array_equal(packed.view(np.uint16), apply(device, [X], on_math).view(np.uint16))


OPERATORS = [
    ("mac_tile", 3, lambda a, b, c: ttnn.mac(a, b, c)),
    ("nextafter_bf16_binary_tile", 2, lambda a, b, _: ttnn.nextafter(a, b)),
    ("isclose_binary_tile", 2, lambda a, b, _: ttnn.isclose(a, b)),
]


@pytest.mark.parametrize(("name", "count", "operator"), OPERATORS, ids=[row[0] for row in OPERATORS])
def test_kernel_functions_have_the_operator_bits(device: ttnn.MeshDevice, name: str, count: int, operator: Any) -> None:
    operands = [X, np.roll(X, 7), np.roll(X, 11)]
    operands[1][:8] = operands[0][:8]
    parameters = (api_bits(1e-5), api_bits(1e-8)) if name.startswith("isclose") else ()

    def body() -> None:
        getattr(api, f"{name}_init")()
        getattr(api, name)(*range(count), 0, *parameters)

    tensors = [ttnn.from_torch(torch_of(x), layout=ttnn.TILE_LAYOUT, device=device) for x in operands]
    expected = ttnn.to_torch(operator(*tensors)).float().numpy()
    np.testing.assert_array_equal(apply(device, operands[:count], body).astype(np.float32), expected)


def test_exp_tile_clamps_by_its_input_clamping(device: ttnn.MeshDevice) -> None:
    below = np.full((32, 32), -100.0, ml_dtypes.bfloat16)
    results = {}
    for approx in (False, True):
        for clamping in api.InputClamping:

            def body(approx: bool = approx, clamping: api.InputClamping = clamping) -> None:
                api.exp_tile_init(approx=approx, input_clamping=clamping)
                api.exp_tile(0, approx=approx, input_clamping=clamping)

            results[approx, clamping.name] = apply(device, [below], body).astype(np.float32)[0, 0]
    assert 0 <= results[False, "ClampToNegative"] < 1e-37
    assert 0 <= results[True, "ClampToNegative"] < 1e-37
    assert results[True, "NONE"] < 0

    def scaled() -> None:
        api.exp_tile_init()
        api.exp_tile(0, scale=0x4000, scale_en=True)

    with pytest.raises(UnsupportedError, match="exp_tile: scale=0x4000; where it is rounded is not specified"):
        apply(device, [below], scaled)


@pytest.mark.parametrize(("mode", "rounded"), [("NONE", np.positive), ("Trunc", np.trunc), ("Floor", np.floor)])
def test_rdiv_tile_divides_a_number_by_a_tile(device: ttnn.MeshDevice, mode: str, rounded: Any) -> None:
    data = RNG.choice([-4.0, -2.0, -0.5, 0.25, 1.0, 2.0, 8.0], (32, 32)).astype(np.float32)

    def body() -> None:
        api.rdiv_tile_init()
        api.rdiv_tile(0, api_bits(-3.0), api.VectorMode.RC, rounding_mode=api.RoundingMode[mode])

    np.testing.assert_array_equal(apply(device, [data], body), rounded(-3.0 / data))


def test_unknown_vector_mode_raises(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.relu_tile_init()
        api.relu_tile(0, vector_mode=3)

    with pytest.raises(KernelArgumentError, match=r"vector_mode=3: use VectorMode\.RC, R or C"):
        apply(device, [X], body)


def test_wormhole_has_no_softcap_tile(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.softcap_tile_init()
        api.softcap_tile(0, api_bits(2.0), api_bits(0.5))

    with pytest.raises(KernelArgumentError, match="softcap_tile does not exist on a Wormhole"):
        apply(device, [X], body)


def torch_of(x: Array) -> Any:
    import torch

    return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)


def test_every_unsupported_name_says_why(device: ttnn.MeshDevice) -> None:
    for name, reason in api.UNSUPPORTED.items():
        with pytest.raises(UnsupportedError) as caught:
            getattr(api, name)(0, 0)
        assert str(caught.value) == f"{name}: {reason}", name
        assert isinstance(getattr(api, name), types.FunctionType)
        assert inspect.getdoc(getattr(api, name))
