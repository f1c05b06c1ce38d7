"""Benchmark cases and their references."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import ttnn
from ttnn.base.config import CONFIG

Work = Callable[[], Any]
FIDELITIES: Final = ("LoFi", "HiFi2", "HiFi3", "HiFi4")


@dataclass(frozen=True)
class Case:
    """One table row: our work, a peer's, and the rate's unit."""

    name: str
    ours: Callable[[_Inputs], Work]
    peers: dict[str, Callable[[_Inputs], Work]]
    flops: bool = False
    """Rate in floating-point operations of a matrix product, otherwise in elements."""


@dataclass(frozen=True)
class Result:
    """The result of a case. Times are in seconds."""

    name: str
    seconds: float
    work: float
    unit: str
    peers: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> str:
        """Work per second, as text."""
        return f"{self.work / self.seconds / 1e9:.2f} {self.unit}"

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "seconds": self.seconds,
            "rate": self.work / self.seconds / 1e9,
            "unit": self.unit,
            "peers": {
                name: {"seconds": seconds, "ratio": seconds / self.seconds} for name, seconds in self.peers.items()
            },
        }


class _Inputs:
    """Operands of one size, made when a case asks for them."""

    def __init__(self, device: ttnn.MeshDevice, size: int) -> None:
        self.device, self.size = device, size
        random = np.random.default_rng(1)
        self.values = [random.standard_normal((size, size), np.float32) for _ in range(2)]

    def tensor(self, which: int, dtype: ttnn.DataType) -> ttnn.Tensor:
        return ttnn.Tensor(self.values[which], dtype, self.device, ttnn.TILE_LAYOUT)

    def torch(self, which: int, dtype: str = "bfloat16") -> Any:
        import torch

        return torch.from_numpy(self.values[which]).to(getattr(torch, dtype))

    def numpy(self, which: int) -> NDArray[np.float32]:
        return self.values[which]


def _matmul(fidelity: str) -> Callable[[_Inputs], Work]:
    def prepare(inputs: _Inputs) -> Work:
        a, b = (inputs.tensor(which, ttnn.bfloat16) for which in range(2))
        out = ttnn.matmul(a, b)
        config = ttnn.WormholeComputeKernelConfig(
            math_fidelity=getattr(ttnn.MathFidelity, fidelity), packer_l1_acc=True, math_approx_mode=False
        )
        return lambda: ttnn.matmul(a, b, compute_kernel_config=config, optional_output_tensor=out)

    return prepare


def _unary(name: str, dtype: ttnn.DataType) -> Callable[[_Inputs], Work]:
    def prepare(inputs: _Inputs) -> Work:
        operand, out = (inputs.tensor(which, dtype) for which in range(2))
        operation = getattr(ttnn, name)
        return lambda: operation(operand, output_tensor=out)

    return prepare


def _binary(name: str, dtype: ttnn.DataType) -> Callable[[_Inputs], Work]:
    def prepare(inputs: _Inputs) -> Work:
        a, b = (inputs.tensor(which, dtype) for which in range(2))
        out = inputs.tensor(0, dtype)
        operation = getattr(ttnn, name)
        return lambda: operation(a, b, output_tensor=out)

    return prepare


def _softmax(inputs: _Inputs) -> Work:
    operand = inputs.tensor(0, ttnn.bfloat16)
    return lambda: ttnn.softmax(operand, dim=-1)


def _to_device(dtype: ttnn.DataType) -> Callable[[_Inputs], Work]:
    return lambda inputs: lambda: inputs.tensor(0, dtype)


def _from_device(inputs: _Inputs) -> Work:
    tensor = inputs.tensor(0, ttnn.bfloat16)
    return tensor.cpu


def _torch(name: str, operands: int, dtype: str = "bfloat16") -> dict[str, Callable[[_Inputs], Work]]:
    """Return torch's function of that name, writing into an existing output."""

    def prepare(inputs: _Inputs) -> Work:
        import torch

        values = [inputs.torch(which, dtype) for which in range(operands)]
        out = torch.empty_like(values[0])
        function = getattr(torch, name)
        return lambda: function(*values, out=out)

    return {"torch": prepare}


def _torch_softmax(inputs: _Inputs) -> Work:
    import torch

    operand = inputs.torch(0)
    return lambda: torch.softmax(operand, dim=-1)


def _torch_copy(inputs: _Inputs) -> Work:
    import torch

    operand = inputs.torch(0, "float32")
    return lambda: operand.to(torch.bfloat16)


def _numpy_matmul(inputs: _Inputs) -> Work:
    a, b = inputs.numpy(0), inputs.numpy(1)
    out = np.empty_like(a)
    return lambda: np.matmul(a, b, out=out)


def _numpy_copy(inputs: _Inputs) -> Work:
    source = inputs.numpy(0)
    target = np.empty_like(source)
    return lambda: np.copyto(target, source)


def cases(size: int) -> Iterator[Case]:
    """Yield every case, the main one first."""
    for fidelity in FIDELITIES:
        peers = _torch("matmul", 2) | ({"numpy float32": _numpy_matmul} if fidelity == "LoFi" else {})
        yield Case(f"matmul bfloat16 {fidelity}", _matmul(fidelity), peers, flops=True)
    for name, torch_name in (("add", "add"), ("multiply", "mul")):
        yield Case(f"{name} bfloat16", _binary(name, ttnn.bfloat16), _torch(torch_name, 2))
    yield Case("add float32", _binary("add", ttnn.float32), _torch("add", 2, "float32"))
    for name in ("exp", "sqrt", "tanh", "sigmoid", "erf"):
        if hasattr(ttnn, name):
            yield Case(f"{name} bfloat16", _unary(name, ttnn.bfloat16), _torch(name, 1))
    yield Case("exp float32", _unary("exp", ttnn.float32), _torch("exp", 1, "float32"))
    yield Case("softmax bfloat16", _softmax, {"torch": _torch_softmax})
    for dtype in (ttnn.bfloat16, ttnn.bfloat8_b):
        label = f"float32 to {dtype.name.lower()} on the device"
        yield Case(label, _to_device(dtype), {"torch to bfloat16": _torch_copy, "numpy copy": _numpy_copy})
    yield Case("bfloat16 from the device", _from_device, {})


def run_case(case: Case, size: int, repeat: int) -> Result:
    """Time one case and its peers, all with `CONFIG.threads` threads."""
    with ttnn.manage_device(device_id=0) as device:
        inputs = _Inputs(device, size)
        peers = {
            name: best_of(prepare(inputs), repeat)
            for name, prepare in case.peers.items()
            if not name.startswith("torch") or _use_torch()
        }
        seconds = best_of(case.ours(inputs), repeat)
    work = 2.0 * size**3 if case.flops else float(size * size)
    return Result(case.name, seconds, work, "GFLOP/s" if case.flops else "Gelement/s", peers)


def best_of(work: Work, repeat: int) -> float:
    """Return the shortest of `repeat` runs in seconds, after a warm-up."""
    work()
    best = float("inf")
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def _use_torch() -> bool:
    """Return True if torch is installed; equalize its thread count."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    torch.set_num_threads(CONFIG.threads)
    return True
