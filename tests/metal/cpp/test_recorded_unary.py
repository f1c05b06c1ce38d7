"""Official unary kernels with their own sequences, built as recorded: operator bits.

Skipped without a compiler, or without an unpacked wheel (`TTNN_OFFICIAL_WHEEL`).
"""

from __future__ import annotations

import struct

import numpy as np
import pytest
import torch
import vendor
from vendor import WHEEL, buffer, kernel

import ttnn
from ttnn import metal

pytestmark = pytest.mark.skipif(not (WHEEL / "ttnn").is_dir(), reason="needs the official wheel, unpacked")
UNARY = "operations/eltwise/unary/device/kernels"
READ = f"{UNARY}/dataflow/reader_unary_interleaved_start_id_metal2.cpp"
WRITE = f"{UNARY}/dataflow/writer_unary_interleaved_start_id_metal2.cpp"
PAGES = ("num_pages", "start_id")
BF16, FP32, BFP8, BFP4 = ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b
CODES = {FP32: 0, BF16: 5, BFP8: 6, BFP4: 7, ttnn.int32: 8, ttnn.uint16: 9, ttnn.uint32: 24}
_WORDS = (0, 8, 24)


def _word(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def _operand(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return all bfloat16 values, or as many random ones."""
    rng = np.random.default_rng(5)
    if dtype in (ttnn.int32, ttnn.uint16, ttnn.uint32):
        low, high = {ttnn.int32: (-(2**31), 2**31), ttnn.uint16: (0, 2**16), ttnn.uint32: (0, 2**32)}[dtype]
        values = torch.from_numpy(rng.integers(low, high, (256, 256)))
        values[0, :4] = torch.tensor([0, 1, 2, high - 1])
    elif dtype is BF16:
        values = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(torch.bfloat16).reshape(256, 256)
    else:
        values = torch.from_numpy(rng.normal(0, 3, (256, 256)).astype(np.float32))
        values[0, :4] = torch.tensor([0.0, 1.0, -1.0, 0.5])
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def _computed(
    device: ttnn.MeshDevice,
    source: ttnn.Tensor,
    file: str,
    fixed: dict[str, int],
    scalars: dict[str, int],
    defines: dict[str, str],
    *,
    wide: bool,
    between: bool = False,
) -> ttnn.Tensor:
    """Run a recorded program: reader, kernel, writer."""
    dtype = source.dtype
    target = ttnn.empty(list(source.shape), dtype, ttnn.TILE_LAYOUT, device)
    count = source.volume() // 1024
    consumed = ("in", "tmp0") if between else ("in",)
    direct = dict.fromkeys(consumed, metal.UnpackMode.UnpackToDest) if CODES[dtype] in _WORDS else {}
    config = metal.ComputeHardwareConfig(enable_32_bit_dest=wide, unpack_modes=direct)
    compute = kernel(
        "compute",
        f"{UNARY}/compute/{file}.cpp",
        ["num_tiles", *scalars],
        dfb={"in": "in", "out": ">out"} | ({"tmp0": "=tmp0"} if between else {}),
        fixed=fixed,
        defines=defines,
        config=config,
    )
    read = kernel("reader", READ, PAGES, dfb={"in": ">in"}, tensor={"src": "src"})
    write = kernel("writer", WRITE, PAGES, dfb={"out": "out"}, tensor={"dst": "dst"})
    pages = {"num_pages": count, "start_id": 0}
    arguments = {"reader": pages, "writer": pages, "compute": {"num_tiles": count} | scalars}
    names = ("in", "out", *(("tmp0",) if between else ()))
    entry = {BFP8: 1088, BFP4: 576, BF16: 2048, ttnn.uint16: 2048}.get(dtype, 4096)
    buffers = [buffer(name, entry, form=dtype) for name in names]
    vendor.run(device, [read, compute, write], buffers, {"src": source, "dst": target}, arguments)
    return target


def _same(one: ttnn.Tensor, other: ttnn.Tensor) -> bool:
    return ttnn.to_numpy(one).tobytes() == ttnn.to_numpy(other).tobytes()


_FLOATS = (BF16, FP32, BFP8, BFP4)


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_hardswish(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    source = _operand(dtype, device)
    fixed = {"input_data_format": CODES[dtype], "is_float32": int(dtype is FP32), "is_int": 0}
    target = _computed(device, source, "hardswish_kernel", fixed, {}, {}, wide=dtype is FP32)
    assert _same(target, ttnn.hardswish(source))


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_log_sigmoid(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    source = _operand(dtype, device)
    fixed = {"input_data_format": CODES[dtype]}
    target = _computed(device, source, "logsigmoid_kernel", fixed, {}, {}, wide=dtype is FP32)
    assert _same(target, ttnn.log_sigmoid(source))


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_logit(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    source = _operand(dtype, device)
    fixed = {"input_data_format": CODES[dtype], "do_clamp": 1}
    ends = {"packed_scalar1": _word(0.25), "packed_scalar2": _word(0.75)}
    target = _computed(device, source, "logit_kernel", fixed, ends, {}, wide=dtype is FP32, between=True)
    assert _same(target, ttnn.logit(source, eps=0.25))


def _chain(call: str, **more: str) -> dict[str, str]:
    return {"SFPU_OP_CHAIN_0": call} | more


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_mac_with_two_numbers(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    source = _operand(dtype, device)
    form = "Float32" if dtype is FP32 else "Float16_b"
    call = f"mac_tile_init<DataFormat::{form}>(); mac_tile<DataFormat::{form}>(0, 1, 2, 0);"
    numbers = {"packed_scalar1": _word(1.7), "packed_scalar2": _word(-0.3)}
    fixed = {"input_data_format": CODES[dtype]}
    defines = _chain(call, SFPU_OP_MAC_INCLUDE="1", INP_FLOAT32="1" if dtype is FP32 else "0")
    target = _computed(device, source, "mac_tss_kernel", fixed, numbers, defines, wide=dtype is FP32)
    assert _same(target, ttnn.mac(source, 1.7, -0.3))


@pytest.mark.parametrize("dtype", _FLOATS, ids=str)
def test_where_with_two_numbers(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    source = _operand(dtype, device)
    numbers = {"packed_scalar1": _word(1.7), "packed_scalar2": _word(-0.3)}
    fixed = {"input_data_format": CODES[dtype]}
    defines = {"INP_FLOAT32": "1"} if dtype is FP32 else {"INP_FLOAT": "1"}
    target = _computed(device, source, "where_tss_kernel", fixed, numbers, defines, wide=dtype is FP32)
    assert _same(target, ttnn.where(source, 1.7, -0.3))


@pytest.mark.parametrize("exponent", [2, 3, 10])
@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32, ttnn.uint16], ids=str)
def test_integer_power(device: ttnn.MeshDevice, dtype: ttnn.DataType, exponent: int) -> None:
    source = _operand(dtype, device)
    fixed = {"data_format": CODES[dtype], "exponent": exponent}
    target = _computed(device, source, "eltwise_pow_int", fixed, {}, {}, wide=True)
    assert _same(target, ttnn.pow(source, exponent))
