"""ONNX models.

Inputs, parameters, files beside them, refusals, and programs that are compiled.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from frontends.onnx.onnx_suite import BARS, assert_right
from ttnn.base.exceptions import FileAccessError, FileFormatError, ParameterError, ShapeError, UnsupportedError
from ttnn.compiler.frontends.onnx_compile import compile_onnx
from ttnn.compiler.frontends.onnx_compile.versions import check_version
from ttnn.compiler.importers.onnx import Limits
from ttnn.compiler.ir.diagnostics import CompileError

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name: str, shape: Any, kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes: Any, inputs: Any, outputs: Any, weights: Any = (), opset: int = 18, **more: Any) -> Any:
    tensors = [numpy_helper.from_array(array, name) for name, array in dict(weights).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more)


def linear(weight: Any) -> Any:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "product"), helper.make_node("Relu", ["a"], ["y"])]
    return model(nodes, [value("x", [3, 64])], [value("y", [3, 16])], {"w": weight})


@pytest.fixture
def weight() -> Any:
    return np.random.default_rng(1).standard_normal((64, 16)).astype(np.float32)


def test_initialisers_are_parameters_that_stay_on_the_device(weight: Any, chip: Any) -> None:
    program = compile_onnx(linear(weight), device=chip)
    assert [one.kind for one in program.plan.inputs] == ["input", "parameter"]
    assert "dense" not in program.plan.ttir
    assert 'loc("product")' not in program.plan.describe()
    x = np.random.default_rng(2).standard_normal((3, 64)).astype(np.float32)
    for _ in range(2):
        assert_right(program(x)[0], np.maximum(x @ weight, 0), *BARS["product", False])
    assert program.runs == 2
    np.testing.assert_array_equal(program(x=x)[0], program(x)[0])


def test_initialisers_that_are_listed_as_inputs_are_parameters(weight: Any, chip: Any) -> None:
    listed = linear(weight)
    listed.graph.input.append(value("w", [64, 16]))
    program = compile_onnx(listed, device=chip)
    assert [one.name for one in program.inputs] == ["x"]


def test_wrong_inputs_are_refused(weight: Any, chip: Any) -> None:
    program = compile_onnx(linear(weight), device=chip)
    x = np.zeros((3, 64), np.float32)
    with pytest.raises(ShapeError, match=r"input 'x': the shape is \[3, 64\], got \[4, 64\]"):
        program(np.zeros((4, 64), np.float32))
    with pytest.raises(ParameterError, match="the elements are float32, got float64"):
        program(x.astype(np.float64))
    with pytest.raises(ParameterError, match="1 inputs, got 2"):
        program(x, x)
    with pytest.raises(ParameterError, match="got 'z'"):
        program(z=x)
    with pytest.raises(ParameterError, match="x missing"):
        program()


def test_all_nodes_that_are_not_supported_are_named_at_once() -> None:
    boxes = [value("b", [1, 4, 4]), value("s", [1, 1, 4]), value("x", [4])]
    nodes = [
        helper.make_node("NonMaxSuppression", ["b", "s"], ["i"], "nms_1"),
        helper.make_node("Unique", ["x"], ["u"], "u_1"),
        helper.make_node("Unique", ["x"], ["v"], "u_2"),
    ]
    with pytest.raises(UnsupportedError) as caught:
        compile_onnx(model(nodes, boxes, [value("i", [None, 3], INT64), value("u", [None]), value("v", [None])]))
    text = str(caught.value)
    assert "ONNX operator NonMaxSuppression (opset 18, node 'nms_1') is not supported" in text
    assert "ONNX operator Unique (opset 18, 2 nodes: 'u_1', 'u_2') is not supported" in text


def test_operators_of_other_domains_are_named_with_it() -> None:
    made = model([helper.make_node("Foo", ["x"], ["y"], "f", domain="com.acme")], [value("x", [2])], [value("y", [2])])
    made.opset_import.append(helper.make_opsetid("com.acme", 3))
    with pytest.raises(UnsupportedError, match=r"com\.acme::Foo \(opset 3, node 'f'\) is not supported"):
        compile_onnx(made)


def test_open_dimensions_are_bound_to_shapes_or_samples(chip: Any) -> None:
    made = model([helper.make_node("Abs", ["x"], ["y"])], [value("x", ["n", 4])], [value("y", ["n", 4])])
    with pytest.raises(UnsupportedError, match="dynamic shape: input 'x' has dimension 0 = n"):
        compile_onnx(made)
    x = -np.ones((3, 4), np.float32)
    for program in (compile_onnx(made, shapes={"x": (3, 4)}, device=chip), compile_onnx(made, [x], device=chip)):
        np.testing.assert_array_equal(program(x)[0], 1)


def test_inputs_that_decide_shapes_are_bound_to_their_samples(chip: Any) -> None:
    made = model(
        [helper.make_node("Reshape", ["x", "s"], ["a"]), helper.make_node("Neg", ["a"], ["y"])],
        [value("x", [2, 6]), value("s", [2], INT64)],
        [value("y", [3, 4])],
    )
    x, shape = np.arange(12, dtype=np.float32).reshape(2, 6), np.array([3, -1])
    with pytest.raises(UnsupportedError, match=r"Reshape .* operand 1 \('s'\), which depends on data"):
        compile_onnx(made)
    program = compile_onnx(made, [x, shape], device=chip)
    np.testing.assert_array_equal(program(x, shape)[0], -x.reshape(3, 4))
    with pytest.raises(ParameterError, match="input 's' decides shapes"):
        program(x, np.array([3, 4]))


def test_shape_arithmetic_is_not_part_of_the_program(chip: Any) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["m"]),
        helper.make_node("Concat", ["m", "rest"], ["t"], axis=0),
        helper.make_node("Reshape", ["x", "t"], ["a"]),
        helper.make_node("Neg", ["a"], ["y"]),
    ]
    weights = {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([-1])}
    program = compile_onnx(model(nodes, [value("x", [4, 2, 3])], [value("y", [4, 6])], weights), device=chip)
    assert program.plan.ttir.count('"ttir.') == 2
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    np.testing.assert_array_equal(program(x)[0], -x.reshape(4, 6))


def test_outputs_that_are_inputs_constants_or_repeated(chip: Any) -> None:
    nodes = [
        helper.make_node("Identity", ["x"], ["same"]),
        helper.make_node("Neg", ["x"], ["y"]),
        helper.make_node("Identity", ["y"], ["z"]),
        helper.make_node("Shape", ["x"], ["s"]),
    ]
    outputs = [value("same", [5]), value("y", [5]), value("z", [5]), value("s", [1], INT64)]
    program = compile_onnx(model(nodes, [value("x", [5])], outputs), device=chip)
    x = np.arange(5, dtype=np.float32)
    for found, expected in zip(program(x), (x, -x, -x, np.array([5])), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(program.plan.outputs) == 1


def test_integers_beyond_32_bits_are_refused(chip: Any) -> None:
    made = model([helper.make_node("Add", ["x", "x"], ["y"])], [value("x", [2], INT64)], [value("y", [2], INT64)])
    program = compile_onnx(made, device=chip)
    np.testing.assert_array_equal(program(np.array([1 << 30, -5]))[0], [-(1 << 31), -10])
    with pytest.raises(UnsupportedError, match="8589934592 does not fit 32 bits"):
        program(np.array([1 << 33, 0]))
    big = model(
        [helper.make_node("Add", ["x", "c"], ["y"], "sum")],
        [value("x", [2], INT64)],
        [value("y", [2], INT64)],
        {"c": np.array([1 << 33])},
    )
    with pytest.raises(UnsupportedError, match="has the constant 8589934592, which does not fit 32 bits"):
        compile_onnx(big)


def test_floats_beyond_float32_are_refused(chip: Any) -> None:
    double = TensorProto.DOUBLE
    made = model([helper.make_node("Neg", ["x"], ["y"])], [value("x", [1], double)], [value("y", [1], double)])
    program = compile_onnx(made, device=chip)
    assert program(np.array([2.5]))[0] == -2.5
    with pytest.raises(UnsupportedError, match=r"1e\+200 does not fit float32"):
        program(np.array([1e200]))


def external(folder: Path, weight: Any) -> Path:
    made = linear(weight)
    onnx.save_model(
        made, folder / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0, convert_attribute=False
    )
    return folder / "m.onnx"


def test_tensors_in_files_beside_the_model(weight: Any, chip: Any, tmp_path: Path) -> None:
    program = compile_onnx(external(tmp_path, weight), device=chip)
    x = np.ones((3, 64), np.float32)
    assert_right(program(x)[0], np.maximum(x @ weight, 0), *BARS["product", False])


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/passwd", "link.bin"])
def test_tensors_outside_of_the_models_folder_are_refused(location: str, weight: Any, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(weight.tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    changed(external(folder, weight), location=location)
    with pytest.raises(FileAccessError, match="not in the folder of the model"):
        compile_onnx(folder / "m.onnx")


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"offset": "4096"}, "has 1024 elements of 4 bytes"),
        ({"length": "8"}, "its file states 8 bytes"),
        ({"offset": "-4"}, "expected a number of bytes"),
        ({"length": "9" * 30}, "expected a number of bytes"),
    ],
)
def test_tensors_that_are_not_in_their_file_are_refused(entries: Any, text: str, weight: Any, tmp_path: Path) -> None:
    changed(external(tmp_path, weight), **entries)
    with pytest.raises(FileFormatError, match=text):
        compile_onnx(tmp_path / "m.onnx")


def changed(path: Path, **entries: str) -> None:
    """Change where a model's tensor lies."""
    made = onnx.load(path, load_external_data=False)
    (tensor,) = made.graph.initializer
    kept = {one.key: one.value for one in tensor.external_data} | entries
    del tensor.external_data[:]
    for key, text in kept.items():
        tensor.external_data.add(key=key, value=text)
    path.write_bytes(made.SerializeToString())


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"\xff" * 64)
    with pytest.raises(FileFormatError, match="not an ONNX model"):
        compile_onnx(tmp_path / "m.onnx")
    with pytest.raises(FileAccessError):
        compile_onnx(tmp_path / "none.onnx")
    wrong = model([helper.make_node("Neg", ["nothing"], ["y"])], [value("x", [1])], [value("y", [1])])
    with pytest.raises(CompileError, match="ONNX model"):
        compile_onnx(wrong)


