"""Collectives of one process and of several: `python benches/ranks.py`.

Prints the median time of an `all_gather` of 4 MiB from each of eight chips, and the seconds from the start of mpirun to
an open mesh.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

REPEATS = 15


def program() -> None:
    """Run in each process."""
    import ttnn

    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING)
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 8)) as mesh:
        started = time.time() - float(os.environ["STARTED"])
        x = ttnn.ones((8, 1, 1024, 2048), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
        x = ttnn.distribute_tensor(x, ttnn.shard_tensor_to_mesh_mapper(mesh, 0), mesh)
        times = []
        for _ in range(REPEATS):
            ttnn.distributed_context_barrier()
            begin = time.perf_counter()
            y = ttnn.all_gather(x, 2)
            times.append(time.perf_counter() - begin)
            ttnn.deallocate(y)
        if ttnn.distributed_context_get_rank() == 0:
            print(f"{1e3 * statistics.median(times):8.1f} ms   start {started:.1f} s", flush=True)


def main() -> None:
    """Run with one process, two and four."""
    for ranks in (1, 2, 4):
        command = [sys.executable, "-m", "mpi4py", __file__, "program"]
        if ranks > 1:
            command = ["mpirun", "--oversubscribe", "-n", str(ranks), *command]
        print(f"{ranks} process{'es' * (ranks > 1)}", end="\t", flush=True)
        subprocess.run(command, check=True, env={**os.environ, "STARTED": str(time.time())})


if __name__ == "__main__":
    (program if sys.argv[1:] else main)()
