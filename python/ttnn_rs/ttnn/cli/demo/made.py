"""Generated weights for models without any package.

They are normal numbers that depend on model, layer and name alone.

A counter-based generator is seeded by the three, so that a layer can be made, freed and made again, in any order and on
any machine, without the layers before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import torch

SCALE = 0.02
"""Standard deviation, as in the initial weights of language models."""


@lru_cache(maxsize=8)
def _quantiles(scale: float, mean: float) -> torch.Tensor:
    """Return 65,536 equally likely values of a normal distribution, in bfloat16."""
    normal = NormalDist(mean, scale)
    values = [normal.inv_cdf((i + 0.5) / 65536) for i in range(65536)]
    return torch.tensor(values, dtype=torch.float64).to(torch.bfloat16)


def draw(
    model: str, layer: int, name: str, shape: Sequence[int], scale: float = SCALE, mean: float = 0.0
) -> torch.Tensor:
    """Return a tensor in bfloat16 of normal numbers.

    Args:
        model: Seeds the generator, with the next two.
        layer: The number of a layer; -1 outside of layers.
        name: Of the tensor.
        shape: Of the tensor.
        scale: Standard deviation.
        mean: Mean.
    """
    digest = hashlib.sha256(f"{model}/{layer}/{name}".encode()).digest()
    generator = np.random.Philox(key=int.from_bytes(digest[:16], "little"))
    count = int(np.prod(shape))
    # Sixteen bits choose one of the values; tables of bits are looked up faster than numbers are computed.
    places = generator.random_raw(-(-count // 4)).view(np.uint16)[:count]
    table = _quantiles(scale, mean).view(torch.int16).numpy()
    return torch.from_numpy(table[places]).view(torch.bfloat16).reshape(tuple(shape))


def state(model: str, layer: int, shapes: Mapping[str, Sequence[int]]) -> dict[str, torch.Tensor]:
    """Return a layer's tensors by name; norm weights are around 1."""
    return {
        name: draw(model, layer, name, shape, mean=1.0 if name.endswith("norm.weight") else 0.0)
        for name, shape in shapes.items()
    }
