"""`torch.compile` on the device: what programs return, change and refuse."""

from __future__ import annotations

import copy
import math
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.13")

from torch import nn
from torch.nn import functional as F  # noqa: N812

import ttnn
from frontends.torch.torch_bars import assert_close
from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.compiler.frontends.torch import BackendOptions, tt
from ttnn.compiler.frontends.torch.backend import compile_function
from ttnn.compiler.frontends.torch.compiled import Compiled
from ttnn.compiler.frontends.torch.config import CompileDepth, CompilerConfig
from ttnn.compiler.frontends.torch.options import Options, options_of
from ttnn.compiler.frontends.torch.versions import check_version


@pytest.fixture(scope="module", autouse=True)
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(3)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Programs of the device that are compiled in a test."""
    made: list[Any] = []
    first = Compiled.__init__

    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        first(self, *args, **kwargs)
        made.append(self)

    monkeypatch.setattr(Compiled, "__init__", counted)
    return made


def counted_copies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the tensors that are copied to the device."""
    from ttnn.compiler.frontends.torch import border

    copies: list[str] = []
    first = border.to_host
    whole = border.Given.place

    def placed(self: Any, *given: Any) -> Any:
        before = len(copies)
        made = whole(self, *given)
        if len(copies) == before:
            copies.append(self._name)
        return made

    monkeypatch.setattr(border, "to_host", lambda value, name: (copies.append(name), first(value, name))[1])
    monkeypatch.setattr(border.Given, "place", placed)
    return copies


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> Any:
        self.calls.add_(1)
        return self.linear(x), x, None, 3, x


@torch.no_grad()
def test_results_keep_their_structure_and_buffers_change(compilations: list[Any]) -> None:
    model, x = Counter(), torch.randn(3, 8)
    expected = copy.deepcopy(model)(x)
    run = torch.compile(model, backend=tt)
    for calls in (1, 2, 3):
        got = run(x)
        assert model.calls.item() == calls
        assert got[2] is None
        assert got[3] == 3
        assert got[1] is x
        assert got[4] is x
        assert_close(got[0], expected[0], "product")
    assert len(compilations) == 1
    assert compilations[0].runs == 3


@torch.no_grad()
def test_inputs_that_are_written_to_change() -> None:
    def change(x: torch.Tensor) -> torch.Tensor:
        x[0] = 7.0
        return x.add_(1)

    given, wanted = torch.randn(3, 4), None
    wanted = given.clone()
    result = torch.compile(change, backend=tt)(given)
    assert_close(result, change(wanted), "element")
    assert_close(given, wanted, "element")


