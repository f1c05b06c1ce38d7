"""Falcon-7B at full width, by the official tests.

Prefill of 128 tokens and decode of 32 users.

The reference is that of transformers. The official tests call it by the names of an older version; the classes below
do so by those of this one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ttnn
from testkit.official_ports import Distances

NAME = "tiiuae/falcon-7b-instruct"
TESTS = "models.demos.falcon7b_common.tests"
REPLACED = "reference: names of transformers 4.57"


def _cache(past: Any) -> Any:
    from transformers import DynamicCache

    cache = DynamicCache()
    for number, (keys, values) in enumerate(past or ()):
        cache.update(*(part[:, None] if part.dim() == 3 else part for part in (keys, values)), number)
    return cache


class _Layer:
    """The official reference of a layer, or of its attention."""

    part = ""

    def __init__(self, model: Any, number: int) -> None:
        self.rotary = model.transformer.rotary_emb
        layer = model.transformer.h[number]
        self.layer = getattr(layer, self.part) if self.part else layer

    def __call__(self, x: Any, alibi: Any, attention_mask: Any, layer_past: Any, use_cache: bool) -> Any:
        import torch

        cache = _cache(None if layer_past is None else [layer_past])
        begin = cache.get_seq_length()
        positions = torch.arange(begin, begin + x.shape[1])
        result = self.layer(
            hidden_states=x,
            alibi=None,
            attention_mask=attention_mask.float() * -1e5,
            layer_past=cache,
            use_cache=True,
            position_ids=positions[None],
            position_embeddings=self.rotary(x, positions[None]),
            cache_position=positions,
        )
        return result[0], tuple(part[:, 0] for part in (cache.layers[0].keys, cache.layers[0].values))


class _Attention(_Layer):
    part = "self_attention"


class _Model:
    """The official reference of the model without its head."""

    headless = True

    def __init__(self, model: Any, layers: int) -> None:
        self.model = model.transformer if self.headless else model

    def __call__(self, input_ids: Any, past_key_values: Any, use_cache: bool) -> Any:
        result = self.model(input_ids=input_ids, past_key_values=_cache(past_key_values), use_cache=True)
        return result[0], tuple((layer.keys, layer.values) for layer in result.past_key_values.layers)


class _Causal(_Model):
    headless = False


@pytest.fixture
def t3000(ports: Path) -> Iterator[ttnn.MeshDevice]:
    """Return a mesh of eight chips."""
    with ttnn.manage_config("system", "t3k"), ttnn.create_mesh_device(ttnn.MeshShape(1, 8)) as mesh:
        yield mesh


PREFILL = ("prefill", 1, 128, 0)
DECODE = ("decode", 32, 1, 128)


@pytest.fixture
def falcon(hub: Any) -> Any:
    # The vocabulary is small: its table takes a thousand times less than that of the model, and longer than all else.
    hub.configs[NAME] = {"num_hidden_layers": 1, "vocab_size": 1024}
    return hub


@pytest.mark.parametrize(("mode", "batch", "rows"), [("prefill", 1, 128), ("decode", 1, 32)])
def test_mlp(
    mode: str,
    batch: int,
    rows: int,
    falcon: Any,
    distances: Distances,
    device: ttnn.MeshDevice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    official = importlib.import_module(f"{TESTS}.test_falcon_mlp")
    distances.of(official, monkeypatch)
    config = official.get_model_config("BFLOAT16-DRAM", rows, 1 if mode == "prefill" else 32)
    official.run_test_FalconMLP_inference(device, NAME, mode, batch, rows, 0.98, config, tmp_path)
    distances.report("falcon7b_common, MLP", f"1 layer, {mode}", 0.999, 0.98)


@pytest.mark.parametrize("place", ["BFLOAT16-DRAM", "BFLOAT16-L1", "BFLOAT16-L1_SHARDED"])
@pytest.mark.parametrize("case", [PREFILL, DECODE], ids=["prefill", "decode"])
@pytest.mark.parametrize("part", ["attention", "decoder", "model"])
def test_falcon(
    part: str,
    case: tuple[str, int, int, int],
    place: str,
    falcon: Any,
    distances: Distances,
    device: ttnn.MeshDevice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mode = case[0]
    if mode == "prefill" and place != "BFLOAT16-DRAM":
        pytest.skip("the official tests have prefill in DRAM only, or the same program")
    official = importlib.import_module(f"{TESTS}.test_falcon_{part}")
    config = official.get_model_config(place, *case[2:0:-1])
    run, reference, taken, more = {
        "attention": ("Attention", "PytorchFalconAttentionModel", _Attention, ()),
        "decoder": ("Decoder", "PytorchFalconDecoderModel", _Layer, (0,)),
        "model": ("Model", "PytorchFalconModel", _Model, (1,)),
    }[part]
    monkeypatch.setattr(official, reference, taken)
    distances.of(official, monkeypatch)
    test = getattr(official, f"run_test_Falcon{run}_inference")
    test(device, NAME, *case, *more, 0.98, config, tmp_path)
    distances.report(f"falcon7b_common, {part}", f"1 layer, {mode}, {place}", 0.999, 0.98, REPLACED)


@pytest.mark.parametrize("case", [PREFILL, DECODE], ids=["prefill", "decode"])
def test_logits(
    case: tuple[str, int, int, int],
    hub: Any,
    distances: Distances,
    device: ttnn.MeshDevice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub.configs[NAME] = {"num_hidden_layers": 2, "vocab_size": 8192}
    official = importlib.import_module(f"{TESTS}.test_falcon_causallm")
    monkeypatch.setattr(official, "PytorchFalconCausalLM", _Causal)
    distances.of(official, monkeypatch)
    config = official.get_model_config("BFLOAT16-DRAM", *case[2:0:-1])
    official.run_test_FalconCausalLM_inference(device, NAME, *case, 2, 0.98, config, tmp_path)
    distances.report("falcon7b_common, logits", f"2 layers, {case[0]}", 0.99, 0.98, REPLACED)


@pytest.mark.parametrize("case", [PREFILL, DECODE], ids=["prefill", "decode"])
@pytest.mark.parametrize("part", ["mlp", "attention", "decoder"])
def test_falcon_on_eight_chips(
    part: str,
    case: tuple[str, int, int, int],
    falcon: Any,
    distances: Distances,
    t3000: ttnn.MeshDevice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    official = importlib.import_module(f"{TESTS}.test_falcon_{part}")
    distances.of(official, monkeypatch)
    mode, batch, rows, past = case
    config = official.get_model_config("BFLOAT16-DRAM", *((rows, batch) if part != "mlp" else (128, 1)))
    if part == "mlp":
        size = (1, 128) if mode == "prefill" else (1, 32)
        official.run_test_FalconMLP_inference(t3000, NAME, mode, *size, 0.98, config, tmp_path)
    else:
        run, reference, taken, more = {
            "attention": ("Attention", "PytorchFalconAttentionModel", _Attention, ()),
            "decoder": ("Decoder", "PytorchFalconDecoderModel", _Layer, (0,)),
        }[part]
        monkeypatch.setattr(official, reference, taken)
        test = getattr(official, f"run_test_Falcon{run}_inference")
        test(t3000, NAME, mode, batch, rows, past, *more, 0.98, config, tmp_path)
    distances.report(f"falcon7b_common, {part}", f"1 layer, {mode}, 8 chips", 0.999, 0.98, REPLACED)


def _with_lists(cache: Any) -> Any:
    """Return a transformers cache with older key and value lists."""
    cache.key_cache, cache.value_cache = (
        [getattr(layer, kind) for layer in cache.layers] for kind in ("keys", "values")
    )
    return cache


@pytest.mark.parametrize("place", ["BFLOAT16-DRAM", "BFLOAT16-L1"])
@pytest.mark.parametrize("case", [PREFILL, DECODE], ids=["prefill", "decode"])
@pytest.mark.parametrize("part", ["attention", "mlp", "decoder"])
def test_falcon_with_the_names_of_ttnn(
    part: str,
    case: tuple[str, int, int, int],
    place: str,
    falcon: Any,
    distances: Distances,
    opened: Callable[..., ttnn.MeshDevice],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import transformers

    official = importlib.import_module(f"models.demos.ttnn_falcon7b.tests.test_falcon_{part}")
    distances.of(official, monkeypatch)
    whole = falcon.model(transformers.FalconForCausalLM, NAME).transformer
    layer = whole.h[0]
    # Where older versions of transformers had them.
    layer.self_attention.rotary_emb = whole.rotary_emb
    model = {"attention": layer.self_attention, "mlp": layer.mlp, "decoder": layer}[part]
    forward, caches = type(model).forward, []

    def with_cache(*args: Any, **kwargs: Any) -> Any:
        return forward(model, *args, **kwargs)[0], _with_lists(caches[0])

    if part != "mlp":
        made = official.create_kv_cache

        def create_kv_cache(*args: Any, **kwargs: Any) -> Any:
            result = made(*args, **kwargs)
            caches.append(result[0])
            return result

        monkeypatch.setattr(official, "create_kv_cache", create_kv_cache)
        monkeypatch.setattr(model, "forward", with_cache)
    rows = case[1:3] if part == "mlp" else case
    getattr(official, f"test_falcon_{part}")(opened(), NAME, *rows, 0.98, place, model)
    replaced = "" if part == "mlp" else REPLACED
    distances.report(f"ttnn_falcon7b, {part}", f"1 layer, {case[0]}, {place}", 0.997, 0.98, replaced)
