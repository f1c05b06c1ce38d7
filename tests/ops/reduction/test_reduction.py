"""Reductions: golden bits, chains over dimensions, options and errors.

Through the public operators.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import NAMES, from_raw, golden_cases, make, raw_of, values_of
from ttnn import _engine
from ttnn.golden import reduction
from ttnn.operation import registry

OPERATORS = {"sum": ttnn.sum, "mean": ttnn.mean, "max": ttnn.max, "min": ttnn.min}
EVERY = pytest.mark.parametrize("name", OPERATORS)


def test_reductions_match_recorded_bits(golden: Path, device: ttnn.MeshDevice) -> None:
    arrays, cases = golden_cases(golden, "reduce")
    different = []
    for case in cases:
        name, dims = case["case"], case["dim"]
        x = from_raw(arrays[f"{name}.in0"], tuple(case["shape"]), NAMES[case["dtype"]], device)
        result = OPERATORS[case["op"]](x, dims if len(dims) > 1 else dims[0], True)
        if not np.array_equal(raw_of(result), arrays[f"{name}.out"].reshape(-1)):
            different.append(name)
    assert different == []
    assert len(cases) == 74


@EVERY
@pytest.mark.usefixtures("cpu_level", "host_threads")
def test_results_do_not_depend_on_threads_and_cpu_level(name: str, device: ttnn.MeshDevice) -> None:
    tensors = [make((3, 2, 70, 100), NAMES[kind], ttnn.TILE_LAYOUT, device) for kind in ("bf16", "f32", "bf8")]
    calls = [(x, dim) for x in tensors for dim in (None, -1, -2, 0, [0, 2])]
    expected = [raw_of(OPERATORS[name](x, dim)) for x, dim in calls]
    for level in _engine.cpu_levels():
        for threads in (1, 2, 8):
            _engine.set_cpu_level(level)
            _engine.set_threads(threads)
            for (x, dim), bits in zip(calls, expected, strict=True):
                np.testing.assert_array_equal(raw_of(OPERATORS[name](x, dim)), bits)


@EVERY
@pytest.mark.parametrize("kind", ["bf16", "f32", "bf8"])
def test_padding_never_counts(name: str, kind: str, device: ttnn.MeshDevice) -> None:
    """Padding with the worst values returns the result of clean padding."""
    # Whole groups of 16, because bfloat8_b shares exponents.
    shape, values = (2, 48, 16), np.random.default_rng(3).normal(size=(2, 48, 16)).astype(np.float32)
    clean = ttnn.Tensor(values, NAMES[kind], device, ttnn.TILE_LAYOUT)
    dirty = np.full((2, 64, 32), 1e4 if name != "min" else -1e4, np.float32)
    dirty[:, :48, :16] = values
    whole = ttnn.Tensor(dirty, NAMES[kind], None, ttnn.TILE_LAYOUT)
    junk = from_raw(raw_of(whole), shape, NAMES[kind], device)
    for dim in (None, -1, -2, 0, [1, 2], [0, 2]):
        expected, got = OPERATORS[name](clean, dim), OPERATORS[name](junk, dim)
        np.testing.assert_array_equal(values_of(got), values_of(expected))


@EVERY
def test_shapes_and_layouts(name: str, device: ttnn.MeshDevice) -> None:
    operator = OPERATORS[name]
    x = make((2, 3, 40, 50), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert operator(x).shape == []
    assert operator(x, -1).shape == [2, 3, 40]
    assert operator(x, [0, 2], True).shape == [1, 3, 1, 50]
    assert operator(x, (1,)).shape == [2, 40, 50]
    rows = make((2, 3, 40, 50), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    in_rows = ttnn.ROW_MAJOR_LAYOUT if name in ("sum", "mean") else ttnn.TILE_LAYOUT
    assert operator(rows, -1).layout is in_rows
    assert operator(rows, [2, 3]).layout is ttnn.TILE_LAYOUT
    np.testing.assert_array_equal(values_of(operator(rows, -1)), values_of(operator(x, -1)))


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_output_layout(name: str, device: ttnn.MeshDevice) -> None:
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        x = make((1, 2, 40, 50), ttnn.float32, layout, device)
        for wanted in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
            for dim in (-1, -2, 1):
                result = OPERATORS[name](x, dim, output_layout=wanted)
                assert result.layout is wanted
                np.testing.assert_array_equal(values_of(result), values_of(OPERATORS[name](x, dim)))


@EVERY
def test_memory_config(name: str, device: ttnn.MeshDevice) -> None:
    operator = OPERATORS[name]
    sharded = ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)
    x = make((128, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    y = make((128, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory_config=sharded)
    for dim in (None, 0, 1):
        result = operator(y, dim, memory_config=ttnn.L1_MEMORY_CONFIG)
        assert result.memory_config() == ttnn.L1_MEMORY_CONFIG
        np.testing.assert_array_equal(values_of(result), values_of(operator(x, dim)))
    columns = ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.WIDTH)
    z = make((128, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory_config=columns)
    result = operator(z, 0, True)
    assert result.memory_config().shard_spec.shape == [32, 32]
    np.testing.assert_array_equal(values_of(result), values_of(operator(x, 0, True)))


def test_scalar_argument_multiplies_the_result(device: ttnn.MeshDevice) -> None:
    x = make((2, 64, 64), ttnn.float32, ttnn.TILE_LAYOUT, device)
    for name, operator in OPERATORS.items():
        for dim in (-1, -2, 0, None):
            expected = np.float32(-2.0) * values_of(operator(x, dim)).astype(np.float32)
            got = values_of(operator(x, dim, scalar=-2.0))
            np.testing.assert_array_equal(got, expected, err_msg=name)


def test_integers_are_multiplied_as_fp32_and_cut(device: ttnn.MeshDevice) -> None:
    values = np.array([[7, -3, 1], [5, 2**25 + 1, 9]], np.int32)
    x = ttnn.Tensor(values, ttnn.int32, device=device, layout=ttnn.TILE_LAYOUT)
    for operator, by in ((ttnn.sum, np.sum), (ttnn.max, np.max), (ttnn.min, np.min)):
        for dim in (0, 1):
            # FP32 rounds 2^25 + 1.
            exact = by(values, dim).astype(np.float32) * np.float32(0.5)
            np.testing.assert_array_equal(values_of(operator(x, dim, scalar=0.5)), np.trunc(exact).astype(np.int32))


def test_a_mean_of_several_dimensions_keeps_fp32_between_them(device: ttnn.MeshDevice) -> None:
    """In bfloat16, 2.0073 and 2.0151 would become 2 and 2.0156."""
    values = np.ones((4, 1, 32), np.float32)
    values[:, 0, 1] = 1.9375
    values[:, 0, 0] = 225, 225, 225, 226
    x = ttnn.Tensor(values, ttnn.bfloat16, device=device, layout=ttnn.TILE_LAYOUT)
    np.testing.assert_array_equal(values_of(ttnn.mean(x, (0, 2))), 8.0625)


def test_the_factor_of_a_mean_is_truncated(device: ttnn.MeshDevice) -> None:
    ones = ttnn.ones((32, 100), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    # 1/100 is 0.0099487 in bfloat16 cut off, and 100 of them are 0.99487, next to 0.9961.
    assert set(values_of(ttnn.mean(ones, -1))) == {0.99609375}


def test_block_float_minimum_is_the_negated_maximum(device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(8).normal(size=(64, 96)).astype(np.float32)
    x = ttnn.Tensor(values, ttnn.bfloat8_b, device, ttnn.TILE_LAYOUT)
    negated = ttnn.Tensor(-values_of(x).astype(np.float32), ttnn.bfloat8_b, device, ttnn.TILE_LAYOUT)
    for dim in (-1, None):
        np.testing.assert_array_equal(values_of(ttnn.min(x, dim)), -values_of(ttnn.max(negated, dim)))
    # Along the height the running row shares exponents after every tile.
    np.testing.assert_allclose(values_of(ttnn.min(x, -2)), values_of(x).min(axis=0), atol=2.0**-4)


@pytest.mark.parametrize("fidelity", [ttnn.MathFidelity.LoFi, ttnn.MathFidelity.HiFi2, ttnn.MathFidelity.HiFi4])
@pytest.mark.parametrize("wide", [True, False])
def test_configurations(fidelity: ttnn.MathFidelity, wide: bool, device: ttnn.MeshDevice) -> None:
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, fp32_dest_acc_en=wide)
    for kind in NAMES.values():
        if kind is ttnn.bfloat4_b:
            continue
        x = make((2, 64, 64), kind, ttnn.TILE_LAYOUT, device)
        for name, operator in OPERATORS.items():
            magnitude = reduction.mean_of_magnitudes if name == "mean" else reduction.sum_of_magnitudes
            for dim in (None, -1, -2, 0):
                exact = values_of(operator(x, dim))
                got = values_of(operator(x, dim, compute_kernel_config=config))
                assert np.all(np.abs(got - exact) <= 2.0**-4 * magnitude(values_of(x), dim))


def test_low_fidelity_loses_the_last_bit(device: ttnn.MeshDevice) -> None:
    x = ttnn.full((32, 32), 1.0 + 2.0**-7, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    low = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, fp32_dest_acc_en=True)
    assert set(values_of(ttnn.sum(x, -1, compute_kernel_config=low))) == {32.0}
    assert set(values_of(ttnn.sum(x, -1))) == {32.25}


def test_fast_float32_is_tf32(device: ttnn.MeshDevice) -> None:
    x = ttnn.full((32, 32), 1.0 + 2.0**-20, ttnn.float32, ttnn.TILE_LAYOUT, device)
    for operator in (ttnn.max, ttnn.min, ttnn.mean):
        assert set(values_of(operator(x, -1, fast_and_approximate_mode=True))) == {1.0}
        assert set(values_of(operator(x, -1))) == {1.0 + 2.0**-20}


def test_sums_of_bfloat16_keep_float32_between_programs(device: ttnn.MeshDevice) -> None:
    values = np.zeros((2, 3, 32, 32), np.float32)
    # 257 is no bfloat16 number, so it must not be rounded before -256 is added.
    values[0, :, 0, 0] = (256.0, 1.0, -256.0)
    values[1, 0, 0, 0] = 0.0
    x = ttnn.Tensor(values, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    for dim in ([0, 1], [1, 2], [1, 2, 3], [1, 3]):
        assert values_of(ttnn.sum(x, dim)).reshape(-1)[0] == 1.0


def test_reduction_over_no_elements(device: ttnn.MeshDevice) -> None:
    x = ttnn.empty((2, 0, 32), ttnn.float32, ttnn.TILE_LAYOUT, device)
    for name, expected in (("sum", 0.0), ("mean", np.nan)):
        np.testing.assert_array_equal(values_of(OPERATORS[name](x, 1)), np.full((2, 32), expected))
    scalar = ttnn.full((), 3.0, ttnn.float32, ttnn.TILE_LAYOUT, device)
    for operator in OPERATORS.values():
        assert values_of(operator(scalar)) == 3.0


INTEGERS = (
    "Only FLOAT32, BFLOAT16, BFLOAT8_B, and UINT32 are supported for generic reduction (INT32 is supported for "
    "MAX/MIN/SUM) - got DataType::UINT16."
)


def _refusals(device: ttnn.MeshDevice) -> list[tuple[Any, type[Exception], str]]:
    def t(shape: tuple[int, ...], dtype: ttnn.DataType = ttnn.bfloat16, rows: bool = False) -> ttnn.Tensor:
        layout = ttnn.ROW_MAJOR_LAYOUT if rows else ttnn.TILE_LAYOUT
        tensor: ttnn.Tensor = ttnn.zeros(shape, dtype, layout, device)
        return tensor

    sharded = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)
    config = ttnn.WormholeComputeKernelConfig()
    typecast = "typecast it to a floating point type first.\ninfo:\n"
    return [
        *(
            (
                lambda name=name, dim=dim, shape=shape: getattr(ttnn, name)(t(shape), dim),
                ttnn.ShapeError,
                f"ttnn.{name}: dim={named} is out of range for a tensor of rank {len(shape)}.\ninfo:\n"
                f"Unsupported dim {vendor} After possible adjustment, needs to be at least 0 and less than rank "
                f"{len(shape)}, or exactly 0 for a rank 0 tensor.",
            )
            for name in ("sum", "mean", "max", "min")
            for dim, named, vendor, shape in (
                (5, 5, "5 at index 0.", (4, 4)),
                (2, 2, "2 at index 0.", (4, 4)),
                ([0, -3], -3, "-1 at index 1.", (4, 4)),
                (-1, -1, "-1 at index 0.", ()),
            )
        ),
        (lambda: ttnn.max(t((4, 4)), [0, -2]), ttnn.ShapeError, "ttnn.max: dim=[0, -2] names a dimension twice."),
        (
            lambda: ttnn.mean(t((4, 4), ttnn.int32)),
            ttnn.DTypeError,
            f"ttnn.mean: input_tensor is INT32; {typecast}ttnn.mean does not support integer inputs - got "
            "DataType::INT32.",
        ),
        (
            lambda: ttnn.sum(t((4, 4), ttnn.uint16)),
            ttnn.DTypeError,
            f"ttnn.sum: input_tensor is UINT16; {typecast}{INTEGERS}",
        ),
        (
            lambda: ttnn.sum(t((4, 4), ttnn.uint8)),
            ttnn.DTypeError,
            f"ttnn.sum: input_tensor is UINT8; {typecast}Unsupported datatype DataType::UINT8",
        ),
        (
            lambda: ttnn.sum(t((4, 4), ttnn.uint8, rows=True)),
            ttnn.DTypeError,
            f"ttnn.sum: input_tensor is UINT8; {typecast}Can only tilize bfloat16/float32 or int32/uint32/uint16 or "
            "fp8_e4m3 tensors",
        ),
        (
            lambda: ttnn.max(t((4, 4), ttnn.uint32), scalar=2.0),
            ttnn.UnsupportedError,
            "ttnn.max: scalar=2.0 with UINT32: the official package multiplies on the FPU, whose result with 32-bit "
            "integers is not known. Multiply the result instead.",
        ),
        (
            lambda: ttnn.sum(t((4, 300), rows=True), -1),
            ttnn.UnsupportedError,
            "ttnn.sum: the program for ROW_MAJOR_LAYOUT adds more than 256 elements (300 here) in chunks whose order "
            "is not specified; convert the tensor with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
        ),
        (
            lambda: ttnn.sum(ttnn.to_memory_config(t((2, 32, 64)), sharded), 0),
            ttnn.UnsupportedError,
            "ttnn.sum: input_tensor is HEIGHT_SHARDED; only reductions of tiles over the last two dimensions with "
            "keepdim=True leave shards of a known shape. Pass memory_config for the result.",
        ),
        (
            lambda: ttnn.sum(t((4, 4)), compute_kernel_config=config),
            ttnn.UnsupportedError,
            "ttnn.sum: compute_kernel_config without math_fidelity: the official package accepts it and the bits are "
            "undefined. Set math_fidelity to LoFi, HiFi2, HiFi3 or HiFi4.",
        ),
        (
            lambda: ttnn.var(t((4, 4)), compute_kernel_config=config),
            ttnn.UnsupportedError,
            "ttnn.var: compute_kernel_config without math_fidelity: the official package accepts it and the bits are "
            "undefined. Set math_fidelity to LoFi, HiFi2, HiFi3 or HiFi4.",
        ),
        (
            lambda: ttnn.mean(t((4, 4), ttnn.bfloat8_b), output_layout=ttnn.ROW_MAJOR_LAYOUT),
            ttnn.LayoutError,
            "ttnn.mean: output_layout=ROW_MAJOR: BFLOAT8_B shares an exponent between 16 values of a tile and has no "
            "ROW_MAJOR form; reduce to TILE_LAYOUT and use ttnn.typecast.",
        ),
        (
            lambda: ttnn.sum(t((0, 4)), scalar=2.0),
            ttnn.UnsupportedError,
            "ttnn.sum: scalar=2.0 with a tensor of Shape([0, 4]): the official package ignores it where nothing is "
            "reduced. Multiply the result instead.",
        ),
        (
            lambda: ttnn.sum(ttnn.zeros((4, 4), layout=ttnn.TILE_LAYOUT)),
            ttnn.StorageError,
            "ttnn.sum: input_tensor is a host tensor of Shape([4, 4]); move it with ttnn.to_device first.\ninfo:\n"
            "Device Operations expect device tensors as inputs",
        ),
    ]


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    for call, error, text in _refusals(device):
        with pytest.raises(error) as caught:
            call()
        table = registry.supported(text.partition(":")[0])
        assert str(caught.value).replace(f" {table}", "") == text


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("shape", [(8, 16, 1, 2), (64, 3, 5, 7), (3, 5, 4, 8), (2, 40, 33), (7, 31)], ids=str)
def test_rows_have_the_bits_of_tiles(
    name: str, dtype: ttnn.DataType, shape: tuple[int, ...], device: ttnn.MeshDevice
) -> None:
    """Small row-major matrices share tiles; special values must not reach their neighbours."""
    x = make(shape, dtype, ttnn.TILE_LAYOUT, device)
    values = values_of(x)
    values.reshape(-1)[::11] = np.inf
    values.reshape(-1)[5::13] = -1e38
    tiles = ttnn.Tensor(values.astype(np.float32), dtype, device, ttnn.TILE_LAYOUT)
    rows = ttnn.to_layout(tiles, ttnn.ROW_MAJOR_LAYOUT)
    for dim in (-1, -2):
        for keepdim in (False, True):
            got, expected = (OPERATORS[name](source, dim, keepdim) for source in (rows, tiles))
            assert (got.layout, got.shape) == (ttnn.ROW_MAJOR_LAYOUT, expected.shape)
            np.testing.assert_array_equal(values_of(got), values_of(expected))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("shape", [(16, 64, 1, 1), (5, 7, 1, 1), (6, 32, 2, 2), (3, 5, 4, 3), (9, 1, 33)], ids=str)
def test_chains_of_short_rows_have_the_bits_of_tiles(
    dtype: ttnn.DataType, shape: tuple[int, ...], device: ttnn.MeshDevice
) -> None:
    """For any reduced dimensions: columns share tiles between programs."""
    bits = np.random.default_rng(3).integers(0, 2**16, shape, np.uint32) << 16
    rows = ttnn.Tensor(bits.view(np.float32), dtype, device, ttnn.ROW_MAJOR_LAYOUT)
    tiles = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    axes = range(len(shape))
    for name in ("sum", "mean", "std", "var"):
        for dim in (None, *axes, *itertools.combinations(axes, 2)):
            for keepdim in (False, True):
                got, expected = (getattr(ttnn, name)(source, dim, keepdim) for source in (rows, tiles))
                assert got.shape == expected.shape
                np.testing.assert_array_equal(values_of(got), values_of(expected), f"{name} {dim} {keepdim}")


@EVERY
@pytest.mark.parametrize("dim", [-1, -2, [-2, -1]], ids=str)
def test_shards_shrink_with_the_reduced_dimensions(name: str, dim: Any, device: ttnn.MeshDevice) -> None:
    shape = (2, 128, 160)
    x = make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    block = ttnn.create_sharded_memory_config((1, 256, 160), ttnn.CoreGrid(y=4, x=5), ttnn.ShardStrategy.BLOCK)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 1))])
    pieces = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([1, 64, 96], cores))
    sides = {"-1": (64, 32), "-2": (32, 96), "[-2, -1]": (32, 32)}[str(dim)]
    for place, cut in ((block, [64 if dim == -1 else 32, 32]), (pieces, [1, *sides])):
        result = OPERATORS[name](ttnn.to_memory_config(x, place), dim, True)
        config = result.memory_config()
        shards = config.shard_spec.shape if place is block else config.nd_shard_spec.shard_shape
        assert (list(shards), config.buffer_type) == (cut, ttnn.BufferType.L1)
        np.testing.assert_array_equal(values_of(result), values_of(OPERATORS[name](x, dim, True)))


@EVERY
def test_shards_of_unknown_shape_need_a_place(name: str, device: ttnn.MeshDevice) -> None:
    block = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK)
    x = make((2, 32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory_config=block)
    with pytest.raises(ttnn.UnsupportedError, match="Pass memory_config for the result"):
        OPERATORS[name](x, 0, True)


@pytest.mark.parametrize("keepdim", [True, False])
def test_shards_without_cores_are_on_those_of_the_input(keepdim: bool, device: ttnn.MeshDevice) -> None:
    place = ttnn.create_sharded_memory_config((4, 1, 64, 256), ttnn.CoreGrid(y=1, x=4), ttnn.ShardStrategy.WIDTH)
    x = make((4, 1, 64, 256), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory_config=place)
    anywhere = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1)
    result = ttnn.max(x, 2, keepdim=keepdim, memory_config=anywhere)
    assert result.memory_config().shard_spec.shape == [128, 64]
    np.testing.assert_array_equal(values_of(result), values_of(x).max(2, keepdims=keepdim))


def test_an_empty_list_of_dimensions_is_all_of_them(device: ttnn.MeshDevice) -> None:
    x = make((2, 33, 40), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert values_of(ttnn.mean(x, [])) == values_of(ttnn.mean(x))


@pytest.mark.parametrize("name", ["max", "min"])
def test_max_and_min_of_no_elements_raise(name: str, device: ttnn.MeshDevice) -> None:
    x = make((2, 0, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    for dim in (1, None, [0, -2]):
        with pytest.raises(ttnn.ShapeError, match=r"dimension 1 of .* has size 0.*\n.*\n.*have non-zero size"):
            OPERATORS[name](x, dim)
    assert OPERATORS[name](x, -1).shape == [2, 0]
