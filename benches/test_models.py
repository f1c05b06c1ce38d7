"""MiniLM and a Falcon-7B layer in fast mode.

MiniLM has 8 x 128 tokens; both are compared with torch and their matmuls.

Run on one thread: `TTNN_THREADS=1 pytest benches/test_models.py --benchmark-only`; the ratios are printed below the
table. `times_torch` is the speed of torch's eager mode in the same run, `times_products` the time as a multiple of that
of the products with the weights, without bias and activation.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import ttnn
from inputs import on_device
from ratios import in_turns
from ttnn.base.config import manage_config

torch: Any = pytest.importorskip("torch")
pytest.importorskip("safetensors")
minilm: Any = pytest.importorskip("ttnn.examples.models.minilm")
falcon7b: Any = pytest.importorskip("ttnn.examples.models.falcon7b")
SENTENCES = [f"Man number {number} is eating a piece of bread while others look at him" for number in range(8)]
LENGTH = 128
PRODUCTS = [(minilm.WIDTH, 3 * minilm.WIDTH), (minilm.WIDTH, minilm.WIDTH)]
PRODUCTS += [(minilm.WIDTH, minilm.HIDDEN), (minilm.HIDDEN, minilm.WIDTH)]
"""Inputs and outputs of the products of a layer."""


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with manage_config("numerics", "fast"):
        yield


@pytest.mark.skipif(find_spec(minilm.PACKAGE) is None, reason=f"no weights: {minilm.PACKAGE} is missing")
@pytest.mark.benchmark(group="MiniLM, fast")
@pytest.mark.parametrize("form", [minilm.Functional, minilm.Optimized, minilm.Flash, minilm.Sharded])
def test_minilm(benchmark: Any, device: ttnn.MeshDevice, random: Any, form: Any) -> None:
    torch.set_num_threads(ttnn.CONFIG.threads)
    weights = minilm.load_weights()
    tokens, mask = minilm.tokenize(SENTENCES, LENGTH)
    model = form(device, weights)
    inputs = [ttnn.to_device(tensor, device) for tensor in model.inputs(tokens, mask)]
    halves = {name: tensor.bfloat16() for name, tensor in weights.items()}
    compute = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)
    operands = [
        tuple(
            on_device(random.standard_normal(shape, "float32"), "bfloat16", device)
            for shape in ((8 * LENGTH, k), (k, n))
        )
        for k, n in PRODUCTS
    ]

    def run() -> None:
        model(*inputs)

    def run_torch() -> None:
        with torch.inference_mode():
            minilm.torch_embed(halves, tokens, mask)

    def run_products() -> None:
        for _ in range(minilm.LAYERS):
            for a, b in operands:
                ttnn.matmul(a, b, compute_kernel_config=compute)

    ours, torchs, products = in_turns(benchmark, [run, run_torch, run_products])
    benchmark.extra_info.update(torch_seconds=torchs, times_torch=torchs / ours, times_products=ours / products)
    benchmark(run)


@pytest.mark.benchmark(group="Falcon-7B, a layer, fast")
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_falcon7b(benchmark: Any, device: ttnn.MeshDevice, random: Any, phase: str) -> None:
    weights = {
        name: torch.from_numpy(0.02 * random.standard_normal(shape, "float32"))
        for name, shape in falcon7b.layer_shapes().items()
    }
    rotation = falcon7b.Rotation(device, 2 * LENGTH)
    layer = falcon7b.Layer(device, weights, rotation)
    masks, mask = rotation.prefill_masks(LENGTH), rotation.decode_mask(LENGTH)
    rows, compute = (LENGTH, layer.prefill_compute) if phase == "prefill" else (falcon7b.USERS, layer.decode_compute)
    operands = {
        name: on_device(random.standard_normal((1, 1, rows, matrix.shape[0]), "float32"), "bfloat16", device)
        for name, matrix in weights.items()
        if matrix.dim() == 2
    }
    x = operands["heads"]

    def run() -> None:
        if phase == "prefill":
            layer.prefill(x, 0, masks)
        else:
            layer.decode(x, LENGTH, mask)

    def run_products() -> None:
        for name, operand in operands.items():
            layer.linear(operand, name, compute)

    ours, products = in_turns(benchmark, [run, run_products])
    benchmark.extra_info.update(times_products=ours / products)
    benchmark(run)
