"""Memory configurations, shards, and the pages that follow from them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError, LayoutError, MemoryConfigError

HEIGHT, WIDTH, BLOCK = ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK
ROWS, COLUMNS = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR


def cores(x: int, y: int) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (x - 1, y - 1))])


def sharded(
    layout: str, grid: ttnn.CoreRangeSet, shape: list[int], orientation: ttnn.ShardOrientation = ROWS
) -> ttnn.MemoryConfig:
    spec = ttnn.ShardSpec(grid, shape, orientation)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout[f"{layout}_SHARDED"], ttnn.BufferType.L1, spec)


def test_default_is_interleaved_dram() -> None:
    config = ttnn.MemoryConfig()
    assert config == ttnn.DRAM_MEMORY_CONFIG != ttnn.L1_MEMORY_CONFIG
    assert (config.interleaved, config.is_sharded(), config.shard_spec) == (True, False, None)
    assert repr(config) == (
        "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,"
        "shard_spec=std::nullopt,nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0,per_core_allocation=0,"
        "range_lockstep_allocation=0)"
    )
    assert config.to_json() == (
        '{"buffer_type":0,"created_with_nd_shard_spec":false,"memory_layout":0,"per_core_allocation":false}'
    )


def test_shard_spec_text_and_json() -> None:
    spec = ttnn.ShardSpec(ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 2))]), [32, 64], ROWS)
    assert repr(spec) == (
        'ShardSpec{grid=[{"start":{"x":0,"y":0},"end":{"x":1,"y":2}], shape=[32, 64], '
        "orientation=ShardOrientation::ROW_MAJOR}"
    )
    assert spec.num_cores() == 6
    assert ttnn.ShardSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize("orientation", [ROWS, COLUMNS])
def test_sharded_configurations_survive_json_and_pickle(orientation: ttnn.ShardOrientation) -> None:
    config = sharded("BLOCK", cores(2, 3), [32, 64], orientation)
    assert ttnn.MemoryConfig.from_json(config.to_json()) == config
    assert pickle.loads(pickle.dumps(config)) == config
    assert hash(ttnn.MemoryConfig.from_json(config.to_json())) == hash(config)


def test_nd_shards_can_be_described() -> None:
    shards = ttnn.NdShardSpec([1, 32, 32], cores(2, 2))
    config = ttnn.MemoryConfig(ttnn.BufferType.L1, shards)
    assert config.is_sharded()
    assert config.nd_shard_spec == shards
    assert ttnn.MemoryConfig.from_json(config.to_json()) == config


def test_a_configuration_does_not_change_with_the_shard_spec_it_was_made_from() -> None:
    spec = ttnn.ShardSpec(cores(2, 1), [32, 32], ROWS)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    spec.shape = [64, 64]
    assert config.shard_spec is not None
    config.shard_spec.shape[0] = 96
    assert config.shard_spec.shape == [32, 32]


def test_interleaved_with_shards_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Sharding spec must not be set for interleaved memory layout"):
        ttnn.MemoryConfig(
            ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1, ttnn.ShardSpec(cores(1, 1), [32, 32], ROWS)
        )
    for bad in (("L1",), (ttnn.TensorMemoryLayout.HEIGHT_SHARDED, "L1"), (ttnn.BufferType.L1,)):
        with pytest.raises(ArgumentError, match=r"MemoryConfig\("):
            ttnn.MemoryConfig(*bad)


@pytest.mark.parametrize("name", ["per_core_allocation", "range_lockstep_allocation"])
def test_how_addresses_of_shards_are_found(name: str) -> None:
    def shards() -> ttnn.MemoryConfig:
        spec = ttnn.ShardSpec(cores(2, 1), [32, 32], ROWS)
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)

    call = f"experimental_set_{name}"
    for config, why in (
        (ttnn.MemoryConfig(), "is only supported for L1 buffers"),
        (
            ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1),
            "requires a sharded memory layout",
        ),
    ):
        with pytest.raises(ttnn.MemoryConfigError, match=f"{name} {why}"):
            getattr(config, call)(True)
        getattr(config, call)(False)
    config, other = shards(), shards()
    getattr(config, call)(True)
    assert config != other
    assert f"{name}=1" in str(config)
    assert f'"{name}":true' in config.to_json()
    assert ttnn.MemoryConfig.from_json(config.to_json()) == config
    both = {"per_core_allocation", "range_lockstep_allocation"} - {name}
    with pytest.raises(ttnn.MemoryConfigError, match="are mutually exclusive"):
        getattr(config, f"experimental_set_{both.pop()}")(True)
    getattr(config, call)(False)
    assert config == other
    assert hash(config) == hash(other)


def test_per_core_addresses_of_nd_shards_are_refused() -> None:
    config = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec((32, 32), cores(2, 1)))
    with pytest.raises(ttnn.MemoryConfigError, match="is not supported with NdShardSpec"):
        config.experimental_set_per_core_allocation(True)


@pytest.mark.parametrize(
    ("strategy", "orientation", "shape"),
    [
        (HEIGHT, None, [16, 128]),
        (WIDTH, None, [128, 16]),
        (BLOCK, ROWS, [64, 32]),
        (BLOCK, COLUMNS, [32, 64]),
    ],
)
def test_create_sharded_memory_config(strategy: Any, orientation: Any, shape: list[int]) -> None:
    config = ttnn.create_sharded_memory_config((1, 2, 64, 128), ttnn.CoreGrid(x=4, y=2), strategy, orientation)
    assert config.shard_spec is not None
    assert config.shard_spec.shape == shape
    assert config.shard_spec.orientation == (orientation or ROWS)
    assert (config.buffer_type, config.shard_spec.grid) == (ttnn.BufferType.L1, cores(4, 2))


def test_create_sharded_memory_config_with_given_shards() -> None:
    config = ttnn.create_sharded_memory_config(
        (32, 64), cores(3, 1), HEIGHT, COLUMNS, use_height_and_width_as_shard_shape=True
    )
    assert config.shard_spec == ttnn.ShardSpec(cores(3, 1), [64, 32], COLUMNS)
    grids = [ttnn.CoreGrid(x=4, y=2), ttnn.CoreGrid(x=2, y=1)]
    l_shape = ttnn.create_sharded_memory_config((32, 64), grids, HEIGHT, use_height_and_width_as_shard_shape=True)
    assert l_shape.shard_spec is not None
    assert repr(l_shape.shard_spec.grid) == "{[0-0 - 3-1], [0-2 - 1-2]}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (((65, 128), ttnn.CoreGrid(x=4, y=2), HEIGHT), "Invalid sharding core_grid"),
        (((64, 130), ttnn.CoreGrid(x=4, y=2), BLOCK), "Invalid sharding core_grid"),
        (("64", ttnn.CoreGrid(x=1, y=1), HEIGHT), "Invalid input shape"),
        (((64, 64), 7, HEIGHT), "Invalid core_grid type"),
        (((64, 64), [ttnn.CoreGrid(x=1, y=1)], HEIGHT), "Invalid core_grid"),
        (((64, 64), ttnn.CoreGrid(x=1, y=1), "HEIGHT"), "Invalid sharding strategy"),
        (((64, 64), ttnn.CoreGrid(x=1, y=1), HEIGHT, 3), "Invalid shard orientation"),
        (((64, 64), cores(1, 1), HEIGHT), "height and width must be shard shape with CoreRangeSet"),
    ],
)
def test_create_sharded_memory_config_refuses(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(RuntimeError, match=sentence) as caught:
        ttnn.create_sharded_memory_config(*arguments)
    assert isinstance(caught.value, MemoryConfigError)


def test_create_sharded_memory_config_underscore_rounds_up() -> None:
    make = ttnn.create_sharded_memory_config_

    def shard(*arguments: Any, **options: Any) -> list[int]:
        spec = make(*arguments, **options).shard_spec
        assert spec is not None
        return spec.shape

    assert shard((65, 128), cores(4, 1), HEIGHT, ROWS) == [17, 128]
    assert shard((65, 100), cores(2, 2), ttnn.TensorMemoryLayout.BLOCK_SHARDED, ROWS, tile_layout=True) == [64, 50]
    assert shard((64, 100), cores(3, 1), WIDTH, ROWS) == [64, 34]
    with pytest.raises(RuntimeError, match="Invalid type of shard orientation"):
        make((64, 64), cores(1, 1), HEIGHT, None)
    with pytest.raises(RuntimeError, match="Invalid sharding scheme"):
        make((64, 64), cores(1, 1), ttnn.TensorMemoryLayout.INTERLEAVED, ROWS)
    with pytest.raises(RuntimeError, match="Invalid type of sharding strategy"):
        make((64, 64), cores(1, 1), "HEIGHT", ROWS)
    with pytest.raises(RuntimeError, match="Incorrect tensor shape"):
        make((10, 10), cores(1, 1), HEIGHT, ROWS, tile_layout=True)
    holed = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0)), ttnn.CoreRange((1, 1), (1, 1))])
    with pytest.raises(RuntimeError, match="Invalid CoreRangeSet for block sharding strategy"):
        make((64, 64), holed, BLOCK, ROWS)


# TensorSpec: padding and pages.


@pytest.mark.parametrize(
    ("shape", "layout", "padded", "grid"),
    [
        ([], ttnn.ROW_MAJOR_LAYOUT, [1], (1, 1)),
        ([], ttnn.TILE_LAYOUT, [32, 32], (1, 1)),
        ([5], ttnn.TILE_LAYOUT, [32, 32], (1, 1)),
        ([2, 3, 5], ttnn.ROW_MAJOR_LAYOUT, [2, 3, 5], (6, 1)),
        ([2, 33, 65], ttnn.TILE_LAYOUT, [2, 64, 96], (4, 3)),
        ([0, 4], ttnn.TILE_LAYOUT, [0, 32], (0, 0)),
        ([4, 0], ttnn.ROW_MAJOR_LAYOUT, [4, 0], (0, 0)),
    ],
)
def test_spec_computes_padding_and_pages(
    shape: list[int], layout: ttnn.Layout, padded: list[int], grid: tuple[int, int]
) -> None:
    spec = ttnn.TensorSpec(ttnn.Shape(shape), ttnn.bfloat16, layout)
    assert (spec.padded_shape, spec.page_grid, spec.num_pages) == (padded, grid, grid[0] * grid[1])
    assert spec.raw_bytes == spec.num_pages * spec.page_bytes


def test_rows_are_padded_to_whole_shards() -> None:
    config = sharded("WIDTH", cores(3, 1), [4, 16])
    spec = ttnn.TensorSpec.of([4, 40], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, config)
    assert (spec.padded_shape, spec.page_grid, spec.page_bytes) == ([4, 48], (4, 3), 32)


def test_tensor_spec_accepts_its_three_signatures() -> None:
    shape = ttnn.Shape([64, 64])
    plain = ttnn.TensorSpec(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.BufferType.L1, ttnn.Tile([16, 32]))
    assert (plain.memory_config, plain.tile) == (ttnn.L1_MEMORY_CONFIG, ttnn.Tile([16, 32]))
    shards = ttnn.ShardSpec(cores(2, 1), [32, 64], ROWS)
    cut = ttnn.TensorSpec(
        shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.TensorMemoryLayout.HEIGHT_SHARDED, shards, ttnn.BufferType.L1
    )
    assert cut.memory_config == sharded("HEIGHT", cores(2, 1), [32, 64])
    nd = ttnn.TensorSpec(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.NdShardSpec([32, 32], cores(2, 2)))
    assert nd.memory_config.nd_shard_spec is not None
    assert pickle.loads(pickle.dumps(cut)) == cut
    assert hash(cut) == hash(ttnn.TensorSpec.of(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, cut.memory_config))


def test_sharding_methods() -> None:
    spec = ttnn.TensorSpec(ttnn.Shape([2, 40, 100]), ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.BufferType.L1)

    def shard(of: ttnn.TensorSpec) -> list[int]:
        found = of.memory_config.shard_spec
        assert found is not None
        return found.shape

    assert shard(spec.height_sharded(cores(2, 2))) == [32, 128]
    assert shard(spec.width_sharded(cores(3, 1))) == [128, 64]
    assert shard(spec.block_sharded(ttnn.CoreRange((0, 0), (1, 3)))) == [32, 64]
    assert shard(spec.block_sharded(ttnn.CoreRange((0, 0), (3, 1)), COLUMNS)) == [32, 64]
    nd = spec.sharded_across_dims_except([-1], cores(2, 2)).memory_config.nd_shard_spec
    assert nd is not None
    assert nd.shard_shape == [1, 32, 128]


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (sharded("HEIGHT", cores(2, 1), [32, 32]), "Shard width 32 must match physical width 64 for height sharded"),
        (
            sharded("HEIGHT", cores(1, 1), [32, 64]),
            "Number of shards along height 2 must not exceed number of cores 1",
        ),
        (sharded("WIDTH", cores(2, 1), [32, 32]), "Shard height 32 must match physical height 64 for width sharded"),
        (sharded("WIDTH", cores(1, 1), [64, 32]), "Number of shards along width 2 must not exceed number of cores 1"),
        (sharded("HEIGHT", cores(4, 1), [20, 64]), "Physical shard shape (20, 64) must be tile {32, 32} sized!"),
        (
            sharded("BLOCK", cores(2, 1), [32, 32]),
            "Number of shards along height 2 must not exceed number of rows 1 for row major orientation!",
        ),
        (
            sharded("BLOCK", cores(2, 1), [32, 32], COLUMNS),
            "Number of shards along width 2 must not exceed number of rows 1 for column major orientation!",
        ),
        (
            sharded(
                "BLOCK",
                ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 1)), ttnn.CoreRange((1, 0), (1, 1))]),
                [32, 32],
            ),
            "Shard grid must be one full rectangular grid for block sharded!",
        ),
    ],
)
def test_shards_that_do_not_fit_have_the_official_sentence(config: ttnn.MemoryConfig, sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        ttnn.TensorSpec.of([64, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, config)
    first, second = str(caught.value).split("\ninfo:\n")
    assert second == sentence
    assert first.startswith(
        "TensorSpec(): a tensor of Shape([64, 64]) (padded Shape([64, 64])) in TILE layout does not fit ShardSpec{"
    )


def test_data_types_reject_unsupported_layouts() -> None:
    with pytest.raises(LayoutError) as caught:
        ttnn.TensorSpec.of([32, 32], ttnn.bfloat8_b, ttnn.ROW_MAJOR_LAYOUT)
    assert str(caught.value) == (
        "TensorSpec(): BFLOAT8_B shares exponents inside tiles and has no ROW_MAJOR layout\ninfo:\n"
        "Only TILE layout is supported for BFLOAT8_B dtype!"
    )
    with pytest.raises(LayoutError, match="FP8_E4M3 has no TILE layout"):
        ttnn.TensorSpec.of([32, 32], ttnn.fp8_e4m3, ttnn.TILE_LAYOUT)
    with pytest.raises(ArgumentError, match=r"dtype must be a ttnn\.DataType"):
        ttnn.TensorSpec.of([32, 32], ttnn.DataType.INVALID, ttnn.TILE_LAYOUT)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "3", '{"grid": 3}', '{"memory_layout": 77}'])
@pytest.mark.parametrize("kind", [ttnn.MemoryConfig, ttnn.ShardSpec, ttnn.NdShardSpec, ttnn.CoreCoord, ttnn.CoreRange])
def test_json_of_another_class_raises(kind: Any, text: str) -> None:
    with pytest.raises(MemoryConfigError) as caught:
        kind.from_json(text)
    assert str(caught.value) == f"{kind.__name__}.from_json: not what {kind.__name__}.to_json writes: {text!r}"


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {"nd_shard_spec": [1, 2]}, r"nd_shard_spec must be an NdShardSpec, got \[1, 2\]"),
        ((), {"nd_shard_spec": 3}, "nd_shard_spec must be an NdShardSpec, got 3"),
        ((ttnn.BufferType.L1, 3), {}, "nd_shard_spec must be an NdShardSpec, got 3"),
        ((ttnn.BufferType.L1, ttnn.BufferType.L1), {"nd_shard_spec": "ND"}, "nd_shard_spec must be an NdShardSpec"),
        ((), {"nd_shard_spec": "ND", "shard_spec": "2D"}, "omit memory_layout and shard_spec"),
        ((ttnn.TensorMemoryLayout.BLOCK_SHARDED,), {"nd_shard_spec": "ND"}, "omit memory_layout and shard_spec"),
    ],
)
def test_arguments_besides_nd_shards_are_checked(
    arguments: tuple[object, ...], named: dict[str, object], message: str
) -> None:
    specs = {"ND": ttnn.NdShardSpec([32, 32], cores(2, 1)), "2D": ttnn.ShardSpec(cores(2, 1), [32, 32], ROWS)}
    values = {name: specs[value] if isinstance(value, str) else value for name, value in named.items()}
    with pytest.raises(ArgumentError, match=message):
        ttnn.MemoryConfig(*arguments, **values)
    nd = specs["ND"]
    assert ttnn.MemoryConfig(buffer_type=ttnn.BufferType.L1, nd_shard_spec=nd) == ttnn.MemoryConfig(
        ttnn.BufferType.L1, nd
    )


def test_whether_a_tile_is_transposed_is_a_truth_value() -> None:
    with pytest.raises(ArgumentError, match=r"^Tile\(\): transpose_tile must be True or False, got 1$"):
        ttnn.Tile((32, 32), 1)


def test_kinds_of_nd_shard_spec() -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    with pytest.raises(ArgumentError, match=r"^NdShardSpec\(\): orientation must be a ShardOrientation, got 3$"):
        ttnn.NdShardSpec([1, 32, 32], cores, 3)
    with pytest.raises(ArgumentError, match=r"must be a ShardDistributionStrategy, got 3$"):
        ttnn.NdShardSpec([1, 32, 32], cores, ttnn.ShardOrientation.ROW_MAJOR, 3)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("shape", "ab", "shard_shape must be two ints, got 'ab'"),
        ("shape", [1, 2, 3], "shard_shape must be two ints"),
        ("shape", (-32, 32), "shard_shape must not be negative"),
        ("grid", 3, "grid must be a CoreRangeSet, got int"),
        ("orientation", 0, "orientation must be a ShardOrientation, got 0"),
    ],
)
def test_fields_of_a_shard_spec_are_checked_when_they_are_set(field: str, value: object, message: str) -> None:
    spec = ttnn.ShardSpec(cores(2, 1), [32, 32], ROWS)
    before = repr(spec)
    with pytest.raises(ArgumentError, match=message):
        setattr(spec, field, value)
    assert repr(spec) == before
    spec.shape = (64, 32)
    assert spec.shape == [64, 32]


def test_fields_of_an_nd_shard_spec_are_checked_when_they_are_set() -> None:
    spec = ttnn.NdShardSpec([32, 32], cores(2, 1))
    for field, value in (("shard_shape", "ab"), ("grid", 3), ("orientation", 0), ("shard_distribution_strategy", 0)):
        with pytest.raises(ArgumentError):
            setattr(spec, field, value)
    assert spec == ttnn.NdShardSpec([32, 32], cores(2, 1))
