"""Program configurations as values."""

from __future__ import annotations

import pytest

import ttnn
from ttnn.base import program_config as pc
from ttnn.base.exceptions import ArgumentError

GRID = ttnn.CoreCoord(8, 8)
BLOCKS = {"in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 4, "per_core_M": 3, "per_core_N": 8}

CONFIGURATIONS = [
    pc.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=GRID, **BLOCKS),
    pc.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=GRID,
        transpose_mcast=False,
        fused_activation=(ttnn.UnaryOpType.RELU_MAX, 6.0),
        **BLOCKS,
    ),
    pc.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(8, 8),
        fuse_batch=True,
        mcast_in0=True,
        hop_cores=ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 1))]),
        **BLOCKS,
    ),
    pc.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=1, per_core_M=1, per_core_N=2),
    pc.MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig(in0_block_w=1, per_core_M=1, per_core_N=2),
    pc.MinimalMatmulConfig(M_block_size=4),
    pc.SDPAProgramConfig(
        compute_with_storage_grid_size=GRID,
        q_chunk_size=32,
        k_chunk_size=64,
        matmul_math_fidelity=ttnn.MathFidelity.HiFi2,
    ),
    pc.SoftmaxDefaultProgramConfig(),
    pc.SoftmaxShardedMultiCoreProgramConfig(compute_with_storage_grid_size=GRID, subblock_w=1, block_h=2, block_w=3),
    pc.LayerNormDefaultProgramConfig(use_welford=True),
    pc.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=GRID, subblock_w=1, block_h=2, block_w=3, inplace=False
    ),
]


@pytest.mark.parametrize("config", CONFIGURATIONS, ids=lambda config: type(config).__name__)
def test_json_hash_and_equality(config: pc.ConfigValue) -> None:
    again = type(config).from_json(config.to_json())
    assert again == config
    assert hash(again) == hash(config)


def test_blocks_are_the_share_of_a_core_unless_given() -> None:
    config = pc.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=GRID, transpose_mcast=True, **BLOCKS
    )
    assert (config.out_block_h, config.out_block_w, config.fuse_batch) == (3, 8, True)
    assert CONFIGURATIONS[2].gather_in0 is False
    assert CONFIGURATIONS[2].num_global_cb_receivers == 1
    assert CONFIGURATIONS[1].fused_activation == ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU_MAX, 6.0)


def test_wrong_kinds_are_refused() -> None:
    with pytest.raises(ArgumentError) as caught:
        pc.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=GRID, **{**BLOCKS, "per_core_M": "3"})
    assert str(caught.value) == "MatmulMultiCoreReuseProgramConfig: per_core_M must be int, got str '3'"
    with pytest.raises(ArgumentError, match="in0_block_w must be int, got bool True"):
        pc.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=GRID, **{**BLOCKS, "in0_block_w": True})
    with pytest.raises(ArgumentError, match="in0_block_w must not be negative, got -1"):
        pc.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=GRID, **{**BLOCKS, "in0_block_w": -1})
    with pytest.raises(TypeError):
        pc.MatmulMultiCoreReuseProgramConfig(GRID, 1, 1, 1, 1, 1)
    with pytest.raises(ArgumentError, match="no such field: speed"):
        pc.SoftmaxDefaultProgramConfig.from_json('{"speed": 1}')


def test_fields_are_checked_when_they_are_set_later() -> None:
    config = pc.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=GRID, **BLOCKS)
    config.compute_with_storage_grid_size = (4, 2)
    config.per_core_M = 5
    assert config == pc.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(4, 2), **{**BLOCKS, "per_core_M": 5}
    )
    with pytest.raises(ArgumentError, match="per_core_M must be int, got str '3'"):
        config.per_core_M = "3"
    with pytest.raises(ArgumentError, match="per_core_M must not be negative, got -1"):
        config.per_core_M = -1
    with pytest.raises(AttributeError, match="MatmulMultiCoreReuseProgramConfig has no field per_core_m"):
        config.per_core_m = 3
    assert config.per_core_M == 5


@pytest.mark.parametrize(
    "text", ["", "no JSON", "null", "[1]", '"in0_block_w"', "{}", '{"in0_block_w": 1}', '{"fused_activation": {}}']
)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"MatmulMultiCoreReuseMultiCastProgramConfig\.from_json: "):
        pc.MatmulMultiCoreReuseMultiCastProgramConfig.from_json(text)
