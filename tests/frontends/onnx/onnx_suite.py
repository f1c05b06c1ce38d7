"""Cases of ONNX's backend tests on the device.

The list beside this file says which run and which are refused, and why.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.onnx_compile import compile_onnx

__all__ = ["BARS", "Listed", "all_cases", "assert_right", "in_scope", "listed", "outcome"]

LIST = Path(__file__).with_name("onnx_cases.txt")
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")

BARS = {
    ("element", False): (0.9999, 2e-3),
    ("element", True): (0.999, 2e-2),
    ("product", False): (0.9999, 5e-3),
    ("product", True): (0.998, 3e-2),
    ("model", False): (0.999, 2e-2),
    ("model", True): (0.99, 1e-1),
}
"""Least correlation, and largest error relative to the largest value."""

PRODUCTS = frozenset(
    {
        "Attention", "AveragePool", "CausalConvWithState", "Conv", "ConvTranspose", "CumSum", "Einsum",
        "FlexAttention", "GRU", "Gemm", "GlobalAveragePool", "InstanceNormalization", "LRN", "LSTM",
        "LayerNormalization", "LinearAttention", "LogSoftmax", "LpNormalization", "LpPool", "MatMul", "MaxPool",
        "MeanVarianceNormalization", "RMSNormalization", "RNN", "Resize", "Softmax", "Upsample",
    }
)  # fmt: skip

_NAMES = """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization BitwiseAnd
    BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Concat Constant ConstantOfShape Conv ConvTranspose
    Cos Cosh CumSum DepthToSpace DequantizeLinear Div Dropout Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor
    GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual
    GroupNormalization HardSigmoid HardSwish Hardmax Identity If InstanceNormalization IsInf IsNaN LRN LSTM
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Loop LpNormalization LpPool MatMul Max MaxPool
    Mean Min Mish Mod Mul Neg Not OneHot Or PRelu Pad Pow QuantizeLinear RMSNormalization RNN Range Reciprocal
    ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare Relu Reshape Resize RotaryEmbedding Round Scan ScatterElements ScatterND Selu Shape Shrink
    Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tan
    Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample Where Xor
"""
SCOPE = frozenset(_NAMES.split())
"""Operators that the front end has to know."""
DTYPES = frozenset(("float32", "float16", "int32", "int64", "bool"))


class Listed(NamedTuple):
    """A line of the list.

    Attributes:
        name: Kind and name of the case.
        outcome: `runs`, `known` (nothing is left to compute), `refused`, or `cut` (the compiler makes one softmax of
            several operators, which reads 11 significant bits of large numbers, as the chip does), or `step` (integers
            that are rounded from quotients of the chip, which may differ by one).
        reason: What the refusal says.
    """

    name: str
    outcome: str
    reason: str


def listed() -> list[Listed]:
    """Return the lines of the list."""
    lines = [one.split("\t") for one in LIST.read_text(encoding="utf-8").splitlines()]
    return [Listed(*one, *[""] * (3 - len(one))) for one in lines]


@cache
def all_cases() -> dict[str, Any]:
    """Return the cases by kind and name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {f"{kind}/{one.name}": one for kind in KINDS for one in load_model_tests(kind=kind)}


