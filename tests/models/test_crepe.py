"""CREPE on the device: operators, bits, distance to torch, pitch.

Every operator and layer; the pitch is of tones.
"""

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
needs("torch", "torchcrepe", always=False)

import torch

import ttnn
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import Settings, pcc, sha256
from ttnn.cli.demo.tasks import crepe as task
from ttnn.examples.models import crepe as port

OPERATOR_BARS = {"ttnn.conv2d": 6e-4}
"""1 - PCC to the golden function, 1e-4 for others.

Sums over 512 samples are bfloat16 in L1.
"""


def build(
    device: ttnn.MeshDevice, cut: torch.Tensor, dtype: str = "bfloat16", fidelity: str = "HiFi4"
) -> tuple[port.Crepe, ttnn.Tensor]:
    model = port.Crepe(device, port.load_weights(), getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))
    return model, ttnn.to_device(model.inputs(cut), device)


def noise() -> torch.Tensor:
    """Return host-independent frames; sines differ in their last bits."""
    return made.draw("crepe", 0, "frames", (2, port.SAMPLES), 1.0)


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b"])
def test_every_operator_is_near_its_golden_function(
    dtype: str, model_device: ttnn.MeshDevice, operators: Operators
) -> None:
    """With host weights, prepared by the first call, and prepared ones."""
    model, sound = build(model_device, task.tones()[::16], dtype)
    for _ in range(2):
        operators.found.clear()
        model(sound)
        assert {name: p for name, p in operators.worst().items() if 1 - p > OPERATOR_BARS.get(name, 1e-4)} == {}
        assert sum(name == "ttnn.conv2d" for name, _ in operators.found) == 6


def test_bits_of_every_layer(
    model_device: ttnn.MeshDevice,
    same_hash: Callable[[str, str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    cpu_level: None,
    host_threads: None,
) -> None:
    model, sound = build(model_device, noise())

    def bits() -> list[str]:
        with results_of("ttnn.max_pool2d") as layers:
            scores = model(sound)
        return [*layers, sha256(scores)]

    first = bits_on_every_host(bits, model_device)
    for run, digest in zip((*(f"layer {i}" for i in range(6)), "scores"), first, strict=True):
        same_hash("crepe", run, digest)
    assert sha256(trace(model_device, lambda: model(sound))) == first[-1]
    monkeypatch.setattr(port.ttnn, "DRAM_MEMORY_CONFIG", ttnn.L1_MEMORY_CONFIG)
    # The product behind them is divided otherwise where its operand lies in L1, and adds in another order.
    assert bits()[:-1] == first[:-1]


@pytest.mark.parametrize(("dtype", "bar"), [("bfloat16", 0.9999), ("bfloat8_b", 0.9999)])
def test_distance_to_torch(dtype: str, bar: float, model_device: ttnn.MeshDevice) -> None:
    cut = task.tones()[::8]
    expected = port.torch_scores(port.load_weights(), cut)
    found = {}
    for fidelity in ("LoFi", "HiFi2", "HiFi4"):
        model, sound = build(model_device, cut, dtype, fidelity)
        found[fidelity] = pcc(ttnn.to_torch(model(sound)).float()[0, 0], expected)
    falls_with_phases(found, 1e-4)
    assert found["HiFi4"] > bar


def test_pitch_is_within_ten_cents_of_torch(model_device: ttnn.MeshDevice) -> None:
    outcome = task.run(model_device, Settings("bfloat16", "HiFi4", 0, False), lambda detail: None)
    assert all(line.missing == 0 for line in outcome.lines)
    figures = outcome.figures
    assert figures["largest_difference_in_cents"] < 10
    assert figures["same_bin"] == figures["frames_that_torch_is_sure_of"] >= 24
