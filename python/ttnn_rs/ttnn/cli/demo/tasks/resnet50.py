"""ResNet-50 with made weights: how far every block is from torch."""

from __future__ import annotations

import math

import torch

import ttnn
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, centred_pcc, device_bytes, sha256, timed
from ttnn.cli.demo.tasks import pictures
from ttnn.examples.models import resnet50 as port

IMAGES = 16
IN_BLOCK = 0.7
"""Scale of a block's residual branch, so that activations grow slowly."""


def weights() -> port.Weights:
    """Return weights that keep activation sizes, by He's initialisation.

    Their deviation is that of He's initialisation.
    """
    found = {}
    for name, shape in port.shapes().items():
        scale = math.sqrt(2 / math.prod(shape[1:])) if len(shape) > 1 else made.SCALE
        added = name.endswith(("expand.weight", "beside.weight"))
        found[name] = made.draw("resnet50", 0, name, shape, scale * IN_BLOCK if added else scale)
    return found


def images_of(count: int) -> torch.Tensor:
    """Return noise images [N, 3, 224, 224], each with its own colour."""
    noise = made.draw("resnet50", -1, "images", (count, 3, port.IMAGE, port.IMAGE), 1.0)
    return noise + made.draw("resnet50", -1, "colours", (count, 3, 1, 1), 1.0)


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Send images through all blocks."""
    made_weights, images = weights(), images_of(IMAGES)
    advance("weights")
    seen, scores = port.torch_scores({name: tensor.float() for name, tensor in made_weights.items()}, images.float())
    advance("torch")
    model = port.ResNet50(device, made_weights, settings.data_type, settings.math_fidelity)
    pixels = ttnn.to_device(model.inputs(images), device)
    before = device_bytes(device)
    found: list[float] = []

    def look(block: ttnn.Tensor) -> None:
        expected = seen[len(found)].permute(0, 2, 3, 1).flatten(1, 2)
        found.append(centred_pcc(ttnn.to_torch(block).float().reshape(expected.shape), expected))

    result = model(pixels, seen=look)
    checked = ttnn.to_torch(result).float()[0, 0]
    ttnn.deallocate(result)
    size = device_bytes(device) - before
    advance("blocks")
    whole = timed(lambda: model(pixels), settings)
    advance("run")
    same = float((checked.argmax(-1) == scores.argmax(-1)).float().mean())
    outcome = Outcome(f"ResNet-50 with made weights: {IMAGES} images", "images")
    costs = (whole.seconds, size, whole.device_nanoseconds, whole.missing)
    outcome.lines.append(Line("16 blocks", "same class", same, 1.0, found[-1], *costs, IMAGES))
    outcome.operators["forward"] = whole.operators
    outcome.hashes["scores"] = sha256(whole.result)
    among_images = centred_pcc(checked[None], scores[None])
    outcome.figures = {
        "pcc_of_blocks": found,
        "pcc_of_scores": among_images,
        "deviation_of_blocks": [float(block.std()) for block in seen],
    }
    outcome.notes.append(
        f"PCC of scores without their mean over images {among_images:.5f}; blocks without the mean over pixels: first "
        f"{found[0]:.5f}, last {found[-1]:.5f}"
    )
    outcome.draw = lambda figure: pictures.correlations(figure, {settings.dtype: found}, "block")
    return outcome
