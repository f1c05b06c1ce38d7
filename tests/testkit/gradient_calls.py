"""Generated gradient calls: operands in domains, parameter values.

`python tests/testkit gradient_calls` measures the errors that the entries of `ttnn.ops.backward` state.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

import ttnn
from testkit.operands import BLOCK_FLOAT_STEP, INTEGERS, make, ulp_distance, values_of
from ttnn.operation import registry
from ttnn.operation.registry import Op
from ttnn.operation.signature import REQUIRED, TENSOR, Param, Signature

Values = npt.NDArray[Any]
Domain = Callable[[Values], Values]

OUTPUTS = ("input_grad", "other_grad", "input_a_grad", "input_b_grad")
COMMON = ("memory_config", "are_required_outputs", *OUTPUTS)


def gradients() -> list[Op]:
    """Return real tensor gradient entries except `embedding` and `prod`.

    `embedding` has indices.
    """
    apart = ("embedding_bw", "prod_bw")
    return [entry for entry in registry.entries() if entry.family == "backward" and entry.name not in apart]


def real_signatures(entry: Op) -> list[Signature]:
    """Return the signatures of an operator that take no complex tensor."""
    return [s for s in entry.signatures if not any(param.kind.text == "ttnn.ComplexTensor" for param in s.params)]


def _inside(x: Values) -> Values:
    return np.clip(x, -2.0, 2.0) * 0.4


def _positive(x: Values) -> Values:
    return np.abs(x) + 0.125


def _share(x: Values) -> Values:
    return np.clip(np.abs(x), 0.0, 2.0) * 0.4 + 0.0625


def _power_of_two(x: Values) -> Values:
    """Divisors by which every quotient of bfloat16 values is exact."""
    return np.where(np.abs(x) < 0.5, 0.5, np.where(x > 0, 1.0, 2.0))


def _off_the_kinks(x: Values) -> Values:
    """Return values that never round to 3 or -3.

    There the chip takes the other side than PyTorch.
    """
    return np.where((np.abs(x) > 2.75) & (np.abs(x) < 3.25), 3.5 * np.sign(x), x)


_OF_POSITIVES = [
    *("log_bw", "log2_bw", "log10_bw", "log1p_bw", "sqrt_bw", "rsqrt_bw", "reciprocal_bw", "rdiv_bw", "lgamma_bw"),
    *("digamma_bw", "polygamma_bw", "pow_bw", "rpow_bw", "div_bw", "addcdiv_bw", "xlogy_bw", "atan2_bw", "hypot_bw"),
]

# Where functions have finite gradients, of the operands after `grad_tensor`.
DOMAINS: dict[str, Domain] = {
    **dict.fromkeys(("acos_bw", "asin_bw", "atanh_bw", "erfinv_bw"), _inside),
    **dict.fromkeys(("logit_bw", "logiteps_bw"), _share),
    **dict.fromkeys(_OF_POSITIVES, _positive),
    **dict.fromkeys(("remainder_bw", "fmod_bw"), _power_of_two),
    "hardswish_bw": _off_the_kinks,
    "acosh_bw": lambda x: np.abs(x) + 1.125,
    "multigammaln_bw": lambda x: np.abs(x) + 2.0,
}

# Values of parameters without a default, and others than the default. bfloat16 holds them: the chip cuts numbers.
VALUES: dict[str, list[Any]] = {
    "alpha": [0.5, 2.0],
    "approximate": ["none", "tanh"],
    "beta": [2.0],
    "bias": [0.5],
    "dim": [0],
    "eps": [0.25],
    "exponent": [2.0, 0.5],
    "lambd": [1.0],
    "max": [0.625],
    "min": [0.25],
    "n": [1],
    "negative_slope": [0.25],
    "rounding_mode": ["trunc", "floor"],
    "scalar": [2.0],
    "shape": [(3, 1, 1, 1)],
    "threshold": [0.5],
    "variant": [ttnn.GeluVariant.Tanh],
}
LIMITS = {"min": -0.5, "max": 0.5}


@dataclass(frozen=True)
class Call:
    """Positional arguments after `grad_tensor`, None where a tensor belongs, and keywords."""

    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        shown = [str(item) for item in self.arguments if item is not TENSOR]
        return ",".join(shown + [f"{name}={value}" for name, value in self.keywords])


def _choices(param: Param) -> list[Any]:
    if param.kind is TENSOR:
        return [TENSOR]
    return VALUES[param.name]


def calls(entry: Op) -> Iterator[Call]:
    """Yield calls of all gradient signatures and value-changing parameters."""
    for signature in real_signatures(entry):
        positional = signature.positional[1:]
        for values in itertools.product(*map(_choices, positional)):
            needed = [param.name for param in signature.keywords if param.default is REQUIRED]
            for chosen in itertools.product(*(VALUES[name] for name in needed)):
                yield Call(values, tuple(zip(needed, chosen, strict=True)))
        for param in signature.keywords:
            if param.name not in COMMON and param.default is not REQUIRED:
                for value in [LIMITS[param.name]] if param.name in LIMITS else VALUES[param.name]:
                    yield Call(tuple(_choices(item)[0] for item in positional), ((param.name, value),))


STEEP = ("remainder_bw", "fmod_bw")
"""Gradients that jump at whole quotients.

