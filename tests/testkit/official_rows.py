"""Host programs of official kernels on a row of chips.

`TTNN_OFFICIAL_WHEEL` names the folder to which the wheel is unpacked; without it their tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from ttnn import metal

WHEEL = Path(os.environ.get("TTNN_OFFICIAL_WHEEL", "/nowhere")) / "ttnn"
KERNELS = "ttnn/cpp/ttnn/operations"
CORE = ttnn.CoreCoord(0, 0)
CORES = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, CORE)])
needs_wheel = pytest.mark.skipif(not (WHEEL / KERNELS).is_dir(), reason="TTNN_OFFICIAL_WHEEL names no unpacked wheel")


class Row(NamedTuple):
    """A row of chips."""

    mesh: ttnn.MeshDevice
    wraps: bool

    @property
    def chips(self) -> int:
        return self.mesh.get_num_devices()

    def neighbour(self, place: int, step: int) -> int | None:
        """Return the next chip; None at the end of a line."""
        other = place + step
        if self.wraps:
            return other % self.chips
        return other if 0 <= other < self.chips else None

    def node(self, place: int) -> ttnn.FabricNodeId:
        return self.mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, place))


@contextmanager
def row_of(
    chips: int, *, wraps: bool, fabric: ttnn.FabricConfig | None = None, system: str | None = None
) -> Iterator[Row]:
    """Open a row of chips; kernel files are the wheel's."""
    metal.set_root_dir(WHEEL)
    config = ttnn.FabricConfig.FABRIC_1D_RING if wraps else ttnn.FabricConfig.FABRIC_1D
    with ttnn.manage_config("system", system):
        ttnn.set_fabric_config(config if fabric is None else fabric)
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, chips))
        try:
            yield Row(mesh, wraps)
        finally:
            ttnn.close_mesh_device(mesh)
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
            metal.set_root_dir(Path.cwd())


def tensor(row: Row, shape: Sequence[int], dtype: ttnn.DataType, layout: ttnn.Layout) -> ttnn.Tensor:
    """Return a tensor with other values on each chip."""
    values = np.random.default_rng(3).standard_normal((row.chips * shape[0], *shape[1:]), dtype=np.float32)
    mapper = ttnn.ShardTensorToMesh(row.mesh, 0).unwrap()
    return ttnn.Tensor(values, dtype, device=row.mesh, layout=layout, mesh_mapper=mapper)


def parts(tensor: ttnn.Tensor) -> list[npt.NDArray[Any]]:
    return [part.to_numpy() for part in ttnn.get_device_tensors(tensor)]


def empty_like(x: ttnn.Tensor, mesh: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.allocate_tensor_on_device(x.shape, x.dtype, x.layout, mesh)


def accessor(tensor: ttnn.Tensor) -> list[int]:
    return list(ttnn.TensorAccessorArgs(tensor).get_compile_time_args())


def one(core: ttnn.CoreCoord) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange(core, core)])


def cb(
    index: int, page: int, pages: int, dtype: ttnn.DataType = ttnn.bfloat16, core: ttnn.CoreCoord = CORE
) -> ttnn.CBDescriptor:
    form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=dtype, page_size=page)
    return ttnn.CBDescriptor(total_size=page * pages, core_ranges=one(core), format_descriptors=[form])


def kernel(
    path: str, config: Any, fixed: Sequence[int], args: Sequence[int], core: ttnn.CoreCoord = CORE, **more: Any
) -> ttnn.KernelDescriptor:
    """Return a kernel of the wheel, on one core."""
    descriptor = ttnn.KernelDescriptor(
        kernel_source=f"{KERNELS}/{path}",
        core_ranges=one(core),
        compile_time_args=list(map(int, fixed)),
        config=config,
        **more,
    )
    descriptor.runtime_args[core.x][core.y] = list(map(int, args))
    return descriptor


def on_chips(programs: dict[int, ttnn.ProgramDescriptor]) -> ttnn.MeshProgramDescriptor:
    places = {place: ttnn.MeshCoordinate(0, place) for place in programs}
    return ttnn.MeshProgramDescriptor(
        {ttnn.MeshCoordinateRange(places[place], places[place]): program for place, program in programs.items()}
    )


def semaphores(row: Row, count: int, cores: ttnn.CoreRangeSet = CORES) -> list[ttnn.GlobalSemaphore]:
    return [ttnn.create_global_semaphore(row.mesh, cores, 0) for _ in range(count)]


def addresses(kept: Sequence[ttnn.GlobalSemaphore]) -> list[int]:
    return [ttnn.get_global_semaphore_address(semaphore) for semaphore in kept]


def ends(row: Row, place: int) -> tuple[int, int]:
    """Return how many chips a multicast reaches forward and backward."""
    if not row.wraps:
        return row.chips - 1 - place, place
    forward = row.chips // 2
    return forward, row.chips - 1 - forward
