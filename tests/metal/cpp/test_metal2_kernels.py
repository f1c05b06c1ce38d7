"""Official wheel kernels with specifications: operator bits.

Skipped without a compiler, or without an unpacked wheel (`TTNN_OFFICIAL_WHEEL`).
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import vendor
from vendor import WHEEL, buffer, kernel

import ttnn
from ttnn import metal
from ttnn.kernel_api import *

pytestmark = pytest.mark.skipif(not (WHEEL / "ttnn").is_dir(), reason="needs the official wheel, unpacked")
UNARY = "operations/eltwise/unary/device/kernels"
READ_UNARY = f"{UNARY}/dataflow/reader_unary_interleaved_start_id_metal2.cpp"
WRITE_UNARY = f"{UNARY}/dataflow/writer_unary_interleaved_start_id_metal2.cpp"
PAGES = ("num_pages", "start_id")


def random(shape: tuple[int, ...], device: ttnn.MeshDevice, seed: int = 0, **more: Any) -> ttnn.Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    options: dict[str, Any] = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT} | more
    return ttnn.from_torch(values, device=device, **options)


def empty_like(tensor: ttnn.Tensor, shape: tuple[int, ...] | None = None) -> ttnn.Tensor:
    device = tensor.device()
    assert device is not None
    return ttnn.empty(list(shape or tensor.shape), tensor.dtype, tensor.layout, device)


def same(one: ttnn.Tensor, other: ttnn.Tensor) -> bool:
    return ttnn.to_numpy(one).tobytes() == ttnn.to_numpy(other).tobytes()


def reader(**more: Any) -> metal.KernelSpec:
    return kernel("reader", READ_UNARY, PAGES, dfb={"in": ">in"}, tensor={"src": "src"}, **more)


def writer(**more: Any) -> metal.KernelSpec:
    return kernel("writer", WRITE_UNARY, PAGES, dfb={"out": "out"}, tensor={"dst": "dst"}, **more)


def pages(count: int) -> dict[str, int]:
    return {"num_pages": count, "start_id": 0}


def test_unary_chain_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    source = random((64, 96), device)
    target = empty_like(source)
    compute = kernel(
        "compute",
        f"{UNARY}/compute/eltwise_sfpu_metal2.cpp",
        ["num_tiles"],
        dfb={"in": "in", "out": ">out"},
        defines={"SFPU_OP_RELU_FAMILY_INCLUDE": "1", "SFPU_OP_CHAIN_0": "relu_tile_init(); relu_tile(0);"},
    )
    arguments = {"reader": pages(6), "writer": pages(6), "compute": {"num_tiles": 6}}
    tensors = {"src": source, "dst": target}
    vendor.run(device, [reader(), compute, writer()], [buffer("in"), buffer("out")], tensors, arguments)
    assert same(target, ttnn.relu(source))


def test_matmul_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    a, b = random((64, 96), device), random((96, 128), device, 1)
    target = empty_like(a, (64, 128))
    dims = {"Mt": 2, "Kt": 3, "Nt": 4, "batch": 1}
    matmul = "operations/matmul/device/kernels"
    more = {"MtKt": 6, "KtNt": 12, "bcast_B": 0, "output_tile_start_id": 0, "num_output_tiles": 8, "MtNt": 8}
    kernels = [
        kernel(
            "reader",
            f"{matmul}/dataflow/reader_bmm_8bank_output_tiles_partitioned_metal2.cpp",
            [*dims, *more],
            dfb={"in0": ">a", "in1": ">b"},
            tensor={"in0": "a", "in1": "b"},
            fixed={"in0_last_ktile_w": 0, "in0_last_ktile_h": 0},
        ),
        kernel(
            "compute",
            f"{matmul}/compute/bmm_metal2.cpp",
            list(dims),
            dfb={"in0": "a", "in1": "b", "out": ">out"},
        ),
        writer(),
    ]
    arguments = {"reader": dims | more, "compute": dims, "writer": pages(8)}
    buffers = [buffer("a"), buffer("b"), buffer("out")]
    vendor.run(device, kernels, buffers, {"a": a, "b": b, "dst": target}, arguments)
    config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=False, packer_l1_acc=False
    )
    assert same(target, ttnn.matmul(a, b, compute_kernel_config=config))


def test_transpose_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    source = random((32, 32), device)
    target = empty_like(source)
    compute = kernel(
        "compute",
        "operations/data_movement/transpose/device/kernels/compute/transpose_wh_metal2.cpp",
        ["NHtWt"],
        dfb={"cb_in": "in", "cb_out": ">out"},
    )
    arguments = {"reader": pages(1), "writer": pages(1), "compute": {"NHtWt": 1}}
    tensors = {"src": source, "dst": target}
    vendor.run(device, [reader(), compute, writer()], [buffer("in"), buffer("out")], tensors, arguments)
    assert same(target, ttnn.transpose(source, 0, 1))


def test_tilize_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    source = random((64, 128), device, layout=ttnn.ROW_MAJOR_LAYOUT)
    target = ttnn.empty([64, 128], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    names = ["num_sticks", "num_tiles_per_block", "block_width_size", "num_full_blocks_in_row", "start_stick_id"]
    kernels = [
        kernel(
            "reader",
            "operations/data_movement/tilize/device/kernels/dataflow/reader_unary_stick_layout_split_rows_singlecore.cpp",
            names,
            fixed={"tile_height": 32},
            dfb={"in": ">in"},
            tensor={"src": "src"},
        ),
        kernel(
            "compute",
            "kernel/compute/tilize_metal2.cpp",
            fixed={"per_core_block_cnt": 2, "per_core_block_tile_cnt": 4},
            dfb={"in": "in", "out": ">out"},
        ),
        writer(),
    ]
    arguments = {"reader": dict(zip(names, (64, 4, 256, 1, 0), strict=True)), "writer": pages(8)}
    buffers = [buffer("in", entries=4), buffer("out", entries=4)]
    vendor.run(device, kernels, buffers, {"src": source, "dst": target}, arguments)
    assert same(target, ttnn.to_layout(source, ttnn.TILE_LAYOUT))


def test_binary_kernel_with_classic_compute_equals_the_operator(device: ttnn.MeshDevice) -> None:
    """Unnamed kernels: arguments by position, buffers by declaration order."""
    a, b = random((64, 64), device), random((64, 64), device, 1)
    target = empty_like(a)
    binary = "operations/eltwise/binary/device/kernels"
    names = ["num_tiles", "start_id", "block_height", "block_width", "num_cores_y"]
    kernels = [
        kernel(
            "reader",
            f"{binary}/dataflow/reader_binary_interleaved_start_id_metal2.cpp",
            names,
            fixed={"block_or_width_sharded": 0},
            dfb={"in0": ">a", "in1": ">b"},
            tensor={"src0": "a", "src1": "b"},
        ),
        kernel(
            "compute",
            f"{binary}/compute/eltwise_binary_kernel.cpp",
            ["blocks", "block_size"],
            dfb={"a": "a", "b": "b", "out": ">out"},
            defines={"ELTWISE_OP": "add_tiles", "ELTWISE_OP_TYPE": "EltwiseBinaryType::ELWADD"},
        ),
        writer(),
    ]
    arguments = {
        "reader": dict(zip(names, (4, 0, 0, 0, 0), strict=True)),
        "compute": {"blocks": 4, "block_size": 1},
        "writer": pages(4),
    }
    buffers = [buffer("a"), buffer("b"), buffer("out")]
    vendor.run(device, kernels, buffers, {"a": a, "b": b, "dst": target}, arguments)
    assert same(target, ttnn.add(a, b))


def test_python_and_cpp_kernels_in_one_program(device: ttnn.MeshDevice) -> None:
    source = random((64, 96), device)
    target = empty_like(source)
    compute = vendor.kernel("compute", "", ["num_tiles"], dfb={"in": "in", "out": ">out"})
    compute.source = negate
    arguments = {"reader": pages(6), "writer": pages(6), "compute": {"num_tiles": 6}}
    tensors = {"src": source, "dst": target}
    vendor.run(device, [reader(), compute, writer()], [buffer("in"), buffer("out")], tensors, arguments)
    assert same(target, ttnn.neg(source))


def negate(num_tiles: int) -> None:
    out, tiles = DataflowBuffer(dfb.out), DataflowBuffer(dfb["in"])
    compute_kernel_hw_startup(dfb["in"], dfb.out)
    copy_init(dfb["in"])
    for _ in range(num_tiles):
        tiles.wait_front(1)
        out.reserve_back(1)
        tile_regs_acquire()
        copy_tile(dfb["in"], 0, 0)
        negative_tile_init()
        negative_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, dfb.out)
        tile_regs_release()
        tiles.pop_front(1)
        out.push_back(1)


@pytest.mark.parametrize("cached", [False, True])
def test_embedding_kernel_equals_the_operator(device: ttnn.MeshDevice, cached: bool) -> None:
    weights = random((40, 64), device, layout=ttnn.ROW_MAJOR_LAYOUT)
    indices = ttnn.from_torch(
        torch.randint(0, 40, (2, 32), generator=torch.Generator().manual_seed(3)), dtype=ttnn.uint32, device=device
    )
    target = empty_like(weights, (64, 64))
    stick = 128
    fixed = {
        "input_page_size": 128,
        "weight_stick_size": stick,
        "rows_per_block": 16,
        "input_block_size_bytes": 64,
        "chunk_size": stick,
        "num_chunks": 1,
        "last_chunk_size": stick,
    }
    names = ["batch_offset", "weights_offset", "num_rows", "index_idx", *(["pad_token"] if cached else [])]
    values = dict.fromkeys(names, 0) | {"num_rows": 64} | ({"pad_token": 7} if cached else {})
    kernels = [
        kernel(
            "reader",
            "operations/embedding/device/kernels/dataflow/embeddings.cpp",
            names,
            fixed=fixed,
            dfb={"in0": ">out"},
            tensor={"input": "indices", "weights": "weights"},
            pads={"in1": "indices"} | ({"local_cache": "cache"} if cached else {}),
            defines={"PADDED": "1"} if cached else {},
        ),
        writer(),
    ]
    pads = [metal.ScratchpadSpec(unique_id="indices", size_per_node=64)]
    if cached:
        pads.append(metal.ScratchpadSpec(unique_id="cache", size_per_node=stick))
    tensors = {"indices": indices, "weights": weights, "dst": target}
    arguments = {"reader": values, "writer": pages(64)}
    vendor.run(device, kernels, [buffer("out", stick)], tensors, arguments, scratchpads=pads)
    expected = ttnn.to_numpy(weights)[ttnn.to_numpy(indices).reshape(-1).astype(int)]
    assert (ttnn.to_numpy(target) == expected).all()


def test_sum_kernel_equals_the_operator(device: ttnn.MeshDevice) -> None:
    source = random((64, 160), device)
    target = empty_like(source, (64, 32))
    reduction = "operations/reduction/generic/device/kernels"
    defines = {"REDUCE_OP": "PoolType::SUM", "REDUCE_DIM": "ReduceDim::REDUCE_ROW"}
    kernels = [
        kernel(
            "reader",
            f"{reduction}/dataflow/reader_unary_reduce_universal_start_id.cpp",
            ["num_tiles", "start_id", "scaler_bits"],
            fixed={"tiles_per_batch": 2},
            dfb={"in0": ">in", "scaler": ">scaler"},
            tensor={"src": "src"},
            defines=defines,
        ),
        kernel(
            "compute",
            f"{reduction}/compute/reduce.cpp",
            ["Ht", "Wt", "NC"],
            config=metal.ComputeHardwareConfig(enable_32_bit_dest=True),
            fixed={"enable_fp32_sfpu": 0},
            dfb={"in0": "in", "scaler": "scaler", "out": ">out"},
            defines=defines,
        ),
        writer(),
    ]
    arguments = {
        "reader": {"num_tiles": 10, "start_id": 0, "scaler_bits": 0x3F800000},
        "compute": {"Ht": 2, "Wt": 5, "NC": 1},
        "writer": pages(2),
    }
    buffers = [buffer("in", entries=4), buffer("scaler", entries=1), buffer("out")]
    vendor.run(device, kernels, buffers, {"src": source, "dst": target}, arguments)
    assert (ttnn.to_numpy(target)[:, 0] == ttnn.to_numpy(ttnn.sum(source, dim=1)).reshape(-1)).all()


@pytest.mark.parametrize("columns", [32, 80, 128])
def test_moreh_softmax_kernel_equals_the_operator(device: ttnn.MeshDevice, columns: int) -> None:
    source = random((64, columns), device)
    target = empty_like(source)
    wide = -(-columns // 32)
    kernels_of = "operations/moreh/moreh_softmax/device/kernels"
    both_ends = ("tmp", "max", "x_minus_max", "exps", "recip_sum_exps")
    kernels = [
        kernel(
            "reader",
            f"{kernels_of}/reader_moreh_softmax_w.cpp",
            ["num_rows", "tile_offset", "Wt", "mask_w"],
            dfb={"in": ">in", "mask": ">mask", "max_scaler": ">max_scaler", "sum_scaler": ">sum_scaler"},
            tensor={"src": "src"},
            fixed={"is_fp32": 0},
        ),
        kernel(
            "compute",
            f"{kernels_of}/moreh_softmax_w.cpp",
            ["N", "Wt"],
            dfb={"in0": "in", "out0": ">out"}
            | {name: name for name in ("mask", "max_scaler", "sum_scaler")}
            | {name: f"={name}" for name in both_ends},
            defines={"SOFTMAX": "1"},
        ),
        kernel(
            "writer",
            f"{kernels_of}/writer_moreh_softmax_w.cpp",
            ["num_rows", "tile_offset", "Wt"],
            dfb={"out": "out"},
            tensor={"dst": "dst"},
        ),
    ]
    rows = {"num_rows": 2, "tile_offset": 0, "Wt": wide}
    arguments = {"reader": rows | {"mask_w": (columns - 1) % 32 + 1}, "compute": {"N": 2, "Wt": wide}, "writer": rows}
    single = [buffer(name, entries=1) for name in ("mask", "max_scaler", "sum_scaler", "tmp", "max", "recip_sum_exps")]
    rest = [buffer(name, entries=wide) for name in ("in", "x_minus_max", "exps", "out")]
    vendor.run(device, kernels, single + rest, {"src": source, "dst": target}, arguments)
    config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=False
    )
    expected = ttnn.moreh_softmax(source, 1, compute_kernel_config=config)
    assert same(target, expected)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("wide_dst", [False, True])
@pytest.mark.parametrize("stable", [False, True])
def test_softmax_kernel_equals_the_operator(
    device: ttnn.MeshDevice, stable: bool, wide_dst: bool, approximate: bool
) -> None:
    source = random((64, 256), device)
    target = empty_like(source)
    softmax = "operations/normalization/softmax/device/kernels/attention"
    wide, block = 8, 4
    defines = {"EXP_APPROX": str(int(approximate))} | ({"NUMERIC_STABLE": "1"} if stable else {})
    scalers = {name: name for name in ("max_scaler", "sum_scaler")}
    both_ends = ["exps", "recip_sum_exps", *(["max"] if stable else [])]
    sums = ("sum_scaler", "recip_sum_exps")
    from_float32 = (*sums, *(() if approximate else ("exps", *both_ends[2:])))
    kernels = [
        kernel(
            "reader",
            f"{softmax}/dataflow/reader_unary_interleaved_sm.cpp",
            ["blk", "num_rows", "tile_offset", "Wt"],
            dfb={"in0": ">in"} | {name: f">{name}" for name in scalers},
            tensor={"src": "src"},
            fixed={"in0_t": wide},
            defines=defines,
        ),
        kernel(
            "compute",
            f"{softmax}/compute/softmax.cpp",
            ["num_rows", "Ht", "Wt", "blk", "start_ht"],
            config=metal.ComputeHardwareConfig(
                enable_32_bit_dest=wide_dst,
                sfpu_precision_mode=metal.Precision.Approximate if approximate else metal.Precision.Precise,
                unpack_modes=dict.fromkeys(from_float32, metal.UnpackMode.UnpackToSrc),
            ),
            dfb={"in0": "in", "out0": ">out"} | scalers | {name: f"={name}" for name in both_ends},
            fixed={"in0_t": wide},
            defines=defines,
        ),
        kernel(
            "writer",
            f"{softmax}/dataflow/writer_unary_interleaved_start_id_blocked_sm.cpp",
            ["num_tiles", "tile_offset", "blk", "Wt", "mask_padded_data"],
            dfb={"out0": "out", "mask_padded": "=mask_padded"},
            tensor={"dst": "dst"},
            fixed={"num_datum_padded": 0, "tile_hw": 1024},
        ),
    ]
    rows = {"tile_offset": 0, "Wt": wide, "blk": block}
    arguments = {
        "reader": rows | {"num_rows": 2},
        "compute": {"num_rows": 2, "Ht": 2, "Wt": wide, "blk": block, "start_ht": 0},
        "writer": rows | {"num_tiles": 2 * wide, "mask_padded_data": 0},
    }
    float32 = {"entry": 4096, "form": ttnn.float32} if wide_dst else {}
    buffers = [
        *(buffer(name, entries=1) for name in ("max_scaler", "mask_padded")),
        *(buffer(name, entries=1, **float32) for name in sums),
        *(buffer(name, entries=wide) for name in ("in", "out")),
        # Accurate exponentials keep what Dst has; the packer writes the maxima with the same settings.
        buffer("exps", entries=wide, **({} if approximate else float32)),
        *(buffer(name, entries=1, **({} if approximate else float32)) for name in both_ends[2:]),
    ]
    vendor.run(device, kernels, buffers, {"src": source, "dst": target}, arguments)
    config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=approximate, fp32_dest_acc_en=wide_dst
    )
    assert same(target, ttnn.softmax(source, -1, compute_kernel_config=config, numeric_stable=stable))
