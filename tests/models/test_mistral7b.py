"""Mistral-7B with made weights, at full size, both phases.

A layer, and two of them with the head.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testkit.model_checks import Operators, bits_on_every_host, falls_with_phases, large, needs, trace

large()
needs("torch", always=False)
pytestmark = pytest.mark.timeout(600)

import torch

import ttnn
from ttnn.cli.demo import made
from ttnn.cli.demo.measure import centred_pcc, sha256
from ttnn.cli.demo.tasks import mistral7b as task
from ttnn.examples.models import mistral7b as port

PROMPT = 128
OPERATOR_BARS = {
    "ttnn.linear": 3e-4,
    "ttnn.transformer.scaled_dot_product_attention": 2e-4,
    "ttnn.transformer.scaled_dot_product_attention_decode": 2e-4,
}
"""1 - PCC to the golden function, 5e-5 for others.

LoFi cuts the mantissas of both operands of a product.
"""


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    return task.model().state(0)


@pytest.fixture(scope="module")
def exact(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.float() for name, tensor in weights.items()}


@pytest.fixture(scope="module")
def words() -> torch.Tensor:
    return made.draw("mistral7b", -1, "words", (160, port.WIDTH), 1.0)


def place(words: torch.Tensor, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.from_torch(words[None, None], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def test_every_operator_is_near_its_golden_function(
    model_device: ttnn.MeshDevice, weights: Any, words: torch.Tensor, operators: Operators
) -> None:
    rotation = port.Rotation(model_device, 128)
    layer = port.Layer(model_device, weights, rotation)
    tables, of_users = rotation.of_prompt(32), rotation.of_users(torch.full((32,), 32))
    prompt, tokens = place(words[:32], model_device), place(words[32:64], model_device)
    for run in (lambda: layer.prefill(prompt, 0, tables), lambda: layer.decode(tokens, of_users)):
        operators.found.clear()
        run()
        assert {name: p for name, p in operators.worst().items() if 1 - p > OPERATOR_BARS.get(name, 5e-5)} == {}
        assert sum(name == "ttnn.linear" for name, _ in operators.found) == 5
        assert len(operators.worst()) >= 11


def test_bits_of_two_layers_and_the_head(
    model_device: ttnn.MeshDevice,
    same_hash: Callable[[str, str, str], None],
    words: torch.Tensor,
    weights: Any,
    cpu_level: None,
    host_threads: None,
) -> None:
    rotation = port.Rotation(model_device, 128)
    layers = [port.Layer(model_device, of, rotation) for of in (weights, task.model().state(1))]
    outer = port.Outer(model_device, task.model().outer())
    tables, of_users = rotation.of_prompt(32), rotation.of_users(torch.full((32,), 32))
    prompt, tokens = place(words[:32], model_device), place(words[32:64], model_device)

    def prefill() -> list[ttnn.Tensor]:
        first = layers[0].prefill(prompt, 0, tables)
        second = layers[1].prefill(first, 0, tables)
        return [first, second, outer.logits(second)]

    def decode() -> list[ttnn.Tensor]:
        first = layers[0].decode(tokens, of_users)
        second = layers[1].decode(first, of_users)
        return [first, second, outer.logits(second)]

    first = bits_on_every_host(lambda: [sha256(tensor) for tensor in (*prefill(), *decode())], model_device)
    names = [f"{phase} {part}" for phase in ("prefill", "decode") for part in ("layer 0", "layer 1", "logits")]
    for run, digest in zip(names, first, strict=True):
        same_hash("mistral7b", run, digest)
    replayed = [trace(model_device, run)[-1] for run in (prefill, decode)]
    assert [sha256(tensor) for tensor in replayed] == [first[2], first[5]]


def test_a_layer(fast: None, model_device: ttnn.MeshDevice, weights: Any, exact: Any, words: torch.Tensor) -> None:
    """Two users with different prompts.

    Decoding after a prompt is a prompt of one more token.
    """
    rotation = port.Rotation(model_device, 256)
    prompts = [words, made.draw("mistral7b", -1, "other words", tuple(words.shape), 1.0)]
    references = [port.torch_prefill(exact, prompt[:PROMPT].float()) for prompt in prompts]
    many = [torch.zeros(32, port.GROUPS, PROMPT, port.HEAD) for _ in range(2)]
    for user, (_, *parts) in enumerate(references):
        for cache, part in zip(many, parts, strict=True):
            cache[user] = part
    tokens = torch.cat([prompt[PROMPT : PROMPT + 1] for prompt in prompts] * 16)
    of_token = port.torch_decode(exact, tokens.float(), *many, PROMPT)

    def read(tensor: ttnn.Tensor) -> torch.Tensor:
        found: torch.Tensor = ttnn.to_torch(tensor).float()
        return found

    for dtype, bar in ((ttnn.bfloat8_b, 0.997), (ttnn.bfloat4_b, 0.98)):
        layer = port.Layer(model_device, weights, rotation, dtype)
        whole = [
            read(layer.prefill(place(prompt, model_device), user, rotation.of_prompt(160)))[0, 0]
            for user, prompt in enumerate(prompts)
        ]
        for user, (prompt, (expected, *parts)) in enumerate(zip(prompts, references, strict=True)):
            got = layer.prefill(place(prompt[:PROMPT], model_device), user, rotation.of_prompt(PROMPT))
            assert centred_pcc(read(got)[0], expected[None]) > bar
            for cache, part in zip((layer.keys, layer.values), parts, strict=True):
                assert centred_pcc(read(cache)[user, :, :PROMPT], part) > 0.999
        places = rotation.of_users(torch.full((32,), PROMPT))
        one = read(layer.decode(place(tokens, model_device), places))[0, 0]
        for user in range(2):
            assert torch.corrcoef(torch.stack([one[user], whole[user][PROMPT]]))[0, 1] > 0.999
            assert torch.corrcoef(torch.stack([one[user], of_token[user]]))[0, 1] > bar
        for tensor in layer.weights.values():
            ttnn.deallocate(tensor)


def test_more_phases_are_nearer_to_torch(
    model_device: ttnn.MeshDevice, weights: Any, exact: Any, words: torch.Tensor
) -> None:
    rotation = port.Rotation(model_device, 32)
    expected, _, _ = port.torch_prefill(exact, words[:32].float())
    found = {}
    for dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b):
        for fidelity in ("LoFi", "HiFi2", "HiFi4"):
            layer = port.Layer(model_device, weights, rotation, dtype, getattr(ttnn.MathFidelity, fidelity))
            got = layer.prefill(place(words[:32], model_device), 0, rotation.of_prompt(32))
            found[dtype, fidelity] = centred_pcc(ttnn.to_torch(got).float()[0], expected[None])
            for tensor in layer.weights.values():
                ttnn.deallocate(tensor)
    falls_with_phases({fidelity: found[ttnn.bfloat8_b, fidelity] for fidelity in ("LoFi", "HiFi2", "HiFi4")}, 1e-4)
    assert found[ttnn.bfloat4_b, "HiFi4"] < found[ttnn.bfloat8_b, "LoFi"]


def test_predicted_throughput_is_between_what_is_published(
    fast: None, model_device: ttnn.MeshDevice, weights: Any, words: torch.Tensor
) -> None:
    published = task.PUBLISHED
    rotation = port.Rotation(model_device, 256)
    layer = port.Layer(model_device, weights, rotation)
    with ttnn.profiler.profile() as session:
        layer.decode(place(words[:32], model_device), rotation.of_users(torch.full((32,), PROMPT)))
    assert session.missing == []
    rate = 32 / (32 * sum(row.nanoseconds for row in session.rows) + 1e6) * 1e9
    assert min(published.end_to_end.values()) < rate < published.roofline
