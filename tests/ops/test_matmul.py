"""What `ttnn.matmul` and `ttnn.linear` compute, allocate, print and refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import exceptions
from ttnn.mesh import SubDeviceId
from ttnn.ops.matmul.operator import plan

Array = np.ndarray[Any, Any]


def integers(seed: int, *shape: int) -> Array:
    """Return small integers, of which every sum here is exact in bfloat16 operands and a 32-bit Dst."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def on(device: ttnn.MeshDevice, values: Array, dtype: Any = ttnn.bfloat16, **options: Any) -> ttnn.Tensor:
    return ttnn.Tensor(values, dtype, layout=ttnn.TILE_LAYOUT).to(device, options.get("memory_config"))


def exact(fidelity: str = "HiFi4", l1_acc: bool = False) -> ttnn.WormholeComputeKernelConfig:
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity[fidelity],
        math_approx_mode=False,
        fp32_dest_acc_en=True,
        packer_l1_acc=l1_acc,
    )


def numbers(tensor: ttnn.Tensor) -> Array:
    return np.asarray(tensor.to_numpy(), np.float32)


def sharded(layout: str, x: int, y: int, height: int, width: int, buffer: str = "L1") -> ttnn.MemoryConfig:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(x - 1, y - 1))])
    return ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout[f"{layout}_SHARDED"],
        ttnn.BufferType[buffer],
        ttnn.ShardSpec(cores, (height, width), ttnn.ShardOrientation.ROW_MAJOR),
    )


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
    program = plan(*tensors[:2], bias=tensors[2], compute_kernel_config=exact())
    assert (program.problem.bias is not None) == (np.prod(shape) == 96 and shape[-1] == 96)


@pytest.mark.parametrize("core_grid", [None, ttnn.CoreGrid(y=2, x=2)], ids=["separate", "fused"])
def test_relu(device: ttnn.MeshDevice, core_grid: ttnn.CoreGrid | None) -> None:
    a, b = integers(1, 64, 64), integers(2, 64, 96)
    program = plan(on(device, a), on(device, b), activation="relu", core_grid=core_grid)
    assert program.packer_relu == (core_grid is not None)
    assert (program.separate_activation is None) == (core_grid is not None)
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
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(8, 1),
        in0_block_w=4,
        out_subblock_h=1,
        out_subblock_w=8,
        per_core_M=1,
        per_core_N=8,
        fuse_batch=True,
        mcast_in0=False,
    )
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
    same_blocks = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(8, 8),
        in0_block_w=6,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
        fuse_batch=True,
        mcast_in0=True,
    )
    assert np.array_equal(numbers(got), numbers(ttnn.matmul(on(device, a), on(device, b), program_config=same_blocks)))


def test_k_blocks_change_bits(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(7)
    a, b = (on(device, rng.standard_normal((128, 128)).astype(np.float32)) for _ in range(2))

    def blocked(width: int) -> Array:
        config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=ttnn.CoreCoord(4, 4),
            in0_block_w=width,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=1,
            per_core_N=1,
            transpose_mcast=False,
        )
        return numbers(ttnn.matmul(a, b, program_config=config))

    assert not np.array_equal(blocked(1), blocked(4))


def test_the_program_prints_itself(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 512, 1024)), on(device, integers(2, 1024, 768))
    program = plan(a, b, bias=on(device, integers(3, 768)), activation="relu")
    assert str(program).splitlines() == [
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


def test_failures_hold_no_memory(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 64, 64)), on(device, integers(2, 64, 64))
    before = device._engine.state_hash()
    calls: list[dict[str, Any]] = [
        {"activation": "no such function"},
        {"activation": "log", "core_grid": ttnn.CoreGrid(x=2, y=2)},
        {"memory_config": sharded("BLOCK", 8, 8, 32, 32), "core_grid": ttnn.CoreGrid(x=1, y=1), "dtype": ttnn.uint16},
    ]
    for options in calls:
        with pytest.raises(exceptions.TtnnError):
            ttnn.matmul(a, b, **options)
    assert device._engine.state_hash() == before


Make = Callable[..., ttnn.Tensor]

