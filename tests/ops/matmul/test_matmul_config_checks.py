"""Unfitting program configurations, and the number named in the error.

They do not fit the operands, the cores, Dst or L1.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import ttnn
from testkit.matmul_operands import exact, integers, numbers, on, program, sharded
from ttnn.base import exceptions
from ttnn.ops.matmul.block_sizes import divisors


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
    before = device.engine.state_hash()
    with pytest.raises(exceptions.ProgramConfigError) as caught:
        ttnn.matmul(a, b, program_config=config, compute_kernel_config=kernel)
    advice, _, sentence = str(caught.value).partition("\ninfo:\n")
    assert vendor in sentence
    assert ours in advice
    assert device.engine.state_hash() == before


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
    "rows of a height sharded A of a grid": (
        sharded("HEIGHT", 1, 4, 64, 256),
        None,
        None,
        program("2D", per_core_M=4, per_core_N=1, in0_block_w=8),
        "per_core_M (4) must equal shard_shape[0] / in0_tile.get_height() (2)",
        "Only per_core_M=2 fits.",
    ),
    "matrices of a B sharded over DRAM banks": (
        None,
        sharded("HEIGHT", 4, 1, 64, 128, "DRAM"),
        None,
        program("2D", per_core_M=8, per_core_N=4, fuse_batch=False),
        "HEIGHT_SHARDED input B shard height (2 tiles) must be divisible by K (8 tiles)",
        "Only shards of input B of whole matrices, 256 rows each, fit.",
    ),
    "cores of a reused A": (
        sharded("HEIGHT", 3, 1, 128, 256),
        None,
        None,
        program("Reuse", per_core_M=4, per_core_N=4, in0_block_w=8),
        "num_output_blocks (2) must be evenly divisible by the number of cores in the input shard grid (3)",
        "A shard grid of 2 cores fits.",
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
    before = device.engine.state_hash()
    with pytest.raises(exceptions.ProgramConfigError) as caught:
        ttnn.matmul(a, b, program_config=config, memory_config=of_result)
    advice, _, sentence = str(caught.value).partition("\ninfo:\n")
    assert vendor in sentence
    assert ours in advice
    assert device.engine.state_hash() == before


def test_batches_that_do_not_fuse(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 3, 64, 64)), on(device, integers(2, 3, 64, 64))
    for right, transpose_a in ((b, False), (on(device, integers(2, 64, 64)), True)):
        with pytest.raises(exceptions.ShapeError, match=r"Only fuse_batch=False fits\."):
            ttnn.matmul(a, right, transpose_a=transpose_a, program_config=program("2D", per_core_M=2, per_core_N=2))
    config = program("2D", per_core_M=2, per_core_N=2, fuse_batch=False)
    assert ttnn.matmul(a, b, program_config=config).shape == (3, 64, 64)


def test_batches_that_a_reused_block_does_not_cover(device: ttnn.MeshDevice) -> None:
    """Three matrices of two tiles.

    A core that took two of them would leave the third one undone.
    """
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
    "shards of a row that go by columns": (
        sharded("WIDTH", 8, 1, 512, 32, columns=True),
        None,
        None,
        program("1D", per_core_M=16, per_core_N=1),
        "Input A shard orientation must be ROW_MAJOR, got: ShardOrientation::COL_MAJOR",
    ),
    "shards of a column that go by columns": (
        sharded("HEIGHT", 1, 4, 128, 256, columns=True),
        None,
        None,
        program("1D", per_core_M=4, per_core_N=4, mcast_in0=False),
        "Input A shard orientation must be ROW_MAJOR, got: ShardOrientation::COL_MAJOR",
    ),
    "B in L1 beside a block sharded A": (
        sharded("BLOCK", 4, 4, 128, 64),
        sharded("WIDTH", 4, 1, 256, 32),
        None,
        program("2D", per_core_M=4, per_core_N=1, in0_block_w=2),
        "non-DRAM width sharded input B requires input A to be interleaved or height sharded, rather than "
        "TensorMemoryLayout::BLOCK_SHARDED",
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


@pytest.mark.parametrize("part", ["per_core_M", "per_core_N"])
def test_blocks_beyond_all_memory_are_refused_at_once(device: ttnn.MeshDevice, part: str) -> None:
    """To try every number of tiles below 2^31 would take minutes."""
    a, b = on(device, integers(1, 32, 32)), on(device, integers(2, 32, 32))
    with pytest.raises(exceptions.OutOfMemoryError, match="in0_block_w=1 is the largest that fits"):
        ttnn.matmul(a, b, program_config=program("2D", **{part: 2**31}))
    assert divisors(2**31 - 1) == [2**31 - 1, 1]
    assert divisors(36) == [36, 18, 12, 9, 6, 4, 3, 2, 1]


def test_no_block_fits_l1(device: ttnn.MeshDevice) -> None:
    """A reuse core has all columns; 512 tiles do not fit."""
    a, b = on(device, integers(1, 32, 32)), on(device, integers(2, 32, 16384))
    with pytest.raises(
        exceptions.OutOfMemoryError, match=r"No per_core_M and in0_block_w fit, as per_core_N has to be N"
    ):
        ttnn.matmul(a, b, program_config=program("Reuse", per_core_N=512))


def test_a_reused_operand_in_dram_banks_does_not_choose_the_cores(device: ttnn.MeshDevice) -> None:
    """One of three banks is empty.

    In L1 the cores of the shards would have to share the blocks.
    """
    a = on(device, integers(1, 256, 256), memory_config=sharded("HEIGHT", 3, 1, 128, 256, "DRAM"))
    b = on(device, integers(2, 256, 128))
    config = program("Reuse", per_core_M=4, per_core_N=4, in0_block_w=8)
    result = ttnn.matmul(a, b, program_config=config, dtype=ttnn.float32, compute_kernel_config=exact())
    assert (numbers(result) == numbers(a) @ numbers(b)).all()


def test_shards_of_the_result_name_the_figure_that_they_come_from(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 256, 256)), on(device, integers(2, 256, 128))
    memory_config = sharded("WIDTH", 4, 1, 256, 32)
    with pytest.raises(exceptions.MemoryConfigError) as caught:
        ttnn.matmul(a, b, program_config=program("1D", per_core_M=4, per_core_N=1), memory_config=memory_config)
    advice, _, sentence = str(caught.value).partition("\ninfo:\n")
    assert "per_core_M=8 would fit." in advice
    assert sentence == "Shard height 128 must match physical height 256 for width sharded"
    config = program("1D", per_core_M=8, per_core_N=1)
    assert ttnn.matmul(a, b, program_config=config, memory_config=memory_config).memory_config() == memory_config


def test_a_height_sharded_operand_and_a_block_sharded_result(device: ttnn.MeshDevice) -> None:
    a = on(device, integers(1, 256, 256), memory_config=sharded("HEIGHT", 1, 4, 64, 256))
    b = on(device, integers(2, 256, 128))
    memory_config = sharded("BLOCK", 4, 4, 64, 32)
    config = program("2D", per_core_M=2, per_core_N=1, in0_block_w=8)
    result = ttnn.matmul(
        a, b, program_config=config, memory_config=memory_config, dtype=ttnn.float32, compute_kernel_config=exact()
    )
    assert result.memory_config() == memory_config
    assert (numbers(result) == numbers(a) @ numbers(b)).all()


@pytest.mark.parametrize(("of_a", "of_b"), [("L1", "L1"), ("DRAM", "DRAM")])
def test_a_dram_sharded_program_reads_banks(device: ttnn.MeshDevice, of_a: str, of_b: str) -> None:
    a = on(device, integers(1, 32, 256), memory_config=sharded("WIDTH", 8, 1, 32, 32, of_a))
    b = on(device, integers(2, 256, 256), memory_config=sharded("WIDTH", 8, 1, 256, 32, of_b))
    config = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=1, per_core_M=1, per_core_N=1)
    name, place = ("input_tensor_b", "L1") if of_b == "L1" else ("input_tensor_a", "DRAM")
    with pytest.raises(exceptions.UnsupportedError, match=f"a DRAM sharded program with {name} in {place} is not"):
        ttnn.matmul(a, b, program_config=config, memory_config=sharded("WIDTH", 8, 1, 32, 32, of_a))
