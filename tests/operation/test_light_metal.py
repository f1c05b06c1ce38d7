"""Light metal captures: a program's operators, saved, loaded and run again."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn._ttnn.core import LightMetalBinary
from ttnn.operation.light_metal import light_metal_begin_capture, light_metal_end_capture

_HEADER = struct.Struct("<8sQ")


def _values(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _on(device: ttnn.MeshDevice, values: np.ndarray) -> ttnn.Tensor:
    return ttnn.Tensor(values, ttnn.bfloat16).to(ttnn.TILE_LAYOUT).to(device)


def test_a_program_runs_again_from_a_file(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    before = _on(device, _values(1, 1, 1, 64, 64))
    light_metal_begin_capture()
    weights = _on(device, _values(2, 1, 1, 64, 32))
    product = ttnn.linear(
        ttnn.relu(before),
        weights,
        activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 1.0),
        memory_config=ttnn.L1_MEMORY_CONFIG,
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2),
    )
    result = product * 0.1
    wanted = [product.to_numpy(), result.to_numpy()]
    captured = light_metal_end_capture()
    captured.save_to_file(str(tmp_path / "program.bin"))
    # What the program does to its tensors later is no part of the capture.
    ttnn.copy_host_to_device_tensor(ttnn.Tensor(np.zeros((1, 1, 64, 64)), ttnn.bfloat16).to(ttnn.TILE_LAYOUT), before)

    loaded = LightMetalBinary.load_from_file(tmp_path / "program.bin")
    assert loaded.get_data() == captured.get_data()
    assert loaded.size() == len(loaded.get_data()) > 2 * 64 * 96
    replay = ttnn.LightMetalReplay.create(loaded, device)
    for _ in range(2):
        assert replay.run() is True
        for found, expected in zip(replay.tensors, wanted, strict=True):
            np.testing.assert_array_equal(found.to_numpy(), expected)
    assert replay.tensors[0].memory_config() == ttnn.L1_MEMORY_CONFIG
    np.testing.assert_allclose(
        np.asarray(wanted[1], np.float64), 0.1 * np.asarray(wanted[0], np.float64), rtol=0.01, atol=1e-6
    )


def test_a_replay_opens_a_device_of_its_own() -> None:
    device = ttnn.open_device(device_id=0)
    light_metal_begin_capture()
    x = ttnn.allocate_tensor_on_device(ttnn.Shape((1, 1, 32, 32)), ttnn.float32, ttnn.TILE_LAYOUT, device)
    ttnn.copy_host_to_device_tensor(ttnn.full([1, 1, 32, 32], -3.0, ttnn.float32, layout=ttnn.TILE_LAYOUT), x)
    y = ttnn.abs(x)
    ttnn.deallocate(x)
    captured = light_metal_end_capture()
    assert y.is_allocated()
    ttnn.close_device(device)
    replay = ttnn.LightMetalReplay.create(captured)
    assert replay.run()
    (found,) = replay.tensors
    assert (found.to_numpy() == 3).all()


def test_tensors_that_the_program_drops_give_memory_back(device: ttnn.MeshDevice) -> None:
    shape = (1, 1, 2048, 4096)
    x = ttnn.Tensor(np.ones(shape, np.float32), ttnn.bfloat16, device=device, layout=ttnn.TILE_LAYOUT)
    light_metal_begin_capture()
    for _ in range(6):
        # Together larger than the L1 of all cores.
        x = ttnn.add(x, 1.0, memory_config=ttnn.L1_MEMORY_CONFIG)
        x = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG)
    captured = light_metal_end_capture()
    replay = ttnn.LightMetalReplay.create(captured, device)
    assert replay.run()
    assert (replay.tensors[-1].to_numpy() == 7).all()
    assert len(replay.tensors) == 1


def test_captures_begin_and_end_in_pairs(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.DeviceError, match="begin_capture first"):
        light_metal_end_capture()
    light_metal_begin_capture()
    with pytest.raises(ttnn.DeviceError, match="already"):
        light_metal_begin_capture()
    captured = light_metal_end_capture()
    assert not captured.is_empty()
    assert LightMetalBinary().is_empty()
    assert ttnn.LightMetalReplay.create(captured, device).run()


def _binary(text: object, contents: bytes = b"") -> LightMetalBinary:
    encoded = json.dumps(text).encode()
    return LightMetalBinary(_HEADER.pack(b"TTLIGHT1", len(encoded)) + encoded + contents)


def _calling(name: str, *arguments: object) -> dict[str, object]:
    call = {"gone": [], "name": name, "arguments": [{"tuple": list(arguments)}, {"dict": []}], "made": []}
    return {"tensors": [], "calls": [call], "kept": []}


def _with_keywords(keywords: object) -> dict[str, object]:
    call = {"gone": [], "name": "ttnn.relu", "arguments": [{"tuple": []}, keywords], "made": []}
    return {"tensors": [], "calls": [call], "kept": []}


@pytest.mark.parametrize(
    "text",
    [
        [],
        {"tensors": [], "calls": [{"load": 0}], "kept": []},
        {"tensors": [{"bytes": 1 << 60, "number": 0}], "calls": [], "kept": []},
        {"tensors": [{"bytes": -1, "number": 0}], "calls": [], "kept": []},
        {"tensors": [], "calls": [3], "kept": []},
        _with_keywords([]),
        _with_keywords(7),
        _with_keywords({"dict": [[1, 2]]}),
        _with_keywords({"dict": [["dim", 2], ["dim", 3]]}),
        _with_keywords({"dict": [["dim"]]}),
        _calling("ttnn.dump_tensor", "file.tensorbin"),
        _calling("ttnn.load_tensor", "file.tensorbin"),
        _calling("os.system", "true"),
    ],
)
def test_damaged_binaries_are_rejected(text: object) -> None:
    with pytest.raises(ttnn.FileFormatError, match=r"LightMetalReplay\.create"):
        ttnn.LightMetalReplay.create(_binary(text))


def test_bytes_of_something_else_are_rejected() -> None:
    for data in (b"", b"PK\3\4" * 10, _HEADER.pack(b"TTLIGHT1", 1 << 40), _binary([]).get_data()[:-1]):
        with pytest.raises(ttnn.FileFormatError, match=r"LightMetalReplay\.create"):
            ttnn.LightMetalReplay.create(LightMetalBinary(data))


@pytest.mark.parametrize(
    "argument",
    [
        {"tensor": 7},
        {"fields": ["system", {}]},
        {"fields": ["MemoryConfig", {"__class__": 1}]},
        {"enum": ["DataType", "mro"]},
        {"json": ["CoreRangeSet", "[" * 5000]},
        {"tuple": 4},
        [[[[]]], {"float": "x"}],
    ],
)
def test_values_that_do_not_exist_fail_the_run(
    argument: object, device: ttnn.MeshDevice, caplog: pytest.LogCaptureFixture
) -> None:
    replay = ttnn.LightMetalReplay.create(_binary(_calling("ttnn.relu", argument)), device)
    assert replay.run() is False
    assert "LightMetalReplay.run" in caplog.text