UNSUPPORTED: dict[str, tuple[Callable[[Make], Any], str]] = {
    "no fidelity": (
        lambda t: ttnn.matmul(t(32, 32), t(32, 32), compute_kernel_config=ttnn.WormholeComputeKernelConfig()),
        "compute_kernel_config without math_fidelity",
    ),
    "throttle": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            compute_kernel_config=ttnn.WormholeComputeKernelConfig(
                math_fidelity=ttnn.MathFidelity.LoFi, throttle_level=ttnn.ThrottleLevel.LEVEL_1
            ),
        ),
        "throttle_level=ThrottleLevel.LEVEL_1 changes only the time",
    ),
    "output tile": (
        lambda t: ttnn.matmul(t(32, 32), t(32, 32), output_tile=ttnn.Tile((16, 32))),
        "output_tile=.* is not modelled",
    ),
    "sub device": (
        lambda t: ttnn.matmul(t(32, 32), t(32, 32), sub_device_id=SubDeviceId(0)),
        "sub_device_id=.* is not modelled",
    ),
    "column offset": (
        lambda t: ttnn.linear(t(32, 32), t(32, 32), in0_column_offset=32),
        "in0_column_offset=32 is not modelled",
    ),
    "fused activation": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            activation="selu",
            core_grid=ttnn.CoreGrid(x=1, y=1),
            compute_kernel_config=ttnn.WormholeComputeKernelConfig(
                math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=True
            ),
        ),
        "math_approx_mode=True with the fused activation SELU",
    ),
    "untilize_out": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            program_config=ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
                compute_with_storage_grid_size=ttnn.CoreCoord(1, 1),
                in0_block_w=1,
                out_subblock_h=1,
                out_subblock_w=1,
                per_core_M=1,
                per_core_N=1,
                fuse_batch=True,
                mcast_in0=True,
                untilize_out=True,
            ),
        ),
        "untilize_out=True with an interleaved result",
    ),
    "stream_in1": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            program_config=ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
                compute_with_storage_grid_size=ttnn.CoreCoord(1, 1),
                in0_block_w=1,
                out_subblock_h=1,
                out_subblock_w=1,
                per_core_M=1,
                per_core_N=1,
                fuse_batch=True,
                mcast_in0=True,
                stream_in1=True,
            ),
        ),
        "stream_in1 is not modelled",
    ),
    "batched DRAM sharded": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            program_config=ttnn.MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig(
                in0_block_w=1, per_core_M=1, per_core_N=1
            ),
        ),
        "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig is not modelled",
    ),
    "transposed vector": (
        lambda t: ttnn.matmul(t(32), t(32, 32), transpose_a=True),
        "transpose_a of a tensor of rank 1 is not modelled",
    ),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_nothing_is_ignored(device: ttnn.MeshDevice, name: str) -> None:
    call, message = UNSUPPORTED[name]
    with pytest.raises(exceptions.UnsupportedError, match=message):
        call(lambda *shape: on(device, integers(1, *shape)))


