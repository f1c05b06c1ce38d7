"""Meshes of several chips: opening, calls, collectives, a tensor-parallel layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ratios import compare, copy_of, in_turns

pytestmark = pytest.mark.usefixtures("no_device")

SHAPES = {"t3k": (2, 4), "galaxy": (8, 4)}
MEBIBYTES = 4
"""Size of each chip's tensor in the copies and sums."""
HIDDEN, HEADS, INNER, ROWS = 4096, 32, 14336, 32
"""Sizes of the layer, and rows of a batch."""


def resident_mebibytes() -> int:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096 >> 20


@pytest.fixture
def fabric(request: pytest.FixtureRequest) -> Iterator[None]:
    ttnn.set_fabric_config(request.param)
    yield
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


@pytest.fixture
def system(request: pytest.FixtureRequest) -> Iterator[str]:
    with ttnn.manage_config("system", request.param):
        yield request.param


def over(*fabrics: ttnn.FabricConfig) -> pytest.MarkDecorator:
    """Return the mark of a benchmark that needs a fabric."""
    return pytest.mark.parametrize("fabric", fabrics, indirect=True, ids=lambda fabric: fabric.name)


@pytest.mark.benchmark(group="open and close a mesh")
@pytest.mark.parametrize("system", SHAPES, indirect=True)
def test_open(benchmark: Any, system: str) -> None:
    before = resident_mebibytes()
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(*SHAPES[system]))
    benchmark.extra_info["resident MiB"] = resident_mebibytes() - before
    ttnn.close_mesh_device(mesh)
    benchmark(lambda: ttnn.close_mesh_device(ttnn.open_mesh_device(ttnn.MeshShape(*SHAPES[system]))))


@pytest.mark.benchmark(group="an operator on one tile of each chip")
@pytest.mark.parametrize("system", SHAPES, indirect=True)
def test_call(benchmark: Any, system: str) -> None:
    with ttnn.create_mesh_device(ttnn.MeshShape(*SHAPES[system])) as mesh:
        x = ttnn.ones((1, 1, 32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
        benchmark(ttnn.relu, x)


COLLECTIVES: dict[str, tuple[Callable[[ttnn.Tensor], ttnn.Tensor], int]] = {
    "all_gather": (lambda x: ttnn.all_gather(x, 2), 64 * MEBIBYTES),
    "reduce_scatter direct": (
        lambda x: ttnn.experimental.reduce_scatter_minimal_direct(x, 3),
        8 * MEBIBYTES,
    ),
    "reduce_scatter ring": (lambda x: ttnn.reduce_scatter(x, 3), 8 * MEBIBYTES),
    "reduce_scatter line": (lambda x: ttnn.reduce_scatter(x, 3, topology=ttnn.Topology.Linear), 8 * MEBIBYTES),
    "all_reduce": (lambda x: ttnn.all_reduce(x), 72 * MEBIBYTES),
}
"""With the MiB of a copy.

They are those that are written, of sums those that are read."""


@pytest.mark.benchmark(group="collectives of eight chips, 4 MiB of bfloat16 each")
@over(ttnn.FabricConfig.FABRIC_1D_RING)
@pytest.mark.parametrize("system", ["t3k"], indirect=True)
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective(benchmark: Any, system: str, fabric: None, name: str) -> None:
    rows = (MEBIBYTES << 20) // 2 // 2048
    values = np.random.default_rng(1).normal(size=(8, 1, rows, 2048)).astype(np.float32)
    call, size = COLLECTIVES[name]
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 8)) as mesh:
        mapper = ttnn.ShardTensorToMesh(mesh, 0)
        x = ttnn.Tensor(values, ttnn.bfloat16, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)
        compare(benchmark, lambda: call(x), copy_of(size << 20), "copy")


