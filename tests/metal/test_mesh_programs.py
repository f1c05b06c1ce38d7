"""Programs, buffers and semaphores of meshes, compared with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.parts import CORE, TILE, add_cb, tiles_buffer, values
from testkit.remote_kernels import RECEIVERS, ROUNDS, feed, forward, keep
from ttnn import metal
from ttnn.base.exceptions import ArgumentError
from ttnn.kernel_api import *

Words = npt.NDArray[np.uint32]
PAGE = 64
PAGES = 3
WORDS = PAGES * PAGE // 4
IN_CPP = """
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const InterleavedAddrGen<true> source = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 64};
    const InterleavedAddrGen<true> target = {.bank_base_address = get_arg_val<uint32_t>(1), .page_size = 64};
    const uint32_t pages = get_arg_val<uint32_t>(2);
    const uint32_t l1 = get_write_ptr(0);
    volatile tt_l1_ptr uint32_t* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(l1);
    for (uint32_t page = 0; page < pages; ++page) {
        noc_async_read(get_noc_addr(page, source), l1, 64);
        noc_async_read_barrier();
        for (uint32_t i = 0; i < 16; ++i) {
            words[i] += get_arg_val<uint32_t>(3);
        }
        noc_async_write(l1, get_noc_addr(page, target), 64);
        noc_async_write_barrier();
    }
}
"""


def add_number() -> None:
    """Add a number to words. Arguments: source, target, pages, number."""
    source = InterleavedAddrGen[True](bank_base_address=get_arg_val(0), page_size=PAGE)
    target = InterleavedAddrGen[True](bank_base_address=get_arg_val(1), page_size=PAGE)
    l1 = get_write_ptr(0)
    words = L1Pointer(l1)
    for page in range(get_arg_val(2)):
        noc_async_read(get_noc_addr(page, source), l1, PAGE)
        noc_async_read_barrier()
        for i in range(PAGE // 4):
            words[i] = words[i] + get_arg_val(3)
        noc_async_write(l1, get_noc_addr(page, target), PAGE)
        noc_async_write_barrier()


def count_words() -> None:
    """Count up to the first word of a page. Arguments: source."""
    source = InterleavedAddrGen[True](bank_base_address=get_arg_val(0), page_size=PAGE)
    l1 = get_write_ptr(0)
    noc_async_read(get_noc_addr(0, source), l1, PAGE)
    noc_async_read_barrier()
    word = L1Pointer(l1)
    assert word[0] < 1000, "too many"
    for _ in range(word[0]):
        word[1] = word[1] + 1
    if word[0] == 999:
        cb_wait_front(0, 1)


def program_of(kernel: object, args: list[Any]) -> metal.Program:
    program = metal.create_program()
    add_cb(program, 0)
    create = metal.CreateKernelFromString if isinstance(kernel, str) else metal.create_kernel
    metal.set_runtime_args(program, create(program, kernel, CORE, metal.DataMovementConfig()), CORE, args)
    return program


@pytest.fixture
def mesh() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_mesh_device(ttnn.MeshShape(2, 4), num_command_queues=2)
    yield opened
    if opened.is_open:
        ttnn.close_mesh_device(opened)


@pytest.fixture(params=["2x4", "submesh"])
def part(request: pytest.FixtureRequest, mesh: ttnn.MeshDevice) -> ttnn.MeshDevice:
    return mesh if request.param == "2x4" else mesh.create_submesh(ttnn.MeshShape(2, 2), ttnn.MeshCoordinate(0, 1))


def replicated(mesh: ttnn.MeshDevice, **more: Any) -> metal.MeshBuffer:
    local = metal.DeviceLocalBufferConfig(page_size=PAGE, **more)
    return metal.MeshBuffer.create(metal.ReplicatedBufferConfig(size=WORDS * 4), local, mesh)


def filled(mesh: ttnn.MeshDevice) -> tuple[metal.MeshBuffer, Words]:
    """Return a buffer with other words on each chip, and these."""
    shape = (*mesh.shape, WORDS)
    words = np.random.default_rng(0).integers(0, 1 << 31, shape, np.uint32)
    buffer, queue = replicated(mesh), mesh.mesh_command_queue()
    for row, column in np.ndindex(*mesh.shape):
        metal.WriteShard(queue, buffer, words[row, column], ttnn.MeshCoordinate(row, column))
    return buffer, words


def contents(mesh: ttnn.MeshDevice, buffer: metal.Buffer) -> Words:
    read = [metal.ReadShard(mesh.mesh_command_queue(), [], buffer, coord) for coord in mesh.coordinates()]
    return np.array(read).reshape(*mesh.shape, -1)


def span(*corners: tuple[int, int]) -> ttnn.MeshCoordinateRange:
    start, end = (ttnn.MeshCoordinate(*corner) for corner in corners)
    return ttnn.MeshCoordinateRange(start, end)


@pytest.mark.parametrize("kernel", [add_number, IN_CPP], ids=["python", "cpp"])
def test_a_workload_runs_each_program_on_the_chips_of_its_range(part: ttnn.MeshDevice, kernel: object) -> None:
    source, words = filled(part)
    target = replicated(part)
    workload = metal.MeshWorkload()
    columns = part.shape[1]
    workload.add_program(span((1, 0), (1, columns - 1)), program_of(kernel, [source, target, 1, 1000]))
    workload.add_program(span((0, 0), (0, columns - 2)), program_of(kernel, [source, target, PAGES, 7]))
    metal.enqueue_write_mesh_buffer(part.mesh_command_queue(), target, np.zeros(WORDS, np.uint32))
    report = metal.EnqueueMeshWorkload(part.mesh_command_queue(), workload, False)
    expected = np.zeros_like(words)
    expected[1, :, : PAGE // 4] = words[1, :, : PAGE // 4] + 1000
    expected[0, :-1] = words[0, :-1] + 7
    np.testing.assert_array_equal(contents(part, target), expected)
    # The chips of three pages are the slowest.
    assert isinstance(report, metal.MeshReport)
    order = [coord for coord in part.coordinates() if coord != ttnn.MeshCoordinate(0, columns - 1)]
    assert list(report.chips) == order
    assert report.cycles == max(each.cycles for each in report.chips.values()) == report.chips[order[0]].cycles
    assert report.chips[order[-1]].cycles < report.cycles
    assert report.chip == ttnn.MeshCoordinate(0, 0)
    first = f" on chip (0, 0), the slowest of {len(order)}\n"
    assert first in repr(report)
    assert repr(report.chips[order[-1]]).partition("\n")[0].endswith(f" on chip (1, {columns - 1})")


@pytest.mark.parametrize("kernel", [add_number, IN_CPP], ids=["python", "cpp"])
def test_a_program_runs_on_all_chips(part: ttnn.MeshDevice, kernel: object) -> None:
    source, words = filled(part)
    program = program_of(kernel, [source, source, PAGES, 5])
    before = part.mesh_command_queue().last_report
    assert before is None
    report = metal.enqueue_program(part.mesh_command_queue(), program)
    assert metal.run_program(part, program).cycles == report.cycles
    np.testing.assert_array_equal(contents(part, source), words + 10)
    assert part.mesh_command_queue().last_report is report


def test_a_submesh_changes_no_other_chip(mesh: ttnn.MeshDevice) -> None:
    part = mesh.create_submesh(ttnn.MeshShape(1, 2), ttnn.MeshCoordinate(1, 1))
    source, words = filled(mesh)
    metal.run_program(part, program_of(add_number, [source.address(), source.address(), PAGES, 5]))
    words[1, 1:3] += 5
    np.testing.assert_array_equal(contents(mesh, source), words)


def test_ranges_with_a_chip_in_common_are_an_error(mesh: ttnn.MeshDevice) -> None:
    workload, queue = metal.MeshWorkload(), mesh.mesh_command_queue()
    first, second = span((0, 0), (1, 1)), span((1, 1), (1, 3))
    workload.add_program(first, metal.create_program())
    with pytest.raises(ttnn.MemoryConfigError) as caught:
        workload.add_program(second, metal.create_program())
    assert repr(first) in str(caught.value)
    assert repr(second) in str(caught.value)
    workload.add_program(span((0, 2), (0, 4)), metal.create_program())
    with pytest.raises(ttnn.DeviceError, match=r"MeshCoordinate\(\[0, 4\]\) is outside the mesh"):
        metal.enqueue_mesh_workload(queue, workload)


def test_a_replicated_buffer_is_written_on_all_chips_and_read_from_one(part: ttnn.MeshDevice) -> None:
    buffer, queue = replicated(part, buffer_type=metal.BufferType.L1), part.mesh_command_queue()
    words = np.arange(WORDS, dtype=np.uint32)
    metal.EnqueueWriteMeshBuffer(queue, buffer, words)
    np.testing.assert_array_equal(contents(part, buffer), np.broadcast_to(words, (*part.shape, WORDS)))
    last = ttnn.MeshCoordinate(1, 1)
    buffer.get_device_buffer(last).write(words + 1)
    assert metal.read_shard(queue, [], buffer, last).tolist() == (words + 1).tolist()
    assert buffer.get_reference_buffer().read().tolist() == words.tolist()
    assert buffer.get_device_buffer(last).address() == buffer.address()
    for read in (
        lambda: metal.EnqueueReadMeshBuffer(queue, [], buffer, True),
        lambda: metal.read_from_buffer(buffer),
        lambda: buffer.read(),
    ):
        with pytest.raises(ttnn.DeviceError, match=f"has contents on {len(part.chips)} chips"):
            read()
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        metal.WriteShard(queue, buffer, words, ttnn.MeshCoordinate(2, 0))
    with pytest.raises(ttnn.DeviceError, match="no chips at places"):
        metal.read_shard(queue, [], buffer.get_device_buffer(last), ttnn.MeshCoordinate(0, 0))
    with pytest.raises(ArgumentError, match="expected a MeshCoordinate, got None"):
        metal.read_shard(queue, [], buffer, None)
    with pytest.raises(ArgumentError, match="4 B for a buffer of 192 B"):
        metal.write_shard(queue, buffer, [1], last)


ROWS, COLUMNS = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR


@pytest.mark.parametrize(
    ("shard", "orientation", "order"),
    [
        ((32, 16), ROWS, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]),
        ((32, 16), COLUMNS, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)]),
        ((32, 32), COLUMNS, [(0, 0), (1, 0), (0, 1), (1, 1)]),
        ((64, 64), ROWS, [(0, 0)]),
    ],
)
def test_a_sharded_buffer_is_cut_and_joined(
    mesh: ttnn.MeshDevice, shard: tuple[int, int], orientation: ttnn.ShardOrientation, order: list[tuple[int, int]]
) -> None:
    # 64 rows of 64 16-bit elements.
    local = metal.DeviceLocalBufferConfig(page_size=PAGE)
    config = metal.ShardedMeshBufferConfig(
        global_size=8192, global_buffer_shape=(64, 64), shard_shape=shard, shard_orientation=orientation
    )
    buffer, queue = metal.MeshBuffer.create(config, local, mesh), mesh.mesh_command_queue()
    local_size = shard[0] * shard[1] * 2
    assert (buffer.size(), buffer.device_local_size()) == (8192, local_size)
    assert buffer.num_pages() == local_size // PAGE
    whole = np.random.default_rng(1).integers(0, 1 << 16, (64, 64), np.uint16)
    metal.enqueue_write_mesh_buffer(queue, buffer, whole)
    parts = whole.reshape(64 // shard[0], shard[0], 64 // shard[1], shard[1]).swapaxes(1, 2).reshape(-1, *shard)
    for part, coord in zip(parts, order, strict=False):
        read = metal.read_shard(queue, None, buffer, ttnn.MeshCoordinate(*coord))
        np.testing.assert_array_equal(read.view(np.uint16), part.reshape(-1))
    words: list[int] = []
    metal.enqueue_read_mesh_buffer(queue, words, buffer)
    np.testing.assert_array_equal(np.array(words, np.uint32).view(np.uint16), whole.reshape(-1))
    metal.write_shard(queue, buffer, np.zeros(local_size, np.uint8), ttnn.MeshCoordinate(0, 0))
    whole[: shard[0], : shard[1]] = 0
    read = np.empty((64, 64), np.uint16)
    assert metal.enqueue_read_mesh_buffer(queue, read, buffer) is read
    np.testing.assert_array_equal(read, whole)
    with pytest.raises(ArgumentError, match="4 B for a buffer of 8192 B"):
        metal.enqueue_write_mesh_buffer(queue, buffer, [1])


@pytest.mark.parametrize(
    ("shard", "orientation", "part_of"),
    [
        ((0, 16), ROWS, lambda whole, row, column: whole[:, 16 * column : 16 * column + 16]),
        ((32, 0), COLUMNS, lambda whole, row, column: whole[32 * row : 32 * row + 32]),
        ((0, 0), ROWS, lambda whole, row, column: whole),
    ],
)
def test_a_dimension_of_0_is_the_same_on_a_row_or_column(
    mesh: ttnn.MeshDevice, shard: tuple[int, int], orientation: ttnn.ShardOrientation, part_of: Any
) -> None:
    config = metal.ShardedMeshBufferConfig(
        global_size=8192, global_buffer_shape=(64, 64), shard_shape=shard, shard_orientation=orientation
    )
    buffer = metal.MeshBuffer.create(config, metal.DeviceLocalBufferConfig(page_size=PAGE), mesh)
    whole = np.random.default_rng(2).integers(0, 1 << 16, (64, 64), np.uint16)
    metal.enqueue_write_mesh_buffer(mesh.mesh_command_queue(), buffer, whole)
    for row, column in np.ndindex(2, 4):
        read = buffer.read(np.uint16, ttnn.MeshCoordinate(row, column))
        np.testing.assert_array_equal(read, part_of(whole, row, column).reshape(-1))
    with pytest.raises(ttnn.DeviceError, match="has parts on several chips each"):
        metal.enqueue_read_mesh_buffer(mesh.mesh_command_queue(), buffer)


@pytest.mark.parametrize(
    ("size", "shape", "shard", "sentence"),
    [
        (8192, (64, 64), (32, 24), "do not divide a buffer"),
        (8192, (64, 64), (16, 16), "16 parts, each on 1 of the chips"),
        (8192, (64, 64), (0, 8), "8 parts, each on 2 of the chips"),
        (8191, (64, 64), (32, 32), "cannot be divided into whole bytes"),
        (8192, (64, 0), (32, 0), "cannot be divided into whole bytes"),
    ],
)
def test_parts_that_no_mesh_has_are_errors(
    mesh: ttnn.MeshDevice, size: int, shape: tuple[int, int], shard: tuple[int, int], sentence: str
) -> None:
    config = metal.ShardedMeshBufferConfig(global_size=size, global_buffer_shape=shape, shard_shape=shard)
    with pytest.raises(ttnn.MemoryConfigError, match=sentence):
        metal.MeshBuffer.create(config, metal.DeviceLocalBufferConfig(page_size=PAGE), mesh)


def test_programs_work_on_the_parts_of_a_sharded_buffer(mesh: ttnn.MeshDevice) -> None:
    config = metal.ShardedMeshBufferConfig(global_size=8192, global_buffer_shape=(64, 32), shard_shape=(32, 8))
    source, target = (
        metal.MeshBuffer.create(config, metal.DeviceLocalBufferConfig(page_size=PAGE), mesh) for _ in range(2)
    )
    whole = np.random.default_rng(3).integers(0, 1 << 31, (64, 32), np.uint32)
    queue = mesh.mesh_command_queue()
    metal.enqueue_write_mesh_buffer(queue, source, whole)
    metal.enqueue_program(queue, program_of(add_number, [source, target, source.num_pages(), 3]))
    np.testing.assert_array_equal(metal.enqueue_read_mesh_buffer(queue, target).reshape(64, 32), whole + 3)


def described(source: ttnn.Tensor, target: ttnn.Tensor, number: int) -> ttnn.ProgramDescriptor:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, CORE)])
    args = ttnn.RuntimeArgs()
    args[0][0] = [source.buffer_address(), target.buffer_address(), 2, number]
    kernel = ttnn.KernelDescriptor(
        kernel_source=IN_CPP,
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=cores,
        runtime_args=args,
        config=ttnn.WriterConfigDescriptor(),
    )
    form = ttnn.CBFormatDescriptor(0, ttnn.uint32, PAGE)
    return ttnn.ProgramDescriptor([kernel], [], [ttnn.CBDescriptor(PAGE, cores, [form])])


def tensors(mesh: ttnn.MeshDevice) -> tuple[ttnn.Tensor, ttnn.Tensor, Words]:
    """Return a tensor, one of zeros, and the words by chip."""
    words = np.random.default_rng(4).integers(0, 1 << 31, (2, len(mesh.chips), 16), np.uint32)
    mapper = ttnn.ShardTensorToMesh(mesh, 1)
    source, target = (
        ttnn.from_torch(values.astype(np.int32), dtype=ttnn.uint32, device=mesh, mesh_mapper=mapper)
        for values in (words, np.zeros_like(words))
    )
    return source, target, words


def joined(mesh: ttnn.MeshDevice, tensor: ttnn.Tensor) -> Words:
    parts = [part.cpu().to_numpy().reshape(2, 1, 16) for part in ttnn.get_device_tensors(tensor)]
    return np.concatenate(parts, axis=1).astype(np.uint32)


def test_generic_op_runs_the_programs_of_a_mesh(part: ttnn.MeshDevice) -> None:
    source, target, words = tensors(part)
    columns = part.shape[1]
    program = ttnn.MeshProgramDescriptor({span((0, 0), (0, columns - 1)): described(source, target, 9)})
    program[span((1, 1), (1, 1))] = described(source, target, 90)
    assert ttnn.generic_op([source, target], program) is target
    expected = np.zeros_like(words)
    expected[:, :columns] = words[:, :columns] + 9
    expected[:, columns + 1] = words[:, columns + 1] + 90
    np.testing.assert_array_equal(joined(part, target), expected)
    program[span((0, 1), (1, 1))] = described(source, target, 1)
    with pytest.raises(ttnn.MemoryConfigError, match="overlaps with"):
        ttnn.generic_op([source, target], program)
    outside = ttnn.MeshProgramDescriptor({span((0, 0), (2, 0)): described(source, target, 1)})
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        ttnn.generic_op([source, target], outside)
    with pytest.raises(ttnn.ProgramConfigError, match="has no program"):
        ttnn.generic_op([source, target], ttnn.MeshProgramDescriptor())


def test_a_program_runs_on_the_chips_of_its_tensors(mesh: ttnn.MeshDevice) -> None:
    source, target, words = tensors(mesh)
    ttnn.generic_op([source, target], described(source, target, 4))
    np.testing.assert_array_equal(joined(mesh, target), words + 4)
    sources, targets = ttnn.get_device_tensors(source), ttnn.get_device_tensors(target)
    ttnn.generic_op([sources[6], target], described(source, target, 8))
    words += 4
    words[:, 6] += 4
    np.testing.assert_array_equal(joined(mesh, target), words)
    with pytest.raises(ttnn.ProgramConfigError, match="no chip has all tensors"):
        ttnn.generic_op([sources[6], targets[5]], described(source, target, 8))


def test_operators_of_a_program_run_on_the_chips_of_its_range(mesh: ttnn.MeshDevice) -> None:
    numbers = np.random.default_rng(5).normal(size=(8, 1, 32, 64)).astype(np.float32)
    mapper = ttnn.ShardTensorToMesh(mesh, 0)
    options: dict[str, Any] = {"layout": ttnn.TILE_LAYOUT, "device": mesh, "mesh_mapper": mapper}
    source = ttnn.from_torch(numbers, dtype=ttnn.bfloat16, **options)
    params, inputs = ttnn.LayerNormParams(), ttnn.LayerNormInputs(source)
    params.norm_type, params.eps = ttnn.LayerNormType.RMSNORM, 1e-5
    params.output_mem_config = source.memory_config()
    params.compute_kernel_config = ttnn.layernorm_default_compute_config(mesh.arch())
    params.program_config = ttnn.create_layernorm_program_config(None)
    operation = ttnn.LayerNormDeviceOperation
    factory = operation.select_program_factory(params, inputs)
    everywhere, some = (operation.create_output_tensors(params, inputs) for _ in range(2))
    ttnn.generic_op([source, everywhere], factory.create_descriptor(params, inputs, everywhere, None))
    program = factory.create_descriptor(params, inputs, some, None)
    ttnn.generic_op([source, some], ttnn.MeshProgramDescriptor({span((0, 1), (1, 2)): program}))
    norms, results = (
        [part.cpu().to_numpy().astype(np.float32) for part in ttnn.get_device_tensors(tensor)]
        for tensor in (everywhere, some)
    )
    exact = numbers / np.sqrt((numbers**2).mean(axis=-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(np.concatenate(norms), exact, rtol=0.05, atol=0.02)
    ran = [bool(np.array_equal(result, norm)) for result, norm in zip(results, norms, strict=True)]
    assert ran == [False, True, True, False] * 2


def test_a_workload_is_one_row_of_a_profile(mesh: ttnn.MeshDevice) -> None:
    source, _ = filled(mesh)
    workload = metal.MeshWorkload()
    workload.add_program(span((0, 0), (0, 3)), program_of(add_number, [source, source, 1, 1]))
    workload.add_program(span((1, 0), (1, 3)), program_of(count_words, [source]))
    metal.write_shard(mesh.mesh_command_queue(), source, np.full(WORDS, 500, np.uint32), ttnn.MeshCoordinate(1, 1))
    for column in (0, 2, 3):
        metal.write_shard(mesh.mesh_command_queue(), source, [0] * WORDS, ttnn.MeshCoordinate(1, column))
    with ttnn.profiler.profile() as session:
        report = metal.enqueue_mesh_workload(mesh.mesh_command_queue(), workload)
    (row,) = session.rows
    assert row.record.operator == "ttnn.metal.enqueue_mesh_workload"
    assert report.chip == ttnn.MeshCoordinate(1, 1)
    assert dict(row.plan.attributes)["kernels"] == "count_words"
    assert row.plan.timing.cycles == report.cycles


def test_a_global_semaphore_has_one_address_and_a_value_on_each_chip(part: ttnn.MeshDevice) -> None:
    def count() -> None:
        noc_semaphore_inc(get_noc_addr(my_x[0], my_y[0], get_arg_val(0)), get_arg_val(1))
        noc_async_atomic_barrier()

    cores = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, ttnn.CoreCoord(1, 0))])
    semaphore = ttnn.create_global_semaphore(part, cores, 5)
    assert ttnn.get_global_semaphore_address(semaphore) == semaphore.address()
    assert all(semaphore.values(coord) == [5, 5] for coord in part.coordinates())
    workload = metal.MeshWorkload()
    for coord in part.coordinates():
        number = 10 * coord[0] + coord[1]
        workload.add_program(ttnn.MeshCoordinateRange(coord, coord), program_of(count, [semaphore, number]))
    metal.enqueue_mesh_workload(part.mesh_command_queue(), workload)
    for coord in part.coordinates():
        assert semaphore.values(coord) == [5 + 10 * coord[0] + coord[1], 5]
        (word,) = metal.read_from_device_l1(part, CORE, semaphore.address(), 4, coord=coord)
        assert word == 5 + 10 * coord[0] + coord[1]
    with pytest.raises(ttnn.DeviceError, match="has contents on"):
        semaphore.values()
    ttnn.reset_global_semaphore_value(semaphore, 1)
    assert all(semaphore.values(coord) == [1, 1] for coord in part.coordinates())


def test_each_chip_has_its_pages_in_a_global_circular_buffer(part: ttnn.MeshDevice) -> None:
    to = metal.CoreRange(metal.CoreCoord(1, 0), metal.CoreCoord(RECEIVERS, 0))
    shared = ttnn.create_global_circular_buffer(part, [(CORE, metal.CoreRangeSet([to]))], 2 * 2048)
    tiles = 2 * ROUNDS * RECEIVERS
    source, target = (tiles_buffer(part, tiles) for _ in range(2))
    for number, coord in enumerate(part.coordinates()):
        source.write(values(tiles * TILE, number), coord)
    for first in (0, ROUNDS):
        program = metal.create_program()
        config = metal.CircularBufferConfig(2 * 2048)
        config.remote_index(31).set_page_size(2048).set_data_format(metal.DataFormat.Float16_b)
        metal.create_circular_buffer(program, shared.all_cores(), config, shared)
        add_cb(program, 0, 2 * RECEIVERS)
        for function, cores, kind, args in (
            (feed, CORE, metal.ReaderDataMovementConfig(), [source, first, ROUNDS]),
            (forward, CORE, metal.WriterDataMovementConfig(), [ROUNDS]),
            (keep, to, metal.WriterDataMovementConfig(), [target, first, ROUNDS, shared.buffer_address(), 2]),
        ):
            metal.set_runtime_args(program, metal.create_kernel(program, function, cores, kind), cores, args)
        metal.run_program(part, program)
    for number, coord in enumerate(part.coordinates()):
        expected = values(tiles * TILE, number).view(np.uint16)
        np.testing.assert_array_equal(target.read(np.uint16, coord), expected)


def test_memory_is_written_on_all_chips_and_read_from_one(mesh: ttnn.MeshDevice) -> None:
    last, other = ttnn.MeshCoordinate(1, 3), ttnn.MeshCoordinate(0, 2)
    metal.write_to_device_l1(mesh, CORE, 0x80000, [1, 2])
    metal.write_to_device_l1(mesh, CORE, 0x80000, [3], coord=last)
    metal.write_to_device_dram_channel(mesh, 1, 0x80000, [4])
    metal.write_to_device_dram_channel(mesh, 1, 0x80000, [5], coord=other)
    assert [metal.read_from_device_l1(mesh, CORE, 0x80000, 8, coord=at).tolist() for at in (last, other)] == [
        [3, 2],
        [1, 2],
    ]
    assert [metal.read_from_device_dram_channel(mesh, 1, 0x80000, 4, coord=at).item() for at in (last, other)] == [4, 5]
    with pytest.raises(ttnn.DeviceError, match="name one: coord="):
        metal.read_from_device_l1(mesh, CORE, 0x80000, 8)
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        metal.write_to_device_l1(mesh, CORE, 0x80000, [1], coord=ttnn.MeshCoordinate(2, 0))


def test_a_trace_of_workloads_is_replayed_on_all_chips(part: ttnn.MeshDevice) -> None:
    source, words = filled(part)
    queue = part.mesh_command_queue()
    workload = metal.MeshWorkload()
    workload.add_program(span((0, 0), (0, 1)), program_of(IN_CPP, [source, source, PAGES, 1]))
    workload.add_program(span((1, 0), (1, 1)), program_of(add_number, [source, source, PAGES, 100]))
    trace = metal.begin_trace_capture(part)
    assert metal.enqueue_mesh_workload(queue, workload) is None
    assert metal.enqueue_program(queue, program_of(add_number, [source, source, PAGES, 10000])) is None
    part.end_mesh_trace(0, trace)
    np.testing.assert_array_equal(contents(part, source), words)
    added = np.full((*part.shape, 1), 10000, np.uint32)
    added[0, :2] += 1
    added[1, :2] += 100
    for replay in (1, 2):
        reports = metal.replay_trace(part, 0, trace)
        assert [len(report.chips) for report in reports] == [4, len(part.chips)]
        np.testing.assert_array_equal(contents(part, source), words + replay * added)
    part.release_mesh_trace(trace)


def test_events_and_queues_are_those_of_the_mesh(mesh: ttnn.MeshDevice) -> None:
    source, words = filled(mesh)
    transfer, compute = mesh.mesh_command_queue(0), mesh.mesh_command_queue(1)
    event = metal.enqueue_record_event(transfer, [], span((0, 1), (1, 2)))
    metal.enqueue_wait_for_event(compute, event)
    first = metal.enqueue_program(compute, program_of(add_number, [source, source, PAGES, 1]))
    second = metal.enqueue_program(compute, program_of(add_number, [source, source, 1, 1]))
    assert second.started_at == first.cycles + first.gap
    done = metal.enqueue_record_event(compute)
    metal.event_synchronize(done)
    assert metal.event_query(done)
    metal.finish(compute)
    metal.synchronize(mesh, 1)
    words += 1
    words[..., : PAGE // 4] += 1
    np.testing.assert_array_equal(contents(mesh, source), words)
    with pytest.raises(ttnn.DeviceError, match="outside the mesh"):
        metal.enqueue_record_event(transfer, [], span((0, 0), (2, 0)))


@pytest.mark.parametrize(("word", "sentence"), [(1000, "chip (1, 2), core 0-0, BRISC, kernel count_words"), (999, "")])
def test_an_error_names_its_chip_and_the_mesh_works_after_a_reset(
    mesh: ttnn.MeshDevice, word: int, sentence: str
) -> None:
    source, queue = replicated(mesh), mesh.mesh_command_queue()
    at = ttnn.MeshCoordinate(1, 2)
    metal.enqueue_write_mesh_buffer(queue, source, np.full(WORDS, 2, np.uint32))
    metal.write_shard(queue, source, np.full(WORDS, word, np.uint32), at)
    with pytest.raises(ttnn.KernelError) as caught:
        metal.enqueue_program(queue, program_of(count_words, [source]))
    assert str(caught.value).startswith(sentence or "deadlock on chip (1, 2): no kernel can go on")
    assert caught.value.chip == (1, 2)
    assert isinstance(caught.value, ttnn.DeadlockError) is (word == 999)
    with pytest.raises(ttnn.DeviceError, match=r"device.reset\(\)"):
        metal.enqueue_program(queue, program_of(add_number, [source, source, 1, 1]))
    mesh.reset()
    metal.enqueue_program(queue, program_of(add_number, [source, source, PAGES, 1]))
    expected = np.full((2, 4, WORDS), 3, np.uint32)
    expected[1, 2] = word + 1
    np.testing.assert_array_equal(contents(mesh, source), expected)


def test_printed_lines_have_the_number_of_the_chip(mesh: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]) -> None:
    def show() -> None:
        DPRINT("hello\n")

    metal.run_program(mesh, program_of(show, []))
    numbers = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines() if "hello" in line]
    assert numbers == [str(number) for number in mesh.get_device_ids()]
