"""`forge.compile`.

Modules of PyTorch, ONNX models, functions of jax, and modules written with `forge.op`.
"""

from __future__ import annotations

import copy
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.13")

from torch import nn

import forge
import ttnn
from forge.config import CompileDepth, CompilerConfig, MLIRConfig
from forge.tensor import to_forge_tensors, to_pt_tensors
from forge.verify.compare import compare_with_golden
from forge.verify.config import VerifyConfig
from forge.verify.value_checkers import AllCloseValueChecker, AutomaticValueChecker, FullValueChecker
from forge.verify.verify import verify
from ttnn.base.exceptions import FileFormatError, ParameterError, UnsupportedError


@pytest.fixture(scope="module", autouse=True)
def device():
    with ttnn.manage_device(device_id=0) as opened:
        yield opened


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(5)
    torch._dynamo.reset()


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 4)
        self.factor = torch.rand(1, 1)

    def forward(self, x: Any) -> Any:
        return self.second(torch.relu(self.first(x))) * self.factor


def test_modules_of_torch_return_lists_of_tensors() -> None:
    model, x = Network(), torch.randn(3, 16)
    compiled = forge.compile(model, [x])
    found = compiled(x)
    assert isinstance(found, list)
    assert not compiled.training()
    wanted, again = verify([x], model, compiled, VerifyConfig(value_checker=FullValueChecker(rtol=1e-2, atol=1e-2)))
    assert torch.equal(again[0], found[0])
    assert wanted[0].shape == (3, 4)
    assert "program of the device" in compiled.describe()
    assert [one.kind for one in compiled.plans[0].inputs][:4] == ["parameter"] * 4


def test_changed_parameters_change_the_results() -> None:
    model, x = Network(), torch.randn(3, 16)
    compiled = forge.compile(forge.PyTorchModule("network", model), [x])
    before = compiled(x)[0]
    with torch.no_grad():
        model.second.bias += 1
    assert not torch.equal(compiled(x)[0], before)
    verify([x], model, compiled)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_steps_of_optimizers_are_those_of_torch(name: str) -> None:
    model = Network()
    reference, x = copy.deepcopy(model), torch.randn(8, 16)
    rate = 0.05
    theirs = getattr(torch.optim, name)(reference.parameters(), lr=rate)
    ours = getattr(forge.optimizers, name)(learning_rate=rate)
    compiled = forge.compile(model, [x], optimizer=ours)
    for _ in range(3):
        for run, module, step in ((compiled, model, compiled.step), (reference, reference, theirs.step)):
            module.zero_grad()
            made = run(x)
            output = made[0] if isinstance(made, list) else made
            (output**2).mean().backward()
            if isinstance(made, list):
                compiled.backward()
            step()
    for one, other in zip(model.parameters(), reference.parameters(), strict=True):
        assert float((one - other).detach().abs().max()) <= 2e-2 * float(other.detach().abs().max())
        assert compare_with_golden(other, one, pcc=0.99)
    verify([x], model, compiled, with_backward=True)


