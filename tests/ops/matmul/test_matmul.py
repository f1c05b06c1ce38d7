"""Results, allocations and printing of `ttnn.matmul` and `ttnn.linear`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.matmul_operands import Array, exact, integers, numbers, on, program, sharded
from ttnn.base import exceptions
from ttnn.golden import matmul as golden
from ttnn.ops.matmul.matmul import plan


@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [
        ((32, 64), (64, 96)),
        ((1, 1), (1, 1)),
        ((33, 65), (65, 31)),
        ((7, 100), (100, 200)),
        ((64,), (64, 40)),
        ((40, 64), (64,)),
        ((64,), (64,)),
        ((2, 3, 40, 50), (2, 3, 50, 70)),
        ((2, 3, 40, 50), (50, 70)),
        ((2, 3, 40, 50), (1, 1, 50, 70)),
        ((1, 1, 40, 50), (2, 3, 50, 70)),
        ((40, 50), (1, 1, 50, 70)),
    ],
    ids=str,
)
def test_shapes(device: ttnn.MeshDevice, shape_a: tuple[int, ...], shape_b: tuple[int, ...]) -> None:
    a, b = integers(1, *shape_a), integers(2, *shape_b)
    options: dict[str, Any] = {"dtype": ttnn.float32, "compute_kernel_config": exact()}
    got = ttnn.matmul(on(device, a), on(device, b), **options)
    expected = a @ b
    assert tuple(got.shape) == expected.shape
    assert np.array_equal(numbers(got), expected)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_transposes(device: ttnn.MeshDevice, transpose_a: bool, transpose_b: bool, batch: tuple[int, ...]) -> None:
    a, b = integers(1, *batch, 40, 100), integers(2, *batch, 100, 72)
    stored_a = a.swapaxes(-1, -2).copy() if transpose_a else a
    stored_b = b.swapaxes(-1, -2).copy() if transpose_b else b
    got = ttnn.matmul(
        on(device, stored_a),
        on(device, stored_b),
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        dtype=ttnn.float32,
        compute_kernel_config=exact(),
    )
    assert np.array_equal(numbers(got), a @ b)


def test_operator_of_tensor(device: ttnn.MeshDevice) -> None:
    a, b = integers(1, 32, 32), integers(2, 32, 32)
    assert np.array_equal(numbers(on(device, a) @ on(device, b)), numbers(ttnn.matmul(on(device, a), on(device, b))))


@pytest.mark.parametrize("transpose_a", [False, True])
def test_padding_of_k_does_not_count(device: ttnn.MeshDevice, transpose_a: bool) -> None:
    # Padding holds junk: the reader zeroes A's columns beyond K, B's rows then meet zeros.
    a, b = integers(1, 32, 40), integers(2, 40, 32)
    padded_a = np.full((32, 64), 3.0, np.float32)
    padded_a[:, :40] = a
    stored, shape = (padded_a.T.copy(), (40, 32)) if transpose_a else (padded_a, (32, 40))
    spec = ttnn.TensorSpec.of(shape, ttnn.float32, ttnn.TILE_LAYOUT)
    junk = ttnn.Tensor(stored, ttnn.float32, layout=ttnn.TILE_LAYOUT)
    assert junk._host is not None
    dirty = ttnn.Tensor._on_host(spec, junk._host).to(device)
    right = on(device, b, ttnn.float32)
    got = ttnn.matmul(dirty, right, transpose_a=transpose_a, compute_kernel_config=exact())
    assert np.array_equal(numbers(got), a @ b)


@pytest.mark.parametrize("shape", [(96,), (1, 96), (1, 1, 96), (64, 96), (2, 1, 96), (64, 1)], ids=str)
def test_bias_is_fused_or_added(device: ttnn.MeshDevice, shape: tuple[int, ...]) -> None:
    a, b, bias = integers(1, 64, 64), integers(2, 64, 96), integers(3, *shape)
    tensors = on(device, a, ttnn.float32), on(device, b, ttnn.float32), on(device, bias, ttnn.float32)
    got = ttnn.linear(*tensors[:2], bias=tensors[2], compute_kernel_config=exact())
    expected = a @ b + bias
    # A fused bias adds no dimension to the product.
    assert np.array_equal(numbers(got), expected.reshape(got.shape))
    planned = plan(*tensors[:2], bias=tensors[2], compute_kernel_config=exact())
    assert (planned.problem.bias is not None) == (np.prod(shape) == 96 and shape[-1] == 96)


@pytest.mark.parametrize("core_grid", [None, ttnn.CoreGrid(y=2, x=2)], ids=["separate", "fused"])
def test_fused_relu_clips_the_matmul(device: ttnn.MeshDevice, core_grid: ttnn.CoreGrid | None) -> None:
    a, b = integers(1, 64, 64), integers(2, 64, 96)
    planned = plan(on(device, a), on(device, b), activation="relu", core_grid=core_grid)
    assert planned.packer_relu == (core_grid is not None)
    assert (planned.separate_activation is None) == (core_grid is not None)
    got = ttnn.matmul(
        on(device, a), on(device, b), activation="relu", core_grid=core_grid, compute_kernel_config=exact()
    )
    plain = ttnn.matmul(on(device, a), on(device, b), core_grid=core_grid, compute_kernel_config=exact())
    assert np.array_equal(numbers(got), np.maximum(numbers(plain), 0))


@pytest.mark.parametrize("shape_a", [(0, 64), (64, 0)], ids=str)
def test_empty_operands_give_zeros_without_a_program(device: ttnn.MeshDevice, shape_a: tuple[int, int]) -> None:
    a, b = np.zeros(shape_a, np.float32), np.zeros((shape_a[1], 32), np.float32)
    got = ttnn.matmul(on(device, a), on(device, b))
    assert tuple(got.shape) == (shape_a[0], 32)
    assert not numbers(got).any()
    assert device.num_program_cache_entries() == 0


def test_optional_output_takes_the_result(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 64, 64)), on(device, integers(2, 64, 64))
    output = on(device, integers(3, 64, 64), ttnn.bfloat8_b)
    got = ttnn.matmul(a, b, optional_output_tensor=output)
    assert got is output
    assert np.array_equal(numbers(output), numbers(ttnn.matmul(a, b, dtype=ttnn.bfloat8_b)))


@pytest.mark.parametrize("output", ["a", "b"])
def test_output_must_not_be_an_operand(device: ttnn.MeshDevice, output: str) -> None:
    operands = {"a": on(device, integers(1, 64, 64)), "b": on(device, integers(2, 64, 64))}
    with pytest.raises(exceptions.StorageError, match="optional_output_tensor is also"):
        ttnn.matmul(operands["a"], operands["b"], optional_output_tensor=operands[output])


def test_same_blocking_same_bits_on_any_placement(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((256, 512), (512, 256)))
    config = program("1D", (8, 1), in0_block_w=4, out_subblock_w=8, per_core_N=8, mcast_in0=False)
    fidelity = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2, packer_l1_acc=True)
    options: dict[str, Any] = {"program_config": config, "compute_kernel_config": fidelity}
    plain = ttnn.matmul(on(device, a), on(device, b), **options)
    shards = sharded("HEIGHT", 8, 1, 32, 512)
    other = ttnn.matmul(
        on(device, a, memory_config=shards),
        on(device, b, memory_config=ttnn.L1_MEMORY_CONFIG),
        memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        **options,
    )
    assert other.memory_config().memory_layout is ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    assert np.array_equal(numbers(plain), numbers(other))


def test_dram_sharded_weights(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 1536), (1536, 768)))
    config = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=6, per_core_M=1, per_core_N=3)
    got = ttnn.matmul(
        on(device, a, memory_config=sharded("WIDTH", 8, 1, 32, 192)),
        on(device, b, memory_config=sharded("WIDTH", 12, 1, 1536, 64, "DRAM")),
        program_config=config,
        memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
    )
    same_blocks = program("1D", in0_block_w=6)
    assert np.array_equal(numbers(got), numbers(ttnn.matmul(on(device, a), on(device, b), program_config=same_blocks)))


def test_dram_sharded_weights_of_more_blocks_than_the_input_has_cores(device: ttnn.MeshDevice) -> None:
    # The result's shards lie on the first cores of the grid, one for each block of columns, wherever A's shards lie.
    a, b = integers(1, 32, 256), integers(2, 256, 384)
    config = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=2, per_core_M=1, per_core_N=1)
    got = ttnn.matmul(
        on(device, a, memory_config=sharded("WIDTH", 4, 1, 32, 64)),
        on(device, b, memory_config=sharded("WIDTH", 12, 1, 256, 32, "DRAM")),
        program_config=config,
        memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.float32,
        compute_kernel_config=exact(),
    )
    shards = got.memory_config().shard_spec
    assert shards is not None
    assert shards.grid == ttnn.num_cores_to_corerangeset(12, ttnn.CoreCoord(8, 8), row_wise=True)
    assert np.array_equal(numbers(got), a @ b)


def test_a_ring_of_cores_begins_with_its_own_part(device: ttnn.MeshDevice) -> None:
    cores, part = 4, 64
    rng = np.random.default_rng(8)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 256), (256, 384)))
    ring = program("1D", (4, 1), in0_block_w=2, out_subblock_w=3, per_core_N=3, mcast_in0=False, gather_in0=True)
    shards = [sharded("WIDTH", cores, 1, *shape) for shape in ((32, part), (256, 96), (32, 96))]
    got = ttnn.matmul(
        on(device, a, memory_config=shards[0]),
        on(device, b, memory_config=shards[1]),
        program_config=ring,
        memory_config=shards[2],
    )
    assert got.memory_config() == shards[2]
    whole = program("1D", (3, 1), in0_block_w=8)
    for core in range(cores):
        turned_a, turned_b = np.roll(a, -core * part, 1), np.roll(b, -core * part, 0)
        columns = slice(core * 96, (core + 1) * 96)
        one = ttnn.matmul(on(device, turned_a), on(device, turned_b[:, columns].copy()), program_config=whole)
        assert np.array_equal(numbers(got)[:, columns], numbers(one)), core


def test_k_blocks_change_bits(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(7)
    a, b = (on(device, rng.standard_normal((128, 128)).astype(np.float32)) for _ in range(2))

    def blocked(width: int) -> Array:
        config = program("2D", (4, 4), in0_block_w=width)
        return numbers(ttnn.matmul(a, b, program_config=config))

    assert not np.array_equal(blocked(1), blocked(4))


def test_the_program_prints_itself(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 512, 1024)), on(device, integers(2, 1024, 768))
    planned = plan(a, b, bias=on(device, integers(3, 768)), activation="relu")
    assert str(planned).splitlines() == [
        "MatmulMultiCoreReuseMcast2DProgramFactory (chosen configuration)",
        "  [1, 16, 32] x [1, 32, 24] tiles, BFLOAT16 x BFLOAT16 -> BFLOAT16, INTERLEAVED/DRAM",
        "  MatmulMultiCoreReuseMultiCastProgramConfig(grid=[8, 8], in0_block_w=4, out_subblock_h=2, out_subblock_w=3, "
        "out_block_h=2, out_block_w=3, per_core_M=2, per_core_N=3, transpose_mcast=False, fuse_batch=False, "
        "fused_activation=None)",
        "  HiFi2, Dst 16 bit, packer_l1_acc=True, math_approx_mode=False, dst_full_sync_en=False",
        "  8 K blocks of 4 tiles, partial sums in BFLOAT16, accumulated in L1",
        "  cores {[0-0 - 7-7]}, 1 matrices per core",
        "  L1 in0 32768, in1 49152, out 12288, bias 6144",
        "  fused: bias",
        "  followed by: relu",
    ]


def test_untilized_results_are_rows(device: ttnn.MeshDevice) -> None:
    a, b = integers(1, 64, 128), integers(2, 128, 96)
    config = program("1D", (3, 1), in0_block_w=2, per_core_M=2, untilize_out=True)
    got = ttnn.matmul(
        on(device, a),
        on(device, b),
        dtype=ttnn.float32,
        memory_config=sharded("WIDTH", 3, 1, 64, 32),
        program_config=config,
        compute_kernel_config=exact(),
    )
    assert got.layout is ttnn.ROW_MAJOR_LAYOUT
    assert got.memory_config() == sharded("WIDTH", 3, 1, 64, 32)
    assert np.array_equal(numbers(got), a @ b)
    with pytest.raises(ttnn.UnsupportedError, match="which is not made of whole tiles: padding rows cannot be stored"):
        ttnn.matmul(
            on(device, a),
            on(device, b[:, :90].copy()),
            memory_config=sharded("WIDTH", 3, 1, 64, 32),
            program_config=config,
        )


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 1.0), (1.0, 2.0), (-0.25, 4.0)])
def test_addmm_matches_its_operators(device: ttnn.MeshDevice, dtype: ttnn.DataType, alpha: float, beta: float) -> None:
    x, a, b = integers(3, 40, 72), integers(1, 40, 50), integers(2, 50, 72)
    tensors = [on(device, values, dtype) for values in (x, a, b)]
    got = ttnn.addmm(*tensors, alpha=alpha, beta=beta)
    product = ttnn.matmul(*tensors[1:])
    steps = ttnn.add(
        product if alpha == 1.0 else ttnn.multiply(product, alpha),
        tensors[0] if beta == 1.0 else ttnn.multiply(tensors[0], beta),
    )
    assert np.array_equal(numbers(got), numbers(steps))
    reference = golden.addmm(x, a, b, alpha=alpha, beta=beta)
    assert np.max(np.abs(numbers(got) - reference)) <= (4.0 if dtype is ttnn.bfloat8_b else 1.0)
    output = on(device, np.zeros((40, 72), np.float32), dtype)
    assert ttnn.addmm(*tensors, alpha=alpha, beta=beta, optional_output_tensor=output) is output
    assert np.array_equal(numbers(output), numbers(got))


@pytest.mark.parametrize("shape", [(64, 32), (64, 1)])
def test_an_activation_fused_by_core_grid_comes_before_a_bias_that_is_not(
    device: ttnn.MeshDevice, shape: tuple[int, ...]
) -> None:
    """Official steps: the program ends with activation, then addition."""
    a, b, bias = (on(device, integers(seed, *size)) for seed, size in ((1, (64, 96)), (2, (96, 32)), (3, shape)))
    options = {"bias": bias, "activation": "relu", "dtype": ttnn.float32, "compute_kernel_config": exact()}
    product, added = numbers(a) @ numbers(b), numbers(bias)
    np.testing.assert_array_equal(numbers(ttnn.linear(a, b, **options)), np.maximum(product + added, 0))
    fused = ttnn.linear(a, b, core_grid=ttnn.CoreGrid(x=2, y=2), **options)
    np.testing.assert_array_equal(numbers(fused), np.maximum(product, 0) + added)


@pytest.mark.parametrize("l1_acc", [False, True])
@pytest.mark.parametrize("dst32", [False, True])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32], ids=str)
def test_the_bits_of_a_row_do_not_depend_on_other_rows(
    device: ttnn.MeshDevice, dtype: ttnn.DataType, dst32: bool, l1_acc: bool
) -> None:
    random = np.random.default_rng(17)
    left = random.standard_normal((32, 320), np.float32)
    # Rows come into use, and go out of it, from one K block to another.
    left[0, :128] = left[2:, 192:256] = left[5:, 64:128] = 0
    right = on(device, random.standard_normal((320, 96), np.float32))
    config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=dst32, packer_l1_acc=l1_acc
    )
    blocks = program("1D", (1, 1), in0_block_w=2, per_core_N=3)

    def product(rows: int) -> Array:
        operand = on(device, left[:rows])
        result = ttnn.matmul(operand, right, dtype=dtype, program_config=blocks, compute_kernel_config=config)
        return numbers(result)

    whole = product(32)
    assert np.abs(whole).max(axis=1).all()
    for rows in (1, 2, 5, 17):
        np.testing.assert_array_equal(product(rows), whole[:rows], strict=True)


def test_batches_in_dram_banks(device: ttnn.MeshDevice) -> None:
    """Cores multiply whole matrices; bits are those of one program."""
    a, b = (np.random.default_rng(seed).normal(size=(1, 24, *shape)) for seed, shape in ((1, (64, 64)), (2, (64, 32))))
    left = on(device, a.astype(np.float32), memory_config=sharded("HEIGHT", 4, 3, 128, 64))
    right = on(device, b.astype(np.float32), memory_config=sharded("HEIGHT", 12, 1, 128, 32, "DRAM"))
    config = ttnn.MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig(
        in0_block_w=1, per_core_M=2, per_core_N=1
    )
    place = sharded("HEIGHT", 4, 3, 128, 32)
    got = ttnn.matmul(left, right, program_config=config, memory_config=place)
    assert got.memory_config() == place
    reuse = program("Reuse", (4, 3), in0_block_w=1, per_core_M=2, per_core_N=1)
    plain = [on(device, values.astype(np.float32)) for values in (a, b)]
    assert np.array_equal(numbers(got), numbers(ttnn.matmul(*plain, program_config=reuse)))
    with pytest.raises(exceptions.MemoryConfigError, match="Input A memory layout must be HEIGHT_SHARDED"):
        ttnn.matmul(*plain, program_config=config, memory_config=place)
    with pytest.raises(exceptions.ProgramConfigError, match=r"Only per_core_M=2 fits"):
        ttnn.matmul(left, right, program_config=dataclasses.replace(config, per_core_M=1), memory_config=place)


@pytest.mark.parametrize("activation", ["gelu", "gelu_approx", "silu"])
def test_approximate_kernels_do_not_change_an_activation_with_its_own_parameter(
    activation: str, device: ttnn.MeshDevice
) -> None:
    rng = np.random.default_rng(3)
    a, b = (ttnn.Tensor(rng.standard_normal((64, 64)), ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for _ in range(2))

    def product(approximate: bool) -> np.ndarray:
        config = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.LoFi, math_approx_mode=approximate, packer_l1_acc=True
        )
        return ttnn.matmul(
            a, b, activation=activation, core_grid=ttnn.CoreGrid(y=2, x=2), compute_kernel_config=config
        ).to_numpy()

    np.testing.assert_array_equal(product(True), product(False))


def test_comparison_mode_knows_the_activation_of_a_program_configuration(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 64, 64)), on(device, integers(2, 64, 64))
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(2, 2),
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
        transpose_mcast=False,
        fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
    )
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
    ):
        for run in (ttnn.matmul, ttnn.linear):
            assert numbers(run(a, b, program_config=config)).min() == 0.0
