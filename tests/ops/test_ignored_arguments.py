"""Ignored official arguments: equal results in equal memory configs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED

TILES = ttnn.TILE_LAYOUT
Run = Callable[..., ttnn.Tensor]

PLACES = {
    "DRAM": ttnn.DRAM_MEMORY_CONFIG,
    "L1": ttnn.L1_MEMORY_CONFIG,
    "shards without cores": ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
    "shards that do not fit": ttnn.create_sharded_memory_config(
        (64, 40), ttnn.CoreGrid(y=8, x=8), ttnn.ShardStrategy.BLOCK
    ),
}


def _masked(tensor: ttnn.Tensor, **options: Any) -> ttnn.Tensor:
    mask = make((1, 1, 1, 40), ttnn.bfloat16, TILES, tensor.device(), seed=1)
    return ttnn.transformer.attention_softmax_(tensor, head_size=64, attention_mask=mask, **options)


IN_PLACE: dict[str, Run] = {
    "fill_implicit_tile_padding": lambda tensor, **options: ttnn.fill_implicit_tile_padding(tensor, 2.0, **options),
    "logical_not_": ttnn.logical_not_,
    "transformer.attention_softmax_": _masked,
    "uniform": lambda tensor, **options: ttnn.uniform(tensor, seed=3, **options),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("run", IN_PLACE.values(), ids=IN_PLACE)
@pytest.mark.parametrize("home", [ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG], ids=["from DRAM", "from L1"])
def test_what_works_in_place_ignores_memory_config(
    home: ttnn.MemoryConfig, run: Run, place: ttnn.MemoryConfig, device: ttnn.MeshDevice
) -> None:
    def fresh() -> ttnn.Tensor:
        return ttnn.to_memory_config(make((1, 1, 64, 40), ttnn.bfloat16, TILES, device), home)

    result = run(fresh(), memory_config=place)
    assert result.memory_config() == home
    np.testing.assert_array_equal(values_of(result), values_of(run(fresh())))


def test_padding_of_a_vector_is_filled(device: ttnn.MeshDevice) -> None:
    vector = make((50,), ttnn.bfloat16, TILES, device)
    filled = ttnn.fill_implicit_tile_padding(vector, 2.0)
    assert filled.shape == [50]
    np.testing.assert_array_equal(values_of(filled), values_of(vector))


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_tensor_on_the_device_is_not_moved_by_to_device(place: ttnn.MemoryConfig, device: ttnn.MeshDevice) -> None:
    tensor = make((64, 40), ttnn.bfloat16, TILES, device)
    for moved in (ttnn.to_device(tensor, device, memory_config=place), tensor.to(device, place)):
        assert moved.memory_config() == ttnn.DRAM_MEMORY_CONFIG
        assert moved.buffer_address() == tensor.buffer_address()


INTO: dict[str, Run] = {
    "exp": ttnn.exp,
    "add": lambda tensor, **options: ttnn.add(tensor, tensor, **options),
    "where": lambda tensor, **options: ttnn.where(tensor, tensor, tensor, **options),
    "typecast": lambda tensor, **options: ttnn.typecast(tensor, ttnn.bfloat16, **options),
    "argmax": lambda tensor, **options: ttnn.argmax(tensor, dim=-1, keepdim=True, **options),
    "quantize": lambda tensor, **options: ttnn.quantize(tensor, 0.5, 0, **options),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("run", INTO.values(), ids=INTO)
def test_output_tensor_takes_precedence_over_memory_config(
    run: Run, place: ttnn.MemoryConfig, device: ttnn.MeshDevice
) -> None:
    tensor = make((64, 40), ttnn.bfloat16, TILES, device)
    expected = run(tensor)
    output = ttnn.empty(expected.shape, expected.dtype, expected.layout, device, ttnn.L1_MEMORY_CONFIG)
    assert run(tensor, output_tensor=output, memory_config=place) is output
    assert output.memory_config() == ttnn.L1_MEMORY_CONFIG
    np.testing.assert_array_equal(values_of(output), values_of(expected))


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.int32])
@pytest.mark.parametrize("name", ["add", "subtract", "rsub", "multiply", "multiply_"])
def test_only_bfloat16_has_a_fast_and_approximate_mode(
    name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    operator = getattr(ttnn, name)
    b = make((64, 40), dtype, TILES, device, seed=1)
    for other in (b, 3 if dtype is ttnn.int32 else 0.3):
        fast, plain = (
            operator(make((64, 40), dtype, TILES, device), other, fast_and_approximate_mode=mode)
            for mode in (True, False)
        )
        np.testing.assert_array_equal(values_of(fast), values_of(plain))


@pytest.mark.parametrize("place", [ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG])
def test_a_convolution_of_an_image_in_dram_ignores_shards_without_cores(
    place: ttnn.MemoryConfig, device: ttnn.MeshDevice
) -> None:
    image = make((1, 1, 64, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    weight = ttnn.Tensor(np.random.default_rng(0).normal(size=(32, 32, 3, 3)).astype(np.float32), ttnn.bfloat16)
    sizes = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_height": 8, "input_width": 8}
    options = {"kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1), "device": device, **sizes}
    plain, placed = (
        ttnn.conv2d(input_tensor=image, weight_tensor=weight, memory_config=config, **options)
        for config in (None, place)
    )
    assert placed.memory_config() == plain.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    np.testing.assert_array_equal(values_of(placed), values_of(plain))


WITH_SUB_DEVICES = sorted(
    entry.name
    for entry in registry.entries()
    if any(param.name == "sub_device_id" for param in entry.signatures[0].params)
    and [param.kind.text for param in entry.signatures[0].params if param.default is REQUIRED] == ["ttnn.Tensor"] * 2
    and entry.name not in ("linear", "matmul", "sparse_matmul")
)


@pytest.mark.parametrize("name", WITH_SUB_DEVICES)
def test_binary_operators_take_a_sub_device(name: str, device: ttnn.MeshDevice) -> None:
    operator = registry.find(f"ttnn.{name}")
    assert operator.entry is not None
    dtype = operator.entry.dtypes[0]

    def run(**options: Any) -> ttnn.Tensor:
        result: ttnn.Tensor = operator(*(ttnn.ones((32, 64), dtype, TILES, device) for _ in "ab"), **options)
        return result

    np.testing.assert_array_equal(values_of(run(sub_device_id=ttnn.SubDeviceId(0))), values_of(run()))
    with pytest.raises(TtnnError, match=rf"^ttnn\.{name}: "):
        run(sub_device_id=ttnn.SubDeviceId(5))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32])
def test_elements_of_a_reshape_do_not_depend_on_skip_padding_fill(
    dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    tensor = make((40, 50), dtype, TILES, device)
    for target in ((50, 40), (1, 2000), (40, 50)):
        skipped = ttnn.reshape(tensor, target, skip_padding_fill=True)
        np.testing.assert_array_equal(values_of(skipped), values_of(ttnn.reshape(tensor, target)))


@pytest.mark.parametrize("strategy", [ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.BLOCK])
def test_gather_leaves_the_output_in_the_shards_of_the_input(
    strategy: ttnn.ShardStrategy, device: ttnn.MeshDevice
) -> None:
    shape = (1, 1, 256, 128)
    place = ttnn.create_sharded_memory_config(
        shape, ttnn.CoreGrid(y=2, x=2 if strategy is ttnn.ShardStrategy.BLOCK else 1), strategy
    )
    tensor = make(shape, ttnn.bfloat16, TILES, device)
    named = np.random.default_rng(0).integers(0, 128, shape).astype(np.uint32)
    index = ttnn.Tensor(named, ttnn.uint32, device=device, layout=TILES)
    expected = ttnn.gather(tensor, -1, index)
    for result in (
        ttnn.gather(ttnn.to_memory_config(tensor, place), -1, index),
        ttnn.gather(tensor, -1, index, memory_config=place),
        ttnn.gather(tensor, -1, ttnn.to_memory_config(index, place), memory_config=place),
    ):
        assert result.memory_config() == place
        np.testing.assert_array_equal(values_of(result), values_of(expected))


@pytest.mark.parametrize("name", ["input_tensor_a_activations", "input_tensor_b_activations", "activations"])
@pytest.mark.parametrize("operator", ["maximum", "minimum", "bias_gelu"])
def test_programs_of_a_tensor_and_a_number_ignore_activations(
    operator: str, name: str, device: ttnn.MeshDevice
) -> None:
    run = getattr(ttnn, operator)
    for dtype in (ttnn.bfloat16, ttnn.float32):
        tensor = make((64, 40), dtype, TILES, device)
        activated = run(tensor, -0.5, **{name: [ttnn.UnaryOpType.RELU]})
        np.testing.assert_array_equal(values_of(activated), values_of(run(tensor, -0.5)))


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat8_b, ttnn.int32])
def test_bias_gelu_of_a_number_ignores_dtype(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    tensor = make((64, 40), ttnn.bfloat16, TILES, device)
    result = ttnn.bias_gelu(tensor, 0.5, dtype=dtype)
    assert result.dtype is ttnn.bfloat16
    np.testing.assert_array_equal(values_of(result), values_of(ttnn.bias_gelu(tensor, 0.5)))


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat8_b, ttnn.int32])
def test_pools_of_whole_images_and_group_norms_ignore_dtype(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    image = make((1, 8, 8, 32), ttnn.bfloat16, TILES, device)
    rows = make((1, 1, 64, 64), ttnn.bfloat16, TILES, device)
    runs: list[Run] = [
        lambda **options: ttnn.global_avg_pool2d(image, **options),
        lambda **options: ttnn.group_norm(rows, num_groups=2, inplace=False, **options),
    ]
    for run in runs:
        result = run(dtype=dtype)
        assert result.dtype is ttnn.bfloat16
        np.testing.assert_array_equal(values_of(result), values_of(run()))


def test_fold_ignores_the_place_of_transposed_shards_in_other_calls(device: ttnn.MeshDevice) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    for transposed, shape in ((False, (1, 8, 8, 16)), (True, (1, 16, 8, 8))):
        image = make(shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
        plain = ttnn.fold(image, 2, 2, use_transpose_as_fold=transposed)
        for place in PLACES.values():
            placed = ttnn.fold(
                image, 2, 2, use_transpose_as_fold=transposed, grid_size=cores, override_memory_config=place
            )
            assert placed.memory_config() == plain.memory_config()
            np.testing.assert_array_equal(values_of(placed), values_of(plain))


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_group_norm_in_place_ignores_memory_config(place: ttnn.MemoryConfig, device: ttnn.MeshDevice) -> None:
    shape = (1, 1, 64, 64)
    home = ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)

    def run(**options: Any) -> ttnn.Tensor:
        tensor = make(shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device, memory_config=home)
        return ttnn.group_norm(tensor, num_groups=2, **options)

    result = run(memory_config=place)
    assert result.memory_config() == home
    np.testing.assert_array_equal(values_of(result), values_of(run()))


@pytest.mark.parametrize(
    "place", [ttnn.L1_MEMORY_CONFIG, ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG], ids=["L1", "shards without cores"]
)
def test_a_pad_inside_of_tiles_stays_where_the_input_is(place: ttnn.MemoryConfig, device: ttnn.MeshDevice) -> None:
    tensor = make((1, 1, 30, 50), ttnn.bfloat16, TILES, device)
    padded = ttnn.pad(tensor, [(0, 0), (0, 0), (0, 2), (0, 14)], 2.0, memory_config=place)
    assert padded.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    expected = np.pad(values_of(tensor), [(0, 0), (0, 0), (0, 2), (0, 14)], constant_values=2.0)
    np.testing.assert_array_equal(values_of(padded), expected)
    shards = ttnn.create_sharded_memory_config((32, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.WIDTH)
    moved = ttnn.pad(tensor, [(0, 0), (0, 0), (0, 2), (0, 14)], 2.0, memory_config=shards)
    assert moved.memory_config() == shards
    np.testing.assert_array_equal(values_of(moved), expected)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_gradient_that_is_passed_on_ignores_memory_config(place: ttnn.MemoryConfig, device: ttnn.MeshDevice) -> None:
    grad, x = (make((64, 40), ttnn.bfloat16, TILES, device, seed=seed) for seed in (0, 1))
    for passed_on in (
        ttnn.frac_bw(grad, x, memory_config=place),
        ttnn.assign_bw(grad, x, memory_config=place),
        ttnn.remainder_bw(grad, x, 2.0, memory_config=place),
        ttnn.fmod_bw(grad, x, 2.0, memory_config=place),
    ):
        assert passed_on[0].buffer_address() == grad.buffer_address()
        assert passed_on[0].memory_config() == ttnn.DRAM_MEMORY_CONFIG
