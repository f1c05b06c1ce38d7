"""Training an MLP on digits: gradients, losses, accuracy, thread-independent bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import _engine

pytest.importorskip("sklearn")
import mlp_digits
from training_common import Parameters, number, to_device

WEIGHTS_AFTER_50 = "e69554d482bc434f78bad101f5ae949bc1000741421c34944356771fef1147f2"


def _rounded(weights: dict[str, Any]) -> dict[str, Any]:
    """Return weights as products take them: bfloat16, in float64."""
    import ml_dtypes

    return {name: np.asarray(array, ml_dtypes.bfloat16).astype(np.float64) for name, array in weights.items()}


def _loss(weights: dict[str, Any], x: Any, labels: Any) -> float:
    hidden = np.maximum(x @ weights["w1"] + weights["b1"], 0)
    logits = hidden @ weights["w2"] + weights["b2"]
    shifted = logits - logits.max(-1, keepdims=True)
    return float(np.mean(np.log(np.exp(shifted).sum(-1)) - shifted[np.arange(len(x)), labels]))


def _gradients(weights: dict[str, Any], x: Any, labels: Any) -> dict[str, Any]:
    before = x @ weights["w1"] + weights["b1"]
    hidden = np.maximum(before, 0)
    logits = hidden @ weights["w2"] + weights["b2"]
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    grad = (shares / shares.sum(-1, keepdims=True) - np.eye(10)[labels]) / len(x)
    back = (grad @ weights["w2"].T) * (before > 0)
    sums = {"b1": back.sum(0, keepdims=True), "b2": grad.sum(0, keepdims=True)}
    return {"w1": x.T @ back, "w2": hidden.T @ grad, **sums}


@pytest.fixture(scope="module")
def some_steps() -> dict[str, Any]:
    """Return weights after ten steps."""
    device = ttnn.open_device(device_id=0)
    parameters, losses = mlp_digits.train(device, 10)
    weights = parameters.numpy()
    ttnn.close_device(device)
    # Nothing is known at first.
    assert abs(losses[0] - math.log(10)) < 0.01
    return weights


def test_gradients_correlate_with_exact_ones(some_steps: dict[str, Any], device: ttnn.MeshDevice) -> None:
    images, labels = mlp_digits.digits()
    x, targets = images[:128], labels[:128]
    parameters = Parameters.of(some_steps, device, master=True)
    loss, found = mlp_digits.loss_and_gradients(
        parameters.rounded(), to_device(x, device), to_device(np.eye(10)[targets], device, ttnn.float32)
    )
    exact, pixels = _rounded(some_steps), _rounded({"x": x})["x"]
    assert number(loss) == pytest.approx(_loss(exact, pixels, targets), abs=0.01)
    expected = _gradients(exact, pixels, targets)
    rng = np.random.default_rng(0)
    for name, gradient in found.items():
        values = np.asarray(gradient.to_numpy(), np.float64)
        assert np.corrcoef(values.ravel(), expected[name].ravel())[0, 1] > 0.999, name
        largest = np.abs(expected[name]).max()
        for place in rng.choice(values.size, 5, replace=False):
            # The reference is right itself, and the device is near to it.
            moved = [{**exact, name: exact[name].copy()} for _ in range(2)]
            for weights, step in zip(moved, (1e-6, -1e-6), strict=True):
                weights[name].ravel()[place] += step
            slope = (_loss(moved[0], pixels, targets) - _loss(moved[1], pixels, targets)) / 2e-6
            assert expected[name].ravel()[place] == pytest.approx(slope, abs=1e-5 * largest)
            assert values.ravel()[place] == pytest.approx(slope, abs=0.02 * largest)


def test_digits_are_learned(device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    images, labels = mlp_digits.digits()
    seen, held = slice(0, mlp_digits.TRAINED), slice(mlp_digits.TRAINED, None)
    steps = 10 * (mlp_digits.TRAINED // mlp_digits.BATCH)
    parameters, losses = mlp_digits.train(device, steps, images=images[seen], labels=labels[seen])
    reached = mlp_digits.accuracy(parameters, images[held], labels[held], device)

    weights = {n: torch.tensor(w, requires_grad=True) for n, w in mlp_digits.initial_weights().items()}
    optimizer = torch.optim.SGD(weights.values(), lr=0.1, momentum=0.9)
    choices, expected = mlp_digits.batches(mlp_digits.TRAINED), []

    def logits(x: Any) -> Any:
        return torch.relu(x @ weights["w1"] + weights["b1"]) @ weights["w2"] + weights["b2"]

    for _ in range(steps):
        chosen = next(choices)
        loss = torch.nn.functional.cross_entropy(logits(torch.tensor(images[chosen])), torch.tensor(labels[chosen]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        expected.append(float(loss.detach()))
    torch_reached = float((logits(torch.tensor(images[held])).argmax(-1).numpy() == labels[held]).mean())
    assert reached > 0.92
    assert abs(reached - torch_reached) <= 0.01
    assert np.abs(np.array(losses) - expected).max() < 0.03


@pytest.mark.parametrize("threads", [1, 8])
def test_weights_after_50_steps(threads: int, device: ttnn.MeshDevice, host_threads: None) -> None:
    _engine.set_threads(threads)
    parameters, _ = mlp_digits.train(device, 50)
    assert parameters.sha256() == WEIGHTS_AFTER_50
