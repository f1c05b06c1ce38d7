"""What `ttnn.matmul`, `ttnn.linear` and `ttnn.addmm` refuse, and what they say then."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from matmul_calls import integers, on, program, sharded

import ttnn
from ttnn import exceptions
from ttnn.mesh import SubDeviceId

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
            program_config=program("1D", (1, 1), untilize_out=True),
        ),
        "untilize_out=True with an interleaved result",
    ),
    "ring of interleaved tensors": (
        lambda t: ttnn.matmul(t(32, 32), t(32, 32), program_config=program("1D", (1, 1), gather_in0=True)),
        "gather_in0 with operands or an output that are not WIDTH_SHARDED in L1 is not modelled",
    ),
    "ring with a transposed operand": (
        lambda t: ttnn.matmul(
            t(32, 32), t(32, 32), transpose_b=True, program_config=program("1D", (1, 1), gather_in0=True)
        ),
        "gather_in0 with transpose_b is not modelled",
    ),
    "stream_in1": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            program_config=program("1D", (1, 1), stream_in1=True),
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
    config = program("Reuse", in0_block_w=32, out_subblock_h=4, out_subblock_w=2, per_core_M=4, per_core_N=24)
    a, b = on(device, integers(1, 512, 1024)), on(device, integers(2, 1024, 768))
    with pytest.raises(exceptions.OutOfMemoryError) as caught:
        ttnn.matmul(a, b, program_config=config)
    assert str(caught.value) == (
        "ttnn.matmul: the buffers of the program need 3866624 B of L1 per core (in0 524288, in1 3145728, out "
        "196608), there are 1393312 B. in0_block_w=8 is the largest that fits.\n"
        "info:\n"
        "Statically allocated dataflow buffers on core range [0-0 - 0-3] grow to 3972448 B which is beyond max L1 "
        "size of "
        "1499136 B"
    )


def test_dividing_message_names_the_next_divisor(device: ttnn.MeshDevice) -> None:
    config = program("Reuse", in0_block_w=5)
    with pytest.raises(exceptions.ProgramConfigError, match=r"in0_block_w=4 would divide it") as caught:
        ttnn.matmul(on(device, integers(1, 32, 128)), on(device, integers(2, 128, 32)), program_config=config)
    assert "MatmulMultiCoreReuseProgramConfig: Kt (4) must be divisible by in0_block_w (5)" in str(caught.value)


def test_addmm_refusals(device: ttnn.MeshDevice) -> None:
    x = on(device, integers(1, 32, 32))
    integer = ttnn.zeros((32, 32), ttnn.int32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.DTypeError) as caught:
        ttnn.addmm(x, integer, x)
    assert str(caught.value) == (
        "ttnn.addmm: mat1_tensor is INT32; typecast it first. ttnn.addmm takes BFLOAT16, FLOAT32, BFLOAT8_B in "
        "TILE_LAYOUT.\ninfo:\nonly ttnn.bfloat16, ttnn.float32 and ttnn.bfloat8_b types are supported for mat1_tensor"
    )
    with pytest.raises(ttnn.UnsupportedError, match=r"ttnn\.addmm: beta=0\.0: whether the official package"):
        ttnn.addmm(x, x, x, beta=0.0)


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


WIDE = {"math_fidelity": ttnn.MathFidelity.LoFi, "fp32_dest_acc_en": True}

# Configurations for 512 x 1024 times 1024 x 768 that do not fit: 16 x 32 and 32 x 24 tiles on 8 x 8 cores. The sentence
# of the official package names the figure; ours names the largest that would fit, or the only one.
MISFITS: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "grid": (
        program("2D", (9, 8)),
        {},
        "compute_with_storage_grid_size (9, 8) must fit within device grid (8, 8)",
        "compute_with_storage_grid_size=(8, 8) would fit.",
    ),
    "empty grid": (program("2D", (0, 8)), {}, "must be non-zero, got (0, 8)", "(1, 1) is the smallest."),
    "no K block": (program("2D", in0_block_w=0), {}, "in0_block_w is 0, which is not valid", "in0_block_w=1 is"),
    "K block": (
        program("2D", in0_block_w=5),
        {},
        "Kt (32) must be divisible by in0_block_w (5)",
        "in0_block_w=4 would",
    ),
    "huge K block": (program("2D", in0_block_w=1 << 40), {}, "Kt (32) must be divisible by", "in0_block_w=32 would"),
    "Dst of 16 bits": (
        program("2D", out_subblock_h=4, out_subblock_w=4, per_core_M=4, per_core_N=4),
        {},
        "out_subblock_w 4 times out_subblock_h 4 needs to be at most 8 to fit in hardware",
        "Dst holds 8 tiles with fp32_dest_acc_en=False; out_subblock_h=2 and out_subblock_w=4 is the largest",
    ),
    "Dst of 32 bits": (
        program("Reuse", out_subblock_h=2, out_subblock_w=3, per_core_M=2, per_core_N=24),
        WIDE,
        "out_subblock_w 3 times out_subblock_h 2 needs to be at most 4 to fit in hardware",
        "Dst holds 4 tiles with fp32_dest_acc_en=True; out_subblock_h=1 and out_subblock_w=4 is the largest",
    ),
    "subblock": (
        program("2D", out_subblock_w=2, per_core_M=2, per_core_N=3),
        {},
        "out_block_w (3) must be divisible by out_subblock_w (2)",
        "out_subblock_w=1 would",
    ),
    "output block": (
        program("2D", out_block_h=3, per_core_M=4, per_core_N=3),
        {},
        "per_core_M (4) must be divisible by out_block_h (3)",
        "out_block_h=2 would",
    ),
    "rows of cores": (
        program("2D", per_core_N=3),
        {},
        "Num output blocks along y (16) must be smaller than or equal to the number of rows in compute grid (8)!",
        "With per_core_M=2 there are no more than 8.",
    ),
    "columns of cores": (
        program("2D", per_core_N=3, transpose_mcast=True),
        {},
        "Num output blocks along x (16) must be smaller than or equal to the number of columns in compute grid (8)!",
        "With per_core_M=2 there are no more than 8.",
    ),
    "cores": (program("1D"), {}, "384 blocks > 64 cores", "per_core_M=16 and per_core_N=1 would fit."),
    "cores, in1": (
        program("1D", mcast_in0=False),
        {},
        "384 blocks > 64 cores",
        "per_core_M=1 and per_core_N=24 would fit.",
    ),
    "one row of blocks": (program("1D", per_core_M=8), {}, "got num_blocks_y=2", "per_core_M=16 would fit."),
    "one column of blocks": (
        program("1D", per_core_N=12, mcast_in0=False),
        {},
        "got num_blocks_x=2",
        "per_core_N=24 would fit.",
    ),
    "all columns": (
        program("Reuse", per_core_N=12),
        {},
        "N (24) must equal per_core_N (12)",
        "Only per_core_N=24",
    ),
    "divisor of M": (program("Reuse", per_core_M=3, per_core_N=24), {}, "must divide M, 16", "per_core_M=2 would."),
    "multiple of M": (
        program("Reuse", per_core_M=40, per_core_N=24),
        {},
        "must be a multiple of M, 16",
        "per_core_M=16 is the largest that fits.",
    ),
    "more rows than there are": (
        program("Reuse", per_core_M=32, per_core_N=24),
        {},
        "input a total height, 16, must be divisible by per_core_M, 32!",
        "per_core_M=16 is the largest that fits.",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_configuration_that_does_not_fit(device: ttnn.MeshDevice, name: str) -> None:
    config, compute, vendor, ours = MISFITS[name]
    a, b = on(device, integers(1, 512, 1024)), on(device, integers(2, 1024, 768))
    kernel = ttnn.WormholeComputeKernelConfig(**compute) if compute else None
    before = device._engine.state_hash()
    with pytest.raises(exceptions.ProgramConfigError) as caught:
        ttnn.matmul(a, b, program_config=config, compute_kernel_config=kernel)
    advice, _, sentence = str(caught.value).partition("\ninfo:\n")
    assert vendor in sentence
    assert ours in advice
    assert device._engine.state_hash() == before


# A left operand of 256 x 256 and a right one of 256 x 128: how each and the result are sharded, the configuration, the
# official sentence, and the figure that would fit.
MISFIT_SHARDS: dict[str, tuple[Any, Any, Any, Any, str, str]] = {
    "rows of a block sharded A": (
        sharded("BLOCK", 4, 4, 64, 64),
        None,
        None,
        program("2D", per_core_M=4, per_core_N=1, in0_block_w=2),
        "per_core_M (4) must equal shard_shape[0] / in0_tile.get_height() (2)",
        "Only per_core_M=2 fits.",
    ),
    "K of a block sharded A": (
        sharded("BLOCK", 2, 4, 64, 128),
        None,
        None,
        program("2D", per_core_M=2, per_core_N=2, in0_block_w=8),
        "shard_shape[1] / in0_tile.get_width() (4) must be divisible by in0_block_w (8)",
        "in0_block_w=4 would divide it.",
    ),
    "subblocks of a sharded result": (
        sharded("BLOCK", 2, 2, 128, 128),
        None,
        sharded("BLOCK", 2, 2, 128, 64),
        program("2D", per_core_M=4, per_core_N=2, out_subblock_h=2, in0_block_w=4),
        "out_subblock_w (1) must equal per_core_N (2) or out_subblock_h (2) must be 1",
        "out_subblock_w=2 or out_subblock_h=1 fits.",
    ),
    "shards of B": (
        None,
        sharded("WIDTH", 4, 1, 256, 32),
        None,
        program("1D", per_core_M=8, per_core_N=2),
        "shard width of input B (1) must equal per_core_N (2)",
        "Only per_core_N=1 fits.",
    ),
    "rows of a width sharded A": (
        sharded("WIDTH", 8, 1, 256, 32),
        None,
        None,
        program("1D", per_core_M=9, per_core_N=1),
        "M (8) must equal per_core_M (9)",
        "Only per_core_M=8 fits.",
    ),
    "rows of a height sharded A": (
        sharded("HEIGHT", 1, 4, 64, 256),
        None,
        None,
        program("1D", per_core_M=1, per_core_N=4, mcast_in0=False),
        "per_core_M (1) must equal shard_shape[0] / in0_tile.get_height() (2)",
        "Only per_core_M=2 fits.",
    ),
    "rows of a reused A": (
        sharded("HEIGHT", 1, 4, 64, 256),
        None,
        None,
        program("Reuse", per_core_M=4, per_core_N=4, in0_block_w=8),
        "per_core_M (4) must equal shard_shape[0] / in0_tile.get_height() (2)",
        "Only per_core_M=2 fits.",
    ),
    "K block of a reused A": (
        sharded("HEIGHT", 1, 4, 64, 256),
        None,
        None,
        program("Reuse", per_core_M=2, per_core_N=4, in0_block_w=4),
        "in0 shard_shape[1] (256) must equal in0_block_w (4) * in0_tile width (32)",
        "Only in0_block_w=8 fits.",
    ),
    "narrow shards of a reused A": (
        sharded("BLOCK", 2, 4, 64, 128),
        None,
        None,
        program("Reuse", per_core_M=2, per_core_N=4, in0_block_w=4),
        "K (256) must equal in0 shard_shape[1] (128)",
        "Only shards of input A that are 256 wide fit.",
    ),
    "rows of a reused B": (
        None,
        sharded("HEIGHT", 1, 1, 256, 128),
        None,
        program("Reuse", per_core_M=4, per_core_N=4, in0_block_w=4),
        "per_core_M (4) must be a multiple of M (8) when input B is sharded",
        "per_core_M=8 is one.",
    ),
    "parts of a reused B": (
        None,
        sharded("HEIGHT", 1, 4, 64, 128),
        None,
        program("Reuse", per_core_M=8, per_core_N=4),
        "Input B shard shape[0] (64) must be divisible by K (256)",
        "Only shards of input B of whole matrices, 256 rows each, fit.",
    ),
    "narrow shards of a reused B": (
        None,
        sharded("BLOCK", 2, 1, 256, 64),
        None,
        program("Reuse", per_core_M=8, per_core_N=4),
        "Input B shard shape[1] (64) must equal padded shape[-1] (128)",
        "Only shards of input B that are 128 wide fit.",
    ),
}


@pytest.mark.parametrize("name", MISFIT_SHARDS)
def test_a_configuration_that_does_not_fit_the_shards(device: ttnn.MeshDevice, name: str) -> None:
    of_a, of_b, of_result, config, vendor, ours = MISFIT_SHARDS[name]
    a = on(device, integers(1, 256, 256), memory_config=of_a)
    b = on(device, integers(2, 256, 128), memory_config=of_b)
    before = device._engine.state_hash()
    with pytest.raises(exceptions.ProgramConfigError) as caught:
        ttnn.matmul(a, b, program_config=config, memory_config=of_result)
    advice, _, sentence = str(caught.value).partition("\ninfo:\n")
    assert vendor in sentence
    assert ours in advice
    assert device._engine.state_hash() == before


def test_batches_that_do_not_fuse(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 3, 64, 64)), on(device, integers(2, 3, 64, 64))
    for right, transpose_a in ((b, False), (on(device, integers(2, 64, 64)), True)):
        with pytest.raises(exceptions.ShapeError, match=r"Only fuse_batch=False fits\."):
            ttnn.matmul(a, right, transpose_a=transpose_a, program_config=program("2D", per_core_M=2, per_core_N=2))
    config = program("2D", per_core_M=2, per_core_N=2, fuse_batch=False)
    assert ttnn.matmul(a, b, program_config=config).shape == (3, 64, 64)


def test_batches_that_a_reused_block_does_not_cover(device: ttnn.MeshDevice) -> None:
    """Three matrices of two tiles: a core that took two of them would leave the third one undone."""
    a, b = on(device, integers(1, 3, 64, 64)), on(device, integers(2, 3, 64, 64))
    for rows, height in ((4, 2), (8, 6), (12, 6)):
        with pytest.raises(exceptions.ProgramConfigError) as caught:
            ttnn.matmul(a, b, program_config=program("Reuse", per_core_M=rows, per_core_N=2))
        assert f"input a total height, 6, must be divisible by per_core_M, {rows}!" in str(caught.value)
        assert f"per_core_M={height} is the largest that fits." in str(caught.value)
    with pytest.raises(
        exceptions.ProgramConfigError, match=r"out_subblock_h=2 would\.\ninfo:\n.* \(3\) needs to divide M"
    ):
        ttnn.matmul(a, b, program_config=program("Reuse", per_core_M=6, per_core_N=2, out_subblock_h=3))


REFUSED_PLACES: dict[str, tuple[Any, Any, Any, Any, str]] = {
    "a height sharded result of a grid": (
        None,
        None,
        sharded("HEIGHT", 1, 4, 128, 128),
        program("2D", per_core_M=4, per_core_N=4, out_subblock_w=4),
        "Output memory layout must be BLOCK_SHARDED, got: TensorMemoryLayout::HEIGHT_SHARDED",
    ),
    "a width sharded result of reuse": (
        None,
        None,
        sharded("WIDTH", 1, 1, 512, 128),
        program("Reuse", per_core_M=16, per_core_N=4),
        "Output memory layout must not be WIDTH_SHARDED, got: TensorMemoryLayout::WIDTH_SHARDED",
    ),
    "reused operands on different cores": (
        sharded("HEIGHT", 2, 1, 256, 256),
        sharded("HEIGHT", 1, 2, 256, 128),
        None,
        program("Reuse", per_core_M=8, per_core_N=4, in0_block_w=8),
        "Input tensors A and B must have matching shard grids, got A: {[0-0 - 1-0]} vs B: {[0-0 - 0-1]}",
    ),
    "reused operands in different memories": (
        sharded("HEIGHT", 2, 1, 256, 256),
        sharded("HEIGHT", 2, 1, 256, 128, "DRAM"),
        None,
        program("Reuse", per_core_M=8, per_core_N=4, in0_block_w=8),
        "matching buffer types, got A: BufferType::L1 vs B: BufferType::DRAM",
    ),
}


@pytest.mark.parametrize("name", REFUSED_PLACES)
def test_places_that_a_program_does_not_take(device: ttnn.MeshDevice, name: str) -> None:
    of_a, of_b, of_result, config, vendor = REFUSED_PLACES[name]
    batched = isinstance(config, ttnn.MatmulMultiCoreReuseProgramConfig)
    a = on(device, integers(1, 2, 256, 256), memory_config=of_a)
    b = on(device, integers(2, 2 if batched else 1, 256, 128), memory_config=of_b)
    with pytest.raises(exceptions.MemoryConfigError, match=re.escape(vendor)):
        ttnn.matmul(a, b, program_config=config, memory_config=of_result)


# Blocks for 2048 x 2048 times 2048 x 1024, where the result goes, and the largest that fit in their place.
TOO_LARGE: dict[str, tuple[str, dict[str, int], Any, str]] = {
    "K block": (
        "2D",
        {"in0_block_w": 32, "per_core_M": 16, "per_core_N": 16},
        None,
        "there are 1393312 B. out_block_h=16, out_block_w=16 and in0_block_w=4 is the largest that fits.",
    ),
    "output block": (
        "1D",
        {"in0_block_w": 1, "per_core_M": 64, "per_core_N": 16},
        None,
        "there are 1393312 B. out_block_h=64, out_block_w=8 and in0_block_w=1 is the largest that fits.",
    ),
    "a subblock that does not divide the block that fits": (
        "1D",
        {"in0_block_w": 2, "per_core_M": 64, "per_core_N": 20, "out_subblock_w": 4},
        None,
        "out_subblock_w=1, out_block_h=64, out_block_w=5 and in0_block_w=2 is the largest that fits.",
    ),
    "rows per core": (
        "Reuse",
        {"in0_block_w": 2, "per_core_M": 64, "per_core_N": 32, "out_subblock_h": 4},
        None,
        "there are 1393312 B. per_core_M=16 and in0_block_w=1 is the largest that fits.",
    ),
    "beside a sharded result": (
        "2D",
        {"in0_block_w": 32, "per_core_M": 16, "per_core_N": 16, "out_subblock_w": 2},
        sharded("BLOCK", 2, 4, 512, 512),
        "there are 1393312 B, tensors leave 869024 B. Free or move tensors, or take smaller blocks: "
        "out_block_h=16, out_block_w=16 and in0_block_w=4 is the largest that fits.",
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_blocks_that_do_not_fit_l1(device: ttnn.MeshDevice, name: str) -> None:
    """The blocks that the error names fit, as they are named."""
    family, blocks, memory_config, advice = TOO_LARGE[name]
    a, b = on(device, integers(1, 2048, 2048)), on(device, integers(2, 2048, 1024))
    with pytest.raises(exceptions.OutOfMemoryError) as caught:
        ttnn.matmul(a, b, program_config=program(family, **blocks), memory_config=memory_config)
    assert advice in str(caught.value)
    fitting = {field: int(value) for field, value in re.findall(r"(\w+)=(\d+)", advice)}
    ttnn.matmul(a, b, program_config=program(family, **blocks | fitting), memory_config=memory_config)


def test_no_block_fits_l1(device: ttnn.MeshDevice) -> None:
    """A core of the reuse program takes all columns, and 512 tiles of them do not fit."""
    a, b = on(device, integers(1, 32, 32)), on(device, integers(2, 32, 16384))
    with pytest.raises(
        exceptions.OutOfMemoryError, match=r"No per_core_M and in0_block_w fit, as per_core_N has to be N"
    ):
        ttnn.matmul(a, b, program_config=program("Reuse", per_core_N=512))


@pytest.mark.parametrize(("x", "y"), [(0, 8), (8, 0), (-1, 8)])
def test_a_grid_without_cores(device: ttnn.MeshDevice, x: int, y: int) -> None:
    a = on(device, integers(1, 64, 64))
    with pytest.raises(exceptions.ProgramConfigError, match=rf"core_grid=\(x={x}, y={y}\) has no cores"):
        ttnn.matmul(a, a, core_grid=ttnn.CoreGrid(x=x, y=y))


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8], ids=lambda dtype: dtype.name)
def test_integers_are_refused(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    floats, integer = on(device, integers(1, 32, 32)), ttnn.zeros((32, 32), dtype, ttnn.TILE_LAYOUT, device)
    with pytest.raises(exceptions.DTypeError, match=f"operand A is {dtype.name}"):
        ttnn.matmul(integer, integer)
    with pytest.raises(exceptions.DTypeError, match=f"operand B is {dtype.name}"):
        ttnn.matmul(floats, integer)
    with pytest.raises(exceptions.DTypeError, match=f"the result cannot be {dtype.name}"):
        ttnn.matmul(floats, floats, dtype=dtype)
    with pytest.raises(exceptions.DTypeError, match=f"bias cannot be {dtype.name}"):
        ttnn.linear(floats, floats, bias=ttnn.zeros((1, 32), dtype, ttnn.TILE_LAYOUT, device))


@pytest.mark.parametrize("shape", [(33,), (2, 2, 1, 33), (3, 64, 32)], ids=str)
def test_a_bias_that_would_be_added_must_broadcast(device: ttnn.MeshDevice, shape: tuple[int, ...]) -> None:
    """The refusal comes from `linear`, before the product."""
    a, b = on(device, integers(1, 2, 64, 64)), on(device, integers(2, 2, 64, 32))
    text = re.escape(f"ttnn.linear: the bias {shape} does not broadcast over the product (2, 64, 32).\ninfo:\n")
    with pytest.raises(ttnn.ShapeError, match=text):
        ttnn.linear(a, b, bias=on(device, integers(3, *shape)))


def test_a_ring_takes_only_its_shards(device: ttnn.MeshDevice) -> None:
    a = on(device, integers(1, 32, 256), memory_config=sharded("WIDTH", 4, 1, 32, 64))
    b = on(device, integers(2, 256, 128), memory_config=sharded("WIDTH", 4, 1, 256, 32))
    memory = sharded("WIDTH", 4, 1, 32, 32)
    ring = program("1D", (4, 1), in0_block_w=1, mcast_in0=False, gather_in0=True)
    with pytest.raises(ttnn.UnsupportedError, match=r"in0_block_w=2, per_core_M=1 and per_core_N=1 are"):
        ttnn.matmul(a, b, program_config=ring, memory_config=memory)
    ring = program("1D", (4, 1), in0_block_w=2, mcast_in0=False, gather_in0=True)
    bias = on(device, integers(3, 1, 128))
    with pytest.raises(ttnn.UnsupportedError, match="gather_in0 with a fused bias"):
        ttnn.linear(a, b, bias=bias, program_config=ring, memory_config=memory)
    with pytest.raises(ttnn.UnsupportedError, match="on different cores"):
        ttnn.matmul(a, b, program_config=ring, memory_config=sharded("WIDTH", 2, 2, 32, 32))
