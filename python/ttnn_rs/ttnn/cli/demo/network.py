"""A two-layer float32 network for scikit-learn's digits.

It is trained with a fixed order of operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.cli.common.terminal import require
from ttnn.cli.demo.arithmetic import matmul, softmax

Float32 = NDArray[np.float32]

HIDDEN = 128
EPOCHS = 40
BATCH = 64
LEARNING_RATE = np.float32(0.05)
MOMENTUM = np.float32(0.9)
SEED = 20
TRAINED_SHARE = 2 / 3


@dataclass(frozen=True)
class Digits:
    """Images [N, 64] with values 0..1 and classes [N].

    The last third, by other writers, is kept for testing.
    """

    train_images: Float32
    train_classes: NDArray[np.int64]
    test_images: Float32
    test_classes: NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """Weights as [inputs, outputs] and biases as [1, outputs]."""

    hidden_weight: Float32
    hidden_bias: Float32
    output_weight: Float32
    output_bias: Float32


def load_digits() -> Digits:
    """Return scikit-learn's 1,797 digits, split in collection order.

    Raises:
        MissingPackage: scikit-learn is not installed.
    """
    datasets: Any = require("sklearn.datasets", extra="demo", purpose="the demo")
    images, classes = datasets.load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32)  # 17 grey levels: exact in bfloat16
    split = int(len(images) * TRAINED_SHARE)
    return Digits(images[:split], classes[:split], images[split:], classes[split:])


def train(digits: Digits, progress: Callable[[str], None]) -> Network:
    """Return a network fitted to the training images.

    By gradient descent with momentum on the cross-entropy.

    `progress` is called after each of the `EPOCHS` passes with a word about it.
    """
    random = np.random.RandomState(SEED)  # numpy guarantees this generator's numbers for all time
    images, classes = digits.train_images, digits.train_classes
    inputs, outputs = images.shape[1], int(classes.max()) + 1
    parameters = [
        _uniform(random, inputs, HIDDEN),
        np.zeros((1, HIDDEN), np.float32),
        _uniform(random, HIDDEN, outputs),
        np.zeros((1, outputs), np.float32),
    ]
    velocities = [np.zeros_like(parameter) for parameter in parameters]
    targets = np.eye(outputs)[classes]
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            gradients = _gradients(parameters, images[chosen], targets[chosen])
            for parameter, velocity, gradient in zip(parameters, velocities, gradients, strict=True):
                velocity *= MOMENTUM
                velocity -= LEARNING_RATE * gradient
                parameter += velocity
        progress(f"epoch {epoch + 1}")
    return Network(*parameters)


def infer_float64(network: Network, images: Float32) -> NDArray[np.float64]:
    """Return the trained network's float64 probabilities [N, 10].

    They are the measure of all others.
    """
    exact = [np.asarray(part, np.float64) for part in vars(network).values()]
    hidden = np.maximum(matmul(images.astype(np.float64), exact[0]) + exact[1], 0.0)
    return softmax(matmul(hidden, exact[2]) + exact[3])


def _uniform(random: np.random.RandomState, inputs: int, outputs: int) -> Float32:
    limit = np.sqrt(6.0 / (inputs + outputs))
    return random.uniform(-limit, limit, (inputs, outputs)).astype(np.float32)


def _gradients(parameters: list[Float32], images: Float32, targets: NDArray[np.float64]) -> list[Float32]:
    hidden_weight, hidden_bias, output_weight, output_bias = parameters
    hidden = np.maximum(matmul(images, hidden_weight) + hidden_bias, np.float32(0))
    logits = matmul(hidden, output_weight) + output_bias
    slope = ((softmax(logits) - targets) / len(images)).astype(np.float32)
    hidden_slope = matmul(slope, np.ascontiguousarray(output_weight.T)) * (hidden > 0)
    ones = np.ones((1, len(images)), np.float32)
    return [
        matmul(np.ascontiguousarray(images.T), hidden_slope),
        matmul(ones, hidden_slope),
        matmul(np.ascontiguousarray(hidden.T), slope),
        matmul(ones, slope),
    ]
