"""Plans match their operators' pages, tile matmuls and circular buffers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.ops.matmul.matmul import plan as program_of
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families import make_plan
from ttnn.profiler.families.tile_map import tile_pieces
from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import CARDS, Plan, walk
from ttnn.profiler.table import flops


def moved(plan: Plan) -> Counter[str]:
    """Return pages that all cores read and write."""
    counts: Counter[str] = Counter()
    for group in plan.groups:
        for steps in (group.reader, group.writer):
            for step, times in walk(steps):
                if step[0] in ("read", "write"):
                    counts[step[0]] += group.cores * times * step[2]
    return counts


def balance(plan: Plan) -> None:
    """Assert that circular buffer pages leave, or stay in shards."""
    for group in plan.groups:
        pages: Counter[tuple[str, int]] = Counter()
        for steps in (group.reader, group.compute, group.writer):
            for step, times in walk(steps):
                if step[0] in ("push", "pop"):
                    pages[step[0], step[1]] += times * step[2]
        for (kind, cb), count in pages.items():
            if kind == "pop":
                assert count <= pages["push", cb]


def tensor(shape: tuple[int, ...], device: ttnn.MeshDevice, layout: ttnn.Layout = ttnn.TILE_LAYOUT) -> ttnn.Tensor:
    return ttnn.ones(shape, dtype=ttnn.bfloat16, layout=layout, device=device)


def plan_of(call: Callable[[], Any]) -> tuple[Plan, Any]:
    with ttnn.profiler.profile() as session:
        result = call()
    (row,) = session.rows
    return row.plan, result


def plans_of(call: Callable[[], Any]) -> tuple[dict[str, Plan], Any]:
    """Return a call's plans by device operation, in execution order."""
    with ttnn.profiler.profile() as session:
        result = call()
    return {row.plan.name.removesuffix("DeviceOperation"): row.plan for row in session.rows}, result


PRODUCTS = [
    ((1, 1, 512, 512), (1, 1, 512, 512)),
    ((1, 1, 32, 1024), (1, 1, 1024, 2048)),
    ((1, 1, 2048, 256), (1, 1, 256, 64)),
    ((2, 3, 64, 96), (2, 3, 96, 64)),
    ((1, 1, 1024, 1024), (1, 1, 1024, 1024)),
    ((1, 1, 96, 4096), (1, 1, 4096, 4096)),
]


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
def test_plan_of_a_matmul_reads_and_writes_its_operands(
    left: tuple[int, ...], right: tuple[int, ...], device: ttnn.MeshDevice
) -> None:
    a, b = tensor(left, device), tensor(right, device)
    plan, result = plan_of(lambda: ttnn.matmul(a, b))
    program = program_of(a, b)
    assert plan.cores == sum(box.cores for box in program.cores)
    assert moved(plan)["write"] == result.spec.num_pages
    assert moved(plan)["read"] == a.spec.num_pages + b.spec.num_pages
    assert flops(plan) == 2 * math.prod(left[:-1]) * left[-1] * right[-1]
    expected = {buffer.name: (buffer.bytes, buffer.borrowed) for buffer in program.buffers}
    assert {cb.name: (cb.bytes, cb.borrowed) for cb in plan.cbs if cb.name in expected} == expected
    balance(plan)


def test_a_product_whose_right_operand_serves_all_matrices(device: ttnn.MeshDevice) -> None:
    a, b = tensor((4, 1, 128, 128), device), tensor((1, 1, 128, 128), device)
    plan, result = plan_of(lambda: ttnn.matmul(a, b))
    assert plan.cores == sum(box.cores for box in program_of(a, b).cores)
    assert moved(plan)["write"] == result.spec.num_pages
    assert flops(plan) == 2 * 4 * 128**3


