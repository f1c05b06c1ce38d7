"""ViT-B/16, ResNet-50 and Mistral-7B with made weights: parts of them, beside torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from model_checks import Operators, large, needs

large()
needs("torch", always=False)

import torch

import ttnn
from ttnn import _engine
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import centred_pcc, pcc, sha256
from ttnn.cli.demo.tasks import mistral7b as mistral_task
from ttnn.cli.demo.tasks import resnet50 as resnet_task
from ttnn.cli.demo.tasks import vit as vit_task
from ttnn.examples.models import mistral7b, resnet50, vit

PROMPT = 128


@pytest.fixture
def fast() -> Iterator[None]:
    with ttnn.manage_config("numerics", "fast"):
        yield


def place(words: torch.Tensor, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.from_torch(words[None, None], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def test_vit_layer_by_layer(
    device: ttnn.MeshDevice, same_hash: Callable[[str, str, str], None], host_threads: None
) -> None:
    outer, layers = vit_task.weights_of(2)
    images = vit_task.images_of(1)
    seen, scores = vit.torch_encode(
        vit_task.floats(outer), [vit_task.floats(weights) for weights in layers], images.float()
    )
    model = vit.ViT(device, outer, layers)
    pixels = ttnn.to_device(model.inputs(images), device)
    found: list[torch.Tensor] = []
    result = model(pixels, seen=lambda layer: found.append(ttnn.to_torch(layer).float()[:, : vit.TOKENS]))
    assert min(centred_pcc(ours, theirs) for ours, theirs in zip(found, seen, strict=True)) > 0.999
    assert pcc(ttnn.to_torch(result).float(), scores) > 0.998
    same_hash("vit", "scores of 2 layers", sha256(result))
    _engine.set_threads(1)
    assert sha256(model(pixels)) == sha256(result)


def test_operators_of_vit(device: ttnn.MeshDevice, operators: Operators) -> None:
    outer, layers = vit_task.weights_of(1)
    model = vit.ViT(device, outer, layers, ttnn.bfloat16, ttnn.MathFidelity.HiFi4)
    operators.found.clear()
    model(ttnn.to_device(model.inputs(vit_task.images_of(1)), device))
    bars = {"ttnn.transformer.attention_softmax_": 1e-3}
    assert {name: p for name, p in operators.worst().items() if 1 - p > bars.get(name, 1e-4)} == {}


def test_resnet_block_by_block(fast: None) -> None:
    weights, images = resnet_task.weights(), resnet_task.images_of(2)
    seen, scores = resnet50.torch_scores({name: tensor.float() for name, tensor in weights.items()}, images.float())
    device = ttnn.open_device(device_id=0, l1_small_size=1 << 15)
    try:
        model = resnet50.ResNet50(device, weights, ttnn.bfloat16, ttnn.MathFidelity.HiFi4)
        found: list[float] = []

        def look(block: ttnn.Tensor) -> None:
            expected = seen[len(found)].permute(0, 2, 3, 1).flatten(1, 2)
            found.append(centred_pcc(ttnn.to_torch(block).float().reshape(expected.shape), expected))

        result = model(ttnn.to_device(model.inputs(images), device), seen=look)
        assert len(found) == 16
        assert min(found) > 0.98  # the bar of the vendor's tests
        assert centred_pcc(ttnn.to_torch(result).float()[0], scores[None]) > 0.98
    finally:
        ttnn.close_device(device)


def test_a_layer_of_mistral(fast: None, device: ttnn.MeshDevice) -> None:
    weights = mistral_task.model().state(0)
    exact = {name: tensor.float() for name, tensor in weights.items()}
    words = made.draw("mistral7b", -1, "words", (160, mistral7b.WIDTH), 1.0)
    rotation = mistral7b.Rotation(device, 256)
    expected, keys, values = mistral7b.torch_prefill(exact, words[:PROMPT].float())
    many = [torch.zeros(32, mistral7b.GROUPS, PROMPT, mistral7b.HEAD) for _ in range(2)]
    for cache, part in zip(many, (keys, values), strict=True):
        cache[:2] = part
    tokens = words[PROMPT : PROMPT + 1].repeat(32, 1)
    of_token = mistral7b.torch_decode(exact, tokens.float(), *many, PROMPT)
    for dtype, bar in ((ttnn.bfloat8_b, 0.997), (ttnn.bfloat4_b, 0.98)):
        layer = mistral7b.Layer(device, weights, rotation, dtype)
        whole = ttnn.to_torch(layer.prefill(place(words, device), 0, rotation.of_prompt(160))).float()[0, 0]
        for user in range(2):
            got: Any = layer.prefill(place(words[:PROMPT], device), user, rotation.of_prompt(PROMPT))
        assert centred_pcc(ttnn.to_torch(got).float()[0], expected[None]) > bar
        found = [ttnn.to_torch(cache).float()[1, :, :PROMPT] for cache in (layer.keys, layer.values)]
        assert all(centred_pcc(a, b) > 0.999 for a, b in zip(found, (keys, values), strict=True))
        one = ttnn.to_torch(layer.decode(place(tokens, device), rotation.of_users(torch.full((32,), PROMPT))))
        one = one.float()[0, 0]
        for user in range(2):
            # Decoding after a prompt is a prompt of one more token.
            assert torch.corrcoef(torch.stack([one[user], whole[PROMPT]]))[0, 1] > 0.999
            assert torch.corrcoef(torch.stack([one[user], of_token[user]]))[0, 1] > bar
        for tensor in layer.weights.values():
            ttnn.deallocate(tensor)


def test_predicted_throughput_of_mistral_is_between_what_is_published(fast: None, device: ttnn.MeshDevice) -> None:
    published = mistral_task.PUBLISHED
    rotation = mistral7b.Rotation(device, 256)
    layer = mistral7b.Layer(device, mistral_task.model().state(0), rotation)
    words = made.draw("mistral7b", -1, "words", (32, mistral7b.WIDTH), 1.0)
    with ttnn.profiler.profile() as session:
        layer.decode(place(words, device), rotation.of_users(torch.full((32,), PROMPT)))
    assert session.missing == []
    rate = 32 / (32 * sum(row.nanoseconds for row in session.rows) + 1e6) * 1e9
    assert min(published.end_to_end.values()) < rate < published.roofline
