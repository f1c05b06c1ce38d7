"""ViT, functional and sharded, and ResNet-50."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ttnn
from testkit.official_ports import Distances

VIT = "models.demos.vision.classification.vit"
RESNET = "models.demos.vision.classification.resnet50.ttnn_resnet"


def _vit(layers: int) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.ViTConfig(num_hidden_layers=layers, num_labels=1000)
    config._attn_implementation = "eager"
    return transformers.ViTForImageClassification(config).eval()


def _pixels(images: Any) -> Any:
    """Return images with the channels last, and a fourth one."""
    import torch

    return torch.nn.functional.pad(images.permute(0, 2, 3, 1), (0, 1))


def _embeddings(model: Any, batch: int, layout: ttnn.Layout, dtype: ttnn.DataType, device: Any) -> list[ttnn.Tensor]:
    weights = model.state_dict()
    token, positions = (
        weights[f"vit.embeddings.{name}"].expand(batch, -1, -1) for name in ("cls_token", "position_embeddings")
    )
    return [
        ttnn.from_torch(token, dtype=ttnn.bfloat16, layout=layout, device=device),
        ttnn.from_torch(positions, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device),
    ]


def test_vit_functional(ports: Path, distances: Distances, opened: Callable[..., ttnn.MeshDevice]) -> None:
    import torch

    from ttnn.model_preprocessing import preprocess_model_parameters

    port = importlib.import_module(f"{VIT}.common.tt.ttnn_functional_vit")
    device, batch = opened(l1_small_size=32768), 2
    model = _vit(2)
    images = torch.rand(batch, 3, 224, 224) * 2 - 1
    expected = model(images).logits
    model = model.to(torch.bfloat16)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, device=device, custom_preprocessor=port.custom_preprocessor
    )
    embeddings = _embeddings(model, batch, ttnn.TILE_LAYOUT, ttnn.bfloat16, device)
    pixels = ttnn.from_torch(_pixels(images), dtype=ttnn.bfloat16, device=device)
    output = ttnn.to_torch(port.vit(model.config, pixels, None, *embeddings, parameters=parameters))
    distances.take(expected, output.reshape(batch, -1, output.shape[-1])[:, 0, :1000])
    distances.report("vit/common/tt/ttnn_functional_vit", "base, 2 layers, 2 images", 0.998, 0.9806)


def test_vit_sharded(ports: Path, distances: Distances, opened: Callable[..., ttnn.MeshDevice]) -> None:
    import torch

    from ttnn.model_preprocessing import preprocess_model_parameters

    port = importlib.import_module(f"{VIT}.wormhole.tt.ttnn_optimized_sharded_vit_wh")
    device, batch = opened(l1_small_size=32768), 8
    model = _vit(2)
    images = torch.rand(batch, 3, 224, 224) * 2 - 1
    expected = model(images).logits
    config = port.update_model_config(model.config, batch)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, device=device, custom_preprocessor=port.custom_preprocessor
    )
    embeddings = _embeddings(model, batch, ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat8_b, device)
    pixels = _pixels(images).reshape(batch, 224, 14, 64)
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 1))})
    rows = ttnn.ShardSpec(cores, [batch * 224 * 14 // 16, 64], ttnn.ShardOrientation.ROW_MAJOR)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, rows)
    there = ttnn.from_torch(pixels, dtype=ttnn.bfloat16, device=device, memory_config=place)
    output = ttnn.to_torch(port.vit(config, there, *embeddings, parameters=parameters))
    distances.take(expected, output[:, 0, :1000])
    distances.report("vit/wormhole/tt/ttnn_optimized_sharded_vit_wh", "base, 2 layers, 8 images", 0.99, 0.879)


def _torchvision(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return torchvision.

    Its compiled operators, which the model does not use, may belong to another torch.
    """
    import torch

    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("not installed: torchvision")
    register = torch.library.register_fake

    def registered(name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return register(name, *args, **kwargs)
        except RuntimeError:
            return lambda function: function

    def register_fake(name: str, *args: Any, **kwargs: Any) -> Any:
        if not name.startswith("torchvision::"):
            return register(name, *args, **kwargs)

        def known(function: Any) -> Any:
            try:
                return register(name, *args, **kwargs)(function)
            except RuntimeError:
                return function

        return known

    monkeypatch.setattr(torch.library, "register_fake", register_fake)
    return importlib.import_module("torchvision")


@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi2"])
def test_resnet50(
    fidelity: str,
    ports: Path,
    distances: Distances,
    opened: Callable[..., ttnn.MeshDevice],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _torchvision(monkeypatch)
    infra = importlib.import_module(f"{RESNET}.tests.common.resnet50_test_infra")
    official = importlib.import_module(
        "models.demos.vision.classification.resnet50.wormhole.tests.test_resnet50_functional"
    )
    distances.of(infra, monkeypatch)
    device, named = opened(l1_small_size=24576), ttnn.MathFidelity[fidelity]
    official.run_resnet_50(device, 16, ttnn.bfloat8_b, ttnn.bfloat8_b, named, False, None)
    distances.report("resnet50/ttnn_resnet", f"50 layers, 16 images, {fidelity}", 0.995, 0.98)
