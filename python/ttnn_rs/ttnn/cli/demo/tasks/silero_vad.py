"""silero-vad: where a computed voice speaks."""

from __future__ import annotations

from typing import Any

import torch

import ttnn
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, device_bytes, pcc, sha256, timed
from ttnn.cli.demo.tasks import sounds
from ttnn.examples.models import silero_vad as port

SECONDS = 2.4


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Hear a voice between silences."""
    weights, cut = port.load_weights(), port.chunks(sounds.spoken(SECONDS))
    expected = port.torch_speech(weights, cut)
    advance("torch")
    before = device_bytes(device)
    model = port.SileroVad(device, weights, settings.data_type, settings.math_fidelity)
    windows = ttnn.to_device(model.inputs(cut), device)
    model.features(windows)  # lays out the weights
    size = device_bytes(device) - before
    advance("weights")
    whole = timed(lambda: model(windows), settings)
    got = ttnn.to_torch(whole.result).float().flatten()
    advance("run")
    outcome = Outcome(f"silero-vad: {len(cut)} chunks of 32 ms, a voice between silences", "chunks")
    costs = (whole.seconds, size, whole.device_nanoseconds, whole.missing, len(cut))
    said, known = (int((speech > 0.5).sum()) for speech in (got, expected))
    outcome.lines.append(Line("all chunks", "chunks with speech", said, known, pcc(got, expected), *costs))
    outcome.operators["forward"] = whole.operators
    outcome.hashes["speech"] = sha256(whole.result)
    same = float(((got > 0.5) == (expected > 0.5)).float().mean())
    furthest = (got - expected).abs()
    outcome.figures = {
        "same_side": same,
        "largest_difference": float(furthest.max()),
        "mean_difference_of_first_and_last_half": [float(half.mean()) for half in furthest.chunk(2)],
    }
    outcome.notes.append(
        f"same side of 0.5 in {same:.1%} of the chunks; furthest from torch: {float(furthest.max()):.4f}"
    )
    outcome.draw = lambda figure: _draw(figure, got, expected)
    return outcome


def _draw(figure: Any, got: torch.Tensor, expected: torch.Tensor) -> None:
    above, below = figure.subplots(2, 1, sharex=True)
    sound = sounds.spoken(SECONDS)
    seconds = torch.arange(len(sound)) / sounds.RATE
    above.plot(seconds[::8], sound[::8], linewidth=0.3)
    places = torch.arange(len(got)) * port.CHUNK / port.RATE
    below.plot(places, expected, label="torch", linewidth=3, alpha=0.4)
    below.plot(places, got, label="device", linewidth=1)
    below.set_xlabel("seconds", fontsize=8)
    below.set_ylabel("probability of speech", fontsize=8)
    below.legend(fontsize=8)
