"""One inference of the demo's network, and its distance to float64."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ttnn
from ttnn.cli.common.ulp import ulp_error
from ttnn.cli.demo.arithmetic import pearson
from ttnn.cli.demo.network import Digits, Network

DTYPES = ("bfloat16", "bfloat8_b", "bfloat4_b")
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
CONFIGURATIONS = tuple((dtype, fidelity) for dtype in DTYPES for fidelity in FIDELITIES)


@dataclass(frozen=True)
class Measurement:
    """The results of one data type and fidelity on the test digits."""

    dtype: str
    fidelity: str
    probabilities: NDArray[np.float32]
    classes: NDArray[np.int64]
    accuracy: float
    pcc: float
    max_ulp: float
    median_ulp: float
    weight_bytes: int
    host_seconds: float

    def figures(self) -> dict[str, Any]:
        """Return everything that is the same on every run and machine."""
        names = ("dtype", "fidelity", "accuracy", "pcc", "max_ulp", "median_ulp", "weight_bytes")
        return {name: getattr(self, name) for name in names}


def results_hash(measurements: list[Measurement]) -> str:
    """Return the SHA-256 over all numbers, probabilities and classes."""
    digest = hashlib.sha256()
    for measurement in measurements:
        digest.update(json.dumps(measurement.figures()).encode())
        digest.update(measurement.probabilities.astype("<f4").tobytes())
        digest.update(measurement.classes.astype("<i8").tobytes())
    return digest.hexdigest()


def measure(
    device: ttnn.MeshDevice,
    network: Network,
    digits: Digits,
    exact: NDArray[np.float64],
    dtype: str,
    fidelity: str,
) -> Measurement:
    """Run the network on the test digits in `dtype`.

    Images, weights and hidden layer are in `dtype`.
    """
    weights = [_to_device(part, dtype, device) for part in vars(network).values()]
    started = time.perf_counter()
    probabilities, classes = _infer(device, weights, digits.test_images, dtype, fidelity)
    seconds = time.perf_counter() - started
    errors = ulp_error(probabilities, exact)
    return Measurement(
        dtype=dtype,
        fidelity=fidelity,
        probabilities=probabilities,
        classes=classes,
        accuracy=float((classes == digits.test_classes).mean()),
        pcc=pearson(probabilities, exact),
        max_ulp=float(errors.max()),
        median_ulp=float(np.median(errors)),
        weight_bytes=sum(weight.buffer_num_pages() * weight.buffer_page_size() for weight in weights),
        host_seconds=seconds,
    )


def _infer(
    device: ttnn.MeshDevice, weights: list[ttnn.Tensor], images: NDArray[np.float32], dtype: str, fidelity: str
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    hidden_weight, hidden_bias, output_weight, output_bias = weights
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=getattr(ttnn.MathFidelity, fidelity))
    hidden = ttnn.linear(
        _to_device(images, dtype, device),
        hidden_weight,
        bias=hidden_bias,
        activation="relu",
        dtype=getattr(ttnn, dtype),
        compute_kernel_config=config,
    )
    logits = ttnn.linear(hidden, output_weight, bias=output_bias, dtype=ttnn.bfloat16, compute_kernel_config=config)
    probabilities = ttnn.softmax(logits, dim=-1)
    classes = ttnn.argmax(ttnn.to_layout(logits, ttnn.ROW_MAJOR_LAYOUT), dim=-1)
    return (
        np.asarray(ttnn.from_device(probabilities).to_numpy(), np.float32),
        np.asarray(ttnn.from_device(classes).to_numpy(), np.int64),
    )


def _to_device(array: NDArray[np.float32], dtype: str, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(array, getattr(ttnn, dtype), device, ttnn.TILE_LAYOUT)
