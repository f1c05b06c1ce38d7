"""Batched matmuls in which a tensor selects the matrices that are multiplied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn


def _config(**changes: Any) -> ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig:
    fields: dict[str, Any] = {
        "compute_with_storage_grid_size": ttnn.CoreCoord(2, 2),
        "in0_block_w": 1,
        "out_subblock_h": 1,
        "out_subblock_w": 1,
        "out_block_h": 1,
        "out_block_w": 1,
        "per_core_M": 2,
        "per_core_N": 1,
        "fuse_batch": False,
        "fused_activation": None,
        "mcast_in0": True,
    }
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(**(fields | changes))


def _tensor(
    shape: tuple[int, ...],
    device: ttnn.MeshDevice,
    seed: int,
    dtype: ttnn.DataType = ttnn.bfloat16,
    tile: ttnn.Tile | None = None,
) -> ttnn.Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.Tensor(values, dtype, layout=ttnn.TILE_LAYOUT, tile=tile or ttnn.Tile((32, 32))).to(device)


def _sparsity(values: Any, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.Tensor(np.asarray(values, np.float32), ttnn.bfloat16), device)


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


def _single(a: ttnn.Tensor, first: int, b: ttnn.Tensor, second: int, **options: Any) -> np.ndarray:
    """Return the product of two matrices by `ttnn.matmul` with the same program."""
    left, right = (ttnn.reshape(tensor, (-1, 1, *tuple(tensor.shape)[-2:])) for tensor in (a, b))
    one = left[first : first + 1], right[second : second + 1]
    return _values(ttnn.matmul(*one, program_config=_config(), **options))[0, 0]


@pytest.mark.parametrize(
    ("a", "b", "sparse", "shape", "pairs"),
    [
        ((2, 3, 64, 64), (1, 2, 64, 96), (False, True), (2, 3, 1, 2, 64, 96), lambda place: divmod(place, 2)),
        ((1, 6, 64, 64), (1, 6, 64, 96), (True, True), (1, 6, 64, 96), lambda place: (place, place)),
        ((3, 2, 64, 64), (1, 2, 64, 96), (True, False), (3, 2, 64, 96), lambda place: (place, place % 2)),
    ],
)
@pytest.mark.parametrize("packs_in_l1", [False, True])
def test_products_have_the_bits_of_single_ones(
    a: tuple[int, ...],
    b: tuple[int, ...],
    sparse: tuple[bool, bool],
    shape: tuple[int, ...],
    pairs: Any,
    packs_in_l1: bool,
    device: ttnn.MeshDevice,
) -> None:
    left, right = _tensor(a, device, 0), _tensor(b, device, 1)
    places = int(np.prod(shape[:-2]))
    chosen = np.random.default_rng(2).random(places) < 0.5
    width = int(np.prod(b[:-2]))
    sparsity = _sparsity(chosen.reshape(1, 1, -1, width), device)
    compute = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2, packer_l1_acc=packs_in_l1)
    result = ttnn.sparse_matmul(
        left,
        right,
        sparsity=sparsity,
        program_config=_config(),
        is_input_a_sparse=sparse[0],
        is_input_b_sparse=sparse[1],
        compute_kernel_config=compute,
    )
    assert tuple(result.shape) == shape
    found = _values(result).reshape(places, 64, 96)
    for place in range(places):
        expected = 0.0
        if chosen[place]:
            first, second = pairs(place)
            expected = _single(left, first, right, second, compute_kernel_config=compute)
        np.testing.assert_array_equal(found[place], expected)


def test_tiles_of_fewer_rows_are_the_first_of_full_tiles(device: ttnn.MeshDevice) -> None:
    small = _tensor((1, 2, 16, 64), device, 0, tile=ttnn.Tile((16, 32)))
    full, right = _tensor((1, 2, 16, 64), device, 0), _tensor((1, 2, 64, 64), device, 1, ttnn.bfloat8_b)
    sparsity = _sparsity([[1, 0], [1, 1]], device)
    results = [
        ttnn.sparse_matmul(left, right, sparsity=sparsity, program_config=_config(), nnz=3) for left in (small, full)
    ]
    assert results[0].tile == ttnn.Tile((16, 32))
    np.testing.assert_array_equal(_values(results[0]), _values(results[1]))
    assert not np.any(_values(results[0])[0, 0, 0, 1])


def test_a_given_output_is_cleared_first(device: ttnn.MeshDevice) -> None:
    left, right = _tensor((1, 1, 32, 32), device, 0), _tensor((1, 2, 32, 32), device, 1)
    output = _tensor((1, 1, 1, 2, 32, 32), device, 2)
    options = {"sparsity": _sparsity([[0, 1]], device), "program_config": _config()}
    result = ttnn.sparse_matmul(left, right, optional_output_tensor=output, **options)
    assert result is output
    assert not np.any(_values(output)[..., 0, :, :])
    np.testing.assert_array_equal(_values(output), _values(ttnn.sparse_matmul(left, right, **options)))


def test_without_products_all_is_zero(device: ttnn.MeshDevice) -> None:
    left, right = _tensor((1, 1, 32, 32), device, 0), _tensor((1, 2, 32, 32), device, 1)
    result = ttnn.sparse_matmul(left, right, sparsity=_sparsity([[0, 0]], device), program_config=_config())
    assert not np.any(_values(result))


def test_minus_zero_is_a_product(device: ttnn.MeshDevice) -> None:
    left, right = _tensor((1, 1, 32, 32), device, 0), _tensor((1, 2, 32, 32), device, 1)
    options = {"program_config": _config()}
    result = ttnn.sparse_matmul(left, right, sparsity=_sparsity([[-0.0, 0.0]], device), **options)
    expected = ttnn.sparse_matmul(left, right, sparsity=_sparsity([[2.0, 0.0]], device), **options)
    np.testing.assert_array_equal(_values(result), _values(expected))
    assert np.any(_values(result))


def test_golden_function_agrees(device: ttnn.MeshDevice) -> None:
    left, right = _tensor((2, 64, 64), device, 0), _tensor((3, 64, 64), device, 1)
    sparsity = _sparsity([[1, 0, 1], [0, 1, 0]], device)
    compute = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    result = ttnn.sparse_matmul(left, right, sparsity=sparsity, program_config=_config(), compute_kernel_config=compute)
    golden = ttnn.get_golden_function(ttnn.sparse_matmul)(_values(left), _values(right), sparsity=_values(sparsity))
    assert golden.shape == tuple(result.shape) == (2, 3, 64, 64)
    assert np.max(np.abs(_values(result) - golden)) <= 2.0**-8 * np.max(np.abs(golden))


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (ttnn.ParameterError, "nnz=1, but sparsity has 2", {"nnz": 1}),
        (ttnn.ParameterError, "must be greater than 0", {"nnz": 0}),
        (ttnn.ParameterError, "less than or equal to the length", {"nnz": 9}),
        (ttnn.ParameterError, "both False", {"is_input_b_sparse": False}),
        (ttnn.ProgramConfigError, "Only mcast_in0", {"program_config": _config(mcast_in0=False)}),
        (
            ttnn.UnsupportedError,
            "fused_activation",
            {"program_config": _config(fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))},
        ),
        (ttnn.ProgramConfigError, "divisible by in0_block_w", {"program_config": _config(in0_block_w=2)}),
        (ttnn.UnsupportedError, "output_tile", {"output_tile": ttnn.Tile((16, 32))}),
    ],
)
def test_wrong_options_raise_errors(error: type, match: str, options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    left, right = _tensor((1, 1, 32, 32), device, 0), _tensor((1, 2, 32, 32), device, 1)
    given = {"sparsity": _sparsity([[1, 1]], device), "program_config": _config()} | options
    with pytest.raises(error, match=match):
        ttnn.sparse_matmul(left, right, **given)


def test_wrong_operands_raise_errors(device: ttnn.MeshDevice) -> None:
    left, right = _tensor((1, 1, 32, 32), device, 0), _tensor((1, 2, 32, 32), device, 1)
    options = {"program_config": _config()}
    with pytest.raises(ttnn.ShapeError, match="logical_volume"):
        ttnn.sparse_matmul(left, right, sparsity=_sparsity([[1, 1, 1]], device), **options)
    with pytest.raises(ttnn.ShapeError, match="rows of 1"):
        ttnn.sparse_matmul(left, right, sparsity=_sparsity([[1], [1]], device), **options)
    with pytest.raises(ttnn.ShapeError, match="Dimension K"):
        ttnn.sparse_matmul(_tensor((1, 1, 32, 64), device, 0), right, sparsity=_sparsity([[1, 1]], device), **options)
    with pytest.raises(ttnn.ShapeError, match="as many"):
        ttnn.sparse_matmul(left, right, sparsity=_sparsity([[1, 1]], device), is_input_a_sparse=True, **options)
    with pytest.raises(ttnn.DTypeError, match="BFLOAT16 in ROW_MAJOR"):
        ttnn.sparse_matmul(left, right, sparsity=_tensor((1, 2), device, 0), **options)
    with pytest.raises(ttnn.UnsupportedError, match="global_cb=array"):
        ttnn.sparse_matmul(left, right, sparsity=_sparsity([[1, 1]], device), global_cb=np.ones((2, 2)), **options)


def test_a_product_with_many_weights_asks_for_what_is_not_there(device: ttnn.MeshDevice) -> None:
    left, right = _tensor((32, 32), device, 0), _tensor((32, 32), device, 1)
    for operator in (ttnn.matmul_batched_weights, ttnn.experimental.quasar.matmul_batched_weights):
        with pytest.raises(ttnn.UnsupportedError, match="global_cb must be provided"):
            operator(left, [right])


def test_each_chip_has_products_of_its_own() -> None:
    wanted = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1], [0, 0, 1, 0]], np.float32)
    rng = np.random.default_rng(9)
    a, b = (rng.normal(size=(4, *shape)).astype(np.float32) for shape in ((1, 64, 64), (4, 64, 96)))

    def run(device: ttnn.MeshDevice, chips: slice) -> list[np.ndarray]:
        mapper = ttnn.ShardTensorToMesh(device, 0) if device.get_num_devices() > 1 else None

        def placed(values: np.ndarray, layout: ttnn.Layout) -> ttnn.Tensor:
            return ttnn.Tensor(values, ttnn.bfloat16, device=device, layout=layout, mesh_mapper=mapper)

        left = placed(a[chips], ttnn.TILE_LAYOUT)
        right = placed(b[chips], ttnn.TILE_LAYOUT)
        places = placed(wanted[chips][:, None, None], ttnn.ROW_MAJOR_LAYOUT)
        made = ttnn.sparse_matmul(left, right, sparsity=places, program_config=_config())
        return [_values(part) for part in ttnn.get_device_tensors(made)]

    with ttnn.create_mesh_device(ttnn.MeshShape(1, 4)) as mesh:
        made = [run(mesh, slice(None)) for _ in range(2)]
    with ttnn.manage_device(device_id=0) as device:
        alone = [run(device, slice(chip, chip + 1))[0] for chip in range(4)]
    for parts in made:
        assert all(np.array_equal(part, single) for part, single in zip(parts, alone, strict=True))
    assert not made[0][1].any()