@pytest.mark.parametrize("sharded", [False, True])
def test_a_core_that_multiplies_several_matrices(sharded: bool, device: ttnn.MeshDevice) -> None:
    """Attention over height shards: two heads per core, 3x2 cores."""
    a, b = tensor((3, 4, 64, 32), device), tensor((3, 4, 32, 64), device)
    if sharded:
        cores = ttnn.CoreGrid(x=3, y=2)
        a = ttnn.to_memory_config(a, ttnn.create_sharded_memory_config(a.shape, cores, ttnn.ShardStrategy.HEIGHT))
        b = ttnn.to_memory_config(b, ttnn.create_sharded_memory_config(b.shape, cores, ttnn.ShardStrategy.HEIGHT))
    config = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(3, 2),
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=2,
        per_core_M=4,
        per_core_N=2,
    )
    place = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG if sharded else ttnn.L1_MEMORY_CONFIG
    plan, result = plan_of(lambda: ttnn.matmul(a, b, program_config=config, memory_config=place))
    assert plan.cores == 6
    assert flops(plan) == 2 * 12 * 64 * 32 * 64
    if not sharded:
        assert moved(plan) == {"read": a.spec.num_pages + b.spec.num_pages, "write": result.spec.num_pages}
    balance(plan)


def test_an_activation_behind_a_product_is_a_device_operation(device: ttnn.MeshDevice) -> None:
    a, b = tensor((1, 1, 256, 256), device), tensor((1, 1, 256, 256), device)
    plans, result = plans_of(lambda: ttnn.linear(a, b, activation="gelu"))
    alone, _ = plan_of(lambda: ttnn.gelu(result))
    assert list(plans) == ["Matmul", "Unary"]
    assert plans["Unary"].timing == alone.timing
    # With the cores given, the product itself applies it.
    fused, _ = plan_of(lambda: ttnn.linear(a, b, activation="gelu", core_grid=ttnn.CoreGrid(x=8, y=8)))
    plain, _ = plan_of(lambda: ttnn.linear(a, b, core_grid=ttnn.CoreGrid(x=8, y=8)))
    assert fused.timing.cycles > plain.timing.cycles


def test_each_function_of_a_composition_is_a_device_operation(device: ttnn.MeshDevice) -> None:
    a = tensor((1, 1, 256, 256), device)
    with ttnn.profiler.profile() as session:
        ttnn.tanh_bw(a, a)
    assert [row.plan.name for row in session.rows] == ["UnaryDeviceOperation", "BinaryNgDeviceOperation"]


def test_products_that_ttnn_matmul_refuses_read_both_operands_for_each_step(device: ttnn.MeshDevice) -> None:
    place = ttnn.create_sharded_memory_config((1, 1, 64, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.HEIGHT)
    a = ttnn.to_memory_config(tensor((1, 1, 64, 64), device), place)
    plan, result = plan_of(lambda: ttnn.moreh_matmul(a, a))
    assert moved(plan) == {"read": result.spec.num_pages * 2 * 2, "write": result.spec.num_pages}
    assert flops(plan) == 2 * 64**3
    balance(plan)


CALLS: dict[str, tuple[Callable[[ttnn.Tensor], Any], int]] = {
    "exp": (lambda x: ttnn.exp(x), 1),
    "add": (lambda x: ttnn.add(x, x), 2),
    "softmax": (lambda x: ttnn.softmax(x, -1), 1),
    "layer_norm": (lambda x: ttnn.layer_norm(x), 1),
    "typecast": (lambda x: ttnn.typecast(x, ttnn.float32), 1),
    "to_layout": (lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), 1),
    "to_memory_config": (lambda x: ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG), 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_page_is_read_and_written_once(name: str, device: ttnn.MeshDevice) -> None:
    call, operands = CALLS[name]
    x = tensor((1, 1, 512, 320), device)
    plan, result = plan_of(lambda: call(x))
    assert moved(plan) == {"read": operands * x.spec.num_pages, "write": result.spec.num_pages}
    balance(plan)


def test_a_slice_reads_what_it_keeps(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 512, 320), device)
    plan, result = plan_of(lambda: ttnn.slice(x, (0, 0, 0, 0), (1, 1, 64, 96)))
    assert moved(plan) == {"read": result.spec.num_pages, "write": result.spec.num_pages}


