"""Vector functions of tiles against plain numpy, and against the same functions under their other names."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
import tile_parts
from tile_parts import Matrix

import ttnn
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.exceptions import KernelArgumentError, KernelSetupError, UnsupportedError

WIDE = metal.ComputeConfig(fp32_dest_acc_en=True, unpack_to_dest_mode=[metal.UnpackToDestMode.UnpackToDestFp32] * 32)
RNG = np.random.default_rng(31)
Array = npt.NDArray[Any]


def one_tile(inputs: int, body: Callable[[], object], results: tuple[int, ...] = (0,)) -> Callable[[], None]:
    """Return a compute kernel: CBs 0.. to Dst 0.., `body`, the tiles `results` of Dst to CB 16."""

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 16)
        for cb in range(inputs):
            api.cb_wait_front(cb, 1)
        api.tile_regs_acquire()
        for cb in range(inputs):
            api.reconfig_data_format_srca(cb)
            api.copy_init(cb)
            api.copy_tile(cb, 0, cb)
        body()
        api.tile_regs_commit()
        api.tile_regs_wait()
        for result in results:
            api.cb_reserve_back(16, 1)
            api.pack_tile(result, 16)
            api.cb_push_back(16, 1)
        api.tile_regs_release()
        for cb in range(inputs):
            api.cb_pop_front(cb, 1)

    return compute


def apply(device: ttnn.MeshDevice, operands: list[Array], body: Callable[[], object], dtype: Any = None) -> Array:
    out = Matrix(np.zeros((32, 32), dtype or operands[0].dtype))
    config = None if operands[0].dtype == ml_dtypes.bfloat16 or operands[0].dtype == np.uint16 else WIDE
    return tile_parts.run(device, one_tile(len(operands), body), [Matrix(x) for x in operands], out, config)


def integers(dtype: Any, low: int, high: int) -> Array:
    return RNG.integers(low, high, (32, 32), dtype=np.int64).astype(dtype)


INT32 = [integers(np.int32, -(2**31) + 1, 2**31) for _ in range(2)]
INT32[1][:4] = INT32[0][:4]
UINT32 = [x.view(np.uint32) for x in INT32]
UINT16 = [integers(np.uint16, 0, 2**16) for _ in range(2)]
UINT16[1][:4] = UINT16[0][:4]
UINT16[0][5] = 0
BINARY: list[tuple[str, str, list[Array], Callable[[Array, Array], Array]]] = [
    (f"{verb}_{name}", f"{verb}_int_tile_init", values, function)
    for verb, function in (("add", np.add), ("sub", np.subtract))
    for name, values in (("uint32_tile", UINT32), ("uint16_tile", UINT16), ("int32_tile", INT32))
]
BINARY += [
    (f"mul_{name}", "mul_int32_tile_init", values, np.multiply)
    for name, values in (("uint32_tile", UINT32), ("uint16_tile", UINT16))
]
BINARY += [
    (f"bitwise_{verb}_{name}_binary_tile", "binary_bitwise_tile_init", values, function)
    for verb, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor))
    for name, values in (("uint32", UINT32), ("uint16", UINT16))
]
BINARY += [
    ("binary_max_uint32_tile", "binary_max_uint32_tile_init", UINT32, np.maximum),
    ("binary_min_uint32_tile", "binary_min_uint32_tile_init", UINT32, np.minimum),
    ("binary_max_int32_tile", "binary_max_int32_tile_init", INT32, np.maximum),
]


@pytest.mark.parametrize(("name", "init", "operands", "reference"), BINARY, ids=[row[0] for row in BINARY])
def test_integers_of_two_tiles(
    device: ttnn.MeshDevice, name: str, init: str, operands: list[Array], reference: Callable[[Array, Array], Array]
) -> None:
    def body() -> None:
        getattr(api, init)()
        getattr(api, name)(0, 1, 0)

    np.testing.assert_array_equal(apply(device, operands, body), reference(*operands))


TEMPLATES = [
    (verb, function, data_format, values)
    for verb, function in (
        *(("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("eq", np.equal), ("ne", np.not_equal)),
        *(("lt", np.less), ("gt", np.greater), ("le", np.less_equal), ("ge", np.greater_equal)),
    )
    for data_format, values in (
        (metal.DataFormat.Int32, INT32),
        (metal.DataFormat.UInt32, UINT32),
        (metal.DataFormat.UInt16, UINT16),
    )
]


@pytest.mark.parametrize(("verb", "reference", "data_format", "operands"), TEMPLATES)
def test_the_data_format_as_a_template_argument(
    device: ttnn.MeshDevice,
    verb: str,
    reference: Callable[[Array, Array], Array],
    data_format: metal.DataFormat,
    operands: list[Array],
) -> None:
    def body() -> None:
        getattr(api, f"{verb}_int_tile_init")()
        getattr(api, f"{verb}_int_tile")(0, 1, 0, data_format=data_format)

    np.testing.assert_array_equal(apply(device, operands, body), reference(*operands).astype(operands[0].dtype))


def test_a_format_without_integers_is_refused(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.add_int_tile_init()
        api.add_int_tile(0, 1, 0, data_format=metal.DataFormat.Float32)

    with pytest.raises(UnsupportedError, match="add_int_tile: the vector unit does this for Int32, UInt32 and UInt16"):
        apply(device, INT32, body)


SCALAR = -77
UNARY: list[tuple[str, str, tuple[int, ...], Array, Callable[[Array], Array]]] = [
    ("eqz_tile_uint16", "eqz_tile_init", (), UINT16[0], lambda x: x == 0),
    ("nez_tile_uint16", "nez_tile_init", (), UINT16[0], lambda x: x != 0),
    ("eqz_tile_uint32", "eqz_tile_init", (), UINT32[0], lambda x: x == 0),
    ("nez_tile_uint32", "nez_tile_init", (), UINT32[0], lambda x: x != 0),
    ("logical_not_unary_tile_int32", "logical_not_unary_tile_init", (), INT32[0], lambda x: x == 0),
    ("logical_not_unary_tile_uint16", "logical_not_unary_tile_init", (), UINT16[0], lambda x: x == 0),
    ("logical_not_unary_tile_uint32", "logical_not_unary_tile_init", (), UINT32[0], lambda x: x == 0),
    ("signbit_tile_int32", "signbit_tile_int32_init", (), INT32[0], lambda x: x < 0),
    ("unary_max_int32_tile", "unary_max_int32_tile_init", (SCALAR,), INT32[0], lambda x: np.maximum(x, SCALAR)),
    ("unary_min_int32_tile", "unary_min_tile_init", (SCALAR,), INT32[0], lambda x: np.minimum(x, SCALAR)),
    ("unary_max_uint32_tile", "unary_max_uint32_tile_init", (9,), UINT32[0], lambda x: np.maximum(x, 9)),
    ("unary_min_uint32_tile", "unary_min_uint32_tile_init", (9,), UINT32[0], lambda x: np.minimum(x, 9)),
    ("relu_max_tile_int32", "relu_max_tile_init", (500,), INT32[0], lambda x: np.clip(x, 0, 500)),
    ("relu_max_tile_uint32", "relu_max_tile_init", (500,), UINT32[0], lambda x: np.minimum(x, 500)),
    ("relu_max_tile_uint16", "relu_max_tile_init", (500,), UINT16[0], lambda x: np.minimum(x, 500)),
    ("relu_min_tile_int32", "relu_min_tile_init", (500,), INT32[0], lambda x: np.maximum(x, 500)),
    ("relu_min_tile_uint32", "relu_min_tile_init", (500,), UINT32[0], lambda x: np.maximum(x, 500)),
    ("relu_min_tile_uint16", "relu_min_tile_init", (500,), UINT16[0], lambda x: np.maximum(x, 500)),
    ("add_unary_tile_int32", "binop_with_scalar_tile_init", (SCALAR,), INT32[0], lambda x: x + np.int32(SCALAR)),
    ("sub_unary_tile_int32", "binop_with_scalar_tile_init", (SCALAR,), INT32[0], lambda x: x - np.int32(SCALAR)),
    ("rsub_unary_int32_tile", "rsub_unary_int32_tile_init", (SCALAR,), INT32[0], lambda x: np.int32(SCALAR) - x),
    ("identity_tile_uint32", "identity_tile_init", (), UINT32[0], lambda x: x),
    ("remainder_tile_uint32", "remainder_tile_uint32_init", (1000,), UINT32[0], lambda x: x % 1000),
]


@pytest.mark.parametrize(("name", "init", "parameters", "operand", "reference"), UNARY, ids=[row[0] for row in UNARY])
def test_integers_of_one_tile(
    device: ttnn.MeshDevice,
    name: str,
    init: str,
    parameters: tuple[int, ...],
    operand: Array,
    reference: Callable[[Array], Array],
) -> None:
    def body() -> None:
        getattr(api, init)()
        getattr(api, name)(0, *parameters)

    with np.errstate(over="ignore"):
        expected = reference(operand).astype(operand.dtype)
    np.testing.assert_array_equal(apply(device, [operand], body), expected)


def test_remainders_by_zero_are_refused(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.remainder_tile_uint32_init()
        api.remainder_tile_uint32(0, 0)

    with pytest.raises(KernelArgumentError, match="remainder_tile_uint32: division by 0"):
        apply(device, [UINT32[0]], body)


@pytest.mark.parametrize("data_format", [metal.DataFormat.Int32, metal.DataFormat.UInt16])
def test_filling_with_an_integer(device: ttnn.MeshDevice, data_format: metal.DataFormat) -> None:
    operand = INT32[0] if data_format is metal.DataFormat.Int32 else UINT16[0]

    def body() -> None:
        api.fill_tile_init()
        api.fill_tile_int(0, 1234, data_format=data_format)

    np.testing.assert_array_equal(apply(device, [operand], body), np.full((32, 32), 1234, operand.dtype))


# Lane registers and moves between lanes. Values are small integers, so sums are exact whatever their order.


def small(low: int = -8, high: int = 8) -> Array:
    return RNG.integers(low, high, (32, 32)).astype(np.float32)


def test_running_sums_go_on_from_tile_to_tile(device: ttnn.MeshDevice) -> None:
    tiles = [small(), small()]

    def body() -> None:
        api.cumsum_tile_init()
        api.cumsum_tile(0)
        api.cumsum_tile(1, first=False)

    compute = one_tile(2, body, results=(0, 1))
    out = Matrix(np.zeros((64, 32), np.float32))
    result = tile_parts.run(device, compute, [Matrix(x) for x in tiles], out, WIDE)
    np.testing.assert_array_equal(result, np.cumsum(np.concatenate(tiles), axis=0))


def test_a_running_sum_needs_its_first_tile(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.cumsum_tile_init()
        api.cumsum_tile(0, first=False)

    with pytest.raises(KernelSetupError, match=r"cumsum_tile\(first=True\) before cumsum is missing"):
        apply(device, [small()], body)


def test_moving_average(device: ttnn.MeshDevice) -> None:
    data = small()

    def body() -> None:
        api.ema_init(api_bits(0.5), api_bits(0.25))
        api.ema_tile(0)

    compute = one_tile(1, body, results=(1,))
    result = tile_parts.run(device, compute, [Matrix(data)], Matrix(np.zeros((32, 32), np.float32)), WIDE)
    expected, previous = np.zeros_like(data), np.zeros(32, np.float32)
    for row in range(32):
        # The vector unit cuts products to 27 bits, which these have.
        previous = np.float32(0.25) * data[row] + np.float32(0.5) * previous
        expected[row] = previous
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def api_bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def test_welford_of_two_tiles(device: ttnn.MeshDevice) -> None:
    tiles = [small(), small()]
    table = [api_bits(float(np.float32(1) / np.float32(n))) for n in range(1, 65)]

    def body() -> None:
        api.welford_init()
        api.welford_update(0, 0, table)
        api.welford_save_state(2)
        api.welford_reinit()
        api.welford_restore_state(2)
        api.welford_update_rows(1, 32, 0, 16)
        api.welford_update_rows(1, 48, 16, 16, table)
        api.welford_finalize_to_row(2, 63, table)

    compute = one_tile(2, body, results=(2, 3))
    out = Matrix(np.zeros((64, 32), np.float32))
    result = tile_parts.run(device, compute, [Matrix(x) for x in tiles], out, WIDE)
    data = np.concatenate(tiles).astype(np.float64)
    np.testing.assert_allclose(result[0], data.mean(axis=0), rtol=0, atol=2e-6)
    np.testing.assert_allclose(result[32], data.var(axis=0), rtol=2e-6)
    assert not result[1:4].any()


def test_welford_refuses_what_its_table_lacks(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.welford_init()
        api.welford_update(0, 0, [api_bits(1.0)])

    with pytest.raises(KernelArgumentError, match="welford_update: number 1 of 1 reciprocals is needed"):
        apply(device, [small()], body)


def test_quantise_and_back(device: ttnn.MeshDevice) -> None:
    data, scale = small(-900, 900) / np.float32(16), np.full((32, 32), 2.0, np.float32)

    def quantise() -> None:
        api.quant_tile_init(api_bits(3.0))
        api.quant_tile(0, 1, 0)

    wanted = np.trunc(data * 2 + 3 + np.copysign(0.5, data * 2 + 3))
    quantised = apply(device, [data, scale], quantise, np.int32)
    np.testing.assert_array_equal(quantised, np.clip(wanted, -127, 127).astype(np.int32))

    def back() -> None:
        api.dequant_tile_init(api_bits(-3.0))
        api.dequant_tile(0, 1, 0)

    half = np.full((32, 32), 0.5, np.float32)
    np.testing.assert_array_equal(apply(device, [quantised, half], back, np.float32), (quantised - 3) * half)

    def again() -> None:
        api.requant_tile_init(api_bits(1.0))
        api.requant_tile(0, 1, 0)

    wanted = quantised * np.float32(0.5) + 1
    wanted = np.trunc(wanted + np.copysign(0.5, wanted)).astype(np.int32)
    np.testing.assert_array_equal(apply(device, [quantised, half], again, np.int32), wanted)


def test_quantising_needs_32_bits(device: ttnn.MeshDevice) -> None:
    data = small().astype(ml_dtypes.bfloat16)

    def body() -> None:
        api.quant_tile_init(0)
        api.quant_tile(0, 1, 0)

    with pytest.raises(KernelSetupError, match="Int32 operands need fp32_dest_acc_en=True"):
        apply(device, [data, data], body)


def test_masks(device: ttnn.MeshDevice) -> None:
    data, mask = small(1, 9), (RNG.random((32, 32)) < 0.5).astype(np.float32)

    def zeros() -> None:
        api.mask_tile_init()
        api.mask_tile(0, 1)

    np.testing.assert_array_equal(apply(device, [data, mask], zeros), data * mask)

    def infinities() -> None:
        api.mask_tile_init()
        api.mask_posinf_tile(0, 1)

    np.testing.assert_array_equal(apply(device, [data, mask], infinities), np.where(mask == 0, np.inf, data))

    def elsewhere() -> None:
        api.mask_tile_init()
        api.mask_tile(0, 2)

    with pytest.raises(KernelArgumentError, match=r"mask_tile: the mask of Dst\[0\] must be Dst\[1\], not Dst\[2\]"):
        apply(device, [data, mask], elsewhere)


def test_rotation_and_top_rows(device: ttnn.MeshDevice) -> None:
    data, other = small(1, 9), small(1, 9)

    def rotate() -> None:
        api.alt_complex_rotate90_tile_init()
        api.alt_complex_rotate90_tile(0)

    expected = np.empty_like(data)
    expected[:, 0::2], expected[:, 1::2] = -data[:, 1::2], data[:, 0::2]
    np.testing.assert_array_equal(apply(device, [data], rotate), expected)

    def add() -> None:
        api.sfpu_add_top_row_init()
        api.sfpu_add_top_row(0, 1, 0)

    np.testing.assert_array_equal(apply(device, [data, other], add)[0], data[0] + other[0])


def test_rows_scattered_by_an_index(device: ttnn.MeshDevice) -> None:
    data, target = small(), small()
    index = RNG.integers(0, 40, 32)
    rows = np.zeros((32, 32), np.float32)
    rows.reshape(-1)[:12] = np.concatenate([np.zeros(16, np.uint8), index.astype(np.uint8)]).view(np.float32)

    def body() -> None:
        api.reshuffle_rows_tile_init()
        api.reshuffle_rows_tile(0, api.get_tile_address(2, 0))

    expected = target.copy()
    for row, place in enumerate(index):
        if place < 32:
            expected[place] += data[row]
    # CB 2 only carries the row numbers; its 48 bytes lie in the first face row, so tiling leaves them together.
    inputs = [Matrix(data), Matrix(target), Matrix(tile_parts.from_tiles(rows.reshape(-1), (32, 32)))]
    out = Matrix(np.zeros((32, 32), np.float32))
    result = tile_parts.run(device, one_tile(3, body, results=(1,)), inputs, out, WIDE)
    np.testing.assert_array_equal(result, expected)


REDUCTIONS = [(pool, dim) for pool in ("SUM", "MAX", "MIN") for dim in ("REDUCE_ROW", "REDUCE_COL")]


@pytest.mark.parametrize(("pool", "dim"), REDUCTIONS)
def test_reductions_of_the_vector_unit(device: ttnn.MeshDevice, pool: str, dim: str) -> None:
    data = small()

    def body() -> None:
        api.sfpu_reduce_init()
        api.sfpu_reduce(0, pool_type=api.PoolType[pool], reduce_dim=api.ReduceDim[dim])

    result = apply(device, [data], body)
    reduce = {"SUM": np.sum, "MAX": np.max, "MIN": np.min}[pool]
    along_rows = dim == "REDUCE_ROW"
    expected = reduce(data, axis=1 if along_rows else 0)
    np.testing.assert_array_equal(result[:, 0] if along_rows else result[0], expected)


def test_reductions_without_known_bits(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.sfpu_reduce_init()
        api.sfpu_reduce(0, pool_type=api.PoolType.AVG, reduce_dim=api.ReduceDim.REDUCE_ROW)

    with pytest.raises(UnsupportedError, match="has no known bits; sums, maxima and minima of rows or columns"):
        apply(device, [small()], body)


@pytest.mark.parametrize(("k", "log"), [(4, 2), (16, 4), (32, 5), (64, 6)])
def test_the_largest_of_each_column_with_their_indices(device: ttnn.MeshDevice, k: int, log: int) -> None:
    data = [np.round(RNG.standard_normal((32, 32)) * 50).astype(ml_dtypes.bfloat16) for _ in range(2)]
    rows = [np.repeat(np.arange(32 * half, 32 * half + 32)[:, None], 32, axis=1).astype(np.uint16) for half in (0, 1)]

    def body() -> None:
        api.topk_tile_init()
        api.topk_local_sort(0, 0, log - 1)
        for m_iter in range(6 - log):
            api.topk_merge(0, m_iter, k)
            api.topk_rebuild(0, 0, m_iter, k, log, int(m_iter == 5 - log))

    inputs = [Matrix(x) for x in (*data, *rows)]
    out = Matrix(np.zeros((64, 32), ml_dtypes.bfloat16))
    values = tile_parts.run(device, one_tile(4, body, results=(0, 1)), inputs, out)[:k]

    found = tile_parts.run(device, one_tile(4, body, results=(2, 3)), inputs, Matrix(np.zeros((64, 32), np.uint16)))[:k]
    whole = np.concatenate(data).astype(np.float32)
    np.testing.assert_array_equal(values.astype(np.float32), -np.sort(-whole, axis=0)[:k])
    np.testing.assert_array_equal(np.take_along_axis(whole, found.astype(np.int64), axis=0), values.astype(np.float32))
    assert all(len(set(column)) == k for column in found.T.tolist())


TOPK = [
    (lambda: api.topk_local_sort(4, 0, 4), "topk_local_sort: idst=4; the kernel goes back to Dst 0"),
    (lambda: api.topk_local_sort(0, 0, 6), "topk_local_sort: phases 0 to 6; there are 0 to 5"),
    (lambda: api.topk_local_sort(0, 0, 4, 4), "topk_local_sort: steps 0 to 0 of phase 4; take 5 to 4"),
    (lambda: api.topk_merge(0, 0, 5), "topk_merge: k=5, m_iter=0; k is 4, 8, 16, 32 or 64"),
    (lambda: api.topk_rebuild(0, 0, 0, 8, 4, 0), "topk_rebuild: logk=4 is not the logarithm of k=8"),
]


@pytest.mark.parametrize(("call", "text"), TOPK, ids=[text.split(";")[0] for _, text in TOPK])
def test_what_the_sorting_network_refuses(device: ttnn.MeshDevice, call: Callable[[], object], text: str) -> None:
    def body() -> None:
        api.topk_tile_init()
        call()

    with pytest.raises(KernelArgumentError, match=text):
        apply(device, [X], body)


# Names that mean a function which exists under another name: equal bits.

X = np.concatenate([np.linspace(-6, 6, 1000), [0.0, -0.0, 1e-3, 30.0, -30.0, 4.5, 88.0, 1.0] * 3]).astype(
    ml_dtypes.bfloat16
).reshape(32, 32)  # fmt: skip


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
def test_functions_on_the_packers_thread(device: ttnn.MeshDevice, name: str) -> None:
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
    ("nextafter_binary_tile", 2, lambda a, b, _: ttnn.nextafter(a, b)),
    ("isclose_binary_tile", 2, lambda a, b, _: ttnn.isclose(a, b)),
]


@pytest.mark.parametrize(("name", "count", "operator"), OPERATORS, ids=[row[0] for row in OPERATORS])
def test_against_the_operators(device: ttnn.MeshDevice, name: str, count: int, operator: Any) -> None:
    operands = [X, np.roll(X, 7), np.roll(X, 11)]
    operands[1][:8] = operands[0][:8]
    parameters = (api_bits(1e-5), api_bits(1e-8)) if name.startswith("isclose") else ()

    def body() -> None:
        getattr(api, f"{name}_init")()
        getattr(api, name)(*range(count), 0, *parameters)

    tensors = [ttnn.from_torch(torch_of(x), layout=ttnn.TILE_LAYOUT, device=device) for x in operands]
    expected = ttnn.to_torch(operator(*tensors)).float().numpy()
    np.testing.assert_array_equal(apply(device, operands[:count], body).astype(np.float32), expected)


def test_the_exponential_in_all_variants(device: ttnn.MeshDevice) -> None:
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
def test_division_of_a_number_by_a_tile(device: ttnn.MeshDevice, mode: str, rounded: Any) -> None:
    data = RNG.choice([-4.0, -2.0, -0.5, 0.25, 1.0, 2.0, 8.0], (32, 32)).astype(np.float32)

    def body() -> None:
        api.rdiv_tile_init()
        api.rdiv_tile(0, api_bits(-3.0), api.VectorMode.RC, rounding_mode=api.RoundingMode[mode])

    np.testing.assert_array_equal(apply(device, [data], body), rounded(-3.0 / data))


def test_a_vector_mode_that_does_not_exist(device: ttnn.MeshDevice) -> None:
    def body() -> None:
        api.relu_tile_init()
        api.relu_tile(0, vector_mode=3)

    with pytest.raises(KernelArgumentError, match=r"vector_mode=3: take VectorMode\.RC, R or C"):
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
