"""A two-layer GPT learning characters, on ttnn operators only.

The text is scikit-learn's descriptions of data sets.

64 positions, 64 wide, 4 heads of 16, a hidden layer of 256, dropout 0; batches of 16 sequences, AdamW. Activations are
bfloat16, sums of products float32. Forward and backward pass are written out.

    python examples/training/char_gpt.py --steps 300 --picture training.png

The picture has two curves: weights in bfloat16, and weights in float32 that products round. A step that is smaller than
half the distance between two bfloat16 numbers is lost in the first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ttnn

sys.path.insert(0, str(Path(__file__).parent))
from training_common import (
    PRECISE,
    AdamW,
    Array,
    Parameters,
    Tensors,
    cross_entropy,
    number,
    product,
    rows_of_numbers,
    sum_of_rows,
    to_device,
)

LAYERS, HEADS, WIDTH, HIDDEN, LENGTH, BATCH = 2, 4, 64, 256, 64, 16
ROWS = BATCH * LENGTH
EPSILON = 1e-5
HIDDEN_SCORE = -1e9
"""Is added to the scores of what comes later."""


def text() -> tuple[Array, list[str]]:
    """Return the text as character numbers, and the characters.

    Their number is a multiple of 32.
    """
    from sklearn import datasets

    names = ("iris", "digits", "wine", "breast_cancer", "diabetes", "linnerud")
    whole = "\n".join(getattr(datasets, f"load_{name}")().DESCR for name in names)
    characters = sorted(set(whole))
    places = {character: place for place, character in enumerate(characters)}
    # Characters that do not occur fill the last tile.
    characters += [""] * (-len(characters) % 32)
    return np.array([places[character] for character in whole], np.int64), characters


def sequences(values: Array, seed: int = 0) -> Iterator[tuple[Array, Array]]:
    """Yield endless batches of characters [B, T] and their successors.

    They are from random places of the text.
    """
    rng = np.random.default_rng(seed)
    while True:
        starts = rng.integers(0, len(values) - LENGTH - 1, BATCH)
        window = values[starts[:, None] + np.arange(LENGTH + 1)]
        yield window[:, :-1], window[:, 1:]


def initial_weights(vocabulary: int, seed: int = 0) -> dict[str, Array]:
    """Return Gaussian weights of deviation 0.02, narrower for residuals.

    Norms begin as the identity.
    """
    rng = np.random.default_rng(seed)

    def gaussian(*shape: int, scale: float = 0.02) -> Array:
        return rng.normal(0, scale, shape).astype(np.float32)

    weights = {"characters": gaussian(vocabulary, WIDTH), "positions": gaussian(LENGTH, WIDTH)}
    last = 0.02 / (2 * LAYERS) ** 0.5
    for layer in range(LAYERS):
        weights |= {
            f"{layer}.qkv": gaussian(WIDTH, 3 * WIDTH),
            f"{layer}.out": gaussian(WIDTH, WIDTH, scale=last),
            f"{layer}.up": gaussian(WIDTH, HIDDEN),
            f"{layer}.up_bias": np.zeros((1, HIDDEN), np.float32),
            f"{layer}.down": gaussian(HIDDEN, WIDTH, scale=last),
            f"{layer}.down_bias": np.zeros((1, WIDTH), np.float32),
        }
    for name in ["last", *(f"{layer}.norm{which}" for layer in range(LAYERS) for which in (1, 2))]:
        weights[f"{name}.gamma"] = np.ones((1, WIDTH), np.float32)
        weights[f"{name}.beta"] = np.zeros((1, WIDTH), np.float32)
    weights["head"] = gaussian(WIDTH, vocabulary)
    return weights


@dataclass(frozen=True)
class Constants:
    """Tensors that no step changes.

    Attributes:
        mask: [1, 1, T, T], 0 up to the diagonal, a large negative number above it.
        identity: [vocabulary, vocabulary], row-major: the table whose rows choose a character.
    """

    mask: ttnn.Tensor
    identity: ttnn.Tensor

    @classmethod
    def of(cls, vocabulary: int, device: ttnn.MeshDevice) -> Constants:
        """Return the constants for a number of characters."""
        mask = np.triu(np.full((1, 1, LENGTH, LENGTH), HIDDEN_SCORE, np.float32), 1)
        identity = to_device(np.eye(vocabulary, dtype=np.float32), device)
        return cls(to_device(mask, device), ttnn.to_layout(identity, ttnn.ROW_MAJOR_LAYOUT))


Saved = dict[str, Any]


def norm(x: ttnn.Tensor, weights: Tensors, name: str, saved: Saved) -> ttnn.Tensor:
    """Return every row's layer norm, and store the gradient's inputs."""
    mean = ttnn.mean(x, -1, keepdim=True, compute_kernel_config=PRECISE)
    centred = ttnn.subtract(x, mean)
    variance = ttnn.mean(ttnn.multiply(centred, centred), -1, keepdim=True, compute_kernel_config=PRECISE)
    scale = ttnn.rsqrt(ttnn.add(variance, EPSILON))
    normal = ttnn.multiply(centred, scale)
    saved[name] = normal, scale
    return ttnn.add(ttnn.multiply(normal, weights[f"{name}.gamma"]), weights[f"{name}.beta"])


def norm_back(grad: ttnn.Tensor, weights: Tensors, name: str, saved: Saved, gradients: Tensors) -> ttnn.Tensor:
    """Return a layer norm's input gradient; add its weights' gradients."""
    normal, scale = saved[name]
    gradients[f"{name}.gamma"] = sum_of_rows(ttnn.multiply(grad, normal))
    gradients[f"{name}.beta"] = sum_of_rows(grad)
    scaled = ttnn.multiply(grad, weights[f"{name}.gamma"])
    mean = ttnn.mean(scaled, -1, keepdim=True, compute_kernel_config=PRECISE)
    along = ttnn.mean(ttnn.multiply(scaled, normal), -1, keepdim=True, compute_kernel_config=PRECISE)
    return ttnn.multiply(ttnn.subtract(ttnn.subtract(scaled, mean), ttnn.multiply(normal, along)), scale)


def heads_of(x: ttnn.Tensor) -> ttnn.Tensor:
    """Return [B, H, T, D] of [B * T, H * D]."""
    return ttnn.permute(ttnn.reshape(x, (BATCH, LENGTH, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))


def side_by_side(x: ttnn.Tensor) -> ttnn.Tensor:
    """Return [B * T, H * D] of [B, H, T, D]."""
    return ttnn.reshape(ttnn.permute(x, (0, 2, 1, 3)), (ROWS, WIDTH))


def attention(x: ttnn.Tensor, weights: Tensors, layer: int, mask: ttnn.Tensor, saved: Saved) -> ttnn.Tensor:
    """Return causal attention of rows [B * T, W]."""
    joint = product(x, weights[f"{layer}.qkv"])
    query, key, value = (heads_of(part) for part in ttnn.split(joint, WIDTH, 1))
    scores = ttnn.multiply(product(query, key, transpose_b=True), (WIDTH // HEADS) ** -0.5)
    shares = ttnn.softmax(ttnn.add(scores, mask), dim=-1, compute_kernel_config=PRECISE)
    joined = side_by_side(product(shares, value))
    saved[f"{layer}.attention"] = x, query, key, value, shares, joined
    return product(joined, weights[f"{layer}.out"])


def attention_back(grad: ttnn.Tensor, weights: Tensors, layer: int, saved: Saved, gradients: Tensors) -> ttnn.Tensor:
    """Return attention's input gradient; add its weights' gradients."""
    x, query, key, value, shares, joined = saved[f"{layer}.attention"]
    gradients[f"{layer}.out"] = product(joined, grad, transpose_a=True)
    back = heads_of(product(grad, weights[f"{layer}.out"], transpose_b=True))
    d_value = product(shares, back, transpose_a=True)
    d_shares = product(back, value, transpose_b=True)
    along = ttnn.sum(ttnn.multiply(d_shares, shares), -1, keepdim=True, compute_kernel_config=PRECISE)
    d_scores = ttnn.multiply(ttnn.multiply(shares, ttnn.subtract(d_shares, along)), (WIDTH // HEADS) ** -0.5)
    d_query, d_key = product(d_scores, key), product(d_scores, query, transpose_a=True)
    joint = ttnn.concat([side_by_side(part) for part in (d_query, d_key, d_value)], 1)
    gradients[f"{layer}.qkv"] = product(x, joint, transpose_a=True)
    return product(joint, weights[f"{layer}.qkv"], transpose_b=True)


def hidden(x: ttnn.Tensor, weights: Tensors, layer: int, saved: Saved) -> ttnn.Tensor:
    """Return the hidden layer of rows, with GELU."""
    before = ttnn.add(product(x, weights[f"{layer}.up"]), weights[f"{layer}.up_bias"])
    after = ttnn.gelu(before)
    saved[f"{layer}.hidden"] = x, before, after
    return ttnn.add(product(after, weights[f"{layer}.down"]), weights[f"{layer}.down_bias"])


def hidden_back(grad: ttnn.Tensor, weights: Tensors, layer: int, saved: Saved, gradients: Tensors) -> ttnn.Tensor:
    """Return the hidden layer's input gradient; add its weights' gradients."""
    x, before, after = saved[f"{layer}.hidden"]
    gradients[f"{layer}.down"] = product(after, grad, transpose_a=True)
    gradients[f"{layer}.down_bias"] = sum_of_rows(grad)
    back = ttnn.gelu_bw(product(grad, weights[f"{layer}.down"], transpose_b=True), before)[0]
    gradients[f"{layer}.up"] = product(x, back, transpose_a=True)
    gradients[f"{layer}.up_bias"] = sum_of_rows(back)
    return product(back, weights[f"{layer}.up"], transpose_b=True)


def loss_and_gradients(
    weights: Tensors, numbers: ttnn.Tensor, targets: ttnn.Tensor, constants: Constants
) -> tuple[ttnn.Tensor, Tensors]:
    """Return a batch's loss, and gradients by weight name.

    Args:
        weights: In bfloat16.
        numbers: [B, T], the characters.
        targets: [B * T, vocabulary], 1 at the character that follows.
        constants: Mask and identity.
    """
    saved: Saved = {}
    table = ttnn.to_layout(weights["characters"], ttnn.ROW_MAJOR_LAYOUT)
    embedded = ttnn.embedding(numbers, table, layout=ttnn.TILE_LAYOUT)
    x = ttnn.reshape(ttnn.add(embedded, weights["positions"]), (ROWS, WIDTH))
    for layer in range(LAYERS):
        x = ttnn.add(x, attention(norm(x, weights, f"{layer}.norm1", saved), weights, layer, constants.mask, saved))
        x = ttnn.add(x, hidden(norm(x, weights, f"{layer}.norm2", saved), weights, layer, saved))
    last = norm(x, weights, "last", saved)
    logits = ttnn.typecast(product(last, weights["head"]), ttnn.float32)
    loss, wide = cross_entropy(logits, targets, ROWS)

    gradients: Tensors = {}
    grad = ttnn.typecast(wide, ttnn.bfloat16)
    gradients["head"] = product(last, grad, transpose_a=True)
    grad = norm_back(product(grad, weights["head"], transpose_b=True), weights, "last", saved, gradients)
    for layer in reversed(range(LAYERS)):
        back = hidden_back(grad, weights, layer, saved, gradients)
        grad = ttnn.add(grad, norm_back(back, weights, f"{layer}.norm2", saved, gradients))
        back = attention_back(grad, weights, layer, saved, gradients)
        grad = ttnn.add(grad, norm_back(back, weights, f"{layer}.norm1", saved, gradients))
    of_positions = ttnn.sum(ttnn.reshape(grad, (BATCH, LENGTH, WIDTH)), 0, compute_kernel_config=PRECISE)
    gradients["positions"] = ttnn.reshape(of_positions, (LENGTH, WIDTH))
    # ttnn.embedding_bw adds up the rows of a character in bfloat16, which loses an eighth of the gradient of characters
    # that occur a hundred times. A product has sums in float32.
    chosen = ttnn.reshape(ttnn.embedding(numbers, constants.identity, layout=ttnn.TILE_LAYOUT), (ROWS, -1))
    gradients["characters"] = product(chosen, grad, transpose_a=True)
    return loss, gradients


def train(
    device: ttnn.MeshDevice, steps: int, *, master: bool = True, rate: float = 1e-3, seen: Any = None
) -> tuple[Parameters, list[float]]:
    """Return the weights after some steps, and each step's loss.

    Args:
        device: Where it runs.
        steps: How many batches are seen.
        master: Whether weights are kept in float32 and rounded for products; otherwise they are bfloat16.
        rate: Learning rate.
        seen: Called with the number of the step when its tensors are gone.
    """
    values, characters = text()
    parameters = Parameters.of(initial_weights(len(characters)), device, master=master)
    optimizer, losses, constants = AdamW(rate), [], Constants.of(len(characters), device)
    batch = sequences(values)
    for step in range(steps):
        now, following = next(batch)
        targets = to_device(np.eye(len(characters), dtype=np.float32)[following.reshape(-1)], device, ttnn.float32)
        loss, gradients = loss_and_gradients(parameters.rounded(), rows_of_numbers(now, device), targets, constants)
        optimizer.step(parameters, gradients)
        losses.append(number(loss))
        del targets, loss, gradients
        if seen is not None:
            seen(step)
    return parameters, losses


def picture(curves: dict[str, list[float]], path: str) -> None:
    """Draw the losses, as means of ten steps."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, losses in curves.items():
        means = np.array(losses)[: len(losses) // 10 * 10].reshape(-1, 10).mean(1)
        axes.plot(np.arange(len(means)) * 10 + 5, means, label=name)
    axes.set(xlabel="step", ylabel="cross entropy", title="Character GPT: where the weights are kept")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Train with both kinds of weights; print or draw losses.

    They are drawn if requested.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--picture", help="write the loss curves into this file")
    options = parser.parse_args()
    curves: dict[str, list[float]] = {}
    for name, master in (("float32 master weights", True), ("bfloat16 weights", False)):
        device = ttnn.open_device(device_id=0)
        try:
            parameters, losses = train(device, options.steps, master=master, rate=options.rate)
            curves[name] = losses
            means = [float(np.mean(part)) for part in np.array_split(losses, max(len(losses) // 10, 1))]
            print(f"{name}: first loss {losses[0]:.4f}, means of ten {' '.join(f'{mean:.3f}' for mean in means)}")
            print(f"sha256 of the weights: {parameters.sha256()}")
        finally:
            ttnn.close_device(device)
    if options.picture:
        picture(curves, options.picture)


if __name__ == "__main__":
    main()