@pytest.mark.benchmark(group="all_gather of eight chips, 4 MiB of bfloat16 each")
@over(ttnn.FabricConfig.FABRIC_1D_RING)
@pytest.mark.parametrize("system", ["t3k"], indirect=True)
@pytest.mark.parametrize("kind", ["new", "given"])
def test_all_gather_by_result(benchmark: Any, system: str, fabric: None, kind: str) -> None:
    """Compare new results with new arrays, given ones with given ones."""
    rows = (MEBIBYTES << 20) // 2 // 2048
    values = np.random.default_rng(1).normal(size=(8, 1, rows, 2048)).astype(np.float32)
    source = np.ones(64 * MEBIBYTES << 20, np.uint8)
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 8)) as mesh:
        mapper = ttnn.ShardTensorToMesh(mesh, 0)
        x = ttnn.Tensor(values, ttnn.bfloat16, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)
        if kind == "new":
            compare(benchmark, lambda: ttnn.all_gather(x, 2), source.copy, "copy")
        else:
            result = ttnn.all_gather(x, 2)
            compare(benchmark, lambda: ttnn.all_gather(x, 2, output_tensor=result), copy_of(source.nbytes), "copy")


class Layer:
    """A Llama-like layer, divided over the chips of a mesh."""

    def __init__(self, mesh: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
        self._mesh, self._dtype, self._random = mesh, dtype, np.random.default_rng(1)
        self.heads = HEADS // mesh.get_num_devices()
        self.gamma = self._matrix((1, 1, HIDDEN // 32, 32), None, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
        self.qkv, self.gate, self.up = (self._weight(HIDDEN, size, -1) for size in (3 * HIDDEN, INNER, INNER))
        self.out, self.down = (self._weight(size, HIDDEN, -2) for size in (HIDDEN, INNER))
        self.x = self._matrix((1, 1, ROWS, HIDDEN), None)
        self.part, self.inner = (self._matrix((1, 1, ROWS, size), -1) for size in (HIDDEN, INNER))

    def _weight(self, rows: int, columns: int, dim: int) -> ttnn.Tensor:
        return self._matrix((1, 1, rows, columns), dim, self._dtype)

    def _matrix(
        self,
        shape: tuple[int, ...],
        dim: int | None,
        dtype: ttnn.DataType = ttnn.bfloat16,
        layout: ttnn.Layout = ttnn.TILE_LAYOUT,
    ) -> ttnn.Tensor:
        values = self._random.standard_normal(shape, np.float32) / 64
        mapper = ttnn.ReplicateTensorToMesh(self._mesh) if dim is None else ttnn.ShardTensorToMesh(self._mesh, dim)
        return ttnn.Tensor(values, dtype, device=self._mesh, layout=layout, mesh_mapper=mapper)

    def __call__(self) -> ttnn.Tensor:
        normed = ttnn.rms_norm(self.x, weight=self.gamma)
        heads = ttnn.experimental.nlp_create_qkv_heads(
            ttnn.linear(normed, self.qkv), num_heads=self.heads, transpose_k_heads=False
        )
        attended = ttnn.transformer.scaled_dot_product_attention(*heads, is_causal=True)
        partial = ttnn.linear(ttnn.experimental.nlp_concat_heads(attended), self.out)
        residual = ttnn.add(self.x, ttnn.all_reduce(partial))
        normed = ttnn.rms_norm(residual, weight=self.gamma)
        gate = ttnn.linear(normed, self.gate, activation="silu")
        partial = ttnn.linear(ttnn.multiply(gate, ttnn.linear(normed, self.up)), self.down)
        return ttnn.add(residual, ttnn.all_reduce(partial))

    def products(self) -> None:
        """Compute the layer's products alone."""
        for weight in (self.qkv, self.gate, self.up):
            ttnn.linear(self.x, weight)
        ttnn.linear(self.part, self.out)
        ttnn.linear(self.inner, self.down)


@pytest.mark.benchmark(group="a tensor-parallel layer on 2x4 chips")
@over(ttnn.FabricConfig.FABRIC_1D)
@pytest.mark.parametrize("system", ["t3k"], indirect=True)
@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_layer(benchmark: Any, system: str, fabric: None, numerics: str) -> None:
    with (
        ttnn.manage_config("numerics", numerics),
        ttnn.create_mesh_device(ttnn.MeshShape(*SHAPES[system])) as mesh,
    ):
        layer = Layer(mesh, ttnn.bfloat16)
        whole, products = in_turns(benchmark, [layer, layer.products])
        benchmark.extra_info.update({"products_seconds": products, "times_products": whole / products})
        benchmark.pedantic(layer, rounds=1)