@torch.no_grad()
def test_a_cache_that_is_written_to_is_not_copied_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("cache", torch.zeros(4, 8))

        def forward(self, row: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
            self.cache[place] = row
            return self.cache.sum(0)

    copies, model = counted_copies(monkeypatch), Decoder()
    reference, run = copy.deepcopy(model), torch.compile(model, backend=tt)
    for step in range(4):
        row, place = torch.randn(1, 8), torch.tensor([step])
        copies.clear()
        assert_close(run(row, place), reference(row, place), "product")
        assert_close(model.cache, reference.cache, "element")
        assert len(copies) == (3 if not step else 2)
    model.cache.mul_(2)
    reference.cache.mul_(2)
    assert_close(run(row, place), reference(row, place), "product")


@torch.no_grad()
def test_a_graph_that_writes_to_shared_memory_runs_on_the_host() -> None:
    def change(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y * 2

    memory = torch.arange(8.0)
    with pytest.warns(UserWarning, match="the graph runs on the host: arguments 0 and 1 share memory"):
        got = torch.compile(change, backend=tt)(memory[:5], memory[3:])
    assert torch.equal(memory, torch.tensor([1.0, 2, 3, 4, 5, 5, 6, 7]))
    assert torch.equal(got, torch.tensor([8.0, 10, 10, 12, 14]))
    strict = BackendOptions(compiler_config=CompilerConfig(check_all_ops_execute=True))
    torch._dynamo.reset()
    with pytest.raises(UnsupportedError, match="arguments 0 and 1 share memory"):
        torch.compile(change, backend=tt, options=strict)(memory[:5], memory[3:])
    torch._dynamo.reset()
    # Neighbours in one memory are apart.
    assert torch.equal(torch.compile(change, backend=tt)(memory[:5], memory[5:]), memory[5:] * 2)


@torch.no_grad()
def test_results_share_the_memory_of_inputs_and_of_each_other() -> None:
    def parts(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x + 1
        return x.add_(1), x[1:, 2], x.t(), y, y

    given = torch.arange(12.0).view(3, 4)
    first, column, turned, sum_, again = torch.compile(parts, backend=tt)(given)
    assert first is given
    assert again is sum_
    assert torch.equal(given, torch.arange(1.0, 13).view(3, 4))
    column.zero_()
    turned[0] = -1.0
    assert torch.equal(given, torch.tensor([[-1.0, 2, 3, 4], [-1, 6, 0, 8], [-1, 10, 0, 12]]))
    assert torch.equal(sum_, torch.arange(1.0, 13).view(3, 4))


@torch.no_grad()
def test_special_values_are_those_of_the_chip() -> None:
    """The differences that docs/frontends.md states."""

    def special(x: torch.Tensor, one: torch.Tensor) -> tuple[torch.Tensor, ...]:
        largest, least = torch.maximum(x, one), torch.minimum(x, one)
        return largest, least, x.clamp(-1, 1), x.sigmoid(), x.reciprocal(), x.erf(), x.sign(), x + one

    run = torch.compile(special, backend=tt)
    found = [one.item() for one in run(torch.tensor([math.nan]), torch.ones(1))]
    assert math.isnan(found[0])
    assert found[1:-1] == [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    assert math.isnan(found[-1])
    assert run(torch.tensor([1e-39]), torch.ones(1))[1].item() == 0.0
    rest = torch.compile(lambda x, y: x % y, backend=tt)(torch.tensor([1e9, 5e6]), torch.tensor([1.0, 3.0]))
    assert math.isnan(rest[0])
    assert rest[1] == 5e6 % 3


@torch.no_grad()
def test_numbers_beyond_32_bits_beside_integers_go_to_the_host() -> None:
    def far(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        wide = torch.full((3,), 2**40), x.clamp(-(2**40), 3), x.masked_fill(x > 0, 2**40), torch.where(x > 0, x, 2**40)
        return x < 2**40, x == 2**32, x + 2**31, x % 2**33, x // 2**40, *wide, x + wide[0]

    x = torch.tensor([0, 5, -(2**31)])
    with pytest.warns(UserWarning, match="on the host"):
        got = torch.compile(far, backend=tt)(x)
    assert_close(got, far(x), "exact")


@torch.no_grad()
def test_parameters_are_copied_to_the_device_once_and_again_when_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = counted_copies(monkeypatch)
    model, x = nn.Linear(8, 4), torch.randn(3, 8)
    run = torch.compile(model, backend=tt)
    run(x)
    assert len(copies) == 3
    run(x)
    assert len(copies) == 4
    model.weight.mul_(2)
    assert_close(run(x), model(x), "product")
    assert len(copies) == 6
    model.weight = nn.Parameter(torch.randn(4, 8))
    assert_close(run(x), model(x), "product")


@torch.no_grad()
def test_programs_share_the_copy_of_a_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = counted_copies(monkeypatch)
    layer, x = nn.Linear(8, 4), torch.randn(3, 8)
    plain, bent = torch.compile(layer, backend=tt), torch.compile(nn.Sequential(layer, nn.Tanh()), backend=tt)
    assert_close(plain(x), layer(x), "product")
    assert_close(bent(x), torch.tanh(layer(x)), "product")
    # Weight and bias once, the input for each program.
    assert len(copies) == 4


@torch.no_grad()
def test_another_shape_compiles_again_and_a_marked_one_is_refused(compilations: list[Any]) -> None:
    run = torch.compile(lambda x: torch.relu(x) + 1, backend=tt)
    for rows in (3, 5, 6, 3):
        x = torch.randn(rows, 4)
        assert_close(run(x), torch.relu(x) + 1, "element")
    assert len(compilations) == 3
    x = torch.randn(9, 4)
    torch._dynamo.mark_dynamic(x, 0)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=r"dynamic shape: argument .* has dimension 0 = "):
        torch.compile(lambda x: torch.relu(x) * 3, backend=tt)(x)


@torch.no_grad()
def test_numbers_are_bound(compilations: list[Any]) -> None:
    run = torch.compile(lambda x, n: x * n + x.shape[0], backend=tt, dynamic=True)
    for n in (2, 5, 2):
        assert_close(run(torch.ones(3, 4), n), torch.ones(3, 4) * n + 3, "element")


@torch.no_grad()
def test_graph_breaks_make_several_programs(compilations: list[Any]) -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        if y.sum() > 0:
            y = y + 1
        return y * 2

    x = torch.randn(4, 8)
    assert_close(torch.compile(broken, backend=tt)(x), broken(x), "element")
    assert len(compilations) == 2


def test_tensors_between_programs_stay_on_the_device(compilations: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(x: torch.Tensor, change: bool) -> torch.Tensor:
        y = torch.relu(x)
        torch._dynamo.graph_break()
        if change:
            y.add_(1)
        torch._dynamo.graph_break()
        return y * 2

    copies, x = counted_copies(monkeypatch), torch.randn(4, 8)
    for change, count in ((False, 1), (True, 3)):
        run = torch.compile(broken, backend=tt)
        with torch.no_grad():
            for _ in range(2):
                copies.clear()
                assert_close(run(x, change), broken(x, change), "element")
                assert len(copies) <= count
    assert len(compilations) > 2


def test_saved_tensors_stay_on_the_device(compilations: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from ttnn.compiler.frontends.torch import border

    read: list[Any] = []
    first = border.from_device
    monkeypatch.setattr(border, "from_device", lambda *given: (read.append(given), first(*given))[1])
    copies = counted_copies(monkeypatch)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 4))
    reference, x = copy.deepcopy(model), torch.randn(3, 8)
    run = torch.compile(model, backend=tt)
    for step in range(3):
        read.clear()
        copies.clear()
        run(x).square().sum().backward()
        reference(x).square().sum().backward()
        if step:
            # Forward's result, six gradients; the input and the gradient of the result.
            assert len(read) == 7
            assert len(copies) == 2
    for one, other in zip(model.parameters(), reference.parameters(), strict=True):
        assert_close(one.grad, other.grad, "gradient")
        one.grad = other.grad = None
    with torch.autograd.graph.save_on_cpu():
        run(x).square().sum().backward()
    reference(x).square().sum().backward()
    for one, other in zip(model.parameters(), reference.parameters(), strict=True):
        assert_close(one.grad, other.grad, "gradient")
    assert len(compilations) == 2


@torch.no_grad()
def test_an_operation_without_row_runs_on_the_host_with_one_warning(compilations: list[Any]) -> None:
    def mixed(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.cholesky(x @ x.T + 4 * torch.eye(4)) * 2 + 1

    x = torch.randn(4, 4)
    text = r"aten.linalg_cholesky\S*default runs on the host \(no TTIR operation\); \d+ of \d+ nodes on the device"
    with pytest.warns(UserWarning, match=text) as seen:
        got = torch.compile(mixed, backend=tt)(x)
    assert len(seen) == 1
    assert_close(got, mixed(x), "product")
    assert len(compilations) == 2
    strict = BackendOptions(compiler_config=CompilerConfig(check_all_ops_execute=True))
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=r"aten.linalg_cholesky\S*default has no TTIR"):
        torch.compile(mixed, backend=tt, options=strict)(x)


@torch.no_grad()
def test_random_numbers_are_those_of_pytorch() -> None:
    def noisy(x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(3, 4)

    x = torch.randn(3, 4)
    torch.manual_seed(11)
    expected = noisy(x)
    torch.manual_seed(11)
    assert_close(torch.compile(noisy, backend=tt)(x), expected, "element")


def test_unknown_options_are_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=r'option "math_fidelty" is unknown; known: backend, .*math_fidelity'):
        options_of({"math_fidelty": "hifi4"})
    with pytest.raises(ParameterError, match='option "math_fidelity": expected one of lofi'):
        options_of({"math_fidelity": "best"})
    with pytest.raises(ParameterError, match=r"expected a dictionary, BackendOptions or TorchTtnnOption, got int"):
        options_of(3)
    with pytest.raises(UnsupportedError, match="2 devices asked"):
        options_of(BackendOptions(devices=[1, 2]))
    assert options_of({"enable_trace": True, "tt_legacy_compile": True}).device is None


def test_other_versions_of_torch_are_refused() -> None:
    check_version()
    with pytest.raises(UnsupportedError, match=r"torch 2.9 is installed; the front end needs torch >=2.13,<2.14"):
        check_version("2.9.1+cpu")


def test_the_environment_goes_before_what_is_set() -> None:
    found = CompilerConfig().with_environment({"TT_TORCH_COMPILE_DEPTH": "TTNN_IR", "TT_TORCH_SAVE_MLIR": "TTIR"})
    assert found.compile_depth is CompileDepth.TTNN_IR
    assert found.save_mlir_override == ("TTIR",)
    with pytest.raises(ParameterError, match="TT_TORCH_COMPILE_DEPTH: 'DEEP' is no value of it"):
        CompilerConfig().with_environment({"TT_TORCH_COMPILE_DEPTH": "DEEP"})


def test_values_beyond_32_bits_are_refused(device: Any) -> None:
    run = compile_function(lambda x: x + 1, [torch.zeros(2, dtype=torch.int64)], ["input"], Options(device=device))
    with pytest.raises(UnsupportedError, match="8589934592 does not fit 32 bits"):
        run(torch.tensor([1, 1 << 33]))
    with pytest.raises(UnsupportedError, match="complex64"):
        compile_function(lambda x: x + 1, [torch.zeros(2, dtype=torch.complex64)], ["input"], Options(device=device))


@torch.no_grad()
def test_a_wrong_index_is_refused_with_the_name_of_the_operation() -> None:
    run = torch.compile(lambda i, table: F.embedding(i, table), backend=tt)
    with pytest.raises(ParameterError, match=r"operation \d+ \(embedding\): .*the index 5, the table 4 rows"):
        run(torch.tensor([1, 5]), torch.randn(4, 3))
    assert run(torch.tensor([1, 3]), torch.randn(4, 3)).shape == (2, 3)


@torch.no_grad()
def test_depths_below_execution_return_results_of_pytorch(tmp_path: Path, compilations: list[Any]) -> None:
    import json

    model, x = nn.Sequential(nn.Linear(8, 4), nn.ReLU()), torch.randn(3, 8)
    config = CompilerConfig(
        compile_depth=CompileDepth.EXECUTE_OP_BY_OP, results_path=f"{tmp_path}/", model_name="two layers"
    )
    got = torch.compile(model, backend=tt, options=BackendOptions(compiler_config=config))(x)
    assert torch.equal(got, model(x))
    rows = json.loads((tmp_path / "two_layers_unique_ops.json").read_text())
    assert [(one["torch_name"], one["compilation_status"]) for one in rows.values()] == [
        ("aten.linear.default", 7),
        ("aten.relu.default", 7),
    ]
    assert all(one["pcc"] > 0.999 for one in rows.values())
    assert len(compilations) == 2
    torch._dynamo.reset()
    config = CompilerConfig(
        compile_depth=CompileDepth.TTNN_IR, save_mlir_override=("TTIR",), output_mlir_dir=str(tmp_path), model_name="m"
    )
    got = torch.compile(model, backend=tt, options=BackendOptions(compiler_config=config))(x)
    assert torch.equal(got, model(x))
    assert "ttir.linear" in (tmp_path / "m_ttir.mlir").read_text()


@torch.no_grad()
def test_an_exported_program_runs() -> None:
    from ttnn.compiler.frontends.torch.exported import compile_exported

    model, x = nn.Sequential(nn.Linear(8, 4), nn.GELU()).eval(), torch.randn(3, 8)
    run = compile_exported(torch.export.export(model, (x,)))
    assert_close(run(x), model(x), "product")


def test_the_names_of_the_entry_points_lead_to_backends() -> None:
    tomllib = pytest.importorskip("tomllib")
    from importlib import import_module

    path = Path(__file__).resolve().parents[3] / "pyproject.toml"
    found = tomllib.loads(path.read_text())["project"]["entry-points"]["torch_dynamo_backends"]
    assert set(found) == {"tt", "tt-legacy", "tt-experimental", "ttnn"}
    for target in found.values():
        module, _, name = target.partition(":")
        assert callable(getattr(import_module(module), name))


def test_import_ttnn_does_not_import_torch() -> None:
    import subprocess
    import sys

    code = "import sys, ttnn; print([name for name in ('torch', 'jax', 'onnx') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("make", ["mlp", "cnn"])
def test_training_follows_pytorch(make: str) -> None:
    def cnn() -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4),
        )  # fmt: skip

    def mlp() -> nn.Module:
        return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))

    model = {"mlp": mlp, "cnn": cnn}[make]()
    reference = copy.deepcopy(model)
    x = torch.randn(8, 16) if make == "mlp" else torch.randn(8, 1, 9, 9)
    y = torch.randint(0, 4, (8,))
    run = torch.compile(model, backend=tt)
    steps = [torch.optim.SGD(one.parameters(), 0.1) for one in (model, reference)]
    losses: list[tuple[float, float]] = []
    for number in range(20):
        both = [F.cross_entropy(one(x), y) for one in (run, reference)]
        for loss, step in zip(both, steps, strict=True):
            step.zero_grad()
            loss.backward()
        if number == 0:
            for one, other in zip(model.parameters(), reference.parameters(), strict=True):
                # A bias before batch normalisation has no gradient but rounding.
                if float(other.grad.norm()) > 1e-5:
                    assert_close(one.grad, other.grad, "gradient")
        for step in steps:
            step.step()
        losses.append((both[0].item(), both[1].item()))
    assert all(abs(a - b) < 0.02 for a, b in losses)
    assert losses[-1][0] < losses[0][0]
    if make == "cnn":
        assert_close(model[1].running_var, reference[1].running_var, "product")


