"""Image networks that ONNX ships without weights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from frontends.onnx.onnx_suite import BARS, assert_right
from ttnn.compiler.frontends.onnx_compile import compile_onnx

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
LONG = pytest.mark.skipif(os.environ.get("TTNN_ONNX_LONG") != "1", reason="minutes: TTNN_ONNX_LONG=1 runs it")


@pytest.mark.parametrize(
    "name", ["squeezenet", pytest.param("resnet50", marks=LONG), pytest.param("vgg19", marks=LONG)]
)
def test_network_has_the_published_result(name: str, chip: Any) -> None:
    program = compile_onnx(FOLDER / f"light_{name}.onnx", device=chip)
    (given,) = program.inputs
    size = int(np.prod(given.described.shape))
    x = (np.arange(size) / size).reshape(given.described.shape).astype(np.float32)
    expected = TensorProto()
    expected.ParseFromString((FOLDER / f"light_{name}_output_0.pb").read_bytes())
    (found,) = program(x)
    assert program.runs == 1
    assert_right(found, numpy_helper.to_array(expected), *BARS["model", False])


def random_weights(rng: Any) -> dict[str, Any]:
    return {
        "w1": rng.standard_normal((16, 3, 3, 3)) / 5,
        "b1": rng.standard_normal(16),
        "w2": rng.standard_normal((16, 1, 3, 3)) / 3,
        "scale": rng.standard_normal(16),
        "shift": rng.standard_normal(16),
        "center": rng.standard_normal(16),
        "spread": rng.random(16) + 0.5,
        "w3": rng.standard_normal((16, 10)) / 4,
    }


def network(weights: dict[str, Any]) -> Any:
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["a"], strides=[2, 2], pads=[1, 0, 1, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w2"], ["c"], group=16, pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "scale", "shift", "center", "spread"], ["d"]),
        helper.make_node("Add", ["b", "d"], ["e"]),
        helper.make_node("AveragePool", ["e"], ["f"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["f"], ["g"]),
        helper.make_node("Flatten", ["g"], ["h"]),
        helper.make_node("MatMul", ["h", "w3"], ["y"]),
    ]
    tensors = [numpy_helper.from_array(one.astype(np.float32), name) for name, one in weights.items()]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 31, 30])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 10])],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_network_with_random_weights_is_that_of_the_reference(chip: Any) -> None:
    """The published weights are constants, which hide mistakes: these are not."""
    rng = np.random.default_rng(7)
    weights = random_weights(rng)
    model = network(weights)
    x = rng.standard_normal((2, 3, 31, 30)).astype(np.float32)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    assert_right(compile_onnx(model, device=chip)(x)[0], expected, *BARS["model", False])
    swapped = network(weights | {"scale": weights["shift"], "shift": weights["scale"]})
    with pytest.raises(AssertionError):
        assert_right(compile_onnx(swapped, device=chip)(x)[0], expected, *BARS["model", False])