def test_shards_are_worked_on_where_they_lie(device: ttnn.MeshDevice) -> None:
    place = ttnn.create_sharded_memory_config((1, 1, 256, 64), ttnn.CoreGrid(y=1, x=8), ttnn.ShardStrategy.HEIGHT)
    x = ttnn.to_memory_config(tensor((1, 1, 256, 64), device), place)
    plan, _ = plan_of(lambda: ttnn.relu(x))
    assert not moved(plan)
    assert plan.cores == 8
    assert [cb.bytes for cb in plan.cbs if cb.borrowed] == [2 * 2048] * 2


def convolution(x: ttnn.Tensor, kernel: int, **options: Any) -> Any:
    weights = ttnn.ones((64, 64, kernel, kernel), dtype=ttnn.bfloat16)
    sizes = {"in_channels": 64, "out_channels": 64, "batch_size": 1, "input_height": 32, "input_width": 32}
    size = (kernel, kernel)
    return ttnn.conv2d(
        input_tensor=x, weight_tensor=weights, device=x.device(), kernel_size=size, padding=(1, 1), **sizes, **options
    )


@pytest.mark.parametrize("kernel", [1, 3])
def test_a_convolution_multiplies_every_window_once(kernel: int, device: ttnn.MeshDevice) -> None:
    """Host weights are prepared in the call, outside device operations."""
    x = tensor((1, 1, 32 * 32, 64), device, ttnn.ROW_MAJOR_LAYOUT)
    # Block shards would pad the channels of a kernel row to tiles.
    heights = ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
    plans, result = plans_of(lambda: convolution(x, kernel, conv_config=heights))
    plan = plans["Conv2d"]
    pixels = result.shape[2]
    tile_rows = -(-pixels // 32)
    assert flops(plan) >= 2 * pixels * 64 * kernel**2 * 64
    assert flops(plan) == 2 * plan.cores * -(-tile_rows // plan.cores) * 32 * 64 * kernel**2 * 64
    assert dict(plan.attributes)["sliding_window_config"].count(f"window_hw=({kernel};{kernel})") == 1


def test_an_activation_of_a_convolution_takes_time(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 32 * 32, 64), device, ttnn.ROW_MAJOR_LAYOUT)
    plain, _ = plans_of(lambda: convolution(x, 3))
    config = ttnn.Conv2dConfig(activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU))
    fused, _ = plans_of(lambda: convolution(x, 3, conv_config=config))
    assert fused["Conv2d"].nanoseconds > plain["Conv2d"].nanoseconds
    assert {**fused, "Conv2d": None}.keys() == plain.keys()


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_a_convolution_divides_its_input_and_completes_it_first(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 32 * 32, 64), device, layout)
    plans, result = plans_of(lambda: convolution(x, 3))
    assert list(plans) == ["InterleavedToSharded", "Halo", "Conv2d", "ShardedToInterleaved"]
    (divided,), (completed,), (product,) = (plans[kind].outputs for kind in ("InterleavedToSharded", "Halo", "Conv2d"))
    cores = plans["Conv2d"].cores
    assert divided.shard is not None
    assert completed.shard is not None
    assert divided.shard[0] * cores >= 32 * 32
    # Each core's windows reach the row of pixels above its own and the one below, with a pixel beside each.
    assert completed.shard[0] == divided.shard[0] + 2 * 34 + 2 + 2 * (divided.shard[0] // 32 - 1)
    assert product.logical[2] == result.shape[2]
    assert plans["ShardedToInterleaved"].inputs == (product,)
    assert moved(plans["InterleavedToSharded"])["read"] >= x.spec.num_pages


def test_a_convolution_may_return_its_weights(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 32 * 32, 64), device, ttnn.ROW_MAJOR_LAYOUT)
    bias = ttnn.ones((1, 1, 1, 64), dtype=ttnn.bfloat16)
    options = {"bias_tensor": bias, "return_output_dim": True, "return_weights_and_bias": True}
    plans, _ = plans_of(lambda: convolution(x, 3, **options))
    alone, _ = plans_of(lambda: convolution(x, 3))
    assert list(plans) == list(alone)


