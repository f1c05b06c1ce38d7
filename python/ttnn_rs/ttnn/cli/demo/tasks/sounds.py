"""Computed sounds: tones, and vowels that follow each other as in speech."""

from __future__ import annotations

import math

import torch

RATE = 16000
VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (570, 840, 2410), (300, 870, 2240), (530, 1840, 2480))
"""The three lowest resonances of a mouth in hertz."""


def tone(hertz: float, seconds: float) -> torch.Tensor:
    """Return a tone with one overtone."""
    angle = 2 * math.pi * hertz * torch.arange(int(seconds * RATE)) / RATE
    return torch.sin(angle) + 0.5 * torch.sin(2 * angle)


def voice(seconds: float, hertz: float = 120.0) -> torch.Tensor:
    """Return 0.15 s vowels: voice overtones weighted by formants."""
    length, parts = 2400, []
    inside = torch.arange(length)
    for i in range(int(seconds * RATE) // length):
        moving = hertz * (1 + 0.05 * math.sin(2 * math.pi * 3 * i * length / RATE))
        sound = torch.zeros(length)
        for overtone in range(1, 40):
            frequency = overtone * moving
            through = sum(
                loud / (1 + ((frequency - peak) / width) ** 2)
                for peak, width, loud in zip(VOWELS[i % 5], (60, 80, 100), (1.0, 0.6, 0.3), strict=True)
            )
            angle = 2 * math.pi * frequency * (inside + i * length) / RATE
            sound += through / overtone**0.3 * torch.sin(angle)
        parts.append(sound * torch.sin(math.pi * inside / length).sqrt())
    whole = torch.cat(parts)
    return whole / whole.abs().max() * 0.5


def spoken(seconds: float) -> torch.Tensor:
    """Return a voice between two half seconds of near silence."""
    hiss = torch.rand(int((seconds + 1) * RATE), generator=torch.Generator().manual_seed(1)) * 2e-4 - 1e-4
    voiced = voice(seconds)
    hiss[RATE // 2 : RATE // 2 + len(voiced)] += voiced
    return hiss
