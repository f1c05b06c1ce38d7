"""Host side of programs: meshes, memory, sources, sub-devices, printing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from broken import pipeline
from host_parts import PAIR, TILES, buffers, copy_program, same

import ttnn
from testkit.parts import CORE, TILE, add_cb, tiles_buffer, values
from ttnn import metal


def test_mesh_of_one_chip_runs_workloads() -> None:
    mesh = metal.distributed.MeshDevice.create(metal.MeshDeviceConfig(mesh_shape=ttnn.MeshShape(1, 1)))
    queue = mesh.mesh_command_queue()
    local = metal.DeviceLocalBufferConfig(page_size=2048)
    config = metal.ReplicatedBufferConfig(size=TILES * 2048)
    source, target = (metal.MeshBuffer.create(config, local, mesh) for _ in range(2))
    assert (source.size(), source.device_local_size(), source.num_pages()) == (8192, 8192, 4)
    data = values(TILES * TILE, 3)
    metal.enqueue_write_mesh_buffer(queue, source, data)
    workload = metal.MeshWorkload()
    workload.add_program(ttnn.MeshCoordinateRange(mesh.shape), copy_program(mesh, source, target))
    assert metal.enqueue_mesh_workload(queue, workload, False).cycles > 0
    queue.finish()
    words: list[int] = []
    metal.enqueue_read_mesh_buffer(queue, words, target, True)
    assert np.array_equal(np.array(words, np.uint32).view(np.uint16), data.view(np.uint16))
    origin = ttnn.MeshCoordinate(0, 0)
    metal.write_shard(queue, target, np.zeros(8192, np.uint8), origin)
    assert not metal.read_shard(queue, [], target.get_device_buffer(origin), origin).any()
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        metal.read_shard(queue, [], target, ttnn.MeshCoordinate(0, 1))
    with pytest.raises(ttnn.MemoryConfigError, match="overlaps with"):
        workload.add_program(ttnn.MeshCoordinateRange(mesh.shape), metal.create_program())
    elsewhere = metal.MeshWorkload()
    elsewhere.add_program(ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 2)), metal.create_program())
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        metal.enqueue_mesh_workload(queue, elsewhere)
    halves = metal.ShardedMeshBufferConfig(global_size=8192, global_buffer_shape=(64, 64), shard_shape=(32, 64))
    with pytest.raises(ttnn.MemoryConfigError, match=r"2 parts, each on 1 of the chips, for MeshDevice\(1x1"):
        metal.MeshBuffer.create(halves, local, mesh)
    trace = mesh.begin_mesh_trace()
    metal.enqueue_mesh_workload(queue, workload)
    mesh.end_mesh_trace(0, trace)
    mesh.replay_mesh_trace(0, trace)
    assert same(source, target)
    mesh.release_mesh_trace(trace)
    assert mesh.close()
    pair = ttnn.MeshDevice.create(metal.MeshDeviceConfig(mesh_shape=ttnn.MeshShape(1, 2)))
    assert pair.get_num_devices() == 2
    assert pair.close()


def test_sharded_buffers_accept_official_parameters(device: ttnn.MeshDevice) -> None:
    spec = metal.ShardSpecBuffer(
        metal.CoreRangeSet([PAIR]), (32, 64), ttnn.ShardOrientation.ROW_MAJOR, (32, 32), (2, 2)
    )
    config = metal.ShardedBufferConfig(device=device, size=8192, page_size=2048, shard_parameters=spec)
    buffer = metal.create_buffer(config)
    data = values(4 * TILE, 1)
    buffer.write(data)
    assert np.array_equal(buffer.read(np.uint16), data.view(np.uint16))
    # The second core has the second row of tiles.
    assert np.array_equal(
        metal.read_from_device_l1(device, (1, 0), buffer.address(), 4096), data.view(np.uint32)[1024:]
    )


def test_memory_is_written_and_read_by_address(device: ttnn.MeshDevice) -> None:
    buffer = tiles_buffer(device, 1)
    metal.write_to_device_dram_channel(device, 0, buffer.address(), np.arange(512, dtype=np.uint32))
    assert np.array_equal(metal.read_from_buffer(buffer), np.arange(512))
    metal.write_to_buffer(buffer, np.zeros(512, np.uint32))
    words: list[int] = []
    metal.read_from_device_dram_channel(device, 0, buffer.address(), 16, words)
    assert words == [0] * 4
    metal.write_to_device_l1(device, (7, 7), 500_000, [1, 2, 3])
    assert metal.read_from_device_l1(device, (7, 7), 500_000, 12).tolist() == [1, 2, 3]
    for call in (
        lambda: metal.read_from_device_l1(device, (7, 7), 1_499_132, 8),
        lambda: metal.read_from_device_l1(device, (8, 8), 0, 8),
        lambda: metal.read_from_device_dram_channel(device, 12, 0, 8),
        lambda: metal.write_to_device_dram_channel(device, 0, (1 << 30) - 4, [1, 2]),
    ):
        with pytest.raises(ttnn.DeviceError, match=r"outside|does not exist"):
            call()


KERNEL = """
def kernel_main():
    noc_semaphore_set(L1Pointer(get_semaphore(0)), get_compile_time_arg_val(0))
    helper()