def test_a_convolution_of_single_pixels_exchanges_nothing(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 32 * 32, 64), device)
    weights = ttnn.ones((64, 64, 1, 1), dtype=ttnn.bfloat16)
    sizes = {"in_channels": 64, "out_channels": 64, "batch_size": 1, "input_height": 32, "input_width": 32}
    call = {"input_tensor": x, "weight_tensor": weights, "device": device, "kernel_size": (1, 1), **sizes}
    plans, _ = plans_of(lambda: ttnn.conv2d(**call))
    assert list(plans) == ["InterleavedToSharded", "Conv2d", "ShardedToInterleaved"]


def test_a_pool_reads_its_windows(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 32 * 32, 64), device, ttnn.ROW_MAJOR_LAYOUT)
    for size in (2, 4):
        window = ([size, size], [4, 4], [0, 0], [1, 1])
        plan, result = plan_of(lambda window=window: ttnn.max_pool2d(x, 1, 32, 32, 64, *window))
        # A row of the window is one read.
        assert moved(plan)["read"] == result.shape[2] * size
        reads = [step for step, _ in walk(plan.groups[0].reader) if step[0] == "read"]
        assert [step[3] for step in reads] == [size * 64 * 2]


def test_a_reshape_of_rows_reads_and_writes_each_row_once(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 28, 6), device, ttnn.ROW_MAJOR_LAYOUT)
    plan, _ = plan_of(lambda: ttnn.reshape(x, (1, 1, 4, 42)))
    assert moved(plan) == {"read": 28, "write": 4}
    copies = [step[1] for step, _ in walk(plan.groups[0].reader) if step[0] == "instructions"]
    # Rows of 12 bytes are not aligned, and are copied byte by byte.
    assert copies == [91]
    aligned = tensor((1, 1, 8, 32), device, ttnn.ROW_MAJOR_LAYOUT)
    plan, _ = plan_of(lambda: ttnn.reshape(aligned, (1, 1, 4, 64)))
    assert not [step for step, _ in walk(plan.groups[0].reader) if step[0] == "instructions"]


def test_a_reshape_of_tiles_reads_each_tile_that_a_result_needs(device: ttnn.MeshDevice) -> None:
    # Each row of 1280 becomes a matrix of 20 rows of 64: the tiles of a matrix have 20 rows from 20 tiles.
    x = tensor((1, 1, 19, 1280), device)
    plan, _ = plan_of(lambda: ttnn.reshape(x, (1, 19, 20, 64)))
    # The map of pieces is read once for each of the 38 tiles.
    assert moved(plan)["read"] == 38 * (20 + 1)
    assert {step[2:4] for step, _ in walk(plan.groups[0].writer) if step[0] == "write"} == {(1, 32), (1, 2048)}
    # A row of a tile is two pieces, one for each face.
    assert moved(plan)["write"] == 38 * (20 * 2 + 1)
    # The map has 40 entries, made 48, of 16 bytes.
    assert [(cb.name, cb.pages, cb.page_bytes) for cb in plan.cbs] == [
        ("map", 1, 48 * 16),
        ("tiles", 1, 2048),
        ("output", 1, 2048),
    ]
    balance(plan)


