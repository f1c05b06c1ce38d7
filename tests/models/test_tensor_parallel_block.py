"""A Llama-like block over several chips.

Heads and hidden units are cut over columns of chips, sequences over rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from testkit.meshes import by_chip, mesh_of

Array = NDArray[np.float64]
LENGTH, WIDTH, HEADS, SIZE, HIDDEN = 64, 256, 8, 32, 512
EPSILON = 1e-5
EXACT = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True
)
#: Dimension of each matrix that is cut over columns of chips.
CUTS = {"q": 1, "k": 1, "v": 1, "o": 0, "gate": 1, "up": 1, "down": 0}
SHAPES = {
    **dict.fromkeys("qkv", (WIDTH, HEADS * SIZE)),
    "o": (HEADS * SIZE, WIDTH),
    **dict.fromkeys(("gate", "up"), (WIDTH, HIDDEN)),
    "down": (HIDDEN, WIDTH),
}
Tensors = dict[str, ttnn.Tensor]


def weights() -> dict[str, Array]:
    rng = np.random.default_rng(0)
    return {name: rng.normal(0, shape[0] ** -0.5, shape) for name, shape in SHAPES.items()}


def angles() -> tuple[Array, Array]:
    """Return cosines and sines of the positions' rotations."""
    frequencies = 10_000.0 ** (-np.arange(SIZE // 2) / (SIZE // 2))
    turned = np.outer(np.arange(LENGTH), np.concatenate([frequencies] * 2))
    return np.cos(turned), np.sin(turned)


def exact(x: Array) -> Array:
    """Return the block's result in float64."""
    w, (cosines, sines) = weights(), angles()

    def norm(y: Array) -> Array:
        return y / np.sqrt((y**2).mean(-1, keepdims=True) + EPSILON)

    def heads(y: Array) -> Array:
        return y.reshape(len(y), LENGTH, HEADS, SIZE).swapaxes(1, 2)

    def turn(y: Array) -> Array:
        return y * cosines + np.concatenate([-y[..., SIZE // 2 :], y[..., : SIZE // 2]], -1) * sines

    y = norm(x)
    q, k, v = turn(heads(y @ w["q"])), turn(heads(y @ w["k"])), heads(y @ w["v"])
    scores = np.where(np.tri(LENGTH) > 0, q @ k.swapaxes(-1, -2) * SIZE**-0.5, -np.inf)
    part = np.exp(scores - scores.max(-1, keepdims=True))
    attended = (part / part.sum(-1, keepdims=True)) @ v
    x = x + attended.swapaxes(1, 2).reshape(len(x), LENGTH, -1) @ w["o"]
    y = norm(x)
    gate = y @ w["gate"]
    result: Array = x + (gate / (1 + np.exp(-gate)) * (y @ w["up"])) @ w["down"]
    return result


def block(x: ttnn.Tensor, w: Tensors, heads: int, reduce: Callable[[ttnn.Tensor], ttnn.Tensor]) -> ttnn.Tensor:
    """Return the block's result on each chip.

    Args:
        x: [sequences, 1, length, width], whole in each chip of a row.
        w: The chip's parts of the matrices, cosines and sines.
        heads: Heads of a chip.
        reduce: Adds the results of a row of chips.
    """

    def product(a: ttnn.Tensor, name: str) -> ttnn.Tensor:
        return ttnn.matmul(a, w[name], compute_kernel_config=EXACT)

    def split(a: ttnn.Tensor) -> ttnn.Tensor:
        return ttnn.permute(ttnn.reshape(a, [a.shape[0], LENGTH, heads, SIZE]), [0, 2, 1, 3])

    def turn(a: ttnn.Tensor) -> ttnn.Tensor:
        half = SIZE // 2
        other = ttnn.concat([ttnn.neg(a[:, :, :, half:]), a[:, :, :, :half]], 3)
        return ttnn.add(ttnn.multiply(a, w["cosines"]), ttnn.multiply(other, w["sines"]))

    y = ttnn.rms_norm(x, epsilon=EPSILON, compute_kernel_config=EXACT)
    q, k, v = turn(split(product(y, "q"))), turn(split(product(y, "k"))), split(product(y, "v"))
    attended = ttnn.transformer.scaled_dot_product_attention(
        q, k, v, is_causal=True, scale=SIZE**-0.5, compute_kernel_config=EXACT
    )
    joined = ttnn.reshape(ttnn.permute(attended, [0, 2, 1, 3]), [x.shape[0], 1, LENGTH, heads * SIZE])
    x = ttnn.add(x, reduce(product(joined, "o")))
    y = ttnn.rms_norm(x, epsilon=EPSILON, compute_kernel_config=EXACT)
    hidden = ttnn.multiply(ttnn.silu(product(y, "gate")), product(y, "up"))
    return ttnn.add(x, reduce(product(hidden, "down")))


def operands(mesh: ttnn.MeshDevice, x: Array) -> tuple[ttnn.Tensor, Tensors]:
    """Return the inputs cut over rows of chips, the matrices over columns."""

    def placed(values: Array, rows: int | None, columns: int | None) -> ttnn.Tensor:
        mapper = ttnn.ShardTensor2dMesh(mesh, mesh_shape=tuple(mesh.shape), dims=(rows, columns))
        whole = values.astype(np.float32)
        return ttnn.Tensor(whole, ttnn.bfloat16, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)

    found = {name: placed(values, None, CUTS[name]) for name, values in weights().items()}
    for name, values in zip(("cosines", "sines"), angles(), strict=True):
        found[name] = placed(values[None, None], None, None)
    return placed(x[:, None], 0, None), found


def distance(result: NDArray[np.float32], expected: Array) -> float:
    return float(np.linalg.norm(result - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize(
    ("shape", "fabric"),
    [
        ((1, 2), ttnn.FabricConfig.FABRIC_1D),
        ((1, 8), ttnn.FabricConfig.FABRIC_1D_RING),
        ((2, 4), ttnn.FabricConfig.FABRIC_1D),
    ],
)
def test_block_on_a_mesh_is_as_close_as_on_one_chip(shape: tuple[int, int], fabric: ttnn.FabricConfig) -> None:
    x = np.random.default_rng(1).normal(size=(2, LENGTH, WIDTH))
    expected = exact(x)
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 1)) as chip:
        (single,) = by_chip(block(*operands(chip, x), HEADS, lambda part: part))
    with mesh_of(shape, fabric) as mesh:
        reduce = lambda part: ttnn.all_reduce(part, cluster_axis=1)  # noqa: E731
        made = by_chip(block(*operands(mesh, x), HEADS // shape[1], reduce))
    rows = [made[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0])]
    assert all(np.array_equal(one, row[0]) for row in rows for one in row)
    whole = np.concatenate([row[0] for row in rows])[:, 0]
    alone = distance(single[:, 0], expected)
    assert alone < 0.01
    # Each of the two sums is rounded to bfloat16 at every chip on its way.
    assert distance(whole, expected) < 1.5 * alone