def helper():
    assert get_define("MODE") == "slow"
"""


def test_kernels_are_created_from_files_and_texts(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    path = tmp_path / "writer.py"
    path.write_text(KERNEL)
    config = metal.DataMovementConfig(compile_args=[3], defines={"MODE": "slow"})

    def program() -> metal.Program:
        made = metal.create_program()
        metal.create_semaphore(made, CORE, 0)
        return made

    first, second, third = program(), program(), program()
    metal.create_kernel(first, str(path), CORE, config)
    metal.create_kernel_from_string(second, KERNEL, CORE, config)
    metal.set_root_dir(tmp_path)
    metal.create_kernel(third, "writer.py", CORE, config)
    for made in (first, second, third):
        metal.run_program(device, made)
    wrong = metal.DataMovementConfig(compile_args=[3], defines={"MODE": "fast"})
    fourth = program()
    metal.create_kernel_from_string(fourth, KERNEL, CORE, wrong)
    with pytest.raises(ttnn.KernelError, match=r"AssertionError") as caught:
        metal.run_program(device, fourth)
    assert caught.value.line == 8
    device.reset()
    for text, error, sentence in (
        ("int x;", ttnn.KernelError, "SyntaxError"),
        ("def main(): pass", ttnn.KernelError, "defines no function kernel_main"),
    ):
        with pytest.raises(error, match=sentence):
            metal.create_kernel_from_string(program(), text, CORE, config)
    with pytest.raises(ttnn.KernelError, match="doesn't exist in any of the searched paths"):
        metal.create_kernel(program(), "nowhere.py", CORE, config)


def test_programs_run_on_one_sub_device_only(device: ttnn.MeshDevice) -> None:
    left, right = (
        metal.CoreRangeSet([metal.CoreRange(metal.CoreCoord(x, 0), metal.CoreCoord(x + 3, 7))]) for x in (0, 4)
    )
    manager = device.create_sub_device_manager([ttnn.SubDevice([left]), ttnn.SubDevice([right])], 0)
    device.load_sub_device_manager(manager)
    device.set_sub_device_stall_group([ttnn.SubDeviceId(1)])
    a, out = buffers(device, 2)
    metal.run_program(device, copy_program(device, a, out))
    across = metal.create_program()
    both = metal.CoreRange(metal.CoreCoord(3, 0), metal.CoreCoord(4, 0))
    metal.create_kernel(across, lambda: None, both, metal.DataMovementConfig())
    with pytest.raises(ttnn.DeviceError, match="Programs must be executed on a single sub-device"):
        metal.run_program(device, across)
    with pytest.raises(ttnn.DeviceError, match="sub-device 2 of 2 does not exist"):
        ttnn.synchronize_device(device, sub_device_ids=[ttnn.SubDeviceId(2)])
    with pytest.raises(ttnn.DeviceError, match="is loaded; clear it first"):
        device.remove_sub_device_manager(manager)
    device.clear_loaded_sub_device_manager()
    device.remove_sub_device_manager(manager)
    metal.run_program(device, across)
    with pytest.raises(ttnn.DeviceError, match="has no sub-device manager 1"):
        device.load_sub_device_manager(manager)
    with pytest.raises(ttnn.DeviceError, match="core 0-0 is in two sub-devices"):
        device.create_sub_device_manager([ttnn.SubDevice([left]), ttnn.SubDevice([left])], 0)
    with pytest.raises(ttnn.ArgumentError, match="local_l1_size must be a number of bytes, got -1"):
        device.create_sub_device_manager([ttnn.SubDevice([left])], -1)


def test_sub_devices_keep_l1_of_their_own(device: ttnn.MeshDevice) -> None:
    whole = device.engine.memory_view(ttnn.BufferType.L1.value)["largest_contiguous_bytes_free_per_bank"]
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))])
    manager = device.create_sub_device_manager([ttnn.SubDevice([cores])], whole - 4096)

    def filled() -> ttnn.Tensor:
        shards = ttnn.ShardSpec(cores, (32, 96), ttnn.ShardOrientation.ROW_MAJOR)
        place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
        return ttnn.zeros([32, 96], ttnn.bfloat16, ttnn.TILE_LAYOUT, device, place)

    device.load_sub_device_manager(manager)
    with pytest.raises(ttnn.OutOfMemoryError):
        filled()
    device.clear_loaded_sub_device_manager()
    tensor = filled()
    with pytest.raises(ttnn.DeviceError, match="buffers occupy the first"):
        device.load_sub_device_manager(manager)
    tensor.deallocate()
    device.load_sub_device_manager(manager)
    device.clear_loaded_sub_device_manager()


def test_program_describes_its_kernels_and_buffers(device: ttnn.MeshDevice) -> None:
    program = pipeline(device)
    program.kernels[1].config.compile_args = list(range(20))
    metal.set_common_runtime_args(program, program.kernels[0], [5])
    metal.create_semaphore(program, PAIR, 3)
    add_cb(program, 24, 1, metal.DataFormat.Float32, PAIR)
    source, target = (program.kernels[i].args[0, 0][0] for i in (0, 2))
    compiled = "[0, 1, 2, 3, 4, 5, 6, 7, ... 20 in all]"
    l1 = tiles_buffer(device, 1, buffer_type=metal.BufferType.L1)
    assert program.describe(device).splitlines() == [
        "Program on 2 cores {[0-0 - 1-0]}",
        "  kernels",
        f"    BRISC   write_one   on {{[0-0 - 0-0]}}  NoC 1  arguments [{target}, 4]",
        f"    NCRISC  read_one    on {{[0-0 - 0-0]}}  NoC 0  arguments [{source}, 4]; common arguments [5]",
        f"    TRISC   copy_tiles  on {{[0-0 - 0-0]}}  HiFi4  compiled with {compiled}; arguments [4]",
        "  circular buffers",
        "    CB 0   2 pages of 2048 B  Float16_b  on {[0-0 - 0-0]}",
        "    CB 16  2 pages of 2048 B  Float16_b  on {[0-0 - 0-0]}",
        "    CB 24  1 page of 4096 B   Float32    on {[0-0 - 1-0]}",
        "  semaphores",
        "    0  starts at 3  on {[0-0 - 1-0]}",
        "  L1 of {[0-0 - 0-0]}: 12288 B of circular buffers",
        "      105,824    109,920  CB 0",
        "      109,920    114,016  CB 16",
        "      114,016    118,112  CB 24",
        f"      118,112  {l1.address():>9,}  free, {l1.address() - 118_112} B",
        "  L1 of {[1-0 - 1-0]}: 4096 B of circular buffers",
        "      114,016    118,112  CB 24",
        f"      118,112  {l1.address():>9,}  free, {l1.address() - 118_112} B",
    ]
    assert "addresses from the first that is free" in repr(program)
    assert repr(metal.create_program()) == "Program on 0 cores"
    add_cb(program, 5, 800)
    assert "CB 5" in repr(program)
    with pytest.raises(ttnn.MemoryConfigError, match="beyond max L1 size"):
        program.describe(device)
