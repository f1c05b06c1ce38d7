"""Models of PyTorch on the device, and wrong plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.13")

from torch import nn

import ttnn
from frontends.torch.torch_bars import assert_close
from frontends.torch.torch_rows import CASES
from ttnn.compiler.frontends.torch.backend import compile_function
from ttnn.compiler.frontends.torch.compiled import Compiled
from ttnn.compiler.frontends.torch.config import CompilerConfig
from ttnn.compiler.frontends.torch.options import BackendOptions, Options


@pytest.fixture(scope="module", autouse=True)
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.norm, self.other = nn.BatchNorm2d(8), nn.BatchNorm2d(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm(self.first(x)))
        return torch.relu(x + self.other(self.second(y)))


def mlp() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 10), nn.Softmax(-1)), (torch.randn(5, 32),)


def resnet() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    stem = [nn.Conv2d(3, 8, 7, 2, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, Block(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)), (
        torch.randn(2, 3, 32, 32),
    )


def encoder() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (torch.randn(2, 7, 32),)


def lstm() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell, self.head = nn.LSTMCell(8, 16), nn.Linear(16, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            state = (x.new_zeros(x.shape[0], 16), x.new_zeros(x.shape[0], 16))
            for i in range(x.shape[1]):
                state = self.cell(x[:, i], state)
            return self.head(state[0])

    return Last(), (torch.randn(2, 5, 8),)


def bert() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(100, 48), nn.Embedding(16, 48)
            self.norm = nn.LayerNorm(48)
            self.layers = nn.ModuleList(
                nn.TransformerEncoderLayer(48, 6, 96, activation="gelu", batch_first=True) for _ in range(2)
            )

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
            for layer in self.layers:
                x = layer(x)
            weight = mask.unsqueeze(-1).to(x.dtype)
            return nn.functional.normalize((x * weight).sum(1) / weight.sum(1).clamp(min=1e-9), dim=-1)

    return Encoder(), (torch.randint(0, 100, (2, 9)), torch.ones(2, 9, dtype=torch.int64))


MODELS: dict[str, Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]] = {
    one.__name__: one for one in (mlp, resnet, encoder, lstm, bert)
}


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_what_pytorch_gives(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(5)
    torch._dynamo.reset()
    model, inputs = MODELS[name]()
    model = model.eval().to(dtype)
    inputs = tuple(one.to(dtype) if one.dtype.is_floating_point else one for one in inputs)
    expected = model(*inputs)
    options = BackendOptions(compiler_config=CompilerConfig(check_all_ops_execute=True))
    from ttnn.compiler.frontends.torch import tt

    run = torch.compile(model, backend=tt, options=options)
    got = run(*inputs)
    assert_close(got, expected, "model")
    assert torch.equal(run(*inputs), got)


@torch.no_grad()
def test_the_plan_gives_the_bits_of_the_emitted_program(device: Any, tmp_path: Any) -> None:
    """The program that is run is that which the binary's tools run."""
    from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
    from ttnn.compiler.frontends.torch.border import from_device, to_host
    from ttnn.compiler.runtime.executor import execute
    from ttnn.compiler.target.flatbuffer.binary import Binary

    torch.manual_seed(5)
    model, inputs = mlp()
    parameters = list(model.parameters())
    names = [name for name, _ in model.named_parameters()]

    def call(x: torch.Tensor, *values: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, dict(zip(names, values, strict=True)), (x,))

    kinds = ["input", *["parameter"] * len(parameters)]
    run = compile_function(call, [*inputs, *parameters], kinds, Options(device=device))
    got = run(*inputs, *parameters)
    (compiled,) = run.programs
    loaded = Binary.parse(compiled.plan.binary.to_bytes())
    (program,) = [one for one in programs(loaded) if one.name == "main"]
    given = [to_host(one.detach(), "input") for one in (*inputs, *parameters)]
    (found,) = execute(program, given, device)
    assert torch.equal(from_device(found, got.dtype, tuple(got.shape)), got)


_CONTROLS = ("mm", "linear", "conv2d", "softmax", "layer_norm", "add_broadcast", "where", "cat", "tanh", "sum_dim",
             "attention", "permute", "index_1", "div", "gt", "embedding", "avg_pool2d", "cumsum", "batch_norm",
             "max_dim", "mul", "addmm")  # fmt: skip


@torch.no_grad()
@pytest.mark.parametrize("wrong", ["zeros", "inputs", "swapped", "no_broadcast"])
def test_wrong_plans_fail(wrong: str, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Compiled.__call__

    def broken(self: Any, *inputs: torch.Tensor) -> Any:
        if wrong == "swapped":
            return first(self, *inputs[:-2], *inputs[:-3:-1]) if len(inputs) > 1 else first(self, -inputs[0])
        results = first(self, *inputs)
        if wrong == "zeros":
            return tuple(torch.zeros_like(one) for one in results)
        flat = torch.cat([one.flatten().float() for one in inputs])
        return tuple(
            flat.repeat(one.numel() // flat.numel() + 1)[: one.numel()].reshape(one.shape).to(one.dtype)
            for one in results
        )

    names = list(_CONTROLS)
    if wrong == "no_broadcast":
        from ttnn.compiler.importers.fx.scope import Scope

        names = ["add_broadcast_where", "expand", "repeat_interleave", "nearest", "attention_groups"]
        names = [one for one in names if one in CASES]

        def dropped(self: Any, value: Any, shape: Any, dims: Any = None) -> Any:
            return value

        monkeypatch.setattr(Scope, "broadcast", dropped)
    else:
        monkeypatch.setattr(Compiled, "__call__", broken)
    failed = 0
    for name in names:
        case = CASES[name]
        try:
            run = compile_function(case.on_copies, case.inputs, ["input"] * len(case.inputs), Options(device=device))
            assert_close(run(*case.inputs), case.function(*case.inputs), case.level)
        except (AssertionError, RuntimeError):
            failed += 1
    assert failed > 0.9 * len(names), f"{failed} of {len(names)} fail"
