"""Optimizers and layers of both trainings, on ttnn operators only.

Everything that runs on the device is such an operator.

Weights are float32 or bfloat16 tensors on the device. Matmuls use bfloat16 copies of them and sum in float32.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ttnn

Array = np.ndarray[Any, np.dtype[Any]]
Tensors = dict[str, ttnn.Tensor]

PRECISE = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
)
"""Products of all mantissa bits of bfloat16, with sums in float32."""


def to_device(values: Array, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    """Return an array as a tensor of tiles on the device."""
    return ttnn.Tensor(np.ascontiguousarray(values, np.float32), dtype, device, ttnn.TILE_LAYOUT)


def rows_of_numbers(values: Array, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return whole numbers as a row-major tensor for embeddings."""
    host = ttnn.Tensor(np.ascontiguousarray(values, np.uint32), ttnn.uint32)
    return ttnn.to_device(ttnn.to_layout(host, ttnn.ROW_MAJOR_LAYOUT), device)


def product(a: ttnn.Tensor, b: ttnn.Tensor, *, transpose_a: bool = False, transpose_b: bool = False) -> ttnn.Tensor:
    """Return a matrix product in the data type of the operands."""
    return ttnn.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, compute_kernel_config=PRECISE)


def sum_of_rows(x: ttnn.Tensor) -> ttnn.Tensor:
    """Return [1, W] of [..., W], the gradient of broadcast rows."""
    flat = ttnn.reshape(x, (-1, x.shape[-1]))
    return ttnn.sum(flat, 0, keepdim=True, compute_kernel_config=PRECISE)


def cross_entropy(logits: ttnn.Tensor, targets: ttnn.Tensor, rows: int) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    """Return the mean cross entropy [1, 1] and its logit gradient.

    Args:
        logits: [..., classes], float32.
        targets: Of that shape: 1 at the class of a row, 0 elsewhere.
        rows: How many rows there are.
    """
    probabilities = ttnn.softmax(logits, dim=-1, compute_kernel_config=PRECISE)
    chosen = ttnn.sum(ttnn.multiply(probabilities, targets), -1, keepdim=True, compute_kernel_config=PRECISE)
    losses = ttnn.reshape(ttnn.neg(ttnn.log(chosen)), (1, rows))
    loss = ttnn.multiply(ttnn.sum(losses, -1, keepdim=True, compute_kernel_config=PRECISE), 1.0 / rows)
    return loss, ttnn.multiply(ttnn.subtract(probabilities, targets), 1.0 / rows)


def number(x: ttnn.Tensor) -> float:
    """Return the only element of a tensor."""
    return float(np.asarray(x.to_numpy(), np.float64).reshape(()))


@dataclass
class Parameters:
    """Weights by name, in stored form and for matmuls.

    Args:
        kept: The weights, in the data type in which they are updated.
    """

    kept: Tensors

    @classmethod
    def of(cls, values: Mapping[str, Array], device: ttnn.MeshDevice, *, master: bool) -> Parameters:
        """Return arrays as weights: float32 masters, or bfloat16."""
        dtype = ttnn.float32 if master else ttnn.bfloat16
        return cls({name: to_device(array, device, dtype) for name, array in values.items()})

    def rounded(self) -> Tensors:
        """Return the weights in bfloat16."""
        return {
            name: tensor if tensor.dtype == ttnn.bfloat16 else ttnn.typecast(tensor, ttnn.bfloat16)
            for name, tensor in self.kept.items()
        }

    def add(self, name: str, step: ttnn.Tensor) -> None:
        """Add a float32 step to a weight, rounded to its type."""
        kept = self.kept[name]
        wide = kept if kept.dtype == ttnn.float32 else ttnn.typecast(kept, ttnn.float32)
        moved = ttnn.add(wide, step)
        self.kept[name] = moved if kept.dtype == ttnn.float32 else ttnn.typecast(moved, ttnn.bfloat16)

    def numpy(self) -> dict[str, Array]:
        """Return the weights as arrays of float32."""
        return {name: np.asarray(tensor.to_numpy(), np.float32) for name, tensor in self.kept.items()}

    def sha256(self) -> str:
        """Return the hash of all weights in the order of their names."""
        arrays = self.numpy()
        return hashlib.sha256(
            b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays))
        ).hexdigest()


def _zeros_like(tensor: ttnn.Tensor) -> ttnn.Tensor:
    return ttnn.zeros(tensor.shape, ttnn.float32, ttnn.TILE_LAYOUT, tensor.device())


def _wide(gradient: ttnn.Tensor) -> ttnn.Tensor:
    return gradient if gradient.dtype == ttnn.float32 else ttnn.typecast(gradient, ttnn.float32)


@dataclass
class Sgd:
    """Stochastic gradient descent with momentum.

    v = momentum * v + g, w = w - rate * v.
    """

    rate: float = 0.1
    momentum: float = 0.9
    velocities: Tensors = field(default_factory=dict)

    def step(self, parameters: Parameters, gradients: Tensors) -> None:
        """Change all weights by their gradients."""
        for name, gradient in gradients.items():
            before = self.velocities.get(name)
            velocity = (
                _wide(gradient) if before is None else ttnn.add(ttnn.multiply(before, self.momentum), _wide(gradient))
            )
            self.velocities[name] = velocity
            parameters.add(name, ttnn.multiply(velocity, -self.rate))


@dataclass
class AdamW:
    """Adam with decoupled weight decay; averages are kept in float32."""

    rate: float = 1e-3
    decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    means: Tensors = field(default_factory=dict)
    squares: Tensors = field(default_factory=dict)
    steps: int = 0

    def step(self, parameters: Parameters, gradients: Tensors) -> None:
        """Change all weights by their gradients."""
        self.steps += 1
        first, second = self.betas
        unbiased = 1 - first**self.steps, 1 - second**self.steps
        for name, gradient in gradients.items():
            g, kept = _wide(gradient), parameters.kept[name]
            mean = self.means.get(name)
            square = self.squares.get(name)
            mean = _zeros_like(kept) if mean is None else mean
            square = _zeros_like(kept) if square is None else square
            mean = ttnn.add(ttnn.multiply(mean, first), ttnn.multiply(g, 1 - first))
            square = ttnn.add(ttnn.multiply(square, second), ttnn.multiply(ttnn.multiply(g, g), 1 - second))
            self.means[name], self.squares[name] = mean, square
            root = ttnn.add(ttnn.sqrt(ttnn.multiply(square, 1 / unbiased[1])), self.epsilon)
            change = ttnn.multiply(ttnn.multiply(mean, 1 / unbiased[0]), ttnn.reciprocal(root))
            change = ttnn.add(change, ttnn.multiply(_wide(kept), self.decay))
            parameters.add(name, ttnn.multiply(change, -self.rate))
