"""Heat in plates over 2x4 chips that exchange their edges.

The plate is [64, 128]; 32 plates lie in the last dimension. A step replaces each point by the mean of its four
neighbours. `neighbor_pad_async` brings the edges of neighbour chips; beyond the plate it repeats its own edge, so that
no heat leaves it.

    python -m examples.meshes.plate_halo
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import ttnn

Array = npt.NDArray[np.float32]
ROWS, COLUMNS, PLATES = 64, 128, 32
MESH = (2, 4)


def heat(seed: int = 0) -> Array:
    """Return plates with some hot squares."""
    rng = np.random.default_rng(seed)
    made = np.zeros((ROWS, COLUMNS, PLATES), np.float32)
    for plate in range(PLATES):
        row, column = rng.integers(0, ROWS - 8), rng.integers(0, COLUMNS - 8)
        made[row : row + 8, column : column + 8, plate] = 1
    return made


def mean_of_neighbours(padded: ttnn.Tensor) -> ttnn.Tensor:
    """Return the mean of each inner point's four neighbours."""
    rows, columns = padded.shape[0], padded.shape[1]
    above, below = padded[: rows - 2, 1 : columns - 1], padded[2:, 1 : columns - 1]
    left, right = padded[1 : rows - 1, : columns - 2], padded[1 : rows - 1, 2:]
    total = ttnn.add(ttnn.add(above, below), ttnn.add(left, right))
    return ttnn.multiply(total, 0.25)


def on_mesh(plates: Array, steps: int) -> Array:
    """Return the plates after some steps on 2x4 chips."""
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    try:
        with ttnn.create_mesh_device(ttnn.MeshShape(*MESH)) as mesh:
            mapper = ttnn.ShardTensor2dMesh(mesh, mesh_shape=MESH, dims=(0, 1))
            x = ttnn.Tensor(plates, ttnn.float32, device=mesh, layout=ttnn.ROW_MAJOR_LAYOUT, mesh_mapper=mapper)
            cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
            arrived, begun = ([ttnn.create_global_semaphore(mesh, cores, 0) for _ in MESH] for _ in range(2))
            for _ in range(steps):
                # Rows of the plate lie over rows of the mesh (axis 0), columns over columns (axis 1).
                padded = ttnn.experimental.neighbor_pad_async(
                    x, [0, 1], [1, 1], [1, 1], "replicate", [0, 1], arrived, begun
                )
                x = mean_of_neighbours(padded)
            composer = ttnn.ConcatMesh2dToTensor(mesh, mesh_shape=MESH, dims=(0, 1))
            result: Array = ttnn.to_torch(x, mesh_composer=composer).numpy()
            return result
    finally:
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def on_one_chip(plates: Array, steps: int) -> Array:
    """Return the plates after some steps on one chip."""
    with ttnn.manage_device(device_id=0) as device:
        x = ttnn.Tensor(plates, ttnn.float32, device=device, layout=ttnn.ROW_MAJOR_LAYOUT)
        for _ in range(steps):
            tall = ttnn.concat([x[:1], x, x[ROWS - 1 :]], 0)
            padded = ttnn.concat([tall[:, :1], tall, tall[:, COLUMNS - 1 :]], 1)
            x = mean_of_neighbours(padded)
        result: Array = x.to_torch().numpy()
        return result


def main(steps: int = 10) -> None:
    """Compare the mesh with one chip."""
    plates = heat()
    made = on_mesh(plates, steps)
    print(f"2x4 equals one chip: {np.array_equal(made, on_one_chip(plates, steps))}")
    print(f"heat before {plates.sum():.1f}, after {steps} steps {made.sum():.1f}; highest {made.max():.3f}")


if __name__ == "__main__":
    main()
