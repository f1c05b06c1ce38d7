"""Fast numerics mode: pinned distance to exact mode, invariant bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.fast_distance import FIDELITIES, SIZES, distance, published_bounds
from testkit.operands import NAMES, from_raw, raw_of, values_of
from ttnn.base.config import manage_config

BOUNDS = published_bounds()


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with manage_config("numerics", "fast"):
        yield


def config(fidelity: str, fp32: bool = True) -> ttnn.WormholeComputeKernelConfig:
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity),
        math_approx_mode=False,
        fp32_dest_acc_en=fp32,
        packer_l1_acc=not fp32,
    )


def tensor(device: ttnn.MeshDevice, values: Any, dtype: Any = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.Tensor(np.asarray(values, np.float32), dtype, None, ttnn.TILE_LAYOUT).to(device)


def normal(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def exact(run: Any) -> Any:
    with manage_config("numerics", "exact"):
        return run()


def assert_close(got: ttnn.Tensor, expected: ttnn.Tensor, tolerance: float = 0.02) -> None:
    """Compare with the exact mode, relative to the largest result."""
    assert (got.shape, got.dtype, got.layout) == (expected.shape, expected.dtype, expected.layout)
    a, b = values_of(got), values_of(expected)
    assert np.max(np.abs(a - b)) <= tolerance * np.max(np.abs(b))


def test_every_distance_is_published() -> None:
    assert set(BOUNDS) == {(name, fp32, size) for name in FIDELITIES for fp32 in (False, True) for size in SIZES}


# The largest size is for the page alone: the exact mode needs seconds for it.
@pytest.mark.parametrize("size", SIZES[:-1])
@pytest.mark.parametrize("fp32", [False, True])
@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_distance_to_exact_is_bounded(device: ttnn.MeshDevice, fidelity: str, fp32: bool, size: int) -> None:
    found, bound = distance(device, fidelity, fp32, size), BOUNDS[fidelity, fp32, size]
    assert found.max_ulp <= bound.max_ulp
    assert found.mean_ulp <= bound.mean_ulp
    assert found.pcc >= bound.pcc


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_fidelity_cuts_what_the_chip_cuts(device: ttnn.MeshDevice, fidelity: str) -> None:
    # One product per output: nothing to add, so the mode has the chip's bits for every pair of mantissas.
    mantissas = 1 + np.arange(128) / 128
    a, b = tensor(device, mantissas[:, None]), tensor(device, mantissas[None, :])
    run = lambda: ttnn.matmul(a, b, dtype=ttnn.float32, compute_kernel_config=config(fidelity))  # noqa: E731
    assert np.array_equal(values_of(run()), values_of(exact(run)))


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_float32_operands_are_cut_as_tf32(device: ttnn.MeshDevice, fidelity: str) -> None:
    mantissas = (1 + np.random.default_rng(1).integers(0, 1024, 96) / 1024).astype(np.float32)
    a, b = (tensor(device, values, ttnn.float32) for values in (mantissas[:, None], mantissas[None, :]))
    run = lambda: ttnn.matmul(a, b, compute_kernel_config=config(fidelity))  # noqa: E731
    assert np.array_equal(values_of(run()), values_of(exact(run)))


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("level", ttnn._engine.cpu_levels())
def test_results_do_not_depend_on_the_thread_count(
    device: ttnn.MeshDevice, cpu_level: None, host_threads: None, level: str, threads: int
) -> None:
    ttnn.CONFIG.cpu_level = level
    a, b = tensor(device, normal((3, 200, 330), 1)), tensor(device, normal((330, 170), 2))
    ttnn.CONFIG.threads = 1
    alone = raw_of(ttnn.matmul(a, b, dtype=ttnn.float32))
    ttnn.CONFIG.threads = threads
    assert np.array_equal(alone, raw_of(ttnn.matmul(a, b, dtype=ttnn.float32)))


@pytest.mark.parametrize("level", ttnn._engine.cpu_levels())
@pytest.mark.parametrize("m", [20, 200])
@pytest.mark.parametrize("b", ["bf16", "bf8"])
def test_a_thread_takes_columns_that_follow_each_other_in_a_bank(
    device: ttnn.MeshDevice, cpu_level: None, host_threads: None, level: str, m: int, b: str
) -> None:
    ttnn.CONFIG.cpu_level = level
    # More than three rounds of the banks, and a bias that is added where a column is finished.
    n = 1280
    left, right = tensor(device, normal((m, 96), 1)), tensor(device, normal((96, n), 2), NAMES[b])
    row = tensor(device, normal((1, n), 3))
    settings = {"core_grid": ttnn.CoreGrid(x=2, y=2), "compute_kernel_config": config("HiFi2")}
    plain = lambda: raw_of(ttnn.matmul(left, right, **settings))  # noqa: E731
    biased = lambda: raw_of(ttnn.linear(left, right, bias=row, **settings))  # noqa: E731
    ttnn.CONFIG.threads = 1
    alone = (plain(), biased())
    for threads in (2, 3, 8):
        ttnn.CONFIG.threads = threads
        assert np.array_equal(alone[0], plain()), threads
        assert np.array_equal(alone[1], biased()), threads
    run = lambda: ttnn.linear(left, right, bias=row, **settings)  # noqa: E731
    assert_close(run(), exact(run))


@pytest.mark.parametrize("level", ttnn._engine.cpu_levels())
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_every_level_computes_the_same_product(
    device: ttnn.MeshDevice, cpu_level: None, level: str, dtype: ttnn.DataType
) -> None:
    a, b = tensor(device, normal((64, 320), 3), dtype), tensor(device, normal((320, 96), 4), dtype)
    ttnn.CONFIG.cpu_level = level
    got = values_of(ttnn.matmul(a, b, dtype=ttnn.float32, compute_kernel_config=config("HiFi4")))
    # HiFi4 sees 11 bits of the left and 10 of the right operand.
    left, right = (
        (values_of(operand).astype(np.float32).view(np.uint32) & np.uint32(mask)).view(np.float32).astype(np.float64)
        for operand, mask in ((a, 0xFFFFE000), (b, 0xFFFFC000))
    )
    assert np.max(np.abs(got - left @ right)) <= 1e-5 * np.max(np.abs(got))


@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 1, 1), (32, 32, 32), (33, 31, 65), (1, 100, 1000), (544, 288, 32), (96, 1056, 544)]
)
@pytest.mark.parametrize("b", NAMES)
@pytest.mark.parametrize("a", ["bf16", "f32", "bf8"])
def test_shapes_and_formats(device: ttnn.MeshDevice, a: str, b: str, m: int, k: int, n: int) -> None:
    left, right = tensor(device, normal((m, k), 1), NAMES[a]), tensor(device, normal((k, n), 2), NAMES[b])
    run = lambda: ttnn.matmul(left, right, compute_kernel_config=config("HiFi2"))  # noqa: E731
    assert_close(run(), exact(run), 0.03)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b])
@pytest.mark.parametrize("fp32", [False, True])
def test_outputs_pass_the_packer(device: ttnn.MeshDevice, dtype: ttnn.DataType, fp32: bool) -> None:
    a, b = tensor(device, normal((64, 64), 1)), tensor(device, normal((64, 64), 2))
    run = lambda: ttnn.matmul(a, b, dtype=dtype, compute_kernel_config=config("HiFi4", fp32))  # noqa: E731
    # A value next to a rounding border may fall on its other side.
    assert_close(run(), exact(run), 0.13 if dtype == ttnn.bfloat4_b else 0.02)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32])
@pytest.mark.parametrize("transposes", [(True, False), (False, True), (True, True)])
def test_transposed_operands(device: ttnn.MeshDevice, dtype: ttnn.DataType, transposes: tuple[bool, bool]) -> None:
    a = tensor(device, normal((70, 40) if transposes[0] else (40, 70), 1), dtype)
    b = tensor(device, normal((50, 70) if transposes[1] else (70, 50), 2), dtype)
    run = lambda: ttnn.matmul(  # noqa: E731
        a, b, transpose_a=transposes[0], transpose_b=transposes[1], compute_kernel_config=config("HiFi2")
    )
    assert_close(run(), exact(run))


@pytest.mark.parametrize("shapes", [((3, 64, 96), (96, 64)), ((3, 64, 96), (3, 96, 64)), ((2, 2, 40, 33), (33, 5))])
def test_batched_fast_matmuls_are_near_exact_ones(
    device: ttnn.MeshDevice, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    a, b = (tensor(device, normal(shape, seed)) for seed, shape in enumerate(shapes))
    run = lambda: ttnn.matmul(a, b, compute_kernel_config=config("HiFi2"))  # noqa: E731
    assert_close(run(), exact(run))


@pytest.mark.parametrize("fp32", [False, True])
@pytest.mark.parametrize("activation", [None, "relu"])
def test_bias_and_activation(device: ttnn.MeshDevice, activation: str | None, fp32: bool) -> None:
    a, b = tensor(device, normal((64, 96), 1)), tensor(device, normal((96, 128), 2) / 8)
    bias = tensor(device, normal((1, 128), 3))
    run = lambda: ttnn.linear(  # noqa: E731
        a,
        b,
        bias=bias,
        activation=activation,
        core_grid=ttnn.CoreGrid(x=2, y=2),
        compute_kernel_config=config("HiFi4", fp32),
    )
    assert_close(run(), exact(run))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b])
@pytest.mark.parametrize("activation", [None, "gelu", "silu", "relu", "tanh"])
def test_many_tiles_pass_bias_activation_and_packer_as_few(
    device: ttnn.MeshDevice, activation: str | None, dtype: ttnn.DataType
) -> None:
    # Of many tiles, a table of the activation is made.
    a, b, row = normal((512, 96), 1), normal((96, 544), 2), normal((1, 544), 3)
    a[3], a[40], a[77] = np.inf, np.nan, 0
    row[0, ::3], row[0, 5] = 0, 1e38
    b, bias = tensor(device, b), tensor(device, row)
    settings = {"bias": bias, "core_grid": ttnn.CoreGrid(x=4, y=4), "compute_kernel_config": config("HiFi4", False)}
    run = lambda rows: ttnn.linear(  # noqa: E731
        tensor(device, a[rows]), b, activation=activation, dtype=dtype, **settings
    )
    whole = run(slice(None))
    parts = [run(slice(first, first + 64)) for first in range(0, 512, 64)]
    np.testing.assert_array_equal(raw_of(whole), np.concatenate([raw_of(part) for part in parts]))
    if dtype == ttnn.bfloat16 and activation is not None:
        # In a 16-bit Dst nothing is lost between the two.
        apart = getattr(ttnn, activation)(ttnn.linear(tensor(device, a), b, dtype=dtype, **settings))
        np.testing.assert_array_equal(raw_of(whole), raw_of(apart))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32])
def test_matrices_with_shared_weights_are_multiplied_as_one(
    device: ttnn.MeshDevice, host_threads: None, dtype: ttnn.DataType, bias: bool
) -> None:
    a, b = normal((5, 2, 96, 70), 1), tensor(device, normal((70, 128), 2))
    row = tensor(device, normal((1, 128), 3)) if bias else None
    settings = {"bias": row, "dtype": dtype, "core_grid": ttnn.CoreGrid(x=4, y=4)}
    whole = ttnn.linear(tensor(device, a), b, **settings)
    for threads in (1, 2, 3):
        ttnn.CONFIG.threads = threads
        parts = [
            ttnn.linear(tensor(device, a[i : i + 1, j : j + 1]), b, **settings) for i in range(5) for j in range(2)
        ]
        np.testing.assert_array_equal(raw_of(whole), np.concatenate([raw_of(part) for part in parts]))


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi3"])
@pytest.mark.parametrize("b", NAMES)
def test_what_is_packed_when_does_not_change_a_bit(
    device: ttnn.MeshDevice, host_threads: None, b: str, fidelity: str, transpose_b: bool
) -> None:
    # Many rows have the right operand packed first, fewer in passing, those of one tile as memory brings it; a depth of
    # more than 2048 goes in parts.
    m, k, n = 2100, 2100, 70
    left, right = normal((m, k), 1), normal((n, k) if transpose_b else (k, n), 2)
    weights = tensor(device, right, NAMES[b])

    def product(rows: slice) -> Any:
        a = tensor(device, left[rows])
        return values_of(
            ttnn.matmul(a, weights, transpose_b=transpose_b, dtype=ttnn.float32, compute_kernel_config=config(fidelity))
        )

    ttnn.CONFIG.threads = 1
    whole = product(slice(0, m))
    for rows in (slice(0, 600), slice(576, m), slice(64, 96), slice(1088, m)):
        assert np.array_equal(whole[rows], product(rows)), rows
    for threads in (2, 3, 8):
        ttnn.CONFIG.threads = threads
        assert np.array_equal(whole, product(slice(0, m))), threads


@pytest.mark.parametrize(
    "shapes", [((3, 1100, 64), (3, 64, 96)), ((3, 1100, 64), (64, 96)), ((1100, 2080), (2080, 6600))]
)
def test_many_rows_are_their_parts(device: ttnn.MeshDevice, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    # The last is wider than what is packed at a time.
    a, b = (normal(shape, seed) for seed, shape in enumerate(shapes))
    product = lambda rows: values_of(  # noqa: E731
        ttnn.matmul(tensor(device, a[..., rows, :]), tensor(device, b), dtype=ttnn.float32)
    )
    whole = product(slice(None))
    for rows in (slice(0, 64), slice(1056, None)):
        assert np.array_equal(whole[..., rows, :], product(rows)), rows


@pytest.mark.parametrize("fp32", [False, True])
@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_small_operands_multiply_as_large_ones(device: ttnn.MeshDevice, fidelity: str, fp32: bool) -> None:
    # Small ones are multiplied from their pages, large ones are packed first: of numbers of every kind, to equal bits.
    random = np.random.default_rng(5)
    left, right = (random.standard_normal(shape, np.float32) for shape in ((1152, 544), (544, 512)))
    for values in (left, right):
        places = random.integers(0, values.size, 40)
        values.reshape(-1)[places] = np.resize([0.0, -0.0, 1e-39, -1e-39, 2e-38, 3e38, np.inf, np.nan], 40)
    b = tensor(device, right)
    run = lambda values: raw_of(ttnn.matmul(tensor(device, values), b, compute_kernel_config=config(fidelity, fp32)))  # noqa: E731
    whole = run(left).reshape(1152, -1)
    for first in range(0, 1152, 288):
        np.testing.assert_array_equal(run(left[first : first + 288]), whole[first : first + 288].reshape(-1))


def special(values: Any, seed: int) -> Any:
    """Write special values into some elements, one per column.

    Infinities, NaN and values that become them.
    """
    random = np.random.default_rng(seed)
    columns = random.permutation(values.shape[1])[:6]
    rows = random.integers(0, values.shape[0], len(columns))
    values[rows, columns] = [np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-39][: len(columns)]
    return values


@pytest.mark.parametrize("level", ttnn._engine.cpu_levels())
@pytest.mark.parametrize("special_weights", [False, True])
@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("b", NAMES)
def test_few_rows_are_multiplied_as_many(
    device: ttnn.MeshDevice,
    cpu_level: None,
    host_threads: None,
    b: str,
    fidelity: str,
    special_weights: bool,
    level: str,
) -> None:
    ttnn.CONFIG.cpu_level = level

    # Few rows of one tile are multiplied without the rows of zeros below them, those of two tiles with all. The pages
    # are compared: rows of zeros that meet an infinity have no zeros. The first width has columns that follow each
    # other in memory, the second has not; the last depth has a step that is not whole.
    def product(a: Any, weights: ttnn.Tensor, fidelity: str) -> Any:
        return raw_of(
            ttnn.matmul(tensor(device, a), weights, dtype=ttnn.float32, compute_kernel_config=config(fidelity))
        )

    for k, n in ((96, 1700), (416, 320), (300, 40)):
        left, right = normal((64, k), 1), normal((k, n), 2)
        weights = tensor(device, special(right, 3) if special_weights else right, NAMES[b])
        for rows in (1, 2, 3, 4, 7, 8, 9, 16, 17, 24, 25, 32):
            values = np.concatenate([left[:rows], np.zeros((32 - rows, k), np.float32), left[32:]])
            ttnn.CONFIG.threads = 1
            whole = product(values, weights, fidelity)
            first = whole[: whole.size // 2]
            assert np.isfinite(first.view(np.float32)).all() != special_weights
            for threads in (1, 2):
                ttnn.CONFIG.threads = threads
                for some in (values[:32], left[:rows]):
                    np.testing.assert_array_equal(product(some, weights, fidelity), first, f"{k} x {n}, {rows} rows")


@pytest.mark.parametrize("number", [np.inf, np.nan, 3e38])
@pytest.mark.parametrize("b", ["bf16", "bf8", "bf4"])
def test_users_do_not_see_infinities_of_others(device: ttnn.MeshDevice, b: str, number: float) -> None:
    left, weights = normal((4, 96), 1), tensor(device, normal((96, 640), 2), NAMES[b])
    product = lambda: values_of(ttnn.matmul(tensor(device, left), weights, dtype=ttnn.float32))  # noqa: E731
    before = product()
    left[2, 50] = number
    after = product()
    assert np.array_equal(np.delete(before, 2, axis=0), np.delete(after, 2, axis=0))
    assert number == 3e38 or not np.isfinite(after[2]).any()


@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize("fp32", [False, True])
def test_few_rows_pass_bias_activation_and_packer(
    device: ttnn.MeshDevice, dtype: ttnn.DataType, fp32: bool, activation: str | None
) -> None:
    a, b, bias = normal((64, 96), 1), tensor(device, normal((96, 128), 2)), tensor(device, normal((1, 128), 3))
    a[5:32] = 0
    run = lambda values: raw_of(  # noqa: E731
        ttnn.linear(
            tensor(device, values),
            b,
            bias=bias,
            dtype=dtype,
            activation=activation,
            core_grid=ttnn.CoreGrid(x=2, y=2),
            compute_kernel_config=config("HiFi2", fp32),
        )
    )
    whole = run(a)
    np.testing.assert_array_equal(run(a[:5]), whole[: whole.size // 2])


def test_padding_along_k_does_not_reach_results(device: ttnn.MeshDevice) -> None:
    a, b = normal((32, 20), 1), normal((20, 32), 2)
    clean = ttnn.matmul(tensor(device, a), tensor(device, b))
    junk = np.full(1024, 0x7F80, np.uint16)  # infinities, in padding only
    dirty = [raw_of(tensor(device, values)).view(np.uint16).copy() for values in (a, b)]
    rows, columns = np.divmod(np.arange(256), 16)
    place = np.arange(1024)
    face, inside = place // 256, place % 256
    row, column = face // 2 * 16 + rows[inside], face % 2 * 16 + columns[inside]
    dirty[0][column >= 20] = junk[column >= 20]
    dirty[1][row >= 20] = junk[row >= 20]
    with_junk = ttnn.matmul(
        from_raw(dirty[0], (32, 20), ttnn.bfloat16, device), from_raw(dirty[1], (20, 32), ttnn.bfloat16, device)
    )
    assert np.array_equal(raw_of(clean), raw_of(with_junk))


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_infinities_and_nans_stay_in_their_row(device: ttnn.MeshDevice, special: float, fidelity: str) -> None:
    a = normal((32, 64), 1)
    a[5, 7] = special
    got = values_of(
        ttnn.matmul(tensor(device, a), tensor(device, normal((64, 32), 2)), compute_kernel_config=config(fidelity))
    )
    assert np.all(np.isinf(got[5]))  # the packer has no NaN in bfloat16
    assert np.all(np.isfinite(np.delete(got, 5, axis=0)))


def test_denormals_are_zero_and_results_have_no_negative_zero(device: ttnn.MeshDevice) -> None:
    words = np.full(1024, 0x8001, np.uint16)
    denormal = from_raw(words, (32, 32), ttnn.bfloat16, device)
    huge = tensor(device, np.full((32, 32), 2.0**126))
    for dtype in (ttnn.bfloat16, ttnn.float32):
        assert not np.any(raw_of(ttnn.matmul(denormal, huge, dtype=dtype)))
        assert not np.any(raw_of(ttnn.matmul(huge, denormal, dtype=dtype)))


def test_other_operators_are_the_same_in_both_modes(device: ttnn.MeshDevice) -> None:
    a = tensor(device, normal((64, 64), 1))
    for run in (lambda: ttnn.exp(a), lambda: ttnn.add(a, a), lambda: ttnn.softmax(a, dim=-1), lambda: ttnn.sum(a)):
        assert np.array_equal(raw_of(run()), raw_of(exact(run)))


def test_the_mode_is_a_switch(device: ttnn.MeshDevice) -> None:
    assert ttnn.CONFIG.numerics == "fast"
    a, b = tensor(device, normal((32, 512), 1)), tensor(device, normal((512, 32), 2))
    run = lambda: ttnn.matmul(a, b)  # noqa: E731
    assert not np.array_equal(raw_of(run()), raw_of(exact(run)))
