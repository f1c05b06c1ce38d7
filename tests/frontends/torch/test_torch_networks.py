"""Networks of model libraries on the device, with random weights."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.13")

from torch import nn

import ttnn
from frontends.torch.torch_bars import assert_close
from frontends.torch.torch_nets import NETS
from ttnn.compiler.frontends.torch import tt
from ttnn.compiler.frontends.torch.compiled import Compiled
from ttnn.compiler.frontends.torch.config import CompilerConfig
from ttnn.compiler.frontends.torch.options import BackendOptions


@pytest.fixture(scope="module", autouse=True)
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Compiled]:
    """Programs of the device that ran in a test."""
    torch._dynamo.reset()
    torch.manual_seed(5)
    ran: list[Compiled] = []
    first = Compiled.__call__

    def counted(self: Compiled, *inputs: torch.Tensor) -> Any:
        ran.append(self)
        return first(self, *inputs)

    monkeypatch.setattr(Compiled, "__call__", counted)
    return ran


@torch.no_grad()
def check(model: nn.Module, inputs: Any, programs: list[Compiled], **more: Any) -> None:
    """Compare a model on the device with PyTorch.

    Every operation has to be on the device.
    """
    model = model.eval()
    expected = model(*inputs, **more)
    options = BackendOptions(compiler_config=CompilerConfig(check_all_ops_execute=True))
    got = torch.compile(model, backend=tt, options=options)(*inputs, **more)
    assert len(programs) == 1
    assert_close(got, expected, "model")


@pytest.mark.parametrize("name", NETS)
def test_a_network_gives_what_pytorch_gives(name: str, programs: list[Compiled]) -> None:
    check(*NETS[name](), programs)


@pytest.mark.parametrize("name", ["vit_tiny", "unet_block", "mobilenet_v2"])
def test_a_network_in_bfloat16_gives_what_pytorch_gives(name: str, programs: list[Compiled]) -> None:
    model, inputs = NETS[name]()
    check(model.bfloat16(), [one.bfloat16() for one in inputs], programs)


def test_bert_of_transformers_gives_what_pytorch_gives(programs: list[Compiled]) -> None:
    """The configuration of all-MiniLM-L6-v2."""
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, vocab_size=30522
    )
    ids, mask = torch.randint(0, 30522, (2, 16)), torch.ones(2, 16, dtype=torch.int64)
    mask[1, 9:] = 0

    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = transformers.BertModel(config)

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    check(Hidden(), (ids, mask), programs)
