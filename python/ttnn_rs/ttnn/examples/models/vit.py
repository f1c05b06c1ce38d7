"""ViT-B/16: 1,000 class scores of 224x224 images.

The image is cut into 14 x 14 patches, each of which a product turns into 768 numbers. With one more token for the class
they go through an encoder of 12 layers with 12 heads of 64. No package has weights of it that this project could use,
so `ViT` accepts any: a dictionary with the names and shapes of `outer_shapes` and, for each layer, of `layer_shapes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F

import ttnn

LAYERS, WIDTH, HEADS, HEAD, HIDDEN, CLASSES = 12, 768, 12, 64, 3072, 1000
IMAGE, PATCH = 224, 16
PATCHES = (IMAGE // PATCH) ** 2
TOKENS = PATCHES + 1
ROWS = -(-TOKENS // 32) * 32
"""Token rows in full tiles.

27 of 224 are padding, which a mask leaves out.
"""
EPSILON = 1e-12
PADDING = -1e5

Weights = dict[str, torch.Tensor]


def outer_shapes() -> dict[str, tuple[int, ...]]:
    """Return shapes of the parts around layers; matrices are [outputs, inputs]."""
    return {
        "patches.weight": (WIDTH, PATCH, PATCH, 3),
        "patches.bias": (WIDTH,),
        "class_token": (1, WIDTH),
        "positions": (TOKENS, WIDTH),
        "norm.weight": (WIDTH,),
        "norm.bias": (WIDTH,),
        "classes.weight": (CLASSES, WIDTH),
        "classes.bias": (CLASSES,),
    }


def layer_shapes() -> dict[str, tuple[int, ...]]:
    """Return the weights of a layer."""
    products = {
        "heads": (3 * WIDTH, WIDTH),
        "joined": (WIDTH, WIDTH),
        "wide": (HIDDEN, WIDTH),
        "narrow": (WIDTH, HIDDEN),
    }
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in products.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in ("first_norm", "second_norm"):
        shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    return shapes


def torch_encode(
    outer: Weights, layers: list[Weights], images: torch.Tensor
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return layer outputs [N, 197, 768] and scores [N, 1000].

    Of images [N, 224, 224, 3].
    """

    def norm(x: torch.Tensor, weights: Weights, name: str) -> torch.Tensor:
        return F.layer_norm(x, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON)

    def linear(x: torch.Tensor, weights: Weights, name: str) -> torch.Tensor:
        return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    patches = images.unfold(1, PATCH, PATCH).unfold(2, PATCH, PATCH)  # [N, 14, 14, 3, 16, 16]
    patches = patches.permute(0, 1, 2, 4, 5, 3).flatten(3).flatten(1, 2)
    x = F.linear(patches, outer["patches.weight"].flatten(1), outer["patches.bias"])
    x = torch.cat([outer["class_token"].expand(len(x), 1, WIDTH), x], 1) + outer["positions"]
    seen = []
    for weights in layers:
        y = linear(norm(x, weights, "first_norm"), weights, "heads")
        query, key, value = (part.unflatten(-1, (HEADS, HEAD)).transpose(1, 2) for part in y.chunk(3, -1))
        scores = (query @ key.transpose(-1, -2) / math.sqrt(HEAD)).softmax(-1)
        x = x + linear((scores @ value).transpose(1, 2).flatten(-2), weights, "joined")
        hidden = F.gelu(linear(norm(x, weights, "second_norm"), weights, "wide"))
        x = x + linear(hidden, weights, "narrow")
        seen.append(x)
    return seen, linear(norm(x, outer, "norm")[:, 0], outer, "classes")


