"""MTCNN: three small face detection networks.

With the weights of facenet-pytorch (MIT).

P-Net accepts an image of any size and returns where a face may be, R-Net looks at crops of 24 x 24 pixels, O-Net at
crops of 48 x 48, where it also finds five points of the face. All are convolutions with a slope of their own for the
negative values of each channel (PReLU), and max-pools whose last window may reach over the edge.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F

import ttnn

PACKAGE = "facenet_pytorch"
Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Stage:
    """A convolution, its PReLU, and following pooling's kernel and stride.

    0 for no pooling.
    """

    number: int
    inputs: int
    outputs: int
    size: int
    window: int = 0
    stride: int = 2


@dataclass(frozen=True)
class Network:
    """Stages, then dense layers, then the heads, by name.

    Attributes:
        stages: Convolutions.
        dense: The dense layer with a PReLU after them, 0 if there is none.
        heads: Parallel layers: the first one returns the probability of a face, the others boxes and points.
    """

    file: str
    stages: tuple[Stage, ...]
    dense: int
    heads: tuple[str, ...]


P_NET = Network("pnet", (Stage(1, 3, 10, 3, 2), Stage(2, 10, 16, 3), Stage(3, 16, 32, 3)), 0, ("conv4_1", "conv4_2"))
R_NET = Network(
    "rnet", (Stage(1, 3, 28, 3, 3), Stage(2, 28, 48, 3, 3), Stage(3, 48, 64, 2)), 4, ("dense5_1", "dense5_2")
)
O_NET = Network(
    "onet",
    (Stage(1, 3, 32, 3, 3), Stage(2, 32, 64, 3, 3), Stage(3, 64, 64, 3, 2), Stage(4, 64, 128, 2)),
    5,
    ("dense6_1", "dense6_2", "dense6_3"),
)


def load_weights(network: Network) -> Weights:
    """Return a network's tensors by name.

    The package itself is not imported.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named {PACKAGE}", name=PACKAGE)
    path = Path(spec.origin).parent / "data" / f"{network.file}.pt"
    weights: Weights = torch.load(path, map_location="cpu", weights_only=True)
    return weights


def torch_run(network: Network, weights: Weights, images: torch.Tensor) -> list[torch.Tensor]:
    """Return the heads' outputs for images [N, 3, H, W].

    Probabilities first; for P-Net at every position.
    """
    x = images
    for stage in network.stages:
        name = str(stage.number)
        x = F.prelu(
            F.conv2d(x, weights[f"conv{name}.weight"], weights[f"conv{name}.bias"]), weights[f"prelu{name}.weight"]
        )
        if stage.window:
            x = F.max_pool2d(x, stage.window, stage.stride, ceil_mode=True)
    if network.dense:
        name = str(network.dense)
        # The weights were trained on columns before rows.
        x = x.permute(0, 3, 2, 1).flatten(1)
        x = F.prelu(
            F.linear(x, weights[f"dense{name}.weight"], weights[f"dense{name}.bias"]), weights[f"prelu{name}.weight"]
        )
        found = [F.linear(x, weights[f"{head}.weight"], weights[f"{head}.bias"]) for head in network.heads]
    else:
        found = [F.conv2d(x, weights[f"{head}.weight"], weights[f"{head}.bias"]) for head in network.heads]
    return [found[0].softmax(1), *found[1:]]


