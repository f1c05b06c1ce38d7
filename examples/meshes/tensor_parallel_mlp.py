"""A gated MLP over 2x4 chips.

Rows of chips have a part of the batch, columns a part of the hidden units.

Each chip has a quarter of the hidden units: columns of the first two matrices, rows of the last. Its product is a part
of the sum of a row of chips, which `all_reduce` adds.

    python -m examples.meshes.tensor_parallel_mlp
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import ttnn

Array = npt.NDArray[np.float32]
BATCH, WIDTH, HIDDEN = 64, 256, 1024
MESH = (2, 4)
HIFI = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True
)


def operands(seed: int = 0) -> tuple[Array, dict[str, Array]]:
    """Return the inputs and the three matrices."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(BATCH, WIDTH))
    shapes = {"gate": (WIDTH, HIDDEN), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}
    weights = {name: rng.normal(0, shape[0] ** -0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    return x.astype(np.float32), weights


def placed(
    values: Array, mesh: ttnn.MeshDevice, rows: int | None, columns: int | None, dtype: ttnn.DataType = ttnn.bfloat16
) -> ttnn.Tensor:
    """Return a tensor that is cut over rows and columns of chips.

    Args:
        values: The whole tensor.
        mesh: The mesh.
        rows: Dimension that is cut over the rows of the mesh; None for the whole tensor in each.
        columns: The same for the columns.
        dtype: Data type on the device.
    """
    mapper = ttnn.ShardTensor2dMesh(mesh, mesh_shape=tuple(mesh.shape), dims=(rows, columns))
    return ttnn.Tensor(values, dtype, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)


def part(x: ttnn.Tensor, weights: dict[str, ttnn.Tensor]) -> ttnn.Tensor:
    """Return what a chip's hidden units add to the result."""
    gate = ttnn.silu(ttnn.matmul(x, weights["gate"], compute_kernel_config=HIFI))
    hidden = ttnn.multiply(gate, ttnn.matmul(x, weights["up"], compute_kernel_config=HIFI))
    return ttnn.matmul(hidden, weights["down"], compute_kernel_config=HIFI)


def on_mesh(x: Array, weights: dict[str, Array]) -> tuple[list[Array], float]:
    """Return each chip's result, row by row, and the predicted nanoseconds."""
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    try:
        with ttnn.create_mesh_device(ttnn.MeshShape(*MESH)) as mesh:
            cuts = {"gate": 1, "up": 1, "down": 0}
            on_chips = {name: placed(values, mesh, None, cuts[name]) for name, values in weights.items()}
            inputs = placed(x, mesh, 0, None)
            with ttnn.profiler.profile() as profile:
                made = ttnn.all_reduce(part(inputs, on_chips), cluster_axis=1)
            results = [one.to_torch().float().numpy() for one in ttnn.get_device_tensors(made)]
            return results, float(profile.total)
    finally:
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def on_one_chip(x: Array, weights: dict[str, Array]) -> tuple[Array, float]:
    """Return the result of one chip, and the predicted nanoseconds."""
    with ttnn.manage_device(device_id=0) as device:
        whole = {
            name: ttnn.Tensor(values, ttnn.bfloat16, device=device, layout=ttnn.TILE_LAYOUT)
            for name, values in weights.items()
        }
        inputs = ttnn.Tensor(x, ttnn.bfloat16, device=device, layout=ttnn.TILE_LAYOUT)
        with ttnn.profiler.profile() as profile:
            made = part(inputs, whole)
        return made.to_torch().float().numpy(), float(profile.total)


def exact(x: Array, weights: dict[str, Array]) -> Array:
    """Return the result in float64."""
    gate = x.astype(np.float64) @ weights["gate"]
    hidden = gate / (1 + np.exp(-gate)) * (x.astype(np.float64) @ weights["up"])
    made: Array = hidden @ weights["down"]
    return made


def distance(result: Array, expected: Array) -> float:
    """Return the relative distance of a result."""
    return float(np.linalg.norm(result - expected) / np.linalg.norm(expected))


def main() -> None:
    """Compare the mesh with one chip."""
    x, weights = operands()
    results, nanoseconds = on_mesh(x, weights)
    single, single_nanoseconds = on_one_chip(x, weights)
    expected = exact(x, weights)
    rows = [results[:4], results[4:]]
    equal = all(np.array_equal(one, row[0]) for row in rows for one in row)
    whole = np.concatenate([row[0] for row in rows])
    print(f"chips of a row have equal results: {equal}")
    print(f"relative error: one chip {distance(single, expected):.4f}, 2x4 {distance(whole, expected):.4f}")
    print(f"predicted: one chip {single_nanoseconds / 1e3:.1f} us, 2x4 {nanoseconds / 1e3:.1f} us")


if __name__ == "__main__":
    main()
