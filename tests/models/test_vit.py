"""ViT-B/16 with made weights: operators, bits, distance to torch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testkit.model_checks import Operators, bits_on_every_host, falls_with_phases, large, needs, trace

large()
needs("torch", always=False)

import torch

import ttnn
from ttnn.cli.demo.measure import centred_pcc, pcc, sha256
from ttnn.cli.demo.tasks import vit as task
from ttnn.examples.models import vit as port

LAYERS = 2
OPERATOR_BARS = {
    "bfloat16": {"ttnn.transformer.attention_softmax_": 1e-3},
    "bfloat8_b": {"ttnn.transformer.attention_softmax_": 1e-3, "ttnn.linear": 1.5e-4},
}
"""1 - PCC to the golden function, 1e-4 for others.

Powers and their sum are bfloat16 in Dst: 2**-9 each.
"""


def build(
    device: ttnn.MeshDevice, dtype: str = "bfloat8_b", fidelity: str = "HiFi2", layers: int = LAYERS
) -> tuple[port.ViT, ttnn.Tensor]:
    model = port.ViT(device, *task.weights_of(layers), getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))
    return model, ttnn.to_device(model.inputs(task.images_of(1)), device)


@pytest.mark.parametrize("dtype", OPERATOR_BARS)
def test_every_operator_is_near_its_golden_function(
    dtype: str, model_device: ttnn.MeshDevice, operators: Operators
) -> None:
    model, pixels = build(model_device, dtype, "HiFi4", 1)
    operators.found.clear()
    model(pixels)
    bars = OPERATOR_BARS[dtype]
    assert {name: p for name, p in operators.worst().items() if 1 - p > bars.get(name, 1e-4)} == {}
    assert len(operators.worst()) >= 12


def test_bits_of_every_layer(
    model_device: ttnn.MeshDevice,
    same_hash: Callable[[str, str, str], None],
    cpu_level: None,
    host_threads: None,
) -> None:
    """In DRAM alone, which fixes the matmul blocks.

    Products choose their blocks by the room that tensors leave in L1, and add in another order.
    """
    model, pixels = build(model_device)

    def bits() -> list[str]:
        layers: list[str] = []
        scores = model(pixels, seen=lambda layer: layers.append(sha256(layer)))
        return [*layers, sha256(scores)]

    first = bits_on_every_host(bits, model_device)
    for run, digest in zip(("layer 0", "layer 1", "scores of 2 layers"), first, strict=True):
        same_hash("vit", run, digest)
    assert sha256(trace(model_device, lambda: model(pixels))) == first[-1]


def test_distance_to_torch(model_device: ttnn.MeshDevice) -> None:
    outer, layers = task.weights_of(LAYERS)
    images = task.images_of(1).float()
    seen, scores = port.torch_encode(task.floats(outer), [task.floats(weights) for weights in layers], images)
    # By format: PCC of layers without the mean over tokens, PCC of scores.
    for dtype, layer_bar, bar in (("bfloat16", 0.9997, 0.9995), ("bfloat8_b", 0.999, 0.998)):
        last: dict[str, float] = {}
        for fidelity in ("LoFi", "HiFi2", "HiFi4"):
            model, pixels = build(model_device, dtype, fidelity)
            found: list[torch.Tensor] = []
            result = model(pixels, seen=lambda layer, to=found: to.append(ttnn.to_torch(layer).float()))
            parts = [centred_pcc(ours[:, : port.TOKENS], theirs) for ours, theirs in zip(found, seen, strict=True)]
            last[fidelity] = parts[-1]
            if fidelity != "LoFi":
                assert min(parts) > layer_bar, (dtype, fidelity)
                assert pcc(ttnn.to_torch(result).float(), scores) > bar, (dtype, fidelity)
        falls_with_phases(last, 1e-4)
