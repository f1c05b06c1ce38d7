"""CREPE: the pitch of tones, in cents relative to torch."""

from __future__ import annotations

from typing import Any

import torch

import ttnn
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, device_bytes, pcc, sha256, timed
from ttnn.cli.demo.tasks import sounds
from ttnn.examples.models import crepe as port

TONES = (110.0, 220.0, 440.0, 880.0)
FRAMES = 8
"""Frames per tone."""


def tones() -> torch.Tensor:
    """Return frames of all tones [N, 1024], one tone after the other."""
    return torch.cat([port.frames(sounds.tone(hertz, 0.5))[:FRAMES] for hertz in TONES])


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Find the pitch of four tones."""
    weights, cut = port.load_weights(), tones()
    expected = port.torch_scores(weights, cut)
    advance("torch")
    before = device_bytes(device)
    model = port.Crepe(device, weights, settings.data_type, settings.math_fidelity)
    sound = ttnn.to_device(model.inputs(cut), device)
    model(sound)  # lays out the weights
    size = device_bytes(device) - before
    advance("weights")
    whole = timed(lambda: model(sound), settings)
    got = ttnn.to_torch(whole.result).float()[0, 0]
    advance("run")
    ours, theirs = port.pitch(got), port.pitch(expected)
    outcome = Outcome(f"CREPE (tiny): {len(TONES)} tones, {FRAMES} frames each", "frames")
    costs = (whole.seconds, size, whole.device_nanoseconds, whole.missing, len(cut))
    for i, hertz in enumerate(TONES):
        part = slice(i * FRAMES, (i + 1) * FRAMES)
        mine, torchs = (float(port.hertz(cents[part].mean())) for cents in (ours, theirs))
        correlation = pcc(got[part], expected[part])
        outcome.lines.append(Line("all tones", f"pitch of {hertz:.0f} Hz", mine, torchs, correlation, *costs))
    outcome.operators["forward"] = whole.operators
    outcome.hashes["scores"] = sha256(whole.result)
    sure = expected.max(1).values > 0.5
    furthest = float((ours - theirs).abs()[sure].max())
    outcome.figures = {
        "largest_difference_in_cents": furthest,
        "frames_that_torch_is_sure_of": int(sure.sum()),
        "same_bin": int((got.argmax(1) == expected.argmax(1))[sure].sum()),
    }
    same, count = outcome.figures["same_bin"], int(sure.sum())
    outcome.notes.append(
        f"furthest from torch: {furthest:.2f} cents; same pitch in {same} of {count} frames that torch scores above 0.5"
    )
    outcome.draw = lambda figure: _draw(figure, got, expected)
    return outcome


def _draw(figure: Any, got: torch.Tensor, expected: torch.Tensor) -> None:
    for axes, scores, title in zip(
        figure.subplots(1, 2, sharey=True), (expected, got), ("torch", "device"), strict=True
    ):
        axes.imshow(scores.T, origin="lower", aspect="auto", cmap="magma", vmin=0, vmax=1)
        axes.set_title(f"scores in {title}" if title == "torch" else "scores on the device", fontsize=9)
        axes.set_xlabel("frame", fontsize=8)
        axes.set_ylabel("pitch, 20 cents apart", fontsize=8)
