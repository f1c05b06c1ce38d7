"""Mistral-7B with random weights: distance to torch, predicted and published throughput.

The distance is by layer.
"""

from __future__ import annotations

import ttnn
from ttnn.cli.demo.measure import Advance, Outcome, Settings
from ttnn.cli.demo.tasks import large
from ttnn.examples.models import mistral7b as port

PUBLISHED = large.Published(kernels={}, end_to_end={"of the article, 2024": 352.0, "late 2025": 918.4}, roofline=1220.0)
"""Source: the article on TT-NN; README of tt-metal's models.

Their feed-forward is in bfloat4_b.
"""


def model() -> large.Large:
    """Return the model."""
    return large.Large("mistral7b", "Mistral-7B", port, PUBLISHED, 1024, ((1024,), (1023,)))


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Prefill, decode, predict."""
    return large.run(model(), device, settings, advance)
