"""Networks with random weights: those that models of PyTorch's libraries are."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

__all__ = ["NETS", "Inputs"]

Inputs = tuple[torch.Tensor, ...]


class Residual(nn.Module):
    """Block of ResNet: two convolutions, or three with a bottleneck."""

    def __init__(self, inner: int, width: int, stride: int, deep: bool) -> None:
        super().__init__()
        outer = width * 4 if deep else width
        sizes = (
            [(inner, width, 1), (width, width, 3), (width, outer, 1)]
            if deep
            else [(inner, width, 3), (width, width, 3)]
        )
        parts: list[nn.Module] = []
        for number, (before, after, kernel) in enumerate(sizes):
            step = stride if number == (1 if deep else 0) else 1
            parts += [nn.Conv2d(before, after, kernel, step, kernel // 2, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        self.body = nn.Sequential(*parts[:-1])
        same = inner == outer and stride == 1
        self.skip = (
            None if same else nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + (x if self.skip is None else self.skip(x)))


def _resnet(counts: tuple[int, ...], deep: bool) -> tuple[nn.Module, Inputs]:
    parts: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    inner = 64
    for stage, count in enumerate(counts):
        width = 64 << stage
        for block in range(count):
            parts.append(Residual(inner, width, 2 if stage and not block else 1, deep))
            inner = width * 4 if deep else width
    net = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, 1000))
    for one in net.modules():
        if isinstance(one, nn.BatchNorm2d):
            nn.init.uniform_(one.running_var, 0.5, 2)
            nn.init.normal_(one.running_mean, 0, 0.1)
    return net, (torch.randn(1, 3, 64, 64),)


def resnet18() -> tuple[nn.Module, Inputs]:
    return _resnet((2, 2, 2, 2), deep=False)


def resnet50() -> tuple[nn.Module, Inputs]:
    return _resnet((3, 4, 6, 3), deep=True)


class Inverted(nn.Module):
    """Block of MobileNetV2."""

    def __init__(self, inner: int, outer: int, stride: int, ratio: int) -> None:
        super().__init__()
        width = inner * ratio
        wide = [nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()] if ratio > 1 else []
        deep = [nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False), nn.BatchNorm2d(width), nn.ReLU6()]
        self.body = nn.Sequential(*wide, *deep, nn.Conv2d(width, outer, 1, bias=False), nn.BatchNorm2d(outer))
        self.same = stride == 1 and inner == outer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.same else self.body(x)


def mobilenet_v2() -> tuple[nn.Module, Inputs]:
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    parts: list[nn.Module] = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()]
    inner = 32
    for ratio, outer, count, stride in stages:
        for block in range(count):
            parts.append(Inverted(inner, outer, 1 if block else stride, ratio))
            inner = outer
    head = [
        nn.Conv2d(inner, 1280, 1, bias=False),
        nn.BatchNorm2d(1280),
        nn.ReLU6(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    ]
    return nn.Sequential(*parts, *head, nn.Dropout(0.2), nn.Linear(1280, 1000)), (torch.randn(1, 3, 64, 64),)


class Attention(nn.Module):
    """Attention to a sequence, by default to its own."""

    def __init__(self, width: int, heads: int, other: int | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key, self.value = (nn.Linear(other or width, width) for _ in range(2))
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, other: torch.Tensor | None = None) -> torch.Tensor:
        source = x if other is None else other
        parts = (self.query(x), self.key(source), self.value(source))
        query, key, value = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in parts)
        made = F.scaled_dot_product_attention(query, key, value)
        return self.out(made.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Transformer layer, normalised first."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        return x + self.down(F.gelu(self.up(self.second(x))))


def vit_tiny() -> tuple[nn.Module, Inputs]:
    class ViT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, 192, 16, 16)
            self.token = nn.Parameter(torch.randn(1, 1, 192))
            self.places = nn.Parameter(torch.randn(1, 17, 192) * 0.02)
            self.layers = nn.ModuleList(Layer(192, 3, 768) for _ in range(12))
            self.norm, self.head = nn.LayerNorm(192, 1e-6), nn.Linear(192, 1000)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x)[:, 0])

    return ViT(), (torch.randn(1, 3, 64, 64),)


def whisper_encoder() -> tuple[nn.Module, Inputs]:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Conv1d(80, 128, 3, padding=1), nn.Conv1d(128, 128, 3, 2, 1)
            angles = torch.arange(24)[:, None] * torch.exp(-torch.arange(64) * math.log(10000) / 63)
            self.register_buffer("places", torch.cat([angles.sin(), angles.cos()], 1))
            self.layers = nn.ModuleList(Layer(128, 4, 512) for _ in range(2))
            self.norm = nn.LayerNorm(128)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = F.gelu(self.second(F.gelu(self.first(x)))).permute(0, 2, 1) + self.places
            for layer in self.layers:
                x = layer(x)
            return self.norm(x)

    return Encoder(), (torch.randn(1, 80, 48),)


def unet_block() -> tuple[nn.Module, Inputs]:
    class Step(nn.Module):
        def __init__(self, inner: int, outer: int) -> None:
            super().__init__()
            self.norm, self.other = nn.GroupNorm(8, inner), nn.GroupNorm(8, outer)
            self.first, self.second = nn.Conv2d(inner, outer, 3, padding=1), nn.Conv2d(outer, outer, 3, padding=1)
            self.time, self.skip = nn.Linear(64, outer), nn.Conv2d(inner, outer, 1)

        def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
            y = self.first(F.silu(self.norm(x))) + self.time(F.silu(time))[:, :, None, None]
            return self.skip(x) + self.second(F.silu(self.other(y)))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down, self.middle, self.up = Step(4 * 8, 64), Step(64, 64), Step(64 + 64, 32)
            self.enter, self.leave = nn.Conv2d(4, 32, 3, padding=1), nn.Conv2d(32, 4, 3, padding=1)
            self.smaller, self.larger = nn.Conv2d(64, 64, 3, 2, 1), nn.Conv2d(64, 64, 3, padding=1)
            self.own, self.text, self.norm = Attention(64, 4), Attention(64, 4, 48), nn.LayerNorm(64)

        def forward(self, x: torch.Tensor, time: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
            angles = time[:, None] * torch.exp(-math.log(1e4) * torch.arange(32) / 32)
            time = torch.cat([angles.cos(), angles.sin()], -1).to(x.dtype)
            kept = self.down(self.enter(x), time)
            y = self.middle(self.smaller(kept), time)
            batch, width, rows, columns = y.shape
            flat = y.flatten(2).transpose(1, 2)
            flat = flat + self.own(self.norm(flat))
            flat = flat + self.text(self.norm(flat), text)
            y = flat.transpose(1, 2).reshape(batch, width, rows, columns)
            y = self.larger(F.interpolate(y, scale_factor=2.0, mode="nearest"))
            return self.leave(self.up(torch.cat([y, kept], 1), time))

    return Block(), (torch.randn(1, 4, 16, 16), torch.tensor([7.0]), torch.randn(1, 9, 48))


def lstm() -> tuple[nn.Module, Inputs]:
    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(50, 16)
            self.lstm = nn.LSTM(16, 24, num_layers=2, batch_first=True, bidirectional=True)
            self.head = nn.Linear(48, 5)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.head(self.lstm(self.words(ids))[0])

    return Tagger(), (torch.randint(0, 50, (2, 7)),)


NETS: dict[str, Callable[[], tuple[nn.Module, Inputs]]] = {
    one.__name__: one for one in (resnet18, resnet50, mobilenet_v2, vit_tiny, whisper_encoder, unet_block, lstm)
}
