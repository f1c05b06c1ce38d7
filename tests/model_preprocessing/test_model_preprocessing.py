"""Parameters of torch models as trees of tensors."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError, DTypeError, ParameterError, UnsupportedError

torch = pytest.importorskip("torch")
from ttnn import model_preprocessing as mp  # noqa: E402


class Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = torch.nn.Linear(3, 5)
        self.norm = torch.nn.LayerNorm(5)
        self.scale = torch.nn.Parameter(torch.ones(5))

    def forward(self, x: Any) -> Any:
        return self.norm(self.query(x)) * self.scale


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(7, 3)
        self.layers = torch.nn.ModuleList([Attention(), Attention()])
        self.head = torch.nn.Sequential(torch.nn.Linear(5, 2, bias=False), torch.nn.ReLU())

    def forward(self, x: Any) -> Any:
        return self.head(self.layers[0](self.table(x)))


def same(tensor: ttnn.Tensor, values: Any) -> bool:
    return torch.equal(ttnn.to_torch(tensor).float(), values.detach().to(torch.bfloat16).float())


def test_every_parameter_has_its_place(device: ttnn.MeshDevice) -> None:
    model = Model()
    tree = mp.preprocess_model_parameters(initialize_model=lambda: model, device=device)
    assert not model.training
    assert list(tree) == ["table", "layers", "head"]
    assert same(tree.table.weight, model.table.weight)
    assert tree.table.weight.layout == ttnn.ROW_MAJOR_LAYOUT
    for layer, module in zip(tree.layers, model.layers, strict=True):
        assert same(layer.query.weight, module.query.weight.T)
        assert same(layer.query.bias, module.query.bias.reshape(1, 5))
        assert same(layer.norm["weight"], module.norm.weight.reshape(1, 5))
        assert same(layer.scale, module.scale)
        assert layer.query.weight.layout == ttnn.TILE_LAYOUT
        assert layer.query.weight.device() is device
    # Modules of a Sequential have numbers; those without parameters are left out.
    assert list(tree.head) == [0]
    assert list(tree.head[0]) == ["weight"]


def test_parameters_may_stay_torch_tensors(device: ttnn.MeshDevice) -> None:
    model = Attention()
    tree = mp.preprocess_model_parameters(
        initialize_model=lambda: model, convert_to_ttnn=lambda module, name: name == "block.norm", prefix="block"
    )
    assert torch.equal(tree.query.weight, model.query.weight.T)
    assert torch.equal(tree.query.bias, model.query.bias)
    assert tree.scale is model.scale
    assert isinstance(tree.norm.weight, ttnn.Tensor)
    assert mp.move_to_device(tree, device).norm.weight.device() is device
    assert tree.scale is model.scale


def test_a_preprocessor_replaces_the_subtree_of_a_module() -> None:
    seen = []

    def preprocessor(module: Any, name: str, ttnn_module_args: Any, convert_to_ttnn: Any) -> dict[str, Any]:
        seen.append(name)
        assert ttnn_module_args is None
        assert convert_to_ttnn(module, name)
        return {"inner": {"fused": 3}} if isinstance(module, Attention) else {}

    tree = mp.preprocess_model_parameters(initialize_model=Model, custom_preprocessor=preprocessor)
    assert [layer.inner.fused for layer in tree.layers] == [3, 3]
    assert seen == ["", "table", "layers.0", "layers.1", "head", "head.0", "head.1"]


def test_the_parameters_of_a_preprocessor_are_checked() -> None:
    with pytest.raises(ArgumentError, match="parameter 'device' is none of ttnn_module_args, convert_to_ttnn"):
        mp.preprocess_model_parameters(initialize_model=Model, custom_preprocessor=lambda model, name, device: {})
    with pytest.raises(ArgumentError, match="Custom preprocessor must have at least two parameters"):
        mp.preprocess_model_parameters(initialize_model=Model, custom_preprocessor=lambda model: {})


def test_what_has_no_rule_raises() -> None:
    class Wide(torch.nn.Linear):
        def __init__(self) -> None:
            super().__init__(2, 2)
            self.extra = torch.nn.Parameter(torch.ones(1))

    with pytest.raises(ParameterError, match="Not all children or parameters were converted"):
        mp.preprocess_model_parameters(initialize_model=Wide)

    class Complex(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.phase = torch.nn.Parameter(torch.ones(1, dtype=torch.complex64))

    with pytest.raises(DTypeError, match=r"no data type stands for torch\.complex64 of 'phase'"):
        mp.preprocess_model_parameters(initialize_model=Complex)
    with pytest.raises(ParameterError, match="initialize_model is needed"):
        mp.preprocess_model_parameters()


@pytest.mark.parametrize("bias", [True, False])
def test_a_batch_norm_is_folded_into_a_convolution(bias: bool) -> None:
    conv, norm = torch.nn.Conv2d(3, 4, 2, bias=bias).double(), torch.nn.BatchNorm2d(4).double()
    generator = torch.Generator().manual_seed(1)
    for values in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
        values.data = torch.rand(4, generator=generator, dtype=torch.float64) + 0.5
    norm.eval()
    x = torch.rand(1, 3, 5, 5, generator=generator, dtype=torch.float64)
    weight, shift = mp.fold_batch_norm2d_into_conv2d(conv, norm)
    assert torch.allclose(torch.nn.functional.conv2d(x, weight, shift), norm(conv(x)), rtol=1e-12)
    with pytest.raises(ParameterError, match="track_running_stats=True"):
        mp.fold_batch_norm2d_into_conv2d(conv, torch.nn.BatchNorm2d(4, track_running_stats=False))


def test_remaining_children_are_added() -> None:
    model = Attention()
    parameters = mp.preprocess_remaining_children_and_parameters(
        model, "m", lambda *_: True, None, {"query": 1}, None, already_preprocessed_children={"query"}
    )
    assert list(parameters) == ["query", "norm", "scale"]
    assert parameters["query"] == 1
    assert same(parameters["scale"], model.scale)


class Convolutions(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.blocks = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.GroupNorm(2, 8), torch.nn.MaxPool2d(2))])
        self.up = torch.nn.ConvTranspose2d(8, 4, 2, stride=2, output_padding=1)

    def forward(self, x: Any) -> Any:
        return self.up(self.blocks[0](self.first(x)))


def run(model: Any) -> Any:
    return model(torch.zeros(2, 3, 16, 16))


def test_arguments_of_modules_come_from_a_run() -> None:
    found = mp.infer_ttnn_module_args(model=Convolutions(), run_model=run, device=None)
    first, norm, pool, up = found.first, found[0][0], found["0"][1], found.up
    assert isinstance(first, mp.Conv2dArgs)
    assert (first.in_channels, first.kernel_size, first.stride, first.padding) == (3, (3, 3), (2, 2), (1, 1))
    assert (first.batch_size, first.input_height, first.input_width, first.dtype) == (2, 16, 16, ttnn.bfloat16)
    assert isinstance(norm, mp.GroupNormArgs)
    assert (norm.num_groups, norm.num_channels, norm.input_height) == (2, 8, 8)
    assert isinstance(pool, mp.MaxPool2dArgs)
    assert (pool.kernel_size, pool.input_channels, pool.input_width) == (2, 8, 8)
    assert isinstance(up, mp.ConvTranspose2dArgs)
    assert (up.output_padding, up.input_height, up.out_channels) == ((1, 1), 4, 4)
    assert mp.infer_ttnn_module_args(model=Convolutions(), run_model=None, device=None) is None
    with pytest.raises(ParameterError, match="run_model did not call the model"):
        mp.infer_ttnn_module_args(model=Convolutions(), run_model=lambda model: None, device=None)


def test_arguments_stand_beside_the_parameters() -> None:
    tree = mp.preprocess_model(initialize_model=Convolutions, run_model=run, convert_to_ttnn=lambda *_: False)
    assert tree.first.ttnn_module_args.input_height == 16
    assert "device" not in tree.first.ttnn_module_args
    assert tuple(tree.first.weight.shape) == (8, 3, 3, 3)
    with pytest.raises(UnsupportedError, match=r"0\.81\.1 has no ttnn\.Conv2d"):
        mp.preprocess_model(initialize_model=Convolutions, run_model=run)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    with ttnn.manage_config("model_cache_path", tmp_path), ttnn.manage_config("enable_model_cache", True):
        yield tmp_path


def test_parameters_are_cached(cache: Path, device: ttnn.MeshDevice) -> None:
    model = Model()
    made = []

    def initialize() -> Model:
        made.append(1)
        return model

    def preprocess(version: str, initialize_model: Any = initialize) -> Any:
        return mp.preprocess_model_parameters(
            model_name="a/model",
            version=version,
            initialize_model=initialize_model,
            convert_to_ttnn=lambda module, name: name != "layers.1",
            device=device,
        )

    before = preprocess("1")
    after = preprocess("1", None)
    assert len(made) == 1
    assert [path.name for path in cache.iterdir()] == ["a_model"]
    assert isinstance(after.layers, mp.ParameterList)
    assert same(after.layers[0].query.weight, model.layers[0].query.weight.T)
    assert torch.equal(after.layers[1].scale, model.layers[1].scale)
    assert same(after.head[0].weight, model.head[0].weight.T)
    assert list(after) == list(before)
    preprocess("2")
    assert len(made) == 2
    with pytest.raises(ParameterError, match="has no parameters of version '3'"):
        preprocess("3", None)


def test_arguments_are_cached(cache: Path) -> None:
    options: dict[str, Any] = {"model_name": "c", "version": "1", "run_model": run, "convert_to_ttnn": lambda *_: False}
    mp.preprocess_model(initialize_model=Convolutions, **options)
    tree = mp.preprocess_model(**options)
    assert tree.first.ttnn_module_args.input_height == 16
    assert isinstance(tree.first.ttnn_module_args, mp.Conv2dArgs)


def test_trees_have_attributes_and_a_text() -> None:
    tensor = ttnn.from_torch(torch.ones(1, 2), dtype=ttnn.bfloat16)
    tree = mp.make_parameter_dict({"a": {"weight": tensor}, "b": mp.ParameterList([torch.ones(2), 3]), "c": {}})
    assert tree.a.weight is tensor
    assert 1 in tree.b
    assert 2 not in tree.b
    file = io.StringIO()
    mp.repr_parameters(file, tree)
    expected = """{
  a: {
    weight: ttnn.Tensor(shape=Shape([1, 2]), layout=Layout.ROW_MAJOR, dtype=DataType.BFLOAT16)
  },
  b: [
    torch.Tensor(shape=torch.Size([2]), dtype=torch.float32),
    3
  ],
  c: {}
}"""
    assert file.getvalue() == repr(tree) == expected
    for kind in (AttributeError, KeyError):
        with pytest.raises(kind, match="ParameterDict has no 'x'; it has 'a', 'b', 'c'"):
            _ = tree.x
    del tree.c
    assert "c" not in tree
    assert mp.make_parameter_dict(tree) is tree
    assert isinstance(mp.make_parameter_dict({"args": mp.Conv2dArgs(stride=1)}).args, mp.Conv2dArgs)
