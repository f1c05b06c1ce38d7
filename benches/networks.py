"""Networks of PyTorch that benchmarks compile, in small sizes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

__all__ = ["bert", "llama", "resnet50"]


class _Block(nn.Module):
    """A decoder layer with rotated heads and a gated network."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(size, size, bias=False) for _ in range(4))
        self.gate, self.up = nn.Linear(size, 2 * size, bias=False), nn.Linear(size, 2 * size, bias=False)
        self.down = nn.Linear(2 * size, size, bias=False)
        self.first, self.second = nn.Parameter(torch.ones(size)), nn.Parameter(torch.ones(size))

    @staticmethod
    def normal(x: Any, weight: Any) -> Any:
        return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))

    @staticmethod
    def rotated(x: Any, cosine: Any, sine: Any) -> Any:
        half = x.shape[-1] // 2
        return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine

    def forward(self, x: Any, cosine: Any, sine: Any) -> Any:
        batch, length, size = x.shape
        y = self.normal(x, self.first)
        query, key, value = (
            one(y).view(batch, length, self.heads, -1).transpose(1, 2) for one in (self.query, self.key, self.value)
        )
        query, key = self.rotated(query, cosine, sine), self.rotated(key, cosine, sine)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, size))
        y = self.normal(x, self.second)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class _Llama(nn.Module):
    def __init__(self, layers: int, size: int, heads: int) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(100, size), nn.Linear(size, 100, bias=False)
        self.layers = nn.ModuleList(_Block(size, heads) for _ in range(layers))
        self.half = size // heads // 2

    def forward(self, tokens: Any) -> Any:
        x = self.embedding(tokens)
        angles = torch.arange(tokens.shape[1]).float()[:, None] * torch.exp(-torch.arange(self.half).float())
        angles = torch.cat([angles, angles], -1)
        cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = layer(x, cosine, sine)
        return self.head(x)


def llama() -> tuple[Any, tuple[Any, ...]]:
    """Return 22 decoder layers, and tokens."""
    return _Llama(22, 64, 2).to(torch.bfloat16), (torch.zeros(1, 32, dtype=torch.int64),)


class _Encoder(nn.Module):
    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(size, size) for _ in range(4))
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, x: Any, mask: Any) -> Any:
        batch, length, size = x.shape
        query, key, value = (
            one(x).view(batch, length, self.heads, -1).transpose(1, 2) for one in (self.query, self.key, self.value)
        )
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.first(x + self.out(seen.transpose(1, 2).reshape(batch, length, size)))
        return self.second(x + self.narrow(functional.gelu(self.wide(x))))


class _Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(100, 64), nn.Embedding(64, 64)
        self.norm = nn.LayerNorm(64)
        self.layers = nn.ModuleList(_Encoder(64, 4) for _ in range(6))

    def forward(self, tokens: Any, mask: Any) -> Any:
        x = self.norm(self.words(tokens) + self.places(torch.arange(tokens.shape[1])))
        bias = (1 - mask[:, None, None, :].to(x.dtype)) * -1e9
        for layer in self.layers:
            x = layer(x, bias)
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def bert() -> tuple[Any, tuple[Any, ...]]:
    """Return six encoder layers as in MiniLM, tokens and a mask."""
    return _Bert(), (torch.zeros(1, 32, dtype=torch.int64), torch.ones(1, 32))


class _Bottleneck(nn.Module):
    def __init__(self, given: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(given, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 4 * width, 1, bias=False),
            nn.BatchNorm2d(4 * width),
        )
        same = given == 4 * width and stride == 1
        self.short = (
            nn.Identity()
            if same
            else nn.Sequential(nn.Conv2d(given, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))
        )

    def forward(self, x: Any) -> Any:
        return torch.relu(self.body(x) + self.short(x))


def resnet50() -> tuple[Any, tuple[Any, ...]]:
    """Return ResNet-50 with a quarter of its channels, and an image."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, 16, 7, 2, 3, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    given = 16
    for stage, count in enumerate((3, 4, 6, 3)):
        for number in range(count):
            layers.append(_Bottleneck(given, 16 << stage, 2 if stage and not number else 1))
            given = 64 << stage
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(given, 100)]
    return nn.Sequential(*layers).eval(), (torch.zeros(1, 3, 64, 64),)
