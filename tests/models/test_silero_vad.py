"""silero-vad on the device: operators, bits, distance to torch, speech."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testkit.model_checks import (
    Operators,
    bits_on_every_host,
    falls_with_phases,
    large,
    needs,
    results_of,
    trace,
)

large()
needs("torch", "safetensors", "silero_vad", always=False)

import torch

import ttnn
from ttnn import _engine
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import Settings, pcc, sha256
from ttnn.cli.demo.tasks import silero_vad as task
from ttnn.cli.demo.tasks import sounds
from ttnn.examples.models import silero_vad as port

OPERATOR_BARS = {"ttnn.conv1d": 3e-4}
"""1 - PCC to the golden function, 1e-4 for others.

The first call rounds the weights on the host to bfloat8_b.
"""


def build(
    device: ttnn.MeshDevice, cut: torch.Tensor, dtype: str = "bfloat16", fidelity: str = "HiFi4"
) -> tuple[port.SileroVad, ttnn.Tensor]:
    model = port.SileroVad(device, port.load_weights(), getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))
    return model, ttnn.to_device(model.inputs(cut), device)


def noise() -> torch.Tensor:
    """Return 8 host-independent chunks; sines differ in their last bits."""
    return made.draw("silero-vad", 0, "chunks", (8, port.CONTEXT + port.CHUNK + port.PAD), 0.1)


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b"])
def test_every_operator_is_near_its_golden_function(
    dtype: str, model_device: ttnn.MeshDevice, operators: Operators
) -> None:
    """With host weights, prepared by the first call, and prepared ones."""
    model, windows = build(model_device, port.chunks(sounds.spoken(0.3)), dtype)
    for _ in range(2):
        operators.found.clear()
        model(windows)
        assert {name: p for name, p in operators.worst().items() if 1 - p > OPERATOR_BARS.get(name, 1e-4)} == {}
        assert sum(name == "ttnn.conv1d" for name, _ in operators.found) == 4
        assert len(operators.worst()) >= 14


def test_bits_of_every_layer(
    model_device: ttnn.MeshDevice,
    same_hash: Callable[[str, str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    cpu_level: None,
    host_threads: None,
) -> None:
    model, windows = build(model_device, noise())

    def bits() -> list[str]:
        with results_of("ttnn.conv1d", "ttnn.concat") as layers:
            speech = model(windows)
        return [*layers, sha256(speech)]

    first = bits_on_every_host(bits, model_device)
    for run, digest in zip((*(f"convolution {i}" for i in range(4)), "states", "speech"), first, strict=True):
        same_hash("silero-vad", run, digest)
    _engine.set_cpu_level("scalar")
    assert bits() == first
    assert sha256(trace(model_device, lambda: model(windows))) == first[-1]
    monkeypatch.setattr(port.ttnn, "DRAM_MEMORY_CONFIG", ttnn.L1_MEMORY_CONFIG)
    # The products behind them are divided otherwise where their operand lies in L1, and add in another order.
    assert bits()[:4] == first[:4]


@pytest.mark.parametrize(("dtype", "bar"), [("bfloat16", 0.9988), ("bfloat8_b", 0.998)])
def test_distance_to_torch(dtype: str, bar: float, model_device: ttnn.MeshDevice) -> None:
    cut = port.chunks(sounds.spoken(1.2))
    expected = port.torch_speech(port.load_weights(), cut)
    found = {}
    for fidelity in ("LoFi", "HiFi2", "HiFi4"):
        model, windows = build(model_device, cut, dtype, fidelity)
        found[fidelity] = pcc(ttnn.to_torch(model(windows)).float().flatten(), expected)
    falls_with_phases(found, 1e-4)
    assert found["HiFi4"] > bar


def test_speech_is_where_torch_hears_it(model_device: ttnn.MeshDevice) -> None:
    found = task.run(model_device, Settings("bfloat16", "HiFi4", 0, False), lambda detail: None)
    assert all(line.missing == 0 for line in found.lines)
    assert found.figures["same_side"] >= 0.98
    assert found.figures["largest_difference"] <= 0.03
    first, last = found.figures["mean_difference_of_first_and_last_half"]
    # The state is carried through 100 chunks without drift.
    assert last < 2 * first + 1e-3
    assert found.lines[0].expected > 50
