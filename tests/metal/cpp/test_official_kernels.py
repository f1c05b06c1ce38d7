"""Official kernels run unchanged, with operator bits.

They are those of the repository and of the wheel.

`TT_METAL_HOME` names a checkout, `TTNN_OFFICIAL_WHEEL` the folder to which the wheel is unpacked; without them these
tests are skipped, since nothing of either is part of this repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.parts import add_cb
from ttnn import metal
from ttnn.kernel_api import (
    add_binary_tile,
    add_binary_tile_init,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    copy_tile,
    get_arg_val,
    init_sfpu,
    pack_tile,
    tile_regs_acquire,
    tile_regs_commit,
    tile_regs_release,
    tile_regs_wait,
)

HOME = Path(os.environ.get("TT_METAL_HOME", "/nowhere")) / "tt_metal" / "programming_examples"
WHEEL = Path(os.environ.get("TTNN_OFFICIAL_WHEEL", "/nowhere")) / "ttnn"
OPERATIONS = WHEEL / "ttnn" / "cpp" / "ttnn" / "operations"
CORE = metal.CoreCoord(0, 0)
CHAIN = "relu_tile_init(); relu_tile(0);"
examples = pytest.mark.skipif(not HOME.is_dir(), reason="TT_METAL_HOME names no checkout")
wheel = pytest.mark.skipif(not OPERATIONS.is_dir(), reason="TTNN_OFFICIAL_WHEEL names no unpacked wheel")


@pytest.fixture(autouse=True)
def _root() -> Iterator[None]:
    metal.set_root_dir(WHEEL)
    yield
    metal.set_root_dir(Path.cwd())


def words(*tensors: ttnn.Tensor) -> list[int]:
    """Return the compile-time arguments of accessors, one after the other."""
    return [word for tensor in tensors for word in ttnn.TensorAccessorArgs(tensor).get_compile_time_args()]


def random_bf16(shape: Sequence[int], seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(tuple(shape), dtype=np.float32)
    return values.astype(ml_dtypes.bfloat16).astype(np.float32)


def to_device(values: np.ndarray, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def empty(shape: Sequence[int], device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.empty(list(shape), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)


def same_bits(one: ttnn.Tensor, other: ttnn.Tensor) -> bool:
    return ttnn.to_numpy(one).tobytes() == ttnn.to_numpy(other).tobytes()


def reader(program: metal.Program, path: Path, compile_args: Sequence[int], args: Sequence[int]) -> None:
    config = metal.ReaderDataMovementConfig(compile_args=list(compile_args))
    metal.set_runtime_args(program, metal.create_kernel(program, path, CORE, config), CORE, args)


def writer(program: metal.Program, path: Path, compile_args: Sequence[int], args: Sequence[int]) -> None:
    config = metal.WriterDataMovementConfig(compile_args=list(compile_args))
    metal.set_runtime_args(program, metal.create_kernel(program, path, CORE, config), CORE, args)


def compute(program: metal.Program, path: Path, args: Sequence[int], **config: object) -> None:
    kernel = metal.create_kernel(program, path, CORE, metal.ComputeConfig(**config))  # type: ignore[arg-type]
    metal.set_runtime_args(program, kernel, CORE, args)


def buffers(program: metal.Program, **pages: int) -> None:
    for name, count in pages.items():
        add_cb(program, int(name.lstrip("c")), count)


def tiles(device: ttnn.MeshDevice, count: int, seed: int) -> ttnn.Tensor:
    return to_device(random_bf16((32 * count, 32), seed), device)


@examples
def test_official_loopback_kernel_copies_a_tensor(device: ttnn.MeshDevice) -> None:
    source, target = tiles(device, 50, 1), empty((1600, 32), device)
    l1 = metal.create_buffer(
        metal.InterleavedBufferConfig(device=device, size=2048, page_size=2048, buffer_type=metal.BufferType.L1)
    )
    program = metal.create_program()
    args = [l1.address(), source.buffer_address(), target.buffer_address(), 50]
    writer(program, HOME / "loopback/kernels/loopback_dram_copy.cpp", words(source, target), args)
    metal.run_program(device, program)
    assert same_bits(source, target)


@examples
def test_riscv_add_example_adds_two_words(device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]) -> None:
    def word(kind: metal.BufferType) -> metal.Buffer:
        return metal.create_buffer(metal.InterleavedBufferConfig(device=device, size=4, page_size=4, buffer_type=kind))

    dram, l1 = ([word(kind) for _ in range(3)] for kind in (metal.BufferType.DRAM, metal.BufferType.L1))
    for buffer, value in zip(dram, (14, 7, 0), strict=True):
        buffer.write(np.array([value], np.uint32))
    program = metal.create_program()
    path = HOME / "add_2_integers_in_riscv/kernels/reader_writer_add_in_riscv.cpp"
    writer(program, path, [], [buffer.address() for buffer in (*dram, *l1)])
    metal.run_program(device, program)
    assert dram[2].read(np.uint32).tolist() == [21]
    assert "0:(x=0,y=0):BR: Adding integers: 14 + 7" in capsys.readouterr().out


@examples
def test_eltwise_binary_example_equals_the_operator(device: ttnn.MeshDevice) -> None:
    a, b, out = tiles(device, 6, 1), tiles(device, 6, 2), empty((192, 32), device)
    kernels = HOME / "eltwise_binary/kernels"
    program = metal.create_program()
    buffers(program, c0=2, c1=2, c16=2)
    reader(program, kernels / "dataflow/read_tiles.cpp", words(a, b), [a.buffer_address(), b.buffer_address(), 6])
    writer(program, kernels / "dataflow/write_tile.cpp", words(out), [out.buffer_address(), 6])
    compute(program, kernels / "compute/tiles_add.cpp", [6])
    metal.run_program(device, program)
    assert same_bits(out, ttnn.add(a, b))


def add_on_the_sfpu() -> None:
    """Compute: Dst 0 = built-in CB 0 + CB 1, packed to CB 16."""
    init_sfpu(0, 16)
    add_binary_tile_init()
    for _ in range(get_arg_val(0)):
        for cb in (0, 1):
            cb_wait_front(cb, 1)
        cb_reserve_back(16, 1)
        tile_regs_acquire()
        for cb in (0, 1):
            copy_tile(cb, 0, cb)
        add_binary_tile(0, 1, 0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        for cb in (0, 1):
            cb_pop_front(cb, 1)
        cb_push_back(16, 1)


@examples
def test_custom_sfpi_add_example_equals_the_python_kernel(device: ttnn.MeshDevice) -> None:
    a, b = tiles(device, 6, 1), tiles(device, 6, 2)
    kernels = HOME / "custom_sfpi_add/kernels"
    results = [empty((192, 32), device) for _ in range(2)]
    for out, kernel in zip(results, (kernels / "compute/tiles_add.cpp", add_on_the_sfpu), strict=True):
        program = metal.create_program()
        buffers(program, c0=2, c1=2, c16=2)
        reader(program, kernels / "dataflow/read_tiles.cpp", words(a, b), [a.buffer_address(), b.buffer_address(), 6])
        writer(program, kernels / "dataflow/write_tile.cpp", words(out), [out.buffer_address(), 6])
        added = metal.create_kernel(program, kernel, CORE, metal.ComputeConfig())
        metal.set_runtime_args(program, added, CORE, [6])
        metal.run_program(device, program)
    assert same_bits(*results)


@examples
def test_custom_sfpi_smoothstep_example_matches_float64(device: ttnn.MeshDevice) -> None:
    x, out = tiles(device, 4, 1), empty((128, 32), device)
    kernels = HOME / "custom_sfpi_smoothstep/kernels"
    program = metal.create_program()
    buffers(program, c0=2, c16=2)
    reader(program, kernels / "dataflow/read_tiles.cpp", words(x), [x.buffer_address(), 4])
    writer(program, kernels / "dataflow/write_tile.cpp", words(out), [out.buffer_address(), 4])
    compute(program, kernels / "compute/tiles_smoothstep.cpp", [4])
    metal.run_program(device, program)
    t = np.clip(ttnn.to_numpy(x).astype(np.float64), 0, 1)
    exact, ours = t * t * (3 - 2 * t), ttnn.to_numpy(out).astype(np.float64)
    assert np.abs(ours - exact).max() <= 2**-8, "bfloat16 that a store truncates"


@examples
def test_matmul_multi_core_example_equals_the_operator(device: ttnn.MeshDevice) -> None:
    a, b = (to_device(random_bf16(shape, seed), device) for seed, shape in enumerate(((96, 64), (64, 128))))
    out = empty((96, 128), device)
    kernels = HOME / "matmul/matmul_multi_core/kernels"
    program = metal.create_program()
    buffers(program, c0=2, c1=2, c16=2)
    args = [a.buffer_address(), b.buffer_address(), 3, 2, 4, 0, 12]
    reader(program, kernels / "dataflow/reader_mm_output_tiles_partitioned.cpp", words(a, b), args)
    path = kernels / "dataflow/writer_unary_interleaved_start_id.cpp"
    writer(program, path, words(out), [out.buffer_address(), 12, 0])
    compute(program, kernels / "compute/mm.cpp", [12, 2], math_fidelity=ttnn.MathFidelity.HiFi4)
    metal.run_program(device, program)
    config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=False, packer_l1_acc=False
    )
    assert same_bits(out, ttnn.matmul(a, b, compute_kernel_config=config))


@examples
def test_multicast_that_pushes_unreserved_pages_raises(device: ttnn.MeshDevice) -> None:
    kernels = HOME / "contributed/multicast/kernels/dataflow"
    tile, out = tiles(device, 1, 1), empty((96, 32), device)
    row = metal.CoreRange(CORE, metal.CoreCoord(3, 0))
    others = metal.CoreRange(metal.CoreCoord(1, 0), row.end)
    program = metal.create_program()
    for index in (0, 16):
        add_cb(program, index, 1, cores=row)
    sender, receiver = (metal.create_semaphore(program, row, 0) for _ in range(2))
    first, start, end = (device.worker_core_from_logical_core(core) for core in (CORE, others.start, others.end))
    args = [start.x, start.y, end.x, end.y, sender, receiver, 0, tile.buffer_address(), 2048, 3]
    writer(program, kernels / "coordinator_kernel.cpp", [], args)
    inbound = metal.create_kernel(program, kernels / "inbound_kernel.cpp", others, metal.WriterDataMovementConfig())
    outbound = metal.create_kernel(
        program, kernels / "outbound_kernel.cpp", others, metal.ReaderDataMovementConfig(compile_args=words(out))
    )
    metal.set_runtime_args(program, inbound, others, [first.x, first.y, sender, receiver])
    for index, core in enumerate(others.cores()):
        metal.set_runtime_args(program, outbound, core, [out.buffer_address(), index])
    with pytest.raises(ttnn.base.exceptions.CircularBufferError, match=r"coordinator_kernel.*cb_reserve_back\(0, 1\)"):
        metal.run_program(device, program)


@wheel
@pytest.mark.parametrize(
    ("chain", "operator"),
    [
        ("exp_tile_init(); exp_tile(0);", ttnn.exp),
        ("relu_tile_init(); relu_tile(0);", ttnn.relu),
        ("sqrt_tile_init(); sqrt_tile(0);", ttnn.sqrt),
        ("negative_tile_init(); negative_tile(0); relu_tile_init(); relu_tile(0);", None),
    ],
)
def test_unary_chain_kernel_equals_the_operator(device: ttnn.MeshDevice, chain: str, operator: object) -> None:
    kernels = OPERATIONS / "eltwise/unary/device/kernels"
    x, out = to_device(np.abs(random_bf16((160, 32), 1)), device), empty((160, 32), device)
    program = metal.create_program()
    buffers(program, c0=2, c2=2)
    path = kernels / "dataflow/reader_unary_interleaved_start_id.cpp"
    reader(program, path, words(x), [x.buffer_address(), 5, 0])
    path = kernels / "dataflow/writer_unary_interleaved_start_id.cpp"
    writer(program, path, [2, *words(out)], [out.buffer_address(), 5, 0])
    compute(program, kernels / "compute/eltwise_sfpu.cpp", [5], defines={"SFPU_OP_CHAIN_0": chain})
    metal.run_program(device, program)
    expected = operator(x) if callable(operator) else ttnn.relu(ttnn.neg(x))
    assert same_bits(out, expected)


@wheel
def test_example_operator_kernels_equal_the_operator(device: ttnn.MeshDevice) -> None:
    """Its reader and writer get the first bank's coordinates.

    It holds the only tile.
    """
    kernels = OPERATIONS / "examples/example/device/kernels"
    x, out = tiles(device, 1, 1), empty((32, 32), device)
    bank_x, bank_y = device.chip["dram_cores"][0]
    program = metal.create_program()
    buffers(program, c0=2, c2=2)
    reader(program, kernels / "dataflow/reader_unary.cpp", [], [x.buffer_address(), bank_x, bank_y, 1])
    writer(program, kernels / "dataflow/writer_unary.cpp", [], [out.buffer_address(), bank_x, bank_y, 1])
    compute(program, kernels / "compute/eltwise_sfpu.cpp", [], compile_args=[1, 1], defines={"SFPU_OP_CHAIN_0": CHAIN})
    metal.run_program(device, program)
    assert same_bits(out, ttnn.relu(x))


@wheel
def test_binary_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    kernels = OPERATIONS / "eltwise/binary/device/kernels"
    a, b, out = tiles(device, 4, 1), tiles(device, 4, 2), empty((128, 32), device)
    program = metal.create_program()
    buffers(program, c0=2, c1=2, c2=2)
    path = kernels / "dataflow/reader_binary_interleaved_start_id.cpp"
    args = [a.buffer_address(), b.buffer_address(), 4, 0, 1, 1, 1]
    reader(program, path, [0, *words(a, b)], args)
    path = OPERATIONS / "eltwise/unary/device/kernels/dataflow/writer_unary_interleaved_start_id.cpp"
    writer(program, path, [2, *words(out)], [out.buffer_address(), 4, 0])
    defines = {"ELTWISE_OP": "add_tiles", "ELTWISE_OP_TYPE": "EltwiseBinaryType::ELWADD"}
    compute(program, kernels / "compute/eltwise_binary_kernel.cpp", [4, 1], defines=defines)
    metal.run_program(device, program)
    assert same_bits(out, ttnn.add(a, b))


@wheel
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_official_arange_kernel_writes_the_sequence(device: ttnn.MeshDevice, dtype: str) -> None:
    kind = {"bfloat16": ml_dtypes.bfloat16, "float32": np.float32}[dtype]
    data_format = metal.DataFormat.Float16_b if dtype == "bfloat16" else metal.DataFormat.Float32
    out = ttnn.zeros([32, 128], getattr(ttnn, dtype), ttnn.TILE_LAYOUT, device)
    program = metal.create_program()
    add_cb(program, 16, 1, data_format)
    start, step = (int(np.float32(value).view(np.uint32)) for value in (3.0, 0.5))
    config = metal.WriterDataMovementConfig(compile_args=words(out), defines={f"OUTPUT_DTYPE_{dtype.upper()}": "1"})
    path = OPERATIONS / "moreh/moreh_arange/device/kernels/writer_moreh_arange.cpp"
    kernel = metal.create_kernel(program, path, CORE, config)
    metal.set_runtime_args(program, kernel, CORE, [out.buffer_address(), 0, 4, start, step])
    report = metal.run_program(device, program)
    expected = (3.0 + 0.5 * np.arange(128, dtype=np.float32)).astype(kind).astype(np.float32)
    assert np.array_equal(np.asarray(ttnn.to_numpy(out)[0], np.float32), expected)
    assert any("float arithmetic in software" in note for note in report.notes)


@wheel
def test_matmul_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    kernels = OPERATIONS / "matmul/device/kernels"
    a, b = (to_device(random_bf16(shape, seed), device) for seed, shape in enumerate(((64, 96), (96, 128))))
    out = empty((64, 128), device)
    named = {"cb_in0": 0, "cb_in1": 1, "cb_out": 16}
    program = metal.create_program()
    buffers(program, c0=2, c1=2, c16=2)
    path = kernels / "dataflow/reader_bmm_8bank_output_tiles_partitioned.cpp"
    config = metal.ReaderDataMovementConfig(compile_args=[0, 0, *words(a, b)], named_compile_args=named)
    args = [a.buffer_address(), b.buffer_address(), 2, 3, 4, 6, 12, 1, 1, 0, 8, 8]
    metal.set_runtime_args(program, metal.create_kernel(program, path, CORE, config), CORE, args)
    path = OPERATIONS / "eltwise/unary/device/kernels/dataflow/writer_unary_interleaved_start_id.cpp"
    writer(program, path, [16, *words(out)], [out.buffer_address(), 8, 0])
    fidelity = ttnn.MathFidelity.HiFi4
    fixed = {"compile_args": [1, 2, 3, 4], "named_compile_args": named, "math_fidelity": fidelity}
    compute(program, kernels / "compute/bmm.cpp", [], **fixed)
    metal.run_program(device, program)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, fp32_dest_acc_en=False, packer_l1_acc=False)
    assert same_bits(out, ttnn.matmul(a, b, compute_kernel_config=config))


@wheel
def test_multicast_matmul_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    """Four cores in a row, the first sending left operand blocks."""
    kernels = OPERATIONS / "matmul/device/kernels"
    rows, inner, columns, per_core, width = 2, 8, 8, 2, 2
    shapes = ((32 * rows, 32 * inner), (32 * inner, 32 * columns))
    a, b = (to_device(random_bf16(shape, seed), device) for seed, shape in enumerate(shapes))
    out = empty((32 * rows, 32 * columns), device)
    cores = [metal.CoreCoord(x, 0) for x in range(columns // per_core)]
    row, others = (metal.CoreRange(first, cores[-1]) for first in cores[:2])
    named = {"cb_in0": 0, "cb_in1": 1, "cb_out": 16, "cb_intermed0": 24, "cb_sparsity": 7, "num_active": 0}
    program = metal.create_program()
    for index, count in ((0, 8), (1, 8), (16, 4), (24, 4)):
        add_cb(program, index, count, cores=row)
    ready, sent = (metal.create_semaphore(program, row, 0) for _ in range(2))
    blocks, block = inner // width, rows * width
    first, second, last = (device.worker_core_from_logical_core(core) for core in (cores[0], cores[1], cores[-1]))

    def data_movement(path: str, where: object, reads: bool, fixed: list[int], **more: object) -> object:
        config = metal.ReaderDataMovementConfig if reads else metal.WriterDataMovementConfig
        path = f"dataflow/reader_bmm_tile_layout_{path}.cpp"
        options = {"compile_args": fixed, "named_compile_args": named, **more}
        return metal.create_kernel(program, kernels / path, where, config(**options))

    receivers = len(cores) - 1
    fixed = [1, inner, width, rows * inner, width, rows, block, 0, 0, 0, 0, 0, blocks, 1, 1, ready, sent]
    fixed += [receivers, receivers, rows * inner, 1, 1, 0, 0, 0, 0, 0, 0, *words(a, a), 1]
    sender = data_movement("in0_sender_padding", cores[0], True, fixed)
    args = [a.buffer_address(), 0, second.x, second.y, last.x, last.y, rows, 0]
    metal.set_runtime_args(program, sender, cores[0], args)
    receiver = data_movement("in0_receiver", others, True, [block, blocks, 1, 1, ready, sent, 1, 0])
    metal.set_runtime_args(program, receiver, others, [first.x, first.y])
    fixed = [1, columns, width * columns, per_core, per_core, width, width * per_core, blocks, 1, 1, ready, sent, 0, 0]
    fixed += [inner * columns, 1, 1, 0, 0, 1, columns, per_core, rows * columns, per_core, rows * columns]
    fixed += [per_core, rows, rows * per_core, rows * columns, 0, 0, 0, 0, *words(b, b, out)]
    writer = data_movement("in1_sender_writer_padding", row, False, fixed, defines={"SKIP_MCAST": "1"})
    for core in cores:
        start = per_core * core.x
        args = [b.buffer_address(), start, 0, 0, 0, 0, 0, out.buffer_address(), start, per_core]
        args += [1, rows, 0, 1, 1, per_core, 0, 0, 0, 0, 1]
        metal.set_runtime_args(program, writer, core, args)
    fixed = [width, 1, block, block, 1, width * per_core, per_core, blocks, rows, per_core, rows * per_core, 1]
    fidelity = ttnn.MathFidelity.HiFi4
    config = metal.ComputeConfig(compile_args=fixed, named_compile_args=named, math_fidelity=fidelity)
    metal.create_kernel(program, kernels / "compute/bmm_large_block_zm.cpp", row, config)
    metal.run_program(device, program)

    blocking = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(len(cores), 1),
        in0_block_w=width,
        out_subblock_h=rows,
        out_subblock_w=per_core,
        per_core_M=rows,
        per_core_N=per_core,
        fuse_batch=True,
        fused_activation=None,
        mcast_in0=True,
    )
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, fp32_dest_acc_en=False, packer_l1_acc=False)
    assert same_bits(out, ttnn.matmul(a, b, program_config=blocking, compute_kernel_config=config))


@wheel
def test_transpose_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    """A column's tiles become a row's, in the same order."""
    x, out = tiles(device, 4, 1), empty((32, 128), device)
    kernels = OPERATIONS / "eltwise/unary/device/kernels/dataflow"
    program = metal.create_program()
    buffers(program, c0=2, c16=2)
    reader(program, kernels / "reader_unary_interleaved_start_id.cpp", words(x), [x.buffer_address(), 4, 0])
    path = kernels / "writer_unary_interleaved_start_id.cpp"
    writer(program, path, [16, *words(out)], [out.buffer_address(), 4, 0])
    compute(program, OPERATIONS / "data_movement/transpose/device/kernels/compute/transpose_wh.cpp", [4])
    metal.run_program(device, program)
    assert same_bits(out, ttnn.transpose(x, -2, -1))


@wheel
@pytest.mark.parametrize("dim", [0, 1])
def test_index_fill_kernel_equals_the_operator(device: ttnn.MeshDevice, dim: int) -> None:
    values = random_bf16((8, 64), 1)
    source = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    index = ttnn.from_torch(
        np.array([1, 3, 6], np.int32), dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device
    )
    out = ttnn.empty([8, 64], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    kernels = OPERATIONS / "index_fill/device/kernels"
    program = metal.create_program()
    for number, page in enumerate((128, 32, 128)):
        config = metal.CircularBufferConfig(2 * page, {number: metal.DataFormat.Float16_b}).set_page_size(number, page)
        metal.create_circular_buffer(program, CORE, config)
    last, rows = int(dim == 1), [0, 8, 1, 8]
    fixed = [128, 12, 3, last, *words(source, index)]
    args = [source.buffer_address(), index.buffer_address(), *rows, 0, 1]
    reader(program, kernels / "reader_index_fill.cpp", fixed, args)
    seven = int(np.float32(7).view(np.uint32)) >> 16
    args = [out.buffer_address(), *rows, seven, 0, 0, 1, 0, 1, 128]
    writer(program, kernels / "writer_index_fill.cpp", [128, 3, 2, last, *words(out)], args)
    metal.run_program(device, program)
    assert same_bits(out, ttnn.index_fill(source, dim, index, 7.0))


GRADIENTS = [("tanh", {}), ("sigmoid", {}), ("gelu_poly", {}), ("gelu_tanh", {"variant": ttnn.GeluVariant.Tanh})]


@wheel
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "bfloat8_b"])
@pytest.mark.parametrize(("name", "options"), GRADIENTS, ids=[name for name, _ in GRADIENTS])
def test_gradient_kernel_equals_the_operator(
    device: ttnn.MeshDevice, name: str, options: dict[str, object], dtype: str
) -> None:
    data_format = metal.DataFormat[{"bfloat16": "Float16_b", "float32": "Float32", "bfloat8_b": "Bfp8_b"}[dtype]]
    values = [2.0 * random_bf16((128, 32), seed) for seed in (1, 2)]
    kind = getattr(ttnn, dtype)
    grad, x = (ttnn.from_torch(array, dtype=kind, layout=ttnn.TILE_LAYOUT, device=device) for array in values)
    out = ttnn.empty([128, 32], kind, ttnn.TILE_LAYOUT, device)
    program = metal.create_program()
    for index in range(3):
        add_cb(program, index, 2, data_format)
    path = OPERATIONS / "eltwise/binary/device/kernels/dataflow/reader_binary_interleaved_start_id.cpp"
    reader(program, path, [0, *words(grad, x)], [grad.buffer_address(), x.buffer_address(), 4, 0, 1, 1, 1])
    path = OPERATIONS / "eltwise/unary/device/kernels/dataflow/writer_unary_interleaved_start_id.cpp"
    writer(program, path, [2, *words(out)], [out.buffer_address(), 4, 0])
    wide = dtype == "float32" or name == "sigmoid"
    mode = "NearestEven" if dtype == "bfloat16" else "Default"
    to_dst = metal.UnpackToDestMode.UnpackToDestFp32 if wide else metal.UnpackToDestMode.Default
    compute(
        program,
        OPERATIONS / f"eltwise/unary_backward/device/kernels/compute/eltwise_bw_{name}"
        f"{'_fp32' if wide and name == 'gelu_tanh' else ''}.cpp",
        [4],
        defines={
            "BF16_ROUNDING_MODE": f"ckernel::DstRoundingMode::{mode}",
            "COPY_DEST_DATA_FORMAT": f"DataFormat::{'Float32' if wide else 'Float16_b'}",
        },
        fp32_dest_acc_en=wide,
        unpack_to_dest_mode=[to_dst] * 32,
    )
    metal.run_program(device, program)
    operator = getattr(ttnn, f"{name.partition('_')[0]}_bw")
    assert same_bits(out, operator(grad, x, **options)[0])
