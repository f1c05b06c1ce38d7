"""MTCNN on the device: every operator, bits, 200 crops, and the face in a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from model_checks import Operators, needs

needs("torch", "skimage", "facenet_pytorch")

import torch

import ttnn
from ttnn import _engine
from ttnn.cli.demo.measure import pcc, sha256
from ttnn.cli.demo.tasks import mtcnn as task
from ttnn.examples.models import mtcnn as port


@pytest.fixture
def windows_device() -> Iterator[ttnn.MeshDevice]:
    device = ttnn.open_device(device_id=0, l1_small_size=1 << 15)
    yield device
    ttnn.close_device(device)


def run(device: ttnn.MeshDevice, network: port.Network, images: torch.Tensor) -> tuple[list[ttnn.Tensor], Any]:
    model = port.Faces(device, network, port.load_weights(network))
    pixels = ttnn.to_device(model.inputs(images), device)
    return model(pixels, (len(images), *images.shape[2:]))


def test_r_net_knows_200_crops(
    windows_device: ttnn.MeshDevice, same_hash: Callable[[str, str, str], None], host_threads: None
) -> None:
    images = task.crops(24)
    expected = port.torch_run(port.R_NET, port.load_weights(port.R_NET), images)
    found, _ = run(windows_device, port.R_NET, images)
    got = ttnn.to_torch(found[0]).float()[0, 0][:, 1]
    assert torch.equal(got > 0.5, torch.arange(200) < 100)
    assert pcc(got, expected[0][:, 1]) > 0.9999
    assert pcc(ttnn.to_torch(found[1]).float()[0, 0], expected[1]) > 0.999
    same_hash("mtcnn", "rnet", sha256(found[0]))
    part = images[:8]
    first = sha256(run(windows_device, port.R_NET, part)[0][0])
    _engine.set_threads(1)
    assert sha256(run(windows_device, port.R_NET, part)[0][0]) == first


def test_every_operator_is_near_its_golden_function(windows_device: ttnn.MeshDevice, operators: Operators) -> None:
    run(windows_device, port.R_NET, task.crops(24)[:2])
    # A slope of a negative value is a few bits, and rounded as often as it is used.
    assert {name: p for name, p in operators.worst().items() if 1 - p > 2e-4} == {}
    assert {"ttnn.conv2d", "ttnn.max_pool2d", "ttnn.where", "ttnn.softmax"} <= set(operators.worst())


def test_p_net_finds_the_face(windows_device: ttnn.MeshDevice) -> None:
    picture = task.astronaut()
    expected = port.torch_run(port.P_NET, port.load_weights(port.P_NET), picture)[0][0, 1]
    found, sides = run(windows_device, port.P_NET, picture)
    got = ttnn.to_torch(found[0]).float()[0, 0][:, 1].reshape(sides)
    stride = task.STRIDE / task.SCALE
    apart = [abs(a - b) for a, b in zip(task.place_of(got), task.place_of(expected), strict=True)]
    assert max(apart) <= stride
    assert task.place_of(expected) == (120, 213)
    assert float(got.max()) > 0.99


def test_o_net_finds_points_of_faces(windows_device: ttnn.MeshDevice) -> None:
    images = task.crops(48)[:16]
    expected = port.torch_run(port.O_NET, port.load_weights(port.O_NET), images)
    found, _ = run(windows_device, port.O_NET, images)
    for ours, theirs in zip(found, expected, strict=True):
        got = ttnn.to_torch(ours).float()[0, 0]
        assert float((got - theirs).abs().max()) < 0.02
