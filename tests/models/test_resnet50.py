"""ResNet-50 at full size, made weights: operators, bits, distance."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testkit.model_checks import Operators, bits_on_every_host, falls_with_phases, large, needs, results_of, trace

large()
needs("torch", always=False)

import torch

import ttnn
from ttnn.cli.demo.measure import centred_pcc, sha256
from ttnn.cli.demo.tasks import resnet50 as task
from ttnn.examples.models import resnet50 as port

OPERATOR_BARS = {"ttnn.conv2d": 6e-4, "ttnn.linear": 2e-4}
"""1 - PCC to the golden function, 1e-4 for others.

LoFi cuts the mantissas of both operands of a product.
"""


def build(
    device: ttnn.MeshDevice, dtype: str = "bfloat8_b", fidelity: str = "LoFi", images: int = 1
) -> tuple[port.ResNet50, ttnn.Tensor]:
    model = port.ResNet50(device, task.weights(), getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))
    return model, ttnn.to_device(model.inputs(task.images_of(images)), device)


def correlations(
    model: port.ResNet50, pixels: ttnn.Tensor, seen: list[torch.Tensor]
) -> tuple[list[float], torch.Tensor]:
    """Return each block's PCC without pixel mean, and the scores."""
    found: list[float] = []

    def look(block: ttnn.Tensor) -> None:
        expected = seen[len(found)].permute(0, 2, 3, 1).flatten(1, 2)
        found.append(centred_pcc(ttnn.to_torch(block).float().reshape(expected.shape), expected))

    return found, ttnn.to_torch(model(pixels, seen=look)).float()[0, 0]


def reference(images: int) -> tuple[list[torch.Tensor], torch.Tensor]:
    weights = {name: tensor.float() for name, tensor in task.weights().items()}
    return port.torch_scores(weights, task.images_of(images).float())


def test_every_operator_is_near_its_golden_function(model_device: ttnn.MeshDevice, operators: Operators) -> None:
    """With host weights, prepared by the first call, and prepared ones."""
    model, pixels = build(model_device)
    for _ in range(2):
        operators.found.clear()
        model(pixels)
        assert {name: p for name, p in operators.worst().items() if 1 - p > OPERATOR_BARS.get(name, 1e-4)} == {}
        assert sum(name == "ttnn.conv2d" for name, _ in operators.found) == 53


def test_bits_of_every_block(
    model_device: ttnn.MeshDevice,
    same_hash: Callable[[str, str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    cpu_level: None,
    host_threads: None,
) -> None:
    model, pixels = build(model_device)

    def bits() -> list[str]:
        with results_of("ttnn.max_pool2d", "ttnn.add_") as layers:
            scores = model(pixels)
        return [*layers, sha256(scores)]

    first = bits_on_every_host(bits, model_device)
    for run, digest in zip(("stem", *(f"block {i:02}" for i in range(16)), "scores"), first, strict=True):
        same_hash("resnet50", run, digest)
    assert sha256(trace(model_device, lambda: model(pixels))) == first[-1]
    monkeypatch.setattr(port.ttnn, "DRAM_MEMORY_CONFIG", ttnn.L1_MEMORY_CONFIG)
    # The product behind them is divided otherwise where its operand lies in L1, and adds in another order.
    assert bits()[:-1] == first[:-1]


def test_distance_to_torch(fast: None, model_device: ttnn.MeshDevice) -> None:
    seen, scores = reference(2)
    found, got = correlations(*build(model_device, "bfloat16", "HiFi4", 2), seen)
    assert len(found) == 16
    assert min(found) > 0.999
    assert centred_pcc(got[None], scores[None]) > 0.98  # the bar of the vendor's tests


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("dtype", "bar"), [("bfloat16", 0.999), ("bfloat8_b", 0.995)])
def test_more_phases_are_nearer_to_torch(dtype: str, bar: float, model_device: ttnn.MeshDevice) -> None:
    """With float32 sums.

    In a 16-bit Dst sums grow, and the truncation of LoFi compensates for a part of that.
    """
    seen, _ = reference(1)
    last: dict[str, float] = {}
    for fidelity in ("LoFi", "HiFi2", "HiFi4"):
        model, pixels = build(model_device, dtype, fidelity)
        model.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=getattr(ttnn.MathFidelity, fidelity),
            math_approx_mode=False,
            fp32_dest_acc_en=True,
            packer_l1_acc=True,
        )
        found, _ = correlations(model, pixels, seen)
        last[fidelity] = found[-1]
    falls_with_phases(last, 1e-4)
    assert last["HiFi4"] > bar
