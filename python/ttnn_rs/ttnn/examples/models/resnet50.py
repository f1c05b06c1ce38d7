"""ResNet-50: 1,000 class scores of 224x224 images, 53 convolutions.

Batch norms are folded into the convolutions before them, as in every port for inference. No package has weights of
it that this project could use, so `ResNet50` accepts any: a dictionary with the names and shapes of `shapes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

import ttnn

IMAGE, CLASSES = 224, 1000
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
"""Blocks, channels within them, stride of the first."""
WIDER = 4
"""Output channels of a block, as a multiple of the inner ones."""

Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Convolution:
    """A convolution with folded batch norm.

    Weight [outputs, inputs, size, size] and bias [outputs].
    """

    name: str
    inputs: int
    outputs: int
    size: int
    stride: int = 1


STEM = Convolution("stem", 3, 64, 7, 2)


def blocks() -> list[list[Convolution]]:
    """Return every block's convolutions: three, and one parallel.

    The parallel one exists where the size changes.
    """
    found, channels = [], STEM.outputs
    for stage, (count, width, stride) in enumerate(STAGES):
        for i in range(count):
            name, step = f"stage{stage}.block{i}", stride if i == 0 else 1
            block = [
                Convolution(f"{name}.reduce", channels, width, 1),
                Convolution(f"{name}.window", width, width, 3, step),
                Convolution(f"{name}.expand", width, WIDER * width, 1),
            ]
            if i == 0:
                block.append(Convolution(f"{name}.beside", channels, WIDER * width, 1, step))
            found.append(block)
            channels = WIDER * width
    return found


def shapes() -> dict[str, tuple[int, ...]]:
    """Return all weights."""
    convolutions = [STEM, *(convolution for block in blocks() for convolution in block)]
    found: dict[str, tuple[int, ...]] = {}
    for c in convolutions:
        found |= {f"{c.name}.weight": (c.outputs, c.inputs, c.size, c.size), f"{c.name}.bias": (c.outputs,)}
    last = WIDER * STAGES[-1][1]
    return found | {"classes.weight": (CLASSES, last), "classes.bias": (CLASSES,)}


def torch_scores(weights: Weights, images: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return block outputs [N, C, H, W] and scores [N, 1000].

    Of images [N, 3, 224, 224].
    """

    def convolve(x: torch.Tensor, c: Convolution) -> torch.Tensor:
        return F.conv2d(x, weights[f"{c.name}.weight"], weights[f"{c.name}.bias"], c.stride, c.size // 2)

    x = F.max_pool2d(F.relu(convolve(images, STEM)), 3, 2, 1)
    seen = []
    for reduce, window, expand, *beside in blocks():
        y = convolve(F.relu(convolve(F.relu(convolve(x, reduce)), window)), expand)
        x = F.relu(y + (convolve(x, beside[0]) if beside else x))
        seen.append(x)
    return seen, F.linear(x.mean((2, 3)), weights["classes.weight"], weights["classes.bias"])


class ResNet50:
    """The network in TT-NN, images stored pixel by pixel.

    [1, 1, N * H * W, C].

    Args:
        dtype: Of weights and activations.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        weights: Weights,
        dtype: ttnn.DataType = ttnn.bfloat8_b,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.LoFi,
    ) -> None:
        self.device, self.dtype = device, dtype
        self.activations = ttnn.bfloat16 if dtype == ttnn.bfloat16 else ttnn.bfloat8_b
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=fidelity, math_approx_mode=False, packer_l1_acc=True
        )
        # On the host until their first call, which lays them out for the program and keeps them on the device.
        self.weights = {
            name: ttnn.from_torch(tensor if tensor.dim() == 4 else tensor.reshape(1, 1, 1, -1), dtype=ttnn.bfloat16)
            for name, tensor in weights.items()
            if not name.startswith("classes")
        }
        place = {"layout": ttnn.TILE_LAYOUT, "device": device}
        self.classes = ttnn.from_torch(weights["classes.weight"].T, dtype=dtype, **place)
        self.classes_bias = ttnn.from_torch(weights["classes.bias"][None], dtype=ttnn.bfloat16, **place)

    def inputs(self, images: torch.Tensor) -> ttnn.Tensor:
        """Return images [N, 3, 224, 224] in the device's form."""
        pixels = images.permute(0, 2, 3, 1).reshape(1, 1, -1, 3)
        return ttnn.from_torch(pixels, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)

    def convolve(
        self, x: ttnn.Tensor, c: Convolution, size: tuple[int, int], *, relu: bool, dtype: ttnn.DataType | None = None
    ) -> tuple[ttnn.Tensor, int]:
        """Return the images after a convolution, and their height and width.

        Args:
            x: The images.
            c: The convolution.
            size: How many images, and their height and width.
            relu: Whether negative results become 0.
            dtype: Of the result. Default: that of all activations.
        """
        count, side = size
        weight, bias = f"{c.name}.weight", f"{c.name}.bias"
        config = ttnn.Conv2dConfig(
            weights_dtype=self.dtype, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if relu else None
        )
        x, (height, _), (self.weights[weight], self.weights[bias]) = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.weights[weight],
            bias_tensor=self.weights[bias],
            device=self.device,
            in_channels=c.inputs,
            out_channels=c.outputs,
            batch_size=count,
            input_height=side,
            input_width=side,
            kernel_size=(c.size, c.size),
            stride=(c.stride, c.stride),
            padding=(c.size // 2, c.size // 2),
            dtype=dtype or self.activations,
            conv_config=config,
            compute_config=self.compute,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
            return_output_dim=True,
            return_weights_and_bias=True,
        )
        return x, height

    def __call__(
        self, images: ttnn.Tensor, *, seen: Callable[[ttnn.Tensor], object] = lambda block: None
    ) -> ttnn.Tensor:
        """Return scores [1, 1, N, 1000]; `seen` receives block outputs."""
        count = images.shape[-2] // IMAGE**2
        x, side = self.convolve(images, STEM, (count, IMAGE), relu=True, dtype=ttnn.bfloat16)
        x = ttnn.max_pool2d(
            ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT),
            batch_size=count,
            input_h=side,
            input_w=side,
            channels=STEM.outputs,
            kernel_size=(3, 3),
            stride=(2, 2),
            padding=(1, 1),
            dilation=(1, 1),
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        side = (side + 1) // 2
        x = ttnn.typecast(ttnn.to_layout(x, ttnn.TILE_LAYOUT), self.activations)
        for reduce, window, expand, *beside in blocks():
            y, _ = self.convolve(x, reduce, (count, side), relu=True)
            y, behind = self.convolve(y, window, (count, side), relu=True)
            y, _ = self.convolve(y, expand, (count, behind), relu=False)
            if beside:
                x, _ = self.convolve(x, beside[0], (count, side), relu=False)
            side = behind
            x = ttnn.add_(y, x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)])
            seen(x)
        x = ttnn.reshape(ttnn.typecast(x, ttnn.bfloat16), (1, count, side * side, x.shape[-1]))
        x = ttnn.reshape(ttnn.mean(x, dim=2), (1, 1, count, x.shape[-1]))
        return ttnn.linear(
            x, self.classes, bias=self.classes_bias, dtype=ttnn.bfloat16, compute_kernel_config=self.compute
        )
