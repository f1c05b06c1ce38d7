"""Falcon-7B with random weights: distance to torch, predicted and published throughput.

The distance is by layer.
"""

from __future__ import annotations

import ttnn
from ttnn.cli.demo.measure import Advance, Outcome, Settings
from ttnn.cli.demo.tasks import large
from ttnn.examples.models import falcon7b as port

PUBLISHED = large.Published(
    kernels={
        "prefill 128": 2115.0,
        "prefill 1024": 3120.0,
        "prefill 2048": 2870.0,
        "decode 128": 629.0,
        "decode 1024": 572.0,
        "decode 2047": 533.0,
    },
    end_to_end={"July 2024": 456.8, "late 2025": 592.0},
    roofline=1253.0,
)
"""Source: tt-metal's device performance expectations and the model's README.

The README has the throughput end to end.
"""


def model() -> large.Large:
    """Return the model."""
    lengths, positions = (1024, 2048), (1024, 2047)
    return large.Large("falcon7b", "Falcon-7B", port, PUBLISHED, 2048, (lengths, positions))


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Prefill, decode, predict."""
    return large.run(model(), device, settings, advance)
