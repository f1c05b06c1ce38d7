"""BERT: functional, optimised, and sharded, with the two logits of question answering."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ttnn
from testkit.official_ports import Distances

OFFICIAL = 0.396


def _model(size: str, layers: int) -> Any:
    import torch
    import transformers

    wide = {"base": (256, 4, 1024), "large": (1024, 16, 4096)}[size]
    torch.manual_seed(1)
    config = transformers.BertConfig(
        hidden_size=wide[0], num_attention_heads=wide[1], intermediate_size=wide[2], num_hidden_layers=layers
    )
    return transformers.BertForQuestionAnswering(config).eval()


def _dealt_again(model: Any) -> Any:
    """Return a model with heads as in the sharded port.

    They are what it makes of the weights of `model`.

    The port writes all queries, all keys and all values side by side. The operator that splits its block-sharded
    projection takes them as groups of a query, a key and a value.
    """
    import copy

    import torch

    model = copy.deepcopy(model)
    for layer in model.bert.encoder.layer:
        parts = [getattr(layer.attention.self, name) for name in ("query", "key", "value")]
        size = layer.attention.self.attention_head_size
        for kind in ("weight", "bias"):
            rows = torch.cat([getattr(part, kind).data for part in parts])
            heads = rows.reshape(-1, 3, size, *rows.shape[1:])
            for number, part in enumerate(parts):
                getattr(part, kind).data = heads[:, number].reshape(getattr(part, kind).shape).clone()
    return model


@pytest.mark.parametrize(
    ("port", "size", "layers", "batch", "rows", "masked", "bar"),
    [
        ("ttnn_bert", "base", 2, 2, 64, False, 0.9997),
        ("ttnn_optimized_bert", "base", 2, 2, 64, True, 0.9995),
        ("ttnn_optimized_bert", "large", 1, 8, 384, True, 0.9993),
        ("ttnn_optimized_sharded_bert", "large", 1, 8, 384, True, 0.998),
    ],
)
def test_bert(
    port: str,
    size: str,
    layers: int,
    batch: int,
    rows: int,
    masked: bool,
    bar: float,
    ports: Path,
    distances: Distances,
    device: ttnn.MeshDevice,
) -> None:
    import torch

    from ttnn.model_preprocessing import preprocess_model_parameters

    module = importlib.import_module(f"models.demos.bert.tt.{port}")
    reference = importlib.import_module("models.demos.bert.reference.torch_bert")
    model = _model(size, layers)
    config = model.config
    ids = torch.randint(0, config.vocab_size, (batch, rows), dtype=torch.int32)
    types = torch.zeros((batch, rows), dtype=torch.int32)
    positions = torch.arange(rows, dtype=torch.int32).repeat(batch, 1)
    mask = None
    if masked:
        mask = torch.ones(1, rows)
        mask[:, -20:] = 0
    expected_model = _dealt_again(model) if "sharded" in port else model
    plain = preprocess_model_parameters(initialize_model=lambda: expected_model, convert_to_ttnn=lambda *_: False)
    expected = reference.bert_for_question_answering(config, ids, types, positions, mask, parameters=plain)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, custom_preprocessor=module.custom_preprocessor, device=device
    )
    inputs = module.preprocess_inputs(ids, types, positions, mask, device=device)
    if "sharded" in port:
        config = module.update_model_config(config, batch)
    output = module.bert_for_question_answering(config, *inputs, parameters=parameters)
    distances.take(expected, ttnn.to_torch(output)[..., :2])
    distances.report(f"bert/tt/{port}", f"{size}, {layers} layers, {batch} x {rows}", bar, OFFICIAL)


def test_sentence_bert(
    hub: Any,
    distances: Distances,
    opened: Callable[..., ttnn.MeshDevice],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import transformers

    name = "emrecan/bert-base-turkish-cased-mean-nli-stsb-tr"
    hub.configs[name] = {"num_hidden_layers": 2}
    monkeypatch.setattr(
        transformers.AutoModel, "from_pretrained", lambda *_, **__: hub.model(transformers.BertModel, name)
    )
    official = importlib.import_module("models.demos.wormhole.sentence_bert.tests.pcc.test_ttnn_sentencebert_model")
    distances.of(official, monkeypatch)
    official.test_ttnn_sentence_bert_model(opened(l1_small_size=79104), [name, [8, 384], [8, 1, 1, 384]], None)
    distances.report("wormhole/sentence_bert", "base, 2 layers, 8 x 384", 0.999, 0.986)


def test_sentence_bert_with_a_trace_and_two_queues(
    hub: Any,
    distances: Distances,
    opened: Callable[..., ttnn.MeshDevice],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import transformers

    name = "emrecan/bert-base-turkish-cased-mean-nli-stsb-tr"
    hub.configs[name] = {"num_hidden_layers": 1}
    monkeypatch.setattr(
        transformers.AutoModel, "from_pretrained", lambda *_, **__: hub.model(transformers.BertModel, name)
    )
    infra = importlib.import_module("models.demos.sentence_bert.runner.performant_runner_infra")
    runner_module = importlib.import_module("models.demos.sentence_bert.runner.performant_runner")
    device = opened(l1_small_size=79104, trace_region_size=23887872, num_command_queues=2)
    runner = runner_module.SentenceBERTPerformantRunner(
        device=device, device_batch_size=8, sequence_length=384, model_location_generator=None
    )
    distances.of(infra, monkeypatch)
    runner._capture_sentencebert_trace_2cqs()
    for _ in range(2):
        runner.run()
        runner.runner_infra.validate()
    runner.release()
    # Compiled, optimised and traced runs have the same bits.
    assert len(distances.found) == 4
    assert len(set(distances.found)) == 1
    distances.report("sentence_bert/runner, trace and 2 queues", "base, 1 layer, 8 x 384", 0.999, 0.987)