def test_other_tiles_are_refused(device: ttnn.MeshDevice) -> None:
    flat = ttnn.Tensor(integers(1, 16, 32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, tile=ttnn.Tile((16, 32))).to(device)
    with pytest.raises(exceptions.UnsupportedError, match="input_tensor_a has tiles of 16x32"):
        ttnn.matmul(flat, on(device, integers(1, 32, 32)))


def test_host_operands_are_refused(device: ttnn.MeshDevice) -> None:
    host = ttnn.Tensor(integers(1, 32, 32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    with pytest.raises(exceptions.StorageError, match="Operands to matmul need to be on device!"):
        ttnn.matmul(host, on(device, integers(1, 32, 32)))
    with pytest.raises(exceptions.StorageError, match="input_tensor_b is a host tensor"):
        ttnn.matmul(on(device, integers(1, 32, 32)), host)


def test_operands_of_two_devices_are_refused(device: ttnn.MeshDevice) -> None:
    other = ttnn.open_device(device_id=1)
    try:
        with pytest.raises(exceptions.StorageError, match="need to be on the same device!"):
            ttnn.matmul(on(device, integers(1, 32, 32)), on(other, integers(1, 32, 32)))
    finally:
        ttnn.close_device(other)


def test_inner_dimensions_message(device: ttnn.MeshDevice) -> None:
    with pytest.raises(exceptions.ShapeError) as caught:
        ttnn.matmul(on(device, integers(1, 32, 64)), on(device, integers(1, 96, 32)))
    assert str(caught.value) == (
        "ttnn.matmul: inner dimensions differ: input_tensor_a is (32, 64) (K=64), input_tensor_b is (96, 32) (K=96), "
        "after "
        "the transposes asked for. Pass transpose_b=True if b is stored as [N, K].\n"
        "info:\n"
        "The width of the first tensor must be equal to the height of the second tensor. Mismatch: width=64 height=96"
    )


def test_room_in_l1_message(device: ttnn.MeshDevice) -> None:
    config = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(8, 8),
        in0_block_w=32,
        out_subblock_h=4,
        out_subblock_w=2,
        per_core_M=4,
        per_core_N=24,
    )
    a, b = on(device, integers(1, 512, 1024)), on(device, integers(2, 1024, 768))
    with pytest.raises(exceptions.OutOfMemoryError) as caught:
        ttnn.matmul(a, b, program_config=config)
    assert str(caught.value) == (
        "ttnn.matmul: the buffers of the program need 3866624 B of L1 per core (in0 524288, in1 3145728, out "
        "196608), there "
        "are 1393312 B. Take smaller out_block_h, out_block_w or in0_block_w.\n"
        "info:\n"
        "Statically allocated dataflow buffers on core range [0-0 - 0-3] grow to 3972448 B which is beyond max L1 "
        "size of "
        "1499136 B"
    )


def test_dividing_message_names_the_next_divisor(device: ttnn.MeshDevice) -> None:
    config = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(8, 8),
        in0_block_w=5,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
    )
    with pytest.raises(exceptions.ProgramConfigError, match=r"in0_block_w=4 would divide it") as caught:
        ttnn.matmul(on(device, integers(1, 32, 128)), on(device, integers(2, 128, 32)), program_config=config)
    assert "MatmulMultiCoreReuseProgramConfig: Kt (4) must be divisible by in0_block_w (5)" in str(caught.value)


def test_untilized_results_are_rows(device: ttnn.MeshDevice) -> None:
    a, b = integers(1, 64, 128), integers(2, 128, 96)
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(3, 1),
        in0_block_w=2,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=2,
        per_core_N=1,
        fuse_batch=True,
        mcast_in0=True,
        untilize_out=True,
    )
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
    with pytest.raises(ttnn.UnsupportedError, match="which is not made of whole tiles: rows of padding have no place"):
        ttnn.matmul(
            on(device, a),
            on(device, b[:, :90].copy()),
            memory_config=sharded("WIDTH", 3, 1, 64, 32),
            program_config=config,
        )


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 1.0), (1.0, 2.0), (-0.25, 4.0)])
def test_addmm(device: ttnn.MeshDevice, dtype: ttnn.DataType, alpha: float, beta: float) -> None:
    x, a, b = integers(3, 40, 72), integers(1, 40, 50), integers(2, 50, 72)
    tensors = [on(device, values, dtype) for values in (x, a, b)]
    got = ttnn.addmm(*tensors, alpha=alpha, beta=beta)
    product = ttnn.matmul(*tensors[1:])
    steps = ttnn.add(
        product if alpha == 1.0 else ttnn.multiply(product, alpha),
        tensors[0] if beta == 1.0 else ttnn.multiply(tensors[0], beta),
    )
    assert np.array_equal(numbers(got), numbers(steps))
    reference = ttnn.golden.addmm(x, a, b, alpha=alpha, beta=beta)
    assert np.max(np.abs(numbers(got) - reference)) <= (4.0 if dtype is ttnn.bfloat8_b else 1.0)
    output = on(device, np.zeros((40, 72), np.float32), dtype)
    assert ttnn.addmm(*tensors, alpha=alpha, beta=beta, optional_output_tensor=output) is output
    assert np.array_equal(numbers(output), numbers(got))


def test_addmm_refusals(device: ttnn.MeshDevice) -> None:
    x = on(device, integers(1, 32, 32))
    integer = ttnn.zeros((32, 32), ttnn.int32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.DTypeError) as caught:
        ttnn.addmm(x, integer, x)
    assert str(caught.value) == (
        "ttnn.addmm: mat1_tensor is INT32; typecast it first.\ninfo:\nonly ttnn.bfloat16, ttnn.float32 and "
        "ttnn.bfloat8_b types are supported for mat1_tensor"
    )
    with pytest.raises(ttnn.UnsupportedError, match=r"ttnn\.addmm: beta=0\.0: whether the official package"):
        ttnn.addmm(x, x, x, beta=0.0)
