"""Prints sha256 of results on a mesh, in one process or several."""

from __future__ import annotations

import hashlib

import numpy as np

import ttnn
from testkit.meshes import by_chip, different, mesh_of
from ttnn import metal

TOPOLOGY = ttnn.Topology


def show(name: str, *tensors: ttnn.Tensor) -> None:
    digest = hashlib.sha256()
    for tensor in tensors:
        for part in by_chip(tensor):
            digest.update(part.tobytes())
    if ttnn.distributed_context_get_rank() == 0:
        print(f"{name} {digest.hexdigest()}", flush=True)


def sums(mesh: ttnn.MeshDevice) -> None:
    x = different(mesh, (1, 1, 64, 512))
    show("direct", ttnn.reduce_scatter(x, 3))
    show("ring", ttnn.reduce_scatter(x, 3, num_workers_per_link=1))
    show("line", ttnn.reduce_scatter(x, 3, topology=TOPOLOGY.Linear))
    show("large", ttnn.reduce_scatter(different(mesh, (1, 1, 32, 8448)), 3))
    show("turn", ttnn.reduce_scatter(different(mesh, (8, 1, 64, 1024)), 0))
    blocks = different(mesh, (1, 1, 64, 512), ttnn.bfloat8_b)
    show("blocks", ttnn.reduce_scatter(blocks, 3), ttnn.all_gather(blocks, 3))
    show("float32", ttnn.all_reduce(different(mesh, (1, 1, 32, 256), ttnn.float32)))
    show("sequential", ttnn.all_reduce(different(mesh, (1, 1, 32, 32))))


def copies(mesh: ttnn.MeshDevice) -> None:
    x = different(mesh, (1, 1, 64, 256))
    show("all_gather", *(ttnn.all_gather(x, 2, cluster_axis=axis) for axis in (0, 1)))
    show("all_broadcast", *ttnn.all_broadcast(x, cluster_axis=1))
    show("broadcast", ttnn.broadcast(x, ttnn.MeshCoordinate(1, 2), cluster_axis=0))
    show("point_to_point", ttnn.point_to_point(x, ttnn.MeshCoordinate(0, 3), ttnn.MeshCoordinate(0, 0)))
    show("mesh_partition", ttnn.mesh_partition(x, 3, cluster_axis=1))
    weights = different(mesh, (1, 1, 256, 64))
    show("layer", ttnn.all_reduce(ttnn.gelu(ttnn.matmul(x, weights)), cluster_axis=1))
    submesh = mesh.create_submesh(ttnn.MeshShape(2, 2), ttnn.MeshCoordinate(0, 1))
    show("submesh", ttnn.all_reduce(different(submesh, (1, 1, 64, 64)), cluster_axis=0))
    indices = ttnn.Tensor(np.arange(8).reshape(8, 1, 1, 1), ttnn.uint32, device=mesh, layout=ttnn.ROW_MAJOR_LAYOUT)
    show("embedding", ttnn.embedding(indices, ttnn.to_layout(weights, ttnn.ROW_MAJOR_LAYOUT)))
    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    result = ttnn.all_gather(ttnn.add(x, x), 3, cluster_axis=1)
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    ttnn.execute_trace(mesh, trace, cq_id=0)
    show("trace", result)
    metal_buffers(mesh)


def metal_buffers(mesh: ttnn.MeshDevice) -> None:
    queue = mesh.mesh_command_queue()
    config = metal.ShardedMeshBufferConfig(global_size=8192, global_buffer_shape=(64, 64), shard_shape=(32, 16))
    buffer = metal.MeshBuffer.create(config, metal.DeviceLocalBufferConfig(page_size=1024), mesh)
    metal.enqueue_write_mesh_buffer(queue, buffer, np.arange(4096, dtype=np.uint16))
    values = np.zeros(4096, np.uint16)
    metal.enqueue_read_mesh_buffer(queue, values, buffer)
    assert np.array_equal(values, np.arange(4096))


with mesh_of((1, 8), ttnn.FabricConfig.FABRIC_1D_RING) as ring:
    sums(ring)
with mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as line:
    copies(line)