def test_gradients_that_are_wrong_fail_verification(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = Network(), torch.randn(8, 16)
    compiled = forge.compile(model, [x], training=True)
    verify([x], model, compiled, with_backward=True)
    first = compiled.backward

    def turned() -> Any:
        found = first()
        for one in model.parameters():
            one.grad = -one.grad
        return found

    monkeypatch.setattr(compiled, "backward", turned)
    with pytest.raises(ValueError, match="Data mismatch"):
        verify([x], model, compiled, with_backward=True)


@pytest.mark.parametrize("change", [torch.zeros_like, lambda one: one[..., :-1], lambda one: one.to(torch.bfloat16)])
def test_outputs_that_are_wrong_fail_verification(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = Network(), torch.randn(3, 16)
    compiled = forge.compile(model, [x])
    first = compiled._run
    monkeypatch.setattr(compiled, "_run", lambda *args: change(first(*args)))
    with pytest.raises(ValueError, match="mismatch"):
        verify([x], model, compiled)


def test_checkers() -> None:
    x = torch.linspace(-1, 1, 100)
    AutomaticValueChecker().check(x, x + 0.3)
    with pytest.raises(ValueError, match="Data mismatch"):
        AutomaticValueChecker().check(x, -x)
    with pytest.raises(ValueError, match="Data mismatch"):
        AutomaticValueChecker().check(torch.tensor([1.0]), torch.tensor([1.1]))
    with pytest.raises(ValueError, match="Data mismatch"):
        AutomaticValueChecker().check(x > 0, x > 0.5)
    with pytest.raises(ValueError, match="all_close"):
        FullValueChecker().check(x, x + 0.3)
    with pytest.raises(AssertionError, match="floats"):
        AllCloseValueChecker().check(torch.tensor([1]), torch.tensor([1]))


class Written(forge.ForgeModule):
    """A module written with `forge.op`."""

    def __init__(self) -> None:
        super().__init__("written")
        self.weight = forge.Parameter(torch.randn(32, 8))

    def forward(self, x: Any, y: Any) -> Any:
        total = forge.op.Add("", x, y)
        gate = forge.op.Sigmoid("", forge.op.Matmul("", total, self.weight))
        return forge.op.ReduceSum("", gate, dim=-1), forge.op.Softmax("", gate, dim=-1)


def test_modules_of_forge() -> None:
    model = Written()
    inputs = to_forge_tensors([torch.randn(1, 4, 32), torch.randn(1, 4, 32)])
    golden = model(*inputs)
    compiled = forge.compile(model, sample_inputs=inputs)
    for one, other in zip(golden, compiled(*to_pt_tensors(inputs)), strict=True):
        AutomaticValueChecker(pcc=0.999).check(one.to_pytorch(), other)
    assert [one.get_name() for one in model.get_parameters()] == ["weight"]


def unary_cases() -> dict[str, Any]:
    x = torch.rand(2, 4, 8, 8) + 0.5
    weight = torch.rand(3, 4, 3, 3)
    table = torch.rand(10, 6)
    one = torch.rand(8)
    return {
        "Abs": ((x,), {}),
        "AvgPool2d": ((x,), {"kernel_size": 2, "stride": 2, "padding": 0}),
        "Broadcast": ((torch.rand(2, 1, 8),), {"dim": 1, "shape": 5}),
        "Clip": ((x,), {"min": 0.7, "max": 0.9}),
        "Concatenate": ((x, x), {"axis": 1}),
        "ConstantPad": ((x,), {"padding": [0, 0, 0, 0, 1, 2, 3, 0], "value": 0.25}),
        "Conv2d": ((x, weight), {"padding": "same"}),
        "Embedding": ((torch.tensor([[1, 9], [0, 3]]), table), {}),
        "FillCache": ((torch.zeros(2, 1, 6, 8), torch.rand(2, 1, 3, 8)), {}),
        "Gelu": ((x,), {}),
        "Index": ((x,), {"dim": 2, "start": 1, "stop": 7, "stride": 2}),
        "Layernorm": ((x, one, one), {}),
        "LeakyRelu": ((x - 1,), {"alpha": 0.1}),
        "MaxPool2d": ((x,), {"kernel_size": 2, "stride": 2, "padding": 0}),
        "Power": ((x, x), {}),
        "ReduceAvg": ((x,), {"dim": -2}),
        "RepeatInterleave": ((x,), {"repeats": 2, "dim": 1}),
        "Resize2d": ((x,), {"sizes": (16, 16), "mode": "bilinear"}),
        "Select": ((x,), {"dim": -1, "index": (0, 2), "stride": 4}),
        "Transpose": ((x,), {"dim0": 1, "dim1": 2}),
        "UpdateCache": ((torch.zeros(2, 1, 6, 8), torch.rand(2, 1, 1, 8)), {"update_index": 4}),
        "Upsample2d": ((x,), {"scale_factor": 2}),
        "Where": ((x > 1, x, -x), {}),
    }


@pytest.mark.parametrize("name", sorted(unary_cases()))
def test_operations_of_forge_on_the_device(name: str) -> None:
    operands, options = unary_cases()[name]

    class One(forge.ForgeModule):
        def forward(self, *args: Any) -> Any:
            return getattr(forge.op, name)("", *args, **options)

    model = One("one")
    compiled = forge.compile(model, sample_inputs=list(operands))
    verify(list(operands), model, compiled, VerifyConfig(value_checker=AutomaticValueChecker(pcc=0.999)))


def test_losses_of_forge() -> None:
    predictions, labels = torch.randn(4, 5), torch.randn(4, 5)
    found = forge.op.loss.MSELoss("mse")(predictions, labels)
    assert torch.equal(found.value(), nn.functional.mse_loss(predictions, labels))


def test_names_that_are_not_there_are_listed() -> None:
    with pytest.raises(AttributeError, match=r"forge\.op has no Foo; it has Abs"):
        _ = forge.op.Foo
    with pytest.raises(ParameterError, match="the first argument is a name"):
        forge.op.Abs(torch.ones(2))
    with pytest.raises(ParameterError, match="expected one of Float32"):
        forge.DataFormat.from_json("float8")


@pytest.mark.skipif(find_spec("onnx") is None, reason="needs onnx")
def test_onnx_models_and_files(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 32]) for name in ("a", "b", "y")]
    nodes = [helper.make_node("Exp", ["b"], ["e"]), helper.make_node("Add", ["a", "e"], ["y"])]
    graph = helper.make_graph(nodes, "g", infos[:2], infos[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    inputs = [torch.rand(2, 32), torch.rand(2, 32)]
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    module = forge.OnnxModule("add", model)
    for source in (model, module, str(path), forge.OnnxModule("add", model, str(path))):
        verify(inputs, module, forge.compile(source, inputs))


@pytest.mark.skipif(find_spec("jax") is None, reason="needs jax")
def test_functions_of_jax() -> None:
    import jax.numpy as jnp

    def function(x: Any, y: Any) -> Any:
        return jnp.tanh(x) @ y, {"sum": x.sum()}

    inputs = [torch.rand(4, 8), torch.rand(8, 3)]
    verify(inputs, forge.JaxModule("f", function), forge.compile(function, inputs))


@pytest.mark.parametrize(
    ("package", "framework", "converter"),
    [
        ("tensorflow", "TensorFlow", "tf2onnx"),
        ("keras", "TensorFlow", "tf2onnx"),
        ("tflite", "TFLite", "tf2onnx"),
        ("paddle", "Paddle", "paddle2onnx"),
        ("mxnet", "MXNet", "ONNX"),
    ],
)
def test_other_frameworks_are_refused_by_a_converter(package: str, framework: str, converter: str) -> None:
    kind = type("Model", (), {"__module__": f"{package}.models"})
    with pytest.raises(
        UnsupportedError, match=f"forge: {framework} modules are not read; .*{converter}.*ONNX model|that"
    ):
        forge.compile(kind(), [torch.ones(1)])
    with pytest.raises(ParameterError, match=r"expected a torch\.nn\.Module, an ONNX model or its path"):
        forge.compile(ModuleType("m"), [torch.ones(1)])


def test_settings_that_are_not_done_are_refused() -> None:
    model, x = Network(), torch.randn(3, 16)
    with pytest.raises(UnsupportedError, match="compile_depth AUTOGRAD"):
        forge.compile(model, [x], compiler_cfg=CompilerConfig(compile_depth=CompileDepth.AUTOGRAD))
    with pytest.raises(UnsupportedError, match="default_df_override Float16_b: the model and its inputs have Float32"):
        forge.compile(model, [x], compiler_cfg=CompilerConfig(default_df_override=forge.DataFormat.Float16_b))
    with pytest.raises(UnsupportedError, match="attach_to"):
        forge.compile(model, [x], attach_to=model)
    with pytest.raises(UnsupportedError, match="compiled for inference"):
        forge.compile(model, [x]).backward()
    config = CompilerConfig(mlir_config=MLIRConfig().set_enable_optimizer(True).set_enable_consteval(True))
    verify([x], model, forge.compile(model, [x], compiler_cfg=config))


def test_bfloat16_models() -> None:
    model, x = Network().to(torch.bfloat16), torch.randn(3, 16).to(torch.bfloat16)
    model.factor = model.factor.to(torch.bfloat16)
    config = CompilerConfig(default_df_override=forge.DataFormat.Float16_b)
    verify([x], model, forge.compile(model, [x], compiler_cfg=config))


def test_programs_are_written_to_files(tmp_path: Path) -> None:
    compiled = forge.compile(Network(), [torch.randn(3, 16)])
    compiled.save(str(tmp_path / "m.ttnn"))
    assert (tmp_path / "m.ttnn").read_bytes()[8:12] == b"TTNN"
    with pytest.raises(FileFormatError, match=r"ends with \.ttnn"):
        compiled.save(str(tmp_path / "m.fb"))
    compiled.export_to_cpp(str(tmp_path / "m.cpp"))
    assert "ttnn::" in (tmp_path / "m.cpp").read_text()
    with pytest.raises(UnsupportedError, match="export_to_cpp"):
        compiled.export_to_shared_object()
