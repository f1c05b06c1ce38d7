"""SmolLM2: perplexity of a text, and a verified continuation.

Every token of it equals that of all tokens at once.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch.nn.functional import cross_entropy

import ttnn
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, device_bytes, pcc, sha256, timed
from ttnn.examples.models import smollm2 as port

LENGTH, KNOWN, GENERATED = 128, 96, 24
"""Tokens of the text, its prefill, and the generation.

The prefilled tokens are in the caches before the others are decoded.
"""
PROMPT = "The capital of France is"


def text_tokens(length: int) -> torch.Tensor:
    """Return the first tokens of scikit-learn's breast cancer description."""
    description: str = importlib.import_module("sklearn.datasets").load_breast_cancer().DESCR
    return torch.tensor([port.BEGIN, *port.load_tokenizer().encode(description).ids[: length - 1]])


def perplexity(logits: torch.Tensor, tokens: torch.Tensor) -> float:
    """Return how many tokens the model hesitates between, on average."""
    return float(cross_entropy(logits[:-1].float(), tokens[1:]).exp())


def agreement(got: torch.Tensor, expected: torch.Tensor) -> tuple[float, float]:
    """Return top-1 and top-5 agreement of the first choices.

    Top-5: the first choice is among the first five expected.
    """
    first = got.argmax(-1)
    five = expected.topk(5).indices
    return float((first == expected.argmax(-1)).float().mean()), float((first[:, None] == five).any(-1).float().mean())


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Read a text, decode its end by token, continue a sentence."""
    weights = port.load_weights(settings.layers)
    tokens = text_tokens(LENGTH)
    advance("weights")
    expected = port.torch_logits(weights, tokens, settings.layers)
    advance("torch")
    before = device_bytes(device)
    model = port.SmolLM2(device, weights, settings.data_type, settings.math_fidelity, settings.layers)
    size = device_bytes(device) - before
    outcome = Outcome(f"SmolLM2-135M: {LENGTH} tokens of a description, then one by one", "tokens")

    whole = timed(lambda: model.prefill(tokens), settings)
    got = ttnn.to_torch(whole.result).float()[0, 0]
    outcome.hashes["prefill"] = sha256(whole.result)
    outcome.operators["prefill"] = whole.operators
    first, five = agreement(got, expected)
    values = (perplexity(got, tokens), perplexity(expected, tokens))
    costs = (whole.seconds, size, whole.device_nanoseconds, whole.missing)
    outcome.lines.append(Line(f"prefill {LENGTH}", "perplexity", *values, pcc(got, expected), *costs, LENGTH))
    outcome.figures["prefill"] = {"first_choice_equal": first, "first_choice_in_five": five}
    outcome.notes.append(f"first choice equal to torch's {first:.1%}, among torch's first five {five:.1%}")
    advance("prefill")

    model.prefill(tokens[:KNOWN])
    rows = [ttnn.to_torch(model.decode(int(tokens[i]), i)).float()[0, 0, 0] for i in range(KNOWN, LENGTH)]
    decoded = torch.stack(rows)
    one = timed(lambda: model.decode(int(tokens[-1]), LENGTH - 1), settings)
    outcome.operators["decode"] = one.operators
    outcome.hashes["decode"] = sha256(one.result)
    same = float((decoded.argmax(-1) == got[KNOWN:].argmax(-1)).float().mean())
    costs = (one.seconds, size, one.device_nanoseconds, one.missing)
    outcome.lines.append(
        Line("decode 1 user", "equal to prefill", same, 1.0, pcc(decoded, expected[KNOWN:]), *costs, 1)
    )
    outcome.figures["decode"] = {"pcc_to_prefill": pcc(decoded, got[KNOWN:])}
    advance("decode")

    tokenizer = port.load_tokenizer()
    prompt = [port.BEGIN, *tokenizer.encode(PROMPT).ids]
    found = port.generate(model, prompt, GENERATED)
    forced = teacher_forced(model, prompt, found)
    outcome.figures["generated"] = {"tokens": found, "teacher_forced": forced, "text": tokenizer.decode(found)}
    outcome.notes.append(f"{PROMPT!r} goes on: {tokenizer.decode(found)!r}")
    outcome.notes.append(
        f"{sum(a == b for a, b in zip(found, forced, strict=True))} of {GENERATED} tokens equal teacher forcing"
    )
    advance("generate")
    outcome.draw = lambda figure: _draw(figure, tokens, got, expected)
    return outcome


def teacher_forced(model: port.SmolLM2, prompt: list[int], found: list[int]) -> list[int]:
    """Return first choices after prompt and generated tokens, from one prefill.

    The last generated token is left out.
    """
    tokens = prompt + found[:-1]
    padded = torch.zeros(-(-len(tokens) // 32) * 32, dtype=torch.int64)
    padded[: len(tokens)] = torch.tensor(tokens)
    logits = ttnn.to_torch(model.prefill(padded)).float()[0, 0]
    return [int(token) for token in logits[len(prompt) - 1 : len(tokens)].argmax(-1)]


def _draw(figure: Any, tokens: torch.Tensor, got: torch.Tensor, expected: torch.Tensor) -> None:
    words = port.load_tokenizer()
    ours, theirs = (-cross_entropy(logits[:-1], tokens[1:], reduction="none") for logits in (got, expected))
    left, right = figure.subplots(1, 2, width_ratios=(1, 2))
    left.scatter(theirs, ours, s=10)
    left.plot([theirs.min(), 0], [theirs.min(), 0], color="grey", linewidth=0.5)
    left.set_xlabel("log probability of the next token in torch", fontsize=8)
    left.set_ylabel("on the device", fontsize=8)
    shown = slice(60, 84)
    names = [words.decode([int(token)]).strip() or "\\n" for token in tokens[1:][shown]]
    places = range(len(names))
    right.bar([p - 0.2 for p in places], theirs[shown], 0.4, label="torch")
    right.bar([p + 0.2 for p in places], ours[shown], 0.4, label="device")
    right.set_xticks(places, names, rotation=90, fontsize=8)
    right.legend(fontsize=8)