def loop(count: int) -> Any:
    body = helper.make_graph(
        [helper.make_node("Add", ["a", "x"], ["b"]), helper.make_node("Identity", ["go"], ["on"])],
        "body",
        [value("i", [], INT64), value("go", [], TensorProto.BOOL), value("a", [4])],
        [value("on", [], TensorProto.BOOL), value("b", [4]), value("b", [4])],
    )
    nodes = [helper.make_node("Loop", ["n", "", "x"], ["y", "all"], "loop", body=body)]
    return model(nodes, [value("x", [4])], [value("y", [4]), value("all", [count, 4])], {"n": np.array(count)})


def test_loops_are_written_out_within_a_limit(chip: Any) -> None:
    x = np.arange(4, dtype=np.float32)
    last, every = compile_onnx(loop(3), device=chip)(x)
    np.testing.assert_array_equal(last, 4 * x)
    np.testing.assert_array_equal(every, [2 * x, 3 * x, 4 * x])
    with pytest.raises(UnsupportedError, match="has 100 rounds of 2 nodes, more than 50 in all"):
        compile_onnx(loop(100), limits=Limits(unrolled=50))


def test_branches_that_depend_on_data_choose_elements(chip: Any) -> None:
    sides = [
        helper.make_graph([helper.make_node(op, ["x"], ["r"])], op, [], [value("r", [3])]) for op in ("Neg", "Exp")
    ]
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=sides[0], else_branch=sides[1])]
    made = model(nodes, [value("x", [3]), value("c", [], TensorProto.BOOL)], [value("y", [3])])
    program = compile_onnx(made, device=chip)
    x = np.array([0.0, 1.0, 2.0], np.float32)
    np.testing.assert_array_equal(program(x, np.array(True))[0], -x)
    np.testing.assert_allclose(program(x, np.array(False))[0], np.exp(x), rtol=1e-3)


