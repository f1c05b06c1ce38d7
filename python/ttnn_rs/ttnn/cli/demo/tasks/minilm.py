"""MiniLM: correlation of sentence cosines with a person's grades."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import ttnn
from ttnn.cli.demo.measure import Advance, Line, Outcome, Settings, device_bytes, pcc, timed
from ttnn.cli.demo.tasks.sentences import SENTENCES, graded
from ttnn.examples.models import minilm

BATCH, LENGTH = 8, 32
MARGIN = 0.02
"""Margin of a nearest neighbour in torch that the device must match."""

Float = NDArray[np.float64]


def run(device: ttnn.MeshDevice, settings: Settings, advance: Advance) -> Outcome:
    """Embed 60 sentences in five forms of the model."""
    weights = minilm.load_weights()
    count = -(-len(SENTENCES) // BATCH) * BATCH
    sentences = [SENTENCES[i % len(SENTENCES)] for i in range(count)]
    tokens, mask = minilm.tokenize(sentences, LENGTH)
    last, embeddings = minilm.torch_embed(weights, tokens, mask, settings.layers)
    expected = embeddings.double().numpy()
    words = mask.bool().numpy()
    advance("torch")
    outcome = Outcome(f"MiniLM-L6: {len(SENTENCES)} sentences, {len(graded())} pairs of three grades", "sentences")
    options = (device, weights, settings.data_type, settings.math_fidelity, settings.layers)
    found: dict[str, Float] = {}
    for form in (minilm.Functional, minilm.Optimized, minilm.Flash, minilm.Sharded):
        before = device_bytes(device)
        model = form(*options)
        size = device_bytes(device) - before
        name = form.__name__.lower()
        found[name] = _measure(outcome, name, model, size, (tokens, mask), (last, expected, words), settings)
        del model
        advance(name)
    found["traced"] = _traced(
        outcome, minilm.Sharded(*options), size, (tokens, mask), (last, expected, words), settings
    )
    advance("traced")
    _speed(outcome, [form(*options) for form in (minilm.Flash, minilm.Sharded)])
    advance("speed")
    outcome.figures["margin"] = MARGIN
    outcome.draw = lambda figure: _draw(figure, expected, found)
    return outcome


def _measure(
    outcome: Outcome,
    name: str,
    model: minilm.Functional | minilm.Optimized,
    size: int,
    inputs: tuple[torch.Tensor, torch.Tensor],
    reference: tuple[torch.Tensor, Float, NDArray[np.bool_]],
    settings: Settings,
) -> Float:
    """Add a form's line, and return its embeddings [N, 384]."""
    tokens, mask = inputs

    def batch(start: int) -> tuple[Any, Any]:
        part = slice(start, start + BATCH)
        placed = [ttnn.to_device(x, model.device) for x in model.inputs(tokens[part], mask[part])]
        return tuple(ttnn.to_torch(x).float() for x in model(*placed))  # type: ignore[return-value]

    first = timed(lambda: batch(0), settings)
    outcome.operators[name] = first.operators
    parts = [first.result, *(batch(start) for start in range(BATCH, len(tokens), BATCH))]
    return _line(outcome, name, parts, reference, (first.seconds, size, first.device_nanoseconds, first.missing))


def _traced(
    outcome: Outcome,
    model: minilm.Sharded,
    size: int,
    inputs: tuple[torch.Tensor, torch.Tensor],
    reference: tuple[torch.Tensor, Float, NDArray[np.bool_]],
    settings: Settings,
) -> Float:
    tokens, mask = inputs
    traced = minilm.Traced(model, model.inputs(tokens[:BATCH], mask[:BATCH]))

    def batch(start: int) -> tuple[Any, Any]:
        part = slice(start, start + BATCH)
        outputs = traced(model.inputs(tokens[part], mask[part]))
        return tuple(ttnn.to_torch(x).float() for x in outputs)  # type: ignore[return-value]

    first = timed(lambda: batch(0), settings)
    parts = [first.result, *(batch(start) for start in range(BATCH, len(tokens), BATCH))]
    traced.release()
    return _line(outcome, "traced", parts, reference, (first.seconds, size, first.device_nanoseconds, first.missing))