They get operands of which bfloat16 holds every bit.
"""


def fit(entry: Op, index: int, dtype: ttnn.DataType) -> Domain:
    """Return the map into an operand's domain and data type."""
    domain = DOMAINS.get(entry.name, np.asarray) if index else np.asarray

    def fitted(values: Values) -> Values:
        values = domain(values)
        if dtype is ttnn.bfloat8_b and domain is _positive:
            # Values that share an exponent: the square of a small one would become 0 beside that of a large one.
            values = np.clip(values, 0.5, 1.5)
        if dtype is ttnn.float32 and entry.name not in STEEP:
            return np.asarray(values, np.float32)
        words = np.ascontiguousarray(values, np.float32).view(np.uint32)
        return (words & np.uint32(0xFFFF0000)).view(np.float32)

    return fitted


def operand(
    entry: Op,
    index: int,
    shape: tuple[int, ...],
    dtype: ttnn.DataType,
    layout: ttnn.Layout,
    device: ttnn.MeshDevice,
    memory_config: ttnn.MemoryConfig | None = None,
) -> ttnn.Tensor:
    """Return a gradient's tensor argument `index`; 0 is `grad_tensor`."""
    if dtype in INTEGERS:
        low = 1 if entry.name in ("remainder_bw", "fmod_bw") and index == 2 else 0 if dtype is ttnn.uint32 else -50
        values = np.random.default_rng(index).integers(low, 50, size=shape)
        kind = np.uint32 if dtype is ttnn.uint32 else np.int32
        return ttnn.Tensor(values.astype(kind), dtype, None, layout).to(device, memory_config)
    return make(shape, dtype, layout, device, index + 1, memory_config, fit(entry, index, dtype))


def arguments(
    entry: Op,
    call: Call,
    shape: tuple[int, ...],
    dtype: ttnn.DataType,
    layout: ttnn.Layout,
    device: ttnn.MeshDevice,
    memory_config: ttnn.MemoryConfig | None = None,
) -> list[Any]:
    """Return a call's positional arguments.

    The gradient of `concat` is as long as both operands.
    """
    found: list[Any] = []
    whole = (2 * shape[0], *shape[1:]) if entry.name == "concat_bw" else shape
    whole = (3, *shape[1:]) if entry.name == "repeat_bw" else whole
    for index, item in enumerate((TENSOR, *call.arguments)):
        size = whole if index == 0 else shape
        found.append(operand(entry, index, size, dtype, layout, device, memory_config) if item is TENSOR else item)
    return found


def plain(values: list[Any]) -> list[Any]:
    """Return arguments as the golden functions take them."""
    return [values_of(item) if isinstance(item, ttnn.Tensor) else item for item in values]


SHAPES: list[tuple[int, ...]] = [(1, 1, 33, 31), (1, 1, 96, 160), (1, 1, 0, 5)]
FLAT: list[tuple[int, ...]] = [(), (1,), (31,), (2, 3, 1, 32, 32)]


def shapes(entry: Op, dtype: ttnn.DataType) -> list[tuple[int, ...]]:
    """Return the shapes that a gradient is tried with."""
    if dtype is ttnn.bfloat8_b:  # padding would take part in the exponent that values share
        return [(1, 1, 32, 64), (1, 1, 64, 128), (1, 1, 96, 160)]
    return SHAPES if entry.name in ("concat_bw", "repeat_bw") else SHAPES + FLAT


def results(
    entry: Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> Iterator[tuple[ttnn.Tensor, Values, Values | None]]:
    """Yield gradients, expected values, and error magnitudes if different."""
    assert entry.golden is not None
    for call in calls(entry):
        numbers = [*call.arguments, *(value for _, value in call.keywords)]
        if dtype in INTEGERS and any(isinstance(item, float) and item != int(item) for item in numbers):
            continue
        for shape in shapes(entry, dtype):
            values = arguments(entry, call, shape, dtype, layout, device)
            found = attrgetter(entry.name)(ttnn)(*values, **dict(call.keywords))
            expected = entry.golden(*plain(values), **dict(call.keywords))
            measure = None if entry.accuracy is None else entry.accuracy.magnitude
            magnitude = None if measure is None else np.asarray(measure(*plain(values), **dict(call.keywords)))
            assert len(found) == len(expected), str(call)
            for result, reference in zip(found, expected, strict=True):
                yield result, reference, magnitude


def largest_error(entry: Op, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> float:
    """Return all calls' largest error in ULP, or exponent steps.

    Steps of the shared exponent of the largest value.
    """
    worst = 0.0
    for layout in entry.layouts:
        if dtype is ttnn.bfloat8_b and layout is ttnn.ROW_MAJOR_LAYOUT:
            continue
        for result, reference, magnitude in results(entry, dtype, layout, device):
            got = values_of(result)
            if dtype in BLOCK_FLOAT_STEP:
                scale = float(np.max(np.abs(reference if magnitude is None else magnitude), initial=0.0))
                error = np.max(np.abs(reference - got), initial=0.0) / (scale * BLOCK_FLOAT_STEP[dtype] or 1.0)
            else:
                error = ulp_distance(reference, got, dtype, magnitude)
            worst = max(worst, float(error))
    return worst


def _upwards(value: float) -> float:
    """Return a figure rounded up to three digits."""
    if value == 0.0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / unit) * unit:.3g}")


def main() -> None:
    """Print `ulp` of every entry."""
    device = ttnn.open_device(device_id=0)
    for entry in gradients():
        figures = [
            _upwards(largest_error(entry, dtype, device)) if dtype in entry.dtypes else 0.0
            for dtype in (ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b)
        ]
        if any(figures):
            print(f"{entry.name}: ulp=({', '.join(f'{figure:g}' for figure in figures)})")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