def test_local_functions_are_part_of_the_program(chip: Any) -> None:
    body = [helper.make_node("Add", ["a", "a"], ["t"]), helper.make_node("Neg", ["t"], ["b"])]
    twice = helper.make_function("acme", "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 18)])
    graph = helper.make_graph(
        [helper.make_node("Twice", ["x"], ["y"], domain="acme")], "g", [value("x", [3])], [value("y", [3])]
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("acme", 1)]
    program = compile_onnx(helper.make_model(graph, functions=[twice], opset_imports=opsets), device=chip)
    np.testing.assert_array_equal(program(np.arange(3, dtype=np.float32))[0], [0, -2, -4])


@pytest.mark.parametrize("op", ["Gelu", "BiasGelu", "FastGelu", "SkipLayerNormalization", "FusedMatMul"])
def test_operators_of_onnxruntime(op: str, chip: Any) -> None:
    import math

    rng = np.random.default_rng(4)
    x, bias, scale = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 8), (8,), (8,)))
    erf = np.vectorize(math.erf)

    def gelu(z: Any) -> Any:
        return 0.5 * z * (1 + erf(z / math.sqrt(2)))

    def skip() -> Any:
        z = x + x
        return (z - z.mean(1, keepdims=True)) / np.sqrt(z.var(1, keepdims=True) + 1e-5) * scale + bias

    tanh = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    operands, options, expected = {
        "Gelu": (["x"], {}, gelu(x)),
        "BiasGelu": (["x", "b"], {}, gelu(x + bias)),
        "FastGelu": (["x"], {}, tanh),
        "SkipLayerNormalization": (["x", "x", "s", "b"], {"epsilon": 1e-5}, skip()),
        "FusedMatMul": (["x", "x"], {"transB": 1, "alpha": 0.5}, 0.5 * x @ x.T),
    }[op]
    node = helper.make_node(op, operands, ["y"], domain="com.microsoft", **options)
    made = model([node], [value("x", [4, 8])], [value("y", list(expected.shape))], {"b": bias, "s": scale})
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    assert_right(compile_onnx(made, device=chip)(x)[0], expected.astype(np.float32), *BARS["product", False])


def test_other_versions_of_onnx_are_refused() -> None:
    check_version()
    with pytest.raises(UnsupportedError, match=r"onnx 1\.24\.0 is installed; the front end needs onnx 1\.23"):
        check_version("1.24.0")


def test_onnx_is_imported_by_the_first_model_only() -> None:
    script = (
        "import sys, ttnn.compiler.frontends.onnx_compile, ttnn.compiler.importers.onnx\n"
        "print([name for name in ('onnx', 'torch', 'jax') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600)
    assert found.stdout.strip() == "[]"
