"""Experts on several chips: dispatch, combine and the remaps."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, mesh_of
from ttnn.base.exceptions import FabricError, LayoutError

Array = np.ndarray
HIDDEN, EXPERTS, CHOSEN = 32, 16, 3


def rows(values: Array, mesh: ttnn.MeshDevice, dtype: ttnn.DataType, *, shared: bool = False) -> ttnn.Tensor:
    """Return rows: a part for each chip, or the same for all."""
    mapper = ttnn.ReplicateTensorToMesh(mesh) if shared else ttnn.ShardTensorToMesh(mesh, 0)
    return ttnn.from_torch(
        torch_of(values, dtype), dtype, layout=ttnn.ROW_MAJOR_LAYOUT, device=mesh, mesh_mapper=mapper
    )


def torch_of(values: Array, dtype: ttnn.DataType) -> object:
    torch = pytest.importorskip("torch")
    return torch.from_numpy(values.astype(np.float32 if dtype is ttnn.bfloat16 else np.int32))


def mapping_of(chips: int, seed: int = 3) -> Array:
    """Return a random mapping of experts to chips."""
    homes = np.random.default_rng(seed).permutation(np.repeat(np.arange(chips), EXPERTS // chips))
    return (homes[:, None] == np.arange(chips)).astype(np.int64)[None, None]


def choices(shape: tuple[int, ...], seed: int = 5) -> Array:
    rng = np.random.default_rng(seed)
    picked = [rng.permutation(EXPERTS)[:CHOSEN] for _ in range(int(np.prod(shape)))]
    return np.array(picked).reshape(*shape, CHOSEN)


def group_of(chip: int, shape: tuple[int, int], axis: int) -> list[int]:
    """Return the chips along an axis with a chip."""
    grid = np.arange(shape[0] * shape[1]).reshape(shape)
    lines = grid if axis else grid.T
    return next(list(map(int, line)) for line in lines if chip in line)


@pytest.fixture(params=[((2, 4), 0), ((2, 4), 1), ((1, 8), 1)], ids=str)
def routed(request: pytest.FixtureRequest) -> object:
    shape, axis = request.param
    with mesh_of(shape, ttnn.FabricConfig.FABRIC_1D) as mesh:
        yield mesh, axis


@pytest.mark.parametrize("cut", [1, 2])
def test_tokens_go_to_their_experts_and_back(routed: tuple[ttnn.MeshDevice, int], cut: int) -> None:
    mesh, axis = routed
    chips, batch, sequence = 8, 2, 3
    mapping = mapping_of(chips)
    tokens = np.random.default_rng(1).normal(size=(chips * batch, 1, sequence, HIDDEN))
    chosen = choices((chips * batch, 1, sequence))
    x, e = rows(tokens, mesh, ttnn.bfloat16), rows(chosen, mesh, ttnn.uint16)
    m = rows(mapping, mesh, ttnn.uint16, shared=True)
    sent, metadata = ttnn.all_to_all_dispatch(x, e, m, cluster_axis=axis, output_concat_dim=cut)
    values, count = by_chip(x), len(group_of(0, tuple(mesh.shape), axis))
    expected_shape = (1, batch * count, sequence) if cut == 1 else (1, batch, sequence * count)
    assert tuple(sent.shape) == (*expected_shape, HIDDEN)
    assert tuple(metadata.shape) == (*expected_shape, CHOSEN)
    results = []
    for chip, (got, of_all) in enumerate(zip(by_chip(sent), by_chip(metadata), strict=True)):
        group = group_of(chip, tuple(mesh.shape), axis)
        all_tokens = np.concatenate([values[c].reshape(-1, HIDDEN) for c in group])
        all_chosen = np.concatenate([chosen[c * batch : (c + 1) * batch].reshape(-1, CHOSEN) for c in group])
        here = mapping[0, 0, :, chip] == 1
        wanted = np.where(here[all_chosen].any(1)[:, None], all_tokens, 0)
        assert np.array_equal(got.reshape(-1, HIDDEN), wanted)
        assert np.array_equal(of_all.reshape(-1, CHOSEN), all_chosen)
        # Expert e multiplies by a power of two of its own.
        results.append(np.stack([got[0] * 2.0**expert for expert in np.flatnonzero(here)]))
    made = rows(np.concatenate(results), mesh, ttnn.bfloat16)
    combined = ttnn.all_to_all_combine(made, metadata, m, cluster_axis=axis, output_shard_dim=cut)
    for chip, got in enumerate(by_chip(combined)):
        group = group_of(chip, tuple(mesh.shape), axis)
        own, own_chosen = (
            values[chip].reshape(-1, HIDDEN),
            chosen[chip * batch : (chip + 1) * batch].reshape(-1, CHOSEN),
        )
        for choice in range(CHOSEN):
            expert = own_chosen[:, choice]
            in_group = mapping[0, 0][expert][:, group].any(1)
            wanted = np.where(in_group[:, None], own * 2.0 ** expert[:, None], 0)
            assert np.array_equal(got[choice].reshape(-1, HIDDEN), wanted)


def test_rows_that_are_not_sent_keep_what_they_had(routed: tuple[ttnn.MeshDevice, int]) -> None:
    mesh, axis = routed
    mapping = np.zeros((1, 1, EXPERTS, 8), np.int64)
    mapping[..., 2] = 1
    x = rows(np.ones((8, 1, 4, HIDDEN)), mesh, ttnn.bfloat16)
    e = rows(choices((8, 1, 4)), mesh, ttnn.uint16)
    count = len(group_of(0, tuple(mesh.shape), axis))
    outputs = [
        ttnn.full((1, count, 4, last), 7, dtype=dtype, layout=ttnn.ROW_MAJOR_LAYOUT, device=mesh)
        for last, dtype in ((HIDDEN, ttnn.bfloat16), (CHOSEN, ttnn.uint16))
    ]
    m = rows(mapping, mesh, ttnn.uint16, shared=True)
    sent, metadata = ttnn.all_to_all_dispatch(x, e, m, cluster_axis=axis, output_tensors=outputs)
    assert sent.buffer_address() == outputs[0].buffer_address()
    assert metadata.buffer_address() == outputs[1].buffer_address()
    assert [float(part.min()) for part in by_chip(sent)] == [1.0 if chip == 2 else 7.0 for chip in range(8)]


def test_local_reduce_returns_the_row_of_a_chip_once(routed: tuple[ttnn.MeshDevice, int]) -> None:
    mesh, axis = routed
    count = len(group_of(0, tuple(mesh.shape), axis))
    mapping, chosen = mapping_of(8), choices((1, count, 2))
    metadata = rows(chosen, mesh, ttnn.uint16, shared=True)
    values = np.random.default_rng(2).normal(size=(8, count, 2, HIDDEN))
    made = rows(values, mesh, ttnn.bfloat16)
    m = rows(mapping, mesh, ttnn.uint16, shared=True)
    got = by_chip(ttnn.all_to_all_combine(made, metadata, m, local_reduce=True, cluster_axis=axis))
    exact = by_chip(made)
    for chip in range(8):
        group = group_of(chip, tuple(mesh.shape), axis)
        wanted = np.zeros((CHOSEN, 1, 2, HIDDEN), np.float32)
        for token in range(2):
            of_token = list(chosen[0, group.index(chip), token])
            for other in group:
                first = next((e for e in np.flatnonzero(mapping[0, 0, :, other]) if e in of_token), None)
                if first is not None:
                    wanted[of_token.index(first), 0, token] = exact[other][0, group.index(chip), token]
        assert np.array_equal(got[chip], wanted)


def test_weights_are_shared_among_the_chips_of_an_axis(routed: tuple[ttnn.MeshDevice, int]) -> None:
    mesh, axis = routed
    count = tuple(mesh.shape)[axis]
    weights = np.zeros((1, 32))
    weights[0, [2, 4, 10, 13, 14, 18, 22, 24]] = np.arange(1, 9)
    x = rows(weights, mesh, ttnn.bfloat16, shared=True)
    for chip, got in enumerate(by_chip(ttnn.moe_routing_remap(x, 8, count, axis))):
        place = divmod(chip, tuple(mesh.shape)[1])[axis]
        wanted = np.zeros(32)
        keep = np.flatnonzero(weights[0])[place * 8 // count : (place + 1) * 8 // count]
        wanted[keep] = weights[0, keep]
        assert np.array_equal(got[0], wanted)


@pytest.mark.parametrize(("tokens", "together"), [(32, 16), (1536, 16), (96, 32), (48, 1)])
def test_scores_of_a_chips_own_experts(routed: tuple[ttnn.MeshDevice, int], tokens: int, together: int) -> None:
    mesh, _ = routed
    mapping, chosen = mapping_of(8), choices((1, 1, tokens))
    scores = np.random.default_rng(4).normal(size=(8, 1, tokens, EXPERTS))
    x, m = rows(scores, mesh, ttnn.bfloat16), rows(mapping, mesh, ttnn.uint16, shared=True)
    metadata = rows(chosen, mesh, ttnn.uint16, shared=True)
    local, used = ttnn.moe_expert_token_remap(x, m, metadata, reduction_size=together)
    for chip, (got, chunk_used) in enumerate(zip(by_chip(local), by_chip(used), strict=True)):
        here = np.flatnonzero(mapping[0, 0, :, chip])
        picked = (chosen[0, 0, :, :, None] == here).any(1)
        assert np.array_equal(got[0, 0], np.where(picked, by_chip(x)[chip][0, 0][:, here], 0))
        wanted = picked.reshape(-1, together, len(here)).any(1)
        assert np.array_equal(chunk_used[0, 0], wanted)


def test_wrong_calls(routed: tuple[ttnn.MeshDevice, int]) -> None:
    mesh, axis = routed
    x, e = rows(np.ones((8, 1, 2, HIDDEN)), mesh, ttnn.bfloat16), rows(np.full((8, 1, 2, 2), 16), mesh, ttnn.uint16)
    m = rows(mapping_of(8), mesh, ttnn.uint16, shared=True)
    dispatch, combine = ttnn.all_to_all_dispatch, ttnn.all_to_all_combine
    with pytest.raises(ttnn.ParameterError, match="index 16 is out of range for a table of 16 rows"):
        dispatch(x, e, m, cluster_axis=axis)
    with pytest.raises(LayoutError, match="Input tensor must be in row major layout"):
        dispatch(ttnn.to_layout(x, ttnn.TILE_LAYOUT), e, m, cluster_axis=axis)
    with pytest.raises(ttnn.DTypeError, match="must be uint16"):
        dispatch(x, x, m, cluster_axis=axis)
    with pytest.raises(ttnn.ShapeError, match=r"expected \[batch, 1, sequence, hidden\]"):
        dispatch(ttnn.reshape(x, (1, 2, 1, HIDDEN)), ttnn.reshape(e, (1, 2, 1, 2)), m, cluster_axis=axis)
    with pytest.raises(ttnn.ShapeError, match=r"expected \[1, 1, experts, 8\]"):
        dispatch(x, e, e, cluster_axis=axis)
    with pytest.raises(ttnn.ParameterError, match="Output concat dimension must be 1 or 2, got 3"):
        dispatch(x, e, m, cluster_axis=axis, output_concat_dim=3)
    with pytest.raises(FabricError, match="out of range"):
        dispatch(x, e, m, cluster_axis=2)
    with pytest.raises(ttnn.ShapeError, match="Expected input shape dim 0: 1"):
        combine(x, e, m, cluster_axis=axis)
    with pytest.raises(ttnn.ParameterError, match="do not divide into chunks of reduction_size 16"):
        ttnn.moe_expert_token_remap(ttnn.reshape(rows(np.ones((8, 1, 8, 16)), mesh, ttnn.bfloat16), (1, 1, 8, 16)), m,
                                    rows(choices((1, 1, 8)), mesh, ttnn.uint16, shared=True))  # fmt: skip
    e = rows(choices((8, 1, 2)), mesh, ttnn.uint16)
    assert len(dispatch(x, e, m, cluster_axis=axis)) == 2