def loaded(case: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return the model of a case, its inputs and its outputs.

    Raises:
        UnsupportedError: They are not all arrays.
    """
    if case.model is not None:
        inputs, outputs = case.data_sets[0]
        model = case.model
    else:
        folder = Path(case.model_dir)
        model = onnx.load(folder / "model.onnx")
        inputs, outputs = (
            [_array(folder / "test_data_set_0" / f"{word}_{i}.pb") for i in range(len(values))]
            for word, values in (("input", _given(model)), ("output", model.graph.output))
        )
    inputs, outputs = list(inputs), list(outputs)
    if any(not isinstance(one, np.ndarray | np.generic) for one in [*inputs, *outputs]):
        raise UnsupportedError("the case has values that are no tensors")
    return model, inputs, outputs


def _given(model: Any) -> list[Any]:
    weights = {one.name for one in model.graph.initializer}
    return [one for one in model.graph.input if one.name not in weights]


def _array(path: Path) -> Any:
    tensor = onnx.TensorProto()
    try:
        tensor.ParseFromString(path.read_bytes())
        return numpy_helper.to_array(tensor)
    except (OSError, ValueError, TypeError):
        return None
    except Exception as error:
        if type(error).__name__ == "DecodeError":
            return None
        raise


def in_scope(case: Any) -> bool:
    """Return whether a case has known operators, types and shapes."""
    try:
        model, inputs, outputs = loaded(case)
    except UnsupportedError:
        return False
    types = {str(np.asarray(one).dtype) for one in [*inputs, *outputs]}
    return types <= DTYPES and all(one.op_type in SCOPE and not one.domain for one in model.graph.node)


def level_of(model: Any) -> str:
    """Return which bars hold for a model.

    Those of one operation, one product, or several.
    """
    kinds = [one.op_type for one in model.graph.node]
    if len([one for one in kinds if one not in ("Constant", "Identity", "Reshape", "CastLike", "Cast")]) > 8:
        return "model"
    return "product" if any(one in PRODUCTS or one.startswith("Reduce") for one in kinds) else "element"


def rounded(array: Any) -> Any:
    """Return float32 numbers cut off to 11 significant bits."""
    if array.dtype != np.float32:
        return array
    return (array.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def outcome(case: Any, device: Any, change: Any = None, *, listed_as: str = "") -> tuple[str, str]:
    """Return what becomes of a case, and the text of a refusal.

    Args:
        case: The case.
        device: The device.
        listed_as: What the list says: `cut` compares with what the reference computes from numbers of 11 significant
            bits, `step` allows integers to differ by one.
        change: Replaces the compiled model's results, given them and the inputs.

    Raises:
        AssertionError: The results are wrong.
    """
    try:
        model, inputs, outputs = loaded(case)
        program = compile_onnx(model, inputs, device=device)
        results = program(*inputs)
    except UnsupportedError as error:
        return "refused", str(error)
    if listed_as == "cut":
        outputs = ReferenceEvaluator(model).run(
            None, dict(zip([one.name for one in _given(model)], map(rounded, inputs), strict=True))
        )
    if change is not None and program.plan is not None:
        results = change(results, inputs)
    small = any(
        np.asarray(one).dtype.itemsize == 2 and np.asarray(one).dtype.kind in "fV" for one in [*inputs, *outputs]
    )
    assert len(results) >= len(outputs)
    for result, expected in zip(results, map(np.asarray, outputs), strict=False):
        if listed_as == "step" and expected.dtype.kind in "iu":
            assert np.abs(result.astype(np.int64) - expected.astype(np.int64)).max() <= 1
        else:
            assert_right(result, expected, *BARS[level_of(model), small])
    assert program.runs == (program.plan is not None)
    if listed_as in ("cut", "step"):
        return listed_as, ""
    return ("runs" if program.plan is not None else "known"), ""


def assert_right(result: Any, expected: Any, least: float, most: float) -> None:
    """Compare a result: floats within bars, all others exactly."""
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(result, expected)
        return
    found, wanted = (one.astype(np.float64).reshape(-1) for one in (result, expected))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    infinite = np.isinf(wanted)
    np.testing.assert_array_equal(found[infinite], wanted[infinite])
    assert not np.isinf(found[~infinite]).any()
    found, wanted = found[np.isfinite(wanted)], wanted[np.isfinite(wanted)]
    if not wanted.size:
        return
    error = np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30)
    assert error <= most, f"error {error}"
    # Numbers that are equal but for what the bar allows have no correlation to speak of.
    if wanted.size > 1 and wanted.std() > most * np.abs(wanted).max():
        found, wanted = found - found.mean(), wanted - wanted.mean()
        correlation = float(found @ wanted) / (float(np.linalg.norm(found) * np.linalg.norm(wanted)) or 1)
        assert correlation >= least, f"correlation {correlation}"
