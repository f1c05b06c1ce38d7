"""MTCNN: faces among crops (R-Net, O-Net), and in images (P-Net)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import torch
from torch.nn.functional import interpolate

import ttnn
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, device_bytes, pcc, sha256, timed
from ttnn.examples.models import mtcnn as port

SCALE = 0.15
"""Scale of the image on which P-Net runs."""
STRIDE, CELL = 2, 12
"""Stride and receptive field of P-Net, in pixels."""


def crops(side: int) -> torch.Tensor:
    """Return scikit-image's 100 faces and 100 other crops.

    [200, 3, side, side].
    """
    grey = torch.from_numpy(np.asarray(importlib.import_module("skimage.data").lfw_subset(), np.float32))[:, :24, :24]
    images = ((grey * 255 - 127.5) / 128)[:, None]
    if side != 24:
        images = interpolate(images, (side, side), mode="bilinear")
    return images.repeat(1, 3, 1, 1)


def astronaut() -> torch.Tensor:
    """Return scikit-image's astronaut, [1, 3, 77, 77].

    The face has the size of a cell.
    """
    pixels = torch.from_numpy(np.asarray(importlib.import_module("skimage.data").astronaut(), np.float32))
    side = int(pixels.shape[0] * SCALE + 1)
    small = interpolate(pixels.permute(2, 0, 1)[None], (side, side), mode="area")
    return (small - 127.5) / 128


def place_of(probabilities: torch.Tensor) -> tuple[int, int]:
    """Return the most probable cell's centre in pixels.

    From probabilities [rows, columns].
    """
    row, column = divmod(int(probabilities.argmax()), probabilities.shape[1])
    return tuple(round((STRIDE * i + CELL / 2) / SCALE) for i in (row, column))  # type: ignore[return-value]


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Run all three networks."""
    outcome = Outcome("MTCNN: 200 crops and a picture", "images")
    shown: dict[str, Any] = {}
    for network, images in ((port.R_NET, crops(24)), (port.O_NET, crops(48)), (port.P_NET, astronaut())):
        weights = port.load_weights(network)
        expected = port.torch_run(network, weights, images)
        model = pixels = whole = found = others = None  # frees what the network before had on the device
        before = device_bytes(device)
        model = port.Faces(device, network, weights, settings.data_type, settings.math_fidelity)
        pixels = ttnn.to_device(model.inputs(images), device)
        size = (len(images), *images.shape[2:])
        model(pixels, size)  # lays out the weights
        weight_bytes = device_bytes(device) - before
        whole = timed(lambda model=model, pixels=pixels, size=size: model(pixels, size), settings)  # type: ignore[misc]
        (found, *others), sides = whole.result
        got = ttnn.to_torch(found).float()[0, 0][:, 1]
        costs = (whole.seconds, weight_bytes, whole.device_nanoseconds, whole.missing, len(images))
        name = network.file
        outcome.operators[name] = whole.operators
        outcome.hashes[name] = sha256(found)
        if network is port.P_NET:
            ours, theirs = got.reshape(sides), expected[0][0, 1]
            outcome.lines.append(
                Line(name, "best probability", float(ours.max()), float(theirs.max()), pcc(ours, theirs), *costs)
            )
            outcome.notes.append(f"P-Net finds the face at {place_of(ours)}, torch at {place_of(theirs)}")
            outcome.figures[name] = {"place": place_of(ours), "place_in_torch": place_of(theirs)}
            shown = {"picture": images, "probabilities": ours}
        else:
            right = torch.arange(len(images)) < 100
            mine, torchs = (int(((part > 0.5) == right).sum()) for part in (got, expected[0][:, 1]))
            outcome.lines.append(Line(name, "right of 200", mine, torchs, pcc(got, expected[0][:, 1]), *costs))
            boxes = [
                pcc(ttnn.to_torch(part).float()[0, 0], theirs)
                for part, theirs in zip(others, expected[1:], strict=True)
            ]
            outcome.figures[name] = {"pcc_of_boxes": boxes[0], "pcc_of_points": boxes[1:]}
        advance(name)
    outcome.draw = lambda figure: _draw(figure, shown)
    return outcome


def _draw(figure: Any, shown: dict[str, Any]) -> None:
    left, right = figure.subplots(1, 2)
    left.imshow((shown["picture"][0].permute(1, 2, 0) * 128 + 127.5).numpy().astype(np.uint8))
    row, column = (value * SCALE for value in place_of(shown["probabilities"]))
    half = CELL / 2
    left.plot(
        [column + half * x for x in (-1, 1, 1, -1, -1)], [row + half * y for y in (-1, -1, 1, 1, -1)], color="red"
    )
    right.imshow(shown["probabilities"].numpy(), cmap="magma", vmin=0, vmax=1)
    right.set_title("probability of a face, on the device", fontsize=9)
    for axes in (left, right):
        axes.axis("off")
