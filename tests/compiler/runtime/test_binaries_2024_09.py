"""2024-09 binary operations: operator bits, close to float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from testkit.binaries_2024_09 import DEVICE, HOST, L1, Tensors, binary, operation, pipeline, to_dram
from ttnn.base.exceptions import FileFormatError, ParameterError, ShapeError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.runtime.place import Transfers

Array = NDArray[np.float32]


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def run(made: Any, inputs: list[Any], device: ttnn.MeshDevice) -> list[Array]:
    (program,) = programs(made)
    results = execute(program, [ttnn.from_torch(one) for one in inputs], device)
    return [ttnn.to_numpy(one) for one in results]


def on_device(values: Any, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.to_layout(ttnn.from_torch(values), ttnn.TILE_LAYOUT), device)


def back(tensor: ttnn.Tensor) -> Array:
    return ttnn.to_numpy(ttnn.to_layout(ttnn.from_device(tensor), ttnn.ROW_MAJOR_LAYOUT))


def values(*shape: int, positive: bool = False, seed: int = 0) -> Array:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return np.abs(made) + np.float32(0.5) if positive else made


ELTWISE: dict[str, tuple[int, Callable[..., Any], Callable[..., Any]]] = {
    "Add": (2, ttnn.add, np.add),
    "Multiply": (2, ttnn.multiply, np.multiply),
    "Subtract": (2, ttnn.subtract, np.subtract),
    "Relu": (1, ttnn.relu, lambda x: np.maximum(x, 0)),
    "GreaterEqual": (2, ttnn.ge, np.greater_equal),
    "Sqrt": (1, ttnn.sqrt, np.sqrt),
    "Div": (2, ttnn.divide, np.divide),
    "Sigmoid": (1, ttnn.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "Reciprocal": (1, ttnn.reciprocal, np.reciprocal),
    "Exp": (1, ttnn.exp, np.exp),
    "Maximum": (2, ttnn.maximum, np.maximum),
    "Abs": (1, ttnn.abs, np.abs),
    "Neg": (1, ttnn.neg, np.negative),
    "Rsqrt": (1, ttnn.rsqrt, lambda x: 1 / np.sqrt(x)),
}


@pytest.mark.parametrize("kind", ELTWISE)
@pytest.mark.parametrize("shape", [(64, 128), (2, 3, 33, 7), (128,)])
def test_eltwise_binary_equals_the_operator(kind: str, shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    count, operator, reference = ELTWISE[kind]
    tensors = Tensors()
    given = [tensors(shape, HOST) for _ in range(count)]
    made = pipeline("EltwiseOp", {"type": kind, "ins": [f"IN{i}" for i in range(count)], "out": "OUT"}, given, shape)
    inputs = [values(*shape, positive=True, seed=seed) for seed in range(count)]
    (result,) = run(made, inputs, device)
    assert np.array_equal(result, back(operator(*(on_device(one, device) for one in inputs))))
    assert np.allclose(result, reference(*(one.astype(np.float64) for one in inputs)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["Sum", "Mean", "Max"])
@pytest.mark.parametrize(("dims", "keep"), [([1], True), ([0], True), ([0, 1], True), (None, True), ([1], False)])
def test_reduction_binary_equals_the_operator(
    kind: str, dims: list[int] | None, keep: bool, device: ttnn.MeshDevice
) -> None:
    shape = (64, 96)
    axes = tuple(dims) if dims is not None else None
    x = values(*shape)
    expected = getattr(np, kind.lower())(x.astype(np.float64), axis=axes, keepdims=keep)
    table = {"type": kind, "in": "IN0", "out": "OUT", "keep_dim": keep} | ({"dim_arg": dims} if dims else {})
    made = pipeline("ReductionOp", table, [Tensors()(shape, HOST)], expected.shape)
    (result,) = run(made, [x], device)
    direct = getattr(ttnn, kind.lower())(on_device(x, device), dim=dims, keepdim=keep)
    assert np.array_equal(result, back(direct))
    assert np.allclose(result, expected, atol=0.2 if kind != "Max" else 1e-2, rtol=1e-2)


@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_matmul_binary_equals_the_operator(batch: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    a, b = values(*batch, 64, 96), values(*batch, 96, 32, seed=1)
    tensors = Tensors()
    given = [tensors(a.shape, HOST), tensors(b.shape, HOST)]
    made = pipeline("MatmulOp", {"in0": "IN0", "in1": "IN1", "out": "OUT"}, given, (*batch, 64, 32))
    (result,) = run(made, [a, b], device)
    assert np.array_equal(result, back(ttnn.matmul(on_device(a, device), on_device(b, device))))
    assert np.corrcoef(result.ravel(), (a.astype(np.float64) @ b).ravel())[0, 1] > 0.9999


@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_softmax_binary_equals_the_operator(dim: int, device: ttnn.MeshDevice) -> None:
    x = values(64, 96)
    made = pipeline("SoftmaxOp", {"in": "IN0", "out": "OUT", "dimension": dim}, [Tensors()(x.shape, HOST)], x.shape)
    (result,) = run(made, [x], device)
    assert np.array_equal(result, back(ttnn.softmax(on_device(x, device), dim)))
    e = np.exp(x.astype(np.float64))
    assert np.allclose(result, e / e.sum(axis=dim, keepdims=True), rtol=2e-2)


def test_movement_binary_equals_the_operator(device: ttnn.MeshDevice) -> None:
    x = values(4, 2, 32, 40)
    given = [Tensors()(x.shape, HOST)]
    table = {"in": "IN0", "out": "OUT", "dim0": -3, "dim1": -1}
    (moved,) = run(pipeline("TransposeOp", table, given, (4, 40, 32, 2)), [x], device)
    assert np.array_equal(moved, np.swapaxes(x, -3, -1))
    table = {"in": "IN0", "out": "OUT", "shape": [2, 4, 32, 40]}
    (shaped,) = run(pipeline("ReshapeOp", table, given, (2, 4, 32, 40)), [x], device)
    assert np.array_equal(shaped, x.reshape(2, 4, 32, 40))
    tensors = Tensors()
    given = [tensors(x.shape, HOST), tensors((4, 2, 32, 24), HOST)]
    y = values(4, 2, 32, 24, seed=1)
    table = {"inputs": ["IN0", "IN1"], "out": "OUT", "dim": -1}
    (joined,) = run(pipeline("ConcatOp", table, given, (4, 2, 32, 64)), [x, y], device)
    assert np.array_equal(joined, np.concatenate([x, y], axis=-1))


@pytest.mark.parametrize("data_type", ["BFloat16", "Float32"])
@pytest.mark.parametrize("index_type", ["UInt32", "Float32", "BFloat16"])
def test_embedding_binary_equals_the_operator(data_type: str, index_type: str, device: ttnn.MeshDevice) -> None:
    import ml_dtypes

    types = {"BFloat16": ml_dtypes.bfloat16, "Float32": np.float32, "UInt32": np.uint32}
    # Numbers of few bits: the table is the same in bfloat16.
    weight = np.random.default_rng(0).integers(-100, 100, (64, 128)).astype(types[data_type])
    ids = np.random.default_rng(1).integers(0, 64, (2, 32)).astype(types[index_type])
    tensors = Tensors()
    given = [tensors((2, 32), HOST, index_type), tensors((64, 128), HOST, data_type)]
    table = {"input": "IN0", "weight": "IN1", "output": "OUT"}
    (result,) = run(pipeline("EmbeddingOp", table, given, (2, 32, 128), data_type=data_type), [ids, weight], device)
    assert result.dtype == types[data_type]
    assert np.array_equal(result.astype(np.float32), weight.astype(np.float32)[ids.astype(int)])


def _windows(x: NDArray[Any], kernel: int, stride: int, padding: int, fill: float) -> NDArray[Any]:
    padded = np.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(1, 2))
    return view[:, ::stride, ::stride]


@pytest.mark.parametrize("host", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_conv2d_binary_equals_the_operator(host: bool, bias: bool, device: ttnn.MeshDevice) -> None:
    x, w, b = values(2, 16, 16, 32), values(64, 32, 3, 3, seed=1), values(1, 1, 1, 64, seed=2)
    tensors = Tensors()
    given = [tensors((1, 1, 512, 32), HOST), tensors(w.shape, HOST)] + [tensors(b.shape, HOST)] * bias
    placed, steps = (given[0], []) if host else to_dram(tensors, given[0])
    out, end = tensors((1, 1, 128, 64)), tensors((1, 1, 128, 64), HOST)
    table = {"input": placed, "weight": given[1], "out": out, "device": DEVICE, "in_channels": 32, "out_channels": 64}
    table |= {"bias": given[2]} if bias else {}
    table |= {"batch_size": 2, "input_height": 16, "input_width": 16, "groups": 1}
    for name, size in {"kernel": 3, "stride": 2, "padding": 1, "dilation": 1}.items():
        table |= {f"{name}_height": size, f"{name}_width": size}
    steps += [operation("Conv2dOp", table), operation("ToMemoryConfigOp", {"in0": out, "device": DEVICE, "out": end})]
    inputs = [x.reshape(1, 1, 512, 32), w] + [b] * bias
    (result,) = run(binary(steps, given, [end]), inputs, device)
    expected = np.einsum("nhwcij,ocij->nhwo", _windows(x.astype(np.float64), 3, 2, 1, 0.0), w) + (b if bias else 0)
    assert np.corrcoef(result.ravel(), expected.ravel())[0, 1] > 0.999
    first, second = ttnn.from_torch(inputs[0]), ttnn.from_torch(w)
    placed_input = first if host else on_device(inputs[0], device)
    direct = ttnn.conv2d(
        placed_input,
        second,
        device=device,
        in_channels=32,
        out_channels=64,
        batch_size=2,
        input_height=16,
        input_width=16,
        kernel_size=[3, 3],
        stride=[2, 2],
        padding=[1, 1],
        dilation=[1, 1],
        groups=1,
        bias_tensor=ttnn.from_torch(b) if bias else None,
    )
    assert np.array_equal(result, back(direct))


@pytest.mark.parametrize("data_type", ["Float32", "BFloat16"])
def test_max_pool2d_binary_equals_the_operator(data_type: str, device: ttnn.MeshDevice) -> None:
    import ml_dtypes

    dtype = {"Float32": np.float32, "BFloat16": ml_dtypes.bfloat16}[data_type]
    x = np.random.default_rng(0).integers(-100, 100, (1, 16, 16, 32)).astype(dtype)
    table: dict[str, Any] = {"in": "IN0", "out": "OUT", "device": DEVICE, "batch_size": 1, "input_height": 16}
    table |= {"input_width": 16, "channels": 32, "ceil_mode": False}
    for name, size in {"kernel": 2, "stride": 2, "padding": 0, "dilation": 1}.items():
        table |= {f"{name}_height": size, f"{name}_width": size}
    given = [Tensors()((1, 1, 256, 32), HOST, data_type)]
    made = pipeline("MaxPool2dOp", table, given, (1, 1, 64, 32), data_type=data_type)
    (result,) = run(made, [x.reshape(1, 1, 256, 32)], device)
    expected = _windows(x.astype(np.float32), 2, 2, 0, -np.inf).max(axis=(-1, -2)).reshape(1, 1, 64, 32)
    assert np.array_equal(result.astype(np.float32), expected)


def test_full_and_empty_binaries_create_their_tensors(device: ttnn.MeshDevice) -> None:
    tensors = Tensors()
    one, zero, end, other = tensors((40, 50)), tensors((40, 50)), tensors((40, 50), HOST), tensors((40, 50), HOST)
    steps = [
        operation("FullOp", {"device": DEVICE, "fill_value": 1.5, "out": one}),
        operation("EmptyOp", {"shape": [40, 50], "dtype": "Float32", "layout": "Tile", "device": DEVICE, "out": zero}),
        operation("ToMemoryConfigOp", {"in0": one, "device": DEVICE, "out": end}),
        operation("ToMemoryConfigOp", {"in0": zero, "device": DEVICE, "out": other}),
        operation("DeallocOp", {"in": one}),
    ]
    full, empty = run(binary(steps, [], [end, other]), [], device)
    assert np.array_equal(full, np.full((40, 50), 1.5))
    assert np.array_equal(empty, np.zeros((40, 50)))


@pytest.mark.parametrize(
    ("kind", "grid", "shard"),
    [("BlockSharded", (2, 4), (1, 1)), ("HeightSharded", (2, 1), (1, 4)), ("WidthSharded", (1, 4), (2, 1))],
)
def test_sharded_memory_configs_keep_the_values(
    kind: str, grid: tuple[int, int], shard: tuple[int, int], device: ttnn.MeshDevice
) -> None:
    x = values(64, 128)
    tensors = Tensors()
    given = tensors(x.shape, HOST)
    placed, steps = to_dram(tensors, given)
    sharded = tensors(x.shape, L1, memory_layout=kind, grid=grid, shard=shard)
    relu = tensors(x.shape, L1, memory_layout=kind, grid=grid, shard=shard)
    end = tensors(x.shape, HOST)
    steps += [
        operation("ToMemoryConfigOp", {"in0": placed, "device": DEVICE, "out": sharded}),
        operation("EltwiseOp", {"type": "Relu", "ins": [sharded], "out": relu}),
        operation("ToMemoryConfigOp", {"in0": relu, "device": DEVICE, "out": end}),
    ]
    made = binary(steps, [given], [end])
    (result,) = run(made, [x], device)
    assert np.array_equal(result, np.maximum(x, 0))


def test_outputs_stay_on_the_device_and_feed_the_next_program(device: ttnn.MeshDevice) -> None:
    """No copies between programs; a layout that differs is one conversion."""
    tensors = Tensors()
    given, made = tensors((64, 64)), tensors((64, 64))
    first = binary([operation("EltwiseOp", {"type": "Exp", "ins": [given], "out": made})], [given], [made])
    in_l1, out = tensors((64, 64), L1), tensors((64, 64), L1)
    second = binary([operation("EltwiseOp", {"type": "Relu", "ins": [in_l1], "out": out})], [in_l1], [out])
    x = values(64, 64)
    counted = Transfers()
    (middle,) = execute(programs(first)[0], [on_device(x, device)], device, counted)
    assert middle.storage_type() == ttnn.StorageType.DEVICE
    (again,) = execute(programs(first)[0], [middle], device, counted)
    assert (counted.to_device, counted.from_device, counted.conversions) == (0, 0, 0)
    (end,) = execute(programs(second)[0], [again], device, counted)
    assert (counted.to_device, counted.from_device, counted.conversions) == (0, 0, 1)
    assert end.memory_config().buffer_type == ttnn.BufferType.L1
    assert np.array_equal(back(end), back(ttnn.relu(ttnn.exp(ttnn.exp(on_device(x, device))))))


def test_ten_iterations_of_a_chain_stay_on_the_device(device: ttnn.MeshDevice) -> None:
    steps = {}
    for kind in ("Add", "Multiply", "Subtract"):
        tensors = Tensors()
        a, b, out = tensors((32, 64)), tensors((32, 64)), tensors((32, 64))
        table = {"type": kind, "ins": [a, b], "out": out}
        steps[kind] = programs(binary([operation("EltwiseOp", table)], [a, b], [out], kind))[0]
    x, y = on_device(values(32, 64), device), on_device(values(32, 64, seed=1), device)
    counted = Transfers()
    state, direct = x, x
    for _ in range(10):
        for kind, operator in (("Add", ttnn.add), ("Multiply", ttnn.multiply), ("Subtract", ttnn.subtract)):
            (state,) = execute(steps[kind], [state, y], device, counted)
            direct = operator(direct, y)
    assert counted == Transfers()
    assert np.array_equal(back(state), back(direct))


def test_mismatched_inputs_raise(device: ttnn.MeshDevice) -> None:
    shape = (32, 32)
    made = pipeline("EltwiseOp", {"type": "Exp", "ins": ["IN0"], "out": "OUT"}, [Tensors()(shape, HOST)], shape)
    with pytest.raises(ParameterError, match="program main has 1 inputs, got 2"):
        run(made, [values(32, 32)] * 2, device)
    with pytest.raises(ShapeError, match=r"program main, input 0: the shape is \[32, 32\], got \[32, 64\]"):
        run(made, [values(32, 64)], device)


def test_wrong_operations_raise(device: ttnn.MeshDevice) -> None:
    tensors = Tensors()
    given, missing, out = tensors((32, 32)), tensors((32, 32)), tensors((32, 32))
    damaged = binary([operation("EltwiseOp", {"type": "Exp", "out": out})], [given], [out])
    with pytest.raises(FileFormatError, match="operation 1 \\(EltwiseOp\\): the operation is damaged"):
        programs(damaged)
    unmade = binary([operation("EltwiseOp", {"type": "Exp", "ins": [missing], "out": out})], [given], [out])
    with pytest.raises(FileFormatError, match="operation 1: tensor 2 has not been made"):
        run(unmade, [values(32, 32)], device)
    no_output = binary([], [given], [out])
    with pytest.raises(FileFormatError, match="output 3 has not been made"):
        run(no_output, [values(32, 32)], device)
    single = tensors((32, 32), memory_layout="SingleBank")
    placed = binary([operation("EltwiseOp", {"type": "Exp", "ins": [given], "out": single})], [given], [single])
    with pytest.raises(UnsupportedError, match="memory layout SingleBank"):
        programs(placed)
    wrong = tensors((32, 64))
    reshaped = binary([operation("ReshapeOp", {"in": given, "out": wrong, "shape": [32, 64]})], [given], [wrong])
    with pytest.raises(ShapeError, match="program main, operation 1"):
        run(reshaped, [values(32, 32)], device)
