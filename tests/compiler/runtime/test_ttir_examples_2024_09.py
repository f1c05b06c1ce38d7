"""Binary, emitted Python and `ttnn` calls: equal bits, close to float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from testkit.ttir_reference import interpret
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.tools.translate import translate
from ttnn.compiler.tools.ttrt import runtime
from ttnn.compiler.tools.ttrt.binary import Binary as File
from ttnn.compiler.versions import parse_module, print_module

Array = NDArray[Any]
Direct = Callable[..., Any]
ANY = "#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>\n"


@pytest.fixture(scope="module")
def device() -> Iterator[runtime.Device]:
    opened = runtime.open_device([0])
    yield opened
    runtime.close_device(opened)


def tensor(shape: tuple[int, ...], kind: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def module(
    op: str, inputs: list[tuple[int, ...]], output: tuple[int, ...], attributes: str, kind: str, segments: bool
) -> str:
    """A function with one operation of 2024-09."""
    names = [f"%arg{index}" for index in range(len(inputs))]
    types = [tensor(shape, kind) for shape in inputs]
    out = tensor(output, kind)
    properties = [attributes] if attributes else []
    if segments:
        properties.append(f"operandSegmentSizes = array<i32: {len(inputs)}, 1>")
    properties.append(f"operand_constraints = [{', '.join(['#any'] * (len(inputs) + 1))}]")
    arguments = ", ".join(f"{name}: {one}" for name, one in zip(names, types, strict=True))
    return (
        f"{ANY}func.func @main({arguments}) -> {out} {{\n  %0 = tensor.empty() : {out}\n"
        f'  %1 = "ttir.{op}"({", ".join([*names, "%0"])}) <{{{", ".join(properties)}}}> : '
        f"({', '.join([*types, out])}) -> {out}\n  return %1 : {out}\n}}\n"
    )


def conv(x: Any, w: Any, b: Any, device: Any) -> Any:
    facts = {"in_channels": 32, "out_channels": 64, "batch_size": 1, "input_height": 16, "input_width": 16}
    made = ttnn.conv2d(x, w, device=device, **facts, kernel_size=[3, 3], padding=[1, 1], bias_tensor=b)
    return ttnn.reshape(made, [1, 16, 16, 64])


def pool(x: Any, device: Any) -> Any:
    flat = ttnn.reshape(ttnn.typecast(x, ttnn.bfloat16), [1, 1, 256, 32])
    made = ttnn.max_pool2d(flat, 1, 16, 16, 32, [2, 2], [2, 2], [0, 0], [1, 1], output_layout=ttnn.TILE_LAYOUT)
    return ttnn.reshape(made, [1, 8, 8, 32])


def embedding(ids: Any, weight: Any) -> Any:
    rows = ttnn.to_layout(ttnn.typecast(ids, ttnn.uint32), ttnn.ROW_MAJOR_LAYOUT)
    return ttnn.embedding(rows, ttnn.to_layout(weight, ttnn.ROW_MAJOR_LAYOUT), layout=ttnn.TILE_LAYOUT)


CONV = "stride_height = 1 : si32, stride_width = 1 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32"
CONV += ", groups = 1 : si32" + "".join(f", padding_{side} = 1 : si32" for side in ("left", "right", "top", "bottom"))
POOL = "kernel_height = 2 : si32, kernel_width = 2 : si32, stride_height = 2 : si32, stride_width = 2 : si32"
POOL += ", dilation_height = 1 : si32, dilation_width = 1 : si32, ceil_mode = false"
POOL += "".join(f", padding_{side} = 0 : si32" for side in ("left", "right", "top", "bottom"))
S = (64, 96)
#: Operation, shapes of inputs and output, attributes, whether it has segment sizes, the direct call.
EXAMPLES: dict[str, tuple[list[tuple[int, ...]], tuple[int, ...], str, bool, Direct]] = {
    **{
        op: ([S], S, "", True, getattr(ttnn, op))
        for op in ("abs", "exp", "neg", "reciprocal", "relu", "rsqrt", "sigmoid", "sqrt")
    },
    **{
        op: ([S, (64, 1)], S, "", True, getattr(ttnn, {"div": "divide"}.get(op, op)))
        for op in ("add", "div", "ge", "maximum", "multiply", "subtract")
    },
    "concat": ([S, (64, 32)], (64, 128), "dim = -1 : si32", False, lambda a, b: ttnn.concat([a, b], 1)),
    "conv2d": ([(1, 16, 16, 32), (64, 32, 3, 3), (1, 1, 1, 64)], (1, 16, 16, 64), CONV, False, conv),
    "max_pool2d": ([(1, 16, 16, 32)], (1, 8, 8, 32), POOL, False, pool),
    "embedding": ([(32,), (64, 96)], (32, 96), "", False, embedding),
    "matmul": ([S, (96, 128)], (64, 128), "", False, ttnn.matmul),
    **{
        op: ([S], (64, 1), "keep_dim = true, dim_arg = [-1 : i32]", False, getattr(ttnn, op))
        for op in ("max", "mean", "sum")
    },
    "reshape": ([S], (32, 192), "shape = [32 : i32, 192 : i32]", False, lambda x: ttnn.reshape(x, [32, 192])),
    "softmax": ([S], S, "dimension = 1 : si32", False, lambda x: ttnn.softmax(x, 1)),
    "squeeze": ([(1, *S)], S, "dim = 0 : si32", False, lambda x: ttnn.reshape(x, list(S))),
    "unsqueeze": ([S], (64, 1, 96), "dim = 1 : si32", False, lambda x: ttnn.reshape(x, [64, 1, 96])),
    "transpose": ([S], (96, 64), "dim0 = -1 : si32, dim1 = 0 : si32", False, lambda x: ttnn.transpose(x, 0, 1)),
}
REDUCTIONS = {"max", "mean", "sum"}
KINDS = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}


def make_inputs(op: str, shapes: list[tuple[int, ...]], kind: str) -> list[Array]:
    random = np.random.default_rng(5)
    made = [random.standard_normal(shape) for shape in shapes]
    if op in ("sqrt", "rsqrt", "reciprocal", "div"):
        made = [np.abs(one) + 0.5 for one in made]
    if op == "embedding":
        made[0] = random.integers(0, 64, shapes[0])
    if op in ("embedding", "max_pool2d"):
        # Numbers that bfloat16 holds: these operators have no other type on the chip.
        made[-1] = np.round(made[-1] * 16) / 16
    return [one.astype(KINDS[kind]) for one in made]


def by_binary(lowered: str, inputs: list[Array], device: runtime.Device) -> Array:
    binary = Binary.parse(bytes(translate("ttnn-to-flatbuffer", lowered)))  # type: ignore[arg-type]
    shape = binary.values["programs"][0]["outputs"][0]["desc"]["shape"]
    result = np.zeros(shape, inputs[0].dtype)
    data_type = runtime.DataType.BFloat16 if inputs[0].dtype.itemsize == 2 else runtime.DataType.Float32

    def borrow(array: Array) -> runtime.Tensor:
        strides = [step // array.itemsize for step in array.strides]
        return runtime.create_tensor(array.ctypes.data, list(array.shape), strides, array.itemsize, data_type)

    runtime.wait(runtime.submit(device, File(binary), 0, [borrow(one) for one in inputs], [borrow(result)]))
    return result


def by_python(lowered: str, inputs: list[Array], device: runtime.Device, folder: Path) -> Array:
    source = translate("mlir-to-python", lowered)
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, str(folder / "emitted.py"), "exec"), names)
    (result,) = names["f_main"]([ttnn.from_torch(one) for one in inputs], device.device)
    return ttnn.to_numpy(result)


def by_calls(op: str, inputs: list[Array], device: runtime.Device) -> Array:
    tensors = [ttnn.from_torch(one) for one in inputs]
    if op != "conv2d":
        tensors = [ttnn.to_device(ttnn.to_layout(one, ttnn.TILE_LAYOUT), device.device) for one in tensors]
    options: dict[str, Any] = {"dim": [-1], "keepdim": True} if op in REDUCTIONS else {}
    if op in ("conv2d", "max_pool2d"):
        options["device"] = device.device
    made = EXAMPLES[op][-1](*tensors, **options)
    made = ttnn.typecast(made, tensors[-1].dtype) if made.dtype != tensors[-1].dtype else made
    return ttnn.to_numpy(ttnn.to_layout(ttnn.from_device(made), ttnn.ROW_MAJOR_LAYOUT))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", EXAMPLES)
def test_binary_python_and_calls_have_equal_bits(op: str, kind: str, device: runtime.Device, tmp_path: Path) -> None:
    shapes, output, attributes, segments, _ = EXAMPLES[op]
    if kind == "f32" and op == "embedding":
        pytest.skip("tables of float32 are converted to bfloat16 in the program; test_binaries_2024_09 has them")
    text = module(op, shapes, output, attributes, kind, segments)
    inputs = make_inputs(op, shapes, kind)
    parsed = parse_module(text)
    (expected,) = interpret(parsed, "main", inputs)
    run(parsed, "ttir-to-ttnn-backend-pipeline")
    lowered = print_module(parsed)
    first = by_binary(lowered, inputs, device)
    second = by_python(lowered, inputs, device, tmp_path)
    direct = by_calls(op, inputs, device)
    assert first.tobytes() == second.tobytes() == direct.tobytes()
    assert first.shape == output
    error = np.abs(first.astype(np.float64) - expected)
    scale = np.abs(expected).max()
    # Two units in the last place of the largest value; four times that where sums are kept in bfloat16 or TF32.
    bound = {"f32": 2e-3, "bf16": 2 * 2**-7}[kind] * (4 if op in ("conv2d", "matmul", "softmax") else 1)
    assert error.max() <= bound * scale, f"{op}: {error.max()} of {scale}"


def test_several_functions_have_equal_bits_in_binary_and_python(device: runtime.Device, tmp_path: Path) -> None:
    add = module("add", [S, S], S, "", "f32", True).replace("@main", "@first")
    exp = module("exp", [S], S, "", "f32", True).replace("@main", "@second").replace(ANY, "")
    parsed = parse_module(add + exp)
    run(parsed, "ttir-to-ttnn-backend-pipeline")
    lowered = print_module(parsed)
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(translate("mlir-to-python", lowered), "emitted.py", "exec"), names)
    x = make_inputs("add", [S, S], "f32")
    (total,) = names["first"]([ttnn.from_torch(one) for one in x], device.device)
    (grown,) = names["second"]([total], device.device)
    binary = File(ttnn_to_binary(parsed, "0.1.0"))
    assert [program["name"] for program in binary.content.values["programs"]] == ["first", "second"]
    assert np.array_equal(ttnn.to_numpy(grown), ttnn.to_numpy(names["second"]([total], device.device)[0]))
    assert names["create_inputs_for_first"](device.device)[0].shape == list(S)


def test_emitted_main_function_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = parse_module(module("exp", [S], S, "", "bf16", True))
    run(lowered, "ttir-to-ttnn-backend-pipeline")
    source = str(translate("mlir-to-python", print_module(lowered)))
    assert [line for line in source.splitlines() if "import" in line] == ["import ttnn"]
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    # The device of the other tests is open.
    open_device = ttnn.open_device
    monkeypatch.setattr(ttnn, "open_device", lambda device_id: open_device(device_id=device_id + 1))
    assert names["main"]() == 0


def test_emitted_cpp_has_a_function_and_its_calls() -> None:
    lowered = parse_module(module("multiply", [S, S], S, "", "bf16", True).replace("@main", "@product"))
    run(lowered, "ttir-to-ttnn-backend-pipeline")
    source = str(translate("mlir-to-cpp", print_module(lowered)))
    assert "::ttnn::Tensor product(::ttnn::Tensor v1, ::ttnn::Tensor v2) {" in source
    for call in (
        "ttnn::to_layout(v1, ttnn::Layout::TILE)",
        "ttnn::to_device(",
        "ttnn::multiply(",
        "ttnn::from_device(",
    ):
        assert call in source
