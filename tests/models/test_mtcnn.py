"""MTCNN on the device: operators, bits, 200 crops, a face."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testkit.model_checks import Operators, bits_on_every_host, falls_with_phases, needs, results_of, trace

needs("torch", "skimage", "facenet_pytorch")

import torch

import ttnn
from ttnn import _engine
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import pcc, sha256
from ttnn.cli.demo.tasks import mtcnn as task
from ttnn.examples.models import mtcnn as port


def run(device: ttnn.MeshDevice, network: port.Network, images: torch.Tensor) -> tuple[list[ttnn.Tensor], Any]:
    model = port.Faces(device, network, port.load_weights(network))
    pixels = ttnn.to_device(model.inputs(images), device)
    return model(pixels, (len(images), *images.shape[2:]))


def test_r_net_knows_200_crops(
    model_device: ttnn.MeshDevice, same_hash: Callable[[str, str, str], None], host_threads: None
) -> None:
    images = task.crops(24)
    expected = port.torch_run(port.R_NET, port.load_weights(port.R_NET), images)
    found, _ = run(model_device, port.R_NET, images)
    got = ttnn.to_torch(found[0]).float()[0, 0][:, 1]
    assert torch.equal(got > 0.5, torch.arange(200) < 100)
    assert pcc(got, expected[0][:, 1]) > 0.9999
    assert pcc(ttnn.to_torch(found[1]).float()[0, 0], expected[1]) > 0.999
    same_hash("mtcnn", "rnet", sha256(found[0]))
    part = images[:8]
    first = sha256(run(model_device, port.R_NET, part)[0][0])
    _engine.set_threads(1)
    assert sha256(run(model_device, port.R_NET, part)[0][0]) == first


NETWORKS = {"pnet": (port.P_NET, (1, 48, 40)), "rnet": (port.R_NET, (4, 24, 24)), "onet": (port.O_NET, (2, 48, 48))}
"""The networks and their images: number, height and width."""


@pytest.mark.parametrize("name", NETWORKS)
def test_every_operator_is_near_its_golden_function(
    name: str, model_device: ttnn.MeshDevice, operators: Operators
) -> None:
    """With host weights, prepared by the first call, and prepared ones."""
    network, size = NETWORKS[name]
    model = port.Faces(model_device, network, port.load_weights(network))
    pixels = ttnn.to_device(model.inputs(noise(size)), model_device)
    for _ in range(2):
        operators.found.clear()
        model(pixels, size)
        # A slope of a negative value is a few bits, and rounded as often as it is used.
        assert {name: p for name, p in operators.worst().items() if 1 - p > 2e-4} == {}
        assert {"ttnn.conv2d", "ttnn.max_pool2d", "ttnn.where", "ttnn.softmax"} <= set(operators.worst())


def noise(size: tuple[int, int, int]) -> torch.Tensor:
    return made.draw("mtcnn", 0, "images", (size[0], 3, *size[1:]), 0.5)


@pytest.mark.parametrize("name", NETWORKS)
def test_bits_of_every_stage(
    name: str,
    model_device: ttnn.MeshDevice,
    same_hash: Callable[[str, str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    cpu_level: None,
    host_threads: None,
) -> None:
    network, size = NETWORKS[name]
    model = port.Faces(model_device, network, port.load_weights(network))
    pixels = ttnn.to_device(model.inputs(noise(size)), model_device)

    def bits() -> list[str]:
        with results_of("ttnn.where") as stages:
            found, _ = model(pixels, size)
        return [*stages, *map(sha256, found)]

    first = bits_on_every_host(bits, model_device)
    stages = len(first) - len(network.heads)
    names = [f"{name} stage {i}" for i in range(stages)] + [f"{name} {head}" for head in network.heads]
    for run, digest in zip(names, first, strict=True):
        same_hash("mtcnn", run, digest)
    replayed, _ = trace(model_device, lambda: model(pixels, size))
    assert [*map(sha256, replayed)] == first[stages:]
    monkeypatch.setattr(port.ttnn, "DRAM_MEMORY_CONFIG", ttnn.L1_MEMORY_CONFIG)
    convolutions = len(network.stages)
    assert bits()[:convolutions] == first[:convolutions]


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b"])
def test_more_phases_are_nearer_to_torch(dtype: str, model_device: ttnn.MeshDevice) -> None:
    images = task.crops(24)[90:110]
    weights = port.load_weights(port.R_NET)
    expected = port.torch_run(port.R_NET, weights, images)[1]
    found = {}
    for fidelity in ("LoFi", "HiFi2", "HiFi4"):
        model = port.Faces(
            model_device, port.R_NET, weights, getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity)
        )
        boxes = model(ttnn.to_device(model.inputs(images), model_device), (20, 24, 24))[0][1]
        found[fidelity] = pcc(ttnn.to_torch(boxes).float()[0, 0], expected)
    falls_with_phases(found, 1e-4)
    assert found["HiFi4"] > 0.999


def test_p_net_finds_the_face(model_device: ttnn.MeshDevice) -> None:
    picture = task.astronaut()
    expected = port.torch_run(port.P_NET, port.load_weights(port.P_NET), picture)[0][0, 1]
    found, sides = run(model_device, port.P_NET, picture)
    got = ttnn.to_torch(found[0]).float()[0, 0][:, 1].reshape(sides)
    stride = task.STRIDE / task.SCALE
    apart = [abs(a - b) for a, b in zip(task.place_of(got), task.place_of(expected), strict=True)]
    assert max(apart) <= stride
    assert task.place_of(expected) == (120, 213)
    assert float(got.max()) > 0.99


def test_o_net_finds_points_of_faces(model_device: ttnn.MeshDevice) -> None:
    images = task.crops(48)[:16]
    expected = port.torch_run(port.O_NET, port.load_weights(port.O_NET), images)
    found, _ = run(model_device, port.O_NET, images)
    for ours, theirs in zip(found, expected, strict=True):
        got = ttnn.to_torch(ours).float()[0, 0]
        assert float((got - theirs).abs().max()) < 0.02