class Faces:
    """One network in TT-NN, images stored pixel by pixel.

    [1, 1, N * H * W, C].

    Args:
        dtype: Of the weights; activations are bfloat16.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        network: Network,
        weights: Weights,
        dtype: ttnn.DataType = ttnn.bfloat16,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.HiFi4,
    ) -> None:
        self.device, self.network, self.dtype = device, network, dtype
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=fidelity, math_approx_mode=False, packer_l1_acc=True
        )
        self.convolutions, self.dense, self.slopes = {}, {}, {}
        for name in {key.partition(".")[0] for key in weights}:
            weight = weights[f"{name}.weight"]
            if weight.dim() == 1:
                self.slopes[name] = self.place(weight.reshape(1, 1, 1, -1), ttnn.bfloat16)
            elif name.startswith("conv") and name not in network.heads:
                bias = weights[f"{name}.bias"].reshape(1, 1, 1, -1)
                # On the host until their first call, which lays them out for the program.
                self.convolutions[name] = [ttnn.from_torch(part, dtype=ttnn.bfloat16) for part in (weight, bias)]
            else:
                matrix = weight.flatten(1).T
                if name == f"dense{network.dense}":
                    matrix = self.rows_before_columns(matrix)
                bias = weights[f"{name}.bias"].reshape(1, 1, 1, -1)
                self.dense[name] = self.place(matrix, dtype), self.place(bias, ttnn.bfloat16)

    def rows_before_columns(self, matrix: torch.Tensor) -> torch.Tensor:
        """Return the first dense layer's rows in stored pixel order."""
        channels = self.network.stages[-1].outputs
        side = int((matrix.shape[0] // channels) ** 0.5)
        return matrix.unflatten(0, (side, side, channels)).transpose(0, 1).flatten(0, 2)

    def place(self, tensor: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device)

    def inputs(self, images: torch.Tensor) -> ttnn.Tensor:
        """Return images [N, 3, H, W] in the device's form."""
        pixels = images.permute(0, 2, 3, 1).reshape(1, 1, -1, 3)
        return ttnn.from_torch(pixels, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)

    def bend(self, x: ttnn.Tensor, name: str) -> ttnn.Tensor:
        """Return the PReLU of channels, which are the columns here."""
        return ttnn.where(ttnn.gtz(x), x, ttnn.multiply(x, self.slopes[name]))

    def linear(self, x: ttnn.Tensor, name: str) -> ttnn.Tensor:
        weight, bias = self.dense[name]
        return ttnn.linear(x, weight, bias=bias, dtype=ttnn.bfloat16, compute_kernel_config=self.compute)

    def __call__(self, images: ttnn.Tensor, size: tuple[int, int, int]) -> tuple[list[ttnn.Tensor], tuple[int, int]]:
        """Return the heads' outputs and an image's position grid.

        The outputs are [1, 1, N * positions, ...] each.

        Args:
            images: From `inputs`, on the device.
            size: How many images, their height and width.
        """
        (count, *sides), x = size, images
        for stage in self.network.stages:
            name = f"conv{stage.number}"
            weight, bias = self.convolutions[name]
            x, sides, self.convolutions[name] = ttnn.conv2d(
                input_tensor=x,
                weight_tensor=weight,
                bias_tensor=bias,
                device=self.device,
                in_channels=stage.inputs,
                out_channels=stage.outputs,
                batch_size=count,
                input_height=sides[0],
                input_width=sides[1],
                kernel_size=(stage.size, stage.size),
                stride=(1, 1),
                padding=(0, 0),
                dtype=ttnn.bfloat16,
                conv_config=ttnn.Conv2dConfig(weights_dtype=self.dtype),
                compute_config=self.compute,
                memory_config=ttnn.DRAM_MEMORY_CONFIG,
                return_output_dim=True,
                return_weights_and_bias=True,
            )
            x = self.bend(x, f"prelu{stage.number}")
            if stage.window:
                x = ttnn.max_pool2d(
                    ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT),
                    batch_size=count,
                    input_h=sides[0],
                    input_w=sides[1],
                    channels=stage.outputs,
                    kernel_size=(stage.window, stage.window),
                    stride=(stage.stride, stage.stride),
                    padding=(0, 0),
                    dilation=(1, 1),
                    ceil_mode=True,
                    memory_config=ttnn.DRAM_MEMORY_CONFIG,
                )
                sides = [-(-(side - stage.window) // stage.stride) + 1 for side in sides]
        if self.network.dense:
            # All pixels of an image in one row.
            x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
            x = ttnn.reshape(x, (1, 1, count, sides[0] * sides[1] * self.network.stages[-1].outputs))
            x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
            name = str(self.network.dense)
            x = self.bend(self.linear(x, f"dense{name}"), f"prelu{name}")
            sides = [1, 1]
        found = [self.linear(x, head) for head in self.network.heads]
        return [ttnn.softmax(found[0], dim=-1), *found[1:]], (sides[0], sides[1])