def test_no_warning_of_ours_without_reason() -> None:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        torch.compile(torch.relu, backend=tt)(torch.randn(3))


@torch.no_grad()
def test_branches_and_loops_are_part_of_programs(compilations: list[Any]) -> None:
    from torch._higher_order_ops.while_loop import while_loop

    def branch(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos(), (x,))

    def counted(x: torch.Tensor) -> Any:
        def body(i: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return i + 1, torch.cond(x.sum() > 3, lambda a: a * 0.5, lambda a: a + 2, (x,))

        return while_loop(lambda i, x: i < 3, body, (torch.zeros((), dtype=torch.int64), x))

    for function in (branch, counted):
        run = torch.compile(function, backend=tt)
        for x in (torch.rand(3), -torch.rand(3), torch.rand(3) + 2):
            assert_close(run(x), function(x), "element")
    assert len(compilations) == 2


@torch.no_grad()
def test_the_body_of_a_loop_is_compiled_once(compilations: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._higher_order_ops.while_loop import while_loop

    def grown(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return while_loop(lambda x: x.sum() < 100, lambda x: (x * 2 + weight.relu(),), (x,))[0] + 1

    copies, x, weight = counted_copies(monkeypatch), torch.rand(3), torch.rand(3)
    strict = BackendOptions(compiler_config=CompilerConfig(check_all_ops_execute=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = torch.compile(grown, backend=tt, options=strict)
        assert_close(run(x, weight), grown(x, weight), "element")
    assert len(compilations) == 3
    assert sorted(one.runs for one in compilations)[1] >= 5
    # What is carried stays on the device.
    assert len(copies) <= 4


class _Recurrent(nn.Module):
    def __init__(self, layers: int, both: bool) -> None:
        super().__init__()
        self.cell = nn.LSTM(5, 7, num_layers=layers, bidirectional=both, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.cell(x)[0]


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Linear(6, 6)

    def forward(self, x: Any) -> Any:
        y = self.rows(x)
        return F.scaled_dot_product_attention(y, y, y, is_causal=True)


@pytest.mark.parametrize(
    ("make", "size", "training"),
    [
        (_Attention, (2, 4, 6, 6), True),
        (_Attention, (2, 4, 1, 6), True),
        (lambda: _Recurrent(1, False), (3, 6, 5), True),
        (lambda: _Recurrent(2, True), (3, 6, 5), True),
        (lambda: nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU()), (4, 8), False),
    ],
    ids=["attention", "attention of one token", "lstm", "two layers in both directions", "norm in evaluation"],
)
@pytest.mark.filterwarnings("error:.*oneDNN")
def test_gradients_of_layers_that_pytorch_fuses(make: Any, size: tuple[int, ...], training: bool) -> None:
    torch.manual_seed(1)
    enabled, reference = torch.backends.mkldnn.enabled, make().train(training)
    model, x = copy.deepcopy(reference), torch.randn(size)
    run = torch.compile(model, backend=tt)
    run(x).square().sum().backward()
    reference(x).square().sum().backward()
    assert torch.backends.mkldnn.enabled == enabled
    for got, want in zip(model.parameters(), reference.parameters(), strict=True):
        assert_close(got.grad, want.grad, "gradient")