class ViT:
    """The network in TT-NN.

    Args:
        dtype: Of the weights of products. With a block format, what only products read is bfloat8_b.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        outer: Weights,
        layers: list[Weights],
        dtype: ttnn.DataType = ttnn.bfloat8_b,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.HiFi2,
    ) -> None:
        self.device = device
        self.activations = ttnn.bfloat16 if dtype == ttnn.bfloat16 else ttnn.bfloat8_b
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=fidelity, math_approx_mode=False, packer_l1_acc=True
        )
        self.outer = self.load(outer, dtype)
        # Pixels have a fourth channel of zeros, so that rows of pixels are aligned; a patch is a row of the product.
        patches = F.pad(outer["patches.weight"], (0, 1)).reshape(WIDTH, -1)
        self.patches = self.place(patches.T, dtype)
        # The class token and the positions are added as one tensor, which has no row for the padding.
        start = torch.zeros(1, ROWS, WIDTH, dtype=outer["positions"].dtype)
        start[0, :TOKENS] = outer["positions"]
        start[0, :1] += outer["class_token"]
        self.start = self.place(start, ttnn.bfloat16)
        self.layers = [self.load(weights, dtype) for weights in layers]
        mask = torch.zeros(1, 1, 1, ROWS)
        mask[..., TOKENS:] = PADDING
        self.mask = self.place(mask, ttnn.bfloat16)

    def load(self, weights: Weights, dtype: ttnn.DataType) -> dict[str, ttnn.Tensor]:
        """Return matrices as [inputs, outputs] in `dtype`, vectors as [1, n].

        Vectors are in bfloat16.
        """
        return {
            name: self.place(tensor.T, dtype) if tensor.dim() == 2 else self.place(tensor[None], ttnn.bfloat16)
            for name, tensor in weights.items()
            if tensor.dim() < 3 and name not in ("positions", "class_token")
        }

    def place(self, tensor: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device)

    def inputs(self, images: torch.Tensor) -> ttnn.Tensor:
        """Return images for the device, row-major with four channels.

        From [N, 224, 224, 3].
        """
        return ttnn.from_torch(F.pad(images, (0, 1)), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)

    def linear(
        self,
        x: ttnn.Tensor,
        weights: dict[str, ttnn.Tensor],
        name: str,
        dtype: ttnn.DataType,
        activation: str | None = None,
    ) -> ttnn.Tensor:
        return ttnn.linear(
            x,
            weights[f"{name}.weight"],
            bias=weights[f"{name}.bias"],
            activation=activation,
            dtype=dtype,
            compute_kernel_config=self.compute,
            core_grid=ttnn.CoreGrid(y=8, x=8),
        )

    def norm(self, x: ttnn.Tensor, weights: dict[str, ttnn.Tensor], name: str) -> ttnn.Tensor:
        return ttnn.layer_norm(x, epsilon=EPSILON, weight=weights[f"{name}.weight"], bias=weights[f"{name}.bias"])

    def embed(self, images: ttnn.Tensor) -> ttnn.Tensor:
        """Return the tokens [N, 224, 768]: the class, the patches, padding."""
        count = images.shape[0]
        folded = ttnn.fold(images, PATCH, PATCH)
        folded = ttnn.to_layout(ttnn.reshape(folded, (count, PATCHES, PATCH * PATCH * 4)), ttnn.TILE_LAYOUT)
        x = ttnn.linear(
            folded,
            self.patches,
            bias=self.outer["patches.bias"],
            dtype=ttnn.bfloat16,
            compute_kernel_config=self.compute,
            core_grid=ttnn.CoreGrid(y=8, x=8),
        )
        # One row down, for the class token; rows are moved, so not in tiles.
        x = ttnn.pad(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), [(0, 0), (1, ROWS - TOKENS), (0, 0)], 0.0)
        return ttnn.add(ttnn.to_layout(x, ttnn.TILE_LAYOUT), self.start)

    def __call__(
        self, images: ttnn.Tensor, *, seen: Callable[[ttnn.Tensor], object] = lambda layer: None
    ) -> ttnn.Tensor:
        """Return scores [N, 1, 1000]; `seen` receives layers [N, 224, 768]."""
        x = self.embed(images)
        product = {"dtype": self.activations, "compute_kernel_config": self.compute}
        for weights in self.layers:
            fused = self.linear(self.norm(x, weights, "first_norm"), weights, "heads", self.activations)
            query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(fused, num_heads=HEADS)
            ttnn.deallocate(fused)
            scores = ttnn.matmul(query, key, **product)
            scores = ttnn.transformer.attention_softmax_(scores, attention_mask=self.mask, head_size=HEAD)
            context = ttnn.transformer.concatenate_heads(ttnn.matmul(scores, value, **product))
            ttnn.deallocate(scores)
            x = ttnn.add(x, self.linear(context, weights, "joined", ttnn.bfloat16))
            hidden = self.linear(self.norm(x, weights, "second_norm"), weights, "wide", self.activations, "gelu")
            x = ttnn.add(x, self.linear(hidden, weights, "narrow", ttnn.bfloat16))
            ttnn.deallocate(hidden)
            seen(x)
        first = ttnn.slice(x, (0, 0, 0), (x.shape[0], 1, WIDTH))
        return self.linear(self.norm(first, self.outer, "norm"), self.outer, "classes", ttnn.bfloat16)