@pytest.mark.parametrize(
    ("before", "after"),
    [((1, 5, 7, 48), (1, 1, 35, 48)), ((1, 1, 33, 40), (1, 3, 11, 40)), ((1, 2, 30, 6), (1, 1, 36, 10))],
)
def test_pieces_of_tiles_hold_every_element_once(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    def operand(shape: tuple[int, ...]) -> Operand:
        padded = (*shape[:2], *(-(-size // 32) * 32 for size in shape[2:]))
        return Operand(padded, shape, True, "BFLOAT16", "DRAM")

    source, output = operand(before), operand(after)
    expected: dict[int, dict[int, list[list[int]]]] = {}
    for index in range(math.prod(before)):
        (from_tile, from_offset), (to_tile, to_offset) = stored(before, index), stored(after, index)
        expected.setdefault(to_tile, {}).setdefault(from_tile, []).append([to_offset, from_offset])
    for page in range(output.tiles):
        found = tile_pieces(source, output, page)
        lengths, aligned = [], 0
        for pairs in expected[page].values():
            pairs.sort(key=lambda pair: row_and_column(pair[0]))
            starts = [i for i, pair in enumerate(pairs) if i == 0 or [x - 1 for x in pair] != pairs[i - 1]]
            lengths.append(len(starts))
            aligned += sum((pairs[i][0] - pairs[i][1]) * 2 % 16 == 0 for i in starts)
        elements = sum(len(pairs) for pairs in expected[page].values())
        assert found == (len(lengths), sum(lengths), max(lengths), aligned, elements)


def stored(shape: tuple[int, ...], index: int) -> tuple[int, int]:
    """Return the tile that holds an element, and its place there."""
    height, width = shape[-2:]
    matrix, inside = divmod(index, height * width)
    y, x = divmod(inside, width)
    tile = (matrix * -(-height // 32) + y // 32) * -(-width // 32) + x // 32
    face = y % 32 // 16 * 2 + x % 32 // 16
    return tile, face * 256 + y % 16 * 16 + x % 16


def row_and_column(offset: int) -> tuple[int, int]:
    face, inside = divmod(offset, 256)
    return face // 2 * 16 + inside // 16, face % 2 * 16 + inside % 16


def test_shards_of_tiles_are_joined_row_by_row() -> None:
    def shards(width: int) -> Operand:
        sizes = (1, 1, 256, width)
        return Operand(sizes, sizes, True, "BFLOAT16", "L1", "HEIGHT_SHARDED", (128, width), None, 2)

    inputs, output = (shards(32), shards(64)), shards(96)
    plan = make_plan(DeviceOperation("ConcatDeviceOperation", CARDS["p150"], inputs, (output,), "HiFi4"))
    # 4 rows of tiles on each of 2 cores: the parts of a row are put side by side, and the row to its place.
    assert moved(plan) == {"read": 2 * 4 * (2 + 1)}
    done = [(step[1][0], times * step[2]) for step, times in walk(plan.groups[0].compute) if step[0] == "tiles"]
    assert sum(count for name, count in done if name == "transpose") == 4 * (1 + 2 + 3)
    assert [cb.pages for cb in plan.cbs if cb.borrowed] == [4, 8, 12]
    balance(plan)


def test_operands_that_a_recorded_row_lacks_are_read_too() -> None:
    def operand(width: int) -> Operand:
        return Operand((1, 1, 64, width), (1, 1, 64, width), True, "BFLOAT16", "DRAM")

    known = (operand(64), operand(64), operand(64))
    plan = make_plan(DeviceOperation("ConcatDeviceOperation", CARDS["p150"], known, (operand(320),)))
    assert moved(plan)["read"] == moved(plan)["write"] == 20


def test_an_integral_image_reads_what_lies_above_from_its_result() -> None:
    x = Operand((1, 50, 96, 64), (1, 50, 70, 64), True, "BFLOAT16", "DRAM")
    plan = make_plan(DeviceOperation("IntImgDeviceOperation", CARDS["p150"], (x,), (x,), "HiFi4"))
    assert plan.cores == 2  # A core has the columns of a tile.
    # Every tile is read and written; those of the second and third row of tiles read the one above as well. Blocks of
    # 48 and 2 matrices begin with 2 KiB of zeros, copied by 512 bytes.
    tiles = 50 * 3 * 2
    assert moved(plan) == {"read": tiles + tiles // 3 * 2 + 2 * 3 * 2 * 4, "write": tiles}
    balance(plan)


def test_a_call_of_an_integral_image_is_one_device_operation(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 12, 40, 64), device)
    plan, _ = plan_of(lambda: ttnn.experimental.intimg(x))
    assert plan.name == "IntImgDeviceOperation"
    assert [cb.name for cb in plan.cbs][:2] == ["zeros", "tiles"]


def test_an_enlarged_image_reads_each_pixel_once(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 16, 16, 64), device, ttnn.ROW_MAJOR_LAYOUT)
    plan, _ = plan_of(lambda: ttnn.upsample(x, 2))
    assert moved(plan) == {"read": 16 * 16, "write": 32 * 32}


def test_a_softmax_of_rows_that_end_in_a_tile_fills_a_mask() -> None:
    def described(width: int) -> DeviceOperation:
        x = Operand((1, 1, 32, 32), (1, 1, 32, width), True, "BFLOAT16", "DRAM")
        return DeviceOperation("SoftmaxDeviceOperation", CARDS["n150"], (x,), (x,), "HiFi4")

    padded, whole = make_plan(described(19)), make_plan(described(32))
    assert [step[1] for step, _ in walk(padded.groups[0].writer) if step[0] == "stores"] == [32 * 32 + 13 * 32]
    assert padded.timing.cycles > whole.timing.cycles + 5 * 32 * 32


def test_functions_of_three_operands_have_their_own_time(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 1024, 1024), device)
    functions = {}
    for call in (ttnn.where, ttnn.addcmul, ttnn.addcdiv):
        plan, _ = plan_of(lambda call=call: call(x, x, x))
        work = [step[1] for step, _ in walk(plan.groups[0].compute) if step[0] == "tiles"]
        functions[call.__name__] = [op[1] for op in work if op[0] == "sfpu"]
    assert functions == {"ttnn.where": ["where"], "ttnn.addcmul": ["addcmul"], "ttnn.addcdiv": ["addcdiv"]}


def test_a_group_norm_reads_every_tile_three_times(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 1024, 64), device)
    call = {"core_grid": ttnn.CoreGrid(x=1, y=1), "inplace": False}
    few, _ = plan_of(lambda: ttnn.group_norm(x, num_groups=2, **call))
    many, _ = plan_of(lambda: ttnn.group_norm(x, num_groups=8, **call))
    brought = sum(
        group.cores * times
        for group in few.groups
        for step, times in walk(group.reader)
        if step[:2] == ("read", "dram")
    )
    assert brought == 3 * x.spec.num_pages
    assert moved(few)["write"] == x.spec.num_pages
    assert many.nanoseconds > few.nanoseconds


def test_the_cores_of_a_group_exchange_their_sums() -> None:
    def described(groups: int, cores: int) -> DeviceOperation:
        size = (1, 1, 96 * cores, 256)
        x = Operand(size, size, True, "BFLOAT16", "L1", "HEIGHT_SHARDED", (96, 256), (cores, 1), cores)
        name, attributes = "GroupNormDeviceOperation", {"num_groups": str(groups)}
        return DeviceOperation(name, CARDS["p150"], (x,), (x,), "HiFi4", cores=cores, attributes=attributes)

    def reads(plan: Plan) -> int:
        return sum(times for step, times in walk(plan.groups[0].reader) if step[0] == "instructions")

    # Of the mean and of the variance of each group, from each other core.
    assert reads(make_plan(described(16, 8))) == 2 * 16 * 7
    assert reads(make_plan(described(4, 2))) == 2 * 4 * 1
    assert reads(make_plan(described(4, 1))) == 0
    balance(make_plan(described(4, 2)))


def test_cores_share_the_rows_of_a_norm_whose_shards_divide_its_columns(device: ttnn.MeshDevice) -> None:
    x = tensor((1, 1, 32, 2048), device)
    grid = ttnn.CoreGrid(x=8, y=1)
    shards = ttnn.create_sharded_memory_config(x.shape, grid, ttnn.ShardStrategy.WIDTH)
    config = ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(8, 1), subblock_w=1, block_h=1, block_w=8, inplace=False
    )
    place = ttnn.to_memory_config(x, shards)
    for norm in (ttnn.layer_norm, ttnn.rms_norm):
        alone, _ = plan_of(lambda norm=norm: norm(x))
        shared, _ = plan_of(lambda norm=norm: norm(place, program_config=config, memory_config=shards))
        assert (alone.cores, shared.cores) == (1, 8)
        assert shared.timing.cycles < alone.timing.cycles
        # What the cores find of a row goes to one of them, and its sum to all.
        assert moved(shared)["read"] >= 8
        balance(shared)


@pytest.mark.parametrize("positions", [64, 2048])
def test_a_token_touches_a_row_of_tiles_of_every_user(positions: int, device: ttnn.MeshDevice) -> None:
    cache, new = tensor((8, 2, positions, 64), device), tensor((1, 2, 32, 64), device)
    plan, _ = plan_of(lambda: ttnn.update_cache(cache, new, 33))
    assert plan.cores == 8
    assert moved(plan)["write"] == 8 * 2 * 2
    balance(plan)


@pytest.mark.parametrize("position", [31, 255])
def test_attention_of_a_token_reads_what_is_visible(position: int, device: ttnn.MeshDevice) -> None:
    query, cache = tensor((1, 8, 4, 64), device), tensor((8, 2, 1024, 64), device)
    config = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=32)
    plan, _ = plan_of(
        lambda: ttnn.transformer.scaled_dot_product_attention_decode(
            query, cache, cache, cur_pos=[position] * 8, program_config=config
        )
    )
    assert moved(plan)["read"] == 8 * 2 * (position + 1) // 32 * 2 * 2
    balance(plan)


@pytest.mark.parametrize("traced", [False, True])
def test_attention_of_a_token_is_timed_anew_where_its_positions_change(traced: bool) -> None:
    """Positions in tensors are no call part.

    A step of a trace reads them each time.
    """
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)
    try:
        query, cache = tensor((1, 1, 4, 64), device), tensor((1, 2, 1024, 64), device)
        config = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=32)
        place = ttnn.Tensor(np.zeros(1, np.int32), ttnn.int32, device=device)

        def step() -> None:
            ttnn.transformer.scaled_dot_product_attention_decode(
                query, cache, cache, cur_pos_tensor=place, program_config=config
            )

        run = step
        if traced:
            step()
            trace = ttnn.begin_trace_capture(device, cq_id=0)
            step()
            ttnn.end_trace_capture(device, trace, cq_id=0)
            run = partial(ttnn.execute_trace, device, trace, cq_id=0, blocking=True)
        with ttnn.profiler.profile() as session:
            for position in (31, 255, 31):
                ttnn.copy_host_to_device_tensor(ttnn.Tensor(np.full(1, position, np.int32), ttnn.int32), place)
                run()
        read = [moved(row.plan)["read"] for row in session.rows]
    finally:
        ttnn.close_device(device)
    assert read == [2 * tiles * 2 * 2 for tiles in (1, 8, 1)]


def test_a_prompt_takes_its_own_pages_of_a_cache(device: ttnn.MeshDevice) -> None:
    cache, new = tensor((8, 2, 2048, 64), device), tensor((1, 2, 128, 64), device)
    plan, _ = plan_of(lambda: ttnn.fill_cache(cache, new, 3))
    assert moved(plan) == {"read": 2 * 4 * 2, "write": 2 * 4 * 2}
