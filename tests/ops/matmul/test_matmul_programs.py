"""Chosen programs of recorded matmul calls.

Configuration, compute kernel, buffers, result, or error.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ttnn
from testkit.recorded_matmul import OtherOperator, evaluate
from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.ops.matmul.l1_buffers import check_room_below
from ttnn.ops.matmul.program import MatmulProgram
from ttnn.ops.matmul.resolve import MatmulCall, decide, empty_result, resolve, result_shape
from ttnn.ops.matmul.specs import cores_text, memory_config_of, spec_of

# Line numbers (from 0) of calls whose outcome differs from the recorded one, and why.
DIFFERENT: dict[int, str] = {}

# Line numbers of calls that a real card runs and this package refuses with UnsupportedError.
UNSUPPORTED: dict[int, str] = {}


def records(golden: Path) -> list[dict[str, Any]]:
    with gzip.open(golden / "host" / "matmul_programs.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def differences(record: dict[str, Any], device: ttnn.MeshDevice) -> Iterator[str]:
    """Yield what our outcome of one recorded call has different."""
    try:
        recorded = evaluate(device, record["expr"])
        call = recorded.call
        if "config" in record:
            yield from _config(call, record["config"])
        if call.is_empty:
            outcome = empty_result(call)
            yield from _empty(outcome, record)
            return
        program = resolve(call)
        recorded.l1.allocate(spec_of(program.out))
        check_room_below(program, recorded.l1.lowest)
        separate_add_fits(program)
    except UnsupportedError:
        raise
    except TtnnError as error:
        yield from _error(error, record)
        return
    if "error" in record:
        yield f"no error, expected {record['message']}"
        return
    yield from _result(call, program, record)
    yield from _operators(program, record["ops"], list(recorded.after))
    yield from _buffers(program, record)
    yield from _kernel(program, record)


def separate_add_fits(program: MatmulProgram) -> None:
    """Raise as the separate add would.

    Its own checks belong to `ttnn.add`.
    """
    bias = program.separate_bias
    if bias is not None and bias.shape[-1] not in (1, program.out.shape[-1]):
        n = program.out.shape[-1]
        raise TtnnError(
            f"info:\nBroadcasting rule violation at dimension index -1 (output rank {len(program.out.shape)}), "
            f"dim a: {n}, dim b: {bias.shape[-1]}"
        )


def _error(error: TtnnError, record: dict[str, Any]) -> Iterator[str]:
    if "error" not in record:
        yield f"raised {error}"
        return
    sentence = record["message"].split("info:\n", 1)[-1]
    if sentence not in str(error):
        yield f"other error: {error}; expected {sentence}"
    if type(error) is not TtnnError and not isinstance(error, RuntimeError):
        yield f"{type(error).__name__} is not a RuntimeError"


def _config(call: MatmulCall, expected: dict[str, Any]) -> Iterator[str]:
    config = decide(call).config
    ours = {"type": config.kind.value, **config.fields()}
    if ours != expected:
        yield f"config {ours}, expected {expected}"


def _empty(outcome: Any, record: dict[str, Any]) -> Iterator[str]:
    out = record["out"]
    if (list(outcome.shape), list(outcome.padded), outcome.dtype.name) != (out["shape"], out["padded"], out["dtype"]):
        yield f"empty result {outcome}, expected {out}"
    if record["ops"]:
        yield f"expected operators {record['ops']}"


def _result(call: MatmulCall, program: MatmulProgram, record: dict[str, Any]) -> Iterator[str]:
    expected = record["out"]
    shape = result_shape(call, program.out.shape)
    if program.separate_bias is not None:
        # The add broadcasts the product over the batch of the bias.
        extra = program.separate_bias.shape[: max(0, len(program.separate_bias.shape) - len(shape))]
        shape = (*extra, *shape)
    padded = (*shape[:-2], *program.out.padded[-2:])
    placement = program.out.placement
    ours: dict[str, Any] = {
        "shape": list(shape),
        "padded": list(padded),
        "dtype": program.out.dtype.name,
        "layout": program.out.layout.name,
        "mem": f"{placement.layout.name}/{placement.buffer.name}",
    }
    if placement.shard is not None:
        ours["shard"] = str(memory_config_of(placement).shard_spec)
    if ours != expected:
        yield f"result {ours}, expected {expected}"


def _operators(program: MatmulProgram, ops: list[dict[str, Any]], following: list[str]) -> Iterator[str]:
    compute = program.compute
    first = {
        "op": "MatmulDeviceOperation",
        "factory": program.factory,
        "compute_config": {
            "math_fidelity": compute.fidelity.name,
            "math_approx_mode": str(int(compute.approx)),
            "fp32_dest_acc_en": str(int(compute.fp32)),
            "packer_l1_acc": str(int(compute.l1_acc)),
            "dst_full_sync_en": str(int(compute.full_sync)),
        },
        "bcast_batch": str(int(program.bcast_batch)),
        "out_dtype": program.out.dtype.name,
    }
    if ops[0] != first:
        yield f"operator {first}, expected {ops[0]}"
    after = ["BinaryNgDeviceOperation"] * (program.separate_bias is not None)
    after += ["UnaryDeviceOperation"] * (program.separate_activation is not None)
    after += following
    expected = [op["op"] for op in ops[1:]]
    if after != expected:
        yield f"followed by {after}, expected {expected}"


def _buffers(program: MatmulProgram, record: dict[str, Any]) -> Iterator[str]:
    recorded = record.get("l1_buffers")
    if not recorded or recorded[0]["l1"] is None:
        return
    cores = cores_text(program.cores)
    ours = [[buffer.bytes, cores, int(buffer.borrowed)] for buffer in program.buffers]
    if ours != recorded[0]["l1"]:
        yield f"L1 buffers {ours}, expected {recorded[0]['l1']}"


def _kernel(program: MatmulProgram, record: dict[str, Any]) -> Iterator[str]:
    kernels = [kernel for kernel in record.get("kernels") or [] if "buffers" in kernel]
    if not kernels:
        return
    kernel = kernels[0]
    compute = program.compute
    ours: dict[str, Any] = {
        "args": program.compute_args(),
        "defines": program.defines(),
        "fidelity": compute.fidelity.name,
        "approx": compute.approx,
        "dst32": compute.fp32,
        "dst_sync": "SyncFull" if compute.full_sync else "SyncHalf",
        "buffers": {
            name: {"id": buffer.id, "l1": buffer.l1, "unpack": buffer.unpack, "pack_from": buffer.pack_from}
            for name, buffer in program.kernel_buffers().items()
        },
    }
    for name, value in ours.items():
        if value != kernel[name]:
            yield f"compute kernel {name} {value}, expected {kernel[name]}"


@pytest.fixture
def boards() -> Iterator[dict[str, ttnn.MeshDevice]]:
    devices = {chip: ttnn.open_device(device_id=card, chip=chip) for card, chip in enumerate(("n150", "p150"))}
    yield devices
    for device in devices.values():
        ttnn.close_device(device)


def test_every_recorded_program(
    golden: Path, boards: dict[str, ttnn.MeshDevice], capsys: pytest.CaptureFixture[str]
) -> None:
    counts: Counter[str] = Counter()
    different: dict[int, str] = {}
    unsupported: set[int] = set()
    for number, record in enumerate(records(golden)):
        try:
            found = list(differences(record, boards[record["board"]]))
        except OtherOperator as other:
            counts[f"calls ttnn.{other}"] += 1
            continue
        except UnsupportedError:
            unsupported.add(number)
            counts["unsupported"] += 1
            continue
        counts["different" if found else "same"] += 1
        if found:
            different[number] = f"{record['board']} {record['expr']}: " + "; ".join(found)
    with capsys.disabled():
        print(f"\nmatmul programs: {dict(counts)}")
    unexpected = [text for number, text in different.items() if number not in DIFFERENT]
    assert not unexpected, "\n".join(unexpected)
    assert set(different) == set(DIFFERENT)
    assert unsupported == set(UNSUPPORTED)
