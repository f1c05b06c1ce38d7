"""A one-hidden-layer MLP learning digits, on ttnn operators only.

The digits are those of scikit-learn.

64 pixels, 128 hidden units, 10 classes; batches of 128, SGD with rate 0.1 and momentum 0.9, inputs v / 16 - 0.5.
Forward and backward pass are written out, so that every operator of a step can be seen.

    python examples/training/mlp_digits.py --epochs 10
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import ttnn

sys.path.insert(0, str(Path(__file__).parent))
from training_common import Array, Parameters, Sgd, Tensors, cross_entropy, number, product, sum_of_rows, to_device

HIDDEN, CLASSES, BATCH = 128, 10, 128
TRAINED = 1500
"""Images that are seen; the others measure accuracy."""


def digits() -> tuple[Array, Array]:
    """Return images [1797, 64] and digits [1797], shuffled.

    Images are from -0.5 to 0.5; the order is without writers.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    return images[order].astype(np.float32) / 16 - 0.5, labels[order].astype(np.int64)


def initial_weights(seed: int = 0) -> dict[str, Array]:
    """Return Gaussian weights, narrow at the end.

    No digit is likelier than another at first.
    """
    rng = np.random.default_rng(seed)
    return {
        "w1": rng.normal(0, 64**-0.5, (64, HIDDEN)).astype(np.float32),
        "b1": np.zeros((1, HIDDEN), np.float32),
        "w2": rng.normal(0, 0.1 * HIDDEN**-0.5, (HIDDEN, CLASSES)).astype(np.float32),
        "b2": np.zeros((1, CLASSES), np.float32),
    }


def batches(count: int, seed: int = 0) -> Iterator[Array]:
    """Yield endless batch indices, reordered every epoch.

    The last few images of an epoch are left out.
    """
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(count)
        yield from order[: count // BATCH * BATCH].reshape(-1, BATCH)


def forward(weights: Tensors, x: ttnn.Tensor) -> tuple[ttnn.Tensor, ttnn.Tensor, ttnn.Tensor]:
    """Return float32 logits, and the hidden layer around ReLU.

    It is the layer before and after ReLU, which the backward pass needs.
    """
    before = ttnn.add(product(x, weights["w1"]), weights["b1"])
    hidden = ttnn.relu(before)
    logits = ttnn.add(product(hidden, weights["w2"]), weights["b2"])
    return ttnn.typecast(logits, ttnn.float32), before, hidden


def loss_and_gradients(weights: Tensors, x: ttnn.Tensor, targets: ttnn.Tensor) -> tuple[ttnn.Tensor, Tensors]:
    """Return a batch's loss, and gradients by weight name."""
    logits, before, hidden = forward(weights, x)
    loss, wide = cross_entropy(logits, targets, x.shape[0])
    gradient = ttnn.typecast(wide, ttnn.bfloat16)
    back = ttnn.relu_bw(product(gradient, weights["w2"], transpose_b=True), before)[0]
    return loss, {
        "w1": product(x, back, transpose_a=True),
        "b1": sum_of_rows(back),
        "w2": product(hidden, gradient, transpose_a=True),
        "b2": sum_of_rows(wide),
    }


def train(
    device: ttnn.MeshDevice,
    steps: int,
    *,
    master: bool = True,
    images: Array | None = None,
    labels: Array | None = None,
) -> tuple[Parameters, list[float]]:
    """Return the weights after some steps, and each step's loss.

    Args:
        device: Where it runs.
        steps: How many batches are seen.
        master: Whether weights are kept in float32 and rounded for products; otherwise they are bfloat16.
        images: [n, 64]; all digits if left out.
        labels: [n].
    """
    if images is None or labels is None:
        images, labels = digits()
    parameters, optimizer, losses = Parameters.of(initial_weights(), device, master=master), Sgd(), []
    choices = batches(len(images))
    for _ in range(steps):
        chosen = next(choices)
        x, targets = to_device(images[chosen], device), to_device(np.eye(CLASSES)[labels[chosen]], device, ttnn.float32)
        loss, gradients = loss_and_gradients(parameters.rounded(), x, targets)
        optimizer.step(parameters, gradients)
        losses.append(number(loss))
    return parameters, losses


def accuracy(parameters: Parameters, images: Array, labels: Array, device: ttnn.MeshDevice) -> float:
    """Return the share of images with the correct largest logit."""
    logits, _, _ = forward(parameters.rounded(), to_device(images, device))
    return float((logits.to_numpy().argmax(-1) == labels).mean())


def main() -> None:
    """Train and print loss and accuracy of every epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--bfloat16", action="store_true", help="keep the weights in bfloat16")
    options = parser.parse_args()
    images, labels = digits()
    seen, held = slice(0, TRAINED), slice(TRAINED, None)
    device = ttnn.open_device(device_id=0)
    try:
        steps = options.epochs * (TRAINED // BATCH)
        parameters, losses = train(device, steps, master=not options.bfloat16, images=images[seen], labels=labels[seen])
        for epoch, part in enumerate(np.array_split(losses, options.epochs), 1):
            print(f"epoch {epoch:2}: loss {np.mean(part):.4f}")
        print(f"accuracy of images that were not seen: {accuracy(parameters, images[held], labels[held], device):.2%}")
        print(f"sha256 of the weights: {parameters.sha256()}")
    finally:
        ttnn.close_device(device)


if __name__ == "__main__":
    main()
