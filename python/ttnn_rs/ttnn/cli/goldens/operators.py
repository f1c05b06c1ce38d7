"""Whole operators of `ops/`: matmul, element-wise operations and reductions.

They run through the functions that users call.

Tensors are made of the vectors' tile bytes as they are: their block-float codes include some that no conversion from
floating point produces.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ttnn
from ttnn.cli.goldens import accumulation, attention, convolution, normalization, pooling, random, selection
from ttnn.cli.goldens.cases import DTYPE, attempt, cases, on_device, opened, operator_of
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.walk import Archive, Checker, Uncovered, Verdict

TILE = ttnn.TILE_SIZE
OTHER_OPERATOR = "the operator is not part of the package yet"
SUBBLOCKS = 1
"""Output block sizes change no bits; the smallest fits every case."""


def checker_of(name: str) -> Checker | None:
    """Return what checks the file `name` of `ops/`."""
    known = {
        "matmul.npz": _matmul,
        "binary.npz": _binary,
        "reduce.npz": _reduce,
        "hardswish.npz": _hardswish,
    }
    families = (normalization, accumulation, attention, selection, convolution, pooling, random)
    found = (family.checker_of(name) for family in families)
    return known.get(name) or next(filter(None, found), _unknown)


def _unknown(_path: Path, archive: Archive, _chip: Chip) -> Iterator[Verdict]:
    for name in archive:
        if name.endswith(".out"):
            yield Uncovered(name, OTHER_OPERATOR)


def _matmul(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in json.loads(str(archive["params"])):
            name = f"out/{case['case']}"
            yield attempt(name, functools.partial(_run_matmul, case, archive, device), archive[name].shape)


def _run_matmul(case: dict[str, Any], archive: Archive, device: ttnn.MeshDevice) -> ttnn.Tensor:
    m, k, n = case["M"], case["K"], case["N"]
    inputs = f"in/{case['inputs']}"
    stored_a = (k, m) if case["transpose_a"] else (m, k)
    a = on_device(archive[f"{inputs}/in0"], stored_a, getattr(ttnn, case["in0"]), device)
    b = on_device(archive[f"{inputs}/in1"], (k, n), getattr(ttnn, case["in1"]), device)
    options: dict[str, Any] = {
        "dtype": getattr(ttnn, case["out"]),
        "transpose_a": case["transpose_a"],
        "program_config": _program(case),
        "compute_kernel_config": ttnn.WormholeComputeKernelConfig(
            math_fidelity=getattr(ttnn.MathFidelity, case["math_fidelity"]),
            fp32_dest_acc_en=case["fp32_dest_acc_en"],
            packer_l1_acc=case["packer_l1_acc"],
        ),
    }
    if case["untilize_out"]:
        # Rows come out of cores that keep them; the vectors have whole rows.
        options["memory_config"] = ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG
        rows: ttnn.Tensor = ttnn.to_memory_config(ttnn.matmul(a, b, **options), ttnn.DRAM_MEMORY_CONFIG)
        return rows
    if case["bias"] is None:
        product: ttnn.Tensor = ttnn.matmul(a, b, **options)
        return product
    bias = on_device(archive[f"{inputs}/bias"], (1, n), getattr(ttnn, case["bias"]), device)
    biased: ttnn.Tensor = ttnn.linear(a, b, bias=bias, **options)
    return biased


def _program(case: dict[str, Any]) -> ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig:
    """Return the 1D program of the case's block width.

    One row of cores, each with whole columns of the output.
    """
    columns = case["N"] // TILE
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(columns, 1),
        in0_block_w=case["in0_block_w"],
        out_subblock_h=SUBBLOCKS,
        out_subblock_w=SUBBLOCKS,
        per_core_M=case["M"] // TILE,
        per_core_N=1,
        fuse_batch=True,
        fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if case["relu"] else None,
        mcast_in0=True,
        untilize_out=case["untilize_out"],
    )


def _reduce(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in cases(archive):
            name = f"{case['case']}.out"
            a = on_device(archive[f"{case['case']}.in0"], tuple(case["shape"]), DTYPE[case["dtype"]], device)
            run = functools.partial(operator_of(case), a, dim=case["dim"], keepdim=True)
            yield attempt(name, run, archive[name].shape)


def _hardswish(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in cases(archive):
            name = f"{case['case']}.out"
            a = on_device(archive[f"{case['case']}.in0"], tuple(case["shape"]), DTYPE[case["dtype"]], device)
            yield attempt(name, functools.partial(ttnn.hardswish, a), archive[name].shape)


BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum"}


def _binary(_path: Path, archive: Archive, chip: Chip) -> Iterator[Verdict]:
    with opened(chip) as device:
        for case in cases(archive):
            name = f"{case['case']}.out"
            function = getattr(ttnn, BINARY[case["op"]], None)
            if function is None:
                yield Uncovered(name, OTHER_OPERATOR)
                continue
            type_a, type_b, type_out = case["dtype"]
            a = on_device(archive[f"{case['case']}.in0"], tuple(case["shape_a"]), DTYPE[type_a], device)
            b = case.get("scalar")
            if b is None:
                b = on_device(archive[f"{case['case']}.in1"], tuple(case["shape_b"]), DTYPE[type_b], device)
            yield attempt(name, functools.partial(function, a, b, dtype=DTYPE[type_out]), archive[name].shape)
