"""`ttnn.linear` with a multi-row bias: tiles, block, or separate.

Fused tile by tile, as one block, or added by an operator of its own.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch

import ttnn
from ttnn.base.exceptions import ShapeError, UnsupportedError

plan = importlib.import_module("ttnn.ops.matmul.matmul").plan

GRID = ttnn.CoreCoord(2, 1)


def one_d(rows: int, block: int = 1, **options: Any) -> ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig:
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=GRID,
        in0_block_w=block,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=rows,
        per_core_N=1,
        fuse_batch=True,
        mcast_in0=True,
        **options,
    )


def two_d(rows: int) -> ttnn.MatmulMultiCoreReuseMultiCastProgramConfig:
    return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=GRID,
        in0_block_w=3,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=rows,
        per_core_N=1,
        transpose_mcast=False,
    )


def reuse(rows: int, columns: int = 2) -> ttnn.MatmulMultiCoreReuseProgramConfig:
    return ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=GRID,
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=rows,
        per_core_N=columns,
    )


def drawn(shape: tuple[int, ...], seed: int, device: ttnn.MeshDevice, dtype: Any = ttnn.bfloat16) -> ttnn.Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def row_by_row(a: ttnn.Tensor, b: ttnn.Tensor, bias: ttnn.Tensor, **options: Any) -> torch.Tensor:
    """Return rows of calls with one bias row each.

    A program adds it to every row.
    """
    rows = []
    for row in range(bias.shape[-2]):
        one = ttnn.to_layout(bias, ttnn.ROW_MAJOR_LAYOUT)[row : row + 1]
        one = ttnn.to_layout(one, ttnn.TILE_LAYOUT)
        assert plan(a, b, bias=one, **options).compute_args()["row_broadcast_bias"] == 1
        rows.append(ttnn.to_torch(ttnn.linear(a, b, bias=one, **options))[..., row, :])
    return torch.stack(rows, -2)


DTYPES = {"bf16": ttnn.bfloat16, "f32": ttnn.float32, "bf8": ttnn.bfloat8_b}
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "core_grid": {"core_grid": ttnn.CoreGrid(y=1, x=1)},
    "1d": {"program_config": one_d(1)},
    "1d_relu": {"program_config": one_d(1, fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))},
    "1d_gelu": {"program_config": one_d(1, fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 0.0))},
    "2d": {"program_config": two_d(1)},
    "activation_after": {"program_config": one_d(1), "activation": "silu"},
    "l1_acc_32_bit": {
        "program_config": one_d(1),
        "compute_kernel_config": ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True
        ),
    },
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rows", [32, 5])
def test_bias_of_one_tile_row_has_the_bits_of_its_rows(
    rows: int, options: str, dtype: str, device: ttnn.MeshDevice
) -> None:
    given = OPTIONS[options]
    a, b, bias = (
        drawn(shape, seed, device, DTYPES[dtype]) for seed, shape in enumerate([(rows, 96), (96, 64), (rows, 64)])
    )
    program = plan(a, b, bias=bias, **given)
    assert program.problem.bias is not None
    assert program.compute_args()["row_broadcast_bias"] == 0
    got = ttnn.to_torch(ttnn.linear(a, b, bias=bias, **given))
    assert torch.equal(got, row_by_row(a, b, bias, **given))


@pytest.mark.parametrize("options", ["default", "1d", "1d_gelu", "l1_acc_32_bit"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_fast_numerics_add_every_row_of_the_bias(
    dtype: str, options: str, device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ttnn.CONFIG, "numerics", "fast")
    given = OPTIONS[options]
    a, b, bias = (
        drawn(shape, seed, device, DTYPES[dtype]) for seed, shape in enumerate([(32, 96), (96, 64), (32, 64)])
    )
    got = ttnn.to_torch(ttnn.linear(a, b, bias=bias, **given))
    assert torch.equal(got, row_by_row(a, b, bias, **given))


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize(
    ("a", "bias"),
    [
        ((1, 1, 32, 96), (1, 1, 32, 64)),
        ((3, 2, 32, 96), (32, 64)),
        ((3, 2, 5, 96), (5, 64)),
        ((64, 96), (64, 64)),
        ((2, 64, 96), (64, 64)),
        ((2, 32, 96), (2, 32, 64)),
        ((33, 96), (33, 64)),
        ((32, 96), (32, 1)),
    ],
)
@pytest.mark.parametrize("options", ["default", "core_grid", "program_config", "l1"])
def test_every_row_of_the_bias_is_added_to_its_row(
    a: tuple[int, ...],
    bias: tuple[int, ...],
    options: str,
    numerics: str,
    device: ttnn.MeshDevice,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ttnn.CONFIG, "numerics", numerics)
    matrices = a[0] * a[1] if len(a) == 4 else a[0] if len(a) == 3 else 1
    given: dict[str, Any] = {
        "default": {},
        "core_grid": {"core_grid": ttnn.CoreGrid(y=1, x=1)},
        "program_config": {"program_config": one_d(matrices * -(-a[-2] // 32))},
        "l1": {"memory_config": ttnn.L1_MEMORY_CONFIG},
    }[options]
    # Whole numbers below 256, of which every sum is exact in bfloat16.
    draw = torch.Generator().manual_seed(0)
    operands = [torch.randint(-1, 2, shape, generator=draw).double() for shape in (a, (96, 64))]
    operands.append(torch.randint(-99, 100, bias, generator=draw).double())
    left, right, addend = (
        ttnn.from_torch(operand, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for operand in operands
    )
    got = ttnn.to_torch(ttnn.linear(left, right, bias=addend, **given)).double()
    assert torch.equal(got, operands[0] @ operands[1] + operands[2])


@pytest.mark.parametrize("batch", [(), (3,)])
def test_reuse_program_adds_a_bias_of_all_rows_as_one_block(batch: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    a, b = drawn((*batch, 64, 96), 0, device), drawn((*batch, 96, 64), 1, device)
    bias = drawn((64, 64), 2, device)
    program = plan(a, b, bias=bias, program_config=reuse(2))
    assert program.problem.bias is not None
    assert program.compute_args()["row_broadcast_bias"] == 0
    assert "BIAS_FULL_BLOCK 1" in program.defines()
    got = ttnn.to_torch(ttnn.linear(a, b, bias=bias, program_config=reuse(2)))
    for index in range(batch[0] if batch else 1):
        left, right = (ttnn.to_torch(x)[index] if batch else ttnn.to_torch(x) for x in (a, b))
        for half in range(2):
            rows = slice(32 * half, 32 * half + 32)
            part, whole, part_bias = (
                ttnn.from_torch(x.contiguous(), layout=ttnn.TILE_LAYOUT, device=device)
                for x in (left[rows], right, ttnn.to_torch(bias)[rows])
            )
            expected = ttnn.to_torch(ttnn.linear(part, whole, bias=part_bias, program_config=one_d(1)))
            assert torch.equal((got[index] if batch else got)[rows], expected)


def test_reuse_program_in_several_blocks_adds_the_bias_afterwards(device: ttnn.MeshDevice) -> None:
    a, b, bias = drawn((64, 96), 0, device), drawn((96, 64), 1, device), drawn((64, 64), 2, device)
    program = plan(a, b, bias=bias, program_config=reuse(1))
    assert program.separate_bias is not None
    got = ttnn.linear(a, b, bias=bias, program_config=reuse(1))
    expected = ttnn.add(ttnn.matmul(a, b, program_config=reuse(1)), bias)
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(expected))


@pytest.mark.parametrize("options", [{}, {"program_config": two_d(2)}])
def test_bias_of_several_tile_rows_is_added_by_an_operator_of_its_own(
    options: dict[str, Any], device: ttnn.MeshDevice
) -> None:
    a, b, bias = drawn((64, 96), 0, device), drawn((96, 64), 1, device), drawn((64, 64), 2, device)
    assert plan(a, b, bias=bias, **options).separate_bias is not None
    got = ttnn.linear(a, b, bias=bias, activation="relu", **options)
    expected = ttnn.relu(ttnn.add(ttnn.matmul(a, b, **options), bias))
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(expected))


def test_result_has_the_rank_of_a_fused_bias(device: ttnn.MeshDevice) -> None:
    a, b, bias = drawn((64, 96), 0, device), drawn((96, 64), 1, device), drawn((1, 1, 1, 64), 2, device)
    assert tuple(ttnn.linear(a, b, bias=bias).shape) == (1, 1, 64, 64)


@pytest.mark.parametrize("options", [{}, {"program_config": one_d(2)}])
def test_bias_of_other_rows_than_the_product_is_refused(options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    a, b, bias = drawn((64, 96), 0, device), drawn((96, 64), 1, device), drawn((32, 64), 2, device)
    with pytest.raises(ShapeError, match="Broadcast error: Invalid dimension"):
        ttnn.linear(a, b, bias=bias, **options)


def test_fused_bias_of_several_rows_for_one_row_is_refused(device: ttnn.MeshDevice) -> None:
    a, b, bias = drawn((1, 96), 0, device), drawn((96, 64), 1, device), drawn((5, 64), 2, device)
    with pytest.raises(UnsupportedError, match="bias of 5 rows for a matmul of one row"):
        ttnn.linear(a, b, bias=bias)


@pytest.mark.parametrize(("rows", "config", "operators"), [(32, one_d(1), 1), (64, reuse(2), 1), (64, reuse(1), 2)])
def test_profile_has_the_time_of_a_bias_of_several_rows(
    rows: int, config: Any, operators: int, device: ttnn.MeshDevice
) -> None:
    a, b, bias = drawn((rows, 96), 0, device), drawn((96, 64), 1, device), drawn((rows, 64), 2, device)
    with ttnn.profiler.profile() as session:
        ttnn.linear(a, b, bias=bias, program_config=config)
    assert len(session.rows) == operators
    assert all(row.nanoseconds > 0 for row in session.rows)