def _speed(outcome: Outcome, models: list[minilm.Optimized]) -> None:
    """Compare the host time of 8 x 128 tokens with torch's.

    Torch runs in eager mode in bfloat16; the best of three runs.
    """
    tokens, mask = minilm.tokenize(SENTENCES[:BATCH], 128)
    halves = {
        name: tensor.bfloat16() if tensor.is_floating_point() else tensor
        for name, tensor in minilm.load_weights().items()
    }

    def device(model: minilm.Optimized) -> None:
        model(*(ttnn.to_device(x, model.device) for x in model.inputs(tokens, mask)))

    def best(call: Callable[[], object]) -> float:
        seconds = []
        for _ in range(3):
            started = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - started)
        return min(seconds)

    ours = {type(model).__name__.lower(): best(partial(device, model)) for model in models}
    theirs = best(lambda: minilm.torch_embed(halves, tokens, mask, models[0].layers))
    outcome.figures["seconds_of_8_x_128_tokens"] = {**ours, "torch_bfloat16_eager": theirs}
    each = ", ".join(f"{seconds:.3f} s {name}" for name, seconds in ours.items())
    outcome.notes.append(f"8 x 128 tokens take {each}, and {theirs:.3f} s in torch's eager mode in bfloat16")


def _line(
    outcome: Outcome,
    name: str,
    parts: list[tuple[Any, Any]],
    reference: tuple[torch.Tensor, Float, NDArray[np.bool_]],
    cost: tuple[float, int, float, int],
) -> Float:
    last, expected, words = reference
    layer = torch.cat([part[0].reshape(BATCH, LENGTH, -1) for part in parts])
    embeddings = torch.cat([part[1].reshape(BATCH, -1) for part in parts])
    outcome.hashes[name] = hashlib.sha256(layer.numpy().tobytes() + embeddings.numpy().tobytes()).hexdigest()
    got = embeddings.double().numpy()
    seconds, size, nanoseconds, missing = cost
    correlation = pcc(layer.numpy()[words], last.numpy()[words])
    outcome.lines.append(
        Line(
            name,
            "Spearman to grades",
            spearman(got),
            spearman(expected),
            correlation,
            seconds,
            size,
            nanoseconds,
            missing,
            BATCH,
        )
    )
    cosine = float(((got * expected).sum(1) / np.linalg.norm(got, axis=1)).min())
    asked, agreed = neighbours(got, expected)
    outcome.figures[name] = {
        "smallest_cosine": cosine,
        "pcc": correlation,
        "largest_change_of_a_similarity": float(np.abs(similarities(got) - similarities(expected)).max()),
        "neighbours": asked,
        "neighbours_equal": agreed,
    }
    outcome.notes.append(
        f"{name}: smallest cosine to torch {cosine:.5f}, nearest neighbour equal for {agreed} of {asked} sentences "
        f"whose margin in torch exceeds {MARGIN}"
    )
    return got


def similarities(embeddings: Float) -> Float:
    """Return the cosine of every graded pair."""
    return np.array([embeddings[a] @ embeddings[b] for a, b, _ in graded()])


def spearman(embeddings: Float) -> float:
    """Return the rank correlation of cosines and grades.

    Equal grades share their mean rank.
    """
    grades = np.array([grade for _, _, grade in graded()], np.float64)
    cosines = similarities(embeddings).argsort().argsort().astype(np.float64)
    ranks = np.array([np.mean(np.flatnonzero(np.sort(grades) == grade)) for grade in grades])
    return float(np.corrcoef(cosines, ranks)[0, 1])


def neighbours(got: Float, expected: Float) -> tuple[int, int]:
    """Return how many nearest neighbours torch is sure of, and matches.

    A match is one that the device finds.
    """
    count = len(SENTENCES)
    theirs, ours = expected[:count] @ expected[:count].T, got[:count] @ got[:count].T
    np.fill_diagonal(theirs, -1.0)
    np.fill_diagonal(ours, -1.0)
    second, first = np.sort(theirs, axis=1)[:, -2:].T
    sure = first - second > MARGIN
    return int(sure.sum()), int((theirs.argmax(1) == ours.argmax(1))[sure].sum())


def _draw(figure: Any, expected: Float, found: dict[str, Float]) -> None:
    axes = figure.subplots(1, len(found), sharey=True)
    grades = np.array([grade for _, _, grade in graded()])
    for column, (name, got) in zip(axes, found.items(), strict=True):
        for grade, label in ((2, "same meaning"), (1, "same subject"), (0, "other subject")):
            chosen = grades == grade
            column.scatter(similarities(expected)[chosen], similarities(got)[chosen], s=12, label=label)
        column.plot([-0.1, 1], [-0.1, 1], color="grey", linewidth=0.5)
        column.set_title(name, fontsize=9)
        column.set_xlabel("cosine in torch", fontsize=8)
    axes[0].set_ylabel("cosine on the device", fontsize=8)
    axes[0].legend(fontsize=7)
