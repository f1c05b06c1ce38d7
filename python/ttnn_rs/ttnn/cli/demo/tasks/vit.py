"""ViT-B/16 with made weights: how far every layer is from torch."""

from __future__ import annotations

import torch

import ttnn
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, centred_pcc, device_bytes, sha256, timed
from ttnn.cli.demo.tasks import pictures
from ttnn.examples.models import vit as port

IMAGES = 8


def weights_of(layers: int) -> tuple[port.Weights, list[port.Weights]]:
    """Return the weights outside of layers, and those of the layers."""
    outer = made.state("vit", -1, port.outer_shapes())
    return outer, [made.state("vit", i, port.layer_shapes()) for i in range(layers)]


def images_of(count: int) -> torch.Tensor:
    """Return images [N, 224, 224, 3] of noise."""
    return made.draw("vit", -1, "images", (count, port.IMAGE, port.IMAGE, 3), 1.0)


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Send images through all layers."""
    outer, layers = weights_of(settings.layers)
    images = images_of(IMAGES)
    advance("weights")
    seen, scores = port.torch_encode(floats(outer), [floats(weights) for weights in layers], images.float())
    advance("torch")
    before = device_bytes(device)
    model = port.ViT(device, outer, layers, settings.data_type, settings.math_fidelity)
    size = device_bytes(device) - before
    found: list[float] = []

    def look(layer: ttnn.Tensor) -> None:
        got = ttnn.to_torch(layer).float()[:, : port.TOKENS]
        found.append(centred_pcc(got, seen[len(found)]))

    pixels = ttnn.to_device(model.inputs(images), device)
    checked = ttnn.to_torch(model(pixels, seen=look)).float()[:, 0]
    advance("layers")
    whole = timed(lambda: model(pixels), settings)
    advance("run")
    same = float((checked.argmax(-1) == scores.argmax(-1)).float().mean())
    outcome = Outcome(f"ViT-B/16 with made weights: {IMAGES} images", "images")
    costs = (whole.seconds, size, whole.device_nanoseconds, whole.missing)
    outcome.lines.append(Line(f"{settings.layers} layers", "same class", same, 1.0, found[-1], *costs, IMAGES))
    outcome.operators["forward"] = whole.operators
    outcome.hashes["scores"] = sha256(whole.result)
    outcome.figures = {
        "pcc_of_layers": found,
        "pcc_of_scores": centred_pcc(checked, scores),
        "deviation_of_layers": [float(layer.std()) for layer in seen],
    }
    outcome.notes.append(
        f"PCC of scores {centred_pcc(checked, scores):.5f}; layers without the mean over tokens: first {found[0]:.5f}, "
        f"last {found[-1]:.5f}"
    )
    outcome.draw = lambda figure: pictures.correlations(figure, {settings.dtype: found}, "layer")
    return outcome


def floats(weights: port.Weights) -> port.Weights:
    """Return weights in float32."""
    return {name: tensor.float() for name, tensor in weights.items()}
